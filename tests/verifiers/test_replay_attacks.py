"""Certificates that an adversary wrote: types that no block sees, angles shared by layers, files that cost too much."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from neuromanifold.verifiers import replay as checker

P = 2097143


def replayed(spec, lower, upper, claim, **more):
    return checker.replay(json.dumps({
        "format": "neuromanifold-certificate", "version": 1, "spec": spec, "claim": claim, "prime": P, "seed": 0,
        "lower": lower, "upper": upper, "holes": [], **more,
    }))  # fmt: skip


def coordinates(spec, base, tokens, draws):
    net = checker.parse(spec)
    size = checker.chart_size(net, checker.quadratic(net))
    return replayed(
        spec, {"rule": "coordinates", "tokens": tokens, "base": base, "spare": 3},
        {"rule": "chart", "reductions": [], "spec": spec}, {"lower": size, "upper": size}, exponents={"draws": draws},
    )  # fmt: skip


@pytest.mark.parametrize("spec", ["softmax d=6,2,2 a=6,1 t=2", "softmax d=5,3 a=5 t=2"])
def test_rows_tied_to_the_input_alone_need_a_base(spec):
    assert coordinates(spec, 0, 2, "0-11").rule == "coordinates"
    assert coordinates(spec, 1, 2, "0-11").verdict == "valid"


def test_with_rope_and_groups_the_base_is_empty():
    spec = "softmax d=8,8 a=2 dv=2 heads=2 t=3 skip causal rope"
    assert coordinates(spec, 0, 3, "0-11").verdict == "valid"
    assert coordinates(spec, 1, 3, "0-11").rule == "coordinates"


def test_with_rope_and_groups_layers_agree():
    spec = "softmax d=8,8,8 a=4,2 dv=4,2 heads=2 t=3 skip causal rope"
    assert coordinates(spec, 0, 3, "0-15").rule == "coordinates"


def fields(spec, *entries):
    upper = {"rule": "fields", "reductions": [], "spec": spec, "frozen": [], "fields": list(entries)}
    return replayed(spec, None, upper, {"lower": 0, "upper": 1})


def minor(spec, tokens, inputs, **more):
    lower = {"rule": "minor", "tokens": tokens, "inputs": inputs, "rows": "0", "columns": "0"}
    return replayed(spec, lower, None, {"lower": 1, "upper": checker.parameters(checker.parse(spec))}, **more)


SMALL_FILES = {
    "a block of many tokens": lambda: fields(
        "lightning d=1,1 a=1 t=6000", {"field": "block", "layer": 1, "part": "attention", "inputs": 1}
    ),
    "scores in memory": lambda: minor("lightning d=1,1 a=1 t=2048 heads=30", 2048, "0"),
    "streams in memory": lambda: minor(
        "softmax d=2 l=64 a=1 t=2 skip", 2, "1048575", exponents={"draws": [[k, 1048575, 0] for k in range(256)]}
    ),
    "many members": lambda: replayed(
        "softmax d=n l=200 a=b dv=c heads=h t=3 skip causal",
        {"rule": "coordinates", "tokens": 2, "base": 2, "spare": 0}, {"rule": "chart"},
        {"dimension": "1", "least": 1}, exponents={"draws": "0-3"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL_FILES)
def test_small_files_do_not_cost_much(name):
    started = time.process_time()
    assert SMALL_FILES[name]().verdict == "invalid"
    assert time.process_time() - started < 60


def bare(spec: str, rule: str = "ambient", **more: Any) -> str:
    upper = {"rule": rule, "reductions": [], "spec": spec, **more}
    return json.dumps(
        {"format": "neuromanifold-certificate", "version": 1, "spec": spec, "prime": 2097143, "seed": 0, "holes": [],
         "claim": {"lower": 0, "upper": 26}, "lower": None, "upper": upper}
    )  # fmt: skip


@pytest.mark.parametrize("spec", ["lightning d=3,3 a=3 t=2 heads=3 kv=2 dv=1", "softmax d=2,2 a=1 t=2 heads=1 kv=2 dv=1"])
def test_heads_that_are_no_multiple_of_the_groups_are_no_network(spec: str) -> None:
    """The dimension of the first is at least 35, and 26 would be the bound of two heads."""
    found = checker.replay(bare(spec))
    assert (found.verdict, found.rule) == ("invalid", "spec")


def test_many_tokens_cost_nothing_where_only_distances_count() -> None:
    for mask, distances in (("", 17_999_999), (" causal", 9_000_000), (" causal window=7", 7)):
        assert checker.distances(checker.parse(f"lightning d=2,2 a=2 t=9000000 dv=1 rope{mask}")) == distances
    for spec in ("lightning d=2,2 a=2 t=6 rope", "lightning d=2,2 a=2 t=6 rope causal", "lightning d=2,2 a=2 t=6 causal window=4"):
        net = checker.parse(spec)
        assert checker.distances(net) == len({j - key for j in range(net.t) for key in net.visible(j)})


def test_a_found_field_that_expands_without_end_is_refused() -> None:
    spec = "lightning d=4,4,4 a=4 t=3"
    field = {"field": "found", "expanded": 1, "motion": [[95, "1", [95]]]}
    found = checker.replay(bare(spec, "fields", frozen=[], fields=[field]))
    assert (found.verdict, found.rule) == ("invalid", "caps")
