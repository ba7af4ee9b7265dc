"""Panels and tables of displays that have one curve per row, and its slopes."""

from dataclasses import replace

import numpy as np

from sklearn_interpret._plotting.labels import colours
from sklearn_interpret.effects._plot._effect import with_outputs
from sklearn_interpret.effects._plot._frames import curve_columns, effect_columns
from sklearn_interpret.effects._plot._line_panel import LinePanel, SpreadPanel


class CurvePanels:
    """Curves behind averages, one panel per output, and the slopes' spread below."""

    def _curves_of(self, entry):
        """Curves (k, n, G) or (k, n, G1, G2) of an entry."""
        return with_outputs(self.curves[entry], 1 + self._n_axes(entry))

    def _panels(self, effect, entry):
        if len(effect.names) > 1:
            return super()._panels(effect, entry)
        curves = self._curves_of(entry)[:, self.curve_rows_]
        n_outputs = len(curves)
        outputs, palette = self._outputs(n_outputs), colours(n_outputs)
        panels = []
        for output in range(n_outputs):
            series = effect.series(output, outputs[output], palette[output])
            panel = LinePanel(
                effect.names[0],
                [series],
                self._shown(),
                self._of(None if n_outputs > 1 else 0),
                levels=effect.places[0] if effect.levelled[0] else None,
                data=None if effect.data is None else effect.data[0],
                title=outputs[output] if n_outputs > 1 else None,
                curves=curves[output],
            )
            panels.append((panel, self._spread_panel(entry, output, series)))
        return panels

    def _spread_panel(self, entry, output, series):
        spread = _of_entry(self.derivative_std, entry, 1)
        if spread is None:
            return None
        series = replace(series, y=spread[output], low=None, high=None, folds=None)
        return SpreadPanel(self.feature_names[entry], [series], "Std of slopes", "")

    def _publish(self, artists, lower):
        super()._publish(artists, lower)
        self.curves_ = [drawn.curves for drawn in artists]
        self.spread_lines_ = [
            None if drawn is None else drawn.lines[0] for drawn in lower
        ]

    def _frame_blocks(self, entry):
        effect = self._effect(entry)
        outputs = self._outputs(len(effect.values))
        curves = self._curves_of(entry)
        rows = np.arange(curves.shape[1]) if self.rows is None else self.rows
        spread = _of_entry(self.derivative_std, entry, 1)
        slopes = _of_entry(self.derivatives, entry, 2)
        return [
            *effect_columns(effect, outputs, slope_std=spread),
            *curve_columns(effect, outputs, curves, rows, slopes),
        ]


def _of_entry(parts, entry, n_axes):
    """The part of one entry with an axis of outputs, or None where it has none."""
    if parts is None or parts[entry] is None:
        return None
    return with_outputs(parts[entry], n_axes)
