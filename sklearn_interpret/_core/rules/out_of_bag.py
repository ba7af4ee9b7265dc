"""Scores of rules on rows not drawn to find them, and rules that do not overlap.

Steps of SkopeRules, after trees have been grown on drawn rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RuleScores(NamedTuple):
    """Precision and recall of rules.

    Parameters
    ----------
    label : ndarray of shape (n_rules,), int
        The class whose share a rule raises most.
    shares : ndarray of shape (n_rules, n_classes)
        Shares of the classes where a rule holds; zeros where it holds for no row.
    precision : ndarray of shape (n_rules,)
        The share of the class `label` where the rule holds.
    recall : ndarray of shape (n_rules,)
        The share of the rows of this class for which the rule holds.
    weight : ndarray of shape (n_rules,)
        Weight of the rows for which the rule holds.
    """

    label: NDArray[np.intp]
    shares: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    weight: NDArray[np.float64]


def draw_share(
    weights: NDArray[np.float64], share: float, random: np.random.RandomState
) -> NDArray[np.float64]:
    """Weights of rows drawn without replacement, each with a chance of `share`.

    A row of weight two is two rows, of which both, one or none are drawn.
    """
    # Counts above 2^31 do not fit `binomial` everywhere: the excess is one row.
    units = np.floor(np.minimum(weights, 2**31))
    fraction = (weights - units) * (random.random_sample(len(weights)) < share)
    return random.binomial(units.astype(np.int64), share) + fraction


def score_rules(
    holds: NDArray[np.bool_], weights: NDArray[np.float64], classes: NDArray[np.float64]
) -> RuleScores:
    """Score rules by rows, each with weights of its own.

    Parameters
    ----------
    holds : ndarray of shape (n_rules, n_rows), bool
        Whether a rule holds for a row.
    weights : ndarray of shape (n_rules, n_rows)
        Weights of the rows that were not drawn to find a rule.
    classes : ndarray of shape (n_rows, n_classes)
        1 for the class of a row, else 0.

    Returns
    -------
    RuleScores
    """
    covered, total = (weights * holds) @ classes, weights @ classes
    weight = covered.sum(axis=1)
    shares = _ratio(covered, weight[:, None])
    base_shares = _ratio(total, total.sum(axis=1, keepdims=True))
    label = _ratio(shares, base_shares).argmax(axis=1)
    of_label = np.arange(len(holds)), label
    recall = _ratio(covered, total)[of_label]
    return RuleScores(label, shares, shares[of_label], recall, weight)


def f1(precision: float, recall: float) -> float:
    """Harmonic mean of precision and recall, not both of them zero."""
    return 2 * precision * recall / (precision + recall)


def without_overlaps(
    holds: NDArray[np.bool_], weights: NDArray[np.float64], max_overlap: float
) -> list[int]:
    """Positions of the rules that do not overlap too much with an earlier one of these.

    Parameters
    ----------
    holds : ndarray of shape (n_rules, n_rows), bool
        Whether a rule holds for a row; the best rules first.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    max_overlap : float
        Largest overlap: the weight of the rows for which both rules hold, as a share of
        the weight of the rows for which at least one does.

    Returns
    -------
    list of int
    """
    flags = holds.astype(np.float64)
    shared_weight = (flags * weights) @ flags.T
    weight = shared_weight.diagonal()
    union_weight = weight[:, None] + weight - shared_weight
    # Equal sets have an overlap of one, but for rounding.
    overlaps = shared_weight > (max_overlap + 1e-12) * union_weight
    selected: list[int] = []
    for rule, overlaps_rule in enumerate(overlaps):
        if not overlaps_rule[selected].any():
            selected.append(rule)
    return selected


def _ratio(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A quotient, zero where nothing is divided by nothing."""
    return np.divide(
        numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0
    )
