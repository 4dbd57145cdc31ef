"""Mechanisms and edges: the rows and columns of the coverage table, and the features that guide drawing.

A mechanism is a switch of the notation. An edge is a place where hypotheses of theorems about dimensions tend to break:
sizes that are 1, equal, or just too large to matter.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from ...numerics.network import Layer, Network

MECHANISMS: dict[str, Callable[[Network], bool]] = {
    "lightning": lambda n: n.kind == "lightning",
    "softmax": lambda n: n.kind == "softmax",
    "mlp": lambda n: n.kind == "mlp",
    "deep": lambda n: n.l > 1,
    "heads": lambda n: any(y.heads > 1 for y in n.layers),
    "kv": lambda n: any(y.kv < y.heads for y in n.layers),
    "dv": lambda n: n.dv is not None,
    "skip": lambda n: n.skip,
    "causal": lambda n: n.causal,
    "window": lambda n: n.window is not None,
    "rope": lambda n: n.rope,
    "alibi": lambda n: n.alibi,
    "bias": lambda n: bool(n.bias),
    "norm": lambda n: n.norm is not None,
    "ffn": lambda n: n.ffn is not None,
}

EDGES: dict[str, Callable[[Network], bool]] = {
    "a=1": lambda n: any(y.a == 1 for y in n.layers),
    "a=d": lambda n: any(y.a == y.m for y in n.layers),
    "a>d": lambda n: any(y.a > y.m for y in n.layers),
    "2a>=d": lambda n: any(y.a < y.m <= 2 * y.a for y in n.layers),
    "d_i=1": lambda n: 1 in n.d,
    "t=1": lambda n: n.kind != "mlp" and n.t == 1,
    "t=2": lambda n: n.t == 2,
    "a=1 first": lambda n: any(min(y.a, y.m) == 1 < min(z.a, z.m) for y, z in pairwise(n.layers)),
    "d_i>d_0": lambda n: max(n.d) > n.d[0],
    "d_i>d_l": lambda n: max(n.d) > n.d[-1],
    "wide": lambda n: any(_reads(z) < y.n for y, z in pairwise(n.layers)),
    "fed": lambda n: any(_feeds(y) < y.n for y in n.layers),
    "full heads": lambda n: any(y.heads > 1 and y.kv * y.a >= y.m for y in n.layers),
    "group=heads": lambda n: any(y.heads > y.kv == 1 for y in n.layers),
}


def _reads(layer: Layer) -> int:
    """Rows of all matrices that read the layer's stream."""
    return (layer.heads + layer.kv) * layer.a + layer.kv * layer.value_rows


def _feeds(layer: Layer) -> int:
    """The largest rank of what the layer writes, biases apart."""
    return layer.kv * layer.m if layer.dv is None else layer.heads * layer.value_rows


def mechanisms(network: Network) -> list[str]:
    """The mechanisms of a network, in the order of the table."""
    return [name for name, holds in MECHANISMS.items() if holds(network)]


def edges(network: Network) -> list[str]:
    """The edges on which a network lies, in the order of the table."""
    return [name for name, holds in EDGES.items() if holds(network)]


def features(network: Network) -> list[str]:
    """What distinguishes the network for drawing: mechanisms and their values, edges, sizes and their equalities."""
    first = {"d0": network.d[0], "d1": network.d[1], "dl": network.d[-1], "l": network.l}
    if network.layers:
        y = network.layers[0]
        first |= {"t": network.t, "a": y.a, "heads": y.heads, "kv": y.kv}
        first |= {"dv": y.dv} if y.dv else {}
    values = [f"{name}={size}" for name, size in first.items()]
    values += [f"{x}={y}" for x, y in pairwise(sorted(first)) if first[x] == first[y]]
    words = [network.bias, network.norm, network.window, network.r, network.ffn and network.ffn[0]]
    return [*mechanisms(network), *edges(network), *values, *(str(w) for w in words if w)]
