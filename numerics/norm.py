"""Normalisation of the stream, token by token."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .network import EPSILON, Network
from .program import Program


def normalise(p: Program, network: Network, x: int, gain: int | None, shift: int | None) -> int:
    """What attention and ffn read of x (width, t): g x / sqrt(mean(x^2) + eps), for layer about its mean and plus s; x without norm."""
    if network.norm is None or gain is None:
        return x
    width, t = p.shape(x)
    if network.norm == "layer" and width == 1 and shift is not None:  # one coordinate about its mean is 0
        return p.einsum("m,t->mt", shift, p.const(np.ones(t, dtype=int)))
    if network.norm == "layer":
        centre = np.full((width, width), Fraction(-1, width), dtype=object) + np.diag([Fraction(1)] * width)
        x = p.einsum("cm,mt->ct", p.const(centre), x)
    mean_square = p.scale(p.einsum("mt,mt->t", x, x), Fraction(1, width))
    size = p.add(mean_square, p.const(np.array([Fraction(*EPSILON)], dtype=object)))
    y = p.einsum("m,mt->mt", gain, p.einsum("mt,t->mt", x, p.root(size)))
    if shift is None:
        return y
    return p.add(y, p.einsum("m,t->mt", shift, p.const(np.ones(t, dtype=int))))
