"""Floating point: the ring of float64 or float32 arrays of numpy or JAX, and the compiled forward pass in JAX.

Nothing here is a proof. `forward` is the reference float forward pass; its error is that of the arithmetic.
JAX is loaded on first use, and 64 bits are switched on around each call only, never for the process.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from .evaluate import evaluate
from .forward import record
from .network import Network
from .point import words
from .program import Exponentials, Program
from .rings import Array, matmul_einsum

Dtype = Literal["float64", "float32"]
DTYPES = ("float64", "float32")
GELU = math.sqrt(8 / math.pi)  # gelu(z) = z / (1 + exp(-c (z + 0.044715 z^3))), the tanh form


class Floats:
    """Float arrays as a ring, in numpy or (`jax=True`) in JAX; exponentials are real ones.

    Where only ratios of exponentials matter (softmax) the largest exponent of each query is subtracted first. Other
    exponentials (silu, gelu, layers of width one) may overflow, and reciprocals of zero are infinite. Raises `ValueError`
    for another dtype, `TypeError` where JAX would narrow float64 silently.
    """

    formal = False

    def __init__(self, dtype: Dtype = "float64", jax: bool = False):
        if dtype not in DTYPES:
            raise ValueError(f"dtype={dtype!r}: float64 or float32")
        self.dtype = np.dtype(dtype)
        self.xp: Any = np
        self._matmul: Any = np.matmul
        self._fixed: Callable[[Any], Any] = lambda x: x
        if jax:
            import jax as library
            import jax.numpy as xp

            self.xp = xp
            self._matmul = functools.partial(xp.matmul, precision=library.lax.Precision.HIGHEST)
            self._fixed = library.lax.stop_gradient

    def lift(self, array: Any) -> Any:
        """Floats of integers, fractions or floats, rounded to the dtype."""
        if getattr(array, "dtype", None) == np.dtype(object):
            array = np.asarray(array).astype(np.float64)
        result = self.xp.asarray(array, dtype=self.dtype)
        if result.dtype != self.dtype:
            raise TypeError(f"JAX narrowed {self.dtype} to {result.dtype}: 64 bits are off in this thread")
        return result

    def einsum(self, left: str, right: str, out: str, x: Any, y: Any) -> Any:
        """The two-operand einsum, in the full precision of the dtype on every device."""
        return matmul_einsum(left, right, out, x, y, self._matmul)

    def add(self, x: Any, y: Any) -> Any:
        """x + y."""
        return x + y

    def mul(self, x: Any, y: Any) -> Any:
        """x * y, entrywise."""
        return x * y

    def reciprocal(self, x: Any) -> Any:
        """1/x."""
        return 1 / x

    def root(self, x: Any) -> Any:
        """1/sqrt(x)."""
        return 1 / self.xp.sqrt(x)

    def exp(self, x: Any, exponentials: Exponentials) -> Any:
        """exp(x); of a softmax exp(x - max) for the counted entries of a query, 1 for those that are masked or cancel."""
        if exponentials.normalised:
            counted = exponentials.counted
            top = self.xp.max(self.xp.where(counted, x, -np.inf), axis=-2, keepdims=True)
            top = self._fixed(self.xp.where(counted.any(axis=-2, keepdims=True), top, 0))
            x = self.xp.where(counted, x - top, 0)
        return self.xp.exp(x)


def uniform(seed: int, label: str, shape: tuple[int, ...], low: float = -1.0, high: float = 1.0) -> Array:
    """Reproducible float64 numbers, uniform in [low, high): the 64-bit words of the label (`point.words`), scaled."""
    drawn = words(seed, label, math.prod(shape)).astype(np.float64) / 2.0**64
    result: Array = (low + (high - low) * drawn).reshape(shape)
    return result


def generic_constants(network: Network, seed: int = 0) -> dict[str, Array]:
    """The real constants of a network: half-angle tangents `rope`, slopes `alibi-slope` = m_h with `alibi` = exp(m_h), `gelu`.

    Angles w_j are uniform in [0.3, 2.8), slopes in [-1, -0.1): generic, drawn from the seed. `gelu` is sqrt(8/pi).
    """
    planes = max((a // 2 for a in network.a), default=0)
    heads = max(network.heads, default=0)
    slopes = uniform(seed, "alibi", (heads,), -1.0, -0.1)
    return {
        "rope": np.tan(uniform(seed, "rope", (planes,), 0.3, 2.8) / 2),
        "alibi-slope": slopes,
        "alibi": np.exp(slopes),
        "gelu": np.array([[GELU]]),
    }


def forward(
    network: Network,
    params: Mapping[str, Any],
    X: Any,
    *,
    constants: Mapping[str, Any] | None = None,
    dtype: Dtype = "float64",
) -> Array:
    """f_theta(X) by JAX, compiled once for each network and shape of X, on JAX's default device.

    `params`: one array for each name of `network.parameter_shapes()`. `X`: (d_0, t), or (N, d_0, t) for N inputs; mlp has
    t = 1. `constants`: those of `generic_constants(network)` unless given. Returns a numpy array of shape (d_l, t) or
    (N, d_l, t). The result carries the rounding errors of `dtype`; no bound on them is guaranteed.
    Raises `ValueError` for missing, unknown or misshapen arrays.
    """
    given = {**generic_constants(network), **(constants or {})}
    made: Array = _call(_compiled_forward(network, dtype), _checked(network, params), _checked_input(network, X), given)
    return made


def parameter_jacobian(
    network: Network,
    params: Mapping[str, Any],
    X: Any,
    *,
    constants: Mapping[str, Any] | None = None,
    dtype: Dtype = "float64",
) -> Array:
    """The Jacobian of theta -> f_theta(X_1), ..., f_theta(X_N) by JAX in reverse mode, compiled as `forward`.

    `X`: (N, d_0, t). Returns shape (N d_l t, parameters), rows and columns ordered as `evaluate.jacobian` orders them. Entries
    carry the rounding errors of `dtype`. Raises `ValueError` as `forward` does.
    """
    given = {**generic_constants(network), **(constants or {})}
    X = _checked_input(network, X)
    if X.ndim != 3:
        raise ValueError(f"X has shape {X.shape}, needs ({network.d[0]}, {network.t}) with an axis over inputs in front")
    blocks = _call(_compiled_jacobian(network, dtype), _checked(network, params), X, given)
    return np.concatenate([b.reshape(X.shape[0] * network.d[-1] * network.t, -1) for b in blocks], axis=1)


@functools.lru_cache(maxsize=256)
def _compiled_forward(network: Network, dtype: Dtype) -> tuple[Dtype, Any]:
    import jax

    return dtype, jax.jit(_function(network, dtype))


@functools.lru_cache(maxsize=256)
def _compiled_jacobian(network: Network, dtype: Dtype) -> tuple[Dtype, Any]:
    import jax

    names = [name for name, _ in network.parameter_shapes()]
    one = jax.jacrev(_function(network, dtype))

    def blocks(params: dict[str, Any], X: Any, constants: dict[str, Any]) -> list[Any]:
        found = jax.vmap(one, in_axes=(None, 0, None))(params, X, constants)
        return [found[name] for name in names]

    return dtype, jax.jit(blocks)


def _function(network: Network, dtype: Dtype) -> Callable[[dict[str, Any], Any, dict[str, Any]], Any]:
    program: Program = record(network)

    def f(params: dict[str, Any], X: Any, constants: dict[str, Any]) -> Any:
        values = evaluate(program, Floats(dtype, jax=True), {**params, **constants, "X": X})
        return values[program.output].array

    return f


def _call(compiled: tuple[Dtype, Any], params: dict[str, Array], X: Array, constants: Mapping[str, Any]) -> Any:
    """Run with exactly the precision asked for; the results are numpy arrays of that dtype."""
    import jax

    dtype, function = compiled
    cast = {k: np.asarray(v, dtype=dtype) for k, v in constants.items()}
    with jax.enable_x64(dtype == "float64"):
        result = function({k: v.astype(dtype) for k, v in params.items()}, X.astype(dtype), cast)
        arrays = jax.tree.map(np.asarray, result)
    for array in jax.tree.leaves(arrays):
        if array.dtype != dtype:
            raise TypeError(f"JAX returned {array.dtype} where {dtype} was asked for")
    return arrays


def _checked(network: Network, params: Mapping[str, Any]) -> dict[str, Array]:
    shapes = dict(network.parameter_shapes())
    if set(params) != set(shapes):
        wrong = sorted(set(params) ^ set(shapes))
        raise ValueError(f"missing or unknown parameters: {', '.join(wrong)}; the network has {', '.join(shapes)}")
    arrays = {name: np.asarray(params[name]) for name in shapes}
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise ValueError(f"parameter {name} has shape {array.shape}, not {shapes[name]}")
    return arrays


def _checked_input(network: Network, X: Any) -> Array:
    array = np.asarray(X)
    if array.ndim not in (2, 3) or array.shape[-2:] != (network.d[0], network.t):
        raise ValueError(f"X has shape {array.shape}, not ({network.d[0]}, {network.t}), with or without N in front")
    return array
