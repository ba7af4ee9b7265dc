"""What the Shapley estimators share that ask the model about coalitions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.parallel import held_rows, run, slices
from sklearn_interpret._model.perturbation.coalitions import LINKS, CoalitionGame
from sklearn_interpret.shapley._base import BaseShapley

# Pieces of work for each worker.
_TASKS_PER_WORKER = 4


class Valuer(ABC):
    """Shares out the responses to rows among their players.

    It is drawn in `fit`, so that nothing is left to chance afterwards, and travels to
    workers. What it gives a row does not depend on the rows beside it.
    """

    @abstractmethod
    def n_coalitions(self, n_players):
        """How many coalitions of so many players it may ask about at once."""

    @abstractmethod
    def values(self, game, played):
        """Attributions of rows and their standard errors or None, (m, n_players, k).

        Parameters
        ----------
        game : CoalitionGame
            The game.
        played : PlayedRows
            The rows.
        """


class BaseCoalitional(BaseShapley):
    """Base of the Shapley estimators that ask the model about coalitions.

    A subclass makes its `Valuer` in `fit` (`_make_valuer`).
    """

    _parameter_constraints = {
        **BaseShapley._parameter_constraints,
        "link": [StrOptions(set(LINKS))],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        link: str = "identity",
        background: Any = None,
        feature_groups: dict[str, Any] | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.link = link
        self.background = background
        self.feature_groups = feature_groups
        self.response_method = response_method
        self.target = target
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _prepare(self, background, weights, response):
        self._game = CoalitionGame(
            response, background, weights, self.features_, self.link
        )
        self._valuer = self._make_valuer()
        return self._game.base_values

    @abstractmethod
    def _make_valuer(self):
        """What shares out responses; all that is random is drawn here."""

    def _values(self, rows):
        parts = list(self._shared(_valued, self._valuer, rows))
        values, predictions, errors = zip(*parts, strict=True)
        errors = None if errors[0] is None else np.concatenate(errors)
        return np.concatenate(values), np.concatenate(predictions), errors

    def _shared(self, function, valuer, rows):
        """What ``function(valuer, game, part)`` returns for parts of the rows."""
        n_players, n_outputs = len(self.features_), len(self._game.base_values)
        entry_bytes = n_players + 3 * 8 * n_outputs
        step = held_rows(valuer.n_coalitions(n_players) * entry_bytes)
        n_workers = effective_n_jobs(self.n_jobs)
        if n_workers > 1:
            step = min(step, -(-rows.n_rows // (_TASKS_PER_WORKER * n_workers)))
        tasks = [
            (valuer, self._game, rows.part(part)) for part in slices(rows.n_rows, step)
        ]
        return run(function, tasks, n_jobs=self.n_jobs, verbose=self.verbose)


def _valued(valuer, game, rows):
    played = game.play(rows)
    values, errors = valuer.values(game, played)
    return values, played.predictions, errors
