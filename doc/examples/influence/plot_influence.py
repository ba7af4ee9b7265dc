"""
Can wrong labels be found by the influence of rows?
===================================================

Of the patients of scikit-learn's breast cancer data some get the wrong label here, as
happens wherever people enter data. A logistic regression is fitted to all of them.

See the blue line rise where the rows of the largest influence are left out: the model
becomes better, because many of them have a wrong label. Rows left out at random (grey)
do not help.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.influence import InfluenceDisplay, InfluenceFunctions

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.4, stratify=y, random_state=0
)
rng = np.random.default_rng(0)
n_rows, labels = len(X_train), y_train.to_numpy().copy()
flipped = rng.choice(n_rows, n_rows // 10, replace=False)
labels[flipped] = 1 - labels[flipped]
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
inspector = InfluenceFunctions(model).fit(X_train, labels)


def probabilities(X, y):
    """Return the probabilities of the labels."""
    return inspector.predict_proba(X)[np.arange(len(X)), y]


# %%
# Self-influence
# --------------
#
# *Self-influence* is by how much the loss of a row rises when that row is left out of
# the fit. It is large for rows that nothing but themselves speaks for: wrong labels,
# and true rarities. So the list begins with those to look at first: the table says how
# many of the wrong labels are among the first k rows, and how many would be by chance.
#
# To find wrong labels, sorting by the loss alone does as well or better on these data:
# self-influence also asks how much a row matters, and a wrong label among many like
# rows matters little. It says what the wrong labels have done, which the loss does not.
influence = inspector.self_influence_
losses = -np.log(probabilities(X_train, labels))
print(f"{len(flipped)} of {n_rows} labels are wrong. Among the first k rows:\n")
print(f"{'k':>6}{'by influence':>15}{'by loss':>10}{'by chance':>12}")
for k in (10, len(flipped), 2 * len(flipped)):
    found = [
        np.isin(np.argsort(-values)[:k], flipped).sum()
        for values in (influence, losses)
    ]
    print(f"{k:6}{found[0]:15}{found[1]:10}{k * len(flipped) / n_rows:12.1f}")

# %%
# Rows of large influence are to be looked at, not to be thrown out: ``check`` compares
# what is said of the ten largest with fits without them.
print(f"Correlation with fits without the ten largest: {inspector.check():.4f}")

# %%
# What would be gained?
# ---------------------
#
# Accuracy on other patients, whose labels are right, of models without more and more of
# the rows: those of largest self-influence, and rows at random. Without the first fifty
# or so the model does better; without rows at random it does not.
_ = InfluenceDisplay.from_removal(
    model,
    X_train,
    labels,
    influence,
    X_test=X_test,
    y_test=y_test,
    sizes=np.linspace(0, 0.5 * n_rows, 11).astype(int),
    random_state=0,
)

# %%
# Who is behind one mistake?
# --------------------------
#
# The patient that the model is most wrong about, and the training rows that matter most
# to that: without those to the left it would be less wrong.
truth = probabilities(X_test, y_test)
worst = int(np.argmin(truth))
print(f"Probability of the true label of patient {worst}: {truth[worst]:.2f}")
one = slice(worst, worst + 1)
_ = InfluenceDisplay.from_explanation(
    inspector.explain(X_test[one], y_test[one]), features=["worst area"], max_entries=10
)
