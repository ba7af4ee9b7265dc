"""Models without some of their training rows: by refits, or by exact formulas.

`make_deletions` chooses: linear scores by Newton's steps, nearest neighbours by the
next ones, naive Bayes by its counts, and else refits. Results have the same methods:
`baseline`, the responses of the model of all rows; `responses`, those without each list
of rows; and `parameters`, where the model has some.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures

from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret._model.formulas.column_lineage import fitted_transformers
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.gradients.functions import numbers_of
from sklearn_interpret._model.leave_out.class_counts import counts_without
from sklearn_interpret._model.leave_out.linear_scores import (
    ScoresWithout,
    score_model_without,
)
from sklearn_interpret._model.leave_out.nearest_neighbors import (
    NeighborsWithout,
    neighbors_without,
)
from sklearn_interpret._model.leave_out.refits import ModelsWithout, refit_without
from sklearn_interpret._model.leave_out.training import (
    Training,
    leave_rows_of_each_label,
    transform_by_steps,
)
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.predictors import is_classifier, tags_of
from sklearn_interpret._model.responses.response import Response
from sklearn_interpret._model.rows.base import Rows, copy_of

# Differences of columns below this share are rounding.
_ROUNDING = 1e-9


def make_deletions(
    training: Training,
    response: Response,
    deleted: list[NDArray[np.intp]],
    *,
    n_jobs: int | None = None,
) -> ScoresWithout | NeighborsWithout | ModelsWithout:
    """The model without each of some lists of rows, the fastest exact way.

    Parameters
    ----------
    training : Training
        The model and its rows.
    response : Response
        Response of the model.
    deleted : list of ndarray of int
        Positions of the rows that are left out together.
    n_jobs : int or None, default=None
        Workers.

    Returns
    -------
    ScoresWithout, NeighborsWithout or ModelsWithout
    """
    steps, model = steps_and_model(training.fitted)
    has_one_target = training.y.ndim == 1 or not is_classifier(model)
    if (
        has_one_target
        and are_row_wise(steps, training.rows, deleted)
        and isinstance(response.method, str)
        and training.keeps_classes(deleted)
    ):
        for read in (score_model_without, neighbors_without, counts_without):
            deletions = read(training, response, deleted)
            if deletions is not None:
                return deletions
    tasks = [(training, rows) for rows in deleted]
    models = list(run(refit_without, tasks, n_jobs=n_jobs))
    return ModelsWithout(training.fitted, models, n_jobs=n_jobs)


def are_row_wise(
    steps: Pipeline | None, rows: Rows, deleted: list[NDArray[np.intp]]
) -> bool:
    """Whether steps transform each row on its own, and the same in any fit."""
    if steps is None:
        return True
    X = copy_of(rows.native)
    for step in steps:
        if not _is_unchanged(step, X, deleted):
            return False
        X = X if isinstance(step, str) else step.transform(X)  # "passthrough"
    # A function may see all rows: half of them are then transformed in another way.
    half = rows.sliced(slice((rows.n_rows + 1) // 2))
    transformed_rows = numbers_of(transform_by_steps(steps, rows.native))
    transformed_half = numbers_of(transform_by_steps(steps, half.native))
    return np.allclose(
        transformed_rows[: len(transformed_half)],
        transformed_half,
        rtol=_ROUNDING,
        equal_nan=True,
    )


def _is_unchanged(
    step: BaseEstimator | str, X: Any, deleted: list[NDArray[np.intp]]
) -> bool:
    """Whether a transformer is the same, fitted without each of some lists of rows."""
    if isinstance(step, FrozenEstimator | str) or type(step) is PolynomialFeatures:
        return True
    if type(step) is ColumnTransformer:
        fitted = fitted_transformers(step)
        return all(
            _is_unchanged(transformer, safe_indexing(X, columns, axis=1), deleted)
            for _, transformer, columns in fitted
        )
    if type(step) in (OneHotEncoder, OrdinalEncoder):
        return _keeps_levels(step, X, deleted)
    return not tags_of(step).requires_fit


def _keeps_levels(
    encoder: BaseEstimator, X: Any, deleted: list[NDArray[np.intp]]
) -> bool:
    """Whether all levels that an encoder has found are found without some rows."""
    if encoder.max_categories is not None or encoder.min_frequency is not None:
        return False
    codes = OrdinalEncoder(encoded_missing_value=-1).fit_transform(X).T
    labels = [np.unique(column, return_inverse=True)[1] for column in codes]
    all_rows = np.ones(codes.shape[1], dtype=bool)
    return all(leave_rows_of_each_label(column, all_rows, deleted) for column in labels)
