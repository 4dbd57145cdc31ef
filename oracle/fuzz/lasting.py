"""Worker processes for a campaign, which asks in several rounds: opened once, replaced when one of them crashes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor

from ..executors import Pool, Workers, processes


@contextlib.contextmanager
def lasting_workers(jobs: int) -> Iterator[Workers]:
    """Open `jobs` spawned processes, also for one: what crashes in them does not take the campaign along.

    A round that is left early does not wait for what is in flight.
    """
    with _Lasting(jobs) as lasting:
        yield Pool(lasting.open, jobs)


class _Lasting:
    """An executor that outlives its rounds."""

    def __init__(self, jobs: int):
        self.jobs = jobs
        self._stack = contextlib.ExitStack()
        self._executor: Executor | None = None

    def __enter__(self) -> _Lasting:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(*error)  # type: ignore[arg-type]  # the three of __exit__

    @contextlib.contextmanager
    def open(self, _: int) -> Iterator[Executor]:
        """Lend the executor, or a new one where it is broken; a round for one item alone has it for itself."""
        if self._executor is not None:
            try:
                self._executor.submit(int)
            except BrokenExecutor:
                self._stack.close()
                self._executor = None
        if self._executor is None:
            self._executor = self._stack.enter_context(processes(self.jobs))
        yield self._executor
