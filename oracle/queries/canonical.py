"""The normal form of a parameter point, where there is one: one point for each function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...numerics.network import Network, UnsupportedNetwork
from ...numerics.notation import parse
from ...numerics.rings import Array
from ...verifiers.points.fiber_points import factor
from ...verifiers.points.linear import echelon, matmul
from ...verifiers.points.theta import Theta, exact_theta
from .text import tensor_json


@dataclass(frozen=True)
class Canonical:
    """The canonical point of a fiber: `theta` by tensor names, arrays of `Fraction`; `reason` says what was normalised."""

    spec: str
    theta: Theta
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The answer as one JSON object; `theta` can be written to a file for the command line."""
        tensors = {name: tensor_json(value) for name, value in self.theta.items()}
        return {"schema": 1, "spec": self.spec, "theta": tensors, "reason": self.reason}


def canonical(network: str | Network, theta: Mapping[str, Any]) -> Canonical:
    """The one point that stands for all parameters computing f_theta, theta as `exact_theta` takes it.

    For one layer with one head, no dv, rope, biases, ffn or norm, and queries that see another token (skip and masks are allowed).
    Guaranteed: f_canonical = f_theta, and canonical(theta) = canonical(theta') if and only if f_theta = f_theta'.
    Q is in reduced echelon form with spare rows zero, K^T its coefficients. Lightning: the first non-zero entry of V is 1; where V and K^T Q both
    have rank one, value and key vector can change places, and the order that comes first is taken. If V or K^T Q (lightning) or V (softmax)
    is zero, what the function does not read is zero.
    Raises `UnsupportedNetwork` for other networks, where no normal form is known to be unique, `ThetaError` where theta does not fit.

    >>> point = {"1.Q": [[[2, 4]]], "1.K": [[[3, 1]]], "1.V": [[["1/2", 0], [0, 1]]]}
    >>> {name: value.tolist() for name, value in canonical("lightning d=2,2 a=1 t=2", point).theta.items()}["1.Q"]
    [[[Fraction(1, 1), Fraction(2, 1)]]]
    """
    if isinstance(network, str):
        network = parse(network)
    _check(network)
    point = exact_theta(network, theta)
    values, scores = point["1.V"][0], matmul(point["1.K"][0].T, point["1.Q"][0])
    reason = "K^T Q factored in reduced echelon form"
    if not values.any() or (network.kind == "lightning" and not scores.any()):
        values, scores = values * Fraction(0), scores * Fraction(0)
        reason = "the zero function" if not network.skip else "the identity function"
    elif network.kind == "lightning":
        values, scores = _rank_one_order(values, scores)
        first = next(v for v in values.reshape(-1) if v)
        values, scores = values * (1 / first), scores * first
        reason += ", the first non-zero entry of V scaled to 1"
    q, k = factor(scores, network.a[0])
    return Canonical(str(network), {"1.Q": q[None], "1.K": k[None], "1.V": values[None]}, reason)


def _check(network: Network) -> None:
    bad = {
        "kind": network.kind == "mlp", "layers": network.l > 1, "heads": network.heads != (1,), "dv": network.dv is not None,
        "rope": network.rope, "bias": bool(network.bias), "ffn": network.ffn is not None, "norm": network.norm is not None,
        "t": network.sees_itself_only,
    }  # fmt: skip
    for field, found in bad.items():
        if found:
            message = (
                f"{network}: no normal form that is unique is known here ({field}); there is one for one layer with one head,"
                " t >= 2, without dv, rope, bias, ffn and norm. `equivalent` compares two points of any network"
            )
            raise UnsupportedNetwork(field, message)


def _rank_one_order(values: Array, scores: Array) -> tuple[Array, Array]:
    """V = u v^T and K^T Q = k q^T also compute u k^T and v q^T: the order in which the normalised v comes first."""
    v, v_pivots = echelon(values)
    q, q_pivots = echelon(scores)
    if len(v) != 1 or len(q) != 1:
        return values, scores
    u, k = values[:, v_pivots[0]], scores[:, q_pivots[0]]
    normal = k * (1 / next(c for c in k if c))
    if tuple(normal) < tuple(v[0]):
        return np.outer(u, k), np.outer(v[0], q[0])
    return values, scores
