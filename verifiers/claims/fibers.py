"""The lemmas behind the single-layer fiber theorem. What they say together is proved in PROOFS.md, section 5.

Vectors v, w are rows of V, W; a, b, columns of A, B; `v.i a.j + v.j a.i` is the entry (i, j) of twice their
symmetric product.
"""

from __future__ import annotations

from itertools import permutations

from .lemmas import Lemma

Scalings = tuple[dict[str, int], ...]

_PRODUCT = "v.i a.j + v.j a.i - w.i b.j - w.j b.i"
_VW, _AB, _CD, _XY = {"v": 1, "w": 1}, {"a": 1, "b": 1}, {"c": 1, "d": 1}, {"x": 1, "y": 1}

# name -> the lemma and the scalings under which it is homogeneous (only the search reads these)
LEMMAS: dict[str, tuple[Lemma, Scalings]] = {
    # A product of two non-zero vectors is not zero.
    "domain": (Lemma(("v.i a.j + v.j a.i",), ("v.p", "a.q"), ("p", "q")), ({"v": 1}, {"a": 1})),
    # Equal products: w is parallel to v, or w is parallel to a.
    "pair": (
        Lemma((_PRODUCT,), ("w.p v.q - w.q v.p", "w.r a.s - w.s a.r"), ("p", "q", "r", "s")),
        ({"v": 1, "w": 1, "a": 1, "b": 1}, {"a": 1, "b": -1, "v": -1, "w": 1}),
    ),
    # Equal products and w parallel to v: v (x) a = w (x) b.
    "straight": (Lemma((_PRODUCT, "w.i v.j - w.j v.i"), ("v.p a.q - w.p b.q",), ("p", "q")), (_VW, _AB)),
    # In one column: v (x) a = w (x) b and x (x) a = b (x) y; one of the two also in the other way.
    "column": (
        Lemma(
            ("v.i a.j - w.i b.j", "x.i a.j - b.i y.j"),
            ("v.p a.q - b.p w.q", "x.r a.s - y.r b.s"),
            ("p", "q", "r", "s"),
        ),
        (_VW, _XY, _AB),
    ),
    # In one row: v (x) a = w (x) b and v (x) c = d (x) w; one of the two also in the other way.
    "row": (
        Lemma(
            ("v.i a.j - w.i b.j", "v.i c.j - d.i w.j"),
            ("v.p a.q - b.p w.q", "v.r c.s - w.r d.s"),
            ("p", "q", "r", "s"),
        ),
        (_VW, _CD, _AB),
    ),
    # Both ways with a non-zero column c, and crossed with a: straight with a.
    "both": (
        Lemma(
            ("v.i c.j - w.i d.j", "v.i c.j - d.i w.j", "v.i a.j - b.i w.j"),
            ("v.p a.q - w.p b.q", "c.s"),
            ("p", "q", "s"),
        ),
        (_VW, _AB, _CD),
    ),
    # Straight with a zero column: crossed too.
    "zero-column": (Lemma(("v.i a.j - w.i b.j", "a.i"), ("v.p a.q - b.p w.q",), ("p", "q")), (_VW, _AB)),
    # Equal tensors: w is a multiple of v, as soon as a is not zero.
    "tensor": (Lemma(("v.i a.j - w.i b.j",), ("v.p w.q - v.q w.p", "a.s"), ("p", "q", "s")), (_VW, _AB)),
    # Both ways give the same symmetric product.
    "straight-back": (
        Lemma(("v.i a.j - w.i b.j",), ("v.p a.q + v.q a.p - w.p b.q - w.q b.p",), ("p", "q")),
        (_VW, _AB),
    ),
    "crossed-back": (Lemma(("v.i a.j - b.i w.j",), ("v.p a.q + v.q a.p - w.p b.q - w.q b.p",), ("p", "q")), (_VW, _AB)),
    # At v = k, a = l: crossed says that (w, b) is the exchanged point.
    "exchanged": (
        Lemma(("k.i l.j - b.i w.j",), ("w.p b.q - l.p k.q",), ("p", "q")),
        ({"k": 1, "b": 1}, {"l": 1, "w": 1}),
    ),
    # Crossed in two rows with one non-zero column: the rows are parallel.
    "rows-parallel": (
        Lemma(("v.i a.j - b.i w.j", "x.i a.j - b.i y.j"), ("v.p x.q - v.q x.p", "a.s"), ("p", "q", "s")),
        (_VW, _XY, _AB),
    ),
    # Crossed in two columns with one non-zero row: the columns are parallel.
    "columns-parallel": (
        Lemma(("v.i a.j - b.i w.j", "v.i c.j - d.i w.j"), ("a.p c.q - a.q c.p", "v.s"), ("p", "q", "s")),
        (_VW, _AB, _CD),
    ),
    # From v(x) y(x) = x(x) w(x), where v, x are rows of V and w, y those of W: rows of W are the same multiple of
    # those of V.
    "one-token": (
        Lemma(
            ("v.i y.j + v.j y.i - x.i w.j - x.j w.i",), ("v.p x.q - v.q x.p", "v.r y.s - w.r x.s"), ("p", "q", "r", "s")
        ),
        ({"v": 1, "x": 1, "w": 1, "y": 1}, {"v": 1, "w": 1}),
    ),
}

_CUBIC = tuple(" ".join(f"{{{k}}}.{i}" for k, i in enumerate(order)) for order in permutations("ijk"))

# Wrong statements that have the form of a lemma; there is no certificate for them.
WRONG: dict[str, Lemma] = {
    # One token, one row: v a c = w b e as cubics does not make w parallel to v.
    "one-token-wrong": Lemma(
        (
            " + ".join(t.format("v", "a", "c") for t in _CUBIC)
            + " - "
            + " - ".join(t.format("w", "b", "e") for t in _CUBIC),
        ),
        ("w.p v.q - w.q v.p", "a.p", "c.q"),
        ("p", "q"),
    ),
}


def lemmas(*names: str) -> tuple[Lemma, ...]:
    """Return lemmas by name."""
    return tuple(WRONG[name] if name in WRONG else LEMMAS[name][0] for name in names)


def named(*names: str) -> tuple[tuple[str, Lemma], ...]:
    """Return lemmas with their names."""
    return tuple((name, LEMMAS[name][0]) for name in names)
