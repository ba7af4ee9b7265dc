"""The search for anchors as Ribeiro et al. (2018) give it, and nothing more."""

from itertools import count

import numpy as np
from scipy.optimize import brentq


def kl(p, q):
    """Divergence of Bernoulli distributions."""
    terms = ((p, q), (1 - p, 1 - q))
    return sum(a * np.log(a / b) for a, b in terms if a > 0)


def bound(mean, most, end):
    """Where the divergence from the mean is `most`, between the mean and 0 or 1."""
    tiny = 1e-12
    far = abs(end - tiny)
    if abs(mean - far) <= tiny or kl(mean, far) <= most:
        return end
    return brentq(lambda q: kl(mean, q) - most, mean, far)


class PlainAnchors:
    """KL-LUCB by batches of 100 draws, each of which asks the model.

    Parameters
    ----------
    ask : callable
        ``ask(rule, n)``: whether the model keeps its answer on n perturbed samples.
    coverage : callable
        Coverage of a rule.
    n_conditions : int
        How many conditions there are.
    """

    batch, most_draws = 100, 2000

    def __init__(self, ask, coverage, n_conditions, *, precision, delta, tau, beam):
        self.ask, self.coverage, self.n_conditions = ask, coverage, n_conditions
        self.precision, self.delta, self.tau, self.beam = precision, delta, tau, beam
        self.n_rows = 0

    def draw(self, rule, n):
        self.n_draws[rule] += n
        self.n_kept[rule] += int(np.sum(self.ask(rule, n)))
        self.n_rows += n

    def bounds(self, rule, level):
        mean = self.n_kept[rule] / self.n_draws[rule]
        most = level / self.n_draws[rule]
        return bound(mean, most, 0), bound(mean, most, 1)

    def best(self, rules):
        """The B best candidates (algorithm 1)."""
        self.n_draws, self.n_kept = dict.fromkeys(rules, 0), dict.fromkeys(rules, 0)
        for rule in rules:
            self.draw(rule, 1)
        for t in count(1):
            rate = np.log(405.5 * len(rules) * t**1.1 / self.delta)
            level = rate + np.log(rate)
            ordered = sorted(rules, key=lambda r: -self.n_kept[r] / self.n_draws[r])
            top, rest = ordered[: self.beam], ordered[self.beam :]
            if not rest:
                return top
            bounds = {rule: self.bounds(rule, level) for rule in rules}
            weakest = min(top, key=lambda r: bounds[r][0])
            strongest = max(rest, key=lambda r: bounds[r][1])
            if bounds[strongest][1] - bounds[weakest][0] <= self.tau:
                return top
            open_ones = [
                r for r in (weakest, strongest) if self.n_draws[r] < self.most_draws
            ]
            if not open_ones:
                return top
            for rule in open_ones:
                self.draw(rule, self.batch)

    def is_anchor(self, rule, n_rules):
        """Sample until the precision is known to be high enough, or not to be."""
        level = np.log((1 + (self.beam - 1) * n_rules) / self.delta)
        while True:
            low, high = self.bounds(rule, level)
            if low >= self.precision or high < self.precision:
                return low >= self.precision
            if self.n_draws[rule] >= self.most_draws:
                return False
            self.draw(rule, self.batch)

    def find(self, max_size):
        """The anchor of the largest coverage (algorithm 2), or None."""
        beam, found, largest = [()], None, -1.0
        for _ in range(max_size):
            rules = {
                tuple(sorted((*rule, j)))
                for rule in beam
                for j in range(self.n_conditions)
                if j not in rule
            }
            rules = sorted(r for r in rules if self.coverage(r) > largest)
            if not rules:
                break
            beam = self.best(rules)
            for rule in beam:
                covered = self.coverage(rule)
                if covered > largest and self.is_anchor(rule, len(rules)):
                    found, largest = rule, covered
        return found
