"""
Parts of a function: what a model does with each set of features
================================================================

A curve of one feature is a mean over all others. If features interact, the mean may
describe no row at all. A functional decomposition leaves nothing out: the prediction is
a sum of parts, one for each feature, each pair and each larger set. Here it is computed
exactly for boosted trees that predict how many bicycles are rented in an hour.

See the bars: hour and weekday together are more important than the temperature. The
surface shows the two kinds of day.
"""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.interactions import (
    FunctionalDecomposition,
    FunctionalDecompositionDisplay,
    InteractionNetworkDisplay,
)
from sklearn_interpret.shapley import ShapleyWaterfallDisplay

# %%
# Simulated rentals
# -----------------
#
# On weekdays people ride to work and back, at weekends in the afternoon. Rain keeps
# them at home at weekends, if it is cold as well: three features act together.
rng = np.random.default_rng(0)
n = 6000
X = pd.DataFrame(
    {
        "hour": rng.integers(0, 24, n),
        "weekday": rng.integers(1, 8, n),
        "temperature": rng.normal(15, 7, n),
        "wind": rng.gamma(3, 4, n),
        "rain": rng.random(n) < 0.4,
    }
)
weekend, cold = X["weekday"] > 5, X["temperature"] < 15
commuters = np.exp(-((X["hour"] - 8) ** 2) / 4) + np.exp(-((X["hour"] - 17) ** 2) / 6)
leisure = np.exp(-((X["hour"] - 14) ** 2) / 18)
rentals = 80 + 4 * X["temperature"] - X["wind"]
rentals += 250 * np.where(weekend, leisure, commuters)
rentals -= 90 * (X["rain"] & weekend & cold)
rentals += rng.normal(scale=10, size=n)
y = rentals.rename("rentals")

model = HistGradientBoostingRegressor(max_leaf_nodes=15, random_state=0)
model.fit(X[:4000], y[:4000])
print(f"R² on new rows: {model.score(X[4000:], y[4000:]):.2f}")

# %%
# Shares of variance, curves and surfaces
# ---------------------------------------
#
# The pair of hour and weekday has a larger share than temperature. Its surface shows
# two kinds of day: at weekends (6 and 7) fewer rentals in the morning and more at noon
# than the curve of the hour says, and nothing else between the days of a week.
parts = FunctionalDecomposition(
    FrozenEstimator(model), max_order=3, subsample=300, random_state=0
).fit(X[4000:], y[4000:])
display = FunctionalDecompositionDisplay.from_estimator(
    parts, X[4000:], max_panels=5, n_cols=2
)

# %%
# Sets of three features
# ----------------------
#
# Of all sets of three, one stands out: the one that the simulation has. What larger
# sets add to the variance is negligible, so these parts are the model.
table = display.to_frame()
print(table[table["order"] == 3].round(4).head(4).to_string(index=False))
print(f"unexplained: {parts.unexplained_:.4f}")

# %%
# The mean of this part for each combination shows the simulated term, centred: rain
# and cold count for more at weekends than on weekdays, and only together.
explanation = parts.explain(X[4000:])
place = explanation.interaction_names.index("weekday x temperature x rain")
groups = pd.DataFrame(
    {
        "day": np.where(weekend[4000:], "weekend", "weekday"),
        "temperature": np.where(cold[4000:], "cold", "warm"),
        "rain": np.where(X["rain"][4000:], "rain", "dry"),
        "part": explanation.values[:, place],
    }
)
print(groups.groupby(["day", "temperature", "rain"])["part"].mean().unstack().round(1))

# %%
# One row
# -------
#
# A Sunday morning at eight, cold and rainy. As a network, nodes and edges show the
# absolute values of the parts, and colours the signs. The curve of the hour
# promises many rentals at eight; the edge between hour and weekday takes them away.
row = pd.DataFrame(
    {"hour": 8, "weekday": 7, "temperature": 5.0, "wind": 10.0, "rain": True}, index=[0]
)
sunday = parts.explain(row)
network = InteractionNetworkDisplay.from_explanation(sunday, target_name="rentals")
print(network.to_frame().head(5).round(1).to_string(index=False))

# %%
# Shapley values divide each part equally among its features. One number for each
# feature is easier to read, but that of the hour hides two large parts of different
# sign. All parts are needed: here, sets of up to five features.
whole = clone(parts).set_params(max_order=5).fit(X[4000:]).explain(row)
shapley_values = whole.to_explanation()
_ = ShapleyWaterfallDisplay.from_explanation(shapley_values, target_name="rentals")
