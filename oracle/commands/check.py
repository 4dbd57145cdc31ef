"""`neuromanifold check`: the gate, claim files in a project's CI."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from .. import console, exits


def check(
    *claims: str,
    format: Literal["text", "json", "github"] = "text",
    junit: Path | None = None,
    summary: Path | None = None,
    json: bool = False,
) -> int:
    """Check claim files: holds (exit 0), refuted (1), unreadable or unsupported (2), undecided (4), nothing checked (5).

    Parameters
    ----------
    claims
        Claim files (TOML). A claim with `model` imports and runs that function, from the working directory or installed.
    format
        text, json (one object, with certificates), or github (annotations for a workflow step).
    junit
        Write JUnit XML to this file.
    summary
        Append a Markdown summary to this file, as $GITHUB_STEP_SUMMARY wants it.
    json
        The same as --format json.
    """
    from ..gate.check import run_check

    if not claims:
        raise exits.CommandError("check needs at least one claim file, as in: neuromanifold check claims.toml")
    progress = console.message if console.is_terminal(sys.stderr) else None
    return run_check(
        claims, format="json" if json else format, junit=junit, summary=summary, stdout=sys.stdout, announce=progress
    )
