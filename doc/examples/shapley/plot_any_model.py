"""
How sure are sampled Shapley values, and compared with whom?
============================================================

Ten things were measured of diabetes patients, and how far the disease went in the year
after (scikit-learn's diabetes data; sex is a category here, and the columns have names
that say what they are). A neural network behind an encoder learns the one from the
others. It can't be read, it only predicts.

See the wide swarms of triglycerides, bmi and blood pressure: high values (yellow) raise
the predicted progression. HDL lowers it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.shapley import (
    BreakDown,
    ExactShapley,
    KernelSHAP,
    ShapleyForceDisplay,
    ShapleySampling,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
)

NAMES = {
    "bp": "blood pressure",
    "s1": "cholesterol",
    "s2": "LDL",
    "s3": "HDL",
    "s4": "chol / HDL",
    "s5": "triglycerides",
    "s6": "blood sugar",
}
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "1", 2.0: "2"}).astype("category")
X_train, X_test, y_train, y_test = train_test_split(
    X.rename(columns=NAMES), y, test_size=0.2, random_state=0
)
encoder = make_column_transformer(
    (OneHotEncoder(drop="if_binary"), ["sex"]), remainder=StandardScaler()
)
network = MLPRegressor(
    hidden_layer_sizes=(20,),
    activation="tanh",
    solver="lbfgs",
    alpha=10,
    max_iter=5000,
    random_state=0,
)
scaled = TransformedTargetRegressor(network, transformer=StandardScaler())
model = FrozenEstimator(make_pipeline(encoder, scaled).fit(X_train, y_train))
print(f"R² on patients not seen: {model.score(X_test, y_test):.2f}")

# %%
# All coalitions, or some of them
# -------------------------------
#
# Ten features have 1024 coalitions, few enough for ``ExactShapley`` to evaluate them
# all. ``KernelSHAP`` evaluates some, ``ShapleySampling`` those along some orders of the
# features, and both say by standard errors how much the others could change: errors
# should be within two of them in 95 % of the cases, or more. What no standard error
# tells: the background is a sample, here of 50 patients, whose base value is not that
# of all.
sample = {"subsample": 50, "random_state": 0}
few = X_test[:40]
exact = ExactShapley(model, **sample).fit(X_train).explain(X_test)
print("                            mean |error|  mean standard error  within two")
for inspector in (
    *(KernelSHAP(model, n_coalitions=n, **sample) for n in (32, 128)),
    *(ShapleySampling(model, n_permutations=n, **sample) for n in (4, 16)),
):
    found = inspector.fit(X_train).explain(few)
    error = np.abs(found.values - exact[:40].values)
    within = (error <= 2 * found.standard_errors).mean()
    budget = getattr(inspector, "n_coalitions", None) or inspector.n_permutations
    print(f"{type(inspector).__name__:16}{budget:9}{error.mean():13.4f}", end="")
    print(f"{found.standard_errors.mean():19.4f}{within:14.0%}")

# %%
# All patients
# ------------
#
# One point for each patient and feature: patients with many triglycerides or a high
# body mass index have higher predictions *because of* these, in the model's eyes.
_ = ShapleySummaryDisplay.from_explanation(exact, response_name="progression")

# %%
# The same patients from left to right, those of alike explanations side by side.
_ = ShapleyForceDisplay.from_explanation(exact, response_name="progression")

# %%
# Compared with whom?
# -------------------
#
# A Shapley value compares a patient with a background. Against everybody, against those
# with about the same body mass index, and against a single other patient the answers
# differ, because the questions do: among patients of the same body mass index it is no
# reason for anything.
ranks = np.argsort(exact.predictions)
patient = X_test.iloc[ranks[[int(0.9 * len(ranks))]]]
bmi = patient["bmi"].iloc[0]
responses = model.predict(X_train)
other = np.abs(responses - np.median(responses)).argmin()
backgrounds = {
    "everybody": X_train,
    f"bmi {bmi - 2:.0f} to {bmi + 2:.0f}": X_train[
        X_train["bmi"].between(bmi - 2, bmi + 2)
    ],
    "one other patient": X_train.iloc[[other]],
}
figure, axes = plt.subplots(3, figsize=(7, 11.4), layout="constrained")
against = {}
for ax, (name, rows) in zip(axes, backgrounds.items(), strict=True):
    inspector = ExactShapley(model, background=rows).fit(X_train)
    against[name] = inspector.explain(patient)
    ShapleyWaterfallDisplay.from_explanation(
        against[name], ax=ax, max_entries=6, response_name="progression"
    )
    ax.set_title(f"Against {name}, n = {len(rows)}", loc="left", pad=30)
lows, highs = zip(*(ax.get_xlim() for ax in axes), strict=True)
for ax in axes:
    ax.set_xlim(min(lows), max(highs))  # arrows of one length mean the same

# %%
# One order of the features
# -------------------------
#
# A break-down tells one prediction as a story, feature by feature. Its order matters:
# backwards, the same features get other amounts. Shapley values are the mean over all
# orders.
forwards = BreakDown(model, subsample=None).fit(X_train).explain(patient)
order = [patient.columns[feature] for (feature,) in forwards.steps(0)]
backwards = BreakDown(model, subsample=None, order=order[::-1])
backwards = backwards.fit(X_train).explain(patient)
print("                     first to last  last to first  Shapley value")
for feature in np.argsort(-np.abs(against["everybody"].values[0]))[:5]:
    columns = (forwards, backwards, against["everybody"])
    cells = "".join(f"{one.values[0, feature]:+15.1f}" for one in columns)
    print(f"{exact.feature_names[feature]:19}{cells}")
_ = ShapleyWaterfallDisplay.from_explanation(forwards, response_name="progression")
