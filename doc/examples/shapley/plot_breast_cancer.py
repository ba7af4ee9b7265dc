"""
Measurements that belong together: one player each, or thirty of them?
======================================================================

Cells of breast tissue were measured under the microscope (scikit-learn's breast cancer
data): ten quantities, and of each the mean, the standard error and the mean of the
three largest over the cells, thirty columns in all. Boosted trees tell benign from
malignant tissue. Every figure of Shapley values is on this page.

See how fast the bars shrink: concave points and perimeter move the log-odds by about 2
on average, smoothness and compactness hardly.
"""

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from sklearn_interpret.shapley import (
    ShapleyDecisionDisplay,
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleyInteractionDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, 1 - y, test_size=0.3, random_state=0, stratify=y
)  # 1 is malignant
model = HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=0).fit(
    X_train, y_train
)
frozen = FrozenEstimator(model)
print(f"Accuracy on patients not seen: {model.score(X_test, y_test):.3f}")

# %%
# Quantities as players
# ---------------------
#
# Thirty Shapley values for a patient are hard to read, and what the radius, the
# perimeter and the area of the same cells share is split between them by chance. With
# ``feature_groups`` each quantity is one player of the game: not the sum of its
# columns' values, which a game of thirty players would give, but what the quantity
# gives when its columns come and go together. The margins of boosting are explained:
# log-odds.
groups = {}
for name in X_train.columns:
    quantity = name.removeprefix("mean ").removeprefix("worst ")
    groups.setdefault(quantity.removesuffix(" error"), []).append(name)
grouped = TreeSHAP(frozen, feature_groups=groups).fit(X_train)
explanation = grouped.explain(X_test)
_ = ShapleyImportanceDisplay.from_explanation(explanation)

# %%
# Columns as players
# ------------------
#
# One point for each patient and column, coloured by the value of the column.
single = TreeSHAP(frozen).fit(X_train)
columns = single.explain(X_test)
_ = ShapleySummaryDisplay.from_explanation(columns)

# %%
# A single column, along its values: a step from benign to malignant, and how far the
# other columns move patients of the same value up and down.
_ = ShapleyDependenceDisplay.from_explanation(columns, feature="worst concave points")

# %%
# Who is alike?
# -------------
#
# Patients whose predictions come about alike are found by clustering their Shapley
# values, in a pipeline:
inspector = TreeSHAP(frozen, feature_groups=groups)
clustering = make_pipeline(inspector, AgglomerativeClustering(4))
labels = clustering.fit_predict(X_test)
for label in np.unique(labels):
    members = labels == label
    print(f"{members.sum():3} patients, {y_test[members].mean():4.0%} malignant")

# %%
# A heat map shows them side by side, one column for each patient,
_ = ShapleyHeatmapDisplay.from_explanation(explanation)

# %%
# and so do forces, which have the prediction as their border.
_ = ShapleyForceDisplay.from_explanation(explanation)

# %%
# The most doubtful patient
# -------------------------
#
# The paths to the predictions say where this patient leaves the others,
doubtful = int(np.abs(explanation.predictions).argmin())
_ = ShapleyDecisionDisplay.from_explanation(explanation, highlight=[doubtful])

# %%
# and a waterfall of the probability, in place of the log-odds, has the steps.
chances = TreeSHAP(
    frozen, feature_groups=groups, response_method="predict_proba", subsample=100
).fit(X_train)
_ = ShapleyWaterfallDisplay.from_explanation(chances.explain(X_test.iloc[[doubtful]]))

# %%
# Quantities that work together
# -----------------------------
#
# Mean absolute interaction values, pair by pair.
display = ShapleyInteractionDisplay.from_estimator(grouped, X_test)
table = display.to_frame()
together = table[table["feature"] != table["feature2"]]
print(together.head(3).round(2).to_string(index=False))

# %%
# Without any background
# ----------------------
#
# A tree's own training rows can stand in for absent features too (path-dependent). How
# far is that from the background's answer?
by_cover = TreeSHAP(frozen, feature_groups=groups, perturbation="path_dependent")
difference = by_cover.fit(X_train).transform(X_test) - explanation.values
print(f"Standard deviation of the difference {difference.std():.2f}, ", end="")
print(f"of values that vary by {explanation.values.std():.2f}")
