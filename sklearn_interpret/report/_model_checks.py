"""Checks of a model, its score and its columns.

Each function takes an `Inspection`, whose `need` says what the words behind its title
ask for, and returns a `CheckResult`. `CHECKS` has their public names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._core.statistics.covariance_tests import one_sided_test
from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret.report._inspection import MOST_ROWS
from sklearn_interpret.report._results import CheckResult, NotApplicable, titled

if TYPE_CHECKING:
    from sklearn_interpret.report._inspection import Inspection

# Thresholds, chosen by hand: benchmarks/bench_report_checks.py counts how often each
# check finds its fault, and how often it warns without one.
_CHANCE_PVALUE = 0.01
_TARGETS_PER_PREDICTION = 0.9  # slope of targets over predictions
_LOSS_GAP = 0.1  # between held-out and training rows, in losses of a constant
_SHARE_OF_SKILL = 0.95  # that one column has alone
_SKILL_OF_LEAKAGE = 0.9
_SHARE_OUT_OF_RANGE = 0.01
_RECALIBRATION = 0.05  # mean change of probabilities
_RECALIBRATION_PVALUE = 0.01
_SHARE_OF_EVEN_CLASSES = 0.1  # of the share that classes of one size have
_SHARE_OFF_CURVES = 0.15  # of the variance between levels
_OFF_CURVES_PVALUE = 0.001

# Numbers of levels of columns that may hold codes; rarer levels are not counted.
_FEWEST_LEVELS = 3
_MOST_LEVELS = 20
_LEAST_LEVEL_ROWS = 5

# Probabilities are recalibrated between this and one minus this: otherwise a single row
# of probability zero would decide.
_LEAST_PROBABILITY = 1e-3
# Divisors are at least this: results are finite where a variance is zero.
_TINY = 1e-300


class _LackOfOrder(NamedTuple):
    """How far the target's means at a column's values are from any simple curve.

    Their order is that of the fields: the column that lacks order most is the largest.
    """

    is_significant: bool
    share_of_variance: float
    pvalue: float
    column: int


def _held_out_targets(
    inspection: Inspection,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Held-out targets as columns, 0/1 for each class, and weights with the mean 1."""
    rows = inspection.held_out_positions
    weights = inspection.sample.weights[rows]
    targets = inspection.target_columns(inspection.sample.y[rows])
    return targets, weights / weights.mean()


def _centre_columns(
    columns: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Columns minus their weighted means."""
    return columns - np.average(columns, axis=0, weights=weights)


@titled("Does the model predict better than chance?", "targets")
def check_chance(inspection: Inspection) -> CheckResult:
    """P-value of a gain over predictions that ignore the features."""
    targets, weights = _held_out_targets(inspection)
    if inspection.classifies:
        responses = inspection.held_out_responses
        centred_responses = _centre_columns(responses, weights)
        centred_targets = _centre_columns(targets, weights)
        gains = (centred_responses * centred_targets).sum(axis=1)
        of_class = np.average((responses * targets).sum(axis=1), weights=weights)
        at_random = of_class - np.average(gains, weights=weights)
        finding = (
            f"Held-out rows give their class a probability of {of_class:.3f} on "
            f"average, and of {at_random:.3f} at random"
        )
    else:
        gains = inspection.mean_over_folds(inspection.dummy_losses)
        gains -= inspection.held_out_losses
        ratio = 1 - inspection.skill(inspection.losses_by_fold)
        finding = f"The held-out squared error is {ratio:.3f} times that of the mean"
    # Weights as numbers of independent rows (Kish). Two rows meet twice, each in the
    # training rows of the other, which doubles the variance of the mean.
    _, pvalue = one_sided_test(gains, weights / np.mean(weights**2) / 2)
    advice = "Explain no model that has learned nothing: look for better features."
    finding = f"{finding} (p = {pvalue:.2g})."
    warns = not pvalue < _CHANCE_PVALUE
    return CheckResult(pvalue, _CHANCE_PVALUE, warns, finding, advice)


@titled("Does the model follow the noise of its training rows?", "folds targets")
def check_overfit(inspection: Inspection) -> CheckResult:
    """Slope of held-out targets along predictions: below 1 if a model follows noise."""
    targets, weights = _held_out_targets(inspection)
    targets = _centre_columns(targets, weights)
    responses = _centre_columns(inspection.held_out_responses, weights)
    # The fourth powers of large targets would overflow.
    largest = np.abs(targets).max() or 1.0
    targets, responses = targets / largest, responses / largest
    squares = (weights @ responses**2).sum()
    if not squares > 0.01 * (weights @ targets**2).sum():
        raise NotApplicable("The predictions hardly vary.")
    slope = (weights @ (targets * responses)).sum() / squares
    scores = ((targets - slope * responses) * responses).sum(axis=1)
    # The upper end of a 95 % interval: few rows are no reason to blame the model.
    upper = slope + 1.645 * np.sqrt(weights**2 @ scores**2) / squares
    held_out = 1 - inspection.skill(inspection.losses_by_fold)
    reference = inspection.mean_loss(inspection.dummy_losses)
    training = _training_loss(inspection) / reference
    finding = (
        f"The loss is {training:.3f} times that of a constant prediction on training "
        f"rows and {held_out:.3f} times on held-out rows, where targets differ "
        f"{slope:.2f} times as much as predictions (at most {upper:.2f})."
    )
    advice = "Regularise the model, or give it fewer features or more rows."
    warns = upper < _TARGETS_PER_PREDICTION and held_out - training > _LOSS_GAP
    return CheckResult(upper, _TARGETS_PER_PREDICTION, warns, finding, advice)


def _training_loss(inspection: Inspection) -> np.floating:
    """Mean loss of the folds' models on rows that they were fitted on."""
    means = []
    for fold in inspection.folds:
        rows = fold.train[:: -(-len(fold.train) // MOST_ROWS)]
        losses = inspection.losses_of(fold.model, rows)
        means.append(np.average(losses, weights=inspection.sample.weights[rows]))
    return np.mean(means)


@titled("Does one column give the target away?", "table columns targets folds")
def check_leakage(inspection: Inspection) -> CheckResult:
    """Skill of a small model of one column, relative to that of the model."""
    skill = inspection.skill(inspection.losses_by_fold)
    tree = DecisionTreeRegressor(max_depth=7, min_samples_leaf=3)
    if inspection.classifies:
        tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5)
    single_skill, column = max(
        (inspection.skill(losses), j)
        for j in inspection.top_columns[:3]
        for losses in inspection.refit_losses(
            tree, inspection.linear_model[-1], encoder=inspection.encoder([j])
        )
    )
    share = single_skill / skill if skill > 0 else 0.0
    finding = (
        f"With {inspection.names[column]} alone, the loss of held-out rows is "
        f"{1 - single_skill:.3f} times that of a constant prediction, and with all "
        f"columns {1 - skill:.3f} times."
    )
    advice = "Leave this column out if it is not known when predictions are made."
    warns = share >= _SHARE_OF_SKILL and single_skill >= _SKILL_OF_LEAKAGE
    return CheckResult(share, _SHARE_OF_SKILL, warns, finding, advice)


@titled("Are all predictions possible?", "targets numbers")
def check_range(inspection: Inspection) -> CheckResult:
    """Share of predictions far outside the range of the targets."""
    low, high = inspection.sample.y.min(), inspection.sample.y.max()
    width = high - low
    lower_limit, upper_limit = low - width / 10, high + width / 10
    # Targets that stop at 0 or 1 may be amounts or shares, which have no margin.
    if 0 <= low < width / 10:
        lower_limit = -width / 100
        upper_limit = 1.01 if 1 - width / 10 < high <= 1 else upper_limit
    weights = inspection.sample.weights[inspection.held_out_positions]
    weighted_responses = [(inspection.held_out_responses, weights)]
    if inspection.is_table:
        sample, top = inspection.row_subsample, inspection.top_columns[:5]
        permuted = inspection.responses_to_permuted(inspection.model, sample.rows, top)
        weighted_responses += [(responses, sample.weights) for responses in permuted]
    shares = []
    for responses, weights in weighted_responses:
        is_outside = (responses[:, 0] < lower_limit) | (responses[:, 0] > upper_limit)
        shares.append(np.average(is_outside, weights=weights))
    finding = (
        f"{shares[0]:.1%} of the held-out predictions, and up to {max(shares):.1%} "
        f"with a column permuted, are not in {number_text(lower_limit, 4)} "
        f"to {number_text(upper_limit, 4)}; targets are in "
        f"{number_text(low, 4)} to {number_text(high, 4)}."
    )
    advice = "Transform the target, or take a model whose loss and link suit its range."
    warns = max(shares) > _SHARE_OUT_OF_RANGE
    return CheckResult(max(shares), _SHARE_OUT_OF_RANGE, warns, finding, advice)


@titled("Do probabilities agree with what happens?", "classes targets")
def check_calibration(inspection: Inspection) -> CheckResult:
    """Mean change of probabilities by logistic recalibration (Cox 1958)."""
    if not inspection.scoring:
        raise NotApplicable("The model has no probabilities.")
    targets, weights = _held_out_targets(inspection)
    responses = inspection.held_out_responses
    # The event is the second of two classes; of more, that the prediction is right.
    if targets.shape[1] > 2:
        predicted = responses.argmax(axis=1)[:, None]
        targets, responses = (
            np.take_along_axis(x, predicted, axis=1) for x in (targets, responses)
        )
    events = targets[:, -1]
    if np.ptp(events) == 0:
        raise NotApplicable("All held-out rows are of one kind.")
    probabilities = np.clip(
        responses[:, -1], _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY
    )
    logits = special.logit(probabilities)[:, None]
    # Weights as numbers of independent rows (Kish).
    weights = weights / np.mean(weights**2)
    curve = LogisticRegression(C=np.inf).fit(logits, events, sample_weight=weights)
    recalibrated = curve.predict_proba(logits)[:, 1]
    before, after = (
        special.xlogy(events, p) + special.xlog1py(1 - events, -p)
        for p in (probabilities, recalibrated)
    )
    likelihood_ratio = 2 * weights @ (after - before)
    # With few rows, a chi-squared test would reject too many calibrated models.
    pvalue = stats.f.sf(likelihood_ratio / 2, 2, max(weights.sum() - 2, 1))
    mean_change = np.average(np.abs(recalibrated - probabilities), weights=weights)
    finding = (
        f"A logistic curve that makes held-out probabilities agree with the classes "
        f"moves them by {mean_change:.3f} on average (p = {pvalue:.2g})."
    )
    advice = "Calibrate the model (CalibratedClassifierCV) before using probabilities."
    warns = mean_change > _RECALIBRATION and pvalue < _RECALIBRATION_PVALUE
    return CheckResult(mean_change, _RECALIBRATION, warns, finding, advice)


@titled("Is a class rare?", "classes targets")
def check_imbalance(inspection: Inspection) -> CheckResult:
    """Share of the rarest class."""
    targets, weights = _held_out_targets(inspection)
    shares = np.average(targets, axis=0, weights=weights)
    rarest, threshold = shares.argmin(), _SHARE_OF_EVEN_CLASSES / len(shares)
    is_predicted = inspection.held_out_responses.argmax(axis=1) == rarest
    frequency = "no rows."
    if shares[rarest] > 0:
        recall = np.average(is_predicted, weights=targets[:, rarest] * weights)
        frequency = f"{shares[rarest]:.1%} of the rows, and {recall:.0%} of them are "
        frequency += "predicted when held out."
    finding = f"The class {inspection.model.classes_[rarest]} has {frequency}"
    advice = "Judge the model by recall and precision of this class, and weigh classes."
    warns = shares[rarest] < threshold
    return CheckResult(shares[rarest], threshold, warns, finding, advice)


@titled("Are codes taken for numbers?", "table targets")
def check_ordinal_codes(inspection: Inspection) -> CheckResult:
    """Share of variance between codes that no curve along the codes explains."""
    rows = inspection.row_subsample.rows
    numbers = np.flatnonzero(rows.are_numbers & ~rows.detected_categorical).tolist()
    lacks = [
        _measure_lack_of_order(inspection, j)
        for j in numbers
        if _has_codes(inspection, j)
    ]
    if not lacks:
        raise NotApplicable(
            f"No column of numbers has {_FEWEST_LEVELS} to {_MOST_LEVELS} whole values."
        )
    _, share, pvalue, column = max(lacks)
    finding = (
        f"Of the target's variance between values of {inspection.names[column]}, "
        f"{share:.0%} follows no curve along these values (p = {pvalue:.2g})."
    )
    advice = "If the values are codes, see that the model takes them as categories."
    warns = share > _SHARE_OFF_CURVES and pvalue < _OFF_CURVES_PVALUE
    return CheckResult(share, _SHARE_OFF_CURVES, warns, finding, advice)


def _has_codes(inspection: Inspection, j: int) -> bool:
    """Whether column `j` has whole numbers, few of them, each often enough."""
    values, counts = np.unique(inspection.subsample_codes[:, j], return_counts=True)
    n_levels = (counts >= _LEAST_LEVEL_ROWS).sum()
    has_few_levels = _FEWEST_LEVELS <= n_levels <= _MOST_LEVELS
    return bool(has_few_levels and np.all(values % 1 == 0))


def _measure_lack_of_order(inspection: Inspection, j: int) -> _LackOfOrder:
    """F test of the variance between values of column `j` that no curve explains.

    Curves are monotone, or polynomials. Linear effects of the other columns are removed
    first.
    """
    sample, column = inspection.row_subsample, inspection.subsample_codes[:, j]
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    is_used = counts[codes] >= _LEAST_LEVEL_ROWS
    values, codes = np.unique(column[is_used], return_inverse=True)
    indicators = np.eye(len(values))[codes]
    design = np.hstack([indicators, np.delete(inspection.ranks[is_used], j, axis=1)])
    weights = sample.weights[is_used, None] / sample.weights.mean()
    targets = inspection.target_columns(sample.y)[is_used]
    scale = np.sqrt(weights)
    coefficients = np.linalg.lstsq(design * scale, targets * scale, rcond=None)[0]
    residual_squares = (weights * (targets - design @ coefficients) ** 2).sum()
    noise = residual_squares / max(len(targets) - design.shape[1], 1)
    effects = coefficients[: len(values)]
    level_weights = (weights * indicators).sum(axis=0)
    lacks = []  # sums of squares off each curve, by output
    for effect in effects.T:
        curves = _nearest_curves(values, effect, level_weights)
        lacks.append([level_weights @ (effect - curve) ** 2 for curve in curves])
    lack = np.sum(lacks, axis=0).min()
    total = (level_weights @ _centre_columns(effects, level_weights) ** 2).sum()
    degrees = len(values) - 2
    pvalue = stats.f.sf(lack / degrees / max(noise, _TINY), degrees, len(targets))
    share = lack / max(total, _TINY)
    return _LackOfOrder(pvalue < _OFF_CURVES_PVALUE, share, pvalue, j)


def _nearest_curves(
    values: NDArray[np.float64],
    effects: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[Any], ...]:
    """The polynomial, the rising and the falling curve nearest to effects."""
    degree = min(len(values) - 2, 2 if len(values) < 8 else 3)
    coefficients = np.polyfit(values, effects, degree, w=np.sqrt(weights))
    rising = isotonic_regression(effects, sample_weight=weights)
    falling = -isotonic_regression(-effects, sample_weight=weights)
    return np.polyval(coefficients, values), rising, falling
