"""What all counterfactual methods share: outcomes, limits, containers, statuses."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.counterfactuals import (
    ExactCounterfactual,
    GrowingSpheres,
    WachterCounterfactual,
)
from sklearn_interpret.exceptions import NoCounterfactualWarning
from tests.counterfactuals.data import (
    Scores,
    forest,
    mixed,
    polars_forest,
    polars_mixed,
)
from tests.references.models import watched

QUICK = {
    GrowingSpheres: {"n_samples": 20, "random_state": 0},
    WachterCounterfactual: {"max_iter": 8},
}
every_method = pytest.mark.parametrize("method", QUICK, ids=lambda c: c.__name__)
X, y = mixed()
SMOOTH = Scores().fit(X)


def made(method, model, **parameters):
    """An inspector of a fitted model."""
    return method(FrozenEstimator(model), **{**QUICK[method], **parameters})


@cache
def fitted(method):
    """An inspector of the quick model, and what it finds for some rows."""
    inspector = made(method, SMOOTH).fit(X)
    return inspector, inspector.explain(X[:4])


@every_method
def test_another_class(method):
    _, explanation = fitted(method)
    assert explanation.status.tolist() == ["found"] * 4
    assert explanation.valid.all()
    assert (SMOOTH.predict(explanation.rows) != SMOOTH.predict(X[:4])).all()
    assert_allclose(explanation.predictions, SMOOTH.decision_function(explanation.rows))
    assert_allclose(explanation.original_predictions, SMOOTH.decision_function(X[:4]))
    assert (explanation.distances > 0).all()


@every_method
def test_a_class_of_three(method):
    names = np.array(["a", "b", "c"])[np.digitize(X.a, [-0.5, 0.5])]
    model = LogisticRegression(max_iter=1000).fit(X[["a", "b"]], names)
    inspector = made(method, model, desired="b").fit(X[["a", "b"]])
    explanation = inspector.explain(X[["a", "b"]][:12])
    fulfilled = model.predict(X[["a", "b"]][:12]) == "b"
    assert ((explanation.status == "unchanged") == fulfilled).all()
    assert (model.predict(explanation.rows) == "b").all()
    assert explanation.predictions.shape == (12, 3)
    same = explanation.rows[fulfilled].to_numpy() == X[["a", "b"]][:12][fulfilled]
    assert same.to_numpy().all()
    assert not explanation.distances[fulfilled].any()


@every_method
@pytest.mark.parametrize(("target", "low", "high"), [(None, 0.4, 0.6), (0, 0.7, None)])
def test_an_interval_of_a_probability(method, target, low, high):
    inspector = made(method, SMOOTH, desired=(low, high), target=target).fit(X)
    explanation = inspector.explain(X[:4])
    probability = SMOOTH.predict_proba(explanation.rows)[:, 0 if target == 0 else 1]
    assert ((probability >= low) & (probability <= (high or 1))).all()
    assert_allclose(explanation.predictions, probability)
    assert explanation.response_name == "probability"


@every_method
def test_an_interval_of_a_prediction(method):
    numbers = X[["a", "b"]].to_numpy()
    model = LinearRegression().fit(numbers, numbers @ [1.0, 2.0])
    inspector = made(method, model, desired=(3.0, None), distance={0: 1.0, 1: 1.0})
    explanation = inspector.fit(numbers).explain(numbers[:5])
    assert (model.predict(explanation.rows) >= 3).all()
    if method is WachterCounterfactual:
        # A unit of the second feature is worth two of the prediction.
        missing = np.maximum(3 - model.predict(numbers[:5]), 0)
        assert_allclose(explanation.distances, missing / 2, rtol=1e-3)


@every_method
def test_limits_are_kept(method):
    limits = {
        "features_to_vary": ["a", "n", "size", "job", "single", "small"],
        "permitted_range": {"n": (2, 6), "job": ["x", "y"], "small": (10, 90.5)},
        "direction": {"a": "increase", "size": "decrease"},
    }
    model = Scores(steps=True).fit(X)
    inspector = made(method, model, n_counterfactuals=2, **limits).fit(X)
    with pytest.warns(NoCounterfactualWarning):
        explanation = inspector.explain(X[:12])
    before = X.iloc[explanation.origin].reset_index(drop=True)
    after = explanation.rows.reset_index(drop=True)
    assert len(after) > 10
    assert after.dtypes.equals(X.dtypes)
    frozen = ["b", "text", "flag"]
    assert after[frozen].equals(before[frozen])
    assert (after.a >= before.a).all()
    assert (after["size"].cat.codes <= before["size"].cat.codes).all()
    for name, low, high in (("n", 2, 6), ("small", 10, 90)):
        assert (after[name].between(low, high) | (after[name] == before[name])).all()
    assert (after.job.isin(["x", "y"]) | (after.job == before.job)).all()


def lives(n_rows, seed=0):
    """Ages, whole and 0/1 columns in several codes, and a level without rows."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.uniform(20, 60, n_rows),
            "visits": rng.integers(1, 9, n_rows),
            "smokes": rng.integers(0, 2, n_rows),
            "insured": rng.integers(0, 2, n_rows).astype(np.float32),
            "sign": rng.choice([-1, 1], n_rows),
        }
    )
    job = pd.CategoricalDtype(["cook", "nurse", "pilot"])
    table["job"] = pd.Series(rng.choice(["cook", "nurse"], n_rows)).astype(job)
    table.loc[:1, ["smokes", "insured", "sign"]] = [[0, 0, -1], [1, 1, 1]]
    return table


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("method", [ExactCounterfactual, *QUICK])
@pytest.mark.parametrize(
    ("kind", "permitted"), [("linear", None), ("linear", "any"), ("tree", None)]
)
def test_what_changes_stays_within_the_data(method, kind, permitted):
    known, asked = lives(40), lives(5, seed=1)
    asked.loc[:2, ["age", "visits"]] = [[80, 4], [30, 40], [5, -3]]
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["job"]), remainder="passthrough"
        ),
        LinearRegression() if kind == "linear" else DecisionTreeRegressor(max_depth=4),
    )
    slopes = [0.1, 1, 4, 3, 2]
    model.fit(known, known.iloc[:, :5] @ slopes + 4 * (known.job == "nurse"))
    goal = np.quantile(model.predict(known), 0.9) + 5 * (kind == "linear")
    search = method(
        FrozenEstimator(model),
        desired=(goal, None),
        permitted_range=permitted,
        **QUICK.get(method, {}),
    ).fit(known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCounterfactualWarning)
        found = search.explain(asked)
    assert len(found.rows)
    after = found.rows.reset_index(drop=True)
    before = asked.iloc[found.origin].reset_index(drop=True)
    assert after.smokes.isin([0, 1]).all()
    assert after.insured.isin([0, 1]).all()
    assert after.sign.isin([-1, 1]).all()
    assert after.dtypes.equals(known.dtypes)
    numbers = ["age", "visits", "smokes", "insured", "sign"]
    low, high = known[numbers].min(), known[numbers].max()
    outside = (after[numbers] < low) | (after[numbers] > high)
    outside["job"] = ~after.job.isin(["cook", "nurse"])
    assert_array_equal(found.beyond_data, outside & found.changed)
    if permitted is None:
        assert (after.job != "pilot").all()
        for name in numbers:
            own = before[name]
            least, most = own.clip(upper=low[name]), own.clip(lower=high[name])
            assert after[name].between(least, most).all()
    else:
        assert found.beyond_data.any()
        assert "with values beyond the data" in repr(found)


@every_method
@pytest.mark.parametrize("most", [1, 2])
def test_few_changes(method, most):
    inspector = made(method, SMOOTH, max_changes=most, n_counterfactuals=2).fit(X)
    explanation = inspector.explain(X[:4])
    assert (explanation.n_changed <= most).all()
    assert (explanation.n_changed > 0).all()
    assert (explanation.status == "found").sum() >= 3


@every_method
def test_several_are_apart_and_the_first_is_the_only_one(method):
    inspector = made(method, SMOOTH, n_counterfactuals=3).fit(X)
    explanation = inspector.explain(X[:3])
    _, alone = fitted(method)
    assert (explanation.distances[::3] <= alone.distances[:3] * (1 + 1e-3)).all()
    for row in explanation:
        assert len(row.rows) == 3
        assert (np.diff(row.distances) >= 0).all()
        encoded = inspector._actionability.encode(
            inspector._check_rows(row.rows, reset=False)
        )
        for one in range(3):
            apart = inspector._actionability.distances(
                encoded, np.repeat(encoded[[one]], 3, axis=0)
            )
            assert np.delete(apart, one).min() >= row.distances[0] / 2 * (1 - 1e-9)


@every_method
def test_what_is_missing_may_be_filled_and_nothing_else_goes_missing(method):
    numbers = X[["a", "b", "n"]].to_numpy(dtype=float)
    numbers[::3, 0] = np.nan
    model = HistGradientBoostingClassifier(max_iter=5).fit(numbers, y)
    explanation = made(method, model).fit(numbers).explain(numbers[:12])
    before = numbers[explanation.origin]
    assert not (np.isnan(explanation.rows) & ~np.isnan(before)).any()
    assert (explanation.status == "found").all()
    filled = np.isnan(before) & ~np.isnan(explanation.rows)
    # A filled number counts as one deviation.
    assert (explanation.distances[filled.any(axis=1)] >= 1 - 1e-9).all()


class Missing(ClassifierMixin, BaseEstimator):
    """The second class where a number is there and not negative."""

    def fit(self, X, y=None):
        """Nothing is learned."""
        self.classes_, self.n_features_in_ = np.array([0, 1]), X.shape[1]
        return self

    def predict(self, X):
        """Whether the first number is there."""
        return (np.asarray(X)[:, 0] >= 0).astype(int)


@every_method
def test_where_nothing_but_a_missing_number_decides(method):
    known = np.column_stack([np.linspace(-1, 3, 30), np.arange(30.0)])
    asked = np.array([[np.nan, 3.0], [np.nan, np.nan]])
    model = Missing().fit(known)
    explanation = made(method, model).fit(known).explain(asked)
    assert explanation.status.tolist() == ["found"] * 2
    assert (explanation.rows[:, 0] >= 0).all()
    assert_array_equal(explanation.rows[:, 1], asked[:, 1])
    assert_allclose(explanation.distances, [1, 1])
    assert_array_equal(explanation.changed, [[True, False]] * 2)
    frozen = made(method, model, features_to_vary=[1]).fit(known)
    with pytest.warns(NoCounterfactualWarning):
        assert (frozen.explain(asked).status == "failed").all()


OUTSIDE = np.column_stack([np.repeat([-1.0, 1.0], 20), np.tile(np.arange(4.0), 10)])
OUTSIDE_MODELS = {
    "linear": LogisticRegression().fit(OUTSIDE, OUTSIDE[:, 0] > 0),
    "tree": DecisionTreeClassifier().fit(OUTSIDE, OUTSIDE[:, 0] > 0),
}


@pytest.mark.parametrize("method", [ExactCounterfactual, *QUICK])
@pytest.mark.parametrize("model", OUTSIDE_MODELS)
@pytest.mark.parametrize("permitted", [None, {0: (-1, 1)}, {0: (-1, 1), 1: (5, 6)}])
def test_rows_whose_own_values_are_not_permitted(method, model, permitted):
    """A flag of -1 and 1 at 0, 0.5 or 2: it may become what it may be, or stay."""
    model = OUTSIDE_MODELS[model]
    rows = np.array([[0.0, 1.0], [0.5, 1.0], [2.0, 1.0], [-7.0, 0.5], [1.0, 9.0]])
    search = method(
        FrozenEstimator(model), permitted_range=permitted, **QUICK.get(method, {})
    )
    found = search.fit(OUTSIDE).explain(rows)
    assert found.status.tolist() == ["found"] * 5
    assert (model.predict(found.rows) != model.predict(rows)).all()
    flags = found.rows[:, 0]
    assert np.isin(flags, [-1, 1]).all() if permitted is None else np.ptp(flags) <= 2
    assert_array_equal(found.rows[:, 1], rows[:, 1])
    if method is ExactCounterfactual:
        # The linear model's boundary is at 0, but for rounding: the first row is on it,
        # and the fourth could be, so that their bounds prove nothing.
        assert found.optimal[[1, 2, 4]].all()


@every_method
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_is_missing_in_a_frame_is_filled(method, library):
    module = pytest.importorskip(library)
    real, whole = X["a"].tolist(), X["n"].tolist()
    real[::4] = [None] * len(real[::4])
    single = np.where(np.arange(len(X)) % 5, X["single"], np.nan).tolist()
    table = module.DataFrame({"a": real, "n": whole, "single": single})
    if library == "pandas":
        table = table.astype({"single": "float32"})
    model = HistGradientBoostingClassifier(max_iter=5).fit(table, y)
    explanation = _quietly(made(method, model).fit(table), table[:8])
    assert list(explanation.rows.dtypes) == list(table.dtypes)
    before = np.asarray(table[:8], dtype=float)[explanation.origin]
    after = np.asarray(explanation.rows, dtype=float)
    assert not (np.isnan(after) & ~np.isnan(before)).any()
    assert (np.isnan(before) & ~np.isnan(after)).any()
    own = model.predict(table[:8])
    assert (model.predict(explanation.rows) != own[explanation.origin]).all()
    # Where nothing is found, no numbers change the class.
    rows = np.asarray(table[:8], dtype=float)
    for row in np.flatnonzero(explanation.status == "failed"):
        steps = [
            np.append(np.linspace(np.nanmin(known), np.nanmax(known), 40), own)
            for own, known in zip(rows[row], np.asarray(table, float).T, strict=True)
        ]
        grid = np.array(np.meshgrid(*steps)).reshape(3, -1).T
        frame = module.DataFrame(dict(zip(table.columns, grid.T, strict=True)))
        assert (model.predict(frame) == own[row]).all()


FLAGS = np.random.default_rng(0).random((60, 4)) < 0.5
FLOATS = X[["a", "b", "n"]].to_numpy(dtype=np.float32)


@every_method
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression().fit(FLOATS, y),
        DecisionTreeClassifier().fit(FLAGS, FLAGS[:, 0] & FLAGS[:, 1]),
    ],
)
def test_dtypes_of_arrays_stay(method, model):
    table = FLOATS if isinstance(model, LogisticRegression) else FLAGS
    explanation = made(method, model).fit(table).explain(table[:6])
    assert explanation.rows.dtype == table.dtype
    assert (model.predict(explanation.rows) != model.predict(table[:6])).all()


@every_method
def test_unseen_levels(method):
    odd = X[:4].copy()
    odd["text"] = ["new", "u", "new", "v"]
    explanation = fitted(method)[0].explain(odd)
    assert (SMOOTH.predict(explanation.rows) != SMOOTH.predict(odd)).all()
    kept = ~explanation.changed[:, X.columns.get_loc("text")]
    assert (explanation.rows.text.to_numpy()[kept] == odd.text.to_numpy()[kept]).all()


@every_method
@pytest.mark.parametrize(
    "columns",
    [["job", "text", "flag", "size"], ["a", "b", "n"], ["flag"], ["a", "job"]],
    ids=["categories", "numbers", "flag", "both"],
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_one_kind(method, columns, library):
    table = X[columns]
    table = table if library == "pandas" else polars_mixed(table)
    model = forest() if library == "pandas" else polars_forest(columns)
    model.fit(table, y)
    inspector = made(method, model).fit(table)
    explanation = _quietly(inspector, table[:3])
    own = model.predict(table[:3])[explanation.origin]
    assert (model.predict(explanation.rows) != own).all()
    assert type(explanation.rows) is type(table)
    assert list(explanation.rows.dtypes) == list(table.dtypes)
    assert len(set(model.predict(table))) == 1 or len(explanation.rows)


def _quietly(inspector, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoCounterfactualWarning)
        return inspector.explain(rows)


@every_method
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix])
def test_sparse_tables_are_refused(method, kind):
    numbers = X[["a", "b"]].to_numpy()
    model = LogisticRegression().fit(numbers, y)
    with pytest.raises(TypeError, match="sparse"):
        made(method, model).fit(kind(numbers))
    inspector = made(method, model).fit(numbers)
    with pytest.raises(TypeError, match="sparse"):
        inspector.explain(kind(numbers))


@every_method
def test_nothing_found(method):
    numbers = X[["a", "b"]].to_numpy()
    model = LinearRegression().fit(numbers, numbers @ [1.0, 2.0])
    inspector = made(
        method, model, desired=(1e6, None), permitted_range={0: (-3, 3), 1: (0, 5)}
    )
    inspector.fit(numbers)
    with pytest.warns(NoCounterfactualWarning, match="3 of 3 rows; row 0: no row"):
        explanation = inspector.explain(numbers[:3])
    assert explanation.status.tolist() == ["failed"] * 3
    assert all(explanation.reasons)
    assert explanation.rows.shape == (0, 2)
    with pytest.warns(NoCounterfactualWarning):
        assert np.isnan(inspector.transform(numbers[:3])).all()


@every_method
def test_transform_of_a_mixed_table(method):
    inspector, explanation = fitted(method)
    nearest = inspector.transform(X[:4])
    assert nearest.dtype == object
    expected = explanation.rows
    assert nearest.tolist() == expected.astype(object).to_numpy().tolist()
    assert inspector.get_feature_names_out().tolist() == list(X.columns)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"desired": "no"}, "desired='no'"),
        ({"desired": [1, 0, 1]}, r"desired=\[1, 0, 1\].*other targets apart"),
        ({"desired": np.array([1])}, r"desired=array\(\[1\]\)"),
        ({"desired": pd.Series([0, 1])}, "other targets apart"),
        ({"desired": ["a", None]}, "is neither"),
        ({"features_to_vary": ["aa"]}, "features_to_vary"),
        ({"features_to_vary": []}, "features_to_vary is empty"),
        ({"permitted_range": {"aa": (0, 1)}}, "permitted_range"),
        ({"permitted_range": {"a": 3}}, "permitted_range has 3 for 'a'; a pair"),
        ({"permitted_range": {"a": (2, 1)}}, "low <= high"),
        ({"permitted_range": {"job": "x"}}, "a list of its levels"),
        ({"permitted_range": {"job": ["q"]}}, "unknown level 'q'"),
        ({"direction": {"a": "up"}}, "direction has 'up' for 'a'"),
        ({"direction": {"job": "increase"}}, "whose categories have no order"),
        ({"distance": "euclid"}, "distance"),
        ({"distance": {"a": 0}}, "distance has the cost 0"),
        ({"distance": {"a": 1e-320}}, "distance has the cost 1e-320"),
        ({"permitted_range": "all"}, "permitted_range"),
        ({"distance": {"aa": 1}}, "distance"),
        ({"max_changes": 0}, "max_changes"),
        ({"n_counterfactuals": 0}, "n_counterfactuals"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        made(GrowingSpheres, SMOOTH, **parameters).fit(X)


@every_method
def test_the_index_of_a_frame_stays_with_its_rows(method):
    named = X[:4].set_index(pd.Index(list("pqrs")))
    explanation = fitted(method)[0].explain(named)
    assert explanation.data.index.tolist() == list("pqrs")
    assert explanation[2].data.index.tolist() == ["r"]


@pytest.mark.parametrize(
    ("method", "most"),
    [(ExactCounterfactual, 20), (WachterCounterfactual, 40), (GrowingSpheres, 40)],
)
def test_rows_are_searched_together_and_asked_about_once(method, most, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4))
    labels = rows.sum(axis=1) + rng.normal(size=200) > 0
    inspector = method(LogisticRegression()).fit(rows, labels)
    some = rows[:8]
    names = "decision_function", "predict"
    asked = watched(monkeypatch, LogisticRegression, *names)
    found = inspector.explain(some)
    assert len(asked) <= most
    for table in (some, found.rows):
        kinds = [kind for kind, X in asked if np.array_equal(X, table)]
        assert kinds == ["decision_function"]
