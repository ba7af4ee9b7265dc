"""Conditional means by regressions of the response on the present columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_interpret._core.games.latent_normals import groups_of_rows
from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._model.conditionals.scores import score_columns
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.predictors import weight_parameter
from sklearn_interpret._model.responses.response import plain_responses

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Most coalitions whose regressions are kept: as many as ten players have.
_MOST_FITS = 1024
# The default regressor: of boosted and averaged trees, splines and support vectors, it
# had the least or nearly the least error on tables of 1000 rows.
_BOOSTING = {
    "max_iter": 60,
    "max_leaf_nodes": 6,
    "max_bins": 64,
    "early_stopping": False,
    "random_state": 0,
}


class ConditionalRegressions:
    """Regressions of the response on the present columns, one for each coalition.

    Parameters
    ----------
    response : Response
        The model.
    sample : Sample
        Rows that the regressions are fitted to.
    regressor : regressor, default=None
        Cloned for each coalition and output; None is a boosting of trees.
    """

    n_batches = n_draws = 0

    def __init__(
        self, response: Response, sample: Sample, regressor: Any = None
    ) -> None:
        self._rows, self._regressor = sample.rows, regressor
        self._columns = None
        if regressor is None:
            self._columns = score_columns(sample.rows, sample.weights)
            self._regressor = HistGradientBoostingRegressor(**_BOOSTING)
        self._targets = plain_responses(response, sample.rows)
        self._weights = sample.weights
        self._ends = self._targets.min(axis=0), self._targets.max(axis=0)
        self._fits: dict[bytes, list[Any]] = {}

    def base_means(self, row: Rows) -> NDArray[np.float64]:
        """Mean response (k,) to all rows of fit."""
        return shares_of(self._weights) @ self._targets

    def locate(self, rows: Rows) -> Rows:
        """The rows."""
        return rows

    def means(
        self,
        rows: Rows,
        located: Rows,
        index: NDArray[np.intp],
        present: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Predicted means (m, k) of rows at `index` with columns `present`."""
        means = np.empty((len(index), self._targets.shape[1]))
        for group in with_progress(list(groups_of_rows(present))):
            columns = np.flatnonzero(present[group[0]])
            X = self._table(rows.take(index[group]), columns)
            for output, model in enumerate(self._models(columns)):
                means[group, output] = model.predict(X)
        # A mean of responses is between the least and the largest of them.
        return np.clip(means, *self._ends)

    def _table(self, rows: Rows, columns: NDArray[np.intp]) -> Any:
        """Columns of rows as the regressor takes them."""
        if self._columns is None:
            return rows.keep_columns(columns).native
        return np.stack([self._columns[j].coordinates(rows) for j in columns], axis=1)

    def _models(self, columns: NDArray[np.intp]) -> list[Any]:
        """Fitted regressors of the outputs; those of the last coalitions are kept."""
        key = columns.tobytes()
        models = self._fits.pop(key, None)
        if models is None:
            X, weights = self._table(self._rows, columns), {}
            parameter = weight_parameter(self._regressor)
            if parameter is not None:
                weights[parameter] = self._weights
            models = [
                clone(self._regressor).fit(X, targets, **weights)
                for targets in self._targets.T
            ]
            if len(self._fits) >= _MOST_FITS:
                del self._fits[next(iter(self._fits))]
        self._fits[key] = models
        return models
