"""Sections of a report: each looks at the model in one way, and says what it sees."""

from importlib import import_module

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay, PredictionErrorDisplay

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
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
    rows = inspection.sample.rows
    parts = []
    if inspection.has_targets:
        parts += [_scores(inspection), _predictions(inspection)]
    if inspection.is_table:
        parts.append(_columns(rows))
    size = f"{rows.n_rows:,} rows"
    if inspection.is_table:
        size += f", {rows.n_columns} feature{'s'[: rows.n_columns != 1]}"
    if not inspection.has_targets:
        return f"The model was inspected on {size}.", parts, ""
    loss = "log loss" if inspection.classifies else "squared error"
    (_, own), *others = _rivals(inspection).items()
    share = inspection.skill(own)
    does = f"removes {share:.0%} of the {loss} of a model without features"
    if share <= 0:
        does = "predicts no better than a model without features"
    rivals = [f"{name} {inspection.skill(found):.0%}" for name, found in others]
    where = "rows not seen in training" if inspection.folds else "the rows given"
    summary = f"On {where} ({size}), the model {does}"
    summary += f"; {rivals[0]}." if rivals else "."
    code = "cross_validate(model, X, y, cv=cv, return_estimator=True)"
    return summary, parts, code


def _rivals(inspection):
    """Held-out losses of the model, and of a linear one where it can be fitted."""
    found = {"the model": inspection.held_out_losses}
    if inspection.is_table and inspection.folds:
        found["a linear model"] = inspection.linear_losses
    return found


def _scores(inspection):
    """Held-out losses of the model and of simple ones, over folds."""
    found = {**_rivals(inspection), "no features": inspection.dummy_losses}
    folds = [
        np.searchsorted(inspection.held_out, fold.test) for fold in inspection.folds
    ]
    columns = {"model": list(found), "mean loss": [], "removed": []}
    for losses in found.values():
        columns["mean loss"].append(np.average(losses, weights=_weights(inspection)))
        columns["removed"].append(f"{inspection.skill(losses):.1%}")
    for k, places in enumerate(folds):
        columns[f"fold {k + 1}"] = [losses[places].mean() for losses in found.values()]
    kind = "minus log probability" if inspection.classifies else "squared error"
    return Table(columns, f"Mean loss ({kind})")


def _weights(inspection):
    return inspection.sample.weights[inspection.held_out]


def _predictions(inspection):
    """Held-out predictions against targets."""
    plt = import_module("matplotlib.pyplot")

    y, found = inspection.sample.y[inspection.held_out], inspection.held_out_responses
    figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
    if inspection.classifies:
        classes = inspection.model.classes_
        labels = classes[found.argmax(axis=1)]
        ConfusionMatrixDisplay.from_predictions(
            y,
            labels,
            normalize="true",
            values_format=".0%",
            ax=ax,
            colorbar=False,
            cmap="Blues",
            xticks_rotation="vertical" if len(classes) > 4 else "horizontal",
        )
        return drawn(
            figure, "Predicted classes of held-out rows, as shares of each class"
        )
    PredictionErrorDisplay.from_predictions(
        y, found[:, 0], kind="actual_vs_predicted", subsample=500, random_state=0, ax=ax
    )
    return drawn(figure, "Targets against predictions of held-out rows")


def _columns(rows):
    """Kind, missing values and range of each column."""
    kinds, missing, distinct, examples = [], [], [], []
    for j in range(rows.n_columns):
        codes, labels = rows.encode_column(j)
        values = rows.values(j)
        numeric = values.dtype.kind in "iuf" and not rows.is_categorical(j)
        absent = (
            np.isnan(values)
            if values.dtype.kind == "f"
            else np.array(
                [value is None or value != value for value in values.tolist()]
            )
        )
        kinds.append("number" if numeric else "category")
        missing.append(f"{absent.mean():.1%}")
        distinct.append(len(np.unique(codes[~absent])))
        if numeric:
            known = values[~absent]
            ends = f"{known.min():.4g} to {known.max():.4g}" if known.size else ""
        else:
            ends = f"most often {labels[np.bincount(codes).argmax()]}"
        examples.append(ends)
    columns = {"feature": rows.names, "kind": kinds, "missing": missing}
    columns |= {"distinct": distinct, "values": examples}
    return Table(columns, "Features")


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
    shown = inspection.top
    columns = {
        "feature": [names[j] for j in shown],
        "permutation": [means[j] for j in shown],
        "± (95 %)": [widths[j] for j in shown],
        **_sage_column(inspection, shown),
        **_drop_column(inspection, shown),
    }
    parts = [drawn(display, caption), Table(columns, "Importance by several methods")]
    if not above:
        return "No feature matters clearly more than chance.", parts, _IMPORTANCE
    share = np.maximum(means, 0)[above[0]] / np.maximum(means, 0).sum()
    summary = (
        f"{listed([names[j] for j in above])} matter; {names[above[0]]} has "
        f"{share:.0%} of the sum of permutation importances."
    )
    if len(above) == 1:
        summary = f"Only {names[above[0]]} matters clearly more than chance."
    return summary, parts, _IMPORTANCE


_IMPORTANCE = """PermutationImportanceDisplay.from_cv_results(cv_results, X, y)
SAGE(FrozenEstimator(model)).fit(X, y).feature_importances_"""


def _sage_column(inspection, shown):
    """SAGE values of the most important features; all others are one group."""
    part = inspection.small_part
    others = inspection.order[inspection.max_features :]
    groups = {"other features": others} if len(others) > 1 else None
    sage = SAGE(
        inspection.frozen,
        subsample=inspection.n_background,
        feature_groups=groups,
        method="auto" if inspection.has_few_leaves else "sampling",
        n_permutations=10,
        random_state=inspection.seed,
        n_jobs=inspection.n_jobs,
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
        inspection.unfitted, cv=3, scoring=inspection.scoring, n_jobs=inspection.n_jobs
    ).fit(rows.native, inspection.sample.y)
    return {"drop column": [found.feature_importances_[j] for j in shown]}


@titled("How it moves", "table")
def effects(inspection):
    """Accumulated local effects, and regions in which curves differ."""
    part, target = inspection.part, {"target": inspection.target}
    X, options = part.rows.native, {"features": inspection.top, **target}
    what = "prediction"
    if inspection.target is not None:
        what = f"probability of {inspection.target}"
    models = [fold.model for fold in inspection.folds]
    if models:
        display = AccumulatedLocalEffectsDisplay.from_cv_results(
            {"estimator": models}, X, max_entries=None, **options
        )
    else:
        found = AccumulatedLocalEffects(inspection.frozen, **options)
        display = AccumulatedLocalEffectsDisplay.from_estimator(
            found.fit(X, sample_weight=part.weights), X, max_entries=None
        )
    parts = [drawn(display, f"Accumulated local effects on the {what}")]
    summary = f"On average, {_moves(display, what)}."
    regions = inspection.regions
    divided = [k for k, found in enumerate(regions.regions_) if len(found) > 1]
    for k in divided[:2]:
        name = regions.effect_names_[k]
        display = RegionalEffectDisplay.from_estimator(regions, X, name)
        caption = f"Regions in which the effect of {name} differs"
        parts.append(drawn(display, caption))
    if divided:
        split = listed([regions.effect_names_[k] for k in divided])
        summary += f" Regions differ in the effect of {split}."
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
    others = inspection.order[inspection.max_features :]
    groups = {"other features": others} if len(others) > 1 else None
    found = FunctionalDecomposition(
        inspection.frozen,
        feature_groups=groups,
        subsample=inspection.n_background,
        target=inspection.target,
        random_state=inspection.seed,
        n_jobs=inspection.n_jobs,
    ).fit(part.rows.native, sample_weight=part.weights)
    explanation = found.explain(part.rows.native)
    variances = np.asarray(found.variances_)
    names = found.player_names_
    total = variances.sum() / max(1 - found.unexplained_, 1e-12)
    if not total > 0:
        return "The prediction is the same for all rows.", [], ""
    sizes = np.array([len(one) for one in found.interactions_])
    alone = min(1.0, variances[sizes == 1].sum() / total)
    parts = [
        drawn(
            FunctionalDecompositionDisplay.from_explanation(explanation),
            "Shares of the variance of predictions, and the largest parts",
        )
    ]
    gains = np.where(sizes == 2, variances, 0) / total
    strongest = gains.argmax()
    summary = f"Single features explain {alone:.0%} of the variance of predictions"
    if gains[strongest] < 0.001:
        return f"{summary}; no pair adds 0.1 %.", parts, _DECOMPOSITION
    parts.append(
        drawn(
            InteractionNetworkDisplay.from_explanation(explanation),
            "Pairs that interact",
        )
    )
    first, second = (names[j] for j in found.interactions_[strongest])
    return (
        f"{summary}; the strongest pair, {first} and {second}, adds "
        f"{gains[strongest]:.1%}.",
        parts,
        _DECOMPOSITION,
    )


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
            target=inspection.target,
            min_fidelity=0.0,
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
