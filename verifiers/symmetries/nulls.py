"""Directions that a hidden stream never takes, and directions in which nobody reads it.

The null spaces move with the point. Where the matrix in question has full rank there, Cramer's rule makes its null space
the values of rational vector fields (`verifiers/PROOFS-upper.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.network import Network
from ...numerics.rank import kernel
from ...numerics.rings import Array, PrimeField
from .streams import consumers_of, producers_of, slices


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
        """The directions at the point: residues (k, parameters); None where the matrix has not full rank there."""
        columns = np.concatenate(_producing(network, point, self), axis=1)
        rows = np.concatenate([_at(point, s) for s in _reading(network, self)])
        matrix = columns.T if self.name == "unseen" else rows
        null = kernel(ring.lift(matrix), ring)
        if matrix.shape[1] - len(null) < len(matrix):
            return None
        moved: list[Array] = []
        names = _reading(network, self) if self.name == "unseen" else _made(network, self)
        for name in names:
            length = _at(point, name).shape[0 if self.name == "unseen" else 1]
            for k in range(length):
                for n in null:
                    step = {label: np.zeros(shape) for label, shape in network.parameter_shapes()}
                    place = step[name.partition("[")[0]]
                    target = place[int(name[:-1].partition("[")[2])] if "[" in name else place
                    if self.name == "unseen":
                        target[k] = n
                    else:
                        target.reshape(len(n), -1)[:, k] = n
                    moved.append(np.concatenate([m.reshape(-1) for m in step.values()]))
        return np.array(moved).reshape(len(moved), network.parameters)


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
            if sum(m.shape[1] for m in _producing(network, shapes, null)) < y.n:
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


def _made(network: Network, null: Null) -> list[str]:
    return producers_of(network, network.layers[null.layer - 1], null.after)


def _producing(network: Network, point: Mapping[str, Array], null: Null) -> list[Array]:
    """Columns that span the values of the stream; softmax weights sum to one, so that all its constants are one column."""
    y = network.layers[null.layer - 1]
    made = [_at(point, name) for name in _made(network, null)]
    if network.kind != "softmax" or null.after == "ffn" or y.dv is not None or "v" not in network.bias:
        return made
    matrices = [m for m, name in zip(made, _made(network, null), strict=True) if ".V" in name]
    constant: Array = y.per_group * np.sum(point[f"{y.index}.bv"], axis=0)[:, None]
    return [*matrices, constant + _at(point, f"{y.index}.bo") if "o" in network.bias else constant]
