"""What a claim is, what a route answers, and how the answers of several routes become one status."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["proved", "refuted", "unknown"]

# Routes of one family read the same statement with the same reader, so together they count as one.
FAMILIES: Mapping[str, str] = {
    "free algebra": "words",
    "z3 ring": "words",
    "sympy": "entries",
    "z3 reals": "entries",
    "rationals": "numbers",
    "sympy numbers": "symbolic numbers",
    "z3 small model": "small model",
    "certificate": "certificate",
    "sympy small model": "certificate",
    "z3 assembly": "assembly",
    "rational ranks": "rational ranks",
    "modular ranks": "modular ranks",
}


class OutOfTimeError(Exception):
    """A route noticed that its time is over."""


@dataclass(frozen=True)
class Deadline:
    """The end of a route's time, on the monotonic clock."""

    end: float

    def left(self) -> float:
        """Return the seconds left; `OutOfTimeError` when there are none."""
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise OutOfTimeError
        return seconds


@dataclass(frozen=True)
class Verdict:
    """A route's answer. `refuted` is only given with a counterexample that was checked in exact rationals."""

    status: Status
    detail: str
    counterexample: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Check:
    """One route of one claim: its name, the function that runs it and what that reads.

    Engines import sympy only when run.
    """

    route: str
    engine: Callable[[Any, Deadline], Verdict]
    subject: Any

    def run(self, deadline: Deadline) -> Verdict:
        """Run the route. Every failure is a verdict `unknown` with its reason."""
        try:
            verdict = self.engine(self.subject, deadline)
        except OutOfTimeError:
            return Verdict("unknown", "out of time")
        except Exception as error:  # a crash of a route must not stop the others, and must be seen
            return Verdict("unknown", f"{type(error).__name__}: {error}")
        if verdict.status == "refuted" and verdict.counterexample is None:
            return Verdict("unknown", f"refuted without a counterexample: {verdict.detail}")
        return verdict


@dataclass(frozen=True)
class Claim:
    """A statement with the routes that check it.

    `expect` is the status it should end with: "refuted" marks a well-known wrong statement, kept with its
    counterexample;
    "unknown" an open one. `quick` claims take a few seconds each.
    """

    id: str
    title: str
    statement: str
    scope: str
    source: str
    checks: tuple[Check, ...]
    expect: Status = "proved"
    quick: bool = True
    reason: str = ""

    @property
    def routes(self) -> tuple[str, ...]:
        """The names of the routes."""
        return tuple(check.route for check in self.checks)


@dataclass(frozen=True)
class RouteResult:
    """What one route answered, and how long it took."""

    route: str
    verdict: Status
    seconds: float
    detail: str

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able object."""
        return {"route": self.route, "verdict": self.verdict, "seconds": round(self.seconds, 3), "detail": self.detail}


@dataclass(frozen=True)
class Outcome:
    """The status of one claim with all routes that ran."""

    claim_id: str
    status: Status
    routes: tuple[RouteResult, ...]
    counterexample: Mapping[str, Any] | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able object."""
        return {
            "claim": self.claim_id,
            "status": self.status,
            "routes": [route.to_json() for route in self.routes],
            "counterexample": self.counterexample,
            "seconds": round(self.seconds, 3),
        }


def combine(routes: tuple[RouteResult, ...]) -> Status:
    """Return the status that the routes imply.

    `proved`: every route that ran proved it, and they belong to at least two families. `refuted`: a route has a checked
    counterexample and none proved the statement. Anything else, a disagreement too, is `unknown`.
    """
    verdicts = {route.verdict for route in routes}
    if verdicts == {"proved"}:
        return "proved" if len({FAMILIES[route.route] for route in routes}) >= 2 else "unknown"
    if "refuted" in verdicts and "proved" not in verdicts:
        return "refuted"
    return "unknown"


def run_claim(claim: Claim, timeout: float) -> Outcome:
    """Run every route of a claim, each within what is left of `timeout` seconds."""
    started = time.monotonic()
    deadline = Deadline(started + timeout)
    results: list[RouteResult] = []
    counterexample: Mapping[str, Any] | None = None
    for check in claim.checks:
        begun = time.monotonic()
        verdict = check.run(deadline)
        results.append(RouteResult(check.route, verdict.status, time.monotonic() - begun, verdict.detail))
        if verdict.status == "refuted" and counterexample is None:
            counterexample = verdict.counterexample
    status = combine(tuple(results))
    shown = counterexample if status == "refuted" else None
    return Outcome(claim.id, status, tuple(results), shown, time.monotonic() - started)
