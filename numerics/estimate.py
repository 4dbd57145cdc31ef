"""The dimension as floats see it: singular values of the Jacobian, and a refusal wherever they leave a doubt.

The Jacobian is that of theta -> (f_theta(X_1), ..., f_theta(X_N)) at random theta and X. A deep lightning network has degree
3^l in X, so that sizes drift apart doubly exponentially unless each tensor is scaled: here every parameter tensor is
scaled so that the first product it enters has root mean square 1, inputs weigh equally, and derivatives are taken
with respect to the relative change of a tensor. None of this changes the rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .evaluate import evaluate, jacobian
from .floats import Floats, generic_constants, parameter_jacobian, uniform
from .forward import record
from .network import Network
from .program import Program
from .rings import Array

EPSILON = float(np.finfo(np.float64).eps)
KEPT = 1e-6  # kept singular values are at least this, relative to the largest: strict, since a refusal costs little
MAX_DOUBLINGS = 3
MAX_ENTRIES = 1 << 27  # of one Jacobian: 1 GiB
JAX_ENTRIES = 1 << 23  # from here on JAX pays for its compilation (12e6 entries: 1.7 s, numpy 3.8 s; 5e6: 1.2 s, 0.8 s)
SHOWN = 3  # singular values on each side of the gap

Backend = Literal["auto", "numpy", "jax"]


@dataclass(frozen=True)
class RankEstimate:
    """What `estimate_rank` saw.

    `rank`: the rank on which all trials agree, or None, and then `reason` says what was in doubt. `singular_values`: those around the
    gap of the worst trial, relative to the largest (up to three kept ones, then up to three discarded ones); `gap`: the last kept by
    the first discarded one (by the machine epsilon if that is larger). `floor`: the size up to which singular values count as zero;
    kept ones are above `KEPT`. `inputs`: the most inputs used; `saturated`: half of them gave the same rank in every trial.
    """

    rank: int | None
    singular_values: tuple[float, ...]
    gap: float
    floor: float
    trials: int
    inputs: int
    dtype: str
    saturated: bool
    reason: str


def estimate_rank(network: Network, *, seed: int = 0, trials: int = 3, backend: Backend = "auto") -> RankEstimate:
    """Estimate the dimension of a network's function space by float64 singular values; may be wrong, may refuse.

    Claims a rank only if in each trial (own parameters and inputs) all singular values are either above 1e-6 or below max(rows,
    columns) eps times the largest, with the inputs doubled until the rank stays the same, and all trials agree.
    NOT guaranteed: singular values that are truly small but not zero may all lie below the floor, and no bound on the errors of
    the Jacobian is proved; an exact rank mod p is a proof, this is an observation. Same seed, same numpy: same result.

    `backend`: "jax" (reverse mode, compiled, default device), "numpy" (forward mode), or "auto": JAX for large Jacobians.
    Raises `ValueError` for less than one trial or another backend.
    """
    if trials < 1 or backend not in ("auto", "numpy", "jax"):
        raise ValueError(f"trials={trials}, backend={backend!r}: at least one trial; auto, numpy or jax")
    program = record(network)
    seen: list[_Spectrum] = []
    for trial in range(trials):
        with np.errstate(all="ignore"):  # what overflows is refused
            spectrum, reason = _trial(network, program, seed, f"estimate/{trial}/", backend)
        if spectrum is not None:
            seen.append(spectrum)
        ranks = sorted({s.rank for s in seen})
        if not reason and len(ranks) > 1:
            reason = f"trials disagree: ranks {', '.join(map(str, ranks))}"
        if reason:
            return _result(None, seen, trial + 1, f"trial {trial + 1}: {reason}")
    return _result(seen[0].rank, seen, trials, "")


@dataclass(frozen=True)
class _Spectrum:
    """Singular values relative to the largest, decreasing, and the place where they fall below the floor."""

    values: Array
    floor: float
    inputs: int
    saturated: bool = False

    @property
    def rank(self) -> int:
        return int(np.count_nonzero(self.values > self.floor))

    @property
    def kept(self) -> float:
        return float(self.values[self.rank - 1]) if self.rank else 0.0

    @property
    def gap(self) -> float:
        discarded = self.values[self.rank :]
        return self.kept / max(float(discarded[0]) if discarded.size else 0.0, EPSILON)


def _result(rank: int | None, seen: list[_Spectrum], trials: int, reason: str) -> RankEstimate:
    if not seen:
        return RankEstimate(rank, (), 0.0, 0.0, trials, 0, "float64", False, reason)
    worst = min(seen, key=lambda s: s.gap)
    around = worst.values[max(worst.rank - SHOWN, 0) : worst.rank + SHOWN]
    inputs, saturated = max(s.inputs for s in seen), all(s.saturated for s in seen)
    shown = tuple(float(v) for v in around)
    return RankEstimate(rank, shown, worst.gap, worst.floor, trials, inputs, "float64", saturated, reason)


def _trial(
    network: Network, program: Program, seed: int, prefix: str, backend: Backend
) -> tuple[_Spectrum | None, str]:
    """The spectrum of one random point and, if it decides nothing, why."""
    rows = network.d[-1] * network.t
    count = -(-network.parameters // rows) + 1
    params = {
        name: uniform(seed, prefix + name, shape) * math.sqrt(3) for name, shape in network.parameter_shapes()
    }
    constants = generic_constants(network, seed)
    spectrum, doubt = None, ""
    for doubling in range(MAX_DOUBLINGS + 1):
        inputs = count << (doubling + 1)
        if inputs * rows * network.parameters > MAX_ENTRIES:
            size = f"{inputs * rows} x {network.parameters}"
            return spectrum, f"the Jacobian of {inputs} inputs ({size}) is larger than {MAX_ENTRIES} entries"
        X = uniform(seed, prefix + "X", (inputs, network.d[0], network.t)) * math.sqrt(3)
        if not doubling:
            _balance(program, params, constants, X[:count])
        J = _scaled_jacobian(network, program, params, constants, X, backend)
        if not np.all(np.isfinite(J)):
            return spectrum, "the Jacobian overflows"
        if not np.any(J):
            return spectrum, "the Jacobian is zero"
        half = spectrum or _spectrum(J[: J.shape[0] // 2], inputs // 2)
        spectrum = _spectrum(J, inputs)
        doubt = _doubt(half, spectrum)
        if not doubt:
            return replace(spectrum, saturated=True), ""
    return spectrum, doubt


def _doubt(half: _Spectrum, full: _Spectrum) -> str:
    """Why these inputs and half of them do not decide the rank; "" if they do."""
    for s in (full, half):
        if s.kept < KEPT:
            return (
                f"no gap: singular value {s.rank} of {s.inputs} inputs is {s.kept:.1e} of the largest, "
                f"between the floor {s.floor:.1e} and {KEPT:.1e}"
            )
    if half.rank < full.rank:
        return f"the rank still grows: {half.rank} with {half.inputs} inputs, {full.rank} with {full.inputs}"
    return ""


def _balance(program: Program, params: dict[str, Array], constants: dict[str, Array], X: Array) -> None:
    """Scale each parameter tensor in place so that the first product it enters has root mean square 1."""
    evaluate(program, _Balancing(params), {**params, **constants, "X": X})


class _Balancing(Floats):
    """Floats that scale parameter tensors in place as they meet them."""

    def __init__(self, params: dict[str, Array]):
        super().__init__()
        self._waiting = {id(array): array for array in params.values()}

    def einsum(self, left: str, right: str, out: str, x: Any, y: Any) -> Any:
        result = super().einsum(left, right, out, x, y)
        for operand in (x, y):
            tensor = self._waiting.pop(id(operand), None)
            if tensor is not None:
                size = float(np.sqrt(np.mean(np.square(result))))
                if 0 < size < math.inf:
                    tensor /= size
                    result = result / size
        return result


def _scaled_jacobian(
    network: Network,
    program: Program,
    params: dict[str, Array],
    constants: dict[str, Array],
    X: Array,
    backend: Backend,
) -> Array:
    """Rows of each input divided by their norm, columns of each tensor multiplied by its root mean square."""
    entries = X.shape[0] * network.d[-1] * network.t * network.parameters
    if backend == "jax" or (backend == "auto" and entries >= JAX_ENTRIES):
        J = parameter_jacobian(network, params, X, constants=constants)
    else:
        J = jacobian(program, Floats(), {**params, **constants, "X": X})
    per_input = J.reshape(X.shape[0], -1)
    norms = np.linalg.norm(per_input, axis=1, keepdims=True)
    J = (per_input / np.where(norms > 0, norms, 1)).reshape(J.shape)
    sizes = [np.full(array.size, np.sqrt(np.mean(np.square(array)))) for array in params.values()]
    scaled: Array = J * np.concatenate(sizes)
    return scaled


def _spectrum(J: Array, inputs: int) -> _Spectrum:
    values = np.linalg.svd(J, compute_uv=False)
    floor = max(J.shape) * EPSILON
    return _Spectrum(values / max(float(values[0]), float(np.finfo(np.float64).tiny)), floor, inputs)
