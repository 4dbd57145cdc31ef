"""The arithmetic of large replays: the same ranks as Python integers give, and nothing valid that is not."""

from __future__ import annotations

import random

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle import verify
from neuromanifold.verifiers import fastranks, replay
from neuromanifold.verifiers.certificate import dumps, prove_bounds

P = 2097143


@pytest.mark.parametrize("rank", [0, 1, 7, 40, 60])
def test_the_same_rank_as_python_integers(monkeypatch, rank):
    monkeypatch.setattr(fastranks, "LEAST", 30)
    rng, slow, ranks = random.Random(rank), replay.Packed(P), fastranks.FastRanks()
    fast = ranks(P)
    a = [[rng.randrange(P) for _ in range(rank)] for _ in range(60)]
    b = [[rng.randrange(P) for _ in range(70)] for _ in range(rank)]
    product = [[sum(x * y for x, y in zip(r, c, strict=True)) % P for c in zip(*b, strict=True)] if rank else [0] * 70 for r in a]
    rows = [slow.pack(dict(enumerate(row))) for row in product]
    assert fast.rank(rows) == slow.rank(rows) == rank
    assert ranks.used == 1
    assert fast.rank(rows[:29]) == min(rank, 29) and ranks.used == 1


def test_other_primes_are_left_to_python_integers():
    assert type(fastranks.FastRanks()(2147483647)) is replay.Packed


def test_a_large_certificate_names_what_it_rests_on(monkeypatch):
    monkeypatch.setattr(fastranks, "LEAST", 20)
    monkeypatch.setattr(replay.Packed, "largest", 20)
    good = prove_bounds(parse("lightning d=4,4,4 a=2 t=3 bias=q")).certificate
    assert replay.replay(dumps(good)).rule == "caps"
    verdict = verify(good)
    assert (verdict.verdict, verdict.lower, verdict.upper) == ("valid", 42, 42)
    assert "numpy" in verdict.trusted and verdict.trusted in str(verdict)
    dependent = {**good, "lower": {**good["lower"], "rows": "0-41"}}  # more rows of one input than are independent
    assert (verify(dependent).verdict, verify(dependent).rule) == ("invalid", "minor")
