"""Correlated features: three effects that part.

Two features are uniform and go together (a normal copula of correlation 0.99), and the
response is x0 + x1^2 + noise, as in section 4 of Apley & Zhu (2020). A random forest
learns it well where there are rows, which is along the diagonal, and knows nothing of
the corners.

Partial dependence averages over the corners too, and shows what the forest makes up
there. The M-plot averages over real rows only, but credits each feature with the effect
of the other. Accumulated local effects do neither, and find x and x^2.

A second figure compares two models by their accumulated local effects: those of a
linear regression are drawn on the axes of those of the forest, and join their legend.

Run it as ``python doc/examples/effects/plot_correlated_features.py``. It prints how far
each curve is from the truth and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    ConditionalDependence,
    EffectComparisonDisplay,
    PartialDependence,
)

FIGURES = Path("figures")
TRUTH = {"x0": lambda x: x, "x1": lambda x: x**2}
TEXT = {"x0": "truth: x", "x1": "truth: x²"}


def make_data(n_rows=5000):
    """Return two uniform features that go together, and the response."""
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal([0, 0], [[1, 0.99], [0.99, 1]], size=n_rows)
    X = norm.cdf(normal)
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.1, size=n_rows)


def inspect(model, X):
    """Return the three effects of both features, by name."""
    model = FrozenEstimator(model)
    return {
        "partial dependence": PartialDependence(
            model,
            grid_resolution=60,
            percentiles=(0, 1),
            subsample=1000,
            random_state=0,
        ).fit(X),
        "M-plot": ConditionalDependence(model).fit(X),
        "accumulated local effects": AccumulatedLocalEffects(model).fit(X),
    }


def distance(effect, X, j):
    """Root mean square distance to the truth over the central 90 % of the rows."""
    low, high = np.quantile(X[:, j], [0.05, 0.95])
    rows = X[(low < X[:, j]) & (X[:, j] < high)]
    difference = effect.transform(rows)[:, j] - TRUTH[f"x{j}"](rows[:, j])
    return difference.std()


def draw(effects, X):
    """Return a figure: the rows, and the effects of both features."""
    figure, (left, *others) = plt.subplots(
        1, 3, figsize=(11, 3.8), layout="constrained"
    )
    left.plot(*X[:1000].T, ".", markersize=2, color="0.4")
    left.set(xlabel="x0", ylabel="x1", title="the rows", aspect="equal")
    for j, (name, truth) in enumerate(TRUTH.items()):
        ax = others[j]
        display = EffectComparisonDisplay.from_estimator(
            list(effects.values()), X, feature=j, ax=ax
        )
        x = np.linspace(0, 1, 101)
        centred = truth(x) - truth(X[:, j]).mean()
        looks = {"color": plt.rcParams["text.color"], "zorder": 5}
        (line,) = ax.plot(x, centred, "--", label=TEXT[name], **looks)
        handles = [*display.legend_.legend_handles, line]
        texts = [text.get_text() for text in display.legend_.get_texts()]
        ax.legend(handles, [*texts, TEXT[name]], fontsize="small", frameon=False)
        ax.set_title(f"effects of {name}")
    return figure


def draw_models(models, X):
    """Return a figure with the accumulated local effects in several models."""
    axes = None
    for name, model in models.items():
        display = AccumulatedLocalEffectsDisplay.from_estimator(
            model, X, target_name="y", line_kw={"label": name}, ax=axes
        )
        axes = display.axes_
    return display.figure_


def main():
    """Fit the forest, print the distances to the truth, draw the curves."""
    X, y = make_data()
    model = RandomForestRegressor(100, min_samples_leaf=10, random_state=0).fit(X, y)
    effects = inspect(model, X)
    print("Distance to the true term over the central 90 % (root mean square)")
    print(f"{'':28}{'x0':>8}{'x1':>8}")
    for name, effect in effects.items():
        print(
            f"  {name:26}" + "".join(f"{distance(effect, X, j):8.3f}" for j in (0, 1))
        )
    FIGURES.mkdir(exist_ok=True)
    path = FIGURES / "correlated_features.png"
    draw(effects, X).savefig(path, dpi=150)
    models = {"random forest": model, "linear regression": LinearRegression().fit(X, y)}
    other = FIGURES / "two_models.png"
    draw_models(models, X).savefig(other, dpi=150)
    print(f"\nFigures: {path.resolve()}, {other.resolve()}")


if __name__ == "__main__":
    main()
