"""`neuromanifold sweep`: many networks, one a line."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .. import console, exits


def sweep(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    out: Path,
    json: bool = False,
    timeout: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    no_store: bool = False,
) -> int:
    """Answer a file of networks, one a line, into a file of JSON lines; run again, it does only what is missing.

    Parameters
    ----------
    file
        One network a line; blank lines and # comments are skipped; - reads stdin.
    out
        Grows by one JSON line for each network, in their order; OUT.ahead holds what is answered before its turn.
    json
        Print the summary as one JSON object (as text it goes to stderr).
    timeout
        Seconds for each network.
    seed
        Chooses the random points.
    jobs
        Processes that answer; 1 is this process, which a network that kills its process stops.
    dask
        The address of a Dask scheduler whose workers answer: tcp://HOST:PORT.
    no_store
        Neither read nor write the store of certificates ($NEUROMANIFOLD_CACHE, or the user's cache folder).
    """
    from ..asking import check_limits
    from ..executors import workers
    from ..journal import Journal
    from ..progress import Progress
    from ..sweep import Summary, answer, read_lines
    from ..sweep import sweep as run

    check_limits(seed, timeout)
    lines = list(read_lines(sys.stdin.buffer)) if file == "-" else _lines_of(file)
    reached = Summary()
    with workers(jobs, dask) as where, Journal(out) as journal, Progress() as progress:

        def watch(summary: Summary) -> None:
            nonlocal reached
            reached = summary
            ahead = f" and {summary.ahead} ahead" if summary.ahead else ""
            counts = f"{len(summary.gaps)} open, {summary.errors} errors"
            progress.show(f"{summary.lines}/{len(lines)} lines{ahead}, {counts}")

        try:
            ask = functools.partial(answer, seed=seed, timeout=timeout, no_store=no_store)
            run(lines, journal, ask, seed, watch, where)
        except KeyboardInterrupt:
            reached.codes.add(exits.INTERRUPTED)
    if json:
        console.result_json(reached.to_json())
    console.report(f"{out}: {reached}")
    if exits.INTERRUPTED in reached.codes:
        console.message(f"neuromanifold: stopped at line {reached.lines + 1} of {len(lines)}; the same command goes on")
    return exits.worst(reached.codes)


def _lines_of(file: str) -> list[str]:
    from ..sweep import read_lines

    if file.startswith("-"):
        raise exits.CommandError(f"unknown option {file}; a file of that name is written ./{file}")
    with Path(file).open("rb") as stream:
        return list(read_lines(stream))
