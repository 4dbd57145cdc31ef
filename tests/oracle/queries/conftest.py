"""Brute force for small networks, written from oracle/NOTATION.md alone: a forward pass over any numbers, dual numbers, ranks."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

DIGITS = 240
SMALL = mpmath.mpf(10) ** -100
P = 2**61 - 1


class Dual:
    """A number with its derivatives by all parameters."""

    def __init__(self, value, slopes):
        self.value = value
        self.slopes = slopes

    def __add__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slopes)
        return Dual(self.value + other.value, [a + b for a, b in zip(self.slopes, other.slopes, strict=True)])

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value * other, [a * other for a in self.slopes])
        u, v = self.value, other.value
        return Dual(u * v, [a * v + b * u for a, b in zip(self.slopes, other.slopes, strict=True)])

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        e = mpmath.exp(self.value)
        return Dual(e, [a * e for a in self.slopes])

    def inverse(self):
        return Dual(1 / self.value, [-a / self.value**2 for a in self.slopes])


def exp(x):
    return x.exp() if isinstance(x, Dual) else mpmath.exp(x)


def inverse(x):
    return x.inverse() if isinstance(x, Dual) else 1 / x


def dot(matrix, vector):
    return [sum((m * v for m, v in zip(row, vector, strict=True)), start=0 * vector[0]) for row in matrix]


def plus(x, y):
    return [a + b for a, b in zip(x, y, strict=True)]


def forward(network, theta, x):
    """Columns of f_theta(X), X given by its columns; no rope, alibi, norm, silu, gelu, swiglu."""
    if network.kind == "mlp":
        for i in range(1, network.l + 1):
            x = [dot(theta[f"{i}.W"], c) for c in x]
            if i < network.l:
                x = [[power(v, network.r) for v in c] for c in x]
        return x
    for layer in network.layers:
        i = layer.index
        out = [[0] * layer.n for _ in x]
        for h in range(layer.heads):
            g = h * layer.kv // layer.heads
            q, k, v = (
                [plus(dot(theta[f"{i}.{m}"][s], c), theta[f"{i}.{b}"][s]) if f"{i}.{b}" in theta else dot(theta[f"{i}.{m}"][s], c)
                 for c in x] for m, b, s in (("Q", "bq", h), ("K", "bk", g), ("V", "bv", g))
            )  # fmt: skip
            for j in range(len(x)):
                seen = [s for s in range(len(x)) if not network.causal or s <= j]
                weights = {s: sum((a * b for a, b in zip(k[s], q[j], strict=True)), start=0) for s in seen}
                if network.kind == "softmax":
                    weights = {s: exp(w) for s, w in weights.items()}
                    total = inverse(sum(weights.values(), start=0))
                    weights = {s: w * total for s, w in weights.items()}
                mixed = [sum((v[s][r] * weights[s] for s in seen), start=0) for r in range(layer.value_rows)]
                out[j] = plus(out[j], dot(theta[f"{i}.O"][h], mixed) if layer.dv else mixed)
        if f"{i}.bo" in theta:
            out = [plus(c, theta[f"{i}.bo"]) for c in out]
        x = [plus(c, old) for c, old in zip(out, x, strict=True)] if network.skip else out
        if layer.ffn:
            hidden = [dot(theta[f"{i}.U"], c) for c in x]
            new = [dot(theta[f"{i}.D"], [power(v, layer.ffn.power) for v in c]) for c in hidden]
            x = [plus(c, old) for c, old in zip(new, x, strict=True)] if network.skip else new
    return x


def power(v, r):
    return v if r == 1 else v * power(v, r - 1)


class Brute:
    """What random inputs say about a network: right with overwhelming probability, no proof."""

    def same(self, network, theta, theta2):
        """Whether the outputs agree at 12 random inputs."""
        generator = random.Random(1)
        one, two = self._numbers(network, theta), self._numbers(network, theta2)
        for _ in range(12):
            x = self._input(network, generator)
            for u, v in zip(itertools.chain(*forward(network, one, x)), itertools.chain(*forward(network, two, x)), strict=True):
                if abs(u - v) > (SMALL * (1 + abs(u)) if network.transcendental else 0):
                    return False
        return True

    def rank(self, network, theta):
        """The rank of the differential at theta on enough random inputs."""
        generator = random.Random(2)
        theta = self._numbers(network, theta)
        n, total = network.parameters, 0
        dual = {}
        for name, value in theta.items():
            made = np.empty(value.shape, dtype=object)
            for index in np.ndindex(value.shape):
                made[index] = Dual(value[index], [int(c == total) for c in range(n)])
                total += 1
            dual[name] = made
        rows = []
        for _ in range(2 * n // (network.d[-1] * network.t) + 3):
            x = [[Dual(v, [0] * n) for v in c] for c in self._input(network, generator)]
            rows += [v.slopes for v in itertools.chain(*forward(network, dual, x))]
        return float_rank(rows) if network.transcendental else modular_rank(rows)

    def _numbers(self, network, theta):
        if not network.transcendental:
            return {name: np.vectorize(Fraction, otypes=[object])(v) for name, v in theta.items()}
        mpmath.mp.dps = DIGITS
        return {name: np.vectorize(lambda f: mpmath.mpf(Fraction(f).numerator) / Fraction(f).denominator, otypes=[object])(v)
                for name, v in theta.items()}  # fmt: skip

    def _input(self, network, generator):
        t = network.t
        if network.transcendental:
            return [[mpmath.mpf(generator.randint(-1000, 1000)) / 997 for _ in range(network.d[0])] for _ in range(t)]
        return [[Fraction(generator.randint(-999, 999)) for _ in range(network.d[0])] for _ in range(t)]


def modular_rank(rows):
    rows = [[int(Fraction(v).numerator * pow(Fraction(v).denominator, -1, P)) % P for v in row] for row in rows]
    rank = 0
    for c in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][c]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        back = pow(rows[rank][c], -1, P)
        for i in range(rank + 1, len(rows)):
            factor = rows[i][c] * back % P
            if factor:
                rows[i] = [(a - factor * b) % P for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def float_rank(rows):
    rows = [[mpmath.mpf(v) for v in row] for row in rows]
    scale = max(abs(v) for row in rows for v in row)
    for rank in range(min(len(rows), len(rows[0]))):
        i, c = max(itertools.product(range(rank, len(rows)), range(len(rows[0]))), key=lambda ic: abs(rows[ic[0]][ic[1]]))
        if abs(rows[i][c]) <= SMALL * (1 + scale):
            return rank
        rows[rank], rows[i] = rows[i], rows[rank]
        for k in range(rank + 1, len(rows)):
            factor = rows[k][c] / rows[rank][c]
            if factor:
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[rank], strict=True)]
            rows[k][c] = mpmath.mpf(0)
    return min(len(rows), len(rows[0]))


@pytest.fixture(scope="session")
def brute():
    return Brute()


@pytest.fixture(scope="session")
def draw():
    """`draw(network, seed, spread)`: small random integers as a parameter point."""

    def draw(network, seed, spread=3):
        generator = random.Random(seed)
        made = {}
        for name, shape in network.parameter_shapes():
            value = np.empty(int(np.prod(shape)), dtype=object)
            value[:] = [Fraction(generator.randint(-spread, spread)) for _ in range(value.size)]
            made[name] = value.reshape(shape)
        return made

    return draw
