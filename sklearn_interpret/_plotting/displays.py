"""The base of all displays: how they are made from estimators and explanations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.refits import Splits
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.axes import (
    SINGLE_HEIGHT,
    SINGLE_WIDTH,
    Slot,
    import_late,
    settle_layout,
    take_axes,
)
from sklearn_interpret._plotting.labels import (
    ASSUMED_FOLDS,
    drawn_output_name,
    response_label,
    row_text,
    shorten_all,
)
from sklearn_interpret._plotting.sources import (
    Data,
    ForwardedSignature,
    Taker,
    check_count,
    fold_estimators,
    fold_rows,
    inspector_of,
    inspectors_of_folds,
    is_inspector,
    keyword_names,
    name_models,
    parameter_names,
    response_name,
    split_keywords,
    splits_of,
)
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import (
    are_positions,
    row_position,
    take_rows,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._inspectors.sklearn_bases import DataFrame
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._plotting.axes import Canvas

# Largest number of names in the description of a display, of 24 letters: two lines.
MOST_SHOWN = 5
# Parameters of `plot` that limit how much is drawn; None sets no limit.
COUNTS = (
    "max_edges",
    "max_entries",
    "max_lines",
    "max_panels",
    "max_rules",
    "max_sets",
)


class LabelNames(NamedTuple):
    """Names in the label of the response."""

    target_name: str | None
    unit: str | None


class SplitParams(NamedTuple):
    """The keyword arguments of `from_estimator` by what takes them."""

    inspector: dict[str, Any]
    choices: dict[str, Any]  # of `_from_inspector` or `_from_folds`
    plot: dict[str, Any]


class DisplayMixin:
    """Adds words for the response, and a short description, to a display."""

    # Name of the target, and unit of the response, in labels.
    target_name: str | None = None
    unit: str | None = None
    # Set by displays that have them.
    response_name: str | None
    output_names: Sequence[Any] | None
    plot: ClassVar[Callable[..., Any]]
    # Parameters of `from_estimator` and `from_cv_results` that the display lacks.
    _without: ClassVar[frozenset[str]] = frozenset()
    # Further parameters of these that may be given by position, after the data.
    _leading: ClassVar[tuple[str, ...]] = ()
    # Accepted values of parameters of `plot`.
    _options: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "plot" in vars(cls):
            cls.plot = _add_checks(cls.plot)

    def __repr__(self) -> str:
        results: Any = getattr(self, "explanation", None) or self
        counts = []
        if results is not self:
            counts.append(f"{len(results)} row{'s'[: len(results) != 1]}")
        for noun in ("feature", "output"):
            names = getattr(results, f"{noun}_names", None)
            if names is not None:
                texts = shorten_all(names, 24)
                listed = ", ".join(texts[:MOST_SHOWN])
                if len(texts) > MOST_SHOWN:
                    listed += ", ..."
                counts.append(f"{len(texts)} {noun}{'s'[: len(texts) != 1]}: {listed}")
        return f"{type(self).__name__}({'; '.join(counts)})"

    def _repr_png_(self) -> bytes | None:
        """Return the figure for a notebook, unless pyplot is about to show it there."""
        from matplotlib.pyplot import fignum_exists

        figure = getattr(self, "figure_", None)
        if figure is None or fignum_exists(getattr(figure.figure, "number", -1)):
            return None
        buffer = BytesIO()
        figure.figure.savefig(buffer, format="png")
        return buffer.getvalue()

    @classmethod
    def _takers(cls, method: str) -> list[Taker]:
        """Parameters that users of a method may set."""
        return [Taker(keyword_names(cls.plot), cls.plot)]

    def _take_axes(
        self, ax: Any, size: tuple[float, float] = (SINGLE_WIDTH, SINGLE_HEIGHT)
    ) -> Axes:
        """The user's axes, or one in a new figure of this size in inches."""
        (self.ax_,) = self._make_canvas(ax, 1, 1, size).main
        return self.ax_

    def _take_grid(
        self, ax: Any, n_panels: int, n_columns: int, size: tuple[float, float] | None
    ) -> Canvas:
        """A canvas of panels; in a new figure each has this size in inches."""
        canvas = self._make_canvas(ax, n_panels, n_columns, size)
        self.axes_ = np.array(canvas.main, dtype=object)
        return canvas

    def _make_canvas(
        self, ax: Any, n_panels: int, n_columns: int, size: tuple[float, float] | None
    ) -> Canvas:
        """The axes of panels, and their figure as `figure_`."""
        slots, caller = [Slot()] * n_panels, f"{type(self).__name__}.plot"
        canvas = take_axes(
            ax, slots, n_columns=n_columns, caller=caller, panel_size=size
        )
        self.figure_ = canvas.figure
        return canvas

    def _named_outputs(self, n_outputs: int) -> Sequence[Any]:
        """Names of the outputs, or their positions if they have no names."""
        return range(n_outputs) if self.output_names is None else self.output_names

    def _frame(
        self, *blocks: dict[str, Any], integer_column: str | None = None
    ) -> DataFrame:
        """A DataFrame of blocks below each other, each of columns by name.

        `integer_column` has whole numbers, missing in blocks that lack the column; it
        becomes the last column.
        """
        pandas = self._pandas()
        table = pandas.concat(map(pandas.DataFrame, blocks), ignore_index=True)
        if integer_column in table:
            table[integer_column] = table.pop(integer_column).astype("Int64")
        return table

    def _pandas(self) -> Any:
        return import_late("pandas", f"{type(self).__name__}.to_frame")

    def _name_response(
        self, target_name: str | None, unit: str | None, inspectors: Sequence[Any] = ()
    ) -> None:
        """Set the name of the target, and the unit of the response, for labels."""
        if target_name is None and inspectors:
            target_name = getattr(inspectors[0], "_target_name", None)
        self.target_name, self.unit = target_name, unit

    def _response_label(
        self, output_names: Sequence[Any] | None, output: int | None = None
    ) -> str:
        """Name of the response of the output at a position, or of all outputs."""
        name = drawn_output_name(self.response_name, output_names, output)
        return response_label(self.response_name, name, self.target_name, self.unit)


def _add_checks(plot: Callable[..., Any]) -> Callable[..., Any]:
    """The `plot` with checks of its parameters, and room for texts around `ax`."""

    @wraps(plot)
    def checked_plot(self: Any, ax: Any = None, **options: Any) -> Any:
        for name, value in options.items():
            if name in COUNTS:
                check_count(value, name)
            accepted = self._options.get(name, [value])
            if value not in accepted:
                texts = ", ".join(accepted)
                raise ValueError(f"{name}={value!r} must be one of {texts}.")
        others = _neighbours(ax)
        plot(self, ax, **options)
        if ax is not None:
            axes = [each for each in self.figure_.axes if each not in others]
            settle_layout(self.figure_, axes)
        return self

    return checked_plot


def _neighbours(ax: Any) -> set[Any]:
    """Other axes in the figure of those that a user gave."""
    given = [each for each in np.ravel(np.array(ax, object)) if hasattr(each, "figure")]
    return {other for each in given for other in each.figure.axes} - set(given)


class Display(DisplayMixin, ABC):
    """Base of all displays.

    A subclass has the constructor from a fitted inspector (`_from_inspector`), and the
    keywords of it that users may set (`_choices`).
    """

    # Inspectors that are shown: classes, or names of a method that they must have. The
    # first one inspects predictors.
    _kinds: ClassVar[tuple[Any, ...]]
    # Inspects predictors instead of the first of `_kinds`.
    _inspects_with: ClassVar[type | None] = None
    _choices: ClassVar[frozenset[str]] = frozenset()
    _without = frozenset({"y"})
    # Whether the display draws rows: then a fitted inspector needs X, too.
    _shows_rows: ClassVar[bool] = False
    # Whether weights belong to the drawn rows, and not to the rows of the inspection.
    _weighs_rows: ClassVar[bool] = False
    # ``(estimator, X, parameters)``: refuses a request before the inspection runs.
    _check_request: ClassVar[Callable[..., None] | None] = None

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw."""

    @abstractmethod
    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame."""

    @ForwardedSignature
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Inspect a fitted predictor, or take a fitted inspector, and draw the results.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is inspected on `X` as it is, by the display's inspector. A
            fitted inspector that the display can show is used as it is: it is not
            fitted again, and its own parameters cannot be set any more.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Rows (texts, images) to inspect a predictor on, and to explain where the
            display shows explained rows; where `row` is given, that one alone is
            explained. A fitted inspector whose display shows no rows needs none.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets of the rows.
        features : int, str, bool mask, or list of ints, strs and pairs, default=None
            Features to inspect, where the inspector can choose; None means all. Of the
            entries of a fitted inspector of effects, those to show.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that a predictor is inspected on.
        target_name : str, default=None
            Name of the target in labels; None takes the name of the `y` that a fitted
            inspector was fitted on, if it had one.
        unit : str, default=None
            Unit of the response, for labels.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector, for a predictor (such as `target`,
            `response_method` or `random_state`), of the display's constructor, and of
            `plot`. Of a fitted inspector of several outputs, `target` names the one to
            draw.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            An inspector of another kind, or an unknown parameter.
        ValueError
            Parameters of an inspector that is already fitted; several outputs or
            rows of which one must be chosen; rows missing; bad input.
        """
        params = params if features is None else {**params, "features": features}
        data, names = Data(X, y, sample_weight), LabelNames(target_name, unit)
        return cls._plot_estimator(estimator, data, params, names, ax)

    @classmethod
    def _plot_estimator(
        cls,
        estimator: Any,
        data: Data,
        params: dict[str, Any],
        names: LabelNames,
        ax: Any,
    ) -> Self:
        """Make and draw the display of an estimator."""
        fitted = is_inspector(estimator, cls._kinds)
        split = cls._split_params(params, fitted)
        inspector = inspector_of(
            estimator,
            cls._inspection_data(data, fitted),
            split.inspector,
            kinds=cls._kinds,
            kind=cls._inspects_with,
            display=cls.__name__,
            check=cls._check_request,
        )
        if not fitted and not cls._shows_rows:
            data = data._replace(X=None)
        display = cls._from_inspector(inspector, data, **split.choices)
        display._name_response(*names, [inspector])
        return display.plot(ax=ax, **split.plot)

    @classmethod
    @abstractmethod
    def _from_inspector(cls, inspector: Any, data: Data, /) -> Self:
        """The display of a fitted inspector's results, and of rows (a `Data`)."""

    @classmethod
    def _inspection_data(cls, data: Data, fitted: bool) -> Data:
        """Rows to inspect, without weights that belong to the drawn rows."""
        if data.X is None and fitted and cls._shows_rows:
            raise ValueError(f"{cls.__name__} shows rows: pass X.")
        drops_weights = fitted and cls._weighs_rows
        return data._replace(sample_weight=None) if drops_weights else data

    @classmethod
    def _parameter_names(cls) -> set[str]:
        """Names of the parameters of a predictor's inspector."""
        return parameter_names(cls._kinds[0])

    @classmethod
    def _choice_names(cls) -> frozenset[str] | set[str]:
        """Keywords of `_from_inspector` that users may set."""
        return cls._choices

    @classmethod
    def _takers(cls, method: str) -> list[Taker]:
        choices = cls._choice_names()
        takers = [Taker(choices, cls), *super()._takers(method)]
        if method == "from_explanation":
            return takers
        inspector = Taker(cls._parameter_names(), cls._kinds[0])
        of_folds = method == "from_cv_results"
        maker = getattr(cls, "_from_folds" if of_folds else "_from_inspector")
        return [inspector, Taker(choices, maker), *takers]

    @classmethod
    def _split_params(cls, params: dict[str, Any], fitted: bool) -> SplitParams:
        """The user's keyword arguments by what takes them."""
        takers = [cls._parameter_names(), cls._choice_names(), keyword_names(cls.plot)]
        split = SplitParams(*split_keywords(params, takers))
        if fitted:  # the inspector's own parameters cannot be set any more
            # Parameters that the display takes, too, are not refused.
            for name in split.choices.keys() | split.plot.keys():
                split.inspector.pop(name, None)
            return split
        # A choice that is also a parameter of the inspector only goes to the inspector.
        for name in cls._choices & split.inspector.keys():
            split.choices.pop(name, None)
        return split


class FoldsMixin(Display):
    """Adds `from_cv_results` to a display whose results can be averaged over folds."""

    # Whether the predictors of fitted inspectors are inspected again, on the same rows.
    _inspects_again: ClassVar[bool] = False
    # Whether each fold's predictor is inspected on the fold's training rows, if
    # cv_results has their indices; `_from_folds` then gets the folds' test rows.
    _inspects_training_rows: ClassVar[bool] = False
    # The rows left out of each fold's model; None if not made by `from_cv_results`.
    _splits: Splits | None = None

    def _learner_text(self, text: str) -> str:
        """Text of the learner's intervals, or that they assume folds."""
        are_assumed = self._splits is not None and not self._splits.are_known
        return ASSUMED_FOLDS if are_assumed else text

    @ForwardedSignature
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        y: ArrayLike | None = None,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw the results of the models of a cross-validation, and their mean.

        Parameters
        ----------
        cv_results : dict
            Result of :func:`~sklearn.model_selection.cross_validate` with
            ``return_estimator=True``. Its estimators are predictors, which are all
            inspected on `X`, or inspectors that the display can show, which are used
            as they are; curves over a grid are computed again, on `X`, with their
            parameters. Importances of predictors and curves of attacks use each fold's
            own rows of training and of test, with ``return_indices=True``. Bands use
            the indices, too: the share of test rows, and whether each row is tested
            once. Without indices K folds are assumed, and legends say so.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Rows to inspect predictors on, and to explain where the display shows
            explained rows. With indices, the rows that went to `cross_validate`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets of the rows.
        features : int, str, bool mask, or list of ints, strs and pairs, default=None
            Features to inspect, where the inspector can choose; None means all.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that predictors are inspected on.
        target_name : str, default=None
            As in `from_estimator`.
        unit : str, default=None
            As in `from_estimator`.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            As in `from_estimator`.

        Returns
        -------
        display : object
            The display, drawn: means over the folds, single folds, and intervals of
            95 % for the learner: for the mean over training sets of the folds' size.

        Raises
        ------
        NotFittedError
            An estimator is not fitted.
        TypeError
            Inspectors of another kind, or an unknown parameter.
        ValueError
            No key "estimator"; indices of other rows; folds of different features or
            outputs, which cannot be averaged; several outputs of which one must be
            chosen; bad input.
        """
        params = params if features is None else {**params, "features": features}
        data, names = Data(X, y, sample_weight), LabelNames(target_name, unit)
        return cls._plot_folds(cv_results, data, params, names, ax)

    @classmethod
    def _plot_folds(
        cls,
        cv_results: Mapping[str, Any],
        data: Data,
        params: dict[str, Any],
        names: LabelNames,
        ax: Any,
        **settings: Any,
    ) -> Self:
        """Make and draw the display of the models of a cross-validation."""
        estimators = fold_estimators(cv_results)
        fitted = is_inspector(estimators[0], cls._kinds)
        split = cls._split_params(params, fitted and not cls._inspects_again)
        fold_data = [data] * len(estimators)
        if cls._inspects_training_rows:
            rows = fold_rows(cv_results, data)
            fold_data, split.choices["tests"] = rows or (fold_data, None)
        inspectors = inspectors_of_folds(
            estimators,
            [cls._inspection_data(each, fitted) for each in fold_data],
            split.inspector,
            kinds=cls._kinds,
            kind=cls._inspects_with,
            display=cls.__name__,
            again=cls._inspects_again,
            check=cls._check_request,
        )
        display = cls._from_folds(inspectors, data, **split.choices, **settings)
        display._splits = splits_of(cv_results)
        display._name_response(*names, inspectors)
        return display.plot(ax=ax, **split.plot)

    @classmethod
    @abstractmethod
    def _from_folds(cls, *fitted_and_data: Any, **choices: Any) -> Self:
        """The display of the folds' mean results, from inspectors and a `Data`."""


class ModelsMixin(Display):
    """Adds `from_estimators` to a display on which several models are compared."""

    @ForwardedSignature
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Inspect several fitted predictors on the same rows, and draw them together.

        Parameters
        ----------
        estimators : dict of str to fitted predictor, or list of these
            The models by name. Those of a list are named by their classes (of the last
            step of a pipeline), and by their places where several are of one class.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to inspect the predictors on.
        features : int, str, bool mask, or list of ints and strs, default=None
            Features to inspect; None means all.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        target_name : str, default=None
            As in `from_estimator`.
        unit : str, default=None
            As in `from_estimator`.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            As in `from_estimator`.

        Returns
        -------
        display : object
            The display, drawn, with a line and a colour for each model.

        Raises
        ------
        NotFittedError
            An estimator is not fitted.
        TypeError
            No models, inspectors among them, or an unknown parameter.
        ValueError
            Models of different outputs or responses; bad input.
        """
        params = params if features is None else {**params, "features": features}
        models, data = name_models(estimators), Data(X, None, sample_weight)
        names = LabelNames(target_name, unit)
        return cls._plot_models(models, data, names, ax, **params)

    @classmethod
    @abstractmethod
    def _plot_models(
        cls,
        models: dict[str, Any],
        data: Data,
        names: LabelNames,
        ax: Any,
        **params: Any,
    ) -> Self:
        """Make and draw the display of models by name."""


class ExplanationDisplay(Display):
    """Base of the displays of explained rows."""

    # Constructor parameters that not all displays have.
    row: int | None = None
    target: Any = None
    response_name: str | None = None
    explanation: Any
    _shows_rows = True
    _explanation_kind: ClassVar[type] = Explanation
    _sample: ClassVar[str] = "row"
    _chosen: int | None = None  # position in `X` of the only row that is explained

    def __init__(
        self,
        explanation: Any,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
    ) -> None:
        self.explanation = explanation
        self.row = row
        self.target = target
        self.response_name = response_name
        self.__post_init__()

    def __post_init__(self) -> None:
        """Take the explanation's name of the response if none is given."""
        if self.response_name is None:
            explanation = getattr(self, "explanation", None)
            self.response_name = getattr(explanation, "response_name", None)

    @ForwardedSignature
    def from_explanation(
        cls,
        explanation: Any,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw an explanation.

        Parameters
        ----------
        explanation : Explanation
            Explained rows, of the kind that the display shows.
        target_name : str, default=None
            Name of the target in labels; None takes the explanation's.
        unit : str, default=None
            Unit of the response, for labels.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the display's constructor (such as `target` or `row`) and of
            `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        TypeError
            No explanation of the display's kind, or an unknown parameter.
        ValueError
            Several outputs or rows of which one must be chosen; values that are not
            finite.
        """
        takers = [cls._choice_names(), keyword_names(cls.plot)]
        choices, options = split_keywords(params, takers)
        if target_name is None:
            target_name = getattr(explanation, "target_name", None)
        display = cls._make_display(explanation, **choices)
        display._name_response(target_name, unit)
        return display.plot(ax=ax, **options)

    @classmethod
    def _choice_names(cls) -> frozenset[str] | set[str]:
        return keyword_names(cls.__init__, without=("self", "explanation"))

    @classmethod
    def _from_inspector(
        cls, inspector: Any, data: Data, *, row: int | None = None, **choices: Any
    ) -> Self:
        rows = cls._as_rows(data.X)
        position = cls._row_position(row, rows.n_rows)
        X = rows.native if position is None else take_rows(rows.native, [position])
        explanation = cls._explain_rows(inspector, X)
        if explanation.response_name is None:  # an explainer that is not of ours
            choices = {"response_name": response_name(inspector), **choices}
        display = cls._make_display(explanation, **choices)
        display._chosen = position
        return display

    @classmethod
    def _explain_rows(cls, inspector: Any, X: Any) -> Any:
        """The inspector's explanation of some rows."""
        explanation = inspector.explain(X)
        if not isinstance(explanation, cls._explanation_kind):
            raise TypeError(
                f"{type(inspector).__name__}.explain returned "
                f"{type(explanation).__name__}; {cls.__name__} shows "
                f"{cls._explanation_kind.__name__}."
            )
        return explanation

    @classmethod
    def _as_rows(cls, X: Any) -> Rows:
        """The user's rows as samples that can be taken one by one."""
        return as_rows(X)

    @classmethod
    def _row_position(cls, row: int | None, n_rows: int) -> int | None:
        """Position of the row to draw, or None for all."""
        return None if row is None else row_position(row, n_rows, cls._sample)

    @classmethod
    def _make_display(cls, explanation: Any, **choices: Any) -> Self:
        """The display of an explanation."""
        return cls(explanation, **choices)

    @property
    def _row_names(self) -> Sequence[Any] | NDArray[Any]:
        """Names of the explained rows; a chosen one has its position in `X`."""
        names = self.explanation.row_names
        if self._chosen is not None and are_positions(names):
            return [self._chosen]
        return names

    @property
    def _row_name(self) -> Any:
        """Name of the row drawn."""
        return self._row_names[0 if self.row is None else self.row]

    @property
    def _row_label(self) -> str | None:
        """Name of the row drawn, as a text; None for an only row without a label."""
        is_only_row = self._chosen is None and len(self.explanation) == 1
        if is_only_row and are_positions(self._row_names):
            return None
        return row_text(self._row_name, self._sample)

    def _append_row_name(self, text: str) -> str:
        """A text about the row drawn, and the row's name."""
        return text if self._row_label is None else f"{text}, {self._row_label}"

    def _check_explanation(self) -> Any:
        """The explanation, after a check that the display shows its kind."""
        if not isinstance(self.explanation, self._explanation_kind):
            raise TypeError(
                f"{type(self).__name__} draws a {self._explanation_kind.__name__}; got "
                f"{type(self.explanation).__name__}."
            )
        return self.explanation


class OneRowDisplay(ExplanationDisplay):
    """Base of the displays of one explained row each."""

    @classmethod
    def _row_position(cls, row: int | None, n_rows: int) -> int:
        """Position of the sample to draw, counted from the front."""
        if row is None and n_rows != 1:
            raise ValueError(
                f"There are {n_rows} {cls._sample}s: choose one by row=, counted from "
                "0."
            )
        return row_position(row or 0, n_rows, cls._sample)

    def _position(self) -> int:
        """Position of the sample that is drawn."""
        return self._row_position(self.row, len(self._check_explanation()))
