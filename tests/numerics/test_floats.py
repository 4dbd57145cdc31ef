"""Floats in numpy and JAX against exact arithmetic, within a running error bound; precision, devices and switches."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from neuromanifold.numerics.evaluate import evaluate, jacobian
from neuromanifold.numerics.floats import GELU, Floats, forward, generic_constants, parameter_jacobian, uniform
from neuromanifold.numerics.forward import record
from neuromanifold.numerics.network import Network
from neuromanifold.numerics.notation import parse
from neuromanifold.numerics.program import Program
from neuromanifold.numerics.rings import NotInvertible, Rationals

SPECS = (
    "lightning d=2,3 a=2 t=2",
    "lightning d=3,2,3 a=2 t=3 heads=4 kv=2 dv=2 causal rope",
    "lightning d=2,2 a=1 t=3 skip causal window=2 ffn=3:3 bias=ud",
    "lightning d=3,3 a=2 t=2 skip norm=rms ffn=2:silu",
    "softmax d=2,2,2 a=2 t=2",
    "softmax d=2,2 a=2 t=3 heads=2 causal rope bias=qkvo",
    "softmax d=2,3 a=1 t=3 heads=2 kv=1 dv=2 causal window=2 alibi",
    "softmax d=1,2 a=2 t=3 causal alibi bias=qk",
    "softmax d=2,2 a=2 t=1 skip ffn=2:gelu bias=ud",
    "softmax d=3,3 a=2 t=2 skip norm=layer ffn=3:swiglu bias=u",
    "mlp d=2,3,2,1 r=3",
)
MANY_DIGITS = mpmath.MPContext()  # its own precision, not mpmath's global one
MANY_DIGITS.dps = 60
SAFETY = 2  # the bounds are of first order


class Reals(Rationals):
    """Object arrays of 60-digit floats, beside which the errors of float64 stand out; exponentials and roots are real ones."""

    formal = False

    def lift(self, array: Any) -> Any:
        array = np.asarray(array)
        return entrywise(many_digits, array)

    def reciprocal(self, x: Any) -> Any:
        if any(v == 0 for v in np.ravel(x)):
            raise NotInvertible("0")
        return entrywise(lambda v: 1 / v, x)

    def root(self, x: Any) -> Any:
        return entrywise(lambda v: 1 / MANY_DIGITS.sqrt(v), x)

    def exp(self, x: Any, exponentials: Any) -> Any:
        return entrywise(MANY_DIGITS.exp, x)


def many_digits(value: Any) -> Any:
    if isinstance(value, Fraction):
        return MANY_DIGITS.mpf(value.numerator) / value.denominator
    return MANY_DIGITS.mpf(value if isinstance(value, MANY_DIGITS.mpf) else float(value))


def entrywise(function: Any, array: Any) -> Any:
    result = np.empty(np.size(array), dtype=object)
    result[:] = [function(v) for v in np.ravel(array)]
    return result.reshape(np.shape(array))


def error(got: Any, exact: Any) -> Any:
    """|got - exact|, each entry, without the rounding of a subtraction in float64."""
    return np.abs(np.asarray(entrywise(many_digits, got) - exact, dtype=object).astype(np.float64))


class Running:
    """Values with first-order bounds of their rounding errors (Higham, Accuracy and Stability, section 3.3), unit roundoff u.

    An array is a pair (value, error). Sums of k products, in any order: (k + 1) u sum |x y| beside the errors of the operands.
    """

    formal = False

    def __init__(self, u: float):
        self.u = u
        self.floats = Floats()

    def lift(self, array: Any) -> Any:
        value = self.floats.lift(array)
        return value, self.u * np.abs(value)

    def einsum(self, left: str, right: str, out: str, x: Any, y: Any) -> Any:
        def product(a: Any, b: Any) -> Any:
            return self.floats.einsum(left, right, out, a, b)

        sizes = dict(zip(left, x[0].shape, strict=True))
        k = math.prod(s for c, s in sizes.items() if c not in out)
        rounding = (k + 1) * self.u * product(np.abs(x[0]), np.abs(y[0]))
        return product(x[0], y[0]), product(x[1], np.abs(y[0])) + product(np.abs(x[0]), y[1]) + rounding

    def add(self, x: Any, y: Any) -> Any:
        value = x[0] + y[0]
        return value, x[1] + y[1] + self.u * np.abs(value)

    def mul(self, x: Any, y: Any) -> Any:
        value = x[0] * y[0]
        return value, np.abs(x[0]) * y[1] + np.abs(y[0]) * x[1] + self.u * np.abs(value)

    def reciprocal(self, x: Any) -> Any:
        return 1 / x[0], x[1] / x[0] ** 2 + 2 * self.u / np.abs(x[0])

    def root(self, x: Any) -> Any:
        value = 1 / np.sqrt(x[0])
        return value, value * (x[1] / x[0] / 2 + 3 * self.u)

    def exp(self, x: Any, exponentials: Any) -> Any:
        value, error = x
        if exponentials.normalised:  # the subtraction of the largest exponent errs too
            top = np.max(np.abs(value), axis=-2, keepdims=True)
            error = error + np.max(error, axis=-2, keepdims=True) + self.u * (np.abs(value) + top)
        result = self.floats.exp(value, exponentials)
        return result, result * (error + 4 * self.u)


def real_point(network: Network, seed: int, inputs: int | None = None) -> tuple[Program, dict[str, Any]]:
    """The program and float64 bindings of everything it reads."""
    bindings = {name: uniform(seed, name, shape) for name, shape in network.parameter_shapes()}
    lead = (inputs,) if inputs else ()
    bindings["X"] = uniform(seed, "X", (*lead, network.d[0], network.t))
    return record(network), bindings | generic_constants(network)


def split(network: Network, bindings: dict[str, Any]) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    names = {name for name, _ in network.parameter_shapes()}
    rest = {k: v for k, v in bindings.items() if k not in names and k != "X"}
    return {k: v for k, v in bindings.items() if k in names}, bindings["X"], rest


@pytest.mark.parametrize("spec", SPECS)
def test_forward_within_the_running_error_bound(spec):
    """JAX and numpy in both precisions against 60 digits."""
    network = parse(spec)
    program, bindings = real_point(network, 1)
    exact = evaluate(program, Reals(), bindings)[program.output].array
    params, X, constants = split(network, bindings)
    for dtype in ("float64", "float32"):
        u = float(np.finfo(dtype).eps) / 2
        bound = SAFETY * evaluate(program, Running(u), bindings)[program.output].array[1]
        by_numpy = evaluate(program, Floats(dtype), bindings)[program.output].array
        by_jax = forward(network, params, X, constants=constants, dtype=dtype)
        for got in (by_numpy, by_jax):
            assert got.dtype == dtype and got.shape == (network.d[-1], network.t)
            assert np.all(error(got, exact) <= bound), spec
        assert np.max(bound) < 1e5 * u, "the bound says nothing"


def test_random_programs_within_the_running_error_bound(cases):
    """All values of random programs; those with huge exponents or ill-conditioned beyond sense are left out and counted."""
    compared = by_jax = 0
    for case in cases:
        if not case.name.startswith("program"):
            continue
        with np.errstate(all="ignore"):
            running = [v.array for v in evaluate(case.program, Running(2.0**-53), case.bindings)]
        try:
            exact = [v.array for v in evaluate(case.program, Reals(), case.bindings)]
        except NotInvertible:
            continue
        if not all(np.all(np.abs(value) < 1e6) and np.all(bound < 1e-6) for value, bound in running):
            continue
        got = [[v.array for v in evaluate(case.program, Floats(), case.bindings)]]
        if by_jax < 8:
            by_jax += 1
            with jax.enable_x64(True):
                got.append([np.asarray(v) for v in jax.jit(all_values(case.program))(floats(case.bindings))])
        for values in got:
            for mine, true, (_, bound) in zip(values, exact, running, strict=True):
                assert mine.dtype == np.float64
                assert np.all(error(mine, true) <= SAFETY * bound), case.name
                compared += 1
    assert compared > 500 and by_jax == 8, (compared, by_jax)


def all_values(program: Program) -> Any:
    return lambda bindings: [v.array for v in evaluate(program, Floats(jax=True), bindings)]


def floats(bindings: dict[str, Any]) -> dict[str, Any]:
    return {k: np.asarray(v).astype(np.float64) for k, v in bindings.items()}


@pytest.mark.parametrize("spec", SPECS[1::2])
def test_jacobians(spec):
    """Forward mode over 60 digits, numpy forward mode, JAX reverse mode and differences agree; 10^-13 of the largest entry."""
    network = parse(spec)
    program, bindings = real_point(network, 2, inputs=2)
    exact = jacobian(program, Reals(), bindings)
    params, X, constants = split(network, bindings)
    by_numpy = jacobian(program, Floats(), bindings)
    by_jax = parameter_jacobian(network, params, X, constants=constants)
    assert by_numpy.shape == by_jax.shape == exact.shape == (2 * network.d[-1] * network.t, network.parameters)
    scale = 1 + np.max(np.abs(exact)).__float__()
    for got in (by_numpy, by_jax):
        assert np.max(error(got, exact)) <= 1e-13 * scale
    columns, differences = by_differences(network, program, bindings)
    assert len(columns) >= 3 and np.max(error(differences, exact[:, columns])) <= 1e-30 * scale


def by_differences(network: Network, program: Program, bindings: dict[str, Any]) -> tuple[list[int], Any]:
    """Central differences by the last entry of each tensor, 60 digits, step 10^-20: errors of 10^-40. Columns and derivatives."""
    h = MANY_DIGITS.mpf(10) ** -20
    columns, derivatives, before = [], [], 0
    for name, shape in network.parameter_shapes():
        before += math.prod(shape)
        columns.append(before - 1)
        sides = []
        for step in (h, -h):
            moved = Reals().lift(bindings[name])
            moved[tuple(s - 1 for s in shape)] += step
            sides.append(evaluate(program, Reals(), {**bindings, name: moved})[program.output].array)
        derivatives.append(np.ravel((sides[0] - sides[1]) / (2 * h)))
    return columns, np.stack(derivatives, axis=1)


def test_jax_forward_mode_agrees():
    """JAX's own forward mode through the ring of JAX floats."""
    network = parse("softmax d=2,2 a=2 t=3 heads=2 causal rope bias=qkvo")
    program, bindings = real_point(network, 2, inputs=2)
    params, X, constants = split(network, bindings)

    def f(params: dict[str, Any]) -> Any:
        return evaluate(program, Floats(jax=True), {**params, **constants, "X": X})[program.output].array

    with jax.enable_x64(True):
        found = jax.jit(jax.jacfwd(f))(params)
    got = np.concatenate([np.reshape(found[k], (2 * network.d[-1] * network.t, -1)) for k in params], axis=1)
    assert np.max(np.abs(got - jacobian(program, Floats(), bindings))) <= 1e-14


def test_lying_floats_are_caught():
    """The same bound catches a product wrong by one part in 10^12, an exponential without its shift, a float32 in disguise."""
    network = parse("softmax d=2,2 a=2 t=3 heads=2 causal rope bias=qkvo")
    program, bindings = real_point(network, 1)
    exact = evaluate(program, Reals(), bindings)[program.output].array
    bound = SAFETY * evaluate(program, Running(2.0**-53), bindings)[program.output].array[1]

    class Mul(Floats):
        def mul(self, x, y):
            return super().mul(x, y) * (1 + 1e-12)

    class Exp(Floats):
        def exp(self, x, exponentials):
            return super().exp(x, exponentials) * (1 + 1e-12 * x)

    class Narrow(Floats):
        def einsum(self, *args):
            return super().einsum(*args).astype(np.float32).astype(np.float64)

    for liar in (Mul, Exp, Narrow):
        got = evaluate(program, liar(), bindings)[program.output].array
        assert np.any(error(got, exact) > bound), liar.__name__


def test_softmax_survives_huge_scores():
    network = parse("softmax d=2,2 a=2 t=4 causal window=2")
    params = {name: 1e4 * uniform(0, name, shape) for name, shape in network.parameter_shapes()}
    X = uniform(0, "X", (2, 4))
    for dtype in ("float64", "float32"):
        y = forward(network, params, X, dtype=dtype)
        assert np.all(np.isfinite(y))
    J = parameter_jacobian(network, params, X[None])
    assert np.all(np.isfinite(J))


def test_many_inputs_are_as_one_by_one():
    network = parse("softmax d=3,3 a=2 t=3 skip norm=rms ffn=2:swiglu")
    params = {name: uniform(0, name, shape) for name, shape in network.parameter_shapes()}
    X = uniform(0, "X", (3, 3, 3))
    together = forward(network, params, X)
    assert together.shape == (3, 3, 3)
    for x, y in zip(X, together, strict=True):
        assert np.allclose(forward(network, params, x), y, rtol=1e-14, atol=1e-14)


def test_constants_are_consistent_and_seeded():
    network = parse("softmax d=2,2 a=4 t=2 heads=3 rope alibi")
    one, two, other = generic_constants(network, 1), generic_constants(network, 1), generic_constants(network, 2)
    assert np.array_equal(one["alibi"], np.exp(one["alibi-slope"])) and one["alibi"].shape == (3,)
    assert one["rope"].shape == (2,) and len(set(one["rope"])) == 2
    for name in ("rope", "alibi"):
        assert np.array_equal(one[name], two[name]) and not np.array_equal(one[name], other[name])
    z = 0.7
    tanh_form = z / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    assert math.isclose(z / (1 + math.exp(-GELU * (z + 0.044715 * z**3))), tanh_form, rel_tol=1e-15)


def test_width_one_alibi_is_the_same_function():
    """Width-one layers multiply by exp(m_h)^(i-j) where wider ones add m_h (i-j): padding the width shows the same outputs."""
    narrow, wide = parse("softmax d=1,1 a=2 t=3 causal alibi bias=q"), parse("softmax d=2,1 a=2 t=3 causal alibi bias=q")
    params = {name: uniform(3, name, shape) for name, shape in narrow.parameter_shapes()}
    padded = {k: v if k == "1.bq" else np.concatenate([v, np.ones_like(v)], axis=-1) for k, v in params.items()}
    X = uniform(3, "X", (1, 3))
    assert np.allclose(forward(narrow, params, X), forward(wide, padded, np.concatenate([X, 0 * X])), rtol=1e-14)


def test_bad_arrays_are_refused():
    network = parse("lightning d=2,2 a=1 t=2")
    params = {name: uniform(0, name, shape) for name, shape in network.parameter_shapes()}
    X = uniform(0, "X", (2, 2))
    with pytest.raises(ValueError, match=r"1\.K"):
        forward(network, {k: v for k, v in params.items() if k != "1.K"}, X)
    with pytest.raises(ValueError, match="extra"):
        forward(network, {**params, "extra": X}, X)
    with pytest.raises(ValueError, match=r"1\.V has shape"):
        forward(network, {**params, "1.V": X}, X)
    with pytest.raises(ValueError, match="X has shape"):
        forward(network, params, X[:1])
    with pytest.raises(ValueError, match="inputs in front"):
        parameter_jacobian(network, params, X)
    with pytest.raises(ValueError, match="float16"):
        Floats("float16")


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_64_bits_are_on_around_the_call_only():
    network = parse("lightning d=2,2 a=1 t=2")
    params = {name: uniform(0, name, shape) for name, shape in network.parameter_shapes()}
    X = uniform(0, "X", (2, 2))
    assert jnp.zeros(1).dtype == np.float32
    assert forward(network, params, X).dtype == np.float64
    assert jnp.zeros(1).dtype == np.float32
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(forward(network, params, X).dtype))
    thread.start()
    thread.join()
    assert seen == [np.float64]
    with pytest.raises(TypeError, match="64 bits are off"):
        Floats("float64", jax=True).lift(X)
    with jax.enable_x64(True):
        assert forward(network, params, X, dtype="float32").dtype == np.float32


def test_numpy_floats_do_not_load_jax():
    """And the check can fail: loading jax is seen."""
    code = "import sys; from neuromanifold.numerics import floats, estimate; {}; sys.exit('jax' in sys.modules)"
    for extra, status in (("floats.Floats()", 0), ("floats.Floats(jax=True)", 1)):
        assert subprocess.run([sys.executable, "-c", code.format(extra)], check=False).returncode == status


def test_uniform_is_reproducible():
    """Known answers: the words of a label do not depend on numpy's generators."""
    assert uniform(0, "X", (2,)).tolist() == uniform(0, "X", (3,)).tolist()[:2]
    assert np.all(uniform(0, "X", (1000,), 2.0, 3.0) >= 2.0) and np.all(uniform(0, "X", (1000,), 2.0, 3.0) < 3.0)
