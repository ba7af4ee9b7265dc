"""The search for anchors, on models that are tables of truth."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.local.anchors import (
    AnchorSearch,
    Neighbours,
    _BestArms,
    kl_bounds,
)
from tests.references.anchors import PlainAnchors, bound


class Bits:
    """Bits, all of which the explained sample has, and a model of them."""

    def __init__(self, keeps, n_bits, n_draws=2000, seed=0):
        self.keeps, self.n_asked = keeps, 0
        self.met = np.random.default_rng(seed).random((2 * n_draws, n_bits)) < 0.5
        self.covered = np.array(list(product([0, 1], repeat=n_bits)), dtype=bool)

    def ask(self, draws, changed):
        assert not (changed & self.met[draws]).any()  # only what is not met
        self.n_asked += len(draws)
        return self.keeps(self.met[draws] | changed)

    def neighbours(self):
        shares = np.full(len(self.covered), 1 / len(self.covered))
        return Neighbours(self.met, self.ask, self.covered, shares)

    def precision(self, rule):
        return self.keeps(self.covered[self.covered[:, rule].all(axis=1)]).mean()


def search(precision=0.95, delta=0.1, tau=0.15, beam_size=4, max_size=None, **params):
    return AnchorSearch(precision, delta, tau, beam_size, max_size, **params)


MODELS = {
    "one": (lambda z: z[:, 2], (2,)),
    "both": (lambda z: z[:, 1] & z[:, 3], (1, 3)),
    "three": (lambda z: z[:, [0, 2, 4]].all(axis=1), (0, 2, 4)),
    "always": (lambda z: np.ones(len(z), dtype=bool), ()),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_rule_of_a_conjunction(name):
    keeps, expected = MODELS[name]
    bits = Bits(keeps, 6)
    found = search()(bits.neighbours())
    assert found.rule == expected
    assert found.is_precise
    assert found.precision == found.high == 1
    assert found.low >= 0.95
    assert found.coverage == 0.5 ** len(expected)


def test_the_widest_rule_is_found():
    # Either the first bit, or two others.
    bits = Bits(lambda z: z[:, 0] | (z[:, 1] & z[:, 2]), 6)
    assert search(beam_size=6)(bits.neighbours()).rule == (0,)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_and_rules_are_precise(seed):
    weights = np.random.default_rng(seed).random(7)
    bits = Bits(lambda z: z @ weights > 0.5 * weights.sum(), 7, seed=seed)
    found = search(precision=0.9)(bits.neighbours())
    true = bits.precision(found.rule)
    assert found.low <= true <= found.high
    assert found.is_precise
    assert true >= 0.9


def test_what_no_rule_explains():
    bits = Bits(lambda z: np.arange(len(z)) % 2 == 0, 4)
    found = search()(bits.neighbours())
    assert not found.is_precise
    assert found.low < 0.95


def test_a_limit_of_size():
    bits = Bits(MODELS["three"][0], 6)
    found = search(max_size=2)(bits.neighbours())
    assert len(found.rule) <= 2
    assert not found.is_precise


def test_rules_of_little_coverage_are_not_extended():
    bits = Bits(MODELS["three"][0], 6)
    found = search(least_coverage=0.3)(bits.neighbours())
    assert len(found.rule) == 2  # an extension of one that holds for a half
    assert not found.is_precise


def test_samples_without_conditions():
    bits = Bits(lambda z: np.ones(len(z), dtype=bool), 0)
    assert search()(bits.neighbours()).rule == ()


def test_nothing_is_asked_twice():
    asked = set()
    bits = Bits(MODELS["three"][0], 6)

    def ask(draws, changed):
        new = {(d, c.tobytes()) for d, c in zip(draws.tolist(), changed, strict=True)}
        assert len(new) == len(draws)
        assert not new & asked
        asked.update(new)
        return Bits.ask(bits, draws, changed)

    shares = np.full(len(bits.covered), 1 / len(bits.covered))
    search()(Neighbours(bits.met, ask, bits.covered, shares))
    assert asked


def test_counts_are_those_of_the_perturbed_samples():
    bits = Bits(lambda z: z.sum(axis=1) > 3, 6)
    neighbours = bits.neighbours()
    rules = [(), (1,), (0, 4), (1, 2, 5)]
    counts = neighbours.count_kept(rules, [0, 5, 0, 7], [40, 50, 33, 100])
    for rule, start, stop, found in zip(
        rules, [0, 5, 0, 7], [40, 50, 33, 100], counts, strict=True
    ):
        perturbed = bits.met[start:stop].copy()
        perturbed[:, rule] = True
        assert found == bits.keeps(perturbed).sum()


@pytest.mark.parametrize("name", ["both", "three"])
def test_fewer_questions_than_the_plain_search(name):
    keeps, expected = MODELS[name]
    bits, rng = Bits(keeps, 8), np.random.default_rng(0)

    def ask(rule, n):
        perturbed = rng.random((n, 8)) < 0.5
        perturbed[:, rule] = True
        return keeps(perturbed)

    settings = {"precision": 0.95, "delta": 0.1, "tau": 0.15}
    plain = PlainAnchors(ask, lambda rule: 0.5 ** len(rule), 8, beam=2, **settings)
    assert plain.find(4) == expected
    assert search(beam_size=2)(bits.neighbours()).rule == expected
    assert bits.n_asked < plain.n_rows


def test_rules_that_hardly_differ_need_few_draws():
    # Rules of one bit keep 1/4 or 1/8 of the answers, less apart than tau.
    bits = Bits(MODELS["three"][0], 10)
    arms = _BestArms(search(beam_size=1), bits.neighbours(), [(j,) for j in range(10)])
    arms.find_beam()
    assert bits.n_asked <= 10 * 256


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_no_rule_left_out_is_better_by_tau(seed, beam_size):
    rng, true = np.random.default_rng(seed), np.array([0.5] * 7 + [0.66])

    class Opposed(Bits):
        """Each condition keeps other answers than the next one."""

        def neighbours(self):
            near = super().neighbours()
            points = rng.random(near.n_draws)
            kept = np.where(np.arange(8)[:, None] % 2, points, 1 - points)
            kept = kept < true[:, None]
            near.keeps_answer = lambda rules, starts, stops: np.concatenate(
                [kept[r[0], i:j] for r, i, j in zip(rules, starts, stops, strict=True)]
            )
            return near

    near, rules = Opposed(None, 8).neighbours(), [(j,) for j in range(8)]
    chosen = [
        rule[0]
        for rule in _BestArms(search(beam_size=beam_size), near, rules).find_beam()
    ]
    others = np.setdiff1d(np.arange(8), chosen)
    assert true[others].max() - true[chosen].min() <= 0.15


@pytest.mark.parametrize("level", [0.5, 3.0, 20.0])
def test_kl_bounds(level):
    n_draws = np.array([1, 10, 10, 10, 1000])
    n_kept = np.array([1, 0, 7, 10, 990])
    low, high = kl_bounds(n_kept, n_draws, level)
    pairs = zip(n_kept / n_draws, level / n_draws, strict=True)
    expected = np.array([[bound(p, most, end) for end in (0, 1)] for p, most in pairs])
    assert_allclose(low, expected[:, 0], atol=1e-8)
    assert_allclose(high, expected[:, 1], atol=1e-8)


def test_kl_bounds_of_nothing_but_successes():
    low, high = kl_bounds(np.array([60]), np.array([60]), np.log(20))
    assert_allclose(low, 20 ** (-1 / 60), atol=1e-8)
    assert_array_equal(high, 1)
