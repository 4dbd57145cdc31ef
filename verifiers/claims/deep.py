"""Two lightning layers in virtual weights, and degrees: exact ranks and exact values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..z3process import solve
from .entries import Dual, Shape, layer, pair, product
from .model import Deadline, Verdict
from .motions import times, turned

PRIME = 2_097_143
INPUTS = 8


def integers(seed: int) -> Callable[[int, int], list[list[int]]]:
    """Return a source of small integer tables, a linear congruential sequence."""
    state = [seed]

    def draw(rows: int, columns: int) -> list[list[int]]:
        result = []
        for _ in range(rows):
            row = []
            for _ in range(columns):
                state[0] = (state[0] * 1_103_515_245 + 12_345) % (1 << 31)
                row.append((state[0] >> 16) % 11 - 5)
            result.append(row)
        return result

    return draw


def rank(
    rows: list[list[Any]], zero: Callable[[Any], bool], inverse: Callable[[Any], Any], clean: Callable[[Any], Any]
) -> int:
    """Return the rank of a table over a field, by elimination."""
    rows = [list(row) for row in rows]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        at = next((r for r in range(found, len(rows)) if not zero(rows[r][column])), None)
        if at is None:
            continue
        rows[found], rows[at] = rows[at], rows[found]
        scale = inverse(rows[found][column])
        head = [clean(scale * value) for value in rows[found]]
        rows[found] = head
        for r in range(found + 1, len(rows)):
            factor = rows[r][column]
            if not zero(factor):
                rows[r] = [clean(value - factor * lead) for value, lead in zip(rows[r], head, strict=True)]
        found += 1
    return found


def rational_rank(rows: list[list[int]]) -> int:
    """Return the rank of an integer matrix over the rationals."""
    exact = [[Fraction(value) for value in row] for row in rows]
    return rank(exact, lambda v: v == 0, lambda v: 1 / v, lambda v: v)


def modular_rank(rows: list[list[int]]) -> int:
    """Return the rank of an integer matrix modulo a prime: a lower bound of the rational rank."""
    return rank(
        [[v % PRIME for v in row] for row in rows], lambda v: v == 0, lambda v: pow(v, -1, PRIME), lambda v: v % PRIME
    )


def _virtual_jacobian(n: int, t: int, seed: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return the Jacobian of (M1, M2, L) -> f at several inputs, d = 2, and the two rescalings as columns applied
    to it.
    """
    draw = integers(seed)
    weights = [draw(2, 2), draw(2, 2), draw(n, 2)]
    places = [(w, i, j) for w, table in enumerate(weights) for i in range(len(table)) for j in range(2)]
    inputs = [draw(2, t) for _ in range(INPUTS)]

    def derivative(direction: list[list[list[int]]]) -> list[int]:
        m1, m2, l = (pair(value, motion, 0) for value, motion in zip(weights, direction, strict=True))
        column = []
        for x in inputs:
            stream = pair(x, None, 0)
            z = product(product(stream, pair(turned(x), None, 0)), product(m1, stream))
            z_turned = [list(line) for line in zip(*z, strict=True)]
            column += [
                entry.motion for row in product(product(l, product(z, z_turned)), product(m2, z)) for entry in row
            ]
        return column

    def unit(w: int, i: int, j: int) -> list[list[list[int]]]:
        return [
            [[int((w, i, j) == (k, r, c)) for c in range(2)] for r in range(len(table))]
            for k, table in enumerate(weights)
        ]

    def scaled(*factors: int) -> list[list[list[int]]]:
        return [[[f * value for value in row] for row in table] for f, table in zip(factors, weights, strict=True)]

    columns = [derivative(unit(*place)) for place in places]
    return turned(columns), [derivative(scaled(1, 0, -3)), derivative(scaled(0, 1, -1))]


def _deep_rank(
    subject: tuple[tuple[int, int], ...], deadline: Deadline, count: Callable[[list[list[int]]], int], seed: int
) -> Verdict:
    for n, t in subject:
        deadline.left()
        jacobian, rescaled = _virtual_jacobian(n, t, seed)
        if any(value for column in rescaled for value in column):
            return Verdict("unknown", f"d=2,2,{n} t={t}: a rescaling moves the function")
        found, wanted = count(jacobian), len(jacobian[0]) - 2
        if found != wanted:
            return Verdict("unknown", f"d=2,2,{n} t={t}: rank {found}, not {wanted}")
    return Verdict("proved", f"rank = parameters - 2 at {len(subject)} sizes")


def by_rational_deep_rank(subject: tuple[tuple[int, int], ...], deadline: Deadline) -> Verdict:
    """The differential at an integer point has rank (parameters - 2), over the rationals; the rescalings are in its
    kernel.
    """
    return _deep_rank(subject, deadline, rational_rank, 1)


def by_modular_deep_rank(subject: tuple[tuple[int, int], ...], deadline: Deadline) -> Verdict:
    """The same modulo a prime at another point: a lower bound that meets the upper bound from the rescalings."""
    return _deep_rank(subject, deadline, modular_rank, 2)


def by_z3_deep(subject: None, deadline: Deadline) -> Verdict:
    """Ask Z3 for a second point of a generic fiber at d=2,2,1, M1 = 1, with the values at a few integer inputs."""
    draw = integers(5)
    fixed = {"M1": [[1, 0], [0, 1]], "M2": [[1, 2], [3, 5]], "L": [[1, 1]]}
    lines: list[str] = []
    names = {w: [[f"{w}_{i}_{j}" for j in range(2)] for i in range(len(table))] for w, table in fixed.items()}
    lines += [f"(declare-const {name} Real)" for rows in names.values() for row in rows for name in row]

    def entry(parts: list[tuple[Any, str]]) -> str:
        return f"(+ 0.0 0.0 {' '.join(f'(* {_number(c)} {text})' for c, text in parts)})"

    for _ in range(12):
        x = draw(2, 2)
        gram = times(x, turned(x))
        z = [
            [entry([(gram[i][k] * x[m][j], names["M1"][k][m]) for k in range(2) for m in range(2)]) for j in range(2)]
            for i in range(2)
        ]
        known = times(gram, times(fixed["M1"], x))
        value = times(times(fixed["L"], times(known, turned(known))), times(fixed["M2"], known))
        for j in range(2):
            terms = [
                f"(* {names['L'][0][i]} {z[i][k]} {z[m][k]} {names['M2'][m][s]} {z[s][j]})"
                for i in range(2)
                for k in range(2)
                for m in range(2)
                for s in range(2)
            ]
            lines.append(f"(assert (= (+ {' '.join(terms)}) {_number(value[0][j])}))")
    m1 = names["M1"]
    lines.append(f"(assert (or (not (= {m1[0][0]} {m1[1][1]})) (not (= {m1[0][1]} 0.0)) (not (= {m1[1][0]} 0.0))))")
    reply = solve("\n".join(lines), min(10.0, deadline.left()))
    if reply.status == "unsat":
        return Verdict("proved", "no second point at one generic point")
    return Verdict("unknown", f"{reply.status} {reply.reason}".rstrip())


def _number(value: int) -> str:
    return f"{value}.0" if value >= 0 else f"(- {-value}.0)"


def _stack(d: int, layers: int, x: Any, constant: Callable[[int], Any], seed: int) -> Any:
    draw = integers(seed)
    shape = Shape("lightning", d=d, n=d, a=1, t=len(x[0]))
    stream = pair(x, None, constant(0))
    for _ in range(layers):
        tables = {name: draw(*size) for name, size in shape.tables().items()}
        theta = {
            name: pair([[constant(v) for v in row] for row in rows], None, constant(0)) for name, rows in tables.items()
        }
        output = layer(shape, theta, stream, constant, lambda h, i, j, score: Dual(score.value, score.motion))
        stream = [[top for top, _ in row] for row in output]
    return [[entry.value for entry in row] for row in stream]


def by_sympy_degree(subject: tuple[tuple[int, int], ...], deadline: Deadline) -> Verdict:
    """Expand networks (d, layers) with integer weights as polynomials in X (one token): every term has degree
    3^layers.
    """
    from sympy import QQ
    from sympy.polys.rings import ring

    for d, layers in subject:
        deadline.left()
        polynomials, *generators = ring([f"x{i}" for i in range(d)], QQ)
        output = _stack(d, layers, [[g] for g in generators], polynomials, 9)
        degrees = {sum(key) for row in output for key in row[0].monoms()}
        if degrees != {3**layers}:
            return Verdict("unknown", f"d={d} l={layers}: degrees {sorted(degrees)}")
    return Verdict("proved", f"only terms of degree 3^l, and some, at {len(subject)} sizes")


def by_rational_degree(subject: tuple[tuple[int, int], ...], deadline: Deadline) -> Verdict:
    """Evaluate networks (d, layers) with two tokens at X and 2 X: the values differ by 2^(3^layers) and are not all
    zero.
    """
    for d, layers in subject:
        deadline.left()
        x = integers(4)(d, 2)
        here = _stack(d, layers, [[Fraction(v) for v in row] for row in x], Fraction, 6)
        there = _stack(d, layers, [[2 * Fraction(v) for v in row] for row in x], Fraction, 6)
        pairs = [(a, b) for row, line in zip(here, there, strict=True) for a, b in zip(row, line, strict=True)]
        if not any(a for a, _ in pairs) or any(b != 2 ** (3**layers) * a for a, b in pairs):
            return Verdict("unknown", f"d={d} l={layers}: not homogeneous of degree 3^l, or zero")
    return Verdict("proved", f"f(2X) = 2^(3^l) f(X), not 0, at {len(subject)} sizes")
