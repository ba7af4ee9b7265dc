"""Responses to rows with replaced columns, from the trees of a model.

Only the replacing values pass through the model's own encoder, so that they are
compared as the model compares them. The model predicts a few rows as a check.
"""

from functools import cached_property

import numpy as np

from sklearn_interpret._core.statistics.weighted import Averages, Moments, RowMoments
from sklearn_interpret._core.trees.effects.condition_steps import MovedFeatures
from sklearn_interpret._core.trees.effects.curves import TreeCurves
from sklearn_interpret._core.trees.effects.leaf_weights import order_of_likeness
from sklearn_interpret._core.trees.effects.responses import TreeEffects
from sklearn_interpret._model.parallel import block_rows, run_in_threads, slices

# Tasks for all workers. The number is fixed: sums must not depend on the workers.
_MOST_TASKS = 16

# Rows that are sorted together, at least: in fewer rows few neighbours are alike.
_LEAST_IN_ORDER = 2**14

# Memory of curves over grids. Fixed: sums must not depend on the working memory.
_BYTES_OF_CURVES = 2**26

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
        self._groups = [
            (which, list(_parts(trees, rows, [replacements[entry] for entry in which])))
            for which in _disjoint([part.columns for part in replacements])
        ]

    @cached_property
    def n_outputs(self):
        """Number of outputs."""
        return self._trees.of_codes(self._codes[:1]).shape[1]

    def most_sums_of_pairs(self, n_pairs, n_points):
        """About how many sums averages of pairs take, with `n_points` in total."""
        ensemble, n_rows = self._trees.ensemble, len(self._codes)
        n_responses = 0 if self._trees.additive else n_rows * n_points
        return sums_of_passes(ensemble, n_rows, n_pairs, n_pairs) + n_responses

    def averages(self, weights, masses=None, **loop):
        """Weighted means over the rows."""
        if not self._trees.additive:
            return self.averages_of_curves(weights, masses, **loop)
        means = {}
        for which, effects in self._effects():
            leaf_weights = self._leaf_weights(effects, weights, **loop)
            averages = effects.averages(leaf_weights, weights.sum())
            means.update(zip(which, averages, strict=True))
        return TreeAverages(
            [means[entry] for entry in sorted(means)], self, weights, masses
        )

    def averages_of_curves(self, weights, masses, **loop):
        """Weighted means and standard errors, from the curves of single rows."""
        reduce = RowMoments(weights, masses)
        blocks = self.responses(reduce, merge=Moments.merge, **loop)
        return Averages.of_blocks(blocks, self.n_outputs)

    def responses(self, reduce, *, merge=None, **loop):
        """Reduced responses to all replaced rows, in the order of the rows."""

        def tasks(which, effects):
            curves = TreeCurves(effects)
            size = curves.block_rows(self._codes, self._bytes_of_curves)
            for rows in row_tasks(len(self._codes), size):
                given = curves, self._trees, self._codes, rows, size, which, reduce
                yield _curves, given, merge

        return self._reduced(tasks, merge, **loop)

    def differences(self, steps, cells, reduce, *, merge=None, **loop):
        """Reduced changes of the response as rows step to the neighbouring points."""

        def tasks(which, effects):
            own = [(entry, steps[entry]) for entry in which]
            for rows in row_tasks(len(self._codes), effects.block_rows):
                given = effects, self._codes, cells, rows, own, reduce
                yield _differences, given, merge

        return self._reduced(tasks, merge, **loop)

    @property
    def _bytes_of_curves(self):
        return _BYTES_OF_CURVES

    def _reduced(self, tasks, merge, **loop):
        """For each replacement the results of all of its tasks for `_collected`."""
        found = {}
        for which, effects in self._effects():
            for pairs in _run(_collected, list(tasks(which, effects)), **loop):
                _collect(found, pairs, merge)
        n_replacements = sum(len(which) for which, _ in self._groups)
        return [found.get(entry, []) for entry in range(n_replacements)]

    def _effects(self):
        """Replacements that share a pass over the trees, and their effects."""
        trees, n_rows = self._trees.ensemble, len(self._codes)
        for which, parts in self._groups:
            yield which, TreeEffects(trees, trees.value, trees.base, parts, n_rows)

    def _leaf_weights(self, made, weights, **loop):
        """Sum over all rows of the arrays that ``made.leaf_weights`` returns."""
        total = None
        for codes, own in self._portions(made, weights):
            tasks = [
                (made, codes, own, rows, made.block_rows)
                for rows in row_tasks(len(codes), made.block_rows)
            ]
            for part in _run(_sum_of_weights, tasks, **loop):
                total = _added(total, part)
        return total

    def _portions(self, made, weights):
        """Codes and weights of rows, sorted by likeness if that makes a pass fast."""
        if not getattr(made, "wants_order", False):
            yield self._codes, weights
            return
        most = max(_LEAST_IN_ORDER, block_rows(self._codes[:1].nbytes))
        n_pieces = -(-len(self._codes) // most)
        for piece in slices(len(self._codes), -(-len(self._codes) // n_pieces)):
            codes = self._codes[piece]
            order = order_of_likeness(self._trees.ensemble, codes)
            codes = np.array([column.take(order) for column in codes.T]).T
            yield codes, weights[piece].take(order)


class TreeAverages:
    """`Averages` of which the errors are computed at their first use, from curves."""

    def __init__(self, means, model, weights, masses):
        self.means = means
        self._model, self._weights, self._masses = model, weights, masses

    @cached_property
    def standard_errors(self):
        """Standard errors of the means."""
        averages = self._model.averages_of_curves(self._weights, self._masses)
        return averages.standard_errors

    def __getstate__(self):
        # A look at the errors is no change of state.
        state = vars(self).items()
        return {name: value for name, value in state if name != "standard_errors"}


def _parts(trees, rows, replacements):
    """The features that move and their points, for replacements without shared columns.

    All values are encoded in copies of one row: a feature of the trees is made from one
    column only.
    """
    height = max(part.n_variants for part in replacements)
    X = rows.take([0])
    columns, levels, codes = [], [], []
    for part in replacements:
        if part.n_variants:
            columns += part.columns
            levels += part.levels
            # Shorter ones stay at their last point.
            last = np.minimum(np.arange(height), part.n_variants - 1)
            codes += [places[:, last] for places in part.codes]
    native = (
        X.tiles(0, 1, height).replaced(columns, levels, codes) if columns else X.native
    )
    numbers = trees.model.encode(native)
    codes = trees.ensemble.codes(numbers)
    if not np.isfinite(numbers).all():  # the model may refuse missing values
        trees.check(native, codes)
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


def _run(function, tasks, *, n_jobs=None, verbose=0, on_block=None):
    """Results of the tasks as they come, each reported."""
    for result in run_in_threads(function, tasks, n_jobs=n_jobs, verbose=verbose):
        yield result
        if on_block is not None:
            on_block()


def _collect(found, pairs, merge):
    """Append the results of entries to those before them, or merge them."""
    for entry, result in pairs:
        kept = found.setdefault(entry, [])
        if merge is not None and kept:
            result = merge(kept.pop(), result)
        kept.append(result)


def _collected(function, given, merge):
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
        for part, some, sums in curves.curves(codes[block]):
            if sums.shape[1]:
                index = block.start + np.arange(some.start, some.stop)
                points, entry = slice(0, sums.shape[1]), which[part]
                yield entry, reduce(entry, index, points, trees.of_sums(sums))


def _differences(effects, codes, cells, rows, own, reduce):
    """Reduced differences of some rows, with their entries."""
    for part in _within(rows, effects.block_rows):
        table, some = cells[part], codes[part]
        taken = [steps.taken(table) for _, steps in own]
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
