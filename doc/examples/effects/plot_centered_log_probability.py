"""
On which scale do the terms of a classifier add up?
===================================================

Of the three species of iris, versicolor has petals of middling width. With the other
two merged into one class, the partial dependence of versicolor on the width rises,
stays, and falls. Here it is drawn twice: as a probability, which is squeezed between 0
and 1, and as *centred log-probability*,

.. math:: \\log p_k - \\frac{1}{K} \\sum_l \\log p_l,

on which the terms of an additive model add up. For two classes it is half the log-odds.

See that both curves have the same shape, on another scale and around another level.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier

from sklearn_interpret.effects import PartialDependenceDisplay

iris = load_iris(as_frame=True)
X, y = iris.data, np.where(iris.target == 1, "versicolor", "other")

# %%
# The model is boosted trees of depth one. Each tree is a step in one feature, so that
# the partial dependence on the log scale is the very term that the model has learned. A
# Gaussian classifier would give a parabola, which rises and falls but never stays.
model = GradientBoostingClassifier(n_estimators=50, max_depth=1, random_state=0)
model.fit(X, y)

WIDTH = "petal width (cm)"
RESPONSES = {
    "probability": "predict_proba",
    "centred log-probability": "centered_log_proba",
}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
displays = {}
for ax, (name, method) in zip(axes, RESPONSES.items(), strict=True):
    displays[name] = PartialDependenceDisplay.from_estimator(
        model, X, features=[WIDTH], response_method=method, ax=ax
    )
    ax.set_title(name)

# %%
# What to see: both panels have a plateau between 0.8 and 1.6 cm, with a low shelf on
# each side. On the log scale the heights of the shelves are what the width gives, and
# would be the same for any other lengths. As probabilities they are not: the average of
# probabilities depends on where the other features have put each flower already.
widths = np.array([0.2, 0.6, 1.0, 1.3, 1.6, 1.9, 2.2])
print("petal width (cm)          " + "".join(f"{width:7.1f}" for width in widths))
for name, display in displays.items():
    (line,) = display.lines_[0]
    values = np.interp(widths, *line.get_data())
    print(f"{name:26}" + "".join(f"{value:7.2f}" for value in values))

# %%
# That the log scale adds up can be seen by the flowers' own curves: there they are
# parallel, so that set to zero at their left ends they are all one. As probabilities
# they part: what the width gives depends on where the other features have put a flower.
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import IndividualConditionalExpectation

for name, method in RESPONSES.items():
    curves = IndividualConditionalExpectation(
        FrozenEstimator(model), features=[WIDTH], center="start", response_method=method
    ).fit(X)
    spread = curves.curves_[0].std(axis=0).max()
    print(f"{name:26}largest deviation between curves {spread:.3f}")
