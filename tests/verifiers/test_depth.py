"""Layers apart: a deep softmax network with skip is at least its layers side by side, where its conditions hold."""

import json
import random

import pytest
from neuromanifold.numerics.network import NetworkError
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import replay as checker
from neuromanifold.verifiers.certificate import _attempt
from neuromanifold.verifiers.coordinates import certify
from neuromanifold.verifiers.coordinates.certify import NotCovered, chart_size, coordinate_certificate
from neuromanifold.verifiers.coordinates.depth import comes_apart, parts
from neuromanifold.verifiers.reductions import reduce
from neuromanifold.verifiers.upper import upper_bound


def verdict(certificate):
    return checker.replay(json.dumps(certificate))


def direct(network):
    return _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)


def random_network(draw, overlapping=False):
    """A deep softmax network with skip; heads that overlap meet no condition of a coordinate point."""
    width, l, t = draw.randint(2, 4), draw.choice([2, 2, 2, 3]), draw.choice([3, 3, 4])
    heads = draw.choice([1, 2]) if not overlapping else draw.choice([2, 3])
    kv = draw.choice([1, heads])
    size = draw.randint(2, 3) if overlapping else max(1, width // kv // draw.choice([1, 2]))
    words = [w for w in ("causal", "alibi") if draw.random() < 0.5]
    words += ["rope"] * (size % 2 == 0 and width % 2 == 0 and draw.random() < 0.5)
    words += ["norm=rms"] * (draw.random() < 0.5)
    activations = ",".join(f"{draw.randint(1, 5)}:{draw.choice(['silu', 'gelu', 'swiglu'])}" for _ in range(l))
    words += [f"ffn={activations}"] * (draw.random() < 0.5)
    try:
        return parse(f"softmax d={width} l={l} a={size} dv={size} heads={heads} kv={kv} t={t} skip {' '.join(words)}")
    except NetworkError:
        return None


def test_covered_networks_agree_with_their_direct_proofs():
    draw = random.Random(11)
    tried = {"norm": 0, "ffn": 0, "plain": 0}
    while min(tried.values()) < 5:
        network = random_network(draw)
        if network is None or network.parameters > 120 or certify.uncovered(network):
            continue
        if network.norm and (network.ffn or network.l * network.t > 6):
            continue  # a direct proof looks long for inputs at which all roots exist
        kind = "norm" if network.norm else "ffn" if network.ffn else "plain"
        assert comes_apart(network)
        exact = direct(network)
        if exact.lower != exact.upper:
            continue
        try:
            certificate = coordinate_certificate(network)
        except NotCovered:
            continue
        assert certificate["lower"]["layers"] == "apart"
        assert certificate["claim"]["lower"] == exact.lower, str(network)
        assert verdict(certificate).verdict == "valid", str(network)
        tried[kind] += 1


def with_biases(draw, network):
    """The same network with some biases, or None."""
    letters = "".join(letter for letter in ("qkvoud" if network.ffn else "qkvo") if draw.random() < 0.5)
    return parse(f"{network} bias={letters}") if letters else None


def test_biases_agree_with_the_fields_above():
    """Exact from both sides: a count of too many constants would exceed what the fields leave."""
    draw = random.Random(21)
    tried = {True: 0, False: 0}  # with letters that shift the stream of other layers, without
    while min(tried.values()) < 10:
        drawn = random_network(draw)
        network = drawn and with_biases(draw, drawn)
        if network is None or network.parameters > 150 or certify.uncovered(network):
            continue
        try:
            certificate = coordinate_certificate(network)
        except NotCovered:
            assert not network.norm, str(network)  # without norms constants are pushed from layer to layer
            continue
        assert certificate["claim"]["lower"] == upper_bound(network, 0, PrimeField(DEFAULT_PRIME)).value, str(network)
        assert verdict(certificate).verdict == "valid", str(network)
        tried[bool(set(network.bias) & set("vod"))] += 1


@pytest.mark.parametrize(
    "spec",
    [
        "softmax d=4,4,4 a=2 dv=2 heads=2 t=3 skip causal norm=rms bias=qkvo",
        "softmax d=4,4,4 a=2 dv=2 t=3 skip causal norm=rms bias=v",
        "softmax d=3,3,3 a=1 dv=1 heads=2 t=3 skip causal ffn=3:gelu bias=qu",
    ],
)
def test_biases_agree_with_direct_proofs(spec):
    network = parse(spec)
    exact = direct(network)
    assert exact.lower == exact.upper == coordinate_certificate(network)["claim"]["lower"]


def test_constants_of_other_layers_are_columns(monkeypatch):
    """Without the shifts a stack without norms would count constants that its layers only pass on."""
    network = parse("softmax d=2,2,2 a=1 dv=1 t=3 skip bias=qvo")
    with pytest.raises(NotCovered, match="rank"):
        coordinate_certificate(network)
    monkeypatch.setattr(certify, "shifts", lambda network: False)
    wrong = coordinate_certificate(network)
    exact = direct(network)
    assert wrong["claim"]["lower"] > exact.upper
    assert verdict(wrong).rule == "coordinates"


@pytest.mark.parametrize("more", ["", " norm=rms"])
def test_value_biases_of_blocks_that_overlap_make_fewer_constants_than_there_are(more, monkeypatch):
    """Three groups of three rows: nine biases, three constants. With bias o they are bo's, and the blocks may overlap."""
    network = parse("softmax d=3,3,3 a=3 t=3 heads=3 dv=3 skip bias=v" + more)
    assert upper_bound(network, 0, PrimeField(DEFAULT_PRIME)).value == chart_size(network) - 2 * (9 - 3)
    with pytest.raises(NotCovered, match="more than the constants"):
        coordinate_certificate(network)
    monkeypatch.setattr(certify, "uncovered", lambda network: None)
    found = verdict(coordinate_certificate(network))
    assert (found.verdict, found.rule) == ("invalid", "coordinates") and "more than the constants" in found.message
    monkeypatch.undo()
    assert verdict(coordinate_certificate(parse(str(network).replace("bias=v", "bias=vo")))).verdict == "valid"


def test_the_dimension_is_at_least_that_of_the_layers_alone_with_one_token_less():
    """The inequality itself, where no coordinate point exists."""
    draw = random.Random(12)
    tried = 0
    while tried < 12:
        network = random_network(draw, overlapping=True)
        if network is None or network.parameters > 120 or network.l > 2 or network.norm:
            continue
        whole = direct(network)
        if whole.lower != whole.upper:
            continue
        alone = {part: direct(part).lower for part in parts(network)}
        layers = [parts(network)[0] if len(alone) == 1 else parts(network)[i] for i in range(network.l)]
        assert sum(alone[part] for part in layers) <= whole.upper, str(network)
        tried += 1


TWINS = [  # (network, how much more its layers count alone: None where the sum is right though the proof is not)
    ("softmax d=4,4,4 a=2 t=3", "hidden basis"),
    ("softmax d=2,2,2 a=1 dv=1 t=3 skip causal window=1", "no second key"),
    ("lightning d=4,4,4 a=2 t=3 skip", None),
    ("softmax d=4,4,4 a=2 dv=2 t=3 skip ffn=2:2", None),
    ("softmax d=4,4,4 a=2 dv=2 t=4 skip causal window=2", None),
    ("softmax d=4,4,4 a=2 dv=2 t=2 skip", None),
]


@pytest.mark.parametrize(("spec", "reason"), TWINS)
def test_where_a_condition_fails_layers_do_not_come_apart(spec, reason):
    network = parse(spec)
    assert not comes_apart(network)
    planted = coordinate_certificate(parse("softmax d=4,4,4 a=2 dv=2 t=3 skip"))
    planted["spec"] = planted["upper"]["spec"] = spec
    planted["claim"] = {"lower": chart_size(network), "upper": chart_size(network)}
    found = verdict(planted)
    assert (found.verdict, found.rule) == ("invalid", "coordinates"), found
    if reason:
        _, narrowed = reduce(network)
        text = spec.replace("2,2,2", "2,2").replace("4,4,4", "4,4")
        whole, alone = direct(narrowed), direct(parse(text))
        assert whole.lower == whole.upper < 2 * alone.lower, reason


def test_mutants_are_rejected_by_the_rule_meant_for_them():
    good = coordinate_certificate(parse("softmax d=4 l=3 a=2 dv=2 heads=2 t=4 skip causal norm=rms ffn=5:silu"))
    assert verdict(good).verdict == "valid"
    for change, rule in [
        ({"tokens": 2}, "coordinates"),
        ({"tokens": 5}, "coordinates"),
        ({"layers": "together"}, "schema"),
        ({"layers": True}, "schema"),
    ]:
        assert verdict({**good, "lower": {**good["lower"], **change}}).rule == rule, change
    together = {k: v for k, v in good["lower"].items() if k != "layers"}
    assert verdict({**good, "lower": together}).rule == "exponents"  # the witness is the deep one then
    draws = good["exponents"]["draws"]
    assert verdict({**good, "exponents": {"draws": draws[:3]}}).rule == "exponents"
    assert verdict({**good, "radicands": {**good["radicands"], "witnesses": []}}).rule == "radicands"


def test_layers_that_differ_in_activation_or_heads_have_blocks_of_their_own(monkeypatch):
    network = parse("softmax d=4 l=3 a=2 dv=2 heads=2,4,2 kv=2,2,1 t=3 skip ffn=4:silu,4:silu,4:gelu")
    seen = []
    real = checker.check_block
    monkeypatch.setattr(checker, "check_block", lambda net, *rest: seen.append(net.layers[0]) or real(net, *rest))
    assert verdict(coordinate_certificate(network)).verdict == "valid"
    assert {(y.heads // y.kv, y.act) for y in seen} == {(1, "silu"), (2, "silu"), (2, "gelu")}
