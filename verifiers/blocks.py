"""Blocks of a network that fill a linear space of functions: all directions that fix the block's function are symmetries.

A block is an attention layer, a feed-forward block or a run of layers of an MLP. Its function lies in a linear space of
known dimension; where the block's Jacobian at the point attains that dimension, its kernel there is spanned by values of
rational vector fields that annihilate the block, hence the network (`PROOFS-upper.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
from .attention_space import attention_dimension, score_dimension
from .defects import defective, forms_dimension
from .stream_widths import as_one_token, outputs, read_forms
from .symmetries import spanning

MAX_DIMENSION = 1_000  # of a linear space of functions worth looking at


TENSORS = {
    "attention": ("Q", "K", "V", "O", "bq", "bk", "bv", "bo"),
    "scores": ("Q", "K", "bq", "bk"),
    "values": ("V", "O", "bv", "bo"),
    "ffn": ("G", "U", "D", "bu", "bd"),
}


@dataclass(frozen=True)
class Block:
    """A block: `part` of `layer`: attention (as far as an ffn reads it), ffn, scores (of all heads), values (all O_h V_g, and the sum of the constants).

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
            few = spanned(network, y)
            if few is None:
                x = p.input((y.n, 1))
            else:
                x = p.einsum("nc,ct->nt", p.generic("columns", (y.n, few[0])), p.input((few[0], 1)))
                x = p.add(x, p.generic("constant", (y.n, 1))) if few[1] else x
            p.output = feed_forward(p, y, 1, params, x)
        elif self.part == "scores":
            p.output = _scores(p, network, y, params)
        elif self.part == "values":
            fixed = {n: p.generic(f"{y.index}.{n}", (y.m,)) for n in ("g1", "s1") if network.norm == "layer"}
            p.output = _values(p, network, y, params | fixed)
            if outputs(network, y) < y.n:
                apart = np.eye(p.shape(p.output)[0], dtype=int)[:, :, None]  # what one token has for each head, as tokens
                p.output = _read(p, y, p.einsum("kno,kto->nt", p.output, p.const(apart)))
        else:
            alone = as_one_token(network, y) and network.kind == "lightning"
            seen = replace(network, t=1, causal=False, window=None) if alone else network
            p.output = attention(p, seen, y, params, _read_tokens(p, seen, y))
            if outputs(network, y) < y.n:
                p.output = _read(p, y, p.output)
        return p

    def vectors(self, network: Network, point: Mapping[str, Array], ring: PrimeField, seed: int) -> Array | None:
        """The kernel at the point: residues (k, parameters); None where the block does not fill its space there."""
        p = self.program(network)
        names = [s.data for s in p.instructions if s.operation == "param"]
        drawn = Point(seed, ring.p, f"block/{self.layer}/").inputs(p, range(self.inputs))
        if self.part == "ffn":
            columns, constants = spanning(network, point, self.layer, "attention", ring)
            total: Array = sum(constants[1:], constants[0]) if constants else np.zeros((0, 1), dtype=np.int64)
            point = {**point, "columns": np.concatenate(columns, axis=1), "constant": total}
        read = {s.data: point[s.data] for s in p.instructions if s.operation == "generic" and s.data in point}
        drawn |= {n: v for n, v in Point(seed, ring.p).constants(p).items() if n not in read}
        matrix = jacobian(p, ring, {**read, **{n: point[n] for n in names}, **drawn})
        found = kernel(matrix, ring)
        if matrix.shape[1] - len(found) != function_dimension(network, self):
            return None
        result = np.zeros((len(found), network.parameters))
        start, offset = 0, {}
        for name, shape in network.parameter_shapes():
            offset[name], start = start, start + math.prod(shape)
        start = 0
        for n in names:
            size = math.prod(point[n].shape)
            result[:, offset[n] : offset[n] + size] = found[:, start : start + size]
            start += size
        return result


def spanned(network: Network, y: Layer) -> tuple[int, bool] | None:
    """How many vectors span what the ffn reads, and whether a constant is added; None where that may be everything."""
    if network.skip or network.norm:
        return None
    shapes = {name: np.zeros(shape, dtype=np.int64) for name, shape in network.parameter_shapes()}
    columns, constants = spanning(network, shapes, y.index, "attention", PrimeField())
    count = sum(m.shape[1] for m in columns)
    return (count, bool(constants)) if count < y.n else None


def _read(p: Program, y: Layer, x: int) -> int:
    """What the ffn reads of the stream x (n, t): U x, with swiglu also G x."""
    h = y.ffn.hidden if y.ffn else 0
    found = p.einsum("hn,nt->ht", p.generic(f"{y.index}.U", (h, y.n)), x)
    if y.ffn is None or y.ffn.activation != "swiglu":
        return found
    gates = p.einsum("hn,nt->ht", p.generic(f"{y.index}.G", (h, y.n)), x)
    both = np.eye(2 * h, dtype=int)
    return p.add(p.einsum("kh,ht->kt", p.const(both[:, :h]), found), p.einsum("kh,ht->kt", p.const(both[:, h:]), gates))


def _sees(network: Network) -> Array:
    return np.array([[int(network.sees(i, j)) for j in range(network.t)] for i in range(network.t)])


def _read_tokens(p: Program, network: Network, y: Layer) -> int:
    """Tokens that attention may read: any, with LayerNorm g times a centred vector, plus the shift."""
    x = p.input((y.m, network.t))
    if network.norm != "layer":
        return x
    gain, shift = (p.generic(f"{y.index}.{n}", (y.m,)) for n in ("g1", "s1"))
    x = p.einsum("cm,mt->ct", p.const(y.m * np.eye(y.m, dtype=int) - 1), x)
    ones = p.const(np.ones(network.t, dtype=int))
    return p.add(p.einsum("m,mt->mt", gain, x), p.einsum("m,t->mt", shift, ones))


def _scores(p: Program, network: Network, y: Layer, params: Mapping[str, int]) -> int:
    """All scores, (heads, key, query), masked ones 0; in softmax less the score of the query's own key."""
    x = _read_tokens(p, network, y)
    group = np.array([[int(y.group_of(h) == g) for g in range(y.kv)] for h in range(y.heads)])
    q = rotate(p, project(p, x, params["Q"], params.get("bq")))
    k = rotate(p, project(p, x, params["K"], params.get("bk")))
    s = p.einsum("hai,haj->hij", p.einsum("hg,gai->hai", p.const(group), k), q)
    if network.kind == "softmax":
        own = p.einsum("hij,ij->hj", s, p.const(np.eye(network.t, dtype=int)))
        s = p.add(s, p.scale(p.einsum("hj,i->hij", own, p.const(np.ones(network.t, dtype=int))), -1))
    return p.mul(s, p.const(_sees(network)[None]))


def _values(p: Program, network: Network, y: Layer, params: Mapping[str, int]) -> int:
    """O_h V_g z for each head (no dv: V_g z for each group), and the sum of the constants: (heads + 1, n).

    With LayerNorm z is what is read less the shift, g times a centred vector, and V_g times the shift is a constant.
    """
    heads = y.heads if "O" in params else y.kv
    group = np.array([[int(y.group_of(h) == g) for g in range(y.kv)] for h in range(y.heads)])
    to_heads = p.const(group if "O" in params else np.eye(y.kv, dtype=int))
    z = p.input((y.m, 1))
    if network.norm == "layer":
        centre = p.const(y.m * np.eye(y.m, dtype=int) - 1)
        z = p.einsum("m,mt->mt", params["g1"], p.einsum("cm,mt->ct", centre, z))

    def applied(vector: int) -> int:
        per_head = p.einsum("hg,gvt->hvt", to_heads, vector)
        return p.einsum("hnv,hvt->hnt", params["O"], per_head) if "O" in params else per_head

    moving = p.einsum("kh,hnt->knt", p.const(np.eye(heads + 1, heads, dtype=int)), applied(project(p, z, params["V"], None)))
    one = p.const(np.ones(1, dtype=int))
    constants = [p.einsum("gv,t->gvt", params["bv"], one)] if "bv" in params else []
    if network.norm == "layer":
        constants.append(project(p, p.einsum("m,t->mt", params["s1"], one), params["V"], None))
    weight = p.const(np.full(heads, 1 if "O" in params else y.per_group))
    last = p.const(np.eye(heads + 1, dtype=int)[heads])
    total = moving
    for vector in constants:
        total = p.add(total, p.einsum("k,nt->knt", last, p.einsum("hnt,h->nt", applied(vector), weight)))
    return p.add(total, p.einsum("k,nt->knt", last, p.einsum("n,t->nt", params["bo"], one))) if "bo" in params else total


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
        size = sum(math.prod(s.shape) for s in p.instructions if s.operation == "param")
        if dimension <= size:
            rows = 1 if block.part == "scores" else min(4, math.prod(p.shape(p.output)))  # an input gives so many at least
            inputs = dimension // rows + 2
            if block.part == "values":  # affine in the token
                inputs = min(inputs, network.d[block.layer - 1] + 2)
            yield Block(block.part, block.layer, block.to, inputs)


def function_dimension(network: Network, block: Block) -> int | None:
    """An upper bound of the dimension of the block's functions, from a linear space that contains them; None: not known."""
    if block.part == "forms":
        return forms_dimension(network.d[block.layer - 1 : block.to + 1], network.r or 1)
    y = network.layers[block.layer - 1]
    if block.part == "attention":
        return attention_dimension(network, y)
    if block.part == "scores":
        return y.heads * score_dimension(network, y) if network.rotates else None
    return _value_dimension(network, y) if block.part == "values" else _ffn(network, y)


def _value_dimension(network: Network, y: Layer) -> int | None:
    """Softmax: for each group the stack of its O_h V_g (no dv: V_g), of bounded rank, and one constant."""
    if network.kind != "softmax" or (y.dv is None and network.norm != "layer"):
        return None
    reads, n = read_forms(network, y)[0], outputs(network, y)
    rows = n if y.dv is None else y.per_group * n
    rank = min(y.dv or n, reads, rows)
    constant = network.norm == "layer" or bool(set(network.bias) & {"v", "o"})
    return y.kv * rank * (rows + reads - rank) + n * constant


def _ffn(network: Network, y: Layer) -> int | None:
    if y.ffn is None or y.ffn.power is None:
        return None
    r, h, d = y.ffn.power, y.ffn.hidden, "d" in network.bias
    variables, constant = spanned(network, y) or (y.n, False)
    if constant or "u" in network.bias:  # a constant is one more variable, and bd one of the forms
        return int(y.n * comb(variables + r, r) - (not d and defective(variables + 1, h, r, y.n)))
    return int(y.n * (comb(variables + r - 1, r) + d) - defective(variables, h, r, y.n))
