"""Tests of conditional importance: plain references, promises, odd input."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import kstest, t
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret import additive
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.exceptions import (
    InspectionWarning,
    LowWeightWarning,
    WeakNuisanceWarning,
)
from sklearn_interpret.importance import (
    ConditionalImportanceTest,
    DropColumnImportance,
    _conditional_tests,
    _nuisance,
)
from sklearn_interpret.importance._base import random_folds, rows_by_weight
from tests.importance.quick import mixed_frame

TESTS = ["gcm", "pcm", "hrt", "loco"]
of_each = pytest.mark.parametrize("test", TESTS)
LINEAR = LinearRegression()
TREE = DecisionTreeRegressor(max_depth=4, random_state=0)


def linear_data(n_rows=60, seed=7):
    """Correlated features, the first of which is needed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[:, 1] += X[:, 0]
    return X, X[:, 0] + rng.normal(size=n_rows)


X, Y = linear_data()


def quick(test, estimator=LINEAR, **parameters):
    """A test with linear nuisance regressions."""
    parameters = {
        "nuisance": LinearRegression(),
        "n_samples": 99,
        "n_splits": 2,
    } | parameters
    return ConditionalImportanceTest(estimator, test=test, random_state=0, **parameters)


@pytest.fixture
def few_trees(monkeypatch):
    """Few trees check nuisance regressions."""
    monkeypatch.setitem(_nuisance._RANDOM_TREES, "n_estimators", 1)


@pytest.fixture
def no_checks(monkeypatch):
    """Leave out the checks of nuisance regressions, which take the most time."""
    monkeypatch.setattr(
        _conditional_tests, "residual_dependence", lambda *_: (1.0, 0.0)
    )


@pytest.fixture
def known_smoothing(monkeypatch):
    """Additive models have few splines, and do not choose how smooth they are."""
    smoothed = partial(additive.GAMRegressor, smoothing=1.0)
    monkeypatch.setattr(additive, "GAMRegressor", smoothed)
    monkeypatch.setattr(_nuisance, "_N_SPLINES", 4)
    monkeypatch.setattr(_nuisance, "_N_SPLINES_BY_LEVEL", 4)


def drawn(X, y):
    """Rows and targets in the order of the draws, parts, splits, seeds of features."""
    sample = rows_by_weight(Sample.of_positive_weight(as_rows(X), y, np.ones(len(y))))
    rng = np.random.RandomState(0)
    parts = random_folds(np.zeros(len(y)), 10, rng)
    splits = [random_folds(np.zeros(len(y)), 2, rng) == 0 for _ in range(2)]
    seeds = rng.randint(np.iinfo(np.int32).max, size=X.shape[1])
    return sample.rows.native, sample.y, parts, splits, seeds


def held_out_residuals(others, target, parts):
    cv = PredefinedSplit(parts // 2)
    return target - cross_val_predict(LinearRegression(), others, target, cv=cv)


def null_variances(others, residuals, parts):
    """Variances of residuals of the target, given the other features."""
    squares = residuals**2
    predicted = squares - held_out_residuals(others, squares, parts)
    return np.maximum(predicted, 0.1 * squares.mean())


def student_statistic(products, bound):
    """Student's, with a variance of the products that is not below a bound."""
    variance = max(products.var(ddof=1), bound)
    return products.mean() / np.sqrt(variance / len(products))


def test_gcm_by_cross_val_predict(no_checks):
    found = quick("gcm").fit(X, Y)
    rows, y, parts, *_ = drawn(X, Y)
    for j in range(3):
        others = np.delete(rows, j, axis=1)
        of_y, of_x = (held_out_residuals(others, t, parts) for t in (y, rows[:, j]))
        bound = (null_variances(others, of_y, parts) * of_x**2).mean()
        expected = student_statistic(of_y * of_x, bound)
        assert_allclose(found.pvalues_[j], 2 * t.sf(abs(expected), len(y) - 1))
        assert_allclose(found.statistics_[j], expected**2)
        share = (of_y @ of_x) ** 2 / (of_y @ of_y) / (of_x @ of_x)
        assert_allclose(found.importances_[j], share)
        scores = [1 - r.var() / t.var() for r, t in ((of_y, y), (of_x, rows[:, j]))]
        assert_allclose(found.nuisance_scores_[j], scores, atol=0.01)


def test_pcm_by_a_plain_loop(no_checks):
    found = quick("pcm", TREE).fit(X, Y)
    rows, y, parts, splits, seeds = drawn(X, Y)
    for j in range(3):
        others, statistics, shares = np.delete(rows, j, axis=1), [], []
        rng = np.random.default_rng(seeds[j])
        for half in (half for split in splits for half in (split, ~split)):
            model = clone(TREE).fit(rows[half], y[half])
            effect = model.predict(rows)
            squares = (y - effect) ** 2
            variance = LinearRegression().fit(rows[half], squares[half]).predict(rows)
            variance = np.maximum(variance, 0.1 * squares[half].mean())
            for donor in rng.choice(np.flatnonzero(half), 2):
                moved = rows.copy()
                moved[:, j] = rows[donor, j]
                effect = effect - model.predict(moved) / 2
            direction = held_out_residuals(others, effect, parts) / variance
            left = held_out_residuals(others, y, parts)
            bounds = null_variances(others, left, parts)[~half]
            left = left[~half]
            projected = held_out_residuals(others, direction, parts)[~half]
            products = left * projected
            bound = (bounds * projected**2).mean()
            statistics.append(student_statistic(products, bound))
            squares = left @ left * (projected @ projected)
            shares.append(max(products.sum(), 0) ** 2 / squares)
        expected = np.mean(statistics) / np.sqrt(2 / np.pi + (1 - 2 / np.pi) / 2)
        assert_allclose(found.statistics_[j], expected)
        assert_allclose(found.pvalues_[j], t.sf(expected, len(y) / 2 - 1))
        assert_allclose(found.importances_[j], np.mean(shares))


@pytest.mark.thorough
def test_two_seeds_agree_within_a_factor_of_three(no_checks):
    """Nine times in ten, of p-values of weak effects."""
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(20):
        rows = rng.normal(size=(200, 2))
        target = 0.25 * rows[:, 0] + rng.normal(size=200)
        one, other = (
            quick("pcm", n_splits=8).set_params(random_state=seed).fit(rows, target)
            for seed in (0, 1)
        )
        ratios.extend(one.pvalues_ / other.pvalues_)
    assert np.mean(np.abs(np.log(ratios)) < np.log(3)) >= 0.9


def test_folds_may_be_given(no_checks):
    halves = np.arange(len(Y)) % 2
    splits = list(PredefinedSplit(halves).split())
    one, other = (
        quick("gcm", nuisance=Ridge(), cv=cv).fit(X, Y)
        for cv in (splits, PredefinedSplit(halves))
    )
    assert_array_equal(one.pvalues_, other.pvalues_)
    left = Y - cross_val_predict(Ridge(), X[:, 1:], Y, cv=splits)
    score = 1 - (left**2).sum() / ((Y - Y.mean()) ** 2).sum()
    assert_allclose(one.nuisance_scores_[0, 0], score)


@pytest.mark.parametrize("left_out", [slice(0, 10), slice(0, 70)])
def test_folds_hold_out_each_row_once(left_out):
    rows = np.arange(len(Y))
    splits = [(rows[20:], rows[left_out]), (rows[:20], rows[20:])]
    with pytest.raises(ValueError, match="cv must hold out each row"):
        quick("gcm", cv=splits).fit(X, Y)


def test_loco_by_a_plain_loop():
    found = quick("loco", Ridge()).fit(X, Y)
    rows, y, parts, *_ = drawn(X, Y)
    cv = PredefinedSplit(parts // 2)
    squares = (y - cross_val_predict(Ridge(), rows, y, cv=cv)) ** 2
    for j in range(3):
        others = np.delete(rows, j, axis=1)
        without = (y - cross_val_predict(Ridge(), others, y, cv=cv)) ** 2
        without, full = without[parts % 2 == 1], squares[parts % 2 == 0]
        gain = without.mean() - full.mean()
        error = np.sqrt(sum(part.var(ddof=1) / len(part) for part in (without, full)))
        assert_allclose(found.importances_[j], gain)
        dof = min(len(without), len(full)) - 1
        assert_allclose(found.pvalues_[j], t.sf(gain / error, dof))
        ends = t.interval(0.95, dof, gain, error)
        assert_allclose([found.intervals_low_[j], found.intervals_high_[j]], ends)


@pytest.mark.parametrize(
    "model",
    [
        TREE,
        LinearRegression(),
        LogisticRegression(),
        RandomForestClassifier(3, random_state=0),
    ],
)
@pytest.mark.parametrize("groups", [None, {"pair": [0, 2]}])
def test_hrt_by_predictions_of_all_rows(model, groups):
    draws = []

    def sampler(rows, columns, rng):
        values = rng.normal(size=(len(rows), len(columns)))
        draws.append((columns, values))
        return values

    y = Y
    if not isinstance(model, RegressorMixin):
        y = np.array(["a", "b", "c"])[np.digitize(Y, [-1, 1])]
    found = quick("hrt", model, sampler=sampler, feature_groups=groups, correction=None)
    found.fit(X, y)
    rows = Sample.of_positive_weight(as_rows(X), y, np.ones(60)).distinct()
    rows, y = rows.rows.native, rows.y
    strata = np.zeros(60) if y.dtype.kind == "f" else y
    half = random_folds(strata, 10, np.random.RandomState(0)) % 2 == 0
    model = clone(model).fit(rows[half], y[half])

    def loss(rest):
        if y.dtype.kind == "f":
            return ((model.predict(rest) - y[~half]) ** 2).mean()
        flags = y[~half, None] == model.classes_
        return ((model.predict_proba(rest) - flags) ** 2).sum(axis=1).mean()

    observed = loss(rows[~half])
    for k, columns in enumerate(found.features_):
        null = []
        for at, values in draws[99 * k : 99 * (k + 1)]:
            assert at == list(columns)
            moved = rows[~half].copy()
            moved[:, at] = values
            null.append(loss(moved))
        as_small = np.sum(np.array(null) <= observed * (1 + 1e-9))
        assert found.pvalues_[k] == (1 + as_small) / 100
        assert_allclose(found.importances_[k], np.mean(null) - observed, atol=1e-9)


class OpaqueRegressor(RegressorMixin, BaseEstimator):
    """A forest that can only predict."""

    def fit(self, X, y):
        """Fit the forest."""
        self._model = RandomForestRegressor(4, random_state=0).fit(X, y)
        return self

    def predict(self, X):
        """Predict."""
        return self._model.predict(X)


class OpaqueClassifier(ClassifierMixin, BaseEstimator):
    """A forest that can only predict."""

    def fit(self, X, y):
        """Fit the forest."""
        self._model = RandomForestClassifier(4, random_state=0).fit(X, y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X):
        """Predict probabilities."""
        return self._model.predict_proba(X)

    def predict(self, X):
        """Predict labels."""
        return self._model.predict(X)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("sampler", ["residuals", "gaussian"])
@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_hrt_follows_trees_to_the_same_losses(sampler, kind, no_checks):
    rows = X.copy()
    rows[:, 2] = np.round(rows[:, 2])  # levels
    readable, opaque, y = RandomForestRegressor(4, random_state=0), OpaqueRegressor(), Y
    if kind != "numbers":
        readable, opaque = RandomForestClassifier(4, random_state=0), OpaqueClassifier()
        y = np.digitize(Y, [0] if kind == "two classes" else [-1, 1])
    one, other = (
        quick("hrt", model, sampler=sampler).fit(rows, y)
        for model in (readable, opaque)
    )
    assert_allclose(one.importances_, other.importances_, atol=1e-9)
    assert_allclose(one.statistics_, other.statistics_, atol=1e-7)
    assert_array_equal(one.pvalues_, other.pvalues_)


@pytest.mark.thorough
@pytest.mark.parametrize("test", ["gcm", "pcm"])
def test_pvalues_are_uniform_under_the_null(test, no_checks):
    found = []
    for seed in range(80):
        rows, y = linear_data(60, seed)
        found.append(quick(test, cv=2).fit(rows[:, :2], y).pvalues_[1])
    # Combined splits reject less than one test does.
    alternative = "two-sided" if test == "gcm" else "greater"
    assert kstest(found, "uniform", alternative=alternative).pvalue > 0.01


@pytest.mark.thorough
def test_pcm_finds_an_interaction_that_gcm_misses():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(600, 3))
    y = 0.7 * rows[:, 0] * rows[:, 1] + rows[:, 2] + rng.normal(size=600)
    pvalues = {
        test: ConditionalImportanceTest(test=test, random_state=0).fit(rows, y).pvalues_
        for test in ("gcm", "pcm")
    }
    assert pvalues["pcm"][0] < 0.001
    assert pvalues["gcm"][0] > 0.1


@pytest.mark.parametrize("correction", ["holm", "bh", None])
def test_adjusted_pvalues_select(correction, no_checks):
    found = quick("gcm", correction=correction, alpha=0.2).fit(X, Y)
    ordered, ranks = np.sort(found.pvalues_), found.pvalues_.argsort().argsort()
    expected = {
        "holm": np.maximum.accumulate(ordered * [3, 2, 1]).clip(max=1),
        "bh": np.minimum.accumulate((ordered * 3 / [1, 2, 3])[::-1])[::-1],
        None: ordered,
    }[correction][ranks]
    assert_allclose(found.adjusted_pvalues_, expected)
    assert_array_equal(found.get_support(), expected < 0.2)
    assert_array_equal(found.transform(X), X[:, expected < 0.2])


@of_each
def test_members_of_a_group_have_its_value(test, no_checks):
    found = quick(test, feature_groups={"pair": [0, 1]}).fit(X, Y)
    assert found.player_names_ == ["pair", "x2"]
    for name in ("pvalues", "statistics", "adjusted_pvalues", "importances"):
        assert getattr(found, f"{name}_").shape == (2,)
    assert found.nuisance_scores_.shape == (2, 2)
    assert_array_equal(found.feature_importances_, found.importances_[[0, 0, 1]])
    assert found.get_support().tolist() == [True, True, False]


@of_each
def test_groups_have_no_units(test, no_checks):
    units, weights = ([1e-4, 1e4, 1], np.full(60, 1.5))  # no copies, which are sorted
    parameters = {"feature_groups": {"pair": [0, 1]}, "sampler": "gaussian"}
    model = make_pipeline(StandardScaler(), LINEAR)
    one, other = (
        quick(test, model, nuisance=model, **parameters).fit(rows, Y, weights)
        for rows in (X, X * units)
    )
    assert_allclose(one.pvalues_, other.pvalues_, rtol=1e-6)


@pytest.mark.thorough(after=1)
@of_each
def test_frames_with_categories(test, few_trees, known_smoothing):
    frame, y = mixed_frame(120)
    y = y + np.random.default_rng(1).normal(size=120)
    before = frame.copy()
    found = ConditionalImportanceTest(test=test, cv=2, random_state=0)
    found.set_output(transform="pandas").fit(frame, y)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(
        found.transform(frame), frame[found.get_feature_names_out()]
    )
    assert found.pvalues_[:2].max() < 0.05 < found.pvalues_[2]
    frame["colour"] = frame["colour"].astype(str)
    again = clone(found).fit(frame, y)
    assert_allclose(again.pvalues_, found.pvalues_)


@pytest.mark.thorough(after=2)
@of_each
@pytest.mark.parametrize(
    "target",
    [
        lambda y: y > 0,
        lambda y: np.array(["a", "b"])[(y > 0).astype(int)],
        lambda y: np.array(["a", "b", "c"], dtype=object)[np.digitize(y, [-1, 1])],
        lambda y: np.round(np.exp(y)).clip(max=9).astype(int),
        lambda y: np.column_stack([y, -1e-6 * y]),
        lambda y: y[:, None],
    ],
    ids=["flags", "two classes", "three classes", "counts", "outputs", "column"],
)
def test_kinds_of_targets(test, target, no_checks):
    rows, y = linear_data(400)
    y = target(y + rows[:, 0])
    before = y.copy()
    found = quick(test, None, cv=2).fit(rows, y)
    assert_array_equal(y, before)
    assert found.pvalues_[0] < 0.05
    assert found.pvalues_[1:].min() > 0.01
    assert found.predict(rows).shape[0] == 400


@pytest.mark.thorough(after=1)
@of_each
def test_pipelines_and_frozen_models(test, no_checks, known_smoothing):
    frame, y = mixed_frame()
    encode = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LinearRegression())
    nuisance = None
    found = quick(test, model, nuisance=nuisance, cv=2).fit(frame, y)
    model.fit(frame, y)
    before = model.predict(frame)
    frozen = quick(test, FrozenEstimator(model), nuisance=nuisance, cv=2).fit(frame, y)
    assert_allclose(frozen.pvalues_, found.pvalues_)
    assert_array_equal(model.predict(frame), before)


FEW_TREES = {"max_iter": 3, "min_samples_leaf": 5}
REFERRING = {
    "signs of a forest": RandomForestRegressor(3, monotonic_cst=[1, 0, 0]),
    "signs by name": HistGradientBoostingRegressor(**FEW_TREES, monotonic_cst={"a": 1}),
    "positions": HistGradientBoostingRegressor(**FEW_TREES, categorical_features=[2]),
    "groups": HistGradientBoostingRegressor(**FEW_TREES, interaction_cst=[{0, 1}, {2}]),
    "terms": GAMRegressor(terms={"a": "linear", "b": "linear", "c": "linear"}),
    "offset": GAMRegressor(terms=["a", "b"], n_splines=4, offset=2),
    "length scales": GaussianProcessRegressor(RBF([3.0] * 3), alpha=1, optimizer=None),
    "levels": make_pipeline(OneHotEncoder(categories=[[0, 1]] * 3), Ridge()),
    "nested": BaggingRegressor(DecisionTreeRegressor(monotonic_cst=[0, 0, 1]), 2),
    "XGBoost": {"monotone_constraints": "(1,0,0)"},
    "types": {"feature_types": ["q", "q", "q"]},
    "LightGBM": {"monotone_constraints": [1, 0, 0]},
    "weights": {"feature_contri": [1, 1, 0.5]},
}


@pytest.mark.thorough(after=2)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.ExtrapolationWarning")
@pytest.mark.parametrize("name", REFERRING)
def test_models_that_refer_to_columns_are_fitted_without_one(name, no_checks):
    """By name, by position, or with an entry for each: also as the nuisance."""
    model = REFERRING[name]
    if name in ("XGBoost", "types"):
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBRegressor(n_estimators=2, **model)
    if name in ("LightGBM", "weights"):
        lightgbm = pytest.importorskip("lightgbm")
        fixed = {"n_estimators": 2, "min_child_samples": 5, "verbose": -1}
        model = lightgbm.LGBMRegressor(**fixed, **model)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["c"] = frame["c"] > 0
    frame = frame.astype(float) if name != "levels" else (frame > 0).astype(int)
    assert np.isfinite(quick("loco", model, cv=2).fit(frame, Y).pvalues_).all()
    assert np.isfinite(quick("gcm", nuisance=model, cv=2).fit(frame, Y).pvalues_).all()
    drop = DropColumnImportance(model, cv=2).fit(frame, Y)
    assert drop.importances_mean_.argmax() == 0


def test_parameters_of_fit_refer_to_columns_too():
    class Recorder(LinearRegression):
        def fit(self, X, y, categorical_feature=None):
            assert X.shape[1] == 3
            return super().fit(X, y)

    loco = quick("loco", Recorder(), cv=2).fit(X, Y, categorical_feature=[2])
    drop = DropColumnImportance(Recorder(), cv=2).fit(X, Y, categorical_feature=[2])
    assert loco.pvalues_.argmin() == drop.importances_mean_.argmax() == 0


def test_loco_holds_a_column_constant_that_a_model_needs(no_checks):
    """As many principal components as columns: there are not enough without one."""
    model = make_pipeline(PCA(3), LinearRegression())
    components, linear = (quick("loco", m).fit(X, Y) for m in (model, LINEAR))
    assert_allclose(components.pvalues_, linear.pvalues_)


def test_inside_of_scikit_learn(no_checks):
    selector = SelectFromModel(quick("gcm"), threshold=0.1).fit(X, Y)
    assert selector.get_support().tolist() == [True, False, False]
    pipeline = make_pipeline(quick("gcm"), LinearRegression()).fit(X, Y)
    assert pipeline[-1].n_features_in_ == 1


@pytest.mark.thorough(after=1)
@of_each
@pytest.mark.parametrize("nuisance", [LinearRegression(), None])
def test_weights_are_repeated_rows(test, nuisance, no_checks, known_smoothing):
    times = np.random.default_rng(0).integers(0, 3, size=60)
    weighted, repeated = (quick(test, nuisance=nuisance, cv=2) for _ in range(2))
    weighted.fit(X, Y, sample_weight=times)
    order = np.random.default_rng(1).permutation(times.sum())
    repeated.fit(*(np.repeat(part, times, axis=0)[order] for part in (X, Y)))
    for name in ("pvalues_", "statistics_", "importances_", "nuisance_scores_"):
        assert_array_equal(getattr(weighted, name), getattr(repeated, name))


@of_each
@pytest.mark.parametrize("estimator", [LinearRegression(), None])
def test_rows_of_weight_zero_are_left_out(test, estimator, no_checks, known_smoothing):
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=60)
    weights[::3] = 0
    kept = weights > 0
    weighted, removed = (quick(test, estimator, cv=2) for _ in range(2))
    weighted.fit(X, Y, sample_weight=weights)
    removed.fit(X[kept], Y[kept], sample_weight=weights[kept])
    assert_allclose(weighted.pvalues_, removed.pvalues_)
    assert_allclose(weighted.importances_, removed.importances_)
    assert_allclose(weighted.predict(X), removed.predict(X))


def test_small_weights_are_few_rows(no_checks):
    with pytest.warns(LowWeightWarning, match="Scale sample_weight"):
        quick("gcm").fit(X, Y, sample_weight=np.full(60, 0.01))


@pytest.mark.thorough
@of_each
def test_seeds_and_workers(test, no_checks):
    one, again, parallel, other = (quick(test, TREE) for _ in range(4))
    one.fit(X, Y)
    before = one.get_params()
    again.fit(X, Y)
    parallel.set_params(n_jobs=2).fit(X, Y)
    other.set_params(random_state=1).fit(X, Y)
    for name in ("pvalues_", "importances_", "nuisance_scores_"):
        assert_array_equal(getattr(one, name), getattr(again, name))
        assert_array_equal(getattr(one, name), getattr(parallel, name))
    assert (other.importances_ != one.importances_).any()
    assert one.get_params() == before


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("test", ["gcm", "pcm", "hrt"])
def test_weak_nuisances_are_named(test):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    rows[:, 1] = rows[:, 0] ** 2 + 0.3 * rng.normal(size=300)
    y = rows[:, 0] ** 2 + rng.normal(size=300)
    with pytest.warns(WeakNuisanceWarning, match=r"Try nuisance=None.*'x1' \(R²"):
        quick(test).fit(rows, y)
    ConditionalImportanceTest(test=test, n_samples=99, random_state=0).fit(rows, y)


def test_too_few_draws_are_said(no_checks):
    found = quick("hrt", n_samples=59)
    with pytest.warns(InspectionWarning, match=r"Use n_samples=61 or more.*0\.05"):
        found.fit(X, Y)
    found.set_params(n_samples=61).fit(X, Y)
    found.set_params(n_samples=20, correction="bh").fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "rows", "y", "message"),
    [
        ({"test": "cpi"}, X, Y, "'test' parameter"),
        ({"cv": 1}, X, Y, "'cv' parameter"),
        ({"alpha": 2.0}, X, Y, "'alpha' parameter"),
        ({"correction": "fdr"}, X, Y, "'correction' parameter"),
        ({"n_samples": 0}, X, Y, "'n_samples' parameter"),
        ({"sampler": "vine"}, X, Y, "'sampler' parameter"),
        ({"nuisance": LogisticRegression()}, X, Y, "nuisance must be a regressor"),
        ({"nuisance": object()}, X, Y, "'nuisance' parameter"),
        ({"feature_groups": {"g": ["x9"]}}, X, Y, "feature_groups"),
        ({}, X, None, "requires y"),
        ({"estimator": None}, X, None, "requires y"),
        ({}, X, np.where(Y > 1, np.nan, Y), "y contains NaN"),
        ({"estimator": None}, X, np.where(Y > 1, np.inf, Y), "y contains NaN or inf"),
        ({}, X[:3], Y[:3], "at least 4 rows.*n_samples = 3"),
        ({}, X, Y[:-1], "inconsistent"),
        ({"estimator": None}, X, Y + 1j, "Complex data not supported: y has"),
        ({"estimator": None}, X, Y.astype("M8[D]"), "Dates not supported: y has"),
        ({"estimator": None}, X, Y.astype(object), "Unknown label type"),
        ({}, X + 1j, Y, "Complex data not supported: the feature 'x0'"),
        ({}, sparse.csr_array(X), Y, "sparse"),
        ({"estimator": None}, sparse.csr_array(X), Y, "sparse"),
        (
            {"estimator": None, "nuisance": None, "test": "hrt"},
            np.where(X > 2, np.nan, X),
            Y,
            "'x1' has missing values.*sampler",
        ),
        (
            {
                "estimator": None,
                "nuisance": None,
                "test": "hrt",
                "feature_groups": {"mixed": ["size", "colour"]},
            },
            *mixed_frame(),
            "feature_groups puts 'size'.*sampler",
        ),
        ({"test": "hrt", "sampler": lambda *_: X[:5, :2]}, X, Y, r"sampler .*\(5, 2\)"),
    ],
)
def test_bad_input(parameters, rows, y, message):
    found = quick("gcm").set_params(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        found.fit(rows, y)
    assert not hasattr(found, "pvalues_")


ODD_ROWS = {
    "one feature": X[:, :1],
    "constants": np.column_stack([X[:, 0], np.full(60, 0.1), np.zeros(60)]),
    "flags": X[:, :2] > 0,
    "whole numbers": np.round(10 * X[:, :2]).astype(int),
    "float32 far from zero": (X[:, :2] + 1e6).astype(np.float32),
    "missing": np.where(X > 1, np.nan, X)[:, :2],
    "many levels": pd.DataFrame(
        {"id": [f"no {i // 4}" for i in range(60)], "x": X[:, 0]}
    ),
}


@pytest.mark.thorough(after=2)
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.WeakNuisanceWarning",
    "ignore::sklearn_interpret.exceptions.ExtrapolationWarning",
)
@of_each
@pytest.mark.parametrize("kind", ODD_ROWS)
def test_odd_rows(test, kind, few_trees):
    found = quick(test, None, nuisance=None, cv=2, correction=None)
    if kind == "missing" and test == "hrt":
        found.set_params(sampler=lambda rows, at, rng: rng.normal(size=(len(rows), 1)))
    found.fit(ODD_ROWS[kind], Y)
    assert ((found.pvalues_ >= 0) & (found.pvalues_ <= 1)).all()
    if kind == "constants" and test != "loco":
        assert_array_equal(found.pvalues_[1:], 1)
        assert_array_equal(found.importances_[1:], 0)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("nuisance", [LinearRegression(), None, TREE])
@pytest.mark.parametrize("test", ["gcm", "pcm"])
def test_nothing_is_left_of_copies(test, nuisance, no_checks, known_smoothing):
    rows = np.column_stack([X[:, [0, 2]], X[:, 0], 2 * X[:, 2] + 1])
    # GCM asks no model.
    for model in (None, TREE) if test == "pcm" else (None,):
        found = quick(test, model, nuisance=nuisance, cv=2).fit(rows, Y)
        assert_array_equal(found.pvalues_, 1)
        assert_array_equal(found.importances_, 0)


@of_each
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_targets_have_no_units(test, scale, no_checks):
    one, other = (quick(test).fit(X, y) for y in (Y, scale * Y))
    assert_allclose(one.pvalues_, other.pvalues_, rtol=1e-6)


@of_each
@pytest.mark.parametrize("n_rows", [4, 9])
@pytest.mark.parametrize("classes", [False, True])
def test_few_rows(test, n_rows, classes, no_checks):
    y = Y[:n_rows] > np.median(Y[:n_rows]) if classes else Y[:n_rows]
    found = quick(test, None).fit(X[:n_rows], y)
    assert ((found.pvalues_ >= 0) & (found.pvalues_ <= 1)).all()


@of_each
@pytest.mark.parametrize("n_rare", [0, 1])
def test_rare_classes(test, n_rare, no_checks):
    y = np.array(["rare"] * n_rare + ["frequent"] * (60 - n_rare))
    found = quick(test, None).fit(X, y)
    assert ((found.pvalues_ >= 0) & (found.pvalues_ <= 1)).all()
    assert found.pvalues_.min() > 0.01


@pytest.mark.thorough(after=2)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.WeakNuisanceWarning")
@of_each
def test_more_features_than_rows(test, few_trees):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 100))
    groups = {"first": [0, 1], "rest": list(range(2, 100))}
    found = quick(test, Ridge(), nuisance=Ridge(), feature_groups=groups, cv=2)
    found.fit(rows, 3 * rows[:, 0] + rng.normal(size=60))
    assert ((found.pvalues_ >= 0) & (found.pvalues_ <= 1)).all()


@pytest.mark.parametrize("test", TESTS)
def test_sparse_rows_are_for_loco(test):
    found = quick(test)
    assert found.__sklearn_tags__().input_tags.sparse == (test == "loco")
    if test == "loco":
        found.fit(sparse.csr_array(X), Y)
        assert_allclose(found.pvalues_, quick(test).fit(X, Y).pvalues_)
