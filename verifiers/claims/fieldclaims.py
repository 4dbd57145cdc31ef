"""How a row of the field table becomes a claim.

The words are written from the table in CERTIFICATES section 7, the motions of entries (`motions.py`, `plain.py`) apart from them. Ids are
`field-` and the field's name in CERTIFICATES section 7; variants have a suffix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..freealgebra import Letter
from . import motions
from .entries import Shape
from .identities import both, sized
from .letters import letters
from .model import Claim
from .residuals import Entries, bound
from .words import Words

# Field of CERTIFICATES section 7 -> the claims that prove it, without the prefix `field-`.
COVERS: Mapping[str, tuple[str, ...]] = {
    "gauge": ("gauge", "gauge-rope"),
    "scaling": ("scaling", "scaling-rope"),
    "head-scaling": ("head-scaling",),
    "head-mix": ("head-mix",),
    "group-sum": ("group-sum",),
    "value-gauge": ("value-gauge",),
    "hidden-basis": (
        "hidden-basis-produce",
        "hidden-basis-produce-values",
        "hidden-basis-consume",
        "hidden-basis-ffn",
    ),
    "key-bias": ("key-bias",),
    "value-bias": ("value-bias",),
    "value-bias-pair": ("value-bias-pair",),
    "push": ("push-produce", "push-consume", "push-consume-softmax", "push-ffn"),
    "push-past": ("push-produce", "value-bias", "push-consume", "push-consume-softmax"),
    "dead-query": ("dead",),
    "dead-key": ("dead",),
    "symmetric-key": ("symmetric-key", "symmetric-rank-one"),
    "symmetric-query": ("symmetric-query", "symmetric-rank-one"),
    "ffn-scaling": ("ffn-scaling", "ffn-scaling-swiglu"),
    "ffn-basis": ("ffn-basis",),
    "gain": ("gain",),
    "shift": ("shift", "shift-softmax"),
    "centre": ("centre", "centre-softmax"),
    "mlp-scaling": ("ffn-scaling",),
    "mlp-basis": ("ffn-basis",),
    "unread": ("unread",),
    "koszul": ("koszul",),
}

# Fields of the table that no claim proves yet: argued in `PROOFS-upper.md`, and the derivative along them is exactly zero on
# random networks (`tests/verifiers/test_replay.py`).
UNCLAIMED = frozenset({"block", "centre-basis", "free-mix", "linear-blocks", "mlp-rotation", "ones", "push-through", "push-value", "unseen"})

SOURCE = "PROOFS section 6; CERTIFICATES section 7"


def on(move: motions.Mover, *shapes: Shape) -> Entries:
    """Return the claim, entry by entry, that the layers of these shapes move as `move` says."""
    return Entries(bound(motions.under, move), shapes)


def make(name: str, title: str, statement: str, entries: Entries, words: Words, ring: bool = True) -> Claim:
    """Return a claim of the table.

    `ring`: the plain ring axioms suffice; otherwise 1 x 1 words must commute or be symmetric, and Z3 gets one size.
    """
    checks = both(entries, words) if ring else sized(entries, words)
    return Claim(f"field-{name}", title, statement, "all sizes", SOURCE, checks)


def only(*choices: str) -> tuple[frozenset[str], ...]:
    """Return the given choices of optional letters."""
    return tuple(frozenset(choice.split()) for choice in choices)


def sets(names: Sequence[str], always: str = "") -> tuple[frozenset[str], ...]:
    """Return every subset of `names`, each with `always`."""
    subsets = [frozenset(always.split())]
    for name in names:
        subsets += [subset | {name} for subset in subsets]
    return tuple(subsets)


def light(**sizes: Any) -> Shape:
    """Return a lightning layer."""
    return Shape("lightning", **sizes)


def soft(**sizes: Any) -> Shape:
    """Return a softmax layer."""
    return Shape("softmax", **sizes)


def square_values() -> tuple[Letter, ...]:
    """Return the letters of a layer without output matrices: values are as wide as the output."""

    def size(name: str) -> str:
        return "n" if name == "v" else name

    return tuple(Letter(letter.name, size(letter.rows), size(letter.columns)) for letter in letters())
