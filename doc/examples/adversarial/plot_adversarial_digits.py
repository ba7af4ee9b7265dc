"""How much must a digit change before the model reads another? Attacks on images.

Five models read handwritten digits of 8 x 8 pixels, all of them well. Each is then
attacked: every pixel may become a little darker or lighter, by ``epsilon`` at the most,
and stays between black and white. ``FastGradientSign`` takes one step along the slopes
of the model, ``ProjectedGradient`` many small ones. People hardly see the difference;
how many digits are still read rightly?

The last column turns the question round: how far is the nearest image that the model
reads as another digit? ``MinimalPerturbation`` looks for it along the slopes; a forest
has none, so that ``BoundaryAttack`` asks it for labels alone. Distances are the length
of the change, half of the images being nearer than the median.

Accuracies without an attack do not tell who withstands one. Of a nearly linear model
one step is about as good as many; where a model bends, many steps find more, and a test
by one step alone would flatter it. A curve is what *this* attack could do: it is no
promise that another does no better.

The output compares accuracies with and without attacks. The first figure has a digit,
what the attack adds, and the result; the second has the curves.

Run it as ``python doc/examples/adversarial/plot_adversarial_digits.py``. It prints the
accuracies and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

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
    BoundaryAttack,
    FastGradientSign,
    MinimalPerturbation,
    ProjectedGradient,
    RobustnessCurveDisplay,
)

FIGURES = Path("figures")
EPSILON = 0.1
# Pixels as they are, between black and white.
PIXELS = {"units": "raw", "bounds": (0, 1)}


def make_models():
    """Return the models by name."""
    return {
        "logistic regression": LogisticRegression(max_iter=1000),
        "the same, C=0.01": LogisticRegression(C=0.01, max_iter=1000),
        "support vectors": SVC(),
        "neural network": MLPClassifier((64,), early_stopping=True, random_state=0),
        "random forest": RandomForestClassifier(random_state=0),
    }


def make_attacks(model):
    """Return attacks on a fitted model by name: two within a budget, and a search."""
    asked = {"epsilon": EPSILON, **PIXELS}
    frozen = FrozenEstimator(model)
    if isinstance(model, RandomForestClassifier):
        return {"nearest": BoundaryAttack(frozen, random_state=0, **PIXELS)}
    return {
        "one step": FastGradientSign(frozen, **asked),
        "many steps": ProjectedGradient(frozen, n_steps=10, n_restarts=0, **asked),
        "nearest": MinimalPerturbation(frozen, norm="2", **PIXELS),
    }


def main():
    """Fit and attack the models, print their accuracies, draw a digit and curves."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X / 16, y, train_size=1200, test_size=100, stratify=y, random_state=0
    )
    FIGURES.mkdir(exist_ok=True)
    attacks, ax = {}, None
    print(f"Accuracy on 100 digits, and where pixels change by {EPSILON} at most\n")
    print(f"{'':22}no attack   one step   many steps   nearest image (median)")
    for name, model in make_models().items():
        model.fit(X_train, y_train)
        attacks[name] = make_attacks(model)
        scores = [model.score(X_test, y_test), np.nan, np.nan]
        for place, kind in enumerate(("one step", "many steps"), 1):
            if kind in attacks[name]:
                attack = attacks[name][kind].fit(X_train)
                scores[place] = attack.robust_score(X_test, y_test)
        found = attacks[name]["nearest"].fit(X_train).explain(X_test, y_test)
        scores.append(np.median(found.distances[found.status == "found"]))
        texts = ["-" if np.isnan(score) else f"{score:.3f}" for score in scores]
        print(f"{name:20}{texts[0]:>11}{texts[1]:>11}{texts[2]:>13}{texts[3]:>14}")
        if "many steps" not in attacks[name]:
            continue
        curve = RobustnessCurveDisplay.from_estimator(
            attacks[name]["many steps"],
            X_test,
            y_test,
            np.linspace(0, 2.5 * EPSILON, 6),
            label=name,
            ax=ax,
        )
        ax = curve.ax_

    attack = attacks["support vectors"]["many steps"]
    explanation = attack.explain(X_test, y_test)
    row = int(np.flatnonzero(explanation.status == "found")[0])
    digit = AdversarialDisplay.from_explanation(
        explanation, row=row, image_shape=(8, 8)
    )
    answers = attack.predict(np.vstack([X_test[row], explanation.rows[row]]))
    print(f"\nDigit {row} of the test set, a {y_test[row]}:")
    print(f"read as {answers[0]} by the support vectors, and as {answers[1]} then")
    for name, display in (("digit", digit), ("curves", curve)):
        path = FIGURES / f"adversarial_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
