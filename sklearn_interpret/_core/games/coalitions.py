"""Shapley values of all coalitions, and which coalitions to evaluate if too many exist.

Coalitions come in pairs with their complements: Shapley values depend only on
differences within pairs, interaction values on sums. A pair is represented by its
smaller member; if both have equal size, by the member with the first player.
"""

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

# Subsets are listed and sampled if there are at most this many times the number asked
# for. Otherwise subsets are drawn until enough differ: at most a quarter is rejected.
_MOST_LISTED = 4


def subsets(n_players: int) -> NDArray[np.bool_]:
    """All subsets of players, by number: (2**n_players, n_players) bool."""
    return ((np.arange(2**n_players)[:, None] >> np.arange(n_players)) & 1) == 1


def distinct_coalitions(
    coalitions: NDArray[np.bool_],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First position of each distinct coalition of (m, n_players); its number, (m,).

    Coalitions are numbered by their bits: the empty one is first, the grand one last.
    """
    # Packed bits are much faster than np.unique of rows; one bit more for no players.
    packed = np.packbits(np.pad(coalitions, ((0, 0), (1, 0))), axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first, number.ravel()


def all_coalitions(n_players: int) -> NDArray[np.bool_]:
    """All coalitions between nobody and everybody, by number: (m, n_players) bool."""
    return subsets(n_players)[1:-1]


def values_of_all(values: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Shapley values (n_players, k) from values of all coalitions (2**n_players, k).

    The mean of :math:`v(S \cup j) - v(S)` over sizes of S, and for each size over all S
    without j.
    """
    n_players, k = _n_players(values), values.shape[1]
    shapley_values = np.empty((n_players, k))
    for j in range(n_players):
        split = values.reshape(-1, 2, 2**j, k)  # by whether j is present
        gains = (split[:, 1] - split[:, 0]).reshape(-1, k)
        shares = coalition_shares(n_players - 1)
        shapley_values[j] = (gains * shares[:, None]).sum(axis=0)
    return shapley_values


def interactions_of_all(values: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Shapley interaction values (n_players, n_players, k) of pairs.

    Half the mean of :math:`v(S \cup ij) - v(S \cup i) - v(S \cup j) + v(S)` over sizes
    of S, and for each size over all S without i and j; zero on the diagonal. `values`
    has the values of all coalitions, (2**n_players, k).
    """
    n_players, k = _n_players(values), values.shape[1]
    pairs = np.zeros((n_players, n_players, k))
    for j in range(n_players):
        for i in range(j):
            # By whether j and i are present.
            split = values.reshape(-1, 2, 2 ** (j - i - 1), 2, 2**i, k)
            gains = split[:, :, :, 1] - split[:, :, :, 0]
            differences = (gains[:, 1] - gains[:, 0]).reshape(-1, k)
            shares = coalition_shares(n_players - 2)
            pairs[i, j] = (differences * shares[:, None]).sum(axis=0) / 2
            pairs[j, i] = pairs[i, j]
    return pairs


def _n_players(values: NDArray[np.float64]) -> int:
    """Number of players, from the values of all coalitions."""
    return len(values).bit_length() - 1


@lru_cache(maxsize=32)
def coalition_shares(n_others: int) -> NDArray[np.float64]:
    """Share of orders in which each subset of the others precedes a player.

    By number, (2**n_others,).
    """
    sizes = np.bitwise_count(np.arange(2**n_others))
    of_size = [
        1 / ((n_others + 1) * comb(n_others, size)) for size in range(n_others + 1)
    ]
    return np.array(of_size)[sizes]


def n_pairs_of(n_players: int, size: int) -> int:
    """Number of pairs whose smaller member has a size, at most half of all players."""
    n_subsets = comb(n_players, size)
    return n_subsets // 2 if 2 * size == n_players else n_subsets


def paired_design(
    n_players: int, n_coalitions: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Pairs drawn without replacement, by one member: (n_pairs, n_players) bool.

    All sizes get the same number of coalitions, as they have the same leverage in a
    linear regression with Shapley's weights (Musco & Witter 2025). A size with fewer
    coalitions has all of them; so has size 1 if the pairs suffice. Smaller sizes come
    first.

    Parameters
    ----------
    n_players : int
        Number of players.
    n_coalitions : int
        Number of coalitions to evaluate. The empty one and the grand coalition count,
        but are not drawn; the others are ``(n_coalitions - 2) // 2`` pairs, or all that
        exist.
    rng : Generator
        Source of randomness.
    """
    sizes = range(1, n_players // 2 + 1)
    existing = [n_pairs_of(n_players, size) for size in sizes]
    n_pairs = min((n_coalitions - 2) // 2, sum(existing))
    counts = _numbers_of_pairs(n_players, existing, n_pairs, rng)
    blocks = [
        _random_pairs(n_players, size, n_existing, count, rng)
        for size, n_existing, count in zip(sizes, existing, counts, strict=True)
        if count
    ]
    return np.concatenate([np.zeros((0, n_players), dtype=bool), *blocks])


def design_within(
    largest: NDArray[np.bool_], n_coalitions: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """A smaller design whose pairs are pairs of a larger one, (n_pairs, n_players).

    With the same state of the generator, the pairs of a smaller number are among those
    of a larger one: their values need not be computed again.
    """
    n_players = largest.shape[1]
    existing = [n_pairs_of(n_players, size) for size in range(1, n_players // 2 + 1)]
    n_pairs = (n_coalitions - 2) // 2
    if n_pairs >= len(largest):
        return largest
    counts = np.array(_numbers_of_pairs(n_players, existing, n_pairs, rng))
    order = rng.permutation(len(largest))
    sizes = largest[order].sum(axis=1)
    by_size = np.argsort(sizes, kind="stable")
    starts = np.searchsorted(sizes[by_size], sizes[by_size])
    is_taken = np.arange(len(order)) - starts < counts[sizes[by_size] - 1]
    return largest[np.sort(order[by_size[is_taken]])]


def _numbers_of_pairs(
    n_players: int, existing: list[int], n_pairs: int, rng: np.random.Generator
) -> list[int]:
    """Number of pairs of each size."""
    counts = list(existing)
    shares = np.ones(len(existing))
    if n_players % 2 == 0:
        shares[-1:] = 0.5  # the middle size is one, other pairs join two sizes
    remaining = n_pairs
    for first, n_existing in enumerate(existing):
        # Sizes are filled from the smallest up: sizes of few coalitions leave more.
        fair = remaining * shares[first:] / shares[first:].sum()
        has_all_singles = first == 0 and remaining >= n_existing
        if fair[0] < n_existing - 1e-9 and not has_all_singles:  # beyond rounding
            # Later sizes have more pairs still: all get their fair share.
            counts[first:] = _round_randomly(fair, rng)
            break
        remaining -= n_existing
    return counts


def _round_randomly(fair: NDArray[np.float64], rng: np.random.Generator) -> list[int]:
    """Random integers with the same sum and mean `fair`, each within one of it."""
    edges = np.concatenate([[0.0], np.cumsum(fair)])
    edges[-1] = np.rint(edges[-1])
    start = rng.random()
    return np.diff(np.ceil(edges - start)).astype(int).tolist()


def _random_pairs(
    n_players: int, size: int, n_existing: int, count: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Random pairs of a size, (count, n_players)."""
    if n_existing <= _MOST_LISTED * count:
        if 2 * size == n_players:
            subsets = combinations(range(1, n_players), size - 1)
            members = [(0, *others) for others in subsets]
        else:
            members = list(combinations(range(n_players), size))
        if count < n_existing:
            positions = np.sort(rng.choice(n_existing, count, replace=False))
            members = [members[position] for position in positions]
        coalitions = np.zeros((count, n_players), dtype=bool)
        np.put_along_axis(coalitions, np.array(members), True, axis=1)
        return coalitions
    distinct: dict[bytes, NDArray[np.bool_]] = {}
    while len(distinct) < count:
        for coalition in _random_subsets(n_players, size, count - len(distinct), rng):
            distinct.setdefault(coalition.tobytes(), coalition)
    return np.array(list(distinct.values()))


def _random_subsets(
    n_players: int, size: int, count: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Subsets of a size, drawn independently; the middle size with the first player."""
    keys = rng.random((count, n_players))
    if 2 * size == n_players:
        keys[:, 0] = -1.0
    members = np.argpartition(keys, size - 1, axis=1)[:, :size]
    coalitions = np.zeros((count, n_players), dtype=bool)
    np.put_along_axis(coalitions, members, True, axis=1)
    return coalitions
