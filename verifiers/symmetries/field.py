"""Vector fields on parameter space as data: which tensors move, and by which matrix words in one variable e.

A field of the table in `verifiers/CERTIFICATES.md` section 7 is a variable (a space of matrices e) and, for each moving
tensor, a sum of words `coefficient * left e right`, so that dQ = e Q, dK = -e^T K is written {"Q": "e Q", "K": "-e' K"}.
The same data is evaluated at points (rank), proved identically (free algebra) and printed (explain).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ...numerics.network import Network
from ...numerics.rank import kernel
from ...numerics.rings import Array, PrimeField

_WORD = re.compile(r"(?P<sign>[+-]?)\s*(?:(?P<number>\d+(?:/\d+)?)\s+)?(?P<factors>.*)")


class LinearRing(Protocol):
    """What fields are evaluated in: exact residues for proofs, floats to move parameters (`oracle.conformance`)."""

    def lift(self, array: Any) -> Array: ...  # noqa: D102
    def matmul(self, x: Array, y: Array) -> Array: ...  # noqa: D102
    def add(self, x: Array, y: Array) -> Array: ...  # noqa: D102
    def mul(self, x: Array, y: Array) -> Array: ...  # noqa: D102
    def reduce(self, x: Array) -> Array: ...  # noqa: D102


@dataclass(frozen=True)
class Variable:
    """The space that e runs through: `kind` gl, diagonal, unit, antisymmetric, planes, scalar, ones or free, with its shape.

    unit: the multiples of E_jj for the one `unit` j; planes: on each plane (2i, 2i+1) the span of I and the quarter turn; free: all matrices;
    ones: multiples of the all-ones matrix; null: the vectors that all matrices `of` annihilate, if those have together full row
    rank at the point.
    """

    kind: str
    shape: tuple[int, int]
    unit: int = 0
    of: tuple[str, ...] = ()

    def at(self, point: Mapping[str, Array], ring: LinearRing) -> Array:
        """A basis at a point: residues (dimension, *shape)."""
        if self.kind != "null":
            return ring.lift(self.basis())
        if not isinstance(ring, PrimeField):
            raise TypeError("a null space is taken mod p: these fields have no float form")
        if not isinstance(ring, PrimeField):  # null spaces are taken mod p only
            return np.zeros((0, *self.shape))
        rows = np.concatenate([matrix(name, point) for name in self.of])
        found = kernel(ring.lift(rows), ring)
        full = len(found) == self.shape[0] - len(rows)
        return found[:, :, None] if full else np.zeros((0, *self.shape))

    def basis(self) -> Array:
        """A basis, int64 of shape (dimension, *shape)."""
        n, m = self.shape
        if self.kind in ("gl", "free"):
            return np.eye(n * m, dtype=np.int64).reshape(n * m, n, m)
        if self.kind == "ones":
            return np.ones((1, n, m), dtype=np.int64)
        if self.kind == "scalar":
            return np.ones((1, 1, 1), dtype=np.int64)
        if self.kind == "antisymmetric":
            pairs = [(i, j) for i in range(n) for j in range(i)]
            made = np.zeros((len(pairs), n, n), dtype=np.int64)
            for k, (i, j) in enumerate(pairs):
                made[k, i, j], made[k, j, i] = 1, -1
            return made
        if self.kind == "planes":
            made = np.zeros((n, n, n), dtype=np.int64)
            for j in range(n // 2):
                made[2 * j, 2 * j, 2 * j] = made[2 * j, 2 * j + 1, 2 * j + 1] = 1
                made[2 * j + 1, 2 * j, 2 * j + 1], made[2 * j + 1, 2 * j + 1, 2 * j] = -1, 1
            return made
        made = np.zeros((n, n, n), dtype=np.int64)
        made[np.arange(n), np.arange(n), np.arange(n)] = 1
        return made[self.unit : self.unit + 1] if self.kind == "unit" else made


@dataclass(frozen=True)
class Word:
    """coefficient * (product of `left`) e (product of `right`), e transposed if `transposed`; a trailing ' transposes a factor."""

    coefficient: Fraction
    left: tuple[str, ...]
    transposed: bool
    right: tuple[str, ...]


@dataclass(frozen=True)
class Field:
    """One entry of a certificate's list of fields: `name`, `layer` and `index` (group, head, ...) identify it.

    `motion` maps a moving tensor, or one slice of it (`1.Q[0]`), to its words; factors inside words are named alike.
    """

    name: str
    layer: int
    variable: Variable
    motion: Mapping[str, str]
    index: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The entry in a certificate."""
        return {"field": self.name, "layer": self.layer, **self.index}

    def describe(self) -> str:
        """The motion in one line, as `explain` prints it."""
        return ", ".join(f"d{target} = {words}" for target, words in self.motion.items())

    def vectors(self, network: Network, point: Mapping[str, Array], ring: LinearRing) -> Array:
        """The field at a point for each basis element of its variable: residues (dimension, parameters)."""
        moved = self.moved(network, point, ring)
        count = len(self.variable.at(point, ring))
        sizes = [(name, math.prod(shape)) for name, shape in network.parameter_shapes()]
        return np.concatenate([moved.get(name, np.zeros((count, size))) for name, size in sizes], axis=1)

    def moved(self, network: Network, point: Mapping[str, Array], ring: LinearRing) -> dict[str, Array]:
        """The part of `vectors` that belongs to each tensor that moves: residues (dimension, size of the tensor)."""
        shapes = dict(network.parameter_shapes())
        basis = self.variable.at(point, ring)
        moved: dict[str, Array] = {}
        if not len(basis):
            return moved
        for target, text in self.motion.items():
            name, part = _slice(target)
            if name not in moved:
                moved[name] = np.zeros((len(basis), *shapes[name]))
            total = words_at(parse_words(text), basis, point, ring, self.variable.kind == "scalar")
            place = moved[name][:, part] if part is not None else moved[name]
            place += total.reshape(place.shape)
        return {name: ring.reduce(m.reshape(len(basis), math.prod(shapes[name]))) for name, m in moved.items()}


def parse_words(text: str) -> tuple[Word, ...]:
    """The words of a motion, as in `-1/2 O[0] e Q[1]'`; words are separated by `;`."""
    words = []
    for piece in text.split(";"):
        match = _WORD.fullmatch(piece.strip())
        if match is None:
            raise ValueError(f"{piece!r} is not a word")
        coefficient = Fraction(match["number"] or 1) * (-1 if match["sign"] == "-" else 1)
        factors = match["factors"].split()
        places = [i for i, f in enumerate(factors) if f in ("e", "e'")]
        if len(places) != 1:
            raise ValueError(f"{piece!r}: the variable e must occur exactly once")
        at = places[0]
        words.append(Word(coefficient, tuple(factors[:at]), factors[at] == "e'", tuple(factors[at + 1 :])))
    return tuple(words)


def _slice(target: str) -> tuple[str, int | None]:
    name, bracket, rest = target.partition("[")
    return name, int(rest[:-1]) if bracket else None


def matrix(factor: str, point: Mapping[str, Array]) -> Array:
    """A named factor at a point as a matrix: vectors are columns; a trailing ' transposes; `cofactor` of gains and `stack` are columns, `diagonal` a square."""
    text = factor.removesuffix("'")
    if text.startswith("diagonal(") and text.endswith(")"):
        found = np.diag(np.asarray(point[text[9:-1]]).reshape(-1))
    elif text.startswith("stack(") and text.endswith(")"):
        first, _, second = text[6:-1].partition(",")
        last = np.zeros(1, dtype=np.int64) if second == "0" else _at(second, point)
        found = np.concatenate([_at(first, point).reshape(-1), last.reshape(-1)])
    elif text.startswith("cofactor(") and text.endswith(")"):
        gains = [v if isinstance(v, float) else int(v) for v in point[text[9:-1]]]
        found = np.array([_product(gains[:c] + gains[c + 1 :]) for c in range(len(gains))], dtype=object)
    else:
        found = _at(text, point)
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2:
        raise ValueError(f"{factor} is not a matrix")
    return found.T if factor.endswith("'") else found


def _at(text: str, point: Mapping[str, Array]) -> Array:
    name, part = _slice(text)
    found: Array = point[name] if part is None else point[name][part]
    return found


def _product(values: list[Any]) -> Any:
    result: Any = Fraction(1)
    for v in values:
        result *= v
    return result


def words_at(
    words: tuple[Word, ...], basis: Array, point: Mapping[str, Array], ring: LinearRing, scalar: bool = False
) -> Array:
    """The sum of the words at a point for each e of a basis (k, rows, columns); a `scalar` e is a number and commutes."""
    total: Array | None = None
    for word in words:
        left = _product_at(word.left, point, ring)
        right = _product_at(word.right, point, ring)
        e = basis.swapaxes(1, 2) if word.transposed else basis
        if scalar:
            both = left if right is None else right if left is None else ring.matmul(left, right)
            term = ring.lift(np.ones((1, 1, 1), dtype=int)) if both is None else both[None]
        else:
            term = e if left is None else ring.matmul(left[None], e)
            term = term if right is None else ring.matmul(term, right[None])
        term = ring.mul(term, ring.lift(np.array([word.coefficient], dtype=object)))
        total = term if total is None else ring.add(total, term)
    if total is None:
        raise ValueError("a motion needs a word")
    return total


def _product_at(factors: tuple[str, ...], point: Mapping[str, Array], ring: LinearRing) -> Array | None:
    result = None
    for f in factors:
        m = ring.lift(matrix(f, point))
        result = m if result is None else ring.matmul(result, m)
    return result
