"""Blocks of a network that fill a linear space of functions: all directions that fix the block's function are symmetries.

A block is an attention layer, a feed-forward block or a run of layers of an MLP. Its function lies in a linear space of
known dimension; where the block's Jacobian at the point attains that dimension, its kernel there is spanned by values of
rational vector fields that annihilate the block, hence the network (`PROOFS-upper.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from ..numerics.attention import attention, project
from ..numerics.evaluate import jacobian
from ..numerics.feedforward import feed_forward
from ..numerics.forward import record
from ..numerics.network import Layer, Network
from ..numerics.point import Point
from ..numerics.positions import rotate
from ..numerics.program import Program
from ..numerics.rank import kernel
from ..numerics.rings import Array, PrimeField
from .defects import forms_dimension

MAX_DIMENSION = 1_000  # of a linear space of functions worth looking at


TENSORS = {
    "attention": ("Q", "K", "V", "O", "bq", "bk", "bv", "bo"),
    "scores": ("Q", "K", "bq", "bk"),
    "values": ("V", "O", "bv", "bo"),
    "ffn": ("G", "U", "D", "bu", "bd"),
}


@dataclass(frozen=True)
class Block:
    """A block: `part` of `layer`: attention, ffn, scores (of all heads), values (all O_h V_g, and the sum of the constants).

    forms: the layers `layer`..`to` of an MLP.
    """

    part: str
    layer: int
    to: int = 0
    inputs: int = 0
    name: str = "block"

    def to_json(self) -> dict[str, Any]:
        """The entry in a certificate."""
        end = {"to": self.to} if self.part == "forms" else {}
        return {"field": self.name, "layer": self.layer, "part": self.part, **end, "inputs": self.inputs}

    def describe(self) -> str:
        """The directions in words, as `explain` prints them."""
        what = f"the layers {self.layer} to {self.to}" if self.part == "forms" else f"the {self.part} of layer {self.layer}"
        return f"all directions that do not change the function of {what}, which can be any in its linear space"

    def program(self, network: Network) -> Program:
        """The block alone, as a program on a stream."""
        if self.part == "forms":
            widths = network.d[self.layer - 1 : self.to + 1]
            return _renamed(record(Network("mlp", widths, r=network.r)), self.layer - 1)
        p, y = Program(), network.layers[self.layer - 1]
        names = TENSORS[self.part]
        shapes = dict(network.parameter_shapes())
        params = {n: p.param(f"{y.index}.{n}", shapes[f"{y.index}.{n}"]) for n in names if f"{y.index}.{n}" in shapes}
        if self.part == "ffn":
            p.output = feed_forward(p, y, 1, params, p.input((y.n, 1)))
        elif self.part == "scores":
            p.output = _scores(p, network, y, params)
        elif self.part == "values":
            p.output = _values(p, y, params)
        else:
            p.output = attention(p, network, y, params, p.input((y.m, network.t)))
        return p

    def vectors(self, network: Network, point: Mapping[str, Array], ring: PrimeField, seed: int) -> Array | None:
        """The kernel at the point: residues (k, parameters); None where the block does not fill its space there."""
        p = self.program(network)
        names = [s.data for s in p.instructions if s.operation == "param"]
        drawn = Point(seed, ring.p, f"block/{self.layer}/").inputs(p, range(self.inputs))
        constants = Point(seed, ring.p).constants(p)
        matrix = jacobian(p, ring, {**constants, **{n: point[n] for n in names}, **drawn})
        found = kernel(matrix, ring)
        if matrix.shape[1] - len(found) != function_dimension(network, self):
            return None
        result = np.zeros((len(found), network.parameters))
        start, offset = 0, {}
        for name, shape in network.parameter_shapes():
            offset[name], start = start, start + int(np.prod(shape))
        start = 0
        for n in names:
            size = int(np.prod(point[n].shape))
            result[:, offset[n] : offset[n] + size] = found[:, start : start + size]
            start += size
        return result


def _sees(network: Network) -> Array:
    return np.array([[int(network.sees(i, j)) for j in range(network.t)] for i in range(network.t)])


def _scores(p: Program, network: Network, y: Layer, params: Mapping[str, int]) -> int:
    """All scores, (heads, key, query), masked ones 0."""
    x = p.input((y.m, network.t))
    group = np.array([[int(y.group_of(h) == g) for g in range(y.kv)] for h in range(y.heads)])
    q = rotate(p, project(p, x, params["Q"], params.get("bq")))
    k = rotate(p, project(p, x, params["K"], params.get("bk")))
    s = p.einsum("hai,haj->hij", p.einsum("hg,gai->hai", p.const(group), k), q)
    return p.mul(s, p.const(_sees(network)[None]))


def _values(p: Program, y: Layer, params: Mapping[str, int]) -> int:
    """O_h V_h x for each head, and the sum of the constants: (heads + 1, n)."""
    x, first = p.input((y.m, 1)), p.const(np.eye(y.heads + 1, y.heads, dtype=int))
    last = p.const(np.array([[0]] * y.heads + [[1]]))
    per_head = project(p, x, params["V"], None)
    if "O" in params:
        per_head = p.einsum("hnv,hvt->hnt", params["O"], per_head)
    total = p.einsum("kh,hnt->knt", first, per_head)
    if "bv" in params:
        each = params["bv"]
        if "O" in params:
            each = p.einsum("hnv,hv->hn", params["O"], each)
        summed = p.einsum("hn,h->n", each, p.const(np.ones(y.heads, dtype=int)))
        total = p.add(total, p.einsum("kt,n->knt", last, summed))
    return p.add(total, p.einsum("kt,n->knt", last, params["bo"])) if "bo" in params else total


def _renamed(program: Program, by: int) -> Program:
    for k, s in enumerate(program.instructions):
        if s.operation == "param":
            i, _, name = s.data.partition(".")
            program.instructions[k] = type(s)(s.operation, s.operands, s.shape, f"{int(i) + by}.{name}")
    return program


def blocks(network: Network) -> Iterator[Block]:
    """The blocks whose function space has a known dimension not above their number of parameters."""
    candidates = [Block("forms", i, j) for i in range(1, network.l + 1) for j in range(i + 1, network.l + 1)]
    if network.kind != "mlp":
        parts = ("attention", "scores", "values")
        candidates = [Block(part, y.index) for y in network.layers for part in parts]
        candidates += [Block("ffn", y.index) for y in network.layers if y.ffn]
    for block in candidates:
        dimension = function_dimension(network, block)
        if dimension is None or dimension > MAX_DIMENSION:
            continue
        p = block.program(network)
        size = sum(int(np.prod(s.shape)) for s in p.instructions if s.operation == "param")
        if dimension <= size:
            yield Block(block.part, block.layer, block.to, dimension // int(np.prod(p.shape(p.output))) + dimension // 4 + 2)


def function_dimension(network: Network, block: Block) -> int | None:
    """An upper bound of the dimension of the block's functions, from a linear space that contains them; None: not known."""
    if block.part == "forms":
        return forms_dimension(network.d[block.layer - 1 : block.to + 1], network.r or 1)
    y = network.layers[block.layer - 1]
    known = {"ffn": _ffn, "scores": _score_dimension, "values": _value_dimension, "attention": attention_dimension}
    return known[block.part](network, y)


def _score_dimension(network: Network, y: Layer) -> int | None:
    """Rotations: a bilinear form in key and query for each distance; at distance 0 they are the same token."""
    if not network.rotates:
        return None
    lines = len({"q", "k"} & set(network.bias))
    same = comb(y.m + 1, 2) + (y.m if lines else 0) + (lines == 2)
    distances = np.flatnonzero([np.trace(_sees(network), s).any() for s in range(1 - network.t, network.t)])
    apart = (y.m + ("k" in network.bias)) * (y.m + ("q" in network.bias))
    return int(y.heads * (same + (len(distances) - 1) * apart))


def _value_dimension(network: Network, y: Layer) -> int | None:
    """Softmax, one head in each group: O_h V_h of bounded rank, and one constant."""
    if network.kind != "softmax" or y.per_group > 1 or y.dv is None:
        return None
    rank = min(y.dv, y.m, y.n)
    return y.heads * rank * (y.n + y.m - rank) + y.n * bool(set(network.bias) & {"v", "o"})


def _ffn(network: Network, y: Layer) -> int | None:
    if y.ffn is None or y.ffn.power is None:
        return None
    r = y.ffn.power
    if "u" in network.bias:
        return y.n * comb(y.n + r, r)
    return y.n * (comb(y.n + r - 1, r) + ("d" in network.bias))


def attention_dimension(network: Network, y: Layer) -> int | None:
    """The dimension of a linear space of functions that contains one attention layer's."""
    m, n, constant = y.m, y.n, "o" in network.bias
    if network.kind == "softmax":
        return n * (m + bool(set(network.bias) & {"v", "o"})) if network.sees_itself_only else None
    lines = len(set(network.bias) & {"q", "k", "v"})
    if network.sees_itself_only:  # products of three linear forms, `lines` of them with a constant
        terms = sum(comb(m + 2 - k, 3 - k) for k in range(lines + 1)) if lines < 3 else comb(m + 3, 3)
        return n * (terms + (constant and lines < 3))
    if network.rotates:
        return _rotating_dimension(network, y)
    sides = len(set(network.bias) & {"k", "v"})
    keys = comb(m + 1, 2) + m * (sides > 0) + (sides == 2)
    same = lines == 3 and not network.causal  # the constant term of the sum over all keys is a constant already
    return n * (keys * (m + ("q" in network.bias)) + (constant and not same))


def _rotating_dimension(network: Network, y: Layer) -> int | None:
    """As without rotations, for each distance; at distance 0 key and query are the same token. The values span the outputs."""
    if set(network.bias) & set("qkvo"):
        return None
    m, n = y.m, y.n
    distances = np.flatnonzero([np.trace(_sees(network), s).any() for s in range(1 - network.t, network.t)])
    inner = comb(m + 2, 3) + (len(distances) - 1) * comb(m + 1, 2) * m
    spanned = min(n, y.kv * m if y.dv is None else y.heads * y.dv)
    return int(spanned * (n + inner - spanned))
