"""Calling somebody's forward pass: NumPy, JAX or PyTorch, one input at a time, float64 in and out where the model lets us."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...numerics.network import Network
from ...numerics.rings import Array

Params = Mapping[str, Array]
Framework = Literal["auto", "numpy", "jax", "torch"]
FRAMEWORKS = ("auto", "numpy", "jax", "torch")


class ModelError(Exception):
    """The model cannot be called as it should: it raised, or returned something of the wrong shape or type."""


@dataclass(frozen=True)
class Model:
    """A callable `fn(params, X)` and how to call it.

    `adapter` turns the dict of arrays by the names of CERTIFICATES section 2 (`1.Q` of shape (heads, a, d), ...) into the params that fn takes;
    `tokens` says whether fn has tokens as columns, X (d, t), or as rows, X (t, d), in and out.
    """

    fn: Callable[..., Any]
    network: Network
    framework: Framework = "auto"
    adapter: Callable[[dict[str, Any]], Any] | None = None
    tokens: Literal["columns", "rows"] = "columns"

    def output(self, params: Params, X: Array) -> Array:
        """fn at one input X (d_0, t): its output (d_l, t) as a numpy array of the dtype it has. Raises `ModelError`."""
        with self._precision():
            y = self._checked(self.call(self._arrays(params), self._array(X)))
        return y.T if self.tokens == "rows" else y

    def outputs(self, params: Params, X: Array) -> Array:
        """The outputs at inputs X (N, d_0, t), stacked. Raises `ModelError`."""
        return np.stack([self.output(params, x) for x in X])

    def call(self, params: dict[str, Any], x: Any) -> Any:
        """fn with the arrays of its framework; what it raises becomes a `ModelError` with the line of its code."""
        try:
            given = self.adapter(params) if self.adapter else params
            return self.fn(given, x.T if self.tokens == "rows" else x)
        except Exception as error:  # whatever the user's code raises is what we report
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.lineno}"
            raise ModelError(f"raises {type(error).__name__} at {where}: {error}") from error

    def _checked(self, y: Any) -> Array:
        if hasattr(y, "detach"):
            y = y.detach().cpu()
        try:
            array = np.asarray(y)
        except Exception as error:
            raise ModelError(f"returns {type(y).__name__}, which is no array: {error}") from error
        rows, t = self.network.d[-1], self.network.t
        wanted = (t, rows) if self.tokens == "rows" else (rows, t)
        if array.shape != wanted:
            hint = ""
            if array.shape == wanted[::-1]:
                other = "columns" if self.tokens == "rows" else "rows"
                hint = f": its output is transposed, or it has tokens as {other} (tokens={other!r})"
            raise ModelError(f"returns shape {array.shape}, not {wanted}{hint}")
        if array.dtype.kind != "f":
            raise ModelError(f"returns {array.dtype}, not floats")
        return array

    def _arrays(self, params: Params) -> dict[str, Any]:
        return {name: self._array(value) for name, value in params.items()}

    def _array(self, value: Array) -> Any:
        if self.framework == "torch":
            import torch

            return torch.tensor(value, dtype=torch.float64)
        if self.framework == "jax":
            import jax.numpy as jnp

            return jnp.asarray(value)
        return value.copy()

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        """64 bits for a JAX model during the call, never for the process."""
        if self.framework != "jax":
            return contextlib.nullcontext()
        import jax

        wide: contextlib.AbstractContextManager[Any] = jax.enable_x64(True)
        return wide


def detected(model: Model, params: Params, X: Array) -> Model:
    """The same model with its framework: what it returns for numpy arrays tells; PyTorch models may refuse them, and are asked again."""
    if model.framework != "auto":
        return model
    try:
        y = model.call({k: v.copy() for k, v in params.items()}, X.copy())
    except ModelError:
        if "torch" not in sys.modules:
            raise
        torch_model = Model(model.fn, model.network, "torch", model.adapter, model.tokens)
        torch_model.output(params, X)
        return torch_model
    module = type(y).__module__.partition(".")[0]
    framework: Framework = "jax" if module in ("jax", "jaxlib") else "torch" if module == "torch" else "numpy"
    return Model(model.fn, model.network, framework, model.adapter, model.tokens)
