"""Pipelines that end in a model of trees.

Each feature of the trees is one input column of the pipeline, seen through steps that
work column by column.
"""

from dataclasses import replace

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.provenance import (
    hands_on,
    input_columns,
    n_input_columns,
)
from sklearn_interpret._model.trees.combining import read_part
from sklearn_interpret._model.trees.encoders import ChainedEncoder, StepsEncoder
from sklearn_interpret.exceptions import UnreadableModelError


def _read_pipeline(estimator, read):
    check_is_fitted(estimator)
    model = read_part("last step", estimator.steps[-1][1], read)
    steps = [(name, step) for name, step in estimator.steps[:-1] if not hands_on(step)]
    if not steps:
        return model
    first = Pipeline(steps)
    n_columns = n_input_columns(first)
    if n_columns is None:
        name, step = steps[0]
        raise UnreadableModelError(
            f"its step {name!r} ({type(step).__name__}) does not tell how many columns "
            "it was fitted on."
        )
    columns = input_columns(first, n_columns)
    if len(columns) != model.n_columns:
        raise UnreadableModelError(
            f"its last step was fitted on {model.n_columns} columns, and is given "
            f"{len(columns)}."
        )
    return replace(
        model,
        encoder=ChainedEncoder(StepsEncoder(first), model.encoder),
        columns=columns[model.columns],
        n_columns=n_columns,
    )


READERS = {Pipeline: _read_pipeline}
