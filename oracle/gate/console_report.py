"""The report for people: one block a file, one line a claim, details under what did not pass and under refutations."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.text import Text

from .report import Report

STYLES = {0: "green", 1: "bold red", 2: "magenta", 3: "bold white on red", 4: "yellow", 5: "yellow"}


def write_text(report: Report, stdout: TextIO) -> None:
    """Write the report; colours only where the stream is a terminal. Nothing in it is read as markup or as an escape sequence."""
    console = Console(file=stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for file in report.files:
        for number, entry in enumerate(file.entries):
            if number == 0:
                console.print(Text(entry.path, style="bold"))
            line = f"line {entry.line}: " if entry.line and entry.code else ""
            mark = "ok  " if entry.code == 0 else "FAIL"
            console.print(Text.assemble("  ", (mark, STYLES[entry.code]), f" {line}{entry.name}: {entry.headline}"))
            for detail in entry.lines:
                console.print(Text("         " + detail, style="dim" if entry.code == 0 else ""))
    console.print(Text(report.summary(), style=STYLES[report.exit_code]))
