"""Shares of the trees of an ensemble, each of which is worked on by itself."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class TreeShare:
    """Consecutive trees whose tables are made together.

    Another process gets these trees alone, with nothing of the others.

    Parameters
    ----------
    plan : TreePlan
        The plan that the share is of.
    game : CoverGame or BackgroundGame
        What stands in for absent players.
    units : list of (TreeUnits, ndarray of shape (n_parts + 1,))
        Units of the trees, single deep leaves last, and where those of each of the
        share's parts start.
    trees : slice
        Which of the ensemble's trees.
    """

    plan: object
    game: object
    units: list
    trees: slice

    def __getstate__(self):
        """The share of a plan that knows its trees only."""
        ensemble = self.plan.ensemble
        ends = np.append(ensemble.roots, ensemble.n_nodes)
        nodes = slice(int(ends[self.trees.start]), int(ends[self.trees.stop]))
        ensemble = _of_ensemble(ensemble, self.trees, nodes)
        paths = _of_paths(self.plan.paths, nodes)
        none = np.empty(0, dtype=np.intp)
        plan = replace(
            self.plan,
            ensemble=ensemble,
            paths=paths,
            cut=None,
            part_of_tree=none,
            share_of_part=none,
            _direct={},
        )
        return {
            "plan": plan,
            "game": self.game.of_nodes(ensemble, paths, nodes),
            "units": [(_of_units(part, nodes), edges) for part, edges in self.units],
            "trees": slice(0, ensemble.n_trees),
        }


def _shifted(numbers, nodes):
    """Nodes as they are numbered in a part; those below zero stay."""
    return np.where(numbers < 0, numbers, numbers - nodes.start)


def _of_ensemble(ensemble, trees, nodes):
    """An ensemble of some of the trees, which compares the same codes."""
    codes = ensemble.split_codes
    by_node = (
        "feature",
        "threshold",
        "missing_left",
        "category_set",
        "value",
        "cover",
    )
    return replace(
        ensemble,
        roots=ensemble.roots[trees] - nodes.start,
        left=_shifted(ensemble.left[nodes], nodes),
        right=_shifted(ensemble.right[nodes], nodes),
        **{name: getattr(ensemble, name)[nodes] for name in by_node},
        # Rows come as codes: nothing is compared with thresholds any more.
        whole_codes=replace(
            codes,
            thresholds=(),
            rank=codes.rank[nodes],
            missing_at=codes.missing_at[nodes],
        ),
    )


def _of_paths(paths, nodes):
    """Paths of some trees, given by the range of their nodes."""
    n_conditions = paths.n_conditions[nodes]
    starts = np.cumsum(n_conditions) - n_conditions
    node = np.repeat(np.arange(nodes.start, nodes.stop), n_conditions)
    slots = np.arange(len(node)) - np.repeat(starts, n_conditions)
    places = paths.starts[node] + slots * paths.strides[node]
    return replace(
        paths,
        player=paths.player[nodes],
        previous=_shifted(paths.previous[nodes], nodes),
        slot=paths.slot[nodes],
        n_conditions=n_conditions,
        starts=starts,
        strides=np.ones_like(starts),
        conditions=paths.conditions[places] - nodes.start,
    )


def _of_units(units, nodes):
    """Units whose nodes are numbered as in a part."""
    moved = {
        name: getattr(units, name) - nodes.start
        for name in ("root", "splits", "leaves")
    }
    return replace(units, **moved)
