"""A plain forward pass, one head at a time, whose every step can be done wrongly on purpose.

It serves one end: naming faults of other people's code. The reference is `numerics.floats`; a test holds the faultless form
of this one to it in every mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.floats import GELU
from ...numerics.network import EPSILON, Layer, Network
from ...numerics.rings import Array

Params = Mapping[str, Array]


@dataclass(frozen=True)
class Place:
    """Where a step happens: the layer, the head (None for steps of a whole layer), and all that is known there."""

    network: Network
    layer: Layer
    head: int | None
    params: Params
    constants: Params
    seen: Mapping[str, Any]

    def tensor(self, name: str, head: int | None = None) -> Array | None:
        """A tensor of this layer, the slice that a head reads, or None where the network has none."""
        found = self.params.get(f"{self.layer.index}.{name}")
        if found is None or self.head is None:
            return found
        h = self.head if head is None else head
        part: Array = found[h if name in ("Q", "O", "bq") else self.layer.group_of(h)]
        return part


Change = Callable[[Any, Place], Any]
STEPS = ("tensors", "angles", "planes", "sees", "scores", "weights", "mixed", "read", "activation", "sum")


@dataclass(frozen=True)
class Deviation:
    """Do one step differently: `change(what the step gives, where)` at the given layers and heads (None: at all)."""

    step: str
    change: Change
    layers: frozenset[int] | None = None
    heads: frozenset[int] | None = None

    def here(self, step: str, layer: int, head: int | None) -> bool:
        """Whether it acts at this step."""
        at_layer = self.layers is None or layer in self.layers
        return step == self.step and at_layer and (head is None or self.heads is None or head in self.heads)


def run(network: Network, params: Params, constants: Params, X: Array, deviation: Deviation | None = None) -> Array:
    """f_theta(X) for inputs X (N, d_0, t), done right but for the deviation. Float64; overflow gives inf or nan."""

    def done(step: str, layer: Layer, head: int | None, value: Any, **seen: Any) -> Any:
        if deviation is None or not deviation.here(step, layer.index, head):
            return value
        return deviation.change(value, Place(network, layer, head, params, constants, seen))

    x = X
    with np.errstate(all="ignore"):
        if network.kind == "mlp":
            for i in range(1, network.l + 1):
                x = params[f"{i}.W"] @ (x if i == 1 else x ** (network.r or 1))
            return x
        for layer in network.layers:
            read = done("read", layer, None, _normalised(network, layer, params, x, "1"), stream=x)
            y = sum(_head(network, layer, h, params, constants, read, done) for h in range(layer.heads))
            bias = params.get(f"{layer.index}.bo")
            y = y if bias is None else y + bias[:, None]
            x = done("sum", layer, None, x + y if network.skip else y, stream=x, branch=y)
            if layer.ffn:
                read = _normalised(network, layer, params, x, "2")
                y = _feed_forward(network, layer, params, constants, read, done)
                x = x + y if network.skip else y
    return x


def _head(
    network: Network, layer: Layer, h: int, params: Params, constants: Params, read: Array, done: Callable[..., Any]
) -> Array:
    here = Place(network, layer, h, params, constants, {})
    names = ("Q", "K", "V", "O", "bq", "bk", "bv")
    m = done("tensors", layer, h, {name: here.tensor(name) for name in names})
    q, k, v = (_affine(m[name], m[bias], read) for name, bias in (("Q", "bq"), ("K", "bk"), ("V", "bv")))
    if network.rope:
        w = done("angles", layer, h, 2 * np.arctan(constants["rope"][: layer.a // 2]))
        planes = done("planes", layer, h, np.arange(layer.a).reshape(-1, 2))
        q, k = (_turned(z, w, planes) for z in (q, k))
    t = network.t
    sees = np.array([[network.sees(i, j) for j in range(t)] for i in range(t)])
    sees = done("sees", layer, h, sees)
    S = np.swapaxes(k, -1, -2) @ q
    if network.alibi:
        S = S + constants["alibi-slope"][h] * (np.arange(t)[:, None] - np.arange(t)[None, :])
    S = done("scores", layer, h, S, q=q, k=k)
    P = softmax(S, sees, axis=-2) if network.kind == "softmax" else np.where(sees, S, 0)
    P = done("weights", layer, h, P, scores=S, sees=sees)
    y = done("mixed", layer, h, v @ P, values=v, weights=P)
    out: Array = y if m["O"] is None else m["O"] @ y
    return out


def softmax(S: Array, sees: Array, axis: int) -> Array:
    """exp(S) of what is seen, normalised along an axis; nan where nothing is seen."""
    masked = np.where(sees, S, -np.inf)
    e = np.exp(masked - masked.max(axis=axis, keepdims=True))
    result: Array = e / e.sum(axis=axis, keepdims=True)
    return result


def _affine(matrix: Array, bias: Array | None, x: Array) -> Array:
    return matrix @ x if bias is None else matrix @ x + bias[:, None]


def _turned(z: Array, w: Array, planes: Array) -> Array:
    """Each plane of z (N, a, t), a pair of coordinates, turned by position times its angle."""
    angle = w[:, None] * np.arange(z.shape[-1])
    result = z.copy()
    first, second = z[:, planes[:, 0]], z[:, planes[:, 1]]
    result[:, planes[:, 0]] = np.cos(angle) * first - np.sin(angle) * second
    result[:, planes[:, 1]] = np.sin(angle) * first + np.cos(angle) * second
    return result


def _normalised(network: Network, layer: Layer, params: Params, x: Array, site: str) -> Array:
    if network.norm is None:
        return x
    if network.norm == "layer":
        x = x - x.mean(axis=-2, keepdims=True)
    size = np.sqrt((x**2).mean(axis=-2, keepdims=True) + EPSILON[0] / EPSILON[1])
    y: Array = params[f"{layer.index}.g{site}"][:, None] * x / size
    return y + params[f"{layer.index}.s{site}"][:, None] if network.norm == "layer" else y


def _feed_forward(
    network: Network, layer: Layer, params: Params, constants: Params, x: Array, done: Callable[..., Any]
) -> Array:
    i = layer.index
    z = _affine(params[f"{i}.U"], params.get(f"{i}.bu"), x)
    gate = params[f"{i}.G"] @ x if f"{i}.G" in params else z
    activation = layer.ffn.activation if layer.ffn else ""
    if isinstance(activation, int):
        hidden = z**activation
    elif activation == "gelu":
        hidden = z / (1 + np.exp(-GELU * (z + 0.044715 * z**3)))
    else:
        hidden = gate / (1 + np.exp(-gate)) * (z if activation == "swiglu" else 1)
    hidden = done("activation", layer, None, hidden, linear=z, gate=gate)
    return _affine(params[f"{i}.D"], params.get(f"{i}.bd"), hidden)
