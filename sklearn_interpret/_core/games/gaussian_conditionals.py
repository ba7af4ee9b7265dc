"""Shapley values of linear functions of jointly Gaussian columns.

The value of a coalition is the conditional mean of b . d given its players' columns of
d, deviations from the mean. It is linear in d, and so are the Shapley values: a linear
operator, computed once, maps rows to values. Each block of players connected by
correlations has its own operator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular
from scipy.sparse.csgraph import connected_components

from sklearn_interpret._core.games.coalitions import subsets, values_of_all
from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.statistics.weighted import student_factor

# Smaller correlations are rounding errors and count as zero.
_NO_CORRELATION = 1e-12
# Smaller eigenvalues of a correlation matrix count as zero: the matrix is singular.
_SINGULAR = 1e-9
# Limits of blocks whose coalitions are all enumerated: players, and coalitions times
# columns cubed, the cost of the linear systems. Chosen by hand: more take too long.
MOST_PLAYERS = 15
_MOST_WORK = 2**MOST_PLAYERS * 32**3
# Larger blocks sample antithetic pairs of permutations: as many as have operators of
# this number of bytes, 64 MB,
_PAIRS_BYTES = 2**26
# but at least and at most these numbers. More pairs have smaller errors.
_FEWEST_PAIRS = 16
_MOST_PAIRS = 256
# Bytes of the matrices of a batch of coalitions, and of the values of a batch of rows:
# 4 MB. Chosen by hand: smaller ones call numpy more often, larger ones leave the cache.
_BATCH_BYTES = 2**22


@dataclass(frozen=True, eq=False)
class Block:
    """Correlated players, and the linear operators of their Shapley values.

    Parameters
    ----------
    players : ndarray of shape (p,), intp
        The players.
    columns : ndarray of shape (n,), intp
        Columns of these players.
    draws : ndarray of shape (n_draws, p, k, n)
        Values are the mean over draws of ``draws @ d[columns]``; one where it is exact.
    """

    players: NDArray[np.intp]
    columns: NDArray[np.intp]
    draws: NDArray[np.float64]

    @property
    def sampled(self) -> bool:
        """Whether permutations were sampled."""
        return len(self.draws) > 1

    def values(
        self, deviations: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values (m, p, k) and their standard errors, of deviations (m, n_columns)."""
        n_draws, *shape, n_columns = self.draws.shape
        operator = self.draws.reshape(-1, n_columns).T
        values, errors = np.zeros((2, len(deviations), *shape))
        # A row has one value of 8 bytes for each column of the operator.
        step = max(1, _BATCH_BYTES // (8 * operator.shape[1]))
        for start in range(0, len(deviations), step):
            rows = slice(start, start + step)
            values_of_draws = deviations[rows, self.columns] @ operator
            values_of_draws = values_of_draws.reshape(-1, n_draws, *shape)
            values[rows] = values_of_draws.mean(axis=1)
            if self.sampled:
                spreads = values_of_draws.std(axis=1, ddof=1) / np.sqrt(n_draws)
                errors[rows] = student_factor(n_draws - 1) * spreads
        return values, errors


def gaussian_blocks(
    covariance: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    player: NDArray[np.intp],
    rng: np.random.Generator,
    hierarchy: Hierarchy | None = None,
) -> list[Block]:
    """Blocks of all players that have columns.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Covariance of the columns; it may be singular.
    coefficients : ndarray of shape (n, k)
        The linear function.
    player : ndarray of shape (n,), intp
        Player of each column.
    rng : numpy.random.Generator
        Draws the permutations of large blocks.
    hierarchy : Hierarchy, default=None
        Groups inside which players are credited.

    Returns
    -------
    list of Block
    """
    scales = np.sqrt(np.diag(covariance))
    scales = np.where(scales > 0, scales, 1.0)
    correlation = covariance / scales / scales[:, None]
    np.fill_diagonal(correlation, 1.0)
    connected = np.abs(correlation) > _NO_CORRELATION
    # Columns of a player are adjacent.
    connected |= player == player[:, None]
    n_blocks, column_block = connected_components(connected, directed=False)
    blocks = []
    for block in range(n_blocks):
        columns = np.flatnonzero(column_block == block)
        players, position = np.unique(player[columns], return_inverse=True)
        block_correlation = correlation[np.ix_(columns, columns)]
        scaled = coefficients[columns] * scales[columns, None]
        inside = hierarchy and hierarchy.restricted(players)
        draws = _operators(
            block_correlation, scaled, position, len(players), inside, rng
        )
        blocks.append(Block(players, columns, draws / scales[columns]))
    return blocks


def _operators(
    correlation: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    player: NDArray[np.intp],
    n_players: int,
    hierarchy: Hierarchy | None,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Operators on standardised deviations: (n_draws, p, k, n)."""
    if n_players == 1:
        return coefficients.T[None, None]
    singular = eigvalsh(correlation, subset_by_index=[0, 0])[0] < _SINGULAR
    n_coalitions = 2**n_players if hierarchy is None else hierarchy.n_coalitions
    work = float(n_coalitions) * len(correlation) ** 3
    if n_coalitions <= 2**MOST_PLAYERS and work <= _MOST_WORK:
        return _exact_operator(
            correlation, coefficients, player, n_players, hierarchy, singular
        )[None]
    if singular:
        # A small ridge: in the limit, conditional means are those of a pseudo-inverse.
        correlation = correlation + _SINGULAR * np.eye(len(correlation))
    # An operator has 8 bytes for each player, column and output.
    operator_bytes = 8 * n_players * coefficients.size
    n_pairs = int(np.clip(_PAIRS_BYTES // operator_bytes, _FEWEST_PAIRS, _MOST_PAIRS))
    draws = np.empty((n_pairs, n_players, *coefficients.T.shape))
    hierarchy = hierarchy or Hierarchy.flat(n_players)
    orders = hierarchy.draw_orders(n_pairs, rng)
    pairs = zip(orders, hierarchy.reverse_orders(orders), strict=True)
    for draw, pair in enumerate(pairs):
        forwards, backwards = (
            _operator_of_order(correlation, coefficients, player, order)
            for order in pair
        )
        draws[draw] = (forwards + backwards) / 2
    return draws


# Exact: all coalitions


def _exact_operator(
    correlation: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    player: NDArray[np.intp],
    n_players: int,
    hierarchy: Hierarchy | None,
    singular: bool,
) -> NDArray[np.float64]:
    """Operator (p, k, n) of exact values, from the values of all coalitions."""
    if hierarchy is None:
        present = subsets(n_players)[:, player]
        values = _values_by_batch(correlation, coefficients, present, singular)
        operator = values_of_all(values.reshape(len(values), -1))
    else:
        coalitions, sums = hierarchy.coalition_sums()
        present = coalitions[:, player]
        values = _values_by_batch(correlation, coefficients, present, singular)
        operator = sums @ values.reshape(len(values), -1)
    return operator.reshape(-1, *coefficients.shape).swapaxes(1, 2)


def _values_by_batch(
    correlation: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    present: NDArray[np.bool_],
    singular: bool,
) -> NDArray[np.float64]:
    """Values of sets of columns (m, n) as coefficients of the deviations: (m, n, k)."""
    # A set has a matrix of 8 bytes for each pair of columns.
    step = max(1, _BATCH_BYTES // (8 * len(correlation) ** 2))
    return np.concatenate(
        [
            _values_of_coalitions(
                correlation, coefficients, present[start : start + step], singular
            )
            for start in range(0, len(present), step)
        ]
    )


def _values_of_coalitions(
    correlation: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    present: NDArray[np.bool_],
    singular: bool,
) -> NDArray[np.float64]:
    """Values of sets of columns as coefficients of the deviations: (m, n, k)."""
    inside, outside = present[:, :, None], ~present[:, :, None]
    # Absent columns become uncorrelated, of variance 1: so all matrices have one shape.
    masked = np.where(inside & present[:, None, :], correlation, 0.0)
    coalition, column = np.nonzero(~present)
    masked[coalition, column, column] = 1.0
    sums: NDArray[np.floating] = inside * (correlation @ (outside * coefficients))
    if singular:
        sums = np.linalg.pinv(masked, rcond=_SINGULAR, hermitian=True) @ sums
    else:
        sums = np.linalg.solve(masked, sums)
    return np.where(inside, coefficients + sums, 0.0)


# Sampled: permutations


def _operator_of_order(
    correlation: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    player: NDArray[np.intp],
    order: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Operator (p, k, n) of the marginal contributions in one order of the players.

    With b the coefficients, d the deviations and L the Cholesky factor of the
    correlation, all in the players' order, the function is
    (L' b) . L^-1 d: each player adds the terms of its innovations in L^-1 d.
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    columns = np.argsort(rank[player], kind="stable")
    factor = cholesky(correlation[np.ix_(columns, columns)], lower=True)
    innovations = solve_triangular(factor, np.eye(len(columns)), lower=True)
    gains = (factor.T @ coefficients[columns])[:, :, None] * innovations[:, None, :]
    counts = np.bincount(player, minlength=len(order))[order]
    starts = np.append(0, np.cumsum(counts)[:-1])
    operator = np.empty((len(order), *coefficients.T.shape))
    operator[order[:, None], :, columns] = np.add.reduceat(gains, starts).swapaxes(1, 2)
    return operator
