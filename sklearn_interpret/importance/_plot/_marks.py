"""Lines of a display of importances, and the bars, boxes and spreads on them."""

from dataclasses import dataclass, field

import numpy as np

from sklearn_interpret._plotting.bars import (
    draw_bars,
    draw_boxes,
    draw_spreads,
    grey_last,
    others_text,
    ranked,
    side_by_side,
)
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    colours,
    ink,
    paper,
    seen,
)

PALE = 0.35
NULL_STYLE = {"linewidth": 2.2, "zorder": 2.5}
FOLD_STYLE = {"s": 14, "linewidth": 0.8, "zorder": 3}


@dataclass(frozen=True)
class Lines:
    """The numbers of the lines of a display, the first on top."""

    names: list  # what stands beside each line
    samples: list  # (n_lines, n_draws): the draws of each sample of rows
    # Importances without a relation to the targets (n_lines, n_permutations).
    null: np.ndarray | None
    pvalues: np.ndarray | None  # (n_lines,): NaN for the line of the others
    n_others: int  # number of features that share the last line

    def __len__(self):
        return len(self.names)

    @property
    def places(self):
        """Positions of the lines."""
        return np.arange(len(self.names))[::-1]


def line_order(samples, no_effect, max_entries):
    """Features from the largest down, and those that are too weak to be shown.

    A feature is shown for its distance from `no_effect` in one of the `samples` (each
    of shape (p, n_draws)), be it above or below; those shown are ordered by the larger
    of their means.
    """
    means = np.stack([sample.mean(axis=1) for sample in samples])
    shown, others = ranked(np.abs(means - no_effect).max(axis=0), max_entries)
    shown = np.sort(shown)
    return shown[np.argsort(-means.max(axis=0)[shown], kind="stable")], others


def make_lines(names, samples, null, pvalues, *, no_effect, max_entries):
    """The `Lines` of the features that are shown, and one for the mean of the others.

    All are given for all features, `null` as (n_permutations, p).
    """
    shown, others = line_order(samples, no_effect, max_entries)

    def pick(draws):
        if not len(others):
            return draws[shown]
        return np.vstack([draws[shown], draws[others].mean(axis=0)])

    names = [names[j] for j in shown]
    if pvalues is not None:
        pvalues = pvalues[shown]
    if len(others):
        names.append(f"mean of {others_text(len(others))}")
        pvalues = None if pvalues is None else np.append(pvalues, np.nan)
    null = None if null is None else pick(null.T)
    return Lines(names, [pick(s) for s in samples], null, pvalues, len(others))


def deviation(draws):
    """Standard deviation of each line's draws, of whatever magnitude these are."""
    scale = np.abs(draws).max(initial=0.0)
    return scale * (draws / scale).std(axis=1) if scale > 0 else np.zeros(len(draws))


@dataclass
class Marks:
    """Artists of a display of importances, and how far they reach."""

    bars: list = field(default_factory=list)  # of each sample, bars or boxes
    # Of each sample, lines for the spread, or the whiskers of the boxes.
    spreads: list = field(default_factory=list)
    # Of each sample, its folds; beside boxes of a null distribution, the importances.
    points: list = field(default_factory=list)
    null: object = None  # the null distribution
    ends: list = field(default_factory=list)  # places that the axis must hold


def mark_means(ax, lines, *, no_effect, alpha, as_points, style):
    """Bars for the means, with their spread; a null distribution as a line on them.

    Bars of p-values that are not below `alpha` are pale. Draws are shown `as_points` or
    by their standard deviation.
    """
    from matplotlib.patheffects import withStroke

    marks = Marks()
    offsets, height = side_by_side(len(lines.samples))
    palette = colours(len(lines.samples))
    for offset, draws, colour in zip(offsets, lines.samples, palette, strict=True):
        places, means = lines.places + offset, draws.mean(axis=1)
        lengths = means - no_effect
        bars = draw_bars(
            ax, places, lengths, colour, style, height=height, starts=no_effect
        )
        _mute(bars, lines, alpha)
        marks.bars.append(bars)
        marks.ends.append(means)
        n_draws = draws.shape[1]
        if n_draws == 1:
            continue
        if as_points:
            at = np.repeat(places, n_draws)
            looks = {"facecolor": paper(ax), "edgecolor": ink(ax), **FOLD_STYLE}
            marks.points.append(ax.scatter(draws.ravel(), at, **looks))
            marks.ends += [draws.min(axis=1), draws.max(axis=1)]
        else:
            low, high = means - deviation(draws), means + deviation(draws)
            marks.spreads.append(draw_spreads(ax, places, low, high))
            marks.ends += [low, high]
    if lines.null is not None:
        tail = 0.05 if alpha is None else alpha
        low, high = np.quantile(lines.null, [tail, 1 - tail], axis=1)
        # To stand out against the bars.
        edge = [withStroke(linewidth=5, foreground=paper(ax))]
        looks = {"color": ink(ax), "path_effects": edge, **NULL_STYLE}
        marks.null = ax.hlines(lines.places, low, high, **looks)
        marks.ends += [low, high]
    return marks


def _mute(bars, lines, alpha):
    """Pale bars for what is not significant, a grey one for the others."""
    if lines.pvalues is not None and alpha is not None:
        for patch, pvalue in zip(bars.patches, lines.pvalues, strict=True):
            if pvalue >= alpha:
                patch.set_alpha(PALE)
    if lines.n_others and len(lines.samples) == 1:
        grey_last(bars)


def mark_quartiles(ax, lines, *, style):
    """Boxes from quartile to quartile, with whiskers to the smallest and largest draw.

    Where there is a null distribution the boxes are its, and points the importances.
    """
    marks = Marks()
    samples, shades = lines.samples, colours(len(lines.samples))
    if lines.null is not None:
        samples, shades = [lines.null], [NEUTRAL_COLOUR]
    offsets, height = side_by_side(len(samples))
    for offset, draws, colour in zip(offsets, samples, shades, strict=True):
        quartiles = np.quantile(draws, [0, 0.25, 0.5, 0.75, 1], axis=1)
        boxes, whiskers = draw_boxes(
            ax, lines.places + offset, quartiles, colour, style, height=height
        )
        marks.bars.append(boxes)
        marks.spreads.append(whiskers)
        marks.ends += [quartiles[0], quartiles[-1]]
    if lines.null is not None:
        marks.null = marks.bars[0]
        for draws in lines.samples:
            means = draws.mean(axis=1)
            looks = {"s": 30, "marker": "D", "zorder": 3}
            looks["color"] = seen(colours(1)[0], ax)
            marks.points.append(ax.scatter(means, lines.places, **looks))
            marks.ends.append(means)
    return marks
