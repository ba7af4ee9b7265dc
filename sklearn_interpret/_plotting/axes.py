"""Axes to draw on, styles, legends; matplotlib is imported late."""

from dataclasses import dataclass

import numpy as np

PANEL_WIDTH, PANEL_HEIGHT, BELOW_HEIGHT = 3.6, 2.9, 1.5
SINGLE_WIDTH, SINGLE_HEIGHT = 5.6, 4.0


def import_pyplot(caller):
    """Import matplotlib's pyplot when something is drawn, and not before.

    Parameters
    ----------
    caller : str
        Who draws, for the error.

    Raises
    ------
    ImportError
        Saying who needs matplotlib and how it is installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} needs matplotlib to draw; install it with "
            "`pip install matplotlib`."
        ) from error
    return plt


def merged_style(defaults, given, artist):
    """Keyword arguments of an artist: `defaults`, overruled by what the user gave.

    Parameters
    ----------
    defaults : dict
        Under matplotlib's full names.
    given : dict or None
        Also under its short names, such as "lw".
    artist : type
        The kind of artist, which knows the short names.
    """
    from matplotlib.cbook import normalize_kwargs

    return {**defaults, **normalize_kwargs(given or {}, artist)}


@dataclass
class Canvas:
    """Axes for a number of panels, some of which have a smaller one below.

    Parameters
    ----------
    figure : Figure or SubFigure
        Where the axes are.
    axes : ndarray of Axes of shape (n_rows, n_columns)
        None where there is no panel.
    main : list of Axes
        One per panel.
    below : list of Axes or None
        The smaller ones.
    own_figure : bool
        Whether the figure was made here.
    starts_row : list of bool or None
        Which panels stand at the left end of a row; None where somebody else
        arranged the axes.
    """

    figure: object
    axes: np.ndarray
    main: list
    below: list
    own_figure: bool
    starts_row: list | None


def take_axes(ax, below, *, n_columns, caller):
    """Axes for panels: a new figure's, one given axes (divided up), or all as given.

    Parameters
    ----------
    ax : None, Axes or array-like of Axes
        None makes a figure. A single axes is used as it is for a single panel, and
        divided into a grid for several. An array has one axes per panel, and behind
        these one for each panel below.
    below : list of bool
        For each panel, whether there is a smaller one below it.
    n_columns : int
        Largest number of panels in a row.
    caller : str
        Who draws, for errors.

    Returns
    -------
    Canvas
    """
    plt = import_pyplot(caller)
    if ax is None:
        shape = _grid_shape(len(below), n_columns)
        figure = plt.figure(figsize=_size(shape, any(below)), layout="constrained")
        return _grid(figure, figure, shape, below, own_figure=True)
    if not isinstance(ax, plt.Axes):
        return _given(ax, below, plt.Axes)
    if len(below) == 1 and not below[0]:
        return Canvas(_figure_of(ax), np.array([[ax]]), [ax], [None], False, None)
    place = ax.get_subplotspec()
    if not ax.axison or place is None:
        why = (
            "was used by another plot already: pass display.axes_ to draw there again"
            if place is not None
            else "is not part of a grid of subplots"
        )
        raise ValueError(
            f"{caller} needs {len(below) + sum(below)} axes. The single one given "
            f"cannot be divided, for it {why}; or pass an array of axes."
        )
    ax.set_axis_off()
    shape = _grid_shape(len(below), n_columns)
    return _grid(_figure_of(ax), place, shape, below, own_figure=False)


def _figure_of(ax):
    return ax.figure


def _grid_shape(n_panels, n_columns):
    """Rows and columns, the columns evened out over the rows."""
    n_rows = -(-n_panels // n_columns)
    return n_rows, -(-n_panels // n_rows)


def _size(shape, has_below):
    n_rows, n_columns = shape
    extra = BELOW_HEIGHT if has_below else 0.0
    if n_rows == n_columns == 1:
        return SINGLE_WIDTH, SINGLE_HEIGHT + extra
    return PANEL_WIDTH * n_columns, (PANEL_HEIGHT + extra) * n_rows


def _grid(figure, place, shape, below, *, own_figure):
    """A grid of axes within a figure, or within the place of one axes."""
    n_rows, n_columns = shape
    step = 2 if any(below) else 1
    ratios = [PANEL_HEIGHT, BELOW_HEIGHT][:step] * n_rows
    make = place.add_gridspec if place is figure else place.subgridspec
    spec = make(n_rows * step, n_columns, height_ratios=ratios)
    axes = np.full((n_rows * step, n_columns), None, dtype=object)
    main, second = [], []
    for panel, has_below in enumerate(below):
        row, column = divmod(panel, n_columns)
        row *= step
        axes[row, column] = figure.add_subplot(spec[row, column])
        main.append(axes[row, column])
        if has_below:
            axes[row + 1, column] = figure.add_subplot(
                spec[row + 1, column], sharex=axes[row, column]
            )
        second.append(axes[row + 1, column] if has_below else None)
    starts_row = [panel % n_columns == 0 for panel in range(len(below))]
    return Canvas(figure, axes, main, second, own_figure, starts_row)


def _given(ax, below, kind):
    """The axes of an array, as they are."""
    axes = np.asarray(ax, dtype=object)
    for one in axes.flat:
        if not isinstance(one, kind):
            raise TypeError(
                "ax must be None, a matplotlib Axes or an array of those; got "
                f"{type(one).__name__}."
            )
    n_needed = len(below) + sum(below)
    if axes.size != n_needed:
        raise ValueError(
            f"ax has {axes.size} axes, but there are {n_needed} panels to draw."
        )
    flat = list(axes.flat)
    rest = iter(flat[len(below) :])
    second = [next(rest) if has_below else None for has_below in below]
    return Canvas(
        _figure_of(flat[0]),
        axes if axes.ndim == 2 else axes.reshape(1, -1),
        flat[: len(below)],
        second,
        False,
        None,
    )


def widen_to_common_range(axes):
    """Give all axes the smallest y range that holds each of theirs."""
    limits = np.array([ax.get_ylim() for ax in axes])
    low, high = limits.min(), limits.max()
    for ax in axes:
        ax.set_ylim(low, high)


def add_legend(canvas, handles, labels):
    """A legend above the panels of an own figure, else within the first panel."""
    from sklearn_interpret._plotting.labels import literal, shorten

    if not handles:
        return None
    # Names come in afterwards: matplotlib drops labels that begin with "_".
    places = [str(place) for place in range(len(labels))]
    if canvas.own_figure:
        legend = canvas.figure.legend(
            handles,
            places,
            loc="outside upper center",
            ncols=min(len(handles), 2 * canvas.axes.shape[1]),
            frameon=False,
        )
    else:
        legend = canvas.main[0].legend(handles, places, fontsize="small")
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(literal(shorten(label)))
    return legend
