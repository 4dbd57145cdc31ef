"""Fuzzing conjectures: draw networks near the edges of hypotheses, ask the oracle, shrink what refutes.

from neuromanifold.oracle.fuzz import conjecture, run, load
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "conjecture": ".python",
    "Conjecture": ".case",
    "Domain": ".domain",
    "load": ".load",
    "run": ".campaign",
    "Verdict": ".verdict",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_HOME[name], __name__), name)
