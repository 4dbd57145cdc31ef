"""Replaying a certificate, from Python and for the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..verifiers.fastranks import FastRanks
from ..verifiers.replay import MAX_BYTES, Verdict, replay


def verify(certificate: Mapping[str, Any] | str | Path) -> Verdict:
    """Replay a certificate: a file (`Path`), a text (`str`) or the object of `Answer.certificate`.

    The verdict's `verdict` is `valid`, `holey` (it names statements that were not replayed) or `invalid`, with the `rule` that is broken
    and a `message`. Raises `OSError` for a file that cannot be read, and nothing for what is in it. `invalid` says
    nothing about the truth of the claim. Ranks of more than 1500 rows are computed by `numerics.rank`; `trusted` then says so.
    """
    if isinstance(certificate, Path):
        with certificate.open("rb") as file:
            text = file.read(MAX_BYTES + 1).decode("utf-8", "replace")
    elif isinstance(certificate, str):
        text = certificate
    else:
        text = json.dumps(certificate)
    ranks = FastRanks()
    verdict = replay(text, ranks)
    return verdict._replace(trusted=f"{ranks.used} large ranks by numpy's matrix products") if ranks.used else verdict
