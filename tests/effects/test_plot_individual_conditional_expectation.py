"""What is special about the display of single curves."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.effects import (
    IndividualConditionalExpectationDisplay as ICEDisplay,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table

FRAME, FRAME_Y = mixed_frame()
OF_FRAMES = encoded(LinearRegression()).fit(FRAME, FRAME_Y)


@pytest.fixture(scope="module")
def fitted():
    X, y = numeric_table(150)
    ice = ICE(LinearRegression(), features=[0, 2], grid_resolution=7, derivative=True)
    return ice.fit(X, y), X


def drawn_curves(display, panel=0):
    return np.stack([s[:, 1] for s in display.curves_[panel].get_segments()])


def test_curves_are_those_of_the_rows(fitted):
    ice, X = fitted
    display = ICEDisplay.from_estimator(ice, X, n_curves=None)
    assert_array_equal(display.curve_rows_, np.arange(150))
    for panel in (0, 1):
        assert_array_equal(drawn_curves(display, panel), ice.curves_[panel])
        (average,) = display.lines_[panel]
        assert_array_equal(average.get_ydata(), ice.average_[panel])
        assert average.get_zorder() > display.curves_[panel].get_zorder()


def test_some_curves_are_drawn_always_the_same(fitted):
    ice, X = fitted
    display = ICEDisplay.from_estimator(ice, X)
    assert len(display.curve_rows_) == 100
    assert np.all(np.diff(display.curve_rows_) > 0)
    assert_array_equal(drawn_curves(display), ice.curves_[0][display.curve_rows_])
    names = ["100 rows", "mean over all rows", "values in the data"]
    assert legend_texts(display) == names
    rows = display.curve_rows_
    assert_array_equal(rows, display.plot().curve_rows_)
    assert not np.array_equal(rows, display.plot(random_state=1).curve_rows_)
    assert len(display.plot(n_curves=3).curve_rows_) == 3


def test_slopes_stand_below(fitted):
    ice, X = fitted
    display = ICEDisplay.from_estimator(ice, X)
    assert display.axes_.shape == (2, 2)
    for panel, line in enumerate(display.spread_lines_):
        assert line.axes is display.axes_[1, panel]
        assert_array_equal(line.get_ydata(), ice.derivative_std_[panel])
        assert display.axes_[1, panel].get_ylim()[0] == 0
    frame = display.to_frame()
    averages = frame[frame["row"].isna()]
    assert_array_equal(averages["slope_std"], np.concatenate(ice.derivative_std_))
    curves = frame[frame["row"].notna() & (frame["feature"] == "x0")]
    assert_array_equal(curves["slope"], ice.derivatives_[0].ravel())
    assert_array_equal(curves["value"], ice.curves_[0].ravel())
    assert curves["row"].tolist() == np.repeat(np.arange(150), 7).tolist()


def test_slopes_on_given_axes(fitted):
    import matplotlib.pyplot as plt

    ice, X = fitted
    _, axes = plt.subplots(2, 2)
    display = ICEDisplay.from_estimator(ice, X, ax=axes)
    assert display.axes_ is not None
    assert [line.axes for line in display.spread_lines_] == list(axes[1])


def test_features_without_slopes_have_nothing_below():
    display = ICEDisplay.from_estimator(
        OF_FRAMES, FRAME, features=["size", "town", ("size", "rooms")], derivative=True
    )
    assert [line is None for line in display.spread_lines_] == [False, True, True]
    assert [ax is None for ax in display.axes_[1]] == [False, True, True]


def test_label_says_that_curves_are_centred(fitted):
    _, X = fitted
    model = LinearRegression().fit(X, X[:, 0])
    display = ICEDisplay.from_estimator(model, X, features=[0], center="start")
    assert display.axes_[0, 0].get_ylabel() == "Prediction\n(centred ICE)"
    assert np.all(drawn_curves(display)[:, 0] == 0)


def test_one_panel_per_output():
    X, y = numeric_table(60)
    model = LogisticRegression().fit(X, classes(y, 3))
    display = ICEDisplay.from_estimator(model, X, features=[0, 1], grid_resolution=5)
    assert display.axes_.shape == (2, 3)
    titles = [ax.get_title() for ax in display.axes_.flat]
    assert titles == ["low", "mid", "top"] * 2


@pytest.mark.parametrize("n_outputs", [3, 7, 10])
def test_the_legend_tells_curves_and_means_of_all_outputs(n_outputs):
    grid, curves = np.arange(4.0), np.arange(n_outputs * 8.0).reshape(n_outputs, 2, 4)
    display = ICEDisplay(
        [grid], [curves], [curves.mean(axis=1)], feature_names=["age"]
    ).plot()
    rows, mean = (handle.get_color() for handle in display.legend_.legend_handles)
    drawn = [to_hex(c.get_colors()[0]) for c in display.curves_]
    assert drawn == [to_hex(rows)] * n_outputs
    assert {line.get_color() for (line,) in display.lines_} == {mean} != {rows}


def test_rows_of_a_subsample_keep_their_positions():
    X, y = numeric_table(60)
    model = LinearRegression().fit(X, y)
    display = ICEDisplay.from_estimator(
        model, X, features=[0], subsample=10, random_state=3, grid_resolution=4
    )
    frame = display.to_frame()
    rows = frame["row"].dropna().unique()
    assert len(rows) == 10
    assert max(rows) > 10
    curves = frame[frame["row"] == rows[-1]]
    moved = np.repeat(X[[int(rows[-1])]], 4, axis=0)
    moved[:, 0] = curves["x"]
    assert_allclose(curves["value"], model.predict(moved))


def test_folds_average_each_rows_curve():
    X, y = numeric_table(40)
    models = [LinearRegression().fit(X[part::2], y[part::2]) for part in (0, 1)]
    params = {"features": [1], "grid_resolution": 5, "derivative": True}
    display = ICEDisplay.from_cv_results(
        {"estimator": models}, X, n_curves=None, **params
    )
    each = [
        ICE(FrozenEstimator(model), custom_values={1: display.grid_values[0]}, **params)
        for model in models
    ]
    curves = [ice.fit(X).curves_[0] for ice in each]
    assert_allclose(drawn_curves(display), np.mean(curves, axis=0))
    display.plot(kind="derivatives")
    for model, line in zip(models, display.fold_lines_[0][0], strict=True):
        assert_allclose(line.get_ydata(), model.coef_[1])


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_slopes_of_the_curves(fitted):
    ice, X = fitted
    display = ICEDisplay.from_estimator(ice, X, kind="derivatives", n_curves=None)
    for panel in (0, 1):
        assert_array_equal(drawn_curves(display, panel), ice.derivatives_[panel])
        assert_allclose(
            display.lines_[panel][0].get_ydata(), ice.derivatives_[panel].mean(axis=0)
        )
        assert_array_equal(
            display.spread_lines_[panel].get_ydata(), ice.derivative_std_[panel]
        )
    assert display.axes_[0, 0].get_ylabel() == "Prediction\n(slope of ICE)"
    with pytest.raises(ValueError, match="kind='slopes' must be"):
        display.plot(kind="slopes")


def test_slopes_of_numbers_alone():
    kind = ICEDisplay
    kw = {"features": ["town", "size", ("size", "rooms")], "kind": "derivatives"}
    display = kind.from_estimator(OF_FRAMES, FRAME, derivative=True, **kw)
    assert [ax.get_xlabel() for ax in display.axes_[1]] == ["size"]
    with pytest.raises(ValueError, match="derivative=True"):
        kind.from_estimator(OF_FRAMES, FRAME, **kw)


@pytest.mark.parametrize("derivative", [False, True])
def test_curves_coloured_by_a_number(derivative):
    X, _ = mixed_frame()
    X.loc[2, "rooms"] = np.nan
    model = _Sizes()
    display = ICEDisplay.from_estimator(
        model,
        X,
        features=["size"],
        color_by="rooms",
        n_curves=30,
        derivative=derivative,
    )
    colours = display.curves_[0].get_colors()
    rows = display.curve_rows_
    assert 2 in rows
    rooms = X["rooms"].to_numpy()[rows]
    by_colour = {}
    for number, colour in zip(rooms, colours, strict=True):
        key = "missing" if np.isnan(number) else number
        by_colour.setdefault(key, set()).add(tuple(colour))
    assert all(len(found) == 1 for found in by_colour.values())
    assert len({c for found in by_colour.values() for c in found}) == len(by_colour)
    assert display.colorbars_[0].ax.get_ylabel() == "rooms"
    low, high = display.colorbars_[0].mappable.get_clim()
    assert (low, high) == (np.nanmin(rooms), np.nanmax(rooms))
    display.figure_.canvas.draw()


def test_curves_coloured_by_a_category():
    display = ICEDisplay.from_estimator(
        OF_FRAMES,
        FRAME,
        features=["size"],
        color_by="colour",
        n_curves=None,
        subsample=40,
    )
    handles = dict(
        zip(legend_texts(display), display.legend_.legend_handles, strict=True)
    )
    names = [f"colour: {name}" for name in ("red", "green", "blue", "amber")]
    assert [text for text in handles if text.startswith("colour")] == names
    rows = display.rows
    for colour, value in zip(
        display.curves_[0].get_colors(), FRAME["colour"].iloc[rows], strict=True
    ):
        assert to_hex(colour) == to_hex(handles[f"colour: {value}"].get_color())
    assert display.colorbars_[0] is None


def test_levels_beyond_the_palette_are_grey():
    display = ICEDisplay(
        [np.arange(3.0)],
        [np.zeros((15, 3))],
        [np.zeros(3)],
        feature_names=["x"],
        color_by="town",
        color_values=np.array(list("abcdefghijklmno")),
    ).plot()
    shown = [text for text in legend_texts(display) if text.startswith("town")]
    assert shown == [f"town: {name}" for name in "abcdefghijkl"] + ["town: others"]
    assert len({tuple(c) for c in display.curves_[0].get_colors()}) == 13


def test_color_by_that_is_not_there(fitted):
    ice, X = fitted
    kind = ICEDisplay
    with pytest.raises(ValueError, match="color_by has the position 7"):
        kind.from_estimator(ice, X, color_by=7)
    with pytest.raises(ValueError, match="needs the rows that were inspected"):
        kind.from_estimator(ice, X[:20], color_by=1)


def test_two_models_on_the_same_axes(fitted):
    _, X = fitted
    kw = {"derivative": True, "n_curves": 5, "features": [0, 1, 2], "n_cols": 2}
    axes, displays = None, []
    for name, slope in (("one", 1.0), ("two", -3.0)):
        display = ICEDisplay.from_estimator(
            LinearRegression().fit(X, slope * X[:, 0]),
            X,
            ax=axes,
            line_kw={"label": name},
            **kw,
        )
        displays.append(display)
        axes = display.axes_
    first, second = displays
    assert legend_texts(second) == ["5 rows", "one", "two", "values in the data"]
    for before, after in zip(first.spread_lines_, second.spread_lines_, strict=True):
        assert before.axes is after.axes
        assert before.get_color() != after.get_color()
    means = [one.lines_[0][0].get_color() for one in displays]
    assert means[0] != means[1]


class _Sizes:
    """Predicts of frames with missing values."""

    def fit(self, X, y=None):
        raise AssertionError("fitted already")

    def predict(self, X):
        return X["size"].to_numpy() * X["rooms"].fillna(0).to_numpy()
