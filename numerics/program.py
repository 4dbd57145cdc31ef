"""A straight-line tensor program: the forward pass of a network, recorded once and interpreted in many number systems.

Ten instructions. Shapes are known when recording, and every operand of `add` and `mul` has the rank of the result
(axes of length one broadcast), so an interpreter may put axes of its own (inputs, tangents) in front.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPERATIONS = ("param", "input", "const", "generic", "einsum", "add", "mul", "reciprocal", "exp", "root")


@dataclass(frozen=True)
class Exponentials:
    """How the entries of an `exp` instruction count as exponentials (`verifiers/CERTIFICATES.md` section 4).

    `label` names their units; `counted[entry]` says which entries are exponents of the network (a masked score is not);
    `symmetric`: the last two axes are (i, j) and entry (j, i) is identically entry (i, j), so that they share a unit.
    `normalised`: the last two axes are (key, query); only ratios of counted entries of one query matter, the others are
    masked or cancel, so that floats may subtract the largest counted exponent of each query.
    """

    label: str
    counted: np.ndarray[Any, np.dtype[np.bool_]]
    symmetric: bool = False
    normalised: bool = False


@dataclass(frozen=True)
class Instruction:
    """One step: an operation, the indices of its operands, the shape of its result and what the operation needs to know."""

    operation: str
    operands: tuple[int, ...]
    shape: tuple[int, ...]
    data: Any = None


@dataclass
class Program:
    """The instructions in order; a value is named by the index of the instruction that makes it."""

    instructions: list[Instruction] = field(default_factory=list)
    output: int = -1

    def shape(self, value: int) -> tuple[int, ...]:
        """The shape of a value."""
        return self.instructions[value].shape

    def _push(self, operation: str, operands: tuple[int, ...], shape: tuple[int, ...], data: Any = None) -> int:
        self.instructions.append(Instruction(operation, operands, shape, data))
        return len(self.instructions) - 1

    def param(self, name: str, shape: tuple[int, ...]) -> int:
        """A parameter tensor."""
        return self._push("param", (), shape, name)

    def input(self, shape: tuple[int, ...]) -> int:
        """The input X."""
        return self._push("input", (), shape, "X")

    def const(self, array: Any) -> int:
        """Fixed integers (an integer array) or fixed rationals (an object array of `Fraction`)."""
        array = np.asarray(array)
        return self._push("const", (), array.shape, array)

    def generic(self, label: str, shape: tuple[int, ...]) -> int:
        """Constants of the network that are fixed and generic: rotation angles, slopes, the constant of gelu."""
        return self._push("generic", (), shape, label)

    def einsum(self, subscripts: str, x: int, y: int) -> int:
        """The product of two tensors, summed over the letters missing in the result, which must occur in both.

        Raises `ValueError` if letters and shapes do not fit. Letters are lower case.
        """
        left, right, out = _split(subscripts)
        sizes: dict[str, int] = {}
        for letters, value in ((left, x), (right, y)):
            if len(letters) != len(self.shape(value)) or len(set(letters)) < len(letters):
                raise ValueError(f"{subscripts}: {letters} does not fit shape {self.shape(value)}")
            for letter, size in zip(letters, self.shape(value), strict=True):
                if sizes.setdefault(letter, size) != size:
                    raise ValueError(f"{subscripts}: {letter} is both {sizes[letter]} and {size}")
        return self._push("einsum", (x, y), tuple(sizes[c] for c in out), (left, right, out))

    def add(self, x: int, y: int) -> int:
        """Entrywise sum; axes of length one broadcast."""
        return self._push("add", (x, y), self._broadcast(x, y))

    def mul(self, x: int, y: int) -> int:
        """Entrywise product; axes of length one broadcast."""
        return self._push("mul", (x, y), self._broadcast(x, y))

    def reciprocal(self, x: int) -> int:
        """Entrywise 1/x; every entry must be invertible where the program is evaluated."""
        return self._push("reciprocal", (x,), self.shape(x))

    def exp(self, x: int, exponentials: Exponentials) -> int:
        """Entrywise exponential; formal number systems put a unit of the point in its place."""
        return self._push("exp", (x,), self.shape(x), exponentials)

    def root(self, x: int) -> int:
        """Entrywise 1/sqrt(x): the r with r^2 x = 1."""
        return self._push("root", (x,), self.shape(x))

    def entry_names(self) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
        """For everything that bindings give, an object array of names, one for each entry: Q_0_1, X_0_2, 1.e_0_1_2, ...

        A symmetric exponential has one name for the entries (i, j) and (j, i); constants have their longest use.
        """
        named: dict[str, np.ndarray[Any, np.dtype[Any]]] = {}
        for step in self.instructions:
            if step.operation not in ("param", "input", "generic", "exp"):
                continue
            exponentials = step.data if isinstance(step.data, Exponentials) else None
            label = exponentials.label if exponentials else step.data
            names = np.empty(step.shape, dtype=object)
            for index in np.ndindex(*step.shape):
                entry = index
                if exponentials and exponentials.symmetric:
                    entry = (*index[:-2], *sorted(index[-2:]))
                names[index] = "_".join([label, *map(str, entry)])
            if label not in named or named[label].size < names.size:
                named[label] = names
        return named

    # Shorthands, made of the ten.

    def scale(self, x: int, factor: Any) -> int:
        """A value times a fixed number."""
        return self.mul(x, self.const(np.full((1,) * len(self.shape(x)), factor)))

    def power(self, x: int, exponent: int) -> int:
        """The entrywise power, exponent >= 1, by repeated squaring."""
        if exponent == 1:
            return x
        root = self.power(x, exponent // 2)
        square = self.mul(root, root)
        return self.mul(square, x) if exponent % 2 else square

    def _broadcast(self, x: int, y: int) -> tuple[int, ...]:
        a, b = self.shape(x), self.shape(y)
        if len(a) != len(b) or any(p != q and 1 not in (p, q) for p, q in zip(a, b, strict=True)):
            raise ValueError(f"shapes {a} and {b} do not combine")
        return tuple(max(p, q) for p, q in zip(a, b, strict=True))


@functools.cache  # a process meets few
def _split(subscripts: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"([a-z]*),([a-z]*)->([a-z]*)", subscripts)
    if match is None:
        raise ValueError(f"{subscripts!r} is not of the form nm,mt->nt")
    left, right, out = match.groups()
    if set(out) - set(left) - set(right) or len(set(out)) < len(out):
        raise ValueError(f"{subscripts}: the result has letters of its own, or one twice")
    if (set(left) ^ set(right)) - set(out):
        raise ValueError(f"{subscripts}: a summed letter must occur in both operands")
    return left, right, out
