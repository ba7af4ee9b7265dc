"""Nested groups of features.

Groups are a dict of names to lists of features, or to dicts of groups within them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.features import feature_index


class Group(NamedTuple):
    """A group of features, which may have groups within it."""

    path: tuple[str, ...]  # names from the outermost group to this one
    members: tuple[int, ...]  # positions of its features
    is_innermost: bool  # whether there are no groups within it

    @property
    def name(self) -> str:
        """Names of the groups around it, and its own."""
        return " / ".join(self.path)


def checked_groups(groups: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """A copy of nested groups of the named features; None if there are none."""
    if groups is None:
        return None
    if not isinstance(groups, Mapping):
        raise TypeError(
            "groups must be a dict of names to features, or to dicts of groups; got "
            f"{type(groups).__name__}."
        )
    copy = {str(name): _copy_group(name, content) for name, content in groups.items()}
    group_of_feature: dict[int, str] = {}
    for group in list_groups(copy, names):
        if not group.members:
            raise ValueError(f"groups has the empty group {group.name!r}.")
        for feature in group.members if group.is_innermost else ():
            if feature in group_of_feature:
                raise ValueError(
                    f"groups has {names[feature]!r} in {group_of_feature[feature]!r} "
                    f"and again in {group.name!r}."
                )
            group_of_feature[feature] = group.name
    return copy or None


def _copy_group(name: Any, content: Any) -> dict[str, Any] | list[str]:
    if isinstance(content, Mapping):
        return {str(key): _copy_group(key, inner) for key, inner in content.items()}
    if isinstance(content, str):
        raise ValueError(f"groups has {content!r} in {name!r}: lists are needed.")
    return list(map(str, content))


def list_groups(
    groups: dict[str, Any], names: Sequence[str], path: tuple[str, ...] = ()
) -> list[Group]:
    """All groups, each followed by the groups within it."""
    listed: list[Group] = []
    for name, content in groups.items():
        inner: list[Group] = []
        if is_innermost := not isinstance(content, dict):
            members = [
                feature_index(each, names, parameter="groups") for each in content
            ]
        else:
            inner = list_groups(content, names, (*path, name))
            innermost = [group for group in inner if group.is_innermost]
            members = [j for group in innermost for j in group.members]
        listed += [Group((*path, name), tuple(members), is_innermost), *inner]
    return listed


def group_sums(
    values: NDArray[np.float64], groups: Sequence[Group]
) -> NDArray[np.float64]:
    """Sums of values (n_rows, n_features, ...) over the members of each group."""
    sums = [values[:, list(group.members)].sum(axis=1) for group in groups]
    return np.stack(sums, axis=1)
