"""Nested groups of features.

Groups are a dict of names to lists of features, or to dicts of groups within them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.features import feature_index, resolve_nested_groups


class Entry(NamedTuple):
    """A feature, or a group with the entries within it."""

    name: str
    position: int  # among the features, followed by the groups
    path: tuple[str, ...]  # names of the groups around it; a group's own name is last
    children: tuple[Entry, ...] = ()

    @property
    def group(self) -> str | None:
        """Name of the group; of a feature, that of the innermost group or None."""
        return " / ".join(self.path) or None

    @property
    def features(self) -> list[int]:
        """Positions of the features in it."""
        return [each.position for each in walk([self]) if not each.children]


def walk(entries: Iterable[Entry]) -> list[Entry]:
    """All entries, each followed by those within it."""
    return [each for entry in entries for each in (entry, *walk(entry.children))]


def group_entries(groups: dict[str, Any] | None, names: Sequence[Any]) -> list[Entry]:
    """The outermost groups, and the features in no group.

    A group of the one feature that has its name is this feature.
    """
    group_positions = count(len(names))

    def entry_of(name: str, content: Any, path: tuple[str, ...]) -> Entry:
        if content == [name]:
            return Entry(name, feature_index(name, names, parameter="groups"), path)
        position, path = next(group_positions), (*path, name)
        if isinstance(content, list):
            content = {name: [name] for name in content}
        inner = [entry_of(key, each, path) for key, each in content.items()]
        return Entry(name, position, path, tuple(inner))

    entries = [entry_of(name, each, ()) for name, each in (groups or {}).items()]
    in_groups = {j for entry in entries for j in entry.features}
    outside = [j for j in range(len(names)) if j not in in_groups]
    return [*entries, *(Entry(str(names[j]), j, ()) for j in outside)]


def name_members(groups: Any, names: Sequence[str]) -> Any:
    """Nested groups with names of features in place of positions."""
    if isinstance(groups, list):
        return [names[position] for position in groups]
    return {name: name_members(members, names) for name, members in groups.items()}


def checked_groups(groups: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """A copy of nested groups of the named features; None if there are none."""
    nested = resolve_nested_groups(groups, list(names), parameter="groups")
    return name_members(nested, names) or None


def append_group_sums(
    values: NDArray[np.float64], entries: Iterable[Entry]
) -> NDArray[np.float64]:
    """Values (n_rows, n_features, ...), followed by their sums over each group."""
    groups = [each.features for each in walk(entries) if each.children]
    sums = [values[:, features].sum(axis=1, keepdims=True) for features in groups]
    return np.concatenate([values, *sums], axis=1)
