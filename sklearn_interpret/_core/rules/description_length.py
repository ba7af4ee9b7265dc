"""Bits that it takes to send rules and their errors (Quinlan 1995; Cohen 1995)."""

import numpy as np


def subset_bits(n, k, share):
    """Bits that say which k of n things are meant, if a share of them is expected."""
    share = min(max(share, 1e-12), 1 - 1e-12)
    return -k * np.log2(share) - (n - k) * np.log2(1 - share)


def theory_bits(n_chosen, n_conditions):
    """Bits of a rule of so many of the table's conditions.

    Half of them: conditions can be listed in any order, and lean on each other.
    """
    if n_chosen == 0:
        return 0.0
    length = np.log2(n_chosen)
    if n_chosen > 1:
        length += 2 * np.log2(length)
    return 0.5 * (length + subset_bits(n_conditions, n_chosen, n_chosen / n_conditions))


def error_bits(covered, uncovered, false_positive, false_negative, share):
    """Bits that say which rows the rules get wrong.

    Parameters
    ----------
    covered, uncovered : float
        Weights of the rows that some rule, or none, holds for.
    false_positive, false_negative : float
        Weights of those among them that are of another class, and of the class.
    share : float
        Share of errors expected among the covered rows; that of the class.
    """
    errors = false_positive + false_negative
    positive_rate = false_positive / covered if covered else 0
    negative_rate = false_negative / uncovered if uncovered else 0
    # Of one side the errors are expected, of the other known, and sent before.
    if covered > uncovered:
        positive_rate = share * errors / covered
    else:
        negative_rate = (1 - share) * errors / uncovered
    return (
        np.log2(covered + uncovered + 1)
        + subset_bits(covered, false_positive, positive_rate)
        + subset_bits(uncovered, false_negative, negative_rate)
    )
