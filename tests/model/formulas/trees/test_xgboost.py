"""XGBoost's trees, read and asked."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import NotFittedError

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.agreement import (
    assert_cover_adds_up,
    assert_read,
    assert_same_leaves,
    assert_same_outputs,
    telling_inputs,
)
from tests.model.formulas.trees.data import labels, several, table

xgboost = pytest.importorskip("xgboost")
VERSION = tuple(map(int, xgboost.__version__.split(".")[:2]))

# XGBoost before 3.3 has dropout with this booster alone.
DART = pytest.mark.filterwarnings("ignore:.*booster=dart. is deprecated:UserWarning")

# Margins are summed in single precision.
SINGLE = 1e-6


def assert_read_single(estimator, X, **kwargs):
    return assert_read(estimator, X, rtol=SINGLE, **kwargs)


def regressor(**parameters):
    parameters = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1, **parameters}
    return xgboost.XGBRegressor(**parameters)


def classifier(**parameters):
    parameters = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, **parameters}
    return xgboost.XGBClassifier(**parameters)


@DART
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"objective": "reg:absoluteerror"},
        {"objective": "reg:pseudohubererror"},
        {"objective": "reg:squaredlogerror"},
        {"objective": "count:poisson"},
        {"objective": "reg:gamma"},
        {"objective": "reg:tweedie", "base_score": 2.0},
        {"objective": "survival:cox"},
        {"objective": "reg:quantileerror", "quantile_alpha": 0.3},
        {"tree_method": "exact", "gamma": 1.0, "max_depth": 6},
        {"tree_method": "approx", "subsample": 0.5, "colsample_bynode": 0.5},
        {"grow_policy": "lossguide", "max_leaves": 7, "max_depth": 0},
        {"booster": "dart", "rate_drop": 0.5},
        {"num_parallel_tree": 3, "subsample": 0.5, "base_score": 0.7},
        {"min_child_weight": 0, "reg_lambda": 0, "max_depth": 10},
    ],
    ids=str,
)
def test_regressors(parameters, missing):
    X, y = table(missing=missing)
    estimator = regressor(**parameters).fit(X, np.abs(y) + 0.1)
    model = assert_read_single(estimator, X, infinite=True)
    assert model.cover == "hessian"
    assert model.raw_method == "predict"
    assert model.ensemble.strict
    assert model.ensemble.precision == np.float32


def test_logistic_regression():
    X, y = table()
    estimator = regressor(objective="reg:logistic").fit(X, 1 / (1 + np.exp(-y)))
    model = assert_read_single(estimator, X)
    assert model.response(model.raw(X)).shape == (len(X), 1)


@pytest.mark.parametrize(
    "objective", ["quantile", *(["expectile"] if VERSION >= (3, 3) else [])]
)
def test_levels_that_are_put_in_order_are_refused(objective):
    """Their margins cross; quantiles are sorted, expectiles are running sums."""
    X, y = table()
    levels = {f"{objective}_alpha": [0.4, 0.5, 0.6]}
    estimator = regressor(objective=f"reg:{objective}error", **levels).fit(X, y)
    if VERSION < (3, 4) and objective == "quantile":
        assert_read_single(estimator, X)
        return
    assert (np.diff(estimator.predict(X, output_margin=True)) < 0).any()
    assert (np.diff(estimator.predict(X)) >= 0).all()
    with pytest.raises(UnreadableModelError, match="of a row in order"):
        read_trees(estimator)


@DART
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters", [{}, {"base_score": 0.3}, {"booster": "dart", "rate_drop": 0.4}]
)
def test_classifiers(parameters, n_classes):
    X, y = table(missing=True)
    estimator = classifier(**parameters).fit(X, labels(y, n_classes))
    model = assert_read_single(estimator, X, infinite=True)
    assert model.response_method == "predict_proba"
    assert model.ensemble.n_outputs == (1 if n_classes == 2 else 3)


@pytest.mark.parametrize("objective", ["binary:logitraw", "binary:hinge"])
def test_objectives_without_a_link(objective):
    X, y = table()
    model = assert_read_single(classifier(objective=objective).fit(X, labels(y, 2)), X)
    assert model.link is None


def test_objective_of_the_users_own():
    def squares(y, margin):
        return margin - y, np.ones_like(y)

    X, y = table()
    model = assert_read_single(regressor(objective=squares).fit(X, y), X)
    assert model.link == "identity"


@pytest.mark.filterwarnings("ignore:`XGBRF.*` is deprecated:FutureWarning")
@pytest.mark.parametrize("kind", ["XGBRFRegressor", "XGBRFClassifier"])
def test_forests(kind):
    X, y = table()
    estimator = getattr(xgboost, kind)(n_estimators=6, max_depth=4, n_jobs=1)
    target = y if kind.endswith("Regressor") else labels(y, 3)
    assert_read_single(estimator.fit(X, target), X)


def test_ranker():
    X, y = table()
    estimator = xgboost.XGBRanker(n_estimators=5, n_jobs=1)
    estimator.fit(X, labels(y, 3), group=[50] * 4)
    assert_read_single(estimator, X)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_targets(strategy):
    X, y = table(missing=True)
    # The dropout of XGBoost before 3.4 takes no trees of several outputs.
    dropout = {"rate_drop": 0.5} if VERSION >= (3, 4) else {}
    estimator = regressor(multi_strategy=strategy, **dropout).fit(X, several(y))
    model = assert_read_single(estimator, X)
    assert model.ensemble.n_outputs == 2


def test_several_labels():
    X, y = table()
    Y = np.column_stack([labels(y, 2), X[:, 0] > 0]).astype(int)
    model = read_trees(classifier().fit(X, Y))
    estimator = classifier().fit(X, Y)
    assert_allclose(model.raw(X), model.raw_response(estimator, X), rtol=1e-5)
    assert_allclose(model.response(model.raw(X)), estimator.predict_proba(X), rtol=1e-5)


@pytest.mark.parametrize("missing", [False, True])
def test_leaves(missing):
    X, y = table(500, missing=missing)
    estimator = regressor(max_depth=8, min_child_weight=0).fit(X, y)
    model = read_trees(estimator)
    rows = telling_inputs(model, X, n_rows=2000, missing=True)
    for sent in (X, rows, rows.astype(np.float32)):
        assert_same_leaves(model, sent, estimator.apply(sent))


def test_whole_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(-(2**30), 2**30, size=(300, 2))
    estimator = regressor(min_child_weight=0).fit(X, rng.normal(size=300))
    assert_same_leaves(read_trees(estimator), X, estimator.apply(X))


def test_deep_trees():
    """A chain of splits, longer than training in single precision would grow it."""
    X, depth = np.arange(300.0)[:, None], 250
    estimator = regressor(n_estimators=1, max_depth=1).fit(X, X[:, 0])
    content = json.loads(estimator.get_booster().save_raw("json"))
    (tree,) = content["learner"]["gradient_booster"]["model"]["trees"]
    n_nodes, inner = 2 * depth + 1, np.arange(2 * depth + 1) % 2 == 0
    inner[-1] = False
    node = np.arange(n_nodes)
    tree["left_children"] = np.where(inner, node + 1, -1).tolist()
    tree["right_children"] = np.where(inner, node + 2, -1).tolist()
    tree["parents"] = [2**31 - 1, *((node[1:] - 1) // 2 * 2).tolist()]
    tree["split_conditions"] = np.where(inner, node / 2 + 0.5, node % 7 + 0.25).tolist()
    tree["default_left"] = [0] * n_nodes
    for name in ("split_indices", "split_type"):
        tree[name] = [0] * n_nodes
    for name in ("base_weights", "loss_changes"):
        tree[name] = [0.0] * n_nodes
    tree["sum_hessian"] = np.where(inner, depth - node // 2 + 1.0, 1.0).tolist()
    tree["tree_param"]["num_nodes"] = str(n_nodes)
    estimator.load_model(bytearray(json.dumps(content).encode()))
    model = assert_read_single(estimator, X)
    assert model.ensemble.depth.max() == depth
    assert_same_leaves(model, X, estimator.apply(X))


def test_pruned_nodes_are_left_out():
    """The exact method grows trees first and cuts them back afterwards."""
    X, y = table()
    estimator = regressor(tree_method="exact", gamma=5.0, max_depth=6).fit(X, y)
    model = assert_read_single(estimator, X)
    whole = regressor(tree_method="exact", gamma=0.0, max_depth=6).fit(X, y)
    assert model.ensemble.n_nodes < read_trees(whole).ensemble.n_nodes


def test_single_leaves():
    X, y = table()
    model = assert_read_single(regressor(gamma=1e9).fit(X, y), X)
    assert model.ensemble.n_nodes == model.ensemble.n_trees


def test_early_stopping():
    X, y = table()
    noise = np.random.default_rng(0).normal(size=100)
    estimator = regressor(n_estimators=50, early_stopping_rounds=2)
    estimator.fit(X, y, eval_set=[(X[:100], noise)], verbose=False)
    model = assert_read_single(estimator, X)
    assert model.ensemble.n_trees == estimator.best_iteration + 1 < 50


def test_training_that_goes_on():
    X, y = table()
    first = regressor(n_estimators=3).fit(X, y)
    estimator = regressor(n_estimators=4).fit(X, y, xgb_model=first.get_booster())
    assert assert_read_single(estimator, X).ensemble.n_trees == 7


def test_cover_is_the_sum_of_second_derivatives():
    X, y = table()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    estimator = regressor(n_estimators=2).fit(X, y, sample_weight=weights)
    trees = assert_read_single(estimator, X).ensemble
    leaves = trees.apply(X)
    for tree in range(2):
        reached = np.bincount(leaves[:, tree], weights, minlength=trees.n_nodes)
        at = np.unique(leaves[:, tree])
        assert_allclose(trees.cover[at], reached[at], rtol=1e-5)


def test_number_that_stands_for_missing():
    X, y = table(missing=True)
    X = np.where(np.isnan(X), -999.0, X)
    estimator = regressor(missing=-999.0).fit(X, y)
    rows = X.copy()
    rows[::3, 1] = np.nan
    assert_same_outputs(read_trees(estimator), estimator, rows, rtol=SINGLE)
    assert np.isnan(read_trees(estimator).encode(X)[X == -999]).all()


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
def test_what_a_sparse_matrix_does_not_hold_is_missing(kind):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 6)) < 0.3, np.round(rng.normal(size=(300, 6))), 0)
    X = kind(dense)
    estimator = regressor().fit(X, dense.sum(axis=1) + (dense == 0) @ np.arange(6))
    model = read_trees(estimator)
    assert_same_outputs(model, estimator, X, rtol=SINGLE)
    assert_same_outputs(model, estimator, dense, rtol=SINGLE)
    assert np.isnan(model.encode(X)).sum() == dense.size - X.nnz


def test_frames_of_numbers():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X, y = table(missing=True)
    frame = pd.DataFrame(X, columns=list("abcde")).astype({"c": "float32"})
    frame["a"] = frame["a"].astype("Int64")
    frame["e"] = frame["e"] > 0
    estimator = regressor().fit(frame, y)
    assert_read_single(estimator, frame)
    polars = pl.DataFrame({name: X[:, j] for j, name in enumerate("abcde")})
    estimator = regressor().fit(polars, y)
    assert_read_single(estimator, polars)


# Categories


def with_categories(n_rows=600, labels="vwxyz", seed=0):
    """Numbers, a column of categories, and a target that depends on both."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    code = rng.integers(0, len(labels), size=n_rows)
    effect = rng.permutation(len(labels)) * 2.0
    return number, code, number + effect[code]


@pytest.mark.parametrize("one_hot", [1, 100])
@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_categories_in_frames(one_hot, frame):
    library = pytest.importorskip(frame)
    names = ["ä", "vw", "x", "", "zzz"]
    number, code, y = with_categories()

    def rows(labels):
        if frame == "pandas":
            colour = library.Categorical(labels, categories=names[::-1])
        else:
            colour = library.Series(labels, dtype=library.Enum(names[::-1]))
        return library.DataFrame({"number": number, "colour": colour})

    seen = [names[c] for c in code]
    some = [None if i % 5 == 0 else label for i, label in enumerate(seen)]
    estimator = regressor(enable_categorical=True, max_cat_to_onehot=one_hot)
    estimator.fit(rows(seen), y)
    model = assert_read_single(estimator, rows(seen))
    assert (model.ensemble.category_set >= 0).any()
    assert_same_outputs(model, estimator, rows(some), rtol=SINGLE)
    assert_same_leaves(model, rows(some), estimator.apply(rows(some)))


def test_categories_of_a_frame_in_another_order():
    pd = pytest.importorskip("pandas")
    number, code, y = with_categories()
    for names in (list("vwxyz"), [7, 3, 12, 5, 4]):
        labels = [names[c] for c in code]
        frame = pd.DataFrame({"n": number, "c": pd.Categorical(labels)})
        estimator = regressor(enable_categorical=True).fit(frame, y)
        other = frame.assign(c=pd.Categorical(labels, categories=names[::-1]))
        assert_same_outputs(read_trees(estimator), estimator, other, rtol=SINGLE)


def test_unseen_categories_are_refused():
    """The library refuses some of them and takes others for a category it knows."""
    pd = pytest.importorskip("pandas")
    number, code, y = with_categories()
    seen = pd.Categorical([list("vwxyz")[c] for c in code])
    estimator = regressor(enable_categorical=True)
    estimator.fit(pd.DataFrame({"n": number, "c": seen}), y)
    unseen = pd.DataFrame({"n": [0.0], "c": pd.Categorical(["q"])})
    with pytest.raises(ValueError, match=r"'c' has the category 'q'"):
        read_trees(estimator).encode(unseen)


@pytest.mark.parametrize("one_hot", [1, 100])
def test_categories_in_arrays(one_hot):
    number, code, y = with_categories(labels="abcdefghijkl")
    X = np.column_stack([number, code * 7.0])
    X[::9, 1] = np.nan
    estimator = regressor(
        enable_categorical=True, max_cat_to_onehot=one_hot, feature_types=["q", "c"]
    ).fit(X, y)
    model = assert_read_single(estimator, X)
    odd = np.resize([np.nan, 1, 7.9, 70, 1000, 2**24 - 1, 1e9, -0.0, 0.5], len(X))
    rows = np.column_stack([number, odd])
    assert_same_outputs(model, estimator, rows, rtol=SINGLE)
    negative = np.column_stack([number, np.resize([-1.0, -0.5, -70.0], len(X))])
    assert_same_outputs(model, estimator, negative, rtol=SINGLE)


def test_a_model_of_arrays_takes_a_frame_s_categories_by_position():
    pd = pytest.importorskip("pandas")
    number, code, y = with_categories()
    X = np.column_stack([number, code.astype(float)])
    estimator = regressor(enable_categorical=True, feature_types=["q", "c"]).fit(X, y)
    names = pd.Categorical.from_codes(code, categories=list("zyxwv"))
    frame = pd.DataFrame({"n": number, "c": names})
    model = read_trees(estimator)
    assert_same_outputs(model, estimator, frame, rtol=SINGLE)
    assert_array_equal(model.raw(frame), model.raw(X))


def test_names_that_the_library_does_not_tell_apart_are_refused():
    """XGBoost before 3.4 keeps the bytes of "ä" alone of "ää" and "äz" in pandas."""
    pd = pytest.importorskip("pandas")
    number, code, y = with_categories(labels="vwx")
    labels = pd.Categorical.from_codes(code, categories=["ää", "zz", "äz"])
    frame = pd.DataFrame({"n": number, "c": labels})
    estimator = regressor(enable_categorical=True).fit(frame, y)
    if VERSION >= (3, 4):
        assert_read_single(estimator, frame)
        return
    with pytest.raises(UnreadableModelError, match="cannot distinguish"):
        read_trees(estimator)


def test_wrong_number_of_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    X, y = table()
    model = read_trees(regressor().fit(X, y))
    with pytest.raises(ValueError, match="4 columns"):
        model.encode(pd.DataFrame(X[:, :4]))


# Inside of other models, and refusals


@pytest.mark.filterwarnings("ignore:.*booster=gblinear. is deprecated:UserWarning")
def test_linear_boosters_are_refused():
    X, y = table()
    estimator = regressor(booster="gblinear", max_depth=None)
    with pytest.raises(UnreadableModelError, match="gblinear"):
        read_trees(estimator.fit(X, y))


def test_members_share_their_columns():
    """Even loaded ones, whose NaN that stands for missing are separate numbers."""
    X, y = table(missing=True)
    bagging = BaggingRegressor(regressor(), n_estimators=2).fit(X, y)
    model = assert_read_single(pickle.loads(pickle.dumps(bagging)), X)
    assert_array_equal(model.columns, np.arange(5))


def test_what_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        read_trees(regressor())


def test_boosters_are_refused():
    X, y = table()
    with pytest.raises(UnreadableModelError, match="scikit-learn estimators"):
        read_trees(regressor().fit(X, y).get_booster())


def test_cover_of_pruned_trees():
    X, y = table()
    estimator = regressor(tree_method="exact", gamma=2.0).fit(X, y)
    assert_cover_adds_up(read_trees(estimator).ensemble, rtol=1e-5)
