"""Polynomial fields as lists of terms, found by `verifiers/discovery.py` and proved by `verifiers/identity.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from ...numerics.network import Network
from ...numerics.rings import Array, PrimeField

Motion = tuple[tuple[int, Fraction, tuple[int, ...]], ...]
"""Terms (target, coefficient, factors): parameter `target` moves by the coefficient times the product of the parameters `factors`."""


@dataclass(frozen=True)
class Found:
    """A field outside the catalogue. Parameters are numbered as the columns of the Jacobian.

    `expanded`: which of the two ways of `identity.annihilates` proves it.
    """

    network: Network
    motion: Motion
    expanded: bool = False
    name: str = "found"

    @property
    def layer(self) -> int:
        """The first layer that moves."""
        names = entry_names(self.network)
        return min(int(names[target].partition(".")[0]) for target, _, _ in self.motion)

    def to_json(self) -> dict[str, Any]:
        """The entry in a certificate."""
        terms = [[target, str(coefficient), list(factors)] for target, coefficient, factors in self.motion]
        return {"field": self.name, "expanded": int(self.expanded), "motion": terms}

    @classmethod
    def from_json(cls, network: Network, entry: Mapping[str, Any]) -> Found:
        """The field of such an entry."""
        motion = tuple((target, Fraction(coefficient), tuple(factors)) for target, coefficient, factors in entry["motion"])
        return cls(network, motion, bool(entry["expanded"]))

    def describe(self) -> str:
        """The motion in one line, by the names of the entries."""
        names, moved = entry_names(self.network), dict[str, list[str]]()
        for target, coefficient, factors in self.motion:
            product = " ".join(names[k] for k in factors)
            sign = "" if coefficient == 1 else "-" if coefficient == -1 else f"{coefficient} * "
            moved.setdefault(names[target], []).append(f"{sign}{product}" if product else str(coefficient))
        return ", ".join(f"d{target} = {' + '.join(terms)}".replace("+ -", "- ") for target, terms in moved.items())

    def vectors(self, network: Network, point: Mapping[str, Array], ring: PrimeField) -> Array:
        """The field at the point: residues (1, parameters)."""
        flat = [int(x) for name, _ in network.parameter_shapes() for x in point[name].reshape(-1)]
        moved = [0] * len(flat)
        for target, coefficient, factors in self.motion:
            value = coefficient.numerator * pow(coefficient.denominator, -1, ring.p)
            moved[target] = (moved[target] + value * prod(flat[k] for k in factors)) % ring.p
        return ring.lift(np.array([moved]))


def entry_names(network: Network) -> list[str]:
    """Names of all parameters, `1.Q[0,0,1]`, in the order of the Jacobian's columns."""
    return [
        f"{name}[{','.join(map(str, index))}]" for name, shape in network.parameter_shapes() for index in np.ndindex(*shape)
    ]
