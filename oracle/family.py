"""Families: descriptions with named sizes, answered by one polynomial for all sizes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ..numerics.network import NetworkError
from ..numerics.notation import Family, parse_any


@dataclass(frozen=True)
class FamilyAnswer:
    """The dimension of every member of a family that meets `conditions`: a polynomial in the names, or None with the reason.

    `label` is `proven` (the certificate replays) or None. Sizes outside the conditions are not spoken of: ask for them by number.
    """

    spec: str
    dimension: str | None
    label: str | None
    conditions: tuple[str, ...]
    reason: str = ""
    certificate: dict[str, Any] | None = field(default=None, repr=False)
    seconds: float = field(default=0.0, compare=False)

    def to_json(self) -> dict[str, Any]:
        """The object of `dimension --json` for a family; the certificate is not part of it."""
        return {
            "schema": 1, "spec": self.spec, "dimension": self.dimension, "label": self.label,
            "conditions": list(self.conditions), "reason": self.reason, "seconds": round(self.seconds, 6),
        }  # fmt: skip


def family(asked: str | Family, *, seed: int = 0) -> FamilyAnswer:
    """The dimension of all members of a family at once, such as `softmax d=n l=2 a=2 t=3`.

    Guaranteed, where there is an answer: every member that meets the conditions has the dimension that the polynomial gives.
    Not guaranteed: that the formula fails elsewhere. Raises `NetworkError` for text that is no family.
    """
    started = time.monotonic()
    found = parse_any(asked) if isinstance(asked, str) else asked
    if not isinstance(found, Family):
        raise NetworkError(f"{asked!r} has no named sizes: ask for its dimension, or name a size, as in d=n")
    from ..verifiers.coordinates.certify import NotCovered
    from ..verifiers.coordinates.families import family_certificate, quadratic_layers

    try:
        certificate = family_certificate(found, seed)
    except NotCovered as reason:
        return FamilyAnswer(found.text, None, None, (), str(reason), None, time.monotonic() - started)
    claim = certificate["claim"]
    conditions = _conditions(found, claim["least"], certificate["lower"]["base"], quadratic_layers(found))
    seconds = time.monotonic() - started
    return FamilyAnswer(found.text, claim["dimension"], "proven", conditions, "", certificate, seconds)


def _conditions(found: Family, least: int, base: int, forms: frozenset[int]) -> tuple[str, ...]:
    """The conditions of a coordinate certificate in the family's own names, those that always hold left out; `forms`: the
    layers whose scores are quadratic forms."""
    from ..verifiers.coordinates.certify import MAX_SPREAD
    from ..verifiers.coordinates.families import depth

    f = found.fields
    unit = 2 if "rope" in found.text.split() else 1
    d = [str(v) for v in (f["d"] * (depth(found) + 1) if len(f["d"]) == 1 else f["d"])]
    a = [str(v) for v in (f["a"] * (len(d) - 1) if len(f["a"]) == 1 else f["a"])]
    alike = "skip" in found.text.split()
    core = d[1] if len(d) > 2 or alike else f"min({d[0]}, {d[1]})" if d[0] != d[1] else d[0]
    said = [f"{name} >= {least}" for name in found.names if least > 1]
    said += [f"{v} = {core}" for v in (d if alike else d[1:-1]) if v != core]
    said += [f"{core} <= {v}" for v in (d[0], d[-1]) if v != core and len(d) > 2 and not alike]
    said.append(f"{core} >= {max(2, base) * unit}")
    said += [_half(x, core, m == core) for i, (x, m) in enumerate(zip(a, d, strict=False), 1) if i in forms and x != "1"]
    if unit == 2:
        said += [f"{v} even" for v in dict.fromkeys([*a, *d]) if not v.isdigit()]
    if "dv" in f:
        dv, groups = str(f["dv"][0]), str(f.get("kv", f.get("heads", (1,)))[0])
        few = groups == "1" or (groups.isdigit() and int(groups) <= MAX_SPREAD and unit == 1)
        said += [f"{a[0]} <= {dv}"] if a[0] != dv and not few else []
        if unit == 2:  # blocks of whole planes
            said += [f"{dv} even"] * (not dv.isdigit() and dv not in (*a, *d))
            dv = str(int(dv) + int(dv) % 2) if dv.isdigit() else dv
        largest = {*filter(str.isdigit, (a[0], dv))}
        rows = dict.fromkeys([*(x for x in (a[0], dv) if not x.isdigit()), *sorted(largest, key=int)[-1:]])
        row = next(iter(rows)) if len(rows) == 1 else f"max({', '.join(rows)})"
        said.append(f"{_product(groups, row)} <= {d[0]}")
    else:
        said += [f"{x} <= {m}" for i, (x, m) in enumerate(zip(a, d, strict=False), 1) if x != m and i not in forms]
    said += [f"{d[0]} <= {hidden}" for hidden in f.get("ffn", ())]
    return _reduced(said)


def _product(groups: str, row: str) -> str:
    """The coordinates of all blocks.

    >>> _product("3", "2"), _product("h", "4"), _product("1", "k"), _product("h", "max(k, m)")
    ('6', '4*h', 'k', 'h*max(k, m)')
    """
    if groups.isdigit() and row.isdigit():
        return str(int(groups) * int(row))
    return row if groups == "1" else f"{row}*{groups}" if row.isdigit() else f"{groups}*{row}"


def _half(rows: str, core: str, all_of_it: bool) -> str:
    """Two coordinates for each row of a quadratic form; the last row may have one, where the form lives on the core alone.

    >>> _half("2", "q", True), _half("k", "n", True), _half("k", "q", False)
    ('q >= 3', '2*k <= n + 1', '2*k <= q')
    """
    if rows.isdigit():
        return f"{core} >= {2 * int(rows) - all_of_it}"
    return f"2*{rows} <= {core}" + " + 1" * all_of_it


def _reduced(conditions: list[str]) -> tuple[str, ...]:
    """The same conditions, each once, with numbers on the right, only the largest lower bound of a size, and none that always hold.

    >>> _reduced(["q <= p", "q >= 2", "2 <= q", "1 <= 2", "3 <= p"])
    ('q <= p', 'q >= 2', 'p >= 3')
    """
    kept: list[str] = []
    least: dict[str, int] = {}
    for condition in dict.fromkeys(conditions):
        left, _, right = condition.partition(" <= ")
        if left.isdigit() and not right.isdigit():
            left, right, condition = right, left, f"{right} >= {left}"
        elif not right:
            left, _, right = condition.partition(" >= ")
        if left.isdigit() and right.isdigit():
            if _always(condition):
                continue
        elif right == "1" and " >= " in condition:
            continue
        elif right.isdigit() and " >= " in condition:
            least[left] = max(int(right), least.get(left, 0))
            condition = f"{left} >= "
        kept.append(condition)
    return tuple(c + str(least[c[:-4]]) if c.endswith(" >= ") else c for c in dict.fromkeys(kept))


def _always(condition: str) -> bool:
    left, op, right = condition.partition(" ")[0], *condition.partition(" ")[2].partition(" ")[0::2]
    if not (left.isdigit() and right.isdigit()):
        return False
    return int(left) <= int(right) if op == "<=" else int(left) >= int(right)
