"""A small exact inspector, by which displays are tested apart from the real ones."""

import numpy as np

from sklearn_interpret.base import BaseInspector
from sklearn_interpret.explanations import Explanation


class LinearShares(BaseInspector):
    """Shapley values of a linear model, in closed form: b_j (x_j - mean of x_j)."""

    _parameter_constraints = {"background": "no_validation", "target": "no_validation"}

    def __init__(
        self, estimator, *, background=None, response_method="auto", target=None
    ):
        self.estimator = estimator
        self.background = background
        self.response_method = response_method
        self.target = target

    def _inspect(self, sample, response):
        X = sample.rows.native if self.background is None else self.background
        weights = sample.weights if self.background is None else None
        self.center_ = np.average(np.asarray(X, dtype=float), axis=0, weights=weights)
        model = self.estimator_.estimator
        coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
        names = getattr(model, "classes_", np.arange(len(coef)))
        self.names_ = list(names if len(names) == len(coef) else names[1:])
        if self.target is not None and len(coef) > 1:
            place = self.names_.index(self.target)
            coef, intercept = coef[[place]], intercept[[place]]
            self.names_ = [self.target]
        self.coef_, self.intercept_ = coef, intercept
        self.n_explained_ = 0

    def explain(self, X):
        rows = np.asarray(X, dtype=float)
        self.n_explained_ += len(rows)
        values = (rows - self.center_)[:, :, None] * self.coef_.T
        base = self.center_ @ self.coef_.T + self.intercept_
        bases = np.tile(base, (len(rows), 1))
        predictions = rows @ self.coef_.T + self.intercept_
        if len(self.coef_) == 1:
            values, bases, predictions = values[..., 0], bases[:, 0], predictions[:, 0]
        return Explanation(
            values,
            bases,
            predictions=predictions,
            data=X,
            feature_names=getattr(self, "feature_names_in_", None),
            output_names=self.names_,
        )
