"""
Can breast cancer be told by a list of five lines?
==================================================

Three models of 569 tumours by 30 measurements that are read aloud. OneR has the one
feature that alone makes the fewest errors. RIPPER has a list, which one reads from the
top: the first rule that holds for a tumour decides. The *Bayesian rule list* is the
most probable of all lists of short rules, under a prior for about three of them.

See that one bound on one feature already separates the classes well: each bar has
almost one colour.
"""

from collections import Counter

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from sklearn_interpret.rules import (
    BayesianRuleListClassifier,
    OneRClassifier,
    RIPPERClassifier,
    RulesDisplay,
)

X, target = load_breast_cancer(return_X_y=True, as_frame=True)
y = np.where(target == 0, "malignant", "benign")
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=1 / 3, stratify=y, random_state=0
)

# %%
# The lists, read aloud
# ---------------------
#
# They are found on two thirds of the tumours, and read to the others, beside a forest,
# which nobody can read. With 190 tumours a difference of two points is chance.
models = {
    "OneR": OneRClassifier(),
    "RIPPER": RIPPERClassifier(random_state=0),
    "Bayesian rule list": BayesianRuleListClassifier(random_state=0),
}
for name, model in models.items():
    score = model.fit(X_train, y_train).score(X_test, y_test)
    print(f"{name}, right about {score:.3f} of other tumours:")
    print(model.to_text(), end="\n\n")
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
print(f"A forest: {forest.score(X_test, y_test):.3f}")

# %%
# The figures have a line for each :class:`~sklearn_interpret.rules.Rule`: its
# conditions, the classes of the tumours that it decides on, how many these are
# (*coverage*) and how often it is right (*precision*), among the tumours that it was
# found on.
for model in models.values():
    RulesDisplay.from_estimator(model)

# %%
# How sure is each line?
# ----------------------
#
# A :class:`~sklearn_interpret.rules.BayesianRule` has the probability that it gives for
# malignant, with its 95% credible interval: a line that decides on few tumours is less
# sure.
bayes = models["Bayesian rule list"]
columns = {
    "rule": "rule",
    "share of malignant": "malignant",
    "low share of malignant": "low",
    "high share of malignant": "high",
}
table = bayes.to_frame()[list(columns)].rename(columns=columns)
print(table.round(2).to_string(index=False))

# %%
# No list is the only one
# -----------------------
#
# The chains of the sampler met many that are nearly as probable; these are the
# measurements that most of them have. *R-hat* near one says that the chains agree.
print(f"R-hat {bayes.r_hat_:.2f}; {len(bayes.posterior_)} lists were met,")
print(f"the most frequent one in {bayes.posterior_[0][1]:.1%} of the samples.")
occurs = Counter()
for rules, share in bayes.posterior_:
    names = {condition.name for rule in rules for condition in rule}
    occurs.update(dict.fromkeys(names, share))
for name, share in occurs.most_common(5):
    print(f"{name:22} in {share:.2f} of them")
