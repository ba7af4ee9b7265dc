"""Permutation importance by random exchanges: what is drawn, asked and returned."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_regression
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.importance import PermutationImportance
from tests.importance.data import labels_of, table
from tests.references.models import Formula

X, Y = table()
LINEAR = LinearRegression().fit(X, Y)


def fitted(model, X, y, weights=None, **parameters):
    """An inspector around the fitted model as it is."""
    parameters = {"random_state": 0, **parameters}
    inspector = PermutationImportance(FrozenEstimator(model), **parameters)
    return inspector.fit(X, y, sample_weight=weights)


def within_errors(found, expected):
    """Whether means are within five standard errors of what they estimate."""
    errors = found.importances_std_ / np.sqrt(found.importances_.shape[1])
    difference = np.abs(found.importances_mean_ - expected)
    return bool((difference <= 5 * errors + 1e-12).all())


@pytest.mark.parametrize("method", ["permutation", "split"])
def test_repeats_tend_to_the_mean_over_all_pairs(method):
    X, y = table(60)
    model = LinearRegression().fit(X, y)
    found = fitted(model, X, y, n_repeats=200, method=method)
    exact = fitted(model, X, y, method="exact")
    assert found.importances_.shape == (4, 200)
    # A row may be its own donor in a permutation, and never is across halves.
    scale = 1 - 1 / 60 if method == "permutation" else 1
    assert within_errors(found, exact.importances_mean_ * scale)
    assert_allclose(found.baseline_score_, model.score(X, y), rtol=1e-10)
    assert_allclose(found.importances_std_, found.importances_.std(axis=1))
    assert_allclose(found.feature_importances_, found.importances_.mean(axis=1))


def test_repeats_with_weights_tend_to_the_weighted_mean():
    X, y = table(60)
    model = LinearRegression().fit(X, y)
    weights = np.random.default_rng(1).integers(1, 5, size=60)
    found = fitted(model, X, y, weights, n_repeats=300)
    exact = fitted(
        model, np.repeat(X, weights, 0), np.repeat(y, weights), method="exact"
    )
    n_copies = weights.sum()
    assert_allclose(found.baseline_score_, exact.baseline_score_)
    assert within_errors(found, exact.importances_mean_ * (1 - 1 / n_copies))


def test_scikit_learns_estimate_is_the_same():
    X, y = table(60)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    theirs = permutation_importance(model, X, y, n_repeats=100, random_state=0)
    found = fitted(model, X, y, n_repeats=100)
    errors = np.hypot(theirs.importances_std, found.importances_std_) / 10
    assert (abs(theirs.importances_mean - found.importances_mean_) <= 5 * errors).all()


def test_an_exchange_keeps_all_values():
    X, y = table(50)
    model = Formula(lambda a, b, c, d: b + 0 * a).fit(X)

    def total(estimator, X, y):
        return float(estimator.predict(X).sum())

    for method in ("permutation", "split"):
        found = fitted(model, X, y, scoring=total, method=method)
        assert_allclose(found.importances_, 0, atol=1e-9)


@pytest.mark.parametrize("n_rows", [30, 20_000])
@pytest.mark.parametrize("scoring", [None, ["r2", "neg_mean_absolute_error"]])
def test_as_many_rows_are_asked_as_by_scikit_learn(n_rows, scoring):
    X, y = table(n_rows, 3)
    ours, theirs = (Formula(lambda a, b, c: a + b * c).fit(X) for _ in range(2))
    fitted(ours, X, y, n_repeats=4, scoring=scoring)
    permutation_importance(theirs, X, y, n_repeats=4, random_state=0)
    assert sum(ours.sizes_) == sum(theirs.sizes_) == n_rows * (1 + 3 * 4)
    assert len(ours.sizes_) <= len(theirs.sizes_)


def test_few_rows_are_asked_about_together():
    X, y = table(30, 3)
    model = Formula(lambda a, b, c: a + b * c).fit(X)
    fitted(model, X, y, n_repeats=10)
    assert model.sizes_ == [30, 300, 300, 300]


SEVERAL = {
    "error": "neg_mean_squared_error",
    "r2": get_scorer("r2"),
    "loss": mean_absolute_error,
    "own": lambda estimator, X, y: -abs(estimator.predict(X) - y).max(),
}


def test_several_scores_are_each_alone():
    together = fitted(LINEAR, X, Y, scoring=SEVERAL)
    assert list(together.results_) == list(SEVERAL)
    for name, scoring in SEVERAL.items():
        alone = fitted(LINEAR, X, Y, scoring=scoring)
        bunch = together.results_[name]
        assert_array_equal(bunch.importances, alone.importances_)
        assert_array_equal(bunch.importances_mean, alone.importances_mean_)
        assert_array_equal(bunch.importances_std, alone.importances_std_)
        assert bunch.baseline_score == alone.baseline_score_
    assert_array_equal(together.importances_, together.results_["error"].importances)
    assert together.baseline_score_ == together.results_["error"].baseline_score


def test_losses_and_scores_have_opposite_signs_and_the_same_importance():
    loss = fitted(LINEAR, X, Y, scoring=mean_absolute_error)
    score = fitted(LINEAR, X, Y, scoring="neg_mean_absolute_error")
    assert loss.baseline_score_ == -score.baseline_score_ > 0
    assert_allclose(loss.importances_, score.importances_)


@pytest.mark.parametrize(
    "scoring", [None, "r2", "neg_mean_absolute_error", mean_absolute_error]
)
def test_ratios(scoring):
    ratio = fitted(LINEAR, X, Y, scoring=scoring, comparison="ratio")
    plain = fitted(LINEAR, X, Y, scoring=scoring)
    before = plain.baseline_score_
    if scoring is not mean_absolute_error:
        before = -before if scoring == "neg_mean_absolute_error" else 1 - before
    assert_allclose(ratio.importances_, 1 + plain.importances_ / before)
    assert ratio.baseline_score_ == plain.baseline_score_


@pytest.mark.parametrize("method", ["permutation", "split"])
def test_draws_differ(method):
    one, other = (
        fitted(LINEAR, X, Y, method=method, random_state=seed).importances_
        for seed in (0, 1)
    )
    assert (one != other).any()
    assert len(np.unique(one[0])) > 5


def mixed(library):
    """Numbers, categories and texts; and a pipeline that knows them."""
    X, y = table(60)
    rng = np.random.default_rng(3)
    columns = {
        "a": X[:, 0],
        "town": rng.choice(["Ulm", "Wien", "Bern"], 60).tolist(),
        "n": rng.integers(0, 5, 60),
    }
    frame = library.DataFrame(columns)
    steps = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["town"]), remainder="passthrough"
    )
    y = y + 2 * (np.array(columns["town"]) == "Ulm")
    return frame, y, make_pipeline(steps, LinearRegression()).fit(frame, y)


@pytest.mark.parametrize("method", ["permutation", "exact", "split"])
@pytest.mark.parametrize("conditional", [False, True])
def test_frames_of_both_libraries(method, conditional):
    found = []
    for library in (pd, pl):
        X, y, pipeline = mixed(library)
        before = X.clone() if library is pl else X.copy(deep=True)
        found.append(fitted(pipeline, X, y, method=method, conditional=conditional))
        assert before.equals(X)
    assert_allclose(found[0].importances_, found[1].importances_, rtol=1e-12)
    assert found[0].player_names_ == ["a", "town", "n"]
    assert found[0].importances_mean_[1] > 0.05


def test_classes_of_text_and_their_scorers():
    X, y = table(60)
    y = labels_of(y, 3)
    model = LogisticRegression().fit(X, y)
    scoring = ["accuracy", "neg_log_loss", "f1_macro", "roc_auc_ovr"]
    found = fitted(model, X, y, scoring=scoring)
    assert_array_equal(found.classes_, np.unique(y))
    for name in scoring:
        assert found.results_[name].importances_mean[0] > 0.05
        expected = get_scorer(name)(model, X, y)
        assert_allclose(found.results_[name].baseline_score, expected, rtol=1e-10)


def test_several_targets():
    X, y = table(60)
    Y = np.column_stack([labels_of(y, 2), labels_of(X[:, 3], 2)])
    model = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    found = fitted(model, X, Y)
    assert found.baseline_score_ == model.score(X, Y)
    assert found.importances_mean_[0] > 0.05


def test_missing_values_go_to_models_that_take_them():
    X, y = table(60)
    X[::4, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(X, y)
    for conditional in (False, True):
        found = fitted(model, X, y, conditional=conditional)
        assert found.importances_mean_[0] > 0.1
    with pytest.raises(ValueError, match="NaN"):
        fitted(LinearRegression().fit(*table(60)), X, y)


class Overwriting(LinearRegression):
    """A model that writes to what it is given."""

    def predict(self, X):
        answer = super().predict(X)
        X[:] = 0
        return answer


@pytest.mark.parametrize("method", ["permutation", "exact"])
def test_models_that_write_to_their_input(method):
    given = X.copy()
    found = fitted(Overwriting().fit(X, Y), X, Y, method=method)
    expected = fitted(LinearRegression().fit(X, Y), X, Y, method=method)
    assert_array_equal(X, given)
    assert_allclose(found.importances_, expected.importances_, rtol=1e-12)


def duplicated(n_rows=500):
    """A table whose last column is its first, which matters; noise; and the target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    y = X[:, 0] + rng.normal(size=n_rows) / 4
    return np.column_stack([X, X[:, 0]]), y


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["permutation", "exact"])
def test_correlated_duplicates(method):
    X, y = duplicated()
    both = Formula(lambda a, b, c, d: (a + d) / 2).fit(X)
    alone = Formula(lambda a, b, c: a).fit(X[:, :3])
    single = fitted(alone, X[:, :3], y, method=method).feature_importances_[0]
    apart = fitted(both, X, y, method=method).feature_importances_
    assert_allclose(apart[[0, 3]], single / 4, rtol=0.1)
    groups = {"twins": [0, 3]}
    grouped = fitted(both, X, y, method=method, feature_groups=groups)
    assert_allclose(grouped.feature_importances_[[0, 3]], single, rtol=0.05)
    within = fitted(both, X, y, method=method, conditional=True).feature_importances_
    assert (within[[0, 3]] < 0.01 * single).all()
    # What others say nothing about is exchanged among all rows.
    lone = fitted(alone, X[:, :3], y, method=method, conditional=True)
    assert_allclose(lone.feature_importances_[0], single, rtol=0.05)


def test_a_selector_alone_and_in_a_pipeline():
    X, y = make_regression(100, 6, n_informative=2, random_state=0)
    inspector = PermutationImportance(
        LinearRegression(), threshold=0.01, random_state=0
    )
    inspector.fit(X, y)
    chosen = inspector.get_support()
    assert chosen.sum() == 2
    back = inspector.inverse_transform(X[:, chosen])
    assert_array_equal(back[:, chosen], X[:, chosen])
    assert not back[:, ~chosen].any()
    pipeline = make_pipeline(StandardScaler(), inspector, LinearRegression())
    pipeline.fit(X, y)
    assert pipeline[-1].n_features_in_ == 2


@pytest.mark.parametrize("method", ["permutation", "exact"])
def test_inside_other_selectors(method):
    X, y = make_regression(60, 5, n_informative=2, random_state=0)
    inspector = PermutationImportance(
        LinearRegression(), method=method, n_repeats=3, random_state=0
    )
    strong = np.sort(np.argsort(-inspector.fit(X, y).feature_importances_)[:2])
    chosen = SelectFromModel(inspector, max_features=2, threshold=-np.inf).fit(X, y)
    assert_array_equal(chosen.get_support(indices=True), strong)
    chosen = RFE(inspector, n_features_to_select=2).fit(X, y)
    assert_array_equal(chosen.get_support(indices=True), strong)
    chosen = RFECV(inspector, cv=3).fit(X, y)
    assert set(strong) <= set(chosen.get_support(indices=True))


def test_stands_in_for_its_model():
    X, y = make_regression(60, 5, n_informative=2, random_state=0)
    inspector = PermutationImportance(
        RandomForestRegressor(3, random_state=0), n_repeats=2, random_state=0
    )
    grid = {"estimator__max_depth": [1, 4], "method": ["permutation", "exact"]}
    search = GridSearchCV(inspector, grid, cv=3).fit(X, y)
    assert search.best_estimator_.importances_.shape[0] == 5
    folds = cross_validate(inspector, X, y, cv=3, return_estimator=True)
    means = [fold.importances_mean_ for fold in folds["estimator"]]
    assert np.shape(means) == (3, 5)
    assert_array_equal(inspector.fit(X, y).predict(X), inspector.estimator_.predict(X))


BAD = [
    ({"scoring": "no such score"}, ValueError, "scoring"),
    ({"scoring": r2_score}, ValueError, "make_scorer"),
    ({"scoring": []}, ValueError, "scoring"),
    ({"scoring": ["r2", "r2"]}, ValueError, "twice"),
    ({"scoring": 1.5}, TypeError, "scoring"),
    ({"scoring": {"a": 3}}, TypeError, "'a'"),
    ({"scoring": lambda only: 0.0}, TypeError, "only"),
    ({"scoring": lambda *several: 0.0}, TypeError, "several"),
    ({"scoring": lambda estimator, X, y: "good"}, ValueError, "good"),
    ({"scoring": lambda estimator, X, y: np.nan}, ValueError, "nan"),
    ({"comparison": "ratio", "scoring": make_scorer(r2_score)}, ValueError, "ratio"),
    ({"method": "exact", "scoring": "neg_median_absolute_error"}, ValueError, "exact"),
    ({"method": "exact", "scoring": make_scorer(r2_score)}, ValueError, "exact"),
    (
        {
            "method": "exact",
            "scoring": lambda y_true, y_pred: abs(y_true - y_pred).max(),
        },
        ValueError,
        "sample_weight",
    ),
    ({"method": "exact", "scoring": "accuracy"}, ValueError, "classif"),
    ({"threshold": "mean"}, ValueError, "threshold"),
    ({"feature_groups": {"g": [0], "h": [0]}}, ValueError, "feature_groups"),
]


@pytest.mark.parametrize(("parameters", "error", "message"), BAD)
def test_bad_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        PermutationImportance(LinearRegression(), **parameters).fit(X, Y)


def root_mean_square(y_true, y_pred, sample_weight=None):
    return np.average((y_true - y_pred) ** 2, weights=sample_weight) ** 0.5


def test_losses_that_are_no_means_are_not_taken_over_all_pairs():
    inspector = PermutationImportance(LinearRegression(), scoring=root_mean_square)
    assert inspector.fit(X, Y).importances_mean_[0] > 0
    with pytest.raises(ValueError, match="halves"):
        inspector.set_params(method="exact").fit(X, Y)


def test_no_ratio_to_a_perfect_model():
    model = LinearRegression().fit(X, X[:, 0])
    perfect = Formula(lambda a, b, c, d: a).fit(X)
    with pytest.raises(ValueError, match="divides by the loss"):
        fitted(perfect, X, X[:, 0], comparison="ratio")
    assert fitted(model, X, Y, comparison="ratio").importances_mean_[3] > 0.9


def test_scores_without_weights():
    X, y = table()
    weights = np.arange(1, 41)
    scoring = {"own": lambda estimator, X, y: estimator.score(X, y)}
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="'own' takes no sample_weight"):
        fitted(model, X, y, weights, scoring=scoring)
    with pytest.raises(ValueError, match="'neg_max_error' takes no sample_weight"):
        fitted(model, X, y, weights, scoring="neg_max_error")


def test_targets_and_rows_are_needed():
    for method in ("permutation", "exact", "split"):
        with pytest.raises(ValueError, match="requires y"):
            fitted(LINEAR, X, None, method=method)
        with pytest.raises(ValueError, match="n_samples = 1"):
            fitted(LINEAR, X[:1], Y[:1], method=method)
    with pytest.raises(ValueError, match="one value"):
        fitted(LINEAR, X, np.ones(40), method="exact")
    weights = np.where(np.arange(40) == 3, 1.0, 1e-20)
    with pytest.raises(ValueError, match=r"row 3 .* sample_weight"):
        fitted(LINEAR, X, Y, weights, method="exact")


def test_a_class_that_the_model_does_not_know():
    model = LogisticRegression().fit(X, labels_of(Y, 2))
    with pytest.raises(ValueError, match="'yes'"):
        fitted(model, X, labels_of(Y, 3), method="exact")


def test_what_a_model_ignores_has_no_importance():
    model = Formula(lambda a, b, c, d: a * b).fit(X)
    for method in ("permutation", "exact", "split"):
        for conditional in (False, True):
            found = fitted(model, X, Y, method=method, conditional=conditional)
            assert_allclose(found.importances_[2:], 0, atol=1e-12)
            assert not np.signbit(found.importances_[2:]).any()
