"""
Quickstart: what has a model of disease progression learned?
============================================================

The data are scikit-learn's diabetes patients: age, sex, body mass index (bmi), mean
blood pressure (bp) and six blood serum values (s1 to s6), and a measure of how far the
disease has come a year later. A pipeline is cross-validated together with its
inspection, so that each number comes with its spread over the folds.

Run it as ``python doc/examples/quickstart.py``. It prints a summary and saves figures
and a report in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    EffectComparisonDisplay,
    IndividualConditionalExpectationDisplay,
    PartialDependenceDisplay,
)
from sklearn_interpret.report import InspectionReport
from sklearn_interpret.shapley import (
    ShapleySummaryDisplay,
    ShapleyWaterfallDisplay,
    TreeSHAP,
)

FIGURES = Path("figures")
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]


def load_data():
    """Return the patients, with sex as a category, and their disease's progression."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    # The data do not say which sex is which, so the levels keep their numbers.
    return X.assign(sex=X["sex"].astype(int).astype(str).astype("category")), y


def make_model():
    """Return an unfitted pipeline: encode the category, then a forest."""
    encoder = ColumnTransformer(
        [("sex", OneHotEncoder(drop="if_binary", sparse_output=False), ["sex"])],
        remainder="passthrough",
    )
    forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    return make_pipeline(encoder, forest)


def print_scores(scores):
    """Print how well the model predicts patients that it has not seen."""
    each = ", ".join(f"{score:.2f}" for score in scores)
    print(f"R^2 on held-out folds: {scores.mean():.2f} +- {scores.std():.2f}  ({each})")


def print_importances(folds):
    """Print the features, those with the largest effect first."""
    names = folds[0].feature_names_in_
    each = np.array([fold.feature_importances_ for fold in folds])
    mean, spread = each.mean(axis=0), each.std(axis=0)
    print("\nHow far each feature moves the prediction (standard deviation of its")
    print("accumulated local effect over the patients; mean and spread over folds)")
    for j in np.argsort(-mean):
        bar = "#" * round(40 * mean[j] / mean.max())
        print(f"  {names[j]:4} {mean[j]:5.1f} +- {spread[j]:3.1f}  {bar}")


def print_effect(folds, X, name):
    """Print where the effect of a feature goes, at a few of its values."""
    (j,) = np.flatnonzero(folds[0].feature_names_in_ == name)
    values = X[name].quantile(QUANTILES).to_numpy()
    each = [np.interp(values, fold.edges_[j], fold.effects_[j]) for fold in folds]
    mean, spread = np.mean(each, axis=0), np.std(each, axis=0)
    change = [effect[-1] - effect[0] for effect in each]
    print(
        f"\nEffect of {name}: {np.mean(change):+.0f} +- {np.std(change):.0f}", end=" "
    )
    print("from its 5 % to its 95 % quantile")
    for share, *numbers in zip(QUANTILES, values, mean, spread, strict=True):
        value, effect, width = numbers
        print(
            f"  {share:4.0%} have at most {value:4.1f}  {effect:+6.1f} +- {width:.1f}"
        )


def draw_comparison(model, X):
    """Draw three effects of a feature on one axes, for three features.

    The model hardly uses s4. But patients with a high s4 have a high s5 too, and this
    is what the M-plot shows.
    """
    figure, axes = plt.subplots(
        1, 3, figsize=(9, 3.4), sharey=True, layout="constrained"
    )
    displays = [
        EffectComparisonDisplay.from_estimator(
            model, X, feature=name, n_intervals=20, ax=ax
        )
        for ax, name in zip(axes, ["bmi", "s5", "s4"], strict=True)
    ]
    for display in displays:
        display.legend_.remove()  # one for all is enough
    one = displays[0].legend_
    texts, handles = [text.get_text() for text in one.get_texts()], one.legend_handles
    figure.legend(handles, texts, loc="outside upper center", ncols=4, frameon=False)
    for ax in axes[1:]:
        ax.set_ylabel("")
    return figure


def draw_figures(model, cv_results, X):
    """Return the figures by name: of all folds, and of a model fitted on all data."""
    strongest = ["bmi", "s5", "bp", "sex"]
    folds = AccumulatedLocalEffectsDisplay.from_cv_results(
        cv_results, X, features=strongest, n_cols=4
    )
    partial = PartialDependenceDisplay.from_estimator(
        model, X, features=["bmi", "s5", ("bmi", "s5")], grid_resolution=25
    )
    curves = IndividualConditionalExpectationDisplay.from_estimator(
        model, X, features=["bmi", "s5"], center="start", grid_resolution=50
    )
    explanation = TreeSHAP(FrozenEstimator(model)).fit(X).explain(X)
    patient = int(explanation.predictions.argmax())
    return {
        "shapley_values": ShapleySummaryDisplay.from_explanation(explanation).figure_,
        "highest_prediction": ShapleyWaterfallDisplay.from_explanation(
            explanation, row=patient
        ).figure_,
        "accumulated_local_effects_over_folds": folds.figure_,
        "partial_dependence": partial.figure_,
        "individual_curves": curves.figure_,
        "comparison": draw_comparison(model, X),
    }


def main():
    """Cross-validate, print what was learned, draw it."""
    X, y = load_data()
    inspector = AccumulatedLocalEffects(make_model(), n_intervals=20)
    cv = KFold(5, shuffle=True, random_state=0)
    cv_results = cross_validate(inspector, X, y, cv=cv, return_estimator=True)
    folds = cv_results["estimator"]

    print_scores(cv_results["test_score"])
    print_importances(folds)
    for name in ("bmi", "s5"):
        print_effect(folds, X, name)

    FIGURES.mkdir(exist_ok=True)
    print("\nFigures:")
    for name, figure in draw_figures(make_model().fit(X, y), cv_results, X).items():
        path = FIGURES / f"{name}.png"
        figure.savefig(path)
        print(f"  {path.resolve()}")

    report = InspectionReport(make_model(), random_state=0).fit(X, y)
    path = FIGURES / "report.html"
    report.to_html(path)
    print(f"\nReport, to open in a browser:\n  {path.resolve()}")
    for check in report.checks_:
        if check.verdict == "warned":
            print(f"  {check.title} {check.finding}")


if __name__ == "__main__":
    main()
