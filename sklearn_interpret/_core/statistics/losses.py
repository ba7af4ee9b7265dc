"""Losses of single rows, whose weighted mean over rows is the loss of a model.

All take targets of shape (m, k) and answers of shape (m, ..., k), and return losses of
shape (m, ...). Targets of classifiers are indicators: one column for each class. The
answers for two classes may be those for the second alone.
"""

import numpy as np
from scipy.special import xlogy

_EPSILON = np.finfo(np.float64).eps


def squared(targets, answers):
    """Squared error, mean over outputs."""
    return _mean_square(answers - _beside(targets, answers))


def absolute(targets, answers):
    """Absolute error, mean over outputs."""
    errors = answers - _beside(targets, answers)
    if errors.shape[-1] == 1:
        errors = errors[..., 0]
        return np.abs(errors, out=errors)
    return np.abs(errors).mean(axis=-1)


def relative(targets, answers):
    """Absolute error over the size of the target, mean over outputs."""
    targets = _beside(targets, answers)
    sizes = np.maximum(np.abs(targets), _EPSILON)
    return (np.abs(answers - targets) / sizes).mean(axis=-1)


def squared_logarithmic(targets, answers):
    """Squared difference of log(1 + y), mean over outputs."""
    return _mean_square(np.log1p(answers) - np.log1p(_beside(targets, answers)))


def poisson_deviance(targets, answers):
    """Unit deviance of the Poisson distribution, mean over outputs."""
    targets = _beside(targets, answers)
    deviance = xlogy(targets, targets / answers) - targets + answers
    return 2 * deviance.mean(axis=-1)


def gamma_deviance(targets, answers):
    """Unit deviance of the gamma distribution, mean over outputs."""
    targets = _beside(targets, answers)
    return 2 * (np.log(answers / targets) + targets / answers - 1).mean(axis=-1)


def log_loss(targets, answers):
    """Minus the logarithm of the probability of the class."""
    probability = np.clip(_of_class(targets, answers), _EPSILON, 1 - _EPSILON)
    return -np.log(probability)


def brier(targets, answers):
    """Squared error of the probabilities, summed over classes; half of it for two."""
    if targets.shape[1] == 2:
        return (1 - _of_class(targets, answers)) ** 2
    return ((answers - _beside(targets, answers)) ** 2).sum(axis=-1)


def zero_one(targets, answers):
    """One where the class is not the predicted one; answers are indicators."""
    return 1.0 - _of_class(targets, answers)


def _beside(targets, answers):
    """Targets with axes of length one where the answers have points."""
    middle = (1,) * (answers.ndim - targets.ndim)
    return targets.reshape(len(targets), *middle, targets.shape[-1])


def _mean_square(errors):
    if errors.shape[-1] == 1:
        errors = errors[..., 0]
        return np.square(errors, out=errors)
    return np.square(errors).mean(axis=-1)


def _of_class(targets, answers):
    """What is answered for the class of each row; of two classes, for the second."""
    if answers.shape[-1] > 1:
        return (_beside(targets, answers) * answers).sum(axis=-1)
    # One minus the answer where it is the first class.
    second = targets[:, 1:].reshape(-1, *(1,) * (answers.ndim - 2))
    return (1 - second) + (2 * second - 1) * answers[..., 0]


def weighted_squared(targets, answers, shares):
    """Squared error, the sum over outputs in the given shares of shape (k,)."""
    errors = answers - _beside(targets, answers)
    if errors.shape[-1] == 1:
        errors = errors[..., 0]
        errors *= errors
        errors *= shares[0]
        return errors
    return np.square(errors, out=errors) @ shares
