"""Selectors keep columns of what they are given: container, dtypes and names stay."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from polars.testing import assert_frame_equal
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import validate_data

from sklearn_interpret.importance import (
    SAGE,
    DropColumnImportance,
    PartialDependenceImportance,
    PermutationImportance,
    PermutationTest,
)

SELECTORS = [
    PermutationImportance(None, n_repeats=2, random_state=0),
    DropColumnImportance(None, cv=2),
    PartialDependenceImportance(None, grid_resolution=4),
    PermutationTest(None, n_permutations=2, alpha=0.5, random_state=0),
    SAGE(None, subsample=5, n_permutations=4, random_state=0),
]
of_each = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
KEPT = ["colour", "size"]


class LastColumn(RegressorMixin, BaseEstimator):
    """Predicts the last column, gaps as 0, whatever the others hold."""

    def fit(self, X, y):
        """Set the names and the number of features."""
        validate_data(self, X, skip_check_array=True)
        return self

    def predict(self, X):
        """Give the last column."""
        if sparse.issparse(X):
            return X.toarray()[:, -1].astype(float)
        last = X[X.columns[-1]] if hasattr(X, "columns") else X[:, -1]
        return np.nan_to_num(np.asarray(last, dtype=float))


def pandas_frame():
    """A category, a text and missing values next to pandas' own whole numbers."""
    return pd.DataFrame(
        {
            "colour": pd.Categorical(["red", None, "blue", "red"] * 3),
            "text": pd.array(["a", "b", None, "a"] * 3, dtype="string"),
            "gaps": pd.array([1, None, 3, 4] * 3, dtype="Int64"),
            "size": pd.array(range(12), dtype="Int64"),
        },
        index=range(100, 112),
    )


def polars_frame():
    """Categories and texts next to whole numbers."""
    columns = {
        "colour": pl.Series(["red", None, "blue", "red"] * 3, dtype=pl.Categorical),
        "text": ["a", "b", None, "a"] * 3,
        "gaps": [1, None, 3, 4] * 3,
        "size": range(12),
    }
    return pl.DataFrame(columns)


def choosing(selector, kept=(0, 3)):
    """A selector of the same kind and parameters that keeps these columns of four."""
    selector = clone(selector).set_params(estimator=LastColumn())
    selector._get_support_mask = lambda: np.isin(range(4), kept)
    return selector


TARGETS = np.arange(12.0)


@of_each
def test_frames_of_pandas_stay_what_they_are(selector):
    frame = pandas_frame()
    before = frame.copy()
    selector = choosing(selector).fit(frame, TARGETS)
    for output in ("default", "pandas"):
        kept = selector.set_output(transform=output).transform(frame)
        pd.testing.assert_frame_equal(kept, before[KEPT])
    pd.testing.assert_frame_equal(frame, before)
    assert selector.get_feature_names_out().tolist() == KEPT
    fitted = selector.set_output(transform="default").fit_transform(frame, TARGETS)
    pd.testing.assert_frame_equal(fitted, before[KEPT])


@of_each
def test_frames_of_polars_stay_what_they_are(selector):
    frame = polars_frame()
    selector = choosing(selector).fit(frame, TARGETS)
    for output in ("default", "polars"):
        kept = selector.set_output(transform=output).transform(frame)
        assert_frame_equal(kept, polars_frame().select(KEPT))
    assert selector.get_feature_names_out().tolist() == KEPT


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix])
@of_each
def test_arrays_stay_what_they_are(selector, make):
    numbers = np.arange(48.0).reshape(12, 4)
    X = make(numbers)
    selector = choosing(selector).fit(X, TARGETS)
    kept = selector.transform(X)
    assert type(kept) is type(X)
    dense = kept.toarray() if sparse.issparse(kept) else kept
    assert_array_equal(dense, numbers[:, [0, 3]])
    assert not np.shares_memory(dense, numbers)
    assert selector.get_feature_names_out().tolist() == ["x0", "x3"]


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_no_column_may_be_kept(make):
    X = make()
    selector = choosing(SELECTORS[0], kept=()).fit(X, TARGETS)
    with pytest.warns(UserWarning, match="No features were selected"):
        kept = selector.transform(X)
    assert kept.shape == (12, 0)
