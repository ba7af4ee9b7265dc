"""
Does the model use it, or is it needed?
=======================================

Permutation importance says how much a model uses a feature. A test of conditional
importance says whether the feature tells about the target what the others don't. For
the diabetes patients of scikit-learn, a linear model uses s1 most of all features, but
the data do not show that s1 is needed: the other features nearly determine it.

See that s1 is on top of the left figure, and has no mark on the right one.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from sklearn_interpret.importance import (
    ConditionalImportanceDisplay,
    ConditionalImportanceTest,
    PermutationImportance,
    PermutationImportanceDisplay,
)

# %%
# Used, but not needed
# --------------------
#
# Of the blood values, s1 is the total cholesterol, and s2 and s3 are parts of it. The
# linear model has a large weight for s1 and one of the opposite sign for s2; a
# permutation of one of them alone breaks the balance, so both seem important.
#
# ``test="gcm"`` predicts the target and each feature from the other features, and tests
# whether the residuals of both are correlated. The column "feature R²" on the right
# says how well the other features predict this one: s1 is predicted nearly perfectly.
# The p-values are adjusted for the number of features (Holm); pale bars are features
# that the data do not show to be needed.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X.drop(columns=["age", "s6"])  # the model hardly uses them
used = PermutationImportance(LinearRegression(), method="exact").fit(X, y)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    needed = ConditionalImportanceTest(test="gcm", random_state=0).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(7.2, 4.2), layout="constrained")
PermutationImportanceDisplay.from_estimator(used, ax=axes[0])
ConditionalImportanceDisplay.from_estimator(needed, ax=axes[1])
axes[0].set_title("used by a linear model")
_ = axes[1].set_title("needed, given the others")

# %%
# A warning says that trees predict a little of what the regressions leave of s1 and s3,
# so that their p-values might be too small. They are 1, so this does not matter.
print(caught[0].message)

# %%
# The test is a feature selector, too.
print(", ".join(needed.get_feature_names_out()))

# %%
# Needed, but not used
# --------------------
#
# The answers also differ the other way round. Here the target depends on the product of
# the first two features, which a linear model cannot use: their permutation importances
# are nearly zero.
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3))
y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=500)
used = PermutationImportance(LinearRegression(), method="exact").fit(X, y)
print(used.feature_importances_.round(3))

# %%
# "gcm" does not find such a dependence either: the effect of the first feature is
# positive for half of the rows, negative for the others, and zero on average. "pcm"
# learns on one half of the rows how the feature changes the prediction, and tests this
# on the other half.
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
for ax, test in zip(axes, ["gcm", "pcm"], strict=True):
    found = ConditionalImportanceTest(test=test, random_state=0).fit(X, y)
    ConditionalImportanceDisplay.from_estimator(found, ax=ax)
    ax.set_title(f'test="{test}"')
