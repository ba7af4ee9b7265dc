"""Base of the effect estimators: features, axes, output columns.

An *entry* is a feature, a feature group, or a pair of these, whose effect is measured.
It has an axis for each feature or group (`axes_`). After the base come the functions
that estimators share: curves at rows, sums of rows along axes, and grids of replaced
values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics import grids
from sklearn_interpret._inspectors.params import SampleInspector
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    TransformerMixin,
    feature_names_out,
)
from sklearn_interpret._model._sklearn_compat import StrOptions, warn
from sklearn_interpret._model.parallel import block_rows, slices
from sklearn_interpret._model.replacement.replaced import choose_evaluator
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.row_limit import counting_rows
from sklearn_interpret._model.rows import features
from sklearn_interpret._model.rows.axes import Axis, label_text
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.tables import effect_blocks, with_outputs
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.effects._axes import AxisRequest
from sklearn_interpret.exceptions import ConstantFeatureWarning, UnseenCategoryWarning

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Levels that a warning names.
_MOST_NAMED = 5

# Numbers or levels along one feature or two, for each entry.
Points = list[NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]]


@lazy_transformer
class BaseEffect(ResultsMixin, TransformerMixin, SampleInspector):
    """Base of the effect estimators.

    A subclass makes the axis of one feature (`_make_axis`), measures all entries
    (`_measure`) and rates features (`_importance`). Its table has effects and errors,
    the attributes `_number_attributes` by column, at the points of `_points_attribute`.
    """

    features: Any
    categorical_features: ArrayLike | None
    feature_groups: dict[str, Any] | None
    custom_values: dict[Any, Any] | None
    feature_importances_: NDArray[np.float64]
    features_: list[tuple[int, ...]]
    effect_names_: list[str | tuple[str, str]]
    axes_: list[tuple[Axis, ...]]
    categorical_features_: NDArray[np.bool_]

    _for_any_model = 'method="auto" takes any model.'
    # Largest number of features in an entry.
    _max_order = 2
    _points_attribute: ClassVar[str]
    _number_attributes: ClassVar[dict[str, str]]

    _parameter_constraints = {
        **SampleInspector._parameter_constraints,
        "features": "no_validation",
        "categorical_features": ["array-like", StrOptions({"auto"}), None],
        "custom_values": [dict, None],
        "method": [StrOptions({"auto", "tree", "brute"})],
    }

    def _inspect(self, sample: Sample, response: Response) -> None:
        rows = sample.rows
        names, named = rows.names, rows.named
        groups = features.resolve_groups(self.feature_groups, names, named=named)
        self.categorical_features_ = features.resolve_categorical(
            self.categorical_features, rows
        )
        entries = features.resolve_features(
            self.features, names, named=named, groups=groups, max_order=self._max_order
        )
        self._left_out: list[str] = []
        if self.features is None:
            entries = self._drop_untreatable(entries, groups, rows)
        custom = features.resolve_keys(
            self.custom_values,
            names,
            named=named,
            parameter="custom_values",
            groups=groups,
        )
        # A player is the column of a feature, or the name of a group.
        columns = {
            player: tuple(groups[player]) if isinstance(player, str) else (player,)
            for entry in entries
            for player in entry
        }
        sample = self._set_axes(sample, entries, columns, custom)
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
        if self._one_way_entries:
            self.feature_importances_ = self._feature_importances()

    def _set_axes(
        self,
        sample: Sample,
        entries: list[tuple[int | str, ...]],
        columns: dict[int | str, tuple[int, ...]],
        custom: dict[Any, Any],
    ) -> Sample:
        """Set the axes of all entries; return the sample with the summaries for them.

        `columns` and `custom` values are by player, which has an axis of each size.
        """
        sizes = [
            self._size_of_axes(sample, [columns[player] for player in entry])
            for entry in entries
        ]
        automatic = [
            (columns[player], size)
            for entry, size in zip(entries, sizes, strict=True)
            for player in entry
            if custom.get(player) is None
        ]
        sample = self._summarise_sample(sample, automatic)
        axes_by_size: dict[tuple[int | str, int], Axis] = {}
        self.axes_ = []
        for entry, size in zip(entries, sizes, strict=True):
            for player in entry:
                if (player, size) in axes_by_size:
                    continue
                name = player if isinstance(player, str) else sample.rows.names[player]
                request = AxisRequest(columns[player], name, size, custom.get(player))
                axes_by_size[player, size] = self._make_axis(sample, request)
            self.axes_.append(tuple(axes_by_size[player, size] for player in entry))
        axes = {player: axis for (player, _), axis in axes_by_size.items()}
        for player, axis in axes.items():
            if custom.get(player) is None:
                self._warn_if_constant(axis)
        self._names_with_custom_values = {
            axes[player].name for player in custom if player in axes
        }
        return sample

    def _drop_untreatable(
        self,
        entries: list[tuple[int | str, ...]],
        groups: Mapping[str, Sequence[int]],
        rows: Rows,
    ) -> list[tuple[int | str, ...]]:
        """The entries whose columns are numbers, dates or levels.

        The other columns are named in `_left_out`. If no entry is left, all entries are
        returned, and the error that they raise says why.
        """
        untreatable = features.untreatable_columns(rows, self.categorical_features_)
        treatable: list[tuple[int | str, ...]] = [
            (player,)
            for (player,) in entries
            if untreatable.isdisjoint(
                groups[player] if isinstance(player, str) else [player]
            )
        ]
        if not treatable or len(treatable) == len(entries):
            return entries
        self._left_out = features.warn_of_left_out(rows, untreatable)
        return treatable

    def _summarise_sample(
        self, sample: Sample, sizes: Iterable[tuple[tuple[int, ...], int]]
    ) -> Sample:
        """The sample with summaries for the axes of some columns and sizes."""
        quantiles: dict[int, NDArray[np.float64] | None] = {}
        level_sets, most_distinct = [], 0
        for columns, size in sizes:
            if self._is_level_axis(columns):
                level_sets.append(columns)
                continue
            (j,) = columns
            most_distinct = max(most_distinct, size)
            # None stands for all values, which contain any quantiles.
            earlier = quantiles.get(j, np.empty(0))
            needed = self._quantiles_of(sample.rows, j, size)
            quantiles[j] = None
            if earlier is not None and needed is not None:
                quantiles[j] = np.union1d(earlier, np.asarray(needed, np.float64))
        return sample.with_values_and_levels(quantiles, level_sets, most_distinct)

    @abstractmethod
    def _quantiles_of(self, rows: Rows, column: int, size: int) -> ArrayLike | None:
        """Quantiles that make the axis of a numeric column; None for all values."""

    @abstractmethod
    def _size_of_axes(self, sample: Sample, entry: Sequence[tuple[int, ...]]) -> int:
        """Largest number of points, or intervals, of the axes of one entry."""

    @abstractmethod
    def _make_axis(self, sample: Sample, request: AxisRequest) -> Axis:
        """Axis of one feature or group, from custom values if they are given."""

    @abstractmethod
    def _measure(self, sample: Sample, response: Response) -> int:
        """Set the method's fitted attributes; return the number of outputs."""

    def _feature_importances(self) -> NDArray[np.float64]:
        """Importance of each feature, (n_features,)."""
        importances = np.zeros(self.n_features_in_)
        for entry in self._one_way_entries:
            importances[list(self.features_[entry])] = self._importance(entry)
        return importances

    @abstractmethod
    def _importance(self, entry: int) -> float:
        """Importance of a one-way entry's feature, or of each feature of its group."""

    def _effect_at(self, entry: int, rows: Rows) -> NDArray[np.float64]:
        """Effect of a one-way entry at each of the rows: (n_rows, n_outputs).

        Subclasses with a `transform` of their own do not need it.
        """
        raise NotImplementedError

    def _refuse_overlap(self) -> None:
        """Refuse pairs of a feature and a group that contains it."""
        for name, columns in zip(self.effect_names_, self.features_, strict=True):
            if len(set(columns)) < len(columns):
                raise ValueError(
                    f"features has the entry {name!r}, whose parts share a feature."
                )

    def _is_level_axis(self, columns: tuple[int, ...]) -> bool:
        """Whether an axis has levels: those of a category, or joint ones of a group."""
        return len(columns) > 1 or bool(self.categorical_features_[columns[0]])

    def _warn_if_constant(self, axis: Axis) -> None:
        """Warn of a feature with fewer than two distinct values."""
        if axis.categorical:
            n_values = len({label_key(value) for value in axis.values})
        else:
            n_values = len(np.unique(axis.values))
        if n_values <= 1:
            values = "one observed value" if n_values else "no observed value"
            warn(
                f"Leave {axis.name!r} out of features: it has {values} and no effect "
                "to show.",
                ConstantFeatureWarning,
            )

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each point of each entry and output: columns "feature" (and
        "feature2" of pairs), "x" (and "x2"), "output" and "value"; "standard_error"
        and, of shapes alone, "shape_standard_error"; "low" and "high" where there are
        intervals. Where rows have curves of their own, "row" is the position of the
        row, missing for the average.
        """
        blocks = []
        for entry in range(len(self.axes_)):
            blocks += self._entry_blocks(entry, self._number_attributes)
        return blocks

    def _entry_blocks(
        self,
        entry: int,
        attributes: dict[str, str],
        rows: NDArray[np.intp] | None = None,
    ) -> list[dict[str, Any]]:
        """Lines of an entry; with `rows`, a line for each row and point."""
        n_axes = len(self.axes_[entry])
        numbers = {
            column: with_outputs(values[entry], n_axes + (rows is not None))
            for column, name in attributes.items()
            if (values := getattr(self, name, None)) is not None
            and values[entry] is not None
        }
        points = getattr(self, self._points_attribute)[entry]
        points = (points,) if n_axes == 1 else points
        names = [axis.name for axis in self.axes_[entry]]
        return effect_blocks(names, points, numbers, self.output_names_, rows)

    def _result_units(self) -> dict[str, str]:
        return {"value": self._response_name}

    @property
    def _one_way_entries(self) -> list[int]:
        """Positions of the entries of one feature or group."""
        return [entry for entry, axes in enumerate(self.axes_) if len(axes) == 1]

    def _entries_to_transform(self) -> list[int]:
        entries = self._one_way_entries
        if not entries:
            raise ValueError(
                f"{type(self).__name__}.transform returns the effects of single "
                "features, but features has pairs only."
            )
        return entries

    def _show_missing_to_model(self, entries: Iterable[int], rows: Rows) -> None:
        """Send rows with missing values to the model, which may refuse them."""
        axes = [self.axes_[entry][0] for entry in entries]
        numeric = [axis.columns[0] for axis in axes if not axis.categorical]
        missing = np.zeros(rows.n_rows, dtype=bool)
        for column in numeric:
            missing |= np.isnan(rows.numbers(column))
        if missing.any():
            response = make_response(self.estimator_, self.response_method, self.target)
            with counting_rows(self):
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

    def _warn_of_unseen(self, entries: list[int], rows: Rows) -> None:
        """Warn of levels that `fit` did not see."""
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
                    f"categories that fit did not see: "
                    f"{', '.join(unseen[:_MOST_NAMED])}. Their effect is NaN.",
                    UnseenCategoryWarning,
                )

    get_feature_names_out = feature_names_out

    def _column_names(self, input_features: ArrayLike | None) -> list[str]:
        """Names of features, each followed by an output's name if there are several."""
        axes = [self.axes_[entry][0] for entry in self._entries_to_transform()]
        players = [(axis.columns, axis.name) for axis in axes]
        names, outputs = self._names_out(input_features, players)
        return [
            f"{name}{suffix}{output}"
            for name, axis in zip(names, axes, strict=True)
            for suffix in self._column_suffixes(axis)
            for output in outputs
        ]

    def _column_suffixes(self, axis: Axis) -> list[str]:
        """Suffixes of a feature's name, one per column of `transform`."""
        return [""]


def curve_at(
    axis: Axis, rows: Rows, curves: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Curves (k, n_points) along an axis at each row: (n_rows, k); NaN if unknown."""
    if axis.categorical:
        return grids.look_up(axis.codes(rows), curves)
    numbers = rows.numbers(axis.columns[0])
    if not len(axis.values):
        return np.full((len(numbers), len(curves)), np.nan)
    order = axis.order
    return grids.interpolate(numbers, axis.values[order], curves[:, order])


def deviation_of_curves(
    curves: NDArray[np.float64], sums: NDArray[np.float64]
) -> float:
    """Weighted standard deviation over the rows, averaged over outputs.

    `curves` (k, n_points) are in the order of the axis; `sums` are the `grid_sums` of
    the rows.
    """
    return np.sqrt(grids.variance_of_sums(curves, sums)).mean()


def sums_of_entries(
    entries: Sequence[tuple[Axis, ...]], with_pairs: bool, sample: Sample
) -> list[Any]:
    """Sums of the rows along each entry's axis; for pairs weights of points, or 0."""
    total: list[Any] = [0.0] * len(entries)
    for block in slices(sample.rows.n_rows, block_rows(sample.rows.row_bytes)):
        rows, weights = sample.rows.sliced(block), sample.weights[block]
        for entry, axes in enumerate(entries):
            if len(axes) == 1:
                total[entry] = total[entry] + _sums_on_grid(axes[0], rows, weights)
            elif with_pairs:
                total[entry] = total[entry] + _grid_weights(axes, rows, weights)
    return total


def _sums_on_grid(
    axis: Axis, rows: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of the rows by point of the sorted grid, missing values last."""
    low, share = _grid_position(axis, rows)
    is_unknown = np.isnan(share)
    if is_unknown.any():
        low = np.where(is_unknown, len(axis.values), low)
        share = np.where(is_unknown, 0.0, share)
    return grids.grid_sums(low, share, len(axis.values) + 1, weights)


def _grid_weights(
    axes: tuple[Axis, ...], rows: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The rows' weight at each point of the grid of a pair."""
    shape = tuple(len(axis.values) for axis in axes)
    if 0 in shape:
        return np.zeros(0)
    lows, shares = zip(*[_grid_position(axis, rows) for axis in axes], strict=True)
    is_known = ~np.isnan(shares).any(axis=0)
    totals = np.empty(shape)
    points = np.ix_(*[axis.order for axis in axes])
    totals[points] = grids.grid_masses(
        [low[is_known] for low in lows],
        [share[is_known] for share in shares],
        shape,
        weights[is_known],
    )
    return totals.ravel()


def _grid_position(
    axis: Axis, rows: Rows
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Left neighbour of each row's value on a sorted axis, and relative distance to it.

    The distance is a share of the step to the next point, NaN for unknown values.
    """
    if axis.categorical:
        codes = axis.codes(rows)
        return codes, np.where(codes >= 0, 0.0, np.nan)
    if len(axis.values):
        return grids.grid_position(
            rows.numbers(axis.columns[0]), axis.values[axis.order]
        )
    return np.zeros(rows.n_rows, dtype=np.intp), np.full(rows.n_rows, np.nan)


def distinct_axes(
    axes_of_entries: Sequence[tuple[Axis, ...]],
) -> tuple[list[Axis], list[list[int]]]:
    """Distinct axes of all entries, and the positions of each entry's axes."""
    axes = list({id(axis): axis for axes in axes_of_entries for axis in axes}.values())
    positions = {id(axis): position for position, axis in enumerate(axes)}
    return axes, [[positions[id(axis)] for axis in axes] for axes in axes_of_entries]


def one_or_pair(values: Sequence[Any]) -> Any:
    """The value of an entry's only axis, or the pair of values of its two axes."""
    return values[0] if len(values) == 1 else tuple(values)


def grid_replacement(
    axes: tuple[Axis, ...], levels: Any = None, *, together: bool = False
) -> Replacement:
    """All points of the grid over one or two axes, the last axis fastest.

    For a single column, `levels` are the levels of the grid, followed by further
    levels.
    """
    if levels is not None:
        variants = np.arange(len(levels))[None]
        return Replacement(axes[0].columns, (levels,), (variants,), together=together)
    shape = tuple(len(axis.values) for axis in axes)
    columns = tuple(column for axis in axes for column in axis.columns)
    native = tuple(vector for axis in axes for vector in axis.levels)
    # All columns of a group have the codes of its axis.
    codes = tuple(
        axis_codes.reshape(1, -1)
        for axis, axis_codes in zip(axes, np.indices(shape), strict=True)
        for _ in axis.columns
    )
    return Replacement(columns, native, codes, together=together, shape=shape)


def row_curves(
    method: str,
    response: Response,
    rows: Rows,
    grids: list[Replacement],
    *,
    n_jobs: int | None = None,
) -> list[NDArray[np.float64]]:
    """Responses of each row along each grid: list of (k, n_rows, n_variants)."""
    model = choose_evaluator(method, response, rows, grids)
    all_curves = []
    blocks_of_grids = model.responses(_Block.of_responses, n_jobs=n_jobs)
    for grid, blocks in zip(grids, blocks_of_grids, strict=True):
        curves = np.empty((model.n_outputs, rows.n_rows, grid.n_variants))
        for block in blocks:
            outputs_first = np.moveaxis(block.responses, 2, 0)
            curves[:, block.rows, block.variants] = outputs_first
        all_curves.append(curves)
    return all_curves


class _Block(NamedTuple):
    """Responses of some rows to some variants of a grid."""

    rows: slice
    variants: slice
    responses: NDArray[np.float64]  # (n_rows, n_variants, k)

    @classmethod
    def of_responses(
        cls,
        grid: int,
        index: NDArray[np.intp],
        variants: slice,
        responses: NDArray[np.float64],
    ) -> _Block:
        """The block of adjacent rows that `responses` of a model passes on."""
        return cls(slice(index[0], index[-1] + 1), variants, responses)
