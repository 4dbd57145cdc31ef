"""The wrong fields: each condition of the field table dropped once is refused, and a network shows why.

A row is a field, the condition that fails, a network, and the dimension: the network's (proven), and what the field would give
if it were counted all the same, which is smaller. The same for rewrites: the network they would lead to has a smaller dimension.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neuromanifold import oracle
from neuromanifold.numerics.notation import parse
from neuromanifold.verifiers.certificate import dumps, prove_bounds
from neuromanifold.verifiers.claims.catalogue import catalogue
from neuromanifold.verifiers.claims.model import Deadline
from neuromanifold.verifiers.claims.words import Words, by_free_algebra

HERE = Path(__file__).parent
loader = importlib.util.spec_from_file_location("writer_of_wrong_fields", HERE / "replay_writer.py")
W: Any = importlib.util.module_from_spec(loader)
sys.modules["writer_of_wrong_fields"] = W
loader.loader.exec_module(W)
R = W.R
LOOSE = W.load("replay_without_need")  # the same motions, whatever the network
LOOSE.need = lambda *_: None
PRIME, SEED = 2147483647, 3

Row = tuple[str, str, str, tuple[Any, ...], int, int]
ROWS: list[Row] = [
    ("gauge", "rope: only the commutant", "softmax d=2,2 a=4 t=2 rope", (1, 0), 15, 7),
    ("scaling", "lightning", "softmax d=2,2 a=2 t=2", (1, 0), 8, 7),
    ("head-scaling", "lightning", "softmax d=2,2 a=2 t=2 dv=1", (1, 0), 7, 6),
    ("head-mix", "lightning", "softmax d=2,2 a=2 t=2 heads=2 kv=1 dv=1", (1, 0, 1), 13, 12),
    ("head-mix", "one group", "lightning d=2,2 a=2 t=2 heads=2 dv=1", (1, 0, 1), 12, 11),
    ("group-sum", "lightning", "softmax d=2,2 a=2 t=2 heads=2 kv=1", (1, 1), 12, 8),
    ("group-sum", "no dv", "lightning d=2,2 a=2 t=2 heads=2 kv=1 dv=1", (1, 1), 9, 5),
    ("hidden-basis", "no skip", "lightning d=2,2,2 a=2 t=2 skip", (1, "attention"), 14, 10),
    ("hidden-basis", "no norm", "lightning d=2,2,2 a=2 t=2 skip norm=rms", (1, "attention"), 14, 10),
    ("hidden-basis", "no skip around an ffn", "softmax d=2,2 a=1 t=2 skip ffn=2:2", (1, "attention"), 13, 9),
    ("key-bias", "softmax", "lightning d=2,2 a=2 t=2 bias=k", (1, 0), 9, 7),
    ("key-bias", "no rope", "softmax d=2,2 a=2 t=3 rope bias=k", (1, 0), 12, 10),
    ("value-bias", "softmax", "lightning d=2,2 a=2 t=2 bias=vo", (1, 0), 11, 9),
    ("value-bias", "bias o to go to", "softmax d=2,2 a=2 t=2 bias=v", (1, 0), 10, 8),
    ("value-bias-pair", "softmax", "lightning d=2,3 a=1 t=2 heads=2 bias=v", (1, 1), 22, 19),
    ("value-bias-pair", "no dv", "softmax d=2,3 a=1 t=2 heads=2 bias=v dv=1", (1, 1), 16, 13),
    ("push", "no norm", "lightning d=2,2,2 a=2 t=2 bias=qkvo skip norm=rms", (1, "attention"), 30, 28),
    ("push", "with skip a bias leaving the next block", "lightning d=2,2 a=2 t=2 skip bias=ou ffn=2:2", (1, "attention"), 17, 15),
    ("push", "bias o, or softmax without dv", "lightning d=2,2,2 a=2 t=2 bias=qkv", (1, "attention"), 22, 20),
    ("push-value", "softmax", "lightning d=2,2,2 a=2 t=2 dv=2 bias=qkv", (1, 0), 22, 20),
    ("push-value", "no norm", "softmax d=2,2,2 a=2 t=2 dv=2 bias=qkvo skip norm=rms", (1, 0), 24, 22),
    ("push-value", "all consumers absorb: bias q", "softmax d=2,2,2 a=2 t=2 dv=2 bias=vk", (1, 0), 16, 14),
    ("push-value", "all consumers absorb: no rope for K", "softmax d=2,2,2 a=2 t=2 dv=2 bias=qv rope", (1, 0), 24, 22),
    ("push-value", "all consumers absorb: bias u", "softmax d=2,2 a=1 t=2 dv=1 ffn=2:2 bias=v", (1, 0), 7, 6),
    ("dead-query", "softmax", "lightning d=2,2 a=2 t=1", (1, 0), 6, 3),
    ("dead-query", "one visible key", "softmax d=2,2 a=2 t=2", (1, 0), 8, 4),
    ("dead-key", "one visible key", "softmax d=2,2 a=2 t=2 causal window=2", (1, 0), 8, 4),
    ("dead-key", "one visible key, with rope, too", "softmax d=2,2 a=2 t=2 rope", (1, 0), 10, 6),
    ("push-past", "softmax", "lightning d=2 l=2 a=2 t=2 skip bias=qkv", (1, "attention", 0), 26, 24),
    ("push-past", "skip", "softmax d=2,2,2 a=2 t=2 bias=qv", (1, "attention", 0), 18, 16),
    ("push-past", "no norm", "softmax d=2 l=2 a=2 t=2 skip bias=qv norm=rms", (1, "attention", 0), 24, 22),
    ("push-past", "biases that absorb", "softmax d=2 l=2 a=2 t=2 skip bias=v", (1, "attention", 0), 20, 18),
    ("push-past", "no rope without bias k", "softmax d=2 l=2 a=2 t=2 rope skip bias=qv", (1, "attention", 0), 28, 26),
    ("push-through", "power 1", "lightning d=2,2 a=2 t=2 bias=od ffn=2:2", (1,), 13, 11),
    ("push-through", "no norm", "lightning d=2,2 a=2 t=2 skip bias=od ffn=2:1 norm=rms", (1,), 15, 13),
    ("push-through", "bias o", "lightning d=2,2 a=2 t=2 bias=vd ffn=2:1", (1,), 11, 9),
    ("symmetric-key", "lightning", "softmax d=2,2 a=2 t=2", (1, 0), 8, 7),
    ("symmetric-key", "t = 1 or a stream of rank one", "lightning d=2,2 a=2 t=2", (1, 0), 7, 6),
    ("symmetric-key", "one query head in the group", "lightning d=2,3 a=2 t=1 heads=2 kv=1 dv=1", (1, 0), 9, 7),
    ("symmetric-key", "bias q only with bias k", "lightning d=2,2 a=2 t=1 bias=q", (1, 0), 8, 7),
    ("symmetric-query", "bias k only with bias q", "lightning d=2,2 a=2 t=1 bias=k", (1, 0), 8, 7),
    ("symmetric-key", "behind a layer with a = 1 or a width 1", "lightning d=2,2,2 a=2 t=2", (2, 0), 10, 9),
    ("symmetric-key", "no bias q, k behind a rank-one layer", "lightning d=2,2,2 a=1,2 t=2 bias=qk", (2, 0), 15, 14),
    ("symmetric-key", "no rope behind a rank-one layer", "lightning d=1,2,2 a=2 t=2 rope", (2, 0), 4, 3),
    ("symmetric-key", "the rank-one layer has one head", "lightning d=2,2,2 a=1,2 t=2 heads=2,1", (2, 0), 15, 14),
    ("symmetric-key", "no skip behind a rank-one layer", "lightning d=2,2,2 a=1,2 t=2 skip", (2, 0), 13, 12),
    ("symmetric-key", "no mask behind a rank-one layer", "lightning d=2,2,2 a=1,2 t=2 causal", (2, 0), 9, 8),
    ("symmetric-key", "no window behind a rank-one layer", "lightning d=2,2,2 a=1,2 t=3 causal window=2", (2, 0), 9, 8),
    ("symmetric-key", "no bias o behind a rank-one layer", "lightning d=2,2,2 a=1,2 t=2 bias=o", (2, 0), 13, 12),
    ("symmetric-key", "no ffn behind a rank-one layer", "lightning d=2,2,2 a=1,2 t=2 bias=u ffn=2:2", (2, 0), 17, 16),
    ("ffn-basis", "power 1, not 2", "softmax d=2,2 a=1 t=2 skip ffn=2:2", (1,), 13, 9),
    ("ffn-basis", "power 1, not silu", "softmax d=2,2 a=1 t=2 skip ffn=2:silu", (1,), 15, 11),
    ("ffn-scaling", "a power or swiglu", "softmax d=2,2 a=1 t=2 skip ffn=2:silu", (1, 0), 15, 14),
    ("shift", "layer norm", "lightning d=2,2 a=1 t=2 skip norm=rms bias=qkv", (1, "input"), 10, 8),
    ("shift", "V absorbs: bias v", "lightning d=2,2 a=2 t=2 skip norm=layer bias=qk", (1, "input"), 7, 5),
    ("shift", "K absorbs in lightning: bias k", "lightning d=2,2 a=2 t=2 skip norm=layer bias=qv", (1, "input"), 7, 5),
    ("shift", "K absorbs: no rope", "softmax d=2,2 a=2 t=2 skip norm=layer bias=qv rope", (1, "input"), 10, 8),
    ("shift", "Q absorbs: bias q", "softmax d=2,2 a=2 t=2 skip norm=layer bias=vk", (1, "input"), 6, 5),
    ("shift", "G never absorbs", "lightning d=2,2 a=2 t=1 skip norm=layer bias=u ffn=2:swiglu", (1, "attention"), 16, 14),
    ("shift", "U absorbs: bias u", "lightning d=2,2 a=2 t=1 skip norm=layer ffn=2:2", (1, "attention"), 12, 10),
    ("centre", "the bias of Q", "softmax d=2,2 a=2 t=2 skip norm=layer", (1, "input", "Q", 0), 6, 5),
    ("centre", "the bias of K, with rope", "softmax d=2,2 a=2 t=2 skip norm=layer rope", (1, "input", "K", 0), 10, 8),
    ("centre", "the bias of V", "softmax d=2,2 a=2 t=2 skip norm=layer", (1, "input", "V", 0), 6, 4),
    ("centre", "the bias of K, in lightning", "lightning d=2,2 a=2 t=2 skip norm=layer", (1, "input", "K", 0), 7, 5),
    ("centre", "G never absorbs", "lightning d=2,2 a=2 t=1 skip norm=layer bias=u ffn=2:swiglu", (1, "attention", "G", 0), 16, 14),
    ("ones", "layer norm", "lightning d=2 l=2 a=1 t=2 skip norm=rms bias=o", (1, "attention"), 16, 15),
    ("ones", "bias o, or softmax without dv", "lightning d=2 l=2 a=1 t=2 skip norm=layer bias=v", (1, "attention"), 12, 11),
    ("ones", "no dv", "softmax d=2 l=2 a=1 t=2 skip norm=layer bias=v dv=1", (1, "attention"), 10, 9),
    ("unseen", "no skip, no norm", "softmax d=3,3,3 a=1 t=2 skip ffn=2:silu", (1, "ffn"), 52, 47),
    ("free-mix", "lightning", "softmax d=2,2 a=2 t=2 heads=2", (1, 0, 1), 16, 15),
    ("free-mix", "no rope", "lightning d=2,2 a=2 t=2 heads=2 rope", (1, 0, 1), 18, 17),
    ("free-mix", "one head in each group", "lightning d=2,2 a=2 t=2 heads=4 kv=2", (1, 0, 1), 12, 11),
    ("free-mix", "a = m + 1 with biases q and k", "lightning d=2,2 a=2 t=2 heads=2 bias=qk", (1, 0, 1), 22, 21),
    ("free-mix", "a >= m", "lightning d=2,2 a=1 t=2 heads=2", (1, 0, 1), 12, 11),
    ("free-mix", "full V", "lightning d=2,2 a=2 t=2 heads=2 dv=1", (1, 0, 1), 12, 11),
    ("koszul", "one output", "lightning d=2,2 a=2 t=2 heads=2", (1, 0, 1), 12, 10),
    ("koszul", "bias v only with bias k", "lightning d=2,1 a=2 t=2 heads=2 bias=v", (1, 0, 1), 10, 8),
    ("koszul", "lightning", "softmax d=2,1 a=2 t=2 heads=2", (1, 0, 1), 12, 10),
    ("koszul", "no rope", "lightning d=2,1 a=2 t=2 heads=2 rope", (1, 0, 1), 12, 10),
    ("mlp-basis", "power 1", "mlp d=2,2,2 r=2", (1,), 6, 2),
    ("mlp-rotation", "power 2", "mlp d=2,2,1 r=3", (1,), 4, 3),
    ("mlp-rotation", "one output", "mlp d=2,2,2 r=2", (1,), 6, 5),
    ("block", "full rank at the point: ffn", "lightning d=2,2 a=1 t=2 ffn=2:2", (1, "ffn", 2), 8, 6),
    ("block", "full rank at the point: scores", "softmax d=2,2 a=4 t=2 rope", (1, "scores", 3), 15, 10),
]

Rewrite = tuple[str, str, str, int, int, int, int]
REWRITES: list[Rewrite] = [  # rule, the condition, network, layer, size; dimension, that of the network it would lead to
    ("head-width", "lightning with q and k biases: to m + 1", "lightning d=2,2 a=3 t=3 bias=qk", 1, 2, 12, 11),
    ("head-width", "lightning with bias k, heads sharing keys: to m + 1", "lightning d=2,2 a=4 t=2 bias=k heads=2 kv=1 dv=2", 1, 2, 16, 14),
    ("head-width", "no rope", "softmax d=2,2 a=4 t=3 rope", 1, 2, 16, 10),
    ("head-width", "to m", "softmax d=3,2 a=3 t=2", 1, 2, 15, 14),
    ("head-width", "to m - 1 with LayerNorm", "softmax d=3,3 a=3 t=2 skip norm=layer", 1, 1, 15, 13),
    ("head-width", "softmax, for m - 1 with LayerNorm", "lightning d=3,3 a=3 t=2 skip norm=layer", 1, 2, 17, 16),
    ("hidden-width", "a constant counts (bias v)", "lightning d=1,3,2 a=1 t=2 bias=v", 1, 1, 8, 5),
    ("hidden-width", "a constant counts (bias o)", "lightning d=1,3,2 a=1 t=2 bias=o", 1, 1, 8, 5),
    ("hidden-width", "all rows that read count", "lightning d=4,4,1 a=1 t=2", 1, 2, 16, 14),
    ("hidden-width", "no mlp", "mlp d=3,3,2 r=2", 1, 2, 12, 8),
    ("one-key", "t = 1", "softmax d=2,3 a=2 t=2 heads=2", 1, 1, 20, 9),
    ("one-token", "every query sees its own key only", "softmax d=2,3 a=2 t=2 causal window=2", 1, 1, 10, 6),
    ("group-heads", "lightning", "softmax d=2,2 a=1 t=2 heads=2 kv=1", 1, 1, 9, 7),
    ("group-heads", "with dv, rank of the sum of O (x) Q", "lightning d=2,4 a=1 t=2 heads=3 kv=1 dv=2", 1, 1, 17, 10),
    ("group-heads", "bias q counts", "lightning d=2,4 a=1 t=2 heads=4 kv=1 dv=2 bias=q", 1, 2, 25, 19),
    ("value-width", "bias v counts", "softmax d=2,3 a=1 t=2 dv=4 bias=v", 1, 2, 12, 11),
    ("value-width", "bias v counts with bias o, too, in lightning", "lightning d=2,3 a=1 t=2 dv=3 bias=vo", 1, 2, 14, 13),
    ("value-width", "rows of all heads of a group count", "softmax d=3,1 a=1 t=2 heads=2 kv=1 dv=3", 1, 1, 14, 12),
]

# The conditions in the table of symmetries, row by row: each must stand in ROWS or REWRITES with its words.
CONDITIONS = {
    "gauge": {"rope: only the commutant"},
    "scaling": {"lightning"},
    "head-scaling": {"lightning"},
    "hidden-basis": {"no skip", "no norm", "no skip around an ffn"},
    "key-bias": {"softmax", "no rope"},
    "value-bias": {"softmax", "bias o to go to"},
    "value-bias-pair": {"softmax", "no dv"},
    "push": {"no norm", "with skip a bias leaving the next block", "bias o, or softmax without dv"},
    "push-value": {"softmax", "no norm", "all consumers absorb: bias q", "all consumers absorb: no rope for K", "all consumers absorb: bias u"},
    "dead-query": {"softmax", "one visible key"},
    "dead-key": {"one visible key", "one visible key, with rope, too"},
    "symmetric-key": {
        "lightning", "t = 1 or a stream of rank one", "one query head in the group", "bias q only with bias k", "behind a layer with a = 1 or a width 1",
        "no bias q, k behind a rank-one layer", "no rope behind a rank-one layer", "the rank-one layer has one head", "no skip behind a rank-one layer",
        "no mask behind a rank-one layer", "no window behind a rank-one layer", "no bias o behind a rank-one layer", "no ffn behind a rank-one layer",
    },
    "push-past": {"softmax", "skip", "no norm", "biases that absorb", "no rope without bias k"},
    "push-through": {"power 1", "no norm", "bias o"},
    "symmetric-query": {"bias k only with bias q"},
    "group-sum": {"lightning", "no dv"},
    "head-mix": {"lightning", "one group"},
    "ffn-basis": {"power 1, not 2", "power 1, not silu"},
    "ffn-scaling": {"a power or swiglu"},
    "shift": {
        "layer norm", "V absorbs: bias v", "K absorbs in lightning: bias k", "K absorbs: no rope", "Q absorbs: bias q",
        "G never absorbs", "U absorbs: bias u",
    },
    "centre": {"the bias of Q", "the bias of K, with rope", "the bias of V", "the bias of K, in lightning", "G never absorbs"},
    "ones": {"layer norm", "bias o, or softmax without dv", "no dv"},
    "unseen": {"no skip, no norm"},
    "free-mix": {"lightning", "no rope", "one head in each group", "a = m + 1 with biases q and k", "a >= m", "full V"},
    "koszul": {"one output", "bias v only with bias k", "lightning", "no rope"},
    "mlp-basis": {"power 1"},
    "mlp-rotation": {"power 2", "one output"},
    "block": {"full rank at the point: ffn", "full rank at the point: scores"},
}  # fmt: skip

# Refusals that only say that there is nothing to move: no motion is defined without what they ask for.
EXISTENCE = {
    "head-mix: there is no such head", "group-sum needs a head that is not the first of its group", "value-gauge needs dv", "after ffn needs ffn",
    "the last stream is the output", "value-bias-pair needs a group after the first",
    "there is no bias that produces the constant",
    "the null space is zero", "this field needs a norm", "after attention this field needs ffn", "centre needs norm=layer", "centre-basis needs norm=layer",
    "the last layer has no hidden units", "free-mix needs two heads", "koszul needs two heads", "block: no such part", "block: there is no ffn",
    "block: no such run of layers", "block: the activation is no power", "unseen: the stream may be anything",
    "a constant without biases needs softmax without dv", "push-past needs attention after the stream", "push-past needs bias v, no o",
    "block: scores are for rope",
    "the rank at the point is not full",  # a condition on the point, not on the network
}  # fmt: skip


def frozen(field: str, net: Any) -> list[str]:
    """The tensors that are identities at the point where fields with free scores are taken."""
    if field not in ("free-mix", "koszul"):
        return []
    try:
        R.Chart(net, R.Source(PRIME, SEED), W.frozen(net))
    except R.ReplayError:
        return []
    return list(W.frozen(net))


def counted(row: Row) -> tuple[int, str]:
    """Parameters less the span of the fields that are right and the wrong one, and why the checker refuses that one."""
    field, _, spec, options, _, _ = row
    net = R.parse(spec)
    names = frozen(field, net)
    chart, packed = R.Chart(net, R.Source(PRIME, SEED), names), R.Packed(PRIME)
    known = W.entries(net, names)
    upper = (prove_bounds(parse(spec)).certificate or {})["upper"]
    if (upper["rule"], R.parse(upper["spec"]), upper.get("frozen")) == ("fields", net, names):
        known += upper["fields"]
    right = [v for entry in known for v in _vectors(chart, entry)]
    if field == "gauge":
        wrong = list(full_gauge(chart))
        allowed = packed.rank([packed.pack(v) for v in R.gauge(chart, 1, 0)])
        reason = "gauge" if allowed < len(wrong) else ""
    elif field == "ffn-scaling":
        wrong, reason = [unit_up(chart)], refusal(chart, field, options)
    else:
        wrong = list(LOOSE.FIELDS[field][0](LOOSE.Chart(LOOSE.parse(spec), LOOSE.Source(PRIME, SEED), names), *options))
        reason = refusal(chart, field, options)
    return R.parameters(net) - packed.rank([packed.pack(v) for v in [*right, *wrong]]), reason


def _vectors(chart: Any, entry: Any) -> list[Any]:
    try:
        return list(R.motions(chart, entry))
    except R.ReplayError:  # a block of another prime's rank
        return []


def refusal(chart: Any, field: str, options: tuple[Any, ...]) -> str:
    """The message with which the checker refuses the field."""
    with pytest.raises(R.ReplayError) as caught:
        list(R.FIELDS[field][0](chart, *options))
    return str(caught.value)


def full_gauge(chart: Any) -> Any:
    """dQ = e Q, dK = -e^T K for every e."""
    for e in R.gl(chart.layer(1).a):
        v = R.Motion(chart)
        v.left(e, 1, "Q bq", 0)
        v.left(R.minus(R.transposed(e)), 1, "K bk", 0)
        yield v


def unit_up(chart: Any) -> Any:
    """dU_0 = U_0, dD_0 = -D_0, as if the activation had degree one."""
    v = R.Motion(chart)
    v.left([(0, 0, 1)], 1, "U bu", 0)
    v.right([(0, 0, -1)], 1, "D", 0)
    return v


@pytest.mark.parametrize("row", ROWS, ids=[f"{field}: {condition}" for field, condition, *_ in ROWS])
def test_a_dropped_condition_would_give_too_little(row: Row) -> None:
    _, _, spec, _, dimension, wrong = row
    proof = prove_bounds(parse(spec))
    assert (proof.lower, proof.upper) == (dimension, dimension)
    assert R.replay(dumps(proof.certificate)).verdict == "valid"
    found, reason = counted(row)
    assert reason
    assert found == wrong < dimension


@pytest.mark.parametrize("row", REWRITES, ids=[f"{rule}: {condition}" for rule, condition, *_ in REWRITES])
def test_a_wrong_rewrite_would_give_too_little(row: Rewrite) -> None:
    rule, _, spec, layer, size, dimension, wrong = row
    with pytest.raises(R.ReplayError) as caught:
        R.reduced(R.parse(spec), {"rule": rule, "layer": layer, "size": size})
    assert caught.value.rule == "reduction" and "unknown" not in str(caught.value)
    for text, value in ((spec, dimension), (rewritten(rule, spec, layer, size), wrong)):
        proof = prove_bounds(parse(text))
        assert (proof.lower, proof.upper) == (value, value), text
    assert wrong < dimension


def rewritten(rule: str, spec: str, layer: int, size: int) -> str:
    """The network that a rewrite would lead to."""
    net = LOOSE.parse(spec)
    y = net.layers[layer - 1]
    if rule == "one-token":
        net = net._replace(t=1, causal=False, window=0)
    elif rule == "one-key":
        net = LOOSE.with_layer(net, layer, a=1, heads=1, kv=1, dv=y.kv * y.dv)
    elif rule in ("hidden-width", "consumer-width"):
        net = LOOSE.with_width(net, layer, size)
    else:
        net = LOOSE.with_layer(net, layer, **{{"head-width": "a", "value-width": "dv", "group-heads": "heads"}[rule]: size})
    return str(W.text(net))


def test_every_condition_of_the_table_has_a_row() -> None:
    found: dict[str, set[str]] = {}
    for field, condition, *_ in ROWS:
        assert condition not in found.setdefault(field, set()), (field, condition)
        found[field].add(condition)
    assert found == CONDITIONS
    assert {rule for rule, *_ in REWRITES} >= {"head-width", "hidden-width", "one-key", "one-token", "group-heads", "value-width"}


def test_every_refusal_of_the_checker_has_a_row() -> None:
    """Whatever the checker asks of a field is asked for a reason that a row shows, or there would be nothing to move."""
    tree = ast.parse(Path(R.__file__).read_text(encoding="utf-8"))
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
    names = list(functions)
    inside = [*names[names.index("gauge") : names.index("block_function")], "block_kernel"]
    asked = set()
    for name in inside:
        for call in ast.walk(functions[name]):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "need":
                text = call.args[1]
                first = text.values[0] if isinstance(text, ast.JoinedStr) else text
                assert isinstance(first, ast.Constant)
                asked.add(str(first.value))
    assert len(asked) >= 45
    reasons = {counted(row)[1] for row in ROWS}
    unshown = {text for text in asked if not any(reason.startswith(text) for reason in reasons)}
    assert unshown == EXISTENCE & asked, unshown ^ (EXISTENCE & asked)


def test_deep_rank_one_layers_leave_less_than_the_published_formula() -> None:
    """Fields that the formula of the source misses: it gives 22 and 9, each one more than the dimension."""
    for spec, dimension in (("lightning d=5,4,1 a=1,1 t=2", 21), ("lightning d=2,2,2 a=1,2 t=3", 8)):
        answer = oracle.dimension(spec)
        assert (answer.dimension, answer.label) == (dimension, "proven")


def stated() -> list[tuple[str, Words]]:
    """The claims about fields that the free algebra proves, with their words."""
    return [
        (claim.id, check.subject) for claim in catalogue() if claim.id.startswith("field-")
        for check in claim.checks if isinstance(check.subject, Words) and check.engine is by_free_algebra
    ]  # fmt: skip


def weakened(words: Words) -> list[tuple[str, Words]]:
    """The claim with one of its types, relations or moving letters dropped."""
    made = []
    for k, letter in enumerate(words.types):
        if letter.diagonal or letter.symmetry or letter.commutes:
            plain = replace(letter, diagonal=False, symmetry=0, commutes=frozenset())
            made.append((f"type of {letter.name}", replace(words, types=(*words.types[:k], plain, *words.types[k + 1 :]))))
    for k, relation in enumerate(words.relations):
        rest = words.relations[:k] + words.relations[k + 1 :]
        made.append((f"relation {' = '.join(relation)}", replace(words, relations=rest)))
    for name in words.motion:
        rest = {n: text for n, text in words.motion.items() if n != name}
        made.append((f"motion of {name}", replace(words, motion=rest)))
    return made


ALONE = {  # fields that move one matrix alone each, so that the others may rest
    "field-key-bias": {"bk"}, "field-symmetric-rank-one": {"K", "Q"}, "field-key-null": {"Q"}, "field-query-null": {"K"},
    "field-reader-null": {"K", "Q", "V"}, "field-unread": {"x", "y", "z", "X"}, "field-centre-softmax": {"K"},
}  # fmt: skip
SPARE = {  # types and relations that these claims state and that their proof does not use
    "type of G": {"field-gain", "field-shift", "field-shift-softmax", "field-centre", "field-centre-softmax"},
    "type of e": {"field-shift", "field-shift-softmax", "field-centre", "field-centre-softmax"},
    "relation o' p = 1": {
        "field-value-gauge", "field-hidden-basis-produce", "field-hidden-basis-produce-values", "field-hidden-basis-consume",
        "field-push-consume", "field-reader-null", "field-unread",
    },
    "relation j' z = 0": {"field-centre-softmax"},
}  # fmt: skip


def test_the_free_algebra_refuses_each_claim_with_a_part_dropped() -> None:
    tried, still_proved = 0, []
    for name, words in stated():
        for dropped, weaker in weakened(words):
            tried += 1
            if by_free_algebra(weaker, Deadline(time.monotonic() + 20)).status == "proved":
                still_proved.append((name, dropped))
    assert tried >= 140
    expected = {(claim, f"motion of {name}") for claim, names in ALONE.items() for name in names}
    expected |= {(claim, dropped) for dropped, claims in SPARE.items() for claim in claims}
    assert set(still_proved) == expected
