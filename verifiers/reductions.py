"""Proven rewrites of a network into one with fewer parameters that computes the same functions, or more (`CERTIFICATES.md` section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..numerics.network import Network


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
        i = self.layer
        if self.rule == "head-width":
            return replace(network, a=(*network.a[: i - 1], self.size, *network.a[i:]))
        return replace(network, d=(*network.d[:i], self.size, *network.d[i + 1 :]))


def reduce(network: Network) -> tuple[tuple[Reduction, ...], Network]:
    """All rewrites that apply, until none does, and the network that is left."""
    steps: list[Reduction] = []
    while True:
        step = next(_applicable(network), None)
        if step is None:
            return tuple(steps), network
        steps.append(step)
        network = step.apply(network)


def _applicable(network: Network) -> Iterator[Reduction]:
    for y in network.layers:
        if not network.rotates:
            biases = set(network.bias) & {"q", "k"} if network.kind == "lightning" else set()
            constant = biases == {"q", "k"} or (biases == {"k"} and y.per_group > 1)
            size = y.m + constant
            if y.a > size:
                yield Reduction("head-width", y.index, size)
        if y.index == network.l or network.skip or network.norm or network.ffn:
            continue
        if network.kind == "softmax":
            constants = int("o" in network.bias or ("v" in network.bias and y.dv is None))
        else:
            constants = y.kv * ("v" in network.bias and y.dv is None) + ("o" in network.bias)
        feeds = (y.kv * y.m if y.dv is None else y.heads * y.dv) + constants
        if y.n > feeds:
            yield Reduction("feeder-width", y.index, feeds)
        z = network.layers[y.index]
        scores = 0 if network.kind == "softmax" and network.sees_itself_only else (z.heads + z.kv) * z.a
        reads = scores + z.kv * z.value_rows
        if y.n > reads:
            yield Reduction("consumer-width", y.index, reads)
