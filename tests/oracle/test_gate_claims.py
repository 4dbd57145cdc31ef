"""Claim files: what is accepted, and every problem at once with its claim, key and line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import neuromanifold.oracle.gate as gate
import pytest
from neuromanifold.oracle.gate.claims import read_claims
from neuromanifold.oracle.gate.fields import schema
from neuromanifold.oracle.gate.instances import MAX_GRID, Uncheckable, instances

GOOD = """
schema = 1

[[claim]]
id = "single-layer"
network = "lightning d={d},{e} a={a} t=2"
where = { d = "1..4", e = "1..3", a = "1..4" }      # ranges; lists too
when = "a <= d"
dimension = "2*a*d - a**2 + d*e - 1"
require = "proven"
expect = "holds"
source = "arXiv 2408.17221, single-layer dimension"

[[claim]]  # no id
network = '''softmax d=3,3 a=2 t=2 {mask}'''
dimension = 17
[claim.where]
mask = ["", "causal"]

  [[ claim ]]
proved = "query-key-gauge"
"""


def read(tmp_path: Path, text: str | bytes, name: str = "x.claims.toml"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_claims(path)


def test_the_format_of_the_documentation(tmp_path):
    file = read(tmp_path, GOOD)
    assert file.problems == ()
    first, second, third = file.claims
    assert [c.name for c in file.claims] == ["single-layer", "claim 2", "claim 3"]
    assert [c.line for c in file.claims] == [4, 14, 20]
    assert first.where == {"d": range(1, 5), "e": range(1, 4), "a": range(1, 5)}
    assert (first.require, first.expect, third.require) == ("proven", "holds", "proven")
    assert second.where == {"mask": ("", "causal")}
    assert str(first.statements[0]) == "dimension = 2*a*d - a**2 + d*e - 1"
    found = instances(first)
    assert (found.points, found.left_out, len(found.found)) == (48, 18, 30)


def test_instances_come_smallest_first(tmp_path):
    (claim,) = read(
        tmp_path, '[[claim]]\nnetwork="lightning d={d},{e} a=1 t={t}"\nwhere={d="1..3", e=[3,1], t=[3,2]}\ndimension=1'
    ).claims
    networks = [i.network for i in instances(claim).found]
    assert [n.parameters for n in networks] == sorted(n.parameters for n in networks)
    assert str(networks[0]) == "lightning d=1,1 a=1 t=2" and str(networks[1]) == "lightning d=1,1 a=1 t=3"
    assert len(networks) == 12


def test_all_problems_at_once_with_claim_key_and_line(tmp_path):
    text = """
colour = "red"
[[claim]]
id = "one"
network = "lightning d={d} a={a} t=2"
where = { d = "1..x", a = [] }
dimention = 3
require = "maybe"

[[claim]]
network = "lightning d={dd},2 a=1 t=2"
where = { d = "1..3" }
dimension = "d +"
when = "d"

[[claim]]
id = "one"
network = "lightning d=2,2 a=1 t=2"

[[claim]]
id = "unused"
network = "lightning d=2,2 a=1 t=2"
where = { d = "1..3" }
dimension = true

[[claim]]
network = "lightning d=2,2 a=1 t=2"
where = { d = "1..3" }
dimension = 1

[[claim]]
proved = "x"
where = { d = "1..3" }

[[claim]]
dimension = 1
"""
    problems = [(p.claim, p.key, p.line) for p in read(tmp_path, text).problems]
    assert problems == [
        ("", "colour", None),
        ("one", "dimention", 3), ("one", "require", 3), ("one", "where.d", 3), ("one", "where.a", 3),
        ("claim 2", "network", 10), ("claim 2", "when", 10), ("claim 2", "dimension", 10),
        ("one", "", 16), ("one", "id", 16),
        ("unused", "dimension", 20),
        ("claim 5", "where.d", 26),
        ("claim 6", "where", 31),
        ("claim 7", "network", 35),
    ]  # fmt: skip
    messages = "\n".join(str(p) for p in read(tmp_path, text).problems)
    assert "line 3: one: dimention: unknown key; did you mean 'dimension'?" in messages
    assert "did you mean 'd'?" in messages and "was given already, at line 3" in messages


BAD_VALUES = {
    "id": ["", "a b", "::error::x", "\x1b[31m", "é", 3, ["x"], "a" * 101, "x\n"],
    "network": [3, "", ["lightning"], "x" * 5000, True],
    "where": [3, "d", [], {"D": 1}, {"and": 1}, {"min": [1]}, {"d": 1.5}, {"d": True}, {"d": "1...3"}, {"d": "1..3..5"},
              {"d": []}, {"d": [1, "x"]}, {"d": [1, 1]}, {"d": [True, False]}, {"d": {"e": 1}}, {"d": "3"}, {"d": "１..３"},
              {"d": ["\x1b"]}, {"d": 10**19}, {"d": "1..9999999999999999999"}, {f"n{i}": 1 for i in range(13)}],
    "when": [True, 3, "", "x" * 1001],
    "dimension": [1.5, True, "", [3], {"d": 3}, 10**19, "1" * 1001],
    "require": ["Proven", 1, [], {}],
    "expect": ["fails", True],
    "source": ["", 3, "a\nb", "\x1b[2J", "x" * 501],
    "model": ["os.system", "os:system()", "a:b:c", "../x:y", "x y:z", 3],
    "proved": ["", "a b", 3],
    "same_dimension_as": [3, ""],
    "colour": ["red"],
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), [(k, v) for k, values in BAD_VALUES.items() for v in values])
def test_parser_and_published_schema_refuse_the_same_shapes(key, value):
    from neuromanifold.oracle.gate.claims import parse_claims
    from neuromanifold.oracle.gate.load import Loaded

    claim = {"network": "lightning d=2,2 a=1 t=2", "dimension": 1, key: value}
    if key == "proved":
        claim = {key: value}
    data = {"claim": [claim]}
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(data))
    assert parse_claims(Loaded(data, ()))[1]


def test_the_published_schema_is_the_one_of_the_table_and_accepts_good_files():
    published = json.loads((Path(gate.__file__).parent / "claims.schema.json").read_text())
    assert published == json.loads(json.dumps(schema()))
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.validate(tomllib.loads(GOOD), published)


@pytest.mark.parametrize(
    ("network", "where", "says"),
    [
        ("lightning d={d},2 a=1 t=2", 'd="0..3"', "is not a network"),
        ("lightning d=2,2 a=1 t=2 heads={d} kv=2", 'd="1..4"', "leave such points out with when"),
        ("lightning d={1 // d},2 a=1 t=2", 'd="0..3"', "division by zero"),
        ("lightning d={d},n a=1 t=2", 'd="1..3"', "is a family"),
        ("lightning d={d},2 a=1 t=2", 'd="1..1000000000000"', f"more than {MAX_GRID}"),
        (
            "lightning d={d},2 a={a} t={t}",
            'd="1..10000", a="1..10000", t="1..10000"',
            f"1000000000000 points, more than {MAX_GRID}",
        ),
    ],
)
def test_what_cannot_be_enumerated_says_why(tmp_path, network, where, says):
    (claim,) = read(tmp_path, f'[[claim]]\nnetwork="{network}"\nwhere={{{where}}}\ndimension=1').claims
    with pytest.raises(Uncheckable, match=says):
        instances(claim)
