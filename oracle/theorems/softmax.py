"""Softmax attention without feed-forward blocks: one layer and one token (proved here), bottleneck depth (conjectured)."""

from __future__ import annotations

from ...numerics.network import Network
from .conditions import (
    full_value,
    hypothesis,
    no_bias,
    no_ffn,
    no_mask,
    no_norm,
    no_rope,
    no_skip,
    one_head,
    one_layer,
    softmax,
    tokens_mix,
)
from .lightning import PAPER, bottleneck, equal_hidden, matrices_of_rank
from .theorem import CONJECTURE, PROVED, Theorem

GENERAL_PROOF = "arXiv 2610.09620 (2026, a preprint) reports a general proof"


def single(n: Network) -> int:
    """Dimension of {[A | c] of rank <= a} plus dimension of the affine value maps x -> W x + b; see `PROOFS.md` section 3."""
    d, e = n.d[0], n.d[-1]
    columns = d + ("q" in n.bias)
    scores = matrices_of_rank(min(n.a[0], d), d, columns)
    rows = e if n.dv is None else n.dv[0]
    if "o" in n.bias or ("v" in n.bias and n.dv is None):
        return scores + matrices_of_rank(min(rows, d, e), e, d) + e
    columns = d + ("v" in n.bias)
    return scores + matrices_of_rank(min(rows, columns, e), e, columns)


def one_token(n: Network) -> int:
    """Dimension of the products of the layers' value maps, or of the invertible ones with skip."""
    if n.skip:
        return n.d[0] ** 2
    ranks = [y.n if y.dv is None else y.kv * y.dv for y in n.layers]
    return matrices_of_rank(min(*n.d, *ranks), n.d[0], n.d[-1])


SINGLE = Theorem(
    id="softmax-single",
    statement="One softmax layer with one head, at least two tokens that see each other: scores and value map are determined by the function.",
    formula=(
        "a (2 d - a) + d d', a <- min(a, d); bias q: a (2 d + 1 - a); dv: r (d + d' - r), r = min(dv, d, d'), for d d'; "
        "bias o, or v without dv: + d'; bias v with dv, without o: r (d + 1 + d' - r), r = min(dv, d + 1, d')"
    ),
    hypotheses=(
        hypothesis("softmax", "softmax attention", softmax, "lightning d=2,2 a=1 t=2", 6),
        hypothesis("one-layer", "l = 1", one_layer, "softmax d=2,2,2 a=1 t=2", 10),
        hypothesis("tokens-mix", "t >= 2 (and no window=1)", tokens_mix, "softmax d=2,2 a=1 t=1", 4),
        hypothesis("one-head", "one head", one_head, "softmax d=2,2 a=1 t=2 heads=2", 14),
        hypothesis("no-rope", "no rotary positions", no_rope, "softmax d=3,3 a=2 t=3 rope", 19),
        hypothesis("no-ffn", "no feed-forward block", no_ffn, "softmax d=2,2 a=1 t=2 ffn=2:2", 9),
        hypothesis("no-norm", "no normalisation", no_norm, "softmax d=3,3 a=2 t=2 skip norm=layer", 15),
    ),
    value=single,
    citation=f"oracle/theorems/PROOFS.md section 3 (without masks, biases, skip and dv also {PAPER})",
    status=PROVED,
)

ONE_TOKEN = Theorem(
    id="softmax-one-token",
    statement="Softmax attention whose queries see themselves alone is linear: x -> W_l ... W_1 x, with skip x -> (1 + W_l) ... (1 + W_1) x.",
    formula="r (d_0 + d_l - r), r = min over all widths and, with dv, all kv dv; with skip d^2",
    hypotheses=(
        hypothesis("softmax", "softmax attention", softmax, "lightning d=2,2 a=1 t=1", 6),
        hypothesis(
            "one-token", "t = 1 (or window=1)", lambda n: not tokens_mix(n), "softmax d=2,2 a=1 t=2", 7
        ),
        hypothesis("no-bias", "no biases", no_bias, "softmax d=2,2 a=1 t=1 bias=o", 6),
        hypothesis("no-ffn", "no feed-forward block", no_ffn, "softmax d=2,2 a=1 t=1 ffn=2:2", 6),
        hypothesis("no-norm", "no normalisation", no_norm, "softmax d=2,2,2 a=1 t=1 skip norm=rms", 8),
        hypothesis(
            "free-layer", "with skip: some layer without dv, or with kv dv >= d",
            lambda n: not n.skip or any(y.dv is None or y.kv * y.dv >= y.n for y in n.layers),
            "softmax d=2,2 a=1 t=1 dv=1 skip", 3,
        ),
    ),
    value=one_token,
    citation="oracle/theorems/PROOFS.md section 4",
    status=PROVED,
)  # fmt: skip

DEEP = Theorem(
    id="softmax-deep",
    statement="Deep softmax attention with hidden widths delta no larger than the outer ones: as lightning, without the scalings.",
    formula="2 a_1 d_0 - a_1^2 + delta (d_0 + d_l) - delta^2 + sum_(i>1) (2 a_i delta - a_i^2), a_i <- min(a_i, d_(i-1))",
    hypotheses=(
        hypothesis("softmax", "softmax attention", softmax, "lightning d=2,2,2 a=1 t=2", 8),
        hypothesis(
            "deep", "l >= 2", lambda n: n.l >= 2, "softmax d=3,2 a=2 t=2", 14,
            harmless="with delta = d_1 it is the formula of softmax-single",
        ),
        hypothesis("equal-hidden", "hidden widths equal", equal_hidden, "softmax d=4,3,2,4 a=2 t=3", 37),
        hypothesis(
            "delta<=d_0", "delta <= d_0", lambda n: max(n.d[1:-1], default=0) <= n.d[0], "softmax d=2,3,3 a=2 t=3", 14
        ),
        hypothesis(
            "delta<=d_l", "delta <= d_l", lambda n: max(n.d[1:-1], default=0) <= n.d[-1], "softmax d=5,4,1 a=1 t=3", 23
        ),
        hypothesis("tokens-mix", "t >= 2", tokens_mix, "softmax d=3,3,3 a=2 t=1", 9),
        hypothesis("one-head", "one head a layer", one_head, "softmax d=2,2,2 a=1 t=2 heads=2", 24),
        hypothesis(
            "no-mask", "no causal mask", no_mask, "softmax d=3,3,3 a=2 t=3 causal", 25,
            harmless="stated without masks; no failure is known",
        ),
        hypothesis("no-skip", "no skip connections", no_skip, "softmax d=3,3,3 a=2 t=2 skip", 34),
        hypothesis("no-rope", "no rotary positions", no_rope, "softmax d=3,3,3 a=2 t=3 rope", 29),
        hypothesis("no-bias", "no biases", no_bias, "softmax d=2,2,2 a=1 t=2 bias=q", 12),
        hypothesis("no-ffn", "no feed-forward blocks", no_ffn, "softmax d=2,2,2 a=1 t=2 ffn=2:2", 14),
        hypothesis("full-value", "no dv", full_value, "softmax d=3,3,3 a=2 t=3 dv=1", 14),
    ),
    value=bottleneck,
    citation=f"conjectured in {PAPER}; {GENERAL_PROOF}",
    status=CONJECTURE,
)  # fmt: skip
