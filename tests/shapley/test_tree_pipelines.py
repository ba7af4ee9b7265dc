"""TreeSHAP on the raw columns of tables, behind steps that work column by column."""

from itertools import chain, combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from sklearn_interpret.shapley import TreeSHAP
from tests.references.shapley import enumerated

pd = pytest.importorskip("pandas")

SEED = {"random_state": 0}


def people(n_rows=120):
    """Numbers with gaps and words with gaps, and a target of all of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows).astype(float),
            "town": rng.choice(["Bern", "Chur", "Genf", "Thun"], n_rows),
            "height": rng.normal(170, 10, n_rows).round(),
            "colour": rng.choice(["red", "green"], n_rows),
        }
    )
    y = frame["age"] * (frame["town"] == "Chur") + (frame["colour"] == "red") * 20
    y += (frame["height"] > 170) * 10 + rng.normal(size=n_rows)
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "town"] = None
    return frame, y.to_numpy()


def one_hot():
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "height"]),
        (OneHotEncoder(handle_unknown="ignore"), ["town", "colour"]),
    )


PIPELINES = {
    "one-hot forest": make_pipeline(
        one_hot(), RandomForestRegressor(5, max_depth=4, **SEED)
    ),
    "indicators, selected": make_pipeline(
        ColumnTransformer(
            [
                ("number", SimpleImputer(add_indicator=True), ["height", "age"]),
                ("words", OneHotEncoder(drop="first"), ["colour", "town"]),
            ]
        ),
        SelectKBest(f_regression, k=4),
        RandomForestRegressor(5, max_depth=4, **SEED),
    ),
    "ordinal, HistGradientBoosting": make_pipeline(
        make_column_transformer(
            (OrdinalEncoder(), ["town", "colour"]), remainder="passthrough"
        ),
        HistGradientBoostingRegressor(
            max_iter=6, min_samples_leaf=5, categorical_features=[0, 1]
        ),
    ),
}


def frame_truth(ask, rows, background, members, order=1):
    """Values where absent columns of a frame come from the background's rows."""
    players = range(len(members))
    coalitions = [
        frozenset(chosen)
        for size in range(len(members) + 1)
        for chosen in combinations(players, size)
    ]
    values = []
    for i in range(len(rows)):
        tables = [background.copy() for _ in coalitions]
        for mixed, coalition in zip(tables, coalitions, strict=True):
            for column in chain.from_iterable(members[j] for j in coalition):
                one = rows[column].iloc[[i] * len(background)]
                mixed[column] = one.set_axis(background.index)
        # One call of the model: a call for each coalition takes seconds.
        answers = np.asarray(ask(pd.concat(tables)))
        means = answers.reshape(len(coalitions), len(background)).mean(axis=1)
        game = dict(zip(coalitions, means, strict=True))
        values.append(enumerated(game.get, len(members), order))
    return np.array(values)


def singles(frame):
    return [[column] for column in frame.columns]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", PIPELINES)
def test_raw_columns_are_the_players(name, order):
    X, y = people()
    model = PIPELINES[name].fit(X, y)
    rows, background = X[:5], X[30:42]
    inspector = TreeSHAP(FrozenEstimator(model)).fit(background)
    expected = frame_truth(model.predict, rows, background, singles(X), order)
    if order == 1:
        explanation = inspector.explain(rows)
        assert_allclose(explanation.values, expected, atol=1e-10)
        assert explanation.feature_names == tuple(X.columns)
        assert explanation.data is rows or explanation.data.equals(rows)
    else:
        pairs = inspector.interaction_values(rows)
        assert_allclose(pairs, expected, atol=1e-10)


def test_groups_of_raw_columns():
    X, y = people()
    model = PIPELINES["one-hot forest"].fit(X, y)
    groups = {"who": ["age", "town"]}
    inspector = TreeSHAP(FrozenEstimator(model), feature_groups=groups).fit(X[30:42])
    members = [["age", "town"], ["height"], ["colour"]]
    expected = frame_truth(model.predict, X[:4], X[30:42], members)
    explanation = inspector.explain(X[:4])
    assert_allclose(explanation.values, expected, atol=1e-10)
    assert explanation.feature_names == ("who", "height", "colour")
    assert explanation.columns == ((0, 1), (2,), (3,))
    names = inspector.get_feature_names_out().tolist()
    assert names == ["who", "height", "colour"]
    assert inspector.feature_importances_.shape == (4,)


@pytest.mark.parametrize("name", PIPELINES)
def test_path_dependent_values_add_up_on_raw_columns(name):
    X, y = people()
    model = PIPELINES[name].fit(X, y)
    inspector = TreeSHAP(FrozenEstimator(model), perturbation="path_dependent").fit(X)
    explanation = inspector.explain(X)
    error = np.abs(explanation.additivity_error()).max()
    assert error <= 1e-12 * np.abs(explanation.predictions).max()
    # What the pipeline's own steps make of the rows, its columns as groups.
    inner = make_pipeline(*[step for _, step in model.steps[:-1]])
    derived = np.asarray(inner.transform(X), dtype=np.float64)
    columns = inspector._trees.model.columns
    groups = {
        name: np.flatnonzero(columns == j).tolist()
        for j, name in enumerate(X.columns)
        if (columns == j).any()
    }
    on_derived = TreeSHAP(
        FrozenEstimator(model[-1]), perturbation="path_dependent", feature_groups=groups
    ).fit(derived)
    found = on_derived.explain(derived)
    for name, values in zip(found.feature_names, found.values.T, strict=True):
        place = X.columns.get_loc(name)
        assert_allclose(explanation.values[:, place], values, atol=1e-12)


@pytest.mark.parametrize("kind", [RandomForestRegressor, GradientBoostingClassifier])
def test_steps_that_work_in_place_leave_the_rows_as_they_are(kind):
    before = np.random.default_rng(0).normal(1, 3, size=(40, 3))
    rows, target = before.copy(), (before[:, 0] > 1).astype(int)
    in_place, copying = (
        make_pipeline(StandardScaler(copy=copy), kind(n_estimators=4, random_state=0))
        for copy in (False, True)
    )
    found, expected = (
        TreeSHAP(FrozenEstimator(pipeline.fit(before.copy(), target)))
        .fit(rows)
        .explain(rows)
        for pipeline in (in_place, copying)
    )
    assert_array_equal(rows, before)
    assert_allclose(found.values, expected.values, atol=1e-12)
    assert_allclose(found.predictions, expected.predictions)
