"""The field table, part 1: queries and keys."""

from __future__ import annotations

from functools import partial

from ..freealgebra import Letter
from . import motions
from .fieldclaims import light, make, on, only, sets, soft
from .letters import BIASES, DIFFER, LIGHT, letters
from .residuals import Entries, bound
from .words import Words

GAUGE = {"Q": "e Q", "bq": "e bq", "K": "- e' K", "bk": "- e' bk"}
E = Letter("e", "a", "a")
ANTISYMMETRIC = Letter("b", "a", "a", symmetry=-1)
RAYS = (Letter("w", "1", "1"), Letter("s", "1", "1"))
SELF = "(O (V x + bv)) ((K x + bk)' (Q x + bq))"
RANK_ONE = "(O (V (x w))) ((K (x w))' (Q (x s)))"

CLAIMS = (
    make(
        "gauge",
        "Query/key gauge",
        "dQ_h = e Q_h, dbq_h = e bq_h for the heads of a group, dK = -e' K, dbk = -e' bk, for each e.",
        on(motions.gauge, light(a=2, bias="qkv"), soft(a=2, heads=2, kv=1, bias="qkvo", causal=True)),
        Words(letters(E), motion=GAUGE, still=(LIGHT, DIFFER), optional=(*BIASES, "O")),
    ),
    make(
        "gauge-rope",
        "Query/key gauge with rotations",
        "The same with rope, for e that commutes with the rotations.",
        on(
            motions.gauge,
            soft(a=2, rope=True, bias="qk"),
            light(a=4, rope=True),
            light(a=2, rope=True, t=3, bias="q"),
        ),
        Words(
            letters(E, Letter("k", "a", "1"), Letter("w", "a", "1"), commuting="e"),
            motion={**GAUGE, "k": "- e' k", "w": "e w"},
            still=("(R k)' (T w)",),
            moves=(("K x + bk", "- e' (K x + bk)"), ("Q z + bq", "e (Q z + bq)")),
            optional=("bq", "bk"),
        ),
    ),
    make(
        "group-sum",
        "Only the sum of a group's queries acts",
        "Lightning without dv, two heads of one group: dQ_h = M, dQ_k = -M, biases likewise.",
        on(motions.group_sum, light(a=2, heads=2, kv=1, bias="qk"), light(a=1, heads=3, kv=1, rope=False)),
        Words(
            letters(Letter("W", "a", "d"), Letter("c", "a", "1"), Letter("M", "a", "d"), Letter("m", "a", "1")),
            motion={"Q": "M", "W": "- M", "bq": "m", "c": "- m"},
            still=("(V x + bv) ((K x + bk)' (Q z + bq)) + (V x + bv) ((K x + bk)' (W z + c))",),
        ),
    ),
    make(
        "dead",
        "One key: queries and keys are dead",
        "Softmax with one token (or window 1): every query and key moves freely, the only weight is one.",
        on(motions.dead, soft(t=1, a=2, bias="qkvo"), soft(t=1, a=1, heads=2, kv=1, dv=1)),
        Words(
            (Letter("V", "v", "d"), Letter("x", "d", "1"), Letter("bv", "v", "1"), Letter("p", "1", "1")),
            equal=(("(V x + bv) p", "V x + bv"),),
            relations=(("p", "1"),),
        ),
    ),
    make(
        "key-bias",
        "Dead key bias",
        "Softmax without rope: dbk = u.",
        on(motions.key_bias, soft(a=2, bias="kq"), soft(a=1, t=3, bias="k", causal=True)),
        Words(
            letters(Letter("u", "a", "1")),
            motion={"bk": "u"},
            still=(DIFFER,),
            optional=BIASES,
            present=sets(("bq", "bv"), "bk"),
        ),
    ),
    make(
        "symmetric-key",
        "One token: only the symmetric part of K'Q acts",
        "Lightning, t = 1: dK = b Q, dbk = b bq for antisymmetric b (bias q only together with bias k).",
        on(motions.symmetric_key, light(a=2, t=1, bias="qk"), light(a=3, d=3, n=1, t=1)),
        Words(
            letters(ANTISYMMETRIC),
            motion={"K": "b Q", "bk": "b bq"},
            still=(SELF,),
            optional=(*BIASES, "O"),
            present=only("", "bv", "bk", "bk bq", "bk bv", "O", "O bk bq bv"),
        ),
        ring=False,
    ),
    make(
        "symmetric-query",
        "One token: the same from the query's side",
        "Lightning, t = 1, any head: dQ_h = b K, dbq_h = b bk (bias k only together with bias q).",
        on(motions.symmetric_query, light(a=2, t=1, bias="qk"), light(a=3, d=3, n=1, t=1)),
        Words(
            letters(ANTISYMMETRIC),
            motion={"Q": "b K", "bq": "b bk"},
            still=(SELF,),
            optional=(*BIASES, "O"),
            present=only("", "bv", "bq", "bk bq", "bq bv", "O", "O bk bq bv"),
        ),
        ring=False,
    ),
    make(
        "symmetric-rank-one",
        "The same behind a rank-one layer",
        "Lightning, t >= 2, no bias q or k, tokens x w_i on one ray: dK = b Q and dQ = f K for antisymmetric b, f.",
        Entries(
            bound(motions.under, partial(motions.rank_one, motions.symmetric_both)),
            (light(a=2, t=2), light(a=2, t=2, causal=True)),
        ),
        Words(
            letters(ANTISYMMETRIC, Letter("f", "a", "a", symmetry=-1), *RAYS),
            motion={"K": "b Q", "Q": "f K"},
            still=(RANK_ONE,),
            optional=("O",),
        ),
        ring=False,
    ),
    make(
        "key-null",
        "Null directions of the keys",
        "For n with n' K = 0 and n' bk = 0 for the group (no rope): dQ_h = n c' for each head alone.",
        on(motions.key_null, light(a=2, bias="k"), soft(a=2, bias="kqv")),
        Words(
            letters(Letter("n", "a", "1"), Letter("c", "d", "1")),
            motion={"Q": "n c'"},
            still=(LIGHT, DIFFER),
            relations=(("n' K", "0"), ("n' bk", "0")),
        ),
    ),
    make(
        "query-null",
        "Null directions of the queries",
        "For n with n' Q = 0, n' bq = 0 for every head of the group (no rope): dK = n c'.",
        on(motions.query_null, light(a=2, bias="q"), soft(a=2, bias="kqv")),
        Words(
            letters(Letter("n", "a", "1"), Letter("c", "d", "1")),
            motion={"K": "n c'"},
            still=(LIGHT, DIFFER),
            relations=(("n' Q", "0"), ("n' bq", "0")),
        ),
    ),
)
