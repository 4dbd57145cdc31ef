"""The side condition that lets exponentials be fresh units: the exponents of one input are independent modulo functions of theta.

PROOFS section 4: if no non-trivial integer combination of all exponents of one input is a function of the parameters alone, the
exponentials of all inputs are algebraically independent over Q(theta, X) (Ax 1971, Theorem 3; `PROOFS.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..numerics.evaluate import Lifted, evaluate
from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rank import pivots
from ..numerics.rings import Array, NotInvertible, PrimeField
from .index_sets import format_set
from .sieve import batches

SPARE_DRAWS = 2
PER_THETA = 4  # with norms, pairs of inputs used at one theta
MAX_THETAS = 200
FEWEST_SHARE = 50  # thetas that all draws may take at the rate seen so far
NORM_BATCHES = 4

Draws = list[int] | list[tuple[int, int, int]]

Binder = Callable[[dict[str, Array], list[str]], dict[str, Array]]  # drawn inputs and units, one key an input: what to bind


def exponent_count(program: Program) -> int:
    """How many exponents one input has."""
    return sum(int(s.data.counted.sum()) for s in program.instructions if s.operation == "exp")


def draws_json(draws: Draws) -> Any:
    """The draws in a certificate: a set of thetas, or triples of theta and the numbers of the two inputs."""
    triples = [list(d) for d in draws if isinstance(d, tuple)]
    return triples or format_set(d for d in draws if isinstance(d, int))


def independent_draws(
    network: Network,
    program: Program,
    seed: int,
    ring: PrimeField,
    theta: Mapping[str, Array] | None = None,
    bind: Binder | None = None,
    kept: Array | None = None,
) -> Draws | None:
    """Draws whose rows (exponents at X minus exponents at X') have full column rank mod p; None: not found.

    Full rank is a proof of independence; with one given `theta` for all rows, of independence at that theta. None is only a
    refusal: nothing follows. A draw is a number (of theta, X and X'), with norms the numbers of theta, X and X'. `bind` replaces
    drawn units by others, `kept` (exponents) says which exponents are asked about.
    """
    if kept is None:
        kept = np.ones(exponent_count(program), dtype=bool)
    count = int(kept.sum())
    shared = {**Point(seed, ring.p).constants(program), **(theta or {})}
    if network.norm is not None and bind is None:
        return _with_roots(network, program, seed, ring, shared, kept)
    for wanted in (count + SPARE_DRAWS, 2 * count + SPARE_DRAWS):
        numbers, rows = _rows(network, program, seed, ring, shared, wanted, bind)
        found = pivots(rows[:, kept], ring)
        if len(found.columns) == count:
            return [numbers[i] for i in found.rows]
    return None


def _with_roots(
    network: Network, program: Program, seed: int, ring: PrimeField, shared: Mapping[str, Array], kept: Array
) -> Draws | None:
    """Draws of a network with norms: pairs of inputs at which all roots exist, for one theta after another."""
    draws: list[tuple[int, int, int]] = []
    rows: list[Array] = []
    count = int(kept.sum())
    wanted = count + SPARE_DRAWS
    for k in range(MAX_THETAS):
        own = {**Point(seed, ring.p, f"exponents/{k}/").parameters(network), **shared}
        sides = []
        for twin in ("", "twin/"):
            point = Point(seed, ring.p, f"exponents/{k}/{twin}")
            sides.append(_good(program, point, ring, own, PER_THETA))
        for (x, at_x), (y, at_y) in zip(*sides, strict=False):
            draws.append((k, x, y))
            rows.append(ring.reduce(at_x - at_y))
        if len(draws) * FEWEST_SHARE < wanted * (k + 1):
            return None  # roots exist too seldom
        if len(draws) >= wanted:
            found = pivots(np.array(rows)[:, kept], ring)
            if len(found.columns) == count:
                return [draws[i] for i in found.rows]
            if wanted > 2 * count + SPARE_DRAWS:
                return None
            wanted *= 2
    return None


def _good(
    program: Program, point: Point, ring: PrimeField, fixed: Mapping[str, Array], wanted: int
) -> list[tuple[int, Array]]:
    """The first inputs at which all roots exist, with the exponents there."""
    found: list[tuple[int, Array]] = []
    try:
        for start, sieve, values in batches(program, point, ring, fixed, NORM_BATCHES):
            exponents = _exponents(program, values, len(sieve.good))
            found += [(start + int(n), exponents[n]) for n in np.flatnonzero(sieve.good)]
            if len(found) >= wanted:
                break
    except NotInvertible:
        return []
    return found[:wanted]


def _rows(
    network: Network,
    program: Program,
    seed: int,
    ring: PrimeField,
    shared: Mapping[str, Array],
    wanted: int,
    bind: Binder | None,
) -> tuple[list[int], Array]:
    numbers = list(range(wanted))
    try:
        return numbers, _difference(network, program, seed, ring, shared, numbers, bind)
    except NotInvertible:
        pass
    numbers, rows, k = [], [], 0
    while len(numbers) < wanted and k < 1_000 + 100 * wanted:
        try:
            rows.append(_difference(network, program, seed, ring, shared, [k], bind))
            numbers.append(k)
        except NotInvertible:
            pass
        k += 1
    empty = np.zeros((0, exponent_count(program)))
    return numbers, np.concatenate(rows) if rows else empty


def _difference(
    network: Network,
    program: Program,
    seed: int,
    ring: PrimeField,
    shared: Mapping[str, Array],
    numbers: list[int],
    bind: Binder | None,
) -> Array:
    sides = []
    thetas = [Point(seed, ring.p, f"exponents/{k}/").parameters(network) for k in numbers]
    for twin in ("", "twin/"):
        draws = []
        for k, own in zip(numbers, thetas, strict=True):
            inputs = Point(seed, ring.p, f"exponents/{k}/{twin}").inputs(program, [0])
            if bind:
                inputs = bind(inputs, [f"exponents/{k}/{twin}"])
            draws.append({**{n: v[None] for n, v in own.items()}, **inputs})
        stacked = {n: np.concatenate([d[n] for d in draws]) for n in draws[0]}
        values = evaluate(program, ring, {**stacked, **shared})  # what is shared replaces what was drawn
        sides.append(_exponents(program, values, len(numbers)))
    return ring.reduce(sides[0] - sides[1])


def _exponents(program: Program, values: list[Lifted], draws: int) -> Array:
    columns = []
    for step in program.instructions:
        if step.operation == "exp":
            argument = values[step.operands[0]].array
            columns.append(np.broadcast_to(argument, (draws, *step.shape))[:, step.data.counted])
    return np.concatenate(columns, axis=1)
