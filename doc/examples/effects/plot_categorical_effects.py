"""
What does a month do by itself, and what through the weather?
==============================================================

Bicycles are hired out over three years (simulated, so that the truth is known). More
are hired on warm days, fewer in the rain. Holidays in July and August take some
customers away, and the new term in September brings some; otherwise the month by itself
does nothing. But of course it is warm in summer.

See the M-plot (orange): winter is far below summer, because winter is cold. The
accumulated local effects (green) are about zero but for the holidays in July and August
and the new term in September.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    ConditionalDependence,
    EffectComparisonDisplay,
)

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
MONTHS += ["Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WARMTH = np.array([1, 2, 6, 10, 15, 18, 20, 19, 15, 10, 5, 2])
OWN_EFFECT = np.array([0, 0, 0, 0, 0, 0, -40, -40, 30, 0, 0, 0])
SKY = ["clear", "cloudy", "rain"]

rng = np.random.default_rng(0)
n_days = 1096
month = np.arange(n_days) * 12 // 365 % 12
temperature = (WARMTH[month] + rng.normal(scale=4, size=n_days)).round(1)
sky = rng.choice(3, p=[0.5, 0.3, 0.2], size=n_days)
working = rng.random(n_days) < 5 / 7
hired = 200 + 10 * temperature + OWN_EFFECT[month]
hired = hired - np.array([0, 20, 60])[sky] - 80 * ((sky == 2) & ~working)
X = pd.DataFrame(
    {
        "month": pd.Categorical.from_codes(month, MONTHS),
        "temperature": temperature,
        "sky": pd.Categorical.from_codes(sky, SKY, ordered=True),
        "working day": working,
    }
)
y = (hired + rng.normal(scale=20, size=n_days)).round()
model = HistGradientBoostingRegressor(
    categorical_features="from_dtype", min_samples_leaf=10, random_state=0
)
model = FrozenEstimator(model.fit(X, y))

# %%
# The months
# ----------
#
# The M-plot of the month shows the seasons: it has the average prediction of the days
# of each month, and with them their temperatures. Accumulated local effects leave the
# temperature to the temperature: they move a day to the neighbouring month only, with
# the weather that it had. Which months are neighbours is found from the rows: those of
# alike temperature stand next to each other.
local = AccumulatedLocalEffects(
    model, features=["month", "sky", ("sky", "working day")], confidence_level=0.95
).fit(X)
mixed = ConditionalDependence(model, features=["month"]).fit(X)
_ = EffectComparisonDisplay.from_estimator([mixed, local], X, feature="month")

# %%
# In the figure the M-plot climbs from winter to summer by some 170 bicycles, where the
# accumulated local effects stay near zero but for the holidays and the new term. In
# numbers, beside the truth of the simulation:
means = dict(zip(mixed.edges_[0], mixed.average_[0], strict=True))
overall = np.average(mixed.average_[0], weights=mixed.interval_counts_[0])
own = dict(zip(MONTHS, OWN_EFFECT - OWN_EFFECT.mean(), strict=True))
print("month  truth    ALE   M-plot")
for name, effect in zip(local.edges_[0], local.effects_[0], strict=True):
    print(f"{name:5}{own[name]:7.0f}{effect:7.0f}{means[name] - overall:9.0f}")

# %%
# Sky, and sky with working day
# -----------------------------
#
# An order that has a meaning of its own, such as that of the sky, is kept. The panel on
# the right is the second-order effect of sky and working day: what the two do together
# beyond what each does alone. Rain keeps away those who ride for pleasure, and they
# ride on free days.
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), layout="constrained")
for ax, entry in zip(axes, ["sky", ("sky", "working day")], strict=True):
    AccumulatedLocalEffectsDisplay.from_estimator(local, X, features=[entry], ax=ax)
