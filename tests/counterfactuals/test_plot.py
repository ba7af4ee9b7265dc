"""CounterfactualDisplay and AnchorsDisplay: changes and rules over the data."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret.counterfactuals import (
    Anchors,
    AnchorsDisplay,
    AnchorsText,
    CounterfactualDisplay,
    GrowingSpheres,
)
from sklearn_interpret.explanations import Condition, RowExplanation, RuleExplanation
from tests.counterfactuals.data import Scores, logistic, mixed, polars_mixed
from tests.figures import all_texts, draw

TEXTS = ["win a free phone", "free free money", "nice song", "a song for you"]
SPAM = ["spam", "spam", "fine", "fine"]
QUICK = {
    "n_samples": 20,
    "n_counterfactuals": 2,
    "features_to_vary": ["a", "single", "job", "flag"],
    "random_state": 0,
}


@pytest.fixture(scope="module")
def explained():
    """A mixed table, and a fitted inspector that finds two rows for each."""
    X, _ = mixed()
    inspector = GrowingSpheres(FrozenEstimator(Scores().fit(X)), **QUICK)
    return X, inspector.fit(X)


@pytest.fixture(scope="module")
def ruled():
    """A mixed table, and fitted anchors of a rule that is known."""
    X = mixed()[0][["a", "job"]]
    model = logistic().fit(X, (X["a"] > 0.5) & (X["job"] == "x"))
    sizes = {"n_samples": 200, "random_state": 0}
    return X, Anchors(FrozenEstimator(model), **sizes).fit(X)


@pytest.fixture(scope="module")
def drawn(explained):
    """The display of a row of the mixed table."""
    X, inspector = explained
    return CounterfactualDisplay.from_estimator(inspector, X, row=3)


def changes(display):
    """Feature, where an arrow starts and where it ends, panel by panel."""
    found = set()
    for ax, arrows in zip(display.axes_, display.arrows_, strict=False):
        for arrow in arrows:
            (path,) = arrow.get_paths()
            x = path.vertices[:, 0]
            found.add((ax.get_xlabel(), round(x[0], 6), round(x[2], 6)))
    return found


def place(ax, value):
    """Where a value lies on an axes."""
    levels = [text.get_text() for text in ax.get_xticklabels()]
    return levels.index(str(value)) if isinstance(value, str | bool) else float(value)


def test_arrows_go_from_before_to_after(explained, drawn):
    X, inspector = explained
    display, frame = drawn, drawn.to_frame()
    alone = inspector.explain(X[3:4]).to_frame()
    pd.testing.assert_frame_equal(frame, alone)
    axes = {ax.get_xlabel(): ax for ax in display.axes_}
    expected = set()
    for _, line in frame.iterrows():
        ax = axes[line["feature"]]
        ends = (place(ax, line["before"]), place(ax, line["after"]))
        expected.add((line["feature"], *np.round(ends, 6)))
    assert changes(display) == expected
    for ax, line in zip(display.axes_, display.before_lines_, strict=True):
        (before,) = set(frame.loc[frame["feature"] == ax.get_xlabel(), "before"])
        assert set(line.get_xdata()) == {place(ax, before)}
        numbers = [text.get_text() for text in ax.get_yticklabels()]
        assert numbers == ["1", "2"]


def test_predictor_is_inspected_on_the_rows(explained, drawn):
    X, inspector = explained
    given = X.copy()
    display = CounterfactualDisplay.from_estimator(
        inspector.estimator_.estimator, X, row=3, **QUICK
    )
    pd.testing.assert_frame_equal(given, X)
    pd.testing.assert_frame_equal(display.to_frame(), drawn.to_frame())


def test_the_title_has_the_responses(explained, drawn):
    X, inspector = explained
    title = drawn.title_.get_text().split("\n")
    assert title[0].startswith("Decision function of class 1, row 3: ")
    assert f"{abs(inspector.decision_function(X[3:4])[0]):.3g} → " in title[0]
    assert title[1].startswith("distances ")
    assert " ".join(title[1:]).endswith(", norm 1, median absolute deviations")


def simple(**parts):
    """An explanation of one row, for which one of three features changes."""
    fields = {
        "rows": np.array([[30.0, 2.5, 1.0]]),
        "origin": [0],
        "valid": [True],
        "distances": [0.5],
        "status": ["found"],
        "data": np.array([[30.0, 2.0, 1.0]]),
        "feature_names": ["age", "$income_", "debt"],
    }
    return RowExplanation(**{**fields, **parts})


def test_of_several_classes_the_largest_response_is_named():
    explanation = simple(
        predictions=[[0.2, 0.7, 0.1]],
        original_predictions=[[0.5, 0.4, 0.1]],
        output_names=["low", "mid", "top"],
        response_name="probability",
        target_name="rent",
    )
    display = CounterfactualDisplay.from_explanation(explanation)
    assert display.title_.get_text() == "Prediction of rent: low → mid\ndistance 0.5"
    display = CounterfactualDisplay.from_explanation(explanation, target="mid")
    assert display.title_.get_text().startswith("Probability of mid: 0.4 → 0.7\n")
    with pytest.raises(ValueError, match="not an output"):
        CounterfactualDisplay.from_explanation(explanation, target="high")


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        ({"optimal": [True], "lower_bounds": [0.5]}, "(proved to be the nearest)"),
        ({"optimal": [False], "lower_bounds": [0.25]}, "(at least 0.25 is needed)"),
        # No more than is proved.
        ({"optimal": [False], "lower_bounds": [0.2499]}, "(at least 0.249 is needed)"),
        ({}, "distance 0.5"),
        ({"distance_name": "norm 1, $"}, r"distance 0.5, norm 1, \$"),
    ],
)
def test_the_title_has_what_is_proved(proof, words):
    display = CounterfactualDisplay.from_explanation(simple(**proof))
    assert display.title_.get_text().endswith(words)


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (2.25, 4.0, "2.00 → 2.25 to 4"),
        (2.46, 2.5, "2.00 → 2.46 to 2.5"),
        (2.25, np.inf, "2.00 → at least 2.25"),
        (-np.inf, 4, "2.00 → at most 4"),
        (-np.inf, 4.08798, "2.00 → at most 4.087"),  # no more than the box promises
        (-0.08792, np.inf, "2.00 → at least \N{MINUS SIGN}0.08792"),
        (2.46123, 2.46789, "2.00 → 2.4613 to 2.4678"),
        (-np.inf, np.inf, "2.00 → anything"),
        (2.5, 2.5, "2.00 → 2.50"),
        (np.nan, np.nan, "2.00 → 2.50"),
    ],
)
def test_boxes_are_in_words_and_bars(low, high, words):
    box = np.array([[[30.0, low, 1.0]], [[30.0, high, 1.0]]])
    explanation = simple(low=box[0], high=box[1])
    background = np.arange(60).reshape(20, 3)
    display = CounterfactualDisplay.from_explanation(explanation, background=background)
    assert words in all_texts(display.figure_)
    (bars,) = display.boxes_
    assert len(bars) == (low < high)
    if len(bars):
        left, right = display.axes_[0].get_xlim()
        (bar,) = bars[0].patches
        assert bar.get_x() == pytest.approx(max(low, left))
        assert bar.get_x() + bar.get_width() == pytest.approx(min(high, right))


def test_small_changes_are_seen():
    explanation = simple(rows=np.array([[30.0, 2.0 + 1e-7, 1.0]]))
    background = np.random.default_rng(0).normal(size=(30, 3))
    display = CounterfactualDisplay.from_explanation(explanation, background=background)
    assert "2.000000000 → 2.000000100" in all_texts(display.figure_)
    (dot,) = [line for line in display.axes_[0].lines if line.get_marker() == "o"]
    assert dot.get_xdata()[0] == explanation.rows[0, 1]


def test_the_largest_changes_are_drawn():
    rows = np.array([[31.0, 2.5, 9.0]])
    background = np.random.default_rng(0).normal(scale=[100, 1, 1], size=(30, 3))
    explanation = simple(rows=rows)
    display = CounterfactualDisplay(explanation, background=background).plot()
    names = [ax.get_xlabel().replace("\\", "") for ax in display.axes_]
    assert names == ["debt", "$income_", "age"]
    display.plot(max_entries=2)
    assert len(display.axes_) == 2
    assert "2 largest of 3 changes" in display.title_.get_text()
    assert len(display.to_frame()) == 3


def test_what_was_not_found_has_a_reason():
    nothing = {"rows": np.zeros((0, 3)), "origin": [], "valid": [], "distances": []}
    explanation = simple(**nothing, status=["failed"], reasons=["no $row$ is near"])
    display = CounterfactualDisplay.from_explanation(explanation)
    assert "failed: no $row$ is near" in all_texts(display.figure_)
    assert display.arrows_ == []
    assert len(display.to_frame()) == 0
    unchanged = simple(rows=np.array([[30.0, 2.0, 1.0]]), status=["unchanged"])
    display = CounterfactualDisplay.from_explanation(unchanged)
    assert any(
        "it satisfies the target already" in t for t in all_texts(display.figure_)
    )


def test_levels_are_bars_of_shares(explained):
    X, inspector = explained
    explanation = inspector.explain(X[:1])
    rows = explanation.rows.iloc[:1].copy()
    rows["job"] = rows["job"].cat.add_categories(["new"])
    rows.loc[rows.index, "job"] = "new"
    data = X[:1].astype({"job": rows["job"].dtype})
    changed = replace(
        explanation,
        rows=rows,
        data=data,
        origin=[0],
        valid=[True],
        distances=[1.0],
        predictions=[0.1],
        answers=None,
        beyond_data=None,
    )
    display = CounterfactualDisplay.from_explanation(changed, background=X)
    (ax,) = (ax for ax in display.axes_ if ax.get_xlabel() == "job")
    assert [text.get_text() for text in ax.get_xticklabels()] == [*"wxyz", "new"]
    heights = np.array([bar.get_height() for bar in ax.containers[0].patches])
    counts = X["job"].value_counts().reindex([*"wxyz", "new"]).fillna(0)
    assert_allclose(heights / heights.max(), counts / counts.max())


def test_of_many_levels_the_most_frequent_are_shown():
    names = np.array([f"town {k}" for k in range(40)], dtype=object)
    background = pd.DataFrame({"town": np.repeat(names, np.arange(40) + 1)})
    rows = pd.DataFrame({"town": names[:2]})
    explanation = RowExplanation(
        rows=rows[1:],
        origin=[0],
        valid=[True],
        distances=[1.0],
        status=["found"],
        data=rows[:1],
        feature_names=["town"],
    )
    display = CounterfactualDisplay.from_explanation(explanation, background=background)
    assert len(display.axes_[0].containers[0].patches) == 10
    assert "town 0 → town 1" in all_texts(display.figure_)


def test_other_containers():
    X, _ = mixed(40)
    for table in (polars_mixed(X[["a", "job"]]), X[["a", "b"]].to_numpy()):
        found = table[1:2] if not hasattr(table, "slice") else table.slice(1, 1)
        data = table[0:1] if not hasattr(table, "slice") else table.slice(0, 1)
        explanation = RowExplanation(
            rows=found,
            origin=[0],
            valid=[True],
            distances=[1.0],
            status=["found"],
            data=data,
        )
        display = CounterfactualDisplay(explanation, background=table).plot()
        assert len(display.axes_) == explanation.n_changed[0]
        draw(display.figure_)


def test_missing_values_of_the_data_are_left_out():
    background = np.random.default_rng(0).normal(size=(30, 3))
    background[::3, 1] = np.nan
    display = CounterfactualDisplay(simple(), background=background).plot()
    draw(display.figure_)
    background[:, 1] = np.nan
    draw(CounterfactualDisplay(simple(), background=background).plot().figure_)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("layout", [None, "constrained"])
def test_given_axes(explained, ruled, layout):
    X, inspector = explained
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout=layout)
    before = plt.get_fignums()
    display = CounterfactualDisplay.from_estimator(
        inspector, X, row=3, ax=left, arrow_kw={"alpha": 0.5}
    )
    assert display.figure_ is figure
    assert display.arrows_[0][0].get_alpha() == 0.5
    table, anchors = ruled
    rules = AnchorsDisplay.from_estimator(
        anchors, table, row=0, ax=right, span_kw={"color": "red"}
    )
    assert rules.spans_[0][0].get_facecolor() == (1, 0, 0, 1)
    assert plt.get_fignums() == before
    figure.draw_without_rendering()
    panels = [*display.axes_, *rules.axes_]
    boxes = [ax.get_position() for ax in panels]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
    for title in (display.title_, rules.title_):
        top = title.get_window_extent()
        assert not any(top.overlaps(ax.get_window_extent()) for ax in panels)
    count = len(display.axes_)
    own = plt.figure().subplots(1, count, squeeze=False)
    assert display.plot(own).axes_.tolist() == own[0].tolist()
    with pytest.raises(ValueError, match="panels to draw"):
        display.plot(plt.figure().subplots(1, count + 1))


def test_spans_are_what_conditions_allow():
    rng = np.random.default_rng(0)
    background = pd.DataFrame(
        {"a": rng.normal(size=30), "job": rng.choice([*"xyz", None], 30)}
    )
    rule = (
        Condition(0, "a", low=-0.5, high=0.25),
        Condition(0, "a", low=0.5),
        Condition(1, "job", levels=("z", "x")),
        Condition(1, "job", levels=(None,)),
        Condition(0, "a", levels=(np.nan,)),
    )
    data = pd.DataFrame({"a": [0.1], "job": ["x"]})
    explanation = one_rule(rule, data)
    display = AnchorsDisplay.from_explanation(explanation, background=background)
    ends = [
        [(span.get_x(), span.get_x() + span.get_width()) for span in spans]
        for spans in display.spans_
    ]
    assert ends[0] == [pytest.approx((-0.5, 0.25))]
    assert ends[1] == [pytest.approx((0.5, display.axes_[1].get_xlim()[1]))]
    assert ends[2] == [(1.5, 2.5), (-0.5, 0.5)]
    assert ends[3] == [(2.5, 3.5)]
    assert ends[4] == []
    assert [ax.get_xlabel() for ax in display.axes_] == list(map(str, rule))
    assert [ax.lines[0].get_xdata()[0] for ax in display.axes_[:3]] == [0.1, 0.1, 0]
    frame = display.to_frame()
    assert frame["condition"].tolist() == list(map(str, rule))
    assert frame["feature"].tolist() == ["a", "a", "job", "job", "a"]
    assert frame["value"].tolist() == [0.1, 0.1, "x", "x", 0.1]


def test_the_legend_names_what_is_drawn(ruled):
    table, anchors = ruled
    rules = AnchorsDisplay.from_estimator(anchors, table, row=0)
    names = ["number of rows", "the condition holds", "value of the row"]
    assert sorted(legend_texts(rules)) == names
    found = simple(low=[[30.0, 2.25, 1.0]], high=[[30.0, 4.0, 1.0]])
    display = CounterfactualDisplay.from_explanation(found)
    names[1] = "values that will do as well"
    assert sorted(legend_texts(display)) == sorted(names)
    # Nothing makes room for it.
    assert display.plot(plt.figure().subplots()).legend_ is None


def legend_texts(display):
    """Labels of the legend."""
    return [text.get_text() for text in display.legend_.get_texts()]


def one_rule(rule, data, **parts):
    """An explanation of one sample."""
    fields = {"status": ["found"], "answers": ["$yes$"], **parts}
    numbers = ([number] for number in (0.98, 0.9519, 0.9999, 0.25))
    return RuleExplanation([rule], *numbers, data=data, **fields)


def test_a_rule_alone_is_drawn_over_its_interval():
    rule = Condition(0, "a", low=-0.5, high=9.0), Condition(1, "b", high=0, only=0.0)
    explanation = one_rule(rule, np.array([[0.1, 0.0]]))
    display = AnchorsDisplay.from_explanation(explanation)
    widths = [spans[0].get_width() for spans in display.spans_]
    assert widths[0] == pytest.approx(9.5)
    assert widths[1] <= 0.5
    assert display.axes_[1].get_xlabel() == "b = 0"
    assert not any(np.any(patch.get_height()) for patch in bars_in(display.axes_[0]))


def bars_in(ax):
    """Bars of the data."""
    return [bar for container in ax.containers for bar in container]


def test_a_text_without_a_rule_says_always():
    display = AnchorsDisplay.from_explanation(one_rule((), ["some words"]))
    assert any("always" in text for text in all_texts(display.figure_))


def test_the_title_has_precision_and_coverage():
    data = np.array([[1.0]])
    display = AnchorsDisplay.from_explanation(one_rule((), data), target_name="sick")
    assert display.title_.get_text().replace("\\", "") == (
        "Prediction of sick: $yes$\nprecision 0.98 (0.951 to 1), coverage 0.25"
    )
    assert any("no conditions" in text for text in all_texts(display.figure_))
    assert len(display.to_frame()) == 0
    failed = one_rule((), data, status=["failed"], reasons=["too few"])
    display = AnchorsDisplay.from_explanation(failed)
    assert display.title_.get_text().endswith("\nfailed: too few")


def test_anchors_of_a_predictor(ruled):
    X, inspector = ruled
    drawn = AnchorsDisplay.from_estimator(inspector, X, row=1)
    settings = {"n_samples": 200, "random_state": 0}
    model = inspector.estimator_.estimator
    display = AnchorsDisplay.from_estimator(model, X, row=1, **settings)
    pd.testing.assert_frame_equal(display.to_frame(), drawn.to_frame())
    rule = inspector.explain(X[1:2]).rules[0]
    assert display.to_frame()["condition"].tolist() == list(map(str, rule))
    assert repr(display).startswith("AnchorsDisplay(1 row; 2 features: a, job")


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_words_of_a_text_are_marked(kind):
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, SPAM)
    inspector = AnchorsText(FrozenEstimator(model), n_samples=200, random_state=0)
    inspector.fit(kind(TEXTS))
    texts = kind(["nice", "a free, $free$ phone"])
    display = AnchorsDisplay.from_estimator(inspector, texts, row=1)
    shown = [(part.get_text(), part.get_bbox_patch()) for part in display.texts_]
    assert [text for text, patch in shown if patch is not None] == ["free", "free"]
    assert display.to_frame()["condition"].tolist() == ["'free'"]
    with pytest.raises(TypeError, match="pass a fitted AnchorsText"):
        AnchorsDisplay.from_estimator(model, texts, row=1)
    again = AnchorsDisplay.from_explanation(inspector.explain(texts), row=1)
    titles = [each.axes_[0].get_title("left") for each in (again, display)]
    assert titles[0] == titles[1] != ""
    _, ax = plt.subplots()
    assert again.plot(ax).axes_.tolist() == [ax]


@pytest.mark.parametrize("empty", ["", "two\nlines, \N{LINEAR B SYLLABLE B008 A}"])
def test_texts_without_a_rule(empty):
    display = AnchorsDisplay.from_explanation(one_rule((), [empty]))
    draw(display.figure_)
    assert not any(part.get_bbox_patch() for part in display.texts_)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({}, ValueError, "120 rows: choose one"),
        ({"row": 120}, ValueError, "not one of the 120 rows"),
        ({"row": "first"}, TypeError, "position"),
        ({"row": 0, "target": "d"}, ValueError, "not an output"),
        ({"row": 0, "max_entries": 0}, ValueError, "max_entries"),
        ({"row": 0, "n_cols": 0}, ValueError, "n_cols"),
        ({"row": 0, "background": np.zeros((3, 2))}, ValueError, "background"),
    ],
)
def test_bad_input(explained, params, error, message):
    X, inspector = explained
    with pytest.raises(error, match=message):
        CounterfactualDisplay.from_estimator(inspector, X, **params)


def test_other_inspectors_and_explanations(explained, ruled):
    X, inspector = explained
    table, anchors = ruled
    with pytest.raises(TypeError, match="draws a RowExplanation; got ndarray"):
        CounterfactualDisplay.from_explanation(np.zeros((1, 2)))
    with pytest.raises(TypeError, match="draws a RuleExplanation; got RowExplanation"):
        AnchorsDisplay.from_explanation(simple())
    with pytest.raises(TypeError, match="got Anchors"):
        CounterfactualDisplay.from_estimator(anchors, table, row=0)
    with pytest.raises(TypeError, match="got GrowingSpheres"):
        AnchorsDisplay.from_estimator(inspector, X, row=0)
    with pytest.raises(ValueError, match="has no data"):
        AnchorsDisplay.from_explanation(one_rule((), None))
    for display in (CounterfactualDisplay, AnchorsDisplay):
        with pytest.raises(ValueError, match="Display shows rows: pass X"):
            display.from_estimator(
                inspector if display is CounterfactualDisplay else anchors
            )
