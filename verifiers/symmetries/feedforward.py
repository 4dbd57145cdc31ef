"""Fields of feed-forward blocks and of polynomial MLPs: rescaling of hidden units."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Layer, Network
from .field import Field, Variable


def fields(network: Network, layer: Layer) -> Iterator[Field]:
    """The fields of one layer's feed-forward block."""
    if layer.ffn is None:
        return
    i, h, power = layer.index, layer.ffn.hidden, layer.ffn.power
    if layer.ffn.activation not in ("swiglu", power):
        return
    readers = [f"{i}.U", *([f"{i}.bu"] if "u" in network.bias else [])]
    if power == 1:
        motion = {m: f"e {m}" for m in readers} | {f"{i}.D": f"-{i}.D e"}
        yield Field("ffn-basis", i, Variable("gl", (h, h)), motion)
        return
    for unit in range(h):
        motion = {m: f"e {m}" for m in readers} | {f"{i}.D": f"-{power or 1} {i}.D e"}
        yield Field("ffn-scaling", i, Variable("unit", (h, h), unit), motion, {"unit": unit})


def mlp_fields(network: Network) -> Iterator[Field]:
    """The fields of a polynomial MLP."""
    for i in range(1, network.l):
        n, r = network.d[i], network.r or 1
        motion = {f"{i}.W": f"e {i}.W", f"{i + 1}.W": f"-{r} {i + 1}.W e"}
        if r == 1:
            yield Field("mlp-basis", i, Variable("gl", (n, n)), motion)
            continue
        for unit in range(n):
            yield Field("mlp-scaling", i, Variable("unit", (n, n), unit), motion, {"unit": unit})
        if r == 2 and network.d[i + 1] == 1:  # the sum of w_k (u_k x)^2 is z^T D^-1 z for z = D U x, D = diag(w)
            turned = {f"{i}.W": f"e diagonal({i + 1}.W) {i}.W"}
            yield Field("mlp-rotation", i, Variable("antisymmetric", (n, n)), turned)
