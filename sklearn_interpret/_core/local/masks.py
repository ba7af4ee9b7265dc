"""Random masks of the parts of a text or image, and quasi-random points.

`independent_masks` are the masks of LIME (Ribeiro, Singh and Guestrin 2016);
`sized_masks` have each number of present parts equally often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb
from scipy.stats import qmc

_Squares = TypeVar("_Squares", float, NDArray[np.float64])

# Beyond this dimension, Sobol points cover most pairs of axes no better than chance.
_MOST_SOBOL = 1024
# Largest number of points of scipy's Sobol sequence.
MOST_POINTS = 2**30


def quasi_random_points(
    n_points: int, n_dimensions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Points (n_points, n_dimensions) of the open unit cube that cover it evenly.

    Scrambled Sobol points (Owen 1998), best for powers of two; in dimensions beyond the
    first 1024, latin hypercubes. Each point is uniform; averages over them vary little.
    """
    points = np.empty((n_points, n_dimensions))
    n_sobol = min(n_dimensions, _MOST_SOBOL)
    if n_sobol:
        # Sobol points are balanced for powers of two: the first ones of a larger
        # power are used.
        exponent = max(0, int(n_points - 1).bit_length())
        sobol = qmc.Sobol(n_sobol, seed=rng)
        points[:, :n_sobol] = sobol.random_base2(exponent)[:n_points]
    if n_dimensions > n_sobol:
        hypercube = qmc.LatinHypercube(n_dimensions - n_sobol, seed=rng)
        points[:, n_sobol:] = hypercube.random(n_points)
    tiny = np.finfo(np.float64).eps
    return np.clip(points, tiny, 1 - tiny, out=points)


@dataclass(frozen=True, eq=False)
class Masks:
    """Sets of parts of a text or image, with their probabilities.

    Parameters
    ----------
    present : ndarray of shape (n_masks, n_parts), bool
        Mask of the parts in each set; the first set has them all.
    probabilities : ndarray of shape (n_masks,)
        Probability of each set; they sum to one.
    complete : bool
        Whether `present` has all 2**n_parts sets.
    """

    present: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    complete: bool


def independent_masks(n_parts: int, n_masks: int, rng: np.random.Generator) -> Masks:
    """At most `n_masks` masks that have each part with probability one half.

    If at most `n_masks` masks exist, the result has all of them.
    """
    if n_parts < 62 and 2**n_parts <= n_masks:
        probabilities = np.full(2**n_parts, 0.5**n_parts)
        return Masks(_all_masks(n_parts), probabilities, complete=True)
    return _after_full_set(quasi_random_points(n_masks - 1, n_parts, rng) < 0.5)


def sized_masks(n_parts: int, n_masks: int, rng: np.random.Generator) -> Masks:
    """Random masks in which the number of present parts is uniform on 0..n_parts."""
    if n_parts < 62 and 2**n_parts <= n_masks:
        present = _all_masks(n_parts)
        probabilities = 1 / ((n_parts + 1) * comb(n_parts, present.sum(axis=1)))
        return Masks(present, probabilities, complete=True)
    points = quasi_random_points(n_masks - 1, n_parts + 1, rng)
    sizes = (points[:, 0] * (n_parts + 1)).astype(np.intp)
    ranks = points[:, 1:].argsort(axis=1, kind="stable").argsort(axis=1)
    return _after_full_set(ranks < sizes[:, None])


def _all_masks(n_parts: int) -> NDArray[np.bool_]:
    """All sets of parts, the full set first."""
    numbers = np.arange(2**n_parts)[::-1, None]
    return (numbers >> np.arange(n_parts) & 1).astype(bool)


def _after_full_set(present: NDArray[np.bool_]) -> Masks:
    """Masks of equal probability, with the full set before them."""
    full = np.ones((1, present.shape[1]), dtype=bool)
    present = np.concatenate([full, present])
    probabilities = np.full(len(present), 1 / len(present))
    return Masks(present, probabilities, complete=False)


def cosine_distances(present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Cosine distances of masks (n_masks, n_parts) from the full set, (n_masks,)."""
    if not present.shape[1]:
        return np.zeros(len(present))
    return 1 - np.sqrt(present.mean(axis=1))


def gaussian_kernel(squares: _Squares, width: float) -> _Squares:
    """Kernel of squared distances, exp(-d^2 / (2 width^2)); tiny widths give zero."""
    with np.errstate(over="ignore"):
        return np.exp(-(squares / width / width) / 2)
