"""What the interaction estimators share: players, and sets of them."""

from itertools import combinations

from sklearn_interpret._model.rows.features import (
    resolve_features,
    resolve_groups,
    resolve_players,
)
from sklearn_interpret.base import BaseInspector


class BaseInteraction(BaseInspector):
    """Base of the estimators of how features, or groups of them, act together."""

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "features": "no_validation",
        "feature_groups": [dict, None],
        "target": "no_validation",
    }

    def _resolve_players(self, rows):
        """Set the players."""
        names, named = rows.names, rows.named
        groups = resolve_groups(self.feature_groups, names, named=named)
        entries = None
        if self.features is not None:
            entries = resolve_features(
                self.features, names, named=named, groups=groups, max_order=1
            )
        self.features_, self.player_names_ = resolve_players(names, groups, entries)

    def _resolve(self, rows):
        """Set the players and their pairs."""
        self._resolve_players(rows)
        if self.pairs is None:
            self.pairs_ = list(combinations(range(len(self.features_)), 2))
        else:
            self.pairs_ = self._sets(rows, self.pairs, 2, "pairs")

    def _sets(self, rows, given, order, parameter):
        """Sets of so many players that the user names, as positions of players."""
        names, named = rows.names, rows.named
        groups = resolve_groups(self.feature_groups, names, named=named)
        entries = resolve_features(
            given,
            names,
            named=named,
            groups=groups,
            min_order=order,
            max_order=order,
            parameter=parameter,
        )
        position = {columns: place for place, columns in enumerate(self.features_)}

        def player(part):
            columns = tuple(groups[part]) if isinstance(part, str) else (part,)
            if columns not in position:
                name = part if isinstance(part, str) else names[part]
                raise ValueError(
                    f"{parameter} has {name!r}, which features and feature_groups "
                    f"leave out; there are {', '.join(map(repr, self.player_names_))}."
                )
            return position[columns]

        return [tuple(map(player, entry)) for entry in entries]


def drop_single_output(values):
    """Drop the leading axis of outputs where there is one output."""
    return values[0] if len(values) == 1 else values
