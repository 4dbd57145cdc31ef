"""Discovery: all linear (with biases affine), in small networks all quadratic, vector fields that annihilate a network.

A field X = sum of c theta^m d/d theta_r annihilates the network if its derivative J(theta, X) (c theta^m) is 0 for all theta and X.
Enough random points mod p give linear equations for the coefficients c. They fall apart: a diagonal field that multiplies the
network's function (together with scalings of the input's and output's coordinates) maps fields that annihilate it to such fields,
so those are sums of eigenvectors, and terms of different weight can be solved for apart. A solution is a *candidate*: it counts
once it is lifted to the rationals and `identity.annihilates` has proved it.

Guaranteed: fields in `Discovery.found` annihilate the network. Not guaranteed: that all fields that do are found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isqrt

import numpy as np

from ..numerics.evaluate import evaluate, jacobian
from ..numerics.forward import record
from ..numerics.network import Network, UnsupportedNetwork
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rank import kernel, pivots
from ..numerics.rings import DEFAULT_PRIME, Array, PrimeField
from .identity import annihilates
from .lower import usable_inputs
from .span import span_in_turn, split
from .symmetries.found import Found
from .upper import symmetry_motions

MAX_PARAMETERS = 110
MAX_QUADRATIC = 20  # parameters up to which quadratic terms are tried, too
MAX_RADICANDS = 6  # of one input: an input at which all roots exist mod p is one of 2^radicands
MAX_TERMS = 400  # of one weight
MAX_TOKENS = 8
MAX_UNPROVED = 3  # candidates whose proof fails: after them no more are tried
MAX_HEIGHT = 30  # of a coefficient's numerator and denominator: few residues are such fractions by chance
WEIGHT_POINTS, SPARE = 6, 8  # points that the weights are found at, and equations (points) more than unknowns (terms of one target)
SCALES = "scales"

Monomial = tuple[int, ...]  # parameters, increasing
Candidate = tuple[list[tuple[int, int]], Array]  # pairs (target, number of a monomial), and their coefficients mod p


@dataclass(frozen=True)
class Discovery:
    """How many independent solutions there are, and those outside of the catalogue's span at a point: proved, and not proved."""

    solutions: int
    found: tuple[Found, ...]
    unproved: tuple[Found, ...]


def discover(network: Network, seed: int = 0) -> Discovery:
    """Fields of a network that enlarge the span of the catalogue's at the seed's point, simple ones first.

    Raises `UnsupportedNetwork` where the search would take long.
    """
    refuse_large(network)
    ring = PrimeField(DEFAULT_PRIME)
    degrees = range(3 if network.parameters <= MAX_QUADRATIC else 2)
    monomials = [m for k in degrees for m in combinations_with_replacement(range(network.parameters), k)]
    solutions = list(_solutions(network, monomials, seed, ring))
    lifted = [f for pairs, values in solutions if (f := _lift(network, monomials, pairs, values, ring))]
    candidates = sorted(lifted, key=lambda f: (max(len(factors) for _, _, factors in f.motion), len(f.motion)))
    point = Point(seed, ring.p).parameters(network)
    known = [moved for _, moved in symmetry_motions(network, point, seed, ring)]
    proofs: dict[Found, Found | None] = {}
    while True:
        values = [split(f.vectors(network, point, ring), network) for f in candidates]
        gains = span_in_turn(network, [*known, *values], ring)[0][len(known) :]
        chosen = [f for f, gain in zip(candidates, gains, strict=True) if gain]
        proofs |= {f: _prove(f) for f in chosen if f not in proofs}
        found = [proof for f in chosen if (proof := proofs[f])]
        if len(found) == len(chosen):
            return Discovery(len(solutions), tuple(found), tuple(f for f, proof in proofs.items() if proof is None))
        patient = len(proofs) - sum(proof is not None for proof in proofs.values()) < MAX_UNPROVED
        candidates = [f for f in candidates if proofs.get(f, patient)]  # others may take the place of those not proved


def refuse_large(network: Network) -> None:
    """Raise `UnsupportedNetwork` where the search would take more than a few seconds."""
    radicands = network.t * (network.l + len(network.ffn or ())) if network.norm else 0
    for what, count, bound in (
        ("parameters", network.parameters, MAX_PARAMETERS),
        ("tokens", network.t, MAX_TOKENS),
        ("roots", radicands, MAX_RADICANDS),
    ):
        if count > bound:
            raise UnsupportedNetwork("d", f"{network} has {count} {what}: fields are searched up to {bound}")


def _prove(field: Found) -> Found | None:
    for expanded in (False, True):
        if annihilates(field.network, field.motion, expanded):
            return replace(field, expanded=expanded)
    return None


def _solutions(network: Network, monomials: list[Monomial], seed: int, ring: PrimeField) -> Iterator[Candidate]:
    """A basis of the solutions, weight by weight."""
    size = network.parameters
    points = [_Equations(network, seed, k, ring) for k in range(WEIGHT_POINTS)]
    weights = _weights(points, ring)
    of_monomial = np.array([weights[list(m)].sum() % ring.p for m in monomials], dtype=np.int64)
    classes = _classes((of_monomial[None, :] - weights[:, None]) % ring.p)
    largest = max(len(c) for c in classes)
    if largest > MAX_TERMS:
        raise UnsupportedNetwork("d", f"{network}: {largest} terms of one weight, fields are searched up to {MAX_TERMS}")
    rank = len(points[0].rows)
    each = max(int(np.bincount([r for r, _ in c]).max()) for c in classes)  # terms of one target
    points += [_Equations(network, seed, k, ring) for k in range(len(points), max(each, largest // max(rank, 1)) + SPARE)]
    order = np.random.default_rng(0).permutation(sum(len(p.rows) for p in points))
    rows = np.concatenate([p.rows for p in points])[order]
    values = np.stack([_values(p.theta, monomials, ring) for p in points])
    owner = np.repeat(np.arange(len(points)), [len(p.rows) for p in points])[order]
    dead = {r for r in range(size) if not rows[:, r].any()}
    for pairs in classes:
        targets, numbers = [r for r, _ in pairs], [m for _, m in pairs]
        if len(pairs) == 1:
            if targets[0] in dead:
                yield pairs, np.ones(1)
            continue
        basis, used = np.eye(len(pairs)), 0
        while used < len(rows) and len(basis):  # more equations, twice as many each time, while they contradict solutions
            fresh = slice(used, 2 * used + len(pairs) + SPARE)
            equations = ring.mul(rows[fresh][:, targets], values[owner[fresh]][:, numbers])
            left = kernel(ring.matmul(equations, basis.T), ring)
            if len(left) == len(basis) and used:
                break
            basis, used = ring.matmul(left, basis), fresh.stop
        if len(basis):
            yield from ((pairs, v) for v in _echelon(basis, ring))


class _Equations:
    """Random combinations of the Jacobian's rows at one point, and what the weights are found from."""

    def __init__(self, network: Network, seed: int, number: int, ring: PrimeField):
        program, prefix = record(network), f"discovery/{number}/"
        per_input = math.prod(program.shape(program.output))
        _, bindings = usable_inputs(network, program, seed, ring, network.parameters // per_input + 2, prefix)
        point = Point(seed, ring.p, prefix).parameters(network)
        self.theta = ring.lift(np.concatenate([v.reshape(-1) for v in point.values()]))
        scaled = jacobian(_with_scaled_inputs(program), ring, {**bindings, SCALES: np.ones(network.d[0], dtype=np.int64)})
        matrix, inputs = scaled[:, : network.parameters], scaled[:, network.parameters :]
        outputs = np.asarray(evaluate(program, ring, bindings)[program.output].array).reshape(-1)
        coordinate = np.arange(len(outputs)) // (per_input // network.d[-1]) % network.d[-1]
        self.diagonal = np.concatenate(
            [ring.mul(matrix, self.theta), inputs, outputs[:, None] * (coordinate[:, None] == np.arange(network.d[-1]))], axis=1
        )
        rows = matrix[pivots(matrix, ring).rows]
        mix = np.random.default_rng(number).integers(0, ring.p, (len(rows), len(rows)))
        self.rows = ring.matmul(ring.lift(mix), rows)  # so that any few of them say as much as possible of each parameter


def _with_scaled_inputs(program: Program) -> Program:
    """The program with a parameter more, that multiplies the coordinates of the input."""
    made, at = Program(), dict[int, int]()
    for k, step in enumerate(program.instructions):
        made.instructions.append(replace(step, operands=tuple(at[i] for i in step.operands)))
        at[k] = len(made.instructions) - 1
        if step.operation == "input":
            at[k] = made.einsum("m,mt->mt", made.param(SCALES, step.shape[:1]), at[k])
    made.output = at[program.output]
    return made


def _weights(points: Sequence[_Equations], ring: PrimeField) -> Array:
    """A weight mod p of each parameter: a random combination of all diagonal fields that multiply the function."""
    size = len(points[0].theta)
    diagonal = kernel(np.concatenate([p.diagonal for p in points]), ring)[:, :size]
    mix = np.random.default_rng(0).integers(1, ring.p, (1, len(diagonal)))
    weights: Array = ring.integers(ring.matmul(ring.lift(mix), diagonal))[0]
    return weights


def _classes(weights: Array) -> list[list[tuple[int, int]]]:
    """The pairs (target, number of a monomial) of each weight."""
    order = np.argsort(weights, axis=None, kind="stable")
    cuts = np.flatnonzero(np.diff(weights.reshape(-1)[order])) + 1
    width = weights.shape[1]
    return [[(int(k) // width, int(k) % width) for k in part] for part in np.split(order, cuts)]


def _values(theta: Array, monomials: Sequence[Monomial], ring: PrimeField) -> Array:
    """The values of monomials of degree at most two."""
    one = np.append(theta, 1.0)
    padded = np.array([(*m, *(-1,) * (2 - len(m))) for m in monomials])
    return ring.mul(one[padded[:, 0]], one[padded[:, 1]])


def _echelon(basis: Array, ring: PrimeField) -> Array:
    """The reduced echelon basis of the same space."""
    columns = pivots(basis, ring).columns
    square = basis[:, columns]
    augmented = np.concatenate([square.T, -np.eye(len(columns))], axis=1)  # x square = e: the kernel of (square^T, -1)
    inverse = kernel(augmented, ring)[:, : len(columns)]
    return ring.matmul(inverse, basis)


def _lift(
    network: Network, monomials: list[Monomial], pairs: list[tuple[int, int]], values: Array, ring: PrimeField
) -> Found | None:
    """The field over the rationals; None where a coefficient is no fraction of small height."""
    terms = []
    for (target, number), value in zip(pairs, ring.integers(values).tolist(), strict=True):
        if value:
            coefficient = rational(value, ring.p)
            if max(abs(coefficient.numerator), coefficient.denominator) > MAX_HEIGHT:
                return None
            terms.append((target, coefficient, monomials[number]))
    return Found(network, tuple(terms))


def rational(residue: int, p: int) -> Fraction:
    """The fraction of smallest numerator and denominator (both up to sqrt(p/2)) with this residue; the residue if there is none."""
    bound = isqrt(p // 2)
    (r0, t0), (r1, t1) = (p, 0), (residue, 1)
    while r1 > bound:
        q = r0 // r1
        (r0, t0), (r1, t1) = (r1, t1), (r0 - q * r1, t0 - q * t1)
    return Fraction(r1, t1) if t1 and abs(t1) <= bound else Fraction(residue)
