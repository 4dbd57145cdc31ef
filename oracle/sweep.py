"""A sweep: many networks, one a line, each answered once, by any number of workers, and written down at once.

The file has the lines in their order, whoever answered them: first those of earlier sweeps, then each missing line. An
answer that is finished before its turn waits in a second journal beside the file (`FILE.ahead`), so that no kill loses it;
that journal is gone when the sweep is through.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ..numerics.network import NetworkError
from ..numerics.notation import parse
from . import console, exits
from .executors import Here, Workers
from .journal import Journal

Ask = Callable[[str], dict[str, Any]]  # of a spec: the answer's or the error's object; picklable


@dataclass
class Summary:
    """What a sweep's lines came to."""

    lines: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    gaps: dict[str, int] = field(default_factory=dict)
    codes: set[int] = field(default_factory=set)
    ahead: int = 0  # networks that are answered and wait for their turn

    def add(self, entry: dict[str, Any]) -> None:
        """Count one answered line."""
        self.lines += 1
        if "error" in entry:
            self.errors += 1
            self.codes.add(entry.get("exit", exits.CRASH))
            return
        self.codes.add(exits.HOLDS)
        self.labels[entry["label"] or "undecided"] += 1
        if entry["label"] not in ("proven", "formula"):
            self.gaps[entry["spec"]] = entry["upper"] - entry["lower"]

    def to_json(self) -> dict[str, Any]:
        """Return the object of `sweep --json`."""
        return {"schema": 1, "lines": self.lines, "labels": dict(sorted(self.labels.items())), "errors": self.errors,
                "open": dict(sorted(self.gaps.items()))}  # fmt: skip

    def __str__(self) -> str:
        counts = [f"{n} {label}" for label, n in sorted(self.labels.items())]
        counts += [f"{self.errors} errors"] if self.errors else []
        widest = sorted(self.gaps.items(), key=lambda item: (-item[1], item[0]))
        shown = [f"\n  open by {gap}: {spec}" for spec, gap in widest[:5]]
        shown += [f"\n  ... and {len(widest) - 5} more open gaps"] if len(widest) > 5 else []
        return f"{self.lines} lines: {', '.join(counts) or 'nothing'}" + "".join(shown)


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines that ask something: neither blank nor a comment, without the white space around them."""
    for number, raw in enumerate(stream):
        line = raw.decode("utf-8-sig" if number == 0 else "utf-8", "surrogateescape").strip(" \t\r\n")
        if line and not line.startswith("#"):
            yield line


def answer(spec: str, seed: int, timeout: float | None, no_store: bool) -> dict[str, Any]:
    """Answer one network with the oracle: the usual `Ask` of a sweep, once `functools.partial` has fixed the rest."""
    from .asking import open_store
    from .dimension import dimension

    try:
        return dimension(parse(spec), seed=seed, timeout=timeout, store=open_store(no_store)).to_json()
    except Exception as error:
        return _failure(spec, error)


def sweep(
    lines: Iterable[str],
    journal: Journal,
    ask: Ask,
    seed: int,
    watch: Callable[[Summary], None],
    workers: Workers | None = None,
) -> Summary:
    """Answer every line that the journal does not answer yet, and return the summary of all lines.

    Equal networks are asked once and answered for each line. A line that is no network, on which the program fails or
    whose worker dies, becomes an error entry and the sweep goes on. Answers of another seed in the journal count for nothing.
    `watch` is called as lines and answers come in. The entries do not depend on `workers` (default: this process), their
    `seconds` apart. `KeyboardInterrupt` and `OSError` of the journals stop the sweep; the answers written so far stay.
    """
    asked = [_Line(line) for line in lines]
    earlier = [entry for entry in journal.entries if entry.get("seed") == seed]
    done: dict[str, list[dict[str, Any]]] = {}
    for entry in reversed(earlier):
        done.setdefault(entry["asked"], []).append(entry)
    for line in asked:
        if done.get(line.asked):
            line.entry = done[line.asked].pop()
    answers = {entry["spec"]: entry for entry in earlier if "error" not in entry}
    with _ahead_of(journal) as ahead:
        answers |= {entry["spec"]: entry for entry in ahead.entries if entry.get("seed") == seed}
        summary = Summary()
        position = _write_down(asked, 0, answers, journal, seed, summary, watch)
        missing = list(dict.fromkeys(line.spec for line in asked[position:] if line.spec and line.spec not in answers))
        held: set[str | None] = set()
        for batch in (workers or Here()).outcomes(ask, missing):
            found = {missing[o.index]: o for o in batch}
            answers |= {s: o.value if o.error is None else _error(s, o.error, exits.CRASH) for s, o in found.items()}
            start = position
            position = _write_down(asked, start, answers, journal, seed, summary, watch)
            written = {line.spec for line in asked[start:position]}
            early = [spec for spec in found if spec not in written]
            ahead.extend([{"schema": 1, "asked": spec, "seed": seed, **_plain(answers[spec])} for spec in early])
            held = (held | set(early)) - written
            summary.ahead = len(held)
            watch(summary)
        ahead.entries.clear()
    return summary


@contextlib.contextmanager
def _ahead_of(journal: Journal) -> Iterator[Journal]:
    """Open the journal of the answers that wait for their turn; it stays where it still holds some."""
    with Journal(journal.path.with_name(f"{journal.path.name}.ahead")) as ahead:
        try:
            yield ahead
        finally:
            if not ahead.entries:
                ahead.path.unlink()


class _Line:
    """A line, the network that it is, and its entry in the journal once it has one."""

    def __init__(self, line: str):
        self.asked = console.asked(line)
        self.spec: str | None = None
        self.entry: dict[str, Any] | None = None
        self.failure: dict[str, Any] | None = None
        try:
            self.spec = str(parse(line.partition("#")[0].rstrip()))
        except Exception as error:
            self.failure = _failure(None, error)


def _write_down(
    lines: list[_Line],
    start: int,
    answers: dict[str, dict[str, Any]],
    journal: Journal,
    seed: int,
    summary: Summary,
    watch: Callable[[Summary], None],
) -> int:
    """Write the lines from `start` on as far as all are answered, and return where that ends."""
    new = []
    stop = start
    for line in lines[start:]:
        if line.entry is None:
            found = line.failure if line.spec is None else answers.get(line.spec)
            if found is None:
                break
            line.entry = {"schema": 1, "asked": line.asked, "seed": seed, **_plain(found)}
            new.append(line.entry)
        stop += 1
    if new:
        journal.extend(new)
    for line in lines[start:stop]:
        summary.add(line.entry or {})
        watch(summary)
    return stop


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in ("schema", "asked", "seed")}


def _failure(spec: str | None, error: Exception) -> dict[str, Any]:
    code = exits.USAGE if isinstance(error, NetworkError) else exits.CRASH
    return _error(spec, str(error) if code == exits.USAGE else f"{type(error).__name__}: {error}", code)


def _error(spec: str | None, text: str, code: int) -> dict[str, Any]:
    return {"spec": spec, "error": console.printable(text, limit=1_000), "exit": code}
