"""The list of claims, and how to run some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from . import failures, fiberclaims, identities, singular, symmetries
from .model import Claim, Outcome, run_claim


@cache
def catalogue() -> tuple[Claim, ...]:
    """Return every claim, in the order in which they are run. Cheap: no solver is loaded."""
    claims = (*identities.CLAIMS, *symmetries.CLAIMS, *failures.CLAIMS, *fiberclaims.CLAIMS, *singular.CLAIMS)
    names = [claim.id for claim in claims]
    if len(set(names)) != len(names):
        raise ValueError("two claims with one id")
    return claims


def prove(ids: Sequence[str] | None = None, timeout: float = 60) -> Iterator[Outcome]:
    """Run claims by id (all: None), each for at most `timeout` seconds, and yield each outcome when it is there.

    Raises `KeyError` for an unknown id before anything runs.
    """
    known = {claim.id: claim for claim in catalogue()}
    chosen = list(known) if ids is None else list(ids)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise KeyError(f"no claim {unknown[0]!r}")
    return (run_claim(known[name], timeout) for name in chosen)
