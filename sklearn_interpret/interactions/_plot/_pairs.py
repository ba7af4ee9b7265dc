"""Pairs of features as groups of bars."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.bars import ranked
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    literal,
    shorten,
    shorten_all,
)

JOIN = " \N{MULTIPLICATION SIGN} "
LABEL_WIDTH = 30
TWO_LINES_PITCH = 0.3  # inches


@dataclass(frozen=True)
class Group:
    """Lines of one kind, the strongest first."""

    title: str  # what they are
    names: list  # one name, or those of a pair
    values: np.ndarray  # (n_lines,): strengths
    spreads: np.ndarray  # (n_lines,): standard deviations, NaN where unknown
    n_others: int  # number of those that share the last line, which is their mean

    def __len__(self):
        return len(self.names)

    @property
    def is_spread(self):
        """Whether there are standard deviations."""
        return bool(np.isfinite(self.spreads).any())


def known_pairs(pairwise):
    """Positions (n_pairs, 2) of the pairs j < k that have a strength."""
    upper = np.triu(np.ones_like(pairwise, dtype=bool), 1)
    return np.argwhere(upper & ~np.isnan(pairwise))


def make_group(title, names, values, spreads, max_entries):
    """The strongest of them, and one line for the mean of the others."""
    shown, rest = ranked(values, max_entries)
    names = [names[place] for place in shown]
    kept = values[shown]
    spreads = np.full(len(values), np.nan) if spreads is None else spreads
    spreads = spreads[shown]
    if len(rest):
        names.append((f"mean of {len(rest)} others",))
        kept = np.append(kept, values[rest].mean())
        spreads = np.append(spreads, np.nan)
    return Group(title, names, kept, spreads, len(rest))


def name_lines(ax, groups):
    """Name the lines of all groups, one left free in between; the places of each."""
    n_lines = sum(map(len, groups)) + len(groups) - 1
    width, height = axes_inches(ax)
    two_lines = height / n_lines >= TWO_LINES_PITCH
    most = int(np.clip(width * CHARACTERS_PER_INCH / 2.5, 20, LABEL_WIDTH))
    places, top, texts = [], n_lines - 1.0, []
    for group in groups:
        places.append(top - np.arange(len(group)))
        top -= len(group) + 1
        texts += [_joined(name, most, two_lines=two_lines) for name in group.names]
    names = [JOIN.join(name) for group in groups for name in group.names]
    if len(set(texts)) < len(set(names)):
        texts = list(map(literal, shorten_all(names, most)))
    small = "small" if not two_lines or any("\n" in text for text in texts) else None
    ax.set_yticks(np.concatenate(places), texts, fontsize=small)
    ax.set_ylim(-0.6, n_lines - 0.4)
    # A style's grid would run through the numbers in the rows.
    ax.tick_params(axis="y", length=0, grid_linewidth=0)
    return places


def _joined(names, most, *, two_lines):
    """One name, or two joined, that fit on a line or on two."""
    if len(JOIN.join(names)) <= most or len(names) == 1:
        return literal(shorten(JOIN.join(names), most))
    if two_lines:
        first, second = (shorten(name, most - 2) for name in names)
        return literal(f"{first}{JOIN.rstrip()}\n{second}")
    # A short name leaves its room to the other one.
    room = most - len(JOIN)
    longest = max(room // 2, room - min(map(len, names)))
    return literal(JOIN.join(shorten(name, longest) for name in names))
