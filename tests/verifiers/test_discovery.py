"""Fields outside of the catalogue: found, proved by the writer and again by the replay; wrong ones are refused by both."""

import json
import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from neuromanifold.numerics.evaluate import jacobian
from neuromanifold.numerics.forward import record, record_parts
from neuromanifold.numerics.network import UnsupportedNetwork
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rank import rank
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import discovery, identity, replay, upper
from neuromanifold.verifiers.certificate import dumps, prove_bounds
from neuromanifold.verifiers.discovery import discover
from neuromanifold.verifiers.identity import annihilates
from neuromanifold.verifiers.lower import usable_inputs
from neuromanifold.verifiers.symmetries.found import Found, entry_names

sys.path.insert(0, str(Path(__file__).parents[1]))
from networks import random_networks

RING = PrimeField(DEFAULT_PRIME)

# One network a mechanism, small enough to be searched in a second or so.
MECHANISMS = [
    "lightning d=2,2 a=2 t=2",
    "lightning d=2,2 a=1 t=2 heads=2 kv=1 dv=1 causal",
    "lightning d=1,2,2 a=2 t=2",
    "lightning d=2,2 a=2 t=2 rope bias=qkvo",
    "lightning d=2,2 a=1 t=2 skip norm=rms",
    "lightning d=2,2 a=1 t=1 skip norm=layer bias=qko",
    "lightning d=2,2 a=1 t=2 ffn=2:3 bias=ud",
    "softmax d=2,2 a=2 t=2 bias=kv",
    "softmax d=2,2 a=1 t=3 causal window=2 heads=2 dv=1 bias=vo",
    "softmax d=1,2 a=1 t=2 alibi bias=q",
    "softmax d=2,2 a=2 t=2 rope alibi",
    "softmax d=2,2 a=1 t=1 skip ffn=1:swiglu bias=u",
    "softmax d=1,1,1 a=1 t=2 ffn=1:gelu skip",
    "softmax d=2,1 a=1 t=2 ffn=1:silu",
    "softmax d=2,2 a=1 t=2 skip norm=layer ffn=1:2",
    "mlp d=2,2,2 r=2",
    "mlp d=2,3,1 r=1",
]


@pytest.fixture
def without_catalogue(monkeypatch):
    """Discovery and upper bounds that know no field at all."""
    monkeypatch.setattr(discovery, "symmetry_motions", lambda *_: [])
    monkeypatch.setattr(upper, "symmetry_motions", lambda *_: [])
    monkeypatch.setattr(upper, "ambient_dimension", lambda _: None)


def exact_rank(network):
    """The rank of the Jacobian at a point of its own: the dimension, with near certainty."""
    program = record(network)
    _, bindings = usable_inputs(network, program, 77, RING, 3 * network.parameters + 4)
    return rank(jacobian(program, RING, bindings), RING)


def replayed_by_fields(network, fields):
    """The verdict on a certificate that has these fields as its upper bound, and no lower bound; and the bound that it claims."""
    bound = upper.with_found(network, upper.UpperBound(network.parameters + 1, "fields", (), network, (), (), network), fields, 0, RING)
    file = {
        "format": "neuromanifold-certificate", "version": 1, "spec": str(network), "claim": {"lower": 0, "upper": bound.value},
        "prime": DEFAULT_PRIME, "seed": 0, "lower": None, "upper": bound.to_json(), "holes": [],
    }  # fmt: skip
    return replay.replay(json.dumps(file)), bound.value


@pytest.mark.parametrize("spec", MECHANISMS)
def test_each_mechanism_is_found_and_replayed_without_the_catalogue(spec, without_catalogue, monkeypatch):
    network = parse(spec)
    monkeypatch.setattr(upper, "reduce", lambda n: ((), n))
    search = discover(network)
    assert search.found and not search.unproved
    verdict, value = replayed_by_fields(network, search.found)
    assert verdict.verdict == "valid", verdict
    assert exact_rank(network) <= value == network.parameters - len(search.found)


def test_linear_fields_alone_often_give_the_dimension(without_catalogue, monkeypatch):
    monkeypatch.setattr(upper, "reduce", lambda n: ((), n))
    tried = sharp = 0
    for network in random_networks(150, seed=5):
        if network.parameters > 30 or network.norm or network.t > 3:
            continue
        found = discover(network).found
        verdict, value = replayed_by_fields(network, found)
        assert verdict.verdict == "valid", (str(network), verdict)
        exact = exact_rank(network)
        assert exact <= value, str(network)
        tried, sharp = tried + 1, sharp + (exact == value)
    assert tried >= 25, tried
    assert sharp >= tried // 3, (sharp, tried)


CLOSED = {  # intervals that the catalogue leaves open, or once left open
    "softmax d=2,2,2 a=1 t=3 heads=1,2 kv=1 skip bias=qv": 21,
    "softmax d=1,1,1,1 a=1 t=3 heads=2,1,4 kv=1,1,2 skip causal bias=qvd ffn=3:3": 25,
    "lightning d=2,2,2 a=4 t=1 heads=2,1 kv=1 dv=1 skip rope": 12,
    "softmax d=2,2,2 a=1 t=3 heads=4,2 kv=2 skip causal window=1 ffn=2:gelu,3:gelu": 24,
    "softmax d=3,3,3 a=1,4 t=1 skip ffn=1:3": 19,
    "lightning d=4,4 a=2 t=1 heads=2 kv=1 dv=3 skip causal rope": 41,
    "softmax d=3,3,3 a=3 t=3 skip causal window=1 ffn=3:gelu,1:gelu": 33,
    "lightning d=3,3,3 a=3 t=1 heads=2 kv=1 dv=2 skip": 44,
    "lightning d=4,4 a=2 t=1 heads=4 kv=2 dv=2 skip causal rope norm=layer": 68,
    "softmax d=4,4,4 a=2,3 t=2 heads=2 kv=1 skip bias=qv": 93,
}


@pytest.mark.parametrize(("spec", "dimension"), CLOSED.items())
def test_open_intervals_are_closed(spec, dimension):
    proof = prove_bounds(parse(spec))
    assert (proof.lower, proof.upper) == (dimension, dimension)
    assert replay.replay(dumps(proof.certificate)).verdict == "valid"


def test_the_parts_of_a_network_compose_to_it():
    for spec in MECHANISMS:
        network = parse(spec)
        whole = [s.operation for s in record(network).instructions if s.operation not in ("param", "input")]
        parts = [s.operation for p in record_parts(network) for s in p.instructions if s.operation not in ("param", "input")]
        assert whole == parts


# ------------------------------------------------------------------------------------------------------------ refusals


def proved_by_replay(network, motion, expanded=False):
    """Whether the replay proves it, with 20,000 products of monomials."""
    net, source = replay.parse(str(network)), replay.Source(DEFAULT_PRIME, 0)
    source.spent[0] = replay.MAX_WORK - 20_000_000
    try:
        return replay.annihilated(net, [(t, c, list(f)) for t, c, f in motion], expanded, source)
    except replay.ReplayError as error:
        assert error.rule == "caps"
        return False


def vanishes(network, motion):
    """Whether the derivative along the field is 0 mod p at some points."""
    program = record(network)
    for seed in (5, 6):
        _, bindings = usable_inputs(network, program, seed, RING, 4)
        vector = Found(network, motion).vectors(network, Point(seed, RING.p).parameters(network), RING)
        if RING.matmul(jacobian(program, RING, bindings), vector.T).any():
            return False
    return True


def test_wrong_fields_are_refused_by_both(monkeypatch):
    monkeypatch.setattr(identity, "MAX_PRODUCTS", 20_000)
    rng, refused = random.Random(3), 0
    for spec in MECHANISMS:
        network = parse(spec)
        known = discovery_without_catalogue(network)[:3]
        assert known
        for field in known:
            assert proved_by_replay(network, field.motion, field.expanded)
            for _ in range(2):
                motion = list(field.motion)
                k = rng.randrange(len(motion))
                target, coefficient, factors = motion[k]
                change = rng.randrange(3)
                if change == 0:
                    motion[k] = (target, coefficient + rng.choice((-1, 1, 2)), factors)
                elif change == 1:
                    motion[k] = (target, coefficient, (*factors[1:], rng.randrange(network.parameters)))
                else:
                    motion[k] = (rng.randrange(network.parameters), coefficient, factors)
                motion = tuple(m for m in motion if m[1])
                if vanishes(network, motion):
                    continue
                refused += 1
                for expanded in (False, True):
                    assert not annihilates(network, motion, expanded), (spec, motion)
                    assert not proved_by_replay(network, motion, expanded), (spec, motion)
    assert refused >= 80, refused


def discovery_without_catalogue(network):
    known = discovery.symmetry_motions
    discovery.symmetry_motions = lambda *_: []
    try:
        return discover(network).found
    finally:
        discovery.symmetry_motions = known


RANK_ONE = "lightning d=1,2,4 a=1,2 t=3 heads=3,1"
BASE = "lightning d=2,2,2 a=2 t=1 heads=2,1 kv=1 dv=1 skip"


def certificate(spec):
    file = prove_bounds(parse(spec)).certificate
    entry = next(f for f in file["upper"]["fields"] if f["field"] == "found")
    return file, entry


def coefficient(text):
    def change(file, entry):
        entry["motion"][0][1] = text

    return change


def negative(file, entry):
    entry["motion"][0][1] = str(-Fraction(entry["motion"][0][1]))


def put(place, value):
    def change(file, entry):
        entry["motion"][0][place] = value

    return change


def rename(spec):
    def change(file, entry):
        file["spec"] = file["upper"]["spec"] = spec

    return change


MUTANTS = [
    ("another coefficient", BASE, coefficient("2"), "field"),
    ("the other sign", BASE, negative, "field"),
    ("no coefficient", BASE, coefficient("0"), "schema"),
    ("a denominator of 0", BASE, coefficient("1/0"), "schema"),
    ("a plus sign", BASE, coefficient("+1"), "schema"),
    ("a float", BASE, coefficient("1.0"), "schema"),
    ("a number for text", BASE, coefficient(1), "schema"),
    ("another factor", BASE, put(2, [0]), "field"),
    ("a factor too many", BASE, put(2, [4, 4]), "field"),
    ("no factor", BASE, put(2, []), "field"),
    ("factors without end", BASE, put(2, [1] * 9), "caps"),
    ("a factor that does not exist", BASE, put(2, [30]), "schema"),
    ("a target that does not exist", BASE, put(0, 30), "schema"),
    ("a target that is no number", BASE, put(0, True), "schema"),
    ("a term less", BASE, lambda file, entry: entry["motion"].pop(), "field"),
    ("a term twice", BASE, lambda file, entry: entry["motion"].append(entry["motion"][0]), "field"),
    ("a term that is none", BASE, lambda file, entry: entry["motion"].append([1, "1"]), "schema"),
    ("a third way to expand", BASE, lambda file, entry: entry.update(expanded=2), "schema"),
    ("an unknown key", BASE, lambda file, entry: entry.update(layer=1), "schema"),
    ("streams as letters lose that they have rank one", RANK_ONE, lambda file, entry: entry.update(expanded=0), "field"),
    ("the field left out", RANK_ONE, lambda file, entry: file["upper"]["fields"].remove(entry), "upper-rank"),
    ("two tokens in place of one", "lightning d=4,4 a=2 t=1 heads=2 kv=1 dv=3 skip", rename("lightning d=4,4 a=2 t=2 heads=2 kv=1 dv=3 skip"), "field"),
]  # fmt: skip


@pytest.fixture(scope="module")
def certificates():
    """Certificates with a found field, whatever the catalogue knows by now: the field is looked for without it."""
    made = {}
    for spec in {m[1] for m in MUTANTS}:
        network = parse(spec)
        fields = discovery_without_catalogue(network)
        bound = upper.UpperBound(network.parameters - len(fields), "fields", (), network, tuple(fields), (), network)
        made[spec] = {
            "format": "neuromanifold-certificate", "version": 1, "spec": spec, "claim": {"lower": 0, "upper": bound.value},
            "prime": DEFAULT_PRIME, "seed": 0, "lower": None, "upper": bound.to_json(), "holes": [],
        }  # fmt: skip
        assert replay.replay(json.dumps(made[spec])).verdict == "valid"
    return made


@pytest.mark.parametrize(("name", "spec", "mutate", "rule"), MUTANTS, ids=[m[0] for m in MUTANTS])
def test_mutants(name, spec, mutate, rule, certificates):
    file = json.loads(json.dumps(certificates[spec]))
    wanted = [e for e in file["upper"]["fields"] if e["expanded"]] if spec == RANK_ONE else antisymmetric(spec, file)
    mutate(file, wanted[0])
    verdict = replay.replay(json.dumps(file))
    assert (verdict.verdict, verdict.rule) == ("invalid", rule), verdict


def antisymmetric(spec, file):
    """The entries that turn keys into queries: they need one token."""
    names = entry_names(parse(spec))
    return [
        e for e in file["upper"]["fields"]
        if any(names[t][2] == "Q" and [names[k][2] for k in f] == ["K"] for t, _, f in e["motion"])
    ]  # fmt: skip


def test_a_field_twice_counts_once(certificates):
    file = json.loads(json.dumps(certificates[BASE]))
    file["upper"]["fields"].append(file["upper"]["fields"][0])
    assert replay.replay(json.dumps(file)).verdict == "valid"
    file["claim"]["upper"] -= 1
    assert replay.replay(json.dumps(file)).rule == "upper-rank"


def test_powers_that_do_not_fit_are_refused():
    """Powers are kept in 15 bits each: 64^3 does not fit, and must not run into the next letter."""
    net = replay.parse("mlp d=1,1,1,1,1 r=64")
    with pytest.raises(replay.ReplayError, match="power"):
        replay.annihilated(net, [(0, Fraction(1), [0])], True, replay.Source(DEFAULT_PRIME, 0))


def test_a_costly_expansion_is_refused_in_time():
    net = replay.parse("lightning d=2,2,2 a=2 t=3 heads=3")
    source = replay.Source(DEFAULT_PRIME, 0)
    source.spent[0] = replay.MAX_WORK - 10**7
    with pytest.raises(replay.ReplayError, match="cost"):
        replay.annihilated(net, [(0, Fraction(1), [0])], True, source)


@pytest.mark.parametrize("spec", ["softmax d=10,10,10 a=2 t=3", "softmax d=2,2 a=1 t=9", "softmax d=2,2,2 a=1 t=4 skip norm=rms"])
def test_large_networks_are_refused(spec):
    with pytest.raises(UnsupportedNetwork):
        discover(parse(spec))


def test_quadratic_fields():
    """w (u x)^2 with one hidden unit a row: dU = w b U is quadratic."""
    network = parse("mlp d=2,2,1 r=2")
    degrees = {max(len(f) for _, _, f in field.motion) for field in discovery_without_catalogue(network)}
    assert degrees == {1, 2}


def test_values_at_a_point_are_the_motion():
    network = parse("lightning d=1,1 a=1 t=2")
    field = Found(network, ((0, Fraction(-1, 2), (1, 2)), (0, Fraction(3), ()), (2, Fraction(1), (0,))))
    point = {name: np.array([[[k + 2]]]) for k, (name, _) in enumerate(network.parameter_shapes())}
    assert RING.integers(field.vectors(network, point, RING))[0].tolist() == [-6 + 3 + RING.p, 0, 2]
    assert field.describe() == "d1.Q[0,0,0] = -1/2 * 1.K[0,0,0] 1.V[0,0,0] + 3, d1.V[0,0,0] = 1.Q[0,0,0]"
