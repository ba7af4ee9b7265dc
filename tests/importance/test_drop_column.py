"""Importance by fitting without features (LOCO)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    make_scorer,
    max_error,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.importance import DropColumnImportance
from sklearn_interpret.importance._base import (
    drop_columns,
    hold_constant,
    names_columns,
)
from tests.importance.quick import linear_table, mixed_frame

X, Y = linear_table()


def by_hand(model, X, y, cv, players, score, weights=None):
    """Score with all features minus that without, player by player and fold by fold."""
    found = np.empty((len(players), cv.get_n_splits()))
    for fold, (train, test) in enumerate(cv.split(X, y)):
        fit = {} if weights is None else {"sample_weight": weights[train]}
        read = {} if weights is None else {"sample_weight": weights[test]}
        scores = []
        for columns in [[], *players]:
            kept = np.delete(X, columns, axis=1)
            fitted = clone(model).fit(kept[train], y[train], **fit)
            scores.append(score(y[test], fitted.predict(kept[test]), **read))
        found[:, fold] = scores[0] - np.array(scores[1:])
    return found


def negated(loss):
    return lambda *args, **params: -loss(*args, **params)


@pytest.mark.parametrize(
    "model", [LinearRegression(), DecisionTreeRegressor(max_depth=4, random_state=0)]
)
@pytest.mark.parametrize(
    "scoring, score",
    [
        (None, r2_score),
        ("neg_mean_absolute_error", negated(mean_absolute_error)),
        (mean_squared_error, negated(mean_squared_error)),
    ],
)
def test_equals_a_loop_written_by_hand(model, scoring, score):
    cv = KFold(3, shuffle=True, random_state=1)
    importance = DropColumnImportance(model, cv=cv, scoring=scoring).fit(X, Y)
    expected = by_hand(model, X, Y, cv, [[0], [1], [2], [3]], score)
    assert_allclose(importance.importances_, expected, atol=1e-12)
    assert_allclose(importance.importances_mean_, expected.mean(axis=1))
    assert_allclose(importance.importances_std_, expected.std(axis=1))
    assert_allclose(importance.feature_importances_, expected.mean(axis=1))
    assert importance.baseline_scores_.shape == (3,)
    assert importance.get_support()[:2].all()


def test_classifiers_and_their_folds():
    X, y = linear_table(90)
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [-1, 1])]
    importance = DropColumnImportance(LogisticRegression(), cv=4).fit(X, labels)
    cv = StratifiedKFold(4)
    players = [[0], [1], [2], [3]]
    expected = by_hand(LogisticRegression(), X, labels, cv, players, accuracy_score)
    assert_allclose(importance.importances_, expected, atol=1e-12)


def test_weights_go_to_fits_and_scores():
    weights = np.random.default_rng(3).uniform(0.1, 2, size=len(Y))
    importance = DropColumnImportance(LinearRegression(), cv=KFold(3))
    importance.fit(X, Y, sample_weight=weights)
    players = [[0], [1], [2], [3]]
    expected = by_hand(LinearRegression(), X, Y, KFold(3), players, r2_score, weights)
    assert_allclose(importance.importances_, expected, atol=1e-12)
    importance.set_params(scoring=make_scorer(max_error))
    with pytest.raises(ValueError, match="takes no sample_weight"):
        importance.fit(X, Y, sample_weight=weights)
    importance.fit(X, Y, sample_weight=np.ones(len(Y)))


def test_rows_of_weight_zero_are_in_no_fold():
    weights = np.ones(60)
    weights[::3] = 0
    kept = weights > 0
    half = np.arange(60) < 30
    splits = [(np.flatnonzero(half), np.flatnonzero(~half)), (~half, half)]
    inside = [(np.flatnonzero(half[kept]), np.flatnonzero(~half[kept]))]
    inside.append(inside[0][::-1])
    for cv, cv_inside in ((3, 3), (splits, inside), (iter(splits), inside)):
        one = DropColumnImportance(LinearRegression(), cv=cv)
        one.fit(X, Y, sample_weight=weights)
        other = DropColumnImportance(LinearRegression(), cv=cv_inside)
        other.fit(X[kept], Y[kept])
        assert_allclose(one.importances_, other.importances_, atol=1e-12)


def test_groups_are_left_out_together():
    X, y = linear_table()
    X[:, 2] = X[:, 0]
    groups = {"twins": [0, 2]}
    alone = DropColumnImportance(LinearRegression(), cv=KFold(3)).fit(X, y)
    together = DropColumnImportance(
        LinearRegression(), cv=KFold(3), feature_groups=groups
    ).fit(X, y)
    assert together.player_names_ == ["twins", "x1", "x3"]
    expected = by_hand(LinearRegression(), X, y, KFold(3), [[0, 2], [1], [3]], r2_score)
    assert_allclose(together.importances_, expected, atol=1e-12)
    # Each of the twins stands in for the other; of both there is much.
    assert alone.feature_importances_[0] == alone.feature_importances_[2] == 0
    assert together.feature_importances_[0] == together.feature_importances_[2] > 0.5
    assert not alone.get_support()[[0, 2]].any()
    assert together.get_support()[[0, 2]].all()


def test_all_features_in_one_group_leave_a_constant_column():
    importance = DropColumnImportance(
        LinearRegression(), cv=KFold(3), feature_groups={"all": [0, 1, 2, 3]}
    ).fit(X, Y)
    folds = KFold(3).split(X)
    none = [r2_score(Y[b], np.full(len(b), Y[a].mean())) for a, b in folds]
    assert_allclose(importance.importances_[0], importance.baseline_scores_ - none)
    single = DropColumnImportance(LinearRegression()).fit(X[:, :1], Y)
    assert single.importances_.shape == (1, 5)


def test_several_scores_at_once():
    both = DropColumnImportance(
        LinearRegression(), cv=3, scoring={"first": "r2", "second": mean_squared_error}
    ).fit(X, Y)
    assert list(both.results_) == ["first", "second"]
    for name, scoring in (("first", "r2"), ("second", mean_squared_error)):
        one = DropColumnImportance(LinearRegression(), cv=3, scoring=scoring).fit(X, Y)
        found = both.results_[name]
        assert_allclose(found.importances, one.importances_)
        assert_allclose(found.importances_mean, one.importances_mean_)
        assert_allclose(found.importances_std, one.importances_std_)
        assert_allclose(found.baseline_scores, one.baseline_scores_)
    assert_array_equal(both.importances_, both.results_["first"].importances)


def test_frozen_models_are_not_fitted_but_clones_of_theirs():
    model = Ridge().fit(X[:20], Y[:20])
    coefficients = model.coef_.copy()
    frozen = DropColumnImportance(FrozenEstimator(model), cv=3).fit(X, Y)
    fresh = DropColumnImportance(Ridge(), cv=3).fit(X, Y)
    assert_array_equal(model.coef_, coefficients)
    assert_array_equal(frozen.predict(X), model.predict(X))
    assert_allclose(frozen.importances_, fresh.importances_)
    weights = np.arange(60) % 3 + 0.5
    assert_allclose(
        frozen.fit(X, Y, sample_weight=weights).importances_,
        fresh.fit(X, Y, sample_weight=weights).importances_,
    )
    with pytest.raises(ValueError, match="requires y"):
        frozen.fit(X)


def encoded(columns):
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), columns),
        remainder="passthrough",
    )
    return make_pipeline(encode, StandardScaler(), LinearRegression())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_pipelines_that_name_columns(kind):
    X, y = mixed_frame()
    frame = X if kind == "pandas" else pl.from_pandas(X)
    importance = DropColumnImportance(encoded(["colour"]), cv=3).fit(frame, y)
    assert importance.feature_importances_[1] > 0.2
    assert importance.get_feature_names_out().tolist()[:2] == ["size", "colour"]
    # To hold a column constant is to fit without it, where there is an intercept.
    numbers = np.column_stack(
        [X["size"], *(X["colour"] == one for one in X["colour"].cat.categories)]
        + [X["noise"]]
    ).astype(float)
    players = [[0], [1, 2, 3], [4]]
    expected = by_hand(LinearRegression(), numbers, y, KFold(3), players, r2_score)
    assert_allclose(importance.importances_, expected, atol=1e-9)
    dropping = DropColumnImportance(encoded(["colour"]), cv=3, removal="drop")
    with pytest.raises(ValueError, match=r"without 'colour'.*removal=.constant"):
        dropping.fit(frame, y)


def test_which_estimators_name_columns():
    assert not names_columns(make_pipeline(StandardScaler(), Ridge()))
    assert names_columns(encoded(["colour"]))
    assert not names_columns(HistGradientBoostingRegressor())
    assert names_columns(HistGradientBoostingRegressor(categorical_features=[1]))
    assert names_columns(HistGradientBoostingRegressor(monotonic_cst=[0, 1, 0]))
    nested = make_pipeline(HistGradientBoostingRegressor(interaction_cst="pairwise"))
    assert names_columns(nested)


@pytest.mark.parametrize("removal", ["drop", "constant"])
def test_removal_leaves_the_rows_alone(removal):
    remove = {"drop": drop_columns, "constant": hold_constant}[removal]
    X, _ = linear_table(5)
    frame = pd.DataFrame(X, columns=list("abcd"), index=list("pqrst"))
    containers = [X, sparse.csr_matrix(X), sparse.csc_array(X), frame]
    for native in [*containers, pl.DataFrame(X, schema=list("abcd")), mixed_frame()[0]]:
        before = native.clone() if hasattr(native, "clone") else native.copy()
        without = remove(as_rows(native), (0, 2)).native
        assert type(without) is type(native)
        assert as_rows(native).native.shape == before.shape
        columns = as_rows(without)
        if removal == "drop":
            assert without.shape[1] == native.shape[1] - 2
            left = as_rows(native).column_array(1)
            assert columns.column_array(0).tolist() == left.tolist()
        else:
            assert without.shape == native.shape
            assert len(set(columns.column_array(0).tolist())) == 1
            assert len(set(columns.column_array(2).tolist())) == 1
            assert (
                columns.column_array(1).tolist()
                == as_rows(native).column_array(1).tolist()
            )
        same = before != native
        assert not (same.nnz if sparse.issparse(same) else np.asarray(same).any())


def test_folds_of_groups_of_rows():
    groups = np.arange(60) // 6
    splits = list(GroupKFold(3).split(X, Y, groups))
    importance = DropColumnImportance(LinearRegression(), cv=splits).fit(X, Y)
    assert importance.importances_.shape == (4, 3)
    assert importance.fit(X, Y).importances_.shape == (4, 3)
    routed = DropColumnImportance(LinearRegression(), cv=GroupKFold(3))
    routed.fit(X, Y, groups=groups)
    assert_allclose(routed.importances_, importance.importances_)
    weights = np.arange(60) % 6 != 0  # groups are those of the rows that are left
    routed.fit(X, Y, sample_weight=weights, groups=groups)
    again = clone(routed).fit(X[weights], Y[weights], groups=groups[weights])
    assert_allclose(routed.importances_, again.importances_)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        routed.fit(X, Y, groups=groups[1:])


def test_parameters_of_fit_are_cut_to_the_folds():
    seen = []

    class Listening(LinearRegression):
        def fit(self, X, y, sample_weight=None, age=None, note=None):
            seen.append((len(X), len(age), note))
            return super().fit(X, y, sample_weight)

    X, y = linear_table()
    importance = DropColumnImportance(Listening(), cv=3, removal="constant")
    importance.fit(X, y, age=np.arange(60), note="heard")
    assert seen[0] == (60, 60, "heard")
    assert set(seen[1:]) == {(40, 40, "heard")}
    assert len(seen) == 1 + 3 * 5


def test_inside_of_scikit_learn():
    importance = DropColumnImportance(LinearRegression(), cv=3)
    selector = SelectFromModel(importance, threshold=0.05).fit(X, Y)
    assert selector.get_support().tolist() == [True, True, False, False]
    pipeline = make_pipeline(importance.set_params(threshold=0.05), LinearRegression())
    assert pipeline.fit(X, Y)[-1].n_features_in_ == 2


def test_errors_of_the_model_itself_come_through():
    class Failing(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            if len(X) < 60:
                raise ArithmeticError("of its own")
            return super().fit(X, y, sample_weight)

    X, y = linear_table()
    with pytest.raises(ArithmeticError, match="of its own"):
        DropColumnImportance(Failing(), cv=3).fit(X, y)
