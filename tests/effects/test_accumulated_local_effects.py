"""Accumulated local effects: definitions by loops, peers, coverage, closed forms."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.exceptions import EmptyIntervalWarning
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.references import categories as categories_reference
from tests.references import effects as reference
from tests.references.models import asker, frozen, rows_of

EXACT = {"rtol": 1e-10, "atol": 1e-10}
LEVELS = ["colour", "town", "new"]


def wave(a, b, c):
    return np.sin(3 * a) + a * b - c**2


def whole_weights(n_rows, smallest=0):
    return np.random.default_rng(3).integers(smallest, 4, n_rows)


def blend(size, rooms, colour, town, new):
    """A response in which everything interacts."""
    shade = np.array([len(name) for name in colour]) + (np.asarray(colour) == "blue")
    place = np.array([ord(name[0]) % 7 for name in town])
    size, rooms, new = (np.asarray(part, dtype=float) for part in (size, rooms, new))
    return np.sin(size * shade) + rooms * place * (1 - 2 * new) + shade**2 * place


def mixed_model(seed=0, n_rows=40):
    """A table of all kinds, a model of it, and that model as a function of a row."""
    X, _ = mixed_frame(n_rows=n_rows, seed=seed)
    return X, frozen(blend, X), lambda row: float(blend(*([value] for value in row))[0])


# First order


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("n_intervals", "centred"), [(1, True), (4, False), (15, True), (200, True)]
)
def test_first_order_of_numbers(n_intervals, weighted, centred):
    X, y = numeric_table(n_rows=40)
    weights = whole_weights(len(X)) if weighted else None
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    effect = ALE(FrozenEstimator(model), n_intervals=n_intervals, centered=centred).fit(
        X, sample_weight=weights
    )
    ask = asker(model, X)
    weights = np.ones(len(X)) if weights is None else weights
    for j, edges in enumerate(effect.edges_):
        expected = reference.first_order_numeric(
            ask, X.tolist(), j, edges, weights, centred=centred
        )
        assert_allclose(effect.effects_[j], expected, **EXACT)


def test_edges_are_inverted_cdf_quantiles_after_the_minimum():
    X, _ = mixed_frame()
    weights = whole_weights(len(X))
    model = frozen(lambda *c: c[0].astype(float), X)
    effect = ALE(model, features=["size", "rooms"], n_intervals=9)
    effect.fit(X, sample_weight=weights)
    for name, edges in zip(["size", "rooms"], effect.edges_, strict=True):
        repeated = np.repeat(X[name].to_numpy(), weights)
        quantiles = np.quantile(repeated, np.arange(1, 10) / 9, method="inverted_cdf")
        assert_array_equal(edges, np.unique(np.r_[repeated.min(), quantiles]))


def test_edges_are_counted_in_whole_numbers():
    """As floats, 11 / 20 of 100 rows is more than 55: the edge is the 55th value."""
    X = np.random.default_rng(0).permutation(np.arange(1.0, 101)).reshape(-1, 1)
    effect = ALE(frozen(lambda a: a), n_intervals=20).fit(X)
    assert_array_equal(effect.edges_[0], [1, *range(5, 101, 5)])
    assert_array_equal(effect.interval_counts_[0], np.full(20, 5))


def test_local_effects_counts_and_spreads():
    X, _ = numeric_table()
    weights = whole_weights(len(X))
    effect = ALE(frozen(wave), n_intervals=6)
    effect.fit(X, sample_weight=weights)
    for j, edges in enumerate(effect.edges_):
        cells = np.array([reference.interval_of(value, edges) for value in X[:, j]])
        for k in range(len(edges) - 1):
            low, high = X[cells == k].copy(), X[cells == k].copy()
            low[:, j], high[:, j] = edges[k], edges[k + 1]
            steps = np.repeat(wave(*high.T) - wave(*low.T), weights[cells == k])
            assert effect.interval_counts_[j][k] == len(steps)
            assert effect.local_effects_[j][k] == pytest.approx(steps.mean(), abs=1e-12)
            found = effect.local_effects_std_[j][k]
            assert found == pytest.approx(steps.std(), abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("feature", LEVELS)
def test_first_order_of_categories(feature, weighted):
    X, model, ask = mixed_model()
    weights = whole_weights(len(X), smallest=1) if weighted else np.ones(len(X))
    effect = ALE(model, features=[feature])
    effect.fit(X, sample_weight=weights)
    (levels,) = effect.edges_
    expected = reference.first_order_levels(
        ask, rows_of(X), list(X.columns).index(feature), list(levels), weights
    )
    assert_allclose(effect.effects_[0], expected, **EXACT)
    counts = [weights[(X[feature] == level).to_numpy()].sum() for level in levels]
    assert_allclose(effect.interval_counts_[0], counts)


def test_first_order_of_several_classes():
    X, y = numeric_table(n_rows=40)
    model = LogisticRegression().fit(X, classes(y, 3))
    effect = ALE(FrozenEstimator(model), n_intervals=5).fit(X)
    for output in range(3):
        ask = asker(model, X, "predict_proba", output)
        expected = reference.first_order_numeric(
            ask, X.tolist(), 0, effect.edges_[0], np.ones(len(X))
        )
        assert_allclose(effect.effects_[0][output], expected, **EXACT)
    assert effect.transform(X).shape == (len(X), 9)


# Second order


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_second_order_of_numbers(seed, weighted):
    X, y = numeric_table(n_rows=40, seed=seed)
    weights = whole_weights(len(X)) if weighted else np.ones(len(X))
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    effect = ALE(FrozenEstimator(model), features=[(0, 2), (1, 0)], n_intervals=7).fit(
        X, sample_weight=weights
    )
    ask = asker(model, X)
    for entry, pair in enumerate([(0, 2), (1, 0)]):
        axes = [("edges", edges) for edges in effect.edges_[entry]]
        assert np.isnan(effect.local_effects_[entry]).any()  # empty cells
        expected = reference.second_order(ask, X.tolist(), pair, axes, weights)
        assert_allclose(effect.effects_[entry], expected, **EXACT)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "pair",
    [("size", "colour"), ("town", "rooms"), ("colour", "town"), ("new", "colour")],
)
def test_second_order_with_categories(pair, seed, weighted):
    X, model, ask = mixed_model(seed, n_rows=24)
    weights = whole_weights(len(X), smallest=1) if weighted else np.ones(len(X))
    effect = ALE(model, features=[pair], n_intervals=6).fit(X, sample_weight=weights)
    columns = [list(X.columns).index(name) for name in pair]
    axes = [
        ("levels" if name in LEVELS else "edges", list(values))
        for name, values in zip(pair, effect.edges_[0], strict=True)
    ]
    expected = reference.second_order(ask, rows_of(X), columns, axes, weights)
    assert_allclose(effect.effects_[0], expected, **EXACT)


def test_of_equally_near_steps_an_empty_one_takes_the_first():
    names = "abcdef"
    X = pd.DataFrame({"one": list(names), "two": list(names)})
    table = dict(enumerate(np.random.default_rng(0).normal(size=(6, 6))))

    def formula(one, two):
        pairs = zip(one, two, strict=True)
        return np.array([table[names.index(a)][names.index(b)] for a, b in pairs])

    effect = ALE(frozen(formula, X), features=[(0, 1)], categorical_order="sorted").fit(
        X
    )
    assert np.isnan(effect.local_effects_[0]).sum() == 12
    axes = [("levels", list(names))] * 2
    expected = reference.second_order(
        lambda row: formula(*row)[0], rows_of(X), (0, 1), axes, np.ones(6)
    )
    assert_allclose(effect.effects_[0], expected, **EXACT)


def test_a_product_of_independent_features():
    rng = np.random.default_rng(0)
    side = np.sort(rng.random(30))
    X = np.array([[a, b] for a in side for b in side])
    effect = ALE(frozen(lambda a, b: a * b), features=[(0, 1)], n_intervals=5).fit(X)
    one, two = effect.edges_[0]
    # (a - c)(b - d), with c and d the means of the intervals' middles.
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in (one, two)]
    c, d = (middle @ np.full(5, 0.2) for middle in middles)
    expected = np.outer(one - c, two - d)
    assert_allclose(effect.effects_[0], expected, **EXACT)


# Centring where every distinct value is an edge


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
def test_a_rare_flag_is_centred_like_the_levels_that_it_has(container):
    """y = 2 rare + x: the effect of the flag has mean zero over the rows (PyALE's)."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.permutation(np.arange(200) < 9), rng.normal(size=200)].astype(float)
    model = frozen(lambda rare, x: 2 * rare.astype(float) + x.astype(float))
    share = 9 / 200
    number = ALE(model, features=[0]).fit(container(X))
    assert_allclose(number.effects_[0], [-2 * share, 2 - 2 * share], **EXACT)
    assert_allclose(number.transform(container(X)).mean(), 0, atol=1e-12)
    level = ALE(model, features=[0], categorical_features=[0]).fit(container(X))
    assert_allclose(level.effects_[0], number.effects_[0], **EXACT)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_flag_as_a_number_is_the_flag_as_a_category(weighted):
    """Effects of all orders, their errors and importances; no other feature moves."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.random(60) < 0.2, rng.normal(size=60), rng.random(60) < 0.5] * 1.0
    weights = whole_weights(len(X)) if weighted else None
    model = frozen(lambda a, b, c: (1 + a) * np.sin(b) + 2 * a * c)
    features = [0, (0, 1), (0, 2), (1, 2)]
    fits = [
        ALE(
            model, features=features, categorical_features=levels, confidence_level=0.9
        ).fit(X, sample_weight=weights)
        for levels in (None, [0, 2])
    ]
    number, level = fits
    for name in ("effects_", "local_effects_"):
        pairs = zip(getattr(number, name), getattr(level, name), strict=True)
        for of_number, of_level in pairs:
            assert_allclose(of_number, of_level, **EXACT)
    assert_allclose(number.standard_errors_[0], level.standard_errors_[0], **EXACT)
    assert_allclose(number.intervals_low_[0], level.intervals_low_[0], **EXACT)
    assert_allclose(number.feature_importances_, level.feature_importances_, **EXACT)


def test_effects_of_counts_have_mean_zero_over_the_rows():
    """By each row's own value; with rows between edges, by the intervals' middles."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.geometric(0.4, size=300).clip(0, 5), rng.normal(size=300)]
    weights = whole_weights(len(X))
    model = frozen(lambda a, b: np.sqrt(a) + a * b)
    for params in ({}, {"custom_values": {0: np.unique(X[:, 0])}}):
        effect = ALE(model, features=[0, (0, 1)], **params)
        own = effect.fit(X, sample_weight=weights).transform(X)[:, 0]
        assert np.average(own, weights=weights) == pytest.approx(0, abs=1e-12)
    few = ALE(model, features=[0], n_intervals=3).fit(X, sample_weight=weights)
    middles = (few.effects_[0][1:] + few.effects_[0][:-1]) / 2
    assert few.interval_counts_[0] @ middles == pytest.approx(0, abs=1e-9)


def test_rows_outside_of_edges_do_not_count_in_the_mean():
    X = np.repeat([0.0, 1.0, 5.0, np.nan], [6, 2, 3, 1])[:, None]
    effect = ALE(HistGradientBoostingRegressor(), custom_values={0: [0.0, 1.0]})
    effect.fit(X, np.arange(12.0))
    assert effect.n_missing_ == [4]
    assert effect.effects_[0] @ [6, 2] == pytest.approx(0, abs=1e-12)


# Order of levels


@pytest.mark.thorough
def test_the_order_by_similarity():
    for seed in range(5):
        X, y = mixed_frame(n_rows=80, seed=seed)
        weights = whole_weights(len(X), smallest=1)
        model = encoded(LinearRegression())
        effect = ALE(model, features=["colour"])
        effect.fit(X, y, sample_weight=weights)
        levels = ["red", "green", "blue", "amber"]
        codes = np.array([levels.index(colour) for colour in X["colour"]])
        distances = np.zeros((4, 4))
        for a, b in np.ndindex(4, 4):
            for name in ("size", "rooms"):
                values = X[name].to_numpy(dtype=float)
                points = np.quantile(
                    np.repeat(values, weights),
                    np.arange(1, 101) / 100,
                    method="inverted_cdf",
                )
                distances[a, b] += categories_reference.kolmogorov_smirnov(
                    codes, values, weights, a, b, points
                )
            for name in ("town", "new"):
                distances[a, b] += categories_reference.total_variation(
                    codes, X[name].to_numpy(), weights, a, b
                )
        place = categories_reference.first_coordinate(distances)
        found = [levels.index(colour) for colour in effect.edges_[0]]
        assert found in (list(np.argsort(place)), list(np.argsort(-place)))
        # Of the two directions the one with the first level on the low side.
        assert place[0] * (place[found[0]] - place[found[-1]]) >= 0


def test_given_and_sorted_orders():
    X, model, ask = mixed_model()
    order = ["blue", "red", "amber", "green"]
    given = ALE(
        model, features=["colour", "town"], categorical_order={"colour": order}
    ).fit(X)
    assert list(given.edges_[0]) == order
    expected = reference.first_order_levels(ask, rows_of(X), 2, order, np.ones(len(X)))
    assert_allclose(given.effects_[0], expected, **EXACT)
    by_similarity = ALE(model, features=["town"])
    assert_array_equal(given.edges_[1], by_similarity.fit(X).edges_[0])
    plain = ALE(model, features=["colour", "town"], categorical_order="sorted").fit(X)
    # A category's own order is that of its dtype, a string's the alphabet.
    assert list(plain.edges_[0]) == ["red", "green", "blue", "amber"]
    assert list(plain.edges_[1]) == ["Aalen", "Ulm", "Wien"]


def test_ordered_categories_keep_their_order():
    X, y = mixed_frame()
    X["colour"] = X["colour"].cat.reorder_categories(
        ["amber", "red", "green", "blue"], ordered=True
    )
    model = encoded(DecisionTreeRegressor(random_state=0)).fit(X, y)
    effect = ALE(FrozenEstimator(model), features=["colour", "new"])
    effect.fit(X)
    assert list(effect.edges_[0]) == ["amber", "red", "green", "blue"]
    assert list(effect.edges_[1]) == [False, True]


def test_levels_that_the_data_lacks_are_left_out():
    X, y = mixed_frame()
    X["colour"] = X["colour"].cat.add_categories(["violet"])
    effect = ALE(
        encoded(LinearRegression()),
        features=["colour"],
        categorical_order={"colour": ["violet", "red", "green", "blue", "amber"]},
    ).fit(X, y)
    assert list(effect.edges_[0]) == ["red", "green", "blue", "amber"]


# Peers, where they are installed


def pyale(X, model, names, **params):
    """Effects by PyALE, which warns of what it imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ale = pytest.importorskip("PyALE").ale
        return ale(X, model, names, plot=False, include_CI=False, **params)


@pytest.mark.parametrize("names", ["a", "b", "c", ("a", "b")])
def test_pyale_on_numbers(names):
    X, y = numeric_table(n_rows=200)
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    params = {"feature_type": "continuous", "grid_size": 8}
    theirs = pyale(X, model, list(names), **params)
    custom, values = {"a": theirs.index, "b": theirs.columns}, theirs
    if isinstance(names, str):
        custom, values = {names: theirs.index}, theirs["eff"]
    effect = ALE(FrozenEstimator(model), features=[names], custom_values=custom).fit(X)
    assert_allclose(effect.effects_[0], values, **EXACT)
    if isinstance(names, str):
        assert_array_equal(effect.interval_counts_[0], theirs["size"].iloc[1:])


def test_pyale_on_categories():
    X, _ = mixed_frame(n_rows=100)
    X = X[["size", "rooms", "colour"]].assign(rooms=X["rooms"].astype(float))
    X["colour"] = pd.Categorical(X["colour"], X["colour"].cat.categories, ordered=True)
    codes = {level: place for place, level in enumerate(X["colour"].cat.categories)}

    def formula(size, rooms, colour):
        place = np.array([codes.get(level, level) for level in colour], dtype=float)
        return size * np.sin(place) + rooms * place

    model = frozen(formula, X)
    params = {"feature_type": "categorical", "encode_fun": lambda column: column}
    theirs = pyale(X.copy(), model, ["colour"], predictors=list(X.columns), **params)
    effect = ALE(model, features=["colour"]).fit(X)
    assert list(theirs.index) == list(effect.edges_[0])
    assert_allclose(effect.effects_[0], theirs["eff"], **EXACT)


# Confidence bands


def product(a, b):
    return a * b


def sample_of(rng, n_rows):
    """A feature, and a dependent one that sets its slope."""
    a = rng.random(n_rows)
    return np.c_[a, 1 + a + rng.normal(size=n_rows)]


def covered(effect, truth):
    (low,), (high,) = effect.intervals_low_, effect.intervals_high_
    return (low <= truth) & (truth <= high)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "n_samples"), [("standard_error", 300), ("bootstrap", 200)]
)
def test_coverage(method, n_samples):
    """Of E[b | a] summed up over given edges.

    Standard errors take the rows in each interval as given; the bootstrap draws anew
    what is centred by, too.
    """
    rng = np.random.default_rng(0)
    edges = np.linspace(0, 1, 6)
    slopes = 1 + (edges[:-1] + edges[1:]) / 2
    uncentred = np.r_[0, np.cumsum(slopes * 0.2)]
    middles = (uncentred[1:] + uncentred[:-1]) / 2
    params = {"features": [0], "custom_values": {0: edges}, "confidence_level": 0.9}
    params |= {"confidence_method": method, "n_bootstraps": 60}
    hits = []
    for seed in range(n_samples):
        X = sample_of(rng, 150)
        X[:2, 0] = 0, 1
        effect = ALE(frozen(product), random_state=seed, **params).fit(X)
        counts = effect.interval_counts_[0]
        shares = (
            counts / counts.sum() if method == "standard_error" else np.full(5, 0.2)
        )
        hits.append(covered(effect, uncentred - shares @ middles))
    # Three binomial standard errors of 0.9.
    assert_allclose(np.mean(hits, axis=0), 0.9, atol=0.9 / np.sqrt(n_samples))


@pytest.mark.thorough
def test_coverage_by_standard_errors_over_levels():
    """A level's rows take part in two steps, so that the steps are correlated."""
    rng = np.random.default_rng(0)
    names = np.array(list("pqrs"))
    hits = []
    for _ in range(300):
        codes = np.repeat(np.arange(4), 40)
        X = pd.DataFrame({"level": names[codes], "b": 1 + rng.normal(size=160)})
        effect = ALE(
            frozen(levelled, X),
            features=["level"],
            categorical_order="sorted",
            confidence_level=0.9,
        ).fit(X)
        hits.append(covered(effect, np.arange(4) - 1.5))
    assert_allclose(np.mean(hits, axis=0), 0.9, atol=0.052)


def levelled(level, b):
    return np.array(["pqrs".index(name) for name in level]) * b.astype(float)


@pytest.mark.thorough
def test_bands_of_the_bootstrap_are_the_quantiles_of_refits():
    X, _ = numeric_table(n_rows=50)
    params = {"features": [0, (0, 1)], "n_intervals": 4}
    effect = ALE(
        frozen(wave),
        confidence_level=0.8,
        confidence_method="bootstrap",
        n_bootstraps=300,
        random_state=0,
        **params,
    ).fit(X)
    edges = effect.edges_[0]
    rng = np.random.default_rng(1)
    draws = [[], []]
    for _ in range(300):
        times = np.bincount(rng.integers(50, size=50), minlength=50)
        again = ALE(
            frozen(wave), custom_values={0: edges, 1: effect.edges_[1][1]}, **params
        ).fit(X, sample_weight=times)
        for kept, found in zip(draws, again.effects_, strict=True):
            kept.append(found)
    for entry in (0, 1):
        width = np.ptp(effect.effects_[entry])
        low, high = np.quantile(draws[entry], [0.1, 0.9], axis=0)
        assert_allclose(effect.intervals_low_[entry], low, atol=0.15 * width)
        assert_allclose(effect.intervals_high_[entry], high, atol=0.15 * width)
    first = effect.intervals_low_[0]
    assert (effect.set_params(random_state=1).fit(X).intervals_low_[0] != first).any()


def test_standard_error_bands_by_hand():
    X, _ = numeric_table()
    weights = whole_weights(len(X), smallest=1)
    effect = ALE(
        frozen(wave), features=[0, (0, 1)], n_intervals=3, confidence_level=0.95
    ).fit(X, sample_weight=weights)
    (edges, *_), counts = effect.edges_, effect.interval_counts_[0]
    errors = effect.local_effects_std_[0] / np.sqrt(counts - 1)
    # effect_m = sum_{k < m} step_k - sum_k (counts_k / n) (effect_k + effect_{k+1}) / 2
    accumulate = np.tri(4, 3, -1)
    operator = (
        accumulate - counts / counts.sum() @ (accumulate[1:] + accumulate[:-1]) / 2
    )
    expected = 1.959963984540054 * np.sqrt(operator**2 @ errors**2)
    assert_allclose(effect.intervals_high_[0] - effect.effects_[0], expected, **EXACT)
    assert_allclose(effect.effects_[0] - effect.intervals_low_[0], expected, **EXACT)
    assert effect.intervals_low_[1] is None
    assert effect.intervals_high_[1] is None
    assert len(edges) == 4


def test_standard_errors_of_counts_follow_their_centring():
    """The effect at a count is linear in the steps; the mean is over the rows."""
    rng = np.random.default_rng(0)
    X = np.c_[np.repeat([0, 1, 2, 3], [40, 30, 20, 15]), rng.normal(size=105)] * 1.0
    effect = ALE(frozen(product), features=[0]).fit(X)
    errors = effect.local_effects_std_[0] / np.sqrt(effect.interval_counts_[0] - 1)
    accumulate = np.tri(4, 3, -1)
    operator = accumulate - [40 / 105, 30 / 105, 20 / 105, 15 / 105] @ accumulate
    expected = np.sqrt(operator**2 @ errors**2)
    assert_allclose(effect.standard_errors_[0], expected, **EXACT)


# Empty intervals and missing values


def test_empty_intervals_of_custom_edges_warn():
    X, _ = numeric_table()
    edges = [-10.0, -9.0, 0.0, 9.0, 10.0]
    effect = ALE(frozen(wave), features=[0], custom_values={0: edges})
    with pytest.warns(EmptyIntervalWarning, match=r"2 intervals .*'x0'"):
        effect.fit(X)
    assert effect.local_effects_[0][0] == effect.local_effects_[0][3] == 0
    expected = reference.first_order_numeric(
        lambda row: float(wave(*row)), X.tolist(), 0, edges, np.ones(len(X))
    )
    assert_allclose(effect.effects_[0], expected, **EXACT)


def test_rows_without_a_value_or_outside_are_left_out_and_counted():
    X, y = numeric_table(n_rows=80)
    X[:6, 0] = np.nan
    weights = whole_weights(len(X), smallest=1)
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    effect = ALE(
        FrozenEstimator(model),
        features=[0, 1, (0, 2)],
        n_intervals=5,
        custom_values={1: [-0.5, 0.0, 0.5]},
    ).fit(X, sample_weight=weights)
    outside = (X[:, 1] < -0.5) | (X[:, 1] > 0.5)
    missing = weights[:6].sum()
    assert_array_equal(effect.n_missing_, [missing, weights[outside].sum(), missing])
    complete = ALE(
        FrozenEstimator(model),
        features=[0, (0, 2)],
        n_intervals=5,
        custom_values={2: effect.edges_[2][1]},
    ).fit(X[6:], sample_weight=weights[6:])
    assert_array_equal(effect.edges_[0], complete.edges_[0])
    assert_allclose(effect.effects_[0], complete.effects_[0], **EXACT)
    assert_allclose(effect.effects_[2], complete.effects_[1], **EXACT)
    inside = ALE(
        FrozenEstimator(model), features=[1], custom_values={1: [-0.5, 0.0, 0.5]}
    ).fit(X[~outside], sample_weight=weights[~outside])
    assert_allclose(effect.effects_[1], inside.effects_[0], **EXACT)
    assert np.isnan(effect.transform(X)[:6, 0]).all()


# New rows, weights, invariances, closed forms


def test_transform_is_the_effect_at_the_rows():
    X, model, _ = mixed_model()
    effect = ALE(model, features=["size", "colour", ("size", "rooms")]).fit(X)
    found = effect.transform(X)
    assert_allclose(
        found[:, 0], np.interp(X["size"], effect.edges_[0], effect.effects_[0])
    )
    by_level = dict(zip(effect.edges_[1], effect.effects_[1], strict=True))
    assert_array_equal(found[:, 1], [by_level[c] for c in X["colour"]])
    assert list(effect.get_feature_names_out()) == ["size", "colour"]
    assert_allclose(
        effect.feature_importances_, [found[:, 0].std(), 0, found[:, 1].std(), 0, 0]
    )


def test_of_an_additive_model_it_is_the_partial_dependence_up_to_a_constant():
    X, _ = mixed_frame()

    def formula(size, rooms, colour, town, new):
        places = np.array([len(name) for name in colour], dtype=float)
        return np.exp(size.astype(float)) + places**2 + 3.0 * new.astype(float)

    model = frozen(formula, X)
    features = ["size", "colour", "new"]
    local = ALE(model, features=features).fit(X)
    average = PartialDependence(
        model,
        features=features,
        custom_values=dict(zip(features, local.edges_, strict=True)),
    ).fit(X)
    for ours, theirs in zip(local.effects_, average.average_, strict=True):
        assert np.ptp(ours - theirs) == pytest.approx(0, abs=1e-10)


def test_automatic_intervals_leave_pairs_categories_and_edges_as_they_are():
    """Nothing is chosen where no feature alone has intervals of its own."""
    X, model, _ = mixed_model()
    for features, custom in (
        ([("size", "rooms")], None),
        (["colour"], None),
        (["size"], {"size": [-1.0, 0.0, 1.0]}),
        (["colour", ("rooms", "town")], None),
    ):
        params = {"features": features, "custom_values": custom}
        auto = ALE(model, n_intervals="auto", **params).fit(X)
        plain = ALE(model, **params).fit(X)
        for found, expected in zip(auto.effects_, plain.effects_, strict=True):
            assert_array_equal(found, expected)


# What the model is sent


@pytest.mark.parametrize("n_intervals", [3, 40, 400])
def test_two_rows_for_a_number_four_for_a_pair(n_intervals):
    X, _ = numeric_table(n_rows=70)
    for features, times in (([0], 2), (None, 6), ([(0, 1)], 4), ([1, (0, 2)], 6)):
        model = frozen(wave)
        ALE(model, features=features, n_intervals=n_intervals).fit(X)
        assert sum(model.estimator.sizes_) == times * 70
        assert len(model.estimator.sizes_) <= 3


def test_three_rows_for_a_category():
    X, _ = mixed_frame(n_rows=50)
    for features, times in (
        (["colour"], 3),
        (["colour", "town", "new"], 9),
        ([("size", "colour")], 6),
        ([("town", "colour")], 9),
    ):
        model = frozen(lambda *columns: columns[0].astype(float), X)
        ALE(model, features=features).fit(X)
        assert sum(model.estimator.sizes_) == times * 50
        assert len(model.estimator.sizes_) == len(features)


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.InspectionWarning")
def test_constant_features_keep_the_axis_of_outputs():
    X, y = np.ones((12, 2)), np.arange(12) % 3
    ale = ALE(LogisticRegression(), confidence_level=0.9).fit(X, y)
    assert [effect.shape for effect in ale.effects_] == [(3, 1), (3, 1)]
    assert [low.shape for low in ale.intervals_low_] == [(3, 1), (3, 1)]
    assert ale.transform(X).shape == (12, 6)


@pytest.mark.parametrize("n_rows, n_intervals", [(30, 4), (731, 8), (16001, 40)])
def test_pairs_have_fewer_intervals_where_rows_are_few(n_rows, n_intervals):
    """About ten rows to a cell; single features keep 40 intervals."""
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    model = LinearRegression().fit(X, X[:, 0])
    ale = ALE(FrozenEstimator(model), features=[0, (0, 1)]).fit(X)
    assert len(ale.edges_[0]) == min(40, n_rows) + 1 - (n_rows < 40)
    assert [len(edges) for edges in ale.edges_[1]] == [n_intervals + 1] * 2
