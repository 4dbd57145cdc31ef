"""Exact rank and pivots mod p, against the rationals and plain elimination over Python integers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from neuromanifold.numerics.rank import BASE_COLUMNS, RowSpace, kernel, pivots, rank, self_test
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from sympy.polys.matrices import DomainMatrix

RING = PrimeField()


def plain_pivot_columns(matrix: np.ndarray, p: int) -> list[int]:
    """First independent columns, by textbook elimination over Python integers."""
    rows = [[int(v) % p for v in row] for row in matrix]
    found: list[int] = []
    for c in range(matrix.shape[1]):
        top = len(found)
        i = next((i for i in range(top, len(rows)) if rows[i][c]), None)
        if i is None:
            continue
        rows[top], rows[i] = rows[i], rows[top]
        inverse = pow(rows[top][c], -1, p)
        for other in range(top + 1, len(rows)):
            factor = rows[other][c] * inverse % p
            rows[other] = [(a - factor * b) % p for a, b in zip(rows[other], rows[top], strict=True)]
        found.append(c)
    return found


def of_rank(rng: np.random.Generator, n: int, m: int, r: int, p: int) -> np.ndarray:
    """A random n x m matrix of residues whose rank is r at most (r with overwhelming probability)."""
    x, y = rng.integers(0, p, (n, r)), rng.integers(0, p, (r, m))
    return (x.astype(object) @ y.astype(object) % p).astype(np.int64) if r else np.zeros((n, m), dtype=np.int64)


def check(matrix: np.ndarray, ring: PrimeField) -> int:
    found = pivots(ring.lift(matrix), ring)
    assert found.columns == plain_pivot_columns(matrix, ring.p)
    assert len(found.rows) == len(found.columns) == len(set(found.rows))
    assert found.rows == sorted(found.rows) and found.columns == sorted(found.columns)
    minor = matrix[np.ix_(found.rows, found.columns)]
    assert len(plain_pivot_columns(minor, ring.p)) == len(found.rows), "the minor is zero"
    return len(found.columns)


@pytest.mark.parametrize("p", [7, 10_007, DEFAULT_PRIME, 134_217_487])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 30), (30, 3), (60, 60), (25, 80), (80, 25), (70, 49)])
def test_against_plain_elimination(shape, p):
    """All ranks near the ends and one in the middle: recursion, rectangles, deficiency."""
    n, m = shape
    rng, full = np.random.default_rng([n, m, p]), min(n, m)
    for r in sorted({0, 1, full // 2, full - 1, full}):
        found = check(of_rank(rng, n, m, r, p), PrimeField(p))
        assert found <= r
        assert p < 100 or found == r


def test_zero_columns_and_repeated_columns():
    rng = np.random.default_rng(5)
    for _ in range(30):
        matrix = of_rank(rng, 40, 60, 20, DEFAULT_PRIME)
        matrix[:, rng.integers(0, 60, 15)] = 0
        matrix[:, rng.integers(0, 60, 10)] = matrix[:, [3]]
        matrix[rng.integers(0, 40, 10)] = 0
        check(matrix, RING)


def test_small_matrices_exhaustively():
    """All 3 x 3 matrices of 0, 1, -1: the rank mod p is that of the rationals."""
    values = np.array(np.meshgrid(*[[-1, 0, 1]] * 9)).reshape(9, -1).T.reshape(-1, 3, 3)
    assert len(values) == 3**9
    chosen = values[::7]
    for matrix in chosen:
        assert rank(RING.lift(matrix), RING) == np.linalg.matrix_rank(matrix)


def test_against_the_rationals():
    """A lower bound of the rational rank always, and equal to it here; sympy's rank over QQ as reference."""
    rng = random.Random(3)
    for _ in range(40):
        n, m, r = rng.randint(1, 12), rng.randint(1, 12), rng.randint(0, 6)
        left = [[Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(r)] for _ in range(n)]
        right = [[Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(m)] for _ in range(r)]
        matrix = np.empty((n, m), dtype=object)
        for i, j in np.ndindex(n, m):
            matrix[i, j] = sum((left[i][k] * right[k][j] for k in range(r)), Fraction(0))
        exact = DomainMatrix.from_Matrix(sympy.Matrix(n, m, [sympy.Rational(v.numerator, v.denominator) for v in matrix.flat])).rank()
        assert rank(RING.lift(matrix), RING) == exact


def test_a_rank_can_drop_mod_p_but_not_rise():
    matrix = np.diag([1, 7, 14])
    assert rank(PrimeField(7).lift(matrix), PrimeField(7)) == 1
    assert rank(RING.lift(matrix), RING) == 3


def test_unreduced_integers_are_reduced():
    """Multiples of p are zero, also where the caller did not reduce them."""
    matrix = np.array([[DEFAULT_PRIME, 1.0], [2.0 * DEFAULT_PRIME, 2.0]])
    assert rank(matrix, RING) == 1


def test_the_argument_is_left_alone():
    matrix = RING.lift(np.random.default_rng(0).integers(0, DEFAULT_PRIME, (2 * BASE_COLUMNS, 3 * BASE_COLUMNS)))
    before = matrix.copy()
    pivots(matrix, RING)
    assert np.array_equal(matrix, before)


@pytest.mark.parametrize("p", [10_007, DEFAULT_PRIME])
def test_leaves_with_few_pivots(p):
    """Sparse and block matrices: the first rows of a leaf do not see all of its pivots, or none."""
    rng = np.random.default_rng(p)
    for n, m, density in ((90, 100, 0.02), (120, 70, 0.05), (100, 100, 0.01)):
        matrix = rng.integers(1, p, (n, m)) * (rng.random((n, m)) < density)
        check(matrix.astype(np.int64), PrimeField(p))
    steps = np.kron(np.eye(9, dtype=np.int64)[::-1], rng.integers(1, p, (11, 7)))
    check(steps, PrimeField(p))
    check(steps.T.copy(), PrimeField(p))


def test_long_sums_are_cut():
    """More pivots in one product than `terms` allows."""
    ring = PrimeField(134_217_487)
    assert ring.terms < 10
    check(of_rank(np.random.default_rng(1), 150, 140, 120, ring.p), ring)


def test_overwriting_gives_the_same():
    matrix = RING.lift(of_rank(np.random.default_rng(2), 90, 80, 50, DEFAULT_PRIME))
    found = pivots(matrix, RING)
    assert pivots(matrix.T.copy().T, RING, overwrite=True) == found  # not contiguous: copied
    assert pivots(matrix, RING, overwrite=True) == found


@pytest.mark.parametrize(("n", "m", "r"), [(3, 5, 2), (70, 90, 60), (90, 40, 40), (50, 50, 0), (60, 100, 60)])
def test_kernel(n, m, r):
    matrix = RING.lift(of_rank(np.random.default_rng([n, m]), n, m, r, DEFAULT_PRIME))
    found = kernel(matrix, RING)
    assert found.shape == (m - r, m)
    assert rank(found, RING) == m - r
    assert not RING.matmul(matrix, found.T).any()


class WrongAtLargeSizes(PrimeField):
    """What a faulty BLAS kernel looks like: one entry of large products is off by one."""

    def matmul(self, x, y):
        result = super().matmul(x, y)
        if result.size > 1_000:
            result = result.copy()
            result.flat[-1] = self.reduce(result.flat[-1] + 1)
        return result


class WithoutPieces(PrimeField):
    """Sums longer than 2^53 allows, rounded silently."""

    def matmul(self, x, y):
        return self.reduce(np.matmul(x, y))


@pytest.mark.parametrize("wrong", [WrongAtLargeSizes, WithoutPieces])
def test_self_test_catches_a_wrong_matrix_product(wrong):
    """Also after an honest ring of the same prime was tested."""
    self_test(RING)
    with pytest.raises(ArithmeticError, match="matrix product is wrong"):
        self_test(wrong())
    with pytest.raises(ArithmeticError, match="matrix product is wrong"):
        rank(np.eye(3), wrong())
    self_test(RING)


@pytest.mark.parametrize("p", [7, 10_007, DEFAULT_PRIME])
@pytest.mark.parametrize("full", [0, 1, 20, 60, 90])
def test_a_row_space_that_grows(full, p):
    """After every batch the rank is that of all rows so far, the rows named are independent, and so are the columns."""
    ring, rng = PrimeField(p), np.random.default_rng([full, p])
    matrix = of_rank(rng, 120, 90, full, p)
    space, kept, start = RowSpace(90, ring), [], 0
    for size in (1, 0, 40, 7, 30, 42):
        batch = matrix[start : start + size]
        kept += [start + int(r) for r in space.add(ring.lift(batch))]
        start += size
        expected = plain_pivot_columns(matrix[:start], p) if start else []
        assert len(kept) == len(space.pivots) == len(expected)
        assert sorted([*space.pivots, *space.free]) == list(range(90))
        assert len(plain_pivot_columns(matrix[np.ix_(kept, space.pivots)], p)) == len(kept)
        reduced = np.zeros((len(kept), 90), dtype=object)
        reduced[np.arange(len(kept)), space.pivots] = 1
        reduced[:, space.free] = ring.integers(space.rest)
        both = np.concatenate([matrix[kept].astype(object), reduced]) % p
        assert len(plain_pivot_columns(both, p)) == len(kept)
    assert start == 120
