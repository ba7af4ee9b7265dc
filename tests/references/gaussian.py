"""Shapley values of linear functions of Gaussian columns, coalition by coalition."""

import numpy as np

from tests.references.shapley import enumerated


def conditional_game(coefficients, mean, covariance, row, members):
    """Mean of the linear function given the columns of some players."""
    spread = np.sqrt(np.diag(covariance))
    spread = np.where(spread > 0, spread, 1.0)
    correlation = covariance / np.outer(spread, spread)
    apart = (row - mean) / spread

    def value(coalition):
        known = [j for player in sorted(coalition) for j in members[player]]
        others = [j for j in range(len(row)) if j not in known]
        expected = np.zeros(len(row))
        expected[known] = apart[known]
        if known and others:
            inner = np.linalg.pinv(correlation[np.ix_(known, known)], rcond=1e-9)
            joint = correlation[np.ix_(others, known)]
            expected[others] = joint @ inner @ apart[known]
        return (mean + expected * spread) @ coefficients

    return value


def conditional_values(coefficients, mean, covariance, rows, members=None):
    """Values (n_rows, n_players, k)."""
    members = [[j] for j in range(len(mean))] if members is None else members
    games = (
        conditional_game(coefficients, mean, covariance, row, members) for row in rows
    )
    return np.array([enumerated(game, len(members)) for game in games])
