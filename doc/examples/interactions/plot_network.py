"""
Which parts of a model can be inspected separately?
===================================================

Curves of single features tell all about an additive model, and not all about others.
Hooker's network draws an edge where two features act together in the response. What is
not joined can be inspected separately. Here it is drawn of three models of one table:
a boosting of deep trees, one of stumps, and nearest neighbours.

See two parts without an edge between them: stress and sleep, and the triangle of age,
dose and weight. Steps stands alone.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsRegressor

from sklearn_interpret.interactions import (
    VariableInteractionNetwork,
    VariableInteractionNetworkDisplay,
)

NAMES = ["age", "dose", "weight", "sleep", "stress", "steps"]
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(size=(800, 6)), columns=NAMES)
y = 4 * X["dose"] * X["weight"] * (X["age"] > 0.5) + 3 * X["sleep"] * X["stress"]
y += X["steps"] + rng.normal(scale=0.1, size=len(X))

# %%
# What a boosting of deep trees has found
# ---------------------------------------
#
# Dose, weight and age act together, all three, and so do sleep and stress; steps stand
# alone. The wider an edge, the larger the share of the variance that belongs to the
# pair; the larger a node, the more the feature does alone.
deep = GradientBoostingRegressor(max_depth=4, random_state=0).fit(X, y)
network = VariableInteractionNetwork(
    FrozenEstimator(deep), threshold=0.01, max_order=3, random_state=0
).fit(X)
_ = VariableInteractionNetworkDisplay.from_estimator(network, X)

# %%
# The *cliques* are the sets of features of which the response is, up to the threshold,
# a sum of functions: these can be inspected separately, but each has to be inspected
# as a whole.
for clique in network.cliques_:
    strength, error = network.strengths_[clique], network.standard_errors_[clique]
    print(f"{' and '.join(clique):26}{strength:6.3f} ± {error:.3f}")

# %%
# Other models of the same table
# ------------------------------
#
# Stumps can't join features: there is no edge, and R² says what that costs here.
# Nearest neighbours join everything with everything, for a distance is one number from
# all features: a picture that tells to look for another model.
models = {
    "stumps": GradientBoostingRegressor(max_depth=1, random_state=0),
    "nearest neighbours": KNeighborsRegressor(10),
}
score = clone(deep).fit(X[:600], y[:600]).score(X[600:], y[600:])
print(f"Trees of depth 4: R² = {score:.2f} on new rows")
figure, axes = plt.subplots(2, 1, figsize=(6.4, 8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X[:600], y[:600])
    VariableInteractionNetworkDisplay.from_estimator(
        model, X, threshold=0.01, random_state=0, ax=ax
    )
    ax.set_title(f"{name}, R² = {model.score(X[600:], y[600:]):.2f}")
