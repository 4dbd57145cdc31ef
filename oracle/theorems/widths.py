"""All widths: the conjectured formula of one-headed deep attention, lightning and softmax."""

from __future__ import annotations

from itertools import pairwise

from ...numerics.network import Network
from .conditions import (
    full_value,
    hypothesis,
    lightning,
    no_bias,
    no_ffn,
    no_mask,
    no_rope,
    no_skip,
    one_head,
    softmax,
    tokens_mix,
)
from .lightning import matrices_of_rank, symmetric_of_rank
from .theorem import CONJECTURE, Hypothesis, Theorem


def effective_widths(n: Network) -> list[int]:
    """Iterate delta_i <- min(delta_i, delta_(i-1), delta_(i+1) + 2 a_(i+1)), 0 < i < l, to its largest fixed point.

    A width above what feeds it carries no more, and one above its consumers' rows (Q, K and V) acts no more. Two sweeps:
    the bounds from the right (each uses a bound to its right), then those from the left; a bound from the left never
    breaks one from the right, since it lowers delta_i only to delta_(i-1) >= delta_i.
    """
    delta = list(n.d)
    for i in range(n.l - 1, 0, -1):
        delta[i] = min(delta[i], delta[i + 1] + 2 * n.a[i])
    for i in range(1, n.l):
        delta[i] = min(delta[i], delta[i - 1])
    return delta


def lightning_dimension(n: Network) -> int:
    """The general-width formula with the scalings and the rank-one rule."""
    delta = effective_widths(n)
    scores = 0
    rank_one = n.sees_itself_only
    for m, a in zip(delta, n.a, strict=False):
        rank_one = rank_one or m == 1
        scores += symmetric_of_rank(min(2 * a, m), m) if rank_one else matrices_of_rank(min(a, m), m, m)
        rank_one = rank_one or a == 1
    return scores + _chain(delta) - n.l


def softmax_dimension(n: Network) -> int:
    """The general-width formula."""
    delta = effective_widths(n)
    return sum(matrices_of_rank(min(a, m), m, m) for m, a in zip(delta, n.a, strict=False)) + _chain(delta)


def _chain(delta: list[int]) -> int:
    """Dimension of the value matrices up to a basis of every hidden stream."""
    return sum(x * y for x, y in pairwise(delta)) - sum(x * x for x in delta[1:-1])


def _common(softmax: bool) -> tuple[Hypothesis, ...]:
    """The hypotheses that both kinds share; each non-example has two dimensions, lightning's and softmax's."""
    kind = "softmax" if softmax else "lightning"
    mask = (
        hypothesis(
            "no-mask", "no causal mask", no_mask, "softmax d=3,3,3 a=2 t=3 causal", 25,
            harmless="stated without masks; no failure is known",
        )
        if softmax
        else hypothesis("no-mask", "no causal mask", no_mask, "lightning d=2,2,2 a=1,2 t=3 causal", 9)
    )  # fmt: skip
    return (
        mask,
        hypothesis("one-head", "one head a layer", one_head, f"{kind} d=2,2,2 a=1 t=2 heads=2", (20, 24)[softmax]),
        hypothesis("no-skip", "no skip connections", no_skip, f"{kind} d=3,3,3 a=2 t=2 skip", (32, 34)[softmax]),
        hypothesis("no-rope", "no rotary positions", no_rope, f"{kind} d=3,3,3 a=2 t=3 rope", (27, 29)[softmax]),
        hypothesis("no-bias", "no biases", no_bias, f"{kind} d=2,2,2 a=1 t=2 bias=q", (10, 12)[softmax]),
        hypothesis("no-ffn", "no feed-forward blocks", no_ffn, f"{kind} d=2,2,2 a=1 t=2 ffn=2:2", (12, 14)[softmax]),
        hypothesis("full-value", "no dv", full_value, f"{kind} d=3,3,3 a=2 t=3 dv=1", (12, 14)[softmax]),
    )


_WIDTHS = (
    "delta_i <- min(d_i, delta_(i-1), delta_(i+1) + 2 a_(i+1)) for 0 < i < l, a_i <- min(a_i, delta_(i-1)); "
    "sum_i (2 a_i delta_(i-1) - a_i^2) + sum_i delta_i delta_(i-1) - sum_(0<i<l) delta_i^2"
)

LIGHTNING = Theorem(
    id="lightning-widths",
    statement="Deep lightning attention with any widths and any number of tokens: too wide a hidden width is cut to what feeds it or reads it.",
    formula=f"{_WIDTHS} - l; a layer behind rank one (t = 1, an earlier a_j = 1, a width 1): r delta - r (r - 1)/2, r = min(2 a, delta), for 2 a delta - a^2",
    hypotheses=(
        hypothesis("lightning", "lightning attention", lightning, "softmax d=2,2,2 a=1 t=2", 10),
        *_common(softmax=False),
    ),
    value=lightning_dimension,
    citation="own conjecture; exact ranks of 2,422 networks without failure (before this repository), and tests/oracle/test_theorems.py",
    status=CONJECTURE,
)

SOFTMAX = Theorem(
    id="softmax-widths",
    statement="Deep softmax attention with any widths: as lightning-widths, without scalings and without the rank-one rule.",
    formula=_WIDTHS,
    hypotheses=(
        hypothesis("softmax", "softmax attention", softmax, "lightning d=2,2,2 a=1 t=2", 8),
        hypothesis("tokens-mix", "t >= 2", tokens_mix, "softmax d=3,3,3 a=2 t=1", 9),
        *_common(softmax=True),
    ),
    value=softmax_dimension,
    citation="own conjecture; exact ranks of 142 networks without failure (before this repository), and tests/oracle/test_theorems.py",
    status=CONJECTURE,
)
