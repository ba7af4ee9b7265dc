"""Base of inspectors that fit clones of the model on parts of the rows."""

from sklearn.base import clone

from sklearn_interpret._model._sklearn_compat import parameters_of_rows
from sklearn_interpret._model.response import unfrozen


class RefittingMixin:
    """Adds clones of the model, and parameters of their `fit` on parts of the rows."""

    _refits = True

    def _fit_estimator(self, X, y, sample_weight, params, context):
        super()._fit_estimator(X, y, sample_weight, params, context)
        self._given = X, self._estimator_fit_params(sample_weight, params)

    def _unfitted(self):
        """A clone of the estimator to fit."""
        return clone(unfrozen(self._get_estimator()))

    def _fit_parameters(self, index):
        """Parameters of the estimator's `fit` for rows at these positions."""
        X, params = self._given
        return parameters_of_rows(X, params, index)
