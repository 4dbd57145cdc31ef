"""Which engine answers which kind of statement. A kind that is not in the table is reported as unsupported, never skipped."""

from __future__ import annotations

import functools

from ..answer import Answer
from .verdict import Ask, Engine, dimension_engine

OF_DIMENSION = ("dimension", "at_least", "at_most", "parameters", "redundancy", "same_dimension_as")


def engines(ask: Ask | None = None) -> dict[str, Engine]:
    """The engines of this version by statement kind; `ask` stands in for `oracle.dimension` in tests.

    Answers are kept for the life of the table, so that claims about one network ask once.
    """
    about_dimension = dimension_engine(functools.cache(ask or _oracle))
    return dict.fromkeys(OF_DIMENSION, about_dimension)


def _oracle(spec: str) -> Answer:
    from ..dimension import dimension

    return dimension(spec)
