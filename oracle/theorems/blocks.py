"""What is redundant in each part of a transformer block, counted by symmetry.

One layer of a stack with skip connections, width d, kv groups of q = heads / kv query heads. c = columns that act:

    scores of a group     K: a x c_k,  its Q together: a x q c_q      gauge a^2 (rope: a, 2 a plane), a <- min(a, c_k, q c_q)
    values of a group     V: dv x c_v, its O together: q d x dv       gauge dv^2, dv <- min(dv, c_v, q d); full V: none
    hidden unit           rescaling 1 (a power, swiglu), none (silu, gelu)

so that a head alone has 2 a d - a^2 for queries and keys and 2 dv d - dv^2 for values. A bias is one more column: [Q | bq]
acts on (x, 1). Softmax ignores what is constant over the keys: without rope a key bias is dead. Behind a layer norm,
W (g x~ + s) with mean-free x~ makes d - 1 columns and a constant column, with or without a bias; gain and shift are absorbed.
"""

from __future__ import annotations

from collections import Counter

from ...numerics.network import Layer, Network

GAUGE = "query/key gauge"
VALUE_GAUGE = "value/output gauge"
WIDE = "heads wider than the stream"
DEAD_KEYS = "key biases without effect"
CENTRED = "columns and biases behind a layer norm"
BIASES = "value and output biases seen only in sum"
GAIN = "norm gains"
SHIFT = "norm shifts"
UNITS = "rescaling of hidden units"
MIXING = "rescaling and mixing of heads"
GROUPED = "queries of a group seen only in sum"


def layer_redundancy(n: Network, y: Layer) -> Counter[str]:
    """All of one layer, by symmetry, except what joins layers (`constants.pushed`)."""
    parts = (scores(n, y), values(n, y), norms(n, y), hidden(n, y))
    return sum((Counter(part) for part in parts), Counter())


def key_columns(n: Network, y: Layer) -> int:
    """The columns of [K | bk] that act."""
    blind = n.kind == "softmax" and not n.rope  # to constants over the keys
    if n.norm == "layer":
        return y.m - blind
    return y.m + ("k" in n.bias and not blind)


def query_columns(n: Network, y: Layer) -> int:
    """The columns of [Q | bq] that act."""
    return y.m + ("q" in n.bias and n.norm != "layer")


def scores(n: Network, y: Layer) -> dict[str, int]:
    """Queries and keys with their biases."""
    layer_norm = n.norm == "layer"
    summed = n.kind == "lightning" and y.dv is None  # one query head a group acts
    q = 1 if summed else y.per_group
    c_k, c_q = key_columns(n, y), query_columns(n, y)
    given_k, given_q = y.m + ("k" in n.bias), y.m + ("q" in n.bias)
    dead = "k" in n.bias and n.kind == "softmax" and not n.rope
    a = y.a if n.rope else min(y.a, c_k, q * c_q)
    return {
        GAUGE: y.kv * (a if n.rope else a * a),
        WIDE: y.kv * (y.a - a) * (c_k + q * c_q),
        DEAD_KEYS: y.kv * y.a * dead,
        CENTRED: layer_norm * y.a * (y.kv * (given_k - dead - c_k) + y.kv * q * (given_q - c_q)),
        GROUPED: (y.heads - y.kv * q) * y.a * given_q,
    }


def values(n: Network, y: Layer) -> dict[str, int]:
    """Values and outputs with their biases."""
    homogeneous = n.kind == "softmax" and n.norm == "layer"  # d - 1 columns of V act on the stream, one is a bias
    c_v, q = y.m - homogeneous, y.per_group
    r = y.n if y.dv is None else min(y.dv, c_v, q * y.n)
    both = homogeneous and "v" in n.bias
    biases = y.kv * y.value_rows * (homogeneous or "v" in n.bias) + y.n * ("o" in n.bias)
    mixing = y.kv if y.dv is None else y.kv * q * q
    return {
        VALUE_GAUGE: 0 if y.dv is None else y.kv * r * r,
        WIDE: 0 if y.dv is None else y.kv * (y.dv - r) * (c_v + q * y.n),
        CENTRED: y.kv * y.value_rows * both,
        BIASES: biases - constant(n, y),
        MIXING: mixing * (n.kind == "lightning"),
    }


def constant(n: Network, y: Layer) -> int:
    """Dimension of the constants that a softmax layer can add to the stream by its value and output biases."""
    if "o" in n.bias:
        return y.n
    if "v" in n.bias or (n.norm == "layer" and n.kind == "softmax"):
        return y.n if y.dv is None else min(y.n, y.kv * y.dv)
    return 0


def norms(n: Network, y: Layer) -> dict[str, int]:
    """Gains and shifts: every reader absorbs them."""
    each = y.m * (2 if y.ffn else 1)
    return {GAIN: each * (n.norm is not None), SHIFT: each * (n.norm == "layer")}


def hidden(n: Network, y: Layer) -> dict[str, int]:
    """The feed-forward block."""
    if y.ffn is None:
        return {}
    scaled = y.ffn.power is not None or y.ffn.activation == "swiglu"
    return {UNITS: y.ffn.hidden * scaled, CENTRED: y.ffn.hidden * ("u" in n.bias and n.norm == "layer")}
