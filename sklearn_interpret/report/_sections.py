"""Sections of a report: each looks at the model in one way, and says what it sees."""

import warnings
from contextlib import suppress
from importlib import import_module

import numpy as np
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
from sklearn_interpret.report._page import drawn
from sklearn_interpret.report._results import NotApplicable, Table, listed, titled
from sklearn_interpret.surrogates import GlobalSurrogate, GlobalSurrogateDisplay

# Features with a SAGE value of their own: coalitions double with each. Rows of each
# fold, and of the background: an SVM of 400 vectors then takes seconds.
_SAGE_FEATURES, _SAGE_ROWS, _SAGE_BACKGROUND = 5, 200, 50
# Bins of probabilities, with a tenth of the rows each, as those of scikit-learn.
_N_BINS = 10
# Most outputs whose effects are put in words.
_MOST_OUTPUTS = 3


@titled("Model and data")
def overview(inspection):
    """Columns, scores against simple models, predictions against targets."""
    rows, parts = inspection.sample.rows, []
    size = f"{rows.n_rows:,} rows"
    if inspection.is_table:
        size += f", {rows.n_columns} feature{'s'[: rows.n_columns != 1]}"
        parts.append(_columns(rows))
    if not inspection.has_targets:
        summary = f"The model was inspected on {size}."
        if inspection.sample.y is not None:
            summary += " The rows have several targets, and scores are of one."
        return summary, parts, ""
    scores = _held_out_scores(inspection)
    losses, skills = _losses(inspection)
    table = {"score": list(scores), "mean": [np.nanmean(x) for x in scores.values()]}
    for k in range(len(inspection.folds)):
        table[f"fold {k + 1}"] = [by_fold[k] for by_fold in scores.values()]
    table = Table(table, "Scores of the model")
    parts = [table, losses, *_predictions(inspection), *parts]
    own, *linear, _ = skills
    loss = "log loss" if inspection.classifies else "squared error"
    does = f"removes {own:.0%} of the {loss} of a model without features"
    compared = f"; a linear model {max([0.0, *linear]):.0%}."
    if own <= 0:
        does = "predicts no better than a model without features"
        compared = "; nor does a linear model."
        if max(linear, default=0.0) > 0:
            compared = f"; a linear model removes {linear[0]:.0%} of its {loss}."
    where = "rows not seen in training" if inspection.folds else "the rows given"
    has = f"has {listed(texts)}: it " if (texts := _in_words(scores)) else ""
    summary = f"On {where} ({size}), the model {has}{does}"
    summary += compared if linear else "."
    code = "cross_validate(model, X, y, cv=cv, return_estimator=True)"
    return summary, parts, code


def _accuracy(y, found, classes, weights):
    return accuracy_score(y, classes[found.argmax(axis=1)], sample_weight=weights)


def _roc_auc(y, found, classes, weights):
    """Of two classes; of more, the mean over each against the others."""
    found = found[:, 1] if len(classes) == 2 else found
    return roc_auc_score(
        y, found, labels=classes, multi_class="ovr", sample_weight=weights
    )


def _r2(y, found, _, weights):
    return r2_score(y, found[:, 0], sample_weight=weights)


def _root_mean_squared_error(y, found, _, weights):
    error = root_mean_squared_error(y, found[:, 0], sample_weight=weights)
    return error if error > 1e-12 * np.abs(y).max() else 0.0  # rounding errors


def _held_out_scores(inspection):
    """The scores that people ask for first, (n_folds,); NaN where there is none."""
    metrics, classes = {"R²": _r2, "RMSE": _root_mean_squared_error}, None
    if inspection.classifies:
        metrics, classes = {"accuracy": _accuracy}, inspection.model.classes_
        if inspection.scoring:
            metrics["ROC AUC"] = _roc_auc
    scores = {name: np.full(len(inspection.tested), np.nan) for name in metrics}
    for k, fold in enumerate(inspection.tested):
        y = inspection.sample.y[fold.test]
        data = y, inspection.responses_by_fold[k], classes
        weights = inspection.sample.weights[fold.test]
        for name, metric in metrics.items():
            # Scores of one row, or of rows without a class, may be undefined.
            with suppress(ValueError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores[name][k] = metric(*data, weights)
    return {name: x for name, x in scores.items() if np.isfinite(x).any()}


def _in_words(scores):
    """Each score, with its range over folds."""
    texts = []
    for name, by_fold in scores.items():
        known = by_fold[np.isfinite(by_fold)]
        mean, low, high = column_texts([known.mean(), known.min(), known.max()])
        spread = f" ({low} to {high} over folds)" if len(known) > 1 else ""
        texts.append(f"{name} {mean}{spread}")
    return texts


def _losses(inspection):
    """Held-out losses of the model and of simple ones, over folds; and their skills."""
    losses = {"the model": inspection.losses_by_fold}
    if inspection.is_table and inspection.folds:
        losses["a linear model"] = inspection.refit_losses(inspection.linear_model)
    losses["no features"] = inspection.dummy_losses
    skills = [inspection.skill(by_fold) for by_fold in losses.values()]
    columns = {
        "model": list(losses),
        "mean loss": [inspection.mean_loss(by_fold) for by_fold in losses.values()],
        "removed": [f"{skill:.1%}" for skill in skills],
    }
    for k, fold in enumerate(inspection.folds):
        weights = inspection.sample.weights[fold.test]
        columns[f"fold {k + 1}"] = [
            np.average(by_fold[k], weights=weights) for by_fold in losses.values()
        ]
    kind = "minus log probability" if inspection.classifies else "squared error"
    return Table(columns, f"Mean loss ({kind})"), skills


def _predictions(inspection):
    """Held-out predictions against targets; residuals, or how probabilities agree."""
    plt = import_module("matplotlib.pyplot")

    y, found = inspection.sample.y[inspection.held_out], inspection.held_out_responses
    weights = inspection.sample.weights[inspection.held_out]

    def axes():
        return plt.subplots(figsize=(5, 4.2), layout="constrained")[1]

    ink = plt.rcParams["text.color"]  # scikit-learn's black is not seen on black
    if not inspection.classifies:
        captions = {
            "actual_vs_predicted": "Targets against predictions of held-out rows",
            "residual_vs_predicted": "Residuals against predictions of held-out rows",
        }
        displays = [
            PredictionErrorDisplay.from_predictions(
                y,
                found[:, 0],
                kind=kind,
                subsample=500,
                random_state=0,
                ax=axes(),
                line_kwargs={"color": ink},
            )
            for kind in captions
        ]
        return list(map(drawn, displays, captions.values()))
    classes = inspection.model.classes_
    display = ConfusionMatrixDisplay.from_predictions(
        y,
        classes[found.argmax(axis=1)],
        labels=classes,
        sample_weight=weights,
        normalize="true",
        values_format=".0%",
        ax=axes(),
        colorbar=False,
        cmap="Blues",
        xticks_rotation="vertical" if len(classes) > 4 else "horizontal",
    )
    caption = "Predicted classes of held-out rows, as shares of each class"
    drawings = [drawn(display, caption)]
    if inspection.scoring:
        which = classes.tolist().index(inspection.target) if len(classes) > 2 else -1
        of_class = f"of class {classes[which]}"
        shares, means = _shares_by_probability(
            y == classes[which], found[:, which], weights
        )
        display = CalibrationDisplay(shares, means, found[:, which]).plot(ax=axes())
        display.ax_.set(
            xlabel=f"Mean predicted probability {of_class}", ylabel=f"Share {of_class}"
        )
        display.ax_.get_legend().remove()
        display.ax_.lines[0].set_color(ink)
        caption = f"Share {of_class} against its predicted probability, held-out rows"
        drawings.append(drawn(display, caption))
    return drawings


def _shares_by_probability(hits, probabilities, weights):
    """Shares of hits, and mean probabilities, of rows of like probability."""
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, _N_BINS + 1)))
    bins = np.searchsorted(edges[1:-1], probabilities)
    total = np.bincount(bins, weights)
    filled = total > 0
    sums = [np.bincount(bins, weights * x)[filled] for x in (hits, probabilities)]
    return sums / total[filled]


def _columns(rows):
    """Kind, missing values and range of each column."""
    table = {"kind": [], "missing": [], "distinct": [], "values": []}
    for j in range(rows.n_columns):
        codes, labels = rows.encode_column(j)
        counts = np.bincount(codes, minlength=len(labels))
        missing = np.array([is_missing(label) for label in labels])
        known = np.flatnonzero(counts * ~missing)
        is_number = rows.are_numbers[j] and not rows.is_categorical(j)
        ends = ""
        if len(known):
            ends = f"most often {labels[known[counts[known].argmax()]]}"
        if is_number:
            ends = " to ".join(value_text(labels[k]) for k in (*known[:1], *known[-1:]))
        kind = "number" if rows.dates(j) is None else "date"
        table["kind"].append(kind if is_number else "category")
        table["missing"].append(f"{counts[missing].sum() / rows.n_rows:.1%}")
        table["distinct"].append(len(known))
        table["values"].append(ends)
    return Table({"feature": rows.names, **table}, "Features")


@titled("What matters", "table targets")
def importance(inspection):
    """Permutation importance over folds, SAGE values, and drop-column importance."""
    names = inspection.names
    means, widths = inspection.mean_importances, inspection.importance_widths
    # Test rows of folds are not shared, so their intervals are not those of the
    # display, which are for rows that all folds share.
    display = PermutationImportanceDisplay(
        means[:, None],
        feature_names=names,
        standard_errors=widths / 2 if np.isfinite(widths).all() else None,
        importance_name="Permutation importance",
    ).plot(max_entries=inspection.max_features)
    change = "Fall of the model's held-out score"
    if inspection.scoring:
        change = "Rise of the held-out log loss"
    caption = f"{change} when a feature is permuted"
    above = [j for j in inspection.order if means[j] > widths[j]]
    matter = [names[j] for j in above]
    shown = inspection.top
    columns = {
        "feature": [names[j] for j in shown],
        "permutation": [means[j] for j in shown],
        "± (permutation)": [widths[j] for j in shown],
        **_sage_columns(inspection, shown),
        **_drop_columns(inspection, shown),
    }
    table = Table(columns, "Importance by several methods, ± half of a 95 % interval")
    parts = [drawn(display, caption), table]
    summary = "No feature matters clearly more than chance."
    if not np.isfinite(widths).all():
        summary = "With one test set, errors of importances are not known."
    elif len(above) == 1:
        summary = f"Only {matter[0]} matters clearly more than chance."
    elif above:
        share = means[above[0]] / np.maximum(means, 0).sum()
        summary = (
            f"{listed(matter)} matter; {matter[0]} has {share:.0%} of the sum of "
            "permutation importances."
        )
    return summary, parts, _IMPORTANCE


_IMPORTANCE = """PermutationImportanceDisplay.from_cv_results(cv_results, X, y)
SAGE(FrozenEstimator(model)).fit(X, y).feature_importances_"""


def _sage_columns(inspection, shown):
    """Shares of SAGE values of the most important features, over folds, and errors."""
    if inspection.classifies and not inspection.scoring:  # SAGE needs probabilities
        return {}
    players = inspection.order[:_SAGE_FEATURES]
    others = inspection.order[_SAGE_FEATURES:]
    values = []
    for fold in inspection.informed:
        test = inspection.test_sample(fold).draw(
            _SAGE_ROWS, inspection.seed, stratified=inspection.classifies
        )
        sage = SAGE(
            FrozenEstimator(fold.model),
            subsample=min(_SAGE_BACKGROUND, test.rows.n_rows),
            feature_groups={"other features": others} if len(others) > 1 else None,
            n_permutations=4,
            **inspection.seeded,
        ).fit(test.rows.native, test.y, sample_weight=test.weights)
        values.append([*sage.feature_importances_[players], sage.loss_reduction_])
    *means, total = np.mean(values, axis=0)
    if not total > inspection.half_width(values)[-1]:
        return {}
    values, shares = np.array(values), np.array(means) / total
    # A share is a ratio of means: it errs by what values deviate from their share.
    errors = values[:, :-1] - shares * values[:, -1:]
    widths = inspection.half_width(errors / total)
    texts = {j: (f"{shares[k]:.1%}", f"{widths[k]:.1%}") for k, j in enumerate(players)}
    cells = [texts.get(j, (None, None)) for j in shown]
    return dict(zip(("SAGE, share", "± (SAGE)"), zip(*cells, strict=True), strict=True))


def _drop_columns(inspection, shown):
    """Drop-column importance in the folds, where the model is fitted quickly."""
    if not inspection.refits_quickly:
        return {}
    sample, model = inspection.sample, inspection.frozen
    params = inspection.fit_parameters(sample.index)
    weights = params.pop(weight_parameter(model) or "sample_weight", None)
    if weights is None and np.ptp(sample.weights) > 0:
        weights = sample.weights  # the model takes none, the score does
    importance = DropColumnImportance(
        model,
        cv=[
            (fold.train, inspection.test_positions(fold))
            for fold in inspection.informed
        ],
        scoring=inspection.scoring,
        feature_groups=inspection.groups,
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
        "drop column": importance.feature_importances_[shown].tolist(),
        "± (drop)": widths[shown].tolist(),
    }


@titled("How it moves", "table")
def effects(inspection):
    """Accumulated local effects, and regions in which curves differ."""
    part = inspection.part
    # A classifier has one output for a class; of a regressor all are shown.
    target = inspection.target if inspection.classifies else None
    X, options = part.rows.native, {"features": inspection.top, "target": target}
    options |= {"sample_weight": part.weights, "max_entries": None}
    if results := _cv_results(inspection):
        display = AccumulatedLocalEffectsDisplay.from_cv_results(results, X, **options)
    else:
        display = AccumulatedLocalEffectsDisplay.from_estimator(
            inspection.model, X, **options
        )
    response = inspection.named(display.response_name)
    outputs = [response]
    if not inspection.classifies and inspection.target is not None:
        outputs = [f"prediction of output {k}" for k in display.output_names]
    several = len(outputs) > 1
    caption = f"Accumulated local effects on the {'predictions' * several or response}"
    parts = [drawn(display, caption)]
    moves = [_moves(display, k, name) for k, name in enumerate(outputs[:_MOST_OUTPUTS])]
    summary = f"On average, {'; '.join(moves)}."
    if len(outputs) > len(moves):
        summary += f" Of {len(outputs)} outputs, these are the first {len(moves)}."
    regions = inspection.regions
    found = zip(regions.effect_names_, regions.regions_, strict=True)
    divided = [name for name, parts_of_rows in found if len(parts_of_rows) > 1]
    for name in divided[:2]:
        display = RegionalEffectDisplay.from_estimator(regions, X, name)
        caption = f"Regions in which the effect of {name} on the {response} differs"
        parts.append(drawn(display, caption))
    if divided:
        summary += f" Regions differ in the effect of {listed(divided)}"
        summary += f" on the {response}." if several else "."
    code = "AccumulatedLocalEffectsDisplay.from_cv_results(cv_results, X)"
    return summary, parts, code


def _cv_results(inspection):
    """The folds as a result of `cross_validate`, without models that miss a class."""
    folds = inspection.folds
    if inspection.classifies:
        n_classes = len(inspection.model.classes_)
        folds = [fold for fold in folds if len(fold.model.classes_) == n_classes]
    if not folds:
        return None
    models, train, test = zip(*folds, strict=True)
    return {"estimator": models, "indices": {"train": train, "test": test}}


def _moves(display, output, what):
    """The direction of the largest effects on an output, in words."""
    curves = {
        name: np.atleast_2d(effect)[output]
        for name, effect, (is_category,) in zip(
            display.feature_names, display.effects, display.categorical, strict=True
        )
        if np.size(effect) and not is_category  # without values there is no curve
    }
    sizes = {name: np.ptp(curve) for name, curve in curves.items()}
    rounding = 1e-12 * max(sizes.values(), default=0.0)
    words = []
    for name, size in sizes.items():
        if size > rounding:
            net = (curves[name][-1] - curves[name][0]) / size
            way = "up" if net > 0.8 else "down" if net < -0.8 else "up and down"
            words.append(f"{way} by {number_text(size)} with {name}")
    if not words:
        return f"no numeric feature moves the {what}"
    return f"the {what} goes {listed(words)}"


@titled("What works together", "table columns")
def interactions(inspection):
    """Functional decomposition into effects of single features and pairs."""
    part = inspection.small_part
    found = FunctionalDecomposition(
        inspection.frozen,
        feature_groups=inspection.groups,
        subsample=inspection.n_background,
        **inspection.targeted,
    ).fit(part.rows.native, sample_weight=part.weights)
    explanation = found.explain(part.rows.native)
    shares = found.shares_
    if not (np.any(shares) or found.unexplained_):
        return "The prediction is the same for all rows.", [], ""
    sizes = np.array([len(one) for one in found.interactions_])
    display = FunctionalDecompositionDisplay.from_explanation(explanation)
    caption = "Shares of the variance of predictions, and the largest parts"
    parts = [drawn(display, caption)]
    alone, gains = shares[sizes == 1].sum(), np.where(sizes == 2, shares, 0)
    strongest = np.abs(gains).argmax()
    summary = f"Single features explain {alone:.0%} of the variance of predictions"
    if abs(gains[strongest]) < 0.001:
        return f"{summary}; no pair adds 0.1 %.", parts, _DECOMPOSITION
    display = InteractionNetworkDisplay.from_explanation(explanation)
    parts.append(drawn(display, "Pairs that interact"))
    first, second = (found.player_names_[j] for j in found.interactions_[strongest])
    summary += (
        f"; the strongest pair, {first} and {second}, adds {gains[strongest]:.1%}."
    )
    return summary, parts, _DECOMPOSITION


_DECOMPOSITION = "FunctionalDecomposition(FrozenEstimator(model)).fit(X).explain(X)"


@titled("Simple models that follow it", "table")
def surrogates(inspection):
    """A linear and a tree surrogate with their fidelity."""
    part, parts, fidelities = inspection.part, [], {}
    linear = inspection.linear_surrogate
    for name, surrogate in (("a linear model", linear), ("a tree of depth 3", None)):
        found = GlobalSurrogate(
            inspection.frozen,
            surrogate=surrogate,
            min_fidelity=0.0,
            target=inspection.target if inspection.classifies else None,
            **inspection.seeded,
        ).fit(part.rows.native, sample_weight=part.weights)
        fidelities[name] = found.fidelity_
        display = GlobalSurrogateDisplay.from_estimator(found, part.rows.native)
        caption = f"{name.capitalize()}: R² {found.fidelity_:.2f} with the predictions"
        parts.append(drawn(display, caption))
    if not np.isfinite(list(fidelities.values())).all():
        raise NotApplicable("The prediction is the same for all rows.")
    words = [f"{name} with R² {value:.2f}" for name, value in fidelities.items()]
    best = max(fidelities.values())
    trust = "a fair likeness" if best > 0.6 else "do not read them as the model"
    trust = "a close likeness" if best > 0.9 else trust
    what = inspection.named("predictions") if inspection.classifies else "predictions"
    summary = f"The model's {what} are followed by {listed(words)} ({trust})."
    return summary, parts, "GlobalSurrogate(FrozenEstimator(model)).fit(X)"
