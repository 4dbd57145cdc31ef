"""Ranks for the replay of large certificates: of the same rows, by exact matrix products instead of Python integers.

Trusted then in addition to `replay.py`: `numerics.rank` and its self-test of this machine's matrix products. All else is the replay's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from .replay import Packed

LEAST = 1_500  # rows from which on matrix products are used; below, Python integers are quick enough
SPEED = 50  # how much cheaper they are, at least


class FastRanks:
    """The arithmetic of one replay; `used`: how many ranks were computed by matrix products."""

    def __init__(self) -> None:
        self.used = 0

    def __call__(self, p: int) -> Packed:
        """The arithmetic modulo p: matrix products are used for primes below 2^23."""
        return _Fast(p, self) if p < 1 << 23 else Packed(p)


class _Fast(Packed):
    largest = 20_000

    def __init__(self, p: int, counter: FastRanks):
        super().__init__(p)
        self.counter = counter

    def rank(self, rows: Sequence[int]) -> int:
        if len(rows) < LEAST:
            return super().rank(rows)
        import numpy as np

        from ..numerics.rank import rank
        from ..numerics.rings import PrimeField

        self.counter.used += 1
        fields = max(-(-row.bit_length() // self.width) for row in rows)
        matrix = np.empty((len(rows), fields))
        for entries, row in zip(matrix, rows, strict=True):
            entries[:] = np.frombuffer(row.to_bytes(8 * fields, "little"), dtype="<u8")
        return rank(matrix, PrimeField(self.p))

    def rank_work(self, rows: int, columns: int) -> int:
        work = super().rank_work(rows, columns)
        return work if rows < LEAST else work // SPEED
