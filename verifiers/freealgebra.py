"""The free algebra with involution: polynomials in matrix letters of unknown size, with types.

A letter stands for a matrix of `rows` x `columns`, both *names* of dimensions ("d", "a", "t"; "1" is literally one).
A word is a
product of letters and transposed letters whose inner dimensions agree, a polynomial an integer combination of words
of one
type. `Algebra.vanishes` expands a formula (see `claims/formula.py` for the grammar) and brings it to a normal form.

Guarantee: if it vanishes, the formula is zero for all sizes, all real matrices of the stated types, that satisfy the
stated
relations. Rules used, each tied to a type: a diagonal or symmetric letter is its own transpose, an antisymmetric one
minus
it; diagonal letters of one dimension commute; letters listed in `commutes` commute, and so do their transposes; a
word is a
scalar exactly where the dimension is literally "1", and there it is central and equal to its transpose; a stated
relation
may be used in any place, and transposed.
Not guaranteed: the converse. A polynomial that does not vanish here may vanish at small sizes, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Tree = tuple[Any, ...]
Word = tuple[tuple[str, bool], ...]  # (letter, transposed)
Monomial = tuple[tuple[Word, ...], Word]  # scalars in ascending order, then the matrix word
Terms = dict[Monomial, int]

MAX_STEPS = 200_000


class TypeMismatchError(ValueError):
    """A formula that makes no sense for matrices of these types, or a motion that leaves its type."""


@dataclass(frozen=True)
class Letter:
    """A matrix letter. `symmetry` is +1 (symmetric), -1 (antisymmetric) or 0; `commutes` names letters it commutes
    with.

    `commutes` is read for both letters and both transposes: e R = R e, e R' = R' e, and so on. That holds when R is
    orthogonal,
    as rotations are, and e commutes with it.
    """

    name: str
    rows: str
    columns: str
    diagonal: bool = False
    symmetry: int = 0
    commutes: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if (self.diagonal or self.symmetry) and self.rows != self.columns:
            raise TypeMismatchError(f"{self.name} cannot be diagonal or symmetric: it is {self.rows} x {self.columns}")


@dataclass(frozen=True)
class Poly:
    """An expanded polynomial. `rows` and `columns` are None for an integer, which fits every square type."""

    rows: str | None
    columns: str | None
    terms: Mapping[Monomial, int]


class Algebra:
    """Letters with their types, and relations `word -> polynomial` that may be used as rewriting rules.

    A relation is a pair of trees; its left side must be one word.
    """

    def __init__(self, letters: Iterable[Letter], relations: Iterable[tuple[Tree, Tree]] = ()) -> None:
        self.letters = {letter.name: letter for letter in letters}
        self._rules: list[tuple[Word, Poly]] = []
        self._scalar_rules: list[tuple[tuple[Word, ...], Poly]] = []
        self.relations = tuple(relations)
        for left, right in self.relations:
            head = self._word(left)
            body = self.expand(right)
            if body.rows is not None and (body.rows, body.columns) != (self._rows(head[0]), self._columns(head[-1])):
                raise TypeMismatchError(f"a relation equates different types: {left} and {right}")
            scalars = self._cut_scalar(head) if (self._rows(head[0]), self._columns(head[-1])) == ("1", "1") else ()
            if len(scalars) > 1:  # a product of scalars has no order
                self._scalar_rules.append((scalars, body))
                continue
            self._rules.append((head, body))
            self._rules.append((_flip(head), self._transpose(body)))

    def vanishes(self, tree: Tree) -> bool:
        """Whether the normal form of `tree` is zero. True is a proof for all sizes, False is nothing."""
        return not self.expand(tree).terms

    def check_motion(self, motion: Mapping[str, Tree], derive: Any) -> None:
        """Raise `TypeMismatchError` unless `motion` (letter -> its derivative) is tangent to every type and relation.

        `derive(tree, motion)` is the Leibniz rule on trees.
        """
        for name, tree in motion.items():
            letter, moved = self.letters[name], self.expand(tree)
            if moved.terms and moved.rows is not None and (moved.rows, moved.columns) != (letter.rows, letter.columns):
                raise TypeMismatchError(
                    f"{name} is {letter.rows} x {letter.columns} and moves by {moved.rows} x {moved.columns}"
                )
            words = [word for _, word in moved.terms]
            if letter.diagonal and not all(self.letters[factor].diagonal for word in words for factor, _ in word):
                raise TypeMismatchError(f"{name} is diagonal and moves by what is not")
            if letter.symmetry and not self.vanishes(
                ("plus", tree, ("times", ("number", -letter.symmetry), ("transpose", tree)))
            ):
                raise TypeMismatchError(f"{name} leaves its symmetry")
            if letter.commutes and moved.terms:
                raise TypeMismatchError(f"{name} is typed in a commutant and must rest")
        for left, right in self.relations:
            if not self.vanishes(("plus", derive(left, motion), ("minus", derive(right, motion)))):
                raise TypeMismatchError(f"the motion leaves the relation {left} = {right}")

    def expand(self, tree: Tree) -> Poly:
        """Return the normal form of a formula; `TypeMismatchError` where dimensions disagree."""
        kind = tree[0]
        if kind == "letter":
            if tree[1] not in self.letters:
                raise TypeMismatchError(f"unknown letter {tree[1]!r}")
            letter = self.letters[tree[1]]
            return self._normal(letter.rows, letter.columns, [(1, (), ((letter.name, False),))])
        if kind == "number":
            return Poly(None, None, {((), ()): tree[1]} if tree[1] else {})
        if kind == "minus":
            part = self.expand(tree[1])
            return Poly(part.rows, part.columns, {monomial: -c for monomial, c in part.terms.items()})
        if kind == "transpose":
            return self._transpose(self.expand(tree[1]))
        left, right = self.expand(tree[1]), self.expand(tree[2])
        return self._sum(left, right) if kind == "plus" else self._product(left, right)

    def _word(self, tree: Tree) -> Word:
        if tree[0] == "letter":
            return ((tree[1], False),)
        if tree[0] == "transpose":
            return _flip(self._word(tree[1]))
        if tree[0] == "times":
            return self._word(tree[1]) + self._word(tree[2])
        raise TypeMismatchError(f"the left side of a relation must be one word: {tree}")

    def _rows(self, factor: tuple[str, bool]) -> str:
        letter = self.letters[factor[0]]
        return letter.columns if factor[1] else letter.rows

    def _columns(self, factor: tuple[str, bool]) -> str:
        letter = self.letters[factor[0]]
        return letter.rows if factor[1] else letter.columns

    def _sum(self, left: Poly, right: Poly) -> Poly:
        types = {(part.rows, part.columns) for part in (left, right) if part.rows is not None}
        if len(types) > 1:
            raise TypeMismatchError(f"a sum of different types: {sorted(map(str, types))}")
        rows, columns = types.pop() if types else (None, None)
        if rows != columns and any(part.rows is None and part.terms for part in (left, right)):
            raise TypeMismatchError(f"an integer added to a {rows} x {columns} matrix")
        terms = dict(left.terms)
        for monomial, c in right.terms.items():
            _add(terms, monomial, c)
        return Poly(rows, columns, terms)

    def _product(self, left: Poly, right: Poly) -> Poly:
        if any(part.rows is None and not part.terms for part in (left, right)):
            return Poly(None, None, {})  # zero fits every type
        scalar_left = (left.rows, left.columns) in ((None, None), ("1", "1"))
        scalar_right = (right.rows, right.columns) in ((None, None), ("1", "1"))
        if not scalar_left and not scalar_right and left.columns != right.rows:
            raise TypeMismatchError(f"{left.rows} x {left.columns} times {right.rows} x {right.columns}")
        rows = right.rows if scalar_left and right.rows is not None else left.rows
        columns = left.columns if scalar_right and left.columns is not None else right.columns
        products = [
            (
                c * k,
                (*scalars, *more),
                word + tail,
            )  # a 1 x 1 word is kept among the scalars, so its matrix word is empty
            for (scalars, word), c in left.terms.items()
            for (more, tail), k in right.terms.items()
        ]
        return self._normal(rows, columns, products)

    def _transpose(self, poly: Poly) -> Poly:
        flipped = [(c, scalars, _flip(word)) for (scalars, word), c in poly.terms.items()]
        return self._normal(poly.columns, poly.rows, flipped)

    def _normal(self, rows: str | None, columns: str | None, work: list[tuple[int, tuple[Word, ...], Word]]) -> Poly:
        terms: Terms = {}
        steps = 0
        while work:
            steps += 1
            if steps > MAX_STEPS:
                raise TypeMismatchError("the relations do not end")
            c, scalars, word = work.pop()
            sign, word = self._arrange(word)
            c *= sign
            rewritten = self._rewrite(c, scalars, word)
            if rewritten is not None:
                work.extend(rewritten)
                continue
            cut = self._cut(word)
            if cut is not None:
                middle, word = cut
                work.append((c, (*scalars, *middle), word))
                continue
            canonical: list[Word] = []
            for position, scalar in enumerate(scalars):
                sign, scalar = self._arrange(scalar)
                sign_back, back = self._arrange(_flip(scalar))
                c *= sign
                if back == scalar and sign_back < 0:
                    c = 0  # w = w' = -w
                if back < scalar:
                    c, scalar = c * sign_back, back
                rewritten = self._rewrite(c, (*canonical, *scalars[position + 1 :]), scalar) if c else None
                if rewritten is not None:
                    # What came out of a scalar is a scalar again; the matrix word waits outside.
                    work.extend((k, (*others, *((inner,) if inner else ())), word) for k, others, inner in rewritten)
                    c = 0
                if c == 0:
                    break
                parts = self._cut_scalar(scalar)
                if len(parts) > 1:
                    work.append((c, (*canonical, *parts, *scalars[position + 1 :]), word))
                    c = 0
                    break
                canonical.append(scalar)
            reduced = self._rewrite_scalars(c, canonical, word) if c else None
            if reduced is not None:
                work.extend(reduced)
            elif c:
                _add(terms, (tuple(sorted(canonical)), word), c)
        return Poly(rows, columns, terms)

    def _arrange(self, word: Word) -> tuple[int, Word]:
        """Drop transposes of symmetric letters and sort neighbours that commute."""
        sign = 1
        factors: list[tuple[str, bool]] = []
        for name, flipped in word:
            letter = self.letters[name]
            if flipped and letter.symmetry < 0:
                sign = -sign
            factors.append((name, flipped and not (letter.diagonal or letter.symmetry)))
        for end in range(len(factors) - 1, 0, -1):
            for k in range(end):
                if factors[k + 1] < factors[k] and self._commute(factors[k][0], factors[k + 1][0]):
                    factors[k], factors[k + 1] = factors[k + 1], factors[k]
        return sign, tuple(factors)

    def _commute(self, first: str, second: str) -> bool:
        a, b = self.letters[first], self.letters[second]
        return (a.diagonal and b.diagonal) or second in a.commutes or first in b.commutes

    def _rewrite(
        self, c: int, scalars: tuple[Word, ...], word: Word
    ) -> list[tuple[int, tuple[Word, ...], Word]] | None:
        for head, body in self._rules:
            for at in range(len(word) - len(head) + 1):
                if word[at : at + len(head)] == head:
                    before, after = word[:at], word[at + len(head) :]
                    return [
                        (c * k, (*scalars, *more), before + inner + after) for (more, inner), k in body.terms.items()
                    ]
        return None

    def _rewrite_scalars(
        self, c: int, scalars: list[Word], word: Word
    ) -> list[tuple[int, tuple[Word, ...], Word]] | None:
        for head, body in self._scalar_rules:
            rest = list(scalars)
            for factor in head:
                form = next((w for w in (self._arrange(factor)[1], self._arrange(_flip(factor))[1]) if w in rest), None)
                if form is None:
                    break
                rest.remove(form)
            else:
                return [(c * k, (*rest, *more), word) for (more, _), k in body.terms.items()]
        return None

    def _cut(self, word: Word) -> tuple[tuple[Word, ...], Word] | None:
        """Split off the scalars inside a matrix word: what lies between two places where the dimension is literally
        1.
        """
        places = self._places(word)
        if len(places) < 2:
            return None
        middle = tuple(word[a:b] for a, b in pairwise(places))
        return middle, word[: places[0]] + word[places[-1] :]

    def _cut_scalar(self, word: Word) -> tuple[Word, ...]:
        places = self._places(word)
        return tuple(word[a:b] for a, b in pairwise(places))

    def _places(self, word: Word) -> list[int]:
        if not word:
            return []
        starts = [k for k, factor in enumerate(word) if self._rows(factor) == "1"]
        return starts + ([len(word)] if self._columns(word[-1]) == "1" else [])


def _flip(word: Word) -> Word:
    return tuple((name, not flipped) for name, flipped in reversed(word))


def _add(terms: Terms, monomial: Monomial, c: int) -> None:
    total = terms.get(monomial, 0) + c
    if total:
        terms[monomial] = total
    else:
        terms.pop(monomial, None)
