"""Sparse sums of rules and linear terms: rules grown, and weighed by the lasso."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.rules.coded_conditions import rule_mask
from sklearn_interpret._core.statistics.score_losses import constant_score
from sklearn_interpret._core.statistics.weighted import (
    known_moments,
    shares_of,
    weighted_quantile,
)
from sklearn_interpret._model.progress import phases, with_progress
from sklearn_interpret._model.rows.dates import as_dates
from sklearn_interpret.rules._lasso import LassoProblem, best_penalty
from sklearn_interpret.rules._ordered_table import OrderedTable
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

    pass

# Standard deviation of a linear term before the penalty: that of a typical rule.
_SPREAD = 0.4
# Relative standard deviation below which a column is constant.
_CONSTANT = 1e-10
# Parts of a weight below this share are zero.
_ROUNDING = 1e-9
# Most rules of a fold: with more, its penalty takes longer and predicts no better.
_MAX_RULES_OF_FOLD = 500
# Growth ends after this number of consecutive trees without a new rule.
_IN_VAIN = 10
# Added to curvatures of the loss, which vanish in leaves of one class.
_CURVATURE = 1e-3


class Target(NamedTuple):
    """Numbers (n_rows,) to be fitted, the class they are of, their origin and unit."""

    values: np.ndarray
    label: Any = None
    origin: float = 0.0
    unit: float = 1.0


@dataclass(frozen=True)
class EnsembleSearch:
    """Search for sparse sums of rules and linear terms.

    Parameters
    ----------
    space : ConditionSpace
        The conditions.
    codes : ndarray of shape (n_columns, n_rows), int
        Codes of the rows.
    weights : ndarray of shape (n_rows,)
        Their weights, as numbers of copies.
    class_weights : ndarray of shape (n_rows,)
        Factors of the weights, but where rows are counted.
    linear : list of (LinearTerm, ndarray of shape (n_rows,))
        Linear terms that may be in the sum, and what they add to each row.
    loss : HalfSquared or Logistic
        The loss.
    growth : dict
        How rules are grown: further parameters of `boosted_rules`.
    """

    space: Any
    codes: np.ndarray
    weights: np.ndarray
    class_weights: np.ndarray
    linear: list
    loss: Any
    growth: dict

    def find(
        self, target: Target, n_folds: int, random: np.random.RandomState
    ) -> tuple[float, float, list[Any]]:
        """The sum whose penalty is best for rows that were left out.

        Each fold grows rules of its own: rules that have seen the targets of a row
        would fit them too well. Folds share what is known without targets, and the
        penalties. Returns the intercept, the penalty, and the rules and linear terms,
        the most important first.
        """
        numbers, seed = target.values, random.randint(np.iinfo(np.int32).max)
        progress = phases(3)
        next(progress)
        table, rules, columns, lasso = self._problem(numbers, self.weights, seed)
        penalties, folds = lasso.penalties(), []
        max_rules = min(self.growth["max_rules"], _MAX_RULES_OF_FOLD)
        of_fold = replace(self, growth=self.growth | {"max_rules": max_rules})
        for out in with_progress(_folds(numbers, self.weights, n_folds, random)):
            *_, fold_columns, fold_lasso = of_fold._problem(
                numbers, self.weights - out, seed
            )
            is_out = out > 0
            costs = (out * self.class_weights)[is_out]
            folds.append((fold_lasso, fold_columns[is_out], numbers[is_out], costs))
        next(progress)
        best = best_penalty(penalties, folds, self.loss) if folds else 0
        next(progress)
        for penalty in with_progress(penalties[1 : best + 1]):
            lasso.move(penalty)
        entries = []
        for k in np.flatnonzero(lasso.coefficients):
            if k < len(rules):
                n_rows = float(self.weights @ columns[:, k])
                share = n_rows / float(self.weights.sum())
                spread = float(np.sqrt(share * (1 - share)))
                entry: Any = WeightedRule(
                    table.conditions(rules[k]),
                    None,
                    share,
                    n_rows=n_rows,
                    coef=1.0,
                    importance=spread,
                )
            else:
                entry, _ = self.linear[k - len(rules)]
            entries.append(_times(entry, lasso.coefficients[k], target))
        entries.sort(key=attrgetter("importance"), reverse=True)
        intercept = target.origin + target.unit * lasso.intercept
        return intercept, target.unit * penalties[best], entries

    def _problem(
        self, targets: NDArray[np.float64], weights: NDArray[np.float64], seed: int
    ) -> Any:
        """Rules grown by some weights, the columns of all rows, and the lasso."""
        weights = weights * self.class_weights
        table = OrderedTable.of_codes(self.space, self.codes, targets, weights)
        random = np.random.RandomState(seed)
        rules = boosted_rules(
            table, targets, weights, self.loss, random=random, **self.growth
        )
        masks = [rule_mask(table.ranks, rule) for rule in rules]
        entries = [*masks, *(values for _, values in self.linear)]
        columns = np.array(entries, dtype=np.float64).reshape(-1, len(targets)).T
        used = np.flatnonzero(weights)
        shares = shares_of(weights[used])
        lasso = LassoProblem(columns[used], targets[used], shares, self.loss)
        return table, rules, columns, lasso


def _times(entry: Any, coefficient: float, target: Target) -> Any:
    """A rule or linear term times its coefficient, in the unit of the target."""
    factor = target.unit * float(coefficient)
    return replace(
        entry,
        prediction=target.label,
        coef=factor * entry.coef,
        importance=abs(factor) * entry.importance,
    )


def linear_terms(
    rows: Rows, columns: list[int], weights: NDArray[np.float64], trim: float
) -> list[tuple[LinearTerm, NDArray[np.float64]]]:
    """Linear terms of columns of numbers, but for constant ones, all of one spread.

    Returns pairs of a `LinearTerm` and what it adds to each row, (n_rows,). Weights sum
    to one.
    """
    terms = []
    for j in columns:
        numbers = rows.numbers(j)
        observed = ~np.isnan(numbers)
        if not observed.any():
            continue
        ends = weighted_quantile(numbers[observed], [trim, 1 - trim], weights[observed])
        mean = known_moments(np.clip(numbers, *ends), weights).mean
        bounds = list(map(float, (*ends, mean)))
        dtype = rows.date_dtype(j)
        if dtype is not None:  # the mean of days is no whole day
            bounds = [*as_dates(ends, dtype), *as_dates([mean], f"{dtype.kind}8[s]")]
        low, high, middle = bounds
        term = LinearTerm(j, rows.names[j], low, high, middle, None, 1.0, _SPREAD)
        values = term.values(rows)
        spread = float(np.sqrt(weights @ np.square(values)))
        if spread > _CONSTANT * np.abs(ends).max():
            factor = _SPREAD / spread
            terms.append((replace(term, coef=factor), factor * values))
    return terms


def _folds(
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_folds: int,
    random: np.random.RandomState,
) -> list[NDArray[np.float64]]:
    """Weights that each fold leaves out, (n_rows,); all folds have like targets.

    Copies of rows are dealt out in the order of their targets.
    """
    total = weights.sum()
    n_folds = min(n_folds, int(total))
    if n_folds < 2 or targets.min() == targets.max():
        return []
    order = np.lexsort((random.permutation(len(targets)), targets))
    ends = np.append(0.0, np.cumsum(weights[order]))
    fold, remainder = np.divmod(ends, n_folds)
    folds = []
    for k in range(n_folds):
        out = np.empty(len(targets))
        out[order] = np.diff(fold + np.clip(remainder - k, 0, 1))
        # Parts of a row are all, nothing, or more than rounding.
        out = np.where(out < _ROUNDING * weights, 0.0, out)
        folds.append(np.where(weights - out < _ROUNDING * weights, weights, out))
    return [out for out in folds if out.any() and (out < weights).any()]


def boosted_rules(
    table: OrderedTable,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    loss: Any,
    *,
    max_rules: int,
    tree_size: int,
    learning_rate: float,
    random: np.random.RandomState,
) -> list[tuple[tuple[int, int, int], ...]]:
    """Rules that hold for different rows, of trees that are boosted by a loss.

    Each tree has a random number of leaves, of mean `tree_size`, and a part of the rows
    (Friedman & Popescu 2008, section 3.3). Of rules that hold for the same rows, or for
    all but these, the first is kept.

    Parameters
    ----------
    table : OrderedTable
        Rows; those of weight zero are not used.
    targets, weights : ndarray of shape (n_rows,)
        Their targets and weights.
    loss : HalfSquared or Logistic
        The loss.
    max_rules : int
        Largest number of rules.
    tree_size, learning_rate : float
        Mean number of leaves, and share of each tree that is added.
    random : RandomState
        Draws rows and sizes.

    Returns
    -------
    list of tuple of (column, first, last)
        Intervals of ranks.
    """
    used = np.flatnonzero(weights)
    ranks = np.ascontiguousarray(table.ranks.T)
    scores = np.full((len(targets), 1), constant_score(loss, targets, weights))
    targets, in_vain = targets[:, None], 0
    rules: dict[bytes, tuple[tuple[int, int, int], ...]] = {}
    while len(rules) < max_rules and in_vain < _IN_VAIN:
        index = _draw(used, weights, random)
        # scikit-learn takes no number of leaves above 2**63.
        n_leaves = 2 + int(min(random.exponential(tree_size - 2), len(targets)))
        # No such tree is deeper; scikit-learn seeks no splits of nodes of this depth.
        tree = DecisionTreeRegressor(
            max_leaf_nodes=n_leaves, max_depth=n_leaves - 1, random_state=random
        )
        residuals = -loss.slopes(targets, scores)[:, 0]
        with config_context(skip_parameter_validation=True):
            tree.fit(ranks[index], residuals[index, None], check_input=False)
        leaf = tree.tree_.apply(ranks)
        curvatures = loss.curvatures(targets[index], scores[index])[:, 0, 0]
        n_nodes = tree.tree_.node_count
        rise = np.bincount(leaf[index], residuals[index], n_nodes)
        curvature = np.bincount(leaf[index], curvatures + _CURVATURE, n_nodes)
        steps = np.divide(rise, curvature, out=np.zeros(n_nodes), where=curvature > 0)
        scores[:, 0] += learning_rate * steps[leaf]
        before = len(rules)
        for rule in table.rules(tree.tree_)[1:]:
            mask = rule_mask(table.ranks, rule)[used]
            if mask.any() and not mask.all():
                rules.setdefault(np.packbits(mask ^ mask[0]).tobytes(), rule)
        in_vain = 0 if len(rules) > before else in_vain + 1
    return list(rules.values())[:max_rules]


def _draw(
    used: NDArray[np.intp], weights: NDArray[np.float64], random: np.random.RandomState
) -> NDArray[np.intp]:
    """Drawn rows, each as often as it is drawn: a weight is as good as copies."""
    order = random.permutation(used)
    ends = np.cumsum(weights[order])
    n_rows = ends[-1]
    # Friedman & Popescu (2008), section 3.3.
    n_drawn = np.ceil(min(n_rows / 2, 100 + 6 * np.sqrt(n_rows)))
    places = ends * n_drawn / n_rows + random.random_sample()
    return order.repeat(np.diff(places.astype(np.intp), prepend=0))
