"""The engine of `model` claims: import the named function and compare it with the network."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..conformance.check import examine
from .claims import Statement
from .instances import Instance, Uncheckable
from .verdict import Ask, Engine, Judgement

OPTIONS = ("adapter", "constants", "tokens", "framework", "tolerance")


def model_engine(ask: Ask) -> Engine:
    """The engine: holds if no check fails, refuted with every failure named, undecided if only the rank could not be seen.

    The function may carry options of `check_model` as attributes, as in `forward.tokens = "rows"`.
    """

    def engine(statement: Statement, value: int | str, instance: Instance, require: str) -> Judgement:
        if instance.network is None:
            raise Uncheckable("model needs a network")
        with _importable_from_here():
            fn = _load(str(value))
            options = {name: getattr(fn, name) for name in OPTIONS if hasattr(fn, name)}
            try:
                found = examine(fn, instance.network, ask=ask, require=require, **options)
            except ValueError as error:
                raise Uncheckable(str(error)) from None
        if not found.failures:
            return Judgement("holds", str(found))
        outcome = "undecided" if all(f.undecided for f in found.failures) else "refuted"
        return Judgement(outcome, "; ".join(map(str, found.failures)))

    return engine


def _load(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        fn: Callable[..., Any] = getattr(importlib.import_module(module), function)
    except Exception as error:  # the user's module may raise anything while it is imported
        advice = "run check where the package can be imported, or install it"
        raise Uncheckable(f"{name} cannot be imported: {type(error).__name__}: {error}; {advice}") from None
    if not callable(fn):
        raise Uncheckable(f"{name} is {type(fn).__name__}, not a function fn(params, X)")
    return fn


@contextlib.contextmanager
def _importable_from_here() -> Iterator[None]:
    """The working directory first on the path, as `python -m` has it."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
