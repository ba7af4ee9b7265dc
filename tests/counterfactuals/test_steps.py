"""Numbers change in steps, and hold when they are written down."""

import io

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._core.search.decimal_grids import DecimalGrid
from sklearn_interpret._model.rows.number_format import decimal_text
from sklearn_interpret.counterfactuals import (
    CounterfactualDisplay,
    ExactCounterfactual,
    GrowingSpheres,
    WachterCounterfactual,
)
from sklearn_interpret.exceptions import NoCounterfactualWarning
from tests.figures import all_texts

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=300)
COLUMNS = {
    "whole": (RNG.integers(0, 90, 300).astype(float), 1),
    "integer": (RNG.integers(0, 90, 300), 1),
    "tenths": (NORMAL.round(1), 0.1),
    "single_tenths": (NORMAL.round(1).astype(np.float32), 0.1),
    "measured": (NORMAL, 1e-5),
    "single": (NORMAL.astype(np.float32), 1e-5),
    "cents": (np.round(100 + 10 * NORMAL, 2), 0.01),
    "offset": (1e6 + NORMAL, 1e-4),
    "single_offset": ((1e6 + NORMAL).astype(np.float32), 0.1),
    "tiny": (1e-9 * NORMAL, 1e-14),
    "huge": (1e12 * NORMAL, 1e7),
    "huge_whole": (np.rint(1e12 * NORMAL), 1),
    "magnitudes": (np.exp(5 * NORMAL), 1e-4),
    "too_large": (1e300 * NORMAL, 0),
    "too_small": (1e-300 * NORMAL, 0),
}
SIGNED = NORMAL > 0


def steps_of(table, **parameters):
    """The steps that a search takes for the columns of a table."""
    model = FrozenEstimator(DecisionTreeClassifier(max_depth=1).fit(table, SIGNED))
    search = ExactCounterfactual(model, permitted_range="any", **parameters)
    return search.fit(table)._actionability.grid.steps


@pytest.mark.thorough
def test_steps_of_columns():
    doubles = {
        name: column for name, (column, _) in COLUMNS.items() if column.max() < 1e30
    }
    table = pd.DataFrame(doubles)
    expected = [COLUMNS[name][1] for name in table]
    assert_array_equal(steps_of(table), expected)
    exact = [COLUMNS[name][1] if name == "integer" else 0 for name in table]
    assert_array_equal(steps_of(table, steps="exact"), exact)
    expected[0] = 2.5
    assert_array_equal(steps_of(table, steps={"whole": 2.5}), expected)


@pytest.mark.parametrize("name", ["too_large", "too_small"])
def test_units_without_decimals_stay_real(name):
    column, step = COLUMNS[name]
    known = np.column_stack([column, NORMAL])
    search = WachterCounterfactual(
        FrozenEstimator(LogisticRegression().fit(known * 0, SIGNED))
    )
    assert search.fit(known)._actionability.grid.steps[0] == step


@pytest.mark.parametrize("name", [n for n, (_, step) in COLUMNS.items() if step])
def test_multiples_are_the_nearest_numbers_to_their_decimals(name):
    column, step = COLUMNS[name]
    grid = DecimalGrid.of([step], [column.dtype])
    values = np.float64(column)
    nearest, down, up = (
        grid.nearest(values, 0),
        grid.down(values, 0),
        grid.up(values, 0),
    )
    assert (down <= values).all()
    assert (values <= up).all()
    assert ((nearest == down) | (nearest == up)).all()
    between = up > down
    assert_allclose((up - down)[between], step, rtol=0.5 if "single" in name else 1e-2)
    for number in nearest.astype(column.dtype).tolist()[:50]:
        text = str(np.array(number, column.dtype)[()])
        decimals = len(f"{step:.14f}".rstrip("0").partition(".")[2])
        assert abs(float(text) - round(float(text), decimals)) <= 1e-9 * step


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ({"whole": 0}, "steps has 0 for 'whole'; positive numbers"),
        ({"integer": 0.5}, "'integer', a feature of whole numbers"),
        ({"level": 1}, "'level', a feature of levels"),
        ({"wole": 1}, "steps"),
        ("all", "steps"),
    ],
)
def test_bad_steps(steps, words):
    table = pd.DataFrame({name: COLUMNS[name][0] for name in ("whole", "integer")})
    table["level"] = np.where(SIGNED, "a", "b")
    model = DummyClassifier().fit(table, SIGNED)
    with pytest.raises(ValueError, match=words):
        GrowingSpheres(FrozenEstimator(model), steps=steps).fit(table)


NAMES = ["whole", "tenths", "single", "offset", "tiny", "huge"]
TABLE = pd.DataFrame({name: COLUMNS[name][0] for name in NAMES})
TABLE["tenths"] = np.random.default_rng(1).permutation(TABLE["tenths"])
TABLE["single"] = np.random.default_rng(2).permutation(TABLE["single"])
SCORE = TABLE["whole"] / 30 + TABLE["tenths"] + TABLE["single"] + NORMAL
LABELS = (SCORE.median() < SCORE).astype(int)
MODELS = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(5, max_depth=5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}


def read_again(table):
    """A table after it was written as CSV."""
    again = pd.read_csv(io.StringIO(table.to_csv(index=False)))
    return again.astype(TABLE.dtypes)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("method", [ExactCounterfactual, WachterCounterfactual])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_found_holds_when_it_is_written(name, method):
    model = MODELS[name].fit(TABLE, LABELS)
    explanation = method(FrozenEstimator(model)).fit(TABLE).explain(TABLE[:12])
    assert (explanation.status == "found").all()
    own = model.predict(TABLE[:12])
    assert (model.predict(read_again(explanation.rows)) != own).all()
    frame = explanation.to_frame()
    changes = frame.to_csv(index=False)
    changed = TABLE[:12].copy()
    for _, change in pd.read_csv(io.StringIO(changes)).iterrows():
        changed.loc[change["row"], change["feature"]] = change["after"]
    assert (model.predict(read_again(changed)) != own).all()
    # Prose and figures have all digits.
    display = CounterfactualDisplay.from_explanation(explanation, row=0).plot()
    first = frame[frame["row"] == 0]
    texts = [text for text in all_texts(display.figure_) if " → " in text]
    texts.remove(display.title_.get_text().replace("\n", ""))
    ends = [text.partition(" → ")[2].replace("\N{MINUS SIGN}", "-") for text in texts]
    assert sorted(map(float, ends)) == sorted(first["after"])
    for feature, after in zip(first["feature"], first["after"], strict=True):
        assert f"{feature}: " in explanation[0]._repr_html_()
        assert f"{decimal_text(after)}" in explanation[0]._repr_html_()


def test_the_threshold_of_a_tree_is_passed_by_a_whole_step():
    known = np.column_stack([np.repeat([12.0, 14.0, 15.0, 17.0], 5)])
    model = DecisionTreeRegressor().fit(known, known[:, 0])
    search = ExactCounterfactual(FrozenEstimator(model), desired=(15, None)).fit(known)
    found = search.explain(np.array([[14.0], [13.7]]))
    assert_array_equal(found.rows, [[15.0], [15.0]])
    assert found.optimal.all()
    real = search.set_params(steps="exact").fit(known).explain(known[5:6])
    assert_allclose(real.rows, [[14.5]], rtol=1e-6)
    assert real.rows[0, 0] > 14.5


def best_on_grid(model, row, steps, costs, least):
    """The least cost of two numbers, one at each multiple near, at which f >= least."""
    slopes, best = model.coef_, np.inf
    for first in np.append(row[0], np.arange(-40, 41) * steps[0]):
        second = (least - model.intercept_ - slopes[0] * first) / slopes[1]
        near = np.rint(second / steps[1]) + np.arange(-2, 3)
        for number in np.append(near * steps[1], row[1]):
            if model.intercept_ + slopes @ [first, number] >= least - 1e-12:
                cost = np.abs([first, number] - row) @ costs
                best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(4))
def test_linear_models_are_within_a_step_of_the_best(seed):
    rng = np.random.default_rng(seed)
    known = np.column_stack([rng.integers(-40, 41, 200) / 10, rng.normal(size=200)])
    model = LinearRegression().fit(known, known @ rng.uniform(0.5, 2, 2))
    costs = rng.uniform(0.5, 2, 2)
    least = float(np.quantile(model.predict(known), 0.8))
    search = ExactCounterfactual(
        FrozenEstimator(model),
        desired=(least, None),
        distance=dict(enumerate(costs)),
        permitted_range="any",
    ).fit(known)
    steps = search._actionability.grid.steps
    assert_array_equal(steps, [0.1, 1e-5])
    found = search.explain(known[:8])
    for i in np.flatnonzero(found.status == "found"):
        best = best_on_grid(model, known[i], steps, costs, least)
        assert found.lower_bounds[i] <= best * (1 + 1e-9)
        assert best * (1 - 1e-9) <= found.distances[i] < best + (steps * costs)[1]
    assert found.optimal[found.status == "found"].all()


def test_an_interval_that_few_multiples_reach():
    rng = np.random.default_rng(0)
    known = rng.normal(size=(200, 3))
    model = LinearRegression().fit(known, known @ [1.0, -2.0, 0.5])
    search = ExactCounterfactual(
        FrozenEstimator(model), desired=(0.7, 0.7 + 5e-6), distance="std"
    ).fit(known)
    found = search.explain(known[:4])
    assert (found.status == "found").all()
    answers = model.predict(found.rows)
    assert ((answers >= 0.7) & (answers <= 0.7 + 5e-6)).all()
    multiples = search._actionability.grid.nearest(found.rows)
    assert_array_equal(found.rows[found.changed], multiples[found.changed])
    even = LinearRegression().fit(known, known @ [1.0, -2.0, 0.5])
    even.coef_, even.intercept_ = np.array([1.0, -2.0, 1.0]), 0.0
    search = ExactCounterfactual(
        FrozenEstimator(even), desired=(0.2, 0.8), steps={0: 1, 1: 1, 2: 1}
    ).fit(known)
    with pytest.warns(NoCounterfactualWarning):
        assert search.explain(np.ones((1, 3))).status == ["impossible"]


@pytest.mark.parametrize(
    "method", [ExactCounterfactual, GrowingSpheres, WachterCounterfactual]
)
def test_a_value_between_multiples_may_stay_and_ends_are_rounded_inward(method):
    rng = np.random.default_rng(0)
    known = rng.integers(0, 100, size=(200, 2)) / 10
    model = LogisticRegression().fit(known, known.sum(axis=1) > 10)
    search = method(
        FrozenEstimator(model),
        permitted_range={0: (0.0, 8.77)},
        direction={0: "increase"},
        steps={1: 0.25},
        distance={0: 1.0, 1: 1.4},
    ).fit(known)
    rows = np.array([[4.5234, 3.13], [8.7512, 0.11], [1.2345, 7.77]])
    found = search.explain(rows)
    assert (found.status == "found").all()
    first, second = found.rows.T
    stays = found.rows == rows
    assert_array_equal(np.rint(first * 10) / 10 == first, ~stays[:, 0])
    assert ((np.rint(second * 4) / 4 == second) | stays[:, 1]).all()
    assert (first >= rows[:, 0]).all()
    assert (first[~stays[:, 0]] <= 8.7).all()
    assert stays[1, 0]
