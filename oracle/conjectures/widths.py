"""Conjectured formulas of `oracle.theorems`, and polynomial networks: statements that need more than a claim file's expressions."""

from __future__ import annotations

from dataclasses import replace
from math import comb

from neuromanifold.numerics.network import Network
from neuromanifold.oracle.answer import Answer
from neuromanifold.oracle.dimension import dimension
from neuromanifold.oracle.fuzz.case import Conjecture
from neuromanifold.oracle.fuzz.domain import Domain
from neuromanifold.oracle.fuzz.grid import grid
from neuromanifold.oracle.fuzz.python import conjecture
from neuromanifold.oracle.theorems import Applied, Theorem, registry


def _formula(theorem: Theorem, domain: Domain) -> Conjecture:
    def holds(network: Network, answer: Answer) -> bool | None:
        found = theorem.evaluate(network)
        return found.value == answer.dimension if isinstance(found, Applied) else None

    holds.__name__ = theorem.id.replace("-", "_")
    holds.__doc__ = theorem.formula
    applies = conjecture(domain, source=theorem.citation, when=lambda n: isinstance(theorem.evaluate(n), Applied))
    return applies(holds)


_BY_ID = {t.id: t for t in registry()}
_STACKED = ("heads", "kv", "dv", "skip", "causal", "rope", "bias", "ffn")

lightning_widths = _formula(
    _BY_ID["lightning-widths"], Domain(("lightning",), 80, 4, 5, 4, mechanisms=("causal", "window"))
)
softmax_widths = _formula(_BY_ID["softmax-widths"], Domain(("softmax",), 80, 4, 5, 4, mechanisms=("causal", "window", "alibi")))
softmax_stack = _formula(_BY_ID["softmax-stack"], Domain(("softmax",), 120, 3, 6, 3, mechanisms=_STACKED))
lightning_stack = _formula(_BY_ID["lightning-stack"], Domain(("lightning",), 120, 3, 6, 3, mechanisms=_STACKED))


def ambient(network: Network) -> int:
    """The dimension of the space of d_l forms of degree r^(l-1) in d_0 variables."""
    degree = (network.r or 1) ** (network.l - 1)
    return network.d[-1] * comb(network.d[0] + degree - 1, degree)


@conjecture(
    grid("mlp d=2,3,{b},{c},{d},{e},4,1 r=2", {"b": "3..4", "c": "4..5", "d": "3..4", "e": "5..6"}, "d < c and d < e"),
    source="Kileel, Trager, Bruna, On the expressive power of deep polynomial neural networks (2019), conjecture on minimal filling widths",
    expect="refuted",
)
def minimal_filling_is_unimodal(network: Network, answer: Answer) -> bool | None:
    """widths that fall and rise again never fill their space minimally"""
    if answer.dimension != ambient(network):
        return None
    widths = network.d
    for i in range(1, network.l):
        smaller = replace(network, d=(*widths[:i], widths[i] - 1, *widths[i + 1 :]))
        known = dimension(smaller)
        if known.upper >= ambient(smaller):
            return None if known.lower < ambient(smaller) else True
    return False
