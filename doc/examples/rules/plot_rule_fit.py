"""
Can rules that add up be read? Diabetes, and one patient
========================================================

RuleFit predicts how far diabetes has come after a year from ten measurements, by a sum:
the coefficients of the rules that hold for a patient, and straight lines. The lasso
leaves a few dozen of 300 rules that small boosted trees have brought.
"""

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.rules import (
    LinearTerm,
    RuleFitClassifier,
    RuleFitDisplay,
    RuleFitRegressor,
    WeightedRule,
)
from sklearn_interpret.shapley import ShapleyWaterfallDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)

# %%
# Is it any good?
# ---------------
#
# R² in five folds, beside the parents of RuleFit: the lasso without rules, and a
# boosting machine. Here the lasso alone does better, since there is little but straight
# lines in the data of so few patients: look at that before you tell rules.
model = RuleFitRegressor(max_rules=300, random_state=0)
others = {
    "RuleFit": model,
    "lasso": make_pipeline(StandardScaler(), LassoCV()),
    "boosting": GradientBoostingRegressor(random_state=0),
}
folds = KFold(5, shuffle=True, random_state=0)
for name, other in others.items():
    print(f"R² of {name}: {cross_val_score(other, X, y, cv=folds).mean():.2f}")

# %%
# The rules
# ---------
#
# The model has a ``WeightedRule`` for each rule and a ``LinearTerm`` for each line, the
# most important first.
model.fit(X, y)
assert all(isinstance(rule, WeightedRule) for rule in model.rules_)
assert all(isinstance(term, LinearTerm) for term in model.linear_terms_)
print(f"{len(model.rules_)} rules and {len(model.linear_terms_)} lines. First:")
for rule in model.rules_[:5]:
    print(f"{rule.coefficient:+6.1f} for {rule.coverage:4.0%}: {rule}")

# %%
# *Importances* of rules and of measurements: by how much, as a standard deviation over
# the patients, each moves the prediction. The number beside the bar of a rule is its
# coefficient, what is added where it holds.
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
# Of classes
# ----------
#
# ``RuleFitClassifier`` does the same for the log-odds of a class: here, of a tumour to
# be benign.
tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
classifier = RuleFitClassifier(max_rules=100, random_state=0).fit(tumours, benign)
print(
    f"{len(classifier.rules_)} rules and {len(classifier.linear_terms_)} lines. First:"
)
for rule in classifier.rules_[:3]:
    print(f"{rule.coefficient:+6.2f} for {rule.coverage:4.0%}: {rule}")
