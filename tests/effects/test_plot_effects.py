"""What is special about the displays of averages, and of arrays given by hand."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    ConditionalDependenceDisplay,
    PartialDependenceDisplay,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table


def test_arrays_by_hand():
    display = PartialDependenceDisplay(
        [np.array([0.0, 1.0, 2.0]), np.array(["a", "b"])],
        [np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), np.array([[0.0, 1.0]] * 2)],
        feature_names=["height", "kind"],
        output_names=["yes", "no"],
        response_name="odds",
    ).plot()
    assert [len(lines) for lines in display.lines_] == [2, 2]
    np.testing.assert_array_equal(display.lines_[0][1].get_ydata(), [3.0, 2.0, 1.0])
    assert display.axes_[0, 0].get_ylabel() == "odds\n(partial dependence)"
    assert display.bands_ == [[], []]
    assert display.rug_ == [None, None]
    first = display.to_frame().iloc[0].tolist()
    assert first == ["height", "yes", 0.0, 1.0]


def test_labels():
    X, y = numeric_table(40)
    model = LogisticRegression().fit(X, classes(y, 2))
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
    X, y = numeric_table(60)
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
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
        display = AccumulatedLocalEffectsDisplay.from_estimator(
            model, X, features=[1, (0, 1)]
        )
    for ax in display.axes_.flat:
        assert [text.get_text() for text in ax.texts] == ["no observed value"]
    display.figure_.canvas.draw()


def test_bands_are_confidence_bands_when_asked():
    X, y = numeric_table(60)
    model = LinearRegression().fit(X, y)
    bare = AccumulatedLocalEffectsDisplay.from_estimator(model, X, features=[0])
    assert bare.bands_ == [[]]
    assert bare.legend_ is None
    display = AccumulatedLocalEffectsDisplay.from_estimator(
        model, X, features=[0, (0, 1)], confidence_level=0.95
    )
    assert display.legend_.get_texts()[0].get_text() == "95 % confidence band"
    assert display.intervals_low[1] is None
    frame = display.to_frame()
    assert frame.loc[frame["feature2"].isna(), "low"].notna().all()
    assert frame.loc[frame["feature2"].notna(), "low"].isna().all()


def test_bands_of_partial_dependence_are_those_of_its_shape():
    """An effect without interactions is exact, however uncertain its level."""
    X, y = numeric_table(60)
    model = LinearRegression().fit(X, 100 * y)
    display = PartialDependenceDisplay.from_estimator(model, X, features=[0, (0, 1)])
    assert display.legend_.get_texts()[0].get_text() == (
        "± 2 standard errors of the shape"
    )
    frame = display.to_frame()
    alone = frame["feature2"].isna()
    np.testing.assert_allclose(frame["low"][alone], frame["high"][alone], atol=1e-9)
    reach = (frame["high"] - frame["low"])[~alone] / 4
    np.testing.assert_allclose(reach, display.standard_errors[1].ravel())
    display.shape_standard_errors = None
    text = display.plot().legend_.get_texts()[0].get_text()
    assert text == "± 2 standard errors of the level"
    frame = display.to_frame()
    assert (frame["high"] - frame["low"])[alone].min() > 10


def test_error_bars_along_categories():
    X, y = mixed_frame()
    model = encoded(LinearRegression()).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(
        model, X, features=["size", "colour"]
    )
    assert isinstance(display.bands_[0][0], PolyCollection)
    bars = display.bands_[1][0]
    assert isinstance(bars, LineCollection)
    frame = display.to_frame()
    frame = frame[frame["feature"] == "colour"]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, frame[["low", "high"]])
    shares = [segment[1, 1] for segment in display.rug_[1].get_segments()]
    counts = X["colour"].value_counts()[frame["x"]].to_numpy()
    np.testing.assert_allclose(np.array(shares) / max(shares), counts / counts.max())


def test_second_order_effects_diverge_from_zero():
    X, y = numeric_table(200)
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    display = AccumulatedLocalEffectsDisplay.from_estimator(
        model, X, features=[(0, 2)], n_intervals=8
    )
    low, high = display.contours_[0].get_clim()
    assert low == pytest.approx(-high)
    levels = display.contours_[0].levels
    np.testing.assert_allclose(levels, -levels[::-1], atol=1e-12)
    assert not np.any(levels == 0)


def test_rounding_errors_have_the_colour_of_zero():
    """An additive model has no second-order effect but what rounding leaves."""
    X, y = numeric_table(200)
    model = LinearRegression().fit(X, 1000 * y)
    display = AccumulatedLocalEffectsDisplay.from_estimator(
        model, X, features=[0, (0, 2)], n_intervals=8
    )
    assert display.contours_[1].get_clim()[1] >= 1.0


def test_outputs_of_a_pair_share_their_colours():
    X, y = numeric_table(60)
    model = LogisticRegression().fit(X, classes(y, 3))
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
    np.testing.assert_allclose(corners[0, :, 0], display.edges[0][0])
    np.testing.assert_allclose(corners[:, 0, 1], display.edges[0][1])


def test_cells_of_few_values_can_be_seen():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 50), rng.normal(size=50)]).astype(float)
    model = LinearRegression().fit(X, X.sum(axis=1))
    display = ConditionalDependenceDisplay.from_estimator(
        model, X, features=[(0, 1)], n_intervals=4
    )
    corners = display.heatmaps_[0].get_coordinates()
    np.testing.assert_allclose(corners[0, :, 0], [-0.5, 0.5, 1.5])


def test_many_levels_are_thinned():
    n_rows = 400
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "city": [f"city number {i % 90}" for i in range(n_rows)],
            "x": rng.normal(size=n_rows),
        }
    )
    display = PartialDependenceDisplay.from_estimator(_Length().fit(X), X)
    ax = display.axes_[0, 0]
    labels = ax.get_xticklabels()
    assert 10 < len(labels) <= 30
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in labels]
    for left, right in pairwise(boxes):
        assert left.x1 <= right.x0 + 1
    assert len(display.lines_[0][0].get_xdata()) == 90


def test_long_names_keep_what_tells_them_apart():
    names = [f"a_rather_long_prefix_of_a_name_{i}_and_what_follows_it" for i in (1, 2)]
    X, y = numeric_table(40, 3)
    X = pd.DataFrame(X[:, :2], columns=names)
    display = PartialDependenceDisplay.from_estimator(LinearRegression().fit(X, y), X)
    shown = [ax.get_xlabel().replace("\n", "") for ax in display.axes_.flat]
    assert shown == names


def test_grouped_features():
    X, y = mixed_frame()
    model = encoded(LinearRegression()).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(
        model, X, features=["both"], feature_groups={"both": ["town", "new"]}
    )
    (ax,) = display.axes_.flat
    assert ax.get_xlabel() == "both"
    assert ax.get_xticklabels()[0].get_text() == "Aalen, False"
    assert display.to_frame()["x"].iloc[0] == ("Aalen", False)


def test_subfigure():
    import matplotlib.pyplot as plt

    X, y = numeric_table(40)
    model = LinearRegression().fit(X, y)
    figure = plt.figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    ax = left.subplots()
    display = PartialDependenceDisplay.from_estimator(model, X, ax=ax)
    assert display.figure_ is left
    assert right.axes == []
    figure.canvas.draw()


def test_foreign_predictor():
    """A predictor of no scikit-learn class is taken as fitted."""
    X, _ = numeric_table(40)
    display = PartialDependenceDisplay.from_estimator(_Foreign(), X, features=[0])
    np.testing.assert_allclose(
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


def test_inspector_with_other_rows_is_refused():
    X, y = numeric_table(40)
    ale = AccumulatedLocalEffects(LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        AccumulatedLocalEffectsDisplay.from_estimator(ale, X[:, :2])
