"""A table of times taken side by side, and the ratios that follow from them."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """Times of several things, round by round; the first is the unit of the ratios."""

    title: str
    seconds: Mapping[str, list[float]]
    notes: tuple[str, ...] = ()
    found: Mapping[str, int] = field(default_factory=dict)  # the dimension or rank, of the things that find one

    def ratio(self, name: str) -> float:
        """Return the median over the rounds of time / unit, both of the same round: what slows a whole round cancels."""
        unit = next(iter(self.seconds.values()))
        return statistics.median(t / u for t, u in zip(self.seconds[name], unit, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the table as an object."""
        rows = [
            {
                "name": name,
                "seconds": round(statistics.median(times), 6),
                "least": round(min(times), 6),
                "ratio": round(self.ratio(name), 3),
                "found": self.found.get(name),
            }
            for name, times in self.seconds.items()
        ]
        return {"title": self.title, "unit": next(iter(self.seconds)), "rows": rows, "notes": list(self.notes)}

    def __str__(self) -> str:
        width = max(map(len, self.seconds)) + 2
        lines = [self.title, f"  {'':<{width}}{'median':>9}{'least':>11}{'ratio':>9}{'found' * bool(self.found):>8}".rstrip()]
        for row in self.to_json()["rows"]:
            found = "" if row["found"] is None else row["found"]
            lines.append(f"  {row['name']:<{width}}{row['seconds']:>7.4f} s{row['least']:>9.4f} s{row['ratio']:>9.1f}{found:>8}".rstrip())
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


LEAST_SECONDS, MOST_CALLS = 0.05, 100  # what is quicker is called several times in a row, as a warm user would


def side_by_side(title: str, things: Mapping[str, Callable[[], object]], rounds: int, warm: bool = True) -> Table:
    """The seconds of one call of each thing, once a round: the mean over calls in a row that together take long enough to be
    told from what the thing before left in the processor's cache. If `warm`, after one round that does not count. A thing that
    returns an integer has found it."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    found: dict[str, int] = {}
    calls = dict.fromkeys(things, 1)
    for counted in (*[False] * warm, *[True] * rounds):
        for name, thing in things.items():
            start = time.perf_counter()
            for _ in range(calls[name]):
                result = thing()
            took = time.perf_counter() - start
            if isinstance(result, int):
                found[name] = result
            if counted:
                seconds[name].append(took / calls[name])
            else:
                calls[name] = min(MOST_CALLS, math.ceil(LEAST_SECONDS / took))
    return Table(title, seconds, found=found)
