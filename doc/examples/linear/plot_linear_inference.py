"""Rented bicycles by a linear model: weights, how sure they are, and effects.

The case is that of Molnar's book: how many bicycles are rented on a day, by season,
weather and calendar. The table is made here, of two years, so that the truth is known.
It has what such counts have: they vary more than Poisson's distribution, and more on
days of many rentals.

*Weights* (the table): by how much the number changes with one unit more, or with a
level in the place of the first one. They can't be compared with each other: a degree is
not a day of rain. For the first figure, numbers are standardized, and their weights are
those of a standard deviation. Robust standard errors, beside the usual ones, do not
take the variance to be the same on all days.

*Effects* (second figure): weight times value, in bicycles. These can be compared: long
boxes tell days apart. One day is marked, a holiday in the rain. Its effects and the
intercept sum to its prediction, which is below zero: a straight line does not know that
there are no fewer bicycles than none.

Counts call for a Poisson regression, where weights multiply. The last table has its
rate ratios, and says by how much the counts vary more than Poisson's distribution has
it; without that, intervals would be far too narrow.

Run it as ``python doc/examples/linear/plot_linear_inference.py``. It prints the tables
and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.linear import (
    CoefficientDisplay,
    CoefficientInference,
    LinearEffectDisplay,
)

FIGURES = Path("figures")
LEVELS = {
    "season": ["winter", "spring", "summer", "fall"],
    "holiday": ["no", "yes"],
    "weather": ["good", "misty", "rain"],
}
RATES = ["exponentiated", "exponentiated_low", "exponentiated_high", "pvalue"]


def bicycles(n_days=730, random_state=0):
    """Return days, and how many bicycles were rented on each."""
    rng = np.random.default_rng(random_state)
    day = np.arange(n_days)
    warmth = -np.cos(2 * np.pi * (day - 20) / 365)
    X = pd.DataFrame(
        {
            "season": np.take(LEVELS["season"], (day % 365 + 31) // 92 % 4),
            "holiday": rng.choice(LEVELS["holiday"], n_days, p=[0.97, 0.03]),
            "weather": rng.choice(LEVELS["weather"], n_days, p=[0.63, 0.33, 0.04]),
            "temperature": (15 + 11 * warmth + rng.normal(0, 4, n_days)).round(1),
            "humidity": (100 * rng.beta(8, 5, n_days)).round(),
            "wind": rng.gamma(6, 2, n_days).round(1),
            "days": day,
        }
    )
    log_mean = (
        7.4
        + 0.03 * X["temperature"]
        - 0.006 * X["humidity"]
        - 0.012 * X["wind"]
        + 0.0011 * X["days"]
        - 0.2 * (X["season"] == "winter")
        - 0.25 * (X["holiday"] == "yes")
        - 0.08 * (X["weather"] == "misty")
        - 0.6 * (X["weather"] == "rain")
    )
    share = 12  # of the negative binomial distribution: the smaller, the more it varies
    y = rng.negative_binomial(share, share / (share + np.exp(log_mean)))
    return X, pd.Series(y, name="rentals")


def with_levels(model, numbers="passthrough"):
    """Return a pipeline that compares levels with the first one of each column."""
    encoder = OneHotEncoder(
        categories=list(LEVELS.values()), drop="first", sparse_output=False
    )
    columns = make_column_transformer(
        (encoder, list(LEVELS)),
        remainder=numbers,
        verbose_feature_names_out=False,
    )
    return make_pipeline(columns, model)


def main():
    """Fit both models, print their tables, and draw the linear one."""
    X, y = bicycles()
    linear = CoefficientInference(with_levels(LinearRegression())).fit(X, y)
    robust = CoefficientInference(with_levels(LinearRegression()), covariance="HC3")
    table = linear.to_frame().round(2)
    table.insert(2, "robust", robust.fit(X, y).standard_errors_.round(2))
    print(f"Bicycles by least squares, R² = {linear.r2_:.2f}")
    print(table.to_string())

    counts = with_levels(PoissonRegressor(alpha=0, solver="newton-cholesky"))
    rates = CoefficientInference(counts, dispersion="quasi").fit(X, y)
    marked = np.flatnonzero((X["holiday"] == "yes") & (X["weather"] == "rain"))[:1]
    predicted = linear.predict(X.iloc[marked])[0]
    rented = y.iloc[marked[0]]
    print(f"\nDay {marked[0]}, a holiday in the rain: {rented} rented. Predicted are")
    by_rates = rates.predict(X.iloc[marked])[0]
    print(f"{predicted:.0f} by least squares, {by_rates:.0f} by the Poisson regression")
    print(f"\nRate ratios of a Poisson regression, dispersion {rates.dispersion_:.0f}")
    print(rates.to_frame()[RATES].iloc[:-1].round(3).to_string())

    FIGURES.mkdir(exist_ok=True)
    scaled = with_levels(LinearRegression(), numbers=StandardScaler()).fit(X, y)
    drawn = {
        "weights": CoefficientDisplay.from_estimator(scaled, X, y),
        "effects": LinearEffectDisplay.from_estimator(linear, X, rows=marked),
    }
    for name, display in drawn.items():
        path = FIGURES / f"linear_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
