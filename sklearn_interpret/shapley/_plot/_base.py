"""What all displays of Shapley values share: how they are made, and what they hold."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._choosing import response_text
from sklearn_interpret._plotting.parameters import (
    divided,
    keyword_names,
    parameter_names,
)
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley._plot._outputs import (
    checked,
    one_output,
    output_text,
)
from sklearn_interpret.shapley._plot._sources import (
    default_inspector,
    explained,
    fitted_inspector,
    is_inspector,
    one_row,
    row_position,
)


class ShapleyDisplay(ABC):
    """Base of the displays of an explanation."""

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
        X: Any,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Explain rows of a fitted predictor, or by a fitted inspector, and draw them.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is explained by :class:`ShapleyValues`, with `X` as background
            unless `background` is given. A fitted inspector that has ``explain`` is
            used as it is, and not fitted again.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to explain. Where `row` is given, that one alone is explained.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the background's rows, for a predictor.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector, for a predictor (such as `background`,
            `target` or `response_method`), of the display's constructor and of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            An inspector that has no ``explain``, or an unknown parameter.
        ValueError
            Parameters of the inspector beside one that is fitted; several outputs and
            no `target`; bad input.
        """
        kind, parameters, settings, looks = cls._divided(estimator, params)
        explanation, settings = cls._explained(
            estimator, X, kind, sample_weight, parameters, settings
        )
        return cls._made(explanation, **settings).plot(ax=ax, **looks)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, ax: Any = None, **params: Any
    ) -> Self:
        """Draw an explanation that was made before.

        Parameters
        ----------
        explanation : Explanation
            The rows to draw, explained.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the display's constructor (such as `target`) and of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        TypeError
            No explanation, or an unknown parameter.
        ValueError
            Several outputs and no `target`; values that are not finite.
        """
        settings, looks = divided(
            params, [cls._setting_names(), keyword_names(cls.plot)], cls.__name__
        )
        return cls._made(explanation, **settings).plot(ax=ax, **looks)

    @classmethod
    def _divided(cls, estimator, params):
        """The inspector's class for a predictor, and whose the keyword arguments are.

        Returns
        -------
        kind : class or None
        parameters, settings, looks : dict
            Of the inspector, the constructor and `plot`.
        """
        kind = None if is_inspector(estimator) else default_inspector()
        own = set() if kind is None else parameter_names(kind)
        names = [own, cls._setting_names(), keyword_names(cls.plot)]
        return kind, *divided(params, names, cls.__name__)

    @classmethod
    def _explained(cls, estimator, X, kind, sample_weight, parameters, settings):
        """The rows explained, and what the constructor is told beside that."""
        inspector = fitted_inspector(
            estimator,
            X,
            kind,
            row=settings.get("row"),
            sample_weight=sample_weight,
            parameters=parameters,
            display=cls.__name__,
        )
        if settings.get("row") is not None:
            X = one_row(X, settings["row"])
            settings = {**settings, "row": None}
        explanation = explained(inspector, X)
        settings = {
            "response_name": response_text(inspector, explanation),
            **settings,
        }
        return explanation, settings

    @classmethod
    def _setting_names(cls):
        """Names of what the user may say about what is drawn, beside the numbers."""
        return keyword_names(cls.__init__, without=("self", "explanation"))

    @classmethod
    def _made(cls, explanation, **settings):
        """The display of an explanation."""
        return cls(explanation, **settings)


class ExplanationDisplay(ShapleyDisplay):
    """Base of the displays that hold an explanation and draw one output of it."""

    def __init__(
        self,
        explanation: Explanation,
        *,
        target: Any = None,
        response_name: str | None = None,
    ) -> None:
        self.explanation = explanation
        self.target = target
        self.response_name = response_name

    def _one_output(self):
        """The explanation of the output that is drawn, without an axis of outputs."""
        return one_output(checked(self.explanation), self.target)

    def _response(self):
        return output_text(self.explanation, self.target, self.response_name)

    def _caller(self, method="plot"):
        return f"{type(self).__name__}.{method}"


class RowDisplay(ExplanationDisplay):
    """Base of the displays that show one row on its own."""

    def __init__(
        self,
        explanation: Explanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
    ) -> None:
        super().__init__(explanation, target=target, response_name=response_name)
        self.row = row

    def _rows(self):
        """The rows that are drawn, for one output."""
        explanation = self._one_output()
        if self.row is None:
            return explanation
        return explanation[row_position(self.row, len(explanation))]

    def _positions(self):
        """Positions in the explanation of the rows that are drawn."""
        n_rows = len(self.explanation)
        if self.row is None:
            return np.arange(n_rows)
        return np.array([row_position(self.row, n_rows)])
