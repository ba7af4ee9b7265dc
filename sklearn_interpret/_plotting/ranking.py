"""Which features are drawn on their own, and which together."""

from numbers import Integral

import numpy as np


def check_count(count, parameter):
    """Refuse a number of features to show that is none.

    Raises
    ------
    ValueError
        Not None and not a positive whole number.
    """
    whole = isinstance(count, Integral) and not isinstance(count, bool)
    if count is not None and not (whole and count >= 1):
        raise ValueError(
            f"{parameter}={count!r} must be a positive whole number, or None for all."
        )


def ranked(strengths, max_display):
    """Features from the strongest down: those shown alone, and the others.

    Parameters
    ----------
    strengths : ndarray of shape (p,)
        What is ranked; equal ones keep their order.
    max_display : int or None
        Largest number of lines; the others take the last of them.

    Returns
    -------
    shown, others : ndarray of intp
        Positions. A single feature is never alone among the others.
    """
    check_count(max_display, "max_display")
    order = np.argsort(-strengths, kind="stable")
    if max_display is None or len(order) <= max_display:
        return order, order[:0]
    return order[: max_display - 1], order[max_display - 1 :]


def others_text(n_others):
    """Name of the line that stands for several features."""
    return f"{n_others} other features"
