"""Rules for one class against others: grown, pruned, and compared with variants.

After Cohen (1995), with the choices of Weka's JRip where the paper leaves them open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.rules.coded_conditions import distinct_rows

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.coded_conditions import CodedTable

# Cohen's d: the search ends at a description this many bits longer than the shortest.
_MAX_SURPLUS = 64


class _Found(NamedTuple):
    """A rule, the rows for which it holds, and its description length in bits."""

    rule: list
    held: np.ndarray
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
        weights: NDArray[Any],
        min_weight: float,
        random: np.random.RandomState,
    ) -> None:
        self.table, self.positive = table, positive
        # Weights of the class, and of all rows.
        self.weights = np.stack([weights * positive, weights])
        self.total = self.weights.sum(axis=1)
        self.min_weight, self.random = min_weight, random
        self.n_conditions = table.n_conditions

    def covering(self) -> Any:
        """Rules of sequential covering: grown until they make no errors, not pruned."""
        return [found.rule for found in self._add_rules([], self.grow, np.inf)]

    def pruned(self, n_optimizations: Any) -> Any:
        """Rules of RIPPER: IREP*, then passes that optimize them."""
        found = self._add_rules([], self._grow_and_prune, _MAX_SURPLUS)
        for _ in range(n_optimizations):
            found = self._optimized(found)
            found = self._add_rules(found, self._grow_and_prune, _MAX_SURPLUS)
            found, _ = self._reduced(found)
        return [rule for rule, _, _ in found]

    def _add_rules(self, found: list[_Found], find: Any, max_surplus: Any) -> Any:
        """Add rules for the rows that those found leave uncovered."""
        found, left = list(found), self._uncovered_by(found)
        shortest = self._description_length(found)
        while (left & self.positive).any():
            new = self._measured(find(left))
            of_class, covered = self.weights @ (left & new.held)
            bits = self._description_length([*found, new])
            wrong = of_class <= covered / 2
            if not new.rule or wrong or bits > shortest + max_surplus:
                break
            found.append(new)
            left &= ~new.held
            shortest = min(shortest, bits)
        return found

    def _uncovered_by(self, found: list[_Found]) -> NDArray[np.bool_]:
        left = np.ones(len(self.positive), dtype=bool)
        for rule in found:
            left &= ~rule.held
        return left

    def grow(
        self, rows: NDArray[np.bool_], rule: tuple[Any, ...] = ()
    ) -> list[tuple[int, int, int]]:
        """Add the condition of the largest gain to a rule, until it makes no errors."""
        rule, order = list(rule), None
        inside = rows & self.table.holds(rule)
        while True:
            if self.positive[inside].all():
                return rule
            order = self.table.sorted_rows(inside, order)
            candidates = self.table.candidates(order, self.weights)
            of_class, covered = self.weights @ inside
            best = _largest_gain(candidates.sums, of_class / covered, self.min_weight)
            if best is None:
                return rule
            rule.append(tuple(int(part[best]) for part in candidates[:3]))
            inside &= self.table.holds(rule[-1:])

    def _grow_and_prune(self, rows: Any) -> Any:
        grown_on, pruned_on = self._split(rows)
        return self._prune(self.grow(grown_on), pruned_on)

    def _split(
        self, rows: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Two thirds of the rows, by weight, of the class and of others; the rest."""
        order = self.random.permutation(len(rows))
        order = order[rows[order]]
        grown_on = np.zeros_like(rows)
        for own in (order[self.positive[order]], order[~self.positive[order]]):
            weights = self.weights[1, own]
            middle = np.cumsum(weights) - weights / 2
            grown_on[own[middle <= weights.sum() * 2 / 3]] = True
        return grown_on, rows & ~grown_on

    def _prune(
        self,
        rule: list[tuple[int, int, int]],
        rows: NDArray[np.bool_],
        whole: bool = False,
    ) -> list[tuple[int, int, int]]:
        """Drop the last conditions where that makes a rule better on other rows.

        The value of a rule is (p + 1) / (t + 2), for the weights p of the class and t
        of all rows that it covers: Weka's, not Cohen's (2 p - t) / t. With `whole`, it
        is the share of all rows that the rule gets right.
        """
        of_class, total = self.weights @ rows
        if total == 0:
            return rule
        best, kept, inside = (of_class + 1) / (total + 2), len(rule), rows
        for length in range(1, len(rule) + 1):
            inside = inside & self.table.holds(rule[length - 1 : length])
            p, t = self.weights @ inside
            value = (p + 1) / (t + 2)
            if whole:
                value = (p + (total - of_class) - (t - p)) / total
            if value > best:
                best, kept = value, length
        return rule[:kept]

    def _optimized(self, found: list[_Found]) -> Any:
        """Each rule, or its revision or replacement, whichever takes fewest bits."""
        found, left = list(found), self._uncovered_by([])
        for k, rule in enumerate(found):
            if (left & self.positive).any() and (left & rule.held).any():
                variants = [rule, *self._variants(rule, left, found[k + 1 :])]
                bits = [
                    self._reduced([*found[:k], variant, *found[k + 1 :]])[1]
                    for variant in variants
                ]
                found[k] = variants[int(np.argmin(bits))]
            left &= ~found[k].held
        return found

    def _variants(self, found: list[_Found], left: Any, later: Any) -> Iterator[Any]:
        """Cohen's revision of a rule, grown on from it, and replacement, afresh."""
        grown_on, pruned_on = self._split(left)
        pruned_on &= self._uncovered_by(later)
        for start in (found.rule, ()):
            rule = self._prune(self.grow(grown_on, start), pruned_on, whole=True)
            if rule:
                yield self._measured(rule)

    def _measured(self, rule: list[tuple[int, int, int]]) -> _Found:
        """A rule with its rows and bits."""
        bits = theory_bits(len(rule), self.n_conditions)
        return _Found(rule, self.table.holds(rule), bits)

    def _reduced(self, found: list[_Found]) -> tuple[list[_Found], float]:
        """Rules without those, from the last on, that save no bits; bits of these."""
        counts = np.zeros(len(self.positive), dtype=np.intp)
        for rule in found:
            counts += rule.held
        covered, theory = self.weights @ (counts > 0), sum(rule.bits for rule in found)
        errors, kept = self._error_bits(covered), []
        for rule in reversed(found):
            fewer = covered - self.weights @ (rule.held & (counts == 1))
            errors_of_fewer = self._error_bits(fewer)
            if errors_of_fewer - rule.bits <= errors:
                counts -= rule.held
                covered, errors, theory = fewer, errors_of_fewer, theory - rule.bits
            else:
                kept.insert(0, rule)
        return kept, errors + theory

    def _description_length(self, found: list[_Found]) -> float:
        """Description length of rules and their errors."""
        covered = self.weights @ ~self._uncovered_by(found)
        return self._error_bits(covered) + sum(rule.bits for rule in found)

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
    return allowed[np.argmax(gain >= gain.max() * (1 - 1e-12))]


def ripper(
    table: Any,
    labels: Any,
    weights: NDArray[np.float64],
    class_weights: Any,
    *,
    prune: Any,
    n_optimizations: Any,
    min_weight: float,
    random: np.random.RandomState,
) -> Any:
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
    rules = []
    for label in classes[sizes[classes] > 0][:-1]:
        positive = labels[index] == label
        if not positive.any():
            continue
        own = table.take(index)
        least = min_weight * class_weights[label]
        search = ClassRules(own, positive, weights, least, random)
        found = search.pruned(n_optimizations) if prune else search.covering()
        rules += found
        for rule in found:
            weights = np.where(own.holds(rule), 0, weights)
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
