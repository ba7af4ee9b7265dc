"""Exact counterfactuals of trees against a search of all cells between thresholds."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._core.search import programs
from sklearn_interpret.exceptions import NoCounterfactualWarning
from tests.counterfactuals.data import brute_force, exact
from tests.counterfactuals.data import class_table as table

MODELS = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(10, max_depth=3, random_state=0),
    "extra": ExtraTreesClassifier(10, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=5, max_depth=3),
    "full forest": RandomForestClassifier(10, max_leaf_nodes=9, random_state=1),
}
COSTS = {0: 1.0, 1: 0.5, 2: 2.0}


@cache
def fitted(name, n_classes=2, seed=0):
    """A table, and a classifier fitted on it."""
    X, y = table(n_classes, seed=seed)
    return X, clone(MODELS[name]).fit(X, y)


def check_nearest(found, model, rows, holds=None, most=None):
    """Distances are those of the nearest of all cells that satisfy the target.

    Without a condition of the target, that is another answer than the row's own.
    """
    assert found.optimal.all()
    for i, row in enumerate(rows):
        own = model.predict(rows[[i]])
        satisfy = holds or (lambda X, own=own: model.predict(X) != own)
        nearest, *_ = brute_force(model, row, list(COSTS.values()), satisfy, most)
        of_row = found.origin == i
        assert_allclose(found.distances[of_row], nearest, rtol=1e-6, atol=1e-12)
        assert satisfy(found.rows[of_row]).all()


@pytest.mark.parametrize(("n_classes", "outcome"), [(2, "other"), (3, "other"), (3, 1)])
@pytest.mark.parametrize("name", MODELS)
def test_nearest_of_all_cells(name, n_classes, outcome):
    X, model = fitted(name, n_classes)
    rows = X[model.predict(X) != outcome][:2]
    found = exact(model, X, desired=outcome, distance=COSTS).explain(rows)
    assert_allclose(found.lower_bounds, found.distances, rtol=1e-6)
    of_class = None if outcome == "other" else lambda X: model.predict(X) == outcome
    check_nearest(found, model, rows, of_class)


def test_columns_of_half_precision():
    X, y = table()
    X = pd.DataFrame(X.astype(np.float16), columns=["a", "b", "c"])
    model = clone(MODELS["tree"]).fit(X, y)
    found = exact(model, X).explain(X[:2])
    assert found.optimal.all()
    assert found.rows.dtypes.equals(X.dtypes)
    assert (model.predict(found.rows) != model.predict(X[:2])).all()


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("name", MODELS)
def test_fewest_changes_of_all_cells(name):
    X, model = fitted(name, seed=3)
    rows = X[:4]
    found = exact(model, X, objective="n_changed", distance=COSTS).explain(rows)
    assert found.optimal.all()
    for i, row in enumerate(rows):
        own = model.predict(rows[[i]])
        _, fewest, nearest = brute_force(
            model, row, [1.0, 0.5, 2.0], lambda X, own=own: model.predict(X) != own
        )
        assert found.n_changed[i] == fewest
        assert_allclose(found.distances[i], nearest, rtol=1e-6)


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_intervals_of_probability(name, target):
    X, model = fitted(name, seed=5)
    search = exact(model, X, desired=(0.35, 0.55), target=target, distance=COSTS)

    def holds(rows):
        share = model.predict_proba(rows)[:, target]
        return (share >= 0.35) & (share <= 0.55)

    check_nearest(search.explain(X[:4]), model, X[:4], holds)


def test_few_changes_and_limits():
    X, model = fitted("forest", seed=2)
    found = exact(model, X, distance=COSTS, max_changes=1).explain(X[:5])
    assert (found.n_changed <= 1).all()
    check_nearest(found, model, X[:5], most=1)


def test_regressor():
    X, y = make_regression(100, 3, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    model = RandomForestRegressor(10, max_depth=3, random_state=0).fit(X, y)
    found = exact(model, X, desired=(50, 60), distance=COSTS).explain(X[:4])

    def holds(rows):
        return (model.predict(rows) >= 50) & (model.predict(rows) <= 60)

    check_nearest(found, model, X[:4], holds)


def mixed_table(n_rows=150):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "income": rng.normal(size=n_rows).astype(np.float32),
            "job": pd.Categorical(rng.choice(list("abcd"), n_rows)),
        }
    )
    X.loc[::9, "income"] = np.nan
    y = (X["age"] > 40) & X["job"].isin(["a", "c"]) | (X["income"] > 1)
    return X, y.astype(int)


def mixed_model(kind):
    if kind == "categories":
        return HistGradientBoostingClassifier(
            max_iter=10, categorical_features="from_dtype"
        )
    encoded = make_column_transformer(
        (OneHotEncoder(), ["job"]), (StandardScaler(), ["income", "age"])
    )
    return make_pipeline(
        encoded, RandomForestClassifier(10, max_depth=4, random_state=0)
    )


@pytest.fixture(scope="module", params=["pipeline", "categories"])
def mixed_search(request):
    """A model of mixed tables, rows, and what is found for them, with boxes."""
    X, y = mixed_table()
    model = mixed_model(request.param).fit(X, y)
    costs = {"age": 0.1, "income": 1.0, "job": 2.0}
    found = exact(model, X, region=True, distance=costs).explain(X.iloc[:4])
    return model, X, found


@pytest.mark.thorough(after=1)
def test_mixed_tables(mixed_search):
    model, X, found = mixed_search
    rows = found.data
    assert found.optimal.all()
    assert (found.status == "found").all()
    assert found.rows.dtypes.equals(X.dtypes)
    income = np.append(X["income"].unique(), np.float32([-5, 5]))
    grid = pd.DataFrame(
        list(product(range(18, 80), income, "abcd")), columns=X.columns
    ).astype(X.dtypes)
    answers, own = model.predict(grid), model.predict(rows)
    for i in range(len(rows)):
        row = rows.iloc[i]
        distances = 0.1 * abs(grid["age"] - row["age"])
        distances += 2 * (grid["job"] != row["job"])
        filled = grid["income"].notna() & np.isnan(row["income"])
        distances += (grid["income"] - row["income"]).abs().fillna(0) + filled
        # Nothing becomes missing.
        others = grid["income"].notna() | np.isnan(row["income"])
        others &= answers != own[i]
        # The grid has known incomes only, which are no nearer.
        assert found.distances[i] <= distances[others].min() * (1 + 1e-6)


def test_impossible_for_a_reason():
    X, model = fitted("forest")
    answers = model.predict(X)
    rows = np.concatenate([X[answers == 0][:20], X[answers == 1][:1]])
    with pytest.warns(NoCounterfactualWarning):
        found = exact(model, X, desired=1, features_to_vary=[0], max_changes=1).explain(
            rows
        )
    assert found.status[-1] == "unchanged"
    impossible = np.flatnonzero(found.status == "impossible")
    assert len(impossible)
    assert "features_to_vary" in found.reasons[impossible[0]]
    assert np.isinf(found.lower_bounds[impossible]).all()
    assert not found.optimal[impossible].any()


@pytest.mark.parametrize("objective", ["distance", "n_changed"])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_next_ones_are_nearest_of_those_apart(name, objective):
    X, model = fitted(name, seed=4)
    rows, costs = X[:4], np.array([1.0, 0.5, 2.0])
    found = exact(
        model, X, distance=COSTS, n_counterfactuals=3, objective=objective
    ).explain(rows)
    assert found.optimal.all()
    for i, row in enumerate(rows):
        own = model.predict(rows[[i]])
        of_row = found.rows[found.origin == i]
        for k in range(3):
            least, _, of_fewest = brute_force(
                model,
                row,
                costs,
                lambda X, own=own: model.predict(X) != own,
                before=of_row[:k],
            )
            if k == len(of_row):
                assert least == np.inf
                assert f"only {k} rows" in found.reasons[i]
                break
            least = of_fewest if objective == "n_changed" else least
            distance = found.distances[found.origin == i][k]
            assert_allclose(distance, least, rtol=1e-6)


def test_bounds_of_a_search_that_is_ended(monkeypatch):
    X, y = table(n_features=5, seed=4)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    rows = X[:3]
    search = exact(model, X)
    proved = search.explain(rows)
    assert proved.optimal.all()
    ended = set()
    for n_looks in (5, 7, 12):
        looks = [0.0] * n_looks + [np.inf] * 10_000
        monkeypatch.setattr(programs, "monotonic", lambda looks=looks: looks.pop(0))
        for row, nearest in zip(rows, proved.distances, strict=True):
            looks[:] = [0.0] * n_looks + [np.inf] * 10_000
            found = search.explain(row[None])
            assert found.lower_bounds[0] <= nearest * (1 + 1e-6)
            assert found.distances[0] >= nearest * (1 - 1e-6)
            assert (model.predict(found.rows) != model.predict(row[None])).all()
            ended.add(bool(found.optimal[0]))
    assert ended == {True, False}


def test_time_is_shared_by_all_that_are_found():
    X, model = fitted("forest")
    found = exact(model, X, n_counterfactuals=2, time_limit=0).explain(X[:5])
    assert (np.bincount(found.origin) > 1).any()
    assert_array_equal(
        model.predict(found.rows), 1 - model.predict(X[:5])[found.origin]
    )


def least_of_box(tree, low, high, node=0):
    """The least share of the second class in the leaves that a box meets."""
    feature, threshold = tree.feature[node], tree.threshold[node]
    if tree.children_left[node] < 0:
        return tree.value[node, 0, 1]
    shares = []
    if np.float32(low[feature]) <= threshold:
        shares.append(least_of_box(tree, low, high, tree.children_left[node]))
    if np.float32(high[feature]) > threshold:
        shares.append(least_of_box(tree, low, high, tree.children_right[node]))
    return min(shares)


@pytest.mark.parametrize("most", [None, 2])
def test_boxes_satisfy_the_target_and_cannot_be_wider(most):
    X, y = table(seed=1)
    model = RandomForestClassifier(9, max_depth=4, random_state=0).fit(X, y)
    rows = X[model.predict(X) == 0][:10]
    found = exact(
        model,
        X,
        desired=1,
        region=True,
        permitted_range={0: (-1.5, 1.5)},
        max_changes=most,
    ).explain(rows)
    rng = np.random.default_rng(0)
    assert (found.low < found.high).any(axis=1).all()
    for row, changed, low, high in zip(
        found.rows, found.changed, found.low, found.high, strict=True
    ):
        assert ((low <= row) & (row <= high)).all()
        near, far = np.maximum(low, -9), np.minimum(high, 9)
        corners = np.array(list(product(*zip(near, far, strict=True))))
        inside = rng.uniform(near, far, (100, 3))
        assert (model.predict(np.vstack([corners, inside])) == 1).all()
        for j in np.flatnonzero(changed | (most is None)):
            for ends, beyond in ((low, -np.inf), (high, np.inf)):
                wider = {"low": low.copy(), "high": high.copy()}
                side = "low" if ends is low else "high"
                wider[side][j] = np.nextafter(ends[j], beyond)
                least = sum(
                    least_of_box(one.tree_, **wider) for one in model.estimators_
                )
                at_limit = ends[j] in (X[:, j].min(), X[:, j].max())
                at_limit |= j == 0 and abs(ends[j]) >= 1.5
                assert at_limit or least <= 4.5 + 1e-9
        if most is not None:
            assert_array_equal(low[~changed], row[~changed])
            assert_array_equal(high[~changed], row[~changed])


@pytest.mark.parametrize("desired", ["other", 2])
def test_boxes_of_several_classes(desired):
    X, model = fitted("boosting", 3, seed=1)
    rows = X[model.predict(X) != 2][:6]
    found = exact(model, X, desired=desired, region=True, distance=COSTS).explain(rows)
    rng = np.random.default_rng(0)
    for i, origin in enumerate(found.origin):
        low, high = np.maximum(found.low[i], -9), np.minimum(found.high[i], 9)
        answers = model.predict(rng.uniform(low, high, (100, 3)))
        own = model.predict(rows[[origin]])
        assert (answers != own if desired == "other" else answers == 2).all()


def test_boxes_in_mixed_tables(mixed_search):
    model, X, found = mixed_search
    rows = found.data
    assert np.isnan(found.low[:, 2]).all()
    missing = found.rows["income"].isna().to_numpy()
    assert np.isnan(rows["income"]).any()
    assert_array_equal(np.isnan(found.high[:, 1]), missing)
    for low, high in (
        (found.low, found.low),
        (found.high, found.high),
        (found.low, found.high),
        (found.high, found.low),
    ):
        corners = found.rows.copy()
        corners["age"] = np.clip(low[:, 0], 0, 200).astype(X["age"].dtype)
        corners["income"] = np.clip(high[:, 1], -9, 9).astype(np.float32)
        assert (model.predict(corners) != model.predict(rows)[found.origin]).all()


CORNER = pd.DataFrame(list(product([0.0, 1.0], repeat=3)), columns=["a", "b", "c"])
BOTH = DecisionTreeClassifier().fit(CORNER, (CORNER.a > 0) & (CORNER.b > 0))
REASONS = {
    "max_changes leaves": {"max_changes": 1},
    "features_to_vary leaves": {"features_to_vary": ["b", "c"]},
    "permitted_range leaves": {"permitted_range": {"a": (0, 0.2)}},
    "direction leaves": {"direction": {"a": "decrease"}, "max_changes": 2},
    "constraints leave": {"constraints": [({"a": 1, "b": 1}, 0.5)]},
    "several of them": {"max_changes": 1, "features_to_vary": ["a"]},
    "no row at all": {"max_changes": 2, "margin": 2.0},
}


@pytest.mark.parametrize("reason", REASONS)
def test_reasons(reason):
    with pytest.warns(NoCounterfactualWarning, match=reason):
        found = exact(BOTH, CORNER, **REASONS[reason]).explain(CORNER[:1])
    assert found.status == ["impossible"]


@pytest.mark.parametrize("limits", [{"max_changes": 2}, {}])
def test_a_reason_that_time_does_not_tell(limits, monkeypatch):
    search = exact(BOTH, CORNER, **{"permitted_range": "any", **limits})
    asked = []

    def found(problem, row, goal):
        asked.append(goal)
        return None, np.inf if len(asked) == 1 else 0.0

    monkeypatch.setattr(search._searcher, "found", found)
    reason = "the reason was not found within" if limits else "no row at all"
    with pytest.warns(NoCounterfactualWarning, match=reason):
        assert search.explain(CORNER[:1]).status == ["impossible"]
    assert len(asked) == 1 + len(limits)
    assert asked[-1].time_limit <= search.time_limit
