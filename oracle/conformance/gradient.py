"""The Jacobian of somebody's forward pass with respect to its parameters, and the rank its singular values show."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.rings import Array
from .model import Model, ModelError

DIFFERENCE = 2.0**-17  # about eps^(1/3), the best step of a central difference in float64
COMPLEX_STEP = 2.0**-100
AGREE = 1e-6  # of the complex step with central differences, relative: the latter are good to about 1e-9
NOISE = {"autograd": 3e-12, "complex step": 3e-12, "differences": 1e-7}  # singular values below may be noise, relative
KEPT = 30.0  # a kept singular value is at least this many times the noise


def jacobian(model: Model, params: Mapping[str, Array], X: Array) -> tuple[dict[str, Array], str]:
    """Per tensor the derivative of all outputs at inputs X (N, d_0, t), shape (N d_l t, entries), and how it was got.

    JAX and PyTorch models by their own reverse mode. NumPy models by a complex step (exact to rounding) where the code
    takes complex numbers and the result agrees with differences, else by central differences with an error near 1e-9.
    Raises `ModelError` where the model does, `TypeError` where it cannot be differentiated.
    """
    if model.framework != "numpy":
        pieces = (_jax if model.framework == "jax" else _torch)(model, params, X)
        return {name: np.concatenate([p[name] for p in pieces]) for name in params}, "autograd"
    exact = _by_entry(lambda name, index: _complex_step(model, params, X[:1], name, index), params)
    rough = _by_entry(lambda name, index: _difference(model, params, X[:1], name, index), params)
    if exact is not None and rough is not None and _agree(exact, rough):
        exact = _by_entry(lambda name, index: _complex_step(model, params, X, name, index), params)
        if exact is not None:
            return exact, "complex step"
    return {
        name: np.stack([_difference(model, params, X, name, i) for i in np.ndindex(value.shape)], axis=1)
        for name, value in params.items()
    }, "differences"


def _by_entry(
    column: Callable[[str, tuple[int, ...]], Array | None], params: Mapping[str, Array]
) -> dict[str, Array] | None:
    found = {}
    for name, value in params.items():
        columns = [c for index in np.ndindex(value.shape) if (c := column(name, index)) is not None]
        if len(columns) < value.size:
            return None
        found[name] = np.stack(columns, axis=1)
    return found


def _agree(exact: Mapping[str, Array], rough: Mapping[str, Array]) -> bool:
    scale = max(1.0, *(float(np.abs(v).max(initial=0.0)) for v in rough.values()))
    return all(float(np.abs(exact[n] - rough[n]).max(initial=0.0)) <= AGREE * scale for n in rough)


def _complex_step(
    model: Model, params: Mapping[str, Array], X: Array, name: str, index: tuple[int, ...]
) -> Array | None:
    """Im f(theta + i h) / h: no cancellation, but right only for analytic code, hence the comparison; None where it fails."""
    shifted = params[name].astype(np.complex128)
    shifted[index] += 1j * COMPLEX_STEP
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            outputs = [np.asarray(model.call({**params, name: shifted}, x)) for x in X]
    except ModelError:
        return None
    if model.tokens == "rows":
        outputs = [y.T for y in outputs]
    return np.stack(outputs).imag.reshape(-1) / COMPLEX_STEP


def _difference(model: Model, params: Mapping[str, Array], X: Array, name: str, index: tuple[int, ...]) -> Array:
    sides = []
    for sign in (1, -1):
        shifted = params[name].copy()
        shifted[index] += sign * DIFFERENCE
        sides.append(model.outputs({**params, name: shifted}, X).astype(np.float64).reshape(-1))
    result: Array = (sides[0] - sides[1]) / (2 * DIFFERENCE)
    return result


def _jax(model: Model, params: Mapping[str, Array], X: Array) -> list[dict[str, Array]]:
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        blocks_at = jax.jit(jax.jacrev(model.call))
        given = {k: jnp.asarray(v) for k, v in params.items()}
        found = [blocks_at(given, jnp.asarray(x)) for x in X]
        return [{name: _rows(blocks[name], value.size, model) for name, value in params.items()} for blocks in found]


def _torch(model: Model, params: Mapping[str, Array], X: Array) -> list[dict[str, Array]]:
    import torch

    names = list(params)
    tensors = tuple(torch.tensor(params[n], dtype=torch.float64) for n in names)
    found = []
    for x in X:
        given = torch.tensor(x, dtype=torch.float64)

        def outputs(*values: Any, given: Any = given) -> Any:
            return model.call(dict(zip(names, values, strict=True)), given)

        blocks = torch.autograd.functional.jacobian(outputs, tensors)
        found.append({n: _rows(b.detach().cpu(), params[n].size, model) for n, b in zip(names, blocks, strict=True)})
    return found


def _rows(block: Any, entries: int, model: Model) -> Array:
    """Rows by output coordinate, then token."""
    array = np.asarray(block, dtype=np.float64)
    rows, columns = array.shape[:2]
    array = array.reshape(rows, columns, entries)
    return (array.swapaxes(0, 1) if model.tokens == "rows" else array).reshape(-1, entries)


@dataclass(frozen=True)
class Spectrum:
    """Singular values relative to the largest; `rank` is None where no gap separates kept ones from noise."""

    rank: int | None
    kept: float
    dropped: float


def spectrum(J: Array, params: Mapping[str, Array], inputs: int, how: str) -> Spectrum:
    """The numerical rank of a Jacobian whose rows are scaled by input and columns by tensor; an observation, no proof."""
    per_input = J.reshape(inputs, -1)
    norms = np.linalg.norm(per_input, axis=1, keepdims=True)
    if how == "differences":  # errors are those of the largest rows: small ones must not be blown up
        norms = np.maximum(norms, norms.max() / 30)
    J = (per_input / np.where(norms > 0, norms, 1)).reshape(J.shape)
    sizes = [np.full(v.size, max(float(np.sqrt(np.mean(np.square(v)))), 1e-3)) for v in params.values()]
    values = np.linalg.svd(J * np.concatenate(sizes), compute_uv=False)
    if not values.size or values[0] == 0:
        return Spectrum(0, 0.0, 0.0)
    values = values / values[0]
    rank = int(np.count_nonzero(values > NOISE[how]))
    kept, dropped = float(values[rank - 1]), float(values[rank]) if rank < values.size else 0.0
    return Spectrum(rank if kept >= KEPT * NOISE[how] else None, kept, dropped)
