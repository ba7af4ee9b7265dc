"""
Rented bicycles by a linear model: how sure are its weights?
============================================================

The case is that of Molnar's book: how many bicycles are rented on a day, by season,
weather and calendar. The table is made here, of two years, so that the truth is known.
It has what such counts have: they vary more than Poisson's distribution, and more on
days of many rentals.

See which intervals contain zero: the seasons and mist. Rain, holidays and temperature
are clearly away from it.
"""

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

LEVELS = {
    "season": ["winter", "spring", "summer", "fall"],
    "holiday": ["no", "yes"],
    "weather": ["good", "misty", "rain"],
}

rng = np.random.default_rng(0)
n_days = 730
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
y = pd.Series(
    rng.negative_binomial(share, share / (share + np.exp(log_mean))), name="rentals"
)


def with_levels(model, numbers="passthrough"):
    """Return a pipeline that compares levels with the first one of each column."""
    encoder = OneHotEncoder(
        categories=list(LEVELS.values()), drop="first", sparse_output=False
    )
    columns = make_column_transformer(
        (encoder, list(LEVELS)), remainder=numbers, verbose_feature_names_out=False
    )
    return make_pipeline(columns, model)


# %%
# Weights
# -------
#
# By how much the number changes with one unit more, or with a level in the place of the
# first one. Weights can't be compared with each other: a degree is not a day of rain.
# Robust standard errors, beside the usual ones, do not take the variance to be the same
# on all days.
linear = CoefficientInference(with_levels(LinearRegression())).fit(X, y)
robust = CoefficientInference(with_levels(LinearRegression()), covariance="HC3")
table = linear.to_frame().round(2)
table.insert(2, "robust", robust.fit(X, y).standard_errors_.round(2))
print(f"Least squares, R² = {linear.r2_:.2f}")
print(table.to_string())

# %%
# For the figure numbers are standardized, and their weights are those of a standard
# deviation. Where an interval crosses the line at zero, the data do not tell the sign.
scaled = with_levels(LinearRegression(), numbers=StandardScaler()).fit(X, y)
_ = CoefficientDisplay.from_estimator(scaled, X, y)

# %%
# Effects
# -------
#
# Weight times value, in bicycles. These can be compared: long boxes tell days apart.
# One day is marked, a holiday in the rain. Its effects and the intercept sum to its
# prediction, which is below zero: a straight line does not know that there are no fewer
# bicycles than none.
marked = np.flatnonzero((X["holiday"] == "yes") & (X["weather"] == "rain"))[:1]
print(f"{y.iloc[marked[0]]} rented, ", end="")
print(f"{linear.predict(X.iloc[marked])[0]:.0f} predicted by least squares")
_ = LinearEffectDisplay.from_estimator(linear, X, rows=marked)

# %%
# Counts
# ------
#
# They call for a Poisson regression, where weights multiply. The table has its rate
# ratios; the dispersion says by how much the counts vary more than Poisson's
# distribution has it. Without that, intervals would be far too narrow.
RATES = ["exponentiated", "exponentiated_low", "exponentiated_high", "pvalue"]
counts = with_levels(PoissonRegressor(alpha=0, solver="newton-cholesky"))
rates = CoefficientInference(counts, dispersion="quasi").fit(X, y)
print(f"Dispersion {rates.dispersion_:.0f}; ", end="")
print(f"{rates.predict(X.iloc[marked])[0]:.0f} predicted for the day above")
print(rates.to_frame()[RATES].iloc[:-1].round(3).to_string())
