"""Displays of influence: what is drawn is what was found."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_squared_error
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.decomposition import NeighborContributions
from sklearn_interpret.explanations import Explanation, TrainingExplanation
from sklearn_interpret.influence import (
    DeletionDiagnostics,
    InfluenceDisplay,
    InfluenceFunctions,
    InfluenceTreeDisplay,
    RegressionInfluence,
)
from tests.figures import all_texts, draw

RNG = np.random.default_rng(0)
N = 30
X = pd.DataFrame(
    {
        "age": RNG.integers(20, 60, N),
        "income": RNG.normal(size=N),
        "debt": RNG.normal(size=N),
    },
    index=[f"$row_{i}" for i in range(N)],
)
Y = pd.Series(X["income"] + RNG.normal(size=N), index=X.index, name="cost")


@pytest.fixture(scope="module")
def diagnostics():
    return DeletionDiagnostics(LinearRegression(), what="loss").fit(X, Y)


def lengths(display):
    """Lengths of the bars, from the top."""
    return [bar.get_width() for bar in display.bars_]


def test_bars_of_an_inspector(diagnostics):
    display = InfluenceDisplay.from_estimator(diagnostics, max_entries=4)
    first = np.argsort(-diagnostics.influence_)[:4]
    assert_allclose(lengths(display), diagnostics.influence_[first])
    names = [label.get_text() for label in display.ax_.get_yticklabels()][:4]
    assert [name.split(":")[0] for name in names] == [rf"\$row_{i}" for i in first]
    assert all("cost=" in name for name in names)
    frame = display.to_frame()
    assert len(frame) == N
    assert_allclose(frame["value"], np.sort(diagnostics.influence_)[::-1])
    draw(display.figure_)


@pytest.mark.parametrize("row", [None, 1])
def test_bars_of_explained_rows(diagnostics, row):
    explanation = diagnostics.explain(X[:5], Y[:5])
    display = InfluenceDisplay.from_estimator(diagnostics, X[:5], Y[:5], row=row)
    again = InfluenceDisplay.from_explanation(explanation, row=row)
    values = explanation.values.mean(axis=0) if row is None else explanation.values[1]
    order = np.argsort(-np.abs(values), kind="stable")[:15]
    assert_allclose(lengths(display), values[order])
    assert_allclose(lengths(again), values[order])
    colours = {bar.get_facecolor() for bar in display.bars_}
    assert len(colours) == 2
    title = "Mean over 5 rows" if row is None else r"\$row_1"
    assert display.ax_.get_title() == title


def test_features_of_rows_stand_next_to_their_names(diagnostics):
    features = ["income", "age"]
    display = InfluenceDisplay.from_estimator(diagnostics, features=features)
    text = display.ax_.get_yticklabels()[0].get_text()
    first = X.iloc[np.argmax(diagnostics.influence_)]
    assert f"age={first['age']:.0f}" in text
    with pytest.raises(ValueError, match="incom"):
        InfluenceDisplay.from_estimator(diagnostics, features=["incom"])


def test_a_predictor_is_inspected_on_its_training_rows():
    model = LinearRegression().fit(X, Y)
    expected = DeletionDiagnostics(LinearRegression()).fit(X, Y)
    for kind in (InfluenceDisplay, InfluenceTreeDisplay):
        display = kind.from_estimator(model, X, Y)
        assert_allclose(display.explanation.mean_sizes, expected.influence_)


def test_votes_of_neighbours_are_no_changes_without_rows():
    found = NeighborContributions(KNeighborsRegressor(3)).fit(X, Y).explain(X[:1])
    display = InfluenceDisplay.from_explanation(found)
    assert display.ax_.get_xlabel() == "Share of the vote"
    assert_allclose(lengths(display), [1 / 3] * 3)  # others have no vote
    assert len(display.to_frame()) == N


def test_influence_that_is_zero_throughout_has_a_line_to_show_it():
    display = InfluenceDisplay(TrainingExplanation(np.zeros((1, 4)))).plot()
    assert_allclose(lengths(display), [0.0])


def test_groups_have_names_and_no_tree():
    groups = np.arange(N) % 3
    found = DeletionDiagnostics(LinearRegression(), groups=groups).fit(X, Y)
    display = InfluenceDisplay.from_estimator(found)
    assert "group" in display.ax_.get_xlabel()
    assert sorted(display.to_frame()["training_row"]) == [0, 1, 2]
    with pytest.raises(ValueError, match="no training_data"):
        InfluenceTreeDisplay.from_estimator(found)


def test_removal_equals_refits():
    labels = np.where(Y > 0, "yes", "no")
    influence = RNG.normal(size=N)
    model, sizes = LogisticRegression(), [0, 3, 8]
    display = InfluenceDisplay.from_removal(
        model, X, labels, influence, sizes=sizes, n_draws=2, random_state=0
    )
    order = np.argsort(-influence)
    expected = []
    for size in sizes:
        kept = np.sort(order[size:])
        expected.append(clone(model).fit(X.iloc[kept], labels[kept]).score(X, labels))
    assert_allclose(display.removal["scores"], expected)
    frame = display.to_frame()
    assert_allclose(frame["score"][frame["draw"].isna()], expected)
    at_random = display.removal["random_scores"]
    assert at_random.shape == (2, 3)
    assert_allclose(at_random[:, 0], expected[0])
    assert_allclose(display.random_line_.get_ydata(), at_random.mean(axis=0))
    assert display.ax_.get_ylabel() == "Accuracy"
    assert not hasattr(model, "coef_")


def test_removal_on_rows_of_test_with_a_loss():
    display = InfluenceDisplay.from_removal(
        LinearRegression(),
        X[:20],
        Y[:20],
        np.arange(20),
        X_test=X[20:],
        y_test=Y[20:],
        scoring=mean_squared_error,
        sizes=[5],
        n_draws=1,
    )
    model = LinearRegression().fit(X[:15], Y[:15])
    expected = mean_squared_error(Y[20:], model.predict(X[20:]))
    assert_allclose(display.removal["scores"], [expected])
    assert display.ax_.get_ylabel() == "Mean squared error"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"influence": np.arange(3)}, "influence has the shape"),
        ({"influence": np.full(N, np.nan)}, "influence is not finite"),
        ({"sizes": [N]}, "sizes="),
        ({"sizes": [0.5]}, "sizes="),
        ({"n_draws": 0}, "n_draws=0"),
        ({"n_draws": None}, "n_draws=None"),
    ],
)
def test_bad_removal(bad, words):
    given = {"influence": np.arange(N), **bad}
    with pytest.raises(ValueError, match=words):
        InfluenceDisplay.from_removal(LinearRegression(), X, Y, **given)


def test_the_tree_is_that_of_scikit_learn(diagnostics):
    display = InfluenceTreeDisplay.from_estimator(diagnostics, max_depth=2)
    looks = {"max_depth": 2, "min_samples_leaf": 0.02, "random_state": 0}
    tree = DecisionTreeRegressor(**looks).fit(X, diagnostics.influence_)
    assert_allclose(display.tree_.predict(X), tree.predict(X))
    frame = display.to_frame()
    leaves = tree.apply(X)
    assert frame["leaf"].tolist() == np.unique(leaves).tolist()
    means = [diagnostics.influence_[leaves == leaf].mean() for leaf in frame["leaf"]]
    assert_allclose(frame["mean"], means)
    assert "surrogate" not in " ".join(all_texts(display.figure_)).lower()
    draw(display.figure_)


def test_a_tree_of_categories():
    town = np.where(np.arange(N) % 2, "$town_A", "B")
    table = X.assign(town=pd.Categorical(town))
    values = np.where(np.arange(N) % 2, 5.0, 1.0)[None]
    explanation = TrainingExplanation(values, table)
    _, ax = plt.subplots()
    display = InfluenceTreeDisplay.from_explanation(explanation, ax=ax)
    assert isinstance(display.tree_, Pipeline)
    assert display.ax_ is ax
    assert display.legend_ is None
    assert sorted(display.to_frame()["mean"]) == [1, 5]


@pytest.mark.parametrize("kind", [InfluenceDisplay, InfluenceTreeDisplay])
def test_other_explanations_are_refused(kind):
    other = Explanation(np.ones((1, 3)), np.ones(1))
    with pytest.raises(TypeError, match="draws a TrainingExplanation"):
        kind.from_explanation(other)


def test_bad_choices(diagnostics):
    explanation = diagnostics.explain(X[:2], Y[:2])
    with pytest.raises(ValueError, match="row=2"):
        InfluenceDisplay.from_explanation(explanation, row=2)
    with pytest.raises(ValueError, match="max_entries=0"):
        InfluenceDisplay.from_explanation(explanation, max_entries=0)
    with pytest.raises(ValueError, match="kind='bar'"):
        InfluenceTreeDisplay.from_explanation(explanation, kind="bar")
    with pytest.raises(ValueError, match="max_depth"):
        InfluenceTreeDisplay.from_explanation(explanation, max_depth=0)


GROUPS = np.repeat(["a group of a very long name, the first", "b", "c"], N // 3)
LONG = X.set_axis(
    [f"a long name, of a training row, of a long table, number {i}" for i in range(N)]
)
TWO = np.column_stack([Y, X["debt"]])
INSPECTORS = [DeletionDiagnostics, InfluenceFunctions]


@pytest.mark.parametrize("kind", INSPECTORS)
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("targets", [Y, TWO], ids=["one", "two"])
@pytest.mark.parametrize("given", [True, False], ids=["explained", "overall"])
def test_each_inspector_is_drawn(kind, groups, targets, given):
    """With rows to explain, and without: then what its fit has found."""
    several = np.ndim(targets) == 2
    choice = {"what": "loss"} if kind is DeletionDiagnostics else {}
    inspector = kind(LinearRegression(), groups=groups, **choice).fit(LONG, targets)
    rows = (LONG[:4], targets[:4]) if given else ()
    display = InfluenceDisplay.from_estimator(inspector, *rows, max_entries=3)
    names = inspector.explain(LONG[:1], targets[:1]).training_names
    if given:
        expected = inspector.explain(*rows).values.mean(axis=0)
    elif kind is DeletionDiagnostics:
        expected = inspector.influence_
    else:
        expected = inspector.self_influence_
        own = "row" if groups is None else "group"
        expected_label = f"Change of its own loss without the {own}"
        assert display.ax_.get_xlabel().replace("\n", " ") == expected_label
    order = np.argsort(-np.abs(expected), kind="stable")
    assert_allclose(lengths(display), expected[order[:3]])
    frame = display.to_frame()
    assert frame["training_row"].tolist() == [names[place] for place in order]
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    if groups is None:
        # Names above, values of the row below.
        for text, place in zip(texts, order[:3], strict=True):
            assert text.split(":")[0].endswith(f" number {place}")
            assert several or "\ncost=" in text
        InfluenceTreeDisplay.from_estimator(inspector, *rows)
    draw(display.figure_)


def test_diagnostics_of_a_regression_have_a_display_of_their_own():
    inspector = RegressionInfluence(LinearRegression()).fit(X, Y)
    with pytest.raises(TypeError, match="DeletionDiagnostics or InfluenceFunctions"):
        InfluenceDisplay.from_estimator(inspector)
