"""Moments of sums of trees where columns are drawn independently, without rows.

Where each column of a sample is drawn by itself, from values with given chances, the
mean of the response, and its covariance with a number that depends on one column only,
follow from the trees themselves: see `moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.effects.tree_effects import MovedFeatures
from sklearn_interpret._core.trees.moments import TreeProducts
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.moments import ProductMoments
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows

# Largest product of the numbers of splits and of values of a column that is split by
# sets of its values: the table of booleans then takes 16 MB.
_MOST_SET_ENTRIES = 2**24


class IndependentColumns:
    """A model whose columns are drawn independently, in codes of its trees.

    Several features that the trees make of one column, as one-hot encoders do, move
    with it.

    Parameters
    ----------
    response : Response
        The model.
    levels : Rows
        Values that columns can take, in the container that the model knows: those of
        column j are in the first ``sizes[j]`` rows; those below are not used.
    sizes : sequence of int
        Number of values of each column, at least 1.

    Attributes
    ----------
    block_rows : int
        Number of distributions that :meth:`moments` evaluates together; more are
        as fast in several calls.

    Raises
    ------
    UnreadableModelError
        The response is not a sum of trees that can be read, or the splits on a column
        separate too many values.
    """

    def __init__(self, response: Response, levels: Rows, sizes: list[int]) -> None:
        trees = tree_response(response, additive=True)
        coded, checked_rows = trees.codes(levels).compute_with_spots()
        codes = coded[:]
        _check_mixed(trees, levels, sizes, codes, checked_rows)
        moved_features = []
        for column, size in enumerate(sizes):
            features = np.flatnonzero(trees.model.columns == column)
            moved = MovedFeatures(features, codes[:size, features], (size,))
            _refuse_large(trees.ensemble, moved, levels.names[column])
            moved_features.append(moved)
        value, base = trees.ensemble.value, trees.ensemble.base
        self._products = TreeProducts(trees.ensemble, value, base, moved_features)
        self.block_rows = self._products.block_size

    def moments(
        self, shares: list[NDArray[np.float64]], statistics: list[NDArray[np.float64]]
    ) -> ProductMoments:
        """Moments of the response, for m distributions of the columns.

        Parameters
        ----------
        shares : list of ndarray of shape (m, sizes[j])
            For each column the chances of its values; each row sums to 1.
        statistics : list of ndarray of shape (m, sizes[j]) or (sizes[j],)
            For each column a number for each of its values, for all rows or each.

        Returns
        -------
        ProductMoments
            ``mean`` (m, n_outputs) of the response, ``covariance`` (m, n_columns,
            n_outputs) of each column's statistic and the response, ``statistic`` and
            ``variance`` (m, n_columns): means and variances of the statistics.
        """
        return self._products.moments(shares, statistics)


def _check_mixed(
    trees: TreeResponse,
    levels: Rows,
    sizes: Sequence[int],
    codes: NDArray[Any],
    checked_rows: NDArray[np.intp],
) -> None:
    """Compare trees and model at rows whose values come from different rows of levels.

    This shows that a column's codes depend on no other column.
    """
    # A column's values are in its first rows: positions below are moved to the last.
    donors = {
        column: np.minimum(np.roll(checked_rows, column), size - 1)
        for column, size in enumerate(sizes)
    }
    mixed_codes = [
        codes[donors[column], feature]
        for feature, column in enumerate(trees.model.columns)
    ]
    mixed_rows = levels.mix(checked_rows, donors)
    trees.check_agreement(mixed_rows, np.column_stack(mixed_codes))


def _refuse_large(ensemble: TreeEnsemble, moved: MovedFeatures, name: str) -> None:
    """Refuse splits on sets of too many values; thresholds need no sets."""
    has_sets = ensemble.split_codes.categorical[moved.features].any()
    if len(moved.features) == 1 and not has_sets:
        return
    n_splits = np.isin(ensemble.feature, moved.features).sum()
    if n_splits * moved.n_points > _MOST_SET_ENTRIES:
        raise UnreadableModelError(
            f"The {n_splits} splits of the trees on {name!r} are on sets of its "
            f"{moved.n_points} values: too many to work with."
        )
