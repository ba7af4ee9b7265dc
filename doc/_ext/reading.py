"""Pictures of "How to read the figures": displays, with letters at their parts.

A function below ``@of`` draws a display, and returns the places of its letters, which
the page explains. ``.. reading:: <display>`` puts the picture there.
"""

from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive
from letters import UP, across, along, at, columns, edge, letter, point, words
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret import (
    additive,
    adversarial,
    counterfactuals,
    decomposition,
    diagnosis,
    effects,
    importance,
    influence,
    interactions,
    linear,
    prototypes,
    rules,
    shapley,
    surrogates,
    survival,
)
from sklearn_interpret.datasets import make_rentals

WIDTH, DPI = 6.8, 105  # inches, and pixels of an inch, as the page shows them
PICTURES = {}  # by display, the function and the size


def of(display, height=3.0, width=WIDTH):
    """Register the function that draws a display, and the size in inches."""

    def register(draw):
        PICTURES[display] = draw, (width, height)
        return draw

    return register


def patients():
    """Return four measurements of the diabetes patients, and the progression."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X[["bmi", "bp", "s3", "s5"]]
    return X.set_axis(["bmi", "pressure", "HDL", "lipids"], axis=1), y


@cache
def forest():
    """Return the patients, the progression and a forest."""
    X, y = patients()
    model = RandomForestRegressor(30, min_samples_leaf=10, random_state=0).fit(X, y)
    return X, y, FrozenEstimator(model)


def tumours():
    """Return four measurements of tumours, and which of them are malignant."""
    data = load_breast_cancer(as_frame=True)
    X = data.data[["worst area", "worst texture", "mean concavity", "worst symmetry"]]
    y = np.where(data.target == 0, "malignant", "benign")
    return X.set_axis(["area", "texture", "concavity", "symmetry"], axis=1), y


# -- Effects ---------------------------------------------------------------------------


@of(effects.PartialDependenceDisplay)
def partial_dependence(cls):
    X, _, model = forest()
    display = cls.from_estimator(model, X[:60], ["bmi", ("bmi", "pressure")])
    (line,), (band,) = display.lines_[0], display.bands_[0]
    curve, surface = display.axes_.flat
    return [
        along(line, 0.55, (-18, 12)),
        edge(band, 0.9, (-14, 14)),
        at(curve, 0.15, 0.06, (0, 20)),
        at(surface, 0.75, 0.98, UP),
        at(display.colorbars_[1].ax, 0.5, 0.98, UP),
    ]


@of(effects.IndividualConditionalExpectationDisplay)
def individual_conditional_expectation(cls):
    X, _, model = forest()
    display = cls.from_estimator(
        model, X, ["bmi"], n_curves=40, color_by="lipids", random_state=0
    )
    ax, curves = display.axes_.flat[0], display.curves_[0].get_segments()
    return [
        point(ax, *max(curves, key=lambda curve: curve[0, 1])[3], (0, 16)),
        along(display.lines_[0][0], 0.15, (0, 48)),
        at(display.figure_.axes[-1], 0.5, 0.98, UP),
        at(ax, 0.2, 0, (0, -13)),
    ]


@of(effects.AccumulatedLocalEffectsDisplay)
def accumulated_local_effects(cls):
    X, _, model = forest()
    display = cls.from_estimator(
        model, X, ["bmi", ("bmi", "lipids")], confidence_level=0.95
    )
    (line,), (band,) = display.lines_[0], display.bands_[0]
    curve, surface = display.axes_.flat
    return [
        along(line, 0.6, (-18, 10)),
        point(curve, 22, 0, (0, 14)),
        edge(band, 0.9, (0, 12)),
        at(surface, 0.5, 0.98, UP),
        at(display.colorbars_[1].ax, 0.5, 0.98, UP),
    ]


@of(effects.ConditionalDependenceDisplay)
def conditional_dependence(cls):
    X, _, model = forest()
    display = cls.from_estimator(model, X, ["HDL"], n_intervals=10)
    (line,), (band,) = display.lines_[0], display.bands_[0]
    columns(display.legend_, 2)
    return [
        along(line, 0.45, (14, 22)),
        edge(band, 0.75, (14, 12)),
        at(line.axes, 0.06, 0.06, (0, 16)),
    ]


@of(effects.CeterisParibusDisplay)
def ceteris_paribus(cls):
    X, y, model = forest()
    models = {"forest": model, "linear": FrozenEstimator(LinearRegression().fit(X, y))}
    display = cls.from_estimators(models, X, ["bmi", "lipids"], row=7)
    line, mark = display.lines_[0][0], display.marks_[0][0]
    return [
        along(line, 0.8, (-18, 12)),
        along(mark, 0, (16, -16)),
        along(display.marks_[0][1], 0, (-14, 14)),
        at(line.axes, 0.9, 0.06, (0, 22)),
    ]


@of(effects.EffectComparisonDisplay, 3.2)
def effect_comparison(cls):
    X, _, model = forest()
    display = cls.from_estimator(model, X, "HDL")
    _, mean, local = display.lines_[0]
    columns(display.legend_, 2)
    return [
        along(local, 0.9, (0, 14)),
        along(mean, 0.12, (22, 4)),
        point(mean.axes, 84, 0, (0, 14)),
        along(mean, 0.98, (-16, -6)),
    ]


@of(effects.RegionalEffectDisplay)
def regional_effect(cls):
    X, _, model = forest()
    display = cls.from_estimator(
        model, X, "bmi", max_depth=1, n_curves=40, random_state=0
    )
    columns(display.legend_, 2)
    tree, _, high = display.axes_.flat
    return [
        at(tree, 0.5, 0.8, (0, 14)),
        along(display.lines_[0][0], 0.45, (-18, 12)),
        along(display.average_lines_[1][0], 0.05, (10, 26)),
        at(high, 0.9, 0.85, (-26, 2)),
    ]


# -- Shapley values --------------------------------------------------------------------


@cache
def shapley_values():
    """Return the Shapley values of a hundred patients."""
    X, _, model = forest()
    return shapley.TreeSHAP(model).fit(X).explain(X[:100])


@of(shapley.ShapleyWaterfallDisplay)
def waterfall(cls):
    display = cls.from_explanation(shapley_values(), row=3)
    ax = display.ax_
    return [
        along(display.base_line_, 0, (-14, 8)),
        at(ax, 0.415, 0.375),
        along(display.prediction_line_, 0, (14, 8)),
        at(words("HDL"), -0.05, 0.5, (-14, 0)),
    ]


@of(shapley.ShapleyForceDisplay)
def force(cls):
    display = cls.from_explanation(shapley_values(), row=3)
    return [
        at(display.ax_, 0.22, 0.58),
        at(display.ax_, 0.75, 0.58),
        at(display.labels_[0], 1.03, 0.5, (14, 0)),
        at(display.ax_, 0.326, 0.5, (16, 0)),
    ]


@of(shapley.ShapleySummaryDisplay)
def summary(cls):
    display = cls.from_explanation(shapley_values())
    dots = display.points_[1]
    k = np.argmax(dots.get_offsets()[:, 0])
    return [
        point(display.ax_, *dots.get_offsets()[k], (0, 14)),
        across(display.ax_, 0, 0.98, UP),
        at(display.ax_, 0.2, 0.73, (-44, 4)),
        at(display.colorbar_.ax, 0.5, 1, UP),
    ]


@of(shapley.ShapleyHeatmapDisplay)
def heatmap(cls):
    display = cls.from_explanation(shapley_values())
    return [
        at(display.ax_, 0.043, 0, (0, -13)),
        at(display.ax_, 0.93, 0.52, (0, 18)),
        at(display.curve_ax_, 0.75, 0.5, (0, 14)),
        at(display.colorbar_.ax, 0.5, 1, UP),
    ]


@of(shapley.ShapleyDecisionDisplay)
def decision(cls):
    display = cls.from_explanation(shapley_values()[:30], highlight=[3])
    line = display.named_lines_.get_segments()[0]
    ax = display.ax_
    return [
        point(ax, *line[0], (-16, 6)),
        point(ax, *line[3], (-22, 0)),
        point(ax, *line[-1], UP),
        point(ax, *max(seg[-1].tolist() for seg in display.lines_.get_segments()), UP),
    ]


@of(shapley.ShapleyDependenceDisplay)
def dependence(cls):
    display = cls.from_explanation(shapley_values(), "bmi", color_by="pressure")
    dots = np.ma.filled(display.points_[0].get_offsets())
    return [
        point(display.ax_, *dots[np.argmax(dots[:, 0])], (-16, 0)),
        point(display.ax_, 20, 0, (0, 12)),
        at(display.ax_, 0.55, 0.06, (0, 16)),
        at(display.colorbar_.ax, 0.5, 1, UP),
    ]


@of(shapley.ShapleyImportanceDisplay)
def shapley_importance(cls):
    display = cls.from_explanation(shapley_values())
    bar = display.bars_[0][1]
    return [at(bar, 0.5, 0.5), at(display.labels_[2], 1.15, 0.5, (14, 0))]


@of(shapley.ShapleyInteractionDisplay, 3.6, 5)
def shapley_interaction(cls):
    X, _, model = forest()
    display = cls.from_estimator(shapley.TreeSHAP(model).fit(X), X[:100])
    ax = display.ax_
    return [
        at(ax, 0.03, 0.03, (-22, -10)),
        at(ax, 0.02, 0.97, (-22, 14)),
        at(display.colorbar_.ax, 0.5, 1, UP),
    ]


# -- Importance ------------------------------------------------------------------------


@of(importance.PermutationImportanceDisplay)
def permutation_importance(cls):
    X, y, model = forest()
    display = cls.from_estimator(model, X, y, random_state=0)
    return [
        at(display.bars_[0][0], 0.4, 0.5),
        at(display.bars_[0][0], 1.04, 0.5, (0, 20)),
        at(display.ax_, 0, 1, (0, 9)),
    ]


@of(importance.ConditionalImportanceDisplay)
def conditional_importance(cls):
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X[["bmi", "bp", "s1", "s3", "s5"]]
    test = importance.ConditionalImportanceTest(test="gcm", random_state=0)
    display = cls.from_estimator(test.fit(X, y))
    return [
        at(display.bars_[0], 0.5, 0.5),
        at(display.labels_[0], 1.05, 0.5, (14, 0)),
        at(display.labels_[-1], 1.05, 0.5, (14, 0)),
        at(display.scores_[-1], 0.5, -0.1, (0, -12)),
    ]


# -- Diagnosis -------------------------------------------------------------------------


@cache
def error_slices():
    """Return slices of the rentals with large absolute errors."""
    X, y = make_rentals()
    model = HistGradientBoostingRegressor(categorical_features="from_dtype")
    slices = diagnosis.ErrorSlices(model, loss="absolute_error", random_state=0)
    return slices.fit(X.drop(columns="day"), y)


@of(diagnosis.ErrorSlicesDisplay)
def error_slices_bars(cls):
    display = cls.from_estimator(error_slices())
    return [
        at(display.bars_[0], 0.3, 0.5),
        point(display.ax_, display.slices[0].high, len(display.slices) - 1, (0, -14)),
        at(display.labels_[0], 1.05, 0.5, (14, 0)),
    ]


@of(diagnosis.SliceLossDisplay, 5.0)
def slice_losses(cls):
    display = cls.from_estimator(error_slices())
    return [
        at(display.frame_, 0.5, 0.5),
        at(display.ax_, 0.05, 0.05),
        at(display.colour_bar_.ax, 0.5, 1, (0, 9)),
    ]


# -- Interactions ----------------------------------------------------------------------


@of(interactions.HStatisticDisplay)
def h_statistic(cls):
    X, _, model = forest()
    display = cls.from_estimator(model, X, subsample=60, n_repeats=3, random_state=0)
    return [
        at(display.bars_[0][0], 0.3, 0.5),
        at(display.bars_[1][0], 0.3, 0.5),
        at(display.labels_[1], 1.05, 0.5, (14, 0)),
    ]


@of(interactions.VariableInteractionNetworkDisplay, 3.4)
def variable_interaction_network(cls):
    X, _, model = forest()
    display = cls.from_estimator(model, X, threshold=0.0005, random_state=0)
    return [
        at(display.ax_, 0.5, 0.9, (0, 14)),
        at(display.labels_[0], 1.1, 0.5, (14, 0)),
        at(display.legend_, 0.5, -0.02, (0, -12)),
    ]


@cache
def components():
    """Return the components of the responses to a hundred patients."""
    X, _, model = forest()
    parts = interactions.FunctionalDecomposition(model, subsample=60, random_state=0)
    return parts.fit(X).explain(X[:100])


@of(interactions.FunctionalDecompositionDisplay, 4.4)
def functional_decomposition(cls):
    display = cls.from_explanation(components(), max_entries=5, max_panels=3, n_cols=2)
    bars, curve = display.axes_.flat[:2]
    bars.locator_params(axis="x", nbins=3)
    return [
        at(display.bars_[1], 0.5, 0.5),
        at(display.bars_[-1], 1.2, 0.5, (40, 0)),
        along(display.lines_[1][0], 0.5, (-18, 12)),
        point(curve, 3.7, 0, (0, 14)),
    ]


@of(interactions.InteractionNetworkDisplay, 3.4)
def interaction_network(cls):
    display = cls.from_explanation(components(), row=3)
    return [
        at(display.labels_[0], 1.1, 0.5, (14, 0)),
        at(display.ax_, 0.5, 0.9, (0, 14)),
        at(display.legend_, 0.5, -0.02, (0, -12)),
    ]


# -- Counterfactuals and anchors -------------------------------------------------------


@of(counterfactuals.CounterfactualDisplay)
def counterfactual(cls):
    X, y = tumours()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    row = X[np.abs(model.predict_proba(X)[:, 1] - 0.8) < 0.1][:1]
    inspector = counterfactuals.ExactCounterfactual(
        FrozenEstimator(model), desired="benign", max_changes=2
    ).fit(X)
    display = cls.from_explanation(inspector.explain(row), background=X)
    ax = display.axes_.flat[0]
    return [
        across(ax, row["area"].item(), 0.6, (16, 0)),
        across(ax, display.to_frame()["after"][0] + 20, 0.826, (-18, 0)),
        at(ax, 0.75, 0.05, (0, 20)),
        at(display.title_, 1.03, 0.5, (14, 0)),
    ]


@cache
def messages():
    """Return a model that finds spam, and a message."""
    texts = "win a free phone", "free money", "what a nice song", "the best song"
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
    model.fit(texts, ["spam", "spam", "fine", "fine"])
    return FrozenEstimator(model), ["a nice song and a free phone: win money"]


@of(counterfactuals.TextCounterfactualDisplay, 1.3)
def text_counterfactual(cls):
    cls.from_estimator(*messages())
    return [
        at(words("money"), 1.1, 0.5, (14, 0)),
        at(words("Log-odds"), 1.03, 0.8, (14, 0)),
        at(words("Log-odds"), 1.03, 0.2, (14, 0)),
    ]


@of(counterfactuals.AnchorsDisplay)
def anchors(cls):
    X, y = tumours()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    display = cls.from_estimator(
        FrozenEstimator(model), X, row=0, background=X, random_state=0
    )
    left = display.axes_.flat[0]
    return [
        at(left, 0.7, 0.8),
        across(left, X["area"].iloc[0], 0.5, (18, 0)),
        at(left, 0.06, 0.45, (-2, 24)),
        at(display.title_, 1.03, 0.5, (14, 0)),
    ]


# -- Linear models ---------------------------------------------------------------------


@of(diagnosis.ChangeDisplay)
def change(cls):
    X, y = patients()
    X_new = X[::2].copy()
    X_new["bmi"] *= 1.1
    X_new["pressure"] *= 0.95
    model = LinearRegression().fit(X, y)
    display = cls.from_estimator(model, X, X_new=X_new, target_name="progression")
    old, new = display.lines_
    return [
        along(old, 0, (-14, 8)),
        at(words("bmi"), -0.05, 0.5, (-14, 0)),
        along(new, 0, (14, 8)),
        at(display.labels_[0], 1.1, 0.5, (14, 0)),
    ]


@of(linear.CoefficientDisplay, 2.6)
def coefficient(cls):
    X, y = patients()
    X = (X - X.mean()) / X.std()
    display = cls.from_estimator(LinearRegression().fit(X, y), X, y)
    x, y = display.points_.get_offsets()[0]
    return [
        point(display.ax_, x, y, (0, -16)),
        point(display.ax_, 31, y, (0, -16)),
        across(display.ax_, 0, 0.85, (16, 0)),
    ]


@of(linear.LinearEffectDisplay)
def linear_effect(cls):
    X, y = patients()
    display = cls.from_estimator(LinearRegression().fit(X, y), X, y, rows=[3])
    return [
        at(display.boxes_[2], 0.8, 0, (0, -14)),
        at(display.boxes_[1], -0.7, 0.5, (-6, 16)),
        point(display.ax_, *display.points_[0].get_offsets()[1], (6, -22)),
        across(display.ax_, 0, 0.85, (16, 0)),
    ]


@of(linear.SparsePathDisplay)
def sparse_path(cls):
    X, y = patients()
    model = linear.SparseLinearRegressor(n_features_to_select=3).fit(X, y)
    display = cls.from_estimator(model)
    ax = display.axes_.flat[0]
    return [
        along(display.lines_[0][0], 0.6, (-14, 14)),
        point(ax, *display.lines_[0][2].get_xydata()[-1], (-16, 14)),
        at(ax, 0.67, 1, (14, 10)),
        at(display.model_lines_[0], 0.5, 0.5, (-14, 0)),
    ]


# -- Additive models -------------------------------------------------------------------


@of(additive.SmoothTermDisplay)
def smooth_term(cls):
    X, y = patients()
    model = additive.GAMRegressor().fit(X, y)
    display = cls.from_estimator(model, X, y, terms=["bmi", "pressure"])
    (line,), (band,) = display.lines_[0], display.bands_[0]
    left, right = display.axes_.flat
    rest = np.ma.filled(display.points_[0][0].get_offsets())
    rest = rest[(rest[:, 0] < 32) & (rest[:, 1] < 180)]
    return [
        along(line, 0.97, (0, -30)),
        edge(band, 0.9, (-18, 10)),
        point(left, *rest[np.argmax(rest[:, 1])], (-14, 10)),
        point(right, 62, 0, (0, 16)),
        at(left.yaxis.label, 0.5, 1.03, (0, 12)),
    ]


# -- Rules -----------------------------------------------------------------------------


@of(rules.RulesDisplay)
def rule_list(cls):
    X, y = tumours()
    model = rules.RIPPERClassifier(random_state=0).fit(X[["area", "texture"]], y)
    _, ax = plt.subplots(figsize=(WIDTH, 3), layout="constrained")
    display = cls.from_estimator(model, ax=ax)
    return [
        at(words("area > 875"), 0.5, 1.1, (0, 14)),
        at(display.bars_[1][0], 0.9, 0.5),
        at(words("185"), 0.5, -0.1, (0, -14)),
        at(words("0.68"), 0.5, -0.1, (0, -14)),
    ]


@of(rules.RuleFitDisplay, 3.6)
def rule_fit(cls):
    X, y = patients()
    model = rules.RuleFitRegressor(max_rules=30, random_state=0).fit(X, y)
    display = cls.from_estimator(model, max_entries=5)
    first, second = display.bars_
    for ax, numbers in zip(
        display.axes_, (" (numbers: coefficients)", ""), strict=True
    ):
        ax.set_xlabel(f"importance{numbers}")
    display.legend_.set_in_layout(False)
    return [
        at(first[0], 0.5, 0.5),
        at(words("17.1"), 1.1, 0.5, (14, 0)),
        at(second[0], 0.5, 0.5),
    ]


# -- Surrogates ------------------------------------------------------------------------


# -- Survival models -------------------------------------------------------------------


@of(survival.EffectOverTimeDisplay)
def effect_over_time(cls):
    ages, kinds, times = np.linspace(40, 80, 9), ["large", "small"], np.arange(1, 13)
    rates = 0.02 * np.exp(np.linspace(0, 2.5, 9)), np.array([0.05, 0.12])
    display = cls(
        [ages, np.array(kinds)],
        [np.exp(-np.outer(times, rate)) for rate in rates],
        times,
        feature_names=["age", "cells"],
        response_name="survival probability",
        data=[np.random.default_rng(0).normal(62, 8, 80), np.array(kinds)[[0, 0, 1]]],
    ).plot()
    ages, kinds = display.axes_.flat
    return [
        point(ages, 70, 6, (0, 0)),
        at(kinds.get_xticklabels()[0], 0.5, 0, (0, -10)),
        at(ages, 0.2, 0.03, (0, 18)),
        at(display.colorbars_[1].ax, 0.5, 0.98, UP),
    ]


@of(surrogates.GlobalSurrogateDisplay, 3.4)
def global_surrogate(cls):
    X, _, model = forest()
    display = cls.from_estimator(
        model, X, surrogate=DecisionTreeRegressor(max_depth=2), random_state=0
    )
    ax = display.axes_.flat[0]
    return [
        at(words("lipids ≤"), -0.1, 0.5, (-14, 0)),
        at(ax, 0.03, 0.215, (0, 14)),
        at(ax, 0.17, 0.087, (4, 18)),
        at(ax.title, 1.02, 0.5, (14, 0)),
    ]


@of(surrogates.LimeDisplay)
def lime(cls):
    X, _, model = forest()
    display = cls.from_estimator(model, X, row=3, n_samples=1000, random_state=0)
    ax = display.axes_.flat[0]
    return [
        at(words("HDL"), -0.05, 0.5, (-14, 0)),
        at(display.bars_[0][0], 0.5, 0.5),
        across(ax, 0, 0.12, (-16, 0)),
        at(ax.title, 1.03, 0.3, (14, 0)),
    ]


@of(surrogates.LimeTextDisplay, 3.4)
def lime_text(cls):
    model, texts = messages()
    display = cls.from_estimator(model, texts, target="spam", random_state=0)
    return [
        at(display.texts_[0][-1], 1.1, 0.5, (14, 0)),
        at(display.bars_[0][0], 0.5, 0.5),
        at(words("surrogate ="), 1.03, 0.3, (14, 0)),
    ]


@cache
def digits():
    """Return images of digits, and a model of them."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    return X, y, FrozenEstimator(LogisticRegression(C=0.1).fit(X[:500], y[:500]))


@of(surrogates.LimeImageDisplay, 2.4)
def lime_image(cls):
    X, _, model = digits()
    display = cls.from_estimator(
        model,
        X[5:6],
        image_shape=(8, 8),
        n_segments=16,
        n_top_labels=1,
        n_samples=300,
        random_state=0,
    )
    _, overlay = display.axes_.flat
    return [
        at(overlay, 0.27, 0.6, (-50, 0)),
        at(display.colour_bar_.ax, 0.5, 1, UP),
        at(overlay.title, -0.04, 0.3, (-14, 0)),
    ]


# -- Influence -------------------------------------------------------------------------


@cache
def diagnostics():
    """Return the influence of patients on a linear model."""
    X, y = patients()
    return influence.DeletionDiagnostics(LinearRegression()).fit(X, y)


@of(influence.InfluenceDisplay)
def influence_bars(cls):
    display = cls.from_estimator(diagnostics(), max_entries=6)
    ax = display.ax_
    return [
        at(display.bars_[1], 0.5, 0.5),
        at(ax.get_yticklabels()[-1], 0.5, -0.1, (0, -12)),
        at(ax.xaxis.label, -0.03, 0.5, (-14, 0)),
    ]


@of(influence.InfluenceTreeDisplay, 3.4)
def influence_tree(cls):
    display = cls.from_estimator(diagnostics(), max_depth=2)
    ax = display.ax_
    return [
        at(words("bmi ≤"), -0.1, 0.5, (-14, 0)),
        at(ax, 0.05, 0.25, (10, 16)),
        at(ax, 0.17, 0.12, (4, 20)),
        at(ax.title, 1.05, 0.5, (14, 0)),
    ]


@of(influence.RegressionInfluenceDisplay, 3.4)
def regression_influence(cls):
    X, y = patients()
    X, y = X[:60], y[:60]
    X.loc[20, "bmi"] *= 2
    y[10] += 200
    display = cls.from_estimator(LinearRegression().fit(X, y), X, y, max_names=2)
    ax = display.ax_
    return [
        point(ax, *max(display.points_.get_offsets().tolist()), (0, -16)),
        at(display.texts_[0], 1.1, 0.5, (14, 0)),
        along(display.contours_[0][0], 0.9, (0, 14)),
        point(ax, 0.3, 0, (0, 14)),
    ]


# -- Prototypes ------------------------------------------------------------------------


@of(prototypes.PrototypeDisplay)
def prototype(cls):
    X, y = load_iris(return_X_y=True, as_frame=True)
    chosen = prototypes.MMDCritic(n_prototypes=3, n_criticisms=2).fit(X)
    display = cls.from_estimator(chosen, X, y)
    ax = display.axes_.flat[0]
    return [
        at(ax.get_yticklabels()[0], 0.5, 1.2, UP),
        at(ax, 0.97, 0.9),
        at(ax, 0.25, 0.4),
        at(display.colour_bar_.ax, 0.5, 1, UP),
    ]


# -- Decomposition ---------------------------------------------------------------------


@of(decomposition.DecisionPathDisplay)
def decision_path(cls):
    X, y = patients()
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    display = cls.from_estimator(FrozenEstimator(model), X, row=3)
    line = display.lines_[0]
    return [
        at(display.ax_.get_yticklabels()[1], 0.5, 1.1, (0, 14)),
        along(line, 0.34, (0, -16)),
        point(display.ax_, 230, line.get_ydata()[1], (0, 16)),
        at(words("74"), 1.1, 0.5, (14, 0)),
        across(display.ax_, display.values[0], 0.15, (-16, 0)),
    ]


# -- Adversarial rows ------------------------------------------------------------------


@of(adversarial.AdversarialDisplay, 2.9)
def adversarial_image(cls):
    X, _, model = digits()
    attack = adversarial.MinimalPerturbation(model, norm="inf").fit(X)
    display = cls.from_explanation(attack.explain(X[5:6]), image_shape=(8, 8))
    image, change, result = display.axes_.flat
    return [
        at(image, 0, 0.5, (-16, 0)),
        at(change, 1, 0.5, (16, 0)),
        at(result, 1, 0.5, (16, 0)),
        at(change.title, -0.03, 0.5, (-12, 0)),
    ]


@of(adversarial.RobustnessCurveDisplay)
def robustness_curve(cls):
    X, y, model = digits()
    display = cls.from_estimator(
        model, X[500:700], y[500:700], np.linspace(0, 0.3, 7), units="raw"
    )
    return [
        along(display.line_, 0, (16, 4)),
        along(display.line_, 0.5, (14, 10)),
        along(display.line_, 1, (-10, 16)),
    ]


def picture(display):
    """Return the figure of a display, with its letters."""
    draw, size = PICTURES[display]
    with plt.rc_context({"figure.dpi": 2 * DPI}):
        places = draw(display)
        figure = plt.gcf()
        figure.set_size_inches(size)
        letter(figure, places)
    return figure


def write(app):
    """Draw the pictures."""
    folder = Path(app.srcdir, "generated", "reading")
    folder.mkdir(parents=True, exist_ok=True)
    for display in PICTURES:
        figure = picture(display)
        figure.savefig(folder / f"{display.__name__}.png")
        plt.close(figure)


class Reading(Directive):
    """Put the picture of a display, and its name below."""

    required_arguments = 1

    def run(self):
        """Return a figure as wide as it is drawn for."""
        (name,) = self.arguments
        sizes = {display.__name__: size for display, (_, size) in PICTURES.items()}
        image = nodes.image(
            uri=f"/generated/reading/{name}.png",
            alt=f"{name}, with letters at the parts that the list below explains",
            width=f"{round(DPI * sizes[name][0])}px",
            classes=["drawn"],
        )
        caption = nodes.caption("", "", nodes.literal("", name))
        return [nodes.figure("", image, caption)]


def setup(app):
    """Draw before pages are read."""
    app.add_directive("reading", Reading)
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
