"""What the oracle answers: a dimension or bounds, a label that follows from the evidence, and the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

LABELS = ("proven", "formula", "numerical")  # the strongest first


class Contradiction(Exception):
    """Two sources above `numerical` exclude each other: a fault of this program or of a cited theorem, never a vote."""


@dataclass(frozen=True)
class Evidence:
    """One reason: `side` is lower, upper or value; `kind` certificate, theorem or estimate; `status` proven, proved, conjecture, estimate, unused."""

    side: str
    value: int | None
    kind: str
    status: str
    source: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The evidence item of the JSON interface."""
        return {"side": self.side, "value": self.value, "kind": self.kind, "status": self.status,
                "source": self.source, "note": self.note}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """The dimension of one network's function space, and how it is known.

    `lower <= dimension <= upper` always holds and both are proven (by the certificate; trivially 0 and the number of
    parameters without one). `dimension` and `label` are None where there is not even an estimate.
    `redundancy` = parameters - dimension, split by symmetry: pairs (symmetry, dimensions that it adds).
    """

    spec: str
    dimension: int | None
    label: str | None
    lower: int
    upper: int
    parameters: int
    redundancy: tuple[tuple[str, int], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def gap(self) -> int:
        """Upper minus lower bound: the number of missing fields or equations."""
        return self.upper - self.lower

    def known(self, require: str) -> tuple[int, int]:
        """The interval in which the dimension is known to lie, as far as labels up to `require` count: proven bounds, or one value."""
        strong = self.label is not None and LABELS.index(self.label) <= LABELS.index(require)
        return (self.dimension, self.dimension) if self.dimension is not None and strong else (self.lower, self.upper)

    @property
    def certified(self) -> str:
        """What is known, in words: `dimension = 17 (proven)`, or the proven interval with the weaker value beside it."""
        if self.label == "proven":
            return f"dimension = {self.dimension} (proven)"
        text = f"{self.lower} <= dimension <= {self.upper} (proven)"
        return text if self.label is None else f"{text}, {self.dimension} by {self.label}"

    def to_json(self) -> dict[str, Any]:
        """The object of `dimension --json`; the certificate is not part of it."""
        return {
            "schema": 1, "spec": self.spec, "dimension": self.dimension, "label": self.label, "lower": self.lower,
            "upper": self.upper, "parameters": self.parameters, "redundancy": [list(r) for r in self.redundancy],
            "evidence": [e.to_json() for e in self.evidence], "seconds": round(self.seconds, 6),
        }  # fmt: skip


def decide(
    spec: str,
    parameters: int,
    lower: int,
    upper: int,
    evidence: Sequence[Evidence],
    **more: Any,
) -> Answer:
    """The answer that follows from proven bounds and evidence: nobody sets a label by hand.

    Raises `Contradiction` when proven bounds cross, when proved theorems disagree with each other or leave the bounds.
    """
    if not 0 <= lower <= upper <= parameters:
        raise Contradiction(f"{spec}: proven bounds {lower} <= dimension <= {upper} of {parameters} parameters cross")
    stated = [e for e in evidence if e.side == "value" and e.value is not None]
    proved = [e for e in stated if e.status == "proved"]
    for e in proved:
        if e.value is not None and (not lower <= e.value <= upper or e.value != proved[0].value):
            known = f"{lower} <= dimension <= {upper}, {proved[0].source}: {proved[0].value}"
            raise Contradiction(f"{spec}: {e.source} says {e.value}, but {known}")
    dimension: int | None
    label: str | None
    if lower == upper:
        dimension, label = lower, "proven"
    elif proved:
        dimension, label = proved[0].value, "formula"
    else:
        weak = [e.value for e in stated if e.value is not None and lower <= e.value <= upper]
        dimension, label = (weak[0], "numerical") if weak else (None, None)
    return Answer(spec, dimension, label, lower, upper, parameters, evidence=tuple(evidence), **more)
