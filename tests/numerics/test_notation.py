"""The one-line notation: round trip, families, and every refusal with its column and the nearest valid thing."""

from __future__ import annotations

import csv
import json
import random
import time
from pathlib import Path

import pytest
from neuromanifold.numerics.network import NORMS, Ffn, Network, NetworkError, UnsupportedNetwork
from neuromanifold.numerics.notation import MAX_TEXT, Family, NotationError, parse, parse_any

DATA = Path(__file__).parents[1] / "data"


def specs_of_the_tables() -> list[str]:
    rows = [json.loads(line)["spec"] for line in (DATA / "dimensions.jsonl").read_text(encoding="utf-8").splitlines()]
    with (DATA / "literature.csv").open(encoding="utf-8", newline="") as file:
        return rows + [row["spec"] for row in csv.DictReader(file)]


def test_round_trip_of_the_tables():
    specs = specs_of_the_tables()
    assert len(specs) == 300
    for spec in specs:
        network = parse(spec)
        assert parse(str(network)) == network
        assert str(parse(str(network))) == str(network)


def test_round_trip_of_random_networks():
    """Every field on and off; counts asserted."""
    rng, seen, made = random.Random(0), set(), 0
    while made < 1_000:
        l = rng.randint(1, 6)
        skip = rng.random() < 0.4
        d = (rng.randint(1, 9),) * (l + 1) if skip or rng.random() < 0.3 else tuple(rng.randint(1, 9) for _ in range(l + 1))

        def per_layer(*choices: int, l: int = l) -> tuple[int, ...]:
            return (rng.choice(choices),) * l if rng.random() < 0.5 else tuple(rng.choice(choices) for _ in range(l))

        kind, heads = rng.choice(["lightning", "softmax"]), per_layer(1, 2, 4)
        ffn = tuple(Ffn(h, rng.choice([1, 2, 3, "silu", "gelu", "swiglu"])) for h in per_layer(1, 8)) if rng.random() < 0.3 else None
        causal = rng.random() < 0.5
        letters = "qkvo" + "ud" * (ffn is not None)
        network = Network(
            kind, d, per_layer(2, 4), rng.randint(1, 5), heads, tuple(rng.choice([g for g in (1, 2, 4) if h % g == 0]) for h in heads),
            dv=per_layer(1, 2, 3) if rng.random() < 0.4 else None, skip=skip, causal=causal,
            window=rng.randint(1, 6) if causal and rng.random() < 0.5 else None,
            rope=rng.random() < 0.3, alibi=kind == "softmax" and rng.random() < 0.3, bias="".join(rng.sample(letters, rng.randint(0, len(letters)))),
            norm=rng.choice(NORMS) if skip and rng.random() < 0.5 else None, ffn=ffn,
        )  # fmt: skip
        assert parse(str(network)) == network
        made += 1
        seen |= {word.partition("=")[0] for word in str(network).split()}
    assert seen == {"lightning", "softmax", "d", "l", "a", "t", "heads", "kv", "dv", "skip", "causal", "window", "rope", "alibi", "bias", "norm", "ffn"}


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("lightning d=3,3,3 a=2,2 t=3", "lightning d=3,3,3 a=2 t=3"),
        ("  lightning   d=3 l=2   t=3 a=2 ", "lightning d=3,3,3 a=2 t=3"),
        ("lightning d=6,6,6,6,6,6 a=2,2,2,2,2 t=3", "lightning d=6 l=5 a=2 t=3"),
        ("softmax d=4,4 a=2 t=3 rope causal skip heads=4 kv=4 bias=ovkq", "softmax d=4,4 a=2 t=3 heads=4 skip causal rope bias=qkvo"),
        ("lightning d=03,3 a=2 t=3", "lightning d=3,3 a=2 t=3"),
        ("mlp d=2,2 r=2 t=9", "mlp d=2,2 r=2"),
        ("softmax d=4,4 a=2 t=3 causal window=3", "softmax d=4,4 a=2 t=3 causal"),
    ],
)
def test_canonical_form(spec, canonical):
    assert str(parse(spec)) == canonical


BAD = (
    # text, column, part of the message
    ("", 1, "the text is empty"),
    ("   ", 1, "the text is empty"),
    ("lightening d=3,3 a=2 t=3", 1, "did you mean 'lightning'"),
    ("d=3,3 a=2 t=3", 1, "starts with its kind"),
    ("lightning d=3,3 a=2 t=3 head=2", 25, "unknown field 'head'; did you mean 'heads'"),
    ("lightning d=3,3 a=2 t=3 zzz=2", 25, "unknown field 'zzz'; valid:"),
    ("lightning d=3,3 a=2 t=3 a=3", 25, "given already, at column 17"),
    ("lightning d=3,3 a=2 t=3 skip skip", 30, "given already"),
    ("lightning d=3,-3 a=2 t=3", 15, "'-3' is not a size"),
    ("lightning d=3,+3 a=2 t=3", 15, "'+3' is not a size"),
    ("lightning d=3,3.0 a=2 t=3", 15, "'3.0' is not a size"),
    ("lightning d=3,, a=2 t=3", 15, "'' is not a size"),
    ("lightning d=3,3 a=2 t=1_000", 23, "'1_000' is not a size"),
    ("lightning d=3,3 a=2 t=1e3", 23, "'1e3' is not a size"),
    ("lightning d=3,3 a=2 t=" + "9" * 5_00, 23, "is not a size"),
    ("lightning d=3,3 a=2 t=__import__('os')", 23, "is not a size"),
    ("lightning d=\uff13,3 a=2 t=3", 13, "U+FF13"),
    ("lightning d=3,3 a=2 t=\u0663", 23, "U+0663"),
    ("lightning d=3,3 a=2 t=3\n", 24, "U+000A"),
    ("lightning\td=3,3 a=2 t=3", 10, "U+0009"),
    ("lightning d=3,3 a=2 t=3\x00", 24, "U+0000"),
    ("lightning d=3,3 a=2 t=3 \x1b[31m", 25, "U+001B"),
    ("lightning d=3,3 a=2 t=3 \u200b", 25, "U+200B"),
    ("lightning d=3,3 a=2 t=3,4", 21, "t takes one value"),
    ("lightning d=3,3 a=2 t", 21, "t needs a value"),
    ("lightning d=3,3 a=2 t=3 skip=1", 25, "skip stands alone"),
    ("lightning a=2 t=3", 10, "widths are missing"),
    ("lightning d=3,3 t=3", 10, "a= is missing"),
    ("lightning d=3,3 a=2", 10, "t= is missing"),
    ("lightning d=3 a=2 t=3", 11, "one width"),
    ("lightning d=3 l=0 a=2 t=3", 15, "l=0 is out of range"),
    ("lightning d=3 l=1001 a=2 t=3", 15, "l=1001 is out of range"),
    ("lightning d=3,3,3 l=3 a=2 t=3", 19, "l=3 layers have 4 widths, d has 3"),
    ("lightning d=3,3,3 a=2,2,2 t=3", 19, "a has 3 values for 2 layers"),
    ("lightning d=3,3 a=2 t=3 bias=", 30, "distinct letters"),
    ("lightning d=3,3 a=2 t=3 bias=qq", 30, "distinct letters"),
    ("lightning d=3,3 a=2 t=3 skip norm=rmss", 35, "did you mean 'rms'"),
    ("lightning d=3,3 a=2 t=3 ffn=4", 29, "is not h:r"),
    ("lightning d=3,3 a=2 t=3 ffn=4:relu", 29, "is not h:r"),
)


@pytest.mark.parametrize(("text", "column", "message"), BAD, ids=[repr(b[0][-24:]) + b[2][:12] for b in BAD])
def test_bad_text_names_its_column(text, column, message):
    with pytest.raises(NotationError) as refusal:
        parse_any(text)
    assert refusal.value.column == column
    said = str(refusal.value)
    assert message in said and said.startswith(f"column {column}: ")
    assert "\n" not in said and said.isprintable() and len(said) < 300


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("lightning d=0,3 a=2 t=3", 11, "d=0 is out of range: sizes are 1..1000000"),
        ("lightning d=3,3 a=2 t=0", 21, "t=0 is out of range"),
        ("lightning d=3,3 a=2 t=999999999", 21, "t=999999999 is out of range"),
        ("lightning d=3,3 a=3 t=3 rope", 17, "a=3 must be even (nearest: a=4)"),
        ("lightning d=3,3 a=2 t=3 heads=4 kv=3", 33, "heads=4 is not a multiple of kv=3"),
        ("lightning d=3,2 a=2 t=3 skip", 25, "skip needs equal widths, d=3,2 are not"),
        ("lightning d=3,3 a=2 t=3 bias=u", 25, "belong to ffn: add ffn=h:r"),
        ("mlp d=3,3 a=2 r=2", 11, "an mlp has no a"),
        ("mlp d=3,3", 1, "an mlp needs its power"),
        ("lightning d=3,3 a=2 t=3 alibi", 25, "alibi is defined for softmax only"),
    ],
)
def test_inconsistent_networks_name_the_column_and_what_is_valid(text, column, message):
    with pytest.raises(NotationError) as refusal:
        parse(text)
    assert refusal.value.column == column
    assert message in str(refusal.value) and "\n" not in str(refusal.value)


def test_ten_megabytes_are_refused_at_once():
    for text in ("lightning d=" + "3," * 5_000_000, "x" * 10_000_000, " " * 10_000_000, "lightning " + "a=1 " * 2_500_000):
        started = time.perf_counter()
        with pytest.raises(NotationError, match=f"more than {MAX_TEXT}") as refusal:
            parse(text)
        assert time.perf_counter() - started < 0.5
        assert len(str(refusal.value)) < 200


def test_families():
    family = parse_any("lightning d=p,q,q,r a=2 t=3")
    assert isinstance(family, Family) and family.names == ("p", "q", "r")
    assert family.at(p=2, q=3, r=4) == parse("lightning d=2,3,3,4 a=2 t=3")
    assert parse_any("softmax d=n l=2 a=2 t=3").at(n=5) == parse("softmax d=5,5,5 a=2 t=3")
    assert parse_any("lightning d=n,n a=n t=2 ffn=h:2").at(n=2, h=3) == parse("lightning d=2,2 a=2 t=2 ffn=3:2")
    assert parse_any("softmax d=n,n a=n t=2 heads=4h kv=h dv=1").names == ("h", "n")
    assert parse_any("softmax d=n,n a=n t=2 heads=4h kv=h dv=1").at(n=3, h=2) == parse("softmax d=3,3 a=3 t=2 heads=8 kv=2 dv=1")
    for text in ("softmax d=2n,3 a=2 t=2", "softmax d=3,3 a=2 t=2 heads=0h dv=1", "softmax d=3,3 a=2 t=2 heads=2e3 dv=1"):
        with pytest.raises(NetworkError, match="not a size"):
            parse_any(text)
    with pytest.raises(NetworkError, match="needs sizes for q, r"):
        family.at(p=2)
    with pytest.raises(NetworkError, match="out of range"):
        family.at(p=0, q=3, r=4)
    with pytest.raises(UnsupportedNetwork, match="p, q, r free") as refusal:
        parse("lightning d=p,q,q,r a=2 t=3")
    assert refusal.value.field == "family"


def test_every_prefix_and_mutation_is_refused_or_read():
    """No text ends in anything but a network, a family or a NetworkError."""
    base = "softmax d=4,4 a=2 t=3 heads=4 kv=2 dv=2 skip causal window=2 rope bias=qkvo norm=rms ffn=4:swiglu"
    rng, read = random.Random(1), 0
    texts = [base[:i] for i in range(len(base) + 1)]
    for _ in range(2_000):
        i = rng.randrange(len(base))
        texts.append(base[:i] + rng.choice("=,:0az \x7f\u00b2-") + base[i + rng.randint(0, 2) :])
    for text in texts:
        try:
            parse_any(text)
            read += 1
        except NetworkError as refusal:
            assert "\n" not in str(refusal)
    assert 100 < read < len(texts), read
