"""Claim files from disk: refused before the TOML parser where it would be slow or recurse, with the lines of the headers.

tomllib needs 29 s for dotted keys in 0.8 MB, raises RecursionError on nesting and keeps no line numbers; so one linear scan
comes first, which bounds size, line length and depth and finds each `[[claim]]`.
"""

from __future__ import annotations

import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 20
MAX_LINE = 10_000  # bytes
MAX_DEPTH = 8
MAX_DOTS = 40_000  # of all dotted keys together: tomllib takes 0.1 ms for each level
_HEADER = re.compile(r"[ \t]*\[\[[ \t]*claim[ \t]*\]\]")
_DOTTED = re.compile(r"(?<![\w\-~])[\w\-~]++(?:[ \t]*\.[ \t]*[\w\-~]+)+")  # ~ stands for a quoted key
_INTERESTING = re.compile(r"[\"'#\[\]{}]")


class Unreadable(ValueError):
    """The file is not a claim file; `line` is where, or None."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Loaded:
    """The data of a TOML file and the line of each `[[claim]]` header, in order."""

    data: dict[str, Any]
    headers: tuple[int, ...]


def load(path: Path) -> Loaded:
    """The contents of a claim file. Raises `Unreadable` in bounded time and memory, whatever the file is."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("not a regular file")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    except ValueError:  # a null byte in the name
        raise Unreadable("cannot be read: not a file name") from None
    return loads(raw)


def loads(raw: bytes) -> Loaded:
    """As `load`, from bytes."""
    if len(raw) > MAX_BYTES:
        raise Unreadable(f"larger than {MAX_BYTES} bytes (1 MiB): split it into several files")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise Unreadable("starts with a byte order mark (BOM): save it as UTF-8 without BOM", 1)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            f"byte {error.start} (0x{raw[error.start]:02x}) is not UTF-8: save the file as UTF-8", line
        ) from None
    for number, line_bytes in enumerate(raw.split(b"\n"), 1):
        if len(line_bytes) > MAX_LINE:
            raise Unreadable(f"the line has {len(line_bytes)} bytes, more than {MAX_LINE}", number)
    masked = _mask(text)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise Unreadable(f"not TOML: {error}", int(at[1]) if at else None) from None
    except ValueError as error:  # an integer of thousands of digits
        raise Unreadable(f"not TOML: {error}") from None
    headers = tuple(number for number, line in enumerate(masked.split("\n"), 1) if _HEADER.match(line))
    return Loaded(data, headers)


def _mask(text: str) -> str:
    """The text with comments blank and strings as ~, newlines kept; raises `Unreadable` where keys or brackets go deeper than 8.

    An unclosed string ends the scan: the parser refuses it with its line.
    """
    out: list[str] = []
    at = depth = 0
    while match := _INTERESTING.search(text, at):
        start = match.start()
        out.append(text[at:start])
        token = match[0]
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable(f"nested deeper than {MAX_DEPTH}", text.count("\n", 0, start) + 1)
            stop = start + 1
        elif token in "]}":
            depth = max(0, depth - 1)
            stop = start + 1
        elif token == "#":
            newline = text.find("\n", start)
            stop = len(text) if newline < 0 else newline
        else:
            stop = _string_end(text, start)
        piece = text[start:stop]
        out.append(piece if token in "[]{}" else " " if token == "#" else "~" + "\n" * piece.count("\n"))
        at = stop
    masked = "".join(out) + text[at:]
    dots = 0
    for match in _DOTTED.finditer(masked):
        dots += match[0].count(".")
        if match[0].count(".") >= MAX_DEPTH:
            raise Unreadable(f"a dotted key is deeper than {MAX_DEPTH}", masked.count("\n", 0, match.start()) + 1)
        if dots > MAX_DOTS:
            raise Unreadable(f"dotted keys have more than {MAX_DOTS} dots together: split the file")
    return masked


def _string_end(text: str, start: int) -> int:
    """The index after the string that starts here: basic or literal, of one line or several."""
    quote = text[start]
    long = text.startswith(quote * 3, start)
    closing, at = (quote * 3, start + 3) if long else (quote, start + 1)
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 2
        elif text.startswith(closing, at):
            at += len(closing)
            while long and text.startswith(quote, at):  # up to two quotes may precede the closing three
                at += 1
            return at
        elif text[at] == "\n" and not long:
            return at
        else:
            at += 1
    return len(text)
