"""Types of counterfactuals and anchors, as users see them."""

from typing import Literal, assert_type

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Polygon
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret.counterfactuals import (
    Anchors,
    AnchorsDisplay,
    AnchorsText,
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
    TextCounterfactual,
    TextCounterfactualDisplay,
    WachterCounterfactual,
)
from sklearn_interpret.explanations import (
    RemovalExplanation,
    RowExplanation,
    RuleExplanation,
)

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
MODEL = LogisticRegression()
TEXT_MODEL = make_pipeline(CountVectorizer(), MODEL)


def exact(X: Floats, y: Labels) -> None:
    search = ExactCounterfactual(
        MODEL,
        permitted_range={"age": (20, 60)},
        direction={"age": "increase"},
        distance={"age": 2.0},
        constraints=[({"age": 1.0, "debt": 2.0}, 100.0)],
    ).fit(X, y)
    assert_type(search, ExactCounterfactual)
    explanation = search.explain(X)
    assert_type(explanation, RowExplanation)
    assert_type(explanation[:5], RowExplanation)
    assert_type(explanation.origin, Labels)
    assert_type(explanation.distances, Floats)
    assert_type(explanation.valid, NDArray[np.bool_])
    assert_type(explanation.lower_bounds, Floats | None)
    assert_type(explanation.n_changed, Labels)
    assert_type(explanation.to_frame(), DataFrame)
    display = CounterfactualDisplay.from_estimator(search, X, row=0)
    assert_type(display, CounterfactualDisplay)
    assert_type(display.explanation, RowExplanation)
    assert_type(display.plot(max_entries=3), CounterfactualDisplay)
    assert_type(display.arrows_, list[list[PolyCollection]])
    assert_type(display.to_frame(), DataFrame)
    made = CounterfactualDisplay.from_explanation(explanation, row=0)
    assert_type(made, CounterfactualDisplay)


def heuristic(X: Floats, y: Labels) -> None:
    spheres = GrowingSpheres(MODEL, max_changes=2, n_counterfactuals=3).fit(X, y)
    assert_type(spheres, GrowingSpheres)
    assert_type(spheres.explain(X), RowExplanation)
    descent = WachterCounterfactual(MODEL, features_to_vary=[0, 1]).fit(X, y)
    assert_type(descent, WachterCounterfactual)
    assert_type(descent.method_, Literal["differences", "search"])
    assert_type(descent.n_iter_, int)
    assert_type(descent.explain(X), RowExplanation)


def anchors(X: Floats, y: Labels) -> None:
    inspector = Anchors(MODEL, precision=0.9).fit(X, y)
    assert_type(inspector, Anchors)
    explanation = inspector.explain(X)
    assert_type(explanation, RuleExplanation)
    assert_type(explanation.precision, Floats)
    assert_type(explanation.coverage, Floats)
    assert_type(explanation.text(0), str)
    assert_type(explanation.holds(X), NDArray[np.bool_])
    assert_type(explanation.to_frame(), DataFrame)
    display = AnchorsDisplay.from_estimator(inspector, X, row=0)
    assert_type(display, AnchorsDisplay)
    assert_type(display.plot(n_cols=2), AnchorsDisplay)
    assert_type(display.spans_, list[list[Polygon]])
    assert_type(display.to_frame(), DataFrame)
    assert_type(AnchorsDisplay.from_explanation(explanation, row=0), AnchorsDisplay)


def texts(X: list[str], y: list[str]) -> None:
    inspector = AnchorsText(TEXT_MODEL, replacement="corpus").fit(X, y)
    assert_type(inspector, AnchorsText)
    assert_type(inspector.explain(X), RuleExplanation)
    search = TextCounterfactual(TEXT_MODEL, max_removed=3).fit(X, y)
    assert_type(search, TextCounterfactual)
    explanation = search.explain(X)
    assert_type(explanation, RemovalExplanation)
    assert_type(explanation.n_removed, Labels)
    assert_type(explanation.spans(0), list[tuple[int, int]])
    display = TextCounterfactualDisplay.from_estimator(search, X, row=0)
    assert_type(display, TextCounterfactualDisplay)
    assert_type(display.plot(max_lines=5), TextCounterfactualDisplay)
    assert_type(display.strikes_, LineCollection)
    assert_type(display.to_frame(), DataFrame)
    made = TextCounterfactualDisplay.from_explanation(explanation, row=0)
    assert_type(made, TextCounterfactualDisplay)
