"""Sums of powers that do not fill their space: what the flattenings find is what exact ranks show."""

from __future__ import annotations

from math import comb

import pytest
from neuromanifold.numerics.evaluate import jacobian
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rank import rank
from neuromanifold.numerics.rings import DEFAULT_PRIME, PrimeField
from neuromanifold.verifiers import replay
from neuromanifold.verifiers.blocks import Block, function_dimension
from neuromanifold.verifiers.certificate import dumps, prove_bounds
from neuromanifold.verifiers.defects import defective, forms_dimension

RING = PrimeField(DEFAULT_PRIME)
DEFECTIVE = [(3, 5, 3, 2), (4, 5, 2, 3), (3, 5, 4, 1), (4, 9, 4, 1), (5, 14, 4, 1), (5, 7, 3, 1)]


def exact_rank(m: int, k: int, r: int, n: int) -> int:
    network = parse(f"mlp d={m},{k},{n} r={r}")
    program, point = record(network), Point(0, RING.p)
    drawn = point.inputs(program, range(network.parameters + 2))
    return rank(jacobian(program, RING, {**point.parameters(network), **drawn}), RING)


def test_exactly_these_lose_a_dimension_among_small_ones() -> None:
    tried = 0
    for m in range(2, 5):
        for r in range(2, 5):
            for n in range(1, 5):
                for k in range(max(m, n), 11):
                    if k * (m + n) > 90:
                        continue
                    tried += 1
                    space, found = n * comb(m + r - 1, r), exact_rank(m, k, r, n)
                    assert found <= forms_dimension((m, k, n), r), (m, k, r, n)
                    if k * (m + n - 1) >= space:
                        assert defective(m, k, r, n) == (found < space) == ((m, k, r, n) in DEFECTIVE), (m, k, r, n)
    assert tried >= 150, tried


@pytest.mark.parametrize(("m", "k", "r", "n"), DEFECTIVE)
def test_proven_and_one_power_more_fills(m: int, k: int, r: int, n: int) -> None:
    space = n * comb(m + r - 1, r)
    for powers, value in ((k, space - 1), (k + 1, space)):
        proof = prove_bounds(parse(f"mlp d={m},{powers},{n} r={r}"))
        assert (proof.lower, proof.upper) == (value, value)
        assert replay.replay(dumps(proof.certificate)).verdict == "valid"


def test_writer_and_checker_agree() -> None:
    cases = [(m, k, r, n) for m in range(1, 6) for k in range(1, 16) for r in range(1, 5) for n in range(1, 6)]
    assert all(replay.short(*c) == defective(*c) for c in cases)


@pytest.mark.parametrize(("spec", "space"), [("d=2,2 a=2 t=2 ffn=5:3", 20), ("d=3,3 a=2 t=2 ffn=5:2", 30)])
def test_an_ffn_with_a_power_and_bias_loses_the_same(spec: str, space: int) -> None:
    """With bias u its forms have one variable more; bias d adds constants, and the space is full again."""
    for bias, dimension in (("u", space - 1), ("ud", space)):
        network = parse(f"lightning {spec} skip bias={bias}")
        assert function_dimension(network, Block("ffn", 1)) == dimension
        assert replay.block_space(replay.Chart(replay.parse(str(network)), replay.Source(RING.p, 0)), 1, "ffn", 0) == dimension
        proof = prove_bounds(network)
        assert proof.lower == proof.upper
        assert replay.replay(dumps(proof.certificate)).verdict == "valid"


@pytest.mark.parametrize("spec", ["mlp d=3,5,2,4,1 r=3", "mlp d=4,4,3,4,5,3 r=2", "mlp d=4,4,3,5,2,2 r=3"])
def test_runs_of_deep_networks(spec: str) -> None:
    proof = prove_bounds(parse(spec))
    assert proof.lower == proof.upper
    certificate = proof.certificate
    assert replay.replay(dumps(certificate)).verdict == "valid"
    certificate["spec"] = certificate["upper"]["spec"] = spec.replace("r=3", "r=4").replace("r=2", "r=3")
    assert replay.replay(dumps(certificate)).verdict == "invalid"
