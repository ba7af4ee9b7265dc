"""Which rows an inspection averages over."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, resample

from sklearn_interpret._model._sklearn_compat import check_sample_weight


def choose_rows(n_rows, subsample, *, stratify=None, random_state=None):
    """Positions of the rows that serve as background.

    Parameters
    ----------
    n_rows : int
        Rows available.
    subsample : int, float in (0, 1] or None
        How many to draw, without replacement; None or at least `n_rows` keeps all.
    stratify : ndarray of shape (n_rows,) or None
        Class labels whose shares are kept.
    random_state : int, RandomState or None
        Source of the draw.

    Returns
    -------
    ndarray of int
        Increasing.
    """
    if subsample is None:
        return np.arange(n_rows)
    size = subsample
    if not isinstance(subsample, Integral):
        size = max(1, round(subsample * n_rows))
    if size >= n_rows:
        return np.arange(n_rows)
    rng = check_random_state(random_state)
    if stratify is not None and size < len(np.unique(stratify)):
        stratify = None
    drawn = resample(
        np.arange(n_rows),
        replace=False,
        n_samples=int(size),
        stratify=stratify,
        random_state=rng,
    )
    return np.sort(drawn)


def check_weights(sample_weight, rows):
    """Weights as float64, ones by default; not to be written to.

    Raises
    ------
    ValueError
        Negative weights, or none above zero.
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, rows.n_rows)
    weights = check_sample_weight(sample_weight, rows.native, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; its smallest is {weights.min():g}."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: nothing to inspect.")
    return weights
