"""Residuals of fields outside the attention layer: feed-forward parts, polynomial networks, two stacked layers,
free heads.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .entries import Dual, DualTable, Shape, layer, pair, product
from .motions import Motion, centre, minus, times, under
from .residuals import Source, table

Tables = dict[str, Any]


def _dual(values: Any, motion: Any, source: Source) -> DualTable:
    return pair(values, motion, source.constant(0))


def _moves(output: DualTable) -> list[Any]:
    return [entry.motion for row in output for entry in row]


def _forward(power: int, source: Source, tables: Tables, motion: Motion, gate: bool = False) -> DualTable:
    """D (act(U x + bu)) at one token; with `gate` act is multiplication by units that do not depend on U."""
    u, bu, d, x = (_dual(tables[name], motion.tables.get(name), source) for name in ("U", "bu", "D", "x"))
    hidden = [[value + bu[r][0] for value in row] for r, row in enumerate(product(u, x))]
    if gate:
        rest = source.constant(0)
        hidden = [[Dual(source.new(f"silu_{r}"), rest) * value for value in row] for r, row in enumerate(hidden)]
    raised = [list(row) for row in hidden]
    for _ in range(power - 1):
        raised = [[a * b for a, b in zip(x, y, strict=True)] for x, y in zip(raised, hidden, strict=True)]
    return product(d, raised)


def _ffn_tables(source: Source, shape: Shape) -> Tables:
    names = {"U": (shape.a, shape.d), "bu": (shape.a, 1), "D": (shape.n, shape.a), "x": (shape.d, 1)}
    return {name: table(source, name, *size) for name, size in names.items()}


def unit_scaling(power: int, back: int, source: Source, shape: Shape) -> list[Any]:
    """Row 0 of U (and its bias) by itself, column 0 of D by -back times itself; shape.a hidden units."""
    tables = _ffn_tables(source, shape)
    return _moves(_forward(power, source, tables, _unit_motion(tables, back, source)))


def gate_scaling(source: Source, shape: Shape) -> list[Any]:
    """The same with swiglu: the gate rests."""
    tables = _ffn_tables(source, shape)
    return _moves(_forward(1, source, tables, _unit_motion(tables, 1, source), gate=True))


def _unit_motion(tables: Tables, back: int, source: Source) -> Motion:
    zero, factor = source.constant(0), source.constant(-back)

    def first(rows: Any) -> Any:
        return [list(row) if r == 0 else [zero] * len(row) for r, row in enumerate(rows)]

    down = [[factor * row[0], *[zero] * (len(row) - 1)] for row in tables["D"]]
    return Motion({"U": first(tables["U"]), "bu": first(tables["bu"]), "D": down})


def unit_basis(power: int, source: Source, shape: Shape) -> list[Any]:
    """GL on the hidden units: U from the left, D from the right."""
    tables = _ffn_tables(source, shape)
    e = table(source, "e", shape.a, shape.a)
    motion = Motion({"U": times(e, tables["U"]), "bu": times(e, tables["bu"]), "D": minus(times(tables["D"], e))})
    return _moves(_forward(power, source, tables, motion))


def ffn_consumes(source: Source, shape: Shape) -> list[Any]:
    """The stream moves by e * stream, U by -U e (and no bias): a feed-forward part reads a changed basis."""
    tables = _ffn_tables(source, shape)
    e = table(source, "e", shape.d, shape.d)
    motion = Motion({"U": minus(times(tables["U"], e)), "x": times(e, tables["x"])})
    return _moves(_forward(3, source, tables, motion))


def ffn_produces(source: Source, shape: Shape) -> list[Any]:
    """D and bd from the left by e: the output moves by e * output."""
    tables = _ffn_tables(source, shape)
    e, bd = table(source, "e", shape.n, shape.n), table(source, "bd", shape.n, 1)
    output = _forward(3, source, tables, Motion({"D": times(e, tables["D"])}))
    moved = times(e, bd)
    total = [[output[r][0] + Dual(bd[r][0], moved[r][0])] for r in range(shape.n)]
    expected = times(e, [[row[0].value] for row in total])
    return [total[r][0].motion - expected[r][0] for r in range(shape.n)]


def ffn_constant(source: Source, shape: Shape) -> list[Any]:
    """The stream moves by u, bu by -U u."""
    tables = _ffn_tables(source, shape)
    u = table(source, "u", shape.d, 1)
    return _moves(_forward(3, source, tables, Motion({"x": u, "bu": minus(times(tables["U"], u))})))


def stacked_basis(source: Source, shape: Shape) -> list[Any]:
    """Two lightning layers of one width, V1 by e V1 and every reader of layer 2 by -W e; `shape.skip` says whether
    they skip.
    """
    first = {name: table(source, f"first{name}", *size) for name, size in shape.tables().items()}
    second = {name: table(source, f"second{name}", *size) for name, size in shape.tables().items()}
    e, x = table(source, "e", shape.d, shape.d), table(source, "x", shape.d, shape.t)
    theta = {name: _dual(values, times(e, values) if name == "V0" else None, source) for name, values in first.items()}
    hidden = layer(shape, theta, _dual(x, None, source), source.constant, source.exponential)
    stream = [[top for top, _ in row] for row in hidden]
    theta = {name: _dual(values, minus(times(values, e)), source) for name, values in second.items()}
    output = layer(shape, theta, stream, source.constant, source.exponential)
    return [top.motion for row in output for top, _ in row]


def koszul(source: Source, shape: Shape) -> list[Any]:
    """Two heads with one output row, A free: A_0 moves by v_1' c', A_1 by -v_0' c'."""
    d = shape.d
    v, a = ([table(source, f"{name}{h}", rows, d) for h in range(2)] for name, rows in (("v", 1), ("A", d)))
    c, x = table(source, "c", 1, d), table(source, "x", d, shape.t)
    stream, total = _dual(x, None, source), source.constant(0)
    result = [[Dual(total, total) for _ in range(shape.t)]]
    for h in range(2):
        moved = times([[entry] for entry in v[1 - h][0]], c)
        moved = moved if h == 0 else minus(moved)
        scores = product(
            [list(column) for column in zip(*stream, strict=True)], product(_dual(a[h], moved, source), stream)
        )
        part = product(product(_dual(v[h], None, source), stream), scores)
        result = [[old + new for old, new in zip(result[0], part[0], strict=True)]]
    return _moves(result)


def rank_one_stream(source: Source, shape: Shape) -> list[Any]:
    """Every 2 x 2 minor of an unmasked lightning layer's output is zero: a = 1, or (shape.a > 1) a stream of rank
    one.
    """
    tables = {name: table(source, name, *size) for name, size in shape.tables().items()}
    x = table(source, "x", shape.d, shape.t)
    if shape.a > 1:
        x = times(table(source, "ray", shape.d, 1), table(source, "weight", 1, shape.t))
    theta = {name: _dual(values, None, source) for name, values in tables.items()}
    output = layer(shape, theta, _dual(x, None, source), source.constant, source.exponential)
    y = [[top.value for top, _ in row] for row in output]
    return [
        y[r][i] * y[s][j] - y[r][j] * y[s][i]
        for r in range(shape.n)
        for s in range(r)
        for i in range(shape.t)
        for j in range(i)
    ]


def powers(source: Source, shape: Shape) -> list[Any]:
    """The scaling of a hidden unit for the powers r = 1 to 4."""
    return [residual for r in range(1, 5) for residual in unit_scaling(r, r, source, shape)]


def ffn_both(source: Source, shape: Shape) -> list[Any]:
    """A feed-forward part reads a changed basis, and makes one."""
    return ffn_consumes(source, shape) + ffn_produces(source, shape)


def centres(source: Source, shape: Shape) -> list[Any]:
    """The dead covector of a centred stream, in each of Q, K, V with biases."""
    return [residual for name in ("Q0", "K0", "V0") for residual in under(partial(centre, name), source, shape)]
