"""The claims behind `neuromanifold prove`: symmetries, fibers, identities and singular points, each by independent
routes.

`catalogue()` lists them without loading sympy or Z3; `prove(ids, timeout)` runs them one after the other.
"""

from .catalogue import catalogue, prove
from .model import Claim, Outcome, RouteResult

__all__ = ["Claim", "Outcome", "RouteResult", "catalogue", "prove"]
