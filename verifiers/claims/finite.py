"""Finite symmetries and identities: two parameter settings, entry by entry, that must give the same outputs.

A setting is a dictionary of tables. Where a claim needs an inverse, the free entries are chosen so that none is
taken: with
K = G' L and L free, the transformed key matrix G^-T K is L.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .entries import Dual, Shape, layer, pair
from .motions import Tables, plus, times, turned
from .residuals import Source, table

Setting = Callable[[Source, Shape], tuple[Tables, Tables]]


def same(setting: Setting, source: Source, shape: Shape, order: tuple[int, ...] = ()) -> list[Any]:
    """Return the residuals of "both settings give the same output", numerators cross-multiplied.

    With formal exponentials head h of the second setting takes those of head order[h] (h if not given) of the first,
    and the
    residuals ask that their scores agree up to a constant per query, which makes that right.
    """
    x = table(source, "x", shape.d, shape.t)
    turn = (source.new("cos"), source.new("sin")) if shape.rope else None
    zero = source.constant(0)
    outputs, scores = [], []
    own = tuple(range(shape.heads))
    for tables, heads in zip(setting(source, shape), (own, order or own), strict=True):
        seen: dict[tuple[int, int, int], Any] = {}

        def exponential(h: int, i: int, j: int, score: Dual, seen: Any = seen, heads: tuple[int, ...] = heads) -> Dual:
            seen[heads[h], i, j] = score.value
            return source.exponential(heads[h] if source.formal else h, i, j, score)

        theta = {name: pair(values, None, zero) for name, values in tables.items()}
        outputs.append(layer(shape, theta, pair(x, None, zero), source.constant, exponential, turn))
        scores.append(seen)
    residuals = [
        top.value * down.value - over.value * bottom.value
        for row, line in zip(*outputs, strict=True)
        for (top, bottom), (over, down) in zip(row, line, strict=True)
    ]
    if source.formal:
        first, second = scores
        for h, i, j in first:
            residuals.append(first[h, i, j] - first[h, 0, j] - second[h, i, j] + second[h, 0, j])
    return residuals


def free(source: Source, shape: Shape) -> Tables:
    """Return free tables for every parameter."""
    return {name: table(source, name, *size) for name, size in shape.tables().items()}


def gauge(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    """Q -> G Q, K -> G^-T K in group 0."""
    first = free(source, shape)
    g = table(source, "G", shape.a, shape.a)
    second = dict(first)
    for name in [name for name in first if name[0] == "K" or name[:2] == "bk"]:
        if name[-1] == "0":
            first[name] = times(turned(g), first[name])
    for name in [name for name in first if name[0] == "Q" or name[:2] == "bq"]:
        if shape.group(int(name[-1])) == 0:
            second[name] = times(g, first[name])
    return first, second


def rescaling(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    """V -> c V, K -> K / c in group 0, with K = c L."""
    return _rescaling(source, shape, 1)


def wrong_rescaling(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    """Wrong on purpose: V -> c c V, K -> K / c."""
    return _rescaling(source, shape, 2)


def _rescaling(source: Source, shape: Shape, power: int) -> tuple[Tables, Tables]:
    first = free(source, shape)
    second = dict(first)
    c = source.new("c")
    for name in ("K0", "bk0"):
        if name in first:
            first[name] = [[c * entry for entry in row] for row in first[name]]
    for name in ("V0", "bv0"):
        if name in first:
            factor = c if power == 1 else c * c
            second[name] = [[factor * entry for entry in row] for row in first[name]]
    return first, second


def head_swap(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    """Exchange heads 0 and 1 with their groups, if each has its own; otherwise only Q, O and the query bias."""
    first = free(source, shape)
    own = ("Q", "O", "bq") if shape.kv < shape.heads else ("Q", "O", "bq", "K", "V", "bk", "bv")
    second = dict(first)
    for name in own:
        if f"{name}0" in first:
            second[f"{name}0"], second[f"{name}1"] = first[f"{name}1"], first[f"{name}0"]
    return first, second


def query_swap(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    """Exchange the queries and outputs of heads 0 and 1 and leave keys and values where they are."""
    first = free(source, shape)
    second = dict(first)
    for name in ("Q", "O", "bq"):
        if f"{name}0" in first:
            second[f"{name}0"], second[f"{name}1"] = first[f"{name}1"], first[f"{name}0"]
    return first, second


def head_mixing(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    """GL(heads) for a = d, lightning, dv = 0, one group per head: with K = 1, head h is (V_h, A_h = Q_h).

    V_h -> sum_k M_hk V_k and A -> M^-T A, with A = M' B and B free: sum_h V_h (x) A_h stays.
    """
    first = free(source, shape)
    m = table(source, "M", shape.heads, shape.heads)
    identity = [[source.constant(int(i == j)) for j in range(shape.d)] for i in range(shape.a)]
    old: Tables = dict(first)
    new: Tables = dict(first)
    for h in range(shape.heads):
        old[f"K{h}"] = new[f"K{h}"] = identity
        old[f"Q{h}"] = _combine([row[h] for row in m], [first[f"Q{k}"] for k in range(shape.heads)])
        new[f"V{h}"] = _combine(m[h], [first[f"V{k}"] for k in range(shape.heads)])
    return old, new


def _combine(factors: list[Any], tables: list[Any]) -> Any:
    scaled = [[[factor * x for x in row] for row in values] for factor, values in zip(factors, tables, strict=True)]
    total = scaled[0]
    for more in scaled[1:]:
        total = plus(total, more)
    return total


def virtual_weights(source: Source, shape: Shape) -> list[Any]:
    """Two lightning layers against the formula in M1 = A1, M2 = V1' A2 V1 and L = V2 V1: Y = L Z Z' M2 Z, Z = X X' M1 X."""
    return _virtual(source, shape, flipped=False)


def wrong_virtual_weights(source: Source, shape: Shape) -> list[Any]:
    """Wrong on purpose: M2 = V1 A2 V1'."""
    return _virtual(source, shape, flipped=True)


def _virtual(source: Source, shape: Shape, flipped: bool) -> list[Any]:
    d = shape.d
    x, v1, v2 = table(source, "x", d, shape.t), table(source, "V1", d, d), table(source, "V2", shape.n, d)
    q1, k1, q2, k2 = (table(source, name, shape.a, d) for name in ("Q1", "K1", "Q2", "K2"))
    zero = source.constant(0)
    hidden_shape = Shape("lightning", d=d, n=d, a=shape.a, t=shape.t)
    theta = {"Q0": pair(q1, None, zero), "K0": pair(k1, None, zero), "V0": pair(v1, None, zero)}
    hidden = layer(hidden_shape, theta, pair(x, None, zero), source.constant, source.exponential)
    theta = {"Q0": pair(q2, None, zero), "K0": pair(k2, None, zero), "V0": pair(v2, None, zero)}
    stream = [[top for top, _ in row] for row in hidden]
    output = layer(
        Shape("lightning", d=d, n=shape.n, a=shape.a, t=shape.t), theta, stream, source.constant, source.exponential
    )
    a1, a2 = times(turned(k1), q1), times(turned(k2), q2)
    m2 = times(times(v1, a2), turned(v1)) if flipped else times(times(turned(v1), a2), v1)
    z = times(times(x, turned(x)), times(a1, x))
    formula = times(times(times(v2, v1), times(z, turned(z))), times(m2, z))
    return [
        top.value - expected
        for row, line in zip(output, formula, strict=True)
        for (top, _), expected in zip(row, line, strict=True)
    ]


def virtual_step(source: Source, shape: Shape) -> list[Any]:
    """One lightning layer on a stream P Z against (V P) Z Z' (P' A P) Z."""
    p, z = table(source, "P", shape.d, shape.d), table(source, "Z", shape.d, shape.t)
    q, k, v = (table(source, name, *shape.tables()[name]) for name in ("Q0", "K0", "V0"))
    zero = source.constant(0)
    theta = {"Q0": pair(q, None, zero), "K0": pair(k, None, zero), "V0": pair(v, None, zero)}
    output = layer(shape, theta, pair(times(p, z), None, zero), source.constant, source.exponential)
    weight = times(times(turned(p), times(turned(k), q)), p)
    formula = times(times(v, p), times(times(z, turned(z)), times(weight, z)))
    return _compare(output, formula)


def _compare(output: Any, formula: Any) -> list[Any]:
    return [
        top.value - expected
        for row, line in zip(output, formula, strict=True)
        for (top, _), expected in zip(row, line, strict=True)
    ]


def _values(source: Source, shape: Shape, tables: Tables, x: Any) -> Any:
    zero = source.constant(0)
    theta = {name: pair(values, None, zero) for name, values in tables.items()}
    output = layer(shape, theta, pair(x, None, zero), source.constant, source.exponential)
    return [[top.value for top, _ in row] for row in output]


def trilinear(source: Source, shape: Shape) -> list[Any]:
    """f(.. + c ..) = f + c f in each of Q, K, V, all heads together."""
    first, x, c = free(source, shape), table(source, "x", shape.d, shape.t), source.new("c")
    residuals = []
    for letter in "QKV":
        other = {
            name: table(source, f"other{name}", *shape.tables()[name]) if name[0] == letter else first[name]
            for name in first
        }
        joined = {
            name: plus(first[name], [[c * entry for entry in row] for row in other[name]])
            if name[0] == letter
            else first[name]
            for name in first
        }
        here, there, sums = (_values(source, shape, tables, x) for tables in (first, other, joined))
        residuals += [
            s - h - c * t
            for row_h, row_t, row_s in zip(here, there, sums, strict=True)
            for h, t, s in zip(row_h, row_t, row_s, strict=True)
        ]
    return residuals


def cubic(source: Source, shape: Shape) -> list[Any]:
    """f(c X) = c^3 f(X)."""
    first, x, c = free(source, shape), table(source, "x", shape.d, shape.t), source.new("c")
    here = _values(source, shape, first, x)
    there = _values(source, shape, first, [[c * entry for entry in row] for row in x])
    return [
        t - c * c * c * h for row_h, row_t in zip(here, there, strict=True) for h, t in zip(row_h, row_t, strict=True)
    ]


def shifted(source: Source, shape: Shape) -> list[Any]:
    """Any key bias, and a value bias taken out of the output bias: softmax."""
    return same(_shifted, source, shape)


def _shifted(source: Source, shape: Shape) -> tuple[Tables, Tables]:
    first = free(source, shape)
    u = table(source, "u", shape.dv or shape.n, 1)
    through = times(first["O0"], u) if shape.dv else u
    second = dict(first)
    second["bk0"] = table(source, "other", shape.a, 1)
    second["bv0"] = plus(first["bv0"], u)
    second["bo"] = [[row[0] - down[0]] for row, down in zip(first["bo"], through, strict=True)]
    return first, second
