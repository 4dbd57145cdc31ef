"""The command `symmetries`: the catalogue's share, and no linear field outside of it on networks that are proven."""

from __future__ import annotations

from fractions import Fraction

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.__main__ import main
from neuromanifold.verifiers.discovery import discover, rational


@pytest.mark.parametrize(
    "spec",
    ["lightning d=2,2 a=2 t=2", "softmax d=2,2 a=1 t=2 skip bias=k", "mlp d=2,2,2 r=2", "softmax d=2,1,2 a=1 t=2 bias=o"],
)
def test_no_linear_field_is_missing(spec: str) -> None:
    search = discover(parse(spec))
    assert search.solutions > 0
    assert search.found == search.unproved == ()


def test_a_field_outside_the_catalogue_is_found_and_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    from neuromanifold.verifiers import discovery

    monkeypatch.setattr(discovery, "symmetry_motions", lambda *_: [])
    search = discover(parse("lightning d=1,1 a=1 t=2"))
    assert search.solutions >= 2
    assert len(search.found) == 2  # gauge and scaling
    assert all("d1." in field.describe() for field in search.found)


def test_rational_reconstruction() -> None:
    p = 2_097_143
    assert rational(pow(3, -1, p) * 2 % p, p) == Fraction(2, 3)
    assert rational(p - 1, p) == -1


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symmetries", "lightning d=2,2 a=2 t=2"]) == 0
    assert "gauge 1" in capsys.readouterr().out
    assert main(["symmetries", "lightning d=2,2 a=2 t=2", "--json"]) == 0
    assert '"upper": 7' in capsys.readouterr().out.replace('"upper":7', '"upper": 7')


def test_the_command_prints_found_fields(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from neuromanifold.verifiers import discovery, upper

    monkeypatch.setattr(upper, "symmetry_motions", lambda *_: [])
    monkeypatch.setattr(discovery, "symmetry_motions", lambda *_: [])
    assert main(["symmetries", "lightning d=1,1 a=1 t=2"]) == 0
    printed = capsys.readouterr().out
    assert "dimension at most 1" in printed
    assert main(["symmetries", "softmax d=2,2 a=1 t=2 skip bias=q"]) == 0
    printed = capsys.readouterr().out
    assert "found 1" in printed
    assert "proved for all parameters and inputs; the catalogue alone gives at most 9:" in printed
    assert "d1.Q[0,0,0] = " in printed


def test_large_networks_are_not_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symmetries", "softmax d=10,10,10 a=2 t=3"]) == 0
    assert "not searched for more" in capsys.readouterr().out


def test_large_networks_are_counted_by_their_chart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symmetries", "softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope"]) == 0
    out = capsys.readouterr().out
    assert "1342177280 parameters, dimension at most 1337950208" in out
    assert "4194304  value-gauge" in out
    assert main(["symmetries", "softmax d=768 l=12 a=64 dv=64 heads=12 t=8 skip norm=layer"]) == 2
    err = capsys.readouterr().err
    assert "no chart is known: LayerNorm: covered with the biases q, v, o" in err
    assert "smaller sizes of the same structure" in err
