"""The feed-forward block: D act(U x + bu) + bd; swiglu: D (silu(G x) * (U x + bu)) + bd."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from .network import Layer
from .program import Exponentials, Program

GELU_CUBIC = Fraction(44_715, 1_000_000)


def feed_forward(p: Program, layer: Layer, t: int, params: Mapping[str, int], x: int) -> int:
    """The block's output (n, t) for the stream x (n, t) that it reads."""
    ones = p.const(np.ones(t, dtype=int))
    z = p.einsum("hn,nt->ht", params["U"], x)
    if "bu" in params:
        z = p.add(z, p.einsum("h,t->ht", params["bu"], ones))
    activation = layer.ffn.activation if layer.ffn else ""
    label = f"{layer.index}.s"
    if isinstance(activation, int):
        hidden = p.power(z, activation)
    elif activation == "silu":
        hidden = _gated(p, z, z, label)
    elif activation == "gelu":
        cubed = p.scale(p.power(z, 3), GELU_CUBIC)
        hidden = _gated(p, z, p.mul(p.add(z, cubed), p.generic("gelu", (1, 1))), label)
    else:
        gate = p.einsum("hn,nt->ht", params["G"], x)
        hidden = p.mul(_gated(p, gate, gate, label), z)
    y = p.einsum("nh,ht->nt", params["D"], hidden)
    return p.add(y, p.einsum("n,t->nt", params["bd"], ones)) if "bd" in params else y


def _gated(p: Program, z: int, w: int, label: str) -> int:
    """z / (1 + exp(-w))."""
    e = p.exp(p.scale(w, -1), Exponentials(label, np.ones(p.shape(w), dtype=bool)))
    return p.mul(z, p.reciprocal(p.add(p.const(np.ones((1, 1), dtype=int)), e)))
