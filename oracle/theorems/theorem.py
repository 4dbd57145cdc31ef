"""What a theorem is: a formula, its hypotheses as predicates on a network, and where it is proved.

A theorem never answers outside its hypotheses: `evaluate` gives `Applied` with the value, or `Missed` with what fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...numerics.network import Network

PROVED = "proved"  # a refereed proof is cited, or a proof is written out in this repository
CONJECTURE = "conjecture"  # checked by exact ranks only, or proved in a preprint only

Redundancy = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class NonExample:
    """A network at which one hypothesis fails and all others hold, with its exact dimension (a rank mod p; see the tests).

    `harmless` says that the formula is right there all the same: the hypothesis marks what is known, not where it ends;
    `note` says why.
    """

    spec: str
    dimension: int
    harmless: bool = False
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The object of the JSON interface."""
        return {"spec": self.spec, "dimension": self.dimension, "harmless": self.harmless, "note": self.note}


@dataclass(frozen=True)
class Hypothesis:
    """A named condition: `holds(network)` decides it; `non_example` shows what it is for."""

    name: str
    words: str
    holds: Callable[[Network], bool]
    non_example: NonExample

    def to_json(self) -> dict[str, Any]:
        """Name, words and non-example."""
        return {"name": self.name, "words": self.words, "non_example": self.non_example.to_json()}


@dataclass(frozen=True)
class Applied:
    """All hypotheses hold: the dimension is `value`, on the authority of the theorem's status."""

    theorem: Theorem
    value: int
    held: tuple[Hypothesis, ...]
    redundancy: Redundancy = ()


@dataclass(frozen=True)
class Missed:
    """The theorem says nothing about this network: the hypotheses in `failed` do not hold."""

    theorem: Theorem
    held: tuple[Hypothesis, ...]
    failed: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class Theorem:
    """A closed formula with evaluated hypotheses.

    `formula` is its text in the letters of the source paper (`oracle/NOTATION.md`), `value(network)` computes it; outside
    the hypotheses `value` may be wrong or raise. `redundancy(network)`, where given, splits parameters - dimension by
    symmetry.
    """

    id: str
    statement: str
    formula: str
    hypotheses: tuple[Hypothesis, ...]
    value: Callable[[Network], int]
    citation: str
    status: str
    redundancy: Callable[[Network], Redundancy] | None = None

    def evaluate(self, network: Network) -> Applied | Missed:
        """The value if every hypothesis holds, else which do not."""
        held = tuple(h for h in self.hypotheses if h.holds(network))
        failed = tuple(h for h in self.hypotheses if h not in held)
        if failed:
            return Missed(self, held, failed)
        split = self.redundancy(network) if self.redundancy else ()
        return Applied(self, self.value(network), held, split)

    def describe(self) -> str:
        """Several lines for people: statement, formula, hypotheses with their non-examples, source."""
        lines = [f"{self.id} ({self.status})", f"  {self.statement}", f"  dimension = {self.formula}", "  if"]
        for h in self.hypotheses:
            lines.append(f"    {h.name}: {h.words}")
            x = h.non_example
            effect = "also there" if x.harmless else "not the formula's value"
            lines.append(f"      without it: {x.spec} has {x.dimension}, {effect}{'; ' + x.note if x.note else ''}")
        return "\n".join([*lines, f"  source: {self.citation}"])

    def to_json(self) -> dict[str, Any]:
        """The object of `theorems --json`."""
        return {
            "id": self.id, "status": self.status, "statement": self.statement, "formula": self.formula,
            "hypotheses": [h.to_json() for h in self.hypotheses], "citation": self.citation,
        }  # fmt: skip
