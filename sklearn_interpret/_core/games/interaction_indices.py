r"""Interaction indices of games, from the games' Moebius transform.

All are linear in the Moebius transform m, with coefficients that depend on the sizes s
of the set and t of its supersets only:

.. math:: I(S) = \sum_{T \supseteq S} c(s, t)\, m(T).
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

from scipy import sparse
from scipy.special import bernoulli


def _sii(s: int, t: int, order: int) -> float:
    """Shapley interaction index (Grabisch & Roubens 1999)."""
    return 1 / (t - s + 1)


def _bii(s: int, t: int, order: int) -> float:
    """Banzhaf interaction index (Grabisch & Roubens 1999)."""
    return 0.5 ** (t - s)


def _k_sii(s: int, t: int, order: int) -> float:
    """Shapley interaction values, which sum up (Bordt & von Luxburg 2023, (9))."""
    numbers = bernoulli(order)
    return sum(
        numbers[j] * comb(t - s, j) / (t - s - j + 1)
        for j in range(min(order, t) - s + 1)
    )


def _stii(s: int, t: int, order: int) -> float:
    """Shapley-Taylor interaction index (Sundararajan et al. 2020, proposition 2)."""
    return float(s == t) if s < order else 1 / comb(t, order)


def _fsii(s: int, t: int, order: int) -> float:
    """Faithful Shapley interaction index (Tsai, Yeh & Ravikumar 2023, theorem 19)."""
    if t <= order:
        return float(s == t)
    share = s / (order + s) * comb(order, s) * comb(t - 1, order)
    return (-1) ** (order - s) * share / comb(t + order - 1, order + s)


COEFFICIENTS = {"SII": _sii, "k-SII": _k_sii, "STII": _stii, "FSII": _fsii, "BII": _bii}


def index_matrix(
    sets: Sequence[Sequence[int]], index: str, order: int
) -> tuple[list[tuple[int, ...]], sparse.csr_array]:
    """Map from the Moebius transform to an index: sets, and a sparse matrix.

    Parameters
    ----------
    sets : sequence of tuple of int
        Increasing members of the sets whose Moebius transform is not zero.
    index : str
        A key of `COEFFICIENTS`.
    order : int
        Largest size of the sets of the index.

    Returns
    -------
    sets : list of tuple of int
        Sets of the index, by size, then members.
    matrix : sparse array of shape (n_index_sets, n_sets)
        The coefficients.
    """
    pairs = [
        (subset, position)
        for position, members in enumerate(sets)
        for size in range(1, min(order, len(members)) + 1)
        for subset in combinations(members, size)
    ]
    index_sets = sorted({subset for subset, _ in pairs}, key=lambda s: (len(s), s))
    row = {subset: position for position, subset in enumerate(index_sets)}
    coefficient = COEFFICIENTS[index]
    coefficients = {
        sizes: coefficient(*sizes, order)
        for sizes in {(len(subset), len(sets[position])) for subset, position in pairs}
    }
    values = [coefficients[len(s), len(sets[position])] for s, position in pairs]
    entries = [row[subset] for subset, _ in pairs], [position for _, position in pairs]
    shape = len(index_sets), len(sets)
    return index_sets, sparse.csr_array((values, entries), shape=shape)
