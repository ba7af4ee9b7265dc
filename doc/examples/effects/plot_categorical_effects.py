"""Categories: what a month does by itself, and what it does through the weather.

Bicycles are hired out over three years (simulated, so that the truth is known). More
are hired on warm days, fewer in the rain. Holidays in July and August take some
customers away, and the new term in September brings some; otherwise the month by itself
does nothing. But of course it is warm in summer.

The M-plot of the month shows the seasons. Accumulated local effects leave the
temperature to the temperature: they move a day to the neighbouring month only, with the
weather that it had. Which months are neighbours is found from the rows: those of alike
temperature stand next to each other. An order that has a meaning of its own, such as
that of the sky, is kept.

The last panel is the second-order effect of sky and working day: what the two do
together beyond what each does alone. Rain keeps away those who ride for pleasure, and
they ride on free days.

Run it as ``python doc/examples/effects/plot_categorical_effects.py``. It prints the
effects of the months and saves a figure in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    ConditionalDependence,
    EffectComparisonDisplay,
)

FIGURES = Path("figures")
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
MONTHS += ["Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WARMTH = np.array([1, 2, 6, 10, 15, 18, 20, 19, 15, 10, 5, 2])
OWN_EFFECT = np.array([0, 0, 0, 0, 0, 0, -40, -40, 30, 0, 0, 0])
SKY = ["clear", "cloudy", "rain"]


def make_data(n_days=1096):
    """Return days with month, temperature, sky and kind of day; bicycles hired."""
    rng = np.random.default_rng(0)
    month = np.arange(n_days) * 12 // 365 % 12
    temperature = (WARMTH[month] + rng.normal(scale=4, size=n_days)).round(1)
    sky = rng.choice(3, p=[0.5, 0.3, 0.2], size=n_days)
    working = rng.random(n_days) < 5 / 7
    hired = 200 + 10 * temperature + OWN_EFFECT[month]
    hired = hired - np.array([0, 20, 60])[sky] - 80 * ((sky == 2) & ~working)
    X = pd.DataFrame(
        {
            "month": pd.Categorical.from_codes(month, MONTHS),
            "temperature": temperature,
            "sky": pd.Categorical.from_codes(sky, SKY, ordered=True),
            "working day": working,
        }
    )
    return X, (hired + rng.normal(scale=20, size=n_days)).round()


def print_months(local, mixed):
    """Print the effects of the months in the order that was found."""
    order, effects = local.edges_[0], local.effects_[0]
    means = dict(zip(mixed.edges_[0], mixed.average_[0], strict=True))
    overall = np.average(mixed.average_[0], weights=mixed.interval_counts_[0])
    own = dict(zip(MONTHS, OWN_EFFECT - OWN_EFFECT.mean(), strict=True))
    print("Bicycles more or fewer than on average, months in the order by similarity\n")
    print("month   by itself: truth  ALE   with all that goes along: M-plot")
    for month, effect in zip(order, effects, strict=True):
        mean = means[month] - overall
        print(f"{month}   {own[month]:17.0f} {effect:5.0f} {mean:30.0f}")


def draw(local, mixed, X):
    """Return a figure with the months, the sky, and sky and working day together."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    EffectComparisonDisplay.from_estimator(
        [mixed, local], X, feature="month", ax=axes[0]
    )
    for ax, entry in zip(axes[1:], ["sky", ("sky", "working day")], strict=True):
        AccumulatedLocalEffectsDisplay.from_estimator(local, X, features=[entry], ax=ax)
    return figure


def main():
    """Fit the model, print what the months do, draw it."""
    X, y = make_data()
    model = HistGradientBoostingRegressor(
        categorical_features="from_dtype", min_samples_leaf=10, random_state=0
    )
    model = FrozenEstimator(model.fit(X, y))
    features = ["month", "sky", ("sky", "working day")]
    local = AccumulatedLocalEffects(model, features=features, confidence_level=0.95)
    mixed = ConditionalDependence(model, features=["month"])
    local.fit(X)
    mixed.fit(X)
    print_months(local, mixed)
    FIGURES.mkdir(exist_ok=True)
    path = FIGURES / "categorical_effects.png"
    draw(local, mixed, X).savefig(path, dpi=150)
    print(f"\nFigure: {path.resolve()}")


if __name__ == "__main__":
    main()
