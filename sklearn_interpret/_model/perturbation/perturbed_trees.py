"""Responses to perturbed rows of models that are sums of trees, from the trees.

Only the values that columns are replaced by pass through the model's own encoder, so
that they are compared as the model does.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._core.trees.effects.leaf_weights import order_of_likeness
from sklearn_interpret._core.trees.effects.responses import TreeEffects
from sklearn_interpret._core.trees.effects.steps import MovedFeatures
from sklearn_interpret._model.parallel import block_rows, run_in_threads, slices

# Pieces of work for all workers; their number must not depend on that of the workers.
_MOST_TASKS = 16

# Rows that are put in order together, at least: among so many, enough are alike.
_LEAST_IN_ORDER = 2**14

# What a pass over the trees takes besides its rows, and a pair of parts besides leaves.
_ROWS_OF_PASS = 500
_SUMS_OF_PAIR = 5000


class PerturbedTrees:
    """Rows of a sample, and what their columns are replaced by, in codes of trees.

    It has the methods of `PerturbedResponses`.

    Parameters
    ----------
    trees : TreeResponse
        A plain sum of trees.
    rows : Rows
        The rows to perturb.
    replacements : list of Replacement
        What to replace, the same for every row.

    Raises
    ------
    UnreadableModelError
        The trees do not give what the model returns.
    """

    def __init__(self, trees, rows, replacements):
        self._ensemble = trees.ensemble
        self._codes = trees.checked_codes(rows)
        # Replacements of different columns are worked on at once.
        self._groups = _disjoint([part.columns for part in replacements])
        self._parts = [None] * len(replacements)
        for which in self._groups:
            chosen = [replacements[entry] for entry in which]
            parts = _parts(trees, rows, chosen)
            for entry, part in zip(which, parts, strict=True):
                self._parts[entry] = part

    @property
    def n_outputs(self):
        """Number of outputs."""
        return len(self._ensemble.base)

    def most_sums(self, n_pairs, n_points):
        """About how many sums so many pairs take, each a pass over the trees."""
        return sums_of_passes(self._ensemble, len(self._codes), n_pairs, n_pairs)

    def averages(self, weights, masses=None, *, n_jobs=None, verbose=0, on_block=None):
        """Weighted means over the rows."""
        means = [None] * len(self._parts)
        for which, effects in self._effects():
            leaf_weights = 0
            for tasks in self._leaf_tasks(effects, weights):
                done = run_in_threads(
                    _leaf_weights, tasks, n_jobs=n_jobs, verbose=verbose
                )
                for part in reported(done, on_block):
                    leaf_weights += part
            averages = effects.averages(leaf_weights, weights.sum())
            for entry, mean in zip(which, averages, strict=True):
                means[entry] = mean
        return TreeAverages(means, self, weights, masses)

    def _leaf_tasks(self, effects, weights):
        """Lists of tasks for `_leaf_weights`, one list after the other."""
        size = effects.rows_at_once
        if not effects.wants_order:
            yield [
                (effects, self._codes, weights, rows)
                for rows in row_tasks(len(self._codes), size)
            ]
            return
        most = max(_LEAST_IN_ORDER, block_rows(self._codes[:1].nbytes))
        n_pieces = -(-len(self._codes) // most)
        for piece in slices(len(self._codes), -(-len(self._codes) // n_pieces)):
            codes = self._codes[piece]
            order = order_of_likeness(self._ensemble, codes)
            codes = np.array([column.take(order) for column in codes.T]).T
            own = weights[piece].take(order)
            yield [(effects, codes, own, rows) for rows in row_tasks(len(codes), size)]

    def responses(self, reduce, *, merge=None, **loop):
        """Reduced responses to all perturbed rows."""

        def tasks(which, effects):
            for rows in row_tasks(len(self._codes), effects.curves_at_once):
                yield _curves, (effects, self._codes, rows, which, reduce), merge

        return self._reduced(tasks, merge, **loop)

    def differences(self, steps, cells, reduce, *, merge=None, **loop):
        """Reduced changes of the response as rows step to the neighbouring points."""

        def tasks(which, effects):
            own = [(entry, steps[entry]) for entry in which]
            for rows in row_tasks(len(self._codes), effects.rows_at_once):
                given = effects, self._codes, cells, rows, own, reduce
                yield _differences, given, merge

        return self._reduced(tasks, merge, **loop)

    def _reduced(self, tasks, merge, *, n_jobs=None, verbose=0, on_block=None):
        """For each replacement what all of its tasks for `_collected` give."""
        found = {}
        for which, effects in self._effects():
            done = run_in_threads(
                _collected, list(tasks(which, effects)), n_jobs=n_jobs, verbose=verbose
            )
            for pairs in reported(done, on_block):
                _collect(found, pairs, merge)
        return [found.get(entry, []) for entry in range(len(self._parts))]

    def _effects(self):
        """Replacements that are worked on at once, and their effects."""
        trees = self._ensemble
        for which in self._groups:
            parts = [self._parts[entry] for entry in which]
            n_rows = len(self._codes)
            yield which, TreeEffects(trees, trees.value, trees.base, parts, n_rows)


@dataclass(frozen=True)
class Averages:
    """Means over rows, for each replacement (n_variants, k), and their errors.

    With masses, the errors of what is centred by them follow: (n_variants, 2 k).
    """

    means: list
    standard_errors: list


class TreeAverages:
    """As `Averages`; the errors take the responses to single rows, the means do not."""

    def __init__(self, means, model, weights, masses):
        self.means = means
        self._model, self._weights, self._masses = model, weights, masses

    @cached_property
    def standard_errors(self):
        """Standard errors of the means, computed at their first use."""
        return averages_of(self._model, self._weights, self._masses).standard_errors

    def __getstate__(self):
        # A look at the errors is no change of state.
        state = vars(self).items()
        return {name: value for name, value in state if name != "standard_errors"}


def averages_of(model, weights, masses=None, **loop):
    """Weighted means of responses that a model gives block by block: `Averages`."""
    reduce = RowMoments(weights, masses)
    blocks = model.responses(reduce, merge=Moments.merge, **loop)
    none = np.empty((0, model.n_outputs))
    means = [
        np.concatenate([none, *(b.mean[:, : model.n_outputs] for b in parts)])
        for parts in blocks
    ]
    errors = [
        np.concatenate([b.standard_error for b in parts] or [none]) for parts in blocks
    ]
    return Averages(means, errors)


class RowMoments:
    """Reduces responses (n_rows, n_variants, k) to moments over the rows.

    Where there are masses of the variants, responses less the row's mean by them stand
    behind the responses themselves: (n_rows, n_variants, 2 k).
    """

    def __init__(self, weights, masses=None):
        self.weights, self.masses = weights, masses

    def __call__(self, which, index, variants, responses):
        masses = None if self.masses is None else self.masses[which]
        if masses is not None:
            means = np.tensordot(responses, masses, (1, 0))
            shapes = responses - means[:, None, :]
            responses = np.concatenate([responses, shapes], axis=2)
        return Moments.of_rows(responses, self.weights[index])


def _parts(trees, rows, replacements):
    """What moves, and where to, in codes; the replacements share no column.

    All of them are made in one and the same row: a feature of the trees is made from
    one column.
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
    """About how many sums over rows and leaves are made, or others of like cost."""
    of_pass = np.count_nonzero(ensemble.is_leaf) * float(n_rows + _ROWS_OF_PASS)
    return n_passes * of_pass + n_pairs * float(n_rows + _SUMS_OF_PAIR)


def row_tasks(n_rows, size):
    """Slices of rows for workers, each a multiple of `size` of them."""
    return slices(n_rows, size * -(-n_rows // (size * _MOST_TASKS)))


def reported(results, on_block):
    """Results as they come, each reported."""
    for result in results:
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


def _leaf_weights(effects, codes, weights, rows):
    """Weight of some rows at each leaf that they reach but for one condition."""
    return effects.leaf_weights(codes[rows], weights[rows])


def _curves(effects, codes, rows, which, reduce):
    """Reduced curves of some rows, with their entries."""
    size = effects.curves_at_once
    # Codes are made for many rows, and curves for few of them.
    for part in _within(rows, size * max(1, effects.rows_at_once // size)):
        some = codes[part]
        for here in slices(len(some), size):
            index = part.start + np.arange(here.start, here.stop)
            for entry, curve in zip(which, effects.curves(some[here]), strict=True):
                if curve.shape[1]:
                    yield entry, reduce(entry, index, slice(0, curve.shape[1]), curve)


def _differences(effects, codes, cells, rows, own, reduce):
    """Reduced differences of some rows, with their entries."""
    for part in _within(rows, effects.rows_at_once):
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
