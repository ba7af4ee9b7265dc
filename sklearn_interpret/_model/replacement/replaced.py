"""Model responses to rows with replaced columns, all other columns unchanged.

`choose_evaluator` returns one of two evaluators with the same methods: `ReplacedTrees`
follows the trees of a model whose response is their sum or a function of it, and
`ReplacedResponses` sends the rows to any model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.replacement.replaced_trees import ReplacedTrees
from sklearn_interpret._model.replacement.replacement import averages_of_rows
from sklearn_interpret._model.responses.response import count_outputs
from sklearn_interpret._model.row_limit import announce_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.effects.accumulation import NeighbourSteps
    from sklearn_interpret._core.statistics.weighted import Averages
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._model.parallel import LazyRows
    from sklearn_interpret._model.replacement.replacement import Replacement
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows, Tiles

# Nodes that are read in about the time in which a tree predicts a row: a rough figure,
# for the choice of the faster way.
_NODES_PER_PREDICTION = 4
# Leaves whose differences for a row take the time of one prediction by a tree, in
# forests of 1000 to 6000 leaves a tree.
_LEAVES_PER_PREDICTION = 100
_ADVICE = "Use fewer rows (subsample), fewer features, or fewer values of each"


def choose_evaluator(
    method: str,
    response: Response,
    rows: Rows,
    replacements: list[Replacement],
    *,
    additive: bool = False,
    n_variants: float = 0,
) -> ReplacedTrees | ReplacedResponses:
    """Responses to rows with replaced columns, from trees or from the model.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" takes the trees where the response is their sum or a function of it,
        unless the rows are few for them, the trees too large for differences, or rows
        get values of their own; "tree" insists on them.
    response : Response
        The model.
    rows : Rows
        The rows.
    replacements : list of Replacement
        The new values; trees take the same for every row.
    additive : bool, default=False
        Whether only a plain sum of trees will do: for differences.
    n_variants : int, default=0
        Number of new values that are to come, besides those of `replacements`.

    Returns
    -------
    ReplacedTrees or ReplacedResponses

    Raises
    ------
    UnreadableModelError
        With "tree".
    """

    n_variants += sum(grid.n_variants for grid in replacements)

    def by_trees() -> ReplacedTrees | None:
        trees = tree_response(response, additive=additive, labels=False)
        by_row = any(len(codes) > 1 for grid in replacements for codes in grid.codes)
        if method == "auto" and (
            by_row
            or _are_few(rows, n_variants, trees.ensemble)
            or (additive and _are_large(trees.ensemble, replacements))
        ):
            return None
        return ReplacedTrees(trees, rows, replacements)

    readers = [] if method == "brute" else [by_trees]
    by_formula = read_formula(readers, required=method == "tree")
    return by_formula or ReplacedResponses(response, rows, replacements)


def _are_few(rows: Rows, n_variants: float, ensemble: TreeEnsemble) -> bool:
    """Whether to predict the replaced rows takes less time than to read all nodes."""
    n_predictions = rows.n_rows * n_variants * ensemble.n_trees
    return _NODES_PER_PREDICTION * n_predictions < ensemble.n_nodes


def _are_large(ensemble: TreeEnsemble, replacements: list[Replacement]) -> bool:
    """Whether to predict rows at both ends of their steps takes less time."""
    n_ends = sum(2 ** len(grid.shape or (grid.n_variants,)) for grid in replacements)
    n_leaves = np.count_nonzero(ensemble.is_leaf)
    return n_leaves > _LEAVES_PER_PREDICTION * n_ends * ensemble.n_trees


class ReplacedResponses:
    """Responses to perturbed rows, which are sent to the model.

    Each row stands in a batch with all of its variants next to each other; the new
    columns are written into a reused copy. Variants of a row take similar paths through
    a tree, which makes this order two to four times faster for forests than one call
    per grid value.

    Parameters
    ----------
    response, rows, replacements : object
        As :func:`choose_evaluator` takes them.
    """

    def __init__(
        self, response: Response, rows: Rows, replacements: list[Replacement]
    ) -> None:
        self._response, self._rows = response, rows
        self._replacements = replacements
        self._n_outputs: int | None = None

    @property
    def n_outputs(self) -> int:
        """Number of outputs; one row is sent to count them if none was sent before."""
        if self._n_outputs is None:
            self._n_outputs = count_outputs(self._response, self._rows)
        return self._n_outputs

    def averages(
        self,
        weights: NDArray[np.float64],
        masses: Sequence[NDArray[np.float64] | None] | None = None,
        *,
        with_errors: bool = True,
        n_jobs: int | None = None,
    ) -> Averages:
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

    def responses(
        self,
        reduce: Callable[..., Any],
        *,
        merge: Callable[..., Any] | None = None,
        n_jobs: int | None = None,
    ) -> list[list[Any]]:
        """Responses to all perturbed rows, reduced block by block.

        Parameters
        ----------
        reduce : callable
            ``reduce(number, index, variants, responses)``: the number of the
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
            (merged ones in the order of variants). Neither the blocks nor the order in
            which they are merged depend on `n_jobs`.
        """
        n_rows = self._rows.n_rows
        n_sent = sum(
            (n_rows if of.rows is None else len(of.rows)) * of.n_variants
            for of in self._replacements
        )
        n_values = sum(of.n_variants for of in self._replacements)
        announce_rows(n_sent, {"rows": n_rows, "values": n_values}, _ADVICE)
        keyed: list[dict[tuple[int, int], Any]] = [{} for _ in self._replacements]
        for block, n_outputs, reduced in self._reduce_blocks(reduce, n_jobs):
            self._n_outputs = n_outputs
            results = keyed[block.number]
            # Blocks that are merged have one key, by their variants.
            key = (0 if merge else block.start), block.first
            if merge is not None and key in results:
                reduced = merge(results[key], reduced)
            results[key] = reduced
        return [[results[key] for key in sorted(results)] for results in keyed]

    def _reduce_blocks(
        self, reduce: Callable[..., Any], n_jobs: int | None
    ) -> Iterator[tuple[Block, int, Any]]:
        """Blocks, the number of outputs, and what the blocks are reduced to."""
        inputs = self._response, self._rows, self._replacements, reduce
        blocks = _plan_blocks(self._replacements, self._rows)
        workers = effective_n_jobs(n_jobs)
        if workers <= 1:
            return with_progress(_respond(*inputs, blocks), len(blocks))
        edges = np.linspace(0, len(blocks), min(4 * workers, len(blocks)) + 1)
        tasks = [
            (*inputs, blocks[start:stop]) for start, stop in pairwise(edges.astype(int))
        ]
        return chain.from_iterable(run(_respond_to_all, tasks, n_jobs=n_jobs))

    def differences(
        self,
        steps: list[NeighbourSteps],
        cells: NDArray[np.intp] | LazyRows,
        reduce: Callable[..., Any],
        **options: Any,
    ) -> list[list[Any]]:
        """Changes of the response as rows step to the neighbouring points of the grids.

        Parameters
        ----------
        steps : list of NeighbourSteps
            For each replacement, over its grid.
        cells : ndarray of shape (n_rows, n_axes) or LazyRows
            Where the rows are.
        reduce : callable
            ``reduce(number, index, row_steps, differences)``: the number of the
            replacement, the rows' positions, and for each kind of step the one that
            each row takes (n_rows,) and the change (n_rows, n_outputs).
        **options : dict
            `merge` and `n_jobs`, as in :meth:`responses`.

        Returns
        -------
        list of list
            The results, as :meth:`responses` returns them.
        """
        row_cells = cells[:]
        row_steps = [grid_steps.row_steps(row_cells) for grid_steps in steps]
        to_neighbours = [
            _replace_by_neighbours(grid, grid_steps, steps_taken, row_cells)
            for grid, grid_steps, steps_taken in zip(
                self._replacements, steps, row_steps, strict=True
            )
        ]
        model = ReplacedResponses(self._response, self._rows, to_neighbours)
        reduced = model.responses(
            partial(_reduce_differences, reduce, steps, row_steps), **options
        )
        self._n_outputs = model.n_outputs
        return reduced


class Block(NamedTuple):
    """Rows `start` to `stop`, with the variants `first` to `last`, of a replacement."""

    number: int
    start: int
    stop: int
    first: int
    last: int


def _plan_blocks(replacements: list[Replacement], rows: Rows) -> list[Block]:
    """Blocks of rows x variants within the batch size.

    Blocks over the same rows with as many variants come together, so that they share
    one work copy.
    """
    limit = batch_rows(rows.row_bytes)
    blocks = []
    for number, replacement in enumerate(replacements):
        if not replacement.n_variants:  # a grid without points
            continue
        n_rows = rows.n_rows if replacement.rows is None else len(replacement.rows)
        width = replacement.n_variants
        if not replacement.together:
            width = min(width, limit)
        blocks += [
            Block(number, index.start, index.stop, variants.start, variants.stop)
            for index in slices(n_rows, max(1, limit // width))
            for variants in slices(replacement.n_variants, width)
        ]
    return sorted(blocks, key=lambda b: (b.last - b.first, b.start, b.stop, b.number))


def _respond_to_all(*inputs: Any) -> list[tuple[Block, int, Any]]:
    return list(_respond(*inputs))


def _respond(
    response: Response,
    rows: Rows,
    replacements: list[Replacement],
    reduce: Callable[..., Any],
    blocks: list[Block],
) -> Iterator[tuple[Block, int, Any]]:
    """Blocks, the number of outputs, and reduced responses, one after the other.

    The work copy of the last block serves the next one if that is over the same rows.
    """
    tiles: Tiles | None = None
    tiled_rows = None
    for block in blocks:
        replacement = replacements[block.number]
        repeats = block.last - block.first
        own_rows = None if replacement.rows is None else block.number
        rows_of_block = own_rows, block.start, block.stop, repeats
        index = np.arange(block.start, block.stop)
        if replacement.rows is not None:
            index = replacement.rows[index]
        if tiles is None or tiled_rows != rows_of_block:
            if replacement.rows is None:
                tiles = rows.tiles(block.start, block.stop, repeats)
            else:
                tiles = rows.take(index).tiles(0, len(index), repeats)
            tiled_rows = rows_of_block
        variants = slice(block.first, block.last)
        block_codes = [
            (codes if len(codes) == 1 else codes[block.start : block.stop])[:, variants]
            for codes in replacement.codes
        ]
        X = tiles.replace(replacement.columns, replacement.levels, block_codes)
        responses = response(X).reshape(len(index), repeats, -1)
        reduced = reduce(block.number, index, variants, responses)
        yield block, responses.shape[2], reduced


def _replace_by_neighbours(
    grid: Replacement,
    steps: NeighbourSteps,
    row_steps: list[NDArray[np.integer]],
    cells: NDArray[np.intp],
) -> Replacement:
    """A grid reduced to the neighbours of each row, for rows that take a step."""
    moves = np.any([kind >= 0 for kind in row_steps], axis=0)
    rows = None if moves.all() else np.flatnonzero(moves)
    visits = steps.visits(cells if rows is None else cells[rows])
    # Along a single axis the points are numbered as its values are.
    one_axis = len(steps.axes) == 1
    codes = tuple(visits if one_axis else codes[0].take(visits) for codes in grid.codes)
    return replace(grid, codes=codes, shape=None, rows=rows, together=True)


def _reduce_differences(
    reduce: Callable[..., Any],
    steps: list[NeighbourSteps],
    row_steps: list[list[NDArray[np.integer]]],
    number: int,
    index: NDArray[np.intp],
    variants: slice,
    responses: NDArray[np.float64],
) -> Any:
    """Reduce differences of the responses at neighbouring points."""
    steps_taken = [kind.take(index) for kind in row_steps[number]]
    differences = steps[number].differences(responses)
    return reduce(number, index, steps_taken, differences)
