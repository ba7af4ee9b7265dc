"""Complete separation of classes, or of zero counts, by a linear score.

The likelihood has no maximum at finite parameters then (Albert & Anderson, 1984;
Correia, Guimarães & Zylkin, 2019).
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from sklearn_interpret._core.statistics.score_losses import HalfTweedie, Logistic

# Separation is sought where a curvature is below this part of that without effects;
# rows this far from the plane, in units of the largest entries, are separated.
FLAT, _APART = 1e-6, 1e-4


def without_separated_rows(model: Any) -> Any:
    """The `ScoreModel` of the rows that no direction separates.

    The rows left out have a likelihood of one at infinite weights, so that the
    likelihood is that of the others.
    """
    while len(model.design):
        kept = ~_separated(model)
        if kept.all():
            break
        model = replace(
            model,
            design=model.design[kept],
            targets=model.targets[kept],
            weights=model.weights[kept],
            offsets=model.offsets_of(kept),
        )
        if kept.any():
            model = model.polished()
    return model


def _separated(model: Any) -> Any:
    """Rows (n,) along which some direction raises the likelihood, and none falls.

    The parameters are those that Newton's method has ended with.
    """
    design, targets = model.design, model.targets[:, 0]
    separated = np.zeros(len(design), dtype=bool)
    power = getattr(model.loss, "power", None)
    if isinstance(model.loss, Logistic):
        free, middle = ~separated, 0.25
        signed = design * (2 * targets - 1)[:, None]
    elif isinstance(model.loss, HalfTweedie) and 1 <= power < 2:
        free = targets == 0
        signed = -design[free]
        middle = np.average(targets, weights=model.weights) ** (2 - power)
    else:
        return separated
    scores = model.scores_at(model.parameters)
    curvatures = model.loss.curvatures(model.loss.means(scores), scores)
    if not free.any() or curvatures.min() > FLAT * middle > 0:
        return separated
    direction = rising_direction(signed, design[~free])
    if direction is not None:
        separated[free] = signed @ direction > _APART
    return separated


def rising_direction(signed: Any, fixed: NDArray[np.float64]) -> Any:
    """Direction (d,) along which no row of `signed` falls, and some rise, or None.

    The rows of `fixed` stay as they are along it.
    """
    scale = np.abs(np.vstack([signed, fixed])).max(axis=0)
    scale[scale == 0] = 1
    basis = np.eye(len(scale))
    if len(fixed):  # of the triangular factor, which is small
        basis = null_space(np.linalg.qr(fixed / scale, mode="r"))
    rows = signed / scale @ basis
    if not rows.size:
        return None
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=0 * rows[:, 0], bounds=(-1, 1))
    direction = basis @ found.x / scale
    return direction if (signed @ direction).max() > _APART else None
