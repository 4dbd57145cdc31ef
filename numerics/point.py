"""Points expanded from a seed by a stated hash, so that a certificate names a point by one integer (`verifiers/CERTIFICATES.md` section 3)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .network import Network
from .program import Exponentials, Program

Array = np.ndarray[Any, np.dtype[Any]]


def words(seed: int, label: str, count: int) -> Array:
    """The first `count` 64-bit words of the stream of a label (uint64)."""
    digest = hashlib.shake_256(f"neuromanifold:{seed}:{label}".encode("ascii")).digest(8 * count)
    return np.frombuffer(digest, dtype="<u8")


@dataclass(frozen=True)
class Point:
    """Values mod p of everything a program reads, expanded from `seed`; `prefix` separates draws of one seed."""

    seed: int
    prime: int
    prefix: str = ""

    def values(self, label: str, count: int) -> Array:
        """w mod p as int64."""
        return (words(self.seed, self.prefix + label, count) % np.uint64(self.prime)).astype(np.int64)

    def units(self, label: str, count: int) -> Array:
        """1 + (w mod (p - 1)) as int64: never zero mod p."""
        return (words(self.seed, self.prefix + label, count) % np.uint64(self.prime - 1)).astype(np.int64) + 1

    def parameters(self, network: Network) -> dict[str, Array]:
        """All parameter tensors by name."""
        return {
            name: self.values(name, math.prod(shape)).reshape(shape) for name, shape in network.parameter_shapes()
        }

    def constants(self, program: Program) -> dict[str, Array]:
        """The generic constants that the program uses; slopes of alibi scores are absorbed by the units and set to 0."""
        made: dict[str, Array] = {}
        for step in program.instructions:
            if step.operation == "generic":
                count = math.prod(step.shape)
                longest = max(count, made[step.data].size if step.data in made else 0)
                if step.data == "alibi-slope":
                    made[step.data] = np.zeros(longest, dtype=np.int64)
                else:
                    draw = self.values if step.data == "rope" else self.units
                    made[step.data] = draw(step.data, longest)
        return made

    def inputs(self, program: Program, numbers: Sequence[int]) -> dict[str, Array]:
        """X and the units of all exponentials at the given input numbers, each with a leading axis over them."""
        found: dict[str, Array] = {}
        index = np.asarray(numbers, dtype=np.int64)
        for step in program.instructions:
            if step.operation not in ("input", "exp"):
                continue
            label = step.data.label if isinstance(step.data, Exponentials) else step.data
            draw = self.units if step.operation == "exp" else self.values
            size = math.prod(step.shape)
            drawn = draw(label, (int(index.max()) + 1) * size).reshape(-1, *step.shape)[index]
            if isinstance(step.data, Exponentials) and step.data.symmetric:
                upper = np.triu(np.ones(step.shape[-2:], dtype=bool))
                drawn = np.where(upper, drawn, drawn.swapaxes(-1, -2))
            found[label] = drawn
        return found
