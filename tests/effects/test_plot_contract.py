"""The contract of all displays of effects, over the table of displays."""

import inspect
import warnings
from dataclasses import dataclass
from functools import cached_property

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate

from sklearn_interpret import effects
from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    CeterisParibusDisplay,
    ConditionalDependence,
    EffectComparisonDisplay,
    IndividualConditionalExpectation,
    PartialDependence,
    PartialDependenceDisplay,
)
from tests.effects.data import classes, encoded, mixed_frame, numeric_table
from tests.figures import all_texts, draw
from tests.instances import takes
from tests.plotting.drawings import classes_of


@dataclass
class Case:
    """A display, and how it is asked for some features."""

    display: type

    @cached_property
    def _parameters(self):
        return inspect.signature(self.display.from_estimator).parameters

    @property
    def kinds(self):
        """Classes of the inspectors that it shows."""
        compared = (PartialDependence, ConditionalDependence, AccumulatedLocalEffects)
        return getattr(self.display, "_kinds", compared)

    @property
    def several(self):
        """Whether it shows several features."""
        return "features" in self._parameters

    @property
    def settings(self):
        """Few points along the features."""
        few = ("grid_resolution", "n_intervals")
        return {name: 6 for name in few if name in self._parameters}

    def asking(self, *features):
        """Keyword arguments that name the features."""
        if self.several:
            return {"features": list(features), **self.settings}
        return {"feature": features[0], **self.settings}

    def fitted(self, estimator, X, *features):
        """What to pass instead of the predictor: fitted inspectors."""
        made = [
            kind(
                FrozenEstimator(estimator),
                features=list(features),
                **{n: v for n, v in self.settings.items() if takes(kind, n)},
            ).fit(X)
            for kind in self.kinds
        ]
        return made[0] if self.several else made


CASES = [Case(display) for display in classes_of(effects)]
# Profiles of a row, and effects of one feature by several methods, are of no pairs.
WITHOUT_PAIRS = {CeterisParibusDisplay, EffectComparisonDisplay}


def each(cases):
    """Parametrize by cases."""
    return pytest.mark.parametrize("case", cases, ids=lambda c: c.display.__name__)


of_several = each([case for case in CASES if case.several])
of_pairs = each([case for case in CASES if case.display not in WITHOUT_PAIRS])


@pytest.fixture(params=CASES, ids=lambda case: case.display.__name__)
def case(request):
    return request.param


@pytest.fixture(scope="module")
def regression():
    X, y = numeric_table(60)
    X = pd.DataFrame(X, columns=["first", "second", "third"])
    return LinearRegression().fit(X, y), X


@pytest.fixture(scope="module")
def mixed():
    X, y = mixed_frame()
    return encoded(LinearRegression()).fit(X, y), X


def line_arrays(display):
    """Points of all lines drawn, panel by panel."""
    return [
        np.column_stack([line.get_xdata(), line.get_ydata()])
        for lines in display.lines_
        for line in lines
    ]


def mean_rows(frame):
    """Rows of the table that belong to the thick lines."""
    for name in ("fold", "row"):
        if name in frame:
            frame = frame[frame[name].isna()]
    return frame


def test_given_array_of_axes(case, regression):
    model, X = regression
    _, axes = plt.subplots(1, 3)
    numbers = plt.get_fignums()
    if case.several:
        asked, given = case.asking("first", "second"), axes[:2]
    else:
        asked, given = case.asking("first"), axes[:1]
    display = case.display.from_estimator(model, X, **asked, ax=given)
    assert list(display.axes_.flat) == list(given)
    assert display.axes_.ndim == 2
    assert not axes[2].lines
    assert plt.get_fignums() == numbers
    with pytest.raises(ValueError, match="ax has 3 axes, but there"):
        display.plot(ax=axes)
    with pytest.raises(TypeError, match="array of those; got str"):
        display.plot(ax=["left"])


def test_one_axes_is_divided_once(regression):
    model, X = regression
    figure, (top, bottom) = plt.subplots(2, 1)
    place = top.get_position().bounds
    display = PartialDependenceDisplay.from_estimator(model, X, ax=top)
    assert display.axes_.shape == (1, 3)
    assert display.figure_ is figure
    assert not top.axison
    for ax in display.axes_.flat:
        left, low, width, height = ax.get_position().bounds
        assert left >= place[0] - 1e-9
        assert low >= place[1] - 1e-9
        assert left + width <= place[0] + place[2] + 1e-9
        assert low + height <= place[1] + place[3] + 1e-9
    assert bottom.axison
    with pytest.raises(ValueError, match="divided by another plot already"):
        display.plot(ax=top)
    display.plot(ax=display.axes_)
    loose = figure.add_axes([0.1, 0.1, 0.2, 0.2])
    with pytest.raises(ValueError, match="not one of a grid of subplots"):
        display.plot(ax=loose)


def test_table_has_the_numbers_drawn(case, mixed):
    model, X = mixed
    for feature in ("size", "colour", "new", "rooms"):
        display = case.display.from_estimator(model, X, **case.asking(feature))
        frame = mean_rows(display.to_frame())
        assert frame.columns[: frame.columns.get_loc("x")].tolist()[-2:] == [
            "feature",
            "output",
        ]
        assert set(frame["feature"]) == {feature}
        drawn = np.concatenate(line_arrays(display))
        assert_allclose(frame["value"], drawn[:, 1], rtol=0, atol=1e-12)
        if feature in ("size", "rooms"):
            assert_allclose(frame["x"].astype(float), drawn[:, 0])
            continue
        levels = [
            [text.get_text() for text in ax.get_xticklabels()]
            for ax in display.axes_.flat
        ]
        places = [levels[0][int(x)] for x in drawn[:, 0].round()]
        assert frame["x"].astype(str).tolist() == places


def test_bands_lie_where_the_table_says(case, regression):
    model, X = regression
    asked = case.asking("first")
    if case.display is AccumulatedLocalEffectsDisplay:
        asked = {"features": ["first"], "confidence_level": 0.9}
    display = case.display.from_estimator(model, X, **asked)
    frame = display.to_frame()
    bands = [band for panel in display.bands_ for band in panel]
    assert bool(bands) == ("low" in frame)
    for band in bands:
        (path,) = band.get_paths()
        ends = np.concatenate([frame["low"], frame["high"]])
        assert path.vertices[:, 1].min() == pytest.approx(ends.min())
        assert path.vertices[:, 1].max() == pytest.approx(ends.max())
    assert not any(display.plot(band=False).bands_)


@each([case for case in CASES if case.display is not CeterisParibusDisplay])
def test_fitted_inspectors_are_not_fitted_again(case, regression, monkeypatch):
    model, X = regression
    fitted = case.fitted(model, X, "first")
    calls = []
    for kind in case.kinds:
        monkeypatch.setattr(kind, "fit", lambda *args, **kw: calls.append("fit"))
    monkeypatch.setattr(model, "predict", lambda X: calls.append("predict"))
    asked = {} if case.several else {"feature": "first"}
    display = case.display.from_estimator(fitted, X, **asked)
    assert calls == []
    assert line_arrays(display)


def test_predictor_is_not_fitted_and_input_is_left_alone(case, regression, monkeypatch):
    model, X = regression
    before, coefficients = X.copy(), model.coef_.copy()
    monkeypatch.setattr(type(model), "fit", None)
    case.display.from_estimator(model, X, **case.asking("first"))
    pd.testing.assert_frame_equal(X, before)
    assert_array_equal(model.coef_, coefficients)


def test_predictor_and_its_inspector_draw_the_same(case, regression):
    model, X = regression
    one = case.display.from_estimator(model, X, **case.asking("first"))
    fitted = case.fitted(model, X, "first")
    asked = {} if case.several else {"feature": "first"}
    other = case.display.from_estimator(fitted, X, **asked)
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_names_are_drawn_literally(case):
    names = [r"$\frac{broken$ <b> & ^x", "_under_", "plain"]
    X, y = numeric_table(40)
    X = pd.DataFrame(X, columns=names)
    labels = np.array(["_none", "$few$", r"\$many"])[
        np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y)
    ]
    model = LogisticRegression().fit(X, labels)
    for name in names[:2]:
        display = case.display.from_estimator(model, X, **case.asking(name))
        texts = all_texts(display.figure_)
        for wanted in (name, "$few$", r"\$many", "_none"):
            assert any(wanted in text for text in texts), wanted


def test_constant_column(case):
    X, y = numeric_table(40)
    X[:, 1] = 3.0
    model = LinearRegression().fit(X, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Leave 'x1' out of features")
        display = case.display.from_estimator(model, X, **case.asking(1))
    for line in display.lines_[0]:
        assert len(line.get_xdata()) == 1
        assert line.get_marker() == "o"
    draw(display.figure_)


def test_outputs_have_names_and_colours(case):
    X, y = numeric_table(60)
    model = LogisticRegression().fit(X, classes(y, 3))
    display = case.display.from_estimator(model, X, **case.asking(0))
    texts = all_texts(display.figure_)
    assert {"low", "mid", "top"} <= set(texts)
    frame = mean_rows(display.to_frame())
    assert list(dict.fromkeys(frame["output"])) == ["low", "mid", "top"]
    one = case.display.from_estimator(model, X, **case.asking(0), target="mid")
    assert any("Probability of mid" in text for text in all_texts(one.figure_))
    assert set(one.to_frame()["output"]) == {"mid"}


def test_no_data_is_marked_when_not_wanted(case, mixed):
    model, X = mixed
    for feature in ("size", "colour"):
        asked = case.asking(feature)
        display = case.display.from_estimator(model, X, **asked)
        assert all(rug is not None for rug in display.rug_)
        assert all(r is None for r in display.plot(rug=False).rug_)


def test_rug_lies_at_the_data(case, regression):
    model, X = regression
    display = case.display.from_estimator(model, X, **case.asking("first"))
    (segments,) = (rug.get_segments() for rug in display.rug_)
    places = np.array([segment[0, 0] for segment in segments])
    ends = np.concatenate([line[:, 0] for line in line_arrays(display)])
    inside = np.sort(X["first"][X["first"].between(ends.min(), ends.max())])
    assert_allclose(places, inside)


def test_line_style(case, regression):
    model, X = regression
    display = case.display.from_estimator(
        model, X, **case.asking("first"), line_kw={"lw": 7, "c": "red"}
    )
    for line in display.lines_[0]:
        assert line.get_linewidth() == 7
        assert line.get_color() == "red"


@pytest.fixture(scope="module")
def folds():
    X, y = numeric_table(60)
    X = pd.DataFrame(X, columns=["first", "second", "third"])
    results = cross_validate(LinearRegression(), X, y, cv=4, return_estimator=True)
    return results, X


def rows_errors(case, folds):
    """Standard errors that are due to the rows: those of curves' mean, or a fold's."""
    (results, X), kind = folds, case.kinds[0]
    settings = {**case.settings, "features": ["second"]}
    if len(case.kinds) > 1 or case.display is CeterisParibusDisplay:
        return 0.0
    parts = [
        kind(FrozenEstimator(one), **settings).fit(X) for one in results["estimator"]
    ]
    if kind is IndividualConditionalExpectation:
        curves = np.mean([part.curves_[0] for part in parts], axis=0)
        return curves.std(axis=0, ddof=1) / np.sqrt(len(X))
    return parts[0].standard_errors_[0]


def test_one_fold_has_no_band(case, folds):
    results, X = folds
    results = {"estimator": results["estimator"][:1]}
    display = case.display.from_cv_results(results, X, **case.asking("second"))
    assert not any(display.bands_)
    assert "low" not in display.to_frame()


def test_folds_share_a_grid_and_are_averaged(case, folds):
    results, X = folds
    display = case.display.from_cv_results(results, X, **case.asking("second"))
    alone = [
        mean_rows(
            case.display.from_estimator(model, X, **case.asking("second")).to_frame()
        )
        for model in results["estimator"]
    ]
    frame = display.to_frame()
    values = np.stack([one["value"] for one in alone])
    for fold, one in enumerate(values):
        assert_allclose(frame.loc[frame["fold"] == fold, "value"], one)
    mean = mean_rows(frame)
    assert_allclose(mean["x"], alone[0]["x"])
    assert_allclose(mean["value"], values.mean(axis=0))
    reach = learner_half_width(
        values, Splits(1 / 3), standard_errors=rows_errors(case, folds)
    )
    assert_allclose(mean["low"], values.mean(axis=0) - reach)
    assert_allclose(mean["high"], values.mean(axis=0) + reach)
    drawn = [line.get_ydata() for lines in display.fold_lines_[0] for line in lines]
    expected = [
        one[alone[0].get("method", mean["feature"]).to_numpy() == method]
        for method in dict.fromkeys(alone[0].get("method", mean["feature"]))
        for one in values
    ]
    for line, one in zip(drawn, expected, strict=True):
        assert_allclose(line, one)
    assert len(display.bands_[0]) == len(display.lines_[0])


def test_folds_need_their_estimators(case, folds):
    results, X = folds
    scores = {name: part for name, part in results.items() if name != "estimator"}
    with pytest.raises(ValueError, match="return_estimator=True"):
        case.display.from_cv_results(scores, X, **case.asking("first"))


def test_folds_with_other_outputs_are_refused(case):
    X, y = numeric_table(60)
    labels = classes(y, 3)
    full = LogisticRegression().fit(X, labels)
    fewer = LogisticRegression().fit(X[labels != "mid"], labels[labels != "mid"])
    with pytest.raises(ValueError, match="different outputs"):
        case.display.from_cv_results({"estimator": [full, fewer]}, X, **case.asking(0))
    with pytest.raises(ValueError, match="different outputs"):
        case.display.from_cv_results({"estimator": [fewer, full]}, X, **case.asking(0))


@of_several
def test_folds_of_inspectors(case, folds):
    _, X = folds
    (kind,) = case.kinds
    y = X["first"] + X["second"] ** 2
    inspector = kind(LinearRegression(), features=["third"], **case.settings)
    results = cross_validate(inspector, X, y, cv=3, return_estimator=True)
    display = case.display.from_cv_results(results, X)
    assert display.feature_names == ["third"]
    models = [inspector.estimator_ for inspector in results["estimator"]]
    other = case.display.from_cv_results(
        {"estimator": models}, X, features=["third"], **case.settings
    )
    pd.testing.assert_frame_equal(display.to_frame(), other.to_frame())


@pytest.mark.thorough(after=1)
@of_several
def test_many_features(case):
    n_features = 7
    X, _ = numeric_table(30, n_features)
    model = LinearRegression().fit(X, X @ np.arange(n_features))
    display = case.display.from_estimator(model, X, max_entries=None, **case.settings)
    shown = [ax for ax in display.axes_.flat if ax is not None]
    assert len(shown) == n_features
    assert display.axes_.shape == (n_features // 3 + 1, 3)
    boxes = [ax.get_position() for ax in shown]
    for place, box in enumerate(boxes):
        assert box.width > 0.15
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])
    assert [ax.get_xlabel() for ax in shown] == [f"x{i}" for i in range(n_features)]
    draw(display.figure_)
    few = case.display.from_estimator(model, X, max_entries=5, **case.settings)
    names = [ax.get_xlabel() for ax in few.axes_.flat if ax is not None]
    assert len(names) == 5
    assert any(
        f"5 most important of {n_features}" in text for text in all_texts(few.figure_)
    )
    ranks = np.argsort(display.importances)[::-1]
    assert names == [f"x{rank}" for rank in ranks[:5]]


@of_several
def test_common_range(case, regression):
    model, X = regression
    display = case.display.from_estimator(model, X, **case.settings)
    assert len({ax.get_ylim() for ax in display.axes_.flat}) == 1
    display.plot(share_y=False)
    assert len({ax.get_ylim() for ax in display.axes_.flat}) == 3


@of_pairs
def test_pairs(case, mixed):
    model, X = mixed
    pairs = [("size", "rooms"), ("colour", "size"), ("size", "town"), ("new", "town")]
    display = case.display.from_estimator(model, X, **case.asking("size", *pairs))
    draw(display.figure_)
    axes = [ax for ax in display.axes_.flat if ax is not None]
    labels = [(ax.get_xlabel(), ax.get_ylabel()) for ax in axes[1:]]
    assert [tuple(name.split("\n")[0] for name in pair) for pair in labels] == pairs
    assert display.contours_[0] is display.heatmaps_[0] is None
    frame = mean_rows(display.to_frame())
    for place, pair in enumerate(pairs, start=1):
        drawn = (display.contours_[place], display.heatmaps_[place])
        assert sum(part is not None for part in drawn) == 1
        rows = frame[(frame["feature"] == pair[0]) & (frame["feature2"] == pair[1])]
        if drawn[1] is not None:
            shown = np.ma.filled(drawn[1].get_array(), np.nan)
            table = rows["value"].to_numpy().reshape(shown.T.shape)
            assert_allclose(shown.T, table)
        else:
            low, high = drawn[0].get_clim()
            assert low <= np.nanmin(rows["value"]) <= np.nanmax(rows["value"]) <= high
        assert 0 < len(display.points_[place].get_offsets()) <= 500
        assert display.colorbars_[place] is not None


@of_pairs
def test_entries_of_a_fitted_inspector_can_be_chosen(case, mixed):
    model, X = mixed
    fitted = case.fitted(model, X, "rooms", "size", ("size", "new"))
    display = case.display.from_estimator(fitted, X, features=[("size", "new"), "size"])
    assert display.feature_names == [("size", "new"), "size"]
    assert case.display.from_estimator(fitted, X, features=1).feature_names == ["rooms"]
    mask = X.columns.isin(["size", "rooms"])
    by_mask = case.display.from_estimator(fitted, X, features=mask)
    assert by_mask.feature_names == ["size", "rooms"]
    with pytest.raises(ValueError, match="no entry 'town'"):
        case.display.from_estimator(fitted, X, features=["town"])


def test_rows_without_weight_are_not_marked(case, regression):
    model, X = regression
    weights = np.r_[np.ones(20), np.zeros(len(X) - 20)]
    display = case.display.from_estimator(
        model, X, **case.asking("first"), sample_weight=weights
    )
    other = case.display.from_estimator(model, X[:20], **case.asking("first"))
    assert_allclose(
        np.concatenate(line_arrays(display)), np.concatenate(line_arrays(other))
    )
    assert len(display.rug_[0].get_segments()) == len(other.rug_[0].get_segments())
