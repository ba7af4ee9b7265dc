"""Plain formulas of scores: scikit-learn's numbers, without its checks."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret._model.replacement.repeated_scores import RepeatedScore
from sklearn_interpret._model.responses.scoring import resolve_metrics

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
