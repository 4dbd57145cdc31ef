"""Exact lower bounds: a minor of the Jacobian that is non-zero mod p proves the generic rank over Q to be at least its size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics.adjoint import jacobian_columns
from ..numerics.evaluate import evaluate, has_inputs
from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rank import RowSpace, pivots
from ..numerics.rings import Array, NotInvertible, PrimeField
from .index_sets import format_set
from .sieve import batches

LEAST_CHUNK = 200  # rows that are worth adding at once
MAX_ROWS_FACTOR = 8  # inputs are doubled until the rows are this many times the parameters


class NoPoint(ArithmeticError):
    """No input of this seed's point can be evaluated mod p (denominators or radicands): take another seed."""


@dataclass(frozen=True)
class LowerBound:
    """A proven lower bound: with `tokens` tokens the minor of `rows` and `columns` of the Jacobian at the given inputs of the
    seed's point is non-zero mod p."""

    tokens: int
    inputs: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def value(self) -> int:
        """The size of the minor."""
        return len(self.rows)

    def to_json(self) -> dict[str, Any]:
        """The `lower` object of a certificate."""
        return {
            "rule": "minor",
            "tokens": self.tokens,
            "inputs": format_set(self.inputs),
            "rows": format_set(self.rows),
            "columns": format_set(self.columns),
        }


def rank_lower_bound(
    network: Network, program: Program, seed: int, ring: PrimeField, target: int, spare: Sequence[int] = ()
) -> LowerBound:
    """The largest minor found; inputs are added until the rank reaches `target`, or stays the same when they are doubled.

    The columns in `spare` are left out: the caller expects them to be combinations of the others. Of further inputs only those
    entries of the output are looked at that made the last one worth while. Guaranteed: generic rank >= value (with exponentials:
    provided their exponents are independent). Not guaranteed: that the generic rank is not larger. Raises `NoPoint` if no input can be evaluated.
    """
    size = math.prod(program.shape(program.output))
    columns = np.setdiff1d(np.arange(network.parameters), np.asarray(spare, dtype=np.int64))
    target = min(target, len(columns))
    ceiling = MAX_ROWS_FACTOR * network.parameters // size + 4
    space, places, used = RowSpace(len(columns), ring), np.zeros(0, dtype=np.int64), 0
    numbers: list[int] = []

    def look(stop: int, chosen: Array) -> Array:
        """Add these entries of the output at the inputs up to `stop`; returns the entries that the last of them added."""
        nonlocal places, used, numbers
        numbers, bindings = usable_inputs(network, program, seed, ring, stop)
        if len(numbers) <= used:
            return np.zeros(0, dtype=np.int64)  # there are no more
        later = {k: v[used:] if has_inputs(program, k, v) else v for k, v in bindings.items()}
        new = space.add(jacobian_columns(program, ring, later, columns, chosen))
        added = (np.arange(used, len(numbers))[:, None] * size + chosen).reshape(-1)[new]
        places, used = np.concatenate([places, added]), len(numbers)
        return added[added >= (used - 1) * size] % size

    while len(places) < target:
        before = used
        outputs = look(used + 1 if used else 2, np.arange(size))
        if used == before or used >= ceiling:
            return _with_all_outputs(network, program, seed, ring, target, columns, ceiling)
        if not len(outputs):
            break  # a whole input added nothing
        missing = min(target - len(places), max(LEAST_CHUNK, target // 2))
        if missing > 0:
            look(used - (-missing // len(outputs)), outputs)
    return _compact(network.t, numbers, places.tolist(), sorted(columns[space.pivots].tolist()), size)


def _with_all_outputs(
    network: Network, program: Program, seed: int, ring: PrimeField, target: int, columns: Array, ceiling: int
) -> LowerBound:
    """The largest minor of all entries of the output, inputs doubled until its rank reaches `target` or stays the same."""
    size = math.prod(program.shape(program.output))
    wanted, before = target // size + 2, -1
    while True:
        numbers, bindings = usable_inputs(network, program, seed, ring, wanted)
        found = pivots(jacobian_columns(program, ring, bindings, columns), ring, overwrite=True)
        if len(found.rows) >= target or len(found.rows) == before or wanted >= 2 * ceiling:
            return _compact(network.t, numbers, found.rows, columns[found.columns].tolist(), size)
        wanted, before = 2 * wanted, len(found.rows)


def usable_inputs(
    network: Network,
    program: Program,
    seed: int,
    ring: PrimeField,
    wanted: int,
    prefix: str = "",
    theta: Mapping[str, Array] | None = None,
) -> tuple[list[int], dict[str, Any]]:
    """The first `wanted` input numbers at which the network can be evaluated mod p (with many norms fewer), and everything bound there.

    The parameters are `theta` or, without it, those of the seed's point.
    """
    point = Point(seed, ring.p, prefix)
    parameters = point.parameters(network) if theta is None else theta
    fixed = {**parameters, **Point(seed, ring.p).constants(program)}
    numbers: list[int] = []
    if network.norm is None:
        try:
            bindings = {**fixed, **point.inputs(program, range(wanted))}
            evaluate(program, ring, bindings)
            return list(range(wanted)), bindings
        except NotInvertible:
            pass
    try:
        for start, sieve, _ in batches(program, point, ring, fixed):
            numbers += [start + int(n) for n in np.flatnonzero(sieve.good)]
            if len(numbers) >= wanted:
                break
    except NotInvertible as reason:
        raise NoPoint(f"at the seed's parameters no input can be evaluated mod {ring.p}: {reason}") from None
    if not numbers:
        raise NoPoint(f"no input was found that can be evaluated mod {ring.p}: its roots exist too seldom")
    numbers = numbers[:wanted]
    return numbers, {**fixed, **point.inputs(program, numbers)}


def _compact(tokens: int, numbers: list[int], rows: list[int], columns: list[int], size: int) -> LowerBound:
    used = sorted({r // size for r in rows})
    position = {old: new for new, old in enumerate(used)}
    renumbered = [position[r // size] * size + r % size for r in rows]
    return LowerBound(tokens, tuple(numbers[u] for u in used), tuple(renumbered), tuple(columns))
