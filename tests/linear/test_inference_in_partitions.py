"""Tables of regressions on rows in partitions: those of the rows in memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.exceptions import DependentTermsWarning, OtherTrainingRowsWarning
from sklearn_interpret.linear import CoefficientInference
from tests.partitions import in_batches

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "a": RNG.normal(size=700),
        "year": RNG.integers(0, 30, 700) / 10,
        "calendar": RNG.integers(1990, 2020, 700),
        "small": 1e-2 * RNG.normal(size=700),
        "town": RNG.choice(["Aalen", "Ulm", "Wien"], 700),
    }
)
SCORE = 0.5 * X["a"] + (X["town"] == "Ulm") + X["year"] / 3
NUMBERS = SCORE + RNG.normal(size=700)
COUNTS = RNG.poisson(np.exp(SCORE / 2))
SIZES = RNG.gamma(2, np.exp(SCORE / 2))
CLASSES = np.where(RNG.logistic(size=700) < SCORE, "yes", "no")
WEIGHTS = RNG.integers(0, 4, 700).astype(float)
LOGISTIC = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
EXACT = {"rtol": 1e-10, "atol": 1e-12}

MODELS = {
    "least squares": (LinearRegression(), NUMBERS, {}),
    "HC1": (LinearRegression(), NUMBERS, {"covariance": "HC1"}),
    "HC3": (LinearRegression(), NUMBERS, {"covariance": "HC3"}),
    "no intercept": (LinearRegression(fit_intercept=False), NUMBERS, {}),
    "classes": (LOGISTIC, CLASSES, {"covariance": "HC0"}),
    "first class": (LOGISTIC, CLASSES, {"target": "no"}),
    "counts": (PoissonRegressor(alpha=0, max_iter=1000), COUNTS, {}),
    "quasi": (
        PoissonRegressor(alpha=0, max_iter=1000),
        COUNTS,
        {"dispersion": "quasi"},
    ),
    "gamma": (GammaRegressor(alpha=0, max_iter=1000), SIZES, {"covariance": "HC0"}),
}
RESULTS = (
    "coef_",
    "standard_errors_",
    "pvalues_",
    "intervals_low_",
    "covariance_",
    "dispersion_",
    "r2_",
    "adjusted_r2_",
    "residual_dof_",
    "intercept_",
)


def inspector_of(model, y, columns=("a", "year", "town"), weights=None, **parameters):
    """An inspector of a fitted pipeline."""
    encoder = make_column_transformer(
        (OneHotEncoder(drop="first"), [c for c in columns if c == "town"]),
        remainder="passthrough",
    )
    fitted = make_pipeline(encoder, model)
    name = f"{type(model).__name__.lower()}__sample_weight"
    fitted.fit(X[list(columns)], y, **{name: weights})
    return CoefficientInference(FrozenEstimator(fitted), **parameters)


def assert_same(inspector, y, columns, weights, n_partitions=7):
    inspector.fit(X[list(columns)], y, sample_weight=weights)
    expected = {name: getattr(inspector, name) for name in RESULTS}
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    batches = in_batches(X[list(columns)], y, weights, n_partitions)
    inspector.fit(batches)
    for name in RESULTS:
        assert_allclose(getattr(inspector, name), expected[name], err_msg=name, **EXACT)


@pytest.mark.thorough(after=2)
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.OverdispersionWarning"
)
@pytest.mark.parametrize("name", MODELS)
def test_partitions_give_the_table_of_all_rows(name):
    model, y, parameters = MODELS[name]
    columns = ("a", "year", "town")
    inspector = inspector_of(model, y, columns, WEIGHTS, **parameters)
    assert_same(inspector, y, columns, WEIGHTS)


@pytest.mark.parametrize("n_partitions", [1, 2, 64])
def test_any_number_of_partitions_and_scales(n_partitions):
    columns = ("a", "small", "calendar")
    inspector = inspector_of(LinearRegression(), NUMBERS, columns)
    assert_same(inspector, NUMBERS, columns, None, n_partitions)


def test_dependent_and_constant_columns():
    rows = X[["a", "year"]].assign(twice=2 * X["a"] + 3, seven=7.0)
    inspector = CoefficientInference(
        FrozenEstimator(LinearRegression().fit(rows, NUMBERS))
    )
    with pytest.warns(DependentTermsWarning, match="'a', 'twice', 'seven'"):
        inspector.fit(rows, NUMBERS)
    expected = inspector.standard_errors_, inspector.coef_
    with pytest.warns(DependentTermsWarning, match="'a', 'twice', 'seven'"):
        inspector.fit(in_batches(rows, NUMBERS.to_numpy(), None, 7))
    assert_allclose(inspector.standard_errors_, expected[0], **EXACT)
    assert_allclose(inspector.coef_, expected[1], **EXACT)


@pytest.mark.thorough
def test_what_passes_cannot_do_says_so():
    batches = in_batches(X[["a"]], CLASSES, None, 3)
    model = FrozenEstimator(LOGISTIC.fit(X[["a"]], CLASSES))
    with pytest.raises(ValueError, match=r"profile.*passes.*wald"):
        CoefficientInference(model, interval="profile").fit(batches)
    with pytest.raises(ValueError, match="requires y"):
        CoefficientInference(model).fit(in_batches(X[["a"]], None, None, 3))
    apart = np.where(X["a"] > 0, "yes", "no")
    model = FrozenEstimator(LOGISTIC.fit(X[["a"]], CLASSES))
    with pytest.raises(ValueError, match=r"still grows.*separate"):
        CoefficientInference(model).fit(in_batches(X[["a"]], apart, None, 3))
    with pytest.warns(OtherTrainingRowsWarning):
        CoefficientInference(model).fit(in_batches(X[["a"]], CLASSES[::-1], None, 3))
