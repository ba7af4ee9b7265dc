"""Features, and groups of features, as the players of a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._inspectors.nested_groups import name_members
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.conditionals.correlated_groups import correlated_groups
from sklearn_interpret._model.rows.features import (
    columns_in,
    feature_index,
    list_features,
    resolve_groups,
    resolve_nested_groups,
    resolve_players,
    shortened,
)
from sklearn_interpret._model.rows.sample import Sample

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.partitioned import PartitionedSample

# Constraints of the parameters of inspectors that credit players inside groups, or in a
# causal order.
NESTING_CONSTRAINTS = {
    "feature_groups": [dict, StrOptions({"correlation"}), None],
    "within_groups": ["boolean"],
    "causal_order": [list, tuple, None],
}


def players_of(inspector: Any, rows: Rows) -> tuple[list[tuple[int, ...]], list[str]]:
    """Columns and name of each feature or group of features, by `feature_groups`."""
    if getattr(inspector, "within_groups", False):
        return [(j,) for j in range(rows.n_columns)], list(rows.names)
    if isinstance(inspector.feature_groups, str):
        raise ValueError(
            f'feature_groups="{inspector.feature_groups}" nests groups: pass '
            "within_groups=True, too."
        )
    groups = resolve_groups(inspector.feature_groups, rows.names, named=rows.named)
    return resolve_players(rows.names, groups)


class Nesting(NamedTuple):
    """Groups inside which players are credited, and the order in which these join."""

    groups: dict[str, Any] | None  # names of players by name of group, or of groups
    hierarchy: Hierarchy | None  # None without groups or order


def nesting_of(inspector: Any, sample: Sample | PartitionedSample) -> Nesting:
    """Groups and order of an inspector's players, by its parameters."""
    names = inspector.player_names_
    paths: list[tuple[int, ...]] = [()] * len(names)
    nested: dict[str, Any] = {}
    groups: dict[str, Any] | None = None
    if getattr(inspector, "within_groups", False):
        nested = _nested_groups(inspector.feature_groups, sample)
        _append_group_numbers(paths, nested)
        groups = name_members(nested, names)
    causal_order = getattr(inspector, "causal_order", None)
    if causal_order is not None:
        positions = _causal_positions(inspector, sample.rows, nested)
        _check_causal_groups(nested, positions)
        paths = [(step, *path) for step, path in zip(positions, paths, strict=True)]
    if groups is None and causal_order is None:
        return Nesting(None, None)
    return Nesting(groups, Hierarchy.of_paths(paths, causal_order is not None))


def _nested_groups(
    feature_groups: Any, sample: Sample | PartitionedSample
) -> dict[str, Any]:
    """Columns by name of group, or of groups inside."""
    rows = sample.rows
    if isinstance(feature_groups, str) and feature_groups == "correlation":
        if not isinstance(sample, Sample):
            raise ValueError(
                'feature_groups="correlation" needs all rows in memory, and X is in '
                "partitions: pass a dict of name to features."
            )
        return correlated_groups(rows, sample.weights)
    if feature_groups is None:
        raise ValueError(
            "within_groups=True credits features inside feature_groups, which is None: "
            'pass a dict of name to features, or "correlation".'
        )
    return resolve_nested_groups(feature_groups, rows.names, named=rows.named)


def _append_group_numbers(paths: list[tuple[int, ...]], groups: Any) -> None:
    """Append the number of its group, and of groups inside, to each column's path."""
    for number, members in enumerate(groups.values()):
        for column in columns_in(members):
            paths[column] = (*paths[column], number)
        if isinstance(members, dict):
            _append_group_numbers(paths, members)


def _causal_positions(inspector: Any, rows: Rows, groups: dict[str, Any]) -> list[int]:
    """Position of each player in `causal_order`, which may name outermost groups."""
    names = inspector.player_names_
    player_of_column = {
        column: player
        for player, columns in enumerate(inspector.features_)
        for column in columns
    }
    players_of_name = {name: [player] for player, name in enumerate(names)}
    players_of_name |= {name: [*columns_in(groups[name])] for name in groups}
    positions: dict[int, int] = {}
    for position, members in enumerate(inspector.causal_order):
        for member in list_features(members, rows.names, "causal_order"):
            players = players_of_name.get(member) if isinstance(member, str) else None
            if players is None:
                column = feature_index(
                    member, rows.names, named=rows.named, parameter="causal_order"
                )
                players = [player_of_column[column]]
            for player in players:
                if positions.setdefault(player, position) != position:
                    raise ValueError(f"causal_order has {names[player]!r} twice.")
    missing = [name for player, name in enumerate(names) if player not in positions]
    if missing:
        raise ValueError(f"causal_order needs all features; {shortened(missing)} lack.")
    return [positions[player] for player in range(len(names))]


def _check_causal_groups(groups: dict[str, Any], positions: list[int]) -> None:
    """Refuse a group whose members join at different times."""
    for name, members in groups.items():
        if len({positions[member] for member in columns_in(members)}) > 1:
            raise ValueError(
                f"causal_order separates members of the group {name!r}: a group has to "
                "lie within one entry."
            )
