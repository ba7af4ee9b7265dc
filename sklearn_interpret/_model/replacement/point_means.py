"""Partial dependence at the rows' own values, from responses at all points."""

from functools import cached_property

import numpy as np


class PointMeans:
    """Partial dependence at the rows' own values, from responses at all points.

    A subclass has the method `responses_at_points` and the attributes `positions`,
    `n_points` and `_shares`, the rows' shares of the weight.
    """

    def alone(self, player, rows=slice(None)):
        """Partial dependence on a player at rows' own values.

        Returns
        -------
        ndarray of shape (n_rows, k)
            The weighted mean over the sample of the response with the row's value of
            the player.
        """
        return self._averages[player][self.positions[player][rows]]

    def all_but(self):
        """Partial dependence on all but one player at rows' own values, in parts.

        Yields
        ------
        rows, players : slice
            Some of them, each pair of both once.
        means : ndarray of shape (rows, players, k)
            The weighted mean, over the values of the player in the sample, of the
            response to the row.
        """
        for player, (_, means) in enumerate(self._means):
            yield slice(None), slice(player, player + 1), means[:, None]

    @property
    def _averages(self):
        """Mean responses with each player at each of its points."""
        return [at_points for at_points, _ in self._means]

    @cached_property
    def _means(self):
        """For each player, means over the rows at its points, and the reverse."""
        shares = [
            np.bincount(at, self._shares, n_points)
            for at, n_points in zip(self.positions, self.n_points, strict=True)
        ]

        def reduce(player, index, responses):
            at_points = np.einsum("b,bdk->dk", self._shares[index], responses)
            all_but = np.einsum("d,bdk->bk", shares[player], responses)
            return index, at_points, all_but

        found = []
        for parts in self.responses_at_points(reduce):
            index, at_points, all_but = zip(*parts, strict=True)
            means = np.empty((len(self._shares), all_but[0].shape[1]))
            means[np.concatenate(index)] = np.concatenate(all_but)
            found.append((sum(at_points), means))
        return found
