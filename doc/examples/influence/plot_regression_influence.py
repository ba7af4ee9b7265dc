"""Typing errors in a regression: far from the fit, far from the others, or both.

A linear model of the progress of diabetes, and three rows that were mistyped here on
purpose: in one the target is wrong, in one the body mass index lacks its decimal point,
and in one both.

The figure has the *leverage* of each row, how far it is from the other rows, and its
*studentized residual*, how far the fit to the other rows is from it. Neither is
influence: a row far from the others may lie just where these lead to, and one far from
the fit among many others moves little. Cook's distance, whose contours are dashed,
joins both: by how much the coefficients, and so all predictions, would change without
the row. The output has the usual table of R's ``influence.measures``, of the mistyped
rows first and of the five largest of the others.

A row that is wrong in a column bends the fit to itself, so that its residual need not
be large: look at leverages as well as at residuals.

The second figure has a logistic regression, whose measures come from one step of its
fit, as R's do: ``approximation="refit"`` has them from parameters without each row.

Run it as ``python doc/examples/influence/plot_regression_influence.py``. It prints the
tables and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.influence import (
    RegressionInfluence,
    RegressionInfluenceDisplay,
)

FIGURES = Path("figures")
COLUMNS = ["leverage", "residual_studentized", "dffits", "covratio", "cooks_distance"]
TYPING_ERRORS = {10: "target", 20: "column", 30: "both"}


def diabetes():
    """Return the diabetes data with three typing errors."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    y[[10, 30]] += 300
    X.loc[[20, 30], "bmi"] *= 10
    return X, y


def main():
    """Diagnose both models, print the measures and draw them."""
    X, y = diabetes()
    inspector = RegressionInfluence(LinearRegression()).fit(X, y)
    measures = inspector.to_frame()
    print("Three typing errors")
    shown = measures.loc[list(TYPING_ERRORS), COLUMNS].round(3)
    print(shown.assign(error=TYPING_ERRORS.values()).to_string())
    others = measures.drop(index=list(TYPING_ERRORS))
    print("\nThe largest of the other rows")
    print(others.nlargest(5, "cooks_distance")[COLUMNS].round(3).to_string())

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    few = ["mean texture", "mean area", "mean smoothness", "mean concavity"]
    # Standardized, so that the small penalty is the same for all columns.
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1000))
    logistic = RegressionInfluence(model).fit(X[few], y)
    exact = RegressionInfluence(model, approximation="refit").fit(X[few], y)
    same = np.corrcoef(logistic.cooks_distances_, exact.cooks_distances_)[0, 1]
    print("\nA logistic regression: Cook's distances by one step, and exactly")
    table = logistic.to_frame()[["leverage", "residual_studentized", "cooks_distance"]]
    table = table.assign(exact=exact.cooks_distances_)
    print(table.nlargest(5, "cooks_distance").round(3).to_string())
    print(f"Correlation over all rows: {same:.3f}")

    FIGURES.mkdir(exist_ok=True)
    for name, one in (("linear", inspector), ("logistic", logistic)):
        display = RegressionInfluenceDisplay.from_estimator(one)
        path = FIGURES / f"regression_influence_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
