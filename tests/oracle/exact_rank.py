"""An oracle for tests of the gate: the exact rank mod p at a random point, labelled as the test wants."""

from __future__ import annotations

from neuromanifold.numerics.forward import record
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import PrimeField
from neuromanifold.oracle.answer import Answer
from neuromanifold.verifiers.lower import rank_lower_bound


def exact(spec: str) -> Answer:
    network = parse(spec)
    bound = rank_lower_bound(network, record(network), 0, PrimeField(), network.parameters)
    certificate = {"schema": 1, "spec": spec, "lower": bound.to_json()}
    return Answer(spec, bound.value, "proven", bound.value, bound.value, network.parameters, certificate=certificate)


def labelled(label: str | None, slack: int = 0):
    """The same values with a weaker label, and bounds that are `slack` away on each side."""

    def ask(spec: str) -> Answer:
        answer = exact(spec)
        lower, upper = max(0, answer.lower - slack), min(answer.parameters, answer.upper + slack)
        return Answer(spec, answer.dimension if label else None, label, lower, upper, answer.parameters)

    return ask
