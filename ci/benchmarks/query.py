"""A whole proof with certificate, against the usual method (the autograd Jacobian at random points, its SVD, the best of five) and Macaulay2."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import others
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import DEFAULT_PRIME
from neuromanifold.verifiers.certificate import prove_bounds
from neuromanifold.verifiers.coordinates.blocks import block_rank
from neuromanifold.verifiers.coordinates.certify import exponent_draws
from table import Table, side_by_side

SMALL = "softmax d=10,10,10 a=2 t=3"
OTHER_SIZES = ("softmax d=9,9,9 a=2 t=3", "softmax d=11,11,11 a=2 t=3", "softmax d=10,10,10 a=3 t=3", SMALL)
NEAR_1000 = (
    "softmax d=12,12,12 a=3 t=3 skip dv=3 heads=3 ffn=8:silu",
    "lightning d=20,20,20 a=8 t=3",
    "softmax d=23,23,23 a=6 t=3 bias=o",  # a direct proof: no coordinate certificate
)
POLYNOMIAL = ("lightning d=3,3 a=2 t=2", "lightning d=2,2,2 a=1 t=2")  # larger ones take Macaulay2 minutes
PROGRAM = str(Path(sys.executable).with_name("neuromanifold"))
SOURCE_INPUTS = 250  # the settings of the usual method's source
TRIALS = 5
SCALE = 0.3  # of parameters at the best settings that we know: at 1 the softmax saturates, and few inputs show too small a rank


def measure(rounds: int, quick: bool) -> list[Table]:
    """The small network against floats, polynomial ones against Macaulay2, networks near 1000 dimensions against FLINT's rank of a matrix of that size."""
    return [
        _floats(rounds if not quick else 2, quick),
        *(_macaulay2(spec, min(rounds, 5)) for spec in POLYNOMIAL[: 1 if quick else 2] if others.find("Macaulay2")),
        *(_flint(spec, min(rounds, 5)) for spec in NEAR_1000[: 1 if quick else 3]),
    ]


def _floats(rounds: int, quick: bool) -> Table:
    network = parse(SMALL)
    dimension = _unseen(network)
    enough = 2 * dimension // (network.t * network.d[-1]) + 2
    sizes = itertools.cycle([parse(s) for s in OTHER_SIZES])
    things: dict[str, Callable[[], object]] = {
        "proof with certificate": lambda: prove_bounds(next(sizes)),
        "the same, of a structure never seen": lambda: _unseen(network),
    }
    for name, module, method in (("jax", "jax", _jax), ("PyTorch", "torch", _torch)):
        if library := others.find(module):
            usual = functools.partial(_usual, network, method(network, library))
            if not quick:
                things[f"{name} jacrev, SVD, best of {TRIALS}, {SOURCE_INPUTS} inputs"] = functools.partial(usual, SOURCE_INPUTS, TRIALS, 1.0)
            things[f"{name} jacrev, SVD, once, {enough} inputs, small theta"] = functools.partial(usual, enough, 1, SCALE)
    title = f"{SMALL} and other sizes of its structure in turn: dimension {dimension}; {rounds} rounds side by side, warm"
    return side_by_side(title, things, rounds)


def _unseen(network: Network) -> int:
    """The lower bound of a proof with nothing remembered of the structure's blocks."""
    block_rank.cache_clear()
    exponent_draws.cache_clear()
    return prove_bounds(network).lower


def _usual(network: Network, singular_values: Callable[[Any, Any], Any], inputs: int, trials: int, scale: float) -> int:
    """The largest numerical rank over random points, parameters `scale` times normal ones."""
    generator = np.random.default_rng(0)
    best = 0
    for _ in range(trials):
        theta = {name: scale * generator.standard_normal(shape) for name, shape in network.parameter_shapes()}
        values = singular_values(theta, generator.standard_normal((inputs, network.d[0], network.t)))
        best = max(best, int((values > values[0] * 1e-10).sum()))
    return best


def _forward(network: Network, softmax: Callable[[Any, int], Any]) -> Callable[[Any, Any], Any]:
    """Plain softmax attention, as one would write it."""

    def forward(theta: Any, x: Any) -> Any:
        for i in range(1, network.l + 1):
            q, k, v = (theta[f"{i}.{name}"][0] for name in "QKV")
            x = v @ x @ softmax((k @ x).T @ (q @ x), 0)
        return x

    return forward


def _jax(network: Network, jax: Any) -> Callable[[Any, Any], Any]:
    """The Jacobian's singular values; jitted once for each number of inputs, batched over inputs."""
    forward = _forward(network, jax.nn.softmax)

    @jax.jit
    def singular_values(theta: Any, inputs: Any) -> Any:
        blocks = jax.vmap(jax.jacrev(forward), (None, 0))(theta, inputs)
        rows = len(inputs) * network.d[-1] * network.t
        return jax.numpy.linalg.svd(jax.numpy.concatenate([b.reshape(rows, -1) for b in blocks.values()], axis=1), compute_uv=False)

    def run(theta: Any, inputs: Any) -> Any:
        with jax.enable_x64(True):
            return np.asarray(singular_values(theta, inputs))

    return run


def _torch(network: Network, torch: Any) -> Callable[[Any, Any], Any]:
    """The same, eagerly."""
    jacobian = torch.func.vmap(torch.func.jacrev(_forward(network, torch.softmax)), (None, 0))

    def run(theta: Any, inputs: Any) -> Any:
        blocks = jacobian({name: torch.from_numpy(value) for name, value in theta.items()}, torch.from_numpy(inputs))
        rows = len(inputs) * network.d[-1] * network.t
        return torch.linalg.svdvals(torch.cat([b.reshape(rows, -1) for b in blocks.values()], dim=1)).numpy()

    return run


def _macaulay2(spec: str, rounds: int) -> Table:
    network = parse(spec)
    script = others.find("Macaulay2")
    d, a = (f"{{{','.join(map(str, sizes))}}}" for sizes in (network.d, network.a))
    command = [PROGRAM, "dimension", spec, "--require", "proven", "--no-store"]
    things: dict[str, Callable[[], object]] = {
        "proof with certificate, nothing remembered": lambda: _unseen(network),
        "neuromanifold dimension, a fresh process": lambda: subprocess.run(command, capture_output=True, check=True),
        "Macaulay2 that loads its package, a fresh process": script,
        "Macaulay2 with numericalImageDim, a fresh process": lambda: int(script(d, a, str(network.t))),
    }
    return side_by_side(f"{spec}, a polynomial map theta -> coefficients: dimension {_unseen(network)}; {rounds} rounds side by side", things, rounds)


def _flint(spec: str, rounds: int) -> Table:
    network = parse(spec)
    dimension = _unseen(network)
    things: dict[str, Callable[[], object]] = {"proof with certificate, nothing remembered": lambda: _unseen(network)}
    if flint := others.find("flint"):
        drawn = np.random.default_rng(0).integers(0, DEFAULT_PRIME, dimension**2).tolist()
        things = {"rank mod p of that size, FLINT": flint.nmod_mat(dimension, dimension, drawn, DEFAULT_PRIME).rank, **things}
    return side_by_side(f"{spec}: dimension {dimension}; {rounds} rounds side by side, warm", things, rounds)
