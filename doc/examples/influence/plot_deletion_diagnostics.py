"""What would the model be without this row? Two cases after Molnar's book.

The definition of influence is a fit without the row: leave a patient out, fit again,
and see how much the predictions for all patients change on average. That takes any
model, and one fit for each row.

*Tumours* (the book has cervical cancer; here scikit-learn's breast cancer data, and the
decision function of support vectors). Who changes the model most? The first figure
lists them. The second is the point of the chapter: a small tree that predicts the
influence of patients from their measurements, and so says what influential patients
have in common. Its title says how much of it the tree explains. Most patients hardly
change anything: the model is made of those near the border between the classes.

*Diabetes* (the book has rented bikes; here the progress of the disease by a linear
model). The output has the patients that change its predictions most, and by how much
the coefficients change without each. No fit is needed for that: ``method_`` says
"newton". The third figure has the tree of these patients.

A forest would draw other rows for its trees when one row is gone: with it, all rows
seem alike in influence, which is that of chance.

Run it as ``python doc/examples/influence/plot_deletion_diagnostics.py``. It prints
tables and saves three figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.influence import (
    DeletionDiagnostics,
    InfluenceDisplay,
    InfluenceTreeDisplay,
)

FIGURES = Path("figures")


def tumours():
    """Return diagnostics of support vectors, fitted without each patient."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), SVC())
    return DeletionDiagnostics(model, n_jobs=2).fit(X, y)


def diabetes():
    """Return diagnostics of a linear model."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return DeletionDiagnostics(LinearRegression()).fit(X, y)


def main():
    """Run both cases, print what is influential, and draw it."""
    machine = tumours()
    size = machine.influence_
    print(f"Tumours, {len(size)} fits ({machine.method_}). Mean change of the decision")
    print("function without a patient: ", end="")
    print(f"{np.median(size):.1e} at the median, {size.max():.4f} at most")

    FIGURES.mkdir(exist_ok=True)
    drawn = {
        "tumours": InfluenceDisplay.from_estimator(machine, max_entries=10),
        "tumours_tree": InfluenceTreeDisplay.from_estimator(machine, max_depth=2),
    }
    print("\nWhat influential patients have in common:")
    for leaf in drawn["tumours_tree"].to_frame().itertuples():
        print(f"  {leaf.n_rows:3} patients, mean {leaf.mean:.5f}: {leaf.rule}")

    linear = diabetes()
    first = np.argsort(-linear.influence_)[:5]
    names = [*linear.feature_names_in_, "intercept"]
    changes = pd.DataFrame(linear.parameter_changes_, columns=names).iloc[first]
    print(f"\nDiabetes ({linear.method_}): changes of the parameters without a patient")
    print(changes.round(3).to_string())
    drawn["diabetes_tree"] = InfluenceTreeDisplay.from_estimator(linear, max_depth=2)
    for name, display in drawn.items():
        path = FIGURES / f"deletion_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
