"""How many dimensions a hidden stream can take: what is written spans so many, and what is read looks at so many (`PROOFS-upper.md`)."""

from __future__ import annotations

from math import comb

from ..numerics.network import Layer, Network


def outputs(network: Network, y: Layer) -> int:
    """How many rows of the attention's output count: those that its ffn reads where nothing else does."""
    if y.ffn is None or network.skip or network.norm:
        return y.n
    return min(y.n, read(network, y, "attention"))


def columns(network: Network, y: Layer) -> int:
    """How many columns of V (with dv: of O) the output of an attention layer without bo is a combination of."""
    if y.dv is not None:
        return y.heads * y.dv
    return y.kv * (y.m + (network.kind == "lightning" and "v" in network.bias))


def distances(network: Network) -> int:
    """How many differences of positions occur between a query and a key that it sees."""
    return min(network.window or network.t, network.t) if network.causal else 2 * network.t - 1


def rank_one(network: Network, y: Layer) -> bool:
    """Whether the stream that a lightning layer reads is a vector times one number for each token, at every input."""
    if network.kind != "lightning" or network.skip:
        return False
    return y.m == 1 or (y.index > 1 and _passes_rank_one(network, network.layers[y.index - 2]))


def _passes_rank_one(network: Network, y: Layer) -> bool:
    """Whether a layer's output has rank one: made so by a_j = 1, or kept."""
    letters = set(network.bias)
    linear = y.ffn is None or (y.ffn.power is not None and not letters & {"u", "d"})
    if letters & {"v", "o"} or not linear:
        return False
    if y.heads == y.a == 1 and not network.causal:
        return True
    return rank_one(network, y) and not network.rope and (y.heads == 1 or not letters & {"q", "k"})


def as_one_token(network: Network, y: Layer) -> bool:
    """Whether a lightning layer is known from what it does to one token: the others are multiples of it, or not seen."""
    return network.sees_itself_only or (rank_one(network, y) and not network.rope and not set(network.bias) & {"k", "v"})


def read_forms(network: Network, y: Layer) -> tuple[int, set[str]]:
    """How many linear forms there are of what attention reads, and the letters of value, key and query whose forms have a constant.

    With LayerNorm they are forms of centred vectors, and the shift is a constant.
    """
    if network.norm == "layer":
        return y.m - 1, set("qkv")
    return y.m, set(network.bias) & set("qkv")


def features(network: Network, y: Layer) -> tuple[int, bool]:
    """The number of functions of a lightning layer's input that its outputs without bo are combinations of, and whether 1 is one.

    Products of a value and a key form of a key token, summed over the keys, and a query form; with rotations, for each distance
    or for each of the a/2 frequencies' sine and cosine; at distance 0 key and query are the same token.
    """
    m, letters = read_forms(network, y)
    q, sides = "q" in letters, len(letters & {"k", "v"})
    if as_one_token(network, y):  # products of three linear forms, some of them with a constant
        lines = q + sides
        return sum(comb(m + 2 - k, 3 - k) for k in range(min(lines, 2) + 1)) + (lines == 3), lines == 3
    moving = comb(m + 1, 2) + m * (sides > 0)
    everything = q and sides == 2
    if not network.rotates:
        return (moving + (sides == 2)) * (m + q), everything and not network.causal
    apart = distances(network)
    positions = min(network.t, apart)  # a constant at the keys: one function of the position for each query form
    own = comb(m + 2, 3) + comb(m + 1, 2) * (q + sides > 0)
    linear = positions * m if sides == 2 else m * (q + sides > 1)
    by_distance = (apart - 1) * moving * (m + q) + own + linear + positions * everything
    by_frequency = (y.a * moving + min(y.a, positions) * (sides == 2)) * (m + q)
    any_position = min(y.a, positions) == network.t  # then 1 is one of the functions of the position
    return min(by_distance, by_frequency), everything and (by_distance <= by_frequency or any_position)


def written(network: Network, y: Layer, after: str) -> tuple[int, bool]:
    """Dimensions of a linear space that contains, up to one constant vector, what a block writes; whether there is that constant."""
    if after == "ffn":
        return (y.ffn.hidden if y.ffn else 0), "d" in network.bias
    spanned, constant = columns(network, y), "o" in network.bias
    if network.kind == "softmax":
        return spanned, constant or ("v" in network.bias and y.dv is None)
    count, one = features(network, y)
    return (count, constant and not one) if count < spanned else (spanned, constant)


def read(network: Network, y: Layer, after: str) -> int:
    """How many rows read the stream: those of the ffn, or of the next layer; softmax scores of one key read nothing."""
    if after == "attention" and y.ffn:
        return y.ffn.hidden * (1 + (y.ffn.activation == "swiglu"))
    z = network.layers[y.index]
    scores = 0 if network.kind == "softmax" and network.sees_itself_only else (z.heads + z.kv) * z.a
    return scores + z.kv * z.value_rows


def absorbs(network: Network, y: Layer, after: str) -> bool:
    """Whether a constant of the stream changes what its readers make by constants that biases take up."""
    letters, soft = set(network.bias), network.kind == "softmax"
    if after == "attention" and y.ffn:
        return "u" in letters and y.ffn.activation != "swiglu"
    values = "v" in letters or (soft and "o" in letters)
    if soft and network.sees_itself_only:
        return values
    keys = "k" in letters or (soft and not network.rotates)
    return "q" in letters and keys and values


def hidden_width(network: Network, y: Layer) -> int:
    """The width d_i < d_l that is enough for stream i of a network without skip and norm."""
    found = 1
    for after in ("attention", "ffn") if y.ffn else ("attention",):
        moving, constant = written(network, y, after)
        found = max(found, min(moving + (constant and not absorbs(network, y, after)), read(network, y, after)))
    return found


def hidden_units(network: Network, y: Layer) -> int | None:
    """How many hidden units of a power are enough for all polynomials that such an ffn computes; None for other activations."""
    if y.ffn is None or y.ffn.power is None:
        return None
    variables, affine = y.n, "u" in network.bias
    if not (network.skip or network.norm):
        moving, constant = written(network, y, "attention")
        if moving < y.n:
            variables, affine = moving, affine or constant
    if affine:
        return comb(variables + y.ffn.power, y.ffn.power) - ("d" in network.bias)
    return comb(variables + y.ffn.power - 1, y.ffn.power)


def single_heads(network: Network, y: Layer) -> int | None:
    """How many heads (groups without dv) are enough where a lightning layer reads one coordinate; None where that is not known.

    A head adds a vector times any combination of the features, so that all heads make a matrix of that rank.
    """
    if network.kind != "lightning" or y.m > 1 or set(network.bias) & {"k", "v"}:
        return None
    return min(y.kv if y.dv is None else y.heads, outputs(network, y), features(network, y)[0])
