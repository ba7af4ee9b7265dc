"""From a model's input to the numbers that its trees compare."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array


@dataclass(frozen=True)
class ArrayEncoder:
    """Columns are numbers and are taken as they are.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    precision : numpy.dtype
        float32 or float64.
    absent : float, default=0.0
        What stands for the entries that a sparse matrix does not hold.
    missing : float, default=NaN
        A number that stands for missing values, beside NaN.
    """

    n_columns: int
    precision: np.dtype
    absent: float = 0.0
    missing: float = np.nan

    def __call__(self, X):
        if issparse(X):
            X = _dense(X, self.absent)
        with np.errstate(over="ignore"):  # beyond float32 is infinite for models too
            numbers = check_array(
                X,
                dtype=self.precision,
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=0,
            )
        if numbers.shape[1] != self.n_columns:
            raise ValueError(
                f"X has {numbers.shape[1]} columns, and the model was fitted on "
                f"{self.n_columns}."
            )
        if not np.isnan(self.missing):
            numbers = np.where(numbers == self.missing, np.nan, numbers)
        return numbers


@dataclass(frozen=True)
class TransformerEncoder:
    """What a fitted transformer, a part of the model, makes of the rows."""

    transformer: object

    def __call__(self, X):
        return np.asarray(self.transformer.transform(X), dtype=np.float64)


@dataclass(frozen=True)
class ColumnSelector:
    """Some columns of an array; all of them where `columns` is None."""

    columns: tuple | None = None

    def __call__(self, X):
        X = np.asarray(X)
        return X if self.columns is None else X[:, list(self.columns)]


@dataclass(frozen=True)
class ChainedEncoder:
    """An encoder behind something that alters the rows first."""

    first: object
    second: object

    def __call__(self, X):
        return self.second(self.first(X))


@dataclass(frozen=True)
class StackingEncoder:
    """What several encoders make of the same rows, side by side."""

    encoders: tuple
    precision: np.dtype

    def __call__(self, X):
        parts = [encoder(X) for encoder in self.encoders]
        return np.hstack(parts, dtype=self.precision, casting="same_kind")


def _dense(X, absent):
    """A sparse matrix as an array; what it does not hold becomes `absent`."""
    if absent == 0:
        return X.toarray()
    X = X.tocoo()
    dense = np.full(X.shape, absent, dtype=np.result_type(X.dtype, np.float32))
    dense[X.row, X.col] = X.data
    return dense
