"""Tensors that the function at theta does not read: zeros stand between them and the output (V = 0 frees Q and K).

A zero pattern is propagated through the program: an entry is zero, known, or may depend on the freed tensors. Where no output
entry may depend on them, they can take any value: a linear family through theta inside its fiber.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...numerics.evaluate import Lifted, evaluate
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.program import Exponentials, Program
from ...numerics.rings import Array, matmul_einsum
from .theta import Theta

ZERO, KNOWN, FREED = 0, 1, 2
MAX_PARTS = 150  # rows and columns that are tried
MAX_SETS = 6


class Patterns:
    """The interpreter: uint8 arrays of `ZERO`, `KNOWN` (perhaps zero all the same) and `FREED` (may depend on the freed tensors)."""

    formal = False

    def lift(self, array: Any) -> Array:
        """The pattern of fixed numbers; patterns stay."""
        array = np.asarray(array)
        pattern: Array = array if array.dtype == np.uint8 else (array != 0).astype(np.uint8)
        return pattern

    def einsum(self, left: str, right: str, out: str, x: Array, y: Array) -> Array:
        """The two-operand einsum."""
        result: Array = matmul_einsum(left, right, out, x, y, self._matmul)
        return result

    def _matmul(self, x: Array, y: Array) -> Array:
        nonzero = np.matmul((x > 0).astype(float), (y > 0).astype(float)) > 0
        freed = np.matmul((x == FREED).astype(float), (y > 0).astype(float)) > 0
        freed |= np.matmul((x > 0).astype(float), (y == FREED).astype(float)) > 0
        pattern: Array = nonzero.astype(np.uint8) + freed
        return pattern

    def add(self, x: Array, y: Array) -> Array:
        """x + y."""
        return np.maximum(x, y)

    def mul(self, x: Array, y: Array) -> Array:
        """x * y, entrywise."""
        return np.where((x > 0) & (y > 0), np.maximum(x, y), ZERO).astype(np.uint8)

    def reciprocal(self, x: Array) -> Array:
        """1/x."""
        return np.maximum(x, KNOWN)

    def root(self, x: Array) -> Array:
        """1/sqrt(x)."""
        return np.maximum(x, KNOWN)

    def exp(self, x: Array, exponentials: Exponentials) -> Array:
        """e^x; e^0 = 1 is known."""
        return np.maximum(x, KNOWN)


Part = tuple[str, tuple[int | None, ...]]  # a tensor and an index in it: a row, a column (None runs through an axis) or one entry of a vector


def parts(network: Network) -> list[Part]:
    """The rows and columns of all matrices, and the entries of vectors."""
    made: list[Part] = []
    for name, shape in network.parameter_shapes():
        vector = len(shape) == 1 or name.partition(".")[2] in ("bq", "bk", "bv")
        *lead, rows = shape if vector else shape[:-1]
        columns = 0 if vector else shape[-1]
        for i in np.ndindex(*lead):
            made += [(name, (*map(int, i), r)) for r in range(rows)]
            made += [(name, (*map(int, i), None, c)) for c in range(columns)]
    return made


def where(part: Part) -> tuple[slice, ...]:
    """The place of a part in its tensor; what is there is an array."""
    return tuple(slice(None) if i is None else slice(i, i + 1) for i in part[1])


def free_sets(network: Network, theta: Theta) -> list[tuple[Part, ...]]:
    """Sets of rows and columns that may take any values together without changing f_theta; the largest first, none twice.

    Guaranteed: the function does not change. Not guaranteed: that all such sets are found.
    """
    program = record(network)
    base = {name: (value != 0).astype(np.uint8) for name, value in theta.items()}
    candidates = parts(network)
    if len(candidates) > MAX_PARTS:
        return []
    single = [c for c in candidates if _unread(program, base, [c])]
    found: set[tuple[Part, ...]] = set()
    for start in single:
        if any(start in chosen for chosen in found):
            continue
        chosen = [start]
        for other in single:
            if other not in chosen and _unread(program, base, [*chosen, other]):
                chosen.append(other)
        found.add(tuple(c for c in candidates if c in chosen))
        if len(found) == MAX_SETS:
            break
    return sorted(found, key=lambda s: (-len(s), repr(s)))


def vanishing_exponents(program: Program, theta: Theta) -> dict[str, Array]:
    """For each exp instruction's label a mask of entries whose exponent is identically zero, because of zeros in theta."""
    values = _propagated(program, {name: (value != 0).astype(np.uint8) for name, value in theta.items()})
    return {
        step.data.label: np.broadcast_to(values[step.operands[0]].array == ZERO, step.shape)
        for step in program.instructions
        if step.operation == "exp"
    }


def _unread(program: Program, base: Mapping[str, Array], freed: list[Part]) -> bool:
    bindings = {name: value.copy() for name, value in base.items()}
    for part in freed:
        bindings[part[0]][where(part)] = FREED
    return bool((_propagated(program, bindings)[program.output].array < FREED).all())


def _propagated(program: Program, patterns: Mapping[str, Array]) -> list[Lifted]:
    """The patterns of all values; inputs and generic constants are known."""
    bindings = dict(patterns)
    for step in program.instructions:
        if step.operation in ("input", "generic"):
            held = bindings.get(step.data)
            if held is None or held.size < math.prod(step.shape):
                bindings[step.data] = np.full(step.shape, KNOWN, dtype=np.uint8)
    return evaluate(program, Patterns(), bindings)
