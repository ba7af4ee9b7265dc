"""Intervals for the mean results of a learner, from refits on parts of the rows."""

import numpy as np
from scipy.special import stdtrit


def learner_half_width(
    refits, test_ratio=None, *, on_test_rows=False, standard_errors=0.0, level=0.95
):
    """Half-widths of intervals around the mean of refits of one learner.

    Training sets overlap, so refits differ less than independent fits would. The
    delete-d jackknife (Shao and Wu 1989) multiplies their mean squared deviation by
    n_train / n_test. Means over each refit's own test rows differ mostly by these rows,
    which do not overlap: (1/m + n_test / n_train) S^2 (Nadeau and Bengio 2003).

    Parameters
    ----------
    refits : array-like of shape (m, ...)
        The result of each refit.
    test_ratio : float or None, default=None
        Left out rows / training rows; None is that of m folds, 1 / (m - 1).
    on_test_rows : bool, default=False
        Whether each result is a mean over the refit's own test rows.
    standard_errors : array-like of shape (...), default=0.0
        Errors that all refits share, as that of a mean over the same rows.
    level : float, default=0.95
        Share of such intervals that hold the expectation.

    Returns
    -------
    ndarray of shape (...)
        NaN of a single refit.
    """
    refits = np.asarray(refits, dtype=np.float64)
    m = len(refits)
    if m < 2:
        return np.full(refits.shape[1:], np.nan)
    ratio = 1 / (m - 1) if test_ratio is None else test_ratio
    share = (1 + m * ratio) / (m - 1) if on_test_rows else 1 / ratio
    errors = np.hypot(np.sqrt(share) * refits.std(axis=0), standard_errors)
    return stdtrit(m - 1, (1 + level) / 2) * errors
