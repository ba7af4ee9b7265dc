"""Effects among scikit-learn: pipelines, searches, routing, kinds of models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import IsolationForest, RandomForestRegressor, StackingRegressor
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    ConditionalDependence,
    PartialDependence,
    RegionalEffects,
)
from tests.instances import EFFECTS

all_effects = pytest.mark.parametrize(
    "inspector_class", EFFECTS, ids=lambda c: c.__name__
)

# Outputs share their regions.
effects_of_each_output = pytest.mark.parametrize(
    "inspector_class",
    [one for one in EFFECTS if one is not RegionalEffects],
    ids=lambda c: c.__name__,
)


def small(inspector_class, estimator, **params):
    """An instance with the table's first arguments."""
    return inspector_class(estimator, **{**EFFECTS[inspector_class][0], **params})


def curves(inspector):
    """The effects that a fitted inspector found, whatever it calls them."""
    return getattr(inspector, "effects_", None) or inspector.average_


@pytest.fixture
def regression():
    """A table in which the first two of four features matter."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, 3 * X[:, 0] + 2 * X[:, 1] ** 2


@pytest.fixture
def three_classes():
    """A table of three classes."""
    return make_classification(
        90, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0
    )


# Pipelines, searches, cross-validation, selection


@all_effects
def test_last_in_a_pipeline(inspector_class, regression):
    X, y = regression
    inspector = small(inspector_class, LinearRegression())
    pipeline = make_pipeline(StandardScaler(), inspector).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = clone(inspector).fit(scaled, y)
    assert_array_equal(pipeline.predict(X), alone.predict(scaled))
    assert_array_equal(pipeline.transform(X), alone.transform(scaled))
    assert pipeline.score(X, y) == alone.score(scaled, y)
    names = [f"b{j}" for j in range(4)]
    assert len(pipeline.get_feature_names_out(names)) == alone.transform(X).shape[1]


@all_effects
def test_a_pipeline_inside(inspector_class, regression):
    """A pipeline is inspected on its raw columns."""
    pandas = pytest.importorskip("pandas")
    X, y = regression
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["c"] = np.where(frame["c"] > 0, "high", "low")
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough"),
        LinearRegression(),
    )
    inspector = small(inspector_class, model).fit(frame, y)
    assert inspector.feature_names_in_.tolist() == list("abcd")
    assert inspector.categorical_features_.tolist() == [False, False, True, False]
    assert [len(curve) for curve in curves(inspector)][2] == 2


@all_effects
def test_search_over_the_model_and_the_inspector(inspector_class, regression):
    X, y = regression
    search = GridSearchCV(
        small(inspector_class, Ridge()),
        {"estimator__alpha": [1e-3, 1e6], "features": [[0], [1, 2]]},
        cv=3,
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    plain = GridSearchCV(Ridge(), {"alpha": [1e-3, 1e6]}, cv=3).fit(X, y)
    best = search.best_estimator_
    assert best.estimator_.alpha == plain.best_params_["alpha"] == 1e-3
    assert_allclose(search.best_score_, plain.best_score_)
    assert_array_equal(search.transform(X), best.transform(X))
    assert best.features_ == [(j,) for j in best.features]


@all_effects
def test_feature_selection(inspector_class, regression):
    X, y = regression
    model = RandomForestRegressor(10, random_state=0)
    inspector = small(inspector_class, model)
    selector = SelectFromModel(inspector, threshold="mean").fit(X, y)
    assert selector.get_support()[0]
    assert not selector.get_support()[2:].any()
    elimination = RFE(inspector, n_features_to_select=2).fit(X, y)
    assert elimination.get_support().tolist() == [True, True, False, False]


# Weights and other metadata


class Weighted(RegressorMixin, BaseEstimator):
    """Notes what metadata its `fit` gets."""

    def fit(self, X, y, sample_weight=None, group=None):
        """Note the metadata."""
        self.n_features_in_ = X.shape[1]
        self.sample_weight_, self.group_ = sample_weight, group
        return self

    def predict(self, X):
        """Return the first column."""
        return np.asarray(X)[:, 0]


def test_weights_reach_the_model_without_routing(regression):
    X, y = regression
    weights = np.linspace(1, 2, len(y))
    inspector = PartialDependence(Weighted()).fit(X, y, sample_weight=weights)
    assert_array_equal(inspector.estimator_.sample_weight_, weights)
    inspector = PartialDependence(make_pipeline(StandardScaler(), Weighted()))
    inspector.fit(X, y, sample_weight=weights)
    assert_array_equal(inspector.estimator_[-1].sample_weight_, weights)
    assert not hasattr(inspector.estimator_[0], "sample_weight_")
    nested = make_pipeline(StandardScaler(), make_pipeline("passthrough", Weighted()))
    inspector = PartialDependence(nested).fit(X, y, sample_weight=weights)
    assert_array_equal(inspector.estimator_[-1][-1].sample_weight_, weights)


def test_other_fit_parameters_reach_the_model_without_routing(regression):
    X, y = regression
    inspector = PartialDependence(Weighted()).fit(X, y, group="a")
    assert inspector.estimator_.group_ == "a"
    pipeline = make_pipeline(StandardScaler(), Weighted())
    inspector = PartialDependence(pipeline).fit(X, y, weighted__group="b")
    assert inspector.estimator_[-1].group_ == "b"


def test_weights_weigh_the_inspection_where_the_model_takes_none(regression):
    X, y = regression
    weights = np.linspace(0, 1, len(y))
    model = FrozenEstimator(RandomForestRegressor(5, random_state=0).fit(X, y))
    inspector = ConditionalDependence(model, features=[0], n_intervals=1)
    found = inspector.fit(X, y, sample_weight=weights).average_[0]
    assert_allclose(found[-1], np.average(model.predict(X), weights=weights))


@pytest.mark.parametrize("requests", [True, False])
def test_weights_are_routed_as_requested(requests, regression):
    X, y = regression
    weights = np.linspace(1, 2, len(y))
    with config_context(enable_metadata_routing=True):
        model = Weighted().set_fit_request(sample_weight=requests, group=False)
        inspector = PartialDependence(model).set_fit_request(sample_weight=True)
        inspector.fit(X, y, sample_weight=weights)
        if requests:
            assert_array_equal(inspector.estimator_.sample_weight_, weights)
        else:
            assert inspector.estimator_.sample_weight_ is None


def test_metadata_is_routed_through_a_pipeline_and_a_search(regression):
    """Through a search, a pipeline, an inspector and a pipeline within."""
    X, y = regression
    weights = np.linspace(1, 2, len(y))
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = Weighted().set_fit_request(sample_weight=True, group=True)
        inspector = PartialDependence(make_pipeline(scaler, model))
        inspector.set_fit_request(sample_weight=True)
        search = GridSearchCV(
            make_pipeline("passthrough", inspector),
            {"partialdependence__grid_resolution": [2]},
            scoring=get_scorer("r2").set_score_request(sample_weight=True),
            cv=2,
        ).fit(X, y, sample_weight=weights, group="a")
        inner = search.best_estimator_[-1].estimator_[-1]
    assert_array_equal(inner.sample_weight_, weights)
    assert inner.group_ == "a"


def test_what_nobody_requested_is_scikit_learns_error(regression):
    X, y = regression
    weights = np.ones(len(y))
    with config_context(enable_metadata_routing=True):
        inspector = PartialDependence(Weighted()).set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            inspector.fit(X, y, sample_weight=weights)
        with pytest.raises(UnsetMetadataPassedError, match="group"):
            inspector.fit(X, y, group="a")
        with pytest.raises(TypeError, match="no_such_thing"):
            inspector.fit(X, y, no_such_thing=1)


# Kinds of models and of data


@effects_of_each_output
def test_many_outputs(inspector_class, regression):
    X, y = regression
    Y = np.stack([y, -2 * y, X[:, 2]], axis=1)
    inspector = small(inspector_class, LinearRegression(), features=[0]).fit(X, Y)
    one = small(inspector_class, LinearRegression(), features=[0]).fit(X, y)
    assert inspector.output_names_ == [0, 1, 2]
    (curve,), (first,) = curves(inspector), curves(one)
    assert curve.shape == (3, *first.shape)
    assert_allclose(curve[0], first, atol=1e-12)
    assert_allclose(curve[1], -2 * first, atol=1e-12)
    third = small(inspector_class, LinearRegression(), features=[0], target=2)
    assert_allclose(curves(third.fit(X, Y))[0], curve[2], atol=1e-12)
    assert inspector.transform(X).shape[1] == 3 * one.transform(X).shape[1]


@effects_of_each_output
def test_many_classes(inspector_class, three_classes):
    X, y = three_classes
    labels = np.array(["a", "b", "c"])[y]
    inspector = small(inspector_class, LogisticRegression(), features=[0])
    inspector.fit(X, labels)
    assert inspector.output_names_ == ["a", "b", "c"]
    (curve,) = curves(inspector)
    if inspector_class is AccumulatedLocalEffects:
        assert_allclose(curve.sum(axis=0), 0, atol=1e-12)
    else:
        assert_allclose(curve.sum(axis=0), 1)
    names = inspector.get_feature_names_out()
    assert {name.rpartition("_")[2] for name in names} == {"a", "b", "c"}
    only_b = small(inspector_class, LogisticRegression(), features=[0], target="b")
    assert_allclose(curves(only_b.fit(X, labels))[0], curve[1], atol=1e-12)


@all_effects
def test_many_labels(inspector_class):
    """Of labels that are there or not, the response is that they are there."""
    X, Y = make_multilabel_classification(60, 4, n_classes=3, random_state=0)
    model = OneVsRestClassifier(LogisticRegression())
    inspector = small(inspector_class, model, features=[0]).fit(X, Y)
    (curve,) = curves(inspector)
    assert len(curve) == 3
    probabilities = model.fit(X, Y).predict_proba(X)
    if inspector_class is ConditionalDependence:
        counts = inspector.interval_counts_[0]
        means = [np.average(part, weights=counts) for part in curve]
        assert_allclose(means, probabilities.mean(axis=0))


@all_effects
def test_outlier_detector_needs_no_targets(inspector_class, regression):
    X, _ = regression
    model = IsolationForest(n_estimators=10, random_state=0)
    inspector = small(
        inspector_class, model, features=[0], response_method="decision_function"
    ).fit(X)
    (curve,) = curves(inspector)
    assert np.ptp(curve) > 0
    assert_array_equal(inspector.predict(X), clone(model).fit(X).predict(X))


@all_effects
def test_sparse_input(inspector_class, regression):
    X, y = regression
    X = np.where(np.abs(X) > 1, X, 0)
    matrix = sparse.dia_array(X)
    inspector = small(inspector_class, Ridge(solver="lsqr")).fit(matrix, y)
    model = FrozenEstimator(inspector.estimator_)
    dense = small(inspector_class, model).fit(X)
    for found, expected in zip(curves(inspector), curves(dense), strict=True):
        assert_allclose(found, expected, atol=1e-10)
    assert_allclose(inspector.transform(matrix), dense.transform(X), atol=1e-10)


class Foreign:
    """A predictor of no scikit-learn class: least squares with a slope limit."""

    def __init__(self, limit=10.0):
        self.limit = limit

    def get_params(self, deep=True):
        """Return the parameters."""
        return {"limit": self.limit}

    def set_params(self, **params):
        """Set parameters."""
        self.limit = params.get("limit", self.limit)
        return self

    def fit(self, X, y):
        """Fit the slopes."""
        slopes = np.linalg.lstsq(np.asarray(X), y)[0]
        self.slopes = np.clip(slopes, -self.limit, self.limit)
        return self

    def predict(self, X):
        """Return the linear predictor."""
        return np.asarray(X) @ self.slopes


class ForeignClassifier(Foreign):
    """The same for two classes."""

    def fit(self, X, y):
        """Fit the slopes to the indicator of the second class."""
        self.classes_ = np.unique(y)
        return super().fit(X, y == self.classes_[1])

    def predict_proba(self, X):
        """Return something like probabilities."""
        second = np.clip(super().predict(X), 0, 1)
        return np.stack([1 - second, second], axis=1)

    def predict(self, X):
        """Return the likelier class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@all_effects
def test_a_predictor_of_no_scikit_learn_class(inspector_class, regression):
    X, y = regression
    linear = FrozenEstimator(LinearRegression(fit_intercept=False).fit(X, y))
    expected = curves(small(inspector_class, linear).fit(X))
    for model in (Foreign(), FrozenEstimator(Foreign().fit(X, y))):
        inspector = small(inspector_class, model).fit(X, y)
        for found, curve in zip(curves(inspector), expected, strict=True):
            assert_allclose(found, curve, atol=1e-10)
        assert_array_equal(inspector.predict(X), Foreign().fit(X, y).predict(X))
        assert not hasattr(inspector, "score")
    search = GridSearchCV(
        small(inspector_class, Foreign()),
        {"estimator__limit": [0.1, 10.0]},
        scoring="r2",
        cv=2,
    )
    assert search.fit(X, y).best_params_ == {"estimator__limit": 10.0}


def test_a_classifier_of_no_scikit_learn_class(regression):
    X, y = regression
    labels = np.where(y > 1, "up", "down")
    inspector = PartialDependence(
        FrozenEstimator(ForeignClassifier().fit(X, labels)), features=[0]
    ).fit(X)
    assert inspector.output_names_ == ["up"]
    assert inspector.classes_.tolist() == ["down", "up"]
    assert np.diff(inspector.average_[0]).min() >= 0


def test_a_foreign_predictor_needs_targets_too(regression):
    X, _ = regression
    with pytest.raises(ValueError, match="requires y"):
        PartialDependence(Foreign()).fit(X)


def test_frozen_twice_is_frozen(regression):
    X, y = regression
    model = FrozenEstimator(FrozenEstimator(LinearRegression().fit(X, y)))
    once = PartialDependence(model.estimator, features=[0]).fit(X)
    twice = PartialDependence(model, features=[0]).fit(X)
    assert_array_equal(twice.average_[0], once.average_[0])
    with pytest.raises(NotFittedError):
        PartialDependence(FrozenEstimator(FrozenEstimator(Ridge()))).fit(X)


def test_pairs_alone_have_no_transform_and_no_ranking(regression):
    """And leave none from a fit before."""
    X, y = regression
    inspector = PartialDependence(LinearRegression(), grid_resolution=3).fit(X, y)
    assert inspector.feature_importances_.shape == (4,)
    inspector.set_params(features=[(0, 1)]).fit(X, y)
    assert not hasattr(inspector, "feature_importances_")
    with pytest.raises(ValueError, match="pairs only"):
        inspector.transform(X)


@all_effects
def test_a_stack_has_its_methods_from_its_fit_on(inspector_class, regression):
    X, y = regression
    stack = StackingRegressor([("linear", LinearRegression())], LinearRegression())
    bare = StackingRegressor([("linear", LinearRegression())])
    for model in (stack, bare):
        inspector = small(inspector_class, model, features=[0]).fit(X, y)
        assert_array_equal(inspector.predict(X), clone(model).fit(X, y).predict(X))
