"""Robust errors where single rows determine terms alone: as without these rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.exceptions import DependentTermsWarning, LeverageWarning
from sklearn_interpret.linear import CoefficientInference
from tests.partitions import in_batches
from tests.speeds import examples

RNG = np.random.default_rng(0)
TOWNS = pd.DataFrame(
    {
        "age": RNG.normal(40, 9, size=40),
        "town": RNG.permutation([*["Aalen"] * 20, *["Ulm"] * 18, "Wien", "Zug"]),
    }
)
Y = TOWNS["age"] / 9 + RNG.normal(size=40)
ALONE = TOWNS["town"].isin(["Wien", "Zug"]).to_numpy()
MODEL = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(drop="first"), ["town"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ),
    LinearRegression(),
)


@pytest.mark.parametrize("weights", ["frequency", "precision"])
@pytest.mark.parametrize("covariance", ["HC2", "HC3"])
def test_levels_of_one_row_behind_an_encoder(covariance, weights):
    """In memory and over partitions; the model's own covariance has no need."""
    parameters = {"covariance": covariance, "weights": weights}
    inspector = CoefficientInference(MODEL, **parameters)
    expected = inspector.fit(TOWNS[~ALONE], Y[~ALONE]).to_frame()
    with pytest.warns(LeverageWarning, match="single rows determine 'town_Wien', 't"):
        found = inspector.fit(TOWNS, Y).to_frame()
    terms = ["town_Ulm", "age", "intercept"]
    assert_allclose(found.loc[terms], expected.loc[terms], rtol=1e-9)
    alone = found.loc[["town_Wien", "town_Zug"]]
    assert alone["coef"].notna().all()
    assert alone.drop(columns="coef").isna().all(axis=None)
    frozen = CoefficientInference(FrozenEstimator(inspector.estimator_), **parameters)
    with pytest.warns(LeverageWarning):
        frozen.fit(in_batches(TOWNS, Y.to_numpy(), None, 3))
    assert_allclose(frozen.to_frame(), found, rtol=1e-8)
    for kind in ("model", "HC0", "HC1"):
        inspector.set_params(covariance=kind).fit(TOWNS, Y)
        assert np.isfinite(inspector.standard_errors_).all()


def test_a_reference_level_of_one_row():
    """All differences from it, and the intercept, hang on that row."""
    towns = TOWNS[~ALONE].assign(town=lambda t: ["Aachen", *t["town"][1:]])
    inspector = CoefficientInference(MODEL, covariance="HC3")
    with pytest.warns(LeverageWarning, match="'town_Aalen', 'town_Ulm', 'intercept'"):
        inspector.fit(towns, Y[~ALONE])
    expected = CoefficientInference(MODEL, covariance="HC3")
    expected.fit(towns[1:], Y[~ALONE][1:])
    errors = inspector.to_frame()["standard_error"]
    assert np.isfinite(errors).tolist() == [False, False, True, False]
    assert errors["age"] == pytest.approx(
        expected.to_frame()["standard_error"]["age"], rel=1e-9
    )


def test_levels_of_one_row_and_dependent_columns():
    """Each is named by its own warning."""
    towns = TOWNS.assign(years=2 * TOWNS["age"])
    inspector = CoefficientInference(MODEL, covariance="HC3")
    with (
        pytest.warns(LeverageWarning, match="determine 'town_Wien', 'town_Zug' alone"),
        pytest.warns(DependentTermsWarning, match="'age', 'years'"),
    ):
        inspector.fit(towns, Y)
    assert np.isnan(inspector.standard_errors_).tolist() == [0, 1, 1, 1, 1, 0]


def test_weights_of_a_row_that_stands_alone():
    """Copies share a leverage; a part of a row has no less than the row."""
    inspector = CoefficientInference(MODEL, covariance="HC3")
    weights = np.where(ALONE, 3.0, 1.0)
    found = inspector.fit(TOWNS, Y, sample_weight=weights).standard_errors_
    copies = weights.astype(int)
    rows = np.repeat(np.arange(40), copies)
    expected = inspector.fit(TOWNS.iloc[rows], Y.iloc[rows]).standard_errors_
    assert_allclose(found, expected, rtol=1e-9)
    inspector.set_params(weights="precision")
    for model_weights in (weights, np.where(ALONE, 0.2, 1.0)):
        with pytest.warns(LeverageWarning, match="'town_Wien', 'town_Zug'"):
            inspector.fit(TOWNS, Y, sample_weight=model_weights)
    inspector.set_params(weights="frequency")
    with pytest.warns(LeverageWarning, match="'town_Wien', 'town_Zug'"):
        inspector.fit(TOWNS, Y, sample_weight=np.where(ALONE, 0.2, 1.0))
    # Rows of no whole copy have their own leverages, and count as fewer.
    halves = inspector.fit(TOWNS[~ALONE], Y[~ALONE], sample_weight=np.full(38, 0.5))
    whole = CoefficientInference(MODEL, covariance="HC3").fit(TOWNS[~ALONE], Y[~ALONE])
    assert_allclose(halves.standard_errors_, 2**0.5 * whole.standard_errors_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.LeverageWarning")
@examples(15)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.floats(-3, 3),
    st.sampled_from(["HC2", "HC3"]),
    st.sampled_from(["frequency", "precision"]),
)
@example(0, 3, 3.0, "HC3", "precision")
def test_any_table_with_single_rows(seed, n_alone, power, covariance, weights):
    """Years, columns of any size, and weights: as without the rows and the columns."""
    rng = np.random.default_rng(seed)
    n_rows = 30
    levels = np.repeat([0, 1, 2], 10)
    alone = rng.choice(np.arange(1, n_rows - 1), n_alone, replace=False)
    levels[alone] = 3 + np.arange(n_alone)
    indicators = (levels[:, None] == np.arange(1, 3 + n_alone)).astype(float)
    numbers = rng.normal(size=n_rows) * 10.0**power
    years = rng.integers(1990, 2020, n_rows)
    rows = np.column_stack([years, numbers, indicators])
    y = rng.normal(size=n_rows)
    sample_weight = rng.integers(1, 4, n_rows).astype(float)
    sample_weight[alone] = 1
    kept = np.setdiff1d(np.arange(n_rows), alone)
    inspector = CoefficientInference(
        LinearRegression(), covariance=covariance, weights=weights
    )
    without = np.append(np.arange(4), 4 + n_alone)
    inspector.fit(rows[kept][:, :4], y[kept], sample_weight=sample_weight[kept])
    expected = np.full(5 + n_alone, np.nan)
    expected[without] = inspector.standard_errors_
    inspector.fit(rows, y, sample_weight=sample_weight)
    assert_allclose(inspector.standard_errors_, expected, rtol=1e-7)
    inspector.set_params(estimator=FrozenEstimator(inspector.estimator_))
    inspector.fit(in_batches(rows, y, sample_weight, 3))
    assert_allclose(inspector.standard_errors_, expected, rtol=1e-6)
