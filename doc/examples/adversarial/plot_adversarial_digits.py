"""
How much must a digit change before the model reads another?
============================================================

Four models read handwritten digits of 8 x 8 pixels, all of them well. Each is then
attacked: every pixel may become a little darker or lighter, by ``epsilon`` at the most,
and stays between black and white. People hardly see the difference; how many digits are
still read rightly?

See how little the first and the third image differ. No pixel changes by more than a
tenth of the range, and the model reads a 5 in place of a 3.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from sklearn_interpret.adversarial import (
    AdversarialDisplay,
    FastGradientSign,
    HopSkipJump,
    MinimalPerturbation,
    ProjectedGradient,
    RobustnessCurveDisplay,
)

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, train_size=1200, test_size=60, stratify=y, random_state=0
)
models = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "the same, C=0.01": LogisticRegression(C=0.01, max_iter=1000),
    "support vectors": SVC(),
    "neural network": MLPClassifier((64,), early_stopping=True, random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)

# %%
# Attacks along the slopes
# ------------------------
#
# ``FastGradientSign`` takes one step along the slopes of the model,
# ``ProjectedGradient`` many small ones. ``MinimalPerturbation`` turns the question
# round: how far is the nearest image that the model reads as another digit? Distances
# are the length of the change, half of the images being nearer than the median.
#
# Accuracies without an attack do not tell who withstands one. Of a nearly linear model
# one step is about as good as many; where a model bends, many steps find more, and a
# test by one step alone would flatter it.
EPSILON = 0.1
# Pixels as they are, between black and white.
PIXELS = {"units": "raw", "bounds": (0, 1)}

print("                     no attack  one step  many steps  nearest image")
attacks = {}
for name, model in models.items():
    frozen = FrozenEstimator(model)
    one = FastGradientSign(frozen, epsilon=EPSILON, **PIXELS).fit(X_train)
    many = ProjectedGradient(
        frozen, epsilon=EPSILON, n_steps=10, n_restarts=0, **PIXELS
    ).fit(X_train)
    nearest = MinimalPerturbation(frozen, norm="2", **PIXELS).fit(X_train)
    found = nearest.explain(X_test[:30], y_test[:30])
    scores = [model.score(X_test, y_test)]
    scores += [attack.robust_score(X_test, y_test) for attack in (one, many)]
    print(f"{name:20}{scores[0]:10.3f}{scores[1]:10.3f}{scores[2]:12.3f}", end="")
    print(f"{np.median(found.distances[found.status == 'found']):15.3f}")
    attacks[name] = many

# %%
# One digit
# ---------
#
# A digit, what the attack adds, and the result. The change is spread over the whole
# image, and is no stroke of a pen.
attack = attacks["support vectors"]
explanation = attack.explain(X_test, y_test)
row = int(np.flatnonzero(explanation.status == "found")[0])
answers = attack.predict(np.vstack([X_test[row], explanation.rows[row]]))
print(f"Read as {answers[0]} by the support vectors, and as {answers[1]} then")
_ = AdversarialDisplay.from_explanation(explanation, row=row, image_shape=(8, 8))

# %%
# All models, and all sizes
# -------------------------
#
# Accuracy under attack against the size of the changes. Where curves cross, the better
# model of small changes is the worse one of large ones. A curve is what *this* attack
# could do: it is no promise that another does no better.
ax = None
for name, attack in attacks.items():
    display = RobustnessCurveDisplay.from_estimator(
        attack, X_test, y_test, np.linspace(0, 2.5 * EPSILON, 5), label=name, ax=ax
    )
    ax = display.ax_

# %%
# A model without slopes
# ----------------------
#
# A forest is flat almost everywhere. ``HopSkipJump`` asks it for labels alone, and
# walks along the border between them, which takes many more questions to the model. The
# nearest images of the forest are nearer than those of the models above.
forest = RandomForestClassifier(30, random_state=0).fit(X_train, y_train)
boundary = HopSkipJump(FrozenEstimator(forest), random_state=0, **PIXELS)
found = boundary.fit(X_train).explain(X_test[:8], y_test[:8])
print(f"Median distance {np.median(found.distances[found.status == 'found']):.3f}")
