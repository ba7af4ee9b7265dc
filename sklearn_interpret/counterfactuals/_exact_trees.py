"""The nearest rows that models of trees answer as wished."""

from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from sklearn_interpret._core.optimisation.box_program import Solved, cheapest_point
from sklearn_interpret._core.optimisation.boxes import BoxSums
from sklearn_interpret._core.optimisation.regions import widened
from sklearn_interpret._model.desired_sums import SumWish
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.trees.cells import TreeCells
from sklearn_interpret._model.trees.tree_response import read_trees, tree_response

# Sums that are nearer to what is needed, relative to their size, may be on either side:
# of models that add up in double, and in single precision.
_DOUBLE, _SINGLE = 1e-10, 1e-6
# The share of the changes of each row before that the next one may have as well.
APART = 0.5 + 1e-9
# Known rows as wished that are considered as starts.
_NEAREST = 64


@dataclass(frozen=True)
class Settings:
    """What is sought, and for how long; as in `ExactCounterfactual`."""

    time_limit: float
    objective: str
    max_changes: int | None
    apart: tuple = ()

    def limits(self, n_columns):
        """Weights of columns (k, n_columns): those of changed ones add up to most (k,).

        One row for `max_changes`, and one of `shares` of each row to be apart from.
        """
        counts = [] if self.max_changes is None else [np.ones(n_columns)]
        weights = np.array([*counts, *self.apart]).reshape(-1, n_columns)
        most = [self.max_changes] * len(counts) + [APART] * len(self.apart)
        return weights, np.array(most, dtype=np.float64)


class TreeSearch:
    """Finds the nearest rows that a model of trees answers as wished.

    Parameters
    ----------
    wish : Wish
        The wish.
    known : Task
        Known rows.
    margin : float
        By how much more than needed the sums have to be as wished.
    """

    def __init__(self, wish, known, margin):
        feasible, rows = known.feasible, known.rows
        model = read_trees(wish.estimator)
        ensemble = model.ensemble
        link, scale = model.link, model.link_scale
        if wish.interval is not None:
            read = tree_response(wish.response)
            ensemble = read.ensemble
            if read.additive:
                link, scale = "identity", 1.0
        self.wish = SumWish.of(wish, ensemble.n_outputs, link, scale, margin)
        self.cells = TreeCells(model, ensemble, feasible, rows, known.decode)
        self.ensemble = ensemble
        codes = self.cells.codes(rows)
        self.known = self.cells.own_cells(known.values, codes)
        self.known_sums = ensemble.raw_of_codes(codes)
        returned = wish.response.raw(rows.take([0]).native)
        single = np.asarray(returned).dtype == np.float32
        self.tolerance = _SINGLE if single else _DOUBLE

    def found(self, task, row, settings, feasible):
        """Encoded row or None, and a lower bound that is infinite if there is none."""
        space = _Space.of_row(self.cells, feasible, task, row)
        own = None if task.own is None else task.own[row]
        end = monotonic() + settings.time_limit
        best, lower = None, np.inf
        for sure in (False, True):
            best, lower = self._best_way(space, own, settings, end, sure)
            if best is None:
                break
            best = feasible.projected(best[None], task.values[[row]])[0]
            if task.holds(best[None], np.array([row]))[0]:
                break
        return best, lower

    def region(self, task, row, values, settings):
        """Ends of a box around an encoded row in which all rows are as wished."""
        feasible, origin = task.feasible, task.values[row]
        space = _Space.of_row(self.cells, feasible, task, row)
        native = task.decode(values[None], np.array([row]))
        cells = self.cells.own_cells(values[None], self.cells.codes(as_rows(native)))[0]
        changed = values != origin
        first, last = cells[space.free], cells[space.free]
        wide = ~feasible.categorical & self.cells.ordered & feasible.vary & (cells >= 0)
        if settings.max_changes is not None:
            wide &= changed
        for way in self.wish.ways(None if task.own is None else task.own[row]):
            boxes = self._boxes(space, way, settings, True)
            if boxes is None or (boxes.sums(first[None])[0] < boxes.needs).any():
                continue
            for columns in (wide & changed, wide & ~changed):
                columns = np.flatnonzero(columns[space.free])
                first, last = widened(boxes, first, last, columns)
            break
        low, high = values.copy(), values.copy()
        least, most = (part[0] for part in feasible.limits(origin[None]))
        cells = np.array([cells, cells])
        cells[:, space.free] = first, last
        for j in np.flatnonzero(wide).tolist():
            low[j] = min(low[j], max(self.cells.low[j][cells[0, j]], least[j]))
            high[j] = max(high[j], min(self.cells.high[j][cells[1, j]], most[j]))
        return low, high

    def _best_way(self, space, own, settings, end, sure):
        """The nearest row of all ways in which the wish comes true."""
        best, least, bounds = None, np.inf, []
        for way in self.wish.ways(own):
            boxes = self._boxes(space, way, settings, sure)
            if boxes is None:
                continue
            starts = self._starts(space, way)
            solved = _solved(boxes, starts, settings, end)
            bounds.append(solved.lower_bound)
            if solved.point is not None:
                values = space.values(solved.point)
                cost = _key(space.distances(solved.point), solved, boxes, settings)
                if best is None or cost < least:
                    best, least = values, cost
        return best, min(bounds, default=np.inf)

    def _boxes(self, space, way, settings, sure):
        weights, needs, equal = way
        values = self.ensemble.value[space.leaf] @ weights.T
        base = self.ensemble.base @ weights.T
        size = np.abs(values).max(axis=0, initial=0) * self.ensemble.n_trees
        tolerance = self.tolerance * (size + np.abs(base))
        if sure:
            tolerance *= 100
        needs = needs - base + np.where(equal & (not sure), -tolerance, tolerance)
        if not len(space.own):
            return None
        change_weights, most_changed = settings.limits(len(space.free))
        return BoxSums(
            space.costs,
            space.own,
            space.tree,
            space.low,
            space.high,
            values,
            needs,
            change_weights[:, space.free],
            most_changed,
        )

    def _starts(self, space, way):
        """Cells of the nearest known rows as wished."""
        weights, needs, _ = way
        wished = (self.known_sums @ weights.T >= needs).all(axis=1)
        cells = self.known[wished][:, space.free]
        for j, cost in enumerate(space.costs):
            usable = np.append(np.isfinite(cost), False)
            cells[:, j] = np.where(usable[cells[:, j]], cells[:, j], space.own[j])
        costs = sum(
            (cost[cells[:, j]] for j, cost in enumerate(space.costs)),
            start=np.zeros(len(cells)),
        )
        return cells[np.argsort(costs, kind="stable")[:_NEAREST]]


def _key(distance, solved, boxes, settings):
    changes = boxes.n_changes(solved.point[None])[0]
    return (changes, distance) if settings.objective == "n_changed" else (0, distance)


def _solved(boxes, starts, settings, end):
    """A point by heuristics, and if there is time the best."""
    if settings.objective == "n_changed":
        return _fewest_changes(boxes, starts, settings, end)
    point = boxes.near_point(starts, thorough=settings.time_limit > 0)
    if not settings.time_limit:
        return Solved(point, 0.0)
    return cheapest_point(boxes, point, end - monotonic())


def _fewest_changes(boxes, starts, settings, end):
    """A point with the fewest changes, the cheapest among these."""
    unit = [np.where(np.isfinite(cost), 1.0, np.inf) for cost in boxes.costs]
    for cost, own in zip(unit, boxes.own, strict=True):
        cost[own] = 0
    finite = [cost[np.isfinite(cost)].max() for cost in boxes.costs]
    much = 1 + sum(finite)
    both = replace(
        boxes,
        costs=[a + much * b for a, b in zip(boxes.costs, unit, strict=True)],
    )
    point = both.near_point(starts, thorough=False)
    if not settings.time_limit:
        return Solved(point, 0.0)
    fewest = cheapest_point(
        replace(boxes, costs=unit), point, (end - monotonic()) / 2, step=1.0
    )
    if fewest.point is None:
        return fewest
    count = boxes.n_changes(fewest.point[None])[0]
    limited = replace(
        boxes,
        change_weights=np.vstack([boxes.change_weights, np.ones(len(boxes.own))]),
        most_changed=np.append(boxes.most_changed, count),
    )
    point = limited.near_point(fewest.point[None], thorough=False)
    solved = cheapest_point(limited, point, end - monotonic())
    proved = fewest.lower_bound >= count
    return solved if proved else Solved(solved.point, 0.0)


@dataclass(frozen=True)
class _Space:
    """Where a row may go: cells of its free columns, and the boxes left there."""

    origin: np.ndarray
    free: np.ndarray
    own: np.ndarray
    costs: list
    targets: list
    tree: np.ndarray
    leaf: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of_row(cls, cells, feasible, task, row):
        """The space around an explained row."""
        origin = task.values[row]
        codes = cells.codes(task.rows.take([row]))
        own = cells.own_cells(origin[None], codes)[0]
        low, high = (part[0] for part in feasible.limits(origin[None]))
        costs, targets = {}, {}
        for j in np.flatnonzero(feasible.vary & (own >= 0)).tolist():
            costs[j], targets[j] = _column(
                cells, feasible, j, origin[j], own[j], low[j], high[j]
            )
        free = np.array(
            [j in costs and np.isfinite(costs[j]).sum() > 1 for j in range(len(own))]
        )
        tree, leaf, first, last = cells.boxes_of(codes[0], ~free)
        at = np.flatnonzero(free).tolist()
        return cls(
            origin,
            free,
            own[free],
            [costs[j] for j in at],
            [targets[j] for j in at],
            tree,
            leaf,
            first,
            last,
        )

    def values(self, point):
        """The encoded row of a point."""
        values = self.origin.copy()
        values[self.free] = [
            target[cell] for target, cell in zip(self.targets, point, strict=True)
        ]
        return values

    def distances(self, point):
        return sum(cost[cell] for cost, cell in zip(self.costs, point, strict=True))


def _column(cells, feasible, j, origin, own, low, high):
    """What the cells of a column cost, and the nearest values in them."""
    first = np.maximum(cells.low[j], low)
    last = np.minimum(cells.high[j], high)
    if feasible.categorical[j]:
        costs = np.ones(len(first))
        costs[~feasible.possible_levels[j]] = np.inf
        target = cells.low[j]
    else:
        target = np.clip(origin, first, last)
        costs = np.abs(target - origin)
    costs = np.where(first <= last, costs * feasible.costs[j], np.inf)
    refused = (cells.cell_codes[j] < 0).any(axis=1)
    costs[refused] = np.inf
    target = np.where(np.isfinite(costs), target, origin)
    costs[own], target[own] = 0, origin
    return costs, target
