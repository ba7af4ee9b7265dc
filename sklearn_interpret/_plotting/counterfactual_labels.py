"""Words on the rows found for a row: the model's answers, and the distances."""

import numpy as np

from sklearn_interpret._model.rows.number_format import (
    column_texts,
    number_text,
    rounded_text,
    value_text,
)
from sklearn_interpret._plotting.labels import response_label
from sklearn_interpret.explanations._selection import output_position


class CounterfactualLabelsMixin:
    """Adds words to a display of a `RowExplanation`.

    `row` is the explained row, `found` the positions of rows found for it.
    """

    def _title(self, row, found):
        """Responses before and after, and distances of the rows found."""
        explanation = self.explanation
        lines = []
        if explanation.original_predictions is not None:
            label, texts = self._responses(row, found)
            changed = ", ".join(dict.fromkeys(texts[1:]))
            arrow = f" → {changed}" if explanation.changed[found].any() else ""
            lines.append(f"{self._of_row(label)}: {texts[0]}{arrow}")
        if explanation.changed[found].any():
            lines.append(self._distances(row, found))
        return lines or [self._of_row(explanation.status[row])]

    def _distances(self, row, found):
        """Distances of the rows found, and proved bounds."""
        explanation = self.explanation
        sizes = ", ".join(map(number_text, explanation.distances[found]))
        text = f"distance{'s'[: len(found) > 1]} {sizes}"
        if explanation.optimal is not None and explanation.optimal[row]:
            first = "the first is " if len(found) > 1 else ""
            text += f" ({first}proved to be the nearest)"
        elif explanation.lower_bounds is not None:
            bound = rounded_text(explanation.lower_bounds[row], down=True)
            text += f" (at least {bound} is needed)"
        return text

    def _responses_of(self, row, found):
        """Responses to the row, and to the rows found if they are known."""
        explanation = self.explanation
        values = np.array(explanation.original_predictions[row])[None]
        if len(found) and explanation.predictions is not None:
            values = np.concatenate([values, explanation.predictions[found]])
        return values

    def _answers(self, row, found, values):
        """Classes of the row and of the rows found."""
        before, after = self.explanation.original_answers, self.explanation.answers
        if before is None or after is None:
            return [self.explanation.output_names[k] for k in values.argmax(axis=1)]
        return [*before[[row]].tolist(), *after[found].tolist()]

    def _responses(self, row, found):
        """Name of the response, and texts of its values before and after."""
        names, values = self.explanation.output_names, self._responses_of(row, found)
        if values.ndim == 2 and self.target is None:
            label = response_label("prediction", target_name=self.target_name)
            return label, list(map(value_text, self._answers(row, found, values)))
        output = output_position(names, self.target)
        values = values.reshape(len(values), -1)[:, output]
        return self._response_label(names, output), column_texts(values)
