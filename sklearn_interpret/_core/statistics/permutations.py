"""Which row each row takes values from, drawn in the shares of the rows' weights.

Rows lie on a line in random order, each over a stretch as long as its weight. A second
line has the same length. What lies on the second line under a place within a row's
stretch on the first is the row's donor. Where all weights are equal, every row is the
donor of one other: the donors are a permutation.
"""

import numpy as np

# Where in its stretch a row looks for its donor: no place that falls on a border
# between two stretches, whatever whole numbers the weights are.
_PLACE = (np.sqrt(5) - 1) / 4


def random_donors(weights, rng, strata=None):
    """A donor for each row, independent of it and drawn in the shares of the weights.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Positive weights.
    rng : RandomState
        Source of the draw.
    strata : ndarray of shape (n,), intp, optional
        Rows have donors in their own stratum only: whole numbers from zero.

    Returns
    -------
    ndarray of shape (n,), intp
        Positions of the donors. Of all rows, and of each one alone, they are a draw in
        which a row of twice the weight is twice as likely.
    """
    if strata is None:
        if _are_equal(weights):
            return rng.permutation(len(weights))
        strata = np.zeros(len(weights), dtype=np.intp)
    first, second = (_order(strata, rng) for _ in range(2))
    totals = np.bincount(strata, weights)
    return _under(
        weights, first, second, strata, rng.uniform(size=len(totals)) * totals
    )


def exchanged_halves(weights, rng, strata=None):
    """Donors by exchange between two random halves of the rows.

    Parameters
    ----------
    weights, rng, strata : object
        As :func:`random_donors` takes them.

    Returns
    -------
    ndarray of shape (n,), intp
        Of an even number of rows of equal weight, each is the donor of its donor. The
        halves are halves of the total weight; of an odd number of rows, the one in the
        middle gives to the second half and takes from the first.
    """
    if strata is None:
        strata = np.zeros(len(weights), dtype=np.intp)
    order = _order(strata, rng)
    return _under(weights, order, order, strata, np.bincount(strata, weights) / 2)


def _are_equal(weights):
    return bool((weights == weights[0]).all())


def _order(strata, rng):
    """Random order of the rows within strata, one stratum after the other."""
    order = rng.permutation(len(strata))
    return order[np.argsort(strata[order], kind="stable")]


def _under(weights, first, second, strata, shift):
    """What lies under each row where the second line of each stratum is turned."""
    sizes, totals = np.bincount(strata), np.bincount(strata, weights)
    ends, before = np.cumsum(sizes), np.cumsum(totals) - totals
    of_row = strata[first]  # the strata of both orders, for they are sorted by it
    stop = np.cumsum(weights[first])
    place = stop - weights[first] * (1 - _PLACE) - before[of_row]
    place = np.mod(place + shift[of_row], totals[of_row]) + before[of_row]
    found = np.searchsorted(np.cumsum(weights[second]), place, side="right")
    found = np.clip(found, (ends - sizes)[of_row], ends[of_row] - 1)
    donors = np.empty(len(weights), dtype=np.intp)
    donors[first] = second[found]
    return donors
