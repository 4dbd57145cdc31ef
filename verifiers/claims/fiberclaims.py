"""Fibers: which parameters give the same function."""

from __future__ import annotations

from ..freealgebra import Letter
from . import fiberroutes as routes
from . import finite
from .certificate import by_certificates
from .entries import Shape
from .fibers import lemmas, named
from .identities import PAPER, both
from .lemmas import by_z3
from .model import Check, Claim
from .residuals import Entries
from .words import Words

SOURCE = f"{PAPER}; MATH section 4"
_THEOREM = (
    "domain",
    "pair",
    "straight",
    "column",
    "row",
    "both",
    "zero-column",
    "tensor",
    "rows-parallel",
    "columns-parallel",
)


def _lemma(name: str, title: str, statement: str, *used: str) -> Claim:
    return Claim(
        f"fiber-lemma-{name}",
        title,
        statement,
        "vectors of every length; certificates over every field of characteristic not 2, Z3 over the reals",
        SOURCE,
        (Check("certificate", by_certificates, named(*used)), Check("z3 small model", by_z3, lemmas(*used))),
        quick=name != "pair",
    )


_D = "(K' Q - L' R)"

CLAIMS = (
    Claim(
        "fiber-single-2-1",
        "The fiber of one lightning layer, d = 2, d' = 1",
        "t >= 2, V other than 0, A = K'Q of rank 2: (W, B) gives the same function iff W = c V, B = A / c for one c.",
        "d=2, d'=1, every a",
        SOURCE,
        (
            Check("z3 reals", routes.by_z3_sizes, ((2, 1),)),
            Check("certificate", routes.by_certified_argument, _THEOREM),
        ),
    ),
)
