"""Partial dependence at the rows' own values, from responses at all points."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class _Means(NamedTuple):
    """Mean responses with a player at each of its points."""

    at_points: NDArray[np.float64]  # over the rows, (n_points, k)
    of_rows: NDArray[np.float64]  # over the points, (n_rows, k)


class PointMeans(ABC):
    """Partial dependence at the rows' own values, from responses at all points.

    A subclass has the method `responses_at_points` and these attributes.
    """

    positions: list[NDArray[np.intp]]  # by player, the point of each row
    n_points: list[int]  # of each player
    _shares: NDArray[np.float64]  # of the rows, of the weight

    @abstractmethod
    def responses_at_points(self, reduce: Callable[..., Any]) -> list[list[Any]]:
        """Reduced responses to every row with each player at each of its points."""

    def dependence_on(
        self, player: int, rows: slice = slice(None)
    ) -> NDArray[np.float64]:
        """Partial dependence on a player at rows' own values.

        Returns
        -------
        ndarray of shape (n_rows, k)
            The weighted mean over the sample of the response with the row's value of
            the player.
        """
        return self._averages[player][self.positions[player][rows]]

    def dependence_on_others(
        self,
    ) -> Iterator[tuple[slice, slice, NDArray[np.float64]]]:
        """Partial dependence on all but one player at rows' own values, by blocks.

        Yields
        ------
        rows, players : slice
            Some of them, each pair of both once.
        means : ndarray of shape (rows, players, k)
            The weighted mean, over the values of the player in the sample, of the
            response to the row.
        """
        for player, means in enumerate(self._means):
            yield slice(None), slice(player, player + 1), means.of_rows[:, None]

    @property
    def _averages(self) -> list[NDArray[np.float64]]:
        """Mean responses with each player at each of its points."""
        return [means.at_points for means in self._means]

    @property
    def _point_shares(self) -> list[NDArray[np.number]]:
        """For each player, the share of the weight at each of its points."""
        return [
            np.bincount(positions, self._shares, n_points)
            for positions, n_points in zip(self.positions, self.n_points, strict=True)
        ]

    @cached_property
    def _means(self) -> list[_Means]:
        """Means for each player."""
        shares = self._point_shares

        def reduce(
            player: int, index: NDArray[np.intp], responses: NDArray[np.float64]
        ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
            at_points = np.einsum("b,bdk->dk", self._shares[index], responses)
            over_points = np.einsum("d,bdk->bk", shares[player], responses)
            return index, at_points, over_points

        means = []
        for blocks in self.responses_at_points(reduce):
            index, at_points, over_points = zip(*blocks, strict=True)
            row_means = np.empty((len(self._shares), over_points[0].shape[1]))
            row_means[np.concatenate(index)] = np.concatenate(over_points)
            means.append(_Means(np.sum(at_points, axis=0), row_means))
        return means
