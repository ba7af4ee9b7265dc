"""
Which rules are good by themselves?
===================================

In a list, a rule is true only where those before it do not hold. *Skope rules* stand
each for itself: of the leaves of many small trees, those are kept whose precision (how
often the rule is right where it holds) and recall (the share of its class for which it
holds) are large enough, on tumours that were not drawn to find them.

See four rules, nearly all of whose bars are of one colour, and the rows that no rule
covers at the bottom.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sklearn_interpret.rules import RulesDisplay, SkopeRulesClassifier

# %%
# The rules
# ---------
#
# Breast cancer: 569 tumours, 30 measurements. Rules are found on two thirds of them and
# read to the others. The figure has a line for each rule: its conditions, the classes
# of the tumours for which it holds, and how many these are (*coverage*).
X, target = load_breast_cancer(return_X_y=True, as_frame=True)
y = np.where(target == 0, "malignant", "benign")
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=1 / 3, stratify=y, random_state=0
)
model = SkopeRulesClassifier(precision_min=0.9, recall_min=0.3, random_state=0)
model.fit(X_train, y_train)
_ = RulesDisplay.from_estimator(model)

# %%
# Are they as good on other tumours?
# ----------------------------------
#
# A :class:`~sklearn_interpret.rules.SkopeRule` has the precision and recall that it was
# chosen for. On the other tumours each is right a little less often: of many rules
# those were taken that looked best.
*rules, default = model.rules_
print(f"{'':12}{'precision':20}recall")
print(f"{'predicts':12}" + 2 * f"{'chosen':8}{'others':12}")
for rule in rules:
    holds, own = rule.holds(X_test), y_test == rule.prediction
    precision = f"{rule.precision:<8.2f}{own[holds].mean():<12.2f}"
    recall = f"{rule.recall:<8.2f}{holds[own].mean():.2f}"
    print(f"{rule.prediction:12}{precision}{recall}")

# %%
# The vote
# --------
#
# How often is their vote right about tumours that they have not seen, with and without
# those for which no rule holds or rules disagree?
right = model.predict(X_test) == y_test
votes = [
    np.any([rule.holds(X_test) for rule in rules if rule.prediction == label], 0)
    for label in model.classes_
]
agree = np.sum(votes, axis=0) == 1
print(f"Right about {right.mean():.3f} of other tumours,")
print(f"about {right[agree].mean():.3f} of the {agree.mean():.0%} where rules agree.")
print(f"Where none holds: {default.prediction}")
