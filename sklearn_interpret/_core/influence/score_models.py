"""Models of linear scores, fitted by a convex objective, without some of their rows.

The objective is ``sum_i w_i (loss(y_i, z_i @ B) + sum(row_penalty * B**2) / 2)
+ sum(penalty * B**2) / 2``, where B has the shape (d, k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh

from sklearn_interpret._core.statistics.score_losses import Logistic, Softmax
from sklearn_interpret._core.statistics.weighted import row_blocks

# Relative rounding of an objective.
_ROUNDING = 1e-12
# Newton's method ends when the predicted decrease is below this part of the objective's
# mean over rows.
_CLOSE = 1e-16
# Armijo's condition: least part of the predicted decrease that a step achieves.
_KEPT = 1e-4
# Most steps, and shortest part of one.
_MOST_STEPS, _LEAST_SHARE = 100, 1e-10
# The bound of next steps overstates them at least by this factor, since third
# derivatives of different rows have different signs.
_OVERSTATED = 2.5
# Mean loss below which classes count as separable.
_NO_LOSS = 1e-6
# Columns are centred where the square of the mean is this part of that of the squares.
_FAR = 0.9999
# A row whose leverage is this near to one determines a parameter alone.
_ALONE = 1e-9


@dataclass(frozen=True, eq=False)
class ScoreModel:
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
        Of squares of the parameters: in all, and for each row.
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

    design: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    penalty: np.ndarray
    row_penalty: np.ndarray
    loss: object
    parameters: np.ndarray
    damping: float = 0.0
    fixed: object = None
    offsets: np.ndarray | float = 0.0

    def scores_at(
        self, parameters: NDArray[np.float64], rows: None = None
    ) -> NDArray[np.float64]:
        """Scores (n, k) at parameters (d, k), of all rows or some."""
        if rows is None:
            return self.design @ parameters + self.offsets
        return self.design[rows] @ parameters + self.offsets_of(rows)

    def offsets_of(self, rows: NDArray[np.intp]) -> float:
        """Offsets of some rows."""
        return self.offsets[rows] if np.ndim(self.offsets) else self.offsets

    def polished(self) -> ScoreModel:
        """The same with the parameters where the objective is smallest, to rounding."""
        undamped = replace(self, damping=0.0)
        centred, kept = undamped._centred, np.ones((1, len(self.design)))
        best, _ = centred._descended(centred.parameters[None], kept)
        return replace(self, parameters=undamped._moved(best[0], -1))

    def distance(self, parameters: NDArray[np.float64]) -> float:
        """Distance of parameters (d, k) from the optimum.

        The square of the step to it in units of the Hessian, by what those of the
        single rows sum to. The optimum of as many other rows makes about two.
        """
        model, weights = self._centred, self.weights
        parameters = self._moved(parameters, 1)[None]
        total = model._gradients(parameters, weights[:, None]).ravel()
        penalty, of_penalty = model._row_penalty_step
        own = np.einsum("nk,nkl,nl->", model._slopes, model._leverages, model._slopes)
        slopes = weights[:, None] * model._slopes
        own += 2 * (model.design.T @ slopes * of_penalty).sum()
        own += weights @ weights * (penalty * of_penalty).sum()
        own += _ROUNDING * self._size
        return total @ model._inverse @ total / own if own > 0 else 0.0

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """Means of the columns, zero without an intercept as last parameter."""
        penalties, fixed = self.penalty + self.row_penalty, self.fixed
        bound = penalties[-1].any() or (fixed is not None and fixed[-1].any())
        if self.damping or bound or not (self.design[:, -1] == 1).all():
            return np.zeros(len(penalties))
        shares = self.weights / self.weights.sum()
        means = shares @ self.design
        far = means**2 > _FAR * self._squares / self.weights.sum()
        far[-1] = False
        rows = self.design[:, far][self.weights > 0]
        # Constant columns become zero, without rounding.
        means[far] = np.clip(means[far], rows.min(axis=0), rows.max(axis=0))
        return np.where(far, means, 0)

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        """Weighted sums of squares of the columns."""
        return np.einsum("n,nd,nd->d", self.weights, self.design, self.design)

    @cached_property
    def _centred(self) -> ScoreModel:
        """The model of centred columns, since large means would take all digits."""
        if not self._means.any():
            return self
        design, parameters = self.design - self._means, self._moved(self.parameters, 1)
        return replace(self, design=design, parameters=parameters)

    def _moved(self, parameters: NDArray[np.float64], sign: int) -> NDArray[np.float64]:
        """Parameters (..., d, k) with the intercept moved to the means (1), or back."""
        moved = parameters.copy()
        moved[..., -1, :] += sign * np.einsum("d,...dk->...k", self._means, moved)
        return moved

    @property
    def _size(self) -> float:
        """The objective where all parameters are zero."""
        return self.weights @ self.loss.values(self.targets, 0 * self.targets)

    @cached_property
    def _close(self) -> float:
        """Predicted decrease of the objective at which Newton's method ends."""
        objective = self._objective(self.parameters, np.ones(len(self.design)))
        return _CLOSE * (objective + _ROUNDING * self._size) / len(self.design)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        """Inverse of the Hessian, (d k, d k); zero along what no row determines."""
        return self._inverse_hessian(self.parameters, np.ones(len(self.design)))

    def without(
        self, deleted: list[NDArray[np.intp] | list[int]], precision: float = 0.0
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Parameters without each of some lists of rows.

        Parameters
        ----------
        deleted : list of ndarray of int, or ndarray of shape (m, n_together)
            Positions of the rows that are left out together.
        precision : float, default=0.0
            For single rows: an error of this part of the change is small enough.

        Returns
        -------
        parameters : ndarray of shape (m, d, k)
        converged : ndarray of shape (m,), bool
            Whether they are at the optimum of the rows that are left.
        """
        model = self._centred
        found, converged = model._without(deleted, precision)
        penalties = self.penalty + self.row_penalty
        if isinstance(self.loss, Logistic | Softmax) and not penalties.all():
            converged &= self._keep_classes(deleted)
            if not penalties.any():
                pairs = zip(found, deleted, strict=True)
                converged &= [not model._is_perfect(*pair) for pair in pairs]
        return self._moved(found, -1), converged

    def _keep_classes(
        self, deleted: list[NDArray[np.intp] | list[int]]
    ) -> NDArray[np.bool_]:
        """Whether rows of all classes are left: else an intercept is infinite."""
        counts = self.targets * (self.weights > 0)[:, None]
        if isinstance(self.loss, Logistic):
            counts = np.hstack([counts, (self.weights > 0)[:, None] - counts])
        rows, parts = _flat(deleted)
        taken = [np.bincount(parts, of, len(deleted)) for of in counts[rows].T]
        return (np.transpose(taken) < counts.sum(axis=0)).all(axis=1)

    def _is_perfect(
        self, parameters: NDArray[np.float64], deleted: NDArray[np.intp]
    ) -> bool:
        """Whether the loss is zero: classes are separable, and there is no optimum."""
        losses = self.loss.values(self.targets, self.scores_at(parameters))
        losses[deleted] = 0
        return self.weights @ losses < _NO_LOSS * self.weights.sum()

    def _without(
        self, deleted: list[NDArray[np.intp] | list[int]], precision: float
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """As `without`, of a model whose columns are centred where they can be."""
        starts = np.repeat(self.parameters[None], len(deleted), axis=0)
        left = np.ones(len(deleted), dtype=bool)
        (rows, parts), (d, k) = _flat(deleted), self.parameters.shape
        if np.array_equal(parts, np.arange(len(deleted))):  # one row each
            for part in row_blocks(len(rows), d * k * k):
                starts[part], left[part] = self._stepped(rows[part], precision)
        if not left.any():
            return starts, ~left
        kept = np.ones((left.sum(), len(self.design)))
        for one, place in zip(kept, np.flatnonzero(left), strict=True):
            one[deleted[place]] = 0
        converged = ~left
        starts[left], converged[left] = self._descended(starts[left], kept)
        # A fit from zero.
        left, kept = np.flatnonzero(~converged), kept[~converged[left]]
        found, converged[left] = self._descended(0 * starts[left], kept)
        starts[left[converged[left]]] = found[converged[left]]
        return starts, converged

    def _stepped(
        self, rows: NDArray[np.intp], precision: float
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Parameters without each row, by steps with Hessians that differ in a row.

        And where these steps do not halve each time: there the parameters are those of
        all rows.
        """
        # Where curvatures jump, a small step does not bound the next one.
        precision = precision if self.loss.reach else 0.0
        # Far from the optimum, numbers may overflow: such steps fail.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            changes, falls, alone, step = self._first_steps(rows)
            failed = alone | ~(falls >= 0)
            far = ~failed & (falls > self._close)
            if precision:
                far &= self._next_steps(falls) > _OVERSTATED * precision
            left, before = np.flatnonzero(far), falls[far]
            start = np.broadcast_to(self.parameters, changes[left].shape)
            summed = -self._gradients_of(rows[left], start)
            while len(left):
                parameters = self.parameters + changes[left]
                gradients = self._gradients_at(parameters)
                gradients -= self._gradients_of(rows[left], parameters)
                moves = step(gradients, left)
                changes[left] -= moves
                summed += gradients
                falls = (moves * gradients).sum(axis=(1, 2))
                halves = (falls >= 0) & (falls <= before / 4)
                failed[left[~halves]] = True
                sizes = -(changes[left] * summed).sum(axis=(1, 2))
                far = halves & (falls > np.maximum(self._close, precision**2 * sizes))
                left, before, summed = left[far], falls[far], summed[far]
        changes[failed] = 0
        changes += self.parameters
        return changes, failed

    def _first_steps(self, rows: NDArray[np.intp]) -> Any:
        """Newton steps without a row each, and twice their decreases of the objective.

        And which rows stand alone, and a function from gradients to further steps. By
        Woodbury's formula, where A takes the parameters to the scores of the row:
        (H - A C A')^-1 = H^-1 + H^-1 A (1 - C L)^-1 C A' H^-1, with L = A' H^-1 A. The
        step is H^-1 A v + w H^-1 r, with v = (1 - C L)^-1 (s + w C A' H^-1 r), for the
        gradient A s + w r of the row, where r is that of its penalty.
        """
        shape, inverse = self.parameters.shape, self._solved_design(rows)
        leverages, weights = self._leverages[rows], self.weights[rows, None]
        slopes, (penalty, of_penalty) = self._slopes[rows], self._row_penalty_step
        along = np.einsum("rd,dk->rk", self.design[rows], of_penalty)
        curvatures = self.loss.curvatures(self.targets[rows], self._scores[rows])
        curvatures *= weights[:, :, None]
        without = np.eye(shape[1]) - curvatures @ leverages
        alone = np.abs(np.linalg.det(without)) < _ALONE
        without[alone] = np.eye(shape[1])
        right = slopes + weights * np.einsum("rlk,rk->rl", curvatures, along)
        solved = np.linalg.solve(without, np.dstack([curvatures, right]))
        inner, of_scores = solved[..., :-1], solved[..., -1]
        steps = np.einsum("rpk,rk->rp", inverse, of_scores).reshape(-1, *shape)
        if of_penalty.any():
            steps += weights[:, :, None] * of_penalty
        moves = np.einsum("rlk,rk->rl", leverages, of_scores) + weights * along
        falls = (slopes * moves + weights * along * of_scores).sum(axis=1)
        falls += weights[:, 0] ** 2 * (penalty * of_penalty).sum()

        def step(
            gradients: NDArray[np.float64], some: NDArray[np.intp]
        ) -> NDArray[np.float64]:
            flat = gradients.reshape(len(some), -1)
            moves = flat @ self._inverse
            of_scores = np.einsum("rpk,rp->rk", inverse[some], flat)
            of_scores = np.einsum("rlk,rk->rl", inner[some], of_scores)
            moves += np.einsum("rpk,rk->rp", inverse[some], of_scores)
            return moves.reshape(gradients.shape)

        return steps, falls, alone, step

    def _solved_design(self, rows: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        """H^-1 A of rows, (r, d k, k), where A takes the parameters to the scores."""
        columns = self._inverse.reshape(-1, *self.parameters.shape)
        return np.tensordot(self.design[rows], columns, axes=(1, 1))

    @cached_property
    def _leverages(self) -> NDArray[np.float64]:
        """A' H^-1 A of each row, (n, k, k)."""
        (n, d), k = self.design.shape, self.targets.shape[1]
        leverages = np.empty((n, k, k))
        for rows in row_blocks(n, d * k * k):
            inverse = self._solved_design(rows).reshape(-1, d, k, k)
            leverages[rows] = np.einsum("rd,rdlk->rlk", self.design[rows], inverse)
        return leverages

    @cached_property
    def _scores(self) -> NDArray[np.float64]:
        return self.scores_at(self.parameters)

    @cached_property
    def _slopes(self) -> NDArray[np.float64]:
        """Slopes (n, k) of the weighted losses along the scores."""
        return self.weights[:, None] * self.loss.slopes(self.targets, self._scores)

    @cached_property
    def _row_penalty_step(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gradient (d, k) of a row's penalty, and H^-1 times it."""
        gradient = self.row_penalty * self.parameters
        return gradient, (self._inverse @ gradient.ravel()).reshape(gradient.shape)

    def _next_steps(self, falls: NDArray[np.float64]) -> NDArray[np.float64]:
        """Upper bounds of the steps after the first, in parts of these.

        With H the Hessian and m how far a step d takes the scores, half the sum of
        third derivatives times m^2 is left of the gradient. Where they are at most b
        times the curvatures, that is b / 2 d'Hd max_j |z_j|, in units of H^-1.
        """
        if self.row_penalty.any() or np.isinf(self.loss.self_concordance):
            return np.full(len(falls), np.inf)
        return self.loss.self_concordance / 2 * np.sqrt(falls * self._largest_leverage)

    @cached_property
    def _largest_leverage(self) -> float:
        """The largest z'H^-1 z of a row, of any score."""
        return self._leverages.diagonal(axis1=1, axis2=2).max()

    def _gradients_of(
        self, rows: NDArray[np.intp], parameters: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Gradients (m, d, k) of the objective of single rows, at parameters each."""
        design, weights = self.design[rows], self.weights[rows, None]
        scores = np.einsum("md,mdk->mk", design, parameters) + self.offsets_of(rows)
        slopes = weights * self.loss.slopes(self.targets[rows], scores)
        penalties = weights[:, :, None] * self.row_penalty * parameters
        return design[:, :, None] * slopes[:, None] + penalties

    def _gradients_at(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradients (m, d, k) of all rows, in blocks of as many parameters as fit."""
        (n_rows, k), weights = self.targets.shape, self.weights[:, None]
        blocks = row_blocks(len(parameters), n_rows * (k + 1))
        return np.vstack([self._gradients(parameters[one], weights) for one in blocks])

    def _gradients(
        self, parameters: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Gradients (m, d, k), at parameters and weights (n, m) each."""
        m, d, k = parameters.shape
        # One product of matrices for all.
        side_by_side = parameters.transpose(1, 0, 2).reshape(d, m * k)
        scores = (self.design @ side_by_side).reshape(-1, m, k)
        if np.ndim(self.offsets):
            scores += self.offsets[:, None]
        slopes = self.loss.slopes(self.targets[:, None], scores)
        slopes *= weights[:, :, None]
        gradients = (self.design.T @ slopes.reshape(-1, m * k)).reshape(d, m, k)
        gradients = gradients.transpose(1, 0, 2)
        gradients += self._penalties(weights) * parameters
        return gradients + self.damping * (parameters - self.parameters)

    def _objective(
        self, parameters: NDArray[np.float64], kept: NDArray[np.float64]
    ) -> float:
        losses = self.loss.values(self.targets, self.scores_at(parameters))
        weights = kept * self.weights
        penalty = (self._penalties(weights[:, None])[0] * parameters**2).sum() / 2
        away = ((parameters - self.parameters) ** 2).sum() / 2
        return weights @ losses + penalty + self.damping * away

    def _penalties(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Penalties (m, d, k) of the objective, at weights (n, m) each."""
        return self.penalty + weights.sum(axis=0)[:, None, None] * self.row_penalty

    def _inverse_hessian(
        self, parameters: NDArray[np.float64], kept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Inverse (d k, d k) of the Hessian of the rows kept."""
        d, k = parameters.shape
        curvatures = self.loss.curvatures(self.targets, self.scores_at(parameters))
        weights = kept * self.weights
        curvatures *= weights[:, None, None]
        penalties = self._penalties(weights[:, None])
        hessian = np.empty((d, k, d, k))
        for first in range(k):
            for second in range(first, k):
                part = (self.design.T * curvatures[:, first, second]) @ self.design
                hessian[:, first, :, second] = hessian[:, second, :, first] = part
        hessian = hessian.reshape(d * k, d * k)
        hessian[np.diag_indices(d * k)] += penalties.ravel() + self.damping
        if self.fixed is not None:
            hessian[self.fixed.ravel()] = hessian[:, self.fixed.ravel()] = 0
        hessian /= self._units
        if not np.isfinite(hessian).all():
            return np.full(hessian.shape, np.nan)
        return pinvh(hessian) / self._units

    @cached_property
    def _units(self) -> NDArray[np.float64]:
        """Units of the Hessian's entries: what is rounding depends on the columns'."""
        penalties = self._penalties(self.weights[:, None])[0] + self.damping
        sizes = np.sqrt(self._squares[:, None] + penalties).ravel()
        sizes = np.where(sizes > 0, sizes, 1)
        return np.outer(sizes, sizes)

    def _descended(
        self, starts: NDArray[np.float64], kept: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Parameters after Newton steps that lead down; and whether they converged."""
        found, converged = starts.copy(), np.zeros(len(starts), dtype=bool)
        # Far from the optimum, numbers may overflow: steps are shortened then.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            for place, rows in enumerate(kept):
                one, before = found[place], np.inf
                for _ in range(_MOST_STEPS):
                    weights = (rows * self.weights)[:, None]
                    gradient = self._gradients(one[None], weights).ravel()
                    move = self._inverse_hessian(one, rows) @ gradient
                    fall, objective = move @ gradient, self._objective(one, rows)
                    move = move.reshape(one.shape)
                    share = self._share_of(move, fall, one, objective, rows)
                    if not share:
                        break
                    one -= share * move
                    # Near the optimum, the decrease may be rounding.
                    stays = before / 2 < fall <= _ROUNDING * objective
                    converged[place] = stays or fall <= self._close
                    if converged[place]:
                        break
                    before = fall
        return found, converged

    def _share_of(
        self,
        move: NDArray[np.float64],
        fall: float,
        parameters: NDArray[np.float64],
        objective: float,
        kept: NDArray[np.float64],
    ) -> float:
        """Share of a step by which the objective falls by a part of that; or zero."""
        share, most = 1.0, objective + _ROUNDING * abs(objective)
        while (
            not self._objective(parameters - share * move, kept)
            <= most - _KEPT * share * fall
        ):
            share /= 2
            if not share > _LEAST_SHARE:
                return 0.0
        return share


def _flat(
    deleted: list[NDArray[np.intp] | list[int]],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions in all lists of rows, and the list that each is in."""
    if isinstance(deleted, np.ndarray):
        return deleted.ravel(), np.repeat(np.arange(len(deleted)), deleted.shape[1])
    lengths = list(map(len, deleted))
    return np.concatenate(deleted), np.repeat(np.arange(len(deleted)), lengths)
