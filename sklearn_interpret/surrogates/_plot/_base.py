"""What the displays of local surrogates share: how they are made, what they say."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._choosing import output_position, response_text, row_position
from sklearn_interpret._model.response import check_is_predictor
from sklearn_interpret._model.tags import check_predictor_is_fitted
from sklearn_interpret._plotting.labels import drawn_response, shorten
from sklearn_interpret._plotting.numbers import number_text
from sklearn_interpret._plotting.parameters import (
    divided,
    keyword_names,
    parameter_names,
    refuse_settings,
)
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.surrogates._local_explanation import LocalExplanation
from sklearn_interpret.surrogates._plot._weight_bars import Weights

# Outputs drawn side by side where none is chosen.
MOST_OUTPUTS = 6


class LocalDisplay(ABC):
    """Base of the displays of one surrogate each."""

    # What explains a predictor, what that gives, and what is explained.
    _inspector: ClassVar[type]
    _kind: ClassVar[type] = LocalExplanation
    _sample: ClassVar[str] = "row"

    def __init__(
        self,
        explanation: LocalExplanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
    ) -> None:
        self.explanation = explanation
        self.row = row
        self.target = target
        self.response_name = response_name

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw."""

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, ax: Any = None, **params: Any
    ) -> Self:
        """Explain a sample by a fitted predictor, or a fitted inspector, and draw it.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is explained by the inspector that belongs to the display, for
            which all of `X` serves as data. A fitted inspector of that kind is used as
            it is, and not fitted again.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples, as the inspector takes them: rows of a table, texts or images.
            Where `row` is given, that one alone is explained.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector, for a predictor (such as `n_samples`, `target`
            or `random_state`), of the display's constructor and of `plot`.

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
            Several samples and no `row`; parameters of the inspector beside one that is
            fitted; bad input.
        """
        own = parameter_names(cls._inspector)
        if isinstance(estimator, BaseInspector):
            own -= cls._setting_names()  # which output is drawn can still be said
        names = [own, cls._setting_names(), keyword_names(cls.plot)]
        parameters, settings, looks = divided(params, names, cls.__name__)
        rows = cls._rows(X)
        row = cls._row_position(settings.pop("row", None), rows.n_rows)
        inspector = cls._fitted(estimator, rows.native, parameters)
        explanation = inspector.explain(rows.take([row]).native)
        name = response_text(inspector, explanation)
        settings = {"response_name": name, **settings}
        return cls(explanation, **settings).plot(ax=ax, **looks)

    @classmethod
    def from_explanation(
        cls, explanation: LocalExplanation, *, ax: Any = None, **params: Any
    ) -> Self:
        """Draw an explanation that was made before.

        Parameters
        ----------
        explanation : LocalExplanation
            Explained samples.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the display's constructor (such as `row`) and of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        TypeError
            No explanation of the display's kind, or an unknown parameter.
        ValueError
            Several samples and no `row`.
        """
        names = [cls._setting_names(), keyword_names(cls.plot)]
        settings, looks = divided(params, names, cls.__name__)
        return cls(explanation, **settings).plot(ax=ax, **looks)

    @classmethod
    def _setting_names(cls):
        return keyword_names(cls.__init__, without=("self", "explanation"))

    @classmethod
    @abstractmethod
    def _rows(cls, X):
        """What the user passes in, as samples that can be taken one by one."""

    @classmethod
    def _fitted(cls, estimator, X, parameters):
        """An inspector of a fitted predictor, or the one given."""
        if not isinstance(estimator, BaseInspector):
            check_is_predictor(estimator)
            check_predictor_is_fitted(estimator)
            return cls._inspector(FrozenEstimator(estimator), **parameters).fit(X)
        if not isinstance(estimator, cls._inspector):
            raise TypeError(
                f"{cls.__name__} shows what {cls._inspector.__name__} finds; got a "
                f"{type(estimator).__name__}. Pass its estimator_, or another display."
            )
        check_predictor_is_fitted(estimator)
        refuse_settings(estimator, parameters, use="explains")
        return estimator

    @classmethod
    def _row_position(cls, row, n_rows):
        """Position of the sample to draw, counted from the front."""
        if row is None:
            if n_rows != 1:
                raise ValueError(
                    f"There are {n_rows} {cls._sample}s: choose one by row=, counted "
                    "from 0."
                )
            return 0
        return row_position(row, n_rows, cls._sample)

    def _position(self):
        """Position of the sample that is drawn."""
        if not isinstance(self.explanation, self._kind):
            raise TypeError(
                f"{type(self).__name__} draws one kind of explanation, "
                f"{self._kind.__name__}; got {type(self.explanation).__name__}."
            )
        return self._row_position(self.row, len(self.explanation))

    def _outputs(self):
        """Positions of the outputs that are drawn."""
        n_outputs = len(self.explanation.output_names)
        if self.target is None and n_outputs <= MOST_OUTPUTS:
            return list(range(n_outputs))
        return [output_position(self.explanation, self.target)]

    def _weights(self, row, output):
        """Effects of the selected features, the largest first."""
        explanation = self.explanation

        def own(array):
            return array[row] if array.ndim == 2 else array[row, :, output]

        effects, selected = own(explanation.effects), own(explanation.selected)
        errors = np.full(len(effects), np.nan)
        if explanation.standard_errors is not None:
            errors = own(explanation.standard_errors) * explanation.scales
        order = np.argsort(-np.abs(effects), kind="stable")
        order = order[selected[order]]
        texts = self._names_of(row)
        names = [texts[j] for j in order]
        return Weights(order, names, effects[order], errors[order])

    def _names_of(self, row):
        """A name for each feature of a sample."""
        return self.explanation.feature_names

    def _response(self, output):
        """The response drawn, with its output where there are several."""
        names = self.explanation.output_names
        return drawn_response(self.response_name, names, output)

    def _title(self, row, output):
        """What the model answers, and how well the surrogate follows it: two lines."""

        def equation(name, field):
            array = getattr(self.explanation, field)
            if array is None:
                return name
            return f"{name} = {number_text(np.ravel(array[row])[output])}"

        first = equation(shorten(self._response(output), 48), "predictions")
        known = (("surrogate", "local_predictions"), ("local R²", "fidelity"))
        second = [equation(*one) for one in known]
        return f"{first}\n{', '.join(text for text in second if '=' in text)}"
