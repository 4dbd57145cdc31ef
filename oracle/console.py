"""What a command says: results on stdout, everything else on stderr, one line each, never a control character."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, TextIO

MAX_SHOWN = 200  # characters of a user's text in a message
MAX_ASKED = 4_096  # characters of a user's text in a result


def result(text: str) -> None:
    """Print a result on stdout."""
    if sys.stdout is not None:
        sys.stdout.write(text + "\n")


def flush() -> None:
    """Let a reader see the results so far."""
    if sys.stdout is not None:
        sys.stdout.flush()


def result_json(value: dict[str, Any]) -> None:
    """Print one object on one line of stdout: ASCII, so that no terminal or locale can garble it."""
    result(to_line(value))


def to_line(value: dict[str, Any]) -> str:
    """Return the JSON line of an object."""
    return json.dumps(value, allow_nan=False)


def message(text: str) -> None:
    """Print one line on stderr; a stderr that is closed or full is no reason to fail."""
    report(printable(text, limit=1_000))


def report(text: str) -> None:
    """Print several lines on stderr, of texts that are printable already."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def error_object(text: str, about: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a failure; `about` says of what: `spec` and `asked`, or `file`."""
    return {"schema": 1, **about, "error": printable(text, limit=1_000)}


def printable(text: str, limit: int = MAX_SHOWN) -> str:
    r"""Return one line that is safe on a terminal: control characters escaped, long texts cut in the middle.

    >>> printable("a\nb")
    'a\\nb'
    """
    if len(text) > limit:
        text = f"{text[: limit // 2]} ... {text[-limit // 4 :]}"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def asked(text: str) -> str:
    """Return a user's text as results repeat it: as given, unless it is not Unicode or longer than `MAX_ASKED`.

    A longer text is cut and followed by its length and hash, so that different texts stay different.
    """
    data = text.encode("utf-8", "surrogateescape")
    if len(text) <= MAX_ASKED:
        return data.decode("utf-8", "backslashreplace")
    import hashlib

    return f"{printable(text[:80], 400)} ... ({len(text)} characters, sha256 {hashlib.sha256(data).hexdigest()})"


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return the text bold, dim, green, yellow or red where the stream (stdout) is a terminal that shows it."""
    stream = sys.stdout if stream is None else stream
    codes = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
    if not is_terminal(stream) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{codes[style]}m{text}\x1b[0m"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody watches the stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
