"""Naive Bayes classifiers without some training rows, by their counts and moments."""

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.refits import ModelsWithout, refitted
from sklearn_interpret._model.leave_out.training import Training, transformed
from sklearn_interpret._model.responses.response import Response

_OF_COUNTS = (GaussianNB, MultinomialNB, BernoulliNB, ComplementNB)
# Variances that fall below this part are not found by subtraction: a refit is.
_LEFT = 1e-8


def counts_without(
    training: Training,
    steps: Any,
    model: Any,
    response: Response,
    deleted: list[np.ndarray],
) -> ModelsWithout | None:
    """Naive Bayes models whose counts lack some rows; else None."""
    if type(model) not in _OF_COUNTS:
        return None
    total = training.weights.sum()
    if not np.isclose(model.class_count_.sum(), total):
        return None  # a frozen model that has seen other rows
    inputs = transformed(steps, training.rows.native)
    models = []
    for rows in deleted:
        other = deepcopy(model)
        if isinstance(model, GaussianNB):
            other.var_ -= model.epsilon_
        # Rows of negative weight are subtracted.
        part = safe_indexing(inputs, rows), training.y[rows]
        models.append(other.partial_fit(*part, sample_weight=-training.weights[rows]))
    if isinstance(model, GaussianNB):
        added = model.var_smoothing * _largest_variances(inputs, deleted)
        least = _LEFT * (model.var_ - model.epsilon_)
        for place, other in enumerate(models):
            if (other.var_ < least).any():
                fitted = refitted(training, deleted[place])
                models[place] = steps_and_model(fitted)[1]
            else:
                other.epsilon_ = added[place]
                other.var_ += added[place]
    return ModelsWithout(training.fitted, models, steps, "sufficient_statistics")


def _largest_variances(inputs: Any, deleted: list[np.ndarray]) -> np.ndarray:
    """Largest variance of a column without each of some lists of rows, (n,)."""
    values = np.asarray(inputs, dtype=np.float64)
    values = values - values.mean(axis=0)
    squares, n_rows = np.square(values), len(values)
    sums = np.array([values[rows].sum(axis=0) for rows in deleted])
    of_squares = squares.sum(axis=0) - [squares[rows].sum(axis=0) for rows in deleted]
    left = n_rows - np.array(list(map(len, deleted)))[:, None]
    return (of_squares / left - (sums / left) ** 2).max(axis=1)
