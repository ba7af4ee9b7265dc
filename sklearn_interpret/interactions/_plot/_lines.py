"""What stands on the lines of a display of interactions, and how it is named."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.bars import ranked
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal, shorten

JOIN = " \N{MULTIPLICATION SIGN} "
LABEL_WIDTH = 30
TWO_LINES_PITCH = 0.3  # inches


@dataclass(frozen=True)
class Group:
    """Lines of one kind, the strongest first.

    Parameters
    ----------
    title : str
        What they are.
    names : list of tuple of str
        One name, or those of a pair.
    values : ndarray of shape (n_lines,)
        Strengths.
    spreads : ndarray of shape (n_lines,) or None
        Standard deviations, NaN for the line of the others.
    n_others : int
        Number of those that share the last line, which is their mean.
    """

    title: str
    names: list
    values: np.ndarray
    spreads: np.ndarray | None
    n_others: int

    def __len__(self):
        return len(self.names)


def known_pairs(pairwise):
    """Positions (n_pairs, 2) of the pairs j < k that have a strength."""
    upper = np.triu(np.ones_like(pairwise, dtype=bool), 1)
    return np.argwhere(upper & ~np.isnan(pairwise))


def make_group(title, names, values, spreads, max_display):
    """The strongest of them, and one line for the mean of the others."""
    shown, rest = ranked(values, max_display)
    names = [names[place] for place in shown]
    kept = values[shown]
    spreads = None if spreads is None else spreads[shown]
    if len(rest):
        names.append((f"mean of {len(rest)} others",))
        kept = np.append(kept, values[rest].mean())
        spreads = None if spreads is None else np.append(spreads, np.nan)
    return Group(title, names, kept, spreads, len(rest))


def name_lines(ax, groups):
    """Name the lines of all groups, with one left free between two groups.

    Returns
    -------
    list of ndarray
        Places of the lines of each group, the first on top.
    """
    n_lines = sum(map(len, groups)) + len(groups) - 1
    width, height = axes_inches(ax)
    pitch = height / n_lines
    most = int(np.clip(width * CHARACTERS_PER_INCH / 2.5, 20, LABEL_WIDTH))
    places, top = [], n_lines - 1
    for group in groups:
        places.append(top - np.arange(len(group), dtype=np.float64))
        top -= len(group) + 1
    texts = [
        _text(name, most, two_lines=pitch >= TWO_LINES_PITCH)
        for group in groups
        for name in group.names
    ]
    small = "small" if pitch < TWO_LINES_PITCH else None
    ax.set_yticks(np.concatenate(places), texts, fontsize=small)
    ax.set_ylim(-0.6, n_lines - 0.4)
    ax.tick_params(axis="y", length=0)
    return places


def _text(name, most, *, two_lines):
    """One name, or two joined, that fit on a line or on two."""
    if len(JOIN.join(name)) <= most or len(name) == 1:
        return literal(shorten(JOIN.join(name), most))
    if two_lines:
        first, second = (shorten(part, most - 2) for part in name)
        return literal(f"{first}{JOIN.rstrip()}\n{second}")
    room = most - len(JOIN)
    short = min(map(len, name))
    halves = room // 2 if short > room // 2 else room - short
    return literal(JOIN.join(shorten(part, max(halves, 4)) for part in name))
