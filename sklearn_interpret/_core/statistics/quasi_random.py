"""Points that cover the unit cube more evenly than independent draws."""

import numpy as np
from scipy.stats import qmc

# With more dimensions, Sobol points cover most pairs of them no better than chance.
_MOST_SOBOL = 1024


def even_points(n_points, n_dimensions, rng):
    """Points of the unit cube, drawn so that averages over them vary little.

    Scrambled Sobol points (Owen 1998); in dimensions beyond the first 1024, latin
    hypercubes.

    Parameters
    ----------
    n_points : int
        How many; powers of two are covered best.
    n_dimensions : int
        Dimensions.
    rng : numpy.random.Generator
        Draws the scrambling.

    Returns
    -------
    ndarray of shape (n_points, n_dimensions)
        In the open interval (0, 1); each point uniform.
    """
    points = np.empty((n_points, n_dimensions))
    n_sobol = min(n_dimensions, _MOST_SOBOL)
    if n_sobol:
        exponent = max(0, int(n_points - 1).bit_length())
        sobol = qmc.Sobol(n_sobol, seed=rng)
        points[:, :n_sobol] = sobol.random_base2(exponent)[:n_points]
    if n_dimensions > n_sobol:
        rest = qmc.LatinHypercube(n_dimensions - n_sobol, seed=rng)
        points[:, n_sobol:] = rest.random(n_points)
    tiny = np.finfo(np.float64).eps
    return np.clip(points, tiny, 1 - tiny, out=points)
