"""The rank of the differential of theta -> f_theta at one point, bounded from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...numerics.evaluate import jacobian
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.program import Program
from ...numerics.rank import pivots, rank
from ...numerics.rings import Array, NotInvertible, PrimeField
from ..lower import NoPoint, usable_inputs
from ..radicands import radicand_witnesses
from ..symmetries import Field, catalogue
from ..upper import field_spans, upper_bound
from .expressions import differential
from .families import Family, family
from .forms import TooLarge
from .linear import null_space
from .theta import Theta
from .units import Units, good_prime, residues

MAX_ROWS_FACTOR = 8
UNITS = {
    "none": "",
    "free": "exponentials free: exponents that do not vanish identically are independent at this theta",
    "lattice": "exponentials bound to satisfy every relation that holds between their exponents at this theta",
    "ones": "all exponentials set to 1, which satisfies every relation between them (no constants in the exponents)",
}


@dataclass(frozen=True)
class LocalRank:
    """Bounds `lower <= rank at theta <= upper`, with what proves them.

    `fields`: symmetry fields and by how much each in turn enlarges their span at theta. `family`: the largest family found in
    the fiber through theta. `generic_upper` bounds the generic rank, and with it the rank at every theta, from above.
    """

    lower: int
    upper: int
    family: Family
    generic_upper: int
    fields: tuple[tuple[Field, int], ...]
    notes: tuple[str, ...]

    @property
    def exact(self) -> int | None:
        """The rank, where the bounds meet."""
        return self.lower if self.lower == self.upper else None


def local_rank(network: Network, theta: Theta, seed: int = 0) -> LocalRank:
    """Bounds of the rank of the differential at theta, X ranging over all inputs, the network's constants generic.

    Lower: a minor that is non-zero mod p at the residues of theta. Upper: parameters minus the dimension of a family in the fiber,
    the generic upper bound, and, for small networks, the rank over Q of the differential written out in formal expressions.
    Not guaranteed: that the bounds meet.
    """
    ring = good_prime(theta)
    reduced = residues(theta, ring)
    program = record(network)
    notes: list[str] = []
    generic = upper_bound(network, seed, ring)
    fields = tuple(catalogue(network))
    spans = field_spans(network, fields, reduced, ring)
    within = family(network, theta, seed)
    upper = min(network.parameters - within.dimension, generic.value)
    lower, note = _minor(network, program, theta, seed, ring, reduced, upper)
    notes += [note] if note else []
    if lower < upper:
        try:
            upper = min(upper, exact_rank(differential(network, theta), ring))
        except TooLarge as reason:
            notes.append(f"the differential was not written out: {reason}")
    if lower > upper:
        raise ArithmeticError(f"{network}: rank at theta at least {lower} and at most {upper}")
    listed = tuple((f, n) for f, n in zip(fields, spans, strict=True) if n)
    return LocalRank(lower, upper, within, generic.value, listed, tuple(notes))


def _minor(
    network: Network, program: Program, theta: Theta, seed: int, ring: PrimeField, reduced: dict[str, Array], target: int
) -> tuple[int, str]:
    """The rank mod p at theta, inputs doubled until it is stable, and a note; (0, why) where nothing can be proved."""
    if network.norm and radicand_witnesses(network, program, seed, ring, reduced) is None:
        return 0, "no lower bound: the norms' radicands were not shown to be independent non-squares at this theta"
    units = Units(network, program, theta, seed, ring, reduced)
    if units.rule not in UNITS:
        return 0, "no lower bound: relations between the exponentials at this theta are not known"
    size = math.prod(program.shape(program.output))
    wanted = min(target, network.parameters) // size + 2
    best = -1
    while True:
        try:
            numbers, bindings = usable_inputs(network, program, seed, ring, wanted, theta=reduced)
            found = rank(jacobian(program, ring, units.bind(bindings, [f"{n}/" for n in numbers])), ring)
        except (NoPoint, NotInvertible) as reason:
            return max(best, 0), f"no more inputs: {reason}"
        if found >= target or found == best or wanted * size > MAX_ROWS_FACTOR * network.parameters + 2 * size:
            return found, UNITS[units.rule]
        best, wanted = found, 2 * wanted


def exact_rank(matrix: Array, ring: PrimeField) -> int:
    """The rank over Q of a matrix of fractions: a minor mod p from below, a null space checked on all rows from above."""
    if not matrix.size:
        return 0
    chosen = pivots(ring.lift(matrix), ring).rows
    while True:
        kernel = null_space(matrix[chosen])
        missed = next((i for i, row in enumerate(matrix) if kernel.size and any(kernel @ row)), None)
        if missed is None:
            return int(matrix.shape[1]) - len(kernel)
        chosen = [*chosen, missed]
