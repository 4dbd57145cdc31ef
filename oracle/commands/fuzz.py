"""`neuromanifold fuzz`: hunt for the smallest certified counterexample to a conjecture."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path

from .. import console, exits


def fuzz(
    *conjectures: str,
    examples: int = 1_000,
    seconds: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    out: Path | None = None,
    regressions: Path | None = None,
    json: bool = False,
) -> int:
    """Hunt for counterexamples: survived (exit 0), refuted (1), unreadable (2), crashed (3), undecided (4), vacuous (5).

    Parameters
    ----------
    conjectures
        CLAIMS.toml, CLAIMS.toml::ID, or FILE.py::NAME (this runs FILE.py); without a file of that name, a built-in one.
    examples
        Networks for each conjecture; a claim with fewer points is enumerated.
    seconds
        Stop after so many seconds for each conjecture.
    seed
        Chooses the networks.
    jobs
        Worker processes; a network that crashes one is reported and the campaign goes on.
    out
        Journal: each case is on the disk before it runs, and the same command again does only what is missing.
    regressions
        Counterexamples, tried first by later runs (default: beside OUT, OUT.regressions.jsonl).
    json
        Print one JSON object for each conjecture.
    """
    from ..fuzz.campaign import run
    from ..fuzz.lasting import lasting_workers
    from ..fuzz.load import conjecture_of, targets
    from ..fuzz.record import regression_file
    from ..fuzz.report import text, to_json
    from ..fuzz.verdict import Verdict
    from ..journal import Journal
    from ..progress import Progress

    if not conjectures:
        raise exits.CommandError("fuzz needs a conjecture: CLAIMS.toml, FILE.py::NAME, or a built-in one such as published")
    if examples < 1 or not 1 <= jobs <= 256 or (seconds is not None and not (math.isfinite(seconds) and seconds > 0)):
        raise exits.CommandError(f"--examples {examples} --jobs {jobs} --seconds {seconds}: at least 1, 1..256, more than 0")
    chosen = [target for text_given in conjectures for target in targets(text_given)]
    for target in chosen:
        conjecture_of(target)
    if regressions is None and out is not None:
        regressions = regression_file(out)
    codes = []
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(out, "fuzz")) if out else None
        kept = stack.enter_context(Journal(regressions, "fuzz")) if regressions else None
        workers = stack.enter_context(lasting_workers(jobs))
        progress = stack.enter_context(Progress())

        def watch(verdict: Verdict) -> None:
            counts = verdict.counts
            shown = f"{verdict.decided} decided, {counts['undecided']} undecided, {counts['refuted']} refuted"
            progress.show(f"{verdict.conjecture.name}: {sum(counts.values())}/{examples} networks, {shown}")

        for target in chosen:
            verdict = run(
                target, examples=examples, seconds=seconds, seed=seed, workers=workers, journal=journal, regressions=kept, watch=watch
            )
            codes.append(verdict.exit_code)
            console.result_json(to_json(verdict)) if json else console.result(text(verdict))
            console.flush()
    return exits.worst(codes)
