"""Z3 reals as a ring: the same forward pass, as polynomial terms and the equations that define reciprocals and roots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from ..numerics.program import Exponentials, Program
from ..numerics.rings import Array, matmul_einsum


@dataclass(frozen=True)
class Definition:
    """A fresh variable and the term it is the `reciprocal` or inverse square `root` of."""

    kind: str
    variable: z3.ArithRef
    of: z3.ArithRef

    def equations(self) -> list[z3.BoolRef]:
        """x y = 1, or r^2 x = 1 and r > 0."""
        if self.kind == "reciprocal":
            return [self.of * self.variable == 1]
        return [self.variable * self.variable * self.of == 1, self.variable > 0]


class Z3Reals:
    """Object arrays of Z3 real terms, all in one context; terms stay polynomial.

    A reciprocal or root is a fresh variable; what it is stands in `definitions`, and any query must assert `equations()`
    beside its own formula (division by zero in Z3 is an arbitrary number: it is not used here). An exponential is a unit
    of the point, bound by its label. Z3 objects are neither picklable nor thread-safe: one process a query.
    """

    formal = True

    def __init__(self, context: z3.Context | None = None):
        self.context = context if context is not None else z3.main_ctx()
        self.definitions: list[Definition] = []

    def equations(self) -> list[z3.BoolRef]:
        """The equations of all fresh variables made so far; they imply that no denominator is zero."""
        return [e for d in self.definitions for e in d.equations()]

    def lift(self, array: Any) -> Array:
        """Z3 numerals of integers and fractions; terms stay. Raises `TypeError` for floats and text."""
        return _map(self._element, np.asarray(array))

    def _element(self, value: Any) -> z3.ArithRef:
        if isinstance(value, z3.ArithRef):
            return value
        if isinstance(value, Fraction | int | np.integer | np.bool_):
            exact = Fraction(value if isinstance(value, Fraction) else int(value))
            return z3.Q(exact.numerator, exact.denominator, self.context)
        raise TypeError(f"Z3 reals are terms, integers and fractions, not {type(value).__name__}")

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """The two-operand einsum."""
        result: Array = matmul_einsum(left, right, out, x, y, _matmul)
        return result

    def add(self, x: Array, y: Array) -> Array:
        """x + y."""
        x, y = np.broadcast_arrays(x, y)
        return _zip(lambda a, b: a + b, x, y)

    def mul(self, x: Array, y: Array) -> Array:
        """x * y, entrywise."""
        x, y = np.broadcast_arrays(x, y)
        return _zip(lambda a, b: a * b, x, y)

    def reciprocal(self, x: Array) -> Array:
        """A fresh y with x y = 1: the equations are unsatisfiable where x is 0."""
        return _map(lambda v: self._fresh("reciprocal", v), x)

    def root(self, x: Array) -> Array:
        """A fresh r > 0 with r^2 x = 1."""
        return _map(lambda v: self._fresh("root", v), x)

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """Z3 has no exponential: interpreters use a unit of the point."""
        raise TypeError("an exponential among Z3 reals is a unit of the point")

    def _fresh(self, kind: str, of: z3.ArithRef) -> z3.ArithRef:
        variable = z3.Real(f"{kind}!{len(self.definitions)}", self.context)
        self.definitions.append(Definition(kind, variable, of))
        return variable


def variables(program: Program, ring: Z3Reals) -> dict[str, Array]:
    """Bindings of a program by real variables, one for each name of `Program.entry_names`. Units are not asserted positive."""
    return {
        label: _map(lambda name: z3.Real(name, ring.context), names) for label, names in program.entry_names().items()
    }


def _matmul(x: Array, y: Array) -> Array:
    """A batched matrix product of terms, each entry one flat sum."""
    result = np.empty((*x.shape[:-1], y.shape[-1]), dtype=object)
    for index in np.ndindex(*result.shape):
        lead, (i, j) = index[:-2], index[-2:]
        products = [a * b for a, b in zip(x[(*lead, i)], y[(*lead, slice(None), j)], strict=True)]
        result[index] = products[0] if len(products) == 1 else z3.Sum(products)
    return result


def _map(function: Callable[[Any], Any], array: Array) -> Array:
    return _collect((function(v) for v in array.reshape(-1)), array.shape)


def _zip(function: Callable[[Any, Any], Any], x: Array, y: Array) -> Array:
    pairs = zip(x.reshape(-1), y.reshape(-1), strict=True)
    return _collect((function(a, b) for a, b in pairs), x.shape)


def _collect(entries: Iterator[Any], shape: tuple[int, ...]) -> Array:
    """An object array of terms, without numpy asking a term for its truth or length."""
    listed = list(entries)
    result = np.empty(len(listed), dtype=object)
    for i, entry in enumerate(listed):
        result[i] = entry
    return result.reshape(shape)
