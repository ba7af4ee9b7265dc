"""
Does a feature do the same in every row?
========================================

The average of curves may be flat because nothing happens, or because what happens in
one half of the rows is the reverse of what happens in the other. The diabetes patients
of scikit-learn, and a forest: does the body mass index do the same for all of them?

See how all curves of bmi rise, but some much more than others; the black line is their
mean, the partial dependence.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import (
    CeterisParibusDisplay,
    IndividualConditionalExpectation,
    IndividualConditionalExpectationDisplay,
)

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, y)
model = FrozenEstimator(forest)

# %%
# One curve for each patient (ICE)
# --------------------------------
#
# A curve is the prediction for one patient as the body mass index varies, all else as
# it is; the thick line is the mean, which is the partial dependence. Curves start at
# different heights, as patients differ in other things, and so many of them cross that
# one can hardly say whether they run alike.
ice = IndividualConditionalExpectation(model, features=["bmi", "s5"]).fit(X)
_ = IndividualConditionalExpectationDisplay.from_estimator(ice, X)

# %%
# Centred curves (c-ICE)
# ----------------------
#
# All curves start at zero, on the left. The wider they spread, the more the effect
# depends on the rest of the row. ``color_by`` says on what: the curves that fall behind
# where the others rise, at 27, are those of patients with a high s5, in orange. Their
# predictions are high already.
centred = IndividualConditionalExpectation(model, features=["bmi"], center="start")
_ = IndividualConditionalExpectationDisplay.from_estimator(
    centred.fit(X), X, color_by="s5"
)

# %%
# Slopes (d-ICE)
# --------------
#
# The smaller panel has the standard deviation of the slopes over the patients. Where it
# is zero, all curves run alike. It is largest about a body mass index of 27: there the
# forest decides, and decides otherwise for different patients. At the left end the
# curves are flat, all of them.
slopes = IndividualConditionalExpectation(
    model, features=["bmi"], derivative=True, grid_resolution=30
).fit(X)
_ = IndividualConditionalExpectationDisplay.from_estimator(slopes, X)

# %%
# In one number for each feature
# ------------------------------
#
# ``heterogeneity_`` is how far the curves differ in shape, in units of the response. It
# is zero where a feature does not interact, whatever its effect.
whole = IndividualConditionalExpectation(model, grid_resolution=30).fit(X)
print("feature  effect  heterogeneity")
for j in np.argsort(-whole.feature_importances_)[:5]:
    size, mixed = whole.feature_importances_[j], whole.heterogeneity_[j]
    print(f"{X.columns[j]:8}{size:7.1f}{mixed:15.1f}")

# %%
# One patient, two models
# -----------------------
#
# Ceteris paribus profiles are the curves of one row, one panel for each feature. The
# large points are the patient's own values and predictions. The forest puts this
# patient at the foot of a step: with a body mass index of 28 instead of 26.2, and all
# else as it is, it predicts about 155 instead of 99. The linear model predicts only 10
# more. Models that disagree so much should not be trusted with such a question.
linear = LinearRegression().fit(X, y)
_ = CeterisParibusDisplay.from_estimators(
    {"forest": forest, "linear": linear}, X, features=["bmi", "s5", "bp"], row=7
)
