"""Words on the counterfactuals of a row: the model's answers, and the distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import (
    column_texts,
    number_text,
    rounded_text,
    value_text,
)
from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.labels import response_label
from sklearn_interpret.explanations._selection import output_position


class CounterfactualLabelsMixin(ExplanationDisplay):
    """Adds words to a display of a `RowExplanation`.

    `row` is the explained row, `indices` the positions of its counterfactuals.
    """

    def _title(self, row: int, indices: NDArray[np.intp]) -> list[str]:
        """Responses before and after, and distances of the counterfactuals."""
        explanation = self.explanation
        lines = []
        if explanation.original_predictions is not None:
            label, texts = self._responses(row, indices)
            changed = ", ".join(dict.fromkeys(texts[1:]))
            arrow = f" → {changed}" if explanation.changed[indices].any() else ""
            lines.append(f"{self._append_row_name(label)}: {texts[0]}{arrow}")
        if explanation.changed[indices].any():
            lines.append(self._distances(row, indices))
        return lines or [self._append_row_name(explanation.status[row])]

    def _distances(self, row: int, indices: NDArray[np.intp]) -> str:
        """Distances of the counterfactuals, and proved bounds."""
        explanation = self.explanation
        sizes = ", ".join(map(number_text, explanation.distances[indices]))
        text = f"distance{'s' if len(indices) > 1 else ''} {sizes}"
        if explanation.distance_name is not None:
            text += f", {explanation.distance_name}"
        if explanation.optimal is not None and explanation.optimal[row]:
            first = "the first is " if len(indices) > 1 else ""
            text += f" ({first}proved to be the nearest)"
        elif explanation.lower_bounds is not None:
            bound = rounded_text(explanation.lower_bounds[row], down=True)
            text += f" (at least {bound} is needed)"
        return text

    def _responses_of(self, row: int, indices: NDArray[np.intp]) -> NDArray[np.float64]:
        """Responses to the row, and to the counterfactuals if they are known."""
        explanation = self.explanation
        values = np.array(explanation.original_predictions[row])[None]
        if len(indices) and explanation.predictions is not None:
            values = np.concatenate([values, explanation.predictions[indices]])
        return values

    def _answers(
        self, row: int, indices: NDArray[np.intp], values: NDArray[np.float64]
    ) -> list[Any]:
        """Classes of the row and of the counterfactuals."""
        before, after = self.explanation.original_answers, self.explanation.answers
        if before is None or after is None:
            return [self.explanation.output_names[k] for k in values.argmax(axis=1)]
        return [*before[[row]].tolist(), *after[indices].tolist()]

    def _responses(self, row: int, indices: NDArray[np.intp]) -> tuple[str, list[str]]:
        """Name of the response, and texts of its values before and after."""
        names, values = self.explanation.output_names, self._responses_of(row, indices)
        if values.ndim == 2 and self.target is None:
            label = response_label("prediction", target_name=self.target_name)
            return label, list(map(value_text, self._answers(row, indices, values)))
        output = output_position(names, self.target)
        values = values.reshape(len(values), -1)[:, output]
        return self._response_label(names, output), column_texts(values)
