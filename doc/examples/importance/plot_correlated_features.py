"""Duplicates of a feature: what its importance becomes, and how to get it back.

The response is 2 x income + age + noise. A second table holds, besides, two features
that are income almost to the digit (a correlation of 0.999), as wages and taxes might
be. Random forests learn both tables equally well, and share the splits on income out
over the three columns of the second.

Permuting one of the three leaves the others to tell the truth: each looks far less
important than income alone did. Moved together, as a group, they have what income had
alone. Conditional importance permutes among rows whose other features are alike; it
asks what one column says beyond the others, which for each of the three is next to
nothing.

The second figure has the importances on the rows that the forest was fitted on beside
those on rows that it never saw: what it has learnt by heart shows as the difference.

Run it as ``python doc/examples/importance/plot_correlated_features.py``. It prints the
importances of income by all three ways and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.importance import (
    PermutationImportance,
    PermutationImportanceDisplay,
)

FIGURES = Path("figures")
COPIES = ["income", "wages", "taxes"]
N_TRAIN = 700


def make_data(n_rows=1400):
    """Return a table, the same with two near copies of income, and the response."""
    rng = np.random.default_rng(0)
    single = pd.DataFrame(
        rng.normal(size=(n_rows, 4)), columns=["income", "age", "height", "shoe size"]
    )
    noise = rng.normal(size=n_rows)
    copies = {
        name: single["income"] + 0.04 * rng.normal(size=n_rows) for name in COPIES[1:]
    }
    return single, single.assign(**copies), 2 * single["income"] + single["age"] + noise


def fit(X, y):
    """Return a forest that was fitted on the first half of the rows."""
    forest = RandomForestRegressor(60, max_features=2, random_state=0)
    return forest.fit(X[:N_TRAIN], y[:N_TRAIN])


def importance(model, X, y, **parameters):
    """Return the importances on the other half of the rows, fitted."""
    inspector = PermutationImportance(
        FrozenEstimator(model), n_repeats=5, random_state=0, **parameters
    )
    return inspector.fit(X[N_TRAIN:], y[N_TRAIN:])


def of_income(inspector):
    """Importance of income, or of the group that it is in."""
    return inspector.feature_importances_[0]


def draw_ways(found):
    """Return a figure: one panel for each way of asking, with a common scale."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 6.4), layout="constrained")
    for ax, (name, inspector) in zip(axes.flat, found.items(), strict=True):
        PermutationImportanceDisplay.from_estimator(inspector, ax=ax)
        ax.set_title(name)
    right = max(ax.get_xlim()[1] for ax in axes.flat)
    for ax in axes.flat:
        ax.set_xlim(right=right)
    return figure


def main():
    """Fit both forests, print the importances of income, draw them."""
    single, copied, y = make_data()
    alone, beside = fit(single, y), fit(copied, y)
    group = {"income and copies": COPIES}
    found = {
        "income alone": importance(alone, single, y),
        "with two copies": importance(beside, copied, y),
        "copies as a group": importance(beside, copied, y, feature_groups=group),
        "with two copies, conditional": importance(beside, copied, y, conditional=True),
    }
    print("Importance of income on test rows (decrease of R squared)")
    for name, inspector in found.items():
        print(f"  {name:30}{of_income(inspector):8.3f}")

    FIGURES.mkdir(exist_ok=True)
    ways = FIGURES / "importance_of_copies.png"
    draw_ways(found).savefig(ways, dpi=150)

    display = PermutationImportanceDisplay.from_estimator(
        beside,
        copied[:N_TRAIN],
        y[:N_TRAIN],
        X_test=copied[N_TRAIN:],
        y_test=y[N_TRAIN:],
        n_repeats=5,
        random_state=0,
    )
    table = display.to_frame()
    table = table[table["repeat"].isna()]
    table = table.pivot(index="feature", columns="sample", values="importance")
    print("\nImportance of all features, on rows of training and of test")
    print(table[["train", "test"]].round(3).to_string())
    both = FIGURES / "train_and_test.png"
    display.figure_.savefig(both, dpi=150)
    print(f"\nFigures: {ways.resolve()}\n         {both.resolve()}")


if __name__ == "__main__":
    main()
