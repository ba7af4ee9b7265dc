"""Similarity of levels, pair by pair (Apley & Zhu 2020, appendix on categories)."""

import numpy as np


def kolmogorov_smirnov(codes, values, weights, a, b, points):
    """Largest distance of two levels' distribution functions over some points."""
    return max(
        abs(
            _share(values <= point, codes == a, weights)
            - _share(values <= point, codes == b, weights)
        )
        for point in points
    )


def total_variation(codes, companion, weights, a, b):
    """Half the summed difference of two levels' shares of a companion's levels."""
    return (
        sum(
            abs(
                _share(companion == level, codes == a, weights)
                - _share(companion == level, codes == b, weights)
            )
            for level in np.unique(companion)
        )
        / 2
    )


def _share(event, given, weights):
    return weights[event & given].sum() / weights[given].sum()


def first_coordinate(distances):
    """Classical scaling to one dimension (Torgerson 1952)."""
    n = len(distances)
    centring = np.eye(n) - np.ones((n, n)) / n
    gram = -0.5 * centring @ distances**2 @ centring
    values, vectors = np.linalg.eigh(gram)
    return vectors[:, np.argmax(values)] * np.sqrt(values.max())
