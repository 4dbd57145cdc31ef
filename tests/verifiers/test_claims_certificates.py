"""Ideal-membership certificates and the assembly of the fiber theorem: checked fast, and every perturbation fails."""

import copy
import time

import pytest
from neuromanifold.verifiers.claims.certificate import BadCertificateError, check, check_all, load
from neuromanifold.verifiers.claims.fiberclaims import THEOREM
from neuromanifold.verifiers.claims.fiberroutes import (
    assembly_query,
    block_query,
    contradictory,
    facts,
    fiber_query,
    second_point,
)
from neuromanifold.verifiers.claims.fibers import LEMMAS, named
from neuromanifold.verifiers.claims.lemmas import models
from neuromanifold.verifiers.claims.model import Deadline
from neuromanifold.verifiers.claims.search import certificates
from neuromanifold.verifiers.z3process import solve

FOREVER = Deadline(float("inf"))
STORED = load()
PATTERNS = [(name, model) for name, (lemma, _) in LEMMAS.items() for model in models(lemma)]


def stored(name, model):
    return next(item for item in STORED[name] if tuple(item["pattern"]) == model.pattern)


def test_all_certificates_in_under_a_second():
    started = time.perf_counter()
    assert check_all(named(*LEMMAS), STORED, FOREVER).status == "proved"
    assert time.perf_counter() - started < 1


def test_the_file_has_exactly_the_patterns_and_is_what_the_search_finds():
    assert {(name, tuple(item["pattern"])) for name, items in STORED.items() for item in items} == {
        (name, model.pattern) for name, model in PATTERNS
    }
    assert {name: certificates(*LEMMAS[name]) for name in ("pair", "straight", "both")} == {
        name: STORED[name] for name in ("pair", "straight", "both")
    }


@pytest.mark.parametrize(
    ("name", "model"), PATTERNS, ids=lambda value: value if isinstance(value, str) else str(value.pattern)
)
def test_every_perturbation_fails(name, model):
    good = stored(name, model)
    assert check(model, good) == len(good["terms"])
    mutants = []
    for k, (coefficient, cofactor, number) in enumerate(good["terms"]):
        without = [*good["terms"][:k], *good["terms"][k + 1 :]]
        mutants.append({**good, "terms": without})
        mutants.append({**good, "terms": [*without, [f"-{coefficient}".replace("--", ""), cofactor, number]]})
        mutants.append({**good, "terms": [*without, [coefficient, (cofactor + " v_0").strip(), number]]})
        mutants.append({**good, "terms": [*without, [coefficient, cofactor, len(model.equations)]]})
    mutants.append({**good, "power": good["power"] + 1})
    mutants.append({**good, "power": True})
    mutants.append({**good, "note": "x"})
    for mutant in mutants:
        with pytest.raises(BadCertificateError):
            check(model, mutant)


def test_a_missing_pattern_is_seen():
    document = copy.deepcopy(STORED)
    document["pair"].pop()
    verdict = check_all(named("pair"), document, FOREVER)
    assert verdict.status == "unknown" and "no certificate" in verdict.detail


def test_a_certificate_does_not_serve_another_lemma():
    document = {"straight": STORED["zero-column"]}
    assert check_all(named("straight"), document, FOREVER).status == "unknown"


def test_assembly_needs_every_kind_of_fact():
    clauses = tuple(facts())
    assert contradictory(clauses)
    needed = [k for k in range(len(clauses)) if not contradictory(clauses[:k] + clauses[k + 1 :])]
    kinds = {len(clauses[k]) for k in needed}
    assert kinds == {1, 2, 3, 4, 5}  # denial, pair, zero-column, column or row, both
    assert solve(assembly_query(clauses)).status == "unsat"
    assert solve(assembly_query(clauses[:-1])).status == "sat"


def test_theorem_uses_only_lemmas_with_certificates():
    assert set(THEOREM) <= set(STORED)


@pytest.mark.parametrize(
    ("cells", "minor"),
    [(((0, 0, "S"), (0, 1, "B")), ""), (((0, 0, "X"), (0, 1, "X")), ""), (((0, 0, "S"), (1, 1, "S")), "V")],
)
def test_block_queries_can_be_satisfied(cells, minor):
    assert solve(block_query(2, cells, minor)).status == "sat"


def test_the_fiber_query_without_a_rank_condition_has_a_model():
    reply = solve(fiber_query(2, 1, rank_condition=False))
    assert reply.status == "sat"
    assert second_point(dict(reply.model), 2, 1).status == "refuted"
    assert second_point({}, 2, 1).status == "unknown"
