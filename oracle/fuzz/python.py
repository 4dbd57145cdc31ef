"""Conjectures in Python: a predicate on a network and its answer, decorated with where networks come from and its source.

    from neuromanifold.oracle.fuzz import Domain, conjecture

    @conjecture(Domain(kinds=("softmax",)), source="somebody's paper, conjecture 3")
    def heads_are_additive(network, answer):
        "the dimension is additive over heads"
        return ...
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...numerics.network import Network, UnsupportedNetwork
from ..answer import Answer, Contradiction
from ..gate.fields import LABELS
from .case import MINIMUM, Case, Conjecture, Outcome, Space
from .domain import Domain
from .drawn import Drawn, When
from .grid import Grid

Predicate = Callable[[Network, Answer], bool | None]
CASE_SECONDS = 10.0  # for one answer


def conjecture(
    networks: Domain | Any,
    *,
    source: str,
    when: When | None = None,
    require: str = "proven",
    expect: str = "holds",
    minimum: int = MINIMUM,
) -> Callable[[Predicate], Conjecture]:
    """Make a conjecture of a predicate, which returns whether it holds for a network: True, False, or None where it says nothing.

    `networks` is a `Domain`, a `grid` of points as in a claim file, or a Hypothesis strategy (`oracle.strategies.networks(...)`).
    Networks for which `when(network)` is false are left out before anything is computed. The predicate is called only where the
    dimension is known at the label `require`, except with "numerical", where it is called with any answer. Its docstring's first
    line is the statement.
    Raises `ValueError` for an unknown label or expectation, `TypeError` for anything else in place of networks.
    """
    if require not in LABELS or expect not in ("holds", "refuted"):
        raise ValueError(f"require={require!r}, expect={expect!r}: {', '.join(LABELS)}; holds, refuted")
    space = _space(networks, when)

    def decorate(predicate: Predicate) -> Conjecture:
        name = predicate.__name__
        statement = " ".join((predicate.__doc__ or name).strip().splitlines()[0].split())

        def judge(case: Case) -> Outcome:
            return judged(case, predicate, statement, require)

        return Conjecture(name, statement, space, judge, source, require, expect, minimum)

    return decorate


def _space(networks: Any, when: When | None) -> Space:
    domain = networks if isinstance(networks, Domain) else getattr(networks, "domain", None)
    if isinstance(domain, Domain):
        return Drawn(domain, when)
    if isinstance(networks, Grid):
        if when is not None:
            raise ValueError("a grid has its own condition: grid(network, where, when)")
        return networks
    if not hasattr(networks, "example"):
        raise TypeError(f"{networks!r} is neither a Domain nor a Hypothesis strategy of networks")
    from ..strategies import FromStrategy

    return FromStrategy(networks, when)


def judged(case: Case, predicate: Predicate, statement: str, require: str) -> Outcome:
    """What the predicate says of one case; whatever is raised on the way is the outcome."""
    from ..dimension import dimension

    started = time.perf_counter()
    answer: Answer | None = None
    try:
        answer = dimension(case.network, timeout=CASE_SECONDS)
        low, high = answer.known(require)
        if low < high and require != "numerical":
            outcome, certified = "undecided", answer.certified
        else:
            verdict = predicate(case.network, answer)
            outcome = {True: "holds", False: "refuted", None: "vacuous"}[None if verdict is None else bool(verdict)]
            certified = answer.certified
    except UnsupportedNetwork as error:
        outcome, certified = "unsupported", f"{error.field}: {error}"
    except Contradiction as error:
        outcome, certified = "contradiction", str(error)
    except Exception as error:  # whatever the predicate raises is this case's outcome: the campaign goes on
        last = traceback.extract_tb(error.__traceback__)[-1]
        outcome, certified = "crashed", f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    certificate = answer.certificate if answer and outcome == "refuted" else None
    label = answer.label if answer else None
    return Outcome(outcome, statement, certified, label, certificate, time.perf_counter() - started)
