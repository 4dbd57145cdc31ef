"""Fibers as claims: which parameters give the same function. The argument that joins the lemmas is in PROOFS.md."""

from __future__ import annotations

from ..freealgebra import Letter
from . import deep, finite
from . import fiberroutes as routes
from .certificate import by_certificates
from .entries import Shape
from .fibers import lemmas, named
from .identities import PAPER, both, sized
from .lemmas import by_z3
from .model import Check, Claim
from .residuals import Entries
from .words import Words

SOURCE = f"{PAPER}; PROOFS section 8"
LENGTHS = "all sizes: certificates over every field of characteristic not 2, Z3 over the reals"
THEOREM = (
    "domain",
    "pair",
    "straight",
    "column",
    "row",
    "both",
    "zero-column",
    "tensor",
    "rows-parallel",
    "columns-parallel",
    "straight-back",
    "crossed-back",
)


def _lemma(name: str, title: str, statement: str, *used: str, quick: bool = True) -> Claim:
    checks = (Check("certificate", by_certificates, named(*used)), Check("z3 small model", by_z3, lemmas(*used)))
    return Claim(f"fiber-{name}", title, statement, LENGTHS, SOURCE, checks, quick=quick)


_D = "(K' Q - L' R)"
_ORBIT = (
    *(Letter(name, "a", "d") for name in ("K", "Q", "L", "R")),
    *(Letter(name, "d", "a") for name in ("k", "q", "l", "r")),
)

CLAIMS = (
    Claim(
        "fiber-single-2-1",
        "The fiber of one lightning layer, d = 2, d' = 1",
        "t >= 2, V not 0 and A = K'Q of rank 2: (W, B) gives the same function iff W = c V, B = A / c for some c.",
        "d=2, d'=1, every a",
        SOURCE,
        (
            Check("z3 reals", routes.by_z3_sizes, ((2, 1),)),
            Check("certificate", routes.by_certified_argument, THEOREM),
        ),
    ),
    Claim(
        "fiber-single-small",
        "The fiber of one lightning layer, small sizes",
        "V and A not 0, not both of rank one: the fiber is the rescalings. Every cell (row of V, column of A) is "
        "straight or "
        "crossed (fiber-pair); Z3 decides the blocks of two rows and columns, all coordinates at once.",
        "d = 2, 3, d' = 1, 2, every a (for d = 1 both ranks are at most one)",
        SOURCE,
        (
            Check("z3 reals", routes.by_z3_blocks, ((2, 1), (2, 2), (3, 1), (3, 2))),
            Check("certificate", routes.by_certified_argument, THEOREM),
        ),
        quick=False,
    ),
    Claim(
        "single-layer-tensor",
        "A lightning layer with two tokens is a tensor",
        "The layer is (x, z) -> V x x'A z in its off-diagonal part, and polarised in x it is V x y'A z + V y x'A z: "
        "for "
        "t >= 2 the function and the tensor V_rp A_qc + V_rq A_pc determine each other.",
        "all sizes",
        SOURCE,
        both(
            Entries(finite.polarised, (Shape("lightning", d=2, n=1, a=2), Shape("lightning", d=3, n=2, a=1))),
            Words(
                (Letter("V", "n", "d"), Letter("A", "d", "d"), *(Letter(name, "d", "1") for name in "xyz")),
                equal=(
                    (
                        "(V (x + y)) ((x + y)' A z) - (V x) (x' A z) - (V y) (y' A z)",
                        "(V x) (y' A z) + (V y) (x' A z)",
                    ),
                ),
            ),
        ),
    ),
    _lemma(
        "domain",
        "A product of two vectors is not zero",
        "v * a = 0 in the symmetric square implies v = 0 or a = 0. So V * A = 0, the zero function, iff V = 0 or A = "
        "0.",
        "domain",
    ),
    _lemma(
        "pair",
        "Equal products of two vectors",
        "v * a = w * b implies (w ^ v) . (w ^ a) = 0, so w is parallel to v or to a; and w parallel to v implies "
        "v (x) a = w (x) b.",
        "pair",
        "straight",
        quick=False,
    ),
    Claim(
        "fiber-single",
        "The fiber of one lightning layer, all sizes",
        "t >= 2, V and A not 0. (W, B) gives the same function iff V (x) A = W (x) B (rescalings), or W_rq B_pc = "
        "V_rp A_qc "
        "for all r, p, q, c, which needs rank V = rank A = 1: outside that set the fiber is exactly the rescalings.",
        f"{LENGTHS}; every d, d', a",
        SOURCE,
        (
            Check("certificate", routes.by_certified_argument, THEOREM),
            Check("z3 small model", routes.by_z3_argument, THEOREM),
        ),
        quick=False,
    ),
    Claim(
        "fiber-exceptional-members",
        "The exceptional fiber: both components",
        "V = u k', A = l q' and W = u l', B = k q' (value vector and key vector exchanged) give the same function.",
        "all sizes",
        SOURCE,
        sized(
            Entries(finite.exchanged, (Shape("lightning", d=2, n=2, a=1), Shape("lightning", d=3, n=1, a=1))),
            Words(
                (
                    Letter("u", "n", "1"),
                    *(Letter(name, "d", "1") for name in "klqxz"),
                ),
                equal=(("((u k') x) (x' (l q') z)", "((u l') x) (x' (k q') z)"),),
            ),
        ),
    ),
    _lemma(
        "exceptional-no-third",
        "The exceptional fiber: no third component",
        "If V = u k', A = l q' and all cells are crossed, then W (x) B = (u l') (x) (k q'), so (W, B) is a rescaling "
        "of the "
        "exchanged point; if all are straight, of the point itself. One cell of each kind alone is impossible "
        "(fiber-single).",
        "exchanged",
        "tensor",
    ),
    _lemma(
        "one-token",
        "The fiber with one token",
        "t = 1: x -> V x (x'A x) depends on V and A + A' only; for rank V >= 2 the fiber is W = c V, B + B' = (A + "
        "A') / c. "
        "With v, x independent rows of V, w, y those of W: v S = w T and x S = y T are cubics, so v y = x w (multiply "
        "crosswise, cancel S T); then w, y are one multiple of v, x.",
        "one-token",
        "domain",
        quick=False,
    ),
    Claim(
        "fiber-one-token-symmetric",
        "One token sees the symmetric part only",
        "(V x) (x' (A + N) x) = (V x) (x' A x) for antisymmetric N.",
        "all sizes",
        SOURCE,
        sized(
            Entries(finite.symmetric_part, (Shape("lightning", d=2, n=1, t=1), Shape("lightning", d=3, n=2, t=1))),
            Words(
                (
                    Letter("V", "n", "d"),
                    Letter("x", "d", "1"),
                    Letter("A", "d", "d"),
                    Letter("M", "d", "d"),
                ),
                equal=(("(V x) (x' (A + M - M') x)", "(V x) (x' A x)"),),
            ),
        ),
    ),
    Claim(
        "fiber-softmax",
        "One softmax layer: (A, V) is determined",
        "t >= 2: a query among copies of itself gives V z, so V is determined; if V is not 0, so is A: the weights of "
        "(x, z) at z are sigma((x - z)'A z), or, by the second derivative at x = z, V (x) A is determined symmetrised.",
        "all sizes; sympy at d=2",
        "PROOFS section 9",
        (
            Check("z3 small model", routes.by_z3_softmax, None),
            Check("sympy small model", routes.by_sympy_softmax, 2),
        ),
    ),
    Claim(
        "fiber-query-key",
        "(Q, K) -> K'Q at full rank: one orbit of GL(a)",
        "If K'Q = L'R and all four have right inverses k, q, l, r, then G = l'K' is invertible with inverse k'L', R "
        "= G Q "
        "and K = G'L. Each statement is an identity with cofactors in D = K'Q - L'R.",
        "all sizes",
        SOURCE,
        sized(
            Entries(finite.orbit, (Shape("lightning", d=2, a=2), Shape("lightning", d=1, a=1))),
            Words(
                _ORBIT,
                relations=(("K k", "1"), ("Q q", "1"), ("L l", "1"), ("R r", "1")),
                equal=(
                    ("k' L' R - Q", f"- k' {_D}"),
                    ("l' K' Q - R", f"l' {_D}"),
                    ("K' - L' l' K'", f"{_D} q - L' l' {_D} q"),
                    ("k' L' l' K'", f"Q q - k' {_D} q + k' L' l' {_D} q"),
                    ("l' K' k' L'", f"R r + l' {_D} r - l' K' k' {_D} r"),
                ),
            ),
        ),
    ),
    Claim(
        "fiber-deep-local",
        "Two lightning layers: rescalings only, locally",
        "(M1, M2, L) -> L Z Z'M2 Z, Z = X X'M1 X, at generic points: its differential loses exactly the two rescalings "
        "M1 -> c M1, M2 -> e M2, L -> L / (c^3 e). Locally, at the stated sizes; see fiber-deep for what is open.",
        "d=2,2,2 and 2,2,1, a=2, t=2 and 3",
        SOURCE,
        (
            Check("rational ranks", deep.by_rational_deep_rank, ((2, 2), (2, 3), (1, 3))),
            Check("modular ranks", deep.by_modular_deep_rank, ((2, 2), (2, 3), (1, 3))),
        ),
    ),
    Claim(
        "fiber-deep",
        "Two lightning layers: rescalings only, globally",
        "At generic (M1, M2, L) every other point with the same function is a rescaling. Not proved here: the "
        "single-layer "
        "argument needs the unknown factors as products of two vectors, and Z enters three times.",
        "d=2,2,1, a=2, t=2",
        PAPER,
        (Check("z3 reals", deep.by_z3_deep, None),),
        expect="unknown",
        quick=False,
        reason="only the local statement is proved; Z3 gives up on the global one, and no second route is known to us",
    ),
    Claim(
        "not-fiber-without-rank",
        "The fiber is the rescalings, with no condition on ranks",
        "V and A not 0 implies that the fiber is the rescalings. Wrong: at rank V = rank A = 1 there is the "
        "exchanged point.",
        "d=2, d'=1",
        SOURCE,
        (
            Check("z3 reals", routes.by_z3_without_rank, (2, 1)),
            Check("rationals", routes.by_exchange, 2),
        ),
        expect="refuted",
    ),
    Claim(
        "not-fiber-one-token",
        "With one token the fiber is the rescalings up to antisymmetric parts",
        "t = 1, V and A + A' not 0 implies W = c V. Wrong at rank V = 1: x0 (x0 x1) = x1 (x0 x0).",
        "d=2, d'=1",
        SOURCE,
        (
            Check("z3 small model", by_z3, lemmas("one-token-wrong")),
            Check("rationals", routes.by_one_token, None),
        ),
        expect="refuted",
    ),
    Claim(
        "degree",
        "The degree of l layers is 3^l",
        "Unbiased lightning networks with l layers are homogeneous of degree exactly 3^l in X: homogeneous by "
        "layer-cubic, "
        "and not zero.",
        "l <= 3",
        f"{PAPER}; PROOFS section 9",
        (
            Check("sympy numbers", deep.by_sympy_degree, ((2, 1), (2, 2), (1, 3))),
            Check("rationals", deep.by_rational_degree, ((2, 1), (2, 2), (2, 3))),
        ),
    ),
)
