"""What one run of the gate found: the files, their problems or results, and the exit code."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..exits import CRASH, NOTHING, USAGE, WORST_FIRST, worst
from .claims import Problem
from .text import details, headline, place, plain
from .verdict import Result


@dataclass(frozen=True)
class Entry:
    """One row of any format: where, what, how bad; `lines` are its details."""

    path: str
    line: int | None
    name: str
    outcome: str
    code: int
    headline: str
    lines: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class FileReport:
    """A claim file with either its problems or the results of its claims."""

    path: Path
    problems: tuple[Problem, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def exit_code(self) -> int:
        """The worst of its claims; 2 for a file with problems, 5 for one without claims."""
        return USAGE if self.problems else worst(r.exit_code for r in self.results)

    @functools.cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Its problems, or its results; a file without claims is one entry, `vacuous`."""
        return tuple(_entries(self))


@dataclass(frozen=True)
class Report:
    """All files of a run."""

    files: tuple[FileReport, ...]

    @property
    def exit_code(self) -> int:
        """The worst of the files, 5 for none."""
        return worst(f.exit_code for f in self.files)

    @property
    def results(self) -> list[Result]:
        """The results of all files."""
        return [r for f in self.files for r in f.results]

    @functools.cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every problem and every result, in the order of the files."""
        return tuple(e for f in self.files for e in f.entries)

    def worst_first(self) -> list[Entry]:
        """The entries that did not pass, the worst first, otherwise in the order of the files."""
        return sorted((e for e in self.entries if e.code), key=lambda e: WORST_FIRST.index(e.code))

    def summary(self) -> str:
        """One line: how many claims passed, and what the others were."""
        kinds: dict[str, int] = {}
        for entry in self.entries:
            if entry.code:
                kinds[entry.outcome] = kinds.get(entry.outcome, 0) + 1
        passed = sum(r.passed for r in self.results)
        failures = "".join(f", {count} {kind}" for kind, count in kinds.items())
        networks = sum(sum(r.counts.values()) for r in self.results)
        return f"{passed} of {len(self.results)} claims passed ({networks} networks checked){failures}"


def _entries(file: FileReport) -> Iterator[Entry]:
    path = place(file.path)
    for problem in file.problems:
        name = problem.claim or "file"
        text = f"{problem.key}: {problem.message}" if problem.key else problem.message
        yield Entry(path, problem.line, name, "unreadable", USAGE, plain(text), (), 0.0)
    if not file.problems and not file.results:
        yield Entry(path, None, "file", "vacuous", NOTHING, "no [[claim]]: nothing was checked", (), 0.0)
    for r in file.results:
        outcome = "not refuted" if r.outcome == "holds" and not r.passed else r.outcome
        yield Entry(path, r.claim.line, r.claim.name, outcome, r.exit_code, headline(r), tuple(details(r)), r.seconds)


def is_error(entry: Entry) -> bool:
    """Whether the claim could not be judged at all, as opposed to a claim that was judged and failed."""
    return entry.code in (USAGE, CRASH)
