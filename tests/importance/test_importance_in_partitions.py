"""Importance of features from rows in partitions: that of the same rows in memory."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.importance import SAGE, PermutationImportance
from sklearn_interpret.partitions import RowBatches
from tests.importance.data import labels_of, table
from tests.partitions import in_batches

EXACT = {"rtol": 1e-12, "atol": 1e-12}
X, Y = table(300)
WEIGHTS = np.random.default_rng(0).integers(0, 4, 300) / 3
LINEAR = LinearRegression().fit(X, Y)
# Rows of the other class have next to no probability.
SURE = LogisticRegression(C=30).fit(X, labels_of(X[:, 0], 2))
FOREST = RandomForestClassifier(3, max_depth=4, random_state=0).fit(X, labels_of(Y, 3))


def assert_same(inspector, X, y, weights=None, n_partitions=7):
    """The fit of partitions gives the results of the fit in memory."""
    expected = vars(inspector.fit(X, y, sample_weight=weights)).copy()
    found = vars(inspector.fit(in_batches(X, y, weights, n_partitions)))
    assert np.abs(found["importances_"]).max() > 0.01
    for name in ("importances_", "feature_importances_"):
        assert_allclose(found[name], expected[name], err_msg=name, **EXACT)
    for name, bunch in expected.get("results_", {}).items():
        for key, values in bunch.items():
            here = found["results_"][name][key]
            assert_allclose(here, values, err_msg=f"{name}, {key}", **EXACT)
    assert found["player_names_"] == expected["player_names_"]


def permutation(model, **parameters):
    given = {"n_repeats": 3, "random_state": 0, **parameters}
    return PermutationImportance(FrozenEstimator(model), **given)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("n_partitions", [1, 2, 64])
def test_permutations_in_any_number_of_partitions(n_partitions, weights):
    assert_same(permutation(LINEAR), X, Y, weights, n_partitions)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    ("model", "y", "parameters"),
    [
        (LINEAR, Y, {"comparison": "ratio"}),
        (LINEAR, Y, {"method": "split", "feature_groups": {"pair": [3, 0]}}),
        (LINEAR, Y, {"scoring": ["neg_mean_absolute_error", "r2"]}),
        (LINEAR, Y, {"scoring": {"error": mean_absolute_error}}),
        (FOREST, labels_of(Y, 3), {}),
        (FOREST, labels_of(Y, 3), {"scoring": ["neg_log_loss", "accuracy"]}),
        (SURE, labels_of(Y, 2), {"scoring": ["accuracy", "neg_log_loss"]}),
    ],
)
def test_permutations(model, y, parameters, weights):
    assert_same(permutation(model, **parameters), X, y, weights)


def test_several_targets_and_losses_of_counts():
    targets = np.column_stack([Y, X[:, 3] ** 2])
    assert_same(permutation(LinearRegression().fit(X, targets)), X, targets)
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 0] / 2)) + 1.0
    scoring = ["neg_mean_poisson_deviance", "neg_mean_squared_log_error"]
    model = PoissonRegressor().fit(X, counts)
    assert_same(permutation(model, scoring=scoring), X, counts)


def mixed(n_rows=300):
    """Numbers, texts, categories, and a model that uses all."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows).astype(np.float32),
            "count": rng.integers(0, 300, n_rows),
            "town": rng.choice(["Aalen", "Ulm", "Wien"], n_rows),
            "kind": pd.Categorical(rng.choice(list("xyz"), n_rows)),
        }
    )
    y = X["a"] + (X["town"] == "Ulm") * X["count"] / 100 + (X["kind"] == "y")
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["town", "kind"]), remainder="passthrough"
    )
    return X, y.to_numpy(), encoder


def test_permutations_of_frames_with_categories():
    X, y, encoder = mixed()
    model = make_pipeline(encoder, LinearRegression()).fit(X, y)
    groups = {"place": ["town", "kind"]}
    assert_same(permutation(model, feature_groups=groups, n_repeats=2), X, y, WEIGHTS)


def test_permutations_of_polars_frames_and_sparse_matrices():
    frame = pl.DataFrame(X[:100], schema=list("abcd"))
    model = LinearRegression().fit(frame, Y[:100])

    def parts():
        for part in (slice(0, 40), slice(40, 40), slice(40, 100)):
            yield frame[part], Y[part]

    found = permutation(model).fit(RowBatches(parts)).importances_
    expected = permutation(model).fit(frame, Y[:100]).importances_
    assert_allclose(found, expected, **EXACT)
    few = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    model = LinearRegression().fit(few, Y)
    assert_same(permutation(model), few, Y)


def test_partitions_of_other_dtypes_and_levels():
    """Permuted values have the dtype, and the categories, of all partitions."""
    X, y, encoder = mixed()
    model = make_pipeline(encoder, LinearRegression()).fit(X, y)
    first, last = X.iloc[:150].copy(), X.iloc[150:].copy()
    first = first[first["kind"] != "z"]
    first["kind"] = first["kind"].cat.remove_categories("z")
    last["count"] += 0.5
    whole = pd.concat([first.astype({"kind": X["kind"].dtype}), last])
    batches = RowBatches(lambda: iter([(first, y[first.index]), (last, y[150:])]))
    inspector = permutation(model)
    expected = inspector.fit(whole, y[whole.index]).importances_
    assert_allclose(inspector.fit(batches).importances_, expected, **EXACT)


def test_little_memory_takes_more_passes():
    passes = []

    def parts():
        passes.append(None)
        return iter([(X[:100], Y[:100]), (X[100:], Y[100:])])

    one = permutation(LINEAR).fit(RowBatches(parts)).importances_
    assert len(passes) == 4  # names, weights, columns, losses
    passes.clear()
    with config_context(working_memory=0.03):  # six permutations of 300 numbers
        other = permutation(LINEAR).fit(RowBatches(parts)).importances_
    assert len(passes) == 2 + 2 * 3
    assert_allclose(one, other, **EXACT)


def sage(model, background=X[:20], **parameters):
    return SAGE(FrozenEstimator(model), background=background, **parameters)


def squares(y, predictions):
    return (y - predictions) ** 2


BOOSTING = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y)


class Sent(RowBatches):
    """Batches of which another process could be in charge."""

    def map_reduce(self, function, merge, columns=None):
        sent = pickle.dumps((function, merge))
        assert len(sent) < 4 * X.nbytes  # permutations are three times the rows
        return super().map_reduce(*pickle.loads(sent), columns)


@pytest.mark.parametrize("inspector", [permutation(LINEAR), sage(BOOSTING)])
def test_functions_of_partitions_can_be_sent(inspector):
    def parts():
        return iter([(X[:100], Y[:100]), (X[100:], Y[100:])])

    found = inspector.fit(Sent(parts)).importances_
    assert_allclose(found, inspector.fit(X, Y).importances_, **EXACT)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("n_partitions", [1, 2, 64])
def test_sage_in_any_number_of_partitions(n_partitions, weights):
    assert_same(sage(BOOSTING), X, Y, weights, n_partitions)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    ("model", "y", "parameters"),
    [
        (LINEAR, Y, {"feature_groups": {"pair": [3, 0]}}),
        (BOOSTING, Y, {"loss": squares, "n_jobs": 1}),
        (FOREST, labels_of(Y, 3), {}),
        (FOREST, labels_of(Y, 3), {"loss": "brier"}),
        (KNeighborsRegressor().fit(X, Y), Y, {"method": "exact"}),
    ],
)
def test_sage(model, y, parameters, weights):
    assert_same(sage(model, **parameters), X, y, weights)


def test_sage_of_frames_with_categories():
    X, y, encoder = mixed(100)
    model = make_pipeline(encoder, LinearRegression()).fit(X, y)
    assert_same(sage(model, X[:5]), X, y)


def test_components_of_many_features():
    X, y = table(200, 12)
    model = LinearRegression().fit(X, y)
    assert_same(sage(model, X[:5]), X, y)
    with pytest.raises(ValueError, match="at most 10 features"):
        sage(model, X[:5], loss=squares).fit(in_batches(X, y, None, 2))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "sampling"}, "sampling.*needs all rows in memory.*exact"),
        ({"background": None}, "background=None"),
    ],
)
def test_sage_that_needs_all_rows_in_memory(parameters, message):
    rows, y = table(200, 5)  # of fewer features, all coalitions are evaluated
    model = GradientBoostingRegressor(n_estimators=3).fit(rows, y)
    inspector = sage(model, rows[:5]).set_params(loss=squares, **parameters)
    with pytest.raises(ValueError, match=message):
        inspector.fit(in_batches(rows, y, None, 2))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"conditional": True}, "conditional=True .* False"),
        ({"method": "exact"}, "method='exact' .* 'permutation' and 'split'"),
        ({"scoring": "neg_max_error"}, "'neg_max_error' .* neg_mean_squared_error"),
        ({"scoring": lambda model, X, y: 0.0}, "lambda.* mean over rows"),
        ({"scoring": lambda y, predictions: 0.0}, "lambda.* mean over rows"),
    ],
)
def test_what_needs_all_rows_in_memory(parameters, message):
    with pytest.raises(ValueError, match=message):
        permutation(LINEAR, **parameters).fit(in_batches(X, Y, None, 2))


@pytest.mark.parametrize("inspector", [permutation(LINEAR), sage(LINEAR)])
def test_targets_are_needed(inspector):
    name = type(inspector).__name__
    with pytest.raises(ValueError, match=f"{name} requires y"):
        inspector.fit(in_batches(X, None, None, 2))


def test_a_row_and_a_constant_have_no_permutation_importance():
    with pytest.raises(ValueError, match="n_samples = 1"):
        permutation(LINEAR).fit(in_batches(X[:1], Y[:1], None, 2))
    with pytest.raises(ValueError, match="one value"):
        permutation(LINEAR).fit(in_batches(X, np.ones(300), None, 2))
