"""`explain` has words for every kind of answer, and its numbers add up."""

import json
import re
from pathlib import Path

import pytest
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle import dimension
from neuromanifold.oracle.explain import explain
from neuromanifold.verifiers.coordinates.certify import blocks_of, coordinate_certificate

GOLDEN = sorted(Path(__file__).parents[1].joinpath("golden").glob("*.json"))
CHARTS = [
    "softmax d=10,10,10 a=2 t=3",
    "lightning d=40,20,40 a=3 t=5",
    "lightning d=12,12,12 a=1,2 t=3",
    "softmax d=12,12,12,12 a=3 t=8 heads=4 kv=2 dv=3 skip causal bias=qk",
    "softmax d=768 l=12 a=64 t=1024 heads=12 dv=64 skip causal bias=qkvoud norm=layer ffn=3072:gelu",
    "softmax d=6,6,6,6 a=3 t=3 heads=2,4,2 kv=2,2,1 dv=3 skip ffn=4:silu,9:swiglu,1:gelu",  # one label, other columns
    "softmax d=4096 l=32 a=128 dv=128 heads=32 kv=8 t=4096 skip causal rope norm=rms ffn=14336:swiglu",
]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_direct_proofs(path):
    answer = dimension(json.loads(path.read_text())["spec"])
    text = explain(answer)
    assert f"At most {answer.upper}." in text
    assert f"At least {answer.lower}." in text
    assert f"the {answer.lower} x {answer.lower} minor of the Jacobian" in text


@pytest.mark.parametrize("spec", CHARTS)
def test_coordinate_proofs(spec):
    answer = dimension(spec)
    certificate = answer.certificate or {}
    text = explain(answer)
    assert certificate["lower"]["rule"] == "coordinates"
    above = text[text.index("At most") : text.index("At least")]
    fixed = [int(n) for n in re.findall(r"^    +(\d+)  [a-z-]+$", above, re.MULTILINE)]
    assert len(fixed) >= 1
    reduced = parse(certificate["upper"]["spec"])
    assert reduced.parameters - sum(fixed) == answer.upper
    assert f"= {answer.upper} entries stay free." in above
    blocks = blocks_of(reduced, certificate["lower"])
    shown = re.findall(r"^    (\S+) +rank (\d+) of (\d+) columns$", text, re.MULTILINE)
    assert 3 <= len(shown) == min(len(blocks), 12)
    assert [(label, int(rank)) for label, rank, _ in shown] == blocks[:12]
    assert all(rank == columns for _, rank, columns in shown)
    assert ("a zero token" in text) == ("layers" in certificate["lower"])


def test_the_blocks_of_all_sets_have_all_free_entries():
    """d = 6 in one type of two kinds: coordinates with a row (2) and without (4); so many sets of each type."""
    spec = "softmax d=6,6,6 a=2 t=3"
    answer = dimension(spec)
    lower = coordinate_certificate(parse(spec))["lower"]
    tied, free = 2, 4
    sets = {"c:0": tied, "c:-": free, "cc:0,0": 1, "cc:0,-": tied * free, "cc:-,-": free * (free - 1) // 2}
    total = 0
    for label, columns in blocks_of(parse(spec), lower):
        homes, ties = label.removeprefix("0").split(":")
        kind = ",".join("-" if tie == "-" else "0" for tie in ties.split(";")[0].split(","))
        total += sets.pop(f"{homes}:{kind}") * columns
    assert sets == {}
    assert total == answer.dimension


def test_what_is_not_proven():
    text = explain("softmax d=768 l=12 a=64 t=1024 heads=12 dv=64 skip causal norm=layer ffn=3072:gelu")
    assert "what is proven is 0 <= dimension <= 84971520" in text
    assert "exceed the budget" in text


def test_layers_of_which_a_type_has_other_columns_are_all_shown():
    """Two groups of one head, and of two: one label, and one more Q and O of each group in the second layer."""
    network = parse("softmax d=4 l=2 a=2 dv=2 heads=2,4 kv=2 t=3 skip")
    lower = coordinate_certificate(network)["lower"]
    alone = [blocks_of(parse(f"softmax d=4 l=2 a=2 dv=2 heads={h} kv=2 t=3 skip"), lower) for h in (2, 4)]
    assert len({label for label, _ in alone[0] + alone[1]}) < len({*alone[0], *alone[1]})
    assert {*blocks_of(network, lower)} == {*alone[0], *alone[1]}
