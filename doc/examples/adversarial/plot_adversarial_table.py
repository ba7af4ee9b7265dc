"""
Could a fraud get through?
==========================

Payments (drawn here, with a fixed seed): amount, number of items, hour of the day, age
of the account and how the payment is made. A pipeline scales the numbers, encodes the
category and says which payments are fraud. Who wants to get through can split an order,
wait an hour, or buy less; the age of an account and the means of payment are as they
are.

See both accuracies fall as fraudsters may change more. The support vectors start higher
and end lower than the logistic regression.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.adversarial import (
    AdversarialDisplay,
    ProjectedGradient,
    RobustnessCurveDisplay,
)

MEANS = ["card", "transfer", "voucher"]
POSSIBLE = {"amount": (1, 2000), "items": (1, 30), "hour": (0, 23)}

rng = np.random.default_rng(0)
n_rows = 500
means = rng.choice(MEANS, n_rows, p=[0.6, 0.3, 0.1])
X = pd.DataFrame(
    {
        "amount": rng.lognormal(4.5, 0.9, n_rows).clip(1, 2000).round(2),
        "items": rng.integers(1, 13, n_rows),
        "hour": rng.integers(0, 24, n_rows),
        "account_age": rng.exponential(400, n_rows).round(),
        "means": pd.Categorical(means, MEANS),
    }
)
night = np.cos(2 * np.pi * (X["hour"] - 3) / 24)
risk = np.log(X["amount"] / 90) + 1.5 * night + 0.15 * (X["items"] - 6)
risk += 1.5 * (means == "voucher") - 0.002 * (X["account_age"] - 400)
fraud = risk + rng.logistic(0, 0.4, n_rows) > 1
y = pd.Series(np.where(fraud, "fraud", "fair"), name="payment")

# %%
# An attack that keeps to what is possible
# ----------------------------------------
#
# ``features_to_vary`` freezes columns, ``bounds`` keeps the numbers possible, items and
# hours stay whole numbers, and the category is never touched. ``target`` says that
# frauds are to be taken for fair payments. Changes are measured in standard deviations,
# and in the norm "1" they add up: an attack is dear that changes many things.
numbers = ["amount", "items", "hour", "account_age"]
columns = make_column_transformer(
    (StandardScaler(), numbers), (OneHotEncoder(), ["means"])
)
attacks = {
    name: ProjectedGradient(
        make_pipeline(columns, model),
        epsilon=0.5,
        n_steps=5,
        n_restarts=0,
        norm="1",
        target="fair",
        bounds=POSSIBLE,
        features_to_vary=list(POSSIBLE),
        random_state=0,
    )
    for name, model in {
        "logistic regression": LogisticRegression(),
        "support vectors": SVC(C=10),
    }.items()
}

# %%
# Which model to choose?
# ----------------------
#
# An attack wraps a model, and is cross-validated with it. Accuracy alone would choose
# the support vectors, and so would the share of frauds that are stopped as they are.
# They are tricked more easily: the last column shows it.


def stopped(attack, X, y):
    """Return the share of frauds that the model stops."""
    return attack.score(X[y == "fraud"], y[y == "fraud"])


def attacked(attack, X, y):
    """Return the share of frauds that the model stops, even when attacked."""
    return attack.robust_score(X[y == "fraud"], y[y == "fraud"])


scoring = {"accuracy": "accuracy", "stopped": stopped, "attacked": attacked}
results = {}
print("                     accuracy   frauds stopped   when attacked")
for name, attack in attacks.items():
    results[name] = cross_validate(
        attack,
        X,
        y,
        cv=StratifiedKFold(3),
        scoring=scoring,
        return_estimator=True,
        return_indices=True,
    )
    scores = [results[name][f"test_{kind}"].mean() for kind in scoring]
    print(f"{name:20}{scores[0]:9.3f}{scores[1]:17.3f}{scores[2]:16.3f}")

# %%
# The share of frauds that are stopped against the size of the changes, one thin line
# for each fold. To the left the support vectors are above, soon they are not.
ax = None
for name, result in results.items():
    display = RobustnessCurveDisplay.from_cv_results(
        result,
        X,
        y,
        np.linspace(0, 1, 4),
        sample_weight=(y == "fraud").astype(float),
        label=name,
        ax=ax,
    )
    ax = display.ax_

# %%
# One fraud that gets through
# ---------------------------
#
# Each bar is what was changed, in standard deviations, and beside it stands the change
# in the column's own unit.
attack = attacks["support vectors"].fit(X, y)
frauds = X[y == "fraud"]
explanation = attack.explain(frauds)
found = (explanation.status == "found") & (explanation.n_changed > 1)
display = AdversarialDisplay.from_estimator(
    attack, frauds, row=int(np.flatnonzero(found)[0])
)
print(display.to_frame().to_string(index=False))
