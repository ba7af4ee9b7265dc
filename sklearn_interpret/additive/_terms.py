"""The terms of an additive model, made of the columns of a table.

`TermReader` makes the terms that the parameters of a model name. A pass over the rows
gives a `Summary` of each column; a fitted model keeps a `Column`, and a `FittedTerm`
for each function of one or two columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.additive.bases import (
    WIDE_GAP,
    LevelBasis,
    LineBasis,
    SplineBasis,
)
from sklearn_interpret._core.additive.gram import MOST_VALUES, Bins, CodedTerm
from sklearn_interpret._core.additive.pairs import Groups
from sklearn_interpret._core.additive.terms import (
    Term,
    single_term,
    tensor_term,
    varying_term,
)
from sklearn_interpret._core.statistics.weighted import weighted_quantile
from sklearn_interpret._model.rows.base import is_missing, label_key, order_labels
from sklearn_interpret._model.rows.dates import as_clock, as_dates, days, is_date
from sklearn_interpret._model.rows.features import (
    feature_index,
    resolve_keys,
    untreatable_columns,
    warn_of_left_out,
)
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret.additive._pair_search import Pair, PairSearch

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.gram import Histogram
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.additive._gam import BaseGAM

# Position of a column, and the kind of term ("spline", ...) that it is read for.
ColumnKind = tuple[int, str]

_KINDS = ("auto", "spline", "linear", "category", "cyclic")
# Largest default number of splines of each column of a pair. Chosen by hand: a surface
# has a coefficient for each product of two splines, which few rows do not determine.
_MOST_SPLINES_OF_PAIR = 8
# Up to this number of products of both columns' functions, a column of a pair may have
# as many splines as alone: a curve for each of few values of the other column.
_FEW_PRODUCTS = 100
# Most pairs that a search adds, to bound its time.
_MOST_PAIRS = 30
# Largest range of a column whose sums and differences are finite.
_MAX_RANGE = 1e280
# Up to this number of distinct numbers, curves are straight lines between neighbours.
# Chosen by hand: for more numbers, a smooth curve saves coefficients.
_FEW_VALUES = 12


@dataclass(frozen=True)
class Column:
    """A column of `fit`: its numbers, or levels by position.

    Parameters
    ----------
    position : int
        Which column.
    labels : list or None
        Levels, None for numbers.
    low, high : float
        Smallest and largest number.
    missing : bool
        Whether some were missing.
    gaps : ndarray of shape (n_gaps, 2)
        Ends of wide gaps between the numbers.
    date_dtype : numpy.dtype or None
        Dtype of the dates that the numbers are the days of.
    values : list or None
        Distinct numbers, None if they are many.
    """

    position: int
    labels: list | None = None
    low: float = 0.0
    high: float = 0.0
    missing: bool = False
    gaps: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    date_dtype: Any = None
    values: list | None = None

    def is_extrapolated(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether numbers are beyond those of `fit`, or in a wide gap of them."""
        margin = WIDE_GAP * (self.high - self.low)
        outside = (values < self.low - margin) | (values > self.high + margin)
        for low, high in self.gaps:
            outside |= (low < values) & (values < high)
        return outside

    def encode(self, values: Any) -> NDArray[np.float64]:
        """Numbers as they are, positions of levels; -1 for unknown levels."""
        if self.labels is None:
            if self.date_dtype is not None and values.dtype.kind not in "iuf":
                values = days(as_clock(values, self.date_dtype.kind))
            return np.asarray(values, dtype=np.float64)
        codes = {label_key(label): i for i, label in enumerate(self.labels)}
        positions = [codes.get(label_key(value), -1) for value in values]
        return np.array(positions, dtype=np.float64)

    def grid(self, n_points: int) -> list[Any] | NDArray[Any]:
        """All levels or distinct values, or numbers over the range outside of gaps."""
        if self.labels is not None:
            return self.labels
        values = self.values
        if values is None:
            points = np.union1d(np.linspace(self.low, self.high, n_points), self.gaps)
            low, high = self.gaps.T[:, :, None]
            values = points[~((low < points) & (points < high)).any(axis=0)].tolist()
        if self.date_dtype is None:
            return values
        return np.unique(as_dates(values, self.date_dtype))

    def read(
        self, rows: Rows, handle_unknown: str, extrapolation: str
    ) -> NDArray[np.float64]:
        """Numbers, or positions of levels, of other rows; NaN or -1 if unknown."""
        name = rows.names[self.position]
        if self.labels is None:
            values = _as_numbers(rows, self.position)
            outside = (values < self.low) | (values > self.high)
            if extrapolation == "error" and outside.any():
                value_and_range = [values[outside][0], self.low, self.high]
                value, low, high = map(
                    entry_text, as_dates(value_and_range, self.date_dtype)
                )
                raise ValueError(
                    f"The feature {name!r} has the value {value}, and "
                    f"extrapolation='error': fit saw {low} to {high}."
                )
        else:
            codes, labels = rows.encode_column(self.position)
            values = self.encode(labels)[codes]
        if handle_unknown == "error":
            self.refuse_unknown(values, rows.column_array(self.position), name)
        return values

    def extents(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Smallest number, and smallest negative of a number, in bins of the range.

        Bins have half the width of a wide gap, so that each gap has an empty bin. A
        column of levels has no numbers.
        """
        values = values[~np.isnan(values) & (self.labels is None)]
        n_bins = round(2 / WIDE_GAP)
        scale = n_bins / max(self.high - self.low, 1e-300)
        bins = ((values - self.low) * scale).astype(np.intp)
        extents = np.full((2, n_bins + 1), np.inf)
        np.minimum.at(extents[0], bins, values)
        np.minimum.at(extents[1], bins, -values)
        return extents

    def with_gaps(self, extents: NDArray[np.float64]) -> Column:
        """The column with the wide gaps between its numbers."""
        smallest, negative = extents[:, np.isfinite(extents[0])]
        # A gap is between the largest number of a bin and the smallest of the next.
        gap_starts, gap_ends = -negative[:-1], smallest[1:]
        is_wide = gap_ends - gap_starts > WIDE_GAP * (self.high - self.low)
        return replace(self, gaps=np.stack([gap_starts, gap_ends], axis=1)[is_wide])

    def refuse_unknown(
        self, encoded: NDArray[np.float64], values: NDArray[Any], name: str
    ) -> None:
        """Refuse values that `fit` did not see, by their codes of `encode`."""
        if self.labels is None:
            unknown = np.isnan(encoded) & (not self.missing)
        else:
            unknown = encoded < 0
        if unknown.any():
            value = values[unknown].tolist()[0]
            raise ValueError(
                f"The feature {name!r} has the value {value!r}, which fit did not see; "
                "handle_unknown='zero' takes its effect for zero."
            )


@dataclass(frozen=True)
class Summary:
    """Summary of the values of a column, for a term of one kind.

    Parameters
    ----------
    labels, declared : list or None
        Levels of a category, and those that its dtype declares.
    low, high : float
        Smallest and largest number.
    missing : bool
        Whether some are missing.
    distinct : ndarray or None
        Distinct numbers, NaN last; None if they are many.
    weight, center, spread : float
        Sum of the weights; weighted mean and standard deviation of the numbers of a
        straight line.
    """

    labels: list | None = None
    declared: list | None = None
    low: float = 0.0
    high: float = 0.0
    missing: bool = False
    distinct: np.ndarray | None = None
    weight: float = 1.0
    center: float = 0.0
    spread: float = 0.0

    @property
    def n_distinct(self) -> float:
        """Number of levels, or distinct numbers, infinite if they are many."""
        if self.labels is not None:
            return len(self.labels)
        if self.distinct is None:
            return np.inf
        return int((~np.isnan(self.distinct)).sum())

    @classmethod
    def of_column(
        cls, rows: Rows, weights: NDArray[np.float64], j: int, kind: str
    ) -> Summary:
        """The summary of rows, for a term of some kind."""
        if kind == "category":
            codes, labels = rows.encode_column(j)
            labels = [labels[code] for code in np.unique(codes)]
            missing = any(map(is_missing, labels))
            return cls(labels, rows.categories(j), missing=missing)
        x = _as_numbers(rows, j)
        # NaN is neither smallest nor largest.
        low, high = np.fmin.reduce(x), np.fmax.reduce(x)
        # Often some rows show that there are many values: not all need to be sorted.
        has_few_values = _distinct_if_few(x[:2000]) is not None
        distinct = _distinct_if_few(x) if has_few_values else None
        missing, center, spread = bool(np.isnan(x).any()), 0.0, 0.0
        if kind == "linear":
            center = np.average(x, weights=weights)
            # In units of the largest deviation, squares do not overflow.
            largest_deviation = max(high - center, center - low) or 1.0
            squares = ((x - center) / largest_deviation) ** 2
            spread = largest_deviation * np.sqrt(np.average(squares, weights=weights))
        weight = weights.sum()
        return cls(None, None, low, high, missing, distinct, weight, center, spread)

    def __add__(self, other: Summary) -> Summary:
        """The summary of the rows of both."""
        labels = declared = distinct = None
        if self.labels is not None and other.labels is not None:
            labels_by_key = {
                label_key(label): label for label in [*self.labels, *other.labels]
            }
            # Categories of different dtypes have no common order.
            declared = self.declared if self.declared == other.declared else None
            labels = order_labels(list(labels_by_key.values()), declared)
        if self.distinct is not None and other.distinct is not None:
            values = np.concatenate([self.distinct, other.distinct])
            distinct = _distinct_if_few(values)
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        missing, weight = self.missing or other.missing, self.weight + other.weight
        share, distance = other.weight / weight, other.center - self.center
        center = self.center + share * distance
        # Variances within both and between the means, as roots: squares may overflow.
        deviations = np.sqrt(1 - share) * np.array(
            [self.spread, np.sqrt(share) * distance]
        )
        spread = np.hypot(np.hypot(*deviations), np.sqrt(share) * other.spread)
        return Summary(
            labels, declared, low, high, missing, distinct, weight, center, spread
        )

    def column(self, j: int, name: str) -> Column:
        """The column at a position, without its gaps."""
        low, high = self.low, self.high
        if np.isnan(low):
            raise ValueError(f"The feature {name!r} has missing values only.")
        if low < high and not 1 / _MAX_RANGE < high - low < _MAX_RANGE:
            raise ValueError(
                f"The feature {name!r} has values from {low:g} to {high:g}; "
                f"accepted are ranges from {1 / _MAX_RANGE:g} to {_MAX_RANGE:g}: "
                "rescale it."
            )
        values = None
        if self.distinct is not None and self.n_distinct <= _FEW_VALUES:
            values = self.distinct[: int(self.n_distinct)].tolist()
        return Column(j, self.labels, low, high, self.missing, values=values)


def _distinct_if_few(x: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Distinct values, None if they are many."""
    values = np.unique(x)
    return values if len(values) <= MOST_VALUES else None


def _as_numbers(rows: Rows, j: int) -> NDArray[np.float64]:
    """A column as float64; NaN where it is missing."""
    values = rows.column_array(j)
    if values.dtype.kind not in "iufb":
        raise ValueError(
            f"terms: the feature {rows.names[j]!r} is not numeric (dtype "
            f"{values.dtype}); a term 'category' takes it."
        )
    return values.astype(np.float64)


@dataclass(frozen=True)
class FittedTerm:
    """A term, and the columns that it is a function of.

    Parameters
    ----------
    columns : tuple of one or two Column
        In the order of the term's bases: what `by` names, then the term's feature.
    kind : str
        The kind of the term.
    term : Term
        The function.
    """

    columns: tuple[Column, ...]
    kind: str
    term: Term

    def name(self, names: NDArray[Any] | list[str]) -> str:
        """The name of the term, from the names of all columns."""
        return ":".join(names[column.position] for column in self.ordered_columns)

    @property
    def ordered_columns(self) -> tuple[Column, ...]:
        """The columns in the order of the term's name: that of `by` comes second."""
        return self.columns[::-1] if self.kind == "by" else self.columns

    @property
    def is_curve(self) -> bool:
        """Whether the term is a line or curve of a number, or one for each level."""
        if getattr(self.term.bases[-1], "cyclic", False):
            return False
        by_levels = self.kind == "by" and self.columns[0].labels is not None
        return self.kind in ("spline", "linear") or by_levels

    def axes(self) -> list[NDArray[Any]]:
        """Values over the range of each column of the term."""
        few_values = [column.labels or column.values for column in self.columns]
        n_points = 100 if len(few_values) == 1 or any(few_values) else 30
        return [
            np.array(column.grid(n_points), dtype=object if column.labels else None)
            for column in self.ordered_columns
        ]

    def grid(self) -> NDArray[Any]:
        """Values over the range of the columns, (n_points,) or (n_points, 2)."""
        axes = self.axes()
        if len(axes) == 1:
            return axes[0]
        dtype = object if any(map(is_date, axes)) else np.result_type(*axes)
        return np.array(list(product(*axes)), dtype=dtype)

    def evaluate(
        self, values: NDArray[Any], names: list[str], handle_unknown: str
    ) -> NDArray[np.float64]:
        """Coordinates (n_points, n_coordinates) at values like those of `grid`."""
        is_pair = len(self.columns) > 1
        if values.ndim != 1 + is_pair or values.shape[1:] not in ((), (2,)):
            raise ValueError(
                f"values has the shape {values.shape}; this term takes "
                f"{'(n_points, 2)' if is_pair else '(n_points,)'}."
            )
        columns = []
        for column, column_values in zip(
            self.ordered_columns, np.atleast_2d(values.T), strict=True
        ):
            columns.append(column.encode(column_values))
            if handle_unknown == "error":
                column.refuse_unknown(
                    columns[-1], column_values, names[column.position]
                )
        return self.term.evaluate(columns[::-1] if self.kind == "by" else columns)

    def code(self, rows: Rows) -> CodedTerm:
        """The columns of rows of `fit`, with bins as `fit` had them for all its rows.

        A ValueError names a value that is not of these rows.
        """
        values = self.read(rows, "error", "linear")
        bins = [
            _make_bins(basis, column, _distinct_if_few(x))
            for column, basis, x in zip(
                self.columns, self.term.bases, values, strict=True
            )
            if not isinstance(basis, LineBasis)
        ]
        return CodedTerm(bins, values)

    def with_centred_term(
        self, term: Term, extents: list[NDArray[np.float64]]
    ) -> FittedTerm:
        """The centred term, with the gaps of its columns by their extents."""
        columns = map(Column.with_gaps, self.columns, extents)
        return replace(self, columns=tuple(columns), term=term)

    def is_extrapolated(self, values: list[NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Whether values of the columns are where `fit` saw no values."""
        outside = np.zeros(len(values[0]), dtype=bool)
        for column, basis, x in zip(self.columns, self.term.bases, values, strict=True):
            if not isinstance(basis, LevelBasis):
                outside |= column.is_extrapolated(basis.moved_to_first_period(x))
        return outside

    def read(
        self, rows: Rows, handle_unknown: str, extrapolation: str
    ) -> list[NDArray[np.float64]]:
        """The columns of some rows, as the bases take them."""
        return [
            column.read(
                rows,
                handle_unknown,
                # A cyclic column has no outside.
                "linear" if getattr(basis, "cyclic", False) else extrapolation,
            )
            for column, basis in zip(self.columns, self.term.bases, strict=True)
        ]


class TermReader:
    """Makes the terms that the parameters of a model name, of columns of a table.

    Parameters
    ----------
    parameters : estimator
        Has `terms`, `n_splines`, `knots`, `by`, `periods`, `offset`, `shrinkage` and
        `extrapolation`.
    rows : Rows
        Rows of the table, for names and dtypes.

    Attributes
    ----------
    entries : list of tuple
        Of each term, the position of its feature, or of both of a pair; and its kind as
        `terms` has it.
    kinds : dict of int to str
        Kind of the term of each feature that has one of its own.
    left_out : set of int
        Features whose terms are left out.
    """

    def __init__(self, parameters: BaseGAM, rows: Rows) -> None:
        self.parameters, self.rows = parameters, rows
        self.offset = None
        if parameters.offset is not None:
            self.offset = self._resolve_feature(parameters.offset, "offset")
        self.entries = self._resolve_entries()
        single_kinds = {
            entry[0]: kind for entry, kind in self.entries if len(entry) == 1
        }
        self.kinds = {
            j: self._kind_of_feature(j, kind) for j, kind in single_kinds.items()
        }
        self._by = {
            j: self._resolve_feature(feature, "by")
            for j, feature in self._resolve_keys("by").items()
        }
        self._periods = self._resolve_keys("periods")
        self.left_out: set[int] = set()
        self._n_splines = self._resolve_n_splines()
        self._check_keys()

    def _resolve_feature(self, feature: int | str, parameter: str) -> int:
        rows = self.rows
        return feature_index(feature, rows.names, named=rows.named, parameter=parameter)

    def _resolve_keys(self, parameter: str) -> dict[Any, Any]:
        """A parameter that is a dict of features, by position."""
        rows = self.rows
        return resolve_keys(
            getattr(self.parameters, parameter),
            rows.names,
            named=rows.named,
            parameter=parameter,
        )

    def _resolve_entry(
        self, key: int | str | tuple[int, int], parameter: str
    ) -> tuple[int, ...]:
        """Positions of the feature, or the pair of features, of a term."""
        features = key if isinstance(key, tuple | list) else (key,)
        entry = tuple(self._resolve_feature(feature, parameter) for feature in features)
        if len(entry) > 2 or len(set(entry)) < len(entry) or not entry:
            raise ValueError(
                f"{parameter} has the entry {features!r}; a term is of one feature or "
                "a pair of two."
            )
        return entry

    def _resolve_entries(self) -> list[tuple[tuple[int, ...], str]]:
        """Features and kind of each term, as `entries` has them."""
        terms = self.parameters.terms
        if terms is None:
            columns = set(range(self.rows.n_columns)) - {self.offset}
            left_out = (
                untreatable_columns(self.rows, self.rows.detected_categorical) & columns
            )
            if left_out and left_out < columns:
                warn_of_left_out(self.rows, left_out)
                columns -= left_out
            terms = sorted(columns)
        if not isinstance(terms, Mapping):
            terms = [(key, "auto") for key in terms]
        else:
            terms = list(terms.items())
        entries = [(self._resolve_entry(key, "terms"), kind) for key, kind in terms]
        if not entries:
            raise ValueError(f"there is no term to fit: terms={terms!r}.")
        if isinstance(interactions := self.parameters.interactions, list):
            pairs = [self._resolve_entry(pair, "interactions") for pair in interactions]
            if any(len(pair) < 2 for pair in pairs):
                raise ValueError(
                    f"interactions={interactions!r} has features that are no pair; "
                    "each entry is a tuple of two."
                )
            entries += [(pair, "auto") for pair in pairs]
        if len({frozenset(entry) for entry, _ in entries}) < len(entries):
            raise ValueError(
                "terms and interactions have a feature, or a pair, more than once."
            )
        for entry, kind in entries:
            accepted = _KINDS if len(entry) == 1 else ("auto", "tensor")
            if kind not in accepted:
                raise ValueError(
                    f"terms has the kind {kind!r} for {self._quote_names(entry)}; "
                    f"accepted are {', '.join(map(repr, accepted))}."
                )
        return entries

    def _kind_of_feature(self, j: int, kind: str = "auto") -> str:
        """The kind of a column's own term; "auto" is decided by its dtype."""
        if kind != "auto":
            return kind
        return "category" if self.rows.is_categorical(j) else "spline"

    def _resolve_n_splines(self) -> dict[tuple[int, ...], int]:
        n_splines = self.parameters.n_splines
        if not isinstance(n_splines, Mapping):
            return {}
        n_splines_by_entry = {
            self._resolve_entry(key, "n_splines"): n for key, n in n_splines.items()
        }
        for n in n_splines_by_entry.values():
            if not isinstance(n, Integral) or n < 4:
                raise ValueError(f"n_splines has the number {n!r}; it takes 4 or more.")
        return n_splines_by_entry

    def _check_keys(self) -> None:
        """Refuse entries of parameters for features whose terms do not take them."""
        curves = {j for j, kind in self.kinds.items() if kind in ("spline", "cyclic")}
        cyclic = {j for j, kind in self.kinds.items() if kind == "cyclic"}
        for parameter, keys, accepted, kinds in (
            ("by", self._by, curves, "a term 'spline' or 'cyclic'"),
            ("periods", self._periods, cyclic, "a term 'cyclic'"),
        ):
            for j in set(keys) - accepted:
                raise ValueError(
                    f"{parameter} is for {kinds}; got {self._quote_names((j,))}."
                )
        for j, by in self._by.items():
            if j == by:
                raise ValueError(f"by has {self._quote_names((j,))} vary with itself.")
        for j in cyclic - set(self._periods):
            raise ValueError(
                f"periods needs the period of {self._quote_names((j,))}, whose term is "
                "'cyclic', such as 24 for hours."
            )
        for period in self._periods.values():
            if not isinstance(period, Real) or not 0 < float(period) < np.inf:
                raise ValueError(f"periods has the period {period!r}; it must be > 0.")
        entries = {entry for entry, _ in self.entries}
        for entry in set(self._n_splines) - entries:
            raise ValueError(
                f"n_splines names {self._quote_names(entry)}, which is no term."
            )

    def _quote_names(self, entry: tuple[int, ...]) -> str:
        """Name of a feature, or of both of a pair, for a message."""
        names = [self.rows.names[j] for j in entry]
        return repr(names[0]) if len(names) == 1 else repr(tuple(names))

    def _columns_of(self, entry: tuple[int, ...]) -> list[ColumnKind]:
        """Columns of a term in the order of its bases, each with the kind."""
        if len(entry) == 2:
            # Surfaces need bases that contain the constant.
            kinds = [self.kinds.get(j) or self._kind_of_feature(j) for j in entry]
            kinds = ["spline" if kind == "linear" else kind for kind in kinds]
            return list(zip(entry, kinds, strict=True))
        (j,) = entry
        columns = [(j, self.kinds[j])]
        if j not in self._by:
            return columns
        by = self._by[j]
        kind = self.kinds.get(by) or self._kind_of_feature(by)
        return [(by, kind if kind == "category" else "linear"), *columns]

    @property
    def pairs(self) -> set[Pair]:
        """Increasing positions of the features of each pair that is a term."""
        pairs = [entry for entry, _ in self.entries if len(entry) == 2]
        return {(min(pair), max(pair)) for pair in [*pairs, *self._by.items()]}

    def add_pairs(self, pairs: Iterable[Pair]) -> None:
        """Add a term for each pair of features."""
        self.entries += [(pair, "tensor") for pair in pairs]

    def remove_pairs(self, pairs: Collection[Pair]) -> None:
        """Remove the terms of pairs."""
        self.entries = [entry for entry in self.entries if entry[0] not in pairs]

    @property
    def n_surplus_terms(self) -> int:
        """Number of terms of single features beyond the largest number."""
        n_single = sum(len(entry) == 1 for entry, _ in self.entries)
        return n_single - (self.parameters.max_terms or n_single)

    def leave_out_terms(self, ranking: Sequence[int]) -> None:
        """Leave out surplus terms, the last of a ranking of the entries' positions.

        Terms with, or of, a feature of a pair, or of `by`, stay.
        """
        paired = {j for pair in self.pairs for j in pair}
        removable = [k for k in ranking if not paired.intersection(self.entries[k][0])]
        surplus_entries = set(removable[-self.n_surplus_terms :])
        self.left_out = {self.entries[k][0][0] for k in surplus_entries}
        self.kinds = {
            j: kind for j, kind in self.kinds.items() if j not in self.left_out
        }
        self.entries = [
            entry for k, entry in enumerate(self.entries) if k not in surplus_entries
        ]

    @property
    def is_search(self) -> bool:
        """Whether pairs are searched."""
        interactions = self.parameters.interactions
        return interactions is not None and not isinstance(interactions, list)

    @property
    def most_pairs(self) -> int:
        """Most pairs that a search may add."""
        interactions = self.parameters.interactions
        return interactions if isinstance(interactions, Integral) else _MOST_PAIRS

    def pair_search(
        self, bins: list[list[Bins]], histograms: list[Histogram]
    ) -> PairSearch:
        """The search among features with a curve, or an effect of levels.

        `bins` and `histograms` are those of all terms.
        """
        terms, groups = {}, {}
        for k, (entry, _) in enumerate(self.entries if self.is_search else ()):
            j, kind = entry[0], self.kinds.get(entry[0])
            if len(entry) == 1 and kind != "linear" and j not in self._by:
                has_missing = getattr(bins[k][0].basis, "missing", False)
                groups[j] = Groups.of_counts(
                    histograms[k].counts, kind == "category", has_missing
                )
                terms[j] = k
        return PairSearch(terms, groups)

    @property
    def needed_columns(self) -> set[ColumnKind]:
        """Columns of all terms, each with the kind that it is read for."""
        return {key for entry, _ in self.entries for key in self._columns_of(entry)}

    @property
    def columns(self) -> list[int]:
        """Increasing positions of the columns that are read."""
        offset = [] if self.offset is None else [self.offset]
        return sorted({*offset, *(j for j, _ in self.needed_columns)})

    def terms(
        self, summaries: dict[ColumnKind, Summary], sample: Sample
    ) -> tuple[list[FittedTerm], list[list[Bins]]]:
        """Terms that are not centred, without gaps, and the bins of their columns.

        Parameters
        ----------
        summaries : dict
            The `Summary` of each needed column.
        sample : Sample or PartitionedSample
            All rows.
        """
        terms_with_bins = [
            self._make_term(entry, summaries, sample) for entry, _ in self.entries
        ]
        terms, bins = zip(*terms_with_bins, strict=True)
        return list(terms), list(bins)

    def _make_term(
        self,
        entry: tuple[int, ...],
        summaries: dict[ColumnKind, Summary],
        sample: Sample,
    ) -> tuple[FittedTerm, list[Bins]]:
        """The term of an entry, and bins of its columns, except of straight lines."""
        shrinkage = self.parameters.shrinkage
        columns: list[Column] = []
        bases: list[Any] = []
        bins: list[Bins] = []
        for j, kind in self._columns_of(entry):
            summary = summaries[j, kind]
            column = summary.column(j, self.rows.names[j])
            columns.append(replace(column, date_dtype=self.rows.date_dtype(j)))
            self._refuse_missing(columns[-1], kind)
            n_splines = 0
            if kind in ("spline", "cyclic"):
                n_splines = self._n_splines_of(entry, (j, kind), summaries)
            bases.append(
                self._make_basis(columns[-1], summary, kind, n_splines, sample)
            )
            if kind != "linear":
                bins.append(_make_bins(bases[-1], columns[-1], summary.distinct))
        j = entry[0]
        if len(entry) == 2:
            has_first, has_second = (
                j in self.kinds and j not in self._by for j in entry
            )
            term = tensor_term(
                (bases[0], bases[1]),
                has_main=(has_first, has_second),
                shrinkage=shrinkage,
            )
            return FittedTerm(tuple(columns), "tensor", term), bins
        if j in self._by:
            by = self._by[j]
            has_line = self.kinds.get(by) in ("spline", "linear") and by not in self._by
            term = varying_term(
                bases[0], bases[1], has_main=has_line, shrinkage=shrinkage
            )
            return FittedTerm(tuple(columns), "by", term), bins
        term = single_term(bases[0], shrinkage)
        return FittedTerm(tuple(columns), self.kinds[j], term), bins

    def _refuse_missing(self, column: Column, kind: str) -> None:
        """Refuse missing values that the term has no level for."""
        name = self.rows.names[column.position]
        if column.missing and self.parameters.missing == "error":
            raise ValueError(
                f"The feature {name!r} has missing values; missing='level' makes them "
                "a level."
            )
        if column.missing and kind == "linear":
            raise ValueError(
                f"The feature {name!r} has missing values: a straight line has no "
                "level for them."
            )

    def _make_basis(
        self,
        column: Column,
        summary: Summary,
        kind: str,
        n_splines: int,
        sample: Sample,
    ) -> Any:
        """The basis functions of a column."""
        if column.labels is not None:
            return LevelBasis(len(column.labels))
        if kind == "linear":
            return LineBasis(summary.center, summary.spread or 1.0)
        extrapolation = self.parameters.extrapolation
        # Between few values, no row says how a curve would go: lines are straight.
        has_few_values = column.values is not None and len(column.values) <= n_splines
        is_straight = has_few_values and kind == "spline"
        return SplineBasis(
            self._make_breaks(column, kind, n_splines, sample, is_straight),
            cyclic=kind == "cyclic",
            extrapolation="linear" if extrapolation == "error" else extrapolation,
            missing=column.missing,
            degree=1 if is_straight else 3,
        )

    def _n_splines_of(
        self,
        entry: tuple[int, ...],
        column: ColumnKind,
        summaries: dict[ColumnKind, Summary],
    ) -> int:
        """Number of splines of a term's column, at most the number of its values."""
        default = self.parameters.n_splines
        n_splines = 20.0 if isinstance(default, Mapping) else default
        if len(entry) == 2:
            (other,) = (key for key in self._columns_of(entry) if key != column)
            n_products = _FEW_PRODUCTS // summaries[other].n_distinct
            n_splines = min(n_splines, max(n_products, _MOST_SPLINES_OF_PAIR))
        n_splines = self._n_splines.get(entry, n_splines)
        return int(min(n_splines, max(summaries[column].n_distinct, 3)))

    def quantiles(
        self, summaries: dict[ColumnKind, Summary]
    ) -> dict[int, NDArray[np.float64]]:
        """Shares of the rows below breaks, by column, if breaks are quantiles."""
        quantiles: dict[int, NDArray[np.float64]] = {}
        for entry, _ in self.entries if self.parameters.knots == "quantile" else ():
            for j, kind in self._columns_of(entry):
                if kind == "spline":
                    n_splines = self._n_splines_of(entry, (j, kind), summaries)
                    numbers_of_splines = [n_splines]
                    if self.is_search:  # in a pair, a column may have fewer splines
                        numbers_of_splines += range(_MOST_SPLINES_OF_PAIR, n_splines)
                    shares = np.concatenate(
                        list(map(_shares_below_breaks, numbers_of_splines))
                    )
                    quantiles[j] = np.union1d(quantiles.get(j, ()), shares)
        return quantiles

    def _make_breaks(
        self,
        column: Column,
        kind: str,
        n_splines: int,
        sample: Sample,
        is_straight: bool,
    ) -> NDArray[np.float64]:
        """Points where the pieces of splines meet."""
        low, high = column.low, column.high
        if kind == "cyclic":
            period = float(self._periods[column.position])
            return np.linspace(low, low + period, n_splines + 1)
        if low == high:
            margin = max(1.0, abs(low)) / 2
            low, high = low - margin, high + margin
            return np.array([low, high])
        if is_straight:
            return np.array(column.values)
        shares = _shares_below_breaks(n_splines)
        if self.parameters.knots == "quantile":
            values, weights = sample.values_of(column.position)
            return np.unique(weighted_quantile(values, shares, weights))
        return low + (high - low) * shares


def _make_bins(
    basis: SplineBasis | LevelBasis,
    column: Column,
    distinct: NDArray[np.float64] | None,
) -> Bins:
    """Bins of a column: of each level, of each of few distinct numbers, or of many."""
    if column.labels is not None:
        distinct = np.arange(float(len(column.labels)))
    return Bins(basis, distinct)


def _shares_below_breaks(n_splines: int) -> NDArray[np.float64]:
    """Shares of a range, or of rows, below each break."""
    return np.linspace(0, 1, n_splines - 2)
