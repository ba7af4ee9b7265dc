"""Names, indices, categorical flags and groups of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model._sklearn_compat import warn
from sklearn_interpret.exceptions import InspectionWarning

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


# Rows that are tried for levels: later ones are refused when they are encoded, and to
# encode all would take as long as many a method.
_FIRST_ROWS = 1000
# Types of targets: a longer list of these alone was passed by mistake as features.
_ENTRIES_OF_TARGETS = {bool, np.bool_, int, float, np.int64, np.float64, np.int32}


def feature_index(
    feature: Any,
    names: Sequence[str],
    *,
    named: bool = True,
    parameter: str = "features",
) -> int:
    """Column of a feature given by position or name.

    Parameters
    ----------
    feature : int or str
        The feature.
    names : list of str
        Names of all columns.
    named : bool, default=True
        Whether the data has names; otherwise strings are refused.
    parameter : str, default="features"
        Parameter named in errors.
    """
    if isinstance(feature, Integral) and not isinstance(feature, bool | np.bool_):
        if not 0 <= int(feature) < len(names):
            raise ValueError(
                f"{parameter} has the position {feature!r}, but X has {len(names)} "
                f"features: positions go from 0 to {len(names) - 1}."
            )
        return int(feature)
    if not isinstance(feature, str):
        raise TypeError(
            f"{parameter} takes positions (int) and names (str) of features; "
            f"got {feature!r} of type {type(feature).__name__}."
        )
    if not named:
        raise ValueError(
            f"{parameter} has the name {feature!r}, but X has no feature names: pass "
            "a DataFrame with string column names, or a position."
        )
    if feature not in names:
        hint = near_names(feature, names, "known names:")
        raise ValueError(f"{parameter} has the unknown feature {feature!r}; {hint}")
    return names.index(feature)


def resolve_features(
    features: Any,
    names: list[str],
    *,
    named: bool = True,
    groups: dict[str, list[int]] | None = None,
    min_order: int = 1,
    max_order: int = 2,
    parameter: str = "features",
) -> list[tuple[int | str, ...]]:
    """Turn `features` into a list of tuples of columns (int) or group names (str).

    Parameters
    ----------
    features : None, int, str, slice, bool mask, or list of ints, strs and tuples
        None means every single feature, with a group in place of its members.
    names : list of str
        Names of all columns.
    named : bool, default=True
        Whether the data has names.
    groups : dict of str to list of int, optional
        Feature groups by name.
    min_order, max_order : int, default=1 and 2
        Smallest and largest number of features in one entry.
    parameter : str, default="features"
        Parameter named in errors.
    """
    groups = groups or {}
    if features is None:
        grouped_columns = {column for members in groups.values() for column in members}
        single_features = [
            (column,) for column in range(len(names)) if column not in grouped_columns
        ]
        return single_features + [(name,) for name in groups]
    to_index = partial(feature_index, names=names, named=named, parameter=parameter)
    orders = min_order, max_order
    entries = [
        _resolve_entry(entry, to_index, groups, orders, parameter)
        for entry in list_features(features, names, parameter)
    ]
    if not entries:
        needed = "feature" if min_order == 1 else f"entry of {min_order} features"
        raise ValueError(
            f"{parameter} is empty: name at least one {needed}, or pass None for all."
        )
    _refuse_repetition(entries, names, parameter)
    return entries


def list_features(features: Any, names: Sequence[str], parameter: str) -> list[Any]:
    """Features as a list, from a single one, a slice, a mask or a sequence."""
    if isinstance(features, np.ndarray) and features.ndim == 0:
        features = features.item()
    if isinstance(features, slice):
        return list(range(len(names)))[features]
    if isinstance(features, str) or not isinstance(features, Iterable):
        return [features]
    features = list(features)
    if len(features) > len(names) and set(map(type, features)) <= _ENTRIES_OF_TARGETS:
        raise ValueError(
            f"{parameter} has {len(features)} entries, but X has {len(names)} "
            "features. Targets are no features: where a method takes them, they are y."
        )
    types = {type(feature) for feature in features}
    if not types or not types <= {bool, np.bool_}:
        return features
    if len(features) != len(names):
        raise ValueError(
            f"{parameter} is a boolean mask of length {len(features)}, but X has "
            f"{len(names)} features."
        )
    return np.flatnonzero(features).tolist()


def _resolve_entry(
    entry: Any,
    to_index: Callable[[Any], int],
    groups: Mapping[str, list[int]],
    orders: tuple[int, int],
    parameter: str,
) -> tuple[int | str, ...]:
    """One entry of `features` as a tuple."""
    if isinstance(entry, str | Integral):
        entry = (entry,)
    elif not isinstance(entry, tuple | list | np.ndarray):
        to_index(entry)  # raises the TypeError
    smallest, largest = orders
    if not smallest <= len(entry) <= largest:
        accepted = f"one to {largest}" if smallest == 1 else f"{smallest} to {largest}"
        raise ValueError(
            f"{parameter} has the entry {tuple(entry)!r} of {len(entry)} features; "
            f"{accepted} features can be taken together."
        )
    resolved = tuple(
        member if isinstance(member, str) and member in groups else to_index(member)
        for member in entry
    )
    if len(set(resolved)) < len(resolved):
        raise ValueError(
            f"{parameter} has the entry {tuple(entry)!r}, a feature twice."
        )
    return resolved


def _refuse_repetition(
    entries: list[tuple[int | str, ...]], names: list[str], parameter: str
) -> None:
    seen_keys = set()
    for entry in entries:
        key = frozenset(entry)
        if key in seen_keys:
            repeated = tuple(
                member if isinstance(member, str) else names[member] for member in entry
            )
            raise ValueError(f"{parameter} has the entry {repeated!r} more than once.")
        seen_keys.add(key)


def resolve_categorical(categorical_features: Any, rows: Rows) -> NDArray[np.bool_]:
    """Mask of the categorical columns of `Rows`; "auto" takes the detected ones."""
    if isinstance(categorical_features, str) and categorical_features == "auto":
        return np.array(rows.detected_categorical, dtype=bool)
    flags = np.zeros(rows.n_columns, dtype=bool)
    if categorical_features is None:
        return flags
    names, parameter = rows.names, "categorical_features"
    for feature in list_features(categorical_features, names, parameter):
        column = feature_index(feature, names, named=rows.named, parameter=parameter)
        flags[column] = True
    return flags


def untreatable_columns(rows: Rows, categorical: NDArray[np.bool_]) -> set[int]:
    """Positions of columns that are no numbers, dates or levels; complex ones pass."""
    first_rows = rows.sliced(slice(0, min(rows.n_rows, _FIRST_ROWS)))
    columns = set()
    for j in range(rows.n_columns):
        if not categorical[j]:
            if not rows.are_numbers[j] and rows.column_array(j).dtype.kind not in "bc":
                columns.add(j)
            continue
        try:
            first_rows.encode_column(j)
        except ValueError:  # lists, for one, are no levels
            columns.add(j)
    return columns


def warn_of_left_out(rows: Rows, columns: Iterable[int]) -> list[str]:
    """Warn of columns that cannot be treated, and return their names."""
    names = [rows.names[j] for j in sorted(columns)]
    warn(
        f"Pass numbers or levels for {shortened(names)}: left out, since the values "
        "are neither numbers, dates nor levels.",
        InspectionWarning,
    )
    return names


def resolve_groups(
    feature_groups: dict[str, Any] | None, names: list[str], *, named: bool = True
) -> dict[str, list[int]]:
    """Feature groups as a dict of name to list of columns; groups inside are joined."""
    nested = resolve_nested_groups(feature_groups, names, named=named)
    return {name: list(columns_in(members)) for name, members in nested.items()}


def columns_in(members: Any) -> Iterator[Any]:
    """Members of a group, those of groups inside included."""
    if isinstance(members, list):
        yield from members
    else:
        for inner in members.values():
            yield from columns_in(inner)


def resolve_nested_groups(
    feature_groups: dict[str, Any] | None,
    names: list[str],
    *,
    named: bool = True,
    parameter: str = "feature_groups",
) -> dict[str, Any]:
    """Feature groups as a dict of name to list of columns, or to a dict of groups."""
    if feature_groups is None:
        return {}
    if not isinstance(feature_groups, Mapping):
        raise TypeError(
            f"{parameter} must be a dict of name to features; got "
            f"{type(feature_groups).__name__}."
        )
    group_of_column: dict[int, str] = {}

    def resolve(name: str, members: Any) -> Any:
        groups: Any
        if isinstance(members, Mapping):
            groups = {str(inner): resolve(inner, members[inner]) for inner in members}
        else:
            groups = [
                feature_index(member, names, named=named, parameter=parameter)
                for member in list_features(members, names, parameter)
            ]
            for column in groups:
                if column in group_of_column:
                    raise ValueError(
                        f"{parameter} has {names[column]!r} in "
                        f"{group_of_column[column]!r} and again in {name!r}."
                    )
                group_of_column[column] = name
        columns = list(columns_in(groups))
        if not columns:
            raise ValueError(f"{parameter} has the empty group {name!r}.")
        if named and name in names and names.index(name) not in columns:
            raise ValueError(
                f"{parameter} has a group named {name!r}, which is the name of a "
                "feature outside of that group."
            )
        return groups

    return {
        str(name): resolve(name, members) for name, members in feature_groups.items()
    }


def resolve_players(
    names: list[str],
    groups: Mapping[str, list[int]],
    entries: Iterable[tuple[int | str, ...]] | None = None,
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Columns and name of each player: a feature, or a group of features.

    Parameters
    ----------
    names : list of str
        Names of all columns.
    groups : dict of str to list of int
        Feature groups by name.
    entries : list of tuple of one int or str, optional
        Columns or names of groups, as :func:`resolve_features` returns them for
        ``max_order=1``. None means all of them, in the order of their first columns.

    Returns
    -------
    players : list of tuple of int
        Columns of each player.
    player_names : list of str
        Names of features or groups.
    """
    if entries is None:
        group_of_column = {
            column: name for name, columns in groups.items() for column in columns
        }
        player_of_column = [
            group_of_column.get(column, column) for column in range(len(names))
        ]
        entries = [(player,) for player in dict.fromkeys(player_of_column)]
    players: list[tuple[int, ...]] = []
    player_names = []
    for (player,) in entries:
        columns = tuple(groups[player]) if isinstance(player, str) else (player,)
        name = player if isinstance(player, str) else str(names[player])
        if set(columns) & set(chain.from_iterable(players)):
            raise ValueError(
                f"features has {name!r} and another group or feature that shares a "
                "column with it."
            )
        players.append(columns)
        player_names.append(name)
    return players, player_names


def resolve_keys(
    mapping: Any,
    names: list[str],
    *,
    named: bool = True,
    parameter: str,
    groups: Mapping[str, list[int]] | None = None,
) -> dict[Any, Any]:
    """A dict keyed by features, rekeyed by column or group name."""
    groups = groups or {}
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise TypeError(
            f"{parameter} must be a dict keyed by features; got "
            f"{type(mapping).__name__}."
        )
    rekeyed = {}
    for key, value in mapping.items():
        if not (isinstance(key, str) and key in groups):
            key = feature_index(key, names, named=named, parameter=parameter)
            if key in rekeyed:
                raise ValueError(f"{parameter} has the feature {names[key]!r} twice.")
        rekeyed[key] = value
    return rekeyed


def near_names(unknown: Any, names: Sequence[Any], start: str) -> str:
    """A question for the known names near an unknown name, else all known names."""
    near_matches = []
    if isinstance(unknown, str):
        texts = [name for name in names if isinstance(name, str)]
        near_matches = get_close_matches(unknown, texts, n=3)
    if near_matches:
        return f"did you mean {' or '.join(map(repr, near_matches))}?"
    return f"{start} {shortened(names)}."


def shortened(names: Sequence[Any], limit: int = 10) -> str:
    """The first `limit` names, as text."""
    text = ", ".join(map(repr, names[:limit]))
    return text + (", ..." if len(names) > limit else "")
