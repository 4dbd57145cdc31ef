"""How many dimensions the functions of one attention layer can have: varieties that contain them (`PROOFS-upper.md`).

Lightning attention at a query x is the sum over the keys z that it sees, and over heads, of O_h V_g z (K_g z)^T Q_h x: a sum of
products of an output vector, a value form, a key form and a query form. Bounded are the spaces that these span, and what is left in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb

from ..numerics.network import Layer, Network
from .stream_widths import as_one_token, distances, features, outputs, read_forms


@dataclass(frozen=True)
class Factors:
    """How many forms there are (with the constants that biases add), and how many of them a layer of `count` equal parts takes.

    A part has `heads` heads that share `rows` value rows (0: as many as outputs) and `a` key rows. `kernels`: the dimension of the space of
    all products of the three forms, where they are not those of two tokens; `scores`: that of key and query, with rope.
    """

    outputs: int
    values: int
    keys: int
    queries: int
    rows: int
    a: int
    heads: int
    count: int
    kernels: int | None = None
    scores: int | None = None

    def linear(self) -> int:
        """All tensors."""
        kernels = products(self.values, self.values, self.keys, self.keys) * self.queries if self.kernels is None else self.kernels
        return self.outputs * kernels

    def narrowed(self) -> Iterator[tuple[int, Factors]]:
        """The same with fewer outputs or query forms, where the layer spans no more, and the dimension of the choice of their span."""
        yield 0, self
        span = self.count * (self.heads * self.rows or self.values)
        if span < self.outputs:
            yield span * (self.outputs - span), replace(self, outputs=span)
        span = self.count * self.heads * self.a
        if self.kernels is None and span < self.queries:
            yield span * (self.queries - span), replace(self, queries=span)

    def parts(self) -> int:
        """The least sum when the parts are put together j at a time."""
        together = [0, *(self.together(j) for j in range(1, self.count + 1))]
        return min(self.count // j * together[j] + together[self.count % j] for j in range(1, self.count + 1))

    def together(self, parts: int) -> int:
        """So many parts: spaces of value and key forms, and in them a sum of few products, or anything."""
        n, rows, heads = self.outputs, self.rows or self.outputs, parts * self.heads
        p, u = min(parts * rows, self.values), min(parts * self.a, self.keys)
        spaces = p * (self.values - p) + u * (self.keys - u)
        if self.scores is not None:
            return p * (self.values - p) + of_rank(heads, n * p, self.scores)
        if self.kernels is not None:  # one token: the scores are quadratic polynomials
            return spaces + of_rank(heads, n * p, products(u, self.keys, self.queries, self.queries))
        keyed = products(p, self.values, u, self.keys)
        few = parts * min(rows, p) * min(self.a, u)  # products of a value row and a key row
        found = [spaces + of_rank(heads, n * p, u * self.queries), spaces + of_rank(few, keyed, n * self.queries)]
        if parts == 2:
            found += self.overlapping()
        return min(found)

    def overlapping(self) -> Iterator[int]:
        """Two parts with one value row (or key row) v, w: v times anything and w times anything have v w in common."""
        sides = ((self.rows, self.values, self.keys, self.outputs, self.queries), (self.a, self.keys, self.values, self.queries, self.outputs))
        for rows, own, other, narrow, wide in sides:
            heads = min(self.heads, narrow)
            if rows == 1 and own <= other:
                common = max(0, 2 * heads - narrow)
                yield 2 * (own - 1 + heads * (narrow - heads)) + wide * (2 * heads * other - common)


def products(one: int, forms: int, other: int, others: int) -> int:
    """So many products at most are independent of forms in subspaces of dimensions `one` of all `forms` and `other` of `others`.

    The larger of the two spaces of forms contains the other one; antisymmetric combinations of forms in both subspaces are 0.
    """
    common = max(0, one + other - max(forms, others))
    return one * other - comb(common, 2)


def of_rank(r: int, rows: int, columns: int) -> int:
    """The dimension of the matrices of rank at most r."""
    r = min(r, rows, columns)
    return r * (rows + columns - r)


def attention_dimension(network: Network, y: Layer) -> int | None:
    """The dimension of a variety that contains the functions of attention layer y, as far as its outputs count; None: not known."""
    m, letters = read_forms(network, y)
    rows = outputs(network, y)
    if network.kind == "softmax":
        return rows * (m + ("v" in letters or "o" in network.bias)) if network.sees_itself_only else None
    values, keys, queries = (m + (letter in letters) for letter in "vkq")
    count, one = features(network, y)
    kernels = count if as_one_token(network, y) or network.rotates else None
    scores = score_dimension(network, y) if network.rotates else None
    own = rows * ("o" in network.bias)
    found = [rows * count] if one else []  # any matrix of coefficients, a column of which is a constant
    for shared, heads, parts in _parts(y):
        factors = Factors(rows, values, keys, queries, shared, y.a, heads, parts, kernels, scores)
        found += [own + spans + min(f.linear(), f.parts()) for spans, f in factors.narrowed()]
    return min(found)


def _parts(y: Layer) -> Iterator[tuple[int, int, int]]:
    """(value rows, heads, number) of the parts: groups, in which without dv the queries add up, or single heads."""
    if y.dv is None:
        yield 0, 1, y.kv
    else:
        yield y.dv, y.per_group, y.kv
        yield y.dv, 1, y.heads


def score_dimension(network: Network, y: Layer) -> int:
    """Rotations: the scores of one head are a bilinear form in key and query for each difference of positions; at 0 they are one token."""
    m, letters = read_forms(network, y)
    q, k = "q" in letters, "k" in letters
    same = comb(m + 1, 2)
    if not (network.kind == "softmax" and k):  # there its linear part and constant are no others than at a distance
        same += m * (q or k) + (q and k)
    form = (m + k) * (m + q)
    return min(same + (distances(network) - 1) * form, y.a * form)  # a/2 frequencies, a cosine and a sine each
