"""Responses to altered rows of models that are sums of trees, exact and without asking.

What `perturbed` finds by sending altered rows to the model
follows here from the trees themselves. Only the values that columns are exchanged for
pass through the model's own encoder, so that they are compared as the model does.
"""

import numpy as np

from sklearn_interpret._core.trees.effects.leaf_weights import order_of_likeness
from sklearn_interpret._core.trees.effects.responses import TreeEffects
from sklearn_interpret._core.trees.effects.steps import MovedFeatures
from sklearn_interpret._model.parallel import portion_rows, run_in_threads, slices
from sklearn_interpret._model.rows.lazy_rows import Stretch
from sklearn_interpret._model.trees.additive import additive_trees
from sklearn_interpret._model.trees.coded_rows import CodedRows, TellingRows
from sklearn_interpret.exceptions import UnreadableModelError

# Pieces of work for all workers; their number must not depend on that of the workers.
_MOST_TASKS = 16

# Rows that are put in order together, at least: among so many, enough are alike.
_LEAST_IN_ORDER = 2**14


class AlteredTrees:
    """Rows of a sample, and what their columns are exchanged for, in codes of trees.

    Parameters
    ----------
    response : Response
        The model.
    rows : Rows
        The rows to alter.
    replacements : list of Replacement
        What to exchange, the same for every row.
    shapes : list of tuple of int
        For each replacement the grid that its variants make up: the number of points
        along one axis, or two.

    Raises
    ------
    UnreadableModelError
        The response is no sum of trees, or none that can be read.
    """

    def __init__(self, response, rows, replacements, shapes):
        trees = additive_trees(response)
        self._ensemble, self._values, self._base = (
            trees.model.ensemble,
            trees.values,
            trees.base,
        )
        coded = CodedRows(trees.model, self._ensemble, rows)
        telling = TellingRows(coded)
        self._codes = coded.seen(telling)
        telling.check(trees, response)
        self._parts = [None] * len(replacements)
        for which in _apart([part.columns for part in replacements]):
            chosen = [replacements[entry] for entry in which]
            for entry, codes in zip(
                which, _points(trees, response, rows, chosen), strict=True
            ):
                self._parts[entry] = MovedFeatures(*codes, shapes[entry])

    @property
    def n_outputs(self):
        """Number of outputs."""
        return len(self._base)

    def averages(self, weights, *, n_jobs=None, verbose=0, on_block=None):
        """Weighted means of the responses over the rows.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,)
            Weights.
        n_jobs : int or None, default=None
            Workers.
        verbose : int, default=0
            Passed to joblib.
        on_block : callable, optional
            Called with no arguments after each block of work.

        Returns
        -------
        list of ndarray of shape (n_variants, n_outputs)
            For each replacement.
        """
        found = [None] * len(self._parts)
        for which, effects in self._effects():
            total = 0
            for tasks in self._arrivals(effects, weights):
                for arrived in run_in_threads(
                    _arrivals, tasks, n_jobs=n_jobs, verbose=verbose
                ):
                    total += arrived
                    if on_block is not None:
                        on_block()
            averages = effects.averages(total, weights.sum())
            for entry, average in zip(which, averages, strict=True):
                found[entry] = average
        return found

    def _arrivals(self, effects, weights):
        """Tasks for `_arrivals`, some after the other."""
        if not effects.wants_order:
            yield [
                (effects, Stretch(self._codes, rows), weights[rows])
                for rows in self._tasks(effects.rows_at_once)
            ]
            return
        for piece in self._pieces():
            codes = self._codes[piece]
            order = order_of_likeness(self._ensemble, codes)
            own = weights[piece]
            yield [
                (effects, _Ordered(codes, order[rows]), own.take(order[rows]))
                for rows in _tasks(len(codes), effects.rows_at_once)
            ]

    def _pieces(self):
        """Slices of nearly equally many rows that are put in order together."""
        n_rows = len(self._codes)
        most = max(_LEAST_IN_ORDER, portion_rows(self._codes[:1].nbytes))
        return slices(n_rows, -(-n_rows // -(-n_rows // most)))

    def responses(self, reduce, *, merge=None, n_jobs=None, verbose=0, on_block=None):
        """Responses to all altered rows, reduced block by block.

        As `altered_responses` gives them, all
        variants of a row in one block.

        Parameters
        ----------
        reduce, merge, n_jobs, verbose, on_block : object
            As there.

        Returns
        -------
        list of list
            As there.
        """
        found = [[] for _ in self._parts]
        for which, effects in self._effects():
            tasks = [
                (effects, Stretch(self._codes, rows), rows.start, which, reduce)
                for rows in self._tasks(effects.curves_at_once)
            ]
            blocks = run_in_threads(_curves, tasks, n_jobs=n_jobs, verbose=verbose)
            _collect(found, blocks, merge, on_block)
        return found

    def differences(
        self, cells, steps, reduce, *, merge, n_jobs=None, verbose=0, on_block=None
    ):
        """Changes of the response as rows step to their neighbouring points.

        Parameters
        ----------
        cells : ndarray of shape (n_rows, n_axes) or MadeRows
            Where the rows are.
        steps : list of callable
            For each replacement, ``steps(cells)``: what steps the rows with these
            cells take. It has `ends`: for each kind of step an ndarray of shape
            (n_rows,), the variant that each row steps to; -1 where it takes none.
        reduce : callable
            ``reduce(which, index, steps, differences)``: the number of the
            replacement, the rows' positions, what its `steps` returned, and for each
            kind of step the changes, (n_rows, n_outputs).
        merge : callable
            As in `altered_responses`.
        n_jobs, verbose, on_block : object
            As there.

        Returns
        -------
        list of list
            As there.
        """
        found = [[] for _ in self._parts]
        for which, effects in self._effects():
            chosen = [(entry, steps[entry]) for entry in which]
            tasks = [
                (
                    effects,
                    Stretch(self._codes, rows),
                    Stretch(cells, rows),
                    rows.start,
                    chosen,
                    reduce,
                )
                for rows in self._tasks(effects.rows_at_once)
            ]
            blocks = run_in_threads(_differences, tasks, n_jobs=n_jobs, verbose=verbose)
            _collect(found, blocks, merge, on_block)
        return found

    def _effects(self):
        """Replacements that do not share features, and what moving them does."""
        for which in _apart([part.features for part in self._parts]):
            parts = [self._parts[entry] for entry in which]
            trees = self._ensemble, self._values, self._base
            yield which, TreeEffects(*trees, parts, n_rows=len(self._codes))

    def _tasks(self, size):
        """Slices of rows, each a multiple of `size` of them."""
        return _tasks(len(self._codes), size)


def _tasks(n_rows, size):
    """Slices of so many rows, each a multiple of `size` of them."""
    size *= -(-n_rows // (size * _MOST_TASKS))
    return list(slices(n_rows, size))


def _collect(found, blocks, merge, on_block):
    """Put reduced blocks of rows, as they come, behind or into those before them."""
    for reduced in blocks:
        for entry, part in reduced:
            if merge is not None and found[entry]:
                found[entry] = [merge(found[entry][0], part)]
            else:
                found[entry].append(part)
        if on_block is not None:
            on_block()


def read_altered(method, response, rows, replacements, shapes):
    """The trees to work with, or None where the model is to be asked.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" works with trees where they can be read, "tree" wants them.
    response, rows, replacements, shapes : object
        As :class:`AlteredTrees` takes them.

    Returns
    -------
    AlteredTrees or None

    Raises
    ------
    UnreadableModelError
        With "tree".
    """
    if method == "brute":
        return None
    try:
        return AlteredTrees(response, rows, replacements, shapes)
    except UnreadableModelError:
        if method == "tree":
            raise
        return None


def _points(trees, response, rows, replacements):
    """Features that replacements of different columns move, and their codes.

    All of them move at once, in one and the same row: a feature of the trees is made
    from one column.
    """
    model = trees.model
    height = max(part.n_variants for part in replacements)
    moves = [part for part in replacements if part.n_variants]
    columns, levels, codes = [], [], []
    for part in moves:
        columns += part.columns
        levels += part.levels
        codes += [_lengthened(places, height) for places in part.codes]
    X = rows.take([0]).native
    if moves:
        X = rows.take([0]).tiles(0, 1, height).replaced(columns, levels, codes)
    numbers = model.encode(X)
    codes = model.ensemble.codes(numbers)
    if not np.isfinite(numbers).all():  # the model may refuse missing values
        trees.check(response, X, codes)
    for part in replacements:
        features = np.flatnonzero(np.isin(model.columns, part.columns))
        yield features, codes[: part.n_variants][:, features]


def _lengthened(places, length):
    """Places (1, n) as (1, length), the last one repeated."""
    return places[:, np.minimum(np.arange(length), places.shape[1] - 1)]


def _apart(sets):
    """Groups of sets in which no two share a member."""
    groups = []
    for position, members in enumerate(map(set, sets)):
        for group, taken in groups:
            if not taken & members:
                group.append(position)
                taken |= members
                break
        else:
            groups.append(([position], set(members)))
    return [group for group, _ in groups]


class _Ordered:
    """Codes of some rows in an order of their own.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), int
        Codes of all rows.
    order : ndarray of shape (n,), intp
        The rows.
    """

    def __init__(self, codes, order):
        self._codes, self._order = codes, order

    def __len__(self):
        return len(self._order)

    def __getitem__(self, part):
        order = self._order[part]
        taken = np.empty((len(order), self._codes.shape[1]), self._codes.dtype, "F")
        for j in range(taken.shape[1]):
            taken[:, j] = self._codes[:, j].take(order)
        return taken

    def __reduce__(self):
        # Only the rows themselves travel.
        return type(self), (self[:], np.arange(len(self)))


def _arrivals(effects, codes, weights):
    """Sum of the leaf weights of some rows."""
    return effects.leaf_weights(codes, weights)


def _curves(effects, codes, start, which, reduce):
    found = []
    size = effects.curves_at_once
    # Codes are made for many rows, and curves for few of them.
    for part in slices(len(codes), size * max(1, effects.rows_at_once // size)):
        some = codes[part]
        for rows in slices(len(some), size):
            answers = effects.curves(some[rows])
            index = np.arange(rows.start, rows.stop) + start + part.start
            found += [
                (entry, reduce(entry, index, slice(0, answer.shape[1]), answer))
                for entry, answer in zip(which, answers, strict=True)
                if answer.shape[1]
            ]
    return found


def _by_kind(steps, n_rows):
    """Ends of rows for each kind of step, -1 where a part lacks it."""
    for kind in range(max(len(part.ends) for part in steps)):
        ends = np.full((n_rows, len(steps)), -1)
        for column, part in enumerate(steps):
            if kind < len(part.ends):
                ends[:, column] = part.ends[kind]
        yield ends


def _differences(effects, codes, cells, start, chosen, reduce):
    found = []
    for rows in slices(len(codes), effects.rows_at_once):
        here = cells[rows]
        taken = [steps(here) for _, steps in chosen]
        some = codes[rows]
        changes = [
            effects.differences(some, ends) for ends in _by_kind(taken, len(some))
        ]
        index = np.arange(rows.start, rows.stop) + start
        found += [
            (entry, reduce(entry, index, steps, [kind[:, part] for kind in changes]))
            for part, ((entry, _), steps) in enumerate(zip(chosen, taken, strict=True))
        ]
    return found
