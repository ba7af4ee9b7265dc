"""How models compute a prediction: a path, evidence, votes.

*A tree* asks one question after the other. The first figure has the path of one patient
through a tree of the diabetes data: the conditions that hold, the mean of the training
rows behind each, how many these are, and how far the leaves below differ.

*A forest* has hundreds of paths. What their steps give to each feature is added up in
the second figure, from the mean of the roots to the prediction. The output has Shapley
values beside it: the sums are the same up to the base value, the shares are not. A path
gives what two features do together to the one that is asked last, and Shapley values
take the mean over both orders.

*Naive Bayes* multiplies odds. The third figure starts from the prior's log-odds of a
tumour to be benign, and adds the evidence of each measurement.

*Nearest neighbours* vote. The fourth figure has the training rows that do so for a
patient, and the output how far they are, and along which feature most.

Run it as ``python doc/examples/decomposition/plot_decomposition.py``. It prints tables
and saves four figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.decomposition import (
    DecisionPathDisplay,
    NaiveBayesContributions,
    NeighborContributions,
    TreePathContributions,
)
from sklearn_interpret.influence import InfluenceDisplay
from sklearn_interpret.shapley import ShapleyWaterfallDisplay, TreeSHAP

FIGURES = Path("figures")
MEASURED = ["mean radius", "mean texture", "mean smoothness", "mean symmetry"]


def forest_paths(X, y, patient):
    """Print contributions of a forest beside Shapley values; draw the former."""
    model = RandomForestRegressor(random_state=0).fit(X, y)
    told = {
        kind.__name__: kind(FrozenEstimator(model)).fit(X).explain(patient)
        for kind in (TreePathContributions, TreeSHAP)
    }
    table = pd.DataFrame(
        {name: [*one.values[0], one.base_values[0]] for name, one in told.items()},
        index=[*X.columns, "base value"],
    )
    table.loc["prediction"] = table.sum()
    print("A forest, one patient")
    print(table.round(1).to_string())
    return ShapleyWaterfallDisplay.from_explanation(told["TreePathContributions"])


def evidence():
    """Draw the log-odds of the tumour that naive Bayes is least sure of."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X[MEASURED], y.map({0: "malignant", 1: "benign"}).rename("tumour")
    inspector = NaiveBayesContributions(GaussianNB(), target="benign").fit(X, y)
    row = int(np.abs(inspector.predict_proba(X)[:, 1] - 0.5).argmin())
    explanation = inspector.explain(X.iloc[[row]])
    odds = explanation.predictions[0]
    print(f"\nNaive Bayes, tumour {row}: log-odds {odds:.2f}, ", end="")
    print(f"probability of benign {1 / (1 + np.exp(-odds)):.2f}")
    return ShapleyWaterfallDisplay.from_explanation(explanation)


def votes(X, y, patient):
    """Print who votes for a patient, and how far they are; draw the votes."""
    model = make_pipeline(StandardScaler(), KNeighborsRegressor(7, weights="distance"))
    explanation = NeighborContributions(model).fit(X, y).explain(patient)
    apart = explanation.feature_distances[0]
    table = pd.DataFrame(
        {
            "share": explanation.values[0, explanation.neighbors[0]],
            "target": y.iloc[explanation.neighbors[0]].to_numpy(),
            "distance": explanation.distances[0],
            "most along": X.columns[apart.argmax(axis=1)],
        },
        index=X.index[explanation.neighbors[0]],
    )
    print(f"\nSeven neighbours: {explanation.predictions[0]:.0f} predicted")
    print(table.round(2).to_string())
    return InfluenceDisplay.from_explanation(
        explanation, row=0, features=["bmi", "s5"], max_entries=7
    )


def main():
    """Explain one patient, and one tumour, by the models' own steps."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, X_test, y, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    patient = X_test[:1]
    tree = DecisionTreeRegressor(max_depth=5, min_samples_leaf=5, random_state=0)
    drawn = {
        "path": DecisionPathDisplay.from_estimator(tree.fit(X, y), patient),
        "forest": forest_paths(X, y, patient),
        "evidence": evidence(),
        "votes": votes(X, y, patient),
    }
    FIGURES.mkdir(exist_ok=True)
    for name, display in drawn.items():
        path = FIGURES / f"decomposition_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
