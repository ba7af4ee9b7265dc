"""A panel of a term: its lines, and partial residuals behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_interpret._plotting.axes import merged_style
from sklearn_interpret._plotting.colours import seen, shade
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.panels.lines import (
    LinePanel,
    level_places,
)
from sklearn_interpret._plotting.points import (
    MANY_POINTS,
    clipped_range,
    jittered,
    point_area,
)

# Of partial residuals, so many in each tail do not widen the axes: those of rare
# classes are huge.
TAIL = 0.01
# Characters of a label beside a panel of a grid.
LABEL_WIDTH = 28


@dataclass(frozen=True)
class TermPanel(LinePanel):
    """Lines along one feature, and partial residuals."""

    # For each line, the feature's values and the residuals.
    residuals: list | None = None
    # Residuals extend the axes by at most this multiple of the range of the lines:
    # those of log-odds are never within one, and would flatten the lines.
    reach: float = np.inf

    def draw(self, ax, looks: Any):
        """Draw on an axes; return the artists."""
        artists = super().draw(ax, looks)
        if self.residuals is not None:
            artists.points = self._draw_residuals(ax, looks.residual_kw, artists)
        return artists

    def _draw_residuals(self, ax, style, artists):
        from matplotlib.collections import PathCollection

        alone, found = len(self.series) == 1, []
        n_points = max(len(values) for _, values in self.residuals)
        lines = zip(self.series, self.residuals, artists.lines, strict=True)
        low, high = ax.dataLim.intervalx if self.across else ax.dataLim.intervaly
        reach, beyond = self.reach * max(high - low, 1.0), False
        for place, (_, (x, y), line) in enumerate(lines):
            looks = {"s": point_area(n_points), "linewidth": 0, "zorder": 1.2}
            looks["color"] = shade(ax, 0.45) if alone else seen(line.get_color(), ax)
            looks |= {"alpha": 0.5, "rasterized": n_points > MANY_POINTS}
            x = jittered(level_places(x, self.levels), place) if self.has_levels else x
            limits = ax.dataLim.frozen()
            points = ax.scatter(
                *((y, x) if self.across else (x, y)),
                **merged_style(looks, style, PathCollection),
            )
            ax.dataLim.set(limits)
            ends = np.clip(clipped_range(y, TAIL), low - reach, high + reach)
            beyond |= (y < ends[0]).any() or (y > ends[1]).any()
            middle = np.full(2, line.get_xydata()[0, int(self.across)])
            pairs = (ends, middle) if self.across else (middle, ends)
            ax.update_datalim(np.transpose(pairs))
            found.append(points)
        ax.autoscale_view()
        text = "residuals, some out of view" if beyond else "partial residuals"
        artists.entries[text] = found[0]
        return found

    def label(self, ax, *, with_y=True):
        """Name the axes; the term also where others to the left have the scale."""
        super().label(ax, with_y=with_y)
        if not with_y and not self.across:
            ax.set_ylabel(literal(self.of))


def term_label(names, dofs):
    """A term with its effective degrees of freedom, as in "s(age, 3.2)"."""
    low, high = (f"{dof:.1f}" for dof in (np.min(dofs), np.max(dofs)))
    dofs = low if low == high else f"{low} to {high}"
    name = shorten(":".join(names), LABEL_WIDTH - len(dofs) - 5)
    return f"s({name}, {dofs})"
