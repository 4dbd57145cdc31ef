"""Finite symmetries from fields, and the point of an orbit in which deficient ranks show as zero rows and columns.

A field whose motion has only the words `e X`, `-X e` and `-e' X`, e in gl(n), integrates to X -> g X, X g^-1, g^-T X.
"""

from __future__ import annotations

import numpy as np

from ...numerics.network import Network
from ...numerics.rings import Array
from ..symmetries import Field, catalogue
from .linear import echelon, identity, matmul, rank
from .theta import Theta


def aligned(network: Network, theta: Theta) -> Theta:
    """A point of theta's symmetry orbit, so that f is the same, with rows and columns cleared where ranks are deficient."""
    for field in catalogue(network):
        if field.variable.kind != "gl" or not _linear(field):
            continue
        n = field.variable.shape[0]
        moved = _stacked(field, theta, producers=True)
        if rank(moved) < n:
            theta = act(field, _reducing(moved), theta)
            continue
        moved = _stacked(field, theta, producers=False)
        if rank(moved) < n:
            theta = act(field, inverse(_reducing(moved)).T, theta)
    return theta


def act(field: Field, g: Array, theta: Theta) -> Theta:
    """The finite symmetry of a gl field: g (n x n, invertible) applied to theta."""
    made = dict(theta)
    back = inverse(g)
    for target, word in field.motion.items():
        name, index = _place(target)
        x = _matrix(theta, target)
        new = {"e X": lambda x: matmul(g, x), "-X e": lambda x: matmul(x, back), "-e' X": lambda x: matmul(back.T, x)}[_shape(target, word)](x)
        made[name] = made[name].copy()
        made[name][index] = new.reshape(made[name][index].shape)
    return made


def inverse(matrix: Array) -> Array:
    """The inverse of an invertible matrix."""
    n = len(matrix)
    back: Array = echelon(np.concatenate([matrix, identity(n)], axis=1)).rows[:, n:]
    return back


def _reducing(matrix: Array) -> Array:
    """The invertible g with g @ matrix in reduced echelon form, its zero rows last."""
    n, columns = matrix.shape
    g: Array = echelon(np.concatenate([matrix, identity(n)], axis=1)).rows[:, columns:]
    return g


def _linear(field: Field) -> bool:
    return all(_shape(target, word) in ("e X", "-X e", "-e' X") for target, word in field.motion.items())


def _shape(target: str, word: str) -> str:
    return word.replace(target, "X").replace("-1 X", "-X")


def _place(target: str) -> tuple[str, tuple[int, ...]]:
    name, bracket, rest = target.partition("[")
    return name, (int(rest[:-1]),) if bracket else ()


def _matrix(theta: Theta, target: str) -> Array:
    name, index = _place(target)
    found: Array = theta[name][index]
    return found[:, None] if found.ndim == 1 else found


def _stacked(field: Field, theta: Theta, producers: bool) -> Array:
    """What moves as `e X` (producers) or the other way round, side by side: n rows."""
    found = []
    for target, word in field.motion.items():
        shape = _shape(target, word)
        if (shape == "e X") == producers:
            x = _matrix(theta, target)
            found.append(x.T if shape == "-X e" else x)
    return np.concatenate(found, axis=1)
