"""The conformance check: right code passes in every mechanism and framework, and every way to be wrong is found and named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from neuromanifold.numerics.floats import generic_constants
from neuromanifold.numerics.notation import parse
from neuromanifold.oracle.answer import Answer
from neuromanifold.oracle.conformance import check as conformance
from neuromanifold.oracle.conformance.faults import CATALOGUE, recognise, same
from neuromanifold.oracle.conformance.steps import Deviation, run
from neuromanifold.oracle.conformance.symmetry import moved
from neuromanifold.oracle.testing import ModelMismatchError, assert_dimension, check_model

from .exact_rank import exact, labelled

ROWS = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "dimensions.jsonl").open()]
EXTRA = [
    "softmax d=3,3 a=2 t=3 skip norm=layer ffn=3:gelu bias=qkvoud",
    "softmax d=3,3,3 a=2 t=3 skip norm=rms ffn=3:swiglu causal rope",
    "softmax d=4,4 a=2 t=4 heads=4 kv=2 dv=1 causal window=2 alibi bias=qv",
    "softmax d=1,1 a=2 t=3 heads=2 bias=qo alibi",
    "lightning d=4,4 a=4 t=4 heads=2 dv=3 skip causal window=2 rope norm=rms ffn=3:silu",
]


def correct(spec: str, deviation: Deviation | None = None):
    """A forward pass in numpy for one network, right but for the deviation."""
    network = parse(spec)
    constants = {**generic_constants(network), **conformance.real_constants(network, {})}
    return lambda params, x: run(network, params, constants, x[None], deviation)[0]


def test_the_plain_pass_is_the_reference_in_every_mechanism():
    """The pass that knows how to be wrong is right when it is not told to be."""
    specs = [row["spec"] for row in ROWS] + EXTRA
    for spec in specs:
        network = parse(spec)
        params, X = conformance.parameters(network, 1), conformance.inputs(network, 1, 3)
        constants = {**generic_constants(network), **conformance.real_constants(network, {})}
        expected = conformance.reference(network, params, constants, X)
        assert np.abs(run(network, params, constants, X) - expected).max() <= 1e-12 * max(1, np.abs(expected).max()), (
            spec
        )
    assert len(specs) == 261


def test_every_symmetry_moves_parameters_and_not_the_function():
    count = 0
    for spec in [row["spec"] for row in ROWS if row["parameters"] <= 60][::2] + EXTRA:
        network = parse(spec)
        params, X = conformance.parameters(network, 1), conformance.inputs(network, 1, 2)
        constants = {**generic_constants(network), **conformance.real_constants(network, {})}
        before = conformance.reference(network, params, constants, X)
        for symmetry in moved(network, params, 3):
            count += 1
            after = conformance.reference(network, symmetry.params, constants, X)
            assert np.abs(after - before).max() <= 1e-8 * max(1, np.abs(before).max()), (spec, symmetry.name)
            change = max(np.abs(symmetry.params[n] - params[n]).max() for n in params)
            assert change > 1e-4, (spec, symmetry.name)
    assert count > 300


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in ROWS}))
def test_right_code_passes(kind):
    rows = [row for row in ROWS if row["kind"] == kind and row["parameters"] <= 60][:3]
    assert rows
    for row in rows:
        value, parameters = row["dimension"], row["parameters"]
        answer = Answer(row["spec"], value, "proven", value, value, parameters)
        found = check_model(correct(row["spec"]), row["spec"], ask=lambda spec, answer=answer: answer)
        assert (found.rank, found.framework, found.failures) == (value, "numpy", ())


WIDE = [
    "softmax d=4,4,4 a=4 t=4 heads=4 kv=2 dv=4 skip causal window=2 rope bias=qkv",
    "softmax d=4,4,4 a=4 t=3 heads=2 dv=4",
    "lightning d=4,4,4 a=4 t=3 heads=2 kv=1 dv=4 causal",
    "softmax d=4,4,4 a=2 t=3 skip norm=rms ffn=3:swiglu",
]


@pytest.mark.parametrize("spec", WIDE)
def test_every_fault_of_the_catalogue_is_named_with_its_place(spec):
    """Each fault in one layer, and one head where it can have it, by turns: wherever it changes outputs it gets its name."""
    network = parse(spec)
    params, X = conformance.parameters(network, 0), conformance.inputs(network, 0, 3)
    constants = {**generic_constants(network), **conformance.real_constants(network, {})}
    right = run(network, params, constants, X)
    named = 0
    for number, fault in enumerate(CATALOGUE):
        layer, heads = network.layers[number % 2], network.layers[number % 2].heads
        if not fault.applies(network, layer):
            continue
        head = heads - 1 - number % 3 % heads if fault.per_head and heads > 1 else None
        deviation = Deviation(
            fault.step, fault.change, frozenset({layer.index}), None if head is None else frozenset({head})
        )
        outputs = run(network, params, constants, X, deviation)
        found = recognise(network, params, constants, X, outputs, 1e-11)
        if same(right, outputs, 1e-11):
            continue
        context = (fault.name, layer.index, head, [str(f) for f in found])
        # of two heads, the one before head 1 is head 0: one function, two names for whose tensors are read
        match = [f for f in found if f.fault.name.partition(": a head")[0] == fault.name.partition(": a head")[0]]
        assert match, context
        place = f"layer {layer.index}" + ("" if head is None else f", head {head}")
        assert match[0].place in (place, f"layer {layer.index}, every head", "layer and head hidden by nan"), context
        named += 1
    assert named >= 12


def test_the_whole_catalogue_is_reached_by_these_networks():
    layers = [(parse(spec), parse(spec).layers[0]) for spec in WIDE]
    assert [f.name for f in CATALOGUE if not any(f.applies(*at) for at in layers)] == []


SPEC = "softmax d=3,3,3 a=2 t=3 heads=2 dv=2 skip"


def failures(fn, spec=SPEC, **options) -> list[str]:
    return [str(f) for f in conformance.examine(fn, parse(spec), ask=exact, **options).failures]


def test_an_untypical_fault_is_located():
    right = correct(SPEC)

    def wrong(params, x):
        changed = {**params, "2.V": params["2.V"] * np.array([1.0, 1.1])[:, None, None]}
        return right(changed, x)

    found = failures(wrong)
    assert "no typical fault explains them; the difference vanishes without layer 2, V of group 1" in found[0]
    assert "or without layer 2, O of head 1" in found[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda y: y.T[:2], "returns shape"),
        (lambda y: "x", "returns"),
        (lambda y: None, "returns"),
        (lambda y: y.astype(int), "returns int64, not floats"),
        (lambda y: y.astype(np.float16), "too coarse"),
        (lambda y: y + np.nan, "outputs are not finite"),
        (lambda y: y + 1e-9, "outputs differ from the reference by 1e-09"),
        (lambda y: 1 / 0, "raises ZeroDivisionError at test_conformance.py"),
    ],
)
def test_outputs_that_are_wrong_in_other_ways(change, says):
    right = correct(SPEC)
    assert says in failures(lambda params, x: change(right(params, x)))[0]


def test_a_transposed_output_is_recognised():
    spec = "softmax d=4,4 a=2 t=3"
    assert "tokens as rows (tokens='rows')" in failures(lambda p, x: correct(spec)(p, x).T, spec)[0]
    assert not failures(lambda p, x: correct(spec)(p, x.T).T, spec, tokens="rows")


def test_the_stated_error_bound_is_what_counts():
    right = correct(SPEC)
    assert failures(lambda params, x: right(params, x) * (1 + 3e-12))
    assert not failures(lambda params, x: right(params, x) * (1 + 3e-12), tolerance=1e-11)


def test_a_broken_symmetry_is_named_with_layer_head_and_parameters():
    """Weight decay on one head's keys: it changes no output much, and breaks the gauge of that head alone."""
    right = correct(SPEC)
    found = failures(lambda p, x: right(p, x) + 1e-3 * (p["2.K"][1] ** 2).sum())
    broken = [f for f in found if f.startswith("symmetry")]
    assert broken and all("layer 2" in f and "2.K" in f for f in broken)
    assert any("symmetry: layer 2, group 1, parameters 2.Q[1], 2.K[1]: gauge should leave" in f for f in found)


def test_a_dimension_that_is_not_certified_is_undecided_and_another_one_a_failure():
    spec = "lightning d=3,3 a=2 t=2 skip"
    found = conformance.examine(correct(spec), parse(spec), ask=labelled("numerical", 1)).failures
    assert [(f.what, f.undecided) for f in found] == [("rank", True)]
    assert not conformance.examine(
        correct(spec), parse(spec), ask=labelled("numerical", 1), require="numerical"
    ).failures
    lie = Answer(spec, 17, "proven", 17, 17, 21)
    (failure,) = conformance.examine(correct(spec), parse(spec), ask=lambda s: lie).failures
    assert "numerical rank 16, the dimension is 17 (proven)" in failure.message and not failure.undecided


def jax_attention(params, x, stop=None, axis=0, where=True):
    import jax
    import jax.numpy as jnp

    for layer in (1, 2):
        total = x
        for head in range(2):
            q, k, v, o = (params[f"{layer}.{name}"][head] for name in "QKVO")
            if stop == (layer, head):
                k = jax.lax.stop_gradient(k)
            scores = (k @ x).T @ (q @ x)
            mask = jnp.triu(jnp.ones(scores.shape, dtype=bool))
            weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=axis)
            if not where:  # the square root has no derivative at 0
                weights = weights + 0 * jnp.sqrt((scores - scores) ** 2)
            total = total + o @ (v @ x) @ weights
        x = total
    return x


def test_jax():
    spec = SPEC + " causal"
    found = check_model(jax_attention, spec, ask=exact)
    assert found.framework == "jax" and found.tolerance < 1e-11 and found.rank == exact(spec).dimension
    with pytest.raises(ModelMismatchError, match="softmax over the wrong axis"):
        check_model(lambda p, x: jax_attention(p, x, axis=1), spec, ask=exact)
    with pytest.raises(ModelMismatchError, match=r"numerical rank \d+, the dimension is") as error:
        check_model(lambda p, x: jax_attention(p, x, stop=(2, 1)), spec, ask=exact)
    assert {f.what for f in error.value.conformance.failures} == {"rank"}
    with pytest.raises(ModelMismatchError, match=r"gradients: layer 1, head 0, parameter Q.*not finite"):
        check_model(lambda p, x: jax_attention(p, x, where=False), spec, ask=exact)


def test_an_adapter_translates_the_parameters():
    class Mine:
        def __init__(self, params):
            self.query, self.key, self.value = (params[f"1.{n}"][0].T for n in "QKV")

    def fn(mine, x):
        scores = (x.T @ mine.key) @ (x.T @ mine.query).T
        return mine.value.T @ x @ scores

    spec = "lightning d=3,2 a=2 t=3"
    assert check_model(fn, spec, adapter=Mine, ask=exact).rank == exact(spec).dimension
    with pytest.raises(ModelMismatchError, match="raises AttributeError"):
        check_model(fn, spec, ask=exact)


@pytest.mark.parametrize(
    "options",
    [
        {"framework": "tf"},
        {"tokens": "both"},
        {"require": "sure"},
        {"constants": {"slope": 1}},
        {"constants": {"angles": [1, 2, 3]}},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError):
        check_model(correct("softmax d=2,2 a=2 t=2 rope"), "softmax d=2,2 a=2 t=2 rope", ask=exact, **options)
    with pytest.raises(ValueError, match="check a smaller one"):
        check_model(correct(SPEC), "softmax d=64,64 a=16 t=4", ask=exact)


def test_assert_dimension_shows_everything_needed():
    assert assert_dimension("lightning d=3,3 a=2 t=2 skip", 16, ask=exact).dimension == 16
    assert (
        assert_dimension("lightning d=3,3 a=2 t=2 skip", 16, "numerical", ask=labelled("numerical", 1)).label
        == "numerical"
    )
    with pytest.raises(AssertionError) as error:
        assert_dimension("lightning d=3,3 a=2 t=2 skip", 17, ask=exact)
    assert str(error.value).splitlines() == [
        "lightning d=3,3 a=2 t=2 skip: the claimed dimension is refuted",
        "  claimed:   17",
        "  certified: dimension = 16 (proven)",
        "  label:     proven (required: proven)",
        "  gap:       0",
        '  reproduce: neuromanifold dimension "lightning d=3,3 a=2 t=2 skip" --require proven',
    ]
    with pytest.raises(AssertionError, match="undecided at the required label 'proven'"):
        assert_dimension("lightning d=3,3 a=2 t=2 skip", 16, ask=labelled("numerical", 1))
    for value in (True, 1.5, "16"):
        with pytest.raises(ValueError):
            assert_dimension("lightning d=3,3 a=2 t=2 skip", value, ask=exact)
