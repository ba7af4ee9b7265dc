"""The ten measurements of a patient, one after the other.

How well does a linear model do with two features, how well with four? The lasso answers
for all numbers at once: as its penalty falls, features enter one by one, and
``SparseLinearRegressor`` stops before the one that would be too many.

The first figure has the *path* of the diabetes data. Each line is a feature, per
standard deviation, so that lines can be compared. At the right end there is no penalty:
there the lines are those of least squares, and two of them have run far apart, since s1
and s2, both of cholesterol, say nearly the same. Under a penalty they do not do that.

The table has R² on patients that the models have not seen, for each number of features,
of the shrunken weights and of those fitted again without a penalty.

The second figure is a *logistic* path, of the breast cancer data, to four of thirty
measurements, many of them nearly copies of each other. One that came in early has left
again, when another took its place: its line is grey.

Run it as ``python doc/examples/linear/plot_sparse_path.py``. It prints the table and
saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from sklearn_interpret.linear import (
    SparseLinearClassifier,
    SparseLinearRegressor,
    SparsePathDisplay,
)

FIGURES = Path("figures")


def main():
    """Score models of all sizes, print the order of entry, and draw the paths."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    folds = KFold(10, shuffle=True, random_state=0)
    whole = SparseLinearRegressor().fit(X, y)
    print(f"{'features':>8}  {'enters':8}{'lasso':>8}{'again':>8}")
    for size, feature in enumerate(whole.entry_order_, start=1):
        model = SparseLinearRegressor(n_features_to_select=size)
        again = make_pipeline(model, LinearRegression())
        scores = [cross_val_score(one, X, y, cv=folds).mean() for one in (model, again)]
        print(f"{size:8}  {X.columns[feature]:8}{scores[0]:8.3f}{scores[1]:8.3f}")

    tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    classifier = SparseLinearClassifier(n_features_to_select=4).fit(tumours, benign)
    chosen = ", ".join(classifier.get_feature_names_out())
    print(f"\nTumours by {chosen}: accuracy {classifier.score(tumours, benign):.3f}")
    FIGURES.mkdir(exist_ok=True)
    drawn = {
        "numbers": SparsePathDisplay.from_estimator(whole),
        "classes": SparsePathDisplay.from_estimator(classifier),
    }
    for name, display in drawn.items():
        path = FIGURES / f"sparse_path_{name}.png"
        display.figure_.savefig(path, dpi=150)
        print(f"Figure: {path.resolve()}")


if __name__ == "__main__":
    main()
