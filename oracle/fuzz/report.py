"""Verdicts as text and as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from ..console import printable
from .case import Case, Outcome
from .verdict import KEPT, Verdict

MAX_CERTIFICATE = 1_200  # characters shown in the text


def text(verdict: Verdict, table: bool = True) -> str:
    """The verdict for people: what was found, the counterexample with everything needed to reproduce it, what was covered."""
    conjecture = verdict.conjecture
    lines = [f"{conjecture.name}: {_headline(verdict)}", f"  conjecture: {conjecture.statement}"]
    lines += [f"  source:     {conjecture.source}"] if conjecture.source else []
    if verdict.unusable:
        return "\n".join(map(_plain, [*lines, f"  {verdict.unusable}"]))
    lines.append(f"  cases:      {_counts(verdict)}")
    if verdict.decided:
        lines.append(f"  region:     {verdict.coverage.region()}")
    if verdict.counterexample is not None and verdict.refutation is not None:
        lines += _counterexample(verdict, verdict.counterexample, verdict.refutation)
    lines += [f"  {o.outcome}: {c.spec}{_at(c)}: {o.certified}" for c, o in (verdict.failures + verdict.undecided)[:KEPT]]
    hidden = len(verdict.failures) + len(verdict.undecided) - KEPT
    lines += [f"  ... and {hidden} more of these, in the journal or with --json"] if hidden > 0 else []
    if table and verdict.decided and verdict.outcome in ("survived", "vacuous"):
        lines += ["  decided cases by mechanism and edge:", *(f"    {row}" for row in verdict.coverage.table())]
    return "\n".join(map(_plain, lines))


def _headline(verdict: Verdict) -> str:
    expected = verdict.passed and verdict.conjecture.expect == "refuted"
    unexpected = verdict.outcome == "survived" and not verdict.passed
    return verdict.outcome + (", as expected" if expected else ", although it was expected to be refuted" if unexpected else "")


def _counts(verdict: Verdict) -> str:
    total = sum(verdict.counts.values())
    labels = ", ".join(f"{n} {label}" for label, n in sorted(verdict.labels.items()))
    parts = [f"{total} networks, {verdict.decided} decided{f' ({labels})' if labels else ''}"]
    for name, word in (("undecided", "undecided"), ("unsupported", "unsupported"), ("crashed", "crashed"),
                       ("contradiction", "contradictions"), ("vacuous", "of which it says nothing")):  # fmt: skip
        parts += [f"{verdict.counts[name]} {word}"] if verdict.counts[name] else []
    parts += [f"{verdict.left_out} draws left out by its condition"] if verdict.left_out else []
    parts += ["every case there is"] if verdict.exhaustive else []
    parts += [verdict.stopped] if verdict.stopped else []
    if verdict.outcome == "vacuous":
        parts.append(f"at least {verdict.needed} decided cases are needed")
    return ", ".join(parts)


def _counterexample(verdict: Verdict, case: Case, outcome: Outcome) -> list[str]:
    certificate = json.dumps(outcome.certificate, separators=(",", ":"))
    if len(certificate) > MAX_CERTIFICATE:
        certificate = certificate[:MAX_CERTIFICATE] + "... (whole with --json)"
    lines = [
        f"  counterexample: {case.spec}{_at(case)}",
        f"  smallest:   {verdict.smallest}",
        f"  claimed:    {outcome.claimed}",
        f"  found:      {outcome.certified}",
    ]
    lines += [f"  certificate: {certificate}"] if outcome.certificate else []
    return [*lines, f"  reproduce:  {reproduce(case)}", "  test:", *(f"    {line}".rstrip() for line in regression_test(verdict, case, outcome))]


def reproduce(case: Case) -> str:
    """The command that shows the counterexample's answer and writes its certificate."""
    return f'neuromanifold dimension "{case.spec}" --certificate counterexample.json'


def regression_test(verdict: Verdict, case: Case, outcome: Outcome) -> list[str]:
    """A test, to be pasted, that keeps what was found."""
    name = re.sub(r"\W+", "_", verdict.conjecture.name)
    found = re.search(r"dimension = (\d+)", outcome.certified)
    check = f"assert answer.dimension == {found[1]}" if found else "assert answer.label"
    return [
        "import neuromanifold.oracle",
        "",
        "",
        f"def test_counterexample_to_{name}():",
        f'    answer = neuromanifold.oracle.dimension("{case.spec}")',
        f"    {check}  # claimed: {outcome.claimed}",
    ]


def _at(case: Case) -> str:
    return f"   ({', '.join(f'{k}={v}' for k, v in case.values)})" if case.values else ""


def _plain(line: str) -> str:
    return printable(line, limit=4_000)


def to_json(verdict: Verdict) -> dict[str, Any]:
    """The object of `fuzz --json`, one for each conjecture."""
    conjecture, case, outcome = verdict.conjecture, verdict.counterexample, verdict.refutation
    coverage = verdict.coverage
    return {
        "schema": 1, "conjecture": conjecture.name, "file": verdict.path, "statement": conjecture.statement,
        "source": conjecture.source, "require": conjecture.require, "expect": conjecture.expect,
        "outcome": verdict.outcome, "passed": verdict.passed, "exit": verdict.exit_code, "message": verdict.unusable,
        "counts": dict(sorted(verdict.counts.items())), "labels": dict(sorted(verdict.labels.items())),
        "left_out": verdict.left_out, "exhaustive": verdict.exhaustive, "stopped": verdict.stopped or None,
        "region": {name: list(ends) for name, ends in coverage.sizes.items()},
        "coverage": {f"{row} x {column}": n for (row, column), n in sorted(coverage.cells.items())},
        "counterexample": None if case is None or outcome is None else {
            **_case(case, outcome), "smallest": verdict.smallest, "minimal": verdict.minimal, "reproduce": reproduce(case),
            "test": "\n".join(regression_test(verdict, case, outcome)), "certificate": outcome.certificate,
        },
        "failures": [_case(c, o) for c, o in verdict.failures], "undecided": [_case(c, o) for c, o in verdict.undecided],
        "seconds": round(verdict.seconds, 6),
    }  # fmt: skip


def _case(case: Case, outcome: Outcome) -> dict[str, Any]:
    return {"spec": case.spec, "values": dict(case.values), "outcome": outcome.outcome, "claimed": outcome.claimed,
            "certified": outcome.certified}  # fmt: skip
