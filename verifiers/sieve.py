"""Many inputs at once, those at which roots or inverses do not exist mod p sorted out: roots exist half of the time each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..numerics.evaluate import Lifted, evaluate
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rings import Array, NotInvertible, PrimeField

BATCHES = (61, 509, 4_093)  # primes, so that no other axis has one of these lengths by chance; for few, more, many roots
MAX_BATCHES = 24
MAX_ENTRIES = 1 << 22  # of one stream of the point, as in the replay
NOT_FAILED = 1 << 30


class Sieve(PrimeField):
    """GF(p) on batches of inputs: instead of raising it notes at which inputs something does not exist.

    `failed[n]` is the number of the first radicand of input n that is not a square, NOT_FAILED if all are, -1 if a denominator
    failed before; `nonsquare[n]` says that it is not zero either; `good[n]`: no radicand and no denominator failed.
    """

    def __init__(self, p: int, count: int):
        super().__init__(p)
        self.count, self.met = count, 0
        self.good = np.ones(count, dtype=bool)
        self.failed = np.full(count, NOT_FAILED)
        self.nonsquare = np.zeros(count, dtype=bool)

    def reciprocal(self, x: Array) -> Array:
        """1/x, and 1 where x is 0."""
        ok = x != 0
        if not ok.all():
            if x.shape[0] != self.count:
                raise NotInvertible("a denominator is 0 at every input")
            exists = ok.reshape(self.count, -1).all(axis=1)
            self.good &= exists
            self.failed[~exists & (self.failed == NOT_FAILED)] = -1
        return super().reciprocal(np.where(ok, x, 1.0))

    def root(self, x: Array) -> Array:
        """The root, and 1 where there is none."""
        ok = self.has_root(x)
        if x.shape[0] != self.count:
            if not ok.all():
                raise NotInvertible("a radicand is no square at any input")
            self.met += math.prod(x.shape)
            return super().root(x)
        flat, values = ok.reshape(self.count, -1), x.reshape(self.count, -1)
        first = np.argmin(flat, axis=1)
        fresh = ~flat.all(axis=1) & (self.failed == NOT_FAILED)
        self.failed[fresh] = self.met + first[fresh]
        self.nonsquare[fresh] = values[fresh, first[fresh]] != 0
        self.met += flat.shape[1]
        self.good &= flat.all(axis=1)
        return super().root(np.where(ok, x, 1.0))


def batches(
    program: Program, point: Point, ring: PrimeField, fixed: Mapping[str, Any], limit: int = MAX_BATCHES
) -> Iterator[tuple[int, Sieve, list[Lifted]]]:
    """Batches of input numbers in order: the first number, what the sieve noted, and all values (of no use at bad inputs)."""
    roots = sum(s.shape[0] for s in program.instructions if s.operation == "root")
    batch = BATCHES[(roots > 3) + (roots > 6)]
    drawn = [math.prod(s.shape) for s in program.instructions if s.operation in ("input", "exp")]
    entries = max(max(drawn), -(-sum(drawn) // 4))  # the replay expands at most twice what is needed, eight streams of full length
    for start in range(0, min(limit * batch, MAX_ENTRIES // entries - batch), batch):
        sieve = Sieve(ring.p, batch)
        values = evaluate(program, sieve, {**fixed, **point.inputs(program, range(start, start + batch))})
        yield start, sieve, values
