"""The block of one type: the small network on the coordinates of S u T, its sparse point, and the columns supported on exactly T."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from ...numerics.adjoint import jacobian_columns
from ...numerics.forward import record
from ...numerics.network import Ffn, Layer, Network
from ...numerics.point import Point
from ...numerics.program import Program
from ...numerics.rank import rank
from ...numerics.rings import Array, NotInvertible, PrimeField
from ..reductions import quadratic
from ..sieve import BATCHES, batches
from .types import CORE, INPUT, OUTPUT, PAIR, SetType, Tie

ZERO, ONE, GENERIC = 0, 1, 2  # what an entry is at the coordinate point
TRIES = 128  # with norms: inputs looked at for each that is needed; a root exists for every second radicand


REMEMBERED = 256  # ranks of blocks that a process keeps: networks of one structure and other sizes share theirs


@dataclass(frozen=True, eq=False)
class Block:
    """A type's small network; for every parameter tensor what its entries are at the point, and which are columns of the block.

    With `shifts` the tensors `in` and `out` are among them. The last `silent` coordinates are written only: 0 in the input. Two
    blocks are equal if all of that is.
    """

    network: Network
    at_point: dict[str, Array]
    columns: Array
    shifts: bool
    silent: int

    @functools.cached_property
    def _content(self) -> tuple[Network, int, tuple[tuple[str, bytes], ...], bytes]:
        entries = tuple((n, a.tobytes()) for n, a in self.at_point.items())
        return self.network, self.silent, entries, self.columns.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    def inputs(self, spare: int) -> int:
        """How many inputs the block is looked at: one token adds little (under a mask the first, in lightning attention a
        scale, or all but the first where scores are quadratic forms)."""
        n = self.network
        tokens = 1 if n.kind == "lightning" else 2 * (n.t - 1)
        return 3 * int(self.columns.sum()) // (n.d[-1] * tokens) + 1 + spare


@functools.lru_cache(REMEMBERED)
def block_rank(small: Block, seed: int, prefix: str, spare: int, p: int) -> int:
    """The rank mod p of the block's columns at the seed's point: at most the rank over Q at generic values."""
    ring = PrimeField(p)
    program = record(small.network, small.shifts, small.silent)
    point = Point(seed, ring.p, prefix)
    drawn = point.parameters(small.network)
    values = {name: np.where(at == GENERIC, drawn.get(name, ZERO), at) for name, at in small.at_point.items()}
    bound = {**values, **point.constants(program)}
    numbers = _usable(program, ring, bound, point, small.inputs(spare)) if small.network.norm else range(small.inputs(spare))
    columns = np.flatnonzero(small.columns)
    return rank(jacobian_columns(program, ring, {**bound, **point.inputs(program, numbers)}, columns), ring)


def _usable(program: Program, ring: PrimeField, bound: dict[str, Array], point: Point, wanted: int) -> list[int]:
    """The first input numbers at which all roots exist."""
    found: list[int] = []
    for start, sieve, _ in batches(program, point, ring, bound, limit=TRIES * wanted // BATCHES[0] + 1):
        if start >= TRIES * wanted:
            break
        found += [start + int(n) for n in np.flatnonzero(sieve.good)]
        if len(found) >= wanted and found[wanted - 1] < TRIES * wanted:
            return found[:wanted]
    raise NotInvertible(f"only {len(found)} of {wanted} inputs have all roots mod p")


def block(network: Network, kind: SetType, tokens: int, shifts: bool = False) -> Block | None:
    """The block of type `kind` of a network, with `tokens` tokens; None where no coordinate of the set is in all streams.

    With `shifts` the constants that other layers add to its input and output count as columns too.
    """
    core = len(kind.coordinates(PAIR + CORE))
    if not core and (network.l > 1 or len(set(kind.homes)) < 2):
        return None
    layers = [_SmallLayer(network, y, kind) for y in network.layers]
    silent = len(kind.coordinates(OUTPUT)) if network.norm == "layer" else 0  # about its mean a stream is one with RMSNorm
    small = replace(
        network,
        norm="rms" if network.norm else None,
        d=(core + len(kind.coordinates(INPUT)) + silent, *(core,) * (network.l - 1), core + len(kind.coordinates(OUTPUT))),
        a=tuple(y.a for y in layers),
        heads=tuple(y.groups * y.layer.per_group for y in layers),
        kv=tuple(y.groups for y in layers),
        dv=(core,) * network.l if network.dv else None,
        ffn=tuple(Ffn(max(len(y.hidden), 1), y.layer.ffn.activation) for y in layers if y.layer.ffn) or None,
        t=tokens,
    )
    at_point, free = {}, []
    constant = "bd" if network.ffn else "bo" if "o" in network.bias else "bv"  # what a layer adds last, the same to all tokens
    for name, shape in small.parameter_shapes():
        index, _, tensor = name.partition(".")
        entries, columns = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
        layers[int(index) - 1].fill(tensor, entries, columns)
        made_outside = shifts and tensor == constant  # the column `out` is that
        if tensor == "bo" != constant:
            columns[len(columns) - silent :] = False  # constants that are never read add up to one
        at_point[name] = entries
        free.append(np.zeros(columns.size, dtype=bool) if made_outside else columns.reshape(-1))
    if shifts:
        for name, coordinates in (("in", layers[0].reads), ("out", layers[-1].writes)):
            at_point[name] = np.zeros((small.d[0 if name == "in" else -1], 1), dtype=np.int64)
            columns = np.zeros(len(at_point[name]), dtype=bool)
            columns[: len(coordinates)] = [kind.exactly({u}) for u, _ in coordinates]
            free.append(columns)
    return Block(small, at_point, np.concatenate(free), shifts, silent)


class _SmallLayer:
    """One layer of the small network: which rows are tied to which coordinates, and how each tensor's entries stand."""

    def __init__(self, network: Network, layer: Layer, kind: SetType):
        self.network = network
        self.layer = layer
        self.kind = kind
        self.ties = ties = kind.layers[layer.index - 1]
        present = [t for of_unit in ties for t in of_unit]
        self.groups = max([t.group + 1 for t in present], default=1)
        self.a = kind.unit * max([t.plane + t.scores for t in present if t.scores], default=1)
        self.reads = kind.coordinates(PAIR + CORE + INPUT * (layer.index == 1))
        self.writes = kind.coordinates(PAIR + CORE + OUTPUT * (layer.index == network.l))
        self.quadratic = quadratic(network, layer)
        tied = zip(self.writes, kind.hidden[layer.index - 1], strict=False)  # ffn comes with skip: all units in the core
        self.hidden = [c for c, count in tied for _ in range(count)]

    def _of_group(self, group: int) -> list[tuple[int, Tie]]:
        return [(u, t) for u, of_unit in enumerate(self.ties) for t in of_unit if t.group == group]

    def score_rows(self, group: int) -> dict[int, tuple[int, int]]:
        """Row -> coordinate of the query/key rows of a group."""
        unit = self.kind.unit
        return {unit * t.plane + k: (u, k) for u, t in self._of_group(group) for k in range(unit * t.scores)}

    def value_rows(self, group: int) -> dict[int, tuple[int, int]]:
        """Row -> coordinate of the value rows of a group; a row has the number of its coordinate."""
        rows = [(u, k) for u, t in self._of_group(group) for k in range(t.values)]
        return {self.reads.index(c): c for c in rows}

    def fill(self, tensor: str, entries: Array, columns: Array) -> None:
        """What the entries of one tensor are at the point, and which are free and supported on exactly T."""
        if tensor == "V" and self.layer.dv is None:
            for r, b in enumerate(self.writes):
                for j, c in enumerate(self.reads):
                    hidden = self.layer.index < self.network.l and not self.network.skip
                    fixed = (ONE if b == c else ZERO) if hidden and c in self.writes else None
                    self._set(entries, columns, (0, r, j), b, c, fixed)
            return
        if tensor in ("g1", "g2"):  # absorbed by what reads the normalised stream
            entries[...] = ONE
            return
        if tensor.startswith("b"):
            self._fill_bias(tensor, columns)
            return
        if tensor in ("G", "U", "D"):
            scaled = self.layer.ffn is not None and self.layer.ffn.activation not in ("silu", "gelu")
            for j, b in enumerate(self.hidden):
                for i, c in enumerate(self.writes if tensor == "D" else self.reads):
                    fixed = ONE if tensor == "D" and scaled and b == c else None
                    self._set(entries, columns, (i, j) if tensor == "D" else (j, i), b, c, fixed)
            return
        for slice_ in range(entries.shape[0]):
            group = slice_ // self.layer.per_group if tensor in "QO" else slice_
            first = slice_ % self.layer.per_group == 0
            rows = self.score_rows(group) if tensor in "QK" else self.value_rows(group)
            for row, b in rows.items():
                for j, c in enumerate(self.writes if tensor == "O" else self.reads):
                    at = (slice_, j, row) if tensor == "O" else (slice_, row, j)
                    fixed = self._fixed(tensor, rows, row, b, c) if first else None
                    self._set(entries, columns, at, b, c, fixed)

    def _fill_bias(self, tensor: str, columns: Array) -> None:
        """Biases are zero at the point; with softmax a key bias does nothing without rope, and bo makes what bv makes."""
        if (tensor == "bk" and not self.network.rotates) or (tensor == "bv" and "o" in self.network.bias):
            return
        if tensor in ("bo", "bd") or (tensor == "bv" and self.layer.dv is None):
            columns.reshape(-1)[:] = [self.kind.exactly({u}) for u, _ in self.writes]
            return
        if tensor == "bu":
            columns[: len(self.hidden)] = [self.kind.exactly({u}) for u, _ in self.hidden]
            return
        for slice_ in range(columns.shape[0]):
            group = slice_ // self.layer.per_group if tensor == "bq" else slice_
            for row, (u, _) in (self.value_rows if tensor == "bv" else self.score_rows)(group).items():
                columns[slice_, row] = self.kind.exactly({u})

    def _set(
        self,
        entries: Array,
        columns: Array,
        at: tuple[int, ...],
        b: tuple[int, int],
        c: tuple[int, int],
        fixed: int | None,
    ) -> None:
        """An entry that joins coordinates b and c: fixed by the gauge, or free, generic within one unit and within the base."""
        if fixed is not None:
            entries[at] = fixed
            return
        generic = b[0] == c[0] or max(b[0], c[0]) < self.kind.base
        entries[at] = GENERIC if generic else ZERO
        columns[at] = self.kind.exactly({b[0], c[0]})

    def _fixed(
        self, tensor: str, rows: dict[int, tuple[int, int]], row: int, b: tuple[int, int], c: tuple[int, int]
    ) -> int | None:
        """The value that the symmetries give to an entry of a group's first head, or None where the entry is free."""
        if self.quadratic and tensor in "QK" and c[0] < b[0]:
            return ZERO  # a quadratic form is a sum of forms of one row each that read no earlier unit
        if self.quadratic and tensor == "Q":
            return ONE if b == c else None
        if tensor == "Q" and self.network.rotates:  # rotation and scaling of a plane: its first column is (1, 0)
            return (ONE if row % 2 == 0 else ZERO) if c == (b[0], 0) else None
        if tensor in "QO" and c in rows.values():
            return ONE if b == c else ZERO
        if tensor == "K" and self.network.kind == "lightning" and b == c == (rows[min(rows)][0], 0) and b[0] < self.kind.base:
            return ONE  # the scaling of V against K
        return None
