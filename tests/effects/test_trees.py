"""Effects found from trees are those found by asking the model."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.trees.effects import tree_effects
from sklearn_interpret._core.trees.effects.curves import TreeCurves
from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.estimator_checks._results import fitted_results
from sklearn_interpret.exceptions import NonFiniteResponseError, UnreadableModelError
from tests.references.models import watched

N_ROWS = 120


def table(*, missing=False):
    """Five columns: numbers, few and many, and four levels; a response."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_ROWS, 5))
    X[:, 2] = np.round(X[:, 2])
    X[:, 3] = rng.integers(0, 4, N_ROWS)
    y = X[:, 0] * X[:, 1] + X[:, 2] + (X[:, 3] == 2) * X[:, 4]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


X, Y = table()


def frame():
    """The same with a column of categories, and missing values in two columns."""
    X, y = table()
    X = pd.DataFrame(X, columns=list("abcde"))
    X["d"] = pd.Categorical(np.array(list("wxyz"))[X["d"].astype(int)])
    X.loc[::7, "a"] = np.nan
    X.loc[::11, "d"] = None
    return X, y


def cut(y, n_classes):
    edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(edges, y)


def models():
    """Fitted models of every kind, with their rows and how they are asked."""
    holes, _ = table(missing=True)
    named, _ = frame()
    boosted = {"max_iter": 10, "min_samples_leaf": 5}
    seeded = {"random_state": 0}
    scores = {"response_method": "decision_function"}
    several = np.column_stack([Y, -(Y**2)])
    labels = np.column_stack([cut(Y, 3), cut(Y, 2)])
    trees = HistGradientBoostingClassifier(**boosted)
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["d"]),
        remainder=StandardScaler(),
    )
    piped = make_pipeline(columns, HistGradientBoostingRegressor(**boosted))
    by_dtype = HistGradientBoostingRegressor(
        **boosted, categorical_features="from_dtype"
    )
    return {
        "tree": (DecisionTreeRegressor(**seeded).fit(X, Y), X, {}),
        "boosting": (
            GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, Y),
            X,
            {},
        ),
        "two targets": (RandomForestRegressor(5, **seeded).fit(X, several), X, {}),
        "missing": (ExtraTreesRegressor(5, **seeded).fit(holes, Y), holes, {}),
        "probability": (
            RandomForestClassifier(5, **seeded).fit(X, cut(Y, 2)),
            X,
            {"target": 0},
        ),
        "two sets of classes": (
            RandomForestClassifier(5, **seeded).fit(X, labels),
            X,
            {},
        ),
        "scores": (trees.fit(holes, cut(Y, 3)), holes, scores),
        "categories": (by_dtype.fit(named, Y), named, {}),
        "columns encoded": (piped.fit(named, Y), named, {}),
        "categories as arrays": (
            HistGradientBoostingRegressor(**boosted, categorical_features=[3]).fit(
                holes, Y
            ),
            holes,
            {},
        ),
    }


def links():
    """Models whose response is a function of a sum of trees, likewise."""
    holes, _ = table(missing=True)
    named, _ = frame()
    boosted = {"max_iter": 5, "min_samples_leaf": 5}
    two = HistGradientBoostingClassifier(**boosted, categorical_features=[3])
    three = GradientBoostingClassifier(n_estimators=4, random_state=0)
    counts = HistGradientBoostingRegressor(
        **boosted, loss="poisson", categorical_features="from_dtype"
    )
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, cut(Y, 2))
    return {
        "logistic": (two.fit(holes, cut(Y, 2)), holes, {"target": 0}),
        "softmax": (three.fit(X, cut(Y, 3)), X, {}),
        "log link": (counts.fit(named, np.abs(Y)), named, {}),
        "centred": (forest, X, {"response_method": "centered_log_proba"}),
    }


LINKS = links()
MODELS = {**models(), **LINKS}


ENTRIES = {
    "PD alone": (PartialDependence, {"grid_resolution": 9}),
    "PD pairs": (
        PartialDependence,
        {"features": [(0, 1), (3, 0), 4, (2, 4), (0, 2)], "grid_resolution": 6},
    ),
    "PD centred": (
        PartialDependence,
        {"features": [0, 3, (1, 3)], "grid_resolution": 6, "centered": True},
    ),
    "PD groups": (
        PartialDependence,
        {
            "features": [0, "both", (1, "both")],
            "feature_groups": {"both": [2, 3]},
            "grid_resolution": 100,
        },
    ),
    "PD custom": (
        PartialDependence,
        {"features": [1, 4], "custom_values": {1: [-1e30, 0.0, 0.5], 4: [0.25]}},
    ),
    "ICE": (ICE, {"features": [0, 3, (0, 1), 2], "grid_resolution": 6}),
    "ICE centred": (
        ICE,
        {"features": [0, 1], "grid_resolution": 5, "center": 0.31, "derivative": True},
    ),
    "ALE alone": (ALE, {"n_intervals": 10}),
    "ALE pairs": (ALE, {"features": [(0, 1), (1, 3), (3, 2), 0], "n_intervals": 6}),
    "ALE fine pairs": (ALE, {"features": [(0, 1), (0, 3)], "n_intervals": 40}),
    "ALE custom": (ALE, {"features": [1], "custom_values": {1: [-0.5, 0.0, 0.6]}}),
    "ALE errors": (ALE, {"features": [0, 3], "confidence_level": 0.9}),
    "ALE bootstrap": (
        ALE,
        {
            "features": [0, (1, 2)],
            "n_intervals": 4,
            "confidence_level": 0.9,
            "confidence_method": "bootstrap",
            "n_bootstraps": 3,
            "random_state": 0,
        },
    ),
}


def fitted(name, entry, **parameters):
    """An inspector of a model, with the levels of the fourth column as such."""
    model, X, asked = MODELS[name]
    inspector_class, arguments = ENTRIES[entry]
    if not isinstance(X, pd.DataFrame):
        asked = {**asked, "categorical_features": [3]}
    inspector = inspector_class(
        FrozenEstimator(model), **{**arguments, **asked, **parameters}
    )
    weights = None
    if entry in ("PD pairs", "ICE", "ALE alone", "ALE pairs"):
        weights = np.random.default_rng(2).uniform(0.1, 2, size=N_ROWS)
        weights[::9] = 0
    return inspector.fit(X, sample_weight=weights)


def assert_close(left, right, where, atol):
    """Results of any nesting."""
    if isinstance(left, dict):
        assert set(left) == set(right)
        left, right = list(left.items()), list(right.items())
    if isinstance(left, list | tuple):
        for i, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_close(one, other, f"{where}[{i}]", atol)
    elif isinstance(left, np.ndarray) and left.dtype.kind == "f":
        assert_allclose(left, right, rtol=0, atol=atol, err_msg=where)


@pytest.mark.thorough(after=5)
@pytest.mark.parametrize(
    "name, entry",
    [
        (name, entry)
        for place, (name, entry) in enumerate(product(MODELS, ENTRIES))
        # Every other pair: the number of entries is odd, so that all meet.
        if place % 2 == 0 and not (name in LINKS and ENTRIES[entry][0] is ALE)
    ],
)
def test_trees_give_what_the_model_gives(name, entry):
    by_trees = fitted(name, entry, method="tree")
    by_asking = fitted(name, entry, method="brute")
    atol = 1e-10 if ENTRIES[entry][0] is ALE else 1e-8
    assert_close(fitted_results(by_trees), fitted_results(by_asking), entry, atol)
    X = MODELS[name][1]
    if by_trees._one_way_entries:
        found, expected = by_trees.transform(X), by_asking.transform(X)
        assert_allclose(found, expected, rtol=0, atol=atol)


FOREIGN = {
    "xgboost": ("XGBRegressor", {"n_estimators": 10}, 1e-5),
    "lightgbm": ("LGBMRegressor", {"n_estimators": 10, "verbose": -1}, 1e-10),
    "catboost": (
        "CatBoostRegressor",
        {"n_estimators": 10, "verbose": 0, "allow_writing_files": False},
        1e-10,
    ),
}


@pytest.mark.parametrize("library", FOREIGN)
@pytest.mark.parametrize("entry", ["PD alone", "ICE", "ALE alone"])
def test_other_libraries(library, entry):
    """XGBoost adds up in single precision: the trees are the more exact ones."""
    module = pytest.importorskip(library)
    name, parameters, atol = FOREIGN[library]
    X, y = table(missing=True)
    model = getattr(module, name)(**parameters).fit(X, y)
    inspector_class, arguments = ENTRIES[entry]
    found = [
        fitted_results(
            inspector_class(FrozenEstimator(model), method=method, **arguments).fit(X)
        )
        for method in ("tree", "brute")
    ]
    assert_close(*found, library, atol)


@pytest.mark.parametrize("inspector_class", [PartialDependence, ICE, ALE])
def test_where_trees_cannot_be_had(inspector_class):
    model = FrozenEstimator(LinearRegression().fit(X, Y))
    inspector_class(model, features=[0]).fit(X)
    with pytest.raises(UnreadableModelError, match="LinearRegression can't be read"):
        inspector_class(model, features=[0], method="tree").fit(X)


@pytest.mark.parametrize(
    ("inspector_class", "response"),
    [(PartialDependence, "predict"), (ICE, "predict"), (ALE, "predict_proba")],
)
def test_responses_that_are_no_sum_of_trees_are_asked_for(inspector_class, response):
    """Labels; for accumulated differences, probabilities too."""
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, cut(Y, 2))
    params = {"features": [0], "response_method": response}
    effect = inspector_class(FrozenEstimator(model), **params).fit(X)
    with pytest.raises(UnreadableModelError, match='"decision_function" is'):
        effect.set_params(method="tree").fit(X)


@pytest.mark.filterwarnings("ignore:divide by zero")  # the model's
@pytest.mark.parametrize("inspector_class", [PartialDependence, ICE])
def test_logarithms_of_zero_are_refused(inspector_class):
    model = RandomForestClassifier(2, random_state=0).fit(X, cut(Y, 2))
    for method in ("tree", "brute"):
        inspector = inspector_class(
            FrozenEstimator(model), response_method="predict_log_proba", method=method
        )
        with pytest.raises(NonFiniteResponseError):
            inspector.fit(X)


@pytest.mark.parametrize("inspector_class", [PartialDependence, ICE, ALE])
def test_the_model_is_asked_for_a_few_rows_only(inspector_class, monkeypatch):
    model = GradientBoostingRegressor(n_estimators=3).fit(X, Y)
    asked = watched(monkeypatch, GradientBoostingRegressor, "predict")
    inspector_class(FrozenEstimator(model)).fit(X)
    assert 0 < sum(len(table) for _, table in asked) <= 8


class Shifted(GradientBoostingRegressor):
    """Predicts more than the sum of its trees."""

    def predict(self, X):
        """One more."""
        return super().predict(X) + 1


def test_a_model_that_is_not_its_trees_is_asked():
    model = Shifted(n_estimators=3).fit(X, Y)
    effect = PartialDependence(FrozenEstimator(model), features=[0]).fit(X)
    brute = effect.average_[0]
    expected = effect.set_params(method="brute").fit(X).average_[0]
    assert_array_equal(brute, expected)
    with pytest.raises(UnreadableModelError, match="with predict of its own"):
        effect.set_params(method="tree").fit(X)


@pytest.mark.parametrize("method", ["tree", "brute"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("inspector_class", [PartialDependence, ICE, ALE])
def test_values_that_the_model_refuses_are_refused(inspector_class, bad, method):
    X, y = table()
    model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, y)
    X = X.copy()
    X[77, 4] = bad
    inspector = inspector_class(FrozenEstimator(model), features=[0], method=method)
    with pytest.raises(ValueError, match="Input X contains"):
        inspector.fit(X)


@pytest.mark.filterwarnings("ignore:overflow")  # the model's, before it refuses
def test_a_point_that_the_model_refuses_is_refused():
    model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, Y)
    custom = {0: [0.0, 1e300]}
    effect = PartialDependence(FrozenEstimator(model), custom_values=custom)
    for method in ("tree", "brute"):
        with pytest.raises(ValueError, match="Input X contains"):
            effect.set_params(method=method).fit(X)


def test_standard_errors_wait_until_they_are_asked_for(monkeypatch):
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y)
    effect = PartialDependence(FrozenEstimator(model), features=[0, (1, 2)])
    assert not hasattr(effect, "standard_errors_")
    asked = []
    curves = TreeCurves.curves

    def noted(*args):
        asked.append(args)
        return curves(*args)

    monkeypatch.setattr(TreeCurves, "curves", noted)
    effect.fit(X)
    assert not asked
    first = effect.standard_errors_
    n_asked = len(asked)
    assert n_asked > 0
    again = effect.standard_errors_
    assert len(asked) == n_asked
    copy = pickle.loads(pickle.dumps(effect)).standard_errors_
    expected = effect.set_params(method="brute").fit(X).standard_errors_
    for found in (first, again, copy):
        assert_close(found, expected, "standard errors", 1e-12)
    effect.set_params(method="recursion").fit(X)
    assert effect.standard_errors_ is effect.shape_standard_errors_ is None
    effect.set_params(features=["none"])
    with pytest.raises(ValueError, match="none"):
        effect.fit(X)
    assert not hasattr(effect, "standard_errors_")


@pytest.mark.parametrize("entry", ["PD pairs", "ICE", "ALE pairs"])
def test_blocks_and_workers_do_not_matter(entry, monkeypatch):
    expected = fitted_results(fitted("scores", entry, method="tree"))
    monkeypatch.setattr(tree_effects, "_MOST_ROWS", 64)
    monkeypatch.setattr(tree_effects, "_LEAST_ROWS", 64)
    with config_context(working_memory=0.002):
        for n_jobs in (1, 2):
            found = fitted("scores", entry, method="tree", n_jobs=n_jobs)
            assert_close(fitted_results(found), expected, entry, 1e-12)
