"""Zero patterns: which entries can be non-zero, whatever the values of the parameters, inputs and exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Exponentials
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
