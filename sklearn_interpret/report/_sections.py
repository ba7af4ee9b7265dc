"""Sections of a report on the whole model, in the order of the report.

Each function takes an `Inspection` and returns a summary, figures and tables.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibrationDisplay
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    PredictionErrorDisplay,
    accuracy_score,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from sklearn_interpret._model.responses.predictors import weight_parameter
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.number_format import (
    column_texts,
    number_text,
    value_text,
)
from sklearn_interpret.effects import (
    AccumulatedLocalEffectsDisplay,
    RegionalEffectDisplay,
)
from sklearn_interpret.importance import (
    SAGE,
    DropColumnImportance,
    PermutationImportanceDisplay,
)
from sklearn_interpret.interactions import (
    FunctionalDecomposition,
    FunctionalDecompositionDisplay,
    InteractionNetworkDisplay,
)
from sklearn_interpret.report._model_checks import check_chance
from sklearn_interpret.report._page import drawn
from sklearn_interpret.report._results import (
    NotApplicable,
    SectionResult,
    Table,
    join_names,
    titled,
)
from sklearn_interpret.surrogates import GlobalSurrogate, GlobalSurrogateDisplay

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.report._inspection import Inspection
    from sklearn_interpret.report._results import Figure

# Features with a SAGE value of their own: each doubles the number of coalitions.
_SAGE_FEATURES = 5
# Test rows of each fold, and background rows, of SAGE. Chosen by hand: the model is
# called for each pair of them and each coalition.
_SAGE_ROWS = 200
_SAGE_BACKGROUND = 50
# Bins of probabilities, with a tenth of the rows each, as those of scikit-learn.
_N_BINS = 10
# Most outputs whose effects are put in words.
_MOST_OUTPUTS = 3
# The code that a section shows.
_PERMUTATION_CODE = "PermutationImportanceDisplay.from_cv_results(cv_results, X, y)"
_SAGE_CODE = "SAGE(FrozenEstimator(model)).fit(X, y).feature_importances_"
_DECOMPOSITION_CODE = (
    "FunctionalDecomposition(FrozenEstimator(model)).fit(X).explain(X)"
)


@titled("Model and data")
def overview(inspection: Inspection) -> SectionResult:
    """Columns, scores against simple models, predictions against targets."""
    rows = inspection.sample.rows
    contents: list[Figure | Table] = []
    size = f"{rows.n_rows:,} rows"
    if inspection.is_table:
        noun = "feature" if rows.n_columns == 1 else "features"
        size += f", {rows.n_columns} {noun}"
        contents.append(_feature_table(rows, inspection.object_columns))
    test_rows = "rows not seen in training" if inspection.folds else "the rows given"
    if not inspection.has_targets:
        summary = f"The model was inspected on {size}."
        if inspection.sample.y is not None:
            summary += " Targets have several values, and scores are of one."
            if inspection.has_scores:
                own = [each.baseline_score_ for each in inspection.importances]
                text = number_text(float(np.mean(own)))
                summary += f" The model's own score is {text} on {test_rows}."
        return SectionResult(summary, contents)
    scores = _held_out_scores(inspection)
    losses, skills = _loss_table(inspection)
    columns: dict[str, Any] = {"score": list(scores)}
    columns["mean"] = [np.nanmean(by_fold) for by_fold in scores.values()]
    for k in range(len(inspection.folds)):
        columns[f"fold {k + 1}"] = [by_fold[k] for by_fold in scores.values()]
    table = Table(columns, "Scores of the model")
    contents = [table, losses, *_prediction_figures(inspection), *contents]
    texts = _score_texts(scores)
    score_text = f"has {join_names(texts)}: it " if texts else ""
    loss = "log loss" if inspection.classifies else "squared error"
    skill_text = _skill_text(skills["the model"], skills.get("a linear model"), loss)
    summary = f"On {test_rows} ({size}), the model {score_text}{skill_text}."
    code = "cross_validate(model, X, y, cv=cv, return_estimator=True)"
    return SectionResult(summary, contents, code)


def _skill_text(skill: float, linear_skill: float | None, loss: str) -> str:
    """The skill of the model, and of a linear model if there is one, in words."""
    if skill > 0:
        text = f"removes {skill:.0%} of the {loss} of a model without features"
        if linear_skill is None:
            return text
        return f"{text}; a linear model {max(0.0, linear_skill):.0%}"
    text = "predicts no better than a model without features"
    if linear_skill is None:
        return text
    if linear_skill > 0:
        return f"{text}; a linear model removes {linear_skill:.0%} of its {loss}"
    return f"{text}; nor does a linear model"


def _accuracy(y: Any, responses: Any, classes: Any, weights: Any) -> float:
    return accuracy_score(y, classes[responses.argmax(axis=1)], sample_weight=weights)


def _roc_auc(y: Any, responses: Any, classes: Any, weights: Any) -> float:
    """Area under the curve of two classes, or mean of each class against the rest."""
    scores = responses[:, 1] if len(classes) == 2 else responses
    return roc_auc_score(
        y, scores, labels=classes, multi_class="ovr", sample_weight=weights
    )


def _r2(y: Any, responses: Any, classes: Any, weights: Any) -> float:
    return r2_score(y, responses[:, 0], sample_weight=weights)


def _root_mean_squared_error(
    y: Any, responses: Any, classes: Any, weights: Any
) -> float:
    error = root_mean_squared_error(y, responses[:, 0], sample_weight=weights)
    return error if error > 1e-12 * np.abs(y).max() else 0.0  # rounding errors


def _held_out_scores(inspection: Inspection) -> dict[str, NDArray[np.float64]]:
    """The usual scores by name, each (n_folds,), NaN in folds where it is undefined."""
    metrics: dict[str, Callable[..., float]] = {
        "R²": _r2,
        "RMSE": _root_mean_squared_error,
    }
    classes = None
    if inspection.classifies:
        metrics, classes = {"accuracy": _accuracy}, inspection.model.classes_
        if inspection.scoring:
            metrics["ROC AUC"] = _roc_auc
    scores = {name: np.full(len(inspection.test_folds), np.nan) for name in metrics}
    for k, fold in enumerate(inspection.test_folds):
        y = inspection.sample.y[fold.test]
        responses = inspection.responses_by_fold[k]
        weights = inspection.sample.weights[fold.test]
        for name, metric in metrics.items():
            # Scores of one row, or of rows without a class, may be undefined.
            with suppress(ValueError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores[name][k] = metric(y, responses, classes, weights)
    return {
        name: by_fold for name, by_fold in scores.items() if np.isfinite(by_fold).any()
    }


def _score_texts(scores: dict[str, NDArray[np.float64]]) -> list[str]:
    """Each score, with its range over folds."""
    texts = []
    for name, by_fold in scores.items():
        finite = by_fold[np.isfinite(by_fold)]
        mean, low, high = column_texts([finite.mean(), finite.min(), finite.max()])
        spread = f" ({low} to {high} over folds)" if len(finite) > 1 else ""
        texts.append(f"{name} {mean}{spread}")
    return texts


def _loss_table(inspection: Inspection) -> tuple[Table, dict[str, float]]:
    """Held-out losses of the model and of simple models, and the skill of each."""
    losses = {"the model": inspection.losses_by_fold}
    if inspection.is_table and inspection.folds:
        (losses["a linear model"],) = inspection.refit_losses(inspection.linear_model)
    losses["no features"] = inspection.dummy_losses
    skills = {name: inspection.skill(by_fold) for name, by_fold in losses.items()}
    columns: dict[str, Any] = {
        "model": list(losses),
        "mean loss": [inspection.mean_loss(by_fold) for by_fold in losses.values()],
        "removed": [f"{skill:.1%}" for skill in skills.values()],
    }
    for k, fold in enumerate(inspection.folds):
        weights = inspection.sample.weights[fold.test]
        columns[f"fold {k + 1}"] = [
            np.average(by_fold[k], weights=weights) for by_fold in losses.values()
        ]
    kind = "minus log probability" if inspection.classifies else "squared error"
    return Table(columns, f"Mean loss ({kind})"), skills


def _prediction_figures(inspection: Inspection) -> list[Figure]:
    """Held-out predictions against targets; residuals, or calibration."""
    if inspection.classifies:
        confusion = _confusion_figure(inspection)
        calibration = [_calibration_figure(inspection)] if inspection.scoring else []
        return [confusion, *calibration]
    y = inspection.sample.y[inspection.held_out_positions]
    captions = {
        "actual_vs_predicted": "Targets against predictions of held-out rows",
        "residual_vs_predicted": "Residuals against predictions of held-out rows",
    }
    displays = [
        PredictionErrorDisplay.from_predictions(
            y,
            inspection.held_out_responses[:, 0],
            kind=kind,
            subsample=500,
            random_state=0,
            ax=_make_axes(),
            line_kwargs={"color": _text_colour()},
        )
        for kind in captions
    ]
    return list(map(drawn, displays, captions.values()))


def _make_axes() -> Any:
    """The axes of a new figure."""
    plt = import_module("matplotlib.pyplot")
    return plt.subplots(figsize=(5, 4.2), layout="constrained")[1]


def _text_colour() -> str:
    """Colour of lines: scikit-learn's black is not seen on a black page."""
    return import_module("matplotlib.pyplot").rcParams["text.color"]


def _confusion_figure(inspection: Inspection) -> Figure:
    """Confusion matrix of the held-out rows."""
    classes = inspection.model.classes_
    display = ConfusionMatrixDisplay.from_predictions(
        inspection.sample.y[inspection.held_out_positions],
        classes[inspection.held_out_responses.argmax(axis=1)],
        labels=classes,
        sample_weight=inspection.sample.weights[inspection.held_out_positions],
        normalize="true",
        values_format=".0%",
        ax=_make_axes(),
        colorbar=False,
        cmap="Blues",
        xticks_rotation="vertical" if len(classes) > 4 else "horizontal",
    )
    caption = "Predicted classes of held-out rows, as shares of each class"
    return drawn(display, caption)


def _calibration_figure(inspection: Inspection) -> Figure:
    """Share of a class against its predicted probability, of the held-out rows."""
    classes, positions = inspection.model.classes_, inspection.held_out_positions
    column = classes.tolist().index(inspection.target) if len(classes) > 2 else -1
    probabilities = inspection.held_out_responses[:, column]
    shares, means = _shares_by_probability(
        inspection.sample.y[positions] == classes[column],
        probabilities,
        inspection.sample.weights[positions],
    )
    display = CalibrationDisplay(shares, means, probabilities).plot(ax=_make_axes())
    of_class = f"of class {classes[column]}"
    display.ax_.set(
        xlabel=f"Mean predicted probability {of_class}", ylabel=f"Share {of_class}"
    )
    display.ax_.get_legend().remove()
    display.ax_.lines[0].set_color(_text_colour())
    caption = f"Share {of_class} against its predicted probability, held-out rows"
    return drawn(display, caption)


def _shares_by_probability(
    is_class: NDArray[np.bool_],
    probabilities: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Share of the class and mean probability in bins of probability, (2, n_bins)."""
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, _N_BINS + 1)))
    bins = np.searchsorted(edges[1:-1], probabilities)
    total = np.bincount(bins, weights)
    has_rows = total > 0
    sums = [np.bincount(bins, weights * x) for x in (is_class, probabilities)]
    return np.array(sums)[:, has_rows] / total[has_rows]


def _feature_table(rows: Rows, object_columns: set[int]) -> Table:
    """Kind, missing values and range of each column; the kind alone of objects."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("kind", "missing", "distinct", "values")
    }
    for j in range(rows.n_columns):
        if j in object_columns:
            for name, cells in columns.items():
                cells.append("object" if name == "kind" else None)
            continue
        codes, labels = rows.encode_column(j)
        counts = np.bincount(codes, minlength=len(labels))
        missing = np.array([is_missing(label) for label in labels])
        present = np.flatnonzero(counts * ~missing)  # codes of levels with rows
        is_number = rows.are_numbers[j] and not rows.is_categorical(j)
        values = ""
        if is_number:
            ends = (*present[:1], *present[-1:])  # empty if all values are missing
            values = " to ".join(value_text(labels[code]) for code in ends)
        elif len(present):
            values = f"most often {labels[present[counts[present].argmax()]]}"
        kind = "number" if rows.dates(j) is None else "date"
        columns["kind"].append(kind if is_number else "category")
        columns["missing"].append(f"{counts[missing].sum() / rows.n_rows:.1%}")
        columns["distinct"].append(len(present))
        columns["values"].append(values)
    return Table({"feature": rows.names, **columns}, "Features")


@titled("What matters", "table scores")
def importance(inspection: Inspection) -> SectionResult:
    """Permutation importance over folds, SAGE values, and drop-column importance."""
    names, by_fold = inspection.names, inspection.fold_importances
    means, widths = by_fold.mean(axis=0), inspection.half_width(by_fold)
    display = PermutationImportanceDisplay(
        by_fold.T,
        feature_names=names,
        importance_name="Permutation importance",
        draws_name="folds" if inspection.folds else "parts of the rows",
    ).plot(max_entries=inspection.max_features)
    change = "Fall of the model's held-out score"
    if inspection.scoring:
        change = "Rise of the held-out log loss"
    caption = f"{change} when a feature is permuted"
    # One-sided at 5 % for the largest of all columns (Bonferroni).
    limits = inspection.half_width(by_fold, level=1 - 0.1 / len(names))
    order = np.argsort(-means, kind="stable").tolist()
    significant = [j for j in order if means[j] > limits[j]]
    features = order[: inspection.max_features]
    columns = {
        "feature": [names[j] for j in features],
        "permutation": [means[j] for j in features],
        "± (permutation)": [widths[j] for j in features],
        **_sage_columns(inspection, features),
        **_drop_columns(inspection, features),
    }
    table = Table(columns, "Importance by several methods, ± half of a 95 % interval")
    summary = "No feature matters clearly more than chance."
    if not np.isfinite(widths).all():
        summary = "With one test set, errors of importances are not known."
    elif inspection.has_targets and check_chance(inspection).warns:
        summary = (
            "The model does not predict better than chance: its importances say "
            "nothing about the target."
        )
    elif len(significant) == 1:
        summary = f"Only {names[significant[0]]} matters clearly more than chance."
    elif significant:
        matter = [names[j] for j in significant]
        share = means[significant[0]] / np.maximum(means, 0).sum()
        summary = (
            f"{join_names(matter)} matter; {matter[0]} has {share:.0%} of the sum of "
            "permutation importances."
        )
    codes = [_PERMUTATION_CODE, *([_SAGE_CODE] if inspection.has_targets else ())]
    return SectionResult(summary, [drawn(display, caption), table], "\n".join(codes))


def _sage_columns(inspection: Inspection, features: list[int]) -> dict[str, Any]:
    """Columns of the table: SAGE values as shares of their sum, with half-widths."""
    # SAGE needs probabilities, or a number for each row.
    if not inspection.has_targets or (inspection.classifies and not inspection.scoring):
        return {}
    players = inspection.columns_by_importance[:_SAGE_FEATURES]
    other_columns = inspection.columns_by_importance[_SAGE_FEATURES:]
    groups = {"other features": other_columns} if len(other_columns) > 1 else None
    by_fold = []
    for fold in inspection.scorable_folds:
        test = inspection.test_sample(fold).draw(
            _SAGE_ROWS, inspection.seed, stratified=inspection.classifies
        )
        sage = SAGE(
            FrozenEstimator(fold.model),
            subsample=min(_SAGE_BACKGROUND, test.rows.n_rows),
            feature_groups=groups,
            n_permutations=4,
            **inspection.random_parameters,
        ).fit(test.rows.native, test.y, sample_weight=test.weights)
        by_fold.append([*sage.feature_importances_[players], sage.loss_reduction_])
    # (n_folds, n_players + 1): the last column has the sums of the values.
    values = np.array(by_fold)
    *means, total = np.mean(values, axis=0)
    if not total > inspection.half_width(values)[-1]:
        return {}
    shares = np.array(means) / total
    # The error of a ratio of means, to first order.
    errors = values[:, :-1] - shares * values[:, -1:]
    widths = inspection.half_width(errors / total)
    texts = {j: (f"{shares[k]:.1%}", f"{widths[k]:.1%}") for k, j in enumerate(players)}
    cells = [texts.get(j, (None, None)) for j in features]
    return dict(zip(("SAGE, share", "± (SAGE)"), zip(*cells, strict=True), strict=True))


def _drop_columns(inspection: Inspection, features: list[int]) -> dict[str, Any]:
    """Columns of the table: drop-column importance, if the model is fitted quickly."""
    if not inspection.refits_quickly:
        return {}
    sample, model = inspection.sample, inspection.frozen
    params = inspection.fit_parameters(sample.index)
    weights = params.pop(weight_parameter(model) or "sample_weight", None)
    if weights is None and np.ptp(sample.weights) > 0:
        weights = sample.weights  # the model takes no weights, the score does
    folds = inspection.scorable_folds
    splits = [(fold.train, inspection.test_positions(fold)) for fold in folds]
    importance = DropColumnImportance(
        model,
        cv=splits,
        scoring=inspection.scoring,
        feature_groups=inspection.grouped_others,
        n_jobs=inspection.n_jobs,
    ).fit(sample.rows.native, sample.y, sample_weight=weights, **params)
    widths = np.zeros(len(inspection.names))
    for columns, width in zip(
        importance.features_,
        inspection.half_width(importance.importances_.T),
        strict=True,
    ):
        widths[list(columns)] = width
    return {
        "drop column": importance.feature_importances_[features].tolist(),
        "± (drop)": widths[features].tolist(),
    }


@titled("How it moves", "table")
def effects(inspection: Inspection) -> SectionResult:
    """Accumulated local effects, and regions in which curves differ."""
    sample = inspection.row_subsample
    # The effects on one class are shown, or on all outputs of a regressor.
    target = inspection.target if inspection.classifies else None
    X = sample.rows.native
    options: dict[str, Any] = {
        "features": inspection.top_columns,
        "target": target,
        "sample_weight": sample.weights,
        "max_entries": None,
    }
    if results := _cv_results(inspection):
        ale = AccumulatedLocalEffectsDisplay.from_cv_results(results, X, **options)
    else:
        ale = AccumulatedLocalEffectsDisplay.from_estimator(
            inspection.model, X, **options
        )
    response = inspection.response_text(ale.response_name)
    outputs = [response]
    if not inspection.classifies and inspection.target is not None:
        outputs = [f"prediction of output {k}" for k in ale.output_names or ()]
    has_several_outputs = len(outputs) > 1
    subject = "predictions" if has_several_outputs else response
    caption = f"Accumulated local effects on the {subject}"
    figures = [drawn(ale, caption)]
    texts = [
        _direction_text(ale, k, name) for k, name in enumerate(outputs[:_MOST_OUTPUTS])
    ]
    summary = f"On average, {'; '.join(texts)}."
    if len(outputs) > len(texts):
        summary += f" Of {len(outputs)} outputs, these are the first {len(texts)}."
    regional = inspection.regional_effects
    pairs = zip(regional.effect_names_, regional.regions_, strict=True)
    split_features: list[Any] = [
        name for name, of_feature in pairs if len(of_feature) > 1
    ]
    for name in split_features[:2]:
        display = RegionalEffectDisplay.from_estimator(regional, X, name)
        caption = f"Regions in which the effect of {name} on the {response} differs"
        figures.append(drawn(display, caption))
    if split_features:
        summary += f" Regions differ in the effect of {join_names(split_features)}"
        summary += f" on the {response}." if has_several_outputs else "."
    code = "AccumulatedLocalEffectsDisplay.from_cv_results(cv_results, X)"
    return SectionResult(summary, figures, code)


def _cv_results(inspection: Inspection) -> dict[str, Any] | None:
    """The folds as a result of `cross_validate`, without models that miss a class."""
    folds = inspection.folds
    if inspection.classifies:
        n_classes = len(inspection.model.classes_)
        folds = [fold for fold in folds if len(fold.model.classes_) == n_classes]
    if not folds:
        return None
    models, train, test = zip(*folds, strict=True)
    return {"estimator": models, "indices": {"train": train, "test": test}}


def _direction_text(
    display: AccumulatedLocalEffectsDisplay, output: int, response: str
) -> str:
    """The direction of the numeric features' effects on an output, in words."""
    curves = {
        name: np.atleast_2d(effect)[output]
        for name, effect, (is_category,) in zip(
            display.feature_names,
            display.effects,
            display.categorical or (),
            strict=True,
        )
        if np.size(effect) and not is_category  # no values, no curve
    }
    ranges = {name: np.ptp(curve) for name, curve in curves.items()}
    rounding = 1e-12 * max(ranges.values(), default=0.0)
    texts = []
    for name, curve_range in ranges.items():
        if curve_range > rounding:
            net_change = (curves[name][-1] - curves[name][0]) / curve_range
            direction = "up and down"
            if abs(net_change) > 0.8:
                direction = "up" if net_change > 0 else "down"
            texts.append(f"{direction} by {number_text(curve_range)} with {name}")
    if not texts:
        return f"no numeric feature moves the {response}"
    return f"the {response} goes {join_names(texts)}"


@titled("What works together", "table columns")
def interactions(inspection: Inspection) -> SectionResult:
    """Functional decomposition into effects of single features and pairs."""
    sample = inspection.small_row_subsample
    decomposition = FunctionalDecomposition(
        inspection.frozen,
        feature_groups=inspection.grouped_others,
        subsample=inspection.n_background,
        **inspection.target_parameters,
    ).fit(sample.rows.native, sample_weight=sample.weights)
    explanation = decomposition.explain(sample.rows.native)
    shares = decomposition.shares_
    if not (np.any(shares) or decomposition.unexplained_):
        return SectionResult("The prediction is the same for all rows.")
    orders = np.array([len(players) for players in decomposition.interactions_])
    display = FunctionalDecompositionDisplay.from_explanation(explanation)
    caption = "Shares of the variance of predictions, and the largest parts"
    figures = [drawn(display, caption)]
    main_share = shares[orders == 1].sum()
    pair_shares = np.where(orders == 2, shares, 0)
    strongest = np.abs(pair_shares).argmax()
    summary = f"Single features explain {main_share:.0%} of the variance of predictions"
    if abs(pair_shares[strongest]) < 0.001:
        summary = f"{summary}; no pair adds 0.1 %."
        return SectionResult(summary, figures, _DECOMPOSITION_CODE)
    network = InteractionNetworkDisplay.from_explanation(explanation)
    figures.append(drawn(network, "Pairs that interact"))
    first, second = (
        decomposition.player_names_[j] for j in decomposition.interactions_[strongest]
    )
    share = pair_shares[strongest]
    summary += f"; the strongest pair, {first} and {second}, adds {share:.1%}."
    return SectionResult(summary, figures, _DECOMPOSITION_CODE)


@titled("Simple models that follow it", "table")
def surrogates(inspection: Inspection) -> SectionResult:
    """A linear and a tree surrogate with their fidelity."""
    sample, figures, fidelities = inspection.row_subsample, [], {}
    linear, tree = inspection.linear_surrogate, None  # the default is such a tree
    for name, surrogate in (("a linear model", linear), ("a tree of depth 3", tree)):
        inspector = GlobalSurrogate(
            inspection.frozen,
            surrogate=surrogate,
            min_fidelity=0.0,
            target=inspection.target if inspection.classifies else None,
            **inspection.random_parameters,
        ).fit(sample.rows.native, sample_weight=sample.weights)
        fidelities[name] = inspector.fidelity_
        display = GlobalSurrogateDisplay.from_estimator(inspector, sample.rows.native)
        caption = (
            f"{name.capitalize()}: R² {inspector.fidelity_:.2f} with the predictions"
        )
        figures.append(drawn(display, caption))
    if not np.isfinite(list(fidelities.values())).all():
        raise NotApplicable("The prediction is the same for all rows.")
    texts = [f"{name} with R² {value:.2f}" for name, value in fidelities.items()]
    best = max(fidelities.values())
    trust = "do not read them as the model"
    if best > 0.6:
        trust = "a close likeness" if best > 0.9 else "a fair likeness"
    response = "predictions"
    if inspection.classifies:
        response = inspection.response_text(response)
    summary = f"The model's {response} are followed by {join_names(texts)} ({trust})."
    code = "GlobalSurrogate(FrozenEstimator(model)).fit(X)"
    return SectionResult(summary, figures, code)
