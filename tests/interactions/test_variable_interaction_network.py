"""Hooker's network: closed forms, and what is looked at."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

from sklearn_interpret.exceptions import UndefinedShareWarning
from sklearn_interpret.interactions import VariableInteractionNetwork
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references.models import frozen

X = np.random.default_rng(0).uniform(-1, 1, size=(200, 4))
X -= X.mean(axis=0)
VARIANCES = (X**2).mean(axis=0)


def network(formula, rows=X, weights=None, **params):
    params = {"random_state": 0, "n_repeats": 5, **params}
    found = VariableInteractionNetwork(frozen(formula, rows), **params)
    return found.fit(rows, sample_weight=weights)


def assert_near(found, name, expected, n_errors=4):
    error = found.standard_errors_[name]
    assert 0 < error < 0.2 * expected
    assert abs(found.strengths_[name] - expected) < n_errors * error


def test_additive_models_have_no_edge():
    found = network(lambda a, b, c, d: a + np.exp(b) - np.sign(c), threshold=0.0)
    assert found.graph_ == {}
    assert_array_equal(found.adjacency_, np.zeros((4, 4)))
    assert found.strengths_["x0", "x2"] == 0  # and not just nearly
    assert found.cliques_ == [("x0",), ("x1",), ("x2",)]
    parts = [VARIANCES[0], np.var(np.exp(X[:, 1])), np.var(np.sign(X[:, 2])), 0]
    total = np.var(X[:, 0] + np.exp(X[:, 1]) - np.sign(X[:, 2]))
    assert_allclose(found.main_effects_, np.array(parts) / total, atol=0.02)
    weak = network(lambda a, b, c, d: a + 30 * b)
    assert weak.cliques_ == [("x1",)]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_product_and_a_term(weighted):
    """Centred, x0 x1 + 2 x2 has the parts v0 v1 and 4 v2, and no main effect of x0."""
    weights = np.random.default_rng(1).integers(1, 4, len(X)) if weighted else None
    rows = X - np.average(X, axis=0, weights=weights)
    found = network(
        lambda a, b, c, d: a * b + c / 2, rows, weights, n_repeats=20, threshold=0.02
    )
    v = np.average(rows**2, axis=0, weights=weights)
    response = rows[:, 0] * rows[:, 1] + rows[:, 2] / 2
    mean = np.average(response, weights=weights)
    total = np.average((response - mean) ** 2, weights=weights)
    assert list(found.graph_) == [("x0", "x1")]
    assert found.graph_["x0", "x1"] == found.strengths_["x0", "x1"]
    assert_near(found, ("x0", "x1"), v[0] * v[1] / total)
    assert_near(found, ("x2",), v[2] / 4 / total)
    assert found.adjacency_[0, 1] == found.adjacency_[1, 0] == found.graph_["x0", "x1"]
    assert np.count_nonzero(found.adjacency_) == 2
    expected = [0, 0, v[2] / 4 / total, 0]
    assert_allclose(found.main_effects_, expected, atol=0.02)
    assert found.cliques_ == [("x0", "x1"), ("x2",)]
    assert ("x0", "x3") not in found.strengths_  # for x3 has no effect at all


def test_three_way_product():
    found = network(lambda a, b, c, d: a * b * c + d / 5, max_order=3)
    assert len(found.graph_) == 3
    total = np.var(X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] / 5)
    expected = VARIANCES[:3].prod() / total
    assert_near(found, ("x0", "x1", "x2"), expected)
    for pair in found.graph_:  # of a pair, all that it takes part in
        assert_near(found, pair, expected)
    assert found.cliques_ == [("x0", "x1", "x2"), ("x3",)]


def test_three_pairs_are_told_from_a_triple_at_order_three():
    def formula(a, b, c, d):
        return a * b + b * c + a * c

    assert network(formula).cliques_ == [("x0", "x1", "x2")]
    found = network(formula, max_order=4)
    assert found.strengths_["x0", "x1", "x2"] == 0
    assert found.cliques_ == [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]


@pytest.mark.parametrize("max_order", [10**5, 10**18])
def test_an_order_beyond_all_features_is_that_of_all(max_order):
    found = network(lambda a, b, c, d: a * b * c * d, max_order=max_order)
    whole = network(lambda a, b, c, d: a * b * c * d, max_order=4)
    assert found.strengths_ == whole.strengths_


def test_rows_sent():
    """One for each row, repeat and set that is looked at, and the rows themselves."""
    for formula, n_sets in (
        (lambda a, b, c, d: a * b + c, 4 + 3),
        (lambda a, b, c, d: a * b * c * d, 4 + 6 + 4),
        (lambda a, b, c, d: 0 * a, 4),
    ):
        found = network(formula, max_order=3, threshold=1e-6)
        assert len(found.strengths_) == n_sets
        sent = sum(found.estimator_.estimator.sizes_)
        assert sent == 200 * (1 + 5 * n_sets)


def test_groups_and_categories():
    frame, y = mixed_frame()
    model = FrozenEstimator(encoded(SVR()).fit(frame, y))
    found = VariableInteractionNetwork(
        model,
        features=["size", "colour", "where"],
        feature_groups={"where": ["town", "new"]},
        threshold=0.0,
        random_state=0,
    ).fit(frame)
    assert found.player_names_ == ["size", "colour", "where"]
    assert set(found.graph_) == {
        ("size", "colour"),
        ("size", "where"),
        ("colour", "where"),
    }
    assert found.main_effects_.shape == (3,)


def test_several_outputs():
    rows, y = numeric_table(60)
    model = RandomForestClassifier(5, random_state=0).fit(rows, classes(y, 3))
    model = FrozenEstimator(model)
    found = VariableInteractionNetwork(model, random_state=0, threshold=0.0).fit(rows)
    assert found.output_names_ == ["low", "mid", "top"]
    assert found.adjacency_.shape == (3, 3, 3)
    assert found.main_effects_.shape == (3, 3)
    one = VariableInteractionNetwork(
        model, random_state=0, threshold=0.0, target="mid"
    ).fit(rows)
    assert one.adjacency_.shape == (3, 3)
    assert_allclose(one.adjacency_, found.adjacency_[1], atol=1e-12)
    for pair, strengths in found.graph_.items():
        assert strengths[1] == pytest.approx(one.graph_[pair])


def test_dependent_rows_of_few_values():
    rows = np.repeat(np.random.default_rng(0).integers(0, 2, size=(100, 1)), 2, axis=1)
    with pytest.warns(UndefinedShareWarning):
        found = network(lambda a, b: 1.0 * (a == b), rows, threshold=0.1)
    assert found.graph_ == {}  # the rows' own response is constant: no variance
    found = network(lambda a, b: a * b, rows)
    assert list(found.graph_) == [("x0", "x1")]


def test_one_feature():
    found = network(lambda a: a**2, X[:, :1])
    assert found.graph_ == {}
    assert found.adjacency_.tolist() == [[0]]
    assert found.cliques_ == [("x0",)]


def test_a_single_row_has_no_variance():
    with pytest.raises(ValueError, match=r"VariableInteractionNetwork .* n_samples=1"):
        network(lambda a, b, c, d: a * b, X[:1])


@pytest.mark.parametrize(
    "params, message",
    [
        ({"threshold": 1.0}, "threshold"),
        ({"threshold": -0.1}, "threshold"),
        ({"n_repeats": 1}, "n_repeats"),
        ({"n_repeats": True}, "n_repeats"),
        ({"n_repeats": 10**20}, "n_repeats"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        VariableInteractionNetwork(LinearRegression(), **params).fit(X, X[:, 0])


def test_a_response_that_varies_between_the_rows_only():
    rows = X.copy()
    rows[:, 1] = rows[:, 0]
    with pytest.warns(UndefinedShareWarning, match="'x0', 'x1', and set to zero"):
        found = network(lambda a, b, c, d: np.abs(a - b), rows)
    assert set(found.strengths_.values()) == {0}
    assert_array_equal(found.main_effects_, 0)


def test_a_constant_response_has_shares_of_zero():
    found = network(lambda a, b, c, d: 0 * a + 3)
    assert set(found.strengths_.values()) == {0}
