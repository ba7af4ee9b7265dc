"""A fitted model as a sum of trees, and encoders of rows for its trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import copy_of, is_missing
from sklearn_interpret._model.rows.frames import PandasRows, PolarsRows

# Reads a fitted model; it also gets the function that reads models inside of it.
Reader = Callable[[BaseEstimator, Callable[[BaseEstimator], "TreeModel"]], "TreeModel"]
# Response = link(raw * link_scale), by the link's name.
LINKS = {
    "identity": lambda raw: raw,
    "logistic": expit,
    "softmax": lambda raw: softmax(raw, axis=1),
    "exp": np.exp,
    # The score of an isolation forest, from the path length over the expected one.
    "isolation": lambda raw: -(2.0**-raw),
}


class CategorySplit(NamedTuple):
    """A split of a tree on a set of categories."""

    node: int
    column: int
    categories: Sequence[int] | NDArray[np.intp]  # of one side; integers


class ListedCategories(NamedTuple):
    """The categories of a column that occur in any split, sorted; hashable."""

    column: int
    categories: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A fitted model as an ensemble of trees, and its methods in terms of their sum.

    Build it with :func:`~sklearn_interpret._model.formulas.trees.read_trees`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    encoder : callable
        Function from native rows to the numbers that the trees compare.
    columns : ndarray of shape (ensemble.n_features,), intp
        The input column of each feature of the trees.
    n_columns : int
        Number of input columns.
    raw_method : str or None
        Method of the model that returns ``ensemble.raw``, or None.
    raw_params : dict
        Further arguments of this method.
    link : str or None
        The response is ``link(link_scale * raw)``, see `LINKS`. None if it is not such
        a function of the raw output.
    link_scale : float
        Factor of the raw output in the link.
    response_method : str or None
        Method of the model that returns the response; None if the link is None.
    classes : ndarray, list of ndarray, or None
        Class labels of a classifier; a list for several outputs, whose columns are
        concatenated.
    tied_class : {0, 1}
        Position of the class that a binary model predicts at a margin of exactly zero.
    cover : {"weight", "rows", "hessian", "mixed"}
        Meaning of the ensemble's cover: the weight of the training rows, their number
        (some libraries store no weights), or the sum of second derivatives of the loss;
        "mixed" if members differ.
    n_averaged : int
        Number of trees that a forest averages; their values are divided by it.
    """

    ensemble: TreeEnsemble
    encoder: Callable[[Any], NDArray[np.floating]]
    columns: NDArray[np.intp]
    n_columns: int
    raw_method: str | None
    link: str | None = "identity"
    link_scale: float = 1.0
    response_method: str | None = None
    raw_params: dict[str, Any] = field(default_factory=dict)
    classes: NDArray[Any] | list[NDArray[Any]] | None = None
    tied_class: int = 0
    cover: str = "weight"
    n_averaged: int = 1

    def encode(self, X: Any) -> NDArray[np.floating]:
        """Rows as the numbers that the trees compare: (n_rows, ensemble.n_features).

        In the ensemble's precision, missing values as NaN, categories as positions.
        """
        return self.encoder(X)

    @property
    def takes_numbers(self) -> bool:
        """Whether the model takes all finite numbers: it has no steps and no levels."""
        with_steps = TransformerEncoder | ChainedEncoder | StackingEncoder
        levels = getattr(self.encoder, "levels", ())  # labels of categories
        return not isinstance(self.encoder, with_steps) and not any(levels)

    def raw(self, X: Any) -> NDArray[np.float64]:
        """Sum of the trees for rows: float64 of shape (n_rows, k)."""
        return self.ensemble.raw(self.encode(X))

    def response(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return value of `response_method` from raw outputs (n_rows, k).

        Probabilities of several outputs are concatenated; a single column of
        probabilities becomes two, for both classes.
        """
        if self.link is None:
            raise ValueError("This model's response is no known function of its trees.")
        response = LINKS[self.link](raw * self.link_scale)
        is_probability = self.link == "logistic" and (
            self.response_method == "predict_proba"
        )
        if is_probability and response.shape[1] == 1:
            return np.hstack([1 - response, response])
        return response

    def raw_response(self, estimator: BaseEstimator, X: Any) -> NDArray[np.float64]:
        """Raw outputs (n_rows, k) from the fitted model's own method."""
        if self.raw_method is None:
            raise ValueError("No method of this model returns the sum of its trees.")
        raw = getattr(estimator, self.raw_method)(X, **self.raw_params)
        if isinstance(raw, list):  # one array per output
            return np.hstack(raw)
        return np.asarray(raw).reshape(len(raw), -1)

    def as_returned(self, outputs: NDArray[Any]) -> Any:
        """Concatenated outputs as a method returns them: a list for several targets."""
        if not isinstance(self.classes, list):
            return outputs
        ends = np.cumsum([len(labels) for labels in self.classes])
        return np.split(outputs, ends[:-1], axis=1)


def response_fields(estimator: BaseEstimator, link: str | None) -> dict[str, Any]:
    """Fields of a TreeModel about its response, for the name of a link or None."""
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) == 0:
        classes = None
    method = "predict" if classes is None else "predict_proba"
    return {
        "link": link,
        "response_method": None if link is None else method,
        "classes": classes,
    }


@dataclass(frozen=True)
class ArrayEncoder:
    """Encoder of numeric columns: a cast.

    `absent_is_missing` tells whether entries that a sparse matrix does not store are
    missing, not zero; `missing` is a number that means missing, in addition to NaN.
    No field is NaN, which equals nothing: equal encoders share their features.
    """

    n_columns: int
    precision: np.dtype[np.floating]
    absent_is_missing: bool = False
    missing: float | None = None

    def __call__(self, X: Any) -> NDArray[np.floating]:
        with np.errstate(over="ignore"):  # models also get infinity beyond float32
            if type(X) is np.ndarray and X.dtype.kind == "f" and X.ndim == 2:
                numbers: Any = X.astype(self.precision, copy=False)
            else:  # a check takes as long as the values of a row
                numbers = check_array(
                    X,
                    accept_sparse=True,
                    dtype=self.precision,
                    ensure_all_finite=False,
                    ensure_min_samples=0,
                    ensure_min_features=0,
                )
        if issparse(numbers):  # of a frame of sparse columns, too
            numbers = _dense(numbers) if self.absent_is_missing else numbers.toarray()
        check_width(numbers.shape[1], self.n_columns)
        if self.missing is not None:
            numbers = np.where(numbers == self.missing, np.nan, numbers)
        return numbers


@dataclass(frozen=True)
class TransformerEncoder:
    """Encoder by a fitted transformer that is a part of the model."""

    transformer: BaseEstimator

    def __call__(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.transformer.transform(X), dtype=np.float64)


@dataclass(frozen=True)
class StepsEncoder:
    """Encoder by the steps of a fitted pipeline; the container is theirs."""

    pipeline: Pipeline

    def __call__(self, X: Any) -> Any:
        return self.pipeline.transform(copy_of(X))  # steps with copy=False


@dataclass(frozen=True)
class ColumnSelector:
    """Encoder that selects columns as Bagging* do: members get arrays, not frames."""

    columns: tuple[int, ...]

    def __call__(self, X: Any) -> Any:
        X = check_array(
            X,
            accept_sparse=["csr", "csc"],
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        return X[:, list(self.columns)]


@dataclass(frozen=True)
class ChainedEncoder:
    """Two encoders in sequence."""

    first: Callable[[Any], Any]
    second: Callable[[Any], NDArray[np.floating]]

    def __call__(self, X: Any) -> NDArray[np.floating]:
        return self.second(self.first(X))


@dataclass(frozen=True)
class StackingEncoder:
    """Several encoders of the same rows, with concatenated outputs."""

    encoders: tuple[Callable[[Any], NDArray[np.floating]], ...]
    precision: np.dtype[np.floating]

    def __call__(self, X: Any) -> NDArray[np.floating]:
        numbers = [encoder(X) for encoder in self.encoders]
        return np.hstack(numbers, dtype=self.precision, casting="same_kind")


def check_width(n_columns: int, expected: int) -> None:
    """Refuse rows with another number of columns than the model was fitted on."""
    if n_columns != expected:
        raise ValueError(
            f"X has {n_columns} columns, and the model was fitted on {expected}."
        )


def _dense(X: Any) -> NDArray[np.floating]:
    """A sparse matrix of floats as an array; entries not stored are missing."""
    X = X.tocoo()
    dense = np.full(X.shape, np.nan, dtype=X.dtype)
    dense[X.row, X.col] = X.data
    return dense


def column_numbers(
    X: Any,
    label_positions: Sequence[Mapping[Any, int] | None],
    unseen: Callable[[str, Any], float],
) -> list[NDArray[Any]]:
    """Columns of a frame as numbers; categories as positions.

    Parameters
    ----------
    X : pandas or polars DataFrame
        Rows.
    label_positions : list
        For each column a dict from labels to positions, or None if it is numeric.
    unseen : callable
        ``unseen(name, label)`` returns the number for a label without position, or
        raises an error.
    """
    rows = as_rows(X)
    check_width(rows.n_columns, len(label_positions))
    columns = []
    for j, position_of in enumerate(label_positions):
        if position_of is None:
            columns.append(rows.column_array(j))
            continue
        codes, labels, _ = rows.encode([j])
        numbers = np.full(len(labels), np.nan)
        for i, label in enumerate(labels):
            if not is_missing(label):
                position = position_of.get(label)
                is_unseen = position is None
                numbers[i] = unseen(rows.names[j], label) if is_unseen else position
        columns.append(numbers[codes])
    return columns


def is_frame(X: Any) -> bool:
    """Whether rows are a pandas or polars DataFrame."""
    return isinstance(as_rows(X), PandasRows | PolarsRows)


def listed_categories(splits: Iterable[CategorySplit]) -> tuple[ListedCategories, ...]:
    """Categories that occur in any split, for each column with such splits."""
    categories: dict[int, set[int]] = {}
    for split in splits:
        of_column = categories.setdefault(int(split.column), set())
        of_column.update(map(int, split.categories))
    return tuple(
        ListedCategories(column, tuple(sorted(categories[column])))
        for column in sorted(categories)
    )


def category_table(
    splits: Iterable[CategorySplit], listed: tuple[ListedCategories, ...], n_nodes: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Sets of categories of splits, as rows of a table of the listed ones.

    Returns
    -------
    sets : ndarray of shape (n_nodes,)
        The row of the table for each node; -1 for other nodes.
    table : ndarray of shape (n_sets, n_listed + 1), bool
        The last column stands for categories in no split.
    """
    sets = np.full(n_nodes, -1)
    rows: list[NDArray[np.bool_]] = []
    categories = dict(listed)
    width = 1 + max(map(len, categories.values()), default=0)
    for split in splits:
        sets[split.node] = len(rows)
        row = np.zeros(width, dtype=bool)
        row[np.searchsorted(categories[int(split.column)], split.categories)] = True
        rows.append(row)
    return sets, np.array(rows, dtype=bool).reshape(len(rows), width)


def listed_positions(
    values: NDArray[np.floating], listed: Sequence[int], unlisted: float
) -> NDArray[np.float64]:
    """Positions of truncated numbers (n,) in a sorted list of integers, as float64.

    `unlisted` for numbers that are not listed, NaN for NaN.
    """
    values, categories = np.asarray(values, dtype=np.float64), np.asarray(listed)
    truncated = np.trunc(values)
    nearest = np.minimum(np.searchsorted(categories, truncated), len(categories) - 1)
    positions = np.where(categories[nearest] == truncated, nearest, unlisted)
    return np.where(np.isnan(values), np.nan, positions)
