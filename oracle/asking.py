"""Asking the oracle from a command: limits checked, and Ctrl-C answered with the best that is known."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from ..numerics.network import Network
from .answer import Answer, Evidence, decide
from .exits import CommandError

if TYPE_CHECKING:
    from .store import Store

MAX_SEED = 10**17  # certificates hold 18 digits, and a retry at another point adds to the seed


def check_limits(seed: int, timeout: float | None) -> None:
    """Refuse seeds that no certificate can hold and timeouts that are no time."""
    if not 0 <= seed < MAX_SEED:
        raise CommandError(f"--seed {seed} is out of range: 0 <= seed < 10^17")
    if timeout is not None and not (math.isfinite(timeout) and timeout >= 0):
        raise CommandError(f"--timeout {timeout} is not a number of seconds: 0, 0.5, 60, ...")


def open_store(no_store: bool) -> Store | None:
    """Return the store of a command line, whose messages go to stderr."""
    if no_store:
        return None
    from .console import message
    from .store import Store

    return Store(message)


def ask(network: Network, seed: int, timeout: float | None, no_store: bool = False) -> tuple[Answer, bool]:
    """Return the answer and whether Ctrl-C cut it short; then it is the best answer proven so far."""
    from .dimension import dimension

    best = decide(str(network), network.parameters, 0, network.parameters, ())

    def progress(answer: Answer) -> None:
        nonlocal best
        best = answer

    try:
        return dimension(network, seed=seed, timeout=timeout, progress=progress, store=open_store(no_store)), False
    except KeyboardInterrupt:
        stopped = Evidence("value", None, "estimate", "unused", "everything after Ctrl-C", "stopped by the user")
        return dataclasses.replace(best, evidence=(*best.evidence, stopped)), True
