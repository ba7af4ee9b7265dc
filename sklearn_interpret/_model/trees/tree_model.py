"""A fitted model read as a sum of trees, and the numbers that its trees compare."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.utils import check_array

from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import copy_of, is_missing
from sklearn_interpret._model.rows.frames import PandasRows, PolarsRows

# Response = link(raw * link_scale), by the link's name.
LINKS = {
    "identity": lambda raw: raw,
    "logistic": expit,
    "softmax": lambda raw: softmax(raw, axis=1),
    "exp": np.exp,
    # The score of an isolation forest, from the path length over the expected one.
    "isolation": lambda raw: -(2.0**-raw),
}


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A fitted model as an ensemble of trees, and its methods in terms of their sum.

    Build it with :func:`~sklearn_interpret._model.trees.read_trees`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    encoder : callable
        From rows, in the model's container, to the numbers that its trees compare.
    columns : ndarray of shape (ensemble.n_features,), intp
        The input column that each feature of the trees is made from.
    n_columns : int
        Number of input columns.
    raw_method : str or None
        Method of the model that returns ``ensemble.raw``; None where none does.
    raw_params : dict
        Arguments that this method needs for it, beside the rows.
    link : str or None
        The response is ``link(link_scale * raw)``, see `LINKS`. None where it is no
        such function of the raw output.
    link_scale : float
        What the raw output is multiplied by first.
    response_method : str or None
        Method of the model that returns the response; None where the link is.
    classes : ndarray, list of ndarray, or None
        Class labels of a classifier; a list for several outputs, whose columns then
        stand side by side.
    tied_class : {0, 1}
        Which of two classes the model predicts where its margin is exactly zero.
    cover : {"weight", "rows", "hessian", "mixed"}
        What the ensemble's cover counts: the weight of the training rows, their number
        (the library keeps no other), or the sum of second derivatives of the loss;
        "mixed" where members differ.
    n_averaged : int
        Of how many trees a forest is the mean; their values are divided by it.
    """

    ensemble: TreeEnsemble
    encoder: Callable
    columns: np.ndarray
    n_columns: int
    raw_method: str | None
    link: str | None = "identity"
    link_scale: float = 1.0
    response_method: str | None = None
    raw_params: dict = field(default_factory=dict)
    classes: object = None
    tied_class: int = 0
    cover: str = "weight"
    n_averaged: int = 1

    def encode(self, X):
        """Rows as the numbers that the trees compare: (n_rows, ensemble.n_features).

        In the ensemble's precision, NaN where missing, categories as positions.
        """
        return self.encoder(X)

    @property
    def takes_numbers(self):
        """Whether the model takes all finite numbers: no step or table is before it."""
        before = TransformerEncoder | ChainedEncoder | StackingEncoder
        levels = getattr(self.encoder, "levels", ())  # labels of categories
        return not isinstance(self.encoder, before) and not any(levels)

    def raw(self, X):
        """Sum of the trees for rows: float64 of shape (n_rows, k)."""
        return self.ensemble.raw(self.encode(X))

    def response(self, raw):
        """What `response_method` makes of raw outputs (n_rows, k).

        Probabilities of several outputs stand side by side; a single column of
        probabilities becomes that of both classes.
        """
        if self.link is None:
            raise ValueError("This model's response is no known function of its trees.")
        response = LINKS[self.link](raw * self.link_scale)
        both = self.link == "logistic" and self.response_method == "predict_proba"
        if both and response.shape[1] == 1:
            return np.hstack([1 - response, response])
        return response

    def raw_response(self, estimator, X):
        """Raw outputs (n_rows, k) that the fitted model itself returns for rows."""
        if self.raw_method is None:
            raise ValueError("No method of this model returns the sum of its trees.")
        raw = getattr(estimator, self.raw_method)(X, **self.raw_params)
        if isinstance(raw, list):  # one array per output
            return np.hstack(raw)
        return np.asarray(raw).reshape(len(raw), -1)

    def as_returned(self, outputs):
        """Outputs side by side as a method returns them: a list for several targets."""
        if not isinstance(self.classes, list):
            return outputs
        ends = np.cumsum([len(labels) for labels in self.classes])
        return np.split(outputs, ends[:-1], axis=1)


def response_fields(estimator, link):
    """Fields of a TreeModel for a library's response, given the link's name or None."""
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
    """Columns are numbers and are taken as they are.

    `absent` stands for the entries that a sparse matrix does not hold; `missing` is a
    number that stands for missing values, beside NaN.
    """

    n_columns: int
    precision: np.dtype
    absent: float = 0.0
    missing: float = np.nan

    def __call__(self, X):
        if issparse(X):
            X = dense(X, self.absent)
        with np.errstate(over="ignore"):  # beyond float32 is infinite for models too
            numbers = check_array(
                X,
                dtype=self.precision,
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=0,
            )
        check_width(numbers.shape[1], self.n_columns)
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
class StepsEncoder:
    """Rows as the steps of a fitted pipeline hand them on, in whatever container."""

    pipeline: object

    def __call__(self, X):
        return self.pipeline.transform(copy_of(X))  # some steps work in place


@dataclass(frozen=True)
class ColumnSelector:
    """Some columns of the rows, as Bagging* hand them on: no frame any more."""

    columns: tuple

    def __call__(self, X):
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


def check_width(n_columns, expected):
    """Refuse rows that have not as many columns as the model was fitted on."""
    if n_columns != expected:
        raise ValueError(
            f"X has {n_columns} columns, and the model was fitted on {expected}."
        )


def dense(X, absent):
    """A sparse matrix as an array; what it does not hold becomes `absent`."""
    if absent == 0:
        return X.toarray()
    X = X.tocoo()
    dense = np.full(X.shape, absent, dtype=np.result_type(X.dtype, np.float32))
    dense[X.row, X.col] = X.data
    return dense


def column_numbers(X, places, unseen):
    """Columns of a frame as numbers, its categories as positions.

    Parameters
    ----------
    X : pandas or polars DataFrame
        The rows.
    places : list
        Per column, a dict from labels to positions; None for columns that are numbers.
    unseen : callable
        From a column's name and a label without position to what stands for it; or it
        refuses the label.
    """
    rows = as_rows(X)
    check_width(rows.n_columns, len(places))
    columns = []
    for j, place in enumerate(places):
        if place is None:
            columns.append(rows.values(j))
            continue
        codes, labels, _ = rows.encode([j])
        positions = np.full(len(labels), np.nan)
        for i, label in enumerate(labels):
            if not is_missing(label):
                found = place.get(label)
                positions[i] = unseen(rows.names[j], label) if found is None else found
        columns.append(positions[codes])
    return columns


def is_frame(X):
    """Whether rows are a pandas or polars DataFrame."""
    return isinstance(as_rows(X), PandasRows | PolarsRows)


def listed_categories(splits):
    """Per column, sorted, the categories that any split lists; the columns in order.

    `splits` are triples (node, column, categories); categories are whole numbers.
    """
    listed = {}
    for _, column, categories in splits:
        listed.setdefault(int(column), set()).update(map(int, categories))
    return {j: sorted(listed[j]) for j in sorted(listed)}


def category_table(splits, listed, n_nodes):
    """Which of the listed categories splits list, all others behind them.

    Returns
    -------
    sets : ndarray of shape (n_nodes,)
        The row of the table for each node; -1 where it splits on no categories.
    table : ndarray of shape (n_sets, n_listed + 1), bool
        No split lists the last one.
    """
    sets, rows = np.full(n_nodes, -1), []
    width = 1 + max(map(len, listed.values()), default=0)
    for node, column, categories in splits:
        sets[node] = len(rows)
        row = np.zeros(width, dtype=bool)
        row[np.searchsorted(listed[int(column)], categories)] = True
        rows.append(row)
    return sets, np.array(rows, dtype=bool).reshape(len(rows), width)


def listed_positions(values, listed, other):
    """Positions of whole numbers (n,) in a sorted list of them, as float64.

    What is after the point is dropped; `other` for what is not listed, NaN for NaN.
    """
    values, listed = np.asarray(values, dtype=np.float64), np.asarray(listed)
    whole = np.trunc(values)
    position = np.minimum(np.searchsorted(listed, whole), len(listed) - 1)
    positions = np.where(listed[position] == whole, position, other)
    return np.where(np.isnan(values), np.nan, positions)
