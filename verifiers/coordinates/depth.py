"""Depth: where a softmax network is looked at as its layers side by side (`PROOFS.md`, section 7).

A zero token stays zero. A query whose weight lies on it alone gets nothing from a head, and a hidden unit whose sigmoid is 0
gives nothing either; both are limits of free exponentials. So at such a point all layers but one are switched off, together
with their derivatives, and the dimension is at least the sum of those of the layers alone, with one token less. In that layer
all hidden units but one for each coordinate are switched off in turn. Biases are zero
at the point; those that make constants move the stream all the same, by a vector common to all tokens: a *shift*.
"""

from __future__ import annotations

from dataclasses import replace

from ...numerics.network import Network
from .types import read_width

LEAST_TOKENS = 3  # the zero token and two more


def comes_apart(network: Network) -> bool:
    """Whether all layers but one can be switched off: several softmax layers with skip, hidden units with a sigmoid."""
    return (
        network.kind == "softmax"
        and network.skip
        and network.l > 1
        and all(f.power is None for f in network.ffn or ())
        and network.t >= LEAST_TOKENS
        and not 0 < (network.window or 0) < LEAST_TOKENS
    )


def shifts(network: Network) -> bool:
    """Whether biases of other layers shift the stream of a layer."""
    return comes_apart(network) and bool(set(network.bias) & set("vod"))


def parts(network: Network) -> list[Network]:
    """The different layers alone, with one token less and at most one hidden unit for each coordinate that is read, if the
    network comes apart; otherwise the network itself."""
    if not comes_apart(network):
        return [network]
    layers = [
        replace(
            network, d=(y.m, y.n), a=(y.a,), heads=(y.heads,), kv=(y.kv,), t=network.t - 1,
            dv=None if y.dv is None else (y.dv,),
            ffn=None if y.ffn is None else (replace(y.ffn, hidden=min(y.ffn.hidden, max(1, read_width(network, y.n)))),),
        )
        for y in network.layers
    ]  # fmt: skip
    return list(dict.fromkeys(layers))
