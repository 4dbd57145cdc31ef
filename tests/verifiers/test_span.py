"""Spans component by component are spans in one matrix."""

import numpy as np
import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rank import pivots, rank
from neuromanifold.numerics.rings import PrimeField
from neuromanifold.verifiers import span
from neuromanifold.verifiers.certificate import prove_bounds
from neuromanifold.verifiers.symmetries import catalogue
from neuromanifold.verifiers.upper import upper_bound

RING = PrimeField()
SPECS = [
    "softmax d=4,4,4 a=2 t=3",
    "lightning d=3,3,3 a=2,2 t=3",
    "softmax d=4,4,4 a=2 t=3 heads=4 kv=2 dv=2 skip causal rope bias=qkvo",
    "lightning d=3,3,3 a=2 t=2 heads=2 dv=2",
    "softmax d=3,3 a=2 t=2 skip norm=layer ffn=4:silu bias=qkvoud",
    "mlp d=2,3,4,2 r=2",
]


@pytest.mark.parametrize("spec", SPECS)
def test_gains_and_parameters(spec):
    network = parse(spec)
    point = Point(0, RING.p).parameters(network)
    fields = list(catalogue(network))
    vectors = [f.vectors(network, point, RING) for f in fields]
    whole = np.concatenate(vectors)
    columns = pivots(whole.T, RING).columns
    owners = np.repeat(np.arange(len(fields)), [len(v) for v in vectors])
    expected = np.bincount(owners[columns], minlength=len(fields)).tolist()
    for sets in ([f.moved(network, point, RING) for f in fields], [span.split(v, network) for v in vectors]):
        gains, parameters = span.span_in_turn(network, sets, RING)
        assert gains == expected
        assert len(parameters) == len(columns) == rank(whole[:, parameters], RING)


@pytest.mark.parametrize("spec", SPECS)
def test_the_columns_left_out_are_not_in_the_minor(spec):
    network = parse(spec)
    upper = upper_bound(network, 0, RING)
    assert len(upper.spare_columns) in (0, network.parameters - upper.value)
    proof = prove_bounds(network)
    ranges = [piece.split("-") for piece in proof.certificate["lower"]["columns"].split(",")]
    assert not any(int(r[0]) <= c <= int(r[-1]) for r in ranges for c in upper.spare_columns)


def test_sets_that_move_nothing():
    network = parse("mlp d=2,2 r=2")
    assert span.span_in_turn(network, [{}, {}], RING) == ([0, 0], [])
