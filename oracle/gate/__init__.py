"""The gate: claims about attention networks in TOML files, checked by the oracle in anybody's CI.

from neuromanifold.oracle.gate import check_files, read_claims
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "check_files": ".check",
    "run_check": ".check",
    "read_claims": ".claims",
    "Claim": ".claims",
    "instances": ".instances",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_HOME[name], __name__), name)
