"""The report as one JSON object, with certificates whole."""

from __future__ import annotations

import json
from typing import Any

from .report import FileReport, Report
from .text import place
from .verdict import Finding, Result


def json_text(report: Report) -> str:
    """The object on one line of plain ASCII: control characters and lone surrogates are JSON escapes."""
    value = {
        "schema": 1,
        "exit": report.exit_code,
        "summary": report.summary(),
        "files": [_file(f) for f in report.files],
    }
    return json.dumps(value)


def _file(file: FileReport) -> dict[str, Any]:
    problems = [{"claim": p.claim, "key": p.key, "line": p.line, "message": p.message} for p in file.problems]
    return {
        "path": place(file.path),
        "exit": file.exit_code,
        "problems": problems,
        "claims": [_claim(r) for r in file.results],
    }


def _claim(result: Result) -> dict[str, Any]:
    claim = result.claim
    return {
        "id": claim.name, "line": claim.line, "statements": [str(s) for s in claim.statements],
        "require": claim.require, "expect": claim.expect, "source": claim.source,
        "outcome": result.outcome, "passed": result.passed, "exit": result.exit_code, "message": result.message,
        "points": result.points, "left_out": result.left_out, "counts": result.counts,
        "shown": _finding(result.shown), "seconds": round(result.seconds, 6),
    }  # fmt: skip


def _finding(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    return {
        "outcome": finding.outcome,
        "spec": str(finding.instance) if finding.instance else None,
        "values": dict(finding.instance.values) if finding.instance else {},
        "claimed": finding.claimed,
        "certified": finding.certified,
        "reproduce": finding.reproduce or None,
        "answer": finding.answer.to_json() if finding.answer else None,
        "certificate": finding.answer.certificate if finding.answer else None,
    }
