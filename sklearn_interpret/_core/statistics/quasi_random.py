"""Points that cover the unit cube more evenly than independent draws."""

import numpy as np
from scipy.stats import qmc

# With more dimensions, Sobol points cover most pairs of them no better than chance.
_MOST_SOBOL = 1024


def even_points(n_points, n_dimensions, rng):
    """Points (n_points, n_dimensions) of the open unit cube that cover it evenly.

    Scrambled Sobol points (Owen 1998), best for powers of two; in dimensions beyond the
    first 1024, latin hypercubes. Each point is uniform; averages over them vary little.
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
