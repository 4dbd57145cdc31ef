"""Where the work of a sweep or a campaign is done: in this process, in processes of their own, or on a Dask cluster.

The shape: `with workers(jobs, dask) as where: for batch in where.outcomes(function, items): ...`. `function` is a picklable
function of one picklable item that catches what can go wrong in its own subject matter; outcomes come in the order in which they are finished,
several at once where they travelled together, each with the index of its item. Whoever asks writes a batch to a journal before asking for the next one.

Any `concurrent.futures.Executor` will do: `Pool(open_executor, width)` takes a function that opens one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from typing import Any, Protocol

from .exits import CommandError
from .fingerprint import fingerprint

AHEAD = 3  # batches in flight for each worker: enough that none waits for the parent
BATCH_SECONDS, MAX_BATCH = 0.3, 64  # a kill loses at most so much finished work, which is done again
DIED = "the process that worked on it was killed or crashed, also when it worked on nothing else"
CONNECT_SECONDS = 10
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


Item = tuple[int, Any]  # with its index


@dataclass(frozen=True)
class Outcome:
    """What became of the item number `index`: the function's `value`, or in one line the `error` that took its place."""

    index: int
    value: Any
    error: str | None = None


class Workers(Protocol):
    """Something that works on items."""

    def outcomes(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[list[Outcome]]:
        """Yield one outcome for each item, in batches as they are finished; items are drawn shortly before they are worked on."""


class Here:
    """Work in this process, one item after the other: nothing is pickled, and an item that kills the process kills it."""

    def outcomes(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[list[Outcome]]:
        """Yield one outcome for each item, in their order."""
        for item in enumerate(items):
            yield [_outcome(function, item)]


class Pool:
    """Work on a `concurrent.futures.Executor` of `width` workers that `open_executor(width)` opens.

    Quick items travel several at a time, for as long as a batch takes no more than `BATCH_SECONDS`: what a worker has not come to by
    then it hands back. An executor that breaks (a worker was killed) is replaced; then each item that was in flight gets an executor
    with one worker for itself, so that only an item that kills its worker again is given up, as the error `DIED`. Leaving early
    (an exception, Ctrl-C) abandons what is in flight.
    """

    def __init__(self, open_executor: Callable[[int], AbstractContextManager[Executor]], width: int):
        self._open = open_executor
        self._width = width

    def outcomes(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[list[Outcome]]:
        """Yield one outcome for each item, in batches as they are finished."""
        waiting = iter(enumerate(items))
        while True:
            lost = yield from self._round(function, waiting, self._width)
            if not lost:
                return
            yield from self._alone(function, lost)

    def _round(self, function: Callable[[Any], Any], waiting: Iterator[Item], width: int) -> Iterator[list[Outcome]] | Any:
        """Work until nothing is waiting (returns nothing) or a worker is lost (returns the items that it took along)."""
        flying: dict[Future[list[Outcome]], list[Item]] = {}
        back: list[Item] = []  # handed back by a worker: these go first
        size = 1
        with self._open(width) as executor:
            while True:
                while len(flying) < AHEAD * width:
                    batch = [back.pop(0) for _ in range(min(size, len(back)))] or list(itertools.islice(waiting, size))
                    if not batch:
                        break
                    try:
                        flying[executor.submit(_work, function, batch)] = batch
                    except BrokenExecutor:
                        return [*itertools.chain.from_iterable(flying.values()), *batch, *back]
                if not flying:
                    return []
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    try:
                        done = future.result()
                    except BrokenExecutor:
                        return [*itertools.chain.from_iterable(flying.values()), *back]
                    except CancelledError:
                        raise CommandError("the workers went away; the same command goes on where this one stopped") from None
                    except Exception as error:
                        batch = flying.pop(future)
                        if type(error).__name__ == "KilledWorker":  # of distributed, which need not be installed
                            yield from self._alone(function, batch) if len(batch) > 1 else [[Outcome(batch[0][0], None, DIED)]]
                        else:  # on the way: what cannot be pickled
                            yield [Outcome(index, None, _words(error)) for index, _ in batch]
                        continue
                    batch = flying.pop(future)
                    back += batch[len(done) :]
                    size = min(2 * size, MAX_BATCH) if len(done) == len(batch) else 1
                    yield done

    def _alone(self, function: Callable[[Any], Any], lost: list[Item]) -> Iterator[list[Outcome]]:
        """The items that were in flight when a worker was lost, each on its own."""
        for index, item in lost:
            if (yield from self._round(function, iter([(index, item)]), 1)):
                yield [Outcome(index, None, DIED)]


def _work(function: Callable[[Any], Any], batch: list[Item]) -> list[Outcome]:
    """Work on items in turn until the time of a batch is over: the outcomes of the first few, at least of one."""
    end = time.monotonic() + BATCH_SECONDS
    done: list[Outcome] = []
    for item in batch:
        done.append(_outcome(function, item))
        if time.monotonic() > end:
            break
    return done


def _outcome(function: Callable[[Any], Any], item: Item) -> Outcome:
    index, given = item
    try:
        return Outcome(index, function(given))
    except Exception as error:
        return Outcome(index, None, _words(error))


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def workers(jobs: int = 1, dask: str | None = None) -> Iterator[Workers]:
    """Open the workers that a command line asks for: `jobs` processes (1: this one), or a Dask scheduler's address.

    Raises `CommandError` for a number that is none and for a cluster that cannot be used.
    """
    if jobs < 1:
        raise CommandError(f"--jobs {jobs} is not a number of processes: 1, 2, ...")
    if dask is not None:
        if jobs != 1:
            raise CommandError("--jobs and --dask exclude each other: the cluster has the workers that it has")
        with _cluster(dask) as pool:
            yield pool
    else:
        yield Here() if jobs == 1 else Pool(processes, jobs)


@contextlib.contextmanager
def processes(width: int) -> Iterator[Executor]:
    """Open an executor of spawned processes that end with this one, however it ends, and leave Ctrl-C to it.

    Each gets its share of the cores for matrix products.
    """
    from multiprocessing import get_context

    context = get_context("spawn")
    leave, stay = context.Pipe(duplex=False)
    threads = max(1, (os.cpu_count() or 1) // width)
    executor = ProcessPoolExecutor(width, context, _settle, (leave, threads))
    try:
        yield executor
    except BaseException:
        stay.close()  # the workers leave at once, in the middle of what they do
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        stay.close()
        leave.close()


def _settle(leave: Any, threads: int) -> None:
    """Set up a worker process, before it loads numpy."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in THREADS:
        os.environ.setdefault(name, str(threads))
    parent = parent_process()
    watched = [leave] if parent is None else [leave, parent.sentinel]

    def watch() -> None:
        connection.wait(watched)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        import distributed
    except ImportError:
        raise CommandError('--dask needs Dask: pip install "dask[distributed]"') from None
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it would say, the errors here say in one line
    try:
        connect: Any = distributed.Client
        client = connect(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"--dask {address}: no scheduler answers there ({reason})") from None
    with client:
        try:
            versions = client.run(fingerprint)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise CommandError(f"--dask {address}: its workers cannot run this program: {reason}") from None
        if not versions:
            raise CommandError(f"--dask {address}: the scheduler has no workers")
        if other := sorted(name for name, found in versions.items() if found != fingerprint()):
            raise CommandError(f"--dask {address}: the worker {other[0]} has another version of this program")
        width = sum(client.nthreads().values())

        @contextlib.contextmanager
        def lent(_: int) -> Iterator[Executor]:
            yield client.get_executor()  # nothing to shut down: the client cancels what is left

        yield Pool(lent, width)
