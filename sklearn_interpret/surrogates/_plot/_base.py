"""Base of the displays of local surrogates: their arrays and their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._plotting.curves import note_empty
from sklearn_interpret._plotting.displays import OneRowDisplay
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.ranked_bars import draw_ranked_bars
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.surrogates._lime_text import highlight
from sklearn_interpret.surrogates._local_explanation import (
    LocalExplanation,
    r_squared_text,
)

if TYPE_CHECKING:
    from matplotlib.container import BarContainer

    from sklearn_interpret._plotting.axes import Style

# Largest number of outputs drawn side by side if none is chosen, and number of outputs
# drawn if there are more.
MAX_OUTPUTS = 6
N_LARGEST_OUTPUTS = 3
N_ERRORS = 2.0  # length of error lines to each side: about 95 % of normal errors


@dataclass(frozen=True, eq=False)
class Weights:
    """Features and their weights, in the order in which they are drawn."""

    features: np.ndarray  # (n,): positions of the features
    names: np.ndarray  # (n,): words, conditions or features
    weights: np.ndarray
    errors: np.ndarray  # standard errors, NaN where they are not known

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, mask: NDArray[np.bool_] | slice) -> Weights:
        arrays = self.features, self.names, self.weights, self.errors
        return Weights(*(array[mask] for array in arrays))


def largest_weight(weights: list[Weights]) -> float:
    """Largest absolute weight of several outputs."""
    return max(
        float(np.abs(output_weights.weights).max(initial=0.0))
        for output_weights in weights
    )


class LocalDisplay(OneRowDisplay):
    """Base of the displays of one surrogate each."""

    _explanation_kind: ClassVar[type[LocalExplanation]] = LocalExplanation

    def _outputs(self) -> list[int]:
        """Positions of the outputs that are drawn; of many the largest responses."""
        names = self.explanation.output_names
        if self.target is not None:
            return [output_position(names, self.target)]
        if len(names) <= MAX_OUTPUTS:
            return list(range(len(names)))
        return self._largest_outputs(N_LARGEST_OUTPUTS)

    def _largest_outputs(self, n: int) -> list[int]:
        """Positions of the outputs of the largest responses to the sample."""
        responses = self.explanation[self._position()].predictions_or_sums.reshape(-1)
        return np.argsort(-responses, kind="stable")[:n].tolist()

    def _note(self, output: int) -> str:
        """A line below the first panel about outputs without a panel."""
        outputs = self._outputs()
        n_hidden = len(self.explanation.output_names) - len(outputs)
        if self.target is not None or not n_hidden or output != outputs[0]:
            return ""
        return f"\n({n_hidden} outputs of smaller responses are not shown)"

    def _weights(self, row: int, output: int) -> Weights:
        """Effects of the selected features, the largest first."""
        explanation = self.explanation

        def take_output(array: NDArray[Any]) -> NDArray[Any]:
            return array[row] if array.ndim == 2 else array[row, :, output]

        effects = take_output(explanation.effects)
        selected = take_output(explanation.selected)
        errors = np.full(len(effects), np.nan)
        if explanation.standard_errors is not None:
            errors = take_output(explanation.standard_errors) * explanation.scales
        order = np.argsort(-np.abs(effects), kind="stable")
        order = order[selected[order]]
        names = np.array(self._names_of(row), dtype=object)
        return Weights(order, names[order], effects[order], errors[order])

    def _draw_bars(
        self,
        axes: NDArray[Any],
        outputs: list[int],
        weights: list[Weights],
        style: Style | None,
        *,
        kind: str,
        max_entries: int | None,
        names: Callable[[str], str] = str,
        fonts: Sequence[str] = (),
    ) -> None:
        """Draw the weights of each output as bars, all on one scale.

        Weights that are only rounding errors are drawn as zero. `kind` has weights:
        "words" or "features". ``names(name)`` is the text of a name, in the `fonts`.
        """
        largest, lengths, margins = largest_weight(weights), [], []
        for output_weights in weights:
            is_visible = np.array(
                [highlight(x, largest) > 0 for x in output_weights.weights], bool
            )
            lengths.append(np.where(is_visible, output_weights.weights, 0.0))
            errors = np.nan_to_num(output_weights.errors)
            margins.append(N_ERRORS * errors * is_visible)
        reach = max(
            (np.abs(bar_lengths) + error_lengths).max(initial=0.0)
            for bar_lengths, error_lengths in zip(lengths, margins, strict=True)
        )
        self.bars_: list[BarContainer] = []
        self.errors_: list[Any] = []
        for k, (ax, output, output_weights) in enumerate(
            zip(axes, outputs, weights, strict=True)
        ):
            shown, label = slice(max_entries), self._label(output)
            if not len(output_weights):
                note_empty(ax, f"no {kind}")
                ax.set(ylim=(-0.6, 0.6), xticks=[], yticks=[])
                self.bars_.append(ax.barh([], []))
                self.errors_.append(None)
                continue
            texts = list(map(names, output_weights.names[shown]))
            bars, error_lines = draw_ranked_bars(
                ax,
                texts,
                lengths[k][shown],
                style,
                reach=reach,
                margins=margins[k][shown],
            )
            for tick in ax.get_yticklabels() if fonts else []:
                tick.set_fontfamily(fonts)
            if error_lines is not None:
                label += "\n(thin lines: ±2 standard errors)"
            if len(texts) < len(output_weights):
                label += (
                    f"\n({len(output_weights) - len(texts)} weaker {kind} have no bar)"
                )
            ax.set_xlabel(literal(label + self._note(output)))
            self.bars_.append(bars)
            self.errors_.append(error_lines)

    def _weights_frame(self, columns: Callable[..., Any]) -> Any:
        """A table with lines for each output: `columns(row, weights)`."""
        row = self._position()
        blocks = []
        for output in self._outputs():
            weights = self._weights(row, output)
            names = [self.explanation.output_names[output]] * len(weights)
            blocks.append({"output": names, **columns(row, weights)})
        return self._frame(*blocks)

    def _label(self, output: int) -> str:
        """Label of the axis along which the bars are drawn."""
        return self._response(output)

    def _names_of(self, row: int) -> Sequence[str]:
        """A name for each feature of a sample."""
        return self.explanation.feature_names

    def _response(self, output: int) -> str:
        """The response drawn, with its output where there are several."""
        names = self.explanation.output_names
        return self._response_label(names, output)

    @property
    def _most_letters(self) -> int:
        """Characters of a response's name; panels side by side are narrower."""
        return 48 if len(self._outputs()) == 1 else 36

    def _title(self, row: int, output: int) -> str:
        """The model's response, and how well the surrogate follows it: two lines."""

        def texts_of(field: str, text: Callable[..., Any]) -> list[Any]:
            array = getattr(self.explanation, field)
            return [] if array is None else [text(np.ravel(array[row])[output])]

        response = self._append_row_name(self._response(output))
        first_line = [shorten(response, self._most_letters)]
        first_line += texts_of("predictions", number_text)
        second_line = texts_of(
            "local_predictions", lambda number: f"surrogate = {number_text(number)}"
        )
        second_line += texts_of("fidelity", lambda r2: f"local {r_squared_text(r2)}")
        return f"{': '.join(first_line)}\n{', '.join(second_line)}"
