"""Effects at each time as heat maps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence
from sklearn_interpret.survival import EffectOverTimeDisplay, SurvivalModel
from tests.survival.data import LogisticEnds

TIMES = np.array([50.0, 100.0, 150.0, 200.0])


@pytest.fixture(scope="module")
def table():
    X, _ = load_diabetes(return_X_y=True, as_frame=True)
    X = X[["bmi", "bp"]].assign(kind=np.where(X.s5 > 0, "high", "low"))
    return X, 100 + 2e3 * X.bmi + 20 * (X.kind == "high")


@pytest.fixture(scope="module")
def model(table):
    encoded = make_column_transformer(
        (OneHotEncoder(), ["kind"]), remainder="passthrough"
    )
    steps = make_pipeline(encoded, LogisticEnds())
    return SurvivalModel(steps, times=TIMES).fit(*table)


def test_colours_are_the_partial_dependence(table, model):
    X, _ = table
    inspector = PartialDependence(FrozenEstimator(model)).fit(X)
    for source in (model, inspector):
        display = EffectOverTimeDisplay.from_estimator(
            source, X, features=["bmi", "kind"]
        )
        assert display.feature_names == ["bmi", "kind"]
        for mesh, entry in zip(display.heatmaps_, (0, 2), strict=True):
            drawn = mesh.get_array().reshape(len(TIMES), -1)
            assert_allclose(drawn, inspector.average_[entry], rtol=1e-12)
        # One scale for both.
        assert len({mesh.get_clim() for mesh in display.heatmaps_}) == 1
    frame = display.to_frame()
    assert frame.columns.tolist() == ["feature", "output", "x", "value"]
    of_kind = frame[frame.feature == "kind"].pivot(
        index="output", columns="x", values="value"
    )
    times = [f"t = {time:g}" for time in TIMES]
    assert_allclose(of_kind.loc[times], inspector.average_[2], rtol=1e-12)


def test_axes_and_marks(table, model):
    X, _ = table
    display = EffectOverTimeDisplay.from_estimator(model, X, features=["bmi", "kind"])
    ax = display.axes_[0, 0]
    assert ax.get_xlabel() == "bmi"
    assert ax.get_ylabel() == "time"
    label = display.colorbars_[0].ax.get_ylabel()
    assert label.replace("\n", " ") == "Survival probability (partial dependence)"
    # Below the cells, one for each time.
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        f"{time:g}" for time in TIMES
    ]
    assert ax.get_ylim()[0] < -0.5
    assert display.heatmaps_[0].get_coordinates()[0, 0, 1] == -0.5
    assert len(display.rug_[1].get_segments()) == 2
    plain = EffectOverTimeDisplay.from_estimator(model, X, features="bmi", rug=False)
    assert plain.rug_ == [None]
    assert plain.axes_[0, 0].get_ylim() == (-0.5, len(TIMES) - 0.5)


def test_centred_curves_have_a_scale_around_zero(table, model):
    display = EffectOverTimeDisplay.from_estimator(model, table[0], centered=True)
    low, high = display.heatmaps_[0].get_clim()
    assert low == -high
    label = display.colorbars_[0].ax.get_ylabel()
    assert "centred partial dependence" in label.replace("\n", " ")


def test_the_most_important_features(table, model):
    display = EffectOverTimeDisplay.from_estimator(model, table[0], max_entries=1)
    assert [ax.get_xlabel() for ax in display.axes_.ravel() if ax] == ["bmi"]


def test_a_single_time(table):
    X, y = table
    model = SurvivalModel(LogisticEnds(), times=150).fit(X[["bmi", "bp"]], y)
    display = EffectOverTimeDisplay.from_estimator(model, X[["bmi", "bp"]])
    assert len(display.heatmaps_) == 2
    assert [text.get_text() for text in display.axes_[0, 0].get_yticklabels()] == [
        "150"
    ]


@pytest.mark.parametrize(
    ("times", "shape", "message"),
    [
        ([3, 2, 1], (3, 4), r"times=\[3, 2, 1\] must be increasing numbers"),
        ([1, 2, 2], (3, 4), "must be increasing"),
        ([[1, 2, 3]], (3, 4), "must be increasing"),
        ([1, 2, 3], (4, 3), r"of 'a' has the shape \(4, 3\); .* need \(3, 4\)"),
        ([1, 2, 3], (4,), r"has the shape \(1, 4\)"),
    ],
)
def test_arrays_that_do_not_fit(times, shape, message):
    with pytest.raises(ValueError, match=message):
        EffectOverTimeDisplay(
            [np.arange(4)], [np.ones(shape)], times, feature_names=["a"]
        )


def test_what_is_refused(table, model):
    X, y = table
    shown = EffectOverTimeDisplay.from_estimator
    with pytest.raises(ValueError, match="shows a SurvivalModel at all of its times"):
        shown(LinearRegression().fit(X[["bmi"]], y), X[["bmi"]])
    with pytest.raises(ValueError, match="inspector of one without target"):
        shown(model, X, target=0)
    with pytest.raises(ValueError, match="shows single features, no pairs"):
        shown(model, X[:20], features=[("bmi", "bp")])
    inspector = AccumulatedLocalEffects(FrozenEstimator(model)).fit(X)
    with pytest.raises(TypeError, match="shows PartialDependence"):
        shown(inspector, X)


def test_folds_are_averaged(table, model):
    X, y = table
    results = cross_validate(model, X, y, cv=3, return_estimator=True)
    display = EffectOverTimeDisplay.from_cv_results(results, X, features=["bmi"])
    frozen = map(FrozenEstimator, results["estimator"])
    averages = [
        PartialDependence(fold, features=["bmi"]).fit(X).average_[0] for fold in frozen
    ]
    assert_allclose(display.average[0], np.mean(averages, axis=0), rtol=1e-12)
    assert_allclose(display.fold_averages[0], averages, rtol=1e-12)
