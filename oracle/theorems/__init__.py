"""Theorems about dimensions: closed formulas whose hypotheses are evaluated, never assumed.

No number library is loaded here: a formula costs microseconds at any size.
"""

from __future__ import annotations

from ...numerics.network import Network
from . import lightning, polynomial, softmax, stacks, widths
from .theorem import CONJECTURE, PROVED, Applied, Hypothesis, Missed, NonExample, Theorem

__all__ = [
    "CONJECTURE", "PROVED", "Applied", "Hypothesis", "Missed", "NonExample", "Theorem", "applicable", "registry",
]  # fmt: skip

_ALL = (
    lightning.SINGLE, lightning.SINGLE_ONE_TOKEN, lightning.DEEP, lightning.DEEP_RANK_ONE, softmax.SINGLE, softmax.ONE_TOKEN,
    softmax.DEEP, widths.LIGHTNING, widths.SOFTMAX, stacks.SOFTMAX, stacks.LIGHTNING, polynomial.ALEXANDER_HIRSCHOWITZ,
)  # fmt: skip


def registry() -> tuple[Theorem, ...]:
    """All theorems, proved ones first."""
    return tuple(sorted(_ALL, key=lambda t: t.status != PROVED))


def applicable(network: Network) -> tuple[Applied, ...]:
    """The theorems whose hypotheses hold for the network, with their values, proved ones first."""
    results = (theorem.evaluate(network) for theorem in registry())
    return tuple(r for r in results if isinstance(r, Applied))
