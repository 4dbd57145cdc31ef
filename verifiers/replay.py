"""Replay a certificate: an independent check that `lower <= dimension <= upper` holds for one network.

Usage: ``python -I -S verifiers/replay.py FILE...`` (standard library only, no installation), or :func:`replay`.

A certificate (``CERTIFICATES.md``, version 1) names a network and makes *choices*: a prime, a seed, a minor, a list of
vector fields. This file parses the network, evaluates it and its derivative modulo the prime, and checks every choice.

*What `valid` guarantees.* Some minor of the Jacobian of that size is not zero, so the dimension is at least ``lower``;
the listed fields annihilate the network and are independent, so it is at most ``upper``. "Dimension" means what
``NOTATION.md`` says: the largest rank over all parameters, with tokens, masks, angles, slopes and norm constants fixed
and generic. The mathematics behind each rule is in ``PROOFS.md``; this file trusts it, Python, and nothing else.

*What it does not guarantee.* Nothing at a particular parameter point, nothing in floating point, and `invalid` never
means that the claim is false. `holey` means that the file itself names statements that were not replayed.

From top to bottom: caps, JSON, networks, points, number systems, the forward pass, lower bound, upper bound, verdict.
"""

# ruff: noqa: D102  (methods that override another one share its docstring)
from __future__ import annotations

import json
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import shake_256
from itertools import combinations, combinations_with_replacement, pairwise, product
from math import comb, isqrt, prod
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

# ---------------------------------------------------------------------------------------------------------------- caps

MAX_BYTES = 8_000_000  # of a file
MAX_DIGITS = 18  # of an integer in a file
MAX_TEXT = 20_000  # characters of a spec, holes of a file
MAX_LAYERS = 256
MAX_POWER = 64  # r of a polynomial network
MAX_PARAMETERS = 20_000  # also bounds every width; see Packed for the inequality that needs it
MAX_TOKENS = 2_048
MAX_MINOR = 3_000
MAX_EXPONENTS = 3_000  # of one input
MAX_FIELDS = 20_000  # entries
MAX_FACTORS = 8  # of a term of a found field
MAX_TERMS = 1 << 20  # of a polynomial
MAX_WORDS = 1 << 22  # of one expanded stream
ROOT_TRIES = 128  # inputs of a block looked at for each that is needed, where norms need roots
MAX_WORK = 3 * 10**11  # estimated elementary steps, about 2 ns each


class ReplayError(Exception):
    """The certificate breaks `rule`; nothing is said about the truth of its claim."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def require(condition: bool, rule: str, message: str) -> None:
    """Fail closed: every check of this file goes through here or raises `ReplayError` itself."""
    if not condition:
        raise ReplayError(rule, message)


# ---------------------------------------------------------------------------------------------------------------- JSON


def load(text: str) -> Any:
    """Parse JSON without floats, negative or huge integers, duplicate keys or unprintable strings."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len({key for key, _ in pairs}) == len(pairs), "json", "an object has a key twice")
        return dict(pairs)

    def integer(digits: str) -> int:
        require(digits.isdigit() and len(digits) <= MAX_DIGITS, "json", f"integer out of range: {digits[:30]}")
        return int(digits)

    def refuse(token: str) -> Any:
        raise ReplayError("json", f"not an integer: {token[:30]}")

    require(len(text) <= MAX_BYTES, "caps", f"longer than {MAX_BYTES} characters")
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_int=integer, parse_float=refuse, parse_constant=refuse
        )
    except RecursionError:
        raise ReplayError("json", "nested too deeply") from None
    except ValueError as error:
        raise ReplayError("json", f"not JSON: {error}") from None


def record(value: Any, keys: str, where: str, optional: str = "") -> dict[str, Any]:
    """Return `value`, an object with exactly these keys."""
    require(isinstance(value, dict), "schema", f"{where} is not an object")
    wanted, allowed = set(keys.split()), set(keys.split()) | set(optional.split())
    require(wanted <= set(value), "schema", f"{where} lacks {', '.join(sorted(wanted - set(value)))}")
    unknown = sorted(set(value) - allowed)
    require(not unknown, "schema", f"{where} has unknown keys: {', '.join(map(ascii, unknown))[:80]}")
    return dict(value)


def natural(value: Any, where: str, bound: int = 10**MAX_DIGITS) -> int:
    """Return `value`, an integer with 0 <= value < bound (True is not 1)."""
    require(type(value) is int, "schema", f"{where} is not an integer")
    require(0 <= value < bound, "schema", f"{where} is not below {bound}")
    return int(value)


def words(value: Any, where: str) -> str:
    """Return `value`, a printable ASCII string."""
    require(isinstance(value, str) and value.isascii() and value.isprintable(), "schema", f"{where} is not plain text")
    return str(value)


def array(value: Any, where: str, cap: int) -> list[Any]:
    """Return `value`, a list of at most `cap` entries."""
    require(isinstance(value, list), "schema", f"{where} is not a list")
    require(len(value) <= cap, "caps", f"{where} has more than {cap} entries")
    return list(value)


def indices(value: Any, where: str, bound: int, cap: int) -> list[int]:
    """Read increasing, non-overlapping, non-adjacent ranges: ``"0-5,8,10-11"`` (``""`` is the empty set)."""
    found: list[int] = []
    for part in words(value, where).split(",") if value != "" else []:
        match = re.fullmatch(r"(0|[1-9][0-9]{0,17})(?:-([1-9][0-9]{0,17}))?", part)
        require(match is not None, "schema", f"{where}: not a range: {part[:30]}")
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        require(not (match and match[2]) or low < high, "schema", f"{where}: not an increasing range: {part}")
        require(not found or low > found[-1] + 1, "schema", f"{where}: ranges overlap, touch or decrease at {part}")
        require(high < bound, "schema", f"{where}: {high} is out of range, the bound is {bound}")
        require(len(found) + high - low < cap, "caps", f"{where} has more than {cap} entries")
        found.extend(range(low, high + 1))
    return found


# ------------------------------------------------------------------------------------------------------------ networks


class Layer(NamedTuple):
    """One layer: reads width m, writes width n. `dv` 0: no O; `h` 0: no ffn."""

    m: int
    n: int
    a: int = 0
    heads: int = 0
    kv: int = 0
    dv: int = 0
    h: int = 0
    act: str = ""  # digits (a power), silu, gelu, swiglu

    def group(self, head: int) -> int:
        """Return the key/value group of a head."""
        return head * self.kv // self.heads

    def members(self, group: int) -> list[int]:
        """Return the heads of a group."""
        return [h for h in range(self.heads) if self.group(h) == group]


class Network(NamedTuple):
    """What a spec says. `window` 0: none; for `mlp` only kind, layers and power count, and t = 1."""

    kind: str  # lightning, softmax, mlp
    layers: tuple[Layer, ...]
    t: int = 1
    power: int = 0
    skip: bool = False
    causal: bool = False
    window: int = 0
    alibi: bool = False
    rope: bool = False
    bias: frozenset[str] = frozenset()
    norm: str = ""  # rms, layer

    def visible(self, query: int) -> range:
        """Return the keys that a query sees."""
        first = max(0, query - self.window + 1) if self.window else 0
        return range(first, query + 1) if self.causal else range(self.t)

    @property
    def alone(self) -> bool:
        """Every query sees one key only, its own."""
        return self.t == 1 or self.window == 1

    @property
    def ffn(self) -> bool:
        """There are feed-forward blocks."""
        return any(layer.h for layer in self.layers)

    @property
    def mean(self) -> int:
        """How many coordinates of the stream are written and not read: with LayerNorm one, in a basis with the ones."""
        return int(self.norm == "layer")

    @property
    def plain(self) -> bool:
        """The stream is read as it is written: no skip, no norm."""
        return not (self.skip or self.norm)

    @property
    def inert_keys(self) -> bool:
        """A vector added to all keys of a head changes nothing: softmax without rope."""
        return self.kind == "softmax" and not self.rope


def size(text: str) -> int:
    """Read a positive integer."""
    require(re.fullmatch(r"[1-9][0-9]{0,6}", text) is not None, "spec", f"not a size: {text[:30]!r}")
    return int(text)


def parse(spec: str) -> Network:
    """Read the one-line notation of ``NOTATION.md``; free sizes (families) are no networks here."""
    require(len(spec) <= MAX_TEXT, "caps", f"spec longer than {MAX_TEXT} characters")
    kind, *tokens = spec.split(" ")
    require(kind in ("lightning", "softmax", "mlp"), "spec", f"unknown kind of network: {ascii(kind)[:30]}")
    allowed = "d l r" if kind == "mlp" else "d l a t heads kv dv window bias ffn norm skip causal rope alibi"
    given: dict[str, str] = {}
    for token in tokens:
        key, equals, value = token.partition("=")
        require(key in allowed.split(), "spec", f"{kind} networks have no {ascii(key)[:30]}")
        require(key not in given, "spec", f"{key} is given twice")
        require(bool(value) if key not in FLAGS else not equals, "spec", f"malformed: {ascii(token)[:30]}")
        given[key] = value
    needed = {"mlp": "d r"}.get(kind, "d a t").split()
    require(all(key in given for key in needed), "spec", f"{kind} networks need {', '.join(needed)}")

    widths = [size(item) for item in given["d"].split(",")]
    if "l" in given:
        require(len(widths) == 1, "spec", "l is for networks with one value of d")
        widths *= min(size(given["l"]), MAX_LAYERS + 1) + 1
    l = len(widths) - 1
    require(l >= 1, "spec", "a network needs at least one layer")
    require(l <= MAX_LAYERS, "caps", f"more than {MAX_LAYERS} layers")
    if kind == "mlp":
        power = size(given["r"])
        require(power <= MAX_POWER, "caps", f"power above {MAX_POWER}")
        return checked(Network(kind, tuple(map(Layer, widths, widths[1:])), power=power))

    def each(key: str, missing: str) -> list[str]:
        items = given.get(key, missing).split(",")
        require(len(items) in (1, l), "spec", f"{key} has {len(items)} values for {l} layers")
        return items * l if len(items) == 1 else items

    def sizes(key: str, missing: str) -> list[int]:
        return [0 if item == "none" and key not in given else size(item) for item in each(key, missing)]

    heads = sizes("heads", "1")
    kv = sizes("kv", "none")
    blocks = [item.partition(":") for item in each("ffn", "none")] if "ffn" in given else [("", "", "")] * l
    layers = []
    for m, n, a, H, g, dv, (h, _, act) in zip(
        widths, widths[1:], sizes("a", ""), heads, kv, sizes("dv", "none"), blocks, strict=False
    ):
        if "ffn" in given and act not in ACTIVATIONS:
            require(size(act) <= MAX_POWER, "caps", f"power above {MAX_POWER}")
        layers.append(Layer(m, n, a, H, g or H, dv, size(h) if "ffn" in given else 0, act))
    bias = given.get("bias", "")
    require(len(set(bias)) == len(bias) and set(bias) <= set("qkvoud"), "spec", f"not bias letters: {ascii(bias)[:30]}")
    return checked(
        Network(
            kind,
            tuple(layers),
            t=size(given["t"]),
            window=size(given["window"]) if "window" in given else 0,
            bias=frozenset(bias),
            norm=given.get("norm", ""),
            **{flag: flag in given for flag in FLAGS},
        )
    )


FLAGS = ("skip", "causal", "rope", "alibi")
ACTIVATIONS = ("silu", "gelu", "swiglu")


def checked(net: Network) -> Network:
    """Return `net` if it is a network of the notation."""
    if net.kind != "mlp":
        for layer in net.layers:
            require(layer.heads % layer.kv == 0, "spec", "the heads are no multiple of the key/value groups")
            require(not net.skip or layer.m == layer.n, "spec", "skip needs equal widths")
            require(not net.rope or layer.a % 2 == 0, "spec", "rope needs even a")
        require(not net.window or net.causal, "spec", "window needs causal")
        require(not net.alibi or net.kind == "softmax", "spec", "alibi needs softmax")
        require(net.norm in ("", "rms", "layer"), "spec", f"unknown norm: {ascii(net.norm)[:30]}")
        require(not net.norm or net.skip, "spec", "norm needs skip")
        require(net.ffn or not net.bias & set("ud"), "spec", "bias u and d need ffn")
    return net


def affordable(net: Network) -> Network:
    """Return `net` if it is small enough to be evaluated."""
    require(parameters(net) <= MAX_PARAMETERS, "caps", f"more than {MAX_PARAMETERS} parameters")
    return net


Shape = tuple[int, int, int]  # blocks (heads, groups, or 1), rows, columns


def shapes(net: Network) -> dict[str, Shape]:
    """Return the parameter tensors in their order; vectors have one column."""
    found: dict[str, Shape] = {}
    for i, (m, n, a, heads, kv, dv, h, act) in enumerate(net.layers, 1):
        if net.kind == "mlp":
            found[f"{i}.W"] = (1, n, m)
            continue
        b, v = net.bias, dv or n
        table: list[tuple[str, Shape, object]] = [
            ("g1", (1, m, 1), net.norm),
            ("s1", (1, m, 1), net.norm == "layer"),
            ("Q", (heads, a, m), True),
            ("K", (kv, a, m), True),
            ("V", (kv, v, m), True),
            ("O", (heads, n, dv), dv),
            ("bq", (heads, a, 1), "q" in b),
            ("bk", (kv, a, 1), "k" in b),
            ("bv", (kv, v, 1), "v" in b),
            ("bo", (1, n, 1), "o" in b),
            ("g2", (1, n, 1), h and net.norm),
            ("s2", (1, n, 1), h and net.norm == "layer"),
            ("G", (1, h, n), act == "swiglu"),
            ("U", (1, h, n), h),
            ("D", (1, n, h), h),
            ("bu", (1, h, 1), "u" in b),
            ("bd", (1, n, 1), "d" in b),
        ]
        found.update({f"{i}.{name}": shape for name, shape, present in table if present})
    return found


def parameters(net: Network) -> int:
    """Return the number of parameters."""
    return sum(blocks * rows * columns for blocks, rows, columns in shapes(net).values())


# -------------------------------------------------------------------------------------------------------------- points


Arithmetic = Callable[[int], "Packed"]  # of a prime


class Source:
    """The expansion of a seed: named streams of 64-bit words, by SHAKE-256."""

    def __init__(
        self, p: int, seed: int, prefix: str = "", spent: list[int] | None = None, arithmetic: Arithmetic | None = None
    ) -> None:
        self.p, self.seed, self.prefix = p, seed, prefix
        self.arithmetic = arithmetic or Packed
        self.streams: dict[str, bytes] = {}
        self.words = 0
        self.spent = [0] if spent is None else spent

    def under(self, prefix: str) -> Source:
        """Return the source of a prefix; what it costs counts together with this one."""
        return Source(self.p, self.seed, prefix, self.spent, self.arithmetic)

    def packed(self) -> Packed:
        """Return the arithmetic of vectors modulo p."""
        return self.arithmetic(self.p)

    def spend(self, work: int, message: str) -> None:
        """Count elementary steps of the whole replay, about 2 ns each."""
        self.spent[0] += work
        require(self.spent[0] <= MAX_WORK, "caps", message)

    def word(self, label: str, k: int) -> int:
        """Return word number k of the stream of a label."""
        stream = self.streams.get(label, b"")
        if 8 * k >= len(stream):
            require(k < MAX_WORDS, "caps", f"stream {label} longer than {MAX_WORDS} words")
            shake = shake_256(f"neuromanifold:{self.seed}:{self.prefix}{label}".encode("ascii"))
            count = max(64, 2 * k)
            self.words += count - len(stream) // 8
            require(self.words <= 8 * MAX_WORDS, "caps", f"streams longer than {8 * MAX_WORDS} words")
            self.spend(20 * count, "the streams cost too much")
            stream = self.streams[label] = shake.digest(8 * count)
        return int.from_bytes(stream[8 * k : 8 * k + 8], "little")

    def value(self, label: str, k: int) -> int:
        """Return a residue."""
        return self.word(label, k) % self.p

    def unit(self, label: str, k: int) -> int:
        """Return a non-zero residue."""
        return 1 + self.word(label, k) % (self.p - 1)

    def flat(self, net: Network) -> list[int]:
        """Return all parameters of a network, in the order of the Jacobian's columns."""
        return [self.value(name, k) for name, (b, r, c) in shapes(net).items() for k in range(b * r * c)]

    def tokens(self, net: Network, n: int) -> list[list[int]]:
        """Return input number n: a list of t tokens of d_0 values."""
        m, t = net.layers[0].m, net.t
        return [[self.value("X", (n * m + i) * t + j) for i in range(m)] for j in range(t)]


Draw = Callable[[str, int], Any]
"""(label, index) -> the unit of an exponential, or a constant (`rope`, `alibi`, `gelu`)."""


def drawer(units: Source, constants: Source) -> Draw:
    """Take units from one source and the network's constants from another one."""
    table: dict[str, Callable[[str, int], int]] = {
        "rope": constants.value,
        "alibi": constants.unit,
        "gelu": constants.unit,
    }
    return lambda label, k: table.get(label, units.unit)(label, k)


Tensors = Mapping[str, Any]  # name -> blocks -> rows -> columns


def tensors(net: Network, flat: Sequence[Any]) -> Tensors:
    """Cut a flat list of parameters into blocks of matrices."""
    found, rest = {}, iter(flat)
    for name, (blocks, rows, columns) in shapes(net).items():
        found[name] = [[[next(rest) for _ in range(columns)] for _ in range(rows)] for _ in range(blocks)]
    return found


# ------------------------------------------------------------------------------------------------------ number systems


class Exact:
    """Any commutative field with Python's operators, for instance `fractions.Fraction`; the base of the others.

    The forward pass uses these methods only. `exponents` and `radicands` record what it met.
    """

    def __init__(self, one: Any, root: Callable[[Any], Any] | None = None) -> None:
        self.one, self._root = one, root
        self.exponents: list[Any] = []
        self.radicands: list[Any] = []

    def lift(self, scalar: Any) -> Any:
        """Return a constant."""
        return scalar

    def ratio(self, numerator: int, denominator: int = 1) -> Any:
        """Return a rational constant."""
        return self.one * numerator if denominator == 1 else self.one * numerator / denominator

    def dot(self, xs: Sequence[Any], ys: Sequence[Any]) -> Any:
        """Return the sum of the products."""
        return sum(map(mul, xs, ys), 0 * self.one)

    def sum(self, xs: Sequence[Any]) -> Any:
        """Return the sum."""
        return sum(xs, 0 * self.one)

    def inverse(self, x: Any) -> Any:
        """Return 1 / x."""
        return self.one / x

    def exponential(self, unit: Any, exponent: Any) -> Any:
        """Return the exponential of the exponent, which is the given unit."""
        self.exponents.append(exponent)
        return unit

    def root(self, x: Any) -> Any:
        """Return r with r^2 x = 1."""
        self.radicands.append(x)
        if self._root is None:
            raise ArithmeticError("a norm needs a root function")
        return self._root(x)


class RootError(Exception):
    """Radicand number `index` is not a non-zero square; `nonsquare` if it is not zero either."""

    def __init__(self, index: int, nonsquare: bool) -> None:
        super().__init__(f"radicand {index} has no root")
        self.index, self.nonsquare = index, nonsquare


class Modular(Exact):
    """Residues modulo a prime p = 3 mod 4."""

    def __init__(self, p: int) -> None:
        super().__init__(1)
        self.p = p

    def ratio(self, numerator: int, denominator: int = 1) -> Any:
        return self.lift(numerator * pow(denominator, -1, self.p) % self.p)

    def dot(self, xs: Sequence[Any], ys: Sequence[Any]) -> Any:
        return sum(map(mul, xs, ys)) % self.p

    def sum(self, xs: Sequence[Any]) -> Any:
        return sum(xs) % self.p

    def inverse(self, x: Any) -> Any:
        require(x % self.p != 0, "denominator", "a denominator is zero modulo the prime")
        return pow(x, -1, self.p)

    def root(self, x: Any) -> Any:
        self.radicands.append(x)
        if pow(x, (self.p - 1) // 2, self.p) != 1:
            raise RootError(len(self.radicands) - 1, x != 0)
        r = pow(pow(x, (self.p + 1) // 4, self.p), -1, self.p)  # x^((p+1)/4) squares to x^((p-1)/2) x = x
        return min(r, self.p - r)


class Packed:
    """Vectors over GF(p) as Python integers: one fixed-width field per entry, sums reduced late.

    `largest` is the largest minor that it is used for.

    No field overflows: a sum has fewer than 2^17 products below p^2 (every length here is below 2^16, and `Tape` counts its
    sums); p^2 2^17 < 2^64 for p < 2^23, and < 2^128 for p < 2^31.
    """

    largest = MAX_MINOR

    def __init__(self, p: int) -> None:
        self.p = p
        self.width = 64 if p < 1 << 23 else 128
        self.mask = (1 << self.width) - 1

    def reduce(self, row: int) -> int:
        """Reduce every field modulo p."""
        if not row:
            return 0
        fields, p, step = -(-row.bit_length() // self.width), self.p, self.width // 64
        limbs = struct.unpack(f"<{fields * step}Q", row.to_bytes(fields * step * 8, "little"))
        if step == 1:
            return int.from_bytes(struct.pack(f"<{fields}Q", *[x % p for x in limbs]), "little")
        low = [0] * (2 * fields)
        low[::2] = [(x + (y << 64)) % p for x, y in zip(limbs[::2], limbs[1::2], strict=True)]
        return int.from_bytes(struct.pack(f"<{2 * fields}Q", *low), "little")

    def pack(self, entries: Mapping[int, int]) -> int:
        """Pack a sparse vector."""
        step = self.width // 8
        buffer = bytearray(step * (max(entries, default=-1) + 1))
        for k, x in entries.items():
            buffer[k * step : k * step + 8] = (x % self.p).to_bytes(8, "little")
        return int.from_bytes(buffer, "little")

    def rank(self, rows: Sequence[int]) -> int:
        """Return the rank of packed rows with reduced fields."""
        return len(self.echelon(rows))

    def rank_work(self, rows: int, columns: int) -> int:
        """Estimate the elementary steps of `rank`."""
        return rows**2 * columns

    def echelon(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Return independent rows with the same span, each with the place (a shift) of its highest non-zero field.

        Each new row is cleared at all pivots so far, reduced once, and scaled to -1 at its highest non-zero field.
        """
        p, mask = self.p, self.mask
        pivots: list[tuple[int, int]] = []
        for row in rows:
            for shift, pivot in pivots:
                factor = ((row >> shift) & mask) % p
                if factor:
                    row += factor * pivot
            row = self.reduce(row)
            if row:
                shift = (row.bit_length() - 1) // self.width * self.width
                pivots.append((shift, self.reduce(row * (p - pow(row >> shift, -1, p)))))
        return pivots

    def entries(self, row: int) -> dict[int, int]:
        """Return the non-zero fields of a packed row by their number."""
        found = {}
        for k in range(-(-row.bit_length() // self.width)):
            if (row >> self.width * k) & self.mask:
                found[k] = (row >> self.width * k) & self.mask
        return found


class Tape(Modular):
    """Residues that remember how they were made, for derivatives by reverse accumulation.

    A value is (residue, node); node 0 is what never moves. `variables` are the values of `flat`, those that `moves` names with a
    node of their own. No field of a derivative overflows: a node is used fewer than 2^17 times.
    """

    def __init__(self, packed: Packed, flat: Iterable[int], moves: Iterable[bool]) -> None:
        super().__init__(packed.p)
        self.packed, self.variables, self.count = packed, [], 0
        for x, moving in zip(flat, moves, strict=True):
            self.count += moving
            self.variables.append((x, self.count if moving else 0))
        self.parts: list[list[tuple[int, int]]] = [[] for _ in range(self.count + 1)]  # node -> (node, derivative) of its parts
        self.derivatives = [bytearray() for _ in range(self.count)]

    def made(self, value: int, parts: list[tuple[int, int]]) -> tuple[int, int]:
        """Return a value with these parts."""
        if not parts:
            return value, 0
        self.parts.append(parts)
        return value, len(self.parts) - 1

    def lift(self, scalar: Any) -> Any:
        return (scalar, 0)

    def dot(self, xs: Sequence[Any], ys: Sequence[Any]) -> Any:
        value, parts = 0, []
        for (x, dx), (y, dy) in zip(xs, ys, strict=True):
            value += x * y
            if dx:
                parts.append((dx, y))
            if dy:
                parts.append((dy, x))
        return self.made(value % self.p, parts)

    def sum(self, xs: Sequence[Any]) -> Any:
        return self.made(sum(x for x, _ in xs) % self.p, [(dx, 1) for _, dx in xs if dx])

    def inverse(self, x: Any) -> Any:
        y = super().inverse(x[0])
        return self.made(y, [(x[1], self.p - y * y % self.p)] if x[1] else [])

    def exponential(self, unit: Any, exponent: Any) -> Any:
        return self.made(unit[0], [(exponent[1], unit[0])] if exponent[1] else [])

    def root(self, x: Any) -> Any:
        r = super().root(x[0])  # r^2 x = 1, so dr = -r^3/2 dx
        return self.made(r, [(x[1], -pow(r, 3, self.p) * pow(2, -1, self.p) % self.p)] if x[1] else [])

    def derive(self, values: Sequence[Any]) -> None:
        """Append the derivatives of some values by each variable, and forget how these values were made."""
        if sum(map(len, self.parts)) >= 1 << 17:
            uses = Counter(part for parts in self.parts for part, _ in parts)
            require(max(uses.values()) < 1 << 17, "caps", "a value is used too often")
        width, reduce, adjoint = self.packed.width, self.packed.reduce, [0] * len(self.parts)
        for r, (_, node) in enumerate(values):
            adjoint[node] += 1 << width * r
        for node in range(len(self.parts) - 1, self.count, -1):
            if adjoint[node]:
                whole = reduce(adjoint[node])
                for part, factor in self.parts[node]:
                    adjoint[part] += factor * whole
        for column, whole in zip(self.derivatives, adjoint[1:], strict=False):
            column += reduce(whole).to_bytes(len(values) * width // 8, "little")
        del self.parts[self.count + 1 :]

    def columns(self) -> list[int]:
        """Return for each variable the packed vector of all derivatives by it."""
        return [int.from_bytes(column, "little") for column in self.derivatives]


# -------------------------------------------------------------------------------------------------------- forward pass

Stream = list[list[Any]]  # tokens, each a list of coordinates


def outputs(
    spec: str,
    values: Mapping[str, Any],
    X: Sequence[Sequence[Any]],
    unit: Draw = lambda label, k: 1,
    root: Callable[[Any], Any] | None = None,
    one: Any = 1,
    n: int = 0,
) -> list[list[Any]]:
    """Evaluate a network in any commutative field: for comparing this forward pass with others.

    `values` maps the names of ``CERTIFICATES.md`` to nested or flat lists, `X` is d_0 x t, the result d_l x t (mlp:
    t = 1). `unit(label, index)` gives the exponentials and constants, labels and indices as in section 3 for input
    number `n`; `root(m)` gives r with r^2 m = 1 for norms. `one` is the field's one, such as ``Fraction(1)``.
    """

    def flatten(value: Any) -> Iterator[Any]:
        if isinstance(value, (list, tuple)):
            for item in value:
                yield from flatten(item)
        else:
            yield value

    net = parse(spec)
    w = tensors(net, [x for name in shapes(net) for x in flatten(values[name])])
    result = forward(net, Exact(one, root), w, [list(column) for column in zip(*X, strict=True)], unit, n)
    return [list(row) for row in zip(*result, strict=True)]


def forward(
    net: Network, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int, between: Callable[[Stream], Stream] | None = None
) -> Stream:
    """Evaluate a network on input number n (a list of tokens) in a number system; `between` sees the stream after each block."""
    between = between or (lambda stream: stream)
    if net.kind == "mlp":
        for i in range(1, len(net.layers) + 1):
            x = [affine(ring, w[f"{i}.W"][0], None, token) for token in x]
            if i < len(net.layers):
                x = between([[power(ring, z, net.power) for z in token] for token in x])
        return x
    for i, layer in enumerate(net.layers, 1):
        y = attention(net, i, ring, w, normalise(net, ring, w, f"{i}.g1", f"{i}.s1", x), draw, n)
        x = between(add(ring, x, y) if net.skip else y)
        if layer.h:
            y = feed_forward(net, i, ring, w, normalise(net, ring, w, f"{i}.g2", f"{i}.s2", x), draw, n)
            x = between(add(ring, x, y) if net.skip else y)
    return x


def affine(ring: Exact, matrix: Any, shift: Any, token: list[Any]) -> list[Any]:
    """Return matrix token + shift; `shift` is a column, or None."""
    if shift is None:
        return [ring.dot(row, token) for row in matrix]
    token = [*token, ring.ratio(1)]
    return [ring.dot([*row, *b], token) for row, b in zip(matrix, shift, strict=True)]


def block(w: Tensors, name: str, k: int = 0) -> Any:
    """Return one block of a parameter tensor, or None where the network has no such tensor."""
    return w[name][k] if name in w else None


def add(ring: Exact, x: Stream, y: Stream) -> Stream:
    """Return x + y."""
    return [[ring.sum(pair) for pair in zip(*tokens, strict=True)] for tokens in zip(x, y, strict=True)]


def power(ring: Exact, z: Any, r: int) -> Any:
    """Return z^r, r >= 1."""
    result = z
    for _ in range(r - 1):
        result = ring.dot([result], [z])
    return result


def flat_norm(net: Network, width: int) -> bool:
    """Say whether the norm reads nothing: one coordinate about its mean is 0."""
    return net.norm == "layer" and width == 1


def normalise(net: Network, ring: Exact, w: Tensors, gain: str, shift: str, x: Stream) -> Stream:
    """Return the normalised stream (the stream itself without norms)."""
    if not net.norm:
        return x
    if flat_norm(net, len(x[0])):
        return [[s for (s,) in w[shift][0]] for _ in x]
    result, width = [], len(x[0])
    mean, eps = [ring.ratio(1, width)] * width, ring.ratio(1, 100000)
    for token in x:
        if net.norm == "layer":
            centre = ring.dot([ring.ratio(-1)], [ring.dot(mean, token)])
            token = [ring.sum([z, centre]) for z in token]
        square = ring.dot(mean, [ring.dot([z], [z]) for z in token])
        r = ring.root(ring.sum([square, eps]))
        token = [ring.dot(g, [ring.dot([z], [r])]) for g, z in zip(w[gain][0], token, strict=True)]
        if net.norm == "layer":
            token = [ring.sum([z, *s]) for z, s in zip(token, w[shift][0], strict=True)]
        result.append(token)
    return result


def attention(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int) -> Stream:
    """Return the output of the attention of layer i, before the skip connection."""
    layer, t, name = net.layers[i - 1], net.t, f"{i}."
    groups = range(layer.kv)
    v = [[affine(ring, w[name + "V"][g], block(w, name + "bv", g), token) for token in x] for g in groups]
    weights = (softmax if net.kind == "softmax" else lightning)(net, i, ring, w, x, draw, n)
    result = []
    for j in range(t):
        seen = net.visible(j)
        if layer.dv:
            row: list[Any] = []
            for h in range(layer.heads):
                group = v[layer.group(h)]
                row += [ring.dot([group[k][c] for k in seen], weights[h][j]) for c in range(layer.dv)]
            joined = [[z for h in range(layer.heads) for z in w[name + "O"][h][r]] for r in range(layer.n)]
            result.append(affine(ring, joined, block(w, name + "bo"), row))
        else:
            total = [ring.sum(p) for g in groups for p in zip(*[weights[h][j] for h in layer.members(g)], strict=True)]
            values = [[v[g][k][c] for g in groups for k in seen] for c in range(layer.n)]
            result.append(affine(ring, values, block(w, name + "bo"), total))
    return result


Weights = list[list[list[Any]]]  # head, query, seen key


def queries_keys(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw) -> tuple[Any, Any]:
    """Return queries (head, position) and keys (group, position), rotated with rope."""
    layer, name = net.layers[i - 1], f"{i}."
    q = [[affine(ring, w[name + "Q"][h], block(w, name + "bq", h), z) for z in x] for h in range(layer.heads)]
    k = [[affine(ring, w[name + "K"][g], block(w, name + "bk", g), z) for z in x] for g in range(layer.kv)]
    if net.rope:
        turns = rotations(net.t, layer.a, ring, draw)
        q = [[rotate(ring, z, turn) for z, turn in zip(head, turns, strict=True)] for head in q]
        k = [[rotate(ring, z, turn) for z, turn in zip(group, turns, strict=True)] for group in k]
    return q, k


def rotations(t: int, a: int, ring: Exact, draw: Draw) -> list[list[tuple[Any, Any]]]:
    """Return (cos, sin) for each position and plane: powers of a rational point of the circle."""
    one, minus, zero = ring.ratio(1), ring.ratio(-1), ring.ratio(0)
    steps = []
    for plane in range(a // 2):
        u = ring.lift(draw("rope", plane))
        square = ring.dot([u], [u])
        inverse = ring.inverse(ring.sum([one, square]))
        cosine = ring.dot([one, minus], [inverse, ring.dot([square], [inverse])])
        steps.append((cosine, ring.dot([u, u], [inverse, inverse])))
    turns = [[(one, zero)] * len(steps)]
    for _ in range(t - 1):
        last = turns[-1]
        turns.append([compose(ring, c, s, z) for (c, s), z in zip(steps, last, strict=True)])
    return turns


def compose(ring: Exact, c: Any, s: Any, z: Sequence[Any]) -> tuple[Any, Any]:
    """Return the vector z of a plane rotated by the angle with this cosine and sine."""
    minus = ring.dot([ring.ratio(-1)], [s])
    return ring.dot([c, minus], z), ring.dot([s, c], z)


def rotate(ring: Exact, z: list[Any], turn: list[tuple[Any, Any]]) -> list[Any]:
    """Rotate all planes (2j, 2j+1) of a vector."""
    return [y for j, (c, s) in enumerate(turn) for y in compose(ring, c, s, z[2 * j : 2 * j + 2])]


def lightning(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int) -> Weights:
    """Return the scores."""
    q, k = queries_keys(net, i, ring, w, x, draw)
    group = net.layers[i - 1].group
    return [
        [[ring.dot(k[group(h)][key], q[h][j]) for key in net.visible(j)] for j in range(net.t)] for h in range(len(q))
    ]


def softmax(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int) -> Weights:
    """Return the softmax of the scores; a query that sees one key has weight 1 and no exponential."""
    heads = range(net.layers[i - 1].heads)
    if net.alone:
        return [[[ring.ratio(1)] for _ in range(net.t)] for _ in heads]
    line = net.layers[i - 1].m == 1 or (net.layers[i - 1].m == 2 and net.norm == "layer")
    find = on_a_line if line and not net.rope else exponentials
    e = find(net, i, ring, w, x, draw, n)
    result: Weights = []
    for h in heads:
        result.append([])
        for j in range(net.t):
            column = [e(h, key, j) for key in net.visible(j)] if len(net.visible(j)) > 1 else [ring.ratio(1)]
            inverse = ring.inverse(ring.sum(column)) if len(column) > 1 else ring.ratio(1)
            result[-1].append([ring.dot([z], [inverse]) for z in column])
    return result


Exponential = Callable[[int, int, int], Any]  # head, key, query


def exponentials(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int) -> Exponential:
    """One unit for each score."""
    layer, t = net.layers[i - 1], net.t
    q, k = queries_keys(net, i, ring, w, x, draw)

    def e(h: int, key: int, j: int) -> Any:
        unit = draw(f"{i}.e", ((n * layer.heads + h) * t + key) * t + j)
        return ring.exponential(ring.lift(unit), ring.dot(k[layer.group(h)][key], q[h][j]))

    return e


def on_a_line(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int) -> Exponential:
    """Tokens s + z c_i, z the same for all (width one; LayerNorm of width two, s its shift): the score is A c_i c_j + B c_i + (a part
    of the query alone), so (i, j) and (j, i) share a unit."""
    layer, t, name = net.layers[i - 1], net.t, f"{i}."
    known: dict[tuple[int, ...], Any] = {}
    shift = block(w, name + "s1")
    minus = [ring.dot([ring.ratio(-1)], [s]) for (s,) in shift or []]
    moving = [[ring.sum(pair) for pair in zip(token, minus, strict=True)] for token in x] if shift else x

    def score(h: int, key: int, query: list[Any]) -> Any:
        return ring.dot(affine(ring, w[name + "K"][layer.group(h)], None, moving[key]), query)

    def pair(h: int, low: int, high: int) -> Any:
        if (h, low, high) not in known:
            exponent = score(h, low, affine(ring, w[name + "Q"][h], None, moving[high]))
            unit = draw(f"{i}.e", ((n * layer.heads + h) * t + low) * t + high)
            known[h, low, high] = ring.exponential(ring.lift(unit), exponent)
        return known[h, low, high]

    def single(h: int, key: int) -> Any:
        if (h, key) not in known:
            bias = [b for (b,) in block(w, name + "bq", h) or []]
            fixed = affine(ring, w[name + "Q"][h], block(w, name + "bq", h), [s for (s,) in shift]) if shift else bias
            unit = draw(f"{i}.f", (n * layer.heads + h) * t + key)
            known[h, key] = ring.exponential(ring.lift(unit), score(h, key, fixed))
        return known[h, key]

    def e(h: int, key: int, j: int) -> Any:
        result = pair(h, min(key, j), max(key, j))
        if "q" in net.bias or shift:
            result = ring.dot([result], [single(h, key)])
        if net.alibi and key != j:
            slope = power(ring, ring.lift(draw("alibi", h)), abs(key - j))
            result = ring.dot([result], [slope if key > j else ring.inverse(slope)])
        return result

    return e


def feed_forward(net: Network, i: int, ring: Exact, w: Tensors, x: Stream, draw: Draw, n: int) -> Stream:
    """Return the output of the feed-forward block of layer i, before the skip connection."""
    layer, name = net.layers[i - 1], f"{i}."

    def sigmoid(exponent: Any, unit: int, j: int) -> Any:
        minus = ring.dot([ring.ratio(-1)], [exponent])
        e = ring.exponential(ring.lift(draw(f"{i}.s", (n * layer.h + unit) * net.t + j)), minus)
        return ring.inverse(ring.sum([ring.ratio(1), e]))

    def act(z: Any, unit: int, j: int) -> Any:
        if layer.act not in ACTIVATIONS:
            return power(ring, z, int(layer.act))
        exponent = z
        if layer.act == "gelu":
            inner = ring.sum([z, ring.dot([ring.ratio(44715, 1000000)], [power(ring, z, 3)])])
            exponent = ring.dot([ring.lift(draw("gelu", 0))], [inner])
        return ring.dot([z], [sigmoid(exponent, unit, j)])

    result = []
    for j, token in enumerate(x):
        hidden = affine(ring, w[name + "U"][0], block(w, name + "bu"), token)
        if layer.act == "swiglu":
            gates = affine(ring, w[name + "G"][0], None, token)
            hidden = [ring.dot([act(z, u, j)], [y]) for u, (z, y) in enumerate(zip(gates, hidden, strict=True))]
        else:
            hidden = [act(z, u, j) for u, z in enumerate(hidden)]
        result.append(affine(ring, w[name + "D"][0], block(w, name + "bd"), hidden))
    return result


# --------------------------------------------------------------------------------------------------------- lower bound


def steps(net: Network) -> int:
    """Estimate the multiplications of one forward pass."""
    pairs = sum(layer.heads for layer in net.layers) * net.t**2
    require(pairs <= MAX_WORDS, "caps", f"more than {MAX_WORDS} scores")  # they are kept in memory
    inner = sum(layer.heads * net.t * (layer.a + (layer.dv or layer.n)) for layer in net.layers)
    return net.t * (parameters(net) + inner + 10 * sum(layer.m + layer.h for layer in net.layers))


def has_exponentials(net: Network) -> bool:
    """Say whether the network function contains exponentials at all."""
    return (net.kind == "softmax" and not net.alone) or any(layer.act in ACTIVATIONS for layer in net.layers)


def check_minor(net: Network, source: Source, rule: Any) -> int:
    """Return the size of a minor of the Jacobian that is not zero modulo p."""
    inputs = indices(rule["inputs"], "inputs", MAX_WORDS, MAX_PARAMETERS)
    width, t = net.layers[-1].n, net.t
    packed = source.packed()
    rows = indices(rule["rows"], "rows", len(inputs) * width * t, MAX_PARAMETERS)
    columns = indices(rule["columns"], "columns", parameters(net), MAX_PARAMETERS)
    require(len(rows) <= packed.largest, "caps", "so large a minor takes hours here; `neuromanifold verify` replays it")
    require(len(rows) == len(columns), "minor", f"{len(rows)} rows and {len(columns)} columns are no square")
    size, wanted = len(rows), set(rows)
    used = set(range(len(inputs))) if net.norm else {row // (width * t) for row in rows}
    source.spend(steps(net) * (1_000 * len(used) + 10 * size) + packed.rank_work(size, size), "the minor costs too much")

    chosen = set(columns)
    ring = Tape(packed, source.flat(net), [k in chosen for k in range(parameters(net))])
    w, draw = tensors(net, ring.variables), drawer(source, source)
    for position, n in enumerate(inputs):
        if position not in used:
            continue
        tokens = [[(x, 0) for x in token] for token in source.tokens(net, n)]
        try:
            result = forward(net, ring, w, tokens, draw, n)
        except RootError:
            raise ReplayError("radicands", f"a radicand of input {n} has no root") from None
        places = ((j, i, (position * width + i) * t + j) for i, j in product(range(width), range(t)))
        ring.derive([result[j][i] for j, i, row in places if row in wanted])
    rank = packed.rank(ring.columns())
    require(rank == size, "minor", f"the minor is zero: rank {rank}, size {size}")
    return size


def check_exponents(net: Network, source: Source, rule: Any) -> None:
    """Check that no integer combination of the exponents is a function of the parameters alone."""
    draws = record(rule, "draws", "exponents")["draws"]
    if isinstance(draws, list):
        triples = [[natural(k, "a draw", MAX_WORDS) for k in array(x, "a draw", 3)] for x in draws]
        require(all(len(x) == 3 for x in triples), "schema", "a draw is not theta, X, X'")
    else:
        triples = [[k, 0, 0] for k in indices(draws, "draws", 10**9, 2 * MAX_EXPONENTS)]
    source.spend(steps(net) * len(triples) * 300, "the exponents cost too much")
    packed, rows, count = source.packed(), [], 1
    for k, *inputs in triples:
        here = source.under(f"exponents/{k}/")
        twin = source.under(f"exponents/{k}/twin/")
        w, seen = tensors(net, here.flat(net)), []
        for point, n in zip((here, twin), inputs, strict=True):
            ring = Modular(source.p)
            try:
                forward(net, ring, w, point.tokens(net, n), drawer(point, source), n)
            except RootError:
                raise ReplayError("exponents", f"a radicand of draw {k} has no root") from None
            seen.append(ring.exponents)
        count = len(seen[0])
        require(count <= MAX_EXPONENTS, "caps", f"more than {MAX_EXPONENTS} exponents")
        rows.append(packed.pack({j: x - y for j, (x, y) in enumerate(zip(*seen, strict=True))}))
    rank = packed.rank(rows)
    require(rank == count and bool(triples), "exponents", f"rank {rank} from {len(triples)} draws, not full column rank")


def check_radicands(net: Network, source: Source, rule: Any) -> None:
    """Check that adjoining all roots leaves a field: each radicand has a witness where it alone has no root."""
    rule = record(rule, "point witnesses", "radicands")
    at = [natural(k, "point", MAX_WORDS) for k in array(rule["point"], "point", 2)]
    require(len(at) == 2, "schema", "the point is not a number of parameters and one of an input")
    witnesses = [natural(k, "a witness", MAX_WORDS) for k in array(rule["witnesses"], "witnesses", MAX_EXPONENTS)]
    source.spend(steps(net) * (len(witnesses) + 1) * 150, "the radicands cost too much")
    home = source.under(f"radicands/{at[0]}/")
    w = tensors(net, home.flat(net))

    def first_failure(n: int) -> tuple[int, bool]:
        ring = Modular(source.p)
        try:
            forward(net, ring, w, home.tokens(net, n), drawer(home, source), n)
        except RootError as failure:
            return failure.index, failure.nonsquare
        return len(ring.radicands), False

    index, _ = first_failure(at[1])
    widths = [layer.m for layer in net.layers] + [layer.n for layer in net.layers if layer.h]
    count = net.t * sum(not flat_norm(net, width) for width in widths)
    require(index == count, "radicands", f"radicand {index} has no root at the point")
    require(len(witnesses) == count, "radicands", f"{len(witnesses)} witnesses for {count} radicands")
    for j, n in enumerate(witnesses):
        require(first_failure(n) == (j, True), "radicands", f"input {n} is no witness for radicand {j}")


# -------------------------------------------------------------------------------------- upper bound: smaller networks


def with_width(net: Network, i: int, width: int) -> Network:
    """Return the network with d_i = width, 0 < i < l."""
    layers = list(net.layers)
    layers[i - 1], layers[i] = layers[i - 1]._replace(n=width), layers[i]._replace(m=width)
    return checked(net._replace(layers=tuple(layers)))


def with_layer(net: Network, i: int, **sizes: Any) -> Network:
    """Return the network with other sizes in the heads of layer i."""
    layers = list(net.layers)
    layers[i - 1] = layers[i - 1]._replace(**sizes)
    return net._replace(layers=tuple(layers))


def one_token(net: Network, i: int, size: int, what: str) -> Network:
    """Where every query sees its own key only, the tokens do not meet: one token tells everything."""
    require(net.alone and i == size == 1, "reduction", f"{what}: a query sees other keys")
    return net._replace(t=1, causal=False, window=0, rope=False, alibi=False)


def one_key(net: Network, i: int, size: int, what: str) -> Network:
    """With one token softmax weights are 1, so that the heads of a layer add up to one linear map."""
    require(net.kind == "softmax" and net.t == 1 and not net.rope, "reduction", f"{what}: softmax with t=1, no rope")
    require(size == 1, "reduction", f"{what}: the size is 1")
    layer = net.layers[i - 1]
    return with_layer(net, i, a=1, heads=1, kv=1, dv=layer.kv * layer.dv)


def group_heads(net: Network, i: int, size: int, what: str) -> Network:
    """The heads of a group act by the sum of O_h (x) Q_h (no dv: of Q_h), a matrix of bounded rank; `size` is all heads."""
    require(net.kind == "lightning", "reduction", f"{what}: lightning only")
    layer = net.layers[i - 1]
    rank = min(counted_rows(net, layer) * layer.dv, layer.a * (layer.m + ("q" in net.bias))) if layer.dv else 1
    require(layer.heads > size == rank * layer.kv, "reduction", f"{what}: {layer.heads} to {size}, rank {rank}")
    return with_layer(net, i, heads=size)


def single_heads(net: Network, i: int, size: int, what: str) -> Network:
    """Lightning that reads one coordinate: each head adds a vector times any row of features, all heads any matrix of that rank."""
    layer = net.layers[i - 1]
    require(net.kind == "lightning" and layer.m == 1, "reduction", f"{what}: lightning that reads width 1")
    require(not net.bias & {"k", "v"}, "reduction", f"{what}: bias k or v")
    rank = min(layer.heads if layer.dv else layer.kv, counted_rows(net, layer), feature_count(net, i)[0])
    require(size == rank, "reduction", f"{what}: {size}, the rank is {rank}")
    smaller = with_layer(net, i, heads=size, kv=1 if layer.dv else size, dv=min(layer.dv, 1))
    require(parameters(smaller) < parameters(net), "reduction", f"{what}: there are no more heads")
    return smaller


def value_width(net: Network, i: int, size: int, what: str) -> Network:
    """The products O_h (V, bv) of a group have rank at most min(m (+1 with bias v), heads of the group times rows of O that count).

    In softmax with bias o the constants O_h bv are part of bo.
    """
    layer = net.layers[i - 1]
    constant = "v" in net.bias and not (net.kind == "softmax" and "o" in net.bias)
    rank = min(layer.m + constant, layer.heads // layer.kv * counted_rows(net, layer))
    require(layer.dv > size == rank, "reduction", f"{what}: {layer.dv} to {size}, rank {rank}")
    return with_layer(net, i, dv=size)


def hidden_units(net: Network, i: int, size: int, what: str) -> Network:
    """Powers of linear forms span all forms: so many units make every polynomial that any number of units makes."""
    layer, letters = net.layers[i - 1], net.bias
    require(bool(layer.h) and layer.act not in ACTIVATIONS, "reduction", f"{what}: no ffn with a power")
    r, variables, affine = int(layer.act), layer.n, "u" in letters
    moving, constant = attention_span(net, i)
    if net.plain and moving < layer.n:  # what is read is moved by `moving` coordinates
        variables, affine = moving, affine or constant
    enough = forms(variables + affine, r) - (affine and "d" in letters)  # constants come from bd
    require(layer.h > size == enough, "reduction", f"{what}: {layer.h} to {size}, the rule gives {enough}")
    return with_layer(net, i, h=size)


def hidden_width(net: Network, i: int, size: int, what: str) -> Network:
    """A stream that moves in few directions is known from as many coordinates; one that few rows read, from what they read."""
    require(net.kind == "mlp" or net.plain, "reduction", f"{what}: skip or norm")
    require(i < len(net.layers), "reduction", f"{what}: not a hidden width")
    layer, bound = net.layers[i - 1], 1
    if net.kind == "mlp":
        require(net.power == 1, "reduction", f"{what}: not for polynomial networks")
        bound = layer.m
    for j, place in ((i, "attention"), (i + 1, "input")) if net.kind != "mlp" else ():
        if place == "attention" and not layer.h:
            continue
        moving, constant = (layer.h, "d" in net.bias) if layer.h and place == "input" else attention_span(net, i)
        found = [reader for reader in readers(net, j, place) if not (net.kind == "softmax" and net.alone and reader[0] in "QK")]
        constant = constant and not all(takes_constant(net, reader) for reader in found)
        bound = max(bound, min(moving + constant, sum(shapes(net)[f"{j}.{W}"][1] for W, _, _ in found)))
    require(layer.n > size == bound, "reduction", f"{what}: {layer.n} to {size}, the rule gives {bound}")
    return with_width(net, i, size)


def takes_constant(net: Network, reader: tuple[str, str, int]) -> bool:
    """Say whether a constant of the stream that this matrix reads is taken up by a bias, or does nothing (softmax keys)."""
    W, bias, _ = reader
    if bias[1] in net.bias:
        return True
    return net.kind == "softmax" and ((W == "V" and "o" in net.bias) or (W == "K" and not net.rope))


def attention_span(net: Network, i: int) -> tuple[int, bool]:
    """Return how many directions the attention's output moves in, at most, and whether a constant vector comes on top."""
    layer, letters = net.layers[i - 1], net.bias
    constant = "o" in letters
    if net.kind == "softmax":  # weights sum to one: value biases are constants
        return layer.heads * layer.dv or layer.kv * layer.m, constant or ("v" in letters and not layer.dv)
    count, one = feature_count(net, i)
    spanned = value_columns(net, layer)
    return (count, constant and not one) if count < spanned else (spanned, constant)


def value_columns(net: Network, layer: Layer) -> int:
    """Return how many columns span a lightning layer's outputs, bo apart."""
    return layer.heads * layer.dv or layer.kv * (layer.m + ("v" in net.bias))


def wider_groups(net: Network, i: int, size: int, what: str) -> Network:
    """Heads with keys and values of their own can be what heads with shared ones are."""
    layer = net.layers[i - 1]
    require(layer.kv < size == layer.heads, "reduction", f"{what}: every head is a group")
    return with_layer(net, i, kv=size)


def wider_heads(net: Network, i: int, size: int, what: str) -> Network:
    """Zero rows of Q and K change nothing: a network with more of them computes all the same functions."""
    require(size > net.layers[i - 1].a, "reduction", f"{what}: {size} is not more")
    return with_layer(net, i, a=size)


def wider_values(net: Network, i: int, size: int, what: str) -> Network:
    """Zero rows of V change nothing."""
    require(size > net.layers[i - 1].dv > 0, "reduction", f"{what}: {size} is not more")
    return with_layer(net, i, dv=size)


WIDENING = ("wider-groups", "wider-heads", "wider-values")  # the others do not change the closure of the functions
HEAD_RULES: dict[str, Callable[[Network, int, int, str], Network]] = {
    "one-token": one_token,
    "one-key": one_key,
    "group-heads": group_heads,
    "single-heads": single_heads,
    "hidden-units": hidden_units,
    "value-width": value_width,
    "wider-groups": wider_groups,
    "wider-heads": wider_heads,
    "wider-values": wider_values,
}


def reduced(net: Network, step: Any) -> Network:
    """Return a network whose functions include, up to closure, those of `net`; rejects steps that do not apply."""
    step = record(step, "rule layer size", "a reduction")
    rule, i, size = step["rule"], natural(step["layer"], "layer"), natural(step["size"], "size")
    require(1 <= i <= len(net.layers), "reduction", f"there is no layer {i}")
    layer, bias, what = net.layers[i - 1], net.bias, f"{rule} at layer {i}"
    if rule in HEAD_RULES:
        require(net.kind != "mlp", "reduction", f"{what}: no heads")
        return checked(HEAD_RULES[rule](net, i, size, what))
    if rule == "head-width":
        require(net.kind != "mlp", "reduction", f"{what}: no heads")
        require(not net.rope or net.alone, "reduction", f"{what}: rope")
        if net.kind == "softmax" and net.norm == "layer" and layer.m > 1:  # keys are centred up to a constant
            require(layer.a > size == layer.m - 1, "reduction", f"{what}: {layer.a} to {size}, width {layer.m}")
            return checked(with_layer(net, i, a=size))
        constant = net.kind == "lightning" and "k" in bias and ("q" in bias or layer.heads > layer.kv)
        bound = (layer.m + 1) // 2 if i in quadratic(net) else layer.m + constant  # such forms have m squares at most
        require(layer.a > size == bound, "reduction", f"{what}: {layer.a} to {size}, width {layer.m}")
        layers = (*net.layers[: i - 1], layer._replace(a=size), *net.layers[i:])
        return checked(net._replace(layers=layers))
    require(rule == "hidden-width", "reduction", "unknown reduction")
    return checked(hidden_width(net, i, size, what))


def ambient(net: Network) -> int:
    """Return the dimension of a space of polynomials that contains all functions of the network."""
    first, last = net.layers[0], net.layers[-1]
    if net.kind == "mlp":
        return run_space(net, 1, len(net.layers)) if len(net.layers) > 1 else first.m * first.n
    require(not net.norm, "ambient", "norm")
    if net.kind == "softmax" and net.alone and all(layer.act in ("", "1") for layer in net.layers):
        ranks = [first.m, last.n]
        if not net.skip:
            ranks += [x for layer in net.layers for x in (layer.n, layer.kv * layer.dv, layer.h) if x]
        rank = min(ranks)  # affine maps through the narrowest place
        return rank * (first.m + last.n - rank) + last.n * bool(net.bias & set("voud"))
    spaces = [] if len(net.layers) > 1 or net.ffn else [attention_space(net, 1)]
    if net.alone and not any(layer.act in ACTIVATIONS for layer in net.layers):
        degree = 1  # of polynomials in one token: attention takes three factors of it (softmax one), a power r
        for layer in net.layers:
            degree *= (3 if net.kind == "lightning" else 1) * int(layer.act or 1)
            require(degree <= 1000, "ambient", "the degree is more than 1000")
        if net.skip or net.bias:
            spaces.append(last.n * (comb(first.m + degree, degree) - (not net.bias)))
        else:
            spaces.append(last.n * comb(first.m + degree - 1, degree))
    require(bool(spaces), "ambient", "only for one token or one layer without ffn")
    return min(spaces)


def forms(variables: int, degree: int) -> int:
    """Return the number of monomials of a degree; where they are too many to be of use, refuse."""
    count = 1
    for k in range(1, variables):  # C(degree + variables - 1, variables - 1), cut off early
        count = count * (degree + k) // k
        require(count <= MAX_PARAMETERS, "ambient", "the ambient space is larger than the parameter space")
    return count


def distances(net: Network) -> int:
    """Return how many differences of positions occur between a query and a key that it sees."""
    return min(net.window or net.t, net.t) if net.causal else 2 * net.t - 1


def read_forms(net: Network, layer: Layer) -> tuple[int, bool, bool, bool]:
    """Return the number of variables of what attention reads, and whether values, keys and queries have a constant.

    With LayerNorm it reads centred vectors, and the shift is a constant.
    """
    if net.norm == "layer":
        return layer.m - 1, True, True, True
    return layer.m, "v" in net.bias, "k" in net.bias, "q" in net.bias


def score_space(net: Network, layer: Layer) -> int:
    """Return the dimension of a space that contains the scores of one head with rope: bilinear forms, one a distance.

    In softmax these are the differences of the scores to that of the query's own key.
    """
    m, _, k, q = read_forms(net, layer)
    itself = comb(m + 1, 2)  # distance 0: a polynomial of one token
    if net.kind == "lightning" or not k:  # in softmax the key bias has its linear part and constant at the distances
        itself += m * (k or q) + (k and q)
    form = (m + k) * (m + q)  # for each of a/2 frequencies cosine and sine, or for each distance
    return min(itself + (distances(net) - 1) * form, layer.a * form)


def value_space(net: Network, layer: Layer) -> int:
    """Return the dimension of a variety that contains all (O_h V_g) and the sum of the constants.

    For each group the stack of its O_h V_g is one matrix of bounded rank. LayerNorm: on centred vectors, m - 1 dimensions.
    """
    flat = net.norm == "layer"
    need(net.kind == "softmax" and (layer.dv or flat), "block: no such values")
    n = counted_rows(net, layer)
    rows, reads = n * (layer.heads // layer.kv if layer.dv else 1), layer.m - flat
    rank = min(layer.dv or n, reads, rows)
    return layer.kv * rank * (rows + reads - rank) + (n if flat or net.bias & set("vo") else 0)


def counted_rows(net: Network, layer: Layer) -> int:
    """Return how many rows of the attention's output count: those that the ffn reads, where nothing else reads it."""
    if not layer.h or not net.plain:
        return layer.n
    return min(layer.n, layer.h * (2 if layer.act == "swiglu" else 1))


def attention_space(net: Network, i: int) -> int:
    """Return the dimension of a variety that contains all functions of the attention of layer i.

    A function is a sum of tensors (output) (value form) (key form) (query form); bo adds a constant.
    """
    layer = net.layers[i - 1]
    n, out = counted_rows(net, layer), "o" in net.bias
    m, v, k, q = read_forms(net, layer)
    if net.kind == "softmax":
        require(net.alone, "ambient", "softmax scores are no polynomials")
        return n * (m + (v or out))  # affine maps
    at_key = independent(m + v, m + k, m + max(v, k))  # quadratic polynomials in the key's token, then a linear one in the query
    space, one = feature_count(net, i)
    single = one_token_tells(net, i)
    sizes = Forms(n, m + v, m + k, m + q, single)
    shares = [(layer.kv, 1)] if not layer.dv else [(layer.kv, layer.heads // layer.kv), (layer.heads, 1)]
    found = []
    for parts, heads in shares:
        reached = heads * parts * layer.dv or parts * sizes.values  # the outputs lie in the span of so many vectors
        asked = heads * parts * layer.a  # and the query forms in that of so many
        choices = [(0, sizes)]
        if reached < n:
            choices.append((reached * (n - reached), sizes._replace(outputs=reached)))
        if asked < sizes.queries and not (single or net.rope):
            choices.append((asked * (sizes.queries - asked), sizes._replace(queries=asked)))
        for chosen, forms in choices:
            linear = forms.outputs * (space if forms.queries == sizes.queries else at_key * forms.queries)
            turned = score_space(net, layer) if net.rope and not single else None
            joint = [part_space(forms, layer, j, heads, turned) if j else 0 for j in range(parts + 1)]  # j parts together
            found.append(chosen + min(linear, *(parts // j * joint[j] + joint[parts % j] for j in range(1, parts + 1))) + n * out)
    if one:  # any matrix of coefficients, a column of which is a constant
        found.append(n * space)
    return min(found)


class Forms(NamedTuple):
    """How many outputs, value, key and query forms there are, and whether all are of one token."""

    outputs: int
    values: int
    keys: int
    queries: int
    one_token: bool


def independent(one: int, other: int, all_forms: int) -> int:
    """Return how many products of `one` and `other` forms can be independent: those of forms in both spaces commute."""
    both = max(0, one + other - all_forms)
    return one * other - both * (both - 1) // 2


def ranked(r: int, height: int, width: int) -> int:
    """Return the dimension of the matrices of this height and width that are sums of r of rank one."""
    r = min(r, height, width)
    return r * height + r * (width - r)


def part_space(f: Forms, layer: Layer, j: int, heads: int, turned: int | None) -> int:
    """Return the dimension of the sums of j parts, each with `heads` heads that share their value and key rows."""
    rows = layer.dv or f.outputs
    values, keys = min(j * rows, f.values), min(j * layer.a, f.keys)
    spans = values * (f.values - values)
    if turned is not None:  # (output, value form) x (scores), a sum of a product for each head
        return spans + ranked(j * heads, f.outputs * values, turned)
    spans += keys * (f.keys - keys)
    if f.one_token:
        scores = independent(keys, f.queries, max(f.keys, f.queries))
        return spans + ranked(j * heads, f.outputs * values, scores)
    at_key = independent(values, keys, max(f.values, f.keys))
    found = [spans + ranked(j * heads, f.outputs * values, keys * f.queries)]
    # (value form, key form) x (output, query form), a sum of a product for each value row with each key row of a part
    found.append(spans + ranked(j * min(rows, values) * min(layer.a, keys), at_key, f.outputs * f.queries))
    if j == 2 and layer.dv == 1 and f.values <= f.keys:  # v (keys) and w (keys) have v w in common, in the outputs of both
        u = min(heads, f.outputs)
        found.append(2 * (f.values - 1) + 2 * u * (f.outputs - u) + f.queries * (2 * u * f.keys - max(0, 2 * u - f.outputs)))
    if j == 2 and layer.a == 1 and f.keys <= f.values:  # the same with keys for values and queries for outputs
        u = min(heads, f.queries)
        found.append(2 * (f.keys - 1) + 2 * u * (f.queries - u) + f.outputs * (2 * u * f.values - max(0, 2 * u - f.queries)))
    return min(found)


def one_token_tells(net: Network, i: int) -> bool:
    """Say whether the tokens that a query sees in a lightning layer are multiples of itself, in known proportion to what they do."""
    return net.alone or (not net.rope and not net.bias & {"k", "v"} and rank_one(net, i))


def feature_count(net: Network, i: int) -> tuple[int, bool]:
    """Return how many functions of a lightning layer's input its outputs (less bo) combine, and whether 1 is one of them.

    They are (value form)(key form) of a key z, summed over the keys, times a query form; forms may have a constant each.
    """
    layer = net.layers[i - 1]
    m, v, k, q = read_forms(net, layer)
    pairs = comb(m + 1, 2) + m * (k or v)  # products of two forms in z that are not constant
    if one_token_tells(net, i):
        count = k + v + q
        products = [comb(m + 2, 3), comb(m + 1, 2), m, 1][: count + 1]
        return sum(products), count == 3
    if not net.rope:
        return (pairs + (k and v)) * (m + q), k and v and q and not net.causal
    # one bilinear form for each distance from key to query, or for sine and cosine of each of a/2 frequencies
    D = distances(net)
    places = min(D, net.t)  # products constant in z: functions of the query's position
    cubic = comb(m + 2, 3) + comb(m + 1, 2) * (k or v or q)  # the token itself as key, terms of degree 3 and 2
    low = (places if k and v else k + v + q > 1) * m + (places if k and v and q else 0)
    exact = (D - 1) * pairs * (m + q) + cubic + low
    turning = (layer.a * pairs + min(layer.a, places) * (k and v)) * (m + q)
    return min(exact, turning), k and v and q and (exact <= turning or min(layer.a, places) == net.t)


# ------------------------------------------------------------------------------------------------ upper bound: fields

Matrix = list[tuple[int, int, int]]  # entries (row, column, value) of a matrix


def gl(n: int) -> list[Matrix]:
    """All matrices."""
    return [[(r, c, 1)] for r in range(n) for c in range(n)]


def diagonal(n: int) -> list[Matrix]:
    """Diagonal matrices."""
    return [[(r, r, 1)] for r in range(n)]


def antisymmetric(n: int) -> list[Matrix]:
    """Antisymmetric matrices."""
    return [[(r, c, 1), (c, r, -1)] for r, c in combinations(range(n), 2)]


def planes(n: int) -> list[Matrix]:
    """The matrices that commute with all rotations of the planes (2j, 2j+1): I and J on each plane."""
    pairs = [(r, r + 1) for r in range(0, n, 2)]
    return [e for r, s in pairs for e in ([(r, r, 1), (s, s, 1)], [(r, s, 1), (s, r, -1)])]


def scalar(n: int, k: int = 1) -> Matrix:
    """The matrix k I."""
    return [(r, r, k) for r in range(n)]


def minus(e: Matrix) -> Matrix:
    """The matrix -e."""
    return [(r, c, -k) for r, c, k in e]


def transposed(e: Matrix) -> Matrix:
    """The transpose of e."""
    return [(c, r, k) for r, c, k in e]


class Chart:
    """A network at a point of its parameter space: the seed's, with identities for the frozen tensors (K, Q, O)."""

    def __init__(self, net: Network, source: Source, frozen: Sequence[str] = ()) -> None:
        self.source = source
        self.net, self.p, self.seed, self.at, offset = net, source.p, source.seed, {}, 0
        self.frozen, self.flat = frozenset(frozen), source.flat(net)
        for name, (blocks, rows, columns) in shapes(net).items():
            for k in range(blocks):
                self.at[name, k] = (offset, rows, columns)
                offset += rows * columns
        for (name, k), (start, rows, columns) in list(self.at.items()):
            if name in self.frozen:
                self.flat[start : start + rows * columns] = [int(r == x) for r in range(rows) for x in range(columns)]
                if name.endswith(".K") and {"q", "k"} <= net.bias:  # then (K, bk) is the identity
                    start, rows, columns = self.at[name.replace("K", "bk"), k]
                    self.flat[start : start + rows] = [int(r == net.layers[int(name[:-2]) - 1].m) for r in range(rows)]
        require(all((name, 0) in self.at for name in self.frozen), "field", "an unknown tensor is frozen")

    def layer(self, i: int) -> Layer:
        """Return layer i."""
        return self.net.layers[i - 1]

    def value(self, i: int, name: str, r: int) -> int:
        """Return entry r of a vector of layer i."""
        return self.flat[self.at[f"{i}.{name}", 0][0] + r]


class Motion(dict[int, int]):
    """One tangent vector at the point of a chart, sparse. Tensors that the network does not have are left out."""

    def __init__(self, chart: Chart) -> None:
        super().__init__()
        self.chart = chart

    def put(self, value: int, i: int, name: str, k: int, r: int, c: int = 0) -> None:
        """d(block k of the tensor)[r, c] += value."""
        if (f"{i}.{name}", k) in self.chart.at:
            offset, _, columns = self.chart.at[f"{i}.{name}", k]
            self[offset + r * columns + c] = self.get(offset + r * columns + c, 0) + value

    def left(self, e: Matrix, i: int, names: str, k: int, source: str = "", at: int = -1) -> None:
        """d(target) += e source, for each name; the source is the target itself unless given."""
        for name, origin in zip(names.split(), (source or names).split(), strict=True):
            start, _, columns = self.chart.at.get((f"{i}.{origin}", k if at < 0 else at), (0, 0, 0))
            for (r, c, value), x in product(e, range(columns)):
                self.put(value * self.chart.flat[start + c * columns + x], i, name, k, r, x)

    def right(self, e: Matrix, i: int, names: str, k: int, source: str = "", at: int = -1) -> None:
        """d(target) += source e, for each name; a vector is one column, so b -= W u is right by -u."""
        for name, origin in zip(names.split(), (source or names).split(), strict=True):
            start, rows, columns = self.chart.at.get((f"{i}.{origin}", k if at < 0 else at), (0, 0, 0))
            for (r, c, value), x in product(e, range(rows)):
                self.put(value * self.chart.flat[start + x * columns + r], i, name, k, x, c)


Motions = Iterator[Motion]


def need(condition: object, message: str) -> None:
    """State a condition under which a field annihilates the network."""
    require(bool(condition), "field", message)


def gauge(c: Chart, i: int, group: int) -> Motions:
    """Scores k^T q: q moves by e, k by -e^T."""
    layer = c.layer(i)
    for e in planes(layer.a) if c.net.rope and c.net.t > 1 else gl(layer.a):
        v = Motion(c)
        for h in layer.members(group):
            v.left(e, i, "Q bq", h)
        v.left(minus(transposed(e)), i, "K bk", group)
        yield v


def scaling(c: Chart, i: int, group: int) -> Motions:
    """Values up, scores down."""
    need(c.net.kind == "lightning", "scaling needs lightning")
    v, layer = Motion(c), c.layer(i)
    v.left(scalar(layer.dv or layer.n), i, "V bv", group)
    v.left(scalar(layer.a, -1), i, "K bk", group)
    yield v


def head_mix(c: Chart, i: int, head: int, to: int) -> Motions:
    """O of one head takes from another head of the group what the other's queries give up."""
    layer = c.layer(i)
    need(to < layer.heads, "head-mix: there is no such head")
    need(head != to and layer.group(head) == layer.group(to), "head-mix needs two heads of one group")
    yield from head_pair(c, i, head, to)


def head_pair(c: Chart, i: int, head: int, to: int) -> Motions:
    """dO_head = O_to, dQ_to = -Q_head: y = sum_h O_h v P_h, and P_h is linear in Q_h; head = to is head-scaling."""
    layer, v = c.layer(i), Motion(c)
    need(c.net.kind == "lightning" and layer.dv, "mixing heads needs lightning with dv")
    v.left(scalar(layer.n), i, "O", head, "O", to)
    v.left(scalar(layer.a, -1), i, "Q bq", to, "Q bq", head)
    yield v


def group_sum(c: Chart, i: int, head: int) -> Motions:
    """Without dv only the sum of the queries of a group acts."""
    layer = c.layer(i)
    first = layer.members(layer.group(head))[0]
    need(c.net.kind == "lightning" and not layer.dv, "group-sum needs lightning without dv")
    need(head != first, "group-sum needs a head that is not the first of its group")
    for name, columns in (("Q", layer.m), ("bq", 1 if "q" in c.net.bias else 0)):
        for r, x in product(range(layer.a), range(columns)):
            v = Motion(c)
            v.put(1, i, name, head, r, x)
            v.put(-1, i, name, first, r, x)
            yield v


def value_gauge(c: Chart, i: int, group: int) -> Motions:
    """O V: V moves by e, O by -e."""
    layer = c.layer(i)
    need(layer.dv, "value-gauge needs dv")
    for e in gl(layer.dv):
        v = Motion(c)
        v.left(e, i, "V bv", group)
        for h in layer.members(group):
            v.right(minus(e), i, "O", h)
        yield v


Reader = tuple[str, str, int]  # a matrix that reads a stream, its bias, the block


def readers(net: Network, i: int, place: str) -> list[Reader]:
    """Return what reads the stream at the input of layer i, or after its attention."""
    layer = net.layers[i - 1]
    if place == "attention":
        return [("U", "bu", 0)] + [("G", "bg", 0)] * (layer.act == "swiglu")  # there is no bg
    return [("Q", "bq", h) for h in range(layer.heads)] + [
        (W, b, g) for W, b in (("K", "bk"), ("V", "bv")) for g in range(layer.kv)
    ]


def absorbs(c: Chart, i: int, reader: Reader) -> bool:
    """Say whether a constant made by a matrix is absorbed: by its bias, by bo as weights sum to one, or as keys are inert."""
    W, bias, k = reader
    if (f"{i}.{bias}", k) in c.at or (W == "K" and c.net.inert_keys):
        return True
    return W == "V" and c.net.kind == "softmax" and "o" in c.net.bias


def undo(v: Motion, i: int, reader: Reader, made: Mapping[int, int]) -> None:
    """Take back a constant (a sparse vector) that a matrix makes, as `absorbs` says."""
    c, (W, bias, k) = v.chart, reader
    if (f"{i}.{bias}", k) in c.at:
        for r, value in made.items():
            v.put(-value, i, bias, k, r)
    elif W == "V" and "o" in c.net.bias:
        for h in c.layer(i).members(k):
            for r, value in made.items():
                if c.layer(i).dv:
                    v.right([(r, 0, -value)], i, "bo", 0, "O", h)
                else:
                    v.put(-value, i, "bo", 0, r)


def product_with(c: Chart, i: int, W: str, k: int, u: Mapping[int, int]) -> dict[int, int]:
    """Return block k of a matrix times a sparse vector."""
    start, rows, width = c.at[f"{i}.{W}", k]
    return {r: sum(c.flat[start + r * width + x] * value for x, value in u.items()) % c.p for r in range(rows)}


def reading(c: Chart, i: int, after: str) -> tuple[int, str]:
    """Return the layer and place where the stream is read that attention or ffn of layer i writes."""
    need(c.net.plain, "moving a hidden stream needs no skip and no norm")
    need(after == "attention" or c.layer(i).h, "after ffn needs ffn")
    if after == "attention" and c.layer(i).h:
        return i, "attention"
    need(i < len(c.net.layers), "the last stream is the output")
    return i + 1, "input"


def added(v: Motion, i: int, part: str, e: Matrix) -> None:
    """What a block adds to the stream moves by e times itself."""
    layer = v.chart.layer(i)
    if part == "ffn":
        v.left(e, i, "D bd", 0)
        return
    for k in range(layer.heads if layer.dv else layer.kv):
        v.left(e, i, "O" if layer.dv else "V bv", k)
    v.left(e, i, "bo", 0)


def hidden_basis(c: Chart, i: int, after: str) -> Motions:
    """A hidden stream in another basis."""
    j, place = reading(c, i, after)
    for e in gl(c.layer(i).n):
        v = Motion(c)
        added(v, i, after, e)
        for W, _, k in readers(c.net, j, place):
            v.right(minus(e), j, W, k)
        yield v


def key_bias(c: Chart, i: int, group: int) -> Motions:
    """A constant added to all scores of a query."""
    need(c.net.kind == "softmax" and "k" in c.net.bias, "key-bias needs softmax with bias k")
    need(not c.net.rope or c.net.t == 1, "key-bias needs no rope")
    for r in range(c.layer(i).a):
        v = Motion(c)
        v.put(1, i, "bk", group, r)
        yield v


def value_bias(c: Chart, i: int, group: int) -> Motions:
    """Softmax weights sum to one: a value bias is an output bias."""
    layer = c.layer(i)
    need(c.net.kind == "softmax" and {"v", "o"} <= c.net.bias, "value-bias needs softmax with bias v and o")
    for r in range(layer.dv or layer.n):
        v = Motion(c)
        v.put(1, i, "bv", group, r)
        for h in layer.members(group):
            if layer.dv:
                v.right([(r, 0, -1)], i, "bo", 0, "O", h)
            else:
                v.put(-1, i, "bo", 0, r)
        yield v


def value_bias_pair(c: Chart, i: int, group: int) -> Motions:
    """Only the sum of the value biases acts."""
    layer, bias = c.layer(i), c.net.bias
    need(c.net.kind == "softmax" and "v" in bias and "o" not in bias, "value-bias-pair needs softmax, bias v, no o")
    need(not layer.dv, "value-bias-pair needs no dv")
    need(group > 0, "value-bias-pair needs a group after the first")
    for r in range(layer.n):
        v = Motion(c)
        v.put(1, i, "bv", group, r)
        v.put(-1, i, "bv", 0, r)
        yield v


def push_places(c: Chart, i: int, after: str) -> tuple[int, list[Reader], list[Reader], str]:
    """Return who reads the stream (layer, readers, those that absorb no constant), and the bias that takes it out again."""
    net, layer = c.net, c.layer(i)
    need(not net.norm, "push needs no norm")
    need(after == "attention" or layer.h, "after ffn needs ffn")
    inner = after == "attention" and bool(layer.h)  # read by the ffn of the same layer
    need(inner or i < len(net.layers), "the last stream is the output")
    j, place = (i, "attention") if inner else (i + 1, "input")
    found, leaving = readers(net, j, place), "bd" if inner else "bo"
    need(not net.skip or (f"{j}.{leaving}", 0) in c.at, "push with skip needs a bias of the next block")
    return j, found, [reader for reader in found if not absorbs(c, j, reader)], leaving if net.skip else ""


def pushed(v: Motion, j: int, found: list[Reader], leaving: str, u: Mapping[int, int]) -> None:
    """Absorb the constant u of a stream."""
    for reader in found:
        undo(v, j, reader, product_with(v.chart, j, reader[0], reader[2], u))
    for r, value in u.items():
        if leaving:
            v.put(-value, j, leaving, 0, r)


def push(c: Chart, i: int, after: str) -> Motions:
    """A constant in a stream is absorbed by the biases of what reads it; with skip the next block takes it out again."""
    j, found, deaf, leaving = push_places(c, i, after)
    name, times = constant_source(c, i, after)
    basis: list[dict[int, int]] = [{r: 1} for r in range(c.layer(i).n)]
    if deaf:  # constants that these do not read
        rows = [row for W, _, k in deaf for row in block_rows(c, j, W, k)]
        basis = null_space(c, rows, c.layer(i).n)
        found = [reader for reader in found if reader not in deaf]
    for u in basis:
        v = Motion(c)
        for r, value in u.items():
            v.put(value, i, name, 0, r)
        pushed(v, j, found, leaving, {r: times * value for r, value in u.items()})
        yield v


def push_value(c: Chart, i: int, group: int) -> Motions:
    """The same for the constants O_h bv of softmax, whose weights sum to one."""
    layer, net = c.layer(i), c.net
    need(net.kind == "softmax" and layer.dv and "v" in net.bias, "push-value needs softmax, dv and bias v")
    j, found, deaf, leaving = push_places(c, i, "attention")
    need(not deaf, "push-value needs biases that absorb the constant")
    for r in range(layer.dv):
        v, u = Motion(c), dict.fromkeys(range(layer.n), 0)
        v.put(1, i, "bv", group, r)
        for h in layer.members(group):
            for x, value in product_with(c, i, "O", h, {r: 1}).items():
                u[x] += value
        pushed(v, j, found, leaving, u)
        yield v


def push_past(c: Chart, i: int, after: str, to: int) -> Motions:
    """With skip the value biases of a group of the next layer take the constant out again, as its weights sum to one."""
    net, layer = c.net, c.layer(i)
    need(net.kind == "softmax" and net.skip and not net.norm, "push-past needs softmax with skip, no norm")
    need("v" in net.bias and "o" not in net.bias, "push-past needs bias v, no o")
    need(layer.h if after == "ffn" else not layer.h, "push-past needs attention after the stream")
    require(i < len(net.layers) and to < c.layer(i + 1).kv, "field", "push-past: there is no such group")
    name, times = constant_source(c, i, after)
    following, found = c.layer(i + 1), readers(net, i + 1, "input")
    need(all(absorbs(c, i + 1, reader) for reader in found), "push-past needs biases that absorb the constant")
    for r in range(following.dv or following.n):
        v, moved = Motion(c), dict.fromkeys(range(layer.n), 0)
        for h in following.members(to):
            for x, value in (product_with(c, i + 1, "O", h, {r: 1}) if following.dv else {r: 1}).items():
                moved[x] += value
        for x, value in moved.items():
            v.put(value, i, name, 0, x)
        pushed(v, i + 1, found, "", {x: times * value for x, value in moved.items()})
        v.put(-times, i + 1, "bv", to, r)
        yield v


def push_through(c: Chart, i: int) -> Motions:
    """A linear ffn makes a constant of a constant, which its bias takes back."""
    need(not c.net.norm and c.layer(i).act == "1" and "d" in c.net.bias, "push-through needs ffn power 1, bias d, no norm")
    name, times = constant_source(c, i, "attention")
    for r in range(c.layer(i).n):
        v, inner = Motion(c), product_with(c, i, "U", 0, {r: times})
        v.put(1, i, name, 0, r)
        for x, value in product_with(c, i, "D", 0, inner).items():
            v.put(-value, i, "bd", 0, x)
        v.put(-times if c.net.skip else 0, i, "bd", 0, r)
        yield v


def block_rows(c: Chart, i: int, W: str, k: int) -> list[list[int]]:
    """Return the rows of a block of a matrix."""
    start, rows, width = c.at[f"{i}.{W}", k]
    return [c.flat[start + r * width : start + (r + 1) * width] for r in range(rows)]


def constant_source(c: Chart, i: int, after: str) -> tuple[str, int]:
    """Return the bias that adds a constant to the stream, and how often it is added."""
    name, times = ("bd", 1) if after == "ffn" else ("bo", 1)
    if after == "attention" and "o" not in c.net.bias:
        need(c.net.kind == "softmax" and not c.layer(i).dv, "a constant without bias o needs softmax without dv")
        name, times = "bv", len(c.layer(i).members(0))
    need((f"{i}.{name}", 0) in c.at, "there is no bias that produces the constant")
    return name, times


def ones(c: Chart, i: int, after: str) -> Motions:
    """LayerNorm does not see the all-ones direction: a constant along it goes from one constant of the stream to the next."""
    need(c.net.norm == "layer", "ones needs norm=layer")
    need(after == "attention" or c.layer(i).h, "after ffn needs ffn")
    inner = after == "attention" and bool(c.layer(i).h)
    need(inner or i < len(c.net.layers), "the last stream is the output")
    j, place = (i, "ffn") if inner else (i + 1, "attention")
    v = Motion(c)
    gained, lost = constant_step(c, i, after), constant_step(c, j, place)
    for layer, (motion, _), (_, factor), sign in ((i, gained, lost, 1), (j, lost, gained, -1)):
        for (name, x), value in motion.items():
            for r in range(c.layer(i).n):
                v.put(sign * factor * value, layer, name, 0, r, x)
    yield v


def constant_step(c: Chart, i: int, after: str) -> tuple[dict[tuple[str, int], int], int]:
    """Return a motion of all rows (tensor, column) that adds a constant multiple of the ones to the stream, and the multiple.

    Besides biases: in softmax what the values read of the shift, w s, w being orthogonal to the scaled centred vectors.
    """
    layer, net = c.layer(i), c.net
    if after == "attention" and "o" not in net.bias and "v" not in net.bias:
        need(net.kind == "softmax" and not layer.dv, "a constant without biases needs softmax without dv")
        w = [1] * layer.m
        for x, y in product(range(layer.m), range(layer.m)):
            w[x] = w[x] * (c.value(i, "g1", y) if x != y else 1) % c.p
        times = len(layer.members(0)) * sum(w[x] * c.value(i, "s1", x) for x in range(layer.m))
        return {("V", x): value for x, value in enumerate(w)}, times
    name, times = constant_source(c, i, after)
    return {(name, 0): 1}, times


def stream_columns(c: Chart, i: int, after: str) -> tuple[list[list[int]], list[list[int]]]:
    """Return vectors that span, with the constants that are the second part, the values of the stream of layer i.

    Where attention reads a stream of few vectors, what it makes of them may be fewer vectors than its matrices have columns.
    """
    moving, constants = written_columns(c, i, after)
    if after == "attention" and i > 1 and c.net.plain:
        read = stream_columns(c, i - 1, "ffn" if c.layer(i - 1).h else "attention")
        if len(read[0]) < c.layer(i).m:
            few = attended_columns(c, i, *read)
            if len(few[0]) < len(moving):
                return few
    return moving, constants


def attended_columns(
    c: Chart, i: int, read: list[list[int]], shifts: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return vectors and constants that span what attention makes of tokens that are combinations of vectors, plus a shift."""
    net, layer = c.net, c.layer(i)

    def times(name: str, k: int, vector: Sequence[int]) -> list[int]:
        start, rows, width = c.at[f"{i}.{name}", k]
        return [sum(c.flat[start + r * width + x] * vector[x] for x in range(width)) % c.p for r in range(rows)]

    def value(head: int, vector: list[int], bias: bool) -> list[int]:
        found, group = times("V", layer.group(head), vector), layer.group(head)
        if bias:
            start = c.at[f"{i}.bv", group][0]
            found = [a + c.flat[start + r] for r, a in enumerate(found)]
        return times("O", head, found) if layer.dv else found

    constants = [[c.flat[c.at[f"{i}.bo", 0][0] + r] for r in range(layer.n)]] if "o" in net.bias else []
    if net.kind == "lightning" and len(read) == 1 and not shifts and not net.bias & set("qkv") and (net.alone or not net.rope):
        # tokens are multiples of one vector: the output is a sum of products of three of them, times this
        numbers = [
            sum(a * b for a, b in zip(times("K", layer.group(h), read[0]), times("Q", h, read[0]), strict=True))
            for h in range(layer.heads)
        ]
        made = [value(h, read[0], False) for h in range(layer.heads)]
        return [[sum(a * b for a, b in zip(numbers, z, strict=True)) % c.p for z in zip(*made, strict=True)]], constants
    moving = []
    for h in range(layer.heads):
        members = layer.members(layer.group(h))
        if not layer.dv and h != members[0]:
            continue  # the same values as those of the first head of the group
        moving += [value(h, vector, False) for vector in read]
        if shifts or "v" in net.bias:
            shift = [sum(z) for z in zip(*shifts, strict=True)] if shifts else [0] * layer.m
            offset = value(h, shift, "v" in net.bias)
            if net.kind == "softmax":  # weights sum to one
                constants.append([(1 if layer.dv else len(members)) * a for a in offset])
            else:
                moving.append(offset)
    return moving, [[sum(z) % c.p for z in zip(*constants, strict=True)]] if constants else []


def written_columns(c: Chart, i: int, after: str) -> tuple[list[list[int]], list[list[int]]]:
    """Return the columns of what writes the stream, and the constants."""
    layer, net = c.layer(i), c.net

    def of(name: str, k: int) -> list[list[int]]:
        if (f"{i}.{name}", k) not in c.at:
            return []
        start, rows, width = c.at[f"{i}.{name}", k]
        return [[c.flat[start + r * width + x] for r in range(rows)] for x in range(width)]

    if after == "ffn":
        return of("D", 0), of("bd", 0)
    if layer.dv:
        return [column for h in range(layer.heads) for column in of("O", h)], of("bo", 0)
    matrices = [column for g in range(layer.kv) for column in of("V", g)]
    biases = [[len(layer.members(g)) * b for b in column] for g in range(layer.kv) for column in of("bv", g)]
    if net.kind != "softmax":
        return matrices + [column for g in range(layer.kv) for column in of("bv", g)], of("bo", 0)
    constants = biases + of("bo", 0)  # the weights of a query sum to one: one constant in all
    return matrices, [[sum(z) for z in zip(*constants, strict=True)]] if constants else []


def null_space(c: Chart, vectors: list[list[int]], size: int) -> list[dict[int, int]]:
    """Return a basis of the vectors orthogonal to the given ones, which must be independent and too few to span."""
    count = len(vectors)
    need(count < size, "the null space is zero")
    packed = Packed(c.p)
    tagged = [{k: 1} | {size + j: vector[k] for j, vector in enumerate(vectors)} for k in range(size)]
    found = packed.echelon([packed.pack(row) for row in tagged])
    rest = [packed.entries(row) for shift, row in found if shift < size * packed.width]
    need(len(rest) == size - count, "the rank at the point is not full")
    return rest


def hidden_readers(c: Chart, i: int, after: str) -> tuple[int, list[Reader]]:
    """Return the layer and the matrices that read a hidden stream; where weights are 1, only values do."""
    j, place = reading(c, i, after)
    found = readers(c.net, j, place)
    if c.net.kind == "softmax" and c.net.alone:
        found = [reader for reader in found if reader[0] not in ("Q", "K")]
    return j, found


def unseen(c: Chart, i: int, after: str) -> Motions:
    """A reader changes nothing along n where n . s = 0 for all values s of the stream, a constant where n . s is constant."""
    j, found = hidden_readers(c, i, after)
    moving, constants = stream_columns(c, i, after)
    size = c.layer(i).n
    need(len(moving) < size, "unseen: the stream may be anything")
    if len(moving) + len(constants) < size:
        yield from along(c, j, found, null_space(c, moving + constants, size), [0] * size)
    if constants:
        total = [sum(z) for z in zip(*constants, strict=True)]
        yield from along(c, j, [r for r in found if absorbs(c, j, r)], null_space(c, moving, size), total)


def along(c: Chart, j: int, found: list[Reader], null: list[dict[int, int]], constant: list[int]) -> Motions:
    """Each row of each reader moves by n, and the constant that it makes is absorbed."""
    for n in null:
        made = sum(value * constant[x] for x, value in n.items()) % c.p
        for W, bias, k in found:
            for r in range(c.at[f"{j}.{W}", k][1]):
                v = Motion(c)
                for x, value in n.items():
                    v.put(value, j, W, k, r, x)
                if made:
                    undo(v, j, (W, bias, k), {r: made})
                yield v


def unread(c: Chart, i: int, after: str) -> Motions:
    """What makes the stream may move by n where W n = 0 for all readers W."""
    j, found = hidden_readers(c, i, after)
    rows = [row for W, _, k in found for row in block_rows(c, j, W, k)]
    made = "D bd" if after == "ffn" else "O bo" if c.layer(i).dv else "V bv bo"
    for n in null_space(c, rows, c.layer(i).n):
        for (name, k), (_, _, width) in c.at.items():
            if name in [f"{i}.{short}" for short in made.split()]:
                for x in range(width):
                    v = Motion(c)
                    for r, value in n.items():
                        v.put(value, i, name.partition(".")[2], k, r, x)
                    yield v


def centre_basis(c: Chart, i: int, after: str) -> Motions:
    """The centred stream z has w . (g z) = 0: W (1 + u w^T) reads it like W, but for the shift, which moves."""
    g, s, width = normalised(c, i, after)
    need(c.net.norm == "layer", "centre-basis needs norm=layer")
    w = [1] * width
    for x, y in product(range(width), range(width)):
        w[x] = w[x] * (c.value(i, g, y) if x != y else 1) % c.p
    constant = sum(w[x] * c.value(i, s, x) for x in range(width))
    for u in range(width):
        v = Motion(c)
        v.put(-constant, i, s, 0, u)
        for W, _, k in readers(c.net, i, after):
            v.right([(u, x, w[x]) for x in range(width)], i, W, k)
        yield v


def dead(c: Chart, i: int, names: str, k: int) -> Motions:
    """A query that sees one key has weight one, whatever the score."""
    need(c.net.kind == "softmax" and c.net.alone, "dead queries and keys need softmax and one visible key")
    layer = c.layer(i)
    for name, columns in zip(names.split(), (layer.m, 1), strict=True):
        if (f"{i}.{name}", k) in c.at:
            for r, x in product(range(layer.a), range(columns)):
                v = Motion(c)
                v.put(1, i, name, k, r, x)
                yield v


def symmetric(c: Chart, i: int, group: int, target: str, source: str) -> Motions:
    """Where keys and queries read parallel vectors, b antisymmetric changes no score: (b z)^T z = 0."""
    net, layer = c.net, c.layer(i)
    need(net.kind == "lightning", "symmetric fields need lightning")
    heads = layer.members(group)
    need(target[0] == "Q" or len(heads) == 1, "symmetric-key needs one query head in the group")
    if net.alone:
        need(target[-1] in net.bias or source[-1] not in net.bias, "symmetric fields need the bias that moves")
    else:
        need(not net.rope and not net.bias & set("qk"), "symmetric fields on a stream of rank one: rope or bias q, k")
        need(rank_one(net, i), "symmetric fields need one visible key or a stream of rank one")
    for head, b in product(heads, antisymmetric(layer.a)):
        at, origin = (group, head) if target[0] == "K" else (head, group)
        v = Motion(c)
        v.left(b, i, target, at, source, origin)
        yield v


def rank_one(net: Network, i: int) -> bool:
    """Say whether the stream entering layer i is known to be a vector times a row of scalars."""
    known = False  # of the stream that layer j reads
    for j, layer in enumerate(net.layers[:i], 1):
        known = known or layer.m == 1
        if j == i:
            break
        steady = layer.heads == 1 or not net.bias & {"q", "k"}  # one vector for all tokens, whatever they see
        kept = known and steady and not net.rope
        made = layer.a == layer.heads == 1 and not net.causal
        homogeneous = not layer.h or (layer.act not in ACTIVATIONS and not net.bias & {"u", "d"})
        known = (kept or made) and homogeneous and net.plain and not net.bias & {"v", "o"}
    return known and net.plain and net.kind == "lightning"


def ffn_scaling(c: Chart, i: int, unit: int) -> Motions:
    """One hidden unit up, its output column down."""
    layer = c.layer(i)
    need(layer.h and layer.act not in ("silu", "gelu"), "ffn-scaling needs ffn with a power or swiglu")
    r, v = 1 if layer.act == "swiglu" else int(layer.act), Motion(c)
    v.left([(unit, unit, 1)], i, "U bu", 0)
    v.right([(unit, unit, -r)], i, "D", 0)
    yield v


def ffn_basis(c: Chart, i: int) -> Motions:
    """A linear ffn in another hidden basis."""
    need(c.layer(i).act == "1", "ffn-basis needs ffn with power 1")
    for e in gl(c.layer(i).h):
        v = Motion(c)
        v.left(e, i, "U bu", 0)
        v.right(minus(e), i, "D", 0)
        yield v


def normalised(c: Chart, i: int, after: str) -> tuple[str, str, int]:
    """Return the names of gain and shift before attention (after the input) or ffn, and the width."""
    layer = c.layer(i)
    need(c.net.norm, "this field needs a norm")
    need(after == "input" or layer.h, "after attention this field needs ffn")
    return ("g1", "s1", layer.m) if after == "input" else ("g2", "s2", layer.n)


def gain(c: Chart, i: int, after: str) -> Motions:
    """The gain up, everything that reads the normalised stream down."""
    g, s, width = normalised(c, i, after)
    for e in diagonal(width):
        v = Motion(c)
        v.left(e, i, f"{g} {s}", 0)
        for W, _, k in readers(c.net, i, after):
            v.right(minus(e), i, W, k)
        yield v


def shift(c: Chart, i: int, after: str) -> Motions:
    """The shift of a norm is absorbed by the biases of what reads the normalised stream."""
    _, s, width = normalised(c, i, after)
    need(c.net.norm == "layer", "shift needs norm=layer")
    need(all(absorbs(c, i, reader) for reader in readers(c.net, i, after)), "shift needs biases that absorb it")
    for r in range(width):
        v = Motion(c)
        v.put(1, i, s, 0, r)
        for reader in readers(c.net, i, after):
            undo(v, i, reader, product_with(c, i, reader[0], reader[2], {r: 1}))
        yield v


def centre(c: Chart, i: int, after: str, to: str, k: int) -> Motions:
    """The centred stream z has sum 0: w . (g z) = 0 for w_c = product of the other gains."""
    g, s, width = normalised(c, i, after)
    need(c.net.norm == "layer", "centre needs norm=layer")
    reader = next((found for found in readers(c.net, i, after) if found[0] == to and found[2] == k), None)
    if reader is None:
        raise ReplayError("field", f"centre: no block {k} of {to[:20]} reads the stream after {after}")
    need(absorbs(c, i, reader), f"centre needs the bias of {to}")
    w = [1] * width
    for x, y in product(range(width), range(width)):
        w[x] = w[x] * (c.value(i, g, y) if x != y else 1) % c.p
    constant = sum(w[x] * c.value(i, s, x) for x in range(width))
    for r in range(c.at[f"{i}.{to}", k][1]):
        v = Motion(c)
        for x in range(width):
            v.put(w[x], i, to, k, r, x)
        undo(v, i, reader, {r: constant})
        yield v


def mlp_scaling(c: Chart, i: int, unit: int) -> Motions:
    """One hidden unit up, what reads it down."""
    need(i < len(c.net.layers), "the last layer has no hidden units")
    v = Motion(c)
    v.left([(unit, unit, 1)], i, "W", 0)
    v.right([(unit, unit, -c.net.power)], i + 1, "W", 0)
    yield v


def mlp_basis(c: Chart, i: int) -> Motions:
    """Linear layers in another hidden basis."""
    need(i < len(c.net.layers) and c.net.power == 1, "mlp-basis needs a hidden layer and power 1")
    for e in gl(c.layer(i).n):
        v = Motion(c)
        v.left(e, i, "W", 0)
        v.right(minus(e), i + 1, "W", 0)
        yield v


def mlp_rotation(c: Chart, i: int) -> Motions:
    """One output after squares: sum of w_k (u_k x)^2 does not change when the rows w_k u_k turn: z^T b z = 0."""
    net = c.net
    need(i < len(net.layers) and net.power == 2, "mlp-rotation needs a hidden layer and power 2")
    need(c.layer(i + 1).n == 1, "mlp-rotation needs one unit in the next layer")
    weight = c.at[f"{i + 1}.W", 0][0]
    for b in antisymmetric(c.layer(i).n):
        v = Motion(c)
        v.left([(r, k, value * c.flat[weight + k]) for r, k, value in b], i, "W", 0)
        yield v


def free_side(c: Chart, i: int) -> str:
    """Return the side (K or Q) that carries the scores as free matrices, the other one being the identity at the point.

    Then the polynomial field with adjugates of the other side (and of O) has at the point the value that is used below.
    """
    net, layer = c.net, c.layer(i)
    need(net.kind == "lightning" and not net.rope, "free scores need lightning without rope")
    need(layer.heads == layer.kv, "free scores need one head in each group")
    biases = net.bias & set("qk")
    side, other = ("K", "Q") if biases == {"k"} else ("Q", "K")
    need(layer.a == layer.m + (biases == {"q", "k"}), "free scores need square matrices")
    need(f"{i}.{other}" in c.frozen, f"free scores need {other} frozen")
    need(not layer.dv or (layer.dv == layer.n and f"{i}.O" in c.frozen), "free scores need square O, frozen")
    return side


def free_mix(c: Chart, i: int, head: int, to: int) -> Motions:
    """The values of a head take from another head what the scores of that one give up."""
    side, layer = free_side(c, i), c.layer(i)
    need(head != to and to < layer.heads, "free-mix needs two heads")
    v = Motion(c)
    v.left(scalar(layer.dv or layer.n), i, "V bv", head, "V bv", to)
    v.left(scalar(layer.a, -1), i, f"{side} b{side.lower()}", to, f"{side} b{side.lower()}", head)
    yield v


def net_is_bare(net: Network) -> bool:
    """Say whether there are neither biases nor skip nor norm."""
    return net.plain and not net.bias


def koszul(c: Chart, i: int, head: int, to: int) -> Motions:
    """One output: (v_h z)(v_k z)(c x) - (v_k z)(v_h z)(c x) = 0, z the key with its constant, x the query with its own."""
    side, layer, bias = free_side(c, i), c.layer(i), c.net.bias
    narrow = layer.n > 1 and layer.h == 1 and layer.act != "swiglu" and net_is_bare(c.net)
    need(layer.n == 1 or narrow, "koszul needs one output")
    need("v" not in bias or "k" in bias, "koszul with bias v needs bias k")
    need(head != to and to < layer.heads, "koszul needs two heads")

    def key_form(h: int) -> list[int]:
        if narrow:  # the one row of U reads the output
            (row,), columns = block_rows(c, i, "U", 0), list(zip(*block_rows(c, i, "V", h), strict=True))
            return [sum(map(mul, row, column)) % c.p for column in columns] + [0]
        start = c.at[f"{i}.V", h][0]
        constant = c.flat[c.at[f"{i}.bv", h][0]] if "v" in bias else 0
        return [*c.flat[start : start + layer.m], constant]

    for query in range(layer.m + ("q" in bias)):
        v = Motion(c)
        for target, source, sign in ((head, to, 1), (to, head, -1)):
            for r, value in enumerate(key_form(source)):
                if side == "K":  # scores: (query)^T (K key + bk)
                    v.put(sign * value, i, "K" if r < layer.m else "bk", target, query, r if r < layer.m else 0)
                elif r < layer.a:  # scores: (key)^T (Q query + bq)
                    place = ("Q", query) if query < layer.m else ("bq", 0)
                    v.put(sign * value, i, place[0], target, r, place[1])
        yield v


def block_space(c: Chart, i: int, part: str, to: int) -> int:
    """Return an upper bound of the dimension of all functions of a block."""
    net, layer = c.net, c.layer(i)
    if part == "attention":
        return attention_space(net, i)
    if part == "scores":
        need(net.rope and not net.alone, "block: scores are for rope")
        return layer.heads * score_space(net, layer)
    if part == "values":
        return value_space(net, layer)
    if part == "ffn":
        r, n = int(layer.act) if layer.act not in ACTIVATIONS else 0, layer.n
        need(r, "block: the activation is no power")
        columns, constants = stream_columns(c, i, "attention") if net.plain else ([], [])
        few = net.plain and len(columns) < n  # then polynomials in their coefficients
        variables = len(columns) if few else n
        shift = "d" in net.bias
        if "u" in net.bias or (few and constants):  # polynomials of degree at most r
            return n * comb(variables + r, r) - (not shift and short(variables + 1, layer.h, r, n))
        return n * (comb(variables + r - 1, r) + shift) - short(variables, layer.h, r, n)
    return run_space(net, i, to)


def run_space(net: Network, i: int, to: int) -> int:
    """Return an upper bound of the dimension of the forms that layers i to `to` of an MLP compute."""
    widths = [net.layers[i - 1].m, *[net.layers[k].n for k in range(i - 1, to)]]
    m, n, hidden, degree = widths[0], widths[-1], widths[-2], net.power ** (to - i)
    if degree == 1:
        return min(widths) * (m + n - min(widths))
    c = min(m, widths[1])  # the forms depend on c linear forms, and span at most `hidden` dimensions
    space = forms(c, degree)
    rank = min(hidden, n, space)
    bound = c * (m - c) + rank * (space + n - rank)
    if to == i + 1 and rank == n:
        bound -= short(c, hidden, net.power, n)  # sums of so many powers satisfy an equation (a minor of a flattening)
    return bound


@lru_cache(maxsize=1000)
def short(m: int, k: int, r: int, n: int) -> bool:
    """Say whether a flattening shows that n sums of the same k r-th powers of linear forms in m variables do not fill.

    It is linear in the n forms, has rank at most `one` where the n forms are multiples of one power, and more than k times that at
    random forms. A single form is also looked at by its derivatives, m forms of degree r - 1.
    """
    if max(m, n) > 100 or k * (m + n - 1) < n * comb(m + r - 1, r):
        return False
    source = Source(2097143, 0)
    for forms, degree in [(n, r)] + [(m, r - 1)] * (n == 1):
        for p, i in product(range(forms), range(degree + 1)):
            height, width = comb(forms, p) * comb(m + i - 1, i), comb(forms, p + 1) * comb(m + degree - i - 1, degree - i)
            one = comb(forms - 1, p)
            if k * one < min(height, width) and max(height, width) <= 100:
                rows = flattening(source, m, degree, forms, p, i, degree < r)
                if Packed(source.p).rank(rows) > k * one:
                    return True
    return False


def flattening(source: Source, m: int, r: int, n: int, p: int, i: int, derived: bool) -> list[int]:
    """Return the rows of f -> (w ^ f differentiated by g), w a wedge of p unit vectors of the n forms, g a monomial of degree i."""
    packed, rows = Packed(source.p), []
    wedges = list(combinations(range(n), p + 1))
    rest = list(combinations_with_replacement(range(m), r - i))
    for w, g in product(combinations(range(n), p), combinations_with_replacement(range(m), i)):
        row = {}
        for a, wedge in enumerate(wedges):
            left = [o for o in wedge if o not in w]
            if len(left) == 1:  # wedge = +-w ^ left
                o = left[0]
                for b, h in enumerate(rest):
                    exponents = [(g + h + (o,) * derived).count(x) for x in range(m)]  # of one coefficient, for each form its own
                    value = source.value(f"form {exponents}", 0 if derived else o)
                    row[a * len(rest) + b] = value if wedge.index(o) % 2 == 0 else source.p - value
        rows.append(packed.pack(row))
    return rows


PARTS = {
    "attention": "Q K V O bq bk bv bo",
    "scores": "Q K bq bk",
    "values": "V O bv bo",
    "ffn": "G U D bu bd",
    "forms": "W",
}


def moves(name: str, i: int, part: str, to: int) -> bool:
    """Say whether a tensor belongs to a block."""
    layer, _, short = name.partition(".")
    own = PARTS[part].split()
    return i <= int(layer) <= max(i, to) and short in own


def block_function(c: Chart, i: int, part: str, to: int, inputs: int, packed: Packed) -> list[int]:
    """Return the derivatives of a block at inputs of its own by each of its parameters (packed)."""
    net, layer = c.net, c.layer(i)
    own = [moves(name, i, part, to) for name, shape in shapes(net).items() for _ in range(prod(shape))]
    ring = Tape(packed, c.flat, own)
    w = tensors(net, ring.variables)
    source, few_tokens = c.source.under(f"block/{i}/"), net
    if part == "attention" and net.kind == "lightning" and one_token_tells(net, i):
        few_tokens = net._replace(t=1, causal=False, window=0)
    width, t = layer.n if part == "ffn" else layer.m, few_tokens.t if part in ("attention", "scores") else 1
    spanning, constants = stream_columns(c, i, "attention") if part == "ffn" and net.plain else ([], [])
    few = part == "ffn" and net.plain and len(spanning) < layer.n
    width = len(spanning) if few else width
    for n in range(inputs):
        x = [[(source.value("X", (n * width + r) * t + j), 0) for r in range(width)] for j in range(t)]
        draw = drawer(source, c.source)
        if part in ("attention", "scores") and net.norm == "layer":  # centred vectors, and the shift
            x = [[ring.sum([z, s]) for z, (s,) in zip(centred(net, i, ring, w, z), w[f"{i}.s1"][0], strict=True)] for z in x]
        if part == "attention":
            x = attention(few_tokens, i, ring, w, x, draw, n)
        elif part == "scores":
            q, k = queries_keys(net, i, ring, w, x, draw)
            x = []
            for h, j in product(range(len(q)), range(t)):
                row = [ring.dot(k[layer.group(h)][y], q[h][j]) for y in net.visible(j)]
                if net.kind == "softmax":
                    own = ring.dot([ring.ratio(-1)], [ring.dot(k[layer.group(h)][j], q[h][j])])
                    row = [ring.sum([z, own]) for z in row]
                x.append(row)
        elif part == "values":
            x = values(net, i, ring, w, x[0])
        elif part == "ffn":
            if few:  # what it reads is a combination of few vectors, and a constant
                vectors = [[(z, 0) for z in v] for v in spanning + constants]
                x = [[ring.dot([*x[0], *[(1, 0)] * len(constants)], [v[r] for v in vectors]) for r in range(layer.n)]]
            x = feed_forward(net, i, ring, w, x, draw, n)
        else:
            for k in range(i, to + 1):
                x = [affine(ring, w[f"{k}.W"][0], None, token) for token in x]
                x = [[power(ring, z, net.power) for z in token] for token in x] if k < to else x
        if part in ("attention", "values") and counted_rows(net, layer) < layer.n:
            rows_read = [row for W, _, _ in readers(net, i, "attention") for row in w[f"{i}.{W}"][0]]
            x = [affine(ring, rows_read, None, token) for token in x]
        ring.derive([value for token in x for value in token])
    return ring.columns()


def centred(net: Network, i: int, ring: Exact, w: Tensors, x: list[Any]) -> list[Any]:
    """Return x less its mean, times the width, times the gain of layer i."""
    mean = ring.dot([ring.ratio(-1)], [ring.sum(x)])
    moved = [ring.sum([ring.dot([ring.ratio(len(x))], [z]), mean]) for z in x]
    return [ring.dot(g, [z]) for g, z in zip(w[f"{i}.g1"][0], moved, strict=True)]


def values(net: Network, i: int, ring: Exact, w: Tensors, x: list[Any]) -> Stream:
    """Return O_h V_g z for each head (no dv: V_g z for each group), and the sum of all constants where there are any.

    z is x; with LayerNorm g times x centred (times the width), and V_g times the shift is a constant.
    """
    layer, constants = net.layers[i - 1], []
    if net.norm == "layer":
        x = centred(net, i, ring, w, x)
    found = []
    for h in range(layer.heads):
        g = layer.group(h)
        if layer.dv or h == layer.members(g)[0]:  # no dv: heads of one group differ in nothing
            z = affine(ring, w[f"{i}.V"][g], None, x)
            found.append(affine(ring, w[f"{i}.O"][h], None, z) if layer.dv else z)
        made = []
        if "v" in net.bias:
            made.append([b for (b,) in w[f"{i}.bv"][g]])
        if net.norm == "layer":
            made.append(affine(ring, w[f"{i}.V"][g], None, [s for (s,) in w[f"{i}.s1"][0]]))
        constants += [affine(ring, w[f"{i}.O"][h], None, c) if layer.dv else c for c in made]
    if "o" in net.bias:
        constants.append([b for (b,) in w[f"{i}.bo"][0]])
    return [*found, [ring.sum(z) for z in zip(*constants, strict=True)]] if constants else found


def block_kernel(c: Chart, i: int, part: str, inputs: int, to: int = 0) -> Motions:
    """Directions that do not change a block's function, where the block fills at the point a space of known dimension.

    Then the generic rank of the block is that dimension, and Cramer's rule extends each direction to a field.
    """
    net = c.net
    need((part == "forms") == (net.kind == "mlp"), "block: no such part")
    need(part != "ffn" or c.layer(i).h, "block: there is no ffn")
    need(part != "forms" or i < to <= len(net.layers), "block: no such run of layers")
    space, packed, size = block_space(c, i, part, to), Packed(c.p), len(c.flat)
    one = net if part in ("attention", "scores") else net._replace(t=1)
    c.source.spend(steps(one) * inputs * (size + 600) + (size + inputs) * size**2, "the blocks cost too much")
    own = [k for (name, _), (start, *shape) in c.at.items() if moves(name, i, part, to) for k in range(start, start + prod(shape))]
    derivatives = block_function(c, i, part, to, inputs, packed)
    # (derivative by parameter k | k): where the derivatives cancel, the rest says which combination it was
    found = packed.echelon([x << size * packed.width | 1 << k * packed.width for k, x in zip(own, derivatives, strict=True)])
    rank = sum(shift >= size * packed.width for shift, _ in found)
    need(rank == space, f"block: rank {rank} at the point, the functions have at most {space} dimensions")
    for shift, row in found:
        if shift < size * packed.width:
            v = Motion(c)
            v.update(packed.entries(row))
            yield v


def linear_factors(c: Chart, j: int, part: str) -> tuple[list[list[int]], list[list[int]], list[int], int]:
    """Return a block x -> outer (inner (x, 1)) + constant as its matrices, and how many columns count: the last only with a bias."""
    names = ("D", "U", "bu", "bd") if part == "ffn" else ("O", "V", "bv", "bo")
    n, has = c.layer(j).n, [(f"{j}.{name}", 0) in c.at for name in names]
    outer = block_rows(c, j, names[0], 0) if has[0] else [[int(r == x) for x in range(n)] for r in range(n)]
    inner = block_rows(c, j, names[1], 0)
    added = [x for (x,) in block_rows(c, j, names[2], 0)] if has[2] else [0] * len(inner)
    constant = [x for (x,) in block_rows(c, j, names[3], 0)] if has[3] else [0] * n
    return outer, [[*row, x] for row, x in zip(inner, added, strict=True)], constant, n + (has[2] or has[3])


def turned(v: Motion, j: int, part: str, e: Matrix) -> None:
    """A block reads a stream that moves by e times itself, and what it adds moves by e times itself."""
    for W, _, k in readers(v.chart.net, j, "attention" if part == "ffn" else "input"):
        v.right(minus(e), j, W, k)
    added(v, j, part, e)


def linear_blocks(c: Chart, i: int) -> Motions:
    """Between blocks x -> (1 + M) x + c the stream moves by e_b x: dM = e_b (1 + M) - (1 + M) e_(b-1), dc = e_b c.

    These equations are linear in all that moves; where no more than everywhere depend at the point each solution is a rational field's value.
    """
    net, n, packed, size = c.net, c.layer(1).m, Packed(c.p), len(c.flat)
    need(net.skip and not net.norm and i == 1, "linear-blocks needs skip, no norm, and stands for all layers")
    places = [(j, part) for j, y in enumerate(net.layers, 1) for part in ["attention"] + ["ffn"] * bool(y.h)]
    one_head = [net.kind == "softmax" and net.alone and y.heads == 1 for y in net.layers]
    at = [k for k, (j, part) in enumerate(places) if (one_head[j - 1] if part == "attention" else c.layer(j).act == "1")]
    need(len(at) > 1, "linear-blocks needs two linear blocks")
    equations, rows, first, total = 0, [], [], []
    left, right = [], []  # dimensions that no (u, w) with u M = 0, M w = 0 reaches; those that reach all blocks relate the equations
    c.source.spend(len(at) * n * (n + 1) * size * 1000, "the linear blocks cost too much")
    for j, part in (places[k] for k in at):
        outer, inner, constant, width = linear_factors(c, j, part)
        passing = (f"{j}.{'bu' if part == 'ffn' else 'bv'}", 0) in c.at and (f"{j}.{'bd' if part == 'ffn' else 'bo'}", 0) not in c.at
        left.append(len(inner))
        right.append(len(inner) - passing)  # (w, s) with M w + c s = 0: one w more
        start, base = size + equations, [(r, x) for r in range(n) for x in range(width)]
        cell = {rx: start + k for k, rx in enumerate(base)}
        first.append(cell)
        product_rows = [[sum(map(mul, row, column)) for column in zip(*inner, strict=True)] for row in outer]
        total.append([[z + (r == x) + constant[r] * (x == n) for x, z in enumerate(row)] for r, row in enumerate(product_rows)])
        equations += n * width
        for k, name in enumerate(("D", "U", "bu", "bd") if part == "ffn" else ("O", "V", "bv", "bo")):
            offset, height, columns = c.at.get((f"{j}.{name}", 0), (0, 0, 0))
            for r, x in product(range(height), range(columns)):
                if k == 0:
                    made = {cell[r, y]: inner[x][y] for y in range(width)}
                elif k == 3:
                    made = {cell[r, n]: 1}
                else:
                    made = {cell[y, x if k == 1 else n]: outer[y][r] for y in range(n)}
                rows.append(made | {offset + r * columns + x: 1})
    for b, (here, there) in enumerate(pairwise(at)):
        for r, q in product(range(n), repeat=2):
            v = Motion(c)
            for j, part in places[here + 1 : there]:
                turned(v, j, part, [(r, q, 1)])
            v.update({k: -total[b][q][x] for (row, x), k in first[b].items() if row == r})
            v.update({first[b + 1][y, q]: total[b + 1][y][r] for y in range(n)})
            rows.append(v)
    found = packed.echelon([packed.pack(row) for row in rows])
    rank = sum(shift >= size * packed.width for shift, _ in found)
    equations -= max(0, n - sum(left)) * max(0, n - sum(right))
    need(rank == equations, f"linear-blocks: {equations} equations, rank {rank} at the point")
    for shift, row in found:
        if shift < size * packed.width:
            v = Motion(c)
            v.update(packed.entries(row))
            yield v


# ------------------------------------------------------------------------------ upper bound: fields that the file brings
#
# A field is given by its terms, and the derivative of the network along it is expanded: a polynomial with rational
# coefficients in letters for parameters, inputs, constants, exponentials, inverses and roots (PROOFS-upper.md, found fields).

Polynomial = dict[int, Any]  # monomial: 16 bits for the power of each letter, the first lowest -> coefficient, not 0
BITS = 16


class Moving:
    """A polynomial, expanded when it is asked for, and its derivative along the field."""

    def __init__(self, expand: Callable[[], Polynomial], derivative: Polynomial) -> None:
        self.expand, self.derivative = expand, derivative
        self.expanded: Polynomial | None = None

    @property
    def value(self) -> Polynomial:
        """The polynomial."""
        if self.expanded is None:
            self.expanded = self.expand()
        return self.expanded


class Letters(Exact):
    """The number system of these polynomials. Every relation used is one between functions, so a zero is one."""

    def __init__(self, source: Source) -> None:
        super().__init__(1)
        self.source, self.count, self.guard = source, 0, 0
        self.drawn: dict[tuple[str, int], Moving] = {}
        self.inverses: dict[int, tuple[Moving, int]] = {}  # letter -> x, k: the letter to the power k times x is 1
        self.relations: dict[int, tuple[int, Polynomial]] = {}  # letter -> leading monomial of that, and what it equals

    def letter(self, derivative: Polynomial | None = None) -> Moving:
        """Return a new letter."""
        monomial = 1 << BITS * self.count
        self.guard |= monomial << BITS - 1
        self.count += 1
        return Moving(lambda: {monomial: 1}, derivative or {})

    def draw(self, label: str, k: int) -> Moving:
        """Return the letter of an exponential or a constant."""
        if (label, k) not in self.drawn:
            self.drawn[label, k] = self.letter()
        return self.drawn[label, k]

    def times(self, x: Polynomial, y: Polynomial) -> Polynomial:
        """Return the product."""
        self.source.spend(1000 * len(x) * len(y), "the found fields cost too much")
        require(len(x) * len(y) <= MAX_TERMS, "caps", "the found fields have too many terms")
        total: Polynomial = {}
        for a, c in x.items():
            for b, d in y.items():
                total[a + b] = total.get(a + b, 0) + c * d
        require(not any(m & self.guard for m in total), "caps", "a power of 2^15")
        return {m: c for m, c in total.items() if c}

    def plus(self, polynomials: Sequence[Polynomial]) -> Polynomial:
        """Return the sum."""
        total: Polynomial = {}
        self.source.spend(100 * sum(map(len, polynomials)), "the found fields cost too much")
        require(sum(map(len, polynomials)) <= MAX_TERMS, "caps", "the found fields have too many terms")
        for polynomial in polynomials:
            for m, c in polynomial.items():
                total[m] = total.get(m, 0) + c
        return {m: c for m, c in total.items() if c}

    def ratio(self, numerator: int, denominator: int = 1) -> Any:
        value = quotient(numerator, denominator)
        return Moving(lambda: {0: value} if value else {}, {})

    def dot(self, xs: Sequence[Any], ys: Sequence[Any]) -> Any:
        pairs = list(zip(xs, ys, strict=True))
        moved = [self.times(x.derivative, y.value) for x, y in pairs if x.derivative]
        moved += [self.times(x.value, y.derivative) for x, y in pairs if y.derivative]
        return Moving(lambda: self.plus([self.times(x.value, y.value) for x, y in pairs]), self.plus(moved))

    def sum(self, xs: Sequence[Any]) -> Any:
        return Moving(lambda: self.plus([x.value for x in xs]), self.plus([x.derivative for x in xs]))

    def exponential(self, unit: Any, exponent: Any) -> Any:
        return Moving(lambda: unit.value, self.times(unit.value, exponent.derivative))

    def inverse(self, x: Any) -> Any:
        return self.inverted(x, 1)

    def root(self, x: Any) -> Any:
        return self.inverted(x, 2)

    def inverted(self, x: Moving, k: int) -> Moving:
        """Return a letter R with R^k x = 1: dR = -R^(k + 1)/k dx."""
        new, number = self.letter(), self.count - 1
        self.inverses[number] = x, k
        new.derivative = self.times({(k + 1) << BITS * number: quotient(-1, k)}, x.derivative)
        return new

    def relation(self, number: int) -> tuple[int, Polynomial]:
        """Return the leading monomial of R^k x = 1 (lexicographic, later letters first), and what it equals."""
        if number not in self.relations:
            x, k = self.inverses[number]
            base = self.normal(x.value)
            lead = max(base, default=0)
            need(lead, "found: the inverse of a constant")
            own, scale = k << BITS * number, quotient(1, base[lead])
            rest = {m: c for m, c in base.items() if m != lead}
            self.relations[number] = lead + own, self.plus([{0: scale}, self.times({own: -scale}, rest)])
        return self.relations[number]

    def normal(self, polynomial: Polynomial) -> Polynomial:
        """Return an equal polynomial without leading monomials of relations."""
        done: Polynomial = {}
        rest = dict(polynomial)
        while rest:
            m, c = rest.popitem()
            for number in self.inverses:
                if m >> BITS * number & (1 << BITS) - 1:
                    lead, equal = self.relation(number)
                    if ((m | self.guard) - lead) & self.guard == self.guard:  # no power is smaller
                        for n, d in self.times({m - lead: c}, equal).items():
                            d += rest.pop(n, 0)
                            if d:
                                rest[n] = d
                        require(len(rest) <= MAX_TERMS, "caps", "the found fields have too many terms")
                        break
            else:
                done[m] = done.get(m, 0) + c
        return {m: c for m, c in done.items() if c}

    def renew(self, stream: Stream) -> Stream:
        """Return letters for the entries of a stream whose derivatives are affine combinations of entries of their token.

        If some derivative is not, return the stream as it is.
        """
        for token in stream:
            for x in token:
                x.derivative = self.normal(x.derivative)
        return [self.renewed(token) or token for token in stream]

    def renewed(self, token: list[Any]) -> list[Any] | None:
        """Return letters for the coordinates of a token, or None."""
        fresh = [self.letter() for _ in token]
        if not any(x.derivative for x in token):
            return fresh
        known: list[tuple[int, Polynomial, Polynomial]] = []  # a monomial, a polynomial with it, the same in new letters

        def clear(polynomial: Polynomial, letters: Polynomial) -> tuple[Polynomial, Polynomial]:
            for m, row, same in known:
                if m in polynomial:
                    factor = {0: quotient(-polynomial[m], row[m])}
                    polynomial = self.plus([polynomial, self.times(factor, row)])
                    letters = self.plus([letters, self.times(factor, same)])
            return polynomial, letters

        for x, letter in [(self.ratio(1), self.ratio(1)), *zip(token, fresh, strict=True)]:
            rest, letters = clear(self.normal(x.value), letter.value)
            if rest:
                known.append((max(rest), rest, letters))
        for x, letter in zip(token, fresh, strict=True):
            rest, letters = clear(x.derivative, {})
            if rest:
                return None
            letter.derivative = self.times({0: -1}, letters)
        return fresh


def quotient(x: Any, y: Any) -> Any:
    """Return x / y, an integer where it is one."""
    result = Fraction(x) / Fraction(y)
    return result.numerator if result.denominator == 1 else result


Term = tuple[int, Fraction, list[int]]  # the parameter that moves, by the coefficient times the product of these parameters


def annihilated(net: Network, motion: Sequence[Term], expanded: bool, source: Source) -> bool:
    """Say whether the expanded derivative of the network along the field is 0."""
    ring = Letters(source)
    flat = [ring.letter() for _ in range(parameters(net))]
    for target, coefficient, factors in motion:
        moved: Polynomial = {0: quotient(coefficient, 1)} if coefficient else {}
        for k in factors:
            moved = ring.times(moved, flat[k].value)
        flat[target].derivative = ring.plus([flat[target].derivative, moved])
    tokens = [[ring.letter() for _ in range(net.layers[0].m)] for _ in range(net.t)]
    result = forward(net, ring, tensors(net, flat), tokens, ring.draw, 0, None if expanded else ring.renew)
    return not any(ring.normal(x.derivative) for token in result for x in token)


def found(c: Chart, field: Any) -> Motions:
    """A field given by its terms, proved here."""
    field = record(field, "field expanded motion", "field found")
    expanded, motion = natural(field["expanded"], "expanded", 2), list[Term]()
    for term in array(field["motion"], "motion", MAX_FIELDS):
        parts = array(term, "a term", 3)
        require(len(parts) == 3, "schema", "a term is not target, coefficient, factors")
        text = re.fullmatch(r"(-?[1-9][0-9]{0,8})(?:/([1-9][0-9]{0,8}))?", words(parts[1], "a coefficient"))
        require(text is not None, "schema", "not a coefficient")
        coefficient = Fraction(int(text[1]), int(text[2] or 1)) if text else Fraction(0)
        factors = [natural(k, "a factor", len(c.flat)) for k in array(parts[2], "factors", MAX_FACTORS)]
        motion.append((natural(parts[0], "a target", len(c.flat)), coefficient, factors))
    need(annihilated(c.net, motion, bool(expanded), c.source), "found: the derivative along the field is not 0")
    v = Motion(c)
    for target, coefficient, factors in motion:
        need(coefficient.denominator % c.p, "found: a denominator is 0 modulo the prime")
        value = coefficient.numerator * pow(coefficient.denominator, -1, c.p) * prod(c.flat[k] for k in factors)
        v[target] = (v.get(target, 0) + value) % c.p
    yield v


FIELDS: dict[str, tuple[Callable[..., Motions], str]] = {
    "gauge": (gauge, "group"),
    "scaling": (scaling, "group"),
    "head-scaling": (lambda c, i, head: head_pair(c, i, head, head), "head"),
    "head-mix": (head_mix, "head to"),
    "group-sum": (group_sum, "head"),
    "value-gauge": (value_gauge, "group"),
    "hidden-basis": (hidden_basis, "after"),
    "key-bias": (key_bias, "group"),
    "value-bias": (value_bias, "group"),
    "value-bias-pair": (value_bias_pair, "group"),
    "push": (push, "after"),
    "push-value": (push_value, "group"),
    "push-past": (push_past, "after to"),
    "push-through": (push_through, ""),
    "dead-query": (lambda c, i, head: dead(c, i, "Q bq", head), "head"),
    "dead-key": (lambda c, i, group: dead(c, i, "K bk", group), "group"),
    "symmetric-key": (lambda c, i, group: symmetric(c, i, group, "K bk", "Q bq"), "group"),
    "symmetric-query": (lambda c, i, group: symmetric(c, i, group, "Q bq", "K bk"), "group"),
    "ffn-scaling": (ffn_scaling, "unit"),
    "ffn-basis": (ffn_basis, ""),
    "gain": (gain, "after"),
    "shift": (shift, "after"),
    "centre": (centre, "after matrix"),
    "mlp-scaling": (mlp_scaling, "unit"),
    "mlp-basis": (mlp_basis, ""),
    "mlp-rotation": (mlp_rotation, ""),
    "ones": (ones, "after"),
    "centre-basis": (centre_basis, "after"),
    "unseen": (unseen, "after"),
    "unread": (unread, "after"),
    "free-mix": (free_mix, "head to"),
    "koszul": (koszul, "head to"),
    "block": (block_kernel, "part inputs"),
    "linear-blocks": (linear_blocks, ""),
}


def motions(c: Chart, field: Any) -> Motions:
    """Return the vectors of one entry of the list of fields."""
    need(isinstance(field, dict) and isinstance(field.get("field"), str), "an entry is not a field")
    name = field["field"]
    if name == "found":
        return found(c, field)
    need(name in FIELDS, f"unknown field {ascii(name)[:40]}")
    motion, keys = FIELDS[name]
    if name == "centre" and field.get("matrix") in ("Q", "K", "V"):
        keys += " slice"
    if name == "block" and field.get("part") == "forms":
        keys += " to"
    field = record(field, f"field layer {keys}", f"field {name}")
    i = natural(field["layer"], "layer")
    need(1 <= i <= len(c.net.layers), f"{name}: there is no layer {i}")
    need(name == "block" or name.startswith("mlp-") == (c.net.kind == "mlp"), f"{name}: not a field of {c.net.kind} networks")
    layer = c.layer(i)
    bounds = {"head": layer.heads, "group": layer.kv, "unit": layer.n if c.net.kind == "mlp" else layer.h}
    options: list[Any] = [i]
    for key in keys.split():
        value = field[key]
        if key == "after":
            places = ("input", "attention") if name in ("gain", "shift", "centre", "centre-basis") else ("attention", "ffn")
            need(value in places, f"{name}: after is neither {places[0]} nor {places[1]}")
        elif key in bounds:
            need(natural(value, key) < bounds[key], f"{name}: there is no {key} {value} in layer {i}")
        elif key == "matrix":
            need(value in ("Q", "K", "V", "U", "G"), f"{name}: unknown matrix")
        elif key == "part":
            need(isinstance(value, str) and value in PARTS, f"{name}: unknown part")
        elif key == "inputs":
            natural(value, key, MAX_MINOR)
        else:
            natural(value, key)
        options.append(value)
    if name == "centre" and len(options) == 3:
        options.append(0)
    return motion(c, *options)


def check_fields(net: Network, source: Source, fields: Any, frozen: Any = ()) -> int:
    """Return the rank at the point of vector fields that annihilate the network."""
    names = [words(name, "frozen") for name in frozen]
    need(all(name.partition(".")[2] in ("K", "Q", "O") for name in names), "only K, Q and O may be frozen")
    chart, packed, rows = Chart(net, source, names), source.packed(), []
    for field in array(fields, "fields", MAX_FIELDS):
        for vector in motions(chart, field):
            rows.append(packed.pack(vector))
            require(packed.rank_work(len(rows), len(chart.flat)) <= MAX_WORK, "caps", "the fields cost too much")
    return packed.rank(rows)


# -------------------------------------------------------------------------------------------------- coordinate points
#
# Row k of group g of a layer is tied to coordinate g*w + k, w = max(a, dv); coordinates come in units (planes with rope).
# At the coordinate point, inputs supported on S u T (S a fixed base, T a set of units) keep their support, and an entry's
# derivative vanishes there, on outputs in S u T, unless the entry's own support lies in S u T. So the Jacobian of the chart
# is block triangular over the sets T of at most two units, and full column rank of the diagonal blocks, one for each type
# of T, proves that the dimension is the number of the chart's free entries (coordinates/PROOFS.md).


class Tie(NamedTuple):
    """What a unit is tied to in one layer: group, how many query/key rows (with rope: planes) and value rows, which plane
    (without rope: the number of its first query/key row)."""

    group: int
    scores: int
    values: int
    plane: int


class Units(NamedTuple):
    """How coordinates come in units: `pairs` pairs, then units of `size`; `core`: units in every stream; `forms`: the layers
    whose scores are quadratic forms, numbered from 1."""

    size: int
    pairs: int
    core: int
    forms: frozenset[int]

    def inside(self, number: int) -> range:
        """Return the coordinates of a unit."""
        if number < self.pairs:
            return range(2 * number, 2 * number + 2)
        first = 2 * self.pairs + (number - self.pairs) * self.size
        return range(first, first + self.size)


Ties = tuple[Tie, ...]  # of one unit in one layer, one for each group that it is tied to
Place = tuple[str, int]  # where a unit lives (p, c: a pair, a unit in every stream; i: input only, o: output only), its number


class Kind(NamedTuple):
    """The type of S u T: the homes of its units, for each layer the ties of its units, relabelled, and for each layer and
    coordinate the number of hidden units tied to it."""

    base: int
    homes: str
    layers: tuple[tuple[Ties, ...], ...]
    hidden: tuple[tuple[int, ...], ...]

    def coordinates(self, homes: str, size: int) -> list[tuple[int, int]]:
        """Return (unit, place in it) for the coordinates that live in one of the homes; units other than pairs have `size`."""
        return [(u, k) for u, h in enumerate(self.homes) if h in homes for k in range(2 if h == "p" else size)]

    def spans(self, units: set[int]) -> bool:
        """Say whether these units are all of T, apart from the base."""
        return {u for u in units if u >= self.base} == set(range(self.base, len(self.homes)))

    @property
    def label(self) -> str:
        """Return the name of the type in the labels of its point."""
        ties = ";".join(
            ",".join("+".join(f"{t.group}{t.scores}{t.values}{t.plane}" for t in unit) or "-" for unit in layer)
            for layer in self.layers
        )
        hidden = ";".join(",".join(map(str, layer)) for layer in self.hidden)
        return f"{self.base}{self.homes}:{ties}" + (f":{hidden}" if any(self.hidden) else "")


def check_coordinates(nets: Sequence[Network], source: Source, file: Mapping[str, Any]) -> None:
    """Check that the dimension of each network, all members of one family, is the number of free entries of its chart."""
    lower, upper = record(file["lower"], "rule tokens base spare", "lower", optional="layers"), file["upper"]
    require(lower["rule"] == "coordinates", "schema", "the rule of lower is not coordinates")
    upper = record(upper, "rule", "upper", optional="reductions spec")
    require(upper["rule"] == "chart", "schema", "a coordinate point needs the rule chart")
    require(lower.get("layers", "apart") == "apart", "schema", "layers are apart, or not mentioned")
    tokens, spare = natural(lower["tokens"], "tokens", 64), natural(lower["spare"], "spare", 64)
    net = nets[0]
    base, unit = natural(lower["base"], "base", 3), 2 if net.rope else 1
    free_tokens = drops_tokens(net)
    require(min(net.t, 2) <= tokens <= net.t, "coordinates", "between 2 and t tokens, or one")
    require(free_tokens or tokens == net.t, "coordinates", "positions without a causal mask fix t")
    require(base > 0 or net.kind == "softmax", "coordinates", "lightning needs a base")
    kept, shifts = tokens, False  # in the blocks
    if "layers" in lower:
        nets, kept = [alone for member in nets for alone in layers_apart(member, tokens)], tokens - 1
        shifts = bool(net.bias & set("vod"))  # constants that other layers add
        injective = bool(net.ffn or not shifts or "o" in net.bias) or not any(overlap(member) for member in nets)
        require(injective, "coordinates", "the value biases of blocks that overlap are more than the constants they make")

    made = [chart_applies(member, unit) for member in nets]
    require(not base or not any(overlap(member) for member in nets), "coordinates", "blocks that overlap have an empty base")
    if net.kind == "softmax":
        require("exponents" in file, "exponents", "exponents are missing")
        witnesses = {witness_of(member, unit, tokens) for member in nets}
        for witness in witnesses:
            check_exponents(witness, source, file["exponents"])
        require(("radicands" in file) == bool(net.norm), "radicands", "radicands belong to norms")
        for witness in witnesses if net.norm else ():
            check_radicands(witness._replace(t=kept), source, file["radicands"])
    else:
        require("exponents" not in file and "radicands" not in file, "schema", "exponents or radicands without need")
    seen: set[tuple[Any, Kind]] = set()
    for member, units in zip(nets, made, strict=True):
        most = reserved(member.layers[0], unit) if spread(member) else units.core
        require(base <= most, "coordinates", "the base is wider than the core, or than a block")
        shared = member.rope and any(y.kv > 1 for y in member.layers)
        require(not (base and shared), "coordinates", "with rope and groups the base would share planes with other units")
        layers = tuple((y.heads // y.kv, y.act) for y in member.layers)
        for kind in set_types(member, units, base, source):
            if (layers, kind) not in seen:
                seen.add((layers, kind))
                check_block(member, kind, units, kept, spare, source, shifts)


def layers_apart(net: Network, tokens: int) -> list[Network]:
    """Return the layers as networks of their own, one token less: the others are switched off by a zero token that all see,
    and so are all hidden units but one for each coordinate that is read.

    Its queries, keys and values are zero, and so is the stream of it after every layer; a query with its whole weight on
    it, and a hidden unit whose sigmoid is 0, add nothing and do not move, but for constants that are common to all tokens
    (coordinates/PROOFS.md, layers apart).
    """
    require(net.kind == "softmax" and net.skip, "coordinates", "layers come apart in softmax attention with skip only")
    require(all(y.act in ("", *ACTIVATIONS) for y in net.layers), "coordinates", "a power is not switched off")
    require(tokens >= 3, "coordinates", "layers apart: a zero token and two more")
    require(not net.window or net.window >= tokens, "coordinates", "the window hides the zero token")
    few = [layer._replace(h=min(layer.h, max(layer.n - net.mean, 1))) for layer in net.layers]
    return [net._replace(layers=(layer,), t=net.t - 1) for layer in dict.fromkeys(few)]


def witness_of(net: Network, unit: int, tokens: int) -> Network:
    """Return the network that shows exponents and radicands independent at all sizes: one head and hidden unit, width 2, no bias."""
    small = [y._replace(m=2, n=2, a=unit, heads=1, kv=1, dv=min(y.dv, 1), h=min(y.h, 1)) for y in net.layers]
    return net._replace(layers=tuple(small), t=tokens, bias=frozenset(), norm="rms" if net.norm else "")


def quadratic(net: Network) -> frozenset[int]:
    """Return the layers, numbered from 1, in which only the quadratic form of K^T Q acts: those that read one token, or a
    stream of rank one."""
    if net.kind != "lightning" or net.rope or net.bias & set("qk"):
        return frozenset()
    return frozenset(i for i, y in enumerate(net.layers, 1) if y.heads == 1 and (net.t == 1 or rank_one(net, i)))


def chart_size(net: Network, forms: frozenset[int]) -> int:
    """Return the number of free entries of the chart, where the scores of the layers `forms` are quadratic forms: a formula,
    meant for networks that `check_coordinates` accepts."""
    fixed = sum(y.kv * ((y.a if net.rope else y.a * y.a) + y.dv * y.dv) for y in net.layers)
    fixed += sum(y.a * (y.a - 1) for i, y in enumerate(net.layers, 1) if i in forms)  # so(a, a) without gl(a)
    fixed += 0 if net.skip else sum(y.n * y.n for y in net.layers[:-1])
    fixed += sum(y.kv for y in net.layers) if net.kind == "lightning" else 0  # a scaling for each group
    fixed += sum(y.h for y in net.layers if y.act not in ("silu", "gelu"))  # an entry of D for each hidden unit
    fixed += sum(y.m + (y.n if y.h else 0) for y in net.layers) if net.norm else 0  # the gains
    if net.norm == "layer":  # shifts; the sum of each row that reads; constants that are not read, but for one
        fixed += sum(y.m + (y.n if y.h else 0) + (y.heads + y.kv) * y.a + y.kv * y.dv + y.h for y in net.layers)
        fixed += sum(1 + bool(y.h) for y in net.layers) - 1
    fixed += sum(y.kv * y.a for y in net.layers) if "k" in net.bias and not net.rope else 0  # common to all keys
    fixed += sum(y.kv * (y.dv or y.n) for y in net.layers) if {"v", "o"} <= net.bias else 0  # bo does what bv does
    return parameters(net) - fixed


NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
HEADS = re.compile(r"([1-9][0-9]{0,3})?((?!e[0-9])[a-z][a-z0-9_]{0,15})")  # heads may be a multiple of kv: heads=2h kv=h
MAX_MEMBERS = 40_000
MAX_DEGREE = 4


class Family(NamedTuple):
    """A spec with named sizes: its words, and the names in order."""

    words: tuple[tuple[str, str, list[str]], ...]  # key, "=" or "", values
    names: tuple[str, ...]

    def values(self, key: str) -> list[str]:
        """Return the values of a key, names and numbers."""
        return next((values for word, _, values in self.words if word == key), [])

    @property
    def layers(self) -> int:
        """At least the number of layers."""
        depth = next(iter(self.values("l")), "")
        return len(self.values("d")) + (min(int(depth), MAX_LAYERS) if depth.isdigit() and len(depth) < 8 else 2)

    @property
    def depth(self) -> str:
        """The name of the number of layers, if it has one."""
        return next((v for v in self.values("l") if NAME.fullmatch(v)), "")

    @property
    def forms(self) -> frozenset[int]:
        """The layers, from 1, that read one token or a stream of rank one in every member whose named head widths are not 1."""
        l = len(self.values("d")) - 1 or self.layers - 1
        a = self.values("a") * (l if len(self.values("a")) == 1 else 1)
        if self.words[0][0] != "lightning":
            return frozenset()
        if self.values("t") == ["1"]:
            return frozenset(range(1, l + 1))
        flags = {key for key, _, _ in self.words} & {"skip", "causal", "rope"}
        return frozenset(i for i in range(1, l + 1) if "1" in a[: i - 1] and not flags)

    def at(self, sizes: Mapping[str, int]) -> str:
        """Return the spec with numbers for names."""
        return " ".join(key + equals + ",".join(number(key, v, sizes) for v in values) for key, equals, values in self.words)


NAMED = ("d", "l", "a", "dv", "heads", "kv", "ffn")  # where sizes may be named
FAMILY_KEYS = (*NAMED, "t", "window", "skip", "causal", "rope", "alibi", "norm", "bias")


def number(key: str, value: str, sizes: Mapping[str, int]) -> str:
    """Return a value of a key with the number for its name, if it has one."""
    if key == "ffn":
        units, colon, act = value.partition(":")
        return str(sizes.get(units, units)) + colon + act
    named = HEADS.fullmatch(value) if key == "heads" else None
    if named and named[2] in sizes:
        return str(int(named[1] or 1) * sizes[named[2]])
    return str(sizes.get(value, value)) if key in NAMED else value


def read_family(spec: str) -> Family:
    """Read a spec in which widths, l, a, dv, heads and kv may be names, and heads multiples of one."""
    require(len(spec) <= MAX_TEXT, "caps", f"spec longer than {MAX_TEXT} characters")
    words: list[tuple[str, str, list[str]]] = []
    names: set[str] = set()
    for word in spec.split(" "):
        key, equals, value = word.partition("=")
        values = value.split(",") if equals else []
        require(not words or key in FAMILY_KEYS, "spec", f"families have no {ascii(key)[:30]}")
        words.append((key, equals, values))
        sizes = [v.partition(":")[0] for v in values] if key == "ffn" else values
        found = [HEADS.fullmatch(v) for v in sizes] if key == "heads" else [NAME.fullmatch(v) for v in sizes if key in NAMED]
        names |= {m[0] if key != "heads" else m[2] for m in found if m}
    require(0 < len(names) <= 6, "spec", "a family has one to six named sizes")
    return Family(tuple(words), tuple(sorted(names)))


def family_bounds(family: Family, least: int) -> dict[str, int]:
    """Return how large the small members are; any member compresses to one of them with the same types (PROOFS section 6)."""
    rows, widths = ({v for v in family.values(key) if NAME.fullmatch(v)} for key in ("a", "d"))
    counted_heads = [HEADS.fullmatch(v) for v in family.values("heads")]
    heads = {m[2] for m in counted_heads if m}
    times = [int(m[1] or 1) for m in counted_heads if m]
    groups = family.values("kv")
    if groups:
        grouped = {v for v in groups if NAME.fullmatch(v)}
        require(heads == grouped, "spec", "a named number of heads is a multiple of a named number of groups, or both are given")
    require(not heads or family.words[0][0] == "softmax", "spec", "lightning heads are counted by a number")
    require(not heads or times == [1] or bool(times and groups), "spec", "multiples of heads come with groups")
    with_dv = bool(family.values("dv"))
    rows |= {v for v in family.values("dv") if NAME.fullmatch(v)}
    numbers = [int(v) for key in ("a", "dv") for v in family.values(key) if v.isdigit()]
    unit = 2 if any(key == "rope" for key, _, _ in family.words) else 1
    a = family.values("a") * (max(family.forms, default=1) if len(family.values("a")) == 1 else 1)
    counted = {v for i, v in enumerate(a, 1) if i in family.forms}  # rows of quadratic forms: two coordinates each
    doubled = counted - {v for v in counted if v.isdigit()}
    others = {v for i, v in enumerate(a, 1) if i not in family.forms} | widths
    require(not doubled & others, "spec", "a name counts rows of quadratic forms and something else")
    require(not (doubled and with_dv), "spec", "a name counts rows of quadratic forms, with dv")
    start = max([4, least, *numbers, *(2 * int(v) for v in counted - doubled)])
    apart = 6 if doubled else 2 * unit
    require(not (heads & (rows | widths)), "spec", "heads share no name with other sizes")
    if not with_dv:
        most = max([start, *(int(v) for v in family.values("d") if v.isdigit())]) + apart * len(rows | widths)
        return {n: most // 2 if n in doubled else most for n in family.names}
    require(not rows & widths, "spec", "with dv widths share no name with rows")
    require(all(len(set(family.values(key))) <= 1 for key in ("d", "a", "dv", "heads", "kv")), "spec", "layers differ")
    kv = max(4, least) if heads else int((groups or family.values("heads") or ["1"])[0])
    tall = start + apart * len(rows)
    wide = max(kv * (tall + unit) + 2 * unit, start)
    return {n: kv if n in heads else tall if n in rows else wide for n in family.names}


def hidden_names(family: Family) -> set[str]:
    """Return the name of the hidden units, if they have one, which stands for nothing else."""
    found = {v.partition(":")[0] for v in family.values("ffn")} & set(family.names)
    others = {number(key, v, dict.fromkeys(found, 0)) for key in NAMED if key != "ffn" for v in family.values(key)}
    require(not found or "0" not in others, "spec", "the name of hidden units stands for something else")
    require(len(family.values("ffn")) <= 1, "spec", "a family has one ffn")
    return found


def check_family(file: dict[str, Any], spec: str, source: Source) -> str:
    """Check that all members that meet the conditions, with names at least `least`, have the dimension that a polynomial gives."""
    claim = record(file["claim"], "dimension least", "claim")
    least, family = natural(claim["least"], "least", 64), read_family(spec)
    record(file["upper"], "rule", "upper")
    require(least >= 1, "claim", "sizes are at least 1")
    ranges = {name: range(least, bound + 1) for name, bound in family_bounds(family, least).items()}
    apart = isinstance(file["lower"], dict) and "layers" in file["lower"]
    if family.depth:  # the layers alone are the same at every depth
        ranges[family.depth] = range(2, 3)
        alike = all(len(family.values(key)) <= 1 for key in NAMED)
        own = sum(number(key, v, {family.depth: 0}) == "0" for key in NAMED for v in family.values(key)) == 1
        require(alike and own, "spec", "a free depth has layers that are alike, and a name of its own")
        require(apart, "coordinates", "a free depth needs layers apart")
    for units in hidden_names(family):  # one for each coordinate, and more
        most = max(ranges[w][-1] if w in ranges else size(w) for w in family.values("d"))
        ranges[units] = range(most, most + 1)
    require(apart or not family.values("ffn"), "coordinates", "ffn needs layers apart")
    require("layer" not in family.values("norm"), "coordinates", "families with norm=layer are not covered")
    members, count = [], prod(map(len, ranges.values()))
    require(count <= MAX_MEMBERS and count * family.layers <= 5 * MAX_MEMBERS, "caps", "too many small members")
    heads_named = any(HEADS.fullmatch(v) for v in family.values("heads"))
    for sizes in product(*(ranges[name] for name in family.names)):
        source.spend(10**5 + 10**4 * family.layers, "too many small members")
        try:
            net = parse(family.at(dict(zip(family.names, sizes, strict=True))))
        except ReplayError as error:
            require(error.rule == "spec", error.rule, str(error))
            continue
        forms = quadratic(net)
        alike = all((i in forms) == (i in family.forms) or y.a == 1 for i, y in enumerate(net.layers, 1))
        narrow = min(y.m for y in net.layers) == 1  # then the conditions fail, and are not named head widths' doing
        require(alike or narrow, "coordinates", "a named head width is 1 before a larger one: another formula holds there")
        try:
            chart_applies(net, 2 if net.rope else 1)
        except ReplayError as error:
            require(error.rule == "coordinates", error.rule, str(error))
            continue
        few = any(y.act and y.h < y.n for y in net.layers)
        if few or overlap(net) or (heads_named and spread(net)):
            continue  # other kinds of coordinates; the base would grow with the heads
        members.append(net)
    require(bool(members), "coordinates", "no member of the family meets the conditions")
    check_coordinates(members, source, file)

    text = words(claim["dimension"], "dimension")
    terms = polynomial(text, family.names)
    for sizes in product(range(1, MAX_DEGREE + 2), repeat=len(family.names)):  # both have degree <= 4 in each name
        at = dict(zip(family.names, sizes, strict=True))
        value = sum(c * prod(at[name] ** power for name, power in powers.items()) for c, powers in terms)
        require(value == chart_size(raw(family, at), family.forms), "claim", f"the polynomial is wrong at {at}")
    more = ", and kv max(a, dv) <= d" if family.values("dv") else ""
    more += ", dv >= a" if heads_named else ""
    more += ", hidden units >= d" if family.values("ffn") else ""
    return f"{text} for all sizes >= {least} that meet the conditions of a coordinate certificate{more}"


def polynomial(text: str, names: Sequence[str]) -> list[tuple[int, dict[str, int]]]:
    """Read a polynomial such as ``48*h*k*n - 24*h*k^2``, of degree at most 4 in each name."""
    require(len(text) <= MAX_TEXT, "caps", "the polynomial is too long")
    found = []
    for sign, term in re.findall(r"(^-?|\+ |- )([a-z0-9_*^]+)(?: |$)", text):
        coefficient, powers = -1 if "-" in sign else 1, dict.fromkeys(names, 0)
        for factor in term.split("*"):
            name, _, power = factor.partition("^")
            if factor.isdigit() and len(factor) <= MAX_DIGITS:
                coefficient *= int(factor)
                continue
            require(name in powers, "claim", f"not a size of the family: {name[:30]}")
            require(re.fullmatch(r"[1-4]?", power) is not None, "claim", f"powers go up to {MAX_DEGREE}")
            powers[name] += int(power or 1)
        require(max(powers.values()) <= MAX_DEGREE, "claim", f"powers go up to {MAX_DEGREE}")
        found.append((coefficient, powers))
    spelled = re.sub(r"(^-?|\+ |- )([a-z0-9_*^]+)( |$)", "", text)
    require(bool(found) and not spelled, "claim", "not a polynomial")
    return found


def raw(family: Family, at: Mapping[str, int]) -> Network:
    """Return the sizes as a network, without asking whether it is one: the chart's formula is a polynomial in them."""

    def numbers(key: str, missing: list[int]) -> list[int]:
        return [size(number(key, v, at)) for v in family.values(key)] or missing

    words = [key for key, _, _ in family.words]
    d = numbers("d", [])
    d *= min(numbers("l", [0])[0], MAX_LAYERS) + 1 if len(d) == 1 else 1
    l = len(d) - 1
    every = {key: numbers(key, missing) for key, missing in (("a", []), ("heads", [1]), ("dv", [0]))}
    every["kv"] = numbers("kv", every["heads"])
    a, heads, dv, kv = (v * l if len(v) == 1 else v for v in (every[key] for key in ("a", "heads", "dv", "kv")))
    units, _, act = number("ffn", (family.values("ffn") or ["0:"])[0], at).partition(":")
    layers = tuple(map(Layer, d, d[1:], a, heads, kv, dv, [int(units)] * l, [act] * l))
    norm, bias = "".join(family.values("norm")), frozenset("".join(family.values("bias")))
    return Network(words[0], layers, skip="skip" in words, rope="rope" in words, bias=bias, norm=norm)


def chart_applies(net: Network, unit: int) -> Units:
    """Check that the gauge-fixed chart is dominant and its blocks of coordinates are disjoint, or may overlap; return the units."""
    one_token = net.kind == "lightning" and net.t == 1 and not net.rope
    plain = net.kind != "mlp" and not (net.alone and not one_token)
    require(plain, "coordinates", "attention of several tokens (lightning: or one) only")
    softmax = net.kind == "softmax" and net.skip and all(y.act != "1" for y in net.layers)
    require(softmax or not (net.ffn or net.norm or net.bias), "coordinates", "ffn, norm and bias with softmax, skip and no power 1 only")
    if net.mean:
        alone = net.kind == "softmax" and len(net.layers) == 1 and not net.rope and all(y.dv for y in net.layers)
        require(alone, "coordinates", "LayerNorm with softmax, dv, no rope, and layers apart or one only")
        letters = set("qvo") | (set("ud") if net.ffn else set())
        require(letters <= net.bias, "coordinates", "LayerNorm with the biases that take up its shift only")
        require(all(y.act in ("", "silu", "gelu") for y in net.layers), "coordinates", "LayerNorm with silu and gelu only")
    widths = [w - net.mean for w in (net.layers[0].m, *(y.n for y in net.layers))]
    core = widths[1] if len(widths) > 2 else min(widths)
    require(all(w == core for w in widths[1:-1]), "coordinates", "the hidden widths must be equal")
    require(min(widths) >= core >= 2 * unit, "coordinates", "the hidden width exceeds another one, or is too small")
    require(all(w % unit == 0 for w in widths), "coordinates", "with rope the widths must be even")
    alike = len({(y.a, y.dv, y.kv) for y in net.layers}) == 1 or all(y.kv == 1 for y in net.layers)
    require(alike or not net.rope, "coordinates", "with rope and groups, layers must agree: angles are shared by layers")
    if spread(net):
        same = len({(y.a, y.dv, y.kv) for y in net.layers}) == 1 and not net.rope
        require(same and net.layers[0].kv <= MAX_SPREAD, "coordinates", "too many or different groups for a base in each")
    forms, rows = quadratic(net), 1
    for i, y in enumerate(net.layers, 1):
        several = net.kind == "softmax" or (y.heads == y.kv and net.t > 1)
        require(y.heads == 1 or several, "coordinates", "several lightning heads have keys of their own, and two tokens")
        if i in forms:  # a generic form of rank 2a is fixed by its values on 2a coordinates, or 2a - 1 if these are all
            require(2 * y.a <= core + (y.m == core), "coordinates", "a quadratic form has more rows than half the width")
            rows = max(rows, y.a)
        if y.dv:
            require(net.skip, "coordinates", "dv needs skip")
            w = max(y.a, y.dv) if i in forms else reserved(y, unit)
            require(w <= y.m - net.mean, "coordinates", "a block is wider than what is read")
            shared = net.kind == "softmax" and not net.rope and y.dv >= y.a
            require(i in forms or y.kv * w <= y.m - net.mean or shared, "coordinates", "the blocks overlap")
        else:
            require(y.heads == 1 and y.a <= y.m, "coordinates", "without dv one head, not wider than the stream")
    pairs = min(rows, core // 2) if rows > 1 else 0
    return Units(unit, pairs, pairs + (core - 2 * pairs) // unit, forms)


MAX_SPREAD = 4


def spread(net: Network) -> bool:
    """Say whether the base lies in every group's block: several lightning heads, or several groups with dv < a."""
    return any(y.kv > 1 and (net.kind == "lightning" or y.dv < y.a) for y in net.layers)


def overlap(net: Network) -> bool:
    """Say whether the groups of some layer have more rows than there are coordinates to read."""
    unit = 2 if net.rope else 1
    return any(y.kv > 1 and y.kv * reserved(y, unit) > y.m - net.mean for y in net.layers)


def reserved(layer: Layer, unit: int) -> int:
    """Return w, the number of coordinates reserved for one group."""
    return -(-max(layer.a, layer.dv) // unit) * unit


def tie(net: Network, i: int, number: int, units: Units) -> Ties:
    """Return what unit `number` of the stream that layer i (from 0) reads is tied to: the rows of all groups, one after
    the other, go round its coordinates."""
    layer, inside = net.layers[i], units.inside(number)
    if i + 1 in units.forms:  # one group; query/key row k is tied to unit k, value row k to coordinate k
        scores, values = int(number < layer.a), len([c for c in inside if c < layer.dv])
        return (Tie(0, scores, values, number),) if scores or values else ()
    w, found = reserved(layer, units.size), []
    for place in range(inside[0], layer.kv * w, layer.m - net.mean):
        group, row = divmod(place, w)
        values = min(max(layer.dv - row, 0), len(inside))
        scores = min(max(layer.a - row, 0), len(inside))
        if scores or values:
            found.append(Tie(group, min(scores, 1), values, row // 2) if net.rope else Tie(group, scores, values, row))
    return tuple(found)


def ties(net: Network, place: Place, units: Units) -> list[Ties]:
    """Return what a unit is tied to, layer by layer: input units exist for the first layer only, output units for none."""
    home, number = place
    layers = range(len(net.layers))
    return [tie(net, i, number, units) if home in "pc" or (home == "i" and not i) else () for i in layers]


def hidden(net: Network, place: Place, units: Units) -> list[tuple[int, ...]]:
    """Return how many hidden units j of each layer's ffn are tied to each coordinate that is read: those with j = coordinate
    mod the number of these."""
    home, inside = place[0], units.inside(place[1])
    return [tuple(len(range(c, y.h, y.n - net.mean)) * (home != "o") for c in inside) if y.h else () for y in net.layers]


def set_types(net: Network, units: Units, base: int, source: Source) -> set[Kind]:
    """Return the types of all sets S u T, T of at most two units outside S, from the units themselves."""
    core: list[Place] = [("p" if k < units.pairs else "c", k) for k in range(units.core)]
    blocks, apart = (net.layers[0].kv, reserved(net.layers[0], 1)) if spread(net) else (1, 0)
    start = [core[g * apart + k] for g in range(blocks) for k in range(base)]
    places = [place for place in core if place not in start]
    for home, width in (("i", net.layers[0].m - net.mean), ("o", net.layers[-1].n)):
        places += [(home, k) for k in range(units.core, units.pairs + (width - 2 * units.pairs) // units.size)]
    classes: dict[Any, list[Place]] = {}
    rounds = 1 + max(y.kv * reserved(y, units.size) // (y.m - net.mean) for y in net.layers)
    source.spend(len(net.layers) * len(places) * rounds * 5000, "too many types")
    for place in places:
        shown = tuple(tuple(t[:3] for t in each) for each in ties(net, place, units))
        classes.setdefault((place[0], shown, tuple(hidden(net, place, units))), []).append(place)
    require(len(classes) <= 512, "caps", "too many kinds of coordinates")
    source.spend(len(net.layers) * len(classes) ** 2 * rounds * 5000, "too many types")
    members = list(classes.values())
    found = {relabelled(net, start, [each[0]], units) for each in members}
    found |= {relabelled(net, start, [], units)} if base else set()
    for k, one in enumerate(members):
        for two in members[k:]:
            found |= {relabelled(net, start, pair, units) for pair in pairs(net, one, two, units.size)}
    return found


def pairs(net: Network, one: list[Place], two: list[Place], unit: int) -> list[list[Place]]:
    """Return pairs of units of two kinds that show every relation which two such units can have."""
    shifts = {0}
    if net.rope:  # units in different groups share a plane exactly when they differ by so many blocks
        most = max(y.kv for y in net.layers)
        shifts |= {k * reserved(y, unit) // unit for y in net.layers for k in range(-most, most + 1)}
    inside, found = {number for _, number in two}, []
    for shift in shifts - {0}:
        found += [[(h, u), (two[0][0], u + shift)] for h, u in one if u + shift in inside][:1]
    few = len(shifts) + 2
    some = [[x, y] for x in one[:few] for y in two[:few] if x[0] != y[0] or y[1] - x[1] not in shifts]
    return found + some[:1]


def relabelled(net: Network, start: list[Place], outside: list[Place], units: Units) -> Kind:
    """Return the type of S u T: groups numbered as they appear, planes as they appear among the query/key rows."""
    every = [ties(net, place, units) for place in start + outside]
    layers = []
    for i in range(len(net.layers)):
        groups: list[int] = []
        planes: list[tuple[int, int]] = []
        made: list[Ties] = []
        for unit in [each[i] for each in every]:
            here = []
            for t in unit:
                groups += [t.group] * (t.group not in groups)
                plane = (0, t.plane) if net.rope else (t.group, t.plane)  # angles are shared by groups
                planes += [plane] * (t.scores if plane not in planes else 0)  # one for each row or, with rope, plane
                here.append(Tie(groups.index(t.group), t.scores, t.values, planes.index(plane) if t.scores else 0))
            made.append(tuple(here))
        layers.append(tuple(made))
    counts = [hidden(net, place, units) for place in start + outside]
    tied = tuple(tuple(n for each in counts for n in each[i]) for i in range(len(net.layers)))
    return Kind(len(start), "".join(home for home, _ in start + outside), tuple(layers), tied)


def check_block(net: Network, kind: Kind, made: Units, tokens: int, spare: int, source: Source, shifts: bool) -> None:
    """Check that the columns supported on exactly one set of this type have full rank on its own inputs and outputs.

    With `shifts` constants added to all tokens of the input and of the output are columns too: other layers add them.
    """
    unit = made.size
    core, entering, leaving = (len(kind.coordinates(homes, unit)) for homes in ("pc", "i", "o"))
    if not core and (len(net.layers) > 1 or not entering or not leaving):
        # no path from input to output: nothing is seen here, so no free entry may have its support here
        silent = not any(t.scores for ties in kind.layers[0] for t in ties)
        require(silent, "coordinates", f"entries of type {kind.label} reach no output: this needs a larger base")
        return
    layers, last = [], len(net.layers) - 1
    for i, (layer, here) in enumerate(zip(net.layers, kind.layers, strict=True)):
        present = [t for ties in here for t in ties]
        groups = max([t.group + 1 for t in present], default=1)
        rows = unit * max([t.plane + t.scores for t in present if t.scores], default=1)
        heads = groups * (layer.heads // layer.kv)
        m, n = core + (0 if i else entering + leaving * net.mean), core + (leaving if i == last else 0)
        units = max(sum(kind.hidden[i]), 1) if layer.h else 0
        layers.append(Layer(m, n, rows, heads, groups, layer.dv and core, units, layer.act))
    small = affordable(net._replace(layers=tuple(layers), t=tokens, norm="rms" if net.norm else ""))  # about its mean
    point = source.under(f"coordinates/{kind.label}/")

    packed, flat, columns = source.packed(), [], []
    constant = "bd" if net.ffn else "bo" if "o" in net.bias else "bv"  # what a layer adds last, the same to all tokens
    for tensor, (blocks, rows, width) in shapes(small).items():
        i, letter = int(tensor.split(".")[0]) - 1, tensor.split(".")[1]
        for k, (b, r, c) in enumerate(product(range(blocks), range(rows), range(width))):
            value, column = entry(small, kind, made, i, letter, b, r, c)
            flat.append(point.value(tensor, k) if value is None else value)
            unseen = letter == "bo" != constant and r >= core and net.mean  # constants that are not read add up
            columns.append(column and not (unseen or (shifts and letter == constant)))  # what `after` does
    before, after = ([kind.spans({u}) for u, _ in kind.coordinates(homes, unit)] for homes in ("pci", "pco"))
    read = len(before)
    before += [False] * (small.layers[0].m - read)
    columns += before + after if shifts else []
    count = sum(columns)
    if not count:
        return
    inputs = 3 * count // (layers[-1].n * (1 if net.kind == "lightning" else 2 * (tokens - 1))) + 1 + spare
    point.spend(steps(small) * inputs * (1_000 + 10 * layers[-1].n * tokens) + packed.rank_work(count, count), "the blocks cost too much")
    ring = Tape(packed, flat + [0] * (len(columns) - len(flat)), columns)
    w, draw, used = tensors(small, ring.variables), drawer(point, point), 0
    moved = ring.variables[len(flat) :]
    for n in range(inputs if not small.norm else ROOT_TRIES * inputs):
        given = [[x if k < read else 0 for k, x in enumerate(token)] for token in point.tokens(small, n)]
        if small.norm and not rooted(small, point, flat, given, n):
            continue
        stream = [[(x, 0) for x in token] for token in given]
        if shifts:
            stream = add(ring, stream, [moved[: len(before)]] * tokens)
        result = forward(small, ring, w, stream, draw, n)
        if shifts:
            result = add(ring, result, [moved[len(before) :]] * tokens)
        ring.derive([value for token in result for value in token])
        used += 1
        if used == inputs:
            break
    rank = packed.rank(ring.columns())
    require(rank == count, "coordinates", f"the block of type {kind.label} has rank {rank} of {count} columns")


def rooted(small: Network, point: Source, flat: list[int], given: list[list[int]], n: int) -> bool:
    """Say whether all roots of the norms exist at input n, the tokens `given`, and no denominator is 0."""
    try:
        forward(small, Modular(point.p), tensors(small, flat), given, drawer(point, point), n)
    except RootError:
        return False
    except ReplayError as error:
        require(error.rule == "denominator", error.rule, str(error))
        return False
    return True


def entry(
    small: Network, kind: Kind, units: Units, i: int, letter: str, b: int, r: int, c: int
) -> tuple[int | None, bool]:
    """Return the value of an entry at the coordinate point (None: generic), and whether it is a column of the block."""
    layer, here, last, unit = small.layers[i], kind.layers[i], len(small.layers) - 1, units.size
    reads = kind.coordinates("pc" if i else "pci", unit)
    writes = kind.coordinates("pco" if i == last else "pc", unit)
    fixed: int | None = None
    if letter in ("g1", "g2"):
        return 1, False
    if letter in "QKVGU" and c >= len(reads):
        return 0, False  # written only
    if (letter == "bk" and not small.rope) or (letter == "bv" and "o" in small.bias):
        return 0, False  # does nothing, or what bo does
    if letter in ("bo", "bd") or (letter == "bv" and not layer.dv):
        return 0, kind.spans({writes[r][0]})
    if letter in "GUD" or letter == "bu":
        tied_units = [w for w, count in zip(writes, kind.hidden[i], strict=True) for _ in range(count)]
        unit_number, other = (c, writes[r]) if letter == "D" else (r, writes[c])
        if unit_number >= len(tied_units):
            return 0, False
        mine = tied_units[unit_number]
        if letter == "bu":
            return 0, kind.spans({mine[0]})
        if letter == "D" and mine == other and layer.act not in ("silu", "gelu"):
            fixed = 1  # the scaling of the hidden unit
    elif letter == "V" and not layer.dv:
        mine, other = writes[r], reads[c]
        if not small.skip and i < last and kind.homes[other[0]] in "pc":
            fixed = int(mine == other)  # the hidden basis makes this square of V the identity
    else:
        per_group = layer.heads // layer.kv
        group, first = (b // per_group, b % per_group == 0) if letter in ("Q", "O", "bq") else (b, True)
        row, other = (c, writes[r]) if letter == "O" else (r, reads[c])
        members = [(u, t) for u, ties in enumerate(here) for t in ties if t.group == group]
        if letter in ("Q", "K", "bq", "bk"):
            tied = {unit * t.plane + k: (u, k) for u, t in members for k in range(unit * t.scores)}
        else:
            tied = {reads.index((u, k)): (u, k) for u, t in members for k in range(t.values)}
        if row not in tied:
            return 0, False
        mine = tied[row]
        if letter.startswith("b"):
            return 0, kind.spans({mine[0]})
        if letter in "QK" and i + 1 in units.forms and (other[0] < mine[0] or (letter == "Q" and other == mine)):
            fixed = int(other == mine)  # a sum of forms of one row each, which reads no earlier unit
        elif letter == "Q" and i + 1 in units.forms:
            fixed = None
        elif letter == "Q" and small.rope:
            fixed = int(row % 2 == 0) if first and other == (mine[0], 0) else None
        elif letter in "QO" and first and other in tied.values():
            fixed = int(mine == other)
        elif letter == "K" and small.kind == "lightning" and mine == other == tied[min(tied)] and mine[0] < kind.base:
            fixed = 1  # the scaling of the group
    if fixed is not None:
        return fixed, False
    generic = mine[0] == other[0] or max(mine[0], other[0]) < kind.base
    return (None if generic else 0), kind.spans({mine[0], other[0]})


# ------------------------------------------------------------------------------------------------------------- verdict


class Verdict(NamedTuple):
    """What the replay found; `rule` names the check that failed, and bounds count only for valid and holey."""

    verdict: str  # valid, holey, invalid
    rule: str = ""
    message: str = ""
    spec: str = ""
    lower: int = 0
    upper: int = 0
    family: str = ""
    holes: tuple[str, ...] = ()
    trusted: str = ""  # what the ranks rest on besides this file

    def __str__(self) -> str:
        if self.verdict == "invalid":
            return f"{self.verdict}: {self.rule}: {self.message}"
        if self.family:
            claim = f"{self.spec} has dimension {self.family}"
        elif self.lower == self.upper:
            claim = f"{self.spec} has dimension {self.lower}"
        else:
            claim = f"{self.spec} has {self.lower} <= dimension <= {self.upper}"
        notes = [f"; not replayed: {hole}" for hole in self.holes] + [f"; {self.trusted}"] * bool(self.trusted)
        return f"{self.verdict}: {claim}" + "".join(notes)


def replay(text: str, arithmetic: Arithmetic = Packed) -> Verdict:
    """Check the text of a certificate. Never raises for bad input: everything unexpected is `invalid`.

    `arithmetic` computes the ranks modulo p; this file's own needs nothing but the standard library.
    """
    try:
        return check(text, arithmetic)
    except ReplayError as error:
        return Verdict("invalid", error.rule, str(error))
    except Exception as error:  # fail closed: a crash proves nothing
        return Verdict("invalid", "crash", f"{type(error).__name__}: {ascii(error)[:200]}")


def check(text: str, arithmetic: Arithmetic) -> Verdict:
    """Check everything, in order; raise `ReplayError` at the first rule that is broken."""
    keys = "format version spec claim prime seed lower upper holes"
    file = record(load(text), keys, "the certificate", optional="exponents radicands")
    require(file["format"] == "neuromanifold-certificate", "schema", "not a neuromanifold certificate")
    require(natural(file["version"], "version") == 1, "schema", "only version 1 is known")
    spec = words(file["spec"], "spec")
    p, seed = natural(file["prime"], "prime"), natural(file["seed"], "seed")
    holes = tuple(words(hole, "a hole") for hole in array(file["holes"], "holes", MAX_TEXT))
    require(all(hole.strip() for hole in holes), "schema", "a hole without a name")
    require(1 << 20 < p < 1 << 31 and p % 4 == 3, "prime", "the prime is not in range, or not 3 mod 4")
    require(all(p % k for k in range(3, isqrt(p) + 1, 2)), "prime", f"{p} is composite")
    source, family = Source(p, seed, arithmetic=arithmetic), ""
    if isinstance(file["claim"], dict) and "least" in file["claim"]:
        below = above = 0
        family = check_family(file, spec, source)
    else:
        below, above = check_bounds(file, parse(spec), source)
    return Verdict("holey" if holes else "valid", spec=spec, lower=below, upper=above, family=family, holes=holes)


def check_bounds(file: Mapping[str, Any], net: Network, source: Source) -> tuple[int, int]:
    """Return the bounds of one network that the file claims and proves."""
    claim = record(file["claim"], "lower upper", "claim")
    lower, upper = natural(claim["lower"], "claim.lower"), natural(claim["upper"], "claim.upper")
    require(lower <= upper <= parameters(net), "claim", "not 0 <= lower <= upper <= parameters")
    if isinstance(file["lower"], dict) and file["lower"].get("rule") == "coordinates":
        rule = record(file["upper"], "rule reductions spec", "upper")
        for step in array(rule["reductions"], "reductions", 8 * MAX_LAYERS):
            exact = not isinstance(step, dict) or step.get("rule") not in WIDENING
            require(exact, "reduction", "the chart is one of a network with the same functions")
            net = reduced(net, step)
        require(net == parse(words(rule["spec"], "upper.spec")), "reduction", "the reductions do not lead to upper.spec")
        check_coordinates([net], source, file)
        below = above = chart_size(net, quadratic(net))
        require(lower == upper == below, "claim", f"the chart has {below} free entries, the claim is {lower} to {upper}")
    else:
        affordable(net)
        above = check_upper(net, source, file["upper"], upper)
        below = check_lower(net, source, file)
    require(upper == above, "claim", f"upper is {above}, the claim is {upper}")
    require(lower == below, "claim", f"lower is {below}, the claim is {lower}")
    return below, above


def check_upper(net: Network, source: Source, rule: Any, upper: int) -> int:
    """Return the upper bound that `rule` proves: without one, the number of parameters."""
    if rule is None:
        return parameters(net)
    rule = record(rule, "rule reductions spec", "upper", optional="fields frozen")
    small, stated = net, affordable(parse(words(rule["spec"], "upper.spec")))
    for step in array(rule["reductions"], "reductions", 8 * MAX_LAYERS):
        small = reduced(small, step)
    require(small == stated, "reduction", "the reductions do not lead to upper.spec")
    require(rule["rule"] in ("fields", "ambient"), "schema", "unknown rule of upper")
    for key in ("fields", "frozen"):
        require((key in rule) == (rule["rule"] == "fields"), "schema", f"{key} belong to the rule fields")
    if rule["rule"] == "ambient":
        above = ambient(small)
        require(upper == above, "ambient", f"the ambient space gives {above}, the claim is {upper}")
        return above
    frozen = array(rule["frozen"], "frozen", 2 * MAX_LAYERS)
    above = parameters(small) - check_fields(small, source, rule["fields"], frozen)
    require(upper == above, "upper-rank", f"the fields give {above}, the claim is {upper}")
    return above


def side_conditions(net: Network, file: Mapping[str, Any]) -> None:
    """Check that there are exactly the side conditions that the lower bound needs."""
    for key, needed in (("exponents", has_exponentials(net)), ("radicands", bool(net.norm))):
        require(key in file or not needed, key, f"{key} are missing")
        require(needed or key not in file, "schema", f"{key} without need")


def smaller(net: Network, spec: str, upper: Any) -> Network:
    """Return the network of lower.spec: one that the reductions pass through before any that only makes larger.

    Each of these computes functions of the network only, so that its dimension is not larger.
    """
    wanted = affordable(parse(spec))
    steps = upper["reductions"] if isinstance(upper, dict) else []
    for step in steps:
        if net == wanted or not isinstance(step, dict) or step.get("rule") in WIDENING:
            break
        net = reduced(net, step)
    require(net == wanted, "lower-spec", "the reductions do not pass through lower.spec")
    return wanted


def check_lower(net: Network, source: Source, file: Mapping[str, Any]) -> int:
    """Return the lower bound that the file proves: without one, 0."""
    if file["lower"] is None:
        require(not {"exponents", "radicands"} & set(file), "schema", "side conditions without need")
        return 0
    rule = record(file["lower"], "rule tokens inputs rows columns", "lower", optional="spec")
    require(rule["rule"] == "minor", "schema", "the rule of lower is not minor")
    if "spec" in rule:
        net = smaller(net, words(rule["spec"], "lower.spec"), file["upper"])
    side_conditions(net, file)
    tokens = natural(rule["tokens"], "tokens")
    require(2 <= tokens <= net.t if drops_tokens(net) and net.t > 2 else tokens == net.t, "minor", "not so few tokens")
    few = net._replace(t=tokens)
    require(tokens <= MAX_TOKENS, "caps", f"more than {MAX_TOKENS} tokens")
    require(all(y.kv * tokens < 1 << 16 for y in net.layers), "caps", "too many groups times tokens")
    if "radicands" in file:
        check_radicands(few, source, file["radicands"])
    if "exponents" in file:
        check_exponents(few, source, file["exponents"])
    return check_minor(few, source, rule)


def drops_tokens(net: Network) -> bool:
    """Whether the rank with fewer tokens bounds the dimension from below (PROOFS.md, fewer tokens)."""
    if net.kind == "lightning":
        return net.causal or not (net.bias or net.norm == "layer")
    return net.kind == "softmax" and (net.causal or not (net.rope or net.alibi))


CODES = {"valid": 0, "holey": 4, "invalid": 1}
WORST = (3, 1, 2, 4, 5, 0)


def main(argv: Sequence[str]) -> int:
    """Replay files and print a line for each: exit code 0 valid, 4 holey, 1 invalid, 2 unreadable or usage."""
    if not argv or any(name.startswith("-") for name in argv):
        print("usage: python -I -S replay.py FILE...", file=sys.stderr)
        return 2
    codes = []
    for name in argv:
        try:
            with Path(name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            print(f"{ascii(name)[1:-1]}: unreadable: {str(error)!a}", file=sys.stderr)
            codes.append(2)
            continue
        found = replay(data.decode("utf-8", "replace"))
        print(f"{ascii(name)[1:-1]}: {found}", flush=True)
        codes.append(CODES[found.verdict])
    return min(codes, key=WORST.index)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
