"""Other points of the fiber of theta, away from its symmetry orbit: special points have them, generic ones do not.

Along an orbit the image of the differential stays the same; at these points it need not, and the images together lie in the
tangent space of the Zariski closure at f_theta.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ...numerics.network import Layer, Network
from ...numerics.point import words
from ...numerics.rings import Array
from .alignment import aligned
from .forms import normal_form
from .freedom import Part, free_sets, where
from .linear import echelon, matmul, zeros
from .theta import Theta

SPREAD = 50


def fiber_points(network: Network, theta: Theta, seed: int = 0) -> list[Theta]:
    """Points theta' with f_theta' = f_theta, each verified by equal normal forms; theta itself first.

    Raises `TooLarge` where the normal form of theta cannot be computed. Not guaranteed: that every part of the fiber is met.
    """
    found = [theta]
    for n, move in enumerate((aligned(network, theta), *_moves(network, theta, seed))):
        found.append(move)
        found += [filled(move, s, seed + n) for s in free_sets(network, move)]
    form = normal_form(network, theta)
    return [found[0], *(p for p in found[1:] if normal_form(network, p) == form)]


def filled(theta: Theta, free: tuple[Part, ...], seed: int) -> Theta:
    """Theta with random integers in the free rows and columns."""
    made = dict(theta)
    for part in free:
        value = made[part[0]].copy()
        value[where(part)] = drawn(seed, f"free/{part}", value[where(part)].shape)
        made[part[0]] = value
    return made


def drawn(seed: int, label: str, shape: tuple[int, ...]) -> Array:
    """Integers of at most `SPREAD`, not zero, as fractions."""
    count = math.prod(shape)
    values = [int(w) - SPREAD for w in words(seed, label, count) % np.uint64(2 * SPREAD)]
    made = np.empty(count, dtype=object)
    made[:] = [Fraction(v if v < 0 else v + 1) for v in values]
    return made.reshape(shape)


def _moves(network: Network, theta: Theta, seed: int) -> Iterator[Theta]:
    for layer in network.layers:
        if network.rotates or set(network.bias) & {"q", "k"} or layer.per_group > 1:
            continue
        i = layer.index
        for h in range(layer.heads):
            scores = matmul(theta[f"{i}.K"][h].T, theta[f"{i}.Q"][h])
            for n, (q, k) in enumerate(_factorisations(scores, layer.a, seed)):
                yield _replaced(theta, {f"{i}.Q": (h, q), f"{i}.K": (h, k)})
                if n == 0 and network.kind == "lightning":
                    yield from _swap(theta, layer, h, scores)


def _replaced(theta: Theta, slices: dict[str, tuple[int, Array]]) -> Theta:
    made = dict(theta)
    for name, (index, value) in slices.items():
        made[name] = made[name].copy()
        made[name][index] = value
    return made


def factor(scores: Array, a: int) -> tuple[Array, Array]:
    """Q and K of shape (a, width) with K^T Q = scores, Q in reduced echelon form, the spare rows of both zero."""
    rows, pivots = echelon(scores)
    q, k = zeros(a, scores.shape[1]), zeros(a, scores.shape[0])
    q[: len(rows)] = rows
    k[: len(rows)] = scores[:, list(pivots)].T
    return q, k


def _factorisations(scores: Array, a: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Factorisations of a score matrix: spare rows (rank below a) filled on the query side, on the key side, on both by turns."""
    q, k = factor(scores, a)
    spare = [row for row in range(a) if not any(q[row])]
    yield q, k
    for choice in ("Q", "K", "QK") if spare else ():
        filled = {"Q": q.copy(), "K": k.copy()}
        for n, row in enumerate(spare):
            side = choice[n % len(choice)]
            filled[side][row] = drawn(seed, f"spare/{choice}/{row}", q[row].shape)
        yield filled["Q"], filled["K"]


def _swap(theta: Theta, layer: Layer, head: int, scores: Array) -> Iterator[Theta]:
    """Where V = u v^T and K^T Q = k q^T, the value vector v and the key vector k may change places."""
    values = theta[f"{layer.index}.V"][head]
    v, columns = echelon(values)
    q, keys = echelon(scores)
    if len(v) != 1 or len(q) != 1 or layer.dv is not None:
        return
    u, k = values[:, columns[0]], scores[:, keys[0]]
    new_q, new_k = factor(np.outer(v[0], q[0]), layer.a)
    i = layer.index
    yield _replaced(theta, {f"{i}.V": (head, np.outer(u, k)), f"{i}.Q": (head, new_q), f"{i}.K": (head, new_k)})

