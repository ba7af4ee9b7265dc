"""Where panels stand: pure functions from counts to shapes, sizes and spaces."""

from dataclasses import dataclass

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
