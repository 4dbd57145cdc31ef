"""Fields of several heads whose scores and values are free matrices: mixing of the heads and, for one output, Koszul fields.

In the parameters themselves they are polynomial fields with adjugates of the frozen matrices; at a point where those are
identities the adjugates are, too, and the fields are what is written here (`PROOFS-upper.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...numerics.network import Layer, Network
from ...numerics.rings import Array
from .attention import SCALAR, names
from .field import Field, Variable


def frozen(network: Network, layer: Layer) -> tuple[str, ...]:
    """The tensors of a layer that are identities at the point: K (Q for bias k alone), and O with dv."""
    side = "Q" if scores_side(network) == "K" else "K"
    return (f"{layer.index}.{side}", *([f"{layer.index}.O"] if layer.dv is not None else []))


def scores_side(network: Network) -> str:
    """The side that carries the free scores: Q, or K for bias k alone."""
    return "K" if {"q", "k"} & set(network.bias) == {"k"} else "Q"


def freeze(network: Network, layers: tuple[int, ...], point: Mapping[str, Array]) -> dict[str, Array]:
    """The point with the frozen tensors of the given layers replaced by identities; where K has a bias too, (K, bk) is one."""
    made = dict(point)
    for i in layers:
        y = network.layers[i - 1]
        for name in frozen(network, y):
            blocks, rows, columns = point[name].shape
            made[name] = np.broadcast_to(np.eye(rows, columns, dtype=np.int64), (blocks, rows, columns))
            if name.endswith("K") and {"q", "k"} <= set(network.bias):
                made[f"{i}.bk"] = np.broadcast_to(np.eye(rows, dtype=np.int64)[y.m], (blocks, rows))
    return made


def fields(network: Network, layers: tuple[int, ...]) -> Iterator[Field]:
    """The fields of the given layers, valid at a frozen point."""
    for i in layers:
        y = network.layers[i - 1]
        pairs = [(h, k) for h in range(y.heads) for k in range(y.heads) if h != k]
        for h, k in pairs:
            yield _mix(network, y, h, k)
        narrow = y.ffn is not None and y.ffn.hidden == 1 and not (network.skip or network.bias or y.ffn.activation == "swiglu")
        if (y.n == 1 or narrow) and not ("v" in network.bias and "k" not in network.bias):
            for h, k in pairs:
                if h < k:
                    yield from _koszul(network, y, h, k)


def _mix(network: Network, y: Layer, head: int, to: int) -> Field:
    """V_h takes from V_k what the scores of k give up."""
    side = scores_side(network)
    mine, its = names(network, y, head), names(network, y, to)
    motion = {mine[s]: f"e {its[s]}" for s in ("V", "bv") if s in mine}
    motion |= {its[s]: f"-e {mine[s]}" for s in (side, f"b{side.lower()}") if s in mine}
    return Field("free-mix", y.index, SCALAR, motion, {"head": head, "to": to})


def _koszul(network: Network, y: Layer, head: int, to: int) -> Iterator[Field]:
    """One output: v_h . z times (v_k . z) c, less the same with h and k exchanged, is zero."""
    mine, its = names(network, y, head), names(network, y, to)
    variable = Variable("free", (y.m, 1))
    if scores_side(network) == "K":
        if y.a != y.m:  # c runs through R^m, the rows of K through R^a
            return
        motion = {mine["K"]: f"e {its['V']}", its["K"]: f"-e {mine['V']}"}
        if "v" in network.bias:
            motion |= {mine["bk"]: f"e {its['bv']}", its["bk"]: f"-e {mine['bv']}"}
        yield Field("koszul", y.index, variable, motion, {"head": head, "to": to})
        return
    row = f" {y.index}.U'" if y.n > 1 else ""  # the one row that reads the output
    columns = [f"{n['V']}'{row}" for n in (mine, its)]
    if {"q", "k"} <= set(network.bias):  # the keys are (x, 1)
        columns = [f"stack({n['V']},{n.get('bv', '0')})" for n in (mine, its)]
    for s, width in (("Q", y.m), ("bq", 1)):
        if s in mine:
            motion = {mine[s]: f"{columns[1]} e'", its[s]: f"-{columns[0]} e'"}
            yield Field("koszul", y.index, Variable("free", (width, 1)), motion, {"head": head, "to": to})
