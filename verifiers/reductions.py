"""Proven rewrites of a network into one that computes the same functions, or more (`CERTIFICATES.md` section 7).

`reduce` applies those that remove parameters; `free_scores` prepares a network for the fields of free matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..numerics.network import Layer, Network
from .stream_widths import hidden_units, hidden_width, outputs, single_heads
from .symmetries.attention import symmetric_scores


@dataclass(frozen=True)
class Reduction:
    """One rewrite: `rule` sets the size it is about, of layer `layer`, to `size`."""

    rule: str
    layer: int
    size: int

    def to_json(self) -> dict[str, Any]:
        """The step in a certificate."""
        return {"rule": self.rule, "layer": self.layer, "size": self.size}

    def apply(self, network: Network) -> Network:
        """The rewritten network."""
        i, y = self.layer, network.layers[self.layer - 1]
        if self.rule == "one-token":
            return replace(network, t=1, causal=False, window=None, rope=False, alibi=False)
        if self.rule in ("head-width", "wider-heads"):
            return replace(network, a=_set(network.a, i, self.size))
        if self.rule in ("value-width", "wider-values"):
            return replace(network, dv=_set(network.dv or (), i, self.size))
        if self.rule == "wider-groups":
            return replace(network, kv=_set(network.kv, i, self.size))
        if self.rule == "group-heads":
            return replace(network, heads=_set(network.heads, i, self.size))
        if self.rule == "single-heads":
            groups = self.size if y.dv is None else 1
            few = replace(network, heads=_set(network.heads, i, self.size), kv=_set(network.kv, i, groups))
            return few if y.dv is None else replace(few, dv=_set(network.dv or (), i, 1))
        if self.rule == "hidden-units":
            blocks = network.ffn or ()
            few_units = replace(blocks[i - 1], hidden=self.size)
            return replace(network, ffn=(*blocks[: i - 1], few_units, *blocks[i:]))
        if self.rule == "one-key":
            one = replace(network, a=_set(network.a, i, self.size), heads=_set(network.heads, i, 1), kv=_set(network.kv, i, 1))
            return one if y.dv is None else replace(one, dv=_set(network.dv or (), i, y.kv * y.dv))
        return replace(network, d=(*network.d[:i], self.size, *network.d[i + 1 :]))


def _set(values: tuple[int, ...], layer: int, size: int) -> tuple[int, ...]:
    return (*values[: layer - 1], size, *values[layer:])


def reduce(network: Network) -> tuple[tuple[Reduction, ...], Network]:
    """All rewrites that remove parameters, until none applies, and the network that is left."""
    steps: list[Reduction] = []
    while True:
        step = next(_applicable(network), None)
        if step is None:
            return tuple(steps), network
        steps.append(step)
        network = step.apply(network)


def _applicable(network: Network) -> Iterator[Reduction]:
    if network.layers and network.sees_itself_only and (network.t > 1 or network.causal or network.rope or network.alibi):
        yield Reduction("one-token", 1, 1)
    for y in network.layers:
        yield from _heads(network, y)
        yield from _values(network, y)
        yield from _widths(network, y)


def _heads(network: Network, y: Layer) -> Iterator[Reduction]:
    if network.kind == "softmax" and network.sees_itself_only:
        if y.heads > 1 or y.a > 1:
            yield Reduction("one-key", y.index, 1)
        return
    if not network.rotates:
        size = (y.m + 1) // 2 if quadratic(network, y) else score_width(network, y)
        if y.a > size:
            yield Reduction("head-width", y.index, size)
    few = single_heads(network, y)
    if few is not None and (y.heads, y.kv, y.dv or 1) != (few, few if y.dv is None else 1, 1):
        yield Reduction("single-heads", y.index, few)
    if network.kind == "lightning" and y.per_group > 1:
        size = 1
        if y.dv is not None:
            size = min(outputs(network, y) * y.dv, y.a * (y.m + ("q" in network.bias)))
        if y.per_group > size:
            yield Reduction("group-heads", y.index, size * y.kv)


def quadratic(network: Network, y: Layer) -> bool:
    """Whether the layer acts by the quadratic form x^T K^T Q x alone: lightning attention on one token or a stream of rank one."""
    plain = network.kind == "lightning" and y.heads == 1 and not set(network.bias) & {"q", "k"}
    return plain and symmetric_scores(network, y)


def score_width(network: Network, y: Layer) -> int:
    """The largest useful head width of a layer without rope."""
    if network.kind == "softmax" and network.norm == "layer" and y.m > 1:
        return y.m - 1  # keys read a centred stream, up to a constant that softmax does not see
    biases = set(network.bias) & {"q", "k"} if network.kind == "lightning" else set()
    return y.m + (biases == {"q", "k"} or (biases == {"k"} and y.per_group > 1))


def _values(network: Network, y: Layer) -> Iterator[Reduction]:
    if y.dv is not None:
        constant = "v" in network.bias and not (network.kind == "softmax" and "o" in network.bias)
        size = min(y.m + constant, y.per_group * outputs(network, y))
        if y.dv > size:
            yield Reduction("value-width", y.index, size)


def _widths(network: Network, y: Layer) -> Iterator[Reduction]:
    units = hidden_units(network, y)
    if units is not None and y.ffn and y.ffn.hidden > units:
        yield Reduction("hidden-units", y.index, units)
    if y.index == network.l or network.skip or network.norm:
        return
    width = hidden_width(network, y)
    if y.n > width:
        yield Reduction("hidden-width", y.index, width)


def free_scores(network: Network) -> tuple[tuple[Reduction, ...], Network, tuple[int, ...]]:
    """Widenings after which the scores (and O V) of several heads are free matrices, the network then, and the layers concerned."""
    steps: list[Reduction] = []
    found: list[int] = []
    for y in network.layers if network.kind == "lightning" and not network.rope else ():
        if y.heads == 1:
            continue
        found.append(y.index)
        if y.per_group > 1:
            steps.append(Reduction("wider-groups", y.index, y.heads))
        size = score_width(network, replace(y, kv=y.heads))
        if y.a != size:
            steps.append(Reduction("wider-heads" if y.a < size else "head-width", y.index, size))
        if y.dv is None:
            continue
        dv = y.dv
        if dv > y.n:  # with keys and values of their own the heads need no more than this
            dv = min(y.m + ("v" in network.bias), outputs(network, y))
            steps.append(Reduction("value-width", y.index, dv))
        if dv < y.n:
            steps.append(Reduction("wider-values", y.index, y.n))
    for step in steps:
        network = step.apply(network)
    return tuple(steps), network, tuple(found)
