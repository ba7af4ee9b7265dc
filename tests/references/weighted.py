"""Weighted statistics by exact fractions and by repeated rows."""

from fractions import Fraction

import numpy as np


def quantile(values, probability, weights):
    """Smallest value at which the weighted distribution function reaches p."""
    pairs = sorted(zip(values, map(Fraction, weights), strict=True), key=_value)
    total = sum(weight for _, weight in pairs)
    reached = Fraction(0)
    for value, weight in pairs:
        reached += weight
        if reached >= Fraction(probability) * total:
            return value
    raise AssertionError("probabilities end at one")


def _value(pair):
    return pair[0]


def moments(values, weights):
    """Weight, mean and sum of squared deviations of one sample of numbers."""
    total = sum(weights)
    mean = sum(w * v for v, w in zip(values, weights, strict=True)) / total
    m2 = sum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True))
    return total, mean, m2


def repeated(values, weights):
    """The sample in which a row of weight w stands w times."""
    return np.repeat(values, np.asarray(weights, dtype=int), axis=0)
