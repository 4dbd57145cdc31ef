"""Coordinate certificates: what they prove, what refuses them, and that mutants of them are rejected by the rule meant for it."""

import copy
import json
import math
import random

import pytest
from neuromanifold.numerics.network import NetworkError
from neuromanifold.numerics.notation import parse, parse_any
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.oracle.theorems.families import CERTIFIED
from neuromanifold.verifiers import replay as checker
from neuromanifold.verifiers.certificate import _attempt
from neuromanifold.verifiers.coordinates import blocks, certify, types
from neuromanifold.verifiers.coordinates.certify import NotCovered, chart_size, coordinate_certificate
from neuromanifold.verifiers.coordinates.families import family_certificate
from neuromanifold.verifiers.reductions import reduce

GPT2 = "softmax d=768 l=12 a=64 dv=64 heads=12 t=1024 skip causal"


def verdict(certificate):
    return checker.replay(json.dumps(certificate))


def test_the_attention_stack_of_gpt2_at_its_real_size():
    certificate = coordinate_certificate(parse(GPT2))
    assert certificate["claim"] == {"lower": 27131904, "upper": 27131904}
    assert verdict(certificate).verdict == "valid"
    assert len(json.dumps(certificate)) < 1_000


@pytest.mark.slow
def test_llama_style_attention_of_two_layers_at_its_real_width():
    certificate = coordinate_certificate(parse("softmax d=4096 l=2 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope"))
    assert certificate["claim"]["lower"] == 2 * (41_943_040 - 8 * (128**2 + 128))
    assert verdict(certificate).verdict == "valid"


SMALL = [
    "softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip",
    "softmax d=5,5,5 a=2 dv=2 heads=2 t=3 skip causal",
    "softmax d=7 l=1 a=2 dv=3 heads=2 t=3 skip causal alibi",
    "softmax d=6 l=1 a=2 dv=2 heads=4 kv=2 t=4 skip causal window=3",
    "softmax d=8 l=1 a=4 dv=4 heads=2 t=3 skip causal rope",
    "softmax d=4 l=1 a=2 dv=1 heads=2 kv=1 t=3 skip rope",
    "softmax d=4,4,4 a=2 t=3",
    "softmax d=5,3,3,4 a=2,1,3 t=3",
    "softmax d=5,3 a=4 t=3",
    "softmax d=6 l=1 a=3 t=3 skip",
    "lightning d=3,3 a=2 t=2",
    "lightning d=5,3 a=4 t=7",
    "lightning d=6,4,4,5 a=2,3,1 t=2",
    "lightning d=4,4,4 a=4 t=3",
    "lightning d=4,4,4 a=2 t=3 skip causal",
    "lightning d=6,6 a=2 dv=3 t=3 skip",
    "lightning d=8,8 a=4 dv=2 t=3 skip rope",
    "softmax d=6 l=1 a=2 dv=2 heads=2 t=3 skip causal ffn=7:silu",
    "softmax d=4 l=2 a=2 dv=2 heads=2 t=3 skip causal ffn=6:swiglu",
    "softmax d=4 l=2 a=2 dv=2 heads=2 t=3 skip ffn=3:2",
    "softmax d=4 l=1 a=2 dv=2 t=3 skip causal rope ffn=3:gelu",
    "softmax d=4 l=1 a=2 dv=2 t=2 skip causal norm=rms",
    "lightning d=3,4 a=7 t=2",
    "softmax d=3,8,3 a=5,2 t=2",
]


@pytest.mark.parametrize("spec", SMALL)
def test_agrees_with_a_direct_proof_and_replays(spec):
    network = parse(spec)
    certificate = coordinate_certificate(network)
    direct = _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)
    assert direct.lower == direct.upper == certificate["claim"]["lower"]
    assert verdict(certificate).verdict == "valid"


def test_every_covered_network_under_150_parameters_agrees_with_its_direct_proof():
    draw = random.Random(5)
    tried = refused = 0
    while tried < 120:
        network = _random_network(draw)
        if network is None or network.parameters > 150 or certify.uncovered(network):
            continue
        try:
            claim = coordinate_certificate(network)["claim"]["lower"]
        except NotCovered:
            refused += 1
            continue
        direct = _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)
        assert direct.lower <= claim <= direct.upper, str(network)
        assert direct.lower == claim, str(network)
        tried += 1
    assert tried == 120 and refused < 120


def _random_network(draw):
    kind, skip = draw.choice(["softmax", "lightning"]), draw.random() < 0.5
    l = draw.choice([1, 1, 2, 3])
    width = draw.randint(2, 6)
    d = [width] * (l + 1)
    words = ["skip"] if skip else []
    if not skip:
        d[0] += draw.choice([0, 0, 1, 2])
        d[-1] += draw.choice([0, 0, 1, 2])
    heads = draw.choice([1, 1, 2]) if skip and kind == "softmax" else 1
    words += ["causal"] if draw.random() < 0.4 else []
    rope = draw.random() < 0.2
    a = [draw.choice([2, 4]) if rope else draw.randint(1, 4) for _ in range(l)]
    dv = f" dv={draw.randint(1, 3)}" if skip and (heads > 1 or draw.random() < 0.5) else ""
    text = f"{kind} d={','.join(map(str, d))} a={','.join(map(str, a))} t={draw.randint(2, 4)} heads={heads}{dv} {' '.join(words)}"
    try:
        return parse(text + (" rope" if rope else ""))
    except NetworkError:
        return None


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("lightning d=6,4,4,5 a=1,2,1 t=2", "rank"),  # a rank-one layer hides half of the next: the block falls short
        ("softmax d=4,4 a=6 t=3 skip rope", "exceeds the width"),  # the chart is not dominant
        ("softmax d=4,4 a=2 dv=2 heads=3 t=3 skip", "overlap"),
        ("softmax d=6,6 a=3 dv=2 heads=2 t=3 skip", "dv >= a"),
        ("softmax d=4,4 a=2 t=1", "itself only"),
        ("softmax d=4,4 a=2 t=3 bias=q", "bias"),
        ("softmax d=5,4,3,4 a=2 t=3", "hidden widths"),
        ("lightning d=4,4 a=2 dv=2 heads=2 t=3 skip", "several lightning heads"),
        ("softmax d=8,8 a=4 t=9 skip rope", "tokens"),
        ("softmax d=4,4 a=2 dv=2 heads=2 t=3 skip ffn=6:3", "rank"),  # three cubes of two linear forms fill less than they count
        ("softmax d=4,4 a=2 dv=2 t=3 skip ffn=6:1", "power 1"),
        ("softmax d=4,4 a=2 t=3 ffn=6:silu", "skip"),
        ("softmax d=4,4 a=2 dv=2 t=3 skip norm=layer", "LayerNorm"),
        ("softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope", "more than the checker replays"),
    ],
)
def test_refused_where_a_condition_fails(spec, reason):
    with pytest.raises(NotCovered, match=reason):
        coordinate_certificate(parse(spec))


def _planted(spec, **changes):
    """A certificate for `spec` that the writer would not write."""
    certificate = coordinate_certificate(parse("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip"))
    network = parse(spec)
    certificate["spec"] = certificate["upper"]["spec"] = spec
    certificate["claim"] = {"lower": chart_size(network), "upper": chart_size(network)}
    certificate["lower"] = {**certificate["lower"], **changes}
    return certificate


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        ("softmax d=6 l=2 a=7 dv=7 heads=1 t=3 skip", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=4 t=3 skip", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip bias=q", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip norm=rms", "exponents"),
        ("softmax d=6,6,6 a=2,3 dv=2 heads=2 t=3 skip", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=1 skip", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip causal window=1", "coordinates"),
        ("lightning d=6 l=2 a=2 dv=2 heads=2 t=3 skip", "coordinates"),
    ],
)
def test_another_network_in_the_certificate(spec, rule):
    found = verdict(_planted(spec))
    assert (found.verdict, found.rule) == ("invalid", rule), found


def test_mutants_are_rejected_by_the_rule_meant_for_them():
    good = coordinate_certificate(parse("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip"))
    assert verdict(good).verdict == "valid"
    mutants = {
        "claim": lambda c: c["claim"].update(lower=c["claim"]["lower"] - 1, upper=c["claim"]["upper"] - 1),
        "exponents": lambda c: c["exponents"].update(draws="0"),
        "schema": lambda c: c["lower"].update(extra=1),
        "coordinates": lambda c: c["lower"].update(tokens=4),
        "prime": lambda c: c.update(prime=2097143 * 3),
    }
    for rule, change in mutants.items():
        mutant = copy.deepcopy(good)
        change(mutant)
        assert verdict(mutant).rule == rule, rule
    without = {k: v for k, v in good.items() if k != "exponents"}
    assert verdict(without).rule == "exponents"


def test_true_variations_are_accepted():
    good = coordinate_certificate(parse("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip"))
    for change in ({"spare": 20}, {"base": 1}, {"base": 2}):
        assert verdict({**good, "lower": {**good["lower"], **change}}).verdict == "valid", change
    assert verdict(coordinate_certificate(parse("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip"), seed=7)).verdict == "valid"


def test_a_block_that_loses_one_rank_is_noticed(monkeypatch):
    network = parse("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip")
    real = blocks.block_rank
    kinds = len(types.set_types(network, 0))
    for victim in range(kinds):
        calls = []

        def lossy(*args, calls=calls, victim=victim):
            calls.append(1)
            return real(*args) - (len(calls) - 1 == victim)

        monkeypatch.setattr(certify, "block_rank", lossy)
        monkeypatch.setattr(certify, "TOKENS", (2,))
        monkeypatch.setattr(certify, "BASES", (0,))
        if victim < 4:  # two of the six types have no columns
            with pytest.raises(NotCovered, match="has rank"):
                coordinate_certificate(network)


def test_the_replay_finds_the_types_that_the_writer_finds():
    """Two enumerations, one from runs of coordinates, one from the coordinates themselves."""
    compared = 0
    for spec in [*SMALL, GPT2, "softmax d=18 l=2 a=4,2 dv=4,4 heads=4,3 kv=2,3 t=3 skip causal rope"]:
        _, network = reduce(parse(spec))
        unit = types.unit_size(network)
        for base in certify.bases(network):
            mine = {k.label for k in types.set_types(network, base)}
            theirs = checker.set_types(checker.parse(str(network)), unit, base, types.core_width(network) // unit, checker.Source(DEFAULT_PRIME, 0))
            assert mine == {k.label for k in theirs}, (spec, base)
            compared += 1
    assert compared >= 35


@pytest.mark.parametrize("listed", CERTIFIED, ids=lambda f: f.spec)
def test_certified_families(listed):
    family = parse_any(listed.spec)
    certificate = family_certificate(family)
    assert certificate["claim"] == {"dimension": listed.dimension, "least": 1}
    found = verdict(certificate)
    assert found.verdict == "valid", found
    if family.fields.get("l", (1,))[0] > 4:
        return
    compared = 0
    draw = random.Random(listed.spec)
    while compared < 5:
        sizes = {name: draw.randint(1, 6) for name in family.names}
        try:
            member = family.at(**sizes)
        except NetworkError:
            continue
        if certify.uncovered(member):
            continue
        direct = _attempt(member, 0, PrimeField(DEFAULT_PRIME), None, None)
        terms = checker.polynomial(listed.dimension, family.names)
        value = sum(c * math.prod(sizes[n] ** e for n, e in powers.items()) for c, powers in terms)
        assert direct.lower == direct.upper == value, member
        compared += 1


def test_planted_families_are_refused():
    good = family_certificate(parse_any("lightning d=p,q,q,r a=2 t=3"))
    for change, rule in [
        ({"claim": {**good["claim"], "dimension": "p*q + q*r - q^2 + 4*p + 8*q - 14"}}, "claim"),
        ({"claim": {**good["claim"], "dimension": "p*q + q*r"}}, "claim"),
        ({"claim": {**good["claim"], "dimension": "p*q + x"}}, "claim"),
        ({"claim": {**good["claim"], "dimension": "__import__('os')"}}, "claim"),
        ({"claim": {**good["claim"], "least": 0}}, "claim"),
        ({"spec": "lightning d=p,q,q,r a=1,2,2 t=3"}, "coordinates"),
        ({"spec": "lightning d=p,q,q,r a=2 t=1"}, "coordinates"),
        ({"spec": "lightning d=p,q,q,r a=2 t=n"}, "coordinates"),
        ({"spec": "lightning d=p,q,q,r a=2 t=3 ffn=4:2"}, "spec"),
        ({"lower": {**good["lower"], "base": 1}}, "coordinates"),
        ({"lower": {**good["lower"], "base": 0}}, "coordinates"),
    ]:
        found = verdict({**good, **change})
        assert (found.verdict, found.rule) == ("invalid", rule), (change, found)


def test_a_family_without_a_proof_says_why():
    with pytest.raises(NotCovered):
        family_certificate(parse_any("lightning d=p,q,q,r a=1,2,2 t=3"))
    with pytest.raises(NotCovered, match="bias"):
        family_certificate(parse_any("softmax d=n l=2 a=2 t=3 bias=q"))
