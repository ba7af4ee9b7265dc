"""Sections of a report on single rows: explained rows, and training rows."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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

# Most training rows of influence functions. Chosen by hand: more take minutes.
_MOST_TRAINING_ROWS = 5000


@titled("Single rows", "table")
def rows(inspection: Inspection) -> SectionResult:
    """Contributions, profiles and counterfactuals of a few rows."""
    background, sample = inspection.part, inspection.sample
    position_of_kind = _positions_by_kind(inspection)
    explainer = ShapleyValues(
        inspection.frozen, subsample=inspection.n_background, **inspection.targeted
    ).fit(background.rows.native, sample_weight=background.weights)
    positions = np.array(list(position_of_kind.values()))
    explained, labels = sample.rows.take(positions), _row_names(sample, positions)
    explanation = explainer.explain(explained.native)
    counterfactuals = _counterfactuals(inspection, explained)
    X, top, figures, n_found = sample.rows.native, inspection.top[:3], [], 0
    another = "another prediction"
    if not inspection.classifies:
        another = "a prediction beyond the median"
    names = [
        f"{kind} ({label if isinstance(label, str) else f'row {label}'})"
        for kind, label in zip(position_of_kind, labels, strict=True)
    ]
    for k, (name, position) in enumerate(zip(names, positions.tolist(), strict=True)):
        waterfall = ShapleyWaterfallDisplay.from_explanation(
            explanation, row=k, max_entries=inspection.max_features
        )
        response = inspection.named(explanation.response_name)
        caption = f"{name}: contributions to the {response}"
        figures.append(drawn(waterfall, caption))
        profiles = CeterisParibusDisplay.from_estimator(
            inspection.model, X, features=top, row=position, target=inspection.target
        )
        response = inspection.named(profiles.response_name)
        caption = f"{name}: the {response} as one feature changes"
        figures.append(drawn(profiles, caption))
        if counterfactuals and counterfactuals[k].status[0] == "found":
            n_found += 1
            display = CounterfactualDisplay.from_explanation(
                counterfactuals[k], row=0, background=background.rows.native
            )
            caption = f"{name}: {_proof(counterfactuals[k], another)}"
            figures.append(drawn(display, caption))
    texts = _largest_contributions(explanation)
    largest = list(map(": ".join, zip(names, texts, strict=True)))
    response = inspection.named(explanation.response_name)
    summary = f"Largest contributions to the {response}: {'; '.join(largest[:4])}."
    if n_found:
        summary += f" Rows with {another} were found near {n_found} of them."
    code = "ShapleyValues(FrozenEstimator(model)).fit(X).explain(rows)"
    return SectionResult(summary, figures, code)


def _positions_by_kind(inspection: Inspection) -> dict[str, int]:
    """Positions of the rows chosen, or of typical and odd ones, by their kind."""
    if inspection.chosen is not None:
        return {f"Chosen row {k + 1}": i for k, i in enumerate(inspection.chosen)}
    critic, positions = inspection.critic, {}
    if inspection.has_targets:
        order = np.argsort(inspection.held_out_losses, kind="stable")
        best, worst = inspection.held_out[order[[0, -1]]].tolist()
        positions = {"Best predicted": best, "Worst predicted": worst}
    indices = np.searchsorted(inspection.sample.index, inspection.part.index)
    positions["Most typical"] = int(indices[critic.prototype_indices_[0]])
    if len(critic.criticism_indices_):
        positions["Most unusual"] = int(indices[critic.criticism_indices_[0]])
    return positions


def _row_names(sample: Sample, positions: NDArray[np.intp]) -> list[Any]:
    """Labels of rows of a sample: those of its frame, or their positions in `X`."""
    native = sample.rows.native
    labelled = hasattr(native, "columns") and hasattr(native, "index")
    return (native.index if labelled else sample.index)[positions].tolist()


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


def _proof(explanation: RowExplanation, another: str) -> str:
    """How near a counterfactual is known to be, in words."""
    if explanation.optimal is not None and explanation.optimal[0]:
        return f"the nearest row with {another}, proved"
    if explanation.lower_bounds is not None:
        bound = rounded_text(explanation.lower_bounds[0], down=True)
        return f"a row with {another}; none is nearer than {bound}"
    return f"a row with {another}, found by search; a nearer one may exist"


def _counterfactuals(inspection: Inspection, explained: Rows) -> list[RowExplanation]:
    """A counterfactual of each row: another class, or the other side of the median.

    An empty list for classifiers with several labels for a row.
    """
    if inspection.classifies and inspection.has_several_outputs:
        return []
    X = inspection.part.rows.native
    sides: list[Any] = ["other"] * explained.n_rows
    if not inspection.classifies:
        median = float(np.median(inspection.predictions(X)))
        predictions = inspection.predictions(explained.native)
        sides = [(median, None) if p < median else (None, median) for p in predictions]
    # Rows of one side share a fitted search: to fit it takes longer than to explain.
    searches = {side: _search(inspection, X, side) for side in dict.fromkeys(sides)}
    return [
        searches[side].explain(explained.take(np.array([k])).native)
        for k, side in enumerate(sides)
    ]


def _search(inspection: Inspection, X: Any, side: Any) -> Any:
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
def training(inspection: Inspection) -> SectionResult:
    """Rows that stand for the data, that look wrong, and that move the model."""
    tables, code = [], "MMDCritic().fit(X)"
    if inspection.is_table:
        tables.append(_prototypes(inspection))
    try:
        inspection.need("targets")
    except NotApplicable as reason:
        return SectionResult(str(reason), tables, code)
    table, summary = _surprising(inspection)
    tables.append(table)
    # A frozen model was fitted to other rows.
    if inspection.is_table and inspection.folds:
        try:
            table, sentence = _influential(inspection)
            tables.append(table)
        except UnreadableModelError:
            sentence = "Influence is shown of linear models and networks only."
        except NotApplicable as reason:
            sentence = str(reason)
        summary += f" {sentence}"
    return SectionResult(summary, tables, code)


def _prototypes(inspection: Inspection) -> Table:
    """Table of the most typical and the most unusual rows."""
    critic, sample = inspection.critic, inspection.part
    positions = np.append(critic.prototype_indices_, critic.criticism_indices_)
    kinds = ["typical"] * len(critic.prototype_indices_)
    kinds += ["unusual"] * len(critic.criticism_indices_)
    columns: dict[str, Any] = {"row": _row_names(sample, positions), "kind": kinds}
    for j in inspection.top:
        columns[inspection.names[j]] = sample.rows.displayed(j)[positions]
    return Table(columns, "Rows that stand for the data, and rows unlike them")


def _surprising(inspection: Inspection) -> tuple[Table, str]:
    """Held-out rows with the largest losses: possible errors of the target."""
    losses = inspection.held_out_losses
    worst = np.argsort(-losses, kind="stable")[:8]
    positions = inspection.held_out[worst]
    responses, y = inspection.held_out_responses[worst], inspection.sample.y[positions]
    columns = {"row": _row_names(inspection.sample, positions), "target": y.tolist()}
    if not inspection.classifies:
        columns["prediction"] = responses[:, 0].tolist()
        mean = inspection.mean_loss(inspection.losses_by_fold)
        ratio = losses.max() / mean if mean > 0 else 1.0
        sentence = f"The largest squared error is {number_text(ratio)} times the mean."
    else:
        classes = inspection.model.classes_
        columns["prediction"] = classes[responses.argmax(axis=1)].tolist()
        of_class = responses * inspection.target_columns(y)
        columns["its probability"] = of_class.sum(axis=1).tolist()
        doubtful = (losses > -np.log(0.05)).sum()
        sentence = (
            f"{doubtful} of {len(losses)} rows got less than 5 % for "
            "their own class from a model that had not seen them."
        )
    return Table(columns, "Rows with the least expected targets"), sentence


def _influential(inspection: Inspection) -> tuple[Table, str]:
    """Rows whose removal changes the model most."""
    sample = inspection.sample  # the model is at its optimum on all of them
    if sample.rows.n_rows > _MOST_TRAINING_ROWS:
        raise NotApplicable(
            f"Influence is shown of up to {_MOST_TRAINING_ROWS:,} rows."
        )
    takes_weights = weight_parameter(inspection.model) is not None
    inspector = InfluenceFunctions(inspection.frozen).fit(
        sample.rows.native,
        sample.y,
        sample_weight=sample.weights if takes_weights else None,
    )
    influence = inspector.self_influence_
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
