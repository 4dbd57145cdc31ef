"""Positions: rotary planes and alibi slopes, with generic angles and slopes."""

from __future__ import annotations

import numpy as np

from .program import Program


def rotate(p: Program, x: int) -> int:
    """Plane (2j, 2j+1) of x (heads, a, t) at position s turned by s*w_j.

    w_j is given by u_j = tan(w_j / 2), so that cos w = (1 - u^2)/(1 + u^2) and sin w = 2u/(1 + u^2) are rational:
    angles are generic, not those of a particular base.
    """
    _, a, t = p.shape(x)
    planes = a // 2
    u = p.generic("rope", (planes,))
    one = p.const(np.ones(planes, dtype=int))
    uu = p.mul(u, u)
    inverse = p.reciprocal(p.add(one, uu))
    c1 = p.mul(p.add(one, p.scale(uu, -1)), inverse)
    s1 = p.mul(p.scale(u, 2), inverse)
    c, s = one, p.const(np.zeros(planes, dtype=int))
    at = np.eye(t, dtype=int)
    plane_of = p.const(np.repeat(np.eye(planes, dtype=int), 2, axis=0))
    cos = sin = p.const(np.zeros((a, t), dtype=int))
    for position in range(t):
        here = p.const(at[position])
        cos = p.add(cos, p.einsum("ap,pt->at", plane_of, p.einsum("p,t->pt", c, here)))
        sin = p.add(sin, p.einsum("ap,pt->at", plane_of, p.einsum("p,t->pt", s, here)))
        if position + 1 < t:
            c, s = p.add(p.mul(c, c1), p.scale(p.mul(s, s1), -1)), p.add(p.mul(s, c1), p.mul(c, s1))
    quarter_turn = np.kron(np.eye(planes, dtype=int), np.array([[0, -1], [1, 0]]))
    turned = p.einsum("ab,hbt->hat", p.const(quarter_turn), x)
    return p.add(p.einsum("at,hat->hat", cos, x), p.einsum("at,hat->hat", sin, turned))


def alibi_shift(p: Program, heads: int, t: int) -> int:
    """m_h (i - j), shape (heads, t, t)."""
    return p.einsum("h,ij->hij", p.generic("alibi-slope", (heads,)), p.const(_offsets(t)))


def alibi_factor(p: Program, heads: int, t: int) -> int:
    """exp(m_h)^(i - j), shape (heads, t, t), for layers whose exponentials are not one unit an entry."""
    step = p.generic("alibi", (heads,))
    back = p.reciprocal(step)
    factor = p.einsum("h,ij->hij", p.const(np.ones(heads, dtype=int)), p.const(np.eye(t, dtype=int)))
    for distance in range(1, t):
        for base, sign in ((step, 1), (back, -1)):
            here = p.const((_offsets(t) == sign * distance).astype(int))
            factor = p.add(factor, p.einsum("h,ij->hij", p.power(base, distance), here))
    return factor


def _offsets(t: int) -> np.ndarray:
    return np.arange(t)[:, None] - np.arange(t)[None, :]
