"""The Jacobian in reverse is the Jacobian forwards, for every mechanism, any columns and any slices."""

import numpy as np
import pytest
from neuromanifold.numerics import adjoint
from neuromanifold.numerics.adjoint import jacobian_columns
from neuromanifold.numerics.evaluate import jacobian
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rings import PrimeField
from neuromanifold.verifiers.lower import usable_inputs

RING = PrimeField()
SPECS = [
    "lightning d=3,4,2 a=2,3 t=3",
    "lightning d=4,4 a=2 t=3 heads=4 kv=2 dv=2 skip causal rope bias=qkvo",
    "softmax d=3,3,3 a=2 t=3",
    "softmax d=4,4,4 a=2 t=4 heads=4 kv=2 dv=2 skip causal window=2 rope bias=qkvo",
    "softmax d=3,3 a=2 t=3 heads=2 alibi",
    "softmax d=1,2,1 a=2 t=3 bias=qk",
    "softmax d=3,3 a=2 t=2 skip norm=layer bias=qkvo",
    "softmax d=4,4 a=2 t=2 skip norm=rms ffn=5:silu bias=ud",
    "lightning d=3,3,3 a=2 t=2 ffn=4:gelu bias=ud",
    "lightning d=3,3 a=2 t=2 skip ffn=4:swiglu",
    "mlp d=2,3,4,2 r=3",
]


@pytest.mark.parametrize("spec", SPECS)
def test_reverse_is_forward(spec, monkeypatch):
    network = parse(spec)
    program = record(network)
    _, bindings = usable_inputs(network, program, 0, RING, 4)
    expected = RING.integers(jacobian(program, RING, bindings))
    assert np.array_equal(RING.integers(jacobian_columns(program, RING, bindings)), expected)
    chosen = np.arange(1, network.parameters, 3)
    monkeypatch.setattr(adjoint, "SLICE_ENTRIES", 1)
    assert np.array_equal(RING.integers(jacobian_columns(program, RING, bindings, chosen)), expected[:, chosen])
    size = len(expected) // len(bindings["X"])
    outputs = np.arange(0, size, 2)
    found = RING.integers(jacobian_columns(program, RING, bindings, chosen, outputs))
    assert np.array_equal(found, expected.reshape(-1, size, network.parameters)[:, outputs][:, :, chosen].reshape(found.shape))


def test_a_parameter_that_the_output_does_not_depend_on():
    network = parse("softmax d=2,2 a=2 t=1")
    program = record(network)
    bindings = {**Point(0, RING.p).parameters(network), **Point(0, RING.p).inputs(program, range(3))}
    found = jacobian_columns(program, RING, bindings)
    assert found.shape == (6, network.parameters)
    assert np.array_equal(RING.integers(found), RING.integers(jacobian(program, RING, bindings)))
