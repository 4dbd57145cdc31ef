"""Claims stated in matrix words, and the two routes that read them: the free algebra and Z3 with ring axioms, all
sizes.

`still`: formulas that must not move under `motion`. `moves`: formulas with the motion they must have. `equal`: pairs
of formulas
that must agree. Letters in `optional` may be missing from a network: then a bias is zero, an output matrix the
identity, and
their motion is left out; the statement is checked for every combination in `present` (all combinations if empty).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from ..freealgebra import Algebra, Letter, TypeMismatchError
from ..z3process import solve
from .formula import ZERO, Tree, derive, letters, parse, substitute
from .model import Deadline, Verdict

IDENTITY: Tree = ("number", 1)
RING_SECONDS = 20.0


@dataclass(frozen=True)
class Words:
    """A claim in matrix words; see the module's text for the fields."""

    types: tuple[Letter, ...]
    motion: Mapping[str, str] = field(default_factory=dict)
    still: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    equal: tuple[tuple[str, str], ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    optional: tuple[str, ...] = ()
    present: tuple[frozenset[str], ...] = ()


def variants(subject: Words) -> Iterator[tuple[frozenset[str], list[Tree], dict[str, Tree]]]:
    """Yield, for each choice of optional letters, that choice, the formulas that must vanish, and the motion."""
    optional = subject.optional
    choices = subject.present or tuple(
        frozenset(chosen) for size in range(len(optional) + 1) for chosen in combinations(optional, size)
    )
    for chosen in choices:
        missing = {name: IDENTITY if name in ("O", "P") else ZERO for name in optional if name not in chosen}
        motion = {
            name: substitute(parse(text), missing) for name, text in subject.motion.items() if name not in missing
        }
        zero = [derive(substitute(parse(text), missing), motion) for text in subject.still]
        zero += [
            _difference(derive(substitute(parse(text), missing), motion), substitute(parse(moved), missing))
            for text, moved in subject.moves
        ]
        zero += [substitute(_difference(parse(left), parse(right)), missing) for left, right in subject.equal]
        yield chosen, zero, motion


def _difference(left: Tree, right: Tree) -> Tree:
    return left if right == ZERO else ("plus", left, ("minus", right))


def _typed(subject: Words, chosen: frozenset[str]) -> Algebra:
    # Without the output matrices their column dimension is their row dimension.
    merged = {
        letter.columns: letter.rows
        for letter in subject.types
        if letter.name in ("O", "P") and letter.name in subject.optional
    }
    merge = merged if merged and not chosen & {"O", "P"} else {}
    types = [
        Letter(
            letter.name,
            merge.get(letter.rows, letter.rows),
            merge.get(letter.columns, letter.columns),
            letter.diagonal,
            letter.symmetry,
            letter.commutes,
        )
        for letter in subject.types
    ]
    return Algebra(types, [(parse(left), parse(right)) for left, right in subject.relations])


def by_free_algebra(subject: Words, deadline: Deadline) -> Verdict:
    """Prove every identity of the claim in the free algebra with involution. Proves for all sizes, refutes nothing."""
    count = 0
    for chosen, zero, motion in variants(subject):
        algebra = _typed(subject, chosen)
        try:
            algebra.check_motion(motion, derive)
            for tree in zero:
                deadline.left()
                rest = algebra.expand(tree).terms
                if rest:
                    return Verdict("unknown", f"{len(rest)} words remain with {_named(chosen)}")
                count += 1
        except TypeMismatchError as error:
            return Verdict("unknown", f"not well typed with {_named(chosen)}: {error}")
    return Verdict("proved", f"{count} identities expanded to zero")


def _named(chosen: frozenset[str]) -> str:
    return ", ".join(sorted(chosen)) or "no optional parameter"


# A ring with involution; from `neg` on the axioms follow from the ones before and only spare Z3 the derivation.
_AXIOMS = """(declare-sort R 0) (declare-const zero R) (declare-const one R)
(declare-fun mul (R R) R) (declare-fun add (R R) R) (declare-fun neg (R) R) (declare-fun tr (R) R)
(assert (forall ((x R) (y R) (z R)) (! (= (mul (mul x y) z) (mul x (mul y z))) :pattern ((mul (mul x y) z)) :pattern
((mul x (mul y z))))))
(assert (forall ((x R)) (! (= (mul one x) x) :pattern ((mul one x)))))
(assert (forall ((x R)) (! (= (mul x one) x) :pattern ((mul x one)))))
(assert (forall ((x R) (y R) (z R)) (= (add (add x y) z) (add x (add y z)))))
(assert (forall ((x R) (y R)) (= (add x y) (add y x))))
(assert (forall ((x R)) (= (add x zero) x)))
(assert (forall ((x R)) (= (add x (neg x)) zero)))
(assert (forall ((x R) (y R) (z R)) (! (= (mul x (add y z)) (add (mul x y) (mul x z))) :pattern ((mul x (add y z))))))
(assert (forall ((x R) (y R) (z R)) (! (= (mul (add y z) x) (add (mul y x) (mul z x))) :pattern ((mul (add y z) x)))))
(assert (forall ((x R) (y R)) (! (= (tr (mul x y)) (mul (tr y) (tr x))) :pattern ((tr (mul x y))))))
(assert (forall ((x R) (y R)) (! (= (tr (add x y)) (add (tr x) (tr y))) :pattern ((tr (add x y))))))
(assert (forall ((x R)) (! (= (tr (tr x)) x) :pattern ((tr (tr x))))))
(assert (= (tr one) one))
(assert (forall ((x R)) (! (= (neg (neg x)) x) :pattern ((neg (neg x))))))
(assert (forall ((x R) (y R)) (! (= (neg (add x y)) (add (neg x) (neg y))) :pattern ((neg (add x y))))))
(assert (forall ((x R) (y R)) (! (= (mul (neg x) y) (neg (mul x y))) :pattern ((mul (neg x) y)))))
(assert (forall ((x R) (y R)) (! (= (mul x (neg y)) (neg (mul x y))) :pattern ((mul x (neg y))))))
(assert (forall ((x R)) (! (= (tr (neg x)) (neg (tr x))) :pattern ((tr (neg x))))))
(assert (forall ((x R)) (! (= (mul zero x) zero) :pattern ((mul zero x)))))
(assert (forall ((x R)) (! (= (mul x zero) zero) :pattern ((mul x zero)))))
(assert (= (tr zero) zero))
"""


def _term(tree: Tree) -> str:
    kind = tree[0]
    if kind == "letter":
        return f"|{tree[1]}|"
    if kind == "number":
        value: int = tree[1]
        return "zero" if value == 0 else "one" if value == 1 else f"(add one {_term(('number', value - 1))})"
    name = {"times": "mul", "plus": "add", "minus": "neg", "transpose": "tr"}[kind]
    return f"({name} {' '.join(_term(part) for part in tree[1:])})"


def ring_query(subject: Words, tree: Tree) -> str:
    """Return the SMT-LIB text that denies `tree` = 0 in every ring with involution where the stated types and
    relations hold.
    """
    used = letters(tree) | {
        name for left, right in subject.relations for side in (left, right) for name in letters(parse(side))
    }
    types = [letter for letter in subject.types if letter.name in used]
    lines = [_AXIOMS, *(f"(declare-const |{letter.name}| R)" for letter in types)]
    for letter in types:
        name = f"|{letter.name}|"
        if letter.diagonal or letter.symmetry > 0:
            lines.append(f"(assert (= (tr {name}) {name}))")
        if letter.symmetry < 0:
            lines.append(f"(assert (= (tr {name}) (neg {name})))")
        if (letter.rows, letter.columns) == ("1", "1"):
            lines.append(f"(assert (= (tr {name}) {name}))")
            lines.append(
                f"(assert (forall ((x R)) (! (= (mul {name} x) (mul x {name})) :pattern ((mul {name} x)) :pattern "
                f"((mul x {name})))))"
            )
        for other in types:
            if other.name in letter.commutes or (letter.diagonal and other.diagonal and letter.name < other.name):
                lines += [
                    f"(assert (= (mul {a} {b}) (mul {b} {a})))"
                    for a in (name, f"(tr {name})")
                    for b in (f"|{other.name}|", f"(tr |{other.name}|)")
                ]
    units: set[str] = set()
    for left, right in subject.relations:
        if parse(right) == IDENTITY:  # the identity of one dimension is an idempotent of the ring, not its one
            dimension = _columns(subject, parse(left))
            if dimension not in units:
                units.add(dimension)
                lines += _unit(dimension, types)
            right_term = f"|id {dimension}|"
        else:
            right_term = _term(parse(right))
        lines.append(f"(assert (= {_term(parse(left))} {right_term}))")
        lines.append(f"(assert (= (tr {_term(parse(left))}) (tr {right_term})))")
    lines.append(f"(assert (not (= {_term(tree)} zero)))")
    return "\n".join(lines)


def _columns(subject: Words, tree: Tree) -> str:
    """Return the column dimension of a word."""
    if tree[0] == "times":
        return _columns(subject, tree[2])
    flipped = tree[0] == "transpose"
    name = tree[1][1] if flipped else tree[1]
    letter = next(letter for letter in subject.types if letter.name == name)
    return letter.rows if flipped else letter.columns


def _unit(dimension: str, types: list[Letter]) -> list[str]:
    unit = f"|id {dimension}|"
    lines = [
        f"(declare-const {unit} R)",
        f"(assert (= (tr {unit}) {unit}))",
        f"(assert (= (mul {unit} {unit}) {unit}))",
    ]
    for letter in types:
        if (letter.rows, letter.columns) == ("1", "1"):
            continue  # read as a multiple of the ring's one
        for name, rows, columns in (
            (f"|{letter.name}|", letter.rows, letter.columns),
            (f"(tr |{letter.name}|)", letter.columns, letter.rows),
        ):
            if rows == dimension:
                lines.append(f"(assert (= (mul {unit} {name}) {name}))")
            if columns == dimension:
                lines.append(f"(assert (= (mul {name} {unit}) {name}))")
    return lines


def by_z3_ring(subject: Words, deadline: Deadline) -> Verdict:
    """Prove the identities of the largest network of the claim in every ring with involution (one uninterpreted sort).

    Matrices of all sizes are elements of one ring, that of endomorphisms of the sum of all spaces, so what holds in
    every
    such ring holds for all sizes. Only the choice with most optional letters is asked. Proves, refutes nothing.
    """
    chosen, zero, _ = max(variants(subject), key=lambda item: len(item[0]))
    count = 0
    for tree in zero:
        if tree == ZERO:
            continue
        reply = solve(ring_query(subject, tree), min(RING_SECONDS, deadline.left()))
        if reply.status != "unsat":
            return Verdict("unknown", f"with {_named(chosen)}: {reply.status} {reply.reason}".rstrip())
        count += 1
    if not count:
        return Verdict("unknown", "nothing to ask")
    return Verdict("proved", f"{count} denials unsatisfiable")
