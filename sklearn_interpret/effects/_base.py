"""Base of the effect estimators: features, axes, output columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics import grids
from sklearn_interpret._inspectors.params import SampleInspector
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import TransformerMixin
from sklearn_interpret._model._sklearn_compat import StrOptions, warn
from sklearn_interpret._model.parallel import block_rows, slices
from sklearn_interpret._model.replacement.replaced import replaced
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows import features
from sklearn_interpret._model.rows.axes import Axis, label_text
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.tables import effect_blocks, with_outputs
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.exceptions import ConstantFeatureWarning, UnseenCategoryWarning

# Numbers or levels along one feature or two, for each entry.
Points = list[NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]]


@lazy_transformer
class BaseEffect(ResultsMixin, TransformerMixin, SampleInspector):
    """Base of the effect estimators.

    A subclass makes the axis of one feature (`_make_axis`), measures all entries
    (`_measure`) and ranks the features (`_importances`). Its table has the attributes
    `_numbers`, effects and errors by column, at the `_points`.
    """

    feature_importances_: NDArray[np.float64]
    features_: list[tuple[int, ...]]
    effect_names_: list[str | tuple[str, str]]
    axes_: list[tuple[Axis, ...]]
    categorical_features_: NDArray[np.bool_]

    _for_any_model = 'method="auto" takes any model.'
    # Largest number of features in an entry.
    _max_order = 2
    _points: ClassVar[str]
    _numbers: ClassVar[dict[str, str]]

    _parameter_constraints = {
        **SampleInspector._parameter_constraints,
        "features": "no_validation",
        "categorical_features": ["array-like", StrOptions({"auto"}), None],
        "custom_values": [dict, None],
        "method": [StrOptions({"auto", "tree", "brute"})],
    }

    def _inspect(self, sample, response):
        rows = sample.rows
        names, named = rows.names, rows.named
        groups = features.resolve_groups(self.feature_groups, names, named=named)
        self.categorical_features_ = features.resolve_categorical(
            self.categorical_features, rows
        )
        entries = features.resolve_features(
            self.features, names, named=named, groups=groups, max_order=self._max_order
        )
        self._left_out = []
        if self.features is None:
            entries = self._treatable(entries, groups, rows)
        custom = features.resolve_keys(
            self.custom_values,
            names,
            named=named,
            parameter="custom_values",
            groups=groups,
        )
        columns = {
            part: tuple(groups[part]) if isinstance(part, str) else (part,)
            for entry in entries
            for part in entry
        }
        made = {}
        self.axes_ = []
        sizes = [
            self._size_of_axes(sample, [columns[part] for part in entry])
            for entry in entries
        ]
        parts = [
            (columns[part], size)
            for entry, size in zip(entries, sizes, strict=True)
            for part in entry
            if custom.get(part) is None
        ]
        sample = self._summarised(sample, parts)
        for entry, size in zip(entries, sizes, strict=True):
            for part in entry:
                if (part, size) not in made:
                    name = part if isinstance(part, str) else names[part]
                    made[part, size] = self._make_axis(
                        sample, columns[part], name, size, custom.get(part)
                    )
            self.axes_.append(tuple(made[part, size] for part in entry))
        by_part = {part: axis for (part, _), axis in made.items()}
        for part, axis in by_part.items():
            if custom.get(part) is None:
                self._warn_if_constant(axis)
        self._custom = {by_part[part].name for part in custom if part in by_part}
        self.features_ = [
            tuple(column for axis in axes for column in axis.columns)
            for axes in self.axes_
        ]
        self.effect_names_ = [
            one_or_pair([axis.name for axis in axes]) for axes in self.axes_
        ]
        self._refuse_overlap()
        n_outputs = self._measure(sample, response)
        self.output_names_ = response.output_names(n_outputs)
        if self._one_way:
            self.feature_importances_ = self._importances(sample)

    def _treatable(self, entries, groups, rows):
        """The entries of columns that are numbers, dates or levels; others are named.

        If there are none, all entries are left, for the error to say why.
        """
        untreatable = features.untreatable(rows, self.categorical_features_)
        left = [
            (part,)
            for (part,) in entries
            if untreatable.isdisjoint(groups[part] if isinstance(part, str) else [part])
        ]
        if not left or len(left) == len(entries):
            return entries
        self._left_out = features.named_as_left_out(rows, untreatable)
        return left

    def _summarised(self, sample, parts):
        """The sample that knows what axes of parts, columns and a size, need."""
        quantiles, level_sets, most_distinct = {}, [], 0
        for columns, size in parts:
            if self._is_level_axis(columns):
                level_sets.append(columns)
                continue
            (j,) = columns
            most_distinct = max(most_distinct, size)
            wanted = self._quantiles_of(sample.rows, j, size)
            given = quantiles.get(j, ())
            whole = wanted is None or given is None
            quantiles[j] = None if whole else np.union1d(given, wanted)
        return sample.summarised(quantiles, level_sets, most_distinct)

    @abstractmethod
    def _quantiles_of(self, rows, column, size):
        """Quantiles that make the axis of a numeric column; None for all values."""

    @abstractmethod
    def _size_of_axes(self, sample, parts):
        """Largest number of points or intervals of the axes of one entry."""

    @abstractmethod
    def _make_axis(self, sample, columns, name, size, custom):
        """Axis of one feature or group, from custom values where these are given."""

    @abstractmethod
    def _measure(self, sample, response):
        """Set the method's fitted attributes; return the number of outputs."""

    def _importances(self, sample):
        """Weighted standard deviation of each feature's effect over the rows."""
        importances = np.zeros(sample.rows.n_columns)
        for entry in self._one_way:
            curves, sums = self._curves_and_sums(entry)
            deviation = np.sqrt(grids.variance_of_sums(curves, sums)).mean()
            importances[list(self.features_[entry])] = deviation
        return importances

    def _effect_at(self, entry, rows):
        """Effect of a one-way entry at each of the rows: (n_rows, n_outputs)."""

    def _curves_and_sums(self, entry):
        """Curves (k, n_points) in the axis' order, and `grid_sums` of the rows."""

    def _refuse_overlap(self):
        for name, columns in zip(self.effect_names_, self.features_, strict=True):
            if len(set(columns)) < len(columns):
                raise ValueError(
                    f"features has the entry {name!r}, whose parts share a feature."
                )

    def _is_level_axis(self, columns):
        return len(columns) > 1 or self.categorical_features_[columns[0]]

    def _warn_if_constant(self, axis):
        if axis.categorical:
            n_values = len({label_key(value) for value in axis.values})
        else:
            n_values = len(np.unique(axis.values))
        if n_values <= 1:
            what = "one observed value" if n_values else "no observed value"
            warn(
                f"Leave {axis.name!r} out of features: it has {what} and no effect to "
                "show.",
                ConstantFeatureWarning,
            )

    def _result_blocks(self):
        """A line for each point of each entry and output: columns "feature" (and
        "feature2" of pairs), "x" (and "x2"), "output" and "value"; "standard_error"
        and, of shapes alone, "shape_standard_error"; "low" and "high" where there are
        intervals. Where rows have curves of their own, "row" is the position of the
        row, missing for the average.
        """
        blocks = []
        for entry in range(len(self.axes_)):
            blocks += self._blocks_of(entry, self._numbers)
        return blocks

    def _blocks_of(self, entry, attributes, rows=None):
        """Lines of an entry; with `rows` each number is that of one of them."""
        n_axes = len(self.axes_[entry])
        found = {
            column: part[entry]
            for column, name in attributes.items()
            if (part := getattr(self, name, None)) is not None
        }
        numbers = {
            column: with_outputs(values, n_axes + (rows is not None))
            for column, values in found.items()
            if values is not None
        }
        places = getattr(self, self._points)[entry]
        places = (places,) if n_axes == 1 else places
        names = [axis.name for axis in self.axes_[entry]]
        return effect_blocks(names, places, numbers, self.output_names_, rows)

    def _result_units(self):
        return {"value": self._response_name}

    @property
    def _one_way(self):
        return [entry for entry, axes in enumerate(self.axes_) if len(axes) == 1]

    def _entries_to_transform(self):
        entries = self._one_way
        if not entries:
            raise ValueError(
                f"{type(self).__name__}.transform returns the effects of single "
                "features, but features has pairs only."
            )
        return entries

    def _show_missing_to_model(self, entries, rows):
        """Send rows with missing values to the model, which may refuse them."""
        axes = [self.axes_[entry][0] for entry in entries]
        numeric = [axis.columns[0] for axis in axes if not axis.categorical]
        missing = np.zeros(rows.n_rows, dtype=bool)
        for column in numeric:
            missing |= np.isnan(rows.numbers(column))
        if missing.any():
            response = make_response(self.estimator_, self.response_method, self.target)
            response(rows.take(np.flatnonzero(missing)).native)

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Effect of each feature at each row's own value.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_one_way_features x n_outputs)
            Effects of numeric features are interpolated between the grid's points,
            and constant beyond them; those of categories are looked up. NaN where
            the effect is unknown: for a category that `fit`
            did not see (with an :class:`~sklearn_interpret.exceptions.\
UnseenCategoryWarning`), or a missing value of a feature that had none.
        """
        rows = self._check_rows(X, reset=False)
        entries = self._entries_to_transform()
        self._show_missing_to_model(entries, rows)
        self._warn_of_unseen(entries, rows)
        return np.hstack([self._effect_at(entry, rows) for entry in entries])

    def _warn_of_unseen(self, entries, rows):
        for entry in entries:
            (axis,) = self.axes_[entry]
            if not axis.categorical:
                continue
            codes = axis.codes(rows)
            if (codes < 0).any():
                _, labels, first = rows.encode(axis.columns)
                unseen = [
                    label_text(label)
                    for label, row in zip(labels, first, strict=True)
                    if codes[row] < 0
                ]
                warn(
                    f"Fit on rows of all categories: the feature {axis.name!r} has "
                    f"categories that fit did not see: {', '.join(unseen[:5])}. Their "
                    "effect is NaN.",
                    UnseenCategoryWarning,
                )

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input features if `fit` saw none.

        Returns
        -------
        ndarray of str objects
            Feature names, followed by the output's name if there are several.
        """
        check_is_fitted(self)
        axes = [self.axes_[entry][0] for entry in self._entries_to_transform()]
        players = [(axis.columns, axis.name) for axis in axes]
        names, outputs = self._names_out(input_features, players)
        all_names = [
            f"{name}{place}{output}"
            for name, axis in zip(names, axes, strict=True)
            for place in self._places(axis)
            for output in outputs
        ]
        return np.array(all_names, dtype=object)

    def _places(self, axis):
        """Suffixes of a feature's name, one per column of `transform`."""
        return [""]


def curve_at(axis, rows, curves):
    """Curves (k, n_points) along an axis at each row: (n_rows, k); NaN if unknown."""
    if axis.categorical:
        return grids.look_up(axis.codes(rows), curves)
    numbers = rows.numbers(axis.columns[0])
    if not len(axis.values):
        return np.full((len(numbers), len(curves)), np.nan)
    order = axis.order
    return grids.interpolate(numbers, axis.values[order], curves[:, order])


def sums_of_entries(entries, of_pairs, sample):
    """Sums of the rows along the axis of each entry; masses of pairs, or zero."""
    total = [0.0] * len(entries)
    for part in slices(sample.rows.n_rows, block_rows(sample.rows.row_bytes)):
        rows, weights = sample.rows.part(part), sample.weights[part]
        for entry, axes in enumerate(entries):
            if len(axes) == 1:
                total[entry] = total[entry] + _sums(axes[0], rows, weights)
            elif of_pairs:
                total[entry] = total[entry] + _masses(axes, rows, weights)
    return total


def _sums(axis, rows, weights):
    """Sums of the rows by point of the sorted grid, missing values last."""
    low, share = _position(axis, rows)
    unknown = np.isnan(share)
    if unknown.any():
        low[unknown], share[unknown] = len(axis.values), 0.0
    return grids.grid_sums(low, share, len(axis.values) + 1, weights)


def _masses(axes, rows, weights):
    """The rows' weight at each point of the grid of a pair."""
    shape = tuple(len(axis.values) for axis in axes)
    if 0 in shape:
        return np.zeros(0)
    lows, shares = zip(*(_position(axis, rows) for axis in axes), strict=True)
    known = ~np.isnan(shares).any(axis=0)
    lows, shares = ([part[known] for part in parts] for parts in (lows, shares))
    masses = np.empty(shape)
    places = np.ix_(*[axis.order for axis in axes])
    masses[places] = grids.grid_masses(lows, shares, shape, weights[known])
    return masses.ravel()


def _position(axis, rows):
    """Left neighbour of each row on a sorted axis, and its relative distance to it."""
    if axis.categorical:
        codes = axis.codes(rows)
        return codes, np.where(codes >= 0, 0.0, np.nan)
    if len(axis.values):
        return grids.grid_position(
            rows.numbers(axis.columns[0]), axis.values[axis.order]
        )
    return np.zeros(rows.n_rows, dtype=np.intp), np.full(rows.n_rows, np.nan)


def distinct_axes(axes_of_entries):
    """Distinct axes of all entries, and the positions of each entry's axes."""
    axes = list({id(axis): axis for axes in axes_of_entries for axis in axes}.values())
    place = {id(axis): position for position, axis in enumerate(axes)}
    return axes, [[place[id(axis)] for axis in axes] for axes in axes_of_entries]


def one_or_pair(parts):
    """The single part of an entry with one axis, or a pair for two axes."""
    return parts[0] if len(parts) == 1 else tuple(parts)


def grid_replacement(axes, levels=None, *, together=False):
    """All points of the grid over one or two axes, the last axis fastest.

    For a single column, `levels` are the grid's levels and further ones after them.
    """
    if levels is not None:
        codes = np.arange(len(levels))[None]
        return Replacement(axes[0].columns, (levels,), (codes,), together=together)
    shape = tuple(len(axis.values) for axis in axes)
    columns, levels, codes = [], [], []
    for axis, points in zip(axes, np.indices(shape), strict=True):
        columns += axis.columns
        levels += axis.levels
        codes += [points.reshape(1, -1)] * len(axis.columns)
    return Replacement(
        tuple(columns), tuple(levels), tuple(codes), together=together, shape=shape
    )


def row_curves(method, response, rows, grids, *, n_jobs=None):
    """Responses of each row along each grid: list of (k, n_rows, n_variants)."""
    model = replaced(method, response, rows, grids)
    blocks = model.responses(_kept_responses, n_jobs=n_jobs)
    return [
        _assembled(parts, (model.n_outputs, rows.n_rows, grid.n_variants))
        for grid, parts in zip(grids, blocks, strict=True)
    ]


def _kept_responses(which, index, variants, responses):
    """Keep all responses, with their positions."""
    return index, variants, responses


def _assembled(parts, shape):
    """Blocks of responses as one array of shape (k, n_rows, n_variants)."""
    whole = np.empty(shape)
    for index, variants, responses in parts:
        whole[:, index[0] : index[-1] + 1, variants] = np.moveaxis(responses, 2, 0)
    return whole
