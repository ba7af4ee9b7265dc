"""Effects of rows in partitions: those of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    ConditionalDependence,
    PartialDependence,
)
from sklearn_interpret.partitions import RowBatches
from tests.partitions import in_batches

EXACT = {"rtol": 1e-12, "atol": 1e-12}


def mixed(n_rows=400, seed=0):
    """Numbers, whole numbers, ties, levels of texts, and missing values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows).astype(np.float32),
            "count": rng.integers(0, 300, n_rows),
            "zeros": np.where(rng.random(n_rows) < 0.97, 0.0, rng.normal(size=n_rows)),
            "town": rng.choice(["Aalen", "Ulm", "Wien"], n_rows),
            "kind": pd.Categorical(rng.choice(list("xyz"), n_rows)),
            "sorted": np.sort(rng.normal(size=n_rows)),
        }
    )
    y = X["a"] * X["sorted"] + (X["town"] == "Ulm") * X["count"] / 100
    return X, y.to_numpy()


def model_of(X, y, last):
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town", "kind"]),
        remainder="passthrough",
    )
    return FrozenEstimator(make_pipeline(encoder, last).fit(X, y))


def assert_same(found, expected):
    """All fitted results are the same: those of cells and edges exactly."""
    for name in ("edges_", "grid_values_", "interval_counts_", "centers_"):
        for here, there in zip(
            getattr(found, name, ()), getattr(expected, name, ()), strict=True
        ):
            pairs = [x if isinstance(x, tuple) else (x,) for x in (here, there)]
            for one, other in zip(*pairs, strict=True):
                if np.asarray(one).dtype.kind == "O":
                    assert list(map(str, one)) == list(map(str, other))
                elif name == "centers_" or (
                    name == "interval_counts_" and np.any(other % 0.25)
                ):
                    assert_allclose(one, other, **EXACT)
                else:
                    assert_array_equal(one, other)
    for name in (
        "average_",
        "effects_",
        "local_effects_",
        "local_effects_std_",
        "standard_errors_",
        "shape_standard_errors_",
        "missing_average_",
        "intervals_low_",
    ):
        for here, there in zip(
            getattr(found, name, ()) or (),
            getattr(expected, name, ()) or (),
            strict=True,
        ):
            assert (here is None) == (there is None)
            if here is not None:
                assert_allclose(here, there, err_msg=name, **EXACT)
    assert_allclose(found.feature_importances_, expected.feature_importances_, **EXACT)


METHODS = {
    "pd": (PartialDependence, {"grid_resolution": 13}),
    "centred pd": (
        PartialDependence,
        {"centered": True, "features": [0, ("a", "town")]},
    ),
    "brute pd": (PartialDependence, {"method": "brute", "features": ["zeros", "town"]}),
    "ale": (AccumulatedLocalEffects, {"features": [0, 1, 2, 3, 4, ("a", "sorted")]}),
    "ale bands": (AccumulatedLocalEffects, {"confidence_level": 0.9}),
    "ale auto": (AccumulatedLocalEffects, {"n_intervals": "auto"}),
    "m": (ConditionalDependence, {"features": [0, 1, 2, 3, ("town", "a")]}),
}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("method", "weighted"),
    [*((method, True) for method in METHODS), ("pd", False), ("ale", False)],
)
def test_partitions_give_the_effects_of_all_rows(method, weighted):
    kind, parameters = METHODS[method]
    X, y = mixed()
    weights = (
        np.random.default_rng(1).integers(0, 4, len(X)) + 0.0 if weighted else None
    )
    model = model_of(X, y, GradientBoostingRegressor(n_estimators=5, random_state=0))
    expected = kind(model, **parameters).fit(X, sample_weight=weights)
    batches = in_batches(X, None, weights, 7)
    assert_same(kind(model, **parameters).fit(batches), expected)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("n_partitions", [1, 2, 64])
def test_any_number_of_partitions(n_partitions):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    weights = rng.integers(0, 3, len(X)) / 7
    model = FrozenEstimator(LinearRegression().fit(X, X[:, 0] * X[:, 1]))
    for kind in (PartialDependence, AccumulatedLocalEffects):
        expected = kind(model).fit(X, sample_weight=weights)
        batches = in_batches(X, None, weights, n_partitions)
        assert_same(kind(model).fit(batches), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_centred_by_the_rows_of_all_partitions(weighted):
    rng = np.random.default_rng(0)
    X = np.c_[rng.random(300) < 0.05, rng.geometric(0.3, 300), rng.normal(size=300)]
    X[X[:, 1] > 6, 1] = np.nan  # in some partitions all rows are on edges
    X[:40, 2] = rng.integers(0, 2, 40)
    weights = rng.integers(0, 4, 300) + 0.0 if weighted else None
    model = GradientBoostingRegressor(n_estimators=5, random_state=0)
    model = FrozenEstimator(model.fit(np.nan_to_num(X), X[:, 2] * X[:, 0] + X[:, 0]))
    model = make_pipeline(SimpleImputer(), model).fit(X)
    effect = AccumulatedLocalEffects(
        FrozenEstimator(model), features=[0, 1, 2, (0, 1), (1, 2)]
    )
    expected = clone(effect).fit(X, sample_weight=weights)
    assert_same(effect.fit(in_batches(X, None, weights, 7)), expected)
    of_rows = np.nan_to_num(effect.transform(X)[:, :2])
    assert_allclose(np.average(of_rows, axis=0, weights=weights), 0, atol=1e-12)


@pytest.mark.parametrize("kind", [PartialDependence, AccumulatedLocalEffects])
def test_several_outputs_and_missing_values(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[rng.random((400, 3)) < 0.1] = np.nan
    y = rng.integers(0, 3, 400)
    forest = RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0)
    model = FrozenEstimator(forest.fit(X, y))
    expected = kind(model).fit(X)
    assert_same(kind(model).fit(in_batches(X, None, None, 7)), expected)


def test_partitions_of_other_dtypes_and_levels():
    """Whole numbers become floats, and categories those of all partitions."""
    X, y = mixed()
    model = model_of(X, y, LinearRegression())
    parts = [X.iloc[:150].copy(), X.iloc[150:].copy()]
    parts[0] = parts[0].astype({"a": np.float64})
    parts[0]["kind"] = parts[0]["kind"].cat.remove_categories("z")
    parts[1]["kind"] = parts[1]["kind"].cat.remove_categories("x")
    parts[1]["count"] = parts[1]["count"].astype(float)
    whole = pd.concat(
        [part.astype({"kind": pd.CategoricalDtype(list("xyz"))}) for part in parts]
    )
    features = ["a", "count", "kind"]
    batches = RowBatches(lambda: iter(parts))
    for kind in (PartialDependence, AccumulatedLocalEffects):
        expected = kind(model, features=features).fit(whole)
        assert_same(kind(model, features=features).fit(batches), expected)


def test_a_bootstrap_needs_rows_in_memory():
    X, y = mixed(50)
    model = model_of(X, y, LinearRegression())
    effect = AccumulatedLocalEffects(
        model, confidence_level=0.9, confidence_method="bootstrap"
    )
    with pytest.raises(ValueError, match=r"bootstrap.*standard_error"):
        effect.fit(in_batches(X, None, None, 2))
