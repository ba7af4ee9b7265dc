"""
Which group, which member? And what if features depend on each other?
=====================================================================

Ten things were measured of diabetes patients, and how far the disease went in the year
after (scikit-learn's diabetes data). Six of them are from one sample of blood, and
depend on each other: chol / HDL is a quotient of two others. A neural network predicts
the progression.

See that bmi and blood pressure together matter more than all six measurements of the
blood. See in the last table that age gets a larger value if it counts as a cause of
other features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.shapley import (
    ExactShapley,
    ShapleyImportanceDisplay,
    ShapleyWaterfallDisplay,
)

NAMES = {
    "bp": "blood pressure",
    "s1": "cholesterol",
    "s2": "LDL",
    "s3": "HDL",
    "s4": "chol / HDL",
    "s5": "triglycerides",
    "s6": "blood sugar",
}
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"] == 2
X_train, X_test, y_train, y_test = train_test_split(
    X.rename(columns=NAMES), y, test_size=0.2, random_state=0
)
network = MLPRegressor(
    hidden_layer_sizes=(20,),
    activation="tanh",
    solver="lbfgs",
    alpha=10,
    max_iter=5000,
    random_state=0,
)
scaled = TransformedTargetRegressor(network, transformer=StandardScaler())
model = FrozenEstimator(make_pipeline(StandardScaler(), scaled).fit(X_train, y_train))
print(f"R² on patients not seen: {model.score(X_test, y_test):.2f}")

# %%
# Groups, and their members
# -------------------------
#
# The members of a group share the value of the group. The bar of a group is the mean
# absolute sum of its members, whose values may cancel.
groups = {
    "person": ["age", "sex"],
    "body": ["bmi", "blood pressure"],
    "blood": list(X_train.columns[4:]),
}


def explained(**choices):
    """Explain forty patients."""
    inspector = ExactShapley(model, subsample=50, random_state=0, **choices)
    return inspector.fit(X_train).explain(X_test[:40])


inside = explained(feature_groups=groups, within_groups=True)
_ = ShapleyImportanceDisplay.from_explanation(inside, response_name="progression")

# %%
# The waterfall of one patient has an arrow for each group and for each member.
_ = ShapleyWaterfallDisplay.from_explanation(inside, row=8, response_name="progression")

# %%
# A tree of correlations
# ----------------------
#
# If no groups are known, correlations of ranks make a tree of the features. The tree
# joins cholesterol with LDL, and HDL with chol / HDL.
tree = explained(feature_groups="correlation", within_groups=True)
_ = ShapleyImportanceDisplay.from_explanation(tree, response_name="progression")

# %%
# Dependent features
# ------------------
#
# So far the values of absent features came from other patients. So the network also
# predicted impossible patients, whose chol / HDL is not the quotient of their
# cholesterol and their HDL. With ``dependence`` absent features fit the present ones.
# "auto" takes the kind with the smallest error on held-out rows.
auto = ExactShapley(model, dependence="auto", subsample=50, random_state=0).fit(X_train)
for kind, error in sorted(auto.dependence_errors_.items(), key=lambda item: item[1]):
    print(f"{kind:12}{error:8.0f}")

# %%
# Blood pressure, blood sugar and age get larger values. The network does not use them
# more than before, but they say something about the features that it uses.
alone, given = explained(), auto.explain(X_test[:40])
figure, axes = plt.subplots(1, 2, figsize=(7.2, 4.2), layout="constrained")
for ax, explanation, title in zip(
    axes, (alone, given), ("interventional", "conditional"), strict=True
):
    ShapleyImportanceDisplay.from_explanation(
        explanation, ax=ax, response_name="progression"
    )
    ax.set_title(title)
limit = max(ax.get_xlim()[1] for ax in axes)
for ax in axes:
    ax.set_xlim(0, limit)  # bars of one length mean the same

# %%
# A causal order
# --------------
#
# The blood pressure does not change the age. In a causal order, age and sex join first,
# then bmi, then all other features. So each feature gets credit for what it changes
# through later features. The order is an assumption that the data cannot prove.
order = [["age", "sex"], ["bmi"], ["blood pressure", *groups["blood"]]]
causal = explained(dependence=auto.dependence_, causal_order=order)
print("                interventional  conditional  causal")
for name in ("age", "sex", "bmi", "blood pressure", "triglycerides"):
    means = [np.abs(each.to_frame()[name]).mean() for each in (alone, given, causal)]
    print(f"{name:16}{means[0]:14.1f}{means[1]:13.1f}{means[2]:8.1f}")
