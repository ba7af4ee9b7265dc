"""Features, and groups of features, as the players of a game."""

from __future__ import annotations

from typing import Any

from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.features import resolve_groups, resolve_players


def players_of(inspector: Any, rows: Rows) -> tuple[list[tuple[int, ...]], list[str]]:
    """Columns and name of each feature or group of features, by `feature_groups`."""
    groups = resolve_groups(inspector.feature_groups, rows.names, named=rows.named)
    return resolve_players(rows.names, groups)
