"""Display of one attacked row: as a table of changes, or as images."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.number_format import (
    number_beside,
    number_text,
    value_text,
)
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import DIVERGING_MAP
from sklearn_interpret._plotting.counterfactual_labels import CounterfactualLabelsMixin
from sklearn_interpret._plotting.curves import note_empty
from sklearn_interpret._plotting.displays import OneRowDisplay
from sklearn_interpret._plotting.images import (
    as_drawable_image,
    check_image_shape,
    draw_image,
)
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, NICE_STEPS, literal
from sklearn_interpret._plotting.ranked_bars import (
    draw_ranked_bars,
    name_rows,
    row_height,
)
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret._plotting.text_layout import write_title
from sklearn_interpret.adversarial._projected_gradient import ProjectedGradient
from sklearn_interpret.explanations import RowExplanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.container import BarContainer

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

# Inches: widths of the bars with their names and of an image, and height of titles and
# labels around an image.
_BARS_WIDTH = 7.0
_IMAGE_WIDTH = 2.9
_LABELS_HEIGHT = 1.6
# Inches: images that are narrower have titles in a smaller font.
_NARROW_IMAGE_WIDTH = 1.7


@dataclass(eq=False, repr=False)
class AdversarialDisplay(CounterfactualLabelsMixin, OneRowDisplay):
    """One row before and after an attack, with the model's answers.

    Build it with `from_estimator` or `from_explanation`. A row of a table has a bar for
    each changed feature, the largest changes on top, and at its end the values before
    and after; the title has the model's answers. With `image_shape` the row is drawn as
    an image, next to the perturbation (red is more, blue is less) and the result. An
    attack that failed says so, and why.

    Parameters
    ----------
    explanation : RowExplanation
        The attacked rows, of which `row` is drawn.
    row : int, default=0
        Position of the row to draw.
    image_shape : (height, width) or (height, width, channels), default=None
        Shape of the row as an image, channels last; None draws a table, or takes the
        `image_shape` of an attack that has one.
    spreads : array-like of shape (n_features,), default=None
        Standard deviations of the features, which bars are measured in. None takes
        those of an attack that measures in them, and else draws changes as they are.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (n_panels,)
        One for a table; three for images.
    bars_ : BarContainer or None
        The changes of a table, from the top.
    images_ : list of AxesImage
        The image, the perturbation and the result.
    colour_bar_ : Colorbar or None
        The scale of the perturbation.

    See Also
    --------
    RobustnessCurveDisplay : Accuracy against the size of perturbations.

    Notes
    -----
    The class is that which the model predicts, with the largest of several scores;
    where pairs of classes vote, that may be another class's. Of colour images the
    perturbation drawn is the mean over the channels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.adversarial import AdversarialDisplay
    >>> from sklearn_interpret.explanations import RowExplanation
    >>> explanation = RowExplanation(
    ...     rows=np.array([[30.5, 2.0]]),
    ...     origin=[0],
    ...     valid=[True],
    ...     distances=[0.5],
    ...     status=["found"],
    ...     data=np.array([[30.0, 2.0]]),
    ...     feature_names=["age", "income"],
    ... )
    >>> AdversarialDisplay.from_explanation(explanation).to_frame()
      feature  before  after  perturbation
    0     age    30.0   30.5           0.5
    """

    _kinds = (ProjectedGradient, "robust_score")
    _explanation_kind = RowExplanation
    _without = frozenset()

    explanation: RowExplanation
    _: KW_ONLY
    row: int | None = 0
    image_shape: tuple[int, ...] | None = None
    spreads: ArrayLike | None = None

    @classmethod
    def _from_inspector(
        cls, inspector: Any, data: Data, *, row: int | None = 0, **options: Any
    ) -> Self:
        position = cls._row_position(row, as_rows(data.X).n_rows)
        row_data = data.take([position])
        defaults = {"image_shape": getattr(inspector, "image_shape", None)}
        if getattr(inspector, "units", None) == "std":
            defaults["spreads"] = 1 / inspector._actionability.costs
        display = cls(
            inspector.explain(row_data.X, row_data.y), **{**defaults, **options}
        )
        display._chosen = position
        return display

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the changes.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up for images.
        max_entries : int, default=20
            Largest number of bars; None shows all features that change.
        bar_kw : dict, default=None
            Style of the bars.

        Returns
        -------
        self : AdversarialDisplay
            The display.

        Raises
        ------
        TypeError
            No `RowExplanation`.
        ValueError
            An unknown row; an `image_shape` or `spreads` of another size.
        """
        row = self._position()
        indices = np.flatnonzero(self.explanation.origin == row)[:1]
        self.bars_: BarContainer | None = None
        self.colour_bar_: Colorbar | None = None
        self.images_: list[Any] = []
        if self.image_shape is None or not len(indices):
            self._draw_table(ax, row, indices, max_entries, bar_kw)
        else:
            self._draw_images(ax, row, indices)
        return self

    def _responses(self, row: int, indices: NDArray[np.intp]) -> tuple[str, list[str]]:
        """Answers before and after, of classes with their scores."""
        label, texts = super()._responses(row, indices)
        values = self._responses_of(row, indices)
        if values.ndim == 2:
            name, scores = self.response_name or "response", values.max(axis=1)
            pairs = zip(texts, map(number_text, scores), strict=True)
            texts = [f"{text} ({name} {score})" for text, score in pairs]
        return label, texts

    def _failure_lines(self, row: int, indices: NDArray[np.intp]) -> list[Any]:
        """Why no row satisfies the target, in words; empty if one was found."""
        if len(indices) and self.explanation.valid[indices[0]]:
            return []
        reasons = self.explanation.reasons
        reason = "" if reasons is None else reasons[row]
        status = self.explanation.status[row]
        return [f"{status}: {reason}" if reason else str(status)]

    def _largest_changes(
        self, indices: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The changed features and their moves, the farthest moves first."""
        if not len(indices):
            return np.empty(0, dtype=np.intp), np.empty(0)
        (moves,) = self.explanation.perturbations[indices]
        if self.spreads is not None:
            spreads = np.asarray(self.spreads, dtype=float)
            if spreads.shape != moves.shape or not (spreads > 0).all():
                raise ValueError(
                    f"spreads must hold a positive number for each of {len(moves)} "
                    f"features; got {self.spreads!r}."
                )
            moves = moves / spreads
        moves = np.nan_to_num(moves)  # a category has no size
        features = np.flatnonzero(self.explanation.changed[indices[0]])
        # Moves that are equal to rounding stay in the order of the table.
        order = np.argsort(-np.abs(moves[features]).round(9), kind="stable")
        return features[order], moves[features[order]]

    def _draw_table(
        self,
        ax: Axes,
        row: int,
        indices: NDArray[np.intp],
        max_entries: int | None,
        style: Style | None,
    ) -> None:
        """A bar for each changed feature, with its values before and after."""
        features, moves = self._largest_changes(indices)
        n_changed = len(features)
        features, moves = features[:max_entries], moves[:max_entries]
        lines = self._title(row, indices) + self._failure_lines(row, indices)
        if len(features) < n_changed:
            lines.append(f"(the {len(features)} largest of {n_changed} changes)")
        own_figure = ax is None
        self._take_grid(ax, 1, 1, (_BARS_WIDTH, row_height(len(features))))
        (ax,) = self.axes_
        names = [self.explanation.feature_names[j] for j in features]
        name_rows(ax, names)
        if own_figure:
            self.figure_.figure.draw_without_rendering()  # settles the axes' width
        write_title(ax, lines, axes_inches(ax)[0], own_figure=own_figure)
        if not len(features):
            is_unchanged = self.explanation.status[row] == "unchanged"
            text = (
                "it satisfies the target already" if is_unchanged else "nothing changes"
            )
            note_empty(ax, text)
            ax.set_axis_off()
            return
        texts = self._change_texts(row, indices, features)
        self.bars_, _ = draw_ranked_bars(ax, names, moves, style, texts=texts)
        unit = "" if self.spreads is None else " (standard deviations)"
        ax.set_xlabel(f"Perturbation{unit}")

    def _change_texts(
        self, row: int, indices: NDArray[np.intp], features: NDArray[np.intp]
    ) -> list[str]:
        """Values of features before and after, as exact as they differ."""
        before, after = as_rows(self.explanation.data), as_rows(self.explanation.rows)
        texts = []
        for j in features.tolist():
            values = before.displayed(j)[row], after.displayed(j)[indices[0]]
            value_texts = [value_text(value) for value in values]
            if before.displayed(j).dtype.kind == "f" and np.isfinite(values).all():
                change = abs(float(values[1]) - float(values[0]))
                if change % 1:
                    value_texts = [
                        number_beside(float(value), 10 * change) for value in values
                    ]
            texts.append(" → ".join(value_texts))
        return texts

    def _draw_images(self, ax: Axes, row: int, indices: NDArray[np.intp]) -> None:
        """The image, the perturbation and the result."""
        before, after, change = self._as_images(row, indices)
        titles = self._titles(row, indices)
        aspect_ratio = np.clip(change.shape[0] / change.shape[1], 0.3, 1.5)
        canvas = self._take_grid(
            ax, 3, 3, (_IMAGE_WIDTH, aspect_ratio * _IMAGE_WIDTH + _LABELS_HEIGHT)
        )
        panel_width = (
            _IMAGE_WIDTH if canvas.own_figure else axes_inches(canvas.main[0])[0]
        )
        font_size = "medium" if panel_width > _NARROW_IMAGE_WIDTH else "x-small"
        # Both images have one scale.
        before, after = np.split(as_drawable_image(np.concatenate([before, after])), 2)
        low, high = colour_limits(change, diverging=True)
        diverging = {"cmap": DIVERGING_MAP, "vmin": low, "vmax": high}
        images: Any = (before, {}), (change, diverging), (after, {})
        for panel, (image, style), lines in zip(
            canvas.main, images, titles, strict=True
        ):
            self.images_.append(draw_image(panel, image, **style))
            text = "\n".join(fill(line, _line_length(panel_width)) for line in lines)
            panel.set_title(literal(text), fontsize=font_size)
        self._draw_colour_bar()

    def _as_images(
        self, row: int, indices: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The row, the row found, and the perturbation, as images."""
        explanation, shape = self.explanation, self.image_shape
        check_image_shape(shape, len(explanation.feature_names))
        before, after = (
            np.asarray(as_rows(rows).take([position]).native, dtype=float).reshape(
                shape
            )
            for rows, position in (
                (explanation.data, row),
                (explanation.rows, indices[0]),
            )
        )
        change = np.where(before == after, 0.0, after - before)
        return before, after, change.mean(axis=2) if change.ndim == 3 else change

    def _titles(self, row: int, indices: NDArray[np.intp]) -> list[list[str]]:
        """Lines above each image; answers stand above the row and the result."""
        row_lines, result_lines = [self._append_row_name("image")], ["result"]
        if self._failure_lines(row, indices):
            result_lines = [f"result ({self.explanation.status[row]})"]
        if self.explanation.original_predictions is not None:
            label, texts = self._responses(row, indices)
            for lines, text in zip((row_lines, result_lines), texts, strict=False):
                lines += f"{label}: {text}".replace(" (", "\n(").split("\n")
        perturbation_lines = ["perturbation", self._distances(row, indices)]
        return [row_lines, perturbation_lines, result_lines]

    def _draw_colour_bar(self) -> None:
        """The scale of the perturbation, below it."""
        from matplotlib.ticker import MaxNLocator

        height, width = self.images_[1].get_array().shape
        bounds = [0.05, -0.11 * width / height, 0.9, 0.05 * width / height]
        # Within the panel's axes: a bar outside of them would shift the image.
        self.colour_bar_ = bar = self.figure_.colorbar(
            self.images_[1],
            cax=self.axes_[1].inset_axes(bounds, label="<colorbar>"),
            orientation="horizontal",
            ticks=MaxNLocator(nbins=4, steps=NICE_STEPS),
        )
        channels = "" if len(self.image_shape or ()) == 2 else " (mean of the channels)"
        bar.set_label(f"change{channels}")

    def to_frame(self) -> Any:
        """Changes of the row drawn, as a table, all of them.

        Returns
        -------
        pandas.DataFrame
            A row for each changed feature, the largest changes first: "feature",
            "before", "after" and "perturbation", as long as its bar.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        self._pandas()
        row = self._position()
        features, moves = self._largest_changes(
            np.flatnonzero(self.explanation.origin == row)[:1]
        )
        table = self.explanation[[row]].to_frame()
        table = table.loc[table["counterfactual"] == 0, ["feature", "before", "after"]]
        table = table.iloc[np.argsort(features).argsort()]
        table["perturbation"] = moves
        return table.reset_index(drop=True)


def _line_length(inches: float) -> int:
    """Number of letters that have room; at least the letters of a long word."""
    return max(int(CHARACTERS_PER_INCH * inches), 16)
