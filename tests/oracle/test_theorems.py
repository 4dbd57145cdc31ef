"""Every theorem against exact ranks: random networks within its hypotheses, its non-examples, and wrong twins."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from collections.abc import Callable
from math import comb
from pathlib import Path

import pytest
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.theorems import PROVED, Hypothesis, Missed, Theorem, applicable, registry

DATA = Path(__file__).parents[1] / "data"
INSTANCES = 50
LARGEST = 110  # parameters of a random instance

Rank = Callable[[str], int]
THEOREMS = {t.id: t for t in registry()}


def widths(g: random.Random, l: int, most: int = 5) -> str:
    return ",".join(str(g.randint(1, most)) for _ in range(l + 1))


def each(g: random.Random, l: int, most: int = 3) -> str:
    return ",".join(str(g.randint(1, most)) for _ in range(l))


def flag(g: random.Random, word: str, chance: float = 0.5) -> str:
    return f" {word}" if g.random() < chance else ""


def single_layer(g: random.Random, kind: str, t: int) -> str:
    square = g.random() < 0.4
    d = g.randint(1 if kind == "lightning" else 2, 5)
    spec = f"{kind} d={d},{d if square else g.randint(1, 5)} a={g.randint(1, 4)} t={t}"
    spec += f" dv={g.randint(1, 3)}" if g.random() < 0.4 else ""
    return spec + (flag(g, "skip") if square else "") + flag(g, "causal")


def softmax_single(g: random.Random) -> str:
    bias = "".join(c for c in "qkvo" if g.random() < 0.5)
    return single_layer(g, "softmax", g.randint(2, 4)) + flag(g, "alibi", 0.2) + (f" bias={bias}" if bias else "")


def softmax_one_token(g: random.Random) -> str:
    l, t, heads = g.randint(1, 3), g.randint(1, 3), g.randint(1, 2)
    skip = g.random() < 0.3
    d = f"{g.randint(1, 4)} l={l}" if skip else widths(g, l)
    spec = f"softmax d={d} a={g.randint(1, 2)} t={t} heads={heads}"
    spec += f" dv={g.randint(1, 2)}" if g.random() < 0.5 else ""
    return spec + (" skip" if skip else "") + (" causal window=1" if t > 1 else "")


def bottleneck(g: random.Random, kind: str) -> str:
    l, delta = g.randint(2, 3), g.randint(1 if kind == "lightning" else 2, 3)
    d = [g.randint(delta, 5), *[delta] * (l - 1), g.randint(delta, 5)]
    return f"{kind} d={','.join(map(str, d))} a={each(g, l)} t={g.randint(2, 3)}"


def any_widths(g: random.Random, kind: str) -> str:
    l = g.randint(1, 3)
    least = 1 if kind == "lightning" else 2
    d = ",".join(str(g.randint(least, 5)) for _ in range(l + 1))
    return f"{kind} d={d} a={each(g, l)} t={g.randint(1 if kind == 'lightning' else 2, 3)}"


def powers(g: random.Random) -> str:
    return f"mlp d={g.randint(1, 5)},{g.randint(1, 15)},1 r={g.choice((1, 2, 3, 3, 4, 4))}"


SMALL: dict[str, Callable[[random.Random], str]] = {
    "lightning-single": lambda g: single_layer(g, "lightning", g.randint(2, 4)),
    "lightning-one-token": lambda g: single_layer(g, "lightning", 1),
    "lightning-deep": lambda g: bottleneck(g, "lightning"),
    "lightning-deep-rank-one": lambda g: bottleneck(g, "lightning"),
    "lightning-widths": lambda g: any_widths(g, "lightning"),
    "softmax-single": softmax_single,
    "softmax-one-token": softmax_one_token,
    "softmax-deep": lambda g: bottleneck(g, "softmax"),
    "softmax-widths": lambda g: any_widths(g, "softmax"),
    "alexander-hirschowitz": powers,
}


def instances(theorem: Theorem, draw: Callable[[random.Random], str], wanted: int = INSTANCES) -> list[str]:
    """Distinct specs within the hypotheses; the generator's misses are left out, and must not be most of what it draws."""
    g = random.Random(theorem.id)
    found: dict[str, None] = {}
    for drawn in range(1, 40 * wanted):
        network = parse(draw(g))
        if network.parameters <= LARGEST and not isinstance(theorem.evaluate(network), Missed):
            found[str(network)] = None
        if len(found) == wanted:
            assert drawn < 20 * wanted
            return list(found)
    raise AssertionError(f"{theorem.id}: only {len(found)} instances")


@pytest.mark.parametrize("name", SMALL)
def test_formula_is_the_exact_rank(name: str, exact_rank: Rank) -> None:
    theorem = THEOREMS[name]
    specs = instances(theorem, SMALL[name])
    wrong = {s: (theorem.value(parse(s)), exact_rank(s)) for s in specs if theorem.value(parse(s)) != exact_rank(s)}
    assert len(specs) == INSTANCES
    assert not wrong


@pytest.mark.parametrize(
    ("theorem", "hypothesis"),
    [pytest.param(t, h, id=f"{t.id}:{h.name}") for t in registry() for h in t.hypotheses],
)
def test_non_example_breaks_exactly_its_hypothesis(theorem: Theorem, hypothesis: Hypothesis, exact_rank: Rank) -> None:
    example = hypothesis.non_example
    network = parse(example.spec)
    missed = theorem.evaluate(network)
    assert isinstance(missed, Missed)
    assert missed.failed == (hypothesis,)
    assert exact_rank(example.spec) == example.dimension
    assert (theorem.value(network) == example.dimension) == example.harmless
    assert bool(example.note) == example.harmless


def a_not_cut(n: Network, value: int) -> int:
    a, d = n.a[0], n.d[0]
    return value - (d * d - (2 * a * d - a * a)) * (a > d)


def all_of_a_acts(n: Network, value: int) -> int:
    a, d = min(n.a[0], n.d[0]), n.d[0]
    r = min(2 * a, d)
    return value - (r * d - r * (r - 1) // 2) + 2 * a * d - a * a


TWINS: dict[str, dict[str, Callable[[Network, int], int]]] = {
    "lightning-single": {"no scaling": lambda n, v: v + 1, "a not cut to d": a_not_cut},
    "lightning-one-token": {"all of A acts": all_of_a_acts},
    "lightning-deep": {"one scaling": lambda n, v: v + n.l - 1, "hidden basis kept": lambda n, v: v + n.d[1] ** 2},
    "lightning-deep-rank-one": {
        "no scalings": lambda n, v: v + n.l,
        "all of A acts": lambda n, v: THEOREMS["lightning-deep"].value(n),
    },
    "lightning-widths": {"no scalings": lambda n, v: v + n.l},
    "softmax-single": {"a scaling": lambda n, v: v - 1, "a not cut to d": a_not_cut},
    "softmax-one-token": {"full rank": lambda n, v: n.d[0] * n.d[-1]},
    "softmax-deep": {"scalings": lambda n, v: v - n.l, "hidden basis kept": lambda n, v: v + n.d[1] ** 2},
    "softmax-widths": {"scalings": lambda n, v: v - n.l},
    "alexander-hirschowitz": {"no exceptions": lambda n, v: min(n.d[0] * n.d[1], comb(n.d[0] + n.r - 1, n.r))},
}


@pytest.mark.parametrize(("name", "twin"), [(n, t) for n, ts in TWINS.items() for t in ts])
def test_wrong_twin_is_detected(name: str, twin: str, exact_rank: Rank) -> None:
    theorem = THEOREMS[name]
    specs = instances(theorem, SMALL[name])
    assert any(TWINS[name][twin](parse(s), theorem.value(parse(s))) != exact_rank(s) for s in specs)


def reference_rows() -> list[tuple[str, int]]:
    rows = [json.loads(line) for line in (DATA / "dimensions.jsonl").read_text().splitlines()]
    with (DATA / "literature.csv").open(newline="") as file:
        published = [(r["spec"], int(r["dimension"])) for r in csv.DictReader(file)]
    return [(r["spec"], r["dimension"]) for r in rows] + published


def test_reference_rows_agree_with_every_applicable_theorem() -> None:
    answered = 0
    for spec, dimension in reference_rows():
        for applied in applicable(parse(spec)):
            assert applied.value == dimension, (spec, applied.theorem.id)
        answered += bool(applicable(parse(spec)))
    assert answered >= 120


def test_every_theorem_is_tested_on_random_instances() -> None:
    assert SMALL.keys() | {"softmax-stack", "lightning-stack"} == THEOREMS.keys()


def test_defective_sums_of_powers(exact_rank: Rank) -> None:
    for r, d, h in ((3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)):
        spec = f"mlp d={d},{h},1 r={r}"
        assert THEOREMS["alexander-hirschowitz"].value(parse(spec)) == exact_rank(spec)


def test_proved_theorems_name_their_proof() -> None:
    text = (Path(__file__).parents[2] / "oracle" / "theorems" / "PROOFS.md").read_text()
    for theorem in registry():
        place = theorem.citation.rpartition("PROOFS.md section ")[2][:1]
        if theorem.status == PROVED and not any(where in theorem.citation for where in ("ICLR", "J. ")):
            assert f"\n## {place}. " in text


def test_a_formula_loads_no_number_library() -> None:
    code = (
        "import sys; from neuromanifold.numerics.notation import parse; from neuromanifold.oracle import theorems;"
        "print([a.value for a in theorems.applicable(parse('softmax d=4096 l=32 a=128 t=4096'))]);"
        "print({'numpy', 'jax', 'sympy', 'z3', 'hypothesis'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    values, loaded = done.stdout.splitlines()
    assert values == str([32 * (2 * 128 * 4096 - 128**2) + 4096**2] * 2)
    assert loaded == "set()"
