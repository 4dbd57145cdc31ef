"""The normal form of a parameter point: rewrites that keep the function, exact over the rationals.

A layer's function is a combination of *features* of what it reads (monomials for lightning and powers, one feature a
distinct score matrix and coordinate for softmax): it is fixed by one vector of the written stream for each feature. So query/key and
value gauges, rescalings, permutations and mixtures of heads and hidden units leave no trace. A hidden stream x = E y + c is
replaced by coordinates y in which the features have a reduced echelon form (no skip), and constants c travel to the readers,
so that hidden bases and pushed biases leave none either. Equal forms therefore prove equal functions; different ones prove nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from ...numerics.network import Layer, Network
from ...numerics.rings import Array
from .linear import echelon, identity, matmul, zeros
from .theta import Theta

MAX_ENTRIES = 400_000  # of the features of one layer

Form = tuple[Hashable, ...]
Features = dict[Any, Array]


class TooLarge(ArithmeticError):
    """An exact computation that this network is too large for; nothing follows from it."""


def normal_form(network: Network, theta: Theta) -> Form:
    """The normal form of theta. Guaranteed: equal forms, same function f_theta (all X, all values of the generic constants).

    Not guaranteed: that equal functions have equal forms (they do for one lightning layer without rope, t >= 2).
    Raises `TooLarge` where a layer has too many features.
    """
    stream = _Stream(network)
    if network.kind == "mlp":
        stream.basis = theta["1.W"]
        for i in range(2, network.l + 1):
            features = _power_features(stream.basis, theta[f"{i}.W"], network.r or 1)
            stream.write(features, zeros(network.d[i]))
    for layer in network.layers:
        mine = {name.partition(".")[2]: v for name, v in theta.items() if name.startswith(f"{layer.index}.")}
        stream.write(*_attention(network, layer, mine, stream.read(mine.get("g1"), mine.get("s1"))))
        if layer.ffn:
            stream.write(*_feed_forward(layer, mine, stream.read(mine.get("g2"), mine.get("s2"))))
    return (*stream.form, _frozen(stream.basis), _frozen(stream.constant))


def head_products(network: Network, theta: Theta) -> Form:
    """For each layer and head the products K^T Q and O V (biases included) as they are: equal ones differ by gauges at most."""
    made: list[Hashable] = []
    for layer in network.layers:
        mine = {name.partition(".")[2]: v for name, v in theta.items() if name.startswith(f"{layer.index}.")}
        plain = np.concatenate([identity(layer.m), zeros(layer.m, 1)], axis=1)
        made.append(tuple(
            (tuple(_frozen(s) for s in scores), _frozen(w)) for scores, w in _heads(network, layer, mine, plain)
        ))  # fmt: skip
        moved = ("Q", "K", "V", "O", "bq", "bk", "bv")
        made += [(name, _frozen(v)) for name, v in mine.items() if name not in moved]
    return tuple(made)


def _frozen(array: Array) -> Hashable:
    return (array.shape, tuple(array.reshape(-1)))


class _Stream:
    """x = basis y + constant, and the form of everything written so far."""

    def __init__(self, network: Network):
        self.network = network
        self.basis = identity(network.d[0])
        self.constant = zeros(network.d[0])
        self.form: list[Hashable] = []

    def read(self, gain: Array | None, shift: Array | None) -> Array:
        """The matrix R with (what is read) = R (y, 1): (width, columns of the basis + 1); with a norm y is the normalised stream."""
        if self.network.norm is None or gain is None:
            return np.concatenate([self.basis, self.constant[:, None]], axis=1)
        width = len(gain)
        centre = identity(width)
        if self.network.norm == "layer":
            centre = centre - Fraction(1, width)
        last = zeros(width) if shift is None else shift
        return np.concatenate([gain[:, None] * centre, last[:, None]], axis=1)

    def write(self, features: Features, constant: Array) -> None:
        """Take over what a block writes: a vector for each feature, and a constant."""
        kept = {key: v for key, v in features.items() if any(v)}
        keys = sorted(kept, key=_order)
        columns = [kept[k] for k in keys]
        matrix = np.stack(columns, axis=1) if columns else zeros(len(constant), 0)
        if self.network.skip:
            self.form.append((tuple(keys), _frozen(matrix)))
            if self.network.norm:
                self.form.append(_frozen(constant))
            else:
                self.constant = self.constant + constant
            return
        rows, pivots = echelon(matrix)
        self.form.append((tuple(keys), _frozen(rows)))
        self.basis = matrix[:, list(pivots)]
        self.constant = constant


def _order(key: Any) -> str:
    return repr(key)


def _heads(network: Network, layer: Layer, mine: Theta, read: Array) -> Iterator[tuple[list[Array], Array]]:
    """For each head its score matrices (rows: keys, columns: queries) and its value matrix, on (y, 1)."""

    def through(matrix: str, bias: str, part: int) -> Array:
        made = matmul(mine[matrix][part], read)
        if bias in mine:
            made[:, -1] = made[:, -1] + mine[bias][part]
        return made

    for h in range(layer.heads):
        g = layer.group_of(h)
        q, k, v = through("Q", "bq", h), through("K", "bk", g), through("V", "bv", g)
        w = v if layer.dv is None else matmul(mine["O"][h], v)
        if network.rotates:
            turned = np.concatenate([np.stack([-q[2 * j + 1], q[2 * j]]) for j in range(layer.a // 2)])
            planes = [slice(2 * j, 2 * j + 2) for j in range(layer.a // 2)]
            yield [matmul(k[p].T, side[p]) for p in planes for side in (q, turned)], w
        else:
            yield [matmul(k.T, q)], w


def _attention(network: Network, layer: Layer, mine: Theta, read: Array) -> tuple[Features, Array]:
    constant = mine["bo"] if "bo" in mine else zeros(layer.n)
    heads = _heads(network, layer, mine, read)
    if network.kind == "lightning":
        return _lightning(network, layer, heads, constant, read.shape[1])
    features: Features = {}
    for h, (scores, w) in enumerate(heads):
        if network.sees_itself_only:
            key: tuple[Hashable, ...] = ("itself",)
        else:  # without rope the last row adds the same to all scores of a query: it cancels
            key = tuple(_frozen(s if network.rotates else s[:-1]) for s in scores)
            key = (h, *key) if network.alibi else key
        for column in range(read.shape[1] - 1):
            _add(features, (key, column), w[:, column])
        constant = constant + w[:, -1]  # the weights of a query sum to 1
    return features, constant


def _lightning(
    network: Network, layer: Layer, heads: Iterator[tuple[list[Array], Array]], constant: Array, width: int
) -> tuple[Features, Array]:
    """Features: y_p y_q of the key token times y_r of the query token, for each function of the relative position."""
    if layer.n * width**3 * layer.heads * (layer.a if network.rotates else 1) > MAX_ENTRIES:
        raise TooLarge(f"layer {layer.index} has {layer.n} x {width}^3 coefficients")
    features: Features = {}
    for scores, w in heads:
        for s, a in enumerate(scores):
            for q, r in zip(*np.nonzero(a), strict=True):
                for p in range(width):
                    key = (p, q, r) if network.sees_itself_only else (*sorted((p, q)), r)
                    _add(features, (s, *map(int, sorted(key) if network.sees_itself_only else key)), w[:, p] * a[q, r])
    if not network.rotates and (network.sees_itself_only or not network.causal):
        always = features.pop((0, width - 1, width - 1, width - 1), zeros(layer.n))
        constant = constant + always * (1 if network.sees_itself_only else network.t)
    return features, constant


def _feed_forward(layer: Layer, mine: Theta, read: Array) -> tuple[Features, Array]:
    constant = mine["bd"] if "bd" in mine else zeros(layer.n)
    z = matmul(mine["U"], read)
    if "bu" in mine:
        z[:, -1] = z[:, -1] + mine["bu"]
    power = layer.ffn.power if layer.ffn else None
    if power is not None:
        features = _power_features(z, mine["D"], power)
        always = features.pop((read.shape[1] - 1,) * power, zeros(layer.n))
        return features, constant + always
    features = {}
    gates = matmul(mine["G"], read) if "G" in mine else z
    for j, gate in enumerate(gates):
        if not any(gate):
            continue  # 0 times a sigmoid
        if "G" not in mine:
            _add(features, _frozen(gate), mine["D"][:, j])
            continue
        for column in range(read.shape[1]):
            _add(features, (_frozen(gate), column), mine["D"][:, j] * z[j, column])
    return features, constant


def _power_features(rows: Array, outer: Array, power: int) -> Features:
    """sum_j outer[:, j] (rows[j] . y)^power by monomials of y, as sorted tuples of indices."""
    units, width = rows.shape
    if len(outer) * units * comb(width + power - 1, power) > MAX_ENTRIES:
        raise TooLarge(f"powers {power} of {width} coordinates")
    features: Features = {}
    for j in range(units):
        expanded: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
        for _ in range(power):
            longer: dict[tuple[int, ...], Fraction] = {}
            for monomial, c in expanded.items():
                for i in range(width):
                    if rows[j, i] != 0:
                        key = tuple(sorted((*monomial, i)))
                        longer[key] = longer.get(key, Fraction(0)) + c * rows[j, i]
            expanded = longer
        for key, c in expanded.items():
            _add(features, key, outer[:, j] * c)
    return features


def _add(features: Features, key: Any, vector: Array) -> None:
    features[key] = features[key] + vector if key in features else vector
