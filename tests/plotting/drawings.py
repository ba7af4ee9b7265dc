"""One table of all displays, each with functions that draw what it can show."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module

import numpy as np
import pytest

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
from sklearn_interpret._core.local.tokens import Splitter
from sklearn_interpret.explanations import (
    Condition,
    Explanation,
    InteractionExplanation,
    RemovalExplanation,
    RowExplanation,
    RuleExplanation,
    TrainingExplanation,
    WordCondition,
)
from tests.test_public_api import PUBLIC

FAMILIES = [import_module(name) for name in PUBLIC]

DRAW = np.random.default_rng(0)
ROWS = DRAW.normal(size=(12, 4))
NAMES = ["age", "income", "number of earlier visits", "debt"]
ATTRIBUTIONS = ROWS * [3.0, -2.0, 1.0, 0.3] + [0.0, 0.5, 0.0, 0.0]
EXPLANATION = Explanation(
    ATTRIBUTIONS,
    np.full(12, 10.0),
    data=ROWS,
    feature_names=NAMES,
    standard_errors=np.full((12, 4), 0.1),
)
NESTED = {"money": ["income", "debt"], "visits": [NAMES[2]]}
TREE = {"all": {"money": {"pair": NESTED["money"]}, "visits": {"few": [NAMES[2]]}}}
GRID = np.linspace(0, 1, 15)
CURVES = GRID + DRAW.normal(size=(8, 1))
STUMP = {
    "left": np.array([1, -1, -1]),
    "right": np.array([2, -1, -1]),
    "tests": ["x ≤ 0.5", "", ""],
    "rules": ["", "x ≤ 0.5", "x > 0.5"],
}
RESPONSES = DRAW.normal(size=20)
LEAVES = np.where(RESPONSES > 0, 2, 1)
LOCAL = {"fidelity": [0.8], "predictions": [1.4], "local_predictions": [1.3]}
SETS = [(0,), (1,), (2,), (0, 1), (2, 3), (0, 1, 3)]
PARTS = np.column_stack([ROWS[:, own].prod(axis=1) for own in SETS])
COMPONENTS = InteractionExplanation(
    PARTS,
    np.full(12, 10.0),
    SETS,
    predictions=10 + PARTS.sum(axis=1) + ROWS[:, 3],
    data=ROWS,
    feature_names=NAMES,
)
STRENGTHS = ROWS.T @ ROWS
STRENGTHS = np.abs(STRENGTHS + STRENGTHS.T) / 50 * (1 - np.eye(4))


def _partial_dependence():
    return effects.PartialDependenceDisplay(
        [GRID, np.array(["red", "green", "blue"])],
        [np.sin(7 * GRID + np.arange(7)[:, None]), DRAW.normal(size=(7, 3))],
        feature_names=["age", "colour"],
        output_names=list("abcdefg"),
        standard_errors=[np.full((7, 15), 0.1), np.full((7, 3), 0.2)],
        data=[GRID, np.array(["red", "blue"])],
    ).plot()


def _pair():
    return effects.PartialDependenceDisplay(
        [(GRID, GRID)],
        [DRAW.normal(size=(15, 15))],
        feature_names=[("age", "income")],
        data=[(GRID, GRID)],
    ).plot()


def _ice():
    return effects.IndividualConditionalExpectationDisplay(
        [GRID], [CURVES], [CURVES.mean(axis=0)], feature_names=["age"], data=[GRID]
    ).plot()


def _coloured_ice(color_values, **kw):
    return effects.IndividualConditionalExpectationDisplay(
        [GRID],
        [CURVES],
        [CURVES.mean(axis=0)],
        feature_names=["age"],
        derivatives=[CURVES / 3],
        derivative_std=[GRID],
        data=[GRID],
        color_by="income",
        color_values=color_values,
    ).plot(**kw)


def _over_time(n_features, **settings):
    times, levels = np.arange(1.0, 9.0), np.array(["red", "green", "blue"])
    features = [GRID, levels, *[GRID] * n_features][:n_features]
    shapes = [np.linspace(0.1, 0.5, len(feature)) for feature in features]
    return survival.EffectOverTimeDisplay(
        features,
        [np.exp(-np.outer(times, shape)) for shape in shapes],
        times,
        feature_names=[f"feature {number}" for number in range(n_features)],
        response_name="survival probability",
        data=features,
        **settings,
    ).plot()


def _many_levels():
    towns = np.array([f"the town numbered {k}" for k in range(20)])
    return effects.PartialDependenceDisplay(
        [towns],
        [DRAW.normal(size=20)],
        feature_names=["town"],
        standard_errors=[np.full(20, 0.1)],
        data=[towns[::2]],
    ).plot(order="effect")


def _two_models():
    first, second = (
        effects.PartialDependenceDisplay(
            [GRID],
            [k * GRID],
            feature_names=["age"],
            standard_errors=[np.full(15, 0.1)],
            data=[GRID],
        )
        for k in (1, 2)
    )
    first.plot(line_kw={"label": "forest"})
    return second.plot(ax=first.axes_, line_kw={"label": "linear"})


def _empty_cells():
    return effects.AccumulatedLocalEffectsDisplay(
        [(GRID[:4], GRID[:4])],
        [DRAW.normal(size=(4, 4))],
        feature_names=[("age", "income")],
        interval_counts=[np.eye(3)],
    ).plot()


def _conditional():
    return effects.ConditionalDependenceDisplay(
        [GRID], [GRID], [GRID**2], feature_names=["age"], data=[GRID]
    ).plot()


def _accumulated():
    return effects.AccumulatedLocalEffectsDisplay(
        [GRID], [GRID**2 - 0.3], feature_names=["age"], data=[GRID]
    ).plot()


def _comparison():
    return effects.EffectComparisonDisplay(
        [GRID] * 3,
        [GRID, 2 * GRID - 1, -GRID],
        methods=[
            "partial_dependence",
            "conditional_dependence",
            "accumulated_local_effects",
        ],
        feature_name="age",
        fold_effects=[CURVES[:, None] * 0 + k * GRID for k in (1, 2, 3)],
    ).plot()


def _models_compared():
    return effects.EffectComparisonDisplay(
        [GRID] * 2,
        [GRID, 2 * GRID - 1],
        methods=["partial_dependence"] * 2,
        models=["forest", "linear"],
        feature_name="age",
    ).plot()


def _ceteris_paribus(profiles, prediction, **parts):
    return effects.CeterisParibusDisplay(
        [GRID, np.array(["red", "green", "blue"])],
        [profiles, profiles[..., :3]],
        feature_names=["age", "colour"],
        row_values=[GRID[4], "green"],
        prediction=prediction,
        data=[GRID, np.array(["red", "blue"])],
        **parts,
    ).plot()


def _importances(**parts):
    draws = np.abs(DRAW.normal(size=(4, 6))) + [[5], [3], [1], [0]]
    return importance.PermutationImportanceDisplay(draws, feature_names=NAMES, **parts)


def _conditional_test(**parts):
    return importance.ConditionalImportanceDisplay(
        [2.0, 0.1, 3.0, -0.1],
        feature_names=NAMES,
        pvalues=[0.03, 0.4, 1e-9, 1.0],
        **parts,
    ).plot()


def _error_slices(**parts):
    losses = [(2.0, 1.5, 0.5), (1.2, -1.0, 0.3), (1.0, 0.1, 0.2)]
    conditions = [
        (Condition(0, "age", low=60.0), Condition(1, "job", levels=("cook",))),
        (Condition(1, "income", high=12345.6),),
        (Condition(2, NAMES[2], levels=(np.nan,)),),
    ]
    slices = [
        diagnosis.ErrorSlice(
            rule,
            n_rows=50.0,
            share=0.05,
            n_tested=20.0,
            mean_loss=mean,
            mean_loss_elsewhere=mean - difference,
            difference=difference,
            standard_error=error,
            low=difference - 2 * error,
            high=difference + 2 * error,
            pvalue=pvalue,
            adjusted_pvalue=pvalue,
        )
        for rule, (mean, difference, error), pvalue in zip(
            conditions, losses, [1e-5, 0.02, 0.4], strict=True
        )
    ]
    return diagnosis.ErrorSlicesDisplay(slices, **parts).plot()


def _change(factor=1.0):
    values = factor * np.array([1.5, -0.7, 0.0, 0.2])
    numbers = {
        "standard_errors": np.full(4, 0.2),
        "low": values - 0.4,
        "high": values + 0.4,
        "pvalues": np.full(4, 0.03),
        "adjusted_pvalues": np.full(4, 0.12),
        "old": 10.0,
        "new": 10.0 + values.sum(),
        "feature_names": NAMES,
        "output_names": [0],
    }
    loss = diagnosis.Change(values, **numbers, response_name="squared_error")
    return diagnosis.Change(values, **numbers, response_name="prediction", loss=loss)


def _slice_losses(n_columns=2):
    means = DRAW.exponential(size=(4, 3))[:, : 2 * n_columns - 1]
    means[1, 0] = np.nan
    bins = [["<= 2", "2 to 3.25", "> 3.25", "is missing"], ["cook", "nurse", "other"]]
    return diagnosis.SliceLossDisplay(
        means,
        bins=bins[:n_columns],
        feature_names=NAMES[:n_columns],
        frame=[(1, 2), (0, 0)][:n_columns],
        title="age > 2 and income = cook",
    ).plot()


def _regions(grid=GRID, **parts):
    curves = DRAW.normal(size=(3, len(grid)))
    return effects.RegionalEffectDisplay(
        grid,
        curves,
        curves.mean(axis=0),
        feature_name="age",
        conditions=[["x ≤ 0.5", "job in {cook, nurse}"], ["x ≤ 0.5"], ["x > 0.5"]],
        region=np.arange(8) % 3,
        data=np.resize(grid, 8),
        tree={
            "left": [1, 2, -1, -1, -1],
            "right": [4, 3, -1, -1, -1],
            "tests": ["x ≤ 0.5", "job in {cook, nurse}", "", "", ""],
        },
        **parts,
    )


def _null():
    return _importances(
        null_importances=np.abs(DRAW.normal(size=(30, 4))),
        pvalues=[0.01, 0.02, 0.3, 0.8],
        alpha=0.05,
    )


def _pairs(kind):
    return interactions.HStatisticDisplay(
        STRENGTHS,
        feature_names=NAMES,
        overall=STRENGTHS.max(axis=0),
        pairwise_std=STRENGTHS / 9,
    ).plot(kind=kind)


def _network():
    return interactions.VariableInteractionNetworkDisplay(
        STRENGTHS * (STRENGTHS > 0.2), main_effects=[3, 2, 1, 0], feature_names=NAMES
    ).plot()


def _components(name, **choices):
    display = getattr(interactions, f"{name}Display")
    return lambda: display.from_explanation(COMPONENTS, **choices)


def _surrogate_tree():
    return surrogates.GlobalSurrogateDisplay(
        RESPONSES, np.sign(RESPONSES), trees=[STUMP], leaves=LEAVES
    ).plot()


def _surrogate_line():
    return surrogates.GlobalSurrogateDisplay(
        RESPONSES, RESPONSES / 2, coefficients=[[1.0, -2.0]], column_names=NAMES[:2]
    ).plot()


def _lime():
    explanation = surrogates.LocalExplanation(
        [[1.0, -3.0]],
        [10.0],
        feature_names=NAMES[:2],
        standard_errors=[[0.1, 0.2]],
        **LOCAL,
    )
    return surrogates.LimeDisplay.from_explanation(explanation)


def _lime_text():
    explanation = surrogates.TextExplanation(
        [[0.5, 0.0, -0.25]],
        [0.3],
        feature_names=["free", "of", "charge"],
        tokens=[["free", " ", "of", " ", "charge", "!"]],
        token_features=[[0, -1, 1, -1, 2, -1]],
        **LOCAL,
    )
    return surrogates.LimeTextDisplay.from_explanation(explanation)


def _lime_image():
    explanation = surrogates.ImageExplanation(
        [[0.5, -2.0]],
        [1.0],
        segments=[[[0, 0, 1], [0, 1, 1]]],
        images=[[[0, 0, 9], [0, 9, 9]]],
        **LOCAL,
    )
    return surrogates.LimeImageDisplay.from_explanation(explanation)


TABLE = np.empty((40, 3), dtype=object)
TABLE[:, 0] = DRAW.exponential(size=40)
TABLE[:, 1] = DRAW.integers(0, 9, 40)
TABLE[:, 2] = DRAW.choice(["cook", "nurse", "a rather long occupation"], 40)


def _counterfactuals(n_found, **parts):
    """Two rows, for the first of which so many rows are found."""
    import pandas

    table = pandas.DataFrame(TABLE, columns=["debt", "visits", "job"])
    table = table.astype({"debt": float, "visits": int})
    rows = table.iloc[[0] * n_found].copy()
    rows["debt"] = [0.1, 3.2, 1.7][:n_found]
    rows["visits"] += np.arange(n_found)
    rows.iloc[1:, 2] = "cook" if TABLE[0, 2] != "cook" else "nurse"
    explanation = RowExplanation(
        rows=rows,
        origin=[0] * n_found,
        valid=[True] * n_found,
        distances=[1.0, 1.25, 2.0][:n_found],
        status=["found", "impossible"],
        reasons=["", "permitted_range leaves no row that the model answers so"],
        data=table.iloc[:2],
        predictions=[0.52, 0.6, 0.55][:n_found],
        original_predictions=[0.21, 0.3],
        feature_names=list(table),
        output_names=["granted"],
        response_name="probability",
        **parts,
    )
    choices = {"background": table, "target_name": "credit"}
    return lambda row=0: counterfactuals.CounterfactualDisplay.from_explanation(
        explanation, row=row, **choices
    )


def _boxes():
    low, high = (
        np.array([[-np.inf, np.nan, np.nan]]),
        np.array([[0.15, np.nan, np.nan]]),
    )
    proofs = {"lower_bounds": [0.9, 0.0], "optimal": [False, False]}
    return _counterfactuals(1, low=low, high=high, **proofs)()


def _anchor(rule, data, **choices):
    explanation = RuleExplanation(
        [rule],
        *([number] for number in (0.98, 0.95, 0.995, 0.21)),
        answers=["granted"],
        status=["failed"],
        reasons=["the precision is proved to be at least 0.95 only, not 0.99"],
        data=data,
        target_name="credit",
    )
    return lambda: counterfactuals.AnchorsDisplay.from_explanation(
        explanation, **choices
    )


CONDITIONS = (
    Condition(0, "debt", low=0.5, high=1.5),
    Condition(1, "visits", low=3),
    Condition(2, "job", levels=("cook", "nurse")),
)
TEXT = "Not $free$ of charge: free for a year."
WORDS = (WordCondition("free", 0, Splitter(r"\W+", None, True)),)


def _text_counterfactual():
    explanation = RemovalExplanation(
        pieces=[["free", " ", "of", " ", "charge", "!"]],
        removed=[[True, False, False, False, True, False]],
        words=[["free", "charge"]],
        texts=[" of !"],
        answers=["honest"],
        original_answers=["spam"],
        status=["found"],
        optimal=[True],
        predictions=[-0.4],
        original_predictions=[1.4],
    )
    return counterfactuals.TextCounterfactualDisplay.from_explanation(explanation)


def _attacked(image_shape=None, **parts):
    """An attacked row of a dozen features, or pixels."""
    data, moves = ROWS.reshape(4, 12)[:1], np.resize([0.3, -0.3, 0.0], (1, 12))
    fields = {
        "valid": [True],
        "status": ["found"],
        "predictions": [[0.2, 1.5, 1.0]],
        "output_names": ["cat", "dog", "a rather long name of a bird"],
        "response_name": "decision function",
        **parts,
    }
    explanation = RowExplanation(
        rows=data + moves,
        origin=[0],
        distances=[0.3],
        data=data,
        original_predictions=[[2.0, 1.0, 0.5]],
        **fields,
    )
    return lambda: adversarial.AdversarialDisplay.from_explanation(
        explanation, image_shape=image_shape
    )


FAILED = {
    "valid": [False],
    "status": ["failed"],
    "reasons": ["no row as wished was met within epsilon=0.3"],
    "predictions": [[2.0, 1.5, 1.0]],
}


def _regression_influence(**arrays):
    leverages = np.array([0.1, 0.15, 0.2, 0.25, 0.6, 0.62, 1.0])
    arrays = {"residual_dof": 20, "row_names": ["$a_", *"bcdef", "alone"], **arrays}
    return influence.RegressionInfluenceDisplay(
        leverages,
        [2, -2.5, 1, 0.3, 2.6, 2.5, np.nan],
        leverages,
        effective_dof=3,
        **arrays,
    ).plot()


def _coefficients(**looks):
    low = np.array([-1.0, 0.2, np.nan, -3])
    return lambda: linear.CoefficientDisplay(
        [0.5, 1.0, 2.0, -2.0], low, low + 2, term_names=["$a_", *NAMES[1:]]
    ).plot(**looks)


def _linear_effects(rows=(), **parts):
    max_entries = parts.pop("max_entries", 20)
    return lambda: linear.LinearEffectDisplay(
        ATTRIBUTIONS, term_names=["$a_", *NAMES[1:]], **parts
    ).plot(rows=rows, max_entries=max_entries)


def _robustness():
    one = adversarial.RobustnessCurveDisplay(GRID, 1 - GRID, label="SVC").plot()
    return adversarial.RobustnessCurveDisplay(
        GRID, [1 - GRID**2, 1 - GRID**3], label="$forest_"
    ).plot(one.ax_)


def _prototypes(data=ROWS, criticisms=(7, 3), *, kind="auto", **parts):
    return lambda: prototypes.PrototypeDisplay(
        data, [0, 4, 5], criticisms, **parts
    ).plot(kind=kind)


def _smooth_terms(n_outputs=1, **parts):
    """A number, a category, a number by a category, and a pair of numbers."""
    jobs = np.array(["cook", "nurse", "a rather long occupation"], dtype=object)
    shapes = (15,), (3,), (15, 3), (15, 15)
    axes = GRID, jobs, (GRID, jobs), (GRID, GRID)
    names = "age", "job", ("income", "job"), ("age", "income")
    return additive.SmoothTermDisplay(
        axes,
        [DRAW.normal(size=(n_outputs, *shape)) for shape in shapes],
        feature_names=names,
        effective_dof=np.full((n_outputs, 4), 3.21),
        standard_errors=[np.full((n_outputs, *shape), 0.1) for shape in shapes],
        output_names=list("abc")[:n_outputs] if n_outputs > 1 else None,
        data=[GRID[:3], jobs, (GRID[:3], jobs), (GRID[:3], GRID[:3])],
        missing_effects=[np.ones(n_outputs), None, None, None],
        **parts,
    )


INFLUENCE = TrainingExplanation(
    DRAW.normal(size=(3, 12)),
    ROWS,
    feature_names=NAMES,
    training_targets=list("$b_c") * 3,
    value_name="change of the loss",
)
REMOVAL = {
    "sizes": np.arange(15),
    "scores": GRID,
    "random_scores": CURVES,
    "score_name": "$score_",
}


def _influences(**choices):
    return lambda: influence.InfluenceDisplay.from_explanation(INFLUENCE, **choices)


def _influence_tree(**choices):
    return lambda: influence.InfluenceTreeDisplay.from_explanation(INFLUENCE, **choices)


ALPHAS = np.geomspace(1, 0.01, 5)
COEF_PATH = np.array([[0, 2, 3, 4, 5], [0, 0, -1, -2, -2], [0, 0, 1, 0, 0]])


def _sparse_path(path=COEF_PATH, **parts):
    return lambda: linear.SparsePathDisplay(ALPHAS, path, **parts).plot()


def _decision_path(values, **parts):
    return lambda: decomposition.DecisionPathDisplay(
        ["all rows", "age ≤ $30", "number of earlier visits > 4"],
        values,
        [400, 60, 5],
        **parts,
    ).plot()


YOUNG = Condition(0, "age", high=30.0)
MANY = Condition(2, "number of earlier visits", low=4.0)
RULES = [
    rules.Rule((YOUNG, MANY), "$yes", 0.3, 0.9, (0.1, 0.9)),
    rules.Rule((MANY,), "no", 0.2, 0.6, (0.6, 0.4)),
    rules.Rule((), "no", 0.5, 1.0, (1.0, 0.0)),
]


def _rules(kept=RULES, **parts):
    return lambda: rules.RulesDisplay(kept, **parts).plot()


def _rule_fit(names):
    sizes = np.arange(4.0, 4.0 - len(names), -1.0)
    parts = sizes * (-1) ** np.arange(len(names)), sizes, [3.0, 0.5, 0.0, 1.0]
    return lambda: rules.RuleFitDisplay(names, *parts, feature_names=NAMES).plot()


def _explained(kind, **choices):
    return lambda: getattr(shapley, kind).from_explanation(EXPLANATION, **choices)


def _grouped(kind, groups, **choices):
    explanation = replace(EXPLANATION, groups=groups)
    return lambda: getattr(shapley, kind).from_explanation(explanation, **choices)


def class_of(name):
    """The class of a display, by its name."""
    (found,) = (getattr(family, name) for family in FAMILIES if hasattr(family, name))
    return found


def patch_axes(monkeypatch, display_class, axes):
    """Let displays of a class draw on the next of these axes where none are given."""
    plot = display_class.plot

    @wraps(plot)
    def on_given_axes(self, ax=None, **looks):
        return plot(self, next(axes) if ax is None else ax, **looks)

    monkeypatch.setattr(display_class, "plot", on_given_axes)


def _entries(n, *, pairs=True):
    """Grids, names and curves of so many features: numbers, levels and pairs."""
    colours = np.array(["red", "green", "a rather long colour"])
    kinds = [GRID, GRID, colours, (GRID, GRID)][: 3 + pairs]
    grids = [kinds[place % len(kinds)] for place in range(n)]
    names = [
        (f"age {place}", f"debt {place}") if isinstance(grid, tuple) else f"age {place}"
        for place, grid in enumerate(grids)
    ]
    shapes = [
        tuple(map(len, grid)) if isinstance(grid, tuple) else (len(grid),)
        for grid in grids
    ]
    curves = [10 * np.random.default_rng(0).normal(size=shape) for shape in shapes]
    return grids, names, curves


def _effects(name, n, **choices):
    grids, names, curves = _entries(n)
    display = getattr(effects, f"{name}Display")
    return display(grids, curves, feature_names=names, data=grids, **choices).plot()


def _many_conditional(n):
    grids, names, curves = _entries(n, pairs=False)
    return effects.ConditionalDependenceDisplay(
        grids, grids, curves, feature_names=names, data=grids
    ).plot()


def _many_ice(n):
    grids, names, means = _entries(n, pairs=False)
    curves = [mean + DRAW.normal(size=(8, 1)) for mean in means]
    parts = {"derivatives": curves, "derivative_std": [abs(mean) for mean in means]}
    numbers = all(grid is GRID for grid in grids)
    return effects.IndividualConditionalExpectationDisplay(
        *(grids, curves, means),
        feature_names=names,
        data=grids,
        color_by="income",
        color_values=np.arange(8.0),
        **(parts if numbers else {}),
    ).plot()


def _many_profiles(n):
    grids, names, means = _entries(n, pairs=False)
    return effects.CeterisParibusDisplay(
        grids,
        means,
        feature_names=names,
        row_values=[grid[1] for grid in grids],
        prediction=[0.0],
        data=grids,
    ).plot()


def _many_terms(n):
    grids, names, curves = _entries(n)
    return additive.SmoothTermDisplay(
        *(grids, curves),
        feature_names=names,
        effective_dof=np.full(n, 3.21),
        standard_errors=[0.1 * np.ones_like(curve) for curve in curves],
        data=grids,
    ).plot(max_entries=None)


def _many_methods(n):
    return effects.EffectComparisonDisplay(
        [GRID] * n,
        [GRID * k for k in range(n)],
        methods=["partial_dependence"] * n,
        models=[f"model {place}" for place in range(n)],
        feature_name="age",
    ).plot()


def _many_components(n):
    sets = [(0,), (1,), (2,), (0, 1), (2, 3), (0, 1, 3)]
    sets = [sets[place % 6] for place in range(n)]
    sets = [(*one, *range(4, 4 + k // 6)) for k, one in enumerate(sets)]
    rows = np.random.default_rng(0).normal(size=(12, 8))
    values = np.column_stack([rows[:, own].prod(axis=1) for own in sets])
    explanation = InteractionExplanation(
        *(values, np.zeros(12), sets),
        predictions=values.sum(axis=1),
        data=rows,
        feature_names=[f"{name} {k}" for k in "ab" for name in NAMES],
    )
    return interactions.FunctionalDecompositionDisplay.from_explanation(explanation)


def _lime_of(n):
    explanation = surrogates.LocalExplanation(
        np.ones((1, 2, n)) * [[[1.0], [-2.0]]],
        np.ones((1, n)),
        feature_names=NAMES[:2],
        output_names=[f"class {place}" for place in range(n)],
        **{name: np.ones((1, n)) for name in LOCAL},
    )
    return surrogates.LimeDisplay.from_explanation(explanation)


def _lime_images_of(n):
    explanation = surrogates.ImageExplanation(
        np.ones((1, 2, n)) * [[[1.0], [-2.0]]],
        np.ones((1, n)),
        segments=[[[0, 0, 1], [0, 1, 1]]],
        images=[[[0, 0, 9], [0, 9, 9]]],
        output_names=[f"class {place}" for place in range(n)],
        **{name: np.ones((1, n)) for name in LOCAL},
    )
    return surrogates.LimeImageDisplay.from_explanation(explanation)


def _images_of(n):
    return prototypes.PrototypeDisplay(
        np.random.default_rng(0).normal(size=(30, 16)),
        range(n),
        range(21, 21 + n // 3),
        image_shape=(4, 4),
        y=[f"class {place % 3}" for place in range(30)],
    ).plot()


def _tree_of(n):
    outputs = np.random.default_rng(0).normal(size=(20, n))
    return surrogates.GlobalSurrogateDisplay(
        outputs, np.sign(outputs), trees=[STUMP] * n, leaves=np.tile(LEAVES, (n, 1)).T
    ).plot()


def _paths_of(n):
    return linear.SparsePathDisplay(
        ALPHAS,
        np.tile(COEF_PATH, (n, 1, 1)),
        feature_names=NAMES[:3],
        classes=[f"class {place}" for place in range(n)],
    ).plot()


LONG = " of the customer in the year before"
# Attributes of displays and explanations that hold names.
NAMED = (
    *("feature_names", "feature_name", "output_names", "term_names", "row_names"),
    *("column_names", "classes", "models", "features", "groups"),
)


def _longer(names):
    """Names of about 40 characters."""
    if isinstance(names, str):
        return names + LONG[: max(0, 40 - len(names))]
    if isinstance(names, tuple | list):
        return type(names)(map(_longer, names))
    if isinstance(names, dict):
        return {_longer(name): _longer(members) for name, members in names.items()}
    return names


def _lengthen(holder):
    for name in NAMED:
        names = vars(holder).get(name)
        if names is not None:
            names = names if isinstance(names, str | tuple | dict) else list(names)
            object.__setattr__(holder, name, _longer(names))


def lengthen_names(monkeypatch, display_class):
    """Let displays of a class draw names of about 40 characters."""
    plot = display_class.plot

    @wraps(plot)
    def with_long_names(self, *args, **looks):
        if hasattr(self, "explanation"):
            self.explanation = copy(self.explanation)
            if self.explanation is not None:
                _lengthen(self.explanation)
        _lengthen(self)
        return plot(self, *args, **looks)

    monkeypatch.setattr(display_class, "plot", with_long_names)


@dataclass(frozen=True)
class Row:
    """A display of the table; the contracts read the rest off its signatures."""

    drawings: list  # functions that draw what it can show
    panels: Callable | None = None  # a function that draws so many panels
    # What it has to be told beside an explanation of Shapley values.
    asked: dict = field(default_factory=dict)
    is_of_family: bool = True  # whether the contract of its family holds


# The one table of displays: every contract of displays runs over it.
DISPLAYS = {
    "EffectOverTimeDisplay": Row(
        [lambda: _over_time(2), lambda: _over_time(1, centered=True)], panels=_over_time
    ),
    "RegionalEffectDisplay": Row(
        [
            lambda: _regions(individual=CURVES).plot(),
            lambda: _regions(np.array(["red", "green", "blue"])).plot(),
        ],
        is_of_family=False,
    ),
    "SmoothTermDisplay": Row(
        [
            lambda: _smooth_terms(residuals=[CURVES[0, :3]] * 4).plot(),
            lambda: _smooth_terms(3).plot(max_entries=3),
        ],
        panels=_many_terms,
    ),
    "PrototypeDisplay": Row(
        [
            _prototypes(feature_names=NAMES, y=list("abcabcabcabc")),
            _prototypes(TABLE, ()),
            _prototypes(kind="map"),
            _prototypes(image_shape=(2, 2)),
        ],
        panels=_images_of,
    ),
    "AdversarialDisplay": Row(
        [
            _attacked(),
            _attacked(**FAILED),
            _attacked((3, 4)),
            _attacked((2, 2, 3), **FAILED),
        ]
    ),
    "RobustnessCurveDisplay": Row(
        [lambda: adversarial.RobustnessCurveDisplay(GRID, 1 - GRID).plot(), _robustness]
    ),
    "CounterfactualDisplay": Row(
        [
            _counterfactuals(1),
            _counterfactuals(3),
            lambda: _counterfactuals(1)(row=1),
            _boxes,
        ]
    ),
    "AnchorsDisplay": Row(
        [
            _anchor(CONDITIONS, TABLE[:1], background=TABLE),
            _anchor((), TABLE[:1]),
            _anchor(WORDS, [TEXT]),
        ]
    ),
    "PartialDependenceDisplay": Row(
        [_partial_dependence, _pair, _many_levels, _two_models],
        panels=lambda n: _effects("PartialDependence", n),
    ),
    "IndividualConditionalExpectationDisplay": Row(
        [
            _ice,
            lambda: _coloured_ice(np.arange(8.0)),
            lambda: _coloured_ice(list("abcabcab"), kind="derivatives"),
        ],
        panels=_many_ice,
    ),
    "ConditionalDependenceDisplay": Row([_conditional], panels=_many_conditional),
    "AccumulatedLocalEffectsDisplay": Row(
        [_accumulated, _empty_cells],
        panels=lambda n: _effects("AccumulatedLocalEffects", n),
    ),
    "CeterisParibusDisplay": Row(
        [
            lambda: _ceteris_paribus(CURVES[0], CURVES[0, [4]]),
            lambda: _ceteris_paribus(
                CURVES[:6].reshape(2, 3, 15),
                CURVES[:6, 4].reshape(2, 3),
                models=["forest", "linear"],
                output_names=["low", "mid", "top"],
            ),
        ],
        panels=_many_profiles,
    ),
    "EffectComparisonDisplay": Row(
        [_comparison, _models_compared], panels=_many_methods
    ),
    "PermutationImportanceDisplay": Row(
        [
            lambda: _importances().plot(),
            lambda: _importances(draws_name="folds").plot(),
            lambda: _importances().plot(kind="box"),
            lambda: _null().plot(),
            lambda: _null().plot(kind="box"),
        ]
    ),
    "ConditionalImportanceDisplay": Row(
        [
            lambda: _conditional_test(
                nuisance_scores=[[0.5, 0.1], [0.4, -0.2], [0.6, 0.9], [0.5, 0.0]]
            ),
            lambda: _conditional_test(
                intervals_low=[1.2, -0.3, 2.0, -0.4],
                intervals_high=[2.8, 0.5, 4.0, 0.2],
            ),
        ]
    ),
    "ChangeDisplay": Row(
        [
            lambda: diagnosis.ChangeDisplay(_change(), show_loss=True).plot(),
            lambda: diagnosis.ChangeDisplay(
                {"May": _change(), "June": _change(2.0), "July": _change(-1.0)}
            ).plot(max_entries=3),
        ]
    ),
    "ErrorSlicesDisplay": Row(
        [_error_slices, lambda: _error_slices(alpha=0.01, loss_name="squared error")]
    ),
    "SliceLossDisplay": Row([_slice_losses, lambda: _slice_losses(1)]),
    "RegressionInfluenceDisplay": Row(
        [
            _regression_influence,
            lambda: _regression_influence(
                residual_dof=None, row_names=["name" * 9] * 7
            ),
        ]
    ),
    "CoefficientDisplay": Row([_coefficients(), _coefficients(max_entries=2)]),
    "LinearEffectDisplay": Row(
        [
            _linear_effects(),
            _linear_effects(
                range(10),
                max_entries=3,
                row_names=["$row_" * 9] * 12,
                response_name="log-odds",
                output_names=["yes"],
            ),
        ]
    ),
    "SparsePathDisplay": Row(
        [
            _sparse_path(feature_names=NAMES[:3]),
            _sparse_path(np.tile(COEF_PATH, (2, 4, 1)), alpha=0.1, classes=["$a", "b"]),
        ],
        panels=_paths_of,
    ),
    "DecisionPathDisplay": Row(
        [
            _decision_path([10.0, 4.0, 12.5], deviations=[5.0, 3.0, 0.0]),
            _decision_path(
                [[0.2, 0.5, 0.3], [0.0, 0.9, 0.1], [0.0, 1.0, 0.0]],
                output_names=["$no", "so", "yes"],
            ),
        ]
    ),
    "RulesDisplay": Row(
        [
            _rules(classes=["no", "$yes"]),
            _rules([rules.WeightedRule((MANY,), None, 0.2, coef=-2.0)]),
        ]
    ),
    "RuleFitDisplay": Row(
        [_rule_fit(["age <= 30 and number of earlier visits > 4", "debt, linear"])]
    ),
    "InfluenceDisplay": Row(
        [
            _influences(),
            _influences(row=0, features=["age", 3], max_entries=3),
            lambda: influence.InfluenceDisplay(removal=REMOVAL).plot(),
        ]
    ),
    "InfluenceTreeDisplay": Row(
        [
            _influence_tree(max_depth=1),
            _influence_tree(kind="rules", min_samples_leaf=3),
        ]
    ),
    "FunctionalDecompositionDisplay": Row(
        [_components("FunctionalDecomposition")], panels=_many_components
    ),
    "InteractionNetworkDisplay": Row(
        [_components("InteractionNetwork"), _components("InteractionNetwork", row=0)]
    ),
    "HStatisticDisplay": Row([lambda: _pairs("bar"), lambda: _pairs("heatmap")]),
    "VariableInteractionNetworkDisplay": Row([_network]),
    "ShapleyWaterfallDisplay": Row(
        [
            _explained("ShapleyWaterfallDisplay", row=0),
            _grouped("ShapleyWaterfallDisplay", NESTED, row=0),
            _grouped("ShapleyWaterfallDisplay", TREE, row=0),
        ],
        asked={"row": 0},
    ),
    "ShapleyForceDisplay": Row(
        [
            _explained("ShapleyForceDisplay", row=0),
            _explained("ShapleyForceDisplay", order="input"),
        ]
    ),
    "ShapleyHeatmapDisplay": Row([_explained("ShapleyHeatmapDisplay")]),
    "ShapleyDecisionDisplay": Row(
        [
            _explained("ShapleyDecisionDisplay", row=0),
            _explained("ShapleyDecisionDisplay", highlight=[0, 3]),
        ]
    ),
    "ShapleyInteractionDisplay": Row(
        [
            lambda: shapley.ShapleyInteractionDisplay(
                STRENGTHS + np.diag([2.0, 0.1, 0.2, 0.3]), feature_names=NAMES
            ).plot()
        ],
        is_of_family=False,
    ),
    "ShapleyDependenceDisplay": Row(
        [_explained("ShapleyDependenceDisplay", feature=0)], asked={"feature": 0}
    ),
    "ShapleySummaryDisplay": Row(
        [
            _explained("ShapleySummaryDisplay"),
            _explained("ShapleySummaryDisplay", max_entries=2),
        ]
    ),
    "ShapleyImportanceDisplay": Row(
        [
            _explained("ShapleyImportanceDisplay"),
            _grouped("ShapleyImportanceDisplay", NESTED),
            _grouped("ShapleyImportanceDisplay", TREE),
        ]
    ),
    "GlobalSurrogateDisplay": Row([_surrogate_tree, _surrogate_line], panels=_tree_of),
    "LimeDisplay": Row([_lime], panels=_lime_of),
    "LimeTextDisplay": Row([_lime_text]),
    "LimeImageDisplay": Row([_lime_image], panels=_lime_images_of),
    "TextCounterfactualDisplay": Row([_text_counterfactual]),
}
DRAWINGS = {name: row.drawings for name, row in DISPLAYS.items()}
# Names and functions to parametrize by; the quick run draws the first of each display.
EACH_DRAWING = [
    pytest.param(name, draw, marks=pytest.mark.thorough if place else ())
    for name, drawings in DRAWINGS.items()
    for place, draw in enumerate(drawings)
]


def classes_of(family):
    """Displays of a family, for its contract; others of it have tests of their own."""
    return [
        getattr(family, name)
        for name, row in DISPLAYS.items()
        if row.is_of_family and hasattr(family, name)
    ]
