"""A sweep: many networks, one a line, each answered once and written down before the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ..numerics.network import Network, NetworkError
from ..numerics.notation import parse
from . import console, exits
from .answer import Answer
from .journal import Journal

Ask = Callable[[Network], Answer]


@dataclass
class Summary:
    """What a sweep's lines came to."""

    lines: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    gaps: dict[str, int] = field(default_factory=dict)
    codes: set[int] = field(default_factory=set)

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


def sweep(lines: Iterable[str], journal: Journal, ask: Ask, seed: int, watch: Callable[[Summary], None]) -> Summary:
    """Answer every line that the journal does not answer yet, and return the summary of all lines.

    Equal networks are asked once and answered for each line. A line that is no network, or on which the program fails,
    becomes an error entry and the sweep goes on. Answers of another seed in the journal count for nothing.
    `watch` is called after each line. `KeyboardInterrupt` and `OSError` of the journal stop the sweep.
    """
    earlier = [entry for entry in journal.entries if entry.get("seed") == seed]
    done: dict[str, list[dict[str, Any]]] = {}
    for entry in reversed(earlier):
        done.setdefault(entry["asked"], []).append(entry)
    known = {entry["spec"]: entry for entry in earlier if "error" not in entry}
    summary = Summary()
    for line in lines:
        asked = console.asked(line)
        if done.get(asked):
            entry = done[asked].pop()
        else:
            entry = {"schema": 1, "asked": asked, "seed": seed, **_answer(line, ask, known)}
            journal.append(entry)
        summary.add(entry)
        watch(summary)
    return summary


def _answer(line: str, ask: Ask, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    spec = None
    try:
        network = parse(line.partition("#")[0].rstrip())
        spec = str(network)
        if spec not in known:
            known[spec] = ask(network).to_json()
        return {key: value for key, value in known[spec].items() if key not in ("schema", "asked", "seed")}
    except Exception as error:
        code = exits.USAGE if isinstance(error, NetworkError) else exits.CRASH
        text = str(error) if code == exits.USAGE else f"{type(error).__name__}: {error}"
        return {"spec": spec, "error": console.printable(text, limit=1_000), "exit": code}
