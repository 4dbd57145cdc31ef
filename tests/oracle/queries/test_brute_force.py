"""Two hundred random small cases, special points among them, against brute force."""

import random
from fractions import Fraction

import numpy as np
import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.queries.equivalent import equivalent
from neuromanifold.oracle.queries.fiber import fiber

SPECS = [
    "lightning d=2,2 a=1 t=2",
    "lightning d=2,2 a=2 t=2",
    "lightning d=3,2 a=2 t=2",
    "lightning d=2,2 a=1 t=2 heads=2",
    "lightning d=2,2 a=1 t=2 causal skip",
    "lightning d=2,2 a=1 t=2 bias=qkvo",
    "lightning d=2,2 a=2 t=1",
    "lightning d=2,2 a=1 t=2 heads=2 kv=1 dv=1",
    "lightning d=2,2,2 a=1 t=2",
    "lightning d=2,2 a=1 t=2 skip ffn=2:2",
    "softmax d=2,2 a=1 t=2",
    "softmax d=2,2 a=2 t=2",
    "softmax d=2,2 a=1 t=3 causal",
    "softmax d=2,2 a=1 t=2 heads=2",
    "softmax d=2,2 a=1 t=2 bias=qkvo",
    "softmax d=2,2 a=1 t=2 skip heads=2 kv=1 dv=1",
    "softmax d=2,2,1 a=1 t=2",
    "mlp d=2,2,2 r=2",
    "mlp d=2,3,1 r=3",
    "mlp d=2,2,2,1 r=2",
]
PLACES = ["generic", "zero tensor", "two zero tensors", "deficient", "rank one", "equal Q and K", "all zero", "huge denominators", "repeated heads", "sparse"]
ROUNDS = len(SPECS)


def special(theta, place, generator):
    names = list(theta)
    if place in ("zero tensor", "two zero tensors"):
        for name in generator.sample(names, min(len(names), 1 + (place == "two zero tensors"))):
            theta[name] = theta[name] * 0
    elif place == "deficient":
        name = generator.choice(names)
        theta[name][..., -1] = theta[name][..., 0] * 2
    elif place == "rank one":
        for value in theta.values():
            if value.ndim > 1 and value.shape[-2] > 1:
                value[..., 1:, :] = value[..., :1, :] * 3
    elif place == "equal Q and K":
        for name in names:
            if name.endswith(".K"):
                theta[name] = theta[name[:-1] + "Q"][: len(theta[name])].copy()
    elif place == "all zero":
        theta = {name: value * 0 for name, value in theta.items()}
    elif place == "huge denominators":
        theta = {name: value / 2_097_143 for name, value in theta.items()}
    elif place == "repeated heads":
        for value in theta.values():
            value[1:] = value[:1]
    elif place == "sparse":
        for value in theta.values():
            value[np.array([generator.random() < 0.6 for _ in range(value.size)]).reshape(value.shape)] = Fraction(0)
    return theta


def partners(network, theta, generator):
    """Other points: images under symmetries, wrong images, perturbed ones."""
    copy = {name: value.copy() for name, value in theta.items()}
    kind = generator.choice(["same", "gauge", "rescaled", "halved V", "perturbed", "tiny", "swapped heads", "transposed", "negated"])
    first = next(iter(theta))
    if kind == "gauge" and "1.Q" in theta and len(theta["1.K"]) == len(theta["1.Q"]):
        g = Fraction(generator.choice([-3, 2, 5]), 7)
        for name in ("1.Q", "1.bq"):
            if name in copy:
                copy[name] = copy[name] * g
        for name in ("1.K", "1.bk"):
            if name in copy:
                copy[name] = copy[name] / g
    elif kind == "rescaled" and "1.V" in theta:
        for name in ("1.V", "1.bv"):
            if name in copy:
                copy[name] = copy[name] * 3
        for name in ("1.K", "1.bk"):
            if name in copy:
                copy[name] = copy[name] / 3
    elif kind == "halved V":
        last = list(theta)[-1]
        copy[last] = copy[last] / 2
    elif kind in ("perturbed", "tiny"):
        name = generator.choice(list(theta))
        place = tuple(generator.randrange(n) for n in theta[name].shape)
        copy[name][place] += 1 if kind == "perturbed" else Fraction(1, 10**25)
    elif kind == "swapped heads":
        copy = {name: value[::-1].copy() if value.ndim > 1 else value for name, value in copy.items()}
    elif kind == "transposed" and "1.Q" in theta and theta["1.Q"].shape == theta["1.K"].shape:
        copy["1.Q"], copy["1.K"] = copy["1.K"], copy["1.Q"]
    elif kind == "negated":
        copy[first] = -copy[first]
    return copy


@pytest.mark.parametrize("round", range(ROUNDS))
def test_against_brute_force(brute, draw, round):
    network = parse(SPECS[round])
    undecided, known = 0, 0
    for k, place in enumerate(PLACES):
        generator = random.Random(100 * round + k)
        theta = special(draw(network, 100 * round + k), place, generator)
        two = partners(network, theta, generator)
        found = equivalent(network, theta, two)
        if found.verdict == "undecided":
            undecided += 1
        else:
            assert (found.verdict == "equivalent") == brute.same(network, theta, two), (place, found)
        near = fiber(network, theta)
        rank = brute.rank(network, theta)
        assert near.rank_lower <= rank <= near.rank_upper, (place, near, rank)
        assert near.lower <= near.upper
        known += near.rank == rank
        if near.rank is not None:
            assert near.position == ("generic" if rank == near.generic_dimension[1] else "exceptional"), (place, near, rank)
    assert undecided == 0
    assert known == len(PLACES)


def test_there_are_two_hundred():
    assert len(SPECS) * len(PLACES) == 200
