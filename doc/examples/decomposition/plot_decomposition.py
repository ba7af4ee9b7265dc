"""
How do models compute a prediction? A path, evidence, votes
===========================================================

Some models can be read: a tree asks questions, naive Bayes adds up evidence, nearest
neighbours vote. Each of them tells its own story of a single prediction. The data are
scikit-learn's diabetes patients and breast tumours.

See the prediction change with each question of the tree: from 152 for all patients to
271 for the five in the last leaf. The grey bars shrink on the way.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.decomposition import (
    DecisionPathDisplay,
    NaiveBayesContributions,
    NeighborContributions,
    TreePathContributions,
)
from sklearn_interpret.influence import InfluenceDisplay
from sklearn_interpret.shapley import ShapleyWaterfallDisplay, TreeSHAP

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, X_test, y, _ = train_test_split(X, y, test_size=0.2, random_state=0)
patient = X_test[:1]

# %%
# A tree: one question after the other
# ------------------------------------
#
# The path of one patient through a tree: the conditions that hold, the mean of the
# training rows behind each, how many these are, and how far the leaves below differ.
tree = DecisionTreeRegressor(max_depth=5, min_samples_leaf=5, random_state=0)
_ = DecisionPathDisplay.from_estimator(tree.fit(X, y), patient)

# %%
# A forest: hundreds of paths
# ---------------------------
#
# What the steps of all paths give to each feature is added up, from the mean of the
# roots to the prediction. Shapley values stand beside it: the sums are the same up to
# the base value, the shares are not. A path gives what two features do together to the
# one that is asked last, and Shapley values take the mean over both orders.
forest = FrozenEstimator(RandomForestRegressor(random_state=0).fit(X, y))
told = {
    kind.__name__: kind(forest).fit(X).explain(patient)
    for kind in (TreePathContributions, TreeSHAP)
}
table = pd.DataFrame(
    {name: [*one.values[0], one.base_values[0]] for name, one in told.items()},
    index=[*X.columns, "base value"],
)
table.loc["prediction"] = table.sum()
print(table.round(1).to_string())
_ = ShapleyWaterfallDisplay.from_explanation(told["TreePathContributions"])

# %%
# Naive Bayes: evidence
# ---------------------
#
# Naive Bayes multiplies odds, and so adds log-odds: it starts from the prior's of a
# tumour to be benign, and adds the evidence of each measurement. This is the tumour
# that it is least sure of: the measurements contradict each other.
MEASURED = ["mean radius", "mean texture", "mean smoothness", "mean symmetry"]
tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
labels = benign.map({0: "malignant", 1: "benign"}).rename("tumour")
inspector = NaiveBayesContributions(GaussianNB(), target="benign")
inspector.fit(tumours[MEASURED], labels)
probabilities = inspector.predict_proba(tumours[MEASURED])
row = int(np.abs(probabilities[:, 1] - 0.5).argmin())
evidence = inspector.explain(tumours[MEASURED].iloc[[row]])
print(f"Tumour {row}: log-odds {evidence.predictions[0]:.2f}")
_ = ShapleyWaterfallDisplay.from_explanation(evidence)

# %%
# Nearest neighbours: votes
# -------------------------
#
# The training rows that vote for a patient, each with its share; the table has how far
# they are, and along which feature most. The explanation is a ``NeighborExplanation``.
model = make_pipeline(StandardScaler(), KNeighborsRegressor(7, weights="distance"))
votes = NeighborContributions(model).fit(X, y).explain(patient)
voters = votes.neighbors[0]
table = pd.DataFrame(
    {
        "share": votes.values[0, voters],
        "target": y.iloc[voters].to_numpy(),
        "distance": votes.distances[0],
        "most along": X.columns[votes.feature_distances[0].argmax(axis=1)],
    },
    index=X.index[voters],
)
print(f"Seven neighbours: {votes.predictions[0]:.0f} predicted")
print(table.round(2).to_string())
_ = InfluenceDisplay.from_explanation(
    votes, row=0, features=["bmi", "s5"], max_entries=7
)
