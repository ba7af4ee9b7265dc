"""Could a fraud get through? Attacks on a table of mixed columns.

Payments (drawn here, with a fixed seed): amount, number of items, hour of the day, age
of the account and how the payment is made. A pipeline scales the numbers, encodes the
category and says which payments are fraud. Who wants to get through can split an order,
wait an hour, or buy less; the age of an account and the means of payment are as they
are.

An attack knows about all this: ``features_to_vary`` freezes columns, ``bounds`` keeps
the numbers possible, items and hours stay whole numbers, and the category is never
touched. ``target`` says that frauds are to be taken for fair payments. Changes are
measured in standard deviations, and in the norm "1" they add up: an attack is dear that
changes many things.

Accuracy alone would choose the support vectors, and so would the share of frauds that
are stopped as they are. They are tricked more easily: the robust score of the attack,
in cross-validation, shows it. The first figure has one fraud that gets through, the
second the share of frauds that are stopped against the size of changes, over the folds.

Run it as ``python doc/examples/adversarial/plot_adversarial_table.py``. It prints the
scores and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.adversarial import (
    AdversarialDisplay,
    ProjectedGradient,
    RobustnessCurveDisplay,
)

FIGURES = Path("figures")
MEANS = ["card", "transfer", "voucher"]
POSSIBLE = {"amount": (1, 2000), "items": (1, 30), "hour": (0, 23)}


def make_data(n_rows=500):
    """Return payments, and which are fraud."""
    rng = np.random.default_rng(0)
    means = rng.choice(MEANS, n_rows, p=[0.6, 0.3, 0.1])
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(4.5, 0.9, n_rows).clip(1, 2000).round(2),
            "items": rng.integers(1, 13, n_rows),
            "hour": rng.integers(0, 24, n_rows),
            "account_age": rng.exponential(400, n_rows).round(),
            "means": pd.Categorical(means, MEANS),
        }
    )
    night = np.cos(2 * np.pi * (X["hour"] - 3) / 24)
    risk = np.log(X["amount"] / 90) + 1.5 * night + 0.15 * (X["items"] - 6)
    risk += 1.5 * (means == "voucher") - 0.002 * (X["account_age"] - 400)
    fraud = risk + rng.logistic(0, 0.4, n_rows) > 1
    return X, pd.Series(np.where(fraud, "fraud", "fair"), name="payment")


def make_models():
    """Return pipelines by name."""
    numbers = ["amount", "items", "hour", "account_age"]
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(), ["means"])
    )
    return {
        "logistic regression": make_pipeline(columns, LogisticRegression()),
        "support vectors": make_pipeline(columns, SVC(C=10)),
    }


def make_attack(model):
    """Return the attack on a model: frauds that are to be taken for fair payments."""
    return ProjectedGradient(
        model,
        epsilon=0.5,
        n_steps=5,
        n_restarts=0,
        norm="1",
        target="fair",
        bounds=POSSIBLE,
        features_to_vary=list(POSSIBLE),
        random_state=0,
    )


def share_stopped(attack, X, y):
    """Return the share of frauds that the model stops, even when attacked."""
    frauds = y == "fraud"
    return attack.robust_score(X[frauds], y[frauds])


def share_stopped_as_they_are(attack, X, y):
    """Return the share of frauds that the model stops."""
    frauds = y == "fraud"
    return attack.score(X[frauds], y[frauds])


def main():
    """Cross-validate attacks on both models; draw a fraud and curves."""
    X, y = make_data()
    FIGURES.mkdir(exist_ok=True)
    scoring = {
        "accuracy": "accuracy",
        "stopped": share_stopped_as_they_are,
        "attacked": share_stopped,
    }
    ax = None
    print("                     accuracy   frauds stopped   when attacked")
    for name, model in make_models().items():
        results = cross_validate(
            make_attack(model),
            X,
            y,
            cv=StratifiedKFold(3),
            scoring=scoring,
            return_estimator=True,
            return_indices=True,
        )
        means = [results[f"test_{kind}"].mean() for kind in scoring]
        print(f"{name:20}{means[0]:9.3f}{means[1]:17.3f}{means[2]:16.3f}")
        curves = RobustnessCurveDisplay.from_cv_results(
            results,
            X,
            y,
            np.linspace(0, 1, 5),
            sample_weight=(y == "fraud").astype(float),
            label=name,
            ax=ax,
        )
        ax = curves.ax_

    attack = make_attack(make_models()["support vectors"]).fit(X, y)
    frauds = X[y == "fraud"]
    explanation = attack.explain(frauds)
    assert (explanation.rows.dtypes == X.dtypes).all()
    assert list(explanation.rows["means"]) == list(frauds["means"])
    found = (explanation.status == "found") & (explanation.n_changed > 1)
    one = AdversarialDisplay.from_estimator(
        attack, frauds, row=int(np.flatnonzero(found)[0])
    )
    print(f"\nA fraud that gets through:\n{one.to_frame().to_string(index=False)}")
    for name, display in (("fraud", one), ("folds", curves)):
        path = FIGURES / f"adversarial_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
