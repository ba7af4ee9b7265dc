"""Display of a lasso path: coefficients over the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._plotting.axes import SINGLE_HEIGHT, SINGLE_WIDTH, axes_inches
from sklearn_interpret._plotting.colours import colours, shade, stand_out
from sklearn_interpret._plotting.curves import draw_thin_lines, note_empty
from sklearn_interpret._plotting.displays import DisplayMixin
from sklearn_interpret._plotting.labels import (
    literal,
    move_apart,
    plain_log_ticks,
    response_label,
    shorten,
    shorten_all,
    two_lines,
    write_near,
)
from sklearn_interpret._plotting.sources import (
    ForwardedSignature,
    check_count,
    model_within,
)
from sklearn_interpret.linear._sparse_linear import (
    SparseLinearClassifier,
    SparseLinearRegressor,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.axes import Style

_N_POINTS = 300  # of a line
_NAME_LENGTH = 22  # characters
_NAME_DISTANCE = 11.0  # points from one name to the next
_POINTS_PER_INCH = 72
_NAMES_X = 1.04  # left end of the names, in widths of the axes
_TICK_DISTANCE = 0.2  # least distance of the ticks above the axes, in inches
# The model without a penalty is drawn at this share of the smallest positive penalty:
# the axis is logarithmic, and has no zero.
_NO_PENALTY = 0.5


@dataclass(eq=False, repr=False)
class SparsePathDisplay(DisplayMixin):
    """Coefficients of a sparse linear model as its penalty falls.

    Each line is a feature. It leaves zero where the feature enters; the axis above
    shows the numbers of features. Features in use at the end of the path are named, and
    the model is marked. Build it with `from_estimator`.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Falling penalties.
    coef_path : array-like of shape (n_features, n_alphas) or \
(n_outputs, n_features, n_alphas)
        Coefficients at these.
    alpha : float, default=None
        Penalty of the model; None takes the last one.
    scale : array-like of shape (n_features,), default=None
        Standard deviations of the features, for coefficients to be drawn per standard
        deviation; None draws them as they are.
    feature_names : sequence of str, default=None
        Names of the features.
    classes : sequence, default=None
        Labels of the outputs, where these are classes; of two classes that of the
        second alone.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (n_outputs,)
        The axes drawn on.
    lines_ : list of list of Line2D
        For each output the lines of the named features, the strongest first.
    other_lines_ : list of list of Line2D
        For each output the lines of other features that were ever in use.
    texts_ : list of list of Annotation
        For each output the names.
    model_lines_ : list of Line2D
        For each output a line at the model's penalty.
    model_points_ : list of PathCollection
        For each output the model's coefficients of named features.

    See Also
    --------
    SparseLinearRegressor : A model of numbers.
    SparseLinearClassifier : A model of classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_interpret.linear import SparseLinearRegressor, SparsePathDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseLinearRegressor(n_features_to_select=3).fit(X, y)
    >>> display = SparsePathDisplay.from_estimator(model)
    >>> [text.get_text() for text in display.texts_[0]]
    ['bmi', 's5', 'bp']
    """

    alphas: ArrayLike
    coef_path: ArrayLike
    _: KW_ONLY
    alpha: float | None = None
    scale: ArrayLike | None = None
    feature_names: Sequence[str] | None = None
    classes: Sequence[Any] | None = None

    @ForwardedSignature
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **params: Any) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A :class:`SparseLinearRegressor` or :class:`SparseLinearClassifier`, or a
            pipeline or search that ends with one.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of `plot`.

        Returns
        -------
        display : SparsePathDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            The estimator has no path.
        """
        kinds = SparseLinearRegressor, SparseLinearClassifier
        model, steps = model_within(estimator, kinds, cls.__name__)
        classes = getattr(model, "classes_", None)
        display = cls(
            model.alphas_,
            model.coef_path_,
            alpha=model.alpha_,
            scale=model.scale_,
            feature_names=_column_names(model, steps),
            classes=None if classes is None else classes[-len(model.coef_) :],
        )
        return display.plot(ax, **params)

    def plot(
        self,
        ax: Any = None,
        *,
        max_names: int | None = 12,
        n_cols: int = 2,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the lines, their names, and the model.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up for several outputs.
        max_names : int or None, default=12
            Largest number of features to name, those of the largest coefficients at the
            end of the path, if they have room. None names all of them.
        n_cols : int, default=2
            Largest number of panels in a row.
        line_kw : dict, default=None
            Style of the lines of named features.

        Returns
        -------
        self : SparsePathDisplay
            The display.

        Raises
        ------
        ValueError
            Arrays of different sizes; penalties that do not fall.
        """
        check_count(max_names, "max_names")
        self._check_arrays()
        size = SINGLE_WIDTH + 1.0, SINGLE_HEIGHT
        canvas = self._take_grid(ax, len(self._path), n_cols, size)
        self.lines_: list[Any] = []
        self.other_lines_: list[Any] = []
        self.texts_: list[Any] = []
        self.model_lines_: list[Any] = []
        self.model_points_: list[Any] = []
        # A feature has one colour in all panels.
        sizes = np.abs(self._path[:, :, -1]).max(axis=0)
        order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        self._colours = dict(zip(order, colours(len(order)), strict=True))
        for output, axes in enumerate(canvas.main):
            self._draw_output(axes, self._path[output], max_names, line_kw)
            if len(self._path) > 1 and self.classes is not None:
                axes.set_title(literal(f"Class {shorten(self.classes[output])}"))
        return self

    def _check_arrays(self) -> None:
        """Read the arrays, and refuse shapes that do not fit together."""
        self._alphas = np.asarray(self.alphas, dtype=np.float64)
        path = np.asarray(self.coef_path, dtype=np.float64)
        self._path = path[None] if path.ndim == 2 else path
        if self._path.ndim != 3 or self._path.shape[2:] != self._alphas.shape:
            raise ValueError(
                f"coef_path has the shape {path.shape}, and alphas "
                f"{self._alphas.shape}: a coefficient is needed for each alpha."
            )
        if (np.diff(self._alphas) > 0).any() or not (self._alphas >= 0).all():
            raise ValueError("alphas must fall, and not be negative.")
        n_outputs, n_features, _ = self._path.shape
        names = self.feature_names
        self._names = default_names(n_features) if names is None else names
        sizes: list[tuple[str, Any, int]] = [
            ("feature_names", self._names, n_features),
            ("scale", self.scale, n_features),
            ("classes", self.classes, n_outputs),
        ]
        for name, values, size in sizes:
            if values is not None and len(values) != size:
                raise ValueError(
                    f"{name} has {len(values)} entries; {size} are needed."
                )
        if self.scale is not None:
            self._path = self._path * np.asarray(self.scale)[:, None]

    def _draw_output(
        self,
        ax: Axes,
        path: NDArray[np.float64],
        max_names: int | None,
        style: Style | None,
    ) -> None:
        """Draw the panel of one output."""
        x, alphas = self._x_and_penalties()
        used = np.flatnonzero(path.any(axis=1))
        sizes = np.abs(path[:, -1])
        order = used[np.argsort(-sizes[used], kind="stable")]
        most_fitting = int(_POINTS_PER_INCH * axes_inches(ax)[1] / _NAME_DISTANCE)
        n_names = min(max_names or most_fitting, most_fitting)
        named_features = order[sizes[order] > 0][:n_names]
        curves = {j: _hide_zeros(self._interpolate(alphas, path[j])) for j in used}
        unnamed_curves = [
            curve for j, curve in curves.items() if j not in named_features
        ]
        thin = {"alpha": 1, "marker": "none"}
        self.other_lines_.append(
            draw_thin_lines(ax, x, unnamed_curves, shade(ax, 0.4), thin)
        )
        thick = {"linewidth": 1.8, "alpha": 1, "zorder": 3, **(style or {})}
        self.lines_.append(
            [
                draw_thin_lines(ax, x, [curves[j]], self._colours[j], thick)[0]
                for j in named_features
            ]
        )
        if not len(used):
            note_empty(ax, "no feature")
        ax.axhline(0, color=shade(ax, 0.5), linewidth=0.8, zorder=1.5)
        self._set_axes(ax, x)
        self._mark_model(ax, x, path[named_features], self.lines_[-1])
        names = shorten_all([self._names[j] for j in named_features], _NAME_LENGTH)
        self.texts_.append(_name_lines(ax, self.lines_[-1], names))

    def _x_and_penalties(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Falling positions of the lines' points along x, and the penalties there.

        Both are equal, but for the end without a penalty: x stops above zero there.
        Between its changes, the path is nearly linear in the penalty.
        """
        positive = self._alphas[self._alphas > 0]
        if not len(positive):
            return np.array([1.0, _NO_PENALTY]), np.zeros(2)
        smallest = positive[-1]
        end = _NO_PENALTY * smallest
        if self._alphas[-1] > 0 and smallest < positive[0]:
            end = smallest
        even = np.geomspace(positive[0], end, _N_POINTS)
        x = np.unique(np.concatenate([even[1:-1], positive, [end]]))[::-1]
        falling_to_zero = (x - end) / (1 - _NO_PENALTY)
        return x, np.where(x < smallest, falling_to_zero, x)

    def _interpolate(self, alphas: Any, values: NDArray[np.float64]) -> Any:
        """Values of the path (n_alphas,) at other penalties."""
        return np.interp(-alphas, -self._alphas, values)

    def _set_axes(self, ax: Axes, x: NDArray[np.float64]) -> None:
        """Set the axes of penalty, coefficients and number of features."""
        label = "Penalty (alpha)"
        if self._alphas[-1] == 0:
            label += "; none at the right end"
        ax.set(xscale="log", xlim=(x[0], x[-1]), xlabel=label)
        # Names of lines take up a part of the axes.
        width = 0.75 * axes_inches(ax)[0]
        plain_log_ticks(ax, width)
        label = "Coefficient" + " per standard deviation" * (self.scale is not None)
        if len(self._path) == 1 and self.classes is not None:
            label = two_lines(label, response_label("log-odds", self.classes[0]))
        ax.set_ylabel(label)
        n_used = self._path.any(axis=0).sum(axis=0)  # features at each penalty
        changes = np.flatnonzero(np.diff(n_used))
        # In widths of the axes; ticks are dropped that the next one would touch.
        positions = np.log(self._alphas[changes]) / np.log(x[-1] / x[0])
        ticks: list[int] = []
        next_position = np.inf
        for change, position in zip(changes[::-1], positions[::-1], strict=True):
            if next_position - position >= _TICK_DISTANCE / width:
                ticks, next_position = [change, *ticks], position
        top = ax.secondary_xaxis("top")
        top.set_xticks(self._alphas[ticks], [str(n_used[i + 1]) for i in ticks])
        top.minorticks_off()
        top.set_xlabel("Features in use from here on")

    def _mark_model(
        self,
        ax: Axes,
        x: NDArray[np.float64],
        path: NDArray[np.float64],
        lines: list[Any],
    ) -> None:
        """A line at the model's penalty, and points where it crosses others."""
        alpha = self._alphas[-1] if self.alpha is None else self.alpha
        model_penalty = max(alpha, x[-1])
        line_style: Style = {"color": shade(ax, 0.8), "linestyle": "--"}
        line_style["linewidth"] = 1.4
        self.model_lines_.append(ax.axvline(model_penalty, zorder=2.2, **line_style))
        values = [self._interpolate(alpha, coefs) for coefs in path]
        point_style: Style = {"color": [line.get_color() for line in lines], "s": 26}
        point_style["zorder"] = 4
        points = ax.scatter(
            [model_penalty] * len(values), values, clip_on=False, **point_style
        )
        self.model_points_.append(points)

    @property
    def _coef_column(self) -> str:
        """The column of the coefficients in tables."""
        return "coef" if self.scale is None else "coef_per_std"

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each penalty and feature ever in use: columns "class" (of
            a classifier), "feature", "alpha" and "coef", or "coef_per_std" where
            there are scales.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        self._check_arrays()
        blocks = []
        for output, path in enumerate(self._path):
            used = np.flatnonzero(path.any(axis=1))
            columns = {
                "feature": np.repeat(
                    [self._names[j] for j in used.tolist()], path.shape[1]
                ),
                "alpha": np.tile(self._alphas, len(used)),
                self._coef_column: path[used].ravel(),
            }
            if self.classes is not None:
                columns = {"class": self.classes[output], **columns}
            blocks.append(columns)
        return self._frame(*blocks)


def _column_names(model: Any, steps: list[Any]) -> Sequence[str] | None:
    """Names of the columns that the model was fitted on, None if not known."""
    if hasattr(model, "feature_names_in_") or not steps:
        return getattr(model, "feature_names_in_", None)
    try:
        return steps[-1].get_feature_names_out()
    except (AttributeError, ValueError):  # a step that has no names
        return None


def _hide_zeros(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of a line, NaN where it stays at zero: there and at both neighbours."""
    is_zero = np.concatenate([[True], values == 0, [True]])
    stays = is_zero[:-2] & is_zero[1:-1] & is_zero[2:]
    return np.where(stays, np.nan, values)


def _name_lines(ax: Axes, lines: list[Any], names: list[str]) -> list[Any]:
    """Names at the ends of lines, in their colours, moved apart."""
    bottom, top = ax.get_ylim()
    ends = np.array([line.get_ydata()[-1] for line in lines])
    distance = _NAME_DISTANCE / (_POINTS_PER_INCH * axes_inches(ax)[1])
    heights = move_apart((ends - bottom) / (top - bottom), distance, 0.0, 1.0)
    texts = []
    for line, name, height in zip(lines, names, heights, strict=True):
        colour = stand_out(line.get_color(), ax, is_text=True)
        leader: Style = {"arrowstyle": "-", "color": colour, "linewidth": 0.7}
        leader |= {"shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)}
        text_style: Style = {"textcoords": "axes fraction", "annotation_clip": False}
        text_style |= {"va": "center", "color": colour, "arrowprops": leader}
        text_position = _NAMES_X, height
        texts.append(
            write_near(ax, name, line.get_xydata()[-1], text_position, **text_style)
        )
    return texts
