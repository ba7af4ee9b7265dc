"""The contract of all displays, over the table of what they draw."""

import inspect
import sys
from functools import cache
from itertools import repeat

import matplotlib
import matplotlib.pyplot as plt
import pytest

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
    for draw in DRAWINGS[name]:
        figure, (left, right) = plt.subplots(1, 2)
        right.plot([0, 1], [2, 3])
        size, other = figure.get_size_inches().tolist(), plt.figure()
        numbers, state = plt.get_fignums(), (right.get_xlim(), right.get_ylim())
        with monkeypatch.context() as patch:
            patch_axes(patch, class_of(name), repeat(left))
            display = draw()
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
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"\.to_frame needs pandas"):
        display.to_frame()
    with pytest.raises(ImportError, match=r"\.plot needs matplotlib"):
        display.plot()
