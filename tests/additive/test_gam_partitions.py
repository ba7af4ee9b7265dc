"""Additive models of rows in partitions are those of the rows in memory."""

import pickle
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone

from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.exceptions import (
    ExtrapolationWarning,
    OverdispersionWarning,
    SeparationWarning,
)
from sklearn_interpret.partitions import RowBatches
from tests.partitions import in_batches

N_ROWS = 1200


def table():
    """Numbers of many and of few values, levels, and what targets depend on."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((N_ROWS, 3)), columns=list("abc"))
    X["few"] = rng.integers(0, 20, N_ROWS) / 10
    X["town"] = rng.choice(["u", "v", "w"], N_ROWS)
    score = np.sin(6 * X["a"]) + X["b"] + (X["town"] == "u") + X["few"] / 3
    return X, score.to_numpy(), rng


X, SCORE, RNG = table()
NOISE = RNG.normal(size=N_ROWS) / 2
NORMAL, COUNTS = SCORE + NOISE, RNG.poisson(np.exp(SCORE)).astype(np.float64)
WIDE = RNG.poisson(np.exp(SCORE) * RNG.gamma(1.5, 1 / 1.5, N_ROWS)).astype(np.float64)
# Surfaces that vanish have no digits to compare.
SURFACES = NORMAL + np.cos(5 * X["a"] * X["few"]) * (X["b"] - 0.5)
WEIGHTS = RNG.uniform(0.5, 2, N_ROWS) * (RNG.random(N_ROWS) < 0.9)
CLASSES = RNG.random(N_ROWS) < expit(SCORE - 1)
THREE = np.array(["p", "q", "r"])[np.digitize(NORMAL, [0.5, 1.5])]
MIXED = {"a": "spline", "b": "linear", "few": "spline", "town": "category"}
LACKING = X.assign(
    a=X["a"].mask(X["b"] < 0.1), town=X["town"].where(X["b"] > 0.2, None)
)
CASES = {
    "normal": (GAMRegressor(), NORMAL),
    "weights": (GAMRegressor(), NORMAL, WEIGHTS),
    "poisson": (GAMRegressor(family="poisson", terms=["a", "few"]), COUNTS),
    "gamma": (GAMRegressor(family="gamma", terms=["a", "town"]), np.exp(NORMAL)),
    "log link": (GAMRegressor(link="log", terms=["a", "b"]), np.exp(SCORE) + NOISE),
    "quasi": (GAMRegressor(family="quasipoisson", terms=["a"]), WIDE),
    "theta": (GAMRegressor(family="negative_binomial", terms=["a"]), WIDE),
    "trials": (
        GAMRegressor(family="binomial", terms=["a", "b"]),
        expit(NORMAL),
        1 + WEIGHTS,
    ),
    "offset": (GAMRegressor(terms=MIXED, offset="c"), NORMAL + 1e6),
    "offset of counts": (
        GAMRegressor(terms=MIXED, offset="c", family="poisson"),
        COUNTS,
    ),
    "pairs": (
        GAMRegressor(terms=["a", ("a", "few"), ("b", "town")], n_splines=6),
        SURFACES,
    ),
    "by": (GAMRegressor(terms=["a", "b", "town"], by={"a": "town", "b": "c"}), NORMAL),
    "monotonic": (GAMRegressor(terms=["a", "b"], monotonic_cst={"b": 1}), NORMAL),
    "quantiles": (GAMRegressor(terms=["a", "few"], knots="quantile"), NORMAL),
    "weighted quantiles": (
        GAMRegressor(terms=["a", ("a", "b")], knots="quantile", n_splines=6),
        SURFACES,
        WEIGHTS,
    ),
    "cyclic": (GAMRegressor(terms={"a": "cyclic"}, periods={"a": 1}), NORMAL),
    "cross-validation": (GAMRegressor(terms=["a", "b"], smoothing="gcv"), NORMAL),
    "known smoothing": (GAMRegressor(smoothing=2.0), NORMAL),
    "missing": (GAMRegressor(missing="level", terms=["a", "town"]), NORMAL),
    "classes": (GAMClassifier(terms=["a", "b", "town"]), CLASSES),
    "three classes": (GAMClassifier(terms=["a", "b"]), THREE),
}


class PickledBatches(RowBatches):
    """Batches whose functions and results are pickled, as for other processes."""

    n_passes = 0

    def map_reduce(self, function, merge, columns=None):
        self.n_passes += 1
        function = pickle.loads(pickle.dumps(function))
        return super().map_reduce(
            lambda *args: pickle.loads(pickle.dumps(function(*args))), merge, columns
        )


def fitted(name, n_partitions):
    """The model of a case; of no partitions, that of the rows in memory."""
    model, y, weights = (*CASES[name], None)[:3]
    rows = LACKING if name == "missing" else X
    if n_partitions == 0:
        return clone(model).fit(rows, y, weights)
    batches = in_batches(rows, y, weights, n_partitions)
    return clone(model).fit(PickledBatches(batches.source))


fitted_in_memory = cache(fitted)


def assert_same(found, expected, rows, *, tol=1e-12):
    """Assert that two models are the same, up to the order in which sums are added."""

    def assert_close(ours, theirs, scale=None):
        scale = np.max(np.abs(theirs)) if scale is None else scale
        assert_allclose((ours - theirs) / scale, 0, atol=tol)

    assert_close(found.transform(rows), expected.transform(rows))
    assert_close(found.intercept_, expected.intercept_)
    for name in ("deviance_explained_", "dispersion_", "scale_", "residual_dof_"):
        assert_close(getattr(found, name), getattr(expected, name))
    assert_close(found.effective_dof_, expected.effective_dof_)
    assert_close(found.reml_, expected.reml_)
    assert_close(found.statistics_, expected.statistics_, expected.statistics_)
    # A relative change of a statistic is that of the logarithm of its p-value.
    logs = [np.log(np.maximum(m.pvalues_, 1e-300)) for m in (found, expected)]
    assert_close(*logs, 1 + np.abs(logs[1]))
    # Where the criterion is flat, its rounding moves the smoothing parameters of
    # surfaces that have vanished, and nothing else.
    assert_allclose(found.smoothing_, expected.smoothing_, rtol=1e-8)
    for term in range(len(expected.term_names_)):
        assert_close(*(m.partial_effect(term)[2] for m in (found, expected)))
    assert_close(*(np.sqrt(m._covariances[:, 0, 0]) for m in (found, expected)))
    for one, other in zip(found._terms, expected._terms, strict=True):
        assert_array_equal(
            [c.gaps for c in one.columns], [c.gaps for c in other.columns]
        )


@pytest.mark.thorough(after=2)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.InspectionWarning")
@pytest.mark.parametrize(
    ("name", "n_partitions"),
    [
        *product(CASES, [7]),
        *product(["weights", "poisson", "gamma", "missing"], [1, 2, 64]),
        *product(["quantiles", "classes"], [1, 64]),
    ],
)
def test_equals_the_fit_in_memory(name, n_partitions):
    found, expected = fitted(name, n_partitions), fitted_in_memory(name, 0)
    # The shape theta is the minimum of a loss of some thousands, which steps of 1e-5
    # change by 1e-9 alone: its rounding of 1e-12 is 1e-3 of the last step.
    tol = 2e-11 if name == "theta" else 1e-12
    assert_same(found, expected, LACKING if name == "missing" else X, tol=tol)
    assert found.n_iter_ == expected.n_iter_
    assert found.term_names_.tolist() == expected.term_names_.tolist()
    if name == "theta":
        assert found.theta_ == pytest.approx(expected.theta_, rel=tol)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("name", ["normal", "quantiles", "gamma", "three classes"])
def test_numbers_of_passes(name):
    model, y = CASES[name]
    batches = PickledBatches(in_batches(X, y, None, 3).source)
    model = clone(model).fit(batches)
    if name == "three classes":
        assert batches.n_passes <= 2 + 3 * (model.n_iter_ + 2)
        return
    own = {"normal": 1, "quantiles": 4, "gamma": model.n_iter_ + 2}
    assert batches.n_passes == 2 + own[name]


def halves(X, y, at):
    """Two partitions, and an empty one between them."""
    parts = [(X[:at], y[:at]), (X[:0], y[:0]), (X[at:], y[at:])]
    return RowBatches(lambda: iter(parts))


@pytest.mark.parametrize("dtype", [object, "category"])
def test_levels_differ_between_partitions(dtype):
    rng = np.random.default_rng(1)
    town = np.concatenate([rng.choice(["b", "d"], 700), rng.choice(["a", "d"], 700)])
    y = rng.normal(size=1400) + (town == "a")
    frame = pd.DataFrame({"town": pd.Series(town).astype(dtype)})
    parts = [(frame[:700], y[:700]), (frame[700:], y[700:])]
    if dtype == "category":
        cut = [rows["town"].cat.remove_unused_categories() for rows, _ in parts]
        parts = [
            (pd.DataFrame({"town": c}), y) for c, (_, y) in zip(cut, parts, strict=True)
        ]
    found = GAMRegressor().fit(RowBatches(lambda: iter(parts)))
    expected = GAMRegressor().fit(frame, y)
    assert found.partial_effect("town")[0].tolist() == ["a", "b", "d"]
    assert_same(found, expected, frame)


def test_what_no_partition_shows_alone():
    """Many different values, gaps, and missing values are of all partitions."""
    rng = np.random.default_rng(2)
    few = np.repeat(np.arange(400.0), 4)  # 200 values in each of two partitions
    gap = rng.random(1600) / 3 + (np.arange(1600) >= 800) * 2 / 3
    lacking = rng.random(1600)
    lacking[1000:1100] = np.nan
    X = np.column_stack([few, gap, lacking])
    y = np.sin(few / 50) + rng.normal(size=1600)
    model = GAMRegressor(missing="level")
    found, expected = clone(model).fit(halves(X, y, 800)), clone(model).fit(X, y)
    assert_same(found, expected, X)
    assert expected._terms[1].columns[0].gaps.shape == (1, 2)
    with pytest.warns(ExtrapolationWarning, match="'x1' in 1 of 1"):
        found.predict([[3.0, 0.5, 0.5]])


def test_few_rows():
    """In memory, equal rows are one; in partitions they are not."""
    X, y = np.tile(np.arange(60.0)[:, None], (2, 1)), NORMAL[:120]
    found, expected = GAMRegressor().fit(halves(X, y, 50)), GAMRegressor().fit(X, y)
    assert_same(found, expected, X)
    with pytest.raises(ValueError, match="1 sample"):
        GAMRegressor().fit(halves(X[:1], y[:1], 1))


def test_separated_classes_and_wide_counts_are_warned_of():
    x = np.linspace(-1, 1, 1200)[:, None]
    with pytest.warns(SeparationWarning, match="separate classes without error.*'x0'"):
        found = GAMClassifier().fit(in_batches(x, x[:, 0] > 0, None, 5))
    with pytest.warns(SeparationWarning):
        expected = GAMClassifier().fit(x, x[:, 0] > 0)
    assert_allclose(found.decision_function(x), expected.decision_function(x), 1e-6)
    model, found = GAMRegressor(family="poisson", terms=["a"]), []
    for source in ((in_batches(X, WIDE, None, 5),), (X, WIDE)):
        with pytest.warns(OverdispersionWarning, match="p-value") as warned:
            model.fit(*source)
        found.append(str(warned[0].message))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("model", "column", "value", "message"),
    [
        (GAMRegressor(), 0, np.nan, "'x0' has missing values; missing='level'"),
        (GAMRegressor(missing="level"), 1, np.inf, "contains infinity"),
        (GAMRegressor(terms=[0], offset=1), 1, np.inf, "infinity"),
        (GAMRegressor(), 2, np.nan, "y contains NaN"),
        (GAMRegressor(family="poisson"), 2, -1, "y has the value -1; family='poiss"),
        (GAMClassifier(), 2, 0.5, "Unknown label type: continuous"),
    ],
)
def test_bad_values_in_a_later_partition(model, column, value, message):
    table = np.column_stack([RNG.random((1100, 2)), np.arange(1100) % 2])
    table[-1, column] = value
    rows, y = table[:, :2], table[:, 2]
    with pytest.raises(ValueError, match=message):
        clone(model).fit(rows, y)
    with pytest.raises(ValueError, match=message):
        clone(model).fit(halves(rows, y, 600))


def test_bad_tables():
    y = np.arange(20.0)
    parts = [pd.DataFrame({"a": y}), pd.DataFrame({"a": ["text"] * 20})]
    batches = RowBatches(lambda: ((part, y) for part in parts))
    with pytest.raises(ValueError, match=r"'a' is not numeric .*; a term 'category'"):
        GAMRegressor(terms={"a": "spline"}).fit(batches)
    X = y[:, None]
    with pytest.raises(ValueError, match=r"one class only, 1\.0"):
        GAMClassifier().fit(halves(X, y * 0 + 1, 10))
    with pytest.raises(ValueError, match="all targets are zero"):
        GAMRegressor(family="poisson").fit(halves(X, y * 0, 10))
    with pytest.raises(ValueError, match="'x0' has missing values only"):
        GAMRegressor(missing="level").fit(halves(X * np.nan, y, 10))
    late = np.where(y < 15, np.nan, y)[:, None]
    with pytest.raises(ValueError, match="a straight line has no level for them"):
        GAMRegressor(terms={0: "linear"}, missing="level").fit(halves(late, y, 10))


def test_dask_and_its_processes():
    dataframe = pytest.importorskip("dask.dataframe")
    frame = X.assign(y=NORMAL)
    parts = dataframe.from_pandas(frame, npartitions=3)
    model = GAMRegressor(terms=["a", "town"])
    found = clone(model).fit(parts[list(X)], parts["y"])
    assert_same(found, clone(model).fit(X, NORMAL), X)
