"""Fields of attention layers: gauge, scalings, head mixing, symmetric scores."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics.network import Layer, Network
from ..stream_widths import rank_one
from .field import Field, Variable

SCALAR = Variable("scalar", (1, 1))


def fields(network: Network, layer: Layer) -> Iterator[Field]:
    """The fields that move the tensors of one attention layer only."""
    for group in range(layer.kv):
        yield _gauge(network, layer, group)
        if network.kind == "lightning":
            yield _scaling(network, layer, group)
            yield from _symmetric(network, layer, group)
        if layer.dv is not None:
            yield _value_gauge(network, layer, group)
    if network.kind == "lightning":
        yield from _heads(network, layer)
    elif network.sees_itself_only:
        yield from _dead(network, layer)


def names(network: Network, layer: Layer, head: int) -> dict[str, str]:
    """The tensors that one head reads, by their short names; absent biases are left out."""
    i, g = layer.index, layer.group_of(head)
    present = {name for name, _ in network.parameter_shapes()}
    slices = {"Q": head, "K": g, "V": g, "O": head, "bq": head, "bk": g, "bv": g}
    return {short: f"{i}.{short}[{s}]" for short, s in slices.items() if f"{i}.{short}" in present}


def _pair(first: dict[str, str], matrix: str, bias: str, word: str) -> dict[str, str]:
    """The motion `word` on a matrix and its bias; `$` in the word stands for the tensor itself."""
    return {first[s]: word.replace("$", first[s]) for s in (matrix, bias) if s in first}


def _gauge(network: Network, layer: Layer, group: int) -> Field:
    motion: dict[str, str] = {}
    for head in layer.heads_of(group):
        n = names(network, layer, head)
        motion |= _pair(n, "Q", "bq", "e $") | _pair(n, "K", "bk", "-e' $")
    variable = Variable("planes" if network.rotates else "gl", (layer.a, layer.a))
    return Field("gauge", layer.index, variable, motion, {"group": group})


def _scaling(network: Network, layer: Layer, group: int) -> Field:
    n = names(network, layer, layer.heads_of(group)[0])
    motion = _pair(n, "V", "bv", "e $") | _pair(n, "K", "bk", "-e $")
    return Field("scaling", layer.index, SCALAR, motion, {"group": group})


def _value_gauge(network: Network, layer: Layer, group: int) -> Field:
    heads = [names(network, layer, h) for h in layer.heads_of(group)]
    motion = _pair(heads[0], "V", "bv", "e $")
    motion |= {n["O"]: f"-{n['O']} e" for n in heads}
    rows = layer.value_rows
    return Field("value-gauge", layer.index, Variable("gl", (rows, rows)), motion, {"group": group})


def _heads(network: Network, layer: Layer) -> Iterator[Field]:
    for head in range(layer.heads):
        mine = names(network, layer, head)
        group = layer.heads_of(layer.group_of(head))
        if layer.dv is not None:
            motion = {mine["O"]: f"e {mine['O']}"} | _pair(mine, "Q", "bq", "-e $")
            yield Field("head-scaling", layer.index, SCALAR, motion, {"head": head})
            for other in group:
                if other != head:
                    its = names(network, layer, other)
                    motion = {mine["O"]: f"e {its['O']}"}
                    motion |= {its[s]: f"-e {mine[s]}" for s in ("Q", "bq") if s in mine}
                    yield Field("head-mix", layer.index, SCALAR, motion, {"head": head, "to": other})
        elif head != group[0]:
            first = names(network, layer, group[0])
            for s, width in (("Q", layer.m), ("bq", 1)):
                if s in mine:
                    # one certificate entry moves Q and bq; as fields they are independent
                    motion = {mine[s]: "e", first[s]: "-e"}
                    yield Field("group-sum", layer.index, Variable("free", (layer.a, width)), motion, {"head": head})


def _symmetric(network: Network, layer: Layer, group: int) -> Iterator[Field]:
    if not symmetric_scores(network, layer):
        return
    variable = Variable("antisymmetric", (layer.a, layer.a))
    for name, (moving, by) in (("symmetric-key", "KQ"), ("symmetric-query", "QK")):
        if moving == "K" and layer.per_group > 1:
            continue
        moving_bias, by_bias = "b" + moving.lower(), "b" + by.lower()
        for head in layer.heads_of(group):
            n = names(network, layer, head)
            if by_bias in n and moving_bias not in n:
                continue
            motion = {n[moving]: f"e {n[by]}"}
            if by_bias in n:
                motion[n[moving_bias]] = f"e {n[by_bias]}"
            # one certificate entry moves the queries of all heads of the group, each by itself
            yield Field(name, layer.index, variable, motion, {"group": group})


def symmetric_scores(network: Network, layer: Layer) -> bool:
    """Whether only the symmetric part of K^T Q acts in this lightning layer: a token sees itself only, or the stream has rank one."""
    if network.sees_itself_only:
        return True
    return not network.rope and not set(network.bias) & set("qk") and rank_one(network, layer)


def _dead(network: Network, layer: Layer) -> Iterator[Field]:
    for name, short, bias, count, index in (
        ("dead-query", "Q", "bq", layer.heads, "head"),
        ("dead-key", "K", "bk", layer.kv, "group"),
    ):
        for i in range(count):
            n = names(network, layer, i if index == "head" else layer.heads_of(i)[0])
            for s, width in ((short, layer.m), (bias, 1)):
                if s in n:
                    yield Field(name, layer.index, Variable("free", (layer.a, width)), {n[s]: "e"}, {index: i})
