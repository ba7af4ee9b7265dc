"""Intervals for the mean results of a learner, from refits on parts of the rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit


class Splits(NamedTuple):
    """How rows are left out of several fits.

    Parameters
    ----------
    test_ratio : float
        Rows left out / training rows of a fit.
    are_folds : bool, default=True
        Whether each row is left out of exactly one fit.
    are_known : bool, default=True
        Whether this was read from the rows' indices; else K folds are assumed.
    """

    test_ratio: float
    are_folds: bool = True
    are_known: bool = True


def learner_half_width(
    refits: ArrayLike,
    splits: Splits | None = None,
    *,
    on_test_rows: bool = False,
    standard_errors: ArrayLike = 0.0,
    level: float = 0.95,
) -> NDArray[np.float64]:
    """Half-widths of intervals around the mean of refits of one learner.

    Training sets overlap, so refits differ less than independent fits would. The
    delete-d jackknife (Shao and Wu 1989) multiplies their mean squared deviation by
    n_train / n_test, over all subsets of the rows. The m folds are all the subsets
    there are. Of m random subsets the mean squared deviation is estimated, with the
    divisor m - 1, and so is the mean over all subsets: its variance is added. Means
    over each refit's own test rows differ mostly by these rows, which do not overlap:
    their variance is (1/m + n_test / n_train) S^2 (Nadeau and Bengio 2003), with the
    sample variance S^2 of the m results.

    Parameters
    ----------
    refits : array-like of shape (m, ...)
        The result of each refit.
    splits : Splits or None, default=None
        The rows left out; None means m folds.
    on_test_rows : bool, default=False
        Whether each result is a mean over the refit's own test rows.
    standard_errors : array-like of shape (...), default=0.0
        Errors that all refits share, such as the error of a mean over the same rows.
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
    splits = Splits(1 / (m - 1)) if splits is None else splits
    ratio = splits.test_ratio
    # Factor from the mean squared deviation of the refits to the variance of their
    # mean.
    if on_test_rows:
        factor = (1 + m * ratio) / (m - 1)
    else:
        factor = 1 / ratio if splits.are_folds else (m / ratio + 1) / (m - 1)
    errors = np.hypot(np.sqrt(factor) * refits.std(axis=0), standard_errors)
    return stdtrit(m - 1, (1 + level) / 2) * errors
