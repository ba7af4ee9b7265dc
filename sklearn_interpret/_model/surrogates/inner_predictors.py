"""The predictors inside of a fitted surrogate, and where their columns come from."""

from dataclasses import dataclass

import numpy as np
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


@dataclass(frozen=True)
class Column:
    """A column that a predictor gets, in words."""

    name: str  # of the feature, or of a column computed from several
    category: str | None = None  # whose presence it indicates
    levels: tuple | None = None  # categories whose positions it holds
    whole: bool = False  # whether it holds whole numbers
    order: tuple = ()  # categories of the feature's dtype
    date_dtype: object = None  # of the dates that it holds as days

    def __str__(self):
        return self.name if self.category is None else f"{self.name} = {self.category}"

    def in_order(self, levels):
        """Levels in the order of the dtype, where that has them all."""
        known = set(levels) <= set(self.order)
        return sorted(levels, key=self.order.index) if known else list(levels)


@dataclass(frozen=True)
class InnerPredictor:
    """A fitted predictor, of one output or all, and the transformer before it."""

    transformer: object  # or None
    predictor: object

    def columns_of(self, rows):
        """The columns that the predictor gets, as `Rows`."""
        if self.transformer is None:
            return rows
        return as_rows(self.transformer.transform(rows.native))

    def described(self, rows):
        """A `Column` for each of them."""
        columns = [
            Column(
                str(name),
                whole=rows.is_integer(j),
                order=tuple(map(str, rows.categories(j) or ())),
                date_dtype=rows.date_dtype(j),
            )
            for j, name in enumerate(rows.names)
        ]
        if self.transformer is None:
            return columns
        columns = _transformed(self.transformer, columns)
        n_columns = self.predictor.n_features_in_
        if columns is None or len(columns) != n_columns:
            return [Column(f"column {j}") for j in range(n_columns)]
        return columns


def inner_predictors(surrogate, transformers=()):
    """Predictors inside of pipelines, searches and wrappers: one, or one per output."""
    model = unfrozen(surrogate)
    if hasattr(model, "best_estimator_"):
        return inner_predictors(model.best_estimator_, transformers)
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps[:-1] if not is_passthrough(step)]
        return inner_predictors(model[-1], (*transformers, *steps))
    if isinstance(model, MultiOutputRegressor):
        nested = [inner_predictors(one, transformers) for one in model.estimators_]
        return [inner for predictors in nested for inner in predictors]
    transformer = make_pipeline(*transformers) if transformers else None
    return [InnerPredictor(transformer, model)]


def innermost_name(estimator):
    """Class name of the predictor inside of pipelines, searches and wrappers."""
    return type(inner_predictors(estimator)[0].predictor).__name__


def importances(surrogate, rows, weights):
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


def _column_importances(inner, rows, weights):
    """Importances of the columns that the predictor gets, or None."""
    if getattr(inner.predictor, "coef_", None) is not None:
        sizes = np.abs(coefficient_table(inner.predictor)).mean(axis=0)
        return sizes * column_deviations(inner.columns_of(rows), weights)
    values = getattr(inner.predictor, "feature_importances_", None)
    return None if values is None else np.asarray(values, dtype=np.float64)


def column_deviations(columns, weights):
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


def _transformed(transformer, columns):
    """The output columns of a transformer of these columns; None where not known."""
    transformer = unfrozen(transformer)
    if isinstance(transformer, Pipeline) and len(transformer.steps) == 1:
        transformer = unfrozen(transformer[0])
    if _returns_its_input(transformer):
        return columns
    names = [column.name for column in columns]
    if isinstance(transformer, ColumnTransformer):
        made = []
        for _, part, given in fitted_transformers(transformer):
            of_part = _transformed(part, [columns[j] for j in given])
            if of_part is None:
                return None
            made += of_part
        return made
    if isinstance(transformer, OneHotEncoder):
        return _indicators(transformer, columns)
    if isinstance(transformer, OrdinalEncoder):
        pairs = zip(columns, transformer.categories_, strict=True)
        return [
            Column(column.name, levels=tuple(map(str, levels)), order=column.order)
            for column, levels in pairs
        ]
    made = _output_names(transformer, names)
    return None if made is None else [Column(name) for name in made]


def _returns_its_input(transformer):
    """Whether a transformer leaves its columns as they are."""
    if isinstance(transformer, StandardScaler):
        return not (transformer.with_mean or transformer.with_std)
    # FunctionTransformer's default function is the identity.
    is_identity = getattr(transformer, "func", 0) in (None, as_days)
    return is_passthrough(transformer) or is_identity


def _indicators(encoder, given):
    """A column for each category that has one."""
    # Known prefixes, so that the rest of a name is the category.
    prefixes = [f"x{j}" for j in range(len(given))]
    if hasattr(encoder, "feature_names_in_"):
        prefixes = list(encoder.feature_names_in_)
    made = encoder.get_feature_names_out(prefixes)
    columns = []
    for j, text in zip(input_columns(encoder, len(given)), made, strict=True):
        category = text[len(prefixes[j]) + 1 :]
        if category == "infrequent_sklearn":
            category = "a rare one"
        columns.append(Column(given[j].name, category, order=given[j].order))
    return columns


def _output_names(transformer, names):
    """Names of a transformer's columns; None where these are not known."""
    known = getattr(transformer, "feature_names_in_", names)
    try:
        return list(map(str, transformer.get_feature_names_out(known)))
    except (AttributeError, ValueError, TypeError):
        pass
    try:
        return [names[j] for j in input_columns(transformer, len(names))]
    except UnreadableModelError:
        return None
