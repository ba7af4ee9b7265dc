"""Base of sparse linear models: the lasso path, stopped at a number of features."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.base import is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.lasso_path import lasso_path
from sklearn_interpret._inspectors.predictor import BasePredictor
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.validation import check_scales
from sklearn_interpret.exceptions import SkippedSizeWarning


@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinearModel(SelectorMixin, BasePredictor):
    """Base of sparse linear models.

    A subclass says what is fitted (`_targets`).
    """

    n_features_to_select: int | None = None

    _parameter_constraints = {
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None]
    }

    @abstractmethod
    def _targets(self, y, shares):
        """Targets (n, K), their loss, and the number and the unit they start from."""

    def _fit(self, sample):
        check_scales(sample.rows)
        X, size = self._numbers(sample.rows), self.n_features_to_select
        if size is not None and size > X.shape[1]:
            raise ValueError(
                f"n_features_to_select={size} is too large: X has n_features="
                f"{X.shape[1]}."
            )
        shares = sample.weights / sample.weights.sum()
        targets, loss, start, unit = self._targets(sample.y, shares)
        path = lasso_path(X, targets, shares, loss, size)
        chosen = len(path.sizes) - 1 if size is None else _chosen(path.sizes, size)
        coefs = unit * np.moveaxis(path.coefficients, (0, 1, 2), (2, 1, 0))
        intercepts = start + unit * path.intercepts[chosen]
        if is_regressor(self):
            coefs, intercepts = coefs[0], float(intercepts[0])
        self.alphas_, self.coef_path_ = unit * path.penalties, coefs
        self.alpha_, self.coef_ = float(self.alphas_[chosen]), coefs[..., chosen].copy()
        self.intercept_, self.scale_ = intercepts, path.scale
        self.entry_order_ = np.array(path.order, dtype=np.intp)

    def _numbers(self, rows):
        """Rows as an array of numbers."""
        native = rows.native
        return check_array(native, dtype=np.float64, estimator=self, input_name="X")

    def _get_support_mask(self):
        check_is_fitted(self, "coef_")
        return np.atleast_2d(self.coef_).any(axis=0)

    def _scores(self, X):
        """Values of the linear functions, (n_rows,) or (n_rows, n_outputs)."""
        check_is_fitted(self, "coef_")
        X = self._numbers(self._check_rows(X, reset=False))
        return X @ self.coef_.T + self.intercept_


def _chosen(sizes, size):
    """Position of the last point of so many features, or of fewer, which is said."""
    most = sizes[sizes <= size].max()
    if most < size:
        warn(
            f"The lasso path has nowhere exactly n_features_to_select={size} features: "
            f"{most} are selected, the next smaller number that it has.",
            SkippedSizeWarning,
        )
    return np.flatnonzero(sizes == most)[-1]
