"""Measurements that belong together: one player each, or thirty of them.

Cells of breast tissue were measured under the microscope (scikit-learn's breast cancer
data): ten quantities, and of each the mean, the standard error and the mean of the
three largest over the cells, thirty columns in all. Boosted trees tell benign from
malignant tissue.

Thirty Shapley values for a patient are hard to read, and what the radius, the perimeter
and the area of the same cells share is split between them by chance. With
``feature_groups`` each quantity is one player of the game: not the sum of its columns'
values, which a game of thirty players would give, but what the quantity gives when its
columns come and go together.

The margins of boosting are explained (log-odds), and the probabilities. A tree's own
training rows can stand in for absent features too (path-dependent), without any
background: the last lines of the output say how far that is from the background's
answer. Patients whose predictions come about alike are found by clustering their
Shapley values, in a pipeline; a heat map shows them side by side, and the paths to the
predictions say where the most doubtful patient leaves the others. Quantities that work
together are found by their interaction values.

Run it as ``python doc/examples/shapley/plot_breast_cancer.py``. It prints what the
model learned and saves figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from sklearn_interpret.shapley import (
    ShapleyDecisionDisplay,
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleyInteractionDisplay,
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)

FIGURES = Path("figures")


def load_data():
    """Return patients to learn from and patients to explain; 1 is malignant."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return train_test_split(X, 1 - y, test_size=0.3, random_state=0, stratify=y)


def by_quantity(names):
    """Return the columns of each measured quantity."""
    groups = {}
    for name in names:
        quantity = name.removeprefix("mean ").removeprefix("worst ")
        groups.setdefault(quantity.removesuffix(" error"), []).append(name)
    return groups


def print_importances(inspector, title):
    """Print what matters most, on average over the background."""
    size = inspector.feature_importances_
    of_player = np.array([size[list(columns)].max() for columns in inspector.features_])
    print(f"\n{title}: mean |Shapley value| of the log-odds")
    for player in np.argsort(-of_player)[:5]:
        print(f"  {inspector.player_names_[player]:22} {of_player[player]:.2f}")


def print_clusters(model, X, y, groups):
    """Print groups of patients whose predictions come about alike."""
    inspector = TreeSHAP(FrozenEstimator(model), feature_groups=groups)
    clustering = make_pipeline(inspector, AgglomerativeClustering(4))
    labels = clustering.fit_predict(X)
    print("\nClusters of patients by their Shapley values")
    for label in np.unique(labels):
        of_cluster = labels == label
        share = y[of_cluster].mean()
        print(f"  {of_cluster.sum():3} patients, {share:4.0%} of them malignant")


def print_pairs(frame):
    """Print the quantities that work together the most, and how much that is."""
    print("\nPairs of quantities: mean |interaction value| of the log-odds")
    together = frame[frame["feature"] != frame["feature2"]]
    for pair in together.head(3).itertuples():
        print(f"  {pair.feature} and {pair.feature2}: {pair.interaction:.2f}")


def main():
    """Fit, explain by quantity and by column, print and draw."""
    X_train, X_test, y_train, y_test = load_data()
    model = HistGradientBoostingClassifier(random_state=0).fit(X_train, y_train)
    print(f"Accuracy on patients not seen: {model.score(X_test, y_test):.3f}")

    groups = by_quantity(X_train.columns)
    frozen = FrozenEstimator(model)
    grouped = TreeSHAP(frozen, feature_groups=groups).fit(X_train)
    single = TreeSHAP(frozen).fit(X_train)
    chances = TreeSHAP(
        frozen, feature_groups=groups, response_method="predict_proba", subsample=100
    ).fit(X_train)
    print_importances(grouped, "Quantities")
    print_importances(single, "Columns")
    print_clusters(model, X_test, y_test, groups)

    explanation = grouped.explain(X_test)
    by_cover = TreeSHAP(frozen, feature_groups=groups, perturbation="path_dependent")
    difference = by_cover.fit(X_train).transform(X_test) - explanation.values
    print("\nPath-dependent minus interventional values, standard deviation:")
    print(f"  {difference.std():.2f}, of values that vary by", end=" ")
    print(f"{explanation.values.std():.2f}")

    doubtful = int(np.abs(explanation.predictions).argmin())
    pairs = ShapleyInteractionDisplay.from_estimator(grouped, X_test)
    print_pairs(pairs.to_frame())
    displays = {
        "importance": ShapleyImportanceDisplay.from_explanation(explanation),
        "summary": ShapleySummaryDisplay.from_explanation(single.explain(X_test)),
        "dependence": ShapleyDependenceDisplay.from_explanation(
            single.explain(X_test), feature="worst concave points"
        ),
        "all_patients": ShapleyForceDisplay.from_explanation(explanation),
        "heat_map": ShapleyHeatmapDisplay.from_explanation(explanation),
        "decisions": ShapleyDecisionDisplay.from_explanation(
            explanation, highlight=[doubtful]
        ),
        "pairs": pairs,
        "doubtful_patient": ShapleyWaterfallDisplay.from_explanation(
            chances.explain(X_test.iloc[[doubtful]])
        ),
    }
    FIGURES.mkdir(exist_ok=True)
    print("\nFigures:")
    for name, display in displays.items():
        path = FIGURES / f"breast_cancer_{name}.png"
        display.figure_.savefig(path)
        print(f"  {path.resolve()}")


if __name__ == "__main__":
    main()
