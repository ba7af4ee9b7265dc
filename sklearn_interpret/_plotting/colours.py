"""Colours that stand out on the paper of any style, to colour-blind readers too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.typing import ColorType

# Seven colours of Okabe & Ito, without yellow: those of little contrast against white
# are the last before black; and five more, found by a search. All stand out against
# white (contrast 2), and all but black against black (3). Distances between any two of
# the twelve are at least 26 in CIELAB, and 18 and 19 as deuteranopes and protanopes see
# them (21 between the seven).
PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#9966FF",
    "#995533",
    "#AABB66",
    "#6600FF",
    "#DDAAAA",
)
SEQUENTIAL_MAP = "viridis"
DIVERGING_MAP = "RdBu_r"
# Colours of signs, which colour-blind readers can distinguish, also in print.
UP_COLOUR = "#D55E00"
DOWN_COLOUR = "#0072B2"
# Colour of marks without a value on the scale of colours.
NEUTRAL_COLOUR = "0.62"
MIN_LINE_CONTRAST = 2.0  # of lines and areas against their background
MIN_TEXT_CONTRAST = 4.5  # of text against its background (WCAG 2, level AA)
CONTRAST_MARGIN = 1.25  # a changed colour gets this multiple of the least contrast
# Relative luminance of red, green and blue (Web Content Accessibility Guidelines).
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def contrast(first: ColorType, second: ColorType) -> float:
    """Ratio of the luminances of two colours: 1 (the same) to 21 (black on white).

    Examples
    --------
    >>> from sklearn_interpret._plotting.colours import contrast
    >>> round(contrast("black", "white"), 9), contrast("red", "red")
    (21.0, 1.0)
    """
    dark, light = sorted(map(_luminance, (first, second)))
    return float((light + 0.05) / (dark + 0.05))


def _luminance(colour: ColorType) -> float:
    """Relative luminance of a colour, from 0 (black) to 1 (white)."""
    from matplotlib.colors import to_rgb

    rgb = np.asarray(to_rgb(colour), dtype=np.float64)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(_LUMINANCE @ linear)


def paper(ax: Axes) -> tuple[float, float, float]:
    """Colour of the background of an axes."""
    from matplotlib.colors import to_rgba

    background = np.ones(3)
    for owner in (ax.figure.figure, ax):
        *rgb, alpha = to_rgba(owner.get_facecolor())
        background = alpha * np.array(rgb) + (1 - alpha) * background
    red, green, blue = background.tolist()
    return red, green, blue


def ink(ax: Axes) -> str:
    """Colour of text on an axes: the style's if it is readable, else black or white."""
    import matplotlib

    text_colour, background = matplotlib.rcParams["text.color"], paper(ax)
    is_readable = contrast(text_colour, background) >= MIN_TEXT_CONTRAST
    return text_colour if is_readable else text_on(background)


def text_on(colour: ColorType) -> str:
    """Black or white, whichever has more contrast with a colour."""
    return max("black", "white", key=lambda each: contrast(each, colour))


def shade(ax: Axes, share: float) -> tuple[float, float, float]:
    """A mixture of an axes' paper (0) and its ink (1)."""
    return mix(paper(ax), ink(ax), share)


def mix(
    first: ColorType, second: ColorType, share: float
) -> tuple[float, float, float]:
    """A mixture of one colour (0) and another (1)."""
    from matplotlib.colors import to_rgb

    pairs = zip(to_rgb(first), to_rgb(second), strict=True)
    red, green, blue = ((1 - share) * start + share * end for start, end in pairs)
    return red, green, blue


def stand_out(colour: ColorType, ax: Axes, *, is_text: bool = False) -> ColorType:
    """The colour, mixed with the ink of an axes if its contrast is low."""
    least = MIN_TEXT_CONTRAST if is_text else MIN_LINE_CONTRAST
    background, mixture = paper(ax), colour
    if contrast(colour, background) < least:
        ink_colour = ink(ax)
        for share in np.linspace(0, 1, 21):
            mixture = mix(colour, ink_colour, share)
            if contrast(mixture, background) >= CONTRAST_MARGIN * least:
                break
    return mixture


def colours(n: int) -> list[str]:
    """`n` colours that colour-blind readers can distinguish; see `stand_out`.

    Parameters
    ----------
    n : int
        Their number; more than the palette has are taken from the sequential map.

    Returns
    -------
    list of colours
    """
    if n <= len(PALETTE):
        return list(PALETTE[:n])
    import matplotlib
    from matplotlib.colors import to_hex

    shades = matplotlib.colormaps[SEQUENTIAL_MAP](np.linspace(0, 0.92, n))
    return list(map(to_hex, shades))


def unused_colours(wanted: list[ColorType], ax: Axes) -> list[ColorType]:
    """The colours; those that lines of an axes have already are replaced by others."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_hex, to_rgba_array

    used = {to_hex(line.get_color()) for line in ax.lines}
    for lines in ax.collections:
        if isinstance(lines, LineCollection):
            used |= set(map(to_hex, to_rgba_array(lines.get_colors())))
    unused: list[ColorType] = []
    for colour in wanted:
        candidates = (
            candidate
            for candidate in (colour, *PALETTE)
            if to_hex(stand_out(candidate, ax)) not in used
        )
        unused.append(next(candidates, colour))
        used.add(to_hex(stand_out(unused[-1], ax)))
    return unused


def strength_map(ax: Axes) -> Colormap:
    """Colours from weak to strong: strong ones have more contrast with the paper."""
    import matplotlib

    backwards = "" if text_on(paper(ax)) == "white" else "_r"
    return matplotlib.colormaps[f"{SEQUENTIAL_MAP}{backwards}"]


def feature_map(ax: Axes) -> Colormap:
    """Colours from low to high that stand out on an axes, and against grey."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    ends = (0.26, 1.0) if text_on(paper(ax)) == "white" else (0.0, 0.86)
    shades = matplotlib.colormaps["plasma"](np.linspace(*ends, 256))
    return ListedColormap(shades, name="low_to_high")


def sign_colours(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """The colour of each number's sign, grey for zero; draw it as `stand_out`."""
    return np.where(values > 0, UP_COLOUR, np.where(values < 0, DOWN_COLOUR, "0.4"))
