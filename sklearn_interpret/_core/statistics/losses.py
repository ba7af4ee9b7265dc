"""Losses of single rows, and how closely one set of predictions follows another.

Losses take targets (m, k) and predictions (m, ..., k) and return (m, ...); their
weighted mean over rows is the loss of a model. Targets of classifiers are indicators:
one column for each class. Predictions for two classes may be given for the second class
alone.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]
_EPSILON = np.finfo(np.float64).eps

# Predictions this close, relative to the largest one, are equal.
_ROUNDING = 1e-14


def squared(targets: _Array, predictions: _Array) -> _Array:
    """Squared error, mean over outputs."""
    return _mean_square(predictions - _align_targets(targets, predictions))


def weighted_squared(targets: _Array, predictions: _Array, shares: _Array) -> _Array:
    """Sum over outputs of squared errors, each times the output's share, (k,)."""
    errors = predictions - _align_targets(targets, predictions)
    squares = np.square(errors, out=errors)
    squares *= shares
    return squares[..., 0] if len(shares) == 1 else squares.sum(axis=-1)


def absolute(targets: _Array, predictions: _Array) -> _Array:
    """Absolute error, mean over outputs."""
    errors = predictions - _align_targets(targets, predictions)
    return _mean_over_outputs(np.abs(errors, out=errors))


def relative(targets: _Array, predictions: _Array) -> _Array:
    """Absolute error over the size of the target, mean over outputs."""
    targets = _align_targets(targets, predictions)
    return (np.abs(predictions - targets) / target_sizes(targets)).mean(axis=-1)


def target_sizes(targets: _Array) -> _Array:
    """Sizes of targets, by which relative errors are divided."""
    return np.maximum(np.abs(targets), _EPSILON)


def squared_logarithmic(targets: _Array, predictions: _Array) -> _Array:
    """Squared difference of log(1 + y), mean over outputs."""
    return _mean_square(
        np.log1p(predictions) - np.log1p(_align_targets(targets, predictions))
    )


def poisson_deviance(targets: _Array, predictions: _Array) -> _Array:
    """Unit deviance of the Poisson distribution, mean over outputs."""
    targets = _align_targets(targets, predictions)
    deviance = xlogy(targets, targets / predictions) - targets + predictions
    return 2 * deviance.mean(axis=-1)


def gamma_deviance(targets: _Array, predictions: _Array) -> _Array:
    """Unit deviance of the gamma distribution, mean over outputs."""
    ratio = _align_targets(targets, predictions) / predictions
    return 2 * (ratio - np.log(ratio) - 1).mean(axis=-1)


def log_loss(targets: _Array, predictions: _Array) -> _Array:
    """Minus the logarithm of the probability of the row's class."""
    probability = np.clip(
        _predictions_of_true_class(targets, predictions), _EPSILON, 1 - _EPSILON
    )
    return -np.log(probability)


def brier(targets: _Array, predictions: _Array) -> _Array:
    """Squared error of the probabilities, summed over classes; half of it for two."""
    if targets.shape[1] == 2:
        return (1 - _predictions_of_true_class(targets, predictions)) ** 2
    return ((predictions - _align_targets(targets, predictions)) ** 2).sum(axis=-1)


def zero_one(targets: _Array, predictions: _Array) -> _Array:
    """One where the class is not the predicted one; predictions are indicators."""
    return 1.0 - _predictions_of_true_class(targets, predictions)


def _align_targets(targets: _Array, predictions: _Array) -> _Array:
    """Targets (m, k) with axes of length one for the further axes of predictions."""
    middle = (1,) * (predictions.ndim - targets.ndim)
    return targets.reshape(len(targets), *middle, targets.shape[-1])


def _mean_over_outputs(values: _Array) -> _Array:
    """Mean over the last axis; numpy's is slow for a single output."""
    return values[..., 0] if values.shape[-1] == 1 else values.mean(axis=-1)


def _mean_square(errors: _Array) -> _Array:
    """Mean of squares over outputs; overwrites the errors."""
    return _mean_over_outputs(np.square(errors, out=errors))


def _predictions_of_true_class(targets: _Array, predictions: _Array) -> _Array:
    """The prediction for each row's class."""
    if predictions.shape[-1] > 1:
        targets = _align_targets(targets, predictions)
        # `sum` along a short axis is several times slower.
        return np.einsum("...k,...k->...", targets, predictions)
    # Predictions p of the second class alone: 1 - p where the row's class is the first.
    second = targets[:, 1:].reshape(-1, *(1,) * (predictions.ndim - 2))
    return (1 - second) + (2 * second - 1) * predictions[..., 0]


def r_squared(targets: _Array, predictions: _Array, weights: _Array) -> _Array:
    """Share of the variance of targets (n, k) that predictions (n, k) explain.

    Returns one number for each output, NaN where targets are constant up to rounding.
    """
    shares = weights / weights.sum()
    # Squares of very small or large numbers would leave the range of floats.
    scale = np.abs(targets).max(axis=0)
    scale[scale == 0] = 1.0
    targets, predictions = targets / scale, predictions / scale
    error = shares @ (targets - predictions) ** 2
    total = shares @ (targets - shares @ targets) ** 2
    total[total <= _ROUNDING**2] = np.nan
    return 1 - error / total


def mean_r_squared(targets: _Array, predictions: _Array, weights: _Array) -> float:
    """Mean of :func:`r_squared` over outputs that vary; NaN if all are constant."""
    scores = r_squared(targets, predictions, weights)
    defined = scores[~np.isnan(scores)]
    return float(defined.mean()) if len(defined) else np.nan


def agreement(first: NDArray, second: NDArray, weights: _Array) -> float:
    """Weighted share of rows with equal labels (n,) or (n, k), in all k columns."""
    equal = np.asarray(first == second).reshape(len(weights), -1)
    return float(weights @ np.all(equal, axis=1) / weights.sum())
