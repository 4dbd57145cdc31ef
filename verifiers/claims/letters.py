"""The letters in which attention layers are written: one key token x, another y, one query token z; one head unless
said.

    score   (K x + bk)' (Q z + bq)                      with rope (R (K x + bk))' (T (Q z + bq))
    light   (O (V x + bv)) score                        what key x adds to query z in a lightning layer (masked:
    times 0)
    differ  score(x) - score(y)                         all that softmax over the keys reads
    mixed   (O (V X + bv o')) p + bo                    a softmax layer at one query, weights p, o the all-ones
    column, o' p = 1

A layer is a sum of `light` over keys, heads; or of `mixed` over heads with weights that depend on `differ` only. So
a field that
leaves `light`, or `differ` and (weights fixed) `mixed`, leaves the layer, for every input, mask, window and alibi
slope.
"""

from __future__ import annotations

from ..freealgebra import Letter

SCORE = "(K x + bk)' (Q z + bq)"
OTHER = "(K y + bk)' (Q z + bq)"
LIGHT = f"(O (V x + bv)) ({SCORE})"
DIFFER = f"{SCORE} - {OTHER}"
ROPE_SCORE = "(R (K x + bk))' (T (Q z + bq))"
ROPE_LIGHT = f"(O (V x + bv)) ({ROPE_SCORE})"
MIXED = "(O (V X + bv o')) p + bo"
NORMED = (("o' p", "1"),)
BIASES = ("bq", "bk", "bv")


def letters(*extra: Letter, commuting: str = "") -> tuple[Letter, ...]:
    """Return the letters of one layer and `extra` ones. `commuting` names letters that commute with rotations."""
    turns = frozenset(commuting.split())
    base = [Letter(name, "a", "d") for name in ("Q", "K")]
    base += [Letter("V", "v", "d"), Letter("O", "n", "v")]
    base += [Letter("bq", "a", "1"), Letter("bk", "a", "1"), Letter("bv", "v", "1"), Letter("bo", "n", "1")]
    base += [Letter(name, "d", "1") for name in "xyz"]
    base += [Letter("X", "d", "t"), Letter("o", "t", "1"), Letter("p", "t", "1"), Letter("q", "t", "1")]
    base += [Letter(name, "a", "a", commutes=turns) for name in "RT"]
    return (*base, *extra)
