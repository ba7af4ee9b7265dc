"""BreakDown: steps along one order, held against the same told plainly."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley import (
    BreakDown,
    BreakDownExplanation,
    ShapleyWaterfallDisplay,
)
from tests.figures import row_names
from tests.references.break_down import break_down
from tests.references.models import frozen

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = 3 * X[:, 0] * X[:, 1] + X[:, 2] + RNG.normal(size=60) / 9
WEIGHTS = RNG.uniform(0.1, 3, 60)
FOREST = RandomForestRegressor(5, max_depth=6, random_state=0).fit(X, Y)
SINGLES = [(j,) for j in range(4)]
modes = pytest.mark.parametrize("interactions", [False, True], ids=["alone", "pairs"])


def inspected(model, rows=X, **params):
    """An inspector of a fitted model with some rows as its background."""
    weights = params.pop("sample_weight", None)
    params = {"subsample": None, **params}
    return BreakDown(FrozenEstimator(model), **params).fit(rows, sample_weight=weights)


def assert_told(explanation, row, order, added):
    """A row has these steps, in this order, of these sizes; pairs share equally."""
    steps = explanation.steps(row)
    # What adds nothing comes in whatever order.
    real = [t for t, size in enumerate(np.abs(added).max(axis=1)) if size > 1e-12]
    found = [steps[t] for t in real]
    assert found == [tuple(order[t]) for t in real]
    values = explanation.values[row].reshape(-1, added.shape[1])
    for t in real:
        for player in order[t]:
            share = added[t] / len(order[t])
            assert_allclose(values[player], share, atol=1e-12)


# The quantity


@modes
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("groups", [None, {"g": [1, 3]}], ids=["alone", "groups"])
def test_greedy_orders(interactions, weights, groups):
    inspector = inspected(
        FOREST, interactions=interactions, feature_groups=groups, sample_weight=weights
    )
    explanation = inspector.explain(X[:12])
    for row in range(12):
        told = break_down(
            lambda rows: FOREST.predict(rows)[:, None],
            X[row],
            X,
            weights,
            members=inspector.features_,
            interactions=interactions,
        )
        assert_told(explanation, row, *told)
    if interactions:
        last = len(inspector.features_) - 1
        assert (explanation.step_numbers.max(axis=1) < last).any()
    base = np.average(FOREST.predict(X), weights=weights)
    assert_allclose(inspector.base_values_, base)
    assert np.abs(explanation.additivity_error()).max() < 1e-12


@pytest.mark.parametrize(
    ("order", "path"),
    [
        ([2, 0, 3, 1], [(2,), (0,), (3,), (1,)]),
        ([3, (2, 0), 1], [(3,), (0, 2), (1,)]),
        (np.array([1, 2, 3, 0]), [(1,), (2,), (3,), (0,)]),
        (((0, 1), (2, 3)), [(0, 1), (2, 3)]),
    ],
)
def test_given_orders(order, path):
    explanation = inspected(FOREST, order=order).explain(X[:3])
    for row in range(3):
        assert explanation.steps(row) == path
        told = break_down(
            lambda rows: FOREST.predict(rows)[:, None],
            X[row],
            X,
            None,
            path,
            members=SINGLES,
            interactions=False,
        )
        assert_told(explanation, row, *told)


def test_orders_by_name():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = RandomForestRegressor(3, max_depth=3, random_state=0).fit(frame, Y)
    groups = {"both": ["a", "d"]}
    inspector = inspected(model, frame, order=["c", "both", "b"], feature_groups=groups)
    explanation = inspector.explain(frame[:2])
    assert explanation.step_names(0) == ["c", "both", "b"]
    assert explanation.columns == ((0, 3), (1,), (2,))
    pair = inspected(model, frame, order=[("both", "b"), 2], feature_groups=groups)
    assert pair.explain(frame[:2]).step_names(1) == ["both:b", "c"]


@modes
def test_additive_models_have_no_pairs(interactions):
    model = LinearRegression().fit(X, Y)
    explanation = inspected(model, interactions=interactions).explain(X)
    assert_allclose(explanation.values, model.coef_ * (X - X.mean(axis=0)), atol=1e-12)
    assert (np.sort(explanation.step_numbers, axis=1) == np.arange(4)).all()


def test_a_pure_interaction_is_one_step():
    """Neither sign tells anything alone."""
    signs = np.array([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 5]])
    model = frozen(lambda a, b, c: a * b + c / 10, signs)
    inspector = BreakDown(model, interactions=True).fit(signs)
    explanation = inspector.explain(signs[:1])
    assert explanation.step_names(0) == ["x0:x1", "x2"]
    assert_allclose(explanation.values[0], [0.5, 0.5, -0.125])


@modes
def test_symmetric_features_come_in_by_position(interactions):
    model = frozen(lambda a, b, c: a + b + 2 * c, X[:, :3])
    rows = X[:, [0, 0, 2]]
    inspector = BreakDown(model, interactions=interactions).fit(rows)
    numbers = inspector.explain(rows).step_numbers
    assert (numbers[:, 0] < numbers[:, 1]).all()


@modes
def test_several_outputs_have_one_order(interactions):
    y = np.digitize(Y, [-0.5, 0.5])
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    explanation = inspected(model, interactions=interactions).explain(X[:5])
    assert explanation.values.shape == (5, 4, 3)
    for row in range(5):
        told = break_down(
            model.predict_proba,
            X[row],
            X,
            None,
            members=SINGLES,
            interactions=interactions,
        )
        assert_told(explanation, row, *told)
    one = inspected(model, interactions=interactions, target=2).explain(X[:5])
    told = break_down(
        lambda rows: model.predict_proba(rows)[:, 2:],
        X[0],
        X,
        None,
        members=SINGLES,
        interactions=interactions,
    )
    assert_told(one, 0, *told)


def test_links():
    model = LogisticRegression().fit(X, Y > 0)
    inspector = inspected(model, link="logit", order=[3, 2, 1, 0])
    explanation = inspector.explain(X[:2])
    mixed = X.copy()
    mixed[:, 3] = X[0, 3]
    means = [model.predict_proba(rows)[:, 1].mean() for rows in (X, mixed)]
    assert_allclose(explanation.values[0, 3], np.diff(logit(means))[0])
    assert_allclose(explanation.predictions, model.decision_function(X[:2]))


# Rows


@pytest.mark.thorough(after=1)
@modes
def test_a_row_alone_gets_the_same_bits(interactions):
    """Also with few of its features active, by two workers, and from a copy."""
    rows = X.copy()
    rows[::3, 1] = 0
    background = X.copy()
    background[:, 1] = 0
    inspector = inspected(FOREST, background, interactions=interactions)
    together = inspector.explain(rows)
    some = range(0, len(rows), 5)
    parts = [inspector.explain(rows[[i]]) for i in some]
    workers = inspected(FOREST, background, interactions=interactions, n_jobs=2)
    copy = pickle.loads(pickle.dumps(inspector))
    for name in ("values", "step_numbers"):
        expected = getattr(together, name)
        alone = np.concatenate([getattr(part, name) for part in parts])
        assert_array_equal(alone, expected[some])
        backwards = getattr(inspector.explain(rows[::-1]), name)
        assert_array_equal(backwards[::-1], expected)
        assert_array_equal(getattr(workers.explain(rows), name), expected)
        assert_array_equal(getattr(copy.explain(rows), name), expected)
    assert_array_equal(inspector.transform(rows), together.values)
    assert_array_equal(together.values[::3, 1], 0)


@modes
def test_small_tables(interactions):
    """A row that is the background, one column, and columns that do not vary."""
    same = inspected(FOREST, X[:1], interactions=interactions)
    explanation = same.explain(X[:2])
    assert_array_equal(explanation.values[0], 0)
    assert_array_equal(explanation.step_numbers[0], range(4))
    assert_allclose(explanation.additivity_error(), 0, atol=1e-14)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X[:, :1], Y)
    single = inspected(model, X[:, :1], interactions=interactions)
    found = single.explain(X[:5, :1])
    expected = model.predict(X[:5, :1]) - model.predict(X[:, :1]).mean()
    assert_allclose(found.values[:, 0], expected, atol=1e-12)


# The explanation and its picture


def test_rows_of_the_explanation_keep_their_steps():
    explanation = inspected(FOREST, interactions=True).explain(X[:6])
    part = explanation[[4, 1]]
    assert isinstance(part, BreakDownExplanation)
    assert part.steps(0) == explanation.steps(4)
    assert part.step_names(1) == explanation.step_names(1)


def test_explanations_by_hand():
    plain = BreakDownExplanation([[1.0, 2.0]], [0.0])
    assert plain.steps(0) == [(0,), (1,)]
    for numbers in ([[0, 1, 2]], [[0.5, 1.0]], [0, 1]):
        with pytest.raises(ValueError, match="step_numbers has the shape"):
            BreakDownExplanation([[1.0, 2.0]], [0.0], step_numbers=numbers)


def waterfall(explanation, **params):
    return ShapleyWaterfallDisplay.from_explanation(explanation, **params)


def by_hand():
    return BreakDownExplanation(
        [[0.5, -2.0, 0.5, 3.0]],
        [1.0],
        data=np.array([[7.0, 8, 9, 6]]),
        feature_names=["age", "town", "sex", "height"],
        step_numbers=[[1, 0, 1, 2]],
    )


def test_the_waterfall_goes_down_in_the_order_of_the_steps():
    display = waterfall(by_hand())
    expected = ["1. town = 8", "2. age:sex = 7, 9", "3. height = 6"]
    assert row_names(display) == expected
    frame = display.to_frame()
    assert frame["feature"].tolist() == ["town", "age:sex", "height"]
    assert frame["value"].tolist() == [8, (7, 9), 6]
    assert_allclose(frame["contribution"], [-2, 1, 3])
    assert_allclose(frame["start"], [1, -1, 0])
    assert_allclose(frame["end"], [-1, 0, 3])
    tops = [path.vertices[:, 1].max() for path in display.downs_.get_paths()]
    assert tops == [pytest.approx(2.36)]  # the first step, down, is on top


def test_each_step_meets_the_next_one():
    """Thin lines stand where one step ends and the next one starts."""
    for explanation, meetings in (
        (by_hand(), [-1, 0]),
        (Explanation([[0.5, -2.0, 3.0]], [1.0]), [-0.5, 1.5]),
    ):
        display = waterfall(explanation)
        (lines,) = [
            artist
            for artist in display.ax_.collections
            if artist not in (display.ups_, display.downs_)
        ]
        found = [segment[0, 0] for segment in lines.get_segments()]
        assert_allclose(found, meetings)


def test_the_last_steps_are_the_others():
    display = waterfall(by_hand(), max_entries=2)
    assert row_names(display) == ["1. town = 8", "3 other features"]
    shown = [
        label.get_text().replace("\N{MINUS SIGN}", "-") for label in display.labels_
    ]
    assert [float(text) for text in shown] == [-2, 4]
    assert len(display.to_frame()) == 3


def test_a_fitted_inspector_is_drawn():
    inspector = inspected(FOREST, interactions=True)
    display = ShapleyWaterfallDisplay.from_estimator(inspector, X, row=3)
    steps = inspector.explain(X[3:4]).step_names(0)
    assert display.to_frame()["feature"].tolist() == steps
    assert display.to_frame()["end"].iloc[-1] == pytest.approx(FOREST.predict(X[3:4]))


# Bad input


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": "random"}, "order"),
        ({"order": [0, 1, 2]}, r"lacks 'x3'"),
        ({"order": [0, 1, 2, 2]}, "more than once"),
        ({"order": [(0, 1), 1, 2, 3]}, r"'x1', which is there twice"),
        ({"order": [0, 1, 2, 9]}, "position 9"),
        ({"order": ["a", 1, 2, 3]}, "no feature names"),
        ({"order": []}, "order is empty"),
        ({"order": np.array(3)}, "order=array.3. must be a list"),
        ({"order": [(0, 1, 2), 3]}, "of 3 features"),
        (
            {"order": [0, 1, 2, 3], "feature_groups": {"g": [0, 3]}},
            r"'x0', which is in a group",
        ),
        ({"order": [0, 1, 2, 3], "interactions": True}, "interactions=True looks"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        BreakDown(LinearRegression(), **params).fit(X, Y)
