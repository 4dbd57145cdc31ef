"""`neuromanifold check`: read claim files, judge every claim, report, and return the exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from ..exits import CommandError
from ..files import why_unwritable, write_whole
from .claims import read_claims
from .engines import engines
from .report import FileReport, Report
from .verdict import Ask, Engine, judge

FORMATS = ("text", "json", "github")


def check_files(
    paths: Sequence[str | Path], *, ask: Ask | None = None, announce: Callable[[str], None] | None = None
) -> Report:
    """Judge every claim of every file, and return everything found; a bad file does not hide the others.

    `ask` stands in for `oracle.dimension`; `announce` is called with the name of each claim before it is judged. What a
    statement holding guarantees is what its answer's label says; claims with `model` import and run the named code,
    nothing else in a claim file is ever run.
    """
    table = engines(ask)
    return Report(tuple(_check(Path(p), table, announce) for p in paths))


def run_check(
    paths: Sequence[str | Path],
    *,
    format: str = "text",
    junit: str | Path | None = None,
    summary: str | Path | None = None,
    stdout: TextIO,
    ask: Ask | None = None,
    announce: Callable[[str], None] | None = None,
) -> int:
    """Check claim files and write the report to `stdout`, the JUnit XML and the job summary; return the exit code.

    The exit code is the worst of all claims (3 contradiction or crash, 1 refuted, 2 unreadable or unsupported, 4 undecided,
    5 nothing checked, 0). The summary is appended, as GitHub's job summary wants; the JUnit file is replaced as a whole.
    Raises `CommandError` before any work where the format is unknown or a file could not be written.
    """
    if format not in FORMATS:
        raise CommandError(f"unknown format {format!r}: {', '.join(FORMATS)}")
    for target in (junit, summary):
        if target is not None and (why := why_unwritable(target)):
            raise CommandError(why)
    report = check_files(paths, ask=ask, announce=announce)
    if junit is not None:
        from .junit import junit_xml

        write_whole(junit, junit_xml(report))
    if summary is not None:
        from .github import append_summary

        append_summary(Path(summary), report)
    if format == "text":
        from .console_report import write_text

        write_text(report, stdout)
    elif format == "json":
        from .json_report import json_text

        stdout.write(json_text(report) + "\n")
    else:
        from .github import workflow_commands

        stdout.write("".join(line + "\n" for line in workflow_commands(report)))
    return report.exit_code


def _check(path: Path, table: Mapping[str, Engine], announce: Callable[[str], None] | None) -> FileReport:
    file = read_claims(path)
    results = []
    for claim in file.claims:
        if announce:
            announce(claim.name)
        results.append(judge(claim, table))
    return FileReport(path, file.problems, tuple(results))
