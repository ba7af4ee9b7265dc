r"""Gains of products of conditions inside groups of players that nest (Owen, Winter).

A condition on the path is in the group of its player. On each level, the siblings of
that group must have joined before if the explained row alone meets their conditions,
and must be absent if the background row alone does; with both kinds of conditions in a
sibling, the leaf is never reached. So the gain is 1 or -1 times a factor for each
level: with u siblings of the first kind and v of the second, the share of orders is
:math:`u!\,v! / (u + v + 1)!`, or :math:`\int_0^1 t^u (1 - t)^v dt`.
Where chance meets absent conditions independently, a level's factor is
:math:`\int_0^1 \prod_H (t A_H + (1 - t) Z_H) dt` over the siblings H: A is whether the
row meets all conditions of H, and Z the chance to meet them all.

A *structure* is the hierarchy of the conditions of a leaf, by slot.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta

from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.trees.shapley.tables import pattern_bits, quadrature


def leaves_by_structure(
    hierarchy: Hierarchy, players: NDArray[np.intp]
) -> Iterator[tuple[Hierarchy, NDArray[np.intp]]]:
    """Yield structures, and positions of the leaves that have each.

    `players` (d, n_leaves) are those of the conditions of leaves, by slot. Groups are
    numbered by their first slot; where they join in order, by the number of slots that
    join before.
    """
    d, n_leaves = players.shape
    groups = hierarchy.levels[:, players]
    numbers = (groups[:, :, None] == groups[:, None]).argmax(axis=2)
    if hierarchy.is_ordered:
        numbers[0] = (groups[0, :, None] > groups[0, None]).sum(axis=1)
    levels, position = np.unique(
        numbers.reshape(-1, n_leaves), axis=1, return_inverse=True
    )
    # Levels that split no group are left out: fewer structures differ.
    structures: dict[bytes, tuple[Hierarchy, list[int]]] = {}
    for column, flat_levels in enumerate(levels.T):
        nested = flat_levels.reshape(-1, d)
        nested = nested[np.append(True, (nested[1:] != nested[:-1]).any(axis=1))]
        structure = Hierarchy(nested, hierarchy.is_ordered)
        structures.setdefault(nested.tobytes(), (structure, []))[1].append(column)
    for structure, columns in structures.values():
        yield structure, np.flatnonzero(np.isin(position.ravel(), columns))


def nested_comparison_gains(
    structure: Hierarchy, gained: NDArray[np.bool_], lost: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Gains (d, n) of explained rows against background rows, pair by pair.

    `gained` (d, n) are the conditions that only the explained row meets, `lost` those
    that only the background row meets; both rows meet the others.
    """
    gains = gained.astype(np.float64) - lost
    for slot, slot_gains in enumerate(gains):
        if structure.is_ordered:
            is_before, is_after = structure.before_and_after(slot)
            contradicts = lost[is_before].any(axis=0) | gained[is_after].any(axis=0)
            slot_gains *= ~contradicts
        for groups in structure.sibling_groups(slot):
            if len(groups):
                has_gained, has_lost = groups @ gained, groups @ lost
                n_gained, n_lost = has_gained.sum(axis=0), has_lost.sum(axis=0)
                shapes = np.arange(1.0, len(groups) + 2)
                slot_gains *= beta(shapes[:, None], shapes)[n_gained, n_lost]
                slot_gains *= ~(has_gained & has_lost).any(axis=0)
    return gains


def nested_comparison_tables(
    structure: Hierarchy, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Gains at every pattern, in the mean over background rows.

    Takes the share of background rows with each pattern, (n_leaves, 2**d), and returns
    (n_leaves, d, 2**d).
    """
    n_patterns, d = shares.shape[1], structure.n_players
    patterns = np.arange(n_patterns)
    is_comparable = (patterns[:, None] | patterns) == n_patterns - 1
    background_row, row = np.nonzero(is_comparable)
    gained, lost = ~pattern_bits(background_row, d), ~pattern_bits(row, d)
    matrix = np.zeros((n_patterns, d, n_patterns))
    matrix[background_row, :, row] = nested_comparison_gains(structure, gained, lost).T
    return (shares @ matrix.reshape(n_patterns, -1)).reshape(-1, d, n_patterns)


def mean_comparison_gains(
    structure: Hierarchy,
    lost: NDArray[np.bool_],
    gained: NDArray[np.bool_],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Gains (d, n) of some rows, in the mean over background rows.

    `lost` (d, n) are the conditions that the rows fail, `gained` (d, m) those that
    background rows fail, whose shares are (m,).
    """
    n_clashes = lost.T.astype(np.float64) @ gained
    row, background_row = np.nonzero(n_clashes == 0)
    gains = nested_comparison_gains(structure, gained[:, background_row], lost[:, row])
    gains *= shares[background_row]
    n_rows = lost.shape[1]
    return np.stack([np.bincount(row, slot_gains, n_rows) for slot_gains in gains])


def product_gains(
    structure: Hierarchy, chances: NDArray[np.float64], met: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Gains (d, n) where chance meets absent conditions independently.

    Takes the chance to meet each absent condition, and which the rows meet: (d, n).
    """
    gains = met - chances
    for slot, slot_gains in enumerate(gains):
        if structure.is_ordered:
            is_before, is_after = structure.before_and_after(slot)
            slot_gains *= met[is_before].all(axis=0)
            slot_gains *= chances[is_after].prod(axis=0)
        for groups in structure.sibling_groups(slot):
            if len(groups):
                present = np.stack([met[group].all(axis=0) for group in groups])
                absent = np.stack([chances[group].prod(axis=0) for group in groups])
                points, weights = quadrature(len(groups))
                t = points[:, None, None]
                products = (t * present + (1 - t) * absent).prod(axis=1)
                slot_gains *= weights @ products
    return gains
