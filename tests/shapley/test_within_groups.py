"""Values inside groups (Owen, Winter) and in a causal order, by all estimators."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.conditionals.correlated_groups import correlated_groups
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import columns_in
from sklearn_interpret.shapley import (
    ExactShapley,
    LinearSHAP,
    ShapleySampling,
    ShapleyValues,
    TreeSHAP,
)
from tests.references.shapley import (
    interventional_game,
    path_dependent_game,
    permitted_orders,
    values_over_orders,
)
from tests.references.trees import goes_left

# Groups of six features, and the same as nested lists.
GROUPS = {
    "two levels": ({"a": [0, 3], "b": [4, 1], "c": [2]}, [[0, 3], [4, 1], [2], 5]),
    "three levels": (
        {"a": {"a1": [0, 3], "a2": [4]}, "b": {"b1": [1, 2], "b2": [5]}},
        [[[0, 3], [4]], [[1, 2], [5]]],
    ),
    "one group": ({"all but one": [5, 4, 2, 1, 0]}, [[5, 4, 2, 1, 0], 3]),
}
CAUSAL = {"two levels": [["x0", "x3"], ["x4", "x1"], ["x2"], ["x5"]]}


def table(model):
    """Rows, targets, and the fitted model of a name."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + X[:, 4] * X[:, 5]
    if model == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
        return X, HistGradientBoostingRegressor(max_iter=8).fit(X, y)
    if model == "classes":
        labels = np.digitize(y, [-0.5, 0.5])
        forest = RandomForestClassifier(4, max_depth=5, random_state=0)
        return X, forest.fit(X, labels)
    if model == "deep":
        boosting = GradientBoostingRegressor(n_estimators=4, max_depth=14)
        return X, boosting.fit(X, y)
    X[:, 0] = rng.integers(4, size=len(X))
    steps = make_column_transformer(
        (OneHotEncoder(sparse_output=False), [0]),
        (SplineTransformer(), [1, 2, 3, 4, 5]),
    )
    last = DecisionTreeRegressor(max_depth=7, random_state=0)
    if model == "linear pipeline":
        last = LinearRegression()
    return X, make_pipeline(steps, last).fit(X, y)


def truth(model, row, background, tree, causal=False):
    ask = getattr(model, "predict_proba", model.predict)
    members = [[j] for j in range(6)]
    weights = np.ones(len(background))
    game = interventional_game(ask, row, background, weights, members)
    return values_over_orders(game, permitted_orders(tree, causal))


MODELS = ["missing", "classes", "deep", "tree pipeline", "linear pipeline"]


@pytest.mark.parametrize("grouping", GROUPS)
@pytest.mark.parametrize("model", MODELS)
def test_all_estimators_enumerate_the_orders(model, grouping):
    """60 games: five models, three groupings, four rows; by three estimators each."""
    X, fitted = table(model)
    groups, tree = GROUPS[grouping]
    background, rows = X[:12], X[20:24]
    expected = np.array([truth(fitted, row, background, tree) for row in rows])
    formula = LinearSHAP if model == "linear pipeline" else TreeSHAP
    for kind in (formula, ExactShapley, ShapleySampling):
        inspector = kind(
            FrozenEstimator(fitted),
            feature_groups=groups,
            within_groups=True,
            background=background,
        )
        if kind is ShapleySampling:
            inspector.set_params(n_permutations=1000)
        explanation = inspector.fit(X).explain(rows)
        scale = np.abs(explanation.predictions).max()
        assert_allclose(explanation.values, expected, rtol=0, atol=1e-12 * scale)
        assert np.abs(explanation.additivity_error()).max() <= 1e-12 * scale
        together = kind(
            FrozenEstimator(fitted), feature_groups=groups, background=background
        )
        if kind is not ShapleySampling:
            values = together.fit(X).explain(rows).values
            columns = together.features_
            sums = [explanation.values[:, list(j)].sum(axis=1) for j in columns]
            assert_allclose(values, np.stack(sums, axis=1), atol=1e-12 * scale)


@pytest.mark.parametrize("model", MODELS[:4])
def test_causal_order(model):
    X, fitted = table(model)
    groups, _ = GROUPS["two levels"]
    order = [["a"], ["x4", 1], [2], [5]]
    expected = truth(fitted, X[30], X[:12], [[0, 3], [4, 1], [2], [5]], causal=True)
    for kind in (TreeSHAP, ExactShapley, ShapleySampling):
        inspector = kind(
            FrozenEstimator(fitted), causal_order=order, background=X[:12]
        ).set_params(**({"feature_groups": groups, "within_groups": True}))
        inspector.fit(X)
        assert_allclose(inspector.explain(X[30:31]).values[0], expected, atol=1e-11)


@pytest.mark.parametrize("grouping", GROUPS)
def test_path_dependent(grouping):
    X, fitted = table("deep")
    groups, tree = GROUPS[grouping]
    inspector = TreeSHAP(
        FrozenEstimator(fitted),
        perturbation="path_dependent",
        feature_groups=groups,
        within_groups=True,
    ).fit(X)
    trees, columns = inspector._trees.ensemble, inspector._trees.model.columns
    values = inspector.explain(X[:5]).values
    codes = inspector._trees.model.encode(X[:5]).astype(float)
    for row, row_values in zip(codes, values, strict=True):
        game = path_dependent_game(trees, goes_left, row, columns)
        expected = values_over_orders(game, permitted_orders(tree))[:, 0]
        assert_allclose(row_values, expected, atol=1e-12)


def test_correlated_columns_of_a_linear_model():
    """Against the conditional means, coalition by coalition."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))
    model = LinearRegression().fit(X, X @ np.arange(6.0))
    groups, tree = GROUPS["three levels"]
    inspector = LinearSHAP(
        FrozenEstimator(model),
        perturbation="correlation",
        feature_groups=groups,
        within_groups=True,
    ).fit(X)
    mean, covariance = X.mean(axis=0), np.cov(X.T)

    def value(coalition):
        s = sorted(coalition)
        deviations = np.zeros(6)
        if s:
            inside = np.linalg.solve(covariance[np.ix_(s, s)], (X[7] - mean)[s])
            deviations = covariance[:, s] @ inside
        return deviations @ model.coef_

    expected = values_over_orders(value, permitted_orders(tree))
    assert_allclose(inspector.explain(X[7:8]).values[0], expected, atol=1e-9)


def test_sampled_orders_have_errors_that_hold():
    """Of 40 tables, all but a few values are within two standard errors."""
    rng, inside = np.random.default_rng(0), []
    groups = {"a": [0, 1, 2, 3], "b": {"b1": [4, 5], "b2": [6, 7]}}
    for seed in range(40):
        X = rng.normal(size=(60, 8))
        y = X[:, 0] * X[:, 4] + np.maximum(X[:, 1:6].sum(axis=1), 0) * X[:, 7]
        model = DecisionTreeRegressor(max_depth=8, random_state=0).fit(X, y)
        shared = {"feature_groups": groups, "within_groups": True, "background": X[:9]}
        exact = TreeSHAP(FrozenEstimator(model), **shared).fit(X).explain(X[20:23])
        sampled = ShapleySampling(
            FrozenEstimator(model), n_permutations=4, random_state=seed, **shared
        )
        sampled = sampled.fit(X).explain(X[20:23])
        error = np.abs(sampled.values - exact.values)
        inside.append(error <= 1.96 * sampled.standard_errors + 1e-12)
    assert np.mean(inside) >= 0.9


def test_shapley_values_choose():
    X, fitted = table("deep")
    groups = GROUPS["two levels"][0]
    shared = {"feature_groups": groups, "within_groups": True, "random_state": 0}
    model = FrozenEstimator(fitted)
    assert ShapleyValues(model, **shared).fit(X).algorithm_ == "tree"
    opaque = {"response_method": lambda model, X: model.predict(X) ** 2, "subsample": 9}
    chosen = ShapleyValues(model, **shared, **opaque).fit(X)
    assert chosen.algorithm_ == "exact"
    sampled = ShapleyValues(model, **shared, **opaque, budget=8).fit(X)
    assert sampled.algorithm_ == "permutation"
    assert chosen.explain(X[:2]).groups == {
        "a": ["x0", "x3"],
        "b": ["x4", "x1"],
        "c": ["x2"],
    }
    with pytest.raises(ValueError, match="takes no within_groups"):
        ShapleyValues(model, algorithm="kernel", **shared).fit(X)


def test_groups_of_correlated_features():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 300, 1))
    X = np.hstack([a, b, a + 0.3 * c, np.exp(b), c, np.ones_like(a)])
    model = LinearRegression().fit(X, X.sum(axis=1))
    inspector = LinearSHAP(
        FrozenEstimator(model), feature_groups="correlation", within_groups=True
    ).fit(X)
    groups = inspector.explain(X[:2]).groups

    def members(tree):
        inner = tree.values() if isinstance(tree, dict) else []
        yield (
            sorted(name for part in inner for name in next(members(part)))
            if isinstance(tree, dict)
            else sorted(tree)
        )
        for part in inner:
            yield from members(part)

    found = {tuple(names) for group in groups.values() for names in members(group)}
    assert {("x1", "x3"), ("x0", "x2"), ("x0", "x2", "x4")} <= found
    assert_allclose(
        inspector.explain(X).values, (X - X.mean(axis=0)) * model.coef_, atol=1e-9
    )


def test_groups_of_independent_levels():
    """Rounding in roots of nearly zero correlations is no asymmetry."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        X = pd.DataFrame({name: rng.normal(size=150) for name in "ab"})
        for name, levels in ("s", "pq"), ("t", "xyz"), ("u", "xyz"):
            X[name] = rng.choice(list(levels), 150)
        groups = correlated_groups(as_rows(X), np.ones(150))
        assert len([*columns_in(groups)]) >= 2


def test_causal_order_of_numpy_integers():
    X, fitted = table("deep")
    order = np.arange(X.shape[1])
    inspector = TreeSHAP(FrozenEstimator(fitted), causal_order=list(order)).fit(X)
    expected = TreeSHAP(FrozenEstimator(fitted), causal_order=order.tolist()).fit(X)
    assert_allclose(inspector.transform(X[:3]), expected.transform(X[:3]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"within_groups": True}, "within_groups=True credits features"),
        ({"feature_groups": "correlation"}, "pass within_groups=True, too"),
        (
            {"feature_groups": {"a": {"b": [0], "c": [0]}}, "within_groups": True},
            "'x0' in 'b' and again in 'c'",
        ),
        ({"feature_groups": {"a": {}}, "within_groups": True}, "the empty group 'a'"),
        ({"causal_order": [[0, 1]]}, "causal_order needs all features; 'x2'"),
        ({"causal_order": [[0, 1, 2], [3, 0, 4, 5]]}, "causal_order has 'x0' twice"),
        ({"causal_order": [None, [0, 1]]}, "causal_order takes positions"),
        ({"causal_order": [[[0, 1]], [2]]}, "causal_order takes positions"),
        (
            {
                "causal_order": [[0, 1], [2, 3, 4, 5]],
                "feature_groups": {"a": [0, 2]},
                "within_groups": True,
            },
            "separates members of the group 'a'",
        ),
    ],
)
@pytest.mark.parametrize("kind", [TreeSHAP, ExactShapley, ShapleyValues])
def test_bad_groups(kind, params, message):
    X, fitted = table("deep")
    with pytest.raises((ValueError, TypeError), match=message):
        kind(FrozenEstimator(fitted), **params).fit(X)


def test_interactions_have_no_groups():
    X, fitted = table("deep")
    inspector = TreeSHAP(FrozenEstimator(fitted), causal_order=[[0, 1, 2], [3, 4, 5]])
    with pytest.raises(AttributeError) as error:
        _ = inspector.fit(X).interaction_values
    assert "players in any order" in str(error.value.__cause__)
    assert hasattr(inspector.set_params(causal_order=None), "interaction_values")


def test_too_many_coalitions():
    X = np.random.default_rng(0).normal(size=(30, 24))
    model = DecisionTreeRegressor().fit(X, X[:, 0])
    groups = {"wide": list(range(22))}
    inspector = ExactShapley(
        FrozenEstimator(model), feature_groups=groups, within_groups=True
    )
    with pytest.raises(ValueError, match="all coalitions that the groups allow"):
        inspector.fit(X)
