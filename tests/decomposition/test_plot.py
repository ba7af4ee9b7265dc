"""The path of one row through one tree, as it is drawn."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.decomposition import DecisionPathDisplay, TreePathContributions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).round(1)
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.array(["no", "so", "yes"])[np.digitize(Y, [0.0, 1.0])]
draw = DecisionPathDisplay.from_estimator


@pytest.mark.parametrize("tree", [0, 2])
def test_nodes_of_a_forest_are_those_of_its_tree(tree):
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    member = forest.estimators_[tree]
    display = draw(forest, X, row=7, tree=tree)
    path = member.decision_path(X[7:8].astype(np.float32)).indices
    own = member.tree_
    assert_allclose(display.values, own.value[path, 0, 0])
    assert_allclose(display.n_rows, own.weighted_n_node_samples[path])
    # A fully grown tree predicts its training rows: their spread is its impurity.
    spread = np.sqrt(np.maximum(own.impurity[path], 0))
    assert_allclose(display.deviations, spread, atol=1e-7)
    for node, below, text in zip(path, path[1:], display.conditions[1:], strict=False):
        left = own.children_left[node] == below
        name, sign, number = text.split(" ")
        assert (name, sign) == (f"x{own.feature[node]}", "≤" if left else ">")
        number = float(number.replace("\N{MINUS SIGN}", "-"))
        assert_allclose(number, own.threshold[node], atol=0.005)
        x = X[7, own.feature[node]]
        assert x <= number if left else x > number
    assert display.count_name == "training rows"
    assert len(display.texts_) == len(path) + 1
    assert display.to_frame()["mean"].tolist() == display.values.tolist()


def test_names_of_many_classes_leave_room_for_the_bars():
    shares = np.full((4, 12), 1 / 12)
    names = [f"a rather long class name {k}" for k in range(12)]
    parts = list("abcd"), shares, [9, 4, 2, 1]
    few, many = (
        DecisionPathDisplay(*parts, output_names=given).plot()
        for given in (range(12), names)
    )
    heights = []
    for display in (few, many):
        display.figure_.draw_without_rendering()
        heights.append(display.ax_.get_window_extent().height)
    assert heights[1] > 0.9 * heights[0]


def test_shares_of_the_classes():
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, LABELS)
    display = draw(forest, X, row=-1, tree=1)
    own = forest.estimators_[1].tree_
    path = forest.estimators_[1].decision_path(X[-1:].astype(np.float32)).indices
    assert_allclose(display.values, own.value[path, 0])
    assert [len(bars.patches) for bars in display.bars_] == [len(path)] * 3
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == ["no", "so", "yes"]
    assert list(display.to_frame()) == ["condition", "n_rows", *names]


def test_two_classes_have_both_shares():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y > 0)
    display = draw(forest, X, row=0)
    assert_allclose(np.sum(display.values, axis=1), 1)


def test_shares_of_a_part_of_the_vote_sum_to_one():
    model = BaggingClassifier(n_estimators=3, random_state=0).fit(X, LABELS)
    assert_allclose(np.sum(draw(model, X, row=0, tree=1).values, axis=1), 1)


def test_boosting_shows_the_output_of_the_tree():
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, LABELS)
    display = draw(model, X, row=0, tree=2)
    member = model.estimators_[0, 2].tree_
    leaf = member.apply(X[:1].astype(np.float32))[0]
    assert_allclose(display.values[-1], 0.1 * member.value[leaf, 0, 0])
    assert display.ax_.get_xlabel().startswith("Decision function")


def test_conditions_of_categories_missing_values_and_steps():
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(LABELS)})
    frame.loc[:9, "a"] = np.nan
    model = HistGradientBoostingRegressor(
        max_iter=1, min_samples_leaf=2, categorical_features="from_dtype"
    ).fit(frame, Y + 9 * frame["a"].isna())
    conditions = [draw(model, frame, row=i).conditions for i in range(10)]
    words = {text for path in conditions for text in path}
    assert "a is missing" in words
    assert {text for text in words if text.startswith("kind")} <= {
        f"kind = {label}" for label in LABELS
    }
    pipeline = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=1))
    display = draw(pipeline.fit(X, Y), X, row=0)
    assert display.conditions[1].endswith("as transformed")


def test_numbers_stand_clear_of_the_line_from_the_node_above():
    display = draw(DecisionTreeRegressor(max_depth=4).fit(X, Y), X, row=3)
    moves = np.sign(np.diff(display.values))
    sides = [text.get_ha() for text in display.ax_.texts[: len(display.values)]]
    expected = {1: "left", 0: "center", -1: "right"}
    assert sides == ["center", *(expected[move] for move in moves)]
    assert display.ax_.get_xlabel().endswith("± standard deviation of its leaves")


def test_a_stump_without_splits():
    display = draw(DecisionTreeRegressor().fit(X, np.ones(60)), X, row=0)
    assert display.conditions == ["all rows"]
    assert_allclose(display.values, [1.0])


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"tree": 3}, "tree=3 is accepted from 0 to 2"),
        ({"tree": True}, "tree=True is accepted"),
        ({"row": 60}, "row=60"),
    ],
    ids=str,
)
def test_bad_choices(choice, message):
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    with pytest.raises((ValueError, IndexError), match=message):
        draw(forest, X, **choice)


@pytest.mark.parametrize(
    "bad",
    [{"values": [1.0]}, {"n_rows": [1.0]}, {"deviations": [[1.0], [2.0]]}],
    ids=str,
)
def test_arrays_that_do_not_fit(bad):
    arrays = {"conditions": ["all", "x ≤ 1"], "values": [1.0, 2.0], "n_rows": [4, 2]}
    with pytest.raises(ValueError, match=next(iter(bad))):
        DecisionPathDisplay(**{**arrays, **bad}).plot()


def test_one_row_is_followed():
    inspector = TreePathContributions(DecisionTreeRegressor()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 rows; one is needed"):
        inspector.decision_path(X[:2])


def test_conditions_say_what_the_tree_asks():
    """Of levels, which go one way: not which one the row has."""
    weather = np.array(["GOOD", "MISTY", "STORM"] * 20)
    size = np.repeat(["s", "m", "l", "xl"], 15)
    frame = pd.DataFrame({"weather": weather, "size": size})
    y = (4.0 + 3 * (size == "xl")) * (weather == "STORM") + (size == "xl")
    order = OrdinalEncoder(categories=[["s", "m", "l", "xl"]])
    encoder = make_column_transformer((OneHotEncoder(), [0]), (order, [1]))
    model = make_pipeline(encoder, DecisionTreeRegressor(max_depth=2))
    shown = draw(model.fit(frame, y), frame, row=0)
    assert shown.conditions == ["all rows", "weather ≠ STORM", "size ≠ xl"]
    shown = draw(model, frame, row=59)
    assert shown.conditions == ["all rows", "weather = STORM", "size = xl"]
    sizes = pd.Categorical(size, categories=["s", "m", "l", "xl"])
    sizes = pd.DataFrame({"size": sizes})  # the encoder sorts them by the alphabet
    model = make_pipeline(OrdinalEncoder(), DecisionTreeRegressor(max_depth=1))
    shown = draw(model.fit(sizes, size > "m"), sizes, row=15)
    assert shown.conditions[1] == "size = m or l"
    levels = frame.assign(weather=pd.Categorical(weather), size=0)
    own = HistGradientBoostingRegressor(
        max_iter=1, min_samples_leaf=2, categorical_features="from_dtype"
    ).fit(levels, y)
    assert draw(own, levels, row=0).conditions == ["all rows", "weather ≠ STORM"]
    flags = frame.assign(weather=weather == "STORM", size=0)
    own = DecisionTreeRegressor().fit(flags, y)
    assert draw(own, flags, row=0).conditions[1] == "weather = False"


def test_which_tree_of_how_many_and_what_all_give():
    boosting = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, LABELS)
    label = draw(boosting, X, row=4, tree=5).ax_.get_xlabel()
    total = boosting.decision_function(X[4:5])[0, 2]
    assert "in tree 6 of 6" in label
    found = label.rpartition(" ")[2].replace("\N{MINUS SIGN}", "-")
    assert_allclose(float(found), total, rtol=1e-3)
    forest = RandomForestClassifier(3, random_state=0).fit(X, LABELS)
    assert draw(forest, X, tree=1).ax_.get_xlabel().endswith("in tree 2 of 3, row 0")
    single = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    assert "tree" not in draw(single, X).ax_.get_xlabel()
