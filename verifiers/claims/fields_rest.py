"""The field table, part 3: feed-forward parts, norms, free heads, streams of rank one."""

from __future__ import annotations

from functools import partial

from ..freealgebra import Letter
from . import motions, plain
from .fieldclaims import light, make, on, soft
from .identities import both
from .model import Claim
from .residuals import Entries, bound
from .words import Words

NORM_TYPES = (
    Letter("G", "d", "d", diagonal=True),
    Letter("e", "d", "d", diagonal=True),
    Letter("s", "d", "1"),
    Letter("u", "d", "1"),
    Letter("W", "m", "d"),
    Letter("b", "m", "1"),
    Letter("c", "m", "1"),
    Letter("w", "d", "1"),
    Letter("j", "d", "1"),
    Letter("r", "1", "1"),
    Letter("x", "d", "1"),
    Letter("y", "d", "1"),
    Letter("z", "d", "1"),
    Letter("K", "m", "d"),
    Letter("Q", "m", "d"),
    Letter("bq", "m", "1"),
)
NORM_DIFFER = "(K (G x + s))' (Q (G z + s) + bq) - (K (G y + s))' (Q (G z + s) + bq)"

CLAIMS = (
    make(
        "ffn-scaling",
        "Feed-forward units scale",
        "Power r: dU_j = U_j, dbu_j = bu_j, dD_j = -r D_j. With s = U_j x + bu_j: ds = s, so s^r moves by r s^r "
        "(Euler).",
        Entries(plain.powers, (light(d=2, n=2, a=2, t=1),)),
        Words(
            (
                Letter("U", "1", "d"),
                Letter("x", "d", "1"),
                Letter("b", "1", "1"),
                Letter("D", "n", "1"),
                Letter("p", "1", "1"),
                Letter("r", "1", "1"),
            ),
            motion={"U": "U", "b": "b", "D": "- r D", "p": "r p"},
            still=("D p",),
            moves=(("U x + b", "U x + b"),),
        ),
    ),
    make(
        "ffn-scaling-swiglu",
        "Gated units scale",
        "swiglu: dU_j = U_j, dbu_j = bu_j, dD_j = -D_j; the gate g = silu(G_j x) rests.",
        Entries(plain.gate_scaling, (light(d=2, n=2, a=2, t=1),)),
        Words(
            (
                Letter("U", "1", "d"),
                Letter("x", "d", "1"),
                Letter("b", "1", "1"),
                Letter("D", "n", "1"),
                Letter("g", "1", "1"),
            ),
            motion={"U": "U", "b": "b", "D": "- D"},
            still=("D (g (U x + b))",),
        ),
    ),
    make(
        "ffn-basis",
        "A linear feed-forward part has a gauge",
        "Power 1 (and polynomial networks with r = 1): dU = e U, dbu = e bu, dD = -D e.",
        Entries(bound(plain.unit_basis, 1), (light(d=2, n=2, a=2, t=1),)),
        Words(
            (
                Letter("U", "h", "d"),
                Letter("x", "d", "1"),
                Letter("b", "h", "1"),
                Letter("D", "n", "h"),
                Letter("e", "h", "h"),
            ),
            motion={"U": "e U", "b": "e b", "D": "- D e"},
            still=("D (U x + b)",),
        ),
    ),
    make(
        "hidden-basis-ffn",
        "Hidden basis through a feed-forward part",
        "U reads a stream that moves by e: dU = -U e. D, bd from the left by e: the stream moves by e times itself.",
        Entries(plain.ffn_both, (light(d=2, n=2, a=2, t=1),)),
        Words(
            (
                Letter("U", "h", "d"),
                Letter("x", "d", "1"),
                Letter("b", "h", "1"),
                Letter("D", "n", "h"),
                Letter("s", "h", "1"),
                Letter("c", "n", "1"),
                Letter("e", "d", "d"),
                Letter("f", "n", "n"),
            ),
            motion={"U": "- U e", "x": "e x", "D": "f D", "c": "f c"},
            still=("U x + b",),
            moves=(("D s + c", "f (D s + c)"),),
        ),
    ),
    make(
        "push-ffn",
        "A constant pushed into a feed-forward part",
        "A stream that moves by u, and bu by -U u.",
        Entries(plain.ffn_constant, (light(d=2, n=1, a=2, t=1),)),
        Words(
            (Letter("U", "h", "d"), Letter("x", "d", "1"), Letter("b", "h", "1"), Letter("u", "d", "1")),
            motion={"x": "u", "b": "- U u"},
            still=("U x + b",),
        ),
    ),
    make(
        "gain",
        "The gain is absorbed",
        "dg = e g, ds = e s with e diagonal, dW = -W e for all W that read the normalised stream g x + s.",
        on(motions.gain, light(norm="layer", bias="qkv", skip=True), soft(norm="rms", a=2, skip=True, heads=2, kv=1)),
        Words(NORM_TYPES, motion={"G": "e G", "s": "e s", "W": "- W e"}, still=("W (G x + s) + b",)),
    ),
    make(
        "shift",
        "The shift is absorbed",
        "LayerNorm: ds = u, every reader's bias by -W u.",
        on(motions.shift, light(norm="layer", bias="qkv", skip=True), soft(norm="layer", bias="qkv", a=2, skip=True)),
        Words(NORM_TYPES, motion={"s": "u", "b": "- W u"}, still=("W (G x + s) + b",)),
    ),
    make(
        "shift-softmax",
        "The shift is absorbed without a key bias",
        "In softmax without rope the key bias may be missing.",
        on(motions.shift, soft(norm="layer", bias="qv", a=2, skip=True)),
        Words(NORM_TYPES, motion={"s": "u", "bq": "- Q u"}, still=(NORM_DIFFER,)),
    ),
    make(
        "centre",
        "A centred stream has a dead covector",
        "LayerNorm: with w_c the product of the other gains, w' G = r 1', 1' x = 0: dW = c w', its bias by -c (w' s).",
        Entries(plain.centres, (soft(norm="layer", bias="qkv", d=3, n=1, skip=False),)),
        Words(
            NORM_TYPES,
            motion={"W": "c w'", "b": "- c (w' s)"},
            still=("W (G x + s) + b",),
            relations=(("w' G", "r j'"), ("j' x", "0")),
        ),
    ),
    make(
        "centre-softmax",
        "The same for keys without a bias",
        "In softmax without rope dK = c w' needs no key bias.",
        on(
            partial(motions.centre, "K0"),
            soft(norm="layer", bias="qv", d=3, n=1),
            soft(norm="layer", bias="", d=2, n=1),
        ),
        Words(
            NORM_TYPES,
            motion={"K": "c w'"},
            still=(NORM_DIFFER,),
            relations=(("w' G", "r j'"), ("j' x", "0"), ("j' y", "0"), ("j' z", "0")),
        ),
    ),
    make(
        "koszul",
        "Koszul fields of free heads",
        "One output row, A_h free (a >= d), lightning: dA_h = v_k' c', dA_k = -v_h' c'.",
        Entries(plain.koszul, (light(d=2, n=1, t=2), light(d=3, n=1, t=1))),
        Words(
            (
                *(Letter(name, "1", "d") for name in ("v", "w")),
                *(Letter(name, "d", "d") for name in ("A", "B")),
                *(Letter(name, "d", "1") for name in ("c", "x", "z")),
            ),
            motion={"A": "w' c'", "B": "- v' c'"},
            still=("(v x) (x' A z) + (w x) (x' B z)",),
        ),
        ring=False,
    ),
    Claim(
        "rank-one-stream",
        "A layer with a = 1 makes a stream of rank one, and rank one persists",
        "Unmasked one-headed lightning without biases and skip: a = 1 gives V X X' K' Q X = (column) (row); a stream "
        "u w' stays one.",
        "all sizes",
        "PROOFS section 6",
        both(
            Entries(plain.rank_one_stream, (light(a=1, d=2, n=2, t=2), light(a=2, d=2, n=2, t=2))),
            Words(
                (
                    Letter("V", "n", "d"),
                    Letter("X", "d", "t"),
                    Letter("k", "1", "d"),
                    Letter("q", "1", "d"),
                    Letter("K", "a", "d"),
                    Letter("Q", "a", "d"),
                    Letter("u", "d", "1"),
                    Letter("w", "t", "1"),
                ),
                equal=(
                    ("V X (k X)' (q X)", "(V X X' k') (q X)"),
                    ("(V (u w')) ((K (u w'))' (Q (u w')))", "(V u) (((w' w) (u' K' Q u)) w')"),
                ),
            ),
        ),
    ),
)
