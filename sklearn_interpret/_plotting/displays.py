"""The base of all displays: how they are made from estimators and explanations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import wraps
from io import BytesIO
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.axes import make_room
from sklearn_interpret._plotting.labels import drawn_output, response_label, shorten_all
from sklearn_interpret._plotting.sources import (
    Data,
    ForwardedSignature,
    fold_estimators,
    inspector_of,
    inspectors_of_folds,
    is_inspector,
    keyword_names,
    parameter_names,
    response_name,
    split_keywords,
)
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import row_position

# Names in the description of a display.
MOST_SHOWN = 5


class DisplayMixin:
    """What all displays have: words for the response, and a short description."""

    # What labels call the target, and the unit of the response.
    target_name = unit = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "plot" in vars(cls):
            cls.plot = _with_room(cls.plot)

    def __repr__(self) -> str:
        held = getattr(self, "explanation", self)
        parts = [] if held is self else [f"{len(held)} row{'s'[: len(held) != 1]}"]
        for what in ("feature", "output"):
            names = getattr(held, f"{what}_names", None)
            if names is not None:
                texts = shorten_all(names, 24)
                shown = texts[:MOST_SHOWN] + ["..."] * (len(texts) > MOST_SHOWN)
                count = f"{len(texts)} {what}{'s'[: len(texts) != 1]}"
                parts.append(f"{count}: {', '.join(shown)}")
        return f"{type(self).__name__}({'; '.join(parts)})"

    def _repr_png_(self) -> bytes | None:
        """Return the figure for a notebook, unless pyplot is about to show it there."""
        from matplotlib.pyplot import fignum_exists

        figure = getattr(self, "figure_", None)
        if figure is None or fignum_exists(getattr(figure.figure, "number", None)):
            return None
        buffer = BytesIO()
        figure.figure.savefig(buffer, format="png")
        return buffer.getvalue()

    def _call(self, inspectors, target_name, unit):
        """Set what labels call the target and the unit of the response."""
        if target_name is None and inspectors:
            target_name = getattr(inspectors[0], "_target_name", None)
        self.target_name, self.unit = target_name, unit

    def _response_label(self, output_names, output=None):
        """What is predicted, in words, for the output that alone is drawn."""
        output = drawn_output(self.response_name, output_names, output)
        return response_label(self.response_name, output, self.target_name, self.unit)


def _with_room(plot):
    """Drawing that leaves room for its texts around the axes that a user gives."""

    @wraps(plot)
    def drawn(self, ax=None, **looks):
        plot(self, ax, **looks)
        if ax is not None:
            make_room(self.figure_)
        return self

    return drawn


class Display(DisplayMixin, ABC):
    """Base of all displays.

    A subclass names the inspectors that it shows (`_kinds`: classes, or a method that
    they must have; the first inspects predictors), what users may choose among the
    results of a fitted one (`_choices`: keywords of `_from_inspector`), and makes
    itself from a fitted inspector (`_from_inspector`).
    """

    _kinds: ClassVar[tuple[Any, ...]]
    _choices: ClassVar[frozenset[str]] = frozenset()
    # Whether it shows rows, which are then needed beside a fitted inspector too, and
    # whether weights then are those of the rows shown.
    _shows_rows: ClassVar[bool] = False
    _weighs_rows: ClassVar[bool] = False
    # ``(estimator, X, parameters)``: refuses what an inspector would do in vain.
    _check_request: ClassVar[Any] = None

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
            explained. None will do for a fitted inspector whose display shows no rows.
        features : int, str, bool mask, or list of ints, strs and pairs, default=None
            Features to inspect, where the inspector can choose; None means all. Of the
            entries of a fitted inspector of effects, those to show.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that a predictor is inspected on.
        target_name : str, default=None
            What labels call the target; None takes the name of the `y` that a fitted
            inspector has seen, where it had one.
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
            rows of which one is to be chosen; rows missing; bad input.
        """
        params = params if features is None else {**params, "features": features}
        names = target_name, unit
        return cls._of_estimator(estimator, X, sample_weight, params, names, ax)

    @classmethod
    def _of_estimator(
        cls, estimator, X, sample_weight, params, names, ax, *, targets=None, **given
    ):
        """The display of an estimator, drawn; `given` goes to `_from_inspector`.

        `names` are those of the target and of the unit of the response, `targets` those
        that a predictor is inspected with.
        """
        fitted = is_inspector(estimator, cls._kinds)
        parameters, choices, looks = cls._split(params, fitted)
        inspector = inspector_of(
            estimator,
            cls._data(X, sample_weight, fitted)._replace(y=targets),
            parameters,
            kinds=cls._kinds,
            display=cls.__name__,
            check=cls._check_request,
        )
        display = cls._from_inspector(inspector, X, sample_weight, **choices, **given)
        display._call([inspector], *names)
        return display.plot(ax=ax, **looks)

    @classmethod
    @abstractmethod
    def _from_inspector(cls, inspector, X, sample_weight):
        """The display of a fitted inspector's results."""

    @classmethod
    def _data(cls, X, sample_weight, fitted):
        """Rows to inspect or to show, and weights that the inspector does not have."""
        if X is None and fitted and cls._shows_rows:
            raise ValueError(f"{cls.__name__} shows rows: pass X.")
        return Data(X, None, None if fitted and cls._weighs_rows else sample_weight)

    @classmethod
    def _parameter_names(cls):
        """Names of the parameters of a predictor's inspector."""
        return parameter_names(cls._kinds[0])

    @classmethod
    def _choice_names(cls):
        """Keywords of `_from_inspector` that users may set."""
        return cls._choices

    @classmethod
    def _takers(cls, method):
        """Names that a method's user may set, and who has them as parameters."""
        choices = cls._choice_names()
        takers = [(choices, cls), (keyword_names(cls.plot), cls.plot)]
        if method == "from_explanation":
            return takers
        inspector = cls._parameter_names(), cls._kinds[0]
        return [inspector, (choices, cls._from_inspector), *takers]

    @classmethod
    def _split(cls, params, fitted):
        """Keyword arguments of the inspector, of `_from_inspector` and of `plot`."""
        takers = [cls._parameter_names(), cls._choice_names(), keyword_names(cls.plot)]
        parameters, choices, looks = split_keywords(params, takers, cls.__name__)
        if fitted:  # what is none of the others' cannot be set any more
            left = parameters.keys() - choices.keys() - looks.keys()
            return {n: v for n, v in parameters.items() if n in left}, choices, looks
        # With one of these parameters, the inspector leaves nothing to choose.
        settled = cls._choices & parameters.keys()
        return parameters, {n: v for n, v in choices.items() if n not in settled}, looks


class RegressionDisplay(Display):
    """Base of the displays of regressions, inspected on the rows of their fit."""

    @ForwardedSignature
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Inspect a fitted regression, or take an inspector, and draw the results.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is inspected as it is, by the display's inspector. A fitted
            inspector is used as it is: it is not fitted again, and its own parameters
            cannot be set any more.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            The rows that a predictor was fitted on. Needed for a fitted inspector where
            the display shows rows: those to show.
        y : array-like of shape (n_samples,), default=None
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector, for a predictor, and of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            Another kind of inspector or model, or an unknown parameter.
        ValueError
            Parameters of an inspector that is already fitted; rows or targets missing.
        """
        names = None, None
        return cls._of_estimator(
            estimator, X, sample_weight, params, names, ax, targets=y
        )


class FoldsMixin:
    """Adds `from_cv_results` to a display whose results can be averaged over folds."""

    # Whether the predictors of fitted inspectors are inspected again, on the same rows.
    _inspects_again: ClassVar[bool] = False

    @ForwardedSignature
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
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
            parameters.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Rows to inspect predictors on, and to explain where the display shows
            explained rows.
        features : int, str, bool mask, or list of ints, strs and pairs, default=None
            Features to inspect, where the inspector can choose; None means all.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that predictors are inspected on.
        target_name, unit : str, default=None
            As in `from_estimator`.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            As in `from_estimator`.

        Returns
        -------
        display : object
            The display, drawn: means over the folds, and how these differ. Around
            curves, one standard deviation to each side, and one thin line per fold.

        Raises
        ------
        NotFittedError
            An estimator is not fitted.
        TypeError
            Inspectors of another kind, or an unknown parameter.
        ValueError
            No key "estimator"; folds of different features or outputs, which cannot be
            averaged; several outputs of which one is to be chosen; bad input.
        """
        estimators = fold_estimators(cv_results)
        fitted = is_inspector(estimators[0], cls._kinds)
        params = params if features is None else {**params, "features": features}
        parameters, choices, looks = cls._split(
            params, fitted and not cls._inspects_again
        )
        inspectors = inspectors_of_folds(
            estimators,
            cls._data(X, sample_weight, fitted),
            parameters,
            kinds=cls._kinds,
            display=cls.__name__,
            again=cls._inspects_again,
            check=cls._check_request,
        )
        display = cls._from_folds(inspectors, X, sample_weight, **choices)
        display._call(inspectors, target_name, unit)
        return display.plot(ax=ax, **looks)

    @classmethod
    @abstractmethod
    def _from_folds(cls, inspectors, X, sample_weight):
        """The display of the mean of the folds' results."""


class ExplanationDisplay(Display):
    """Base of the displays of explained rows."""

    _shows_rows = True
    _explanation_kind: ClassVar[type] = Explanation
    _sample: ClassVar[str] = "row"

    def __init__(
        self,
        explanation: Explanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
    ) -> None:
        self.explanation = explanation
        self.row = row
        self.target = target
        if response_name is None:
            response_name = getattr(explanation, "response_name", None)
        self.response_name = response_name

    @ForwardedSignature
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw an explanation that was made before.

        Parameters
        ----------
        explanation : Explanation
            Explained rows, of the kind that the display shows.
        target_name : str, default=None
            What labels call the target; None takes the explanation's name of it.
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
            Several outputs or rows of which one is to be chosen; values that are not
            finite.
        """
        takers = [cls._choice_names(), keyword_names(cls.plot)]
        choices, looks = split_keywords(params, takers, cls.__name__)
        if target_name is None:
            target_name = getattr(explanation, "target_name", None)
        display = cls._of(explanation, **choices)
        display._call([], target_name, unit)
        return display.plot(ax=ax, **looks)

    @classmethod
    def _choice_names(cls):
        return keyword_names(cls.__init__, without=("self", "explanation"))

    @classmethod
    def _from_inspector(
        cls, inspector, X, sample_weight, *, row: int | None = None, **choices
    ):
        explanation = cls._explained(inspector, X, row)
        if explanation.response_name is None:  # an explainer that is not of ours
            choices = {"response_name": response_name(inspector), **choices}
        return cls._of(explanation, **choices)

    @classmethod
    def _explained(cls, inspector, X, row):
        """The inspector's explanation of one row, or of all."""
        rows = cls._as_rows(X)
        position = cls._row_position(row, rows.n_rows)
        if position is not None:
            rows = rows.take([position])
        explanation = inspector.explain(rows.native)
        if not isinstance(explanation, cls._explanation_kind):
            raise TypeError(
                f"{type(inspector).__name__}.explain returned "
                f"{type(explanation).__name__}; {cls.__name__} shows "
                f"{cls._explanation_kind.__name__}."
            )
        return explanation

    @classmethod
    def _as_rows(cls, X):
        """The user's rows as samples that can be taken one by one."""
        return as_rows(X)

    @classmethod
    def _row_position(cls, row, n_rows):
        """Position of the row to draw, or None for all."""
        return None if row is None else row_position(row, n_rows, cls._sample)

    @classmethod
    def _of(cls, explanation, **choices):
        """The display of an explanation."""
        return cls(explanation, **choices)

    def _checked(self):
        """The explanation, of the kind that the display shows."""
        if not isinstance(self.explanation, self._explanation_kind):
            raise TypeError(
                f"{type(self).__name__} draws a {self._explanation_kind.__name__}; got "
                f"{type(self.explanation).__name__}."
            )
        return self.explanation


class OneRowDisplay(ExplanationDisplay):
    """Base of the displays of one explained row each."""

    @classmethod
    def _row_position(cls, row, n_rows):
        """Position of the sample to draw, counted from the front."""
        if row is None and n_rows != 1:
            raise ValueError(
                f"There are {n_rows} {cls._sample}s: choose one by row=, counted from "
                "0."
            )
        return super()._row_position(0 if row is None else row, n_rows)

    def _position(self):
        """Position of the sample that is drawn."""
        return self._row_position(self.row, len(self._checked()))
