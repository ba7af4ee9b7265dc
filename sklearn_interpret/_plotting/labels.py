"""Names, tick labels and colours that stay readable."""

import numpy as np

# Okabe & Ito's colours, those of little contrast against white last, yellow left out.
OKABE_ITO = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
)
SEQUENTIAL_MAP = "viridis"
DIVERGING_MAP = "RdBu_r"
MAX_TICK_LABELS = 30
CHARACTERS_PER_INCH = 12


def shorten(name, most=36):
    """A name of at most `most` characters: its beginning and its end.

    Parameters
    ----------
    name : object
        The name.
    most : int, default=36
        Largest number of characters.

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import shorten
    >>> shorten("a_rather_long_name", 11)
    'a_rat…_name'
    """
    name = " ".join(str(name).split())
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - head - 1) :]}"


def literal(text):
    """Text that matplotlib draws as it stands, without taking "$" for mathematics."""
    return str(text).replace("$", r"\$")


def two_lines(what, of):
    """Axis label that says what is shown, and of what, without being too long."""
    return literal(f"{what}\nof {shorten(of)}")


def colours(n):
    """`n` colours that colour-blind readers tell apart.

    Parameters
    ----------
    n : int
        How many; more than the palette has are taken from the sequential map.

    Returns
    -------
    list of colours
    """
    if n <= len(OKABE_ITO):
        return list(OKABE_ITO[:n])
    import matplotlib

    return list(matplotlib.colormaps[SEQUENTIAL_MAP](np.linspace(0, 0.92, n)))


def shown_ticks(n, most=MAX_TICK_LABELS):
    """Evenly spaced positions of at most `most` of `n` tick labels."""
    return np.arange(0, n, max(1, -(-n // most)))


def label_levels(ax, levels, *, which="x"):
    """Name the levels of a category along an axis, thinned and rotated when crowded.

    Parameters
    ----------
    ax : Axes
        With the levels at 0, 1, ...
    levels : sequence
        Names.
    which : {"x", "y"}, default="x"
        The axis.
    """
    places = shown_ticks(len(levels))
    texts = [shorten(levels[place], 16) for place in places]
    ax.set(**{f"{which}ticks": places})
    set_labels = ax.set_xticklabels if which == "x" else ax.set_yticklabels
    texts = [literal(text) for text in texts]
    crowded = sum(map(len, texts)) + 2 * len(texts) > _room(ax)
    if len(places) > 12:
        set_labels(texts, fontsize="small")
    else:
        set_labels(texts)
    if which == "x" and crowded:
        upright = len(places) > 12
        for label in ax.get_xticklabels():
            label.set(
                rotation=90 if upright else 40,
                ha="center" if upright else "right",
                rotation_mode="default" if upright else "anchor",
            )


def _room(ax):
    """How many characters fit along the axes' width, about."""
    width = ax.get_position().width * ax.figure.get_figwidth()
    return CHARACTERS_PER_INCH * width


def tidy_number_ticks(ax, values, which="x"):
    """Few ticks, at whole numbers where all values are whole."""
    from matplotlib.ticker import MaxNLocator

    whole = bool(len(values)) and bool(np.all(values == np.round(values)))
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(nbins=6, integer=whole))
