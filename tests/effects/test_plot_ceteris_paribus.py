"""What is special about the curves of one row."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_interpret._plotting.axes import legend_entries
from sklearn_interpret.effects import (
    CeterisParibusDisplay,
    EffectComparisonDisplay,
    IndividualConditionalExpectation,
    PartialDependence,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.plotting.drawings import DRAWINGS

X, Y = numeric_table(80)
LINEAR = LinearRegression().fit(X, Y)
FOREST = RandomForestRegressor(5, random_state=0).fit(X, Y)


def moved(X, row, feature, values):
    """Copies of one row of a frame or array with other values of a feature."""
    if isinstance(X, pd.DataFrame):
        copies = X.iloc[[row] * len(values)].reset_index(drop=True)
        column = pd.Series(values, dtype=X[feature].dtype)
        return copies.assign(**{feature: column})
    copies = np.repeat(X[[row]], len(values), axis=0)
    copies[:, feature] = values
    return copies


@pytest.mark.parametrize("model", [LINEAR, FOREST])
def test_predictions_of_the_changed_row(model):
    display = CeterisParibusDisplay.from_estimator(model, X, row=7)
    for feature, (line,) in enumerate(display.lines_):
        x, predictions = line.get_data()
        assert_allclose(model.predict(moved(X, 7, feature, x)), predictions)
        (point,) = display.marks_[feature]
        place = x == X[7, feature]
        assert place.sum() == 1
        assert point.get_xdata() == x[place]
        assert_allclose(point.get_ydata(), predictions[place])
        assert_allclose(point.get_ydata(), model.predict(X[[7]]))


def test_grids_of_all_rows():
    inspector = IndividualConditionalExpectation(FrozenEstimator(LINEAR)).fit(X)
    display = CeterisParibusDisplay.from_estimator(LINEAR, X, row=7)
    for own, grid in zip(display.grid_values, inspector.grid_values_, strict=True):
        assert np.isin(grid, own).all()
        assert len(own) - len(grid) <= 1


@pytest.mark.parametrize("feature", ["size", "rooms", "colour", "town", "new"])
def test_columns_of_a_frame(feature):
    X, y = mixed_frame()
    before = X.copy()
    model = encoded(LinearRegression()).fit(X, y)
    display = CeterisParibusDisplay.from_estimator(model, X, features=feature, row=3)
    frame = display.to_frame()
    assert_allclose(
        model.predict(moved(X, 3, feature, frame["x"].tolist())), frame["value"]
    )
    assert X[feature].iloc[3] in frame["x"].tolist()
    ((point,),) = display.marks_
    assert_allclose(point.get_ydata(), model.predict(X.iloc[[3]]))
    pd.testing.assert_frame_equal(X, before)


def test_only_one_row_is_predicted(monkeypatch):
    sent = []
    predict = LINEAR.predict
    monkeypatch.setattr(
        LINEAR, "predict", lambda X: sent.append(len(X)) or predict(X), raising=False
    )
    CeterisParibusDisplay.from_estimator(LINEAR, X, row=0, grid_resolution=6)
    assert sum(sent) <= 3 * 7 + 3


def test_a_fitted_inspector_gives_its_grids():
    inspector = IndividualConditionalExpectation(
        FrozenEstimator(FOREST), features=[0, 2], custom_values={2: [1, 0]}, center=0
    ).fit(X)
    grids = [grid.copy() for grid in inspector.grid_values_]
    curves = inspector.curves_
    display = CeterisParibusDisplay.from_estimator(inspector, X[5:7], row=-1)
    assert_array_equal(display.grid_values[1], np.sort([0, 1, X[6, 2]]))
    whole = CeterisParibusDisplay.from_estimator(
        FOREST, X, features=[0, 2], custom_values={2: [0, 1]}, row=6
    )
    for own, other in zip(display.profiles, whole.profiles, strict=True):
        assert_allclose(own, other)
    assert inspector.curves_ is curves
    for now, grid in zip(inspector.grid_values_, grids, strict=True):
        assert_array_equal(now, grid)
    one = CeterisParibusDisplay.from_estimator(inspector, X, features=2, row=6)
    assert one.feature_names == ["x2"]
    with pytest.raises(ValueError, match="shows rows: pass X"):
        CeterisParibusDisplay.from_estimator(inspector)


def test_groups_move_together():
    X, y = mixed_frame()
    model = encoded(LinearRegression()).fit(X, y)
    groups = {"place": ["town", "new"]}
    display = CeterisParibusDisplay.from_estimator(
        model, X, features=["place"], feature_groups=groups, row=3
    )
    (value,) = display.row_values
    assert value == (X["town"].iloc[3], X["new"].iloc[3])
    ((point,),) = display.marks_
    place = [tuple(level) for level in display.grid_values[0]].index(value)
    assert point.get_xdata() == place


def test_outputs_share_a_panel():
    labels = classes(Y, 3)
    model = LogisticRegression().fit(X, labels)
    display = CeterisParibusDisplay.from_estimator(model, X, features=[0], row=4)
    (lines,), (points,) = display.lines_, display.marks_
    assert len(lines) == len(points) == 3
    heights = [point.get_ydata()[0] for point in points]
    assert_allclose(heights, model.predict_proba(X[[4]])[0])
    for line, point in zip(lines, points, strict=True):
        assert line.get_color() == point.get_color()


def test_models_share_axes():
    models = {"forest": FOREST, "linear": LINEAR}
    display = CeterisParibusDisplay.from_estimators(models, X, features=[0, 1], row=9)
    assert display.axes_.shape == (1, 2)
    frame = display.to_frame()
    assert frame.columns.tolist() == ["model", "feature", "output", "x", "value"]
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["forest", "linear", "row 9", "values in the data"]
    for place, name in enumerate(models):
        alone = CeterisParibusDisplay.from_estimator(
            models[name], X, features=[0, 1], row=9
        )
        own = frame[frame["model"] == name].drop(columns="model")
        pd.testing.assert_frame_equal(own.reset_index(drop=True), alone.to_frame())
        for panel, lines in enumerate(alone.lines_):
            drawn = display.lines_[panel][place]
            assert_array_equal(drawn.get_xydata(), lines[0].get_xydata())


def test_models_of_several_outputs():
    labels = classes(Y, 3)
    models = [
        LogisticRegression().fit(X, labels),
        make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, labels),
    ]
    display = CeterisParibusDisplay.from_estimators(models, X, [0], row=4)
    assert [ax.get_title() for ax in display.axes_.flat] == ["low", "mid", "top"]
    assert display.models == ["LogisticRegression 1", "LogisticRegression 2"]
    for output, points in enumerate(display.marks_):
        heights = [point.get_ydata()[0] for point in points]
        expected = [model.predict_proba(X[[4]])[0, output] for model in models]
        assert_allclose(heights, expected)
    one = CeterisParibusDisplay.from_estimators(models, X, [0], target="mid")
    assert "Probability of mid" in one.axes_[0, 0].get_ylabel()


def test_a_missing_value_is_marked_aside():
    holes = X.copy()
    holes[::5, 1] = np.nan
    models = [HistGradientBoostingRegressor(max_iter=k).fit(holes, Y) for k in (3, 9)]
    display = CeterisParibusDisplay.from_estimator(models[0], holes, row=5)
    predictions = [model.predict(holes[[5]])[0] for model in models]
    assert display.marks_[1] == []
    (aside,) = display.missing_[1]
    assert_allclose(aside.get_ydata(), predictions[:1])
    frame = display.to_frame()
    assert_allclose(frame.loc[frame["x"].isna(), "value"], predictions[:1])
    both = CeterisParibusDisplay.from_estimators(models, holes, row=5)
    heights = [aside.get_ydata()[0] for aside in both.missing_[1]]
    assert_allclose(heights, predictions)
    frame = both.to_frame()
    assert_allclose(frame.loc[frame["x"].isna(), "value"], predictions)
    holes[:, 1] = np.nan
    with pytest.warns(UserWarning, match="no observed value"):
        empty = CeterisParibusDisplay.from_estimator(models[0], holes, row=5)
    assert len(empty.lines_[1][0].get_xdata()) == 0


def test_wrong_requests():
    draw = CeterisParibusDisplay.from_estimator
    with pytest.raises(ValueError, match=r"the pair \('x0', 'x1'\); ceteris paribus"):
        draw(LINEAR, X, features=[(0, 1)])
    with pytest.raises(ValueError, match="row=80 is not one of the 80 rows"):
        draw(LINEAR, X, row=80)
    for name in ("center", "subsample"):
        with pytest.raises(TypeError, match=f"no parameter '{name}'"):
            draw(LINEAR, X, **{name: 1})
    other = PartialDependence(FrozenEstimator(LINEAR)).fit(X)
    with pytest.raises(TypeError, match="shows IndividualConditionalExpectation; got"):
        draw(other, X)


@pytest.mark.parametrize("display", [CeterisParibusDisplay, EffectComparisonDisplay])
def test_models_and_their_names(display):
    models = [LINEAR, FOREST, Ridge().fit(X, Y), FrozenEstimator(LINEAR)]
    drawn = display.from_estimators(models, X, 0)
    assert drawn.models == [
        "LinearRegression 1",
        "RandomForestRegressor",
        "Ridge",
        "LinearRegression 4",
    ]
    colours = {line.get_color() for line in drawn.lines_[0]}
    assert len(colours) == 4
    inspector = PartialDependence(FrozenEstimator(LINEAR)).fit(X)
    for wrong in (LINEAR, [], {}, [inspector], {"linear": inspector}):
        with pytest.raises(TypeError, match="must be a dict or list of fitted pred"):
            display.from_estimators(wrong, X, 0)
    labels = LogisticRegression().fit(X, classes(Y, 3))
    with pytest.raises(ValueError, match="different outputs"):
        display.from_estimators([LINEAR, labels], X, 0)
    scores = LinearSVC().fit(X, classes(Y, 3))
    with pytest.raises(ValueError, match="different responses"):
        display.from_estimators([labels, scores], X, 0)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_a_single_profile_has_its_colour_in_the_legend(style):
    with plt.style.context(style):
        display = DRAWINGS["CeterisParibusDisplay"][0]()
    (line,), (mark,) = display.lines_[0], display.marks_[0]
    handles = legend_entries(display.legend_)[0]
    (handle,) = (each for text, each in handles.items() if text.startswith("row "))
    colours = {to_hex(artist.get_color()) for artist in (line, mark, handle)}
    assert len(colours) == 1
    # The mark names the row; the profile is the only one, and needs no name.
    assert [*handles] == ["row 0", "values in the data", "share of the rows"]


def test_a_probability_of_nearly_one_is_constant():
    # Its steps of 1e-13 would fill the panel, and look like a strong effect.
    X = pd.DataFrame({"a": [-1.0, 0.0, 1.0, 2.0], "b": [0.0, 1.0, 0.0, 1.0]})
    model = LogisticRegression().fit(X, [0, 0, 1, 1])
    model.intercept_ += 30
    display = CeterisParibusDisplay.from_estimator(model, X, features=["a"], row=0)
    low, high = np.ravel(display.axes_)[0].get_ylim()
    assert high - low == pytest.approx(0.1)
    assert low < display.lines_[0][0].get_ydata().min() < high
