"""Classes, or zero counts, that a linear score tells apart without error.

No finite parameters are the likeliest then (Albert & Anderson, 1984; Correia, Guimarães
& Zylkin, 2019).
"""

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog

from sklearn_interpret._core.statistics.score_losses import HalfTweedie, Logistic

# Rows are looked at where some curvature is this part of what it is for no effects, and
# told apart if they lie so far from the plane, in units of the largest entries.
_FLAT, _APART = 1e-6, 1e-4


def separating_direction(model):
    """Direction (d,) along which the likelihood never falls, and somewhere rises.

    None where there is none. The parameters of the `ScoreModel` are those that Newton's
    method has ended with.
    """
    design, targets = model.design, model.targets[:, 0]
    power = getattr(model.loss, "power", None)
    if isinstance(model.loss, Logistic):
        signed, fixed, middle = design * (2 * targets - 1)[:, None], design[:0], 0.25
    elif isinstance(model.loss, HalfTweedie) and 1 <= power < 2:
        signed, fixed = -design[targets == 0], design[targets > 0]
        middle = np.average(targets, weights=model.weights) ** (2 - power)
    else:
        return None
    scores = design @ model.parameters
    curvatures = model.loss.curvatures(model.loss.means(scores), scores)
    if not len(signed) or curvatures.min() > _FLAT * middle > 0:
        return None
    return rising_direction(signed, fixed)


def rising_direction(signed, fixed):
    """Direction (d,) along which no row of `signed` falls, and some rise, or None.

    The rows of `fixed` stay as they are along it.
    """
    scale = np.abs(np.vstack([signed, fixed])).max(axis=0)
    scale[scale == 0] = 1
    basis = np.eye(len(scale))
    if len(fixed):  # of a triangle: the decomposition is a square of the rows
        basis = null_space(np.linalg.qr(fixed / scale, mode="r"))
    rows = signed / scale @ basis
    if not rows.size:
        return None
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=0 * rows[:, 0], bounds=(-1, 1))
    direction = basis @ found.x / scale
    return direction if (signed @ direction).max() > _APART else None
