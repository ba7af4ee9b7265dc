r"""Gaussian process surrogates of games, with Shapley values in closed form.

A coalition is a vector z of -1 (absent) and 1 (present). A surrogate interpolates the
known values and has the least norm in the Hilbert space of a kernel

.. math:: k(z, z') = \sum_d c_d \sum_{|D| = d} \prod_{j \in D} z_j z'_j

in which the weight c_d falls with the number of players d. It is also the posterior
mean of a Gaussian process whose terms have these variances.

Shapley values depend only on the odd part of a game, half the difference between a
coalition and its complement; interaction values on the even part, half their sum. With
the kernel :math:`\prod_j (1 + \rho z_j z'_j)`, the Shapley value of player i is a
one-dimensional integral,

.. math:: 2 \rho z'_i \int_0^1 \prod_{j \ne i} (1 + \rho (2t - 1) z'_j)\,dt

which depends on :math:`z'_i` and on the number of other players that are present.

How fast the variances fall is a property of the game: with few players, each row takes
the one of two kernels that has the smaller leave-one-out error. A row that may take
its time tries one more, in which :math:`\rho_j` of each player grows with its squared
interactions, which the even part of the game tells.

Where nearly all pairs are known, the error of a value depends on terms of many players,
whose variances the data does not determine. But a Shapley value is a sum over pairs,

.. math:: \phi_j = \frac{2}{p} \sum_{S \ni j} \binom{p - 1}{|S| - 1}^{-1} o(S)

and its error is the same sum over the residuals of unknown pairs, where p is the number
of players and o(S) half the difference between S and its complement. Unknown pairs are
a random sample of the pairs of their size, so the leave-one-out residuals of known
pairs estimate their residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import comb
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cho_solve, cholesky, lapack, solve_triangular

from sklearn_interpret._core.statistics.weighted import student_factor

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# The constants below were chosen by hand, by errors of Shapley values in games of ten
# players with known values: sums of products of few players, and functions of many.

# Candidate kernels, by s, the sum of rho over players: the variance of all terms of d
# players together is about s**d / d!. The first suits trees and products of few
# players, the second smooth functions of many.
_STRENGTHS = (0.15, 1.2)
# Candidates with fewer pairs than players. Main effects are then not identified:
# smaller strengths attribute joint effects of many players to single players.
_STRENGTHS_OF_FEW_PAIRS = (0.15, 3.0)
# At 1 a kernel is not defined.
_LARGEST_RHO = 0.999
# With more players, no affordable number of coalitions separates terms of many players:
# the kernels give the same values, so the first is enough.
_FEW_PLAYERS = 50
# Share of the strength that all players have, whatever their relevance. Less of it
# trusts interactions from few pairs too much.
_SHARED = 0.3
# Weight of the best kernel without relevance in the logarithm of a variance: a kernel
# made from the values that it explains states too small errors.
_WEIGHT_OF_COMMON = 0.35
# Prior variances of all terms of one player, of two, and of the constant: large
# compared with the variances of terms of more players, so that these terms are not
# shrunk. A larger variance of main effects raises errors of joint effects where pairs
# are few; where they are many, main effects are a trend and have no prior.
_VAR_MAIN = 10.0
_VAR_PAIRS = 1.0
_VAR_CONSTANT = 10.0
# Relative increase of the diagonal that makes the Cholesky factorisation stable. It is
# far too small to change a value.
_JITTER = 1e-12
# A later kernel is chosen if its leave-one-out error is below this multiple of the
# least error so far, which keeps the first kernel where both fit alike.
_CLEARLY = 0.99
# Squared residuals are rounding errors below this, relative to the squared values.
_ROUNDING = 1e-18
# Variances are multiplied by this: the kernel was chosen to make their scale small.
# Less leaves no margin for other games; benchmarks/bench_coverage.py counts how many
# intervals hold the values, at all budgets.
_INFLATION = 1.5
# Nodes of the quadrature: the integrand is close to exp(s u) for any number of players,
# so this number is exact to rounding.
_N_NODES = 24

_P = TypeVar("_P", bound="_Process")


class _Kernel:
    """A kernel over coalitions (1 + n_pairs, n_players), of one rho or one per player.

    The coalitions are one of each pair, after the grand coalition.
    """

    def __init__(self, coalitions: NDArray[np.bool_], rho: float | _Array) -> None:
        self.coalitions = coalitions
        self.n_players = coalitions.shape[1]
        self.sizes = coalitions.sum(axis=1)
        self.rho = rho
        nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
        self.nodes, self.weights = nodes, weights / 2
        self.signs = np.where(coalitions, 1.0, -1.0)

    @property
    def agreement(self) -> _Array:
        """Number of players in which coalitions agree, minus that of the others."""
        return self.signs @ self.signs.T

    def cholesky_factor(self, part: np.ufunc, prior: _Array) -> _Array:
        """Lower Cholesky factor of the odd (sinh) or even (cosh) part and a prior."""
        # With z = -1 or 1, 1 + rho z is exp(z arctanh(rho)) times a constant.
        matrix = (self.signs * np.arctanh(self.rho)) @ self.signs.T
        part(matrix, out=matrix)
        matrix *= np.sqrt(np.prod(1 - (self.rho * self.signs[0]) ** 2))
        matrix += prior
        matrix[np.diag_indices(len(matrix))] *= 1 + _JITTER
        return cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    def integrals(self, n_others: int, present: NDArray[np.intp]) -> _Array:
        """Integral over t of the product over `n_others` players, `present` of them."""
        counts = np.arange(n_others + 1)[:, None]
        products = (1 + self.rho * self.nodes) ** counts
        products *= (1 - self.rho * self.nodes) ** (n_others - counts)
        return (products @ self.weights)[np.clip(present, 0, n_others)]


class _Process:
    """A Gaussian process from the lower Cholesky factor of its kernel matrix.

    The terms in `trend` (1 + n_pairs, n_terms) have an improper flat prior: a game
    without other terms is reproduced exactly.
    """

    def __init__(self, factor: _Array, trend: _Array | None = None) -> None:
        self._factor, self._trend = factor, trend
        inverse, _ = lapack.dtrtri(factor, lower=True)
        precisions = np.einsum("ij,ij->j", inverse, inverse)
        if trend is not None:
            solved = cho_solve((factor, True), trend, check_finite=False)
            self._slopes = np.linalg.solve(trend.T @ solved, solved.T)
            precisions -= np.einsum("ij,ji->i", solved, self._slopes)
        self._precisions = precisions[:, None]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(getattr(value, "nbytes", 0) for value in vars(self).values())

    def posterior(self, halves: _Array) -> _Posterior[Self]:
        """The process given half the sums or differences of pairs, (1 + n_pairs, k)."""
        slopes, detrended = None, halves
        if self._trend is not None:
            slopes = self._slopes @ halves
            detrended = halves - self._trend @ slopes
        weights = np.empty_like(detrended)
        # One vector at a time: BLAS dtrsv is several times faster here than LAPACK.
        for output, column in enumerate(detrended.T):
            half_solved = blas.dtrsv(self._factor, column, lower=1)
            weights[:, output] = blas.dtrsv(self._factor, half_solved, lower=1, trans=1)
        # Leave-one-out residuals: Rasmussen & Williams (2006), equation 5.12.
        return _Posterior(self, slopes, weights, weights / self._precisions)


@dataclass(frozen=True, eq=False)
class _Posterior(Generic[_P]):
    """Posterior given the values of some coalitions, for k outputs.

    `slopes` (n_terms, k) are the trend's coefficients, `weights` the kernel's at the
    known coalitions, and `residuals` the leave-one-out residuals, (1 + n_pairs, k).
    """

    process: _P
    slopes: _Array | None
    weights: _Array
    residuals: _Array

    def loo_error(self) -> float:
        """Sum of squared leave-one-out residuals of pairs, over all outputs."""
        return float((self.residuals[1:] ** 2).sum())

    def scale(self) -> _Array:
        """Scale of the process, from leave-one-out residuals: (k,)."""
        squares = self.weights * self.residuals
        if self.slopes is not None:
            # The slopes count as one more observation: few pairs that happen to fit a
            # linear game do not prove that the game is linear.
            of_players = (self.slopes**2).sum(axis=0) / _VAR_MAIN
            squares = np.vstack([squares, of_players])
        return squares.mean(axis=0)


def _kernel_strengths(n_pairs: int, n_players: int) -> tuple[float, ...]:
    """Strengths of the candidate kernels."""
    # Pairs that do not identify main effects say nothing about other terms.
    if n_pairs < n_players:
        return _STRENGTHS_OF_FEW_PAIRS
    return _STRENGTHS if n_players <= _FEW_PLAYERS else _STRENGTHS[:1]


def surrogate_bytes(n_pairs: int, n_players: int) -> tuple[int, int]:
    """Bytes that a surrogate keeps, and that it takes during construction."""
    n_kernels = len(_kernel_strengths(n_pairs, n_players))
    # 8 bytes for each entry of the Cholesky factor and of three arrays by player.
    kernel_bytes = 8 * (n_pairs + 1) * (n_pairs + 1 + 3 * n_players)
    return n_kernels * kernel_bytes, (n_kernels + 1) * kernel_bytes


class _Surrogate(Generic[_P]):
    """One process per candidate kernel; `kind` makes a process from a kernel."""

    def __init__(self, pairs: NDArray[np.bool_], kind: Callable[[_Kernel], _P]) -> None:
        n_players = pairs.shape[1]
        coalitions = np.concatenate([np.ones((1, n_players), dtype=bool), pairs])
        strengths = _kernel_strengths(*pairs.shape)
        rhos = [min(s / n_players, _LARGEST_RHO) for s in strengths]
        self.coalitions = coalitions
        self._processes = [kind(_Kernel(coalitions, rho)) for rho in rhos]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        processes = sum(process.nbytes for process in self._processes)
        return processes + self.coalitions.nbytes

    def _posteriors(self, halves: _Array) -> list[_Posterior[_P]]:
        """The posterior of the least leave-one-out error, and the others."""
        posteriors = (process.posterior(halves) for process in self._processes)
        return _best_first(posteriors, halves)


def _best_first(
    posteriors: Iterable[_Posterior[_P]], halves: _Array
) -> list[_Posterior[_P]]:
    """The posterior of the least leave-one-out error, and the others.

    One choice for all outputs keeps values additive over outputs. A later process must
    be clearly better: with few pairs errors may be equal but for rounding.
    """
    best, *rivals = posteriors
    rounding = _ROUNDING * (halves**2).sum()
    for position, rival in enumerate(rivals):
        limit = _CLEARLY * (best.loo_error() + rounding)
        if rival.loo_error() + rounding < limit:
            best, rivals[position] = rival, best
    return [best, *rivals]


class _OddProcess(_Process):
    """Shapley values under a kernel."""

    def __init__(self, kernel: _Kernel) -> None:
        self.rho = kernel.rho
        main = _VAR_MAIN / kernel.n_players
        factor = kernel.cholesky_factor(np.sinh, main * kernel.agreement)
        # Shapley values of the kernel at each coalition: (n_players, 1 + n_pairs).
        self.shares = self._values_of_kernel(kernel)
        solved = solve_triangular(factor, self.shares.T, lower=True, check_finite=False)
        explained = np.einsum("ij,ij->j", solved, solved)
        # Posterior variances of the values, for a process of scale one.
        variances = np.maximum(self._prior_variances(kernel) - explained, 0.0)
        self.variances = variances[:, None]
        # The pairs identify the main effect of each player.
        identified = len(kernel.coalitions) > kernel.n_players
        super().__init__(factor, kernel.signs if identified else None)

    @staticmethod
    def _values_of_kernel(kernel: _Kernel) -> _Array:
        """Shapley values of the kernel at each coalition: (n_players, 1 + n_pairs)."""
        means = np.zeros(kernel.signs.shape)
        for node, weight in zip(kernel.nodes, kernel.weights, strict=True):
            means += weight * _products_of_others(node * kernel.rho * kernel.signs)
        values = 2 * kernel.signs * (_VAR_MAIN / kernel.n_players + kernel.rho * means)
        return np.ascontiguousarray(values.T)

    @staticmethod
    def _prior_variances(kernel: _Kernel) -> _Array:
        """Variances of Shapley values before anything is known: (n_players,)."""
        rho = kernel.rho * kernel.signs[0]  # all of them are there
        chances = np.multiply.outer(kernel.nodes, kernel.nodes)
        others = _products_of_others(np.multiply.outer(chances, rho))
        means = np.einsum("i,j,ijk->k", kernel.weights, kernel.weights, others)
        return 4 * _VAR_MAIN / kernel.n_players + 4 * rho * means


def _products_of_others(steps: _Array) -> _Array:
    """For each entry, the product of 1 + steps over the others on the last axis."""
    factors = 1 + steps
    return factors.prod(axis=-1, keepdims=True) / factors


class OddSurrogate(_Surrogate[_OddProcess]):
    """Shapley values from half the differences within pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, n_players), bool
        One coalition of each pair that is known, at least one and not all of them;
        three players or more.

    Notes
    -----
    Holds ``(1 + n_pairs) * (1 + n_pairs + 4 * n_players)`` numbers, twice as many for
    up to 50 players, and needs up to three times as many during construction.
    """

    def __init__(self, pairs: NDArray[np.bool_]) -> None:
        super().__init__(pairs, _OddProcess)
        n_players, n_known = pairs.shape[1], len(pairs) + 1
        # Degrees of freedom: identified main effects take one for each player.
        self._identified = n_known > n_players
        free = n_known - n_players if self._identified else n_known - 1
        self._t_squared = student_factor(free) ** 2
        self._unknown = _unknown_weights(pairs)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return super().nbytes + self._unknown.nbytes

    def values(
        self, halves: _Array, relevance: _Array | None = None
    ) -> tuple[_Array, _Array]:
        """Shapley values and their standard errors, (n_players, k).

        The values sum to twice the first half difference. An error is the larger of two
        estimates: the posterior's error, scaled by leave-one-out residuals, and the
        error of the sum over unknown pairs. Both are corrected for few pairs. If the
        pairs do not identify main effects, the largest error over kernels is taken:
        then residuals stem from main effects, and say nothing about other terms.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the difference of each coalition and its complement; the grand and the
            empty coalition come first.
        relevance : ndarray of shape (n_players,), default=None
            Shares of players in interactions. They make one more kernel, for these
            values alone, if the pairs identify main effects.
        """
        posteriors = self._posteriors(halves)
        common = posteriors[0]
        if relevance is not None and self._identified:
            spread = _SHARED + (1 - _SHARED) * len(relevance) * relevance
            own = _OddProcess(_Kernel(self.coalitions, common.process.rho * spread))
            posteriors = _best_first([*posteriors, own.posterior(halves)], halves)
        best = posteriors[0]
        values = best.process.shares @ best.weights
        if best.slopes is not None:
            values += 2 * best.slopes
        # Efficiency: values sum to v(all) - v(nobody) exactly.
        values += (2 * halves[0] - values.sum(axis=0)) / len(values)
        return values, np.sqrt(_INFLATION * self._variances(posteriors, common))

    def _variances(
        self, posteriors: list[_Posterior[_OddProcess]], common: _Posterior[_OddProcess]
    ) -> _Array:
        """Variances of the values, (n_players, k); the best posterior comes first.

        They are the maximum, over all kernels, of the posterior's variance and of the
        variance of the sum over unknown pairs. If pairs identify main effects, only the
        variance of the best posterior counts, and that of the best without relevance.
        """
        known = [self._t_squared * p.process.variances * p.scale() for p in posteriors]
        if self._identified:
            of_common = self._t_squared * common.process.variances * common.scale()
            known = [known[0] ** (1 - _WEIGHT_OF_COMMON) * of_common**_WEIGHT_OF_COMMON]
        unknown = [self._unknown @ p.residuals[1:] ** 2 for p in posteriors]
        return np.max(known + unknown, axis=0)


def _unknown_weights(pairs: NDArray[np.bool_]) -> _Array:
    """Weights (n_players, n_pairs) of squared residuals of known pairs.

    Their weighted sum estimates the variance due to unknown pairs, which are taken to
    have the mean squared residual of known pairs of their size, with Student's factor
    for few known pairs.
    """
    n_players, sizes = pairs.shape[1], pairs.sum(axis=1)
    weights = np.empty(pairs.T.shape)
    for size in np.unique(sizes).tolist():
        present = pairs[sizes == size]
        n = len(present)
        if 2 * size == n_players:  # each player is in one of the two
            squares = _squared_unknown_weights(np.full(n_players, n), n_players, size)
        else:
            counts = present.sum(axis=0)
            squares = _squared_unknown_weights(counts, n_players, size)
            squares += _squared_unknown_weights(n - counts, n_players, n_players - size)
        mean = student_factor(n) ** 2 / n
        weights[:, sizes == size] = (mean * (2 / n_players) ** 2 * squares)[:, None]
    return weights


def _squared_unknown_weights(
    n_known: NDArray[np.intp], n_players: int, size: int
) -> _Array:
    """Sum of squared Shapley weights of unknown coalitions of a size, by player."""
    share = 1 / comb(n_players - 1, size - 1)
    return share * np.maximum(1 - n_known * share, 0)


class _EvenProcess(_Process):
    """Interaction values under a kernel."""

    def __init__(self, kernel: _Kernel) -> None:
        n_players = kernel.n_players
        of_pair = _VAR_PAIRS / (n_players * (n_players - 1))
        constant = _VAR_CONSTANT - n_players * of_pair
        prior = constant + of_pair * kernel.agreement**2
        super().__init__(kernel.cholesky_factor(np.cosh, prior))
        # Absolute interaction value of two players in the kernel at each coalition, for
        # none, one and two of them present: (3, 1 + n_pairs).
        means = [kernel.integrals(n_players - 2, kernel.sizes - n) for n in range(3)]
        self.shares = 4 * of_pair + 2 * kernel.rho**2 * np.array(means)


class EvenSurrogate(_Surrogate[_EvenProcess]):
    """Interaction values of pairs of players from half the sums within pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, n_players), bool
        One coalition of each pair that is known; two players or more.

    Notes
    -----
    Holds ``(1 + n_pairs) * (1 + n_pairs + n_players)`` numbers, nearly twice as many
    for up to 50 players, and needs up to three times as many during construction.
    """

    def __init__(self, pairs: NDArray[np.bool_]) -> None:
        super().__init__(pairs, _EvenProcess)
        self.coalitions = self.coalitions.astype(np.float64)

    def interactions(self, halves: _Array) -> _Array:
        """Interaction values of pairs, (n_players, n_players, k); zero on the diagonal.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the sum of each coalition and its complement; the grand and the empty
            coalition come first.
        """
        best, *_ = self._posteriors(halves - halves[0])
        present = self.coalitions
        n_players = present.shape[1]
        pairs = np.empty((n_players, n_players, halves.shape[1]))
        of_none, of_one, of_two = best.process.shares
        # The sign of each term is z_i z_j, written with products of zeros and ones.
        for output, weights in enumerate(best.weights.T):
            sums = (present.T * (weights * (of_two + 2 * of_one + of_none))) @ present
            single = present.T @ (weights * (of_one + of_none))
            sums += weights @ of_none - single[:, None] - single
            pairs[..., output] = (sums + sums.T) / 2
        players = np.arange(n_players)
        pairs[players, players] = 0
        return pairs
