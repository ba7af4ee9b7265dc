"""Steps within a box that go far along a direction for their norm: inf, 2 and 1.

All take many rows at once. Boxes hold the origin: ``low <= 0 <= high``.
"""

import numpy as np

NORMS = {"inf": np.inf, "2": 2, "1": 1}


def farthest(slopes, low, high, radius, norm):
    """The steps that gain most, of a norm of at most `radius`, within boxes.

    Parameters
    ----------
    slopes : ndarray of shape (n, p)
        What a unit of each coordinate gains.
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
    rates, room = _rates(slopes, low, high, norm)
    radius = np.broadcast_to(radius, len(slopes))
    if norm == np.inf:
        sizes = np.minimum(radius[:, None] * (rates > 0), room)
    elif norm == 1:
        sizes = _in_order(np.abs(slopes), room, np.ones_like(room), radius)
    else:
        times = _time_when(rates**2, _over(room, rates), radius**2, squared=True)
        sizes = _until(times, rates, room)
    return np.copysign(sizes, slopes)


def nearest_beyond(slopes, low, high, needs, norm):
    """The shortest steps that gain what is needed, within boxes.

    Parameters
    ----------
    slopes, low, high, norm
        As of :func:`farthest`.
    needs : ndarray of shape (n,)
        What has to be gained, not negative; infinite steps where boxes have no room.

    Returns
    -------
    steps : ndarray of shape (n, p)
        The steps; where the box allows less than is needed, its farthest corner.
    enough : ndarray of shape (n,), bool
        Whether they gain what is needed.
    """
    rates, room = _rates(slopes, low, high, norm)
    gains = np.abs(slopes)
    most = np.where(gains > 0, gains * room, 0).sum(axis=1)
    enough = (most >= needs) & np.isfinite(needs)
    wanted = np.where(enough, needs, most)
    if norm == 1:
        sizes = _in_order(gains, room, gains, wanted)
    else:
        times = _time_when(rates * gains, _over(room, rates), wanted)
        sizes = _until(times, rates, room)
    return np.copysign(sizes, slopes), enough


def shrunk(steps, radius, norm):
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
    # Duchi et al. (2008): what is subtracted from all sizes, none becoming negative.
    far = np.abs(steps[outside])
    falling = -np.sort(-far, axis=1)
    excess = (np.cumsum(falling, axis=1) - radius) / np.arange(1, far.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1
    cut = excess[np.arange(len(far)), last]
    steps[outside] = np.copysign(np.maximum(far - cut[:, None], 0), steps[outside])
    return steps


def _rates(slopes, low, high, norm):
    """How fast coordinates move, and how far they may."""
    rates = np.abs(slopes) if norm == 2 else (slopes != 0).astype(float)
    return rates, np.where(slopes > 0, high, -low)


def _until(times, rates, room):
    """How far coordinates have moved by some times, (n,)."""
    sizes = np.zeros(room.shape)
    moving = rates > 0
    times = np.broadcast_to(times[:, None], room.shape)[moving]
    sizes[moving] = np.minimum(times * rates[moving], room[moving])
    return sizes


def _over(room, rates):
    """When coordinates that move at these rates have no room left."""
    return np.divide(room, rates, out=np.full(room.shape, np.inf), where=rates > 0)


def _time_when(rates, until, wanted, *, squared=False):
    """When sums of what coordinates gain, until each stops, reach what is wanted.

    A coordinate gains `rates` times the time, or its square; infinite if never.
    """
    power = 2 if squared else 1
    order = np.argsort(until, axis=1)
    until = np.take_along_axis(until, order, axis=1)
    rates = np.take_along_axis(rates, order, axis=1)
    before = _sums_before(rates * np.where(rates > 0, until, 0) ** power)
    moving = np.cumsum(rates[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(invalid="ignore"):
        reached = before + np.where(moving > 0, moving * until**power, 0)
    at = (reached < wanted[:, None]).sum(axis=1)
    rows, last = np.arange(len(at)), np.minimum(at, until.shape[1] - 1)
    short = np.maximum(wanted - before[rows, last], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = (short / moving[rows, last]) ** (1 / power)
    times = np.minimum(np.where(short > 0, times, 0), until[rows, last])
    return np.where(at < until.shape[1], times, np.inf)


def _sums_before(parts):
    sums = np.zeros(parts.shape)
    np.cumsum(parts[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def _in_order(gains, room, spent, total):
    """Sizes of coordinates that spend a total one after the other, by what they gain.

    A unit of each coordinate spends `spent`.
    """
    order = np.argsort(-gains, axis=1, kind="stable")
    room, spent = (np.take_along_axis(part, order, axis=1) for part in (room, spent))
    with np.errstate(invalid="ignore"):
        whole = np.where(spent > 0, room * spent, 0)
    left = np.maximum(total[:, None] - _sums_before(whole), 0)
    sizes = np.divide(left, spent, out=np.zeros(room.shape), where=spent > 0)
    out = np.empty(room.shape)
    np.put_along_axis(out, order, np.minimum(sizes, room), axis=1)
    return np.where(gains > 0, out, 0)
