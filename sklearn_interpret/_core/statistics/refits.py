"""Intervals for what a learner finds, from refits on parts of the rows."""

import numpy as np
from scipy.special import stdtrit


def learner_half_width(
    refits, test_ratio=None, *, on_test_rows=False, standard_errors=0.0, level=0.95
):
    """Half-widths of intervals around the mean of refits of one learner.

    The intervals are for the expectation over training sets. Training sets of refits
    overlap, so that refits differ less than independent fits would. The delete-d
    jackknife (Shao and Wu, 1989) corrects this:

    .. math:: t_{m-1} \\sqrt{n_{train} / n_{test} \\sum_k (f_k - \\bar f)^2 / m + s^2}

    Means over each refit's own test rows differ mostly by these rows, which do not
    overlap. For them the variance is that of Nadeau and Bengio (2003),
    :math:`(1/m + n_{test} / n_{train}) S^2`. For other results it is far too small:
    the training sets of two folds differ by one part each.

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

    References
    ----------
    Shao, J. & Wu, C. F. J. (1989). A general theory for jackknife variance estimation.
    Annals of Statistics 17(3). https://doi.org/10.1214/aos/1176347263

    Nadeau, C. & Bengio, Y. (2003). Inference for the generalization error. Machine
    Learning 52. https://doi.org/10.1023/A:1024068626366
    """
    refits = np.asarray(refits, dtype=np.float64)
    m = len(refits)
    if m < 2:
        return np.full(refits.shape[1:], np.nan)
    ratio = 1 / (m - 1) if test_ratio is None else test_ratio
    share = (1 + m * ratio) / (m - 1) if on_test_rows else 1 / ratio
    errors = np.hypot(np.sqrt(share) * refits.std(axis=0), standard_errors)
    return stdtrit(m - 1, (1 + level) / 2) * errors
