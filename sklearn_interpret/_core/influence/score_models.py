"""Models of linear scores, fitted by a convex objective, without some of their rows.

`ScoreModel.without` takes one Newton step for each row (Pregibon 1981), and further
steps where one is not exact enough.
The objective is ``sum_i w_i (loss(y_i, z_i @ B) + sum(row_penalty * B**2) / 2)
+ sum(penalty * B**2) / 2``, where B has the shape (d, k).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh

from sklearn_interpret._core.statistics.score_losses import Logistic, Loss, Softmax
from sklearn_interpret._core.statistics.weighted import row_blocks

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

_L = TypeVar("_L", bound=Loss, covariant=True)
# Lists of rows that are left out together, or one array if all lists are equally long.
_Groups = Sequence[NDArray[np.intp] | list[int]] | NDArray[np.intp]

# Relative rounding of an objective.
_ROUNDING = 1e-12
# Newton's method ends when the predicted decrease is below this share of the
# objective's mean over rows: it converges quadratically, so the error left is rounding.
_CLOSE = 1e-16
# Armijo's condition: least share of the predicted decrease that a step achieves.
_ARMIJO = 1e-4
# Most Newton steps of a fit.
_MOST_STEPS = 100
# Share of a Newton step below which the fit is given up.
_LEAST_STEP_SIZE = 1e-10
# The bound of next steps is divided by this, since it overstates them: third
# derivatives of different rows have different signs. Chosen by hand; with 1 more rows
# take a second step than need one.
_OVERSTATED = 2.5
# Mean loss below which classes count as separable.
_NO_LOSS = 1e-6
# Columns are centred where the square of the mean exceeds this share of the mean
# square: products of other columns lose four digits at most.
_FAR = 0.9999
# A row whose leverage is this near to one determines a parameter alone.
_DECISIVE = 1e-9


class _RowPenalty(NamedTuple):
    """Gradient (d, k) of a row's penalty, and the inverse Hessian H^-1 times it."""

    gradient: _Array
    step: _Array


class _FirstSteps(NamedTuple):
    """Newton steps of the parameters as each of some rows (r,) is left out.

    A takes the parameters to the scores of a row.
    """

    steps: _Array  # (r, d, k)
    decreases: _Array  # (r,): twice the predicted decrease of the objective
    is_decisive: NDArray[np.bool_]  # (r,): rows that determine a parameter alone
    inverse: _Array  # (d k, d k): H^-1, of all rows
    solved_design: _Array  # (r, d k, k): H^-1 A
    inner: _Array  # (r, k, k): (1 - C L)^-1 C, see `_first_steps`

    def next_steps(self, gradients: _Array, active: NDArray[np.intp]) -> _Array:
        """Newton steps with the same Hessians, from gradients (m, d, k) at rows."""
        flat = gradients.reshape(len(active), -1)
        steps = flat @ self.inverse
        of_scores = np.einsum("rpk,rp->rk", self.solved_design[active], flat)
        of_scores = np.einsum("rlk,rk->rl", self.inner[active], of_scores)
        steps += np.einsum("rpk,rk->rp", self.solved_design[active], of_scores)
        return steps.reshape(gradients.shape)


@dataclass(frozen=True, eq=False)
class ScoreModel(Generic[_L]):
    """A model of linear scores, where its objective is smallest.

    Parameters
    ----------
    design : ndarray of shape (n, d)
        Columns, one of which may be constant.
    targets : ndarray of shape (n, k)
        Targets, as the loss takes them.
    weights : ndarray of shape (n,)
        Weights of the rows.
    penalty, row_penalty : ndarray of shape (d, k)
        Penalties of the squared parameters: once, and for each row.
    loss : loss of `score_losses`
        The loss.
    parameters : ndarray of shape (d, k)
        Parameters near the optimum.
    damping : float, default=0.0
        Half of it times the squared distance from `parameters` is added to the
        objective of the rows that are left.
    fixed : ndarray of shape (d, k), bool, default=None
        Parameters that stay as they are.
    offsets : ndarray of shape (n, k), default=0
        Added to the scores.
    """

    design: _Array
    targets: _Array
    weights: _Array
    penalty: _Array
    row_penalty: _Array
    loss: _L
    parameters: _Array
    damping: float = 0.0
    fixed: NDArray[np.bool_] | None = None
    offsets: _Array | float = 0.0

    def scores_at(
        self, parameters: _Array, rows: NDArray[np.intp] | slice | None = None
    ) -> _Array:
        """Scores (n, k) at parameters (d, k), of all rows or some."""
        if rows is None:
            return self.design @ parameters + self.offsets
        return self.design[rows] @ parameters + self.offsets_of(rows)

    def offsets_of(
        self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice
    ) -> _Array | float:
        """Offsets of some rows."""
        offsets = self.offsets
        return offsets[rows] if isinstance(offsets, np.ndarray) else offsets

    def at_optimum(self) -> ScoreModel[_L]:
        """The model with the parameters at the optimum, up to rounding."""
        undamped = replace(self, damping=0.0)
        centred, included = undamped._centred, np.ones((1, len(self.design)))
        best, _ = centred._descend(centred.parameters[None], included)
        return replace(self, parameters=undamped._from_means(best[0]))

    def distance(self, parameters: _Array) -> float:
        """Distance of parameters (d, k) from the optimum.

        It is the squared length of the step to the optimum, in units of the Hessian,
        over the sum of the squared lengths for single rows. The optimum of as many
        other rows has a distance of about two.
        """
        model, weights = self._centred, self.weights
        parameters = self._to_means(parameters)[None]
        total = model._gradients(parameters, weights[:, None]).ravel()
        row_penalty, slopes = model._row_penalty, model._slopes
        lengths = np.einsum("nk,nkl,nl->", slopes, model._leverages, slopes)
        slopes = weights[:, None] * slopes
        lengths += 2 * (model.design.T @ slopes * row_penalty.step).sum()
        lengths += weights @ weights * (row_penalty.gradient * row_penalty.step).sum()
        lengths += _ROUNDING * self._null_objective
        return total @ model._inverse @ total / lengths if lengths > 0 else 0.0

    @cached_property
    def _means(self) -> _Array:
        """Means of the columns, zero without an intercept as last parameter."""
        penalties, fixed = self.penalty + self.row_penalty, self.fixed
        bound = penalties[-1].any() or (fixed is not None and fixed[-1].any())
        if self.damping or bound or not (self.design[:, -1] == 1).all():
            return np.zeros(len(penalties))
        shares = self.weights / self.weights.sum()
        means = shares @ self.design
        is_far = means**2 > _FAR * self._squares / self.weights.sum()
        is_far[-1] = False
        rows = self.design[:, is_far][self.weights > 0]
        # Constant columns become zero, without rounding.
        means[is_far] = np.clip(means[is_far], rows.min(axis=0), rows.max(axis=0))
        return np.where(is_far, means, 0)

    @cached_property
    def _squares(self) -> _Array:
        """Weighted sums of squares of the columns."""
        return np.einsum("n,nd,nd->d", self.weights, self.design, self.design)

    @cached_property
    def _centred(self) -> ScoreModel[_L]:
        """The model of centred columns, since large means would take all digits."""
        if not self._means.any():
            return self
        design, parameters = self.design - self._means, self._to_means(self.parameters)
        return replace(self, design=design, parameters=parameters)

    def _to_means(self, parameters: _Array) -> _Array:
        """Parameters (..., d, k) of centred columns: an intercept at the means."""
        moved = parameters.copy()
        moved[..., -1, :] += np.einsum("d,...dk->...k", self._means, moved)
        return moved

    def _from_means(self, parameters: _Array) -> _Array:
        """The inverse of `_to_means`."""
        moved = parameters.copy()
        moved[..., -1, :] -= np.einsum("d,...dk->...k", self._means, moved)
        return moved

    @property
    def _null_objective(self) -> float:
        """The objective where all parameters are zero."""
        losses = self.loss.values(self.targets, 0 * self.targets)
        return float(self.weights @ losses)

    @cached_property
    def _least_decrease(self) -> float:
        """Predicted decrease of the objective at which Newton's method ends."""
        objective = self._objective(self.parameters, np.ones(len(self.design)))
        return (
            _CLOSE * (objective + _ROUNDING * self._null_objective) / len(self.design)
        )

    @cached_property
    def _inverse(self) -> _Array:
        """Inverse of the Hessian, (d k, d k); zero along what no row determines."""
        return self._inverse_hessian(self.parameters, np.ones(len(self.design)))

    def without(
        self, deleted: _Groups, precision: float = 0.0
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Parameters without each of some lists of rows.

        Parameters
        ----------
        deleted : sequence of ndarray of int, or ndarray of shape (m, n_together)
            Positions of the rows that are left out together.
        precision : float, default=0.0
            For single rows: an error of this share of the change is small enough.

        Returns
        -------
        parameters : ndarray of shape (m, d, k)
        converged : ndarray of shape (m,), bool
            Whether the parameters are at the optimum of the remaining rows.
        """
        model = self._centred
        parameters, converged = model._parameters_without(deleted, precision)
        penalties = self.penalty + self.row_penalty
        if isinstance(self.loss, Logistic | Softmax) and not penalties.all():
            converged &= self._keep_classes(deleted)
            if not penalties.any():
                pairs = zip(parameters, deleted, strict=True)
                converged &= [not model._is_perfect(*pair) for pair in pairs]
        return self._from_means(parameters), converged

    def _keep_classes(self, deleted: _Groups) -> NDArray[np.bool_]:
        """Whether rows of all classes remain: else an intercept is infinite."""
        counts = self.targets * (self.weights > 0)[:, None]
        if isinstance(self.loss, Logistic):
            counts = np.hstack([counts, (self.weights > 0)[:, None] - counts])
        rows, group = _flatten_groups(deleted)
        lost = [np.bincount(group, column, len(deleted)) for column in counts[rows].T]
        return (np.transpose(lost) < counts.sum(axis=0)).all(axis=1)

    def _is_perfect(
        self, parameters: _Array, deleted: NDArray[np.intp] | list[int]
    ) -> bool:
        """Whether the loss is zero: classes are separable, and there is no optimum."""
        losses = self.loss.values(self.targets, self.scores_at(parameters))
        losses[deleted] = 0
        return bool(self.weights @ losses < _NO_LOSS * self.weights.sum())

    def _parameters_without(
        self, deleted: _Groups, precision: float
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Results of `without`, for a model with centred columns where possible.

        By steps for single rows, then by descents from there, at last from zero.
        """
        parameters = np.repeat(self.parameters[None], len(deleted), axis=0)
        converged = np.zeros(len(deleted), dtype=bool)
        (rows, group), (d, k) = _flatten_groups(deleted), self.parameters.shape
        if np.array_equal(group, np.arange(len(deleted))):  # one row each
            for block in row_blocks(len(rows), d * k * k):
                steps = self._step_without_rows(rows[block], precision)
                parameters[block], converged[block] = steps
        remaining = np.flatnonzero(~converged)
        if not len(remaining):
            return parameters, converged
        included = np.ones((len(remaining), len(self.design)))
        for row_mask, position in zip(included, remaining.tolist(), strict=True):
            row_mask[deleted[position]] = 0
        ends, are_optima = self._descend(parameters[remaining], included)
        parameters[remaining], converged[remaining] = ends, are_optima
        remaining, included = remaining[~are_optima], included[~are_optima]
        ends, are_optima = self._descend(0 * parameters[remaining], included)
        parameters[remaining[are_optima]] = ends[are_optima]
        converged[remaining] = are_optima
        return parameters, converged

    def _step_without_rows(
        self, rows: NDArray[np.intp], precision: float
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Parameters (r, d, k) without each row, and whether this succeeds.

        All steps have the Hessian H of all rows but one at their parameters. They fail
        where a step does not halve the one before: the parameters then stay unchanged.
        """
        # Where curvatures jump, a small step does not bound the next one.
        precision = precision if self.loss.reach else 0.0
        # Far from the optimum, numbers may overflow: such steps fail.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            first = self._first_steps(rows)
            changes, decreases = first.steps, first.decreases
            failed = first.is_decisive | ~(decreases >= 0)
            is_far = ~failed & (decreases > self._least_decrease)
            if precision:
                is_far &= self._next_step_bounds(decreases) > _OVERSTATED * precision
            active, last_decreases = np.flatnonzero(is_far), decreases[is_far]
            start = np.broadcast_to(self.parameters, changes[active].shape)
            # Sums of the gradients so far: minus H times the changes.
            gradient_sums = -self._gradients_of(rows[active], start)
            while len(active):
                parameters = self.parameters + changes[active]
                gradients = self._gradients_at(parameters)
                gradients -= self._gradients_of(rows[active], parameters)
                steps = first.next_steps(gradients, active)
                changes[active] -= steps
                gradient_sums += gradients
                # Decreases are squared lengths of steps, in units of the Hessian.
                decreases = (steps * gradients).sum(axis=(1, 2))
                halves = (decreases >= 0) & (decreases <= last_decreases / 4)
                failed[active[~halves]] = True
                squared_lengths = -(changes[active] * gradient_sums).sum(axis=(1, 2))
                least = np.maximum(self._least_decrease, precision**2 * squared_lengths)
                is_far = halves & (decreases > least)
                active, last_decreases = active[is_far], decreases[is_far]
                gradient_sums = gradient_sums[is_far]
        changes[failed] = 0
        changes += self.parameters
        return changes, ~failed

    def _first_steps(self, rows: NDArray[np.intp]) -> _FirstSteps:
        """Newton steps without a row each, by Woodbury's formula.

        With H the Hessian of all rows, C the curvatures of a row's loss along its
        scores, and L = A' H^-1 A:
        (H - A C A')^-1 = H^-1 + H^-1 A (1 - C L)^-1 C A' H^-1. The step is
        H^-1 A v + w H^-1 r, with v = (1 - C L)^-1 (s + w C A' H^-1 r), for the row's
        gradient A s + w r, where w is its weight, s are the slopes of its weighted
        loss, and r is the gradient of its penalty.
        """
        shape, solved_design = self.parameters.shape, self._solved_design(rows)
        leverages, weights = self._leverages[rows], self.weights[rows, None]
        slopes, penalty = self._slopes[rows], self._row_penalty
        penalty_scores = np.einsum("rd,dk->rk", self.design[rows], penalty.step)
        curvatures = self.loss.curvatures(self.targets[rows], self._scores[rows])
        curvatures *= weights[:, :, None]
        remaining = np.eye(shape[1]) - curvatures @ leverages
        is_decisive = np.abs(np.linalg.det(remaining)) < _DECISIVE
        remaining[is_decisive] = np.eye(shape[1])
        right = slopes + weights * np.einsum("rlk,rk->rl", curvatures, penalty_scores)
        solved = np.linalg.solve(remaining, np.dstack([curvatures, right]))
        inner, v = solved[..., :-1], solved[..., -1]
        steps = np.einsum("rpk,rk->rp", solved_design, v).reshape(-1, *shape)
        if penalty.step.any():
            steps += weights[:, :, None] * penalty.step
        score_steps = np.einsum("rlk,rk->rl", leverages, v) + weights * penalty_scores
        decreases = (slopes * score_steps + weights * penalty_scores * v).sum(axis=1)
        decreases += weights[:, 0] ** 2 * (penalty.gradient * penalty.step).sum()
        return _FirstSteps(
            steps, decreases, is_decisive, self._inverse, solved_design, inner
        )

    def _solved_design(self, rows: NDArray[np.intp] | slice) -> _Array:
        """H^-1 A of rows, (r, d k, k), where A takes the parameters to the scores."""
        columns = self._inverse.reshape(-1, *self.parameters.shape)
        return np.tensordot(self.design[rows], columns, axes=(1, 1))

    @cached_property
    def _leverages(self) -> _Array:
        """A' H^-1 A of each row, (n, k, k)."""
        (n, d), k = self.design.shape, self.targets.shape[1]
        leverages = np.empty((n, k, k))
        for rows in row_blocks(n, d * k * k):
            inverse = self._solved_design(rows).reshape(-1, d, k, k)
            leverages[rows] = np.einsum("rd,rdlk->rlk", self.design[rows], inverse)
        return leverages

    @cached_property
    def _scores(self) -> _Array:
        """Scores (n, k) at the parameters."""
        return self.scores_at(self.parameters)

    @cached_property
    def _slopes(self) -> _Array:
        """Slopes (n, k) of the weighted losses along the scores."""
        return self.weights[:, None] * self.loss.slopes(self.targets, self._scores)

    @cached_property
    def _row_penalty(self) -> _RowPenalty:
        """The penalty of a row, at the parameters."""
        gradient = self.row_penalty * self.parameters
        step = (self._inverse @ gradient.ravel()).reshape(gradient.shape)
        return _RowPenalty(gradient, step)

    def _next_step_bounds(self, decreases: _Array) -> _Array:
        """Upper bounds of the second steps, as shares of the first steps.

        A step d that takes the scores of row j by z_j'd leaves a gradient: half the sum
        over rows of third derivatives times (z_j'd)^2. Where these derivatives are at
        most b times the curvatures, its length in units of H^-1 is at most
        b / 2 d'Hd max_j |z_j|, with H the Hessian, d'Hd the decrease, and |z_j| the
        root of the leverage.
        """
        if self.row_penalty.any() or np.isinf(self.loss.self_concordance):
            return np.full(len(decreases), np.inf)
        bound = self.loss.self_concordance / 2
        return bound * np.sqrt(decreases * self._largest_leverage)

    @cached_property
    def _largest_leverage(self) -> float:
        """The largest z'H^-1 z of a row, of any score."""
        return float(self._leverages.diagonal(axis1=1, axis2=2).max())

    def _gradients_of(self, rows: NDArray[np.intp], parameters: _Array) -> _Array:
        """Gradients (m, d, k) of the objective of single rows, at parameters each."""
        design, weights = self.design[rows], self.weights[rows, None]
        scores = np.einsum("md,mdk->mk", design, parameters) + self.offsets_of(rows)
        slopes = weights * self.loss.slopes(self.targets[rows], scores)
        penalties = weights[:, :, None] * self.row_penalty * parameters
        return design[:, :, None] * slopes[:, None] + penalties

    def _gradients_at(self, parameters: _Array) -> _Array:
        """Gradients (m, d, k) of all rows, computed in blocks of limited memory."""
        (n_rows, k), weights = self.targets.shape, self.weights[:, None]
        blocks = row_blocks(len(parameters), n_rows * (k + 1))
        return np.vstack(
            [self._gradients(parameters[block], weights) for block in blocks]
        )

    def _gradients(self, parameters: _Array, weights: _Array) -> _Array:
        """Gradients (m, d, k), at parameters and weights (n, m) each."""
        m, d, k = parameters.shape
        # One product of matrices for all parameters.
        side_by_side = parameters.transpose(1, 0, 2).reshape(d, m * k)
        scores = (self.design @ side_by_side).reshape(-1, m, k)
        if isinstance(self.offsets, np.ndarray):
            scores += self.offsets[:, None]
        slopes = self.loss.slopes(self.targets[:, None], scores)
        slopes *= weights[:, :, None]
        gradients = (self.design.T @ slopes.reshape(-1, m * k)).reshape(d, m, k)
        gradients = gradients.transpose(1, 0, 2)
        gradients += self._penalties(weights) * parameters
        return gradients + self.damping * (parameters - self.parameters)

    def _objective(self, parameters: _Array, included: _Array) -> float:
        """The objective of the included rows at parameters (d, k)."""
        losses = self.loss.values(self.targets, self.scores_at(parameters))
        weights = included * self.weights
        penalty = (self._penalties(weights[:, None])[0] * parameters**2).sum() / 2
        distance = ((parameters - self.parameters) ** 2).sum() / 2
        return float(weights @ losses) + penalty + self.damping * distance

    def _penalties(self, weights: _Array) -> _Array:
        """Penalties (m, d, k) of the objective, at weights (n, m) each."""
        return self.penalty + weights.sum(axis=0)[:, None, None] * self.row_penalty

    def _inverse_hessian(self, parameters: _Array, included: _Array) -> _Array:
        """Inverse (d k, d k) of the Hessian of the included rows."""
        d, k = parameters.shape
        curvatures = self.loss.curvatures(self.targets, self.scores_at(parameters))
        weights = included * self.weights
        curvatures *= weights[:, None, None]
        penalties = self._penalties(weights[:, None])
        blocks = np.empty((d, k, d, k))
        for first in range(k):
            for second in range(first, k):
                products = (self.design.T * curvatures[:, first, second]) @ self.design
                blocks[:, first, :, second] = blocks[:, second, :, first] = products
        hessian = blocks.reshape(d * k, d * k)
        hessian[np.diag_indices(d * k)] += penalties.ravel() + self.damping
        if self.fixed is not None:
            hessian[self.fixed.ravel()] = hessian[:, self.fixed.ravel()] = 0
        hessian /= self._units
        if not np.isfinite(hessian).all():
            return np.full(hessian.shape, np.nan)
        return pinvh(hessian) / self._units

    @cached_property
    def _units(self) -> _Array:
        """Units of the Hessian's entries, (d k, d k), in which rounding is judged."""
        penalties = self._penalties(self.weights[:, None])[0] + self.damping
        sizes = np.sqrt(self._squares[:, None] + penalties).ravel()
        sizes = np.where(sizes > 0, sizes, 1)
        return np.outer(sizes, sizes)

    def _descend(
        self, starts: _Array, included: _Array
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Parameters after Newton steps that lower the objective, and convergence."""
        parameters, converged = starts.copy(), np.zeros(len(starts), dtype=bool)
        # Far from the optimum, numbers may overflow: steps are shortened then.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            for position, row_mask in enumerate(included):
                current, before = parameters[position], np.inf  # `current` is a view
                for _ in range(_MOST_STEPS):
                    weights = (row_mask * self.weights)[:, None]
                    gradient = self._gradients(current[None], weights).ravel()
                    step = self._inverse_hessian(current, row_mask) @ gradient
                    decrease = float(step @ gradient)
                    objective = self._objective(current, row_mask)
                    step = step.reshape(current.shape)
                    size = self._step_size(step, decrease, current, objective, row_mask)
                    if not size:
                        break
                    current -= size * step
                    # Near the optimum, the decrease may be rounding.
                    stays = before / 2 < decrease <= _ROUNDING * objective
                    converged[position] = stays or decrease <= self._least_decrease
                    if converged[position]:
                        break
                    before = decrease
        return parameters, converged

    def _step_size(
        self,
        step: _Array,
        decrease: float,
        parameters: _Array,
        objective: float,
        included: _Array,
    ) -> float:
        """Share of a step that meets Armijo's condition, or zero."""
        size, highest = 1.0, objective + _ROUNDING * abs(objective)
        while (
            not self._objective(parameters - size * step, included)
            <= highest - _ARMIJO * size * decrease
        ):
            size /= 2
            if not size > _LEAST_STEP_SIZE:
                return 0.0
        return size


def _flatten_groups(groups: _Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions in all lists of rows, and the list that each is in."""
    if isinstance(groups, np.ndarray):
        return groups.ravel(), np.repeat(np.arange(len(groups)), groups.shape[1])
    lengths = list(map(len, groups))
    return np.concatenate(groups), np.repeat(np.arange(len(groups)), lengths)
