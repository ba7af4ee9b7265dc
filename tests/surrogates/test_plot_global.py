"""The display of a global surrogate: its contract, and what it draws."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.estimator_checks._recorders import RecordingRegressor
from sklearn_interpret.estimator_checks._tables import pandas_mixed, polars_mixed
from sklearn_interpret.surrogates import (
    GlobalSurrogate,
    GlobalSurrogateDisplay,
    _leaves_and_coefficients,
)
from tests.figures import all_texts

NAMES = ["first", "second", "third", "fourth"]
STUMP = {
    "left": [1, -1, -1],
    "right": [2, -1, -1],
    "tests": ["a ≤ 3", "", ""],
    "rules": ["all rows", "a ≤ 3", "a > 3"],
}
SURROGATES = {
    "tree": DecisionTreeRegressor(max_depth=2, random_state=0),
    "rules": DecisionTreeRegressor(max_leaf_nodes=17, random_state=0),
    "bar": Ridge(),
    "scatter": KNeighborsRegressor(3),
}


@pytest.fixture(params=SURROGATES)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=NAMES)
    y = X["first"] * 2 + np.sin(X["second"])
    return KNeighborsRegressor(5).fit(X, y), X


def drawn(regression, kind, **params):
    model, X = regression
    return GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=SURROGATES[kind], **params
    )


def stump(values, answers=None, leaves=None, **params):
    """A display of arrays of one's own."""
    values = np.asarray(values, dtype=float)
    leaves = np.where(np.arange(len(values)) % 2, 1, 2) if leaves is None else leaves
    return GlobalSurrogateDisplay(
        values, answers, trees=[STUMP], leaves=leaves, **params
    )


def test_kinds_and_titles(kind, regression):
    display = drawn(regression, kind)
    assert display.kind_ == kind
    assert display.axes_.shape == (1, 1)
    title = display.axes_[0, 0].get_title()
    name = type(SURROGATES[kind]).__name__
    words = title.replace("\nin", " in")
    assert words.startswith(f"{name} in place of KNeighborsRegressor\nR² = ")


def test_given_axes_have_no_legend(kind, regression):
    ax = plt.subplots(1, 2)[1][0]
    display = drawn(regression, kind, ax=ax)
    assert display.axes_[0, 0] is ax
    assert display.legend_ is None
    if kind in ("tree", "rules"):
        assert "bars: the model, line: the surrogate" in ax.get_xlabel()


def test_a_tree_without_room_becomes_rules(regression):
    model, X = regression
    _, axes = plt.subplots(1, 3)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    display = GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=tree, ax=axes[0]
    )
    assert display.kind_ == "rules"
    assert display.plot(ax=axes[1], kind="tree").kind_ == "tree"
    assert display.plot().kind_ == "tree"


def test_the_table_has_the_leaves(regression):
    model, X = regression
    display = drawn(regression, "tree")
    frame = display.to_frame()
    answers, tree = model.predict(X), DecisionTreeRegressor(max_depth=2, random_state=0)
    leaves = tree.fit(X, answers).apply(X)
    assert sorted(frame["leaf"]) == np.unique(leaves).tolist()
    for row in frame.itertuples():
        inside = answers[leaves == row.leaf]
        assert row.n_rows == len(inside)
        assert row.share == pytest.approx(len(inside) / 120)
        assert row.mean == pytest.approx(inside.mean())
        assert row.mean == pytest.approx(row.surrogate)
        assert row.q50 == np.median(inside)
        rule = row.rule.replace("\N{MINUS SIGN}", "-").replace("≤", "<=")
        assert len(X.query(rule)) == row.n_rows  # the rule as it is written


def test_bars_are_the_distributions(regression):
    display = drawn(regression, "tree")
    (bars,), frame = display.bars_, display.to_frame()
    assert len(bars) == len(frame) == 4
    for one in bars:
        values, edges, baseline = one.get_data()
        assert (values - baseline).max() == pytest.approx(0.8)
        assert len(edges) == len(values) + 1
    low, high = display.axes_[0, 0].get_ylim()
    assert low < frame["q05"].min()
    assert high > frame["q95"].max()
    texts = all_texts(display.figure_)
    assert texts.count("yes") == texts.count("no") == 3
    assert sum("≤" in text for text in texts) == 3
    shares = [f"{100 * row.share:.0f} %{row.n_rows} rows" for row in frame.itertuples()]
    assert set(shares) <= set(texts)


def test_rules_beyond_the_largest_share_a_line(regression):
    display = drawn(regression, "rules", max_entries=5)
    texts = all_texts(display.figure_)
    assert any("13 other leaves" in text for text in texts)
    assert len(display.bars_[0]) == 5
    assert len(display.to_frame()) == 17
    everything = display.plot(max_entries=None)
    assert len(everything.bars_[0]) == 17


def test_the_table_has_the_coefficients(regression):
    model, X = regression
    pipeline = make_pipeline(StandardScaler(), Ridge())
    display = GlobalSurrogateDisplay.from_estimator(model, X, surrogate=pipeline)
    frame = display.to_frame()
    coef = pipeline.fit(X, model.predict(X))[-1].coef_
    expected = dict(zip(NAMES, coef, strict=True))
    assert frame["column"].tolist() == sorted(NAMES, key=lambda n: -abs(expected[n]))
    for row in frame.itertuples():
        assert row.effect == pytest.approx(expected[row.column])
    widths = [patch.get_width() for patch in display.bars_[0].patches]
    assert_allclose(widths, frame["effect"])
    plain = drawn(regression, "bar").to_frame().set_index("column")
    assert plain["std"]["first"] == pytest.approx(X["first"].std(ddof=0))


def test_coefficients_of_labels(regression):
    _, X = regression
    labels = np.array(["low", "mid", "top"])[np.digitize(X["first"], [-0.5, 0.5])]
    model = LogisticRegression().fit(X, labels)
    display = GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=LogisticRegression(), target="top"
    )
    learnt = LogisticRegression().fit(X, model.predict(X))
    found = display.to_frame().set_index("column")["coef"]
    assert_allclose(found[NAMES], learnt.coef_[2])
    binary = LogisticRegression().fit(X, labels == "top")
    both = [
        GlobalSurrogateDisplay.from_estimator(
            GlobalSurrogate(
                FrozenEstimator(binary), surrogate=LogisticRegression(), target=target
            ).fit(X),
            X,
        ).to_frame()["effect"]
        for target in (False, True)
    ]
    assert_allclose(both[0], -both[1])


def test_a_class_without_coefficients_has_no_bars():
    display = GlobalSurrogateDisplay(
        np.zeros((2, 2)), coefficients=[[1.0, 2.0], [np.nan, np.nan]]
    ).plot()
    assert list(map(len, display.bars_)) == [2, 0]
    assert "a class that the surrogate has not learnt" in all_texts(display.figure_)


def test_any_other_is_shown_by_its_answers(regression):
    model, X = regression
    display = drawn(regression, "scatter")
    frame = display.to_frame()
    assert_array_equal(frame["model"], model.predict(X))
    points = display.bars_[0].get_offsets()
    assert_array_equal(points, frame[["model", "surrogate"]])
    rng = np.random.default_rng(0)
    many = GlobalSurrogateDisplay(*rng.normal(size=(2, 4000))).plot()
    assert many.bars_[0].get_array().sum() == 4000


@pytest.mark.parametrize("kind", ["tree", "rules"])
def test_one_tree_of_all_classes_is_drawn_once_with_their_shares(regression, kind):
    _, X = regression
    labels = np.array(["low", "_mid", "$top$"])[np.digitize(X["first"], [-0.5, 0.5])]
    model = LogisticRegression().fit(X, labels)
    display = GlobalSurrogateDisplay.from_estimator(model, X, random_state=0, kind=kind)
    assert display.axes_.shape == (1, 1)
    (bars,) = display.bars_
    frame = display.to_frame()
    for column, parts in (("mean", bars[:3]), ("surrogate", bars[3:])):
        for name, part in zip(["$top$", "_mid", "low"], parts, strict=True):
            own = frame[frame["output"] == name]
            if kind == "rules":
                own = own.sort_values("share", ascending=False, kind="stable")
            assert_allclose(part.datavalues, own[column])
    assert_allclose(sum(part.datavalues for part in bars[:3]), 1)
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == [r"\$top\$", "_mid", "low"]
    fidelity = GlobalSurrogate(FrozenEstimator(model), random_state=0).fit(X).fidelity_
    assert f"R² = {fidelity:.3g}" in display.axes_[0, 0].get_title()
    with plt.rc_context({"figure.figsize": (7, 9)}):
        _, axes = plt.subplots(2, 1, layout="constrained")
        display.plot(ax=axes[0], kind=kind)
    assert display.legend_.axes is axes[0]


def test_a_constant_response_has_no_r_squared(regression):
    _, X = regression
    model = LinearRegression().fit(X, np.ones(len(X)))
    params = {"min_fidelity": None, "random_state": 0}
    display = GlobalSurrogateDisplay.from_estimator(
        model, X, response_method=lambda model, X: np.ones(len(X)), **params
    )
    assert "R² undefined" in display.axes_[0, 0].get_title()


def test_several_outputs(regression):
    _, X = regression
    labels = np.array(["low", "_mid", "$top$"])[np.digitize(X["first"], [-0.5, 0.5])]
    model = LogisticRegression().fit(X, labels)
    tree = DecisionTreeRegressor(max_depth=1, random_state=0)
    for surrogate in (tree, Ridge(), MultiOutputRegressor(tree)):
        display = GlobalSurrogateDisplay.from_estimator(
            model, X, surrogate=surrogate, random_state=0
        )
        assert set(display.to_frame()["output"]) == {"low", "_mid", "$top$"}
        texts = all_texts(display.figure_)
        n_panels = 1 if surrogate is tree else 3
        assert sum("same label for" in text for text in texts) == n_panels
        one = GlobalSurrogateDisplay.from_estimator(
            model, X, surrogate=surrogate, random_state=0, target="_mid"
        )
        assert one.axes_.shape == (1, 1)
        assert set(one.to_frame()["output"]) == {"_mid"}
    with pytest.raises(ValueError, match=r"target='mid' is not an output; there are"):
        GlobalSurrogateDisplay.from_estimator(model, X, target="mid")
    with pytest.raises(ValueError, match="12 outputs, too many for one figure"):
        GlobalSurrogateDisplay(np.zeros((3, 12)), np.zeros((3, 12))).plot()


def test_coefficients_name_the_levels_of_categories():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"heat": rng.normal(size=60), "season": rng.choice(["WINTER", "FALL"], 60)}
    )
    encode = make_column_transformer((OneHotEncoder(), ["season"]))
    model = make_pipeline(encode, Ridge()).fit(X, X["season"] == "FALL")
    display = GlobalSurrogateDisplay.from_estimator(model, X, surrogate=Ridge())
    names = ["season = FALL", "season = WINTER", "heat"]
    assert sorted(display.to_frame()["column"]) == sorted(names)
    assert set(names) <= set(all_texts(display.figure_))


def test_levels_are_in_the_order_of_their_dtype():
    """An encoder of another order makes no condition with its own order."""
    season = pd.Categorical(list("wsaw") * 9, categories=["w", "s", "a"])
    X = pd.DataFrame({"season": season})
    encode = make_column_transformer((OrdinalEncoder(), ["season"]))
    tree = make_pipeline(encode, DecisionTreeClassifier(max_depth=1))
    model = tree.fit(X, np.where(X["season"] == "w", "x", "y"))
    display = GlobalSurrogateDisplay.from_estimator(
        FrozenEstimator(model), X, surrogate=tree
    )
    assert "season = s or a" in display.to_frame()["rule"].tolist()


def test_titles_have_the_fidelity(regression):
    model, X = regression
    weights = np.arange(120.0)
    display = drawn(regression, "tree", sample_weight=weights)
    inspector = GlobalSurrogate(FrozenEstimator(model), surrogate=SURROGATES["tree"])
    inspector.fit(X, sample_weight=weights)
    assert f"R² = {inspector.fidelity_:.3g}" in display.axes_[0, 0].get_title()
    half = GlobalSurrogateDisplay.from_estimator(inspector, X[:60])
    share = r2_score(model.predict(X[:60]), inspector.predict(X[:60]))
    assert f"R² = {share:.2f}" in half.axes_[0, 0].get_title()
    assert half.to_frame()["n_rows"].sum() == 60


def test_a_fitted_inspector_is_not_fitted_again(regression, monkeypatch):
    model, X = regression

    def right(X):
        return X["first"] > 0

    inspector = GlobalSurrogate(
        FrozenEstimator(model), subset=right, random_state=0
    ).fit(X)
    monkeypatch.setattr(GlobalSurrogate, "fit", None)
    display = GlobalSurrogateDisplay.from_estimator(inspector, X)
    assert display.to_frame()["n_rows"].sum() == right(X).sum()
    with pytest.raises(ValueError, match="scoring can only be set before"):
        GlobalSurrogateDisplay.from_estimator(inspector, X, scoring="r2")
    with pytest.raises(ValueError, match="subset holds for no row"):
        GlobalSurrogateDisplay.from_estimator(inspector, X[~right(X)])


def test_labels_that_cannot_be_compared(regression):
    _, X = regression
    model = LinearSVC().fit(X, X["first"] > 0)
    for surrogate in (
        DecisionTreeClassifier(max_depth=2, random_state=0),
        LogisticRegression(),
    ):
        display = GlobalSurrogateDisplay.from_estimator(
            model, X, surrogate=surrogate, scoring="accuracy"
        )
        title = display.axes_[0, 0].get_title()
        assert "R²" not in title
        assert "same label for" in title
    with pytest.raises(
        ValueError, match="shows surrogate responses, and there are non"
    ):
        display.plot(kind="scatter")


def test_mixed_columns_have_their_own_names():
    shown = []
    for X in (pandas_mixed(), polars_mixed()):
        model = RecordingRegressor().fit(X, np.arange(60))
        display = GlobalSurrogateDisplay.from_estimator(model, X, random_state=0)
        shown.append(display.to_frame())
        texts = all_texts(display.figure_)
        assert {"colour = red", "known = True"} <= set(texts)
    pd.testing.assert_frame_equal(*shown)
    assert any("colour = blue or grey or green" in rule for rule in shown[0]["rule"])
    assert isinstance(X, pl.DataFrame)


def test_missing_values_are_in_the_rules():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan] * 10, "n": [1, 2, 3, 4] * 10})
    model = DecisionTreeRegressor(random_state=0).fit(X, np.array([0, 0, 1, 1] * 10))
    tree = DecisionTreeRegressor(max_features=None, random_state=0)
    inspector = GlobalSurrogate(FrozenEstimator(model), surrogate=tree).fit(X)
    inspector.surrogate_.fit(X[["a", "n"]].assign(n=0), model.predict(X))
    rules = GlobalSurrogateDisplay.from_estimator(inspector, X).to_frame()["rule"]
    assert rules.tolist() == ["a ≤ 2.5", "a > 2.5 or missing"]
    whole = GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=make_pipeline("passthrough", tree), random_state=0
    )
    assert whole.kind_ == "tree"


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("n_features", [1, 300])
def test_long_and_odd_names(n_features, kind):
    rng = np.random.default_rng(0)
    names = [
        f"_a_feature_$of_{j}$_whose_name_goes_on_and_on" for j in range(n_features)
    ]
    X = pd.DataFrame(rng.normal(size=(60, n_features)), columns=names)
    model = LinearRegression().fit(X, X.iloc[:, 0])
    display = GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=SURROGATES[kind], min_fidelity=None
    )
    texts = all_texts(display.figure_)
    width, height = display.figure_.get_size_inches()
    assert 4 < width <= 14
    assert 2 < height < 17
    if kind in ("tree", "bar"):
        assert any("feature_$of" in text for text in texts)
    assert all(len(text) < 230 for text in texts)


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e12, 1e200])
@pytest.mark.parametrize("kind", ["tree", "rules", "scatter"])
def test_all_magnitudes(scale, kind):
    values = scale * np.random.default_rng(0).normal(size=(2, 30))
    display = stump(*values).plot(kind=kind)
    assert all_texts(display.figure_)
    assert np.isfinite(display.axes_[0, 0].get_ylim()).all()


@pytest.mark.parametrize("kind", ["tree", "rules", "scatter"])
def test_one_row_and_an_empty_leaf(kind):
    display = stump([3.0], [2.0], [1]).plot(kind=kind)
    texts = all_texts(display.figure_)
    assert ("no rows" in texts) == (kind == "tree")
    assert display.to_frame()["rule"].tolist() == ["a ≤ 3"]


def test_a_tree_that_asks_nothing(regression):
    model, X = regression
    root = DecisionTreeRegressor(max_depth=1, min_samples_leaf=100, random_state=0)
    display = GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=root, min_fidelity=None
    )
    assert display.to_frame()["rule"].tolist() == ["all rows"]


def test_styles(regression):
    display = drawn(regression, "tree", bar_kw={"fc": "red"})
    patch = display.bars_[0][0]
    assert patch.get_facecolor()[:3] == (1, 0, 0)
    display = drawn(regression, "tree", response_name="odds", model_name="the box")
    assert display.axes_[0, 0].get_ylabel() == "odds"
    assert "in place of the box" in display.axes_[0, 0].get_title()


BAD_ARRAYS = [
    ({"leaves": [1, 2]}, {}, "leaves has the shape"),
    ({"answers": [[1.0, 2.0]] * 4}, {}, "surrogate_responses has shape"),
    ({"output_names": ["a", "b"]}, {}, "2 names for 1 outputs"),
    ({"sample_weight": [1.0]}, {}, "sample_weight has the shape"),
    ({"target": "z"}, {}, "target='z' is not an output"),
    ({}, {"kind": "pie"}, "kind='pie' must be one of"),
    ({}, {"kind": "bar"}, "kind='bar' shows coefficients, and there are none"),
    ({}, {"kind": "rules", "max_entries": 0}, "max_entries=0 must be"),
]


@pytest.mark.parametrize(("given", "asked", "message"), BAD_ARRAYS)
def test_arrays_that_do_not_fit(given, asked, message):
    with pytest.raises(ValueError, match=message):
        stump(np.arange(4.0), **given).plot(**asked)


def test_thresholds_of_a_column_share_their_decimals():
    X = np.array([[0.0], [1.0], [2.0], [2.5], [2.51]])
    model = FrozenEstimator(
        DecisionTreeRegressor(random_state=0).fit(X, np.arange(5.0))
    )
    display = GlobalSurrogateDisplay.from_estimator(
        model, X, surrogate=DecisionTreeRegressor(random_state=0)
    )
    tests = [test for test in display.trees[0]["tests"] if test]
    assert sorted(tests) == [
        f"x0 ≤ {number}" for number in ("0.50", "1.50", "2.25", "2.50")
    ]


def test_rows_that_pass_a_test_are_on_the_left():
    """Also of indicators, where a tree sends them to the right."""
    X = pd.DataFrame({"kind": ["a", "b", "c"] * 10})
    y = np.array([1.0, 2.0, 9.0] * 10)
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]))
    model = make_pipeline(encoder, DecisionTreeRegressor(random_state=0)).fit(X, y)
    surrogate = DecisionTreeRegressor(max_depth=1, random_state=0)
    inspector = GlobalSurrogate(FrozenEstimator(model), surrogate=surrogate).fit(X)
    display = GlobalSurrogateDisplay.from_estimator(inspector, X)
    (tree,) = display.trees
    assert tree["tests"][0] == "kind = c"
    assert tree["rules"][tree["left"][0]] == "kind = c"
    words = {text.get_text(): text.get_position()[0] for text in display.texts_[0]}
    assert words["yes"] < words["no"]


def test_a_tree_that_splits_by_sets_of_categories_is_not_drawn(regression, monkeypatch):
    monkeypatch.setattr(
        _leaves_and_coefficients, "has_category_splits", lambda tree: True
    )
    assert drawn(regression, "tree").trees is None
