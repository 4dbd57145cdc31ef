"""Lemmas about vectors of any length, decided on the few coordinates they name: the small-model step.

A lemma is universal: hypotheses are polynomial equations that hold for *all* values of their index letters, the
denied conclusion
says that some polynomials at *witness* indices are not zero. If it fails for vectors of any length, restricting all
vectors to
the witness coordinates keeps every hypothesis (an equation at indices among the witnesses) and every inequality. So
the lemma
holds for all lengths iff it holds for each way in which witnesses may coincide, with that few coordinates. `models`
lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from ..z3process import solve
from .model import Deadline, Verdict

# A polynomial: sum of coefficient * product of factors. A factor is a variable, `w.p` the entry of the vector w at
# index p.
Sparse = dict[tuple[str, ...], Fraction]


@dataclass(frozen=True)
class Lemma:
    """`hypotheses`: polynomials, zero for all values of their indices. `denied`: polynomials at witnesses, none zero.

    Polynomials are text: sums of products, `v.p a.q + v.q a.p`; a name without a dot is a scalar. `witnesses` are
    the indices
    of the denied part.
    """

    hypotheses: tuple[str, ...]
    denied: tuple[str, ...]
    witnesses: tuple[str, ...]


@dataclass(frozen=True)
class Model:
    """One coincidence pattern: the equations and inequalities over that few coordinates."""

    pattern: tuple[int, ...]
    equations: tuple[Sparse, ...]
    nonzero: tuple[Sparse, ...]


def read(text: str, places: Mapping[str, int]) -> Sparse:
    """Read a polynomial; indices become coordinates by `places`."""
    result: Sparse = {}
    for raw in text.replace("-", "+-").split("+"):
        term = raw.strip()
        if not term:
            continue
        sign = -1 if term.startswith("-") else 1
        coefficient, factors = Fraction(sign), []
        for factor in term.removeprefix("-").split():
            if factor.isdigit():
                coefficient *= int(factor)
            elif "." in factor:
                vector, index = factor.split(".")
                factors.append(f"{vector}_{places[index]}")
            else:
                factors.append(factor)
        key = tuple(sorted(factors))
        result[key] = result.get(key, Fraction(0)) + coefficient
    return {key: c for key, c in result.items() if c}


def _indices(text: str) -> list[str]:
    found = {factor.split(".")[1] for factor in text.replace("-", " ").replace("+", " ").split() if "." in factor}
    return sorted(found)


def models(lemma: Lemma) -> Iterator[Model]:
    """Yield every coincidence pattern of the witnesses, as restricted-growth strings."""

    def grow(prefix: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(prefix) == len(lemma.witnesses):
            yield prefix
            return
        for value in range(max(prefix, default=-1) + 2):
            yield from grow((*prefix, value))

    for pattern in grow(()):
        places = dict(zip(lemma.witnesses, pattern, strict=True))
        size = max(pattern, default=-1) + 1
        equations: list[Sparse] = []
        for text in lemma.hypotheses:
            names = _indices(text)
            for values in product(range(size), repeat=len(names)):
                equation = read(text, dict(zip(names, values, strict=True)))
                if equation and equation not in equations:
                    equations.append(equation)
        nonzero = tuple(read(text, places) for text in lemma.denied)
        if all(nonzero):  # an inequality 0 != 0 makes the pattern impossible by itself
            yield Model(pattern, tuple(equations), nonzero)


def variables(model: Model) -> list[str]:
    """Return the variables of a model in a fixed order."""
    return sorted({name for poly in (*model.equations, *model.nonzero) for key in poly for name in key})


def _smt(poly: Sparse) -> str:
    terms = []
    for key, c in poly.items():
        number = f"(/ {abs(c.numerator)}.0 {c.denominator}.0)"
        terms.append(f"(* {f'(- {number})' if c < 0 else number} {' '.join(key)} 1.0)")
    return f"(+ 0.0 {' '.join(terms)})"


def query(model: Model) -> str:
    """Return the SMT-LIB text of a model."""
    lines = [f"(declare-const {name} Real)" for name in variables(model)]
    lines += [f"(assert (= {_smt(poly)} 0.0))" for poly in model.equations]
    lines += [f"(assert (not (= {_smt(poly)} 0.0)))" for poly in model.nonzero]
    return "\n".join(lines)


def evaluate(poly: Sparse, point: Mapping[str, Fraction]) -> Fraction:
    """Evaluate a polynomial at an exact point."""
    total = Fraction(0)
    for key, c in poly.items():
        for name in key:
            c *= point[name]
        total += c
    return total


def satisfied(model: Model, point: Mapping[str, Fraction]) -> bool:
    """Whether an exact point satisfies a model."""
    return all(evaluate(poly, point) == 0 for poly in model.equations) and all(
        evaluate(p, point) != 0 for p in model.nonzero
    )


def by_z3(subject: tuple[Lemma, ...], deadline: Deadline) -> Verdict:
    """Decide every pattern of every lemma with Z3 (over the reals).

    A model is checked in exact rationals before it is shown.
    """
    count, largest = 0, 0
    for lemma in subject:
        for model in models(lemma):
            reply = solve(query(model), deadline.left())
            if reply.status == "sat":
                point = {name: reply.model.get(name, Fraction(0)) for name in variables(model)}
                if not satisfied(model, point):
                    return Verdict(
                        "unknown", f"pattern {model.pattern}: Z3 has a model that is not rational or not right"
                    )
                return Verdict("refuted", f"a model with pattern {model.pattern}", _shown(point))
            if reply.status == "unknown":
                return Verdict("unknown", f"pattern {model.pattern}: {reply.reason}")
            count += 1
            largest = max(largest, len(set(model.pattern)))
    if not count:
        return Verdict("unknown", "nothing to ask")
    return Verdict("proved", f"{count} queries over at most {largest} coordinates unsatisfiable")


def _shown(point: Mapping[str, Fraction]) -> dict[str, Any]:
    return {name: str(value) for name, value in point.items()}
