"""The command `symmetries`: the catalogue's share, and no linear field outside of it on networks that are proven."""

from __future__ import annotations

from fractions import Fraction

import pytest
from neuromanifold.numerics.network import UnsupportedNetwork
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.__main__ import main
from neuromanifold.verifiers.discovery import discover, rational


@pytest.mark.parametrize(
    "spec",
    ["lightning d=2,2 a=2 t=2", "softmax d=2,2 a=1 t=2 skip bias=k", "mlp d=2,2,2 r=2", "softmax d=2,1,2 a=1 t=2 bias=o"],
)
def test_no_linear_field_is_missing(spec: str) -> None:
    count, candidates = discover(parse(spec))
    assert count > 0 and candidates == []


def test_a_field_outside_the_catalogue_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from neuromanifold.verifiers import discovery

    monkeypatch.setattr(discovery, "symmetry_motions", lambda *_: [])
    count, candidates = discover(parse("lightning d=1,1 a=1 t=2"))
    assert count >= 2 and len(candidates) == 2  # gauge and scaling
    assert all("d1." in c.describe() for c in candidates)


def test_large_networks_are_refused() -> None:
    with pytest.raises(UnsupportedNetwork):
        discover(parse("softmax d=10,10,10 a=2 t=3"))


def test_rational_reconstruction() -> None:
    p = 2_097_143
    assert rational(pow(3, -1, p) * 2 % p, p) == Fraction(2, 3)
    assert rational(p - 1, p) == -1


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symmetries", "lightning d=2,2 a=2 t=2"]) == 0
    assert "gauge 1" in capsys.readouterr().out
    assert main(["symmetries", "lightning d=2,2 a=2 t=2", "--json"]) == 0
    assert '"upper": 7' in capsys.readouterr().out.replace('"upper":7', '"upper": 7')
