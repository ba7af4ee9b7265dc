"""TreeSHAP of fitted models against games enumerated over their own answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._core.trees.shapley import games
from sklearn_interpret.exceptions import AdditivityWarning
from sklearn_interpret.shapley import _tree
from tests.model.formulas.trees.data import labels, several, table
from tests.references.models import watched
from tests.references.shapley import enumerated, leaf_by_leaf
from tests.references.trees import goes_left
from tests.shapley.truth import (
    assert_interactions,
    assert_values,
    inspected,
    interventional_truth,
    path_dependent_truth,
    rescaled_truth,
)

SEED = {"random_state": 0}
DEEP = {"max_depth": 5, **SEED}
N_FEATURES = 4


def positive(model, X):
    """Probability of the second of two classes."""
    return model.predict_proba(X)[:, 1]


def positives(model, X):
    """Probability of the second class of each of several targets."""
    return np.column_stack([of_target[:, 1] for of_target in model.predict_proba(X)])


def probabilities(model, X):
    return model.predict_proba(X)


def scores(model, X):
    return model.decision_function(X)


def predictions(model, X):
    return model.predict(X)


def depths(model, X):
    """Mean depth of the leaves, from the score, which depends on it alone."""
    n = model.max_samples_
    expected = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    return -np.log2(-model.score_samples(X)) * expected


# That trees are read as their models predict is a test of each model; these differ in
# outputs, links, missing values, categories and columns of each tree.
MODELS = {
    "single leaf": (DecisionTreeRegressor(max_leaf_nodes=2), "constant", predictions),
    "tree, NaN": (DecisionTreeRegressor(**DEEP), "missing", predictions),
    "tree, two classes": (DecisionTreeClassifier(**DEEP), "two", positive),
    "forest, many outputs": (RandomForestRegressor(4, **DEEP), "several", predictions),
    "forest, many labels": (RandomForestClassifier(4, **DEEP), "flags", positives),
    "forest, NaN": (RandomForestClassifier(4, **DEEP), "missing three", probabilities),
    "boosting": (GradientBoostingRegressor(n_estimators=5), "numbers", predictions),
    "histogram, categories": (
        HistGradientBoostingRegressor(
            max_iter=5, categorical_features=[0, 1], min_samples_leaf=3
        ),
        "categories",
        predictions,
    ),
    "histogram, three classes": (
        HistGradientBoostingClassifier(max_iter=3),
        "missing three",
        scores,
    ),
    "isolation forest": (
        IsolationForest(n_estimators=5, max_samples=40, **SEED),
        "numbers",
        depths,
    ),
    "bagging": (
        BaggingRegressor(DecisionTreeRegressor(**DEEP), 4, max_features=0.75, **SEED),
        "numbers",
        predictions,
    ),
    "AdaBoost, three classes": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, **SEED),
        "three",
        scores,
    ),
    "soft voting": (
        VotingClassifier(
            [
                ("forest", RandomForestClassifier(2, **DEEP)),
                ("tree", DecisionTreeClassifier(**DEEP)),
            ],
            voting="soft",
        ),
        "three",
        probabilities,
    ),
}


def data_of(kind):
    """A table of four features, and a target of the kind."""
    X, y = table(160, N_FEATURES, missing="missing" in kind)
    if "categories" in kind:
        X[:, 0] += 3
        X[:, 1] = np.abs(np.round(3 * X[:, 1])) % 5
        X[::9, :2] = np.nan
    y = np.nan_to_num(y) if "missing" in kind else y
    if "constant" in kind:
        return X, np.zeros(len(X))
    if "several" in kind:
        return X, several(y)
    if "flags" in kind:
        return X, np.column_stack([y > 0, X[:, 2] > 0.5]).astype(int)
    for word, n_classes in (("two", 2), ("three", 3)):
        if word in kind:
            return X, labels(y, n_classes, names=True)
    return X, y


@pytest.fixture(params=MODELS)
def case(request):
    """A fitted model, rows to explain, a background, and how to ask the model."""
    model, kind, ask = MODELS[request.param]
    X, y = data_of(kind)
    model = model.fit(X, y)
    return model, X[:4], X[20:29], lambda rows: ask(model, rows)


@pytest.mark.thorough(after=5)
def test_interventional_values(case):
    model, rows, background, ask = case
    weights = np.random.default_rng(0).integers(1, 4, size=len(background))
    inspector = inspected(model, background, sample_weight=weights)
    pairs = interventional_truth(ask, rows, background, weights=weights, order=2)
    explanation = assert_values(inspector, rows, pairs.sum(axis=2))
    base = np.average(ask(background), axis=0, weights=weights)
    assert_allclose(inspector.base_values_, base, atol=1e-12)
    assert_allclose(explanation.predictions, ask(rows), atol=1e-12)
    assert_interactions(inspector, rows, pairs)


@pytest.mark.thorough(after=4)
def test_path_dependent_values(case):
    model, rows, background, ask = case
    inspector = inspected(model, background, perturbation="path_dependent")
    pairs = path_dependent_truth(inspector, rows, order=2)
    explanation = assert_values(inspector, rows, pairs.sum(axis=2))
    assert_allclose(explanation.predictions, ask(rows), atol=1e-12)
    assert_interactions(inspector, rows, pairs)


def truth(inspector, rows, background, **settings):
    """The enumerated values of the inspector's own game."""
    if inspector.perturbation == "path_dependent":
        return path_dependent_truth(inspector, rows, **settings)
    ask = inspector.estimator_.predict
    return interventional_truth(ask, rows, background, **settings)


def shares_of_training_rows(tree, row, coalition, node=0):
    """Expected prediction of a scikit-learn tree, read straight from its arrays."""
    left, right = tree.children_left[node], tree.children_right[node]
    if left < 0:
        return tree.value[node, :, 0]
    feature = tree.feature[node]
    if feature in coalition:
        if np.isnan(row[feature]):
            to_left = tree.missing_go_to_left[node]
        else:
            to_left = np.float32(row[feature]) <= tree.threshold[node]
        chosen = left if to_left else right
        return shares_of_training_rows(tree, row, coalition, chosen)
    return sum(
        tree.weighted_n_node_samples[child]
        / tree.weighted_n_node_samples[node]
        * shares_of_training_rows(tree, row, coalition, child)
        for child in (left, right)
    )


@pytest.mark.parametrize("missing", [False, True])
def test_path_dependent_shares_are_those_of_the_weighted_training_rows(missing):
    X, y = table(160, N_FEATURES, missing=missing)
    y, weights = np.nan_to_num(y), np.random.default_rng(0).uniform(0, 2, len(X))
    model = DecisionTreeRegressor(max_depth=6, random_state=0)
    model.fit(X, y, sample_weight=weights)
    inspector = inspected(model, X, perturbation="path_dependent")
    expected = [
        enumerated(
            lambda coalition, row=row: shares_of_training_rows(
                model.tree_, row, coalition
            ),
            N_FEATURES,
        )
        for row in X[:6]
    ]
    assert_values(inspector, X[:6], np.array(expected))
    # The tree's own counts: older versions send some rows with missing values
    # elsewhere when they predict than when they fit.
    mean = shares_of_training_rows(model.tree_, X[0], frozenset())
    assert_allclose(inspector.base_values_, mean.item())
    if not missing:
        mean = np.average(model.predict(X), weights=weights)
        assert_allclose(inspector.base_values_, mean)


# The background


@pytest.fixture(scope="module")
def boosted():
    """A boosted model that takes missing values, and its rows."""
    X, y = data_of("missing")
    return HistGradientBoostingRegressor(max_iter=8).fit(X, y), X


def test_a_row_against_itself_has_nothing_to_share_out(boosted):
    model, X = boosted
    inspector = inspected(model, X, background=X[:1])
    assert_array_equal(inspector.explain(X[:1]).values, 0)
    assert_array_equal(inspector.interaction_values(X[:1]), 0)


def test_all_given_rows_are_the_background_whatever_the_weights_and_subsample(boosted):
    model, X = boosted
    weights = np.linspace(0, 1, len(X))
    given = inspected(
        model, X, background=X[:30], subsample=5, random_state=0, sample_weight=weights
    )
    plain = inspected(model, X[:30])
    assert_array_equal(given.transform(X), plain.transform(X))
    assert given.base_values_ == plain.base_values_
    assert_array_equal(given.background_, X[:30])


def test_a_subsample_is_the_background(boosted):
    model, X = boosted
    inspector = inspected(model, X, subsample=20, random_state=3)
    assert inspector.background_.shape == (20, N_FEATURES)
    plain = inspected(model, inspector.background_)
    assert_array_equal(inspector.transform(X), plain.transform(X))
    again = inspected(model, X, subsample=20, random_state=3)
    assert_array_equal(again.background_, inspector.background_)


def test_importances_are_mean_sizes_over_the_rows_of_fit(boosted):
    model, X = boosted
    weights = np.random.default_rng(1).uniform(size=len(X))
    inspector = inspected(
        model, X, background=X[:10], feature_groups={"g": [1, 3]}, sample_weight=weights
    )
    values = inspector.explain(X).values
    sizes = np.average(np.abs(values), axis=0, weights=weights)
    assert_allclose(inspector.feature_importances_, sizes[[0, 1, 2, 1]])
    assert inspector.player_names_ == ["x0", "g", "x2"]


@pytest.mark.parametrize("layout", [np.asfortranarray, np.float32])
def test_layout_and_precision_of_arrays_change_no_bit(boosted, layout):
    model, X = boosted
    X = X.astype(np.float32).astype(np.float64)
    expected = inspected(model, X[:40]).transform(X[:30])
    found = inspected(model, layout(X[:40])).transform(layout(X[:30]))
    assert_array_equal(found, expected)


# Groups


@pytest.mark.parametrize(
    ("groups", "members"),
    [
        ({"all": [0, 1, 2, 3]}, [[0, 1, 2, 3]]),
        ({"ends": [3, 0]}, [[0, 3], [1], [2]]),
        ({"even": [0, 2], "odd": [1, 3]}, [[0, 2], [1, 3]]),
    ],
    ids=["all", "ends", "pairs"],
)
@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_a_group_is_one_player(groups, members, perturbation):
    X, y = data_of("categories")
    model = MODELS["histogram, categories"][0].fit(X, y)
    inspector = inspected(
        model, X[20:28], feature_groups=groups, perturbation=perturbation
    )
    for order, check in ((1, assert_values), (2, assert_interactions)):
        expected = truth(inspector, X[:5], X[20:28], members=members, order=order)
        check(inspector, X[:5], expected)
    explanation = inspector.explain(X[:5])
    assert [sorted(columns) for columns in explanation._feature_columns()] == members


# Functions of the sum


LINKED = {
    "GradientBoosting": (
        GradientBoostingClassifier(n_estimators=6, random_state=0),
        "two",
    ),
    "HistGradientBoosting": (
        HistGradientBoostingClassifier(max_iter=8, learning_rate=0.5),
        "missing two",
    ),
}


def logistic(margin):
    return 1 / (1 + np.exp(-margin))


@pytest.mark.parametrize("compared", [True, False])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", LINKED)
def test_probabilities_of_boosting_share_out_pair_by_pair(
    name, order, compared, monkeypatch
):
    monkeypatch.setattr(games, "comparing_is_cheaper", lambda *_: compared)
    model, kind = LINKED[name]
    X, y = data_of(kind)
    model = model.fit(X, y)
    rows, background = X[:5], X[[0, 20, 21, 22, 20]]  # one of them explained too
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    inspector = inspected(
        model, background, sample_weight=weights, response_method="predict_proba"
    )
    expected = rescaled_truth(
        model.decision_function, logistic, rows, background, weights, order
    )
    (assert_values if order == 1 else assert_interactions)(inspector, rows, expected)
    base = np.average(model.predict_proba(background)[:, 1], weights=weights)
    assert inspector.base_values_ == pytest.approx(base)
    # The other class gains what this one loses.
    other = inspected(
        model,
        background,
        sample_weight=weights,
        response_method="predict_proba",
        target=model.classes_[0],
    )
    assert_allclose(other.explain(rows).values, -inspector.explain(rows).values)
    assert_allclose(other.explain(rows).predictions, model.predict_proba(rows)[:, 0])


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_predictions_behind_a_log_link(loss, order):
    X, y = data_of("missing")
    model = HistGradientBoostingRegressor(loss=loss, max_iter=10, learning_rate=0.3)
    model.fit(X, np.abs(y) + 0.1)
    rows, background = X[:5], X[20:26]
    inspector = inspected(model, background, response_method="predict")

    def margin(rows):
        return np.log(model.predict(rows))

    expected = rescaled_truth(margin, np.exp, rows, background, np.ones(6), order)
    (assert_values if order == 1 else assert_interactions)(inspector, rows, expected)
    assert_allclose(
        inspected(model, background).explain(rows).predictions, margin(rows)
    )


@pytest.mark.parametrize("objective", ["reg:logistic", "reg:gamma", "count:poisson"])
def test_the_only_output_of_a_regressor_rises_with_its_link(objective):
    """It is no first class, whose probability falls."""
    xgboost = pytest.importorskip("xgboost")
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10)
    model = xgboost.XGBRegressor(objective=objective, n_estimators=5, max_depth=2)
    model.fit(X, 0.2 + 0.3 * X.sum(axis=1))
    # The second and the third row have the same margin, but not the same features.
    rows, background = X[:4], X[1:2]
    inspector = inspected(model, background, response_method="predict", target=0)
    explanation = inspector.explain(rows)
    assert_allclose(explanation.predictions, model.predict(rows), rtol=1e-6)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-6)
    p = model.predict(rows)[2]
    slope = p * (1 - p) if objective == "reg:logistic" else p
    margins = inspected(model, background).explain(rows)
    assert margins.values[2, 0] > 0.1
    assert_allclose(explanation.values[2], slope * margins.values[2], rtol=1e-5)


def test_margins_that_are_almost_alike_keep_their_slope():
    """The difference quotient of nearly equal margins would be noise."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10)
    y = (X[:, 0] > 0).astype(int)
    y[:3] = 1 - y[:3]
    # The second feature matters by a hair.
    model = GradientBoostingClassifier(
        n_estimators=3, learning_rate=1e-9, max_depth=2, random_state=0
    )
    model.fit(X, y)
    inspector = inspected(model, X[:4], response_method="predict_proba")
    explanation = inspector.explain(X[:4])
    margins = inspected(model, X[:4]).explain(X[:4])
    p = model.predict_proba(X[:4])[:, 1]
    assert_allclose(
        explanation.values, margins.values * (p * (1 - p)).mean(), rtol=1e-6, atol=1e-24
    )


# Predictions


@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_the_model_is_asked_in_fit_for_some_rows_and_then_no_more(
    perturbation, monkeypatch
):
    X, y = data_of("numbers")
    model = RandomForestRegressor(3, **DEEP).fit(X, y)
    predictions = model.predict(X)
    asked = watched(monkeypatch, RandomForestRegressor, "predict")
    inspector = inspected(model, X[:30], perturbation=perturbation)
    assert 0 < sum(len(table) for _, table in asked) < 30
    asked.clear()
    explanation = inspector.explain(X)
    inspector.interaction_values(X)
    assert not asked
    assert_allclose(explanation.predictions, predictions, rtol=1e-12)


def test_predictions_of_many_rows_are_those_of_the_model():
    X, y = data_of("three")
    model = DecisionTreeClassifier(max_depth=4, **SEED).fit(X, y)
    rows = np.random.default_rng(0).normal(size=(25_001, N_FEATURES))
    explanation = inspected(model, X).explain(rows)
    expected = model.predict_proba(rows)
    assert expected.shape[1] > 2
    assert_allclose(explanation.predictions, expected, atol=1e-14)


def test_a_sample_of_many_rows_shows_values_that_miss_the_predictions(monkeypatch):
    X, y = data_of("numbers")
    inspector = inspected(DecisionTreeRegressor(max_depth=4, **SEED).fit(X, y), X)
    rows = np.random.default_rng(0).normal(size=(20_000, N_FEATURES))
    add_value_parts = _tree.add_value_parts

    def add_too_much(into, parts):
        add_value_parts(into, parts)
        into += 1e-3

    monkeypatch.setattr(_tree, "add_value_parts", add_too_much)
    # The predictions of all other rows are sums of the wrong values.
    with pytest.warns(AdditivityWarning, match="of 10000 of 20000 rows"):
        inspector.explain(rows)


def test_the_model_is_asked_for_rows_that_it_may_refuse(monkeypatch):
    X, y = data_of("numbers")
    inspector = inspected(RandomForestRegressor(3, **DEEP).fit(X, y), X[:30])
    asked = watched(monkeypatch, RandomForestRegressor, "predict")
    for gap in (np.nan, np.inf, 1e39):  # the last is infinite in single precision
        rows = X[:20].copy()
        rows[7, 1] = gap
        asked.clear()
        if np.isnan(gap):
            inspector.explain(rows)
        else:
            with pytest.raises(ValueError, match=r"infinity|too large"):
                inspector.explain(rows)
        assert sum(len(table) for _, table in asked) == 20


@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_predictions_of_a_model_in_single_precision_are_those_of_its_trees(
    perturbation,
):
    xgboost = pytest.importorskip("xgboost")
    X, y = data_of("numbers")
    model = xgboost.XGBRegressor(n_estimators=20).fit(X, y)
    explanation = inspected(model, X, perturbation=perturbation).explain(X)
    assert explanation.predictions.dtype == np.float64
    assert explanation.additivity_error().max() < 1e-10
    assert_allclose(explanation.predictions, model.predict(X), atol=1e-5)


# The shapes of trees


def chain(features, *, n_features, seed=0):
    """A tree that sets one row apart at each of its splits, on the given features.

    Fitted to a target that grows fourfold from row to row; its leaves get new values.
    """
    n_splits = len(features)
    X = np.zeros((n_splits + 1, n_features))
    X[np.arange(1, n_splits + 1), features] = np.arange(1, n_splits + 1)
    model = DecisionTreeRegressor(random_state=0).fit(X, 4.0 ** np.arange(n_splits + 1))
    assert model.get_depth() == n_splits
    leaves = model.tree_.children_left < 0
    rng = np.random.default_rng(seed)
    model.tree_.value[leaves, 0, 0] = rng.normal(size=n_splits + 1)
    return model, X


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_trees_more_than_a_hundred_levels_deep(perturbation, order):
    features = np.random.default_rng(1).integers(N_FEATURES, size=150)
    model, X = chain(features, n_features=N_FEATURES)
    rng = np.random.default_rng(2)
    rows, background = (rng.choice(X.ravel(), size=(n, N_FEATURES)) for n in (5, 9))
    rows[0], background[0] = 0, 0
    inspector = inspected(model, background, perturbation=perturbation)
    expected = truth(inspector, rows, background, order=order)
    (assert_values if order == 1 else assert_interactions)(inspector, rows, expected)


def met(trees, conditions, value):
    """Whether a value meets all conditions that lead to a leaf."""
    return all(goes_left(trees, node, value) == left for node, left in conditions)


def share(trees, conditions):
    """Share of the training rows that meets them, where no feature is known."""
    nodes, left = np.array(conditions).T
    children = np.where(left, trees.left[nodes], trees.right[nodes])
    return np.prod(trees.cover[children] / trees.cover[nodes])


def of_leaves(inspector, row, other, order):
    """The values of one row against one other, summed over the leaves."""
    trees = inspector._trees.ensemble

    def factors(feature, conditions):
        absent = met(trees, conditions, other[feature])
        if inspector.perturbation == "path_dependent":
            absent = share(trees, conditions)
        return met(trees, conditions, row[feature]), absent

    return leaf_by_leaf(trees, factors, len(row), order)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_more_features_on_a_path_than_an_integer_has_bits(perturbation, order):
    n_features, n_splits = 300, 66
    features = np.random.default_rng(0).permutation(n_features)[:n_splits]
    model, _ = chain(features, n_features=n_features)
    row, other = np.zeros((2, n_features))
    row[features[10:40]] = other[features[35:60]] = 100
    inspector = inspected(model, other[None], perturbation=perturbation)
    expected = of_leaves(inspector, row, other, order)
    if order == 1:
        assert_values(inspector, row[None], expected[None])
    else:
        values = inspector.explain(row[None]).values[0]
        np.fill_diagonal(expected, values - expected.sum(axis=1))
        assert_interactions(inspector, row[None], expected[None])


@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_the_reference_for_many_features_is_that_for_few(perturbation):
    model, X = chain([0, 1, 0, 2, 3, 1, 1], n_features=N_FEATURES)
    row, other = X[3], X[5]
    inspector = inspected(model, other[None], perturbation=perturbation)
    for order in (1, 2):
        expected = truth(inspector, row[None], other[None], order=order)[0, ..., 0]
        if order == 2:
            np.fill_diagonal(expected, 0)
        found = of_leaves(inspector, row, other, order)
        assert_allclose(found, expected, atol=1e-12)


def test_a_tree_without_splits_gives_nothing_to_any_feature():
    X, _ = data_of("numbers")
    model = DecisionTreeRegressor(random_state=0).fit(X, np.full(len(X), 3.0))
    for perturbation in ("interventional", "path_dependent"):
        inspector = inspected(model, X, perturbation=perturbation)
        assert_array_equal(inspector.transform(X), 0)
        assert_array_equal(inspector.interaction_values(X[:3]), 0)
        assert inspector.base_values_ == pytest.approx(3, rel=1e-15)
