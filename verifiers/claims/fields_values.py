"""The field table, part 2: values, outputs, the basis and the constants of the hidden stream."""

from __future__ import annotations

from ..freealgebra import Letter
from . import motions
from .fieldclaims import light, make, on, sets, soft, square_values
from .letters import BIASES, DIFFER, LIGHT, MIXED, NORMED, ROPE_LIGHT, letters
from .words import Words

HEAD = (Letter("P", "n", "v"), Letter("W", "a", "d"), Letter("c", "a", "1"))
TWO_HEADS = f"{LIGHT} + (P (V x + bv)) ((K x + bk)' (W z + c))"
RAYS = (Letter("w", "1", "1"), Letter("s", "1", "1"))

CLAIMS = (
    make(
        "scaling",
        "Attention/value rescaling",
        "Lightning: dV = V, dbv = bv, dK = -K, dbk = -bk, with skip connections and masks too; the query w = Q z + "
        "bq rests.",
        on(
            motions.scaling,
            light(a=2, bias="qkvo", heads=2, kv=1, dv=1, causal=True, skip=True),
            light(a=2, rope=True, bias="k"),
        ),
        Words(
            letters(Letter("w", "a", "1")),
            motion={"V": "V", "bv": "bv", "K": "- K", "bk": "- bk"},
            still=("(O (V x + bv)) ((K x + bk)' w)",),
            optional=("bk", "bv", "O"),
        ),
    ),
    make(
        "scaling-rope",
        "Attention/value rescaling with rotations",
        "The same with rope: the rotated query w rests.",
        on(motions.scaling, light(a=2, rope=True, bias="k"), light(a=2, rope=True, t=3, dv=1, causal=True)),
        Words(
            letters(Letter("w", "a", "1")),
            motion={"V": "V", "bv": "bv", "K": "- K", "bk": "- bk"},
            still=("(O (V x + bv)) ((R (K x + bk))' w)",),
            optional=("bk", "bv", "O"),
        ),
    ),
    make(
        "head-scaling",
        "Rescaling of one head",
        "Lightning with dv: dO_h = O_h, dQ_h = -Q_h, dbq_h = -bq_h.",
        on(motions.head_scaling, light(a=2, dv=1, heads=2, kv=1, bias="qk"), light(a=2, dv=2, rope=True)),
        Words(
            letters(),
            motion={"O": "O", "Q": "- Q", "bq": "- bq"},
            still=(LIGHT, ROPE_LIGHT),
            optional=(*BIASES, "O"),
            present=sets(BIASES, "O"),
        ),
    ),
    make(
        "head-mix",
        "Heads of a group mix",
        "Lightning with dv, heads h, k of one group: dO_h = O_k, dQ_k = -Q_h, dbq_k = -bq_h.",
        on(motions.head_mix, light(a=2, dv=1, heads=2, kv=1, bias="q"), light(a=2, dv=1, heads=2, kv=1, rope=True)),
        Words(letters(*HEAD), motion={"O": "P", "W": "- Q", "c": "- bq"}, still=(TWO_HEADS,)),
    ),
    make(
        "value-gauge",
        "Value/output gauge",
        "With dv: dV = e V, dbv = e bv, dO_h = -O_h e for the heads of the group; lightning and softmax.",
        on(motions.value_gauge, light(dv=2, bias="v"), soft(dv=2, heads=2, kv=1, bias="vo")),
        Words(
            letters(Letter("e", "v", "v")),
            motion={"V": "e V", "bv": "e bv", "O": "- O e"},
            still=(LIGHT, MIXED),
            relations=NORMED,
            optional=(*BIASES, "bo", "O"),
            present=sets((*BIASES, "bo"), "O"),
        ),
    ),
    make(
        "hidden-basis-produce",
        "Hidden basis: the producers",
        "V (or O), their biases and bo from the left by e: without skip and norm the stream moves by e times itself.",
        on(
            motions.produce_basis,
            light(dv=1, heads=2, kv=1, bias="qkvo"),
            soft(heads=2, kv=2, bias="vo"),
            light(a=2, bias="v"),
        ),
        Words(
            letters(Letter("e", "n", "n")),
            motion={"O": "e O", "bo": "e bo"},
            moves=((MIXED, f"e ({MIXED})"), (f"{LIGHT} + bo", f"e ({LIGHT} + bo)")),
            relations=NORMED,
            optional=(*BIASES, "bo", "O"),
            present=sets((*BIASES, "bo"), "O"),
        ),
    ),
    make(
        "hidden-basis-produce-values",
        "Hidden basis: the producers without output matrices",
        "The same for V, bv and bo where there is no dv.",
        on(motions.produce_basis, light(heads=2, kv=2, bias="vo"), soft(bias="v")),
        Words(
            (*square_values(), Letter("e", "n", "n")),
            motion={"V": "e V", "bv": "e bv", "bo": "e bo"},
            moves=(
                ("(V X + bv o') p + bo", "e ((V X + bv o') p + bo)"),
                ("(V x + bv) ((K x + bk)' (Q z + bq)) + bo", "e ((V x + bv) ((K x + bk)' (Q z + bq)) + bo)"),
            ),
            relations=NORMED,
            optional=(*BIASES, "bo"),
        ),
    ),
    make(
        "hidden-basis-consume",
        "Hidden basis: the consumers",
        "A stream that moves by e times itself, and every consumer W of it by -W e: what they read rests.",
        on(motions.consume_basis, light(heads=2, kv=1, bias="qkv"), soft(a=2, bias="k", dv=1)),
        Words(
            letters(Letter("e", "d", "d")),
            motion={"Q": "- Q e", "K": "- K e", "V": "- V e", **{name: f"e {name}" for name in ("x", "y", "z", "X")}},
            still=(LIGHT, DIFFER, MIXED),
            relations=NORMED,
            optional=(*BIASES, "bo", "O"),
        ),
    ),
    make(
        "value-bias",
        "Value bias against output bias",
        "Softmax with biases v and o: dbv = u, dbo = -(sum of O_h over the group's heads) u.",
        on(motions.value_bias, soft(bias="vo", heads=2, kv=1), soft(bias="vok", dv=2, heads=2, kv=1)),
        Words(
            letters(Letter("P", "n", "v"), Letter("u", "v", "1")),
            motion={"bv": "u", "bo": "- (O u + P u)"},
            still=("(O (V X + bv o')) p + (P (V X + bv o')) q + bo",),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    make(
        "value-bias-pair",
        "One value bias against another",
        "Softmax with bias v, without o and dv, groups of equally many heads: dbv_g = u, dbv_0 = -u.",
        on(motions.value_bias_pair, soft(bias="v", heads=2, kv=2), soft(bias="v", heads=4, kv=2, d=1, n=1)),
        Words(
            letters(Letter("W", "v", "d"), Letter("c", "v", "1"), Letter("u", "v", "1")),
            motion={"bv": "u", "c": "- u"},
            still=("(V X + bv o') p + (W X + c o') q",),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    make(
        "push-produce",
        "A constant pushed through: where it comes from",
        "bo moves by u, or in softmax without dv the value bias of a group: the stream moves by a constant.",
        on(motions.produce_constant, soft(bias="v", heads=2, kv=1), soft(bias="vo", dv=1), light(bias="o")),
        Words(
            letters(Letter("u", "v", "1")),
            motion={"bv": "u"},
            moves=(("(V X + bv o') p + (V X + bv o') q", "2 u"),),
            relations=(*NORMED, ("o' q", "1")),
        ),
    ),
    make(
        "push-consume",
        "A constant pushed through: where it goes",
        "A stream that moves by u, and every bias by -W u (all of q, k, v biases): what is read rests.",
        on(motions.consume_constant, light(bias="qkv"), soft(bias="qkv", a=2, dv=1)),
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
    make(
        "push-consume-softmax",
        "The same without a key bias",
        "Softmax without rope may lack the key bias: the score moves by the same amount for all keys.",
        on(motions.consume_constant, soft(bias="qv", a=2), soft(bias="qv", a=1, t=3, causal=True)),
        Words(
            letters(Letter("u", "d", "1")),
            motion={**dict.fromkeys(("x", "y", "z"), "u"), "bq": "- Q u"},
            still=("(K x)' (Q z + bq) - (K y)' (Q z + bq)",),
        ),
    ),
    make(
        "reader-null",
        "Directions that no input reaches",
        "For n with n' x = 0 for every token x of a stream: dW = c n' for each consumer W alone.",
        on(motions.reader_null, light(a=2, bias="qkv"), soft(a=1)),
        Words(
            letters(*(Letter(name, "d", "1") for name in ("n",)), Letter("c", "a", "1"), Letter("f", "v", "1")),
            motion={"K": "c n'", "Q": "c n'", "V": "f n'"},
            still=(LIGHT, DIFFER, MIXED),
            relations=(("n' x", "0"), ("n' y", "0"), ("n' z", "0"), ("n' X", "0"), *NORMED),
        ),
    ),
    make(
        "unread",
        "Directions that nothing reads",
        "For n with W n = 0 for every consumer W: the stream moves by n times anything, so its producers by n c'.",
        on(motions.unread, light(a=2, bias="qkv"), soft(a=1)),
        Words(
            letters(Letter("n", "d", "1"), Letter("c", "t", "1"), *RAYS, Letter("r", "1", "1")),
            motion={"x": "n w", "y": "n s", "z": "n r", "X": "n c'"},
            still=(LIGHT, DIFFER, MIXED),
            relations=(("K n", "0"), ("Q n", "0"), ("V n", "0"), *NORMED),
        ),
    ),
)
