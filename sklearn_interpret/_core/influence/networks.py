"""Networks without some of their rows: steps with the Gauss-Newton matrix.

The steps are influence functions (Koh & Liang 2017), with a matrix in place of the
Hessian that is never indefinite. Small smooth networks take several steps, all other
networks one.
The objective is ``sum_i w_i loss(y_i, scores(x_i)) + penalty @ parameters**2 / 2``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

_Objective = Callable[[_Array, _Array], tuple[float, _Array]]

# Largest number of parameters whose matrix is formed and factorised: it then takes
# 200 MB. Above, conjugate gradients need no matrix.
_MOST_FACTORISED = 5000
# Least damping, relative to the largest entry, which keeps directions without
# information in place.
_LEAST_DAMPING = 1e-5
# An error is raised where this damping takes more than this share of a gradient: the
# matrix then says little of the change.
_MOST_DAMPED = 0.5
# Curvatures below this share of a row's largest are zero.
_NO_CURVATURE = 1e-12
# Conjugate gradients: relative size of the residual at the end, and most steps.
_TOLERANCE = 1e-6
_MOST_CONJUGATE_STEPS = 1000
# L-BFGS runs until rounding ends it.
_TO_THE_END = {"maxiter": 2000, "maxfun": 10_000, "maxcor": 30, "ftol": 0, "gtol": 1e-9}
# Steps without a group of rows, chosen by hand: more lengthen the fit of each group,
# and change little. Most steps, and most lengths of a step, each half of the last:
_MOST_STEPS = 10
_MOST_LENGTHS = 6
# Steps end below this share of the change so far.
_PRECISION = 0.02
# Limits the numbers in a block of slopes, to 32 MB.
_MOST_NUMBERS = 2**22


class LayerFactors(NamedTuple):
    """Factors of the slopes of scores along the weights of a layer.

    The slope of score c along the weight from input i to output j is
    ``inputs[:, i] * score_slopes[:, c, j]``.
    """

    inputs: _Array  # (n, a)
    score_slopes: _Array  # (n, k, b)


class _WithoutCurvature(NamedTuple):
    """Newton steps without the curvature R'R of some rows, by Woodbury's formula.

    (H - R'R)^-1 g = x + H^-1 R' (1 - R H^-1 R')^-1 R x, with x = H^-1 g.
    """

    roots: _Array  # R (r, n_parameters)
    solved: _Array  # (H^-1 R')', of the same shape
    inner: _Array  # 1 - R H^-1 R', (r, r)

    @classmethod
    def of_rows(cls, roots: _Array, solved: _Array) -> _WithoutCurvature:
        """From roots R (m, k, n_parameters) of rows, and (H^-1 R')' of that shape."""
        roots = roots.reshape(-1, roots.shape[2])
        solved = solved.reshape(roots.shape)
        return cls(roots, solved, np.eye(len(roots)) - roots @ solved.T)

    def step(self, x: _Array) -> _Array:
        """The step from x = H^-1 g."""
        return x + self.solved.T @ np.linalg.solve(self.inner, self.roots @ x)


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A network near a minimum of its objective.

    Parameters
    ----------
    factors : list of LayerFactors
        Factors of each layer.
    loss_slopes : ndarray of shape (n, k)
        Slopes of the losses along the scores.
    curvatures : ndarray of shape (n, k, k)
        Second derivatives of the losses.
    weights : ndarray of shape (n,)
        Weights of the rows.
    penalty : ndarray of shape (n_parameters,)
        Penalties of the squared parameters.
    parameters : ndarray of shape (n_parameters,)
        Layer by layer, inputs by outputs.
    damping : float, default=0.0
        Number added to the diagonal of the matrix.
    value_and_gradient : callable, default=None
        Value and gradient of the objective, from parameters and weights of the rows;
        None takes one step.
    is_smooth : bool, default=True
        Whether the objective has no kinks. A minimum is often on a kink, beyond which
        slopes do not hold: then there is one step, too.
    """

    factors: list[LayerFactors]
    loss_slopes: _Array
    curvatures: _Array
    weights: _Array
    penalty: _Array
    parameters: _Array
    damping: float = 0.0
    value_and_gradient: _Objective | None = None
    is_smooth: bool = True

    def changes_without(self, groups: Sequence[NDArray[np.intp]]) -> _Array:
        """Changes of the parameters without groups of rows, (n_groups, n_parameters).

        H is the Gauss-Newton matrix of all rows, g the gradient of the group's rows,
        and R their roots of curvature times slopes of scores.
        """
        changes = np.empty((len(groups), len(self.parameters)))
        first_lengths = np.empty(len(groups))
        sizes, largest_gradient = np.array([len(rows) for rows in groups]), 0.0
        objective = self._objective
        for block in self._split_into_blocks(sizes):
            rows = np.concatenate([groups[group] for group in block])
            gradients, roots = self._gradients_and_roots(rows)
            # H^-1 of the gradient and the roots of each row: (m, 1 + k, P).
            columns = np.concatenate([gradients[:, None], roots], axis=1)
            solved = self._solve(columns.reshape(-1, columns.shape[2]).T).T
            ends = np.cumsum(sizes[block])
            for group, stop in zip(block, ends, strict=True):
                span = slice(stop - sizes[group], stop)
                group_solved = solved.reshape(columns.shape)[span]
                without = _WithoutCurvature.of_rows(roots[span], group_solved[:, 1:])
                changes[group] = without.step(group_solved[:, 0].sum(axis=0))
                first_lengths[group] = np.linalg.norm(changes[group])
                if objective is not None:
                    changes[group] = self._descend(objective, groups[group], without)
                gradient = gradients[span].sum(axis=0)
                largest_gradient = max(
                    largest_gradient, float(np.linalg.norm(gradient))
                )
        diagonal = self._penalty_and_damping + self._curvature_diagonal
        damped = _LEAST_DAMPING * diagonal.max() * first_lengths
        if damped.max() > _MOST_DAMPED * largest_gradient:
            raise self._indefinite_error()
        return changes

    @property
    def _objective(self) -> _Objective | None:
        """The objective by which several steps are taken; None takes a single step."""
        is_small = len(self.parameters) <= _MOST_FACTORISED
        return self.value_and_gradient if is_small and self.is_smooth else None

    def _descend(
        self, objective: _Objective, rows: NDArray[np.intp], without: _WithoutCurvature
    ) -> _Array:
        """The change without rows, after steps that lower the objective."""
        weights = self.weights.copy()
        weights[rows] = 0

        def damped_objective(change: _Array) -> tuple[float, _Array]:
            value, slope = objective(self.parameters + change, weights)
            ridge = float(self.damping / 2 * change @ change)
            return value + ridge, slope + self.damping * change

        change = np.zeros(len(self.parameters))
        value, slope = damped_objective(change)
        for _ in range(_MOST_STEPS):
            step = without.step(self._solve(slope[:, None])[:, 0])
            new_value, new_slope = damped_objective(change - step)
            for _ in range(_MOST_LENGTHS - 1):
                if new_value < value:
                    break
                step = step / 2
                new_value, new_slope = damped_objective(change - step)
            if not new_value < value:
                break
            change, value, slope = change - step, new_value, new_slope
            if np.linalg.norm(step) <= _PRECISION * np.linalg.norm(change):
                break
        return change

    @property
    def distance(self) -> float:
        """How far the parameters are from a minimum, where the distance is 0.

        It is the squared length of the step to the minimum, in units of the matrix,
        over the sum of the squared lengths for single rows. Parameters fitted to other
        rows of the same distribution have a distance of about two.
        """
        total, sum_of_rows = self.penalty * self.parameters, 0.0
        for rows in self._blocks:
            gradients, _ = self._gradients_and_roots(rows)
            total = total + gradients.sum(axis=0)
            sum_of_rows += (gradients * self._solve(gradients.T).T).sum()
        step = self._solve(total[:, None])[:, 0]
        return float(total @ step / sum_of_rows) if sum_of_rows > 0 else 0.0

    @property
    def _blocks(self) -> list[NDArray[np.intp]]:
        """Positions of all rows, in blocks of limited memory."""
        return self._split_into_blocks(np.ones(len(self.loss_slopes)))

    def _split_into_blocks(self, sizes: NDArray) -> list[NDArray[np.intp]]:
        """Positions in blocks of limited memory, from numbers of rows at each."""
        n_together = max(
            1, _MOST_NUMBERS // (self.loss_slopes.shape[1] * len(self.parameters))
        )
        block = ((np.cumsum(sizes) - 1) // n_together).astype(np.intp)
        return np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(block)) + 1)

    def _gradients_and_roots(self, rows: NDArray[np.intp]) -> tuple[_Array, _Array]:
        """Gradients (m, P) of rows, and R (m, k, P), with R'R in the matrix."""
        k = self.loss_slopes.shape[1]
        of_layers = (
            np.einsum("na,nkb->nkab", layer.inputs[rows], layer.score_slopes[rows])
            for layer in self.factors
        )
        score_slopes = np.concatenate(
            [layer.reshape(len(rows), k, -1) for layer in of_layers], axis=2
        )
        slopes = self.weights[rows, None] * self.loss_slopes[rows]
        gradients = np.einsum("nkp,nk->np", score_slopes, slopes)
        roots = np.einsum("nkl,nkp->nlp", self._curvature_roots[rows], score_slopes)
        return gradients, roots

    def _stacked_roots(self, rows: NDArray[np.intp]) -> _Array:
        """R of rows, one below the other: (m k, n_parameters)."""
        return self._gradients_and_roots(rows)[1].reshape(-1, len(self.parameters))

    @cached_property
    def _curvature_roots(self) -> _Array:
        """F (n, k, k), where F F' are the weighted curvatures."""
        weighted = self.weights[:, None, None] * self.curvatures
        eigenvalues, eigenvectors = np.linalg.eigh(weighted)
        # Probabilities that sum to one leave a direction without curvature.
        eigenvalues[eigenvalues < _NO_CURVATURE * eigenvalues[:, -1:]] = 0
        return eigenvectors * np.sqrt(np.maximum(eigenvalues, 0))[:, None]

    @cached_property
    def _penalty_and_damping(self) -> _Array:
        """What the matrix adds to the curvature of the rows, on its diagonal."""
        added = self.penalty + self.damping
        largest = (added + self._curvature_diagonal).max()
        if not largest > 0:
            raise self._indefinite_error()
        return added + _LEAST_DAMPING * largest

    @cached_property
    def _curvature_diagonal(self) -> _Array:
        """Diagonal of the curvature of the rows."""
        diagonal = np.zeros(len(self.penalty))
        for rows in self._blocks:
            diagonal += (self._stacked_roots(rows) ** 2).sum(axis=0)
        return diagonal

    @cached_property
    def _factor(self) -> tuple[_Array, bool]:
        """Cholesky factor of the matrix."""
        matrix = np.diag(self._penalty_and_damping)
        for rows in self._blocks:
            roots = self._stacked_roots(rows)
            matrix += roots.T @ roots
        try:
            return cho_factor(matrix)
        except LinAlgError:
            raise self._indefinite_error() from None

    def _solve(self, columns: _Array) -> _Array:
        """The inverse of the matrix times columns (n_parameters, r)."""
        if len(self.parameters) > _MOST_FACTORISED:
            return self._solve_by_conjugate_gradients(columns)
        return cho_solve(self._factor, columns)

    def _solve_by_conjugate_gradients(self, columns: _Array) -> _Array:
        """Solutions for all columns together, preconditioned by the diagonal."""
        added = self._penalty_and_damping[:, None]
        diagonal = added + self._curvature_diagonal[:, None]
        solved, residuals = np.zeros(columns.shape), columns.copy()
        preconditioned = residuals / diagonal
        direction = preconditioned
        residual_norm = (residuals * preconditioned).sum(axis=0)  # squared
        limits = _TOLERANCE * np.linalg.norm(columns, axis=0)
        for _ in range(_MOST_CONJUGATE_STEPS):
            if (np.linalg.norm(residuals, axis=0) <= limits).all():
                return solved
            product = added * direction
            for rows in self._blocks:
                roots = self._stacked_roots(rows)
                product += roots.T @ (roots @ direction)
            curvature = (direction * product).sum(axis=0)
            step = residual_norm / np.where(curvature > 0, curvature, 1)
            solved = solved + step * direction
            residuals = residuals - step * product
            preconditioned = residuals / diagonal
            last_norm = residual_norm
            residual_norm = (residuals * preconditioned).sum(axis=0)
            ratio = residual_norm / np.where(last_norm > 0, last_norm, 1)
            direction = preconditioned + ratio * direction
        raise self._indefinite_error()

    def _indefinite_error(self) -> ValueError:
        """Error that the matrix is not positive definite."""
        return ValueError(
            f"damping={self.damping!r}: the Gauss-Newton matrix of the network is not "
            "positive definite where rows have slopes; a larger damping makes it so."
        )


def minimise_objective(
    value_and_gradient: _Objective, start: _Array, weights: _Array
) -> _Array:
    """Parameters at a minimum of the objective of weighted rows, found from a start."""
    return minimize(
        value_and_gradient,
        start,
        args=(weights,),
        jac=True,
        method="L-BFGS-B",
        options=_TO_THE_END,
    ).x
