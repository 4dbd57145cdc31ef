"""Random networks of the whole notation: how many are proven, and never a bound that the exact rank contradicts."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from neuromanifold.numerics.network import Network
from neuromanifold.verifiers import replay
from neuromanifold.verifiers.certificate import dumps, prove_bounds

sys.path.insert(0, str(Path(__file__).parents[1]))
from networks import random_networks

PROVEN = 0.98  # the share that has to be proven


def mechanisms(n: Network) -> set[str]:
    """What a network exercises."""
    table = {
        n.kind: True,
        "one token": n.t == 1,
        "heads": any(h > 1 for h in n.heads),
        "groups": n.heads != n.kv,
        "dv": n.dv is not None,
        "deep": n.l > 1,
        "a > d": any(y.a > y.m for y in n.layers),
        "per layer": len(set(n.a)) > 1,
        "window": n.window is not None,
        **{name: bool(getattr(n, name)) for name in ("skip", "causal", "rope", "alibi", "bias")},
        f"norm={n.norm}": bool(n.norm),
        **{f"bias {letter}": True for letter in n.bias},
        **{f"ffn {f.activation}": True for f in n.ffn or ()},
    }
    return {name for name, holds in table.items() if holds}


def check(count: int, seed: int) -> None:
    proven, seen, still_open = 0, Counter[str](), []
    for k, network in enumerate(random_networks(count, seed)):
        seen.update(mechanisms(network))
        proof = prove_bounds(network)
        assert proof.lower <= proof.upper, f"{network}: {proof.lower} > {proof.upper}"
        if proof.lower == proof.upper:
            proven += 1
        else:
            still_open.append(f"{network}: {proof.lower}..{proof.upper}")
        if k % 4 == 0 and proof.certificate:
            assert replay.replay(dumps(proof.certificate)).verdict == "valid", network
    print(f"{proven} of {count} random networks proven", *still_open, sep="\n")
    assert proven >= PROVEN * count
    assert len(seen) >= 30
    assert min(seen.values()) >= count // 200, seen


def test_random_networks() -> None:
    check(200, seed=1)


@pytest.mark.slow
def test_two_thousand_random_networks() -> None:
    check(2000, seed=0)
