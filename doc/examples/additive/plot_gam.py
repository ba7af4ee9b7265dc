"""A model that explains itself, beside a boosted one.

A table like that of a bike rental: how many bikes are lent in an hour depends on the
hour, in another way on working days, on the temperature and on the weather. The wind
has no effect.

A generalised additive model with a logarithmic link is fitted, whose terms are what it
knows: its curves, with bands, are the whole model. The term of the wind vanishes, for
each term has a second penalty. A boosted model of the same rows is looked at through
partial dependence, which averages over working days and others.

Run it as ``python doc/examples/additive/plot_gam.py``. It prints the terms and how well
both models predict new rows, and saves a figure in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.model_selection import train_test_split

from sklearn_interpret.additive import GAMRegressor, SmoothTermDisplay
from sklearn_interpret.effects import PartialDependenceDisplay

FIGURES = Path("figures")
WEATHER = {"clear": 0.0, "mist": -0.1, "rain": -0.6}
FEATURES = ["hour", "temperature", "weather", "wind"]


def make_data(n_rows=3000):
    """Return the hours of a rental, and how many bikes are lent in each."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, n_rows),
            "day": rng.choice(["working", "free"], n_rows, p=[0.7, 0.3]),
            "temperature": rng.normal(15, 8, n_rows),
            "weather": rng.choice(list(WEATHER), n_rows, p=[0.6, 0.3, 0.1]),
            "wind": rng.gamma(3, 4, n_rows),
        }
    )
    hour = X["hour"].to_numpy()
    peaks = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 18) ** 2) / 6)
    noon = np.cos((hour - 14) / 24 * 2 * np.pi)
    score = np.where(X["day"] == "working", 1.5 * peaks + 0.6 * noon, 1.2 * noon)
    score = score - ((X["temperature"] - 24) / 18) ** 2 + X["weather"].map(WEATHER)
    return X, pd.Series(rng.poisson(np.exp(3 + score)), name="bikes")


def draw(gam, boosted, X):
    """Return a figure: terms above, partial dependence below."""
    figure, axes = plt.subplots(2, 4, figsize=(15, 7), layout="constrained")
    terms = ["hour:day", *FEATURES[1:]]
    above = SmoothTermDisplay.from_estimator(
        gam, X, terms=terms, target_name="bikes", ax=axes[0]
    )
    below = PartialDependenceDisplay.from_estimator(
        boosted, X, FEATURES, target_name="bikes", ax=axes[1]
    )
    # One legend for both rows, below them.
    handles = above.legend_.legend_handles
    texts = [text.get_text() for text in above.legend_.get_texts()]
    above.legend_.remove()
    below.legend_.remove()
    figure.legend(handles, texts, loc="outside lower center", ncols=5, frameon=False)
    return figure


def main():
    """Fit both models, print the terms and the scores, draw."""
    X, y = make_data()
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    terms = {
        "hour": "cyclic",
        "day": "category",
        "temperature": "spline",
        "weather": "category",
        "wind": "spline",
    }
    gam = GAMRegressor(
        terms=terms, family="poisson", by={"hour": "day"}, periods={"hour": 24}
    ).fit(train, y_train)
    boosted = HistGradientBoostingRegressor(
        loss="poisson", categorical_features=["day", "weather"], random_state=0
    ).fit(train, y_train)
    print(gam.summary().round(3))
    print("\nShare of the deviance of new rows that is explained")
    for name, model in {"additive model": gam, "boosted trees": boosted}.items():
        share = d2_tweedie_score(y_test, model.predict(test), power=1)
        print(f"  {name:16}{share:.3f}")
    FIGURES.mkdir(exist_ok=True)
    path = FIGURES / "gam.png"
    draw(gam, boosted, train).savefig(path, dpi=150)
    print(f"\nFigure: {path.resolve()}")


if __name__ == "__main__":
    main()
