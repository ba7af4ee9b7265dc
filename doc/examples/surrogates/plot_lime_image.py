"""Why does the model see that in the image? LIME on digits and on photographs.

Two small models look at images, and both are asked the same question: which parts of
this image speak for your answer, and which against it?

The first reads handwritten digits of 8 x 8 pixels, which it gets as rows of 64 numbers.
The image that it is least sure of is explained, for the three digits that it hesitates
between: what makes it a 9 may be what makes it no 3.

The second tells flowers, leaves, buildings and the sky by their colours. It has been
trained on small tiles of two photographs, and is then shown a montage of both, a
pavilion beside a dahlia. It says how much of each label it sees; the explanation shows
where: the dahlia speaks for "flower", the pavilion against it. Segments are hidden by a
magenta that the model has never seen. Their mean colours, the default, would tell a
model of colours nearly as much as the segments themselves do.

Segments in orange speak for a label, segments in blue against it; the strongest have
black outlines. The R squared above each panel tells how well sums of segments describe
the model around this image: near one the picture can be believed.

Run it as ``python doc/examples/surrogates/plot_lime_image.py``. It prints the strongest
segments and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_sample_image
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_interpret.surrogates import LimeImage, LimeImageDisplay

FIGURES = Path("figures")
TILE = 24
MAGENTA = (255, 0, 255)
# Where to find what, in photographs of half the size: rows and columns.
PLACES = {
    ("flower.jpg", "flower"): (slice(50, 165), slice(90, 210)),
    ("flower.jpg", "leaves"): (slice(0, 213), slice(0, 80)),
    ("china.jpg", "building"): (slice(40, 165), slice(50, 150)),
    ("china.jpg", "sky"): (slice(0, 100), slice(170, 320)),
}


def explain_digit():
    """Return the display of the digit that a kernel machine is least sure of."""
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(
        Nystroem(gamma=0.001, n_components=100, random_state=0),
        LogisticRegression(C=10.0, max_iter=500),
    )
    model.fit(X[:1200], y[:1200])
    unsure = 1200 + np.argmin(model.predict_proba(X[1200:]).max(axis=1))
    print(f"Digit in row {unsure}: a {y[unsure]}")
    inspector = LimeImage(FrozenEstimator(model), image_shape=(8, 8), random_state=0)
    return LimeImageDisplay.from_estimator(inspector.fit(X), X, row=unsure)


def photograph(name):
    """Return a photograph of half the size, (height, width, 3)."""
    return load_sample_image(name)[::2, ::2]


def tiles(n_tiles=60):
    """Return square tiles of the photographs, and what is on them."""
    rng = np.random.default_rng(0)
    images, labels = [], []
    for (name, label), (rows, columns) in PLACES.items():
        area = photograph(name)[rows, columns]
        tops = rng.integers(area.shape[0] - TILE, size=n_tiles)
        lefts = rng.integers(area.shape[1] - TILE, size=n_tiles)
        for top, left in zip(tops, lefts, strict=True):
            images.append(area[top : top + TILE, left : left + TILE])
            labels.append(label)
    return np.stack(images), np.array(labels)


def colour_shares(images):
    """Return the share of each of 64 colours in each image, of whatever size."""
    codes = images.reshape(len(images), -1, 3) // 64 @ np.array([16, 4, 1])
    return (
        np.stack([np.bincount(code, minlength=64) for code in codes]) / codes.shape[1]
    )


def explain_montage():
    """Return the display of a montage, explained to a model of colours."""
    model = make_pipeline(
        FunctionTransformer(colour_shares), LogisticRegression(C=3.0)
    ).fit(*tiles())
    pavilion, dahlia = photograph("china.jpg"), photograph("flower.jpg")
    montage = np.concatenate([pavilion[:200, 20:180], dahlia[:200, 80:240]], axis=1)
    # Asked about an array of images, the model is asked about arrays of images.
    return LimeImageDisplay.from_estimator(
        model, montage[None], hide_color=MAGENTA, n_samples=300, random_state=0
    )


def main():
    """Explain both images, print the strongest segments, draw them."""
    FIGURES.mkdir(exist_ok=True)
    for name, display in (("digit", explain_digit()), ("montage", explain_montage())):
        table = display.to_frame().groupby("output", sort=False).head(3)
        print(f"\nStrongest segments of the {name}")
        print(table.round(3).to_string(index=False))
        path = FIGURES / f"lime_{name}.png"
        display.figure_.savefig(path, dpi=150)
        plt.close(display.figure_)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
