"""Scikit-learn's trees, forests and isolation forests, read and asked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.shapley import TreeSHAP
from tests.model.formulas.trees.agreement import (
    assert_read,
    assert_same_leaves,
    telling_inputs,
)
from tests.model.formulas.trees.data import labels, several, table

REGRESSORS = {
    "tree": DecisionTreeRegressor(random_state=0),
    "stump": DecisionTreeRegressor(max_depth=1, random_state=0),
    "poisson tree": DecisionTreeRegressor(
        criterion="poisson", max_depth=6, random_state=0
    ),
    "absolute error": DecisionTreeRegressor(
        criterion="absolute_error", max_depth=4, random_state=0
    ),
    "pruned": DecisionTreeRegressor(ccp_alpha=0.05, random_state=0),
    "best first": DecisionTreeRegressor(max_leaf_nodes=9, random_state=0),
    "extra tree": ExtraTreeRegressor(random_state=0),
    "forest": RandomForestRegressor(8, random_state=0, max_features=0.5),
    "monotone": RandomForestRegressor(
        4, monotonic_cst=[1, 0, 0, -1, 0], max_depth=5, random_state=0
    ),
    "extra trees": ExtraTreesRegressor(6, random_state=0, bootstrap=True),
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(random_state=0, max_depth=5),
    "entropy": DecisionTreeClassifier(
        criterion="entropy", class_weight="balanced", random_state=0
    ),
    "extra tree": ExtraTreeClassifier(random_state=0, min_samples_leaf=3),
    "forest": RandomForestClassifier(8, random_state=0, max_samples=0.4),
    "extra trees": ExtraTreesClassifier(6, random_state=0, max_depth=4),
}
TAKES_MISSING = {"tree", "stump", "forest", "entropy", "best first"}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, missing):
    missing = missing and name in TAKES_MISSING
    X, y = table(missing=missing)
    estimator = REGRESSORS[name].fit(X, np.abs(y))
    model = assert_read(estimator, X, missing=name in TAKES_MISSING)
    assert model.raw_method == model.response_method == "predict"
    assert model.link == "identity"
    assert model.classes is None
    assert model.cover == "weight"
    assert model.ensemble.precision == np.float32


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, missing, n_classes):
    missing = missing and name in TAKES_MISSING
    X, y = table(missing=missing)
    estimator = CLASSIFIERS[name].fit(X, labels(y, n_classes, names=True))
    model = assert_read(estimator, X, missing=name in TAKES_MISSING)
    assert model.raw_method == "predict_proba"
    assert model.ensemble.n_outputs == n_classes
    assert_array_equal(model.classes, estimator.classes_)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
def test_several_targets(kind):
    X, y = table()
    model = assert_read(kind(random_state=0).fit(X, several(y)), X)
    assert model.ensemble.n_outputs == 2


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreesClassifier])
def test_several_targets_with_classes_of_their_own(kind):
    X, y = table()
    Y = np.column_stack([labels(y, 2), labels(y, 3), np.zeros(len(y), int)])
    model = assert_read(kind(max_depth=4).fit(X, Y), X, missing=False)
    assert model.ensemble.n_outputs == 2 + 3 + 1
    assert [len(known) for known in model.classes] == [2, 3, 1]


@pytest.mark.parametrize("name", ["tree", "forest", "extra trees"])
def test_leaves(name):
    X, y = table(missing=name == "forest")
    estimator = REGRESSORS[name].fit(X, y)
    model = read_trees(estimator)
    rows = telling_inputs(model, X, n_rows=500, missing=name == "forest")
    for sent in (X, rows, rows.astype(np.float32)):
        assert_same_leaves(model, sent, estimator.apply(sent))


def test_thresholds_that_no_single_precision_number_equals():
    """Middles of neighbouring float32 numbers are thresholds in float64."""
    X = np.float32(8) + np.arange(40, dtype=np.float32)[:, None] * np.float32(2**-20)
    estimator = DecisionTreeRegressor(random_state=0).fit(X, np.arange(40) % 2)
    thresholds = estimator.tree_.threshold[estimator.tree_.feature >= 0]
    assert (thresholds != thresholds.astype(np.float32)).any()
    model = assert_read(estimator, X)
    rows = telling_inputs(model, X, n_rows=2000, missing=True)
    assert_same_leaves(model, rows, estimator.apply(rows))


def test_columns_of_whole_numbers_and_truth_values():
    rng = np.random.default_rng(0)
    X = rng.integers(-(2**40), 2**40, size=(100, 2))
    estimator = DecisionTreeRegressor(random_state=0).fit(X, rng.normal(size=100))
    assert_same_leaves(read_trees(estimator), X, estimator.apply(X))
    X = rng.random((100, 3)) < 0.5
    estimator = RandomForestRegressor(5, random_state=0).fit(X, rng.normal(size=100))
    assert_same_leaves(read_trees(estimator), X, estimator.apply(X))


def test_deep_tree():
    X = np.arange(300.0)[:, None]
    y = np.exp2(np.minimum(X[:, 0], 290.0))
    estimator = DecisionTreeRegressor(random_state=0).fit(X, y)
    model = assert_read(estimator, X)
    assert model.ensemble.depth.max() > 100
    assert_same_leaves(model, X, estimator.apply(X))


def test_tree_of_a_single_leaf():
    X, y = table()
    model = assert_read(
        DecisionTreeRegressor(random_state=0).fit(X, np.ones(len(y))), X
    )
    assert model.ensemble.n_nodes == 1
    assert_read(RandomForestClassifier(2, random_state=0).fit(X, np.ones(len(y))), X)


def test_single_feature_and_single_row():
    assert_read(
        DecisionTreeRegressor(random_state=0).fit([[1.0]], [2.0]), np.array([[1.0]])
    )


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows(kind):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((200, 30)) < 0.05, rng.normal(size=(200, 30)), 0.0)
    X, y = kind(dense), dense.sum(axis=1)
    estimator = RandomForestRegressor(5, random_state=0).fit(X, y)
    model = read_trees(estimator)
    assert_allclose(model.raw(X)[:, 0], estimator.predict(X), rtol=1e-12)
    assert_array_equal(model.raw(X), model.raw(dense))
    assert_same_leaves(model, X, estimator.apply(X))


def test_frames():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X, y = table(missing=True)
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names).astype({"c": "float32"})
    estimator = DecisionTreeRegressor(random_state=0).fit(frame, y)
    assert_read(estimator, frame)
    polars = pl.DataFrame({name: frame[name].to_numpy() for name in names})
    assert_same_leaves(read_trees(estimator), polars, estimator.apply(frame))
    whole = frame.fillna(0).astype({"a": "Int64"})
    whole.loc[3, "a"] = None
    assert_allclose(
        read_trees(estimator).raw(whole)[:, 0], estimator.predict(whole), rtol=1e-12
    )


def test_cover_is_the_weight_of_training_rows():
    X, y = table()
    weights = np.random.default_rng(1).uniform(0.1, 3, size=len(y))
    estimator = DecisionTreeRegressor(max_depth=4, random_state=0).fit(
        X, y, sample_weight=weights
    )
    model = assert_read(estimator, X)
    leaves = model.ensemble.apply(model.encode(X))[:, 0]
    reached = np.bincount(leaves, weights, minlength=model.ensemble.n_nodes)
    leaf = model.ensemble.is_leaf
    assert_allclose(model.ensemble.cover[leaf], reached[leaf])
    assert_allclose(model.ensemble.cover[0], weights.sum())


def test_warm_start():
    X, y = table()
    estimator = RandomForestRegressor(3, warm_start=True, random_state=0).fit(X, y)
    assert read_trees(estimator).ensemble.n_trees == 3
    estimator.set_params(n_estimators=7).fit(X, y)
    assert assert_read(estimator, X).ensemble.n_trees == 7


def test_frozen_estimators_and_subclasses():
    class OwnForest(RandomForestRegressor):
        pass

    X, y = table()
    estimator = FrozenEstimator(FrozenEstimator(OwnForest(3).fit(X, y)))
    model = read_trees(estimator)
    assert_allclose(model.raw(X)[:, 0], estimator.predict(X))


class SplitByCategories:
    """The `tree_` of a model, as scikit-learn 1.10 has it with categories."""

    def __init__(self, tree):
        self.tree, self.n_categories = tree, np.full(tree.n_features, -1)

    def __getattr__(self, name):
        return getattr(self.tree, name)


def test_splits_by_sets_of_categories_are_not_read():
    X, y = table()
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    forest = RandomForestRegressor(2, max_depth=3, random_state=0).fit(X, y)
    for model, members in ((tree, [tree]), (forest, forest.estimators_)):
        for member in members:
            member.tree_ = SplitByCategories(member.tree_)
        assert read_trees(model).ensemble.n_trees == len(members)  # numbers alone
        members[-1].tree_.n_categories[1] = 3
        with pytest.raises(UnreadableModelError, match="sets of categories"):
            read_trees(model)
        effect = PartialDependence(FrozenEstimator(model), features=[0])
        read = effect.fit(X).average_[0]
        assert_array_equal(read, effect.set_params(method="brute").fit(X).average_[0])


# Isolation forests


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_features": 0.6},
        {"max_features": 3, "bootstrap": True, "max_samples": 50},
        {"contamination": 0.1, "max_samples": 2},
        {"max_samples": 1},
    ],
)
def test_isolation_forest(parameters):
    X, _ = table()
    estimator = IsolationForest(n_estimators=10, random_state=0, **parameters).fit(X)
    model = assert_read(estimator, X, missing=False)
    assert model.raw_method is None
    assert model.response_method == "score_samples"
    assert model.link == "isolation"


def test_messages_name_the_frozen_model():
    X, _ = table()
    model = FrozenEstimator(IsolationForest(n_estimators=10).fit(np.nan_to_num(X)))
    with pytest.raises(UnreadableModelError, match="of IsolationForest can't be"):
        TreeSHAP(model, response_method="predict").fit(np.nan_to_num(X))


def test_isolation_forest_of_weighted_rows():
    X, _ = table()
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    estimator = IsolationForest(n_estimators=10, random_state=0, max_samples=0.5)
    assert_read(estimator.fit(X, sample_weight=weights), X, missing=False)


def test_isolation_forest_on_missing_values():
    X, _ = table(missing=True)
    estimator = IsolationForest(n_estimators=10, random_state=0).fit(X)
    assert_read(estimator, X, missing=True)


def test_raw_output_of_an_isolation_forest_is_a_path_length():
    """Two rows in each tree: one split isolates each of them."""
    X = np.array([[0.0], [1.0]])
    estimator = IsolationForest(n_estimators=5, random_state=0).fit(X)
    assert_allclose(read_trees(estimator).raw(X), 1.0)


def test_no_method_returns_a_path_length():
    X, _ = table()
    estimator = IsolationForest(n_estimators=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="No method"):
        read_trees(estimator).raw_response(estimator, X)
