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
# Steps with the Hessian of all rows but for the row left out, and then with its own.
_SHARED_STEPS, _OWN_STEPS = 50, 50
# Numbers that a block of deletions may take.
_BLOCK = 2**22
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
        What is added to the diagonal of the Hessian.
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
        best = self._descended(self.parameters[None], kept, _OWN_STEPS)
        return replace(self, parameters=best[0])

    @cached_property
    def inverse_hessian(self):
        """Inverse of the Hessian, (d k, d k); zero along what no row determines."""
        return self._inverse_hessian(self.parameters, np.ones(len(self.design)))

    def without_rows(self, rows, n_steps=None):
        """Parameters without each of some rows.

        Parameters
        ----------
        rows : ndarray of shape (m,), int
            Positions of the rows.
        n_steps : int, default=None
            Number of Newton steps from the parameters of all rows; None means as many
            as it takes.

        Returns
        -------
        ndarray of shape (m, d, k)
        """
        (n_rows, d), k = self.design.shape, self.targets.shape[1]
        together = max(1, _BLOCK // (n_rows * (k + 1) + d * k * k))
        without = np.empty((len(rows), d, k))
        for start in range(0, len(rows), together):
            part = slice(start, start + together)
            without[part] = self._without(rows[part], n_steps)
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

    def _without(self, rows, n_steps):
        """Parameters without each row, by steps with Hessians that differ in a row."""
        kept = np.ones((len(rows), len(self.design)))
        kept[np.arange(len(rows)), rows] = 0
        step, alone = self._steps_without(rows)
        parameters = np.repeat(self.parameters[None], len(rows), axis=0)
        left = np.flatnonzero(~alone)
        # At the optimum of all rows, what the others lack is what the row gave.
        gradients = -self._gradients_of(rows)[left]
        for number in range(_SHARED_STEPS if n_steps is None else n_steps):
            if number:
                gradients = self._gradients(parameters[left], kept[left])
            moves = step(gradients, left)
            parameters[left] -= moves
            if n_steps is None:
                left = left[self._is_far(moves)]
            if not len(left):
                break
        left = alone if n_steps is not None else alone | np.isin(range(len(rows)), left)
        n_steps = _OWN_STEPS if n_steps is None else n_steps
        parameters[left] = self._descended(parameters[left], kept[left], n_steps)
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
            flat = gradients.reshape(len(some), -1)
            moves = flat @ self.inverse_hessian
            of_scores = np.einsum("rpk,rp->rk", inverse[some], flat)
            of_scores = np.einsum("rlk,rk->rl", inner[some], of_scores)
            moves += np.einsum("rpk,rk->rp", inverse[some], of_scores)
            return moves.reshape(gradients.shape)

        return step, alone

    def _gradients_of(self, rows):
        """Gradients (m, d, k) of the losses of single rows."""
        design, weights = self.design[rows], self.weights[rows, None]
        slopes = self.loss.slopes(self.targets[rows], design @ self.parameters)
        gradients = design[:, :, None] * (weights * slopes)[:, None]
        return gradients + weights[:, None] * self.row_penalty * self.parameters

    def _is_far(self, moves):
        """Which moves, (m, d, k), are not small beside the parameters."""
        size = 1 + np.abs(self.parameters).max()
        return np.abs(moves).max(axis=(1, 2), initial=0) > _TOLERANCE * size

    def _gradients(self, parameters, kept):
        """Gradients (m, d, k) of the objective of the rows kept, at parameters each."""
        scores = self.design @ parameters  # (m, n, k)
        slopes = self.loss.slopes(self.targets, scores)
        slopes = (kept * self.weights)[:, :, None] * slopes
        penalty = self._penalties(kept) * parameters
        return self.design.T @ slopes + penalty

    def _objective(self, parameters, kept):
        losses = self.loss.values(self.targets, self.design @ parameters)
        penalty = (self._penalties(kept) * parameters**2).sum() / 2
        return kept * self.weights @ losses + penalty

    def _penalties(self, kept):
        """Penalties (..., d, k) of the objective of the rows kept, (..., n)."""
        total = np.asarray(kept @ self.weights)[..., None, None]
        return self.penalty + total * self.row_penalty

    def _inverse_hessian(self, parameters, kept):
        """Inverse (d k, d k) of the Hessian of the rows kept."""
        d, k = parameters.shape
        curvatures = self.loss.curvatures(self.targets, self.design @ parameters)
        curvatures *= (kept * self.weights)[:, None, None]
        hessian = np.empty((d, k, d, k))
        for first in range(k):
            for second in range(first, k):
                part = (self.design.T * curvatures[:, first, second]) @ self.design
                hessian[:, first, :, second] = hessian[:, second, :, first] = part
        hessian = hessian.reshape(d * k, d * k)
        hessian[np.diag_indices(d * k)] += self._penalties(kept).ravel() + self.damping
        return pinvh(hessian)

    def _descended(self, parameters, kept, n_steps):
        """Parameters after so many Newton steps each, as long as these lead down."""
        parameters = parameters.copy()
        for one, rows in zip(parameters, kept, strict=True):
            for _ in range(n_steps):
                gradient = self._gradients(one[None], rows[None])[0]
                move = self._inverse_hessian(one, rows) @ gradient.ravel()
                move = move.reshape(one.shape)
                share, before = 1.0, self._objective(one, rows)
                while (
                    self._objective(one - share * move, rows) > before
                    and share > _TOLERANCE
                ):
                    share /= 2
                one -= share * move
                if not self._is_far(move[None])[0]:
                    break
        return parameters
