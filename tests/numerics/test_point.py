"""The expansion of a seed, as `verifiers/CERTIFICATES.md` section 3 states it; known answers."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point, words

P = 2_097_143
KNOWN_X = [9742287192649994855, 8663962231108647873, 16583368322839521027]
KNOWN_Q = [681834, 1963838, 2062782, 1058466]


def stream(seed: int, label: str, count: int) -> list[int]:
    """SHAKE-256 of `neuromanifold:SEED:LABEL`, in 8-byte little-endian words: Python integers, one by one."""
    data = hashlib.shake_256(f"neuromanifold:{seed}:{label}".encode()).digest(8 * count)
    return [int.from_bytes(data[8 * i : 8 * i + 8], "little") for i in range(count)]


def test_known_answer():
    """Written down once: a change of the expansion would silently invalidate every certificate."""
    assert [int(w) for w in words(0, "X", 3)] == KNOWN_X
    assert Point(7, P).values("1.Q", 4).tolist() == KNOWN_Q


@pytest.mark.parametrize(("seed", "label"), [(0, "X"), (7, "1.Q"), (12345678901234567890, "exponents/3/twin/2.e")])
def test_words_are_the_stated_stream(seed, label):
    assert [int(w) for w in words(seed, label, 50)] == stream(seed, label, 50)
    assert np.array_equal(words(seed, label, 50)[:20], words(seed, label, 20))


def test_values_and_units():
    point = Point(3, P)
    w = stream(3, "1.e", 500)
    assert point.values("1.e", 500).tolist() == [v % P for v in w]
    assert point.units("1.e", 500).tolist() == [1 + v % (P - 1) for v in w]
    assert Point(3, 3).units("1.e", 500).min() == 1
    assert Point(3, P, "exponents/4/").values("X", 5).tolist() == [v % P for v in stream(3, "exponents/4/X", 5)]


def test_parameters_row_major_by_name():
    network = parse("softmax d=3,2 a=2 t=2 heads=2 bias=qo")
    params = Point(5, P).parameters(network)
    assert list(params) == ["1.Q", "1.K", "1.V", "1.bq", "1.bo"]
    for name, shape in network.parameter_shapes():
        w = stream(5, name, math.prod(shape))
        for flat, index in enumerate(np.ndindex(*shape)):
            assert params[name][index] == w[flat] % P


def test_inputs_by_number():
    """Entry w_((n*d_0 + i)*t + j) of X; units w_(((n*heads + h)*t + i)*t + j) of the scores; any set of numbers."""
    network = parse("softmax d=3,2 a=2 t=2 heads=2")
    found = Point(5, P).inputs(record(network), [4, 1])
    x, e = stream(5, "X", 5 * 6), stream(5, "1.e", 5 * 8)
    assert found["X"].shape == (2, 3, 2) and found["1.e"].shape == (2, 2, 2, 2)
    for position, n in enumerate([4, 1]):
        for i, j in np.ndindex(3, 2):
            assert found["X"][position, i, j] == x[n * 6 + i * 2 + j] % P
        for h, i, j in np.ndindex(2, 2, 2):
            assert found["1.e"][position, h, i, j] == 1 + e[((n * 2 + h) * 2 + i) * 2 + j] % (P - 1)


def test_width_one_units_are_symmetric():
    """`L.e` at (min(i,j), max(i,j)), and `L.f` for the key part."""
    found = Point(5, P).inputs(record(parse("softmax d=1,2 a=2 t=3 bias=q")), [0, 2])
    e, f = stream(5, "1.e", 3 * 9), stream(5, "1.f", 3 * 3)
    for position, n in enumerate([0, 2]):
        for i, j in np.ndindex(3, 3):
            assert found["1.e"][position, 0, i, j] == 1 + e[(n * 3 + min(i, j)) * 3 + max(i, j)] % (P - 1)
        assert found["1.f"][position, 0].tolist() == [1 + f[n * 3 + i] % (P - 1) for i in range(3)]


def test_constants():
    """rope: values; alibi and gelu: units; the same for all layers, longest use first; slopes absorbed by units are 0."""
    rope = Point(5, P).constants(record(parse("lightning d=2,2,2 a=2,4 t=2 rope")))
    assert rope["rope"].tolist() == [v % P for v in stream(5, "rope", 2)]
    alibi = Point(5, P).constants(record(parse("softmax d=1,2,2 a=1 t=2 heads=3,2 alibi")))
    assert np.ravel(alibi["alibi"]).tolist() == [1 + v % (P - 1) for v in stream(5, "alibi", 3)]
    assert np.ravel(alibi["alibi-slope"]).tolist() == [0, 0]
    gelu = Point(5, P).constants(record(parse("lightning d=2,2 a=1 t=1 ffn=2:gelu")))
    assert np.ravel(gelu["gelu"]).tolist() == [1 + v % (P - 1) for v in stream(5, "gelu", 1)]


def test_fifty_seeds_are_distinct_points():
    network = parse("lightning d=3,3 a=2 t=2")
    assert len({Point(seed, P).parameters(network)["1.Q"].tobytes() for seed in range(50)}) == 50
