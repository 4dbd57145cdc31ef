"""Fields that pass through a stream: hidden basis changes, and constants moved from one bias to the next."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Layer, Network
from .field import Field, Variable


def fields(network: Network, layer: Layer) -> Iterator[Field]:
    """Fields of the streams that layer i writes (after attention and, with ffn, after ffn), and of its softmax biases."""
    if network.kind == "softmax":
        yield from _softmax_biases(network, layer)
    if network.norm:
        return
    for after in ("attention", "ffn") if layer.ffn else ("attention",):
        consumers = _consumers(network, layer, after)
        if not consumers:
            continue
        if not network.skip:
            yield _hidden_basis(network, layer, after, consumers)
        pushed = _push(network, layer, after, consumers)
        if pushed:
            yield pushed


def _has(network: Network, name: str) -> bool:
    return any(name == found for found, _ in network.parameter_shapes())


def _consumers(network: Network, layer: Layer, after: str) -> list[tuple[str, str, int]]:
    """(matrix, its bias, slices) of all that read the stream."""
    i = layer.index
    if after == "attention" and layer.ffn:
        return [(f"{i}.U", f"{i}.bu", 0)] + ([(f"{i}.G", "", 0)] if layer.ffn.activation == "swiglu" else [])
    if i == network.l:
        return []
    y = network.layers[i]
    return [(f"{i + 1}.Q", f"{i + 1}.bq", y.heads), (f"{i + 1}.K", f"{i + 1}.bk", y.kv), (f"{i + 1}.V", f"{i + 1}.bv", y.kv)]


def _slices(name: str, count: int) -> list[str]:
    return [f"{name}[{s}]" for s in range(count)] if count else [name]


def _producers(network: Network, layer: Layer, after: str) -> list[str]:
    i = layer.index
    if after == "ffn":
        made = [f"{i}.D", f"{i}.bd"]
    elif layer.dv is None:
        made = [*_slices(f"{i}.V", layer.kv), *_slices(f"{i}.bv", layer.kv), f"{i}.bo"]
    else:
        made = [*_slices(f"{i}.O", layer.heads), f"{i}.bo"]
    return [m for m in made if _has(network, m.partition("[")[0])]


def _hidden_basis(network: Network, layer: Layer, after: str, consumers: list[tuple[str, str, int]]) -> Field:
    motion = {m: f"e {m}" for m in _producers(network, layer, after)}
    for name, _, count in consumers:
        motion |= {m: f"-{m} e" for m in _slices(name, count)}
    return Field("hidden-basis", layer.index, Variable("gl", (layer.n, layer.n)), motion, {"after": after})


def _push(network: Network, layer: Layer, after: str, consumers: list[tuple[str, str, int]]) -> Field | None:
    i = layer.index
    if after == "ffn":
        source = (f"{i}.bd", "e")
    elif "o" in network.bias:
        source = (f"{i}.bo", "e")
    else:
        source = (f"{i}.bv[0]", f"1/{layer.per_group} e")
        if network.kind != "softmax" or layer.dv is not None:
            return None
    if not _has(network, source[0].partition("[")[0]):
        return None
    motion = {source[0]: source[1]}
    for name, bias, count in consumers:
        if _has(network, bias):
            pairs = zip(_slices(bias, count), _slices(name, count), strict=True)
            motion |= {b: f"-{m} e" for b, m in pairs}
        elif not (name.endswith(".K") and network.kind == "softmax" and not network.rotates):
            return None
    if network.skip:  # the stream carries the constant on: the next block takes it out again
        exit_bias = f"{i}.bd" if after == "attention" and layer.ffn else f"{i + 1}.bo"
        if not _has(network, exit_bias):
            return None
        motion[exit_bias] = "-e"
    return Field("push", i, Variable("free", (layer.n, 1)), motion, {"after": after})


def _softmax_biases(network: Network, layer: Layer) -> Iterator[Field]:
    i = layer.index
    if "k" in network.bias and not network.rotates:
        for g in range(layer.kv):
            yield Field("key-bias", i, Variable("free", (layer.a, 1)), {f"{i}.bk[{g}]": "e"}, {"group": g})
    if "v" not in network.bias:
        return
    u = Variable("free", (layer.value_rows, 1))
    for g in range(layer.kv):
        if "o" in network.bias:
            if layer.dv is None:
                moved = f"-{layer.per_group} e"
            else:
                moved = "; ".join(f"-{i}.O[{h}] e" for h in layer.heads_of(g))
            yield Field("value-bias", i, u, {f"{i}.bv[{g}]": "e", f"{i}.bo": moved}, {"group": g})
        elif g > 0 and layer.dv is None:
            yield Field("value-bias-pair", i, u, {f"{i}.bv[{g}]": "e", f"{i}.bv[0]": "-e"}, {"group": g})
