"""
What can be done with an explanation?
=====================================

Every ``explain`` returns an object of its own: it knows the explained rows, the model's
predictions and the names of the features, it can be sliced, printed, drawn, and turned
into a frame. There are four kinds, by what is found for a row: a number for each
feature, other rows, a number for each training row, and a rule.

See how each of the four measurements lowers the log-odds of virginica, from the base
value at the right to the prediction at the left.
"""

import warnings

import pandas as pd
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.counterfactuals import (
    Anchors,
    CounterfactualDisplay,
    ExactCounterfactual,
)
from sklearn_interpret.decomposition import NeighborContributions
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.explanations import (
    BaseExplanation,
    Condition,
    Explanation,
    NeighborExplanation,
    RowExplanation,
    RuleExplanation,
    TrainingExplanation,
)
from sklearn_interpret.influence import InfluenceFunctions
from sklearn_interpret.shapley import LinearSHAP, ShapleyWaterfallDisplay

X, y = load_iris(return_X_y=True, as_frame=True)
X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
X, y = X[50:], y[50:].map({1: "versicolor", 2: "virginica"}).rename("species")
model = FrozenEstimator(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y))
flowers = X.iloc[[0, 20, 99]]

# %%
# A number for each feature
# -------------------------
#
# An ``Explanation`` has ``values``, and ``base_values`` where they start from. Printed,
# it is a summary; in a notebook it is a table.
shares = LinearSHAP(model).fit(X).explain(flowers)
assert isinstance(shares, Explanation)
print(shares)
print(shares.to_frame().round(2).to_string())
print(
    "Values and base value miss the prediction by", abs(shares.additivity_error()).max()
)

# %%
# Rows are taken as of an array, and the axis of rows stays. A display draws one of
# them.
first = shares[0]
print(len(shares), len(first), first.values.shape)
_ = ShapleyWaterfallDisplay.from_explanation(first)

# %%
# It can be made by hand, too, from what another library has found, and drawn alike.
by_hand = Explanation(
    values=[[1.0, -3.0], [0.5, 2.0]],
    base_values=[10.0, 10.0],
    predictions=[8.0, 12.5],
    feature_names=["age", "income"],
    response_name="price",
)
print(by_hand)

# %%
# Other rows
# ----------
#
# A ``RowExplanation`` has ``rows``, of the same columns as the explained ones, which
# the model answers otherwise; ``origin`` says for which row each was found, and
# ``status`` whether one was. Adversarial examples come as one, too; for texts there is
# a ``RemovalExplanation``, of words that have to go.
exact = ExactCounterfactual(model).fit(X)
other = exact.explain(flowers)
assert isinstance(other, RowExplanation)
print(other)
print(other.to_frame()[["row", "feature", "before", "after"]].round(2).to_string())
_ = CounterfactualDisplay.from_estimator(exact, flowers, row=0)

# %%
# A number for each training row
# ------------------------------
#
# A ``TrainingExplanation`` is wide: one column for each training row. ``largest`` has
# the positions of those that matter most, for each explained row.
losses = InfluenceFunctions(make_pipeline(StandardScaler(), LogisticRegression())).fit(
    X, y
)
influence = losses.explain(flowers, y.loc[flowers.index])
assert isinstance(influence, TrainingExplanation)
print(influence)
print(X.iloc[influence.largest(3)[0]].assign(species=y).to_string())

# %%
# A ``NeighborExplanation`` is one that knows the distances, besides.
votes = NeighborContributions(KNeighborsClassifier(5)).fit(X, y).explain(flowers)
assert isinstance(votes, NeighborExplanation)
print(votes.distances.round(2))

# %%
# A rule
# ------
#
# A ``RuleExplanation`` has a rule for each row: a tuple of ``Condition`` (for texts, of
# :class:`~sklearn_interpret.explanations.WordCondition`). ``holds`` says of which other
# rows it speaks.
rules = Anchors(model, precision=0.9, random_state=0).fit(X).explain(X.iloc[[0, 99]])
assert isinstance(rules, RuleExplanation)
print(rules)
print("Flowers that meet each rule:", rules.holds(X).sum(axis=1))
print(Condition(2, "petal length", low=4.9, high=5.1))

# %%
# What they have in common
# ------------------------
kinds = [shares, other, influence, votes, rules]
assert all(isinstance(one, BaseExplanation) for one in kinds)
table = {
    type(one).__name__: [len(one), one.response_name, one.target_name] for one in kinds
}
print(pd.DataFrame(table, index=["rows", "response", "target"]).T.to_string())

# %%
# What it warns of
# ----------------
#
# A result that fails its own check says so, by a warning of a class of its own: here a
# petal that has one width, so that its effect is a point.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    PartialDependence(LogisticRegression()).fit(X.assign(width=1.0), y)
for warning in caught:
    print(f"{warning.category.__name__}: {warning.message}")

# %%
# The others speak of
#
# - **features and rows**:
#   :class:`~sklearn_interpret.exceptions.ConstantFeatureWarning`,
#   :class:`~sklearn_interpret.exceptions.EmptyIntervalWarning`,
#   :class:`~sklearn_interpret.exceptions.UnseenCategoryWarning`,
#   :class:`~sklearn_interpret.exceptions.IdentifierWarning`,
#   :class:`~sklearn_interpret.exceptions.LowWeightWarning`,
#   :class:`~sklearn_interpret.exceptions.OtherTrainingRowsWarning`;
# - **responses**:
#   :class:`~sklearn_interpret.exceptions.SaturatedResponseWarning`,
#   :class:`~sklearn_interpret.exceptions.NonFiniteResponseError`,
#   :class:`~sklearn_interpret.exceptions.AdditivityWarning`;
# - **measures**:
#   :class:`~sklearn_interpret.exceptions.FixedSumWarning`,
#   :class:`~sklearn_interpret.exceptions.UndefinedShareWarning`,
#   :class:`~sklearn_interpret.exceptions.LowFidelityWarning`,
#   :class:`~sklearn_interpret.exceptions.UndefinedFidelityWarning`;
# - **models**:
#   :class:`~sklearn_interpret.exceptions.RefitWarning`,
#   :class:`~sklearn_interpret.exceptions.UnreadableModelError`,
#   :class:`~sklearn_interpret.exceptions.DependentTermsWarning`,
#   :class:`~sklearn_interpret.exceptions.SeparationWarning`,
#   :class:`~sklearn_interpret.exceptions.SkippedSizeWarning`,
#   :class:`~sklearn_interpret.exceptions.DisagreeingChainsWarning`;
# - **time**:
#   :class:`~sklearn_interpret.exceptions.CostlyInspectionWarning`.
