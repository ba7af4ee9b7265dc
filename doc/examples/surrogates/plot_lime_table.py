"""
How far can a local line be trusted? LIME on a table
====================================================

LIME draws rows around one row, lets the model predict for them, and fits a small linear
model in which near rows count more. Its weights explain that row, as far as the line
follows the model there, and as far as "near" is well chosen. The model tells malignant
from benign tissue by thirty measurements of cells (scikit-learn's breast cancer data).

See the three bars to the left and the three to the right: the model is torn, its
probability is 0.494. The title also says that the surrogate fits badly here (R² =
0.237).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.surrogates import LimeDisplay, LimeTabular

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.filter(like="worst")
labels = y.map({0: "malignant", 1: "benign"})
forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0).fit(X, labels)
machine = make_pipeline(StandardScaler(), SVC()).fit(X, labels)
doubtful = int(np.abs(forest.predict_proba(X)[:, 1] - 0.5).argmin())
patient = X.iloc[[doubtful]]

# %%
# One patient, in words
# ---------------------
#
# Numbers are cut into quarters, and each bar is what it gives to be in the patient's
# own quarter. The model is a sum of trees, whose local line is found exactly, as with
# infinitely many samples. The title has the local R²: how much of what the forest does
# around this patient the line tells. The result is a ``LocalExplanation``.
lime = LimeTabular(
    FrozenEstimator(forest), target="malignant", n_features_to_select=6, random_state=0
).fit(X)
explanation = lime.explain(patient)
print(f"{type(explanation).__name__}, found by {lime.method_}")
print(explanation.to_frame().round(3).to_string())
_ = LimeDisplay.from_explanation(explanation)

# %%
# What is near?
# -------------
#
# ``kernel_width`` says how fast rows count less with their distance. The same patient,
# the same model, three widths: the narrow kernel has a steeper line, the wide one an
# average over everybody. None of them is wrong; a number without its width says little.
figure, axes = plt.subplots(3, 1, figsize=(7.2, 8.4), layout="constrained")
for ax, width in zip(axes, (0.6, 1.5, 6.0), strict=True):
    one = LimeTabular(
        FrozenEstimator(forest),
        target="malignant",
        n_features_to_select=5,
        kernel_width=width,
        discretize=False,
        random_state=0,
    ).fit(X)
    display = LimeDisplay.from_estimator(one, patient, ax=ax)
    fidelity = float(one.explain(patient).fidelity[0])
    display.axes_.flat[0].set_title(f"width {width}, R² = {fidelity:.2f}")

# %%
# A model that is no sum of trees
# -------------------------------
#
# Here samples are drawn, once in ``fit``. Weights come with standard errors for that
# choice, drawn as lines. ``stability_`` is how much the five strongest features agree
# between other draws: near one, the draw does not matter.
sampled = LimeTabular(
    FrozenEstimator(machine), n_samples=2000, n_features_to_select=6, random_state=0
).fit(X)
print(f"Found by {sampled.method_}, stability {sampled.stability_:.2f}")
_ = LimeDisplay.from_estimator(sampled, patient)
