"""The game of an inspector whose absent features may depend on the present ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.weighted import student_factor
from sklearn_interpret._model._sklearn_compat import HasMethods, StrOptions
from sklearn_interpret._model.conditionals.conditional_games import (
    DEPENDENCES,
    ConditionalGame,
    choose_coalitions,
    dependence_error,
)
from sklearn_interpret._model.row_limit import counting_rows
from sklearn_interpret._model.rows.sample import Sample

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response

DEPENDENCE_CONSTRAINTS = {
    "dependence": [
        StrOptions({*DEPENDENCES, "auto"}),
        HasMethods(["fit", "predict"]),
        callable,
        None,
    ]
}
NO_DEPENDENCE = "dependence_error_ is the error of a dependence, which is None."
# Share and largest number of the rows that are held out to estimate the error of
# conditional means, and number of coalitions. With fewer rows than the last number, the
# best kind of dependence is a matter of chance.
_HELD_OUT = 0.3
_MOST_HELD_OUT = 200
_N_COALITIONS = 10
_FEWEST_ROWS = 10
# Most players for which "auto" tries regressions: one for each coalition.
_MOST_REGRESSION_PLAYERS = 10


def conditional_game(
    inspector: Any,
    response: Response,
    sample: Sample,
    n_draws: int,
    link: str,
    seed: int,
) -> ConditionalGame:
    """The game of an inspector with `dependence`; sets `dependence_` and its errors.

    Conditional distributions are estimated from the sample.
    """
    dependence = inspector.dependence
    inspector._held_out_data = response, sample, n_draws, seed
    if isinstance(dependence, str) and dependence == "auto":
        inspector.dependence_errors_ = _errors_by_kind(inspector)
        dependence = min(
            inspector.dependence_errors_, key=inspector.dependence_errors_.get
        )
    inspector.dependence_, inspector._dependence_error = dependence, None
    return ConditionalGame(
        response, sample, n_draws, inspector.features_, link, dependence, seed
    )


def _errors_by_kind(inspector: Any) -> dict[str, float]:
    """Error on held-out rows of each kind of dependence that takes the columns."""
    errors, refusals = {}, []
    kinds = DEPENDENCES
    if len(inspector.features_) > _MOST_REGRESSION_PLAYERS:
        kinds = kinds - {"regression"}
    for kind in sorted(kinds):
        try:
            errors[kind] = _held_out_error(inspector, kind)
        except ValueError as refusal:
            refusals.append(refusal)
    if not errors:
        raise refusals[0]
    return errors


def error_of_dependence(self: Any) -> float:
    """Mean squared error of conditional means at rows that they were not fitted to.

    See `dependence`. Computed on first access from rows of `fit`, which are not
    pickled, so read it before pickling.
    """
    check_is_fitted(self)
    if self.dependence is None:
        raise AttributeError(NO_DEPENDENCE)
    if self._dependence_error is None:
        if self._held_out_data is None:
            raise AttributeError("Read dependence_error_ before pickling.")
        with counting_rows(self):
            self._dependence_error = _held_out_error(self, self.dependence_)
    return self._dependence_error


def _held_out_error(inspector: Any, dependence: Any) -> float:
    """Mean squared error of conditional means at rows that they were not fitted to."""
    response, sample, n_draws, seed = inspector._held_out_data
    players, rows = inspector.features_, sample.rows
    n_rows = rows.n_rows
    if n_rows < _FEWEST_ROWS:
        raise ValueError(
            f"The error of conditional means takes {_FEWEST_ROWS} rows or more; there "
            f"are {n_rows}: pass the kind of dependence."
        )
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_rows)
    n_held_out = min(int(_HELD_OUT * n_rows), _MOST_HELD_OUT)
    held_out, fitted = order[:n_held_out], order[n_held_out:]
    sample = Sample(rows.take(fitted), None, sample.weights[fitted])
    game = ConditionalGame(
        response, sample, n_draws, players, "identity", dependence, seed
    )
    coalitions = choose_coalitions(len(players), _N_COALITIONS, rng)
    return dependence_error(game, rows.take(held_out), coalitions)


def join_batches(
    values: NDArray[np.float64], errors: NDArray[np.float64] | None, n_batches: int
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Values (..., k) of all draws, and errors of sampled draws and coalitions.

    `values` (..., k (1 + n_batches)) are those of all draws, then of each batch;
    `errors` are due to coalitions, which are sampled independently of draws.
    """
    k = values.shape[-1] // (1 + n_batches)
    if errors is not None:
        errors = errors[..., :k]
    if n_batches:
        batches = values[..., k:].reshape(*values.shape[:-1], n_batches, k)
        spread = batches.std(axis=-2, ddof=1) / np.sqrt(n_batches)
        error_of_draws = student_factor(n_batches - 1) * spread
        errors = np.hypot(error_of_draws, 0.0 if errors is None else errors)
    return values[..., :k], errors
