"""Moments of sums of trees where columns are drawn independently, without rows.

Where each column of a sample is drawn by itself, from values with given chances, the
mean of the response, and its covariance with a number that depends on one column only,
follow from the trees themselves: see `moments`.
"""

import numpy as np

from sklearn_interpret._core.trees.effects.tree_effects import MovedFeatures
from sklearn_interpret._core.trees.moments import TreeProducts
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret.exceptions import UnreadableModelError

# Largest number of splits times values of a column that is split by sets of values.
_MOST_IN_SETS = 2**24


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

    def __init__(self, response, levels, sizes):
        trees = tree_response(response, additive=True)
        codes, spots = trees.codes(levels).held_with_spots()
        codes = codes[:]
        _check_mixed(trees, levels, sizes, codes, spots)
        parts = []
        for column, size in enumerate(sizes):
            features = np.flatnonzero(trees.model.columns == column)
            parts.append(MovedFeatures(features, codes[:size, features], (size,)))
            _refuse_large(trees.ensemble, parts[-1], levels.names[column])
        value, base = trees.ensemble.value, trees.ensemble.base
        self._products = TreeProducts(trees.ensemble, value, base, parts)
        self.block_rows = self._products.block_size

    def moments(self, shares, statistics):
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


def _check_mixed(trees, levels, sizes, codes, spots):
    """Compare with the model at rows whose values come from different rows of levels.

    They are rows that might be drawn, and show that a column's codes depend on no other
    column.
    """
    donors = {
        column: np.minimum(np.roll(spots, column), size - 1)
        for column, size in enumerate(sizes)
    }
    mixed = [
        codes[donors[column], feature]
        for feature, column in enumerate(trees.model.columns)
    ]
    trees.check_codes(levels.mixed(spots, donors), np.column_stack(mixed))


def _refuse_large(ensemble, part, name):
    """Refuse splits on sets of too many values."""
    if len(part.features) == 1 and not ensemble.split_codes.categorical[part.features]:
        return
    n_splits = np.isin(ensemble.feature, part.features).sum()
    if n_splits * part.n_points > _MOST_IN_SETS:
        raise UnreadableModelError(
            f"The {n_splits} splits of the trees on {name!r} are on sets of its "
            f"{part.n_points} values: too many to work with."
        )
