"""Regressions that tests of conditional importance rest on, and a check of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
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

# Splines of a feature, and of a curve for each level: with 16, curves over the hours of
# a day are too smooth, and 8 % of null features are rejected on 100 rows.
_N_SPLINES, _OF_CURVES = 10, 24
# Most surfaces and most jumps of a model, and most surfaces that are added before it is
# fitted again.
_MOST_PAIRS, _MOST_JUMPS, _PAIRS_A_ROUND = 10, 5, 3
# Largest p-value of a surface or a jump that is added. One that is not there does less
# harm than one that is left out.
_LEVEL = 0.1
# Residuals below this share of a target's variance are nothing to search in: additive
# models round columns to bins, which leaves more than rounding errors.
_NOTHING_LEFT = 1e-5
# Trees that check the residuals of the default nuisance. Random splits find surfaces in
# few rows, most of which training needs: they have more than two folds. Boosted trees
# find any dependence in many rows, and take less time.
_FEW_ROWS, _FOLDS_OF_FEW = 1000, 3
_RANDOM_TREES = {"n_estimators": 20, "min_samples_leaf": 3, "random_state": 0}
_BOOSTED_TREES = {
    "max_iter": 50,
    "max_leaf_nodes": 8,
    "early_stopping": False,
    "random_state": 0,
}
# The most columns with which the default nuisance checks the residuals of another: it
# is slow with more.
_MOST_COLUMNS = 50
# Most columns of residuals that are checked: of more, their principal components.
_MOST_TARGETS = 10


@dataclass(frozen=True)
class Structure:
    """Terms of an additive model other than one for each column.

    Parameters
    ----------
    pairs : tuple of tuple of int
        Columns that have a surface: with levels, a curve for each of them.
    jumps : tuple of tuple of int and float
        Columns whose effect jumps, and where.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    jumps: tuple[tuple[int, float], ...] = ()

    def table(self, columns: np.ndarray) -> np.ndarray:
        """Columns (n_rows, n_columns) and flags of the rows beyond each jump."""
        flags = [columns[:, j] > cut for j, cut in self.jumps]
        return np.column_stack([columns, *flags])


class AdditiveModel(RegressorMixin, BaseEstimator):
    """An additive model, with the surfaces and jumps that its residuals show.

    `structures` has the `Structure` for each target; None searches them.
    """

    def __init__(self, structures=None):
        self.structures = structures

    def fit(self, X, y, sample_weight=None):
        """Fit a model of each target; add what its residuals show."""
        rows, y = as_rows(X), np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        weights = np.asarray(weights, dtype=np.float64)
        used = np.flatnonzero(weights)
        rows, y, weights = rows.take(used), y[used], weights[used]
        self._one_target = y.ndim == 1
        targets = y.reshape(len(y), -1).T
        self._codes = [
            None if is_number else _codes_of_labels(rows.encode_column(j)[1])
            for j, is_number in enumerate(_are_numbers(rows))
        ]
        columns = self._columns(rows)
        are_levels = [
            codes is not None or len(np.unique(column)) == 2  # a flag
            for codes, column in zip(self._codes, columns.T, strict=True)
        ]
        self.models_, self.structures_ = [], []
        for target, structure in zip(
            targets, self.structures or [None] * len(targets), strict=True
        ):
            regression = _Regression(columns, np.array(are_levels), target, weights)
            if structure is None:
                model, structure = regression.search()
            else:
                model = regression.fitted(structure)
            self.models_.append(model)
            self.structures_.append(structure)
        self.n_features_in_ = rows.n_columns
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        inputs = tags.input_tags
        inputs.allow_nan = inputs.categorical = inputs.string = True
        return tags

    def predict(self, X):
        """Predicted means of the rows."""
        columns = self._columns(as_rows(X))
        with warnings.catch_warnings():
            # Held-out rows are often a little beyond the others.
            warnings.simplefilter("ignore", ExtrapolationWarning)
            means = [
                model.predict(structure.table(columns))
                for model, structure in zip(self.models_, self.structures_, strict=True)
            ]
        return means[0] if self._one_target else np.stack(means, axis=1)

    def _columns(self, rows):
        """Numbers and codes of levels (n_rows, n_columns); unknown levels are -1."""
        columns = np.empty((rows.n_rows, rows.n_columns))
        for j, codes in enumerate(self._codes):
            if codes is None:
                columns[:, j] = rows.numbers(j)
            else:
                levels, labels = rows.encode_column(j)
                codes = [codes.get(label_key(label), -1) for label in labels]
                columns[:, j] = np.array(codes)[levels]
        return columns


def _codes_of_labels(labels: list[Any]) -> dict[Any, int]:
    return {label_key(label): code for code, label in enumerate(labels)}


@dataclass(frozen=True, eq=False)
class _Regression:
    """A target, and columns of numbers and codes of levels for an additive model."""

    columns: np.ndarray
    are_levels: np.ndarray
    target: np.ndarray
    weights: np.ndarray

    def fitted(self, structure: Structure) -> Any:
        """A model of some structure."""
        from sklearn_interpret.additive import GAMRegressor  # slow to import

        table, n_columns = structure.table(self.columns), self.columns.shape[1]
        terms = {
            j: "category" if j >= n_columns or self.are_levels[j] else "spline"
            for j in range(table.shape[1])
        }
        curves = [
            pair for pair in structure.pairs if self.are_levels[list(pair)].sum() == 1
        ]
        model = GAMRegressor(
            terms=terms | dict.fromkeys(structure.pairs, "tensor"),
            n_splines=dict.fromkeys(terms, _N_SPLINES)
            | dict.fromkeys(curves, _OF_CURVES),
            handle_unknown="zero",
            missing="level",
        )
        return model.fit(table, self.target, sample_weight=self.weights)

    def search(self) -> tuple[Any, Structure]:
        """A model with the structure that residuals show, fit after fit; and that."""
        wider = Structure()
        while True:
            model, structure = self.fitted(wider), wider
            wider = self._extended(model, structure)
            if wider == structure:
                return model, structure

    def _extended(self, model: Any, structure: Structure) -> Structure:
        """A structure, with the pairs and the jump that a model's residuals show."""
        weights = self.weights
        effects = model.transform(structure.table(self.columns))
        residuals = self.target - model.intercept_ - effects.sum(axis=1)
        mean = np.average(self.target, weights=weights)
        spread = weights @ (self.target - mean) ** 2
        if weights @ residuals**2 <= _NOTHING_LEFT * spread:
            return structure
        pairs = interacting_pairs(
            self.columns,
            self.are_levels,
            residuals,
            weights,
            most=min(_PAIRS_A_ROUND, _MOST_PAIRS - len(structure.pairs)),
            level=_LEVEL,
            skip=structure.pairs,
        )
        jumps = []
        for j in np.flatnonzero(~self.are_levels).tolist():
            cut, pvalue = clearest_jump(
                self.columns[:, j], residuals + effects[:, j], weights
            )
            jumps.append((pvalue, (j, cut)))
        clear = [
            jump
            for pvalue, jump in sorted(jumps)
            if pvalue * len(jumps) <= _LEVEL and jump not in structure.jumps
        ]
        room = min(1, _MOST_JUMPS - len(structure.jumps))
        return Structure((*structure.pairs, *pairs), (*structure.jumps, *clear[:room]))


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
    targets: np.ndarray
    params: dict[str, Any] = field(default_factory=dict)
    classes: np.ndarray | None = None

    def fitted(self, rows, train):
        """A model fitted to the rows at the positions `train`."""
        params = parameters_of_rows(rows.native, self.params, train)
        part = rows.take(train).native
        return clone(self.model).fit(part, self.targets[train], **params)

    def outcomes(self, model, rows):
        """Predictions (n_rows, q): numbers, or probabilities of `class_flags`."""
        if self.classes is None:
            return np.reshape(model.predict(rows.native), (rows.n_rows, -1))
        if not hasattr(model, "predict_proba"):
            return class_flags(model.predict(rows.native), self.classes)
        found = np.zeros((rows.n_rows, len(self.classes)))
        places = np.searchsorted(self.classes, model.classes_)
        found[:, places] = model.predict_proba(rows.native)
        return found[:, 1:] if len(self.classes) == 2 else found

    def of_all(self, rows):
        """Predictions (n_rows, q) by a model of all rows, and a learner like it."""
        model, like = self.fitted(rows, np.arange(rows.n_rows)), self
        if isinstance(model, AdditiveModel):  # a search takes several fits
            like = replace(self, model=AdditiveModel(model.structures_))
        return self.outcomes(model, rows), like

    def held_out(self, rows, folds):
        """Predictions (n_rows, q) of each fold by a model of the others."""
        parts, order = [], np.argsort(folds, kind="stable")
        for fold in np.unique(folds):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            parts.append(self.outcomes(self.fitted(rows, train), rows.take(test)))
        return np.concatenate(parts)[np.argsort(order)]


@dataclass(frozen=True)
class Nuisance:
    """Makes learners of some targets; `model` is None for the default one.

    `weights` are the rows' weights, None if they are equal.
    """

    model: Any
    weights: Any

    def __call__(self, targets):
        """A learner of targets (n_rows, q)."""
        model, params = AdditiveModel() if self.model is None else self.model, {}
        name = weight_parameter(model)
        if self.weights is not None and name is not None:
            params[name] = self.weights
        if targets.shape[1] == 1:
            return Learner(model, targets[:, 0], params)
        if self.model is not None:
            model = MultiOutputRegressor(model)
        return Learner(model, targets, params)


def class_flags(labels, classes):
    """Flags of the classes, (n_rows, n_classes); of two classes only the second's."""
    flags = (labels[:, None] == classes).astype(np.float64)
    return flags[:, 1:] if len(classes) == 2 else flags


def coded(rows, columns):
    """Columns as numbers (n_rows, r): flags of all levels but the last, and of NaN.

    Numbers have the deviation 1, for penalties and decompositions.
    """
    numbers, parts = _are_numbers(rows), []
    for j in columns:
        if not numbers[j]:
            codes, labels = rows.encode_column(j)
            parts.append(codes[:, None] == np.arange(len(labels) - 1))
            continue
        values = rows.numbers(j)
        missing = np.isnan(values)
        if missing.any():
            parts.append(missing[:, None])
            filler = 0.0 if missing.all() else values[~missing].mean()
            values = np.where(missing, filler, values)
        parts.append(values[:, None] / (values.std() or 1.0))
    return np.concatenate(parts, axis=1, dtype=np.float64)


def _are_numbers(rows):
    return rows.are_numbers & ~resolve_categorical("auto", rows)


def score(targets, residuals, weights):
    """Held-out R^2 of all columns together."""
    mean = np.average(targets, axis=0, weights=weights)
    spread = (weights @ (targets - mean) ** 2).sum()
    return 1 - (weights @ residuals**2).sum() / spread if spread > 0 else 0.0


def remaining_dependence(residuals, others, nuisance, weights, parts, index):
    """P-value and R^2 of residuals (n_rows, q) with held-out predictions of them.

    The p-value is that of a positive mean of their products, R^2 that of a line.
    The model is of another kind than the nuisance that left the residuals: trees after
    the default one, and that after the user's own. Of many columns it is always trees.

    Rows of the same `index` are one row of the input, repeated for its weight: they
    have the same noise. They are held out together, and their products are one.
    """
    from sklearn.decomposition import PCA  # slow to import
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

    if residuals.shape[1] > _MOST_TARGETS:
        n_kept = min(_MOST_TARGETS, len(residuals))
        residuals = PCA(n_kept, svd_solver="full").fit_transform(residuals)
    _, first, copies = np.unique(index, return_index=True, return_inverse=True)
    check, n_folds = Nuisance(None, nuisance.weights), 2
    if nuisance.model is None or others.n_columns > _MOST_COLUMNS:
        others = as_rows(coded(others, range(others.n_columns)))
        trees = HistGradientBoostingRegressor(**_BOOSTED_TREES)
        if len(first) < _FEW_ROWS:
            trees, n_folds = ExtraTreesRegressor(**_RANDOM_TREES), _FOLDS_OF_FEW
        check = replace(check, model=trees)
    folds = parts[first][copies] % n_folds
    predicted = check(residuals).held_out(others, folds)
    products = weights * (residuals * predicted).sum(axis=1)
    pvalue = one_sided_test(np.bincount(copies, products), np.ones(len(first)))[1]
    squares = [weights @ (part**2).sum(axis=1) for part in (residuals, predicted)]
    return pvalue, products.sum() ** 2 / (np.prod(squares) or 1.0)
