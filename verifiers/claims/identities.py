"""Finite symmetries of a layer, and identities of networks."""

from __future__ import annotations

from functools import partial

from ..freealgebra import Letter
from . import finite
from .entries import Shape
from .letters import BIASES, DIFFER, LIGHT, MIXED, NORMED, letters
from .model import Check, Claim
from .residuals import Entries, Residuals, bound, by_sympy, by_z3_reals
from .words import Words, by_free_algebra, by_z3_ring

PAPER = "arXiv 2408.17221"


def _put(text: str, **values: str) -> str:
    """Replace letters by products, `Q="G Q"`."""
    for old, new in values.items():
        text = text.replace(f"({old} ", f"({new} ").replace(f"+ {old}", f"+ {new}")
    return text


def both(entries: Entries, words: Words) -> tuple[Check, ...]:
    """Return the three routes of a claim stated entry by entry and in words."""
    return (
        Check("sympy", by_sympy, entries),
        Check("free algebra", by_free_algebra, words),
        Check("z3 ring", by_z3_ring, words),
    )


def sized(entries: Entries, words: Words) -> tuple[Check, ...]:
    """Return the same with Z3 at the first stated size in place of Z3 for all sizes."""
    return (
        Check("sympy", by_sympy, entries),
        Check("free algebra", by_free_algebra, words),
        Check("z3 reals", by_z3_reals, entries),
    )


def _same(setting: finite.Setting, *shapes: Shape) -> Entries:
    return Entries(bound(finite.same, setting), shapes)


def _swapped(setting: finite.Setting) -> Residuals:
    return partial(finite.same, setting, order=(1, 0))


_TURN = {"Q": "G Q", "bq": "G bq", "K": "H K", "bk": "H bk"}
_SECOND = (Letter("Qh", "a", "d"), Letter("Kh", "a", "d"), Letter("Vh", "v", "d"), Letter("Oh", "n", "v"))
_TWO = "(O V x) ((K x)' (Q z)) + (Oh Vh x) ((Kh x)' (Qh z))"
_SWAP = "(Oh Vh x) ((Kh x)' (Qh z)) + (O V x) ((K x)' (Q z))"

# Two lightning layers in words, without shorthand: X1 = V X (K X)' (Q X); A = K'Q, B the same of layer 2.
_HIDDEN = "(V X X' K' Q X)"
_DEEP = f"W {_HIDDEN} {_HIDDEN}' L' M {_HIDDEN}"
_Z = "(X X' (K' Q) X)"
_VIRTUAL = f"(W V) {_Z} {_Z}' (V' (L' M) V) {_Z}"
_STREAM = "(P Z)"
_DEEP_TYPES = (
    Letter("X", "d", "t"),
    Letter("V", "m", "d"),
    Letter("K", "a", "d"),
    Letter("Q", "a", "d"),
    Letter("W", "n", "m"),
    Letter("L", "b", "m"),
    Letter("M", "b", "m"),
    Letter("P", "m", "d"),
    Letter("Z", "d", "t"),
)

CLAIMS = (
    Claim(
        "gauge-finite",
        "Query/key gauge",
        "Q -> G Q, K -> G^-T K (biases along) leaves every lightning and softmax layer, for each invertible G and "
        "each group.",
        "all sizes",
        f"{PAPER}; PROOFS section 6",
        both(
            _same(finite.gauge, Shape("lightning", a=2, bias="qkv"), Shape("softmax", a=2, heads=2, kv=1, bias="qkvo")),
            Words(
                letters(Letter("G", "a", "a"), Letter("H", "a", "a")),
                equal=((_put(LIGHT, **_TURN), LIGHT), (_put(DIFFER, **_TURN), DIFFER)),
                relations=(("H' G", "1"),),
                optional=(*BIASES, "O"),
            ),
        ),
    ),
    Claim(
        "rescaling-finite",
        "Attention/value rescaling",
        "V -> c V, K -> K / c (biases along) leaves every lightning layer, skip connection or not, for each c other "
        "than 0; w is any query.",
        "all sizes",
        f"{PAPER}; PROOFS section 6",
        both(
            _same(
                finite.rescaling,
                Shape("lightning", a=2, bias="kqv", skip=True),
                Shape("lightning", a=1, t=3, causal=True),
            ),
            Words(
                letters(Letter("c", "1", "1"), Letter("r", "1", "1"), Letter("w", "a", "1")),
                equal=(("(O (c V x + c bv)) ((r K x + r bk)' w)", "(O (V x + bv)) ((K x + bk)' w)"),),
                relations=(("c r", "1"),),
                optional=("bk", "bv", "O"),
            ),
        ),
    ),
    Claim(
        "virtual-weights",
        "Virtual weights of two layers",
        "With A_i = K_i' Q_i, M1 = A1, M2 = V1' A2 V1, L = V2 V1 and Z = X X' M1 X, two lightning layers are X -> L "
        "Z Z' M2 Z: "
        "the function depends on (M1, M2, L) only.",
        "all sizes",
        f"{PAPER}; PROOFS section 9",
        both(
            Entries(finite.virtual_weights, (Shape("lightning", d=2, n=1, a=1, t=2),)),
            Words(_DEEP_TYPES, equal=((_DEEP, _VIRTUAL),)),
        ),
    ),
    Claim(
        "virtual-weights-step",
        "Virtual weights, one more layer",
        "If a stream is P Z, one lightning layer more makes it (V P) (Z Z' (P' A P) Z): by induction every depth "
        "depends on "
        "M_i = P_(i-1)' A_i P_(i-1) and L = V_l ... V_1 only.",
        "all sizes",
        f"{PAPER}; PROOFS section 9",
        both(
            Entries(
                finite.virtual_step, (Shape("lightning", d=2, n=2, a=2, t=2), Shape("lightning", d=2, n=1, a=1, t=3))
            ),
            Words(_DEEP_TYPES, equal=((f"W {_STREAM} {_STREAM}' L' M {_STREAM}", "(W P) (Z Z' (P' L' M P) Z)"),)),
        ),
    ),
    Claim(
        "head-permutation",
        "Head permutation",
        "Exchanging two heads together with their groups (or inside one group) leaves the layer.",
        "all sizes",
        "PROOFS section 6",
        both(
            Entries(
                _swapped(finite.head_swap),
                (
                    Shape("softmax", heads=2, kv=2, dv=1, bias="qkv"),
                    Shape("softmax", heads=2, kv=1, dv=1),
                    Shape("lightning", heads=2, kv=2),
                ),
            ),
            Words(letters(*_SECOND), equal=((_TWO, _SWAP),)),
        ),
    ),
    Claim(
        "head-mixing",
        "GL(heads) mixes full-width lightning heads",
        "For a >= d and full V a head is (V_h, A_h) with A_h free, and V -> M V, A -> M^-T A over the heads leaves "
        "the layer: "
        "shown for two heads and M = [[1, m], [0, 1]], which with scalings and permutations makes all of GL.",
        "all sizes, two heads; every M at d=2, a=2, heads=2",
        "PROOFS section 6",
        both(
            _same(finite.head_mixing, Shape("lightning", a=2, heads=2, kv=2)),
            Words(
                (
                    *(Letter(name, "n", "d") for name in ("V", "W")),
                    *(Letter(name, "d", "d") for name in ("A", "B")),
                    Letter("m", "1", "1"),
                    Letter("x", "d", "1"),
                    Letter("z", "d", "1"),
                ),
                equal=(("((V + m W) x) (x' A z) + (W x) (x' (B - m A) z)", "(V x) (x' A z) + (W x) (x' B z)"),),
            ),
        ),
    ),
    Claim(
        "layer-trilinear",
        "A layer is trilinear in Q, K, V",
        "The unbiased lightning layer is additive and homogeneous in each of Q, K, V.",
        "all sizes",
        f"{PAPER}; PROOFS section 9",
        both(
            Entries(finite.trilinear, (Shape("lightning", a=2), Shape("lightning", a=1, heads=2, kv=1, t=3))),
            Words(
                letters(*_SECOND, Letter("c", "1", "1")),
                equal=tuple(
                    (f"{head} + c {tail}", f"{head.replace(letter, '#').replace('#', f'({letter} + c {letter}h)')}")
                    for letter, head, tail in (
                        ("Q", "(V x) ((K x)' (Q z))", "((V x) ((K x)' (Qh z)))"),
                        ("K", "(V x) ((K x)' (Q z))", "((V x) ((Kh x)' (Q z)))"),
                        ("V", "(V x) ((K x)' (Q z))", "((Vh x) ((K x)' (Q z)))"),
                    )
                ),
            ),
        ),
    ),
    Claim(
        "layer-cubic",
        "A layer is cubic in X",
        "The unbiased lightning layer f satisfies f(c X) = c^3 f(X); by composition l layers are homogeneous of "
        "degree 3^l.",
        "all sizes",
        f"{PAPER}; PROOFS section 9",
        both(
            Entries(finite.cubic, (Shape("lightning", a=2), Shape("lightning", a=1, t=3, causal=True))),
            Words(
                letters(Letter("c", "1", "1")),
                equal=(("(V (c x)) ((K (c x))' (Q (c z)))", "c c c ((V x) ((K x)' (Q z)))"),),
            ),
        ),
    ),
    Claim(
        "softmax-shift",
        "Softmax forgets what all keys share",
        "A score that moves by the same amount for all keys of a query leaves the weights; weights sum to one, so a "
        "constant "
        "value passes through: (O (V X + (b + u) o')) p = (O (V X + b o')) p + O u.",
        "all sizes",
        "PROOFS section 6",
        both(
            Entries(
                finite.shifted, (Shape("softmax", bias="kvo"), Shape("softmax", bias="kvo", t=3, causal=True, dv=1))
            ),
            Words(
                letters(Letter("u", "v", "1")),
                equal=((MIXED.replace("bv", "(bv + u)"), f"{MIXED} + O u"),),
                relations=NORMED,
                optional=("bo", "O"),
            ),
        ),
    ),
)
