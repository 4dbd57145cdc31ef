"""What is fuzzed: a conjecture, the space its cases come from, and what one case says about it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ...numerics.network import Network
from ...numerics.notation import parse
from ..gate.expressions import Value
from ..gate.instances import size_key

MINIMUM = 10  # decided cases below which a conjecture has not been tested: vacuous


@dataclass(frozen=True)
class Case:
    """A network in canonical notation, and for claims with `where` the values that made it."""

    spec: str
    values: tuple[tuple[str, Value], ...] = ()

    @functools.cached_property
    def network(self) -> Network:
        """The network."""
        return parse(self.spec)

    @property
    def key(self) -> str:
        """What tells the case apart from all others of its conjecture."""
        return json.dumps([self.spec, dict(self.values)])

    @property
    def size(self) -> tuple[int, int, int, int, str]:
        """The order of counterexamples: fewest parameters, then layers, tokens, shortest line, first in the alphabet (as in the gate)."""
        return size_key(self.network)


@dataclass(frozen=True)
class Outcome:
    """What one case says: an outcome of the gate (holds, refuted, undecided, crashed, ...; `vacuous`: the conjecture does not speak of it).

    `claimed` and `certified` are the two sides in words, `label` that of the answer behind it, `certificate` is kept for refutations.
    """

    outcome: str
    claimed: str = ""
    certified: str = ""
    label: str | None = None
    certificate: dict[str, Any] | None = None
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The fields of a journal entry."""
        made = {
            "outcome": self.outcome, "claimed": self.claimed, "certified": self.certified, "label": self.label,
            "seconds": round(self.seconds, 6),
        }  # fmt: skip
        return made | ({"certificate": self.certificate} if self.certificate else {})

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Outcome:
        """The outcome of a journal entry."""
        return cls(**{name: entry[name] for name in cls.__dataclass_fields__ if name in entry})

    @property
    def decided(self) -> bool:
        """Whether the conjecture was put to the test."""
        return self.outcome in ("holds", "refuted")


class Space(Protocol):
    """Where cases come from. Everything is a function of its arguments, so that a campaign can be resumed."""

    def cases(self, seed: int, examples: int) -> Iterator[Case | None]:
        """Different cases, guided towards edges; None for a draw that the conjecture's condition leaves out."""

    def simpler(self, case: Case) -> Iterator[Case]:
        """Cases of the space that are one step smaller than a case."""

    def below(self, case: Case) -> Iterator[Case]:
        """All smaller cases of the space in ascending order, as far as they can be listed; raises `Unlisted` where not."""

    def admits(self, case: Case) -> bool:
        """Whether a case of an earlier run belongs to the space."""

    def complete(self, examples: int) -> bool:
        """Whether so many examples are all cases of the space."""


class Unlisted(Exception):
    """Not all smaller cases of a space can be listed in reasonable time; the message says why."""


@dataclass(frozen=True)
class Conjecture:
    """A statement about networks: its cases, how one is judged, and where it comes from.

    `judge` asks the oracle and never lets an exception escape. `require` is the weakest label that counts.
    """

    name: str
    statement: str
    space: Space
    judge: Callable[[Case], Outcome]
    source: str = ""
    require: str = "proven"
    expect: str = "holds"
    minimum: int = MINIMUM
