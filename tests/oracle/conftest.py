"""Fixtures of the oracle's tests."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
from neuromanifold.numerics.evaluate import evaluate, jacobian
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.program import Program
from neuromanifold.numerics.rank import rank
from neuromanifold.numerics.rings import Array, PrimeField

MAX_DRAWS = 1 << 22


class Sieve(PrimeField):
    """GF(p) that notes at which inputs a root or an inverse does not exist, instead of raising."""

    def __init__(self, count: int):
        super().__init__()
        self.good = np.ones(count, dtype=bool)

    def reciprocal(self, x: Array) -> Array:
        ok = x != 0
        self.good &= ok.reshape(len(ok), -1).all(axis=1) if x.ndim > 1 else True
        return super().reciprocal(np.where(ok, x, 1.0))

    def root(self, x: Array) -> Array:
        ok = self.has_root(x)
        self.good &= ok.reshape(len(ok), -1).all(axis=1)
        return super().root(np.where(ok, x, 1.0))


def usable_inputs(network: Network, program: Program, point: Point, fixed: dict[str, Array], wanted: int) -> list[int]:
    """The first input numbers at which all roots exist: all of them without norms."""
    if network.norm is None:
        return list(range(wanted))
    found: list[int] = []
    size = 256
    for start in range(0, MAX_DRAWS, size):
        sieve = Sieve(size)
        numbers = list(range(start, start + size))
        evaluate(program, sieve, {**fixed, **point.inputs(program, numbers)})
        found += [n for n, good in zip(numbers, sieve.good, strict=True) if good]
        if len(found) >= wanted:
            return found[:wanted]
    raise RuntimeError(f"{network}: roots exist too seldom mod p")


@functools.cache
def exact_rank_of(spec: str) -> int:
    """The formal rank mod p of the network's Jacobian, inputs doubled until it is stable."""
    network = parse(spec)
    program, field = record(network), PrimeField()
    point = Point(0, field.p)
    fixed = {**point.parameters(network), **point.constants(program)}
    before, inputs = -1, max(2, network.parameters // max(1, network.t * network.d[-1]))
    while True:
        numbers = usable_inputs(network, program, point, fixed, inputs)
        now = rank(jacobian(program, field, {**fixed, **point.inputs(program, numbers)}), field)
        if now in (before, network.parameters):
            return now
        before, inputs = now, 2 * inputs


@pytest.fixture(scope="session")
def exact_rank() -> Callable[[str], int]:
    """`exact_rank(spec)`: the exact generic rank, formal where exponentials occur (avoid softmax of width one)."""
    return exact_rank_of
