"""
Far from the fit, far from the others, or both?
===============================================

A linear model of the progress of diabetes, and three rows that were mistyped here on
purpose: in one the target is wrong, in one the body mass index lacks its decimal point,
and in one both.

See the three mistyped rows: 10 is far from the fit, 20 and 30 are far from the other
rows. Only 20 and 30 come close to the dashed contours of Cook's distance.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.influence import RegressionInfluence, RegressionInfluenceDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
y[[10, 30]] += 300
X.loc[[20, 30], "bmi"] *= 10
TYPING_ERRORS = {10: "target", 20: "column", 30: "both"}

# %%
# Leverage and residual
# ---------------------
#
# The figure has the *leverage* of each row, how far it is from the other rows, and its
# *studentized residual*, how far the fit to the other rows is from it. Neither is
# influence: a row far from the others may lie just where these lead to, and one far
# from the fit among many others moves little. Cook's distance, whose contours are
# dashed, joins both: by how much the coefficients, and so all predictions, would change
# without the row.
linear = RegressionInfluence(LinearRegression()).fit(X, y)
_ = RegressionInfluenceDisplay.from_estimator(linear)

# %%
# The usual table of R's ``influence.measures``, of the mistyped rows first and of the
# five largest of the others. A row that is wrong in a column bends the fit to itself,
# so that its residual need not be large: look at leverages as well as at residuals.
COLUMNS = ["leverage", "residual_studentized", "dffits", "covratio", "cooks_distance"]
measures = linear.to_frame()
shown = measures.loc[list(TYPING_ERRORS), COLUMNS].round(3)
print(shown.assign(error=TYPING_ERRORS.values()).to_string())
others = measures.drop(index=list(TYPING_ERRORS))
print("\nThe largest of the other rows")
print(others.nlargest(5, "cooks_distance")[COLUMNS].round(3).to_string())

# %%
# A logistic regression
# ---------------------
#
# Its measures come from one step of its fit, as R's do: ``approximation="refit"`` has
# them from parameters without each row. The two differ a little for the rows that
# matter most, and put them in the same order.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
few = ["mean texture", "mean area", "mean smoothness", "mean concavity"]
# Standardized, so that the small penalty is the same for all columns.
model = make_pipeline(StandardScaler(), LogisticRegression(C=1000))
logistic = RegressionInfluence(model).fit(X[few], y)
exact = RegressionInfluence(model, approximation="refit").fit(X[few], y)
table = logistic.to_frame()[["leverage", "residual_studentized", "cooks_distance"]]
table = table.assign(exact=exact.cooks_distances_)
print(table.nlargest(5, "cooks_distance").round(3).to_string())
same = np.corrcoef(logistic.cooks_distances_, exact.cooks_distances_)[0, 1]
print(f"Correlation over all rows: {same:.3f}")

# %%
# What to see: two bands, one for each class. Residuals of a logistic regression are
# positive for one class and negative for the other; rows at the outer ends of the bands
# are those that the model is wrong about.
_ = RegressionInfluenceDisplay.from_estimator(logistic)
