"""The span of vectors on parameter space that move few tensors each: eliminated component by component."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..numerics.network import Network
from ..numerics.rank import pivots
from ..numerics.rings import Array, PrimeField

Moved = Mapping[str, Array]  # of some vectors: for each tensor that they move, the residues (number of vectors, its size)


def split(vectors: Array, network: Network) -> dict[str, Array]:
    """Vectors (k, parameters) by the tensors that they move."""
    made: dict[str, Array] = {}
    start = 0
    for name, shape in network.parameter_shapes():
        part = vectors[:, start : start + math.prod(shape)]
        start += part.shape[1]
        if part.any():
            made[name] = part
    return made


def span_in_turn(network: Network, sets: Sequence[Moved], ring: PrimeField) -> tuple[list[int], list[int]]:
    """By how much each set of vectors enlarges the span of those before it, and parameters whose entries show it.

    The numbers add up to the rank mod p of all vectors; restricted to the parameters, as many, they still have that rank. Sets
    without a tensor in common are independent, so the vectors are looked at in one matrix for each connected component of tensors.
    """
    sizes = {name: math.prod(shape) for name, shape in network.parameter_shapes()}
    offset = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    gains = [0] * len(sets)
    parameters: list[int] = []
    for members in _components(sets):
        names = sorted({name for i in members for name in sets[i]}, key=lambda n: int(offset[n]))
        heights = np.cumsum([0] + [sizes[n] for n in names])
        counts = [len(next(iter(sets[i].values()))) for i in members]
        matrix = np.zeros((int(heights[-1]), sum(counts)))
        at = 0
        for i, count in zip(members, counts, strict=True):
            for name, top in zip(names, heights, strict=False):
                if name in sets[i]:
                    matrix[top : top + sizes[name], at : at + count] = sets[i][name].T
            at += count
        found = pivots(matrix, ring, overwrite=True)
        owners = np.repeat(np.arange(len(members)), counts)[found.columns]
        for place, gain in enumerate(np.bincount(owners, minlength=len(members)).tolist()):
            gains[members[place]] += gain
        row_of = np.concatenate([np.arange(offset[n], offset[n] + sizes[n]) for n in names])
        parameters += row_of[found.rows].tolist()
    return gains, sorted(parameters)


def _components(sets: Sequence[Moved]) -> list[list[int]]:
    """The sets grouped by the tensors that they share, directly or through others; sets that move nothing are left out."""
    group: dict[str, int] = {}
    members: dict[int, list[int]] = {}
    for i, moved in enumerate(sets):
        if not moved:
            continue
        touched = sorted({group[name] for name in moved if name in group})
        members[i] = sorted([m for g in touched for m in members.pop(g)] + [i])
        for name in [n for n, g in group.items() if g in touched] + list(moved):
            group[name] = i
    return list(members.values())
