"""Groups of players that nest, and coalitions and orders that keep groups together.

The value of a player inside its groups is its mean gain over the orders in which the
members of every group join one after the other: Owen's value for one level of groups
(1977), Winter's for several (1989). When a player joins, each sibling group of its own
groups is complete or absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_interpret._core.games.coalitions import (
    coalition_shares,
    distinct_coalitions,
    subsets,
)


class CoalitionSums(NamedTuple):
    """Values of players as sums over coalitions."""

    # (m, n_players): the first is empty, the last has all players.
    coalitions: NDArray[np.bool_]
    coefficients: sparse.csr_array  # (n_players, m)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Groups of players on several levels, each level inside the groups above it.

    Parameters
    ----------
    levels : ndarray of shape (n_levels, n_players), intp
        Number of each player's group, outermost groups first; on the last level each
        player has a number of its own.
    is_ordered : bool, default=False
        Whether the outermost groups join in the order of their numbers.
    """

    levels: NDArray[np.intp]
    is_ordered: bool = False

    @classmethod
    def flat(cls, n_players: int) -> Hierarchy:
        """Players without groups."""
        return cls(np.arange(n_players)[None])

    @classmethod
    def of_paths(
        cls, paths: Sequence[tuple[int, ...]], is_ordered: bool = False
    ) -> Hierarchy:
        """The hierarchy of players, given numbers of their groups, outermost first."""
        players, levels = range(len(paths)), []
        for depth in range(1, max(map(len, paths), default=0) + 1):
            keys = [
                path[:depth] if len(path) >= depth else (*path, -1, player)
                for player, path in enumerate(paths)
            ]
            number = {key: position for position, key in enumerate(sorted(set(keys)))}
            levels.append([number[key] for key in keys])
        return cls(np.array([*levels, players], dtype=np.intp), is_ordered)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.levels.shape[1]

    def restricted(self, players: NDArray[np.intp]) -> Hierarchy:
        """The hierarchy of some of the players."""
        return Hierarchy(self.levels[:, players], self.is_ordered)

    @cached_property
    def _free_levels(self) -> list[NDArray[np.intp]]:
        """Levels whose groups join in any order, (2, n_players) each.

        First the number of the group around each player's group, then that of its own.
        """
        above = np.vstack([np.zeros_like(self.levels[:1]), self.levels[:-1]])
        return list(np.stack([above, self.levels], axis=1))[self.is_ordered :]

    def sibling_groups(self, player: int) -> Iterator[NDArray[np.bool_]]:
        """Yield the siblings of the player's group on each level but an ordered one.

        Each is a mask of its members, (n_siblings, n_players), by number of the group.
        """
        for above, level in self._free_levels:
            is_sibling = (above == above[player]) & (level != level[player])
            yield level == np.unique(level[is_sibling])[:, None]

    def before_and_after(
        self, player: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks (n_players,) of the outermost groups before and after a player's."""
        numbers = self.levels[0]
        return numbers < numbers[player], numbers > numbers[player]

    def _coalitions_before(
        self, player: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Coalitions (m, n_players) that a player may join, and their probabilities."""
        coalitions, shares = np.zeros((1, self.n_players), dtype=bool), np.ones(1)
        if self.is_ordered:
            coalitions[0] = self.before_and_after(player)[0]
        for groups in self.sibling_groups(player):
            # Logical products: a player is a member of one group of the level.
            unions = subsets(len(groups)) @ groups
            coalitions = (coalitions[:, None] | unions).reshape(-1, self.n_players)
            shares = np.outer(shares, coalition_shares(len(groups))).ravel()
        return coalitions, shares

    @cached_property
    def n_coalitions(self) -> int:
        """Number of coalitions before each player, summed over the players."""
        siblings = map(self.sibling_groups, range(self.n_players))
        return sum(2 ** sum(map(len, groups)) for groups in siblings)

    def coalition_sums(self) -> CoalitionSums:
        """Exact values of players, from all coalitions that keep groups together."""
        joined, signed_shares, players = [], [], []
        for player in range(self.n_players):
            before, shares = self._coalitions_before(player)
            after = before.copy()
            after[:, player] = True
            joined += [before, after]
            signed_shares += [-shares, shares]
            players.append(np.full(2 * len(shares), player))
        coalitions = np.concatenate(joined)
        first, number = distinct_coalitions(coalitions)
        entries = np.concatenate(players), number
        shape = self.n_players, len(first)
        coefficients = sparse.csr_array((np.concatenate(signed_shares), entries), shape)
        return CoalitionSums(coalitions[first], coefficients)

    @cached_property
    def n_orders(self) -> int:
        """Number of orders that keep groups together."""
        total = 1
        for above_and_level in self._free_levels:
            above, _ = np.unique(above_and_level, axis=1)
            total *= prod(map(factorial, np.bincount(above).tolist()))
        return total

    def all_orders(self) -> NDArray[np.intp]:
        """All orders that keep groups together, (n_orders, n_players)."""

        def orders_of(players: NDArray[np.intp], depth: int) -> list[list[int]]:
            if depth == len(self.levels):
                return [players.tolist()]
            level = self.levels[depth, players]
            members = [
                orders_of(players[level == group], depth + 1)
                for group in np.unique(level)
            ]
            is_fixed = depth == 0 and self.is_ordered
            arrangements = [members] if is_fixed else permutations(members)
            return [
                [player for order in orders for player in order]
                for arrangement in arrangements
                for orders in product(*arrangement)
            ]

        return np.array(orders_of(np.arange(self.n_players), 0), dtype=np.intp)

    def draw_orders(self, n_orders: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Random orders that keep groups together, (n_orders, n_players)."""
        keys = []
        for depth, level in enumerate(self.levels):
            if depth == 0 and self.is_ordered:
                keys.append(np.broadcast_to(1.0 * level, (n_orders, self.n_players)))
            else:
                keys.append(rng.random((n_orders, level.max(initial=-1) + 1))[:, level])
        return np.lexsort(keys[::-1], axis=-1)

    def reverse_orders(self, orders: NDArray[np.intp]) -> NDArray[np.intp]:
        """Orders (n, n_players) from the last player to the first.

        Groups that join in a fixed order are reversed inside.
        """
        reverse = orders[:, ::-1]
        if not self.is_ordered:
            return reverse
        position = np.argsort(self.levels[0, reverse], axis=1, kind="stable")
        return np.take_along_axis(reverse, position, axis=1)
