"""
Which rows make up a prediction, and which rows are wrong?
==========================================================

A prediction of boosted trees is a sum of training targets with weights, which follow
from the trees without a new fit. And every training row has a value: how much it helps
to predict the others. Digits with wrong labels have the smallest values.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsClassifier

from sklearn_interpret.datasets import make_rentals
from sklearn_interpret.influence import DataValues, InfluenceDisplay, PredictionWeights

# %%
# The rows of one prediction
# --------------------------
#
# How many bikes are rented in an hour? The ten hours with the largest weights in the
# prediction for one hour: similar hours, with positive weights. The contributions of
# all hours sum to the prediction.
X, y = make_rentals(1200, random_state=0)
X = X[["hour", "temperature", "wind", "working"]].astype(float)
X, y = X[X.notna().all(axis=1)], y[X.notna().all(axis=1)]
boosting = PredictionWeights(GradientBoostingRegressor(random_state=0))
boosting.fit(X[:800], y[:800])
explanation = boosting.explain(X[800:801])
print(X[800:801].to_string())
print(f"prediction {explanation.predictions[0]:.1f}, ", end="")
print(f"sum of contributions {explanation.contributions.sum():.1f}, ", end="")
print(f"effective number of rows {explanation.effective_neighbors[0]:.1f}")
_ = InfluenceDisplay.from_explanation(
    explanation, row=0, max_entries=10, features=["hour", "temperature"]
)

# %%
# Intervals from a forest
# -----------------------
#
# The weights of a forest are a distribution of targets. Its quantiles are intervals for
# new rows: about nine of ten targets lie within.
forest = PredictionWeights(RandomForestRegressor(min_samples_leaf=5, random_state=0))
forest.fit(X[:800], y[:800])
low, high = forest.predict_quantiles(X[800:], [0.05, 0.95]).T
inside = (low <= y[800:]) & (y[800:] <= high)
print(f"{inside.mean():.0%} of {inside.size} new targets are within their intervals")

# %%
# Digits with wrong labels
# ------------------------
#
# A tenth of the labels is changed. The twelve digits of the smallest values, with the
# labels that they have in the table: nearly all are wrong.
images, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.random(len(digits)) < 0.1
labels = np.where(wrong, (digits + rng.integers(1, 10, len(digits))) % 10, digits)
values = DataValues(KNeighborsClassifier(10)).fit(images, labels)
lowest = np.argsort(values.values_)
figure, axes = plt.subplots(2, 6, figsize=(6.4, 2.9))
for ax, row in zip(axes.flat, lowest, strict=False):
    ax.imshow(images[row].reshape(8, 8), cmap="binary")
    ax.set_title(f"label {labels[row]}", fontsize=9)
    ax.axis("off")
n_wrong = wrong.sum()
found = wrong[lowest[:n_wrong]].sum()
print(f"{n_wrong} labels are wrong; {found} of these have the smallest values")

# %%
# Training without them
# ---------------------
#
# One nearest neighbour believes each label. Half of the digits train it, and the others
# score it, with their true labels. Without the ninety rows of the smallest values the
# score rises from 90 % to 99 %; if more rows are left out, right ones go, too.
half = DataValues(KNeighborsClassifier(10)).fit(images[::2], labels[::2])
_ = InfluenceDisplay.from_removal(
    KNeighborsClassifier(1),
    *(images[::2], labels[::2], half.values_),
    X_test=images[1::2],
    y_test=digits[1::2],
    n_draws=3,
    both_ends=True,
    random_state=0,
)
