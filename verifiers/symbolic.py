"""Sympy elements as a ring: the same forward pass, as expressions in symbols."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from ..numerics.program import Exponentials, Program
from ..numerics.rings import Array, NotInvertible, matmul_einsum


class Symbolic:
    """Object arrays of sympy expressions, exact and not simplified.

    With `formal` an exponential is a unit of the point, bound by its label (usually to fresh symbols); without, it is
    `sympy.exp` of its exponent. Denominators are taken as non-zero: a result holds where none of them vanishes.
    """

    def __init__(self, formal: bool = True):
        self.formal = formal

    def lift(self, array: Any) -> Array:
        """Sympy numbers of integers and fractions; expressions stay. Raises `TypeError` for floats and text."""
        return _map(_element, np.asarray(array))

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
        """1/x; raises `NotInvertible` where x is the number 0 (an expression that is identically 0 may go unnoticed)."""
        if any(v.is_zero for v in x.reshape(-1)):
            raise NotInvertible("a denominator is 0")
        return _map(lambda v: 1 / v, x)

    def root(self, x: Array) -> Array:
        """1/sqrt(x); raises `NotInvertible` as `reciprocal` does."""
        return _map(sympy.sqrt, self.reciprocal(x))

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """`sympy.exp` of x (without `formal`)."""
        return _map(sympy.exp, x)


def symbols(program: Program, positive: bool = False) -> dict[str, Array]:
    """Bindings of a program by symbols, one for each name of `Program.entry_names`; `positive`: assume that all are."""
    assumptions = {"positive": True} if positive else {}
    return {
        label: _map(lambda name: sympy.Symbol(name, **assumptions), names)
        for label, names in program.entry_names().items()
    }


def _element(value: Any) -> sympy.Expr:
    if isinstance(value, sympy.Expr):
        return value
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, int | np.integer | np.bool_):
        return sympy.Integer(int(value))
    raise TypeError(f"symbolic elements are expressions, integers and fractions, not {type(value).__name__}")


def _map(function: Callable[[Any], Any], array: Array) -> Array:
    result = np.empty(array.size, dtype=object)
    result[:] = [function(v) for v in array.reshape(-1)]
    return result.reshape(array.shape)
