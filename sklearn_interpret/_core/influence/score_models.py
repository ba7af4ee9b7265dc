"""Models of linear scores, fitted by a convex objective, without some of their rows.

`ScoreModel.without` takes one Newton step for each row (Pregibon 1981), and further
steps where one is not exact enough.
The objective is ``sum_i w_i (loss(y_i, z_i @ B) + sum(row_penalty * B**2) / 2)
+ sum(penalty * B**2) / 2``, where B has the shape (d, k).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, pinvh

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
# Least share of the largest leverage in the bound of next steps: scores then move by
# one at most, which less than doubles third derivatives.
_LEAST_BOUND = 0.01
# Fields of a model with a number or more for each row.
_OF_ROWS = ("design", "targets", "weights")
# Share of the precision that gradients may err by which are taken as linear.
_LINEAR_SHARE = 0.25
# Least squared pivot of the Cholesky factor of a matrix with a diagonal of about one
# for which the factor gives the inverse, in a tenth of the time of eigenvalues.
_LEAST_PIVOT = 1e-6
# A row whose leverage is this near to one determines a parameter alone.
_DECISIVE = 1e-9
# Slopes at many parameters are computed for half as many rows together, chosen by hand:
# they then fit the cache.
_SLOPES_TOGETHER = 1024


class _RowPenalty(NamedTuple):
    """Gradient (d, k) of a row's penalty, and the inverse Hessian H^-1 times it."""

    gradient: _Array
    step: _Array


class _FirstSteps(NamedTuple):
    """Newton steps of the parameters as each of some rows (r,) is left out.

    They are H^-1 (A v + w r), see `ScoreModel._first_steps`.
    """

    rows: NDArray[np.intp]  # (r,)
    score_steps: _Array  # (r, k): v
    decreases: _Array  # (r,): twice the predicted decrease of the objective
    is_decisive: NDArray[np.bool_]  # (r,): rows that determine a parameter alone
    inner: _Array  # (r, k, k): (1 - C L)^-1 C

    def at(self, positions: Any) -> _FirstSteps:
        """The first steps of some of the lists."""
        return _FirstSteps(*(numbers[positions] for numbers in self))


class PickledWithoutCaches:
    """Base of dataclasses whose state are their fields: a cache may be the object."""

    def __getstate__(self) -> dict[str, Any]:
        return {of.name: getattr(self, of.name) for of in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Deletions(PickledWithoutCaches):
    """Changes of a model without each of m lists of rows.

    Of first steps only v is stored: scores of few rows need no parameters.

    Parameters
    ----------
    model : ScoreModel
        The model at its optimum.
    first : _FirstSteps
        First steps, where each list is a row.
    stepped : ndarray of shape (m,), bool
        Lists that took other steps, or further ones.
    further : ndarray of shape (q, d, k)
        Changes of their parameters, of centred columns.
    converged : ndarray of shape (m,), bool
        Whether the parameters are at the optimum of the remaining rows.
    """

    model: ScoreModel
    first: _FirstSteps
    stepped: NDArray[np.bool_]
    further: _Array
    converged: NDArray[np.bool_]

    @cached_property
    def changes(self) -> _Array:
        """Changes of the parameters, (m, d, k)."""
        model, changes = self.model._centred, self.further
        if not self.stepped.all():
            changes = model._solve(model._first_gradients(self.first))
            changes[self.stepped] = self.further
        return self.model._from_means(changes)

    def score_changes(self, design: _Array, lists: Any = slice(None)) -> _Array:
        """Changes of the scores of rows (r, d) without some lists, (r, l, k)."""
        (r, d), k = design.shape, self.further.shape[2]
        # With many further steps, or several scores, a table of parameters is as quick.
        if k > 1 or 10 * self.stepped.sum() > len(self.stepped):
            side_by_side = self.changes[lists].transpose(1, 0, 2).reshape(d, -1)
            return (design @ side_by_side).reshape(r, -1, k)
        model, stepped = self.model._centred, self.stepped[lists]
        gradients = model._first_gradients(self.first.at(lists))[:, :, 0]
        design = design - self.model._means
        changes = (design @ model._inverse) @ gradients.T
        further = self.further[(np.cumsum(self.stepped) - 1)[lists][stepped], :, 0]
        changes[:, stepped] = design @ further.T
        return changes[:, :, None]


@dataclass(frozen=True, eq=False)
class ScoreModel(PickledWithoutCaches, Generic[_L]):
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

    def part(self, rows: NDArray[np.bool_]) -> ScoreModel[_L]:
        """The model of some rows."""
        numbers = {name: getattr(self, name)[rows] for name in _OF_ROWS}
        return replace(self, offsets=self.offsets_of(rows), **numbers)

    def at_optimum(self) -> ScoreModel[_L]:
        """The model with the parameters at the optimum, up to rounding."""
        undamped = replace(self, damping=0.0)
        centred = undamped._centred
        best, converged, inverse = centred._descend(centred.parameters, [])
        optimum = replace(self, parameters=undamped._from_means(best))
        if converged and centred is undamped and not self.damping:
            # The Hessian before the last step is that of the optimum, up to rounding.
            vars(optimum).update(_squares=centred._squares, _inverse=inverse)
        return optimum

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
        return _move_intercept(parameters, self._means)

    def _from_means(self, parameters: _Array) -> _Array:
        """The inverse of `_to_means`."""
        return _move_intercept(parameters, -self._means)

    @property
    def _null_objective(self) -> float:
        """The objective where all parameters are zero."""
        losses = self.loss.values(self.targets, 0 * self.targets)
        return float(self.weights @ losses)

    @cached_property
    def _least_decrease(self) -> float:
        """Predicted decrease of the objective at which Newton's method ends."""
        objective = self._objective(self.parameters, self.weights)
        return (
            _CLOSE * (objective + _ROUNDING * self._null_objective) / len(self.design)
        )

    @cached_property
    def _inverse(self) -> _Array:
        """Inverse of the Hessian, (d k, d k); zero along what no row determines."""
        return self._inverse_hessian(self.parameters, self.weights)

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
        deletions = self.deletions(deleted, precision)
        return self.parameters + deletions.changes, deletions.converged

    def deletions(self, deleted: _Groups, precision: float = 0.0) -> Deletions:
        """The model `without` each of some lists of rows, as changes."""
        model, (rows, group) = self._centred, _flatten_groups(deleted)
        stepped, converged = np.ones((2, len(deleted)), dtype=bool)
        is_alone = np.array_equal(group, np.arange(len(deleted)))  # one row each
        # Where curvatures jump, a small step does not bound the next one.
        precision = precision if self.loss.reach else 0.0
        # Far from the optimum, numbers may overflow: such steps fail.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            first = model._first_steps(rows if is_alone else rows[:0])
            if is_alone:
                converged = ~first.is_decisive & (first.decreases >= 0)
                is_far = first.decreases > model._least_decrease
                if precision:
                    bounds = model._next_step_bounds(first.decreases)
                    is_far &= bounds > _OVERSTATED * precision
                stepped = is_far | ~converged
            positions = np.flatnonzero(stepped)
            further = np.zeros((len(positions), *self.parameters.shape))
            active = np.flatnonzero(converged[positions] & is_alone)
            converged &= ~stepped
            for block in row_blocks(len(active), self.parameters.size):
                taken = active[block]
                steps = model._step_further(first.at(positions[taken]), precision)
                further[taken], converged[positions[taken]] = steps
        # Then by descents from there, at last from zero.
        for place, position in enumerate(positions.tolist()):
            if converged[position]:
                continue
            start = model.parameters + further[place]
            end, is_optimum, _ = model._descend(start, deleted[position])
            if not is_optimum:
                other_end, is_optimum, _ = model._descend(0 * start, deleted[position])
                end = other_end if is_optimum else end
            further[place], converged[position] = end - model.parameters, is_optimum
        deletions = Deletions(self, first, stepped, further, converged)
        penalties = self.penalty + self.row_penalty
        if isinstance(self.loss, Logistic | Softmax) and not penalties.all():
            converged &= self._keep_classes(deleted)
            if not penalties.any():
                pairs = zip(self.parameters + deletions.changes, deleted, strict=True)
                converged &= [not self._is_perfect(*pair) for pair in pairs]
        return deletions

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

    def _step_further(
        self, first: _FirstSteps, precision: float
    ) -> tuple[_Array, NDArray[np.bool_]]:
        """Changes (r, d, k) after all steps without each row, and whether they succeed.

        All steps have the Hessian H of all rows but one at their parameters. They fail
        where a step does not halve the one before: the change is then zero.
        """
        rows, changes = first.rows, self._solve(self._first_gradients(first))
        active, last_decreases = np.arange(len(rows)), first.decreases
        succeed = np.ones(len(rows), dtype=bool)
        # Sums of the gradients so far: minus H times the changes.
        start = np.broadcast_to(self.parameters, changes.shape)
        gradient_sums = -self._gradients_of(rows, start)
        # Each step is at most half the one before: changes are at most twice the first.
        nonlinear = self._nonlinear_rows(4 * first.decreases.max(initial=0), precision)
        nonlinear_part, linear = self.part(nonlinear), self.design[~nonlinear]
        linear_gradient = linear.T @ self._slopes[~nonlinear]
        linear_hessian = (linear.T * self._curvatures[~nonlinear, 0, 0]) @ linear
        while len(active):
            parameters = self.parameters + changes[active]
            gradients = nonlinear_part._gradients_at(parameters) + linear_gradient
            gradients += linear_hessian @ changes[active]
            gradients -= self._gradients_of(rows[active], parameters)
            # The same Hessians, by Woodbury's formula.
            steps, design = self._solve(gradients), self.design[rows[active]]
            slopes = np.einsum("rd,rdl,rkl->rk", design, steps, first.inner[active])
            steps += self._solve(design[:, :, None] * slopes[:, None])
            changes[active] -= steps
            gradient_sums += gradients
            # Decreases are squared lengths of steps, in units of the Hessian.
            decreases = (steps * gradients).sum(axis=(1, 2))
            halves = (decreases >= 0) & (decreases <= last_decreases / 4)
            succeed[active[~halves]] = False
            squared_lengths = -(changes[active] * gradient_sums).sum(axis=(1, 2))
            least = np.maximum(self._least_decrease, precision**2 * squared_lengths)
            is_far = halves & (decreases > least)
            active, last_decreases = active[is_far], decreases[is_far]
            gradient_sums = gradient_sums[is_far]
        changes[~succeed] = 0
        return changes, succeed

    def _nonlinear_rows(self, length: float, precision: float) -> NDArray[np.bool_]:
        """Rows whose gradients are not nearly linear in changes of a squared length.

        With |d| the length of the change in units of the Hessian, b the
        self-concordance, c_j the curvature and |z_j|^2 the leverage of a row, and
        t = |z_j| |d|: what is missing is at most b / 2 c_j t^2 exp(b t) |z_j| long.
        """
        nonlinear, bound = np.ones(len(self.design), bool), self.loss.self_concordance
        is_bounded = np.isfinite(bound) and not self.row_penalty.any()
        if self.targets.shape[1] == 1 and precision and is_bounded:
            leverages = self._leverages[:, 0, 0]
            score_changes = bound * np.sqrt(leverages * length)
            with np.errstate(over="ignore", invalid="ignore"):
                missing = leverages * score_changes * np.exp(score_changes) / 2
                missing *= self._curvatures[:, 0, 0]
            order = np.argsort(missing)
            is_small = np.cumsum(missing[order]) < _LINEAR_SHARE * precision
            nonlinear[order] = ~is_small
        return nonlinear

    def _first_steps(self, rows: NDArray[np.intp]) -> _FirstSteps:
        """Newton steps without a row each, by Woodbury's formula.

        With H the Hessian of all rows, C the curvatures of a row's loss along its
        scores, and L = A' H^-1 A:
        (H - A C A')^-1 = H^-1 + H^-1 A (1 - C L)^-1 C A' H^-1. The step is
        H^-1 A v + w H^-1 r, with v = (1 - C L)^-1 (s + w C A' H^-1 r), for the row's
        gradient A s + w r, where A takes the parameters to the scores, w is the row's
        weight, s are the slopes of its weighted loss, and r is the gradient of its
        penalty.
        """
        k, leverages = self.parameters.shape[1], self._leverages[rows]
        weights, slopes = self.weights[rows, None], self._slopes[rows]
        penalty = self._row_penalty
        penalty_scores = (self.design @ penalty.step)[rows]
        curvatures = self._curvatures[rows]
        remaining = np.eye(k) - curvatures @ leverages
        # With one score LAPACK's call for each row takes ten times as long.
        determinants = remaining[:, 0, 0] if k == 1 else np.linalg.det(remaining)
        is_decisive = np.abs(determinants) < _DECISIVE
        remaining[is_decisive] = np.eye(k)
        right = slopes + weights * np.einsum("rlk,rk->rl", curvatures, penalty_scores)
        sides = np.dstack([curvatures, right])
        solved = sides / remaining if k == 1 else np.linalg.solve(remaining, sides)
        inner, v = solved[..., :-1], solved[..., -1]
        score_steps = np.einsum("rlk,rk->rl", leverages, v) + weights * penalty_scores
        decreases = (slopes * score_steps + weights * penalty_scores * v).sum(axis=1)
        decreases += weights[:, 0] ** 2 * (penalty.gradient * penalty.step).sum()
        return _FirstSteps(rows, v, decreases, is_decisive, inner)

    def _first_gradients(self, first: _FirstSteps) -> _Array:
        """A v + w r of first steps, (r, d, k)."""
        gradients = self.design[first.rows, :, None] * first.score_steps[:, None]
        if self.row_penalty.any():
            weights = self.weights[first.rows, None, None]
            gradients += weights * self._row_penalty.gradient
        return gradients

    def _solve(self, gradients: _Array) -> _Array:
        """H^-1 times gradients (r, d, k)."""
        flat = gradients.reshape(len(gradients), self.parameters.size)
        return (flat @ self._inverse).reshape(gradients.shape)

    @cached_property
    def _leverages(self) -> _Array:
        """A' H^-1 A of each row, (n, k, k)."""
        (n, d), k = self.design.shape, self.targets.shape[1]
        leverages, inverse = np.empty((n, k, k)), self._inverse.reshape(d, k, d, k)
        for rows in row_blocks(n, d):
            design = self.design[rows]
            for first, second in np.ndindex(k, k):
                solved = design @ inverse[:, first, :, second]
                leverages[rows, first, second] = np.einsum("rd,rd->r", solved, design)
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
    def _curvatures(self) -> _Array:
        """Curvatures (n, k, k) of the weighted losses along the scores."""
        curvatures = self.loss.curvatures(self.targets, self._scores)
        return self.weights[:, None, None] * curvatures

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
        most b times the curvatures c_j, its length in units of H^-1 is at most
        b / 2 sqrt(sum_j c_j (z_j'd)^4), and (z_j'd)^2 at most |z_j|^2 d'Hd, with H the
        Hessian, d'Hd the decrease, and |z_j|^2 the leverage.
        """
        if self.row_penalty.any() or np.isinf(self.loss.self_concordance):
            return np.full(len(decreases), np.inf)
        bound = self.loss.self_concordance / 2
        return bound * np.sqrt(decreases * self._bounding_leverage)

    @cached_property
    def _bounding_leverage(self) -> float:
        """Bound of sum_j c_j (z_j'd)^4 / (d'Hd)^2.

        Single terms are bounded where leverages are large, the sum of all others by
        the largest leverage among these.
        """
        curvatures = self._curvatures.diagonal(axis1=1, axis2=2)
        leverages = self._leverages.diagonal(axis1=1, axis2=2).ravel()
        order = np.argsort(-leverages)
        terms, leverages = (curvatures.ravel() * leverages**2)[order], leverages[order]
        bounds = leverages + np.cumsum(terms) - terms
        return float(max(bounds.min(), _LEAST_BOUND * leverages[0]))

    def _gradients_of(self, rows: NDArray[np.intp], parameters: _Array) -> _Array:
        """Gradients (m, d, k) of the objective of single rows, at parameters each."""
        design, weights = self.design[rows], self.weights[rows, None]
        scores = np.einsum("md,mdk->mk", design, parameters) + self.offsets_of(rows)
        slopes = weights * self.loss.slopes(self.targets[rows], scores)
        penalties = weights[:, :, None] * self.row_penalty * parameters
        return design[:, :, None] * slopes[:, None] + penalties

    def _gradients_at(self, parameters: _Array) -> _Array:
        """Gradients (m, d, k) of all rows, computed in blocks of limited memory."""
        weights = self.weights[:, None]
        blocks = row_blocks(len(parameters), _SLOPES_TOGETHER * self.targets.shape[1])
        return np.vstack(
            [self._gradients(parameters[block], weights) for block in blocks]
        )

    def _gradients(self, parameters: _Array, weights: _Array) -> _Array:
        """Gradients (m, d, k), at parameters and weights (n, m) each."""
        m, d, k = parameters.shape
        # One product of matrices for all parameters.
        side_by_side = parameters.transpose(1, 0, 2).reshape(d, m * k)
        sums = np.zeros((d, m * k))
        for rows in row_blocks(len(self.design), 2 * m * k):
            scores = (self.design[rows] @ side_by_side).reshape(-1, m, k)
            if isinstance(self.offsets, np.ndarray):
                scores += self.offsets[rows, None]
            slopes = self.loss.slopes(self.targets[rows, None], scores)
            slopes *= weights[rows, :, None]
            sums += self.design[rows].T @ slopes.reshape(-1, m * k)
        gradients = sums.reshape(d, m, k).transpose(1, 0, 2)
        gradients += self._penalties(weights) * parameters
        return gradients + self.damping * (parameters - self.parameters)

    def _objective(self, parameters: _Array, weights: _Array) -> float:
        """The objective of rows of some weights at parameters (d, k)."""
        losses = self.loss.values(self.targets, self.scores_at(parameters))
        penalty = (self._penalties(weights[:, None])[0] * parameters**2).sum() / 2
        distance = ((parameters - self.parameters) ** 2).sum() / 2
        return float(weights @ losses) + penalty + self.damping * distance

    def _penalties(self, weights: _Array) -> _Array:
        """Penalties (m, d, k) of the objective, at weights (n, m) each."""
        return self.penalty + weights.sum(axis=0)[:, None, None] * self.row_penalty

    def _inverse_hessian(self, parameters: _Array, weights: _Array) -> _Array:
        """Inverse (d k, d k) of the Hessian of rows of some weights."""
        d, k = parameters.shape
        curvatures = self.loss.curvatures(self.targets, self.scores_at(parameters))
        curvatures *= weights[:, None, None]
        penalties = self._penalties(weights[:, None])
        blocks = np.zeros((d, k, d, k))
        for rows in row_blocks(len(self.design), d):
            design = self.design[rows]
            for first, second in combinations_with_replacement(range(k), 2):
                products = (design.T * curvatures[rows, first, second]) @ design
                blocks[:, first, :, second] += products
                if first < second:
                    blocks[:, second, :, first] += products
        hessian = blocks.reshape(d * k, d * k)
        hessian[np.diag_indices(d * k)] += penalties.ravel() + self.damping
        if self.fixed is not None:
            hessian[self.fixed.ravel()] = hessian[:, self.fixed.ravel()] = 0
        hessian /= self._units
        if not np.isfinite(hessian).all():
            return np.full(hessian.shape, np.nan)
        return _inverse(hessian) / self._units

    @cached_property
    def _units(self) -> _Array:
        """Units of the Hessian's entries, (d k, d k), in which rounding is judged."""
        penalties = self._penalties(self.weights[:, None])[0] + self.damping
        sizes = np.sqrt(self._squares[:, None] + penalties).ravel()
        sizes = np.where(sizes > 0, sizes, 1)
        return np.outer(sizes, sizes)

    def _descend(
        self, start: _Array, deleted: NDArray[np.intp] | list[int]
    ) -> tuple[_Array, bool, _Array]:
        """Parameters after Newton steps that lower the objective of the other rows.

        Then whether they converged, and the inverse Hessian of the last step.
        """
        current, weights, before = start.copy(), self.weights.copy(), np.inf
        weights[deleted] = 0
        # Far from the optimum, numbers may overflow: steps are shortened then.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            objective = self._objective(current, weights)
            for _ in range(_MOST_STEPS):
                gradient = self._gradients(current[None], weights[:, None]).ravel()
                inverse = self._inverse_hessian(current, weights)
                step = inverse @ gradient
                decrease = float(step @ gradient)
                step = step.reshape(current.shape)
                # Near the optimum, the decrease may be rounding.
                stays = before / 2 < decrease <= _ROUNDING * objective
                size, objective = self._step_size(
                    step, decrease, current, objective, weights
                )
                if not size:
                    break
                current -= size * step
                if stays or decrease <= self._least_decrease:
                    return current, True, inverse
                before = decrease
        return current, False, inverse

    def _step_size(
        self,
        step: _Array,
        decrease: float,
        parameters: _Array,
        objective: float,
        weights: _Array,
    ) -> tuple[float, float]:
        """Share of a step that meets Armijo's condition, or zero; the objective."""
        size, highest = 1.0, objective + _ROUNDING * abs(objective)
        while size > _LEAST_STEP_SIZE:
            after = self._objective(parameters - size * step, weights)
            if after <= highest - _ARMIJO * size * decrease:
                return size, after
            size /= 2
        return 0.0, objective


def _flatten_groups(groups: _Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions in all lists of rows, and the list that each is in."""
    if isinstance(groups, np.ndarray):
        return groups.ravel(), np.repeat(np.arange(len(groups)), groups.shape[1])
    lengths = list(map(len, groups))
    return np.concatenate(groups), np.repeat(np.arange(len(groups)), lengths)


def _move_intercept(parameters: _Array, means: _Array) -> _Array:
    """Parameters (..., d, k) with the intercept at other means of the columns."""
    if not means.any():
        return parameters
    moved = parameters.copy()
    moved[..., -1, :] += np.einsum("d,...dk->...k", means, moved)
    return moved


def _inverse(matrix: _Array) -> _Array:
    """Inverse of a symmetric matrix; its pseudo-inverse if that is nearly singular."""
    with suppress(LinAlgError):
        factor, lower = cho_factor(matrix)
        if (factor.diagonal() ** 2).min() > _LEAST_PIVOT:
            return cho_solve((factor, lower), np.eye(len(matrix)))
    return pinvh(matrix)
