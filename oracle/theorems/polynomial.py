"""Polynomial networks with one hidden layer and one output: sums of powers of linear forms."""

from __future__ import annotations

from math import comb

from ...numerics.network import Network
from .conditions import hypothesis
from .lightning import symmetric_of_rank
from .theorem import PROVED, Theorem

DEFECTIVE = {(3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)}  # (r, d_0, d_1): one less than expected


def sums_of_powers(n: Network) -> int:
    """Dimension of {w_1 (u_1 . x)^r + ... + w_h (u_h . x)^r}, h = d_1."""
    d, h, r = n.d[0], n.d[1], n.r or 1
    if r == 2:
        return symmetric_of_rank(min(h, d), d)
    return min(h * d, comb(d + r - 1, r)) - ((r, d, h) in DEFECTIVE)


ALEXANDER_HIRSCHOWITZ = Theorem(
    id="alexander-hirschowitz",
    statement="One hidden layer of powers and one output: forms that are sums of h powers of linear forms have the expected dimension, but for a list.",
    formula=(
        "min(d_1 d_0, C(d_0 + r - 1, r)), less 1 for (r, d_0, d_1) = (3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14); "
        "r = 2: s d_0 - s (s - 1)/2, s = min(d_1, d_0)"
    ),
    hypotheses=(
        hypothesis("mlp", "a polynomial MLP", lambda n: n.kind == "mlp", "lightning d=3,2,1 a=1 t=2", 10),
        hypothesis("one-hidden-layer", "l = 2", lambda n: n.l == 2, "mlp d=3,3,2,1 r=2", 11),
        hypothesis("one-output", "d_l = 1", lambda n: n.d[-1] == 1, "mlp d=3,2,2 r=2", 8),
    ),
    value=sums_of_powers,
    citation="J. Alexander, A. Hirschowitz, Polynomial interpolation in several variables, J. Algebraic Geometry 4 (1995) 201-222",
    status=PROVED,
)
