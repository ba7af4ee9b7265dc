"""TreeSHAP among scikit-learn: pipelines, searches, routing, containers."""

import io
import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.shapley import TreeSHAP


@pytest.fixture
def regression():
    """A table in which the first two of four features matter."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, 3 * X[:, 0] + 2 * X[:, 1]


def forest(**parameters):
    return RandomForestRegressor(8, max_depth=5, random_state=0, **parameters)


def test_last_in_a_pipeline(regression):
    X, y = regression
    pipeline = make_pipeline(StandardScaler(), TreeSHAP(forest())).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = TreeSHAP(forest()).fit(scaled, y)
    assert_array_equal(pipeline.predict(X), alone.predict(scaled))
    assert_array_equal(pipeline.transform(X), alone.transform(scaled))
    assert pipeline.score(X, y) == alone.score(scaled, y)
    names = ["a", "b", "c", "d"]
    assert pipeline.get_feature_names_out(names).tolist() == names


def test_attributions_are_features_of_another_model(regression):
    X, y = regression
    values = TreeSHAP(forest()).fit(X, y).transform(X)
    pipeline = make_pipeline(TreeSHAP(forest()), Ridge()).fit(X, y)
    assert_array_equal(pipeline.predict(X), Ridge().fit(values, y).predict(values))


def test_rows_are_clustered_by_why_they_got_their_prediction(regression):
    """Features that the model ignores split no cluster."""
    X, y = regression
    pipeline = make_pipeline(TreeSHAP(forest()), AgglomerativeClustering(3))
    found = pipeline.fit_predict(X, y)
    values = TreeSHAP(forest()).fit(X, y).transform(X)
    assert_array_equal(found, AgglomerativeClustering(3).fit_predict(values))
    assert len(set(found)) == 3


def test_search_over_the_model_and_the_inspector(regression):
    X, y = regression
    grid = {
        "estimator__max_depth": [1, 5],
        "perturbation": ["interventional", "path_dependent"],
    }
    search = GridSearchCV(TreeSHAP(forest()), grid, cv=3).fit(X, y)
    plain = GridSearchCV(forest(), {"max_depth": [1, 5]}, cv=3).fit(X, y)
    best = search.best_estimator_
    assert best.estimator_.max_depth == plain.best_params_["max_depth"] == 5
    assert_allclose(search.best_score_, plain.best_score_)
    assert_array_equal(search.transform(X), best.transform(X))


def test_cross_validation_keeps_the_inspections(regression):
    X, y = regression
    results = cross_validate(TreeSHAP(forest()), X, y, cv=4, return_estimator=True)
    assert_allclose(results["test_score"], cross_val_score(forest(), X, y, cv=4))
    for fold in results["estimator"]:
        assert fold.background_.shape == (60, 4)
        important, useless = np.split(fold.feature_importances_, 2)
        assert important.min() > 3 * useless.max()


@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_feature_selection(perturbation, regression):
    X, y = regression
    inspector = TreeSHAP(forest(), perturbation=perturbation)
    selector = SelectFromModel(inspector, threshold="mean").fit(X, y)
    assert selector.get_support().tolist() == [True, True, False, False]
    elimination = RFE(inspector, n_features_to_select=2).fit(X, y)
    assert elimination.get_support().tolist() == [True, True, False, False]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_output_containers(library, n_classes):
    module = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["u", "v", "w"])[rng.integers(n_classes, size=60)]
    frame = module.DataFrame(dict(zip("abc", X.T, strict=True)))
    inspector = TreeSHAP(RandomForestClassifier(3, max_depth=3, random_state=0))
    out = inspector.set_output(transform=library).fit(frame, y).transform(frame)
    assert isinstance(out, module.DataFrame)
    expected = list("abc")
    if n_classes == 3:
        expected = [f"{name}_{label}" for name in "abc" for label in "uvw"]
    assert list(out.columns) == expected
    plain = clone(inspector).set_output(transform="default").fit(X, y)
    assert_array_equal(out.to_numpy(), plain.transform(X))
    if library == "pandas":
        assert out.index.equals(frame.index)


def test_explanations_to_frames_and_rows(regression):
    pandas = pytest.importorskip("pandas")
    X, y = regression
    frame = pandas.DataFrame(X, columns=list("abcd"), index=np.arange(80) + 100)
    explanation = TreeSHAP(forest()).fit(frame, y).explain(frame)
    table = explanation.to_frame()
    assert table.index.equals(frame.index)
    assert table.columns.tolist() == list("abcd")
    one = explanation[3]
    assert one.values.shape == (1, 4)
    assert one.data.equals(frame.iloc[[3]])


def test_copies(regression):
    X, y = regression
    pipeline = make_pipeline(StandardScaler(), TreeSHAP(forest())).fit(X, y)
    file = io.BytesIO()
    joblib.dump(pipeline, file, compress=3)
    file.seek(0)
    copies = [
        clone(pipeline).fit(X, y),
        pickle.loads(pickle.dumps(pipeline)),
        joblib.load(file),
    ]
    for copy in copies:
        assert_array_equal(copy.transform(X), pipeline.transform(X))
        assert_array_equal(
            copy[-1].feature_importances_, pipeline[-1].feature_importances_
        )
        scaled = pipeline[0].transform(X[:5])
        assert_array_equal(
            copy[-1].interaction_values(scaled), pipeline[-1].interaction_values(scaled)
        )


def test_pickles_hold_no_tables(regression):
    """They are made again, so that a pickle is about as large as what it explains."""
    X, y = regression
    inspector = TreeSHAP(forest()).fit(X, y)
    before = len(pickle.dumps(inspector))
    inspector.transform(X)
    inspector.interaction_values(X[:3])
    assert inspector.feature_importances_.shape == (4,)
    assert len(pickle.dumps(inspector)) == before


# Weights and metadata


def test_weights_reach_the_model_and_the_background(regression):
    X, y = regression
    weights = np.random.default_rng(1).integers(0, 3, size=len(y))
    inspector = TreeSHAP(DecisionTreeRegressor(max_depth=3, random_state=0))
    inspector.fit(X, y, sample_weight=weights)
    plain = clone(inspector.estimator).fit(X, y, sample_weight=weights)
    assert_array_equal(inspector.predict(X), plain.predict(X))
    base = np.average(plain.predict(X), weights=weights)
    assert inspector.base_values_ == pytest.approx(base)
    assert len(inspector.background_) == np.count_nonzero(weights)


@pytest.mark.parametrize("requests", [True, False])
def test_weights_are_routed_as_requested(requests, regression):
    X, y = regression
    weights = np.linspace(0.1, 2, len(y))
    with config_context(enable_metadata_routing=True):
        model = DecisionTreeRegressor(max_depth=3, random_state=0)
        model.set_fit_request(sample_weight=requests)
        inspector = TreeSHAP(model).set_fit_request(sample_weight=True)
        inspector.fit(X, y, sample_weight=weights)
        used = weights if requests else None
        plain = clone(model).fit(X, y, sample_weight=used)
        assert_array_equal(inspector.predict(X), plain.predict(X))
        expected = np.average(plain.predict(X), weights=weights)
        assert inspector.base_values_ == pytest.approx(expected)


def test_metadata_is_routed_through_a_search(regression):
    X, y = regression
    weights = np.linspace(0.1, 2, len(y))
    with config_context(enable_metadata_routing=True):
        model = DecisionTreeRegressor(random_state=0)
        model.set_fit_request(sample_weight=True)
        inspector = TreeSHAP(model).set_fit_request(sample_weight=True)
        search = GridSearchCV(
            make_pipeline("passthrough", inspector),
            {"treeshap__estimator__max_depth": [2]},
            scoring=get_scorer("r2").set_score_request(sample_weight=True),
            cv=2,
        ).fit(X, y, sample_weight=weights)
        best = search.best_estimator_[-1]
        plain = clone(best.estimator).fit(X, y, sample_weight=weights)
        assert_allclose(best.predict(X), plain.predict(X))


def test_what_nobody_requested_is_scikit_learns_error(regression):
    X, y = regression
    with config_context(enable_metadata_routing=True):
        inspector = TreeSHAP(DecisionTreeRegressor(random_state=0))
        inspector.set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            inspector.fit(X, y, sample_weight=np.ones(len(y)))


# Kinds of models and of data


def test_targets_pick_outputs(regression):
    X, y = regression
    Y = np.column_stack([y, -2 * y, X[:, 2]])
    every = TreeSHAP(forest()).fit(X, Y)
    third = TreeSHAP(forest(), target=2).fit(X, Y)
    assert every.output_names_ == [0, 1, 2]
    assert every.base_values_.shape == (3,)
    found = third.explain(X)
    assert found.values.shape == (80, 4)
    assert_allclose(found.values, every.explain(X).values[..., 2], atol=1e-14)
    assert every.interaction_values(X[:2]).shape == (2, 4, 4, 3)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, max_depth=4, random_state=0),
        GradientBoostingClassifier(n_estimators=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_other_class_has_the_opposite_values(model, regression):
    X, y = regression
    labels = np.where(y > 1, "up", "down")
    up = TreeSHAP(model).fit(X, labels)
    down = TreeSHAP(model, target="down").fit(X, labels)
    assert up.output_names_ == ["up"]
    assert down.output_names_ == ["down"]
    assert_allclose(down.transform(X), -up.transform(X), atol=1e-14)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array"])
def test_sparse_input(kind, regression):
    X, y = regression
    X = np.where(np.abs(X) > 1, X, 0)
    matrix = getattr(sparse, kind)(X)
    inspector = TreeSHAP(forest()).fit(matrix, y)
    dense = TreeSHAP(FrozenEstimator(inspector.estimator_)).fit(X)
    assert_array_equal(inspector.transform(matrix), dense.transform(X))


def test_memory_bounds_the_blocks(regression):
    X, y = regression
    inspector = TreeSHAP(forest()).fit(X, y)
    expected = inspector.transform(X), inspector.interaction_values(X)
    with config_context(working_memory=1e-6):
        values, pairs = inspector.transform(X), inspector.interaction_values(X)
    assert_allclose(values, expected[0], rtol=1e-10, atol=1e-10)
    assert_allclose(pairs, expected[1], rtol=1e-10, atol=1e-10)


def test_partitions_of_a_large_table(regression):
    dask = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    X, y = regression
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = HistGradientBoostingRegressor(max_iter=10)
    inspector = TreeSHAP(model).fit(frame, y).set_output(transform="pandas")
    table = dask.from_pandas(frame, npartitions=3)
    found = table.map_partitions(inspector.transform, meta=frame[:0])
    found = found.compute(scheduler="synchronous")
    pandas.testing.assert_frame_equal(found, inspector.transform(frame))
