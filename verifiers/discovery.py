"""Discovery: all linear (with biases affine) vector fields that annihilate a network, by exact linear algebra mod p.

A field theta -> G theta + g annihilates the network if J(theta, X) (G theta + g) = 0 for all theta and X. Enough random
points give linear equations for (G, g) whose solutions are candidates.

Not guaranteed: a candidate is a solution mod p at finitely many points, not a proof. No bound uses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from ..numerics.evaluate import jacobian
from ..numerics.forward import record
from ..numerics.network import Network, UnsupportedNetwork
from ..numerics.point import Point
from ..numerics.rank import kernel, pivots
from ..numerics.rings import DEFAULT_PRIME, Array, PrimeField
from .lower import usable_inputs
from .span import span_in_turn, split
from .upper import symmetry_motions

MAX_PARAMETERS = 28  # (parameters + 1) * parameters unknowns are eliminated


@dataclass(frozen=True)
class Candidate:
    """A linear field outside the span of the catalogue: entries (row, column, coefficient) of G, the column None for g."""

    entries: tuple[tuple[str, str | None, Fraction], ...]

    def describe(self) -> str:
        """The motion in one line."""
        moved: dict[str, list[str]] = {}
        for row, column, value in self.entries:
            factor = "" if value == 1 else "-" if value == -1 else f"{value} "
            moved.setdefault(row, []).append(f"{factor}{column}" if column else str(value))
        return ", ".join(f"d{row} = {' + '.join(terms)}".replace("+ -", "- ") for row, terms in moved.items())


def discover(network: Network, seed: int = 0) -> tuple[int, list[Candidate]]:
    """The dimension of the space of linear fields found, and those of a basis that enlarge the span of the catalogue's at a point.

    Raises `UnsupportedNetwork` beyond `MAX_PARAMETERS` parameters.
    """
    size = network.parameters
    if size > MAX_PARAMETERS:
        raise UnsupportedNetwork("d", f"{network} has {size} parameters: fields are searched up to {MAX_PARAMETERS}")
    ring = PrimeField(DEFAULT_PRIME)
    program = record(network)
    rows: list[Array] = []
    known, k = 0, 0
    while known < 2 * size * (size + 1) and k < 4 * size + 8:
        prefix = f"discovery/{k}/"
        _, bindings = usable_inputs(network, program, seed, ring, size // int(np.prod(program.shape(program.output))) + 2, prefix)
        matrix = jacobian(program, ring, bindings)
        matrix = matrix[pivots(matrix, ring).rows]
        theta = np.append(_flat(network, Point(seed, ring.p, prefix)), 1)
        rows.append(ring.mul(matrix[:, :, None], ring.lift(theta)).reshape(len(matrix), -1))
        known, k = known + len(matrix), k + 1
    found = kernel(np.concatenate(rows), ring)
    point = Point(seed, ring.p)
    theta = ring.lift(np.append(_flat(network, point), 1))
    values = ring.matmul(found.reshape(len(found), size, size + 1), theta[:, None])[:, :, 0]
    known_here = [moved for _, moved in symmetry_motions(network, point.parameters(network), seed, ring)]
    gains, _ = span_in_turn(network, [*known_here, *(split(v[None], network) for v in values)], ring)
    gains = gains[len(known_here) :]
    return len(found), [_lift(network, g, ring) for g, gain in zip(found, gains, strict=True) if gain]


def _flat(network: Network, point: Point) -> Array:
    return np.concatenate([v.reshape(-1) for v in point.parameters(network).values()])


def _names(network: Network) -> list[str]:
    return [
        f"{name}[{','.join(map(str, index))}]" for name, shape in network.parameter_shapes() for index in np.ndindex(*shape)
    ]


def _lift(network: Network, field: Array, ring: PrimeField) -> Candidate:
    names = _names(network)
    entries = field.reshape(len(names), len(names) + 1)
    return Candidate(tuple(
        (names[r], names[c] if c < len(names) else None, rational(int(entries[r, c]) % ring.p, ring.p))
        for r, c in zip(*np.nonzero(entries), strict=True)
    ))  # fmt: skip


def rational(residue: int, p: int) -> Fraction:
    """The fraction of smallest numerator and denominator (both up to sqrt(p/2)) with this residue; the residue if there is none."""
    bound = isqrt(p // 2)
    (r0, t0), (r1, t1) = (p, 0), (residue, 1)
    while r1 > bound:
        q = r0 // r1
        (r0, t0), (r1, t1) = (r1, t1), (r0 - q * r1, t0 - q * t1)
    return Fraction(r1, t1) if t1 and abs(t1) <= bound else Fraction(residue)
