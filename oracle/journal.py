"""A journal: a file of JSON lines that only ever grows, survives `kill -9` and a full disk, and has one writer."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from .exits import CommandError
from .files import sync_folder


class Journal:
    """The entries of the output file of a sweep (or another `writer`), and the only way to add one.

    Opening reads `entries`, refuses a file of another kind (it is left as it is) and one that another process has
    open, and drops a last line that a kill has torn. An entry is on the disk when `append` returns.
    """

    def __init__(self, path: Path, writer: str = "sweep"):
        self.path, self.writer = path, writer
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            self._lock()
            self.entries = self._read()
            self._size = os.fstat(self._file).st_size
            sync_folder(path.resolve().parent)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry; raises `OSError` (a full disk, say) with the file as it was before."""
        self.extend([entry])

    def extend(self, entries: list[dict[str, Any]]) -> None:
        """Add entries, all or none, for the price of one."""
        data = b"".join(json.dumps(entry, allow_nan=False).encode() + b"\n" for entry in entries)
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)
        self.entries += entries

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CommandError(
                f"{self.path} is being written by another {self.writer}; wait for it or name another file"
            ) from error

    def _read(self) -> list[dict[str, Any]]:
        with self.path.open("rb") as file:
            lines = file.read().split(b"\n")
        tail = lines.pop()
        entries = [self._entry(line, number) for number, line in enumerate(lines, 1)]
        if tail:
            start = b'{"schema": 1, '
            if tail[: len(start)] != start[: len(tail)]:
                raise self._foreign(len(lines) + 1)
            os.ftruncate(self._file, sum(len(line) + 1 for line in lines))
            os.fsync(self._file)
        return entries

    def _entry(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict) or entry.get("schema") != 1 or not isinstance(entry.get("asked"), str):
            raise self._foreign(number)
        return entry

    def _foreign(self, number: int) -> CommandError:
        return CommandError(f"{self.path}, line {number}, is not the answer of a {self.writer}; name another file for --out")
