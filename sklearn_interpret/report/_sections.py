"""Sections of a report: each looks at the model in one way, and says what it sees."""

from importlib import import_module

import numpy as np
from sklearn.base import clone
from sklearn.metrics import ConfusionMatrixDisplay, PredictionErrorDisplay

from sklearn_interpret._model.rows.base import is_missing
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


@titled("Model and data")
def overview(inspection):
    """Columns, scores against simple models, predictions against targets."""
    rows, parts = inspection.sample.rows, []
    size = f"{rows.n_rows:,} rows"
    if inspection.is_table:
        size += f", {rows.n_columns} feature{'s'[: rows.n_columns != 1]}"
        parts.append(_columns(rows))
    if not inspection.has_targets:
        return f"The model was inspected on {size}.", parts, ""
    scores, skills = _scores(inspection)
    parts = [scores, _predictions(inspection), *parts]
    own, *linear, _ = skills
    loss = "log loss" if inspection.classifies else "squared error"
    does = f"removes {own:.0%} of the {loss} of a model without features"
    if own <= 0:
        does = "predicts no better than a model without features"
    where = "rows not seen in training" if inspection.folds else "the rows given"
    summary = f"On {where} ({size}), the model {does}"
    summary += f"; a linear model {linear[0]:.0%}." if linear else "."
    code = "cross_validate(model, X, y, cv=cv, return_estimator=True)"
    return summary, parts, code


def _scores(inspection):
    """Held-out losses of the model and of simple ones, over folds; and their skills."""
    found = {"the model": inspection.held_out_losses}
    if inspection.is_table and inspection.folds:
        found["a linear model"] = inspection.refit_losses(inspection.linear_model)
    found["no features"] = inspection.dummy_losses
    losses, weights = list(found.values()), inspection.sample.weights
    skills = [inspection.skill(one) for one in losses]
    columns = {
        "model": list(found),
        "mean loss": np.average(losses, axis=1, weights=weights[inspection.held_out]),
        "removed": [f"{skill:.1%}" for skill in skills],
    }
    for k, fold in enumerate(inspection.folds):
        places = np.searchsorted(inspection.held_out, fold.test)
        columns[f"fold {k + 1}"] = [one[places].mean() for one in losses]
    kind = "minus log probability" if inspection.classifies else "squared error"
    return Table(columns, f"Mean loss ({kind})"), skills


def _predictions(inspection):
    """Held-out predictions against targets."""
    plt = import_module("matplotlib.pyplot")

    y, found = inspection.sample.y[inspection.held_out], inspection.held_out_responses
    figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
    if not inspection.classifies:
        kind = "actual_vs_predicted"
        PredictionErrorDisplay.from_predictions(
            y, found[:, 0], kind=kind, subsample=500, random_state=0, ax=ax
        )
        return drawn(figure, "Targets against predictions of held-out rows")
    classes = inspection.model.classes_
    ConfusionMatrixDisplay.from_predictions(
        y,
        classes[found.argmax(axis=1)],
        normalize="true",
        values_format=".0%",
        ax=ax,
        colorbar=False,
        cmap="Blues",
        xticks_rotation="vertical" if len(classes) > 4 else "horizontal",
    )
    caption = "Predicted classes of held-out rows, as shares of each class"
    return drawn(figure, caption)


def _columns(rows):
    """Kind, missing values and range of each column."""
    table = {"kind": [], "missing": [], "distinct": [], "values": []}
    for j in range(rows.n_columns):
        codes, labels = rows.encode_column(j)
        counts = np.bincount(codes, minlength=len(labels))
        missing = np.array([is_missing(label) for label in labels])
        known = np.flatnonzero(counts * ~missing)
        is_number = rows.are_numbers[j] and not rows.is_categorical(j)
        ends = f"most often {labels[counts.argmax()]}"
        if is_number:
            ends = " to ".join(f"{labels[k]:.4g}" for k in (*known[:1], *known[-1:]))
        table["kind"].append("number" if is_number else "category")
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
        standard_errors=widths / 2,
        importance_name="Permutation importance",
    ).plot(max_entries=inspection.max_features)
    caption = "Rise of the held-out loss when a feature is permuted"
    above = [j for j in inspection.order if means[j] > widths[j]]
    matter = [names[j] for j in above]
    shown = inspection.top
    columns = {
        "feature": [names[j] for j in shown],
        "permutation": [means[j] for j in shown],
        "± (95 %)": [widths[j] for j in shown],
        **_sage_column(inspection, shown),
        **_drop_column(inspection, shown),
    }
    parts = [drawn(display, caption), Table(columns, "Importance by several methods")]
    summary = "No feature matters clearly more than chance."
    if len(above) == 1:
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


def _sage_column(inspection, shown):
    """SAGE values of the most important features; all others are one group."""
    if inspection.classifies and not inspection.scoring:  # SAGE needs probabilities
        return {}
    part = inspection.small_part
    sage = SAGE(
        inspection.frozen,
        subsample=inspection.n_background,
        feature_groups=inspection.groups,
        method="auto" if inspection.has_few_leaves else "sampling",
        n_permutations=10,
        **inspection.seeded,
    )
    found = sage.fit(part.rows.native, part.y, sample_weight=part.weights)
    shares = found.feature_importances_ / found.loss_reduction_
    return {"SAGE, share": [f"{shares[j]:.1%}" for j in shown]}


def _drop_column(inspection, shown):
    """Drop-column importance, where the model is fitted quickly."""
    rows = inspection.sample.rows
    if not inspection.folds or inspection.fit_seconds * (1 + rows.n_columns) > 1:
        return {}
    found = DropColumnImportance(
        clone(inspection.model),
        cv=3,
        scoring=inspection.scoring,
        n_jobs=inspection.n_jobs,
    ).fit(rows.native, inspection.sample.y)
    return {"drop column": [found.feature_importances_[j] for j in shown]}


@titled("How it moves", "table")
def effects(inspection):
    """Accumulated local effects, and regions in which curves differ."""
    part, target = inspection.part, inspection.target
    models = [fold.model for fold in inspection.folds]
    X, what = part.rows.native, "prediction"
    if target is not None:
        what = f"probability of {target}"
    options = {"features": inspection.top, "target": target, "max_entries": None}
    if models:
        display = AccumulatedLocalEffectsDisplay.from_cv_results(
            {"estimator": models}, X, **options
        )
    else:
        display = AccumulatedLocalEffectsDisplay.from_estimator(
            inspection.model, X, sample_weight=part.weights, **options
        )
    parts = [drawn(display, f"Accumulated local effects on the {what}")]
    summary = f"On average, {_moves(display, what)}."
    regions = inspection.regions
    found = zip(regions.effect_names_, regions.regions_, strict=True)
    divided = [name for name, parts_of_rows in found if len(parts_of_rows) > 1]
    for name in divided[:2]:
        display = RegionalEffectDisplay.from_estimator(regions, X, name)
        caption = f"Regions in which the effect of {name} differs"
        parts.append(drawn(display, caption))
    if divided:
        summary += f" Regions differ in the effect of {listed(divided)}."
    code = "AccumulatedLocalEffectsDisplay.from_cv_results(cv_results, X)"
    return summary, parts, code


def _moves(display, what):
    """The direction of the largest effects, in words."""
    words = []
    for name, effect, (is_category,) in zip(
        display.feature_names, display.effects, display.categorical, strict=True
    ):
        effect = np.atleast_2d(effect)[-1]
        size = np.ptp(effect)
        if not size or is_category:
            continue
        net = (effect[-1] - effect[0]) / size
        way = "up" if net > 0.8 else "down" if net < -0.8 else "up and down"
        words.append(f"{way} by {size:.3g} with {name}")
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
            **inspection.targeted,
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
    summary = f"The model's predictions are followed by {listed(words)} ({trust})."
    return summary, parts, "GlobalSurrogate(FrozenEstimator(model)).fit(X)"
