"""Which conditions rows meet, for many nodes and rows at once."""

import numpy as np

# Rows that go down the trees together: what they leave behind stays in the cache.
_ROWS_AT_ONCE = 4096
# Longer patterns are Python's integers instead of numpy's.
MAX_PATTERN_BITS = 62


def lefts(ensemble, nodes, codes, gaps):
    """Whether rows go to the left at inner nodes (m,): bool of shape (m, n_rows).

    Fast if each column of the codes is one stretch of memory. `gaps` tells which
    features have missing values in these rows, as `features_with_gaps` finds them.
    """
    split_codes = ensemble.split_codes
    features = ensemble.feature[nodes]
    taken = codes.T[features]
    left = taken <= split_codes.rank[nodes, None].astype(codes.dtype)
    at = np.flatnonzero(gaps[features] & ensemble.missing_left[nodes])
    if len(at):
        missing_at = split_codes.missing_at[nodes[at], None].astype(codes.dtype)
        left[at] |= taken[at] == missing_at
    at = np.flatnonzero(ensemble.category_set[nodes] >= 0)
    if len(at):
        table = _lefts_by_category(ensemble, nodes[at])
        left[at] = table[np.arange(len(at))[:, None], taken[at]]
    return left


def features_with_gaps(ensemble, codes):
    """Which features have missing values in rows given by their codes."""
    return (codes == ensemble.split_codes.missing.astype(codes.dtype)).any(axis=0)


def _lefts_by_category(ensemble, nodes):
    """Whether each category, and missing values behind them, go left at splits."""
    sets = ensemble.category_set[nodes]
    missing_left = ensemble.missing_left[nodes, None]
    table = np.where(
        ensemble.categories_known[sets], ensemble.categories_left[sets], missing_left
    )
    table = np.hstack([table, missing_left])
    # The code of missing values may come before the table's end.
    missing_at = ensemble.split_codes.missing_at[nodes]
    table[np.arange(len(nodes)), missing_at] = missing_left[:, 0]
    return table


def all_met(ensemble, paths, codes):
    """Which conditions rows meet, by the nodes that name them: (n_nodes, n_rows)."""
    inner = np.flatnonzero(~ensemble.is_leaf)
    left = lefts(ensemble, inner, codes, features_with_gaps(ensemble, codes))
    met = np.ones((ensemble.n_nodes, len(codes)), dtype=bool)
    met[ensemble.left[inner]] = left
    met[ensemble.right[inner]] = ~left
    for nodes, previous in paths.merged:
        met[nodes] &= met[previous]
    return met


class PatternFinder:
    """Finds the patterns of rows at units, again and again.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    groups : list of TreeUnits
        The units.
    """

    def __init__(self, ensemble, paths, groups):
        self.ensemble = ensemble
        self.groups = groups
        roots = [np.empty(0, dtype=np.intp), *(group.root for group in groups)]
        self.root_paths = RootPaths(ensemble, paths, np.concatenate(roots))

    @property
    def nbytes(self):
        """Memory of what was made ready; that of the units is theirs."""
        levels = self.root_paths.levels
        return sum(array.nbytes for level in levels for array in level)

    def find(self, codes):
        """Patterns of rows at each group of units, (n_units, n_rows)."""
        by_group = [
            np.empty((len(group), len(codes)), dtype=_pattern_dtype(group.n_bits))
            for group in self.groups
        ]
        for start in range(0, len(codes), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            self._find(codes[rows], [patterns[:, rows] for patterns in by_group])
        return by_group

    def _find(self, codes, by_group):
        gaps = features_with_gaps(self.ensemble, codes)
        at_roots = self.root_paths.patterns(codes)
        n_before = 0
        for group, patterns in zip(self.groups, by_group, strict=True):
            part = at_roots[n_before : n_before + len(group)].astype(patterns.dtype)
            for number, splits in enumerate(group.splits.T):
                bit = patterns.dtype.type(1 << (group.n_path + number))
                left = lefts(self.ensemble, splits, codes, gaps)
                part |= left.view(np.uint8) * bit
            patterns[:] = part
            n_before += len(group)


class RootPaths:
    """The nodes on the paths from the roots of trees to some nodes, level by level.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    targets : ndarray of shape (n_targets,), intp
        Nodes.
    """

    def __init__(self, ensemble, paths, targets):
        self.ensemble = ensemble
        self.dtype = _pattern_dtype(paths.n_conditions[targets].max(initial=0))
        needed = _at_and_above(ensemble, targets)
        target_of = np.full(ensemble.n_nodes, -1, dtype=np.intp)
        target_of[targets] = np.arange(len(targets))
        self.n_targets = len(targets)
        self.levels = []
        place = np.zeros(ensemble.n_nodes, dtype=np.intp)
        for nodes in ensemble.levels():
            nodes = nodes[needed[nodes]]
            if not len(nodes):
                break
            parents = ensemble.parents[nodes]
            splits, split = np.unique(parents, return_inverse=True)
            reached = np.flatnonzero(target_of[nodes] >= 0)
            slots = paths.slot[nodes, None].clip(0).astype(self.dtype)
            self.levels.append(
                (
                    place[parents],
                    splits,
                    split,
                    (ensemble.right[parents] == nodes)[:, None],
                    np.left_shift(np.ones_like(slots), slots),
                    (paths.previous[nodes, None] < 0).astype(self.dtype),
                    reached,
                    target_of[nodes[reached]],
                )
            )
            place[nodes] = np.arange(len(nodes))

    def patterns(self, codes):
        """Patterns of rows: (n_targets, n_rows); bit i for the condition of slot i.

        A new condition gets a bit of its own; one that is merged with a condition
        further up keeps that one's bit, and turns it off where the split fails.
        """
        dtype, gaps = self.dtype, features_with_gaps(self.ensemble, codes)
        at_targets = np.zeros((self.n_targets, len(codes)), dtype=dtype)
        patterns = None
        for place, splits, split, is_right, bit, is_new, reached, target in self.levels:
            if patterns is None:
                patterns = np.zeros((len(place), len(codes)), dtype=dtype)
            else:
                failed = lefts(self.ensemble, splits, codes, gaps)[split]
                failed ^= ~is_right
                patterns = patterns[place]
                patterns |= bit * is_new
                patterns &= ~(failed.view(np.uint8) * bit)
            at_targets[target] = patterns[reached]
        return at_targets


def _pattern_dtype(n_bits):
    """Smallest unsigned integers with so many bits."""
    if n_bits > MAX_PATTERN_BITS:
        return np.dtype(object)
    return np.dtype(f"u{next(n for n in (1, 2, 4, 8) if n_bits <= 8 * n)}")


def _at_and_above(ensemble, nodes):
    """Which nodes are among the given ones or above them."""
    needed = np.zeros(ensemble.n_nodes, dtype=bool)
    while len(nodes):
        needed[nodes] = True
        nodes = ensemble.parents[nodes]
        nodes = np.unique(nodes[nodes >= 0])
        nodes = nodes[~needed[nodes]]
    return needed


def distinct_patterns(patterns, n_bits):
    """Distinct patterns at each of some units, from those of rows (n_units, n_rows).

    Returns the unit of each, its pattern, both increasing, and the position of each
    row's pattern among these, (n_units, n_rows).
    """
    n = len(patterns)
    if n_bits <= 16:
        flat = patterns.astype(np.intp) + (np.arange(n)[:, None] << n_bits)
        occurs = np.zeros(n << n_bits, dtype=bool)
        occurs[flat.ravel()] = True
        present = np.flatnonzero(occurs)
        place = (np.cumsum(occurs) - 1)[flat]
        return present >> n_bits, present & ((1 << n_bits) - 1), place
    owner, present, places, n_before = [], [], [], 0
    for row, pattern in enumerate(patterns):
        distinct, place = np.unique(pattern, return_inverse=True)
        owner.append(np.full(len(distinct), row))
        present.append(distinct)
        places.append(place + n_before)
        n_before += len(distinct)
    return np.concatenate(owner), np.concatenate(present), np.stack(places)
