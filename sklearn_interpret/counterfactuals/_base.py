"""Base of the counterfactual methods: wishes, what may change, answers asked again."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    check_feature_names_in,
)
from sklearn_interpret._model.desired import Wish
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.feasible import FeasibleRows
from sklearn_interpret._model.rows.features import (
    resolve_categorical,
    resolve_features,
    resolve_keys,
    shortened,
)
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import NoCounterfactualWarning
from sklearn_interpret.explanations import RowExplanation


@dataclass(frozen=True)
class Found:
    """What a search found for one row.

    Parameters
    ----------
    values : ndarray of shape (n_found, n_columns)
        Encoded rows, as `FeasibleRows` has them.
    reason : str, default=""
        Why there are none, or fewer than wished.
    impossible : bool, default=False
        Whether it is proved that there are none.
    lower_bound : float, default=0.0
        No row as wished is nearer.
    low, high : ndarray of shape (n_found, n_columns), default=None
        Boxes in which the model answers as wished.
    """

    values: np.ndarray
    reason: str = ""
    impossible: bool = False
    lower_bound: float = 0.0
    low: np.ndarray | None = None
    high: np.ndarray | None = None


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
    """

    def __init__(self, wish, feasible, rows):
        self.wish, self.feasible, self.rows = wish, feasible, rows
        self.values = feasible.encode(rows)
        self._returning = feasible.returning(rows, self.values)
        self.own = wish.answers(rows.native)
        self.fulfilled = np.zeros(rows.n_rows, dtype=bool)
        if not wish.is_other:
            self.fulfilled = wish.holds(rows.native)

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


class BaseCounterfactual(TransformerMixin, BaseInspector):
    """Base of the counterfactual methods.

    A subclass gets ready in `fit` (`_prepare`) and searches (`_search`).
    """

    _parameter_constraints = {
        **{
            name: constraint
            for name, constraint in BaseInspector._parameter_constraints.items()
            if name != "response_method"
        },
        "desired": "no_validation",
        "target": "no_validation",
        "features_to_vary": "no_validation",
        "permitted_range": [dict, None],
        "direction": [dict, None],
        "categorical_features": "no_validation",
        "max_changes": [Interval(Integral, 1, None, closed="left"), None],
        "distance": [StrOptions({"mad", "std", "gower"}), dict],
        "n_counterfactuals": [Interval(Integral, 1, None, closed="left")],
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
        return tags

    def _make_response(self):
        return Wish.of(self.estimator_, self.desired, self.target)

    def _inspect(self, sample, response, on_block):
        self._wish = response
        self._response_name = response.response.name
        self._feasible = self._make_feasible(sample.rows, sample.weights)
        self._prepare(sample, response, self._feasible)
        on_block()

    def _make_feasible(self, rows, weights):
        """What rows may become, from the parameters."""
        names, named = rows.names, rows.named
        categorical = resolve_categorical(
            self.categorical_features, rows.detected_categorical, names, named=named
        )
        vary = np.zeros(rows.n_columns, dtype=bool)
        for (column,) in resolve_features(
            self.features_to_vary,
            names,
            named=named,
            max_order=1,
            parameter="features_to_vary",
        ):
            vary[column] = True
        by_column = {
            parameter: resolve_keys(
                getattr(self, parameter), names, named=named, parameter=parameter
            )
            for parameter in ("permitted_range", "direction")
        }
        distance = self.distance
        if isinstance(distance, Mapping):
            distance = resolve_keys(distance, names, named=named, parameter="distance")
            _check_costs(distance, names)
        _check_ranges(by_column["permitted_range"], rows, categorical)
        _check_directions(by_column["direction"], rows, categorical)
        return FeasibleRows(
            rows,
            weights,
            categorical=categorical,
            vary=vary,
            ranges=by_column["permitted_range"],
            directions=by_column["direction"],
            distance=distance,
        )

    def _prepare(self, sample, wish, feasible):
        """Get ready to search; all that is random is drawn here."""

    @abstractmethod
    def _search(self, task, index):
        """`Found` of each row at `index` of a `Task`, none of which is as wished."""

    def explain(self, X: Any) -> RowExplanation:
        """Find rows that the model answers as wished, near each of some rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        RowExplanation
            Rows as wished, the nearest first, and why there are none for others.

        Warns
        -----
        NoCounterfactualWarning
            Nothing was found for some row.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        task = Task(self._wish, self._feasible, rows)
        found = self._found(task)
        origin = np.repeat(np.arange(rows.n_rows), [len(f.values) for f in found])
        values = np.concatenate([f.values for f in found])
        native = task.decode(values, origin)
        status = np.array(["found"] * rows.n_rows, dtype=object)
        for row, of_row in enumerate(found):
            if not len(of_row.values):
                status[row] = "impossible" if of_row.impossible else "failed"
        status[task.fulfilled] = "unchanged"
        warn_of_failures(status, [f.reason for f in found])
        response = self._wish.response
        original = response(rows.native)
        single = original.shape[1] == 1
        # A model takes no table without rows.
        predictions = response(native) if len(origin) else original[:0]
        return RowExplanation(
            native,
            origin,
            valid=np.ones(len(origin), dtype=bool),
            distances=task.distances(values, origin),
            status=status,
            reasons=[f.reason for f in found],
            predictions=predictions[:, 0] if single else predictions,
            original_predictions=original[:, 0] if single else original,
            data=rows.native,
            feature_names=rows.names,
            output_names=response.output_names(original.shape[1]),
            response_name=self._response_name,
            target_name=self._target_name,
            **self._proofs(found, task),
        )

    def _proofs(self, found, task):
        """Further fields of the explanation, of methods that prove something."""
        return {}

    def _found(self, task):
        """`Found` of all rows: checked by asking the model again, nearest first."""
        found = [Found(values[None]) for values in task.values]
        index = np.flatnonzero(~task.fulfilled)
        if not len(index):
            return found
        searched = list(self._search(task, index))
        sizes = [len(of_row.values) for of_row in searched]
        if not sum(sizes):
            holds = np.zeros(0, dtype=bool)
        else:
            values = np.concatenate([of_row.values for of_row in searched])
            holds = task.holds(values, np.repeat(index, sizes))
        parts = np.split(holds, np.cumsum(sizes)[:-1])
        for row, of_row, kept in zip(index, searched, parts, strict=True):
            found[row] = self._kept(task, row, of_row, kept)
        return found

    def _kept(self, task, row, found, holds):
        """What holds, the nearest first, without more than is asked for."""
        if not len(found.values):
            return found
        origins = np.repeat(task.values[[row]], len(found.values), axis=0)
        order = np.argsort(self._nearness(found.values, origins), kind="stable")
        kept = order[holds[order]][: self.n_counterfactuals]
        reason = found.reason
        if not len(kept):
            reason = "the model answers otherwise when it is asked about the row found"
        boxes = {
            name: getattr(found, name)[kept]
            for name in ("low", "high")
            if getattr(found, name) is not None
        }
        return replace(found, values=found.values[kept], reason=reason, **boxes)

    def _nearness(self, values, origins):
        """What rows found for a row are sorted by."""
        return self._feasible.distances(values, origins)

    def transform(self, X: Any) -> NDArray[Any]:
        """The nearest row as wished, for each of some rows.

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


def _check_costs(costs, names):
    for j, cost in costs.items():
        if not (isinstance(cost, Real) and 0 < cost < np.inf):
            raise ValueError(
                f"distance has the cost {cost!r} of {names[j]!r}; positive numbers are "
                "accepted."
            )


def _check_ranges(ranges, rows, categorical):
    for j, limits in ranges.items():
        name = rows.names[j]
        if categorical[j]:
            _check_levels(limits, rows, j)
            continue
        if not (isinstance(limits, tuple | list) and len(limits) == 2) or not all(
            isinstance(limit, Real) for limit in limits
        ):
            raise ValueError(
                f"permitted_range has {limits!r} for {name!r}; a pair (low, high) of "
                "numbers is accepted."
            )
        if not limits[0] <= limits[1]:
            raise ValueError(
                f"permitted_range has {limits!r} for {name!r}: low exceeds high."
            )


def _check_levels(levels, rows, j):
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        raise ValueError(
            f"permitted_range has {levels!r} for {rows.names[j]!r}; a list of its "
            "levels is accepted."
        )
    known = rows.encode_column(j)[1]
    keys = set(map(label_key, known))
    for level in levels:
        if label_key(level) not in keys:
            raise ValueError(
                f"permitted_range has the unknown level {level!r} of "
                f"{rows.names[j]!r}; known levels: {shortened(known)}."
            )


def _check_directions(directions, rows, categorical):
    for j, direction in directions.items():
        if direction not in ("increase", "decrease"):
            raise ValueError(
                f"direction has {direction!r} for {rows.names[j]!r}; accepted are "
                "'increase' and 'decrease'."
            )
        if categorical[j] and not rows.is_ordered(j):
            raise ValueError(
                f"direction names {rows.names[j]!r}, whose categories have no order."
            )


def warn_of_failures(status, reasons, what="rows"):
    """Say for how many rows nothing was found, and why for the first."""
    without = np.flatnonzero((status == "failed") | (status == "impossible"))
    if len(without):
        first = without[0]
        warnings.warn(
            f"Nothing was found for {len(without)} of {len(status)} {what}; "
            f"{what[:-1]} {first}: {reasons[first]}.",
            NoCounterfactualWarning,
            stacklevel=3,
        )
