"""What all displays of effects share: panels on axes, labels and legends."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from sklearn_interpret._plotting.axes import Slot, add_legend, take_axes

ERROR_BAND = "± 2 standard errors"


class PanelDisplay(ABC):
    """Base of displays that are made of panels."""

    _band_text = ERROR_BAND

    @abstractmethod
    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame."""

    def _render(self, panels, ax, looks, *, n_cols, share_y):
        """Draw pairs (panel, panel below or None); set figure, axes and artists."""
        slots = [
            Slot(below is not None, panel.has_bar, panel.has_levels)
            for panel, below in panels
        ]
        canvas = take_axes(
            ax, slots, n_columns=n_cols, caller=f"{type(self).__name__}.plot"
        )
        main = [panel for panel, _ in panels]
        artists = [p.draw(one, looks) for p, one in zip(main, canvas.main, strict=True)]
        lower = [
            None if panel is None else panel.draw(one, looks)
            for (_, panel), one in zip(panels, canvas.below, strict=True)
        ]
        alike = [one for p, one in zip(main, canvas.main, strict=True) if p.shares_y]
        if share_y and len(alike) > 1:
            limits = np.array([one.get_ylim() for one in alike])
            for one in alike:
                one.set_ylim(limits.min(), limits.max())
        self._label(panels, canvas, share_y)
        self.figure_, self.axes_ = canvas.figure, canvas.axes
        self._publish(artists, lower)
        self.legend_ = add_legend(canvas, *self._legend_entries(main, artists))
        return canvas

    def _label(self, panels, canvas, share_y):
        for place, (panel, below) in enumerate(panels):
            ax, lower = canvas.main[place], canvas.below[place]
            arranged = canvas.starts_row is not None
            leads = not (
                arranged
                and panel.shares_y
                and not canvas.starts_row[place]
                and panels[place - 1][0].shares_y
            )
            panel.label(ax, with_y=leads)
            if arranged:
                panel.tidy_numbers(ax)
                if share_y and not leads:
                    ax.tick_params(labelleft=False)
            if below is not None:
                below.label(lower, with_y=leads)
                if arranged:
                    ax.set_xlabel("")
                    ax.tick_params(labelbottom=False)

    def _publish(self, artists, lower):
        self.lines_ = [drawn.lines for drawn in artists]
        self.bands_ = [drawn.bands for drawn in artists]
        self.fold_lines_ = [drawn.folds for drawn in artists]
        self.rug_ = [drawn.rug for drawn in artists]

    def _legend_entries(self, panels, artists):
        """Handles and labels, read off the first panel of lines."""
        for panel, drawn in zip(panels, artists, strict=True):
            if panel.shares_y and drawn.lines:
                break
        else:
            return [], []
        handles, labels = [], []
        if len(drawn.lines) > 1:
            handles += drawn.lines
            labels += [str(series.label) for series in panel.series]
        elif drawn.folds:
            handles.append(drawn.lines[0])
            labels.append("mean of the folds' models")
        if drawn.folds:
            handles.append(drawn.folds[0][0])
            labels.append(f"{len(drawn.folds[0])} folds")
        if drawn.bands:
            handles.append(drawn.bands[0])
            labels.append("± 1 std over folds" if drawn.folds else self._band_text)
        return handles, labels
