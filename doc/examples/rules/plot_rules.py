"""Breast cancer as a list of few lines.

Three models of rules on the same table of 569 tumours and 30 measurements, from the
shortest up. OneR has a single feature, the one that alone makes the fewest errors.
RIPPER has a list of a few lines, which one reads from the top: the first rule that
holds for a tumour decides. Skope rules stand each for itself, and vote.

The output has the lists in words and, of each model, the share of right predictions in
ten folds, beside that of a forest: what is lost by being able to read the model.

The figures have a line for each rule: its conditions, the classes of the tumours for
which it holds, how many these are (*coverage*) and how often the rule is right
(*precision*). In the list these are numbers of the training rows that come to the rule;
of skope rules they are of rows that were not drawn to find it.

Run it as ``python doc/examples/rules/plot_rules.py``. It prints the lists and saves two
figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from sklearn_interpret.rules import (
    OneRClassifier,
    RIPPERClassifier,
    RulesDisplay,
    SkopeRulesClassifier,
)

FIGURES = Path("figures")


def main():
    """Fit the models, print their rules and scores, and draw two of them."""
    X, target = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(target == 0, "malignant", "benign")
    models = {
        "OneR": OneRClassifier(min_bin_size=30),
        "RIPPER": RIPPERClassifier(random_state=0),
        "skope rules": SkopeRulesClassifier(
            precision_min=0.9, recall_min=0.3, random_state=0
        ),
    }
    for name, model in models.items():
        score = cross_val_score(model, X, y, cv=10).mean()
        print(f"{name}, right in ten folds: {score:.3f}")
        print(model.fit(X, y).to_text(), end="\n\n")
    forest = RandomForestClassifier(random_state=0)
    score = cross_val_score(forest, X, y, cv=10).mean()
    print(f"A forest, right in ten folds: {score:.3f}")

    first = models["RIPPER"].decision_rule(X)
    counts = np.bincount(first, minlength=len(models["RIPPER"].rules_))
    print(f"Tumours that each line of RIPPER decides on: {counts.tolist()}")

    FIGURES.mkdir(exist_ok=True)
    for name in ("RIPPER", "skope rules"):
        display = RulesDisplay.from_estimator(models[name])
        path = FIGURES / f"rules_{name.lower().replace(' ', '_')}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
