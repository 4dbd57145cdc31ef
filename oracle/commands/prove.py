"""`neuromanifold prove`: the symmetry, fiber and identity claims, each by several routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import console, exits

if TYPE_CHECKING:
    from ...verifiers.claims import Claim, Outcome


def prove(
    *claims: str,
    json: bool = False,
    list: bool = False,
    all: bool = False,
    timeout: float = 60,
) -> int:
    """Prove claims about symmetries, fibers and identities by sympy, Z3 and other routes; without names, the quick ones.

    Exit 0 if every claim ends as the catalogue expects; a well-known wrong statement is expected to be refuted.

    Parameters
    ----------
    claims
        Names of claims.
    json
        Print one JSON object a claim.
    list
        List the claims and their routes, run nothing.
    all
        Run the long ones too.
    timeout
        Seconds for each claim.
    """
    from ...verifiers.claims import catalogue
    from ...verifiers.claims import prove as run
    from ..asking import check_limits

    check_limits(0, timeout)
    known = {claim.id: claim for claim in catalogue()}
    for name in claims:
        if name not in known:
            raise exits.unknown_name("claim", name, known)
    chosen = [known[name] for name in claims] or [c for c in known.values() if all or list or c.quick]
    if list:
        for claim in chosen:
            _show_claim(claim, json)
        return exits.worst([exits.HOLDS for _ in chosen])
    codes = []
    for outcome in run([claim.id for claim in chosen], timeout):
        _show_outcome(outcome, known[outcome.claim_id], json)
        codes.append(exit_code(outcome.status, known[outcome.claim_id].expect))
    return exits.worst(codes)


def exit_code(status: str, expected: str) -> int:
    """Return the exit code of one claim's status, given the status that the catalogue expects."""
    if status == expected:
        return exits.HOLDS
    if status == "proved":  # of a statement with a counterexample: one of our routes is wrong
        return exits.CRASH if expected == "refuted" else exits.HOLDS
    return exits.REFUTED if status == "refuted" else exits.UNDECIDED


def _show_claim(claim: Claim, json: bool) -> None:
    if json:
        console.result_json({
            "schema": 1, "claim": claim.id, "title": claim.title, "statement": claim.statement, "scope": claim.scope,
            "source": claim.source, "routes": [*claim.routes], "expect": claim.expect, "quick": claim.quick,
        })  # fmt: skip
    else:
        console.result(f"{claim.id}: {claim.title}\n    {claim.expect} by {', '.join(claim.routes)}")


def _show_outcome(outcome: Outcome, claim: Claim, json: bool) -> None:
    if json:
        console.result_json({"schema": 1, "expect": claim.expect, **outcome.to_json()})
    else:
        surprise = "" if outcome.status == claim.expect else f", expected {claim.expect}"
        console.result(f"{claim.id}: {outcome.status}{surprise}, {outcome.seconds:.1f} s: {claim.title}")
        for route in outcome.routes:
            console.result(
                f"    {route.route}: {route.verdict}, {route.seconds:.1f} s: {console.printable(route.detail)}"
            )
    console.flush()
