"""Singular points of one lightning layer's neuromanifold (t >= 2): spans of tangent images over one fiber, by exact
ranks.

The layer is the tensor T_rpqc = V_rp A_qc + V_rq A_pc, A = K'Q. Every Jacobian image at a parameter of the fiber over
T lies in the Zariski tangent space of the closure at T; so a span of several of them larger than the dimension proves
T singular. The dimension is 2 a d + d d' - a^2 - 1 with a = min(a, d): fiber-single, fiber-query-key and one regular
point give it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .deep import integers, modular_rank, rational_rank
from .model import Check, Claim, Deadline, Verdict
from .motions import times, turned

Integers = list[list[int]]
Rank = Callable[[Integers], int]


@dataclass(frozen=True)
class Stratum:
    """All (V, A) of given ranks: d, d' = n, a, rank of A, rank of V."""

    d: int
    n: int
    a: int
    rank_a: int
    rank_v: int

    @property
    def dimension(self) -> int:
        """The dimension of the neuromanifold."""
        a = min(self.a, self.d)
        return 2 * a * self.d + self.d * self.n - a * a - 1

    def __str__(self) -> str:
        return f"d={self.d} d'={self.n} a={self.a} rank A={self.rank_a} rank V={self.rank_v}"


def _column(v: Integers, a: Integers) -> list[int]:
    d, n = len(a), len(v)
    return [
        v[r][p] * a[q][c] + v[r][q] * a[p][c]
        for r in range(n)
        for p in range(d)
        for q in range(p + 1)
        for c in range(d)
    ]


def _columns(v: Integers, k: Integers, q: Integers) -> list[list[int]]:
    """Return the Jacobian's columns at (V, K, Q)."""

    def units(rows: int, width: int) -> Iterator[Integers]:
        for i in range(rows):
            for j in range(width):
                yield [[int((i, j) == (r, c)) for c in range(width)] for r in range(rows)]

    columns = [_column(move, times(turned(k), q)) for move in units(len(v), len(v[0]))]
    columns += [_column(v, times(turned(move), q)) for move in units(len(k), len(k[0]))]
    return columns + [_column(v, times(turned(k), move)) for move in units(len(q), len(q[0]))]


def fiber_points(stratum: Stratum, seed: int) -> list[tuple[Integers, Integers, Integers]]:
    """Return integer points (V, K, Q) of one fiber in the stratum: other factors K, Q, the exchanged point if there
    is one.

    The first of twenty draws with the right ranks; `ValueError` if there is none.
    """
    for attempt in range(20):
        points = _draw_points(stratum, seed + 1000 * attempt)
        v, k, q = points[0]
        if (rational_rank(v), rational_rank(times(turned(k), q))) == (stratum.rank_v, stratum.rank_a):
            return points
    raise ValueError(f"no point drawn in {stratum}")


def _draw_points(stratum: Stratum, seed: int) -> list[tuple[Integers, Integers, Integers]]:
    draw = integers(seed)
    d, n, a, s = stratum.d, stratum.n, stratum.a, stratum.rank_a
    value = times(draw(n, stratum.rank_v), draw(stratum.rank_v, d)) if stratum.rank_v else [[0] * d for _ in range(n)]
    key, query = draw(s, d), draw(s, d)
    zeros = [[0] * d for _ in range(a - s)]
    values, keys = [value], [key]
    if stratum.rank_a == stratum.rank_v == 1:
        # V = u k', A = l q' -> V = u l', A = k q': the first row of V that is not zero is u_r k'.
        row, scale = next((row, row[c]) for row in value for c in range(d) if row[c])
        at = row.index(scale)
        values.append([[line[at] * entry for entry in key[0]] for line in value])
        keys.append([list(row)])
        values[0] = [[scale * entry for entry in line] for line in value]  # u_r k_at times k: both have one scale now
    points = []
    for v, k in zip(values, keys, strict=True):
        for _ in range(3):
            points.append((v, k + draw(a - s, d), query + zeros))
            points.append((v, k + zeros, query + draw(a - s, d)))
    if stratum.rank_v == 0 or s == 0:  # the zero function: any A with V = 0, any V with A = 0
        nothing = [[0] * d for _ in range(n)]
        for _ in range(3):
            points.append((nothing, draw(a, d), draw(a, d)))
            points.append((draw(n, d), draw(a, d), [[0] * d for _ in range(a)]))
    return points


def span(stratum: Stratum, seed: int, rank: Rank) -> tuple[int, int]:
    """Return the largest rank at one of the points, and the dimension of the span over all, after checking that
    they agree.
    """
    points = fiber_points(stratum, seed)
    functions = [_column(v, times(turned(k), q)) for v, k, q in points]
    if any(function != functions[0] for function in functions):
        raise ValueError("the points are not in one fiber")
    columns = [_columns(*point) for point in points]
    return max(rank(own) for own in columns), rank([column for own in columns for column in own])


def shown(stratum: Stratum, seed: int, over: int) -> dict[str, Any]:
    """Return the points of a certificate."""
    points = [dict(zip(("V", "K", "Q"), point, strict=True)) for point in fiber_points(stratum, seed)]
    return {"stratum": str(stratum), "dimension": stratum.dimension, "span": over, "points": points}


def _deficient(subject: tuple[Stratum, ...], deadline: Deadline, rank: Rank, seed: int) -> Verdict:
    for stratum in subject:
        deadline.left()
        _, over = span(stratum, seed, rank)
        expected = stratum.dimension + (stratum.d - stratum.a) ** 2
        if over != expected:
            return Verdict("unknown", f"{stratum}: span {over}, not {expected}")
    return Verdict("proved", f"span = dimension + (d - a)^2 in {len(subject)} strata")


def _table(subject: tuple[Stratum, ...], deadline: Deadline, rank: Rank, seed: int) -> Verdict:
    small = large = 0
    for stratum in subject:
        deadline.left()
        at, over = span(stratum, seed, rank)
        singular = over > stratum.dimension
        if singular != (stratum.rank_a * stratum.rank_v <= 1) or (not singular and at != stratum.dimension):
            return Verdict("unknown", f"{stratum}: rank {at}, span {over}, dimension {stratum.dimension}")
        small, large = small + singular, large + (not singular)
    return Verdict(
        "proved", f"{small} strata singular by their spans, {large} of full rank at every point of the fiber"
    )


def _wording(subject: tuple[Stratum, ...], deadline: Deadline, rank: Rank, seed: int) -> Verdict:
    for stratum in subject:
        deadline.left()
        _, over = span(stratum, seed, rank)
        if over > stratum.dimension:
            return Verdict(
                "refuted", f"{stratum}: span {over}, dimension {stratum.dimension}", shown(stratum, seed, over)
            )
    return Verdict("unknown", "no stratum with a span above the dimension")


def deficient_rational(subject: tuple[Stratum, ...], deadline: Deadline) -> Verdict:
    """Spans over Q equal the dimension plus (d - a)^2."""
    return _deficient(subject, deadline, rational_rank, 11)


def deficient_modular(subject: tuple[Stratum, ...], deadline: Deadline) -> Verdict:
    """The same modulo a prime, at other points: lower bounds of the spans."""
    return _deficient(subject, deadline, modular_rank, 12)


def table_rational(subject: tuple[Stratum, ...], deadline: Deadline) -> Verdict:
    """The span is above the dimension iff rank A * rank V <= 1, over Q."""
    return _table(subject, deadline, rational_rank, 13)


def table_modular(subject: tuple[Stratum, ...], deadline: Deadline) -> Verdict:
    """The same modulo a prime, at other points."""
    return _table(subject, deadline, modular_rank, 14)


def wording_rational(subject: tuple[Stratum, ...], deadline: Deadline) -> Verdict:
    """Look for a stratum that a wording calls regular and whose span is above the dimension, over Q."""
    return _wording(subject, deadline, rational_rank, 15)


def wording_modular(subject: tuple[Stratum, ...], deadline: Deadline) -> Verdict:
    """The same modulo a prime; a rank modulo a prime is a lower bound, so a span above the dimension is proved too."""
    return _wording(subject, deadline, modular_rank, 16)


def _grid(*sizes: tuple[int, int, int]) -> tuple[Stratum, ...]:
    return tuple(
        Stratum(d, n, a, s, r) for d, n, a in sizes for s in range(min(a, d) + 1) for r in range(min(n, d) + 1)
    )


WIDE = _grid((2, 1, 2), (2, 2, 2), (2, 2, 3), (3, 1, 3), (3, 2, 3))
NARROW = _grid((3, 1, 2), (3, 2, 2), (3, 3, 2), (4, 2, 2), (4, 2, 3))
DEFICIENT = tuple(s for s in NARROW if s.rank_a == s.a - 1 and s.rank_v == min(s.n, s.d) and s.rank_a * s.rank_v > 1)

SOURCE = "arXiv 2408.17221; PROOFS section 10"


def _wrong(name: str, title: str, statement: str, strata: tuple[Stratum, ...]) -> Claim:
    checks = (Check("rational ranks", wording_rational, strata), Check("modular ranks", wording_modular, strata))
    return Claim(f"not-singular-{name}", title, statement, f"{len(strata)} strata", SOURCE, checks, "refuted")


CLAIMS = (
    Claim(
        "singular-rank-deficient",
        "Functions with rank A < a are singular, 1 < a < d",
        "At rank A = a - 1 and V of full rank the tangent images over the fiber span dimension + (d - a)^2: "
        "singular. The "
        "singular locus is closed, so all functions with rank A < a are.",
        "; ".join(map(str, DEFICIENT)),
        SOURCE,
        (Check("rational ranks", deficient_rational, DEFICIENT), Check("modular ranks", deficient_modular, DEFICIENT)),
    ),
    Claim(
        "singular-wide",
        "For a >= d the product wording holds on the grid",
        "a >= d: where rank A * rank V <= 1 the spans (at generic points of the stratum) exceed the dimension, "
        "singular; where "
        "it is at least 2 the rank is the dimension at every point tried, and PROOFS section 10 makes these regular.",
        "d = 2, 3, d' = 1, 2, a >= d",
        SOURCE,
        (Check("rational ranks", table_rational, WIDE), Check("modular ranks", table_modular, WIDE)),
        quick=False,
    ),
    _wrong(
        "only-small-product",
        "Singular only where rank A * rank V <= 1",
        "A function with rank A * rank V > 1 is a regular point. Wrong for 1 < a < d.",
        tuple(s for s in NARROW if s.rank_a * s.rank_v > 1),
    ),
    _wrong(
        "only-both-small",
        "Singular only where both ranks are at most one",
        "A function with rank A > 1 or rank V > 1 is a regular point. Wrong for 1 < a < d, and for the zero function "
        "written with V = 0 and A of any rank.",
        tuple(s for s in NARROW if s.rank_a > 1 or s.rank_v > 1),
    ),
)
