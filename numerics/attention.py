"""One attention layer: projections, scores, weights, mixing.

    q_h = Q_h x + bq_h,  k_g = K_g x + bk_g,  v_g = V_g x + bv_g,  S_h = k_g^T q_h,  y = sum_h [O_h] v_g P_h + bo
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .network import Layer, Network
from .positions import alibi_factor, alibi_shift, rotate
from .program import Exponentials, Program


def attention(p: Program, network: Network, layer: Layer, params: Mapping[str, int], x: int) -> int:
    """y of shape (n, t) from the stream x of shape (m, t); `params` has the layer's tensors by their short names."""
    weights = _scores(p, network, layer, params, x)
    v = project(p, x, params["V"], params.get("bv"))
    if layer.dv is None:
        if layer.heads > layer.kv:
            weights = p.einsum("hg,hij->gij", _heads_of_groups(p, layer), weights)
        y = p.einsum("gni,gij->nj", v, weights)
    else:
        per_head = p.einsum("hvi,hij->hvj", _to_heads(p, layer, v), weights)
        y = p.einsum("hnv,hvj->nj", params["O"], per_head)
    if "bo" in params:
        y = p.add(y, p.einsum("n,t->nt", params["bo"], _ones(p, network.t)))
    return y


def _heads_of_groups(p: Program, layer: Layer) -> int:
    """The matrix (heads, kv) that says which group a head reads."""
    return p.const(np.array([[int(layer.group_of(h) == g) for g in range(layer.kv)] for h in range(layer.heads)]))


def _to_heads(p: Program, layer: Layer, x: int) -> int:
    """Keys or values of the groups (kv, rows, t), repeated for each head."""
    return x if layer.heads == layer.kv else p.einsum("hg,gai->hai", _heads_of_groups(p, layer), x)


def _scores(p: Program, network: Network, layer: Layer, params: Mapping[str, int], x: int) -> int:
    """P of shape (heads, t, t): row = key i, column = query j."""
    t = network.t
    sees = np.array([[network.sees(i, j) for j in range(t)] for i in range(t)])
    mask = p.const(sees[None].astype(int))
    on_a_line = layer.m == 1 or (layer.m == 2 and network.norm == "layer")
    if network.kind == "softmax" and on_a_line and not network.rotates:
        e = _exponentials_on_a_line(p, network, layer, params, x, sees)
    else:
        q = project(p, x, params["Q"], params.get("bq"))
        k = project(p, x, params["K"], params.get("bk"))
        if network.rotates:
            q, k = rotate(p, q), rotate(p, k)
        s = p.einsum("hai,haj->hij", _to_heads(p, layer, k), q)
        if network.kind == "lightning":
            return s if sees.all() else p.mul(s, mask)
        if network.alibi:
            s = p.add(s, alibi_shift(p, layer.heads, t))
        counted = np.broadcast_to(_competing(sees), (layer.heads, t, t))
        e = p.exp(s, Exponentials(f"{layer.index}.e", counted, normalised=True))
    if not sees.all():
        e = p.mul(e, mask)
    total = p.einsum("hij,i->hj", e, _ones(p, t))
    return p.einsum("hij,hj->hij", e, p.reciprocal(total))


def _exponentials_on_a_line(
    p: Program, network: Network, layer: Layer, params: Mapping[str, int], x: int, sees: np.ndarray
) -> int:
    """exp(z_i' K_g' Q_h z_j) exp(z_i' K_g' (Q_h s + bq_h)), z = x - s: the scores up to a part of the query alone, which cancels.

    All z are multiples of one vector (width one, s = 0; LayerNorm of width two, s its shift), so that the first factor is
    symmetric in i and j, a proved identity between exponents that would otherwise be refused as dependent.
    """
    t = network.t
    ones, constants = _ones(p, t), []
    if "s1" in params:
        x = p.add(x, p.scale(p.einsum("m,t->mt", params["s1"], ones), -1))
        constants.append(p.einsum("ham,m->ha", params["Q"], params["s1"]))
    if "bq" in params:
        constants.append(params["bq"])
    keys = _to_heads(p, layer, project(p, x, params["K"], None))
    competing = _competing(sees)
    counted = np.triu(competing | competing.T)
    e = p.exp(
        p.einsum("hai,haj->hij", keys, project(p, x, params["Q"], None)),
        Exponentials(f"{layer.index}.e", np.broadcast_to(counted, (layer.heads, t, t)), symmetric=True),
    )
    if constants:
        constant = constants[0] if len(constants) == 1 else p.add(*constants)
        occurring = np.broadcast_to(competing.any(axis=1), (layer.heads, t))
        f = p.exp(p.einsum("hai,ha->hi", keys, constant), Exponentials(f"{layer.index}.f", occurring))
        e = p.einsum("hij,hi->hij", e, f)
    return p.mul(e, alibi_factor(p, layer.heads, t)) if network.alibi else e


def _competing(sees: np.ndarray) -> np.ndarray:
    """The (key, query) pairs whose exponential does not cancel: seen, by a query that sees another key too."""
    competing: np.ndarray = sees & (sees.sum(axis=0) > 1)[None, :]
    return competing


def project(p: Program, x: int, matrix: int, bias: int | None) -> int:
    """Each block of a matrix tensor (blocks, rows, m) applied to x (m, t), plus its bias."""
    y = p.einsum("gam,mt->gat", matrix, x)
    if bias is None:
        return y
    return p.add(y, p.einsum("ga,t->gat", bias, _ones(p, p.shape(x)[1])))


def _ones(p: Program, size: int) -> int:
    return p.const(np.ones(size, dtype=int))
