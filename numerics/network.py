"""What a network is: sizes and switches, one value per layer, with every cross-condition checked.

A `Network` is immutable and canonical: two descriptions of the same network compare equal. The one-line notation
(`numerics.notation`) reads and prints it; `str(network)` is the canonical line.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

KINDS = ("lightning", "softmax", "mlp")
BIAS_LETTERS = "qkvoud"
ACTIVATIONS = ("silu", "gelu", "swiglu")
NORMS = ("rms", "layer")
EPSILON = (1, 100_000)

MAX_SIZE = 1_000_000  # of any single width, head count, token count
MAX_LAYERS = 1_000
MAX_POWER = 64
MAX_LISTED_WIDTHS = 4  # deeper stacks of equal widths print as d=6 l=5


class NetworkError(ValueError):
    """The description is not a network. The message says what was asked, what failed and the nearest valid thing.

    `field` names the field at fault, "" where none is.
    """

    def __init__(self, message: str, field: str = ""):
        super().__init__(message)
        self.field = field


class UnsupportedNetwork(NetworkError):
    """A network this operation cannot handle; `field` names the mechanism in the way."""

    def __init__(self, field: str, message: str):
        super().__init__(message, field)


@dataclass(frozen=True)
class Ffn:
    """A feed-forward block: `hidden` units and an activation, a power (entrywise) or one of `ACTIVATIONS`."""

    hidden: int
    activation: str | int

    def __str__(self) -> str:
        return f"{self.hidden}:{self.activation}"

    @property
    def power(self) -> int | None:
        """The exponent when the activation is a power, else None."""
        return self.activation if isinstance(self.activation, int) else None


@dataclass(frozen=True)
class Layer:
    """The sizes of one attention layer: reads width `m`, writes width `n` (letters as in `oracle/NOTATION.md`)."""

    index: int
    m: int
    n: int
    a: int
    heads: int
    kv: int
    dv: int | None
    ffn: Ffn | None

    @property
    def value_rows(self) -> int:
        """Rows of each value matrix: dv, or n where dv is not given."""
        return self.n if self.dv is None else self.dv

    @property
    def per_group(self) -> int:
        """Query heads that share one key/value group."""
        return self.heads // self.kv

    def group_of(self, head: int) -> int:
        """The key/value group g = floor(h * kv / H) of a head."""
        return head * self.kv // self.heads

    def heads_of(self, group: int) -> range:
        """The query heads of a key/value group."""
        return range(group * self.per_group, (group + 1) * self.per_group)


@dataclass(frozen=True)
class Network:
    """One network of `oracle/NOTATION.md`, validated.

    `d` has length l + 1; `a`, `heads`, `kv`, `dv`, `ffn` have length l (empty for mlp; dv and ffn are None where absent).
    `bias` is a string of letters in the order of `BIAS_LETTERS`. Raises `NetworkError` on any inconsistent description.
    """

    kind: str
    d: tuple[int, ...]
    a: tuple[int, ...] = ()
    t: int = 1
    heads: tuple[int, ...] = ()
    kv: tuple[int, ...] = ()
    dv: tuple[int, ...] | None = None
    skip: bool = False
    causal: bool = False
    window: int | None = None
    rope: bool = False
    alibi: bool = False
    bias: str = ""
    norm: str | None = None
    ffn: tuple[Ffn, ...] | None = None
    r: int | None = None

    def __post_init__(self) -> None:
        l = len(self.d) - 1
        _require(self.kind in KINDS, f"unknown kind {self.kind!r}: lightning, softmax or mlp")
        _require(l >= 1, "d needs at least two widths, as in d=3,3", "d")
        _require(l <= MAX_LAYERS, f"{l} layers are more than {MAX_LAYERS}", "d")
        if self.kind == "mlp":
            self._check_mlp()
        else:
            for name, default in (("heads", (1,) * l), ("kv", None)):
                if not getattr(self, name):
                    object.__setattr__(self, name, self.heads if default is None else default)
            self._check_attention(l)
        for name in ("d", "a", "heads", "kv", "dv"):
            for value in getattr(self, name) or ():
                _require(1 <= value <= MAX_SIZE, f"{name}={value} is out of range: sizes are 1..{MAX_SIZE}", name)
        _require(1 <= self.t <= MAX_SIZE, f"t={self.t} is out of range: sizes are 1..{MAX_SIZE}", "t")

    def _check_mlp(self) -> None:
        _require(self.r is not None, "an mlp needs its power, as in r=2")
        _require(1 <= (self.r or 0) <= MAX_POWER, f"r={self.r} is out of range: powers are 1..{MAX_POWER}", "r")
        given = [n for n in ("a", "heads", "kv", "dv", "skip", "causal", "window", "rope", "alibi", "bias", "norm", "ffn")
                 if getattr(self, n)]
        _require(not given, f"an mlp has no {', '.join(given)}: it takes d, r (and t, which changes nothing)", *given[:1])
        object.__setattr__(self, "t", 1)

    def _check_attention(self, l: int) -> None:
        _require(self.r is None, "r belongs to mlp; a power for attention networks is written ffn=h:r", "r")
        for name in ("a", "heads", "kv", "dv", "ffn"):
            value = getattr(self, name)
            if value is not None:
                _require(len(value) == l, f"{name} has {len(value)} values for {l} layers: give one, or one per layer", name)
        for i, (h, g) in enumerate(zip(self.heads, self.kv, strict=True), 1):
            _require(1 <= g <= h and h % g == 0, f"layer {i}: heads={h} is not a multiple of kv={g}", "kv")
        if self.rope:
            for i, a in enumerate(self.a, 1):
                _require(a % 2 == 0, f"layer {i}: rope rotates planes, so a={a} must be even (nearest: a={a + 1})", "a")
        if self.skip:
            _require(len(set(self.d)) == 1, f"skip needs equal widths, d={','.join(map(str, self.d))} are not", "skip")
        if self.norm is not None:
            _require(self.norm in NORMS, f"unknown norm {self.norm!r}: rms or layer", "norm")
            _require(self.skip, "norm is defined with skip: add skip", "norm")
        if self.window is not None:
            _require(self.causal, "window is defined with causal: add causal", "window")
            _require(1 <= self.window <= MAX_SIZE, f"window={self.window} is out of range: 1..{MAX_SIZE}", "window")
            if self.window >= self.t:
                object.__setattr__(self, "window", None)
        _require(not self.alibi or self.kind == "softmax", "alibi is defined for softmax only", "alibi")
        _require(all(c in BIAS_LETTERS for c in self.bias), f"bias={self.bias}: letters are q k v o, and u d with ffn", "bias")
        object.__setattr__(self, "bias", "".join(c for c in BIAS_LETTERS if c in self.bias))
        if self.ffn is None:
            _require(not set(self.bias) & {"u", "d"}, "bias letters u and d belong to ffn: add ffn=h:r", "bias")
        for block in self.ffn or ():
            _require(1 <= block.hidden <= MAX_SIZE, f"ffn={block}: hidden units are 1..{MAX_SIZE}", "ffn")
            ok = block.activation in ACTIVATIONS if block.power is None else 1 <= block.power <= MAX_POWER
            _require(ok, f"ffn={block}: the activation is a power 1..{MAX_POWER}, silu, gelu or swiglu", "ffn")

    @property
    def l(self) -> int:
        """The number of layers."""
        return len(self.d) - 1

    @functools.cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The attention layers, first to last (empty for mlp)."""
        if self.kind == "mlp":
            return ()
        return tuple(
            Layer(i + 1, self.d[i], self.d[i + 1], self.a[i], self.heads[i], self.kv[i],
                  self.dv[i] if self.dv else None, self.ffn[i] if self.ffn else None)
            for i in range(self.l)
        )

    @property
    def rotates(self) -> bool:
        """Whether rotary positions act at all: with one token, or each token seeing itself alone, every relative angle is 0."""
        return self.rope and not self.sees_itself_only

    @property
    def sees_itself_only(self) -> bool:
        """Whether every query sees exactly one key: itself."""
        return self.t == 1 or self.window == 1

    @property
    def transcendental(self) -> bool:
        """Whether an exponential occurs."""
        return self.kind == "softmax" or any(f.power is None for f in self.ffn or ())

    def sees(self, key: int, query: int) -> bool:
        """Whether key i is seen by query j under the mask."""
        return not self.causal or (key <= query and (self.window is None or key > query - self.window))

    def parameter_shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the parameter tensors in their fixed order (`verifiers/CERTIFICATES.md` section 2)."""
        if self.kind == "mlp":
            for i in range(self.l):
                yield f"{i + 1}.W", (self.d[i + 1], self.d[i])
        for y in self.layers:
            rows = y.value_rows
            candidates: list[tuple[str, tuple[int, ...], bool]] = [
                ("g1", (y.m,), self.norm is not None),
                ("s1", (y.m,), self.norm == "layer"),
                ("Q", (y.heads, y.a, y.m), True),
                ("K", (y.kv, y.a, y.m), True),
                ("V", (y.kv, rows, y.m), True),
                ("O", (y.heads, y.n, rows), y.dv is not None),
                ("bq", (y.heads, y.a), "q" in self.bias),
                ("bk", (y.kv, y.a), "k" in self.bias),
                ("bv", (y.kv, rows), "v" in self.bias),
                ("bo", (y.n,), "o" in self.bias),
            ]
            if y.ffn:
                h = y.ffn.hidden
                candidates += [
                    ("g2", (y.n,), self.norm is not None),
                    ("s2", (y.n,), self.norm == "layer"),
                    ("G", (h, y.n), y.ffn.activation == "swiglu"),
                    ("U", (h, y.n), True),
                    ("D", (y.n, h), True),
                    ("bu", (h,), "u" in self.bias),
                    ("bd", (y.n,), "d" in self.bias),
                ]
            for name, shape, present in candidates:
                if present:
                    yield f"{y.index}.{name}", shape

    @functools.cached_property
    def parameters(self) -> int:
        """The number of parameters."""
        total = 0
        for _, shape in self.parameter_shapes():
            size = 1
            for s in shape:
                size *= s
            total += size
        return total

    def __str__(self) -> str:
        """The canonical line: one value where all layers agree, defaults left out."""
        equal_and_deep = len(set(self.d)) == 1 and self.l > MAX_LISTED_WIDTHS
        words = [self.kind, f"d={self.d[0]} l={self.l}" if equal_and_deep else "d=" + ",".join(map(str, self.d))]
        if self.kind == "mlp":
            return " ".join([*words, f"r={self.r}"])
        words += [f"a={_values(self.a)}", f"t={self.t}"]
        if set(self.heads) != {1}:
            words.append(f"heads={_values(self.heads)}")
        if self.kv != self.heads:
            words.append(f"kv={_values(self.kv)}")
        if self.dv:
            words.append(f"dv={_values(self.dv)}")
        words += [w for w, on in (("skip", self.skip), ("causal", self.causal)) if on]
        if self.window is not None:
            words.append(f"window={self.window}")
        words += [w for w, on in (("rope", self.rope), ("alibi", self.alibi)) if on]
        words += [f"{name}={value}" for name, value in (("bias", self.bias), ("norm", self.norm)) if value]
        if self.ffn:
            words.append(f"ffn={_values(self.ffn)}")
        return " ".join(words)

    def __repr__(self) -> str:
        return f"Network({str(self)!r})"


def _values(values: Sequence[object]) -> str:
    return ",".join(map(str, values if len(set(values)) > 1 or not values else values[:1]))


def _require(condition: bool, message: str, field: str = "") -> None:
    if not condition:
        raise NetworkError(message, field)
