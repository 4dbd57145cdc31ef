"""The fields of the symmetry table as motions of tables of entries, one function each; and what a layer does under
them.

Each function takes a source, a shape and the layer's tables (which it may replace where a field holds on a subset
only) and returns a `Motion`. They are written from CERTIFICATES section 7, apart from the words in
`table.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .entries import Shape, Table, layer, pair
from .residuals import Source, table

Tables = dict[str, Table]


@dataclass
class Motion:
    """Motion of the parameters, of the input stream (none: at rest), and the output motion it must cause: linear *
    y + constant.
    """

    tables: Tables = field(default_factory=dict)
    stream: Table | None = None
    linear: Table | None = None
    constant: Table | None = None


Mover = Callable[[Source, Shape, Tables], Motion]


def times(left: Table, right: Table) -> Table:
    """Return the matrix product."""
    return [
        [_total([x * row[j] for x, row in zip(line, right, strict=True)]) for j in range(len(right[0]))]
        for line in left
    ]


def turned(matrix: Table) -> Table:
    """Return the transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def minus(matrix: Table) -> Table:
    """Return the negative."""
    return [[-x for x in row] for row in matrix]


def plus(left: Table, right: Table) -> Table:
    """Return the sum."""
    return [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(left, right, strict=True)]


def _total(items: list[Any]) -> Any:
    total = items[0]
    for item in items[1:]:
        total = total + item
    return total


def _heads(shape: Shape) -> list[int]:
    return [h for h in range(shape.heads) if shape.group(h) == 0]


def under(move: Mover, source: Source, shape: Shape) -> list[Any]:
    """Return the residuals of "the layer moves as `move` says": numerator of d(output) - linear * output - constant."""
    tables = {name: table(source, name, *size) for name, size in shape.tables().items()}
    tables["x"] = table(source, "x", shape.d, shape.t)
    motion = move(source, shape, tables)
    zero = source.constant(0)
    theta = {name: pair(values, motion.tables.get(name), zero) for name, values in tables.items() if name != "x"}
    extra = set(motion.tables) - set(theta)
    if extra:
        raise ValueError(f"a motion of parameters that the layer does not have: {sorted(extra)}")
    turn = (source.new("cos"), source.new("sin")) if shape.rope else None
    output = layer(shape, theta, pair(tables["x"], motion.stream, zero), source.constant, source.exponential, turn)
    residuals = []
    for r, row in enumerate(output):
        for j, (top, bottom) in enumerate(row):
            rest = top.motion * bottom.value - top.value * bottom.motion
            if motion.linear is not None:
                for k in range(shape.n):
                    rest = rest - motion.linear[r][k] * output[k][j][0].value * bottom.value
            if motion.constant is not None:
                rest = rest - motion.constant[r][0] * bottom.value * bottom.value
            residuals.append(rest)
    return residuals


def _present(shape: Shape, motion: Tables) -> Tables:
    """Leave out what the network does not have."""
    return {name: values for name, values in motion.items() if name in shape.tables()}


def gauge(source: Source, shape: Shape, tables: Tables) -> Motion:
    """Query/key gauge of group 0; with rope a rotation and scaling of each plane."""
    a = shape.a
    e = table(source, "e", a, a)
    if shape.rope and shape.t > 1:
        zero = source.constant(0)
        e = [[zero] * a for _ in range(a)]
        for plane in range(0, a, 2):
            same, across = source.new(f"same{plane}"), source.new(f"across{plane}")
            e[plane][plane], e[plane][plane + 1] = same, -across
            e[plane + 1][plane], e[plane + 1][plane + 1] = across, same
    return _gauge(shape, tables, e)


def full_gauge(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The gauge with a free matrix, rope or not."""
    return _gauge(shape, tables, table(source, "e", shape.a, shape.a))


def _gauge(shape: Shape, tables: Tables, e: Table) -> Motion:
    back = minus(turned(e))
    moved = {f"{p}{h}": times(e, tables[f"{p}{h}"]) for h in _heads(shape) for p in ("Q", "bq") if f"{p}{h}" in tables}
    moved |= {f"{p}0": times(back, tables[f"{p}0"]) for p in ("K", "bk") if f"{p}0" in tables}
    return Motion(moved)


def scaling(source: Source, shape: Shape, tables: Tables) -> Motion:
    """V up, K down, in group 0."""
    moved = {f"{p}0": tables[f"{p}0"] for p in ("V", "bv") if f"{p}0" in tables}
    return Motion(moved | {f"{p}0": minus(tables[f"{p}0"]) for p in ("K", "bk") if f"{p}0" in tables})


def head_scaling(source: Source, shape: Shape, tables: Tables) -> Motion:
    """O up, Q down, for head 0."""
    return Motion({"O0": tables["O0"]} | {f"{p}0": minus(tables[f"{p}0"]) for p in ("Q", "bq") if f"{p}0" in tables})


def head_mix(source: Source, shape: Shape, tables: Tables) -> Motion:
    """Heads 0 and 1: O_0 moves by O_1, Q_1 by -Q_0."""
    return Motion({"O0": tables["O1"]} | {f"{p}1": minus(tables[f"{p}0"]) for p in ("Q", "bq") if f"{p}0" in tables})


def group_sum(source: Source, shape: Shape, tables: Tables) -> Motion:
    """Only the sum of the queries of a group acts."""
    moved: Tables = {}
    for p, width in (("Q", shape.d), ("bq", 1)):
        if f"{p}0" in tables:
            m = table(source, f"m{p}", shape.a, width)
            moved |= {f"{p}1": m, f"{p}0": minus(m)}
    return Motion(moved)


def value_gauge(source: Source, shape: Shape, tables: Tables) -> Motion:
    """V from the left, O from the right, in group 0."""
    e = table(source, "e", shape.dv, shape.dv)
    moved = {f"{p}0": times(e, tables[f"{p}0"]) for p in ("V", "bv") if f"{p}0" in tables}
    return Motion(moved | {f"O{h}": minus(times(tables[f"O{h}"], e)) for h in _heads(shape)})


def produce_basis(source: Source, shape: Shape, tables: Tables) -> Motion:
    """All producers of the output stream from the left: the output moves by e * output."""
    e = table(source, "e", shape.n, shape.n)
    names = (
        [f"O{h}" for h in range(shape.heads)] if shape.dv else [f"{p}{g}" for g in range(shape.kv) for p in ("V", "bv")]
    )
    return Motion({name: times(e, tables[name]) for name in [*names, "bo"] if name in tables}, linear=e)


def consume_basis(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The input stream moves by e * stream, all consumers from the right by -e."""
    e = table(source, "e", shape.d, shape.d)
    names = [f"{p}{h}" for p in "QKV" for h in range(max(shape.heads, shape.kv))]
    moved = {name: minus(times(tables[name], e)) for name in names if name in tables}
    return Motion(moved, stream=times(e, tables["x"]))


def key_bias(source: Source, shape: Shape, tables: Tables) -> Motion:
    """A free motion of the key bias."""
    return Motion({"bk0": table(source, "u", shape.a, 1)})


def value_bias(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The value bias of group 0 against the output bias."""
    u = table(source, "u", shape.dv or shape.n, 1)
    gone = [times(tables[f"O{h}"], u) if shape.dv else u for h in _heads(shape)]
    total = gone[0]
    for more in gone[1:]:
        total = plus(total, more)
    return Motion({"bv0": u, "bo": minus(total)})


def value_bias_pair(source: Source, shape: Shape, tables: Tables) -> Motion:
    """Two groups with equally many heads: one value bias against the other."""
    u = table(source, "u", shape.n, 1)
    return Motion({"bv1": u, "bv0": minus(u)})


def produce_constant(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The output stream moves by a constant: through bo, or else through the value bias of group 0 (its heads times
    over).
    """
    u = table(source, "u", shape.n, 1)
    if "bo" in tables:
        return Motion({"bo": u}, constant=u)
    caused = u
    for _ in _heads(shape)[1:]:
        caused = plus(caused, u)
    return Motion({"bv0": u}, constant=caused)


def consume_constant(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The input stream moves by a constant u, every bias by -W u."""
    u = table(source, "u", shape.d, 1)
    moved = {
        f"b{p.lower()}{h}": minus(times(tables[f"{p}{h}"], u))
        for p in "QKV"
        for h in range(shape.heads)
        if f"{p}{h}" in tables
    }
    return Motion(_present(shape, moved), stream=[[u[c][0]] * shape.t for c in range(shape.d)])


def dead(source: Source, shape: Shape, tables: Tables) -> Motion:
    """Free motions of queries and keys."""
    names = [name for name in tables if name[0] in "QK" or name[:2] in ("bq", "bk")]
    return Motion({name: table(source, f"m{name}", len(tables[name]), len(tables[name][0])) for name in names})


def symmetric_key(source: Source, shape: Shape, tables: Tables) -> Motion:
    """K moves by b Q, b antisymmetric."""
    b = _antisymmetric(source, shape.a)
    return Motion(
        _present(shape, {f"{p[0]}": times(b, tables[p[1]]) for p in (("K0", "Q0"), ("bk0", "bq0")) if p[1] in tables})
    )


def symmetric_query(source: Source, shape: Shape, tables: Tables) -> Motion:
    """Q moves by b K, b antisymmetric."""
    b = _antisymmetric(source, shape.a)
    return Motion(
        _present(shape, {f"{p[0]}": times(b, tables[p[1]]) for p in (("Q0", "K0"), ("bq0", "bk0")) if p[1] in tables})
    )


def symmetric_both(source: Source, shape: Shape, tables: Tables) -> Motion:
    """K moves by b Q and Q by f K, b and f antisymmetric."""
    b, f = _antisymmetric(source, shape.a), _antisymmetric(source, shape.a, "f")
    return Motion({"K0": times(b, tables["Q0"]), "Q0": times(f, tables["K0"])})


def rank_one(move: Mover, source: Source, shape: Shape, tables: Tables) -> Motion:
    """Apply `move` to a layer that reads a stream of rank one."""
    tables["x"] = times(table(source, "ray", shape.d, 1), table(source, "weight", 1, shape.t))
    return move(source, shape, tables)


def _antisymmetric(source: Source, size: int, name: str = "b") -> Table:
    upper = {(i, j): source.new(f"{name}_{i}_{j}") for i in range(size) for j in range(i + 1, size)}
    zero = source.constant(0)
    return [[upper[i, j] if i < j else -upper[j, i] if j < i else zero for j in range(size)] for i in range(size)]


def gain(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The gain (and shift) of a normalised stream against everything that reads it."""
    e = table(source, "e", shape.d, 1)
    readers = [name for name in tables if name[0] in "QKV"]
    moved = {name: [[-x * e[c][0] for c, x in enumerate(row)] for row in tables[name]] for name in readers}
    return Motion(moved | {p: [[e[c][0] * tables[p][c][0]] for c in range(shape.d)] for p in ("g", "s") if p in tables})


def shift(source: Source, shape: Shape, tables: Tables) -> Motion:
    """The shift of a normalised stream against the biases of its readers."""
    u = table(source, "u", shape.d, 1)
    moved = {
        f"b{p.lower()}{h}": minus(times(tables[f"{p}{h}"], u))
        for p in "QKV"
        for h in range(shape.heads)
        if f"{p}{h}" in tables
    }
    return Motion(_present(shape, moved) | {"s": u})


def centre(name: str, source: Source, shape: Shape, tables: Tables) -> Motion:
    """One reader of a centred stream moves along the covector that the gain makes of the all-ones one."""
    last = shape.d - 1
    tables["x"][last] = [-_total([tables["x"][c][j] for c in range(last)]) for j in range(shape.t)]  # centred tokens
    g, s = tables["g"], tables["s"]
    covector = []
    for without in range(shape.d):
        others = source.constant(1)
        for k in range(shape.d):
            others = others * g[k][0] if k != without else others
        covector.append(others)
    c = table(source, "c", len(tables[name]), 1)
    constant = _total([covector[k] * s[k][0] for k in range(shape.d)])
    bias = f"b{name[0].lower()}{name[1:]}"
    moved = {name: times(c, [covector]), bias: minus([[row[0] * constant] for row in c])}
    return Motion(_present(shape, moved))


def key_null(source: Source, shape: Shape, tables: Tables) -> Motion:
    """For n with n'K = 0, n'bk = 0 (a = 2 here): Q moves by n c'."""
    n = _null_rows(source, tables, "K0", "bk0")
    return Motion({"Q0": times(n, table(source, "c", 1, shape.d))})


def query_null(source: Source, shape: Shape, tables: Tables) -> Motion:
    """For n with n'Q = 0, n'bq = 0 (a = 2 here): K moves by n c'."""
    n = _null_rows(source, tables, "Q0", "bq0")
    return Motion({"K0": times(n, table(source, "c", 1, shape.d))})


def _null_rows(source: Source, tables: Tables, *names: str) -> Table:
    top, bottom = source.new("n_0"), source.new("n_1")
    for name in names:
        if name in tables:
            row = tables[name][0]
            tables[name] = [[bottom * x for x in row], [-top * x for x in row]]
    return [[top], [bottom]]


def reader_null(source: Source, shape: Shape, tables: Tables) -> Motion:
    """For n that annihilates every token of the stream (d = 2 here): each reader moves by c n'."""
    top, bottom = source.new("n_0"), source.new("n_1")
    weights = table(source, "weight", 1, shape.t)[0]
    tables["x"] = [[bottom * w for w in weights], [-top * w for w in weights]]
    names = [name for name in tables if name[0] in "QKV"]
    return Motion({name: times(table(source, f"c{name}", len(tables[name]), 1), [[top, bottom]]) for name in names})


def unread(source: Source, shape: Shape, tables: Tables) -> Motion:
    """For n with W n = 0 for every reader W (d = 2 here): the stream moves by n times anything."""
    top, bottom = source.new("n_0"), source.new("n_1")
    for reader in [name for name in tables if name[0] in "QKV"]:
        tables[reader] = [[bottom * row[0], -top * row[0]] for row in tables[reader]]
    return Motion(stream=times([[top], [bottom]], table(source, "c", 1, shape.t)))
