"""The catalogue: what it lists, and that every claim ends as it should."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from neuromanifold.verifiers.claims import catalogue, prove
from neuromanifold.verifiers.claims.fieldclaims import COVERS, UNCLAIMED
from neuromanifold.verifiers.claims.model import FAMILIES, Check, Claim, RouteResult, Verdict, combine, run_claim

CLAIMS = catalogue()
QUICK = [claim for claim in CLAIMS if claim.quick]
SLOW = [claim for claim in CLAIMS if not claim.quick]


def test_ids_are_kebab_case_and_unique():
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids) >= 60
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in ids)


def test_every_claim_states_scope_source_and_two_families():
    for claim in CLAIMS:
        assert claim.title and claim.statement and claim.scope and claim.source
        assert len(claim.routes) == len(set(claim.routes)), claim.id
        if claim.expect != "unknown":
            assert len({FAMILIES[route] for route in claim.routes}) >= 2, claim.id
        else:
            assert claim.reason


def test_at_most_one_in_ten_is_open():
    assert 10 * sum(claim.expect == "unknown" for claim in CLAIMS) <= len(CLAIMS)


def test_every_field_of_the_certificate_table_is_covered():
    text = (Path(__file__).parents[2] / "verifiers" / "CERTIFICATES.md").read_text(encoding="utf-8")
    table = text.split("| field | variable |")[1].split("\n\n")[0]
    cells = [re.sub(r"\([^)]*\)", "", line.split("|")[1]) for line in table.splitlines()[2:]]
    fields = {name for cell in cells for name in re.findall(r"`([a-z-]+)`", cell)}
    assert len(fields) >= 20
    assert fields == set(COVERS) | UNCLAIMED
    assert not UNCLAIMED & set(COVERS)
    ids = {claim.id for claim in CLAIMS}
    assert all(f"field-{name}" in ids for names in COVERS.values() for name in names)


def check(claim):
    outcome = next(iter(prove([claim.id])))
    assert outcome.status == claim.expect, [(r.route, r.verdict, r.detail) for r in outcome.routes]
    assert (outcome.counterexample is not None) == (claim.expect == "refuted")
    assert outcome.seconds < 62
    assert json.loads(json.dumps(outcome.to_json()))["claim"] == claim.id


@pytest.mark.parametrize("claim", QUICK, ids=lambda claim: claim.id)
def test_quick_claims(claim):
    check(claim)


@pytest.mark.slow
@pytest.mark.parametrize("claim", SLOW, ids=lambda claim: claim.id)
def test_slow_claims(claim):
    check(claim)


def test_unknown_id_is_refused_before_anything_runs():
    with pytest.raises(KeyError, match="no-such-claim"):
        prove(["gauge-finite", "no-such-claim"])


LOADED = "import sys; print(sorted({'sympy', 'z3', 'numpy', 'jax'} & set(sys.modules)))"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from neuromanifold.verifiers.claims import catalogue; catalogue()", "[]"),
        ("from neuromanifold.verifiers.claims import prove; list(prove(['layer-cubic']))", "['sympy']"),
    ],
)
def test_listing_loads_no_solver(code, expected):
    # The second case shows that the first can fail. Z3 never enters the caller's process.
    output = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == expected


def result(route, verdict):
    return RouteResult(route, verdict, 0.0, "")


@pytest.mark.parametrize(
    ("routes", "status"),
    [
        ([("sympy", "proved"), ("free algebra", "proved")], "proved"),
        ([("sympy", "proved")], "unknown"),
        ([("free algebra", "proved"), ("z3 ring", "proved")], "unknown"),  # one statement, one family
        ([("sympy", "proved"), ("free algebra", "proved"), ("z3 ring", "unknown")], "unknown"),
        ([("sympy", "proved"), ("z3 small model", "refuted")], "unknown"),  # a disagreement is no vote
        ([("sympy", "refuted"), ("free algebra", "unknown")], "refuted"),
        ([], "unknown"),
    ],
)
def test_combine(routes, status):
    assert combine(tuple(result(*route) for route in routes)) == status


def planted(*verdicts):
    checks = tuple(Check(route, engine, None) for route, engine in verdicts)
    return Claim("planted", "t", "s", "x", "y", checks)


def crash(subject, deadline):
    raise ZeroDivisionError("boom")


def sleepy(subject, deadline):
    while True:
        deadline.left()


def good(subject, deadline):
    return Verdict("proved", "")


def empty_handed(subject, deadline):
    return Verdict("refuted", "trust me")


@pytest.mark.parametrize(("engine", "detail"), [(crash, "boom"), (sleepy, "out of time"), (empty_handed, "without")])
def test_failures_of_a_route_are_visible_and_unknown(engine, detail):
    outcome = run_claim(planted(("sympy", good), ("free algebra", engine)), 0.2)
    assert outcome.status == "unknown" and outcome.seconds < 2
    assert outcome.routes[0].verdict == "proved" and detail in outcome.routes[1].detail
