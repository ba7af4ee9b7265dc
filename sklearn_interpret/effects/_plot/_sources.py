"""Displays of effects from predictors, inspectors and folds."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import feature_index
from sklearn_interpret._plotting.displays import Display, FoldsMixin
from sklearn_interpret._plotting.sources import (
    check_same_in_folds,
    outputs_have_names,
    response_name,
)

MAX_DATA_ROWS = 5000  # rows of the data that a display keeps, at most


class EffectSources(FoldsMixin, Display):
    """Constructors of a display of one inspector's effects, entry by entry.

    A subclass lists the arguments of its constructor that are fitted attributes of the
    inspector: the places of the effects (`_points`), the numbers whose mean over folds
    is drawn (`_means`, the effects first), those that exist without folds only
    (`_spreads`), and the argument for the effects fold by fold (`_by_fold`).
    """

    _choices = frozenset({"features"})
    _shows_rows = _inspects_again = True
    _points: ClassVar[tuple[str, ...]]
    _means: ClassVar[tuple[str, ...]]
    _spreads: ClassVar[tuple[str, ...]] = ()
    _by_fold: ClassVar[str]

    @classmethod
    def _from_inspector(cls, inspector, X, sample_weight, *, features: Any = None):
        names = (*cls._points, *cls._means, *cls._spreads)
        arrays = {name: getattr(inspector, f"{name}_", None) for name in names}
        entries = chosen_entries(inspector, features)
        return cls._made([inspector], arrays, X, sample_weight, entries)

    @classmethod
    def _from_folds(cls, inspectors, X, sample_weight):
        check_outputs(inspectors)
        first, effects = inspectors[0], f"{cls._means[0]}_"
        arrays = {name: getattr(first, f"{name}_") for name in cls._points}
        arrays |= {name: _mean(inspectors, f"{name}_") for name in cls._means}
        parts = zip(*(getattr(one, effects) for one in inspectors), strict=True)
        arrays[cls._by_fold] = list(map(np.stack, parts))
        entries = range(len(first.axes_))
        return cls._made(inspectors, arrays, X, sample_weight, entries)

    @classmethod
    def _made(cls, inspectors, arrays, X, sample_weight, entries):
        """The display of those entries of the inspectors."""
        first = inspectors[0]
        by_feature = [
            getattr(one, "feature_importances_", np.zeros(one.n_features_in_))
            for one in inspectors
        ]
        importances = np.mean(by_feature, axis=0)
        if "grid_values" in arrays:
            for name in arrays.keys() - {"missing_average"}:
                arrays[name] = arrays[name] and [
                    increasing(values, axes)
                    for values, axes in zip(arrays[name], first.axes_, strict=True)
                ]
        arrays = {
            **arrays,
            "feature_names": first.effect_names_,
            "categorical": [
                tuple(axis.categorical for axis in axes) for axes in first.axes_
            ],
            "data": data_along(first, X, sample_weight),
            "importances": [
                importances[columns[0]] if len(axes) == 1 else np.nan
                for axes, columns in zip(first.axes_, first.features_, strict=True)
            ],
        }
        picked = {
            name: None if values is None else [values[entry] for entry in entries]
            for name, values in arrays.items()
        }
        return cls(
            **picked,
            output_names=output_texts(first),
            response_name=response_name(first),
            **cls._settings_of(first),
        )

    @classmethod
    def _settings_of(cls, inspector):
        """Arguments of the constructor that are not one per entry."""
        return {}


def increasing(values, axes):
    """Numbers (..., G) or (..., G1, G2) of an entry, or its grids, by sorted grids."""
    orders = [axis.order for axis in axes]
    if isinstance(values, tuple):
        return tuple(grid[order] for grid, order in zip(values, orders, strict=True))
    return None if values is None else values[(..., *np.ix_(*orders))]


def check_outputs(inspectors):
    """Refuse folds of different outputs."""
    check_same_in_folds([list(one.output_names_) for one in inspectors], "outputs")


def output_texts(inspector):
    """Names of the outputs, or None for a single output that needs none."""
    names = list(inspector.output_names_)
    return names if len(names) > 1 or outputs_have_names(inspector) else None


def _mean(inspectors, attribute):
    """Mean over folds, entry by entry, or None."""
    lists = [getattr(inspector, attribute, None) for inspector in inspectors]
    if lists[0] is None:
        return None
    return [
        None if parts[0] is None else sum(parts) / len(parts)
        for parts in zip(*lists, strict=True)
    ]


def data_along(inspector, X, sample_weight=None):
    """Values (n,) of each entry's features in some of the rows; of pairs a pair."""
    rows = as_rows(X)
    validate_data(inspector, rows.native, reset=False, skip_check_array=True)
    kept = np.arange(rows.n_rows)
    if sample_weight is not None:
        kept = np.flatnonzero(np.asarray(sample_weight) > 0)
    if len(kept) > MAX_DATA_ROWS:
        draw = np.random.default_rng(0).choice(len(kept), MAX_DATA_ROWS, replace=False)
        kept = kept[np.sort(draw)]
    rows = rows.take(kept)
    values = [
        tuple(_values_along(axis.columns, rows, axis.categorical) for axis in axes)
        for axes in inspector.axes_
    ]
    return [entry if len(entry) > 1 else entry[0] for entry in values]


def values_of(inspector, X, feature, kept):
    """Name, values in some rows, and levels (None of a number) of a single feature."""
    rows = as_rows(X)
    validate_data(inspector, rows.native, reset=False, skip_check_array=True)
    column = feature_index(feature, rows.names, named=rows.named, parameter="color_by")
    if max(kept, default=-1) >= rows.n_rows:
        raise ValueError(
            f"color_by={feature!r} needs the rows that were inspected; X has "
            f"{rows.n_rows} rows, and row {max(kept)} has a curve."
        )
    rows = rows.take(kept)
    categorical = bool(inspector.categorical_features_[column])
    values = _values_along((column,), rows, categorical)
    levels = list(rows.encode((column,))[1]) if categorical else None
    return rows.names[column], values, levels


def _values_along(columns, rows, categorical):
    if not categorical:
        return rows.numbers(columns[0])
    codes, labels, _ = rows.encode(columns)
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values[codes]


def chosen_entries(inspector, features):
    """Positions of the entries of a fitted inspector that `features` names."""
    if features is None:
        return list(range(len(inspector.effect_names_)))
    if isinstance(features, str | Integral):
        features = [features]
    if {type(feature) for feature in features} <= {bool, np.bool_}:
        features = np.flatnonzero(features).tolist()
    chosen = []
    for entry in features:
        names = tuple(entry) if isinstance(entry, tuple | list) else (entry,)
        found = [
            place for place, axes in enumerate(inspector.axes_) if _named(axes, names)
        ]
        if not found:
            raise ValueError(
                f"The fitted {type(inspector).__name__} has no entry {entry!r}; it has "
                f"{inspector.effect_names_!r}."
            )
        chosen.append(found[0])
    return chosen


def _named(axes, names):
    """Whether axes have these names, or positions of single columns."""
    keys = [
        {axis.name, *(axis.columns if len(axis.columns) == 1 else ())} for axis in axes
    ]
    return len(keys) == len(names) and all(
        name in key for name, key in zip(names, keys, strict=True)
    )
