"""The side condition that lets exponentials be fresh units: the exponents of one input are independent modulo functions of theta.

MATH: if no non-trivial integer combination of all exponents of one input is a function of the parameters alone, the
exponentials of all inputs are algebraically independent over Q(theta, X) (Ax 1971, Theorem 3; `PROOFS.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..numerics.evaluate import Lifted, evaluate
from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rank import pivots
from ..numerics.rings import Array, NotInvertible, PrimeField

SPARE_DRAWS = 8

Binder = Callable[[dict[str, Array], list[str]], dict[str, Array]]  # drawn inputs and units, one key an input: what to bind


def exponent_count(program: Program) -> int:
    """How many exponents one input has."""
    return sum(int(s.data.counted.sum()) for s in program.instructions if s.operation == "exp")


def independent_draws(
    network: Network,
    program: Program,
    seed: int,
    ring: PrimeField,
    theta: Mapping[str, Array] | None = None,
    bind: Binder | None = None,
    kept: Array | None = None,
) -> list[int] | None:
    """Draws whose rows (exponents at X minus exponents at X', one theta a row) have full column rank mod p; None: not found.

    Full rank is a proof of independence; with one given `theta` for all rows, of independence at that theta. None is only a
    refusal: nothing follows. `bind` replaces drawn units by others, `kept` (exponents) says which exponents are asked about.
    """
    if kept is None:
        kept = np.ones(exponent_count(program), dtype=bool)
    count = int(kept.sum())
    shared = {**Point(seed, ring.p).constants(program), **(theta or {})}
    for wanted in (count + SPARE_DRAWS, 2 * count + SPARE_DRAWS):
        numbers, rows = _rows(network, program, seed, ring, shared, wanted, bind)
        found = pivots(rows[:, kept], ring)
        if len(found.columns) == count:
            return [numbers[i] for i in found.rows]
    return None


def _rows(
    network: Network,
    program: Program,
    seed: int,
    ring: PrimeField,
    shared: Mapping[str, Array],
    wanted: int,
    bind: Binder | None,
) -> tuple[list[int], Array]:
    if network.norm is None:
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
    for twin in ("", "twin/"):
        draws = []
        for k in numbers:
            own = Point(seed, ring.p, f"exponents/{k}/").parameters(network)
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
