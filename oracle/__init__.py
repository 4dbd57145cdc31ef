"""Answers: what is the dimension of an attention network's function space, and how do we know?

    from neuromanifold import oracle
    oracle.dimension("softmax d=10,10,10 a=2 t=3").dimension        # 172

Names are loaded on first use (PEP 562): importing this package loads neither numpy nor jax, sympy, z3 or hypothesis.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

_HOME = {
    "Answer": ".answer",
    "Contradiction": ".answer",
    "Evidence": ".answer",
    "canonical": ".queries.canonical",
    "dimension": ".dimension",
    "equivalent": ".queries.equivalent",
    "explain": ".explain",
    "family": ".family",
    "FamilyAnswer": ".family",
    "fiber": ".queries.fiber",
    "singular": ".queries.singular",
    "verify": ".verify",
    "Network": "..numerics.network",
    "NetworkError": "..numerics.network",
    "UnsupportedNetwork": "..numerics.network",
    "parse": "..numerics.notation",
}
__all__ = sorted(_HOME)


class _Package(types.ModuleType):
    """This package as a module in which `dimension` stays the function when the file `dimension.py` is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
