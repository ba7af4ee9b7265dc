"""Centred log-probability: a class that lies between two others.

Of the three species of iris, versicolor has petals of middling width. With the other
two merged into one class, the partial dependence of versicolor on the width rises,
stays, and falls. It is drawn twice: as probability, which is squeezed between 0 and 1,
and as centred log-probability, log p_k - mean_l log p_l, on which the terms of an
additive model add up (for two classes it is half the log odds).

The model is boosted trees of depth one: each tree is a step in one feature, so that
the partial dependence on the log scale is the very term that the model has learned. A
Gaussian classifier would give a parabola, which rises and falls but never stays.

Run it as ``python doc/examples/effects/plot_centered_log_probability.py``. It prints
the curve at a few widths and saves a figure in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier

from sklearn_interpret.effects import PartialDependenceDisplay

FIGURES = Path("figures")
WIDTH = "petal width (cm)"
RESPONSES = {
    "probability": "predict_proba",
    "centred log-probability": "centered_log_proba",
}


def load_data():
    """Return the flowers, and whether each one is versicolor."""
    iris = load_iris(as_frame=True)
    return iris.data, np.where(iris.target == 1, "versicolor", "other")


def draw(model, X):
    """Return the figure and its displays by the name of the response."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    displays = {}
    for ax, (name, method) in zip(axes, RESPONSES.items(), strict=True):
        displays[name] = PartialDependenceDisplay.from_estimator(
            model, X, features=[WIDTH], response_method=method, ax=ax
        )
        ax.set_title(name)
    return figure, displays


def print_curves(displays):
    """Print the partial dependence at some widths."""
    widths = np.array([0.2, 0.6, 1.0, 1.3, 1.6, 1.9, 2.2])
    print("petal width (cm)          " + "".join(f"{width:7.1f}" for width in widths))
    for name, display in displays.items():
        (line,) = display.lines_[0]
        values = np.interp(widths, *line.get_data())
        print(f"{name:26}" + "".join(f"{value:7.2f}" for value in values))


def main():
    """Fit the classifier, draw both curves, print them."""
    X, y = load_data()
    model = GradientBoostingClassifier(n_estimators=50, max_depth=1, random_state=0)
    figure, displays = draw(model.fit(X, y), X)
    print("Partial dependence of versicolor on the width of its petals\n")
    print_curves(displays)
    FIGURES.mkdir(exist_ok=True)
    path = FIGURES / "centered_log_probability.png"
    figure.savefig(path, dpi=150)
    print(f"\nFigure: {path.resolve()}")


if __name__ == "__main__":
    main()
