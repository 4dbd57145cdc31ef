"""Fields that pass through a stream: hidden basis changes, and constants moved from one bias to the next."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Layer, Network
from .field import Field, Variable


def fields(network: Network, layer: Layer) -> Iterator[Field]:
    """Fields of the streams that layer i writes (after attention and, with ffn, after ffn), and of its softmax biases."""
    if network.kind == "softmax":
        yield from _softmax_biases(network, layer)
    if network.norm == "layer":
        for after in ("attention", "ffn") if layer.ffn else ("attention",):
            yield from _ones(network, layer, after)
    if network.norm:
        return
    for after in ("attention", "ffn") if layer.ffn else ("attention",):
        consumers = consumers_of(network, layer, after)
        if not consumers:
            continue
        if not network.skip:
            yield _hidden_basis(network, layer, after, consumers)
        yield from _push(network, layer, after, consumers)
        yield from _push_past(network, layer, after, consumers)
        yield from _push_through(network, layer, after)


def _has(network: Network, name: str) -> bool:
    return any(name == found for found, _ in network.parameter_shapes())


def consumers_of(network: Network, layer: Layer, after: str) -> list[tuple[str, str, int]]:
    """(matrix, its bias, slices) of all that read the stream."""
    i = layer.index
    if after == "attention" and layer.ffn:
        return [(f"{i}.U", f"{i}.bu", 0)] + ([(f"{i}.G", "", 0)] if layer.ffn.activation == "swiglu" else [])
    if i == network.l:
        return []
    y = network.layers[i]
    return [(f"{i + 1}.Q", f"{i + 1}.bq", y.heads), (f"{i + 1}.K", f"{i + 1}.bk", y.kv), (f"{i + 1}.V", f"{i + 1}.bv", y.kv)]


def slices(name: str, count: int) -> list[str]:
    """The names of the slices of a tensor: itself without any."""
    return [f"{name}[{s}]" for s in range(count)] if count else [name]


def producers_of(network: Network, layer: Layer, after: str) -> list[str]:
    """The tensors, or slices, whose columns make the stream."""
    i = layer.index
    if after == "ffn":
        made = [f"{i}.D", f"{i}.bd"]
    elif layer.dv is None:
        made = [*slices(f"{i}.V", layer.kv), *slices(f"{i}.bv", layer.kv), f"{i}.bo"]
    else:
        made = [*slices(f"{i}.O", layer.heads), f"{i}.bo"]
    return [m for m in made if _has(network, m.partition("[")[0])]


def _hidden_basis(network: Network, layer: Layer, after: str, consumers: list[tuple[str, str, int]]) -> Field:
    motion = {m: f"e {m}" for m in producers_of(network, layer, after)}
    for name, _, count in consumers:
        motion |= {m: f"-{m} e" for m in slices(name, count)}
    return Field("hidden-basis", layer.index, Variable("gl", (layer.n, layer.n)), motion, {"after": after})


def _ones(network: Network, layer: Layer, after: str) -> Iterator[Field]:
    """A multiple of the all-ones vector is not seen by LayerNorm: it goes from one constant of the stream to the next."""
    source = _centred_constant(network, layer, after)
    if after == "attention" and layer.ffn:
        target = _centred_constant(network, layer, "ffn")
    else:
        target = _centred_constant(network, network.layers[layer.index], "attention") if layer.index < network.l else None
    if source and target:
        motion = {
            source[0]: f"{source[1]} {target[2]} {source[3]}",
            target[0]: f"-{target[1]} {source[2]} {target[3]}",
        }
        yield Field("ones", layer.index, Variable("ones", (layer.n, 1)), motion, {"after": after})


def _centred_constant(network: Network, layer: Layer, after: str) -> tuple[str, str, str, str] | None:
    """What adds e times a number to the stream: the tensor, its motion before and after a factor, and in the middle the number.

    Besides biases: in softmax the part of a value matrix that reads the shift of the norm only.
    """
    found = _constant(network, layer, after)
    if found:
        return found[0], found[1], "", ""
    if after == "ffn" or network.kind != "softmax" or layer.dv is not None:
        return None
    i = layer.index
    return f"{i}.V[0]", f"1/{layer.per_group} e", f"cofactor({i}.g1)' {i}.s1", f"cofactor({i}.g1)'"


def _constant(network: Network, layer: Layer, after: str) -> tuple[str, str] | None:
    """The bias that adds a constant to the stream, and its motion for the constant e."""
    i = layer.index
    if after == "ffn":
        found = (f"{i}.bd", "e")
    elif "o" in network.bias:
        found = (f"{i}.bo", "e")
    elif network.kind == "softmax" and layer.dv is None:
        found = (f"{i}.bv[0]", f"1/{layer.per_group} e")
    else:
        return None
    return found if _has(network, found[0].partition("[")[0]) else None


def absorbing(network: Network, layer: Layer, short: str, part: str, word: str) -> dict[str, str] | None:
    """The motions that undo a constant `word` added to what the matrix `short` (its slice `part`, as [0]) makes; None: nothing does."""
    i, bias = layer.index, f"{layer.index}.b{short.lower()}"
    if _has(network, bias):
        return {f"{bias}{part}": f"-{word}"}
    if network.kind != "softmax":
        return None
    if short == "K" and not network.rotates:
        return {}
    if short == "V" and "o" in network.bias:  # the weights sum to one
        if layer.dv is None:
            return {f"{i}.bo": f"-{layer.per_group} {word}"}
        return {f"{i}.bo": "; ".join(f"-{i}.O[{h}] {word}" for h in layer.heads_of(int(part[1:-1])))}
    return None


def _push(network: Network, layer: Layer, after: str, consumers: list[tuple[str, str, int]]) -> Iterator[Field]:
    """A constant of the stream is absorbed by what reads it; with skip the next block takes it out again."""
    i = layer.index
    source = _constant(network, layer, after)
    inner = after == "attention" and layer.ffn is not None
    leaving = f"{i if inner else i + 1}.{'bd' if inner else 'bo'}"
    if network.skip and not _has(network, leaving):
        return
    if source is not None:
        motion = {source[0]: source[1]}
        unabsorbed = _absorb(network, layer, after, consumers, "e", motion)
        if network.skip:
            _add(motion, leaving, "-e")
        variable = Variable("null", (layer.n, 1), of=tuple(unabsorbed)) if unabsorbed else Variable("free", (layer.n, 1))
        yield Field("push", i, variable, motion, {"after": after})
    elif network.kind == "softmax" and after == "attention" and "v" in network.bias and layer.dv:
        for g in range(layer.kv):
            motion, left = {f"{i}.bv[{g}]": "e"}, []
            for h in layer.heads_of(g):
                left += _absorb(network, layer, after, consumers, f"{i}.O[{h}] e", motion)
                if network.skip:
                    _add(motion, leaving, f"-{i}.O[{h}] e")
            if not left:
                yield Field("push-value", i, Variable("free", (layer.dv, 1)), motion, {"group": g})


def _push_past(network: Network, layer: Layer, after: str, consumers: list[tuple[str, str, int]]) -> Iterator[Field]:
    """With skip the value biases of the next softmax layer take a constant out again: its weights sum to one."""
    source = _constant(network, layer, after)
    if not network.skip or network.kind != "softmax" or "v" not in network.bias or "o" in network.bias or source is None:
        return
    if after == "attention" and layer.ffn:
        return
    reader = network.layers[layer.index]
    j = reader.index
    for g in range(reader.kv if reader.dv else 1):
        constants = [f"{j}.O[{h}] e" for h in reader.heads_of(g)] if reader.dv else ["e"]
        motion: dict[str, str] = {}
        left = []
        for constant in constants:
            _add(motion, source[0], source[1][:-1] + constant)
            left += _absorb(network, layer, after, consumers, constant, motion)
        _add(motion, f"{j}.bv[{g}]", "-e" if reader.dv else f"-1/{reader.per_group} e")
        if not left:
            yield Field("push-past", layer.index, Variable("free", (reader.value_rows, 1)), motion, {"after": after, "to": g})


def _push_through(network: Network, layer: Layer, after: str) -> Iterator[Field]:
    """A linear ffn makes a constant of a constant."""
    source = _constant(network, layer, after)
    if after == "attention" and layer.ffn and layer.ffn.power == 1 and "d" in network.bias and source:
        i = layer.index
        motion = {source[0]: source[1], f"{i}.bd": f"-{i}.D {i}.U e" + "; -e" * network.skip}
        yield Field("push-through", i, Variable("free", (layer.n, 1)), motion)


def _add(motion: dict[str, str], target: str, word: str) -> None:
    motion[target] = f"{motion[target]}; {word}" if target in motion else word


def _absorb(
    network: Network, layer: Layer, after: str, consumers: list[tuple[str, str, int]], constant: str, motion: dict[str, str]
) -> list[str]:
    """Add to the motion what absorbs the constant; returns the consumers that nothing helps."""
    inner = after == "attention" and layer.ffn is not None
    reader = layer if inner else network.layers[layer.index]
    unabsorbed = []
    for name, _, count in consumers:
        for m in slices(name, count):
            found = absorbing(network, reader, name.partition(".")[2], m[len(name) :], f"{m} {constant}")
            if found is None:
                unabsorbed.append(m)
            for target, word in (found or {}).items():
                _add(motion, target, word)
    return unabsorbed


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
