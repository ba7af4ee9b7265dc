"""H statistics: the definition, closed forms, trees as brute force, and their frame."""

from contextlib import nullcontext
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

from sklearn_interpret._model.replacement.dependence_at_rows import dependence_at_rows
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import (
    CostlyInspectionWarning,
    UndefinedShareWarning,
    UnreadableModelError,
)
from sklearn_interpret.interactions import HStatistic, PartialDependenceInteraction
from sklearn_interpret.interactions import _base as interactions_base
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references.interactions import h_statistics
from tests.references.memory import peak_memory
from tests.references.models import asker, frozen, rows_of, watched

X, Y = numeric_table(14, 4)
RNG = np.random.default_rng(0)
STATISTICS = ("pairwise_", "pairwise_unnormalized_", "overall_", "total_")


def h_of(formula, X, **params):
    """Statistics of a formula of the columns."""
    weights = params.pop("sample_weight", None)
    return HStatistic(frozen(formula, X), **params).fit(X, sample_weight=weights)


def assert_is_the_definition(h, expected, names):
    assert_allclose(h.pairwise_, expected["pairwise"], rtol=1e-8, atol=1e-10)
    assert_allclose(h.overall_, expected["overall"], rtol=1e-8, atol=1e-10)
    assert_allclose(h.total_, expected["total"], rtol=1e-8, atol=1e-10)
    for name in ("pairwise", "overall"):
        numerator = expected[f"{name}_numerator"]
        found = getattr(h, f"{name}_unnormalized_")
        assert_allclose(found, np.sqrt(numerator), rtol=1e-8, atol=1e-8)
        found = getattr(h, f"{name}_numerator_")
        assert_allclose(found, numerator, rtol=1e-8, atol=1e-10)
    for triple, value in expected["three_way"].items():
        found = h.three_way_[tuple(names[j] for j in triple)]
        assert_allclose(found, value, rtol=1e-8, atol=1e-10)


# The definition


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        SVR(),
        GradientBoostingRegressor(n_estimators=8, random_state=0),
        RandomForestRegressor(4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_definition(model, weighted):
    model = model.fit(X, Y)
    weights = RNG.random(len(X)) if weighted else np.ones(len(X))
    h = HStatistic(FrozenEstimator(model), three_way=True)
    h.fit(X, sample_weight=weights if weighted else None)
    players = [(j,) for j in range(4)]
    ask = asker(model, X)
    expected = h_statistics(ask, rows_of(X), weights, players, three_way=True)
    assert_is_the_definition(h, expected, h.player_names_)


@pytest.mark.parametrize("method", ["auto", "brute"])
def test_the_definition_with_a_group(method):
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=2).fit(X, Y)
    h = HStatistic(
        FrozenEstimator(model), feature_groups={"g": [3, 1]}, method=method
    ).fit(X)
    assert h.features_ == [(0,), (3, 1), (2,)]
    assert h.player_names_ == ["x0", "g", "x2"]
    expected = h_statistics(asker(model, X), rows_of(X), np.ones(len(X)), h.features_)
    assert_is_the_definition(h, expected, h.player_names_)
    assert h.feature_importances_[1] == h.feature_importances_[3]


@pytest.mark.parametrize(
    "model",
    [
        encoded(SVR()),
        encoded(GradientBoostingRegressor(n_estimators=5, random_state=0)),
    ],
    ids=["any", "trees"],
)
def test_the_definition_with_categories(model):
    frame, y = mixed_frame(30)
    model = model.fit(frame, y)
    frame = frame[:7]
    h = HStatistic(FrozenEstimator(model)).fit(frame)
    players = [(j,) for j in range(5)]
    ask = asker(model, frame)
    expected = h_statistics(ask, rows_of(frame), np.ones(7), players)
    assert_is_the_definition(h, expected, h.player_names_)
    assert h.player_names_ == list(frame.columns)


@pytest.mark.parametrize("method", ["auto", "brute"])
def test_the_definition_with_missing_values(method):
    missing = X.copy()
    missing[RNG.random(X.shape) < 0.3] = np.nan
    model = HistGradientBoostingRegressor(max_iter=6, min_samples_leaf=2)
    model.fit(missing, Y)
    h = HStatistic(FrozenEstimator(model), method=method).fit(missing)
    players = [(j,) for j in range(4)]
    # NaN differs from itself: an answer for each row that is asked.
    ask = asker(model, missing)
    expected = h_statistics(ask, rows_of(missing), np.ones(len(X)), players)
    assert_is_the_definition(h, expected, h.player_names_)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        RandomForestClassifier(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_several_outputs_lead(model):
    labels = classes(Y, 3)
    model.fit(X, labels)
    h = HStatistic(FrozenEstimator(model), three_way=[(0, 1, 2)]).fit(X)
    assert h.pairwise_.shape == h.pairwise_denominator_.shape == (3, 4, 4)
    assert h.overall_.shape == h.overall_denominator_.shape == (3, 4)
    assert h.total_.shape == h.three_way_["x0", "x1", "x2"].shape == (3,)
    assert h.output_names_ == ["low", "mid", "top"]
    assert h.transform(X).shape == (len(X), 6 * 3)
    assert h.get_feature_names_out()[:4].tolist() == [
        "x0 x x1_low",
        "x0 x x1_mid",
        "x0 x x1_top",
        "x0 x x2_low",
    ]
    importances = h.overall_unnormalized_.mean(axis=0)
    assert_array_equal(h.feature_importances_, importances)
    for output, label in enumerate(h.output_names_):
        one = HStatistic(FrozenEstimator(model), target=label).fit(X)
        for name in STATISTICS:
            assert_allclose(
                getattr(one, name), getattr(h, name)[output], rtol=1e-8, atol=1e-12
            )
        ask = asker(model, X, "predict_proba", output)
        players = [(j,) for j in range(4)]
        expected = h_statistics(ask, rows_of(X), np.ones(len(X)), players)
        assert_is_the_definition(one, expected, h.player_names_)


# Closed forms


def uniform_grid(n=6):
    """Independent uniform features: all combinations of the points of a grid."""
    points = np.linspace(0, 1, n)
    return np.array(np.meshgrid(points, points, points)).reshape(3, -1).T


@pytest.mark.parametrize("sample_weight", [None, "spread"])
def test_a_product_of_independent_uniform_features(sample_weight):
    """f = x0 x1 + x2, with mean m and variance v of each.

    PD_01 - PD_0 - PD_1 is (x0 - m)(x1 - m), of variance v^2; PD_01 has v^2 + 2 m^2 v,
    and f has v more. Over the product of the sample's points this holds exactly.
    """
    X = uniform_grid()
    points = np.linspace(0, 1, 6)
    weights = None
    m, v = points.mean(), points.var()
    if sample_weight:
        weight = np.arange(1.0, 7)
        weights = np.prod(weight[np.rint(5 * X).astype(int)], axis=1)
        m = np.average(points, weights=weight)
        v = np.average((points - m) ** 2, weights=weight)
    h = h_of(lambda a, b, c: a * b + c, X, sample_weight=weights, three_way=True)
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 0] = v / (v + 2 * m**2)
    assert_allclose(h.pairwise_, expected, rtol=1e-8, atol=0)
    share = v / (v + 2 * m**2 + 1)
    assert_allclose(h.overall_, [share, share, 0], rtol=1e-8, atol=0)
    assert_allclose(h.total_, share, rtol=1e-8)
    assert_allclose(h.pairwise_unnormalized_[0, 1], v, rtol=1e-8)
    assert_allclose(h.overall_denominator_, v**2 + 2 * m**2 * v + v, rtol=1e-8)
    assert h.three_way_ == {("x0", "x1", "x2"): 0}
    terms = h.transform(X)
    pure = (X[:, 0] - m) * (X[:, 1] - m)
    assert_allclose(terms, np.c_[pure, 0 * pure, 0 * pure], atol=1e-12)


def test_three_way_interactions_of_a_product_of_three():
    """Of independent centred features the whole of PD_012 is the three-way term."""
    X = 2 * uniform_grid(4) - 1
    h = h_of(lambda a, b, c: a * b * c, X, three_way=True)
    assert_allclose(h.three_way_["x0", "x1", "x2"], 1)
    spread = np.sqrt((X[:, 0] ** 2).mean()) ** 3
    assert_allclose(h.three_way_unnormalized_["x0", "x1", "x2"], spread)
    assert_array_equal(h.pairwise_, 0)  # nothing of nothing
    assert_allclose(h.overall_, 1)


# Trees and brute force


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    "model, method, n_classes",
    [
        (
            GradientBoostingRegressor(n_estimators=20, max_depth=6, random_state=0),
            "predict",
            None,
        ),
        (HistGradientBoostingRegressor(max_iter=20), "predict", None),
        (RandomForestRegressor(5, random_state=0), "predict", None),
        (HistGradientBoostingClassifier(max_iter=5), "decision_function", 2),
        (HistGradientBoostingClassifier(max_iter=5), "predict_proba", 2),
        (GradientBoostingClassifier(n_estimators=5), "predict_proba", 3),
    ],
)
def test_trees_are_brute_force(model, method, n_classes):
    X, y = make_friedman1(120, 6, random_state=0)
    if n_classes:
        edges = np.quantile(y, np.arange(1, n_classes) / n_classes)
        y = np.searchsorted(edges, y)
    model = FrozenEstimator(model.fit(X, y))
    common = {"three_way": [(0, 1, 2), (1, 3, 5)], "response_method": method}
    weights = RNG.random(120)
    trees, brute = (
        HStatistic(model, method=method, **common).fit(X, sample_weight=weights)
        for method in ("tree", "brute")
    )
    for name in STATISTICS:
        assert_allclose(
            getattr(trees, name), getattr(brute, name), rtol=1e-8, atol=1e-10
        )
    for triple, value in brute.three_way_.items():
        assert_allclose(trees.three_way_[triple], value, rtol=1e-8, atol=1e-10)
    other = make_friedman1(30, 6, random_state=1)[0]
    assert_allclose(trees.transform(other), brute.transform(other), atol=1e-9)


def test_trees_that_cannot_be_read():
    with pytest.raises(UnreadableModelError):
        HStatistic(LinearRegression(), method="tree").fit(X, Y)


def test_functions_of_trees_are_asked_for_a_few_rows_only(monkeypatch):
    model = GradientBoostingClassifier(n_estimators=2).fit(X, Y > 0)
    asked = watched(monkeypatch, GradientBoostingClassifier, "predict_proba")
    HStatistic(FrozenEstimator(model)).fit(X)
    assert 0 < sum(len(table) for _, table in asked) <= 8


# Weights, containers, workers


# What is asked for


def test_pairs_and_features():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = FrozenEstimator(SVR().fit(frame, Y))
    everything = HStatistic(model, three_way=True).fit(frame)
    some = HStatistic(model, pairs=[("d", "b"), (0, "b")], three_way=[(3, 1, 0)])
    some.fit(frame)
    assert some.pairs_ == [(3, 1), (0, 1)]
    asked = np.zeros((4, 4), dtype=bool)
    asked[[3, 1, 0, 1], [1, 3, 1, 0]] = True
    assert_allclose(some.pairwise_[asked], everything.pairwise_[asked])
    asked[np.diag_indices(4)] = True
    assert np.isnan(some.pairwise_[~asked]).all()
    assert_allclose(some.overall_, everything.overall_)
    assert_allclose(some.total_, everything.total_)
    (triple,) = some.three_way_
    assert triple == ("d", "b", "a")
    assert_allclose(some.three_way_[triple], everything.three_way_["a", "b", "d"])
    assert some.get_feature_names_out().tolist() == ["d x b", "a x b"]
    assert_allclose(some.transform(frame)[:, 1], everything.transform(frame)[:, 0])
    few = HStatistic(model, features=["d", "a"], three_way=True).fit(frame)
    assert few.player_names_ == ["d", "a"]
    assert_allclose(few.pairwise_[0, 1], everything.pairwise_[0, 3])
    assert_allclose(few.overall_, everything.overall_[[3, 0]])
    assert np.isnan(few.total_)
    assert few.three_way_ == {}
    assert_array_equal(few.feature_importances_ > 0, [True, False, False, True])


def test_roots():
    squared = HStatistic(SVR(), three_way=True).fit(X, Y)
    roots = HStatistic(SVR(), three_way=True, squared=False).fit(X, Y)
    assert_allclose(roots.pairwise_**2, squared.pairwise_)
    assert_allclose(roots.overall_**2, squared.overall_)
    for triple, value in squared.three_way_.items():
        assert_allclose(roots.three_way_[triple] ** 2, value)
    assert roots.total_ == squared.total_
    unnormalized = squared.overall_unnormalized_
    assert_array_equal(roots.overall_unnormalized_, unnormalized)


def test_redraws():
    model = FrozenEstimator(SVR().fit(X, Y))
    settings = {"subsample": 9, "random_state": 3}
    h = HStatistic(model, n_repeats=4, **settings).fit(X)
    rng = np.random.RandomState(3)
    drawn = [HStatistic(model, subsample=9, random_state=rng).fit(X) for _ in range(4)]
    for name in ("pairwise", "overall"):
        each = np.array([getattr(one, f"{name}_") for one in drawn])
        assert_allclose(getattr(h, f"{name}_"), each.mean(axis=0))
        assert_allclose(getattr(h, f"{name}_std_"), each.std(axis=0, ddof=1))
    assert_allclose(h.transform(X), drawn[0].transform(X))
    once = HStatistic(model, **settings).fit(X)
    assert once.pairwise_std_ is None
    assert once.overall_std_ is None
    assert_allclose(once.pairwise_, drawn[0].pairwise_)


def test_terms_are_centred_over_the_rows_of_fit():
    h = HStatistic(SVR()).fit(X, Y, sample_weight=np.arange(1, 15))
    terms = h.transform(X)
    means = np.average(terms, axis=0, weights=np.arange(1, 15))
    assert_allclose(means, 0, atol=1e-12)
    squares = np.average(terms**2, axis=0, weights=np.arange(1, 15))
    numerators = [h.pairwise_numerator_[pair] for pair in h.pairs_]
    assert_allclose(squares, numerators)


def test_features_are_selected_by_how_much_they_interact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    model = frozen(lambda a, b, c, d: a + 3 * b * d, X)
    selector = SelectFromModel(HStatistic(model), threshold=1e-6).fit(X)
    assert selector.get_support().tolist() == [False, True, False, True]


# Little data


@pytest.mark.parametrize("method", ["auto", "brute"])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("n_rows", [2, 20])
def test_two_rows_one_feature_and_constant_columns(n_rows, n_columns, method):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20, n_columns))
    model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(
        table, table.prod(axis=1)
    )
    seen = table[:n_rows].copy()
    seen[:, 1:2] = 0.5
    h = HStatistic(FrozenEstimator(model), method=method, three_way=True).fit(seen)
    expected = np.zeros((n_columns, n_columns))
    if n_columns > 1:
        expected = h.pairwise_.copy()
        expected[1] = expected[:, 1] = 0
    assert_array_equal(h.pairwise_, expected)
    assert_array_equal(h.overall_[1:2], 0)
    n_pairs = n_columns * (n_columns - 1) // 2
    assert h.transform(table).shape == (20, n_pairs)
    assert len(h.get_feature_names_out()) == n_pairs
    assert np.isfinite(h.total_)


# Properties

formulas = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "n_columns": st.integers(2, 4),
        "n_rows": st.integers(2, 12),
        "n_values": st.sampled_from([2, 4, 1000]),
    }
)


def drawn_table(rng, case):
    shape = case["n_rows"], case["n_columns"]
    return rng.integers(0, case["n_values"], shape) / case["n_values"]


@given(case=formulas)
def test_additive_models_have_no_interactions(case):
    rng = np.random.default_rng(case["seed"])
    X = drawn_table(rng, case)
    sizes, steps = rng.normal(size=(2, case["n_columns"])) * [[10], [5]]

    def additive(*columns):
        parts = zip(sizes, steps, columns, strict=True)
        return sum(size * np.sin(step * column) for size, step, column in parts)

    h = h_of(additive, X, sample_weight=rng.random(len(X)) + 0.1, three_way=True)
    for name in STATISTICS:
        assert_array_equal(getattr(h, name), 0)
    assert set(h.three_way_.values()) <= {0}
    assert_allclose(h.transform(X), 0, atol=1e-12)


@given(case=formulas, shift=st.floats(-5, 5), scale=st.sampled_from([-3.0, 1e-3, 40]))
def test_the_units_of_the_response(case, shift, scale):
    rng = np.random.default_rng(case["seed"])
    X = drawn_table(rng, case)
    steps = rng.normal(size=case["n_columns"])

    def formula(*columns):
        return np.cos(sum(s * c for s, c in zip(steps, columns, strict=True)))

    plain = h_of(formula, X)
    other = h_of(lambda *columns: shift + scale * formula(*columns), X)
    assert_allclose(other.pairwise_, plain.pairwise_, rtol=1e-6, atol=1e-9)
    assert_allclose(
        other.pairwise_unnormalized_,
        abs(scale) * plain.pairwise_unnormalized_,
        rtol=1e-6,
        atol=1e-9,
    )


# Bad input


@pytest.mark.parametrize(
    "params, message",
    [
        ({"pairs": []}, "pairs is empty"),
        ({"pairs": [0, 1]}, r"pairs has the entry \(0,\) of 1 features"),
        ({"pairs": [(0, 1, 2)]}, "pairs has the entry .* of 3 features"),
        ({"pairs": [(0, 9)]}, "pairs has the position 9"),
        ({"pairs": [("a", 1)]}, "pairs has the name 'a', but X has no feature names"),
        ({"pairs": [(0, 2)], "features": [0, 1]}, "pairs has 'x2', which features"),
        ({"pairs": [(0, 2)], "feature_groups": {"g": [2, 3]}}, "pairs has 'x2'"),
        ({"pairs": 1.5}, "pairs takes positions"),
        ({"features": [(0, 1)]}, "features has the entry"),
        ({"features": ["g", 0], "feature_groups": {"g": [0, 1]}}, "shares a column"),
        ({"three_way": [(0, 1)]}, "three_way has the entry .* of 2 features"),
        ({"three_way": []}, "three_way is empty"),
        ({"three_way": 1.5}, "three_way takes positions"),
        ({"three_way": [(0, 1, 2)], "features": [0, 1]}, "three_way has 'x2'"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"n_repeats": 10**20, "subsample": 5}, "n_repeats"),
        ({"subsample": 1}, "n_samples=1 .*subsample=1"),
        ({"n_repeats": 2}, "n_repeats=2 draws several subsamples"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        HStatistic(SVR(), **params).fit(X, Y)


def test_rows_with_an_unknown_category():
    frame, y = mixed_frame(20)
    h = HStatistic(encoded(LinearRegression()), pairs=[("colour", "town")])
    h.fit(frame, y)
    other = frame.astype({"colour": object})
    other.loc[3, "colour"] = "pink"
    with pytest.raises(ValueError, match="'colour' has no category 'pink'"):
        h.transform(other)
    with pytest.raises(ValueError, match="feature names should match"):
        h.transform(frame.iloc[:, :2])


# Shares of nothing


def off_the_data(scale, offset):
    """A table whose first two columns are the same, and a response to the others."""
    table = X.copy()
    table[:, 1] = table[:, 0]
    return table, lambda a, b, c, d: offset + scale * np.abs(a - b) * (2 + c)


@pytest.mark.parametrize("scale, offset", [(1, 0), (1e8, 0), (1, 1e5)])
def test_a_response_that_varies_between_the_rows_only(scale, offset):
    table, formula = off_the_data(scale, offset)
    with pytest.warns(UndefinedShareWarning) as caught:
        h = h_of(formula, table, three_way=True)
    messages = [str(one.message) for one in caught]
    assert [message.split(": ")[1].split("_ is")[0] for message in messages] == [
        "pairwise",
        "overall",
        "three_way",
        "total",
    ]
    assert "for 'x0' x 'x1', and set to zero" in messages[0]
    assert "for 'x0', 'x1', and set" in messages[1]
    assert "for 'x0' x 'x1' x 'x2', and" in messages[2]
    assert h.pairwise_[0, 1] == h.total_ == h.three_way_["x0", "x1", "x2"] == 0
    assert_array_equal(h.overall_, 0)
    assert h.pairwise_unnormalized_[0, 1] > 0.01 * scale
    assert h.three_way_unnormalized_["x0", "x1", "x2"] > 0.01 * scale
    assert (h.overall_unnormalized_[:2] > 0.01 * scale).all()
    assert h.pairwise_unnormalized_[2, 3] == h.overall_unnormalized_[3] == 0


def test_an_additive_response_that_is_constant_at_the_rows():
    table, _ = off_the_data(1, 0)
    h = h_of(lambda a, b, c, d: 1e8 * (a - b), table)
    for name in STATISTICS:
        assert_array_equal(getattr(h, name), 0)


def test_a_single_row_has_no_variance():
    with pytest.raises(ValueError, match=r"HStatistic .* n_samples=1"):
        h_of(lambda a, b, c, d: a * b, X[:1])


def test_squares_that_overflow():
    with pytest.raises(ValueError, match=r"beyond 1e\+75, .*scale the target"):
        h_of(lambda a, b, c, d: 4e160 * (1 + a * b / 1e3), X)


# Cost


class TooMany(Exception):
    """Raised by a model in place of an answer."""


def reluctant(a, *others):
    """A response to few rows only."""
    if len(a) > 300:
        raise TooMany
    return a * others[0]


def test_very_many_rows_are_warned_of_before_they_are_sent(monkeypatch):
    monkeypatch.setattr("sklearn_interpret._model.row_limit._MANY_ROWS", 2e7)
    table = np.random.default_rng(0).normal(size=(300, 25))
    expected = r"subsample=.*up to 29\d{6} rows go to the model, 300 rows x 300 other"
    with pytest.warns(CostlyInspectionWarning, match=expected), pytest.raises(TooMany):
        h_of(reluctant, table)
    assert np.isfinite(h_of(reluctant, table[:, :3], subsample=10).total_)


WIDE = np.random.default_rng(0).normal(size=(30, 300))


@pytest.fixture(scope="module")
def wide_trees():
    target = WIDE[:, 0] * WIDE[:, 1] + WIDE[:, 2]
    forest = RandomForestRegressor(3, max_depth=3, max_features=9, random_state=0)
    return FrozenEstimator(forest.fit(WIDE, target))


@pytest.mark.parametrize("few", [True, False])
def test_many_sums_over_leaves_are_warned_of(few, wide_trees, monkeypatch):
    monkeypatch.setattr(interactions_base, "_MANY_SUMS", 1e6)
    h = HStatistic(wide_trees, features=list(range(2 if few else 30)))
    expected = r"pairs=.*subsample=.*HStatistic is about to compute some .* sums"
    with (
        nullcontext() if few else pytest.warns(CostlyInspectionWarning, match=expected)
    ):
        h.fit(WIDE)


def test_sums_grow_with_rows_pairs_triples_and_passes(wide_trees):
    def n_sums(n_rows, n_features, triples=(), memory=64):
        rows, players = as_rows(WIDE[:n_rows]), [(j,) for j in range(n_features)]
        response = make_response(wide_trees)
        weights = np.ones(n_rows)
        trees = dependence_at_rows(
            "tree", response, rows, weights, players, averaged=True
        )
        pairs = np.array([*combinations(range(n_features), 2)])
        with config_context(working_memory=memory):
            return trees.most_sums(pairs, triples)

    few = n_sums(10, 20)
    assert few < n_sums(30, 20) < n_sums(30, 300)
    assert few < n_sums(10, 20, [(0, 1, 2)])
    assert n_sums(30, 300) < n_sums(30, 300, memory=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("inspector", [HStatistic, PartialDependenceInteraction])
@pytest.mark.parametrize("method", ["brute", "tree"])
def test_memory_until_the_warning_of_many_pairs(
    inspector, method, wide_trees, monkeypatch
):
    monkeypatch.setattr(interactions_base, "_MANY_SUMS", 0)
    monkeypatch.setattr("sklearn_interpret._model.row_limit._MANY_ROWS", 0)
    model = frozen(lambda a, *others: a, WIDE) if method == "brute" else wide_trees
    h = inspector(model, method=method)

    def stopped():
        with pytest.raises(CostlyInspectionWarning), config_context(working_memory=1):
            h.fit(WIDE)

    stopped()  # what is made once
    # The pairs are as large as one matrix of the results; and what is in work.
    assert peak_memory(stopped) < 2 * 8 * WIDE.shape[1] ** 2 + 1.5 * 2**20


@pytest.mark.thorough
def test_memory_is_that_of_few_rows_at_once(wide_trees):
    rows = np.random.default_rng(0).normal(size=(5_000, WIDE.shape[1]))
    h = HStatistic(wide_trees, features=range(100), pairs=[(0, 1)])
    h.fit(rows[:50])  # what is made once
    with config_context(working_memory=4):
        peak = peak_memory(lambda: h.fit(rows))
    # One number per row and feature takes 4 MB.
    assert peak < 1.5 * 8 * len(rows) * 100


def test_very_many_triples_are_counted_and_not_listed(wide_trees):
    h = HStatistic(wide_trees, three_way=True)

    def stopped():
        with pytest.raises(
            CostlyInspectionWarning, match=r"three_way.*4\.5e\+06 triples"
        ):
            h.fit(WIDE)

    assert peak_memory(stopped) < 4 * 8 * WIDE.shape[1] ** 2


def test_triples_are_those_whose_pairs_are_there():
    pairs = [(3, 0), (0, 1), (1, 3), (1, 2), (2, 0), (4, 3)]
    rows = np.random.default_rng(0).normal(size=(9, 5))
    model = frozen(lambda a, b, *others: a * b, rows)
    h = HStatistic(model, pairs=pairs, three_way=True).fit(rows)
    assert list(h.three_way_) == [("x0", "x1", "x2"), ("x0", "x1", "x3")]


@pytest.mark.thorough
def test_effects_of_many_rows_stay_within_the_working_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5))
    X[:, 3:] = rng.integers(0, 2, (5000, 2))  # pairs of few points among many
    forest = RandomForestRegressor(10, max_depth=6, random_state=0)
    forest.fit(X[:1000], X[:1000, 0] * X[:1000, 1] + X[:1000, 2] * X[:1000, 3])
    inspector = HStatistic(FrozenEstimator(forest), pairs=[(0, 1), (3, 4), (1, 2)])
    expected = inspector.fit(X[:100]).transform(X)
    with config_context(working_memory=24):
        peak = peak_memory(lambda: inspector.transform(X))
        assert_allclose(inspector.transform(X), expected, rtol=0, atol=1e-12)
    assert peak < 24 * 2**20 + expected.nbytes
