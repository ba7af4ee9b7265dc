"""
Can a few flowers stand in for all when predicting a number?
============================================================

Someone who knows irises may remember a few typical flowers, and think of the one that
is most alike. ``NearestPrototypeRegressor`` does just that: it chooses medoids of the
flowers, and predicts for the petals of a new one the width of those of its medoid.

See five blue points, each in the middle of a group of grey ones: these flowers stand
for all.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.prototypes import (
    KMedoids,
    NearestPrototypeRegressor,
    PrototypeDisplay,
)

iris = load_iris(as_frame=True).data
X, y = iris.drop(columns="petal width (cm)"), iris["petal width (cm)"]

# %%
# How many are enough?
# --------------------
#
# R² on flowers that were not among those to choose from. Features are standardized
# first, as a distance adds them up. With ten flowers in mind one is about as good as
# with forty: more of them bring more of their own chance along, too.
folds = KFold(5, shuffle=True, random_state=0)
print(f"{'medoids':>8}{'R²':>8}")
for n_clusters in (1, 2, 3, 5, 10, 20, 40):
    medoids = KMedoids(n_clusters=n_clusters, random_state=0)
    model = make_pipeline(StandardScaler(), NearestPrototypeRegressor(selector=medoids))
    print(f"{n_clusters:8}{cross_val_score(model, X, y, cv=folds).mean():8.2f}")

# %%
# Which are they?
# ---------------
#
# A medoid is a flower that exists, so that the table of five can be read as it stands,
# in centimetres. A mean of flowers is none.
model = make_pipeline(
    StandardScaler().set_output(transform="pandas"),
    NearestPrototypeRegressor(selector=KMedoids(n_clusters=5, random_state=0)),
).fit(X, y)
print(iris.iloc[model[-1].prototype_indices_].to_string())

# %%
# Where they lie among all
# ------------------------
#
# On the two principal components each medoid is amid the flowers that it stands for:
# the fifty setosa have two of their own, on one side, and the other three share the
# cloud of versicolor and virginica along the length of their petals.
scaled = model[0].transform(X)
medoids = model[-1].selector_
print(f"Flowers for which each stands: {np.bincount(medoids.labels_).tolist()}")
_ = PrototypeDisplay.from_estimator(medoids, scaled, y, kind="map")
