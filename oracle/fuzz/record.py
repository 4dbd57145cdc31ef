"""The memory of a campaign: a journal that names each case before it runs, and a file of counterexamples that later runs try first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..journal import Journal
from .case import Case, Conjecture, Outcome


class Record:
    """What is known of a conjecture's cases under one seed; kept in `journal` where there is one.

    An entry `"state": "started"` is on the disk before its case runs, `"done"` when its outcome is known: after a crash, the cases
    without the second are those that ran.
    """

    def __init__(self, journal: Journal | None, campaign: str, name: str):
        self.journal, self.campaign, self.name = journal, campaign, name
        self._done: dict[str, Outcome] = {}
        self._started: set[str] = set()
        for entry in journal.entries if journal else ():
            if entry.get("campaign") == campaign and isinstance(entry.get("values"), dict):
                key = Case(entry["asked"], tuple(entry["values"].items())).key
                if entry.get("state") == "done":
                    self._done[key] = Outcome.from_json(entry)
                else:
                    self._started.add(key)
        self.resumed = len(self._done)

    def known(self, case: Case) -> Outcome | None:
        """The outcome of a finished case."""
        return self._done.get(case.key)

    def start(self, case: Case) -> None:
        """Note that a case is about to run."""
        if self.journal is not None and case.key not in self._started:
            self.journal.append(self._entry(case) | {"state": "started"})
            self._started.add(case.key)

    def finish(self, case: Case, outcome: Outcome) -> None:
        """Note the outcome of a case."""
        self._done[case.key] = outcome
        if self.journal is not None:
            self.journal.append(self._entry(case) | {"state": "done"} | outcome.to_json())

    def _entry(self, case: Case) -> dict[str, Any]:
        return {
            "schema": 1, "asked": case.spec, "values": dict(case.values), "conjecture": self.name, "campaign": self.campaign,
        }  # fmt: skip


class Regressions:
    """Counterexamples of all conjectures that write to one file, one JSON object a line."""

    def __init__(self, journal: Journal):
        self._journal = journal

    def cases(self, conjecture: Conjecture) -> list[Case]:
        """The earlier counterexamples of a conjecture that still belong to its space."""
        found: dict[str, Case] = {}
        for entry in self._journal.entries:
            if entry.get("conjecture") == conjecture.name and isinstance(entry.get("values"), dict):
                case = Case(entry["asked"], tuple(entry["values"].items()))
                if case.key not in found and _admitted(conjecture, case):
                    found[case.key] = case
        return list(found.values())

    def add(self, conjecture: Conjecture, case: Case, outcome: Outcome) -> None:
        """Keep a counterexample, once."""
        entry = {
            "schema": 1, "asked": case.spec, "values": dict(case.values), "conjecture": conjecture.name,
            "claimed": outcome.claimed, "certified": outcome.certified,
        }  # fmt: skip
        if entry not in self._journal.entries:
            self._journal.append(entry)


def _admitted(conjecture: Conjecture, case: Case) -> bool:
    try:
        return conjecture.space.admits(case)
    except ValueError:  # not a network any more, or no value there
        return False


def regression_file(out: Path) -> Path:
    """Where the counterexamples of a campaign written to `out` go."""
    return out.with_name(f"{out.stem}.regressions.jsonl")
