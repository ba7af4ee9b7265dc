"""Rules for one class against others: grown, pruned, and compared with variants.

RIPPER of Cohen (1995), with the choices of Weka's JRip where the paper leaves them
open. :func:`ripper` takes one class after the other; :class:`ClassRules` searches the
rules of one class. Where something holds for some rows, p is the weight of the class
among them, and t the weight of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.rules.coded_conditions import Condition, distinct_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import CodedTable

# Cohen's d: the search ends at a description this many bits longer than the shortest.
_MAX_SURPLUS = 64
# Relative rounding error of gains.
_ROUNDING = 1e-12


class _MeasuredRule(NamedTuple):
    """A rule and what it measures."""

    rule: list[Condition]
    mask: NDArray[np.bool_]  # of the rows for which it holds
    bits: float  # its description length


class ClassRules:
    """Search for the rules of one class among the rows of a table.

    Parameters
    ----------
    table : CodedTable
        The table.
    positive : ndarray of shape (n_rows,), bool
        Rows of the class.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    min_weight : float
        Weight of the rows of the class for which a rule has to hold as it is grown.
    random : RandomState
        Source of the rows that rules are grown on; the rest prunes them.
    """

    def __init__(
        self,
        table: CodedTable,
        positive: NDArray[np.bool_],
        weights: NDArray[np.float64],
        min_weight: float,
        random: np.random.RandomState,
    ) -> None:
        self.table, self.positive = table, positive
        # Weights of the class, and of all rows: with a mask they give p and t.
        self.weights = np.stack([weights * positive, weights])
        self.total = self.weights.sum(axis=1)
        self.min_weight, self.random = min_weight, random
        self.n_conditions = table.n_conditions

    def find_unpruned(self) -> list[list[Condition]]:
        """Rules of sequential covering: grown until they make no errors."""
        return [added.rule for added in self._add_rules([], self.grow, np.inf)]

    def find_pruned(self, n_optimizations: int) -> list[list[Condition]]:
        """Rules of RIPPER: IREP*, then passes that optimize them."""
        rules = self._add_rules([], self._grow_and_prune, _MAX_SURPLUS)
        for _ in range(n_optimizations):
            rules = self._optimize(rules)
            rules = self._add_rules(rules, self._grow_and_prune, _MAX_SURPLUS)
            rules, _ = self._drop_useless(rules)
        return [rule for rule, _, _ in rules]

    def _add_rules(
        self,
        rules: list[_MeasuredRule],
        find: Callable[[NDArray[np.bool_]], list[Condition]],
        max_surplus: float,
    ) -> list[_MeasuredRule]:
        """Add rules for the rows that the rules so far do not cover."""
        rules, uncovered = list(rules), self._uncovered_by(rules)
        shortest = self._description_length(rules)
        while (uncovered & self.positive).any():
            new = self._measure_rule(find(uncovered))
            p, t = self.weights @ (uncovered & new.mask)
            bits = self._description_length([*rules, new])
            mostly_errs = p <= t / 2
            if not new.rule or mostly_errs or bits > shortest + max_surplus:
                break
            rules.append(new)
            uncovered &= ~new.mask
            shortest = min(shortest, bits)
        return rules

    def _uncovered_by(self, rules: list[_MeasuredRule]) -> NDArray[np.bool_]:
        """Mask of the rows for which none of the rules holds."""
        uncovered = np.ones(len(self.positive), dtype=bool)
        for rule in rules:
            uncovered &= ~rule.mask
        return uncovered

    def grow(
        self, rows: NDArray[np.bool_], start: Sequence[Condition] = ()
    ) -> list[Condition]:
        """Add the condition of the largest gain to a rule, until it makes no errors."""
        rule, order = list(start), None
        inside = rows & self.table.holds(rule)
        while not self.positive[inside].all():
            order = self.table.sorted_rows(inside, order)
            column, first, last, sums = self.table.candidates(order, self.weights)
            p, t = self.weights @ inside
            best = _largest_gain(sums, p / t, self.min_weight)
            if best is None:
                break
            ends = int(first[best]), int(last[best])
            rule.append(Condition(int(column[best]), *ends))
            inside &= self.table.holds(rule[-1:])
        return rule

    def _grow_and_prune(self, rows: NDArray[np.bool_]) -> list[Condition]:
        """A rule grown on some of the rows, and pruned on the others."""
        grown_on, pruned_on = self._split(rows)
        return self._prune(self.grow(grown_on), pruned_on)

    def _split(
        self, rows: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of two thirds of the rows, and of the rest.

        The weights of the class and of the other rows are both split in this ratio.
        """
        order = self.random.permutation(len(rows))
        order = order[rows[order]]
        grown_on = np.zeros_like(rows)
        for members in (order[self.positive[order]], order[~self.positive[order]]):
            weights = self.weights[1, members]
            middle = np.cumsum(weights) - weights / 2
            grown_on[members[middle <= weights.sum() * 2 / 3]] = True
        return grown_on, rows & ~grown_on

    def _prune(
        self, rule: list[Condition], rows: NDArray[np.bool_], by_accuracy: bool = False
    ) -> list[Condition]:
        """Drop the last conditions where that makes a rule better on other rows.

        The value of a rule is (p + 1) / (t + 2), for the weights p of the class and t
        of all rows that it covers: Weka's, not Cohen's (2 p - t) / t. With
        `by_accuracy`, it is the share of all rows that the rule gets right.
        """
        positive, total = self.weights @ rows
        if total == 0:
            return rule
        best, length, inside = (positive + 1) / (total + 2), len(rule), rows
        for n_conditions, condition in enumerate(rule, start=1):
            inside = inside & self.table.holds([condition])
            p, t = self.weights @ inside
            value = (p + 1) / (t + 2)
            if by_accuracy:
                value = (p + (total - positive) - (t - p)) / total
            if value > best:
                best, length = value, n_conditions
        return rule[:length]

    def _optimize(self, rules: list[_MeasuredRule]) -> list[_MeasuredRule]:
        """Rules, each revised or replaced where that takes fewer bits."""
        rules, uncovered = list(rules), self._uncovered_by([])
        for k, rule in enumerate(rules):
            if (uncovered & self.positive).any() and (uncovered & rule.mask).any():
                later = rules[k + 1 :]
                variants = [rule, *self._grow_variants(rule.rule, uncovered, later)]
                bits = [
                    self._drop_useless([*rules[:k], variant, *later])[1]
                    for variant in variants
                ]
                rules[k] = variants[int(np.argmin(bits))]
            uncovered &= ~rules[k].mask
        return rules

    def _grow_variants(
        self,
        start: list[Condition],
        uncovered: NDArray[np.bool_],
        later: list[_MeasuredRule],
    ) -> Iterator[_MeasuredRule]:
        """Cohen's revision, grown from the rule `start`, and replacement, from none."""
        grown_on, pruned_on = self._split(uncovered)
        pruned_on &= self._uncovered_by(later)
        for first in (start, []):
            rule = self._prune(self.grow(grown_on, first), pruned_on, by_accuracy=True)
            if rule:
                yield self._measure_rule(rule)

    def _measure_rule(self, rule: list[Condition]) -> _MeasuredRule:
        """A rule with its rows and bits."""
        bits = theory_bits(len(rule), self.n_conditions)
        return _MeasuredRule(rule, self.table.holds(rule), bits)

    def _drop_useless(
        self, rules: list[_MeasuredRule]
    ) -> tuple[list[_MeasuredRule], float]:
        """Rules that save bits, tested from the last on, and their bits in all."""
        n_rules = np.zeros(len(self.positive), dtype=np.intp)  # that hold for each row
        for rule in rules:
            n_rules += rule.mask
        covered = self.weights @ (n_rules > 0)
        rule_bits = sum(rule.bits for rule in rules)
        bits_of_errors = self._error_bits(covered)
        selected: list[_MeasuredRule] = []
        for rule in reversed(rules):
            covered_without = covered - self.weights @ (rule.mask & (n_rules == 1))
            bits_without = self._error_bits(covered_without)
            if bits_without - rule.bits <= bits_of_errors:
                n_rules -= rule.mask
                covered, bits_of_errors = covered_without, bits_without
                rule_bits -= rule.bits
            else:
                selected.insert(0, rule)
        return selected, bits_of_errors + rule_bits

    def _description_length(self, rules: list[_MeasuredRule]) -> float:
        """Description length of rules and their errors."""
        covered = self.weights @ ~self._uncovered_by(rules)
        return self._error_bits(covered) + sum(rule.bits for rule in rules)

    def _error_bits(self, covered: NDArray[np.float64]) -> float:
        """Bits of the errors of rules, from the weights p and t that they cover."""
        (p, t), (positive, total) = covered, self.total
        return error_bits(t, total - t, t - p, positive - p, positive / total)


def _largest_gain(
    sums: NDArray[np.float64], precision: float, min_weight: float
) -> int | None:
    """Position of the condition of the largest FOIL gain; None if no condition gains.

    The gain is p log2((p / t) / precision), with the weights p and t (`sums`) where the
    condition holds in addition to the rule, and the `precision` of the rule before.
    """
    p, t = sums
    # Gains below rounding do not count; of equal gains the first counts.
    is_better = p > precision * t * (1 + _ROUNDING)
    allowed = np.flatnonzero((p >= min_weight) & is_better)
    if not len(allowed):
        return None
    p, t = p[allowed], t[allowed]
    gain = p * np.log2(p / (precision * t))
    return int(allowed[np.argmax(gain >= gain.max() * (1 - _ROUNDING))])


def ripper(
    table: CodedTable,
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
    class_weights: NDArray[np.float64],
    *,
    prune: bool,
    n_optimizations: int,
    min_weight: float,
    random: np.random.RandomState,
) -> list[list[Condition]]:
    """Rules for each class but the largest, from the rarest on.

    Parameters
    ----------
    table : CodedTable
        The table.
    labels : ndarray of shape (n_rows,), int
        Classes of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    class_weights : ndarray of shape (n_classes,)
        Factors of the weights; the order of the classes ignores them.
    prune : bool
        Whether rules are pruned and optimized.
    n_optimizations : int
        Number of passes over the rules of a class.
    min_weight : float
        Weight of the rows of its class for which a rule has to hold as it is grown.
    random : RandomState
        Source of the rows that rules are grown on; the rest prunes them.

    Returns
    -------
    list of list of Condition
        The rules, in the order in which they are asked.
    """
    # Equal rows stay together, so that weights do what repeated rows do.
    index, weights = distinct_rows(table.codes, labels, weights)
    sizes = np.bincount(labels[index], weights)
    classes = np.argsort(sizes, kind="stable")
    weights = weights * class_weights[labels[index]]
    rules: list[list[Condition]] = []
    for label in classes[sizes[classes] > 0][:-1]:
        positive = labels[index] == label
        if not positive.any():
            continue
        remaining = table.take(index)
        min_of_class = min_weight * class_weights[label]
        search = ClassRules(remaining, positive, weights, min_of_class, random)
        class_rules = (
            search.find_pruned(n_optimizations) if prune else search.find_unpruned()
        )
        rules += class_rules
        for rule in class_rules:
            weights = np.where(remaining.holds(rule), 0, weights)
        index, weights = index[weights > 0], weights[weights > 0]
    return rules


# Description lengths of rules and their errors (Quinlan 1995; Cohen 1995).


def subset_bits(n: float, k: float, probability: float) -> float:
    """Bits that encode which k of n elements are chosen, each with a probability."""
    p = min(max(probability, _ROUNDING), 1 - _ROUNDING)
    return -k * np.log2(p) - (n - k) * np.log2(1 - p)


def theory_bits(n_chosen: int, n_conditions: int) -> float:
    """Bits of a rule of `n_chosen` of the table's conditions.

    Half of them: conditions can be listed in any order, and are redundant.
    """
    if n_chosen == 0:
        return 0.0
    length = np.log2(n_chosen)
    if n_chosen > 1:
        length += 2 * np.log2(length)
    return 0.5 * (length + subset_bits(n_conditions, n_chosen, n_chosen / n_conditions))


def error_bits(
    covered: float,
    uncovered: float,
    false_positive: float,
    false_negative: float,
    share: float,
) -> float:
    """Bits that encode which rows the rules get wrong.

    Parameters
    ----------
    covered, uncovered : float
        Weights of the rows that some rule, or none, holds for.
    false_positive, false_negative : float
        Weight of the covered rows that are of another class, and of the uncovered rows
        that are of the class.
    share : float
        Share of errors expected among the covered rows: the share of the class.
    """
    errors = false_positive + false_negative
    positive_rate = false_positive / covered if covered else 0
    negative_rate = false_negative / uncovered if uncovered else 0
    # The rate of the larger side follows from the class's share, the other is its own.
    if covered > uncovered:
        positive_rate = share * errors / covered
    else:
        negative_rate = (1 - share) * errors / uncovered
    return (
        np.log2(covered + uncovered + 1)
        + subset_bits(covered, false_positive, positive_rate)
        + subset_bits(uncovered, false_negative, negative_rate)
    )
