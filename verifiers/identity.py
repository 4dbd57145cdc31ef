"""Exact identities: the derivative of a network along a polynomial vector field, expanded in letters over the rationals.

Letters stand for parameters, entries of X, generic constants, exponentials, reciprocals and roots. A letter moves as what it
stands for does: e = exp(s) by e ds, R = 1/N by -R^2 dN, r = 1/sqrt(m) by -r^3/2 dm; the relations R N = 1 and r^2 m = 1 rewrite
products. Between the parts of a network the entries of the stream may become letters of their own, where their derivatives are
rational affine combinations of the entries of the same token (`PROOFS-upper.md`, found fields).

Guaranteed: a derivative whose normal form is 0 is 0 as a function. Not guaranteed: the converse.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..numerics.evaluate import evaluate
from ..numerics.forward import record_parts
from ..numerics.network import Network
from ..numerics.program import Exponentials
from ..numerics.rings import Array, matmul_einsum
from .symmetries.found import Motion

Monomial = tuple[int, ...]  # letters in increasing order, each as often as its power
Terms = dict[Monomial, int | Fraction]  # integers where they are: much faster

MAX_PRODUCTS = 200_000  # of monomials, in one proof


class Undecided(ArithmeticError):
    """The expansion is larger than `MAX_PRODUCTS` allows, or a relation has no leading monomial: nothing is proved."""


class Moving:
    """A polynomial in letters and its derivative along the field; the polynomial is expanded when it is asked for."""

    __slots__ = ("_value", "ring", "tangent")

    def __init__(self, ring: Letters, value: Terms | Callable[[], Terms], tangent: Terms):
        self.ring, self._value, self.tangent = ring, value, tangent

    @property
    def value(self) -> Terms:
        """The polynomial itself."""
        if callable(self._value):
            self._value = self._value()
        return self._value

    def __add__(self, other: Moving) -> Moving:
        return Moving(self.ring, lambda: added(self.value, other.value), added(self.tangent, other.tangent))

    def __mul__(self, other: Moving) -> Moving:
        times = self.ring.product
        left = times(self.tangent, other.value) if self.tangent else {}
        right = times(self.value, other.tangent) if other.tangent else {}
        return Moving(self.ring, lambda: times(self.value, other.value), added(left, right))


class Letters:
    """The number system of these polynomials: programs are evaluated on object arrays of `Moving`."""

    formal = False

    def __init__(self) -> None:
        self.letters = 0
        self.left = MAX_PRODUCTS
        self.inverses: dict[int, tuple[Moving, int]] = {}  # a letter R -> x and the power with R^power x = 1
        self.rules: dict[int, tuple[Counter[int], Terms]] = {}  # R -> the leading monomial of R^power x, and what it equals
        self.exponentials: dict[tuple[Any, ...], Moving] = {}

    def letter(self, tangent: Terms | None = None) -> Moving:
        """A new letter with its derivative."""
        self.letters += 1
        return Moving(self, {(self.letters,): 1}, tangent or {})

    def array(self, shape: tuple[int, ...], tangents: Iterator[Terms] | None = None) -> Array:
        """An array of new letters."""
        made = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            made[index] = self.letter(next(tangents) if tangents else None)
        return made

    def product(self, x: Terms, y: Terms) -> Terms:
        """The product; raises `Undecided`."""
        self.left -= len(x) * len(y)
        if self.left < 0:
            raise Undecided(f"more than {MAX_PRODUCTS} products")
        total: Terms = {}
        for a, c in x.items():
            for b, d in y.items():
                m = tuple(sorted(a + b)) if a and b else a or b
                total[m] = total.get(m, 0) + c * d
        return {m: c for m, c in total.items() if c}

    def normal_form(self, terms: Terms) -> Terms:
        """Equal terms in which no leading monomial of a relation occurs."""
        done: Terms = {}
        rest = dict(terms)
        while rest:
            m, c = rest.popitem()
            found = self._rule(m)
            if found is None:
                done[m] = done.get(m, 0) + c
                continue
            lead, equal = found
            cofactor = tuple(sorted((Counter(m) - lead).elements()))
            rest = added(rest, self.product({cofactor: c}, equal))
        return {m: c for m, c in done.items() if c}

    def _rule(self, m: Monomial) -> tuple[Counter[int], Terms] | None:
        for newest in set(m) & self.inverses.keys():
            if newest not in self.rules:
                self.rules[newest] = self._relation(newest)
            lead, equal = self.rules[newest]
            if not lead - Counter(m):
                return lead, equal
        return None

    def _relation(self, letter: int) -> tuple[Counter[int], Terms]:
        """R^power x = 1 solved for its leading monomial: the order is lexicographic, later letters first."""
        x, power = self.inverses[letter]
        base = self.normal_form(x.value)
        lead = max(base, key=lambda m: m[::-1], default=())
        if not lead:
            raise Undecided("the inverse of a constant")
        new = (letter,) * power
        scale = ratio(-1, base[lead])
        equal = self.product({new: scale}, {m: c for m, c in base.items() if m != lead})
        return Counter(lead + new), added(equal, {(): -scale})

    def _inverse(self, x: Moving, power: int) -> Moving:
        """A letter R with R^power x = 1, for x that is not constant: dR = -R^(power + 1)/power dx."""
        found = self.letter()
        self.inverses[self.letters] = x, power
        again = {(self.letters,) * (power + 1): ratio(-1, power)}
        found.tangent = self.product(again, x.tangent)
        return found

    def lift(self, array: Any) -> Array:
        """Constants; polynomials stay."""
        return _map(lambda v: v if isinstance(v, Moving) else Moving(self, _constant(v), {}), np.asarray(array))

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """The two-operand einsum."""
        result: Array = matmul_einsum(left, right, out, x, y, self._matmul)
        return result

    def _matmul(self, x: Array, y: Array) -> Array:
        """x @ y; numpy's own goes on after an exception in an element."""
        made = np.empty((*x.shape[:-1], y.shape[-1]), dtype=object)
        for index in np.ndindex(*made.shape):
            column = y[(*index[:-2], slice(None), index[-1])]
            made[index] = self.total([a * b for a, b in zip(x[index[:-1]], column, strict=True)])
        return made

    def total(self, parts: list[Moving]) -> Moving:
        """The sum."""
        return Moving(self, lambda: added(*(x.value for x in parts)), added(*(x.tangent for x in parts)))

    def add(self, x: Array, y: Array) -> Array:
        """x + y."""
        return np.asarray(x + y, dtype=object)

    def mul(self, x: Array, y: Array) -> Array:
        """x * y, entrywise."""
        return np.asarray(x * y, dtype=object)

    def reciprocal(self, x: Array) -> Array:
        """1/x as letters."""
        return _map(lambda v: self._inverse(v, 1), x)

    def root(self, x: Array) -> Array:
        """1/sqrt(x) as letters."""
        return _map(lambda v: self._inverse(v, 2), x)

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """Exponentials as letters, one for both entries (i, j) and (j, i) of a symmetric exponent."""
        made = np.empty(x.shape, dtype=object)
        for index in np.ndindex(*x.shape):
            entry = (*index[:-2], *sorted(index[-2:])) if exponentials.symmetric else index
            key = (exponentials.label, *entry)
            if key not in self.exponentials:
                e = self.exponentials[key] = self.letter()
                e.tangent = self.product(e.value, x[entry].tangent) if x[entry].tangent else {}
            made[index] = self.exponentials[key]
        return made

    def renewed(self, stream: Array) -> Array | None:
        """New letters for the entries of a stream (width, t); None where a derivative is no affine combination of its token."""
        for x in stream.reshape(-1):
            x.tangent = self.normal_form(x.tangent)
        if not any(x.tangent for x in stream.reshape(-1)):
            return self.array(stream.shape)
        made = np.empty(stream.shape, dtype=object)
        for j in range(stream.shape[1]):
            fresh = self.array(stream.shape[:1])
            rows: list[tuple[Monomial, Terms, Terms]] = []  # pivot, a combination of entries, which one
            for entry, new in [({(): 1}, {(): 1}), *zip((v.value for v in stream[:, j]), (f.value for f in fresh), strict=True)]:
                rest, combination = self._cleared(rows, self.normal_form(entry), new)
                if rest:
                    rows.append((min(rest), rest, combination))
            for x, new in zip(stream[:, j], fresh, strict=True):
                rest, combination = self._cleared(rows, x.tangent, {})
                if rest:
                    return None
                new.tangent = scaled(combination, -1)
            made[:, j] = fresh
        return made

    def _cleared(self, rows: list[tuple[Monomial, Terms, Terms]], terms: Terms, combination: Terms) -> tuple[Terms, Terms]:
        for pivot, row, which in rows:
            if pivot in terms:
                factor = ratio(-terms[pivot], row[pivot])
                terms, combination = added(terms, scaled(row, factor)), added(combination, scaled(which, factor))
        return terms, combination


def annihilates(network: Network, motion: Motion, expanded: bool = False) -> bool:
    """Whether the derivative of the network along the field is shown to be 0, for all parameters and inputs.

    `expanded`: the stream is expanded through all parts; otherwise its entries become letters wherever that is possible. False
    proves nothing: the expansion may be too large, or relations may be missing.
    """
    ring = Letters()
    try:
        return _annihilates(ring, network, motion, expanded)
    except (Undecided, RecursionError):
        return False


def _annihilates(ring: Letters, network: Network, motion: Motion, expanded: bool) -> bool:
    parameters = {name: ring.array(shape) for name, shape in network.parameter_shapes()}
    flat: list[Moving] = [x for tensor in parameters.values() for x in tensor.reshape(-1)]
    for target, coefficient, factors in motion:
        monomial = tuple(sorted(letter for k in factors for (letter,) in flat[k].value))
        flat[target].tangent = added(flat[target].tangent, {monomial: ratio(coefficient, 1)})
    stream = ring.array((network.d[0], network.t))
    constants: dict[str, Array] = {}
    for program in record_parts(network):
        for step in program.instructions:
            count = math.prod(step.shape)
            if step.operation == "generic" and (step.data not in constants or constants[step.data].size < count):
                known = constants.get(step.data, np.empty(0, dtype=object))
                constants[step.data] = np.concatenate([known, ring.array((count - known.size,))])
        values = evaluate(program, ring, {**parameters, **constants, "X": stream})
        stream = values[program.output].array
        if not expanded:
            fresh = ring.renewed(stream)
            stream = stream if fresh is None else fresh
    return not any(ring.normal_form(x.tangent) for x in stream.reshape(-1))


def added(*parts: Terms) -> Terms:
    """The sum."""
    present = [x for x in parts if x]
    if len(present) < 2:
        return present[0] if present else {}
    total = dict(present[0])
    for x in present[1:]:
        for m, c in x.items():
            total[m] = total.get(m, 0) + c
    return {m: c for m, c in total.items() if c}


def scaled(x: Terms, factor: int | Fraction) -> Terms:
    """A multiple by a rational that is not 0."""
    return {m: c * factor for m, c in x.items()}


def ratio(x: int | Fraction, y: int | Fraction) -> int | Fraction:
    """x / y, an integer where it is one."""
    found = Fraction(x) / Fraction(y)
    return found.numerator if found.denominator == 1 else found


def _constant(value: Any) -> Terms:
    number = ratio(value if isinstance(value, Fraction) else int(value), 1)
    return {(): number} if number else {}


def _map(function: Callable[[Any], Any], array: Array) -> Array:
    result = np.empty(array.size, dtype=object)
    result[:] = [function(v) for v in array.reshape(-1)]
    return result.reshape(array.shape)
