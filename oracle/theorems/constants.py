"""Constants that move along the residual stream: a bias added at one place can be undone at a later one.

Adding a constant u to the stream after one site (attention or ffn of a layer) changes nothing if every later reader absorbs
it in its bias (or does not see it: its matrices kill u) until a site that can add the opposite constant itself.

* without norm: a reader absorbs W u in its bias (queries; keys with rope; hidden units), or W u = 0 is needed;
  the value maps only turn u into another constant, which the site adds back with u;
* rms norm: no constant passes;
* layer norm: u in the direction of (1, ..., 1) is seen by no reader.
"""

from __future__ import annotations

from ...numerics.network import Layer, Network
from .blocks import constant


def pushed(n: Network) -> int:
    """How many dimensions of constants are counted at more than one site of a softmax stack with skip connections."""
    sites = [site for y in n.layers for site in _sites(n, y)]
    if n.norm == "rms":
        return 0
    if n.norm == "layer":
        return max(0, sum(free == n.d[0] for _, free in sites) - 1)
    total = 0
    open_rows: int | None = None  # conditions W u = 0 met since the last site that adds constants
    for rows, free in sites:
        if open_rows is not None:
            open_rows += rows
            if free:
                total += max(0, n.d[0] - open_rows)
        if free:
            open_rows = 0
    return total


def _sites(n: Network, y: Layer) -> list[tuple[int, int]]:
    """Attention and ffn of a layer: rows of its readers that have no bias, and the dimension of the constants it adds."""
    keys = y.kv * y.a if n.rope and "k" not in n.bias else 0
    heads = y.a if n.rope else min(y.a, y.m)
    found = [((0 if "q" in n.bias else y.heads * heads) + keys, constant(n, y))]
    if y.ffn:
        gates = y.ffn.hidden if y.ffn.activation == "swiglu" else 0
        ups = 0 if "u" in n.bias else y.ffn.hidden
        found.append((gates + ups, y.n if "d" in n.bias else 0))
    return found
