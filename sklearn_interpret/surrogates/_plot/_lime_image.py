"""Display of LIME for an image: weights laid over it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.images import as_image_rows
from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import DOWN_COLOUR, UP_COLOUR
from sklearn_interpret._plotting.images import as_drawable_image, draw_image
from sklearn_interpret._plotting.labels import literal, shorten, two_lines
from sklearn_interpret._plotting.surfaces import (
    colour_limits,
    colour_scale,
    draw_colour_bar,
)
from sklearn_interpret.surrogates._lime_image import ImageExplanation, LimeImage
from sklearn_interpret.surrogates._local_explanation import r_squared_text
from sklearn_interpret.surrogates._plot._base import LocalDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.colorbar import Colorbar

    from sklearn_interpret._plotting.axes import Canvas, Style
    from sklearn_interpret.surrogates._plot._base import Weights

# Opacity of the strongest weight: the image below stays visible.
_MAX_OPACITY = 0.85
# The darkest grey under weights: on black, colours could not be told apart.
_DARKEST_GREY = 0.55
# Weights of red, green and blue in grey (ITU-R BT.601).
_LUMINANCE = (0.299, 0.587, 0.114)
_TITLE_WIDTH = 26  # characters of a label in the title of its panel
_MIN_PANEL_WIDTH = 1.7  # inches
_MAX_COLUMNS = 4  # panels in a row


@dataclass(eq=False, repr=False)
class LimeImageDisplay(LocalDisplay):
    """One image, and over it what its segments add to the response, label by label.

    Build it with `from_estimator` or `from_explanation`. Behind the image comes a panel
    for each of the labels that the model finds most likely: the image in grey, segments
    that speak for the label in one colour, those against it in another, the more
    colour the more they weigh; the strongest are outlined. Above it stand the response
    and the R² of the surrogate: the lower it is, the less the colours say.

    Parameters
    ----------
    explanation : ImageExplanation
        The explained image, or several of which `row` is drawn.
    row : int, default=None
        Position of the image to draw; None takes the only one.
    target : class label or int, default=None
        The output to draw; None takes those of the largest responses.
    n_top_labels : int, default=3
        Largest number of outputs drawn if `target` is None.
    response_name : str, default=None
        Response that the weights change; None says "response".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes
        The axes drawn on: of the image and of each label.
    image_ : AxesImage
        The image.
    overlays_ : list of AxesImage
        The colours over it, one for each label.
    outlines_ : list of LineCollection
        Borders of the strongest segments, one for each label.
    colour_bar_ : Colorbar
        The scale of all labels.

    See Also
    --------
    LimeImage : Explains images.

    Examples
    --------
    >>> from sklearn_interpret.surrogates import ImageExplanation, LimeImageDisplay
    >>> explanation = ImageExplanation(
    ...     values=[[0.5, -2.0]],
    ...     base_values=[1.0],
    ...     segments=[[[0, 0, 1], [0, 1, 1]]],
    ...     images=[[[0, 0, 9], [0, 9, 9]]],
    ... )
    >>> display = LimeImageDisplay.from_explanation(explanation)
    >>> display.to_frame()
       output    segment  weight  standard_error  share
    0       0  segment 1    -2.0             NaN    0.5
    1       0  segment 0     0.5             NaN    0.5
    """

    _kinds, _explanation_kind = (LimeImage,), ImageExplanation
    _sample = "image"

    explanation: ImageExplanation
    _: KW_ONLY
    row: int | None = None
    target: Any = None
    n_top_labels: int = 3
    response_name: str | None = None

    @classmethod
    def _as_rows(cls, X: Any) -> Any:
        rows = as_image_rows(X)
        return as_rows(X) if rows is None else rows

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 5,
        n_cols: int | None = None,
        outline_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the image and a panel for each label.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided into panels.
        max_entries : int, default=5
            How many segments are outlined, those of the largest weights; None outlines
            all that the surrogate uses.
        n_cols : int, default=None
            Largest number of panels in a row; None takes what has room, up to 4.
        outline_kw : dict, default=None
            Style of the outlines.

        Returns
        -------
        self : object
            The display.
        """
        row, outputs = self._position(), self._outputs()
        explanation = self.explanation[row]
        n_cols = _max_columns(ax) if n_cols is None else n_cols
        canvas = self._take_grid(ax, 1 + len(outputs), n_cols, None)
        self.axes_ = canvas.axes
        first, *label_panels = canvas.main
        image = as_drawable_image(explanation.images[0])
        self.image_ = draw_image(first, image)
        font_size = "medium" if axes_inches(first)[0] > _MIN_PANEL_WIDTH else "x-small"
        first.set_title(literal(self._row_label or "image"), fontsize=font_size)
        values = _with_output_axis(explanation.values)[0]
        limits = colour_limits(
            values[:, outputs], diverging=True, negligible=np.finfo(float).tiny
        )
        self.overlays_: list[Any] = []
        self.outlines_: list[Any] = []
        for panel, output in zip(label_panels, outputs, strict=True):
            self._draw_label(panel, image, explanation, output, limits)
            chosen = self._weights(row, output).features[:max_entries]
            lines = _outlines(explanation.segments[0], chosen)
            self.outlines_.append(_draw_outlines(panel, lines, outline_kw))
            panel.set_title(self._label_title(explanation, output), fontsize=font_size)
        self.colour_bar_ = self._draw_bar(canvas, limits)
        return self

    def to_frame(self) -> Any:
        """Weights of the segments that are in use, label by label.

        Returns
        -------
        pandas.DataFrame
            With the columns "output", "segment", "weight", "standard_error" and
            "share", the share of the pixels; the largest weights first.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return self._weights_frame(self._columns)

    def _columns(self, row: int, weights: Weights) -> dict[str, NDArray[Any]]:
        segments = self.explanation.segments[row].reshape(-1)
        n_segments = self.explanation.values.shape[1]
        shares = np.bincount(segments, minlength=n_segments) / len(segments)
        return {
            "segment": weights.names,
            "weight": weights.weights,
            "standard_error": weights.errors,
            "share": shares[weights.features],
        }

    def _outputs(self) -> list[int]:
        """Positions of the outputs that are drawn, the largest responses first."""
        if self.target is not None:
            return super()._outputs()
        if not isinstance(self.n_top_labels, Integral) or self.n_top_labels < 1:
            raise ValueError(
                f"n_top_labels={self.n_top_labels!r} must be an int of at least 1."
            )
        return self._largest_outputs(self.n_top_labels)

    def _weights(self, row: int, output: int) -> Weights:
        """Weights of the segments of the image that are in use."""
        weights = super()._weights(row, output)
        in_use = np.isin(weights.features, self.explanation.segments[row])
        return weights[in_use]

    def _draw_label(
        self,
        panel: Axes,
        image: NDArray[np.float64],
        explanation: ImageExplanation,
        output: int,
        limits: tuple[float, float],
    ) -> None:
        """The image in grey, and colours for the weights over it."""
        grey = image if image.ndim == 2 else image @ _LUMINANCE
        draw_image(panel, _DARKEST_GREY + (1 - _DARKEST_GREY) * grey)
        weights = _with_output_axis(explanation.values)[0, :, output]
        cover = _weight_colours(weights[explanation.segments[0]] / limits[1])
        self.overlays_.append(draw_image(panel, cover, interpolation="nearest"))

    def _draw_bar(self, canvas: Canvas, limits: tuple[float, float]) -> Colorbar:
        """One scale for all labels, in the colours that weights have on white."""
        from matplotlib.colors import ListedColormap

        palette = _weight_colours(np.linspace(-1, 1, 256))
        palette[:, :3] = 1 + palette[:, 3:] * (palette[:, :3] - 1)
        scale = colour_scale(ListedColormap(palette[:, :3]), limits)
        response = shorten(self._response_label(None), 30)
        label = two_lines(response, "what the segment adds, drawn on white", 26)
        return draw_colour_bar(canvas.main, scale, label)

    def _label_title(self, explanation: ImageExplanation, output: int) -> str:
        name = self._response_label(explanation.output_names, output)
        value = explanation.predictions_or_sums.reshape(-1)[output]
        title = f"{shorten(name, _TITLE_WIDTH)}: {number_text(value)}"
        if explanation.fidelity is not None:
            fidelity = explanation.fidelity.reshape(-1)[output]
            title += f"\nlocal {r_squared_text(fidelity)}"
        return literal(title)


def _max_columns(ax: Axes) -> int:
    """Largest number of panels that fit side by side."""
    if not hasattr(ax, "get_position"):
        return _MAX_COLUMNS
    return int(np.clip(axes_inches(ax)[0] / _MIN_PANEL_WIDTH, 1, _MAX_COLUMNS))


def _with_output_axis(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """An array with an axis of outputs."""
    return array if array.ndim == 3 else array[:, :, None]


def _weight_colours(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Colours (RGBA) of weights from -1 to 1, more opaque farther from zero."""
    from matplotlib.colors import to_rgb

    ends = np.array([to_rgb(DOWN_COLOUR), to_rgb(UP_COLOUR)])
    rgb = ends[(weights > 0).astype(int)]
    return np.concatenate([rgb, _MAX_OPACITY * np.abs(weights)[..., None]], axis=-1)


def _outlines(
    segments: NDArray[np.intp], chosen: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Borders of segments as lines (n_lines, 2, 2), from corner to corner of pixels."""
    outside = -1  # code of pixels of other segments, and around the image
    framed = np.where(np.isin(segments, chosen), segments, outside)
    framed = np.pad(framed, 1, constant_values=outside)
    y, x = np.nonzero(framed[1:-1, :-1] != framed[1:-1, 1:])
    upright = np.stack([np.stack([x, y], 1), np.stack([x, y + 1], 1)], axis=1)
    y, x = np.nonzero(framed[:-1, 1:-1] != framed[1:, 1:-1])
    level = np.stack([np.stack([x, y], 1), np.stack([x + 1, y], 1)], axis=1)
    return np.concatenate([upright, level]) - 0.5


def _draw_outlines(
    panel: Axes, lines: NDArray[np.float64], style: Style | None
) -> Collection:
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    line_style: Style = {"color": "black", "linewidth": 0.9, "capstyle": "round"}
    # A white border, so that lines are seen where the image is dark.
    line_style["path_effects"] = [withStroke(linewidth=2.2, foreground="white")]
    outlines = LineCollection(list(lines), **line_style)
    outlines.set(**(style or {}))
    return panel.add_collection(outlines, autolim=False)
