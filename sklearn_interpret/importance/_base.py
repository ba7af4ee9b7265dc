"""What the importance estimators share: players, spreads, and selection by rank."""

from abc import abstractmethod
from numbers import Real

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model._sklearn_compat import Interval, parameters_of_rows
from sklearn_interpret._model.rows.features import resolve_groups, resolve_players
from sklearn_interpret._model.tags import unfrozen
from sklearn_interpret.base import BaseInspector


class BaseImportance(SelectorMixin, BaseInspector):
    """Base of the estimators that rank features, which select features too.

    A subclass measures the importance of each player, a feature or a feature group,
    once or several times (`_measure`).
    """

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "feature_groups": [dict, None],
        "threshold": [Interval(Real, None, None, closed="neither")],
    }

    def _inspect(self, sample, response, on_block):
        rows = sample.rows
        groups = resolve_groups(self.feature_groups, rows.names, named=rows.named)
        self.features_, self.player_names_ = resolve_players(rows.names, groups)
        self._keep(self._measure(sample, response, on_block))

    @abstractmethod
    def _measure(self, sample, response, on_block):
        """Set the method's fitted attributes; return importances (n_players, r)."""

    def _keep(self, importances):
        """Set the attributes that all share from importances (n_players, r)."""
        self.importances_ = importances
        self.importances_mean_ = importances.mean(axis=1)
        self.importances_std_ = importances.std(axis=1)
        self.feature_importances_ = self._by_feature(self.importances_mean_)

    def _by_feature(self, of_players):
        """Values of players as (n_features,): members of a group all have its value."""
        values = np.zeros(self.n_features_in_, dtype=of_players.dtype)
        for columns, value in zip(self.features_, of_players, strict=True):
            values[list(columns)] = value
        return values

    def _targets(self, sample):
        """Targets of the sample, without which a model can't be scored."""
        if sample.y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y "
                "is None: importance is an effect on a score, also of a "
                "FrozenEstimator."
            )
        return sample.y

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.feature_importances_ > self.threshold


class RefittingImportance(BaseImportance):
    """Base of importances for which the estimator is fitted again and again.

    A frozen model is inspected as it is; fitted again are clones of what is inside.
    """

    _refits = True

    def _fit_estimator(self, X, y, sample_weight, params, context):
        super()._fit_estimator(X, y, sample_weight, params, context)
        self._given = X, self._estimator_fit_params(sample_weight, params)

    def _inspect(self, sample, response, on_block):
        try:
            super()._inspect(sample, response, on_block)
        finally:
            del self._given  # of no use once it is fitted

    def _targets(self, sample):
        if sample.y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y "
                "is None: clones of the model are fitted, also where it is a "
                "FrozenEstimator."
            )
        return sample.y

    def _unfitted(self):
        """A clone of the estimator to fit."""
        return clone(unfrozen(self.estimator))

    def _fit_parameters(self, index):
        """Parameters of the estimator's `fit` for rows at these positions."""
        X, params = self._given
        return parameters_of_rows(X, params, index)
