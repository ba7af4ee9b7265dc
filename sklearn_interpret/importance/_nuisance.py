"""The default regression of a target, or of a feature, on the other features."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_interpret._core.statistics.residual_pairs import interacting_pairs
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_categorical

# Splines of a feature: fewer than the default of additive models, which are slower.
_N_SPLINES = 10
# Pairs that get a surface, and the largest p-value of their interactions.
_MOST_PAIRS, _LEVEL = 5, 0.01


class AdditiveNuisance(RegressorMixin, BaseEstimator):
    """An additive model, with surfaces for pairs on which its residuals depend."""

    def fit(self, X, y, sample_weight=None):
        """Fit the model; add the pairs that its residuals show, and fit again."""
        from sklearn_interpret.additive import GAMRegressor  # slow to import

        rows = as_rows(X)
        weights = np.ones(rows.n_rows) if sample_weight is None else sample_weight
        kinds = {"handle_unknown": "zero", "missing": "level", "n_splines": _N_SPLINES}
        model = GAMRegressor(**kinds).fit(X, y, sample_weight=weights)
        numeric = ~resolve_categorical("auto", rows) & rows.are_numbers
        places = np.flatnonzero(numeric)
        columns = np.stack([rows.numbers(j) for j in places] or [[]], axis=1)
        known = ~np.isnan(columns).any(axis=0)
        pairs = interacting_pairs(
            columns[:, known],
            y - model.predict(X),
            weights,
            most=_MOST_PAIRS,
            level=_LEVEL,
        )
        if pairs:
            places = places[known]
            pairs = [(int(places[one]), int(places[other])) for one, other in pairs]
            terms = [*range(rows.n_columns), *pairs]
            model = GAMRegressor(terms=terms, **kinds)
            model.fit(X, y, sample_weight=weights)
        self.model_ = model
        return self

    def predict(self, X):
        """Predicted means of the rows."""
        return self.model_.predict(X)
