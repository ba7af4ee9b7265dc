"""Responses to rows with replaced columns, from the trees of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.replacement.replacement import averages_of_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.effects.accumulation import NeighbourSteps
    from sklearn_interpret._core.trees.effects.feature_sets import TreeSets
    from sklearn_interpret._core.trees.effects.pairwise_interactions import TreePairs
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._model.formulas.trees.tree_response import (
        CodedRows,
        TreeResponse,
    )
    from sklearn_interpret._model.parallel import LazyRows
    from sklearn_interpret._model.replacement.replacement import Replacement
    from sklearn_interpret._model.rows.base import Rows

# Tasks for all workers: several for each of a few, since one may be done sooner. The
# number is fixed: sums must not depend on the workers.
_MOST_TASKS = 16

# Rows that are sorted together, at least: in fewer rows few neighbours are alike.
_LEAST_IN_ORDER = 2**14

# Bytes of curves over grids (64 MB). Fixed: sums must not depend on the working memory.
_BYTES_OF_CURVES = 2**26

# Points whose sums are linked to responses together: their arrays fit the cache.
_POINTS_LINKED = 2**16

# Bytes of the steps of conditions for each node and joint point.
_BYTES_OF_STEPS = 16
# Least number of points for which a pass over the nodes is made: for fewer the pass
# costs more than they do. Chosen by hand.
_LEAST_POINTS = 64

# Fixed cost of a pass over the trees in rows, and of a pair of moved features in sums:
# rough figures, for warnings of long computations.
_ROWS_OF_PASS = 500
_SUMS_OF_PAIR = 5000


class ReplacementGroup(NamedTuple):
    """Replacements of different columns, which share a pass over the trees."""

    numbers: Sequence[int]  # positions among all replacements
    moved_features: list[MovedFeatures]  # of each


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

    def __init__(
        self, trees: TreeResponse, rows: Rows, replacements: list[Replacement]
    ) -> None:
        self._trees, self._codes = trees, trees.encode_and_check(rows)
        self._groups = []
        for numbers in _group_disjoint(
            [replacement.columns for replacement in replacements]
        ):
            group = [replacements[number] for number in numbers]
            moved_features = list(_moved_features(trees, rows, group))
            self._groups.append(ReplacementGroup(numbers, moved_features))

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self._trees.predict_codes(self._codes[:1]).shape[1]

    def most_sums_of_pairs(self, n_pairs: int, n_points: int) -> float:
        """About how many sums averages of pairs take, with `n_points` in total."""
        ensemble, n_rows = self._trees.ensemble, len(self._codes)
        n_responses = 0 if self._trees.additive else n_rows * n_points
        return sums_of_passes(ensemble, n_rows, n_pairs, n_pairs) + n_responses

    def averages(
        self,
        weights: NDArray[np.float64],
        masses: Sequence[NDArray[np.float64] | None] | None = None,
        *,
        with_errors: bool = True,
        n_jobs: int | None = None,
    ) -> Averages:
        """Weighted means over the rows; errors are from the curves of single rows."""
        if with_errors or not self._trees.additive:
            return averages_of_rows(self, weights, masses, n_jobs)
        total, ensemble = weights.sum(), self._trees.ensemble
        means: dict[int, NDArray[np.float64]] = {}
        for numbers, moved_features in with_progress(self._groups):
            averages = [
                np.empty((moved.n_points, ensemble.n_outputs))
                for moved in moved_features
            ]
            leaf_weights = None
            for points in _points_in_memory(moved_features, ensemble.n_nodes):
                effects = self._make_effects(
                    map(MovedFeatures.at, moved_features, points)
                )
                if leaf_weights is None:  # they do not depend on the points
                    leaf_weights = self._summed_leaf_weights(effects, weights, n_jobs)
                for average, block, values in zip(
                    averages, points, effects.averages(leaf_weights, total), strict=True
                ):
                    average[block] = values
            means.update(zip(numbers, averages, strict=True))
        return Averages.of_means([means[number] for number in sorted(means)], total)

    def responses(
        self,
        reduce: Callable[..., Any],
        *,
        merge: Callable[..., Any] | None = None,
        n_jobs: int | None = None,
    ) -> list[list[Any]]:
        """Reduced responses to all replaced rows, in the order of the rows."""

        def tasks(
            numbers: Sequence[int], effects: TreeEffects
        ) -> Iterator[tuple[Any, ...]]:
            curves = TreeCurves(effects)
            size = curves.block_rows(self._bytes_of_curves)
            arguments = curves, self._trees, self._codes
            for rows in row_tasks(len(self._codes), size):
                yield _reduce_curves, merge, *arguments, rows, size, numbers, reduce

        return self._reduce_tasks(tasks, merge, n_jobs)

    def differences(
        self,
        steps: list[NeighbourSteps],
        cells: NDArray[np.intp] | LazyRows,
        reduce: Callable[..., Any],
        *,
        merge: Callable[..., Any] | None = None,
        n_jobs: int | None = None,
    ) -> list[list[Any]]:
        """Reduced changes of the response as rows step to the neighbouring points."""

        def tasks(
            numbers: Sequence[int], effects: TreeEffects
        ) -> Iterator[tuple[Any, ...]]:
            numbered_steps = [(number, steps[number]) for number in numbers]
            arguments = effects, self._codes, cells
            for rows in row_tasks(len(self._codes), effects.block_rows):
                yield (
                    _reduce_differences,
                    merge,
                    *arguments,
                    rows,
                    numbered_steps,
                    reduce,
                )

        return self._reduce_tasks(tasks, merge, n_jobs)

    @property
    def _bytes_of_curves(self) -> int:
        return _BYTES_OF_CURVES

    def _reduce_tasks(
        self,
        tasks: Callable[..., Any],
        merge: Callable[..., Any] | None,
        n_jobs: int | None,
    ) -> list[list[Any]]:
        """For each replacement the results of its tasks, run by `_run_and_collect`."""
        results: dict[int, list[Any]] = {}
        for numbers, effects in self._effects():
            all_tasks = list(tasks(numbers, effects))
            for pairs in run_in_threads(_run_and_collect, all_tasks, n_jobs=n_jobs):
                _collect(results, pairs, merge)
        n_replacements = sum(len(group.numbers) for group in self._groups)
        return [results.get(number, []) for number in range(n_replacements)]

    def _effects(self) -> Iterable[tuple[Sequence[int], TreeEffects]]:
        """Replacements that share a pass over the trees, and their effects."""
        for numbers, moved_features in with_progress(self._groups):
            yield numbers, self._make_effects(moved_features)

    def _make_effects(self, moved_features: Iterable[MovedFeatures]) -> TreeEffects:
        """Effects of features that move together."""
        trees, moved = self._trees.ensemble, list(moved_features)
        return TreeEffects(trees, trees.value, trees.base, moved, len(self._codes))

    def _summed_leaf_weights(
        self,
        effects: TreeEffects | TreePairs | TreeSets,
        weights: NDArray[np.float64],
        n_jobs: int | None,
    ) -> Any:
        """Sum over all rows of the arrays that ``effects.leaf_weights`` returns."""
        total = None
        for codes, row_weights in self._portions_of_rows(effects, weights):
            tasks = [
                (effects, codes, row_weights, rows, effects.block_rows)
                for rows in row_tasks(len(codes), effects.block_rows)
            ]
            for sums in run_in_threads(_sum_of_weights, tasks, n_jobs=n_jobs):
                total = _add_in_place(total, sums)
        return total

    def _portions_of_rows(
        self, effects: TreeEffects | TreePairs | TreeSets, weights: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[Any] | CodedRows, NDArray[np.float64]]]:
        """Codes and weights of rows, sorted by likeness if that makes a pass fast."""
        if not effects.wants_order:
            yield self._codes, weights
            return
        most_rows = max(_LEAST_IN_ORDER, block_rows(self._codes[:1].nbytes))
        n_portions = -(-len(self._codes) // most_rows)
        for portion in slices(len(self._codes), -(-len(self._codes) // n_portions)):
            codes = self._codes[portion]
            order = order_of_likeness(self._trees.ensemble, codes)
            codes = np.array([column.take(order) for column in codes.T]).T
            yield codes, weights[portion].take(order)


def _points_in_memory(
    moved_features: list[MovedFeatures], n_nodes: int
) -> Iterator[list[slice]]:
    """Blocks of the points of all moved features, as a slice for each moved feature.

    Along joint points of several features, conditions begin and cease to hold many
    times. Each moved feature has points in each block: the same points, if it has few.
    """
    numbers_of_points = [
        moved.n_points
        for moved in moved_features
        if len(moved.features) > 1 and len(moved.shape) == 1
    ]
    most_points = max(_LEAST_POINTS, rows_in_memory(_BYTES_OF_STEPS * n_nodes))
    n_blocks = max(1, -(-max(numbers_of_points, default=0) // most_points))
    if any(len(moved.shape) > 1 for moved in moved_features):
        n_blocks = 1
    for block in range(n_blocks):
        yield [
            slice(
                block * moved.n_points // n_blocks,
                -(-(block + 1) * moved.n_points // n_blocks),
            )
            for moved in moved_features
        ]


def _moved_features(
    trees: TreeResponse, rows: Rows, replacements: list[Replacement]
) -> Iterator[MovedFeatures]:
    """The features that move and their points, for replacements without shared columns.

    All values are encoded in copies of one row: a feature of the trees is made from one
    column only.
    """
    most_variants = max(replacement.n_variants for replacement in replacements)
    first_row = rows.take([0])
    varying = [replacement for replacement in replacements if replacement.n_variants]
    columns = [column for replacement in varying for column in replacement.columns]
    levels = [values for replacement in varying for values in replacement.levels]
    blocks = []
    for block in slices(max(most_variants, 1), batch_rows(first_row.row_bytes)):
        native, points = first_row.native, np.arange(block.start, block.stop)
        if columns:
            # Shorter ones stay at their last point.
            variants = [
                table[:, np.minimum(points, replacement.n_variants - 1)]
                for replacement in varying
                for table in replacement.codes
            ]
            native = first_row.tiles(0, 1, len(points)).replace(
                columns, levels, variants
            )
        numbers = trees.model.encode(native)
        blocks.append(trees.ensemble.codes(numbers))
        if not np.isfinite(numbers).all():  # the model may refuse missing values
            trees.check_agreement(native, blocks[-1])
    codes = np.concatenate(blocks)
    for replacement in replacements:
        features = np.flatnonzero(np.isin(trees.model.columns, replacement.columns))
        shape = replacement.shape or (replacement.n_variants,)
        yield MovedFeatures(
            features, codes[: replacement.n_variants][:, features], shape
        )


def _group_disjoint(sets: list[tuple[int, ...]]) -> list[list[int]]:
    """Positions of the sets in groups in which no two share a member."""
    groups: list[list[int]] = []
    members_of_groups: list[set[int]] = []
    for position, members in enumerate(sets):
        disjoint_groups = (
            group
            for group, group_members in enumerate(members_of_groups)
            if group_members.isdisjoint(members)
        )
        group = next(disjoint_groups, len(groups))
        if group == len(groups):
            groups.append([])
            members_of_groups.append(set())
        groups[group].append(position)
        members_of_groups[group].update(members)
    return groups


def sums_of_passes(
    ensemble: TreeEnsemble, n_rows: int, n_passes: float, n_pairs: int
) -> float:
    """Estimated cost of passes over the trees and of pairs, in sums over rows."""
    cost_of_pass = np.count_nonzero(ensemble.is_leaf) * float(n_rows + _ROWS_OF_PASS)
    return n_passes * cost_of_pass + n_pairs * float(n_rows + _SUMS_OF_PAIR)


def row_tasks(n_rows: int, size: int) -> Iterator[slice]:
    """Slices of rows for workers; the length of each is a multiple of `size`."""
    return slices(n_rows, size * -(-n_rows // (size * _MOST_TASKS)))


def _collect(
    results: dict[int, list[Any]],
    pairs: Iterable[tuple[int, Any]],
    merge: Callable[..., Any] | None,
) -> None:
    """Append results of replacements to their earlier results, or merge the two."""
    for number, result in pairs:
        earlier_results = results.setdefault(number, [])
        if merge is not None and earlier_results:
            result = merge(earlier_results.pop(), result)
        earlier_results.append(result)


def _run_and_collect(
    function: Callable[..., Any], merge: Callable[..., Any] | None, *inputs: Any
) -> list[tuple[int, Any]]:
    """Numbers of replacements and results that a function yields, merged by `merge`."""
    results: dict[int, list[Any]] = {}
    _collect(results, function(*inputs), merge)
    return [
        (number, result)
        for number, replacement_results in results.items()
        for result in replacement_results
    ]


def _sum_of_weights(
    effects: TreeEffects | TreePairs | TreeSets,
    codes: NDArray[Any] | CodedRows,
    weights: NDArray[np.float64],
    rows: slice,
    size: int,
) -> Any:
    """Sum of ``effects.leaf_weights`` over some of the rows, `size` at a time."""
    total = None
    for block in _blocks_of_slice(rows, size):
        total = _add_in_place(total, effects.leaf_weights(codes[block], weights[block]))
    return total


def _add_in_place(total: Any, sums: Any) -> Any:
    """The sum of two arrays, or of two lists of arrays, written over the first."""
    if total is None:
        return sums
    if isinstance(total, np.ndarray):
        return np.add(total, sums, out=total)
    for total_array, array in zip(total, sums, strict=True):
        total_array += array
    return total


def _reduce_curves(
    curves: TreeCurves,
    trees: TreeResponse,
    codes: NDArray[Any] | CodedRows,
    rows: slice,
    size: int,
    numbers: Sequence[int],
    reduce: Callable[..., Any],
) -> Iterator[tuple[int, Any]]:
    """Reduced responses of some rows at all points, by number of the replacement."""
    for block in _blocks_of_slice(rows, size):
        for i, sums in curves.curves(codes[block]):
            n_rows, n_points, _ = sums.shape
            if not n_points:
                continue
            for part in slices(n_rows, _POINTS_LINKED // n_points + 1):
                index = np.arange(part.start, part.stop) + block.start
                responses = trees.link_sums(sums[part])
                points, number = slice(0, n_points), numbers[i]
                yield number, reduce(number, index, points, responses)


def _reduce_differences(
    effects: TreeEffects,
    codes: NDArray[Any] | CodedRows,
    cells: NDArray[np.intp] | LazyRows,
    rows: slice,
    numbered_steps: list[tuple[int, NeighbourSteps]],
    reduce: Callable[..., Any],
) -> Iterator[tuple[int, Any]]:
    """Reduced differences of some rows, by number of the replacement."""
    for block in _blocks_of_slice(rows, effects.block_rows):
        block_cells, block_codes = cells[block], codes[block]
        row_steps = [steps.row_steps(block_cells) for _, steps in numbered_steps]
        changes = []
        for step in range(max(map(len, row_steps))):
            end_points = np.full((len(block_codes), len(numbered_steps)), -1)
            for column, (_, steps) in enumerate(numbered_steps):
                if step < len(row_steps[column]):
                    end_points[:, column] = steps.ends(row_steps[column][step])
            changes.append(effects.differences(block_codes, end_points))
        index = np.arange(block.start, block.stop)
        for column, (number, _) in enumerate(numbered_steps):
            column_changes = [
                change[:, column] for change in changes[: len(row_steps[column])]
            ]
            yield number, reduce(number, index, row_steps[column], column_changes)


def _blocks_of_slice(rows: slice, step: int) -> Iterator[slice]:
    """Slices of a slice of rows."""
    for block in slices(rows.stop - rows.start, step):
        yield slice(rows.start + block.start, rows.start + block.stop)
