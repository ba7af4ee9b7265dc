"""Display of prototypes and criticisms: as a table, as images, or on a map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.number_format import value_text
from sklearn_interpret._plotting.axes import add_legend, axes_inches
from sklearn_interpret._plotting.colours import (
    DOWN_COLOUR,
    UP_COLOUR,
    paper,
    shade,
    stand_out,
)
from sklearn_interpret._plotting.displays import DisplayMixin
from sklearn_interpret._plotting.images import (
    as_drawable_image,
    check_image_shape,
    draw_image,
)
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal, shorten
from sklearn_interpret._plotting.matrices import NAMES_PER_INCH, name_cells, write_cells
from sklearn_interpret._plotting.points import draw_points, point_area
from sklearn_interpret._plotting.sources import ForwardedSignature
from sklearn_interpret._plotting.surfaces import (
    colour_limits,
    draw_colour_bar,
    draw_heat_map,
)
from sklearn_interpret.prototypes._tables import add_row_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._plotting.axes import Canvas, Style

# Inches of a table: least width of a cell, and its height; least and largest (width,
# height) of all cells; (width, height) of the margins.
_CELL_WIDTH = 0.62
_CELL_HEIGHT = 0.3
_LEAST_SIZE = (0.62, 0.9)
_MOST_SIZE = (14, 10)
_MARGINS = (3.9, 1.7)
# Most characters of a value and of a name.
_VALUE_LENGTH = 12
_NAME_LENGTH = 22
# Inches of an image: its width, and the height of a line of its title.
_IMAGE_WIDTH = 1.35
_TITLE_LINE_HEIGHT = 0.15
_TITLE_CHARACTERS_PER_INCH = 14
_FEWEST_IMAGE_COLUMNS = 5
# Colour of a cell without a number.
_MISSING_COLOUR = "0.92"
# Names, colours and markers of prototypes, and of criticisms.
_LABELS = ("prototypes", "criticisms")
_COLOURS = (DOWN_COLOUR, UP_COLOUR)
_MARKERS = ("o", "X")


@dataclass(eq=False, repr=False)
class PrototypeDisplay(DisplayMixin):
    """Prototypes, and criticisms if there are any, among the rows they stand for.

    Build it with `from_estimator`. A table has a line for each prototype and each
    criticism, coloured by how far each value is from the mean of all rows. Rows may
    also be drawn as images, or as points on a map of all rows.

    Parameters
    ----------
    data : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        All rows.
    prototype_indices : array-like of shape (n_prototypes,), int
        Positions of the prototypes among them.
    criticism_indices : array-like of shape (n_criticisms,), int, default=()
        Positions of the criticisms.
    y : array-like of shape (n_samples,), default=None
        Targets of all rows, written next to those drawn.
    feature_names : sequence of str, default=None
        Names of the features; None takes those of the rows.
    image_shape : (height, width) or (height, width, channels), default=None
        Shape of a row as an image, channels last.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (n_panels,)
        One for a table or a map, one for each image.
    heat_map_ : QuadMesh or None
        Cells of the table.
    colour_bar_ : Colorbar or None
        The scale of these.
    images_ : list of AxesImage
        Images of the prototypes, then of the criticisms.
    points_ : list of PathCollection
        On a map: all rows, the prototypes, and the criticisms.
    legend_ : Legend or None
        Names of the points.

    See Also
    --------
    KMedoids : Medoids, which are prototypes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.prototypes import KMedoids, PrototypeDisplay
    >>> X = load_iris(as_frame=True).data
    >>> k_medoids = KMedoids(n_clusters=3).fit(X)
    >>> display = PrototypeDisplay.from_estimator(k_medoids, X)
    >>> display.to_frame()[["kind", "row", "petal width (cm)"]]
            kind  row  petal width (cm)
    0  prototype   78               1.5
    1  prototype    7               0.2
    2  prototype  112               2.1
    """

    _options = {"kind": ("auto", "table", "images", "map")}

    data: Any
    prototype_indices: ArrayLike
    criticism_indices: ArrayLike = ()
    _: KW_ONLY
    y: ArrayLike | None = None
    feature_names: Any = None
    image_shape: tuple[int, ...] | None = None

    @ForwardedSignature
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        image_shape: tuple[int, ...] | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw what a fitted selector has chosen.

        Parameters
        ----------
        estimator : fitted estimator
            A selector, which has `prototype_indices_` and maybe `criticism_indices_`,
            or a predictor by the nearest prototype.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            The rows of `fit`; where distances or a kernel were passed to it, the rows
            that these are of.
        y : array-like of shape (n_samples,), default=None
            Targets of the rows, written next to those drawn.
        image_shape : (height, width) or (height, width, channels), default=None
            Shape of a row as an image, channels last.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of `plot`.

        Returns
        -------
        display : PrototypeDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            The estimator selects no prototypes.
        ValueError
            Other rows than those of `fit`; bad input.
        """
        check_is_fitted(estimator)
        selector = getattr(estimator, "selector_", estimator)
        if not hasattr(selector, "prototype_indices_"):
            raise TypeError(
                f"{cls.__name__} shows estimators that have prototype_indices_; got "
                f"{type(estimator).__name__}."
            )
        criticisms = getattr(selector, "criticism_indices_", ())
        display = cls(
            X,
            selector.prototype_indices_,
            criticisms,
            y=y,
            feature_names=as_rows(X).names,
            image_shape=image_shape,
        )
        return display.plot(ax, **params)

    def plot(
        self, ax: Any = None, *, kind: str = "auto", max_entries: int | None = 12
    ) -> Self:
        """Draw the prototypes and criticisms.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up for images.
        kind : {"auto", "table", "images", "map"}, default="auto"
            A `"table"` with a line for each; `"images"`; or a `"map"` of all rows by
            their first two principal components, with the shares of the variance;
            columns are in units of their standard deviation, but for pixels. `"auto"`
            means images where there is an `image_shape`, else a table.
        max_entries : int, default=12
            Largest number of columns of a table: those in which the rows drawn differ
            most. None shows all.

        Returns
        -------
        self : PrototypeDisplay
            The display.

        Raises
        ------
        ValueError
            An unknown `kind`; positions outside the rows; names, targets or
            an `image_shape` of another size.
        """
        if kind == "auto":
            kind = "table" if self.image_shape is None else "images"
        self._read_rows()
        self.heat_map_: QuadMesh | None = None
        self.colour_bar_: Colorbar | None = None
        self.legend_: Legend | None = None
        self.images_: list[Any] = []
        self.points_: list[Any] = []
        if kind == "table":
            self._draw_table(ax, max_entries)
        elif kind == "images":
            self._draw_images(ax)
        else:
            self._draw_map(ax)
        return self

    def _read_rows(self) -> None:
        """Read the rows; refuse positions, names and targets that do not suit them."""
        self._rows = as_rows(self.data)
        self._indices_by_kind = [
            np.asarray(indices, dtype=np.intp)
            for indices in (self.prototype_indices, self.criticism_indices)
        ]
        if not len(self._indices_by_kind[0]):
            raise ValueError("prototype_indices is empty: there is nothing to draw.")
        self._drawn_rows = np.concatenate(self._indices_by_kind)
        for row in self._drawn_rows:
            if not 0 <= row < self._rows.n_rows:
                raise ValueError(
                    f"X has {self._rows.n_rows} rows, but row {row} was chosen: pass "
                    "the rows of fit."
                )
        check_consistent_length(self._rows.native, self.y)
        names = self._rows.names if self.feature_names is None else self.feature_names
        if len(names) != self._rows.n_columns:
            raise ValueError(
                f"feature_names has {len(names)} names, but X has "
                f"{self._rows.n_columns} columns."
            )
        self._names = list(names)
        counts = [len(indices) for indices in self._indices_by_kind]
        self._row_kinds = np.repeat(["prototype", "criticism"], counts).tolist()

    def _row_names(self) -> list[str]:
        names = [
            f"{row_kind} {row}"
            for row_kind, row in zip(self._row_kinds, self._drawn_rows, strict=True)
        ]
        if self.y is None:
            return names
        targets = np.asarray(self.y)
        texts = [value_text(target, targets) for target in targets[self._drawn_rows]]
        return list(map(": ".join, zip(names, texts, strict=True)))

    def _standardised_rows(self) -> NDArray[np.float64]:
        """All rows in standard deviations from the mean; NaN where there are none."""
        values = _numeric_columns(self._rows, np.flatnonzero(self._rows.are_numbers))
        is_number = ~np.isnan(values).all(axis=0)
        if is_number.any():
            # Rounded: a constant column would be scaled to its rounding errors.
            scaled = StandardScaler().fit_transform(values[:, is_number])
            values[:, is_number] = scaled.round(12)
        return values

    def _draw_table(self, ax: Axes, max_entries: int | None) -> None:
        """A line for each row drawn, a cell for each of some columns."""
        from matplotlib.colors import to_rgba

        scaled = self._standardised_rows()[self._drawn_rows]
        columns = self._select_columns(scaled, max_entries)
        scaled, texts = scaled[:, columns], self._cell_texts(columns)
        longest = max(len(text) for line in texts for text in line)
        cell_width = max(_CELL_WIDTH, (longest + 1) / CHARACTERS_PER_INCH)
        shape = scaled.shape[::-1]  # columns, rows
        size: Any = np.multiply(shape, (cell_width, _CELL_HEIGHT))
        size = np.clip(size, _LEAST_SIZE, _MOST_SIZE)
        canvas = self._take_grid(ax, 1, 1, size + _MARGINS)
        (ax,) = canvas.main
        size = size if canvas.own_figure else np.array(axes_inches(ax))
        x, y = (np.arange(n + 1) - 0.5 for n in shape)
        limits = colour_limits(scaled, diverging=True)
        self.heat_map_ = heat_map = draw_heat_map(
            ax, x, y, scaled.T, limits, None, diverging=True
        )
        ax.set(xlim=(x[0], x[-1]), ylim=(y[-1], y[0]))
        # The colour of missing cells does not depend on the style, nor do other cells'.
        ax.set_facecolor(_MISSING_COLOUR)
        names = [self._names[j] for j in columns]
        lengths = _NAME_LENGTH, 2 * _NAME_LENGTH
        name_cells(ax, self._row_names(), names, size, lengths)
        if len(columns) < len(self._names):
            counts = f"{len(columns)} of {len(self._names)} columns"
            ax.set_title(f"The {counts}: those that differ most", fontsize="medium")
        n_prototypes = len(self._indices_by_kind[0])
        if n_prototypes < len(texts):
            ax.axhline(n_prototypes - 0.5, color="black", linewidth=2)
        if np.isfinite(scaled).any():
            self.colour_bar_ = bar = draw_colour_bar(
                ax, heat_map, "standard\ndeviations\nfrom the\nmean"
            )
            # An upright label would be higher than a table of few lines.
            label = bar.ax.yaxis.label
            label.set(rotation=0, ha="left", va="center")
        cell_width, cell_height = size / shape
        has_width = cell_width * CHARACTERS_PER_INCH >= longest
        if has_width and cell_height * NAMES_PER_INCH >= 1:
            fills = heat_map.to_rgba(np.ma.masked_invalid(scaled)).reshape(-1, 4)
            fills[~np.isfinite(scaled).ravel()] = to_rgba(_MISSING_COLOUR)
            cells = np.ndindex(scaled.shape)
            write_cells(ax, cells, [text for line in texts for text in line], fills)

    def _select_columns(
        self, scaled: NDArray[np.float64], max_entries: int | None
    ) -> NDArray[np.intp]:
        """Columns in which the rows drawn differ most, in the order of the table."""
        is_finite = np.isfinite(scaled)
        values = np.where(is_finite, scaled, 0.0)
        # Columns without numbers have the deviation of standardised columns, one.
        deviations = np.where(is_finite.any(axis=0), values.std(axis=0), 1.0)
        order = np.argsort(-deviations.round(9), kind="stable")
        return np.sort(order[:max_entries])

    def _cell_texts(self, columns: NDArray[np.intp]) -> list[tuple[str, ...]]:
        """Texts of the cells, line by line."""
        by_column = []
        for j in columns:
            values = self._rows.displayed(j)
            numbers = values if self._rows.are_numbers[j] else None
            texts = [value_text(value, numbers) for value in values[self._drawn_rows]]
            by_column.append([shorten(text, _VALUE_LENGTH) for text in texts])
        return list(zip(*by_column, strict=True))

    def _draw_images(self, ax: Axes) -> None:
        """An image for each row, framed in the colour of its kind."""
        check_image_shape(self.image_shape, self._rows.n_columns)
        shape, n_images = tuple(self.image_shape or ()), len(self._drawn_rows)
        height = _IMAGE_WIDTH * float(np.clip(shape[0] / shape[1], 0.3, 3))
        n_columns = max(_FEWEST_IMAGE_COLUMNS, int(np.ceil(np.sqrt(n_images))))
        names = self._row_names()
        longest = max(map(len, names))
        n_lines = 2 + (longest > _TITLE_CHARACTERS_PER_INCH * _IMAGE_WIDTH)
        size = _IMAGE_WIDTH, height + n_lines * _TITLE_LINE_HEIGHT  # one is a gap
        canvas = self._take_grid(ax, n_images, n_columns, size)
        line_length = self._title_length(canvas)
        selected = self._rows.take(self._drawn_rows)
        pixels = _numeric_columns(selected, range(selected.n_columns))
        # Converted as one high image, so that all images have the same scale.
        images = as_drawable_image(pixels.reshape(-1, *shape[1:]))
        images = images.reshape(n_images, shape[0], *images.shape[1:])
        for panel, image, row_kind, name in zip(
            canvas.main, images, self._row_kinds, names, strict=True
        ):
            self.images_.append(draw_image(panel, image))
            lines = name.split(": ", 1) if len(name) > line_length else [name]
            text = "\n".join(shorten(line, line_length) for line in lines)
            panel.set_title(literal(text), fontsize="small")
            colour = stand_out(_COLOURS[row_kind == "criticism"], panel)
            panel.spines[:].set(visible=True, color=colour, linewidth=2)

    def _title_length(self, canvas: Canvas) -> int:
        """Characters of a line above an image, up to the next image."""
        lefts = [panel.get_position().x0 for panel in canvas.main[:2]]
        share = np.ptp(lefts)
        if canvas.own_figure:  # the layout will give all of its width to the images
            share = 1 / canvas.axes.shape[1]
        inches = share * canvas.figure.figure.get_figwidth()
        return int(_TITLE_CHARACTERS_PER_INCH * inches) or _NAME_LENGTH

    def _draw_map(self, ax: Axes) -> None:
        """All rows by two principal components, with marks on the rows chosen."""
        canvas = self._take_grid(ax, 1, 1, (5.6, 4.4))
        (ax,) = canvas.main
        coordinates, shares = self._principal_components()
        area = point_area(len(coordinates))
        point_style: Style = {"s": area, "linewidth": 0, "alpha": 0.6}
        point_style["color"] = shade(ax, 0.55)
        self.points_ = [draw_points(ax, *coordinates.T, **point_style)]
        labels = ["all rows"]
        for label, indices, colour, marker in zip(
            _LABELS, self._indices_by_kind, _COLOURS, _MARKERS, strict=True
        ):
            if len(indices):
                mark_style: Style = {"marker": marker, "s": 70}
                mark_style["color"] = stand_out(colour, ax)
                mark_style |= {"edgecolor": paper(ax), "linewidth": 0.8, "zorder": 3}
                marks = ax.scatter(*coordinates[indices].T, **mark_style)
                self.points_.append(marks)
                labels.append(label)
        self.legend_ = add_legend(canvas, self.points_, labels)
        ax.set(
            xlabel=f"First principal component ({shares[0]:.0%})",
            ylabel=f"Second principal component ({shares[1]:.0%})",
        )

    def _principal_components(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Two principal components of all rows, (n_rows, 2), and shares of variance."""
        if self.image_shape is not None:
            check_image_shape(self.image_shape, self._rows.n_columns)
            values = _numeric_columns(self._rows, range(self._rows.n_columns))
        else:
            values = self._standardised_rows()
        columns = [values[:, self._rows.are_numbers]]
        for j in np.flatnonzero(~self._rows.are_numbers).tolist():
            codes, labels, _ = self._rows.encode([j])
            columns.append(np.eye(len(labels))[codes])
        values = np.nan_to_num(np.concatenate(columns, axis=1))
        coordinates, shares = np.zeros((len(values), 2)), np.zeros(2)
        n_components = min(2, *values.shape)
        if np.ptp(values, axis=0).any():
            pca = PCA(n_components, random_state=0)
            coordinates[:, :n_components] = pca.fit_transform(values)
            shares[:n_components] = pca.explained_variance_ratio_
        return coordinates, shares

    def to_frame(self) -> Any:
        """The prototypes and criticisms as a table.

        Returns
        -------
        pandas.DataFrame
            A line for each: "kind", "row" (its position in the data), "y" where there
            are targets, and its values.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pandas = self._pandas()
        self._read_rows()
        table = {"kind": self._row_kinds, "row": self._drawn_rows}
        if self.y is not None:
            table["y"] = np.asarray(self.y)[self._drawn_rows]
        selected = self._rows.take(self._drawn_rows)
        return pandas.DataFrame(add_row_values(table, selected, self._names))


def _numeric_columns(rows: Rows, columns: Iterable[int]) -> NDArray[np.float64]:
    """Rows with the numbers of some columns, NaN in the others: (n_rows, n_columns)."""
    values = np.full((rows.n_rows, rows.n_columns), np.nan)
    for j in columns:
        values[:, j] = rows.numbers(j)
    return values
