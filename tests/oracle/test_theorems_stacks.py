"""The formulas of transformer stacks against exact ranks, in the styles that occur, and with each term dropped."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.theorems import Missed, blocks, registry
from neuromanifold.oracle.theorems.stacks import MOVED

INSTANCES = 50
LARGEST = 120  # parameters of a random instance
MOST_ROOTS = 8  # roots of one input: each exists mod p at half of the inputs

Rank = Callable[[str], int]
THEOREMS = {t.id: t for t in registry()}


def shape(g: random.Random, kind: str, most_heads: int = 3) -> str:
    kv, q = g.randint(1, most_heads), g.choice((1, 1, 2))
    return f"{kind} d={g.randint(2, 4)} l={g.choice((1, 1, 2))} t={g.randint(2, 4)} heads={kv * q} kv={kv}"


def letters(g: random.Random, of: str) -> str:
    found = "".join(c for c in of if g.random() < 0.5)
    return f" bias={found}" if found else ""


def mask(g: random.Random) -> str:
    return g.choice(("", " causal", " causal", " causal window=2", " causal window=3"))


def plain(g: random.Random) -> str:
    dv = f" dv={g.randint(1, 4)}" if g.random() < 0.7 else ""
    return f"{shape(g, 'softmax')} a={g.randint(1, 5)}{dv} skip{mask(g)}"


def biased(g: random.Random) -> str:
    ffn = f" ffn={g.randint(1, 3)}:{g.choice(('silu', 'gelu', 'swiglu', 2, 3))}" if g.random() < 0.6 else ""
    return f"{plain(g)}{letters(g, 'qkvoud' if ffn else 'qkvo')}{ffn}"


def gpt2(g: random.Random) -> str:
    bias = " bias=qkvoud" if g.random() < 0.6 else letters(g, "qkvoud")
    return f"{shape(g, 'softmax', 2)} a={g.randint(1, 3)} dv={g.randint(1, 3)} skip causal{bias} norm=layer ffn={g.randint(1, 4)}:gelu"


def llama(g: random.Random) -> str:
    bias = g.choice(("", "", " bias=qkv", letters(g, "qkvoud")))
    norm, act = g.choice(("rms", "rms", "layer")), g.choice(("swiglu", "swiglu", "silu", 2))
    window = g.choice(("", "", " window=3"))
    size = f"{shape(g, 'softmax', 2)} a={g.choice((2, 2, 4))} dv={g.randint(1, 3)}"
    return f"{size} skip causal{window} rope{bias} norm={norm} ffn={g.randint(1, 4)}:{act}"


def linear(g: random.Random) -> str:
    dv = f" dv={g.randint(1, 2)}" if g.random() < 0.6 else ""
    rope = g.random() < 0.3
    norm, ffn = (
        g.choice(("", "", " norm=rms", " norm=layer")),
        g.choice(("", "", f" ffn={g.randint(1, 4)}:silu", " ffn=2:2")),
    )
    size = f"{shape(g, 'lightning')} a={2 if rope else g.randint(1, 3)}"
    return f"{size}{dv} skip{mask(g)}{' rope' if rope else ''}{norm}{ffn}"


STYLES: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "plain": ("softmax-stack", plain),
    "biased": ("softmax-stack", biased),
    "gpt2": ("softmax-stack", gpt2),
    "llama": ("softmax-stack", llama),
    "linear": ("lightning-stack", linear),
}


def instances(style: str, wanted: int = INSTANCES) -> list[Network]:
    """Distinct networks of a style within the hypotheses."""
    name, draw = STYLES[style]
    g = random.Random(style)
    found: dict[str, Network] = {}
    for _ in range(100 * wanted):
        n = parse(draw(g))
        roots = n.t * n.l * (2 if n.ffn else 1) if n.norm else 0
        if n.parameters <= LARGEST and roots <= MOST_ROOTS and not isinstance(THEOREMS[name].evaluate(n), Missed):
            found[str(n)] = n
        if len(found) == wanted:
            return list(found.values())
    raise AssertionError(f"{style}: only {len(found)} instances")


@pytest.mark.parametrize("style", STYLES)
def test_formula_is_the_exact_rank(style: str, exact_rank: Rank) -> None:
    theorem = THEOREMS[STYLES[style][0]]
    networks = instances(style)
    assert len(networks) == INSTANCES
    assert not {
        str(n): (theorem.value(n), exact_rank(str(n))) for n in networks if theorem.value(n) != exact_rank(str(n))
    }


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_formula_is_the_exact_rank_of_many(style: str, exact_rank: Rank) -> None:
    theorem = THEOREMS[STYLES[style][0]]
    networks = instances(style, 250)
    assert not {
        str(n): (theorem.value(n), exact_rank(str(n))) for n in networks if theorem.value(n) != exact_rank(str(n))
    }


TERMS = {
    "plain": (blocks.GAUGE, blocks.VALUE_GAUGE, blocks.WIDE),
    "biased": (blocks.DEAD_KEYS, blocks.BIASES, blocks.UNITS, MOVED),
    "gpt2": (blocks.GAUGE, blocks.DEAD_KEYS, blocks.CENTRED, blocks.GAIN, blocks.SHIFT, blocks.BIASES, MOVED),
    "llama": (blocks.GAUGE, blocks.VALUE_GAUGE, blocks.GAIN, blocks.SHIFT, blocks.UNITS, blocks.CENTRED),
    "linear": (blocks.GAUGE, blocks.VALUE_GAUGE, blocks.MIXING, blocks.GROUPED, blocks.GAIN),
}


@pytest.mark.parametrize(("style", "term"), [(s, term) for s, terms in TERMS.items() for term in terms])
def test_a_formula_without_one_term_is_detected(style: str, term: str, exact_rank: Rank) -> None:
    theorem = THEOREMS[STYLES[style][0]]
    assert theorem.redundancy is not None
    wrong = [
        n for n in instances(style) if theorem.value(n) + dict(theorem.redundancy(n)).get(term, 0) != exact_rank(str(n))
    ]
    assert len(wrong) >= 3


def test_redundancy_adds_up() -> None:
    for style, (name, _) in STYLES.items():
        for n in instances(style):
            applied = THEOREMS[name].evaluate(n)
            assert not isinstance(applied, Missed)
            assert n.parameters - applied.value == sum(count for _, count in applied.redundancy)
            assert all(count > 0 for _, count in applied.redundancy)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("softmax d=768 l=12 a=64 dv=64 heads=12 t=1024 skip causal", 27_131_904),
        ("softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope", 1_337_950_208),
    ],
)
def test_large_sizes(spec: str, value: int) -> None:
    assert THEOREMS["softmax-stack"].value(parse(spec)) == value


def test_constants_move_through_skip_connections(exact_rank: Rank) -> None:
    """Three and two dimensions less than without moving constants: with biases q, and into the kernel of Q without them."""
    moved = {
        "softmax d=3,3,3 a=3 t=4 dv=1 skip causal bias=qo": (37, 3),
        "softmax d=4,4,4 a=2 t=2 skip bias=o": (None, 2),
    }
    for spec, (value, count) in moved.items():
        split = THEOREMS["softmax-stack"].redundancy
        assert split is not None
        assert dict(split(parse(spec)))[MOVED] == count
        assert exact_rank(spec) == THEOREMS["softmax-stack"].value(parse(spec))
        assert value in (None, exact_rank(spec))
