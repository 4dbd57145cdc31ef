"""Random networks of the source paper's kinds (one head, with and without skip): every one of a fixed set is proven."""

import json
import random
from collections import Counter

from neuromanifold.numerics.estimate import estimate_rank
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle import dimension
from neuromanifold.verifiers import replay
from neuromanifold.verifiers.certificate import dumps, prove_bounds

COUNT = 500


def networks():
    """The fixed set: up to 150 parameters, drawn with a seeded generator."""
    draw = random.Random(2408)
    while True:
        l = draw.choice([1, 1, 2, 2, 3, 4])
        skip = draw.random() < 0.25
        d = [draw.randint(1, 6)] * (l + 1) if skip else [draw.randint(1, 6) for _ in range(l + 1)]
        network = Network(
            draw.choice(["lightning", "softmax"]),
            tuple(d),
            tuple(draw.choice([1, 1, 2, 3, 4]) for _ in range(l)),
            draw.choice([1, 2, 2, 3]),
            skip=skip,
        )
        if network.parameters <= 150:
            yield network


def test_every_network_of_the_fixed_set_is_proven():
    seen, marginals = set(), Counter()
    for network in networks():
        if len(seen) == COUNT:
            break
        if network in seen:
            continue
        seen.add(network)
        proof = prove_bounds(network)
        assert proof.lower == proof.upper, f"{network}: {proof.lower} <= dimension <= {proof.upper} {proof.notes}"
        if len(seen) % 5 == 0:
            assert replay.replay(dumps(proof.certificate)).verdict == "valid", str(network)
        marginals.update(
            name
            for name, holds in {
                f"l={network.l}": True,
                network.kind: True,
                "skip": network.skip,
                "a=1": 1 in network.a,
                "a>d": any(y.a > y.m for y in network.layers),
                "t=1": network.t == 1,
                "narrows": any(y.n < y.m for y in network.layers),
                "widens": any(y.n > y.m for y in network.layers),
                "width 1": 1 in network.d,
            }.items()
            if holds
        )
    assert len(seen) == COUNT
    assert all(n >= 40 for n in marginals.values()), marginals
    assert len(marginals) == 13, marginals


def test_fifty_seeds_distinct_points_same_answer():
    for spec in ("softmax d=4,4,4 a=2 t=3", "lightning d=3,2,3 a=2,1 t=2"):
        answers = [dimension(spec, seed=seed) for seed in range(50)]
        assert {(a.dimension, a.label) for a in answers} == {(answers[0].dimension, "proven")}
        points = {tuple(replay.Source(a.certificate["prime"], a.certificate["seed"]).value("1.Q", k) for k in range(3)) for a in answers}
        assert len(points) == 50


def test_width_one_softmax_is_proven_only_through_shared_exponentials():
    """Scores of a width-one layer are symmetric: s_12 = s_21 identically. Counted as independent they would be refused."""
    for spec, value in {"softmax d=1,2 a=1 t=3": 3, "softmax d=3,1,2 a=1 t=3": 10, "softmax d=1,1 a=1 t=4": 2}.items():
        answer = dimension(spec)
        assert (answer.dimension, answer.label) == (value, "proven"), answer
        assert replay.replay(dumps(answer.certificate)).verdict == "valid"


def test_layer_norm_of_width_two_reads_a_line():
    """What is read is a multiple of one vector, plus the shift; floats with true exponentials find the same rank."""
    for spec, value in {
        "softmax d=2,2 a=4 t=4 heads=6 kv=3 skip norm=layer": 20,
        "softmax d=2,2 a=4 t=4 skip bias=ko norm=layer": 6,
        "softmax d=2,2,2,2 a=4 t=3 skip norm=layer": 16,
        "softmax d=2,2 a=2 t=3 heads=2 skip causal alibi bias=q norm=layer": 10,
    }.items():
        answer = dimension(spec)
        assert (answer.dimension, answer.label) == (value, "proven"), answer
        assert replay.replay(dumps(answer.certificate)).verdict == "valid"
        assert estimate_rank(parse(spec)).rank == value
        mutant = json.loads(dumps(answer.certificate))
        draws = mutant["exponents"]["draws"]
        mutant["exponents"]["draws"] = draws[:-1]
        assert replay.replay(json.dumps(mutant)).rule == "exponents"
