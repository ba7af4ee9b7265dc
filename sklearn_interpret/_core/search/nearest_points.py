"""The shortest steps, within boxes, by which several linear functions gain enough."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, lsq_linear, nnls

from sklearn_interpret._core.search.norm_balls import nearest_beyond

# What gains may lack, relative to the size of their terms.
_ROUNDING = 1e-12
# A residual of a program that has a solution is larger.
_NOTHING = 1e-9


def nearest_beyond_all(slopes, low, high, needs, norm):
    """The shortest steps by which each of m functions gains what it needs.

    Where the step that one function needs is enough for all, that is the shortest; the
    others follow from a program each.

    Parameters
    ----------
    slopes : ndarray of shape (n, m, p)
        What a unit of each coordinate gains.
    low, high : ndarray of shape (n, p)
        Ends of the boxes, which hold the origin.
    needs : ndarray of shape (n, m)
        What has to be gained; negative where something may be lost.
    norm : {inf, 2, 1}
        The norm.

    Returns
    -------
    steps : ndarray of shape (n, p)
        The steps; of those that cannot be enough, any.
    enough : ndarray of shape (n,), bool
        Whether all functions gain what they need.
    """
    n, m, p = slopes.shape
    low_each, high_each = (np.repeat(part, m, axis=0) for part in (low, high))
    flat = slopes.reshape(-1, p), low_each, high_each, np.maximum(needs.ravel(), 0)
    steps, each = nearest_beyond(*flat, norm)
    steps, enough = steps.reshape(n, m, p), each.reshape(n, m).all(axis=1)
    hardest = np.linalg.norm(steps, norm, axis=2).argmax(axis=1)
    steps = steps[np.arange(n), hardest]
    if m == 1:
        return steps, enough
    gains = np.einsum("nmp,np->nm", slopes, steps)
    sizes = np.einsum("nmp,np->nm", np.abs(slopes), np.abs(steps))
    lacking = (gains < needs - _ROUNDING * sizes).any(axis=1)
    program = _shortest if norm == 2 else _by_linear_program
    for row in np.flatnonzero(enough & lacking):
        # No step is shorter than this one: the unit of the program.
        unit = np.linalg.norm(steps[row], norm)
        unit = unit if unit > 0 else 1.0
        free = np.flatnonzero((low[row] < high[row]) & slopes[row].any(axis=0))
        some = slopes[row][:, free]
        scales = np.linalg.norm(some, axis=1)
        used = (scales > 0) & np.isfinite(needs[row])
        found = program(
            some[used] / scales[used, None],
            low[row, free] / unit,
            high[row, free] / unit,
            needs[row, used] / scales[used] / unit,
            norm,
        )
        enough[row] = found is not None
        if found is not None:
            found = np.clip(found * unit, low[row, free], high[row, free])
            steps[row, free] = found
    return steps, enough


def _shortest(slopes, low, high, needs, norm):
    """The step of least Euclidean norm, or None (Lawson & Hanson 1974, chapter 23)."""
    unit = np.eye(slopes.shape[1])
    above, below = np.isfinite(low), np.isfinite(high)
    normals = np.vstack([slopes, unit[above], -unit[below]])
    ends = np.concatenate([needs, low[above], -high[below]])
    target = np.append(np.zeros(slopes.shape[1]), 1.0)
    system = np.vstack([normals.T, ends])
    try:
        weights, _ = nnls(system, target, maxiter=30 * system.shape[1])
    except RuntimeError:  # SciPy 1.14 may go in circles
        weights = lsq_linear(system, target, (0, np.inf), method="bvls").x
    residual = system @ weights - target
    if np.linalg.norm(residual) < _NOTHING:
        return None
    return -residual[:-1] / residual[-1]


def _by_linear_program(slopes, low, high, needs, norm):
    """The step of least norm 1 or inf, or None."""
    p = slopes.shape[1]
    unit = sparse.eye_array(p)
    if norm == 1:
        # Up and down: each has its own end.
        matrix, ends = np.hstack([-slopes, slopes]), -needs
        objective = np.ones(2 * p)
        limits = np.column_stack([np.zeros(2 * p), np.append(high, -low)])
    else:
        radius = sparse.csr_array(np.full((p, 1), -1.0))
        matrix = sparse.block_array(
            [[sparse.csr_array(-slopes), None], [unit, radius], [-unit, radius]],
            format="csr",
        )
        ends = np.append(-needs, np.zeros(2 * p))
        objective = np.append(np.zeros(p), 1.0)
        limits = np.column_stack([np.append(low, 0), np.append(high, np.inf)])
    found = linprog(objective, A_ub=matrix, b_ub=ends, bounds=limits)
    if found.x is None:
        return None
    return found.x[:p] - found.x[p:] if norm == 1 else found.x[:p]
