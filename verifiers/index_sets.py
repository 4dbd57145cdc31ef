"""Sets of indices as text: increasing, non-adjacent ranges, `0-5,8,10-11` (`CERTIFICATES.md`)."""

from __future__ import annotations

from collections.abc import Iterable


def format_set(indices: Iterable[int]) -> str:
    """The text of an increasing sequence of indices."""
    ranges: list[list[int]] = []
    for i in indices:
        if ranges and i == ranges[-1][1] + 1:
            ranges[-1][1] = i
        else:
            ranges.append([i, i])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
