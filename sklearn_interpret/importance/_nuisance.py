"""Regressions that tests of conditional importance rest on, and a check of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.multioutput import MultiOutputRegressor

from sklearn_interpret._core.statistics.covariance_tests import one_sided_test
from sklearn_interpret._core.statistics.residual_pairs import interacting_pairs
from sklearn_interpret._model._sklearn_compat import parameters_of_rows
from sklearn_interpret._model.response import weight_parameter
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_categorical
from sklearn_interpret.exceptions import ExtrapolationWarning

# Splines of a feature: fewer than the default of additive models, which are slower.
_N_SPLINES = 10
# Pairs that get a surface, and the largest p-value of their interactions.
_MOST_PAIRS, _LEVEL = 5, 0.1
# Boosted trees that check the residuals of the default nuisance, and the most columns
# with which the default one checks those of another: it is slow with more.
_CHECK = {
    "max_iter": 50,
    "max_leaf_nodes": 8,
    "early_stopping": False,
    "random_state": 0,
}
_MOST_COLUMNS = 50
# Most columns of residuals that are checked: of more, their principal components.
_MOST_TARGETS = 10


class AdditiveModel(RegressorMixin, BaseEstimator):
    """An additive model, with surfaces for pairs on which its residuals depend.

    `pairs` has the pairs of each target; None searches them.
    """

    def __init__(self, pairs=None):
        self.pairs = pairs

    def fit(self, X, y, sample_weight=None):
        """Fit a model of each target; add the pairs that its residuals show."""
        rows, y = as_rows(X), np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        weights = np.asarray(weights, dtype=np.float64)
        used = np.flatnonzero(weights)
        rows, y, weights = rows.take(used), y[used], weights[used]
        self._one_target = y.ndim == 1
        targets = y.reshape(len(y), -1).T
        known = [None] * len(targets) if self.pairs is None else self.pairs
        found = [
            _additive(rows, *given, weights)
            for given in zip(targets, known, strict=True)
        ]
        self.models_, self.pairs_ = map(list, zip(*found, strict=True))
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
        with warnings.catch_warnings():
            # Held-out rows are often a little beyond the others.
            warnings.simplefilter("ignore", ExtrapolationWarning)
            found = np.stack([model.predict(X) for model in self.models_], axis=1)
        return found[:, 0] if self._one_target else found


def _additive(rows, target, pairs, weights):
    """A fitted additive model of one target, and its pairs of columns."""
    from sklearn_interpret.additive import GAMRegressor  # slow to import

    kinds = {"handle_unknown": "zero", "missing": "level", "n_splines": _N_SPLINES}
    if not pairs:
        model = GAMRegressor(**kinds).fit(rows.native, target, sample_weight=weights)
        if pairs is None:
            pairs = _pairs(rows, target - model.predict(rows.native), weights)
        if not pairs:
            return model, []
    model = GAMRegressor(terms=[*range(rows.n_columns), *pairs], **kinds)
    return model.fit(rows.native, target, sample_weight=weights), pairs


def _pairs(rows, residuals, weights):
    """Pairs of columns of numbers on whose interaction residuals depend."""
    places = np.flatnonzero(_are_numbers(rows))
    columns = np.reshape([rows.numbers(j) for j in places], (-1, rows.n_rows)).T
    known = ~np.isnan(columns).any(axis=0)
    names = places[known].tolist()
    pairs = interacting_pairs(
        columns[:, known], residuals, weights, most=_MOST_PAIRS, level=_LEVEL
    )
    return [(names[one], names[other]) for one, other in pairs]


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
        if isinstance(model, AdditiveModel):  # a search for pairs takes a fit
            like = replace(self, model=AdditiveModel(pairs=model.pairs_))
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


def remaining_dependence(residuals, others, nuisance, weights, folds):
    """P-value and R^2 of residuals (n_rows, q) with held-out predictions of them.

    The p-value is that of a positive mean of their products, R^2 that of a line.
    The model is of another kind than the nuisance that left the residuals: boosted
    trees after the default one, and that after the user's own. Of many columns it is
    always boosted trees.
    """
    from sklearn.decomposition import PCA  # slow to import
    from sklearn.ensemble import HistGradientBoostingRegressor

    if residuals.shape[1] > _MOST_TARGETS:
        n_kept = min(_MOST_TARGETS, len(residuals))
        residuals = PCA(n_kept, svd_solver="full").fit_transform(residuals)
    check = Nuisance(None, nuisance.weights)
    if nuisance.model is None or others.n_columns > _MOST_COLUMNS:
        others = as_rows(coded(others, range(others.n_columns)))
        check = replace(check, model=HistGradientBoostingRegressor(**_CHECK))
    predicted = check(residuals).held_out(others, folds)
    products = (residuals * predicted).sum(axis=1)
    pvalue = one_sided_test(products, weights)[1]
    squares = [weights @ (part**2).sum(axis=1) for part in (residuals, predicted)]
    return pvalue, (weights @ products) ** 2 / (np.prod(squares) or 1.0)
