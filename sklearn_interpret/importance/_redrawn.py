"""Columns redrawn given the other columns, and losses of a model with them.

For the holdout randomization test (Tansey et al. 2022): `Redraw` draws values of
columns for some rows, and `losses_of_draws` are the losses of a model with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics.permutations import random_donors
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.replacement.replaced import choose_evaluator
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.validation import call_parameter
from sklearn_interpret.importance._nuisance import encode_columns

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.importance._conditional_tests import ConditionalTests
    from sklearn_interpret.importance._nuisance import Residuals

# Numbers with at most this many distinct values are drawn as levels.
_MOST_LEVELS = 12
# The tree that predicts sizes of residuals: residuals are permuted within its leaves.
_TREE_PARAMETERS = {"max_leaf_nodes": 8, "min_samples_leaf": 0.05, "random_state": 0}
# Predicted sizes are at least this share of the mean size: residuals are divided by
# them. Chosen by hand.
_LEAST_SIZE = 0.1
# The regression behind normal draws.
_LINEAR = RidgeCV(np.logspace(-3, 3, 13))
# Values that are encoded for trees in one block, to bound memory.
_VALUES_PER_BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class RedrawRequest:
    """Columns that are redrawn for some rows, given the other columns."""

    tests: ConditionalTests  # all rows, and their regressions
    columns: tuple[int, ...]
    other_features: Rows  # all rows without the columns
    test_index: NDArray[np.intp]  # positions of the rows that get draws
    rng: np.random.Generator


class Draws(NamedTuple):
    """Observed and drawn values of a column, as codes."""

    levels: Any  # the distinct values, a native vector
    # Positions of values in `levels`: first the observed value, then the drawn ones.
    codes: NDArray[np.intp]  # (n_test, 1 + n_samples)


class Redrawn(NamedTuple):
    """Draws of columns, and the regressions behind them."""

    draws: list[Draws]  # of each column
    residuals: Residuals | None  # None of the user's function


@dataclass(frozen=True)
class Redraw:
    """Draws of columns given the other columns.

    Parameters
    ----------
    sampler : {"residuals", "gaussian"} or callable
        How to draw.
    n_samples : int
        Number of draws.
    """

    sampler: str | Callable[..., Any]
    n_samples: int

    def __call__(self, request: RedrawRequest) -> Redrawn:
        """Draws of the columns."""
        rows, columns = request.tests.rows, request.columns
        residuals = None
        if callable(self.sampler):
            test_rows = rows.take(request.test_index)
            values = self._call_sampler(self.sampler, test_rows, columns, request.rng)
        elif any(_has_levels(rows, j) for j in columns):
            return self._draw_levels(request)
        else:
            values, residuals = self._draw_numbers(request)
        draws = [
            _make_draws(rows, request.test_index, j, sampled)
            for j, sampled in zip(columns, values, strict=True)
        ]
        return Redrawn(draws, residuals)

    def _call_sampler(
        self,
        sampler: Callable[..., Any],
        rows: Rows,
        columns: tuple[int, ...],
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Values for each column, (n_test, n_samples), by the user's function."""
        samples = []
        for _ in range(self.n_samples):
            sample = call_parameter("sampler", sampler, rows.native, list(columns), rng)
            if np.shape(sample) != (rows.n_rows, len(columns)):
                raise ValueError(
                    f"sampler must return values of shape {rows.n_rows, len(columns)}; "
                    f"it returned some of shape {np.shape(sample)}."
                )
            samples.append(np.asarray(sample))
        return np.stack(samples, axis=2).transpose(1, 0, 2)

    def _draw_numbers(
        self, request: RedrawRequest
    ) -> tuple[NDArray[np.float64], Residuals]:
        """Conditional means plus noise, (n_columns, n_test, n_samples), and residuals.

        The noise is normal, or permuted residuals of rows with residuals of like size.
        """
        tests, columns, test_index = request.tests, request.columns, request.test_index
        feature = np.stack([tests.rows.numbers(j) for j in columns], axis=1)
        if np.isnan(feature).any():
            raise ValueError(
                f"The feature {tests.rows.names[columns[0]]!r} has missing values, "
                'which test="hrt" does not redraw: pass a callable sampler.'
            )
        other_features, nuisance = request.other_features, tests.nuisance
        if self.sampler == "gaussian":
            other_features = as_rows(encode_columns(other_features))
            nuisance = replace(nuisance, model=_LINEAR)
        # In-sample means vary more than true ones, and their residuals less: draws have
        # the variance of the feature. With held-out means it would be larger.
        means, residuals = tests.in_sample_residuals(nuisance, feature, other_features)
        if self.sampler == "gaussian":
            covariance = np.atleast_2d(
                np.cov(residuals.values.T, aweights=tests.weights)
            )
            size = len(test_index), self.n_samples
            zeros = np.zeros(len(columns))
            noise = request.rng.multivariate_normal(zeros, covariance, size)
        else:
            noise = self._permute_residuals(residuals.values, request)
        values = means[test_index][:, None] + noise
        return values.transpose(2, 0, 1), residuals

    def _permute_residuals(
        self, residuals: NDArray[np.float64], request: RedrawRequest
    ) -> NDArray[np.float64]:
        """Residuals permuted among rows with residuals of like size.

        They are (n_test, n_samples, r). Residuals are divided by their predicted sizes,
        and permuted within leaves of a tree that predicts the sizes of the quotients.
        """
        tests, test_index = request.tests, request.test_index
        other_features = request.other_features
        # A `Nuisance` makes the learner of the targets that it is called with.
        sizes, _ = tests.nuisance(np.abs(residuals)).predict_in_sample(other_features)
        sizes = np.maximum(sizes, _LEAST_SIZE * np.abs(residuals).mean(axis=0))
        scaled = residuals / np.where(sizes > 0, sizes, 1.0)
        table = encode_columns(other_features)
        tree = DecisionTreeRegressor(**_TREE_PARAMETERS)
        tree.fit(table, np.abs(scaled).sum(axis=1), sample_weight=tests.weights)
        leaves = np.unique(tree.apply(table[test_index]), return_inverse=True)[1]
        donors = [
            random_donors(tests.weights[test_index], request.rng, leaves)
            for _ in range(self.n_samples)
        ]
        return sizes[test_index][:, None] * scaled[test_index][np.stack(donors, axis=1)]

    def _draw_levels(self, request: RedrawRequest) -> Redrawn:
        """Draws of a single column's levels, by their conditional probabilities."""
        tests, test_index, rows = request.tests, request.test_index, request.tests.rows
        column = request.columns[0]
        if len(request.columns) > 1:
            raise ValueError(
                f"feature_groups puts {rows.names[column]!r} and others into a group "
                'that has levels, not only numbers, which test="hrt" does not redraw '
                "together: pass a callable sampler."
            )
        codes, labels, first = rows.encode([column])
        flags = (codes[:, None] == np.arange(len(labels))).astype(np.float64)
        means, residuals = tests.in_sample_residuals(
            tests.nuisance, flags, request.other_features
        )
        # Draws invert the distribution function. Predicted means may be negative, and
        # need not sum to one.
        cumulative = np.maximum(means[test_index], 0.0).cumsum(axis=1)
        uniform = request.rng.uniform(size=(len(test_index), self.n_samples, 1))
        is_above = uniform * cumulative[:, -1:, None] >= cumulative[:, None]
        sampled = is_above.sum(axis=2).clip(max=len(labels) - 1)
        all_codes = np.concatenate([codes[test_index, None], sampled], axis=1)
        draws = Draws(rows.take(first).column(column), all_codes)
        return Redrawn([draws], residuals)


def _has_levels(rows: Rows, j: int) -> bool:
    """Whether a column is drawn as levels: it has few values, or no numbers."""
    if not rows.are_numbers[j]:
        return True
    return len(np.unique(rows.column_array(j))) <= _MOST_LEVELS


def _make_draws(
    rows: Rows, test_index: NDArray[np.intp], j: int, sampled: NDArray[Any]
) -> Draws:
    """Draws of a column from its sampled values (n_test, n_samples)."""
    is_number = sampled.dtype.kind == "f"
    if rows.dates(j) is not None and not is_number:  # of the user's function
        sampled = rows.as_numbers(j, sampled.ravel()).reshape(sampled.shape)
    if rows.is_integer(j):
        sampled = np.rint(sampled)
    values = np.concatenate([rows.column_array(j)[test_index, None], sampled], axis=1)
    levels, codes = np.unique(values, return_inverse=True)
    return Draws(rows.cast(j, levels), codes.reshape(values.shape))


def losses_of_draws(
    response: Response,
    rows: Rows,
    columns: tuple[int, ...],
    draws: list[Draws],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Mean squared errors (1 + n_samples,) of a model, summed over its outputs.

    Trees are followed from each row to the points between which they split; other
    models predict all draws.
    """
    levels, codes = zip(*draws, strict=True)
    # Positions of a row's draws among its variants; None if the draws are the variants.
    variants_of_draws: NDArray[np.intp] | None = None
    replacement = Replacement(columns, levels, codes, together=True)
    if len(columns) == 1:
        trees = read_formula([partial(tree_response, labels=False)], response)
        if trees is not None:
            first, point_of_level = _split_points(trees, rows, columns, levels[0])
            replacement = Replacement(
                columns, (levels[0].take(first),), (np.arange(len(first))[None],)
            )
            variants_of_draws = point_of_level[codes[0]]

    def sum_errors(
        grid: int,
        index: NDArray[np.intp],
        variants: slice,
        responses: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Squared errors summed over a block of rows, (1 + n_samples,)."""
        # Called by the evaluator; there is one `grid`, and `variants` are all of them.
        if variants_of_draws is not None:
            positions = variants_of_draws[index][..., None]
            responses = np.take_along_axis(responses, positions, axis=1)
        errors = (responses - targets[index, None]) ** 2
        return weights[index] @ errors.sum(axis=2)

    method = "brute" if variants_of_draws is None else "tree"
    evaluator = choose_evaluator(method, response, rows, [replacement])
    return sum(evaluator.responses(sum_errors)[0]) / weights.sum()


def _split_points(
    trees: TreeResponse, rows: Rows, columns: tuple[int, ...], levels: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First level of each point that trees tell apart, and the point of each level."""
    first_row, tables = rows.take(np.array([0])), []
    for start in range(0, len(levels), _VALUES_PER_BLOCK):
        block = np.arange(start, min(start + _VALUES_PER_BLOCK, len(levels)))
        tiles = first_row.tiles(0, 1, len(block))
        native = tiles.replace(columns, [levels], [block[None]])
        codes = trees.ensemble.codes(trees.model.encode(native))
        tables.append(codes[:, np.isin(trees.model.columns, columns)])
    codes = np.concatenate(tables)
    points = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    _, first, point_of_level = points
    return first, point_of_level
