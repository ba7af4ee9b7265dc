"""Checks of local methods: what they give to each row, and to it alone.

Inspectors without `explain` pass them all.
"""

import re
import warnings
from html import escape

import numpy as np
from sklearn import config_context

from sklearn_interpret.estimator_checks._results import assert_same
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    NAMES,
    named_table,
    numeric_table,
    prepared,
    target_for,
)
from sklearn_interpret.exceptions import AdditivityWarning
from sklearn_interpret.explanations import BaseExplanation, Explanation

_ODD_NAMES = ("<b>length</b>", "width & more", '"height"', "count > 1", "'age'")


def check_explanation_adds_up(inspector):
    """Base value and attributions sum to the prediction.

    Asked of inspectors with `base_values_`.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    fitted = _fitted(inspector)
    if not hasattr(fitted, "explain") or not hasattr(fitted, "base_values_"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", AdditivityWarning)
        explanation = fitted.explain(numeric_table())
    assert explanation.predictions is not None
    sums = explanation.base_values + explanation.values.sum(axis=1)
    assert_same(sums, explanation.predictions, "base value plus attributions")
    expected = np.broadcast_to(fitted.base_values_, explanation.base_values.shape)
    np.testing.assert_array_equal(explanation.base_values, expected)
    np.testing.assert_array_equal(
        explanation.additivity_error(), sums - explanation.predictions
    )


def check_explanation_describes_the_rows(inspector):
    """An explanation has the rows, predictions and names that belong to it.

    One of attributions has an entry for every row and feature.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    frame = named_table()
    fitted = prepared(inspector).fit(frame, target_for(inspector))
    if not hasattr(fitted, "explain"):
        return
    explanation = fitted.explain(frame)
    assert isinstance(explanation, BaseExplanation)
    assert len(explanation) == N_ROWS
    assert explanation.data is not None
    assert explanation.data.equals(frame)
    assert explanation[1:].data.equals(frame.iloc[1:])
    assert len(set(explanation.feature_names)) == len(explanation.feature_names)
    if isinstance(explanation, Explanation):
        _check_attributions(explanation, frame)


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


def check_explanation_escapes_names(inspector):
    """The HTML of an explanation shows names, and runs none.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X = named_table(_ODD_NAMES)
    fitted = prepared(inspector).fit(X, target_for(inspector))
    if not hasattr(fitted, "explain"):
        return
    explanation = fitted.explain(X)
    html = explanation._repr_html_()
    for name in explanation.feature_names:
        if isinstance(explanation, Explanation):
            assert escape(name) in html, f"{name!r} is not shown"
        unescaped = name != escape(name) and name in html
        assert not unescaped, f"{name!r} is not escaped"
    tags = set(re.findall(r"</?(\w+)", html))
    assert tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}, tags


def check_explanation_equals_transform(inspector):
    """`transform` has the values of `explain`, the outputs of a feature together.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    fitted = _fitted(inspector)
    if not (hasattr(fitted, "explain") and hasattr(fitted, "transform")):
        return
    explanation = fitted.explain(numeric_table())
    flat = explanation.values.reshape(N_ROWS, -1)
    np.testing.assert_array_equal(fitted.transform(numeric_table()), flat)
    features, outputs = explanation.feature_names, explanation.output_names
    expected = list(features)
    if len(outputs) > 1:
        expected = [f"{name}_{output}" for name in features for output in outputs]
    assert fitted.get_feature_names_out().tolist() == expected


def check_explanation_of_a_row_alone(inspector):
    """A row gets the same values whatever is explained with it.

    Alone, in another order, by two workers, with little memory; to 1e-10 of the size.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    fitted, X = _fitted(inspector), numeric_table()
    for name in ("explain", "interaction_values"):
        if hasattr(fitted, name):
            _check_of_a_row_alone(fitted, X, name)


def _check_of_a_row_alone(fitted, X, name):
    def values_of(rows, inspector=fitted):
        found = getattr(inspector, name)(rows)
        if isinstance(found, Explanation):
            return found.values
        return found.to_frame().to_numpy() if name == "explain" else found

    together = values_of(X)
    order = np.random.default_rng(6).permutation(N_ROWS)
    others = {
        "one row at a time": np.concatenate([values_of(row[None]) for row in X]),
        "another order": values_of(X[order])[np.argsort(order)],
    }
    params = fitted.get_params(deep=False)
    if "n_jobs" in params:
        others["two workers"] = values_of(X, fitted.set_params(n_jobs=2))
        fitted.set_params(n_jobs=params["n_jobs"])
    with config_context(working_memory=0.002):
        others["little memory"] = values_of(X)
    atol = 1e-10 * np.abs(together).max()
    for how, found in others.items():
        assert_same(found, together, f"{name}, {how}", rtol=0, atol=atol)


def check_interaction_values_add_up(inspector):
    """Interaction values are symmetric, and their rows sum to the attributions.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    fitted, X = _fitted(inspector), numeric_table()
    if not hasattr(fitted, "interaction_values"):
        return
    pairs, values = fitted.interaction_values(X), fitted.explain(X).values
    assert pairs.shape == (*values.shape[:2], *values.shape[1:])
    np.testing.assert_array_equal(pairs, pairs.swapaxes(1, 2))
    assert_same(pairs.sum(axis=2), values, "sums of interaction values")


def _fitted(inspector):
    return prepared(inspector).fit(numeric_table(), target_for(inspector))
