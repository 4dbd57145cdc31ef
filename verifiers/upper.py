"""Exact upper bounds: parameters minus the span of symmetry fields at one point, or the dimension of an ambient space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.rank import pivots
from ..numerics.rings import Array, PrimeField
from .reductions import Reduction, reduce
from .symmetries import Field, catalogue


@dataclass(frozen=True)
class UpperBound:
    """A proven upper bound `value` and what proves it; `redundancy` splits parameters - value by symmetry or rewrite."""

    value: int
    rule: str
    reductions: tuple[Reduction, ...]
    reduced: Network
    fields: tuple[Field, ...]
    redundancy: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Any]:
        """The `upper` object of a certificate."""
        made: dict[str, Any] = {
            "rule": self.rule,
            "reductions": [r.to_json() for r in self.reductions],
            "spec": str(self.reduced),
        }
        if self.rule == "fields":
            entries: list[dict[str, Any]] = []
            for f in self.fields:
                if f.to_json() not in entries:
                    entries.append(f.to_json())
            made["fields"] = entries
        return made


def upper_bound(network: Network, seed: int, ring: PrimeField) -> UpperBound:
    """The best proven upper bound the catalogue gives.

    Guaranteed: dimension <= value. Not guaranteed: that a larger set of fields does not exist.
    """
    steps, reduced = reduce(network)
    split: list[tuple[str, int]] = []
    before = network
    for step in steps:
        after = step.apply(before)
        split.append((f"{step.rule} {step.layer}", before.parameters - after.parameters))
        before = after
    fields = tuple(catalogue(reduced))
    spans = field_spans(reduced, fields, Point(seed, ring.p).parameters(reduced), ring)
    split += [(f"{f.name} {f.layer}", n) for f, n in zip(fields, spans, strict=True) if n]
    best = UpperBound(
        reduced.parameters - sum(spans), "fields", steps, reduced,
        tuple(f for f, n in zip(fields, spans, strict=True) if n), _merged(split),
    )  # fmt: skip
    ambient = ambient_dimension(reduced)
    if ambient is not None and ambient < best.value:
        split.append(("ambient space", best.value - ambient))
        best = UpperBound(ambient, "ambient", steps, reduced, (), _merged(split))
    return best


def _merged(split: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    total: dict[str, int] = {}
    for name, n in split:
        total[name] = total.get(name, 0) + n
    return tuple((name, n) for name, n in total.items() if n)


def field_spans(
    network: Network, fields: tuple[Field, ...], point: Mapping[str, Array], ring: PrimeField
) -> list[int]:
    """By how much each field in turn enlarges the span at the point: the sum is the rank mod p, at most the generic span over Q."""
    if not fields:
        return []
    pieces = [f.vectors(network, point, ring) for f in fields]
    owner = np.repeat(np.arange(len(pieces)), [len(v) for v in pieces])
    independent = pivots(np.concatenate(pieces).T, ring).columns
    return [int(n) for n in np.bincount(owner[independent], minlength=len(fields))]


def ambient_dimension(network: Network) -> int | None:
    """The dimension of a linear space of functions that contains the network's, where one is known."""
    if network.kind == "mlp":
        degree = (network.r or 1) ** (network.l - 1)
        return network.d[-1] * comb(network.d[0] + degree - 1, degree)
    plain = not (network.bias or network.rope or network.ffn or network.norm)
    if network.kind != "lightning" or network.l > 1 or not plain:
        return None
    m, n = network.d
    return n * comb(m + 2, 3) if network.sees_itself_only else n * m * comb(m + 1, 2)
