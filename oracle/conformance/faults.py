"""The catalogue of typical faults of attention code: a name, the parameter it concerns, and the step that it changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.network import Layer, Network
from ...numerics.rings import Array
from .steps import Change, Deviation, Params, Place, run, softmax

MAX_RUNS = 4_000  # forward passes spent on naming one fault


@dataclass(frozen=True)
class Fault:
    """A way to get it wrong: `name` says what is wrong, `parameter` with what; `per_head` whether one head alone can have it."""

    name: str
    parameter: str
    step: str
    change: Change
    applies: Callable[[Network, Layer], bool] = lambda network, layer: True
    per_head: bool = True


@dataclass(frozen=True)
class Named:
    """A fault at a place."""

    fault: Fault
    deviation: Deviation
    place: str

    def __str__(self) -> str:
        return f"{self.fault.name} ({self.place}, parameter {self.fault.parameter})"


def recognise(
    network: Network, params: Params, constants: Params, X: Array, outputs: Array, tolerance: float
) -> list[Named]:
    """The faults of the catalogue that explain outputs exactly, the widest places first; different names may be one function.

    A fault is named only where the wrong pass gives these outputs within `tolerance` and the right one does not: so a name
    is a statement about outputs at these inputs, not about the code.
    """
    count = 0
    for scope in _scopes(network):
        found: dict[str, Named] = {}
        for candidate in _at(network, *scope):
            count += 1
            if candidate.fault.name in found:
                continue
            if same(run(network, params, constants, X, candidate.deviation), outputs, tolerance):
                blind = not np.isfinite(outputs).any()  # nan at one place has reached every output: others fit as well
                found[candidate.fault.name] = (
                    replace(candidate, place="layer and head hidden by nan") if blind else candidate
                )
        if found or count > MAX_RUNS:
            return list(found.values())
    return []


def same(x: Array, y: Array, tolerance: float) -> bool:
    """Whether two outputs agree: finite at the same places, and there |x - y| <= tolerance * max(1, |x|)."""
    if x.shape != y.shape or not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return False
    finite = np.isfinite(x)
    scale = max(1.0, float(np.abs(x[finite]).max(initial=0.0)))
    return float(np.abs(x[finite] - y[finite]).max(initial=0.0)) <= tolerance * scale


def _scopes(network: Network) -> Iterator[tuple[int | None, int | None]]:
    """Layer and head (None: all): all of them, all heads of one layer, one head of one layer, one head of all layers."""
    everywhere: list[int | None] = [None] if network.l > 1 else []
    each: list[int | None] = [y.index for y in network.layers]
    yield from ((at, None) for at in [*everywhere, *each])
    for at in [*each, *everywhere]:
        yield from ((at, head) for head in range(max((y.heads for y in network.layers), default=0)))


def _at(network: Network, at: int | None, head: int | None) -> Iterator[Named]:
    """The faults that the given layer (None: every layer) and head (None: every head) can have."""
    layers = [y for y in network.layers if at in (None, y.index)]
    heads = min(y.heads for y in layers)
    if head is not None and not 1 < heads > head:
        return
    place = "every layer" if at is None else f"layer {at}"
    for fault in CATALOGUE:
        if not all(fault.applies(network, y) for y in layers) or (head is not None and not fault.per_head):
            continue
        where = (
            place
            if not fault.per_head or heads == 1
            else f"{place}, {'every head' if head is None else f'head {head}'}"
        )
        chosen = None if at is None else frozenset({at})
        yield Named(
            fault, Deviation(fault.step, fault.change, chosen, None if head is None else frozenset({head})), where
        )


def _softmax(network: Network, layer: Layer) -> bool:
    return network.kind == "softmax"


def _rope(network: Network, layer: Layer) -> bool:
    return network.rotates


def _with(value: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**value, **changes}


def _swapped(m: dict[str, Any], place: Place) -> dict[str, Any]:
    return _with(m, Q=m["K"], K=m["Q"], bq=m["bk"], bk=m["bq"])


def _transposed(name: str) -> Fault:
    def square(network: Network, layer: Layer) -> bool:
        rows, columns = {
            "Q": (layer.a, layer.m), "K": (layer.a, layer.m), "V": (layer.value_rows, layer.m), "O": (layer.n, layer.value_rows),
        }[name]  # fmt: skip
        return rows == columns and (name != "O" or layer.dv is not None)

    return Fault(f"{name} transposed (a missing or extra transpose)", name, "tensors",
                 lambda m, place: _with(m, **{name: m[name].T}), square)  # fmt: skip


def _tied(names: tuple[str, ...], to: str) -> Fault:
    def change(m: dict[str, Any], place: Place) -> dict[str, Any]:
        head = place.head or 0
        other = 0 if to == "head 0" else (head - 1) % place.layer.heads
        return _with(m, **{n: place.tensor(n, other) for n in names})

    def applies(network: Network, layer: Layer) -> bool:
        return layer.heads > 1 and ("O" not in names or layer.dv is not None)

    shown = ", ".join(n for n in names if not n.startswith("b"))
    which = "all heads" if len(names) > 4 else f"heads share {shown}"
    return Fault(f"heads tied: {which}: a head reads those of {to}", shown, "tensors", change, applies)


def _grouped(m: dict[str, Any], place: Place) -> dict[str, Any]:
    """Head h reads group h mod kv, not floor(h kv / H): a head of that group stands for it."""
    head = ((place.head or 0) % place.layer.kv) * place.layer.per_group
    return _with(m, **{n: place.tensor(n, head) for n in ("K", "V", "bk", "bv")})


def _dropped(bias: str, name: str) -> Fault:
    def applies(network: Network, layer: Layer) -> bool:
        return name in network.bias

    return Fault(f"bias b{name} missing", bias, "tensors", lambda m, place: _with(m, **{bias: None}), applies)


def _scaled(what: str, factor: Callable[[Place], float]) -> Fault:
    return Fault(f"scores scaled by {what}", "Q, K", "scores", lambda S, place: S * factor(place))


def _mask(name: str, sees: Callable[[Array, int], Array], applies: Callable[[Network, Layer], bool]) -> Fault:
    """Another mask, given by the offsets i - j of key i and query j and the window (t without one)."""

    def change(value: Array, place: Place) -> Array:
        return sees(_offsets(place), place.network.window or place.network.t)

    return Fault(name, "mask", "sees", change, lambda network, layer: network.t > 1 and applies(network, layer))


def _blind(fill: str) -> Fault:
    """The own key is masked, so that the first query sees nothing: nan by -inf scores, equal weights by large negative ones."""

    def change(P: Array, place: Place) -> Array:
        o = _offsets(place)
        sees = (o < 0) & (o > -(place.network.window or place.network.t))
        if place.network.kind == "lightning":
            return np.where(sees, place.seen["scores"], 0)
        wrong = softmax(place.seen["scores"], sees, axis=-2)
        return np.where(sees.any(axis=0), wrong, 1 / place.network.t) if fill == "equal" else wrong

    return Fault("mask off by one (a query does not see its own key)", "mask", "weights", change,
                 lambda network, layer: network.t > 1 and network.causal)  # fmt: skip


def _offsets(place: Place) -> Array:
    tokens = np.arange(place.network.t)
    return np.subtract.outer(tokens, tokens)


def _causal(network: Network, layer: Layer) -> bool:
    return network.causal


def _window(network: Network, layer: Layer) -> bool:
    return network.window is not None


CATALOGUE: tuple[Fault, ...] = (
    Fault("softmax over the wrong axis (queries instead of keys)", "Q, K", "weights",
          lambda P, place: softmax(place.seen["scores"], place.seen["sees"], axis=-1), _softmax),
    Fault("softmax missing", "Q, K", "weights",
          lambda P, place: np.where(place.seen["sees"], place.seen["scores"], 0), _softmax),
    Fault("K and Q swapped", "Q, K", "tensors", _swapped,
          lambda network, layer: network.t > 1 and not (network.kind == "lightning" and layer.m == 1)),
    Fault("attention weights transposed (a missing or extra transpose)", "V", "mixed",
          lambda y, place: place.seen["values"] @ np.swapaxes(place.seen["weights"], -1, -2)),
    *map(_transposed, ("Q", "K", "V", "O")),
    _scaled("1/sqrt(a)", lambda p: 1 / math.sqrt(p.layer.a)),
    _scaled("1/a", lambda p: 1 / p.layer.a),
    _scaled("1/sqrt(d)", lambda p: 1 / math.sqrt(p.layer.m)),
    _scaled("1/t", lambda p: 1 / p.network.t),
    _mask("mask missing", lambda o, w: o == o, _causal),
    _mask("mask off by one (a query sees the next key)", lambda o, w: (o <= 1) & (o > -w), _causal),
    _blind("nan"), _blind("equal"),
    _mask("mask off by one (shifted by one key)", lambda o, w: (o <= 1) & (o > 1 - w), _window),
    _mask("mask off by one (window one too long)", lambda o, w: (o <= 0) & (o >= -w), _window),
    _mask("mask off by one (window one too short)", lambda o, w: (o <= 0) & (o > 1 - w), _window),
    _mask("window missing", lambda o, w: o <= 0, _window),
    _mask("mask transposed (queries see later keys)", lambda o, w: (o >= 0) & (o < w), _causal),
    _mask("mask where there should be none", lambda o, w: o <= 0, lambda network, layer: not network.causal),
    *(_tied(names, to) for to in ("head 0", "the head before")
      for names in (("Q", "bq"), ("K", "bk"), ("V", "bv"), ("O",), ("Q", "K", "V", "bq", "bk", "bv"),
                    ("Q", "K", "V", "O", "bq", "bk", "bv"))),
    Fault("wrong key/value group (head h reads group h mod kv)", "K, V", "tensors", _grouped,
          lambda network, layer: 1 < layer.kv < layer.heads),
    _dropped("bq", "q"), _dropped("bk", "k"), _dropped("bv", "v"),
    Fault("rope on the wrong plane (coordinates j and j + a/2 instead of 2j and 2j + 1)", "Q, K", "planes",
          lambda planes, place: np.arange(planes.size).reshape(2, -1).T, _rope),
    Fault("rope on the wrong plane (the angles in another order)", "Q, K", "angles", lambda w, place: np.roll(w, 1), _rope),
    Fault("rope on the wrong plane (the angles reversed)", "Q, K", "angles", lambda w, place: w[::-1], _rope),
    Fault("rope turns the wrong way", "Q, K", "angles", lambda w, place: -w, _rope),
    Fault("rope missing", "Q, K", "angles", lambda w, place: 0 * w, _rope),
    Fault("skip connection missing", "stream", "sum", lambda x, place: place.seen["branch"],
          lambda network, layer: network.skip, per_head=False),
    Fault("skip connection where there should be none", "stream", "sum", lambda x, place: x + place.seen["stream"],
          lambda network, layer: not network.skip and layer.m == layer.n, per_head=False),
    Fault("norm missing", "g1", "read", lambda x, place: place.seen["stream"],
          lambda network, layer: network.norm is not None, per_head=False),
    Fault("gate and value of swiglu swapped", "G, U", "activation",
          lambda h, place: place.seen["gate"] * place.seen["linear"] / (1 + np.exp(-place.seen["linear"])),
          lambda network, layer: layer.ffn is not None and layer.ffn.activation == "swiglu", per_head=False),
    Fault("activation missing", "U, D", "activation", lambda h, place: place.seen["linear"],
          lambda network, layer: layer.ffn is not None, per_head=False),
)  # fmt: skip
