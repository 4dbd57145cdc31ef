"""Units that stand for the exponentials at one fixed theta: when may a minor mod p be believed there?

At a generic theta exponentials are free units if their exponents are independent. At this theta exponents may be dependent
(Q = 0 makes all scores 0). A minor is a polynomial in X and the exponentials; units that satisfy *every* relation
that holds between the exponentials at this theta are a point of the variety on which the minor lives, so that a non-zero value
proves it non-zero. By Ax (1971, Theorem 3) all relations come from integer relations sum_k n_k s_k = c between exponents:

- `free`: exponents that vanish identically (zeros of theta) have the unit 1, and no relation exists between the others, shown by
  full column rank of differences of exponents mod p, with this theta in every row;
- `lattice`: some exponents are polynomials in X over Q (those of the first exponentials), so that c is rational in relations between them; each
  such relation holds at all samples of exact rows (s, 1). Units prod_j E_j^(r_jk), r_j an integer basis of the row space,
  satisfy all of them. Other exponents that are formally equal share a unit. No relation involves these classes: differences of
  one exponent a class and of a maximal independent set of the first have full rank;
- `ones`: without biases and shifts all exponents vanish at X = 0, hence c = 0, and e_k = 1 satisfies whatever relations there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import lcm
from typing import Any

import numpy as np

from ...numerics.evaluate import evaluate
from ...numerics.network import Network
from ...numerics.point import words
from ...numerics.program import Program
from ...numerics.rings import Array, NotInvertible, PrimeField, Rationals
from ..exponents import exponent_count, independent_draws
from .expressions import Expressions, bindings
from .forms import TooLarge
from .freedom import vanishing_exponents
from .linear import echelon
from .theta import Theta

PRIMES = (2_097_143, 2_097_131, 2_097_091)  # 3 mod 4, below 2^21
MAX_EXPONENTS = 64  # for exact rows
SPREAD = 7  # sample inputs are integers of at most this size


class Units:
    """How exponentials are bound at this theta: `rule` is none, free, lattice, ones or unknown; `bind` binds them at given inputs."""

    def __init__(self, network: Network, program: Program, theta: Theta, seed: int, ring: PrimeField, residues: Mapping[str, Array]):
        self.seed = seed
        self.ring = ring
        self._steps = [s for s in program.instructions if s.operation == "exp"]
        count = exponent_count(program)
        self._ones = np.zeros(count, dtype=bool)
        self._first = np.zeros(count, dtype=bool)
        self._same = np.arange(count)
        self._basis: Array | None = None
        self.rule = "none"
        if not count:
            return

        def independent(asked: Array) -> bool:
            try:
                return independent_draws(network, program, seed, ring, residues, self.bind, asked) is not None
            except NotInvertible:
                return False

        vanishing = vanishing_exponents(program, theta)
        self._ones = np.concatenate([vanishing[s.data.label][s.data.counted] for s in self._steps])
        if independent(~self._ones):
            self.rule = "free"
            return
        if self._bind_first(network, program, theta, independent):
            self.rule = "lattice"
            return
        self._basis = None
        self._ones[:] = True
        self.rule = "unknown" if network.bias or network.norm == "layer" else "ones"

    def _bind_first(self, network: Network, program: Program, theta: Theta, independent: Callable[[Array], bool]) -> bool:
        """Bind the first exponentials by their exact relations, the others one unit a class of equal exponents; whether that is all."""
        labels = _polynomial_exponentials(program)
        self._first = np.concatenate([np.full(int(s.data.counted.sum()), s.data.label in labels) for s in self._steps])
        if not 0 < self._first.sum() <= MAX_EXPONENTS:
            return False
        self._basis, free = _integer_rows(network, program, theta, self.seed, self._first)
        others = ~self._first & ~self._ones
        if not others.any():
            return True
        keys = _keys(network, program, theta)
        if keys:
            zero = np.array([not key for key in keys])
            self._ones |= zero & ~self._first
            others &= ~zero
            seen: dict[Any, int] = {}
            for k in np.flatnonzero(others):
                self._same[k] = seen.setdefault(keys[k], int(k))
        asked = others & (self._same == np.arange(len(others)))
        asked[np.flatnonzero(self._first)[free]] = True
        return independent(asked)

    def bind(self, inputs: dict[str, Any], keys: list[str]) -> dict[str, Any]:
        """What to bind instead of drawn units, all with an axis over inputs in front; `keys` name the inputs."""
        made = dict(inputs)
        if not self._steps:
            return made
        units = np.concatenate([made[s.data.label][:, s.data.counted] for s in self._steps], axis=1)
        units[:, self._ones] = 1
        if self._basis is not None:
            units[:, self._first] = self._lattice(keys, self._basis)
        units, start = units[:, self._same], 0
        for step in self._steps:
            size = int(step.data.counted.sum())
            block = made[step.data.label].copy()
            block[:, step.data.counted] = units[:, start : start + size]
            if step.data.symmetric:
                upper = np.triu(np.ones(step.shape[-2:], dtype=bool))
                block = np.where(upper, block, block.swapaxes(-1, -2))
            made[step.data.label] = block
            start += size
        return made

    def _lattice(self, keys: list[str], basis: Array) -> Array:
        """prod_j E_j^(r_jk) for each input and exponent k, E_j random units of the input."""
        p = self.ring.p
        made = np.ones((len(keys), basis.shape[1] - 1), dtype=np.int64)
        for i, key in enumerate(keys):
            free = [int(w) + 1 for w in words(self.seed, f"{key}lattice", len(basis)) % np.uint64(p - 1)]
            for k in range(made.shape[1]):
                value = 1
                for unit, exponents in zip(free, basis, strict=True):
                    value = value * pow(unit, int(exponents[k]) % (p - 1), p) % p
                made[i, k] = value
        return made


def _keys(network: Network, program: Program, theta: Theta) -> list[Any]:
    """For each exponent a key, equal only for exponents that are the same function of X, empty for 0; none where that is too much work."""
    ring = Expressions()
    try:
        values = evaluate(program, ring, bindings(program, ring, theta))
    except TooLarge:
        return []
    steps = [s for s in program.instructions if s.operation == "exp"]
    found = [np.broadcast_to(values[s.operands[0]].array, s.shape)[s.data.counted] for s in steps]
    return [e.key for e in np.concatenate(found)]


def _polynomial_exponentials(program: Program) -> list[str]:
    """The labels of exponentials whose exponents are polynomials in X and theta over Q."""
    impure: set[int] = set()
    found = []
    for index, step in enumerate(program.instructions):
        if step.operation in ("exp", "generic", "root", "reciprocal") or impure & set(step.operands):
            impure.add(index)
        if step.operation == "exp" and not impure & set(step.operands):
            found.append(step.data.label)
    return found


def _integer_rows(network: Network, program: Program, theta: Theta, seed: int, first: Array) -> tuple[Array, list[int]]:
    """An integer basis of the span of (exponents at X, 1) over sample inputs X, exact: (rank, exponents + 1).

    And a maximal set of these exponents that no relation connects (columns that stay independent of the constant).
    """
    shape = (network.d[0], network.t)
    rows = []
    for n in range(int(first.sum()) + 6):
        drawn = words(seed, f"lattice/X/{n}", shape[0] * shape[1]) % np.uint64(2 * SPREAD + 1)
        x = np.array([int(w) - SPREAD for w in drawn], dtype=object).reshape(shape)
        rows.append([*_exponents(program, theta, x)[first], 1])
    basis = echelon(np.array(rows, dtype=object)).rows
    constant_first = echelon(basis[:, [-1, *range(basis.shape[1] - 1)]])
    integral = np.stack([row * lcm(*(v.denominator for v in row)) for row in basis])
    return integral, [c - 1 for c in constant_first.pivots if c > 0]


def _exponents(program: Program, theta: Theta, x: Array) -> Array:
    """All exponents at X over Q, of which only the first are meant: later ones see 1 for the exponentials before them."""
    bound: dict[str, Array] = {}
    for step in program.instructions:
        if step.operation in ("exp", "generic"):
            bound[step.data if step.operation == "generic" else step.data.label] = np.ones(step.shape, dtype=int)
    values = evaluate(program, Rationals(), {**theta, "X": x, **bound})
    steps = [s for s in program.instructions if s.operation == "exp"]
    return np.concatenate([np.broadcast_to(values[s.operands[0]].array, s.shape)[s.data.counted] for s in steps])


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
