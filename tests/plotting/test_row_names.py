"""Figures and tables of rows name these by the labels of their frame."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import AdversarialDisplay
from sklearn_interpret.counterfactuals import (
    AnchorsDisplay,
    CounterfactualDisplay,
    ExactCounterfactual,
)
from sklearn_interpret.decomposition import DecisionPathDisplay
from sklearn_interpret.effects import CeterisParibusDisplay
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.influence import InfluenceDisplay, InfluenceFunctions
from sklearn_interpret.interactions import (
    FunctionalDecomposition,
    InteractionNetworkDisplay,
)
from sklearn_interpret.shapley import (
    ShapleyDecisionDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleySummaryDisplay,
    ShapleyValues,
    ShapleyWaterfallDisplay,
)
from sklearn_interpret.surrogates import LimeDisplay
from tests.figures import all_texts, text_faults

ARRAY = np.random.default_rng(0).normal(size=(40, 3))
Y = (ARRAY.sum(axis=1) > 0).astype(int)
NUMBERED = pd.DataFrame(ARRAY, columns=["age", "income", "debt"])
LABELLED = NUMBERED.set_axis([f"client {k}" for k in range(40)])


@cache
def models(kind):
    X = {"array": ARRAY}.get(kind, NUMBERED)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    return LogisticRegression().fit(X, Y), tree.fit(X, Y)


def of_estimator(display, *, tree=False, with_y=False, **parameters):
    def draw(X, kind):
        y = (Y,) if with_y else ()
        model = models(kind)[int(tree)]
        return display.from_estimator(model, X, *y, row=3, **parameters)

    return draw


def influence(X, kind):
    inspector = InfluenceFunctions(FrozenEstimator(models(kind)[0])).fit(X, Y)
    explanation = inspector.explain(X[:5], Y[:5])
    assert explanation.to_frame(k=1)["row"].tolist() == explanation.row_names.tolist()
    display = InfluenceDisplay.from_explanation(explanation, row=3)
    assert display.ax_.get_title() in ("client 3", "row 3")
    return display


def network(X, kind):
    inspector = FunctionalDecomposition(FrozenEstimator(models(kind)[0])).fit(X)
    explanation = inspector.explain(X[:8])
    return InteractionNetworkDisplay.from_explanation(explanation, row=3)


DRAWS = {
    "waterfall": of_estimator(ShapleyWaterfallDisplay),
    "force": of_estimator(ShapleyForceDisplay),
    "decision": of_estimator(ShapleyDecisionDisplay),
    "counterfactual": of_estimator(CounterfactualDisplay),
    "anchors": of_estimator(AnchorsDisplay, random_state=0),
    "lime": of_estimator(LimeDisplay, random_state=0),
    "ceteris paribus": of_estimator(CeterisParibusDisplay),
    "decision path": of_estimator(DecisionPathDisplay, tree=True),
    "adversarial": of_estimator(AdversarialDisplay, with_y=True, random_state=0),
    "influence": influence,
    "network": network,
}


@pytest.mark.parametrize(
    ("kind", "X", "name"),
    [
        ("frame", LABELLED, "client 3"),
        ("numbered", NUMBERED, "row 3"),
        ("array", ARRAY, "row 3"),
    ],
)
@pytest.mark.parametrize("method", DRAWS)
def test_figures_of_a_row_name_it(method, kind, X, name):
    display = DRAWS[method](X, kind)
    assert text_faults(display.figure_) == []
    texts = "\n".join(all_texts(display.figure_))
    assert name in texts
    frame = display.to_frame()
    if "row" in frame:
        assert set(frame["row"]) == {3 if name == "row 3" else name}


@pytest.mark.parametrize(
    "display", [ShapleyForceDisplay, ShapleyHeatmapDisplay, ShapleySummaryDisplay]
)
def test_rows_side_by_side_have_their_labels(display):
    inspector = ShapleyValues(FrozenEstimator(models("frame")[0])).fit(LABELLED)
    drawn = display.from_explanation(inspector.explain(LABELLED[:6]))
    labels = LABELLED.index[:6].tolist()
    assert sorted(drawn.to_frame()["row"].unique()) == labels
    if display is not ShapleySummaryDisplay:
        assert set(all_texts(drawn.figure_)) & set(labels)


def test_counterfactuals_have_the_labels_of_their_rows():
    rows = LABELLED[4:8]
    inspector = ExactCounterfactual(FrozenEstimator(models("frame")[0])).fit(LABELLED)
    explanation = inspector.explain(rows)
    labels = rows.index[explanation.origin]
    assert explanation.rows.index.tolist() == labels.tolist()
    assert set(explanation.to_frame()["row"]) == set(labels)
    assert "client 5" in explanation._repr_html_()
    drawn = CounterfactualDisplay.from_explanation(explanation, row=1)
    expected = explanation[1].to_frame()
    pd.testing.assert_frame_equal(drawn.to_frame(), expected)


def test_labels_of_any_kind():
    rows = LABELLED[:3].set_axis(
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    )
    explanation = ShapleyValues(FrozenEstimator(models("frame")[0])).fit(NUMBERED)
    explanation = explanation.explain(rows)
    assert explanation.row_names[2] == ("b", 1)
    drawn = ShapleyWaterfallDisplay.from_explanation(explanation, row=2)
    assert "row ('b', 1)" in drawn.ax_.get_xlabel()
    alone = Explanation(explanation.values[2:], explanation.base_values[2:])
    drawn = ShapleyWaterfallDisplay.from_explanation(alone)
    assert "row" not in drawn.ax_.get_xlabel()
