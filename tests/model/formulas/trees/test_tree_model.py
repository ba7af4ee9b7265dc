"""What every read model promises, whatever its library."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    VotingRegressor,
)
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees import _xgboost
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.data import labels, table


def foreign(library, name, **parameters):
    return getattr(pytest.importorskip(library), name)(**parameters)


MODELS = {
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(4, max_depth=4, random_state=0),
    "isolation": lambda: IsolationForest(n_estimators=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, random_state=0),
    "hist": lambda: HistGradientBoostingRegressor(max_iter=4),
    "categories": lambda: HistGradientBoostingRegressor(
        max_iter=4, categorical_features=[0]
    ),
    "bagging": lambda: BaggingClassifier(
        n_estimators=4, max_features=3, random_state=0
    ),
    "voting": lambda: VotingRegressor(
        [
            ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
            ("boosting", HistGradientBoostingRegressor(categorical_features=[0])),
        ]
    ),
    "pipeline": lambda: make_pipeline(
        make_union(StandardScaler(), KBinsDiscretizer(3, strategy="uniform")),
        RandomForestClassifier(4, max_depth=4, random_state=0),
    ),
    "xgboost": lambda: foreign("xgboost", "XGBRegressor", n_estimators=4, n_jobs=1),
    "lightgbm": lambda: foreign(
        "lightgbm", "LGBMClassifier", n_estimators=4, verbose=-1, n_jobs=1
    ),
    "catboost": lambda: foreign(
        "catboost",
        "CatBoostRegressor",
        iterations=4,
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
    ),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    """A fitted estimator and the rows that it was fitted on."""
    X, y = table()
    X[:, 0] = np.abs(X[:, 0])
    estimator = MODELS[request.param]()
    classifies = is_classifier(estimator)
    return estimator.fit(X, labels(y, 3) if classifies else y), X


def test_pickles(fitted):
    estimator, X = fitted
    model = read_trees(estimator)
    model.raw(X)  # whatever was computed on the way goes along
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.raw(X), model.raw(X))
    assert_array_equal(copied.columns, model.columns)


def test_rows_and_model_are_left_alone(fitted):
    estimator, X = fitted
    before = pickle.dumps(estimator)
    kept = X.copy()
    X.flags.writeable = False
    model = read_trees(estimator)
    model.raw(X)
    assert_array_equal(X, kept)
    assert pickle.dumps(estimator) == before


def test_rows_do_not_depend_on_each_other(fitted):
    estimator, X = fitted
    model = read_trees(estimator)
    whole = model.raw(X)
    assert_array_equal(model.raw(X[7:8]), whole[7:8])
    assert_array_equal(model.raw(X[::-1]), whole[::-1])
    assert_array_equal(model.raw(X.tolist()), whole)


def test_memory_layout_does_not_matter(fitted):
    estimator, X = fitted
    model = read_trees(estimator)
    assert_array_equal(model.raw(np.asfortranarray(X)), model.raw(X))
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    assert_array_equal(model.raw(wide), model.raw(X))


def test_the_nodes_of_a_tree_follow_each_other(fitted):
    trees = read_trees(fitted[0]).ensemble
    tree = np.full(trees.n_nodes, -1)
    tree[trees.roots] = np.arange(trees.n_trees)
    for nodes in trees.levels[1:]:
        tree[nodes] = tree[trees.parents[nodes]]
    assert_array_equal(tree, np.sort(tree))
    assert tree.min() == 0


@pytest.mark.parametrize("n_columns", [3, 9])
def test_wrong_number_of_columns(fitted, n_columns):
    estimator, _ = fitted
    with pytest.raises(ValueError, match=r"columns|features"):
        read_trees(estimator).encode(np.zeros((2, n_columns)))


def test_a_sum_that_is_not_the_librarys_is_refused(monkeypatch):
    """Whatever a later version writes as the base score: no wrong number."""
    xgboost = pytest.importorskip("xgboost")
    X, y = table()
    estimator = xgboost.XGBClassifier(n_estimators=2, base_score=0.3, n_jobs=1)
    estimator.fit(X, labels(y, 2))
    monkeypatch.setattr(_xgboost, "_BASE_MARGINS", {})
    with pytest.raises(UnreadableModelError, match="is not its prediction"):
        read_trees(estimator)
