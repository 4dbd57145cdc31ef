"""Exact number systems on arrays: the prime field GF(p) and the rationals.

A ring has `lift` (integers or fractions in), `einsum`, `add`, `mul`, `reciprocal`, `root`, and says with `formal` that an
exponential is a unit of the point. Arrays may carry extra leading axes; `add` and `mul` broadcast as numpy does.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple, Protocol

import numpy as np

from .program import Exponentials

Array = np.ndarray[Any, np.dtype[Any]]

DEFAULT_PRIME = 2_097_143  # the largest prime below 2^21; 3 mod 4
CHUNK = 1 << 15  # entries that are reduced at once, so that they stay in the cache
STRIP_ROWS = 1_024  # rows of a product that are held at once: enough for BLAS to be fast


class NotInvertible(ArithmeticError):
    """A denominator is zero at this point, or a root does not exist there: take another point."""


class Ring(Protocol):
    """What an interpreter of programs needs of a number system."""

    formal: bool

    def lift(self, array: Any) -> Any: ...  # noqa: D102
    def einsum(self, left: str, right: str, out: str, x: Any, y: Any) -> Any: ...  # noqa: D102
    def add(self, x: Any, y: Any) -> Any: ...  # noqa: D102
    def mul(self, x: Any, y: Any) -> Any: ...  # noqa: D102
    def reciprocal(self, x: Any) -> Any: ...  # noqa: D102
    def root(self, x: Any) -> Any: ...  # noqa: D102
    def exp(self, x: Any, exponentials: Exponentials) -> Any: ...  # noqa: D102


def _exact(value: Any) -> Fraction:
    """An integer (of Python or numpy) or a rational as a `Fraction` of Python integers; floats are refused, not rounded."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    raise TypeError(f"exact numbers are integers and fractions, not {type(value).__name__}")


@functools.lru_cache(maxsize=64)
def _is_prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, int(n**0.5) + 1))


def _halves(x: Array) -> tuple[Array, Array, Array]:
    """Two halves of equal length, and the last entry where one is left over."""
    half = len(x) // 2
    return x[:half], x[half : 2 * half], x[2 * half :]


class PrimeField:
    """GF(p) on float64 arrays of balanced residues, |x| <= p/2 + 2: products and short sums are exact, BLAS does the work.

    Exact because every intermediate sum stays below 2^53: a dot product of k terms is at most k (p/2 + 2)^2, so sums are
    cut into pieces of `terms` = floor(2^53 / (p/2 + 2)^2) and reduced in between. For p near 2^21 that is 8192 terms.
    Raises `ValueError` if p is too large for one product (p > 2^27), too small, or composite: Fermat inverses and the
    claims made from ranks need a field.
    """

    formal = True
    test_shapes: tuple[tuple[int, int, int], ...] = ((3, 5, 4), (300, 130, 65))  # rows, terms, columns; see `rank.self_test`

    def __init__(self, p: int = DEFAULT_PRIME):
        if not 2 < p < 1 << 27:
            raise ValueError(f"p={p} is out of range for exact float64 products")
        if not _is_prime(p):
            raise ValueError(f"p={p} is not a prime")
        self.p = p
        self.terms = (1 << 53) // ((p // 2 + 2) ** 2)
        self._inverse = 1.0 / p

    def reduce(self, x: Array) -> Array:
        """Balanced residues of exact integers |x| < 2^53, at most p/2 + 2.

        1/p and the product are each rounded by 2^-53, so the quotient errs by less than |x|/p 2^-52 < 2/p, and
        |x - p rint(x/p)| < p (1/2 + 2/p).
        """
        result: Array = x - np.rint(x * self._inverse) * self.p
        return result

    def reduce_in_place(self, x: Array, plus: Array | None = None) -> None:
        """x := x, or x + plus, of a matrix, reduced entry by entry as `reduce` does; a piece at a time."""
        step = max(1, CHUNK // max(1, x.shape[1]))
        quotient = np.empty((step, x.shape[1]))
        for start in range(0, len(x), step):
            part = x[start : start + step]
            if plus is not None:
                part += plus[start : start + step]
            q = quotient[: len(part)]
            np.multiply(part, self._inverse, out=q)
            np.rint(q, out=q)
            q *= self.p
            part -= q

    def lift(self, array: Any) -> Array:
        """Residues of an integer array or an object array of fractions; raises `NotInvertible` on a denominator divisible by p."""
        array = np.asarray(array)
        if array.dtype == object:
            flat = [self._residue(v) for v in array.reshape(-1)]
            array = np.array(flat, dtype=np.int64).reshape(array.shape)
        elif array.dtype.kind not in "iub":
            raise TypeError(f"GF(p) takes integers and fractions, not {array.dtype}")
        else:
            wide = np.uint64 if array.dtype.kind == "u" else np.int64
            array = array.astype(wide) % wide(self.p)
        return self.reduce(array.astype(np.float64))

    def _residue(self, value: Any) -> int:
        fraction = _exact(value)
        if fraction.denominator % self.p == 0:
            raise NotInvertible(f"{fraction} has no residue mod {self.p}")
        return fraction.numerator * pow(fraction.denominator, -1, self.p) % self.p

    def integers(self, x: Array) -> Array:
        """Residues 0..p-1 as int64."""
        return np.rint(x).astype(np.int64) % self.p

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """The two-operand einsum, as one batched matrix product."""
        result: Array = matmul_einsum(left, right, out, x, y, self.matmul)
        return result

    def matmul(self, x: Array, y: Array) -> Array:
        """x @ y, reduced; cut into exact pieces along the summed axis."""
        k = x.shape[-1]
        if k <= self.terms:
            return self._product(x, y)
        total = self._product(x[..., : self.terms], y[..., : self.terms, :])
        for start in range(self.terms, k, self.terms):
            stop = start + self.terms
            total += self._product(x[..., start:stop], y[..., start:stop, :])
        return self.reduce(total)

    def _product(self, x: Array, y: Array) -> Array:
        """x @ y, reduced, of at most `terms` terms."""
        return self.reduce(np.matmul(x, y))

    def add_product(self, target: Array, x: Array, y: Array, scratch: Array | None = None) -> None:
        """target += x y, reduced, of matrices of residues, in place; `scratch`: workspace for `STRIP_ROWS` rows of target.

        Exact: |target| + terms of x y at most k (p/2 + 2)^2 < 2^53 for k < `terms`.
        """
        if scratch is None:
            scratch = np.empty(min(len(target), STRIP_ROWS) * target.shape[1])
        limit = self.terms - 1
        for at in range(0, x.shape[1], limit):
            left, right = x[:, at : at + limit], y[at : at + limit]
            for start in range(0, len(target), STRIP_ROWS):
                part = target[start : start + STRIP_ROWS]
                product = scratch[: part.size].reshape(part.shape)
                np.matmul(left[start : start + STRIP_ROWS], right, out=product)
                self.reduce_in_place(part, product)

    def add(self, x: Array, y: Array) -> Array:
        """x + y."""
        return self.reduce(x + y)

    def mul(self, x: Array, y: Array) -> Array:
        """x * y, entrywise."""
        return self.reduce(x * y)

    def power(self, x: Array, exponent: int) -> Array:
        """x^exponent, entrywise, exponent >= 1."""
        result = None
        while exponent:
            if exponent & 1:
                result = x if result is None else self.mul(result, x)
            exponent >>= 1
            x = self.mul(x, x) if exponent else x
        if result is None:
            raise ValueError("the exponent must be positive")
        return result

    def reciprocal(self, x: Array) -> Array:
        """1/x; raises `NotInvertible` where x is 0.

        A tree of products of two halves has one inverse to compute, at its root: three products an entry.
        """
        if not np.all(x):
            raise NotInvertible(f"a denominator is 0 mod {self.p} at this point")
        levels = [x.reshape(-1)]
        while len(levels[-1]) > 1:
            left, right, odd = _halves(levels[-1])
            levels.append(np.concatenate([self.mul(left, right), odd]))
        inverse = np.array([pow(int(v), -1, self.p) for v in levels[-1]], dtype=np.float64)
        for level in levels[-2::-1]:
            left, right, odd = _halves(level)
            both = inverse[: len(left)]
            inverse = np.concatenate([self.mul(both, right), self.mul(both, left), inverse[len(left) :]])
        return self.reduce(inverse).reshape(x.shape)

    def has_root(self, x: Array) -> Array:
        """Where x is a non-zero square mod p."""
        result: Array = self.power(x, (self.p - 1) // 2) == 1
        return result

    def root(self, x: Array) -> Array:
        """The r with r^2 x = 1, the smaller of r and p - r.

        Raises `NotInvertible` where there is none, `ValueError` unless p = 3 mod 4.
        """
        if self.p % 4 != 3:
            raise ValueError(f"roots are taken for p = 3 mod 4 only, and p={self.p}")
        if not np.all(self.has_root(x)):
            raise NotInvertible(f"a radicand is not a square mod {self.p} at this point")
        r = self.integers(self.power(self.reciprocal(x), (self.p + 1) // 4))
        return self.lift(np.minimum(r, self.p - r))

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """There is no exponential in GF(p): interpreters use a unit of the point."""
        raise TypeError("an exponential in GF(p) is a unit of the point")


class Rationals:
    """Exact rationals: object arrays of `Fraction`."""

    formal = True

    def lift(self, array: Any) -> Array:
        """Fractions of integers or fractions, exactly."""
        array = np.asarray(array)
        if array.dtype.kind not in "iubO":
            raise TypeError(f"the rationals take integers and fractions, not {array.dtype}")
        lifted = np.empty(array.size, dtype=object)
        lifted[:] = [_exact(v) for v in array.reshape(-1)]
        return lifted.reshape(array.shape)

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """The two-operand einsum."""
        result: Array = matmul_einsum(left, right, out, x, y, np.matmul)
        return result

    def add(self, x: Array, y: Array) -> Array:
        """x + y."""
        return np.asarray(x + y, dtype=object)  # numpy unpacks object arrays without axes

    def mul(self, x: Array, y: Array) -> Array:
        """x * y, entrywise."""
        return np.asarray(x * y, dtype=object)

    def reciprocal(self, x: Array) -> Array:
        """1/x; raises `NotInvertible` where x is 0."""
        if any(v == 0 for v in x.reshape(-1)):
            raise NotInvertible("a denominator is 0 at this point")
        return np.asarray(Fraction(1) / x, dtype=object)

    def root(self, x: Array) -> Array:
        """The positive r with r^2 x = 1; raises `NotInvertible` where it is not rational."""
        return self.lift(np.array([_rational_root(v) for v in x.reshape(-1)], dtype=object).reshape(x.shape))

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """There is no rational exponential: interpreters use a unit of the point."""
        raise TypeError("an exponential over the rationals is a unit of the point")


def _rational_root(value: Fraction) -> Fraction:
    top, bottom = math.isqrt(max(value.numerator, 0)), math.isqrt(value.denominator)
    if value <= 0 or top * top != value.numerator or bottom * bottom != value.denominator:
        raise NotInvertible(f"{value} is not the square of a rational")
    return Fraction(bottom, top)


class _Plan(NamedTuple):
    """An einsum of two operands as one batched matrix product: how each operand is transposed, and the result back.

    The transposed operands have the axes batch, rows, summed and batch, summed, columns.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    out: tuple[int, ...]
    batch: int
    rows: int
    summed: int


@functools.cache  # a process meets the letters of its programs only
def _plan(left: str, right: str, out: str) -> _Plan:
    batch = [c for c in out if c in left and c in right]
    rows = [c for c in out if c in left and c not in right]
    columns = [c for c in out if c in right and c not in left]
    summed = [c for c in left if c in right and c not in out]
    if len(batch + rows + summed) < len(left) or len(batch + summed + columns) < len(right):
        raise ValueError(f"{left},{right}->{out}: a summed letter must occur in both operands")
    order = batch + rows + columns
    return _Plan(
        tuple(left.index(c) for c in batch + rows + summed), tuple(right.index(c) for c in batch + summed + columns),
        tuple(order.index(c) for c in out), len(batch), len(rows), len(summed),
    )  # fmt: skip


def matmul_einsum(left: str, right: str, out: str, x: Any, y: Any, matmul: Any) -> Any:
    """An einsum as transposes, one matrix product and a transpose back.

    Letters in both operands and the result are batch axes. Works on whatever has `transpose` and `reshape`. Raises
    `ValueError` where a summed letter occurs in one operand only.
    """
    plan = _plan(left, right, out)
    a, b = x.transpose(plan.left), y.transpose(plan.right)
    lead, rows, summed = a.shape[: plan.batch], a.shape[plan.batch : plan.batch + plan.rows], a.shape[plan.batch + plan.rows :]
    columns = b.shape[plan.batch + plan.summed :]
    a = a.reshape(*lead, math.prod(rows), math.prod(summed))
    b = b.reshape(*lead, math.prod(summed), math.prod(columns))
    return matmul(a, b).reshape((*lead, *rows, *columns)).transpose(plan.out)
