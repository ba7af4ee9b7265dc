"""Exact permutation importance is the mean over all pairs of rows."""

from contextlib import nullcontext
from itertools import count

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    brier_score_loss,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    zero_one_loss,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

from sklearn_interpret._model.replacement import dependence_at_rows
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.importance import PermutationImportance
from tests.importance.data import LABELS, brier_of, labels_of, log_loss_of, table
from tests.references.importance import all_pairs
from tests.references.models import Formula, watched

X, Y = table()

BRUTE = TransformedTargetRegressor(LinearRegression())  # which is not read

REGRESSORS = [
    pytest.param(BRUTE, id="brute"),
    pytest.param(GradientBoostingRegressor(n_estimators=8, random_state=0), id="gb"),
    pytest.param(LinearRegression(), id="linear"),
    pytest.param(GradientBoostingRegressor(max_depth=1, random_state=0), id="stumps"),
    pytest.param(HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=4), id="h"),
    pytest.param(RandomForestRegressor(5, max_depth=5, random_state=0), id="forest"),
]
CLASSIFIERS = [
    pytest.param(LogisticRegression(), id="linear"),
    pytest.param(GradientBoostingClassifier(n_estimators=4, random_state=0), id="gb"),
    pytest.param(
        HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=4), id="h"
    ),
    pytest.param(RandomForestClassifier(5, max_depth=4, random_state=0), id="forest"),
]

REGRESSION_LOSSES = {
    "neg_mean_squared_error": lambda y, p: (y - p) ** 2,
    "neg_mean_absolute_error": lambda y, p: abs(y - p),
    "neg_mean_absolute_percentage_error": lambda y, p: abs(y - p) / abs(y),
}


def exact(model, X, y, weights=None, **parameters):
    """Importances of all features by the estimator."""
    inspector = PermutationImportance(
        FrozenEstimator(model), method="exact", **parameters
    )
    return inspector.fit(X, y, sample_weight=weights)


def reference(X, y, answer, loss, comparison="difference", weights=None, players=None):
    """Importances of all features by the definition."""
    players = players or [[j] for j in range(X.shape[1])]
    found = [all_pairs(X, y, answer, loss, part, weights) for part in players]
    if comparison == "ratio":
        return np.array([after / before for before, after in found])
    return np.array([after - before for before, after in found])


both_comparisons = pytest.mark.parametrize("comparison", ["difference", "ratio"])


@both_comparisons
@pytest.mark.parametrize("scoring", REGRESSION_LOSSES)
@pytest.mark.parametrize("model", REGRESSORS)
def test_regression(model, scoring, comparison):
    model = model.fit(X, Y)
    loss = REGRESSION_LOSSES[scoring]
    found = exact(model, X, Y, scoring=scoring, comparison=comparison)
    expected = reference(X, Y, model.predict, loss, comparison)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10, atol=1e-12)
    assert_allclose(
        found.baseline_score_, -all_pairs(X, Y, model.predict, loss, [0])[0]
    )
    assert found.importances_.shape == (4, 1)
    assert not found.importances_std_.any()


@pytest.mark.parametrize(("n_classes", "comparison"), [(2, "difference"), (3, "ratio")])
@pytest.mark.parametrize("kind", ["accuracy", "neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_classification(model, kind, n_classes, comparison):
    X, y = table()
    y = labels_of(y, n_classes)
    model = model.fit(X, y)
    answer, loss = {
        "accuracy": (model.predict, lambda label, answer: float(label != answer)),
        "neg_log_loss": (model.predict_proba, log_loss_of(model.classes_)),
        "neg_brier_score": (model.predict_proba, brier_of(model.classes_)),
    }[kind]
    found = exact(model, X, y, scoring=kind, comparison=comparison)
    expected = reference(X, y, answer, loss, comparison)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10, atol=1e-12)


def test_r2_divides_by_the_variance():
    model = LinearRegression().fit(X, Y)
    found = exact(model, X, Y)
    expected = reference(X, Y, model.predict, lambda t, a: (t - a) ** 2) / Y.var()
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)
    assert_allclose(found.baseline_score_, model.score(X, Y))
    assert_allclose(
        exact(model, X, Y, scoring="r2").feature_importances_, expected, rtol=1e-10
    )


def test_r2_of_several_outputs_is_their_mean():
    X, y = table()
    Y = np.column_stack([y, X[:, 3] ** 2])
    model = RandomForestRegressor(3, max_depth=4, random_state=0).fit(X, Y)

    variance = Y.var(axis=0)

    def loss(targets, answers):
        return np.mean((targets - answers) ** 2 / variance)

    found = exact(model, X, Y)
    expected = reference(X, Y, model.predict, loss)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)
    assert_allclose(found.baseline_score_, model.score(X, Y))


@pytest.mark.parametrize(
    ("scoring", "loss"),
    [
        ("neg_mean_poisson_deviance", lambda y, p: 2 * (y * np.log(y / p) - y + p)),
        ("neg_mean_gamma_deviance", lambda y, p: 2 * (np.log(p / y) + y / p - 1)),
        ("neg_mean_squared_log_error", lambda y, p: np.log((1 + y) / (1 + p)) ** 2),
    ],
)
def test_losses_of_positive_targets_with_a_log_link(scoring, loss):
    X, y = table()
    y = np.exp(y / 4)
    model = HistGradientBoostingRegressor(
        loss="poisson", max_iter=8, min_samples_leaf=4
    ).fit(X, y)
    found = exact(model, X, y, scoring=scoring)
    expected = reference(X, y, model.predict, loss)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", REGRESSORS[:3])
def test_whole_weights_are_copies_of_rows(model):
    X, y = table(25)
    model = model.fit(X, y)
    weights = np.random.default_rng(1).integers(1, 4, size=25)
    found = exact(model, X, y, weights, scoring="neg_mean_absolute_error")
    expected = reference(X, y, model.predict, lambda t, a: abs(t - a), weights=weights)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)
    ones = exact(model, X, y, np.ones(25)).feature_importances_
    assert_allclose(ones, exact(model, X, y).feature_importances_, rtol=1e-14)


@pytest.mark.parametrize("model", REGRESSORS[:3])
def test_groups_move_together(model):
    model = model.fit(X, Y)
    found = exact(
        model, X, Y, feature_groups={"pair": [3, 1]}, scoring="neg_mean_squared_error"
    )
    expected = reference(
        X, Y, model.predict, lambda t, a: (t - a) ** 2, players=[[0], [1, 3], [2]]
    )
    assert found.player_names_ == ["x0", "pair", "x2"]
    assert_allclose(found.importances_mean_, expected, rtol=1e-10)
    assert_allclose(found.feature_importances_, expected[[0, 1, 2, 1]], rtol=1e-10)


def own_squared(y_true, y_pred):
    return (y_true - y_pred) ** 2


def own_mean_squared(y_true, y_pred, sample_weight=None):
    return np.average((y_true - y_pred) ** 2, weights=sample_weight)


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (own_squared, "neg_mean_squared_error"),
        (own_mean_squared, "neg_mean_squared_error"),
        (mean_squared_error, "neg_mean_squared_error"),
        (mean_absolute_error, "neg_mean_absolute_error"),
    ],
)
def test_losses_of_numbers_passed_as_functions(loss, name):
    model = REGRESSORS[1].values[0].fit(X, Y)
    weights = np.random.default_rng(1).integers(1, 4, size=len(Y))
    by_name = exact(model, X, Y, weights, scoring=name)
    found = exact(model, X, Y, weights, scoring=loss)
    assert_allclose(found.importances_, by_name.importances_, rtol=1e-10)
    assert_allclose(found.baseline_score_, -by_name.baseline_score_)


def own_miss(y_true, y_pred):
    return (y_true != y_pred).astype(float)


def own_log(y_true, y_pred):
    probability = y_pred[
        np.arange(len(y_pred)), np.searchsorted(sorted(set(LEVELS)), y_true)
    ]
    return -np.log(probability)


LEVELS = ["no", "perhaps", "yes"]


@pytest.mark.parametrize(
    ("loss", "method", "name"),
    [
        (own_miss, "predict", "accuracy"),
        (own_log, "predict_proba", "neg_log_loss"),
        (zero_one_loss, "auto", "accuracy"),
        (log_loss, "auto", "neg_log_loss"),
        (brier_score_loss, "auto", "neg_brier_score"),
    ],
)
def test_losses_of_classes_passed_as_functions(loss, method, name):
    X, y = table()
    y = labels_of(y, 3)
    model = CLASSIFIERS[0].values[0].fit(X, y)
    by_name = exact(model, X, y, scoring=name)
    found = exact(model, X, y, scoring=loss, response_method=method)
    assert_allclose(found.importances_, by_name.importances_, rtol=1e-10)


def own_miss_of_two(y_true, y_pred):
    return np.where(y_true == "yes", 1 - y_pred, y_pred)


def test_the_positive_class_speaks_for_two():
    X, y = table()
    y = np.where(y > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    answer = model.predict_proba
    place = {"no": 0, "yes": 1}
    expected = reference(X, y, answer, lambda t, a: 1 - a[place[t]])
    found = exact(model, X, y, scoring=own_miss_of_two)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)


def test_a_transformed_target_is_asked_and_not_read():
    X, y = table()
    y = np.exp(y / 4)
    model = TransformedTargetRegressor(
        GradientBoostingRegressor(n_estimators=8, random_state=0),
        func=np.log,
        inverse_func=np.exp,
    ).fit(X, y)
    found = exact(model, X, y, scoring="neg_mean_squared_error")
    expected = reference(X, y, model.predict, lambda t, a: (t - a) ** 2)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)


def test_several_losses_are_each_alone_for_one_question():
    scoring = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"]
    model = Formula(lambda a, b, c, d: 2 * a + b * c).fit(X)
    together = exact(model, X, Y, scoring=scoring)
    n_asked = sum(model.sizes_)
    model.sizes_.clear()
    for name in scoring:
        alone = exact(model, X, Y, scoring=name)
        assert_allclose(together.results_[name].importances, alone.importances_)
        assert together.results_[name].baseline_score == alone.baseline_score_
    assert sum(model.sizes_) == len(scoring) * n_asked
    assert_allclose(together.importances_, together.results_["r2"].importances)


def test_each_row_is_asked_once_with_each_value_of_each_feature():
    X, y = table(30)
    model = Formula(lambda a, b, c, d: 2 * a + b * c).fit(X)
    exact(model, X, y)
    n_points = sum(len(np.unique(X[:, j])) - 1 for j in range(4))
    # The rows as they are once more, to see whether the model writes to its input.
    assert 30 * n_points < sum(model.sizes_) <= 30 * n_points + 2 * 30


def test_missing_values_are_values():
    X, y = table()
    X[::5, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=4).fit(X, y)
    found = exact(model, X, y, scoring="neg_mean_squared_error")
    expected = reference(X, y, model.predict, lambda t, a: (t - a) ** 2)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)


@pytest.mark.parametrize("model", REGRESSORS[:3])
def test_within_leaves_rows_take_values_of_the_like_only(model):
    """Two groups of rows, which the third feature tells apart by one threshold.

    The mean over rows is wanted, and rows of the larger group have more partners.
    """
    X, y = table(40)
    X[:, 2] = np.arange(40) < 12
    X[:, 0] = X[:, 0] / 10 + 5 * X[:, 2]
    model = model.fit(X, y)
    found = exact(
        model, X, y, conditional=True, scoring="neg_mean_squared_error"
    ).feature_importances_
    total = 0
    for group in (0, 1):
        part = X[:, 2] == group
        _, after = all_pairs(
            X[part], y[part], model.predict, lambda t, a: (t - a) ** 2, [0]
        )
        total += after * part.mean()
    before = np.mean((y - model.predict(X)) ** 2)
    assert_allclose(found[0], total - before, rtol=1e-10)


def own_absolute(y_true, y_pred):
    return abs(y_true - y_pred)


def own_relative(y_true, y_pred):
    return abs(y_true - y_pred) / abs(y_true)


# Each as a name, for which no pair is asked of an additive model, and as a function.
CLOSED = {
    "neg_mean_squared_error": own_squared,
    "neg_mean_absolute_error": own_absolute,
    "neg_mean_absolute_percentage_error": own_relative,
}

ADDITIVE = [
    pytest.param(LinearRegression(), id="linear"),
    pytest.param(make_pipeline(StandardScaler(), SplineTransformer(), Ridge()), id="p"),
    pytest.param(GradientBoostingRegressor(max_depth=1, random_state=0), id="stumps"),
    pytest.param(
        HistGradientBoostingRegressor(
            max_iter=8, min_samples_leaf=4, interaction_cst="no_interactions"
        ),
        id="additive-trees",
    ),
]


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("groups", [None, {"pair": [3, 1]}])
@pytest.mark.parametrize("model", ADDITIVE)
def test_additive_models_need_no_pairs(model, groups, conditional, monkeypatch):
    X, y = table(60)
    X[:, 0] = X[:, 0] / 10 + X[:, 2]
    model = model.fit(X, y)
    weights = np.random.default_rng(1).uniform(0.3, 3, size=60)
    given = {"feature_groups": groups, "conditional": conditional}
    asked = watched(monkeypatch, LinearRegression, "predict")
    named = exact(model, X, y, weights, scoring=list(CLOSED), **given)
    assert sum(len(table) for _, table in asked) <= 3 * 60
    for name, function in CLOSED.items():
        pairs = exact(model, X, y, weights, scoring=function, **given)
        found = named.results_[name].importances
        assert_allclose(found, pairs.importances_, rtol=1e-10, atol=1e-12)
        assert_allclose(named.results_[name].baseline_score, -pairs.baseline_score_)


@pytest.mark.parametrize("scoring", REGRESSION_LOSSES)
def test_linear_models_of_several_outputs(scoring):
    X, y = table()
    Y = np.column_stack([y, X[:, 3] - X[:, 0] + 1])
    model = LinearRegression().fit(X, Y)
    loss = REGRESSION_LOSSES[scoring]
    found = exact(model, X, Y, scoring=scoring)
    expected = reference(X, Y, model.predict, lambda t, a: np.mean(loss(t, a)))
    assert_allclose(found.feature_importances_, expected, rtol=1e-10, atol=1e-12)


def test_linear_models_of_encoded_frames_and_sparse_rows():
    frame = pd.DataFrame({"number": X[:, 0], "kind": LABELS[np.arange(len(Y)) % 3]})
    encoder = make_column_transformer(
        (OneHotEncoder(), ["kind"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, LinearRegression()).fit(frame, Y)
    pairs = exact(model, frame, Y, scoring=own_squared).importances_
    found = exact(model, frame, Y, scoring=mean_squared_error).importances_
    assert_allclose(found, pairs, rtol=1e-10, atol=1e-12)
    model = LinearRegression().fit(X, Y)
    dense, few = (exact(model, rows, Y) for rows in (X, sparse.csr_array(X)))
    assert_allclose(few.importances_, dense.importances_, rtol=1e-10, atol=1e-12)


def test_losses_with_and_without_a_closed_form_together():
    for model in (LinearRegression(), GradientBoostingRegressor(max_depth=1)):
        inspector = exact(model.fit(X, Y), X, Y, scoring=[own_squared, "r2"])
        results = inspector.results_
        squares, r2 = results["own_squared"], results["r2"]
        assert_allclose(squares.importances / Y.var(), r2.importances, rtol=1e-10)


class Cut(LinearRegression):
    """Linear on its rows, and cut off beyond what it predicts for them."""

    def fit(self, X, y):
        super().fit(X, y)
        predictions = super().predict(X)
        self.range_ = predictions.min(), predictions.max()
        return self

    def predict(self, X):
        return np.clip(super().predict(X), *self.range_)


class Rash(LogisticRegression):
    """Says the second class sooner than its decision function."""

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > -1).astype(int)]


def test_what_is_not_as_linear_as_it_seems_is_asked():
    model = Cut().fit(X, Y)
    found = exact(model, X, Y, scoring="neg_mean_squared_error")
    expected = reference(X, Y, model.predict, lambda t, a: (t - a) ** 2)
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)
    labels = labels_of(Y, 2)
    model = Rash().fit(X, labels)
    found = exact(model, X, labels)
    expected = reference(X, labels, model.predict, lambda t, a: float(t != a))
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)


class Numbered(LinearRegression):
    """A linear model that makes numbers of words by itself."""

    def _numbers(self, X):
        return X.assign(word=X["word"].str.len())

    def fit(self, X, y):
        return super().fit(self._numbers(X), y)

    def predict(self, X):
        return super().predict(self._numbers(X))


def test_a_model_with_coefficients_of_other_columns_is_asked():
    frame = pd.DataFrame({"number": X[:, 0], "word": LABELS[np.arange(len(Y)) % 3]})
    model = Numbered().fit(frame, Y)
    found = exact(model, frame, Y, scoring="neg_mean_squared_error")
    numbers = model._numbers(frame).to_numpy(dtype=float)
    expected = reference(
        numbers,
        Y,
        lambda rows: rows @ model.coef_ + model.intercept_,
        lambda t, a: (t - a) ** 2,
    )
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("model", REGRESSORS)
def test_an_ignored_feature_has_an_importance_of_zero(model, conditional):
    """Whatever rows weigh, and into however many groups they fall."""
    X, y = table(40)
    X[:, 2] = X[:, 0] + X[:, 2] / 10
    weights = np.random.default_rng(1).uniform(0.3, 3, size=40)
    model = model.fit(np.column_stack([X[:, :2], np.ones((40, 2))]), y)
    inspector = exact(
        model, X, y, weights, conditional=conditional, scoring="neg_mean_squared_error"
    )
    assert inspector.get_support().tolist()[2:] == [False, False]
    assert not inspector.importances_[2:].any()


@pytest.mark.parametrize(
    ("step", "cost"), [(1.0, None), (100.0, "about 6 minutes"), (1e5, "about 4 days")]
)
def test_a_long_computation_is_announced(monkeypatch, step, cost):
    """The clock goes on by so much between two looks at it."""
    X, y = table(40)
    model = BRUTE.fit(X, y)
    clock = count(0.0, step)
    monkeypatch.setattr(dependence_at_rows, "perf_counter", lambda: next(clock))
    said = nullcontext() if cost is None else pytest.warns(CostlyInspectionWarning)
    with said as caught:
        exact(model, X, y)
    if cost is not None:
        message = str(caught[0].message)
        assert cost in message
        assert "subsample" in message
        assert 'method="permutation"' in message
