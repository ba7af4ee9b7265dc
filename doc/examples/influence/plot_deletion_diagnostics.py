"""
What would the model be without this row?
=========================================

The definition of influence is a fit without the row: leave a patient out, fit again,
and see how much the predictions for all patients change on average. That takes any
model, and one fit for each row. Two cases after Molnar's book.

See the ten patients who matter most. None of them moves the mean prediction by more
than 0.04.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.influence import (
    DeletionDiagnostics,
    InfluenceDisplay,
    InfluenceTreeDisplay,
)

# %%
# Tumours
# -------
#
# The book has cervical cancer; here it is scikit-learn's breast cancer data, a third of
# the patients, and the decision function of support vectors. Who changes the model
# most?
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[::3].reset_index(drop=True), y.iloc[::3].reset_index(drop=True)
machine = DeletionDiagnostics(make_pipeline(StandardScaler(), SVC())).fit(X, y)
size = machine.influence_
print(f"{len(size)} fits ({machine.method_}). Mean change of the decision function")
print(f"without a patient: {np.median(size):.1e} at the median, ", end="")
print(f"{size.max():.4f} at most")
_ = InfluenceDisplay.from_estimator(machine, max_entries=10)

# %%
# What influential patients have in common
# ----------------------------------------
#
# This is the point of the chapter: a small tree that predicts the influence of patients
# from their measurements. Its title says how much of it the tree explains. Most
# patients hardly change anything: the model is made of those near the border between
# the classes.
display = InfluenceTreeDisplay.from_estimator(machine, max_depth=2)
for leaf in display.to_frame().itertuples():
    print(f"{leaf.n_rows:3} patients, mean {leaf.mean:.5f}: {leaf.rule}")

# %%
# Diabetes
# --------
#
# The book has rented bikes; here it is the progress of the disease by a linear model.
# The table has the patients that change its predictions most, and by how much the
# coefficients change without each. No fit is needed for that: ``method_`` says
# "newton".
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
linear = DeletionDiagnostics(LinearRegression()).fit(X, y)
first = np.argsort(-linear.influence_)[:5]
names = [*linear.feature_names_in_, "intercept"]
changes = pd.DataFrame(linear.parameter_changes_, columns=names).iloc[first]
print(f"({linear.method_})")
print(changes.round(3).to_string())
_ = InfluenceTreeDisplay.from_estimator(linear, max_depth=2)

# %%
# A forest would draw other rows for its trees when one row is gone: with it, all rows
# seem alike in influence, which is that of chance.
