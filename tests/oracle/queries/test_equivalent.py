"""Symmetric images are equivalent, their twins with one thing wrong are not."""

from fractions import Fraction

import numpy as np
import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.queries.equivalent import equivalent
from neuromanifold.verifiers.points.alignment import act, aligned
from neuromanifold.verifiers.points.difference import find_difference
from neuromanifold.verifiers.points.theta import ThetaError, exact_theta
from neuromanifold.verifiers.symmetries import catalogue

NETWORKS = [
    "lightning d=2,3,2 a=2 t=2 heads=2",
    "lightning d=3,3 a=2 t=2 heads=4 kv=2 dv=2 skip causal",
    "lightning d=2,3,2 a=2 t=2 bias=qkvo",
    "softmax d=2,3,2 a=2 t=2 heads=2 bias=qkvo",
    "softmax d=3,3 a=2 t=3 heads=2 dv=2 skip norm=rms ffn=3:swiglu",
    "softmax d=2,2,2 a=2 t=2 skip norm=layer bias=qkvo ffn=2:gelu",
    "softmax d=2,3 a=2 t=3 causal alibi dv=2 ffn=2:1",
    "mlp d=2,3,2 r=1",
]


def matrix(n, seed):
    generator = np.random.default_rng(seed)
    made = np.array([[Fraction(int(v)) for v in row] for row in generator.integers(-3, 4, (n, n))], dtype=object)
    return made + np.diag([Fraction(11)] * n)  # diagonally dominant: invertible


@pytest.mark.parametrize("spec", NETWORKS)
def test_every_gl_symmetry_and_its_twin(draw, spec):
    network = parse(spec)
    theta = draw(network, 5)
    theta = {name: value + (value == 0) for name, value in theta.items()}
    tried = 0
    for field in catalogue(network):
        words = {word.replace(target, "X").replace("-1 X", "-X") for target, word in field.motion.items()}
        if field.variable.kind != "gl" or not words <= {"e X", "-X e", "-e' X"}:
            continue
        image = act(field, matrix(field.variable.shape[0], tried), theta)
        assert equivalent(network, theta, image).verdict == "equivalent", field
        for target in list(field.motion)[:2]:  # one tensor that did not move along
            name = target.partition("[")[0]
            twin = {**image, name: theta[name]}
            assert equivalent(network, theta, twin).verdict == "different", (field, target)
        tried += 1
    assert tried >= 1
    assert equivalent(network, theta, aligned(network, theta)).verdict == "equivalent"


@pytest.mark.parametrize(("spec", "verdict"), [("lightning d=3,3 a=2 t=2", "equivalent"), ("softmax d=3,3 a=2 t=2", "different")])
def test_rescaling_is_a_symmetry_of_lightning_only(draw, spec, verdict):
    theta = draw(parse(spec), 1)
    image = {**theta, "1.V": theta["1.V"] * 2, "1.K": theta["1.K"] / 2}
    assert equivalent(spec, theta, image).verdict == verdict


def test_rank_one_swap():
    spec = "lightning d=2,2 a=1 t=3"
    one = {"1.V": [[[1, 2], [2, 4]]], "1.K": [[[3, 5]]], "1.Q": [[[1, -1]]]}
    two = {"1.V": [[[3, 5], [6, 10]]], "1.K": [[[1, 2]]], "1.Q": [[[1, -1]]]}
    assert equivalent(spec, one, two).verdict == "equivalent"
    assert equivalent(spec.replace("lightning", "softmax"), one, two).verdict == "different"
    two["1.V"][0][1][1] = 11
    assert equivalent(spec, one, two).verdict == "different"


def test_mlp_identity_that_no_permutation_shows():
    """2 x y = (x + y)^2 - x^2 - y^2 = ((x + y)^2 - (x - y)^2) / 2."""
    one = {"1.W": [[1, 1], [1, 0], [0, 1]], "2.W": [[1, -1, -1]]}
    two = {"1.W": [[1, 1], [1, -1], [7, 7]], "2.W": [["1/2", "-1/2", 0]]}
    assert equivalent("mlp d=2,3,1 r=2", one, two).verdict == "equivalent"


def test_expanded_identity():
    """Two layers whose first is zero at one point and whose second is zero at the other: only the expansion shows it."""
    spec = "lightning d=2,2,2 a=1 t=2"
    network = parse(spec)
    zero = {name: np.zeros(shape, dtype=int) for name, shape in network.parameter_shapes()}
    one = {**zero, "1.V": np.ones((1, 2, 2), dtype=int), "1.Q": np.ones((1, 1, 2), dtype=int), "1.K": np.ones((1, 1, 2), dtype=int)}
    assert equivalent(spec, zero, one).verdict == "equivalent"


def test_heads_with_equal_scores_add_up(draw):
    spec = "softmax d=2,2 a=1 t=2 heads=2"
    theta = draw(parse(spec), 3)
    theta["1.Q"][1], theta["1.K"][1] = theta["1.Q"][0], theta["1.K"][0]
    moved = {name: value.copy() for name, value in theta.items()}
    moved["1.V"] = np.stack([theta["1.V"][0] + 5, theta["1.V"][1] - 5])
    assert equivalent(spec, theta, moved).verdict == "equivalent"
    moved["1.V"][1, 0, 0] += Fraction(1, 10**40)
    assert equivalent(spec, theta, moved).verdict == "different"


def test_difference_is_exact(draw):
    spec = "lightning d=2,2 a=1 t=2"
    theta = draw(parse(spec), 4)
    other = {**theta, "1.V": theta["1.V"] + 1}
    found = find_difference(parse(spec), exact_theta(parse(spec), theta), exact_theta(parse(spec), other))
    x, (i, j) = found.x, found.entry
    for point, value in ((theta, found.values[0]), (other, found.values[1])):
        scores = (point["1.K"][0] @ x).T @ (point["1.Q"][0] @ x)
        assert str((point["1.V"][0] @ x @ scores)[i, j]) == value
    assert found.exact


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"1.Q": None}, "1.Q"),
        ({"1.Z": [[1]]}, "no tensor '1.Z'"),
        ({"1.Q": [[1, 2]]}, "shape (1, 2)"),
        ({"1.Q": [[[1, float("nan")]]]}, "finite"),
        ({"1.Q": [[[1, float("inf")]]]}, "finite"),
        ({"1.Q": [[[1, "1e999999999"]]]}, "finite"),
        ({"1.Q": [[[1, "1/0"]]]}, "finite"),
        ({"1.Q": [[[1, True]]]}, "finite"),
        ({"1.Q": [[[1, [2]]]]}, "deeper"),
        ({"1.Q": [[[1], []]]}, "ragged"),
        ({"1.Q": [[[1, 2, 3]]]}, "more than 2"),
        ({"1.Q": [[[1, 1 << 20_000]]]}, "digits"),
        ({"1.Q": [[[1, "__import__('os')"]]]}, "finite"),
    ],
)
def test_bad_points(change, message):
    good = {"1.Q": [[[0, 0]]], "1.K": [[[3, 1]]], "1.V": [[[1, 0], [0, 1]]]}
    bad = {name: value for name, value in {**good, **change}.items() if value is not None}
    with pytest.raises(ThetaError) as error:
        equivalent("lightning d=2,2 a=1 t=2", good, bad)
    assert message in str(error.value)
    assert len(str(error.value)) < 700
