"""What is special about the displays of averages, and of arrays given by hand."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret._plotting.axes import legend_entries
from sklearn_interpret._plotting.colours import contrast, mix, paper
from sklearn_interpret.effects import AccumulatedLocalEffects as ALE
from sklearn_interpret.effects import AccumulatedLocalEffectsDisplay as ALEDisplay
from sklearn_interpret.effects import (
    ConditionalDependenceDisplay,
    PartialDependenceDisplay,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table

FRAME, FRAME_Y = mixed_frame()
OF_FRAMES = encoded(LinearRegression()).fit(FRAME, FRAME_Y)
X, Y = numeric_table(60)
LINEAR = LinearRegression().fit(X, Y)


def test_arrays_by_hand():
    display = PartialDependenceDisplay(
        [np.array([0.0, 1.0, 2.0]), np.array(["a", "b"])],
        [np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), np.array([[0.0, 1.0]] * 2)],
        feature_names=["height", "kind"],
        output_names=["yes", "no"],
        response_name="odds",
    ).plot()
    assert [len(lines) for lines in display.lines_] == [2, 2]
    assert_array_equal(display.lines_[0][1].get_ydata(), [3.0, 2.0, 1.0])
    assert display.axes_[0, 0].get_ylabel() == "odds\n(partial dependence)"
    assert display.bands_ == [[], []]
    assert display.rug_ == [None, None]
    first = display.to_frame().iloc[0].tolist()
    assert first == ["height", "yes", 0.0, 1.0]


def test_a_single_output_is_not_named_in_the_legend():
    grid = [np.array([0.0, 1.0, 2.0])]
    display = PartialDependenceDisplay(
        grid, grid, feature_names=["age"], output_names=["yes"], data=grid
    ).plot()
    assert [*legend_entries(display.legend_)[0]] == ["values in the data"]
    display.plot(line_kw={"label": "forest"})
    named = ["forest", "values in the data"]
    assert [*legend_entries(display.legend_)[0]] == named


def test_labels():
    model = LogisticRegression().fit(X, classes(Y, 2))
    display = PartialDependenceDisplay.from_estimator(model, X, features=[1])
    (ax,) = display.axes_.flat
    assert ax.get_xlabel() == "x1"
    positive = model.classes_[1]
    assert ax.get_ylabel() == f"Probability of {positive}\n(partial dependence)"
    display = PartialDependenceDisplay.from_estimator(
        model, X, features=[1], response_method=log_odds, centered=True
    )
    (ax,) = display.axes_.flat
    assert ax.get_ylabel() == "log_odds\n(centred partial dependence)"


def log_odds(model, X):
    return model.decision_function(X)


def test_recursion_names_its_response():
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, Y)
    display = PartialDependenceDisplay.from_estimator(
        model, X, features=[0], method="recursion"
    )
    assert display.bands_ == [[]]
    assert display.axes_[0, 0].get_ylabel() == "Prediction\n(partial dependence)"


def test_missing_values_have_a_mark():
    X, y = numeric_table(60)
    X[::5, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=5).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(model, X, features=[0, 1])
    frame = display.to_frame()
    missing = frame[frame["x"].isna()]
    assert missing["feature"].tolist() == ["x0"]
    X[:, 0] = np.nan
    assert missing["value"].item() == pytest.approx(model.predict(X).mean())
    ((mark,), none) = display.missing_
    assert none == []
    assert mark.get_ydata()[0] == pytest.approx(missing["value"].item())
    assert mark.get_xdata()[0] > display.lines_[0][0].get_xdata().max()


def test_feature_without_any_value_says_so():
    X, _ = numeric_table(60)
    X[:, 1] = np.nan
    model = _Foreign()
    with pytest.warns(UserWarning, match="no observed value"):
        display = ALEDisplay.from_estimator(model, X, features=[1, (0, 1)])
    for ax in display.axes_.flat:
        assert [text.get_text() for text in ax.texts] == ["no observed value"]
    display.figure_.canvas.draw()


def test_bands_are_confidence_bands_when_asked():
    bare = ALEDisplay.from_estimator(LINEAR, X, features=[0])
    texts = ["this model's curve, ± 2 std errors", "values in the data"]
    assert legend_texts(bare) == texts
    display = ALEDisplay.from_estimator(
        LINEAR, X, features=[0, (0, 1)], confidence_level=0.95
    )
    assert display.legend_.get_texts()[0].get_text() == "this model's curve, 95 %"
    assert display.intervals_low[1] is None
    frame = display.to_frame()
    assert frame.loc[frame["feature2"].isna(), "low"].notna().all()
    assert frame.loc[frame["feature2"].notna(), "low"].isna().all()


def test_bands_of_partial_dependence_are_those_of_its_shape():
    """An effect without interactions is exact, however uncertain its level."""
    model = LinearRegression().fit(X, 100 * Y)
    display = PartialDependenceDisplay.from_estimator(model, X, features=[0, (0, 1)])
    assert display.legend_.get_texts()[0].get_text() == (
        "this model's shape, ± 2 std errors"
    )
    frame = display.to_frame()
    alone = frame["feature2"].isna()
    assert_allclose(frame["low"][alone], frame["high"][alone], atol=1e-9)
    reach = (frame["high"] - frame["low"])[~alone] / 4
    assert_allclose(reach, display.standard_errors[1].ravel())
    display.shape_standard_errors = None
    text = display.plot().legend_.get_texts()[0].get_text()
    assert text == "this model's level, ± 2 std errors"
    frame = display.to_frame()
    assert (frame["high"] - frame["low"])[alone].min() > 10


def test_error_bars_along_categories():
    display = PartialDependenceDisplay.from_estimator(
        OF_FRAMES, FRAME, features=["size", "colour"]
    )
    assert isinstance(display.bands_[0][0], PolyCollection)
    bars = display.bands_[1][0]
    assert isinstance(bars, LineCollection)
    frame = display.to_frame()
    frame = frame[frame["feature"] == "colour"]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert_allclose(ends, frame[["low", "high"]])
    shares = [segment[1, 1] for segment in display.rug_[1].get_segments()]
    counts = FRAME["colour"].value_counts()[frame["x"]].to_numpy()
    assert_allclose(np.array(shares) / max(shares), counts / counts.max())


def test_second_order_effects_diverge_from_zero():
    X, y = numeric_table(200)
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    display = ALEDisplay.from_estimator(model, X, features=[(0, 2)], n_intervals=8)
    low, high = display.contours_[0].get_clim()
    assert low == pytest.approx(-high)
    levels = display.contours_[0].levels
    assert_allclose(levels, -levels[::-1], atol=1e-12)
    assert not np.any(levels == 0)


def test_rounding_errors_have_the_colour_of_zero():
    """An additive model has no second-order effect but what rounding leaves."""
    X, y = numeric_table(200)
    model = LinearRegression().fit(X, 1000 * y)
    display = ALEDisplay.from_estimator(model, X, features=[0, (0, 2)], n_intervals=8)
    assert display.contours_[1].get_clim()[1] >= 1.0


def test_outputs_of_a_pair_share_their_colours():
    model = LogisticRegression().fit(X, classes(Y, 3))
    display = PartialDependenceDisplay.from_estimator(
        model, X, features=[(0, 1)], grid_resolution=5
    )
    assert len(display.contours_) == 3
    assert len({contours.get_clim() for contours in display.contours_}) == 1
    labels = [bar.ax.get_ylabel() for bar in display.colorbars_]
    assert labels == [
        f"Probability of {name}\n(partial dependence)" for name in model.classes_
    ]


def test_cells_of_conditional_means_lie_between_the_edges():
    X, y = numeric_table(80)
    model = LinearRegression().fit(X, y)
    display = ConditionalDependenceDisplay.from_estimator(
        model, X, features=[(0, 1)], n_intervals=4
    )
    corners = display.heatmaps_[0].get_coordinates()
    assert_allclose(corners[0, :, 0], display.edges[0][0])
    assert_allclose(corners[:, 0, 1], display.edges[0][1])


def test_cells_of_few_values_can_be_seen():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 50), rng.normal(size=50)]).astype(float)
    model = LinearRegression().fit(X, X.sum(axis=1))
    display = ConditionalDependenceDisplay.from_estimator(
        model, X, features=[(0, 1)], n_intervals=4
    )
    corners = display.heatmaps_[0].get_coordinates()
    assert_allclose(corners[0, :, 0], [-0.5, 0.5, 1.5])


def cities(n_levels):
    rng = np.random.default_rng(0)
    names = [f"city number {i % n_levels}" for i in range(2 * n_levels)]
    return pd.DataFrame({"city": names, "x": rng.normal(size=len(names))})


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("n_levels", [13, 50, 90, 300])
def test_many_levels_stand_below_each_other(n_levels):
    """Each has its name while there is room; more are thinned."""
    X = cities(n_levels)
    display = PartialDependenceDisplay.from_estimator(_Length().fit(X), X, features=[0])
    (ax,) = display.axes_.flat
    assert ax.get_xlabel() == "Prediction\n(partial dependence)"
    labels = ax.get_yticklabels()
    assert len(labels) == n_levels if n_levels <= 90 else 60 < len(labels) < n_levels
    note = f"\n({len(labels)} of {n_levels} are named)" if n_levels > 90 else ""
    assert ax.get_ylabel() == f"city{note}"
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in labels]
    assert min(box.x0 for box in boxes) >= 0
    for upper, lower in pairwise(boxes):
        assert lower.y1 <= upper.y0 + 1
    assert ax.get_window_extent().width > 2.9 * display.figure_.dpi
    (line,) = display.lines_[0]
    frame = display.to_frame()
    assert_array_equal(line.get_xdata(), frame["value"])
    assert_array_equal(line.get_ydata(), np.arange(n_levels))
    bars = display.rug_[0].get_segments()
    assert len(bars) == n_levels
    assert_allclose([bar[:, 1] for bar in bars], np.arange(n_levels)[:, None] + [0, 0])


@pytest.mark.parametrize("n_levels", [4, 50])
def test_levels_in_the_order_of_their_effect(n_levels):
    levels = np.array([f"level {k}" for k in range(n_levels)])
    effect = np.random.default_rng(0).normal(size=(2, n_levels))
    effect[1] *= 5
    effect[:, 2] = np.nan  # last
    display = ConditionalDependenceDisplay(
        [levels],
        [levels],
        [effect],
        feature_names=["kind"],
        output_names=["a", "b"],
        data=[levels[:1]],
    )
    (ax,) = display.plot(order="effect").axes_.flat
    axis = ax.yaxis if n_levels > 12 else ax.xaxis
    shown = [text.get_text() for text in axis.get_ticklabels()]
    assert shown == [*levels[np.argsort(-effect[1])]]
    with pytest.raises(ValueError, match="order='size' must be"):
        display.plot(order="size")


def test_an_order_by_effect_is_none_by_similarity():
    display = ALEDisplay.from_estimator(
        OF_FRAMES, FRAME, features=["town"], order="effect"
    )
    (ax,) = display.axes_.flat
    assert ax.get_xlabel() == "town"
    names = [text.get_text() for text in ax.get_xticklabels()]
    effects = display.to_frame().set_index("x")["value"]
    assert names == effects.sort_values(ascending=False).index.tolist()


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("n_entries", [1, 31])  # laid out by matplotlib, and by us
def test_long_names_next_to_a_colour_bar_are_not_cut(n_entries):
    levels = np.array([f"level number {k} of a feature" for k in range(4)])
    display = PartialDependenceDisplay(
        [(np.arange(3.0), levels)] * n_entries,
        [np.arange(12.0).reshape(3, 4)] * n_entries,
        feature_names=[("age", "kind")] * n_entries,
    ).plot(max_entries=None)
    figure = display.figure_
    figure.draw_without_rendering()
    axes = [ax for ax in display.axes_.flat if ax is not None]
    for ax in axes:
        for text in ax.get_yticklabels():
            box = text.get_window_extent()
            assert box.x0 >= 0
            assert not any(box.overlaps(one.get_window_extent()) for one in axes)
    assert min(ax.get_window_extent().width for ax in axes) > 2 * figure.dpi


def test_the_most_varied_of_many_outputs_are_drawn():
    sizes = np.array([1, 9, 2, 8, 3, 7, 4, 6, 5, 0.0, 10, 11, 12, 13, 0.5])
    curves = sizes[:, None] * np.array([0.0, 1.0, 0.5])
    display = PartialDependenceDisplay(
        [np.arange(3.0)] * 2,
        [curves, curves[:, ::-1]],
        feature_names=["a", "b"],
        output_names=list("abcdefghijklmno"),
        standard_errors=[curves / 10] * 2,
        missing_average=[sizes, None],
    ).plot()
    assert [len(lines) for lines in display.lines_] == [12, 12]
    assert len({line.get_color() for line in display.lines_[0]}) == 12
    assert legend_texts(display)[:12] == list("bcdefghiklmn")
    assert_array_equal(
        [mark.get_ydata()[0] for mark in display.missing_[0]],
        sizes[[*range(1, 9), *range(10, 14)]],
    )
    title = display.legend_.get_title().get_text()
    assert title == "The 12 most varied of 15 outputs"
    assert display.to_frame()["output"].nunique() == 15


def test_of_many_features_the_most_important_are_drawn():
    names = [f"x{k}" for k in range(300)]
    display = PartialDependenceDisplay(
        [np.arange(2.0)] * 300,
        [np.array([0.0, k]) for k in range(300)],
        feature_names=names,
    ).plot()
    assert len(display.lines_) == 20
    assert display.axes_[0, 0].get_xlabel() == "x299"
    title = display.legend_.get_title().get_text()
    assert title == "The 20 most important of 300"


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_marks_of_the_data_are_named():
    entries = ["size", "town", ("size", "rooms"), ("size", "town")]
    display = PartialDependenceDisplay.from_estimator(
        OF_FRAMES, FRAME, features=entries
    )
    assert legend_texts(display) == [
        "this model's shape, ± 2 std errors",
        "values in the data",
        "share of the rows",
        "rows (jittered at levels)",
    ]
    display = PartialDependenceDisplay.from_estimator(
        OF_FRAMES, FRAME, features=entries[2:3]
    )
    assert legend_texts(display) == ["rows"]
    assert display.plot(rug=False).legend_ is None


def test_a_colour_and_a_label_of_the_users():
    X, y = numeric_table()
    model = LinearRegression().fit(X, y)
    display = ALEDisplay.from_estimator(
        model,
        X,
        features=[0],
        confidence_level=0.9,
        line_kw={"c": "red", "label": "linear $model$"},
    )
    (line,), (band,) = display.lines_[0], display.bands_[0]
    assert line.get_label() == "linear $model$"
    assert to_hex(band.get_facecolor()[0]) == to_hex("red")
    texts = [text.replace("\\$", "$") for text in legend_texts(display)]
    assert texts[:2] == ["linear $model$", "this model's curve, 90 %"]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("features", [[0], [0, 1], [0, 1, 2, 3]])
@pytest.mark.parametrize("own", [True, False])
def test_two_models_on_the_same_axes(features, own):
    X, y = numeric_table(60, 5)
    models = {
        "linear": LinearRegression().fit(X, y),
        "boosting": HistGradientBoostingRegressor(max_iter=5).fit(X, 3 * y),
    }
    axes, displays = None, []
    if not own:
        axes = plt.subplots(1, len(features))[1]
    for name, model in models.items():
        display = ALEDisplay.from_estimator(
            model, X, features=features, line_kw={"label": name}, ax=axes, n_intervals=5
        )
        displays.append(display)
        axes = display.axes_
    first, second = displays
    colours = {one.lines_[0][0].get_color() for one in displays}
    assert len(colours) == 2
    band = "this model's curve, ± 2 std errors"
    assert legend_texts(second) == ["linear", "boosting", band, "values in the data"]
    assert second.rug_ == [None] * len(features)
    drawn = [ax for ax in first.axes_.flat if ax is not None]
    legends = [ax.get_legend() for ax in drawn] + first.figure_.legends
    assert [legend for legend in legends if legend is not None] == [second.legend_]
    first.figure_.draw_without_rendering()
    for panel, ax in enumerate(drawn):
        low, high = ax.get_ylim()
        for display in displays:
            values = display.lines_[panel][0].get_ydata()
            assert low <= values.min() <= values.max() <= high
    labelled = [bool(ax.get_ylabel()) for ax in drawn]
    expected = [True, False, True, False] if own else [True] * 4
    assert labelled == expected[: len(drawn)]


def test_two_models_side_by_side_at_levels():
    other = encoded(LinearRegression()).fit(FRAME, -FRAME_Y)
    kw = {"features": ["town"], "order": "effect"}
    first = PartialDependenceDisplay.from_estimator(OF_FRAMES, FRAME, **kw)
    second = PartialDependenceDisplay.from_estimator(
        OF_FRAMES, FRAME, ax=first.axes_, line_kw={"label": "other"}, **kw
    )
    x, other_x = (one.lines_[0][0].get_xdata() for one in (first, second))
    assert np.all(np.abs(x - other_x) > 0.1)
    assert np.all(np.abs(x - other_x) < 0.5)
    with pytest.raises(ValueError, match="in another order"):
        PartialDependenceDisplay.from_estimator(other, FRAME, ax=first.axes_, **kw)


def gap_table(n_rows=300):
    """Rows in two corners of a square, so that the others are empty."""
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, n_rows)
    X = rng.uniform(size=(n_rows, 2)) + 2 * corner[:, None]
    return X, corner


def test_cells_without_rows_are_hatched_and_not_on_the_scale():
    X, _ = gap_table()
    display = ALEDisplay.from_estimator(_Wild(), X, features=[(0, 1)], n_intervals=6)
    counts, effect = display.interval_counts[0], display.effects[0]
    assert (counts == 0).sum() > 10
    (ax,) = display.axes_.flat
    (cells,) = [c for c in ax.collections if c.get_hatch()]
    corners = {tuple(path.vertices[0]) for path in cells.get_paths()}
    x, y = display.edges[0]
    assert corners == {(x[i], y[j]) for i, j in np.argwhere(counts == 0)}
    assert "no rows" in legend_texts(display)
    near = np.pad(counts, 1) > 0
    near = near[1:, 1:] | near[:-1, 1:] | near[1:, :-1] | near[:-1, :-1]
    _, high = display.contours_[0].get_clim()
    largest = np.abs(effect[near]).max()
    assert largest < np.abs(effect).max()
    assert largest <= high < 2 * largest


@pytest.mark.parametrize("kind", [ALEDisplay, ConditionalDependenceDisplay])
def test_levels_without_rows_are_hatched(kind):
    X, corner = gap_table(100)
    X = pd.DataFrame({"x": X[:, 0], "kind": np.array(["a", "b"])[corner]})
    display = kind.from_estimator(_Levels(), X, features=[("x", "kind")], n_intervals=4)
    (ax,) = display.axes_.flat
    hatched = [c for c in ax.collections if c.get_hatch()]
    assert len(hatched) == 1
    assert "no rows" in legend_texts(display)
    full = kind.from_estimator(
        _Levels(),
        X.assign(kind=np.resize(["a", "b"], len(X))),
        features=[("x", "kind")],
        n_intervals=4,
    )
    assert legend_texts(full) == ["rows (jittered at levels)"]


def test_long_names_keep_what_tells_them_apart():
    names = [f"a_rather_long_prefix_of_a_name_{i}_and_what_follows_it" for i in (1, 2)]
    X, y = numeric_table(40, 3)
    X = pd.DataFrame(X[:, :2], columns=names)
    display = PartialDependenceDisplay.from_estimator(LinearRegression().fit(X, y), X)
    shown = [ax.get_xlabel().replace("\n", "") for ax in display.axes_.flat]
    assert shown == names


def test_grouped_features():
    display = PartialDependenceDisplay.from_estimator(
        OF_FRAMES, FRAME, features=["both"], feature_groups={"both": ["town", "new"]}
    )
    (ax,) = display.axes_.flat
    assert ax.get_xlabel() == "both"
    assert ax.get_xticklabels()[0].get_text() == "Aalen, False"
    assert display.to_frame()["x"].iloc[0] == ("Aalen", False)


def test_foreign_predictor():
    """A predictor of no scikit-learn class is taken as fitted."""
    display = PartialDependenceDisplay.from_estimator(_Foreign(), X, features=[0])
    assert_allclose(
        display.lines_[0][0].get_ydata(), 2 * display.lines_[0][0].get_xdata()
    )


class _Foreign:
    def fit(self, X, y):
        raise AssertionError("fitted already")

    def predict(self, X):
        return 2 * X[:, 0]


class _Length(_Foreign):
    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return X["city"].str.len().to_numpy(dtype=float)


class _Wild(_Foreign):
    def predict(self, X):
        """Calm where rows are, and steep elsewhere."""
        apart = np.abs(X[:, 0] - X[:, 1]) > 1
        return X[:, 0] * X[:, 1] + 1e4 * apart * X[:, 0] * X[:, 1] ** 2


class _Levels(_Foreign):
    def predict(self, X):
        return X["x"].to_numpy() * (X["kind"] == "a").to_numpy()


def test_inspector_with_other_rows_is_refused():
    ale = ALE(LinearRegression()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features"):
        ALEDisplay.from_estimator(ale, X[:, :2])


@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot"])
def test_bands_and_the_line_at_zero_are_seen(style):
    grid = np.arange(3.0)
    with plt.style.context(style):
        display = ALEDisplay(
            [grid],
            [grid - 1],
            feature_names=["age"],
            intervals_low=[grid - 2],
            intervals_high=[grid],
        ).plot()
    (ax,) = display.axes_.flat
    *colour, alpha = display.bands_[0][0].get_facecolor()[0]
    assert contrast(mix(paper(ax), colour, alpha), paper(ax)) > 1.2
    zero = ax.lines[0]
    assert zero.get_ydata() == [0, 0]
    gridded = any(line.get_visible() for line in ax.get_ygridlines())
    assert not gridded or zero.get_zorder() > ax.yaxis.get_zorder()
