"""Base of searches that return rows: what may change, what the model answers to it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_interpret._model._sklearn_compat import check_feature_names_in, warn
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_features
from sklearn_interpret._model.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import NoCounterfactualWarning
from sklearn_interpret.explanations import RowExplanation


class Task:
    """The rows to be explained, encoded, and what the model says of changed ones.

    Parameters
    ----------
    wish : Wish
        What the model should answer.
    feasible : FeasibleRows
        What rows may become.
    rows : Rows
        The explained rows.
    classes : ndarray of shape (n_rows,), int, default=None
        Positions of the classes that others are wished than; None takes the model's
        own answers.
    """

    def __init__(self, wish, feasible, rows, classes=None):
        self.wish, self.feasible, self.rows = wish, feasible, rows
        self.values = feasible.encode(rows)
        self._returning = feasible.returning(rows, self.values)
        own = wish.answers(rows.native)
        self.own = own if classes is None or own is None else classes
        self.fulfilled = np.zeros(rows.n_rows, dtype=bool)
        if not wish.is_other:
            self.fulfilled = wish.holds(rows.native)
        elif classes is not None:
            self.fulfilled = own != classes

    def decode(self, values, index):
        """Changed copies of the rows at `index`, as the model takes them."""
        return self.feasible.decode(
            values, self.values[index], self.rows, index, self._returning
        )

    def margins(self, values, index):
        """By how much the model's answers are as wished; values that may be taken."""
        own = None if self.own is None else self.own[index]
        return self.wish.margins(self.decode(values, index), own)

    def holds(self, values, index):
        """Whether the model answers as wished when asked about the rows themselves."""
        own = None if self.own is None else self.own[index]
        return self.wish.holds(self.decode(values, index), own)

    def distances(self, values, index):
        """Distances from the rows at `index`."""
        return self.feasible.distances(values, self.values[index])

    def projected(self, values, index):
        """The nearest values that the rows at `index` may take."""
        return self.feasible.projected(values, self.values[index])


class KnownRows:
    """The rows of `fit`, each once, and which of them the model answers as wished.

    Parameters
    ----------
    rows : Rows
        The rows.
    wish : Wish
        What the model should answer.
    feasible : FeasibleRows
        Encodes them.
    """

    def __init__(self, rows, wish, feasible):
        values = feasible.encode(rows)
        # Missing ones are equal.
        comparable = np.nan_to_num(values, nan=np.inf)
        _, first = np.unique(comparable, axis=0, return_index=True)
        self.values, self.rows = values[first], rows.take(first)
        native = self.rows.native
        self._answers = wish.answers(native)
        self._holds = None if wish.is_other else wish.holds(native)

    def wished(self, task, index):
        """Which are as wished for the rows of a task at `index`: (n, n_known)."""
        if self._holds is None:
            return self._answers != task.own[index][:, None]
        return np.tile(self._holds, (len(index), 1))


class BaseRowSearch(TransformerMixin, BaseInspector):
    """Base of searches that return rows which the model answers as wished.

    A subclass says what is wished (`_make_response`) and what rows may become
    (`_make_feasible`), gets ready in `fit` (`_prepare`) and returns rows (`explain`).
    """

    _parameter_constraints = {
        **{
            name: constraint
            for name, constraint in BaseInspector._parameter_constraints.items()
            if name != "response_method"
        },
        "target": "no_validation",
        "features_to_vary": "no_validation",
    }

    def _check_rows(self, X, *, reset):
        if sparse.issparse(X):
            raise TypeError(
                f"{type(self).__name__} takes no sparse X: a row near another has "
                "entries anywhere. Pass X.toarray()."
            )
        return super()._check_rows(X, reset=reset)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        if getattr(self, "target", None) is None:  # a search is for one output
            tags.target_tags = replace(tags.target_tags, multi_output=False)
        return tags

    def _fit_estimator(self, X, y, *others):
        """Fit a clone; a column of targets becomes a vector, as the tags promise."""
        if y is not None and np.asarray(y).shape[1:] == (1,):
            y = column_or_1d(y, warn=True)
        super()._fit_estimator(X, y, *others)

    def _inspect(self, sample, response, on_block):
        self._wish = response
        self._response_name = response.response.name
        self._feasible = self._make_feasible(sample.rows, sample.weights)
        response.scores(sample.rows.take([0]).native)  # errors belong to `fit`
        self._prepare(sample, response, self._feasible)
        on_block()

    @abstractmethod
    def _make_feasible(self, rows, weights):
        """What rows may become, from the parameters."""

    def _prepare(self, sample, wish, feasible):
        """Get ready to search; all that is random is drawn here."""

    def _varying(self, rows):
        """Which columns may change, bool, from `features_to_vary`."""
        vary = np.zeros(rows.n_columns, dtype=bool)
        for (column,) in resolve_features(
            self.features_to_vary,
            rows.names,
            named=rows.named,
            max_order=1,
            parameter="features_to_vary",
        ):
            vary[column] = True
        return vary

    def _explanation(self, task, values, origin, **fields):
        """A RowExplanation of encoded rows found for the rows of a task."""
        response, rows = task.wish.response, task.rows
        native = task.decode(values, origin)
        original = response(rows.native)
        single = original.shape[1] == 1
        # A model takes no table without rows.
        predictions = response(native) if len(origin) else original[:0]
        answers = {}
        if task.wish.interval is None:
            classes, own = response.classes, task.wish.answers(rows.native)
            found = task.wish.answers(native) if len(origin) else own[:0]
            answers = {"answers": classes[found], "original_answers": classes[own]}
        return RowExplanation(
            native,
            origin,
            distances=task.distances(values, origin),
            beyond_data=task.feasible.beyond(values, task.values[origin]),
            predictions=predictions[:, 0] if single else predictions,
            original_predictions=original[:, 0] if single else original,
            data=rows.native,
            feature_names=rows.names,
            output_names=response.output_names(original.shape[1]),
            response_name=self._response_name,
            target_name=self._target_name,
            **answers,
            **fields,
        )

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[Any]:
        """The nearest row found, for each of some rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Floats; objects where the table has categories. NaN where nothing was found.
        """
        explanation = self.explain(X)
        found = as_rows(explanation.rows)
        rows, first = np.unique(explanation.origin, return_index=True)
        mixed = self._feasible.categorical.any()
        nearest = np.full(
            (len(explanation), found.n_columns), np.nan, object if mixed else float
        )
        for j in range(found.n_columns):
            nearest[rows, j] = found.values(j)[first]
        return nearest

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns: those of the features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input features where `fit` saw none.

        Returns
        -------
        ndarray of str objects
            The names.
        """
        check_is_fitted(self)
        return np.asarray(check_feature_names_in(self, input_features), dtype=object)


def warn_of_failures(status, reasons, what="rows"):
    """Say for how many rows nothing was found, and why for the first."""
    without = np.flatnonzero((status == "failed") | (status == "impossible"))
    if len(without):
        first = without[0]
        warn(
            f"Nothing was found for {len(without)} of {len(status)} {what}; "
            f"{what[:-1]} {first}: {reasons[first]}.",
            NoCounterfactualWarning,
        )
