"""The predictors inside of a fitted surrogate, and where their columns come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from sklearn_interpret._model.formulas.column_lineage import (
    fitted_transformers,
    input_columns,
    is_passthrough,
)
from sklearn_interpret._model.formulas.linear import coefficient_table
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret._model.rows.arrays import as_days, as_rows
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True)
class Column:
    """A column that a predictor gets, in words."""

    name: str  # of the feature, or of a column computed from several
    category: str | None = None  # whose presence it indicates
    levels: tuple[str, ...] | None = None  # categories whose positions it holds
    is_integer: bool = False  # whether it holds whole numbers
    order: tuple[str, ...] = ()  # categories of the feature's dtype
    date_dtype: np.dtype[Any] | None = None  # of the dates that it holds as days

    def __str__(self) -> str:
        return self.name if self.category is None else f"{self.name} = {self.category}"

    def in_order(self, levels: Sequence[str]) -> list[str]:
        """Levels in the order of the dtype, where that has them all."""
        has_all = set(levels) <= set(self.order)
        return sorted(levels, key=self.order.index) if has_all else list(levels)


@dataclass(frozen=True)
class InnerPredictor:
    """A fitted predictor, of one output or all, and the transformer before it."""

    transformer: Any  # or None
    predictor: Any

    def columns_of(self, rows: Rows) -> Rows:
        """The columns that the predictor gets, as `Rows`."""
        if self.transformer is None:
            return rows
        return as_rows(self.transformer.transform(rows.native))

    def describe_columns(self, rows: Rows) -> list[Column]:
        """A `Column` for each column that the predictor gets."""
        columns = [
            Column(
                str(name),
                is_integer=rows.is_integer(j),
                order=tuple(map(str, rows.categories(j) or ())),
                date_dtype=rows.date_dtype(j),
            )
            for j, name in enumerate(rows.names)
        ]
        if self.transformer is None:
            return columns
        outputs = _describe_outputs(self.transformer, columns)
        n_columns = self.predictor.n_features_in_
        if outputs is None or len(outputs) != n_columns:
            return [Column(f"column {j}") for j in range(n_columns)]
        return outputs


def inner_predictors(
    surrogate: Any, transformers: tuple[Any, ...] = ()
) -> list[InnerPredictor]:
    """Predictors inside of pipelines, searches and wrappers: one, or one per output."""
    model = unfrozen(surrogate)
    if hasattr(model, "best_estimator_"):
        return inner_predictors(model.best_estimator_, transformers)
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps[:-1] if not is_passthrough(step)]
        return inner_predictors(model[-1], (*transformers, *steps))
    if isinstance(model, MultiOutputRegressor):
        nested = [inner_predictors(m, transformers) for m in model.estimators_]
        return list(chain.from_iterable(nested))
    transformer = make_pipeline(*transformers) if transformers else None
    return [InnerPredictor(transformer, model)]


def innermost_name(estimator: Any) -> str:
    """Class name of the predictor inside of pipelines, searches and wrappers."""
    return type(inner_predictors(estimator)[0].predictor).__name__


def importances(
    surrogate: Any, rows: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Importances of features to a surrogate fitted on `Rows`; None if it has none."""
    by_predictor = []
    for inner in inner_predictors(surrogate):
        values = _column_importances(inner, rows, weights)
        origins = np.arange(rows.n_columns)
        if inner.transformer is not None:
            try:
                origins = input_columns(inner.transformer, rows.n_columns)
            except UnreadableModelError:
                return None
        if values is None or len(values) != len(origins):
            return None
        by_predictor.append(np.bincount(origins, values, minlength=rows.n_columns))
    return np.mean(by_predictor, axis=0)


def _column_importances(
    inner: InnerPredictor, rows: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Importances of the columns that the predictor gets, or None."""
    if getattr(inner.predictor, "coef_", None) is not None:
        sizes = np.abs(coefficient_table(inner.predictor)).mean(axis=0)
        return sizes * column_deviations(inner.columns_of(rows), weights)
    values = getattr(inner.predictor, "feature_importances_", None)
    return None if values is None else np.asarray(values, dtype=np.float64)


def column_deviations(
    columns: Rows, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted standard deviation of each of the numeric columns of `Rows`."""
    if sparse.issparse(columns.native):
        entries = columns.native.tocsc().astype(np.float64)
        return np.sqrt(mean_variance_axis(entries, axis=0, weights=weights)[1])
    shares = weights / weights.sum()
    deviations = np.empty(columns.n_columns)
    for j in range(columns.n_columns):
        values = columns.column_array(j).astype(np.float64)
        # Squares of very small or large numbers would leave the range of floats.
        scale = np.abs(values).max() or 1.0
        values = values / scale
        deviations[j] = scale * np.sqrt(shares @ (values - shares @ values) ** 2)
    return deviations


def _describe_outputs(transformer: Any, columns: list[Column]) -> list[Column] | None:
    """The output columns of a transformer of these columns; None where not known."""
    transformer = unfrozen(transformer)
    if isinstance(transformer, Pipeline) and len(transformer.steps) == 1:
        transformer = unfrozen(transformer[0])
    if _returns_its_input(transformer):
        return columns
    names = [column.name for column in columns]
    if isinstance(transformer, ColumnTransformer):
        outputs: list[Column] = []
        for _, member, indices in fitted_transformers(transformer):
            member_outputs = _describe_outputs(member, [columns[j] for j in indices])
            if member_outputs is None:
                return None
            outputs += member_outputs
        return outputs
    if isinstance(transformer, OneHotEncoder):
        return _indicator_columns(transformer, columns)
    if isinstance(transformer, OrdinalEncoder):
        pairs = zip(columns, transformer.categories_, strict=True)
        return [
            Column(column.name, levels=tuple(map(str, levels)), order=column.order)
            for column, levels in pairs
        ]
    output_names = _output_names(transformer, names)
    return None if output_names is None else list(map(Column, output_names))


def _returns_its_input(transformer: Any) -> bool:
    """Whether a transformer leaves its columns as they are."""
    if isinstance(transformer, StandardScaler):
        return not (transformer.with_mean or transformer.with_std)
    # FunctionTransformer's default function is the identity.
    is_identity = getattr(transformer, "func", 0) in (None, as_days)
    return is_passthrough(transformer) or is_identity


def _indicator_columns(encoder: Any, columns: list[Column]) -> list[Column]:
    """A column for each category that has one."""
    # With known prefixes, what follows them in a name is the category.
    prefixes = [f"x{j}" for j in range(len(columns))]
    if hasattr(encoder, "feature_names_in_"):
        prefixes = list(encoder.feature_names_in_)
    names = encoder.get_feature_names_out(prefixes)
    indicators = []
    for j, name in zip(input_columns(encoder, len(columns)), names, strict=True):
        category = name[len(prefixes[j]) + 1 :]
        if category == "infrequent_sklearn":
            category = "a rare one"
        indicators.append(Column(columns[j].name, category, order=columns[j].order))
    return indicators


def _output_names(transformer: Any, names: list[str]) -> list[str] | None:
    """Names of a transformer's columns; None where these are not known."""
    inputs = getattr(transformer, "feature_names_in_", names)
    try:
        return list(map(str, transformer.get_feature_names_out(inputs)))
    except (AttributeError, ValueError, TypeError):
        pass
    try:
        return [names[j] for j in input_columns(transformer, len(names))]
    except UnreadableModelError:
        return None
