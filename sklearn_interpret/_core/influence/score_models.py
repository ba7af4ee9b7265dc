"""Models of linear scores, fitted by a convex objective, without some of their rows.

The objective is ``sum_i w_i (loss(y_i, z_i @ B) + sum(row_penalty * B**2) / 2)
+ sum(penalty * B**2) / 2``, where B has the shape (d, k).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import pinvh

# Steps are repeated until they are this small, relative to the parameters.
_TOLERANCE = 1e-10
# Part of an objective that its rounding may be.
_ROUNDING = 1e-12
# Steps with the Hessian of all rows but for the row left out, and then with its own.
_SHARED_STEPS, _OWN_STEPS = 50, 50
# Numbers that a block of deletions may take.
_BLOCK = 2**19
# A leverage this near to one: the row alone determines something.
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
    """

    design: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    penalty: np.ndarray
    row_penalty: np.ndarray
    loss: object
    parameters: np.ndarray
    damping: float = 0.0

    def polished(self):
        """The same with the parameters where the objective is smallest, to rounding."""
        kept = np.ones((1, len(self.design)))
        undamped = replace(self, damping=0.0)
        best = undamped._descended(self.parameters[None], kept, _OWN_STEPS)
        return replace(self, parameters=best[0])

    def distance(self, parameters):
        """How far parameters (d, k) are from the optimum: 0 is there.

        The square of the step to it in units of the Hessian, by what those of the
        single rows sum to. The optimum of as many other rows makes about two.
        """
        total = self._gradients(parameters[None], self.weights[:, None]).ravel()
        rows = np.arange(len(self.design))
        gradients = self._gradients_of(
            rows, np.broadcast_to(self.parameters, (len(rows), *parameters.shape))
        ).reshape(len(rows), -1)
        own = ((gradients @ self.inverse_hessian) * gradients).sum()
        size = self.weights @ self.loss.values(self.targets, 0 * self.targets)
        own += _ROUNDING * size
        return total @ self.inverse_hessian @ total / own if own > 0 else 0.0

    @cached_property
    def inverse_hessian(self):
        """Inverse of the Hessian, (d k, d k); zero along what no row determines."""
        return self._inverse_hessian(self.parameters, np.ones(len(self.design)))

    def without_rows(self, rows, n_steps=None, precision=0.0):
        """Parameters without each of some rows.

        Parameters
        ----------
        rows : ndarray of shape (m,), int
            Positions of the rows.
        n_steps : int, default=None
            Number of Newton steps from the parameters of all rows; None means as many
            as it takes.
        precision : float, default=0.0
            A step that is smaller than this part of the change so far is the last.

        Returns
        -------
        ndarray of shape (m, d, k)
        """
        (n_rows, d), k = self.design.shape, self.targets.shape[1]
        together = max(1, _BLOCK // (n_rows * (k + 1) + d * k * k))
        without = np.empty((len(rows), d, k))
        for start in range(0, len(rows), together):
            part = slice(start, start + together)
            without[part] = self._without(rows[part], n_steps, precision)
        return without

    def without_groups(self, kept, n_steps=None):
        """Parameters with some of the rows alone.

        Parameters
        ----------
        kept : ndarray of shape (m, n)
            Which rows are kept: 1, or 0.
        n_steps : int, default=None
            As of `without_rows`.

        Returns
        -------
        ndarray of shape (m, d, k)
        """
        starts = np.repeat(self.parameters[None], len(kept), axis=0)
        n_steps = _OWN_STEPS if n_steps is None else n_steps
        return self._descended(starts, kept, n_steps)

    def _without(self, rows, n_steps, precision):
        """Parameters without each row, by steps with Hessians that differ in a row."""
        step, alone = self._steps_without(rows)
        parameters = np.repeat(self.parameters[None], len(rows), axis=0)
        left = np.flatnonzero(~alone)
        # At the optimum of all rows, what the others lack is what the row gave.
        gradients = -self._gradients_of(rows[left], parameters[left])
        for number in range(_SHARED_STEPS if n_steps is None else n_steps):
            if number:
                gradients = self._gradients(parameters[left], self.weights[:, None])
                gradients -= self._gradients_of(rows[left], parameters[left])
            moves = step(gradients, left)
            parameters[left] -= moves
            changes = parameters[left] - self.parameters
            left = left[self._is_far(moves, precision, changes)]
            if not len(left):
                break
        left = np.union1d(left if n_steps is None else [], np.flatnonzero(alone))
        left = left.astype(np.intp)
        kept = np.ones((len(left), len(self.design)))
        kept[np.arange(len(left)), rows[left]] = 0
        n_steps = _OWN_STEPS if n_steps is None else n_steps
        parameters[left] = self._descended(parameters[left], kept, n_steps)
        return parameters

    def _steps_without(self, rows):
        """Newton steps without a row each, from gradients; and which rows stand alone.

        By Woodbury's formula, where A takes the parameters to the scores of the row:
        (H - A C A')^-1 = H^-1 + H^-1 A (1 - C L)^-1 C A' H^-1, with L = A' H^-1 A.
        """
        design, (d, k) = self.design[rows], self.parameters.shape
        curvatures = self.loss.curvatures(self.targets[rows], design @ self.parameters)
        curvatures = self.weights[rows, None, None] * curvatures
        columns = self.inverse_hessian.reshape(d * k, d, k)
        inverse = np.einsum("pdk,rd->rpk", columns, design)  # H^-1 A
        leverages = np.einsum("rd,rdlk->rlk", design, inverse.reshape(-1, d, k, k))
        without = np.eye(k) - curvatures @ leverages
        alone = np.abs(np.linalg.det(without)) < _ALONE
        without[alone] = np.eye(k)
        inner = np.linalg.solve(without, curvatures)

        def step(gradients, some):
            flat = gradients.reshape(len(some), self.parameters.size)
            moves = flat @ self.inverse_hessian
            of_scores = np.einsum("rpk,rp->rk", inverse[some], flat)
            of_scores = np.einsum("rlk,rk->rl", inner[some], of_scores)
            moves += np.einsum("rpk,rk->rp", inverse[some], of_scores)
            return moves.reshape(gradients.shape)

        return step, alone

    def _is_far(self, moves, precision=0.0, changes=None):
        """Which moves, (m, d, k), are not small beside the parameters, or changes."""
        least = _TOLERANCE * (1 + np.abs(self.parameters).max())
        if precision:
            sizes = np.abs(changes).max(axis=(1, 2), initial=0)
            least = np.maximum(least, precision * sizes)
        return np.abs(moves).max(axis=(1, 2), initial=0) > least

    def _gradients_of(self, rows, parameters):
        """Gradients (m, d, k) of the objective of single rows, at parameters each."""
        design, weights = self.design[rows], self.weights[rows, None]
        scores = np.einsum("md,mdk->mk", design, parameters)
        slopes = weights * self.loss.slopes(self.targets[rows], scores)
        penalties = weights[:, :, None] * self.row_penalty * parameters
        return design[:, :, None] * slopes[:, None] + penalties

    def _gradients(self, parameters, weights):
        """Gradients (m, d, k), at parameters and weights (n, m) each."""
        m, d, k = parameters.shape
        # One product of matrices for all.
        side_by_side = parameters.transpose(1, 0, 2).reshape(d, m * k)
        scores = (self.design @ side_by_side).reshape(-1, m, k)
        slopes = self.loss.slopes(self.targets[:, None], scores)
        slopes *= weights[:, :, None]
        gradients = (self.design.T @ slopes.reshape(-1, m * k)).reshape(d, m, k)
        gradients = gradients.transpose(1, 0, 2)
        gradients += self._penalties(weights) * parameters
        return gradients + self.damping * (parameters - self.parameters)

    def _objective(self, parameters, kept):
        losses = self.loss.values(self.targets, self.design @ parameters)
        weights = kept * self.weights
        penalty = (self._penalties(weights[:, None])[0] * parameters**2).sum() / 2
        away = ((parameters - self.parameters) ** 2).sum() / 2
        return weights @ losses + penalty + self.damping * away

    def _penalties(self, weights):
        """Penalties (m, d, k) of the objective, at weights (n, m) each."""
        return self.penalty + weights.sum(axis=0)[:, None, None] * self.row_penalty

    def _inverse_hessian(self, parameters, kept):
        """Inverse (d k, d k) of the Hessian of the rows kept."""
        d, k = parameters.shape
        curvatures = self.loss.curvatures(self.targets, self.design @ parameters)
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
        return pinvh(hessian / self._units) / self._units

    @cached_property
    def _units(self):
        """Units of the Hessian's entries: what is rounding depends on the columns'."""
        sizes = np.sqrt(self.weights @ self.design**2)
        sizes = np.repeat(np.where(sizes > 0, sizes, 1), self.targets.shape[1])
        return np.outer(sizes, sizes)

    def _descended(self, parameters, kept, n_steps):
        """Parameters after so many Newton steps each, as long as these lead down."""
        parameters = parameters.copy()
        for one, rows in zip(parameters, kept, strict=True):
            for _ in range(n_steps):
                gradient = self._gradients(one[None], (rows * self.weights)[:, None])
                move = self._inverse_hessian(one, rows) @ gradient.ravel()
                move = move.reshape(one.shape)
                # Near the optimum, rounding alone decides which of two is larger.
                share, before = 1.0, self._objective(one, rows) * (1 + _ROUNDING)
                # Far from it, steps may lead beyond all numbers.
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    while (
                        not self._objective(one - share * move, rows) <= before
                        and share > _TOLERANCE
                    ):
                        share /= 2
                one -= share * move
                if not self._is_far(move[None])[0]:
                    break
        return parameters
