"""SAGE values against the definition, by enumeration of all coalitions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._core.games.coalitions import values_of_all
from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.importance import SAGE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4)).round(1)
Y = X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + X[:, 0] + RNG.normal(size=50)
LABELS = np.digitize(Y, [-0.5, 1.0])
WEIGHTS = RNG.integers(1, 4, 50).astype(float)
WITH_GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    d=pd.Categorical(np.where(X[:, 3] > 0.5, "up", np.where(X[:, 3] < 0, "low", "mid")))
)
# Of five features not all coalitions are evaluated.
FIVE = np.column_stack([X, np.random.default_rng(1).normal(size=50).round(1)])
BY_NAME = make_column_transformer((OneHotEncoder(), ["d"]), remainder="passthrough")
FEW = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
FOREST = RandomForestClassifier(**FEW)
BOOSTING = GradientBoostingRegressor(**FEW)


def by_definition(respond, loss, X, y, background, weights=None, players=None):
    """Shapley values of minus the mean loss; `background` is a pair with weights."""
    rows, (given, shares) = pd.DataFrame(X), background
    given = pd.DataFrame(given)
    n, b = len(rows), len(given)
    players = players or [[column] for column in range(rows.shape[1])]
    own = rows.iloc[np.repeat(np.arange(n), b)].reset_index(drop=True)
    values = []
    for number in range(2 ** len(players)):
        mixed = given.iloc[np.tile(np.arange(b), n)].reset_index(drop=True)
        for j in range(len(players)):
            for column in players[j] if number >> j & 1 else []:
                mixed[mixed.columns[column]] = own.iloc[:, column]
        responses = respond(mixed if hasattr(X, "columns") else mixed.to_numpy())
        responses = responses.reshape(n, b, *responses.shape[1:])
        means = np.average(responses, axis=1, weights=shares)
        values.append(-loss(y, means, sample_weight=weights))
    return values_of_all(np.array(values)[:, None])[:, 0]


def one_hot_brier(y, probabilities, sample_weight=None):
    """Brier score of three classes."""
    squares = ((np.eye(3)[y] - probabilities) ** 2).sum(axis=1)
    return np.average(squares, weights=sample_weight)


def squares(y, predictions):
    return (y - predictions) ** 2


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(
    ("model", "rows", "arguments"),
    [
        (BOOSTING, X, {}),
        (RandomForestRegressor(**FEW), X, {"method": "exact"}),
        (HistGradientBoostingRegressor(max_iter=5), WITH_GAPS, {}),
        (LinearRegression(), X, {}),
        (GAMRegressor(max_iter=20), X, {}),
        (make_pipeline(BY_NAME, BOOSTING), FRAME, {}),
        (BOOSTING, X, {"loss": squares}),
        (KNeighborsRegressor(), X, {"method": "exact", "subsample": 20}),
        (KNeighborsRegressor(), X[:, :3], {"subsample": 20}),
    ],
)
def test_exact_values_of_squared_errors(model, rows, arguments):
    model = model.fit(rows, Y)
    sage = SAGE(FrozenEstimator(model), random_state=0, **arguments).fit(rows, Y)
    background = sage.background_, None
    expected = by_definition(model.predict, mean_squared_error, rows, Y, background)
    assert sage.method_ == "exact"
    assert_allclose(sage.importances_[:, 0], expected, rtol=0, atol=1e-10)
    assert_allclose(sage.feature_importances_, expected, rtol=0, atol=1e-10)
    assert not sage.standard_errors_.any()
    mean = np.full(50, model.predict(sage.background_).mean())
    reduction = mean_squared_error(Y, mean)
    reduction -= mean_squared_error(Y, model.predict(rows))
    assert sage.loss_reduction_ == pytest.approx(reduction, abs=1e-10)


@pytest.mark.parametrize("model", [BOOSTING, KNeighborsRegressor()])
def test_groups_weights_and_a_background(model):
    model = model.fit(X, Y)
    groups = {"pair": [0, 2]}
    given = {"feature_groups": groups, "background": X[:20]}
    sage = SAGE(FrozenEstimator(model), **given).fit(X, Y, sample_weight=WEIGHTS)
    players = [list(columns) for columns in sage.features_]
    respond, loss = model.predict, mean_squared_error
    expected = by_definition(respond, loss, X, Y, (X[:20], None), WEIGHTS, players)
    assert_allclose(sage.importances_[:, 0], expected, rtol=0, atol=1e-10)
    assert sage.feature_importances_[0] == sage.feature_importances_[2]
    own = SAGE(FrozenEstimator(model), method="exact").fit(X, Y, WEIGHTS)
    expected = by_definition(respond, loss, X, Y, (X, WEIGHTS), WEIGHTS)
    if model is BOOSTING:
        assert_allclose(own.importances_[:, 0], expected, rtol=0, atol=1e-10)


def test_several_outputs_have_the_mean():
    Y2 = np.column_stack([Y, X[:, 3] ** 2])
    model = RandomForestRegressor(**FEW).fit(X, Y2)
    sage = SAGE(FrozenEstimator(model)).fit(X, Y2)
    expected = by_definition(model.predict, mean_squared_error, X, Y2, (X, None))
    assert_allclose(sage.importances_[:, 0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["brier", "log_loss"])
def test_exact_values_of_probabilities(loss, n_classes):
    y = np.minimum(LABELS, n_classes - 1)
    model = FOREST.fit(X, y)
    sage = SAGE(FrozenEstimator(model), loss=loss).fit(X, y)
    expected = log_loss if loss == "log_loss" else one_hot_brier
    respond = model.predict_proba
    if n_classes == 2 and loss == "brier":
        expected, respond = brier_score_loss, lambda X: model.predict_proba(X)[:, 1]
    expected = by_definition(respond, expected, X, y, (X, None))
    assert_allclose(sage.importances_[:, 0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("model", "y", "loss"),
    [
        (BOOSTING, Y, "squared_error"),
        (KNeighborsRegressor(), Y, "squared_error"),
        (FOREST, LABELS, "log_loss"),
        (FOREST, LABELS, "brier"),
        (GaussianNB(), LABELS, "log_loss"),
        (LogisticRegression(), LABELS > 0, "brier"),
    ],
)
def test_sampled_values_are_within_their_errors(model, y, loss):
    frozen = FrozenEstimator(model.fit(FIVE, y))
    given = {"loss": loss, "background": FIVE[:30]}
    exact = SAGE(frozen, method="exact", **given).fit(FIVE, y, WEIGHTS)
    for n_permutations in (4, None):
        more = {"n_permutations": n_permutations, "random_state": 0, **given}
        found = SAGE(frozen, method="sampling", **more).fit(FIVE, y, WEIGHTS)
        assert found.method_ == "sampling"
        assert found.n_permutations_ >= 6
        away = np.abs(found.importances_ - exact.importances_)[:, 0]
        assert (found.standard_errors_ > 0).all()
        assert (away <= 3.5 * found.standard_errors_).all()
        assert found.loss_reduction_ == pytest.approx(exact.loss_reduction_, abs=1e-10)
    spread = np.ptp(np.append(found.importances_, 0))
    assert found.standard_errors_.max() <= 0.025 * spread


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("model", [BOOSTING, KNeighborsRegressor()])
def test_workers_and_memory_change_nothing(model):
    frozen = FrozenEstimator(model.fit(FIVE, Y))
    sage = SAGE(frozen, method="sampling", n_permutations=4, random_state=0)
    expected = sage.fit(FIVE, Y).importances_
    with config_context(working_memory=0.01):
        few_at_a_time = sage.fit(FIVE, Y).importances_
    assert_allclose(few_at_a_time, expected, rtol=0, atol=1e-12)
    spread = sage.set_params(n_jobs=2).fit(FIVE, Y).importances_
    assert_allclose(spread, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["exact", "sampling"])
@pytest.mark.parametrize("model", [BOOSTING, KNeighborsRegressor(1)])
def test_the_smallest_tables(model, method):
    one_feature = SAGE(clone(model), method=method, random_state=0).fit(X[:, :1], Y)
    assert one_feature.importances_.shape == (1, 1)
    assert_allclose(one_feature.standard_errors_, 0, atol=1e-12)
    frozen = FrozenEstimator(model.fit(X, Y))
    one_row = SAGE(frozen, method=method, random_state=0, background=X[:9])
    one_row.set_params(n_permutations=4).fit(X[:1], Y[:1])
    base, own = model.predict(X[:9]).mean(), model.predict(X[:1])
    expected = (Y[0] - base) ** 2 - (Y[0] - own[0]) ** 2
    assert one_row.loss_reduction_ == pytest.approx(expected)
    constant = SAGE(clone(model), method=method, random_state=0).fit(X, np.ones(50))
    assert_allclose(constant.importances_, 0, atol=1e-12)


def test_numbers_of_orders():
    wide = RNG.normal(size=(50, 9))
    sage = SAGE(clone(BOOSTING), method="sampling", n_permutations=5)
    assert sage.fit(wide, Y).n_permutations_ == 6
    assert sage.fit(wide[:3], Y[:3]).n_permutations_ == 14


def test_targets_that_are_not_finite():
    sage = SAGE(FrozenEstimator(clone(BOOSTING).fit(X, Y)))
    for method in ("exact", "sampling"):
        with pytest.raises(ValueError, match="is not finite: targets"):
            sage.set_params(method=method).fit(X, np.where(X[:, 0] > 1, np.nan, Y))


def test_a_single_class():
    found = SAGE(DecisionTreeClassifier()).fit(X, np.ones(50))
    assert not found.importances_.any()


def test_what_is_not_affordable_is_sampled(monkeypatch):
    wide, few = RNG.normal(size=(30, 14)), {"n_permutations": 4, "random_state": 0}
    y = wide[:, :3].prod(axis=1)
    assert SAGE(clone(BOOSTING), **few).fit(wide, y).method_ == "exact"
    assert SAGE(clone(BOOSTING), loss=squares, **few).fit(wide, y).method_ == "sampling"
    with pytest.raises(ValueError, match="at most 10 features"):
        SAGE(KNeighborsRegressor(), method="exact").fit(wide, y)
    monkeypatch.setattr("sklearn_interpret.importance._sage._MOST_WEIGHTS", 10)
    deep = SAGE(clone(BOOSTING), **few).fit(FIVE, Y)
    assert deep.method_ == "sampling"
    assert len(deep.background_) == 50


@pytest.mark.thorough
def test_a_row_that_outweighs_all_others_is_sampled_as_if_alone():
    """Its errors stem from its own orders: two pairs of them say little."""
    wide = np.random.default_rng(0).normal(size=(20, 9))
    y, heavy = wide[:, :4].prod(axis=1) + wide[:, 5] * wide[:, 6], np.ones(20)
    heavy[0] = 400
    model = FrozenEstimator(KNeighborsRegressor(3).fit(wide, y))
    given = {"background": wide[:5], "loss": squares}
    exact = SAGE(model, method="exact", **given).fit(wide, y, heavy).importances_
    held = []
    for seed in range(40):
        sage = SAGE(model, n_permutations=4, random_state=seed, **given)
        sage.fit(wide, y, heavy)
        assert sage.method_ == "sampling"
        away = np.abs(sage.importances_ - exact)[:, 0]
        held.append(away <= 1.96 * sage.standard_errors_)
    assert np.mean(held) > 0.9
    assert np.mean(held, axis=0).min() > 0.8


def test_costs_are_announced(monkeypatch):
    monkeypatch.setattr("sklearn_interpret._model.row_limit._MANY_ROWS", 100)
    for method in ("exact", "sampling"):
        sage = SAGE(KNeighborsRegressor(1), method=method)
        with pytest.warns(CostlyInspectionWarning, match="rows go to the model"):
            sage.fit(X[:, :3], Y)


@pytest.mark.parametrize(
    ("model", "y", "arguments", "message"),
    [
        (
            LinearRegression(),
            Y,
            {"loss": "log_loss"},
            "one of classifiers; LinearRegression",
        ),
        (FOREST, LABELS, {"loss": "squared_error"}, "one of regressors; RandomF"),
        (LinearSVC(), LABELS, {}, "LinearSVC has no predict_proba"),
        (LinearRegression(), Y, {"loss": lambda y, p: 1.0}, "one number for each row"),
        (FOREST, np.column_stack([LABELS] * 2), {}, "y has several targets"),
    ],
)
def test_bad_input(model, y, arguments, message):
    with pytest.raises(ValueError, match=message):
        SAGE(clone(model), **arguments).fit(X, y)


def test_targets_that_do_not_fit_the_model():
    frozen = FrozenEstimator(LinearRegression().fit(X, Y))
    with pytest.raises(ValueError, match="requires y"):
        SAGE(frozen).fit(X)
    with pytest.raises(
        ValueError, match="predictions with 2 columns; the model's have 1"
    ):
        SAGE(frozen).fit(X, np.column_stack([Y, Y]))
    frozen = FrozenEstimator(FOREST.fit(X, LABELS))
    with pytest.raises(ValueError, match="y has the class 8"):
        SAGE(frozen).fit(X, LABELS + 7)


def test_features_inside_groups():
    """By products, all coalitions and orders; groups sum to their own values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + X[:, 4] * X[:, 0]
    model = FrozenEstimator(DecisionTreeRegressor(max_depth=4).fit(X, y))
    groups = {"a": [0, 1], "b": {"b1": [2, 3], "b2": [4]}}
    shared = {"background": X[:15], "random_state": 0, "feature_groups": groups}
    by_products = SAGE(model, within_groups=True, **shared).fit(X, y)
    values = by_products.importances_mean_
    together = SAGE(model, **shared).fit(X, y).importances_mean_
    assert_allclose([values[:2].sum(), values[2:5].sum(), values[5]], together)

    def squared_error(y, prediction):
        return (y - prediction) ** 2

    other_loss = {"loss": squared_error, "within_groups": True, **shared}
    by_coalitions = SAGE(model, method="exact", **other_loss).fit(X, y)
    assert_allclose(by_coalitions.importances_mean_, values, atol=1e-10)
    sampled = SAGE(model, method="sampling", n_permutations=6, **other_loss).fit(X, y)
    error = np.abs(sampled.importances_mean_ - values)
    assert (error <= 4 * sampled.standard_errors_ + 1e-10).all()


def test_many_features_in_pairs_of_groups_have_few_coalitions():
    """There are 1024 before all of 32 features, in place of 2**32."""
    X = np.random.default_rng(0).normal(size=(20, 32))
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])

    def halves(columns):
        if len(columns) == 2:
            return columns
        middle = len(columns) // 2
        return {"low": halves(columns[:middle]), "high": halves(columns[middle:])}

    inspector = SAGE(
        FrozenEstimator(model),
        loss=lambda y, prediction: np.abs(y - prediction),
        method="exact",
        background=X[:4],
        feature_groups=halves(list(range(32))),
        within_groups=True,
    ).fit(X, X[:, 0])
    values = inspector.importances_mean_
    assert_allclose(values.sum(), inspector.loss_reduction_)
    assert_allclose(values[model.feature_importances_ == 0], 0, atol=1e-12)
    assert values[0] > 0
