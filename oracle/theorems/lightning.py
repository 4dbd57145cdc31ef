"""Lightning attention: the source paper's theorems, and one token.

Source paper: N. W. Henry, G. L. Marchetti, K. Kohn, Geometry of Lightning Self-Attention: Identifiability and Dimension,
ICLR 2025 (arXiv 2408.17221).
"""

from __future__ import annotations

from ...numerics.network import Network
from .conditions import (
    full_value,
    hypothesis,
    lightning,
    no_bias,
    no_ffn,
    no_mask,
    no_norm,
    no_rope,
    no_skip,
    one_head,
    one_layer,
    tokens_mix,
)
from .theorem import PROVED, Theorem

PAPER = "Henry, Marchetti, Kohn, Geometry of Lightning Self-Attention: Identifiability and Dimension, ICLR 2025, arXiv 2408.17221"


def matrices_of_rank(r: int, rows: int, columns: int) -> int:
    """Dimension of the variety of rows x columns matrices of rank <= r, for r <= min(rows, columns)."""
    return r * (rows + columns - r)


def symmetric_of_rank(r: int, size: int) -> int:
    """Dimension of the variety of symmetric matrices of rank <= r, for r <= size."""
    return r * size - r * (r - 1) // 2


def value_map(n: Network) -> int:
    """Dimension of the maps W = V, or W = O V of rank <= dv, of a single layer."""
    d, e = n.d[0], n.d[-1]
    rank = min(d, e) if n.dv is None else min(n.dv[0], d, e)
    return matrices_of_rank(rank, e, d)


def single(n: Network) -> int:
    """(2 a d - a^2) + dim W - 1, a <- min(a, d)."""
    d, a = n.d[0], min(n.a[0], n.d[0])
    return matrices_of_rank(a, d, d) + value_map(n) - 1


def single_one_token(n: Network) -> int:
    """(r d - r (r - 1)/2) + dim W - 1, r = min(2 a, d)."""
    d = n.d[0]
    return symmetric_of_rank(min(2 * n.a[0], d), d) + value_map(n) - 1


def bottleneck(n: Network) -> int:
    """The source paper's deep formula without its -l: softmax has no scalings."""
    d0, dl, delta = n.d[0], n.d[-1], n.d[1]
    a = [min(ai, m) for ai, m in zip(n.a, n.d, strict=False)]
    first = 2 * a[0] * d0 - a[0] ** 2
    rest = sum(2 * ai * delta - ai**2 for ai in a[1:])
    return first + delta * (d0 + dl) - delta**2 + rest


def behind_rank_one(n: Network) -> int:
    """The deep formula, where layers after the first with a_i = 1 act by quadratic forms of rank r_i = min(2 a_i, delta)."""
    a = [min(ai, m) for ai, m in zip(n.a, n.d, strict=False)]
    first = a.index(1) + 1 if 1 in a else n.l
    delta = n.d[1]
    lost = sum(
        matrices_of_rank(ai, delta, delta) - symmetric_of_rank(min(2 * ai, delta), delta) for ai in a[first:]
    )
    return bottleneck(n) - lost - n.l


def equal_hidden(n: Network) -> bool:
    """d_1 = ... = d_(l-1)."""
    return len(set(n.d[1:-1])) <= 1


def no_rank_one_before(n: Network) -> bool:
    """No layer with a_i = 1 directly or later before one with a_j >= 2, a_i <- min(a_i, d_(i-1))."""
    a = [min(ai, m) for ai, m in zip(n.a, n.d, strict=False)]
    return not any(x == 1 and max(a[i + 1 :], default=0) >= 2 for i, x in enumerate(a))


SINGLE = Theorem(
    id="lightning-single",
    statement="One lightning layer, at least two tokens that see each other: (V, K^T Q) is determined up to one scalar.",
    formula="2 a d + d d' - a^2 - 1, a <- min(a, d); with dv: d d' becomes r (d + d' - r), r = min(dv, d, d')",
    hypotheses=(
        hypothesis("lightning", "lightning attention", lightning, "softmax d=2,2 a=1 t=2", 7),
        hypothesis("one-layer", "l = 1", one_layer, "lightning d=2,2,2 a=1 t=2", 8),
        hypothesis("tokens-mix", "t >= 2 (and no window=1)", tokens_mix, "lightning d=4,4 a=2 t=1", 25),
        hypothesis("one-head", "one head", one_head, "lightning d=3,3 a=3 t=2 heads=2", 32),
        hypothesis("no-rope", "no rotary positions", no_rope, "lightning d=3,3 a=2 t=3 rope", 18),
        hypothesis("no-bias", "no biases", no_bias, "lightning d=2,2 a=1 t=2 bias=q", 7),
        hypothesis("no-ffn", "no feed-forward block", no_ffn, "lightning d=2,2 a=1 t=2 ffn=1:2", 5),
        hypothesis(
            "no-norm", "no normalisation", no_norm, "lightning d=3,3 a=2 t=2 skip norm=layer", 16,
            harmless="a layer norm with its shift reads d - 1 free coordinates and a constant: again d dimensions",
        ),
    ),
    value=single,
    citation=f"{PAPER} (its single-layer theorem); masks, skip and dv: oracle/theorems/PROOFS.md section 1, which proves all",
    status=PROVED,
)  # fmt: skip

SINGLE_ONE_TOKEN = Theorem(
    id="lightning-one-token",
    statement="One lightning layer whose queries see themselves alone: x -> W x (x^T A x), so only the symmetric part of A = K^T Q acts.",
    formula="r d - r (r - 1)/2 + d d' - 1, r = min(2 a, d); with dv: d d' becomes s (d + d' - s), s = min(dv, d, d')",
    hypotheses=(
        hypothesis("lightning", "lightning attention", lightning, "softmax d=2,2 a=1 t=1", 4),
        hypothesis("one-layer", "l = 1", one_layer, "lightning d=2,2,2 a=1 t=1", 8),
        hypothesis(
            "one-token", "t = 1 (or window=1)", lambda n: not tokens_mix(n), "lightning d=4,4 a=2 t=2", 27
        ),
        hypothesis("one-head", "one head", one_head, "lightning d=3,3 a=1 t=1 heads=2", 26),
        hypothesis("no-bias", "no biases", no_bias, "lightning d=2,2 a=1 t=1 bias=q", 7),
        hypothesis("no-ffn", "no feed-forward block", no_ffn, "lightning d=2,2 a=1 t=1 ffn=1:2", 5),
        hypothesis(
            "no-norm", "no normalisation", no_norm, "lightning d=3,3 a=2 t=1 skip norm=layer", 14,
            harmless="a layer norm with its shift reads d - 1 free coordinates and a constant: again d dimensions",
        ),
    ),
    value=single_one_token,
    citation="oracle/theorems/PROOFS.md section 2",
    status=PROVED,
)  # fmt: skip

DEEP = Theorem(
    id="lightning-deep",
    statement="Deep lightning attention, hidden widths delta <= the outer ones: gauges, hidden bases and one scalar a layer are all symmetries.",
    formula="2 a_1 d_0 - a_1^2 + delta (d_0 + d_l) - delta^2 - l + sum_(i>1) (2 a_i delta - a_i^2), a_i <- min(a_i, d_(i-1))",
    hypotheses=(
        hypothesis("lightning", "lightning attention", lightning, "softmax d=2,2,2 a=1 t=2", 10),
        hypothesis(
            "deep", "l >= 2", lambda n: n.l >= 2, "lightning d=3,2 a=2 t=2", 13,
            harmless="with delta = d_1 it is the formula of lightning-single",
        ),
        hypothesis("equal-hidden", "hidden widths equal", equal_hidden, "lightning d=4,3,2,4 a=2 t=3", 34),
        hypothesis(
            "delta<=d_0", "delta <= d_0", lambda n: max(n.d[1:-1], default=0) <= n.d[0], "lightning d=2,3,3 a=2 t=3", 12
        ),
        hypothesis(
            "delta<=d_l", "delta <= d_l", lambda n: max(n.d[1:-1], default=0) <= n.d[-1], "lightning d=5,4,1 a=1 t=3", 21
        ),
        hypothesis(
            "no-rank-one-first",
            "no layer with a_i = 1 before one with a_j >= 2, a_i <- min(a_i, d_(i-1))",
            no_rank_one_before, "lightning d=2,2,2 a=1,2 t=3", 8,
        ),
        hypothesis("tokens-mix", "t >= 2", tokens_mix, "lightning d=3,3,3 a=2 t=1", 19),
        hypothesis("one-head", "one head a layer", one_head, "lightning d=2,2,2 a=1 t=2 heads=2", 20),
        hypothesis(
            "no-mask", "no causal mask", no_mask, "lightning d=3,3,3 a=2 t=3 causal", 23,
            harmless="the paper has no masks; no failure is known",
        ),
        hypothesis("no-skip", "no skip connections", no_skip, "lightning d=3,3,3 a=2 t=2 skip", 32),
        hypothesis("no-rope", "no rotary positions", no_rope, "lightning d=3,3,3 a=2 t=3 rope", 27),
        hypothesis("no-bias", "no biases", no_bias, "lightning d=2,2,2 a=1 t=2 bias=q", 10),
        hypothesis("no-ffn", "no feed-forward blocks", no_ffn, "lightning d=2,2,2 a=1 t=2 ffn=2:2", 12),
        hypothesis("full-value", "no dv", full_value, "lightning d=3,3,3 a=2 t=3 dv=1", 12),
    ),
    value=lambda n: bottleneck(n) - n.l,
    citation=f"{PAPER} (its dimension formula for deep networks); hypotheses sharpened by counterexamples found here",
    status=PROVED,
)  # fmt: skip

DEEP_RANK_ONE = Theorem(
    id="lightning-deep-rank-one",
    statement="Deep lightning attention in which a layer with a_j = 1 makes the stream one vector times scalars: later layers act by quadratic forms.",
    formula="2 a_1 d_0 - a_1^2 + delta (d_0 + d_l) - delta^2 - l + sum_(1<i<=j) (2 a_i delta - a_i^2) + sum_(i>j) (r_i delta - r_i (r_i - 1)/2), "
    "j the first layer with a_j = 1, r_i = min(2 a_i, delta), a_i <- min(a_i, d_(i-1))",
    hypotheses=(
        hypothesis("lightning", "lightning attention", lightning, "softmax d=2,2,2 a=1,2 t=2", 11),
        hypothesis("equal-hidden", "hidden widths equal", equal_hidden, "lightning d=5,4,2,5 a=1,2,2 t=3", 37),
        hypothesis(
            "delta<=d_0", "delta <= d_0", lambda n: max(n.d[1:-1], default=0) <= n.d[0], "lightning d=2,3,3 a=1,2 t=3", 10
        ),
        hypothesis(
            "delta<=d_l", "delta <= d_l", lambda n: max(n.d[1:-1], default=0) <= n.d[-1], "lightning d=7,6,1 a=1,2 t=2", 40
        ),
        hypothesis(
            "rank-one-first", "a layer with a_j = 1 before one with a_i >= 2", lambda n: not no_rank_one_before(n),
            "lightning d=3,3,3 a=2 t=3", 23,
            harmless="without such a layer it is the formula of lightning-deep",
        ),
        hypothesis("tokens-mix", "t >= 2", tokens_mix, "lightning d=3,3,3,3 a=2,1,2 t=1", 23),
        hypothesis("one-head", "one head a layer", one_head, "lightning d=2,2,2 a=1,2 t=2 heads=2", 20),
        hypothesis("no-mask", "no causal mask", no_mask, "lightning d=2,2,2 a=1,2 t=3 causal", 9),
        hypothesis("no-skip", "no skip connections", no_skip, "lightning d=3,3,3 a=1,2 t=2 skip", 29),
        hypothesis("no-bias", "no biases", no_bias, "lightning d=2,2,2 a=1,2 t=2 bias=q", 11),
        hypothesis("no-ffn", "no feed-forward blocks", no_ffn, "lightning d=2,2,2 a=1,2 t=2 ffn=2:2", 12),
        hypothesis("full-value", "no dv", full_value, "lightning d=3,3,3 a=1,2 t=3 dv=1", 9),
    ),
    value=behind_rank_one,
    citation="oracle/theorems/PROOFS.md section 5, from the source paper's dimension formula for the layers up to j",
    status=PROVED,
)  # fmt: skip
