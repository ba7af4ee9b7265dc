r"""Mean outputs of trees, or of a function of them, given any set of features.

`TreeSets` finds partial dependence at rows' own values. With the features of the set as
one player and all others as another, a leaf has at most one condition on each: it adds
its value, times the share of the background that meets the condition on the others, to
all rows that meet the condition on the set.

`LinkedTreeSets` finds the mean of a function of the output. With :math:`w_l` the value
of leaf l and :math:`a_{lj}` its condition on part j, leaves that
have conditions on the parts T, and on no others of the set S that moves, add

.. math:: G_T(b, u) = \sum_l \Big[ \prod_{j \notin T} a_{lj}(x_b) \Big]
    \Big[ w_l \prod_{j \in T} a_{lj}(u) \Big]

to row b with its parts at u: rows by leaves times leaves by points, a matrix product.
So as S moves from the row's own values to u, the output of the row changes by

.. math:: \sum_{\emptyset \ne T \subseteq S} G_T(b, u) - G_T(b, x_b).

A product is made for the distinct values of T alone: S may have very many, and single
parts have few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.bits import (
    Conditions,
    RowBits,
    RowWeights,
    blocks_of_trees,
    set_bits,
)
from sklearn_interpret._core.trees.structure.paths import TreePaths

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.terms import Term
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble

# Words of bit sets that are evaluated together; they fit the processor's cache.
_WORDS_OF_CONDITIONS = 2**18
_MOST_WORDS = 2**16

# Outputs, and numbers of a matrix, that are evaluated together; they fit the cache.
_MOST_OUTPUTS = 2**18
_MOST_NUMBERS = 2**19


class TreeSets:
    """Partial dependence of trees on a set of features.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    features : ndarray of intp
        The set.
    block_rows : int
        Largest number of rows that the methods get in one call.
    """

    wants_order = False  # its methods take rows in any order in the same time

    def __init__(
        self,
        ensemble: TreeEnsemble,
        values: NDArray[np.float64],
        features: NDArray[np.intp],
        block_rows: int,
    ) -> None:
        self.ensemble, self.values = ensemble, values
        self.block_rows = block_rows
        player = np.ones(ensemble.n_features, dtype=np.intp)
        player[features] = 0
        paths = TreePaths.of_ensemble(ensemble, player, n_players=2)
        self._names = _conditions_of_leaves(ensemble, paths)
        leaves = self._names[2]
        most = max(1, _WORDS_OF_CONDITIONS * 64 // block_rows)
        self._blocks = []
        for nodes in blocks_of_trees(ensemble, most):
            mine = np.zeros(ensemble.n_nodes, dtype=bool)
            mine[nodes] = True
            conditions = [
                Conditions.of_nodes(ensemble, paths, nodes[paths.player[nodes] == part])
                for part in range(2)
            ]
            self._blocks.append((np.flatnonzero(mine[leaves]), *conditions))

    def leaf_weights(
        self, codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """Weight of the rows that meet each condition on the features outside.

        A list of one array, by the node that names the condition; last the weight of
        all rows.
        """
        bits, weigh = RowBits(self.ensemble, codes), RowWeights(weights)
        found = np.empty(self.ensemble.n_nodes + 1)
        found[-1] = weights.sum()
        for _, _, outside in self._blocks:
            if len(outside.nodes):
                found[outside.nodes] = weigh.of(outside.met(bits))
        return [found]

    def outputs(
        self, codes: NDArray[np.intp], leaf_weights: list[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Partial dependence at rows, without the base: (n_rows, k).

        From sums over the background of the arrays of :meth:`leaf_weights`.
        """
        n_rows = len(codes)
        bits = RowBits(self.ensemble, codes)
        found = np.zeros((self.values.shape[1], n_rows))
        inside, outside, leaves = self._names
        shares = leaf_weights[0][outside] / leaf_weights[0][-1]
        amounts = self.values[leaves] * shares[:, None]
        step = max(1, _MOST_WORDS // bits.n_words)
        place = np.empty(self.ensemble.n_nodes + 1, dtype=np.intp)
        for at, conditions, _ in self._blocks:
            place[conditions.nodes] = np.arange(len(conditions.nodes))
            place[-1] = len(conditions.nodes)
            for output, sums in enumerate(found):
                amount = np.bincount(
                    place[inside[at]], amounts[at, output], len(conditions.nodes) + 1
                )
                sums += amount[-1]
                amount = amount[:-1]
                used = np.flatnonzero(amount)
                if not len(used):
                    continue
                met = conditions.met(bits)
                for start in range(0, len(used), step):
                    some = used[start : start + step]
                    which, row = set_bits(met[some])
                    sums += np.bincount(row, amount[some][which], n_rows)
        return found.T


def _conditions_of_leaves(
    ensemble: TreeEnsemble, paths: TreePaths
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Conditions of all leaves on both players, -1 where there is none; the leaves."""
    leaves = np.flatnonzero(ensemble.is_leaf)
    names = np.full((2, len(leaves)), -1)
    leaf, name = paths.conditions_of(leaves)
    names[paths.player[name], leaf] = name
    return *names, leaves


class LinkedTreeSets:
    """Outputs of rows whose parts take the values of other rows.

    Parameters
    ----------
    effects : TreeEffects
        The trees, and the parts that move; each along one axis.
    positions : list of ndarray of shape (n_rows,)
        For each part, at which of its points each row is.
    """

    def __init__(self, effects: Any, positions: list[int]) -> None:
        self.effects, self.positions = effects, positions
        ensemble, paths = effects.ensemble, effects.paths
        leaves = np.flatnonzero(ensemble.is_leaf)
        which, name = paths.conditions_of(leaves)
        player = paths.player[name]
        order = np.argsort(player, kind="stable")
        ends = np.searchsorted(player[order], np.arange(len(effects.parts) + 1))
        # For each part the leaves that have a condition on it, and the conditions.
        self._of_parts = [
            (leaves[which[at]], name[at]) for at in np.split(order, ends)[1:-1]
        ]
        inner = np.flatnonzero(paths.player >= 0)
        self._conditions = Conditions.of_nodes(ensemble, paths, inner)
        self._place = np.empty(ensemble.n_nodes, dtype=np.intp)
        self._place[self._conditions.nodes] = np.arange(len(inner))

    def averages(
        self,
        sets: NDArray[Any],
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        outputs: NDArray[np.intp],
        function: Callable[..., Any],
    ) -> Any:
        """Mean of a function of the outputs over the rows, with each row's parts.

        Parameters
        ----------
        sets : list of tuple of int
            Sets of parts.
        codes : ndarray of shape (n_rows, n_features), int
            Codes of the rows.
        weights : ndarray of shape (n_rows,)
            Weights of the rows.
        outputs : ndarray of shape (n_rows, k)
            Outputs of the rows as they are.
        function : callable
            From outputs (n, n_points, k) to values (n, n_points, m).

        Returns
        -------
        list of ndarray of shape (n_rows, m)
            For each set.
        """
        moves = [self._move(parts) for parts in sets]
        sums = [0.0] * len(sets)
        size = self.effects.block_rows
        for start in range(0, len(codes), size):
            bits = RowBits(self.effects.ensemble, codes[start : start + size])
            # Behind the conditions stands one that all rows meet.
            met = np.vstack([self._conditions.met(bits), bits.valid])
            for number, move in enumerate(moves):
                step = max(1, _MOST_OUTPUTS // (64 * move.n_points))
                for word in range(0, bits.n_words, step):
                    first = start + 64 * word
                    rows = slice(first, min(first + 64 * step, start + bits.n_rows))
                    moved = self._moved(move, met[:, word : word + step], rows, outputs)
                    sums[number] += weights[rows] @ np.moveaxis(function(moved), 2, 0)
        return [
            total.T[move.at] / weights.sum()
            for total, move in zip(sums, moves, strict=True)
        ]

    def _move(self, parts: Any) -> Any:
        """A set of parts, ready to be moved."""
        sizes = [self.effects.parts[part].n_points for part in parts]
        at = np.ravel_multi_index([self.positions[part] for part in parts], sizes)
        known, at = np.unique(at, return_inverse=True)
        points = np.stack(np.unravel_index(known, sizes))
        names = np.full((len(parts), self.effects.ensemble.n_nodes), -1)
        for own, part in zip(names, parts, strict=True):
            leaves, name = self._of_parts[part]
            own[leaves] = name
        order = range(len(parts))
        subsets = (combinations(order, size + 1) for size in order)
        terms = []
        for members in map(list, chain.from_iterable(subsets)):
            among = np.isin(order, members)[:, None]
            leaves = np.flatnonzero(((names >= 0) == among).all(axis=0))
            if len(leaves):
                own, of_point = np.unique(points[members], axis=1, return_inverse=True)
                term = [parts[member] for member in members], leaves
                terms.append(_Term(*term, names[members][:, leaves], own, of_point))
        return _Move(at, len(known), terms)

    def _moved(
        self,
        move: NDArray[np.float64],
        met: NDArray[np.bool_],
        rows: Any,
        outputs: NDArray[np.intp],
    ) -> Any:
        """Outputs (n, n_points, k) of rows that meet conditions (m, n_words)."""
        moved = np.repeat(outputs[rows].T[:, :, None], move.n_points, axis=2)
        for term in move.terms:
            at = term.of_point[move.at[rows]]
            for output, sums in enumerate(moved):
                change = self._product(term, output, met, len(at))
                change -= change[np.arange(len(at)), at][:, None]
                sums += change.take(term.of_point, axis=1)
        return np.moveaxis(moved, 0, 2)

    def _product(
        self, term: Term, output: int, met: NDArray[np.bool_], n_rows: int
    ) -> Any:
        """Amounts of leaves in one output of rows at a term's points: (n_rows, n)."""
        n_points = term.points.shape[1]
        values = self.effects.values[term.leaves, output]
        used = np.flatnonzero(values)
        step = max(1, _MOST_NUMBERS // max(n_rows, n_points))
        found = np.zeros((n_rows, n_points))
        for start in range(0, len(used), step):
            some = used[start : start + step]
            rows = self._rows_inside(met, term.leaves[some], term.parts)[:, :n_rows]
            reached = np.flatnonzero(rows.any(axis=1))
            points = values[some[reached], None]
            for part, names, at in zip(
                term.parts, term.names[:, some[reached]], term.points, strict=True
            ):
                points = points * self._points_inside(part, names).take(at, axis=1)
            found += rows[reached].T.astype(np.float64) @ points
        return found

    def _rows_inside(
        self, met: NDArray[np.bool_], leaves: NDArray[np.intp], parts: Any
    ) -> Any:
        """Which rows meet all conditions of leaves but those on parts: (m, n) bits."""
        paths = self.effects.paths
        _, names = paths.conditions_of(leaves)
        place = self._place[names]
        place[np.isin(paths.player[names], parts)] = len(met) - 1
        counts = paths.n_conditions[leaves]
        sets = np.bitwise_and.reduceat(
            met.take(place, axis=0), counts.cumsum() - counts
        )
        return np.unpackbits(sets.view(np.uint8), axis=1, bitorder="little")

    def _points_inside(self, part: NDArray[np.float64], names: list[str]) -> Any:
        """Which points of a part meet conditions: (m, n_points), 0 or 1."""
        effects = self.effects
        inside = np.zeros((len(names), effects.parts[part].n_points))
        which, point, sign = effects.steps.of_conditions(names)
        inside[which, point - effects.first[part]] = sign
        return np.cumsum(inside, axis=1, out=inside)


@dataclass(frozen=True, eq=False)
class _Term:
    """Leaves that have conditions on the same of the parts that move.

    Parameters
    ----------
    parts : list of int
        The parts.
    leaves : ndarray of shape (m,), intp
        The leaves.
    names : ndarray of shape (n_parts, m), intp
        Their conditions on each part.
    points : ndarray of shape (n_parts, n), intp
        Distinct points of the parts.
    of_point : ndarray of shape (n_points,), intp
        Which of them each point of the whole set is.
    """

    parts: list
    leaves: np.ndarray
    names: np.ndarray
    points: np.ndarray
    of_point: np.ndarray


@dataclass(frozen=True, eq=False)
class _Move:
    """A set of parts at all points that the rows have.

    Parameters
    ----------
    at : ndarray of shape (n_rows,), intp
        At which of the points each row is.
    n_points : int
        Number of the points.
    terms : list of Term
        Changes of the output by the leaves, as the parts move.
    """

    at: np.ndarray
    n_points: int
    terms: list
