"""Exact upper bounds: parameters minus the span of symmetry fields at one point, or the dimension of an ambient space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from ..numerics.network import Network
from ..numerics.point import Point
from ..numerics.rings import Array, PrimeField
from . import span
from .attention_space import attention_dimension
from .blocks import Block, blocks
from .coordinates.certify import chart_redundancy, chart_size
from .defects import forms_dimension
from .reductions import Reduction, free_scores, reduce
from .symmetries import Field, LinearBlocks, Null, catalogue, linear, nulls
from .symmetries import free_scores as free
from .symmetries.found import Found

Symmetry = Field | Null | Block | LinearBlocks | Found
MAX_DEGREE = 1_000  # of a network of one token that is looked at


@dataclass(frozen=True)
class UpperBound:
    """A proven upper bound `value` and what proves it; `redundancy` splits parameters - value by symmetry or rewrite.

    `frozen` names the tensors that are identities at the point where the fields' span is taken; `narrowed` is the network after
    the rewrites that only remove parameters: it computes the same functions. `gauge`: parameters of `reduced` along which the
    fields are independent at the point.
    """

    value: int
    rule: str
    reductions: tuple[Reduction, ...]
    reduced: Network
    fields: tuple[Symmetry, ...]
    redundancy: tuple[tuple[str, int], ...]
    narrowed: Network
    frozen: tuple[str, ...] = ()
    gauge: tuple[int, ...] = ()

    @property
    def spare_columns(self) -> tuple[int, ...]:
        """Columns of the Jacobian of `narrowed` at the seed's point that the fields make combinations of the others."""
        return self.gauge if self.reduced == self.narrowed and not self.frozen else ()

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
            made |= {"frozen": list(self.frozen), "fields": entries}
        return made


def upper_bound(network: Network, seed: int, ring: PrimeField) -> UpperBound:
    """The best proven upper bound the catalogue gives.

    Guaranteed: dimension <= value. Not guaranteed: that a larger set of fields does not exist.
    """
    return min(upper_bounds(network, seed, ring), key=lambda bound: bound.value)


def upper_bounds(network: Network, seed: int, ring: PrimeField) -> Iterator[UpperBound]:
    """The bounds that the catalogue gives: of the network's own fields or ambient space, then with free scores, which may take longer."""
    steps, reduced = reduce(network)
    own = _by_fields(network, steps, reduced, (), seed, ring)
    ambient = ambient_dimension(reduced)
    if ambient is not None and ambient < own.value:
        split = (*rewriting(network, steps), ("ambient space", reduced.parameters - ambient))
        own = UpperBound(ambient, "ambient", steps, reduced, (), _merged(split), reduced)
    yield own
    widened, wide, layers = free_scores(reduced)
    if layers:
        yield replace(_by_fields(network, steps + widened, wide, layers, seed, ring), narrowed=reduced)


def chart_bound(network: Network) -> UpperBound:
    """The bound of a network of any size: the free entries of the chart, where the network after the rewrites has one (`uncovered` finds nothing)."""
    steps, narrowed = reduce(network)
    split = (*rewriting(network, steps), *chart_redundancy(narrowed))
    return UpperBound(chart_size(narrowed), "chart", steps, narrowed, (), split, narrowed)


def with_found(network: Network, bound: UpperBound, found: Sequence[Found], seed: int, ring: PrimeField) -> UpperBound:
    """The better one of a bound and what fields found for `bound.narrowed` and the catalogue give together."""
    better = _by_fields(network, reduce(network)[0], bound.narrowed, (), seed, ring, found)
    return better if better.value < bound.value else bound


def _by_fields(
    network: Network,
    steps: tuple[Reduction, ...],
    reduced: Network,
    layers: tuple[int, ...],
    seed: int,
    ring: PrimeField,
    more: Sequence[Found] = (),
) -> UpperBound:
    point = free.freeze(reduced, layers, Point(seed, ring.p).parameters(reduced))
    frozen = tuple(name for i in layers for name in free.frozen(reduced, reduced.layers[i - 1]))
    found = symmetry_motions(reduced, point, seed, ring, layers)
    found += [(f, span.split(f.vectors(reduced, point, ring), reduced)) for f in more]
    fields = [f for f, _ in found]
    spans, gauge = span.span_in_turn(reduced, [m for _, m in found], ring)
    split = rewriting(network, steps) + [(f"{f.name} {f.layer}", n) for f, n in zip(fields, spans, strict=True)]
    used = tuple(f for f, n in zip(fields, spans, strict=True) if n)
    return UpperBound(reduced.parameters - sum(spans), "fields", steps, reduced, used, _merged(split), reduced, frozen, tuple(gauge))


def symmetry_motions(
    network: Network, point: Mapping[str, Array], seed: int, ring: PrimeField, free_layers: tuple[int, ...] = ()
) -> list[tuple[Symmetry, span.Moved]]:
    """All known symmetries of the network that count at the point, with their vectors there by the tensors that move."""
    found: list[tuple[Symmetry, span.Moved]] = []
    for symmetry in _symmetries(network, free_layers):
        if isinstance(symmetry, Field):
            found.append((symmetry, symmetry.moved(network, point, ring)))
            continue
        more = {"seed": seed} if isinstance(symmetry, Block) else {}
        vectors = symmetry.vectors(network, point, ring, **more)
        if vectors is not None:  # these count only where the point is general enough
            found.append((symmetry, span.split(vectors, network)))
    return found


def symmetries(network: Network, frozen: Sequence[str] = ()) -> list[Symmetry]:
    """All known symmetries of the network at points with these frozen tensors; some count only where the point is general enough."""
    return _symmetries(network, tuple(sorted({int(name.partition(".")[0]) for name in frozen})))


def _symmetries(network: Network, free_layers: tuple[int, ...]) -> list[Symmetry]:
    return [*catalogue(network), *free.fields(network, free_layers), *nulls(network), *blocks(network), *linear.fields(network)]


def rewriting(network: Network, steps: tuple[Reduction, ...]) -> list[tuple[str, int]]:
    """How many parameters each rewrite in turn removes."""
    split = []
    for step in steps:
        after = step.apply(network)
        split.append((f"{step.rule} {step.layer}", network.parameters - after.parameters))
        network = after
    return split


def _merged(split: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    total: dict[str, int] = {}
    for name, n in split:
        total[name] = total.get(name, 0) + n
    return tuple((name, n) for name, n in total.items() if n)


def field_spans(
    network: Network, fields: tuple[Field, ...], point: Mapping[str, Array], ring: PrimeField
) -> list[int]:
    """By how much each field in turn enlarges the span at the point: the sum is the rank mod p, at most the generic span over Q."""
    return span.span_in_turn(network, [f.moved(network, point, ring) for f in fields], ring)[0]


def ambient_dimension(network: Network) -> int | None:
    """The dimension of a linear space of functions that contains the network's, where one is known."""
    if network.kind == "mlp":
        if network.l > 1:
            return forms_dimension(network.d, network.r or 1)
        return network.d[0] * network.d[1]
    if network.norm:
        return None
    linear = network.kind == "softmax" and network.sees_itself_only
    if linear and all(f.power == 1 for f in network.ffn or ()):  # the network is an affine map
        ranks = network.d if not network.skip else network.d[:1]
        if not network.skip:
            ranks += tuple(y.dv * y.kv for y in network.layers if y.dv) + tuple(f.hidden for f in network.ffn or ())
        r, m, n = min(ranks), network.d[0], network.d[-1]
        return r * (m + n - r) + n * bool(set(network.bias) & set("voud"))
    found = [] if network.l > 1 or network.ffn else [attention_dimension(network, network.layers[0])]
    return min((d for d in [*found, _polynomials(network)] if d is not None), default=None)


def _polynomials(network: Network) -> int | None:
    """The polynomials, as many as outputs, of the degree in one token that the network has; None where it has no degree up to `MAX_DEGREE`."""
    powers = [f.power for f in network.ffn or ()]
    if not network.sees_itself_only or None in powers:
        return None
    degree, m, n = 1, network.d[0], network.d[-1]
    for factor in [*(p or 1 for p in powers), *([3] * network.l if network.kind == "lightning" else [])]:
        degree *= factor
        if degree > MAX_DEGREE:
            return None
    if network.skip or network.bias:  # lower degrees, too; constants with biases only
        return int(n * (comb(m + degree, degree) - (not network.bias)))
    return int(n * comb(m + degree - 1, degree))
