"""`neuromanifold sweep`: many networks, one a line."""

from __future__ import annotations

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
    no_store: bool = False,
) -> int:
    """Answer a file of networks, one a line, into a file of JSON lines; run again, it does only what is missing.

    Parameters
    ----------
    file
        One network a line; blank lines and # comments are skipped; - reads stdin.
    out
        Grows by one JSON line for each network, on the disk before the next begins.
    json
        Print the summary as one JSON object (as text it goes to stderr).
    timeout
        Seconds for each network.
    seed
        Chooses the random points.
    no_store
        Ask no store of earlier answers (this version has none).
    """
    from ..asking import check_limits
    from ..dimension import dimension
    from ..journal import Journal
    from ..progress import Progress
    from ..sweep import Summary, read_lines
    from ..sweep import sweep as run

    check_limits(seed, timeout)
    lines = list(read_lines(sys.stdin.buffer)) if file == "-" else _lines_of(file)
    reached = Summary()
    with Journal(out) as journal, Progress() as progress:

        def watch(summary: Summary) -> None:
            nonlocal reached
            reached = summary
            progress.show(f"{summary.lines}/{len(lines)} lines, {len(summary.gaps)} open, {summary.errors} errors")

        try:
            run(lines, journal, lambda network: dimension(network, seed=seed, timeout=timeout), seed, watch)
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
