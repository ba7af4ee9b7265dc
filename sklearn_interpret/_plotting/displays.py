"""Displays: how all of them are made from predictors, inspectors and explanations."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from difflib import get_close_matches
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from sklearn_interpret._choosing import row_position
from sklearn_interpret._model.response import (
    check_is_predictor,
    check_predictor_is_fitted,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.labels import response_text
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.explanations import Explanation


class Data(NamedTuple):
    """Rows to inspect a predictor on, with their targets and weights."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None

    def take(self, index):
        """Some of the rows, by position."""
        rest = [None if part is None else np.asarray(part)[index] for part in self[1:]]
        return Data(as_rows(self.X).take(index).native, *rest)


def is_inspector(estimator, kinds=()):
    """Whether it is an inspector, and no predictor to be inspected."""
    return isinstance(estimator, BaseInspector) or _is_one_of(estimator, kinds)


def inspector_of(estimator, data, parameters, *, kinds, display, check=None):
    """A fitted inspector of a fitted predictor, or the fitted inspector given.

    Parameters
    ----------
    estimator : fitted predictor or inspector
        A predictor is inspected as it is; an inspector is not fitted again.
    data : Data
        Rows to inspect a predictor on.
    parameters : dict
        Parameters of the inspector; of one that is fitted they are refused.
    kinds : sequence of classes and str
        Inspectors that can be drawn: their classes, or a method that they must have.
        The first, a class, inspects predictors.
    display : str
        Name of the display, for errors.
    check : callable, default=None
        ``check(estimator, X, parameters)`` refuses what a predictor's inspector would
        do in vain.
    """
    if is_inspector(estimator, kinds):
        refuse_other_inspectors(estimator, kinds, display)
        check_predictor_is_fitted(estimator)
        _refuse_parameters(estimator, parameters, data.sample_weight)
        return estimator
    check_is_predictor(estimator)
    check_predictor_is_fitted(estimator)
    if data.X is None:
        raise ValueError(
            f"{display} inspects a predictor on rows: pass X, or a fitted inspector."
        )
    if check is not None:
        check(estimator, data.X, parameters)
    inspector = kinds[0](FrozenEstimator(estimator), **parameters)
    return inspector.fit(data.X, data.y, sample_weight=data.sample_weight)


def inspectors_of_folds(
    estimators, data, parameters, *, kinds, display, again=False, check=None
):
    """One inspector for each fold of a cross-validation.

    A fold's predictor is inspected, as `inspector_of` does. A fold's fitted inspector
    is drawn as it is, and then its results must be comparable, which the display
    checks. Curves over a grid are not, since each fold has a grid of its own rows:
    with `again`, the inspector's predictor is inspected on the given rows, with the
    inspector's parameters but for those given.

    Parameters
    ----------
    estimators : list of fitted predictors or inspectors
        Those of the folds.
    data : Data, or list of Data
        Rows to inspect the predictors on: the same for all folds, or each fold's own.
    parameters, kinds, display, check
        As in `inspector_of`.
    again : bool, default=False
        Whether fitted inspectors are replaced by those of their predictors on `data`.
    """
    parts = data if isinstance(data, list) else [data] * len(estimators)
    seeded = len(estimators) > 1 and "random_state" in parameter_names(kinds[0])
    if seeded:
        # Without a number of its own, each fold would draw other rows.
        state = check_random_state(parameters.get("random_state"))
        seed = state.randint(np.iinfo(np.int32).max)
    inspectors = []
    for estimator, part in zip(estimators, parts, strict=True):
        settings, shown = dict(parameters), is_inspector(estimator, kinds)
        if shown and again:
            refuse_other_inspectors(estimator, kinds, display)
            check_predictor_is_fitted(estimator)
            settings = {**estimator.get_params(deep=False), **parameters}
            del settings["estimator"]
            estimator, shown = estimator.estimator_, False
        numbered = isinstance(settings.get("random_state"), Integral)
        if seeded and not shown and not numbered:
            settings["random_state"] = seed
        inspector = inspector_of(
            estimator, part, settings, kinds=kinds, display=display, check=check
        )
        inspectors.append(inspector)
    return inspectors


def fold_estimators(cv_results):
    """The models in the results of `cross_validate`."""
    if not isinstance(cv_results, Mapping) or "estimator" not in cv_results:
        raise ValueError(
            'cv_results has no key "estimator": pass return_estimator=True to '
            "cross_validate."
        )
    return list(cv_results["estimator"])


def check_same_in_folds(values, what):
    """Refuse to average folds that differ, of which `values` has one entry each."""
    if any(value != values[0] for value in values):
        raise ValueError(
            f"The models of the folds have different {what}, which cannot be averaged: "
            f"{values!r}."
        )


def refuse_other_inspectors(estimator, kinds, display):
    """Refuse an inspector of another kind."""
    if isinstance(estimator, BaseInspector) and not _is_one_of(estimator, kinds):
        names = " or ".join(
            f"an inspector that has {kind}" if isinstance(kind, str) else kind.__name__
            for kind in kinds
        )
        raise TypeError(
            f"{display} shows {names}; got {type(estimator).__name__}, which inspects "
            "something else. Pass its estimator_, or another display."
        )


def _is_one_of(estimator, kinds):
    return any(
        hasattr(estimator, kind)
        if isinstance(kind, str)
        else isinstance(estimator, kind)
        for kind in kinds
    )


def _refuse_parameters(inspector, parameters, sample_weight):
    """Refuse what can only be set before an inspector is fitted."""
    names = [*parameters, *(["sample_weight"] if sample_weight is not None else [])]
    if names:
        raise ValueError(
            f"The {type(inspector).__name__} is fitted and is shown as it is; "
            f"{', '.join(names)} can only be set before its fit."
        )


def keyword_names(function, *, without=("self", "ax")):
    """Names of a function's parameters."""
    return set(inspect.signature(function).parameters) - set(without)


def parameter_names(kind):
    """Names of an inspector's parameters, but for its predictor."""
    return keyword_names(kind, without=("estimator",))


def split_keywords(given, takers, display):
    """Split keyword arguments among several takers.

    Parameters
    ----------
    given : dict
        What the user passed.
    takers : sequence of sets of str
        The names that each taker knows.
    display : str
        Name of the display, for the error.

    Returns
    -------
    list of dict
        One for each taker; a name that several know goes to all of these.
    """
    known = sorted(set().union(*takers))
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else ", ".join(known)
            raise TypeError(f"{display} has no parameter {name!r}; {hint}")
    return [
        {name: value for name, value in given.items() if name in names}
        for names in takers
    ]


class Display(ABC):
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Inspect a fitted predictor, or take a fitted inspector, and draw the results.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is inspected on `X` as it is, by the inspector that belongs to
            the display. A fitted inspector that the display can show is used as it is,
            and not fitted again.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Rows (texts, images) to inspect a predictor on, and to explain where the
            display shows explained rows; where `row` is given, that one alone is
            explained. None will do for a fitted inspector whose display shows no rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that a predictor is inspected on.
        ax : matplotlib Axes, default=None
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
        fitted = is_inspector(estimator, cls._kinds)
        parameters, choices, looks = cls._split(params, fitted)
        inspector = inspector_of(
            estimator,
            cls._data(X, sample_weight, fitted),
            parameters,
            kinds=cls._kinds,
            display=cls.__name__,
            check=cls._check_request,
        )
        display = cls._from_inspector(inspector, X, sample_weight, **choices)
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


class FoldsMixin:
    """Adds `from_cv_results` to a display whose results can be averaged over folds."""

    # Whether the predictors of fitted inspectors are inspected again, on the same rows.
    _inspects_again: ClassVar[bool] = False

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
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
            as they are.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Rows to inspect predictors on, and to explain where the display shows
            explained rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that predictors are inspected on.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            As in `from_estimator`.

        Returns
        -------
        display : object
            The display, drawn: means over the folds, and how these differ.

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
        self.response_name = response_name

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, ax: Any = None, **params: Any
    ) -> Self:
        """Draw an explanation that was made before.

        Parameters
        ----------
        explanation : Explanation
            Explained rows, of the kind that the display shows.
        ax : matplotlib Axes or array of Axes, default=None
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
        return cls._of(explanation, **choices).plot(ax=ax, **looks)

    @classmethod
    def _choice_names(cls):
        return keyword_names(cls.__init__, without=("self", "explanation"))

    @classmethod
    def _from_inspector(cls, inspector, X, sample_weight, *, row=None, **choices):
        explanation = cls._explained(inspector, X, row)
        name = response_text(inspector, explanation.output_names)
        return cls._of(explanation, **{"response_name": name, **choices})

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
