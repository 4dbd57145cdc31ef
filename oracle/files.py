"""Files that are whole or not there: the one way this program writes a file in one piece."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def write_whole(path: str | Path, text: str) -> None:
    """Write `text` so that readers, Ctrl-C, a kill or a full disk only ever see the old file or the whole new one.

    The text goes to a temporary file in the same folder, to the disk (fsync), and then takes the name in one step.
    A link keeps pointing to its file, an existing file keeps its mode; a device or pipe is written to directly.
    Raises `OSError`; then the old file is unchanged and the temporary one is gone (a kill may leave it: `.nm-*.tmp`).
    """
    target = Path(path).resolve()
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        with target.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        return
    temporary = target.parent / f".nm-{os.urandom(8).hex()}.tmp"
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def why_unwritable(path: str | Path) -> str | None:
    """Say why `write_whole` to this path would fail, as far as that can be known before a long computation."""
    try:
        target = Path(path).resolve()
        mode = _mode(target)
    except (OSError, ValueError, RuntimeError) as error:
        return f"{path}: {getattr(error, 'strerror', None) or error}"
    if mode is not None and stat.S_ISDIR(mode):
        return f"{path} is a folder; give the name of a file in it"
    if not target.parent.is_dir():
        return f"{path}: the folder {target.parent} does not exist"
    if not os.access(target.parent, os.W_OK):
        return f"{path}: the folder {target.parent} cannot be written to"
    return None


def sync_folder(folder: Path) -> None:
    """Bring new names of a folder to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None
