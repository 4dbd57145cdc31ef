"""Every ring against exact rationals, on random programs of all ten instructions and networks of every mechanism.

`disagreements` is the suite; the rings of this program must pass it and rings that lie must not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
import z3
from neuromanifold.numerics.evaluate import evaluate, jacobian
from neuromanifold.numerics.patterns import Patterns
from neuromanifold.numerics.program import Program
from neuromanifold.numerics.rings import NotInvertible, PrimeField, Rationals
from neuromanifold.verifiers.symbolic import Symbolic, symbols
from neuromanifold.verifiers.z3ring import Z3Reals, variables

PRIMES = (2_097_143, 1_048_583, 10_007, 134_217_487)
Agrees = Callable[[Any, Any], bool]


def disagreements(ring: Any, cases: Iterable[Any], agrees: Agrees, jacobians: bool = True) -> tuple[int, list[str]]:
    """How many arrays were compared, and the names of the cases in which the ring differs from the rationals.

    Compared: the value of each instruction, and the Jacobian. Cases in which a denominator vanishes in the ring are left out.
    """
    compared, wrong = 0, []
    for case in cases:
        try:
            got = evaluate(case.program, ring, case.bindings)
        except NotInvertible:
            continue
        same = []
        for step, mine, exact in zip(case.program.instructions, got, case.values, strict=True):
            square = step.operation == "root"  # a root in GF(p) is one of two; what is made of it here is its square
            same.append(agrees(ring.mul(mine.array, mine.array), exact * exact) if square else agrees(mine.array, exact))
        if jacobians:
            same.append(agrees(jacobian(case.program, ring, case.bindings), exact_jacobian(case)))
        compared += len(same)
        if not all(same):
            wrong.append(case.name)
    return compared, wrong


_jacobians: dict[int, Any] = {}


def exact_jacobian(case: Any) -> Any:
    """The Jacobian over the rationals, computed once a case."""
    if id(case) not in _jacobians:
        _jacobians[id(case)] = jacobian(case.program, Rationals(), case.bindings)
    return _jacobians[id(case)]


def modulo(ring: PrimeField) -> Agrees:
    def agrees(mine: Any, exact: Any) -> bool:
        try:
            residues = ring.integers(ring.lift(exact))
        except NotInvertible:
            return True  # the rational has no residue
        return np.shape(mine) == np.shape(exact) and np.array_equal(ring.integers(np.asarray(mine)), residues)

    return agrees


def equal(mine: Any, exact: Any) -> bool:
    as_fractions = [Fraction(int(v.p), int(v.q)) if isinstance(v, sympy.Rational) else v for v in np.ravel(mine)]
    return np.shape(mine) == np.shape(exact) and as_fractions == list(np.ravel(exact))


def allows(mine: Any, exact: Any) -> bool:
    """A pattern allows a value if it is zero where the pattern says so."""
    zero = np.array([v == 0 for v in np.ravel(exact)]).reshape(np.shape(exact))
    return np.shape(mine) == np.shape(exact) and bool(np.all(zero | np.asarray(mine)))


@pytest.mark.parametrize("p", PRIMES)
def test_prime_fields(p, cases):
    ring = PrimeField(p)
    compared, wrong = disagreements(ring, cases, modulo(ring))
    assert not wrong
    assert compared > 2_500, compared


def test_rationals_conform_to_themselves(cases):
    compared, wrong = disagreements(Rationals(), cases, equal)
    assert not wrong and compared > 2_500, compared


def test_sympy_numbers(cases):
    chosen = cases[::3]
    compared, wrong = disagreements(Symbolic(), chosen, equal)
    assert not wrong
    assert compared > 800, compared


def test_zero_patterns(cases):
    """What a pattern calls zero is zero, for values and derivatives; and patterns do find zeros."""

    class WithUnits(Patterns):
        formal = True  # the units of the point, as in the rationals

    compared, wrong = disagreements(WithUnits(), cases, allows)
    assert not wrong
    assert compared > 2_500, compared
    found = sum(int(np.sum(~jacobian(c.program, WithUnits(), c.bindings))) for c in cases)
    exact = sum(int(np.sum(np.vectorize(lambda v: v == 0)(exact_jacobian(c)))) for c in cases)
    assert exact >= found > exact / 2, (found, exact)


def test_sympy_symbols_evaluated(cases):
    """Symbols, then numbers: the output as an expression, evaluated at the point."""
    compared = 0
    for case in single_small(cases):
        bound = symbols(case.program)
        output = evaluate(case.program, Symbolic(), bound)[case.program.output].array
        point = {s: Symbolic().lift(v).item() for s, v in assignments(bound, case.bindings)}
        got = np.array([e.xreplace(point) for e in np.ravel(output)], dtype=object).reshape(np.shape(output))
        assert equal(got, case.values[case.program.output]), case.name
        compared += 1
    assert compared >= 15, compared


def test_z3_evaluated(cases):
    """The equations of reciprocals and roots have a solution at the point, and in it the outputs are the exact ones."""
    compared = 0
    for case in single_small(cases):
        ring = Z3Reals(z3.Context())
        bound = variables(case.program, ring)
        output = evaluate(case.program, ring, bound)[case.program.output].array
        solver = z3.Solver(ctx=ring.context)
        solver.set("rlimit", 20_000_000)
        solver.add(*ring.equations())
        solver.add(*[s == ring.lift(np.array(v)).item() for s, v in assignments(bound, case.bindings)])
        exact = case.values[case.program.output]
        pairs = list(zip(np.ravel(output), np.ravel(ring.lift(exact)), strict=True))
        assert solver.check() == z3.sat, case.name
        solver.add(z3.Or([a != b for a, b in pairs]))
        assert solver.check() == z3.unsat, case.name
        compared += 1
    assert compared >= 15, compared


def single_small(cases: Iterable[Any]) -> list[Any]:
    """Cases of one input that are small enough to be expanded in symbols."""
    return [c for c in cases if np.ndim(c.bindings["X"]) == 2 and len(c.program.instructions) < 22][:25]


def assignments(bound: dict[str, Any], bindings: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Each symbol with its value, once."""
    pairs = {}
    for label, array in bound.items():
        for symbol, value in zip(np.ravel(array), np.ravel(bindings[label]), strict=True):
            pairs[str(symbol)] = (symbol, value)
    return list(pairs.values())


def test_rings_refuse_what_they_cannot_represent():
    for ring in (PrimeField(), Rationals(), Symbolic(), Z3Reals()):
        with pytest.raises(TypeError):
            ring.lift(np.array([0.5]))
        with pytest.raises(TypeError):
            ring.lift(np.array([0.5], dtype=object))
        if not isinstance(ring, Symbolic):
            with pytest.raises(TypeError, match="unit of the point"):
                ring.exp(ring.lift(np.array([1])), None)
    for ring in (PrimeField(), Rationals(), Symbolic(), Patterns()):
        for unary in (ring.reciprocal, ring.root):
            with pytest.raises(NotInvertible):
                unary(ring.lift(np.array([1, 0])))
    with pytest.raises(NotInvertible):
        Rationals().root(Rationals().lift(np.array([2])))
    with pytest.raises(NotInvertible):
        PrimeField(11).lift(np.array([Fraction(1, 22)], dtype=object))


def test_prime_field_refuses_composites_and_sizes():
    for p in (1, 2, 9, 2_097_141, 1 << 27, 134_217_757):
        with pytest.raises(ValueError, match=str(p)):
            PrimeField(p)
    with pytest.raises(ValueError, match="3 mod 4"):
        PrimeField(13).root(PrimeField(13).lift(np.array([1])))


@pytest.mark.parametrize("p", PRIMES)
def test_prime_field_arithmetic_at_the_extremes(p):
    """Residues of largest size, sums one longer than a piece: still exact."""
    ring = PrimeField(p)
    k = min(ring.terms + 1, 20_000)
    top = np.full((1, k), p // 2)
    got = ring.integers(ring.matmul(ring.lift(top), ring.lift(top.T)))
    assert got.item() == k * (p // 2) ** 2 % p
    big = np.array([2**64 - 1, 2**63], dtype=np.uint64)
    assert ring.integers(ring.lift(big)).tolist() == [(2**64 - 1) % p, 2**63 % p]
    assert ring.integers(ring.lift(np.array([-1, np.iinfo(np.int64).min]))).tolist() == [p - 1, -(2**63) % p]


# Rings that lie. Each must be caught by the suite above.


def sometimes(period: int) -> Callable[[], bool]:
    counter = itertools.count(1)
    return lambda: next(counter) % period == 0


def liars(base: type) -> dict[str, Any]:
    """Subclasses of a ring, each wrong in one operation, most of them rarely."""
    rarely = sometimes(50)

    class MulAddsOne(base):
        def mul(self, x, y):
            right = super().mul(x, y)
            return self.add(right, self.lift(np.array(1))) if rarely() else right

    class AddForgets(base):
        def add(self, x, y):
            return super().add(x, self.mul(y, self.lift(np.array(0)))) if rarely() else super().add(x, y)

    class EinsumTransposes(base):
        def einsum(self, left, right, out, x, y):
            right_one = super().einsum(left, right, out, x, y)
            swap = right_one.ndim >= 2 and right_one.shape[-1] == right_one.shape[-2]
            return right_one.swapaxes(-1, -2) if swap else right_one

    class EinsumSkipsATerm(base):
        def einsum(self, left, right, out, x, y):
            summed = [c for c in left if c in right and c not in out]
            if summed and x.shape[left.index(summed[0])] > 2:
                x = x.copy()
                x[(slice(None),) * left.index(summed[0]) + (0,)] = self.lift(np.array(0))
            return super().einsum(left, right, out, x, y)

    class ReciprocalForgets(base):
        def reciprocal(self, x):
            return x if rarely() else super().reciprocal(x)

    class RootIsReciprocal(base):
        def root(self, x):
            return super().reciprocal(x)

    class LiftDropsSigns(base):
        def lift(self, array):
            array = np.asarray(array)
            return super().lift(np.abs(array) if array.ndim == 1 else array)

    found = (MulAddsOne, AddForgets, EinsumTransposes, EinsumSkipsATerm, ReciprocalForgets, RootIsReciprocal, LiftDropsSigns)
    return {c.__name__: c for c in found}


@pytest.mark.parametrize("name", liars(PrimeField))
def test_lying_prime_fields_are_caught(name, cases):
    ring = liars(PrimeField)[name]()
    assert disagreements(ring, cases, modulo(ring), jacobians=False)[1], name


@pytest.mark.parametrize("name", liars(Rationals))
def test_lying_rationals_are_caught(name, cases):
    assert disagreements(liars(Rationals)[name](), cases, equal, jacobians=False)[1], name


def test_lying_patterns_are_caught(cases):
    class AddIsAnd(Patterns):
        formal = True

        def add(self, x, y):
            return np.logical_and(x, y)

    assert disagreements(AddIsAnd(), cases, allows)[1]


def test_a_lie_in_derivatives_alone_is_caught(cases, monkeypatch):
    """With the values right and the derivative of 1/x without its sign, only the Jacobians differ."""
    from neuromanifold.numerics import evaluate as module

    honest = module.partial

    def unsigned(ring, operation, operands, position, values, index):
        factor = honest(ring, operation, operands, position, values, index)
        if operation != "reciprocal":
            return factor
        return module.Lifted(ring.mul(factor.array, ring.lift(np.array(-1))), factor.inputs)

    ring = PrimeField()
    for case in cases:
        exact_jacobian(case)
    monkeypatch.setattr(module, "partial", unsigned)
    assert disagreements(ring, cases, modulo(ring))[1]
    assert not disagreements(ring, cases, modulo(ring), jacobians=False)[1]


def test_programs_refuse_what_rings_cannot_do():
    p = Program()
    x = p.param("x", (2, 3))
    for subscripts in ("ab,cd->ac", "ab,bc->abz", "aa,bc->bc", "ab,bc->aac", "Ab,bc->Ac", "ab,bc", "ab,ba->ab"):
        with pytest.raises(ValueError):
            p.einsum(subscripts, x, x)
    with pytest.raises(ValueError, match="do not combine"):
        p.add(x, p.param("y", (3, 2)))
    with pytest.raises(ValueError, match="does not fit"):
        evaluate(p, Rationals(), {"x": np.ones((3, 2), dtype=int), "y": np.ones((3, 2), dtype=int)})
