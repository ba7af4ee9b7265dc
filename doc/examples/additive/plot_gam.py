"""
When are bicycles rented? A model that explains itself
======================================================

A table like that of a bike rental: how many bikes are lent in an hour depends on the
hour, in another way on working days, on the temperature and on the weather. The wind
has no effect. A generalised additive model finds that out, beside a boosted one.

See two rush hours on working days (orange), and one broad afternoon on free days
(blue). The wind is a flat line.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.model_selection import train_test_split

from sklearn_interpret.additive import GAMRegressor, SmoothTermDisplay
from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.exceptions import ExtrapolationWarning

# Single rows of the test set are beyond the training values, as is to be expected.
warnings.simplefilter("ignore", ExtrapolationWarning)

WEATHER = {"clear": 0.0, "mist": -0.1, "rain": -0.6}

rng = np.random.default_rng(0)
n_rows = 2500
X = pd.DataFrame(
    {
        "hour": rng.integers(0, 24, n_rows),
        "day": rng.choice(["working", "free"], n_rows, p=[0.7, 0.3]),
        "temperature": rng.normal(15, 8, n_rows),
        "weather": rng.choice(list(WEATHER), n_rows, p=[0.6, 0.3, 0.1]),
        "wind": rng.gamma(3, 4, n_rows),
    }
)
hour = X["hour"].to_numpy()
peaks = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 18) ** 2) / 6)
noon = np.cos((hour - 14) / 24 * 2 * np.pi)
score = np.where(X["day"] == "working", 1.5 * peaks + 0.6 * noon, 1.2 * noon)
score = score - ((X["temperature"] - 24) / 18) ** 2 + X["weather"].map(WEATHER)
y = pd.Series(rng.poisson(np.exp(3 + score)), name="bikes")
train, test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# Two models
# ----------
#
# The additive model has a logarithmic link, one curve of the hour for each kind of day,
# which closes at midnight, and a curve or levels for each other feature. Its summary
# says how many degrees of freedom each term has kept, and whether it is there at all:
# the term of the wind vanishes, for each term has a second penalty.
gam = GAMRegressor(
    terms={
        "hour": "cyclic",
        "day": "category",
        "temperature": "spline",
        "weather": "category",
        "wind": "spline",
    },
    family="poisson",
    by={"hour": "day"},
    periods={"hour": 24},
).fit(train, y_train)
print(gam.to_text())

# %%
# The boosted model may join all features. On new rows that gains nothing here, as there
# is nothing else to be learned.
boosted = HistGradientBoostingRegressor(
    loss="poisson", categorical_features=["day", "weather"], random_state=0
).fit(train, y_train)
print("Share of the deviance of new rows that is explained")
for name, model in {"additive model": gam, "boosted trees": boosted}.items():
    share = d2_tweedie_score(y_test, model.predict(test), power=1)
    print(f"  {name:16}{share:.3f}")

# %%
# Terms, which are the model
# --------------------------
#
# The curves, with their bands, are all that the additive model knows: the two peaks of
# working days when people ride to work and back, a single hill on free days, warmth up
# to about 24 degrees, and next to nothing for the wind.
_ = SmoothTermDisplay.from_estimator(
    gam,
    train,
    terms=["hour:day", "temperature", "weather", "wind"],
    target_name="bikes",
)

# %%
# Partial dependence, which is a look at the model
# ------------------------------------------------
#
# The boosted model is looked at through partial dependence. It averages over working
# days and others: the curve of the hour belongs to no day that there is.
_ = PartialDependenceDisplay.from_estimator(
    boosted, train, ["hour", "temperature", "weather", "wind"], target_name="bikes"
)
