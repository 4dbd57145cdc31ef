"""Directions that a hidden stream never takes, and directions in which nobody reads it.

The null spaces move with the point. Where the matrix in question has full rank there, Cramer's rule makes its null space
the values of rational vector fields (`verifiers/PROOFS-upper.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.network import Layer, Network
from ...numerics.rank import kernel
from ...numerics.rings import Array, PrimeField
from .field import parse_words, words_at
from .streams import absorbing, consumers_of, producers_of, slices


@dataclass(frozen=True)
class Null:
    """`unseen`: n with n^T s = 0 for all values s of the stream: dW = c n^T for each consumer W alone.

    `unread`: n with W n = 0 for all consumers W: each column of each producer moves by n.
    """

    name: str
    layer: int
    after: str

    def to_json(self) -> dict[str, Any]:
        """The entry in a certificate."""
        return {"field": self.name, "layer": self.layer, "after": self.after}

    def describe(self) -> str:
        """The directions in words."""
        if self.name == "unseen":
            return "what reads the stream may change in directions that the stream never takes"
        return "what makes the stream may change in directions that nobody reads"

    def vectors(self, network: Network, point: Mapping[str, Array], ring: PrimeField) -> Array | None:
        """The directions at the point: residues (k, parameters); None where no matrix has full rank there."""
        moved: list[Array] = []
        if self.name == "unread":
            rows = np.concatenate([_at(point, s) for s in _reading(network, self)])
            for n in _orthogonal(rows, ring):
                for name in producers_of(network, network.layers[self.layer - 1], self.after):
                    for k in range(_at(point, name).shape[1]):
                        column = np.zeros((len(n), _at(point, name).shape[1]))
                        column[:, k] = n
                        moved.append(_flat(network, {name: column}))
        else:
            moving, constants = spanning(network, point, self.layer, self.after, ring)
            for n in _orthogonal(np.concatenate([*moving, *constants], axis=1).T, ring):
                moved += self._unseen(network, point, ring, n, None)
            if constants:
                total = ring.lift(sum(constants[1:], constants[0]))
                for n in _orthogonal(np.concatenate(moving, axis=1).T, ring):
                    moved += self._unseen(network, point, ring, n, ring.matmul(n[None], total))
        return np.array(moved).reshape(len(moved), network.parameters) if moved else None

    def _unseen(
        self, network: Network, point: Mapping[str, Array], ring: PrimeField, n: Array, constant: Array | None
    ) -> list[Array]:
        """All dW = c n^T; with a constant n^T s, of those W that absorb it."""
        y = network.layers[self.layer - 1]
        reader = y if self.after == "attention" and y.ffn else network.layers[y.index]
        made = []
        total = np.zeros((1, 1)) if constant is None else constant
        for name in _reading(network, self):
            label, part = name.partition("[")[0], name[len(name.partition("[")[0]) :]
            absorbed = absorbing(network, reader, label.partition(".")[2], part, "e")
            if constant is not None and absorbed is None:
                continue
            undone = {} if constant is None or absorbed is None else absorbed
            rows = len(_at(point, name))
            for k in range(rows):
                c = np.zeros((1, rows, 1))
                c[0, k] = 1
                step = {name: c[0] * n}
                for target, words in undone.items():
                    step[target] = words_at(parse_words(words), ring.mul(c, total), point, ring)[0]
                made.append(_flat(network, step))
        return made


def _orthogonal(rows: Array, ring: PrimeField) -> Array:
    """The null space of rows that are fewer than the columns and independent; none otherwise."""
    found = kernel(ring.lift(rows), ring)
    full = len(rows) < rows.shape[1] and len(found) == rows.shape[1] - len(rows)
    return found if full else found[:0]


def _flat(network: Network, step: Mapping[str, Array]) -> Array:
    made = {label: np.zeros(shape) for label, shape in network.parameter_shapes()}
    for name, value in step.items():
        label, bracket, rest = name.partition("[")
        place = made[label][int(rest[:-1])] if bracket else made[label]
        place += value.reshape(place.shape)
    return np.concatenate([m.reshape(-1) for m in made.values()])


def nulls(network: Network) -> Iterator[Null]:
    """The null directions of the streams of a network without skip and norm, where there are any."""
    if network.skip or network.norm or network.kind == "mlp":
        return
    shapes = {name: np.zeros(shape, dtype=np.int64) for name, shape in network.parameter_shapes()}
    for y in network.layers:
        for after in ("attention", "ffn") if y.ffn else ("attention",):
            null = Null("unseen", y.index, after)
            if not consumers_of(network, y, after):
                continue
            if sum(m.shape[1] for m in spanning(network, shapes, null.layer, null.after, PrimeField())[0]) < y.n:
                yield null
            null = Null("unread", y.index, after)
            if sum(len(_at(shapes, s)) for s in _reading(network, null)) < y.n:
                yield null


def _at(point: Mapping[str, Array], name: str) -> Array:
    label, bracket, rest = name.partition("[")
    found: Array = point[label][int(rest[:-1])] if bracket else point[label]
    return found[:, None] if found.ndim == 1 else found


def _reading(network: Network, null: Null) -> list[str]:
    """The slices that read the stream: where each query sees one key with weight 1, values only."""
    y = network.layers[null.layer - 1]
    found = []
    for name, _, count in consumers_of(network, y, null.after):
        if not (network.kind == "softmax" and network.sees_itself_only and name[-1] in "QK"):
            found += slices(name, count)
    return found


def spanning(
    network: Network, point: Mapping[str, Array], layer: int, after: str, ring: PrimeField
) -> tuple[list[Array], list[Array]]:
    """Columns that span the stream's values, and its constants: in softmax value biases are constants, as weights sum to one.

    Of a network without skip and norm: where attention reads a stream of few columns P, O_h V_g P may be fewer columns than O_h or V_g.
    """
    y = network.layers[layer - 1]
    matrices: list[Array] = []
    constants: list[Array] = []
    for name in producers_of(network, y, after):
        constant = name.partition("[")[0][-2:] in ("bo", "bd")
        if ".bv" in name and network.kind == "softmax":
            continue
        (constants if constant else matrices).append(_at(point, name))
    if network.kind == "softmax" and after == "attention" and y.dv is None and "v" in network.bias:
        summed: Array = y.per_group * np.sum(point[f"{layer}.bv"], axis=0)[:, None]
        constants = [summed + constants[0]] if constants else [summed]
    through = None if after == "ffn" or layer == 1 or network.skip else _through(network, point, y, ring)
    if through and sum(m.shape[1] for m in through[0]) < sum(m.shape[1] for m in matrices):
        return through
    return matrices, constants


def _through(
    network: Network, point: Mapping[str, Array], y: Layer, ring: PrimeField
) -> tuple[list[Array], list[Array]] | None:
    """Columns and constants of what attention makes of a stream P z + c with fewer columns in P than coordinates; None where it has not."""
    before = network.layers[y.index - 2]
    moving, constants = spanning(network, point, before.index, "ffn" if before.ffn else "attention", ring)
    if sum(m.shape[1] for m in moving) >= y.m:
        return None
    i, letters, soft = y.index, set(network.bias), network.kind == "softmax"
    columns = ring.lift(np.concatenate(moving, axis=1))
    fixed = [ring.lift(_at(point, f"{i}.bo"))] if "o" in letters else []

    def value(head: int, vectors: Array, bias: bool = False) -> Array:
        group = y.group_of(head)
        found = ring.matmul(ring.lift(point[f"{i}.V"][group]), vectors)
        if bias:
            found = ring.add(found, ring.lift(point[f"{i}.bv"][group][:, None]))
        return found if y.dv is None else ring.matmul(ring.lift(point[f"{i}.O"][head]), found)

    if not (soft or columns.shape[1] > 1 or constants or letters & set("qkv") or network.rotates):
        total = np.zeros((y.n, 1))  # tokens are numbers times P: sums of their products times this vector
        for head in range(y.heads):
            key, query = (
                ring.matmul(ring.lift(point[f"{i}.{n}"][k]), columns) for n, k in (("K", y.group_of(head)), ("Q", head))
            )
            total = ring.add(total, ring.mul(value(head, columns), ring.matmul(key.T, query)))
        return [ring.integers(total)], [ring.integers(b) for b in fixed]
    made: list[Array] = []
    for head in range(0, y.heads, 1 if y.dv is not None else y.per_group):  # without dv heads of a group differ in nothing
        made.append(value(head, columns))
        if constants or "v" in letters:
            constant = sum(constants[1:], constants[0]) if constants else np.zeros((y.m, 1), dtype=np.int64)
            offset = value(head, ring.lift(constant), "v" in letters)
            if soft:  # weights sum to one
                fixed.append(ring.mul(offset, ring.lift(np.array([1 if y.dv is not None else y.per_group]))))
            else:
                made.append(offset)
    return [ring.integers(m) for m in made], [ring.integers(ring.reduce(sum(fixed[1:], fixed[0])))] if fixed else []
