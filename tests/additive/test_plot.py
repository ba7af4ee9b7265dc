"""What the display of an additive model's terms draws, and what it refuses."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_interpret.additive import GAMClassifier, GAMRegressor, SmoothTermDisplay
from tests.figures import all_texts

N = 150
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RNG.uniform(20, 70, N),
        "hour": RNG.integers(0, 24, N),
        "job": RNG.choice(["cook", "nurse"], N),
        "lat": RNG.random(N),
        "lon": RNG.random(N),
        "noise": RNG.normal(size=N),
    }
)
Y = pd.Series(
    np.sin(X["age"] / 8)
    + np.where(X["job"] == "cook", 1, -1) * np.cos(X["hour"] / 24 * 2 * np.pi)
    + X["lat"] * X["lon"]
    + RNG.normal(scale=0.2, size=N),
    name="pay",
)
TERMS = {"age": "spline", "hour": "cyclic", "job": "category", "noise": "spline"}
GAM = GAMRegressor(
    terms={**TERMS, ("lat", "lon"): "tensor"},
    by={"hour": "job"},
    periods={"hour": 24},
    n_splines=8,
).fit(X, Y)
BAND = t.ppf(0.975, GAM.residual_dof_)
CLASSES = np.array(["low", "middle", "high"], dtype=object)[np.digitize(Y, [-0.5, 0.5])]
GAM3 = GAMClassifier(terms=["age", "job"], n_splines=6, smoothing=1.0).fit(X, CLASSES)


def panels(display):
    return [ax for ax in display.axes_.flat if ax is not None]


def test_curves_are_partial_effects():
    display = SmoothTermDisplay.from_estimator(GAM, X)
    assert len(panels(display)) == 5
    for place, name in enumerate(["age", "hour:job", "job", "noise"]):
        values, effects, errors = GAM.partial_effect(name)
        lines = display.lines_[place]
        drawn = np.transpose([line.get_ydata() for line in lines]).ravel()
        assert_allclose(drawn, effects)
        assert len(lines) == len(display.bands_[place]) == 1 + (name == "hour:job")
        if name == "age":
            assert_allclose(lines[0].get_xdata(), values)
            edges = display.bands_[0][0].get_paths()[0].vertices[:, 1]
            assert_allclose(edges.max(), (effects + BAND * errors).max())
    assert display.contours_[4] is not None


def test_labels_have_degrees_of_freedom_and_the_scale():
    display = SmoothTermDisplay.from_estimator(GAM, X, Y)
    dofs = dict(zip(GAM.term_names_, GAM.effective_dof_, strict=True))
    labels = [ax.get_ylabel() for ax in panels(display)[:4]]
    for name, label in zip(["age", "hour:job", "job", "noise"], labels, strict=True):
        assert label.startswith(f"s({name}, {dofs[name]:.1f})")
    assert labels[0].endswith("\n(prediction of pay)")
    assert "\n" not in labels[1]
    texts = all_texts(display.figure_)
    assert f"s(lat:lon, {dofs['lat:lon']:.1f})(prediction of pay)" in texts
    assert {"job: cook", "job: nurse", "partial residuals"} <= set(texts)


def test_panels_share_a_scale():
    def limits(**looks):
        display = SmoothTermDisplay.from_estimator(GAM, X, **looks)
        return {ax.get_ylim() for ax in panels(display)[:4]}

    assert len(limits()) == 1
    assert len(limits(share_y=False)) == 4


@pytest.mark.parametrize("share_y", [True, False])
def test_surfaces_that_vanish_are_pale(share_y):
    grid = np.linspace(0, 1, 4)
    effects = [3 * grid, 1e-5 * np.outer(grid, grid)]
    names = ["age", ("lat", "lon")]
    display = SmoothTermDisplay([grid, (grid, grid)], effects, feature_names=names)
    surface = display.plot(share_y=share_y).contours_[1]
    assert (surface.norm.vmax > 3) == share_y


def test_partial_residuals_are_those_of_the_model():
    display = SmoothTermDisplay.from_estimator(GAM, X, Y, terms=["age", "hour:job"])
    residuals = GAM.partial_residuals(X, Y)
    age, hours = display.points_
    expected = np.column_stack([X["age"], residuals[:, 0]])
    assert_allclose(age[0].get_offsets(), expected)
    for points, job in zip(hours, ["cook", "nurse"], strict=True):
        rows = (X["job"] == job).to_numpy()
        expected = np.column_stack([X["hour"], residuals[:, 1]])[rows]
        assert_allclose(points.get_offsets(), expected)
    with pytest.raises(ValueError, match="pass X with y"):
        SmoothTermDisplay.from_estimator(GAM, y=Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SmoothTermDisplay.from_estimator(GAM, X, Y[:3])


def test_few_values_have_bars_and_a_thin_line():
    rng = np.random.default_rng(0)
    rows = X[["age"]].assign(flag=rng.integers(0, 2, N), score=np.resize([0, 1, 9], N))
    gam = GAMRegressor().fit(rows, Y + rows["flag"])
    display = SmoothTermDisplay.from_estimator(gam, rows)
    for place, values in ((1, [0, 1]), (2, [0, 1, 9])):
        _, effects, errors = gam.partial_effect(place)
        (line,), (bars,) = display.lines_[place], display.bands_[place]
        assert_allclose(line.get_xydata(), np.column_stack([values, effects]))
        assert (line.get_linestyle(), line.get_marker()) == ("None", "o")
        ends = np.array(bars.get_segments())
        reach = t.ppf(0.975, gam.residual_dof_) * errors
        assert_allclose(ends[:, 0, 0], values)
        assert_allclose(np.diff(ends[:, :, 1])[:, 0], 2 * reach)
        lines = panels(display)[place].lines
        (thin,) = {each for each in lines if each.get_color() == line.get_color()} - {
            line
        }
        assert_allclose(thin.get_xydata(), line.get_xydata())
        assert thin.get_linewidth() < 1
    # The shared scale is that of values where rows are.
    frame = display.to_frame()
    low, high = panels(display)[0].get_ylim()
    assert high - low < 1.3 * (frame["high"].max() - frame["low"].min())


def test_wide_gaps_have_a_thin_line_and_no_band():
    rng = np.random.default_rng(0)
    ages = np.append(rng.uniform(0, 1, N - 50), rng.uniform(8, 10, 50))
    ages[0] = 20.0
    rows = pd.DataFrame({"age": ages})
    gam = GAMRegressor().fit(rows, np.cos(ages))
    display = SmoothTermDisplay.from_estimator(gam)
    (line,), (band,) = display.lines_[0], display.bands_[0]
    at = gam.partial_effect("age")[0]
    drawn = line.get_xdata()
    assert_allclose(drawn[np.isfinite(drawn)], at)
    assert np.isnan(drawn).sum() == 2
    assert max(np.ptp(path.vertices[:, 0]) for path in band.get_paths()) < 2.1
    marked = [each for each in display.axes_[0, 0].lines if each.get_marker() == "o"]
    assert [each.get_xdata().tolist() for each in marked] == [[20.0]]


def test_huge_residuals_do_not_widen_the_axes():
    residuals = np.append(np.linspace(-1, 1, 198), [1e6, -1e6])
    display = SmoothTermDisplay(
        [np.arange(3.0)],
        [np.arange(3.0)],
        feature_names=["age"],
        data=[np.ones(200)],
        residuals=[residuals],
    ).plot()
    assert display.axes_[0, 0].get_ylim()[1] < 3


def test_residuals_of_classes_leave_the_curves_most_of_the_axes():
    gam = GAMClassifier(terms=["age"], n_splines=6).fit(X, Y > 0)
    display = SmoothTermDisplay.from_estimator(gam, X, Y > 0)
    _, effects, errors = gam.partial_effect("age")
    span = np.ptp([effects - 1.96 * errors, effects + 1.96 * errors])
    ax = display.axes_[0, 0]
    assert np.ptp(ax.get_ylim()) < 3.5 * span
    low, high = ax.get_ylim()
    heights = display.points_[0][0].get_offsets()[:, 1]
    beyond = ((heights < low) | (heights > high)).any()
    text = "residuals, some out of view"
    assert beyond
    assert text in all_texts(display.figure_)


def test_some_of_many_rows_are_marked(monkeypatch):
    monkeypatch.setattr(
        "sklearn_interpret.additive._plot._smooth_term.MAX_DATA_ROWS", 20
    )
    display = SmoothTermDisplay.from_estimator(GAM, X, Y, terms="age")
    points = display.points_[0][0].get_offsets()
    residuals = GAM.partial_residuals(X, Y)[:, 0]
    rows = [X["age"].tolist().index(x) for x, _ in points]
    assert len(set(rows)) == 20
    assert_allclose(points[:, 1], residuals[rows])


def test_terms_are_chosen():
    shown = ["job", 0, ("lat", "lon")]
    display = SmoothTermDisplay.from_estimator(GAM, terms=shown)
    assert display.feature_names == ["job", "age", ("lat", "lon")]
    assert display.rug_ == [None] * 3
    one = SmoothTermDisplay.from_estimator(GAM, terms="noise")
    assert one.feature_names == ["noise"]
    for wrong in ("town", 9, -1):
        with pytest.raises(ValueError, match="is not among the terms"):
            SmoothTermDisplay.from_estimator(GAM, terms=wrong)


def test_terms_that_vary_most_are_drawn():
    display = SmoothTermDisplay.from_estimator(GAM, X, max_entries=2)
    drawn = [ax.get_xlabel() for ax in panels(display)]
    spreads = np.std(GAM.transform(X), axis=0)
    first = GAM.term_names_[np.argsort(-spreads)[:2]]
    assert drawn == [name.split(":")[0] for name in first]
    assert "The 2 that vary most of 5 terms" in all_texts(display.figure_)
    with pytest.raises(ValueError, match="max_entries=0"):
        display.plot(max_entries=0)


def test_classes_are_lines_or_one_is_chosen():
    display = SmoothTermDisplay.from_estimator(GAM3, X, CLASSES, target_name="pay")
    assert [len(lines) for lines in display.lines_] == [3, 3]
    assert [len(points) for points in display.points_] == [3, 3]
    assert {"low", "middle", "high"} <= set(all_texts(display.figure_))
    one = SmoothTermDisplay.from_estimator(GAM3, target="low", terms="age")
    (line,) = one.lines_[0]
    expected = GAM3.partial_effect("age")[1][:, GAM3.classes_.tolist().index("low")]
    assert_allclose(line.get_ydata(), expected)
    assert one.axes_[0, 0].get_ylabel().endswith("(log-odds of low)")
    with pytest.raises(ValueError, match="target='none' is not an output"):
        SmoothTermDisplay.from_estimator(GAM3, target="none")


def test_two_classes_have_the_log_odds_of_the_second():
    gam = GAMClassifier(terms=["age"], n_splines=6).fit(X, Y > 0)
    for target in (None, True):
        display = SmoothTermDisplay.from_estimator(gam, target=target, target_name="ok")
        assert display.axes_[0, 0].get_ylabel().endswith("(log-odds of ok = True)")
    with pytest.raises(ValueError, match="target=False is not an output"):
        SmoothTermDisplay.from_estimator(gam, target=False)


def test_missing_values_stand_aside():
    rows = X[["age", "job"]].copy()
    rows.loc[::9, "age"] = np.nan
    gam = GAMRegressor(missing="level", n_splines=6).fit(rows, Y)
    display = SmoothTermDisplay.from_estimator(gam, rows, Y)
    (mark,) = display.missing_[0]
    assert_allclose(mark.get_ydata(), gam.partial_effect("age", [np.nan])[1])


def test_pipelines_and_searches_are_opened():
    halved = FunctionTransformer(lambda X: X[["age"]] / 2)
    pipeline = make_pipeline(halved, GAMRegressor(n_splines=6)).fit(X, Y)
    display = SmoothTermDisplay.from_estimator(pipeline, X, Y)
    assert_allclose(display.data[0], X["age"] / 2)
    search = GridSearchCV(GAMRegressor(n_splines=6), {"shrinkage": [True]}, cv=2)
    search.fit(X[["age"]], Y)
    assert SmoothTermDisplay.from_estimator(search).feature_names == ["age"]


def test_other_estimators_are_refused():
    with pytest.raises(TypeError, match="shows GAMRegressor or GAMClassifier"):
        SmoothTermDisplay.from_estimator(LinearRegression().fit(X[["age"]], Y))


def test_many_levels_of_the_second_feature_are_a_surface():
    rows = X.assign(town=np.resize([f"town {k}" for k in range(13)], N))
    gam = GAMRegressor(terms=[("town", "age"), ("job", "town")]).fit(rows, Y)
    display = SmoothTermDisplay.from_estimator(gam, rows)
    assert all(mesh is not None for mesh in display.heatmaps_)
    first = panels(display)[0]
    assert (first.get_xlabel(), first.get_ylabel()) == ("age", "town")
    _, effects, _ = gam.partial_effect(0)
    drawn = display.heatmaps_[0].get_array().reshape(13, 100)
    assert_allclose(drawn, effects.reshape(13, 100))


def test_numbers_are_a_table():
    frame = SmoothTermDisplay.from_estimator(GAM, X).to_frame()
    assert frame.columns.tolist() == [
        *("term", "output", "x", "x2", "value", "low", "high")
    ]
    for name in GAM.term_names_:
        part = frame[frame["term"] == name]
        _, effects, errors = GAM.partial_effect(name)
        assert_allclose(part["value"], effects)
        assert_allclose(part["high"], effects + BAND * errors)
    several = SmoothTermDisplay.from_estimator(GAM3).to_frame()
    assert several["output"].unique().tolist() == ["high", "low", "middle"]
    assert "x2" not in several


def test_given_axes_are_drawn_on():
    figure, axes = plt.subplots(1, 2)
    display = SmoothTermDisplay.from_estimator(GAM3, X, ax=axes)
    assert display.figure_ is figure
    assert panels(display) == list(axes)


def test_a_number_beside_a_flag_has_a_line_for_each_value():
    table = X.assign(flag=(X["job"] == "cook") + 0.0)
    model = GAMRegressor(terms=["lat", "flag", ("flag", "lat")], n_splines=8)
    display = SmoothTermDisplay.from_estimator(
        model.fit(table, Y), table, terms=["flag:lat"]
    )
    (lines,) = display.lines_
    assert [line.get_label() for line in lines] == ["flag: 0", "flag: 1"]
    _, effects, _ = model.partial_effect("flag:lat")
    assert_allclose(lines[1].get_ydata(), effects.reshape(2, -1)[1])
