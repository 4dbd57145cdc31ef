"""The strategies: what they draw is what they say, shrinks to readable things, and is quiet under default profiles."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from neuromanifold.numerics.evaluate import evaluate
from neuromanifold.numerics.floats import Floats, generic_constants
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.rings import PrimeField, Rationals
from neuromanifold.oracle import strategies as nm
from neuromanifold.oracle.fuzz.domain import SWITCHES, Domain
from neuromanifold.oracle.fuzz.edges import mechanisms
from neuromanifold.oracle.verify import verify

quiet = settings(deadline=None, derandomize=True, max_examples=20, suppress_health_check=list(HealthCheck))


def outputs(network, params, X):
    values = evaluate(record(network), Floats(), {**params, **generic_constants(network), "X": X})
    return np.asarray(values[-1].array, dtype=np.float64)


@quiet
@given(nm.networks(kinds=("softmax", "mlp"), max_parameters=30, max_layers=2, mechanisms=("skip", "ffn", "bias")))
def test_networks_are_of_the_domain(network):
    assert network.kind != "lightning"
    assert network.parameters <= 30 and network.l <= 2
    assert set(mechanisms(network)) <= {"softmax", "mlp", "deep", "skip", "ffn", "bias"}
    assert parse(str(network)) == network


def test_networks_shrink_to_small_lines():
    strategy = nm.networks(mechanisms=SWITCHES)
    for wanted in ("kv", "norm"):
        assert len(str(find(strategy, lambda n, wanted=wanted: wanted in mechanisms(n), settings=settings(quiet, max_examples=400)))) < 50
    assert str(find(strategy, lambda n: n.d[0] >= 3, settings=settings(quiet, max_examples=400))) == "mlp d=3,1 r=2"
    found = find(strategy, lambda n: n.kind == "softmax" and n.causal and n.d[0] >= 3, settings=settings(quiet, max_examples=400))
    assert found.l == 1 and found.t == 1 and len(str(found)) < 45  # fewest choices: skip saves widths


def test_a_failure_shows_the_line():
    assert repr(find(nm.networks(("mlp",)), lambda n: n.l == 2, settings=quiet)) == "Network('mlp d=1,1,1 r=2')"


@pytest.mark.parametrize("wrong", [{"kinds": ("softmx",)}, {"kinds": ()}, {"mechanisms": ("heds",)}, {"max_parameters": 0}])
def test_wrong_words_are_named(wrong):
    with pytest.raises(ValueError, match=r"there are|smallest has"):
        nm.networks(**wrong)


@quiet
@given(st.data())
def test_parameters_and_inputs_have_the_network_shapes(data):
    network = data.draw(nm.networks(max_parameters=30))
    ring = data.draw(st.sampled_from([None, Rationals(), PrimeField()]))
    params = data.draw(nm.parameters(network, ring))
    assert {n: np.shape(p) for n, p in params.items()} == dict(network.parameter_shapes())
    assert np.shape(data.draw(nm.inputs(network, ring))) == (network.d[0], network.t)


@quiet
@given(st.data())
def test_symmetries_change_no_function(data):
    network = data.draw(nm.networks(max_parameters=30, max_layers=2))
    first, second = data.draw(nm.equivalent_pairs(network))
    X = data.draw(nm.inputs(network)) / 4
    one, other = ({k: p / 3 for k, p in first.items()}, None)
    known = nm.symmetries(network)
    if not known.is_empty:
        other = data.draw(known)(one)
        assert np.allclose(outputs(network, one, X), outputs(network, other, X), rtol=1e-6, atol=1e-8)
    assert first.keys() == second.keys()


def test_some_pair_is_no_identity():
    network = parse("lightning d=2,2 a=2 t=2 heads=2")
    pair = find(nm.equivalent_pairs(network), lambda p: any(not np.allclose(p[0][k], p[1][k]) for k in p[0]), settings=settings(quiet, phases=[Phase.generate]))
    X = np.array([[1.0, 2.0], [0.5, -1.0]])
    assert np.allclose(outputs(network, pair[0], X), outputs(network, pair[1], X), rtol=1e-6)


@settings(quiet, max_examples=10)
@given(nm.certificates())
def test_certificates_are_valid(text):
    assert verify(text).verdict == "valid"


def test_the_type_is_registered():
    assert isinstance(find(st.from_type(Network), lambda n: n.l == 2, settings=quiet), Network)


@quiet
@given(nm.networks())
def test_the_domain_contains_what_is_drawn(network):
    assert network in Domain()


FOREIGN = """
    from hypothesis import given, strategies as st
    from neuromanifold.oracle import strategies as nm

    @given(nm.networks())
    def test_networks(network):
        assert network.parameters <= 60

    @given(nm.certificates())
    def test_certificates(text):
        assert text.startswith("{")

    @given(st.data())
    def test_parameters(data):
        network = data.draw(nm.networks(max_parameters=40))
        data.draw(nm.parameters(network))
        data.draw(nm.inputs(network))

    @given(st.data())
    def test_pairs(data):
        network = data.draw(nm.networks(max_parameters=20, max_layers=1))
        data.draw(nm.equivalent_pairs(network))
"""


def test_a_foreign_project_under_default_profiles(tmp_path):
    """No deadline and no health check of the default profile fails from our side."""
    (tmp_path / "test_foreign.py").write_text(textwrap.dedent(FOREIGN))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "4 passed" in done.stdout, done.stdout
    assert "warning" not in done.stdout.lower()


def test_importing_hypothesis_loads_nothing_of_ours_that_is_heavy():
    code = "import hypothesis, sys; print([m for m in ('numpy', 'jax', 'sympy', 'neuromanifold.oracle.strategies') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done
