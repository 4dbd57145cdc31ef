"""Exit codes of every command, and the exception that carries one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

HOLDS = 0  # holds, answered, valid
REFUTED = 1  # refuted, invalid
USAGE = 2  # usage, unreadable input, unsupported mechanism
CRASH = 3  # internal contradiction or crash; Python's own 1 would read as "refuted"
UNDECIDED = 4  # undecided at the required label, or a certificate with holes
NOTHING = 5  # nothing was checked
INTERRUPTED = 130  # Ctrl-C
BROKEN_PIPE = 141  # the reader of stdout went away, as a shell reports SIGPIPE

WORST_FIRST = (INTERRUPTED, BROKEN_PIPE, CRASH, REFUTED, USAGE, UNDECIDED, NOTHING, HOLDS)


class CommandError(Exception):
    """A command cannot go on. The message is one line: what was asked, what failed, the nearest thing that works."""

    def __init__(self, message: str, code: int = USAGE):
        super().__init__(message)
        self.code = code


def unknown_name(what: str, name: str, known: Iterable[str]) -> CommandError:
    """Return the error for a name that is not known, with the nearest that is."""
    near = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return CommandError(f"there is no {what} {name[:100]!r}; {hint}")


def worst(codes: Iterable[int]) -> int:
    """Return the worst of several exit codes; of none, `NOTHING`.

    >>> worst([0, 4, 1, 2])
    1
    """
    return min(codes, key=WORST_FIRST.index, default=NOTHING)
