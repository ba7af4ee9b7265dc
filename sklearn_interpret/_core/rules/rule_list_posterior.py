"""Posterior of lists of rules (Letham et al. 2015), and chains that sample it."""

import numpy as np
from scipy.special import gammaln

# Largest number of sums, and of words of sets, that are kept for further lists.
_MAX_KEPT = 2**22


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

    def __init__(self, mined, *, length_prior, size_prior, alpha):
        self.rows, self.sets, self._sizes = mined.rows, mined.sets, mined.sizes
        self._set_of_rule = np.ascontiguousarray(self.sets.T)
        self._sets_and_all = np.column_stack([self.sets, self.rows.everything])
        self.length_prior = length_prior
        self._n_of_size = np.bincount(mined.sizes, minlength=1)
        n = np.arange(len(self._n_of_size))
        self._size_logs = n * np.log(size_prior) - gammaln(n + 1)
        # There are no rules without conditions.
        self._size_logs[0] = -np.inf
        some = self._n_of_size[self._n_of_size > 0]
        self._fewest = some.min(initial=len(mined.sizes))
        of_class = self.rows.sums(self.rows.everything[:, None])
        n_classes, units = len(of_class), np.arange(of_class.sum() + 1)
        weights = units * self.rows.unit
        constant = gammaln(n_classes * alpha) - n_classes * gammaln(alpha)
        self._of_class = gammaln(weights + alpha)
        self._of_all = constant - gammaln(weights + n_classes * alpha)
        self._log_priors, self._splits, self._logs = {}, {}, {}
        self.best = -np.inf, []

    def log_likelihoods(self, sums):
        """Logarithms of Dirichlet-multinomial likelihoods, classes along axis 0."""
        logs = self._of_all.take(sums.sum(axis=0))
        for of_class in sums:
            logs += self._of_class.take(of_class)
        return logs

    def log_prior(self, sizes):
        """Logarithmic prior of a list of rules of these sizes."""
        # The order matters only where a size runs out of rules.
        if len(sizes) < self._fewest:
            sizes = tuple(sorted(sizes))
        if sizes not in self._log_priors:
            left = self._n_of_size.copy()
            log = len(sizes) * np.log(self.length_prior) - gammaln(len(sizes) + 1)
            for size in sizes:
                # The chance of the size among those left, and of one of its rules.
                log += self._size_logs[size] - np.log(left[size])
                log -= np.logaddexp.reduce(self._size_logs[left > 0])
                left[size] -= 1
            self._log_priors[sizes] = log
        return self._log_priors[sizes]

    def log_posteriors(self, lists):
        """Logarithmic posteriors of lists."""
        captured = [self._captured(rules) for rules in lists]
        logs = self.log_likelihoods(self.rows.sums(np.concatenate(captured).T))
        ends = np.cumsum([len(sets) for sets in captured])
        likelihoods = np.add.reduceat(logs, np.append(0, ends[:-1]))
        return likelihoods + [self.log_prior(self._sizes_of(rules)) for rules in lists]

    def _sizes_of(self, rules):
        return tuple(self._sizes[rules].tolist())

    def _captured(self, rules):
        """Rows that each rule, and the default, decides: (n_rules + 1, n_words)."""
        left, sets = self.rows.everything, []
        for own in self._set_of_rule[rules]:
            sets.append(left & own)
            left = left & ~own
        return np.array([*sets, left])

    def moves(self, rules, rule, power=1.0):
        """Logarithmic posteriors of a list with a rule inserted at each place.

        The likelihood is raised to a power.
        """
        captured = self._captured(rules)
        held = captured & self._set_of_rule[rule]
        sums = self.rows.sums(np.concatenate([captured, held]).T)
        sums, taken = np.split(sums, 2, axis=1)
        # The rule takes rows of all later ones.
        own = np.cumsum(taken[:, ::-1], axis=1)[:, ::-1]
        old, rest = map(self.log_likelihoods, (sums, sums - taken))
        logs = self.log_likelihoods(own) + np.cumsum(rest[::-1])[::-1]
        logs[1:] += np.cumsum(old[:-1])
        sizes, size = self._sizes_of(rules), int(self._sizes[rule])
        lists = [(*sizes[:i], size, *sizes[i:]) for i in range(len(rules) + 1)]
        logs = power * logs + [self.log_prior(own) for own in lists]
        if power == 1:
            best = int(logs.argmax())
            self.note(logs[best], self.inserted(rules, best, rule))
        return logs

    def insertions(self, rules, at, power=1.0):
        """Logarithmic posteriors of a list with each rule inserted, and of the list.

        The likelihood is raised to a power.

        Returns
        -------
        ndarray of shape (n_rules + 1,)
            One for each rule, minus infinity for those in the list, and for the list.
        """
        captured = self._captured(rules)
        old = self._logs_of(captured)
        # An inserted rule captures rows of later ones; the others stay theirs.
        sums, of_rest = zip(*map(self._split, captured[at:]), strict=True)
        logs = np.empty(self.sets.shape[1] + 1)
        logs[:-1] = old[:at].sum() + self.log_likelihoods(sum(sums)) + sum(of_rest)
        logs[-1] = old.sum()
        logs *= power
        sizes = self._sizes_of(rules)
        # A size has no rules left once all are in the list.
        priors = np.zeros(len(self._n_of_size))
        used = np.bincount(sizes, minlength=len(priors))
        for size in np.flatnonzero(self._n_of_size > used).tolist():
            priors[size] = self.log_prior((*sizes[:at], size, *sizes[at:]))
        logs[:-1] += priors[self._sizes]
        logs[rules] = -np.inf
        logs[-1] += self.log_prior(sizes)
        if power == 1:
            best = int(logs.argmax())
            self.note(logs[best], self.inserted(rules, at, best))
        return logs

    def _logs_of(self, captured):
        """Log-likelihood of each set of rows, most of which earlier lists had."""
        if len(self._logs) * captured.shape[1] > _MAX_KEPT:
            self._logs.clear()
        keys = [rows.tobytes() for rows in captured]
        new = [k for k, key in enumerate(keys) if key not in self._logs]
        if new:
            logs = self.log_likelihoods(self.rows.sums(captured[new].T))
            self._logs.update(zip([keys[k] for k in new], logs.tolist(), strict=True))
        return np.array([self._logs[key] for key in keys])

    def _split(self, rows):
        """Class sums of each rule within a set of rows; log-likelihoods of the rest.

        Lists that follow each other have most of their sets in common.
        """
        key = rows.tobytes()
        if key not in self._splits:
            sums = self.rows.sums(self._sets_and_all, rows)
            sums, rest = sums[:, :-1], sums[:, -1:] - sums[:, :-1]
            if len(self._splits) * sums.size > _MAX_KEPT:
                self._splits.clear()
            self._splits[key] = sums, self.log_likelihoods(rest)
        return self._splits[key]

    def note(self, log, rules):
        """Keep a list if it is the best one so far."""
        if log > self.best[0]:
            self.best = log, rules

    def inserted(self, rules, at, rule):
        """A list with a rule inserted, or as it is: a position in `insertions`."""
        if rule == self.sets.shape[1]:
            return rules
        return [*rules[:at], rule, *rules[at:]]


def gibbs_chain(posterior, n_steps, random, first=None, power=1.0):
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
        now = power ** (1 - step / n_steps)
        rules, log = _step(posterior, rules, random, now)
        yield tuple(rules), log


def _step(posterior, rules, random, power):
    """A Gibbs step: one of a set of lists, with the probability that it has there.

    Each list of a set comes to the set with the same probability, so that the posterior
    is kept: either a rule is moved to any place of the list, or any rule, or none,
    stands at a place. For this a rule leaves its place, with probability 1 / length, or
    a new place opens, with probability 1 / (length + 1) of the shorter list's length.
    """
    kind, length = random.random_sample(), len(rules)
    if kind < 0.6 and not rules:
        return rules, posterior.log_posteriors([rules])[0]
    at = random.randint(length + (kind >= 0.6))
    others = rules if kind >= 0.6 else rules[:at] + rules[at + 1 :]
    if kind < 0.2:
        logs = posterior.moves(others, rules[at], power)
        chosen = _draw(logs, random)
        return posterior.inserted(others, chosen, rules[at]), logs[chosen]
    logs = posterior.insertions(others, at, power)
    chosen = _draw(logs, random)
    return posterior.inserted(others, at, chosen), logs[chosen]


def _draw(logs, random):
    """Draw a position, with probabilities proportional to the exponents."""
    upto = np.exp(logs - logs.max()).cumsum()
    return int(upto.searchsorted(random.random_sample() * upto[-1], side="right"))


def r_hat(chains):
    """Potential scale reduction of the halves of chains (Gelman et al. 2013, 11.4)."""
    n = chains.shape[1] // 2
    halves = np.concatenate([chains[:, :n], chains[:, -n:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if between <= 1e-20 * np.abs(halves).max() ** 2:
        return 1.0
    return float(np.sqrt((n - 1) / n + between / within)) if within else np.inf
