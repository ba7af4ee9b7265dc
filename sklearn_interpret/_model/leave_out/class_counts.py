"""Naive Bayes classifiers without some training rows, by their counts and moments."""

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.refits import ModelsWithout, refit_without
from sklearn_interpret._model.leave_out.training import Training, transform_by_steps
from sklearn_interpret._model.responses.response import Response

_CLASSES = (GaussianNB, MultinomialNB, BernoulliNB, ComplementNB)
# Variances that fall below this share are rounding errors of the subtraction (it loses
# half of the digits): such models are fitted again.
_LEAST_SHARE_OF_VARIANCE = 1e-8


def counts_without(
    training: Training, response: Response, deleted: list[NDArray[np.intp]]
) -> ModelsWithout | None:
    """Naive Bayes models whose counts lack some rows; None for any other model."""
    (steps, model), weights = steps_and_model(training.fitted), training.weights
    if type(model) not in _CLASSES or weights is None:
        return None
    if not np.isclose(model.class_count_.sum(), weights.sum()):
        return None  # a frozen model that has seen other rows
    inputs = transform_by_steps(steps, training.rows.native)
    models = []
    for rows in deleted:
        changed = deepcopy(model)
        if isinstance(model, GaussianNB):
            changed.var_ -= model.epsilon_
        # Rows of negative weight are subtracted.
        X, y = safe_indexing(inputs, rows), training.y[rows]
        models.append(changed.partial_fit(X, y, sample_weight=-weights[rows]))
    if isinstance(model, GaussianNB):
        added = model.var_smoothing * _largest_variances(inputs, deleted)
        least_variances = _LEAST_SHARE_OF_VARIANCE * (model.var_ - model.epsilon_)
        for position, changed in enumerate(models):
            if (changed.var_ < least_variances).any():
                fitted = refit_without(training, deleted[position])
                models[position] = steps_and_model(fitted)[1]
            else:
                changed.epsilon_ = added[position]
                changed.var_ += added[position]
    return ModelsWithout(training.fitted, models, steps, "sufficient_statistics")


def _largest_variances(
    inputs: Any, deleted: list[NDArray[np.intp]]
) -> NDArray[np.float64]:
    """Largest variance of a column without each of some lists of rows, (n,)."""
    values = np.asarray(inputs, dtype=np.float64)
    values = values - values.mean(axis=0)
    squares, n_rows = np.square(values), len(values)
    sums = np.array([values[rows].sum(axis=0) for rows in deleted])
    sums_of_squares = squares.sum(axis=0) - [
        squares[rows].sum(axis=0) for rows in deleted
    ]
    n_left = n_rows - np.array(list(map(len, deleted)))[:, None]
    return (sums_of_squares / n_left - (sums / n_left) ** 2).max(axis=1)
