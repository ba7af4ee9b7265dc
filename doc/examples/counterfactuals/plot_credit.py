"""
Why was the credit refused, and what would have got it?
=======================================================

Applications for credit with what a bank asks: age, occupation, housing, savings, the
amount and how many months it runs (drawn here, with a fixed seed, after the German
credit data that textbooks use). A forest of small trees gives each the probability that
it is paid back, and the bank grants what has more than one half.

See the arrow: with 38 months instead of 41, and nothing else changed, the credit is
granted. The grey bars are the months of all applications.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.counterfactuals import (
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
)
from sklearn_interpret.exceptions import NoCounterfactualWarning

SAVINGS = ["little", "moderate", "quite rich", "rich"]

rng = np.random.default_rng(0)
n_rows = 1000
age = np.clip(rng.gamma(6, 3.5, n_rows) + 19, 19, 75).astype(int)
amount = np.clip(rng.lognormal(7.8, 0.7, n_rows), 300, 18000).round(-1)
months = np.clip(amount / 250 + rng.normal(8, 7, n_rows), 4, 60).astype(int)
job = rng.choice(["unskilled", "skilled", "management"], n_rows, p=[0.3, 0.5, 0.2])
housing = rng.choice(["free", "own", "rent"], n_rows, p=[0.1, 0.7, 0.2])
savings = rng.choice(4, n_rows, p=[0.6, 0.2, 0.1, 0.1])
score = 1.6 + 0.03 * (age - 36) - 0.08 * (months - 20) - amount / 6000
score += 0.5 * savings + 0.5 * (housing == "own") + 0.4 * (job == "skilled")
paid = score + rng.logistic(scale=0.6, size=n_rows) > 0
X = pd.DataFrame(
    {
        "age": age,
        "job": pd.Categorical(job),
        "housing": pd.Categorical(housing),
        "savings": pd.Categorical.from_codes(savings, SAVINGS, ordered=True),
        "amount": amount,
        "months": months,
    }
)
y = np.where(paid, "paid back", "lost")

encoder = make_column_transformer(
    (OneHotEncoder(), make_column_selector(dtype_include="category")),
    remainder="passthrough",
)
forest = RandomForestClassifier(25, max_depth=5, random_state=0)
model = FrozenEstimator(make_pipeline(encoder, forest).fit(X, y))

granted = model.predict_proba(X)[:, list(model.classes_).index("paid back")]
row = int(np.abs(granted - 0.2).argmin())
applicant = X.iloc[[row]]
print(f"P(paid back) = {granted[row]:.2f}: refused")
print(applicant.to_string(index=False))

# %%
# The nearest application that would have been granted
# ----------------------------------------------------
#
# It is proved to be the nearest, as the model is a sum of trees. Age and occupation do
# not change, as an answer must be something that the applicant can act on; amount and
# duration may only become smaller.
WISH = {
    "target": "paid back",
    "features_to_vary": ["amount", "months", "savings", "housing"],
    "direction": {"amount": "decrease", "months": "decrease"},
}
COLUMNS = ["counterfactual", "feature", "before", "after"]
exact = ExactCounterfactual(model, desired=(0.5, None), **WISH).fit(X)
nearest = exact.explain(applicant)
print(nearest.to_frame()[COLUMNS].to_string(index=False))
print(f"Proved to be the nearest: {bool(nearest.optimal[0])}")
_ = CounterfactualDisplay.from_estimator(exact, applicant)

# %%
# Several, with some room
# -----------------------
#
# Near the border a bank may yet say no. Here the probability is to be at least 0.6, and
# there are to be three answers that are apart, as people differ in what they can do.
spheres = GrowingSpheres(
    model, desired=(0.6, None), n_counterfactuals=3, random_state=0, **WISH
).fit(X)
print(spheres.explain(applicant).to_frame()[COLUMNS].to_string(index=False))
_ = CounterfactualDisplay.from_estimator(spheres, applicant)

# %%
# What cannot be
# --------------
#
# A probability of 0.95 by changing nothing but the housing: the answer is a proof that
# there is no such row, with the reason.
impossible = ExactCounterfactual(
    model, desired=(0.95, None), target="paid back", features_to_vary=["housing"]
).fit(X)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoCounterfactualWarning)
    none = impossible.explain(applicant)
print(f"{none.status[0]}, {none.reasons[0]}")
