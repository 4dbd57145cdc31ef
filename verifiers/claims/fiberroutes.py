"""Routes for the fiber claims: the assembled argument, direct queries at small sizes, the fiber of softmax."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from ..z3process import solve
from .certificate import by_certificates
from .fibers import lemmas, named
from .lemmas import by_z3
from .model import Deadline, Verdict

# The assembled argument. Two cells (row, column) of the equations v_r * a_c = w_r * b_c: x = (r, c), y = (r', c'),
# and the
# corners u = (r, c'), z = (r', c). S: straight, v (x) a = w (x) b. C: crossed, v (x) a = b (x) w. N: column c' is
# not zero.
# If x is not straight and y is not crossed there is a contradiction: so all cells are straight, or all are crossed.
CELLS = "xyuz"
_SAME_COLUMN = (("x", "z"), ("y", "u"))
_SAME_ROW = (("x", "u"), ("y", "z"))


def _clauses() -> Iterator[tuple[str, ...]]:
    """Yield the facts as clauses of literals, a minus for negation."""
    for cell in CELLS:
        yield (f"S{cell}", f"C{cell}")  # lemmas pair, straight
    for left, right in (*_SAME_COLUMN, *_SAME_ROW):
        for a, b in ((left, right), (right, left)):
            yield (f"-S{a}", f"-C{b}", f"C{a}", f"S{b}")  # lemma column or row
    yield ("-Su", "-Cu", "-N", "-Cx", "Sx")  # lemma both
    yield ("N", "-Sy", "Cy")  # lemma zero-column
    yield ("-Sx",)
    yield ("-Cy",)


_LITERALS = tuple(f"{kind}{cell}" for kind in "SC" for cell in CELLS) + ("N",)


def contradictory(clauses: tuple[tuple[str, ...], ...]) -> bool:
    """Whether no truth assignment satisfies the clauses, by trying all."""
    for values in product((False, True), repeat=len(_LITERALS)):
        truth = dict(zip(_LITERALS, values, strict=True))
        if all(any(truth[name.removeprefix("-")] != name.startswith("-") for name in clause) for clause in clauses):
            return False
    return True


def assembly_query(clauses: tuple[tuple[str, ...], ...]) -> str:
    """Return the same question as SMT-LIB text."""
    lines = [f"(declare-const {name} Bool)" for name in _LITERALS]
    for clause in clauses:
        literals = " ".join(f"(not {name[1:]})" if name.startswith("-") else name for name in clause)
        lines.append(f"(assert (or false {literals}))")
    return "\n".join(lines)


def by_certified_argument(subject: tuple[str, ...], deadline: Deadline) -> Verdict:
    """Check the certificates of all lemmas, then the assembly by its truth table. No solver is used."""
    verdict = by_certificates(named(*subject), deadline)
    if verdict.status != "proved":
        return verdict
    if not contradictory(tuple(_clauses())):
        return Verdict("unknown", "the assembly has a model")
    return Verdict("proved", f"{verdict.detail}; assembly: {2 ** len(_LITERALS)} truth assignments tried")


def by_z3_argument(subject: tuple[str, ...], deadline: Deadline) -> Verdict:
    """Ask Z3 for every lemma on its small models, then for the assembly."""
    verdict = by_z3(lemmas(*subject), deadline)
    if verdict.status != "proved":
        return verdict
    reply = solve(assembly_query(tuple(_clauses())), deadline.left())
    if reply.status != "unsat":
        return Verdict("unknown", f"assembly: {reply.status} {reply.reason}".rstrip())
    return Verdict("proved", f"{verdict.detail}; assembly unsatisfiable")


def fiber_query(d: int, n: int, rank_condition: bool = True) -> str:
    """Return the SMT-LIB text: (V, A) non-zero and not both of rank one, (W, B) the same function, and no rescaling."""
    rows, places = range(n), range(d)
    names = [f"{m}_{r}_{p}" for m in "VW" for r in rows for p in places] + [
        f"{m}_{p}_{c}" for m in "AB" for p in places for c in places
    ]
    lines = [f"(declare-const {name} Real)" for name in names]
    for r, c, p in product(rows, places, places):
        for q in range(p + 1):
            left = f"(+ (* V_{r}_{p} A_{q}_{c}) (* V_{r}_{q} A_{p}_{c}))"
            right = f"(+ (* W_{r}_{p} B_{q}_{c}) (* W_{r}_{q} B_{p}_{c}))"
            lines.append(f"(assert (= {left} {right}))")

    def some(texts: list[str]) -> str:
        return f"(assert (or false {' '.join(f'(not (= {text} 0.0))' for text in texts)}))"

    def minors(m: str, height: int) -> list[str]:
        return [
            f"(- (* {m}_{i}_{p} {m}_{j}_{q}) (* {m}_{i}_{q} {m}_{j}_{p}))"
            for i in range(height)
            for j in range(i)
            for p in places
            for q in range(p)
        ]

    lines.append(some([f"V_{r}_{p}" for r in rows for p in places]))
    lines.append(some([f"A_{p}_{c}" for p in places for c in places]))
    if rank_condition:
        lines.append(some(minors("V", n) + minors("A", d)))
    cells = product(rows, places, places, places)
    lines.append(some([f"(- (* V_{r}_{p} A_{q}_{c}) (* W_{r}_{p} B_{q}_{c}))" for r, p, q, c in cells]))
    return "\n".join(lines)


def by_z3_sizes(subject: tuple[tuple[int, int], ...], deadline: Deadline) -> Verdict:
    """Ask Z3 for a second point of a fiber at each size (d, d'): all of V, A, W, B free real matrices."""
    for d, n in subject:
        reply = solve(fiber_query(d, n), deadline.left())
        if reply.status == "sat":
            return Verdict("unknown", f"d={d} d'={n}: Z3 has a second point")
        if reply.status != "unsat":
            return Verdict("unknown", f"d={d} d'={n}: {reply.reason}")
    return Verdict("proved", f"no second point at {', '.join(f'd={d} d={n}' for d, n in subject)}")


def by_z3_without_rank(subject: tuple[int, int], deadline: Deadline) -> Verdict:
    """The statement with its rank condition dropped: a model is checked in exact rationals and shown."""
    d, n = subject
    reply = solve(fiber_query(d, n, rank_condition=False), deadline.left())
    if reply.status == "unsat":
        return Verdict("proved", "no second point")
    if reply.status == "unknown":
        return Verdict("unknown", reply.reason)
    return second_point(reply.model, d, n)


def second_point(model: object, d: int, n: int) -> Verdict:
    """Check in exact rationals that a model is two points of one fiber that are no rescaling of each other."""
    if not isinstance(model, dict):
        return Verdict("unknown", "no model")

    def read(name: str, height: int) -> list[list[Fraction]]:
        return [[model.get(f"{name}_{i}_{j}", Fraction(0)) for j in range(d)] for i in range(height)]

    v, w, a, b = read("V", n), read("W", n), read("A", d), read("B", d)
    cells = list(product(range(n), range(d), range(d), range(d)))
    same = all(v[r][p] * a[q][c] + v[r][q] * a[p][c] == w[r][p] * b[q][c] + w[r][q] * b[p][c] for r, p, q, c in cells)
    other = any(v[r][p] * a[q][c] != w[r][p] * b[q][c] for r, p, q, c in cells)
    if not (same and other):
        return Verdict("unknown", "Z3's model is not rational or not right")
    shown = {name: [[str(x) for x in row] for row in rows] for name, rows in (("V", v), ("A", a), ("W", w), ("B", b))}
    return Verdict("refuted", "two points of one fiber", shown)
