"""The networks of a claim: every point of `where` at which `when` holds, the smallest network first.

Smallest means: fewest parameters, then fewest layers, then fewest tokens, then the shortest canonical line, then the first
in alphabetical order. The first refuted instance in this order is the counterexample that is shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from ...numerics.network import Network, NetworkError
from ...numerics.notation import Family, parse_any
from .claims import Claim, Statement
from .expressions import Expression, ExpressionError, Value
from .template import Template

MAX_GRID = 100_000


class Uncheckable(ValueError):
    """The claim cannot be checked as it is written; the message says at which values and what to change."""


@dataclass(frozen=True)
class Instance:
    """One network of a claim, and the values that made it (empty for claims without `where`)."""

    values: Mapping[str, Value]
    network: Network | None

    def __str__(self) -> str:
        return str(self.network) if self.network else ""

    def right_side(self, statement: Statement) -> int | str:
        """The value that a statement gives at this instance. Raises `Uncheckable`."""
        try:
            if isinstance(statement.value, Expression):
                return statement.value(self.values)
            if isinstance(statement.value, Template):
                return statement.value.fill(self.values)
        except ExpressionError as error:
            raise Uncheckable(f"{statement.kind}: {error}") from None
        return statement.value


@dataclass(frozen=True)
class Instances:
    """The instances in order, the number of points tried and how many of them `when` left out."""

    found: tuple[Instance, ...]
    points: int
    left_out: int


def size_key(network: Network | None) -> tuple[int, int, int, int, str]:
    """The order of networks by size, as described above."""
    if network is None:
        return 0, 0, 0, 0, ""
    line = str(network)
    return network.parameters, network.l, network.t, len(line), line


def instance_at(claim: Claim, values: Mapping[str, Value]) -> Instance | None:
    """The instance at a point of `where`, or None where `when` is false. Raises `Uncheckable`: no value, not a network, a family."""
    try:
        if claim.when is not None and not claim.when(values):
            return None
        if claim.network is None:
            return Instance(values, None)
        line = claim.network.fill(values)
    except ExpressionError as error:
        raise Uncheckable(str(error)) from None
    return Instance(values, network_of(line, values))


def network_of(line: str, values: Mapping[str, Value]) -> Network:
    """The network of a filled line. Raises `Uncheckable`."""
    at = ", ".join(f"{k}={v}" for k, v in values.items())
    try:
        network = parse_any(line)
    except NetworkError as error:
        hint = "; leave such points out with when" if at else ""
        raise Uncheckable(f"{line!a}{' at ' + at if at else ''} is not a network: {error}{hint}") from None
    if isinstance(network, Family):
        holes = ", ".join(f"{{{n}}}" for n in network.names)
        raise Uncheckable(f"{line!a} is a family: write its sizes as holes {holes} and give their values in where")
    return network


def instances(claim: Claim) -> Instances:
    """All instances of a claim, smallest first. Raises `Uncheckable`, before any work if the grid has more than 100,000 points."""
    if claim.grid > MAX_GRID:
        advice = "give fewer values (check enumerates where; fuzz samples it)"
        raise Uncheckable(f"where has {claim.grid} points, more than {MAX_GRID}: {advice}")
    found = []
    for point in itertools.product(*claim.where.values()):
        instance = instance_at(claim, dict(zip(claim.where, point, strict=True)))
        if instance is not None:
            found.append(instance)
    found.sort(key=lambda i: size_key(i.network))
    return Instances(tuple(found), claim.grid, claim.grid - len(found))
