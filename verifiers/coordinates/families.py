"""Families: one certificate for all sizes of a description with named sizes.

The types of every member occur among those of finitely many small members: a larger one is compressed, keeping the order of
its sizes and at least two units of each kind (`PROOFS.md`, section 6). So the blocks of the small members prove the whole family.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any

from ...numerics.network import ACTIVATIONS, MAX_LAYERS, Network, NetworkError
from ...numerics.notation import Family, multiple
from ...numerics.rings import DEFAULT_PRIME
from ..reductions import quadratic
from .certify import NotCovered, coordinate_point, uncovered
from .depth import LEAST_TOKENS
from .types import overlaps, spread

MAX_MEMBERS = 40_000
LEAST = (1, 2, 3)  # smallest size of every name that is tried
DEGREE = 4  # of the chart's polynomial in each name, at most
Polynomial = dict[tuple[int, ...], int]  # exponents, one a name, to coefficient


def family_certificate(family: Family, seed: int = 0) -> dict[str, Any]:
    """A certificate that every member of the family which meets the conditions of a coordinate certificate, with all named
    sizes at least `claim.least`, has the dimension that the polynomial `claim.dimension` gives.

    Raises `NotCovered` where no member is covered or a block falls short.
    """
    reason = "no sizes were tried"
    for least in LEAST:
        try:
            return _certificate(family, least, seed)
        except NotCovered as short:
            reason = str(short)
    raise NotCovered(reason)


def _certificate(family: Family, least: int, seed: int) -> dict[str, Any]:
    members = list(small_members(family, least))
    return {
        "format": "neuromanifold-certificate", "version": 1, "spec": family.text,
        "claim": {"dimension": polynomial_text(family.names, chart_polynomial(family)), "least": least},
        "prime": DEFAULT_PRIME, "seed": seed,
        **coordinate_point(members, seed),
        "upper": {"rule": "chart"},
        "holes": [],
    }  # fmt: skip


def small_members(family: Family, least: int) -> Iterator[Network]:
    """The members, meeting the conditions, whose types are all the types of the family. Raises `NotCovered` if they cannot be told."""
    ranges = {n: range(least, bound + 1) for n, bound in _bounds(family, least).items()}
    ranges |= {n: range(2, 3) for n in _names(family.fields.get("l", ()))}  # the layers alone are the same at every depth
    widest = max(ranges[w][-1] if isinstance(w, str) else w for w in family.fields["d"])
    ranges |= {n: range(widest, widest + 1) for n in _names(family.fields.get("ffn", ()))}  # one for each coordinate, and more
    count = prod(map(len, ranges.values()))
    layers = len(family.fields["d"]) + depth(family)
    if count > MAX_MEMBERS or count * layers > 5 * MAX_MEMBERS:
        hidden = {*family.fields["d"][1:-1]}
        fewer = "give the hidden widths one name, as they must be equal" if len(hidden) > 1 else "name fewer sizes"
        raise NotCovered(f"{count} small members would have to be looked at, more than {MAX_MEMBERS}: {fewer}")
    reason, found = None, False
    counts = _names(family.fields.get("heads", ()))
    for sizes in itertools.product(*(ranges[n] for n in family.names)):
        try:
            member = family.at(**dict(zip(family.names, sizes, strict=True)))
        except NetworkError as refusal:
            reason = reason or str(refusal)
            continue
        other = [y for y in member.layers if quadratic(member, y) != (y.index in quadratic_layers(family)) and y.a > 1]
        if other and min(member.d) > 1:  # a width of 1 makes a stream of rank one as well, but meets no conditions
            raise NotCovered(f"a named head width may be 1 before a larger one, which changes the formula: ask for sizes above {least}")
        reason = uncovered(member)
        if overlaps(member):
            reason = "the blocks of the groups overlap: kv * max(a, dv) exceeds the width"
        if any(y.ffn and y.ffn.hidden < y.n for y in member.layers):
            reason = "fewer hidden units than the width"
        if spread(member) and counts:
            reason = "with a named number of heads dv >= a"
        if reason:
            continue
        found = True
        yield member
    if not found:
        raise NotCovered(f"no member of the family meets the conditions: {reason}")


def quadratic_layers(family: Family) -> frozenset[int]:
    """The layers that read a stream of rank one in all members, unless a named head width before them is 1: all layers of
    lightning attention with one token, those after a head width 1 without skip, mask and rope."""
    words, each = set(family.text.split()), _head_widths(family)
    l = len(each)
    if "lightning" not in words:
        return frozenset()
    if family.fields["t"] == (1,):
        return frozenset(range(1, l + 1))
    first = each.index(1) + 1 if 1 in each and not words & {"skip", "causal", "rope"} else l
    return frozenset(range(first + 1, l + 1))


def _head_widths(family: Family) -> tuple[int | str, ...]:
    """a of each layer, as given."""
    d, a = family.fields["d"], family.fields["a"]
    return a * (len(d) - 1 or depth(family)) if len(a) == 1 else a


def depth(family: Family) -> int:
    """l where it is a number, 2 where it is a name, 0 where it is not given."""
    given = family.fields.get("l", (0,))[0]
    return given if isinstance(given, int) else 2


def _refusal(family: Family) -> str | None:
    """What in the description no argument is known for, with the nearest that works; None where sizes decide."""
    fields, words = family.fields, family.text.split()
    named = {f for f, values in fields.items() if any(isinstance(v, str) for v in values)}
    if words[0] == "mlp":
        return "families are covered for attention; ask for a polynomial network by numbers"
    for field, example in (("t", "t=3"), ("window", "window=2")):
        if field in named:
            return f"no argument is known for a free {field}: give a number, as in {example}"
    if "l" in named:
        named_depth = _names(fields["l"])
        if named_depth & {n for f, values in fields.items() if f != "l" for n in _names(values)}:
            return f"{', '.join(named_depth)} names the number of layers and another size: give it a name of its own"
        if not _separable(words, fields) or any(len(values) > 1 for values in fields.values()):
            return "a free l is covered for softmax with skip, three tokens or more and layers that are alike: give a number, as in l=3"
    if len(fields["d"]) == 1 and not 1 <= depth(family) <= MAX_LAYERS:
        return f"the number of layers is missing or not in 1..{MAX_LAYERS}: add l=, as in l=3"
    if "norm=layer" in words:
        return "families with norm=layer are not covered: take norm=rms, or ask for a network by numbers"
    if "ffn" in fields:
        deep = (len(fields["d"]) - 1 or depth(family)) > 1
        sigmoids = all(word.rpartition(":")[2] in ACTIVATIONS for w in words if w.startswith("ffn=") for word in w.split(","))
        if not (_separable(words, fields) and deep and sigmoids and len(fields["ffn"]) == 1):
            return "families with ffn are covered for softmax with skip, one ffn that is silu, gelu or swiglu, three tokens and two layers or more"
        if _names(fields["ffn"]) & {n for f, values in fields.items() if f != "ffn" for n in _names(values)}:
            return "the name of the hidden units stands for nothing else: give it a name of its own"
    if "dv" in fields and any(len(set(fields.get(f, ()))) > 1 for f in ("d", "a", "dv", "heads", "kv")):
        return "with dv all layers must be alike: give one value each"
    heads, kv = fields.get("heads", (1,))[0], fields.get("kv")
    if {"heads", "kv"} & named and kv and (isinstance(heads, int) or multiple(heads)[1] != kv[0]):
        return "the heads of a group must be a number: heads=2h kv=h, or heads=h alone, with keys and values of their own"
    if isinstance(heads, str) and not kv and multiple(heads)[0] > 1:
        return "a multiple of heads is covered with groups: heads=2h kv=h, or heads=h alone"
    a, dv = fields["a"][0], fields.get("dv", (0,))[0]
    numbers = isinstance(a, int) and isinstance(dv, int) and a > dv
    if isinstance(heads, str) and dv and (words[0] == "lightning" or numbers):
        return "lightning heads, and heads with dv < a, are covered up to a given number: give heads a number, as in heads=2"
    rows, widths, counts = ({n for f in fs for n in _names(fields.get(f, ()))} for fs in (("a", "dv"), ("d",), ("heads",)))
    if counts & (rows | widths):
        return f"{', '.join(sorted(counts & (rows | widths)))} names heads and another size: give them names of their own"
    if "dv" in fields and rows & widths:
        return f"{', '.join(sorted(rows & widths))} names a width and a or dv: with dv give them names of their own"
    return None


def _separable(words: list[str], fields: dict[str, tuple[int | str, ...]]) -> bool:
    """Whether several layers come apart, as far as kind, skip, tokens and window say (both are numbers)."""
    tokens = [int(fields[f][0]) for f in ("t", "window") if f in fields]
    return words[0] == "softmax" and "skip" in words and all(n >= LEAST_TOKENS for n in tokens)


def _names(values: tuple[int | str, ...]) -> set[str]:
    return {multiple(v)[1] for v in values if isinstance(v, str)}


def _bounds(family: Family, least: int) -> dict[str, int]:
    """How large the named sizes of the small members are."""
    reason = _refusal(family)
    if reason:
        raise NotCovered(reason)
    fields, a = family.fields, _head_widths(family)
    heads, rows, widths = _names(fields.get("heads", ())), _names((*a, *fields.get("dv", ()))), _names(fields["d"])
    unit = 2 if "rope" in family.text.split() else 1
    forms = {v for i, v in enumerate(a, 1) if i in quadratic_layers(family)}
    doubled = {v for v in forms if isinstance(v, str)}
    others = {v for i, v in enumerate(a, 1) if i not in quadratic_layers(family)} | widths
    if doubled & others or (doubled and "dv" in fields):
        raise NotCovered(
            f"{', '.join(sorted(doubled))} names head widths whose scores are quadratic forms (one token, or behind a=1): "
            "there a name may stand for nothing else, without dv; give a number"
        )
    numbers = [v for f in ("a", "dv") for v in fields.get(f, ()) if isinstance(v, int)]
    start = max([4, least, *numbers, *(2 * v for v in forms if isinstance(v, int))])
    apart = 6 if doubled else 2 * unit
    if "dv" not in fields:
        most = max([start, *(v for v in fields["d"] if isinstance(v, int))]) + apart * len(rows | widths)
        return {n: most // 2 if n in doubled else most for n in family.names}
    rows_bound = start + apart * len(rows)
    groups = fields.get("kv", fields.get("heads", (1,)))[0]
    kv = max(4, least) if isinstance(groups, str) else groups
    width_bound = max(kv * (rows_bound + unit) + 2 * unit, start)
    return {n: kv if n in heads else rows_bound if n in rows else width_bound for n in family.names}


def chart_polynomial(family: Family) -> Polynomial:
    """The number of free entries of the chart as a polynomial in the named sizes, by interpolation on a grid."""
    grid = range(1, DEGREE + 2)
    values = {p: _chart_formula(family, dict(zip(family.names, p, strict=True))) for p in itertools.product(grid, repeat=len(family.names))}
    return _interpolate(values, len(family.names))


def _chart_formula(family: Family, sizes: dict[str, int]) -> int:
    """The formula of `chart_size` in numbers that need not make a network."""
    f = {k: [_size(v, sizes) for v in values] for k, values in family.fields.items()}
    d = f["d"] * (f["l"][0] + 1) if len(f["d"]) == 1 else f["d"]
    l = len(d) - 1

    def each(field: str, default: list[int]) -> list[int]:
        values = f.get(field, default)
        return values * l if len(values) == 1 else values

    heads, words, forms = each("heads", [1]), family.text.split(), quadratic_layers(family)
    bias = next((word.partition("=")[2] for word in words if word.startswith("bias=")), "")
    hidden, gated = (f["ffn"][0], any(word.endswith(":swiglu") for word in words)) if "ffn" in f else (0, False)
    total = 0
    for i, (m, n, a, h, g, v) in enumerate(zip(d, d[1:], each("a", []), heads, each("kv", heads), each("dv", [0]), strict=False)):
        total += h * a * ("q" in bias) + g * a * ("k" in bias and "rope" in words) + hidden * ("u" in bias)
        total += hidden * (2 + gated) * n - hidden * gated
        total += n * (("o" in bias) + ("d" in bias)) + g * (v or n) * ("v" in bias and "o" not in bias)
        total += (h + g) * a * m - g * (a if "rope" in words else a * a)
        total += g * v * m + h * n * v - g * v * v if "dv" in f else g * n * m
        total -= n * n if "skip" not in words and i < l - 1 else 0
        total -= a * (a - 1) if i + 1 in forms else 0
        total -= g if words[0] == "lightning" else 0
    return total


def _size(value: int | str, sizes: dict[str, int]) -> int:
    times, name = multiple(str(value))
    return times * sizes[name] if name else times


def _interpolate(values: dict[tuple[int, ...], int], names: int) -> Polynomial:
    """The polynomial of degree at most `DEGREE` in each name with the given values on the grid 1..DEGREE+1."""
    from fractions import Fraction

    nodes = range(1, DEGREE + 2)
    basis = []  # coefficients of the Lagrange polynomials
    for j in nodes:
        coefficients = [Fraction(1)]
        for k in nodes:
            if k != j:
                shifted = [Fraction(0), *coefficients]
                coefficients = [(s - k * x) / (j - k) for s, x in zip(shifted, [*coefficients, Fraction(0)], strict=True)]
        basis.append(coefficients)
    table: dict[tuple[int, ...], Fraction] = {p: Fraction(v) for p, v in values.items()}
    for axis in range(names):
        turned: dict[tuple[int, ...], Fraction] = {}
        for p, v in table.items():
            for power, c in enumerate(basis[p[axis] - 1]):
                key = (*p[:axis], power, *p[axis + 1 :])
                turned[key] = turned.get(key, Fraction(0)) + c * v
        table = turned
    return {p: int(v) for p, v in table.items() if v}


def polynomial_text(names: tuple[str, ...], polynomial: Polynomial) -> str:
    """A polynomial as text, highest degree first: `48*h*k*n - 24*h*k^2`."""
    pieces = ""
    for powers, coefficient in sorted(polynomial.items(), key=lambda t: (-sum(t[0]), t[1] < 0, tuple(-e for e in t[0]))):
        factors = [n if e == 1 else f"{n}^{e}" for n, e in zip(names, powers, strict=True) if e]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = ("- " if coefficient < 0 else "+ ") if pieces else "-" * (coefficient < 0)
        pieces += f"{' ' * bool(pieces)}{sign}{'*'.join(factors)}"
    return pieces or "0"
