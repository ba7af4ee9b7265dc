"""
Which algorithm for which model? And which for correlated features?
===================================================================

All Shapley values answer one question: what did each feature give to this prediction?
``ShapleyValues`` looks at the model and takes the algorithm that is exact for it, if
there is one.

See that three quite different models agree on the two strongest features, s5 and bmi,
and differ in the third.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from sklearn_interpret.shapley import (
    BreakDown,
    LinearSHAP,
    ShapleyImportanceDisplay,
    ShapleyValues,
    ShapleyWaterfallDisplay,
)

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
linear = make_pipeline(StandardScaler(), RidgeCV()).fit(X, y)
forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, y)
machine = make_pipeline(StandardScaler(), SVR(C=100)).fit(X, y)
models = {"linear model": linear, "forest": forest, "support vectors": machine}

# %%
# The choice
# ----------
#
# A linear model and a forest have formulas. Of any other model the coalitions of ten
# features are few enough to evaluate them all, and of more features some are sampled.
inspectors = {
    name: ShapleyValues(FrozenEstimator(model), subsample=20, random_state=0).fit(X)
    for name, model in models.items()
}
for name, inspector in inspectors.items():
    print(f"{name:16}{inspector.algorithm_}")

# %%
# Three models of the same patients
# ---------------------------------
#
# The models agree on what is most important, bmi and s5, and the linear one has a
# large share for s1 that the others have not: s1 and s2 nearly cancel each other in it.
figure, axes = plt.subplots(1, 3, figsize=(7.2, 4), layout="constrained")
for ax, (name, inspector) in zip(axes, inspectors.items(), strict=True):
    ShapleyImportanceDisplay.from_explanation(inspector.explain(X[:12]), ax=ax)
    ax.set_title(name)

# %%
# Correlated features
# -------------------
#
# "interventional" is true to the model: an absent feature has its values from other
# patients, and each feature gets what its own coefficient does. "correlation" is true
# to the data: an absent feature is what the present ones predict of it, so that
# features that go together share. The large opposite shares of s1 and s2 are gone then.
figure, axes = plt.subplots(1, 2, figsize=(7.2, 4), layout="constrained")
for ax, kind in zip(axes, ("interventional", "correlation"), strict=True):
    inspector = LinearSHAP(FrozenEstimator(linear), perturbation=kind, random_state=0)
    explanation = inspector.fit(X).explain(X)
    ShapleyImportanceDisplay.from_explanation(explanation, ax=ax)
    ax.set_title(kind)

# %%
# Features that work together
# ---------------------------
#
# Shapley values split what two features do together in halves. A ``BreakDown`` with
# ``interactions=True`` gives it a step of its own, where it is larger than what either
# does alone: here age and sex have a step together. The result is a
# ``BreakDownExplanation``, which knows the steps.
patient = X.iloc[[95]]
inspector = BreakDown(
    FrozenEstimator(machine), interactions=True, subsample=20, random_state=0
)
told = inspector.fit(X).explain(patient)
print(type(told).__name__, told.step_names(0))
_ = ShapleyWaterfallDisplay.from_explanation(told)

# %%
# The same patient by Shapley values, where age and sex have a bar each:
shares = inspectors["support vectors"].explain(patient)
_ = ShapleyWaterfallDisplay.from_explanation(shares)
