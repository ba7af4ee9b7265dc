"""Why was the credit refused, and what would have got it?

Applications for credit with what a bank asks: age, occupation, housing, savings, the
amount and how many months it runs (drawn here, with a fixed seed, after the German
credit data that textbooks use). A forest of small trees gives each the probability that
it is paid back, and the bank grants what has more than one half.

One application is refused. The first figure has the nearest one that would have been
granted: proved to be the nearest, as the model is a sum of trees. Age and occupation do
not change, as an answer must be something that the applicant can act on; amount and
duration may only become smaller.

Near the border a bank may yet say no. The second figure asks for a probability of at
least 0.6, and for three answers that are apart, as people differ in what they can do.

The last lines ask for what cannot be: a probability of 0.95 by changing nothing but the
housing. The answer is a proof that there is no such row, with the reason.

Run it as ``python doc/examples/counterfactuals/plot_credit.py``. It prints the answers
and saves two figures in ``figures/``.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.counterfactuals import (
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
)
from sklearn_interpret.exceptions import NoCounterfactualWarning

FIGURES = Path("figures")
SAVINGS = ["little", "moderate", "quite rich", "rich"]
WISH = {
    "target": "paid back",
    "features_to_vary": ["amount", "months", "savings", "housing"],
    "direction": {"amount": "decrease", "months": "decrease"},
}


def make_data(n_rows=1000):
    """Return applications, and whether each was paid back."""
    rng = np.random.default_rng(0)
    age = np.clip(rng.gamma(6, 3.5, n_rows) + 19, 19, 75).astype(int)
    amount = np.clip(rng.lognormal(7.8, 0.7, n_rows), 300, 18000).round(-1)
    months = np.clip(amount / 250 + rng.normal(8, 7, n_rows), 4, 60).astype(int)
    job = rng.choice(["unskilled", "skilled", "management"], n_rows, p=[0.3, 0.5, 0.2])
    housing = rng.choice(["free", "own", "rent"], n_rows, p=[0.1, 0.7, 0.2])
    savings = rng.choice(4, n_rows, p=[0.6, 0.2, 0.1, 0.1])
    score = 1.6 + 0.03 * (age - 36) - 0.08 * (months - 20) - amount / 6000
    score += 0.5 * savings + 0.5 * (housing == "own") + 0.4 * (job == "skilled")
    paid = score + rng.logistic(scale=0.6, size=n_rows) > 0
    X = pd.DataFrame(
        {
            "age": age,
            "job": pd.Categorical(job),
            "housing": pd.Categorical(housing),
            "savings": pd.Categorical.from_codes(savings, SAVINGS, ordered=True),
            "amount": amount,
            "months": months,
        }
    )
    return X, np.where(paid, "paid back", "lost")


def fitted_model(X, y):
    """Return a forest on the table as it is, categories encoded."""
    encoder = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include="category")),
        remainder="passthrough",
    )
    forest = RandomForestClassifier(25, max_depth=5, random_state=0)
    return make_pipeline(encoder, forest).fit(X, y)


def print_changes(explanation):
    """Print each row found, change by change."""
    for number, changes in explanation.to_frame().groupby("counterfactual"):
        probability = explanation.predictions[number]
        print(f"  P(paid back) = {probability:.2f}", end=" with ")
        texts = [
            f"{line.feature} {line.before} -> {line.after:.4g}"
            if isinstance(line.after, float)
            else f"{line.feature} {line.before} -> {line.after}"
            for line in changes.itertuples()
        ]
        print(", ".join(texts))


def main():
    """Fit the forest, explain one refusal, print and draw the answers."""
    X, y = make_data()
    model = fitted_model(X, y)
    granted = model.predict_proba(X)[:, list(model.classes_).index("paid back")]
    row = int(np.abs(granted - 0.2).argmin())
    applicant = X.iloc[[row]]
    print(f"P(paid back) = {granted[row]:.2f}: refused")
    print(applicant.to_string(index=False))

    exact = ExactCounterfactual(FrozenEstimator(model), desired=(0.5, None), **WISH)
    exact.fit(X)
    nearest = exact.explain(applicant)
    print("\nThe nearest application that would have been granted:")
    print_changes(nearest)
    print(f"  proved to be the nearest: {bool(nearest.optimal[0])}")

    spheres = GrowingSpheres(
        FrozenEstimator(model),
        desired=(0.6, None),
        n_counterfactuals=3,
        random_state=0,
        **WISH,
    ).fit(X)
    several = spheres.explain(applicant)
    print("\nSeveral, with some room:")
    print_changes(several)

    impossible = ExactCounterfactual(
        FrozenEstimator(model),
        desired=(0.95, None),
        target="paid back",
        features_to_vary=["housing"],
    ).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCounterfactualWarning)
        none = impossible.explain(applicant)
    print(f"\n0.95 by the housing alone: {none.status[0]}, {none.reasons[0]}")

    FIGURES.mkdir(exist_ok=True)
    print("\nFigures:")
    for name, inspector in (("nearest", exact), ("several", spheres)):
        display = CounterfactualDisplay.from_estimator(inspector, applicant)
        path = FIGURES / f"credit_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"  {path.resolve()}")


if __name__ == "__main__":
    main()
