"""Fewer tokens: when the rank with t' tokens bounds the dimension with t >= t' tokens from below (`PROOFS.md`)."""

from __future__ import annotations

from ..numerics.network import Network

FEW = 4  # up to here all tokens are used


def drops_tokens(network: Network) -> bool:
    """Whether dimension(t) >= rank(t') for all 2 <= t' <= t.

    Causal: the first t' outputs are the network with t' tokens. Lightning without biases and LayerNorm: zero tokens stay zero
    and change nothing. Softmax without mask and positions: repeated tokens are weights, which the units of the exponentials
    absorb.
    """
    if network.causal:
        return True
    if network.kind == "lightning":
        return not network.bias and network.norm != "layer"
    return network.kind == "softmax" and not (network.rotates or network.alibi)


def token_counts(network: Network) -> list[int]:
    """The token counts to try for a direct proof, fewest first; each norm takes a root a token, and so from two tokens on."""
    if network.t <= (2 if network.norm else FEW) or not drops_tokens(network):
        return [network.t]
    counts = [2, 3] if network.norm else [3]
    while 2 * counts[-1] < network.t:
        counts.append(2 * counts[-1])
    return [*(c for c in counts if c < network.t), network.t]
