"""
Which curve does the risk follow? An additive model of a class
==============================================================

A logistic regression draws straight lines: each millimetre more has the same effect.
``GAMClassifier`` lets the data say which curve the log-odds follow, and gives back the
straight line where there is no reason for another. Is that worth it for scikit-learn's
breast cancer data?

See a straight line for the radius and a curve for texture and concavity. The bands are
wide where there are few patients.
"""

import warnings

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.additive import GAMClassifier, SmoothTermDisplay
from sklearn_interpret.exceptions import ExtrapolationWarning

# Single rows of the test set are beyond the training values, as is to be expected.
warnings.simplefilter("ignore", ExtrapolationWarning)

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean radius", "mean texture", "mean concavity", "mean symmetry"]]
y = y.map({0: "malignant", 1: "benign"})

# %%
# Curves beside lines
# -------------------
#
# The loss is that of predictions in five folds: the smaller, the better.
gam = GAMClassifier()
models = {
    "additive model": gam,
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
for name, model in models.items():
    probabilities = cross_val_predict(model, X, y, cv=5, method="predict_proba")
    print(f"{name:20} log loss {log_loss(y, probabilities):.4f}")

# %%
# The terms
# ---------
#
# Each term has as many degrees of freedom as it needs; a straight line has one. The
# p-value tests the term against no effect.
gam.fit(X, y)
print(gam.to_text())

# %%
# The log-odds of ``malignant`` against each measurement. Where there are few patients,
# at the ends, bands are wide: the curve says little there. A curve that bends before it
# gets there says where a threshold would lie.
_ = SmoothTermDisplay.from_estimator(gam, X, target_name="tumour")
