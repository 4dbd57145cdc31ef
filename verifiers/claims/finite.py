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
    first = free(source, shape)
    second = dict(first)
    c = source.new("c")
    for names, tables in ((("K0", "bk0"), first), (("V0", "bv0"), second)):
        for name in names:
            if name in tables:
                tables[name] = [[c * entry for entry in row] for row in tables[name]]
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
    """Two lightning layers against L Z Z' M2 Z, with M1 = A1, M2 = V1' A2 V1, L = V2 V1 and Z = X X' M1 X."""
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
    m2 = times(times(turned(v1), a2), v1)
    z = times(times(x, turned(x)), times(a1, x))
    formula = times(times(times(v2, v1), times(z, turned(z))), times(m2, z))
    return _compare(output, formula)


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


def _single(source: Source, shape: Shape, v: Any, a: Any, x: Any) -> Any:
    """The layer with K = 1, Q = A, so that K'Q = A is any matrix."""
    identity = [[source.constant(int(i == j)) for j in range(shape.d)] for i in range(shape.d)]
    wide = Shape("lightning", d=shape.d, n=shape.n, a=shape.d, t=len(x[0]))
    return _values(source, wide, {"Q0": a, "K0": identity, "V0": v}, x)


def polarised(source: Source, shape: Shape) -> list[Any]:
    """The layer at tokens (x, z), its second column, without what z does with itself, polarised in x."""
    v, a = table(source, "V", shape.n, shape.d), table(source, "A", shape.d, shape.d)
    x, y, z = (table(source, name, shape.d, 1) for name in "xyz")
    nothing = [[source.constant(0)] for _ in range(shape.d)]

    def second(token: Any) -> Any:
        output = _single(source, shape, v, a, [[token[c][0], z[c][0]] for c in range(shape.d)])
        return [row[1] for row in output]

    whole, first, other, alone = second(plus(x, y)), second(x), second(y), second(nothing)
    residuals = []
    for r in range(shape.n):
        tensor = source.constant(0)
        for p in range(shape.d):
            for q in range(shape.d):
                for c in range(shape.d):
                    entry = v[r][p] * a[q][c] + v[r][q] * a[p][c]
                    tensor = tensor + entry * x[p][0] * y[q][0] * z[c][0]
        residuals.append(whole[r] - first[r] - other[r] + alone[r] - tensor)
    return residuals


def exchanged(source: Source, shape: Shape) -> list[Any]:
    """V = u k', A = l q' against W = u l', B = k q', as layers with a = 1."""
    u, k, l, q = (
        table(source, name, rows, 1) for name, rows in (("u", shape.n), ("k", shape.d), ("l", shape.d), ("q", shape.d))
    )
    x = table(source, "x", shape.d, shape.t)
    here = _values(source, shape, {"V0": times(u, turned(k)), "K0": turned(l), "Q0": turned(q)}, x)
    there = _values(source, shape, {"V0": times(u, turned(l)), "K0": turned(k), "Q0": turned(q)}, x)
    return [a - b for row, line in zip(here, there, strict=True) for a, b in zip(row, line, strict=True)]


def symmetric_part(source: Source, shape: Shape) -> list[Any]:
    """One token: A against its symmetric part (both doubled)."""
    v, a, x = table(source, "V", shape.n, shape.d), table(source, "A", shape.d, shape.d), table(source, "x", shape.d, 1)
    here, there = _single(source, shape, v, plus(a, a), x), _single(source, shape, v, plus(a, turned(a)), x)
    return [one[0] - other[0] for one, other in zip(here, there, strict=True)]


def orbit(source: Source, shape: Shape) -> list[Any]:
    """K'Q = L'R at a = d <= 2: with Q = det(L) P, R = adj(L)'K'P, and det(L) G = (K adj L)': R = G Q, K = G'L."""
    k, l, p = (table(source, name, shape.a, shape.d) for name in ("K", "L", "P"))
    if shape.a == 1:
        adjugate, determinant = [[source.constant(1)]], l[0][0]
    else:
        adjugate = [[l[1][1], source.constant(0) - l[0][1]], [source.constant(0) - l[1][0], l[0][0]]]
        determinant = l[0][0] * l[1][1] - l[0][1] * l[1][0]
    q = [[determinant * entry for entry in row] for row in p]
    r = times(times(turned(adjugate), turned(k)), p)
    g = turned(times(k, adjugate))  # determinant times G
    left = [
        *times(turned(k), q),
        *([determinant * entry for entry in row] for row in r),
        *([determinant * e for e in row] for row in k),
    ]
    right = [*times(turned(l), r), *times(g, q), *times(turned(g), l)]
    return [a - b for row, line in zip(left, right, strict=True) for a, b in zip(row, line, strict=True)]
