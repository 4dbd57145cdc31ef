"""The built-in conjectures end as they are known to end, thin regions are found, and this program keeps its promises."""

import random
import textwrap
from itertools import islice

import pytest
from neuromanifold.oracle.conjectures import promises
from neuromanifold.oracle.fuzz.campaign import EXAMPLES, run
from neuromanifold.oracle.fuzz.case import Conjecture
from neuromanifold.oracle.fuzz.domain import Domain
from neuromanifold.oracle.fuzz.drawn import Drawn
from neuromanifold.oracle.fuzz.load import BUILT_IN, conjecture_of, targets
from neuromanifold.oracle.verify import verify

SMALLEST = {
    "published.toml::one-to-one-with-skip": "lightning d=1,1 a=1 t=2 skip",
    "published.toml::deep-lightning-every-a": "lightning d=2,2,2 a=1,2 t=2",
    "published.toml::deep-lightning-every-output": "lightning d=5,4,1 a=1 t=2",
    "published.toml::three-halves": "lightning d=2,2,2 a=2 t=2",
    "published.toml::heads-add-lightning": "lightning d=1,1 a=1 t=2 heads=2",
    "widths.py::minimal_filling_is_unimodal": "mlp d=2,3,4,5,4,6,4,1 r=2",
}
PROMISES = [name for name, value in vars(promises).items() if isinstance(value, Conjecture)]


@pytest.mark.parametrize("target", SMALLEST)
def test_refuted_from_scratch_with_the_smallest_counterexample(target):
    verdict = run(*targets(target))
    assert verdict.outcome == "refuted" and verdict.passed, verdict
    assert verdict.counterexample.spec == SMALLEST[target]
    assert verdict.minimal
    if "three-halves" not in target:  # the number of parameters needs no certificate
        assert verify(verdict.refutation.certificate).verdict == "valid"
    assert verdict.seconds < 60 * 4  # 60 s on a machine of its own


def test_every_built_in_conjecture_can_be_read_and_has_a_source():
    files = sorted(BUILT_IN.glob("*.toml"))
    found = [conjecture_of(t) for f in files for t in targets(str(f))]
    assert len(found) > 15
    assert all(c.source for c in found)


@pytest.mark.parametrize("claim", ["single-layer", "softmax-deep", "heads-add-softmax"])
def test_published_statements_survive_a_small_dose(claim):
    verdict = run(*targets(f"published.toml::{claim}"), examples=20)
    assert (verdict.outcome, verdict.decided, dict(verdict.labels)) == ("survived", 20, {"proven": 20})


@pytest.mark.slow
def test_the_softmax_formula_survives_2000_networks():
    verdict = run(*targets("published.toml::softmax-deep"), examples=2_000)
    assert verdict.outcome == "survived"
    assert verdict.labels["proven"] >= 0.95 * 2_000


@pytest.mark.parametrize("name", PROMISES)
def test_promises_in_a_small_dose(name):
    verdict = run(*targets(f"promises.py::{name}"), examples=8)
    assert verdict.outcome in ("survived", "undecided", "vacuous"), verdict  # 8 cases may decide less than a verdict needs
    assert verdict.decided


@pytest.mark.slow
@pytest.mark.parametrize("name", PROMISES)
def test_promises_at_length(name):
    verdict = run(*targets(f"promises.py::{name}"), examples=500)
    assert verdict.outcome == "survived", verdict


def thin_region(rng: random.Random) -> list[str]:
    """Two or three equations on sizes and mechanisms, each true for some networks of the others."""
    about_widths = ["n.d[0] == n.d[-1] + 1", "n.d[0] == n.d[1] == 2", "n.d[-1] == 3", "n.a[0] == n.d[0]", "n.a[0] == n.d[-1]"]
    about_layers = ["n.l == 2", "n.t == 3", "n.t == n.d[0]", "n.a[-1] == n.t"]
    switches = ["n.causal", "n.rope", "n.dv is not None and n.dv[0] == 2", "n.heads[0] == 2", "n.bias == 'v'", "n.kind == 'lightning'"]
    groups = rng.sample([about_widths, about_layers, switches], rng.choice([2, 3]))
    return [rng.choice(group) for group in groups]


def hunted(path, equations):
    path.write_text(textwrap.dedent(f"""
        from neuromanifold.oracle.fuzz import Domain, conjecture

        @conjecture(Domain(kinds=("lightning", "softmax"), max_parameters=50, max_layers=2), source="drawn by a test", require="numerical")
        def thin(n, answer):
            "false in a thin region"
            return not ({" and ".join(equations)})
    """))
    return run(*targets(f"{path}::thin"), shrink=False)


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_a_thin_region_is_found(tmp_path, draw):
    equations = thin_region(random.Random(f"thin region {draw}"))
    verdict = hunted(tmp_path / "thin.py", equations)
    assert verdict.outcome == "refuted", equations


def test_nine_of_ten_thin_regions_are_drawn():
    """The networks that a campaign of the default size judges, without judging them: 40 regions, drawn afresh in each run."""
    space = Drawn(Domain(kinds=("lightning", "softmax"), max_parameters=50, max_layers=2))
    networks = [case.network for case in islice(filter(None, space.cases(0, EXAMPLES)), EXAMPLES)]
    regions = [thin_region(random.Random()) for _ in range(40)]
    missed = [r for r in regions if not any(eval(" and ".join(r), {"n": n}) for n in networks)]
    assert len(missed) <= 6, missed  # 4 are expected at most; 3 in 100 regions were missed when this was measured


@pytest.mark.slow
def test_nine_of_ten_thin_regions_are_found(tmp_path):
    found = []
    for draw in range(10):
        equations = thin_region(random.Random())
        verdict = hunted(tmp_path / f"thin{draw}.py", equations)
        found.append((verdict.outcome, sum(verdict.counts.values()), equations))
    assert sum(outcome == "refuted" for outcome, *_ in found) >= 9, found
