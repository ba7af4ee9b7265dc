"""Families and links against distributions of scipy, and against finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from sklearn_interpret._core.additive.families import FAMILIES, LINKS, negative_binomial

MEANS = np.array([0.2, 0.5, 0.9])
FEW, MANY = np.array([0.0, 1.0, 0.0]), np.array([0.0, 3.0, 1.0])


@pytest.mark.parametrize("name", LINKS)
def test_links_are_inverted_and_have_their_slopes(name):
    link = LINKS[name]
    scores = link.of_mean(MEANS)
    assert_allclose(link.mean(scores), MEANS)
    step = 1e-6
    rise = link.mean(scores + step) - link.mean(scores - step)
    assert_allclose(link.slope(scores), rise / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("scores", [[-1e4, 1e4], [-500.0, 40.0]])
def test_means_stay_within_their_bounds(scores):
    shares = LINKS["logit"].mean(np.array(scores))
    assert ((shares > 0) & (shares < 1)).all()
    assert LINKS["log"].mean(np.array(scores[:1])) > 0


CASES = {
    "normal": (MANY, 0.7, lambda phi: stats.norm(MEANS, np.sqrt(phi))),
    "binomial": (FEW, 1.0, lambda phi: stats.bernoulli(MEANS)),
    "poisson": (MANY, 1.0, lambda phi: stats.poisson(MEANS)),
    "gamma": (MANY + 1, 0.7, lambda phi: stats.gamma(1 / phi, scale=MEANS * phi)),
}


@pytest.mark.parametrize("name", CASES)
def test_likelihoods_and_variances_are_those_of_scipy(name):
    family, (y, phi, distribution) = FAMILIES[name], CASES[name]
    peer = distribution(phi)
    density = getattr(peer, "logpmf", None) or peer.logpdf
    assert_allclose(family.log_likelihood(y, MEANS, phi), density(y))
    assert_allclose(phi * family.variance(MEANS), peer.var())
    assert family.dispersion in (None, phi)


def test_negative_binomial_counts():
    family = negative_binomial(2.5)
    peer = stats.nbinom(2.5, 2.5 / (2.5 + MEANS))
    assert_allclose(family.log_likelihood(MANY, MEANS, 1.0), peer.logpmf(MANY))
    assert_allclose(family.variance(MEANS), peer.var())
    assert family.shape == 2.5


@pytest.mark.parametrize("name", FAMILIES)
def test_deviances_are_of_likelihoods_and_least_at_the_target(name):
    family = FAMILIES[name]
    y = np.array([0.3, 0.4, 0.8])
    assert_allclose(family.deviance(y, y), 0, atol=1e-12)
    # Their slope in the mean is that of quasi-likelihoods.
    step = 1e-6
    rise = family.deviance(y, MEANS + step) - family.deviance(y, MEANS - step)
    slopes = 2 * (MEANS - y) / family.variance(MEANS)
    assert_allclose(rise / (2 * step), slopes, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("normal", [-1.0, 0.0], [np.inf, np.nan]),
        ("binomial", [0.0, 0.5, 1.0], [-0.1, 1.1]),
        ("poisson", [0.0, 2.5], [-1e-9]),
        ("gamma", [1e-9], [0.0, -1.0]),
        ("negative_binomial", [0.0, 7.0], [-1.0]),
    ],
)
def test_domains(name, good, bad):
    holds = FAMILIES[name].holds
    assert holds(np.array(good)).all()
    assert not holds(np.array(bad)).any()


@pytest.mark.parametrize("name", ["poisson", "binomial"])
def test_quasi_families_have_no_likelihood(name):
    quasi, family = FAMILIES[f"quasi{name}"], FAMILIES[name]
    assert quasi.is_quasi
    assert quasi.dispersion is quasi.excess is None
    assert (quasi.links, quasi.variance) == (family.links, family.variance)
