"""Zero patterns: which entries can be non-zero, whatever the values of the parameters, inputs and exponentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .evaluate import evaluate, jacobian
from .program import Exponentials, Program
from .rings import Array, NotInvertible, matmul_einsum


class Patterns:
    """Boolean arrays as a ring: True where an entry can be non-zero.

    An entry that is False is zero at every point whose zeros the pattern of the bindings allows; an entry that is True may
    still be zero, since cancellation is not seen. Exponentials are never zero.
    """

    formal = False

    def lift(self, array: Any) -> Array:
        """Where the numbers are not zero."""
        nonzero: Array = np.asarray(array) != 0
        return nonzero

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """Non-zero if some product in the sum can be."""
        result: Array = matmul_einsum(left, right, out, x, y, np.matmul)
        return result

    def add(self, x: Array, y: Array) -> Array:
        """Non-zero if one summand can be."""
        return np.logical_or(x, y)

    def mul(self, x: Array, y: Array) -> Array:
        """Non-zero if both factors can be."""
        return np.logical_and(x, y)

    def reciprocal(self, x: Array) -> Array:
        """Never zero; raises `NotInvertible` where x is zero for certain."""
        if not np.all(x):
            raise NotInvertible("a denominator is identically zero")
        return np.ones_like(x)

    def root(self, x: Array) -> Array:
        """Never zero; raises `NotInvertible` where x is zero for certain."""
        return self.reciprocal(x)

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """Never zero."""
        return np.ones_like(x)


def output_pattern(program: Program, zeros: Mapping[str, Any] | None = None) -> Array:
    """Where the output can be non-zero, of the output's shape; `zeros` binds names to patterns, all True unless given."""
    result: Array = evaluate(program, Patterns(), _bindings(program, zeros))[program.output].array
    return result


def jacobian_pattern(program: Program, zeros: Mapping[str, Any] | None = None) -> Array:
    """Where the Jacobian of the output by the parameters can be non-zero, shape (size of the output, parameters).

    Its largest matching bounds the rank of the Jacobian at one input; nothing is said about cancellation.
    """
    return jacobian(program, Patterns(), _bindings(program, zeros))


def _bindings(program: Program, zeros: Mapping[str, Any] | None) -> dict[str, Any]:
    full = {label: np.ones(names.shape, dtype=bool) for label, names in program.entry_names().items()}
    return full | dict(zeros or {})
