"""Basis changes of a stream with skip connections between blocks that are linear maps x -> (1 + M) x + c."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...numerics.network import Layer, Network
from ...numerics.rank import kernel
from ...numerics.rings import Array, PrimeField

MAX_EQUATIONS = 400
Step = dict[str, Array]


@dataclass(frozen=True)
class LinearBlocks:
    """Between its linear blocks the stream moves by e_b times itself: dM_b = e_b (1 + M_b) - (1 + M_b) e_(b-1), and what lies between follows.

    Linear: softmax attention with one token and one head, M = V or O V; ffn of power 1, M = D U. Nothing moves before the first
    and behind the last.
    """

    name: str = "linear-blocks"
    layer: int = 1

    def to_json(self) -> dict[str, object]:
        """The entry in a certificate."""
        return {"field": self.name, "layer": self.layer}

    def describe(self) -> str:
        """The directions in words."""
        return "basis changes of the stream between the blocks that are linear maps"

    def vectors(self, network: Network, point: Mapping[str, Array], ring: PrimeField) -> Array | None:
        """The directions at the point: residues (k, parameters); None where more of the equations for them are dependent there than everywhere."""
        blocks = linear_blocks(network)
        n, count = network.d[0], len(blocks)
        unknowns = [(b, name) for b, block in enumerate(blocks) for name in _tensors(network, *block)]
        sizes = [math.prod(point[name].shape) for _, name in unknowns]
        starts = np.cumsum([0, *sizes])
        rows, height = [], 0
        for b, block in enumerate(blocks):
            parts, (total, one) = _derivative(network, point, ring, *block)
            width = total.shape[1]
            row = np.zeros((n * width, int(starts[-1]) + (count - 1) * n * n))
            for k, (owner, name) in enumerate(unknowns):
                if owner == b:
                    row[:, starts[k] : starts[k + 1]] = parts[name]
            if b < count - 1:
                at = starts[-1] + b * n * n
                row[:, at : at + n * n] = -np.kron(np.eye(n), total.T)
            if b > 0:
                at = starts[-1] + (b - 1) * n * n
                row[:, at : at + n * n] = np.kron(total[:, :n], one)
            rows.append(row)
            height += len(row)
        found = kernel(np.concatenate(rows), ring)
        if found.shape[1] - len(found) != height - _dependent(network, blocks):
            return None
        made = []
        for vector in found:
            step = {name: vector[starts[k] : starts[k + 1]] for k, (_, name) in enumerate(unknowns)}
            bases = vector[starts[-1] :].reshape(count - 1, n, n)
            made.append(_flat(network, step | _following(network, point, ring, bases)))
        return np.array(made).reshape(len(made), network.parameters)


def fields(network: Network) -> Iterator[LinearBlocks]:
    """The one entry of a network with skip connections and at least two linear blocks."""
    count = len(linear_blocks(network)) if network.skip and not network.norm else 0
    if count > 1 and count * network.d[0] * (network.d[0] + 1) <= MAX_EQUATIONS:
        yield LinearBlocks()


def linear_blocks(network: Network) -> list[tuple[Layer, str]]:
    """The linear blocks in order: (layer, attention or ffn)."""
    found = []
    for y in network.layers:
        if network.kind == "softmax" and network.sees_itself_only and y.heads == 1:
            found.append((y, "attention"))
        if y.ffn and y.ffn.power == 1:
            found.append((y, "ffn"))
    return found


def _dependent(network: Network, blocks: list[tuple[Layer, str]]) -> int:
    """How many of the equations follow from the others, whatever the point.

    They say u (e_b - e_(b-1)) w = 0 for all u with u M = 0, M w = 0 (with c: w of the (w, s) that (M, c) annihilates); so
    the sum over b is one equation for each (u, w) that belong to all blocks.
    """
    left = right = network.d[0]
    for y, part in blocks:
        names = _tensors(network, y, part)
        rank = y.ffn.hidden if part == "ffn" and y.ffn else y.value_rows
        free = names[-1].endswith(("bu", "bv"))  # the constant comes through the right factor alone
        left, right = left - rank, right - max(0, rank - free)
    return max(0, left) * max(0, right)


def _tensors(network: Network, y: Layer, part: str) -> list[str]:
    """The tensors of a linear block: the left factor (or none), the right one, the bias inside, the bias outside."""
    names = ("D", "U", "bu", "bd") if part == "ffn" else ("O", "V", "bv", "bo")
    present = {name for name, _ in network.parameter_shapes()}
    return [f"{y.index}.{name}" for name in names if f"{y.index}.{name}" in present]


def _derivative(
    network: Network, point: Mapping[str, Array], ring: PrimeField, y: Layer, part: str
) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """The derivative of (M, c) by each tensor (n times columns, size), then (1 + M, c) and (1, 0) transposed; without biases no c."""
    n, names = y.n, _tensors(network, y, part)
    left, right, inside, outside = (f"{y.index}.{s}" for s in (("D", "U", "bu", "bd") if part == "ffn" else ("O", "V", "bv", "bo")))
    columns = n + (inside in names or outside in names)
    one, last = np.eye(columns, n), np.eye(columns)[:, columns - 1 :]

    def matrix(name: str) -> Array:
        return ring.lift(point[name].reshape(point[name].shape[-2:]))

    outer = matrix(left) if left in names else np.eye(n)
    inner = ring.matmul(matrix(right), one.T)
    parts = {right: np.kron(outer, one)}
    if inside in names:
        inner = inner + ring.matmul(ring.lift(point[inside].reshape(-1, 1)), last.T)
        parts[inside] = np.kron(outer, last)
    total = ring.matmul(outer, inner) + one.T
    if outside in names:
        total = total + ring.matmul(ring.lift(point[outside].reshape(-1, 1)), last.T)
        parts[outside] = np.kron(np.eye(n), last)
    if left in names:
        parts[left] = np.kron(np.eye(n), inner.T)
    return parts, (ring.reduce(total), one)


def _following(network: Network, point: Mapping[str, Array], ring: PrimeField, bases: Array) -> Step:
    """What the other blocks do where the stream moves by e: readers by -W e, writers by e W."""
    linear, passed, step = linear_blocks(network), 0, Step()
    for y in network.layers:
        for part in ("attention", "ffn") if y.ffn else ("attention",):
            if (y, part) in linear:
                passed += 1
                continue
            if not 0 < passed < len(linear):
                continue
            e = bases[passed - 1]
            reads = ("U", "G") if part == "ffn" else ("Q", "K", "V")
            writes = ("D", "bd") if part == "ffn" else ("O", "bo") if y.dv else ("V", "bv", "bo")
            for short in {*reads, *writes}:
                name = f"{y.index}.{short}"
                if name not in point:
                    continue
                value = ring.lift(point[name])
                moved = np.zeros(value.shape)
                if short in reads:
                    moved = moved - ring.matmul(value, e)
                if short in writes:
                    moved = moved + (ring.matmul(e, value) if value.ndim > 1 and short[0] != "b" else ring.matmul(value, e.T))
                step[name] = ring.reduce(moved)
    return step


def _flat(network: Network, step: Mapping[str, Array]) -> Array:
    sizes = [(name, math.prod(shape)) for name, shape in network.parameter_shapes()]
    return np.concatenate([step[name].reshape(-1) if name in step else np.zeros(size) for name, size in sizes])
