"""Ideal-membership certificates for lemmas: identities that anyone can expand.

For a coincidence pattern of a lemma (see `lemmas.py`) a certificate is an exponent k and a list of pairs (cofactor,
equation) with
sum of cofactor * equation = (product of the denied polynomials)^k. If all equations are zero the product is zero, so
one of
the denied polynomials is: over every field of characteristic other than 2, for vectors of every length.
The certificates are data (`certificates.json`); nothing in the file is believed except as numbers to expand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from importlib.resources import files
from typing import Any

from .lemmas import Lemma, Model, Sparse, models
from .model import Deadline, Verdict

FILE = "certificates.json"


class BadCertificateError(ValueError):
    """A certificate that does not prove its pattern."""


def load(text: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Return the certificates by lemma; `text` replaces the file's content."""
    content = text if text is not None else (files(__package__) / FILE).read_text(encoding="utf-8")
    document: dict[str, list[dict[str, Any]]] = json.loads(content)
    return document


def times(left: Sparse, right: Sparse) -> Sparse:
    """Return the product."""
    result: Sparse = {}
    for key, c in left.items():
        for other, d in right.items():
            both = tuple(sorted(key + other))
            result[both] = result.get(both, Fraction(0)) + c * d
    return {key: c for key, c in result.items() if c}


def target(model: Model, power: int) -> Sparse:
    """Return the power of the product of the denied polynomials."""
    result: Sparse = {(): Fraction(1)}
    for _ in range(power):
        for poly in model.nonzero:
            result = times(result, poly)
    return result


def check(model: Model, certificate: dict[str, Any]) -> int:
    """Expand a certificate of a pattern; return its number of terms, or raise `BadCertificateError`."""
    if set(certificate) != {"pattern", "power", "terms"}:
        raise BadCertificateError("unknown or missing keys")
    power = certificate["power"]
    if type(power) is not int or not 1 <= power <= 4:
        raise BadCertificateError("the power must be 1 to 4")
    total: Sparse = {}
    for coefficient, cofactor, number in certificate["terms"]:
        if type(number) is not int or not 0 <= number < len(model.equations):
            raise BadCertificateError(f"there is no equation {number}")
        for key, c in model.equations[number].items():
            both = tuple(sorted((*key, *cofactor.split())))
            total[both] = total.get(both, Fraction(0)) + c * Fraction(coefficient)
    total = {key: c for key, c in total.items() if c}
    if total != target(model, power):
        raise BadCertificateError("the sum of cofactors times equations is not the power of the denied product")
    return len(certificate["terms"])


def by_certificates(subject: tuple[tuple[str, Lemma], ...], deadline: Deadline) -> Verdict:
    """Check the stored certificates of every pattern of every lemma.

    Proves over every field of characteristic not 2.
    """
    return check_all(subject, load(), deadline)


def check_all(
    subject: Iterable[tuple[str, Lemma]], document: dict[str, list[dict[str, Any]]], deadline: Deadline
) -> Verdict:
    """Check the certificates of `document` against lemmas."""
    count = terms = 0
    for name, lemma in subject:
        stored = {tuple(item["pattern"]): item for item in document.get(name, [])}
        for model in models(lemma):
            deadline.left()
            if model.pattern not in stored:
                return Verdict("unknown", f"lemma {name}: no certificate for pattern {model.pattern}")
            try:
                terms += check(model, stored[model.pattern])
            except BadCertificateError as error:
                return Verdict("unknown", f"lemma {name}, pattern {model.pattern}: {error}")
            count += 1
    if not count:
        return Verdict("unknown", "nothing to check")
    return Verdict("proved", f"{count} identities with {terms} terms expanded")
