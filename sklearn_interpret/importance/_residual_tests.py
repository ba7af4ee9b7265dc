"""Tests of conditional independence from regressions on the other features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from sklearn_interpret._core.statistics.covariance_tests import (
    one_sided_test,
    product_test,
)
from sklearn_interpret.importance._drop_column import drop_columns

# Squared residuals below this share of their mean count as this share: the direction
# that is tested divides by them.
_LEAST_VARIANCE = 0.1


@dataclass(frozen=True, eq=False)
class ResidualTest:
    """What the tests of all features share.

    Parameters
    ----------
    nuisance : regressor
        Clones of it are fitted.
    rows : Rows
        The rows, with all features.
    outcomes : ndarray of shape (n_rows, q)
        The target: numbers, or flags of classes.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    n_folds : int
        Folds of cross-fitting.
    """

    nuisance: Any
    rows: Any
    outcomes: np.ndarray
    weights: np.ndarray
    n_folds: int

    def gcm(self, columns, coded, seed):
        """Generalised covariance measure (Shah & Peters 2020): statistic, p-value.

        `coded` (n_rows, r) are the feature's numbers and flags of levels. Also returns
        the held-out R^2 of the regressions of target and feature.
        """
        others, every = drop_columns(self.rows, columns), np.arange(self.rows.n_rows)
        of_target = self._residuals(others, every, self.outcomes, seed)
        of_feature = self._residuals(others, every, coded, seed)
        products = of_target[:, :, None] * of_feature[:, None]
        found = product_test(products.reshape(len(products), -1), self.weights)
        scores = self._score(self.outcomes, of_target), self._score(coded, of_feature)
        return *found, scores

    def pcm(self, columns, coded, seed):
        """Projected covariance measure (Lundborg et al. 2024, algorithm 1).

        One half of the rows gives a direction: how the feature changes the prediction
        of the target, divided by the variance of the target. The other half tests it.
        """
        others = drop_columns(self.rows, columns)
        order = np.random.default_rng(seed).permutation(self.rows.n_rows)
        half, rest = (
            np.sort(order[: len(order) // 2]),
            np.sort(order[len(order) // 2 :]),
        )
        direction = np.stack(
            [
                self._direction(others, half, rest, outcome[half])
                for outcome in self.outcomes.T
            ],
            axis=1,
        )
        of_target = self._residuals(others, rest, self.outcomes[rest], seed)
        projected = self._residuals(others, rest, direction, seed)
        products = (of_target * projected).sum(axis=1)
        found = one_sided_test(products, self.weights[rest])
        scores = (
            self._score(self.outcomes[rest], of_target, rest),
            self._score(direction, projected, rest),
        )
        return *found, scores

    def _direction(self, others, half, rest, outcome):
        """Gain of the prediction by the feature, over the variance: (n_rest,)."""
        whole = self._fitted(self.rows, half, outcome)
        fitted = whole(self.rows, half)
        without = self._fitted(others, half, fitted)
        squares = (outcome - fitted) ** 2
        variance = self._fitted(self.rows, half, squares)(self.rows, rest)
        least = _LEAST_VARIANCE * np.average(squares, weights=self.weights[half])
        gain = whole(self.rows, rest) - without(others, rest)
        return gain / np.maximum(variance, least or 1.0)

    def _fitted(self, rows, index, target):
        """A function (rows, index) -> predictions, of a model fitted on some rows."""
        model = clone(self.nuisance)
        native, weights = rows.take(index).native, self.weights[index]
        equal = (weights == weights[0]).all()
        model.fit(native, target, **({} if equal else {"sample_weight": weights}))
        return lambda rows, index: model.predict(rows.take(index).native)

    def _residuals(self, others, index, targets, seed):
        """Held-out residuals (n, q) of the rows at `index`, of whom `targets` are."""
        folds = KFold(min(self.n_folds, len(index)), shuffle=True, random_state=seed)
        residuals = np.empty(targets.shape)
        for train, test in folds.split(index):
            for column, target in enumerate(targets.T):
                predict = self._fitted(others, index[train], target[train])
                found = predict(others, index[test])
                residuals[test, column] = target[test] - found
        return residuals

    def _score(self, targets, residuals, index=slice(None)):
        """Held-out R^2 of all outputs together."""
        weights = self.weights[index]
        mean = np.average(targets, axis=0, weights=weights)
        spread = (weights @ (targets - mean) ** 2).sum()
        return 1 - (weights @ residuals**2).sum() / spread if spread > 0 else 0.0
