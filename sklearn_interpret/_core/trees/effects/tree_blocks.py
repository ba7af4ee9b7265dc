"""The splits above the leaves of trees, some trees at a time."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.trees.structure.bits import Conditions, all_but_one_and_all

# Sets that are worked on at once should stay in the processor's cache.
_WORDS_AT_ONCE = 2**15


@dataclass(frozen=True, eq=False)
class LastSplits:
    """Splits with a leaf below them whose nodes need equally many conditions, d.

    The leaves below a split need what the split needs, and to be on its left or right.
    That is one more condition, or the last part of one: of the d + 1 *slots* of the
    leaves, the last of which may be void, the split is about one.

    Parameters
    ----------
    nodes : ndarray of shape (m,), intp
        The splits.
    conditions : ndarray of shape (d, m), intp
        Their conditions, by position in the block's.
    slot : ndarray of shape (m,), intp
        Which of the slots each split is about.
    children : ndarray of shape (2, m), intp
        The nodes on the left and on the right.
    is_leaf : ndarray of shape (2, m), bool
        Whether they are leaves.
    names : ndarray of shape (2, d + 1, m), intp
        The conditions of the children in each slot, by position in the block's nodes;
        past their end where a slot is void.
    """

    nodes: np.ndarray
    conditions: np.ndarray
    slot: np.ndarray
    children: np.ndarray
    is_leaf: np.ndarray
    names: np.ndarray

    def beside_and_inside(self, met, bits, n_words):
        """Rows at the splits, as many splits at a time as suits sets of `n_words`.

        Yields
        ------
        chunk : slice
            Which of the splits.
        sets : ndarray of shape (d + 1, c, n_words), uint64
            Rows that meet all conditions but possibly the one in this slot; in the
            last place those that meet them all.
        lefts : ndarray of shape (c, n_words), uint64
            Rows that go to the left.
        """
        d, m = self.conditions.shape
        step = max(1, _WORDS_AT_ONCE // ((d + 1) * n_words))
        for start in range(0, m, step):
            chunk = slice(start, start + step)
            sets = met.take(self.conditions[:, chunk], axis=0)
            sets = all_but_one_and_all(sets, bits.valid)
            yield chunk, sets, bits.lefts(self.nodes[chunk])


@dataclass(frozen=True, eq=False)
class BlockOfTrees:
    """Some of the trees: conditions of their splits, and the splits above leaves.

    Parameters
    ----------
    conditions : Conditions
        Those of nodes that are no leaves.
    nodes : ndarray of intp
        The nodes that name these conditions, and behind them the leaves.
    groups : list of LastSplits
        The splits above leaves.
    """

    conditions: Conditions
    nodes: np.ndarray
    groups: list

    @classmethod
    def of_nodes(cls, ensemble, paths, nodes):
        """The block that all nodes of some trees make up.

        Parameters
        ----------
        ensemble : TreeEnsemble
            The trees.
        paths : TreePaths
            Their paths.
        nodes : ndarray of intp
            The nodes.

        Returns
        -------
        BlockOfTrees
        """
        leaves = nodes[ensemble.is_leaf[nodes]]
        inner = nodes[~ensemble.is_leaf[nodes]]
        conditions = Conditions.of_nodes(
            ensemble, paths, inner[paths.player[inner] >= 0]
        )
        nodes = np.concatenate([conditions.nodes, leaves])
        place = np.empty(ensemble.n_nodes + 1, dtype=np.intp)
        place[nodes] = np.arange(len(nodes))
        place[-1] = len(nodes)
        splits = np.unique(ensemble.parents[leaves])
        splits = splits[splits >= 0]
        counts = paths.n_conditions[splits]
        groups = [splits[counts == d] for d in np.unique(counts)]
        groups = [_last_splits(ensemble, paths, place, group) for group in groups]
        return cls(conditions, nodes, groups)


def _last_splits(ensemble, paths, place, splits):
    conditions = paths.of_nodes(splits)
    children = np.stack([ensemble.left[splits], ensemble.right[splits]])
    slot = paths.slot[children[0]]
    d, m = conditions.shape
    names = np.full((2, d + 1, m), -1)
    names[:, :d] = conditions
    names[:, slot, np.arange(m)] = children
    return LastSplits(
        nodes=splits,
        conditions=place[conditions],
        slot=slot,
        children=children,
        is_leaf=ensemble.is_leaf[children],
        names=place[names],
    )
