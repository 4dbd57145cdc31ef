"""Wrong claims are refuted by their smallest network, a right one over a large grid passes in time, with the real oracle."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from neuromanifold.oracle.gate.check import check_files
from neuromanifold.oracle.gate.claims import read_claims

SOURCES = Path(__file__).parents[2] / "ci" / "claims" / "lightning-attention.toml"


@pytest.mark.parametrize(
    ("claim", "smallest"),
    [
        ('network = "lightning d={d},{e} a={a} t=2"\nwhere = {d="1..4", e="1..4", a="1..4"}\nwhen = "a <= d"\n'
         'dimension = "2*a*d - a**2 + d*e"', "lightning d=1,1 a=1 t=2"),
        ('network = "lightning d={d} l={l} a={a} t=2 skip"\nwhere = {d="2..4", l="1..3", a="1..4"}\nwhen = "a <= d"\n'
         'dimension = "l*(2*a*d - a**2 + d**2)"', "lightning d=2,2 a=1 t=2 skip"),
        ('network = "lightning d={d} l={l} a={d} t=2"\nwhere = {d="2..6", l="1..4"}\nparameters = "3*d**2*l//2"',
         "lightning d=2,2 a=2 t=2"),
    ],
    ids=["minus one dropped", "skip", "ratio"],
)  # fmt: skip
def test_wrong_claims_are_refuted_by_the_smallest_network(tmp_path, claim, smallest):
    path = tmp_path / "x.toml"
    path.write_text(f'[[claim]]\n{claim}\nexpect = "refuted"')
    (result,) = check_files([path]).results
    assert (result.outcome, str(result.shown.instance), result.exit_code) == ("refuted", smallest, 0)
    path.write_text(f"[[claim]]\n{claim}")
    report = check_files([path])
    assert report.exit_code == 1 and str(report.results[0].shown.instance) == smallest


def test_a_right_claim_over_200_networks_passes_within_30_seconds(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(
        '[[claim]]\nnetwork = "lightning d={d},{e} a={a} t={t}"\nwhere = {d="1..6", e="1..5", a="1..6", t=[2, 3]}\n'
        'when = "a <= d"\ndimension = "2*a*d - a**2 + d*e - 1"'
    )
    start = time.process_time()
    (result,) = check_files([path]).results
    assert result.passed and result.counts == {"holds": 210}
    assert time.process_time() - start < 30


def test_the_claims_of_the_sources_are_readable_and_every_one_has_a_source():
    """`bash ci/test` checks them; each expected refutation stands beside claims that hold."""
    file = read_claims(SOURCES)
    assert not file.problems and len(file.claims) >= 39
    assert all(claim.source for claim in file.claims)
    assert {claim.expect for claim in file.claims} == {"holds", "refuted"}
