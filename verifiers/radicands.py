"""Norms: each radicand of one input is a non-square in the field made by the parameters, X, units and the earlier roots.

Then adjoining the roots gives a domain, so that a minor that is non-zero at one point is non-zero generically (`PROOFS.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..numerics.evaluate import evaluate
from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rings import Array, NotInvertible, PrimeField

MAX_TRIES = 20_000
MAX_TRIES_AT_THETA = 300  # at one theta radicands may be equal or squares: no witness exists then


class _Watched(PrimeField):
    """The prime field, stopping at a given radicand and telling whether it is a non-square there."""

    def __init__(self, p: int, stop: int):
        super().__init__(p)
        self.left = stop

    def root(self, x: Array) -> Array:
        """The roots; raises `_Found` at the watched radicand."""
        flat = self.has_root(x).reshape(-1)
        for exists in flat:
            if self.left == 0:
                raise _Found(not bool(exists))
            if not exists:
                raise NotInvertible("an earlier radicand has no root")
            self.left -= 1
        return super().root(x)


class _Found(Exception):
    def __init__(self, nonsquare: bool):
        super().__init__()
        self.nonsquare = nonsquare


def radicand_count(program: Program) -> int:
    """How many radicands one input has."""
    total = 0
    for step in program.instructions:
        if step.operation == "root":
            total += step.shape[0]
    return total


def radicand_witnesses(
    network: Network, program: Program, seed: int, ring: PrimeField, theta: Mapping[str, Array] | None = None
) -> dict[str, Any] | None:
    """The `radicands` object of a certificate, or None where the search is given up.

    With a given `theta` the witnesses show that the radicands are independent non-squares at that theta.
    """
    shared = Point(seed, ring.p).constants(program)
    tries = MAX_TRIES if theta is None else MAX_TRIES_AT_THETA
    for k in range(tries):
        point = Point(seed, ring.p, f"radicands/{k}/")
        parameters = point.parameters(network) if theta is None else dict(theta)
        try:
            evaluate(program, ring, {**shared, **parameters, **point.inputs(program, [0])})
        except NotInvertible:
            continue
        witnesses = []
        for j in range(radicand_count(program)):
            found = _witness(program, seed, ring, {**shared, **parameters}, k, j, tries)
            if found is None:
                return None
            witnesses.append(found)
        return {"point": k, "witnesses": witnesses}
    return None


def _witness(
    program: Program, seed: int, ring: PrimeField, fixed: dict[str, Any], k: int, j: int, tries: int
) -> int | None:
    for w in range(tries):
        inputs = Point(seed, ring.p, f"radicands/{k}/witness/{w}/").inputs(program, [0])
        try:
            evaluate(program, _Watched(ring.p, j), {**fixed, **inputs})
        except _Found as found:
            if found.nonsquare:
                return w
        except NotInvertible:
            continue
    return None
