"""What a fitted simple model is made of, and which features its columns come from."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from sklearn_interpret._model._sklearn_compat import columns_of_transformers
from sklearn_interpret._model.column_lineage import input_columns, is_passthrough
from sklearn_interpret._model.linear import coefficient_table
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.tags import unfrozen
from sklearn_interpret.exceptions import UnreadableModelError


@dataclass(frozen=True)
class Column:
    """A column that a predictor gets, as a reader would call it.

    Parameters
    ----------
    name : str
        Of the feature, or of what was made of several.
    category : str or None
        The category whose presence it tells.
    levels : tuple of str or None
        The categories whose positions it holds.
    whole : bool
        Whether it holds whole numbers.
    """

    name: str
    category: str | None = None
    levels: tuple | None = None
    whole: bool = False

    def __str__(self):
        return self.name if self.category is None else f"{self.name} = {self.category}"


@dataclass(frozen=True)
class Part:
    """A predictor, and the steps before it.

    Parameters
    ----------
    before : fitted transformer or None
        What makes its columns.
    last : fitted predictor
        It, for one output or for all.
    """

    before: object
    last: object

    def columns_of(self, rows):
        """The rows as the predictor gets them, as `Rows`."""
        if self.before is None:
            return rows
        return as_rows(self.before.transform(rows.native))

    def described(self, rows):
        """What each of these columns is."""
        names = [str(name) for name in rows.names]
        if self.before is None:
            whole = [rows.is_integer(j) for j in range(rows.n_columns)]
            return [Column(n, whole=w) for n, w in zip(names, whole, strict=True)]
        columns = _described(self.before, names, rows)
        n_columns = self.last.n_features_in_
        if columns is None or len(columns) != n_columns:
            return [Column(f"column {j}") for j in range(n_columns)]
        return columns


def parts_of(surrogate):
    """The predictors that a fitted surrogate is made of.

    Parameters
    ----------
    surrogate : fitted estimator
        Pipelines, searches and predictors of one output each are looked into.

    Returns
    -------
    list of Part
        One for all outputs, or one for each.
    """
    model, steps = unfrozen(surrogate), []
    while True:
        if hasattr(model, "best_estimator_"):
            model = unfrozen(model.best_estimator_)
        elif isinstance(model, Pipeline):
            steps += [step for step in model.steps[:-1] if not is_passthrough(step[1])]
            model = unfrozen(model[-1])
        else:
            break
    if not isinstance(model, MultiOutputRegressor):
        return [Part(_joined(steps), model)]
    inner = [part for one in model.estimators_ for part in parts_of(one)]
    return [Part(_joined([*steps, *_steps(p.before)]), p.last) for p in inner]


def innermost_name(estimator):
    """Name of the class that predicts, inside of pipelines, searches and frost."""
    return type(parts_of(estimator)[0].last).__name__


def _steps(before):
    if before is None:
        return []
    return before.steps if isinstance(before, Pipeline) else [("inner", before)]


def _joined(steps):
    if not steps:
        return None
    if len(steps) == 1:
        return steps[0][1]
    return Pipeline([(f"{place}", step) for place, (_, step) in enumerate(steps)])


def importances(surrogate, rows, weights):
    """Importance of each feature to a fitted surrogate.

    Parameters
    ----------
    surrogate : fitted estimator
        The surrogate.
    rows : Rows
        What it was fitted on.
    weights : ndarray of shape (n_rows,)
        Their weights.

    Returns
    -------
    ndarray of shape (n_columns,), or None
        None where it has none of each feature.
    """
    found = []
    for part in parts_of(surrogate):
        values = _own(part, rows, weights)
        origins = np.arange(rows.n_columns)
        if part.before is not None:
            try:
                origins = input_columns(part.before, rows.n_columns)
            except UnreadableModelError:
                return None
        if values is None or len(values) != len(origins):
            return None
        found.append(np.bincount(origins, values, minlength=rows.n_columns))
    return np.mean(found, axis=0)


def _own(part, rows, weights):
    """Importances of the columns that the predictor gets."""
    if getattr(part.last, "coef_", None) is not None:
        sizes = np.abs(coefficient_table(part.last)).mean(axis=0)
        return sizes * column_deviations(part.columns_of(rows), weights)
    values = getattr(part.last, "feature_importances_", None)
    return None if values is None else np.asarray(values, dtype=np.float64)


def column_deviations(columns, weights):
    """Weighted standard deviation of each column.

    Parameters
    ----------
    columns : Rows
        Numbers.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    if sparse.issparse(columns.native):
        entries = columns.native.tocsc().astype(np.float64)
        return np.sqrt(mean_variance_axis(entries, axis=0, weights=weights)[1])
    shares = weights / weights.sum()
    deviations = np.empty(columns.n_columns)
    for j in range(columns.n_columns):
        values = columns.values(j).astype(np.float64)
        deviations[j] = np.sqrt(shares @ (values - shares @ values) ** 2)
    return deviations


def _described(transformer, names, rows=None):
    """Columns that a transformer makes of columns of these names, or None."""
    transformer = unfrozen(transformer)
    if isinstance(transformer, Pipeline) and len(transformer.steps) == 1:
        transformer = unfrozen(transformer[0])
    if is_passthrough(transformer):
        return [Column(name) for name in names]
    if isinstance(transformer, ColumnTransformer):
        given = columns_of_transformers(transformer)
        columns = []
        for key, part, _ in transformer.transformers_:
            if len(given[key]) and not (isinstance(part, str) and part == "drop"):
                passed = _passed_on(part, given[key], names, rows)
                if passed is None:
                    return None
                columns += passed
        return columns
    if isinstance(transformer, OneHotEncoder):
        return _of_categories(transformer, names)
    if isinstance(transformer, OrdinalEncoder):
        pairs = zip(names, transformer.categories_, strict=True)
        return [Column(name, levels=tuple(map(str, levels))) for name, levels in pairs]
    made = _made_names(transformer, names)
    return None if made is None else [Column(name) for name in made]


def _passed_on(part, given, names, rows):
    """Columns that one part of a ColumnTransformer makes of those it is given."""
    taken = [names[j] for j in given]
    plain = is_passthrough(part) or getattr(part, "func", part) is None
    if isinstance(part, StandardScaler):
        plain = not (part.with_mean or part.with_std)
    if plain and rows is not None:
        whole = [rows.is_integer(j) for j in given]
        return [Column(n, whole=w) for n, w in zip(taken, whole, strict=True)]
    return _described(part, taken)


def _of_categories(encoder, names):
    """A column for each category that has one."""
    # Made-up names, of which what is behind them can be cut off for sure.
    stems = [f"x{j}" for j in range(len(names))]
    if hasattr(encoder, "feature_names_in_"):
        stems = list(encoder.feature_names_in_)
    made = encoder.get_feature_names_out(stems)
    columns = []
    for j, text in zip(input_columns(encoder, len(names)), made, strict=True):
        category = text[len(stems[j]) + 1 :]
        rare = category == "infrequent_sklearn"
        columns.append(Column(names[j], category="a rare one" if rare else category))
    return columns


def _made_names(transformer, names):
    """Names of a transformer's columns, where it tells."""
    known = hasattr(transformer, "feature_names_in_")
    try:
        made = transformer.get_feature_names_out(
            transformer.feature_names_in_ if known else names
        )
        return [str(name) for name in made]
    except (AttributeError, ValueError, TypeError):
        pass
    try:
        origins = input_columns(transformer, len(names))
    except UnreadableModelError:
        return None
    return [names[j] for j in origins]
