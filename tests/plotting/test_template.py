"""What all displays share: signatures, words for the target, descriptions."""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.decomposition import DecisionPathDisplay
from sklearn_interpret.effects import (
    CeterisParibusDisplay,
    EffectComparisonDisplay,
    PartialDependence,
    PartialDependenceDisplay,
)
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.interactions import (
    HStatisticDisplay,
    VariableInteractionNetworkDisplay,
)
from sklearn_interpret.shapley import (
    LinearSHAP,
    ShapleyDependenceDisplay,
    ShapleyImportanceDisplay,
    ShapleyWaterfallDisplay,
)
from tests.plotting.drawings import EXPLANATION
from tests.test_public_api import PUBLIC

X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["age", "bmi"])
Y = pd.Series(X["age"] - X["bmi"] ** 2, name="cnt")
MODEL = LinearRegression().fit(X, Y)
MADE = [
    f"{module}.{name}.{method}"
    for module in PUBLIC
    for name in importlib.import_module(module).__all__
    if name.endswith("Display")
    for method in ("from_estimator", "from_cv_results", "from_explanation")
    if hasattr(getattr(importlib.import_module(module), name), method)
]


def made(full_name):
    """The class and the method of a full name."""
    module, name, method = full_name.rsplit(".", 2)
    display = getattr(importlib.import_module(module), name)
    return display, getattr(display, method)


@pytest.mark.parametrize("name", MADE)
def test_parameters_are_named_documented_and_taken(name):
    _, method = made(name)
    parameters = inspect.signature(method).parameters
    scraping = pytest.importorskip("numpydoc.docscrape")
    documented = {
        one: (entry.type, entry.desc)
        for entry in scraping.FunctionDoc(method)["Parameters"]
        for one in entry.name.split(", ")
    }
    assert list(documented) == list(parameters)
    for parameter in parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        assert parameter.annotation is not parameter.empty, parameter
        kind, text = documented[parameter.name]
        assert re.match(r"(?!default=)\S", kind), parameter  # not a default alone
        assert text, parameter
    # Names are looked at before the model, which is none.
    needed = {"cv_results": {"estimator": [object()]}, "feature": 0}
    given = {
        n: needed.get(n, object()) if p.default is p.empty else p.default
        for n, p in parameters.items()
    }
    for wrong in ({}, {"surely_wrong": 1}):
        with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
            method(**given, **wrong)
        unknown = re.search("no parameter|unexpected keyword", str(caught.value))
        assert bool(unknown) == bool(wrong)
    assert caught.type is TypeError
    assert "surely_wrong" in str(caught.value)


@pytest.mark.parametrize("name", MADE)
def test_tools_that_look_past_the_method_find_its_docstring(name):
    """Sphinx shows that of the function behind a class method."""
    display, method = made(name)
    found = inspect.getattr_static(display, method.__name__)
    behind = getattr(found, "__func__", method)
    assert inspect.getdoc(behind) == inspect.getdoc(method)


def test_defaults_are_those_in_effect():
    taken = inspect.signature(DecisionPathDisplay.from_estimator).parameters
    assert (taken["row"].default, taken["tree"].default) == (0, 0)
    taken = inspect.signature(HStatisticDisplay.from_estimator).parameters
    assert taken["unnormalized"].default is False
    taken = inspect.signature(ShapleyImportanceDisplay.from_estimator).parameters
    assert taken["response_name"].default is None  # that of the explanation
    taken = inspect.signature(EffectComparisonDisplay.from_estimator).parameters
    assert taken["centered"].default is None  # as each effect has it


def test_docstrings_name_the_inspector_of_predictors():
    doc = inspect.getdoc(HStatisticDisplay.from_estimator)
    assert "inspected on `X` as it is, by :class:`HStatistic`." in doc


def test_drawing_needs_no_docstrings(monkeypatch):
    """Python's -OO leaves them out."""
    static = inspect.getattr_static(PartialDependenceDisplay, "from_estimator")
    monkeypatch.setattr(static.function, "__doc__", None)
    PartialDependenceDisplay.from_estimator(MODEL, X, [0])


OF_MODELS = (
    "PrototypeDisplay",
    "RuleFitDisplay",
    "RulesDisplay",
    "SmoothTermDisplay",
    "SparsePathDisplay",
)


@pytest.mark.parametrize("name", MADE)
def test_signatures_name_all_that_is_taken(name):
    display, method = made(name)
    parameters = inspect.signature(method).parameters.keys()
    assert set(inspect.signature(display.plot).parameters) - {"self"} <= parameters
    # Some show what was fitted, not a predictor that has to be inspected.
    if method.__name__ == "from_estimator" and display.__name__ not in OF_MODELS:
        kind = getattr(display, "_kinds", [PartialDependence])[0]
        own = inspect.signature(kind).parameters.keys()
        # Nothing is random in the curves of one row.
        random = set() if display is CeterisParibusDisplay else {"random_state"}
        assert {"response_method", *random} & own <= parameters


def test_chosen_rows_and_outputs_are_named():
    taken = inspect.signature(ShapleyWaterfallDisplay.from_estimator).parameters
    assert {"row", "target", "step_kw"} <= taken.keys()
    assert "features" not in taken


def test_features_come_third():
    display = PartialDependenceDisplay.from_estimator(MODEL, X, ["bmi"])
    assert display.feature_names == ["bmi"]
    display = EffectComparisonDisplay.from_estimator(MODEL, X, "bmi")
    assert display.feature_name == "bmi"
    display = ShapleyDependenceDisplay.from_estimator(MODEL, X, "bmi")
    assert display.ax_.get_xlabel().startswith("bmi\n")
    display = HStatisticDisplay.from_estimator(MODEL, X, ["bmi", "age"])
    assert set(display.feature_names) == {"bmi", "age"}
    with pytest.raises(TypeError, match="no parameter 'features'"):
        ShapleyImportanceDisplay.from_estimator(MODEL, X, features=["bmi"])
    with pytest.raises(TypeError, match="too many positional arguments"):
        ShapleyImportanceDisplay.from_estimator(MODEL, X, ["bmi"])


def label_of(display):
    return display.axes_[0, 0].get_ylabel().split("\n")[0]


def test_the_target_has_a_name():
    fitted = PartialDependence(LinearRegression(), features=[0]).fit(X, Y)
    draw = PartialDependenceDisplay.from_estimator
    assert label_of(draw(fitted, X)) == "Prediction of cnt"
    asked = {"target_name": "bikes", "unit": "per day"}
    assert label_of(draw(fitted, X, **asked)) == "Prediction of bikes (per day)"
    assert label_of(draw(MODEL, X, [0])) == "Prediction"
    assert label_of(draw(MODEL, X, [0], **asked)) == "Prediction of bikes (per day)"
    compared = EffectComparisonDisplay.from_estimator(MODEL, X, 0, **asked)
    assert label_of(compared) == "Prediction of bikes (per day)"


def test_explanations_carry_words():
    inspector = LinearSHAP(LogisticRegression()).fit(X, pd.Series(Y > 0, name="sick"))
    explanation = inspector.explain(X)
    for kind in (ShapleyImportanceDisplay, ShapleyWaterfallDisplay):
        one = explanation[0]
        for display in (
            kind.from_explanation(one),
            kind.from_explanation(one, target_name="ill", unit="nats"),
            kind.from_estimator(inspector, X[:1], unit="nats"),
        ):
            name, unit = display.target_name, display.unit
            text = f"Log-odds of {name} = True" + (f" ({unit})" if unit else "")
            assert display.ax_.get_xlabel().split("\n")[0] == text
        assert name == "sick"


def test_descriptions():
    display = PartialDependenceDisplay.from_estimator(MODEL, X)
    assert repr(display) == "PartialDependenceDisplay(2 features: age, bmi)"
    fall = ShapleyWaterfallDisplay.from_explanation(EXPLANATION, row=0)
    assert repr(fall) == (
        "ShapleyWaterfallDisplay(12 rows; 4 features: age, income, "
        "number of earlier visits, debt; 1 output: 0)"
    )
    wide = Explanation(np.ones((1, 9)), [0.0])
    assert "9 features: x0, x1, x2, x3, x4, ...;" in repr(ShapleyWaterfallDisplay(wide))


def test_notebooks_show_a_figure_once():
    display = PartialDependenceDisplay([[0.0, 1.0]], [[0.0, 1.0]], feature_names=["x"])
    assert display._repr_png_() is None  # nothing is drawn
    display.plot()
    assert display._repr_png_() is None  # the notebook shows what pyplot has open
    plt.close(display.figure_)
    assert display._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("response_method", "words"),
    [("auto", "Probability of True"), ("decision_function", "Log-odds of True")],
)
def test_interactions_say_of_which_response_they_are(response_method, words):
    model = LogisticRegression().fit(X, Y > 0)
    asked = {"response_method": response_method}
    display = HStatisticDisplay.from_estimator(model, X, **asked)
    assert display.ax_.get_xlabel().endswith(words)
    display = HStatisticDisplay.from_estimator(model, X, kind="heatmap", **asked)
    assert display.colorbar_.ax.get_ylabel().endswith(words)
    display = VariableInteractionNetworkDisplay.from_estimator(model, X, **asked)
    assert display.legend_.get_title().get_text().endswith(words)
