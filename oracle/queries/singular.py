"""Is f_theta a singular point of the Zariski closure of the network's functions?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...numerics.network import Network
from ...numerics.notation import parse
from ...verifiers.points.fiber_points import drawn, fiber_points
from ...verifiers.points.forms import TooLarge
from ...verifiers.points.linear import matmul, rank, zeros
from ...verifiers.points.local import local_rank
from ...verifiers.points.tangents import span_lower_bound
from ...verifiers.points.theta import Theta, exact_theta
from ...verifiers.points.units import good_prime


@dataclass(frozen=True)
class Singularity:
    """`verdict`: singular, regular parametrisation, or undecided; `reason` says what was proved.

    `span`: proven lower bound of the span of tangent vectors from `points` points of the fiber (0: not computed). `dimension` bounds
    the dimension of the function space; `rank` bounds the rank of the differential at theta.
    """

    spec: str
    verdict: str
    reason: str
    rank: tuple[int, int]
    dimension: tuple[int, int]
    span: int
    points: int

    def to_json(self) -> dict[str, Any]:
        """The answer as one JSON object."""
        return {
            "schema": 1, "spec": self.spec, "verdict": self.verdict, "reason": self.reason, "rank": list(self.rank),
            "dimension": list(self.dimension), "span": self.span, "points": self.points,
        }  # fmt: skip


def singular(network: str | Network, theta: Mapping[str, Any], *, seed: int = 0) -> Singularity:
    """Whether f_theta is a singular point of the Zariski closure of {f_theta}, theta as `exact_theta` takes it.

    `singular` (networks whose outputs are polynomials in theta and X): tangent vectors at f_theta from several verified points of its fiber span more
    than the dimension; or they do so at a random point of an irreducible family whose closure contains f_theta, since
    the singular locus is closed. `regular parametrisation`: the differential at theta has the rank of the
    dimension, so that near theta the map is a submersion onto a manifold of functions of full dimension. That does *not* prove
    the closure smooth at f_theta: another part of it may pass through the same function. `undecided` claims nothing.
    Raises `ThetaError` where theta does not fit the network.

    >>> point = {"1.Q": [[[0, 0]]], "1.K": [[[0, 0]]], "1.V": [[[0, 0], [0, 0]]]}
    >>> singular("lightning d=2,2 a=1 t=2", point).verdict
    'singular'
    """
    if isinstance(network, str):
        network = parse(network)
    point = exact_theta(network, theta)
    local = local_rank(network, point, seed)
    spec, ranks = str(network), (local.lower, local.upper)
    dimension = _dimension(network, seed, ranks, local.generic_upper)
    span, points, reason = 0, 0, "the closure is one of polynomial maps; with exponentials or roots it is not asked for"
    if not (network.transcendental or network.norm):
        try:
            span, points = _span(network, point, seed)
            reason = f"the tangent vectors of {points} points of the fiber that were found span {span} dimensions"
        except TooLarge as error:
            reason = f"no other points of the fiber were tried: {error}"
        if span > dimension[1]:
            return Singularity(spec, "singular", f"{reason}, more than the dimension", ranks, dimension, span, points)
        near = _stratum_point(network, point, seed)
        if near is not None:
            near_span, near_points = _span(network, near, seed)
            if near_span > dimension[1]:
                why = (
                    f"tangent vectors span {near_span} dimensions at a random function whose K^T Q has rank a - 1; such functions"
                    " are one irreducible family, f_theta lies in it, and the singular locus is closed"
                )
                return Singularity(spec, "singular", why, ranks, dimension, near_span, near_points)
    if local.lower == dimension[1]:
        why = "the differential at theta has the rank of the dimension; other parts of the closure may still pass through f_theta"
        return Singularity(spec, "regular parametrisation", why, ranks, dimension, span, points)
    return Singularity(spec, "undecided", reason, ranks, dimension, span, points)


def _dimension(network: Network, seed: int, ranks: tuple[int, int], upper: int) -> tuple[int, int]:
    if ranks[0] == upper:
        return upper, upper
    from ..dimension import dimension

    answer = dimension(network, seed=seed)
    return max(answer.lower, ranks[0]), min(answer.upper, upper)


def _span(network: Network, theta: Theta, seed: int) -> tuple[int, int]:
    points = fiber_points(network, theta, seed)
    return span_lower_bound(network, points, good_prime(*points), seed), len(points)


def _stratum_point(network: Network, theta: Theta, seed: int) -> Theta | None:
    """One lightning layer and head with rank K^T Q < a: a random point with rank a - 1, so that f_theta is in the closure of such."""
    plain = not (network.bias or network.rope or network.norm or network.ffn)
    if network.kind != "lightning" or network.l > 1 or network.heads != (1,) or not plain:
        return None
    a, width = network.a[0], network.d[0]
    if rank(matmul(theta["1.K"][0].T, theta["1.Q"][0])) >= a:
        return None
    made = {name: drawn(seed, f"stratum/{name}", value.shape) for name, value in theta.items()}
    for name in ("1.Q", "1.K"):
        made[name][0, a - 1] = zeros(width)
    return made
