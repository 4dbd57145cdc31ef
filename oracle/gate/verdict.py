"""Verdicts: what the oracle's answer says about a claim, with three answers and the failures that are neither.

An answer is known at the required label as an interval: the dimension itself where the label is strong enough, the proven
bounds otherwise. A statement holds, is refuted or stays undecided by interval arithmetic; nothing is decided by a weaker label.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...numerics.network import UnsupportedNetwork
from ..answer import Answer, Contradiction
from .claims import Claim, Statement
from .instances import Instance, Uncheckable, instances, network_of

# Exit codes (README.md), the worst first; a claim that expects refutation turns holds and refuted around.
EXIT = {
    "contradiction": 3,
    "crashed": 3,
    "refuted": 1,
    "unusable": 2,
    "unsupported": 2,
    "undecided": 4,
    "vacuous": 5,
    "holds": 0,
}
OUTCOMES = tuple(EXIT)
WORST_FIRST = (3, 1, 2, 4, 5, 0)


@dataclass(frozen=True)
class Finding:
    """What one instance says: an outcome of `OUTCOMES`, the claim as it reads there, what is certified, and the answer behind it."""

    outcome: str
    instance: Instance | None
    claimed: str
    certified: str
    answer: Answer | None = field(default=None, repr=False)

    @property
    def reproduce(self) -> str:
        """The command that shows the answer behind the finding, or nothing."""
        return f'neuromanifold dimension "{self.instance}" --certificate counterexample.json' if self.answer else ""


@dataclass(frozen=True)
class Result:
    """The verdict on one claim.

    `outcome` is what was found, `passed` whether the gate wanted that. `shown` is the smallest instance of the outcome.
    `counts` has the number of instances by outcome, as far as they were checked: a claim that expects refutation stops at
    the first refuted instance.
    """

    claim: Claim
    outcome: str
    message: str
    counts: dict[str, int] = field(default_factory=dict)
    points: int = 0
    left_out: int = 0
    shown: Finding | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the outcome is the one that the claim expects."""
        return self.outcome == self.claim.expect

    @property
    def exit_code(self) -> int:
        """0 if passed; 1 also for a claim that holds and was expected to be refuted."""
        return 0 if self.passed else (EXIT[self.outcome] or 1)


@dataclass(frozen=True)
class Judgement:
    """What an engine says about one statement at one instance."""

    outcome: str
    certified: str
    answer: Answer | None = None


Engine = Callable[[Statement, int | str, Instance, str], Judgement]
Ask = Callable[[str], Answer]


def dimension_engine(ask: Ask) -> Engine:
    """The engine of all statements about the dimension of one or two networks."""

    def engine(statement: Statement, value: int | str, instance: Instance, require: str) -> Judgement:
        answer = ask(str(instance))
        low, high = answer.known(require)
        certified = answer.certified
        if statement.kind == "parameters":
            counted = replace(answer, certificate=None)  # a count needs no certificate, and has none
            outcome = "holds" if answer.parameters == value else "refuted"
            return Judgement(outcome, f"parameters = {answer.parameters}", counted)
        if statement.kind == "same_dimension_as":
            other = ask(str(network_of(str(value), instance.values)))
            least, most = other.known(require)
            certified += f"; the other network: {other.certified}"
            return Judgement(_equal(low, high, least, most), certified, answer)
        wanted = int(value)
        if statement.kind in ("redundancy", "fiber_dimension"):  # a generic fiber has dimension parameters - rank
            certified += f", redundancy = {_interval(answer.parameters - high, answer.parameters - low)}"
            wanted = answer.parameters - wanted
        if statement.kind == "at_least":
            outcome = "holds" if low >= wanted else "refuted" if high < wanted else "undecided"
        elif statement.kind == "at_most":
            outcome = "holds" if high <= wanted else "refuted" if low > wanted else "undecided"
        else:
            outcome = _equal(low, high, wanted, wanted)
        return Judgement(outcome, certified, answer)

    return engine


def _equal(low: int, high: int, least: int, most: int) -> str:
    if high < least or most < low:
        return "refuted"
    return "holds" if low == high == least == most else "undecided"


def _interval(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"


def judge(claim: Claim, engines: Mapping[str, Engine]) -> Result:
    """The verdict on a claim; a statement without an engine is `unsupported`, an exception of an engine is a finding, not an escape."""
    start = time.perf_counter()
    absent = [s.kind for s in claim.statements if s.kind not in engines]
    if absent:
        have = ", ".join(sorted(engines))
        return Result(claim, "unsupported", f"no engine for {', '.join(absent)} in this version; it has {have}")
    try:
        todo = instances(claim)
    except Uncheckable as error:
        return Result(claim, "unusable", str(error))
    counts: dict[str, int] = {}
    shown: dict[str, Finding] = {}
    for instance in todo.found:
        finding = worst(_findings(claim, instance, engines))
        counts[finding.outcome] = counts.get(finding.outcome, 0) + 1
        shown.setdefault(finding.outcome, finding)
        if finding.outcome == claim.expect == "refuted":
            break
    seconds = time.perf_counter() - start
    if not shown:
        message = f"no instance: when leaves out all {todo.points} points of where"
        return Result(claim, "vacuous", message, counts, todo.points, todo.left_out, None, seconds)
    finding = worst(shown.values())
    return Result(claim, finding.outcome, "", counts, todo.points, todo.left_out, finding, seconds)


def worst(findings: Iterable[Finding]) -> Finding:
    """The first finding of the worst outcome: crashes, then refutations, then what could not be checked, then undecided ones."""
    return min(findings, key=lambda f: (WORST_FIRST.index(EXIT[f.outcome]), OUTCOMES.index(f.outcome)))


def _findings(claim: Claim, instance: Instance, engines: Mapping[str, Engine]) -> Iterator[Finding]:
    for statement in claim.statements:
        claimed, answer = str(statement), None
        try:
            value = instance.right_side(statement)
            claimed = f"{statement.kind} = {value}"
            judgement = engines[statement.kind](statement, value, instance, claim.require)
            outcome, certified, answer = judgement.outcome, judgement.certified, judgement.answer
        except Uncheckable as error:
            outcome, certified = "unusable", str(error)
        except UnsupportedNetwork as error:
            outcome, certified = "unsupported", f"{error.field}: {error}"
        except Contradiction as error:
            outcome, certified = "contradiction", str(error)
        except (
            Exception
        ) as error:  # whatever an engine raises is this instance's outcome: the other claims are still checked
            last = traceback.extract_tb(error.__traceback__)[-1]
            outcome, certified = (
                "crashed",
                f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})",
            )
        yield Finding(outcome, instance, claimed, certified, answer)
