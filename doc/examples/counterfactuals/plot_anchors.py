"""What is enough for a diagnosis? Anchors of a forest.

Cells of breast tissue were measured under the microscope (scikit-learn's breast cancer
data, thirty columns), and a forest tells benign from malignant tissue. An anchor of a
patient is a rule such as "worst area > 1084 and worst texture > 25": where it holds,
the forest nearly always gives the patient's diagnosis, whatever the other columns
are. It says what is enough, where a counterfactual says what would have to be
otherwise.

Each rule comes with its precision (how often the diagnosis stays), bounds of it, and
its coverage (for how many patients the rule holds). Two clear cases have rules of
several conditions, since many columns have a say; a doubtful one has none that is
precise enough, and the best there is is reported as failed.

A rule is a promise about the forest, and the output holds it to that: of patients that
the forest has not seen, those for whom the rule holds get the diagnosis of the rule.

Run it as ``python doc/examples/counterfactuals/plot_anchors.py``. It prints the rules
and saves three figures in ``figures/``.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

from sklearn_interpret.counterfactuals import Anchors, AnchorsDisplay
from sklearn_interpret.exceptions import NoAnchorWarning

FIGURES = Path("figures")


def load_data():
    """Return patients to learn from and patients to explain, with diagnoses."""
    data = load_breast_cancer(as_frame=True)
    names = data.target_names[data.target]
    return train_test_split(data.data, names, test_size=0.3, random_state=0)


def print_rules(explanation, model, X):
    """Print each rule, and what the forest says of the patients that meet it."""
    diagnoses = model.predict(X)
    for row, holds in enumerate(explanation.holds(X)):
        answer = explanation.answers[row]
        kept = (diagnoses[holds] == answer).mean() if holds.any() else np.nan
        print(f"\n{explanation.text(row)}: {answer} ({explanation.status[row]})")
        print(
            f"  precision {explanation.precision[row]:.3f}, at least "
            f"{explanation.precision_low[row]:.3f}; coverage "
            f"{explanation.coverage[row]:.3f}"
        )
        print(f"  {holds.sum()} patients not seen: {kept:.0%} of them {answer}")


def main():
    """Fit the forest, find the rules of three patients, print and draw them."""
    X_train, X_test, y_train, y_test = load_data()
    model = RandomForestClassifier(100, random_state=0).fit(X_train, y_train)
    print(f"Accuracy on patients not seen: {model.score(X_test, y_test):.3f}")
    share = model.predict_proba(X_test)[:, 1]
    patients = {
        "malignant": int(share.argmax()),
        "benign": int(share.argmin()),
        "doubtful": int(np.abs(share - 0.5).argmin()),
    }
    anchors = Anchors(FrozenEstimator(model), random_state=0).fit(X_train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoAnchorWarning)
        explanation = anchors.explain(X_test.iloc[list(patients.values())])
    print_rules(explanation, model, X_test)

    FIGURES.mkdir(exist_ok=True)
    print("\nFigures:")
    for row, name in enumerate(patients):
        display = AnchorsDisplay.from_explanation(
            explanation, row=row, background=X_train, target_name="diagnosis"
        )
        path = FIGURES / f"anchor_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"  {path.resolve()}")


if __name__ == "__main__":
    main()
