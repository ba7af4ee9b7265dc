"""The posterior of lists of rules against its formulas, and against all lists."""

from collections import Counter
from itertools import permutations
from math import comb, exp, factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.rules.mining import MinedRules, PackedRows
from sklearn_interpret._core.rules.rule_list_posterior import (
    RuleListPosterior,
    gibbs_chain,
    r_hat,
)
from tests.speeds import examples


class Case:
    """Rules as flags of rows, and the posterior of lists of them."""

    def __init__(self, seed, n_rules, n_rows=40, n_classes=3, alpha=1.0):
        rng = np.random.default_rng(seed)
        self.flags = rng.random((n_rules, n_rows)) < 0.3
        self.labels = rng.integers(n_classes, size=n_rows)
        self.labels[self.flags[0]] = 0
        self.weights = rng.integers(1, 4, size=n_rows).astype(float)
        self.sizes = np.sort(rng.integers(1, 3, size=n_rules))
        self.n_classes, self.alpha, self.eta, self.lam = n_classes, alpha, 0.7, 2.0
        rows = PackedRows(self.labels, self.weights, n_classes)
        mined = MinedRules([()] * n_rules, self.sizes, rows.pack(self.flags), rows)
        self.posterior = RuleListPosterior(
            mined, length_prior=self.lam, size_prior=self.eta, alpha=alpha
        )

    def lists(self):
        """All lists of rules."""
        rules = range(len(self.flags))
        for length in range(len(self.flags) + 1):
            yield from map(list, permutations(rules, length))

    def log_prior(self, rules):
        """Equations (2.2) to (2.5) of Letham et al., but for a constant factor."""
        left = list(self.sizes)
        value = log(self.lam ** len(rules) / factorial(len(rules)))
        for size in self.sizes[rules]:
            pmf = {c: self.eta**c / factorial(c) for c in set(left)}
            value += log(pmf[size] / sum(pmf.values()) / left.count(size))
            left.remove(size)
        return value

    def log_likelihood(self, rules):
        """Equation (2.7), row by row: each of a class makes the next more likely."""
        value = 0.0
        n = np.full((len(rules) + 1, self.n_classes), self.alpha)
        for row, (label, weight) in enumerate(
            zip(self.labels, self.weights, strict=True)
        ):
            first = [k for k, rule in enumerate(rules) if self.flags[rule, row]]
            own = n[first[0] if first else -1]
            for _ in range(int(weight)):
                value += log(own[label] / own.sum())
                own[label] += 1
        return value


@examples(20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 1.0, 2.5]))
def test_posteriors_are_those_of_the_paper(seed, alpha):
    case = Case(seed, 6, alpha=alpha)
    rng = np.random.default_rng(seed)
    lists = [rng.permutation(6)[:length].tolist() for length in range(7)]
    expected = [case.log_prior(own) + case.log_likelihood(own) for own in lists]
    found = list(map(case.posterior.log_posterior, lists))
    assert_allclose(found, expected, rtol=1e-10)


def test_priors_of_all_lists_are_those_of_their_lengths():
    case = Case(0, 5)
    sums = Counter()
    for rules in case.lists():
        sizes = tuple(case.sizes[rules].tolist())
        sums[len(rules)] += exp(case.posterior.log_prior(sizes))
    for length, total in sums.items():
        assert total == pytest.approx(case.lam**length / factorial(length))


@examples(20)
@given(st.integers(0, 2**32 - 1), st.integers(0, 5))
def test_insertions_are_evaluated_as_lists_are(seed, length):
    posterior = Case(seed, 5).posterior
    rules = np.random.default_rng(seed).permutation(5)[:length].tolist()
    for at in range(length + 1):
        logs = posterior.log_posteriors_of_insertions(rules, at)
        others = [k for k in range(6) if k not in rules]
        lists = [posterior.insert_rule(rules, at, k) for k in others]
        expected = list(map(posterior.log_posterior, lists))
        assert_allclose(logs[others], expected, rtol=1e-12)
        assert np.isneginf(logs[rules]).all()


def _normalised(logs):
    weights = np.exp(logs - np.max(logs))
    return weights / weights.sum()


@pytest.mark.thorough
def test_samples_are_those_of_the_posterior_of_all_lists():
    seed = 0
    case = Case(seed, 4)
    lists = list(case.lists())
    assert len(lists) == sum(comb(4, m) * factorial(m) for m in range(5))
    logs = [case.log_prior(own) + case.log_likelihood(own) for own in lists]
    exact = dict(zip(map(tuple, lists), _normalised(logs), strict=True))
    random = np.random.RandomState(seed)
    chains = [list(gibbs_chain(case.posterior, 5000, random))[1000:] for _ in range(3)]
    sampled = [own for chain in chains for own, _ in chain]
    logs_of_sampled = np.array([[log for _, log in chain] for chain in chains])
    counts = Counter(sampled)
    assert len(sampled) == logs_of_sampled.size
    distance = sum(abs(counts[own] / len(sampled) - p) for own, p in exact.items()) / 2
    assert distance <= 0.05
    assert r_hat(logs_of_sampled) < 1.05
    best, rules = case.posterior.best
    assert best == pytest.approx(max(logs))
    assert exact[tuple(rules)] == pytest.approx(max(exact.values()))
    assert_allclose(
        logs_of_sampled.ravel()[:50],
        list(map(case.posterior.log_posterior, map(list, sampled[:50]))),
    )


def test_potential_scale_reduction():
    rng = np.random.default_rng(0)
    chains = rng.normal(size=(3, 200))
    assert r_hat(chains) == pytest.approx(1, abs=0.02)
    halves = chains.reshape(6, 100)
    within = np.mean([own.var(ddof=1) for own in halves])
    between = 100 * np.var([own.mean() for own in halves], ddof=1)
    expected = np.sqrt((99 / 100 * within + between / 100) / within)
    assert r_hat(chains) == pytest.approx(expected)
    assert r_hat(chains + [[0], [0], [3]]) > 1.5
    assert r_hat(np.ones((3, 10))) == 1
    assert r_hat(np.repeat([[1.0], [2.0]], 10, axis=1)) == np.inf
