"""Units that stand for the exponentials at one fixed theta: when may a minor mod p be believed there?

At a generic theta exponentials are free units if their exponents are independent. At this theta exponents may be dependent
(Q = 0 makes all scores 0). A minor is a polynomial in X and the exponentials; units that satisfy *every* relation
that holds between the exponentials at this theta are a point of the variety on which the minor lives, so that a non-zero value
proves it non-zero. By Ax (1971, Theorem 3) all relations come from integer relations sum_k n_k s_k = c between exponents:

- `free`: exponents that vanish identically (zeros of theta) have the unit 1, and none exist between the others, shown by full column
  rank of differences of exponents mod p, with this theta in every row;
- `lattice`: the exponents are rational functions of theta and X (one layer of exponentials), so that c is rational; every relation holds at all samples
  of exact rational rows (s, 1). Units prod_j E_j^(r_jk), r_j an integer basis of the row space, satisfy all of them;
- `ones`: without biases and shifts all exponents vanish at X = 0, hence c = 0, and e_k = 1 satisfies whatever relations there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm
from typing import Any

import numpy as np

from ...numerics.evaluate import evaluate
from ...numerics.network import Network
from ...numerics.point import words
from ...numerics.program import Program
from ...numerics.rings import Array, NotInvertible, PrimeField, Rationals
from ..exponents import exponent_count, independent_draws
from .forms import TooLarge
from .freedom import vanishing_exponents
from .linear import echelon
from .theta import Theta

PRIMES = (2_097_143, 2_097_131, 2_097_091)  # 3 mod 4, below 2^21
MAX_EXPONENTS = 64  # for exact rows
SPREAD = 7  # sample inputs are integers of at most this size


class Units:
    """How exponentials are bound at this theta: `rule` is none, free, lattice or ones; call `bind` for given input numbers."""

    def __init__(self, network: Network, program: Program, theta: Theta, seed: int, ring: PrimeField, residues: Mapping[str, Array]):
        self.program = program
        self.seed = seed
        self.ring = ring
        self._basis: Array | None = None
        self._dead: dict[str, Array] = {}
        if not exponent_count(program):
            self.rule = "none"
            return
        self._dead = vanishing_exponents(program, theta)
        try:
            free = independent_draws(network, program, seed, ring, residues, self._dead) is not None
        except NotInvertible:
            free = False
        if free:
            self.rule = "free"
            return
        if _one_layer_of_exponentials(network) and exponent_count(program) <= MAX_EXPONENTS:
            self.rule = "lattice"
            self._basis = _integer_rows(network, program, theta, seed)
        elif not network.bias and network.norm != "layer":
            self.rule = "ones"
        else:
            self.rule = "unknown"

    def bind(self, bindings: dict[str, Any], numbers: list[int]) -> dict[str, Any]:
        """The bindings with the exponentials replaced, as the rule says."""
        made = dict(bindings)
        if self.rule in ("none", "free"):
            for label, mask in self._dead.items():
                made[label] = np.where(mask, 1, made[label])
            return made
        values = self._values(numbers)
        start = 0
        for step in self.program.instructions:
            if step.operation == "exp":
                counted = step.data.counted
                size = int(counted.sum())
                block = np.ones((len(numbers), *step.shape), dtype=np.int64)
                block[:, counted] = values[:, start : start + size]
                if step.data.symmetric:
                    upper = np.triu(np.ones(step.shape[-2:], dtype=bool))
                    block = np.where(upper, block, block.swapaxes(-1, -2))
                made[step.data.label] = block
                start += size
        return made

    def _values(self, numbers: list[int]) -> Array:
        count = exponent_count(self.program)
        if self._basis is None:
            return np.ones((len(numbers), count), dtype=np.int64)
        p = self.ring.p
        made = np.ones((len(numbers), count), dtype=np.int64)
        for i, n in enumerate(numbers):
            drawn = words(self.seed, f"lattice/{n}", len(self._basis)) % np.uint64(p - 1)
            free = [int(w) + 1 for w in drawn]
            for k in range(count):
                value = 1
                for base, exponents in zip(free, self._basis, strict=True):
                    value = value * pow(base, int(exponents[k]) % (p - 1), p) % p
                made[i, k] = value
        return made


def _one_layer_of_exponentials(network: Network) -> bool:
    """Whether all exponents are polynomials in X with rational coefficients: nothing transcendental or random comes before them."""
    if network.norm or network.rope or network.alibi:
        return False
    if network.kind == "softmax":
        return network.l == 1 and all(f.power is not None for f in network.ffn or ())
    activations = [f for f in network.ffn or () if f.power is None]
    return network.l == 1 and all(f.activation != "gelu" for f in activations)


def _integer_rows(network: Network, program: Program, theta: Theta, seed: int) -> Array:
    """An integer basis of the span of (exponents at X, 1) over sample inputs X, exact; shape (rank, exponents + 1)."""
    count = exponent_count(program)
    shape = (network.d[0], network.t)
    rows = []
    for n in range(count + 6):
        drawn = words(seed, f"lattice/X/{n}", shape[0] * shape[1]) % np.uint64(2 * SPREAD + 1)
        x = np.array([int(w) - SPREAD for w in drawn], dtype=object).reshape(shape)
        ones = {s.data.label: np.ones(s.shape, dtype=int) for s in program.instructions if s.operation == "exp"}
        values = evaluate(program, Rationals(), {**theta, "X": x, **ones})
        exponents = [
            values[s.operands[0]].array[s.data.counted] for s in program.instructions if s.operation == "exp"
        ]
        rows.append(np.concatenate([*exponents, np.array([1], dtype=object)]))
    basis = echelon(np.stack(rows)).rows
    return np.stack([row * lcm(*(v.denominator for v in row)) for row in basis])


def residues(theta: Theta, ring: PrimeField) -> dict[str, Array]:
    """Theta mod p as int64; raises `NotInvertible` where p divides a denominator."""
    return {name: ring.integers(ring.lift(value)) for name, value in theta.items()}


def good_prime(*points: Theta) -> PrimeField:
    """A prime field in which all the points have residues; raises `TooLarge` where none of ours is."""
    for p in PRIMES:
        ring = PrimeField(p)
        try:
            for theta in points:
                residues(theta, ring)
        except NotInvertible:
            continue
        return ring
    raise TooLarge(f"each of the primes {', '.join(map(str, PRIMES))} divides a denominator")
