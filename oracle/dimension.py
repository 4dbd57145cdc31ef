"""The one question: what is the dimension, and how do we know? Proof first, then formula, then estimate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..numerics.network import Network
from ..numerics.notation import parse
from .answer import Answer, Evidence, decide

if TYPE_CHECKING:
    from ..verifiers.certificate import Proof
    from .store import Store

DEFAULT_BUDGET = 300.0  # seconds that a proof may be predicted to take where no timeout is given
MEMORY_BUDGET = 8 << 30  # bytes


def dimension(
    network: str | Network,
    *,
    seed: int = 0,
    timeout: float | None = None,
    progress: Callable[[Answer], None] | None = None,
    store: Store | None = None,
) -> Answer:
    """The dimension of the network's function space, with label, bounds, evidence and certificate.

    A proof is tried if its predicted cost fits `timeout` seconds (default 300) and 8 GiB; otherwise, or where its bounds do
    not meet, theorems answer; otherwise the rank at a random point is an estimate. What was not used says why in the
    evidence. `progress` is called with the best answer so far; proofs that take long are kept in `store`.
    The same network and seed give the same answer, `seconds` apart.
    Raises `NetworkError` for text that is no network, `Contradiction` when sources exclude each other.
    """
    started = time.monotonic()
    if isinstance(network, str):
        network = parse(network)
    proof = _proof(network, seed, timeout, progress, store)
    lower, upper = 0, network.parameters
    certificate: dict[str, Any] | None = None
    if isinstance(proof, str):
        evidence = [Evidence("value", None, "certificate", "unused", "proof", proof)]
    else:
        evidence = _proof_evidence(proof)
        lower, upper, certificate = proof.lower, proof.upper, proof.certificate
    evidence += _theorem_evidence(network)
    if 0 < lower < upper:
        note = "rank mod p at a random point, stable when inputs were doubled: equals the dimension unless the point is unlucky"
        evidence.append(Evidence("value", lower, "estimate", "estimate", "rank at a seeded point", note))
    answer = decide(str(network), network.parameters, lower, upper, evidence, certificate=certificate)
    if answer.label == "proven" and not isinstance(proof, str):
        answer = replace(answer, redundancy=proof.redundancy)
    return replace(answer, seconds=time.monotonic() - started)


def _proof(
    network: Network, seed: int, timeout: float | None, progress: Callable[[Answer], None] | None, store: Store | None
) -> Proof | str:
    """The proof that is kept or made now, or why none is tried."""
    started = time.monotonic()
    if timeout is not None and timeout <= 0:
        return "not tried: the budget is 0 s"
    from ..verifiers.cost import Budget, predict

    budget = Budget(DEFAULT_BUDGET if timeout is None else timeout, MEMORY_BUDGET)
    refusal = budget.refusal(predict(network))
    if refusal:
        return refusal
    from ..verifiers.certificate import prove_bounds
    from .store import WORTH_SECONDS

    def tell(proof: Proof) -> None:
        if progress:
            bounds = (proof.network.parameters, proof.lower, proof.upper)
            progress(decide(str(proof.network), *bounds, _proof_evidence(proof), certificate=proof.certificate))

    deadline = None if timeout is None else started + timeout
    proof = _stored(network, seed, store) or prove_bounds(network, seed, deadline, tell, budget)
    if store and time.monotonic() - started > WORTH_SECONDS:
        store.keep(proof, seed)
    return proof


def _stored(network: Network, seed: int, store: Store | None) -> Proof | None:
    """The proof that is kept. A coordinate certificate is quick, but may turn out not to apply."""
    from ..verifiers.cost import direct
    from .store import WORTH_SECONDS

    return store.find(network, seed) if store and direct(network).seconds > WORTH_SECONDS else None


RULES = {
    "minor": "a minor of the Jacobian that is not 0 mod p",
    "coordinates": "a coordinate point: the block of each type of coordinate set has full column rank mod p",
    "fields": "fields along which the function does not change",
    "ambient": "a linear space that contains the functions",
    "chart": "the free entries of a gauge-fixed chart",
}


def _proof_evidence(proof: Proof) -> list[Evidence]:
    found = []
    for side, value in (("lower", proof.lower), ("upper", proof.upper)):
        rule = ((proof.certificate or {}).get(side) or {}).get("rule")
        if rule:
            found.append(Evidence(side, value, "certificate", "proven", RULES.get(rule, rule)))
    found += [Evidence("value", None, "certificate", "unused", "proof", note) for note in proof.notes]
    return found


def _theorem_evidence(network: Network) -> list[Evidence]:
    from .theorems import applicable

    found = []
    for applied in applicable(network):
        theorem = applied.theorem
        held = "hypotheses: " + "; ".join(h.words for h in applied.held)
        note = held if theorem.status == "proved" else f"conjectured, not computed; {held}"
        found.append(Evidence("value", applied.value, "theorem", theorem.status, f"{theorem.id} ({theorem.citation})", note))
    return found
