"""The contract of all displays, over the table of what they draw."""

import inspect
import sys
from functools import wraps

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.plotting.drawings import DRAWINGS, FAMILIES

every_display = pytest.mark.parametrize("name", DRAWINGS)


def class_of(name):
    """The class of a display, by its name."""
    (found,) = (getattr(family, name) for family in FAMILIES if hasattr(family, name))
    return found


def patch_axes(monkeypatch, display_class, ax):
    """Let displays of a class draw on these axes where none are given."""
    plot = display_class.plot

    @wraps(plot)
    def on_given_axes(self, given=None, **looks):
        looks.setdefault("ax", ax if given is None else given)
        if "colorbar" in inspect.signature(plot).parameters:
            looks["colorbar"] = False
        return plot(self, **looks)

    monkeypatch.setattr(display_class, "plot", on_given_axes)


@every_display
def test_public_signatures_are_annotated(name):
    for method_name, method in inspect.getmembers(class_of(name), inspect.isroutine):
        if method_name.startswith("_") and method_name != "__init__":
            continue
        own = inspect.signature(method)
        parameters = [p for p in own.parameters.values() if p.name != "self"]
        assert all(p.annotation is not p.empty for p in parameters), method_name
        assert own.return_annotation is not own.empty, method_name


@every_display
def test_own_figure(name):
    before = dict(matplotlib.rcParams)
    for draw in DRAWINGS[name]:
        numbers = plt.get_fignums()
        display = draw()
        assert isinstance(display, class_of(name))
        assert plt.get_fignums() == [*numbers, display.figure_.number]
        first = display.figure_
        assert display.plot() is display
        assert display.figure_ is not first
        display.figure_.canvas.draw()
    assert dict(matplotlib.rcParams) == before


@every_display
def test_given_axes_are_drawn_on_as_they_are(name, monkeypatch):
    for draw in DRAWINGS[name]:
        figure, (left, right) = plt.subplots(1, 2)
        right.plot([0, 1], [2, 3])
        size, other = figure.get_size_inches().tolist(), plt.figure()
        numbers, state = plt.get_fignums(), (right.get_xlim(), right.get_ylim())
        with monkeypatch.context() as patch:
            patch_axes(patch, class_of(name), left)
            display = draw()
        assert display.figure_ is figure
        if hasattr(display, "ax_"):
            assert display.ax_ is left
            assert figure.axes == [left, right]
        assert plt.get_fignums() == numbers
        assert plt.gcf() is other
        assert (right.get_xlim(), right.get_ylim()) == state
        assert len(right.lines) == 1
        assert not right.get_xlabel()
        assert figure.get_size_inches().tolist() == size


@every_display
@pytest.mark.parametrize("wrong", ["left", ["left"], [1], np.array([None])])
def test_what_is_no_axes_is_refused(name, wrong):
    display = DRAWINGS[name][0]()
    with pytest.raises(TypeError, match="ax must be None or a matplotlib Axes"):
        display.plot(ax=wrong)


@every_display
def test_absent_packages_are_named(name, monkeypatch):
    display = DRAWINGS[name][0]()
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=rf"{name}\.to_frame needs pandas"):
        display.to_frame()
    with pytest.raises(ImportError, match=rf"{name}\.plot needs matplotlib"):
        display.plot()
