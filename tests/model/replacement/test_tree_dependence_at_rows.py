"""Rows whose values come from each other: trees against the models themselves."""

from itertools import combinations, cycle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret._core.trees.effects import feature_sets
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.replacement import replaced_trees, tree_dependence_at_rows
from sklearn_interpret._model.replacement.dependence_at_rows import (
    DependenceAtRows,
    dependence_at_rows,
)
from sklearn_interpret._model.replacement.tree_dependence_at_rows import (
    TreeDependenceAtRows,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import NonFiniteResponseError, UnreadableModelError
from tests.references.mixed_rows import averages
from tests.references.observed import mean_given, outcomes

N_ROWS = 40
SINGLE = [(0,), (1,), (2,), (3,), (4,)]
GROUPS = [(3, 0), (1,), (4, 2)]
SOME = [(4,), (0,), (3,)]


def table(*, missing=False):
    """Five columns: numbers, few and many, and four levels; a response."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_ROWS, 5))
    X[:, 2] = np.round(X[:, 2])
    X[:, 3] = rng.integers(0, 4, N_ROWS)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 0] + (X[:, 3] == 2) * X[:, 4]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


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
    return np.array(list("abc"))[np.searchsorted(edges, y)]


def sums():
    """Models that are sums of trees, with their rows and how they are asked."""
    X, y = table()
    holes, _ = table(missing=True)
    named, _ = frame()
    constant = X.copy()
    constant[:, 1] = 1.0
    boosted = {"max_iter": 5, "min_samples_leaf": 3}
    forest = {"n_estimators": 3, "random_state": 0}
    boosting = GradientBoostingRegressor(n_estimators=5, max_depth=4, random_state=0)
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["d"]),
        remainder=StandardScaler(),
    )
    piped = make_pipeline(columns, HistGradientBoostingRegressor(**boosted))
    several = RandomForestRegressor(**forest).fit(X, np.column_stack([y, -(y**2)]))
    two = RandomForestClassifier(**forest).fit(X, cut(y, 2))
    by_level = HistGradientBoostingRegressor(**boosted, categorical_features=[3])
    scores = HistGradientBoostingClassifier(**boosted).fit(holes, cut(y, 3))
    return {
        "boosting": (clone(boosting).fit(X, y), X, {}),
        "forest of two targets": (several, X, {}),
        "one probability": (two, X, {"target": "a"}),
        "missing levels": (by_level.fit(holes, y), holes, {}),
        "scores": (scores, holes, {"response_method": "decision_function"}),
        "frame": (piped.fit(named, y), named, {}),
        "constant column": (clone(boosting).fit(constant, y), constant, {}),
        "single leaves": (clone(boosting).fit(X, np.full(N_ROWS, 2.0)), X, {}),
    }


def links():
    """Models whose response is a function of a sum of trees."""
    X, y = table()
    holes, _ = table(missing=True)
    boosted = {"max_iter": 5, "min_samples_leaf": 3}
    small = {"n_estimators": 4, "max_depth": 2, "random_state": 0}
    labels = np.column_stack([cut(y, 3), cut(y, 2)])
    boosting = GradientBoostingClassifier(n_estimators=4, random_state=0)
    boosting.fit(X, cut(y, 3))
    two = HistGradientBoostingClassifier(**boosted).fit(holes, cut(y, 2))
    half = GradientBoostingClassifier(
        n_estimators=4, loss="exponential", random_state=0
    )
    half.fit(X, cut(y, 2))
    forest = RandomForestClassifier(**small).fit(X, cut(y, 3))
    both = RandomForestClassifier(n_estimators=4, random_state=0).fit(X, labels)
    counts = HistGradientBoostingRegressor(loss="poisson", **boosted)
    counts.fit(holes, np.abs(y))

    def by(method, target=None):
        return {"response_method": method, "target": target}

    return {
        "softmax": (boosting, X, by("predict_proba")),
        "one class of three": (boosting, X, by("predict_proba", "b")),
        "log softmax": (boosting, X, by("predict_log_proba")),
        "centred": (boosting, X, by("centered_log_proba")),
        "labels": (boosting, X, by("predict")),
        "one label": (boosting, X, by("predict", "c")),
        "logistic": (two, holes, by("predict_proba")),
        "first class": (two, holes, by("predict_proba", "a")),
        "two labels": (two, holes, by("predict")),
        "half log-odds": (half, X, by("predict_proba")),
        "labels of half log-odds": (half, X, by("predict", "a")),
        "labels of a forest": (forest, X, by("predict")),
        "centred forest": (forest, X, by("centered_log_proba")),
        "two sets of labels": (both, X, by("predict")),
        "log link": (counts, holes, {}),
    }


SUMS, LINKS = sums(), links()


def weights_of(name):
    weights = np.random.default_rng(len(name)).uniform(0.1, 2, size=N_ROWS)
    weights[::9] = 0
    return weights


def observe(model, X, asked, players, weights, **how):
    response = make_response(model, **asked)
    given = response, as_rows(X), weights, players
    return dependence_at_rows("tree", *given, averaged=False, **how), response


def columns_of(players, *which):
    return [column for player in which for column in players[player]]


def check_means(observed, ask, X, players, weights):
    alone, all_but = averages(observed)
    assert alone.shape == all_but.shape == (len(X), len(players), ask(X).shape[1])
    for which in range(len(players)):
        own = columns_of(players, which)
        rest = [column for column in range(5) if column not in own]
        for found, columns in ((alone, own), (all_but, rest)):
            expected = mean_given(ask, X, weights, columns)
            assert_allclose(found[:, which], expected, rtol=0, atol=1e-10)


def check_joint(observed, ask, X, players, weights, sets):
    found = list(observed.joint(sets))
    assert len(found) == len(sets)
    for members, means in zip(sets, found, strict=True):
        columns = columns_of(players, *members)
        expected = mean_given(ask, X, weights, columns)
        assert_allclose(means, expected, rtol=0, atol=1e-10)


def check_outcomes(observed, ask, X, players):
    found = observed.responses_at_points(
        lambda player, index, answers: (index, answers.copy())
    )
    for which, (blocks, at) in enumerate(zip(found, observed.positions, strict=True)):
        index = np.concatenate([rows for rows, _ in blocks])
        assert_array_equal(index, np.arange(len(X)))
        answers = np.concatenate([part for _, part in blocks])
        assert answers.shape[1] == observed.n_points[which]
        for row in range(0, len(X), 5):
            expected = outcomes(ask, X, row, columns_of(players, which))
            assert_allclose(answers[row, at], expected, rtol=0, atol=1e-10)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("name", "players"), [*zip(SUMS, cycle([SINGLE, GROUPS, SOME]), strict=False)]
)
def test_sums_of_trees(name, players):
    model, X, asked = SUMS[name]
    weights = weights_of(name) if players is not SOME else np.ones(N_ROWS)
    observed, ask = observe(model, X, asked, players, weights)
    assert_allclose(observed.predictions, ask(X), rtol=0, atol=1e-10)
    check_means(observed, ask, X, players, weights)
    pairs = list(combinations(range(len(players)), 2))[:4]
    sets = [*pairs, (2, 0), (0, 2, 1), (1, 2)]
    check_joint(observed, ask, X, players, weights, sets)
    check_outcomes(observed, ask, X, players)


@pytest.mark.thorough(after=7)
@pytest.mark.parametrize("name", LINKS)
def test_functions_of_sums(name):
    model, X, asked = LINKS[name]
    weights = weights_of(name)
    observed, ask = observe(model, X, asked, GROUPS, weights)
    assert_allclose(observed.predictions, ask(X), rtol=0, atol=1e-10)
    check_outcomes(observed, ask, X, GROUPS)
    if asked.get("response_method") != "predict":
        check_means(observed, ask, X, GROUPS, weights)
        check_joint(observed, ask, X, GROUPS, weights, [(0, 1), (2, 0), (0, 2, 1)])


def test_work_on_functions_of_sums_grows_faster_than_the_rows():
    model, X, asked = LINKS["softmax"]
    pairs, triples = np.array([(0, 1), (2, 4)]), [(0, 1, 2)]

    def n_sums(X, *sets):
        return observe(model, X, asked, SINGLE, np.ones(len(X)))[0].most_sums(*sets)

    few = n_sums(X[:10], pairs, [])
    assert few < n_sums(X[:10], pairs, triples)
    assert n_sums(X[:30], pairs, []) > 4 * few


@pytest.mark.parametrize("name", ["labels", "two labels", "labels of a forest"])
def test_means_of_labels_are_those_of_the_model(name):
    model, X, asked = LINKS[name]
    given = make_response(model, **asked), as_rows(X), weights_of(name), SINGLE
    assert isinstance(
        dependence_at_rows("auto", *given, averaged=True), DependenceAtRows
    )
    with pytest.raises(UnreadableModelError, match="not the plain sum of its trees"):
        dependence_at_rows("tree", *given, averaged=True)


@pytest.mark.thorough
def test_functions_of_sums_in_small_pieces(monkeypatch):
    monkeypatch.setattr(feature_sets, "_MOST_OUTPUTS", 64 * 7)
    monkeypatch.setattr(feature_sets, "_MOST_NUMBERS", 200)
    monkeypatch.setattr(tree_dependence_at_rows, "_SETS_OF_TASK", 2)
    monkeypatch.setattr(tree_dependence_at_rows, "_SETS_OF_WAVE", 3)
    model, X, asked = LINKS["softmax"]
    X, weights = np.tile(X, (20, 1)), np.tile(weights_of("any"), 20)
    X[N_ROWS:, :3] += np.random.default_rng(0).normal(size=(19 * N_ROWS, 3))
    sets = [(0, 1), (1, 2), (0, 1, 2), (3, 4), (2, 0)]

    def joint(**how):
        observed, _ = observe(model, X, asked, SINGLE, weights, **how)
        monkeypatch.setattr(observed._tree_effects, "block_rows", 128)
        return np.stack([*observed.joint(sets)])

    brute = DependenceAtRows(make_response(model, **asked), as_rows(X), weights, SINGLE)
    expected = np.stack([*brute.joint(sets)])
    for found in (joint(), joint(n_jobs=2)):
        assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_points_are_what_the_trees_tell_apart():
    model, X, asked = SUMS["constant column"]
    observed, ask = observe(model, X, asked, SINGLE, np.ones(N_ROWS))
    assert observed.n_points[1] == 1
    for player, at in enumerate(observed.positions):
        assert sorted(set(at)) == list(range(observed.n_points[player]))
        for point in range(observed.n_points[player]):
            alike = np.flatnonzero(at == point)
            moved = X.copy()
            moved[alike, player] = X[alike[0], player]
            assert_array_equal(ask(moved), ask(X))


def test_numbers_depend_neither_on_workers_nor_on_memory(monkeypatch):
    monkeypatch.setattr(replaced_trees, "_MOST_TASKS", 3)
    model, X, asked = SUMS["forest of two targets"]
    X, weights = np.tile(X, (5, 1)), np.tile(weights_of("any"), 5)
    X[N_ROWS:] += np.random.default_rng(0).normal(size=(4 * N_ROWS, 5))
    sets = [(0, 1), (1, 2), (0, 1, 2), (3, 4)]

    def numbers(**how):
        observed, _ = observe(model, X, asked, SINGLE, weights, **how)
        kept = observed.responses_at_points(lambda *block: block[2].sum(axis=1))
        kept = [np.concatenate(parts) for parts in kept]
        return [*averages(observed), *observed.joint(sets), *kept]

    expected = numbers()
    for found, right in zip(numbers(n_jobs=2), expected, strict=True):
        assert_array_equal(found, right)
    with config_context(working_memory=0.01):
        little = numbers()
    for found, right in zip(little, expected, strict=True):
        assert_allclose(found, right, rtol=0, atol=1e-10)


def test_blocks_of_outcomes_follow_the_memory():
    model, X, asked = SUMS["boosting"]
    observed, _ = observe(model, np.tile(X, (5, 1)), asked, SINGLE, np.ones(5 * N_ROWS))

    def sizes():
        blocks = observed.responses_at_points(lambda player, index, answers: len(index))
        assert all(sizes == blocks[0] for sizes in blocks)
        return blocks[0]

    assert sizes() == [200]
    with config_context(working_memory=0.01):
        assert sizes() == [64, 64, 64, 8]


def test_logarithms_of_zero_are_refused_as_those_of_the_model_are():
    model, *_ = LINKS["centred forest"]
    trees = tree_response(make_response(model, "predict_log_proba"))
    certain = np.array([[[0.5, 0.25, 0.25]], [[1.0, 0.0, 0.0]]])
    with pytest.raises(NonFiniteResponseError, match="not finite"):
        trees.link_sums(certain)
    assert_allclose(trees.link_sums(certain[:1]), np.log(certain[:1]))


def test_models_that_are_no_function_of_trees_are_refused():
    X, y = table()
    linear = LinearRegression().fit(X, y)
    dummy = DummyRegressor().fit(X, y)
    model, _, _ = SUMS["boosting"]
    for estimator, method in (
        (linear, "predict"),
        (dummy, "predict"),
        (model, lambda estimator, X: estimator.predict(X)),
    ):
        response = make_response(estimator, method)
        given = response, as_rows(X), np.ones(N_ROWS), SINGLE
        with pytest.raises(UnreadableModelError):
            tree_response(response)
        found = dependence_at_rows("auto", *given, averaged=False)
        assert isinstance(found, DependenceAtRows)
        with pytest.raises(UnreadableModelError):
            dependence_at_rows("tree", *given, averaged=False)


def test_trees_are_not_looked_at_when_the_model_is_to_be_asked():
    model, X, asked = SUMS["boosting"]
    given = make_response(model, **asked), as_rows(X), np.ones(N_ROWS), SINGLE
    for method, kind in (("brute", DependenceAtRows), ("tree", TreeDependenceAtRows)):
        assert isinstance(dependence_at_rows(method, *given, averaged=True), kind)


@pytest.mark.parametrize(
    ("model", "method", "message"),
    [
        (SUMS["boosting"], "predict", "not the sum of the trees"),
        (LINKS["softmax"], "predict_proba", "not the function of the trees"),
    ],
)
def test_a_library_that_computes_something_else_is_noticed(
    model, method, message, monkeypatch
):
    model, X, asked = model
    original = getattr(type(model), method)
    monkeypatch.setattr(type(model), method, lambda self, X: 0.9 * original(self, X))
    with pytest.raises(UnreadableModelError, match=message):
        observe(model, X, asked, SINGLE, np.ones(N_ROWS))


@pytest.mark.parametrize(
    ("depth", "players", "adds"),
    [(1, SINGLE, True), (2, SINGLE, False), (3, [(0, 1, 2), (3,), (4,)], True)],
)
def test_trees_of_one_player_each_add_up(depth, players, adds):
    X, _ = table()
    X[:, 3:] = 0.0
    y = X[:, 0] * X[:, 1] + X[:, 2]
    model = GradientBoostingRegressor(n_estimators=5, max_depth=depth, random_state=0)
    response = make_response(model.fit(X, y))
    trees = dependence_at_rows(
        "tree", response, as_rows(X), np.ones(N_ROWS), players, averaged=False
    )
    assert trees.adds_players is adds
    rest = trees.predictions - sum(map(trees.dependence_on, range(len(players))))
    assert (np.ptp(rest) < 1e-10) == adds


def test_functions_of_trees_do_not_add_up():
    X, y = table()
    model = GradientBoostingClassifier(n_estimators=5, max_depth=1, random_state=0)
    response = make_response(model.fit(X, y > 0))
    trees = dependence_at_rows(
        "tree", response, as_rows(X), np.ones(N_ROWS), SINGLE, averaged=False
    )
    assert not trees.adds_players
