"""What the displays of local surrogates share: what they hold, and what they say."""

import numpy as np

from sklearn_interpret._choosing import output_position
from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.labels import drawn_response, shorten
from sklearn_interpret._plotting.numbers import number_text
from sklearn_interpret.surrogates._local_explanation import LocalExplanation
from sklearn_interpret.surrogates._plot._weight_bars import Weights

# Outputs drawn side by side where none is chosen.
MOST_OUTPUTS = 6


class LocalDisplay(ExplanationDisplay):
    """Base of the displays of one surrogate each."""

    _explanation_kind = LocalExplanation

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
        if not isinstance(self.explanation, self._explanation_kind):
            raise TypeError(
                f"{type(self).__name__} draws a {self._explanation_kind.__name__}; got "
                f"{type(self.explanation).__name__}."
            )
        return self._row_position(self.row, len(self.explanation))

    def _outputs(self):
        """Positions of the outputs that are drawn."""
        n_outputs = len(self.explanation.output_names)
        if self.target is None and n_outputs <= MOST_OUTPUTS:
            return list(range(n_outputs))
        return [output_position(self.explanation.output_names, self.target)]

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
