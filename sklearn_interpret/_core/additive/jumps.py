"""Jumps in the effect of a feature, which smooth curves blur."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from sklearn_interpret._core.additive.bases import SplineBasis

# Number of splines that stand for a smooth effect, chosen by hand. More splines follow
# a jump more closely, so that less of it is left to test; fewer leave curvature that
# looks like jumps. benchmarks/bench_conditional_tests.py has designs with jumps.
_N_SPLINES = 10
# Singular values below this share of the largest are zero, and cuts with less than this
# share of a row outside of the splines are functions of these.
_NEGLIGIBLE = 1e-6


def clearest_jump(
    column: NDArray[np.float64],
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[float, float]:
    """The cut of a column at which values jump most clearly, and its p-value.

    Each cut between two distinct numbers adds a step to a least squares fit of splines.
    Its F test is computed from cumulated sums for all cuts together, and corrected for
    their number. The clearest is tested again with an error for noise that differs from
    row to row; the larger p-value counts.

    Parameters
    ----------
    column : ndarray of shape (n_rows,)
        Numbers; rows where they are missing, NaN, have no side.
    values, weights : ndarray of shape (n_rows,)
        The effect of the column with residuals, and weights of the rows, which count as
        repeated rows.

    Returns
    -------
    cut, pvalue : float
        NaN and 1 if no cut can be tested.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.additive.jumps import clearest_jump
    >>> x = np.linspace(0, 1, 200)
    >>> values = np.sin(x) + (x > 0.3) + np.random.default_rng(0).normal(0, 0.1, 200)
    >>> cut, pvalue = clearest_jump(x, values, np.ones(200))
    >>> round(cut, 2), pvalue < 0.001
    (0.3, True)
    """
    order = np.argsort(column, kind="stable")
    order = order[~np.isnan(column[order])]
    x, root_weights = column[order], np.sqrt(weights[order])
    # Cut k is behind row last_rows[k]; its step s_k is sqrt(weight) up to that row.
    last_rows = np.flatnonzero(np.diff(x) > 0)
    if not len(last_rows):
        return np.nan, 1.0
    basis = SplineBasis(np.linspace(x[0], x[-1], _N_SPLINES - 2)).evaluate(x)
    # Q, an orthonormal basis of the splines, and the residuals r of a fit of these.
    vectors, singular_values, _ = np.linalg.svd(
        basis * root_weights[:, None], full_matrices=False
    )
    vectors = vectors[:, singular_values > _NEGLIGIBLE * singular_values[0]]
    residuals = values[order] * root_weights
    residuals = residuals - vectors @ (vectors.T @ residuals)
    # For all cuts: s_k'r, Q's_k and |s_k - QQ's_k|^2. With the step, the sum of squares
    # falls by (s_k'r)^2 / |s_k - QQ's_k|^2.
    step_products = np.cumsum(root_weights * residuals)[last_rows]
    step_coefs = np.cumsum(root_weights[:, None] * vectors, axis=0)[last_rows]
    step_norms_squared = np.cumsum(root_weights**2)[last_rows] - (step_coefs**2).sum(
        axis=1
    )
    dof = (root_weights**2).sum() - vectors.shape[1] - 1
    is_distinct = step_norms_squared > _NEGLIGIBLE
    gains = np.divide(
        step_products**2,
        step_norms_squared,
        out=np.zeros(len(last_rows)),
        where=is_distinct,
    )
    best_cut = gains.argmax()
    if dof < 1 or not gains[best_cut] > 0:
        return np.nan, 1.0
    step = root_weights * (np.arange(len(x)) <= last_rows[best_cut])
    step -= vectors @ step_coefs[best_cut]
    noise = residuals - step * (step_products[best_cut] / step_norms_squared[best_cut])
    leverages = (vectors**2).sum(axis=1) + step**2 / step_norms_squared[best_cut]
    # Errors HC3 (MacKinnon & White, 1985): noise over one minus leverage. Usual F tests
    # reject too often where few rows have large noise, such as those at the ends.
    one_minus_leverages = np.maximum(1 - leverages / root_weights**2, _NEGLIGIBLE)
    hc3_errors = step * noise / one_minus_leverages / root_weights
    f_statistics = (
        gains[best_cut] * dof / max(noise @ noise, np.finfo(float).tiny),
        step_products[best_cut] ** 2
        / max(hc3_errors @ hc3_errors, np.finfo(float).tiny),
    )
    pvalue = min(1.0, len(last_rows) * fdtrc(1, dof, min(f_statistics)))
    low, high = x[last_rows[best_cut]], x[last_rows[best_cut] + 1]
    return float(low + (high - low) / 2), float(pvalue)
