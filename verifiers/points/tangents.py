"""Tangent vectors at f_theta from several points of its fiber, and families of parameters inside the fiber."""

from __future__ import annotations

import numpy as np

from ...numerics.evaluate import jacobian
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.rank import rank
from ...numerics.rings import PrimeField
from ..lower import usable_inputs
from ..symmetries import catalogue
from ..upper import field_spans
from .fiber_points import drawn
from .freedom import Part, free_sets, parts
from .theta import Theta
from .units import residues


def span_lower_bound(network: Network, points: list[Theta], ring: PrimeField, seed: int = 0) -> int:
    """A lower bound of the dimension of the span of the images of the differentials at the points, as functions of X.

    Shape of the matrix: (inputs * outputs, points * parameters), all points at the same inputs. For networks without exponentials and norms.
    """
    program = record(network)
    reduced = [residues(p, ring) for p in points]
    size = int(np.prod(program.shape(program.output)))
    best, wanted = -1, network.parameters // size + 2
    while True:
        blocks = []
        for theta in reduced:
            _, bindings = usable_inputs(network, program, seed, ring, wanted, theta=theta)
            blocks.append(jacobian(program, ring, bindings))
        found = rank(np.concatenate(blocks, axis=1), ring)
        if found == best:
            return found
        best, wanted = found, 2 * wanted


def family_dimension(network: Network, theta: Theta, ring: PrimeField, seed: int = 0) -> tuple[int, tuple[Part, ...]]:
    """A lower bound of the local dimension of the fiber at theta: the largest family (orbits of theta + free tensors) found.

    The map (g, s) -> g (theta + s), g in the symmetry groups and s in a set of tensors that f_theta does not read, is
    analytic and stays in the fiber; its generic rank, attained arbitrarily near theta, is the rank of fields and free directions at a random s.
    Holds over the real and the complex numbers.
    """
    fields = tuple(catalogue(network))
    best: tuple[int, tuple[Part, ...]] = (sum(field_spans(network, fields, residues(theta, ring), ring)), ())
    for free in free_sets(network, theta):
        moved = dict(residues(theta, ring))
        mask = {name: np.zeros(value.shape, dtype=np.int64) for name, value in theta.items()}
        for name, index in free:
            where = ... if index is None else index
            moved[name] = moved[name].copy()
            moved[name][where] = ring.integers(ring.lift(drawn(seed, f"family/{name}/{index}", moved[name][where].shape)))
            mask[name][where] = 1
        chosen = np.concatenate([mask[name].reshape(-1) for name, _ in network.parameter_shapes()])
        vectors = [np.eye(len(chosen))[chosen == 1], *(f.vectors(network, moved, ring) for f in fields)]
        found = rank(np.concatenate(vectors), ring)
        if found > best[0]:
            best = found, free
    return best


def part_names(free: tuple[Part, ...], network: Network) -> list[str]:
    """The free parts by name; a tensor whose slices are all free without index."""
    names = []
    for name, index in free:
        whole = all(part in free for part in parts(network) if part[0] == name)
        label = name if whole or index is None else f"{name}[{index}]"
        if label not in names:
            names.append(label)
    return names
