"""Sparse sums of rules and linear terms: rules grown, and weighed by the lasso.

`EnsembleSearch.find` follows RuleFit (Friedman & Popescu 2008): `boosted_rules` grows
the rules, `linear_terms` standardises the columns of numbers, and the lasso gives both
their coefficients, at the penalty that is best in cross-validation.
"""

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
from sklearn_interpret._inspectors.ordered_table import OrderedTable
from sklearn_interpret._model.progress import phases, with_progress
from sklearn_interpret._model.rows.dates import as_dates
from sklearn_interpret.rules._lasso import LassoFold, LassoProblem, best_penalty
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import Condition
    from sklearn_interpret._core.statistics.score_losses import Loss
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret._model.rows.base import Rows

# Standard deviation of a linear term before the penalty: the mean standard deviation of
# rules, over coverages from 0 to 1 (Friedman & Popescu 2008).
_SPREAD = 0.4
# Relative standard deviation below which a column is constant but for rounding.
_CONSTANT = 1e-10
# Differences of cumulated weights below this share of a weight are rounding errors.
_ROUNDING = 1e-9
# Most rules of a fold, chosen by hand: limits the time of cross-validation, where each
# fold grows rules and solves the lasso for each penalty.
_MAX_RULES_OF_FOLD = 500
# Growth ends after this number of consecutive trees without a new rule: small tables
# have few distinct rules, and random trees might go on to find one forever.
_MAX_TREES_IN_VAIN = 10
# Added to the curvature of each row's loss, which vanishes where a class is certain:
# steps of such leaves would be infinite.
_CURVATURE = 1e-3


class Target(NamedTuple):
    """Numbers to be fitted, and how a fit to them becomes one to the user's targets."""

    values: NDArray[np.float64]  # (n_rows,)
    label: Any = None  # class of which they are the membership, if of any
    origin: float = 0.0  # the user's target where a value is zero
    unit: float = 1.0  # the user's target per unit of the values


class Growth(NamedTuple):
    """How rules are grown: parameters of `BaseRuleFit`."""

    max_rules: int
    tree_size: float  # mean number of leaves
    learning_rate: float


class LinearColumn(NamedTuple):
    """A linear term that may be in a sum, and what it adds to each row."""

    term: LinearTerm
    values: NDArray[np.float64]  # (n_rows,)


class SparseSum(NamedTuple):
    """A sum that was found, in the unit of the user's targets."""

    intercept: float
    penalty: float
    terms: list[WeightedRule | LinearTerm]  # the most important first


class Candidates(NamedTuple):
    """Rules and linear terms among which the lasso selects."""

    table: OrderedTable
    rules: list[tuple[Condition, ...]]
    columns: list[NDArray[Any]]  # flags of rules, then values of linear terms
    lasso: LassoProblem


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
    linear : list of LinearColumn
        Linear terms that may be in the sum.
    loss : Loss of one score
        The loss.
    growth : Growth
        How rules are grown.
    """

    space: ConditionSpace
    codes: NDArray[np.integer]
    weights: NDArray[np.float64]
    class_weights: NDArray[np.float64]
    linear: list[LinearColumn]
    loss: Loss
    growth: Growth

    def find(
        self, target: Target, n_folds: int, random: np.random.RandomState
    ) -> SparseSum:
        """The sum whose penalty is best for rows that folds leave out."""
        seed = random.randint(np.iinfo(np.int32).max)
        progress = phases(3)
        next(progress)
        candidates = self._make_candidates(target.values, self.weights, seed)
        lasso = candidates.lasso
        penalties = lasso.penalties()
        weights_by_fold = _deal_weights(target.values, self.weights, n_folds, random)
        folds = [
            self._make_fold(target.values, weights_out, seed)
            for weights_out in with_progress(weights_by_fold)
        ]
        next(progress)
        best = best_penalty(penalties, folds, self.loss) if folds else 0
        next(progress)
        for penalty in with_progress(penalties[1 : best + 1]):
            lasso.solve(penalty)
        terms = [
            _scale_term(self._make_term(candidates, k), lasso.coefficients[k], target)
            for k in np.flatnonzero(lasso.coefficients).tolist()
        ]
        terms.sort(key=attrgetter("importance"), reverse=True)
        intercept = target.origin + target.unit * lasso.intercept
        return SparseSum(intercept, target.unit * penalties[best], terms)

    def _make_candidates(
        self, targets: NDArray[np.float64], weights: NDArray[np.float64], seed: int
    ) -> Candidates:
        """Rules grown by some weights, the columns of all rows, and the lasso."""
        weights = weights * self.class_weights
        table = OrderedTable.of_codes(self.space, self.codes, targets, weights)
        random = np.random.RandomState(seed)
        rules = boosted_rules(table, targets, weights, self.loss, self.growth, random)
        columns: list[NDArray[Any]] = [rule_mask(table.ranks, rule) for rule in rules]
        columns += [column.values for column in self.linear]
        weighted, used = weights > 0, columns
        if not weighted.all():
            used = [column[weighted] for column in columns]
        shares = shares_of(weights[weighted])
        lasso = LassoProblem(used, targets[weighted], shares, self.loss)
        return Candidates(table, rules, columns, lasso)

    def _make_fold(
        self, targets: NDArray[np.float64], weights_out: NDArray[np.float64], seed: int
    ) -> LassoFold:
        """The problem of a fold that leaves out `weights_out` (n_rows,).

        The fold grows rules of its own: rules that have seen the targets of a row would
        fit them too well.
        """
        max_rules = min(self.growth.max_rules, _MAX_RULES_OF_FOLD)
        search = replace(self, growth=self.growth._replace(max_rules=max_rules))
        candidates = search._make_candidates(targets, self.weights - weights_out, seed)
        is_out = weights_out > 0
        return LassoFold(
            candidates.lasso,
            [column[is_out] for column in candidates.columns],
            targets[is_out],
            (weights_out * self.class_weights)[is_out],
        )

    def _make_term(self, candidates: Candidates, k: int) -> WeightedRule | LinearTerm:
        """The rule or linear term of a column, with the coefficient 1."""
        if k >= len(candidates.rules):
            return self.linear[k - len(candidates.rules)].term
        n_rows = float(self.weights @ candidates.columns[k])
        coverage = n_rows / float(self.weights.sum())
        return WeightedRule(
            candidates.table.conditions(candidates.rules[k]),
            None,
            coverage,
            n_rows=n_rows,
            coef=1.0,
            importance=float(np.sqrt(coverage * (1 - coverage))),
        )


def _scale_term(
    term: WeightedRule | LinearTerm, coefficient: float, target: Target
) -> WeightedRule | LinearTerm:
    """A rule or linear term times its coefficient, in the unit of the target."""
    factor = target.unit * float(coefficient)
    return replace(
        term,
        prediction=target.label,
        coef=factor * term.coef,
        importance=abs(factor) * term.importance,
    )


def linear_terms(
    rows: Rows, columns: list[int], weights: NDArray[np.float64], trim: float
) -> list[LinearColumn]:
    """Linear terms of columns of numbers that vary, all of one standard deviation.

    Weights sum to one.
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
            terms.append(LinearColumn(replace(term, coef=factor), factor * values))
    return terms


def _deal_weights(
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_folds: int,
    random: np.random.RandomState,
) -> list[NDArray[np.float64]]:
    """Weights (n_rows,) that each fold leaves out.

    Copies of rows, sorted by their targets, are dealt out to the folds in turn: all
    folds have similar targets.
    """
    n_folds = min(n_folds, int(weights.sum()))
    if n_folds < 2 or targets.min() == targets.max():
        return []
    order = np.lexsort((random.permutation(len(targets)), targets))
    n_dealt = np.append(0.0, np.cumsum(weights[order]))
    rounds, remainder = np.divmod(n_dealt, n_folds)
    folds = []
    for k in range(n_folds):
        n_dealt_to_fold = rounds + np.clip(remainder - k, 0, 1)
        weights_out = np.empty(len(targets))
        weights_out[order] = np.diff(n_dealt_to_fold)
        # Rounding errors are no part of a row that is left out, or left in.
        smallest = _ROUNDING * weights
        weights_out = np.where(weights_out < smallest, 0.0, weights_out)
        is_all_out = weights - weights_out < smallest
        folds.append(np.where(is_all_out, weights, weights_out))
    return [fold for fold in folds if fold.any() and (fold < weights).any()]


def boosted_rules(
    table: OrderedTable,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    loss: Loss,
    growth: Growth,
    random: np.random.RandomState,
) -> list[tuple[Condition, ...]]:
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
    loss : Loss of one score
        The loss.
    growth : Growth
        Sizes of the trees, and their largest number of rules.
    random : RandomState
        Draws rows and sizes.

    Returns
    -------
    list of tuple of (column, first, last)
        Intervals of ranks.
    """
    weighted = np.flatnonzero(weights)  # rows of positive weight
    ranks = np.ascontiguousarray(table.ranks.T)
    scores = np.full((len(targets), 1), constant_score(loss, targets, weights))
    targets, n_trees_in_vain = targets[:, None], 0
    rules: dict[bytes, tuple[Condition, ...]] = {}
    while len(rules) < growth.max_rules and n_trees_in_vain < _MAX_TREES_IN_VAIN:
        index = _draw_rows(weighted, weights, random)
        # scikit-learn takes no number of leaves above 2**63.
        n_more_leaves = min(random.exponential(growth.tree_size - 2), len(targets))
        n_leaves = 2 + int(n_more_leaves)
        # No such tree is deeper; scikit-learn seeks no splits of nodes of this depth.
        tree = DecisionTreeRegressor(
            max_leaf_nodes=n_leaves, max_depth=n_leaves - 1, random_state=random
        )
        # Grow a tree on the negative slopes of the loss.
        residuals = -loss.slopes(targets, scores)[:, 0]
        with config_context(skip_parameter_validation=True):
            tree.fit(ranks[index], residuals[index, None], check_input=False)
        leaf, n_nodes = tree.tree_.apply(ranks), tree.tree_.node_count
        # Add a Newton step for each leaf to the scores.
        curvatures = loss.curvatures(targets[index], scores[index])[:, 0, 0]
        slope = np.bincount(leaf[index], residuals[index], n_nodes)
        curvature = np.bincount(leaf[index], curvatures + _CURVATURE, n_nodes)
        steps = np.divide(slope, curvature, out=np.zeros(n_nodes), where=curvature > 0)
        scores[:, 0] += growth.learning_rate * steps[leaf]
        # Keep the rules of nodes that hold for new sets of rows.
        n_rules_before = len(rules)
        for rule in table.rules(tree)[1:]:
            mask = rule_mask(table.ranks, rule)[weighted]
            if mask.any() and not mask.all():
                # A rule and its complement have the same key.
                rules.setdefault(np.packbits(mask ^ mask[0]).tobytes(), rule)
        n_trees_in_vain += 1
        if len(rules) > n_rules_before:
            n_trees_in_vain = 0
    return list(rules.values())[: growth.max_rules]


def _draw_rows(
    weighted: NDArray[np.intp],
    weights: NDArray[np.float64],
    random: np.random.RandomState,
) -> NDArray[np.intp]:
    """Rows drawn, each as often as it is drawn: a weight counts as copies of a row."""
    order = random.permutation(weighted)
    cumulated = np.cumsum(weights[order])
    n_rows = cumulated[-1]
    # Friedman & Popescu (2008), section 3.3.
    n_drawn = np.ceil(min(n_rows / 2, 100 + 6 * np.sqrt(n_rows)))
    # Systematic sampling: evenly spaced points in the rows' intervals of cumulated
    # weight, from a random start.
    n_points_before = cumulated * n_drawn / n_rows + random.random_sample()
    n_points_before = n_points_before.astype(np.intp)
    return order.repeat(np.diff(n_points_before, prepend=0))
