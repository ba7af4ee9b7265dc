"""Quickstart: what has a model of disease progression learned?

The data are scikit-learn's diabetes patients: age, sex, body mass index (bmi), mean
blood pressure (bp) and six blood serum values (s1 to s6), and a measure of how far the
disease has come a year later. A pipeline is cross-validated together with its
inspection, so that each number comes with its spread over the folds.

Run it as ``python doc/examples/quickstart.py``. It prints a summary and saves figures
in ``figures/``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no screen needed

import numpy as np
from matplotlib.figure import Figure
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
    ConditionalDependence,
    IndividualConditionalExpectation,
    IndividualConditionalExpectationDisplay,
    PartialDependence,
    PartialDependenceDisplay,
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
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=0)
    return make_pipeline(encoder, forest)


def print_scores(scores):
    """Print how well the model predicts patients that it has not seen."""
    each = ", ".join(f"{score:.2f}" for score in scores)
    print(
        f"R^2 on held-out folds: {scores.mean():.2f} +- {scores.std():.2f} ({each})\n"
    )


def print_importances(folds):
    """Print the features, those with the largest effect first."""
    names = folds[0].feature_names_in_
    each = np.array([fold.feature_importances_ for fold in folds])
    mean, spread = each.mean(axis=0), each.std(axis=0)
    print("How far each feature moves the prediction (standard deviation of its")
    print("accumulated local effect over the patients; mean and spread over folds)")
    for j in np.argsort(-mean):
        bar = "#" * round(40 * mean[j] / mean.max())
        print(f"  {names[j]:4} {mean[j]:5.1f} +- {spread[j]:3.1f}  {bar}")
    print()


def print_effect(folds, X, name):
    """Print where the effect of a feature goes, at a few of its values."""
    (j,) = np.flatnonzero(folds[0].feature_names_in_ == name)
    values = X[name].quantile(QUANTILES).to_numpy()
    each = [np.interp(values, fold.edges_[j], fold.effects_[j]) for fold in folds]
    mean, spread = np.mean(each, axis=0), np.std(each, axis=0)
    change = [effect[-1] - effect[0] for effect in each]
    print(f"Effect of {name}: {np.mean(change):+.0f} +- {np.std(change):.0f}", end=" ")
    print("from its 5 % to its 95 % quantile")
    for share, value, effect, width in zip(
        QUANTILES, values, mean, spread, strict=True
    ):
        print(
            f"  {share:4.0%} have at most {value:5.1f}  {effect:+6.1f} +- {width:.1f}"
        )
    print()
