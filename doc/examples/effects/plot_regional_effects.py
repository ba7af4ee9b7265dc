"""
In which rows does a feature do the same?
=========================================

If a feature raises the predictions of some rows and lowers those of others, its average
curve describes neither. Regional effects search for regions of the data in which the
curves are alike, and say where they begin: first in simulated rows whose regions are
known, then for the diabetes patients of scikit-learn.

See three regions with a rising, a flat and a falling effect (black). The average over
all rows (dashed, the same in each panel) is flat, which is true of one region only.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import RegionalEffectDisplay, RegionalEffects

# %%
# Two thresholds that are known
# -----------------------------
#
# The effect of x1 has the slope -2 where x2 is above 0.3. Elsewhere it has the slope 3
# where x3 is at most -0.2, and is zero where it is not. The effect of x4 is the same
# everywhere.
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1, 1, size=(2000, 4)), columns=["x1", "x2", "x3", "x4"])
slope = np.select([X["x2"] > 0.3, X["x3"] <= -0.2], [-2, 3], 0)
y = slope * X["x1"] + X["x4"] + rng.normal(scale=0.1, size=2000)
boosting = GradientBoostingRegressor(max_depth=4, random_state=0).fit(X, y)

# %%
# A tree of splits is grown on the curves of the rows, and its leaves are the regions.
# The faint curves are single rows; within a region they hardly differ.
effects = RegionalEffects(FrozenEstimator(boosting), features=["x1", "x4"]).fit(X)
_ = RegionalEffectDisplay.from_estimator(effects, X)

# %%
# Both thresholds are found, nearly to the row. What is left of heterogeneity is due to
# the model, whose steps are not quite those of the truth. The effect of x4 is not
# split: no split explains a tenth of the variance between its curves (``min_gain``).
print(effects.to_text())
second, third = effects.regions_[0][0].conditions
for name, found, truth in [("x2", second.high, 0.3), ("x3", third.high, -0.2)]:
    n_between = X[name].between(*sorted([found, truth])).sum()
    print(f"{name}: threshold {found:.4g} for {truth}, {n_between} rows between them")

# %%
# Blood pressure of diabetes patients
# -----------------------------------
#
# A forest predicts the progression of diabetes. Three of the ten features have regions,
# for only their curves differ by more than a model learns from noise.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, y)
effects = RegionalEffects(FrozenEstimator(forest)).fit(X)
print(effects.to_text())

# %%
# Blood pressure matters more for heavy patients: their curves rise twice as far.
_ = RegionalEffectDisplay.from_estimator(
    effects, X, feature="bp", target_name="progression"
)

# %%
# With ``effect="ale"`` the regions are about differences over the intervals of blood
# pressure. They need no patient with a blood pressure that does not fit the rest of the
# row, and the split is again on the body mass index.
_ = RegionalEffectDisplay.from_estimator(
    forest, X, feature="bp", effect="ale", target_name="progression"
)
