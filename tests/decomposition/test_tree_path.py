"""Contributions along decision paths, against literal walks over the trees."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._core.trees.structure.ensemble import node_means
from sklearn_interpret._core.trees.structure.path_contributions import PathContributions
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.decomposition import TreePathContributions
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.shapley import (
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)).round(1)
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
WEIGHTS = RNG.integers(1, 4, size=80).astype(float)
Y = X[:, 0] * X[:, 1] + 2 * X[:, 2]
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
SMALL = {"n_estimators": 4, "random_state": 0}
FORESTS = [
    DecisionTreeRegressor(random_state=0),
    DecisionTreeClassifier(random_state=0),
    RandomForestRegressor(**SMALL),
    RandomForestClassifier(**SMALL),
    ExtraTreesRegressor(**SMALL),
    ExtraTreesClassifier(**SMALL),
]
BOOSTED = [
    GradientBoostingRegressor(**SMALL),
    GradientBoostingClassifier(**SMALL),
    HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3),
    HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
]
BOTH = [*FORESTS, *BOOSTED]


def name(model):
    return type(model).__name__


def target_of(model):
    return LABELS if "Classifier" in name(model) else Y


def tables(tree, values):
    """Children, features, thresholds, sides of missing values, and node values."""
    return (
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        tree.missing_go_to_left,
        values,
    )


def walk(table, row, n_columns):
    """The root's value, and the change of the value on the way down by feature."""
    left, right, feature, threshold, missing_left, values = table
    contributions, node = np.zeros((n_columns, values.shape[1])), 0
    while left[node] >= 0:
        x = np.float32(row[feature[node]])
        goes_left = missing_left[node] if np.isnan(x) else x <= threshold[node]
        child = left[node] if goes_left else right[node]
        contributions[feature[node]] += values[child] - values[node]
        node = child
    return values[0], contributions


@pytest.mark.parametrize("rows", [X, HOLES], ids=["whole", "holes"])
@pytest.mark.parametrize("model", FORESTS, ids=name)
def test_equals_a_walk_over_the_arrays_of_scikit_learn(model, rows):
    y = target_of(model)
    inspector = TreePathContributions(model).fit(rows, y, sample_weight=WEIGHTS)
    fitted = inspector.estimator_
    members = getattr(fitted, "estimators_", [fitted])
    explanation = inspector.explain(rows)
    values = explanation.values.reshape(len(X), 4, -1)
    for i, row in enumerate(rows):
        walks = [
            walk(tables(m.tree_, m.tree_.value.transpose(0, 2, 1)[..., 0]), row, 4)
            for m in members
        ]
        roots, steps = zip(*walks, strict=True)
        assert_allclose(values[i], np.mean(steps, axis=0), atol=1e-12)
        assert_allclose(inspector.base_values_, np.mean(roots, axis=0).squeeze())
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)


def brute_means(trees):
    """Mean of the leaves below each node, by their cover, node by node from below."""
    means = trees.value.copy()
    for nodes in reversed(trees.levels):
        for node in nodes[~trees.is_leaf[nodes]]:
            children = [trees.left[node], trees.right[node]]
            cover = trees.cover[children]
            weights = cover if cover.any() else None  # no training row came there
            means[node] = np.average(means[children], axis=0, weights=weights)
    return means


def read_walk(model, rows):
    """Contributions and base of a walk over trees as they were read."""
    read = read_trees(model)
    trees, numbers = read.ensemble, read.encode(rows)
    codes, means = trees.codes(numbers), brute_means(trees)
    values = np.zeros((len(codes), read.n_columns, trees.n_outputs))
    for i, row in enumerate(codes):
        for node in trees.roots:
            while not trees.is_leaf[node]:
                feature = trees.feature[node]
                left = trees.goes_left(np.array([node]), row[[feature]])[0]
                child = trees.left[node] if left else trees.right[node]
                values[i, read.columns[feature]] += means[child] - means[node]
                node = child
    return values, trees.base + means[trees.roots].sum(axis=0)


def check_against_walk(inspector, rows):
    values, base = read_walk(inspector.estimator_, rows)
    explanation = inspector.explain(rows)
    shape = len(explanation), -1, values.shape[2]
    size = 1 + np.abs(values).max()
    assert_allclose(explanation.values.reshape(shape), values, atol=1e-12 * size)
    assert_allclose(np.ravel(inspector.base_values_), base, rtol=1e-10)
    return explanation


@pytest.mark.parametrize("model", BOOSTED, ids=name)
def test_boosting_equals_a_walk_with_means_by_cover(model):
    rows = HOLES if "Hist" in name(model) else X
    inspector = TreePathContributions(model).fit(rows, target_of(model))
    explanation = check_against_walk(inspector, rows)
    raw = getattr(inspector, "decision_function", inspector.predict)(rows)
    assert_allclose(explanation.predictions, raw, rtol=1e-10)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)


COMBINED = [
    BaggingRegressor(max_features=0.7, **SMALL),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), max_features=2, **SMALL),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), **SMALL),
    VotingRegressor([("forest", FORESTS[2]), ("boosting", BOOSTED[0])]),
    GradientBoostingRegressor(init=FORESTS[4], **SMALL),
    RandomForestRegressor(criterion="absolute_error", **SMALL),
]


@pytest.mark.parametrize("model", COMBINED, ids=name)
def test_combined_models_and_medians_equal_a_walk_with_means_by_cover(model):
    inspector = TreePathContributions(model).fit(X, target_of(model))
    explanation = check_against_walk(inspector, X)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)


def test_depth_of_isolation():
    inspector = TreePathContributions(IsolationForest(**SMALL)).fit(X)
    check_against_walk(inspector, X)
    assert inspector.response_method_ == "margin"


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_other_libraries(library, kind):
    module = pytest.importorskip(library)
    model = {
        "catboost": lambda: getattr(module, f"CatBoost{kind}")(
            iterations=4, thread_count=1, verbose=0, allow_writing_files=False
        ),
        "xgboost": lambda: getattr(module, f"XGB{kind}")(n_estimators=4, n_jobs=1),
        "lightgbm": lambda: getattr(module, f"LGBM{kind}")(
            n_estimators=4, min_child_samples=3, n_jobs=1, verbose=-1
        ),
    }[library]()
    y = LABELS if kind == "Classifier" else Y
    inspector = TreePathContributions(model).fit(HOLES, y)
    explanation = inspector.explain(HOLES)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-4)
    # Covers in single precision do not add up exactly.
    values, base = read_walk(inspector.estimator_, HOLES)
    shape = values.shape
    assert_allclose(explanation.values.reshape(shape), values, atol=1e-5)
    assert_allclose(np.ravel(inspector.base_values_), base, atol=1e-5)


def test_categories_of_a_frame():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(1, "kind", pd.Categorical(np.array(list("uvw"))[LABELS]))
    model = HistGradientBoostingRegressor(
        max_iter=4, min_samples_leaf=3, categorical_features="from_dtype"
    )
    inspector = TreePathContributions(model).fit(frame, Y)
    explanation = check_against_walk(inspector, frame)
    assert np.abs(explanation.values[:, 1]).max() > 0
    assert explanation.feature_names == ("a", "kind", "b", "c", "d")


@pytest.mark.parametrize("steps", [StandardScaler(), OneHotEncoder(min_frequency=9)])
def test_columns_of_a_pipeline_are_summed_into_their_input(steps):
    steps = clone_dense(steps)
    pipeline = make_pipeline(steps, DecisionTreeRegressor(max_depth=4))
    inspector = TreePathContributions(pipeline).fit(X.round(), Y)
    explanation = check_against_walk(inspector, X.round())
    assert explanation.values.shape == X.shape


def clone_dense(steps):
    known = "sparse_output" in steps.get_params()
    return steps.set_params(sparse_output=False) if known else steps


@pytest.mark.parametrize("model", BOTH, ids=name)
def test_wide_and_narrow_tables_give_the_same(model):
    """Few columns go by tables of leaves, many by all steps of all rows."""
    read = read_trees(clone(model).fit(X, target_of(model)))
    codes = read.ensemble.codes(read.encode(X))
    narrow, sums = PathContributions(read.ensemble, read.columns, 4).values(codes)
    wide, same = PathContributions(read.ensemble, read.columns, 100).values(codes)
    assert_allclose(wide[:, :4], narrow, atol=1e-12)
    assert not wide[:, 4:].any()
    assert_allclose(sums, read.raw(X))
    assert_allclose(same, sums)


def test_a_stump_in_closed_form():
    """Three of four rows have the mean 1, the other one 5: the root's mean is 2."""
    rows, y = np.array([[0.0, 7.0], [0.0, 7.0], [0.0, 7.0], [1.0, 7.0]]), [1, 1, 1, 5]
    inspector = TreePathContributions(DecisionTreeRegressor()).fit(rows, y)
    assert inspector.base_values_ == 2
    assert_allclose(inspector.transform(rows), [[-1, 0], [-1, 0], [-1, 0], [3, 0]])
    assert_allclose(inspector.feature_importances_, [1.5, 0])


def test_a_tree_without_splits():
    inspector = TreePathContributions(DecisionTreeRegressor()).fit(X, np.ones(80))
    assert inspector.base_values_ == 1
    assert not inspector.transform(X).any()


def test_means_start_where_path_dependent_values_do():
    model = GradientBoostingRegressor(**SMALL).fit(X, Y)
    ours = TreePathContributions(FrozenEstimator(model)).fit(X)
    theirs = TreeSHAP(FrozenEstimator(model), perturbation="path_dependent").fit(X)
    assert_allclose(ours.base_values_, theirs.base_values_, rtol=1e-12)
    trees = read_trees(model).ensemble
    assert_allclose(node_means(trees), brute_means(trees), atol=1e-12)


@pytest.mark.parametrize("model", BOOSTED[1::2], ids=name)
def test_probabilities_of_boosting_are_refused_by_name(model):
    inspector = TreePathContributions(model, response_method="predict_proba")
    with pytest.raises(UnreadableModelError, match='response_method="auto"'):
        inspector.fit(X, LABELS > 0)


def test_one_class_and_the_positive_one():
    model = RandomForestClassifier(**SMALL)
    both = TreePathContributions(model).fit(X, LABELS)
    one = TreePathContributions(model, target=2).fit(X, LABELS)
    assert_allclose(one.explain(X).values, both.explain(X).values[:, :, 2])
    binary = TreePathContributions(model).fit(X, LABELS > 0)
    explanation = binary.explain(X)
    assert_allclose(explanation.predictions, binary.predict_proba(X)[:, 1])
    assert explanation.values.shape == X.shape
    with pytest.raises(ValueError, match="target=7 is not a class"):
        TreePathContributions(model, target=7).fit(X, LABELS)


def test_displays_of_shapley_values_draw_them():
    explanation = TreePathContributions(FORESTS[2]).fit(X, Y).explain(X[:3])
    display = ShapleyWaterfallDisplay.from_explanation(explanation, row=0)
    assert_allclose(display.to_frame()["end"].iloc[0], explanation.predictions[0])
    assert "contribution" in display.to_frame()
    swarm = ShapleySummaryDisplay.from_explanation(explanation)
    assert swarm.ax_.get_xlabel().endswith("(contribution)")
