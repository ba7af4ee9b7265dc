"""Shapley values of rows by the trees of a response, with workers, within memory.

Rows come as codes (`TreeEnsemble`), and values as parts (`ValueParts`) that sum to
them: slices of the rows, with a number for each row and key. A key is an output with a
player (order 1), or with a pair of players (order 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.shapley.nested_games import (
    NestedInterventionalGame,
    NestedPathDependentGame,
)
from sklearn_interpret._core.trees.shapley.values import (
    MOST_AT_ONCE,
    Game,
    TreePlan,
    ValueParts,
    add_value_parts,
    value_parts_of_task,
    value_tasks,
)
from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
from sklearn_interpret._model.parallel import (
    LazyRows,
    bytes_in_memory,
    rows_in_memory,
    slices,
    stream,
    working_bytes,
)
from sklearn_interpret._model.rows.base import Rows

# Bytes of the background's tables that are cached even with no working memory.
_LEAST_CACHE_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class TreeValues:
    """Values of coded rows, as sums over the trees.

    Parameters
    ----------
    trees : TreeResponse
        The response, a sum of trees or a function of it.
    plan : TreePlan
        The trees, cut into units.
    game : PathDependentGame or InterventionalGame
        The game: how absent players are replaced.
    """

    trees: TreeResponse
    plan: TreePlan
    game: Game

    @classmethod
    def of_response(
        cls,
        trees: TreeResponse,
        players: NDArray[np.intp],
        n_players: int,
        codes: LazyRows | NDArray[np.integer] | None,
        shares: NDArray[np.float64] | None,
        hierarchy: Hierarchy | None = None,
    ) -> TreeValues:
        """Values of players, given the player of each column that the trees get.

        `codes` and `shares` are those of the background; None follows the cover of the
        trees. `hierarchy` has the groups inside which players are credited.
        """
        plan = TreePlan.of_ensemble(trees.ensemble, players, n_players=n_players)
        path_dependent: Callable[..., PathDependentGame] = PathDependentGame
        interventional: Callable[..., InterventionalGame] = InterventionalGame
        if hierarchy is not None:
            path_dependent = partial(NestedPathDependentGame, hierarchy=hierarchy)
            interventional = partial(NestedInterventionalGame, hierarchy=hierarchy)
        if codes is None or shares is None:
            return cls(trees, plan, path_dependent(trees.ensemble, plan.paths))
        cache_bytes = max(working_bytes() / 4, _LEAST_CACHE_BYTES)
        game = interventional(trees.ensemble, plan.paths, codes, shares, cache_bytes)
        return cls(trees, plan, game)

    def coded_blocks(
        self, rows: Rows, order: int, n_jobs: int | None
    ) -> Iterator[tuple[slice, NDArray[np.integer]]]:
        """Yield blocks of rows that fit the working memory, as slices, and codes."""
        coded, n_keys = self.trees.codes(rows), self.plan.n_keys(order)
        row_bytes = coded.row_bytes
        if not self.trees.additive:  # totals, values and their product, as doubles
            row_bytes += 3 * 8 * n_keys
        if effective_n_jobs(n_jobs) > 1:
            # A result of doubles for each share of trees, at the worker and here.
            n_tree_shares = len(self.plan.trees_of_shares) - 1
            row_bytes += 2 * 8 * n_keys * n_tree_shares
        for block in slices(rows.n_rows, rows_in_memory(row_bytes)):
            yield block, coded[block]

    def value_parts(
        self, codes: NDArray[np.integer], order: int, n_jobs: int | None, **options: Any
    ) -> ValueParts:
        """Parts that sum to the rows' values, of order 1, or of pairs, of order 2.

        Workers start immediately. `options` are those of `value_tasks`.
        """
        game = self.game
        if self.trees.additive or isinstance(game, PathDependentGame):
            return self._parts_of_sum(codes, order, n_jobs, **options)
        return self._rescaled_parts(game, codes, order, n_jobs)

    def _parts_of_sum(
        self, codes: NDArray[np.integer], order: int, n_jobs: int | None, **options: Any
    ) -> ValueParts:
        """Parts of the values in the game of the sum of the trees."""
        total_bytes = 8 * self.plan.n_keys(order)  # a double for each key
        rows_at_once = min(rows_in_memory(total_bytes), MOST_AT_ONCE)
        most_kept = order * bytes_in_memory()  # pairs have about twice the tables
        options |= {"rows_at_once": rows_at_once, "most_kept": most_kept}
        tasks = value_tasks(self.plan, self.game, codes, order, **options)
        n_parts = len(tasks) * -(-len(codes) // rows_at_once)
        return stream(value_parts_of_task, tasks, n_parts, n_jobs=n_jobs)

    def _rescaled_parts(
        self,
        game: InterventionalGame,
        codes: NDArray[np.integer],
        order: int,
        n_jobs: int | None,
    ) -> ValueParts:
        """Parts of rescaled values, of a function of the sum of the trees (margin).

        Against one background row, values of the margin are multiplied by the slope of
        the function between the two margins. Few rows are compared with all background
        rows at once; for many, tables are made against each background row in turn.
        """
        ensemble = self.trees.ensemble
        margins = ensemble.raw_of_codes(codes)
        if game.direct_is_cheaper(len(codes) // len(game.shares), order):
            background_margins = ensemble.raw_of_codes(game.codes)
            # `_slopes` holds about eight arrays of doubles at once.
            row_bytes = 8 * 8 * len(background_margins)
            for block in slices(len(codes), rows_in_memory(row_bytes)):
                slopes = _slopes(self.trees, margins[block], background_margins.T)
                weights = game.shares * slopes
                yield block, game.direct_values(self.plan, codes[block], order, weights)
            return
        distinct, shares = game.distinct_rows()
        distinct_margins = ensemble.raw_of_codes(distinct)
        totals = np.zeros((self.plan.n_keys(order), len(codes)))
        for share, row, margin in zip(shares, distinct, distinct_margins, strict=True):
            values = np.zeros_like(totals)
            against_row = replace(self, game=game.against_row(row))
            parts = against_row._parts_of_sum(codes, order, n_jobs)
            add_value_parts(values, parts)
            slopes = _slopes(self.trees, margins, margin[None])[:, 0]
            totals += values * (share * slopes)
        yield slice(None), totals


def _slopes(
    trees: TreeResponse, margins: NDArray[np.float64], background: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Slopes of the response between margins (n, 1) and background (1, m): (n, m)."""
    differences = margins - background
    response_differences = trees.link_sums(margins) - trees.link_sums(background.T).T
    # For close margins the derivative: the quotient would lose all digits.
    is_close = np.abs(differences) <= 1e-6 * (1 + np.abs(background))
    derivatives = trees.slope((margins + background)[..., None] / 2)[..., 0]
    quotients = response_differences / np.where(is_close, 1.0, differences)
    return np.where(is_close, derivatives, quotients)
