"""Pictures of the home page and of the chapters, drawn for their size on the page.

A function ``draw_<chapter>`` draws that of a chapter.
"""

from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
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
)
from sklearn_interpret.datasets import make_rentals

STYLE = {
    "figure.dpi": 200,
    "figure.figsize": (3.2, 2.24),
    "font.size": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "savefig.bbox": "tight",
}


def rentals():
    """Return four columns of the rentals, and their number."""
    X, y = make_rentals()
    return X[["hour", "temperature", "feels_like", "working"]], y


@cache
def forest():
    """Return the columns of the rentals, their number and a forest."""
    X, y = rentals()
    model = RandomForestRegressor(
        30, min_samples_leaf=5, max_features=2, random_state=0
    ).fit(X, y)
    return X, y, FrozenEstimator(model)


def commuters():
    """Return features of the rentals for a linear model, and the number of rentals."""
    X, y = make_rentals()
    rush, rain = X["hour"].isin([7, 8, 9, 16, 17, 18]), X["weather"] == "rain"
    return X[["temperature", "pressure"]].assign(rush=rush, rain=rain).astype(float), y


def busy():
    """Return two columns of the rentals, and whether there are many."""
    X, y = make_rentals()
    return X[["hour", "temperature"]], np.where(y > 100, "many", "few")


def draw_effects(ax):
    """Three effects of a feature."""
    X, _, model = forest()
    display = effects.EffectComparisonDisplay.from_estimator(
        model, X, "temperature", n_intervals=10, ax=ax
    )
    ax = np.ravel(display.axes_)[0]
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    ax.legend(lines, ["PDP", "M-plot", "ALE"], frameon=False)


def draw_interactions(ax):
    """The strengths of all pairs."""
    X, _, model = forest()
    interactions.HStatisticDisplay.from_estimator(
        model, X, kind="heatmap", ax=ax, subsample=100, random_state=0
    )


def draw_importance(ax):
    """How much worse the predictions are with a feature permuted."""
    X, y, model = forest()
    importance.PermutationImportanceDisplay.from_estimator(
        model, X, y, ax=ax, random_state=0
    )
    ax.get_legend().remove()


def draw_needed(ax):
    """Whether features are needed, given the others."""
    X, y = make_rentals()
    X = X[["hour", "temperature", "feels_like", "pressure"]]
    test = importance.ConditionalImportanceTest(test="gcm", random_state=0)
    ax.figure.set_size_inches(5.2, 2.4)  # two columns of numbers beside the bars
    importance.ConditionalImportanceDisplay.from_estimator(test.fit(X, y), ax=ax)


def draw_slices(ax):
    """Rows with large absolute errors."""
    X, y = make_rentals()
    X = X.drop(columns="day")
    model = HistGradientBoostingRegressor(categorical_features="from_dtype")
    slices = diagnosis.ErrorSlices(model, loss="absolute_error", random_state=0)
    slices.fit(X, y)
    diagnosis.SliceLossDisplay.from_estimator(slices, ax=ax)
    ax.set_title("")


def draw_shapley(ax):
    """A beeswarm of Shapley values."""
    X, _, model = forest()
    shapley.ShapleySummaryDisplay.from_estimator(model, X, ax=ax)
    ax.set_xlabel("SHAP value")


def draw_surrogates(ax):
    """A tree that imitates a forest."""
    X, _, model = forest()
    surrogate = DecisionTreeRegressor(max_depth=1)
    surrogates.GlobalSurrogateDisplay.from_estimator(
        model,
        X,
        surrogate=surrogate,
        model_name="a forest",
        surrogate_name="A tree",
        ax=ax,
    )


def draw_lime(ax):
    """The weights of a linear model around a row."""
    X, _, model = forest()
    surrogates.LimeDisplay.from_estimator(
        model, X, row=0, discretize=False, ax=ax, random_state=0
    )
    ax.set(title="LIME of one hour", xlabel="weight")


def draw_shapley_any_model(ax):
    """A waterfall of the Shapley values of a row."""
    X, _, model = forest()
    explainer = shapley.KernelSHAP(model, random_state=0).fit(X)
    shapley.ShapleyWaterfallDisplay.from_explanation(explainer.explain(X[6:7]), ax=ax)


def draw_shapley_plots(ax):
    """The Shapley values of a feature against its values."""
    X, _, model = forest()
    shapley.ShapleyDependenceDisplay.from_estimator(model, X, "hour", ax=ax)


def draw_shapley_dependence(ax):
    """Bars of groups and of their members."""
    X, _, model = forest()
    inspector = shapley.TreeSHAP(
        model,
        feature_groups={
            "time": ["hour", "working"],
            "warmth": ["temperature", "feels_like"],
        },
        within_groups=True,
    )
    shapley.ShapleyImportanceDisplay.from_estimator(inspector.fit(X), X, ax=ax)
    ax.set_xlabel("mean |SHAP value|")


def draw_counterfactuals(ax):
    """How little must change for another class."""
    X, y = busy()
    model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    row = X[(X["hour"] == 18) & (X["temperature"] < 5)][:1]
    inspector = counterfactuals.ExactCounterfactual(
        FrozenEstimator(model), desired="many", features_to_vary=["temperature"]
    ).fit(X)
    counterfactuals.CounterfactualDisplay.from_explanation(
        inspector.explain(row), background=X, ax=ax
    )
    ax.figure.axes[0].set_title("many, if the temperature was", loc="left")


def draw_counterfactuals_text(ax):
    """The words whose removal changes the class of a text."""
    texts = "win a free phone", "free money", "what a nice song", "the best song"
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model.fit(texts, ["spam", "spam", "fine", "fine"])
    counterfactuals.TextCounterfactualDisplay.from_estimator(
        FrozenEstimator(model), ["a nice song and a free phone: win money"], ax=ax
    )


def draw_anchors(ax):
    """The ranges that are enough for a class."""
    X, y = busy()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    counterfactuals.AnchorsDisplay.from_estimator(
        FrozenEstimator(model), X, row=2, background=X, random_state=0, ax=ax
    )
    for one in ax.figure.axes:
        one.set_title("", loc="left")  # the labels of the axes name the conditions


def draw_adversarial(ax):
    """An image of a digit, its perturbation, and their sum."""
    X, y = load_digits(return_X_y=True)
    X /= 16
    model = LogisticRegression(C=0.1).fit(X[:500], y[:500])
    attack = adversarial.MinimalPerturbation(FrozenEstimator(model), norm="inf")
    row = X[5:6]
    change = attack.fit(X).explain(row).perturbations
    result = row + 1.1 * change  # a little beyond the boundary
    titles = f"a {y[5]}", "change", f"a {model.predict(result)[0]}"
    images = np.stack([row, change, result]).reshape(1, 3, 8, 8)
    tiles(ax, images, titles)


def draw_prototypes(ax):
    """Digits that represent all digits, and digits that they miss."""
    X, _ = load_digits(return_X_y=True)
    chosen = prototypes.MMDCritic(n_prototypes=4, n_criticisms=4).fit(X[:600])
    rows = np.r_[chosen.prototype_indices_, chosen.criticism_indices_]
    tiles(ax, X[rows].reshape(2, 4, 8, 8), [""] * 4)
    ax.figure.axes[1].set_ylabel("prototypes")
    ax.figure.axes[5].set_ylabel("criticisms")


def tiles(ax, grid, titles):
    """Show images in rows and columns."""
    ax.axis("off")
    axes = ax.figure.subplots(len(grid), len(grid[0]), squeeze=False)
    for images, row in zip(grid, axes, strict=True):
        for image, one in zip(images, row, strict=True):
            one.imshow(image, cmap="gray_r")
            one.set(xticks=[], yticks=[])
    for one, title in zip(axes[0], titles, strict=True):
        one.set_title(title)


def draw_influence(ax):
    """Residuals and leverages, with the largest Cook's distances marked."""
    X, y = commuters()
    X, y = X[:100], y[:100]
    X.loc[20, "pressure"] = 1060
    y[10] += 400
    model = LinearRegression().fit(X, y)
    influence.RegressionInfluenceDisplay.from_estimator(model, X, y, ax=ax)


def draw_linear(ax):
    """Coefficients with their confidence intervals."""
    X, y = commuters()
    X = (X - X.mean()) / X.std()
    model = LinearRegression().fit(X, y)
    linear.CoefficientDisplay.from_estimator(model, X, y, ax=ax)


def draw_additive(ax):
    """A smooth term with its band."""
    X, y = make_rentals()
    X = X[["hour", "temperature"]]
    model = additive.GAMRegressor().fit(X, y)
    additive.SmoothTermDisplay.from_estimator(model, X, terms=["hour"], ax=ax)
    ax.figure.axes[0].set_ylabel("s(hour)")


def draw_decomposition(ax):
    """The path of a row through a tree."""
    X, y = rentals()
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    decomposition.DecisionPathDisplay.from_estimator(
        FrozenEstimator(model), X, row=0, ax=ax
    )
    ax.set_xlabel("mean of the node")


def draw_rules(ax):
    """A list of rules."""
    X, y = busy()
    model = rules.RIPPERClassifier(min_weight=30, random_state=0).fit(X, y)
    words = [f"if {rule}:\n    {rule.prediction}" for rule in model.rules_[:-1]]
    text = "\nelse ".join([*words, f"\n    {model.rules_[-1].prediction}"])
    text = text.replace(" and ", "\n    and ")
    ax.axis("off")
    ax.text(0, 0.98, text, va="top", linespacing=1.4, fontsize=12)


def large_figure(figure):
    """The large figure: what a forest learned of rentals, by three methods."""
    axes = figure.subplots(1, 3)
    panels = draw_effects, draw_importance, draw_shapley
    titles = (
        "Effect of one feature",
        "Importance of all",
        "Contributions to each prediction",
    )
    for ax, panel, title in zip(axes, panels, titles, strict=True):
        ax.set_title(title, fontweight="bold")
        panel(ax)


def write(app):
    """Draw the large figure and the pictures of the cards."""
    folder = Path(app.srcdir, "generated", "cards")
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(11, 3.2), layout="constrained")
        large_figure(figure)
        figure.savefig(folder / "home.png")
        plt.close(figure)
        for name, draw in list(globals().items()):
            if name.startswith("draw_"):
                figure, ax = plt.subplots(layout="constrained")
                draw(ax)
                figure.savefig(folder / f"{name.removeprefix('draw_')}.png")
                plt.close(figure)


def setup(app):
    """Draw before pages are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
