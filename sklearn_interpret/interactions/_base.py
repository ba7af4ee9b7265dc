"""Base of the interaction estimators: players, and sets of players."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

# Sums over rows and leaves that take about a minute: more raise a warning.
_MANY_SUMS = 3e9

# Sets converted to tuples in one block: a list of tuples takes much memory.
_SETS_PER_BLOCK = 2**12

# Names in the warning of sets with an undefined share.
_MOST_NAMED = 5


class SetNumbers(NamedTuple):
    """Numbers of an inspector for all measured sets of one size."""

    sets: Sequence[Sequence[str]] | NDArray[np.object_]  # names, (n, size)
    columns: dict[str, NDArray[np.float64]]  # "strength" and others, each (n, k)


class BaseInteraction(ResultsMixin, SampleInspector):
    """Base of the estimators of interactions between features, or groups of them.

    A subclass yields the numbers that it measured for sets of features
    (`_numbers_of_sets`).
    """

    features: Any
    pairs: Any
    feature_groups: dict[str, Any] | None
    features_: list[tuple[int, ...]]
    player_names_: list[str]

    _for_any_model = 'method="auto" takes any model.'

    _parameter_constraints = {
        **SampleInspector._parameter_constraints,
        "features": "no_validation",
        "pairs": "no_validation",
        "method": [StrOptions({"auto", "tree", "brute"})],
    }

    def _resolve_players(self, rows: Rows) -> None:
        """Set `features_` and `player_names_`."""
        names, named, groups = rows.names, rows.named, self._resolve_groups(rows)
        entries = None
        if self.features is not None:
            entries = resolve_features(
                self.features, names, named=named, groups=groups, max_order=1
            )
        self.features_, self.player_names_ = resolve_players(names, groups, entries)

    def _refuse_single_row(self, rows: Rows) -> None:
        """Refuse a single row, which has no variance."""
        if rows.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} measures variances over rows and needs two; it "
                f"got n_samples=1 (of positive weight; subsample={self.subsample!r})."
            )

    @abstractmethod
    def _numbers_of_sets(self) -> Iterator[SetNumbers]:
        """Yield the numbers of sets, one size after the other."""

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each set of features and output, the strongest first: columns
        "feature", "feature2" and so on (missing for a feature with all others),
        "output", "strength" and, where the method has them, "unnormalized" (in the unit
        of the response), "std" (over draws), "standard_error" and "main_effect".
        """
        all_numbers, blocks = list(self._numbers_of_sets()), []
        several_outputs = len(self.output_names_) > 1
        largest = max((len(numbers.sets[0]) for numbers in all_numbers), default=0)
        headers = ["feature", *(f"feature{k}" for k in range(2, largest + 1))]
        for sets, columns in all_numbers:
            order = np.argsort(-columns["strength"].sum(axis=1), kind="stable")
            names = np.full((len(sets), largest), None)
            names[:, : len(sets[0])] = sets
            features = dict(zip(headers, names[order].T, strict=True))
            for output, label in enumerate(self.output_names_):
                block = features | ({"output": label} if several_outputs else {})
                for column, numbers in columns.items():
                    block[column] = numbers[order, output]
                blocks.append(block)
        return blocks

    def _warn_of_sums(self, n_sums: float) -> None:
        """Warn of a very large number of sums over leaves of trees."""
        if n_sums > _MANY_SUMS:
            warn(
                "Use fewer features or pairs (features=, pairs=), fewer rows "
                f"(subsample=), or fewer or smaller trees: {type(self).__name__} is "
                f"about to compute some {n_sums:.2g} sums over rows and leaves of "
                "trees, which takes more than a minute.",
                CostlyInspectionWarning,
            )

    def _resolve_pairs(self, rows: Rows) -> None:
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
        return list(iter_tuples(self._pairs))

    def _reset(self) -> None:
        super()._reset()
        vars(self).pop("_pairs", None)

    def _resolve_sets(
        self, rows: Rows, parameter: str, order: int
    ) -> list[tuple[int, ...]]:
        """Sets of `order` players from a parameter, as positions of players."""
        groups = self._resolve_groups(rows)
        entries = resolve_features(
            getattr(self, parameter),
            rows.names,
            named=rows.named,
            groups=groups,
            min_order=order,
            max_order=order,
            parameter=parameter,
        )
        players = {columns: player for player, columns in enumerate(self.features_)}

        def player_of(key: int | str) -> int:
            columns = tuple(groups[key]) if isinstance(key, str) else (key,)
            if columns not in players:
                name = key if isinstance(key, str) else rows.names[key]
                raise ValueError(
                    f"{parameter} has {name!r}, "
                    "which features and feature_groups leave out; there are "
                    f"{', '.join(map(repr, self.player_names_))}."
                )
            return players[columns]

        return [tuple(map(player_of, entry)) for entry in entries]

    def _resolve_groups(self, rows: Rows) -> dict[str, Any]:
        """Columns of each feature group, by name."""
        return resolve_groups(self.feature_groups, rows.names, named=rows.named)


def iter_tuples(sets: NDArray[np.intp]) -> Iterator[Any]:
    """Yield the rows of an array of sets as tuples of ints, in blocks."""
    for block in slices(len(sets), _SETS_PER_BLOCK):
        yield from map(tuple, sets[block].tolist())


def warn_of_undefined(
    attribute: str, sets: Sequence[Sequence[str]], remedy: str
) -> None:
    """Warn of sets of players (by name) whose shares are of a variance of zero."""
    if not sets:
        return
    names = [" x ".join(map(repr, members)) for members in sets]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED:] = [f"{len(names) - _MOST_NAMED} more"]
    warn(
        f"{remedy}: {attribute} is undefined{' for ' * any(names)}{', '.join(names)}, "
        "and set to zero. It is a share of a variance over the rows that is zero, "
        "although responses to perturbed rows vary.",
        UndefinedShareWarning,
    )
