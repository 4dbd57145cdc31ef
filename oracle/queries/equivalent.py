"""Do two parameter points of a network compute the same function?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...numerics.network import Network
from ...numerics.notation import parse
from ...verifiers.points.difference import Difference, find_difference
from ...verifiers.points.expressions import same_function
from ...verifiers.points.forms import TooLarge, head_products, normal_form
from ...verifiers.points.theta import Theta, exact_theta
from .text import tensor_json


@dataclass(frozen=True)
class Equivalence:
    """`verdict` is equivalent, different or undecided; `reason` says how it is known.

    `difference` is the input where the functions differ, with both outputs; the entry is (coordinate, token), from 0.
    """

    spec: str
    verdict: str
    reason: str
    difference: Difference | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as one JSON object; numbers are strings, as exact as they are known."""
        made: dict[str, Any] = {"schema": 1, "spec": self.spec, "verdict": self.verdict, "reason": self.reason}
        if self.difference:
            d = self.difference
            made["difference"] = {
                "X": tensor_json(d.x), "entry": list(d.entry), "values": list(d.values), "exact": d.exact,
                "constants": {name: tensor_json(v) for name, v in d.constants.items()},
            }  # fmt: skip
        return made


def equivalent(
    network: str | Network, theta: Mapping[str, Any], theta2: Mapping[str, Any], *, seed: int = 0
) -> Equivalence:
    """Whether f_theta = f_theta2 on all inputs X (d_0 x t), theta and theta2 as `exact_theta` takes them: exact rationals.

    Guaranteed: `equivalent` rests on equal normal forms or on an expanded identity, for all values of the generic
    constants; `different` on an input where the outputs are exact rationals that differ, or lie in disjoint
    enclosures (then for generic constants, if the network has any). `undecided` claims nothing: it occurs
    for functions that agree or nearly agree, where no rewrite shows it and the network is too large to expand.
    Raises `ThetaError` where theta or theta2 does not fit the network.

    >>> one = {"1.Q": [["1", "2"]], "1.K": [["3", "1"]], "1.V": [["1", "0"], ["0", "1"]]}
    >>> two = {"1.Q": [["2", "4"]], "1.K": [["3", "1"]], "1.V": [["1/2", "0"], ["0", "1/2"]]}
    >>> as_heads = lambda p: {"1.Q": [p["1.Q"]], "1.K": [p["1.K"]], "1.V": [p["1.V"]]}
    >>> equivalent("lightning d=2,2 a=1 t=2", as_heads(one), as_heads(two)).verdict
    'equivalent'
    """
    if isinstance(network, str):
        network = parse(network)
    one, two = exact_theta(network, theta), exact_theta(network, theta2)
    return compare(network, one, two, seed)


def compare(network: Network, one: Theta, two: Theta, seed: int) -> Equivalence:
    """The answer for exact points."""
    spec = str(network)
    if reason := same_by_rewriting(network, one, two):
        return Equivalence(spec, "equivalent", reason)
    difference = find_difference(network, one, two, seed)
    if difference:
        how = "exact rationals" if difference.exact else "disjoint enclosures"
        return Equivalence(spec, "different", f"the outputs differ at an input: {how}", difference)
    try:
        if same_function(network, one, two):
            return Equivalence(spec, "equivalent", "both expand to the same expressions in X")
        why = "no rewrite makes them equal"
    except TooLarge as error:
        why = f"no rewrite makes them equal, and they were not expanded: {error}"
    return Equivalence(spec, "undecided", f"the outputs agree at every input that was tried; {why}")


def same_by_rewriting(network: Network, one: Theta, two: Theta) -> str | None:
    """How equality follows from symmetries, or None where they do not show it."""
    if all((one[name] == two[name]).all() for name in one):
        return "the parameters are equal"
    if network.kind != "mlp" and head_products(network, one) == head_products(network, two):
        return "gauge: the products K^T Q and O V of every head are equal"
    try:
        same = normal_form(network, one) == normal_form(network, two)
    except TooLarge:
        return None
    return f"symmetries: equal normal forms ({_normalised(network)})" if same else None


def _normalised(network: Network) -> str:
    if network.kind == "mlp":
        return "rescalings, permutations and mixtures of hidden units"
    words = ["gauges of queries, keys and values"]
    if network.kind == "lightning":
        words.append("rescalings and mixtures of heads: the coefficients of every layer agree")
    else:
        words.append("permutations of heads, heads with equal scores added up")
    if not network.skip and (network.l > 1 or network.ffn):
        words.append("bases of hidden streams")
    if network.bias:
        words.append("constants moved between biases")
    if network.ffn:
        words.append("rescalings and permutations of hidden units")
    return "; ".join(words)
