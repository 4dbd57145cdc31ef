"""The float estimate: right wherever it claims, and it refuses where floats cannot see."""

from __future__ import annotations

import csv
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neuromanifold.numerics import estimate
from neuromanifold.numerics.estimate import KEPT, estimate_rank
from neuromanifold.numerics.notation import parse

DATA = Path(__file__).parents[1] / "data"
ROWS = [json.loads(line) for line in (DATA / "dimensions.jsonl").read_text(encoding="utf-8").splitlines()]
with (DATA / "literature.csv").open(encoding="utf-8", newline="") as file:
    LITERATURE = [(row["spec"], int(row["dimension"])) for row in csv.DictReader(file)]


def verdicts(rows: list[tuple[str, int]], **options: Any) -> tuple[int, list[str]]:
    """How many rows were claimed rightly, and which were refused; a wrong claim fails."""
    right, refused = 0, []
    for spec, dimension in rows:
        found = estimate_rank(parse(spec), **options)
        assert found.rank in (None, dimension), (spec, dimension, found)
        assert (found.rank is None) == bool(found.reason)
        right += found.rank is not None
        refused += [spec] if found.rank is None else []
    return right, refused


def test_reference_rows():
    """All 256: at most a few refusals, never a wrong claim."""
    right, refused = verdicts([(row["spec"], row["dimension"]) for row in ROWS])
    assert right + len(refused) == 256
    assert right >= 250, refused


def test_literature():
    right, refused = verdicts(LITERATURE)
    assert right + len(refused) == 44
    assert right >= 36, refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_reference_rows_with_other_seeds(seed):
    right, refused = verdicts([(row["spec"], row["dimension"]) for row in ROWS], seed=seed)
    assert right >= 245, refused


@pytest.mark.parametrize("seed", range(4))
def test_refuses_five_lightning_layers(seed):
    """Dimension 131: the smallest true singular values are too small for floats, whatever the seed."""
    found = estimate_rank(parse("lightning d=6 l=5 a=2 t=3"), seed=seed)
    assert found.rank is None
    assert "singular value" in found.reason


def test_too_few_inputs_are_noticed():
    """Five inputs give 16 even exactly, the truth is 17; ten give 31 of 34 in the second."""
    for spec, dimension in (("lightning d=4,1,3 a=2,2 t=3", 17), ("lightning d=4,4,4,4 a=1,1,1 t=3", 34)):
        found = estimate_rank(parse(spec))
        assert found.rank == dimension and found.saturated


def test_what_is_recorded():
    found = estimate_rank(parse("softmax d=3,3,3 a=2,2 t=3"))
    assert found.rank == 25 and found.trials == 3 and found.dtype == "float64" and found.saturated and not found.reason
    kept, discarded = found.singular_values[:3], found.singular_values[3:]
    assert len(discarded) == 3 and min(kept) >= KEPT > found.floor >= max(discarded)
    assert found.gap == pytest.approx(kept[-1] / max(discarded[0], np.finfo(float).eps))
    assert found.gap > KEPT / found.floor


def test_full_rank_has_nothing_discarded():
    found = estimate_rank(parse("mlp d=2,3 r=2"))
    assert found.rank == 6 and len(found.singular_values) == 3 and found.gap > 1e10


def test_same_seed_same_bytes_other_seed_other_numbers():
    network = parse("lightning d=3,3 a=2 t=2")
    one, two, other = (estimate_rank(network, seed=s) for s in (0, 0, 1))
    assert one == two and one.singular_values != other.singular_values and one.rank == other.rank


def test_jax_and_numpy_agree():
    for spec in ("softmax d=3,2 a=2 t=3", "lightning d=2,3,2 a=2,1 t=2"):
        one, two = (estimate_rank(parse(spec), backend=b) for b in ("numpy", "jax"))
        assert one.rank == two.rank is not None and one.inputs == two.inputs
        assert np.allclose(one.singular_values[:3], two.singular_values[:3], rtol=1e-10)


def test_large_jacobians_go_through_jax(monkeypatch):
    calls = []
    real = estimate.parameter_jacobian
    monkeypatch.setattr(estimate, "parameter_jacobian", lambda *a, **k: calls.append(1) or real(*a, **k))
    monkeypatch.setattr(estimate, "JAX_ENTRIES", 100)
    assert estimate_rank(parse("mlp d=2,3,2 r=2")).rank is not None and calls


def test_refusals_say_why(monkeypatch):
    network = parse("softmax d=3,3 a=2 t=2")
    with monkeypatch.context() as m:
        m.setattr(estimate, "MAX_ENTRIES", 100)
        found = estimate_rank(network)
        assert found.rank is None and "larger than 100 entries" in found.reason and found.singular_values == ()
    with monkeypatch.context() as m:
        m.setattr(estimate, "_scaled_jacobian", lambda *a: np.full((40, network.parameters), np.nan))
        assert "overflows" in estimate_rank(network).reason
    with monkeypatch.context() as m:
        sizes = iter((10, 20, 40, 80))
        m.setattr(estimate, "_scaled_jacobian", lambda *a: np.eye(next(sizes)))
        assert "still grows" in estimate_rank(network).reason
    with monkeypatch.context() as m:
        ranks = iter((5, 6, 7))
        m.setattr(estimate, "_scaled_jacobian", lambda *a: np.tile(np.eye(8)[: next(ranks)], (2, 1)))
        assert "trials disagree: ranks 5, 6" in estimate_rank(network).reason
    with monkeypatch.context() as m:
        decay = np.tile(np.diag(10.0 ** -np.arange(0, 20)), (2, 1))
        m.setattr(estimate, "_scaled_jacobian", lambda *a: decay)
        assert "no gap" in estimate_rank(network).reason
    with monkeypatch.context() as m:
        m.setattr(estimate, "_scaled_jacobian", lambda *a: np.zeros((20, 5)))
        assert "zero" in estimate_rank(network).reason


def test_bad_arguments():
    network = parse("mlp d=2,3 r=2")
    for options in ({"trials": 0}, {"backend": "torch"}):
        with pytest.raises(ValueError, match="at least one trial"):
            estimate_rank(network, **options)


@pytest.mark.slow
def test_random_deep_networks_against_the_exact_rank():
    """Networks up to seven layers deep, where floats are worst."""
    from neuromanifold.numerics.evaluate import jacobian
    from neuromanifold.numerics.forward import record
    from neuromanifold.numerics.point import Point
    from neuromanifold.numerics.rank import rank
    from neuromanifold.numerics.rings import PrimeField

    rng, ring, claimed = random.Random(int(os.environ.get("SEED", "0"))), PrimeField(), 0
    for seed in range(150):
        l = rng.randint(3, 7)
        widths = ",".join(str(rng.randint(1, 4)) for _ in range(l + 1))
        kind = rng.choice(["lightning", "softmax", "mlp"])
        sizes = f"r={rng.randint(2, 3)}" if kind == "mlp" else f"a={rng.randint(1, 3)} t={rng.randint(1, 3)}"
        network = parse(f"{kind} d={widths} {sizes}")
        found = estimate_rank(network, seed=seed)
        if found.rank is None:
            continue
        program, point = record(network), Point(seed, ring.p)
        numbers = range(4 * network.parameters // (network.d[-1] * network.t) + 4)
        bindings = point.parameters(network) | point.constants(program) | point.inputs(program, numbers)
        assert found.rank == rank(jacobian(program, ring, bindings), ring), network
        claimed += 1
    assert claimed >= 75, claimed
