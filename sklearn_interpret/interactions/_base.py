"""Base of the interaction estimators: players, and sets of players."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from sklearn_interpret._inspectors.params import SampleInspector
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model._sklearn_compat import StrOptions, warn
from sklearn_interpret._model.parallel import slices
from sklearn_interpret._model.rows.features import (
    resolve_features,
    resolve_groups,
    resolve_players,
)
from sklearn_interpret.exceptions import CostlyInspectionWarning, UndefinedShareWarning

# Numbers sent to the model above which a warning is raised. A row of fewer columns than
# the second constant costs as much as one of that many.
_MANY_VALUES = 1e9
_FEW_COLUMNS = 50

# Sums over rows and leaves that take about a minute: more raise a warning.
_MANY_SUMS = 3e9

# Sets converted to tuples in one block: a list of tuples takes much memory.
_SETS_PER_BLOCK = 2**12


class BaseInteraction(ResultsMixin, SampleInspector):
    """Base of the estimators of interactions between features, or groups of them.

    A subclass returns what it measured of sets of features (`_measured`).
    """

    features_: list[tuple[int, ...]]
    player_names_: list[str]

    _for_any_model = 'method="auto" takes any model.'

    _parameter_constraints = {
        **SampleInspector._parameter_constraints,
        "features": "no_validation",
        "method": [StrOptions({"auto", "tree", "brute"})],
    }

    def _resolve_players(self, rows):
        """Set `features_` and `player_names_`."""
        names, named, groups = rows.names, rows.named, self._groups(rows)
        entries = None
        if self.features is not None:
            entries = resolve_features(
                self.features, names, named=named, groups=groups, max_order=1
            )
        self.features_, self.player_names_ = resolve_players(names, groups, entries)

    def _check_several(self, rows):
        """Refuse a single row, which has no variance."""
        if rows.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} measures variances over rows and needs two; it "
                f"got n_samples=1 (of positive weight; subsample={self.subsample!r})."
            )

    @abstractmethod
    def _measured(self):
        """Yield names of sets of a size, (n, size), and numbers by column, (n, k)."""

    def _result_blocks(self):
        """A line for each set of features and output, the strongest first: columns
        "feature", "feature2" and so on (missing for a feature with all others),
        "output", "strength" and, where the method has them, "unnormalized" (in the unit
        of the response), "std" (over draws), "standard_error" and "main_effect".
        """
        measured, several = list(self._measured()), len(self.output_names_) > 1
        most, blocks = max((len(sets[0]) for sets, _ in measured), default=0), []
        for sets, numbers in measured:
            order = np.argsort(-numbers["strength"].sum(axis=1), kind="stable")
            names = np.full((len(sets), most), None)
            names[:, : len(sets[0])] = sets
            columns = ["feature", *(f"feature{place}" for place in range(2, most + 1))]
            block = dict(zip(columns, names[order].T, strict=True))
            for output, label in enumerate(self.output_names_):
                of_output = {c: v[order, output] for c, v in numbers.items()}
                blocks.append(
                    block | ({"output": label} if several else {}) | of_output
                )
        return blocks

    def _warn_of_sums(self, n_sums):
        """Warn of a very large number of sums over leaves of trees."""
        if n_sums > _MANY_SUMS:
            warn(
                "Use fewer features or pairs (features=, pairs=), fewer rows "
                f"(subsample=), or fewer or smaller trees: {type(self).__name__} is "
                f"about to compute some {n_sums:.2g} sums over rows and leaves of "
                "trees, which takes more than a minute.",
                CostlyInspectionWarning,
            )

    def _warn_of_cost(self, n_rows, rows, advice):
        """Warn of a very large number of rows for the model."""
        if n_rows * max(rows.n_columns, _FEW_COLUMNS) > _MANY_VALUES:
            warn(
                "Use fewer features or pairs (features=, pairs=) or fewer rows "
                f"(subsample=): {type(self).__name__} is about to send up to "
                f"{n_rows:.2g} rows to the model. {advice}",
                CostlyInspectionWarning,
            )

    def _resolve_pairs(self, rows):
        """Set the players and `pairs_`."""
        self._resolve_players(rows)
        if self.pairs is None:
            pairs = np.stack(np.triu_indices(len(self.features_), 1), axis=1)
        else:
            pairs = np.array(self._resolve_sets(rows, "pairs", 2), dtype=np.intp)
        self._pairs = pairs

    @property
    def pairs_(self) -> list[tuple[int, int]]:
        """The pairs as tuples, made from an array on access, which saves memory."""
        if "_pairs" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} has no pairs yet.")
        return list(tuples(self._pairs))

    def _reset(self):
        super()._reset()
        vars(self).pop("_pairs", None)

    def _resolve_sets(self, rows, parameter, order):
        """Sets of `order` players from a parameter, as positions of players."""
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


def tuples(sets):
    """Yield the rows of an array of sets as tuples of ints, in blocks."""
    for part in slices(len(sets), _SETS_PER_BLOCK):
        yield from map(tuple, sets[part].tolist())


def warn_of_undefined(attribute, sets, remedy):
    """Warn of sets of players whose share is of a zero variance."""
    if not sets:
        return
    names = [" x ".join(map(repr, one)) for one in sets]
    names = names[:5] + [f"{len(names) - 5} more"] * (len(names) > 5)
    warn(
        f"{remedy}: {attribute} is undefined{' for ' * any(names)}{', '.join(names)}, "
        "and set to zero. It is a share of a variance over the rows that is zero, "
        "although responses to perturbed rows vary.",
        UndefinedShareWarning,
    )
