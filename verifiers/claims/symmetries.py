"""The field table as claims: every field annihilates the network, for all sizes, under the condition of its row.

The words are written from MATH section 2, the motions of entries (`motions.py`, `plain.py`) apart from them. Ids are
`field-`
and the field's name in CERTIFICATES section 7; variants have a suffix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..freealgebra import Letter
from . import motions, plain
from .entries import Shape
from .identities import both, sized
from .letters import (
    BIASES,
    DIFFER,
    LIGHT,
    MIXED,
    NORMED,
    ROPE_LIGHT,
    letters,
)
from .model import Claim
from .residuals import Entries, bound
from .words import Words

SOURCE = "MATH section 2; CERTIFICATES section 7"


def _on(move: motions.Mover, *shapes: Shape) -> Entries:
    return Entries(bound(motions.under, move), shapes)


def _field(name: str, title: str, statement: str, entries: Entries, words: Words, ring: bool = True) -> Claim:
    """`ring`: the plain ring axioms suffice; otherwise 1 x 1 words must commute or be symmetric, and Z3 is asked at
    one size.
    """
    checks = both(entries, words) if ring else sized(entries, words)
    return Claim(f"field-{name}", title, statement, "all sizes", SOURCE, checks)


def _only(*choices: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(choice.split()) for choice in choices)


def _sets(names: Sequence[str], always: str = "") -> tuple[frozenset[str], ...]:
    """Return every subset of `names`, each with `always`."""
    subsets = [frozenset(always.split())]
    for name in names:
        subsets += [subset | {name} for subset in subsets]
    return tuple(subsets)


def _light(**sizes: object) -> Shape:
    return Shape("lightning", **sizes)  # type: ignore[arg-type]


def _soft(**sizes: object) -> Shape:
    return Shape("softmax", **sizes)  # type: ignore[arg-type]


def _square_values() -> tuple[Letter, ...]:
    """Return the letters of a layer without output matrices: values are as wide as the output."""

    def size(name: str) -> str:
        return "n" if name == "v" else name

    return tuple(Letter(letter.name, size(letter.rows), size(letter.columns)) for letter in letters())


_GAUGE = {"Q": "e Q", "bq": "e bq", "K": "- e' K", "bk": "- e' bk"}
_E = Letter("e", "a", "a")
_B = Letter("b", "a", "a", symmetry=-1)
_HEAD = (Letter("P", "n", "v"), Letter("W", "a", "d"), Letter("c", "a", "1"))
_TWO_HEADS = f"{LIGHT} + (P (V x + bv)) ((K x + bk)' (W z + c))"
_SELF = "(O (V x + bv)) ((K x + bk)' (Q x + bq))"
_RANK_ONE = "(O (V (x w))) ((K (x w))' (Q (x s)))"
_RAYS = (Letter("w", "1", "1"), Letter("s", "1", "1"))
_NORM_TYPES = (
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
_NORM_DIFFER = "(K (G x + s))' (Q (G z + s) + bq) - (K (G y + s))' (Q (G z + s) + bq)"

QUERY_KEY = (
    _field(
        "gauge",
        "Query/key gauge",
        "dQ_h = e Q_h, dbq_h = e bq_h for the heads of a group, dK = -e' K, dbk = -e' bk, for each e.",
        _on(motions.gauge, _light(a=2, bias="qkv"), _soft(a=2, heads=2, kv=1, bias="qkvo", causal=True)),
        Words(letters(_E), motion=_GAUGE, still=(LIGHT, DIFFER), optional=(*BIASES, "O")),
    ),
    _field(
        "gauge-rope",
        "Query/key gauge with rotations",
        "The same with rope, for e that commutes with the rotations.",
        _on(
            motions.gauge,
            _soft(a=2, rope=True, bias="qk"),
            _light(a=4, rope=True),
            _light(a=2, rope=True, t=3, bias="q"),
        ),
        Words(
            letters(_E, Letter("k", "a", "1"), Letter("w", "a", "1"), commuting="e"),
            motion={**_GAUGE, "k": "- e' k", "w": "e w"},
            still=("(R k)' (T w)",),
            moves=(("K x + bk", "- e' (K x + bk)"), ("Q z + bq", "e (Q z + bq)")),
            optional=("bq", "bk"),
        ),
    ),
    _field(
        "group-sum",
        "Only the sum of a group's queries acts",
        "Lightning without dv, two heads of one group: dQ_h = M, dQ_k = -M, biases likewise.",
        _on(motions.group_sum, _light(a=2, heads=2, kv=1, bias="qk"), _light(a=1, heads=3, kv=1, rope=False)),
        Words(
            letters(*_HEAD, Letter("M", "a", "d"), Letter("m", "a", "1")),
            motion={"Q": "M", "W": "- M", "bq": "m", "c": "- m"},
            still=("(V x + bv) ((K x + bk)' (Q z + bq)) + (V x + bv) ((K x + bk)' (W z + c))",),
        ),
    ),
    _field(
        "dead",
        "One key: queries and keys are dead",
        "Softmax with one token (or window 1): every query and key moves freely, the only weight is one.",
        _on(motions.dead, _soft(t=1, a=2, bias="qkvo"), _soft(t=1, a=1, heads=2, kv=1, dv=1)),
        Words(
            (
                Letter("V", "v", "d"),
                Letter("x", "d", "1"),
                Letter("bv", "v", "1"),
                Letter("p", "1", "1"),
                Letter("m", "1", "1"),
            ),
            motion={"p": "m - m"},
            still=("(V x + bv) p",),
            relations=(("p", "1"),),
        ),
    ),
    _field(
        "key-bias",
        "Dead key bias",
        "Softmax without rope: dbk = u.",
        _on(motions.key_bias, _soft(a=2, bias="kq"), _soft(a=1, t=3, bias="k", causal=True)),
        Words(
            letters(Letter("u", "a", "1")),
            motion={"bk": "u"},
            still=(DIFFER,),
            optional=BIASES,
            present=_sets(("bq", "bv"), "bk"),
        ),
    ),
    _field(
        "symmetric-key",
        "One token: only the symmetric part of K'Q acts",
        "Lightning, t = 1: dK = b Q, dbk = b bq for antisymmetric b (bias q only together with bias k).",
        _on(motions.symmetric_key, _light(a=2, t=1, bias="qk"), _light(a=3, d=3, n=1, t=1)),
        Words(
            letters(_B),
            motion={"K": "b Q", "bk": "b bq"},
            still=(_SELF,),
            optional=(*BIASES, "O"),
            present=_only("", "bv", "bk", "bk bq", "bk bv", "O", "O bk bq bv"),
        ),
        ring=False,
    ),
    _field(
        "symmetric-query",
        "One token: the same from the query's side",
        "Lightning, t = 1, one query head in the group: dQ = b K, dbq = b bk (bias k only together with bias q).",
        _on(motions.symmetric_query, _light(a=2, t=1, bias="qk"), _light(a=3, d=3, n=1, t=1)),
        Words(
            letters(_B),
            motion={"Q": "b K", "bq": "b bk"},
            still=(_SELF,),
            optional=(*BIASES, "O"),
            present=_only("", "bv", "bq", "bk bq", "bq bv", "O", "O bk bq bv"),
        ),
        ring=False,
    ),
    _field(
        "symmetric-rank-one",
        "The same behind a rank-one layer",
        "Lightning, t >= 2, no bias q or k, tokens x w_i on one ray: dK = b Q and dQ = b K for antisymmetric b.",
        Entries(
            bound(motions.under, partial(motions.rank_one, motions.symmetric_key)),
            (_light(a=2, t=2), _light(a=2, t=2, causal=True)),
        ),
        Words(letters(_B, *_RAYS), motion={"K": "b Q"}, still=(_RANK_ONE,), optional=("O",)),
        ring=False,
    ),
    _field(
        "key-null",
        "Null directions of the keys",
        "For n with n' K = 0 and n' bk = 0 for the group (no rope): dQ_h = n c' for each head alone; likewise with "
        "Q, K exchanged.",
        _on(motions.key_null, _light(a=2, bias="k"), _soft(a=2, bias="kqv")),
        Words(
            letters(Letter("n", "a", "1"), Letter("c", "d", "1")),
            motion={"Q": "n c'"},
            still=(LIGHT, DIFFER),
            relations=(("n' K", "0"), ("n' bk", "0")),
        ),
    ),
    _field(
        "query-null",
        "Null directions of the queries",
        "For n with n' Q = 0, n' bq = 0 for every head of the group (no rope): dK = n c'.",
        _on(motions.query_null, _light(a=2, bias="q"), _soft(a=2, bias="kqv")),
        Words(
            letters(Letter("n", "a", "1"), Letter("c", "d", "1")),
            motion={"K": "n c'"},
            still=(LIGHT, DIFFER),
            relations=(("n' Q", "0"), ("n' bq", "0")),
        ),
    ),
)

VALUES = (
    _field(
        "scaling",
        "Attention/value rescaling",
        "Lightning: dV = V, dbv = bv, dK = -K, dbk = -bk, with skip connections and masks too; the query w = Q z + "
        "bq rests.",
        _on(
            motions.scaling,
            _light(a=2, bias="qkvo", heads=2, kv=1, dv=1, causal=True, skip=True),
            _light(a=2, rope=True, bias="k"),
        ),
        Words(
            letters(Letter("w", "a", "1")),
            motion={"V": "V", "bv": "bv", "K": "- K", "bk": "- bk"},
            still=("(O (V x + bv)) ((K x + bk)' w)",),
            optional=("bk", "bv", "O"),
        ),
    ),
    _field(
        "scaling-rope",
        "Attention/value rescaling with rotations",
        "The same with rope: the rotated query w rests.",
        _on(motions.scaling, _light(a=2, rope=True, bias="k"), _light(a=2, rope=True, t=3, dv=1, causal=True)),
        Words(
            letters(Letter("w", "a", "1")),
            motion={"V": "V", "bv": "bv", "K": "- K", "bk": "- bk"},
            still=("(O (V x + bv)) ((R (K x + bk))' w)",),
            optional=("bk", "bv", "O"),
        ),
    ),
    _field(
        "head-scaling",
        "Rescaling of one head",
        "Lightning with dv: dO_h = O_h, dQ_h = -Q_h, dbq_h = -bq_h.",
        _on(motions.head_scaling, _light(a=2, dv=1, heads=2, kv=1, bias="qk"), _light(a=2, dv=2, rope=True)),
        Words(
            letters(),
            motion={"O": "O", "Q": "- Q", "bq": "- bq"},
            still=(LIGHT, ROPE_LIGHT),
            optional=(*BIASES, "O"),
            present=_sets(BIASES, "O"),
        ),
    ),
    _field(
        "head-mix",
        "Heads of a group mix",
        "Lightning with dv, heads h, k of one group: dO_h = O_k, dQ_k = -Q_h, dbq_k = -bq_h.",
        _on(motions.head_mix, _light(a=2, dv=1, heads=2, kv=1, bias="q"), _light(a=2, dv=1, heads=2, kv=1, rope=True)),
        Words(letters(*_HEAD), motion={"O": "P", "W": "- Q", "c": "- bq"}, still=(_TWO_HEADS,)),
    ),
    _field(
        "value-gauge",
        "Value/output gauge",
        "With dv: dV = e V, dbv = e bv, dO_h = -O_h e for the heads of the group; lightning and softmax.",
        _on(motions.value_gauge, _light(dv=2, bias="v"), _soft(dv=2, heads=2, kv=1, bias="vo")),
        Words(
            letters(Letter("e", "v", "v")),
            motion={"V": "e V", "bv": "e bv", "O": "- O e"},
            still=(LIGHT, MIXED),
            relations=NORMED,
            optional=(*BIASES, "bo", "O"),
            present=_sets((*BIASES, "bo"), "O"),
        ),
    ),
    _field(
        "hidden-basis-produce",
        "Hidden basis: the producers",
        "V (or O), their biases and bo from the left by e: without skip and norm the stream moves by e times itself.",
        _on(
            motions.produce_basis,
            _light(dv=1, heads=2, kv=1, bias="qkvo"),
            _soft(heads=2, kv=2, bias="vo"),
            _light(a=2, bias="v"),
        ),
        Words(
            letters(Letter("e", "n", "n")),
            motion={"O": "e O", "bo": "e bo"},
            moves=((MIXED, f"e ({MIXED})"), (f"{LIGHT} + bo", f"e ({LIGHT} + bo)")),
            relations=NORMED,
            optional=(*BIASES, "bo", "O"),
            present=_sets((*BIASES, "bo"), "O"),
        ),
    ),
    _field(
        "hidden-basis-produce-values",
        "Hidden basis: the producers without output matrices",
        "The same for V, bv and bo where there is no dv.",
        _on(motions.produce_basis, _light(heads=2, kv=2, bias="vo"), _soft(bias="v")),
        Words(
            (*_square_values(), Letter("e", "n", "n")),
            motion={"V": "e V", "bv": "e bv", "bo": "e bo"},
            moves=(
                ("(V X + bv o') p + bo", "e ((V X + bv o') p + bo)"),
                ("(V x + bv) ((K x + bk)' (Q z + bq)) + bo", "e ((V x + bv) ((K x + bk)' (Q z + bq)) + bo)"),
            ),
            relations=NORMED,
            optional=(*BIASES, "bo"),
        ),
    ),
    _field(
        "hidden-basis-consume",
        "Hidden basis: the consumers",
        "A stream that moves by e times itself, and every consumer W of it by -W e: what they read rests.",
        _on(motions.consume_basis, _light(heads=2, kv=1, bias="qkv"), _soft(a=2, bias="k", dv=1)),
        Words(
            letters(Letter("e", "d", "d")),
            motion={"Q": "- Q e", "K": "- K e", "V": "- V e", **{name: f"e {name}" for name in ("x", "y", "z", "X")}},
            still=(LIGHT, DIFFER, MIXED),
            relations=NORMED,
            optional=(*BIASES, "bo", "O"),
        ),
    ),
    _field(
        "value-bias",
        "Value bias against output bias",
        "Softmax with biases v and o: dbv = u, dbo = -(sum of O_h over the group's heads) u.",
        _on(motions.value_bias, _soft(bias="vo", heads=2, kv=1), _soft(bias="vok", dv=2, heads=2, kv=1)),
        Words(
            letters(Letter("P", "n", "v"), Letter("u", "v", "1")),
            motion={"bv": "u", "bo": "- (O u + P u)"},
            still=("(O (V X + bv o')) p + (P (V X + bv o')) q + bo",),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    _field(
        "value-bias-pair",
        "One value bias against another",
        "Softmax with bias v, without o and dv, groups of equally many heads: dbv_g = u, dbv_0 = -u.",
        _on(motions.value_bias_pair, _soft(bias="v", heads=2, kv=2), _soft(bias="v", heads=4, kv=2, d=1, n=1)),
        Words(
            letters(Letter("W", "v", "d"), Letter("c", "v", "1"), Letter("u", "v", "1")),
            motion={"bv": "u", "c": "- u"},
            still=("(V X + bv o') p + (W X + c o') q",),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    _field(
        "push-produce",
        "A constant pushed through: where it comes from",
        "bo moves by u, or in softmax without dv the value bias of a group: the stream moves by a constant.",
        _on(motions.produce_constant, _soft(bias="v", heads=2, kv=1), _soft(bias="vo", dv=1), _light(bias="o")),
        Words(
            letters(Letter("u", "v", "1")),
            motion={"bv": "u"},
            moves=(("(V X + bv o') p + (V X + bv o') q", "2 u"),),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    _field(
        "push-consume",
        "A constant pushed through: where it goes",
        "A stream that moves by u, and every bias by -W u (all of q, k, v biases): what is read rests.",
        _on(motions.consume_constant, _light(bias="qkv"), _soft(bias="qkv", a=2, dv=1)),
        Words(
            letters(Letter("u", "d", "1")),
            motion={
                **dict.fromkeys(("x", "y", "z"), "u"),
                "X": "u o'",
                "bq": "- Q u",
                "bk": "- K u",
                "bv": "- V u",
            },
            still=(LIGHT, DIFFER, MIXED),
            relations=NORMED,
            optional=("O", "bo"),
        ),
    ),
    _field(
        "push-consume-softmax",
        "The same without a key bias",
        "Softmax without rope may lack the key bias: the score moves by the same amount for all keys.",
        _on(motions.consume_constant, _soft(bias="qv", a=2), _soft(bias="qv", a=1, t=3, causal=True)),
        Words(
            letters(Letter("u", "d", "1")),
            motion={**dict.fromkeys(("x", "y", "z"), "u"), "bq": "- Q u"},
            still=("(K x)' (Q z + bq) - (K y)' (Q z + bq)",),
        ),
    ),
    _field(
        "reader-null",
        "Directions that no input reaches",
        "For n with n' x = 0 for every token x of a stream: dW = c n' for each consumer W alone.",
        _on(motions.reader_null, _light(a=2, bias="qkv"), _soft(a=1)),
        Words(
            letters(*(Letter(name, "d", "1") for name in ("n",)), Letter("c", "a", "1"), Letter("f", "v", "1")),
            motion={"K": "c n'", "Q": "c n'", "V": "f n'"},
            still=(LIGHT, DIFFER, MIXED),
            relations=(("n' x", "0"), ("n' y", "0"), ("n' z", "0"), ("n' X", "0"), *NORMED),
        ),
    ),
    _field(
        "unread",
        "Directions that nothing reads",
        "For n with W n = 0 for every consumer W: the stream moves by n times anything, so its producers by n c'.",
        _on(motions.unread, _light(a=2, bias="qkv"), _soft(a=1)),
        Words(
            letters(Letter("n", "d", "1"), Letter("c", "t", "1"), *_RAYS, Letter("r", "1", "1")),
            motion={"x": "n w", "y": "n s", "z": "n r", "X": "n c'"},
            still=(LIGHT, DIFFER, MIXED),
            relations=(("K n", "0"), ("Q n", "0"), ("V n", "0"), *NORMED),
        ),
    ),
)

REST = (
    _field(
        "ffn-scaling",
        "Feed-forward units scale",
        "Power r: dU_j = U_j, dbu_j = bu_j, dD_j = -r D_j. With s = U_j x + bu_j: ds = s, so s^r moves by r s^r "
        "(Euler).",
        Entries(plain.powers, (_light(d=2, n=2, a=2, t=1),)),
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
    _field(
        "ffn-scaling-swiglu",
        "Gated units scale",
        "swiglu: dU_j = U_j, dbu_j = bu_j, dD_j = -D_j; the gate g = silu(G_j x) rests.",
        Entries(plain.gate_scaling, (_light(d=2, n=2, a=2, t=1),)),
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
    _field(
        "ffn-basis",
        "A linear feed-forward part has a gauge",
        "Power 1 (and polynomial networks with r = 1): dU = e U, dbu = e bu, dD = -D e.",
        Entries(bound(plain.unit_basis, 1), (_light(d=2, n=2, a=2, t=1),)),
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
    _field(
        "hidden-basis-ffn",
        "Hidden basis through a feed-forward part",
        "U reads a stream that moves by e: dU = -U e. D, bd from the left by e: the stream moves by e times itself.",
        Entries(plain.ffn_both, (_light(d=2, n=2, a=2, t=1),)),
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
    _field(
        "push-ffn",
        "A constant pushed into a feed-forward part",
        "A stream that moves by u, and bu by -U u.",
        Entries(plain.ffn_constant, (_light(d=2, n=1, a=2, t=1),)),
        Words(
            (Letter("U", "h", "d"), Letter("x", "d", "1"), Letter("b", "h", "1"), Letter("u", "d", "1")),
            motion={"x": "u", "b": "- U u"},
            still=("U x + b",),
        ),
    ),
    _field(
        "gain",
        "The gain is absorbed",
        "dg = e g, ds = e s with e diagonal, dW = -W e for all W that read the normalised stream g x + s.",
        _on(
            motions.gain, _light(norm="layer", bias="qkv", skip=True), _soft(norm="rms", a=2, skip=True, heads=2, kv=1)
        ),
        Words(_NORM_TYPES, motion={"G": "e G", "s": "e s", "W": "- W e"}, still=("W (G x + s) + b",)),
    ),
    _field(
        "shift",
        "The shift is absorbed",
        "LayerNorm: ds = u, every reader's bias by -W u.",
        _on(
            motions.shift, _light(norm="layer", bias="qkv", skip=True), _soft(norm="layer", bias="qkv", a=2, skip=True)
        ),
        Words(_NORM_TYPES, motion={"s": "u", "b": "- W u"}, still=("W (G x + s) + b",)),
    ),
    _field(
        "shift-softmax",
        "The shift is absorbed without a key bias",
        "In softmax without rope the key bias may be missing.",
        _on(motions.shift, _soft(norm="layer", bias="qv", a=2, skip=True)),
        Words(_NORM_TYPES, motion={"s": "u", "bq": "- Q u"}, still=(_NORM_DIFFER,)),
    ),
    _field(
        "centre",
        "A centred stream has a dead covector",
        "LayerNorm: with w_c the product of the other gains, w' G = r 1', 1' x = 0: dW = c w', its bias by -c (w' s).",
        Entries(plain.centres, (_soft(norm="layer", bias="qkv", d=3, n=1, skip=False),)),
        Words(
            _NORM_TYPES,
            motion={"W": "c w'", "b": "- c (w' s)"},
            still=("W (G x + s) + b",),
            relations=(("w' G", "r j'"), ("j' x", "0")),
        ),
    ),
    _field(
        "centre-softmax",
        "The same for keys without a bias",
        "In softmax without rope dK = c w' needs no key bias.",
        _on(
            partial(motions.centre, "K0"),
            _soft(norm="layer", bias="qv", d=3, n=1),
            _soft(norm="layer", bias="", d=2, n=1),
        ),
        Words(
            _NORM_TYPES,
            motion={"K": "c w'"},
            still=(_NORM_DIFFER,),
            relations=(("w' G", "r j'"), ("j' x", "0"), ("j' y", "0"), ("j' z", "0")),
        ),
    ),
    _field(
        "koszul",
        "Koszul fields of free heads",
        "One output row, A_h free (a >= d), lightning: dA_h = v_k' c', dA_k = -v_h' c'.",
        Entries(plain.koszul, (_light(d=2, n=1, t=2), _light(d=3, n=1, t=1))),
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
        "MATH sections 2, 5",
        both(
            Entries(plain.rank_one_stream, (_light(a=1, d=2, n=2, t=2), _light(a=2, d=2, n=2, t=2))),
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

CLAIMS = (*QUERY_KEY, *VALUES, *REST)
