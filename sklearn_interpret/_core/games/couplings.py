"""Random pairs of the rows of two samples, in which each row keeps its share.

The sum over the players of the gains of a pair is f(new row) - f(old row). As every row
is in pairs of its share in all, the mean gains sum to the difference of the means of f
whatever pairs were drawn, and are exact for a sum of functions of one player each.
"""

import numpy as np
from numpy.typing import NDArray


def random_coupling(
    first: NDArray[np.float64], second: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Rows of two samples that form pairs, and the share of each pair.

    The shares `first` (n,) and `second` (m,) of the rows are laid out along two lines
    in random order; a pair is a piece that two rows have in common. Each pair of rows
    has the product of their shares in expectation.
    """
    ends, orders = [], []
    for shares in (first, second):
        order = rng.permutation(len(shares))
        orders.append(order)
        ends.append(np.cumsum(shares[order]) / shares.sum())
    # A shift of the second line, round the corner. Equal shares do without: they then
    # have common ends, and fewer pieces.
    shift = rng.random()
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        shift = 0.0
    cuts = np.sort(np.concatenate([ends[0], (ends[1] + shift) % 1.0, [0.0, 1.0]]))
    masses = np.diff(cuts)
    # Thinner pieces are rounding errors.
    is_piece = masses > np.finfo(np.float64).eps * len(cuts)
    middles = (cuts[:-1] + masses / 2)[is_piece]
    places = middles, (middles - shift) % 1.0
    pairs = [
        order[np.minimum(np.searchsorted(end, place), len(order) - 1)]
        for order, end, place in zip(orders, ends, places, strict=True)
    ]
    return pairs[0], pairs[1], masses[is_piece]
