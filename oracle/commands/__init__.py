"""The commands, one file each: the file `NAME.py` defines the function `NAME`, and that is all that adds a command.

A command's arguments are its signature, its help is its docstring, its exit code (`oracle.exits`) is what it returns.
What it needs beyond parsing it imports inside the function, so that `--help` stays fast.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable


def names() -> list[str]:
    """Return the names of all commands that are built."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Callable[..., int]:
    """Return the function of a command."""
    command: Callable[..., int] = getattr(importlib.import_module(f".{name}", __name__), name)
    return command
