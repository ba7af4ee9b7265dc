"""Columns redrawn given the other columns, and losses of a model with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
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

    sampler: Any
    n_samples: int

    def __call__(self, tests, columns, others, rest, rng):
        """Draws for the rows at `rest`.

        Returns
        -------
        draws : list of tuple
            For each column, its levels (a native vector) and their codes of shape
            (n_rest, 1 + n_samples), first those of the values as they are.
        residuals : ndarray of shape (n_rows, r) or None
            Those of the regressions on the others; None with the user's function.
        score : float
            Held-out R^2 of the regressions.
        """
        rows = tests.rows
        if callable(self.sampler):
            values, found = self._called(rows.take(rest), columns, rng), (None, np.nan)
        elif any(_has_levels(rows, j) for j in columns):
            return self._drawn_levels(tests, columns, others, rest, rng)
        else:
            values, *found = self._drawn_numbers(tests, columns, others, rest, rng)
        pairs = zip(columns, values, strict=True)
        return [_as_levels(rows, rest, j, drawn) for j, drawn in pairs], *found

    def _called(self, rows, columns, rng):
        """Values for each column, (n_rest, n_samples), by the user's function."""
        found = []
        for _ in range(self.n_samples):
            drawn = call_given("sampler", self.sampler, rows.native, list(columns), rng)
            if np.shape(drawn) != (rows.n_rows, len(columns)):
                raise ValueError(
                    f"sampler must return values of shape {rows.n_rows, len(columns)}; "
                    f"it returned some of shape {np.shape(drawn)}."
                )
            found.append(np.asarray(drawn))
        return np.stack(found, axis=2).transpose(1, 0, 2)

    def _drawn_numbers(self, tests, columns, others, rest, rng):
        """Conditional means plus residuals of like rows, or normal ones."""
        given = np.stack([tests.rows.numbers(j) for j in columns], axis=1)
        if np.isnan(given).any():
            raise ValueError(
                f"The feature {tests.rows.names[columns[0]]!r} has missing values, "
                'which test="hrt" does not redraw: pass a callable sampler.'
            )
        table, nuisance = coded(others, range(others.n_columns)), tests.nuisance
        if self.sampler == "gaussian":
            others, nuisance = as_rows(table), replace(nuisance, model=_LINEAR)
        # Errors of means of all rows and the shrinkage of their residuals cancel: draws
        # then have the variance of the feature. With held-out ones it is larger.
        means, learner = nuisance(given).of_all(others)
        _, score = tests.held_out(learner, given, others)
        left = given - means
        if self.sampler == "gaussian":
            spread = np.atleast_2d(np.cov(left.T, aweights=tests.weights))
            size = len(rest), self.n_samples
            noise = rng.multivariate_normal(np.zeros(len(columns)), spread, size)
        else:
            # Residuals are permuted in units of their size, and within leaves of a tree
            # of what is left of it.
            size, _ = nuisance(np.abs(left)).of_all(others)
            size = np.maximum(size, _LEAST_SIZE * np.abs(left).mean(axis=0))
            unit = left / np.where(size > 0, size, 1.0)
            tree = DecisionTreeRegressor(**_LEAVES)
            tree.fit(table, np.abs(unit).sum(axis=1), sample_weight=tests.weights)
            leaves = np.unique(tree.apply(table[rest]), return_inverse=True)[1]
            donors = [
                random_donors(tests.weights[rest], rng, leaves)
                for _ in range(self.n_samples)
            ]
            noise = size[rest][:, None] * unit[rest][np.stack(donors, axis=1)]
        values = means[rest][:, None] + noise
        return values.transpose(2, 0, 1), left, score

    def _drawn_levels(self, tests, columns, others, rest, rng):
        """Draws of a single column's levels by their probabilities."""
        (column, *more), rows = columns, tests.rows
        if more:
            raise ValueError(
                f"feature_groups puts {rows.names[column]!r} and others into a group "
                'that has levels, not only numbers, which test="hrt" does not redraw '
                "together: pass a callable sampler."
            )
        codes, labels, first = rows.encode([column])
        flags = (codes[:, None] == np.arange(len(labels))).astype(np.float64)
        means, learner = tests.nuisance(flags).of_all(others)
        _, score = tests.held_out(learner, flags, others)
        chances = np.maximum(means[rest], 0.0).cumsum(axis=1)
        draws = rng.uniform(size=(len(rest), self.n_samples, 1)) * chances[:, -1:, None]
        drawn = (draws >= chances[:, None]).sum(axis=2).clip(max=len(labels) - 1)
        both = np.concatenate([codes[rest, None], drawn], axis=1)
        return [(rows.take(first).column(column), both)], flags - means, score


def _has_levels(rows, j):
    """Whether a column has few values, or no numbers."""
    return (
        not rows.are_numbers[j] or len(np.unique(rows.column_array(j))) <= _MOST_LEVELS
    )


def _as_levels(rows, rest, j, drawn):
    """Values as they are, and drawn ones, as levels and codes."""
    if rows.dates(j) is not None and drawn.dtype.kind != "f":  # of the user's function
        drawn = rows.as_numbers(j, drawn.ravel()).reshape(drawn.shape)
    if rows.is_integer(j):
        drawn = np.rint(drawn)
    values = np.concatenate([rows.column_array(j)[rest, None], drawn], axis=1)
    levels, codes = np.unique(values, return_inverse=True)
    return rows.cast(j, levels), codes.reshape(values.shape)


def losses_of_draws(response, rows, columns, draws, targets, weights):
    """Mean squared errors (1 + n_samples,) of a model, summed over its outputs.

    `draws` are as `Redraw` returns them. Trees are followed from each row to the points
    between which they split; other models predict all draws.
    """
    levels, codes = zip(*draws, strict=True)
    at = None
    if len(columns) == 1:
        try:
            trees = tree_response(response, labels=False)
        except UnreadableModelError:
            pass
        else:
            first, at = _points(trees, rows, columns, levels[0])
            every = np.arange(len(first))[None]
            replacement = Replacement(columns, (levels[0].take(first),), (every,))
    if at is None:
        replacement = Replacement(columns, levels, codes, together=True)

    def sums(which, index, variants, responses):
        if at is not None:
            places = at[codes[0][index]]
            responses = np.take_along_axis(responses, places[..., None], axis=1)
        errors = (responses - targets[index, None]) ** 2
        return weights[index] @ errors.sum(axis=2)

    model = replaced("brute" if at is None else "tree", response, rows, [replacement])
    return sum(model.responses(sums)[0]) / weights.sum()


def _points(trees, rows, columns, levels):
    """First level of each point that the trees tell apart, and the point of each."""
    row, found = rows.take([0]), []
    for start in range(0, len(levels), _AT_ONCE):
        some = np.arange(start, min(start + _AT_ONCE, len(levels)))
        native = row.tiles(0, 1, len(some)).replaced(columns, [levels], [some[None]])
        codes = trees.ensemble.codes(trees.model.encode(native))
        found.append(codes[:, np.isin(trees.model.columns, columns)])
    codes = np.concatenate(found)
    return np.unique(codes, axis=0, return_index=True, return_inverse=True)[1:]
