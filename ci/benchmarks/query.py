"""A whole proof with certificate, against the usual method: the autograd Jacobian at random points, its SVD, the best of five."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import DEFAULT_PRIME
from neuromanifold.verifiers.certificate import Proof, prove_bounds
from neuromanifold.verifiers.coordinates.blocks import block_rank
from neuromanifold.verifiers.coordinates.certify import exponent_draws
from table import Table, side_by_side

SMALL = "softmax d=10,10,10 a=2 t=3"
OTHER_SIZES = ("softmax d=9,9,9 a=2 t=3", "softmax d=11,11,11 a=2 t=3", "softmax d=10,10,10 a=3 t=3", SMALL)
NEAR_1000 = (
    "softmax d=12,12,12 a=3 t=3 skip dv=3 heads=3 ffn=8:silu",
    "lightning d=20,20,20 a=8 t=3",
    "softmax d=17,17,17 a=4 t=3 bias=o",  # a direct proof: no coordinate certificate
)
SOURCE_INPUTS = 250  # the settings of the usual method's source
TRIALS = 5


def measure(rounds: int, quick: bool) -> list[Table]:
    """The small network against floats, then networks near 1000 dimensions against FLINT's rank of a matrix of that size."""
    return [_floats(rounds if not quick else 2, quick), *(_flint(spec, min(rounds, 5)) for spec in NEAR_1000[: 1 if quick else 3])]


def _floats(rounds: int, quick: bool) -> Table:
    network = parse(SMALL)
    dimension = prove_bounds(network).lower
    enough = 2 * dimension // (network.t * network.d[-1]) + 2
    sizes = itertools.cycle([parse(s) for s in OTHER_SIZES])
    things: dict[str, Callable[[], object]] = {
        "proof with certificate": lambda: prove_bounds(next(sizes)),
        "the same, of a structure never seen": lambda: _unseen(network),
    }
    try:
        usual = _usual(network)
    except ImportError:
        print("ci/bench: jax is missing: no columns for the usual method", file=sys.stderr)
    else:
        if not quick:
            things[f"jax jacrev, SVD, best of {TRIALS}, {SOURCE_INPUTS} inputs"] = functools.partial(usual, SOURCE_INPUTS, TRIALS)
        things[f"jax jacrev, SVD, once, {enough} inputs"] = functools.partial(usual, enough, 1)
    title = f"{SMALL} and other sizes of its structure in turn: dimension {dimension}; {rounds} rounds side by side, warm"
    return side_by_side(title, things, rounds)


def _unseen(network: Network) -> Proof:
    """The proof with nothing remembered of the structure's blocks."""
    block_rank.cache_clear()
    exponent_draws.cache_clear()
    return prove_bounds(network)


def _usual(network: Network) -> Callable[[int, int], int]:
    """The largest numerical rank over random points; jitted once for each number of inputs, batched over inputs."""
    import jax
    import jax.numpy as jnp

    shapes = list(network.parameter_shapes())
    assert record(network).output  # the network is one that this program can evaluate

    def forward(theta: Any, x: Any) -> Any:
        for i in range(1, network.l + 1):
            q, k, v = (theta[f"{i}.{name}"][0] for name in "QKV")
            x = v @ x @ jax.nn.softmax((k @ x).T @ (q @ x), axis=0)
        return x

    @jax.jit
    def singular_values(theta: Any, inputs: Any) -> Any:
        blocks = jax.vmap(jax.jacrev(forward), (None, 0))(theta, inputs)
        rows = len(inputs) * network.d[-1] * network.t
        return jnp.linalg.svd(jnp.concatenate([b.reshape(rows, -1) for b in blocks.values()], axis=1), compute_uv=False)

    def run(inputs: int, trials: int) -> int:
        generator = np.random.default_rng(0)
        best = 0
        with jax.enable_x64(True):
            for _ in range(trials):
                theta = {name: generator.standard_normal(shape) for name, shape in shapes}
                x = generator.standard_normal((inputs, network.d[0], network.t))
                values = np.asarray(singular_values(theta, x))
                best = max(best, int((values > values[0] * 1e-10).sum()))
        return best

    return run


def _flint(spec: str, rounds: int) -> Table:
    network = parse(spec)
    dimension = prove_bounds(network).lower
    things: dict[str, Callable[[], object]] = {"proof with certificate, nothing remembered": lambda: _unseen(network)}
    try:
        import flint
    except ImportError:
        print("ci/bench: python-flint is missing: no column for FLINT", file=sys.stderr)
    else:
        drawn = np.random.default_rng(0).integers(0, DEFAULT_PRIME, dimension**2).tolist()
        things = {"rank mod p of that size, FLINT": flint.nmod_mat(dimension, dimension, drawn, DEFAULT_PRIME).rank, **things}
    return side_by_side(f"{spec}: dimension {dimension}; {rounds} rounds side by side, warm", things, rounds)
