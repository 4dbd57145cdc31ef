"""Streams of few vectors followed through attention, and networks of one token as polynomials."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rank import rank
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import replay
from neuromanifold.verifiers.certificate import dumps, prove_bounds
from neuromanifold.verifiers.symmetries import spanning
from neuromanifold.verifiers.upper import ambient_dimension

sys.path.insert(0, str(Path(__file__).parents[1]))
from networks import random_networks

RING = PrimeField(DEFAULT_PRIME)

SPANS = [  # the last attention's output: vectors, and whether a constant is added
    ("softmax d=2,4,4 a=1 t=3 bias=d ffn=2:silu", 2, True),
    ("softmax d=2,4,4 a=1 t=3 dv=4 bias=vod ffn=1:silu", 1, True),
    ("softmax d=3,4,4 a=1 t=2 heads=2 kv=1 ffn=1:swiglu", 1, False),
    ("lightning d=2,4,4 a=1 t=3 bias=d ffn=2:silu", 3, False),
    ("lightning d=2,4,4 a=2 t=3 heads=2 causal ffn=1:silu", 1, False),
    ("lightning d=2,4,4 a=2 t=3 heads=2 dv=3 bias=o ffn=1:silu", 1, True),
    ("lightning d=2,4,4 a=2 t=3 heads=2 bias=q ffn=1:silu", 2, False),
    ("lightning d=2,4,4 a=2 t=3 heads=2 rope ffn=1:silu", 2, False),
    ("lightning d=2,4,4 a=1 t=3 bias=v ffn=1:silu", 2, False),
    ("softmax d=2,4,4 a=1 t=2 dv=1", 1, False),
]


def values(spec: str, count: int) -> list[list[int]]:
    """Values of the last attention's output at some inputs, one token each."""
    whole = replay.parse(spec)
    cut = whole._replace(layers=(*whole.layers[:-1], whole.layers[-1]._replace(h=0, act="")))
    source, ring = replay.Source(RING.p, 3), replay.Modular(RING.p)
    w, draw = replay.tensors(cut, source.flat(cut)), replay.drawer(source, source)
    return [token for n in range(count) for token in replay.forward(cut, ring, w, source.tokens(cut, n), draw, n)]


@pytest.mark.parametrize(("spec", "vectors", "constant"), SPANS)
def test_spans(spec: str, vectors: int, constant: bool) -> None:
    network = parse(spec)
    moving, constants = spanning(network, Point(3, RING.p).parameters(network), network.l, "attention", RING)
    both = np.concatenate([*moving, *constants], axis=1)
    assert both.shape[1] - len(constants) == vectors
    assert len(constants) == constant
    seen = np.array(values(spec, 12)).T
    assert rank(np.concatenate([both, seen], axis=1), RING) == rank(both, RING) == rank(seen, RING) == vectors + constant
    moved = np.concatenate([np.concatenate(moving, axis=1), seen[:, 1:] - seen[:, :1]], axis=1)
    assert rank(moved, RING) == vectors  # the constant is one
    chart = replay.Chart(replay.parse(spec), replay.Source(RING.p, 3))
    theirs = replay.stream_columns(chart, network.l, "attention")
    assert np.array_equal(np.array([*theirs[0], *theirs[1]]).T % RING.p, both % RING.p)
    assert len(theirs[1]) == constant


PROVEN = {
    "lightning d=3,4,2 a=1 t=4 heads=4,2 kv=2 dv=2 ffn=1:swiglu,3:swiglu": 36,
    "softmax d=2,4,3 a=1 t=3 bias=ud ffn=2:swiglu": 34,
    "softmax d=3,2,3 a=1 t=1 dv=1,2 bias=qkd ffn=4:3": 14,
    "softmax d=2,2,3 a=1 t=2 heads=3,6 kv=3 dv=2 bias=kvd ffn=2:gelu,1:gelu": 59,
    "lightning d=2,4,2 a=3 t=1 heads=2": 20,
}


@pytest.mark.parametrize("spec", PROVEN)
def test_networks_that_need_this_are_proven(spec: str) -> None:
    proof = prove_bounds(parse(spec))
    assert (proof.lower, proof.upper) == (PROVEN[spec], PROVEN[spec])
    assert replay.replay(dumps(proof.certificate)).verdict == "valid"


@pytest.mark.parametrize(
    ("spec", "dimension"),
    [
        ("lightning d=2,4,2 a=3 t=1 heads=2", 20),
        ("lightning d=2,4,2 a=3 t=1 heads=2 bias=q", 110),
        ("softmax d=2,3,1 a=1 t=1 ffn=6:2", 5),
        ("softmax d=2,2,2 a=1 t=1 skip ffn=6:2", 28),
        ("lightning d=1,1 a=1 t=1 skip ffn=1:2", 6),
        ("lightning d=2,4,2 a=3 t=2 heads=2", None),
        ("lightning d=2,4,2 a=3 t=1 heads=2 ffn=1:silu", None),
        ("lightning d=2 l=7 a=3 t=1", None),
    ],
)
def test_networks_of_one_token_are_polynomials(spec: str, dimension: int | None) -> None:
    assert ambient_dimension(parse(spec)) == dimension
    if dimension is None:
        with pytest.raises(replay.ReplayError):
            replay.ambient(replay.parse(spec))
    else:
        assert replay.ambient(replay.parse(spec)) == dimension


def test_their_rank_is_never_more() -> None:
    tried = 0
    for network in random_networks(600, seed=3):
        dimension = ambient_dimension(network) if network.kind != "mlp" and network.sees_itself_only else None
        if dimension is not None and network.parameters <= 60:
            tried += 1
            assert prove_bounds(network).lower <= dimension, network
    assert tried >= 25, tried
