r"""Surrogates of games, whose Shapley values are known: from some coalitions the rest.

A coalition is a vector z of -1 (absent) and 1 (present). A surrogate is the smoothest
function that passes through all known values, in the sense of a kernel

.. math:: k(z, z') = \sum_d c_d \sum_{|D| = d} \prod_{j \in D} z_j z'_j

in which terms count the less, the more players they join. It is at the same time the
mean of a Gaussian process whose terms have these variances.

Shapley values see only the odd part of a game, half the difference between a coalition
and its complement, and interaction values the even part, half their sum. With
:math:`\rho` for each player in :math:`\prod_j (1 + \rho z_j z'_j)`, the share of player
i in a kernel is an integral over one number,

.. math:: 2 \rho z'_i \int_0^1 \prod_{j \ne i} (1 + \rho (2t - 1) z'_j)\,dt

and depends on :math:`z'_i` and on how many of the others are present.

How fast the variances fall is a property of the game: of two kernels, each row takes
the one that misses less of pairs left out, where players are few.

Where nearly all pairs are known, the error of a value depends on terms of many players,
whose variances the kernel only guesses. But a Shapley value is a sum over pairs,

.. math:: \phi_j = \frac{2}{p} \sum_{S \ni j} \binom{p - 1}{|S| - 1}^{-1} o(S)

and its error the same sum of what is missed of the unknown pairs. These are a random
choice of the pairs of their size, so known ones that are left out tell how much it is.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.linalg import blas, cho_solve, cholesky, lapack

from sklearn_interpret._core.statistics.weighted import student_factor

# Sums of rho over players, to choose from: the variance of all terms of d players
# together is about s**d / d!. Trees and products of few players want the first, smooth
# functions of many the second.
_STRENGTHS = (0.15, 1.2)
# The same where there are fewer pairs than players, who may then do little alone: with
# 1.2, what many do together would be taken for what each does.
_STRENGTHS_OF_FEW_PAIRS = (0.15, 3.0)
# Of more players than these, no number of coalitions that one can afford tells terms of
# many players from each other: the kernels give the same, and one is enough.
_FEW_PLAYERS = 50
# Variance of all terms of one player, of two, and of the constant, which are not to be
# shrunk: large compared with those of more players.
_SINGLES, _TWOS, _CONSTANT = 10.0, 1.0, 10.0
# What is added to the diagonal, relative to it, for Cholesky's factor to exist.
_JITTER = 1e-12
# A kernel that misses by this share of another's squares misses clearly less.
_CLEARLY = 0.99
# Squares of what is missed below this share of the known ones are rounding.
_ROUNDING = 1e-18
# What variances are multiplied by: the kernel was chosen by what they are scaled by.
_RAISED = 1.5
# Nodes of the quadrature: the integrand is much like exp(s u), whatever the number of
# players.
_NODES = 24
# Rows of a kernel matrix that are made at once.
_STEP = 256


class _Kernel:
    """A kernel over coalitions (1 + n_pairs, n_players); `strength` sums rho up.

    Of each pair one coalition is there; the first is that of all players.
    """

    def __init__(self, coalitions, strength):
        self.coalitions = coalitions
        self.n_players = coalitions.shape[1]
        self.sizes = coalitions.sum(axis=1)
        self.rho = strength / self.n_players
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        self.nodes, self.weights = nodes, weights / 2
        # Values of the product by the number of players in which coalitions agree.
        agreed = np.arange(self.n_players + 1)
        self.products = (1 + self.rho) ** agreed * (1 - self.rho) ** agreed[::-1]

    def factor(self, table):
        """Cholesky's lower factor of the matrix with such a value for each number."""
        n = len(self.coalitions)
        signs = np.where(self.coalitions, np.float32(1), np.float32(-1))
        matrix = np.empty((n, n))
        for start in range(0, n, _STEP):
            products = signs[start : start + _STEP] @ signs.T
            agreed = np.rint((products + self.n_players) / 2).astype(np.intp)
            matrix[start : start + _STEP] = table[agreed]
        matrix[np.diag_indices(n)] += _JITTER * table[-1]
        return cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    def means(self, n_others, present):
        """Mean product over `n_others` players of whom so many are present.

        Over the chance t of each of them to join.
        """
        counts = np.arange(n_others + 1)[:, None]
        grown = (1 + self.rho * self.nodes) ** counts
        grown *= (1 - self.rho * self.nodes) ** (n_others - counts)
        return (grown @ self.weights)[np.clip(present, 0, n_others)]


class _Process:
    """A Gaussian process from Cholesky's lower factor of its kernel matrix.

    Of the terms in `trend` (1 + n_pairs, n_terms) nothing is known beforehand: a game
    that has no others is reproduced exactly.
    """

    def __init__(self, factor, trend=None):
        self._factor, self._trend = factor, trend
        inverse, _ = lapack.dpotri(factor, lower=True)
        precisions = np.diagonal(inverse).copy()
        if trend is not None:
            weighed = cho_solve((factor, True), trend, check_finite=False)
            self._slopes = np.linalg.solve(trend.T @ weighed, weighed.T)
            precisions -= np.einsum("ij,ji->i", weighed, self._slopes)
        self._precisions = precisions[:, None]

    @property
    def nbytes(self):
        """Memory of its arrays."""
        return sum(getattr(value, "nbytes", 0) for value in vars(self).values())

    def posterior(self, halves):
        """The process given half the sums or differences of pairs, (1 + n_pairs, k)."""
        slopes, rest = None, halves
        if self._trend is not None:
            slopes = self._slopes @ halves
            rest = halves - self._trend @ slopes
        weights = np.empty_like(rest)
        # One vector after the other: BLAS is several times faster at it than LAPACK.
        for output, column in enumerate(rest.T):
            below = blas.dtrsv(self._factor, column, lower=1)
            weights[:, output] = blas.dtrsv(self._factor, below, lower=1, trans=1)
        return _Posterior(self, slopes, rest, weights, weights / self._precisions)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Posterior given the values of some coalitions, for k outputs.

    `slopes` (n_terms, k) are the trend's, `rest` is what it leaves of the values,
    `weights` are those of the kernel at the known coalitions, and `misses` what would
    be missed of each if it were not known, (1 + n_pairs, k).
    """

    process: _Process
    slopes: np.ndarray | None
    rest: np.ndarray
    weights: np.ndarray
    misses: np.ndarray

    def missed(self):
        """What is missed of pairs left out, squared, of all outputs together."""
        return (self.misses[1:] ** 2).sum()

    def scale(self):
        """Scale of the process from what is missed: (k,)."""
        squares = self.weights * self.misses
        if self.slopes is not None:
            # Single players are one more observation: pairs that a linear game fits by
            # chance do not prove that the game is linear.
            of_players = (self.slopes**2).sum(axis=0) / _SINGLES
            squares = np.vstack([squares, of_players])
        return squares.mean(axis=0)


class _Surrogate:
    """One process for each kernel to choose from; `kind` makes it of the kernel."""

    def __init__(self, pairs, kind):
        n_players = pairs.shape[1]
        coalitions = np.concatenate([np.ones((1, n_players), dtype=bool), pairs])
        strengths = _STRENGTHS if n_players <= _FEW_PLAYERS else _STRENGTHS[:1]
        # Too few pairs for single players tell nothing of what else there is.
        if len(pairs) < n_players:
            strengths = _STRENGTHS_OF_FEW_PAIRS
        self.coalitions = coalitions
        self._processes = [kind(_Kernel(coalitions, s)) for s in strengths]

    @property
    def nbytes(self):
        """Memory it holds."""
        processes = sum(process.nbytes for process in self._processes)
        return processes + self.coalitions.nbytes

    def _posteriors(self, halves):
        """The posterior that misses least, of all outputs together, and the others.

        Together, so that sums stay sums. A later process must be clearly better: few
        pairs may leave no choice, and rounding should not decide.
        """
        best, *others = (process.posterior(halves) for process in self._processes)
        rounding = _ROUNDING * (halves**2).sum()
        for place, other in enumerate(others):
            if other.missed() + rounding < _CLEARLY * (best.missed() + rounding):
                best, others[place] = other, best
        return best, *others


class _OddProcess(_Process):
    """Shapley values under a kernel."""

    def __init__(self, kernel):
        n_players, products = kernel.n_players, kernel.products
        alone = np.arange(-n_players, n_players + 1, 2) / n_players
        factor = kernel.factor(_SINGLES * alone + (products - products[::-1]) / 2)
        shares = self._shares(kernel)
        solved = cho_solve((factor, True), shares.T, check_finite=False)
        self.operator = np.ascontiguousarray(solved.T)
        explained = np.einsum("ij,ij->i", self.operator, shares)
        # Of the values, where the process has a scale of one.
        self.variances = np.maximum(self._prior(kernel) - explained, 0.0)[:, None]
        # There are enough pairs for each single player.
        identified = len(kernel.coalitions) > n_players
        trend = np.where(kernel.coalitions, 1.0, -1.0) if identified else None
        super().__init__(factor, trend)

    @staticmethod
    def _shares(kernel):
        """Shapley values of the kernel at each coalition: (n_players, 1 + n_pairs)."""
        n_others = kernel.n_players - 1
        present, absent = (
            2 * _SINGLES / kernel.n_players
            + 2 * kernel.rho * kernel.means(n_others, kernel.sizes - own)
            for own in (1, 0)
        )
        return np.where(kernel.coalitions, present[:, None], -absent[:, None]).T

    @staticmethod
    def _prior(kernel):
        """Variance of a Shapley value before anything is known."""
        chances = np.multiply.outer(kernel.nodes, kernel.nodes)
        products = (1 + kernel.rho * chances) ** (kernel.n_players - 1)
        mean = kernel.weights @ products @ kernel.weights
        return 4 * _SINGLES / kernel.n_players + 4 * kernel.rho * mean


class OddSurrogate(_Surrogate):
    """Shapley values from half the differences within pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, n_players), bool
        One coalition of each pair that is known, at least one and not all of them;
        three players or more.

    Notes
    -----
    Holds ``(1 + n_pairs) * (1 + n_pairs + 4 * n_players)`` numbers, twice as many for
    up to 50 players, and needs up to three times as many while it is made.
    """

    def __init__(self, pairs):
        super().__init__(pairs, _OddProcess)
        n_players, n_known = pairs.shape[1], len(pairs) + 1
        # Single players take up as many of the known coalitions, if there are more.
        self._identified = n_known > n_players
        free = n_known - n_players if self._identified else n_known - 1
        self._raised = student_factor(free) ** 2
        self._unknown = _unknown_weights(pairs)

    @property
    def nbytes(self):
        """Memory it holds."""
        return super().nbytes + self._unknown.nbytes

    def values(self, halves):
        """Shapley values and their standard errors, (n_players, k).

        The values sum to twice the first half. The errors are those of the process, in
        the scale of what is missed of pairs left out, or those of the sum over unknown
        pairs if these are larger; both are raised for the few pairs. With too few pairs
        for single players, the larger error of all kernels counts: what is missed is
        that of single players, and says nothing of other terms.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the difference of each coalition and its complement, that of all
            players and nobody first.
        """
        posteriors = self._posteriors(halves)
        best = posteriors[0]
        values = best.process.operator @ best.rest
        if best.slopes is not None:
            values += 2 * best.slopes
        values += (2 * halves[0] - values.sum(axis=0)) / len(values)
        return values, np.sqrt(_RAISED * self._variances(posteriors))

    def _variances(self, posteriors):
        """Variances of the values, (n_players, k), by posteriors of which one is best.

        That of the process, or of a sum over unknown pairs if it is larger. The larger
        one of all kernels counts, but for the process where pairs identify players.
        """
        trusted = posteriors[: 1 if self._identified else None]
        of_process = [each.process.variances * each.scale() for each in trusted]
        of_unknown = [self._unknown @ each.misses[1:] ** 2 for each in posteriors]
        return np.max([self._raised * v for v in of_process] + of_unknown, axis=0)


def _unknown_weights(pairs):
    """Weights of squared misses of known pairs in the variances from unknown ones.

    Unknown pairs of a size miss what the mean known pair of the size misses, raised for
    the few of these: (n_players, n_pairs).
    """
    n_players, sizes = pairs.shape[1], pairs.sum(axis=1)
    weights = np.empty(pairs.T.shape)
    for size in np.unique(sizes).tolist():
        present = pairs[sizes == size]
        n = len(present)
        if 2 * size == n_players:  # each player is in one of the two
            left = _left(np.full(n_players, n), n_players, size)
        else:
            left = _left(present.sum(axis=0), n_players, size)
            left += _left((~present).sum(axis=0), n_players, n_players - size)
        mean = student_factor(n) ** 2 / n
        weights[:, sizes == size] = (mean * (2 / n_players) ** 2 * left)[:, None]
    return weights


def _left(n_known, n_players, size):
    """Sum of squared shares over unknown coalitions of a size that have a player."""
    share = 1 / comb(n_players - 1, size - 1)
    return share * np.maximum(1 - n_known * share, 0)


class _EvenProcess(_Process):
    """Interaction values under a kernel."""

    def __init__(self, kernel):
        n_players, products = kernel.n_players, kernel.products
        alone = np.arange(-n_players, n_players + 1, 2)
        twos = (alone**2 - n_players) / (n_players * (n_players - 1))
        even = (products + products[::-1]) / 2
        super().__init__(kernel.factor(_CONSTANT + _TWOS * twos + even))
        # Half of what two players do together in the kernel at each coalition, without
        # the sign, where none, one and two of them are present: (3, 1 + n_pairs).
        constant = 4 * _TWOS / (n_players * (n_players - 1))
        means = [kernel.means(n_players - 2, kernel.sizes - own) for own in range(3)]
        self.shares = constant + 2 * kernel.rho**2 * np.array(means)


class EvenSurrogate(_Surrogate):
    """Interaction values of pairs of players from half the sums within pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, n_players), bool
        One coalition of each pair that is known; two players or more.

    Notes
    -----
    Holds ``(1 + n_pairs) * (1 + n_pairs + n_players)`` numbers, nearly twice as many
    for up to 50 players, and needs up to three times as many while it is made.
    """

    def __init__(self, pairs):
        super().__init__(pairs, _EvenProcess)
        self.coalitions = self.coalitions.astype(np.float64)

    def interactions(self, halves):
        """Half of what two players do together, (n_players, n_players, k).

        Beyond what each does alone; zero on the diagonal.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the sum of each coalition and its complement, that of all players and
            nobody first.
        """
        best, *_ = self._posteriors(halves - halves[0])
        present = self.coalitions
        n_players = present.shape[1]
        pairs = np.empty((n_players, n_players, halves.shape[1]))
        none, one, two = best.process.shares
        # A pair counts with the sign of z_i z_j; this is written with products of zeros
        # and ones.
        for output, own in enumerate(best.weights.T):
            both = (present.T * (own * (two + 2 * one + none))) @ present
            single = present.T @ (own * (one + none))
            both += own @ none - single[:, None] - single
            pairs[..., output] = (both + both.T) / 2
        players = np.arange(n_players)
        pairs[players, players] = 0
        return pairs
