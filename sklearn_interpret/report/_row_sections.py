"""Sections of a report on single rows: explained rows, and training rows."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.gradients.objectives import best_steps_and_model
from sklearn_interpret._model.responses.predictors import weight_parameter
from sklearn_interpret._model.rows.number_format import number_text, rounded_text
from sklearn_interpret._model.training_weights.tree_scores import is_tree_model
from sklearn_interpret.counterfactuals import (
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
)
from sklearn_interpret.effects import CeterisParibusDisplay
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.influence import InfluenceFunctions
from sklearn_interpret.report._page import drawn
from sklearn_interpret.report._results import (
    NotApplicable,
    SectionResult,
    Table,
    titled,
)
from sklearn_interpret.shapley import ShapleyValues, ShapleyWaterfallDisplay

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.explanations import Explanation, RowExplanation
    from sklearn_interpret.report._inspection import Inspection
    from sklearn_interpret.report._results import Figure

# Most training rows of influence functions. Chosen by hand: more take minutes.
_MOST_TRAINING_ROWS = 5000


@titled("Single rows", "table")
def rows(inspection: Inspection) -> SectionResult:
    """Contributions, profiles and counterfactuals of a few rows."""
    background, sample = inspection.row_subsample, inspection.sample
    position_by_kind = _positions_by_kind(inspection)
    explainer = ShapleyValues(
        inspection.frozen,
        subsample=inspection.n_background,
        **inspection.target_parameters,
    ).fit(background.rows.native, sample_weight=background.weights)
    positions = np.array(list(position_by_kind.values()))
    explained_rows, labels = sample.rows.take(positions), _row_labels(sample, positions)
    explanation = explainer.explain(explained_rows.native)
    counterfactuals = _counterfactuals(inspection, explained_rows)
    figures, n_found = [], 0
    outcome = "another prediction"
    if not inspection.classifies:
        outcome = "a prediction beyond the median"
    names = [
        f"{kind} ({label if isinstance(label, str) else f'row {label}'})"
        for kind, label in zip(position_by_kind, labels, strict=True)
    ]
    for k, (name, position) in enumerate(zip(names, positions.tolist(), strict=True)):
        figures.append(_contribution_figure(inspection, explanation, k, name))
        figures.append(_profile_figure(inspection, position, name))
        if counterfactuals and counterfactuals[k].status[0] == "found":
            n_found += 1
            display = CounterfactualDisplay.from_explanation(
                counterfactuals[k], row=0, background=background.rows.native
            )
            caption = f"{name}: {_optimality_text(counterfactuals[k], outcome)}"
            figures.append(drawn(display, caption))
    texts = _largest_contributions(explanation)
    largest = list(map(": ".join, zip(names, texts, strict=True)))
    response = inspection.response_text(explanation.response_name)
    summary = f"Largest contributions to the {response}: {'; '.join(largest[:4])}."
    if n_found:
        summary += f" Rows with {outcome} were found near {n_found} of them."
    code = "ShapleyValues(FrozenEstimator(model)).fit(X).explain(rows)"
    return SectionResult(summary, figures, code)


def _contribution_figure(
    inspection: Inspection, explanation: Explanation, k: int, name: str
) -> Figure:
    """Shapley values of row `k` of an explanation."""
    waterfall = ShapleyWaterfallDisplay.from_explanation(
        explanation, row=k, max_entries=inspection.max_features
    )
    response = inspection.response_text(explanation.response_name)
    return drawn(waterfall, f"{name}: contributions to the {response}")


def _profile_figure(inspection: Inspection, position: int, name: str) -> Figure:
    """Predictions of a row of the sample as one feature changes."""
    profiles = CeterisParibusDisplay.from_estimator(
        inspection.model,
        inspection.sample.rows.native,
        features=inspection.top_columns[:3],
        row=position,
        target=inspection.target,
    )
    response = inspection.response_text(profiles.response_name)
    return drawn(profiles, f"{name}: the {response} as one feature changes")


def _positions_by_kind(inspection: Inspection) -> dict[str, int]:
    """Positions of the user's rows, or of typical and unusual rows, by their kind."""
    if inspection.chosen_rows is not None:
        return {f"Chosen row {k + 1}": i for k, i in enumerate(inspection.chosen_rows)}
    critic, positions = inspection.critic, {}
    if inspection.has_targets:
        order = np.argsort(inspection.held_out_losses, kind="stable")
        best, worst = inspection.held_out_positions[order[[0, -1]]].tolist()
        positions = {"Best predicted": best, "Worst predicted": worst}
    indices = np.searchsorted(inspection.sample.index, inspection.row_subsample.index)
    positions["Most typical"] = int(indices[critic.prototype_indices_[0]])
    if len(critic.criticism_indices_):
        positions["Most unusual"] = int(indices[critic.criticism_indices_[0]])
    return positions


def _row_labels(sample: Sample, positions: NDArray[np.intp]) -> list[Any]:
    """Labels of rows of a sample: those of its frame, or their positions in `X`."""
    native = sample.rows.native
    is_frame = hasattr(native, "columns") and hasattr(native, "index")
    return (native.index if is_frame else sample.index)[positions].tolist()


def _largest_contributions(explanation: Explanation) -> list[str]:
    """The largest contribution to each row, in words."""
    texts, rounding = [], 1e-12 * np.abs(explanation.base_values).max()
    for values in explanation.values:
        j = np.abs(values).argmax()
        text = "none"
        if np.abs(values[j]) > rounding:
            value = number_text(values[j], signed=True)
            text = f"{explanation.feature_names[j]} {value}"
        texts.append(text)
    return texts


def _optimality_text(explanation: RowExplanation, outcome: str) -> str:
    """Whether a counterfactual of an outcome is proved to be the nearest, in words."""
    if explanation.optimal is not None and explanation.optimal[0]:
        return f"the nearest row with {outcome}, proved"
    if explanation.lower_bounds is not None:
        bound = rounded_text(explanation.lower_bounds[0], down=True)
        return f"a row with {outcome}; none is nearer than {bound}"
    return f"a row with {outcome}, found by search; a nearer one may exist"


def _counterfactuals(
    inspection: Inspection, explained_rows: Rows
) -> list[RowExplanation]:
    """A counterfactual of each row: another class, or the other side of the median.

    An empty list for classifiers with several labels for a row.
    """
    if inspection.classifies and inspection.has_several_outputs:
        return []
    X = inspection.row_subsample.rows.native
    sides: list[Any] = ["other"] * explained_rows.n_rows
    if not inspection.classifies:
        median = float(np.median(inspection.predictions(X)))
        predictions = inspection.predictions(explained_rows.native)
        sides = [(median, None) if p < median else (None, median) for p in predictions]
    # Rows that need the same side share a search: fitting takes longer than explaining.
    searches = {side: _fit_search(inspection, X, side) for side in dict.fromkeys(sides)}
    return [
        searches[side].explain(explained_rows.take(np.array([k])).native)
        for k, side in enumerate(sides)
    ]


def _fit_search(inspection: Inspection, X: Any, side: Any) -> Any:
    """A fitted search for rows on one side; an exact search where that is quick."""
    model, options = inspection.frozen, {"desired": side, "n_jobs": inspection.n_jobs}
    options |= inspection.constraints
    if not inspection.classifies:
        options["target"] = inspection.target
    if inspection.has_few_leaves:
        with suppress(UnreadableModelError):
            return ExactCounterfactual(model, time_limit=2.0, **options).fit(X)
    return GrowingSpheres(model, random_state=inspection.seed, **options).fit(X)


@titled("Training rows")
def training(inspection: Inspection) -> SectionResult:
    """Rows that stand for the data, that look wrong, and that move the model."""
    tables, code = [], "MMDCritic().fit(X)"
    if inspection.is_table:
        tables.append(_prototype_table(inspection))
    try:
        inspection.require("targets")
    except NotApplicable as reason:
        return SectionResult(str(reason), tables, code)
    table, summary = _surprising_rows(inspection)
    tables.append(table)
    # A frozen model was fitted to other rows.
    if inspection.is_table and inspection.folds:
        try:
            table, sentence = _influential_rows(inspection)
            tables.append(table)
        except UnreadableModelError:
            sentence = "Influence is shown of linear models and networks only."
        except NotApplicable as reason:
            sentence = str(reason)
        summary += f" {sentence}"
    return SectionResult(summary, tables, code)


def _prototype_table(inspection: Inspection) -> Table:
    """Table of the most typical and the most unusual rows."""
    critic, sample = inspection.critic, inspection.row_subsample
    positions = np.append(critic.prototype_indices_, critic.criticism_indices_)
    kinds = ["typical"] * len(critic.prototype_indices_)
    kinds += ["unusual"] * len(critic.criticism_indices_)
    columns: dict[str, Any] = {"row": _row_labels(sample, positions), "kind": kinds}
    for j in inspection.top_columns:
        columns[inspection.names[j]] = sample.rows.displayed(j)[positions]
    return Table(columns, "Rows that stand for the data, and rows unlike them")


def _surprising_rows(inspection: Inspection) -> tuple[Table, str]:
    """Table of the held-out rows with the largest losses, and a sentence on it."""
    losses = inspection.held_out_losses
    worst = np.argsort(-losses, kind="stable")[:8]
    positions = inspection.held_out_positions[worst]
    responses, y = inspection.held_out_responses[worst], inspection.sample.y[positions]
    columns = {"row": _row_labels(inspection.sample, positions), "target": y.tolist()}
    if not inspection.classifies:
        columns["prediction"] = responses[:, 0].tolist()
        mean = inspection.mean_loss(inspection.losses_by_fold)
        ratio = losses.max() / mean if mean > 0 else 1.0
        sentence = f"The largest squared error is {number_text(ratio)} times the mean."
    else:
        classes = inspection.model.classes_
        columns["prediction"] = classes[responses.argmax(axis=1)].tolist()
        # Targets are 1 for the row's own class and 0 for the others.
        of_own_class = (responses * inspection.target_columns(y)).sum(axis=1)
        columns["its probability"] = of_own_class.tolist()
        n_doubtful = (losses > -np.log(0.05)).sum()
        sentence = (
            f"{n_doubtful} of {len(losses)} rows got less than 5 % for "
            "their own class from a model that had not seen them."
        )
    return Table(columns, "Rows with the least expected targets"), sentence


def _influential_rows(inspection: Inspection) -> tuple[Table, str]:
    """Table of the rows with the most influence on the model, and a sentence on it."""
    sample = inspection.sample  # the model is at its optimum on all of them
    if sample.rows.n_rows > _MOST_TRAINING_ROWS:
        raise NotApplicable(
            f"Influence is shown of up to {_MOST_TRAINING_ROWS:,} rows."
        )
    if is_tree_model(best_steps_and_model(inspection.frozen)[1]):
        raise NotApplicable("Influence is shown of models with parameters.")
    takes_weights = weight_parameter(inspection.model) is not None
    inspector = InfluenceFunctions(inspection.frozen).fit(
        sample.rows.native,
        sample.y,
        sample_weight=sample.weights if takes_weights else None,
    )
    influence = inspector.self_influence_
    order = np.argsort(-influence, kind="stable")[:8]
    columns = {
        "row": _row_labels(sample, order),
        "target": sample.y[order],
        "self-influence": influence[order],
    }
    share = influence.max() / influence.sum() if influence.any() else 0.0
    sentence = f"The most influential row has {share:.1%} of all influence of rows "
    sentence += "on their own loss."
    return Table(columns, "Rows that move the model most"), sentence
