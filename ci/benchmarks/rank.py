"""The exact rank of a random square matrix mod p, on a GPU too where there is one, against FLINT, fflas-ffpack, float64 SVD and the bare products."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import others
from neuromanifold.numerics.device import DeviceField, large_field
from neuromanifold.numerics.rank import rank
from neuromanifold.numerics.rings import PrimeField
from table import Table, side_by_side

SIZES, QUICK_SIZES = (500, 1_000, 2_000, 4_096, 8_192), (200, 500, 1_000)
LARGEST_SVD = 2_000  # larger ones take minutes
LARGEST_FLINT = 4_096


def measure(rounds: int, quick: bool) -> list[Table]:
    """One table for each size; the unit is the bare cost 2/3 n^3, taken from one n x n matrix product."""
    return [_of_size(n, max(1, min(rounds, 20_000 // n))) for n in (QUICK_SIZES if quick else SIZES)]


def _of_size(n: int, rounds: int) -> Table:
    ring = PrimeField()
    drawn = np.random.default_rng(n).integers(0, ring.p, (n, n))
    matrix = ring.lift(drawn)
    things: dict[str, Callable[[], object]] = {
        "matrix product, a third": lambda: np.matmul(matrix[: n // 3], matrix),
        "rank mod p, here": lambda: rank(matrix, ring),
    }
    device = large_field()
    if isinstance(device, DeviceField):
        things["rank mod p, here, on JAX's device"] = lambda: rank(matrix, device)
    if (flint := others.find("flint")) and n <= LARGEST_FLINT:
        things["rank mod p, FLINT"] = flint.nmod_mat(n, n, drawn.reshape(-1).tolist(), ring.p).rank
    if ffpack_rank := others.find("fflas-ffpack"):
        things["rank mod p, fflas-ffpack"] = functools.partial(ffpack_rank, matrix, ring.p)
    if n <= LARGEST_SVD:
        things["float64 singular values, numpy"] = functools.partial(np.linalg.svd, matrix, compute_uv=False)
    return side_by_side(f"Rank of a random {n} x {n} matrix mod {ring.p}, {rounds} rounds side by side", things, rounds)
