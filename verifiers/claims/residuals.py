"""Routes that read a layer entry by entry: sympy polynomials, Z3 reals, and exact rational counterexamples.

A subject names a function that returns *residuals*, ring elements that are zero iff the claim holds at that size. It
draws its
free entries from a source; the sources differ: polynomial generators (sympy), constants of Z3, random small integers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

from ..z3process import solve
from .entries import Dual, Shape, Table
from .model import Deadline, Verdict


class Source(Protocol):
    """Where a claim's free entries come from. `formal`: exponentials are free units, whatever their score."""

    formal: bool

    def new(self, name: str) -> Any:
        """Return the free entry of this name, always the same one."""

    def constant(self, value: int) -> Any:
        """Return an integer as a ring element."""

    def exponential(self, head: int, key: int, query: int, score: Dual) -> Dual:
        """Return the exponential of a score, with its motion."""


def table(source: Source, name: str, rows: int, columns: int) -> Table:
    """Return a table of free entries."""
    return [[source.new(f"{name}_{i}_{j}") for j in range(columns)] for i in range(rows)]


Residuals = Callable[[Source, Shape], list[Any]]


@dataclass(frozen=True)
class Entries:
    """A claim about layers of the given shapes: `residuals` vanish identically."""

    residuals: Residuals
    shapes: tuple[Shape, ...]


class _Names:
    """Collects the names of the free entries; values are small and different, so that nothing cancels by accident."""

    formal = True

    def __init__(self) -> None:
        self.values: dict[str, Fraction] = {}

    def new(self, name: str) -> Fraction:
        return self.values.setdefault(name, Fraction(len(self.values) + 2))

    def constant(self, value: int) -> Fraction:
        return Fraction(value)

    def exponential(self, head: int, key: int, query: int, score: Dual) -> Dual:
        unit = self.new(f"E_{head}_{key}_{query}")
        return Dual(unit, unit * score.motion)


class _Polynomials:
    """Sympy's sparse polynomials over the rationals. An exponential is one more generator."""

    formal = True

    def __init__(self, names: list[str]) -> None:
        from sympy import QQ
        from sympy.polys.rings import ring

        self._ring, *generators = ring(names, QQ)
        self._generators = dict(zip(names, generators, strict=True))

    def new(self, name: str) -> Any:
        return self._generators[name]

    def constant(self, value: int) -> Any:
        return self._ring(value)

    def exponential(self, head: int, key: int, query: int, score: Dual) -> Dual:
        unit = self.new(f"E_{head}_{key}_{query}")
        return Dual(unit, unit * score.motion)


def by_sympy(subject: Entries, deadline: Deadline) -> Verdict:
    """Expand every residual as a polynomial over Q. Proves at the stated sizes.

    Treating exponentials as free generators is sound for a proof: an identity in free E holds for E = exp(score).
    If a residual does not vanish, `by_rationals` looks for a counterexample.
    """
    count = 0
    for shape in subject.shapes:
        names = _Names()
        subject.residuals(names, shape)
        deadline.left()
        for residual in subject.residuals(_Polynomials(list(names.values)), shape):
            deadline.left()
            if residual != 0:
                found = by_rationals(subject, deadline)
                return (
                    found if found.status == "refuted" else Verdict("unknown", f"a residual does not vanish at {shape}")
                )
            count += 1
    return Verdict("proved", f"{count} entries expanded to zero: {'; '.join(map(str, subject.shapes))}")


class _Text:
    """An SMT-LIB expression over the reals; every operation is one `define-fun`, so that the text stays a shared
    graph.
    """

    def __init__(self, lines: list[str], text: str) -> None:
        self.lines, self.text = lines, text

    def _make(self, operation: str, other: _Text) -> _Text:
        name = f"t{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () Real ({operation} {self.text} {other.text}))")
        return _Text(self.lines, name)

    def __add__(self, other: _Text) -> _Text:
        return other if self.text == "0.0" else self if other.text == "0.0" else self._make("+", other)

    def __sub__(self, other: _Text) -> _Text:
        return self if other.text == "0.0" else self._make("-", other)

    def __mul__(self, other: _Text) -> _Text:
        if "0.0" in (self.text, other.text):
            return _Text(self.lines, "0.0")
        return other if self.text == "1.0" else self if other.text == "1.0" else self._make("*", other)

    def __neg__(self) -> _Text:
        return _Text(self.lines, "0.0") - self


class _Terms:
    """Constants of Z3."""

    formal = True

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.known: dict[str, _Text] = {}

    def new(self, name: str) -> _Text:
        if name not in self.known:
            self.lines.append(f"(declare-const {name} Real)")
            self.known[name] = _Text(self.lines, name)
        return self.known[name]

    def constant(self, value: int) -> _Text:
        return _Text(self.lines, f"{value}.0" if value >= 0 else f"(- {-value}.0)")

    def exponential(self, head: int, key: int, query: int, score: Dual) -> Dual:
        unit = self.new(f"E_{head}_{key}_{query}")
        return Dual(unit, unit * score.motion)


def by_z3_reals(subject: Entries, deadline: Deadline) -> Verdict:
    """Ask Z3's nonlinear real arithmetic for a point where a residual is not zero. Proves at the first stated size."""
    shape = subject.shapes[0]
    terms = _Terms()
    residuals = [residual for residual in subject.residuals(terms, shape) if residual.text != "0.0"]
    if not residuals:
        return Verdict("unknown", "nothing to ask")
    denial = " ".join(f"(not (= {residual.text} 0.0))" for residual in residuals)
    reply = solve("\n".join([*terms.lines, f"(assert (or false {denial}))"]), deadline.left())
    if reply.status == "unsat":
        return Verdict("proved", f"{len(residuals)} entries never non-zero: {shape}")
    if reply.status == "sat":
        found = by_rationals(subject, deadline)
        return found if found.status == "refuted" else Verdict("unknown", f"Z3 has a point at {shape}, not checked")
    return Verdict("unknown", reply.reason)


class _Numbers:
    """Small integers drawn from a seed. Exponentials are exact powers of two: K is read as K log 2, so exp(score) =
    2^(k'q).

    A motion of a score then carries the irrational factor log 2; `logarithm` stands for it. A residual is linear in
    it, so
    it vanishes iff it vanishes for both values 0 and 1.
    Rotations turn by the angle of the triangle 3, 4, 5, which is no rational part of a full turn; entries are then
    multiples
    of 5, so that scores stay integers for up to five tokens.
    """

    formal = False

    def __init__(self, seed: int, logarithm: int, rope: bool) -> None:
        self.seed, self.logarithm, self.step = seed, logarithm, 5 if rope else 1
        self.values = {"cos": Fraction(3, 5), "sin": Fraction(4, 5)} if rope else {}

    def new(self, name: str) -> Fraction:
        digest = hashlib.sha256(f"{self.seed}:{name}".encode()).digest()
        return self.values.setdefault(name, self.step * Fraction(digest[0] % 5 - 2))

    def constant(self, value: int) -> Fraction:
        return Fraction(value)

    def exponential(self, head: int, key: int, query: int, score: Dual) -> Dual:
        if score.value.denominator != 1 or abs(score.value) > 50_000:
            raise OverflowError("the score is no small integer")
        unit = Fraction(2) ** int(score.value)
        return Dual(unit, unit * score.motion * self.logarithm)


def by_rationals(subject: Entries, deadline: Deadline, tries: int = 40) -> Verdict:
    """Look for integers at which a residual is not zero, in exact rational arithmetic. Refutes, proves nothing."""
    for shape in subject.shapes:
        for seed in range(tries):
            deadline.left()
            for logarithm in (0, 1):
                numbers = _Numbers(seed, logarithm, shape.rope)
                wrong = next((k for k, value in enumerate(subject.residuals(numbers, shape)) if value), None)
                if wrong is not None:
                    values = {name: str(value) for name, value in numbers.values.items()}
                    note = "exp(score) = 2^score: K is multiplied by log 2" if shape.kind == "softmax" else ""
                    found = {"shape": str(shape), "values": values, "entry": wrong, "note": note}
                    return Verdict("refuted", f"entry {wrong} differs at {shape}", found)
    return Verdict("unknown", "no counterexample found")


def bound(function: Callable[..., list[Any]], *arguments: Any) -> Residuals:
    """Fix the leading arguments of a residual function."""
    return partial(function, *arguments)


class _Transcendental:
    """Small integers, with exponentials as powers of one generator e.

    Since e is transcendental, what differs here differs.
    """

    formal = False

    def __init__(self, seed: int) -> None:
        from sympy import QQ
        from sympy.polys.fields import field

        self.field, self.e = field("e", QQ)
        self.numbers = _Numbers(seed, 0, rope=False)

    def new(self, name: str) -> Any:
        return self.field(int(self.numbers.new(name)))

    def constant(self, value: int) -> Any:
        return self.field(value)

    def exponential(self, head: int, key: int, query: int, score: Dual) -> Dual:
        unit = self.e ** int(Fraction(str(score.value)))
        return Dual(unit, unit * score.motion)


def by_transcendence(subject: Entries, deadline: Deadline, tries: int = 40) -> Verdict:
    """Look for integers at which a residual, a rational function of e = exp(1), is not zero.

    Refutes, proves nothing.
    """
    for shape in subject.shapes:
        if shape.rope:
            continue  # rotated scores are no integers here
        for seed in range(tries):
            deadline.left()
            source = _Transcendental(seed)
            wrong = next((k for k, value in enumerate(subject.residuals(source, shape)) if value != 0), None)
            if wrong is not None:
                values = {name: str(value) for name, value in source.numbers.values.items()}
                return Verdict("refuted", f"entry {wrong} differs at {shape}", {"shape": str(shape), "values": values})
    return Verdict("unknown", "no counterexample found")
