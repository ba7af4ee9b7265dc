"""Checks of `explain` and `interaction_values`: the results of each row."""

from __future__ import annotations

import json
import re
import warnings
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from sklearn_interpret.estimator_checks._results import assert_same, nearest_rows
from sklearn_interpret.estimator_checks._tables import (
    FEW_ROWS,
    NAMES,
    fitted,
    named_table,
    numeric_table,
    optional,
    pandas_mixed,
    prepared,
    target_for,
)
from sklearn_interpret.exceptions import AdditivityWarning, NoCounterfactualWarning
from sklearn_interpret.explanations import (
    BaseExplanation,
    Explanation,
    InteractionExplanation,
    RowExplanation,
    RuleExplanation,
)

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.sklearn_bases import DataFrame

_ODD_NAMES = ("<b>length</b>", "width & more", '"height"', "count > 1", "'age'")


def check_explanation_survives_json(inspector: Any) -> None:
    """`to_dict` of an explanation names its rows, and is strict JSON."""
    optional("pandas")
    X = named_table()[FEW_ROWS]
    content = fitted(inspector, named_table()).explain(X).to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    rows = [line["row"] for line in content["rows"]]
    assert rows == X.index.tolist()
    assert {line["row"] for line in content["results"]} <= set(rows)
    for line, values in zip(content["rows"], X.to_dict("records"), strict=True):
        assert line["data"] == values
    assert content["versions"].keys() >= {"sklearn_interpret", "sklearn", "numpy"}


def check_explanation_adds_up(inspector: Any) -> None:
    """Base value and attributions sum to the prediction.

    For inspectors with `base_values_`. Components of a functional decomposition have a
    remainder, and are not checked.
    """
    local = fitted(inspector)
    if not hasattr(local, "base_values_"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", AdditivityWarning)
        explanation = local.explain(numeric_table())
    assert explanation.predictions is not None
    expected = np.broadcast_to(local.base_values_, explanation.base_values.shape)
    np.testing.assert_array_equal(explanation.base_values, expected)
    if isinstance(explanation, InteractionExplanation):
        return
    sums = explanation.base_values + explanation.values.sum(axis=1)
    assert_same(sums, explanation.predictions, "base value plus attributions")
    np.testing.assert_array_equal(
        explanation.additivity_error(), sums - explanation.predictions
    )


def check_explanation_describes_the_rows(inspector: Any) -> None:
    """An explanation has the rows it explains, and names of its features.

    Attributions have an entry for every row and feature; rules hold for their rows.
    """
    table = named_table()
    frame = table[FEW_ROWS]
    explanation = fitted(inspector, table).explain(frame)
    assert isinstance(explanation, BaseExplanation)
    assert len(explanation) == len(frame)
    assert explanation.data is not None
    assert explanation.data.equals(frame)
    assert explanation[1:].data.equals(frame.iloc[1:])
    assert len(set(explanation.feature_names)) == len(explanation.feature_names)
    if isinstance(explanation, Explanation | InteractionExplanation):
        _check_attributions(explanation, frame)
    if isinstance(explanation, RuleExplanation):
        _check_rules(explanation, table)


def _check_attributions(explanation: Any, frame: DataFrame) -> None:
    """An entry for every row and feature (set of features), also in the table."""
    n_rows, n_entries, *outputs = explanation.values.shape
    assert n_rows == len(frame)
    assert explanation.base_values.shape == (n_rows, *outputs)
    assert len(_entry_names(explanation)) == n_entries
    assert len(explanation.output_names) == (outputs[0] if outputs else 1)
    table = explanation.to_frame()
    assert table.index.equals(frame.index)
    np.testing.assert_array_equal(
        table.to_numpy(), explanation.values.reshape(n_rows, -1)
    )
    features_are_columns = getattr(explanation, "_features_are_columns", True)
    if explanation.columns is None and features_are_columns:
        assert explanation.feature_names == NAMES


def _entry_names(explanation: Any) -> Any:
    """Names of the features, or sets of features, that have a value for each row."""
    return getattr(explanation, "interaction_names", explanation.feature_names)


def _check_rules(explanation: Any, rows: Any) -> None:
    """Check rules, coverage and precision; explained are the first of `rows`."""
    n_rows, holds = len(explanation), explanation.holds(rows)
    assert holds.shape == (n_rows, len(rows))
    assert holds.diagonal().all()
    np.testing.assert_allclose(explanation.coverage, holds.mean(axis=1))
    assert (explanation.precision_low <= explanation.precision).all()
    assert (explanation.precision <= explanation.precision_high).all()
    assert set(explanation.status) <= {"found", "failed"}
    table = explanation.to_frame()
    assert table.index.equals(rows.index[:n_rows])
    assert table["rule"].tolist() == [explanation.text(i) for i in range(n_rows)]


def check_explanation_escapes_names(inspector: Any) -> None:
    """The HTML of an explanation shows names, and runs none."""
    X = named_table(_ODD_NAMES)
    explanation = fitted(inspector, X).explain(X[FEW_ROWS])
    html = explanation._repr_html_()
    for name in explanation.feature_names:
        if isinstance(explanation, Explanation):
            assert escape(name) in html, f"{name!r} is not shown"
        unescaped = name != escape(name) and name in html
        assert not unescaped, f"{name!r} is not escaped"
    tags = set(re.findall(r"</?(\w+)", html))
    assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}, tags


def check_explanation_equals_transform(inspector: Any) -> None:
    """`transform` has the values of `explain`, the outputs of a feature together.

    Where rows are explained by rows, it has the nearest of these. Not checked where
    `transform` returns something else: columns named after the class, or whether rules
    hold.
    """
    named_after_class = isinstance(inspector, ClassNamePrefixFeaturesOutMixin)
    if not hasattr(inspector, "transform") or named_after_class:
        return
    local, X = fitted(inspector), numeric_table()[FEW_ROWS]
    if hasattr(local, "rules_"):
        return
    explanation = local.explain(X)
    if isinstance(explanation, RowExplanation):
        nearest, _ = nearest_rows(explanation)
        np.testing.assert_array_equal(local.transform(X), nearest)
        return
    flat = explanation.values.reshape(len(X), -1)
    np.testing.assert_array_equal(local.transform(X), flat)
    names, outputs = _entry_names(explanation), explanation.output_names
    expected = list(names)
    if len(outputs) > 1:
        expected = [f"{name}_{output}" for name in names for output in outputs]
    assert local.get_feature_names_out().tolist() == expected


def check_interaction_values_add_up(inspector: Any) -> None:
    """Interaction values are symmetric, and their rows sum to the attributions."""
    if not hasattr(inspector, "interaction_values"):
        return
    local, X = fitted(inspector), numeric_table()
    pairs, values = local.interaction_values(X), local.explain(X).values
    assert pairs.shape == (*values.shape[:2], *values.shape[1:])
    np.testing.assert_array_equal(pairs, pairs.swapaxes(1, 2))
    assert_same(pairs.sum(axis=2), values, "sums of interaction values")


def check_rows_found_satisfy_the_target(inspector: Any) -> None:
    """The model's responses to the rows that were found satisfy the target.

    For inspectors with `desired`, as all checks below.
    """
    if not hasattr(inspector, "desired"):
        return
    local, X = fitted(inspector), numeric_table()[FEW_ROWS]
    explanation = _explain_quietly(local, X)
    if _is_attack(local):
        failed = explanation[~explanation.valid]
        assert set(failed.status) <= {"failed", "impossible"}
        assert all(failed.reasons), "a row without a reason"
        explanation = explanation[explanation.valid]
        X = explanation.data
    assert explanation.valid.all()
    assert (np.diff(explanation.origin) >= 0).all()
    has_row = np.isin(np.arange(len(X)), explanation.origin)
    says_so = np.isin(explanation.status, ["found", "unchanged"])
    np.testing.assert_array_equal(has_row, says_so)
    assert all(explanation.reasons[~has_row]), "a row without a reason"
    if len(explanation.origin):  # a model takes no table without rows
        _check_answers(local, explanation)
    unchanged = (explanation.status == "unchanged")[explanation.origin]
    assert not explanation.n_changed[unchanged].any()
    assert explanation.n_changed[~unchanged].all()
    if getattr(local, "max_changes", None) is not None:
        assert (explanation.n_changed <= local.max_changes).all()


def _is_attack(local: Any) -> bool:
    """Whether an inspector is an attack: it returns its last row where it fails."""
    return hasattr(local, "robust_score")


def _explain_quietly(local: Any, X: Any) -> Any:
    """The explanation of rows; that some have no counterfactual is no failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCounterfactualWarning)
        return local.explain(X)


def _check_answers(local: Any, explanation: Any) -> None:
    """Rows found get the class, or a response in the interval, that is desired."""
    rows, desired = explanation.rows, local.desired
    if desired is None:
        desired = "other" if local.target is None else local.target
    labels = local.predict(rows)
    if isinstance(desired, tuple | list):
        low, high = (np.nan if end is None else end for end in desired)
        responses = labels
        if hasattr(local, "predict_proba"):
            responses = local.predict_proba(rows)[:, 1]
        assert_same(explanation.predictions, responses, "predictions of rows found")
        assert not (explanation.predictions < low).any()
        assert not (explanation.predictions > high).any()
    elif desired == "other":
        answers = local.predict(explanation.data)[explanation.origin]
        assert (labels != answers).all()
    else:
        assert (labels == desired).all()


def check_rows_found_keep_what_is_fixed(inspector: Any) -> None:
    """Features that may not vary are the same to the last bit, in the same dtypes.

    Changed values are within the permitted ranges and directions.
    """
    if not hasattr(inspector, "desired"):
        return
    low, high = -1.25, 1.75
    limits = {
        "features_to_vary": [0, 1, 2, 3],
        "permitted_range": {0: (low, high)},
        "direction": {1: "increase", 2: "decrease"},
    }
    if _is_attack(inspector):
        smallest, largest = numeric_table().min(axis=0), numeric_table().max(axis=0)
        bounds = {0: (low, high), 1: (-np.inf, np.inf)}
        limits = {"features_to_vary": [0, 1, 2, 3], "bounds": bounds}
    X = numeric_table()
    local = prepared(inspector, **limits).fit(X, target_for(inspector))
    explanation = _explain_quietly(local, X[FEW_ROWS])
    before, after = X[explanation.origin], explanation.rows
    assert after.dtype == X.dtype
    np.testing.assert_array_equal(after[:, 4], before[:, 4])
    if _is_attack(inspector):
        assert (after[:, 2:] >= smallest[2:]).all()
        assert (after[:, 2:] <= largest[2:]).all()
    else:
        assert (after[:, 1] >= before[:, 1]).all()
        assert (after[:, 2] <= before[:, 2]).all()
    changed = after[after[:, 0] != before[:, 0], 0]
    assert (changed >= low).all()
    assert (changed <= high).all()


def check_rows_found_keep_the_container(inspector: Any) -> None:
    """Rows found in a frame have its columns and dtypes; the frame is not changed."""
    if not hasattr(inspector, "desired"):
        return
    X = pandas_mixed()
    X = X[[name for name in X.columns if X[name].dtype.kind in "iuf"]]
    before = X.copy(deep=True)
    names = ("permitted_range", "direction")
    limits = dict.fromkeys(("bounds",) if _is_attack(inspector) else names)
    limits["features_to_vary"] = [0, 1]
    local = prepared(inspector, **limits).fit(X, target_for(inspector))
    explanation = _explain_quietly(local, X[FEW_ROWS])
    assert X.equals(before)
    assert explanation.rows.dtypes.equals(X.dtypes)
    origins = X.iloc[explanation.origin]
    frozen = X.columns[2:]
    is_same = explanation.rows[frozen].to_numpy() == origins[frozen].to_numpy()
    assert is_same.all()
