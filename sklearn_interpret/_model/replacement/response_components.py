"""Components of the functional decomposition of a model, from a background.

Each class has the sets of players that have a component (`sets`), the mean response to
the background (`base_values`), and components and predictions of rows (`decompose`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_interpret._core.trees.components import TreeComponents
from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths
from sklearn_interpret._model.formulas.linear import ExplainedLinear, map_to_players
from sklearn_interpret._model.parallel import rows_in_memory, run, slices
from sklearn_interpret._model.progress import with_progress

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.replacement.response_games import CoalitionGame
    from sklearn_interpret._model.rows.base import Rows


class ComponentsOfTrees:
    """Components of a sum of trees.

    Parameters
    ----------
    trees : TreeResponse
        The sum.
    background : Rows
        Rows that the columns of absent players are taken from, all of one row.
    weights : ndarray of shape (n_background,)
        Weights of the rows; None lets absent players follow the cover of the trees.
    player : ndarray of shape (n_columns,), intp
        Player of each column that the trees get.
    n_players : int
        Number of players.
    max_order : int
        Largest number of players of a set.
    """

    asks_model = False

    def __init__(
        self,
        trees: TreeResponse,
        background: Rows,
        weights: NDArray[np.float64] | None,
        player: NDArray[np.intp],
        n_players: int,
        max_order: int,
    ) -> None:
        self._trees = trees
        self._follows_trees = trees.agrees(background)
        paths = TreePaths.of_ensemble(trees.ensemble, player, n_players=n_players)
        game: PathDependentGame | InterventionalGame = PathDependentGame(
            trees.ensemble, paths
        )
        if weights is not None:
            codes = trees.codes(background).array_if_small()
            game = InterventionalGame(trees.ensemble, paths, codes, weights)
        # Largest number of players on a path.
        self.largest_order = int(paths.n_conditions.max(initial=0))
        self.components = TreeComponents(
            game, min(max_order, max(self.largest_order, 1))
        )
        self.base_values = game.base_values()
        self.sets = self.components.sets

    @property
    def n_weights(self) -> float:
        """Number of weights of the components of all orders."""
        game = self.components.game
        return (3.0 ** game.paths.n_conditions[game.ensemble.is_leaf]).sum()

    def announce(self, n_rows: int, advice: str) -> None:
        """Nothing: the model gets the rows themselves at most."""

    def decompose(
        self, rows: Rows, *, n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Components (m, n_sets, k) of rows, and predictions (m, k)."""
        trees, coded = self._trees, self._trees.codes(rows)
        asks = not (self._follows_trees and trees.surely_accepts(rows))
        n_outputs = trees.ensemble.n_outputs
        values = np.empty((rows.n_rows, len(self.sets), n_outputs))
        predictions = np.empty((rows.n_rows, n_outputs))
        row_bytes = coded.row_bytes + values[:1].nbytes
        blocks = slices(rows.n_rows, rows_in_memory(row_bytes))
        for block in with_progress(list(blocks)):
            codes = coded[block]
            values[block] = self.components.values(codes).transpose(2, 1, 0)
            predictions[block] = trees.predict_codes(codes)
            if asks:
                returned = trees.predictions(rows.sliced(block).native)
                if returned.dtype == np.float64:  # else the sums are more precise
                    predictions[block] = returned
        return values, predictions


class ComponentsOfCoalitions:
    """Components from mean responses to coalitions of players.

    Parameters
    ----------
    game : CoalitionGame
        The game, whose outputs are the outputs of all terms, term after term.
    terms : list of tuple of int
        Players that each term of the model depends on; of a model that is not known to
        be a sum of terms all players.
    max_order : int
        Largest number of players of a set.
    """

    n_weights = 0  # only trees have them

    def __init__(
        self, game: CoalitionGame, terms: list[tuple[int, ...]], max_order: int
    ) -> None:
        # Several terms are read from the model, which is not asked then.
        self.asks_model = len(terms) == 1
        self._game, self._terms, self._max_order = game, terms, max_order
        self.largest_order = max(map(len, terms), default=0)
        self.base_values = self._by_term(game.base_values).sum(axis=-2)
        sets = {players for term in terms for players in _subsets(term, max_order)[1:]}
        self.sets = sorted(sets, key=lambda players: (len(players), players))
        # Known without a coalition: the values of no player, and of all of a term's.
        coalitions = {
            players
            for term in terms
            for players in _subsets(term, max_order)[1:]
            if players != term
        }
        self._coalitions = sorted(coalitions)
        self._matrices = [self._moebius_matrix(term) for term in terms]

    def announce(self, n_rows: int, advice: str) -> None:
        """Announce that coalitions of rows go to the model, unless terms were read."""
        if self.asks_model:
            self._game.announce(n_rows, len(self._coalitions), advice)

    def _by_term(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (..., n_terms * k) by term."""
        return values.reshape(*values.shape[:-1], len(self._terms), -1)

    def _moebius_matrix(self, term: tuple[int, ...]) -> sparse.csr_array:
        """Map from the values of nobody, coalitions and everybody to components."""
        column_of = {players: i for i, players in enumerate(self._coalitions, 1)}
        column_of |= {(): 0, term: len(self._coalitions) + 1}
        row_of = {players: i for i, players in enumerate(self.sets)}
        signs, rows, columns = [], [], []
        for players in _subsets(term, self._max_order)[1:]:
            for subset in _subsets(players, len(players)):
                signs.append((-1.0) ** (len(players) - len(subset)))
                rows.append(row_of[players])
                columns.append(column_of[subset])
        shape = len(self.sets), len(self._coalitions) + 2
        return sparse.csr_array((signs, (rows, columns)), shape=shape)

    def decompose(
        self, rows: Rows, *, n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Components (m, n_sets, k) of rows, and predictions (m, k)."""
        # Coalitions, nobody and everybody; twice, for the copy in another shape.
        values_bytes = (len(self._coalitions) + 2) * self._game.base_values.nbytes
        components_bytes = len(self.sets) * self.base_values.nbytes
        n_rows = rows_in_memory(2 * (values_bytes + components_bytes))
        tasks = [(rows.sliced(block),) for block in slices(rows.n_rows, n_rows)]
        results = run(self._of_block, tasks, n_jobs=n_jobs)
        values, predictions = zip(*results, strict=True)
        return np.concatenate(values), np.concatenate(predictions)

    def _of_block(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Components and predictions of a few rows."""
        row_games, n_rows = self._game.games_of_rows(rows), rows.n_rows
        coalitions = np.zeros(
            (len(self._coalitions), len(self._game.players)), dtype=bool
        )
        for coalition, players in zip(coalitions, self._coalitions, strict=True):
            coalition[list(players)] = True
        index = np.repeat(np.arange(n_rows), len(coalitions))
        values = row_games.coalition_values(index, np.tile(coalitions, (n_rows, 1)))
        values = values.reshape(n_rows, len(coalitions), len(self._game.base_values))
        everybody = row_games.predictions[:, None]
        nobody = np.broadcast_to(self._game.base_values, everybody.shape)
        by_term = self._by_term(np.concatenate([nobody, values, everybody], axis=1))
        components = np.zeros((n_rows, len(self.sets), by_term.shape[-1]))
        for term, matrix in enumerate(self._matrices):
            for output in range(by_term.shape[-1]):
                components[:, :, output] += by_term[:, :, term, output] @ matrix.T
        return components, self._by_term(row_games.predictions).sum(axis=-2)


@dataclass(frozen=True)
class LinearTerms:
    """A linear function, as its intercept and one term for each player.

    Parameters
    ----------
    linear : ExplainedLinear
        The function.
    player : ndarray of shape (n_columns,), intp
        Player of each column that it gets.
    n_players : int
        Number of players.
    """

    linear: ExplainedLinear
    player: NDArray[np.intp]
    n_players: int

    @property
    def players(self) -> list[tuple[int, ...]]:
        """Players that each term depends on."""
        return [(), *((player,) for player in range(self.n_players))]

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Values of the terms, (n_rows, n_terms * k)."""
        model = self.linear.model
        derived, coefficients = model.derived_columns(X), model.coefficients
        terms = np.empty((derived.shape[0], 1 + self.n_players, coefficients.shape[1]))
        terms[:, 0] = model.intercept
        for output, column in enumerate(coefficients.T):
            products = derived @ map_to_players(column, self.player, self.n_players)
            is_sparse = sparse.issparse(products)
            terms[:, 1:, output] = products.toarray() if is_sparse else products
        return terms.reshape(len(terms), -1)


def _subsets(players: tuple[int, ...], largest: int) -> list[tuple[int, ...]]:
    """Subsets of at most `largest` players, the empty one first."""
    sizes = range(min(largest, len(players)) + 1)
    return [subset for size in sizes for subset in combinations(players, size)]
