"""Checks of explanations: importances, effects and Shapley values.

Each function takes an `Inspection`, whose `need` says what the words behind its title
ask for, and returns a `CheckResult`. `CHECKS` has their public names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret.report._results import CheckResult, NotApplicable, titled
from sklearn_interpret.shapley import ShapleyValues

if TYPE_CHECKING:
    from sklearn_interpret.report._inspection import Inspection

# Thresholds, chosen by hand: benchmarks/bench_report_checks.py counts how often each
# check finds its fault, and how often it warns without one.
_SHARED_VARIANCE = 0.7
_SHARE_OUTSIDE = 0.2  # of permuted rows
_OPPOSITE_SIZE = 0.15  # of curves, in standard deviations of responses
_SPREAD_OVER_FOLDS = 0.2  # relative to the mean importances
_NOISE_IMPORTANCE = 0.45  # relative to the most important column
_SPREAD_OVER_BACKGROUNDS = 0.25  # relative to the mean Shapley values

# Of the Shapley values. Chosen by hand: more of each takes longer, since the model is
# called for every coalition.
_N_BACKGROUNDS = 6
_EXPLAINED_ROWS = 4
_BACKGROUND_ROWS = 100


@titled("Do columns share their importance?", "table columns")
def check_shared_importance(inspection: Inspection) -> CheckResult:
    """R² with which other columns predict an important column."""
    r2_by_column = {
        j: r2_score(column.values, column.predictions, multioutput="variance_weighted")
        for j, column in inspection.predicted_columns.items()
    }
    largest_r2, column = max((r2, j) for j, r2 in r2_by_column.items())
    correlations = np.atleast_2d(np.corrcoef(inspection.ranks, rowvar=False))[column]
    correlations = np.nan_to_num(np.abs(correlations))  # NaN: a constant column
    correlations[column] = -1  # no column is its own most correlated one
    nearest, names = correlations.argmax(), inspection.names
    finding = (
        f"Other columns predict {max(largest_r2, 0):.0%} of the variance (in ranks) of "
        f"{names[column]}, which is most correlated with {names[nearest]} "
        f"({correlations[nearest]:.2f}), and over {_SHARED_VARIANCE:.0%} of that of "
        f"{sum(r2 > _SHARED_VARIANCE for r2 in r2_by_column.values())} of "
        f"{len(r2_by_column)} columns."
    )
    advice = "Permute and explain these as a group: alone, each has what is not shared."
    warns = largest_r2 > _SHARED_VARIANCE
    return CheckResult(largest_r2, _SHARED_VARIANCE, warns, finding, advice)


@titled("Do permuted rows lie outside of the data?", "table columns")
def check_permuted_rows(inspection: Inspection) -> CheckResult:
    """Share of rows with a permuted column that are unlike the data."""
    columns = list(inspection.predicted_columns)[:3]
    share, column = max((_share_outside(inspection, j), j) for j in columns)
    finding = (
        f"If {inspection.names[column]} is permuted, {share:.0%} of the rows are less "
        "like the data than all but 1% of the real rows are."
    )
    advice = "Prefer accumulated local effects and conditional importance for it."
    return CheckResult(share, _SHARE_OUTSIDE, share > _SHARE_OUTSIDE, finding, advice)


def _share_outside(inspection: Inspection, j: int) -> np.float64:
    """Share of rows with column `j` permuted that a classifier finds unlike the data.

    The classifier is also given the distance of column `j` from its prediction by the
    other columns.
    """
    values, predictions = inspection.predicted_columns[j]
    n_rows = len(values)
    donors = np.random.default_rng(inspection.seed).permutation(n_rows)
    real_and_permuted = np.tile(inspection.ranks, (2, 1))
    real_and_permuted[n_rows:, j] = inspection.ranks[donors, j]
    errors = np.vstack([values - predictions, values[donors] - predictions])
    rows = np.column_stack([real_and_permuted, np.abs(errors).sum(axis=1)])
    is_permuted = np.repeat([False, True], n_rows)
    forest = ExtraTreesClassifier(
        30, min_samples_leaf=5, max_features=0.7, random_state=inspection.seed
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=inspection.seed)
    probabilities = cross_val_predict(
        forest, rows, is_permuted, cv=folds, method="predict_proba"
    )[:, 1]
    limit = np.quantile(probabilities[~is_permuted], 0.99)
    return np.mean(probabilities[is_permuted] > limit)


@titled("Do average curves hide opposite ones?", "table columns")
def check_opposite_curves(inspection: Inspection) -> CheckResult:
    """Size of the largest effect that has opposite signs in two regions."""
    effects: Any = inspection.regional_effects
    deviation = max(effects.individual_[0].std(), 1e-300)  # of the responses
    largest_size = 0.0
    finding = "No region reverses the curve of one of the top features."
    for name, regions, curves in zip(
        effects.effect_names_, effects.regions_, effects.curves_, strict=True
    ):
        shapes = (curves - curves.mean(axis=1, keepdims=True)) / deviation
        products = shapes @ shapes.T / shapes.shape[1]
        first, second = np.unravel_index(products.argmin(), products.shape)
        size = np.sqrt(max(-products[first, second], 0.0))
        if size > largest_size:
            largest_size = size
            finding = (
                f"Curves of {name} are opposite for {regions[first]} and for "
                f"{regions[second]}: {size:.2f} standard deviations of responses."
            )
    advice = "Show effects by region, or individual curves, beside the average."
    warns = largest_size > _OPPOSITE_SIZE
    return CheckResult(largest_size, _OPPOSITE_SIZE, warns, finding, advice)


@titled("Are importances stable?", "folds table columns")
def check_importance_stability(inspection: Inspection) -> CheckResult:
    """Standard deviation of importances over refits, relative to their mean."""
    models = [fold.model for fold in inspection.folds]
    rows, top = inspection.row_subsample.rows, inspection.top_columns
    reliances = np.array(
        [inspection.column_reliances(model, rows, top) for model in models]
    )
    means, deviations = reliances.mean(axis=0), reliances.std(axis=0, ddof=1)
    if not means.any():
        raise NotApplicable("The models do not use the most important columns.")
    share = float(np.linalg.norm(deviations) / np.linalg.norm(means))
    worst = deviations.argmax()
    finding = (
        f"Over {len(reliances)} refits, importances deviate by {share:.0%}: permuting "
        f"{inspection.names[top[worst]]} changes predictions by "
        f"{number_text(reliances[:, worst].min())} to "
        f"{number_text(reliances[:, worst].max())}."
    )
    advice = "Show importances with their spread over refits; group similar columns."
    warns = share > _SPREAD_OVER_FOLDS
    return CheckResult(share, _SPREAD_OVER_FOLDS, warns, finding, advice)


@titled("Is noise as important as real columns?", "folds targets table columns")
def check_noise_importance(inspection: Inspection) -> CheckResult:
    """Importance of columns of noise, relative to the most important column."""
    # The least important columns become noise: a model meets as many columns, of the
    # same kinds, as before.
    by_importance = inspection.columns_by_importance
    noise_columns = by_importance[-min(3, len(by_importance) // 2) :]
    real_columns = [j for j in inspection.top_columns if j not in noise_columns]
    sample = inspection.row_subsample
    rows = as_rows(inspection.permute_columns(sample.rows, noise_columns))
    params = inspection.fit_parameters(sample.index)
    model = clone(inspection.folds[0].model).fit(rows.native, sample.y, **params)
    reliances = inspection.column_reliances(model, rows, real_columns)
    of_noise = inspection.column_reliances(model, rows, noise_columns).max()
    if not reliances.any():
        raise NotApplicable("A refit of the model uses no column.")
    share, n_below = of_noise / reliances.max(), sum(reliances < of_noise)
    finding = (
        f"Columns permuted before a refit change its predictions by up to {share:.0%} "
        f"of what the most important column does, and more than {n_below} of the "
        f"{len(real_columns)} most important ones."
    )
    advice = "Do not interpret columns with importances that noise can have."
    warns = share > _NOISE_IMPORTANCE
    return CheckResult(share, _NOISE_IMPORTANCE, warns, finding, advice)


@titled("Do Shapley values depend on the background?", "table")
def check_shapley_background(inspection: Inspection) -> CheckResult:
    """Deviation of Shapley values over random backgrounds, relative to their size."""
    sample, rng = inspection.row_subsample, np.random.default_rng(inspection.seed)
    rows = sample.rows
    n_background = min(_BACKGROUND_ROWS, -(-rows.n_rows // 2))  # at most half
    explained = rows.take(rng.permutation(rows.n_rows)[:_EXPLAINED_ROWS]).native
    shapley = ShapleyValues(
        inspection.frozen, budget=2 * rows.n_columns + 4, **inspection.target_parameters
    )
    values = []
    for _ in range(_N_BACKGROUNDS):
        index = np.sort(rng.permutation(rows.n_rows)[:n_background])
        shapley.fit(rows.take(index).native, sample_weight=sample.weights[index])
        values.append(shapley.transform(explained))
    sizes = np.linalg.norm(np.mean(values, axis=0), axis=1)
    if not sizes.all():
        raise NotApplicable("All Shapley values of a row are 0.")
    deviations = np.linalg.norm(np.std(values, axis=0, ddof=1), axis=1)
    # Draws from few rows vary less than draws from the population.
    share_not_drawn = 1 - n_background / (rows.n_rows + 1)
    share = np.median(deviations / sizes) / np.sqrt(share_not_drawn)
    finding = (
        f"Over {_N_BACKGROUNDS} backgrounds of {n_background} rows, Shapley values of "
        f"a row deviate by {share:.0%} of their size."
    )
    advice = "Take a larger background, or one chosen for the question that is asked."
    warns = share > _SPREAD_OVER_BACKGROUNDS
    return CheckResult(share, _SPREAD_OVER_BACKGROUNDS, warns, finding, advice)
