"""How many dimensions the forms computed by a run of layers of a polynomial MLP, or by an ffn with a power, can have."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np

from ..numerics.point import Point
from ..numerics.rank import rank
from ..numerics.rings import DEFAULT_PRIME, Array, PrimeField

MAX_FLATTENING = 100  # rows and columns of matrices that are looked at


def forms_dimension(widths: tuple[int, ...], r: int) -> int:
    """An upper bound of the dimension of the functions of an MLP with these widths (three at least).

    The forms have degree D = r^(layers - 1), depend on c = min(first two widths) linear forms, and span at most the number
    of units of the last hidden layer: c (m - c) for the linear forms, and tuples of n forms in c variables that span at
    most `spanned` dimensions; one less where sums of so many powers are known not to fill.
    """
    m, n, last = widths[0], widths[-1], widths[-2]
    degree = r ** (len(widths) - 2)
    if degree == 1:  # matrices of bounded rank
        narrowest = min(widths)
        return narrowest * (m + n - narrowest)
    c = min(m, widths[1])
    forms = comb(c + degree - 1, degree)
    spanned = min(last, n, forms)
    total: int = c * (m - c) + spanned * (n + forms - spanned)
    return total - (len(widths) == 3 and spanned == n and defective(c, last, r, n))


@lru_cache(maxsize=1_000)
def defective(m: int, powers: int, r: int, n: int) -> bool:
    """Whether n-tuples of sums of the same `powers` r-th powers of linear forms in m variables lie in a hypersurface for a reason shown here.

    The tuple is a tensor f in C^n (x) S^r C^m. Koszul flattenings (Landsberg, Ottaviani 2013): the linear map (vector, differential operator
    g of order i) -> (vector wedge f) differentiated by g, from the p-th exterior power of C^n on, has rank C(n-1, p) at w l^r, so at most
    `powers` times that at a sum; at random coefficients it has more. One form counts as the tuple of its derivatives, too.
    """
    if max(m, n) > MAX_FLATTENING or powers * (m + n - 1) < n * comb(m + r - 1, r):
        return False  # the latter have too few parameters to fill anyway
    return _above(m, powers, r, n, False) or (n == 1 and _above(m, powers, r - 1, m, True))


def _above(m: int, powers: int, r: int, n: int, derivatives: bool) -> bool:
    """Whether a flattening of a random tuple (of the derivatives of one form) has more than the rank at a sum of powers."""
    for p in range(n):
        each = comb(n - 1, p)
        for i in range(r + 1):
            rows, columns = comb(n, p) * comb(m + i - 1, i), comb(n, p + 1) * comb(m + r - i - 1, r - i)
            if powers * each >= min(rows, columns) or max(rows, columns) > MAX_FLATTENING:
                continue
            if rank(_flattening(m, r, n, p, i, derivatives), PrimeField(DEFAULT_PRIME)) > powers * each:
                return True
    return False


def _flattening(m: int, r: int, n: int, p: int, i: int, derivatives: bool) -> Array:
    """The matrix; f_o has the coefficients a[o, monomial] in divided powers, so that a derivative only shifts the exponents."""
    monomials = list(combinations_with_replacement(range(m), r + derivatives))
    drawn = Point(0, DEFAULT_PRIME).values("forms", (1 if derivatives else n) * len(monomials)).reshape(-1, len(monomials))
    place = {mono: k for k, mono in enumerate(monomials)}
    small, rest = (list(combinations_with_replacement(range(m), d)) for d in (i, r - i))
    wedges, targets = (list(combinations(range(n), d)) for d in (p, p + 1))
    made = np.zeros((len(wedges), len(small), len(targets), len(rest)))
    for a, wedge in enumerate(wedges):
        for o in set(range(n)) - set(wedge):
            target = targets.index(tuple(sorted((*wedge, o))))
            sign = (-1) ** sum(w > o for w in wedge)
            for b, g in enumerate(small):
                for c, h in enumerate(rest):
                    exponents = tuple(sorted((*g, *h, *[o] * derivatives)))
                    made[a, b, target, c] = sign * drawn[0 if derivatives else o, place[exponents]]
    return made.reshape(len(wedges) * len(small), -1)
