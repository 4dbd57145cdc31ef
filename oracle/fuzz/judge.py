"""Judging one case: what a worker runs, with a clock that runs out."""

from __future__ import annotations

import multiprocessing
import signal
from types import FrameType

from .case import Case, Outcome
from .load import Target, conjecture_of

CASE_LIMIT = 20.0  # seconds


class _OutOfTime(BaseException):
    """The alarm; not an `Exception`, so that nothing on the way takes it for a failure of its own."""


def judge_case(target: Target, limit: float, case: Case) -> Outcome:
    """Judge a case. In a worker process it is cut off after `limit` seconds, as undecided (code in C delays that)."""
    conjecture = conjecture_of(target)
    if multiprocessing.parent_process() is None:
        return conjecture.judge(case)
    signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return conjecture.judge(case)
    except _OutOfTime:
        return Outcome("undecided", certified=f"no answer within {limit:g} s")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(number: int, frame: FrameType | None) -> None:
    raise _OutOfTime
