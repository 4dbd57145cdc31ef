"""Coordinate certificates: what they prove, what refuses them, and that mutants of them are rejected by the rule meant for it."""

import contextlib
import copy
import itertools
import json
import random

import pytest
from neuromanifold.numerics.network import NetworkError
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import replay as checker
from neuromanifold.verifiers.certificate import _attempt
from neuromanifold.verifiers.coordinates import certify, types
from neuromanifold.verifiers.coordinates.certify import NotCovered, chart_size, coordinate_certificate
from neuromanifold.verifiers.reductions import reduce

GPT2 = "softmax d=768 l=12 a=64 dv=64 heads=12 t=1024 skip causal"


def verdict(certificate):
    return checker.replay(json.dumps(certificate))


def test_the_attention_stack_of_gpt2_at_its_real_size():
    certificate = coordinate_certificate(parse(GPT2))
    assert certificate["claim"] == {"lower": 27131904, "upper": 27131904}
    assert verdict(certificate).verdict == "valid"
    assert len(json.dumps(certificate)) < 1_000


def test_llama_style_attention_at_its_real_size():
    certificate = coordinate_certificate(parse("softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope"))
    assert certificate["claim"]["lower"] == 32 * (41_943_040 - 8 * (128**2 + 128)) == 1_337_950_208
    assert verdict(certificate).verdict == "valid"
    assert len(json.dumps(certificate)) < 1_000


def test_whole_llama_blocks_at_their_real_size():
    spec = "softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope norm=rms ffn=14336:swiglu"
    certificate = coordinate_certificate(parse(spec))
    assert certificate["claim"]["lower"] == 1_337_950_208 + 32 * (3 * 4096 - 1) * 14_336 == 6_974_636_032
    assert verdict(certificate).verdict == "valid"
    assert len(json.dumps(certificate)) < 1_000


OVERLAPPING = [
    "softmax d=3,3 a=2 dv=2 heads=2 t=3 skip",
    "softmax d=3 l=3 a=2 dv=2 heads=3 t=4 skip causal",
    "softmax d=5,5 a=2 dv=2 heads=6 kv=3 t=3 skip causal",
    "softmax d=4,4 a=1 dv=3 heads=3 t=3 skip alibi",
    "softmax d=4,4 a=3 dv=4 heads=4 kv=2 t=4 skip causal window=3",
    "softmax d=4 l=2 a=2 dv=2 heads=3 t=3 skip norm=rms bias=qkvoud ffn=5:silu",
]
ABOUT_MEAN = [
    "softmax d=3,3 a=1 dv=1 t=2 skip norm=layer bias=qvo",
    "softmax d=4,4 a=2 dv=3 t=3 skip causal norm=layer bias=qkvo",
    "softmax d=6,6 a=3 dv=2 heads=2 kv=1 t=3 skip causal norm=layer bias=qvo",
    "softmax d=4,4 a=2 dv=2 heads=2 t=3 skip causal norm=layer bias=qkvo",
    "softmax d=5,5 a=2 dv=2 heads=2 t=3 skip norm=layer bias=qkvoud ffn=3:gelu",
    "softmax d=3 l=3 a=1 dv=2 t=3 skip causal alibi norm=layer bias=qvo",
    "softmax d=4 l=2 a=2 dv=2 heads=2 t=4 skip causal norm=layer bias=qkvoud ffn=9:gelu",
    "softmax d=4 l=2 a=1,2 dv=2,2 heads=4,2 kv=2,2 t=4 skip causal window=3 norm=layer bias=qvoud ffn=4:silu,3:gelu",
]
def test_whole_blocks_of_gpt2_at_their_real_size():
    """768 rows on the 767 coordinates of the stream about its mean."""
    certificate = coordinate_certificate(parse(f"{GPT2} bias=qkvoud norm=layer ffn=3072:gelu"))
    norms, rows, constants = 2 * 2 * 768, 3 * 768 + 3072, 12 * 2 - 1
    assert certificate["claim"]["lower"] == 85_054_464 - 12 * (norms + rows + 2 * 768 + 2 * 12 * 64**2) - constants == 83_754_985
    assert verdict(certificate).verdict == "valid"
    assert len(json.dumps(certificate)) < 1_500


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
    "softmax d=4 l=1 a=2 dv=2 heads=2 t=3 skip causal bias=qkvo",
    "softmax d=4 l=2 a=2 dv=2 t=2 skip bias=qk",
    "softmax d=4 l=1 a=2 dv=2 t=2 skip norm=rms rope bias=qkvud ffn=5:gelu",
    "lightning d=3,4 a=7 t=2",
    "softmax d=3,8,3 a=5,2 t=2",
    "lightning d=4,4 a=2 dv=2 heads=2 t=3 skip",
    "lightning d=8 l=1 a=2 dv=1 heads=4 t=2 skip causal",
    "lightning d=5 l=2 a=1 dv=1 heads=3 t=2 skip",
    "softmax d=6 l=1 a=3 dv=1 heads=2 t=2 skip",
    "softmax d=4 l=2 a=2 dv=1 heads=4 kv=2 t=3 skip causal",
    "lightning d=6,4,4,5 a=1,2,1 t=2",
    "lightning d=3,3,3 a=1,2 t=4",
    "lightning d=5,5,5,5 a=2,1,2 t=3",
    "lightning d=4,4,4 a=1,4 t=2",
    "lightning d=6,6,6 a=1,2 t=2 causal",
    "lightning d=5,4,5 a=2 t=1",
    "lightning d=4,4,4 a=2,1 dv=3,2 t=1 skip",
    "lightning d=4,4 a=3 t=4 causal window=1",
]


@pytest.mark.parametrize("spec", [*SMALL, *OVERLAPPING, *ABOUT_MEAN])
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


def test_quadratic_scores_agree_with_direct_proofs():
    """Behind a stream of rank one, and with one token, only the quadratic form of K^T Q acts."""
    draw = random.Random(11)
    tried = {"rank one": 0, "one token": 0}
    while min(tried.values()) < 30:
        network = _random_quadratic(draw)
        if network.parameters > 150 or certify.uncovered(reduce(network)[1]):
            continue
        claim = coordinate_certificate(network)["claim"]["lower"]
        direct = _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)
        assert direct.lower == direct.upper == claim, str(network)
        tried["one token" if network.t == 1 else "rank one"] += 1
    assert sum(tried.values()) >= 60


def test_bases_in_every_group_agree_with_direct_proofs():
    """Several lightning heads, and groups with dv < a."""
    draw = random.Random(3)
    tried = {"softmax": 0, "lightning": 0}
    while min(tried.values()) < 15:
        kind, groups = draw.choice(["softmax", "lightning"]), draw.randint(2, 4)
        heads = groups * draw.choice([1, 1, 2]) if kind == "softmax" else groups
        sizes = f"d={draw.randint(2, 7)} l={draw.randint(1, 2)} a={draw.randint(1, 3)} dv={draw.randint(1, 3)}"
        network = parse(f"{kind} {sizes} heads={heads} kv={groups} t={draw.randint(2, 3)} skip{draw.choice(['', ' causal'])}")
        if network.parameters > 180 or not types.spread(network) or certify.uncovered(network):
            continue
        claim = coordinate_certificate(network)["claim"]["lower"]
        direct = _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)
        assert direct.lower == direct.upper == claim, str(network)
        tried[kind] += 1
    assert sum(tried.values()) >= 30


def _random_quadratic(draw):
    l, width, one = draw.randint(1, 4), draw.randint(2, 6), draw.random() < 0.5
    a = [draw.randint(1, 4) for _ in range(l)]
    if not one:
        l, a = l + 1, [1, *a] if draw.random() < 0.7 else [*a[:-1], 1, a[-1]]
    skip = one and draw.random() < 0.5
    d = [width + draw.choice([0, 0, 1]) * (not skip), *[width] * (l - 1), width + draw.choice([0, 0, 1]) * (not skip)]
    words = f" dv={draw.randint(1, width)}" * (skip and draw.random() < 0.5) + " skip" * skip
    return parse(f"lightning d={','.join(map(str, d))} a={','.join(map(str, a))} t={1 if one else draw.randint(2, 4)}{words}")


@pytest.mark.parametrize(
    ("covered", "without", "dimension"),
    [
        ("lightning d=4,4,4 a=1,2 t=3", "lightning d=4,4,4 a=1,2 t=3 causal", 33),
        ("lightning d=4,4,4 a=1,2 t=3", "lightning d=4,4,4 a=2,2 t=3", 38),
        ("lightning d=4,4 a=2 t=1", "lightning d=4,4 a=2 t=2", 27),
        ("lightning d=4,4,4 a=2 t=1 skip", "lightning d=4,4,4 a=2 t=2 skip", 54),
    ],
)
def test_quadratic_scores_need_one_token_or_rank_one(covered, without, dimension):
    """The chart of quadratic forms is too small for `without`: there the certificate counts more."""
    network = parse(without)
    direct = _attempt(network, 0, PrimeField(DEFAULT_PRIME), None, None)
    forms = checker.quadratic(checker.parse(covered))
    assert chart_size(network) == direct.lower == dimension > checker.chart_size(checker.parse(without), forms)
    planted = coordinate_certificate(parse(covered))
    planted = {**planted, "spec": without, "upper": {**planted["upper"], "spec": without}}
    assert verdict(planted).rule in ("claim", "coordinates", "reduction")


@pytest.mark.parametrize(
    ("spec", "size", "accepted"),
    [
        ("lightning d=5,5 a=4 t=1", 3, True),
        ("lightning d=5,5 a=4 t=1", 2, False),
        ("lightning d=5,5 a=4 t=1 bias=q", 3, False),
        ("lightning d=5,5 a=4 t=1 heads=2", 3, False),
        ("lightning d=5,5 a=4 t=2", 3, False),
        ("softmax d=5,5 a=4 t=2", 3, False),
    ],
)
def test_the_head_width_of_a_quadratic_form(spec, size, accepted):
    step = {"rule": "head-width", "layer": 1, "size": size}
    if accepted:
        assert checker.reduced(checker.parse(spec), step).layers[0].a == size
        return
    with pytest.raises(checker.ReplayError, match="head-width"):
        checker.reduced(checker.parse(spec), step)


@pytest.mark.parametrize(
    ("spec", "accepted"),
    [
        ("lightning d=4,4,4 a=1,3 t=3", True),
        ("lightning d=4,4,4,4 a=1,1,3 t=3", True),
        ("lightning d=3,1,4,4 a=2,1,3 t=3", True),
        ("lightning d=4,4,4 a=1,3 t=3 causal", False),
        ("lightning d=4,4,4 a=1,3 t=3 skip", False),
        ("lightning d=4,4,4 a=1,3 t=3 bias=v", False),
        ("lightning d=4,4,4 a=1,3 t=3 heads=2,1", False),
        ("lightning d=4,4,4 a=1,3 t=3 ffn=4:silu", False),
        ("lightning d=4,4,4 a=1,3 t=3 ffn=4:2 bias=u", False),
        ("lightning d=4,4,4 a=2,3 t=3", False),
    ],
)
def test_the_head_width_behind_rank_one(spec, accepted):
    """Accepted steps keep the dimension; the refused ones would not all: the last layer's forms are not symmetric there."""
    network = parse(spec)
    step = {"rule": "head-width", "layer": network.l, "size": 2}
    if accepted:
        checker.reduced(checker.parse(spec), step)
        narrowed = parse(spec.replace(",3 t", ",2 t"))
        whole, part = (_attempt(n, 0, PrimeField(DEFAULT_PRIME), None, None) for n in (network, narrowed))
        assert whole.lower == whole.upper == part.lower == part.upper
        return
    with pytest.raises(checker.ReplayError, match="head-width"):
        checker.reduced(checker.parse(spec), step)


def _random_network(draw):
    kind, skip = draw.choice(["softmax", "lightning"]), draw.random() < 0.5
    l = draw.choice([1, 1, 2, 3])
    width = draw.randint(2, 6)
    d = [width] * (l + 1)
    words = ["skip"] if skip else []
    if not skip:
        d[0] += draw.choice([0, 0, 1, 2])
        d[-1] += draw.choice([0, 0, 1, 2])
    heads = draw.choice([1, 1, 2, 3]) if skip else 1
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
        ("lightning d=6,4 a=3 t=1", "half of the width"),  # forms on six coordinates, of which the core has four
        ("softmax d=4,4 a=6 t=3 skip rope", "exceeds the width"),  # the chart is not dominant
        ("softmax d=4,4 a=2 dv=2 heads=3 t=3 skip causal rope", "overlap"),
        ("softmax d=3,3 a=2 dv=1 heads=2 t=3 skip", "overlap"),
        ("lightning d=3,3 a=2 dv=2 heads=2 t=3 skip", "overlap"),
        ("softmax d=12,12 a=4 dv=2 heads=2 t=3 skip rope", "no rope"),
        ("softmax d=15,15 a=3 dv=2 heads=5 t=3 skip", "up to 4"),
        ("lightning d=8 l=2 a=1,2 dv=2 heads=2 t=3 skip", "alike"),
        ("softmax d=4,4 a=2 t=1", "itself only"),
        ("softmax d=4,4 a=2 t=3 bias=q", "bias"),
        ("lightning d=4,4 a=2 t=3 skip bias=q", "bias"),
        ("softmax d=4,4,4 a=2 dv=2 t=3 skip bias=qkvo", "rank"),  # without norm constants pass through to the last layer
        ("softmax d=5,4,3,4 a=2 t=3", "hidden widths"),
        ("lightning d=4,4 a=2 dv=2 heads=2 kv=1 t=3 skip", "several lightning heads"),
        ("lightning d=4,4 a=2 dv=2 heads=2 t=1 skip", "several lightning heads"),
        ("softmax d=8,8 a=4 t=9 skip rope", "tokens"),
        ("softmax d=4,4 a=2 dv=2 heads=2 t=3 skip ffn=6:3", "rank"),  # three cubes of two linear forms fill less than they count
        ("softmax d=4,4 a=2 dv=2 t=3 skip ffn=6:1", "power 1"),
        ("softmax d=4,4 a=2 t=3 ffn=6:silu", "skip"),
        ("softmax d=4,4 a=2 dv=2 t=3 skip norm=layer", "LayerNorm"),
        ("lightning d=4096 l=200 a=128 t=4096 skip causal", "more than the checker replays"),
        ("softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=2 skip causal rope", "more than the checker replays"),  # no zero token
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
        ("softmax d=6 l=2 a=2 dv=1 heads=4 t=3 skip", "coordinates"),
        ("lightning d=6 l=2 a=2 dv=2 heads=4 t=3 skip", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3", "coordinates"),
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip bias=o", "coordinates"),  # the constants are one, not two
        ("softmax d=6 l=2 a=2 dv=2 heads=2 t=3 skip norm=layer", "coordinates"),
        ("lightning d=6 l=2 a=2 t=3 skip bias=q", "coordinates"),
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
    real = certify.block_rank
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
    more = [GPT2, "softmax d=18 l=2 a=4,2 dv=4,4 heads=4,3 kv=2,3 t=3 skip causal rope", *OVERLAPPING, *ABOUT_MEAN]
    for spec in [*SMALL, *more]:
        _, network = reduce(parse(spec))
        theirs = checker.parse(str(network))
        made = types.units(network)
        units = checker.Units(made.size, made.pairs, made.count(types.core_width(network)), checker.quadratic(theirs))
        for base in certify.bases(network):
            mine = {k.label for k in types.set_types(network, base)}
            found = checker.set_types(theirs, units, base, checker.Source(DEFAULT_PRIME, 0))
            assert mine == {k.label for k in found}, (spec, base)
            compared += 1
    assert compared >= 70


@pytest.mark.parametrize(
    "spec",
    [
        "softmax d=5 l=1 a=2 dv=2 heads=4 kv=2 t=3 skip norm=rms bias=qkvoud ffn=7:gelu",
        "softmax d=6 l=1 a=2 dv=2 heads=2 kv=1 t=3 skip rope norm=rms bias=qkv ffn=7:swiglu",
        "softmax d=4 l=1 a=3 t=3 skip bias=qkv",
        "softmax d=5,3,3,4 a=2,1,3 t=3",
        "lightning d=6,4,4,5 a=2,3,1 t=2",
        "softmax d=6 l=1 a=2 dv=2 heads=4 kv=2 t=3 skip norm=layer bias=qkvoud ffn=7:gelu",
        "softmax d=6 l=1 a=1 dv=2 heads=2 t=3 skip norm=layer bias=qvo",
    ],
)
@pytest.mark.parametrize("base", [0, 1])
def test_every_free_entry_of_the_chart_is_a_column_of_exactly_one_block(spec, base, monkeypatch):
    network = checker.parse(spec)
    base += network.kind == "lightning"  # which needs one
    made = checker.chart_applies(network, 2 if network.rope else 1)
    counted = []

    class Enough(Exception):
        pass

    def tape(packed, flat, columns):
        counted.append(sum(columns))
        raise Enough

    monkeypatch.setattr(checker, "Tape", tape)
    entering, leaving = (network.layers[0].m - network.mean) // made.size, network.layers[-1].n // made.size
    ends = [("c", base, made.core), ("i", made.core, entering), ("o", made.core, leaving)]
    places = [(home, k) for home, first, last in ends for k in range(first, last)]
    sets = [[], *([p] for p in places), *([p, q] for p, q in itertools.combinations(places, 2))]
    for units in sets if base else sets[1:]:
        kind = checker.relabelled(network, [("c", k) for k in range(base)], units, made)
        with contextlib.suppress(Enough):
            checker.check_block(network, kind, made, 2, 0, checker.Source(DEFAULT_PRIME, 0), False)
    alone = network.mean * (base == 0)  # the constant of the mean, which is a block that nobody has to look at
    assert sum(counted) + alone == checker.chart_size(network, made.forms)
