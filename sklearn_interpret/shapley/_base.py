"""Base of the Shapley estimators that evaluate coalitions.

Such an estimator, a `BaseCoalitional`, makes an `Attributor` in `fit`. In `explain`,
the attributor chooses coalitions of players, asks the game for their values, and turns
these into Shapley values of blocks of rows; workers get the attributor and the game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from numbers import Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.coalitions import (
    all_coalitions,
    interactions_of_all,
    values_of_all,
)
from sklearn_interpret._inspectors.attribution import (
    Attributions,
    BaseAttribution,
    check_no_overflow,
)
from sklearn_interpret._inspectors.dependence import (
    DEPENDENCE_CONSTRAINTS,
    conditional_game,
    join_batches,
)
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions, warn
from sklearn_interpret._model.parallel import limit_threads, rows_in_memory, run, slices
from sklearn_interpret._model.progress import shows_progress, with_progress
from sklearn_interpret._model.replacement.response_games import LINKS, CoalitionGame
from sklearn_interpret._model.row_limit import rows_left
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.exceptions import (
    CostlyInspectionWarning,
    SaturatedResponseWarning,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.games.hierarchies import Hierarchy
    from sklearn_interpret._model.replacement.response_games import (
        ResponseGame,
        ResponseRowGames,
    )
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows

# Tasks per worker: several, because rows differ in cost. Chosen by hand: each task has
# some overhead.
_TASKS_PER_WORKER = 4
# Seconds that a block of rows takes, whose results are kept if the call is interrupted.
# Several workers build anew for each what the blocks of one process share: only slow
# models have more blocks there than `_TASKS_PER_WORKER`.
_BLOCK_SECONDS = 1.0
# Coalitions of a stage relative to the stage before. Chosen by hand: more stages stop
# nearer to the tolerance, but fit more surrogates.
_STAGE_GROWTH = 1.3
# The largest error of a row's values is below this multiple of its largest standard
# error for about nine of ten rows: cases "tolerance" of benchmarks/bench_model_rows.py.
_ERRORS_OF_LARGEST = 2.5
TOLERANCE_CONSTRAINTS = {"tolerance": [Interval(Real, 0, None, closed="neither"), None]}
# Advice of the warning that many rows will be sent to the model.
_COST_ADVICE = (
    "Use fewer rows, coalitions (n_coalitions, n_permutations), rows of the background "
    "(subsample) or players (feature_groups), or TreeSHAP or LinearSHAP where the "
    "model allows it"
)


def has_one_level(inspector: Any) -> bool:
    """True: players join in any order; else an error of the missing attribute."""
    if getattr(inspector, "within_groups", False) or getattr(
        inspector, "causal_order", None
    ):
        raise AttributeError(
            "interaction_values are those of players in any order: pass "
            "within_groups=False and causal_order=None."
        )
    return True


@empty_for_no_rows
@shows_progress
def interaction_values(self: Any, X: Any) -> NDArray[np.float64]:
    """Shapley interaction values of pairs of features.

    Off the diagonal is half the joint effect of two features beyond their single
    effects; on the diagonal is the rest of the feature's effect. Each row of the
    matrix sums to the feature's Shapley value.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_samples, n_players, n_players[, n_outputs])
        Symmetric in the players.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        pairs = self._pair_values(self._check_rows(X, reset=False))
    check_no_overflow(pairs, "interaction values")
    return pairs[..., 0] if pairs.shape[-1] == 1 else pairs


class Attributor(ABC):
    """Attributes responses to players, from values of coalitions.

    It holds all random draws, and is sent to workers.
    """

    n_known = 0  # coalitions that it counts, and that the model is not asked about

    def fewest_coalitions(self, n_players: int) -> int:
        """Fewest coalitions of a row from which it can attribute: all, if exact."""
        return self.n_coalitions(n_players)

    def within(self, n_coalitions: int, n_players: int) -> Attributor:
        """The same with some of its coalitions, at most a number for each row.

        Coalitions for a smaller number are among those for a larger one.
        """
        return self

    @abstractmethod
    def n_coalitions(self, n_players: int) -> int:
        """Number of coalitions that are evaluated together."""

    def n_coalitions_in_all(self, n_players: int) -> int:
        """Number of coalitions that are evaluated for a row."""
        return self.n_coalitions(n_players)

    def n_asked(self, n_players: int) -> int:
        """Largest number of coalitions of a row that the model is asked about."""
        return min(self.n_coalitions_in_all(n_players), 2**n_players - 2)

    @abstractmethod
    def attribute(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
        """Attributions (m, n_players, k) of `RowGames` of a `CoalitionGame`.

        Also returns a dict of further fields of the explanation.
        """


class AllCoalitions(Attributor):
    """Exact values, row by row, from all coalitions of the row's active players.

    A player is active where the row differs from the background. A subclass may
    evaluate some of the coalitions (`n_coalitions`, `coalitions`), and estimate values
    from these (`attributions`, `interactions`); k is the number of outputs.
    """

    sampled = False
    n_known = 2  # the empty and the grand one

    def n_coalitions(self, n_players: int) -> int:
        """Number of all coalitions."""
        return 2**n_players

    def n_asked(self, n_players: int) -> int:
        """Number of coalitions but for the empty and the grand one."""
        return self.n_coalitions(n_players) - 2

    def coalitions(self, n_players: int) -> NDArray[np.bool_]:
        """Coalitions to evaluate, (m, n_players): neither the empty nor the grand."""
        return all_coalitions(n_players)

    def attributions(
        self, responses: NDArray[np.float64], n_players: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | float]:
        """Shapley values (n_players, k) and their errors from values of coalitions."""
        return values_of_all(responses), 0.0

    def interactions(
        self, responses: NDArray[np.float64], n_players: int
    ) -> NDArray[np.float64]:
        """Interaction values (n_players, n_players, k), zero on the diagonal."""
        return interactions_of_all(responses)

    def attribute(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
        """Attributions, and standard errors if coalitions are sampled."""
        values = np.zeros((*row_games.active.shape, len(game.base_values)))
        errors = np.zeros_like(values)
        for row, players, responses in self._evaluate_coalitions(game, row_games):
            row_values, row_errors = self.attributions(responses, len(players))
            values[row, players], errors[row, players] = row_values, row_errors
        return values, {"standard_errors": errors} if self.sampled else {}

    def pair_values(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> NDArray[np.float64]:
        """Interaction values, with the rest of each player's value on the diagonal."""
        n_rows, n_players = row_games.active.shape
        pairs = np.zeros((n_rows, n_players, n_players, len(game.base_values)))
        for row, players, responses in self._evaluate_coalitions(game, row_games):
            values, _ = self.attributions(responses, len(players))
            row_pairs = self.interactions(responses, len(players))
            diagonal = np.arange(len(players))
            row_pairs[diagonal, diagonal] = values - row_pairs.sum(axis=1)
            pairs[row][np.ix_(players, players)] = row_pairs
        return pairs

    def _evaluate_coalitions(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
        """Yield rows, their active players, and values of coalitions (m + 2, k).

        The empty coalition comes first, the grand one last.
        """
        players_and_values = list(row_games.values_by_design(self.coalitions))
        # Products are too small for threads.
        with limit_threads(1):
            # Sorted, so that a subclass can cache by the number of players.
            n_active = [len(players) for players, _ in players_and_values]
            for row in np.argsort(n_active).tolist():
                players, values = players_and_values[row]
                if len(players):
                    empty, grand = game.base_values, row_games.predictions[row]
                    yield row, players, np.vstack([empty, values, grand])


class NestedCoalitions(AllCoalitions):
    """Exact values inside groups, from the coalitions that keep groups together."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._sums = hierarchy.coalition_sums()

    def n_coalitions(self, n_players: int) -> int:
        """Number of the coalitions, with the empty and the grand one."""
        return len(self._sums.coalitions)

    def coalitions(self, n_players: int) -> NDArray[np.bool_]:
        """Coalitions of all players, of which none is left out."""
        return self._sums.coalitions[1:-1]

    def attributions(
        self, responses: NDArray[np.float64], n_players: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | float]:
        """Values of players (n_players, k); their errors are zero."""
        return self._sums.coefficients @ responses, 0.0


@estimator_dataclass
class BaseCoalitional(BaseAttribution):
    """Base of the Shapley estimators that evaluate coalitions.

    A subclass creates its `Attributor` in `fit` (`_make_attributor`).
    """

    max_rows: int | None = None
    link: str = "identity"
    background: Any = None
    feature_groups: dict[str, Any] | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    subsample: float | None = 100
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _caches = (*BaseAttribution._caches, "_held_out_data")
    _takes_no_rows = True

    _parameter_constraints = {
        **BaseAttribution._parameter_constraints,
        **DEPENDENCE_CONSTRAINTS,
        **TOLERANCE_CONSTRAINTS,
        "link": [StrOptions(set(LINKS))],
    }

    @abstractmethod
    def _make_attributor(self) -> Attributor:
        """The attributor; all random draws are made here."""

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        # Conditional distributions are estimated from all rows.
        self._all_rows = Sample.of_positive_weight(rows, y, weights)
        return self._draw(self._all_rows, self.subsample, self.random_state)

    def _make_game(self, background: Sample, response: Response) -> ResponseGame:
        """The game against the background, or with `dependence`."""
        all_rows = self._all_rows
        del self._all_rows
        self._held_out_data = self._dependence_error = None
        if getattr(self, "dependence", None) is None:
            rows, weights = background.rows, background.weights
            return CoalitionGame(response, rows, weights, self.features_, self.link)
        if self.background is not None:
            all_rows = background
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_draws = background.rows.n_rows
        return conditional_game(self, response, all_rows, n_draws, self.link, seed)

    def _fit_base_values(
        self, background: Sample, response: Response
    ) -> NDArray[np.float64]:
        self._game = self._make_game(background, response)
        # Coalitions that keep groups together are those of all players.
        self._game.omits_equal = self._nesting.hierarchy is None
        if self._game.saturated:
            _warn_saturated("the background")
        self._attributor = self._make_attributor()
        if self.link == "logit":
            self._response_name = "log-odds"
        return self._game.base_values[: self._game.n_outputs]

    def _attribute(self, rows: Rows) -> Attributions:
        attribute: Callable[..., Any] = _attribute_block
        tolerance = getattr(self, "tolerance", None)
        if tolerance is not None:
            attribute = partial(_attribute_to_tolerance, tolerance)
        blocks = finished_of(self._run_by_block(attribute, rows, tolerance))
        values, predictions, fields_by_block = zip(*blocks, strict=True)
        joined_fields = {
            name: np.concatenate([fields[name] for fields in fields_by_block])
            for name in fields_by_block[0]
        }
        all_values = np.concatenate(values)
        errors = joined_fields.pop("standard_errors", None)
        if tolerance is not None and errors is not None:
            self._warn_of_errors(all_values, errors, tolerance)
        joined_values, errors = join_batches(all_values, errors, self._game.n_batches)
        if errors is not None:
            joined_fields["standard_errors"] = errors
        joined_predictions = np.concatenate(predictions)[:, : self._game.n_outputs]
        return Attributions(joined_values, joined_predictions, joined_fields)

    def _pair_values(self, rows: Rows) -> NDArray[np.float64]:
        pairs = np.concatenate(list(self._run_by_block(_pair_values_of_block, rows)))
        return pairs[..., : self._game.n_outputs]

    def _run_by_block(
        self, function: Callable[..., Any], rows: Rows, tolerance: float | None = None
    ) -> Iterator[Any]:
        """Results of ``function(attributor, game, block)`` for blocks of the rows.

        With a tolerance, the function gets attributors of more and more coalitions.
        """
        n_players, n_outputs = len(self.features_), len(self._game.base_values)
        attributor = self._affordable_attributor(rows.n_rows)
        n_coalitions = attributor.n_asked(n_players)
        self._game.announce(rows.n_rows, n_coalitions, _COST_ADVICE)
        # Of a coalition: a boolean for each player, and for each output its value and
        # two copies, as doubles.
        coalition_bytes = n_players + 3 * 8 * n_outputs
        row_bytes = attributor.n_coalitions(n_players) * coalition_bytes
        task = attributor if tolerance is None else _stages_of(attributor, n_players)
        evaluate = partial(function, task, self._game)
        n_saturated = 0
        most_rows = rows_in_memory(row_bytes)
        for result, saturated in self._results(evaluate, rows, most_rows, n_coalitions):
            n_saturated += saturated.sum()
            yield result
        if n_saturated:
            _warn_saturated(f"{n_saturated} of {rows.n_rows} rows")

    def _results(
        self, evaluate: Callable[[Rows], Any], rows: Rows, most_rows: int, n_asked: int
    ) -> Iterator[Any]:
        """Results of blocks, whose rows are finished together, in about a second."""
        n_rows, n_workers = max(rows.n_rows, 1), effective_n_jobs(self.n_jobs)
        if n_workers == 1:
            seconds = self._game.most_seconds(n_asked)
            results = _results_in_time(evaluate, rows, most_rows, seconds)
            yield from filter(None, with_progress(results, n_rows))
            return
        rows_per_task = -(-n_rows // (_TASKS_PER_WORKER * n_workers))
        in_time = int(_BLOCK_SECONDS / max(self._game.seconds(1, n_asked), 1e-9))
        block_rows = max(1, min(most_rows, rows_per_task, in_time))
        tasks = [(rows.sliced(block),) for block in slices(n_rows, block_rows)]
        yield from run(evaluate, tasks, n_jobs=self.n_jobs)

    def _affordable_attributor(self, n_rows: int) -> Attributor:
        """The attributor, with fewer coalitions of each row if `max_rows` is less."""
        if self.max_rows is None:
            return self._attributor
        n_left = int(min(self.max_rows, rows_left()))
        n_players, n_draws = len(self.features_), self._game.n_draws
        attributor, n_known = self._attributor, self._attributor.n_known
        fewest = attributor.fewest_coalitions(n_players) - n_known
        fewest = min(fewest, attributor.n_asked(n_players))
        needed = 1 + fewest * n_draws  # each row is sent once as it is
        if n_left < n_rows * needed:
            self._refuse_rows(n_rows, n_left, fewest)
        if not n_draws or not n_rows:  # regressions send no other rows
            return attributor
        n_asked = (n_left // n_rows - 1) // n_draws
        return attributor.within(n_asked + n_known, n_players)

    def _refuse_rows(self, n_rows: int, n_left: int, fewest: int) -> NoReturn:
        """Say what `max_rows` allows, and what is needed at least."""
        n_draws = self._game.n_draws
        needed = 1 + fewest * n_draws
        n_possible, fewer = n_left // needed, (n_left // n_rows - 1) // max(fewest, 1)
        options = {
            f"{n_possible} of the {n_rows} rows to be explained": n_possible > 0,
            f"all with {fewer} rows of the background (subsample)": (
                fewer >= self._game.fewest_draws
            ),
        }
        possible = ", or ".join(text for text, holds in options.items() if holds)
        raise ValueError(
            f"max_rows={self.max_rows} is less than {n_rows * needed}: {n_rows} rows, "
            f"each with at least {fewest} coalitions x {n_draws} rows and one more. "
            + (f"It allows {possible}. " if possible else "")
            + "Joining players (feature_groups) takes fewer."
        )

    def _warn_of_errors(
        self, values: NDArray[np.float64], errors: NDArray[np.float64], tolerance: float
    ) -> None:
        """Warn of rows that have used up their coalitions above the tolerance."""
        missed = [
            not _is_precise(v, e, tolerance, self._game.n_outputs)
            for v, e in zip(values, errors, strict=True)
        ]
        if any(missed):
            warn(
                f"Allow more coalitions (n_coalitions, n_permutations, max_rows): "
                f"{sum(missed)} of {len(values)} rows have not reached "
                f"tolerance={tolerance:g}, as their standard errors say.",
                CostlyInspectionWarning,
            )


def _is_precise(
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    tolerance: float,
    n_outputs: int,
) -> bool:
    """Whether errors due to coalitions are small relative to the largest value.

    More coalitions do not make errors of conditional draws smaller.
    """
    largest_error = _ERRORS_OF_LARGEST * errors[..., :n_outputs].max(initial=0.0)
    largest = np.abs(values[..., :n_outputs]).max(initial=0.0)
    return bool(largest_error <= tolerance * largest)


def finished_of(blocks: Iterator[Any]) -> list[Any]:
    """Results until the user interrupts the call, if there are any."""
    finished: list[Any] = []
    try:
        for block in blocks:
            finished.append(block)
    except KeyboardInterrupt:
        if not finished:
            raise
    return finished


def _results_in_time(
    evaluate: Callable[[Rows], Any], rows: Rows, most_rows: int, seconds: float
) -> Iterator[Any]:
    """Results of blocks that take about a second each, by the time of the one before.

    `seconds` is the time of a row for the first. For its other rows, a block has None:
    progress is by row.
    """
    stop, n_rows = 0, max(rows.n_rows, 1)
    while stop < n_rows:
        in_time = int(_BLOCK_SECONDS / max(seconds, 1e-9))
        start, stop = stop, min(n_rows, stop + max(1, min(most_rows, in_time)))
        began = perf_counter()
        yield evaluate(rows.sliced(slice(start, stop)))
        seconds = (perf_counter() - began) / (stop - start)
        yield from repeat(None, stop - start - 1)


def _stages_of(attributor: Attributor, n_players: int) -> list[Attributor]:
    """The same attributor of more and more of its coalitions."""
    most = attributor.n_coalitions_in_all(n_players)
    number, numbers = attributor.fewest_coalitions(n_players), []
    while number < most:
        numbers.append(number)
        number = int(_STAGE_GROWTH * number) + 1
    return [attributor.within(number, n_players) for number in (*numbers, most)]


def _attribute_to_tolerance(
    tolerance: float, stages: list[Attributor], game: ResponseGame, rows: Rows
) -> tuple[Any, NDArray[np.bool_]]:
    """As `_attribute_block`, each row from as few coalitions as its errors allow."""
    results = []
    for block in slices(max(rows.n_rows, 1), 1):
        row_games = game.games_of_rows(rows.sliced(block))
        row_games.keep_values()
        for stage in stages:
            values, fields = stage.attribute(game, row_games)
            errors = fields.get("standard_errors")
            if errors is None or _is_precise(values, errors, tolerance, game.n_outputs):
                break
        results.append((values, fields, row_games))
    values, fields, row_games = zip(*results, strict=True)
    joined = {name: np.concatenate([f[name] for f in fields]) for name in fields[0]}
    predictions = np.concatenate([games.predictions for games in row_games])
    saturated = np.concatenate([games.saturated for games in row_games])
    return (np.concatenate(values), predictions, joined), saturated


def _attribute_block(
    attributor: Attributor, game: ResponseGame, rows: Rows
) -> tuple[Any, NDArray[np.bool_]]:
    """Attributions, predictions and further fields; a mask of saturated rows."""
    row_games = game.games_of_rows(rows)
    values, fields = attributor.attribute(game, row_games)
    return (values, row_games.predictions, fields), row_games.saturated


def _pair_values_of_block(
    attributor: AllCoalitions, game: ResponseGame, rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Interaction values; a mask of saturated rows."""
    row_games = game.games_of_rows(rows)
    return attributor.pair_values(game, row_games), row_games.saturated


def _warn_saturated(rows: str) -> None:
    """Warn of mean responses that were clipped before the logit."""
    warn(
        f"Use link='identity' where responses are 0 or 1: mean responses, of {rows}, "
        "were clipped by 2.2e-16, to log-odds of -36 and 36, which outweigh others.",
        SaturatedResponseWarning,
    )
