"""Exact linear algebra over the rationals, on object arrays of `Fraction`."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...numerics.rings import Array


class Echelon(NamedTuple):
    """The reduced row echelon form: its non-zero rows (rank, columns) and the columns of its leading ones."""

    rows: Array
    pivots: tuple[int, ...]


def zeros(*shape: int) -> Array:
    """An array of exact zeros."""
    return np.full(shape, Fraction(0), dtype=object)


def identity(n: int) -> Array:
    """The n x n identity."""
    made = zeros(n, n)
    for i in range(n):
        made[i, i] = Fraction(1)
    return made


def echelon(matrix: Array) -> Echelon:
    """The reduced row echelon form of a matrix (rows, columns); it is the same for every g @ matrix, g invertible."""
    work = np.array(matrix, dtype=object)
    pivots: list[int] = []
    for c in range(work.shape[1]):
        top = len(pivots)
        if top == work.shape[0]:
            break
        i = next((i for i in range(top, work.shape[0]) if work[i, c] != 0), None)
        if i is None:
            continue
        if i != top:
            work[[top, i]] = work[[i, top]]
        work[top] = work[top] * (1 / Fraction(work[top, c]))
        for k in range(work.shape[0]):
            if k != top and work[k, c] != 0:
                work[k] = work[k] - work[k, c] * work[top]
        pivots.append(c)
    return Echelon(work[: len(pivots)], tuple(pivots))


def rank(matrix: Array) -> int:
    """The rank over Q of a matrix (rows, columns)."""
    return len(echelon(matrix).pivots)


def null_space(matrix: Array) -> Array:
    """A basis of {v : matrix @ v = 0}, one vector a row: (columns - rank, columns)."""
    rows, pivots = echelon(matrix)
    columns = matrix.shape[1]
    free = [c for c in range(columns) if c not in set(pivots)]
    made = zeros(len(free), columns)
    for k, c in enumerate(free):
        made[k, c] = Fraction(1)
        for i, p in enumerate(pivots):
            made[k, p] = -rows[i, c]
    return made


def matmul(*matrices: Array) -> Array:
    """The product of object matrices."""
    result = matrices[0]
    for m in matrices[1:]:
        result = result @ m if result.shape[1] else zeros(result.shape[0], m.shape[1])
    return result
