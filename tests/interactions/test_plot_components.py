"""What the displays of components draw: shares, curves, surfaces and networks."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from sklearn_interpret._plotting.colours import DOWN_COLOUR, NEUTRAL_COLOUR, UP_COLOUR
from sklearn_interpret._plotting.labels import JOIN
from sklearn_interpret.explanations import InteractionExplanation
from sklearn_interpret.interactions import (
    FunctionalDecomposition,
    FunctionalDecompositionDisplay,
    HStatistic,
    InteractionNetworkDisplay,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RNG.integers(20, 40, 80).astype(float),
        "dose": RNG.normal(size=80),
        "weight": RNG.normal(size=80),
        "drug": pd.Categorical(RNG.choice(["one", "two", "three"], 80)),
    }
)
Y = X["dose"] * X["weight"] + X["age"] / 5 * (X["drug"] == "two") + 2 * X["weight"]
MODEL = HistGradientBoostingRegressor(
    min_samples_leaf=5, categorical_features="from_dtype"
).fit(X, Y)
INSPECTOR = FunctionalDecomposition(FrozenEstimator(MODEL)).fit(X)
EXPLANATION = INSPECTOR.explain(X)


def decomposed(explanation=EXPLANATION, **choices):
    return FunctionalDecompositionDisplay.from_explanation(explanation, **choices)


def network(explanation=EXPLANATION, **choices):
    return InteractionNetworkDisplay.from_explanation(explanation, **choices)


def explained(values, sets, **changes):
    parts = {"base_values": np.zeros(len(values)), "feature_names": list("abcd")}
    parts["predictions"] = np.sum(values, axis=1)
    return InteractionExplanation(values, interactions=sets, **(parts | changes))


def panel_of(display, xlabel, title=""):
    """Position of the panel with this axis and title."""
    axes = [ax for ax in display.axes_.flat if ax is not None]
    labels = [(ax.get_xlabel(), ax.get_title()) for ax in axes]
    return labels.index((xlabel, title))


def test_shares_are_those_of_the_inspector():
    table = decomposed().to_frame()
    *sets, rest = table["interaction"]
    order = [EXPLANATION.interaction_names.index(name) for name in sets]
    np.testing.assert_allclose(table["variance"][:-1], INSPECTOR.variances_[order])
    np.testing.assert_allclose(table["share"][:-1], INSPECTOR.shares_[order])
    assert (np.diff(table["share"][:-1].abs()) <= 0).all()
    assert table["share"].sum() == pytest.approx(1)
    assert rest == "remainder"
    assert table["order"].isna().tolist() == [False] * len(sets) + [True]
    assert table["share"].iloc[-1] == pytest.approx(INSPECTOR.unexplained_)


def test_bars_are_the_largest_shares_and_the_sum_of_the_others():
    display = decomposed(max_entries=3)
    shares = display.to_frame()["share"].to_numpy()
    lengths = [bar.get_width() for bar in display.bars_]
    *strongest, rest = shares
    expected = [*strongest[:2], sum(strongest[2:]), rest]
    np.testing.assert_allclose(lengths, expected)
    grey = [same_color(bar.get_facecolor(), NEUTRAL_COLOUR) for bar in display.bars_]
    assert grey == [False, False, True, True]
    names = [text.get_text() for text in display.axes_.flat[0].get_yticklabels()]
    assert names[2:] == [f"sum of {len(strongest) - 2} others", "more than 2 features"]


def opposed():
    """Two components of which the smaller works against the larger."""
    own = np.linspace(-1, 1, 9)
    return explained(np.stack([3 * own, -own], axis=1), [(0,), (1,)])


def test_a_component_against_the_others_has_a_bar_to_the_left():
    display = decomposed(opposed())
    assert [bar.get_width() for bar in display.bars_] == pytest.approx([1.5, -0.5])
    ends = [label.xy[0] for label in display.labels_]
    assert ends == pytest.approx([1.5, -0.5])
    assert [label.get_ha() for label in display.labels_] == ["left", "right"]
    assert display.axes_.flat[0].get_xlim()[0] < -0.5


def test_a_network_shows_the_signs_of_shares_by_colours():
    display = network(opposed())
    assert display.to_frame()["share"].tolist() == pytest.approx([1.5, -0.5])
    up, down = display.nodes_.get_facecolors()[:2]
    assert same_color(up, UP_COLOUR)
    assert same_color(down, DOWN_COLOUR)


def test_no_bar_for_a_remainder_of_zero():
    display = decomposed(explained([[1.0, 2.0], [0.0, 4.0]], [(0,), (1,)]))
    assert len(display.bars_) == 2


def test_curves_are_the_components_at_the_rows():
    display = decomposed(max_panels=None)
    (line,) = display.lines_[panel_of(display, "weight")]
    values = EXPLANATION.values[:, EXPLANATION.interactions.index((2,))]
    x, first = np.unique(X["weight"], return_index=True)
    np.testing.assert_array_equal(line.get_xdata(), x)
    np.testing.assert_allclose(line.get_ydata(), values[first])
    # Stairs would show jumps, which a smooth model does not have.
    assert line.get_drawstyle() == "default"
    (points,) = display.lines_[panel_of(display, "drug")]
    values = EXPLANATION.values[:, EXPLANATION.interactions.index((3,))]
    levels = X["drug"].cat.codes.to_numpy()
    expected = [values[levels == level].mean() for level in range(3)]
    np.testing.assert_allclose(points.get_ydata(), expected)


def test_a_category_of_few_levels_has_a_curve_for_each():
    display = decomposed(max_panels=None)
    lines = display.lines_[panel_of(display, "age", JOIN.join(["age", "drug"]))]
    values = EXPLANATION.values[:, EXPLANATION.interactions.index((0, 3))]
    assert len(lines) == 3
    for line, level in zip(lines, X["drug"].cat.categories, strict=True):
        own = (X["drug"] == level).to_numpy()
        x, first = np.unique(X["age"][own], return_index=True)
        np.testing.assert_array_equal(line.get_xdata(), x)
        np.testing.assert_allclose(line.get_ydata(), values[own][first])
        texts = [text.get_text() for text in display.legend_.get_texts()]
        assert f"drug: {level}" in texts


def test_surfaces_are_means_of_the_rows_in_cells():
    display = decomposed(max_panels=None)
    labels = [ax and (ax.get_xlabel(), ax.get_ylabel()) for ax in display.axes_.flat]
    mesh = display.heatmaps_[labels.index(("dose", "weight"))]
    values = EXPLANATION.values[:, EXPLANATION.interactions.index((1, 2))]
    corners = mesh.get_coordinates()
    x, y = corners[0, :, 0], corners[:, 0, 1]
    i = np.clip(np.searchsorted(x, X["dose"], side="right") - 1, 0, len(x) - 2)
    j = np.clip(np.searchsorted(y, X["weight"], side="right") - 1, 0, len(y) - 2)
    drawn = mesh.get_array()
    for row, column in zip(i, j, strict=True):
        own = (i == row) & (j == column)
        assert drawn[column, row] == pytest.approx(values[own].mean())
    cells = set(zip(j.tolist(), i.tolist(), strict=True))
    assert (~np.ma.getmaskarray(drawn)).sum() == len(cells)


def test_few_values_have_a_cell_each_and_missing_ones_none():
    data = np.array([[0.0, 1.0], [1.0, 1.0], [np.nan, 5.0], [1.0, 5.0]])
    numbers = [[1.0], [2.0], [3.0], [4.0]]
    pair = explained(numbers, [(0, 1)], data=data, feature_names=["a", "b"])
    mesh = decomposed(pair).heatmaps_[1]
    np.testing.assert_array_equal(
        np.ma.filled(mesh.get_array(), np.nan), [[1, 2], [np.nan, 4]]
    )
    one = explained(numbers, [(0,)], data=data, feature_names=["a", "b"])
    (line,) = decomposed(one).lines_[1]
    np.testing.assert_array_equal(line.get_xdata(), [0, 1])
    np.testing.assert_array_equal(line.get_ydata(), [1, 3])


def test_groups_and_large_sets_have_bars_alone():
    groups = {"both": ["dose", "weight"]}
    inspector = FunctionalDecomposition(
        FrozenEstimator(MODEL), max_order=3, feature_groups=groups
    ).fit(X)
    display = decomposed(inspector.explain(X), max_panels=None)
    axes = [ax for ax in display.axes_.flat if ax is not None]
    assert {ax.get_xlabel() for ax in axes[1:]} <= {"age", "drug"}
    assert "both" in display.to_frame()["interaction"].tolist()
    without = explained([[1.0], [2.0]], [(0,)])
    assert decomposed(without).axes_.size == 1


def test_sources_give_the_same_shares():
    expected = decomposed().to_frame()
    for source in (MODEL, INSPECTOR):
        display = FunctionalDecompositionDisplay.from_estimator(source, X)
        pd.testing.assert_frame_equal(display.to_frame(), expected)


def test_one_of_several_outputs():
    labels = np.digitize(Y, [0, 5])
    table = X.drop(columns="drug")
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(table, labels)
    inspector = FunctionalDecomposition(FrozenEstimator(forest)).fit(table)
    with pytest.raises(ValueError, match="3 outputs: choose one by target="):
        FunctionalDecompositionDisplay.from_estimator(inspector, table)
    display = FunctionalDecompositionDisplay.from_estimator(inspector, table, target=2)
    shares = display.to_frame().set_index("interaction")["variance"]
    expected = inspector.variances_[inspector.interactions_.index((1, 2)), 2]
    assert shares["dose x weight"] == pytest.approx(expected)
    edges = InteractionNetworkDisplay.from_estimator(inspector, table, target=2)
    assert len(edges.to_frame()) == len(inspector.interactions_)


@pytest.mark.parametrize(
    ("explanation", "message"),
    [
        (EXPLANATION[:1], "two or more are needed, got 1"),
        (EXPLANATION[:0], r"values has the shape \(0, .*: there is nothing to draw"),
        (
            EXPLANATION.order(3),
            r"the shape \(80, 0\), for 0 interactions: there is nothing to draw",
        ),
        (
            explained([[1.0, 2.0]] * 2, [(0,), (0, 1)]).to_index("SII"),
            "shows components; these values are SII",
        ),
        (explained([[np.nan], [1.0]], [(0,)]), "values is not finite"),
    ],
)
def test_what_is_refused(explanation, message):
    with pytest.raises(ValueError, match=message):
        decomposed(explanation)


def test_a_constant_response_has_no_shares():
    display = decomposed(explained([[1.0, 2.0]] * 3, [(0,), (1,)]))
    np.testing.assert_array_equal(display.to_frame()["share"], 0)


SETS = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2), (0, 1, 3)]
ROW = [3.0, -1.0, 0.0, -2.0, 0.5, 4.0, -1.5]


def test_a_network_of_one_row_shows_signs():
    display = network(explained([ROW, np.zeros(7)], SETS), row=0)
    edges = display.edges_
    assert edges.get_linewidths()[0] < edges.get_linewidths()[1]
    assert [same_color(c, UP_COLOUR) for c in edges.get_colors()] == [True, False]
    assert same_color(edges.get_colors()[1], DOWN_COLOUR)
    faces = display.nodes_.get_facecolors()
    assert same_color(faces[0], UP_COLOUR)
    assert same_color(faces[1], DOWN_COLOUR)
    sizes = display.nodes_.get_sizes()
    assert sizes[0] > sizes[1] > sizes[2] == sizes[3]
    colours = [patch.get_edgecolor() for patch in display.sets_]
    assert same_color(colours[0], UP_COLOUR)
    assert same_color(colours[1], DOWN_COLOUR)
    np.testing.assert_array_equal(
        display.to_frame()["value"], sorted(ROW, key=abs)[::-1]
    )
    texts = [text.get_text() for text in display.legend_.get_texts()]
    names = [JOIN.join(own) for own in ("abc", "abd")]
    assert texts[-2:] == [f"{names[0]}: +4", f"{names[1]}: \N{MINUS SIGN}1.5"]
    assert display.legend_.get_title().get_text().startswith("Component\n")


def test_an_index_of_one_row():
    explanation = explained([ROW], SETS).to_index("k-SII", order=2)
    title = network(explanation).legend_.get_title().get_text()
    assert title.startswith("k-SII\n")


def test_a_network_of_a_model_shows_shares():
    display = network()
    table = display.to_frame().set_index("interaction")["share"]
    expected = decomposed().to_frame().set_index("interaction")["share"]
    pd.testing.assert_series_equal(table, expected.drop("remainder"), check_like=True)
    widths, shares = (
        display.edges_.get_linewidths(),
        table[table.index.str.count(" x ") == 1],
    )
    assert len(widths) == (shares != 0).sum()
    assert not display.sets_


def test_what_a_network_leaves_out():
    whole = explained([ROW, np.zeros(7)], SETS)
    display = network(whole, row=0, max_sets=1, max_edges=1)
    assert len(display.sets_) == len(display.edges_.get_segments()) == 1
    assert display.note_.get_text() == "not shown: 1 weaker edge and 1 larger set"
    display = network(whole, row=0, max_sets=1, max_edges=1, max_entries=3)
    assert display.note_.get_text() == (
        "not shown: 1 weaker edge, 1 feature and 1 larger set"
    )


def test_one_negative_edge_has_one_entry():
    display = network(explained([[-1.0, 2.0, -0.5]], [(0,), (1,), (0, 1)]))
    texts = [text.get_text() for text in display.legend_.get_texts()]
    minus = "\N{MINUS SIGN}"
    assert texts == [f"edge {minus}0.5", "main effect +2", f"main effect {minus}1"]


def test_a_small_axes_has_no_names_of_sets():
    _, ax = plt.subplots(figsize=(4, 3))
    display = network(explained([ROW], SETS), ax=ax)
    assert len(display.sets_) == 2
    assert len(display.legend_.get_texts()) == 4


def test_a_row_is_explained_alone():
    display = InteractionNetworkDisplay.from_estimator(INSPECTOR, X, row=-1)
    assert len(display.explanation) == 1
    alone = EXPLANATION.values[-1]
    order = np.argsort(-np.abs(alone), kind="stable")
    np.testing.assert_allclose(display.to_frame()["value"], alone[order])


def test_components_and_h_statistics_find_the_same_pair():
    """H's numerator is the variance of the pair's component."""
    product = make_pipeline(PolynomialFeatures(2), LinearRegression())
    table = X[["age", "dose", "weight"]]
    product.fit(table, X["dose"] * X["weight"])
    h = HStatistic(FrozenEstimator(product)).fit(table)
    display = FunctionalDecompositionDisplay.from_estimator(product, table)
    shares = display.to_frame().set_index("interaction")["variance"]
    expected = h.pairwise_unnormalized_[1, 2] ** 2
    assert shares["dose x weight"] == pytest.approx(expected)


def test_panels_on_given_axes():
    _, axes = plt.subplots(1, 3)
    display = decomposed(max_panels=2, ax=axes)
    assert display.axes_.tolist() == [axes.tolist()]
    with pytest.raises(ValueError, match="max_panels=0 must be a positive whole"):
        decomposed(max_panels=0)
