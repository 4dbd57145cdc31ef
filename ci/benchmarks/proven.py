"""How many random networks of the whole notation are proven: every mechanism, up to 150 parameters, always the same networks."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from neuromanifold.verifiers.certificate import prove_bounds
from table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from networks import MAX_PARAMETERS, random_networks


def measure(rounds: int, quick: bool) -> list[Table]:
    """One round over 2000 networks (quick: 100)."""
    del rounds
    count = 100 if quick else 2_000
    seconds, still_open, proven = [], [], 0
    for network in random_networks(count):
        start = time.perf_counter()
        proof = prove_bounds(network)
        seconds.append(time.perf_counter() - start)
        proven += proof.lower == proof.upper
        if proof.lower < proof.upper:
            still_open.append(f"open: {network}: {proof.lower}..{proof.upper}")
    title = f"Random networks of the whole notation, up to {MAX_PARAMETERS} parameters: {proven} of {count} proven ({100 * proven / count:.1f} %)"
    return [Table(title, {"all of them": [sum(seconds)], "the slowest": [max(seconds)]}, tuple(still_open))]
