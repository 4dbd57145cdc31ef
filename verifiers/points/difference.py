"""An input at which two parameter points give different outputs, proved by exact rationals or by disjoint enclosures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...numerics.evaluate import evaluate
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.point import words
from ...numerics.program import Program
from ...numerics.rings import Array, NotInvertible, Rationals
from .enclosures import Enclosure, Enclosures
from .theta import Theta

TRIES = 6
SPREAD = 5  # inputs are integers of at most this size over a scale
SCALES = (1, 16, 4_096)  # small inputs keep exponentials in range
BITS = (128, 512, 2_048)


@dataclass(frozen=True)
class Difference:
    """Output entry `entry` = (coordinate, token) at input `x` differs: `values` are its two values.

    `exact`: they are fractions. Otherwise they are decimals that agree with values in disjoint enclosures up to less than their difference.
    `constants` are the values of the generic constants (rotations, slopes, gelu) at which it was evaluated.
    """

    x: Array
    entry: tuple[int, int]
    values: tuple[str, str]
    exact: bool
    constants: dict[str, Array]


def find_difference(network: Network, theta: Theta, theta2: Theta, seed: int = 0) -> Difference | None:
    """An input where f_theta and f_theta2 differ, or None: not found, from which nothing follows.

    Guaranteed: at the returned input and constants the outputs differ, so that the functions differ for generic constants.
    """
    program = record(network)
    exact = not network.transcendental and not network.norm
    for ring in [Rationals()] if exact else [Enclosures(bits) for bits in BITS]:
        for x, constants in _inputs(network, program, seed):
            found = _compare(program, ring, theta, theta2, x, constants)
            if found is not None:
                return found
    return None


def _inputs(network: Network, program: Program, seed: int) -> Iterator[tuple[Array, dict[str, Array]]]:
    constants: dict[str, Array] = {}
    for step in program.instructions:
        if step.operation == "generic":
            size = max(math.prod(step.shape), constants[step.data].size if step.data in constants else 0)
            constants[step.data] = _drawn(seed, f"difference/{step.data}", size, 7, positive=True)
    shape = (network.d[0], network.t)
    for scale in SCALES if network.transcendental else SCALES[:1]:
        for n in range(TRIES):
            x = _drawn(seed, f"difference/{n}", shape[0] * shape[1], scale, positive=False).reshape(shape)
            if n == 0:  # equal tokens: every softmax without rope is uniform, and the outputs are rational
                x = np.broadcast_to(x[:, :1], shape)
            yield x, constants


def _drawn(seed: int, label: str, count: int, scale: int, positive: bool) -> Array:
    values = [int(w) for w in words(seed, label, count) % np.uint64(2 * SPREAD + 1)]
    made = np.empty(count, dtype=object)
    made[:] = [Fraction(v + 1 if positive else v - SPREAD, scale) for v in values]
    return made


def _compare(
    program: Program, ring: Rationals | Enclosures, theta: Theta, theta2: Theta, x: Array, constants: dict[str, Array]
) -> Difference | None:
    try:
        for entry, one, two in _pairs(program, ring, theta, theta2, x, constants):
            if isinstance(ring, Rationals) and one != two:
                return Difference(x, entry, (str(one), str(two)), True, constants)
            if isinstance(ring, Enclosures) and one.disjoint(two):
                return Difference(x, entry, _decimals(one, two), False, constants)
    except NotInvertible:
        pass
    return None


def _decimals(one: Enclosure, two: Enclosure) -> tuple[str, str]:
    """The middles of two disjoint enclosures, with two digits more than they need to be told apart."""
    gap = max(one.low, two.low) - min(one.high, two.high)
    places = max(0, (one.bits - gap.bit_length()) * 3 // 10) + 3
    shown = []
    for value in (one, two):
        scaled = (value.low + value.high) * 10**places >> (one.bits + 1)
        digits = str(abs(scaled)).rjust(places + 1, "0")
        shown.append(f"{'-' * (scaled < 0)}{digits[:-places]}.{digits[-places:]}")
    return shown[0], shown[1]


def _pairs(
    program: Program, ring: Any, theta: Theta, theta2: Theta, x: Array, constants: dict[str, Array]
) -> Iterator[tuple[tuple[int, int], Any, Any]]:
    """(entry, its value at theta, its value at theta2) of all outputs."""
    one, two = (
        evaluate(program, ring, {**point, **constants, "X": x})[program.output].array for point in (theta, theta2)
    )
    for i, j in np.ndindex(*program.shape(program.output)):
        yield (i, j), one[i, j], two[i, j]
