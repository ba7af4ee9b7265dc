"""Random masks of the parts of a text or image, and quasi-random points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb
from scipy.stats import qmc

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
        # Sobol points are balanced for powers of two: draw these, keep the first.
        exponent = max(0, int(n_points - 1).bit_length())
        sobol = qmc.Sobol(n_sobol, seed=rng)
        points[:, :n_sobol] = sobol.random_base2(exponent)[:n_points]
    if n_dimensions > n_sobol:
        rest = qmc.LatinHypercube(n_dimensions - n_sobol, seed=rng)
        points[:, n_sobol:] = rest.random(n_points)
    tiny = np.finfo(np.float64).eps
    return np.clip(points, tiny, 1 - tiny, out=points)


@dataclass(frozen=True, eq=False)
class Masks:
    """Sets of parts that are kept, with their probabilities.

    Parameters
    ----------
    kept : ndarray of shape (n_masks, n_parts), bool
        Parts that are kept; the first set has them all.
    shares : ndarray of shape (n_masks,)
        Probability of each set; they sum to one.
    complete : bool
        Whether these are all 2**n_parts sets.
    """

    kept: np.ndarray
    shares: np.ndarray
    complete: bool


def independent_masks(n_parts: int, n_masks: int, rng: np.random.Generator) -> Masks:
    """At most `n_masks` `Masks` that keep each part with probability one half.

    If at most `n_masks` sets exist, all of them are taken.
    """
    if n_parts < 62 and 2**n_parts <= n_masks:
        return Masks(_all_masks(n_parts), np.full(2**n_parts, 0.5**n_parts), True)
    return _drawn(quasi_random_points(n_masks - 1, n_parts, rng) < 0.5)


def sized_masks(n_parts: int, n_masks: int, rng: np.random.Generator) -> Masks:
    """Random masks in which the number of parts kept is uniform on 0..n_parts."""
    if n_parts < 62 and 2**n_parts <= n_masks:
        kept = _all_masks(n_parts)
        shares = 1 / ((n_parts + 1) * comb(n_parts, kept.sum(axis=1)))
        return Masks(kept, shares, True)
    points = quasi_random_points(n_masks - 1, n_parts + 1, rng)
    sizes = (points[:, 0] * (n_parts + 1)).astype(np.intp)
    ranks = points[:, 1:].argsort(axis=1, kind="stable").argsort(axis=1)
    return _drawn(ranks < sizes[:, None])


def _all_masks(n_parts: int) -> NDArray[np.bool_]:
    """All sets of parts, the full set first."""
    numbers = np.arange(2**n_parts)[::-1, None]
    return (numbers >> np.arange(n_parts) & 1).astype(bool)


def _drawn(kept: NDArray[np.bool_]) -> Masks:
    """Masks that were drawn, after the full set."""
    whole = np.ones((1, kept.shape[1]), dtype=bool)
    kept = np.concatenate([whole, kept])
    return Masks(kept, np.full(len(kept), 1 / len(kept)), False)


def cosine_distances(kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Cosine distances of masks (n_masks, n_parts) from the whole, (n_masks,)."""
    return 1 - np.sqrt(kept.mean(axis=1)) if kept.shape[1] else np.zeros(len(kept))


def gaussian(squares: Any, width: int) -> Any:
    """Kernel of squared distances, exp(-d^2 / (2 width^2)), whatever the width."""
    with np.errstate(over="ignore"):
        return np.exp(-(squares / width / width) / 2)
