"""
Why does the model see that in the image?
=========================================

Two small models look at images, and both are asked the same question: which parts of
this image speak for your answer, and which against it? LIME hides segments of an image,
lets the model predict for the rest, and fits a small linear model to its answers.

See which strokes speak for (orange) and against (blue) each of the three most probable
digits.
"""

import numpy as np
from sklearn.datasets import load_digits, load_sample_image
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_interpret.surrogates import LimeImage, LimeImageDisplay

# %%
# A digit between three readings
# ------------------------------
#
# The first model reads handwritten digits of 8 x 8 pixels, which it gets as rows of 64
# numbers. The image that it is least sure of is explained, for the three digits that it
# hesitates between: what makes it a 9 may be what makes it no 3.
#
# Segments in orange speak for a label, segments in blue against it; the strongest have
# outlines. The R squared above each panel tells how well sums of segments describe the
# model around this image: near one the picture can be believed.
X, y = load_digits(return_X_y=True)
model = make_pipeline(
    Nystroem(gamma=0.001, n_components=100, random_state=0),
    LogisticRegression(C=10.0, max_iter=500),
)
model.fit(X[:1200], y[:1200])
unsure = 1200 + np.argmin(model.predict_proba(X[1200:]).max(axis=1))
inspector = LimeImage(FrozenEstimator(model), image_shape=(8, 8), random_state=0)
_ = LimeImageDisplay.from_estimator(inspector.fit(X), X, row=unsure, n_cols=2)

# %%
# The result is an ``ImageExplanation``: a weight for each segment, and the segments.
explanation = inspector.explain(X[[unsure]])
print(type(explanation).__name__, explanation.values.shape)

# %%
# Where in the picture is the flower?
# -----------------------------------
#
# The second model tells flowers, leaves, buildings and the sky by their colours. It has
# been trained on small tiles of two photographs.
TILE = 24
# Where to find what, in photographs of half the size: rows and columns.
PLACES = {
    ("flower.jpg", "flower"): (slice(50, 165), slice(90, 210)),
    ("flower.jpg", "leaves"): (slice(0, 213), slice(0, 80)),
    ("china.jpg", "building"): (slice(40, 165), slice(50, 150)),
    ("china.jpg", "sky"): (slice(0, 100), slice(170, 320)),
}
photographs = {
    name: load_sample_image(name)[::2, ::2] for name in ("china.jpg", "flower.jpg")
}
rng = np.random.default_rng(0)
images, labels = [], []
for (name, label), (rows, columns) in PLACES.items():
    area = photographs[name][rows, columns]
    tops = rng.integers(area.shape[0] - TILE, size=60)
    lefts = rng.integers(area.shape[1] - TILE, size=60)
    for top, left in zip(tops, lefts, strict=True):
        images.append(area[top : top + TILE, left : left + TILE])
        labels.append(label)


def colour_shares(images):
    """Return the share of each of 64 colours in each image, of whatever size."""
    codes = images.reshape(len(images), -1, 3) // 64 @ np.array([16, 4, 1])
    counts = [np.bincount(code, minlength=64) for code in codes]
    return np.stack(counts) / codes.shape[1]


model = make_pipeline(FunctionTransformer(colour_shares), LogisticRegression(C=3.0))
_ = model.fit(np.stack(images), np.array(labels))

# %%
# It is then shown a montage of both, a pavilion beside a dahlia. It says how much of
# each label it sees; the explanation shows where: the dahlia speaks for "flower", the
# pavilion against it. Segments are hidden by a magenta that the model has never seen.
# Their mean colours, the default, would tell a model of colours nearly as much as the
# segments themselves do. The images are given as one array, as the model takes them.
pavilion, dahlia = photographs["china.jpg"], photographs["flower.jpg"]
montage = np.concatenate([pavilion[:200, 20:180], dahlia[:200, 80:240]], axis=1)
_ = LimeImageDisplay.from_estimator(
    model,
    montage[None],
    n_cols=2,
    hide_color=(255, 0, 255),
    n_samples=300,
    random_state=0,
)
