"""Complete separation of classes, or of zero counts, by a linear score.

The likelihood has no maximum at finite parameters then (Albert & Anderson, 1984;
Correia, Guimarães & Zylkin, 2019).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.statistics.score_losses import (
    HalfTweedie,
    Logistic,
    RegressionLoss,
)

# Separation is looked for where a curvature is below this share of that without
# effects: of classes, at log-odds beyond 15.
FLAT = 1e-6
# Rows this far from the plane, in units of the largest entries, are separated: linear
# programs are solved to 1e-7.
_SEPARATED = 1e-4


def without_separated_rows(
    model: ScoreModel[RegressionLoss],
) -> ScoreModel[RegressionLoss]:
    """The `ScoreModel` of the rows that no direction separates.

    The rows left out have a likelihood of one at infinite weights, so that the
    likelihood is that of the others.
    """
    while len(model.design):
        remaining = ~_separated(model)
        if remaining.all():
            break
        model = replace(
            model,
            design=model.design[remaining],
            targets=model.targets[remaining],
            weights=model.weights[remaining],
            offsets=model.offsets_of(remaining),
        )
        if remaining.any():
            model = model.polished()
    return model


def _separated(model: ScoreModel[RegressionLoss]) -> NDArray[np.bool_]:
    """Rows (n,) along which some direction raises the likelihood, and none falls.

    The parameters are those that Newton's method has ended with.
    """
    design, targets = model.design, model.targets[:, 0]
    separated = np.zeros(len(design), dtype=bool)
    # Rows whose likelihood may rise to one, `signed` so that it rises with the score;
    # the score of others must stay. And the curvature of the loss without effects.
    if isinstance(model.loss, Logistic):
        separable, usual_curvature = ~separated, 0.25
        signed = design * (2 * targets - 1)[:, None]
    elif isinstance(model.loss, HalfTweedie) and 1 <= model.loss.power < 2:
        separable = targets == 0
        signed = -design[separable]
        mean = np.average(targets, weights=model.weights)
        usual_curvature = float(mean ** (2 - model.loss.power))
    else:
        return separated
    scores = model.scores_at(model.parameters)
    curvatures = model.loss.curvatures(model.loss.means(scores), scores)
    if not separable.any() or curvatures.min() > FLAT * usual_curvature > 0:
        return separated
    direction = rising_direction(signed, design[~separable])
    if direction is not None:
        separated[separable] = signed @ direction > _SEPARATED
    return separated


def rising_direction(
    signed: NDArray[np.float64], fixed: NDArray[np.float64]
) -> NDArray[np.float64] | None:
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
    zeros = np.zeros(len(rows))
    solution = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=zeros, bounds=(-1, 1))
    direction = basis @ solution.x / scale
    return direction if (signed @ direction).max() > _SEPARATED else None
