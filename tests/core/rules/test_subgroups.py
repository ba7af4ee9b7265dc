"""The best boxes of binned columns, against an enumeration of all boxes."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._core.rules.coded_conditions import Condition, rule_mask
from sklearn_interpret._core.rules.subgroups import BinnedRows


def random_rows(rng):
    """Rows of three or four columns, some with missing values, and tied values."""
    n_rows, n_columns = rng.integers(5, 60), rng.integers(1, 5)
    n_known = rng.integers(1, 5, n_columns)
    n_bins = n_known + rng.integers(0, 2, n_columns)
    bins = rng.integers(0, n_bins[:, None], (n_columns, n_rows))
    values = rng.exponential(size=n_rows).round(rng.choice([0, 1, 12]))
    weights = rng.choice([1.0, 2.0, 0.5], n_rows)
    return BinnedRows(bins, n_known, values, weights)


def all_boxes(rows, max_conditions):
    """The rows of each box, once for each way to write it down."""
    columns = []
    for j, n_known in enumerate(rows.n_known):
        ends = [(a, b) for a in range(n_known) for b in range(a, n_known)]
        ends += [(n_known, n_known)]
        columns.append([Condition(j, *interval) for interval in ends])
    for size in range(1, max_conditions + 1):
        for chosen in combinations(columns, size):
            yield from (rule_mask(rows.bins, rule) for rule in product(*chosen))


def literal_scores(rows, n_boxes, max_conditions, min_weight):
    """Scores of the boxes that are chosen one after the other."""
    mean = np.average(rows.values, weights=rows.weights)
    deviation = np.sqrt(np.average((rows.values - mean) ** 2, weights=rows.weights))
    scored = []
    for mask in all_boxes(rows, max_conditions):
        weights, values = rows.weights[mask], rows.values[mask]
        if mask.sum() > 0 and weights.sum() >= min_weight and deviation > 0:
            excess = np.average(values, weights=weights) - mean
            scored.append((excess * np.sqrt(weights.sum()) / deviation, mask))
    chosen = []
    while len(chosen) < n_boxes:
        apart = [
            (score, mask)
            for score, mask in scored
            if score > 1e-9
            and all(
                rows.weights[mask & other].sum() <= rows.weights[mask | other].sum() / 2
                for _, other in chosen
            )
        ]
        if not apart:
            break
        chosen.append(max(apart, key=lambda entry: entry[0]))
    return [score for score, _ in chosen]


@pytest.mark.thorough(after=40)
@pytest.mark.parametrize("seed", range(300))
def test_best_boxes(seed):
    rng = np.random.default_rng(seed)
    rows, max_conditions = random_rows(rng), int(rng.integers(1, 4))
    min_weight = rng.uniform(1, 5)
    boxes = rows.best_boxes(4, max_conditions, min_weight)
    scores = literal_scores(rows, 4, max_conditions, min_weight)
    # Ties may be chosen in another order, and then exclude other boxes.
    n_compared = None if (rows.values != rows.values.round(1)).any() else 1
    found = [box.score for box in boxes]
    assert_allclose(found[:n_compared], scores[:n_compared], rtol=1e-9)
    mean, deviation = rows._overall
    for box in boxes:
        mask = rule_mask(rows.bins, box.conditions)
        total = rows.weights[mask].sum()
        assert total >= min_weight
        assert len(box.conditions) <= max_conditions
        excess = np.average(rows.values[mask], weights=rows.weights[mask]) - mean
        assert_allclose(box.score, excess * np.sqrt(total) / deviation)
