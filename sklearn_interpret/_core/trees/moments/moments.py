r"""Means and covariances of trees over features that are independent of each other.

Where the features are independent, a point reaches a node with the product of the
chances that it meets the conditions on the way to it, one for each feature. A split on
feature j, which a point reaches with chance P, is given a condition q on j by the
splits above it. With :math:`a_q = P(q)` and :math:`S_q = E[s_j 1_q]` for a statistic
:math:`s_j` of the feature with mean zero, of which :math:`a_l` and :math:`S_l` go to
the left, and with :math:`U_l` and :math:`U_r` the means of what is below its children,

.. math:: U = U_r + \frac{a_l}{a_q} (U_l - U_r), \qquad
    Cov(s_j, f) = \sum_{splits\ on\ j} \frac{P}{a_q}
    \left(S_l - \frac{a_l}{a_q} S_q\right) (U_l - U_r).

So two passes over the splits are enough: down for P, up for U. Nothing is sampled.
"""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.trees.moments.split_probabilities import (
    ConditionTables,
    matrix_of_ones,
)

# Numbers in tables that are kept at once, and distributions that are worked on at once.
_NUMBERS_AT_ONCE = 2**19
_MOST_AT_ONCE = 16

# Points, times distributions, whose statistics are worked on at once.
_POINTS_AT_ONCE = 2**13

# Splits, times distributions, that are worked on at once: they fit a cache.
_SPLITS_AT_ONCE = 2**17

# Stands for the chance of what is impossible where it divides zero.
_LEAST = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class ProductMoments:
    """Moments of statistics of features, and of a response, for m distributions.

    Parameters
    ----------
    mean : ndarray of shape (m, k)
        Means of the response.
    covariance : ndarray of shape (m, n_parts, k)
        Covariances of each part's statistic and the response.
    statistic : ndarray of shape (m, n_parts)
        Means of the statistics.
    variance : ndarray of shape (m, n_parts)
        Variances of the statistics.
    """

    mean: np.ndarray
    covariance: np.ndarray
    statistic: np.ndarray
    variance: np.ndarray


class TreeProducts:
    """Moments of trees whose features, or groups of them, move independently.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    base : ndarray of shape (k,)
        What is added to the sum of the trees.
    parts : list of Part
        What moves, and its points; all features that are split on are in one of them.

    Attributes
    ----------
    at_once : int
        How many distributions are worked on at once.

    Raises
    ------
    ValueError
        A feature is split on and belongs to no part.
    """

    def __init__(self, ensemble, values, base, parts):
        # Trees that are a single leaf add to every output.
        self._constant = base + values[ensemble.roots].sum(axis=0)
        self._n_parts = len(parts)
        self._tables = ConditionTables.of_parts(ensemble, parts)
        if (self._tables.places.part[~ensemble.is_leaf] == len(parts)).any():
            raise ValueError("The trees split on a feature that belongs to no part.")
        n_splits = np.count_nonzero(~ensemble.is_leaf)
        k = max(1, len(base))
        size = max(1, self._tables.n_places, min(n_splits, _SPLITS_AT_ONCE) * k)
        # All that is split up depends on the trees alone: so do the last bits.
        self.at_once = int(np.clip(_NUMBERS_AT_ONCE // size, 1, _MOST_AT_ONCE))
        most = _SPLITS_AT_ONCE // (self.at_once * k)
        self._blocks = [
            _Block(ensemble, values, self._tables.places, roots, len(parts))
            for roots in _roots_of_blocks(ensemble, most)
        ]

    def moments(self, shares, statistics):
        """Moments of the response over products of distributions.

        Parameters
        ----------
        shares : list of ndarray of shape (m, n_points)
            For each part, m distributions over its points; each sums to 1.
        statistics : list of ndarray of shape (m, n_points) or (n_points,)
            For each part a number at each point, for all distributions or each.

        Returns
        -------
        ProductMoments
            Each distribution's do not depend on those beside it.
        """
        m, n_parts, k = len(shares[0]), self._n_parts, len(self._constant)
        found = ProductMoments(
            mean=np.empty((m, k)),
            covariance=np.zeros((m, n_parts, k)),
            statistic=np.empty((m, n_parts)),
            variance=np.empty((m, n_parts)),
        )
        for start in range(0, m, self.at_once):
            rows = slice(start, min(start + self.at_once, m))
            tables = np.empty((2, self._tables.n_places, rows.stop - start))
            missing = np.zeros((2, n_parts + 1, rows.stop - start))
            for part, (share, statistic) in enumerate(
                zip(shares, statistics, strict=True)
            ):
                into = found.statistic[rows, part], found.variance[rows, part]
                statistic = statistic if statistic.ndim == 1 else statistic[rows]
                for some, amounts in _centred(share[rows], statistic, *into):
                    self._put(part, some, amounts, tables, missing)
            mean, covariance = self._swept(tables, missing)
            found.mean[rows] = mean.T
            found.covariance[rows] = covariance.transpose(2, 1, 0)
        return found

    def _put(self, part, rows, amounts, tables, missing):
        """Sum up a part's shares and its shares times centred statistics."""
        if part in self._tables.masses:
            places, masses = self._tables.masses[part]
            for table, apart, amount in zip(tables, missing, amounts, strict=True):
                masses.put(amount, table[places, rows], apart[part, rows])

    def _swept(self, tables, missing):
        """Means (k, m) and covariances (k, n_parts, m)."""
        m, k = tables.shape[2], len(self._constant)
        if not self._tables.has_missing:
            missing = None, None
        mean = np.repeat(self._constant[:, None], m, axis=1)
        covariance = np.zeros((k, self._n_parts, m))
        for block in self._blocks:
            block.add(*zip(tables, missing, strict=True), mean, covariance)
        return mean, covariance


def _centred(shares, statistics, mean, variance):
    """Find means and variances (m,) of statistics, some distributions at a time.

    Yields
    ------
    rows : slice
        Which distributions.
    amounts : pair of ndarray of shape (n_rows, n_points), C-contiguous
        Their shares, and shares times centred statistics.
    """
    m, n_points = shares.shape
    step = max(1, _POINTS_AT_ONCE // max(1, n_points))
    for start in range(0, m, step):
        rows = slice(start, start + step)
        # In the order in memory in which sums of a row are the same in any company.
        share = np.ascontiguousarray(shares[rows], dtype=np.float64)
        statistic = statistics if statistics.ndim == 1 else statistics[rows]
        statistic = np.ascontiguousarray(statistic, dtype=np.float64)
        amounts = share * statistic
        mean[rows] = amounts.sum(axis=1)
        centred = statistic - mean[rows, None]
        np.multiply(share, centred, out=amounts)
        centred *= amounts
        variance[rows] = centred.sum(axis=1)
        yield rows, (share, amounts)


class _Block:
    """Some trees, their splits level by level."""

    def __init__(self, ensemble, values, places, roots, n_parts):
        self._levels, all_splits = [], []
        splits, n_before = roots, 0
        while len(splits):
            all_splits.append(splits)
            children = np.concatenate([ensemble.left[splits], ensemble.right[splits]])
            is_leaf = ensemble.is_leaf[children]
            inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
            at = np.empty(len(children), dtype=np.intp)
            at[inner] = np.arange(len(inner))
            at[leaves] = len(inner) + np.arange(len(leaves))
            n = len(splits)
            self._levels.append(
                _Level(
                    splits=slice(n_before, n_before + n),
                    inner=inner,
                    left=at[:n],
                    right=at[n:],
                    leaves=np.ascontiguousarray(values[children[leaves]].T)[:, :, None],
                )
            )
            n_before += n
            splits = children[inner]
        splits = np.concatenate(all_splits)
        self._low, self._middle, self._high = (
            table[splits] for table in (places.low, places.middle, places.high)
        )
        self._missing = places.missing_left[splits], places.missing_right[splits]
        part = places.part[splits]
        order = np.argsort(part, kind="stable")
        self._by_part = matrix_of_ones(part[order], order, (n_parts, len(order)))
        trees = np.arange(len(roots))
        self._all_trees = matrix_of_ones(np.zeros_like(trees), trees, (1, len(roots)))

    def add(self, chances, centred, mean, covariance):
        """Add what the trees give.

        Parameters
        ----------
        chances, centred : pair of ndarray
            Tables of the shares, and of shares times centred statistics.
        mean : ndarray of shape (k, m)
            Added to.
        covariance : ndarray of shape (k, n_parts, m)
            Added to.
        """
        whole, left, right = self._looked_up(*chances)
        np.maximum(whole, _LEAST, out=whole)
        ratio = left / whole
        given, gain, _ = self._looked_up(*centred)
        given *= ratio
        gain -= given
        self._go_down(whole, left, right, gain)
        covered = self._go_up(ratio, gain, mean)
        for into, part in zip(covariance, covered, strict=True):
            into += self._by_part @ part

    def _looked_up(self, table, missing):
        """What each split is given in all, and what of it goes left and right."""
        middle = table.take(self._middle, axis=0)
        low, high = table.take(self._low, axis=0), table.take(self._high, axis=0)
        whole, left = high - low, np.subtract(middle, low, out=low)
        right = np.subtract(high, middle, out=high)
        if missing is not None:
            for side, part in zip((left, right), self._missing, strict=True):
                more = missing.take(part, axis=0)
                side += more
                whole += more
        return whole, left, right

    def _go_down(self, whole, left, right, gain):
        """Multiply gains by the chances to reach the splits, less their own parts."""
        n_roots, m = self._all_trees.shape[1], gain.shape[1]
        reached = np.ones((n_roots, m))
        for level in self._levels:
            reached /= whole[level.splits]
            gain[level.splits] *= reached
            n = len(reached)
            children = np.empty((2 * n, m))
            np.multiply(reached, left[level.splits], out=children[:n])
            np.multiply(reached, right[level.splits], out=children[n:])
            reached = children.take(level.inner, axis=0)

    def _go_up(self, ratio, gain, mean):
        """Add up means; return gains times differences, (k, n_splits, m)."""
        k, m = mean.shape
        covered = np.empty((k, *gain.shape))
        below = np.empty((k, 0, m))
        for level in reversed(self._levels):
            n_inner = below.shape[1]
            values = np.empty((k, n_inner + level.leaves.shape[1], m))
            values[:, :n_inner] = below
            values[:, n_inner:] = level.leaves
            difference = values.take(level.left, axis=1)
            below = values.take(level.right, axis=1)
            difference -= below
            np.multiply(difference, gain[level.splits], out=covered[:, level.splits])
            difference *= ratio[level.splits]
            below += difference
        for into, roots in zip(mean, below, strict=True):
            into += (self._all_trees @ roots)[0]
        return covered


@dataclass(frozen=True, eq=False)
class _Level:
    """The splits of a block at one depth, and their children: left ones, right ones.

    Parameters
    ----------
    splits : slice
        Their positions in the block.
    inner : ndarray of intp
        Which of the children are splits, those of the next level.
    left, right : ndarray of shape (n_splits,), intp
        Where the children stand among all of them, splits first.
    leaves : ndarray of shape (k, n_leaves, 1)
        Values of the children that are leaves.
    """

    splits: slice
    inner: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaves: np.ndarray


def _roots_of_blocks(ensemble, most_splits):
    """Roots of some trees at a time, without those that are leaves."""
    tree = np.arange(ensemble.n_trees)
    n_splits = np.zeros(ensemble.n_trees, dtype=np.intp)
    for nodes in ensemble.levels():
        inner = ~ensemble.is_leaf[nodes]
        tree = tree[inner]
        n_splits += np.bincount(tree, minlength=ensemble.n_trees)
        tree = np.repeat(tree, 2)
    used = n_splits > 0
    block = (np.cumsum(n_splits[used]) - 1) // max(1, most_splits)
    roots = ensemble.roots[used]
    pieces = np.split(roots, np.flatnonzero(np.diff(block)) + 1)
    return [piece for piece in pieces if len(piece)]
