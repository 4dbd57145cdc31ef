"""Well-known wrong statements, kept with an exact counterexample: what a mechanism breaks.

Each is expected to be refuted. A counterexample is a network with integer (or integer multiples of log 2) parameters
and an input, at which the two sides, or the derivative along the field, differ exactly.
"""

from __future__ import annotations

from functools import partial

from . import finite, motions, plain
from .entries import Shape
from .model import Check, Claim
from .residuals import Entries, bound, by_rationals, by_sympy, by_transcendence, by_z3_reals

SOURCE = "PROOFS section 6"


def _wrong(name: str, title: str, statement: str, entries: Entries, transcendental: bool = False) -> Claim:
    checks = [
        Check("rationals", by_rationals, entries),
        Check("sympy", by_sympy, entries),
        Check("z3 reals", by_z3_reals, entries),
    ]
    if transcendental:
        checks[1:] = [Check("sympy numbers", by_transcendence, entries)]
    return Claim(f"not-{name}", title, statement, f"one network: {entries.shapes[0]}", SOURCE, tuple(checks), "refuted")


CLAIMS = (
    _wrong(
        "rescaling-softmax",
        "Rescaling is a symmetry of softmax",
        "V -> c V, K -> K / c leaves a softmax layer. Wrong.",
        Entries(bound(finite.same, finite.rescaling), (Shape("softmax"),)),
        transcendental=True,
    ),
    _wrong(
        "scaling-softmax",
        "The rescaling field annihilates softmax",
        "dV = V, dK = -K annihilates a softmax layer. Wrong.",
        Entries(bound(motions.under, motions.scaling), (Shape("softmax"),)),
        transcendental=True,
    ),
    _wrong(
        "hidden-basis-skip",
        "A hidden basis change passes a skip connection",
        "dV1 = e V1 and dW = -W e for every reader of the stream annihilates two layers with skip connections. Wrong.",
        Entries(plain.stacked_basis, (Shape("lightning", d=1, n=1, skip=True), Shape("lightning", skip=True))),
    ),
    _wrong(
        "gauge-rope",
        "The full gauge survives rotations",
        "dQ = e Q, dK = -e' K annihilates a layer with rope for every e, not only those that commute with rotations. "
        "Wrong.",
        Entries(
            bound(motions.under, motions.full_gauge),
            (Shape("lightning", a=2, rope=True), Shape("softmax", a=2, rope=True)),
        ),
    ),
    _wrong(
        "key-bias-rope",
        "The key bias is dead under rope",
        "dbk = u annihilates a softmax layer with rope. Wrong: the rotations make it different for every key.",
        Entries(bound(motions.under, motions.key_bias), (Shape("softmax", a=2, rope=True, bias="k"),)),
    ),
    _wrong(
        "permutation-across-groups",
        "Queries may be exchanged across groups",
        "Exchanging Q and O of two heads of different groups, keys and values in place, leaves the layer. Wrong.",
        Entries(
            partial(finite.same, finite.query_swap, order=(1, 0)),
            (Shape("lightning", heads=2, kv=2, dv=1), Shape("softmax", heads=2, kv=2, dv=1)),
        ),
    ),
    _wrong(
        "symmetric-key-two-tokens",
        "Only the symmetric part of K'Q acts",
        "dK = b Q, b antisymmetric, annihilates a lightning layer with two tokens. Wrong: it does with one.",
        Entries(bound(motions.under, motions.symmetric_key), (Shape("lightning", a=2),)),
    ),
    _wrong(
        "group-sum-softmax",
        "Only the sum of a group's queries acts, softmax",
        "dQ_h = M, dQ_k = -M annihilates a softmax layer. Wrong: it does a lightning layer.",
        Entries(bound(motions.under, motions.group_sum), (Shape("softmax", heads=2, kv=1),)),
        transcendental=True,
    ),
)
