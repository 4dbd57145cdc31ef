"""Networks: every cross-condition, canonical values, sizes and parameter shapes."""

from __future__ import annotations

import pytest
from neuromanifold.numerics.network import MAX_LAYERS, MAX_SIZE, Ffn, Network, NetworkError
from neuromanifold.numerics.notation import parse

BASE = {"kind": "lightning", "d": (3, 3), "a": (2,), "t": 2}
BAD = (
    ({"kind": "relu"}, "unknown kind 'relu'"),
    ({"d": (3,)}, "at least two widths"),
    ({"d": (3,) * (MAX_LAYERS + 2), "a": (2,) * (MAX_LAYERS + 1)}, "1001 layers are more"),
    ({"d": (3, 0)}, "d=0 is out of range"),
    ({"d": (3, MAX_SIZE + 1)}, "d=1000001 is out of range"),
    ({"a": (-1,)}, "a=-1 is out of range"),
    ({"t": 0}, "t=0 is out of range"),
    ({"a": (2, 2)}, "a has 2 values for 1 layers"),
    ({"heads": (4,), "kv": (3,)}, "heads=4 is not a multiple of kv=3"),
    ({"heads": (2,), "kv": (4,)}, "heads=2 is not a multiple of kv=4"),
    ({"a": (3,), "rope": True}, "a=3 must be even (nearest: a=4)"),
    ({"d": (3, 2), "skip": True}, "skip needs equal widths"),
    ({"norm": "rms"}, "norm is defined with skip"),
    ({"norm": "batch", "skip": True}, "unknown norm 'batch'"),
    ({"window": 2}, "window is defined with causal"),
    ({"window": 0, "causal": True}, "window=0 is out of range"),
    ({"alibi": True}, "alibi is defined for softmax only"),
    ({"bias": "qz"}, "bias=qz"),
    ({"bias": "qu"}, "bias letters u and d belong to ffn"),
    ({"ffn": (Ffn(0, 2),)}, "hidden units are"),
    ({"ffn": (Ffn(2, "relu"),)}, "the activation is"),
    ({"ffn": (Ffn(2, 0),)}, "the activation is"),
    ({"r": 2}, "r belongs to mlp"),
    ({"kind": "mlp", "a": ()}, "an mlp needs its power"),
    ({"kind": "mlp", "r": 2}, "an mlp has no a"),
    ({"kind": "mlp", "a": (), "r": 65}, "r=65 is out of range"),
)


@pytest.mark.parametrize(("change", "message"), BAD, ids=[m for _, m in BAD])
def test_inconsistent_descriptions_are_refused(change, message):
    with pytest.raises(NetworkError) as refusal:
        Network(**{**BASE, **change})
    assert message in str(refusal.value)


def test_equal_networks_compare_equal():
    assert Network(**BASE) == Network(**BASE, heads=(1,), kv=(1,))
    assert hash(Network(**BASE)) == hash(Network(**BASE, heads=(1,)))
    assert Network(**BASE, bias="ok").bias == "ko"
    assert Network(**BASE, causal=True, window=2) == Network(**BASE, causal=True)
    assert Network("mlp", (2, 3), t=7, r=2) == Network("mlp", (2, 3), r=2)


def test_groups_of_heads():
    layer = parse("lightning d=3,3 a=2 t=2 heads=6 kv=3").layers[0]
    assert [layer.group_of(h) for h in range(6)] == [0, 0, 1, 1, 2, 2]
    assert [list(layer.heads_of(g)) for g in range(3)] == [[0, 1], [2, 3], [4, 5]]


def test_masks():
    causal = parse("softmax d=3,3 a=2 t=4 causal")
    window = parse("softmax d=3,3 a=2 t=4 causal window=2")
    for key in range(4):
        for query in range(4):
            assert parse("softmax d=3,3 a=2 t=4").sees(key, query)
            assert causal.sees(key, query) == (key <= query)
            assert window.sees(key, query) == (key <= query and key > query - 2)


@pytest.mark.parametrize(
    ("spec", "shapes"),
    [
        ("mlp d=2,3,1 r=2", {"1.W": (3, 2), "2.W": (1, 3)}),
        ("lightning d=3,2 a=4 t=2", {"1.Q": (1, 4, 3), "1.K": (1, 4, 3), "1.V": (1, 2, 3)}),
        (
            "softmax d=4,4 a=2 t=3 heads=4 kv=2 dv=3 skip bias=qkvoud norm=layer ffn=5:swiglu",
            {
                "1.g1": (4,), "1.s1": (4,), "1.Q": (4, 2, 4), "1.K": (2, 2, 4), "1.V": (2, 3, 4), "1.O": (4, 4, 3), "1.bq": (4, 2), "1.bk": (2, 2),
                "1.bv": (2, 3), "1.bo": (4,), "1.g2": (4,), "1.s2": (4,), "1.G": (5, 4), "1.U": (5, 4), "1.D": (4, 5), "1.bu": (5,), "1.bd": (4,),
            },
        ),
    ],
)  # fmt: skip
def test_parameters_in_order(spec, shapes):
    """Names, shapes and order of CERTIFICATES section 2: columns of every Jacobian."""
    network = parse(spec)
    assert list(network.parameter_shapes()) == list(shapes.items())
    total = 0
    for shape in shapes.values():
        size = 1
        for s in shape:
            size *= s
        total += size
    assert network.parameters == total


def test_huge_networks_are_counted_without_arrays():
    network = parse("softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope norm=rms ffn=14336:swiglu")
    per_layer = 4096 * 2 + 4096 * 128 * (32 + 8 + 8 + 32) + 3 * 4096 * 14336
    assert network.parameters == 32 * per_layer


def test_what_acts():
    assert not parse("lightning d=2,2 a=2 t=1 rope").rotates and parse("lightning d=2,2 a=2 t=2 rope").rotates
    assert parse("softmax d=2,2 a=2 t=3 causal window=1").sees_itself_only
    assert parse("lightning d=2,2 a=2 t=1 ffn=2:silu").transcendental and not parse("lightning d=2,2 a=2 t=1 ffn=2:2").transcendental
