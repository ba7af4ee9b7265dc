"""Responses that are functions of a sum of trees, to rows some of whose values move.

The sums at all points follow from the trees; the function, of a single sum or of those
of several classes, is then evaluated point by point, and the model is not asked.
"""

from functools import cached_property, partial
from itertools import islice

import numpy as np

from sklearn_interpret._core.trees.effects.hybrids import TreeHybrids
from sklearn_interpret._model.parallel import slices
from sklearn_interpret._model.perturbation.hybrid_trees import HybridTrees
from sklearn_interpret._model.perturbation.perturbed_trees import (
    PerturbedTrees,
    averages_of,
)

# Sets that a worker, and all of them, get at once.
_SETS_OF_TASK = 8
_SETS_AT_ONCE = 2**9

# Sets whose points are counted at once.
_SETS_COUNTED_AT_ONCE = 2**14

# With so many leaves a number in a product of matrices takes as long as another sum.
_LEAVES_OF_SUM = 1000


class LinkedHybridTrees(HybridTrees):
    """Responses to hybrid rows that are a function of a sum of trees.

    It takes and gives what `HybridTrees` does.
    """

    def most_sums(self, pairs, triples):
        """About how many sums over rows and leaves, or of like cost, are to be made."""
        n_points = np.array(self.n_points, dtype=np.float64)
        n_rows, total = len(self._codes), n_points.sum()
        for sets in (pairs, triples):
            for part in slices(len(sets), _SETS_COUNTED_AT_ONCE):
                n_donors = n_points[np.array(sets[part])].prod(axis=1)
                total += np.minimum(n_donors, n_rows).sum()
        n_leaves = np.count_nonzero(self._trees.ensemble.is_leaf)
        return total * n_rows * (1 + n_leaves / _LEAVES_OF_SUM)

    def all_but(self):
        """Mean responses with one player from the sample, all else as the row's."""
        for player, (_, means) in enumerate(self._means):
            yield slice(None), slice(player, player + 1), means[:, None]

    def joint(self, sets):
        """Mean responses with some players as the row has them, set by set."""
        sets = map(tuple, sets)
        trees = TreeHybrids(self._effects, self.positions)
        given = self._codes, self._weights, self._sums, self._trees.of_sums
        while wave := list(islice(sets, _SETS_AT_ONCE)):
            tasks = [
                (trees, wave[some], *given) for some in slices(len(wave), _SETS_OF_TASK)
            ]
            for averages in self._run(TreeHybrids.averages, tasks):
                yield from averages

    @cached_property
    def _averages(self):
        """Mean responses with each player at each of its points."""
        return [at_points for at_points, _ in self._means]

    @cached_property
    def _means(self):
        """For each player, means over the rows at its points, and the reverse."""
        weights = self._weights / self._weights.sum()
        shares = [
            np.bincount(at, weights, n_points)
            for at, n_points in zip(self.positions, self.n_points, strict=True)
        ]

        def reduce(player, index, responses):
            at_points = np.einsum("b,bdk->dk", weights[index], responses)
            return at_points, np.einsum("d,bdk->bk", shares[player], responses)

        return [
            (sum(at_points), np.concatenate(all_but))
            for at_points, all_but in (
                zip(*parts, strict=True) for parts in self.outcomes(reduce)
            )
        ]


class LinkedPerturbedTrees(PerturbedTrees):
    """Responses to perturbed rows that are a function of a sum of trees.

    It takes and gives what `PerturbedTrees` does, but for differences: the few rows
    that the model gets for these take less time than whole curves.
    """

    def __init__(self, trees, rows, replacements):
        super().__init__(trees, rows, replacements)
        self._trees = trees

    @cached_property
    def n_outputs(self):
        """Number of outputs."""
        sums = self._trees.ensemble.raw_of_codes(self._codes[:1])
        return self._trees.of_sums(sums).shape[1]

    def most_sums(self, n_pairs, n_points):
        """About how many sums the pairs take, and responses to rows at their points."""
        n_responses = len(self._codes) * n_points
        return super().most_sums(n_pairs, n_points) + n_responses

    def averages(self, weights, masses=None, **loop):
        """Weighted means over the rows."""
        return averages_of(self, weights, masses, **loop)

    def responses(self, reduce, **loop):
        """Reduced responses to all perturbed rows."""
        return super().responses(partial(_of_curves, self._trees, reduce), **loop)


def _of_curves(trees, reduce, which, index, variants, sums):
    """Reduce the responses to rows with their sums at all points."""
    return reduce(which, index, variants, trees.of_sums(sums))
