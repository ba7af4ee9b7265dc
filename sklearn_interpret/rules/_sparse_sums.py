"""Sparse sums of rules and linear terms: rules grown, and weighed by the lasso."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sklearn_interpret._core.statistics.weighted import (
    known_moments,
    shares_of,
    weighted_quantile,
)
from sklearn_interpret.rules._boosted_rules import OrderedTable, boosted_rules
from sklearn_interpret.rules._lasso import LassoProblem, best_penalty

# Standard deviation of a linear term before the penalty: that of a typical rule.
SPREAD = 0.4
# Standard deviation of a constant, in units of its size.
_CONSTANT = 1e-10
# Share of a weight that is none.
_ROUNDING = 1e-9


class Bounded(NamedTuple):
    """A number between two of its quantiles, in deviations from its mean."""

    feature: int
    low: float
    high: float
    mean: float
    spread: float
    deviations: np.ndarray  # (n_rows,), zero where it is missing


class SparseSum(NamedTuple):
    """A sum of rules and bounded numbers, in the lasso's units.

    Parameters
    ----------
    intercept, penalty : float
        Where the sum starts from, and the penalty.
    rules : list of (tuple of Condition, float, float)
        Conditions, share of the rows for which they hold, and coefficient.
    linear : list of (Bounded, float)
        Numbers, and the coefficient of their deviations over their spread.
    """

    intercept: float
    penalty: float
    rules: list
    linear: list


@dataclass(frozen=True)
class SumSearch:
    """Search for sparse sums of rules and linear terms.

    Parameters
    ----------
    space : ConditionSpace
        The conditions.
    codes : ndarray of shape (n_columns, n_rows), int
        Codes of the rows.
    weights : ndarray of shape (n_rows,)
        Their weights, as numbers of copies.
    linear : list of Bounded
        Numbers that may be in the sum.
    loss : HalfSquared or Logistic
        The loss.
    growth : dict
        How rules are grown: further parameters of `boosted_rules`.
    """

    space: Any
    codes: np.ndarray
    weights: np.ndarray
    linear: list
    loss: Any
    growth: dict

    def find(self, targets, n_folds, random):
        """The `SparseSum` whose penalty is best for rows that were left out.

        Each fold grows rules of its own: rules that have seen the targets of a row
        would fit them too well.
        """
        seed = random.randint(np.iinfo(np.int32).max)
        table, rules, columns, lasso = self._problem(targets, self.weights, seed)
        penalties, folds = lasso.penalties(), []
        for out in _folds(targets, self.weights, n_folds, random):
            *_, own, part = self._problem(targets, self.weights - out, seed)
            left = out > 0
            folds.append((part, own[left], targets[left], out[left]))
        best = best_penalty(penalties, folds, self.loss) if folds else 0
        for penalty in penalties[1 : best + 1]:
            lasso.move(penalty)
        of_rules, of_linear = np.split(lasso.coefficients, [len(rules)])
        found = [
            (
                table.conditions(rules[k], self.space),
                float(shares_of(self.weights) @ columns[:, k]),
                float(of_rules[k]),
            )
            for k in np.flatnonzero(of_rules)
        ]
        terms = [
            (self.linear[k], float(of_linear[k] * SPREAD))
            for k in np.flatnonzero(of_linear)
        ]
        return SparseSum(lasso.intercept, float(penalties[best]), found, terms)

    def _problem(self, targets, weights, seed):
        """Rules grown by some weights, the columns of all rows, and the lasso."""
        table = OrderedTable.of(self.codes, self.space, targets, weights)
        random = np.random.RandomState(seed)
        rules = boosted_rules(
            table, targets, weights, self.loss, random=random, **self.growth
        )
        columns = np.empty((len(rules) + len(self.linear), len(targets)))
        for column, rule in zip(columns, rules, strict=False):
            column[:] = table.holds(rule)
        for column, number in zip(columns[len(rules) :], self.linear, strict=True):
            column[:] = SPREAD * number.deviations / number.spread
        columns, used = columns.T, np.flatnonzero(weights)
        shares = shares_of(weights[used])
        lasso = LassoProblem(columns[used], targets[used], shares, self.loss)
        return table, rules, columns, lasso


def bounded_numbers(rows, columns, weights, trim):
    """Some columns of numbers as `Bounded`, but for constant ones."""
    found = []
    for j in columns:
        numbers = rows.numbers(j)
        known = ~np.isnan(numbers)
        if not known.any():
            continue
        ends = weighted_quantile(numbers[known], [trim, 1 - trim], weights[known])
        bounded = np.clip(numbers, *ends)
        moments = known_moments(bounded, weights)
        deviations = np.nan_to_num(bounded - moments.mean)
        spread = np.sqrt(weights @ np.square(deviations))
        if spread > _CONSTANT * np.abs(ends).max():
            low, high, mean = map(float, (*ends, moments.mean))
            found.append(Bounded(j, low, high, mean, float(spread), deviations))
    return found


def _folds(targets, weights, n_folds, random):
    """Weights that each fold leaves out, (n_rows,); all folds have like targets.

    Copies of rows are dealt out in the order of their targets.
    """
    total = weights.sum()
    n_folds = min(n_folds, int(total))
    if n_folds < 2 or targets.min() == targets.max():
        return []
    order = np.lexsort((random.permutation(len(targets)), targets))
    ends = np.append(0.0, np.cumsum(weights[order]))
    whole, rest = np.divmod(ends, n_folds)
    folds = []
    for k in range(n_folds):
        out = np.empty(len(targets))
        out[order] = np.diff(whole + np.clip(rest - k, 0, 1))
        # What is left of a row is all, nothing, or more than rounding.
        out = np.where(out < _ROUNDING * weights, 0.0, out)
        folds.append(np.where(weights - out < _ROUNDING * weights, weights, out))
    return [out for out in folds if out.any() and (out < weights).any()]
