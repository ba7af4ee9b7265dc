"""Columns redrawn given the other columns, and losses of a model with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics.permutations import random_donors
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.replacement.replaced import replaced
from sklearn_interpret._model.replacement.replacement import Replacement
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.validation import call_given
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance._nuisance import coded

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.importance._conditional_tests import ConditionalTests

# Levels of a column (a native vector), and their codes (n_rows, 1 + n_samples).
Draws = tuple[Any, NDArray[np.intp]]

# Numbers with at most this many distinct values are drawn as levels.
_MOST_LEVELS = 12
# The tree of the residuals' sizes: residuals are permuted within its leaves.
_LEAVES = {"max_leaf_nodes": 8, "min_samples_leaf": 0.05, "random_state": 0}
# Sizes below this share of their mean count as this share.
_LEAST_SIZE = 0.1
# The regression behind normal draws.
_LINEAR = RidgeCV(np.logspace(-3, 3, 13))
# Values that are encoded for trees at once.
_AT_ONCE = 2**14


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

    def __call__(
        self,
        tests: ConditionalTests,
        columns: tuple[int, ...],
        remaining: Rows,
        test: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> tuple[list[Draws], NDArray[np.float64] | None, float]:
        """Draws for the rows at `test`.

        Returns
        -------
        draws : list of tuple
            For each column, its levels (a native vector) and their codes of shape
            (n_test, 1 + n_samples), first those of the values as they are.
        residuals : ndarray of shape (n_rows, r) or None
            Those of the regressions on the others; None with the user's function.
        score : float
            Held-out R^2 of the regressions.
        """
        rows = tests.rows
        residuals, score = None, np.nan
        if callable(self.sampler):
            values = self._called(self.sampler, rows.take(test), columns, rng)
        elif any(_has_levels(rows, j) for j in columns):
            return self._drawn_levels(tests, columns, remaining, test, rng)
        else:
            values, residuals, score = self._drawn_numbers(
                tests, columns, remaining, test, rng
            )
        pairs = zip(columns, values, strict=True)
        draws = [_as_levels(rows, test, j, sampled) for j, sampled in pairs]
        return draws, residuals, score

    def _called(
        self,
        sampler: Callable[..., Any],
        rows: Rows,
        columns: tuple[int, ...],
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Values for each column, (n_test, n_samples), by the user's function."""
        samples = []
        for _ in range(self.n_samples):
            sample = call_given("sampler", sampler, rows.native, list(columns), rng)
            if np.shape(sample) != (rows.n_rows, len(columns)):
                raise ValueError(
                    f"sampler must return values of shape {rows.n_rows, len(columns)}; "
                    f"it returned some of shape {np.shape(sample)}."
                )
            samples.append(np.asarray(sample))
        return np.stack(samples, axis=2).transpose(1, 0, 2)

    def _drawn_numbers(
        self,
        tests: ConditionalTests,
        columns: tuple[int, ...],
        remaining: Rows,
        test: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> tuple[Any, NDArray[np.float64], float]:
        """Conditional means plus residuals of like rows, or normal ones."""
        feature = np.stack([tests.rows.numbers(j) for j in columns], axis=1)
        if np.isnan(feature).any():
            raise ValueError(
                f"The feature {tests.rows.names[columns[0]]!r} has missing values, "
                'which test="hrt" does not redraw: pass a callable sampler.'
            )
        table, nuisance = coded(remaining, range(remaining.n_columns)), tests.nuisance
        if self.sampler == "gaussian":
            remaining, nuisance = as_rows(table), replace(nuisance, model=_LINEAR)
        # Errors of means of all rows and the shrinkage of their residuals cancel: draws
        # then have the variance of the feature. With held-out ones it is larger.
        means, learner = nuisance(feature).of_all(remaining)
        _, score = tests.held_out(learner, feature, remaining)
        residuals = feature - means
        if self.sampler == "gaussian":
            spread = np.atleast_2d(np.cov(residuals.T, aweights=tests.weights))
            size = len(test), self.n_samples
            noise = rng.multivariate_normal(np.zeros(len(columns)), spread, size)
        else:
            # Residuals are permuted in units of their size, and within leaves of a tree
            # of what is left of it.
            sizes, _ = nuisance(np.abs(residuals)).of_all(remaining)
            sizes = np.maximum(sizes, _LEAST_SIZE * np.abs(residuals).mean(axis=0))
            unit = residuals / np.where(sizes > 0, sizes, 1.0)
            tree = DecisionTreeRegressor(**_LEAVES)
            tree.fit(table, np.abs(unit).sum(axis=1), sample_weight=tests.weights)
            leaves = np.unique(tree.apply(table[test]), return_inverse=True)[1]
            donors = [
                random_donors(tests.weights[test], rng, leaves)
                for _ in range(self.n_samples)
            ]
            noise = sizes[test][:, None] * unit[test][np.stack(donors, axis=1)]
        values = means[test][:, None] + noise
        return values.transpose(2, 0, 1), residuals, score

    def _drawn_levels(
        self,
        tests: ConditionalTests,
        columns: tuple[int, ...],
        remaining: Rows,
        test: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> tuple[Any, NDArray[np.float64], float]:
        """Draws of a single column's levels by their probabilities."""
        (column, *second), rows = columns, tests.rows
        if second:
            raise ValueError(
                f"feature_groups puts {rows.names[column]!r} and others into a group "
                'that has levels, not only numbers, which test="hrt" does not redraw '
                "together: pass a callable sampler."
            )
        codes, labels, first = rows.encode([column])
        flags = (codes[:, None] == np.arange(len(labels))).astype(np.float64)
        means, learner = tests.nuisance(flags).of_all(remaining)
        _, score = tests.held_out(learner, flags, remaining)
        chances = np.maximum(means[test], 0.0).cumsum(axis=1)
        draws = rng.uniform(size=(len(test), self.n_samples, 1)) * chances[:, -1:, None]
        sampled = (draws >= chances[:, None]).sum(axis=2).clip(max=len(labels) - 1)
        all_codes = np.concatenate([codes[test, None], sampled], axis=1)
        return [(rows.take(first).column(column), all_codes)], flags - means, score


def _has_levels(rows: Rows, j: int) -> bool:
    """Whether a column has few values, or no numbers."""
    if not rows.are_numbers[j]:
        return True
    return len(np.unique(rows.column_array(j))) <= _MOST_LEVELS


def _as_levels(
    rows: Rows, test: NDArray[np.intp], j: int, sampled: NDArray[Any]
) -> Draws:
    """Values as they are, and drawn ones, as levels and codes."""
    if (
        rows.dates(j) is not None and sampled.dtype.kind != "f"
    ):  # of the user's function
        sampled = rows.as_numbers(j, sampled.ravel()).reshape(sampled.shape)
    if rows.is_integer(j):
        sampled = np.rint(sampled)
    values = np.concatenate([rows.column_array(j)[test, None], sampled], axis=1)
    levels, codes = np.unique(values, return_inverse=True)
    return rows.cast(j, levels), codes.reshape(values.shape)


def losses_of_draws(
    response: Response,
    rows: Rows,
    columns: tuple[int, ...],
    draws: list[Draws],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Mean squared errors (1 + n_samples,) of a model, summed over its outputs.

    `draws` are as `Redraw` returns them. Trees are followed from each row to the points
    between which they split; other models predict all draws.
    """
    levels, codes = zip(*draws, strict=True)
    point_of_level = None
    if len(columns) == 1:
        try:
            trees = tree_response(response, labels=False)
        except UnreadableModelError:
            pass
        else:
            first, point_of_level = _points(trees, rows, columns, levels[0])
            variants_of_points = np.arange(len(first))[None]
            replacement = Replacement(
                columns, (levels[0].take(first),), (variants_of_points,)
            )
    if point_of_level is None:
        replacement = Replacement(columns, levels, codes, together=True)

    def sums(
        grid: int,
        index: NDArray[np.intp],
        variants: slice,
        responses: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        if point_of_level is not None:
            points = point_of_level[codes[0][index]]
            responses = np.take_along_axis(responses, points[..., None], axis=1)
        errors = (responses - targets[index, None]) ** 2
        return weights[index] @ errors.sum(axis=2)

    model = replaced(
        "brute" if point_of_level is None else "tree", response, rows, [replacement]
    )
    return sum(model.responses(sums)[0]) / weights.sum()


def _points(
    trees: TreeResponse, rows: Rows, columns: tuple[int, ...], levels: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First level of each point that the trees tell apart, and the point of each."""
    first_row, tables = rows.take(np.array([0])), []
    for start in range(0, len(levels), _AT_ONCE):
        block = np.arange(start, min(start + _AT_ONCE, len(levels)))
        native = first_row.tiles(0, 1, len(block)).replaced(
            columns, [levels], [block[None]]
        )
        codes = trees.ensemble.codes(trees.model.encode(native))
        tables.append(codes[:, np.isin(trees.model.columns, columns)])
    codes = np.concatenate(tables)
    _, first, point_of_level = np.unique(
        codes, axis=0, return_index=True, return_inverse=True
    )
    return first, point_of_level
