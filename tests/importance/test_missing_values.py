"""Selectors transform rows with missing values where `fit` took such rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret.importance import (
    SAGE,
    DropColumnImportance,
    PartialDependenceImportance,
    PermutationImportance,
    PermutationTest,
)
from tests.importance.quick import linear_table

SELECTORS = [
    PermutationImportance(LinearRegression(), n_repeats=2, random_state=0),
    DropColumnImportance(LinearRegression(), cv=2),
    PartialDependenceImportance(LinearRegression(), grid_resolution=4),
    PermutationTest(LinearRegression(), n_permutations=2, alpha=0.5, random_state=0),
    SAGE(LinearRegression(), subsample=5, n_permutations=4, random_state=0),
]
CONTAINERS = {
    "array": np.array,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
    "sparse": sparse.csr_array,
}


def holed_table():
    """Numbers, some of them missing, and targets."""
    X, y = linear_table(30)
    X[3, 0] = X[5, 3] = np.nan
    return X, y


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("selector", "container", "frozen"),
    [
        *((SELECTORS[0], kind, False) for kind in CONTAINERS),
        *((selector, "pandas", True) for selector in SELECTORS),
    ],
)
def test_rows_that_fit_takes_are_transformed(selector, container, frozen):
    X, y = holed_table()
    rows = CONTAINERS[container](X)
    scale = StandardScaler(with_mean=not sparse.issparse(rows))
    model = make_pipeline(scale, SimpleImputer(), LinearRegression())
    if frozen:
        model = FrozenEstimator(clone(model).fit(rows, y))
    selector = clone(selector).set_params(estimator=model).fit(rows, y)
    kept = selector.transform(rows)
    kept = kept.toarray() if sparse.issparse(kept) else np.asarray(kept)
    assert_array_equal(kept, X[:, selector.get_support()])
    selector.set_output(transform="pandas")
    if container != "sparse":
        kept = selector.transform(rows)
        assert list(kept) == selector.get_feature_names_out().tolist()
    after = make_pipeline(selector, SimpleImputer(), LinearRegression())
    if container != "sparse":
        assert after.fit(rows, y).predict(rows).shape == (30,)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)
def test_missing_categories_are_transformed(selector):
    X, y = holed_table()
    frame = pd.DataFrame(X[:, 1:3], columns=["a", "b"])
    frame["c"] = np.where(X[:, 1] > 0, "high", "low").astype(object)
    frame.loc[4, "c"] = np.nan
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["c"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LinearRegression())
    selector = clone(selector).set_params(estimator=model).fit(frame, y)
    assert selector.transform(frame).shape == (30, selector.get_support().sum())


def test_missing_values_are_refused_where_the_model_never_saw_any():
    X, y = linear_table(30)
    selector = clone(SELECTORS[0]).fit(X, y)
    with pytest.raises(ValueError, match="PermutationImportance does not accept"):
        selector.transform(holed_table()[0])
