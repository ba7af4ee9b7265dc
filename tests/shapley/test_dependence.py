"""Values with dependent features, against closed forms of Gaussian columns."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from sklearn_interpret.importance import SAGE
from sklearn_interpret.shapley import (
    ExactShapley,
    KernelSHAP,
    LinearSHAP,
    ShapleySampling,
    ShapleyValues,
)
from tests.references.shapley import enumerated, permitted_orders, values_over_orders

ESTIMATORS = [ExactShapley, KernelSHAP, ShapleySampling, ShapleyValues]
KINDS = ["gaussian", "copula", "neighbors", "regression"]


class Quadratic(RegressorMixin, BaseEstimator):
    """The function b'x + x'Ax, fitted to nothing."""

    def __init__(self, linear=(0.0,), pairs=None):
        self.linear, self.pairs = linear, pairs

    def fit(self, X, y=None):
        self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        return self

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def predict(self, X):
        X = np.asarray(X, dtype=float)
        values = X @ np.asarray(self.linear)
        if self.pairs is not None:
            values = values + np.einsum("ni,ij,nj->n", X, self.pairs, X)
        return values


def table(seed, p=3, n=1500):
    """Rows with exactly these means and covariances."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(p, p)) + 0.3 * np.eye(p)
    mean, covariance = rng.normal(size=p), factor @ factor.T / p
    X = rng.normal(size=(n, p))
    X -= X.mean(axis=0)
    whitened = X @ np.linalg.inv(np.linalg.cholesky(X.T @ X / n)).T
    return whitened @ np.linalg.cholesky(covariance).T + mean, mean, covariance


def conditional_game(model, mean, covariance, row):
    """The mean of b'x + x'Ax given the columns of a coalition."""

    def value(coalition):
        s = sorted(coalition)
        conditional, spread = mean.copy(), covariance
        if s:
            slopes = np.linalg.solve(covariance[np.ix_(s, s)], covariance[s]).T
            conditional = mean + slopes @ (row - mean)[s]
            spread = covariance - slopes @ covariance[s]
        moments = np.outer(conditional, conditional) + spread
        pairs = np.zeros_like(covariance) if model.pairs is None else model.pairs
        return conditional @ model.linear + (pairs * moments).sum()

    return value


def product_model():
    pairs = np.zeros((3, 3))
    pairs[0, 1] = 1.0
    return Quadratic([0.0, 0.5, -1.0], pairs)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("seed", range(3))
def test_gaussian_columns_have_closed_forms(kind, seed):
    X, mean, covariance = table(seed)
    model = product_model()
    inspector = kind(
        FrozenEstimator(model), dependence="gaussian", subsample=200, random_state=seed
    ).fit(X)
    explanation = inspector.explain(X[:4])
    for row, values, errors in zip(
        X, explanation.values, explanation.standard_errors, strict=False
    ):
        truth = enumerated(conditional_game(model, mean, covariance, row), 3)
        assert (np.abs(values - truth) <= 3 * errors + 1e-9).all()
        assert (errors < 0.5 * np.abs(truth).max() + 0.1).all()
    assert np.abs(explanation.additivity_error()).max() < 1e-12
    assert np.shape(inspector.base_values_) == ()


def test_intervals_hold_with_few_draws_and_orders():
    """The smallest budgets, of 40 tables each: 90 % of intervals hold."""
    for kind, params in [
        (ExactShapley, {}),
        (KernelSHAP, {"n_coalitions": 6}),
        (ShapleySampling, {"n_permutations": 2}),
    ]:
        inside = []
        for seed in range(40):
            X, mean, covariance = table(seed, n=300)
            model = product_model()
            inspector = kind(
                FrozenEstimator(model),
                dependence="gaussian",
                subsample=4,
                random_state=seed,
                **params,
            )
            explanation = inspector.fit(X).explain(X[:1])
            truth = enumerated(conditional_game(model, mean, covariance, X[0]), 3)
            error = np.abs(explanation.values[0] - truth)
            inside.append(error <= 1.96 * explanation.standard_errors[0] + 1e-9)
        assert np.mean(inside) >= 0.9


@pytest.mark.parametrize("dependence", KINDS)
def test_all_kinds_estimate_the_same_means(dependence):
    X, mean, covariance = table(5, p=2)
    model = Quadratic([1.0, 0.0])
    inspector = ExactShapley(
        FrozenEstimator(model), dependence=dependence, random_state=0
    ).fit(X)
    row = np.median(X, axis=0) + 0.3
    truth = enumerated(conditional_game(model, mean, covariance, row), 2)
    values = inspector.explain(row[None]).values[0]
    # The second column is not used by the model; it tells of the first one.
    assert np.abs(truth[1]) > 0.03
    assert_allclose(values, truth, atol=0.15 * np.sqrt(covariance[0, 0]))
    assert inspector.dependence_ == dependence


@pytest.mark.parametrize("kind", [ExactShapley, ShapleyValues])
def test_linear_models_are_exact(kind):
    """Draws have the mean and covariance of the rows."""
    X, _, _ = table(1)
    model = LinearRegression().fit(X, X @ [1.0, 2.0, 0.0])
    drawn = kind(FrozenEstimator(model), dependence="gaussian", random_state=0).fit(X)
    exact = LinearSHAP(FrozenEstimator(model), perturbation="correlation").fit(X)
    explanation = drawn.explain(X[:5])
    assert_allclose(explanation.values, exact.explain(X[:5]).values, atol=1e-9)
    assert explanation.standard_errors.max() < 1e-9


def test_causal_order():
    """Each feature joins after its causes, which makes values causal."""
    X, mean, covariance = table(3)
    model = Quadratic([0.0, 0.0, 2.0])
    inspector = ExactShapley(
        FrozenEstimator(model),
        dependence="gaussian",
        causal_order=[[0], [1, 2]],
        subsample=400,
        random_state=0,
    ).fit(X)
    game = conditional_game(model, mean, covariance, X[0])
    truth = values_over_orders(game, permitted_orders([[0], [1, 2]], causal=True))
    explanation = inspector.explain(X[:1])
    error = np.abs(explanation.values[0] - truth)
    assert (error <= 3 * explanation.standard_errors[0] + 1e-9).all()


def test_within_groups():
    X, mean, covariance = table(4)
    model = product_model()
    shared = {"dependence": "gaussian", "subsample": 100, "random_state": 0}
    groups = {"g": [0, 2]}
    inside = ExactShapley(
        FrozenEstimator(model), feature_groups=groups, within_groups=True, **shared
    ).fit(X)
    together = ExactShapley(FrozenEstimator(model), feature_groups=groups, **shared)
    values, expected = inside.explain(X[:3]), together.fit(X).explain(X[:3])
    assert_allclose(values.by_group().values, expected.values, atol=1e-10)
    truth = values_over_orders(
        conditional_game(model, mean, covariance, X[0]), permitted_orders([[0, 2], 1])
    )
    error = np.abs(values.values[0] - truth)
    assert (error <= 3 * values.standard_errors[0] + 1e-9).all()


@pytest.mark.parametrize("dependence", ["copula", "neighbors", "regression", "auto"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_levels_and_missing_numbers(dependence, library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    size = rng.normal(size=120)
    columns = {
        "size": np.where(rng.random(120) < 0.1, np.nan, size),
        "kind": np.where(size + rng.normal(size=120) > 0, "house", "flat"),
        "rooms": np.round(3 + size).astype(int),
    }
    X = frames.DataFrame(columns)
    seen = []

    def response(model, rows):
        seen.append(rows)
        kinds = np.asarray(rows["kind"]) == "house"
        return np.asarray(rows["rooms"], dtype=float) + kinds

    inspector = ExactShapley(
        FrozenEstimator(Quadratic().fit(X)),
        dependence=dependence,
        response_method=response,
        subsample=10,
        random_state=0,
    ).fit(X)
    explanation = inspector.explain(X[:3])
    assert np.isfinite(explanation.values).all()
    # The model does not use the size, which tells of the rooms.
    assert np.abs(explanation.values[:, 0]).max() > 0.01
    for rows in seen:
        assert isinstance(rows, type(X))
        assert list(rows.dtypes) == list(X.dtypes)
        assert set(np.asarray(rows["kind"])) <= {"house", "flat"}


def test_a_sampler_of_ones_own():
    """Draws from the first rows, whatever is given: interventional values."""
    X, _, _ = table(2)
    model = product_model()

    def first_rows(rows, columns, n_draws):
        return np.tile(X[:n_draws], (len(rows), 1))

    own = ExactShapley(FrozenEstimator(model), dependence=first_rows, background=X[:20])
    same = ExactShapley(FrozenEstimator(model), background=X[:20])
    assert_allclose(
        own.fit(X).explain(X[30:33]).values,
        same.fit(X).explain(X[30:33]).values,
        atol=1e-12,
    )


def test_a_regressor_of_ones_own():
    X, mean, covariance = table(6)
    model = Quadratic([1.0, 0.0, -2.0])
    inspector = ExactShapley(FrozenEstimator(model), dependence=LinearRegression())
    values = inspector.fit(X).explain(X[:2]).values
    for row, row_values in zip(X, values, strict=False):
        truth = enumerated(conditional_game(model, mean, covariance, row), 3)
        assert_allclose(row_values, truth, atol=1e-9)


def test_auto_takes_the_smallest_error():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(400, 1))
    X = np.hstack([u, u**2 + 0.1 * rng.normal(size=(400, 1))])
    inspector = ExactShapley(
        FrozenEstimator(Quadratic([0.0, 1.0])), dependence="auto", random_state=0
    ).fit(X)
    errors = inspector.dependence_errors_
    assert set(errors) == set(KINDS)
    # A parabola has no correlation.
    assert inspector.dependence_ in ("neighbors", "regression")
    assert min(errors.values()) < 0.5 * errors["gaussian"]
    assert inspector.dependence_error_ == errors[inspector.dependence_]


def test_the_error_is_that_of_held_out_rows():
    """Independent columns: the variance that a coalition leaves."""
    X = np.random.default_rng(0).normal(size=(3000, 2))
    inspector = ExactShapley(
        FrozenEstimator(Quadratic([1.0, 1.0])), dependence="gaussian", random_state=0
    ).fit(X)
    assert_allclose(inspector.dependence_error_, 1.0, rtol=0.3)
    copy = pickle.loads(pickle.dumps(inspector))
    assert copy.dependence_error_ == inspector.dependence_error_
    without = pickle.loads(pickle.dumps(inspector.fit(X)))
    with pytest.raises(AttributeError, match="before pickling"):
        _ = without.dependence_error_
    with pytest.raises(AttributeError, match="which is None"):
        _ = ExactShapley(FrozenEstimator(Quadratic([1, 1]))).fit(X).dependence_error_


def test_sage():
    """v(S) is the variance that the conditional mean explains."""
    X, _, covariance = table(7, n=600)
    linear = np.array([1.0, -1.0, 0.0])
    model = Quadratic(linear)

    def value(coalition):
        s = sorted(coalition)
        if not s:
            return 0.0
        slopes = np.linalg.solve(covariance[np.ix_(s, s)], covariance[s] @ linear)
        return slopes @ covariance[np.ix_(s, s)] @ slopes

    inspector = SAGE(
        FrozenEstimator(model), dependence="gaussian", subsample=256, random_state=0
    ).fit(X, X @ linear)
    truth = enumerated(value, 3)
    assert_allclose(inspector.importances_mean_, truth, atol=0.05 * truth.max())
    assert inspector.dependence_error_ > 0


def test_explanations_do_not_depend_on_batches():
    X, _, _ = table(8, n=200)
    for dependence, kind in product(KINDS[:3], [ExactShapley, ShapleySampling]):
        inspector = kind(
            FrozenEstimator(product_model()),
            dependence=dependence,
            subsample=12,
            random_state=0,
        ).fit(X)
        together = inspector.explain(X[:6])
        alone = [inspector.explain(X[i : i + 1]).values[0] for i in range(6)]
        assert_allclose(together.values, alone, atol=1e-10)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dependence": "normal"}, "dependence"),
        ({"dependence": 3}, "dependence"),
        ({"dependence": "gaussian"}, "kind.*copula"),
        ({"dependence": "copula", "subsample": 3}, "at least 4"),
        ({"dependence": lambda X, columns, n: X}, "dependence must return 8 rows"),
        (
            {
                "dependence": lambda X, columns, n: X.loc[
                    X.index.repeat(n), ["kind", "size"]
                ]
            },
            "the columns of its argument, in their order; .*'kind', 'size'",
        ),
    ],
)
def test_bad_dependence(params, message):
    X = pd.DataFrame({"size": np.arange(30.0), "kind": ["a", "b", "c"] * 10})
    inspector = ExactShapley(
        FrozenEstimator(Quadratic().fit(X)),
        response_method=lambda model, X: np.asarray(X["size"]),
        **{"subsample": 8, **params},
    )
    with pytest.raises((ValueError, TypeError), match=message):
        inspector.fit(X).explain(X[:2])


@pytest.mark.parametrize("algorithm", ["tree", "linear"])
def test_algorithms_without_dependence(algorithm):
    X, _, _ = table(0)
    model = FrozenEstimator(LinearRegression().fit(X, X[:, 0]))
    inspector = ShapleyValues(model, algorithm=algorithm, dependence="copula")
    with pytest.raises(ValueError, match=f'"{algorithm}" takes no dependence'):
        inspector.fit(X)


def test_two_outputs_with_a_link():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + rng.normal(size=(200, 1))
    model = KNeighborsRegressor().fit(X, np.column_stack([X[:, 0], X[:, 1] > 0]))
    inspector = ExactShapley(
        FrozenEstimator(model), dependence="copula", subsample=20, random_state=0
    )
    explanation = inspector.fit(X).explain(X[:3])
    assert explanation.values.shape == explanation.standard_errors.shape == (3, 3, 2)
    assert explanation.base_values.shape == (3, 2)
    assert np.abs(explanation.additivity_error()).max() < 1e-12
    assert inspector.interaction_values(X[:3]).shape == (3, 3, 3, 2)


def test_groups_by_correlation_are_those_that_are_credited():
    """Both estimators draw rows, each its own where the seed is not fixed."""
    X = np.random.default_rng(0).normal(size=(200, 5))
    inspector = ShapleyValues(
        FrozenEstimator(Quadratic([1.0, -1.0, 0.5, 0.0, 2.0])),
        dependence="gaussian",
        feature_groups="correlation",
        within_groups=True,
        subsample=20,
        random_state=None,
    ).fit(X)
    credited = inspector.inspector_.explain(X[:2])
    explanation = inspector.explain(X[:2])
    assert explanation.groups == credited.groups
    assert_allclose(explanation.by_group().values, credited.by_group().values)
