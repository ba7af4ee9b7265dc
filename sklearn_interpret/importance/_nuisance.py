"""Regressions that tests of conditional importance rest on, and a check of them.

The default one is an additive model of the features (`AdditiveModel`), to which
surfaces of pairs and jumps are added where its residuals show them. `Learner` fits a
model to parts of the rows; `residual_dependence` checks residuals.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.multioutput import MultiOutputRegressor

from sklearn_interpret._core.additive.jumps import clearest_jump
from sklearn_interpret._core.additive.pairs import interacting_pairs
from sklearn_interpret._core.statistics.covariance_tests import one_sided_test
from sklearn_interpret._model._sklearn_compat import parameters_of_rows
from sklearn_interpret._model.responses.predictors import weight_parameter
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.features import resolve_categorical
from sklearn_interpret.exceptions import ExtrapolationWarning

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret.additive import GAMRegressor

# Splines of a feature.
_N_SPLINES = 10
# Splines of a curve for each level: with 16, curves over the hours of a day are too
# smooth, and 8 % of null features are rejected on 100 rows.
_N_SPLINES_BY_LEVEL = 24
# Most surfaces and most jumps of a model, to bound its time; chosen by hand.
_MOST_PAIRS, _MOST_JUMPS = 10, 5
# Most surfaces that are added before the model is fitted again: more save fits, but
# some of them may explain the same residuals.
_PAIRS_PER_ROUND = 3
# Largest p-value of a surface or a jump that is added. A term too many does less harm
# than a missing one.
_LEVEL = 0.1
# Residuals below this share of a target's variance are not searched: additive models
# round columns to bins, which leaves more than rounding errors.
_NEGLIGIBLE = 1e-5
# Trees that check the residuals of the default nuisance. Up to this number of rows they
# have random splits, which find surfaces in few rows, and more than two folds, since
# training needs most rows. Boosted trees find any dependence in many rows, and take
# less time.
_FEW_ROWS = 1000
_N_FOLDS_OF_FEW_ROWS = 3
_RANDOM_TREES = {"n_estimators": 20, "min_samples_leaf": 3, "random_state": 0}
_BOOSTED_TREES = {
    "max_iter": 50,
    "max_leaf_nodes": 8,
    "early_stopping": False,
    "random_state": 0,
}
# Most columns with which the default nuisance checks residuals of the user's: with more
# it is slow.
_MOST_COLUMNS = 50
# Most columns of residuals that are checked; more are replaced by principal components.
_MOST_TARGETS = 10


class Jump(NamedTuple):
    """A step of a column's effect."""

    column: int
    cut: float  # larger values are beyond the step


@dataclass(frozen=True)
class Structure:
    """Terms of an additive model besides that of each column.

    Parameters
    ----------
    pairs : tuple of tuple of int
        Columns that have a surface, or a curve for each level of one of them.
    jumps : tuple of tuple of int and float
        Columns whose effect jumps, and where.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    jumps: tuple[Jump, ...] = ()

    def add_jump_flags(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns (n_rows, n_columns), and a flag of the rows beyond each jump."""
        flags = [columns[:, j] > cut for j, cut in self.jumps]
        return np.column_stack([columns, *flags])


class AdditiveModel(RegressorMixin, BaseEstimator):
    """An additive model, with the surfaces and jumps that its residuals show.

    `structures` has the `Structure` for each target; None searches them.
    """

    def __init__(self, structures: Sequence[Structure | None] | None = None) -> None:
        self.structures = structures

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a model of each target; add the terms that its residuals show."""
        targets = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(targets))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, dtype=np.float64)
        positive = np.flatnonzero(weights)
        rows, targets = as_rows(X).take(positive), targets[positive]
        weights = weights[positive]
        self._one_target = targets.ndim == 1
        targets = targets.reshape(len(targets), -1).T
        self._codes = [
            None if is_number else _codes_by_label(rows.encode_column(j)[1])
            for j, is_number in enumerate(_are_numbers(rows))
        ]
        columns = self._columns(rows)
        are_levels = [
            codes is not None or len(np.unique(column)) == 2  # a flag
            for codes, column in zip(self._codes, columns.T, strict=True)
        ]
        self.models_, self.structures_ = [], []
        structures = self.structures or [None] * len(targets)
        for target, structure in zip(targets, structures, strict=True):
            regression = _Regression(columns, np.array(are_levels), target, weights)
            if structure is None:
                model, structure = regression.search()
            else:
                model = regression.fit_structure(structure)
            self.models_.append(model)
            self.structures_.append(structure)
        self.n_features_in_ = rows.n_columns
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        inputs = tags.input_tags
        inputs.allow_nan = inputs.categorical = inputs.string = True
        return tags

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predicted means of the rows."""
        columns = self._columns(as_rows(X))
        with warnings.catch_warnings():
            # Held-out rows are often a little beyond the others.
            warnings.simplefilter("ignore", ExtrapolationWarning)
            means = [
                model.predict(structure.add_jump_flags(columns))
                for model, structure in zip(self.models_, self.structures_, strict=True)
            ]
        return means[0] if self._one_target else np.stack(means, axis=1)

    def predict_with_leverages(
        self, X: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Predicted means, and the weights of the rows' targets in them: (n_rows, q).

        Structure and smoothness are taken for known.
        """
        columns = self._columns(as_rows(X))
        pairs = [
            model._predict_with_leverages(structure.add_jump_flags(columns))
            for model, structure in zip(self.models_, self.structures_, strict=True)
        ]
        means, leverages = np.stack(pairs, axis=2)
        return means, leverages

    def _columns(self, rows: Rows) -> NDArray[np.float64]:
        """Numbers and codes of levels (n_rows, n_columns), -1 for unknown levels."""
        columns = np.empty((rows.n_rows, rows.n_columns))
        for j, codes in enumerate(self._codes):
            if codes is None:
                columns[:, j] = rows.numbers(j)
            else:
                levels, labels = rows.encode_column(j)
                fitted_codes = [codes.get(label_key(label), -1) for label in labels]
                columns[:, j] = np.array(fitted_codes)[levels]
        return columns


def _codes_by_label(labels: Iterable[Any]) -> dict[Any, int]:
    """Position of each label, by a key that missing values share."""
    return {label_key(label): code for code, label in enumerate(labels)}


@dataclass(frozen=True, eq=False)
class _Regression:
    """The regression of one target on columns, by an additive model."""

    columns: NDArray[np.float64]  # numbers and codes of levels, (n_rows, n_columns)
    are_levels: NDArray[np.bool_]  # which columns are codes, (n_columns,)
    target: NDArray[np.float64]
    weights: NDArray[np.float64]

    def fit_structure(self, structure: Structure) -> GAMRegressor:
        """A model with the terms of a structure."""
        from sklearn_interpret.additive import GAMRegressor  # slow to import

        table, n_columns = structure.add_jump_flags(self.columns), self.columns.shape[1]
        terms = {
            j: "category" if j >= n_columns or self.are_levels[j] else "spline"
            for j in range(table.shape[1])
        }
        curves_by_level = [
            pair for pair in structure.pairs if self.are_levels[list(pair)].sum() == 1
        ]
        model = GAMRegressor(
            terms=terms | dict.fromkeys(structure.pairs, "tensor"),
            n_splines=dict.fromkeys(terms, _N_SPLINES)
            | dict.fromkeys(curves_by_level, _N_SPLINES_BY_LEVEL),
            handle_unknown="zero",
            missing="level",
        )
        model._has_tests = False
        return model.fit(table, self.target, sample_weight=self.weights)

    def search(self) -> tuple[GAMRegressor, Structure]:
        """A model and its structure, which grows by what the residuals of fits show."""
        structure = Structure()
        while True:
            model = self.fit_structure(structure)
            extended = self._extend_structure(model, structure)
            if extended == structure:
                return model, structure
            structure = extended

    def _extend_structure(self, model: GAMRegressor, structure: Structure) -> Structure:
        """The structure with the pairs and the jump that a model's residuals show."""
        weights = self.weights
        effects = model.transform(structure.add_jump_flags(self.columns))
        residuals = self.target - model.intercept_ - effects.sum(axis=1)
        mean = np.average(self.target, weights=weights)
        total = weights @ (self.target - mean) ** 2
        if weights @ residuals**2 <= _NEGLIGIBLE * total:
            return structure
        pairs = interacting_pairs(
            self.columns,
            self.are_levels,
            residuals,
            weights,
            most=min(_PAIRS_PER_ROUND, _MOST_PAIRS - len(structure.pairs)),
            level=_LEVEL,
            skip=structure.pairs,
        )
        candidates = []
        for j in np.flatnonzero(~self.are_levels).tolist():
            cut, pvalue = clearest_jump(
                self.columns[:, j], residuals + effects[:, j], weights
            )
            candidates.append((pvalue, Jump(j, cut)))
        jumps = [
            jump
            for pvalue, jump in sorted(candidates)
            if pvalue * len(candidates) <= _LEVEL and jump not in structure.jumps
        ]
        # At most one in a round: others may only fit what this one leaves.
        jumps = jumps[: min(1, _MOST_JUMPS - len(structure.jumps))]
        return Structure((*structure.pairs, *pairs), (*structure.jumps, *jumps))


@dataclass(frozen=True, eq=False)
class Learner:
    """A model, fitted to parts of the rows.

    Parameters
    ----------
    model : predictor
        Clones of it are fitted.
    targets : ndarray of shape (n_rows,) or (n_rows, q)
        Targets of all rows.
    params : dict
        Parameters of its `fit`; arrays have an entry for each row.
    classes : ndarray or None
        Labels of a classifier.
    """

    model: Any
    targets: NDArray[Any]
    params: dict[str, Any] = field(default_factory=dict)
    classes: NDArray[Any] | None = None

    def fit_rows(self, rows: Rows, train: NDArray[np.intp]) -> Any:
        """A model fitted to the rows at the positions `train`."""
        params = parameters_of_rows(rows.native, self.params, train)
        training_rows = rows.take(train).native
        return clone(self.model).fit(training_rows, self.targets[train], **params)

    def predict_numbers(self, model: Any, rows: Rows) -> NDArray[np.float64]:
        """Predictions (n_rows, q): numbers, or probabilities of `class_flags`."""
        if self.classes is None:
            return np.reshape(model.predict(rows.native), (rows.n_rows, -1))
        if not hasattr(model, "predict_proba"):
            return class_flags(model.predict(rows.native), self.classes)
        probabilities = np.zeros((rows.n_rows, len(self.classes)))
        columns = np.searchsorted(self.classes, model.classes_)
        probabilities[:, columns] = model.predict_proba(rows.native)
        return probabilities[:, 1:] if len(self.classes) == 2 else probabilities

    def predict_in_sample(self, rows: Rows) -> tuple[NDArray[np.float64], Learner]:
        """Predictions (n_rows, q) by a model of all rows, and a learner for its clones.

        The learner keeps the model's structures, whose search takes several fits.
        """
        model, learner = self.fit_rows(rows, np.arange(rows.n_rows)), self
        if isinstance(model, AdditiveModel):
            learner = replace(self, model=AdditiveModel(model.structures_))
        return self.predict_numbers(model, rows), learner

    def predict_held_out(
        self, rows: Rows, folds: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Predictions (n_rows, q) of each fold by a model of the other folds."""
        predictions, order = [], np.argsort(folds, kind="stable")
        for fold in np.unique(folds):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            predictions.append(
                self.predict_numbers(self.fit_rows(rows, train), rows.take(test))
            )
        return np.concatenate(predictions)[np.argsort(order)]


@dataclass(frozen=True)
class Nuisance:
    """Makes learners of some targets; `model` is None for the default one.

    `weights` are the rows' weights, None if they are equal.
    """

    model: Any
    weights: NDArray[np.float64] | None

    def __call__(self, targets: NDArray[np.float64]) -> Learner:
        """A learner of targets (n_rows, q)."""
        model = AdditiveModel() if self.model is None else self.model
        params = {}
        name = weight_parameter(model)
        if self.weights is not None and name is not None:
            params[name] = self.weights
        if targets.shape[1] == 1:
            return Learner(model, targets[:, 0], params)
        if self.model is not None:
            model = MultiOutputRegressor(model)
        return Learner(model, targets, params)


def class_flags(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    """Flags of classes, (n_rows, n_classes), or of the second of two, (n_rows, 1)."""
    flags = (labels[:, None] == classes).astype(np.float64)
    return flags[:, 1:] if len(classes) == 2 else flags


def encode_columns(
    rows: Rows, columns: Iterable[int] | None = None
) -> NDArray[np.float64]:
    """Columns, by default all, as numbers (n_rows, r).

    Levels but the last have flags. Numbers have the standard deviation 1, for penalties
    and decompositions; missing ones have a flag, too.
    """
    are_numbers, tables = _are_numbers(rows), []
    for j in range(rows.n_columns) if columns is None else columns:
        if not are_numbers[j]:
            codes, labels = rows.encode_column(j)
            tables.append(codes[:, None] == np.arange(len(labels) - 1))
            continue
        values = rows.numbers(j)
        missing = np.isnan(values)
        if missing.any():
            tables.append(missing[:, None])
            filler = 0.0 if missing.all() else values[~missing].mean()
            values = np.where(missing, filler, values)
        tables.append(values[:, None] / (values.std() or 1.0))
    return np.concatenate(tables, axis=1, dtype=np.float64)


def _are_numbers(rows: Rows) -> NDArray[np.bool_]:
    """Flags (n_columns,) of columns of numbers that are no categories."""
    return rows.are_numbers & ~resolve_categorical("auto", rows)


def score(
    targets: NDArray[np.float64],
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    """R^2 of regressions of targets (n_rows, q), pooled over columns."""
    mean = np.average(targets, axis=0, weights=weights)
    total = (weights @ (targets - mean) ** 2).sum()
    return 1 - (weights @ residuals**2).sum() / total if total > 0 else 0.0


class Residuals(NamedTuple):
    """Residuals of a regression on the other features."""

    values: NDArray[np.float64]  # (n_rows, q)
    held_out: NDArray[np.float64]  # of models of other rows, (n_rows, q)
    score: float  # held-out R^2


class Dependence(NamedTuple):
    """How much residuals depend on the features of their regression."""

    pvalue: float
    r2: float


def residual_dependence(
    residuals: NDArray[np.float64],
    other_features: Rows,
    nuisance: Nuisance,
    weights: NDArray[np.float64],
    half_folds: NDArray[np.intp],
    index: NDArray[np.intp],
) -> Dependence:
    """Dependence of residuals (n_rows, q) on held-out predictions of them.

    The p-value tests for a positive mean product of residual and prediction; R^2 is
    that of a line. The predictions come from a model of another kind than the nuisance
    that left the residuals: trees check the default nuisance, which checks the user's
    nuisance. Trees check that, too, if columns are many.

    Rows with the same `index` are one weighted row of the input, and share its noise:
    they are held out together, and their products are summed.
    """
    from sklearn.decomposition import PCA  # slow to import
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

    if residuals.shape[1] > _MOST_TARGETS:
        n_components = min(_MOST_TARGETS, len(residuals))
        residuals = PCA(n_components, svd_solver="full").fit_transform(residuals)
    _, first, copies = np.unique(index, return_index=True, return_inverse=True)
    checking_nuisance, n_folds = Nuisance(None, nuisance.weights), 2
    if nuisance.model is None or other_features.n_columns > _MOST_COLUMNS:
        other_features = as_rows(encode_columns(other_features))
        trees = HistGradientBoostingRegressor(**_BOOSTED_TREES)
        if len(first) < _FEW_ROWS:
            trees, n_folds = ExtraTreesRegressor(**_RANDOM_TREES), _N_FOLDS_OF_FEW_ROWS
        checking_nuisance = replace(checking_nuisance, model=trees)
    folds = half_folds[first][copies] % n_folds
    predicted = checking_nuisance(residuals).predict_held_out(other_features, folds)
    products = weights * (residuals * predicted).sum(axis=1)
    sums = np.bincount(copies, products).astype(np.float64, copy=False)
    _, pvalue = one_sided_test(sums, np.ones(len(first)))
    sums_of_squares = [
        weights @ (values**2).sum(axis=1) for values in (residuals, predicted)
    ]
    return Dependence(pvalue, products.sum() ** 2 / (np.prod(sums_of_squares) or 1.0))
