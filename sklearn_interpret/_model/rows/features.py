"""Names, indices, categorical flags and groups of features."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from numbers import Integral

import numpy as np

from sklearn_interpret._model._sklearn_compat import warn
from sklearn_interpret.exceptions import InspectionWarning

# Rows that show whether the values of a column can be levels.
_FIRST_ROWS = 1000
# What lists of features never have, or not as often: targets passed in their place.
_ENTRIES_OF_TARGETS = {bool, np.bool_, int, float, np.int64, np.float64, np.int32}


def feature_index(feature, names, *, named=True, parameter="features"):
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
        if not 0 <= feature < len(names):
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
    features,
    names,
    *,
    named=True,
    groups=None,
    min_order=1,
    max_order=2,
    parameter="features",
):
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
        taken = {column for members in groups.values() for column in members}
        alone = [(column,) for column in range(len(names)) if column not in taken]
        return alone + [(name,) for name in groups]
    index = partial(feature_index, names=names, named=named, parameter=parameter)
    orders = min_order, max_order
    entries = [
        _entry(entry, index, groups, orders, parameter)
        for entry in _listed(features, names, parameter)
    ]
    if not entries:
        what = "feature" if min_order == 1 else f"entry of {min_order} features"
        raise ValueError(
            f"{parameter} is empty: name at least one {what}, or pass None for all."
        )
    _refuse_repetition(entries, names, parameter)
    return entries


def _listed(features, names, parameter):
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
    kinds = {type(feature) for feature in features}
    if not kinds or not kinds <= {bool, np.bool_}:
        return features
    if len(features) != len(names):
        raise ValueError(
            f"{parameter} is a boolean mask of length {len(features)}, but X has "
            f"{len(names)} features."
        )
    return np.flatnonzero(features).tolist()


def _entry(entry, index, groups, orders, parameter):
    """One entry of `features` as a tuple."""
    if isinstance(entry, str | Integral):
        entry = (entry,)
    elif not isinstance(entry, tuple | list | np.ndarray):
        index(entry)  # raises the TypeError
    fewest, most = orders
    if not fewest <= len(entry) <= most:
        accepted = f"one to {most}" if fewest == 1 else f"{fewest} to {most}"
        raise ValueError(
            f"{parameter} has the entry {tuple(entry)!r} of {len(entry)} features; "
            f"{accepted} features can be taken together."
        )
    resolved = tuple(
        part if isinstance(part, str) and part in groups else index(part)
        for part in entry
    )
    if len(set(resolved)) < len(resolved):
        raise ValueError(
            f"{parameter} has the entry {tuple(entry)!r}, a feature twice."
        )
    return resolved


def _refuse_repetition(entries, names, parameter):
    seen = set()
    for entry in entries:
        key = frozenset(entry)
        if key in seen:
            shown = tuple(p if isinstance(p, str) else names[p] for p in entry)
            raise ValueError(f"{parameter} has the entry {shown!r} more than once.")
        seen.add(key)


def resolve_categorical(categorical_features, rows):
    """Mask of the categorical columns of `Rows`; "auto" takes the detected ones."""
    if isinstance(categorical_features, str) and categorical_features == "auto":
        return np.array(rows.detected_categorical, dtype=bool)
    flags = np.zeros(rows.n_columns, dtype=bool)
    if categorical_features is None:
        return flags
    names, parameter = rows.names, "categorical_features"
    for feature in _listed(categorical_features, names, parameter):
        at = feature_index(feature, names, named=rows.named, parameter=parameter)
        flags[at] = True
    return flags


def untreatable(rows, categorical):
    """Positions of columns that are no numbers, dates or levels; complex ones pass."""
    some = rows.part(slice(0, min(rows.n_rows, _FIRST_ROWS)))
    found = set()
    for j in range(rows.n_columns):
        if not categorical[j]:
            if not rows.are_numbers[j] and rows.column_array(j).dtype.kind not in "bc":
                found.add(j)
            continue
        try:
            some.encode_column(j)
        except ValueError:  # lists, for one, are no levels
            found.add(j)
    return found


def named_as_left_out(rows, columns):
    """Names of columns that cannot be treated, after a warning that has them."""
    names = [rows.names[j] for j in sorted(columns)]
    warn(
        f"Pass numbers or levels for {shortened(names)}: left out, since the values "
        "are neither numbers, dates nor levels.",
        InspectionWarning,
    )
    return names


def resolve_groups(feature_groups, names, *, named=True):
    """Feature groups as a dict of name to list of columns."""
    if feature_groups is None:
        return {}
    if not isinstance(feature_groups, Mapping):
        raise TypeError(
            "feature_groups must be a dict of name to features; got "
            f"{type(feature_groups).__name__}."
        )
    groups, owner = {}, {}
    for name, members in feature_groups.items():
        columns = [
            feature_index(m, names, named=named, parameter="feature_groups")
            for m in _listed(members, names, "feature_groups")
        ]
        if not columns:
            raise ValueError(f"feature_groups has the empty group {name!r}.")
        if named and name in names and names.index(name) not in columns:
            raise ValueError(
                f"feature_groups has a group named {name!r}, which is the name of a "
                "feature outside of that group."
            )
        for column in columns:
            if column in owner:
                raise ValueError(
                    f"feature_groups has {names[column]!r} in {owner[column]!r} and "
                    f"again in {name!r}."
                )
            owner[column] = name
        groups[str(name)] = columns
    return groups


def resolve_players(names, groups, entries=None):
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
        owner = {column: name for name, columns in groups.items() for column in columns}
        parts = [owner.get(column, column) for column in range(len(names))]
        entries = [(part,) for part in dict.fromkeys(parts)]
    players, player_names, seen = [], [], set()
    for (part,) in entries:
        columns = tuple(groups[part]) if isinstance(part, str) else (part,)
        name = part if isinstance(part, str) else str(names[part])
        if seen & set(columns):
            raise ValueError(
                f"features has {name!r} and another group or feature that shares a "
                "column with it."
            )
        seen |= set(columns)
        players.append(columns)
        player_names.append(name)
    return players, player_names


def resolve_keys(mapping, names, *, named=True, parameter, groups=None):
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


def near_names(unknown, known, start):
    """A question for the known names near an unknown one; all of them without any."""
    near = []
    if isinstance(unknown, str):
        texts = [name for name in known if isinstance(name, str)]
        near = get_close_matches(unknown, texts, n=3)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"{start} {shortened(known)}."


def shortened(names, most=10):
    """The first `most` names, as text."""
    shown = ", ".join(map(repr, names[:most]))
    return shown + (", ..." if len(names) > most else "")
