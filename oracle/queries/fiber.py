"""The fiber through one parameter point: all parameters that compute the same function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...numerics.network import Network
from ...numerics.notation import parse
from ...verifiers.points.families import free_names
from ...verifiers.points.local import local_rank
from ...verifiers.points.theta import exact_theta


@dataclass(frozen=True)
class Fiber:
    """The fiber of theta -> f_theta through one point.

    `rank_lower <= rank of the differential at theta <= rank_upper`; `lower <= local dimension of the fiber at theta <= upper`.
    `dimension` is that local dimension where the bounds meet, else None. `position`: `generic` (the rank at theta is the
    dimension of the function space), `exceptional` (it is smaller) or `undecided`. `directions`: symmetry fields and the dimensions each adds to
    their span at theta. `free`: tensors (or parts of them) that can take any values together without changing the function, at theta or
    another point of its orbit.
    """

    spec: str
    parameters: int
    rank_lower: int
    rank_upper: int
    lower: int
    upper: int
    position: str
    generic_dimension: tuple[int, int]
    directions: tuple[tuple[str, int], ...]
    free: tuple[str, ...]
    reason: str
    notes: tuple[str, ...] = ()

    @property
    def rank(self) -> int | None:
        """The rank of the differential at theta, where it is known."""
        return self.rank_lower if self.rank_lower == self.rank_upper else None

    @property
    def dimension(self) -> int | None:
        """The local dimension of the fiber at theta, where it is known."""
        return self.lower if self.lower == self.upper else None

    def to_json(self) -> dict[str, Any]:
        """The answer as one JSON object."""
        return {
            "schema": 1, "spec": self.spec, "dimension": self.dimension, "lower": self.lower, "upper": self.upper,
            "position": self.position, "rank": self.rank, "rank_lower": self.rank_lower, "rank_upper": self.rank_upper,
            "parameters": self.parameters, "generic_dimension": list(self.generic_dimension),
            "directions": [list(d) for d in self.directions], "free": list(self.free), "reason": self.reason,
            "notes": list(self.notes),
        }  # fmt: skip


def fiber(network: str | Network, theta: Mapping[str, Any], *, seed: int = 0) -> Fiber:
    """The fiber {theta' : f_theta' = f_theta} near theta, theta as `exact_theta` takes it.

    Where the rank at theta is the dimension of the function space, the rank is constant near theta and the fiber is a manifold there
    of dimension parameters - rank, over the reals and over the complex numbers. Elsewhere the kernel of the differential only bounds
    the local dimension from above. From below it is bounded by families inside the fiber (orbits, and tensors that are not
    read; real and complex), and over the complex numbers by parameters - dimension of the function space: `lower` is the larger of both.
    Not guaranteed: that the bounds meet, and nothing about parts of the fiber that do not pass through theta.
    Raises `ThetaError` where theta does not fit the network, `TooLarge` where no prime of ours is good for its denominators.

    >>> point = {"1.Q": [[[0, 0]]], "1.K": [[[3, 1]]], "1.V": [[[1, 0], [0, 1]]]}
    >>> found = fiber("lightning d=2,2 a=1 t=2", point)
    >>> found.position, found.rank, found.lower, found.upper
    ('exceptional', 2, 6, 6)
    """
    if isinstance(network, str):
        network = parse(network)
    point = exact_theta(network, theta)
    local = local_rank(network, point, seed)
    parameters = network.parameters
    generic = _generic_dimension(network, seed, local.lower, local.generic_upper)
    if local.lower == generic[1]:
        position, lower = "generic", parameters - local.lower
        reason = "the rank at theta is the dimension of the function space: near theta the fiber is a manifold"
    else:
        position = "exceptional" if local.upper < generic[0] else "undecided"
        lower = max(local.family.dimension, parameters - generic[1])
        turned = ", after a change of bases" if local.family.turned else ""
        how = "the generic fiber, over the complex numbers"
        if local.family.dimension >= parameters - generic[1]:
            how = f"symmetry orbits and what the function does not read{turned}"
        reason = f"below: {how}; above: the kernel of the differential at theta"
    directions = tuple((f"{f.name} {f.layer}: {f.describe()}", n) for f, n in local.fields)
    return Fiber(
        str(network), parameters, local.lower, local.upper, lower, parameters - local.lower, position, generic, directions,
        tuple(free_names(network, local.family.free)), reason, local.notes,
    )  # fmt: skip


def _generic_dimension(network: Network, seed: int, lower: int, upper: int) -> tuple[int, int]:
    """Proven bounds of the dimension of the function space, given those at hand."""
    if lower == upper:
        return lower, upper
    from ..dimension import dimension

    answer = dimension(network, seed=seed)
    return max(lower, answer.lower), min(upper, answer.upper)

