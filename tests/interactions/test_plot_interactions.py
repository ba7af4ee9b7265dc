"""The displays of interactions: their contract, and what they draw."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret.interactions import (
    HStatistic,
    HStatisticDisplay,
    PartialDependenceInteraction,
    VariableInteractionNetwork,
    VariableInteractionNetworkDisplay,
)
from tests.effects.data import classes
from tests.figures import all_texts

NAMES = ["first", "second", "third", "fourth"]
DISPLAYS = [HStatisticDisplay, VariableInteractionNetworkDisplay]
every_display = pytest.mark.parametrize("display_class", DISPLAYS)


def strengths(n_features=4, seed=0, share=1.0):
    """Symmetric strengths of pairs, some of them zero."""
    rng = np.random.default_rng(seed)
    values = rng.random((n_features, n_features))
    values *= rng.random((n_features, n_features)) < share
    return np.triu(values, 1) + np.triu(values, 1).T


def made(display_class, n_features=4, names=None, scale=1.0, **arguments):
    """A display of arrays."""
    values = scale * strengths(n_features)
    names = [f"x{i}" for i in range(n_features)] if names is None else names
    second = "overall" if display_class is HStatisticDisplay else "main_effects"
    alone = scale * np.random.default_rng(1).random(n_features)
    arguments = {second: alone, "feature_names": names, **arguments}
    return display_class(arguments.pop("pairs", values), **arguments)


EVERY_KIND = [
    (HStatisticDisplay, {}),
    (HStatisticDisplay, {"kind": "heatmap"}),
    (VariableInteractionNetworkDisplay, {}),
]
every_kind = pytest.mark.parametrize("display_class, looks", EVERY_KIND)


def lengths(bars):
    return [patch.get_width() for patch in bars.patches]


def row_names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


@pytest.fixture(scope="module")
def regression():
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(40, 4)), columns=NAMES)
    y = X["first"] * X["second"] + X["third"] * X["first"] + X["fourth"]
    model = make_pipeline(PolynomialFeatures(2), LinearRegression())
    return model.fit(X, y), X, y


@every_kind
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_all_magnitudes(display_class, looks, scale):
    display = made(display_class, scale=scale).plot(**looks)
    display.figure_.canvas.draw()
    assert np.isfinite([*display.ax_.get_xlim(), *display.ax_.get_ylim()]).all()
    assert (display.to_frame()["strength"].dropna() >= 0).all()


@every_kind
def test_names_are_drawn_literally(display_class, looks):
    odd = [r"$\frac{broken$", "_under_", "<b>&^x$", "a_feature_that_goes_on_" * 9]
    display = made(display_class, names=odd, strength_name="$ of _score_")
    texts = all_texts(display.plot(**looks).figure_)
    for name in [odd[1], "<b>", "$ of _score_"]:
        assert any(name in text for text in texts), name
    assert all(len(text) < 80 for text in texts)


@every_kind
@pytest.mark.parametrize("count", [0, 2.5, True, "all"])
def test_numbers_of_features(display_class, looks, count):
    with pytest.raises(ValueError, match=r"max_entries=.*positive whole number"):
        made(display_class).plot(max_entries=count, **looks)


@pytest.mark.parametrize(
    "display_class, arguments, message",
    [
        (HStatisticDisplay, {"names": list("abc")}, "pairwise has the shape"),
        (HStatisticDisplay, {"overall": [1, 2]}, "overall has the shape"),
        (HStatisticDisplay, {"overall": [1, 2, np.nan, 3]}, "overall is.*position 2"),
        (HStatisticDisplay, {"pairs": -strengths()}, "pairwise is negative"),
        (HStatisticDisplay, {"pairs": np.triu(strengths())}, "not symmetric"),
        (HStatisticDisplay, {"pairwise_std": np.ones(4)}, "pairwise_std has"),
        (
            HStatisticDisplay,
            {"pairs": [[0.0]], "names": ["a"], "overall": None},
            "no pair",
        ),
        (VariableInteractionNetworkDisplay, {"names": list("ab")}, "adjacency has"),
        (VariableInteractionNetworkDisplay, {"pairs": -strengths()}, "negative"),
        (
            VariableInteractionNetworkDisplay,
            {"pairs": np.triu(strengths())},
            "not symmetric",
        ),
        (
            VariableInteractionNetworkDisplay,
            {"main_effects": [1, 2]},
            "main_effects has the shape",
        ),
        (
            VariableInteractionNetworkDisplay,
            {"main_effects": [1, 2, 3, np.nan]},
            "main_effects is negative or not finite at position 3",
        ),
    ],
)
def test_arrays_that_do_not_fit(display_class, arguments, message):
    with pytest.raises(ValueError, match=message):
        made(display_class, **arguments).plot()


def test_bars_from_the_strongest_down():
    display = made(HStatisticDisplay, names=NAMES).plot()
    overall, pairs = display.bars_
    assert lengths(overall) == sorted(display.overall, reverse=True)
    values = display.pairwise[np.triu_indices(4, 1)]
    assert lengths(pairs) == sorted(values, reverse=True)
    assert legend_texts(display) == ["with all others", "pairs"]
    strongest = NAMES[int(np.argmax(display.overall))]
    assert row_names(display)[0] == strongest
    first, second = np.unravel_index(np.argmax(display.pairwise), (4, 4))
    assert row_names(display)[4] == " \N{MULTIPLICATION SIGN} ".join(
        [NAMES[first], NAMES[second]]
    )
    frame = display.to_frame()
    assert_allclose(frame["strength"], lengths(overall) + lengths(pairs))
    assert frame["feature2"].isna().tolist() == [True] * 4 + [False] * 6
    styled = display.plot(bar_kw={"fc": "red"}).bars_[0].patches[0]
    assert to_hex(styled.get_facecolor()) == "#ff0000"


def test_many_pairs_share_the_last_line():
    display = made(HStatisticDisplay, 20).plot(max_entries=5)
    overall, pairs = display.bars_
    assert len(overall.patches) == len(pairs.patches) == 5
    assert row_names(display)[4] == "mean of 16 others"
    assert row_names(display)[9] == "mean of 186 others"
    values = np.sort(display.pairwise[np.triu_indices(20, 1)])[::-1]
    assert_allclose(lengths(pairs)[-1], values[4:].mean())
    assert len(display.to_frame()) == 20 + 190


def test_pairs_not_looked_at_have_no_bar():
    pairs = strengths()
    pairs[0, 1:] = pairs[1:, 0] = np.nan
    display = made(HStatisticDisplay, pairs=pairs, overall=None).plot()
    (bars,) = display.bars_
    assert len(bars.patches) == 3
    assert display.legend_ is None
    one = made(HStatisticDisplay, 1).plot()
    assert len(one.bars_) == 1
    with pytest.raises(ValueError, match="no pair of features"):
        one.plot(kind="heatmap")
    with pytest.raises(ValueError, match="kind='violin' must be one of bar, heatmap"):
        one.plot(kind="violin")


def test_table_has_the_strongest_features_first():
    display = made(HStatisticDisplay, 12).plot(kind="heatmap", max_entries=5)
    shown = [int(name[1:]) for name in row_names(display)]
    assert len(shown) == 5
    peaks = display.pairwise.max(axis=1)
    assert set(shown) == set(np.argsort(-peaks, kind="stable")[:5])
    expected = display.pairwise[np.ix_(shown, shown)]
    np.fill_diagonal(expected, np.nan)
    cells = np.ma.filled(display.heatmap_.get_array(), np.nan)
    assert_allclose(cells.reshape(5, 5), expected)
    assert len(display.labels_) == 20
    assert display.ax_.get_title() == "not shown: 7 weaker features"
    assert display.bars_ == []
    display.plot(kind="heatmap", max_entries=None)
    assert len(display.heatmap_.get_array().ravel()) == 144
    large = made(HStatisticDisplay, 40).plot(kind="heatmap", max_entries=None)
    assert large.labels_ == []


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    "n_features, long", [(1, False), (2, True), (12, True), (40, True), (90, False)]
)
def test_labels_of_the_network_do_not_overlap(n_features, long):
    names = [f"{'a long name of ' * long}feature {i}" for i in range(n_features)]
    display = made(VariableInteractionNetworkDisplay, n_features, names)
    figure, (_, small) = plt.subplots(1, 2, figsize=(8, 4))
    for ax in (None, small) if n_features <= 40 else (None,):
        display.plot(ax=ax, max_entries=None)
        display.figure_.canvas.draw()
        outlines = [outline(label) for label in display.labels_]
        assert not any(overlap(one, two) for one, two in combinations(outlines, 2))
        middle = display.ax_.transData.transform((0, 0))
        radius = display.ax_.transData.transform((1, 0))[0] - middle[0]
        for one in outlines:  # outside of the circle
            assert np.hypot(*(one - middle).T).min() > radius
    for one in outlines:
        assert (one > -1).all()
        assert (one < figure.bbox.size + 1).all() or display.figure_ is not figure


def outline(text):
    """Corners (4, 2) of a text, in pixels, as it is turned."""
    angle = np.radians(text.get_rotation())
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(np.degrees(angle))
    corners = np.array([[box.x0, box.y0], [box.x1, box.y0], box.max, [box.x0, box.y1]])
    if not angle:
        return corners
    right = text.get_horizontalalignment() == "right"
    anchor = np.array([box.x1 if right else box.x0, (box.y0 + box.y1) / 2])
    turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return anchor + (corners - anchor) @ np.array(turn)


def overlap(one, other):
    """Whether two rectangles have a point in common: none of their sides parts them."""
    for corners in (one, other):
        for side in (corners[1] - corners[0], corners[3] - corners[0]):
            first, second = one @ side, other @ side
            if first.max() <= second.min() or second.max() <= first.min():
                return False
    return True


def test_network_draws_the_strengths():
    values = strengths(share=0.6)
    values[3] = values[:, 3] = 0
    display = made(VariableInteractionNetworkDisplay, pairs=values).plot()
    edges = values[np.triu_indices(4, 1)]
    drawn = np.sort(edges[edges > 0])
    widths = display.edges_.get_linewidths()
    assert len(widths) == len(drawn) > 1
    assert_allclose(np.diff(widths), 5.2 * np.diff(drawn) / drawn[-1])
    assert len({to_hex(colour) for colour in display.edges_.get_colors()}) == len(drawn)
    assert (
        np.argsort(display.nodes_.get_sizes()).tolist()
        == np.argsort(display.main_effects).tolist()
    )
    greys = {to_hex(label.get_color()) for label in display.labels_[:3]}
    assert to_hex(display.labels_[3].get_color()) not in greys
    assert display.note_ is None
    assert f"edge {drawn[-1]:.3f}" in legend_texts(display)
    frame = display.to_frame()
    assert_allclose(frame["strength"].dropna(), drawn[::-1])
    assert_allclose(frame["main_effect"].dropna(), display.main_effects)
    styled = display.plot(edge_kw={"lw": 2}, node_kw={"fc": "red"})
    assert set(styled.edges_.get_linewidths()) == {2}
    assert to_hex(styled.nodes_.get_facecolor()[0]) == "#ff0000"


def test_weak_edges_and_features_are_left_out():
    display = made(VariableInteractionNetworkDisplay, 30)
    display.plot(max_entries=10, max_edges=7)
    assert len(display.labels_) == 10
    assert len(display.edges_.get_segments()) == 7
    assert display.note_.get_text() == "not shown: 428 weaker edges and 20 features"
    strongest = np.argsort(-display.adjacency.max(axis=1))[:10]
    shown = {label.get_text() for label in display.labels_}
    assert shown == {f"x{i}" for i in strongest}
    display.plot(max_edges=None)
    assert len(display.edges_.get_segments()) == 435
    assert display.note_ is None
    empty = made(VariableInteractionNetworkDisplay, pairs=np.zeros((4, 4)))
    assert len(empty.plot().edges_.get_segments()) == 0
    empty = made(
        VariableInteractionNetworkDisplay, pairs=np.zeros((4, 4)), main_effects=None
    )
    assert empty.plot().legend_ is None
    assert empty.to_frame().shape == (0, 3)


@pytest.mark.parametrize(
    "display_class, kind, settings",
    [
        (HStatisticDisplay, HStatistic, {"subsample": 20, "random_state": 0}),
        (
            VariableInteractionNetworkDisplay,
            VariableInteractionNetwork,
            {"n_repeats": 3, "random_state": 0},
        ),
    ],
)
def test_predictors_are_inspected_as_they_are(
    display_class, kind, settings, regression, monkeypatch
):
    model, X, _ = regression
    before = X.copy()
    display = display_class.from_estimator(model, X, max_entries=3, **settings)
    pd.testing.assert_frame_equal(X, before)
    inspector = kind(FrozenEstimator(model), **settings).fit(X)
    monkeypatch.setattr(kind, "fit", None)
    again = display_class.from_estimator(inspector)
    pd.testing.assert_frame_equal(display.to_frame(), again.to_frame())
    assert display.feature_names == NAMES


def test_both_scales_and_both_inspectors(regression):
    model, X, _ = regression
    fitted = HStatistic(FrozenEstimator(model), n_repeats=2, subsample=20).fit(X)
    display = HStatisticDisplay.from_estimator(fitted)
    assert_array_equal(display.pairwise, fitted.pairwise_)
    assert_array_equal(display.overall_std, fitted.overall_std_)
    assert legend_texts(display)[-1] == "± 1 std of 2 subsamples"
    assert display.ax_.get_xlabel().startswith("H² (")
    other = HStatisticDisplay.from_estimator(fitted, unnormalized=True)
    assert_array_equal(other.overall, fitted.overall_unnormalized_)
    assert other.ax_.get_xlabel().startswith("Unnormalized H (")
    assert other.spreads_ == []
    spread = PartialDependenceInteraction(FrozenEstimator(model), grid_resolution=3)
    display = HStatisticDisplay.from_estimator(spread.fit(X), kind="heatmap")
    assert_array_equal(display.pairwise, spread.pairwise_)
    assert display.overall is None


@every_display
def test_several_outputs(display_class, regression):
    _, X, y = regression
    model = LogisticRegression().fit(X, classes(y, 3))
    with pytest.raises(ValueError, match=r"3 outputs: choose one by target=.*'mid'"):
        display_class.from_estimator(model, X)
    kind = HStatistic if display_class is HStatisticDisplay else None
    kind = kind or VariableInteractionNetwork
    fitted = kind(FrozenEstimator(model), subsample=10, random_state=0).fit(X)
    with pytest.raises(ValueError, match="choose one by target="):
        display_class.from_estimator(fitted)
    with pytest.raises(ValueError, match="target='none' is not an output"):
        display_class.from_estimator(fitted, target="none")
    display = display_class.from_estimator(fitted, target="mid")
    one = display_class.from_estimator(
        model, X, target="mid", subsample=10, random_state=0
    )
    first, second = display.to_frame(), one.to_frame()
    if display_class is HStatisticDisplay:  # edges of one output may be fewer
        pd.testing.assert_frame_equal(first, second)
    else:
        assert_allclose(display.main_effects, one.main_effects)


def test_folds_are_averaged(regression):
    model, X, y = regression
    results = cross_validate(model, X, y, cv=3, return_estimator=True)
    display = HStatisticDisplay.from_cv_results(results, X[:20])
    alone = [
        HStatistic(FrozenEstimator(one)).fit(X[:20]) for one in results["estimator"]
    ]
    pairs = np.array([one.pairwise_ for one in alone])
    assert_allclose(display.pairwise, pairs.mean(axis=0))
    overall = np.array([one.overall_ for one in alone])
    frame = display.to_frame().set_index("feature")
    frame = frame[frame["feature2"].isna()].loc[list(display.feature_names)]
    assert_allclose(frame["strength"], overall.mean(axis=0))
    reach = learner_half_width(overall, Splits(1 / 2))
    assert_allclose(frame["high"], frame["strength"] + reach)
    assert_allclose(frame["low"], frame["strength"] - reach)
    assert legend_texts(display)[-1] == "95 %, assuming K folds"
    of_inspectors = {"estimator": alone}
    again = HStatisticDisplay.from_cv_results(of_inspectors)
    pd.testing.assert_frame_equal(display.to_frame(), again.to_frame())
    narrow = HStatistic(LinearRegression()).fit(X[NAMES[:2]], y)
    with pytest.raises(ValueError, match="different features, which cannot"):
        HStatisticDisplay.from_cv_results({"estimator": [alone[0], narrow]})


def test_a_network_without_edges_says_so():
    display = VariableInteractionNetworkDisplay(
        np.zeros((3, 3)), feature_names=list("abc")
    ).plot()
    assert display.note_.get_text() == "no interactions"
