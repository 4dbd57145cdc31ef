"""The free algebra: each rule holds under its type and is refused without it."""

import random
from fractions import Fraction

import pytest
from neuromanifold.verifiers.claims.formula import derive, parse
from neuromanifold.verifiers.freealgebra import Algebra, Letter, TypeMismatchError

A, B = Letter("A", "n", "n"), Letter("B", "n", "n")
D = [Letter(name, "n", "n", diagonal=True) for name in ("D", "E")]
V = [Letter(name, "n", "1") for name in "vw"]
S = [Letter(name, "1", "1") for name in "st"]
R = Letter("R", "n", "n", commutes=frozenset("C"))
C, N = Letter("C", "n", "n"), Letter("N", "n", "n", symmetry=-1)
Y = Letter("Y", "n", "n", symmetry=1)
ALL = (A, B, *D, *V, *S, R, C, N, Y)


def vanishes(text, types=ALL, relations=()):
    return Algebra(types, [(parse(x), parse(y)) for x, y in relations]).vanishes(parse(text))


TRUE = [
    "A (B + C) - A B - A C",
    "(A B)' - B' A'",
    "A'' - A",
    "D E - E D",
    "D' - D",
    "N' + N",
    "Y' - Y",
    "v' w - w' v",
    "v' N v",
    "(v' A w) (w' B v) - (w' A' v) (v' B' w)",
    "v (w' A w) v' - (w' A' w) v v'",
    "s A - A s",
    "s t - t s",
    "R C - C R",
    "R' C - C R'",
    "R C' - C' R",
    "2 A - A - A",
    "0 A",
    "1 A - A",
]
FALSE = [
    "A B - B A",
    "(A B)' - A' B'",
    "A' - A",
    "D A - A D",
    "v w' - w v'",
    "v' A w - v' A' w",
    "v' A v - v' B v",
    "v' Y v",
    "R A - A R",
    "R B' - B' R",
    "A - 2 A",
    "A A",
    "N N",
]


@pytest.mark.parametrize("text", TRUE)
def test_true_for_all_sizes(text):
    assert vanishes(text)


@pytest.mark.parametrize("text", FALSE)
def test_not_proved(text):
    assert not vanishes(text)


@pytest.mark.parametrize("text", ["A v - v", "v A", "v + w'", "A + v", "v + 1", "unknown", "v w"])
def test_ill_typed(text):
    if text == "A v - v":
        assert not vanishes(text)
        return
    with pytest.raises(TypeMismatchError):
        vanishes(text)


def test_relations():
    weights = (Letter("o", "n", "1"), Letter("p", "n", "1"), A)
    sums = [("o' p", "1")]
    assert vanishes("o' p - 1", weights, sums)
    assert vanishes("p' o - 1", weights, sums)
    assert vanishes("A o (o' p) - A o", weights, sums)
    assert not vanishes("o' o - 1", weights, sums)
    assert vanishes("s t s - s", S, [("s t", "1")])
    assert vanishes("t s - 1", S, [("s t", "1")])
    assert not vanishes("s s - 1", S, [("s t", "1")])
    with pytest.raises(TypeMismatchError):
        vanishes("A", (A, *V), [("A", "v")])
    with pytest.raises(TypeMismatchError):
        vanishes("A", (A, B), [("A + B", "0")])
    with pytest.raises(TypeMismatchError):
        vanishes("A", (A, B), [("A", "A + B")])


MOTIONS = [
    ({"D": "A D"}, "diagonal"),
    ({"Y": "A Y"}, "symmetry"),
    ({"v": "A"}, "moves by"),
    ({"R": "A R"}, "commutant"),
]


@pytest.mark.parametrize(("motion", "reason"), MOTIONS)
def test_a_motion_must_keep_its_type(motion, reason):
    with pytest.raises(TypeMismatchError, match=reason):
        Algebra(ALL).check_motion({name: parse(text) for name, text in motion.items()}, derive)


def test_a_motion_must_keep_relations():
    types = (Letter("n", "a", "1"), Letter("K", "a", "d"), Letter("e", "a", "a"), Letter("f", "d", "d"))
    algebra = Algebra(types, [(parse("n' K"), parse("0"))])
    algebra.check_motion({"K": parse("K f")}, derive)
    with pytest.raises(TypeMismatchError, match="relation"):
        algebra.check_motion({"K": parse("e K")}, derive)


def test_motions_that_keep_their_type():
    Algebra(ALL).check_motion({"D": parse("E D"), "Y": parse("A Y + Y A'"), "v": parse("A v")}, derive)


def times(x, y):
    return [[sum(a * b for a, b in zip(row, col, strict=True)) for col in zip(*y, strict=True)] for row in x]


def evaluate(tree, values):
    kind = tree[0]
    if kind == "letter":
        return values[tree[1]]
    if kind == "number":
        return tree[1]
    parts = [evaluate(part, values) for part in tree[1:]]
    if kind == "transpose":
        return [list(col) for col in zip(*parts[0], strict=True)]
    if kind == "minus":
        return [[-x for x in row] for row in parts[0]]
    if kind == "plus":
        return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(*parts, strict=True)]
    left, right = parts
    for scalar, other in ((left, right), (right, left)):
        if isinstance(scalar, int):
            return [[scalar * x for x in row] for row in other]
        if len(scalar) == len(scalar[0]) == 1:
            return [[scalar[0][0] * x for x in row] for row in other]
    return times(left, right)


def sample(rng, size):
    def table(rows, columns):
        return [[Fraction(rng.randrange(-3, 4)) for _ in range(columns)] for _ in range(rows)]

    values = {name: table(size, size) for name in "ABC"}
    values |= {
        name: [[rng.randrange(-3, 4) if i == j else 0 for j in range(size)] for i in range(size)] for name in "DE"
    }
    values |= {name: table(size, 1) for name in "vw"} | {name: table(1, 1) for name in "st"}
    square = table(size, size)
    values["N"] = [[square[i][j] - square[j][i] for j in range(size)] for i in range(size)]
    values["Y"] = [[square[i][j] + square[j][i] for j in range(size)] for i in range(size)]
    # a rotation by the angle of 3, 4, 5 in one plane, and C in its commutant
    turn, other = (Fraction(3, 5), Fraction(4, 5)), (Fraction(2), Fraction(-7))
    for name, (x, y) in (("R", turn), ("C", other)):
        values[name] = [[x, -y], [y, x]]
    return values


@pytest.mark.parametrize("text", TRUE)
def test_what_vanishes_is_zero_on_matrices(text):
    rng = random.Random(text)
    for _ in range(5):
        assert not any(any(row) for row in evaluate(parse(text), sample(rng, 2)))


@pytest.mark.parametrize("text", FALSE)
def test_what_does_not_vanish_here_is_not_zero(text):
    rng = random.Random(text)
    assert any(any(any(row) for row in evaluate(parse(text), sample(rng, 2))) for _ in range(20))


@pytest.mark.parametrize("text", ["", "(A", "A )", "A + ", "'", "A ? B", "+"])
def test_bad_formulas(text):
    with pytest.raises(ValueError, match=r"ends|closed|unexpected"):
        parse(text)
