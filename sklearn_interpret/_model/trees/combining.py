"""Weighted sums of models that are read one by one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._core.trees.structure.joining import (
    in_float64,
    merged,
    scaled,
    with_features,
    with_outputs,
)
from sklearn_interpret._model.tags import unfrozen
from sklearn_interpret._model.trees.encoders import (
    ArrayEncoder,
    ChainedEncoder,
    StackingEncoder,
)
from sklearn_interpret._model.trees.tree_model import TreeModel
from sklearn_interpret.exceptions import UnreadableModelError


@dataclass(frozen=True, eq=False)
class Member:
    """A model in a sum of models.

    Parameters
    ----------
    model : TreeModel
        The member.
    weight : float
        Its weight in the sum.
    columns : ndarray of int, optional
        The input columns that it is given; all of them by default.
    outputs : ndarray of int, optional
        Where its outputs stand in those of the sum; in their order by default.
    first : callable, optional
        What the sum does to the rows before the member sees them, unless they are
        plain numbers; hashable.
    """

    model: TreeModel
    weight: float = 1.0
    columns: np.ndarray | None = None
    outputs: np.ndarray | None = None
    first: Callable | None = None


def read_part(role, estimator, read):
    """Read a model that is part of another; an error names it and its role."""
    try:
        return read(estimator)
    except UnreadableModelError as error:
        name = type(unfrozen(estimator)).__name__
        raise UnreadableModelError(
            f"its {role} {name} can't be read: {error}"
        ) from error


def combined(members, *, n_columns, n_outputs, **fields):
    """The sum of models as one.

    Members that compare plain numbers share the columns as their features. Any other
    way to encode the rows gets features of its own, side by side with those.

    Parameters
    ----------
    members : list of Member
        At least one.
    n_columns : int
        Number of input columns of the sum.
    n_outputs : int
        Number of its outputs.
    **fields : dict
        All else that the sum's TreeModel needs.

    Returns
    -------
    TreeModel
    """
    ensembles = [_weighted(member, n_outputs) for member in members]
    rules = {(trees.precision, trees.strict) for trees in ensembles}
    if len(rules) > 1:
        ensembles = [in_float64(trees) for trees in ensembles]
    precision = ensembles[0].precision
    blocks, starts, columns, placed = {}, {}, [], []
    for member, trees in zip(members, ensembles, strict=True):
        encoder, made_from, positions = _block(member, n_columns, precision)
        if encoder not in blocks:
            blocks[encoder] = encoder
            starts[encoder] = sum(map(len, columns))
            columns.append(made_from)
        placed.append((trees, starts[encoder] + positions))
    columns = np.concatenate(columns)
    encoders = tuple(blocks)
    return TreeModel(
        ensemble=merged([with_features(*place, len(columns)) for place in placed]),
        encoder=(
            encoders[0] if len(encoders) == 1 else StackingEncoder(encoders, precision)
        ),
        columns=columns,
        n_columns=n_columns,
        cover=_common_cover(members),
        **fields,
    )


def _weighted(member, n_outputs):
    trees = scaled(member.model.ensemble, member.weight)
    if member.outputs is None:
        return trees
    return with_outputs(trees, member.outputs, n_outputs)


def _block(member, n_columns, precision):
    """A member's encoder in the sum, its columns, where its own features stand."""
    model = member.model
    if isinstance(model.encoder, ArrayEncoder):
        encoder = replace(model.encoder, n_columns=n_columns, precision=precision)
        positions = np.arange(n_columns) if member.columns is None else member.columns
        return encoder, np.arange(n_columns), np.asarray(positions)
    encoder = model.encoder
    if member.first is not None:
        encoder = ChainedEncoder(member.first, encoder)
    columns = model.columns
    if member.columns is not None:
        columns = np.asarray(member.columns)[columns]
    return encoder, columns, np.arange(len(columns))


def _common_cover(members):
    covers = {member.model.cover for member in members}
    return covers.pop() if len(covers) == 1 else "mixed"
