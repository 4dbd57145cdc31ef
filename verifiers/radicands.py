"""Norms: each radicand of one input is a non-square in the field made by the parameters, X, units and the earlier roots.

Then adjoining the roots gives a domain, so that a minor that is non-zero at one point is non-zero generically (`PROOFS.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rings import Array, NotInvertible, PrimeField
from .sieve import batches

MAX_POINTS = 4


def radicand_count(program: Program) -> int:
    """How many radicands one input has."""
    return sum(s.shape[0] for s in program.instructions if s.operation == "root")


def radicand_witnesses(
    network: Network, program: Program, seed: int, ring: PrimeField, theta: Mapping[str, Array] | None = None
) -> dict[str, Any] | None:
    """The `radicands` object of a certificate, or None where the search is given up.

    With a given `theta` the witnesses show that the radicands are independent non-squares at that theta.
    """
    count = radicand_count(program)
    shared = Point(seed, ring.p).constants(program)
    for k in range(MAX_POINTS):
        point = Point(seed, ring.p, f"radicands/{k}/")
        parameters = point.parameters(network) if theta is None else dict(theta)
        home: int | None = None
        witnesses: dict[int, int] = {}
        try:
            for start, sieve, _ in batches(program, point, ring, {**shared, **parameters}):
                good = np.flatnonzero(sieve.good)
                home = start + int(good[0]) if home is None and len(good) else home
                for n in np.flatnonzero(sieve.nonsquare):
                    witnesses.setdefault(int(sieve.failed[n]), start + int(n))
                if home is not None and len(witnesses) == count:
                    return {"point": [k, home], "witnesses": [witnesses[j] for j in range(count)]}
        except NotInvertible:
            continue
    return None
