"""
An old model against a new one
==============================

A new model predicts with the same error as the old one. Where do their predictions
differ? ``ModelDifference`` is the difference of two fitted models, as a model that all
inspectors take.

See that the forest and the boosting model differ most at the rush hours.
"""

from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from sklearn_interpret.datasets import make_rentals
from sklearn_interpret.diagnosis import ModelDifference
from sklearn_interpret.effects import PartialDependenceDisplay
from sklearn_interpret.shapley import ShapleySummaryDisplay, ShapleyValues

# %%
# Both models are fitted to the same rows.
X, y = make_rentals(1500, random_state=0)
X = X[["hour", "temperature", "wind", "pressure"]]
old = RandomForestRegressor(50, min_samples_leaf=10, random_state=0).fit(X, y)
new = HistGradientBoostingRegressor(max_iter=60).fit(X, y)
difference = ModelDifference([new, old])

# %%
# The partial dependence of the difference is the difference of both curves. The trees
# of both models are followed; no model is called.
display = PartialDependenceDisplay.from_estimator(
    difference, X, features=["hour", "temperature"], target_name="new - old"
)

# %%
# Shapley values of the difference say which feature moves the new prediction away from
# the old one, row by row.
explanation = ShapleyValues(difference, subsample=100, random_state=0).fit(X).explain(X)
display = ShapleySummaryDisplay.from_explanation(explanation)
