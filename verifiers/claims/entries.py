"""One attention layer, entry by entry, over any commutative ring: the layer as oracle/NOTATION.md states it, written
by hand.

Every number is a pair (value, motion), so the pass also gives the derivative along a motion of the parameters and
the input.
The exponentials of softmax are given from outside: units E with motion E * (motion of the score). Outputs are pairs
(numerator, denominator), so no division happens. Shares nothing with the matrix words or with numerics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Table = list[list[Any]]  # rows of ring elements
Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Shape:
    """A one-layer network.

    `parts`: biases by letter; `rope`; `skip`; `gain` and `shift` for a normalised input stream.
    """

    kind: str
    d: int = 2
    n: int = 2
    a: int = 1
    heads: int = 1
    kv: int = 1
    dv: int = 0
    t: int = 2
    bias: str = ""
    rope: bool = False
    causal: bool = False
    skip: bool = False
    norm: str = ""

    def tables(self) -> dict[str, tuple[int, int]]:
        """Return names and shapes of the parameters: `Q0`, `K0`, `V0`, `O0`, `bq0`, ...

        by head or group, `bo`, `g`, `s`.
        """
        width = self.dv or self.n
        shapes: dict[str, tuple[int, int]] = {}
        for h in range(self.heads):
            shapes[f"Q{h}"] = (self.a, self.d)
            if self.dv:
                shapes[f"O{h}"] = (self.n, self.dv)
            if "q" in self.bias:
                shapes[f"bq{h}"] = (self.a, 1)
        for g in range(self.kv):
            shapes[f"K{g}"], shapes[f"V{g}"] = (self.a, self.d), (width, self.d)
            if "k" in self.bias:
                shapes[f"bk{g}"] = (self.a, 1)
            if "v" in self.bias:
                shapes[f"bv{g}"] = (width, 1)
        if "o" in self.bias:
            shapes["bo"] = (self.n, 1)
        if self.norm:
            shapes["g"] = (self.d, 1)
        if self.norm == "layer":
            shapes["s"] = (self.d, 1)
        return shapes

    def group(self, h: int) -> int:
        """Return the key/value group of head h."""
        return h * self.kv // self.heads

    def __str__(self) -> str:
        marks = [name for name in ("rope", "causal", "skip") if getattr(self, name)]
        marks += [f"bias={self.bias}"] if self.bias else []
        marks += [f"norm={self.norm}"] if self.norm else []
        heads = f" heads={self.heads} kv={self.kv}" if self.heads > 1 else ""
        dv = f" dv={self.dv}" if self.dv else ""
        return " ".join([f"{self.kind} d={self.d},{self.n} a={self.a} t={self.t}{heads}{dv}", *marks])


class Dual:
    """A ring element with its motion."""

    __slots__ = ("motion", "value")

    def __init__(self, value: Any, motion: Any) -> None:
        self.value, self.motion = value, motion

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.motion + other.motion)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.value - other.value, self.motion - other.motion)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.value * other.motion + self.motion * other.value)


DualTable = list[list[Dual]]
Exponential = Callable[[int, int, int, Dual], Dual]  # head, key, query, score -> its exponential


def pair(values: Table, motion: Table | None, zero: Any) -> DualTable:
    """Attach a motion (none: at rest) to a table."""
    return [
        [Dual(x, motion[i][j] if motion is not None else zero) for j, x in enumerate(row)]
        for i, row in enumerate(values)
    ]


def product(left: DualTable, right: DualTable) -> DualTable:
    """Return the matrix product."""
    result: DualTable = []
    for row in left:
        line = []
        for j in range(len(right[0])):
            total = row[0] * right[0][j]
            for k in range(1, len(row)):
                total = total + row[k] * right[k][j]
            line.append(total)
        result.append(line)
    return result


def layer(
    shape: Shape,
    theta: Mapping[str, DualTable],
    x: DualTable,
    constant: Callable[[int], Any],
    exponential: Exponential,
    turn: tuple[Any, Any] | None = None,
) -> list[list[tuple[Dual, Dual]]]:
    """Return the layer's output (n x t) as fractions (numerator, denominator).

    `x` is the input stream (d x t). `constant` makes ring elements of integers. `turn` is (cos, sin) of the angle of
    one step,
    the same for all planes, with rope; cos^2 + sin^2 = 1 is nowhere used.
    """
    one, zero = Dual(constant(1), constant(0)), Dual(constant(0), constant(0))
    read = x
    if shape.norm:
        read = [[theta["g"][c][0] * value for value in row] for c, row in enumerate(x)]
        if shape.norm == "layer":
            read = [[value + theta["s"][c][0] for value in row] for c, row in enumerate(read)]

    def send(name: str, bias: str) -> DualTable:
        image = product(theta[name], read)
        if bias not in theta:
            return image
        return [[value + theta[bias][r][0] for value in row] for r, row in enumerate(image)]

    def rotate(image: DualTable) -> DualTable:
        if turn is None:
            raise ValueError("rope needs a turn")
        turned = [list(row) for row in image]
        cos, sin = one, zero
        step_cos, step_sin = Dual(turn[0], constant(0)), Dual(turn[1], constant(0))
        for j in range(shape.t):
            for plane in range(0, shape.a, 2):
                top, bottom = image[plane][j], image[plane + 1][j]
                turned[plane][j] = cos * top - sin * bottom
                turned[plane + 1][j] = sin * top + cos * bottom
            cos, sin = cos * step_cos - sin * step_sin, sin * step_cos + cos * step_sin
        return turned

    numerators: list[tuple[DualTable, list[Dual]]] = []
    for h in range(shape.heads):
        g = shape.group(h)
        q, k, v = send(f"Q{h}", f"bq{h}"), send(f"K{g}", f"bk{g}"), send(f"V{g}", f"bv{g}")
        if shape.rope:
            q, k = rotate(q), rotate(k)
        weights: DualTable = [[zero] * shape.t for _ in range(shape.t)]
        totals = [one] * shape.t
        for j in range(shape.t):
            keys = range(j + 1) if shape.causal else range(shape.t)
            for i in keys:
                score = k[0][i] * q[0][j]
                for r in range(1, shape.a):
                    score = score + k[r][i] * q[r][j]
                weights[i][j] = score if shape.kind == "lightning" else exponential(h, i, j, score)
            if shape.kind == "softmax":
                totals[j] = weights[keys[0]][j]
                for i in keys[1:]:
                    totals[j] = totals[j] + weights[i][j]
        mixed = product(v, weights)
        if shape.dv:
            mixed = product(theta[f"O{h}"], mixed)
        numerators.append((mixed, totals))

    output: list[list[tuple[Dual, Dual]]] = []
    for r in range(shape.n):
        line = []
        for j in range(shape.t):
            top, bottom = numerators[0][0][r][j], numerators[0][1][j]
            for mixed, totals in numerators[1:]:
                if shape.kind == "softmax":
                    top, bottom = top * totals[j] + mixed[r][j] * bottom, bottom * totals[j]
                else:
                    top = top + mixed[r][j]
            if "bo" in theta:
                top = top + theta["bo"][r][0] * bottom
            if shape.skip:
                top = top + x[r][j] * bottom
            line.append((top, bottom))
        output.append(line)
    return output
