"""The degree of a network in its input X, exactly: an upper bound read off the program, attained by a non-zero coefficient mod p."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from ..numerics.evaluate import evaluate
from ..numerics.forward import record
from ..numerics.network import Network, UnsupportedNetwork
from ..numerics.point import Point
from ..numerics.program import Program
from ..numerics.rings import NotInvertible, PrimeField

MAX_DEGREE = 10_000


@dataclass(frozen=True)
class Degree:
    """Proven bounds of the degree in X of theta -> f_theta at generic theta; they meet wherever the top coefficient was found."""

    lower: int
    upper: int


def input_degree(network: Network, seed: int = 0) -> Degree:
    """The degree of X -> f_theta(X) as a polynomial, for generic theta.

    Upper bound: degrees add in products and do not grow in sums. Lower bound: with D the upper bound, the D-th difference of
    s -> f(s X) is D! times the coefficient of s^D; if it is non-zero mod p > D at one point, the coefficient is not zero.
    Not guaranteed: that the bounds meet (then lower is 0). Raises `UnsupportedNetwork` where f is no polynomial in X, or
    its degree exceeds 10,000.
    """
    program = record(network)
    top = degree_bound(network, program)
    if top > MAX_DEGREE:
        raise UnsupportedNetwork("degree", f"{network} has degree up to {top}, more than {MAX_DEGREE}")
    ring = PrimeField()
    point = Point(seed, ring.p)
    x = point.inputs(program, [0])["X"][0].astype(object)
    scaled = np.array([(s * x) % ring.p for s in range(top + 1)], dtype=np.int64)
    try:
        bindings = {**point.parameters(network), **point.constants(program), "X": scaled}
        values = evaluate(program, ring, bindings)[program.output]
    except NotInvertible:
        return Degree(0, top)
    outputs = ring.integers(np.broadcast_to(values.array, (top + 1, network.d[-1], network.t))).astype(object)
    signs = [(-1) ** (top - s) * comb(top, s) for s in range(top + 1)]
    difference = sum(c * y for c, y in zip(signs, outputs, strict=True)) % ring.p
    return Degree(top if np.any(difference != 0) else 0, top)


def degree_bound(network: Network, program: Program) -> int:
    """The degree in X that the program's products give. Raises `UnsupportedNetwork` where it divides by or exponentiates X."""
    degrees: list[int] = []
    for step in program.instructions:
        of = [degrees[i] for i in step.operands]
        if step.operation in ("einsum", "mul"):
            degrees.append(sum(of))
        elif step.operation == "add":
            degrees.append(max(of))
        elif step.operation in ("exp", "reciprocal", "root") and any(of):
            raise UnsupportedNetwork(network.kind, f"{network} is no polynomial in X: it has no degree")
        else:
            degrees.append(int(step.operation == "input"))
    return degrees[program.output]
