"""The block of one type: the small network on the coordinates of T, its sparse point, and the columns supported on exactly T."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...numerics.evaluate import jacobian
from ...numerics.forward import record
from ...numerics.network import Layer, Network
from ...numerics.point import Point
from ...numerics.rank import rank
from ...numerics.rings import Array, PrimeField
from .types import LayerType, SetType, Tie

ZERO, ONE, GENERIC = 0, 1, 2  # what an entry is at the coordinate point


@dataclass(frozen=True)
class Block:
    """A type's small network; for every parameter tensor what its entries are at the point, and which are columns of the block."""

    network: Network
    at_point: dict[str, Array]
    columns: Array

    def rank(self, seed: int, prefix: str, inputs: int, ring: PrimeField) -> int:
        """The rank mod p of the block's columns at `inputs` inputs of the seed's point: at most the rank over Q at generic values."""
        program = record(self.network)
        point = Point(seed, ring.p, prefix)
        values = {
            name: np.where(self.at_point[name] == GENERIC, drawn, self.at_point[name])
            for name, drawn in point.parameters(self.network).items()
        }
        bound = {**values, **point.constants(program), **point.inputs(program, range(inputs))}
        return rank(jacobian(program, ring, bound)[:, self.columns], ring)


def block(network: Network, kind: SetType, tokens: int) -> Block:
    """The block of type `kind` of a network, with `tokens` tokens."""
    width = kind.unit * kind.units
    layers = [_SmallLayer(network, y, kind, ties) for y, ties in zip(network.layers, kind.layers, strict=True)]
    small = replace(
        network,
        d=(width,) * (network.l + 1),
        a=tuple(y.a for y in layers),
        heads=tuple(y.groups * y.layer.per_group for y in layers),
        kv=tuple(y.groups for y in layers),
        dv=(width,) * network.l if network.dv else None,
        t=tokens,
    )
    at_point, free = {}, []
    for name, shape in small.parameter_shapes():
        index, _, tensor = name.partition(".")
        entries, columns = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
        layers[int(index) - 1].fill(tensor, entries, columns)
        at_point[name] = entries
        free.append(columns.reshape(-1))
    return Block(small, at_point, np.concatenate(free))


class _SmallLayer:
    """One layer of the small network: which rows are tied to which coordinates, and how each tensor's entries stand."""

    def __init__(self, network: Network, layer: Layer, kind: SetType, ties: LayerType):
        self.network = network
        self.layer = layer
        self.unit = kind.unit
        self.units = kind.units
        self.ties = ties
        present = [t for t in ties if t is not None]
        self.groups = max([t.group + 1 for t in present], default=1)
        planes = max([t.plane + 1 for t in present if t.scores], default=1)
        self.a = 2 * planes if network.rotates else kind.units

    def _unit(self, coordinate: int) -> int:
        return coordinate // self.unit

    def _of_group(self, group: int) -> list[tuple[int, Tie]]:
        return [(u, t) for u, t in enumerate(self.ties) if t is not None and t.group == group]

    def score_rows(self, group: int) -> dict[int, int]:
        """Row -> coordinate of the query/key rows of a group."""
        rows = {}
        for u, tie in self._of_group(group):
            if tie.scores:
                for k in range(self.unit):
                    rows[2 * tie.plane + k if self.network.rotates else u] = u * self.unit + k
        return rows

    def value_rows(self, group: int) -> dict[int, int]:
        """Row -> coordinate of the value rows of a group."""
        return {c: c for u, tie in self._of_group(group) for c in range(u * self.unit, u * self.unit + tie.values)}

    def fill(self, tensor: str, entries: Array, columns: Array) -> None:
        """What the entries of one tensor are at the point, and which are free and supported on exactly T."""
        if tensor == "V" and self.layer.dv is None:
            self._fill_full_values(entries, columns)
            return
        per_group = self.layer.per_group
        for slice_ in range(entries.shape[0]):
            group = slice_ // per_group if tensor in "QO" else slice_
            first = slice_ % per_group == 0
            if tensor in "QK":
                rows = self.score_rows(group)
            else:
                rows = self.value_rows(group)
            for row, b in rows.items():
                for c in range(self.unit * self.units):
                    at = (slice_, c, row) if tensor == "O" else (slice_, row, c)
                    fixed = first and self._fixed(tensor, rows, row, b, c)
                    if fixed is not False:
                        entries[at] = fixed
                        continue
                    entries[at] = GENERIC if self._unit(b) == self._unit(c) else ZERO
                    columns[at] = self.units == 1 or self._unit(b) != self._unit(c)

    def _fixed(self, tensor: str, rows: dict[int, int], row: int, b: int, c: int) -> int | bool:
        """The value that the gauge gives to an entry of a group's first head, or False where the entry is free."""
        if tensor == "Q" and self.network.rotates:  # rotation and scaling of a plane: its first column is (1, 0)
            return (ONE if row % 2 == 0 else ZERO) if c == self._unit(b) * self.unit else False
        if tensor in "QO" and c in rows.values():
            return ONE if b == c else ZERO
        return False

    def _fill_full_values(self, entries: Array, columns: Array) -> None:
        """V without dv, one head: the identity where the hidden basis fixes it, else free and diagonal."""
        size = self.unit * self.units
        unit_of = np.arange(size) // self.unit
        same = unit_of[:, None] == unit_of[None, :]
        if self.layer.index < self.network.l and not self.network.skip:
            entries[0] = np.eye(size, dtype=np.int64)
            return
        entries[0] = np.where(same, GENERIC, ZERO)
        columns[0] = same if self.units == 1 else ~same
