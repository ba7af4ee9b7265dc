"""Assertions about weights of the training targets."""

import numpy as np
from numpy.testing import assert_allclose

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.training_weights.base import TrainingData


def training_data(X, y, sample_weight=None):
    """`TrainingData` of native rows."""
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    return TrainingData(as_rows(X), y, np.asarray(weights, dtype=float))


def fit(model, X, y, sample_weight=None):
    """Fit a model, with weights if there are any."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return model.fit(X, y, **weights)


def assert_weights(read, model, X, y, new, sample_weight=None, rtol=1e-12):
    """Assert that weighted sums are predictions of new rows; return the weights."""
    reader = read(model, training_data(X, y, sample_weight))
    weights, y = reader.weights(as_rows(new)), np.asarray(y, dtype=float)
    predictions = model.predict(new)
    assert weights.shape == (len(predictions), len(y))
    assert weights.nbytes <= reader.row_bytes * len(predictions)
    sums = reader.offset + weights @ (y - reader.offset)
    size = np.abs(predictions).max() + np.abs(y).max()
    assert_allclose(sums, predictions, rtol=0, atol=rtol * size)
    return weights
