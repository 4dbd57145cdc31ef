"""Proven bounds of one network, and the certificate that an independent checker replays (`CERTIFICATES.md`)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..numerics.device import large_field
from ..numerics.forward import record
from ..numerics.network import Network, UnsupportedNetwork
from ..numerics.rings import DEFAULT_PRIME, PrimeField
from .coordinates.certify import REPLAYED_PARAMETERS, NotCovered, coordinate_certificate
from .cost import Budget, direct, prefers_coordinates
from .discovery import discover
from .exponents import draws_json, exponent_count, independent_draws
from .lower import LowerBound, NoPoint, rank_lower_bound
from .radicands import radicand_witnesses
from .tokens import token_counts
from .upper import UpperBound, chart_bound, upper_bounds, with_found

FORMAT, VERSION = "neuromanifold-certificate", 1
RETRY_STRIDE = 1_000_003  # a bad point costs a retry at seed + attempt * stride
ATTEMPTS = 3
DEVICE_PARAMETERS = 8_000  # from here on a GPU is looked for: elimination by numpy takes longer than JAX and a GPU take to get ready


@dataclass(frozen=True)
class Proof:
    """Proven bounds `lower <= dimension <= upper` with their certificate; `notes` say what was not used, and why."""

    network: Network
    lower: int
    upper: int
    redundancy: tuple[tuple[str, int], ...]
    certificate: dict[str, Any] | None
    notes: tuple[str, ...] = ()


def prove_bounds(
    network: Network,
    seed: int = 0,
    deadline: float | None = None,
    progress: Callable[[Proof], None] | None = None,
    budget: Budget | None = None,
) -> Proof:
    """The best proven bounds at hand, with a certificate for both.

    `deadline` (of `time.monotonic`) is looked at between the steps: past it the bounds so far are returned. `progress` is
    told of bounds that are proven before the end. Where no coordinate certificate is found, a direct proof is made if its
    predicted cost fits `budget`.
    """
    whole = _by_coordinates(network, seed, deadline) if prefers_coordinates(network) else None
    if whole:
        return whole
    refusal = budget.refusal(direct(network)) if budget else None
    if refusal:
        return Proof(network, 0, network.parameters, (), None, (refusal,))
    if network.parameters > REPLAYED_PARAMETERS:
        reason = f"not tried: the checker replays certificates of up to {REPLAYED_PARAMETERS} parameters, coordinate certificates apart"
        return Proof(network, 0, network.parameters, (), None, (reason,))
    ring = PrimeField(DEFAULT_PRIME) if network.parameters < DEVICE_PARAMETERS else large_field(DEFAULT_PRIME)
    best: Proof | None = None
    for attempt in range(ATTEMPTS):
        proof = _attempt(network, seed + attempt * RETRY_STRIDE, ring, deadline, progress)
        if best is None or proof.upper - proof.lower < best.upper - best.lower:
            best = proof
        if proof.lower or proof.lower == proof.upper or _late(deadline):
            break  # another point helps only where no rank was found at all
    if best is None:
        raise ArithmeticError("no attempt was made")
    return best


def _by_coordinates(network: Network, seed: int, deadline: float | None) -> Proof | None:
    """The proof by a coordinate certificate, or None where there is none."""
    try:
        certificate = coordinate_certificate(network, seed, deadline)
    except NotCovered:
        return None
    bounds = certificate["claim"]
    return Proof(network, bounds["lower"], bounds["upper"], chart_bound(network).redundancy, certificate)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def _attempt(
    network: Network, seed: int, ring: PrimeField, deadline: float | None, progress: Callable[[Proof], None] | None
) -> Proof:
    notes: list[str] = []
    if _late(deadline):
        return Proof(network, 0, network.parameters, (), None, ("no time was left for a proof",))
    bounds = upper_bounds(network, seed, ring)
    upper = next(bounds)
    lower: LowerBound | None = None
    sides: dict[str, Any] = {}
    if progress:
        so_far = _assemble(network, seed, ring.p, None, {}, upper)
        progress(Proof(network, 0, upper.value, upper.redundancy, so_far))
    if _late(deadline):
        notes.append("lower bound not tried: no time was left")
    else:
        lower, sides, note = _lower(upper.narrowed, seed, ring, upper)
        notes += [note] if note else []
    if (lower is None or lower.value < upper.value) and not _late(deadline):
        upper = min([upper, *bounds], key=lambda bound: bound.value)
    if lower and lower.value < upper.value and not _late(deadline):
        upper = _searched(network, upper, seed, ring)
    certificate = _assemble(network, seed, ring.p, lower, sides, upper)
    value = lower.value if lower else 0
    return Proof(network, value, upper.value, upper.redundancy, certificate, tuple(notes))


def _searched(network: Network, upper: UpperBound, seed: int, ring: PrimeField) -> UpperBound:
    """The upper bound with fields outside of the catalogue, where the network is small enough to search for some."""
    try:
        found = discover(upper.narrowed, seed).found
    except UnsupportedNetwork:
        return upper
    return with_found(network, upper, found, seed, ring) if found else upper


Found = tuple[LowerBound | None, dict[str, Any], str | None]  # the bound, its side conditions, why there is none


def _lower(network: Network, seed: int, ring: PrimeField, upper: UpperBound) -> Found:
    """The best lower bound over the token counts, fewest first, until it reaches the upper bound or stays the same."""
    best: Found | None = None
    for tokens in token_counts(network):
        found = _lower_with_tokens(replace(network, t=tokens), seed, ring, upper)
        stable = best and best[0] and found[0] and found[0].value == best[0].value
        best = found if best is None or found[0] else best
        if stable or (found[0] and found[0].value >= upper.value):
            break
    return best or (None, {}, "no lower bound: no number of tokens to try")


def _lower_with_tokens(network: Network, seed: int, ring: PrimeField, upper: UpperBound) -> Found:
    """A lower bound for this network, and so for all that compute its functions, with its side conditions."""
    program = record(network)
    sides: dict[str, Any] = {}
    if network.norm is not None:
        witnesses = radicand_witnesses(network, program, seed, ring)
        if witnesses is None:
            return None, {}, "no lower bound: no witness was found that the norms' radicands are independent non-squares"
        sides["radicands"] = witnesses
    if exponent_count(program):
        draws = independent_draws(network, program, seed, ring)
        if draws is None:
            return None, {}, "no lower bound: the exponents could not be shown independent, so exponentials may not be treated as free"
        sides["exponents"] = {"draws": draws_json(draws)}
    try:
        return rank_lower_bound(network, program, seed, ring, upper.value, upper.spare_columns), sides, None
    except NoPoint as reason:
        return None, {}, f"no lower bound: {reason}"


def _assemble(
    network: Network, seed: int, prime: int, lower: LowerBound | None, sides: dict[str, Any], upper: UpperBound
) -> dict[str, Any]:
    below = lower.to_json() if lower else None
    if below and upper.narrowed != network:
        below["spec"] = str(upper.narrowed)
    return {
        "format": FORMAT,
        "version": VERSION,
        "spec": str(network),
        "claim": {"lower": lower.value if lower else 0, "upper": upper.value},
        "prime": prime,
        "seed": seed,
        "lower": below,
        **sides,
        "upper": upper.to_json(),
        "holes": [],
    }


def dumps(certificate: dict[str, Any]) -> str:
    """The text of a certificate, one line, ending in a newline."""
    return json.dumps(certificate, separators=(",", ":")) + "\n"
