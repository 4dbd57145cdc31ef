"""One line on stderr that says how far a long command is, where somebody watches."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from types import TracebackType

from .console import is_terminal

INTERVAL = 0.1  # seconds between two redraws


class Progress:
    """A line that is redrawn in place, and erased at the end; silent where stderr is not a terminal."""

    def __init__(self) -> None:
        self._drawn = 0.0
        self._on = is_terminal(sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._drawn:
            self._write("")

    def show(self, text: str) -> None:
        """Draw the text, cut to the terminal's width, unless the last redraw is too recent."""
        now = time.monotonic()
        if self._on and now - self._drawn >= INTERVAL:
            self._drawn = now
            self._write(text[: shutil.get_terminal_size().columns - 1])

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
