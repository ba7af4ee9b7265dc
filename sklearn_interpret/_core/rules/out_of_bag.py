"""Rules judged on rows not drawn to find them, and rules that do not overlap."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Judged(NamedTuple):
    """Precision and recall of rules.

    Parameters
    ----------
    label : ndarray of shape (n_rules,), int
        The class whose share a rule raises most.
    shares : ndarray of shape (n_rules, n_classes)
        Shares of the classes where it holds; zeros where it holds for no row.
    precision, recall : ndarray of shape (n_rules,)
        Of these, that of the class; share of the class for which the rule holds.
    weight : ndarray of shape (n_rules,)
        Weight of the rows for which the rule holds.
    """

    label: np.ndarray
    shares: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    weight: np.ndarray


def draw_share(
    weights: NDArray[np.float64], share: float, random: np.random.RandomState
) -> Any:
    """Weights of rows drawn without replacement, each with a chance of `share`.

    A row of weight two is two rows, of which both, one or none are drawn.
    """
    whole = np.floor(np.minimum(weights, 2**31))
    part = (weights - whole) * (random.random_sample(len(weights)) < share)
    return random.binomial(whole.astype(np.int64), share) + part


def judge(
    holds: Callable[..., Any] | None, weights: NDArray[np.float64], classes: Any
) -> Any:
    """Judge rules by rows, each with weights of its own.

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
    Judged
    """
    held, everywhere = (weights * holds) @ classes, weights @ classes
    weight = held.sum(axis=1)
    shares = _ratio(held, weight[:, None])
    everyone = _ratio(everywhere, everywhere.sum(axis=1, keepdims=True))
    label = _ratio(shares, everyone).argmax(axis=1)
    own = np.arange(len(holds)), label
    recall = _ratio(held, everywhere)[own]
    return Judged(label, shares, shares[own], recall, weight)


def f1(precision: float, recall: Any) -> Any:
    """Harmonic mean of precision and recall, not both of them zero."""
    return 2 * precision * recall / (precision + recall)


def unlike(
    holds: Callable[..., Any] | None, weights: NDArray[np.float64], most: float
) -> Any:
    """Positions of rules, none of which overlaps too much with an earlier one.

    Parameters
    ----------
    holds : ndarray of shape (n_rules, n_rows), bool
        Whether a rule holds for a row; the best rules first.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    most : float
        Largest overlap: the weight of the rows for which both hold, as a share of that
        of those for which one does.

    Returns
    -------
    list of int
    """
    held = holds.astype(np.float64)
    both = (held * weights) @ held.T
    size = both.diagonal()
    # Equal sets have an overlap of one, but for rounding.
    alike = both > (most + 1e-12) * (size[:, None] + size - both)
    kept = []
    for rule, earlier in enumerate(alike):
        if not earlier[kept].any():
            kept.append(rule)
    return kept


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> Any:
    """A quotient, zero where nothing is divided by nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
