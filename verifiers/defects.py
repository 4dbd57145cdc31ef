"""How many dimensions the forms computed by a run of layers of a polynomial MLP can have."""

from __future__ import annotations

from math import comb


def forms_dimension(widths: tuple[int, ...], r: int) -> int:
    """An upper bound of the dimension of the functions of an MLP with these widths (three at least).

    The forms have degree D = r^(layers - 1), depend on c = min(first two widths) linear forms, and span at most the number
    of units of the last hidden layer: c (m - c) for the linear forms, and tuples of n forms in c variables that span at
    most `spanned` dimensions; one less where powers of linear forms are known not to fill.
    """
    m, n, last = widths[0], widths[-1], widths[-2]
    degree = r ** (len(widths) - 2)
    if degree == 1:  # matrices of bounded rank
        rank = min(widths)
        return rank * (m + n - rank)
    c = min(m, widths[1])
    forms = comb(c + degree - 1, degree)
    spanned = min(last, n, forms)
    total: int = c * (m - c) + spanned * (n + forms - spanned)
    return total - (len(widths) == 3 and n == 1 and defective(m, last, r))


def defective(m: int, powers: int, r: int) -> bool:
    """Whether sums of `powers` r-th powers of linear forms in m variables lie in a hypersurface for a reason shown here.

    A matrix that depends linearly on the form has rank `each` at every power and generic rank above powers * `each`
    (Alexander, Hirschowitz 1995; Ottaviani 2009 for cubics): r = 4: the catalecticant, of size C(m+1, 2) and `each` = 1;
    r = 3, m = 5: a Koszul flattening of size 50, `each` = 6 and generic rank at least 43.
    """
    if r == 4:
        return powers == comb(m + 1, 2) - 1
    return (r, m, powers) == (3, 5, 7)
