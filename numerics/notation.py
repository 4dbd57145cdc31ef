"""The one-line notation of networks (`oracle/NOTATION.md`): text in, `Network` or `Family` out.

The text is read by a grammar of words `name`, `name=value,value` and is never evaluated as code. Every refusal is a
`NotationError` that names the column and the nearest valid thing.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from .network import ACTIVATIONS, BIAS_LETTERS, KINDS, MAX_LAYERS, NORMS, Ffn, Network, NetworkError, UnsupportedNetwork

MAX_TEXT = 4_096
SIZE_FIELDS = ("d", "l", "a", "t", "heads", "kv", "dv", "window", "r")
LIST_FIELDS = ("d", "a", "heads", "kv", "dv", "ffn")
FLAGS = ("skip", "causal", "rope", "alibi")
FIELDS = (*SIZE_FIELDS, *FLAGS, "bias", "norm", "ffn")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
_MULTIPLE = re.compile(r"([1-9][0-9]{0,3})?((?!e[0-9])[a-z][a-z0-9_]{0,15})")  # 2h; 1e3 is none
_NUMBER = re.compile(r"[0-9]{1,9}")


class NotationError(NetworkError):
    """The text is not in the notation; `column` counts from 1."""

    def __init__(self, message: str, column: int):
        super().__init__(f"column {column}: {message}")
        self.column = column


@dataclass(frozen=True)
class Family:
    """A description with named free sizes, such as `softmax d=n l=2 a=2 t=3`; equal names are equal sizes, `heads=2h` is twice h."""

    text: str
    names: tuple[str, ...]

    def at(self, **sizes: int) -> Network:
        """The member with the given sizes; raises `NetworkError` if a name is missing or the sizes do not fit."""
        missing = [n for n in self.names if n not in sizes]
        if missing:
            raise NetworkError(f"the family {self.text!r} needs sizes for {', '.join(missing)}")
        return _build(_read_words(self.text), {n: sizes[n] for n in self.names})

    @property
    def fields(self) -> dict[str, tuple[int | str, ...]]:
        """The sizes of each field as given, numbers, names or multiples of names; of ffn the hidden units."""
        words = _read_words(self.text)
        return {
            name: tuple(int(v) if v.isdigit() else v for v in (value.partition(":")[0] for value in word.values))
            for name, word in words.items()
            if name in (*SIZE_FIELDS, "ffn")
        }

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> Network:
    """The network of one line. Raises `NotationError`; a family raises `UnsupportedNetwork`."""
    found = parse_any(text)
    if isinstance(found, Family):
        names = ", ".join(found.names)
        raise UnsupportedNetwork("family", f"{found.text!r} is a family ({names} free): ask oracle.family for it, or give numbers")
    return found


def multiple(size: str) -> tuple[int, str]:
    """A size as number and name: `2n` is (2, "n"), `n` is (1, "n"), `2` is (2, "")."""
    digits = size[: len(size) - len(size.lstrip("0123456789"))]
    return int(digits or 1), size[len(digits) :]


def parse_any(text: str) -> Network | Family:
    """The network of one line or, where sizes are names, the family."""
    words = _read_words(text)
    names = sorted({v for w in words.values() for v in w.names()})
    if names:
        return Family(_line(words), tuple(names))
    return _build(words, {})


@dataclass(frozen=True)
class _Word:
    """One word of the line: its field, its column, its values as text."""

    field: str
    column: int
    values: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """The free sizes that occur in it."""
        if self.field not in (*SIZE_FIELDS, "ffn"):
            return []
        heads = [v.partition(":")[0] for v in self.values]
        if self.field == "heads":
            return [m[2] for m in map(_MULTIPLE.fullmatch, heads) if m]
        return [v for v in heads if _NAME.fullmatch(v)]


def _read_words(text: str) -> dict[str, _Word]:
    if len(text) > MAX_TEXT:
        raise NotationError(f"the line has {len(text)} characters, more than {MAX_TEXT}", MAX_TEXT + 1)
    for column, c in enumerate(text, 1):
        if not " " <= c <= "~":
            raise NotationError(f"character {c!r} (U+{ord(c):04X}) is not plain ASCII", column)
    words: dict[str, _Word] = {}
    for match in re.finditer(r"[^ ]+", text):
        word, column = match[0], match.start() + 1
        if not words:
            if word not in KINDS:
                raise NotationError(f"a network starts with its kind, not {word!r}{_nearest(word, KINDS)}", column)
            words["kind"] = _Word("kind", column, (word,))
            continue
        field, equals, value = word.partition("=")
        if field not in FIELDS:
            raise NotationError(f"unknown field {field!r}{_nearest(field, FIELDS)}", column)
        if field in words:
            raise NotationError(f"field {field!r} was given already, at column {words[field].column}", column)
        if (field in FLAGS) == bool(equals):
            how = "stands alone, without a value" if field in FLAGS else f"needs a value, as in {field}=2"
            raise NotationError(f"{field} {how}", column)
        values = tuple(value.split(",")) if equals else ()
        if len(values) > 1 and field not in LIST_FIELDS:
            raise NotationError(f"{field} takes one value, not {len(values)}", column)
        words[field] = _Word(field, column, values)
        _check_values(words[field])
    if not words:
        raise NotationError("the text is empty; a network looks like: lightning d=3,3,3 a=2,2 t=3", 1)
    return words


def _line(words: dict[str, _Word]) -> str:
    """The words as a line that the checker reads too: no leading zeros, and no l beside as many widths."""
    kept = {field: [re.sub(r"\b0+(?=[0-9])", "", v) for v in word.values] for field, word in words.items()}
    widths = len(kept.get("d", ()))
    if widths > 1 and kept.get("l") == [str(widths - 1)]:
        del kept["l"]
    return " ".join([*kept.pop("kind"), *(field + "=" * bool(v) + ",".join(v) for field, v in kept.items())])


def _check_values(word: _Word) -> None:
    where = word.column + len(word.field) + 1
    for value in word.values:
        named = _MULTIPLE if word.field == "heads" else _NAME
        if word.field in SIZE_FIELDS and not (_NUMBER.fullmatch(value) or named.fullmatch(value)):
            raise NotationError(f"{word.field}={_short(value)} is not a size (1, 2, 3, ... or a lower-case name)", where)
        if word.field == "ffn":
            hidden, colon, activation = value.partition(":")
            sizes = _NUMBER.fullmatch(hidden) or _NAME.fullmatch(hidden)
            if not (colon and sizes and (_NUMBER.fullmatch(activation) or activation in ACTIVATIONS)):
                raise NotationError(f"ffn={_short(value)} is not h:r, as in 8:2, 8:silu, 8:gelu, 8:swiglu", where)
        if word.field == "bias" and (not value or set(value) - set(BIAS_LETTERS) or len(set(value)) < len(value)):
            raise NotationError(f"bias={_short(value)}: distinct letters of q k v o, and u d with ffn", where)
        if word.field == "norm" and value not in NORMS:
            raise NotationError(f"unknown norm {_short(value)}{_nearest(value, NORMS)}", where)
        where += len(value) + 1


def _build(words: dict[str, _Word], sizes: dict[str, int]) -> Network:
    kind = words["kind"].values[0]

    def resolve(text: str) -> int:
        times, name = multiple(text)
        return times * (sizes[name] if name else 1)

    def one(field: str) -> int | None:
        return resolve(words[field].values[0]) if field in words else None

    if "d" not in words:
        raise NotationError("the widths are missing: add d=, as in d=3,3", len(kind) + 1)
    if kind != "mlp" and not {"a", "t"} <= set(words):
        missing = "a" if "a" not in words else "t"
        raise NotationError(f"{missing}= is missing: an attention network needs d, a and t", len(kind) + 1)
    d = tuple(map(resolve, words["d"].values))
    l = one("l")
    if l is not None:
        if not 1 <= l <= MAX_LAYERS:
            raise NotationError(f"l={l} is out of range: 1..{MAX_LAYERS} layers", words["l"].column)
        if len(d) not in (1, l + 1):
            raise NotationError(f"l={l} layers have {l + 1} widths, d has {len(d)}", words["l"].column)
        d = d * (l + 1) if len(d) == 1 else d
    if len(d) == 1:
        raise NotationError(f"d={d[0]} is one width: list them all, d={d[0]},{d[0]}, or add l=", words["d"].column)
    l = len(d) - 1

    def per_layer(field: str) -> tuple[int, ...] | None:
        if field not in words:
            return None
        values = tuple(map(resolve, words[field].values))
        if len(values) not in (1, l):
            message = f"{field} has {len(values)} values for {l} layers: give one, or one per layer"
            raise NotationError(message, words[field].column)
        return values * l if len(values) == 1 else values

    ffn = None
    if "ffn" in words:
        blocks = []
        for value in words["ffn"].values:
            hidden, _, activation = value.partition(":")
            blocks.append(Ffn(resolve(hidden), int(activation) if activation.isdigit() else activation))
        ffn = tuple(blocks * l if len(blocks) == 1 else blocks)
    described: dict[str, Any] = {
        "kind": kind, "d": d, "a": per_layer("a") or (), "t": one("t") if "t" in words else 1,
        "heads": per_layer("heads") or (), "kv": per_layer("kv") or (), "dv": per_layer("dv"), "ffn": ffn,
        "window": one("window"), "r": one("r"), "bias": words["bias"].values[0] if "bias" in words else "",
        "norm": words["norm"].values[0] if "norm" in words else None,
        "skip": "skip" in words, "causal": "causal" in words, "rope": "rope" in words, "alibi": "alibi" in words,
    }  # fmt: skip
    try:
        return Network(**described)
    except NetworkError as refusal:
        word = words.get(refusal.field, words["kind"])
        raise NotationError(str(refusal), word.column) from None


def _nearest(word: str, valid: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word[:32], valid, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; valid: {', '.join(valid)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 24 else text[:21] + "...")
