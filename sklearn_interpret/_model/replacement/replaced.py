"""Model responses to rows with replaced columns, all other columns unchanged.

`replaced` chooses between two evaluators with the same methods: `ReplacedTrees` follows
the trees of a model whose response is their sum or a function of it, and
`ReplacedResponses` sends the rows to any model.
"""

from collections import namedtuple
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

import numpy as np
from joblib import effective_n_jobs

from sklearn_interpret._model.formulas.door import formula
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import counted
from sklearn_interpret._model.replacement.replaced_trees import ReplacedTrees
from sklearn_interpret._model.replacement.replacement import averages_of_rows
from sklearn_interpret._model.responses.response import count_outputs


def replaced(method, response, rows, replacements, *, additive=False):
    """Responses to rows with replaced columns, from trees or from the model.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" takes the trees where the response is their sum or a function of it,
        unless the rows are few for them; "tree" insists on them.
    response : Response
        The model.
    rows : Rows
        The rows.
    replacements : list of Replacement
        The new values, the same for every row.
    additive : bool, default=False
        Whether only a plain sum of trees will do: for differences.

    Returns
    -------
    ReplacedTrees or ReplacedResponses

    Raises
    ------
    UnreadableModelError
        With "tree".
    """

    def by_trees():
        trees = tree_response(response, additive=additive, labels=False)
        if method == "auto" and _are_few(rows, replacements, trees.ensemble):
            return None
        return ReplacedTrees(trees, rows, replacements)

    readers = [] if method == "brute" else [by_trees]
    by_formula = formula(readers, required=method == "tree")
    return by_formula or ReplacedResponses(response, rows, replacements)


def _are_few(rows, replacements, ensemble):
    """Whether to predict the replaced rows takes less time than to read all nodes."""
    n_replaced = rows.n_rows * sum(one.n_variants for one in replacements)
    return 4 * n_replaced * ensemble.n_trees < ensemble.n_nodes


class ReplacedResponses:
    """Responses to perturbed rows, which are sent to the model.

    Each row stands in a batch with all of its variants next to each other; the new
    columns are written into a reused copy. Variants of a row take similar paths through
    a tree, which makes this order two to four times faster for forests than one call
    per grid value.

    Parameters
    ----------
    response, rows, replacements : object
        As :func:`replaced` takes them.
    """

    def __init__(self, response, rows, replacements):
        self._response, self._rows = response, rows
        self._replacements = replacements
        self._n_outputs = None

    @property
    def n_outputs(self):
        """Number of outputs; one row is sent to count them if none was sent before."""
        if self._n_outputs is None:
            self._n_outputs = count_outputs(self._response, self._rows)
        return self._n_outputs

    def averages(self, weights, masses=None, *, with_errors=True, n_jobs=None):
        """Weighted means of the responses over the rows.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,)
            Weights.
        masses : list of ndarray of shape (n_variants,) or None, optional
            For each replacement, weights of the variants that sum to one: standard
            errors of responses less the row's mean by them are then given, too. The
            variants have to be together.
        with_errors : bool, default=True
            Whether standard errors are needed. They cost nothing here, but more than
            the means for trees.
        n_jobs : int or None, default=None
            Workers.

        Returns
        -------
        Averages
        """
        return averages_of_rows(self, weights, masses, n_jobs)

    def responses(self, reduce, *, merge=None, n_jobs=None):
        """Responses to all perturbed rows, reduced block by block.

        Parameters
        ----------
        reduce : callable
            ``reduce(which, index, variants, responses)``: the number of the
            replacement, the rows' positions, a slice of variants, and responses of
            shape (n_rows, n_variants, n_outputs). Its results are collected.
        merge : callable, optional
            ``merge(earlier, later)``: the results of two blocks of rows for the same
            variants as one. Without it all results are kept until the end.
        n_jobs : int or None, default=None
            Workers.

        Returns
        -------
        list of list
            For each replacement, the reduced blocks, in the order of rows and variants
            (merged ones in the order of variants); neither which blocks there are nor
            the order in which they are merged depends on `n_jobs`.
        """
        keyed = [{} for _ in self._replacements]
        for block, n_outputs, reduced in self._reduced(reduce, n_jobs):
            self._n_outputs = n_outputs
            kept, place = keyed[block.which], (block.start, block.first)
            if merge is not None:
                place = block.first
                if place in kept:
                    reduced = merge(kept[place], reduced)
            kept[place] = reduced
        return [[kept[place] for place in sorted(kept)] for kept in keyed]

    def _reduced(self, reduce, n_jobs):
        """Blocks, the number of outputs, and what the blocks are reduced to."""
        given = self._response, self._rows, self._replacements, reduce
        blocks = _plan(self._replacements, self._rows)
        workers = effective_n_jobs(n_jobs)
        if workers <= 1:
            return counted(_respond(*given, blocks), len(blocks))
        edges = np.linspace(0, len(blocks), min(4 * workers, len(blocks)) + 1)
        groups = [blocks[a:b] for a, b in pairwise(edges.astype(int))]
        tasks = [(*given, group) for group in groups]
        return chain.from_iterable(run(_respond_to_all, tasks, n_jobs=n_jobs))

    def differences(self, steps, cells, reduce, **options):
        """Changes of the response as rows step to the neighbouring points of the grids.

        Parameters
        ----------
        steps : list of NeighbourSteps
            For each replacement, over its grid.
        cells : ndarray of shape (n_rows, n_axes) or LazyRows
            Where the rows are.
        reduce : callable
            ``reduce(which, index, taken, differences)``: the number of the replacement,
            the rows' positions, and for each kind of step which one each row takes
            (n_rows,) and the change (n_rows, n_outputs).
        **options : dict
            `merge` and `n_jobs`, as in :meth:`responses`.

        Returns
        -------
        list of list
            As there.
        """
        cells = cells[:]
        taken = [own.row_steps(cells) for own in steps]
        entries = zip(self._replacements, steps, taken, strict=True)
        to_neighbours = [_to_neighbours(*entry, cells) for entry in entries]
        model = ReplacedResponses(self._response, self._rows, to_neighbours)
        found = model.responses(partial(_difference, reduce, steps, taken), **options)
        self._n_outputs = model.n_outputs
        return found


Block = namedtuple("Block", "which start stop first last")


def _plan(replacements, rows):
    """Blocks of rows x variants within the batch size.

    Blocks over the same rows with as many variants come together, so that they share
    one work copy.
    """
    limit = batch_rows(rows.row_bytes)
    blocks = []
    for which, replacement in enumerate(replacements):
        if not replacement.n_variants:  # a grid without points
            continue
        n_rows = rows.n_rows if replacement.rows is None else len(replacement.rows)
        width = replacement.n_variants
        if not replacement.together:
            width = min(width, limit)
        blocks += [
            Block(which, index.start, index.stop, variants.start, variants.stop)
            for index in slices(n_rows, max(1, limit // width))
            for variants in slices(replacement.n_variants, width)
        ]
    return sorted(blocks, key=lambda b: (b.last - b.first, b.start, b.stop, b.which))


def _respond_to_all(*given):
    return list(_respond(*given))


def _respond(response, rows, replacements, reduce, blocks):
    """Blocks, the number of outputs, and reduced responses, one after the other.

    The work copy of the last block serves the next one if that is over the same rows.
    """
    tiles, tiled = None, None
    for block in blocks:
        replacement = replacements[block.which]
        repeats = block.last - block.first
        chosen = None if replacement.rows is None else block.which
        wanted = (chosen, block.start, block.stop, repeats)
        index = np.arange(block.start, block.stop)
        if replacement.rows is not None:
            index = replacement.rows[index]
        if tiled != wanted:
            if replacement.rows is None:
                tiles = rows.tiles(block.start, block.stop, repeats)
            else:
                tiles = rows.take(index).tiles(0, len(index), repeats)
            tiled = wanted
        variants = slice(block.first, block.last)
        codes = [
            (part if len(part) == 1 else part[block.start : block.stop])[:, variants]
            for part in replacement.codes
        ]
        X = tiles.replaced(replacement.columns, replacement.levels, codes)
        responses = response(X).reshape(len(index), repeats, -1)
        reduced = reduce(block.which, index, variants, responses)
        yield block, responses.shape[2], reduced


def _to_neighbours(grid, steps, taken, cells):
    """Of a grid only the neighbours of each row, for rows that take a step."""
    moves = np.any([kind >= 0 for kind in taken], axis=0)
    rows = None if moves.all() else np.flatnonzero(moves)
    visits = steps.visits(cells if rows is None else cells[rows])
    # Along a single axis the points are numbered as its values are.
    single = len(steps.axes) == 1
    codes = tuple(visits if single else part[0].take(visits) for part in grid.codes)
    return replace(grid, codes=codes, shape=None, rows=rows, together=True)


def _difference(reduce, steps, taken, which, index, variants, responses):
    """Reduce differences of the responses at neighbouring points."""
    own = [kind.take(index) for kind in taken[which]]
    return reduce(which, index, own, steps[which].differences(responses))
