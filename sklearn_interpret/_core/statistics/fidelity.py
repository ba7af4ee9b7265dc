"""How closely one set of answers follows another."""

import numpy as np

# Of the largest answer: so far apart are answers that are the same.
_ROUNDING = 1e-14


def r_squared(followed, following, weights):
    """Share of the variance of answers that other answers account for.

    Parameters
    ----------
    followed : ndarray of shape (n, k)
        Answers to be met.
    following : ndarray of shape (n, k)
        Answers that should meet them.
    weights : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (k,)
        Of each output. Answers that are all the same, but for rounding, have 1 where
        they are met, and else 0.
    """
    shares = weights / weights.sum()
    centred = followed - shares @ followed
    # Squares of very small or large numbers would leave the range of floats.
    scale = np.abs(followed).max(axis=0)
    scale[scale == 0] = 1.0
    missed = shares @ ((followed - following) / scale) ** 2
    total = shares @ (centred / scale) ** 2
    constant = total <= _ROUNDING**2
    met = missed <= _ROUNDING**2
    total[constant] = 1.0
    return np.where(constant, met.astype(np.float64), 1 - missed / total)


def agreement(one, other, weights):
    """Share of rows whose labels are the same, all of them where there are several.

    Parameters
    ----------
    one, other : ndarray of shape (n,) or (n, k)
        Labels.
    weights : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    float
    """
    same = np.asarray(one == other)
    same = same.reshape(len(weights), -1).all(axis=1)
    return float(weights @ same / weights.sum())
