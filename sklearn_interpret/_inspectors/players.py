"""Bases of the inspectors that take features for players of a game."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from sklearn_interpret._inspectors.attribution import BaseAttribution
from sklearn_interpret._inspectors.params import SampleInspector, estimator_dataclass
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_groups, resolve_players
from sklearn_interpret._model.rows.sample import Sample


@estimator_dataclass
class BasePlayers(BaseAttribution, SampleInspector):
    """Base of the inspectors whose features are players, against a background.

    A subclass prepares itself (`_prepare`) and explains rows (`_values`).
    """

    background: Any = None
    feature_groups: dict[str, Any] | None = None

    background_: Any = field(init=False)
    features_: list[tuple[int, ...]] = field(init=False)
    player_names_: list[str] = field(init=False)
    response_method_: str | Callable[..., Any] = field(init=False)

    _parameter_constraints = {
        **BaseAttribution._parameter_constraints,
        "background": "no_validation",
    }

    def _start(self, sample, response):
        rows = sample.rows
        groups = resolve_groups(self.feature_groups, rows.names, named=rows.named)
        self.features_, self.player_names_ = resolve_players(rows.names, groups)
        background = self._choose_background(sample)
        self.background_ = background.rows.native
        base_values = self._prepare(background, response)
        self.response_method_ = response.method
        return base_values

    def _choose_background(self, sample):
        """A sample of the rows that replace absent players."""
        if self.background is None:
            return sample
        try:
            rows = as_rows(self.background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background can't be taken as rows: {error}") from error
        rows = self._check_rows(rows.native, reset=False)
        return Sample(rows, None, np.broadcast_to(1.0, rows.n_rows))

    @abstractmethod
    def _prepare(self, background, response):
        """Prepare the explanation of rows; return the base values, (k,)."""

    def _attributed(self):
        return list(zip(self.features_, self.player_names_, strict=True))


@estimator_dataclass
class BaseReadPlayers(BasePlayers):
    """Base of those that read the model: its trees or its weights."""

    perturbation: str = "interventional"
    background: Any = None
    feature_groups: dict[str, Any] | None = None
    response_method: str | Sequence[str] = "auto"

    response_method_: str = field(init=False)

    _parameter_constraints = {
        **BasePlayers._parameter_constraints,
        "response_method": [str, list, tuple],
    }

    def _players(self, columns):
        """Player of each column that the model gets, from the input column of each."""
        player = np.empty(self.n_features_in_, dtype=np.intp)
        for place, members in enumerate(self.features_):
            player[list(members)] = place
        return player[columns]
