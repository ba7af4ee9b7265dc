"""Explanations with one number per row and feature, and their transformer mixin."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.attribution_columns import (
    attribution_names,
    attributions_as_columns,
)
from sklearn_interpret._inspectors.nested_groups import (
    Entry,
    append_group_sums,
    checked_groups,
    group_entries,
    walk,
)
from sklearn_interpret._inspectors.sklearn_bases import (
    DataFrame,
    TransformerMixin,
    feature_names_out,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.dates import as_objects
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret.explanations._base import (
    BaseExplanation,
    checked_array,
    optional_library,
    ranking_text,
    sizes_text,
)

# Most features in the HTML table: what fits on a screen.
_SHOWN_FEATURES = 8


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(BaseExplanation):
    """Attributions of a model's responses to features, row by row.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        Contribution of each feature to each response, in the response's unit. There is
        an axis of outputs if several are explained.
    base_values : array-like of shape (n_rows[, n_outputs])
        The response without any feature, to which the attributions add.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature or group of features; None means ``x0``, ``x1``...
    output_names : sequence, default=None
        A class label or position for each output, one of them if `values` has no axis
        of outputs; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability", "log-odds"...
    target_name : str, default=None
        Name of the target.
    standard_errors : array-like of the shape of `values`, default=None
        Standard errors of sampled values; None if the values are exact.
    columns : sequence of sequences of int, default=None
        The columns of `data` behind each feature, for groups of features; None means
        column j for feature j.
    approximation : str, default=None
        How the values deviate from the method's definition, such as "rescaled
        margins"; None if they follow it, or are sampled estimates.
    value_name : str, default="Shapley value"
        Name of a value in labels.
    groups : dict, default=None
        Groups of features: names of groups to lists of names of features, or to dicts
        of groups within them. Each feature is in one group at most. Displays draw the
        features below their groups; `by_group` sums their values.
    partial : bool, default=False
        Whether the call was interrupted: the rows are the first of those asked for.

    Raises
    ------
    TypeError
        If `groups` is no dict.
    ValueError
        If parts have inconsistent shapes, or are not numbers; if groups are empty, or
        have unknown features, or a feature twice.

    Notes
    -----
    ``explanation[index]`` selects rows by an int, a slice, positions or a boolean mask.
    The axis of rows is always kept: ``explanation[0]`` is an `Explanation` of one row.
    Iteration yields explanations of one row.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> explanation = Explanation(
    ...     values=[[1.0, -3.0], [0.5, 2.0], [0.0, 1.0]],
    ...     base_values=[10.0, 10.0, 10.0],
    ...     predictions=[8.0, 12.5, 11.0],
    ...     feature_names=["age", "income"],
    ... )
    >>> explanation
    Explanation(n_rows=3, n_features=2)
    mean absolute Shapley value: income 2, age 0.5
    >>> len(explanation), explanation[0].values.shape
    (3, (1, 2))
    >>> explanation.additivity_error()
    array([0., 0., 0.])
    >>> explanation[[True, False, True]].to_frame()
       age  income
    0  1.0    -3.0
    1  0.0     1.0

    Groups of features have the sums of the values of their features:

    >>> explanation = Explanation(
    ...     [[0.5, 0.25, -1.0], [0.5, -0.25, 2.0]],
    ...     [3.0, 3.0],
    ...     feature_names=["latitude", "longitude", "rooms"],
    ...     groups={"location": ["latitude", "longitude"]},
    ... )
    >>> explanation
    Explanation(n_rows=2, n_features=3)
    mean absolute Shapley value: rooms 1.5, latitude 0.5, longitude 0.25
    mean absolute Shapley value by group: rooms 1.5, location 0.5
    >>> explanation.by_group().to_frame()
       location  rooms
    0      0.75   -1.0
    1      0.25    2.0
    """

    values: NDArray[np.float64]
    base_values: NDArray[np.float64]
    standard_errors: NDArray[np.float64] | None = field(default=None, kw_only=True)
    columns: Sequence[Sequence[int]] | None = field(default=None, kw_only=True)
    approximation: str | None = field(default=None, kw_only=True)
    value_name: str = field(default="Shapley value", kw_only=True)
    groups: dict[str, Any] | None = field(default=None, kw_only=True)
    partial: bool = field(default=False, kw_only=True)

    _facts_by_row: ClassVar[tuple[str, ...]] = ("predictions", "base_values")
    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *BaseExplanation._arrays_by_row,
        "values",
        "base_values",
        "standard_errors",
    )
    _displays: ClassVar[str] = "ShapleyWaterfallDisplay and other displays"
    # Whether features are columns of `data`; words of texts and segments are not.
    _features_are_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        values = checked_array(self.values, "values")
        if values.ndim not in (2, 3):
            raise ValueError(
                f"values has the shape {values.shape}; (n_rows, n_features) or "
                "(n_rows, n_features, n_outputs) is needed."
            )
        (n_rows, n_features), outputs = values.shape[:2], values.shape[2:]
        self._set("values", values)
        self._set_array("base_values", (n_rows, *outputs))
        if self.standard_errors is not None:
            self._set_array("standard_errors", values.shape)
        self._check_common_fields(n_features, outputs)
        self._set("groups", checked_groups(self.groups, self.feature_names))
        if self._features_are_columns and self.data is not None:
            self._check_columns()
        elif self.columns is not None:
            raise ValueError("columns must be None: data is None, or has no columns.")

    def _check_columns(self) -> None:
        """Check that each feature has columns of `data`."""
        n_features, n_columns = self.values.shape[1], as_rows(self.data).n_columns
        if self.columns is None:
            if n_columns != n_features:
                raise ValueError(
                    f"data has {n_columns} columns, but values has {n_features} "
                    "features: pass the columns of each feature."
                )
            return
        columns = tuple(tuple(int(j) for j in members) for members in self.columns)
        if len(columns) != n_features:
            raise ValueError(
                f"columns has {len(columns)} entries, but values has {n_features} "
                "features."
            )
        for j in {j for members in columns for j in members}:
            if not 0 <= j < n_columns:
                raise ValueError(
                    f"columns has the position {j}, but data has {n_columns} columns."
                )
        self._set("columns", columns)

    @classmethod
    def concatenate(cls, explanations: Iterable[Self]) -> Self:
        """Join explanations of rows, such as those of partitions.

        Parameters
        ----------
        explanations : iterable of Explanation
            Explanations of the same features and outputs, by the same inspector.

        Returns
        -------
        Explanation
            The explanation of all rows, in order.

        Raises
        ------
        ValueError
            If there are none, or if features, outputs or groups differ.
        """
        explanations = list(explanations)
        if not explanations:
            raise ValueError("explanations is empty: there is nothing to join.")
        members = list(filter(len, explanations)) or explanations[:1]
        first = members[0]
        joined_fields: dict[str, Any] = {"partial": any(m.partial for m in members)}
        for member in members:
            for name in ("feature_names", "output_names", "groups"):
                names, expected = getattr(member, name), getattr(first, name)
                if names != expected:
                    raise ValueError(
                        f"explanations differ in {name}: {expected!r} and {names!r}."
                    )
        for name in cls._arrays_by_row:
            if getattr(first, name) is not None:
                joined_fields[name] = np.concatenate(
                    [getattr(member, name) for member in members]
                )
        if first.data is not None:
            rows = [as_rows(member.data) for member in members]
            joined_fields["data"] = reduce(Rows.joined, rows).native
        return replace(first, **joined_fields)

    def __len__(self) -> int:
        """Return the number of explained rows."""
        return len(self.values)

    def additivity_error(self) -> NDArray[np.float64]:
        """Return the differences of sums of attributions and predictions.

        Returns
        -------
        ndarray of shape (n_rows[, n_outputs])
            Base value plus sum of the attributions, minus prediction. Zero up to
            rounding for methods whose values sum to the prediction.

        Raises
        ------
        ValueError
            If the explanation has no predictions.
        """
        if self.predictions is None:
            raise ValueError(
                "This explanation has no predictions to compare its sums with."
            )
        return self.base_values + self.values.sum(axis=1) - self.predictions

    @property
    def predictions_or_sums(self) -> NDArray[np.float64]:
        """Predictions, or else sums of base values and attributions."""
        if self.predictions is not None:
            return self.predictions
        return self.base_values + self.values.sum(axis=1)

    def by_group(self, level: int = 0) -> Explanation:
        """Return the explanation with the groups of a level as its features.

        Parameters
        ----------
        level : int, default=0
            0 takes the outermost groups, 1 the groups within them, and so on. Groups
            without groups within them, and features in no group, remain as they are at
            deeper levels.

        Returns
        -------
        Explanation
            Its values are the sums of the values of the members, and its standard
            errors the sums of theirs, which are an upper bound: errors of the members
            may cancel. Features are in the order of the first members, and groups
            within others are called "outer / inner". A group of the one feature that
            has its name is this feature. It has no groups.

        Raises
        ------
        ValueError
            If there are no groups, or none at this level.
        """
        if self.groups is None:
            raise ValueError("This explanation has no groups to sum its values by.")
        entries = group_entries(self.groups, self.feature_names)
        n_levels = max(1, *(len(entry.path) for entry in walk(entries)))
        if level not in range(n_levels):
            raise ValueError(
                f"level={level!r} is not one of the {n_levels} levels of groups, which "
                "are counted from 0."
            )

        def at_level(entries: Iterable[Entry]) -> Iterator[Entry]:
            for entry in entries:
                has_groups = any(child.children for child in entry.children)
                if has_groups and len(entry.path) <= level:
                    yield from at_level(entry.children)
                else:
                    yield entry

        taken = sorted(at_level(entries), key=lambda entry: min(entry.features))
        positions = [entry.position for entry in taken]
        members, errors = self._feature_columns(), self.standard_errors
        has_columns = self._features_are_columns and self.data is not None
        columns = [
            sorted({column for j in entry.features for column in members[j]})
            for entry in taken
        ]
        names = ["base_values", "predictions", "output_names", "response_name"]
        names += ["target_name", "approximation", "value_name", "partial"]
        if errors is not None:
            errors = append_group_sums(errors, entries)[:, positions]
        return Explanation(
            append_group_sums(self.values, entries)[:, positions],
            feature_names=[(e.group if e.children else None) or e.name for e in taken],
            standard_errors=errors,
            data=self.data if has_columns else None,
            columns=columns if has_columns else None,
            **{name: getattr(self, name) for name in names},
        )

    def to_frame(self) -> DataFrame:
        """Return the attributions as a table, one row for each explained row.

        Returns
        -------
        pandas.DataFrame of shape (n_rows, n_features x n_outputs)
            One column per feature, or per feature and output with a two-level header
            if there are several outputs. The index is that of `data`, if `data` is a
            pandas object. ``attrs["partial"]`` is true if the call was interrupted.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        frame = self._frame_of_values(self.feature_names, "feature")
        if self.partial:
            frame.attrs["partial"] = True
        return frame

    def _units(self) -> dict[str, str | None]:
        return {self._value_column: self.response_name}

    @property
    def _value_column(self) -> str:
        """Name of the values in tables."""
        return self.value_name.lower().replace(" ", "_")

    def _lines(self) -> Iterator[dict[str, Any]]:
        several, k = self.values.ndim == 3, len(self.output_names)
        shape = len(self), len(self.feature_names), k
        numbers = {self._value_column: self.values}
        if self.standard_errors is not None:
            numbers["standard_error"] = self.standard_errors
        entries = walk(group_entries(self.groups, self.feature_names))
        group_of_feature = {entry.position: entry.group for entry in entries}
        for row, label in enumerate(self.row_names):
            for j, feature in enumerate(self.feature_names):
                for output in range(k):
                    line = {"row": label, "feature": feature}
                    if self.groups is not None:
                        line["group"] = group_of_feature[j]
                    if several:
                        line["output"] = self.output_names[output]
                    yield line | {
                        name: array.reshape(shape)[row, j, output]
                        for name, array in numbers.items()
                    }

    def to_shap(self) -> Any:
        """Return the explanation as an object for the plots of shap.

        Returns
        -------
        shap.Explanation
            All arrays are copied. `data` is missing if a feature is a group of
            columns, which shap cannot show.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        shap = optional_library("shap", "Explanation.to_shap")
        several, errors = self.values.ndim == 3, self.standard_errors
        return shap.Explanation(
            values=self.values.copy(),
            base_values=self.base_values.copy(),
            data=self._data_array(),
            feature_names=list(self.feature_names),
            output_names=[str(name) for name in self.output_names] if several else None,
            error_std=None if errors is None else errors.copy(),
        )

    def _feature_columns(self) -> Sequence[Sequence[int]]:
        """Columns of `data` behind each feature."""
        if self.columns is not None:
            return self.columns
        return tuple((j,) for j in range(self.values.shape[1]))

    def _data_array(self) -> NDArray[Any] | None:
        """Value of each feature in each row, or None if some feature has several."""
        members = self._feature_columns()
        if self.data is None or not self._features_are_columns:
            return None
        if any(len(columns) != 1 for columns in members):
            return None
        rows = as_rows(self.data)
        features = [rows.displayed(column) for (column,) in members]
        if any(values.dtype.kind not in "iufb" for values in features):
            features = list(map(as_objects, features))
        return np.stack(features, axis=1) if features else np.empty((len(self), 0))

    @property
    def _strength_name(self) -> str:
        """Name of the quantity that features are ranked by."""
        return self.value_name

    def _strengths(self) -> NDArray[np.float64]:
        """Quantity that features are ranked by: absolute values."""
        return np.abs(self.values)

    def _by_strength(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Features by falling mean strength, and the mean strengths."""
        strengths = self._strengths()
        axes = (0, *range(2, strengths.ndim))
        means = strengths.sum(axis=axes) / max(1, strengths[:, :1].size)
        return np.argsort(-means, kind="stable"), means

    def _size(self) -> str:
        text = sizes_text(self.values.shape, "n_rows", "n_features", "n_outputs")
        return f"{text}, partial=True" if self.partial else text

    def _summary(self) -> list[str]:
        order, means = self._by_strength()
        if not self.values.size:
            return []
        ranking = ranking_text(self.feature_names, means, order)
        kind = "" if self.approximation is None else f" ({self.approximation})"
        lines = [f"mean absolute {self._strength_name}{kind}: {ranking}"]
        return lines if self.groups is None else [*lines, self._group_ranking()]

    def _group_ranking(self) -> str:
        """The mean strengths of the outermost groups, and of features in no group."""
        grouped = self.by_group()
        order, means = grouped._by_strength()
        ranking = ranking_text(grouped.feature_names, means, order)
        return f"mean absolute {self.value_name} by group: {ranking}"

    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        order = self._by_strength()[0][:_SHOWN_FEATURES]
        return self._table_of_values(
            self.feature_names, order, lambda row: self._entries(row, order)
        )

    def _caption(self) -> str:
        n_rows, n_features, n_outputs = (*self.values.shape, 1)[:3]
        caption = (
            f"{n_rows} rows, {n_features} features, {n_outputs} outputs; the first "
            "rows and outputs, and the features of the largest mean absolute value"
        )
        if self.partial:
            caption = f"partial, as the call was interrupted: {caption}"
        if self.groups is None or not self.values.size:
            return caption
        return f"{caption}; {self._group_ranking()}"

    def _entries(self, row: int, features: NDArray[np.intp]) -> list[str]:
        """Data of some features of a row, as text that follows a value."""
        if self.data is None or not self._features_are_columns:
            return [""] * len(features)
        rows = as_rows(self.data).take(np.array([row]))
        members = self._feature_columns()
        return [
            f" ({', '.join(entry_text(rows.displayed(c)[0]) for c in members[j])})"
            for j in features
        ]


@lazy_transformer
class AttributionTransformerMixin(TransformerMixin):
    """Adds `transform` to an inspector whose explanations are attributions.

    A subclass has `explain`, `output_names_` and `_attributed`, the features of its
    attributions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.base import BaseInspector
    >>> from sklearn_interpret.explanations import (
    ...     AttributionTransformerMixin,
    ...     Explanation,
    ... )
    >>> class Terms(AttributionTransformerMixin, BaseInspector):
    ...     def __init__(self, estimator, *, response_method="predict"):
    ...         self.estimator = estimator
    ...         self.response_method = response_method
    ...
    ...     def _inspect(self, sample, response):
    ...         self.output_names_ = ["prediction"]
    ...
    ...     def _attributed(self):
    ...         return [([j], f"x{j}") for j in range(self.n_features_in_)]
    ...
    ...     def explain(self, X):
    ...         names = [name for _, name in self._attributed()]
    ...         terms = np.asarray(X) * self.estimator_.coef_
    ...         base = np.full(len(terms), self.estimator_.intercept_)
    ...         return Explanation(terms, base, feature_names=names)
    >>> terms = Terms(LinearRegression()).fit([[0, 1], [1, 1], [2, 3]], [1, 3, 5])
    >>> terms.transform([[1, 2]]).round(2)
    array([[2., 0.]])
    >>> terms.get_feature_names_out().tolist()
    ['x0', 'x1']
    """

    transform = attributions_as_columns
    get_feature_names_out = feature_names_out
    _column_names = attribution_names

    @abstractmethod
    def _attributed(self) -> Sequence[tuple[Sequence[int], str]]:
        """Columns and name of each feature with an attribution, in order."""
