"""A tree of seven questions in place of a support vector machine.

A support vector machine tells malignant from benign tissue by thirty measurements of
cells (scikit-learn's breast cancer data). It has no rules that one could read. A
decision tree learns what the machine predicts, not what is true: its questions then
describe the machine, as far as the tree follows it.

How far that is stands in the title of the first figure: the R squared between the
outputs of both, and the share of patients to whom both give the same label. Below each
leaf's path are the machine's own outputs for the patients that end there. Where they
lie in one narrow heap around the tree's output, the path is a rule that the machine
keeps. Where they are spread out, or lie on both sides of zero, where the label changes,
the machine sees differences that the tree doesn't, and the path must not be trusted.

The second figure has a linear model as surrogate: the change of the machine's output
with one standard deviation of each measurement. The last lines of the output compare
both with larger trees: choose by the fidelity on patients that were not in the fit.

Run it as ``python doc/examples/surrogates/plot_global_surrogate.py``. It prints the
leaves and the fidelities and saves two figures in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.surrogates import GlobalSurrogate, GlobalSurrogateDisplay

FIGURES = Path("figures")


def tree(depth):
    """Return a tree whose leaves have ten patients or more."""
    return DecisionTreeRegressor(max_depth=depth, min_samples_leaf=10, random_state=0)


def main():
    """Fit the machine and surrogates of it, compare and draw them."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = y.map({0: "malignant", 1: "benign"})
    X_train, X_test, y_train, y_test = train_test_split(
        X, labels, test_size=0.4, random_state=0, stratify=labels
    )
    machine = make_pipeline(StandardScaler(), SVC()).fit(X_train, y_train)
    accuracy = machine.score(X_test, y_test)
    print(f"Accuracy of the machine on patients it never saw: {accuracy:.2f}")

    surrogates = {
        "tree of depth 3": tree(3),
        "tree of depth 5": tree(5),
        "tree of depth 8": tree(8),
        "linear model": make_pipeline(StandardScaler(), RidgeCV()),
    }
    fitted = {
        # The targets are the machine's predictions, so that no others are needed.
        name: GlobalSurrogate(FrozenEstimator(machine), surrogate=surrogate).fit(
            X_train
        )
        for name, surrogate in surrogates.items()
    }

    FIGURES.mkdir(exist_ok=True)
    display = GlobalSurrogateDisplay.from_estimator(
        fitted["tree of depth 3"],
        X_train,
        response_name="Machine's output, malignant > 0",
        model_name="a support vector machine",
        surrogate_name="A tree of depth 3",
    )
    print("\nThe leaves of the tree of depth 3")
    for leaf in display.to_frame().itertuples():
        print(
            f"  {leaf.n_rows:3} patients, outputs {leaf.q05:5.2f} to {leaf.q95:5.2f}:"
        )
        print(f"      {leaf.rule}")
    leaves = FIGURES / "leaves.png"
    display.figure_.savefig(leaves, dpi=150)

    linear = FIGURES / "coefficients.png"
    GlobalSurrogateDisplay.from_estimator(
        fitted["linear model"], X_train, max_entries=12
    ).figure_.savefig(linear, dpi=150)

    print("\nR squared between surrogate and machine, and share of the same labels")
    print(f"  {'':18}{'fitted':>8}{'others':>8}{'labels':>8}")
    for name, one in fitted.items():
        others = one.fidelity_score(X_test)
        same = (one.predict(X_test) == one.black_box_predict(X_test)).mean()
        print(f"  {name:18}{one.fidelity_:8.2f}{others:8.2f}{same:8.2f}")
    print(f"\nFigures: {leaves.resolve()}\n         {linear.resolve()}")


if __name__ == "__main__":
    main()
