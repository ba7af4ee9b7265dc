"""The best steps within norm balls and boxes, in the norms inf, 2 and 1.

All functions take many rows in one block. Boxes hold the origin: ``low <= 0 <= high``.

In the norms 2 and inf the coordinates of the best step grow together from zero, in
proportion to their slopes or all alike, each until it reaches the end of its room in
the box: the step ends at the time when its norm, or its gain, is what is wanted. In the
norm 1 one coordinate after the other goes to its end, in the order of falling slopes.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog, lsq_linear, nnls

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

NORMS = {"inf": np.inf, "2": 2, "1": 1}
# Rounding error of gains, relative to the size of their terms: thousands of these.
_ROUNDING = 1e-12
# A smaller residual of the dual problem says that there is no step: the residual of a
# step s times as long as its lower bound is 1 / sqrt(1 + s^2).
_NO_RESIDUAL = 1e-9


def farthest(
    slopes: _Array, low: _Array, high: _Array, radius: _Array | float, norm: float
) -> _Array:
    """The steps of largest gain, of a norm of at most `radius`, within boxes.

    Parameters
    ----------
    slopes : ndarray of shape (n, p)
        Gains per unit of each coordinate.
    low, high : ndarray of shape (n, p)
        Ends of the boxes.
    radius : float or ndarray of shape (n,)
        The largest norm.
    norm : {inf, 2, 1}
        The norm.

    Returns
    -------
    ndarray of shape (n, p)
    """
    radius = np.broadcast_to(radius, len(slopes))
    if norm == np.inf:
        ends = np.clip(
            np.where(slopes > 0, high, low), -radius[:, None], radius[:, None]
        )
        ends[slopes == 0] = 0
        return ends
    rates, room = _rates(slopes, low, high, norm)
    if norm == 1:
        sizes = _spend_in_order(np.abs(slopes), room, np.ones_like(room), radius)
    else:
        times = _time_when(rates**2, _end_times(room, rates), radius**2, squared=True)
        sizes = _sizes_at(times, rates, room)
    return np.copysign(sizes, slopes)


def shortest_steps(
    slopes: _Array, low: _Array, high: _Array, needs: _Array, norm: float
) -> tuple[_Array, NDArray[np.bool_]]:
    """The shortest steps that gain their needs, within boxes.

    Parameters
    ----------
    slopes, low, high, norm
        As of :func:`farthest`.
    needs : ndarray of shape (n,)
        Gains that are needed, not negative.

    Returns
    -------
    steps : ndarray of shape (n, p)
        The steps; where the box has no room for the need, its farthest corner.
    enough : ndarray of shape (n,), bool
        Whether they gain their needs.
    """
    rates, room = _rates(slopes, low, high, norm)
    gains = np.abs(slopes)
    largest = np.where(gains > 0, gains * room, 0).sum(axis=1)
    enough = (largest >= needs) & np.isfinite(needs)
    wanted = np.where(enough, needs, largest)
    if norm == 1:
        sizes = _spend_in_order(gains, room, gains, wanted)
    else:
        times = _time_when(rates * gains, _end_times(room, rates), wanted)
        sizes = _sizes_at(times, rates, room)
    return np.copysign(sizes, slopes), enough


def shortest_steps_for_all(
    slopes: _Array, low: _Array, high: _Array, needs: _Array, norm: float
) -> tuple[_Array, NDArray[np.bool_]]:
    """The shortest steps by which each of m functions gains what it needs.

    For each row, the longest of the shortest steps for single functions is the shortest
    for all if all gain enough by it; else a program finds the step.

    Parameters
    ----------
    slopes : ndarray of shape (n, m, p)
        Gains per unit of each coordinate.
    low, high : ndarray of shape (n, p)
        Ends of the boxes.
    needs : ndarray of shape (n, m)
        Gains that are needed; negative where a function may fall.
    norm : {inf, 2, 1}
        The norm.

    Returns
    -------
    steps : ndarray of shape (n, p)
        The steps; any where no steps are enough.
    enough : ndarray of shape (n,), bool
        Whether all functions gain their needs.
    """
    n, m, p = slopes.shape
    steps, enough = shortest_steps(
        slopes.reshape(-1, p),
        np.repeat(low, m, axis=0),
        np.repeat(high, m, axis=0),
        np.maximum(needs.ravel(), 0),
        norm,
    )
    steps, enough = steps.reshape(n, m, p), np.all(enough.reshape(n, m), axis=1)
    hardest = np.linalg.norm(steps, norm, axis=2).argmax(axis=1)
    steps = steps[np.arange(n), hardest]
    if m == 1:
        return steps, enough
    gains = np.einsum("nmp,np->nm", slopes, steps)
    sizes = np.einsum("nmp,np->nm", np.abs(slopes), np.abs(steps))
    is_short = (gains < needs - _ROUNDING * sizes).any(axis=1)
    program = _by_least_squares if norm == 2 else _by_linear_program
    # Programs of the coordinates that can move, scaled to norms and slopes of about 1.
    for row in np.flatnonzero(enough & is_short):
        # This lower bound of the norm is the unit of the program.
        unit = float(np.linalg.norm(steps[row], norm)) or 1.0
        free = np.flatnonzero((low[row] < high[row]) & slopes[row].any(axis=0))
        free_slopes = slopes[row][:, free]
        scales = np.linalg.norm(free_slopes, axis=1)
        used = (scales > 0) & np.isfinite(needs[row])
        step = program(
            free_slopes[used] / scales[used, None],
            low[row, free] / unit,
            high[row, free] / unit,
            needs[row, used] / scales[used] / unit,
            norm,
        )
        enough[row] = step is not None
        if step is not None:
            step = np.clip(step * unit, low[row, free], high[row, free])
            steps[row, free] = step
    return steps, enough


def project_onto_ball(steps: _Array, radius: float, norm: float) -> _Array:
    """The nearest steps of a norm of at most `radius`; none of the entries grows."""
    if norm == np.inf:
        return np.clip(steps, -radius, radius)
    sizes = np.linalg.norm(steps, norm, axis=1)
    outside = sizes > radius
    if not outside.any():
        return steps
    steps = steps.copy()
    if norm == 2:
        steps[outside] *= (radius / sizes[outside])[:, None]
        return steps
    # Duchi et al. (2008): the same amount theta is subtracted from all sizes, down to
    # zero. If the k largest stay above zero, theta is (their sum - radius) / k.
    sizes = np.abs(steps[outside])
    falling = -np.sort(-sizes, axis=1)
    counts = np.arange(1, sizes.shape[1] + 1)
    thetas = (np.cumsum(falling, axis=1) - radius) / counts
    last = (falling > thetas).sum(axis=1) - 1
    theta = thetas[np.arange(len(sizes)), last, None]
    steps[outside] = np.copysign(np.maximum(sizes - theta, 0), steps[outside])
    return steps


def _rates(
    slopes: _Array, low: _Array, high: _Array, norm: float
) -> tuple[_Array, _Array]:
    """Rates at which coordinates grow, and their room."""
    rates = np.abs(slopes) if norm == 2 else (slopes != 0).astype(float)
    return rates, np.where(slopes > 0, high, -low)


def _sizes_at(times: _Array, rates: _Array, room: _Array) -> _Array:
    """Sizes of coordinates at some times (n,)."""
    sizes = np.zeros(room.shape)
    moving = rates > 0
    times = np.broadcast_to(times[:, None], room.shape)[moving]
    sizes[moving] = np.minimum(times * rates[moving], room[moving])
    return sizes


def _end_times(room: _Array, rates: _Array) -> _Array:
    """Times at which coordinates reach the ends of their room."""
    return np.divide(room, rates, out=np.full(room.shape, np.inf), where=rates > 0)


def _time_when(
    rates: _Array, end_times: _Array, wanted: _Array, *, squared: bool = False
) -> _Array:
    """Times at which the summed gains of coordinates reach what is wanted.

    A coordinate gains `rates` times the time, or the squared time, until it stops. The
    time is infinite where the sum stays below what is wanted.
    """
    power = 2 if squared else 1
    order = np.argsort(end_times, axis=1)
    end_times = np.take_along_axis(end_times, order, axis=1)
    rates = np.take_along_axis(rates, order, axis=1)
    # At each end: gains of coordinates that have stopped, rates of growing coordinates.
    stopped = _sums_before(rates * np.where(rates > 0, end_times, 0) ** power)
    growing = np.cumsum(rates[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(invalid="ignore"):
        gains = stopped + np.where(growing > 0, growing * end_times**power, 0)
    n_before = (gains < wanted[:, None]).sum(axis=1)
    n_ends = end_times.shape[1]
    rows, last = np.arange(len(n_before)), np.minimum(n_before, n_ends - 1)
    shortfall = np.maximum(wanted - stopped[rows, last], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = (shortfall / growing[rows, last]) ** (1 / power)
    times = np.minimum(np.where(shortfall > 0, times, 0), end_times[rows, last])
    return np.where(n_before < n_ends, times, np.inf)


def _sums_before(values: _Array) -> _Array:
    """Cumulative sums (n, p) without the entry itself."""
    sums = np.zeros(values.shape)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def _spend_in_order(
    gains: _Array, room: _Array, unit_costs: _Array, total: _Array
) -> _Array:
    """Sizes (n, p) of coordinates that spend totals (n,), the largest gain first."""
    order = np.argsort(-gains, axis=1, kind="stable")
    room = np.take_along_axis(room, order, axis=1)
    unit_costs = np.take_along_axis(unit_costs, order, axis=1)
    with np.errstate(invalid="ignore"):
        costs = np.where(unit_costs > 0, room * unit_costs, 0)
    unspent = np.maximum(total[:, None] - _sums_before(costs), 0)
    affordable = np.divide(
        unspent, unit_costs, out=np.zeros(room.shape), where=unit_costs > 0
    )
    sizes = np.empty(room.shape)
    np.put_along_axis(sizes, order, np.minimum(affordable, room), axis=1)
    return np.where(gains > 0, sizes, 0)


def _by_least_squares(
    slopes: _Array, low: _Array, high: _Array, needs: _Array, norm: float
) -> _Array | None:
    """The step of least Euclidean norm, or None (Lawson & Hanson 1974, chapter 23).

    It is the shortest step with ``normals @ step >= ends``, from the nonnegative least
    squares of the dual problem.
    """
    unit = np.eye(slopes.shape[1])
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    normals = np.vstack([slopes, unit[has_low], -unit[has_high]])
    ends = np.concatenate([needs, low[has_low], -high[has_high]])
    target = np.append(np.zeros(slopes.shape[1]), 1.0)
    system = np.vstack([normals.T, ends])
    try:
        weights, _ = nnls(system, target, maxiter=30 * system.shape[1])
    except RuntimeError:  # SciPy 1.14 may cycle
        weights = lsq_linear(system, target, (0, np.inf), method="bvls").x
    residual = system @ weights - target
    if np.linalg.norm(residual) < _NO_RESIDUAL:
        return None
    return -residual[:-1] / residual[-1]


def _by_linear_program(
    slopes: _Array, low: _Array, high: _Array, needs: _Array, norm: float
) -> _Array | None:
    """The step of least norm 1 or inf, or None."""
    p = slopes.shape[1]
    unit = sparse.eye_array(p)
    # Further variables bound the sizes of all coordinates: one each, or one for all.
    sizes = unit if norm == 1 else sparse.csr_array(np.ones((p, 1)))
    n_sizes = sizes.shape[1]
    low = np.append(low, np.zeros(n_sizes))
    high = np.append(high, np.full(n_sizes, np.inf))
    solution = linprog(
        np.append(np.zeros(p), np.ones(n_sizes)),
        A_ub=sparse.block_array(
            [[sparse.csr_array(-slopes), None], [unit, -sizes], [-unit, -sizes]],
            format="csr",
        ),
        b_ub=np.append(-needs, np.zeros(2 * p)),
        bounds=np.column_stack([low, high]),
    )
    return None if solution.x is None else solution.x[:p]
