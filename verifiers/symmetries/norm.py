"""Fields of normalised streams: gains and shifts absorbed by what reads them, and the all-ones direction of LayerNorm."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Layer, Network
from .field import Field, Variable


def fields(network: Network, layer: Layer) -> Iterator[Field]:
    """The fields of one layer's norms, before attention (after = input) and before ffn (after = attention)."""
    if network.norm is None:
        return
    i = layer.index
    biases = set(network.bias)
    readers = [("Q", "bq", layer.heads), ("K", "bk", layer.kv), ("V", "bv", layer.kv)]
    yield from _site(network, layer, "input", f"{i}.g1", f"{i}.s1", layer.m, readers, biases)
    if layer.ffn:
        swiglu = layer.ffn.activation == "swiglu"
        readers = [("U", "bu", 0), *([("G", "", 0)] if swiglu else [])]
        yield from _site(network, layer, "attention", f"{i}.g2", f"{i}.s2", layer.n, readers, biases)


def _site(
    network: Network,
    layer: Layer,
    after: str,
    gain: str,
    shift: str,
    width: int,
    readers: list[tuple[str, str, int]],
    biases: set[str],
) -> Iterator[Field]:
    i = layer.index
    named = [
        (short, f"{i}.{short}{s}", f"{i}.{bias}{s}" if bias and bias[1] in biases else None, s)
        for short, bias, count in readers
        for s in ([f"[{k}]" for k in range(count)] if count else [""])
    ]
    motion = {gain: f"e {gain}"} | {m: f"-{m} e" for _, m, _, _ in named}
    if network.norm == "layer":
        motion[shift] = f"e {shift}"
    yield Field("gain", i, Variable("diagonal", (width, width)), motion, {"after": after})
    if network.norm != "layer":
        return
    key_needs_none = network.kind == "softmax" and not network.rotates
    free_of_bias = {"K"} if key_needs_none else set()
    if all(bias or short in free_of_bias for short, _, bias, _ in named):
        motion = {shift: "e"} | {bias: f"-{m} e" for _, m, bias, _ in named if bias}
        yield Field("shift", i, Variable("free", (width, 1)), motion, {"after": after})
    shapes = dict(network.parameter_shapes())
    for short, m, bias, s in named:
        if not bias and short not in free_of_bias:
            continue
        rows = shapes[f"{i}.{short}"][-2]
        motion = {m: f"e cofactor({gain})'"}
        if bias:
            motion[bias] = f"-e cofactor({gain})' {shift}"
        index = {"after": after, "matrix": short, **({"slice": int(s[1:-1])} if s else {})}
        yield Field("centre", i, Variable("free", (rows, 1)), motion, index)
