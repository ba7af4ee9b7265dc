r"""Surrogates of games, whose Shapley values are known: from some coalitions the rest.

A coalition is a vector z of -1 (absent) and 1 (present). A surrogate is the smoothest
function that passes through all known values, in the sense of a kernel

.. math:: k(z, z') = \sum_d c_d \sum_{|D| = d} \prod_{j \in D} z_j z'_j

in which terms count the less, the more players they join. It is at the same time the
mean of a Gaussian process whose terms have these variances.

Shapley values see only the odd part of a game, half the difference between a coalition
and its complement, and interaction values the even part, half their sum. The shares of
a kernel are integrals over one number: with :math:`\rho` for each player in
:math:`\prod_j (1 + \rho z_j z'_j)`, the share of player i is

.. math:: 2 \rho z'_i \int_0^1 \prod_{j \ne i} (1 + \rho (2t - 1) z'_j)\,dt

and depends on :math:`z'_i` and on how many of the others are present.

How fast the variances fall is a property of the game: each row's is chosen, of two, by
what the surrogates without one pair miss there, where players are few.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve, lapack

from sklearn_interpret._core.games.coalitions import n_pairs_of

# Sums of rho over players, to choose from: the variance of all terms of d players
# together is about s**d / d!. Trees and products of few players want the first, smooth
# functions of many the second.
_STRENGTHS = (0.15, 1.2)
# Of more players than these, no number of coalitions that one can afford tells terms of
# many players from each other: the kernels give the same, and one is enough.
_FEW_PLAYERS = 50
# Variance of all terms of one player, of two, and of the constant, which are not to be
# shrunk: large beside those of more players.
_SINGLES, _TWOS, _CONSTANT = 10.0, 1.0, 10.0
# What is added to the diagonal, relative to it, for Cholesky's factor to exist.
_JITTER = 1e-12
# A kernel that misses by this share of another's squares misses clearly less.
_CLEARLY = 0.99
# What variances are multiplied by, the second divided by the number of pairs: 95 %
# intervals cover on average what they should.
_RAISED, _RAISED_FOR_FEW = 1.2, 5.0
# Nodes of the quadrature: the integrand is much like exp(s u), whatever the number of
# players.
_NODES = 24
# Rows of a kernel matrix that are made at once.
_STEP = 256


class _Kernel:
    """A kernel over coalitions, one of each pair; the first is that of all players.

    Parameters
    ----------
    coalitions : ndarray of shape (1 + n_pairs, n_players), bool
        One coalition of each pair.
    strength : float
        Sum of rho over players.
    """

    def __init__(self, coalitions, strength):
        self.coalitions = coalitions
        self.n_players = coalitions.shape[1]
        self.sizes = coalitions.sum(axis=1)
        self.rho = strength / self.n_players
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        self.nodes, self.weights = nodes, weights / 2

    @property
    def products(self):
        """Values of the product by the number of players in which coalitions agree."""
        agreed = np.arange(self.n_players + 1)
        apart = self.n_players - agreed
        return (1 + self.rho) ** agreed * (1 - self.rho) ** apart

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
        return cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    def means(self, n_others, present):
        """Mean product over `n_others` players of whom so many are present.

        Over the chance t of each of them to join.
        """
        known = np.arange(n_others + 1)[:, None]
        grown = (1 + self.rho * self.nodes) ** known
        grown *= (1 - self.rho * self.nodes) ** (n_others - known)
        return (grown @ self.weights)[np.clip(present, 0, n_others)]


def _kernels(pairs):
    """The kernels to choose from."""
    n_players = pairs.shape[1]
    everybody = np.ones((1, n_players), dtype=bool)
    coalitions = np.concatenate([everybody, pairs])
    strengths = _STRENGTHS if n_players <= _FEW_PLAYERS else _STRENGTHS[:1]
    return [_Kernel(coalitions, strength) for strength in strengths]


class _Process:
    """What is known of a game whose values are those of a Gaussian process.

    Parameters
    ----------
    factor : tuple
        Cholesky's lower factor of the kernel matrix.
    trend : ndarray of shape (1 + n_pairs, n_terms), default=None
        Terms of which nothing is known beforehand: a game that has no others is found
        as it is.
    """

    def __init__(self, factor, trend=None):
        self._factor, self._trend = factor, trend
        inverse, _ = lapack.dpotri(factor[0], lower=True)
        precisions = np.diagonal(inverse).copy()
        if trend is not None:
            weighed = cho_solve(factor, trend, check_finite=False)
            self._slopes = np.linalg.solve(trend.T @ weighed, weighed.T)
            precisions -= np.einsum("ij,ji->i", weighed, self._slopes)
        self._precisions = precisions[:, None]

    @property
    def nbytes(self):
        """Memory it holds."""
        held = self._factor[0].nbytes
        return held if self._trend is None else held + 2 * self._trend.nbytes

    def _solved(self, output):
        """Kernel weights that give such values, (1 + n_pairs,).

        One vector after the other, which BLAS is several times faster at than LAPACK.
        """
        factor, _ = self._factor
        below = blas.dtrsv(factor, output, lower=1)
        return blas.dtrsv(factor, below, lower=1, trans=1, overwrite_x=1)

    def surrogate(self, halves):
        """The surrogate of each output, and what those without one pair miss there.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the sums or differences of pairs.

        Returns
        -------
        _Surrogate
        """
        slopes, rest = None, halves
        if self._trend is not None:
            slopes = self._slopes @ halves
            rest = halves - self._trend @ slopes
        weights = np.stack([self._solved(output) for output in rest.T], axis=1)
        return _Surrogate(self, slopes, rest, weights, weights / self._precisions)


@dataclass(frozen=True, eq=False)
class _Surrogate:
    """A function of coalitions for each output.

    Parameters
    ----------
    process : _Process
        What it comes from.
    slopes : ndarray of shape (n_terms, k) or None
        Coefficients of the trend.
    rest : ndarray of shape (1 + n_pairs, k)
        What the trend leaves.
    weights : ndarray of shape (1 + n_pairs, k)
        Weights of the kernels at the known coalitions.
    misses : ndarray of shape (1 + n_pairs, k)
        What would be missed of each pair if the others were known.
    """

    process: _Process
    slopes: np.ndarray | None
    rest: np.ndarray
    weights: np.ndarray
    misses: np.ndarray


def _best(processes, halves):
    """The surrogate that misses least, of all outputs together: sums stay sums.

    An earlier process is left for a later one only where that is clearly better, as few
    pairs may leave no choice, and rounding should not decide.
    """
    best, least = None, np.inf
    for process in processes:
        found = process.surrogate(halves)
        missed = (found.misses[1:] ** 2).sum()
        if best is None or missed < _CLEARLY * least:
            best, least = found, missed
    return best


class _OddProcess(_Process):
    """Shapley values under a kernel."""

    def __init__(self, kernel):
        n_players, products = kernel.n_players, kernel.products
        alone = np.arange(-n_players, n_players + 1, 2) / n_players
        factor = kernel.factor(_SINGLES * alone + (products - products[::-1]) / 2)
        shares = self._shares(kernel)
        self._operator = np.ascontiguousarray(
            cho_solve(factor, shares.T, check_finite=False).T
        )
        explained = np.einsum("ij,ij->i", self._operator, shares)
        self._variances = np.maximum(self._prior(kernel) - explained, 0.0)[:, None]
        # Single players are all there.
        identified = len(kernel.coalitions) > n_players
        trend = np.where(kernel.coalitions, 1.0, -1.0) if identified else None
        super().__init__(factor, trend)

    @property
    def nbytes(self):
        return self._operator.nbytes + super().nbytes

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

    def values(self, surrogate):
        """Shapley values of a surrogate."""
        values = self._operator @ surrogate.rest
        return values if surrogate.slopes is None else values + 2 * surrogate.slopes

    def variances(self, scale):
        """Variances of the values where the process has such a scale, (k,)."""
        return self._variances * scale


class OddSurrogate:
    """Shapley values from half the differences within pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, n_players), bool
        One coalition of each pair that is known, at least one and not all of them;
        three players or more.

    Notes
    -----
    Holds ``(1 + n_pairs) * (1 + n_pairs + 3 * n_players)`` numbers, twice as many for
    up to 50 players, and needs up to three times as many while it is made.
    """

    def __init__(self, pairs):
        self._processes = [_OddProcess(kernel) for kernel in _kernels(pairs)]
        self._sampled = _sampled(pairs)

    @property
    def nbytes(self):
        """Memory it holds."""
        return sum(process.nbytes for process in self._processes)

    def values(self, halves):
        """Shapley values and their standard errors.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the difference of each coalition and its complement, that of all
            players and nobody first.

        Returns
        -------
        values, errors : ndarray of shape (n_players, k)
            The values sum to twice the first half.

        Notes
        -----
        Errors are those of the process, in the scale of what the surrogates without one
        pair miss there, for pairs of sizes that are known in part. They are raised, for
        few pairs more: the kernel was chosen by the same misses.
        """
        found = _best(self._processes, halves)
        values = found.process.values(found)
        values += (2 * halves[0] - values.sum(axis=0)) / len(values)
        scale = (found.weights * found.misses)[self._sampled].mean(axis=0)
        raised = _RAISED + _RAISED_FOR_FEW / (len(halves) - 1)
        return values, np.sqrt(found.process.variances(scale) * raised)


def _sampled(pairs):
    """Places of the coalitions of sizes known in part; of all if there are none."""
    n_players = pairs.shape[1]
    smaller = np.minimum(pairs.sum(axis=1), n_players - pairs.sum(axis=1))
    known = np.bincount(smaller)
    in_part = np.array([n < n_pairs_of(n_players, s) for s, n in enumerate(known)])
    sampled = in_part[smaller]
    return 1 + np.flatnonzero(sampled if sampled.any() else ~sampled)


class _EvenProcess(_Process):
    """Interaction values under a kernel."""

    def __init__(self, kernel):
        n_players, products = kernel.n_players, kernel.products
        alone = np.arange(-n_players, n_players + 1, 2)
        twos = (alone**2 - n_players) / (n_players * (n_players - 1))
        even = (products + products[::-1]) / 2
        self.shares = self._shares(kernel)
        super().__init__(kernel.factor(_CONSTANT + _TWOS * twos + even))

    @staticmethod
    def _shares(kernel):
        """What two players do together in the kernel, by how many of them are present.

        Returns
        -------
        ndarray of shape (3, 1 + n_pairs)
            Half of it, without the sign, for none, one and two.
        """
        n_players = kernel.n_players
        alone = 4 * _TWOS / (n_players * (n_players - 1))
        means = [kernel.means(n_players - 2, kernel.sizes - own) for own in range(3)]
        return alone + 2 * kernel.rho**2 * np.array(means)


class EvenSurrogate:
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
        kernels = _kernels(pairs)
        self._processes = [_EvenProcess(kernel) for kernel in kernels]
        self._coalitions = kernels[0].coalitions.astype(np.float64)

    @property
    def nbytes(self):
        """Memory it holds."""
        processes = sum(process.nbytes for process in self._processes)
        return processes + self._coalitions.nbytes

    def interactions(self, halves):
        """Interaction values.

        Parameters
        ----------
        halves : ndarray of shape (1 + n_pairs, k)
            Half the sum of each coalition and its complement, that of all players and
            nobody first.

        Returns
        -------
        ndarray of shape (n_players, n_players, k)
            Half of what two players do together beyond what each does alone; zero on
            the diagonal.
        """
        found = _best(self._processes, halves - halves[0])
        present = self._coalitions
        n_players = present.shape[1]
        pairs = np.empty((n_players, n_players, halves.shape[1]))
        none, one, two = found.process.shares
        # A pair counts with the sign of z_i z_j; this is written with products of zeros
        # and ones.
        for output, own in enumerate(found.weights.T):
            both = (present.T * (own * (two + 2 * one + none))) @ present
            single = present.T @ (own * (one + none))
            both += own @ none - single[:, None] - single
            pairs[..., output] = (both + both.T) / 2
        players = np.arange(n_players)
        pairs[players, players] = 0
        return pairs
