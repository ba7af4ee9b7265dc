"""Responses to rows with replaced columns, from the trees of a model."""

import numpy as np

from sklearn_interpret._core.statistics.weighted import Averages
from sklearn_interpret._core.trees.effects.curves import TreeCurves
from sklearn_interpret._core.trees.effects.leaf_weights import order_of_likeness
from sklearn_interpret._core.trees.effects.tree_effects import (
    MovedFeatures,
    TreeEffects,
)
from sklearn_interpret._model.parallel import (
    batch_rows,
    block_rows,
    rows_in_memory,
    run_in_threads,
    slices,
)
from sklearn_interpret._model.progress import counted
from sklearn_interpret._model.replacement.replacement import averages_of_rows

# Tasks for all workers. The number is fixed: sums must not depend on the workers.
_MOST_TASKS = 16

# Rows that are sorted together, at least: in fewer rows few neighbours are alike.
_LEAST_IN_ORDER = 2**14

# Memory of curves over grids. Fixed: sums must not depend on the working memory.
_BYTES_OF_CURVES = 2**26

# Memory of the steps of conditions for each node and joint point, and least number of
# points for which a pass over the nodes is made.
_BYTES_OF_STEPS, _LEAST_POINTS = 16, 64

# Fixed cost of a pass over the trees in rows, and of a pair of parts in sums.
_ROWS_OF_PASS = 500
_SUMS_OF_PAIR = 5000


class ReplacedTrees:
    """Responses to replaced rows: sums of trees, or a function of these sums.

    It has the methods of `ReplacedResponses`; differences are of sums only.

    Parameters
    ----------
    trees : TreeResponse
        The trees, and the link from their sums to the response.
    rows : Rows
        The rows.
    replacements : list of Replacement
        The new values, the same for every row.

    Raises
    ------
    UnreadableModelError
        The trees do not give the responses of the model.
    """

    def __init__(self, trees, rows, replacements):
        self._trees, self._codes = trees, trees.checked_codes(rows)
        # Replacements of different columns share a pass over the trees.
        self._groups = []
        for which in _disjoint([part.columns for part in replacements]):
            chosen = [replacements[entry] for entry in which]
            self._groups.append((which, list(_moved_features(trees, rows, chosen))))

    @property
    def n_outputs(self):
        """Number of outputs."""
        return self._trees.of_codes(self._codes[:1]).shape[1]

    def most_sums_of_pairs(self, n_pairs, n_points):
        """About how many sums averages of pairs take, with `n_points` in total."""
        ensemble, n_rows = self._trees.ensemble, len(self._codes)
        n_responses = 0 if self._trees.additive else n_rows * n_points
        return sums_of_passes(ensemble, n_rows, n_pairs, n_pairs) + n_responses

    def averages(self, weights, masses=None, *, with_errors=True, n_jobs=None):
        """Weighted means over the rows; errors are from the curves of single rows."""
        if with_errors or not self._trees.additive:
            return averages_of_rows(self, weights, masses, n_jobs)
        means, total, ensemble = {}, weights.sum(), self._trees.ensemble
        for which, parts in counted(self._groups):
            averages = [np.empty((part.n_points, ensemble.n_outputs)) for part in parts]
            leaf_weights = None
            for points in _points_in_memory(parts, ensemble.n_nodes):
                effects = self._effects_of(map(MovedFeatures.at, parts, points))
                if leaf_weights is None:  # they do not depend on the points
                    leaf_weights = self._summed_leaf_weights(effects, weights, n_jobs)
                found = effects.averages(leaf_weights, total)
                for into, own, values in zip(averages, points, found, strict=True):
                    into[own] = values
            means.update(zip(which, averages, strict=True))
        return Averages.of_means([means[entry] for entry in sorted(means)], total)

    def responses(self, reduce, *, merge=None, n_jobs=None):
        """Reduced responses to all replaced rows, in the order of the rows."""

        def tasks(which, effects):
            curves = TreeCurves(effects)
            size = curves.block_rows(self._bytes_of_curves)
            given = curves, self._trees, self._codes
            for rows in row_tasks(len(self._codes), size):
                yield _curves, merge, *given, rows, size, which, reduce

        return self._reduced(tasks, merge, n_jobs)

    def differences(self, steps, cells, reduce, *, merge=None, n_jobs=None):
        """Reduced changes of the response as rows step to the neighbouring points."""

        def tasks(which, effects):
            own = [(entry, steps[entry]) for entry in which]
            for rows in row_tasks(len(self._codes), effects.block_rows):
                yield (
                    _differences,
                    merge,
                    effects,
                    self._codes,
                    cells,
                    rows,
                    own,
                    reduce,
                )

        return self._reduced(tasks, merge, n_jobs)

    @property
    def _bytes_of_curves(self):
        return _BYTES_OF_CURVES

    def _reduced(self, tasks, merge, n_jobs):
        """For each replacement the results of all of its tasks for `_collected`."""
        found = {}
        for which, effects in self._effects():
            todo = list(tasks(which, effects))
            for pairs in run_in_threads(_collected, todo, n_jobs=n_jobs):
                _collect(found, pairs, merge)
        n_replacements = sum(len(which) for which, _ in self._groups)
        return [found.get(entry, []) for entry in range(n_replacements)]

    def _effects(self):
        """Replacements that share a pass over the trees, and their effects."""
        for which, parts in counted(self._groups):
            yield which, self._effects_of(parts)

    def _effects_of(self, parts):
        trees, n_rows = self._trees.ensemble, len(self._codes)
        return TreeEffects(trees, trees.value, trees.base, list(parts), n_rows)

    def _summed_leaf_weights(self, made, weights, n_jobs):
        """Sum over all rows of the arrays that ``made.leaf_weights`` returns."""
        total = None
        for codes, own in self._portions(made, weights):
            tasks = [
                (made, codes, own, rows, made.block_rows)
                for rows in row_tasks(len(codes), made.block_rows)
            ]
            for part in run_in_threads(_sum_of_weights, tasks, n_jobs=n_jobs):
                total = _added(total, part)
        return total

    def _portions(self, made, weights):
        """Codes and weights of rows, sorted by likeness if that makes a pass fast."""
        if not made.wants_order:
            yield self._codes, weights
            return
        most = max(_LEAST_IN_ORDER, block_rows(self._codes[:1].nbytes))
        n_pieces = -(-len(self._codes) // most)
        for piece in slices(len(self._codes), -(-len(self._codes) // n_pieces)):
            codes = self._codes[piece]
            order = order_of_likeness(self._trees.ensemble, codes)
            codes = np.array([column.take(order) for column in codes.T]).T
            yield codes, weights[piece].take(order)


def _points_in_memory(parts, n_nodes):
    """Blocks of the points of all parts, as a slice for each part.

    Along joint points of several features, conditions begin and cease to hold many
    times. A part has points in each block: the same ones, if these are few.
    """
    joint = [p.n_points for p in parts if len(p.features) > 1 and len(p.shape) == 1]
    most = max(_LEAST_POINTS, rows_in_memory(_BYTES_OF_STEPS * n_nodes))
    n_blocks = max(1, -(-max(joint, default=0) // most))
    if any(len(part.shape) > 1 for part in parts):
        n_blocks = 1
    for block in range(n_blocks):
        yield [
            slice(
                block * part.n_points // n_blocks,
                -(-(block + 1) * part.n_points // n_blocks),
            )
            for part in parts
        ]


def _moved_features(trees, rows, replacements):
    """The features that move and their points, for replacements without shared columns.

    All values are encoded in copies of one row: a feature of the trees is made from one
    column only.
    """
    height = max(part.n_variants for part in replacements)
    X, varied = rows.take([0]), [part for part in replacements if part.n_variants]
    columns = [column for part in varied for column in part.columns]
    levels = [values for part in varied for values in part.levels]
    found = []
    for some in slices(max(height, 1), batch_rows(X.row_bytes)):
        native, points = X.native, np.arange(some.start, some.stop)
        if columns:
            # Shorter ones stay at their last point.
            codes = [
                places[:, np.minimum(points, part.n_variants - 1)]
                for part in varied
                for places in part.codes
            ]
            native = X.tiles(0, 1, len(points)).replaced(columns, levels, codes)
        numbers = trees.model.encode(native)
        found.append(trees.ensemble.codes(numbers))
        if not np.isfinite(numbers).all():  # the model may refuse missing values
            trees.check_codes(native, found[-1])
    codes = np.concatenate(found)
    for part in replacements:
        features = np.flatnonzero(np.isin(trees.model.columns, part.columns))
        shape = part.shape or (part.n_variants,)
        yield MovedFeatures(features, codes[: part.n_variants][:, features], shape)


def _disjoint(sets):
    """Positions of the sets in groups in which no two share a member."""
    groups = []
    for position, members in enumerate(map(set, sets)):
        for group, taken in groups:
            if not taken & members:
                group.append(position)
                taken |= members
                break
        else:
            groups.append(([position], members))
    return [group for group, _ in groups]


def sums_of_passes(ensemble, n_rows, n_passes, n_pairs):
    """Estimated cost of passes over the trees and of pairs, in sums over rows."""
    of_pass = np.count_nonzero(ensemble.is_leaf) * float(n_rows + _ROWS_OF_PASS)
    return n_passes * of_pass + n_pairs * float(n_rows + _SUMS_OF_PAIR)


def row_tasks(n_rows, size):
    """Slices of rows for workers, each a multiple of `size` of them."""
    return slices(n_rows, size * -(-n_rows // (size * _MOST_TASKS)))


def _collect(found, pairs, merge):
    """Append the results of entries to those before them, or merge them."""
    for entry, result in pairs:
        kept = found.setdefault(entry, [])
        if merge is not None and kept:
            result = merge(kept.pop(), result)
        kept.append(result)


def _collected(function, merge, *given):
    """Entries and results that a function yields, merged if `merge` is given."""
    found = {}
    _collect(found, function(*given), merge)
    return [(entry, result) for entry, kept in found.items() for result in kept]


def _sum_of_weights(made, codes, weights, rows, size):
    """Sum of ``made.leaf_weights`` over some of the rows, `size` at a time."""
    total = None
    for part in _within(rows, size):
        total = _added(total, made.leaf_weights(codes[part], weights[part]))
    return total


def _added(total, part):
    """The sum of two arrays, or of two lists of them; the first is written over."""
    if total is None:
        return part
    if isinstance(total, np.ndarray):
        return np.add(total, part, out=total)
    for sums, more in zip(total, part, strict=True):
        sums += more
    return total


def _curves(curves, trees, codes, rows, size, which, reduce):
    """Reduced responses of some rows at all points, with their entries."""
    for block in _within(rows, size):
        for part, sums in curves.curves(codes[block]):
            if sums.shape[1]:
                index = np.arange(block.start, block.stop)
                points, entry = slice(0, sums.shape[1]), which[part]
                yield entry, reduce(entry, index, points, trees.of_sums(sums))


def _differences(effects, codes, cells, rows, own, reduce):
    """Reduced differences of some rows, with their entries."""
    for part in _within(rows, effects.block_rows):
        table, some = cells[part], codes[part]
        taken = [steps.row_steps(table) for _, steps in own]
        changes = []
        for kind in range(max(map(len, taken))):
            ends = np.full((len(some), len(own)), -1)
            for column, (_, steps) in enumerate(own):
                if kind < len(taken[column]):
                    ends[:, column] = steps.ends(taken[column][kind])
            changes.append(effects.differences(some, ends))
        index = np.arange(part.start, part.stop)
        for column, (entry, _) in enumerate(own):
            kinds = [change[:, column] for change in changes[: len(taken[column])]]
            yield entry, reduce(entry, index, taken[column], kinds)


def _within(rows, step):
    """Slices of a slice of rows."""
    for part in slices(rows.stop - rows.start, step):
        yield slice(rows.start + part.start, rows.start + part.stop)
