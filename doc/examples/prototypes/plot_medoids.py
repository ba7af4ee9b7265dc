"""
Can a few patients stand in for all when predicting a number?
=============================================================

A doctor may remember a few typical patients, and think of the one that is most alike.
``NearestPrototypeRegressor`` does just that: it chooses medoids of the diabetes
patients, and predicts for a new patient what became of those whose nearest medoid is
the same.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.prototypes import (
    KMedoids,
    NearestPrototypeRegressor,
    PrototypeDisplay,
)

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["bmi", "bp", "s5", "s3"]]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# How many are enough?
# --------------------
#
# R² on patients that were not among those to choose from. Features are standardized
# first, as a distance adds them up.
models = {}
print(f"{'medoids':>8}{'R²':>8}")
for n_clusters in (2, 5, 10, 20, 50):
    medoids = KMedoids(n_clusters=n_clusters, random_state=0)
    model = make_pipeline(StandardScaler(), NearestPrototypeRegressor(selector=medoids))
    models[n_clusters] = model.fit(X_train, y_train)
    print(f"{n_clusters:8}{model.score(X_test, y_test):8.2f}")

# %%
# Who are they?
# -------------
#
# A medoid is a patient who exists, so that the table of five can be read as it stands,
# in the units of the measurements. A mean of patients is nobody.
scaler, regressor = models[5]
chosen = regressor.selector_.medoid_indices_
print(X_train.iloc[chosen].assign(progression=y_train.iloc[chosen]).to_string())

# %%
# Where they lie among all
# ------------------------
#
# On the two principal components each medoid is amid the patients that it stands for.
scaled = scaler.set_output(transform="pandas").transform(X_train)
medoids = KMedoids(n_clusters=5, random_state=0).fit(scaled)
sizes = np.bincount(medoids.labels_)
print(f"Patients for whom each stands: {sizes.tolist()}")
_ = PrototypeDisplay.from_estimator(medoids, scaled, y_train, kind="map")
