"""
Important for what? Four questions, four answers
================================================

"Is this feature important?" can mean: does the model lean on it, could we do without
it, does the prediction move with it, or is it more than chance? The diabetes patients
of scikit-learn get a column of random numbers as a fifth wheel, and a gradient boosting
is asked all four.

See that s5 and bmi come first on both sides, and that without s5 a new model loses much
less than the permuted column suggests, as other columns take its place.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

from sklearn_interpret.importance import (
    DropColumnImportance,
    PartialDependenceImportance,
    PermutationImportance,
    PermutationImportanceDisplay,
    PermutationTest,
)

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["bmi", "bp", "s1", "s2", "s5"]]
X["random"] = np.random.default_rng(0).normal(size=len(X))
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
boosting = HistGradientBoostingRegressor(
    max_iter=40, max_leaf_nodes=6, min_samples_leaf=10, random_state=0
)
model = FrozenEstimator(clone(boosting).fit(X_train, y_train))

# %%
# Does the model lean on it? Could we do without it?
# --------------------------------------------------
#
# *Permutation* (left) takes a feature's values from other rows, and looks how much the
# score of the same model falls; ``method="exact"`` takes them from all other rows, so
# that nothing is random. *Dropping* (right) fits again without the feature, in each
# fold of a cross-validation, and looks how much the new model is worse. Of s1 and s2,
# both of cholesterol, either can do what the other does: neither is missed.
permuted = PermutationImportance(model, method="exact").fit(X_test, y_test)
dropped = DropColumnImportance(boosting, cv=5).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), layout="constrained")
for ax, inspector, title in zip(
    axes, (permuted, dropped), ("permuted", "dropped"), strict=True
):
    PermutationImportanceDisplay.from_estimator(inspector, ax=ax)
    ax.set_title(title)

# %%
# Does the prediction move with it?
# ---------------------------------
#
# ``PartialDependenceImportance`` needs no targets: it is the standard deviation of the
# partial dependence. What the model has learned by mistake moves predictions, too, so
# that it is no measure of what a feature is good for: the random column is not last.
moved = PartialDependenceImportance(model).fit(X_train)
_ = PermutationImportanceDisplay.from_estimator(moved)

# %%
# Is it more than chance?
# -----------------------
#
# ``PermutationTest`` (PIMP) fits the model again to shuffled targets, which nothing can
# predict, and sees how large importances come out then. The p-value is the share of
# shuffles with an importance as large as the true one. It says nothing of the size.
test = PermutationTest(boosting, n_permutations=19, random_state=0).fit(X, y)
table = pd.DataFrame(
    {
        "permuted": permuted.feature_importances_,
        "dropped": dropped.feature_importances_,
        "moved": moved.feature_importances_,
        "p-value": test.pvalues_,
    },
    index=X.columns,
)
print(table.round(3).to_string())

# %%
# Each importance selects features, as scikit-learn's selectors do.
print("p < 0.1:", ", ".join(test.set_params(alpha=0.1).get_feature_names_out()))
