"""The lines of a waterfall: which features step together, from where to where."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.layouts import waterfall_steps
from sklearn_interpret._plotting.ranking import check_count, others_text, ranked
from sklearn_interpret.shapley._break_down import BreakDownExplanation
from sklearn_interpret.shapley._plot._features import FeatureReader


@dataclass(frozen=True)
class WaterfallLines:
    """Steps of one row, listed from the top.

    Parameters
    ----------
    members : list of tuple of int
        Features of each step; the others are in the last one.
    names : list of str
        What stands beside each step.
    sizes, starts, ends : ndarray of shape (n_steps,)
        The steps.
    errors : ndarray of shape (n_steps,)
        Standard errors, zero where values are exact; NaN for steps of several features.
    downwards : bool
        Whether each step starts where the one above it ended, not the one below.
    """

    members: list
    names: list
    sizes: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    errors: np.ndarray
    downwards: bool


def waterfall_lines(explanation, max_display):
    """Steps of an explanation of one row and one output.

    Parameters
    ----------
    explanation : Explanation
        One with an order of its own is taken in that, any other by strength.
    max_display : int or None
        Largest number of steps.

    Returns
    -------
    WaterfallLines
    """
    values = explanation.values[0]
    downwards = isinstance(explanation, BreakDownExplanation)
    choose = _in_order if downwards else _by_strength
    members, others = choose(explanation, max_display)
    reader = FeatureReader(explanation)
    names = [reader.joint_entry_text(step, 0) for step in members]
    if downwards:
        names = [f"{number}. {name}" for number, name in enumerate(names, start=1)]
    errors = _errors(explanation, members)
    if others:
        members, errors = [*members, others], np.append(errors, np.nan)
        names.append(others_text(len(others)))
    sizes = np.array([values[list(step)].sum() for step in members])
    base = explanation.base_values[0]
    if downwards:
        starts, ends = waterfall_steps(base, sizes)
    else:
        starts, ends = (part[::-1] for part in waterfall_steps(base, sizes[::-1]))
    return WaterfallLines(members, names, sizes, starts, ends, errors, downwards)


def _by_strength(explanation, max_display):
    shown, others = ranked(np.abs(explanation.values[0]), max_display)
    return [(j,) for j in shown.tolist()], tuple(others.tolist())


def _in_order(explanation, max_display):
    """Steps as they were taken; the last of them together where there are too many."""
    check_count(max_display, "max_display")
    steps = explanation.steps(0)
    if max_display is None or len(steps) <= max_display:
        return steps, ()
    others = [feature for step in steps[max_display - 1 :] for feature in step]
    return steps[: max_display - 1], tuple(others)


def _errors(explanation, members):
    if explanation.standard_errors is None:
        return np.zeros(len(members))
    errors = explanation.standard_errors[0]
    return np.array([errors[step[0]] if len(step) == 1 else np.nan for step in members])
