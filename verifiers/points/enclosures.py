"""Interval arithmetic in fixed point: every value is an interval of integers over 2^bits that contains the exact one.

Rounding is outward in every operation; the exponential is a Taylor sum after halving the argument, with its remainder
bounded. Two disjoint enclosures prove two values different.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from ...numerics.program import Exponentials
from ...numerics.rings import Array, NotInvertible, matmul_einsum

MAX_ARGUMENT = 4_000  # of an exponential: e^4000 has 5,800 bits
HALVINGS = 12


class Enclosure:
    """low / 2^bits <= value <= high / 2^bits."""

    __slots__ = ("bits", "high", "low")

    def __init__(self, bits: int, low: int, high: int):
        self.bits = bits
        self.low = low
        self.high = high

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.bits, self.low + other.low, self.high + other.high)

    def __mul__(self, other: Enclosure) -> Enclosure:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Enclosure(self.bits, min(ends) >> self.bits, -(-max(ends) >> self.bits))

    def disjoint(self, other: Enclosure) -> bool:
        """Whether the two exact values must differ."""
        return self.high < other.low or other.high < self.low


class Enclosures:
    """The ring of enclosures with a given number of bits after the point, as an interpreter of programs wants it."""

    formal = False

    def __init__(self, bits: int):
        self.bits = bits
        self.unit = 1 << bits

    def lift(self, array: Any) -> Array:
        """Enclosures of integers or fractions."""
        array = np.asarray(array)
        return self._map(self._one, array)

    def _one(self, value: Any) -> Enclosure:
        if isinstance(value, Enclosure):
            return value
        number = value if isinstance(value, Fraction) else Fraction(int(value))
        low, rest = divmod(number.numerator << self.bits, number.denominator)
        return Enclosure(self.bits, low, low + bool(rest))

    def _map(self, function: Any, array: Array) -> Array:
        made = np.empty(array.size, dtype=object)
        made[:] = [function(v) for v in array.reshape(-1)]
        return made.reshape(array.shape)

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

    def reciprocal(self, x: Array) -> Array:
        """1/x; raises `NotInvertible` where the enclosure contains 0."""
        return self._map(self._inverse, x)

    def _inverse(self, x: Enclosure) -> Enclosure:
        if x.low <= 0 <= x.high:
            raise NotInvertible("a denominator may be 0 here")
        square = 1 << 2 * self.bits
        return Enclosure(self.bits, square // x.high, -(-square // x.low))

    def root(self, x: Array) -> Array:
        """1/sqrt(x); raises `NotInvertible` unless the enclosure is positive."""
        return self._map(self._inverse_root, x)

    def _inverse_root(self, x: Enclosure) -> Enclosure:
        if x.low <= 0:
            raise NotInvertible("a radicand may be 0 here")
        return self._inverse(Enclosure(self.bits, isqrt(x.low << self.bits), isqrt(x.high << self.bits) + 1))

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """e^x; raises `NotInvertible` beyond |x| = `MAX_ARGUMENT`."""
        return self._map(lambda v: Enclosure(self.bits, self._exp(v.low)[0], self._exp(v.high)[1]), x)

    def _exp(self, x: int) -> tuple[int, int]:
        """Bounds of 2^bits e^(x / 2^bits)."""
        if abs(x) > MAX_ARGUMENT << self.bits:
            raise NotInvertible("an exponential is too large to be enclosed")
        halvings = max(0, abs(x).bit_length() - self.bits + HALVINGS)
        guard = 2 * halvings + abs(x >> self.bits) * 3 // 2 + 32  # squarings double the error, and e^x may be large
        unit = 1 << (self.bits + guard)
        y = Fraction(x << guard, 1 << halvings)  # scaled argument, |y| <= unit / 2
        low_y, high_y = y.__floor__(), y.__ceil__()
        low, high = self._taylor(low_y, unit)[0], self._taylor(high_y, unit)[1]
        for _ in range(halvings):
            low, high = low * low // unit, -(-high * high // unit)
        return low >> guard, -(-high >> guard)

    def _taylor(self, y: int, unit: int) -> tuple[int, int]:
        """Bounds of unit e^(y / unit) for |y| <= unit / 2."""
        low = high = total_low = total_high = unit
        k = 1
        while abs(low) > 1 or abs(high) > 1:
            ends = (low * y, high * y)
            low, high = min(ends) // (unit * k), -(-max(ends) // (unit * k))
            total_low += low
            total_high += high
            k += 1
        return max(total_low - 2, 0), total_high + 2  # the last term is at most 1, and so is the sum of all that follow
