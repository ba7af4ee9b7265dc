"""Pipelines that end in a model of trees.

Each feature of the trees is one input column of the pipeline, seen through steps that
work column by column.
"""

from dataclasses import replace

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.column_lineage import first_steps
from sklearn_interpret._model.trees.combining import read_part
from sklearn_interpret._model.trees.encoders import ChainedEncoder, StepsEncoder


def _read_pipeline(estimator, read):
    check_is_fitted(estimator)
    model = read_part("last step", estimator.steps[-1][1], read)
    steps, columns, n_columns = first_steps(estimator, model.n_columns)
    if steps is None:
        return model
    return replace(
        model,
        encoder=ChainedEncoder(StepsEncoder(steps), model.encoder),
        columns=columns[model.columns],
        n_columns=n_columns,
    )


READERS = {Pipeline: _read_pipeline}
