"""Coordinate points: how heads are tied to stream coordinates, and which types of coordinate sets occur at given sizes.

Row k of group g in a layer is tied to coordinate g w + k, w = max(a, dv): the blocks of the groups are disjoint. Coordinates
come in units: single ones, or pairs with rope (the two coordinates of a plane). A set T of at most two units has a *type*:
for each layer, what each unit is tied to, which units share a group and which share a plane index. Two sets of one type
differ by a relabelling only, which is why the blocks of a few types decide all sizes (`PROOFS.md`, coordinate certificates).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ...numerics.network import Layer, Network


@dataclass(frozen=True)
class Tie:
    """What one unit is tied to in one layer: a group (relabelled 0, 1), whether its query/key rows exist, how many of its
    coordinates have value rows, and its plane index (relabelled 0, 1; always 0 without rope)."""

    group: int
    scores: bool
    values: int
    plane: int


LayerType = tuple[Tie | None, ...]  # one entry a unit; None: tied to nothing in this layer


@dataclass(frozen=True)
class SetType:
    """The type of a set of units: for each layer the ties of its units. `unit` is the number of coordinates in a unit."""

    unit: int
    layers: tuple[LayerType, ...]

    @property
    def units(self) -> int:
        """How many units the set has."""
        return len(self.layers[0])


@dataclass(frozen=True)
class _Run:
    """Units start..stop-1 (numbers of units) which are tied to the same groups in the same way, layer by layer."""

    start: int
    stop: int
    ties: tuple[Tie | None, ...]


def block_width(network: Network, layer: Layer) -> int:
    """w: the coordinates reserved for one group."""
    unit = unit_size(network)
    width = max(layer.a, layer.dv or 0)
    return -(-width // unit) * unit


def unit_size(network: Network) -> int:
    """2 with rope, else 1."""
    return 2 if network.rotates else 1


def set_types(network: Network) -> list[SetType]:
    """The types of all sets of one or two units that some free entry of the chart can be supported on, each once."""
    unit = unit_size(network)
    runs = list(_runs(network, unit))
    found: dict[SetType, None] = {}
    for run in runs:
        found.setdefault(SetType(unit, tuple((_relabel((t,)))[0:1] for t in run.ties)))
    for one, two in itertools.combinations_with_replacement(runs, 2):
        if one is two and one.stop - one.start < 2:
            continue
        for shared in _shared_planes(network, one, two):
            layers = tuple(
                _relabel((a, b), same_plane=i in shared) for i, (a, b) in enumerate(zip(one.ties, two.ties, strict=True))
            )
            found.setdefault(SetType(unit, layers))
    return list(found)


def _runs(network: Network, unit: int) -> Iterator[_Run]:
    edges = {0, network.d[0] // unit}
    for y in network.layers:
        w = block_width(network, y)
        for g in range(y.kv):
            for end in (0, y.a, y.dv or 0, w):
                at = g * w + end
                edges |= {at // unit, -(-at // unit)}
    inside = sorted(e for e in edges if e <= network.d[0] // unit)
    for start, stop in itertools.pairwise(inside):
        yield _Run(start, stop, tuple(_tie(network, y, start, unit) for y in network.layers))


def _tie(network: Network, layer: Layer, number: int, unit: int) -> Tie | None:
    group, row = divmod(number * unit, block_width(network, layer))
    if group >= layer.kv:
        return None
    values = min(max((layer.dv or 0) - row, 0), unit)
    return Tie(group, row < layer.a, values, 0) if row < layer.a or values else None


def _shared_planes(network: Network, one: _Run, two: _Run) -> Iterator[frozenset[int]]:
    """The sets of layers in which a unit of each run can have the same plane index in different groups."""
    if not network.rotates:
        yield frozenset()
        return
    shift: dict[int, set[int]] = {}
    for i, (y, a, b) in enumerate(zip(network.layers, one.ties, two.ties, strict=True)):
        if a and b and a.scores and b.scores and a.group != b.group:
            shift.setdefault((b.group - a.group) * block_width(network, y) // 2, set()).add(i)
    lowest, highest = two.start - (one.stop - 1), two.stop - 1 - one.start
    yield from (frozenset(layers) for s, layers in shift.items() if lowest <= s <= highest)
    if highest - lowest + 1 > len([s for s in shift if lowest <= s <= highest]):
        yield frozenset()


def _relabel(ties: LayerType, same_plane: bool = False) -> LayerType:
    """Groups numbered in order of appearance; planes 0 and 1 unless the units share their plane index."""
    groups: dict[int, int] = {}
    made: list[Tie | None] = []
    for position, tie in enumerate(ties):
        if tie is None:
            made.append(None)
            continue
        group = groups.setdefault(tie.group, len(groups))
        plane = 0 if same_plane or position == 0 or ties[0] is None or not ties[0].scores else 1
        made.append(Tie(group, tie.scores, tie.values, plane if tie.scores else 0))
    return tuple(made)
