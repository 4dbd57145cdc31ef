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

from ..numerics.attention import attention
from ..numerics.evaluate import jacobian
from ..numerics.feedforward import feed_forward
from ..numerics.forward import record
from ..numerics.network import Layer, Network
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rank import kernel
from ..numerics.rings import Array, PrimeField
from .defects import forms_dimension

MAX_DIMENSION = 1_000  # of a linear space of functions worth looking at


@dataclass(frozen=True)
class Block:
    """A block: `part` is attention or ffn of `layer`, or forms: the layers `layer`..`to` of an MLP."""

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
        names = ("G", "U", "D", "bu", "bd") if self.part == "ffn" else ("Q", "K", "V", "O", "bq", "bk", "bv", "bo")
        shapes = dict(network.parameter_shapes())
        params = {n: p.param(f"{y.index}.{n}", shapes[f"{y.index}.{n}"]) for n in names if f"{y.index}.{n}" in shapes}
        if self.part == "ffn":
            p.output = feed_forward(p, y, 1, params, p.input((y.n, 1)))
        else:
            p.output = attention(p, network, y, params, p.input((y.m, network.t)))
        return p

    def vectors(self, network: Network, point: Mapping[str, Array], ring: PrimeField, seed: int) -> Array | None:
        """The kernel at the point: residues (k, parameters); None where the block does not fill its space there."""
        p = self.program(network)
        names = [s.data for s in p.instructions if s.operation == "param"]
        drawn = Point(seed, ring.p, f"block/{self.layer}/").inputs(p, range(self.inputs))
        matrix = jacobian(p, ring, {**{n: point[n] for n in names}, **drawn})
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
        candidates = [Block("attention", y.index) for y in network.layers]
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
    return _ffn(network, y) if block.part == "ffn" else attention_dimension(network, y)


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
    if network.rotates:
        return None
    lines = len(set(network.bias) & {"q", "k", "v"})
    if network.sees_itself_only:  # products of three linear forms, `lines` of them with a constant
        terms = sum(comb(m + 2 - k, 3 - k) for k in range(lines + 1)) if lines < 3 else comb(m + 3, 3)
        return n * (terms + (constant and lines < 3))
    sides = len(set(network.bias) & {"k", "v"})
    keys = comb(m + 1, 2) + m * (sides > 0) + (sides == 2)
    same = lines == 3 and not network.causal  # the constant term of the sum over all keys is a constant already
    return n * (keys * (m + ("q" in network.bias)) + (constant and not same))
