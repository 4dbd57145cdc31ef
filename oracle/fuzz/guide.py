"""Guidance: of several candidates take, every other time, the one that shows the most new combinations of three features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeVar

from ...numerics.network import Network
from .edges import features

T = TypeVar("T")
CANDIDATES = 3


class Guide:
    """Remembers which triples of features were shown: a conjecture that is false where three equations hold is met once their triple is.

    Every other pick is the first candidate, since new triples favour networks of many mechanisms.
    """

    def __init__(self) -> None:
        self._shown: set[int] = set()
        self._picks = 0

    def pick(self, candidates: Sequence[tuple[T, Network]]) -> T:
        """The candidate with the most new triples (the first of equals), or simply the first; its triples are shown from now on."""
        self._picks += 1
        best: T = candidates[0][0]
        new: set[int] = set()
        for candidate, network in candidates[: 1 if self._picks % 2 else None]:
            fresh = _triples(network) - self._shown
            if len(fresh) > len(new):
                best, new = candidate, fresh
        self._shown |= new
        return best


def _triples(network: Network) -> set[int]:
    """The triples of features, each as one number."""
    found = sorted({_number(f) for f in features(network)})
    return {x * 1_000_003**2 + y * 1_000_003 + z for x, y, z in combinations(found, 3)}


_numbers: dict[str, int] = {}


def _number(feature: str) -> int:
    """A number for each feature, in the order of their first occurrence."""
    return _numbers.setdefault(feature, len(_numbers))
