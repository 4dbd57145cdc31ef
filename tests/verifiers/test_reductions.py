"""Rewrites keep the exact rank, and a size less would not; the dimensions of blocks are those of their functions."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import PrimeField
from neuromanifold.verifiers.attention_space import attention_dimension
from neuromanifold.verifiers.certificate import dumps, prove_bounds
from neuromanifold.verifiers.lower import rank_lower_bound
from neuromanifold.verifiers.reductions import Reduction, reduce
from neuromanifold.verifiers.replay import replay

sys.path.insert(0, str(Path(__file__).parents[1]))
from networks import random_networks

RING = PrimeField()


def rank(network: Network) -> int:
    return rank_lower_bound(network, record(network), 3, RING, network.parameters).value


def polynomial_networks(count: int, seed: int) -> list[Network]:
    """Random networks without exponentials and norms that some rewrite applies to."""
    found = []
    for network in random_networks(40 * count, seed):
        soft = network.kind == "softmax" and not network.sees_itself_only
        if network.kind == "mlp" or soft or network.norm or any(f.power is None for f in network.ffn or ()):
            continue
        if reduce(network)[0]:
            found.append(network)
    return found[:count]


def test_rewrites_keep_the_rank_of_random_networks() -> None:
    tried: Counter[str] = Counter()
    for network in polynomial_networks(250, seed=11):
        steps, small = reduce(network)
        assert rank(network) == rank(small), (network, steps)
        tried.update(step.rule for step in steps)
    assert all(tried[rule] >= 10 for rule in ("head-width", "group-heads", "value-width", "hidden-width", "hidden-units", "single-heads")), tried


@pytest.mark.parametrize(
    ("spec", "rule", "layer", "size", "dimensions"),
    [
        ("lightning d=1,4,2 a=2 t=2 heads=4 rope", "hidden-width", 1, 1, (14, 5)),
        ("lightning d=2,4,3 a=1 t=2 bias=d ffn=1:3", "hidden-width", 1, 1, (12, 10)),
        ("lightning d=2,2 a=1 t=2 skip ffn=4:2", "hidden-units", 1, 1, (12, 9)),
        ("lightning d=1,3 a=1 t=2 dv=1 bias=u ffn=4:2", "hidden-units", 1, 2, (9, 8)),
        ("lightning d=1,3 a=2 t=2 heads=4 rope", "single-heads", 1, 1, (6, 4)),
        ("lightning d=1,3 a=1 t=2 heads=3 bias=k", "single-heads", 1, 1, (6, 4)),
    ],
)
def test_a_smaller_network_has_a_smaller_dimension(spec: str, rule: str, layer: int, size: int, dimensions: tuple[int, int]) -> None:
    """Why the checker refuses these sizes: the dimension drops."""
    network = parse(spec)
    assert (rank(network), rank(Reduction(rule, layer, size).apply(network))) == dimensions


def test_a_lightning_layer_has_at_most_the_dimensions_of_its_features() -> None:
    """Many heads attain the bound (with rotations and both of k, v not always), few stay below it."""
    draw, attained, mechanisms = random.Random(5), 0, Counter[str]()
    for _ in range(300):
        rope, causal = draw.random() < 0.6, draw.random() < 0.4
        network = Network(
            "lightning",
            (draw.randint(1, 2), draw.randint(1, 2)),
            (draw.choice((2, 4) if rope else (1, 2, 3)),),
            draw.randint(1, 3),
            heads=(heads := draw.choice((1, 2, 10)),),
            kv=(heads,),
            dv=draw.choice((None, (1,), (2,))),
            causal=causal,
            window=2 if causal and draw.random() < 0.4 else None,
            rope=rope,
            bias="".join(c for c in "qkvo" if draw.random() < 0.5),
        )
        found, bound = rank(network), attention_dimension(network, network.layers[0])
        assert bound is not None and found <= bound, network
        attained += found == bound
        if heads == 10 and not (rope and {"k", "v"} <= set(network.bias)):
            assert found == bound, (network, found, bound)
            mechanisms.update([*network.bias, "rope" * rope, "causal" * causal, f"t={network.t}", "window" * bool(network.window)])
    assert attained > 130 and min(mechanisms[k] for k in ("q", "k", "v", "o", "rope", "causal", "t=1", "t=3", "window")) >= 5


@pytest.mark.parametrize(
    ("spec", "dimension"),
    [
        ("lightning d=3,3,2,2 a=1 t=2 heads=3,1,3", 44),
        ("lightning d=2,2,1 a=1 t=3 heads=1,3 bias=q", 10),
        ("lightning d=2,2,2 a=1,2 t=3 heads=1,3 ffn=2:2", 14),
        ("lightning d=3,3,3 a=1,3 t=3 ffn=1:2", 9),
        ("lightning d=1,2,2,2 a=1,1,2 t=3 heads=2,2,3 causal", 2),
        ("lightning d=2,2,2 a=1,2 t=3 heads=1,3", 10),
        ("lightning d=2,2,2 a=1,2 t=3 heads=1,3 causal", 14),
        ("lightning d=2,2,2 a=1,2 t=3 heads=1,3 bias=o", 18),
        ("lightning d=2,2,2 a=2 t=3 heads=1,3", 15),
        ("lightning d=2,2,2 a=1,2 t=3 heads=2,3", 20),
    ],
)
def test_streams_of_rank_one(spec: str, dimension: int) -> None:
    """The last four lack one condition each: they have more dimensions."""
    network = parse(spec)
    proof = prove_bounds(network)
    assert proof.lower == rank(network) == proof.upper == dimension
    assert replay(dumps(proof.certificate)).verdict == "valid"


def test_linear_blocks_of_random_networks() -> None:
    """All without biases are proven, and many with them (constants have more fields together with linear blocks)."""
    draw, proven, moved = random.Random(8), 0, 0
    for _ in range(40):
        n, l, alone = draw.randint(1, 3), draw.randint(1, 3), draw.random() < 0.5
        text = f"softmax d={n} l={l} a=1 t={1 if alone else 2} skip" + " dv=2" * (draw.random() < 0.5)
        text += f" bias={''.join(c for c in 'vou' if draw.random() < 0.5) or 'o'}" if draw.random() < 0.5 else ""
        network = parse(text + f" ffn={draw.randint(1, 2)}:{draw.choice(('silu', '3') if alone else ('1',))}")
        proof = prove_bounds(network)
        assert proof.lower == rank(network) <= proof.upper, network
        assert proof.lower == proof.upper or network.bias, network
        proven += proof.lower == proof.upper
        used = any(f["field"] == "linear-blocks" for f in proof.certificate["upper"].get("fields", []))
        moved += used
        if used:
            assert replay(dumps(proof.certificate)).verdict == "valid", network
    assert proven >= 25 and moved >= 20, (proven, moved)


def test_bounds_of_one_token_hold_and_replay() -> None:
    draw = random.Random(3)
    for _ in range(24):
        skip, l = draw.random() < 0.4, draw.randint(1, 2)
        d = [draw.randint(1, 2)] * (l + 1) if skip else [draw.choice((1, 2, 4)) for _ in range(l + 1)]
        ffn = f" ffn={draw.randint(1, 4)}:{draw.randint(1, 3)}" * (l == 1 or draw.random() < 0.3)
        letters = "".join(c for c in "qkvo" + "ud" * bool(ffn) if draw.random() < 0.2)
        network = parse(f"lightning d={','.join(map(str, d))} a=2 t=1 heads=2" + " skip" * skip + f" bias={letters}" * bool(letters) + ffn)
        proof = prove_bounds(network)
        assert proof.lower == rank(network) <= proof.upper, network
        assert replay(dumps(proof.certificate)).verdict == "valid", network


def test_koszul_with_a_constant_in_the_query_replays() -> None:
    """c^T (x, 1): with bias q alone the constant counts too."""
    proof = prove_bounds(parse("lightning d=4,4,1 a=2 t=1 heads=2 bias=q"))
    assert proof.lower == proof.upper == 67
    assert replay(dumps(proof.certificate)).verdict == "valid"


def test_free_scores_of_grouped_heads_with_a_key_bias_replay() -> None:
    """With keys of their own the heads need a = m, not m + 1."""
    network = parse("lightning d=1,4,4 a=2 t=2 heads=1,4 kv=1,2 dv=1,2 bias=kvo")
    proof = prove_bounds(network)
    assert proof.lower == rank(network) <= proof.upper
    assert replay(dumps(proof.certificate)).verdict == "valid"


def test_free_scores_of_heads_of_which_few_rows_are_read_replay() -> None:
    """The value width that heads need, before it is made square, is that of the rows that the ffn reads."""
    network = parse("lightning d=3,2 a=1 t=1 heads=3 kv=1 dv=3 ffn=1:2")
    proof = prove_bounds(network)
    assert proof.lower == rank(network) <= proof.upper == 11
    assert replay(dumps(proof.certificate)).verdict == "valid"
