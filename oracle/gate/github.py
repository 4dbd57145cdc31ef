"""The report for GitHub: annotations on stdout and the job summary, the worst first, within GitHub's limits.

A step may show 10 errors and 10 warnings, a job summary holds 1 MiB a step; a message is cut long before GitHub would.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..exits import NOTHING, UNDECIDED
from .report import Entry, Report
from .text import markdown

MAX_ANNOTATIONS = 10  # a step and level
MAX_MESSAGE = 4_000
MAX_SUMMARY = 1_000_000  # bytes; GitHub refuses more than 1,048,576
_CELL = 600


def workflow_commands(report: Report) -> Iterator[str]:
    """Workflow commands, at most ten a level; where there are more, the tenth says how many. The last line is the summary."""
    failing = report.worst_first()
    for level, entries in (
        ("error", [e for e in failing if not _mild(e)]),
        ("warning", [e for e in failing if _mild(e)]),
    ):
        shown = entries if len(entries) <= MAX_ANNOTATIONS else entries[: MAX_ANNOTATIONS - 1]
        for entry in shown:
            where = f"file={_property(entry.path)},line={entry.line or 1},title={_property(f'{entry.name}: {entry.outcome}'[:200])}"
            yield f"::{level} {where}::{_message(chr(10).join((entry.headline, *entry.lines)))}"
        if len(shown) < len(entries):
            rest = len(entries) - len(shown)
            yield f"::{level} title=neuromanifold check::{_message(f'{rest} more; the job summary and the JUnit file have them')}"
    yield report.summary()


def append_summary(path: Path, report: Report) -> None:
    """Append the job summary to a file, leaving out the mildest rows where it would grow over GitHub's limit."""
    room = MAX_SUMMARY - (path.stat().st_size if path.exists() else 0)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(summary_markdown(report, room))


def summary_markdown(report: Report, room: int = MAX_SUMMARY) -> str:
    """The job summary in at most `room` bytes (ASCII): a table of what failed, the worst first, then what passed."""
    passed = [e for e in report.entries if not e.code]
    head = f"### neuromanifold check: exit {report.exit_code}\n\n{markdown(report.summary())}\n\n"
    table = "| | claim | found |\n| --- | --- | --- |\n"
    reserve = 200  # for the line that counts what is left out
    parts, used, left_out = [head + table], len(head + table), 0
    for entry in [*report.worst_first(), *passed]:
        row = _row(entry)
        if left_out or used + len(row) + reserve > room:
            left_out += 1
            continue
        parts.append(row)
        used += len(row)
    if left_out:
        parts.append(f"\n{left_out} more rows are left out: GitHub shows at most 1 MiB.\n")
    text = "".join(parts) + "\n"
    return text if len(text) <= room else ""


def _row(entry: Entry) -> str:
    where = f"{entry.path}:{entry.line}" if entry.line else entry.path
    found = "<br>".join(markdown(line[:_CELL]) for line in (entry.headline, *entry.lines))
    return f"| {'pass' if not entry.code else markdown(entry.outcome)} | {markdown(entry.name)}<br>{markdown(where)} | {found} |\n"


def _mild(entry: Entry) -> bool:
    """Undecided and vacuous claims are warnings: nothing false was found. They fail the step all the same."""
    return entry.code in (UNDECIDED, NOTHING)


def _message(text: str) -> str:
    """A message as GitHub's own toolkit escapes it (actions/toolkit, command.ts: escapeData)."""
    if len(text) > MAX_MESSAGE:
        text = text[:MAX_MESSAGE] + "..."
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property as the toolkit escapes it (escapeProperty)."""
    return _message(text).replace(":", "%3A").replace(",", "%2C")
