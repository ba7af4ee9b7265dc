"""The table of the examples is what its docstring says."""

import numpy as np
import pytest

from sklearn_interpret.datasets import make_rentals

pd = pytest.importorskip("pandas")


def formula(X):
    """The mean that the docstring of `make_rentals` states."""
    hour, working = X["hour"], X["working"]
    commuters = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17) ** 2) / 8)
    curve = 0.1 + np.where(working, commuters, 0.8 * np.exp(-((hour - 14) ** 2) / 18))
    weather = X["weather"].map({"clear": 1.0, "cloudy": 0.9, "rain": 0.5})
    days = (X["day"] - pd.Timestamp("2023-01-01")).dt.days
    warmth = np.exp(-(((X["temperature"] - 22) / 18) ** 2))
    calm = np.exp(-X["wind"] / 50)
    return 400 * curve * warmth * weather.astype(float) * calm * (1 + days / 1460)


def test_rentals_follow_the_formula():
    """The squared Pearson residuals of a Poisson distribution have mean one."""
    X, y = make_rentals(50_000)
    mean = formula(X)
    residual = ((y - mean) / np.sqrt(mean)).dropna()
    assert abs(residual.mean()) < 5 / np.sqrt(len(residual))
    assert residual.var() == pytest.approx(1, abs=0.05)
    for name in ("hour", "temperature", "feels_like", "wind", "pressure"):
        assert abs(np.corrcoef(residual, X.loc[residual.index, name])[0, 1]) < 0.02


def test_columns_are_of_every_kind():
    X, y = make_rentals()
    names = ["hour", "temperature", "feels_like", "wind", "pressure"]
    assert list(X) == [*names, "working", "weather", "day"]
    assert list(X.select_dtypes("number")) == names
    assert X["working"].equals(X["day"].dt.day_of_week < 5)
    assert X.columns[X.isna().any()].tolist() == ["wind"]
    assert 0.9 < X["temperature"].corr(X["feels_like"]) < 1
    assert y.name == "rentals"
    assert y.dtype.kind == "i"


def test_the_seed_determines_the_rows():
    (X, y), (same, _), (other, _) = (
        make_rentals(30, random_state=seed) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(X, same)
    assert len(X) == len(y) == 30
    assert not X.equals(other)
