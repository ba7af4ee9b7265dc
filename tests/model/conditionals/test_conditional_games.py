"""Conditional games against closed forms, integration, loops and direct fits."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import multivariate_normal, norm
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.games.coalitions import all_coalitions, values_of_all
from sklearn_interpret._core.statistics.weighted import student_factor
from sklearn_interpret._model.conditionals.conditional_games import (
    DEPENDENCES,
    ConditionalGame,
    choose_coalitions,
    dependence_error,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.sample import Sample

COVARIANCE = np.array([[2.0, 0.8, -0.5], [0.8, 1.0, 0.3], [-0.5, 0.3, 1.5]])
MEAN = np.array([1.0, -2.0, 0.5])


class Function(RegressorMixin, BaseEstimator):
    """A model that is a function of the columns as numbers; it keeps all rows."""

    def __init__(self, function):
        self.function = function
        self.seen = []

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        self.seen.append(X)
        rows = as_rows(X)
        columns = [
            rows.column_array(j)
            if rows.column_array(j).dtype.kind in "biuf"
            else np.unique(rows.column_array(j).astype(str), return_inverse=True)[1]
            for j in range(rows.n_columns)
        ]
        return self.function(*(column.astype(float) for column in columns))


def make_game(X, function, dependence, *, draws=100, weights=None, **params):
    rows = as_rows(X)
    model = Function(function) if callable(function) else function
    weights = np.ones(rows.n_rows) if weights is None else weights
    players = params.pop("players", [(j,) for j in range(rows.n_columns)])
    return ConditionalGame(
        make_response(model),
        Sample(rows, None, weights),
        draws,
        players,
        dependence=dependence,
        **params,
    )


def values_of(game, rows, coalitions):
    """Values (n_rows, n_coalitions, k) of all rows, and errors of their draws."""
    games = game.games_of_rows(as_rows(rows))
    n_rows, n = games.n_rows, len(coalitions)
    values = games.coalition_values(
        np.repeat(np.arange(n_rows), n), np.tile(coalitions, (n_rows, 1))
    ).reshape(n_rows, n, 1 + game.n_batches, -1)
    if not game.n_batches:
        return values[:, :, 0], 0.0
    spread = values[:, :, 1:].std(axis=2, ddof=1) / np.sqrt(game.n_batches)
    return values[:, :, 0], student_factor(game.n_batches - 1) * spread


def exact_table(n_rows=400, seed=0):
    """Rows whose weighted mean and covariance are exactly these, and weights."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(n_rows, 3)), rng.uniform(0.5, 2.0, n_rows)
    shares = weights / weights.sum()
    X -= shares @ X
    X = np.linalg.solve(np.linalg.cholesky((X.T * shares) @ X), X.T).T
    return MEAN + X @ np.linalg.cholesky(COVARIANCE).T, weights


def conditional_moments(x, present):
    """Mean and covariance of all columns of a normal vector given those present."""
    gain = COVARIANCE[:, present] @ np.linalg.inv(COVARIANCE[np.ix_(present, present)])
    mean = MEAN + gain @ (x - MEAN)[present]
    return mean, COVARIANCE - gain @ COVARIANCE[present]


def test_gaussian_values_of_linear_and_product_functions():
    X, weights = exact_table()
    game = make_game(
        X,
        lambda a, b, c: np.stack([2 * a - b + 3 * c, a * b, np.exp(a / 4) * c], axis=1),
        "gaussian",
        weights=weights,
    )
    rows = X[:5] + 1.0
    coalitions = all_coalitions(3)
    values, errors = values_of(game, rows, coalitions)
    linear, product = np.empty((2, 5, len(coalitions)))
    for i, x in enumerate(rows):
        for j, present in enumerate(coalitions):
            mean, covariance = conditional_moments(x, present)
            linear[i, j] = mean @ [2, -1, 3]
            product[i, j] = mean[0] * mean[1] + covariance[0, 1]
    # Moments of draws are matched: both are exact.
    assert_allclose(values[..., 0], linear, atol=1e-9)
    assert_allclose(values[..., 1], product, atol=1e-9)
    assert_allclose(errors[..., 0], 0, atol=1e-9)
    params = {"weights": weights, "draws": 2**13}
    many = make_game(X, lambda a, b, c: np.exp(a / 4) * c, "gaussian", **params)
    many, _ = values_of(many, rows, coalitions)
    covered = np.abs(values[..., 2] - many[..., 0]) <= 1.96 * errors[..., 2] + 1e-6
    assert covered.mean() > 0.95


def test_grand_and_empty_coalitions():
    X, _ = exact_table()
    present = np.array([[False] * 3, [True] * 3])
    for dependence in sorted(DEPENDENCES):
        game = make_game(X, lambda a, b, c: a * b + c, dependence)
        values, _ = values_of(game, X[:2], present)
        assert_allclose(values[:, 0, 0], game.base_values[0])
        assert_allclose(values[:, 1, 0], X[:2, 0] * X[:2, 1] + X[:2, 2])
        rows = game.games_of_rows(as_rows(X[:2]))
        assert rows.predictions.shape == (2, 1 + game.n_batches)
        assert rows.active.all()
        if dependence in ("neighbors", "regression"):
            assert game.n_batches == 0
            assert_allclose(game.base_values, (X[:, 0] * X[:, 1] + X[:, 2]).mean())
        else:
            assert game.n_batches == 10


def test_present_cells_are_the_rows_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    rows = X[:4] * np.float32(1.1)
    for dependence in ("gaussian", "copula", "neighbors"):
        game = make_game(X, lambda a, b, c: a + b + c, dependence, draws=8)
        seen = game.response.estimator.seen
        seen.clear()
        games = game.games_of_rows(as_rows(rows))
        seen.clear()
        games.coalition_values(np.array([2, 0]), np.array([[1, 0, 1], [0, 1, 0]]) > 0)
        hybrids = np.concatenate(seen).reshape(2, 8, 3)
        assert hybrids.dtype == np.float32
        pairs = sorted(hybrids.tolist(), key=lambda draws: draws[0][1] != rows[0, 1])
        (first, second) = np.array(pairs, dtype=np.float32)
        assert_array_equal(first[:, 1], np.full(8, rows[0, 1]))
        assert_array_equal(second[:, [0, 2]], np.tile(rows[2, [0, 2]], (8, 1)))
        if dependence != "gaussian":
            assert np.isin(first[:, [0, 2]], X).all()


def test_values_do_not_depend_on_batches_or_other_rows():
    X, _ = exact_table(100)
    X[:, 2] = X[:, 2] > 0
    coalitions = all_coalitions(3)
    model = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, X[:, 0] * X[:, 1])
    for dependence in ("gaussian", "copula", "neighbors", "regression"):
        game = make_game(X, model, dependence, draws=12)
        together, _ = values_of(game, X[:6], coalitions)
        with config_context(working_memory=1e-4):
            alone = [values_of(game, X[[i]], coalitions)[0][0] for i in range(6)]
        assert_allclose(together, alone, atol=1e-10)
        again = pickle.loads(pickle.dumps(game))
        assert_allclose(values_of(again, X[:6], coalitions)[0], together, atol=1e-12)


def test_gaussian_whole_numbers_and_booleans():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    Z = rng.multivariate_normal(np.zeros(3), COVARIANCE, 300)
    X = pandas.DataFrame(
        {
            "count": np.maximum(np.rint(Z[:, 0] + 2), 0).astype(np.uint8),
            "flag": Z[:, 1] > 0,
            "real": Z[:, 2].astype(np.float32),
        }
    )
    game = make_game(X, lambda a, b, c: a + b * c, "gaussian", draws=50)
    seen = game.response.estimator.seen
    assert all(frame.dtypes.tolist() == X.dtypes.tolist() for frame in seen)
    drawn = seen[-1]
    assert set(drawn["flag"]) == {True, False}
    assert drawn["count"].min() == 0
    assert drawn["count"].max() <= X["count"].max()
    # Whole rows that are explained in an array of floats.
    values, _ = values_of(game, X.iloc[:3], all_coalitions(3))
    assert np.isfinite(values).all()


def test_gaussian_draws_in_any_container():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    Z = rng.multivariate_normal(np.zeros(3), COVARIANCE, 100)
    X = np.stack([np.rint(Z[:, 0]), Z[:, 1] > 0, Z[:, 2]], axis=1)
    expected = None
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix, polars.DataFrame):
        table = kind(X)
        game = make_game(table, lambda a, b, c: a * c + b, "gaussian", draws=10)
        values, _ = values_of(
            game, as_rows(table).take(np.arange(4)), all_coalitions(3)
        )
        expected = values if expected is None else expected
        assert_allclose(values, expected)
    frame = polars.DataFrame(X, schema=["count", "flag", "real"])
    frame = frame.cast({"count": polars.Int16, "flag": polars.Boolean})
    game = make_game(frame, lambda a, b, c: a * c + b, "gaussian", draws=10)
    values, _ = values_of(game, frame[:4], all_coalitions(3))
    assert np.isfinite(values).all()
    dtypes = {tuple(seen.dtypes) for seen in game.response.estimator.seen}
    assert dtypes == {(polars.Int16, polars.Boolean, polars.Float64)}


def test_gaussian_refuses_what_is_no_number():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"number": np.arange(6.0), "other": list("abcabc")})
    columns = {
        "the dtype": X["other"],
        "the dtype category": X["other"].astype("category"),
        "the dtype datetime": pandas.Series(pandas.date_range("2024-01-01", periods=6)),
        "missing values": pandas.Series([1, np.nan, 2, 3, 4, 5]),
    }
    for message, column in columns.items():
        table = X.assign(other=column)
        with pytest.raises(ValueError, match=f"'other' has {message}.*: use .*copula"):
            make_game(table, lambda a, b: a + b, "gaussian")
    game = make_game(X.assign(other=1.0), lambda a, b: a + b, "gaussian")
    with pytest.raises(ValueError, match="'other' has missing values"):
        game.games_of_rows(as_rows(X.assign(other=np.nan)))


@pytest.mark.parametrize(
    "dependence", ["gaussian", "copula", "neighbors", "regression"]
)
def test_constant_and_collinear_columns(dependence):
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    X = np.stack([z, 2 * z + 1, np.full(300, 5.0), rng.normal(size=300)], axis=1)
    game = make_game(X, lambda a, b, c, d: a + 10 * b + c + d, dependence)
    rows = X[:3].copy()
    rows[2, 2] = 7.0
    active = game.games_of_rows(as_rows(rows)).active
    assert_array_equal(active, [[1, 1, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]])
    coalitions = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]) > 0
    values, _ = values_of(game, rows[:2], coalitions)
    slope, intercept = np.polyfit(z, X[:, 3], 1)
    expected = z[:2] + 10 * X[:2, 1] + 5 + slope * z[:2] + intercept
    tolerance = {"gaussian": 1e-6, "copula": 0.3}.get(dependence, 1.5)
    assert_allclose(values[..., 0], np.tile(expected[:, None], 4), atol=tolerance)


@pytest.mark.parametrize(
    "dependence", ["gaussian", "copula", "neighbors", "regression"]
)
def test_one_feature(dependence):
    X = np.random.default_rng(0).normal(size=(50, 1))
    game = make_game(X, lambda a: a**2, dependence, draws=500)
    games = game.games_of_rows(as_rows(X[:2]))
    nothing = np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=bool)
    assert games.coalition_values(*nothing).shape == (0, len(game.base_values))
    assert abs(game.base_values[0] - (X**2).mean()) < 0.1


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_copula_of_a_number_and_a_flag_agrees_with_integration(rho):
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal(np.zeros(2), [[1, rho], [rho, 1]], 20_000)
    X = np.stack([np.exp(z[:, 0]), z[:, 1] > 0.5], axis=1)
    game = make_game(X, lambda a, b: np.log(a) + 2 * b, "copula", draws=2048)
    rows = np.array([[np.exp(0.7), 1.0], [np.exp(-1.0), 0.0]])
    values, errors = values_of(game, rows, np.eye(2, dtype=bool))
    # Given the number: the probability of the flag. Given the flag: the mean of the
    # latent, by integration over the interval.
    beyond = norm.sf((0.5 - rho * np.array([0.7, -1.0])) / np.sqrt(1 - rho**2))
    upper = norm.expect(lambda u: u, lb=0.5, conditional=True)
    lower = norm.expect(lambda u: u, ub=0.5, conditional=True)
    expected = np.array(
        [[0.7 + 2 * beyond[0], rho * upper + 2], [-1 + 2 * beyond[1], rho * lower]]
    )
    assert_allclose(values[..., 0], expected, atol=0.04)
    assert (errors < 0.04).all()


def test_copula_of_two_flags_agrees_with_the_table():
    joint = multivariate_normal(cov=[[1, 0.7], [0.7, 1]])
    z = joint.rvs(5000, random_state=0)
    X = (z > [0.3, -0.6]).astype(int)
    for kind in (np.asarray, sparse.csr_array):
        game = make_game(kind(X), lambda a, b: a + 10 * b, "copula", draws=512)
        values, _ = values_of(game, kind(X[:50]), np.eye(2, dtype=bool))
        for x, (by_first, by_second) in zip(X[:50], values[..., 0], strict=True):
            first, second = (X[X[:, j] == x[j]] for j in range(2))
            assert abs(by_first - x[0] - 10 * first[:, 1].mean()) < 0.25
            assert abs(by_second - second[:, 0].mean() - 10 * x[1]) < 0.025


def mean_of_all_draws(game, rows):
    """Mean response to the draws given no column."""
    nothing = np.zeros((1, rows.n_columns), dtype=bool)
    located = game.conditional.locate(rows)
    return game.conditional.means(located, np.zeros(1, dtype=int), nothing)[0, 0]


def test_copula_missing_numbers_are_a_level():
    rng = np.random.default_rng(0)
    z = rng.normal(size=2000)
    X = np.stack(
        [np.where(z < -0.5, np.nan, z), z + 0.3 * rng.normal(size=2000)], axis=1
    )
    game = make_game(
        X, lambda a, b: np.stack([b, np.isnan(a)], axis=1), "copula", draws=512
    )
    rows = np.array([[np.nan, 0.0], [1.0, -2.0]])
    values, _ = values_of(game, rows, np.eye(2, dtype=bool))
    assert abs(values[0, 0, 0] - X[np.isnan(X[:, 0]), 1].mean()) < 0.1
    assert abs(values[1, 1, 1] - 1) < 0.05
    # A missing number where none was seen says nothing.
    game = make_game(X[:, [1, 1]], lambda a, b: b, "copula", draws=512)
    values, _ = values_of(game, rows, np.array([[True, False]]))
    assert abs(values[0, 0, 0] - mean_of_all_draws(game, as_rows(rows))) < 1e-9


def frame_of(library):
    rng = np.random.default_rng(0)
    z = rng.normal(size=240)
    columns = {
        "number": z,
        "count": np.rint(np.exp(z)).astype(np.int64),
        "text": np.array(["b", "c", "a"])[np.digitize(z, [-0.5, 0.5])].astype(object),
        "flag": rng.normal(size=240) + z > 0,
        "date": np.datetime64("2024-01-01", "ms")
        + np.rint(z * 100).astype(np.int64) * np.timedelta64(3600_000, "ms"),
        "gaps": np.where(rng.random(240) < 0.2, np.nan, z + rng.normal(size=240)),
    }
    frame = library.DataFrame(columns)
    if library.__name__ == "pandas":
        return frame.astype({"text": "category"})
    return frame.with_columns(library.col("text").cast(library.Enum(["b", "c", "a"])))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("dependence", ["copula", "neighbors", "regression"])
def test_frames_keep_their_dtypes(library, dependence):
    X = frame_of(pytest.importorskip(library))
    game = make_game(X, lambda *columns: columns[0] + columns[2], dependence, draws=16)
    seen = game.response.estimator.seen
    rows = as_rows(X).take(np.arange(5))
    values, _ = values_of(game, rows, choose_coalitions(6, 8, np.random.default_rng(0)))
    assert np.isfinite(values).all()
    for frame in seen:
        assert list(frame.dtypes) == list(X.dtypes)
    # Texts follow the number: with it, values are better than without.
    present = np.array([[True, False, False, False, False, False]])
    values, _ = values_of(game, rows, present)
    expected = rows.numbers(0) + rows.encode([2])[0]
    levels = np.unique(rows.column_array(2).astype(str), return_inverse=True)[1]
    expected = rows.numbers(0) + levels
    assert np.abs(values[:, 0, 0] - expected).mean() < 0.4


def test_unordered_levels_are_ordered_by_other_columns():
    rng = np.random.default_rng(0)
    z = rng.normal(size=1500)
    level = np.digitize(z, [-0.7, 0.7])
    X = np.empty((1500, 2), dtype=object)
    X[:, 0], X[:, 1] = z + 0.2 * rng.normal(size=1500), np.array(["m", "z", "a"])[level]
    game = make_game(X, lambda a, b: a, "copula", draws=256)
    values, _ = values_of(game, X[:20], np.array([[False, True]]))
    means = [X[X[:, 1] == label, 0].mean() for label in X[:20, 1]]
    assert_allclose(values[:, 0, 0], means, atol=0.15)
    # A level that was not seen says nothing.
    new = X[:1].copy()
    new[0, 1] = "new"
    values, _ = values_of(game, new, np.array([[False, True]]))
    assert_allclose(values[0, 0, 0], mean_of_all_draws(game, as_rows(new)))


@pytest.mark.parametrize(
    "dependence", ["gaussian", "copula", "neighbors", "regression"]
)
def test_weights_count_as_copies(dependence):
    rng = np.random.default_rng(0)
    X = np.rint(rng.normal(size=(80, 2)) * 2)
    weights = rng.integers(1, 4, 80)
    copies = np.repeat(X, weights, axis=0)
    if dependence == "regression":
        dependence = LinearRegression()

    def function(a, b):
        return a * b + a

    draws = 10**4 if dependence == "neighbors" else 64
    weighted = make_game(X, function, dependence, weights=weights * 1.0, draws=draws)
    copied = make_game(copies, function, dependence, draws=draws)
    both = [values_of(g, X[:9], np.eye(2, dtype=bool))[0] for g in (weighted, copied)]
    assert_allclose(*both, atol=1e-9)
    assert_allclose(weighted.base_values, copied.base_values, atol=1e-9)


def test_neighbours_against_a_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 2] = np.exp(X[:, 2])
    weights = rng.uniform(0.5, 2, 60)
    game = make_game(
        X, lambda a, b, c: a * b + c, "neighbors", draws=40, weights=weights
    )
    rows, coalitions = rng.normal(size=(4, 3)) ** 2, all_coalitions(3)
    values, _ = values_of(game, rows, coalitions)
    points = np.empty_like(X)
    targets = np.empty_like(rows)
    for j in range(3):
        for table, out in ((X, points), (rows, targets)):
            for i, x in enumerate(table[:, j]):
                shares = weights / weights.sum()
                middle = shares[X[:, j] < x].sum() + shares[X[:, j] == x].sum() / 2
                ends = shares[X[:, j].argmin()] / 2, 1 - shares[X[:, j].argmax()] / 2
                out[i, j] = norm.ppf(np.clip(middle, *ends))
    for i, x in enumerate(rows):
        for k, present in enumerate(coalitions):
            distances = np.sqrt(((points - targets[i])[:, present] ** 2).sum(axis=1))
            nearest = np.argsort(distances)[:40]
            scaled = distances[nearest] / (1.1 * distances[nearest].max())
            kernel = weights[nearest] * (1 - scaled**3) ** 3
            a, b, c = np.where(present, x, X[nearest]).T
            assert_allclose(
                values[i, k, 0], np.average(a * b + c, weights=kernel), atol=1e-6
            )


def test_effective_number_of_neighbours_has_a_floor():
    X = np.zeros((100, 2))
    X[1:, 0] = 1.0 + 1e-6 * np.arange(99)
    X[:, 1] = np.arange(100)
    game = make_game(X, lambda a, b: b == 0, "neighbors", draws=100)
    values, _ = values_of(game, X[:1], np.array([[True, False]]))
    # The row itself, and others that are all much farther.
    assert values[0, 0, 0] < 0.32
    flags = np.tile([[0.0], [1.0]], (50, 2))
    game = make_game(flags, lambda a, b: b, "neighbors", draws=20)
    values, _ = values_of(game, flags[:2], np.array([[True, False]]))
    assert_allclose(values[:, 0, 0], [0, 1])


def test_regressions_against_direct_fits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    weights = rng.uniform(0.5, 2, 120)
    coalitions = all_coalitions(3)

    def function(a, b, c):
        return np.stack([a * b, c + a], axis=1)

    regressor = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=3))
    regressor.set_params(decisiontreeregressor__random_state=0)
    game = make_game(X, function, regressor, weights=weights)
    values, _ = values_of(game, X[:7], coalitions)
    assert len(game.response.estimator.seen) == 2  # the rows of fit, and the others
    for k, present in enumerate(coalitions):
        for output in range(2):
            regressor.fit(
                X[:, present],
                function(*X.T)[:, output],
                decisiontreeregressor__sample_weight=weights,
            )
            expected = regressor.predict(X[:7, present])
            assert_allclose(values[:, k, output], expected)
    assert_allclose(
        game.base_values, np.average(function(*X.T), axis=0, weights=weights)
    )


def test_regressions_are_kept_up_to_a_number(monkeypatch):
    monkeypatch.setattr(
        "sklearn_interpret._model.conditionals.regressions._MOST_FITS", 2
    )
    X = np.random.default_rng(0).normal(size=(30, 3))
    game = make_game(X, lambda a, b, c: a + b, LinearRegression())
    first, _ = values_of(game, X[:2], all_coalitions(3))
    assert len(game.conditional._models) == 2
    again, _ = values_of(game, X[:2], all_coalitions(3))
    assert_allclose(first, again)


def test_regressions_stay_within_the_range_of_responses():
    X = np.random.default_rng(0).normal(size=(30, 2))
    game = make_game(X, lambda a, b: a > 0, LinearRegression(), link="logit")
    values, _ = values_of(game, 10 * X[:5], np.eye(2, dtype=bool))
    assert np.isfinite(values).all()


def sampler(X, columns, n_draws):
    """Means for numbers, with noise; it fills the present columns with nonsense."""
    rng = np.random.default_rng(0)
    table = 1 + rng.normal(size=(len(X) * n_draws, X.shape[1]))
    table[:, columns] = 1e6
    return table


def test_sampler():
    X = np.random.default_rng(0).normal(size=(30, 3))
    asked = []

    def recording(X, columns, n_draws):
        asked.append((len(X), columns, n_draws))
        return sampler(X, columns, n_draws)

    game = make_game(X, lambda a, b, c: a + b * c, recording, draws=200)
    assert asked.pop() == (1, [], 200)
    coalitions = all_coalitions(3)
    values, errors = values_of(game, X[:4], coalitions)
    assert sorted(columns for _, columns, _ in asked) == sorted(
        np.flatnonzero(present).tolist() for present in coalitions
    )
    means = np.where(coalitions, X[:4, None], 1.0)
    expected = means[..., 0] + means[..., 1] * means[..., 2]
    assert (np.abs(values[..., 0] - expected) <= 4 * errors[..., 0] + 1e-12).all()

    def too_few(X, columns, n_draws):
        return sampler(X, columns, n_draws)[1:]

    with pytest.raises(
        ValueError, match=r"dependence must return 200 rows .*\(199, 3\)"
    ):
        make_game(X, lambda a, b, c: a, too_few, draws=200)

    def failing(X, columns, n_draws):
        raise ValueError("no idea")

    with pytest.raises(TypeError, match="dependence cannot be used: no idea"):
        make_game(X, lambda a, b, c: a, failing)


def test_few_draws():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=r"draws once .* at least 4; there are 3"):
        make_game(X, lambda a, b: a, "copula", draws=3)
    assert make_game(X, lambda a, b: a, "copula", draws=4).n_batches == 2
    assert make_game(X, lambda a, b: a, "gaussian", draws=11).n_batches == 5


def test_logit_link_and_batches():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = GradientBoostingClassifier(n_estimators=5, random_state=0)
    model.fit(X, X[:, 0] + rng.normal(size=200) > 0)
    for dependence in ("gaussian", "copula"):
        game = make_game(X, model, dependence, link="logit", draws=12)
        plain = make_game(X, model, dependence, draws=12)
        assert not game.saturated
        games = game.games_of_rows(as_rows(X[:5]))
        index, coalitions = np.arange(5), choose_coalitions(3, 5, rng)
        values = games.coalition_values(index, coalitions)
        means = plain.games_of_rows(as_rows(X[:5])).coalition_values(index, coalitions)
        assert_allclose(values, np.log(means / (1 - means)))
        assert not games.saturated.any()


def test_players_of_several_columns():
    X, _ = exact_table()
    game = make_game(X, lambda a, b, c: a + b + c, "gaussian", players=[(1,), (0, 2)])
    single = make_game(X, lambda a, b, c: a + b + c, "gaussian")
    values, _ = values_of(game, X[:3], np.array([[False, True]]))
    expected, _ = values_of(single, X[:3], np.array([[True, False, True]]))
    assert_allclose(values, expected)


def shapley_values(game, rows):
    """Shapley values (n_rows, n_players), and errors of their draws."""
    games = game.games_of_rows(as_rows(rows))
    coalitions = all_coalitions(3)
    index = np.repeat(np.arange(len(rows)), len(coalitions))
    inner = games.coalition_values(index, np.tile(coalitions, (len(rows), 1)))
    values = []
    for row, inside in enumerate(inner.reshape(len(rows), len(coalitions), -1)):
        ends = game.base_values, games.predictions[row]
        values.append(values_of_all(np.vstack([ends[0], inside, ends[1]])))
    values = np.array(values)
    spread = values[..., 1:].std(axis=2, ddof=1) / np.sqrt(game.n_batches)
    return values[..., 0], student_factor(game.n_batches - 1) * spread


@pytest.mark.parametrize("draws", [4, 8, 20, 100])
@pytest.mark.parametrize("dependence", ["gaussian", "copula"])
def test_errors_of_draws_cover(dependence, draws):
    """From the fewest draws on, intervals hold the value of very many draws."""
    X, _ = exact_table(300)
    X[:, 1] = X[:, 1] > -2

    def function(a, b, c):
        return np.sin(2 * a) * c + b * np.exp(c / 2)

    truth, _ = shapley_values(make_game(X, function, dependence, draws=2**13), X[:5])
    covered = []
    for seed in range(40):
        game = make_game(X, function, dependence, draws=draws, seed=seed)
        values, errors = shapley_values(game, X[:5])
        covered.append(np.abs(values - truth) <= 1.96 * errors)
    assert np.mean(covered) > 0.9


def test_dependence_error_finds_the_better_description():
    rng = np.random.default_rng(0)
    X = np.exp(rng.multivariate_normal(np.zeros(3), COVARIANCE, 600))
    coalitions = choose_coalitions(3, 20, rng)
    assert set(coalitions.sum(axis=1)) == {1, 2}

    def function(a, b, c):
        a, b, c = np.log(np.maximum([a, b, c], 0.01))
        return a * b + c

    errors = {}
    for dependence in ("gaussian", "copula"):
        game = make_game(X[:500], function, dependence, draws=50)
        rows = as_rows(X[500:])
        errors[dependence] = dependence_error(game, rows, coalitions)
        values, _ = values_of(game, rows, coalitions)
        expected = np.mean((function(*X[500:].T)[:, None] - values[..., 0]) ** 2)
        assert_allclose(errors[dependence], expected)
    assert errors["copula"] < 0.8 * errors["gaussian"]
