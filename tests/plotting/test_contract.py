"""The contract of all displays, over the table of what they draw."""

import inspect
import sys
from functools import cache
from itertools import repeat

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.importance import PermutationImportance
from tests.plotting.drawings import DRAWINGS, class_of, patch_axes

every_display = pytest.mark.parametrize("name", DRAWINGS)


@every_display
def test_public_signatures_are_annotated(name):
    for method_name, method in inspect.getmembers(class_of(name), inspect.isroutine):
        if method_name.startswith("_") and method_name != "__init__":
            continue
        own = inspect.signature(method)
        parameters = [p for p in own.parameters.values() if p.name != "self"]
        assert all(p.annotation is not p.empty for p in parameters), method_name
        assert own.return_annotation is not own.empty, method_name


@cache
def drawn(name):
    """A display of the class, which the tests below share."""
    return DRAWINGS[name][0]()


@every_display
def test_own_figure(name):
    before, first = dict(matplotlib.rcParams), drawn(name).figure_
    numbers = plt.get_fignums()
    display = drawn(name).plot()
    assert display is drawn(name)
    assert isinstance(display, class_of(name))
    assert display.figure_ is not first
    assert plt.get_fignums() == [*numbers, display.figure_.number]
    assert dict(matplotlib.rcParams) == before


@every_display
def test_given_axes_are_drawn_on_as_they_are(name, monkeypatch):
    display = drawn(name)
    figure, (left, right) = plt.subplots(1, 2)
    right.plot([0, 1], [2, 3])
    size, other = figure.get_size_inches().tolist(), plt.figure()
    numbers, state = plt.get_fignums(), (right.get_xlim(), right.get_ylim())
    patch_axes(monkeypatch, class_of(name), repeat(left))
    display.plot()
    assert display.figure_ is figure
    if hasattr(display, "ax_"):
        assert display.ax_ is left
        others = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
        assert others == [left, right]
    assert plt.get_fignums() == numbers
    assert plt.gcf() is other
    assert (right.get_xlim(), right.get_ylim()) == state
    assert len(right.lines) == 1
    assert not right.get_xlabel()
    assert figure.get_size_inches().tolist() == size


@every_display
def test_what_is_no_axes_is_refused(name):
    display = drawn(name)
    for wrong in ("left", ["left"], [1]):
        with pytest.raises(TypeError, match=r"ax must be None.* matplotlib Axes"):
            display.plot(ax=wrong)


# Those of rows in frames need pandas before they are drawn.
@pytest.mark.parametrize(
    "name", sorted(DRAWINGS.keys() - {"CounterfactualDisplay", "PrototypeDisplay"})
)
def test_absent_packages_are_named(name, monkeypatch):
    display = drawn(name)
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match=r"\.to_frame needs pandas"):
            display.to_frame()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"\.plot needs matplotlib"):
        display.plot()


def parameters_of(name):
    """Parameters of the constructor from an estimator."""
    return inspect.signature(class_of(name).from_estimator).parameters


@pytest.mark.parametrize("name", [n for n in DRAWINGS if "X" in parameters_of(n)])
def test_wrong_estimators(name):
    X = np.arange(24.0).reshape(8, 3)
    needed = {"y": X[:, 0], "feature": 0, "row": 0}
    given = {key: needed[key] for key in needed.keys() & parameters_of(name)}
    display_class = class_of(name)
    kinds = [kind for kind in getattr(display_class, "_kinds", ()) if callable(kind)]
    for unfitted in [LinearRegression(), *(k(LinearRegression()) for k in kinds)]:
        with pytest.raises(NotFittedError):
            display_class.from_estimator(unfitted, X, **given)
    with pytest.raises(TypeError, match=r"a predictor is needed|is not an estimator"):
        display_class.from_estimator(object(), X, **given)
    is_shown = name in ("PartialDependenceDisplay", "EffectOverTimeDisplay")
    other = PermutationImportance if is_shown else PartialDependence
    fitted = other(FrozenEstimator(LinearRegression().fit(X, X[:, 0]))).fit(X, X[:, 0])
    with pytest.raises(TypeError, match=rf"{name} (shows|compares) .*{other.__name__}"):
        display_class.from_estimator(fitted, X, **given)
