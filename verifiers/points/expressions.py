"""Programs interpreted over formal expressions: polynomials over Q in X, generic constants, exponentials and reciprocals.

Exponentials of equal arguments are one symbol and exp(0) = 1, a reciprocal of a number is a number; otherwise symbols are independent. What
vanishes here vanishes as a function. The converse holds for networks without exponentials, whose expressions are the
polynomials that they compute.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ...numerics.evaluate import evaluate, jacobian
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.program import Exponentials, Program
from ...numerics.rings import Array, NotInvertible, matmul_einsum
from .forms import TooLarge
from .theta import Theta

BITS = 12  # of an exponent inside a packed monomial
MAX_DEGREE = (1 << BITS) - 1
BUDGET = 1_500_000  # products of terms in one computation, up to ten seconds

Terms = dict[int, Fraction]


class Expression:
    """A polynomial in numbered symbols: coefficients by packed monomial (BITS bits an exponent, symbol 0 lowest)."""

    __slots__ = ("degree", "ring", "terms")

    def __init__(self, ring: Expressions, terms: Terms, degree: int):
        self.ring = ring
        self.terms = terms
        self.degree = degree

    def __add__(self, other: Expression) -> Expression:
        small, large = sorted((self, other), key=lambda e: len(e.terms))
        self.ring.spend(len(small.terms))
        terms = dict(large.terms)
        for m, c in small.terms.items():
            total = terms.get(m, 0) + c
            if total:
                terms[m] = total
            else:
                del terms[m]
        return Expression(self.ring, terms, max(self.degree, other.degree))

    def __mul__(self, other: Expression) -> Expression:
        self.ring.spend(len(self.terms) * len(other.terms))
        degree = self.degree + other.degree
        if degree > MAX_DEGREE:
            raise TooLarge(f"polynomials of degree {degree}")
        terms: Terms = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                total = terms.get(m + n, 0) + c * d
                if total:
                    terms[m + n] = total
                else:
                    del terms[m + n]
        return Expression(self.ring, terms, degree)

    @property
    def key(self) -> frozenset[tuple[int, Fraction]]:
        """Equal for equal polynomials."""
        return frozenset(self.terms.items())

    def exponent(self, symbol: int) -> int:
        """The largest exponent of a symbol."""
        return max(((m >> BITS * symbol) & MAX_DEGREE for m in self.terms), default=0)


class Expressions:
    """The ring of expressions, as an interpreter of programs wants it. Raises `TooLarge` when its budget is spent."""

    formal = False

    def __init__(self, budget: int = BUDGET):
        self.left = budget
        self.symbols = 0
        self._exponentials: dict[Any, Expression] = {}
        self._reciprocals: dict[Any, tuple[int, Expression]] = {}

    def spend(self, operations: int) -> None:
        """Count work."""
        self.left -= operations + 1
        if self.left < 0:
            raise TooLarge("the polynomials have too many terms")

    def symbol(self) -> Expression:
        """A new symbol."""
        self.symbols += 1
        return Expression(self, {1 << BITS * (self.symbols - 1): Fraction(1)}, 1)

    def symbol_array(self, shape: tuple[int, ...]) -> Array:
        """An array of new symbols."""
        return self._array([self.symbol() for _ in range(math.prod(shape))], shape)

    def lift(self, array: Any) -> Array:
        """Numbers as expressions; arrays of expressions stay."""
        array = np.asarray(array)
        return self._array([self._one(v) for v in array.reshape(-1)], array.shape)

    def _one(self, value: Any) -> Expression:
        if isinstance(value, Expression):
            return value
        number = value if isinstance(value, Fraction) else Fraction(int(value))
        return Expression(self, {0: number} if number else {}, 0)

    def _array(self, values: list[Expression], shape: tuple[int, ...]) -> Array:
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made.reshape(shape)

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """The two-operand einsum."""
        result: Array = matmul_einsum(left, right, out, x, y, np.matmul)
        return result

    def add(self, x: Array, y: Array) -> Array:
        """x + y."""
        return np.asarray(x + y, dtype=object)

    def mul(self, x: Array, y: Array) -> Array:
        """x * y, entrywise."""
        return np.asarray(x * y, dtype=object)

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """One symbol for each different argument; exp(0) = 1."""
        made = []
        for value in x.reshape(-1):
            if value.key not in self._exponentials:
                self._exponentials[value.key] = self.symbol() if value.terms else self._one(1)
            made.append(self._exponentials[value.key])
        return self._array(made, x.shape)

    def reciprocal(self, x: Array) -> Array:
        """One symbol for each different argument; raises `NotInvertible` where it is 0."""
        made = []
        for value in x.reshape(-1):
            if not value.terms:
                raise NotInvertible("a denominator is 0 at these parameters")
            if list(value.terms) == [0]:
                made.append(self._one(1 / value.terms[0]))
                continue
            if value.key not in self._reciprocals:
                self._reciprocals[value.key] = (self.symbols, value)
                self.symbol()
            index, _ = self._reciprocals[value.key]
            made.append(Expression(self, {1 << BITS * index: Fraction(1)}, 1))
        return self._array(made, x.shape)

    def root(self, x: Array) -> Array:
        """Roots are not expressions."""
        raise TooLarge("norms have roots, which formal expressions leave out")

    def cleared(self, values: Iterable[Expression]) -> list[Expression]:
        """The values times one common product of denominators, free of the symbols of reciprocals."""
        values = list(values)
        for index, denominator in reversed(list(self._reciprocals.values())):
            top = max((v.exponent(index) for v in values), default=0)
            if top:
                powers = [self._one(1)]
                for _ in range(top):
                    powers.append(powers[-1] * denominator)
                values = [self._substituted(v, index, powers) for v in values]
        return values

    def _substituted(self, value: Expression, index: int, powers: list[Expression]) -> Expression:
        parts: dict[int, Terms] = {}
        for m, c in value.terms.items():
            k = (m >> BITS * index) & MAX_DEGREE
            parts.setdefault(k, {})[m - (k << BITS * index)] = c
        total = self._one(0)
        for k, terms in parts.items():
            total = total + Expression(self, terms, value.degree) * powers[len(powers) - 1 - k]
        return total


def bindings(program: Program, ring: Expressions, theta: Mapping[str, Array]) -> dict[str, Array]:
    """Theta, and new symbols for X and the generic constants."""
    made: dict[str, Array] = dict(theta)
    for step in program.instructions:
        if step.operation in ("input", "generic"):
            shape = step.shape
            if step.data not in made or made[step.data].size < math.prod(shape):
                made[step.data] = ring.symbol_array(shape)
    return made


def same_function(network: Network, theta: Theta, theta2: Theta) -> bool | None:
    """Whether f_theta = f_theta2 as formal expressions: True proves it, False refutes it only without exponentials, norms and rope, else None.

    Raises `TooLarge`.
    """
    program, ring = record(network), Expressions()
    sides = []
    shared = bindings(program, ring, {})
    for point in (theta, theta2):
        values = evaluate(program, ring, {**shared, **point})
        sides.append(values[program.output].array.reshape(-1))
    minus = ring.lift(np.array(-1)).reshape(-1)[0]
    if all(not ring.cleared([x + y * minus])[0].terms for x, y in zip(*sides, strict=True)):
        return True
    return None if network.transcendental or network.rope or network.norm else False


def differential(network: Network, theta: Theta) -> Array:
    """The differential at theta as a matrix of fractions with one column a parameter, whose kernel annihilates it formally.

    Rows are coefficients (output entry, monomial) of the Jacobian, denominators cleared. Guaranteed: the rank of the
    differential at theta is at most the rank over Q of this matrix; equal without exponentials and rope. Raises `TooLarge`.
    """
    program, ring = record(network), Expressions()
    matrix = jacobian(program, ring, bindings(program, ring, theta))
    rows: list[Array] = []
    for line in matrix:
        coefficients: dict[int, Array] = {}
        for column, value in enumerate(ring.cleared(line)):
            for monomial, c in value.terms.items():
                if monomial not in coefficients:
                    coefficients[monomial] = np.full(network.parameters, Fraction(0), dtype=object)
                coefficients[monomial][column] = c
        rows += coefficients.values()
    return np.stack(rows) if rows else np.full((0, network.parameters), Fraction(0), dtype=object)
