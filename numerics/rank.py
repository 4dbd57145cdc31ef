"""Exact rank mod p, with pivots: recursive elimination whose work is exact floating-point matrix products.

A block LU decomposition whose diagonal blocks are the small invertible matrices of the leaves: L is the identity there, so
that the triangular solves of the recursion are matrix products too.

Reference for the recursion: Jeannerod, Pernet, Storjohann, *Rank-profile revealing Gaussian elimination and the CUP
matrix decomposition*, J. Symbolic Computation 56 (2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .rings import STRIP_ROWS, Array, PrimeField

BASE_COLUMNS = 32
SPARE_ROWS = 8


class Pivots(NamedTuple):
    """Rows and columns (increasing) of a square minor that is non-zero mod p and as large as the rank."""

    rows: list[int]
    columns: list[int]


def pivots(matrix: ArrayLike, ring: PrimeField, overwrite: bool = False) -> Pivots:
    """A maximal non-zero minor of a matrix of integers mod p (of numpy or JAX, any dtype, |x| < 2^53).

    The columns are the first that are independent. With `overwrite` the matrix is the workspace, and lost; besides it, little
    memory is needed. Raises `ArithmeticError` as `self_test` does.
    """
    self_test(ring)
    work = np.asarray(matrix, dtype=np.float64)
    if not overwrite or not work.flags.c_contiguous or not work.flags.writeable:
        work = np.array(work, order="C")
    ring.reduce_in_place(work)
    elimination = _Elimination(work, ring)
    columns = elimination.run(0, work.shape[1])
    return Pivots(np.sort(elimination.order[: len(columns)]).tolist(), sorted(columns))


def rank(matrix: ArrayLike, ring: PrimeField) -> int:
    """The rank mod p: a lower bound of the rank over the rationals of any integer matrix with these residues."""
    return len(pivots(matrix, ring).columns)


class _Elimination:
    """Rows `:top` of `work` are done: they hold U; below them the multipliers of a pivot stand in its column, negated.

    `blocks[k]` is where the diagonal block of pivot k starts, `inverses` its inverse, `order` how the rows were permuted.
    """

    def __init__(self, work: Array, ring: PrimeField):
        self.work = work
        self.ring = ring
        self.order = np.arange(len(work))
        self.top = 0
        self.blocks: list[int] = []
        self.inverses: dict[int, Array] = {}
        self._scratch = np.empty(min(len(work), STRIP_ROWS) * max(BASE_COLUMNS, work.shape[1] // 2 + 1))

    def run(self, start: int, stop: int) -> list[int]:
        """Eliminate columns start..stop below row `top`; returns the pivot columns in the order of their rows."""
        if stop - start <= BASE_COLUMNS:
            return self._leaf(np.arange(start, stop))
        middle = start + (stop - start) // 2
        top = self.top
        left = self.run(start, middle)
        self._update(top, left, slice(middle, stop))
        return left + self.run(middle, stop)

    def _update(self, top: int, pivot_columns: list[int], columns: slice) -> None:
        """Bring some columns up to date with the pivots of the rows from `top` on."""
        if not pivot_columns:
            return
        block = self.work[top : self.top, columns]
        multipliers = _columns(self.work[top:], np.array(pivot_columns))
        self._solve(top, multipliers[: len(block)], block, 0, len(block))
        self._add_product(self.work[self.top :, columns], multipliers[len(block) :], block)

    def _solve(self, top: int, lower: Array, block: Array, start: int, stop: int) -> None:
        """block := L^-1 block, for rows start..stop of L: the identity where a leaf's pivots meet, elsewhere -`lower`."""
        half = self.blocks[top + (start + stop) // 2] - top
        if half <= start:  # the middle lies in the first leaf: cut behind it
            half = next((k for k in range(start + 1, stop) if self.blocks[top + k] != self.blocks[top + start]), stop)
        if half >= stop:
            return
        self._solve(top, lower, block, start, half)
        self._add_product(block[half:stop], lower[half:stop, start:half], block[start:half])
        self._solve(top, lower, block, half, stop)

    def _add_product(self, target: Array, x: Array, y: Array) -> None:
        """target += x y, reduced."""
        self.ring.add_product(target, x, y, self._scratch)

    def _leaf(self, columns: Array) -> list[int]:
        """Eliminate a few columns below row `top`: pivots are sought among some rows that are not zero there."""
        found: list[int] = []
        while self.top < len(self.work) and len(columns):
            top = self.top
            panel = _columns(self.work[top:], columns)
            for candidates in _some_rows(panel, len(columns) + SPARE_ROWS):
                tableau = panel[candidates]
                rows, places = _exchange(tableau, self.ring)
                if len(rows) == len(columns):
                    break
            if not rows:
                break
            self.inverses[top] = inverse = tableau[np.ix_(rows, places)]
            self._to_top(candidates[rows])
            chosen = columns[places]
            below = self.work[self.top :]
            multipliers = self.ring.matmul(_columns(below, chosen), -inverse)
            below[:, _slice(chosen)] = multipliers
            found += chosen.tolist()
            columns = np.delete(columns, places)  # independent of the rows seen, or not at all: look at the others
            if len(columns):
                rest = below[:, columns]
                self._add_product(rest, multipliers, self.work[top : self.top][:, columns])
                below[:, columns] = rest
        return found

    def _to_top(self, rows: Array) -> None:
        """Make these rows (counted from `top`), in their order, the next ones of a diagonal block."""
        count, top = len(rows), self.top
        if not np.array_equal(rows, np.arange(count)):
            kept = np.setdiff1d(np.arange(count), rows)  # rows that have to leave the first places
            source = np.concatenate([rows, kept]) + top
            target = np.concatenate([np.arange(count), rows[rows >= count]]) + top
            self.work[target] = self.work[source]
            self.order[target] = self.order[source]
        self.blocks += [top] * count
        self.top += count


def _slice(columns: Array) -> Any:
    """These columns as an index: a slice where they are neighbours."""
    if columns[-1] - columns[0] == len(columns) - 1 and np.all(np.diff(columns) == 1):
        return slice(columns[0], columns[-1] + 1)
    return columns


def _columns(work: Array, columns: Array) -> Array:
    """These columns of a matrix, without a copy where they are neighbours."""
    return work[:, _slice(columns)]


def _some_rows(panel: Array, count: int) -> Iterator[Array]:
    """Choices of `count` rows in which to look for pivots: the first; some some evenly spread
    (neighbours are often alike: they belong to one input), or the first that are not zero."""
    yield np.arange(min(count, len(panel)))
    spread = np.arange(0, len(panel), max(1, len(panel) // count))
    spread = spread[panel[spread].any(axis=1)]
    yield spread if len(spread) >= count else np.flatnonzero(panel.any(axis=1))[:count]


def _exchange(tableau: Array, ring: PrimeField) -> tuple[list[int], list[int]]:
    """Exchange rows and columns of a small reduced matrix, in place, from the first column on as long as a pivot is found.

    Returns pivot rows R and columns C; then `tableau[R, C]` is the inverse of the minor R, C of the matrix: its rows belong to
    C, its columns to R. Entries are reduced when they are used: a step adds at most (p/2 + 2)^2, and after `ring.terms` - 1 steps all are.
    """
    rows: list[int] = []
    columns: list[int] = []
    free = np.ones(len(tableau), dtype=bool)
    for c in range(tableau.shape[1] if len(tableau) else 0):
        column = ring.reduce(tableau[:, c])
        candidates = (column != 0) & free
        r = int(candidates.argmax())
        if not candidates[r]:
            continue
        inverse = pow(int(column[r]), -1, ring.p)
        inverse -= ring.p * (inverse > ring.p // 2)
        row = ring.reduce(ring.reduce(tableau[r]) * inverse)
        column[r] = 0
        row[c] = inverse
        tableau[:, c] = 0
        tableau -= column[:, None] * row
        tableau[r] = row
        free[r] = False
        rows.append(r)
        columns.append(c)
        if len(rows) % (ring.terms - 1) == 0:
            tableau[...] = ring.reduce(tableau)
    tableau[...] = ring.reduce(tableau)
    return rows, columns


_tested: set[tuple[type[PrimeField], int]] = set()


def self_test(ring: PrimeField) -> None:
    """Once a process, class of rings and prime: matrix products of extreme residues, alone and added in place, against integer arithmetic.

    Some BLAS kernels compute wrong results on some processors, and a rank that is too high would be unsound.
    Raises `ArithmeticError` if a product is wrong.
    """
    if (type(ring), ring.p) in _tested:
        return
    generator = np.random.default_rng(ring.p)
    for n, k, m in (*ring.test_shapes, (2, ring.terms + 3 if ring.terms < 10_000 else 500, 2)):
        x = generator.integers(-(ring.p // 2), ring.p // 2 + 1, (n, k))
        y = generator.integers(-(ring.p // 2), ring.p // 2 + 1, (k, m))
        x[0], y[:, 0] = ring.p // 2, ring.p // 2
        added, factors = np.zeros((n, m)), (x.astype(np.float64), y.astype(np.float64))
        ring.add_product(added, *factors)
        wide = np.int64 if k * (ring.p // 2) ** 2 < 1 << 63 else object
        want = (x.astype(wide) @ y.astype(wide) % ring.p).astype(np.int64)
        if any(not np.array_equal(ring.integers(got), want) for got in (added, ring.matmul(*factors))):
            raise ArithmeticError(f"this machine's matrix product is wrong mod {ring.p}: no exact rank can be computed")
    _tested.add((type(ring), ring.p))


class RowSpace:
    """The row space of a matrix mod p that grows by rows, in reduced echelon form: the identity in the columns `pivots`.

    `rest` are the entries in the other columns, `free`.
    """

    def __init__(self, columns: int, ring: PrimeField):
        self_test(ring)
        self.ring = ring
        self.pivots, self.free = np.zeros(0, dtype=np.int64), np.arange(columns)
        self.rest = np.zeros((0, columns))

    def add(self, rows: Array) -> Array:
        """Add rows of residues; returns which of them are independent of what was there, and of each other."""
        ring, left = self.ring, np.array(rows[:, self.free], dtype=np.float64, order="C")
        ring.reduce_in_place(left)
        ring.add_product(left, ring.reduce(-rows[:, self.pivots]), self.rest)
        elimination = _Elimination(left, ring)
        chosen = np.array(elimination.run(0, left.shape[1]), dtype=np.int64)
        others = np.setdiff1d(np.arange(left.shape[1]), chosen)
        new = _solved(elimination, chosen, others)
        kept = np.ascontiguousarray(self.rest[:, others])
        ring.add_product(kept, ring.reduce(-self.rest[:, chosen]), new)
        self.rest = np.concatenate([kept, new])
        self.pivots, self.free = np.concatenate([self.pivots, self.free[chosen]]), self.free[others]
        independent: Array = np.sort(elimination.order[: len(chosen)])
        return independent


def _solved(elimination: _Elimination, chosen: Array, others: Array) -> Array:
    """The inverse of the minor of the pivot rows and the columns `chosen`, times these rows' entries in the columns `others`."""
    work, ring = elimination.work, elimination.ring
    solved = np.zeros((len(chosen), len(others)))  # from the last block on
    stop = len(chosen)
    while stop:
        start = elimination.blocks[stop - 1]
        rows = work[start:stop]
        rest = ring.reduce(rows[:, others] - ring.matmul(rows[:, chosen[stop:]], solved[stop:]))
        solved[start:stop] = ring.matmul(elimination.inverses[start], rest)
        stop = start
    return solved


def kernel(matrix: ArrayLike, ring: PrimeField) -> Array:
    """A basis of the vectors that the matrix annihilates mod p: residues (columns - rank, columns)."""
    self_test(ring)
    work = np.array(ring.reduce(np.asarray(matrix, dtype=np.float64)), order="C")
    elimination = _Elimination(work, ring)
    chosen = np.array(elimination.run(0, work.shape[1]), dtype=np.int64)
    free = np.setdiff1d(np.arange(work.shape[1]), chosen)
    basis = np.zeros((len(free), work.shape[1]))
    basis[np.arange(len(free)), free] = 1
    basis[:, chosen] = -_solved(elimination, chosen, free).T
    return basis
