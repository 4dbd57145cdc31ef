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


def facts() -> Iterator[tuple[str, ...]]:
    """Yield what is known and denied as clauses of literals, a minus for negation."""
    for cell in CELLS:
        yield (f"S{cell}", f"C{cell}")  # lemmas pair, straight
    for left, right in (*_SAME_COLUMN, *_SAME_ROW):
        for a, b in ((left, right), (right, left)):
            yield (f"-S{a}", f"-C{b}", f"C{a}", f"S{b}")  # lemma column or row
    yield ("-Su", "-Cu", "-N", "-Cx", "Sx")  # lemma both
    yield ("N", "-Sy", "Cy")  # lemma zero-column
    yield ("-Sx",)
    yield ("-Cy",)


_LITERALS = (*(f"{kind}{cell}" for kind in "SC" for cell in CELLS), "N")


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
    if not contradictory(tuple(facts())):
        return Verdict("unknown", "the assembly has a model")
    return Verdict("proved", f"{verdict.detail}; assembly: {2 ** len(_LITERALS)} truth assignments tried")


def by_z3_argument(subject: tuple[str, ...], deadline: Deadline) -> Verdict:
    """Ask Z3 for every lemma on its small models, then for the assembly."""
    verdict = by_z3(lemmas(*subject), deadline)
    if verdict.status != "proved":
        return verdict
    reply = solve(assembly_query(tuple(facts())), deadline.left())
    if reply.status != "unsat":
        return Verdict("unknown", f"assembly: {reply.status} {reply.reason}".rstrip())
    return Verdict("proved", f"{verdict.detail}; assembly unsatisfiable")


def fiber_query(d: int, n: int, rank_condition: bool = True) -> str:
    """Return the SMT-LIB text: (V, A) non-zero and not both of rank one, (W, B) the same function, and no rescaling."""
    rows, places = range(n), range(d)
    names = [f"{m}_{r}_{p}" for m in "VW" for r in rows for p in places]
    names += [f"{m}_{p}_{c}" for m in "AB" for p in places for c in places]
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


_Cell = tuple[int, int, str]  # row, column, state: "S" straight only, "C" crossed only, "B" both, "X" crossed at least


def block_query(d: int, cells: tuple[_Cell, ...], minor: str = "") -> str:
    """Return the SMT-LIB text: cells in these states over d coordinates; `minor` V or A has a non-zero minor of size
    two,
    and the one row of V, or column of A, that meets it is not zero.
    """

    def equation(r: int, c: int, p: int, q: int, way: str) -> str:
        right = f"(* W_{r}_{p} B_{q}_{c})" if way == "S" else f"(* W_{r}_{q} B_{p}_{c})"
        return f"(= (* V_{r}_{p} A_{q}_{c}) {right})"

    rows, columns = sorted({r for r, _, _ in cells}), sorted({c for _, c, _ in cells})
    lines = [f"(declare-const {m}_{r}_{p} Real)" for m in "VW" for r in rows for p in range(d)]
    lines += [f"(declare-const {m}_{p}_{c} Real)" for m in "AB" for p in range(d) for c in columns]
    places = list(product(range(d), repeat=2))
    for r, c, state in cells:
        for way in "SC":
            equations = [equation(r, c, p, q, way) for p, q in places]
            if state in (way, "B") or (state, way) == ("X", "C"):
                lines += [f"(assert {text})" for text in equations]
            elif state != "X":
                lines.append(f"(assert (not (and true {' '.join(equations)})))")
    if minor:
        # Coordinates (and rows, columns) may be renamed, so the minor is the first one.
        lines.append(f"(assert (not (= (* {minor}_0_0 {minor}_1_1) (* {minor}_0_1 {minor}_1_0))))")
        entries = [f"V_0_{p}" for p in range(d)] if minor == "A" else [f"A_{p}_0" for p in range(d)]
        lines.append(f"(assert (or false {' '.join(f'(not (= {text} 0.0))' for text in entries)}))")
    return "\n".join(lines)


def by_z3_blocks(subject: tuple[tuple[int, int], ...], deadline: Deadline) -> Verdict:
    """Decide sizes (d, d') from blocks of two rows and columns, given that every cell is straight or crossed (lemma
    pair).

    A straight-only and a crossed-only cell cannot share a row, nor a column, nor lie across from each other when
    both corners
    are of both kinds. So all cells are straight, a rescaling; or all are crossed, and then no minor of V or A (with
    a column,
    a row that is not zero) is non-zero.
    """
    count = 0
    for d, n in subject:
        queries = [block_query(d, ((0, 0, "S"), (0, 1, "C")))]
        # A crossed row: if A has a minor, the row of V is zero.
        queries.append(block_query(d, ((0, 0, "X"), (0, 1, "X")), minor="A"))
        if n > 1:
            queries.append(block_query(d, ((0, 0, "S"), (1, 0, "C"))))
            queries.append(block_query(d, ((0, 0, "C"), (1, 1, "S"), (0, 1, "B"), (1, 0, "B"))))
            queries.append(block_query(d, ((0, 0, "X"), (1, 0, "X")), minor="V"))
        for text in queries:
            reply = solve(text, deadline.left())
            if reply.status != "unsat":
                return Verdict("unknown", f"d={d} d'={n}: {reply.status} {reply.reason}".rstrip())
            count += 1
    return Verdict("proved", f"{count} queries unsatisfiable at {', '.join(f'd={d} d={n}' for d, n in subject)}")


def by_exchange(subject: int, deadline: Deadline) -> Verdict:
    """A point of rank one and its exchanged twin, in exact rationals: d = subject, d' = 1."""
    deadline.left()
    d = subject
    key, value = [Fraction(i + 1) for i in range(d)], [Fraction(2 * i - 1) for i in range(d)]
    model = {f"V_0_{i}": value[i] for i in range(d)} | {f"W_0_{i}": key[i] for i in range(d)}
    for i, c in product(range(d), range(d)):
        model[f"A_{i}_{c}"], model[f"B_{i}_{c}"] = key[i] * (c + 1), value[i] * (c + 1)
    return second_point(model, d, 1)


def by_one_token(subject: None, deadline: Deadline) -> Verdict:
    """x0 (x0 x1) = x1 (x0 x0): the coefficients of both cubics, in exact rationals."""
    deadline.left()
    half = Fraction(1, 2)
    v, s = [Fraction(1), Fraction(0)], [[Fraction(0), half], [half, Fraction(0)]]
    w, t = [Fraction(0), Fraction(1)], [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(0)]]

    def cubic(row: list[Fraction], form: list[list[Fraction]]) -> dict[tuple[int, ...], Fraction]:
        coefficients: dict[tuple[int, ...], Fraction] = {}
        for i, j, k in product(range(2), repeat=3):
            key = tuple(sorted((i, j, k)))
            coefficients[key] = coefficients.get(key, Fraction(0)) + row[i] * form[j][k]
        return coefficients

    if cubic(v, s) != cubic(w, t) or v[0] * w[1] == v[1] * w[0]:
        return Verdict("unknown", "the two points do not give the same cubic")
    shown = {
        "V": list(map(str, v)),
        "A": [list(map(str, r)) for r in s],
        "W": list(map(str, w)),
        "B": [list(map(str, r)) for r in t],
    }
    return Verdict("refuted", "two points of one fiber", shown)


def by_z3_softmax(subject: None, deadline: Deadline) -> Verdict:
    """V is equal and V_p not 0; inputs z = e_c, x = z + u for u in e_p, e_q, e_p + e_q; then A_qc = B_qc, for all q, c.

    One column of A and B at coordinates p, q; the logistic function is any injective one.
    """
    for places in (("p",), ("p", "q")):
        names = [f"{m}_{i}" for m in "VAB" for i in places]
        lines = ["(declare-fun sigma (Real) Real)", *(f"(declare-const {name} Real)" for name in names)]
        moves = [("p",)] if len(places) == 1 else [("p",), ("q",), ("p", "q")]
        for move in moves:
            v, a, b = (f"(+ 0.0 {' '.join(f'{m}_{i}' for i in move)})" for m in "VAB")
            lines.append(f"(assert (= (* {v} (sigma {a})) (* {v} (sigma {b}))))")
            lines.append(f"(assert (=> (= (sigma {a}) (sigma {b})) (= {a} {b})))")
        last = places[-1]
        lines += ["(assert (not (= V_p 0.0)))", f"(assert (not (= A_{last} B_{last})))"]
        reply = solve("\n".join(lines), deadline.left())
        if reply.status != "unsat":
            return Verdict("unknown", f"{len(places)} coordinates: {reply.status} {reply.reason}".rstrip())
    return Verdict("proved", "2 queries over at most 2 coordinates unsatisfiable")


def by_sympy_softmax(subject: int, deadline: Deadline) -> Verdict:
    """The two-token layer at z is V z + V (x - z) sigma((x - z)'A z); its second derivative at x = z is a symmetric
    product.

    With V known, V * (A - B) = 0 and V not 0 give A = B: the lemma domain, by its certificates.
    """
    import sympy

    d = subject
    v, x, z, u = (sympy.Matrix(sympy.symbols(f"{name}0:{d}")) for name in "vxzu")
    a = sympy.Matrix(d, d, sympy.symbols(f"a0:{d * d}"))
    s, weight = sympy.symbols("s w")

    def dot(left: sympy.Matrix, right: sympy.Matrix) -> sympy.Expr:
        return sympy.expand((left.T * right)[0, 0])

    # With w = exp((x - z)'A z), weights (w, 1) / (w + 1): the output does not need the common factor exp(z'A z).
    layer = dot(v, x) * weight + dot(v, z)
    stated = dot(v, z) * (weight + 1) + dot(v, x - z) * weight
    if sympy.expand(layer - stated) != 0:
        return Verdict("unknown", "the two-token output is not as stated")
    deadline.left()
    curve = dot(v, z) + s * dot(v, u) / (1 + sympy.exp(-s * dot(u, a * z)))
    second = sympy.diff(curve, s, 2).subs(s, 0)
    if sympy.expand(2 * second - dot(v, u) * dot(u, a * z)) != 0:
        return Verdict("unknown", "the second derivative is not as stated")
    verdict = by_certificates(named("domain"), deadline)
    return Verdict(verdict.status, f"output and second derivative as stated at d={d}; {verdict.detail}")
