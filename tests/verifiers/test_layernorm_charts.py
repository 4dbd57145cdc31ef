"""Coordinate certificates about the mean, and of blocks that overlap: random networks, and what falls where a condition is dropped."""

import copy
import json
import random

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import replay as checker
from neuromanifold.verifiers.certificate import _attempt
from neuromanifold.verifiers.coordinates.certify import (
    NotCovered,
    chart_size,
    coordinate_certificate,
    token_choices,
    uncovered,
)
from neuromanifold.verifiers.coordinates.types import overlaps
from neuromanifold.verifiers.reductions import reduce

COVERED = "softmax d=3,3 a=1 dv=1 t=3 skip causal norm=layer bias=qvoud ffn=2:gelu"


def verdict(certificate):
    return checker.replay(json.dumps(certificate))


def direct(network):
    """The bounds of a proof without coordinates."""
    proof = _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)
    return proof.lower, proof.upper


def draw(source):
    d, l, t = source.randint(3, 5), source.choice([1, 1, 2]), source.randint(2, 4)
    kv, dv = source.randint(1, 4), source.randint(1, 3)
    heads, a = kv * source.choice([1, 1, 2]), source.randint(1, 3)
    spec = f"softmax d={d} l={l} a={a} dv={dv} heads={heads} kv={kv} t={t} skip{source.choice(['', ' causal', ' alibi', ' causal window=3'])}"
    ffn = source.random() < 0.4
    units = f" ffn={source.randint(1, 7)}:{source.choice(['silu', 'gelu'])}" * ffn
    if source.random() < 0.4:
        return parse(f"{spec} norm=layer bias={source.choice(['qvo', 'qkvo'])}{'ud' * ffn}{units}")
    return parse(f"{spec}{source.choice(['', ' bias=q', ' bias=v', ' norm=rms', ' norm=rms bias=qkv', ' norm=rms bias=qkvo'])}{units}")


def test_random_networks_agree_with_direct_proofs():
    source = random.Random(3)
    tried = {True: 0, False: 0}
    drawn = 0
    while sum(tried.values()) < 40:
        drawn += 1
        _, network = reduce(draw(source))
        mean = network.norm == "layer"
        if network.parameters > 170 or uncovered(network) or not token_choices(network) or not (mean or overlaps(network)):
            continue
        try:
            certificate = coordinate_certificate(network)
        except NotCovered:
            continue
        assert direct(network) == (certificate["claim"]["lower"],) * 2, network
        assert verdict(certificate).verdict == "valid", network
        tried[mean] += 1
    assert min(tried.values()) >= 8
    assert drawn < 400


@pytest.mark.parametrize(
    ("dropped", "spec", "chart", "dimension"),
    [
        ("biases", "softmax d=3,3 a=1 dv=1 t=2 skip norm=layer", 7, 9),
        ("bias q", "softmax d=3,3 a=1 dv=1 t=3 skip norm=layer bias=vo", 10, 11),
        ("bias u", "softmax d=3,3 a=1 dv=1 t=3 skip norm=layer bias=qvod ffn=2:gelu", 23, 25),
        ("bias d", "softmax d=3,3 a=1 dv=1 t=3 skip norm=layer bias=qvou ffn=2:gelu", 22, 23),
        ("no rope", "softmax d=3,3 a=2 dv=2 t=3 skip rope causal norm=layer bias=qvo", 17, 19),
        ("silu or gelu", "softmax d=3,3 a=1 dv=1 t=3 skip norm=layer bias=qvoud ffn=3:1", 28, 19),
        ("two tokens", "softmax d=3,3 a=1 dv=1 t=1 skip norm=layer bias=qvo", 11, 7),
    ],
)
def test_the_chart_is_wrong_where_a_condition_is_dropped_and_both_sides_refuse(dropped, spec, chart, dimension):
    network = parse(spec)
    assert chart_size(network) == chart
    assert direct(network) == (dimension, dimension) != (chart, chart), dropped
    assert uncovered(network)
    forged = coordinate_certificate(parse(COVERED))
    forged["spec"] = forged["upper"]["spec"] = str(network)
    forged["claim"] = {"lower": chart, "upper": chart}
    found = verdict(forged)
    assert (found.verdict, found.rule) == ("invalid", "coordinates"), (dropped, found)


def test_more_value_biases_than_coordinates_need_bias_o():
    """Without it the chart would count each of them, though they make no more constants than there are coordinates."""
    disjoint, overlapping = (parse(f"softmax d={d} l=2 a=2 dv=2 heads=2 t=3 skip norm=rms bias=v") for d in (4, 3))
    certificate = coordinate_certificate(disjoint)
    assert verdict(certificate).verdict == "valid"
    assert direct(disjoint) == (certificate["claim"]["lower"],) * 2
    assert direct(overlapping) == (70, 70)
    with pytest.raises(NotCovered, match="bias o"):
        coordinate_certificate(overlapping)
    chart = chart_size(overlapping)
    assert chart == 72
    forged = {**certificate, "spec": str(overlapping), "claim": {"lower": chart, "upper": chart}}
    forged["upper"] = {**certificate["upper"], "spec": str(overlapping)}
    found = verdict(forged)
    assert (found.verdict, found.rule) == ("invalid", "coordinates")


def test_mutants():
    good = coordinate_certificate(parse("softmax d=4 l=2 a=2 dv=2 heads=2 t=4 skip causal norm=layer bias=qkvoud ffn=9:gelu"))
    assert verdict(good).verdict == "valid"
    mutants = {
        "a larger claim": (lambda c: c["claim"].update(lower=238, upper=238), "claim"),
        "a smaller claim": (lambda c: c["claim"].update(lower=236, upper=236), "claim"),
        "layers together": (lambda c: c["lower"].pop("layers"), "coordinates"),
        "a base where blocks overlap": (lambda c: c["lower"].update(base=1), "coordinates"),
        "too few tokens": (lambda c: c["lower"].update(tokens=2), "coordinates"),
        "no radicands": (lambda c: c.pop("radicands"), "radicands"),
        "no exponents": (lambda c: c.pop("exponents"), "exponents"),
    }
    for name, (change, rule) in mutants.items():
        mutant = copy.deepcopy(good)
        change(mutant)
        found = verdict(mutant)
        assert (found.verdict, found.rule) == ("invalid", rule), (name, found)


def test_the_claim_of_rmsnorm_is_none_of_layernorm():
    """What is read is one coordinate less, and the mean is written all the same."""
    spec = "softmax d=5 l=1 a=2 dv=2 heads=2 t=3 skip causal norm={} bias=qkvoud ffn=4:gelu"
    certificate = coordinate_certificate(parse(spec.format("rms")))
    assert (certificate["claim"]["lower"], verdict(certificate).verdict) == (122, "valid")
    certificate["spec"] = certificate["upper"]["spec"] = str(parse(spec.format("layer")))
    assert verdict(certificate).rule == "claim"
    certificate["claim"] = {"lower": 105, "upper": 105}
    assert verdict(certificate).verdict == "valid"
    assert direct(parse(certificate["spec"])) == (105, 105)
