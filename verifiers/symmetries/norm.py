"""Fields of normalised streams: gains and shifts absorbed by what reads them, and the all-ones direction of LayerNorm."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Layer, Network
from .field import Field, Variable
from .streams import absorbing


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
    cofactor = f"cofactor({gain})'"  # w^T (g z) = 0: W (1 + u w^T) reads the same but for the shift
    motion = {m: f"{m} e {cofactor}" for _, m, _, _ in named} | {shift: f"-e {cofactor} {shift}"}
    yield Field("centre-basis", i, Variable("free", (width, 1)), motion, {"after": after})
    shifted: dict[str, str] = {shift: "e"}
    complete = True
    for short, m, _, part in named:
        found = absorbing(network, layer, short, part, f"{m} e")
        complete = complete and found is not None
        for target, word in (found or {}).items():
            shifted[target] = f"{shifted[target]}; {word}" if target in shifted else word
    if complete:
        yield Field("shift", i, Variable("free", (width, 1)), shifted, {"after": after})
    shapes = dict(network.parameter_shapes())
    for short, m, _, part in named:
        found = absorbing(network, layer, short, part, f"e {cofactor} {shift}")
        if found is None:
            continue
        variable = Variable("free", (shapes[f"{i}.{short}"][-2], 1))
        index = {"after": after, "matrix": short, **({"slice": int(part[1:-1])} if part else {})}
        yield Field("centre", i, variable, {m: f"e {cofactor}"} | found, index)
