"""Rules for one class against others: grown, pruned, and compared with variants.

After Cohen (1995), with the choices of Weka's JRip where the paper leaves them open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.rules.coded_conditions import distinct_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import CodedTable, Condition

# Cohen's d: the search ends at a description this many bits longer than the shortest.
_MAX_SURPLUS = 64


class _MeasuredRule(NamedTuple):
    """A rule, the rows for which it holds, and its description length in bits."""

    rule: list[Condition]
    mask: NDArray[np.bool_]
    bits: float


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
        # Weights of the class, and of all rows.
        self.weights = np.stack([weights * positive, weights])
        self.total = self.weights.sum(axis=1)
        self.min_weight, self.random = min_weight, random
        self.n_conditions = table.n_conditions

    def covering(self) -> list[list[Condition]]:
        """Rules of sequential covering: grown until they make no errors, not pruned."""
        return [added.rule for added in self._add_rules([], self.grow, np.inf)]

    def pruned(self, n_optimizations: int) -> list[list[Condition]]:
        """Rules of RIPPER: IREP*, then passes that optimize them."""
        rules = self._add_rules([], self._grow_and_prune, _MAX_SURPLUS)
        for _ in range(n_optimizations):
            rules = self._optimized(rules)
            rules = self._add_rules(rules, self._grow_and_prune, _MAX_SURPLUS)
            rules, _ = self._reduced(rules)
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
            new = self._measured(find(uncovered))
            of_class, covered = self.weights @ (uncovered & new.mask)
            bits = self._description_length([*rules, new])
            wrong = of_class <= covered / 2
            if not new.rule or wrong or bits > shortest + max_surplus:
                break
            rules.append(new)
            uncovered &= ~new.mask
            shortest = min(shortest, bits)
        return rules

    def _uncovered_by(self, rules: list[_MeasuredRule]) -> NDArray[np.bool_]:
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
            of_class, covered = self.weights @ inside
            best = _largest_gain(sums, of_class / covered, self.min_weight)
            if best is None:
                break
            rule.append((int(column[best]), int(first[best]), int(last[best])))
            inside &= self.table.holds(rule[-1:])
        return rule

    def _grow_and_prune(self, rows: NDArray[np.bool_]) -> list[Condition]:
        grown_on, pruned_on = self._split(rows)
        return self._prune(self.grow(grown_on), pruned_on)

    def _split(
        self, rows: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Two thirds of the rows, by weight, of the class and of others; the rest."""
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
        of_class, total = self.weights @ rows
        if total == 0:
            return rule
        best, length, inside = (of_class + 1) / (total + 2), len(rule), rows
        for n_conditions in range(1, len(rule) + 1):
            inside = inside & self.table.holds(rule[n_conditions - 1 : n_conditions])
            p, t = self.weights @ inside
            value = (p + 1) / (t + 2)
            if by_accuracy:
                value = (p + (total - of_class) - (t - p)) / total
            if value > best:
                best, length = value, n_conditions
        return rule[:length]

    def _optimized(self, rules: list[_MeasuredRule]) -> list[_MeasuredRule]:
        """Each rule, or its revision or replacement, whichever takes fewest bits."""
        rules, uncovered = list(rules), self._uncovered_by([])
        for k, rule in enumerate(rules):
            if (uncovered & self.positive).any() and (uncovered & rule.mask).any():
                later = rules[k + 1 :]
                variants = [rule, *self._variants(rule.rule, uncovered, later)]
                bits = [
                    self._reduced([*rules[:k], variant, *later])[1]
                    for variant in variants
                ]
                rules[k] = variants[int(np.argmin(bits))]
            uncovered &= ~rules[k].mask
        return rules

    def _variants(
        self,
        start: list[Condition],
        uncovered: NDArray[np.bool_],
        later: list[_MeasuredRule],
    ) -> Iterator[_MeasuredRule]:
        """Cohen's revision of a rule, grown on from it, and replacement, afresh."""
        grown_on, pruned_on = self._split(uncovered)
        pruned_on &= self._uncovered_by(later)
        for first in (start, []):
            rule = self._prune(self.grow(grown_on, first), pruned_on, by_accuracy=True)
            if rule:
                yield self._measured(rule)

    def _measured(self, rule: list[Condition]) -> _MeasuredRule:
        """A rule with its rows and bits."""
        bits = theory_bits(len(rule), self.n_conditions)
        return _MeasuredRule(rule, self.table.holds(rule), bits)

    def _reduced(self, rules: list[_MeasuredRule]) -> tuple[list[_MeasuredRule], float]:
        """Rules without those, from the last on, that save no bits; bits of these."""
        counts = np.zeros(len(self.positive), dtype=np.intp)
        for rule in rules:
            counts += rule.mask
        covered, theory = self.weights @ (counts > 0), sum(rule.bits for rule in rules)
        errors, selected = self._error_bits(covered), list[_MeasuredRule]()
        for rule in reversed(rules):
            fewer = covered - self.weights @ (rule.mask & (counts == 1))
            errors_of_fewer = self._error_bits(fewer)
            if errors_of_fewer - rule.bits <= errors:
                counts -= rule.mask
                covered, errors, theory = fewer, errors_of_fewer, theory - rule.bits
            else:
                selected.insert(0, rule)
        return selected, errors + theory

    def _description_length(self, rules: list[_MeasuredRule]) -> float:
        """Description length of rules and their errors."""
        covered = self.weights @ ~self._uncovered_by(rules)
        return self._error_bits(covered) + sum(rule.bits for rule in rules)

    def _error_bits(self, covered: NDArray[np.float64]) -> float:
        (p, t), (of_class, total) = covered, self.total
        return error_bits(t, total - t, t - p, of_class - p, of_class / total)


def _largest_gain(
    sums: NDArray[np.float64], share: float, min_weight: float
) -> int | None:
    """Position of the condition of the largest FOIL gain; None where none gains.

    The gain is p (log2(p / t) - log2(P / T)), for the weights p of the class and t in
    all for which a condition holds, and P and T of those before.
    """
    p, t = sums
    # Gains below rounding are none; of equal gains the first counts.
    allowed = np.flatnonzero((p >= min_weight) & (p > share * t * (1 + 1e-12)))
    if not len(allowed):
        return None
    p, t = p[allowed], t[allowed]
    gain = p * np.log2(p / (share * t))
    return int(allowed[np.argmax(gain >= gain.max() * (1 - 1e-12))])


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
        Factors of the weights, but for the order of the classes.
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
    list of list of (column, first, last)
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
        coded = table.take(index)
        least = min_weight * class_weights[label]
        search = ClassRules(coded, positive, weights, least, random)
        class_rules = search.pruned(n_optimizations) if prune else search.covering()
        rules += class_rules
        for rule in class_rules:
            weights = np.where(coded.holds(rule), 0, weights)
        index, weights = index[weights > 0], weights[weights > 0]
    return rules


# Description lengths of rules and their errors (Quinlan 1995; Cohen 1995).


def subset_bits(n: float, k: float, share: float) -> float:
    """Bits that encode which k of n things are chosen, of an expected share."""
    share = min(max(share, 1e-12), 1 - 1e-12)
    return -k * np.log2(share) - (n - k) * np.log2(1 - share)


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
        Weights of those among them that are of another class, and of the class.
    share : float
        Share of errors expected among the covered rows; that of the class.
    """
    errors = false_positive + false_negative
    positive_rate = false_positive / covered if covered else 0
    negative_rate = false_negative / uncovered if uncovered else 0
    # The errors of one side have an expected rate; those of the other are known.
    if covered > uncovered:
        positive_rate = share * errors / covered
    else:
        negative_rate = (1 - share) * errors / uncovered
    return (
        np.log2(covered + uncovered + 1)
        + subset_bits(covered, false_positive, positive_rate)
        + subset_bits(uncovered, false_negative, negative_rate)
    )
