"""Verdicts: what holds, what is refuted and by which smallest network, and what stays apart from both."""

from __future__ import annotations

import io
import json

import pytest
from neuromanifold.numerics.network import UnsupportedNetwork
from neuromanifold.oracle.answer import Answer, Contradiction
from neuromanifold.oracle.gate.check import check_files, run_check
from neuromanifold.oracle.gate.claims import read_claims
from neuromanifold.oracle.gate.engines import engines
from neuromanifold.oracle.gate.verdict import judge

from .exact_rank import exact, labelled

SINGLE = """
[[claim]]
id = "single-layer"
network = "lightning d={d},{e} a={a} t=2"
where = { d = "1..4", e = "1..3", a = "1..4" }
when = "a <= d"
"""


def one(tmp_path, text: str, ask=exact):
    path = tmp_path / "x.claims.toml"
    path.write_text(text if "[[claim]]" in text else "[[claim]]\n" + text)
    report = check_files([path], ask=ask)
    (file,) = report.files
    assert not file.problems, file.problems
    (result,) = file.results
    assert report.exit_code == result.exit_code
    return result


NETWORK = 'network = "lightning d=3,3 a=2 t=2 skip"\n'  # dimension 16 of 21 parameters


@pytest.mark.parametrize(
    ("claim", "outcome", "code"),
    [
        ("dimension = 16", "holds", 0),
        ("dimension = 17", "refuted", 1),
        ('dimension = 17\nexpect = "refuted"', "refuted", 0),
        ('dimension = 16\nexpect = "refuted"', "holds", 1),
        ("at_least = 16", "holds", 0),
        ("at_least = 17", "refuted", 1),
        ("at_most = 16", "holds", 0),
        ("at_most = 15", "refuted", 1),
        ("parameters = 21", "holds", 0),
        ("parameters = 20", "refuted", 1),
        ("redundancy = 5", "holds", 0),
        ("redundancy = 4", "refuted", 1),
        ('same_dimension_as = "lightning d=3,3 a=2 t=3 skip"', "holds", 0),
        ('same_dimension_as = "softmax d=3,3 a=2 t=3 skip"', "refuted", 1),
        ("at_least = 10\nat_most = 20", "holds", 0),
        ("at_least = 10\nat_most = 12", "refuted", 1),
        ("fiber_dimension = 5", "holds", 0),
        ("fiber_dimension = 4", "refuted", 1),
        ("dimension = 16\ndegree = 3", "holds", 0),
        ("dimension = 16\ndegree = 2", "refuted", 1),
        ("dimension = 15\ndegree = 3", "refuted", 1),
        ('same_dimension_as = "lightning d=3"', "unusable", 2),
        ('where = { n = "5..1" }\nwhen = "n > 0"\ndimension = 16', None, 2),
        ('where = { n = "1..5" }\nwhen = "n > 5"\ndimension = 16', "vacuous", 5),
        ('where = { n = "1..5" }\nwhen = "n > 5"\ndimension = 16\nexpect = "refuted"', "vacuous", 5),
    ],
)
def test_outcomes(tmp_path, claim, outcome, code):
    if outcome is None:
        (tmp_path / "x.toml").write_text("[[claim]]\n" + NETWORK + claim)
        assert run_check([tmp_path / "x.toml"], stdout=io.StringIO(), ask=exact) == code
        return
    result = one(tmp_path, NETWORK + claim)
    assert (result.outcome, result.exit_code) == (outcome, code)


@pytest.mark.parametrize("require", ["proven", "formula", "numerical"])
@pytest.mark.parametrize("label", ["formula", "numerical", None])
def test_a_weaker_label_decides_nothing(tmp_path, require, label):
    """Bounds 15..17 around 16: only values outside are refuted whatever the label says."""
    counts = label is not None and (require == "numerical" or require == label)
    for value, inside, outcome in ((16, True, "holds"), (17, True, "refuted"), (18, False, "refuted")):
        claim = f'{NETWORK}dimension = {value}\nrequire = "{require}"'
        expected = outcome if counts or not inside else "undecided"
        assert one(tmp_path, claim, labelled(label, 1)).outcome == expected
    assert one(tmp_path, NETWORK + "dimension = 17", labelled(label, 1)).exit_code == 4
    for kind, value, outcome in (("at_least", 15, "holds"), ("at_least", 18, "refuted"), ("at_most", 17, "holds"),
                                 ("at_most", 14, "refuted"), ("at_least", 16, "undecided"), ("redundancy", 3, "refuted")):  # fmt: skip
        assert one(tmp_path, f"{NETWORK}{kind} = {value}", labelled(label, 1)).outcome == outcome


def test_the_grid_of_a_right_claim_holds_everywhere(tmp_path):
    result = one(tmp_path, SINGLE + 'dimension = "2*a*d - a**2 + d*e - 1"')
    assert (result.outcome, result.counts, result.points, result.left_out) == ("holds", {"holds": 30}, 48, 18)


def test_the_dropped_minus_one_is_refuted_by_the_smallest_network(tmp_path):
    result = one(tmp_path, SINGLE + 'dimension = "2*a*d - a**2 + d*e"')
    assert result.outcome == "refuted" and result.counts == {"refuted": 30}
    assert str(result.shown.instance) == "lightning d=1,1 a=1 t=2"
    assert result.shown.claimed == "dimension = 2" and "dimension = 1 (proven)" in result.shown.certified
    assert result.shown.answer.certificate["spec"] == "lightning d=1,1 a=1 t=2"


@pytest.mark.parametrize("hidden", [(2, 3, 2), (4, 2, 1), (3, 1, 3)])
def test_a_claim_wrong_at_one_point_only_is_refuted_there(tmp_path, hidden):
    d, e, a = hidden
    claim = SINGLE + f'dimension = "2*a*d - a**2 + d*e - max(0, 1 - (d-{d})**2 - (e-{e})**2 - (a-{a})**2) - 1"'
    result = one(tmp_path, claim)
    assert result.counts == {"holds": 29, "refuted": 1}
    assert result.shown.instance.values == {"d": d, "e": e, "a": a}


def test_a_refutation_that_is_expected_stops_at_the_smallest(tmp_path):
    asked = []

    def ask(spec):
        asked.append(spec)
        return exact(spec)

    result = one(tmp_path, SINGLE + 'dimension = "2*a*d - a**2 + d*e"\nexpect = "refuted"', ask)
    assert result.passed and result.exit_code == 0 and asked == ["lightning d=1,1 a=1 t=2"]


@pytest.mark.parametrize("expect", ["holds", "refuted"])
@pytest.mark.parametrize(
    ("error", "outcome", "code"),
    [
        (UnsupportedNetwork("alibi", "no alibi here"), "unsupported", 2),
        (Contradiction("two sources"), "contradiction", 3),
        (ZeroDivisionError("x"), "crashed", 3),
        (RecursionError(), "crashed", 3),
    ],
)
def test_what_an_engine_raises_is_a_finding_of_its_own(tmp_path, expect, error, outcome, code):
    def ask(spec):
        if "d=2,2 a=2" in spec:
            raise error
        return exact(spec)

    result = one(tmp_path, SINGLE + f'dimension = "2*a*d - a**2 + d*e - 1"\nexpect = "{expect}"', ask)
    assert (result.outcome, result.exit_code) == (outcome, code)
    assert str(result.shown.instance) == "lightning d=2,2 a=2 t=2" and result.counts["holds"] == 29


@pytest.mark.parametrize("expect", ["holds", "refuted"])
def test_a_kind_without_an_engine_is_unsupported_never_skipped(tmp_path, expect):
    path = tmp_path / "x.toml"
    path.write_text(f'[[claim]]\n{NETWORK}degree = 3\ndimension = 16\nexpect = "{expect}"')
    (claim,) = read_claims(path).claims
    table = engines(exact)
    assert judge(claim, table).outcome == "holds"
    for kind in ("degree", "dimension"):
        result = judge(claim, {k: v for k, v in table.items() if k != kind})
        assert (result.outcome, result.exit_code, result.counts) == ("unsupported", 2, {})
        assert f"no engine for {kind}" in result.message


@pytest.mark.parametrize(
    ("network", "degree"),
    [("lightning d=2,3 a=2 t=2", 3), ("lightning d=2 l=3 a=1 t=2", 27), ("lightning d=2 l=2 a=2 t=2 skip causal", 9),
     ("lightning d=2,2 a=2 t=3 rope bias=qkvo", 3), ("lightning d=2,2 a=1 t=2 ffn=2:2", 6), ("mlp d=2,3,3,1 r=2", 4)],
)  # fmt: skip
def test_degrees(tmp_path, network, degree):
    for value, outcome in ((degree, "holds"), (degree - 1, "refuted"), (degree + 1, "refuted")):
        assert one(tmp_path, f'network = "{network}"\ndegree = {value}').outcome == outcome


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [("virtual-weights", "holds"), ("not-symmetric-key-two-tokens", "refuted"), ("virtual-wights", "unusable")],
)
def test_claims_of_the_catalogue(tmp_path, claim, outcome):
    result = one(tmp_path, f'proved = "{claim}"')
    assert result.outcome == outcome
    assert outcome != "unusable" or "did you mean 'virtual-weights" in result.shown.certified


def test_ctrl_c_is_not_a_finding(tmp_path):
    def ask(spec):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one(tmp_path, NETWORK + "dimension = 1", ask)


def test_the_worst_outcome_decides(tmp_path):
    """Refuted, unsupported, undecided, vacuous and crashed in one file: 3, then 1, 2, 4, 5 as they are removed."""
    claims = {
        3: 'network = "lightning d=9,9 a=1 t=2"\ndimension = 1',
        1: NETWORK + "dimension = 17",
        2: 'network = "softmax d=3,3 a=2 t=3"\ndegree = 3',
        4: 'network = "lightning d=1,1 a=1 t=3"\ndimension = 1',
        5: NETWORK + 'where = { n = "1..5" }\nwhen = "n > 5"\ndimension = 16',
        0: NETWORK + "dimension = 16",
    }

    def ask(spec):
        if "d=9,9" in spec:
            raise RuntimeError("boom")
        return Answer(spec, None, None, 0, 3, 3) if "t=3" in spec else exact(spec)

    path = tmp_path / "x.toml"
    remaining = list(claims)
    while remaining:
        path.write_text("".join(f"[[claim]]\n{claims[c]}\n" for c in reversed(remaining)))
        out = io.StringIO()
        assert run_check([path], format="json", stdout=out, ask=ask) == remaining[0]
        assert json.loads(out.getvalue())["exit"] == remaining.pop(0)
    path.write_text("")
    assert run_check([path], stdout=io.StringIO(), ask=ask) == 5
    assert run_check([], stdout=io.StringIO(), ask=ask) == 5


def test_claims_about_one_network_ask_once(tmp_path):
    asked = []

    def ask(spec):
        asked.append(spec)
        return exact(spec)

    path = tmp_path / "x.toml"
    path.write_text(f"[[claim]]\n{NETWORK}dimension = 16\n[[claim]]\n{NETWORK}at_most = 20\nparameters = 21")
    assert check_files([path, path], ask=ask).exit_code == 0
    assert len(asked) == 1
