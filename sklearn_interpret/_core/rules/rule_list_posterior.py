"""Posterior of lists of rules (Letham et al. 2015), and chains that sample it.

:class:`RuleListPosterior` evaluates lists, from likelihoods of sets of rows
(:class:`_SetLikelihoods`); :func:`gibbs_chain` samples them; :func:`r_hat` says whether
chains agree. All posteriors and likelihoods are logarithms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

if TYPE_CHECKING:
    from sklearn_interpret._core.rules.mining import MinedRules

# Largest number of logarithms, and of words of sets, in each cache: 32 MB. Lists that
# follow each other in a chain differ in one rule (benchmarks/bench_rules.py).
_MAX_CACHED = 2**22
# Logarithmic posteriors that differ by less are equal: sums of thousands of logarithms
# are rounded to 1e-12, as for lists whose rules decide on the same rows.
_ROUNDING = 1e-9
# Shares of the steps of a chain that move a rule, and that move or replace one; the
# other steps insert one. Chosen by hand; any shares sample the same posterior.
_MOVING_STEPS, _REPLACING_STEPS = 0.2, 0.6
# Variance between chains, relative to their size, that is rounding.
_NO_VARIANCE = 1e-20


class _SetLikelihoods:
    """Dirichlet-multinomial log-likelihoods of sets of rows.

    A set is a whole number with the bits of its words: operations on whole numbers take
    less time than operations on short arrays.
    """

    def __init__(self, mined: MinedRules, alpha: float) -> None:
        self.rows, self.sets = mined.rows, mined.sets
        self.everything = _as_number(self.rows.everything)
        self._bits = [
            list(map(_as_number, words)) for words in self.rows.bits_of_class()
        ]
        class_sums = self._class_sums(self.everything)
        n_classes, units = len(class_sums), np.arange(sum(class_sums) + 1)
        weights = units * self.rows.unit
        constant = gammaln(n_classes * alpha) - n_classes * gammaln(alpha)
        # The terms of a class and of all, for each number of units.
        self._class_terms = gammaln(weights + alpha)
        self._total_terms = constant - gammaln(weights + n_classes * alpha)

    def of_set(self, rows: int) -> float:
        """Log-likelihood of a set."""
        sums = self._class_sums(rows)
        return float(self._total_terms[sum(sums)] + self._class_terms[sums].sum())

    def within(self, rows: int) -> NDArray[np.float64]:
        """Log-likelihoods of the rows of a set for which each rule holds."""
        return self._log_likelihoods(self._sums_within(rows))

    def without(self, rows: int) -> NDArray[np.float64]:
        """Log-likelihoods of the rows of a set for which each rule does not hold."""
        total = np.array(self._class_sums(rows))[:, None]
        return self._log_likelihoods(total - self._sums_within(rows))

    def _class_sums(self, rows: int) -> list[int]:
        """Weight of each class in a set, in units."""
        return [
            sum((rows & bits).bit_count() << n for n, bits in enumerate(of_class))
            for of_class in self._bits
        ]

    def _sums_within(self, rows: int) -> NDArray[np.intp]:
        """Weight of each class where each rule holds in a set: (n_classes, n_rules)."""
        words = rows.to_bytes(8 * len(self.sets), "little")
        return self.rows.sums(self.sets, np.frombuffer(words, np.uint64))

    def _log_likelihoods(self, sums: NDArray[np.intp]) -> NDArray[np.float64]:
        """Log-likelihoods of sums (n_classes, n_rules), in units."""
        logs = self._total_terms.take(sums.sum(axis=0))
        for class_sums in sums:
            logs += self._class_terms.take(class_sums)
        return logs


def _as_number(words: NDArray[Any]) -> int:
    """A set of rows, as words, as a whole number."""
    return int.from_bytes(words.tobytes(), "little")


class RuleListPosterior:
    """Posterior of lists of mined rules, up to a constant factor.

    A list is a sequence of positions of rules. Its length and the sizes of its rules
    have truncated Poisson priors, and the shares of classes, where a rule decides, a
    symmetric Dirichlet prior.

    Parameters
    ----------
    mined : MinedRules
        The rules that lists are made of, and the rows.
    length_prior, size_prior : float
        Means of the Poisson priors: lambda and eta.
    alpha : float
        Parameter of the Dirichlet prior.

    Attributes
    ----------
    best : tuple of (log_posterior, list of int)
        The best list of all that were evaluated, and its logarithmic posterior.
    """

    def __init__(
        self, mined: MinedRules, *, length_prior: float, size_prior: float, alpha: float
    ) -> None:
        self.sets, self._sizes = mined.sets, mined.sizes
        self._set_of_rule = list(map(_as_number, self.sets.T))
        self.length_prior = length_prior
        self._n_of_size = np.bincount(mined.sizes, minlength=1)
        n = np.arange(len(self._n_of_size))
        self._size_logs = n * np.log(size_prior) - gammaln(n + 1)
        # There are no rules without conditions.
        self._size_logs[0] = -np.inf
        counts = self._n_of_size[self._n_of_size > 0]
        self._fewest_of_size = counts.min(initial=len(mined.sizes))
        self._log_priors: dict[tuple[int, ...], float] = {}
        likelihoods = _SetLikelihoods(mined, alpha)
        self._everything = likelihoods.everything
        # Lists that follow each other have most of their sets in common.
        n_words, n_rules = self.sets.shape
        self._log = lru_cache(_MAX_CACHED // n_words)(likelihoods.of_set)
        n_cached = _MAX_CACHED // max(n_rules, n_words)
        self._logs_within = lru_cache(n_cached)(likelihoods.within)
        self._logs_without = lru_cache(n_cached)(likelihoods.without)
        self.best: tuple[float, list[int]] = (-np.inf, [])

    def log_prior(self, sizes: tuple[int, ...]) -> float:
        """Logarithmic prior of a list of rules of these sizes."""
        # The order matters only where a size runs out of rules.
        if len(sizes) < self._fewest_of_size:
            sizes = tuple(sorted(sizes))
        if sizes not in self._log_priors:
            n_left = self._n_of_size.copy()  # rules of each size
            log = len(sizes) * np.log(self.length_prior) - gammaln(len(sizes) + 1)
            for size in sizes:
                # The chance of the size among sizes with rules left, and of one rule.
                log += self._size_logs[size] - np.log(n_left[size])
                log -= np.logaddexp.reduce(self._size_logs[n_left > 0])
                n_left[size] -= 1
            self._log_priors[sizes] = log
        return self._log_priors[sizes]

    def log_posterior(self, rules: list[int]) -> float:
        """Logarithmic posterior of a list."""
        log_likelihood = sum(map(self._log, self._captured_rows(rules)))
        return log_likelihood + self.log_prior(self._sizes_of(rules))

    def _sizes_of(self, rules: list[int]) -> tuple[int, ...]:
        """Numbers of conditions of the rules of a list."""
        return tuple(self._sizes[rules].tolist())

    def _captured_rows(self, rules: list[int]) -> list[int]:
        """Rows that each rule, and the default, decides on."""
        undecided, sets = self._everything, []
        for rule in rules:
            captured = undecided & self._set_of_rule[rule]
            sets.append(captured)
            undecided ^= captured
        return [*sets, undecided]

    def log_posteriors_of_moves(
        self, rules: list[int], rule: int, power: float = 1.0
    ) -> NDArray[np.float64]:
        """Logarithmic posteriors of a list with a rule inserted at each position.

        The likelihood is raised to a power.
        """
        captured = self._captured_rows(rules)
        rule_set = self._set_of_rule[rule]
        overlaps = [rows & rule_set for rows in captured]
        logs_without = [self._log(rows & ~rule_set) for rows in captured]
        # For each position: the log-likelihoods of earlier rules, of the inserted rule,
        # and of later rules, which lose the rows that the inserted rule takes.
        earlier = [0.0, *accumulate(map(self._log, captured[:-1]))]
        inserted = map(self._log, list(accumulate(reversed(overlaps), or_))[::-1])
        later = list(accumulate(reversed(logs_without)))[::-1]
        sizes, size = self._sizes_of(rules), int(self._sizes[rule])
        logs = np.empty(len(captured))
        for i, terms in enumerate(zip(earlier, inserted, later, strict=True)):
            log_prior = self.log_prior((*sizes[:i], size, *sizes[i:]))
            logs[i] = power * sum(terms) + log_prior
        if power == 1:
            best = int(logs.argmax())
            self.keep_if_best(logs[best], self.insert_rule(rules, best, rule))
        return logs

    def log_posteriors_of_insertions(
        self, rules: list[int], position: int, power: float = 1.0
    ) -> NDArray[np.float64]:
        """Logarithmic posteriors of a list with each rule inserted, and of the list.

        The likelihood is raised to a power. Of the captured sets c_i of the list, those
        before the position stay. A rule that holds for the rows r takes r of the union
        of the later sets, and leaves each later c_i without r.

        Returns
        -------
        ndarray of shape (n_rules + 1,)
            One for each rule, minus infinity if it is in the list; then the list's own.
        """
        captured = self._captured_rows(rules)
        logs_now, later = list(map(self._log, captured)), captured[position:]
        logs = np.empty(self.sets.shape[1] + 1)
        logs[:-1] = sum(logs_now[:position]) + self._logs_within(reduce(or_, later))
        for rows in later:
            logs[:-1] += self._logs_without(rows)
        logs[-1] = sum(logs_now)
        logs *= power
        sizes = self._sizes_of(rules)
        # A size has no rules left once all are in the list.
        priors = np.zeros(len(self._n_of_size))
        used = np.bincount(sizes, minlength=len(priors))
        for size in np.flatnonzero(self._n_of_size > used).tolist():
            priors[size] = self.log_prior((*sizes[:position], size, *sizes[position:]))
        logs[:-1] += priors[self._sizes]
        logs[rules] = -np.inf
        logs[-1] += self.log_prior(sizes)
        if power == 1:
            best = int(logs.argmax())
            self.keep_if_best(logs[best], self.insert_rule(rules, position, best))
        return logs

    def keep_if_best(self, log: float, rules: list[int]) -> None:
        """Keep a list if it is the best one so far; the first of equal lists stays."""
        if log > self.best[0] + _ROUNDING:
            self.best = log, rules

    def insert_rule(self, rules: list[int], position: int, rule: int) -> list[int]:
        """A list with a rule inserted; unchanged if `rule` is the number of rules."""
        if rule == self.sets.shape[1]:
            return rules
        return [*rules[:position], rule, *rules[position:]]


def gibbs_chain(
    posterior: RuleListPosterior,
    n_steps: int,
    random: np.random.RandomState,
    first: list[int] | None = None,
    power: float = 1.0,
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Sample lists by a Markov chain.

    Parameters
    ----------
    posterior : RuleListPosterior
        The posterior to sample.
    n_steps : int
        Number of steps of the chain.
    random : RandomState
        Source of the draws.
    first : sequence of int, default=None
        The first list; by default it is drawn.
    power : float, default=1.0
        Power of the likelihood at first, from which it rises to one, so that the chain
        crosses less probable lists (simulated annealing).

    Yields
    ------
    rules : tuple of int
        The list after each step.
    log_posterior : float
        Its logarithmic posterior, with the power.
    """
    n_rules = posterior.sets.shape[1]
    if first is None:
        # NumPy draws no Poisson numbers with means of 1e19.
        mean = min(posterior.length_prior, n_rules)
        length = min(random.poisson(mean), n_rules)
        first = random.permutation(n_rules)[:length].tolist()
    rules = list(first)
    for step in range(1, n_steps + 1):
        current_power = power ** (1 - step / n_steps)
        rules, log = _gibbs_step(posterior, rules, random, current_power)
        yield tuple(rules), log


def _gibbs_step(
    posterior: RuleListPosterior,
    rules: list[int],
    random: np.random.RandomState,
    power: float,
) -> tuple[list[int], float]:
    """A Gibbs step: a list of a set of lists, drawn with its posterior probability.

    A step keeps the posterior unchanged if each list of the set would have drawn the
    same set with the same probability. A set holds the lists with one rule moved to any
    position; with any rule, or none, in the place of one rule, which is chosen with
    probability 1 / length; or with any rule, or none, at a new position, which is
    chosen with probability 1 / (length + 1).
    """
    kind, length = random.random_sample(), len(rules)
    inserts, moves = kind >= _REPLACING_STEPS, kind < _MOVING_STEPS
    if not inserts and not rules:
        return rules, posterior.log_posterior(rules)
    position = random.randint(length + inserts)
    shorter = rules if inserts else rules[:position] + rules[position + 1 :]
    if moves:
        logs = posterior.log_posteriors_of_moves(shorter, rules[position], power)
        chosen = _draw_position(logs, random)
        return posterior.insert_rule(shorter, chosen, rules[position]), logs[chosen]
    logs = posterior.log_posteriors_of_insertions(shorter, position, power)
    chosen = _draw_position(logs, random)
    return posterior.insert_rule(shorter, position, chosen), logs[chosen]


def _draw_position(logs: NDArray[np.float64], random: np.random.RandomState) -> int:
    """Draw a position, with probabilities proportional to the exponentials."""
    sums = np.exp(logs - logs.max()).cumsum()
    return int(sums.searchsorted(random.random_sample() * sums[-1], side="right"))


def r_hat(chains: NDArray[np.float64]) -> float:
    """Potential scale reduction of the halves of chains (Gelman et al. 2013, 11.4)."""
    n = chains.shape[1] // 2
    halves = np.concatenate([chains[:, :n], chains[:, -n:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if between <= _NO_VARIANCE * np.abs(halves).max() ** 2:
        return 1.0
    return float(np.sqrt((n - 1) / n + between / within)) if within else np.inf
