"""
What can be done with one pixel, a patch, or no knowledge of the model?
=======================================================================

Attacks that change every pixel a little need the model's slopes, and a hand in every
image. Three others need less, or do more: one changes a single pixel, one is a sticker
that works on all images, and one has never seen the model.

See the one pixel at the right edge that turns white, and with it a 3 into a 2.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from sklearn_interpret.adversarial import (
    AdversarialDisplay,
    AdversarialPatch,
    OnePixelAttack,
    ProjectedGradient,
    RobustnessCurveDisplay,
    SubstituteAttack,
)

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=1000, test_size=100, stratify=y, random_state=0
)
regression = LogisticRegression(C=0.01, max_iter=1000).fit(X_train, y_train)
forest = RandomForestClassifier(50, random_state=0).fit(X_train, y_train)

# %%
# One pixel
# ---------
#
# ``OnePixelAttack`` searches by evolution: it asks for predictions alone, of any model.
# Of twenty digits that the forest reads rightly, how many can be changed by one pixel?
pixel = OnePixelAttack(
    FrozenEstimator(forest),
    image_shape=(8, 8),
    population_size=40,
    n_generations=10,
    bounds=(0, 16),
    random_state=0,
).fit(X_train)
right = np.flatnonzero(forest.predict(X_test) == y_test)[:20]
explanation = pixel.explain(X_test[right], y_test[right])
found = np.flatnonzero(explanation.status == "found")
print(f"{len(found)} of {len(right)} digits are read otherwise with one other pixel")
_ = AdversarialDisplay.from_explanation(
    explanation, row=int(found[0]), image_shape=(8, 8)
)

# %%
# A patch
# -------
#
# ``AdversarialPatch`` learns one small image that sends digits to class 8, whatever
# they are. ``apply`` pastes it on images that it was not learned on, here at random
# places. Digits stand in the middle of their images, so that it matters much where it
# is.
patch = AdversarialPatch(
    FrozenEstimator(regression),
    target=8,
    image_shape=(8, 8),
    patch_shape=(4, 4),
    bounds=(0, 16),
    n_steps=30,
    n_restarts=1,
    random_state=0,
).fit(X_train)
others = X_test[y_test != 8]
patched = patch.apply(others, random_state=0)
before, after = (np.mean(regression.predict(rows) == 8) for rows in (others, patched))
print(f"Read as an 8: {before:.0%} of the other digits, {after:.0%} with the patch")
print(
    f"somewhere, {patch.success_rates_.max():.0%} of those of the fit at its best place"
)

figure, axes = plt.subplots(1, 6, figsize=(7.2, 1.6), layout="constrained")
axes[0].imshow(patch.patch_, cmap="gray", vmin=0, vmax=16)
axes[0].set_title("the patch")
for ax, row in zip(axes[1:], patched, strict=False):
    ax.imshow(row.reshape(8, 8), cmap="gray", vmin=0, vmax=16)
    ax.set_title(f"read as {regression.predict([row])[0]}")
for ax in axes:
    ax.set(xticks=[], yticks=[])

# %%
# No knowledge of the model
# -------------------------
#
# The forest has no slopes. ``SubstituteAttack`` asks it to label some images, teaches a
# model of its own to answer alike, and attacks that: what fools the copy often fools
# the forest. The curve of the forest beside that of the logistic regression, whose
# slopes are known:
budget = {"units": "raw", "bounds": (0, 16), "n_steps": 5, "n_restarts": 0}
known = ProjectedGradient(FrozenEstimator(regression), epsilon=2, **budget)
copied = SubstituteAttack(
    FrozenEstimator(forest),
    attack=ProjectedGradient(None, epsilon=2, **budget),
    substitute=LogisticRegression(C=0.01, max_iter=1000),
    n_seeds=100,
    n_rounds=2,
    random_state=0,
)
ax = None
for name, attack in {"regression, known": known, "forest, copied": copied}.items():
    attack.fit(X_train)
    display = RobustnessCurveDisplay.from_estimator(
        attack, X_test, y_test, [0, 1, 2, 3, 4], label=name, ax=ax
    )
    ax = display.ax_
print(f"{copied.n_queries_} questions to the forest; the copy gives the same label")
print(f"to {copied.agreement_:.0%} of the other images")
