"""Losses of the rows of `fit`, of models that have not seen them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.responses.row_losses import RowLoss

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


def losses_of_sample(
    inspector: Any, sample: Sample, row_loss: RowLoss
) -> NDArray[np.float64]:
    """Loss of each row of the sample of an inspector, NaN for rows in no fold.

    It is held out, by clones of the model, unless that is frozen.
    """
    rows, y = sample.rows, sample.y
    if inspector._is_frozen:
        return losses_of_rows(row_loss, rows, y)
    splits = inspector._splits(sample, y, inspector.cv)
    tasks = [
        (
            inspector._clone(),
            row_loss.loss,
            (rows.take(train).native, y[train]),
            inspector._fit_parameters(sample.index[train]),
            (rows.take(test), y[test]),
        )
        for train, test in splits
    ]
    # A row may be in several folds: it has the mean of their losses.
    sums_of_losses, n_folds = np.zeros(rows.n_rows), np.zeros(rows.n_rows)
    held_out_losses = run(_held_out_losses, tasks, n_jobs=inspector.n_jobs)
    for (_, test), losses in zip(splits, held_out_losses, strict=True):
        sums_of_losses[test] += losses
        n_folds[test] += 1
    return np.divide(
        sums_of_losses, n_folds, out=np.full(rows.n_rows, np.nan), where=n_folds > 0
    )


def losses_of_rows(
    row_loss: RowLoss, rows: Rows, y: NDArray[Any]
) -> NDArray[np.float64]:
    """Loss of each row, (n_rows,)."""
    responses = plain_responses(row_loss.response, rows)
    targets = row_loss.targets(y, responses.shape[1])
    losses = row_loss(targets, responses[:, None])[:, 0]
    if not np.isfinite(losses).all():
        row = np.flatnonzero(~np.isfinite(losses))[0]
        raise ValueError(f"loss is {losses[row]} for row {row}: it must be finite.")
    return losses


def _held_out_losses(
    estimator: BaseEstimator,
    loss: str | Callable[..., Any],
    train: tuple[Any, NDArray[Any]],
    fit_params: dict[str, Any],
    test: tuple[Rows, NDArray[Any]],
) -> NDArray[np.float64]:
    """Losses of the test rows, of the estimator fitted to the training rows."""
    model = estimator.fit(*train, **fit_params)
    return losses_of_rows(RowLoss.of_model(loss, model), *test)
