"""What a proof is predicted to cost decides what is tried, and what is looked for in the store."""

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle import dimension
from neuromanifold.oracle.store import WORTH_SECONDS, Store
from neuromanifold.verifiers.certificate import prove_bounds
from neuromanifold.verifiers.coordinates.certify import NotCovered, coordinate_certificate
from neuromanifold.verifiers.cost import Budget, direct, predict, prefers_coordinates

COVERED = "softmax d=14,14,14 a=3 t=3"
FALLS_SHORT = "softmax d=8,8,8 a=2 t=3 skip dv=2 heads=3 bias=o"  # the conditions hold, but a block has not full rank


@pytest.fixture
def falls_short():
    network = parse(FALLS_SHORT)
    assert prefers_coordinates(network)
    with pytest.raises(NotCovered, match="has rank"):
        coordinate_certificate(network)
    return network


def test_a_coordinate_certificate_is_cheaper_at_any_size():
    for width in (14, 64, 512):
        network = parse(f"softmax d={width},{width},{width} a=3 t=3")
        assert predict(network) == predict(parse(COVERED))
        assert predict(network) != direct(network)
    assert direct(parse("softmax d=64,64,64 a=3 t=3")).seconds > 10 * direct(parse(COVERED)).seconds


@pytest.mark.parametrize(("seconds", "memory", "says"), [(1e-3, 1 << 40, "exceed the budget of 0.001 s"), (1e6, 1 << 20, "exceed 0.000976562 GiB")])
def test_a_budget_says_what_is_too_much(seconds, memory, says):
    cost = direct(parse(FALLS_SHORT))
    assert says in (Budget(seconds, memory).refusal(cost) or "")
    assert Budget(1e6, 1 << 40).refusal(cost) is None


def test_a_direct_proof_in_place_of_a_coordinate_certificate_has_to_fit_the_budget(falls_short):
    refused = prove_bounds(falls_short, budget=Budget(1e-3, 1 << 40))
    assert (refused.lower, refused.upper, refused.certificate) == (0, falls_short.parameters, None)
    assert "exceed the budget" in refused.notes[0]
    made = prove_bounds(falls_short, budget=Budget(60, 1 << 40))
    assert 0 < made.lower == made.upper


def test_a_direct_proof_is_found_in_the_store_though_a_coordinate_certificate_was_predicted_to_be_quick(tmp_path, monkeypatch):
    network = parse("softmax d=20,20,20 a=3 t=3 skip dv=3 heads=4 bias=qkvo")
    assert predict(network).seconds < WORTH_SECONDS < direct(network).seconds
    made = Store(pytest.fail, tmp_path / "s")
    made.keep(prove_bounds(network), 0)
    monkeypatch.setattr("neuromanifold.verifiers.certificate.prove_bounds", None)
    assert dimension(network, store=made).label == "proven"
