"""Coordinate certificates: the dimension of a network of any size from the ranks of a few tiny blocks (`PROOFS.md`)."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...numerics.forward import record
from ...numerics.network import Ffn, Layer, Network
from ...numerics.rings import DEFAULT_PRIME, NotInvertible, PrimeField
from ..exponents import Draws, draws_json, independent_draws
from ..radicands import radicand_witnesses
from ..reductions import quadratic, reduce
from ..tokens import drops_tokens
from .blocks import block, block_rank
from .depth import comes_apart, parts, shifts
from .types import INPUT, SetType, block_width, core_width, overlaps, read_width, set_types, spread, unit_size, units

SPARE_INPUTS = 3
TOKENS = (2, 3, 4)
FIXED_TOKENS = f"rope or alibi without a causal mask fix the number of tokens, and at most {TOKENS[-1]} are covered: take t <= {TOKENS[-1]}, or causal"
BASES = (0, 1, 2)
MAX_COLUMNS = 1_200  # of the largest block, about: what the checker replays within its budget
REPLAYED_PARAMETERS = 20_000  # the checker's cap, for a network as for a block's small one: only what it can replay counts as proven
MAX_SPREAD = 4  # groups with base units of their own: all of them are in every block
MAX_RADICANDS = 6  # of one input with two tokens: each root exists half of the time


class NotCovered(Exception):
    """No coordinate certificate is known for this network; the message says which condition is in the way."""


def chart_size(network: Network) -> int:
    """The free entries of the gauge-fixed chart: a proven upper bound of the dimension where `uncovered` finds nothing."""
    return network.parameters - sum(removed for _, removed in chart_redundancy(network))


def chart_redundancy(network: Network) -> tuple[tuple[str, int], ...]:
    """The entries that each kind of symmetry fixes in the chart.

    Each group's gauge fixes a^2 entries of its first Q (a with rope: two for each plane) and dv^2 of its first O; without
    skip connections each hidden basis fixes a square of a V; in lightning attention each scaling fixes one entry of a K; each
    hidden unit of a power or swiglu fixes one entry of D; gains are fixed to 1; biases that do nothing, or what bo does, to 0.
    With LayerNorm shifts are fixed to 0, the sum of each row that reads the stream too, and the mean of all but one constant.
    """
    gauge = sum(y.kv * (y.a if network.rotates else y.a**2) for y in network.layers)
    value = sum(y.kv * (y.dv or 0) ** 2 for y in network.layers)
    form = sum(y.a * (y.a - 1) for y in network.layers if quadratic(network, y))
    hidden = 0 if network.skip else sum(y.n**2 for y in network.layers[:-1])
    scaling = sum(y.kv for y in network.layers) if network.kind == "lightning" else 0
    ffn = sum(y.ffn.hidden for y in network.layers if y.ffn and y.ffn.activation not in ("silu", "gelu"))
    gain = sum(y.m + (y.n if y.ffn else 0) for y in network.layers) if network.norm else 0
    key_bias = sum(y.kv * y.a for y in network.layers) if "k" in network.bias and not network.rotates else 0
    value_bias = sum(y.kv * y.value_rows for y in network.layers) if {"v", "o"} <= set(network.bias) else 0
    about_mean = network.norm == "layer"
    rows = sum((y.heads + y.kv) * y.a + y.kv * y.value_rows + (y.ffn.hidden if y.ffn else 0) for y in network.layers)
    constants = sum(1 + bool(y.ffn) for y in network.layers) - 1
    split = (
        ("gauge", gauge), ("symmetric-scores", form), ("value-gauge", value), ("hidden-basis", hidden), ("scaling", scaling),
        ("ffn-scaling", ffn), ("gain", gain), ("shift", about_mean * gain), ("centre", about_mean * rows),
        ("key-bias", key_bias), ("value-bias", value_bias), ("ones", about_mean * constants),
    )  # fmt: skip
    return tuple((name, n) for name, n in split if n)


def uncovered(network: Network) -> str | None:
    """The first condition of a coordinate certificate that fails, in words, or None."""
    alone = parts(network)
    for part in alone:
        reason = _uncovered(part)
        if reason:
            return reason
    if shifts(network) and not network.ffn and "o" not in network.bias and any(map(overlaps, alone)):
        return "the value biases of blocks that overlap are more than the constants they make: add bias o"
    return None


def _uncovered(network: Network) -> str | None:
    unit = unit_size(network)
    if network.norm == "layer" and (reason := _uncovered_about_mean(network)):
        return f"LayerNorm: {reason}"
    if network.kind == "mlp" or (network.kind == "lightning" and (network.ffn or network.norm or network.bias)):
        return "coordinate points are known here for attention, with ffn, norm and bias for softmax only"
    if network.bias and not network.skip:
        return "bias is covered with skip only"
    if network.ffn and not network.skip:
        return "ffn is covered with skip only"
    if any(f.power == 1 for f in network.ffn or ()):
        return "an ffn of power 1 has more symmetries"
    if network.sees_itself_only and (network.kind == "softmax" or network.t > 1 or network.rope):
        return "every token sees itself only"
    if network.norm and 2 * sum(1 + bool(y.ffn) for y in network.layers) > MAX_RADICANDS:
        return "with so many norms the roots of an input exist too seldom mod p"
    if block_columns(network) > MAX_COLUMNS:
        return f"the largest block has about {block_columns(network)} columns, more than the checker replays ({MAX_COLUMNS})"
    core = core_width(network)
    widths = [read_width(network, w) for w in network.d]
    if any(w != core for w in widths[1:-1]) or min(widths[0], widths[-1]) < core:
        return "the hidden widths must be equal, and no larger than d_0 and d_l"
    if core < 2 * unit or any(w % unit for w in network.d):
        return f"the hidden width must be at least {2 * unit}" + (" and widths even" if unit == 2 else "")
    if network.rotates and any(y.kv > 1 for y in network.layers) and len({(y.a, y.dv, y.kv) for y in network.layers}) > 1:
        return "with rope and groups, layers must agree: angles are shared by layers"
    if spread(network):
        few = all(y.kv <= MAX_SPREAD for y in network.layers)
        if network.rope or not few or len({(y.a, y.dv, y.kv) for y in network.layers}) > 1:
            return f"several lightning heads, or groups with dv < a: up to {MAX_SPREAD}, all layers alike, no rope"
    for y in network.layers:
        reason = _uncovered_layer(network, y)
        if reason:
            return f"layer {y.index}: {reason}"
    return None


def _uncovered_about_mean(network: Network) -> str | None:
    if network.kind != "softmax" or network.dv is None or network.rotates:
        return "covered for softmax with dv, without rope"
    if network.l > 1:
        return "covered where layers come apart: at least three tokens, and hidden units that are silu or gelu"
    if any(f.activation not in ("silu", "gelu") for f in network.ffn or ()):
        return "covered with hidden units that are silu or gelu"
    wanted = "qvo" + "ud" * bool(network.ffn)
    if not set(wanted) <= set(network.bias):
        return f"covered with the biases {', '.join(wanted)}, which take up its shift"
    return None


def _uncovered_layer(network: Network, y: Layer) -> str | None:
    if y.heads > 1 and network.kind == "lightning" and (y.per_group > 1 or network.t == 1):
        return "several lightning heads are covered with keys and values of their own, and t >= 2"
    core = core_width(network)
    if quadratic(network, y) and 2 * y.a > core + (y.m == core):
        return f"a={y.a} exceeds half of the width {core}, and its scores are a quadratic form"
    if y.dv is None:
        if y.heads > 1:
            return "several heads need dv"
        return f"a={y.a} exceeds the width {y.m}" if y.a > y.m else None
    if not network.skip:
        return "dv is covered with skip only"
    w, read = block_width(network, y), read_width(network, y.m)
    if w > read:
        return f"max(a, dv) = {w} exceeds the {read} coordinates that are read"
    if y.kv * w > read and (network.kind != "softmax" or network.rotates or (y.dv or 0) < y.a):
        return f"kv * max(a, dv) = {y.kv * w} exceeds the {read} coordinates read: blocks overlap, which is covered for softmax with dv >= a, without rope"
    return None


def token_choices(network: Network) -> list[int]:
    """Token counts whose rank bounds the dimension with t tokens from below, as far as they are tried."""
    if network.t == 1:
        return [1]
    if comes_apart(network):  # one token more, for the zero token
        return [t + 1 for t in token_choices(parts(network)[0]) if not network.window or t < network.window]
    if drops_tokens(network):
        return [t for t in TOKENS if t <= network.t]
    return [network.t] if network.t <= TOKENS[-1] else []


def exponent_witness(network: Network, tokens: int) -> Network:
    """The network that shows exponents and radicands independent for all sizes: one head and hidden unit a layer, width 2, no bias."""
    l, unit = network.l, unit_size(network)
    return replace(
        network, d=(2,) * (l + 1), a=(unit,) * l, heads=(1,) * l, kv=(1,) * l, norm="rms" if network.norm else None,
        dv=(1,) * l if network.dv else None, t=tokens, bias="",
        ffn=tuple(Ffn(1, f.activation) for f in network.ffn) if network.ffn else None,
    )  # fmt: skip


def bases(network: Network) -> list[int]:
    """How many base units to try: lightning needs one; with rope and several groups a base would share planes with other units, and
    blocks that overlap need none."""
    if (network.rotates and any(y.kv > 1 for y in network.layers)) or overlaps(network):
        return [0]
    most = block_width(network, network.layers[0]) if spread(network) else units(network).count(core_width(network))
    fitting = [b for b in BASES if b <= most]
    return fitting[1:] if network.kind == "lightning" else fitting


def block_columns(network: Network) -> int:
    """About how many columns the largest block has: what its cost grows with."""
    if comes_apart(network):
        return max(map(block_columns, parts(network)))
    unit = unit_size(network)
    hidden = sum(3 * unit**2 * (y.ffn.hidden // y.n + 1) for y in network.layers if y.ffn)
    groups = [-(-y.kv * block_width(network, y) // max(read_width(network, y.m), 1)) for y in network.layers]  # tied to one coordinate
    return 2 * (hidden + sum(unit**2 * (2 * y.per_group + 2) * g for y, g in zip(network.layers, groups, strict=True)))


def coordinate_certificate(network: Network, seed: int = 0, deadline: float | None = None) -> dict[str, Any]:
    """A certificate that proves dimension = `chart_size` of the network left after all rewrites that keep its functions.

    Its cost depends on the heads of a group and on how many types there are, and on the depth only where layers do not come
    apart; not on the sizes. Raises `NotCovered` where a condition fails, a block falls short of full column rank, or
    `deadline` (of `time.monotonic`) is past.
    """
    asked = network
    steps, network = reduce(asked)
    reason = uncovered(network)
    if reason:
        raise NotCovered(reason)
    return {
        "format": "neuromanifold-certificate", "version": 1, "spec": str(asked),
        "claim": {"lower": chart_size(network), "upper": chart_size(network)},
        "prime": DEFAULT_PRIME, "seed": seed,
        **coordinate_point([network], seed, deadline),
        "upper": {"rule": "chart", "reductions": [s.to_json() for s in steps], "spec": str(network)},
        "holes": [],
    }  # fmt: skip


def coordinate_point(networks: Sequence[Network], seed: int, deadline: float | None = None) -> dict[str, Any]:
    """The `lower` of a certificate and its side conditions, for networks that differ in sizes only and meet the conditions.

    Raises `NotCovered` as `coordinate_certificate` does.
    """
    ring = PrimeField(DEFAULT_PRIME)
    alone = list(dict.fromkeys(part for network in networks for part in parts(network)))
    short = FIXED_TOKENS
    for tokens in token_choices(networks[-1]):
        apart = comes_apart(networks[-1])
        sides = _side_conditions(alone, tokens, tokens - apart, seed, ring)
        if sides is None:
            short = f"with {tokens} tokens the exponents could not be shown independent"
            continue
        for base in [b for b in BASES if all(b in bases(part) for part in alone)]:
            failed = _short(alone, base, tokens - apart, shifts(networks[-1]), seed, ring, deadline)
            if failed is None:
                lower = {"rule": "coordinates", "tokens": tokens, "base": base, "spare": SPARE_INPUTS}
                return {"lower": {**lower, "layers": "apart"} if apart else lower, **sides}
            short = failed
    raise NotCovered(short)


@functools.lru_cache
def exponent_draws(witness: Network, seed: int, p: int) -> Draws | None:
    """The draws that show the witness's exponents independent: the same for all networks of one structure."""
    return independent_draws(witness, record(witness), seed, PrimeField(p))


def _side_conditions(
    alone: Sequence[Network], tokens: int, kept: int, seed: int, ring: PrimeField
) -> dict[str, Any] | None:
    """What shows exponents (of all tokens) and radicands (of those kept in the blocks) independent, or None where the
    exponents could not be."""
    if alone[0].kind != "softmax":
        return {}
    draws: set[Any] = set()
    witnesses = list(dict.fromkeys(exponent_witness(part, tokens) for part in alone))
    for witness in witnesses:
        found = exponent_draws(witness, seed, ring.p)
        if found is None:
            return None
        draws |= set(found)
    sides = {"exponents": {"draws": draws_json(sorted(draws))}}
    if alone[0].norm:
        first = replace(witnesses[0], t=kept)  # the radicands of a layer alone do not depend on its activation
        radicands = radicand_witnesses(first, record(first), seed, ring)
        if radicands is None:
            raise NotCovered("no witness was found that the norms' radicands are independent non-squares")
        sides["radicands"] = radicands
    return sides


def _short(
    alone: Sequence[Network],
    base: int,
    tokens: int,
    shifted: bool,
    seed: int,
    ring: PrimeField,
    deadline: float | None,
) -> str | None:
    """In what way the first block that does falls short, or None."""
    for network, kind in _types(alone, base):
        if deadline is not None and time.monotonic() > deadline:
            raise NotCovered("no time was left")
        failed = short_block(network, kind, tokens, shifted, seed, ring)
        if failed:
            return failed
    return None


def _types(alone: Sequence[Network], base: int) -> Iterator[tuple[Network, SetType]]:
    """The types of these networks, each once."""
    seen = set()
    for network in alone:
        layers = tuple((y.per_group, y.ffn and y.ffn.activation) for y in network.layers)
        for kind in set_types(network, base):
            if (layers, kind) not in seen:
                seen.add((layers, kind))
                yield network, kind


def blocks_of(network: Network, lower: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The types of the blocks that a certificate's `lower` with the rule `coordinates` is about, and how many columns each has.

    `network` is the one that has the chart. Types of different layers that have one name and as many columns are named once.
    """
    apart = "layers" in lower
    found: dict[tuple[str, int], None] = {}
    for part, kind in _types(parts(network) if apart else [network], lower["base"]):
        small = block(part, kind, lower["tokens"] - apart, apart and shifts(network))
        if small and small.columns.any():
            found[kind.label, int(small.columns.sum())] = None
    return list(found)


def sees_nothing(kind: SetType) -> bool:
    """Whether entries have their support in a set that no output belongs to: query/key rows tied to units of the input only."""
    return set(kind.homes) == {INPUT} and any(t.scores for ties in kind.layers[0] for t in ties)


def short_block(
    network: Network, kind: SetType, tokens: int, shifted: bool, seed: int, ring: PrimeField
) -> str | None:
    """In what way the block of a type falls short of full column rank, or None."""
    if sees_nothing(kind):
        return f"entries of type {kind.label} reach no output of its own"
    small = block(network, kind, tokens, shifted)
    columns = int(small.columns.sum()) if small else 0
    if not small or not columns:
        return None
    if small.network.parameters > REPLAYED_PARAMETERS:
        return f"the block of type {kind.label} has {small.network.parameters} parameters, more than the checker replays ({REPLAYED_PARAMETERS})"
    try:
        found = block_rank(small, seed, f"coordinates/{kind.label}/", SPARE_INPUTS, ring.p)
    except NotInvertible:
        return "a block met a zero denominator at this seed, or roots that exist too seldom"
    if found < columns:
        return f"with {tokens} tokens the block of type {kind.label} has rank {found} of {columns} columns"
    return None
