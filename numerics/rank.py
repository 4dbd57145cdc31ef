"""Exact rank mod p, with pivots: recursive elimination whose work is exact floating-point matrix products.

Reference for the recursion: Jeannerod, Pernet, Storjohann, *Rank-profile revealing Gaussian elimination and the CUP
matrix decomposition*, J. Symbolic Computation 56 (2013).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .rings import Array, PrimeField

BASE_COLUMNS = 24


class Pivots(NamedTuple):
    """Rows and columns (increasing) of a square minor that is non-zero mod p and as large as the rank."""

    rows: list[int]
    columns: list[int]


def pivots(matrix: Array, ring: PrimeField) -> Pivots:
    """A maximal non-zero minor of a matrix of integers mod p (float64, |x| < 2^53).

    The columns are the first that are independent. Raises `ArithmeticError` as `self_test` does.
    """
    self_test(ring)
    work = np.array(ring.reduce(np.asarray(matrix, dtype=np.float64)), order="C")
    order = np.arange(work.shape[0])
    columns = _eliminate(work, order, 0, 0, work.shape[1], ring)
    return Pivots(sorted(int(i) for i in order[: len(columns)]), columns)


def rank(matrix: Array, ring: PrimeField) -> int:
    """The rank mod p: a lower bound of the rank over the rationals of any integer matrix with these residues."""
    return len(pivots(matrix, ring).columns)


def _eliminate(work: Array, order: Array, top: int, start: int, stop: int, ring: PrimeField) -> list[int]:
    """Eliminate columns start..stop below row `top`, in place; returns the pivot columns, one for each of the rows from `top` on.

    Below and left of the pivots the multipliers L are left in the pivot columns.
    """
    if top >= work.shape[0] or start >= stop:
        return []
    if stop - start <= BASE_COLUMNS:
        return _eliminate_base(work, order, top, start, stop, ring)
    middle = start + (stop - start) // 2
    left = _eliminate(work, order, top, start, middle, ring)
    done = top + len(left)
    if left:
        block = work[top:done, middle:stop]
        _solve_unit_lower(work[top:done][:, left], block, ring)
        if done < work.shape[0]:
            rest = work[done:, middle:stop]
            rest -= ring.matmul(np.ascontiguousarray(work[done:][:, left]), block)
            rest[...] = ring.reduce(rest)
    return left + _eliminate(work, order, done, middle, stop, ring)


def _eliminate_base(work: Array, order: Array, top: int, start: int, stop: int, ring: PrimeField) -> list[int]:
    found: list[int] = []
    for c in range(start, stop):
        if top >= work.shape[0]:
            break
        nonzero = np.flatnonzero(work[top:, c])
        if not nonzero.size:
            continue
        i = top + int(nonzero[0])
        if i != top:
            work[[top, i]] = work[[i, top]]
            order[[top, i]] = order[[i, top]]
        inverse = pow(int(work[top, c]) % ring.p, -1, ring.p)
        multipliers = ring.mul(work[top + 1 :, c], ring.lift(np.array(inverse)))
        work[top + 1 :, c] = multipliers
        if c + 1 < stop:
            rest = work[top + 1 :, c + 1 : stop]
            rest -= multipliers[:, None] * work[top, c + 1 : stop]
            rest[...] = ring.reduce(rest)
        found.append(c)
        top += 1
    return found


def _solve_unit_lower(lower: Array, block: Array, ring: PrimeField) -> None:
    """block := L^-1 block for the unit lower triangular L whose strict lower part is that of `lower`."""
    n = lower.shape[0]
    if n <= BASE_COLUMNS:
        for i in range(1, n):
            block[i] = ring.reduce(block[i] - ring.matmul(lower[i : i + 1, :i], block[:i])[0])
        return
    half = n // 2
    _solve_unit_lower(lower[:half, :half], block[:half], ring)
    block[half:] = ring.reduce(block[half:] - ring.matmul(np.ascontiguousarray(lower[half:, :half]), block[:half]))
    _solve_unit_lower(lower[half:, half:], block[half:], ring)


_tested: set[tuple[type[PrimeField], int]] = set()


def self_test(ring: PrimeField) -> None:
    """Once a process, class of rings and prime: matrix products of extreme residues against Python integers.

    Some BLAS kernels compute wrong results on some processors, and a rank that is too high would be unsound.
    Raises `ArithmeticError` if a product is wrong.
    """
    if (type(ring), ring.p) in _tested:
        return
    generator = np.random.default_rng(ring.p)
    for n, k, m in ((3, 5, 4), (33, 130, 65), (2, ring.terms + 3 if ring.terms < 10_000 else 500, 2)):
        x = generator.integers(-(ring.p // 2), ring.p // 2 + 1, (n, k))
        y = generator.integers(-(ring.p // 2), ring.p // 2 + 1, (k, m))
        x[0], y[:, 0] = ring.p // 2, ring.p // 2
        got = ring.integers(ring.matmul(x.astype(np.float64), y.astype(np.float64)))
        want = (x.astype(object) @ y.astype(object)) % ring.p
        if not np.array_equal(got, want.astype(np.int64)):
            raise ArithmeticError(f"this machine's matrix product is wrong mod {ring.p}: no exact rank can be computed")
    _tested.add((type(ring), ring.p))


def kernel(matrix: Array, ring: PrimeField) -> Array:
    """A basis of the vectors that the matrix annihilates mod p: residues (columns - rank, columns)."""
    found = pivots(matrix, ring)
    width, r = matrix.shape[1], len(found.columns)
    work = np.array(ring.reduce(np.asarray(matrix, dtype=np.float64))[found.rows])
    for row, c in enumerate(found.columns):  # Gauss-Jordan on the pivot columns: each is a unit vector in the end
        below = row + int(np.flatnonzero(work[row:, c])[0])
        work[[row, below]] = work[[below, row]]
        work[row] = ring.mul(work[row], ring.lift(np.array(pow(int(work[row, c]) % ring.p, -1, ring.p))))
        factors = work[:, c].copy()
        factors[row] = 0
        work = ring.reduce(work - factors[:, None] * work[row])
    free = [c for c in range(width) if c not in set(found.columns)]
    basis = np.zeros((len(free), width))
    basis[np.arange(len(free)), free] = 1
    if r:
        basis[:, found.columns] = -work[:, free].T
    return basis
