"""Complete separation of classes, or of zero counts, by a linear score.

The likelihood has no maximum at finite parameters then (Albert & Anderson, 1984;
Correia, Guimarães & Zylkin, 2019).
"""

from __future__ import annotations

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

# Separation is looked for where a curvature is below this share of the curvature
# without effects: for classes, at log-odds beyond 15.
FLAT = 1e-6
# Rows this far from the plane, in units of the largest entries, are separated: linear
# programs are solved to 1e-7.
_SEPARATED = 1e-4
# Share of the largest residual from which residuals count, and share of the largest
# eigenvalue from which eigenvalues are not rounding errors.
_LARGE, _DETERMINED = 1e-3, 1e-10


def rules_out_separation(
    model: ScoreModel[RegressionLoss], parameters: NDArray[np.float64]
) -> bool:
    """Whether residuals at the optimal parameters (d,) prove that nothing separates.

    Every residual has the sign of its row's class, and at the optimum their products
    with the columns sum to zero. A direction in which no row loses is then one in which
    no row gains (Stiemke's lemma). So it changes no row with a large residual, and if
    these determine all parameters, it is zero; up to rounding, which is bounded here.
    """
    design = model.design / _largest_entries(model.design)
    scores = model.scores_at(parameters[:, None])
    residuals = model.weights * model.loss.slopes(model.targets, scores)[:, 0]
    least = _LARGE * np.abs(residuals).max()
    rows = design[np.abs(residuals) >= least]
    eigenvalues = np.linalg.eigvalsh(rows.T @ rows)
    if not eigenvalues[0] > _DETERMINED * eigenvalues[-1]:
        return False
    length = np.abs(residuals @ design).sum() / least / np.sqrt(eigenvalues[0])
    return bool(np.sqrt(design.shape[1]) * length < _SEPARATED)


def without_separated_rows(
    model: ScoreModel[RegressionLoss],
) -> ScoreModel[RegressionLoss]:
    """The `ScoreModel` of the rows that no direction separates.

    The rows left out have a likelihood of one at infinite weights, so that the other
    rows alone determine the likelihood.
    """
    while len(model.design):
        remaining = ~_find_separated_rows(model)
        if remaining.all():
            break
        model = model.part(remaining)
        if remaining.any():
            model = model.at_optimum()
    return model


def _find_separated_rows(model: ScoreModel[RegressionLoss]) -> NDArray[np.bool_]:
    """Mask (n,) of rows whose likelihood a direction raises while it lowers none.

    The model has the parameters with which Newton's method has ended.
    """
    design, targets = model.design, model.targets[:, 0]
    separated = np.zeros(len(design), dtype=bool)
    # `separable` rows have a likelihood that may rise to one; `signed` are these rows
    # of the design, with signs such that it rises with the score. The scores of other
    # rows must stay. `usual_curvature` is the loss's curvature without effects.
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

    The scores of the rows of `fixed` do not change along it.
    """
    scale = _largest_entries(np.vstack([signed, fixed]))
    basis = np.eye(len(scale))
    if len(fixed):  # the null space of the triangular factor, which is small
        basis = null_space(np.linalg.qr(fixed / scale, mode="r"))
    rows = signed / scale @ basis
    if not rows.size:
        return None
    zeros = np.zeros(len(rows))
    solution = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=zeros, bounds=(-1, 1))
    direction = basis @ solution.x / scale
    return direction if (signed @ direction).max() > _SEPARATED else None


def _largest_entries(design: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest size of each column's entries (d,), one for columns of zeros."""
    largest: NDArray[np.float64] = np.abs(design).max(axis=0)
    return np.where(largest > 0, largest, 1)
