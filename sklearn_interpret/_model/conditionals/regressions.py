"""Conditional means by regressions of the response on the present columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_interpret._core.games.latent_normals import groups_of_rows
from sklearn_interpret._model.conditionals.draws import ConditionalMeans
from sklearn_interpret._model.conditionals.scores import score_columns
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.predictors import weight_parameter

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

_Floats = NDArray[np.float64]
_Index = NDArray[np.intp]
_Mask = NDArray[np.bool_]

# Most coalitions whose regressions are kept: as many as ten players have.
_MOST_FITS = 1024
# The default regressor: of boosted and averaged trees, splines and support vectors, it
# had the least or nearly the least error on tables of 1000 rows.
_BOOSTING = HistGradientBoostingRegressor(
    max_iter=60, max_leaf_nodes=6, max_bins=64, early_stopping=False, random_state=0
)


class ConditionalRegressions(ConditionalMeans):
    """Regressions of the response on the present columns, one for each coalition.

    `dependence` is the regressor, which is cloned; "regression" takes a boosting of
    trees of the columns' scores.
    """

    def _fit(self, rng: np.random.Generator) -> None:
        self.n_draws = 0
        is_default = self._dependence == "regression"
        self._columns = score_columns(self._rows, self._shares) if is_default else None
        self._regressor = _BOOSTING if is_default else self._dependence
        self._models: dict[bytes, list[Any]] = {}

    def means(self, located: Rows, index: _Index, present: _Mask) -> _Floats:
        """Predicted means (m, k)."""
        means = np.empty((len(index), self.targets.shape[1]))
        for group in with_progress(list(groups_of_rows(present))):
            columns = np.flatnonzero(present[group[0]])
            X = self._table(located.take(index[group]), columns)
            for output, model in enumerate(self._fitted(columns)):
                means[group, output] = model.predict(X)
        # A mean of responses is between the least and the largest of them.
        return np.clip(means, self.targets.min(axis=0), self.targets.max(axis=0))

    def _table(self, rows: Rows, columns: _Index) -> Any:
        """Columns of rows as the regressor takes them."""
        if self._columns is None:
            return rows.keep_columns(columns).native
        return np.stack([self._columns[j].coordinates(rows) for j in columns], axis=1)

    def _fitted(self, columns: _Index) -> list[Any]:
        """Fitted regressors of the outputs; those of the last coalitions are kept."""
        key = columns.tobytes()
        models = self._models.pop(key, None)
        if models is None:
            X = self._table(self._rows, columns)
            parameter = weight_parameter(self._regressor)
            weights = {} if parameter is None else {parameter: self._weights}
            models = [
                clone(self._regressor).fit(X, targets, **weights)
                for targets in self.targets.T
            ]
            if len(self._models) >= _MOST_FITS:
                del self._models[next(iter(self._models))]
        self._models[key] = models
        return models
