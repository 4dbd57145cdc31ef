"""Tangent vectors at f_theta from several points of its fiber."""

from __future__ import annotations

import math

import numpy as np

from ...numerics.evaluate import jacobian
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.rank import rank
from ...numerics.rings import PrimeField
from ..lower import usable_inputs
from .theta import Theta
from .units import residues


def span_lower_bound(network: Network, points: list[Theta], ring: PrimeField, seed: int = 0) -> int:
    """A lower bound of the dimension of the span of the images of the differentials at the points, as functions of X.

    Shape of the matrix: (inputs * outputs, points * parameters), all points at the same inputs. For networks without exponentials and norms.
    """
    program = record(network)
    reduced = [residues(p, ring) for p in points]
    size = math.prod(program.shape(program.output))
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
