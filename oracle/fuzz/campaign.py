"""A campaign: earlier counterexamples first, then guided cases, each journalled before it runs; a refutation is shrunk to the smallest."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from ..executors import Here, Workers
from ..executors import Outcome as Finished
from ..fingerprint import fingerprint
from ..gate.instances import Uncheckable
from ..journal import Journal
from .case import Case, Outcome, Unlisted
from .judge import CASE_LIMIT, judge_case
from .load import Target, conjecture_of
from .record import Record, Regressions
from .verdict import Verdict

EXAMPLES = 1_000
MAX_SHRINKS = 600  # cases spent on descending from the first counterexample
MAX_BELOW = 3_000  # cases spent on showing that nothing smaller refutes
SHRINK_SECONDS = 30.0  # at least so long for both, where the campaign has a time limit
MAX_LEFT_OUT = 100  # draws left out by the conjecture's condition, for each example

Watch = Callable[[Verdict], None]


def run(
    target: Target,
    *,
    examples: int = EXAMPLES,
    seconds: float | None = None,
    seed: int = 0,
    workers: Workers | None = None,
    journal: Journal | None = None,
    regressions: Journal | None = None,
    watch: Watch | None = None,
    limit: float = CASE_LIMIT,
    shrink: bool = True,
) -> Verdict:
    """Hunt for a counterexample among `examples` cases, and say what was covered.

    The same target, seed and version give the same verdict, times apart, whatever the `workers` are (default: this process) and
    however often it was interrupted, unless `seconds` end it or a case needs more than `limit` seconds, which are enforced
    in worker processes only. Without `shrink` the first counterexample is reported as it is. A survivor is not proved: only the counted cases were judged.
    """
    started = time.monotonic()
    campaign = _Campaign(target, seed, workers or Here(), journal, regressions, watch, limit)
    campaign.deadline = None if seconds is None else started + seconds
    verdict = campaign.hunt(examples, shrink)
    verdict.seconds = time.monotonic() - started
    return verdict


class _Campaign:
    """The state of one run."""

    def __init__(
        self, target: Target, seed: int, workers: Workers, journal: Journal | None, regressions: Journal | None,
        watch: Watch | None, limit: float,
    ):  # fmt: skip
        self.seed, self.workers = seed, workers
        self.judge = partial(judge_case, target, limit)
        self.conjecture = conjecture_of(target)
        identity = f"{target.digest} {seed} {fingerprint()}"
        self.record = Record(journal, hashlib.sha256(identity.encode()).hexdigest()[:16], target.name)
        self.regressions = Regressions(regressions) if regressions else None
        self.watch = watch or (lambda verdict: None)
        self.verdict = Verdict(self.conjecture, target.path, resumed=self.record.resumed)
        self.deadline: float | None = None
        self.unlisted = ""

    def hunt(self, examples: int, shrink: bool) -> Verdict:
        verdict = self.verdict
        try:
            earlier = self.regressions.cases(self.conjecture) if self.regressions else []
            with closing(self.outcomes(chain(earlier, self._examples(examples, earlier)))) as found:
                for case, outcome in found:
                    if case is None:
                        verdict.left_out += 1
                        continue
                    verdict.add(case, outcome)
                    self.watch(verdict)
                    if outcome.outcome == "refuted":
                        verdict.counterexample, verdict.refutation = case, outcome
                        break
            if verdict.counterexample is None:
                verdict.exhaustive = self.conjecture.space.complete(examples) and not verdict.stopped
            else:
                verdict.smallest = "the first that was met; nothing smaller was tried"
                if shrink:
                    self._shrink()
                if self.regressions and verdict.refutation:
                    self.regressions.add(self.conjecture, self._best, verdict.refutation)
        except Uncheckable as error:
            verdict.unusable = str(error)
        return verdict

    def outcomes(self, cases: Iterable[Case | None]) -> Generator[tuple[Case | None, Outcome], None, None]:
        """Each case with its outcome, in order: from the journal, or judged now. Ends early at the deadline."""
        queue: deque[_Entry] = deque()
        running: list[_Entry] = []

        def items() -> Iterator[Case]:
            try:
                for case in cases:
                    if self.deadline is not None and time.monotonic() > self.deadline:
                        self.verdict.stopped = "out of time"
                        return
                    entry = _Entry(case, Outcome("vacuous") if case is None else self.record.known(case))
                    queue.append(entry)
                    if case is not None and entry.outcome is None:
                        running.append(entry)
                        self.record.start(case)
                        yield case
            except Unlisted as error:
                self.unlisted = str(error)

        def finished() -> Iterator[tuple[Case | None, Outcome]]:
            while queue and (outcome := queue[0].outcome) is not None:
                yield queue.popleft().case, outcome

        with closing(self.workers.outcomes(self.judge, items())) as found:  # type: ignore[type-var]  # they are generators
            for done in chain.from_iterable(found):
                entry = running[done.index]
                entry.outcome = _outcome(done)
                if entry.case is not None:
                    self.record.finish(entry.case, entry.outcome)
                yield from finished()
        yield from finished()

    def _examples(self, examples: int, earlier: list[Case]) -> Iterator[Case | None]:
        """So many cases of the space, without those of earlier runs; gives up where nearly all are left out."""
        seen = {case.key for case in earlier}
        given = left_out = 0
        for case in self.conjecture.space.cases(self.seed, examples):
            if case is None:
                left_out += 1
                if left_out > MAX_LEFT_OUT * examples:
                    self.verdict.stopped = f"the condition left out {left_out - 1} draws"
                    return
                yield None
            elif case.key not in seen:
                yield case
            given += case is not None
            if given >= examples:
                return

    def _shrink(self) -> None:
        """Descend from the counterexample, then judge every smaller case as far as they can be listed."""
        verdict, space = self.verdict, self.conjecture.space
        if self.deadline is not None:
            self.deadline = max(self.deadline, time.monotonic() + SHRINK_SECONDS)
        verdict.stopped = ""
        spent, moved = 0, True
        while moved and spent < MAX_SHRINKS:
            smaller = {c.key: c for c in space.simpler(self._best)}
            ordered = sorted(smaller.values(), key=lambda c: c.size)
            judged, _, moved = self._first_refuted(ordered[: MAX_SHRINKS - spent])
            spent += judged
        self.unlisted = ""
        judged, unknown, found = self._first_refuted(islice(self._below(), MAX_BELOW))
        ended = self.unlisted or verdict.stopped or (f"{MAX_BELOW} were judged" if judged == MAX_BELOW else "")
        judged -= found
        if unknown:
            verdict.smallest = f"no smaller case is known to refute: {judged} were judged, {unknown} of them without a decision"
        elif found or not ended:
            verdict.minimal = True
            verdict.smallest = f"nothing smaller refutes: all {judged} smaller cases were judged"
        else:
            verdict.smallest = f"the smallest that was met; {judged} smaller cases were judged and do not refute, then: {ended}"

    def _below(self) -> Iterator[Case]:
        yield from self.conjecture.space.below(self._best)  # what it raises is raised where the cases are drawn

    @property
    def _best(self) -> Case:
        case = self.verdict.counterexample
        if case is None:
            raise LookupError("nothing was refuted")
        return case

    def _first_refuted(self, cases: Iterable[Case]) -> tuple[int, int, bool]:
        """Judge cases up to the first that is refuted, which becomes the counterexample.

        Returns how many were judged, how many of these without a decision, and whether one was refuted.
        """
        judged = unknown = 0
        with closing(self.outcomes(cases)) as found:
            for case, outcome in found:
                judged += 1
                unknown += outcome.outcome not in ("holds", "vacuous", "refuted")
                if outcome.outcome == "refuted":
                    self.verdict.counterexample, self.verdict.refutation = case, outcome
                    return judged, unknown, True
        return judged, unknown, False


@dataclass
class _Entry:
    """A case in its place in the order, and its outcome once there is one; no case is a draw that was left out."""

    case: Case | None
    outcome: Outcome | None = None


def _outcome(done: Finished) -> Outcome:
    if isinstance(done.value, Outcome):
        return done.value
    return Outcome("crashed", certified=done.error or "nothing came back")
