"""Singular points of one lightning layer over a grid of ranks, fibers known by hand, canonical points."""

import random
from fractions import Fraction

import numpy as np
import pytest
from neuromanifold.numerics.network import UnsupportedNetwork
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.queries.canonical import canonical
from neuromanifold.oracle.queries.equivalent import equivalent
from neuromanifold.oracle.queries.fiber import fiber
from neuromanifold.oracle.queries.singular import singular

GRID = [(d, a, i, j) for d, a in ((2, 1), (2, 2), (3, 1), (3, 2), (3, 3)) for i in range(min(a, d) + 1) for j in range(d + 1)]


def of_ranks(d, a, scores, values, seed=0):
    generator = random.Random(seed)

    def matrix(rows, columns):
        return np.array([[Fraction(generator.randint(-9, 9)) for _ in range(columns)] for _ in range(rows)], dtype=object).reshape(rows, columns)

    q = np.concatenate([matrix(scores, d), np.zeros((a - scores, d), dtype=int)])
    k = np.concatenate([matrix(scores, d), np.zeros((a - scores, d), dtype=int)])
    v = matrix(d, values) @ matrix(values, d) if values else np.zeros((d, d), dtype=int)
    return {"1.Q": q[None], "1.K": k[None], "1.V": v[None]}


@pytest.mark.parametrize(("d", "a", "scores", "values"), GRID)
def test_ranks(d, a, scores, values):
    """Singular if rank A rank V <= 1 (the source), and wherever rank A < a with 1 < a < d (exact computation)."""
    found = singular(f"lightning d={d},{d} a={a} t=2", of_ranks(d, a, scores, values))
    if scores == 0 or values == 0 or (1 < a < d and scores < a):
        assert found.verdict == "singular", found
    elif scores * values == 1:
        assert found.verdict in ("singular", "undecided"), found
    elif scores == min(a, d) and values > 0:
        assert found.verdict == "regular parametrisation", found
    else:  # a = d and rank A < d: not in the source's list; never called singular
        assert found.verdict in ("regular parametrisation", "undecided"), found


def test_generic_points_are_never_singular(draw):
    for spec in ("lightning d=3,3 a=2 t=2", "lightning d=2,2,2 a=2 t=2", "mlp d=2,2,2 r=2", "lightning d=2,2 a=2 t=2 rope", "softmax d=2,2 a=1 t=2"):
        found = singular(spec, draw(parse(spec), 7, spread=50))
        assert found.verdict == "regular parametrisation", found


def test_softmax_has_no_closure_to_be_singular_in():
    point = {"1.Q": [[[0, 0]]], "1.K": [[[0, 0]]], "1.V": [[[0, 0], [0, 0]]]}
    found = singular("softmax d=2,2 a=1 t=2", point)
    assert (found.verdict, found.span) == ("undecided", 0)


@pytest.mark.parametrize(
    ("zeros", "dimension", "free"),
    [(("1.V",), 4, ("1.Q", "1.K")), (("1.K",), 6, ("1.Q", "1.V")), ((), 2, ())],
)
def test_fibers_known_by_hand(zeros, dimension, free):
    """V = 0: Q and K are free; K = 0: Q and V are; otherwise one gauge and one scaling."""
    point = {"1.Q": [[[1, 2]]], "1.K": [[[3, 1]]], "1.V": [[[1, 5], [7, 1]]]}
    for name in zeros:
        point[name] = (np.array(point[name]) * 0).tolist()
    found = fiber("lightning d=2,2 a=1 t=2", point)
    assert (found.dimension, found.free) == (dimension, free)
    assert found.position == ("exceptional" if zeros else "generic")


def test_canonical_decides_equality(draw):
    for spec in ("lightning d=2,2 a=1 t=2", "softmax d=2,2 a=2 t=3 causal", "lightning d=3,2 a=2 t=2", "lightning d=2,2 a=3 t=2 skip"):
        network = parse(spec)
        points = [draw(network, seed, spread=1) for seed in range(14)]
        points += [{**p, "1.V": p["1.V"] * -2, "1.K": p["1.K"] / -2} for p in points[:5]]
        forms = [canonical(network, p) for p in points]
        for p, form in zip(points, forms, strict=True):
            assert equivalent(network, p, form.theta).verdict == "equivalent"
            again = canonical(network, form.theta)
            assert again.to_json()["theta"] == form.to_json()["theta"]
        for i, p in enumerate(points):
            for j in range(i):
                same = forms[i].to_json()["theta"] == forms[j].to_json()["theta"]
                assert same == (equivalent(network, p, points[j]).verdict == "equivalent"), (spec, i, j)


@pytest.mark.parametrize(
    "spec",
    ["lightning d=2,2 a=1 t=1", "lightning d=2,2,2 a=1 t=2", "softmax d=2,2 a=1 t=2 heads=2", "mlp d=2,2 r=2",
     "lightning d=2,2 a=2 t=2 rope", "softmax d=2,2 a=1 t=2 bias=q", "softmax d=2,2 a=1 t=2 dv=1"],
)  # fmt: skip
def test_canonical_refuses(draw, spec):
    with pytest.raises(UnsupportedNetwork) as error:
        canonical(spec, draw(parse(spec), 0))
    assert "equivalent" in str(error.value)
