"""The verdict of a campaign: refuted with the smallest counterexample, survived with exactly what was covered, or vacuous."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .. import exits
from .case import Case, Conjecture, Outcome
from .edges import EDGES, MECHANISMS, edges, mechanisms

KEPT = 5  # undecided and crashed cases shown


@dataclass
class Coverage:
    """How many decided cases showed each mechanism on each edge, and the sizes that they had."""

    cells: Counter[tuple[str, str]] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Count a decided case."""
        network = case.network
        for row in mechanisms(network):
            self.rows[row] += 1
            for column in edges(network):
                self.cells[row, column] += 1
        sizes = {"parameters": (network.parameters,), "d": network.d, "a": network.a, "t": (network.t,), "l": (network.l,),
                 "heads": network.heads}  # fmt: skip
        for name, values in sizes.items():
            if values:
                low, high = self.sizes.get(name, (min(values), max(values)))
                self.sizes[name] = min(low, *values), max(high, *values)

    def region(self) -> str:
        """The sizes in words."""
        return ", ".join(f"{name} {low}..{high}" if low < high else f"{name} {low}" for name, (low, high) in self.sizes.items())

    def table(self) -> list[str]:
        """A row for each mechanism that was met: decided cases, and how many of them lay on each edge (`.`: none)."""
        width = max(len(m) for m in MECHANISMS)
        wide = {c: max(len(c), 4) for c in EDGES}
        lines = [" ".join([" " * width, "  all", *(f"{c:>{w}}" for c, w in wide.items())])]
        for row in MECHANISMS:
            if self.rows[row]:
                cells = [f"{self.cells[row, c] or '.':>{w}}" for c, w in wide.items()]
                lines.append(" ".join([f"{row:<{width}}", f"{self.rows[row]:>5}", *cells]))
        return lines


@dataclass
class Verdict:
    """What a campaign found.

    `counts` has the cases by outcome (`vacuous`: the conjecture says nothing about them), `labels` the decided ones by label, `left_out`
    the draws that its condition excluded. `exhaustive`: every case of the space was judged. `smallest` says how the counterexample
    is known to be the smallest one, or how far that was checked; `stopped` why the campaign ended before its number of examples.
    """

    conjecture: Conjecture
    path: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    exhaustive: bool = False
    stopped: str = ""
    counterexample: Case | None = None
    refutation: Outcome | None = None
    smallest: str = ""
    minimal: bool = False
    failures: list[tuple[Case, Outcome]] = field(default_factory=list)
    undecided: list[tuple[Case, Outcome]] = field(default_factory=list)
    unusable: str = ""
    resumed: int = 0
    seconds: float = 0.0

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count one judged case."""
        self.counts[outcome.outcome] += 1
        if outcome.decided:
            self.labels[outcome.label or "no label"] += 1
            self.coverage.add(case)
        elif outcome.outcome in ("crashed", "contradiction"):
            self.failures.append((case, outcome))
        elif outcome.outcome in ("undecided", "unsupported"):
            self.undecided.append((case, outcome))

    @property
    def decided(self) -> int:
        """Cases in which the conjecture was put to the test."""
        return self.counts["holds"] + self.counts["refuted"]

    @property
    def needed(self) -> int:
        """How many decided cases a verdict needs: the conjecture's minimum, or one where every case of the space was judged."""
        return 1 if self.exhaustive else self.conjecture.minimum

    @property
    def outcome(self) -> str:
        """contradiction, crashed, refuted, unusable, vacuous, undecided or survived; the worst that applies."""
        if self.failures:
            return max((o.outcome for _, o in self.failures), key=("crashed", "contradiction").index)
        if self.counterexample is not None:
            return "refuted"
        if self.unusable:
            return "unusable"
        if self.decided >= self.needed:
            return "survived"
        return "undecided" if self.undecided else "vacuous"

    @property
    def passed(self) -> bool:
        """Whether the outcome is the one that the conjecture expects."""
        return self.outcome == {"holds": "survived", "refuted": "refuted"}[self.conjecture.expect]

    @property
    def exit_code(self) -> int:
        """0 if passed; 1 also for a conjecture that was expected to be refuted and survived."""
        codes = {
            "contradiction": exits.CRASH, "crashed": exits.CRASH, "refuted": exits.REFUTED, "unusable": exits.USAGE,
            "undecided": exits.UNDECIDED, "vacuous": exits.NOTHING, "survived": exits.REFUTED,
        }  # fmt: skip
        return exits.HOLDS if self.passed else codes[self.outcome]
