"""Transformer stacks with skip connections in one formula: GPT-2-like, Llama-like, plain softmax and lightning (conjectured).

dimension = parameters - (redundancy of every layer, `blocks`) - (constants that move along the stream, `constants`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ...numerics.network import Network
from . import blocks, constants
from .conditions import hypothesis, lightning, no_bias, softmax, tokens_mix, visible_tokens
from .theorem import CONJECTURE, Redundancy, Theorem

MOVED = "constants moved along the stream"

PER_LAYER = (
    "per layer and group of q heads: queries and keys a (c_k + q c_q - a), a <- min(a, c_k) (rope: a (c_k + q c_q - 1)), "
    "values dv (c_v + q d - dv), dv <- min(dv, c_v, q d) (without dv: d c_v)"
)


def redundancy(n: Network) -> Redundancy:
    """Parameters - dimension, split by symmetry; only symmetries that occur."""
    total: Counter[str] = Counter()
    for y in n.layers:
        total += blocks.layer_redundancy(n, y)
    if n.kind == "softmax":
        total[MOVED] += constants.pushed(n)
    return tuple((symmetry, count) for symmetry, count in total.items() if count)


def dimension(n: Network) -> int:
    """Parameters less all redundancy."""
    return n.parameters - sum(count for _, count in redundancy(n))


def free_width(n: Network) -> int:
    """The dimension of what the layers read: d, or d - 1 behind a layer norm."""
    return n.d[0] - (n.norm == "layer")


def narrow_rotated_heads(n: Network) -> bool:
    """With rope: a no larger than what the layers read."""
    return not n.rope or max(n.a) <= free_width(n)


def enough_distances(n: Network) -> bool:
    """With rope and a causal mask: some query sees three tokens, so that two distances occur between different tokens."""
    return not (n.rope and n.causal) or visible_tokens(n) >= 3


def few_power_units(n: Network) -> bool:
    """Hidden units with a power: r >= 2, and no more of them than coordinates that they read."""
    powers = [f for f in n.ffn or () if f.power is not None]
    return all((f.power or 0) >= 2 and f.hidden <= free_width(n) for f in powers)


def value_biases_fill(n: Network) -> bool:
    """Without norm, value biases without an output bias: the heads together write every direction."""
    if n.norm is not None or "v" not in n.bias or "o" in n.bias:
        return True
    return all(y.dv is None or y.kv * y.dv >= y.n for y in n.layers)


def few_heads(n: Network) -> bool:
    """heads max(a, dv) <= d, or kv a <= d without dv; d - 1 for d behind a layer norm."""
    return all((y.kv * y.a if y.dv is None else y.heads * max(y.a, y.dv)) <= free_width(n) for y in n.layers)


SOFTMAX = Theorem(
    id="softmax-stack",
    statement=(
        "Softmax transformer blocks with skip connections (any heads, grouped or not, masks, rope, biases, norms, feed-forward): "
        "gauges, dead biases, absorbed gains, rescaled hidden units and moved constants are all symmetries."
    ),
    formula=(
        f"{PER_LAYER}, constants d (bias o) or min(d, kv dv) (only v), hidden unit d + c_u - 1 (power), d + c_u (silu, gelu), "
        "2 d + c_u - 1 (swiglu), gains and shifts 0; c = d and 1 for a bias (keys: only with rope), behind a layer norm c_q = c_u = d, "
        "c_v = d - 1, c_k = d with rope, d - 1 without; less the moved constants"
    ),
    hypotheses=(
        hypothesis("softmax", "softmax attention", softmax, "lightning d=3,3 a=1 t=2 skip", 13),
        hypothesis("skip", "skip connections", lambda n: n.skip, "softmax d=3,3,3 a=2 t=2", 25),
        hypothesis("tokens-mix", "t >= 2 (and no window=1)", tokens_mix, "softmax d=3,3 a=2 t=1 skip", 9),
        hypothesis(
            "width", "d >= 2", lambda n: n.d[0] >= 2, "softmax d=1,1 a=1 t=2 skip norm=rms", 2,
            harmless="no failure is known but behind a layer norm, which makes a single coordinate 0",
        ),
        hypothesis(
            "narrow-rotated-heads", "with rope: a <= d (d - 1 behind a layer norm)",
            narrow_rotated_heads, "softmax d=2,2 a=4 t=3 skip causal rope", 15,
        ),
        hypothesis(
            "enough-distances", "with rope and a causal mask: some query sees three tokens",
            enough_distances, "softmax d=4,4 a=4 t=2 skip causal rope", 42,
        ),
        hypothesis(
            "value-biases-fill", "value biases without output bias or norm: no dv, or kv dv >= d",
            value_biases_fill, "softmax d=2,2,2 a=2 t=3 dv=1 skip bias=qv", 20,
        ),
        hypothesis(
            "few-power-units", "hidden units with a power r: r >= 2, at most d of them (d - 1 behind a layer norm)",
            few_power_units, "softmax d=2,2 a=1 t=2 skip ffn=3:2", 13,
        ),
    ),
    value=lambda n: dimension(replace(n, kind="softmax")),
    citation="own conjecture; tests/oracle/test_theorems_stacks.py checks it against exact ranks",
    status=CONJECTURE,
    redundancy=redundancy,
)  # fmt: skip

LIGHTNING = Theorem(
    id="lightning-stack",
    statement=(
        "Lightning transformer blocks with skip connections and few heads: as softmax, and the heads of a group mix by GL(q), "
        "which contains the rescaling of values; without dv only the sum of a group's queries acts."
    ),
    formula=(
        f"{PER_LAYER}, less q^2 (without dv: q <- 1), hidden unit 2 d - 1 (power), 2 d (silu, gelu), 3 d - 1 (swiglu), gains and shifts 0; c = d"
    ),
    hypotheses=(
        hypothesis("lightning", "lightning attention", lightning, "softmax d=3,3 a=1 t=2 skip", 14),
        hypothesis("skip", "skip connections", lambda n: n.skip, "lightning d=3,3,3 a=2 t=2", 23),
        hypothesis("tokens-mix", "t >= 2 (and no window=1)", tokens_mix, "lightning d=3,3 a=2 t=1 skip", 14),
        hypothesis(
            "width", "d >= 2", lambda n: n.d[0] >= 2, "lightning d=1,1 a=1 t=2 skip norm=rms", 1,
            harmless="no failure is known but behind a layer norm, which makes a single coordinate 0",
        ),
        hypothesis("no-bias", "no biases", no_bias, "lightning d=3,3 a=1 t=2 skip bias=vo", 19),
        hypothesis(
            "few-heads", "heads max(a, dv) <= d; without dv: kv a <= d (d - 1 behind a layer norm)",
            few_heads, "lightning d=3,3 a=3 t=2 heads=2 skip", 32,
        ),
        hypothesis(
            "enough-distances", "with rope and a causal mask: some query sees three tokens",
            enough_distances, "lightning d=4,4 a=4 t=2 skip causal rope", 41,
        ),
        hypothesis(
            "few-power-units", "hidden units with a power r: r >= 2, at most d of them (d - 1 behind a layer norm)",
            few_power_units, "lightning d=2,2 a=1 t=2 skip ffn=3:2", 12,
        ),
    ),
    value=lambda n: dimension(replace(n, kind="lightning")),
    citation="own conjecture; tests/oracle/test_theorems_stacks.py checks it against exact ranks",
    status=CONJECTURE,
    redundancy=redundancy,
)  # fmt: skip
