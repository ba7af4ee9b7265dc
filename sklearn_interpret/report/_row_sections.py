"""Sections of a report on single rows: explained ones, and those of training."""

from contextlib import suppress

import numpy as np

from sklearn_interpret._model.responses.predictors import weight_parameter
from sklearn_interpret._model.rows.number_format import number_text, rounded_text
from sklearn_interpret.counterfactuals import (
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
)
from sklearn_interpret.effects import CeterisParibusDisplay
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.influence import InfluenceFunctions
from sklearn_interpret.report._page import drawn
from sklearn_interpret.report._results import NotApplicable, Table, titled
from sklearn_interpret.shapley import ShapleyValues, ShapleyWaterfallDisplay

# Training rows whose influence takes seconds.
_MOST_TRAINING = 5000


@titled("Single rows", "table")
def rows(inspection):
    """Contributions, profiles and counterfactuals of a few rows."""
    part, sample, shown = inspection.part, inspection.sample, _shown(inspection)
    explainer = ShapleyValues(
        inspection.frozen, subsample=inspection.n_background, **inspection.targeted
    ).fit(part.rows.native, sample_weight=part.weights)
    places = np.array(list(shown.values()))
    chosen, labels = sample.rows.take(places), _row_names(sample, places)
    explanation = explainer.explain(chosen.native)
    others = _counterfactuals(inspection, chosen)
    X, top, parts, changes = sample.rows.native, inspection.top[:3], [], 0
    another = "another prediction"
    if not inspection.classifies:
        another = "a prediction beyond the median"
    names = [
        f"{kind} ({label if isinstance(label, str) else f'row {label}'})"
        for kind, label in zip(shown, labels, strict=True)
    ]
    for k, (name, place) in enumerate(zip(names, shown.values(), strict=True)):
        waterfall = ShapleyWaterfallDisplay.from_explanation(
            explanation, row=k, max_entries=inspection.max_features
        )
        response = inspection.named(explanation.response_name)
        caption = f"{name}: contributions to the {response}"
        parts.append(drawn(waterfall, caption))
        profiles = CeterisParibusDisplay.from_estimator(
            inspection.model, X, features=top, row=place, target=inspection.target
        )
        response = inspection.named(profiles.response_name)
        caption = f"{name}: the {response} as one feature changes"
        parts.append(drawn(profiles, caption))
        if others and others[k].status[0] == "found":
            changes += 1
            display = CounterfactualDisplay.from_explanation(
                others[k], row=0, background=part.rows.native
            )
            parts.append(drawn(display, f"{name}: {_proof(others[k], another)}"))
    largest = [
        f"{name}: {size}"
        for name, size in zip(names, _largest(explanation), strict=True)
    ]
    response = inspection.named(explanation.response_name)
    summary = f"Largest contributions to the {response}: {'; '.join(largest[:4])}."
    if changes:
        summary += f" Rows with {another} were found near {changes} of them."
    code = "ShapleyValues(FrozenEstimator(model)).fit(X).explain(rows)"
    return summary, parts, code


def _shown(inspection):
    """Positions of the rows chosen, or of typical and odd ones, by their names."""
    if inspection.chosen is not None:
        return {f"Chosen row {k + 1}": i for k, i in enumerate(inspection.chosen)}
    critic, found = inspection.critic, {}
    if inspection.has_targets:
        order = np.argsort(inspection.held_out_losses, kind="stable")
        best, worst = inspection.held_out[order[[0, -1]]].tolist()
        found = {"Best predicted": best, "Worst predicted": worst}
    places = np.searchsorted(inspection.sample.index, inspection.part.index)
    found["Most typical"] = int(places[critic.prototype_indices_[0]])
    if len(critic.criticism_indices_):
        found["Most unusual"] = int(places[critic.criticism_indices_[0]])
    return found


def _row_names(sample, places):
    """Labels of rows of a sample: those of its frame, or their positions in `X`."""
    native = sample.rows.native
    labelled = hasattr(native, "columns") and hasattr(native, "index")
    return (native.index if labelled else sample.index)[places].tolist()


def _largest(explanation):
    """The largest contribution to each row, in words."""
    found, rounding = [], 1e-12 * np.abs(explanation.base_values).max()
    for values in explanation.values:
        j = np.abs(values).argmax()
        is_none = np.abs(values[j]) <= rounding
        name = explanation.feature_names[j]
        found.append(
            "none" if is_none else f"{name} {number_text(values[j], signed=True)}"
        )
    return found


def _proof(explanation, another):
    """How near a counterfactual is known to be, in words."""
    if explanation.optimal is not None and explanation.optimal[0]:
        return f"the nearest row with {another}, proved"
    if explanation.lower_bounds is not None:
        bound = rounded_text(explanation.lower_bounds[0], down=True)
        return f"a row with {another}; none is nearer than {bound}"
    return f"a row with {another}, found by search; a nearer one may exist"


def _counterfactuals(inspection, chosen):
    """A counterfactual of each row: another class, or the other side of the median.

    None of classifiers with several labels for a row.
    """
    if inspection.classifies and inspection.has_several_outputs:
        return []
    X = inspection.part.rows.native
    sides = ["other"] * chosen.n_rows
    if not inspection.classifies:
        middle = float(np.median(inspection.predictions(X)))
        below = inspection.predictions(chosen.native) < middle
        ends = np.where(below, middle, None), np.where(below, None, middle)
        sides = list(zip(*ends, strict=True))
    # Cells of trees take longer to find than a row's counterfactual.
    searches = {side: _search(inspection, X, side) for side in dict.fromkeys(sides)}
    return [
        searches[side].explain(chosen.take(np.array([k])).native)
        for k, side in enumerate(sides)
    ]


def _search(inspection, X, side):
    """A fitted search, exact where that is quick."""
    model, options = inspection.frozen, {"desired": side, "n_jobs": inspection.n_jobs}
    options |= inspection.constraints
    if not inspection.classifies:
        options["target"] = inspection.target
    if inspection.has_few_leaves:
        with suppress(UnreadableModelError):
            return ExactCounterfactual(model, time_limit=2.0, **options).fit(X)
    return GrowingSpheres(model, random_state=inspection.seed, **options).fit(X)


@titled("Training rows")
def training(inspection):
    """Rows that stand for the data, that look wrong, and that move the model."""
    parts, code = [], "MMDCritic().fit(X)"
    if inspection.is_table:
        parts.append(_prototypes(inspection))
    try:
        inspection.need("targets")
    except NotApplicable as reason:
        return str(reason), parts, code
    table, summary = _surprising(inspection)
    parts.append(table)
    # A frozen model was fitted to other rows.
    if inspection.is_table and inspection.folds:
        try:
            table, sentence = _influential(inspection)
            parts.append(table)
        except UnreadableModelError:
            sentence = "Influence is shown of linear models and networks only."
        except NotApplicable as reason:
            sentence = str(reason)
        summary += f" {sentence}"
    return summary, parts, code


def _prototypes(inspection):
    """Table of the most typical and the most unusual rows."""
    found, part = inspection.critic, inspection.part
    places = np.append(found.prototype_indices_, found.criticism_indices_)
    kinds = ["typical"] * len(found.prototype_indices_)
    kinds += ["unusual"] * len(found.criticism_indices_)
    columns = {"row": _row_names(part, places), "kind": kinds}
    for j in inspection.top:
        columns[inspection.names[j]] = part.rows.shown(j)[places]
    return Table(columns, "Rows that stand for the data, and rows unlike them")


def _surprising(inspection):
    """Held-out rows with the largest losses: possible errors of the target."""
    losses = inspection.held_out_losses
    worst = np.argsort(-losses, kind="stable")[:8]
    places = inspection.held_out[worst]
    found, y = inspection.held_out_responses[worst], inspection.sample.y[places]
    columns = {"row": _row_names(inspection.sample, places), "target": y.tolist()}
    if not inspection.classifies:
        columns["prediction"] = found[:, 0].tolist()
        mean = inspection.mean_loss(inspection.losses_by_fold)
        ratio = losses.max() / mean if mean > 0 else 1.0
        sentence = f"The largest squared error is {number_text(ratio)} times the mean."
    else:
        classes = inspection.model.classes_
        columns["prediction"] = classes[found.argmax(axis=1)].tolist()
        own = found * inspection.target_columns(y)
        columns["its probability"] = own.sum(axis=1).tolist()
        doubtful = (losses > -np.log(0.05)).sum()
        sentence = (
            f"{doubtful} of {len(losses)} rows got less than 5 % for "
            "their own class from a model that had not seen them."
        )
    return Table(columns, "Rows with the least expected targets"), sentence


def _influential(inspection):
    """Rows whose removal changes the model most."""
    sample = inspection.sample  # the model is at its optimum on all of them
    if sample.rows.n_rows > _MOST_TRAINING:
        raise NotApplicable(f"Influence is shown of up to {_MOST_TRAINING:,} rows.")
    takes_weights = weight_parameter(inspection.model) is not None
    found = InfluenceFunctions(inspection.frozen).fit(
        sample.rows.native,
        sample.y,
        sample_weight=sample.weights if takes_weights else None,
    )
    influence = found.self_influence_
    order = np.argsort(-influence, kind="stable")[:8]
    columns = {
        "row": _row_names(sample, order),
        "target": sample.y[order],
        "self-influence": influence[order],
    }
    share = influence.max() / influence.sum() if influence.any() else 0.0
    sentence = f"The most influential row has {share:.1%} of all influence of rows "
    sentence += "on their own loss."
    return Table(columns, "Rows that move the model most"), sentence
