"""Checks of terms, concurvity, draws of effects and the summary of additive models."""

from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import pearson3

from sklearn_interpret._core.additive.families import FAMILIES
from sklearn_interpret._core.additive.neighbours import Neighbours, neighbour_test
from sklearn_interpret.additive import BasisCheck, GAMClassifier, GAMRegressor
from tests.partitions import in_batches


def table(n_rows=400, n_waves=3, seed=0):
    """Three numbers, hours, levels, and targets with waves of the first number."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n_rows, 3)), columns=list("abc"))
    X["hour"] = rng.integers(0, 24, n_rows)
    X["town"] = rng.choice(["u", "v"], n_rows)
    y = np.sin(2 * np.pi * n_waves * X["a"]) + X["b"] + rng.normal(size=n_rows) / 2
    return X, y.to_numpy()


X, Y = table()


def weights_of_neighbours(series, values):
    """W as the mean over all orders of the rows in which values increase."""
    n, matrices = len(values), []
    for order in permutations(range(n)):
        keys = [(series[i], values[i]) for i in order]
        if keys == sorted(keys):
            matrix = np.zeros((n, n))
            for i, j in pairwise(order):
                matrix[i, j] = matrix[j, i] = series[i] == series[j]
            matrices.append(matrix)
    return np.mean(matrices, axis=0)


SERIES = np.array([0, 1, 0, 0, 1, 0, 0])
VALUES = np.array([3.0, 3.0, 1.0, 3.0, 2.0, 0.0, 3.0])


@pytest.mark.parametrize("power", [1, 2])
def test_neighbours_are_the_mean_over_orders_of_equal_values(power):
    neighbours = Neighbours(SERIES, VALUES)
    expected = weights_of_neighbours(SERIES, VALUES) ** power
    assert_allclose(neighbours.sums(np.eye(7), power), expected, atol=1e-15)
    assert_allclose(neighbours.sums(VALUES, power), expected @ VALUES)


def test_traces_are_those_of_dense_matrices():
    W = weights_of_neighbours(SERIES, VALUES)
    expected = np.trace(W @ W), np.trace(W @ W @ W)
    assert_allclose(Neighbours(SERIES, VALUES).traces, expected)


def test_the_test_is_that_of_dense_matrices():
    rng = np.random.default_rng(0)
    residuals, design = rng.normal(size=7), rng.normal(size=(7, 2))
    inverse = np.linalg.inv(design.T @ design + np.diag([1.0, 2.0]))
    hat, dof = design @ inverse @ design.T, 3.0
    W = weights_of_neighbours(SERIES, VALUES)
    dispersion = residuals @ residuals / (7 - dof)
    excess = residuals @ W @ residuals + dispersion * np.trace(W @ hat)
    squares = residuals**2
    rest = np.eye(7) - hat
    product = W @ rest
    square, cube = np.trace(product @ product), np.trace(product @ product @ product)
    variance = 2 * squares @ W**2 @ squares * square / np.trace(W @ W)
    skewness = 8 * max(cube, 0) / (2 * square) ** 1.5
    index, pvalue = neighbour_test(
        residuals, design, inverse, dof, Neighbours(SERIES, VALUES)
    )
    assert index == pytest.approx(1 - excess / dispersion / W.sum())
    assert pvalue == pytest.approx(pearson3.sf(excess / np.sqrt(variance), skewness))


def test_the_index_is_the_ratio_of_both_variances():
    rng = np.random.default_rng(0)
    values = rng.random(5000)
    residuals = np.sin(20 * values) + rng.normal(size=5000)
    nothing = np.empty((5000, 0))
    neighbours = Neighbours(np.zeros(5000), values)
    index, _ = neighbour_test(residuals, nothing, np.empty((0, 0)), 0, neighbours)
    differences = np.diff(residuals[values.argsort()])
    expected = np.mean(differences**2) / 2 / np.mean(residuals**2)
    assert index == pytest.approx(expected, abs=1e-3)


def test_deviance_residuals_of_classes_have_a_pattern_where_none_is():
    rng = np.random.default_rng(0)
    values = rng.random(20_000)
    probabilities = expit(6 * values - 3)
    y = (rng.random(20_000) < probabilities).astype(float)
    family = FAMILIES["binomial"]
    deviances = np.sign(y - 0.5) * np.sqrt(family.deviance(y, probabilities))
    pearson = (y - probabilities) / np.sqrt(family.variance(probabilities))
    functions = np.ones((20_000, 1)), np.array([[1 / 20_000]]), 1.0
    neighbours = Neighbours(np.zeros(20_000), values)
    pvalues = [
        neighbour_test(residuals - residuals.mean(), *functions, neighbours)[1]
        for residuals in (deviances, pearson)
    ]
    assert pvalues[0] < 1e-3
    assert pvalues[1] > 0.05


@pytest.mark.parametrize("residual, step", [(0.0, 0.0), (1.0, 1.0)])
def test_no_residuals_and_no_neighbours_have_no_pattern(residual, step):
    residuals, series = np.full(9, residual), step * np.arange(9)
    neighbours = Neighbours(series, np.arange(9.0))
    result = neighbour_test(residuals, np.ones((9, 1)), np.eye(1), 1, neighbours)
    assert result == (1.0, 1.0)


CASES = {
    "normal": (GAMRegressor, {"terms": ["a", "b"]}, Y),
    "weights": (GAMRegressor, {"terms": ["a"]}, Y),
    "counts": (
        GAMRegressor,
        {"terms": ["a"], "family": "poisson"},
        np.floor(np.exp(Y + 2)),
    ),
    "negative binomial": (
        GAMRegressor,
        {"terms": ["a"], "family": "negative_binomial"},
        np.floor(np.exp(2 * Y)),
    ),
    "classes": (GAMClassifier, {"terms": ["a", "b"]}, Y > 0.5),
    "cyclic": (GAMRegressor, {"terms": {"a": "cyclic"}, "periods": {"a": 1}}, Y),
    "by level": (GAMRegressor, {"terms": ["a", "town"], "by": {"a": "town"}}, Y),
    "by number": (
        GAMRegressor,
        {"terms": ["a", "c"], "by": {"a": "c"}},
        table(n_waves=0)[1] + (4 * X["c"] - 2) * np.sin(6 * np.pi * X["a"]),
    ),
    "offset": (GAMRegressor, {"terms": ["a"], "offset": "c"}, Y + X["c"]),
    "surface": (GAMRegressor, {"terms": [("a", "b")]}, Y),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.OverdispersionWarning"
)
def test_few_functions_leave_a_pattern_and_enough_do_not(name):
    kind, options, y = CASES[name]
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weights = weights if name == "weights" else None
    few = kind(n_splines=5, **options).fit(X, y, weights).check(X, y, weights)
    term = options["terms"] if isinstance(options["terms"], list) else ["a"]
    many = kind(n_splines={term[0]: 20}, **options).fit(X, y, weights)
    enough = many.check(X, y, weights)
    assert few.pvalue[0] < 1e-3
    assert few.k_index[0] < 0.9
    assert enough.pvalue[0] > 0.05
    assert enough.k_index[0] == pytest.approx(1, abs=0.15)
    assert enough.n_functions[0] > few.n_functions[0] > few.effective_dof[0]


def test_lines_are_terms_with_numbers():
    numbers = X.assign(a=X["a"].mask(X["b"] < 0.1))
    terms = {"a": "spline", "town": "category", "b": "linear", ("a", "town"): "tensor"}
    model = GAMRegressor(terms=terms, missing="level").fit(numbers, Y)
    check = model.check(numbers, Y)
    assert isinstance(check, BasisCheck)
    assert check.term.tolist() == ["a", "b", "a:town"]
    assert_array_equal(check.effective_dof, model.effective_dof_[[0, 2, 3]])
    assert check.n_functions[:2].tolist() == [20, 1]
    frame = check.to_frame()
    assert frame.index.tolist() == ["a", "b", "a:town"]
    columns = ["n_functions", "effective_dof", "k_index", "pvalue"]
    assert frame.columns.tolist() == columns
    assert_array_equal(frame["pvalue"], check.pvalue)
    lines = repr(check).splitlines()
    assert lines[0].split() == ["term", *columns]
    assert len(lines) == 4


def test_each_class_has_its_lines():
    y = np.array(["p", "q", "r"])[np.digitize(Y, [0, 1])]
    model = GAMClassifier(terms=["a", "town"], n_splines=8).fit(X, y)
    check = model.check(X, y)
    assert check.term.tolist() == ["a_p", "a_q", "a_r"]
    assert_array_equal(check.effective_dof, model.effective_dof_[:, 0])
    for label, pvalue in zip("pqr", check.pvalue, strict=True):
        single = GAMClassifier(terms=["a", "town"], n_splines=8).fit(X, y == label)
        assert single.check(X, y == label).pvalue[0] == pytest.approx(pvalue, 1e-6)


def test_the_check_does_not_depend_on_the_order_of_rows_nor_on_weightless_rows():
    model = GAMRegressor(terms=["hour", ("a", "b")], n_splines=6).fit(X, Y)
    check = model.check(X, Y)
    order = np.random.default_rng(0).permutation(len(Y))
    assert_allclose(model.check(X.iloc[order], Y[order]).pvalue, check.pvalue)
    both, weights = pd.concat([X, X]), np.repeat([1.0, 0.0], len(Y))
    again = model.check(both, np.append(Y, -Y), weights)
    assert_allclose(again.pvalue, check.pvalue)


def test_a_cyclic_feature_is_checked_within_its_period():
    options = {"terms": {"hour": "cyclic"}, "periods": {"hour": 24}}
    model = GAMRegressor(**options).fit(X, Y)
    moved = X.assign(hour=X["hour"] + 24 * (np.arange(len(X)) % 3))
    assert_allclose(model.check(moved, Y).pvalue, model.check(X, Y).pvalue)


@pytest.mark.thorough
@pytest.mark.parametrize("column", ["a", "hour", "surface"])
@pytest.mark.parametrize("kind", [GAMRegressor, GAMClassifier])
def test_few_p_values_are_small_without_a_pattern(column, kind):
    terms = [("b", "c")] if column == "surface" else [column]
    pvalues = []
    for seed in range(100):
        X, score = table(200, 1, seed)
        y = score
        if kind is GAMClassifier:
            y = np.random.default_rng(seed).random(200) < expit(2 * score - 1)
        pvalues.append(kind(terms=terms).fit(X, y).check(X, y).pvalue[0])
    # Of 100 binomial draws at 5 %, more than 10 have a probability of one percent.
    assert np.sum(np.array(pvalues) <= 0.05) <= 10


def designs(model, X):
    """The functions of each term at the rows."""
    rows = model._check_rows(X, reset=False)
    return [
        term.term.evaluate(term.read(rows, "error", "linear")) for term in model._terms
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"terms": ["a", "b", "hour", "town"]},
        {"terms": {"a": "spline", "b": "linear", ("a", "b"): "tensor"}},
        {"terms": ["a", "town", "b"], "by": {"a": "town", "b": "c"}},
        {"terms": ["a", "hour"], "family": "poisson"},
    ],
)
def test_concurvity_is_that_of_least_squares(options):
    few = X.round(1).assign(b=(X["a"] + X["b"] / 4).round(1))
    weights = np.random.default_rng(0).uniform(0.5, 2, len(Y))
    model = GAMRegressor(n_splines=8, **options).fit(few, np.exp(Y), weights)
    blocks, ridges = [np.sqrt(weights)[:, None]], [np.zeros(1)]
    for term, design in zip(model._terms, designs(model, few), strict=True):
        blocks.append(np.sqrt(weights)[:, None] * design)
        # A thousandth of the mean information that the rows have.
        penalties, sizes = term.term.penalties, (blocks[-1] ** 2).sum(axis=0)
        means = penalties @ sizes / penalties.sum(axis=1)
        ridges.append(np.exp(-7) * means @ penalties)
    for k, block in enumerate(blocks[1:], start=1):
        others = np.hstack(blocks[:k] + blocks[k + 1 :])
        ridge = np.concatenate(ridges[:k] + ridges[k + 1 :])
        matrix = others.T @ others + np.diag(ridge)
        explained = np.linalg.lstsq(matrix, others.T @ block)[0] * (others.T @ block)
        share = explained.sum() / np.sum(block**2)
        assert model.concurvity_[k - 1] == pytest.approx(share, abs=1e-4)


def test_concurvity_of_copies_constants_and_independent_features():
    copies = X.assign(b=-X["a"], c=1.0)
    model = GAMRegressor(terms=["a", "b", "c", "hour"]).fit(copies, Y)
    assert_allclose(model.concurvity_[:2], 1, atol=1e-3)
    assert model.concurvity_[2] == 0
    assert model.concurvity_.max() <= 1
    many, y = table(20_000)
    apart = GAMRegressor(terms=["a", "b", "c"]).fit(many, y).concurvity_
    assert (apart < 0.01).all()


def test_concurvity_of_partitions_and_of_classes():
    terms = ["a", "b", "town"]
    model = GAMRegressor(terms=terms).fit(X, Y)
    parted = GAMRegressor(terms=terms).fit(in_batches(X, Y, None, 3))
    assert_allclose(parted.concurvity_, model.concurvity_, atol=1e-6)
    y = np.digitize(Y, [0, 1])
    classes = GAMClassifier(terms=terms).fit(X, y)
    assert_allclose(classes.concurvity_, model.concurvity_, atol=1e-6)
    assert_array_equal(
        classes.to_frame()["concurvity"], np.tile(classes.concurvity_, 3)
    )


def test_draws_have_the_mean_and_the_errors_of_effects():
    model = GAMRegressor(terms=["a", "hour", "town"]).fit(X, Y)
    draws = model.sample_effects(X[:5], n_draws=4000, random_state=0)
    assert draws.shape == (4000, 5, 3)
    for k, term in enumerate(model.term_names_):
        _, effects, errors = model.partial_effect(term, X[term][:5])
        assert_allclose(draws[:, :, k].mean(axis=0), effects, atol=0.1 * errors.max())
        assert_allclose(draws[:, :, k].std(axis=0), errors, rtol=0.05)
    again = model.sample_effects(X[4:5], n_draws=4000, random_state=0)
    assert_allclose(again, draws[:, 4:], atol=1e-12)
    assert model.sample_effects(X[:2]).shape == (100, 2, 3)
    with pytest.raises(ValueError, match="n_draws"):
        model.sample_effects(X, n_draws=0)


def test_a_draw_is_a_curve():
    model = GAMRegressor(terms=["a"]).fit(X, Y)
    twice = pd.concat([X[:3], X[:3]])
    draws = model.sample_effects(twice, n_draws=7, random_state=1)
    assert_allclose(draws[:, :3], draws[:, 3:])


def test_draws_of_classes_are_in_the_order_of_transform():
    y = np.digitize(Y, [0, 1])
    model = GAMClassifier(terms=["a", "town"], n_splines=6).fit(X, y)
    draws = model.sample_effects(X[:4], n_draws=2000, random_state=0)
    assert draws.shape == (2000, 4, 6)
    spread = draws.std(axis=0)
    assert_allclose(draws.mean(axis=0), model.transform(X[:4]), atol=0.1 * spread.max())
    _, _, errors = model.partial_effect("town", X["town"][:4])
    assert_allclose(spread[:, 1::2], errors, rtol=0.1)


def test_summary_is_the_text_of_the_results():
    model = GAMRegressor(terms=["a", "town"], family="gamma").fit(X, np.exp(Y))
    assert model.summary() == model.to_text()
    for name in ("gamma", "REML", "deviance explained", "statistic", "concurvity"):
        assert name in model.summary()
    assert_array_equal(model.to_frame()["concurvity"], model.concurvity_)
