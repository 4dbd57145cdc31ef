"""Families of parameters inside one fiber: orbits, and rows and columns that the function does not read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...numerics.network import Network
from ...numerics.rank import rank
from ..symmetries import catalogue
from ..upper import field_spans
from .alignment import aligned
from .fiber_points import filled
from .freedom import Part, free_sets, where
from .theta import Theta
from .units import good_prime, residues


@dataclass(frozen=True)
class Family:
    """A family of `dimension` inside the fiber, with the `free` parts it moves; `turned`: at another point of theta's orbit."""

    dimension: int
    free: tuple[Part, ...]
    turned: bool = False


def family(network: Network, theta: Theta, seed: int = 0) -> Family:
    """The largest family of orbits of theta + free parts that is found, at theta or a point of its orbit where deficient ranks show.

    The map (g, s) -> g (theta + s), g in the symmetry groups and s in a set of rows and columns that f_theta does not read, is
    analytic and stays in the fiber; its generic rank, attained arbitrarily near theta, is the rank of fields and free directions at
    a random s. Guaranteed: the local dimension of the fiber at theta is at least `dimension`, over the real and the complex
    numbers; so is the kernel of the differential there, which contains the tangent space. Not guaranteed: that no larger family exists.
    """
    other = aligned(network, theta)
    here, there = _family_at(network, theta, seed), _family_at(network, other, seed)
    return replace(there, turned=True) if there.dimension > here.dimension else here


def _family_at(network: Network, theta: Theta, seed: int) -> Family:
    ring = good_prime(theta)
    fields = tuple(catalogue(network))
    best = Family(sum(field_spans(network, fields, residues(theta, ring), ring)), ())
    for free in free_sets(network, theta):
        moved = residues(filled(theta, free, seed), ring)
        mask = {name: np.zeros(value.shape, dtype=np.int64) for name, value in theta.items()}
        for part in free:
            mask[part[0]][where(part)] = 1
        chosen = np.concatenate([mask[name].reshape(-1) for name, _ in network.parameter_shapes()])
        vectors = [np.eye(len(chosen))[chosen == 1], *(f.vectors(network, moved, ring) for f in fields)]
        found = rank(np.concatenate(vectors), ring)
        if found > best.dimension:
            best = Family(found, free)
    return best


def free_names(network: Network, free: tuple[Part, ...]) -> list[str]:
    """The free rows and columns by tensor, `1.Q` where it is free as a whole, else `part of 1.Q`."""
    names = []
    for name, shape in network.parameter_shapes():
        mask = np.zeros(shape, dtype=bool)
        for part in free:
            if part[0] == name:
                mask[where(part)] = True
        if mask.any():
            names.append(name if mask.all() else f"part of {name}")
    return names
