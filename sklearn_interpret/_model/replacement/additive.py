"""Models that are sums of what each player adds to a row.

With a player's values from another row, the sum loses what the player adds to the row
and gains what it adds to the other one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_interpret._model.linear import explained_linear
from sklearn_interpret._model.replacement.replaced import plain_responses
from sklearn_interpret._model.rows.arrays import as_rows


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """A model of a sample's rows.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows, n_outputs)
        Responses to the rows.
    sums : ndarray of shape (n_rows, k)
        The responses themselves, or a function that is positive where the response is
        the second of two classes.
    part : callable
        What a player adds to the sums of the rows, up to a constant: (n_rows, k).
    """

    predictions: np.ndarray
    sums: np.ndarray
    part: Callable


def additive_trees(trees):
    """`HybridTrees` as an `AdditiveModel`, or None: see `adds_players`."""
    if not trees.adds_players:
        return None
    return AdditiveModel(trees.predictions, trees.predictions, trees.alone)


def additive_linear(response, rows, players):
    """A linear model as an `AdditiveModel`, or None.

    The response is `predict`, as numbers or as two classes; each column belongs to one
    of the `players`.
    """
    has_classes = response.classes is not None
    method = "decision_function" if has_classes else "predict"
    try:
        explained = explained_linear(response.estimator, method)
        part = _linear_part(explained.model, rows, players)
        furthest = _furthest_rows(rows, players, part)
        explained.check(rows)
        explained.check(furthest)
    # The columns of a model that can't be read may be no numbers, too.
    except (TypeError, ValueError):
        return None
    sums = predictions = plain_responses(explained.response, rows)
    if has_classes:
        predictions = plain_responses(response, rows)
        if not np.array_equal(predictions, sums > 0):
            return None
    return AdditiveModel(predictions, sums, part)


def _linear_part(model, rows, players):
    """Function of a player: what it adds to the rows, (n_rows, k)."""
    derived = model.derived(rows.native)
    derived = derived.tocsc() if issparse(derived) else derived
    members = [np.flatnonzero(np.isin(model.columns, own)) for own in players]
    return lambda j: derived[:, members[j]] @ model.coefficients[members[j]]


def _furthest_rows(rows, players, part):
    """Rows with the largest and smallest sums that values of the rows can make.

    A model that cuts its sums off may be linear on the rows, and is not on these.
    """
    parts = map(part, range(len(players)))
    places = [np.append(own.argmax(axis=0), own.argmin(axis=0)) for own in parts]
    donors = {j: places[player] for player, own in enumerate(players) for j in own}
    return as_rows(rows.mixed(np.zeros_like(places[0]), donors))
