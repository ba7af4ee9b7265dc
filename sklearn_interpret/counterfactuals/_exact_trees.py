"""What exact counterfactuals of trees are sought."""

from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from sklearn_interpret._core.search.box_program import Solved, cheapest_point
from sklearn_interpret._model.trees.nearest import Cheapest

# The share of the changes of each row before that the next one may have as well.
APART = 0.5 + 1e-9


@dataclass(frozen=True)
class Settings(Cheapest):
    """What is sought, and for how long; as in `ExactCounterfactual`."""

    objective: str
    max_changes: int | None
    any_row: bool = False
    apart: tuple = ()

    def limits(self, n_columns):
        """As of `Cheapest`.

        One row for `max_changes`, and one of `shares` of each row to be apart from.
        """
        counts = [] if self.max_changes is None else [np.ones(n_columns)]
        weights = np.array([*counts, *self.apart]).reshape(-1, n_columns)
        most = [self.max_changes] * len(counts) + [APART] * len(self.apart)
        return weights, np.array(most, dtype=np.float64)

    def cost(self, boxes, point):
        """What is least at the best point."""
        changes = boxes.n_changes(point[None])[0]
        few = changes if self.objective == "n_changed" else 0
        return few, boxes.total_cost(point)

    def solved_way(self, boxes, starts, best, end):
        """As of `Cheapest`."""
        if self.objective == "n_changed":
            return _fewest_changes(boxes, starts, self, end)
        if self.any_row:
            point = boxes.near_point(starts)
            if point is not None or not self.time_limit:
                return Solved(point, 0.0)
            return cheapest_point(boxes, None, end - monotonic())
        return super().solved_way(boxes, starts, best, end)


def _fewest_changes(boxes, starts, settings, end):
    """A point with the fewest changes, the cheapest among these."""
    unit = [np.where(np.isfinite(cost), 1.0, np.inf) for cost in boxes.costs]
    for cost, own in zip(unit, boxes.own, strict=True):
        cost[own] = 0
    much = 1 + sum(cost[np.isfinite(cost)].max() for cost in boxes.costs)
    both = replace(
        boxes,
        costs=[a + much * b for a, b in zip(boxes.costs, unit, strict=True)],
    )
    point = both.near_point(starts)
    if not settings.time_limit:
        return Solved(point, 0.0)
    within = boxes.within and replace(boxes.within, costs=0 * boxes.within.costs)
    counted = replace(boxes, costs=unit, within=within)
    fewest = cheapest_point(counted, point, (end - monotonic()) / 2, step=1.0)
    if fewest.point is None:
        return fewest
    count = boxes.n_changes(fewest.point[None])[0]
    limited = replace(
        boxes,
        change_weights=np.vstack([boxes.change_weights, np.ones(len(boxes.own))]),
        most_changed=np.append(boxes.most_changed, count),
    )
    point = limited.near_point(fewest.point[None])
    solved = cheapest_point(limited, point, end - monotonic())
    proved = fewest.lower_bound >= count
    return solved if proved else Solved(solved.point, 0.0)
