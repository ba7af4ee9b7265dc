"""The last step of a pipeline, and the steps before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from sklearn_interpret._model.formulas.column_lineage import first_steps
from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import computes_as, formula_class
from sklearn_interpret._model.responses.predictors import (
    check_predictor_is_fitted,
    unfrozen,
)
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def steps_and_model(fitted: BaseEstimator) -> tuple[Pipeline | None, BaseEstimator]:
    """Transformers of a pipeline, or None, and its final model."""
    model = unfrozen(fitted)
    if not computes_as(model, Pipeline):
        return None, model
    return (model[:-1] if len(model) > 1 else None), unfrozen(model[-1])


_Step = TypeVar("_Step", bound="LastStep")


@dataclass(frozen=True, eq=False)
class LastStep:
    """A fitted model after steps, if any, that work column by column."""

    model: BaseEstimator
    columns: NDArray[np.intp]  # input column of each column of the model
    n_columns: int  # of the input
    steps: tuple[Any, ...] = ()  # pipelines, or what else transforms rows

    def inputs(self, X: Any) -> Any:
        """Rows as the model gets them: transformed by the steps."""
        X = copy_of(X) if self.steps else X  # steps with copy=False change their input
        for step in self.steps:
            X = step.transform(X)
        return X

    def sum_by_input_column(
        self, values: NDArray[np.float64], axis: int
    ) -> NDArray[np.float64]:
        """Sums over the model's columns that come from each input column."""
        if np.array_equal(self.columns, np.arange(self.n_columns)):
            return values
        values = np.moveaxis(values, axis, 0)
        sums = np.zeros((self.n_columns, *values.shape[1:]))
        np.add.at(sums, self.columns, values)
        return np.moveaxis(sums, 0, axis)


def with_steps_before(pipeline: BaseEstimator, last: _Step) -> _Step:
    """The `LastStep` of a fitted pipeline, from the `LastStep` of its last step."""
    steps, columns, n_columns = first_steps(pipeline, last.n_columns)
    if steps is None:
        return last
    return replace(
        last,
        columns=columns[last.columns],
        n_columns=n_columns,
        steps=(steps, *last.steps),
    )


def last_step(estimator: BaseEstimator, kinds: tuple[type, ...]) -> LastStep:
    """Read a fitted model of some classes, or a pipeline that ends in one.

    Otherwise an UnreadableModelError names the class and those that can be read.
    """
    model = unfrozen(estimator)
    check_predictor_is_fitted(model)
    with errors_in(f"{type(model).__name__} can't be read"):
        known_class = formula_class(model, (Pipeline, *kinds))
    if known_class is Pipeline:
        return with_steps_before(model, last_step(model.steps[-1][1], kinds))
    if known_class is None:
        names = ", ".join(kind.__name__ for kind in kinds)
        raise UnreadableModelError(
            f"{type(model).__name__} is none of {names}, nor a Pipeline that ends in "
            "one of them after steps that work column by column."
        )
    n_columns = model.n_features_in_
    return LastStep(model, np.arange(n_columns), n_columns)
