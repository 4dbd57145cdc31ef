"""This program's own promises as conjectures: `neuromanifold fuzz promises.py::NAME`. A refutation is a fault of this program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from neuromanifold.numerics.evaluate import jacobian
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.point import Point
from neuromanifold.numerics.rank import rank
from neuromanifold.numerics.rings import PrimeField
from neuromanifold.oracle.answer import Answer
from neuromanifold.oracle.dimension import dimension
from neuromanifold.oracle.fuzz.domain import Domain
from neuromanifold.oracle.fuzz.drawn import reductions
from neuromanifold.oracle.fuzz.python import conjecture
from neuromanifold.oracle.theorems import PROVED, applicable
from neuromanifold.verifiers.certificate import dumps
from neuromanifold.verifiers.replay import replay

SOURCE = "what this program promises: README.md"
SMALL = Domain(max_parameters=40, max_layers=2, max_width=4)
OTHER_PRIME, OTHER_SEED = 1_048_583, 97  # 3 mod 4


@conjecture(SMALL, source=SOURCE)
def proven_is_the_rank_elsewhere(network: Network, answer: Answer) -> bool:
    """a proven dimension is the rank of the Jacobian at another prime and seed"""
    field, program = PrimeField(OTHER_PRIME), record(network)
    point = Point(OTHER_SEED, field.p)
    found, count = -1, network.parameters // (network.d[-1] * network.t) + 4
    while count <= 64 * network.parameters + 64:  # few inputs lower a rank: doubled until nothing is new
        bindings = {**point.parameters(network), **point.constants(program), **point.inputs(program, range(count))}
        before, found = found, rank(jacobian(program, field, bindings), field)
        if found == answer.dimension or found == before:
            break
        count *= 2
    return found == answer.dimension


@conjecture(SMALL, source=SOURCE)
def proven_is_replayed_independently(network: Network, answer: Answer) -> bool:
    """the replay, with its own forward pass, finds the certificate of a proven dimension valid, with the same bounds"""
    found = replay(dumps(answer.certificate)) if answer.certificate else None
    return found is not None and (found.verdict, found.lower, found.upper) == ("valid", answer.dimension, answer.dimension)


@conjecture(SMALL, source=SOURCE, require="numerical")
def mutants_are_rejected(network: Network, answer: Answer) -> bool | None:
    """a certificate with another claim, prime, seed, minor or fields is not valid, unless what it claims is true and proved"""
    if answer.certificate is None:
        return None
    for mutant in _mutants(answer.certificate):
        found = replay(json.dumps(mutant))
        if found.verdict == "valid" and not (found.lower <= answer.upper and found.upper >= answer.lower):
            return False
        if found.verdict == "valid" and mutant["claim"] != answer.certificate["claim"]:
            return False
    return True


def _mutants(certificate: dict[str, object]) -> Iterator[dict[str, object]]:
    claim = dict(certificate["claim"])  # type: ignore[call-overload]
    for side, step in (("lower", 1), ("lower", -1), ("upper", 1), ("upper", -1)):
        yield certificate | {"claim": claim | {side: claim[side] + step}}
    yield certificate | {"prime": 2_097_142}
    yield certificate | {"seed": 1 << 40}
    lower, upper = certificate["lower"], certificate["upper"]
    if isinstance(lower, dict):
        yield certificate | {"lower": lower | {"rows": lower["columns"], "columns": lower["rows"]}}
        yield certificate | {"lower": None}
    if isinstance(upper, dict) and upper.get("fields"):
        yield certificate | {"upper": upper | {"fields": upper["fields"][1:]}}


def _values(network: Network) -> set[int]:
    return {a.value for a in applicable(network) if a.theorem.status == PROVED}


@conjecture(Domain(max_parameters=80), source=SOURCE, when=lambda network: bool(_values(network)))
def formula_is_what_is_proven(network: Network, answer: Answer) -> bool:
    """a proved theorem that applies has the proven value"""
    return _values(network) == {answer.dimension}


@conjecture(Domain(max_parameters=80), source=SOURCE, require="numerical")
def numerical_respects_bounds(network: Network, answer: Answer) -> bool:
    """whatever the label, 0 <= lower <= dimension <= upper <= parameters"""
    value = answer.lower if answer.dimension is None else answer.dimension
    return 0 <= answer.lower <= value <= answer.upper <= answer.parameters == network.parameters


@conjecture(SMALL, source=SOURCE)
def monotone_in_sizes(network: Network, answer: Answer) -> bool:
    """one more head, a larger head width, value width or outer width does not lower the dimension"""
    return all(dimension(larger).upper >= (answer.dimension or 0) for larger in _enlarged(network))


def _enlarged(network: Network) -> Iterator[Network]:
    n = network
    if n.kind == "mlp" or n.skip:
        return
    yield replace(n, d=(*n.d[:-1], n.d[-1] + 1))
    yield replace(n, d=(n.d[0] + 1, *n.d[1:]))
    yield replace(n, a=tuple(a + 1 + n.rope for a in n.a))
    if n.kv == n.heads:
        yield replace(n, heads=tuple(h + 1 for h in n.heads), kv=tuple(h + 1 for h in n.kv))
    if n.dv:
        yield replace(n, dv=tuple(v + 1 for v in n.dv))


@conjecture(SMALL, source=SOURCE, require="numerical")
def answers_do_not_depend_on_the_seed(network: Network, answer: Answer) -> bool:
    """bounds at two seeds contain a common dimension"""
    other = dimension(network, seed=OTHER_SEED)
    return max(answer.lower, other.lower) <= min(answer.upper, other.upper)


@conjecture(Domain(max_parameters=200, max_width=9), source=SOURCE, require="numerical")
def notation_round_trips(network: Network, answer: Answer) -> bool:
    """a network is parsed back from its line, which is canonical, and so are its simplifications"""
    lines = [network, *reductions(network)]
    return all(parse(str(n)) == n and str(parse(str(n))) == str(n) for n in lines) and answer.spec == str(network)


@conjecture(Domain(("softmax", "lightning"), 40, 2, 4, mechanisms=("skip", "causal", "heads", "rope", "window", "alibi")), source=SOURCE)
def equivalent_networks_agree(network: Network, answer: Answer) -> bool | None:
    """a full-rank value factor, a window that hides nothing and a masked single token change nothing"""
    same = [replace(network, dv=tuple(y.n for y in network.layers))] if network.dv is None else []
    if network.causal and network.window is None:
        same.append(replace(network, window=network.t))
    if network.t == 1:
        same.append(replace(network, causal=not network.causal, window=None))
    answers = [dimension(n) for n in same]
    return all(a.lower <= (answer.dimension or 0) <= a.upper for a in answers) if answers else None


@conjecture(SMALL, source=SOURCE)
def symmetries_leave_the_function(network: Network, answer: Answer) -> bool:
    """the derivative of the network along each field of the catalogue vanishes, at another prime and seed"""
    from neuromanifold.verifiers.symmetries import catalogue

    field, program = PrimeField(OTHER_PRIME), record(network)
    point = Point(OTHER_SEED, field.p)
    bindings = {**point.parameters(network), **point.constants(program), **point.inputs(program, range(2))}
    derivative = jacobian(program, field, bindings)
    for symmetry in catalogue(network):
        moved = symmetry.vectors(network, point.parameters(network), field)
        if np.any(field.reduce(field.matmul(derivative, moved.T))):
            return False
    return True


