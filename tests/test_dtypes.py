"""Every estimator on tables whose levels, or numbers, come in dtypes of every kind."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_interpret.decomposition import TreePathContributions
from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence
from sklearn_interpret.estimator_checks._recorders import recorder_for
from sklearn_interpret.estimator_checks._results import all_results, assert_same
from sklearn_interpret.estimator_checks._tables import (
    mixed_columns,
    named_table,
    prepared,
    target_for,
)
from sklearn_interpret.interactions import HStatistic
from sklearn_interpret.shapley import TreeSHAP
from sklearn_interpret.surrogates import LimeImage
from tests.instances import ARGUMENTS, OF_TEXTS, instances, wraps_a_model

SOME = slice(3)


def of_arrow():
    """Dtypes of pyarrow by column."""
    arrow = pytest.importorskip("pyarrow")
    levels = arrow.dictionary(arrow.int32(), arrow.string())
    of_columns = {"size": arrow.string(), "colour": arrow.large_string()}
    of_columns |= {"note": levels, "known": arrow.bool_()}
    return {name: pd.ArrowDtype(dtype) for name, dtype in of_columns.items()}


def of_pandas(dtypes):
    """The mixed table; texts are objects where nothing else is said."""
    texts = dict.fromkeys(["size", "colour", "note"], object)
    return pd.DataFrame(mixed_columns()).astype(texts | dtypes)


LEVELS = {
    "texts": lambda: of_pandas(
        {"size": "str", "colour": "string[python]", "note": "string[pyarrow]"}
    ),
    "categories": lambda: of_pandas(
        {"size": "category", "colour": "category", "known": "boolean"}
    ),
    "pyarrow": lambda: of_pandas(of_arrow()),
    "polars": lambda: pl.DataFrame(
        mixed_columns(),
        schema_overrides={"size": pl.Enum(["large", "small"]), "note": pl.Categorical},
    ),
}


def results(estimator, X):
    """Everything about an estimator, or that it takes no texts."""
    y = target_for(estimator)
    params = {}
    if wraps_a_model(type(estimator)):
        model = clone(recorder_for(estimator)).fit(X, y)
        params["estimator"] = FrozenEstimator(model)
    try:
        return all_results(prepared(estimator, **params).fit(X, y), X[SOME])
    except ValueError as error:
        # By scikit-learn or by pandas.
        if not re.search("could not convert string to float|Cannot cast", str(error)):
            raise
        return {"takes texts": False}


# The table is small, and partly noise.
@pytest.mark.thorough(after=12)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.InspectionWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@pytest.mark.parametrize(
    "kind",
    [kind for kind in ARGUMENTS if kind not in {*OF_TEXTS, LimeImage}],
    ids=lambda kind: kind.__name__,
)
@pytest.mark.parametrize("name", LEVELS)
def test_levels_of_every_dtype(kind, name):
    """Results are those of objects and of numpy's booleans."""
    estimator = instances(kind)[0]
    expected = results(estimator, of_pandas({}))
    assert_same(results(estimator, LEVELS[name]()), expected)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(3, random_state=0),
        GradientBoostingRegressor(n_estimators=3, random_state=0),
        IsolationForest(n_estimators=3, random_state=0),
        BaggingRegressor(n_estimators=2, max_features=0.5, random_state=0),
        make_pipeline(MaxAbsScaler(), RandomForestRegressor(3, random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("dtype", [float, int], ids=str)
def test_trees_on_frames_of_sparse_columns(model, dtype):
    """Models see them as sparse matrices; results are those of dense columns."""
    X, y = named_table().round(), target_for(model)
    X = X.astype(dtype) + 0  # no zero has a sign
    thin = X.astype(pd.SparseDtype(dtype, 0))
    model = FrozenEstimator(clone(model).fit(thin, y))
    for inspector in (
        PartialDependence(model),
        AccumulatedLocalEffects(model, n_intervals=4),
        HStatistic(model),
        TreeSHAP(model),
        TreePathContributions(model),
    ):
        expected = all_results(clone(inspector).fit(X), X[SOME])
        found = all_results(inspector.fit(thin), thin[SOME])
        for of_rows in (found, expected):
            if "explain" in of_rows:
                of_rows["explain"] = np.asarray(of_rows["explain"].values)
        assert_same(found, expected)
