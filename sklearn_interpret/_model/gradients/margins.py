"""Margins of a model's scores against each rival, and their slopes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.gradients.functions import Differences
from sklearn_interpret._model.gradients.models import Scores, read_scores
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.actions.problem import SearchProblem

# Number of known rows at which slopes are tested for being zero: enough to tell a model
# of steps, at the cost of a few predictions.
_N_TESTED = 20
# A response with a smaller share of nonzero slopes is taken as piecewise constant: that
# of trees has next to none, that of a smooth model nearly all.
_MIN_SLOPING = 0.25


class DecidingMargins(NamedTuple):
    """Margins of n rows, and which of them decides."""

    rival: NDArray[np.intp]  # (n,): position of the deciding margin
    margin: NDArray[np.float64]  # (n,): its value
    margins: NDArray[np.float64]  # (n, n_rivals)


class Margins:
    """Signed margins of a target, positive where it is reached, and their slopes.

    The target "any other class" has one margin for each class over the row's own class:
    it is reached where the largest is positive. A target class has one margin over each
    other class, an interval one for each end: they are reached where the smallest is
    positive. Where pairs of classes vote, a class that beats each other class wins: its
    margin is the smallest over the other classes.

    Parameters
    ----------
    problem : SearchProblem
        Known rows, at which slopes are tested for being zero.

    Attributes
    ----------
    n_rivals : int
        Number of margins: of classes, the row's own among them, or of ends.
    by_formula : bool
        Whether slopes come from the model's formula; else from finite differences.

    Raises
    ------
    UnreadableModelError
        If the model is made of trees, predicts labels alone, or is piecewise constant.
    """

    def __init__(self, problem: SearchProblem) -> None:
        outcome = self.outcome = problem.outcome
        classes = outcome.response.classes if outcome.interval is None else None
        self.n_classes = 0 if classes is None else len(classes)
        self.n_rivals = self.n_classes or 2
        try:
            read_scores(outcome.estimator)
            self.by_formula = True
        except UnreadableModelError as error:
            _refuse_trees(outcome.estimator, error)
            if self.n_classes and outcome.response.method == "predict":
                name = type(unfrozen(outcome.estimator)).__name__
                raise UnreadableModelError(
                    f"{name} predicts labels alone, which have no slopes to follow."
                ) from error
            self.by_formula = False
        if outcome.interval is not None:
            # Scores by formula have a column for each output, a response those of
            # the target alone.
            example = self.scores.function(problem.rows.take([0]).native)
            target: Any = outcome.response.target if self.by_formula else None
            self._output_weights = np.eye(example.shape[1])[target or 0]
        self._refuse_steps(problem)

    @cached_property
    def scores(self) -> Scores:
        """The model's scores; not pickled."""
        if self.by_formula:
            return read_scores(self.outcome.estimator)
        has_one_score = self.outcome.response.method == "decision_function"
        pairs = [(1, 0)] if has_one_score and self.n_classes == 2 else None
        return Scores(Differences(self._smooth_responses), pairs)

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: attribute for key, attribute in vars(self).items() if key != "scores"
        }

    def _smooth_responses(self, native: Any) -> NDArray[np.float64]:
        """Responses, or logarithms of responses that are probabilities."""
        outcome = self.outcome
        if not self.n_classes or outcome.response.method == "decision_function":
            return outcome.response(native)
        returned = outcome.response.returned_by("predict_proba", native)
        probabilities = np.asarray(returned, dtype=np.float64)
        return np.log(np.maximum(probabilities, np.finfo(float).tiny))

    def _refuse_steps(self, problem: SearchProblem) -> None:
        """Raise if most slopes of known rows are zero though their scores differ."""
        n_rows = problem.rows.n_rows
        rows = np.linspace(0, n_rows - 1, min(n_rows, _N_TESTED)).astype(np.intp)
        native = problem.rows.take(rows).native
        rival, _ = self.deciding_margin(self.margins(native, problem.classes_of(rows)))
        is_sloping = self.slopes(problem, problem.values[rows], rows, rival) != 0
        used = is_sloping.any(axis=0)
        is_flat = not used.any() or is_sloping[:, used].mean() < _MIN_SLOPING
        scores_differ = np.ptp(self.scores.function(native), axis=0).any()
        if is_flat and scores_differ and problem.actionability.vary.any():
            name = type(unfrozen(self.outcome.estimator)).__name__
            raise UnreadableModelError(
                f"Responses of {name} change in steps, and have no slopes to follow."
            )

    def margins(
        self, native: Any, classes: NDArray[np.intp] | None
    ) -> NDArray[np.float64]:
        """Margins (n, n_rivals); the class itself has -inf, or inf, and never decides.

        `classes` are positions of the rows' own classes, which the target "any other
        class" needs.
        """
        if not native.shape[0]:  # kernels take no table without rows
            return np.empty((0, self.n_rivals))
        return self.margins_of_scores(self.scores.function(native), classes)

    def margins_of_scores(
        self, scores: NDArray[np.float64], classes: NDArray[np.intp] | None
    ) -> NDArray[np.float64]:
        """`margins` of rows with some scores."""
        outcome = self.outcome
        if outcome.interval is not None:
            low, high = outcome.interval
            output = scores @ self._output_weights
            return np.column_stack([output - low, high - output])
        all_classes = np.arange(self.n_classes)
        if outcome.wanted is None:
            classes = np.asarray(classes)[:, None]
            if self._pairs_vote:
                margins = self._pair_margins(scores).min(axis=2)
            else:
                weights = self.scores.differences(all_classes, classes, self.n_classes)
                margins = np.einsum("nk,nrk->nr", scores, weights)
            np.put_along_axis(margins, classes, -np.inf, axis=1)
        else:
            weights = self.scores.differences(
                outcome.wanted, all_classes, self.n_classes
            )
            margins = scores @ weights.T
            margins[:, outcome.wanted] = np.inf
        return margins

    def rivals(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Positions (n, m) of the margins that can decide of the rows at `index`."""
        outcome = self.outcome
        if outcome.interval is not None:
            ends = np.flatnonzero(np.isfinite(outcome.interval))
            return np.tile(ends, (len(index), 1))
        excluded = np.full(len(index), outcome.wanted)
        if outcome.is_other:
            excluded = problem.classes[index]
        positions = np.arange(self.n_classes - 1)
        return positions + (positions >= excluded[:, None])

    @property
    def are_linear(self) -> bool:
        """Whether "any other class" has margins that are linear in the columns.

        The scores are then the response.
        """
        is_any_other = self.outcome.is_other and not self._pairs_vote
        by_scores = self.outcome.response.method == "decision_function"
        return is_any_other and by_scores and self.by_formula and self.scores.are_linear

    @property
    def _pairs_vote(self) -> bool:
        """Whether pairs of several classes vote."""
        return self.scores.pairs is not None and self.n_classes > 2

    def _pair_margins(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Margins of each class over each other one, (n, k, k)."""
        classes = np.arange(self.n_classes)
        weights = self.scores.differences(classes[:, None], classes, self.n_classes)
        margins = np.einsum("np,klp->nkl", scores, weights)
        margins[:, classes, classes] = np.inf
        return margins

    def deciding_margin(
        self, margins: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Position and value of the margin that decides, (n,) each.

        It is the largest margin for "any other class", else the smallest.
        """
        rival = (margins.argmax if self.outcome.is_other else margins.argmin)(axis=1)
        return rival, margins[np.arange(len(margins)), rival]

    def margins_at(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
    ) -> DecidingMargins:
        """Margins of encoded copies of the rows of a problem at `index`."""
        classes = problem.classes_of(index)
        margins = self.margins(problem.decode(values, index), classes)
        return DecidingMargins(*self.deciding_margin(margins), margins)

    def slopes(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
        rival: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Slopes (n, n_columns) of rows' margins over their rivals, per unit of cost.

        Zero where cells may not vary. `values` are encoded copies of the rows of a
        problem at `index`.
        """
        if not len(values):
            return np.zeros(values.shape)
        classes = problem.classes_of(index)
        if self.by_formula:
            native = problem.decode(values, index)
            if self.outcome.is_other and self._pairs_vote:
                pair_margins = self._pair_margins(self.scores.function(native))
                classes = pair_margins[np.arange(len(rival)), rival].argmin(axis=1)
            weights = self._margin_weights(classes, rival)
            gradients = self.scores.function.vjp(native, weights)
        else:
            weights = self._margin_weights(classes, rival)
            gradients = self._difference_gradients(problem, values, index, weights)
        actionability = problem.actionability
        gradients = np.where(actionability.movable & np.isfinite(values), gradients, 0)
        return gradients / actionability.costs

    def _margin_weights(
        self, classes: NDArray[np.intp] | None, rival: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Weights (n, k) of scores in the margin of each row over its `rival`."""
        outcome = self.outcome
        if outcome.interval is not None:
            return np.where(rival == 0, 1, -1)[:, None] * self._output_weights
        if outcome.wanted is None:
            return self.scores.differences(rival, np.asarray(classes), self.n_classes)
        return self.scores.differences(outcome.wanted, rival, self.n_classes)

    def _difference_gradients(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Gradients by differences between the allowed values below and above."""
        gradients = np.zeros(values.shape)
        movable = np.flatnonzero(problem.actionability.movable)
        # A call of the model has the steps along as many columns as a batch holds.
        n_columns = batch_rows(problem.rows.row_bytes) // (2 * len(values))
        for block in slices(len(movable), max(1, n_columns)):
            columns = movable[block]
            trials, rows, distances = problem.shifted_copies(values, index, columns)
            scores = self.scores.function(problem.decode(trials, rows))
            scores = scores.reshape(2, *distances.shape, -1)
            low, high = np.einsum("snkj,nj->snk", scores, weights)
            slopes = np.zeros(distances.shape)
            np.divide(high - low, distances, out=slopes, where=distances > 0)
            gradients[:, columns] = slopes
        return gradients


def _refuse_trees(estimator: BaseEstimator, error: UnreadableModelError) -> None:
    """Raise for models of trees, which have no slopes."""
    if read_formula([read_trees], estimator) is not None:
        name = type(unfrozen(estimator)).__name__
        raise UnreadableModelError(
            f"{name} is made of trees, which have no slopes."
        ) from error
