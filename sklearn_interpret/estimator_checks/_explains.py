"""Checks of `explain` and `interaction_values`: what is given to each row."""

import re
import warnings
from html import escape

import numpy as np

from sklearn_interpret.estimator_checks._results import assert_same
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    NAMES,
    fitted,
    named_table,
    numeric_table,
)
from sklearn_interpret.exceptions import AdditivityWarning
from sklearn_interpret.explanations import BaseExplanation, Explanation, RuleExplanation

_ODD_NAMES = ("<b>length</b>", "width & more", '"height"', "count > 1", "'age'")


def check_explanation_adds_up(inspector):
    """Base value and attributions sum to the prediction.

    Of inspectors with `base_values_`.
    """
    local = fitted(inspector)
    if not hasattr(local, "base_values_"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", AdditivityWarning)
        explanation = local.explain(numeric_table())
    assert explanation.predictions is not None
    sums = explanation.base_values + explanation.values.sum(axis=1)
    assert_same(sums, explanation.predictions, "base value plus attributions")
    expected = np.broadcast_to(local.base_values_, explanation.base_values.shape)
    np.testing.assert_array_equal(explanation.base_values, expected)
    np.testing.assert_array_equal(
        explanation.additivity_error(), sums - explanation.predictions
    )


def check_explanation_describes_the_rows(inspector):
    """An explanation has the rows and names that belong to it.

    One of attributions has an entry for every row and feature; the rules of one of
    rules hold for their rows.
    """
    frame = named_table()
    explanation = fitted(inspector, frame).explain(frame)
    assert isinstance(explanation, BaseExplanation)
    assert len(explanation) == N_ROWS
    assert explanation.data is not None
    assert explanation.data.equals(frame)
    assert explanation[1:].data.equals(frame.iloc[1:])
    assert len(set(explanation.feature_names)) == len(explanation.feature_names)
    if isinstance(explanation, Explanation):
        _check_attributions(explanation, frame)
    if isinstance(explanation, RuleExplanation):
        _check_rules(explanation, frame)


def _check_attributions(explanation, frame):
    """An entry for every row and feature, also in the table."""
    n_rows, n_features, *outputs = explanation.values.shape
    assert n_rows == N_ROWS
    assert explanation.base_values.shape == (n_rows, *outputs)
    assert len(explanation.feature_names) == n_features
    assert len(explanation.output_names) == (outputs[0] if outputs else 1)
    table = explanation.to_frame()
    assert table.index.equals(frame.index)
    np.testing.assert_array_equal(
        table.to_numpy(), explanation.values.reshape(N_ROWS, -1)
    )
    if explanation.columns is None and explanation._features_are_columns:
        assert explanation.feature_names == NAMES


def _check_rules(explanation, frame):
    """Rules that hold for their rows, coverage as counted, precision within bounds."""
    holds = explanation.holds(frame)
    assert holds.shape == (N_ROWS, N_ROWS)
    assert holds.diagonal().all()
    np.testing.assert_allclose(explanation.coverage, holds.mean(axis=1))
    assert (explanation.precision_low <= explanation.precision).all()
    assert (explanation.precision <= explanation.precision_high).all()
    assert set(explanation.status) <= {"found", "failed"}
    table = explanation.to_frame()
    assert table.index.equals(frame.index)
    assert table["rule"].tolist() == [explanation.text(i) for i in range(N_ROWS)]


def check_explanation_escapes_names(inspector):
    """The HTML of an explanation shows names, and runs none."""
    X = named_table(_ODD_NAMES)
    explanation = fitted(inspector, X).explain(X)
    html = explanation._repr_html_()
    for name in explanation.feature_names:
        if isinstance(explanation, Explanation):
            assert escape(name) in html, f"{name!r} is not shown"
        unescaped = name != escape(name) and name in html
        assert not unescaped, f"{name!r} is not escaped"
    tags = set(re.findall(r"</?(\w+)", html))
    assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}, tags


def check_explanation_equals_transform(inspector):
    """`transform` has the values of `explain`, the outputs of a feature together."""
    if not hasattr(inspector, "transform"):
        return
    local = fitted(inspector)
    explanation = local.explain(numeric_table())
    flat = explanation.values.reshape(N_ROWS, -1)
    np.testing.assert_array_equal(local.transform(numeric_table()), flat)
    features, outputs = explanation.feature_names, explanation.output_names
    expected = list(features)
    if len(outputs) > 1:
        expected = [f"{name}_{output}" for name in features for output in outputs]
    assert local.get_feature_names_out().tolist() == expected


def check_interaction_values_add_up(inspector):
    """Interaction values are symmetric, and their rows sum to the attributions."""
    if not hasattr(inspector, "interaction_values"):
        return
    local, X = fitted(inspector), numeric_table()
    pairs, values = local.interaction_values(X), local.explain(X).values
    assert pairs.shape == (*values.shape[:2], *values.shape[1:])
    np.testing.assert_array_equal(pairs, pairs.swapaxes(1, 2))
    assert_same(pairs.sum(axis=2), values, "sums of interaction values")
