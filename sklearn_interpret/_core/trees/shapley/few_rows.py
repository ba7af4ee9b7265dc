"""Shapley and interaction values of few rows: all leaves at once, without tables.

The same numbers are added in the same order as where tables are looked up, so that a
row alone gets what it gets among thousands, to the last bit.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from sklearn_interpret._core.trees.shapley.patterns import all_met
from sklearn_interpret._core.trees.shapley.tables import term_place, terms

# Leaves that are valued together: what they need stays in the cache.
_LEAVES_AT_ONCE = 2048
# Numbers that are kept until they are added up: 64 megabytes.
_NUMBERS_AT_ONCE = 2**23


@dataclass(frozen=True, eq=False)
class LeafBlock:
    """Leaves with equally many conditions, and where their terms are added.

    Parameters
    ----------
    leaves : ndarray of shape (n_leaves,), intp
        Nodes.
    conditions : ndarray of shape (d, n_leaves), int32
        Their conditions.
    given : list of (ndarray or slice, ndarray, list)
        For each output that they add to, which leaves do, with what value, and where
        the entries of each term start.
    """

    leaves: np.ndarray
    conditions: np.ndarray
    given: list


@dataclass(frozen=True, eq=False)
class DirectPlan:
    """What every leaf of a plan adds to.

    What a leaf adds to an output for one term is an *entry*. The entries of an output
    are ordered by terms, then by the number of the leaves' conditions, then by leaves.
    They are added to the *sums* of their unit, one for each output and each of the
    unit's players or pairs of players; and these are added to the totals.

    Parameters
    ----------
    blocks : list of LeafBlock
        All leaves.
    target : ndarray of shape (n_entries,), intp
        The sum that each entry is added to, output after output.
    keys : ndarray of shape (n_sums,), intp
        The total that each sum of an output is added to: by share of the trees and by
        players. What is always zero goes to one more total.
    """

    blocks: list
    target: np.ndarray
    keys: np.ndarray

    @classmethod
    def of_plan(cls, plan, order):
        """Entries of all leaves of a plan.

        Parameters
        ----------
        plan : TreePlan
            The trees.
        order : {1, 2}
            1 for Shapley values, 2 for interaction values.

        Returns
        -------
        DirectPlan
        """
        nodes = np.flatnonzero(plan.ensemble.is_leaf)
        d = plan.paths.n_conditions[nodes]
        groups = [nodes[d == size] for size in np.unique(d) if size >= order]
        starts, n_entries = _starts(plan, groups, order)
        first, of_share, n_sums = _sums(plan, order)
        target = np.empty(n_entries, dtype=np.intp)
        keys = np.full(n_sums, plan.n_shares * plan.paths.n_players**order)
        blocks = []
        for group, starts_of_group in zip(groups, starts, strict=True):
            for begin in range(0, len(group), _LEAVES_AT_ONCE):
                leaves = group[begin : begin + _LEAVES_AT_ONCE]
                conditions = plan.paths.of_nodes(leaves)
                unit = plan.cut.unit[leaves]
                sums = first[unit] + _columns(plan, conditions, unit, order)
                keys[sums] = of_share[unit] + _players(plan, conditions, order)
                given = []
                for output, value in enumerate(plan.ensemble.value[leaves].T):
                    at = np.flatnonzero(value)
                    begins = starts_of_group[output]
                    for start, place in zip(begins, sums, strict=True):
                        here = slice(start, start + len(at))
                        target[here] = place[at] + output * n_sums
                    if len(at):
                        which = at if len(at) < len(value) else slice(None)
                        given.append((which, value[at], begins.tolist()))
                    begins += len(at)
                blocks.append(LeafBlock(leaves, conditions, given))
        return cls(blocks, target, keys)


def _starts(plan, groups, order):
    """Where entries start: by group of leaves, (k, n_terms); and how many there are."""
    value, n_conditions = plan.ensemble.value, plan.paths.n_conditions
    d = np.array([n_conditions[group[0]] for group in groups], dtype=np.intp)
    counts = [np.count_nonzero(value[group], axis=0) for group in groups]
    counts = np.array(counts, dtype=np.intp).reshape(-1, value.shape[1])
    every = np.array(terms(d.max(initial=0), order), dtype=np.intp).reshape(-1, order)
    has = every[:, -1:] < d
    numbers = counts.T[:, None, :] * has
    starts = np.cumsum(numbers).reshape(numbers.shape) - numbers
    starts = [starts[:, has[:, number], number] for number in range(len(groups))]
    return starts, numbers.sum()


def _sums(plan, order):
    """Where the sums of each unit start, the totals of its share, number of sums.

    Units stand in the order in which their tables are looked up: part by part, within
    a part by their kind, single deep leaves last.
    """
    cut = plan.cut
    kind = cut.kind
    rank = plan.part_of_unit * 2 + cut.is_deep
    rank = rank * (kind.max(initial=0) + 1) + kind
    # Short integers are sorted fast.
    rank = rank.astype(np.min_scalar_type(rank.max(initial=0)))
    places = np.argsort(rank, kind="stable")
    n_bits = cut.n_bits
    sizes = [comb(n, order) for n in range(n_bits.max(initial=0) + 1)]
    sizes = np.array(sizes)[n_bits[places]]
    first = np.empty(len(places), dtype=np.intp)
    first[places] = np.cumsum(sizes) - sizes
    share = plan.share_of_part[plan.part_of_unit]
    return first, share * plan.paths.n_players**order, sizes.sum()


def _columns(plan, conditions, unit, order):
    """Which of its unit's columns each term of leaves belongs to: (n_terms, m)."""
    columns, n_bits = plan.cut.column[conditions], plan.cut.n_bits[unit]
    return term_place(_by_term(columns, order), n_bits)


def _players(plan, conditions, order):
    """Player, or pair of players as one number, of each term: (n_terms, m)."""
    players = plan.paths.player[conditions]
    return np.ravel_multi_index(
        _by_term(players, order), (plan.paths.n_players,) * order
    )


def _by_term(of_conditions, order):
    """Numbers of the members of each term, the smallest first: (n_terms, m) each."""
    if order == 1:
        return (of_conditions,)
    i, j = np.array(terms(len(of_conditions), order)).T
    pair = of_conditions[i], of_conditions[j]
    return np.minimum(*pair), np.maximum(*pair)


def direct_values(plan, direct, game, codes, order):
    """Values of few rows.

    Parameters
    ----------
    plan : TreePlan
        The trees.
    direct : DirectPlan
        Its entries.
    game : CoverGame or BackgroundGame
        What stands in for absent players.
    codes : ndarray of shape (n_rows, n_features)
        The rows' codes.
    order : {1, 2}
        1 for Shapley values, 2 for interaction values.

    Returns
    -------
    ndarray of shape (n_keys, n_rows)
        As `shapley_values` has them.
    """
    n_outputs, n_sums = plan.ensemble.n_outputs, len(direct.keys)
    shape = plan.n_shares, plan.paths.n_players**order
    n_totals = shape[0] * shape[1]
    totals = np.zeros((n_outputs, shape[1], len(codes)))
    step = max(1, _NUMBERS_AT_ONCE // max(1, len(direct.target)))
    for start in range(0, len(codes), step):
        entries = _entries(plan, direct, game, codes[start : start + step], order)
        for row, of_row in enumerate(entries, start):
            sums = np.bincount(direct.target, of_row, n_outputs * n_sums)
            for into, added in zip(totals, sums.reshape(n_outputs, -1), strict=True):
                by_share = np.bincount(direct.keys, added, n_totals + 1)[:n_totals]
                for share in by_share.reshape(shape):
                    into[:, row] += share
    return totals.reshape(-1, len(codes))


def _entries(plan, direct, game, codes, order):
    """What every leaf gives to rows: (n_rows, n_entries)."""
    met = all_met(plan.ensemble, plan.paths, codes)
    entries = np.empty((len(codes), len(direct.target)))
    for block in direct.blocks:
        held = met[block.conditions]
        gains = game.gains(block.leaves, block.conditions, held, order)
        for which, value, starts in block.given:
            for start, gain in zip(starts, gains, strict=True):
                into = entries[:, start : start + len(value)].T
                np.multiply(gain[which], value[:, None], out=into)
    return entries
