"""Find the certificates of a lemma by linear algebra, and write `certificates.json`. Nothing here is trusted: the
file is checked.

    python -m neuromanifold.verifiers.claims.search > verifiers/claims/certificates.json

All polynomials of the lemmas are homogeneous in each coordinate and under the scalings of their vectors, so only
cofactors of
one multidegree are tried. Elimination is modulo a prime, small coefficients are lifted to the rationals.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from .certificate import target
from .fibers import LEMMAS
from .lemmas import Lemma, Model, Sparse, models, variables

PRIME = 2**31 - 1
Row = dict[int, int]


def find(model: Model, power: int, scalings: tuple[dict[str, int], ...]) -> list[list[Any]] | None:
    """Return the terms of a certificate with this power, or None if there is none of the expected degree."""
    goal = target(model, power)
    shape = _degrees(next(iter(goal)))
    weight = _weights(next(iter(goal)), scalings)
    vectors = sorted({name.split("_")[0] for name in variables(model)})
    columns = [
        (cofactor, number)
        for number, equation in enumerate(model.equations)
        for cofactor in _cofactors(equation, shape, weight, scalings, vectors)
    ]
    order: dict[tuple[str, ...], int] = {}
    basis: dict[int, tuple[Row, Row]] = {}
    for column, (cofactor, number) in enumerate(columns):
        entries: Row = {}
        for key, c in model.equations[number].items():
            place = order.setdefault(tuple(sorted(key + cofactor)), len(order))
            entries[place] = (entries.get(place, 0) + int(c)) % PRIME
        entries = {place: c for place, c in entries.items() if c}
        combination: Row = {column: 1}
        pivot = _reduce(entries, combination, basis)
        if pivot is not None:
            inverse = pow(entries[pivot], -1, PRIME)
            basis[pivot] = (_scaled(entries, inverse), _scaled(combination, inverse))
    if any(key not in order for key in goal):
        return None
    rest = {order[key]: int(c) % PRIME for key, c in goal.items()}
    used: Row = {}
    if _reduce(rest, used, basis) is not None:
        return None
    return [
        [str(_lift(-c % PRIME)), " ".join(columns[column][0]), columns[column][1]] for column, c in sorted(used.items())
    ]


def _degrees(key: tuple[str, ...]) -> Counter[str]:
    return Counter(name.split("_")[1] for name in key)


def _weights(key: tuple[str, ...], scalings: tuple[dict[str, int], ...]) -> tuple[int, ...]:
    return tuple(sum(scaling.get(name.split("_")[0], 0) for name in key) for scaling in scalings)


def _cofactors(
    equation: Sparse,
    shape: Counter[str],
    weight: tuple[int, ...],
    scalings: tuple[dict[str, int], ...],
    vectors: list[str],
) -> Iterator[tuple[str, ...]]:
    key = next(iter(equation))
    left = Counter(shape)
    left.subtract(_degrees(key))
    if min(left.values()) < 0:
        return
    wanted = tuple(a - b for a, b in zip(weight, _weights(key, scalings), strict=True))
    choices = [
        [tuple(f"{vector}_{place}" for vector in chosen) for chosen in combinations_with_replacement(vectors, count)]
        for place, count in sorted(left.items())
    ]
    for parts in product(*choices):
        cofactor = tuple(sorted(name for part in parts for name in part))
        if _weights(cofactor, scalings) == wanted:
            yield cofactor


def _reduce(entries: Row, combination: Row, basis: dict[int, tuple[Row, Row]]) -> int | None:
    while entries:
        pivot = min(entries)
        if pivot not in basis:
            return pivot
        factor = -entries[pivot] % PRIME
        for into, source in zip((entries, combination), basis[pivot], strict=True):
            for place, c in source.items():
                value = (into.get(place, 0) + factor * c) % PRIME
                if value:
                    into[place] = value
                else:
                    into.pop(place, None)
    return None


def _scaled(row: Row, factor: int) -> Row:
    return {place: c * factor % PRIME for place, c in row.items()}


def _lift(residue: int) -> Fraction:
    for denominator in (1, 2, 4, 8, 16, 3, 6, 12, 24):
        numerator = residue * denominator % PRIME
        numerator -= PRIME if numerator > PRIME // 2 else 0
        if abs(numerator) < 10_000:
            return Fraction(numerator, denominator)
    raise ValueError("no small rational coefficient")


def certificates(lemma: Lemma, scalings: tuple[dict[str, int], ...]) -> list[dict[str, Any]]:
    """Return certificates for every pattern of a lemma."""
    result = []
    for model in models(lemma):
        for power in (1, 2):
            terms = find(model, power, scalings)
            if terms is not None:
                result.append({"pattern": list(model.pattern), "power": power, "terms": terms})
                break
        else:
            raise ValueError(f"no certificate for pattern {model.pattern}")
    return result


if __name__ == "__main__":
    found = {name: certificates(lemma, scalings) for name, (lemma, scalings) in LEMMAS.items()}
    lines = [
        f"{json.dumps(name)}: [\n  " + ",\n  ".join(json.dumps(item) for item in items) + "\n]"
        for name, items in found.items()
    ]
    sys.stdout.write("{" + ",\n".join(lines) + "}\n")
