"""Where panels stand: pure functions from counts to shapes, sizes and spaces."""

from dataclasses import dataclass

import numpy as np

PANEL_WIDTH, PANEL_HEIGHT, BELOW_HEIGHT = 3.6, 2.9, 1.5
BAR_PANEL_WIDTH = 4.4
SINGLE_WIDTH, SINGLE_HEIGHT = 5.6, 4.0
MANY = 30


@dataclass(frozen=True)
class Slot:
    """What one panel needs.

    Parameters
    ----------
    below : bool, default=False
        A smaller panel below it.
    bar : bool, default=False
        A colour bar.
    long_ticks : bool, default=False
        Room for names as tick labels.
    """

    below: bool = False
    bar: bool = False
    long_ticks: bool = False


def grid_shape(n_panels, n_columns):
    """Rows and columns, the panels evened out over the rows.

    Examples
    --------
    >>> from sklearn_interpret._plotting.layouts import grid_shape
    >>> grid_shape(4, 3), grid_shape(7, 3)
    ((2, 2), (3, 3))
    """
    n_rows = -(-n_panels // n_columns)
    return n_rows, -(-n_panels // n_rows)


def figure_size(shape, slots):
    """Width and height of a figure for the panels, in inches."""
    n_rows, n_columns = shape
    extra = BELOW_HEIGHT if any(slot.below for slot in slots) else 0.0
    if n_rows == n_columns == 1:
        return SINGLE_WIDTH, SINGLE_HEIGHT + extra
    width = BAR_PANEL_WIDTH if any(slot.bar for slot in slots) else PANEL_WIDTH
    if len(slots) > MANY and any(slot.long_ticks for slot in slots):
        extra += 0.7
    return width * n_columns, (PANEL_HEIGHT + extra) * n_rows


def fixed_spaces(shape, size, slots):
    """Margins and gaps of a grid of many panels, which need not be measured.

    Measuring each label, as matplotlib's constrained layout does, takes minutes for
    hundreds of panels.

    Parameters
    ----------
    shape : tuple of int
        Rows (panels below counted) and columns.
    size : tuple of float
        Width and height in inches.
    slots : list of Slot
        The panels.

    Returns
    -------
    dict
        Keyword arguments of matplotlib's GridSpec.
    """
    bars = any(slot.bar for slot in slots)
    between = 1.7 if bars else 0.5
    under = 1.4 if any(slot.long_ticks for slot in slots) else 0.75
    left, right = 0.9, 1.0 if bars else 0.2
    top, bottom = 0.5, under + 0.3
    (n_rows, n_columns), (width, height) = shape, size
    mean_width = (width - left - right - between * (n_columns - 1)) / n_columns
    mean_height = (height - top - bottom - under * (n_rows - 1)) / n_rows
    return {
        "left": left / width,
        "right": 1 - right / width,
        "bottom": bottom / height,
        "top": 1 - top / height,
        "wspace": between / mean_width,
        "hspace": under / mean_height,
    }


def row_height(n_rows, pitch=0.36):
    """Height in inches of a figure whose axes holds that many named rows."""
    return max(2.2, 1.2 + pitch * n_rows)


def swarm_offsets(places, limits, *, n_bins, diameter, reach=0.4):
    """Offsets across a row that spread points at nearly equal places: a swarm.

    The row is cut into bins along it. The points of a bin stand side by side across
    the row, centred; where the fullest bin would reach too far, the extents of all are
    drawn together, the wider the more, so that a fuller bin is still a wider one.

    Parameters
    ----------
    places : ndarray of shape (n,)
        Places along the row, finite.
    limits : pair of float
        Both ends of the row.
    n_bins : int
        Number of bins, about the row's length over the diameter of a point.
    diameter : float
        Of a point, in the unit of the offsets.
    reach : float, default=0.4
        Largest offset to each side.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._plotting.layouts import swarm_offsets
    >>> places = np.array([0.0, 5.0, 5.0, 5.0])
    >>> swarm_offsets(places, (0, 10), n_bins=10, diameter=0.1).round(1).tolist()
    [0.0, 0.0, 0.1, -0.1]
    """
    low, high = limits
    bins = np.zeros(len(places), dtype=np.intp)
    if high > low:
        # The difference of huge numbers may overflow, that of halves does not.
        share = (places / 2 - low / 2) / (high / 2 - low / 2)
        bins = np.clip(share * n_bins, 0, n_bins - 1).astype(np.intp)
    order = np.lexsort((places, bins))
    counts = np.bincount(bins)
    sizes = counts[bins[order]]
    firsts = (np.cumsum(counts) - counts)[bins[order]]
    extents = (counts - 1.0) * diameter
    most = max(extents.max(initial=0.0), 2 * reach)
    drawn_in = 2 * reach * np.sqrt(np.maximum(extents, 0) / most)
    steps = np.minimum(extents, drawn_in) / np.maximum(counts - 1, 1)
    ranks = _centre_out(np.arange(len(places)) - firsts, sizes)
    offsets = np.empty(len(places))
    offsets[order] = ranks * steps[bins[order]]
    return offsets


def _centre_out(ranks, sizes):
    """Places -(size - 1) / 2, ..., (size - 1) / 2, from the middle outwards."""
    odd = np.where(ranks % 2, 1, -1) * np.ceil(ranks / 2)
    even = np.where(ranks % 2, -1, 1) * (np.floor(ranks / 2) + 0.5)
    return np.where(sizes % 2, odd, even) + 0.0  # no negative zero


def waterfall_steps(base, contributions):
    """Where each step of a waterfall starts and ends.

    Parameters
    ----------
    base : float
        Where the first step starts.
    contributions : ndarray of shape (p,)
        Signed lengths of the steps, in order.

    Returns
    -------
    starts, ends : ndarray of shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._plotting.layouts import waterfall_steps
    >>> starts, ends = waterfall_steps(10.0, np.array([5.0, -2.0]))
    >>> starts.tolist(), ends.tolist()
    ([10.0, 15.0], [15.0, 13.0])
    """
    edges = base + np.concatenate([[0.0], np.cumsum(contributions)])
    return edges[:-1], edges[1:]


def force_edges(prediction, contributions):
    """Segments that push towards the prediction, from below and from above.

    Positive contributions stand below the prediction and negative ones above it, the
    first of each kind next to it.

    Parameters
    ----------
    prediction : float or ndarray of shape (n,)
        Where both kinds meet.
    contributions : ndarray of shape (p,) or (n, p)
        Signed lengths.

    Returns
    -------
    far, near : ndarray of the shape of `contributions`
        The end of each segment that is away from the prediction, and the one towards
        it; ``near - far`` is the contribution.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._plotting.layouts import force_edges
    >>> far, near = force_edges(13.0, np.array([5.0, -2.0, 1.0]))
    >>> far.tolist(), near.tolist()
    ([8.0, 15.0, 7.0], [13.0, 13.0, 8.0])
    """
    up = np.where(contributions > 0, contributions, 0.0)
    down = np.where(contributions < 0, -contributions, 0.0)
    before = np.where(
        contributions > 0,
        up - np.cumsum(up, axis=-1),
        np.cumsum(down, axis=-1) - down,
    )
    near = np.asarray(prediction)[..., None] + before
    return near - contributions, near


def label_lines(centres, widths, limits, n_lines):
    """Lines of text on which labels do not overlap, the first labels served first.

    Parameters
    ----------
    centres : ndarray of shape (p,)
        Where each label would best be centred.
    widths : ndarray of shape (p,)
        How wide each is.
    limits : pair of float
        Both ends of the lines.
    n_lines : int
        Number of lines.

    Returns
    -------
    lines : ndarray of shape (p,), dtype intp
        The line of each label, -1 where there is no room.
    centres : ndarray of shape (p,)
        The centres, moved so that labels end within the limits.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._plotting.layouts import label_lines
    >>> lines, centres = label_lines(
    ...     np.array([1.0, 2.0, 8.0]), np.full(3, 4.0), (0, 10), n_lines=2
    ... )
    >>> lines.tolist(), centres.tolist()
    ([0, 1, 0], [2.0, 2.0, 8.0])
    """
    low, high = limits
    half = np.asarray(widths) / 2
    centres = np.maximum(np.minimum(centres, high - half), low + half)
    lines = np.full(len(centres), -1, dtype=np.intp)
    for label in range(len(centres)):
        apart = np.abs(centres[:label] - centres[label]) >= half[:label] + half[label]
        taken = set(lines[:label][~apart].tolist())
        free = [line for line in range(n_lines) if line not in taken]
        if free:
            lines[label] = free[0]
    return lines, centres
