"""Which engine answers which kind of statement. A kind that is not in the table is reported as unsupported, never skipped."""

from __future__ import annotations

import difflib
import functools
import importlib.util

from ..answer import Answer
from .claims import Statement
from .instances import Instance, Uncheckable
from .verdict import Ask, Engine, Judgement, dimension_engine

OF_DIMENSION = (
    "dimension", "at_least", "at_most", "parameters", "redundancy", "fiber_dimension", "same_dimension_as",
)  # fmt: skip
PROOF_SECONDS = 300.0
CATALOGUE = "neuromanifold.verifiers.claims"


def engines(ask: Ask | None = None) -> dict[str, Engine]:
    """The engines of this version by statement kind; `ask` stands in for `oracle.dimension` in tests.

    Answers are kept for the life of the table, so that claims about one network ask once.
    """
    once = functools.cache(ask or _oracle)
    table = dict.fromkeys(OF_DIMENSION, dimension_engine(once))

    def model(statement: Statement, value: int | str, instance: Instance, require: str) -> Judgement:
        from .models import model_engine

        return model_engine(once)(statement, value, instance, require)

    table |= {"model": model, "degree": _degree}
    if importlib.util.find_spec(CATALOGUE):
        table["proved"] = _proved
    return table


def _degree(statement: Statement, value: int | str, instance: Instance, require: str) -> Judgement:
    from ...verifiers.degree import input_degree

    if instance.network is None:
        raise Uncheckable("degree needs a network")
    found = input_degree(instance.network)
    if found.lower == found.upper:
        return Judgement("holds" if value == found.upper else "refuted", f"degree = {found.upper} in X (proven)")
    outcome = "refuted" if int(value) > found.upper else "undecided"
    return Judgement(outcome, f"{found.lower} <= degree <= {found.upper} in X (proven)")


def _proved(statement: Statement, value: int | str, instance: Instance, require: str) -> Judgement:
    catalogue = importlib.import_module(CATALOGUE)
    known = [claim.id for claim in catalogue.catalogue()]
    if value not in known:
        close = difflib.get_close_matches(str(value), known, n=1, cutoff=0.3)
        raise Uncheckable(
            f"no claim {value!r} in the catalogue; {f'did you mean {close[0]!r}?' if close else ', '.join(known)}"
        )
    (outcome,) = catalogue.prove([value], PROOF_SECONDS)
    routes = ", ".join(f"{r.route}: {r.verdict}" for r in outcome.routes)
    status = {"proved": "holds", "refuted": "refuted"}.get(outcome.status, "undecided")
    shown = f"; counterexample {outcome.counterexample}" if outcome.counterexample else ""
    return Judgement(status, f"{outcome.status} by {len(outcome.routes)} routes ({routes}){shown}")


def _oracle(spec: str) -> Answer:
    from ..dimension import dimension

    return dimension(spec)
