"""Plain formulas of scores: scikit-learn's numbers, without its checks."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret._model.replacement.permuted import (
    LEAST_ROWS,
    RepeatedScore,
    similar_rows,
)
from sklearn_interpret._model.responses.scoring import resolve_metrics
from sklearn_interpret._model.rows.arrays import as_rows

REGRESSION = [
    None,
    "r2",
    "neg_mean_squared_error",
    "neg_mean_absolute_error",
    metrics.mean_squared_error,
    metrics.mean_absolute_error,
]
CLASSIFICATION = [None, "accuracy", metrics.zero_one_loss]
OTHERS = ["neg_max_error", "explained_variance", metrics.median_absolute_error]


class Counted:
    """A metric that counts how often its scorer is asked."""

    def __init__(self, scoring, model):
        (self._metric,) = resolve_metrics(scoring, model)
        self.n_calls = 0

    def __getattr__(self, name):
        return getattr(self._metric, name)

    def __call__(self, *arguments):
        self.n_calls += 1
        return self._metric(*arguments)


def scores(scoring, model, X, y, weights):
    """Numbers for the rows and for others, those of the scorer, and its calls."""
    tables = [X, X[::-1], X.copy(), X[::-1] / 2]
    (metric,) = resolve_metrics(scoring, model)
    expected = [metric(model, table, y, weights) for table in tables]
    counted = Counted(scoring, model)
    repeated = RepeatedScore(counted, y, weights)
    found = [repeated.baseline(model, tables[0])]
    found += [repeated(model, table) for table in tables[1:]]
    return found, expected, counted.n_calls


def regression(n_rows):
    """Rows, targets and random weights."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=n_rows)
    return X, y, rng.uniform(1, 5, size=n_rows)


@pytest.mark.parametrize("n_rows", [7, 100, 3001])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", REGRESSION)
def test_the_scorer_of_a_regressor_is_asked_once(scoring, weighted, n_rows):
    X, y, weights = regression(n_rows)
    model = LinearRegression().fit(X, y)
    for targets in (y, y.round().astype(int)):
        found, expected, n_calls = scores(
            scoring, model, X, targets, weights if weighted else None
        )
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert n_calls == 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", CLASSIFICATION)
@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "bb", "c"], [True, False, True]])
def test_the_scorer_of_a_classifier_is_asked_once(scoring, weighted, names):
    X, y, weights = regression(200)
    y = np.array(names)[np.digitize(y, [-1, 1])]
    model = LogisticRegression().fit(X, y)
    found, expected, n_calls = scores(
        scoring, model, X, y, weights if weighted else None
    )
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert n_calls == 1


@pytest.mark.parametrize("scoring", OTHERS)
def test_scores_without_a_formula_are_the_scorers(scoring):
    X, y, _ = regression(50)
    model = LinearRegression().fit(X, y)
    found, expected, n_calls = scores(scoring, model, X, y, None)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert n_calls == 4


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_several_targets_and_constant_ones_are_the_scorers(scoring):
    X, y, _ = regression(50)
    for targets in (np.column_stack([y, -y]), np.ones(50)):
        model = LinearRegression().fit(X, y if targets.ndim == 1 else targets)
        found, expected, n_calls = scores(scoring, model, X, targets, None)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert n_calls == (4 if scoring is None or targets.ndim == 2 else 1)


def test_answers_that_are_no_numbers_are_refused_by_the_scorer():
    X, y, _ = regression(50)
    model = LinearRegression().fit(X, y)
    repeated = RepeatedScore(Counted("r2", model), y, None)
    repeated.baseline(model, X)
    model.coef_ = np.full(3, np.inf)
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match=r"NaN|infinity"),
    ):
        repeated(model, abs(X))


def test_losses_of_other_methods_than_their_own():
    X, y, _ = regression(50)
    labels = (y > 0).astype(int)
    model = LogisticRegression().fit(X, labels)
    (metric,) = resolve_metrics(
        metrics.mean_squared_error, model, response_method="predict_proba"
    )
    brier = metrics.brier_score_loss(labels, model.predict_proba(X)[:, 1])
    assert metric.row_loss is None
    assert metric(model, X, labels, None) == pytest.approx(brier, rel=1e-12)
    (own,) = resolve_metrics(metrics.log_loss, model, response_method="predict_proba")
    assert own.row_loss == "log"


def groups(X, columns, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    return similar_rows(as_rows(X), columns, weights)


def test_what_depends_on_nothing_is_hardly_ever_split():
    rng = np.random.default_rng(0)
    splits = [groups(rng.normal(size=(300, 5)), (0,)).max() for _ in range(20)]
    assert sum(splits) <= 2


def test_a_copy_is_split_as_far_as_rows_go():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X = np.column_stack([X, X[:, 0]])
    found = groups(X, (0,))
    sizes = np.bincount(found)
    assert sizes.min() >= LEAST_ROWS
    assert len(sizes) > 20
    within = sum(X[found == g, 0].var() * n for g, n in enumerate(sizes)) / 500
    assert within < 0.02
    assert groups(X, (0, 3)).max() == 0


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c"], size=300)
    number = np.where(town == "a", 0.0, 5.0) + rng.normal(size=300)
    number[::10] = np.nan
    X = pd.DataFrame({"town": town, "number": number, "noise": rng.normal(size=300)})
    found = groups(X, (1,))
    assert found.max() == 1
    assert_array_equal(found == found[np.argmax(town == "a")], town == "a")
    assert groups(X, (0,)).max() >= 1
    assert groups(X, (2,)).max() == 0


def test_constant_columns_and_few_rows():
    X = np.column_stack([np.ones(100), np.arange(100.0)])
    assert groups(X, (0,)).max() == 0
    assert groups(X, (0, 1)).max() == 0
    assert groups(np.arange(20.0).reshape(10, 2), (0,)).max() == 0


def test_order_is_all_that_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 1] = X[:, 0] + rng.normal(size=200) / 4
    assert_array_equal(groups(X, (0,)), groups(np.exp(X), (0,)))
