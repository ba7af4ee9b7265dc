"""Scores of one table of rows after another, all with the same targets.

Scikit-learn's metrics look the targets over at each call, which takes longer than the
predictions of small models. The plain formula of a score is used instead where it gives
the very number of the scorer, to the last bit, for the rows as they are.
"""

from functools import partial

import numpy as np

# Targets and answers that are numbers.
_NUMBERS = "biuf"


class RepeatedScore:
    """A score, or a loss, of a model on tables of rows that have the same targets.

    Parameters
    ----------
    metric : Metric
        The score.
    y : ndarray of shape (n_rows, ...)
        Targets.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows.
    """

    def __init__(self, metric, y, weights):
        self._metric, self._y, self._weights = metric, y, weights
        self._formula = None

    def of_own_rows(self, model, X):
        """The number for the rows as they are, to be asked for first."""
        number = self._metric(model, X, self._y, self._weights)
        formula = _formula(self._metric, self._y, self._weights)
        if formula is not None:
            answer = model.predict(X)
            if self._is_plain(answer) and formula(answer) == number:
                self._formula = formula
        return number

    def __call__(self, model, X):
        """The number for other rows."""
        if self._formula is not None:
            answer = model.predict(X)
            if self._is_plain(answer):
                number = self._formula(answer)
                if np.isfinite(number):
                    return number
        return self._metric(model, X, self._y, self._weights)

    def _is_plain(self, answer):
        """Whether an answer has the shape of the targets, and numbers if these do."""
        if not isinstance(answer, np.ndarray) or answer.shape != self._y.shape:
            return False
        return (answer.dtype.kind in _NUMBERS) == (self._y.dtype.kind in _NUMBERS)


def _formula(metric, y, weights):
    """A function of predictions, or None; no such score looks at anything else."""
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        return None
    if metric.row_loss == "zero_one":
        return partial(_zero_one, metric.turn, y, weights)
    if y.dtype.kind not in _NUMBERS:
        return None
    if metric.row_loss == "r2":
        spread = _sum_of_squares(y - np.average(y, weights=weights), weights)
        return partial(_r2, spread, y, weights) if spread > 0 else None
    if metric.row_loss in _ERRORS:
        return partial(_mean_error, metric, y, weights)
    return None


_ERRORS = {"squared": np.square, "absolute": np.abs}


def _mean_error(metric, y, weights, answer):
    errors = _ERRORS[metric.row_loss](answer - y)
    return metric.as_loss(float(np.average(errors, weights=weights)))


def _r2(spread, y, weights, answer):
    return 1 - float(_sum_of_squares(y - answer, weights) / spread)


def _zero_one(turn, y, weights, answer):
    accuracy = float(np.average(y == answer, weights=weights))
    return 1 - accuracy if turn == "loss" else accuracy


def _sum_of_squares(errors, weights):
    squares = np.square(errors)
    return np.sum(squares if weights is None else weights * squares)
