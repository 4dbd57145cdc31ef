"""Coordinate points: how heads are tied to stream coordinates, and which types of coordinate sets occur at given sizes.

Row k of group g in a layer is tied to coordinate g w + k, w = max(a, dv), modulo the width that the layer reads: the blocks of
the groups are disjoint, or overlap where they have more rows than that. With LayerNorm the coordinates are those of the stream
about its mean, one less than the width; the mean itself is written and never read. Coordinates come in units: single ones, or
pairs with rope (the two coordinates of a plane). Units live in the core (in every stream), or only in the input or only in the
output, where these are wider than the hidden streams. Lightning scores of a stream of rank one, or of one token, are quadratic
forms: there row k of Q and K is tied to the k-th unit of the core, and the first of these units are pairs, of coordinates 2k and
2k + 1. A fixed *base* S of core units belongs to every set. A set T of at most two further units has a *type*: where its units
live and, for each layer, what base and units are tied to, which share a group and which share a plane index. Two sets of one
type differ by a relabelling only, which is why the blocks of a few types decide all sizes (`PROOFS.md` beside this file).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ...numerics.network import Layer, Network
from ..reductions import quadratic

PAIR, CORE, INPUT, OUTPUT = "p", "c", "i", "o"  # where a unit lives: pairs are in the core too


@dataclass(frozen=True)
class Tie:
    """What one unit is tied to in one layer: a group (relabelled 0, 1, ...), how many query/key rows (with rope: planes) and
    value rows, and the plane index (relabelled; without rope the number of the first query/key row)."""

    group: int
    scores: int
    values: int
    plane: int


Ties = tuple[Tie, ...]  # of one unit in one layer: one for each group that it is tied to
LayerType = tuple[Ties, ...]  # one entry a unit, base first


@dataclass(frozen=True)
class SetType:
    """The type of a set S u T. `unit`: coordinates in a unit, pairs apart; `base`: units in S; `homes`: where each unit lives; for each
    layer the ties of its units and, for each coordinate, how many hidden units of the ffn are tied to it."""

    unit: int
    base: int
    homes: str
    layers: tuple[LayerType, ...]
    hidden: tuple[tuple[int, ...], ...]

    def coordinates(self, homes: str) -> list[tuple[int, int]]:
        """(unit, place in it) of each coordinate that lives in one of the homes, in order."""
        sizes = [2 if home == PAIR else self.unit for home in self.homes]
        return [(u, k) for u, size in enumerate(sizes) if self.homes[u] in homes for k in range(size)]

    def exactly(self, units: set[int]) -> bool:
        """Whether these units are exactly T, apart from the base."""
        return {u for u in units if u >= self.base} == set(range(self.base, len(self.homes)))

    @property
    def label(self) -> str:
        """The name of the type in the labels of its point."""
        ties = ";".join(
            ",".join("+".join(f"{t.group}{t.scores}{t.values}{t.plane}" for t in ties) or "-" for ties in layer)
            for layer in self.layers
        )
        hidden = ";".join(",".join(map(str, layer)) for layer in self.hidden)
        return f"{self.base}{self.homes}:{ties}" + (f":{hidden}" if any(self.hidden) else "")


@dataclass(frozen=True)
class _Run:
    """Units start..stop-1 of one home which are tied to the same groups in the same way: `ties` layer by layer."""

    home: str
    start: int
    stop: int
    ties: tuple[Ties, ...]
    hidden: tuple[tuple[int, ...], ...]


def unit_size(network: Network) -> int:
    """2 with rope, else 1."""
    return 2 if network.rotates else 1


def core_width(network: Network) -> int:
    """The coordinates that every stream has: hidden widths are equal to it, d_0 and d_l at least as large; with LayerNorm without the mean."""
    return read_width(network, network.d[1] if network.l > 1 else min(network.d))


def read_width(network: Network, width: int) -> int:
    """How many coordinates of a stream of this width are read: with LayerNorm all but the mean."""
    return width - (network.norm == "layer")


@dataclass(frozen=True)
class Units:
    """How the coordinates of the streams come in units: first `pairs` pairs, then units of `size` coordinates."""

    pairs: int
    size: int

    def count(self, width: int) -> int:
        """How many units a stream has."""
        return (width - 2 * self.pairs) // self.size + self.pairs

    def inside(self, number: int) -> range:
        """The coordinates of a unit."""
        if number < self.pairs:
            return range(2 * number, 2 * number + 2)
        first = 2 * self.pairs + self.size * (number - self.pairs)
        return range(first, first + self.size)

    def around(self, coordinate: int) -> set[int]:
        """The number of units below a coordinate, rounded down and up: where units that it tells apart meet."""
        size, before, past = (2, 0, 0) if coordinate < 2 * self.pairs else (self.size, self.pairs, 2 * self.pairs)
        return {before + (coordinate - past) // size, before - (past - coordinate) // size}


def units(network: Network) -> Units:
    """The units of a network's streams: as many pairs as a quadratic form of more than one row has rows, if the core has them."""
    rows = max((y.a for y in network.layers if quadratic(network, y)), default=1)
    return Units(min(rows, core_width(network) // 2) if rows > 1 else 0, unit_size(network))


def block_width(network: Network, layer: Layer) -> int:
    """w: the coordinates reserved for one group (all where the scores are a quadratic form: there is one group then)."""
    if quadratic(network, layer):
        return layer.m
    unit = unit_size(network)
    width = max(layer.a, layer.dv or 0)
    return -(-width // unit) * unit


def overlaps(network: Network) -> bool:
    """Whether the groups of some layer have more rows than there are coordinates to read."""
    return any(y.kv > 1 and y.kv * block_width(network, y) > read_width(network, y.m) for y in network.layers)


def spread(network: Network) -> bool:
    """Whether the base has units in the block of every group: lightning attention with several heads, or groups with dv < a."""
    return any(y.kv > 1 and (network.kind == "lightning" or (y.dv or 0) < y.a) for y in network.layers)


def base_units(network: Network, base: int) -> tuple[int, ...]:
    """The units of the base: the first `base` units of the core or, where it is spread, of every group's block."""
    if not spread(network):
        return tuple(range(base))
    y = network.layers[0]  # all layers are alike then, and units are single coordinates
    return tuple(g * block_width(network, y) + k for g in range(y.kv) for k in range(base))


def set_types(network: Network, base: int) -> list[SetType]:
    """The types of all sets S u T, T of at most two units outside the base (`base_units`), each once."""
    made, inner = units(network), base_units(network, base)
    start = tuple(_run(network, made, PAIR if s < made.pairs else CORE, s, s + 1) for s in inner)
    runs = list(_runs(network, made, inner))
    found: dict[SetType, None] = {}

    def note(outside: tuple[_Run, ...], shared: frozenset[int] = frozenset()) -> None:
        every = (*start, *outside)
        homes = "".join(u.home for u in every)
        layers = tuple(_relabel(tuple(u.ties[i] for u in every), i in shared) for i in range(network.l))
        hidden = tuple(tuple(n for u in every for n in u.hidden[i]) for i in range(network.l))
        found.setdefault(SetType(made.size, len(inner), homes, layers, hidden))

    if base:
        note(())
    for run in runs:
        note((run,))
    for one, two in itertools.combinations_with_replacement(runs, 2):
        if one is not two or one.stop - one.start > 1:
            for shared in _shared_planes(network, one, two):
                note((one, two), shared)
    return list(found)


def _runs(network: Network, made: Units, inner: tuple[int, ...]) -> Iterator[_Run]:
    core = made.count(core_width(network))
    homes = (
        (PAIR, 0, made.pairs), (CORE, made.pairs, core),
        (INPUT, core, made.count(read_width(network, network.d[0]))), (OUTPUT, core, made.count(network.d[-1])),
    )  # fmt: skip
    edges = {e for b in inner for e in (b, b + 1)}
    for y in network.layers:
        w, read = block_width(network, y), read_width(network, y.m)
        ends = {g * w + end for g in range(y.kv) for end in (0, y.a, y.dv or 0, w)}
        edges |= {u for end in ends for u in made.around(end if end <= read else end % read)}
        edges |= {y.a} if quadratic(network, y) else set()
        if y.ffn:
            edges |= made.around(y.ffn.hidden % read_width(network, y.n))  # coordinates below have one hidden unit more
    for home, first, last in homes:
        inside = sorted({first, last} | {e for e in edges if first < e < last})
        for start, stop in itertools.pairwise(inside):
            if start < stop and start not in inner:
                yield _run(network, made, home, start, stop)


def _run(network: Network, made: Units, home: str, start: int, stop: int) -> _Run:
    coordinates = made.inside(start)
    hidden = tuple(tuple(hidden_units(network, y, home, c) for c in coordinates) if y.ffn else () for y in network.layers)
    ties = tuple(
        _ties(network, y, start, coordinates) if home in (PAIR, CORE) or (home == INPUT and y.index == 1) else ()
        for y in network.layers
    )
    return _Run(home, start, stop, ties, hidden)


def hidden_units(network: Network, layer: Layer, home: str, coordinate: int) -> int:
    """How many of the ffn's hidden units j are tied to a coordinate: those with j = coordinate mod the width that is read."""
    if layer.ffn is None or home == OUTPUT or coordinate >= layer.ffn.hidden:
        return 0
    return (layer.ffn.hidden - 1 - coordinate) // read_width(network, layer.n) + 1


def _ties(network: Network, layer: Layer, number: int, coordinates: range) -> Ties:
    w, found = block_width(network, layer), []
    for place in range(coordinates[0], layer.kv * w, read_width(network, layer.m)):
        group, row = divmod(place, w)
        scores, values = (min(max(rows - row, 0), len(coordinates)) for rows in (layer.a, layer.dv or 0))
        if quadratic(network, layer):
            scores = int(number < layer.a)
        elif network.rotates:
            scores = min(scores, 1)
        if scores or values:
            found.append(Tie(group, scores, values, 0))
    return tuple(found)


def _shared_planes(network: Network, one: _Run, two: _Run) -> Iterator[frozenset[int]]:
    """The sets of layers in which a unit of each run can have the same plane index in different groups."""
    if not network.rotates:
        yield frozenset()
        return
    shift: dict[int, set[int]] = {}
    for i, (y, a, b) in enumerate(zip(network.layers, one.ties, two.ties, strict=True)):
        for s, t in itertools.product(a, b):
            if s.scores and t.scores and s.group != t.group:
                shift.setdefault((t.group - s.group) * block_width(network, y) // 2, set()).add(i)
    lowest, highest = two.start - (one.stop - 1), two.stop - 1 - one.start
    yield from (frozenset(layers) for s, layers in shift.items() if lowest <= s <= highest)
    if highest - lowest + 1 > len([s for s in shift if lowest <= s <= highest]):
        yield frozenset()


def _relabel(units: LayerType, same_plane: bool) -> LayerType:
    """Groups numbered in order of appearance, planes in the order of the units with query/key rows; the last takes the
    plane of the one before where they share it."""
    groups: dict[int, int] = {}
    made: list[Ties] = []
    plane = 0
    for number, ties in enumerate(units):
        here = []
        plane -= same_plane and number == len(units) - 1
        for tie in ties:
            group = groups.setdefault(tie.group, len(groups))
            here.append(Tie(group, tie.scores, tie.values, plane if tie.scores else 0))
            plane += tie.scores
        made.append(tuple(here))
    return tuple(made)
