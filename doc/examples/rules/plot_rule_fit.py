"""
Can rules that add up be read? Diabetes, and one patient
========================================================

RuleFit predicts how far diabetes has come after a year from ten measurements, by a sum:
the coefficients of the rules that hold for a patient, and straight lines. The lasso
leaves a few dozen of 300 rules that small boosted trees have brought.

See, on the left, rules that raise (orange) and lower (blue) the prediction, the most
important ones first; on the right, what they amount to for each feature.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.rules import RuleFitClassifier, RuleFitDisplay, RuleFitRegressor
from sklearn_interpret.shapley import ShapleyWaterfallDisplay

# %%
# Is it any good?
# ---------------
#
# R² in three folds, beside the parents of RuleFit: the lasso without rules, and a
# boosting machine. Here the lasso alone does better, since there is little but straight
# lines in the data of so few patients: look at that before you tell rules.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = RuleFitRegressor(max_rules=300, random_state=0)
others = {
    "RuleFit": model,
    "lasso": make_pipeline(StandardScaler(), LassoCV()),
    "boosting": GradientBoostingRegressor(random_state=0),
}
folds = KFold(3, shuffle=True, random_state=0)
for name, other in others.items():
    print(f"R² of {name}: {cross_val_score(other, X, y, cv=folds).mean():.2f}")

# %%
# The rules
# ---------
#
# A :class:`~sklearn_interpret.rules.WeightedRule` is a rule with its coefficient, what
# is added where it holds; a :class:`~sklearn_interpret.rules.LinearTerm` is a straight
# line. :class:`~sklearn_interpret.rules.RuleFitDisplay` draws their *importance*: by
# how much, as a standard deviation over the patients, each moves the prediction. That
# of a measurement is that of its line, and its share of its rules.
model.fit(X, y)
print(f"{len(model.rules_)} rules and {len(model.linear_terms_)} lines")
_ = RuleFitDisplay.from_estimator(model)

# %%
# One patient
# -----------
#
# Each step is a measurement: its share is that of its rules and its line, compared with
# the mean patient.
patient = X.iloc[[0]]
print(f"Predicted {model.predict(patient)[0]:.0f}, was {y[0]:.0f}")
_ = ShapleyWaterfallDisplay.from_explanation(model.explain(patient))

# %%
# The same prediction by rules. A rule that does not hold has a share, too: where half
# of all patients have the relief of "bmi <= 26.95 and ...", it is bad news not to have
# it.
_ = ShapleyWaterfallDisplay.from_explanation(
    model.explain(patient, by="rules"), max_entries=10
)

# %%
# A sum that is told whole
# ------------------------
#
# Dozens of rules are not kept in mind. Offered five and no lines, the lasso leaves two
# that tell tumours apart. Their sum is all there is to the model; where it is above
# zero, the tumour is called malignant.
tumours, target = load_breast_cancer(return_X_y=True, as_frame=True)
kind = np.where(target == 0, "malignant", "benign")
train, test, kind_train, kind_test = train_test_split(
    tumours, kind, test_size=1 / 3, stratify=kind, random_state=0
)
short = RuleFitClassifier(max_rules=5, linear=False, random_state=0)
print(short.fit(train, kind_train).to_text())

# %%
# What do more rules, and lines, buy on the other tumours?
long = RuleFitClassifier(max_rules=100, random_state=0).fit(train, kind_train)
for name, classifier in {"short": short, "long": long}.items():
    n_entries = len(classifier.rules_) + len(classifier.linear_terms_)
    score = classifier.score(test, kind_test)
    print(f"The {name} sum, of {n_entries}: right about {score:.3f}")
