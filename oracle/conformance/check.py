"""The conformance check of an implementation: outputs, symmetries, gradients, rank; every failure with its place and name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...numerics.evaluate import evaluate
from ...numerics.floats import Floats, generic_constants, uniform
from ...numerics.forward import record
from ...numerics.network import Network
from ...numerics.rings import Array
from ..answer import LABELS, Answer
from .faults import recognise, same
from .gradient import Spectrum, jacobian, spectrum
from .model import FRAMEWORKS, Framework, Model, ModelError, detected
from .symmetry import moved

OUTPUT_INPUTS = 4
MAX_PARAMETERS = 2_000
DEAD = 1e-12  # a tensor whose derivatives are all smaller gets no gradient
ERROR_FACTOR = 4_096  # the error bound is this many roundings of the model's dtype for each layer


@dataclass(frozen=True)
class Failure:
    """One thing that is wrong: `what` was compared, `where` (layer, head, parameter), and the message; `undecided` if nothing is known to be wrong."""

    what: str
    where: str
    message: str
    undecided: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.where + ': ' if self.where else ''}{self.message}"


@dataclass(frozen=True)
class Conformance:
    """What was checked, with the error bound used, and what failed."""

    network: Network
    framework: str
    tolerance: float
    inputs: int
    symmetries: int
    rank: int | None
    answer: Answer | None
    failures: tuple[Failure, ...]

    def __str__(self) -> str:
        bound = f"outputs within {self.tolerance:.1e} * max(1, |f|) at {self.inputs} inputs"
        known = f"rank {self.rank}" if self.rank is not None else "rank not seen"
        return f"{bound}, {self.symmetries} symmetries, {known} ({self.framework})"


def examine(
    fn: Callable[..., Any],
    network: Network,
    *,
    ask: Callable[[str], Answer],
    adapter: Callable[[dict[str, Any]], Any] | None = None,
    constants: Mapping[str, Any] | None = None,
    framework: Framework = "auto",
    tokens: Literal["columns", "rows"] = "columns",
    tolerance: float | None = None,
    require: str = "proven",
    seed: int = 0,
) -> Conformance:
    """Compare a forward pass with the network it should compute; nothing is raised for what the model does wrong.

    Raises `ValueError` for unknown options and for networks over 2,000 parameters: check a small network of the same code.
    """
    if framework not in FRAMEWORKS or tokens not in ("columns", "rows") or require not in LABELS:
        raise ValueError(f"framework={framework!r}, tokens={tokens!r}, require={require!r}: {', '.join(FRAMEWORKS)}; "
                         f"columns or rows; {', '.join(LABELS)}")  # fmt: skip
    if network.parameters > MAX_PARAMETERS:
        raise ValueError(
            f"{network} has {network.parameters} parameters, more than {MAX_PARAMETERS}: check a smaller one"
        )
    return _Examination(fn, network, ask, adapter, constants, framework, tokens, tolerance, require, seed).run()


class _Examination:
    def __init__(self, fn: Any, network: Network, ask: Any, adapter: Any, constants: Any, framework: Framework, tokens: Any,
                 tolerance: float | None, require: str, seed: int):  # fmt: skip
        self.network, self.ask, self.require, self.seed = network, ask, require, seed
        self.params = parameters(network, seed)
        self.constants = {**generic_constants(network, seed), **real_constants(network, constants or {})}
        self.X = inputs(network, seed, OUTPUT_INPUTS)
        self.model = Model(fn, network, framework, adapter, tokens)
        self.tolerance = tolerance or 0.0
        self.rank: int | None = None
        self.answer: Answer | None = None
        self.symmetries = 0

    def run(self) -> Conformance:
        failures = tuple(self._failures())
        return Conformance(self.network, self.model.framework, self.tolerance, OUTPUT_INPUTS, self.symmetries, self.rank,
                           self.answer, failures)  # fmt: skip

    def _failures(self) -> Iterator[Failure]:
        try:
            self.model = detected(self.model, self.params, self.X[0])
            outputs = self.model.outputs(self.params, self.X)
            wrong = list(self._outputs(outputs))
            yield from wrong
            yield from self._symmetries(outputs.astype(np.float64))
            if not wrong:  # the rank of another function says nothing about this one
                yield from self._gradients()
        except ModelError as error:
            yield Failure("call", "", str(error))

    def _outputs(self, outputs: Array) -> Iterator[Failure]:
        epsilon = float(np.finfo(outputs.dtype).eps)
        self.tolerance = self.tolerance or ERROR_FACTOR * self.network.l * epsilon
        if self.tolerance > 0.02:
            yield Failure(
                "outputs", "", f"{outputs.dtype} is too coarse to tell right from wrong: use float32 or float64", True
            )
            return
        expected = reference(self.network, self.params, self.constants, self.X)
        outputs = outputs.astype(np.float64)
        if same(expected, outputs, self.tolerance):
            return
        worst = float(np.nanmax(np.abs(expected - outputs))) if np.isfinite(outputs).any() else math.nan
        off = (
            f"outputs differ from the reference by {worst:.2g}"
            if np.isfinite(outputs).all()
            else "outputs are not finite"
        )
        named = recognise(self.network, self.params, self.constants, self.X, outputs, self.tolerance)
        if not named:
            yield Failure("outputs", "", f"{off}; no typical fault explains them; {self._suspects()}")
        for number, fault in enumerate(named):
            yield Failure("outputs", f"{fault.place}, parameter {fault.fault.parameter}",
                          f"{fault.fault.name}" if number else f"{off}, as they would with: {fault.fault.name}")  # fmt: skip

    def _suspects(self) -> str:
        """The parameters without which the difference vanishes: each block set to zero in turn."""
        found = []
        for name, value in self.params.items():
            index, short = name.split(".")
            heads = range(len(value)) if short in ("Q", "K", "V", "O", "bq", "bk", "bv") else [None]
            for head in heads:
                params = {**self.params, name: value.copy()}
                params[name][slice(None) if head is None else head] = 0
                mine = self.model.outputs(params, self.X).astype(np.float64)
                if same(reference(self.network, params, self.constants, self.X), mine, self.tolerance):
                    kind = "head" if short in ("Q", "O", "bq") else "group"
                    where = "" if head is None or len(value) == 1 else f" of {kind} {head}"
                    found.append(f"layer {index}, {short}{where}")
        return (
            f"the difference vanishes without {' or without '.join(found)}"
            if found
            else "no single parameter is responsible"
        )

    def _symmetries(self, outputs: Array) -> Iterator[Failure]:
        slack = 10 * self.tolerance + 1e-8
        for symmetry in moved(self.network, self.params, self.seed):
            self.symmetries += 1
            after = self.model.outputs(symmetry.params, self.X).astype(np.float64)
            if not same(outputs, after, slack):
                names = ", ".join(symmetry.moves)
                change = float(np.nanmax(np.abs(after - outputs))) if np.isfinite(after).any() else math.nan
                yield Failure("symmetry", f"{symmetry.place}, parameters {names}",
                              f"{symmetry.name} should leave the outputs unchanged, and changes them by {change:.2g}")  # fmt: skip

    def _gradients(self) -> Iterator[Failure]:
        """Finite, and as many independent ones as the dimension: the inputs are doubled once where they might be too few."""
        self.answer = self.ask(str(self.network))
        rows = self.network.d[-1] * self.network.t
        count = -(-self.network.parameters // rows) + 1
        for number in (count, 2 * count):
            X = inputs(self.network, self.seed + 1, number)
            try:
                blocks, how = jacobian(self.model, self.params, X)
            except TypeError as error:
                yield Failure("gradients", "", f"cannot be taken: {error}")
                return
            bad = [name for name, block in blocks.items() if not np.isfinite(block).all()]
            if bad:
                for name in bad:
                    slot = int(np.argwhere(~np.isfinite(blocks[name]).all(axis=0))[0][0])
                    entry = np.unravel_index(slot, self.params[name].shape)
                    yield Failure("gradients", _where(name, entry), "the gradient is not finite")
                return
            seen = spectrum(np.concatenate(list(blocks.values()), axis=1), self.params, number, how)
            if seen.rank is not None and seen.rank == self.answer.dimension:
                break
        self.rank = seen.rank
        yield from self._rank(
            seen, [name for name, block in blocks.items() if not np.abs(block).max(initial=0.0) > DEAD]
        )

    def _rank(self, seen: Spectrum, dead: list[str]) -> Iterator[Failure]:
        answer = self.answer
        if answer is None:
            return
        low, high = answer.known(self.require)
        if low < high:
            yield Failure("rank", "", f"the dimension is not known at label {self.require}: {answer.certified}", True)
        elif seen.rank is None:
            message = f"singular values show no gap ({seen.kept:.1e}, then {seen.dropped:.1e}): check a smaller network"
            yield Failure("rank", "", message, True)
        elif seen.rank != low:
            names = " or ".join(f"layer {name.split('.')[0]}, parameter {name.split('.')[1]}" for name in dead)
            message = f"the Jacobian has numerical rank {seen.rank}, the dimension is {low} ({answer.label})"
            yield Failure("rank", f"no gradient reaches {names}" if dead else "", message)


def _where(name: str, entry: tuple[Any, ...]) -> str:
    index, short = name.split(".")
    kind = {"Q": "head", "O": "head", "bq": "head", "K": "group", "V": "group", "bk": "group", "bv": "group"}.get(short)
    head = f", {kind} {int(entry[0])}" if kind else ""
    rest = entry[1:] if kind else entry
    return f"layer {index}{head}, parameter {short}[{', '.join(str(int(i)) for i in rest)}]"


def reference(network: Network, params: Mapping[str, Array], constants: Mapping[str, Array], X: Array) -> Array:
    """The reference outputs (N, d_l, t) in float64."""
    program = record(network)
    with np.errstate(all="ignore"):
        lifted = evaluate(program, Floats(), {**params, **constants, "X": X})[program.output]
    return np.broadcast_to(lifted.array, (len(X), network.d[-1], network.t))


def parameters(network: Network, seed: int) -> dict[str, Array]:
    """Random parameters of moderate size: entries of variance 1/columns, gains around 1."""
    made = {}
    for name, shape in network.parameter_shapes():
        drawn = uniform(seed, f"conformance/{name}", shape) * math.sqrt(3 / (shape[-1] if len(shape) > 1 else 4))
        made[name] = 1 + drawn / 4 if name.split(".")[1] in ("g1", "g2") else drawn
    return made


def inputs(network: Network, seed: int, count: int) -> Array:
    """Random inputs (count, d_0, t) of variance 1."""
    return uniform(seed, "conformance/X", (count, network.d[0], network.t)) * math.sqrt(3)


def real_constants(network: Network, given: Mapping[str, Any]) -> dict[str, Array]:
    """`angles` w_j and `slopes` m_h as the reference pass takes them. Raises `ValueError`.

    Where not given they are the usual ones: w_j = 10000^(-2j/a), m_h = 2^(-8(h+1)/heads). The certified dimension is that of
    generic angles and slopes.
    """
    unknown = set(given) - {"angles", "slopes"}
    if unknown:
        raise ValueError(f"constants are angles (rope) and slopes (alibi), not {', '.join(sorted(unknown))}")
    a, heads = max(network.a, default=0), max(network.heads, default=0)
    usual = {
        "angles": 10_000.0 ** (-2 * np.arange(a // 2) / max(a, 1)),
        "slopes": 2.0 ** (-8 * np.arange(1, heads + 1) / max(heads, 1)),
    }
    made = {}
    for name, value in usual.items():
        made[name] = np.asarray(given.get(name, value), dtype=np.float64)
        if made[name].shape != value.shape:
            raise ValueError(f"{name} has shape {made[name].shape}, not {value.shape}: one for each plane, or head")
    return {"rope": np.tan(made["angles"] / 2), "alibi-slope": made["slopes"], "alibi": np.exp(made["slopes"])}
