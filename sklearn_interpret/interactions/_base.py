"""Base of the interaction estimators: players, and sets of players."""

from itertools import combinations

from sklearn_interpret._model.rows.features import (
    resolve_features,
    resolve_groups,
    resolve_players,
)
from sklearn_interpret.base import BaseInspector


class BaseInteraction(BaseInspector):
    """Base of the estimators of interactions between features, or groups of them."""

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "features": "no_validation",
        "feature_groups": [dict, None],
        "target": "no_validation",
    }

    def _resolve_players(self, rows):
        """Set the players."""
        names, named, groups = rows.names, rows.named, self._groups(rows)
        entries = None
        if self.features is not None:
            entries = resolve_features(
                self.features, names, named=named, groups=groups, max_order=1
            )
        self.features_, self.player_names_ = resolve_players(names, groups, entries)

    def _resolve_pairs(self, rows):
        """Set the players and their pairs."""
        self._resolve_players(rows)
        if self.pairs is None:
            self.pairs_ = list(combinations(range(len(self.features_)), 2))
        else:
            self.pairs_ = self._resolve_sets(rows, "pairs", 2)

    def _resolve_sets(self, rows, parameter, order):
        """Sets of `order` players that a parameter names, as positions of players."""
        groups = self._groups(rows)
        entries = resolve_features(
            getattr(self, parameter),
            rows.names,
            named=rows.named,
            groups=groups,
            min_order=order,
            max_order=order,
            parameter=parameter,
        )
        position = {columns: place for place, columns in enumerate(self.features_)}

        def player(part):
            is_group = isinstance(part, str)
            columns = tuple(groups[part]) if is_group else (part,)
            if columns not in position:
                raise ValueError(
                    f"{parameter} has {part if is_group else rows.names[part]!r}, "
                    "which features and feature_groups leave out; there are "
                    f"{', '.join(map(repr, self.player_names_))}."
                )
            return position[columns]

        return [tuple(map(player, entry)) for entry in entries]

    def _groups(self, rows):
        return resolve_groups(self.feature_groups, rows.names, named=rows.named)
