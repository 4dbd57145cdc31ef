"""Moving parameters along a symmetry by a finite amount, in floats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...numerics.floats import Floats, uniform
from ...numerics.network import Network
from ...numerics.rings import Array
from ...verifiers.symmetries import Field, catalogue

STEPS = 40
AMOUNT = 0.2


class _Reals(Floats):
    """Floats as the fields want a ring: nothing is reduced."""

    def matmul(self, x: Array, y: Array) -> Array:
        """x @ y."""
        result: Array = np.matmul(x, y)
        return result

    def reduce(self, x: Array) -> Array:
        """x itself."""
        return x


@dataclass(frozen=True)
class Moved:
    """A symmetry by name and place, the parameters that it moves, and the parameters moved along it."""

    name: str
    place: str
    moves: tuple[str, ...]
    params: dict[str, Array]


def moved(network: Network, params: Mapping[str, Array], seed: int) -> Iterator[Moved]:
    """The parameters moved along each symmetry: a random direction of each field, and each exchange of two groups of heads.

    The flow of a field is integrated by 40 Runge-Kutta steps over time 0.2, with an error near 1e-10. Fields along a null
    space, which are taken mod p, are left out.
    """
    for number, field in enumerate(catalogue(network)):
        if field.variable.kind == "null" or not len(field.variable.basis()):
            continue
        direction = uniform(seed, f"symmetry/{number}", (len(field.variable.basis()),))
        yield Moved(field.name, _place(field), tuple(field.motion), flow(network, field, params, direction))
    for layer in () if network.alibi else network.layers:  # with alibi each head has its own slope
        for group in range(layer.kv - 1):
            yield exchanged(network, params, layer.index, group, group + 1)


def _place(field: Field) -> str:
    index = "".join(f", {k} {v}" for k, v in field.index.items())
    return f"layer {field.layer}{index}"


def flow(network: Network, field: Field, params: Mapping[str, Array], direction: Array) -> dict[str, Array]:
    """The parameters moved along a field in a direction (coefficients of its variable's basis) for the time 0.2."""
    shapes = dict(network.parameter_shapes())
    sizes = [math.prod(s) for s in shapes.values()]
    cuts = np.cumsum(sizes)[:-1]
    ring = _Reals()

    def unflat(theta: Array) -> dict[str, Array]:
        return {n: part.reshape(s) for (n, s), part in zip(shapes.items(), np.split(theta, cuts), strict=True)}

    def velocity(theta: Array) -> Array:
        result: Array = direction @ field.vectors(network, unflat(theta), ring)
        return result

    theta = np.concatenate([np.asarray(params[n]).reshape(-1) for n in shapes])
    step = AMOUNT / STEPS
    for _ in range(STEPS):
        k1 = velocity(theta)
        k2 = velocity(theta + step / 2 * k1)
        k3 = velocity(theta + step / 2 * k2)
        k4 = velocity(theta + step * k3)
        theta = theta + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return unflat(theta)


def exchanged(network: Network, params: Mapping[str, Array], index: int, first: int, second: int) -> Moved:
    """Two key/value groups of a layer with all their heads exchanged."""
    layer = network.layers[index - 1]
    groups = np.arange(layer.kv)
    groups[[first, second]] = [second, first]
    heads = np.concatenate([np.array(layer.heads_of(int(g))) for g in groups])
    made = dict(params)
    moves = []
    for short, order in (
        ("Q", heads),
        ("K", groups),
        ("V", groups),
        ("O", heads),
        ("bq", heads),
        ("bk", groups),
        ("bv", groups),
    ):
        name = f"{index}.{short}"
        if name in made:
            made[name] = np.asarray(made[name])[order]
            moves.append(name)
    return Moved("exchange of heads", f"layer {index}, groups {first} and {second}", tuple(moves), made)
