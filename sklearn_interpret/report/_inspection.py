"""Results that sections and checks of a report share, each computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._core.statistics.refits import learner_half_width
from sklearn_interpret._model.response import is_classifier
from sklearn_interpret._model.rows.samples import TextRows
from sklearn_interpret._model.scoring import class_indicators
from sklearn_interpret._model.trees.tree_response import read_trees
from sklearn_interpret._model.validation import Sample
from sklearn_interpret.effects import AccumulatedLocalEffects, RegionalEffects
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.prototypes import MMDCritic
from sklearn_interpret.report._results import NotApplicable

# Rows that methods are computed on: errors of means over 1000 rows are smaller than
# effects that a figure can show.
MOST_ROWS = 1000
# Rows of each fold's permutation importance, and their permutations.
_FOLD_ROWS, _REPEATS = 400, 3
# Most leaves of all trees that proofs, and decompositions of all rows, may follow.
_MOST_LEAVES = 5000
# Columns that are predicted from all others: each costs forests.
_MOST_PREDICTED = 5
# Rows and features of regional effects: curves of more rows show no other regions.
_REGION_ROWS, _REGION_FEATURES = 400, 4
_NO_FOLDS = (
    "The model was given fitted, and this takes models fitted on parts of the rows."
)
# Of linear models.
_PENALTIES = np.logspace(-3, 3, 13)


class Fold(NamedTuple):
    """A model, and the positions of the rows that it was and was not fitted on."""

    model: Any
    train: np.ndarray
    test: np.ndarray


@dataclass
class Inspection:
    """A fitted model, the rows to inspect it on, and what was found so far.

    Parameters
    ----------
    model : estimator
        The fitted model.
    sample : Sample
        Rows, targets and weights.
    folds : list of Fold
        Refits of the model; empty for a frozen model, which has not seen the rows.
    max_features : int
        Most features in figures.
    seed : int
        Seed of all that is drawn.
    chosen : list of int or None
        Rows to explain, if the user chose them.
    fit_seconds : float
        How long the model's fit took.
    n_jobs : int or None
        Number of workers.
    """

    model: Any
    sample: Sample
    folds: list[Fold]
    max_features: int
    seed: int
    chosen: list[int] | None
    fit_seconds: float
    n_jobs: int | None

    @cached_property
    def classifies(self):
        """Whether the model is a classifier."""
        return is_classifier(self.model)

    @cached_property
    def names(self):
        """Names of the columns."""
        return self.sample.rows.names

    @cached_property
    def is_table(self):
        """Whether the rows are rows of a table, not texts."""
        return not isinstance(self.sample.rows, TextRows)

    @property
    def has_targets(self):
        """Whether each row has one target."""
        return self.sample.y is not None and self.sample.y.ndim == 1

    def need(self, *names):
        """Refuse a section or a check that needs what there is not."""
        of_several = self.is_table and len(self.names) > 1
        known = {
            "table": (self.is_table, "The rows are texts, and this is for tables."),
            "columns": (of_several, "There is one feature only."),
            "folds": (self.folds, _NO_FOLDS),
            "targets": (self.has_targets, "This takes one target for each row."),
            "classes": (self.classifies, "The model is no classifier."),
            "numbers": (not self.classifies, "Classes have no range."),
        }
        for is_there, reason in map(known.get, names):
            if not is_there:
                raise NotApplicable(reason)

    @cached_property
    def frozen(self):
        """The model, as inspectors take it."""
        return FrozenEstimator(self.model)

    @cached_property
    def part(self):
        """At most 1000 of the rows."""
        return self.sample.draw(MOST_ROWS, self.seed, stratified=self.classifies)

    @cached_property
    def small_part(self):
        """At most 200 of the rows, for methods that take longer; 60 for many leaves."""
        n_rows = 200 if self.has_few_leaves else 60
        return self.part.draw(n_rows, self.seed, stratified=self.classifies)

    @property
    def seeded(self):
        """Parameters of inspectors that draw."""
        return {"random_state": self.seed, "n_jobs": self.n_jobs}

    @property
    def targeted(self):
        """Parameters of inspectors that explain one output."""
        return {"target": self.target, **self.seeded}

    @property
    def n_background(self):
        """Number of background rows that methods average over."""
        return 100 if self.has_few_leaves else 40

    @cached_property
    def target(self):
        """The class predicted most often, to explain, where there are more than two."""
        classes = self.model.classes_ if self.classifies else []
        if len(classes) < 3:
            return None
        found = class_indicators(self.model.predict(self.part.rows.native), classes)
        return classes[found.sum(axis=0).argmax()]

    # Predictions and losses of rows that a model has not seen.

    @property
    def tested(self):
        """The folds; the frozen model on all rows where there are none."""
        everything = np.arange(self.sample.rows.n_rows)
        return self.folds or [Fold(self.model, everything, everything)]

    @cached_property
    def held_out(self):
        """Rows that a fold's model, or the frozen model, has not seen: positions."""
        return np.unique(np.concatenate([fold.test for fold in self.tested]))

    def over_folds(self, function):
        """Mean over folds of arrays for test rows; (n_held_out, ...).

        `function` takes a `Fold` and returns an array with a row for each test row.
        """
        found = np.concatenate([function(fold) for fold in self.tested])
        places = np.concatenate([fold.test for fold in self.tested])
        _, places, times = np.unique(places, return_inverse=True, return_counts=True)
        total = np.zeros((len(times), *found.shape[1:]))
        np.add.at(total, places, found)
        return (total.T / times).T

    def responses(self, model, X):
        """Predicted numbers, or probabilities of all classes, of rows.

        Classifiers without probabilities give indicators of the predicted class.
        """
        if not self.classifies:
            predictions = np.asarray(model.predict(X), dtype=np.float64)
            return predictions.reshape(len(predictions), -1)
        classes = self.model.classes_
        if not hasattr(model, "predict_proba"):
            return class_indicators(model.predict(X), classes)
        found = model.predict_proba(X)
        probabilities = np.zeros((len(found), len(classes)))
        # A fold may lack a class.
        probabilities[:, np.searchsorted(classes, model.classes_)] = found
        return probabilities

    @cached_property
    def held_out_responses(self):
        """Responses for rows that the model has not seen: (n_held_out, n_outputs)."""
        rows = self.sample.rows
        return self.over_folds(
            lambda fold: self.responses(fold.model, rows.take(fold.test).native)
        )

    def target_columns(self, y):
        """Targets as a column, or as indicators of the classes."""
        if self.classifies:
            return class_indicators(y, self.model.classes_)
        return np.asarray(y, dtype=np.float64)[:, None]

    def losses_of(self, model, positions):
        """Loss of each row: squared error, or minus the log of its class's probability.

        Probabilities are at least 1e-3, so that no row decides alone.
        """
        found = self.responses(model, self.sample.rows.take(positions).native)
        targets = self.target_columns(self.sample.y[positions])
        if not self.classifies:
            return (found - targets)[:, 0] ** 2
        return losses.log_loss(targets, np.clip(found, 1e-3, None))

    @cached_property
    def held_out_losses(self):
        """Loss of each held-out row."""
        return self.over_folds(lambda fold: self.losses_of(fold.model, fold.test))

    def refit_losses(self, estimator):
        """Held-out losses of another estimator, fitted on the same training rows."""

        def losses_of_fold(fold):
            X = self.sample.rows.take(fold.train).native
            fitted = clone(estimator).fit(X, self.sample.y[fold.train])
            return self.losses_of(fitted, fold.test)

        return self.over_folds(losses_of_fold)

    @cached_property
    def dummy_losses(self):
        """Held-out losses of the mean target, or of the shares of the classes."""
        dummy = DummyClassifier() if self.classifies else DummyRegressor()
        return self.refit_losses(dummy)

    @cached_property
    def linear_model(self):
        """An unfitted linear model that takes the same rows."""
        if not self.classifies:
            return self.linear_surrogate
        return make_pipeline(self.encoder(), LogisticRegression(max_iter=1000))

    def encoder(self, kept=None):
        """Numbers scaled, with means for missing ones; categories as indicators.

        `kept` are the columns of the table that it takes; None for all.
        """
        rows, names = self.sample.rows, np.array(self.names, dtype=object)
        kept = np.arange(len(names)) if kept is None else np.array(kept)
        levels = rows.detected_categorical[kept]
        columns = names[kept] if rows.named else kept
        levels_as_columns = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=20, sparse_output=False
        )
        numbers = make_pipeline(
            SimpleImputer(keep_empty_features=True), StandardScaler()
        )
        return make_column_transformer(
            (numbers, columns[~levels].tolist()),
            (levels_as_columns, columns[levels].tolist()),
        )

    def skill(self, row_losses):
        """Share of the dummy's held-out loss that is removed; at most 1."""
        weights = self.sample.weights[self.held_out]
        reference = np.average(self.dummy_losses, weights=weights)
        if reference == 0:
            raise NotApplicable("All targets are equal.")
        return 1 - np.average(row_losses, weights=weights) / reference

    # Results of inspectors that several sections and checks read.

    @cached_property
    def importances(self):
        """Fitted `PermutationImportance` of each fold, on its test rows.

        One of the frozen model where there are no folds.
        """
        return [self._importance_of(fold) for fold in self.tested]

    @property
    def scoring(self):
        """The score of importances: log loss, or the model's own where it has none."""
        has_probabilities = self.classifies and hasattr(self.model, "predict_proba")
        return "neg_log_loss" if has_probabilities else None

    def _importance_of(self, fold):
        rows = self.sample.rows.take(fold.test)
        y, weights = self.sample.y[fold.test], self.sample.weights[fold.test]
        inspector = PermutationImportance(
            FrozenEstimator(fold.model),
            scoring=self.scoring,
            n_repeats=_REPEATS,
            subsample=min(_FOLD_ROWS, len(fold.test)),
            **self.seeded,
        )
        return inspector.fit(rows.native, y, sample_weight=weights)

    @cached_property
    def importance_widths(self):
        """Half-widths of 95 % intervals of the mean importances."""
        refits = [one.importances_mean_ for one in self.importances]
        if self.folds:
            train, test = (len(part) for part in self.folds[0][1:])
            return learner_half_width(refits, test / train, on_test_rows=True)
        (one,) = self.importances
        return 2 * one.importances_std_ / np.sqrt(_REPEATS - 1)

    @cached_property
    def mean_importances(self):
        """Mean permutation importance of each column over folds."""
        return np.mean([one.importances_mean_ for one in self.importances], axis=0)

    @cached_property
    def order(self):
        """Columns by importance; without targets by the size of their effects."""
        if self.has_targets:
            importances = self.mean_importances
        else:
            found = AccumulatedLocalEffects(self.frozen, target=self.target)
            importances = found.fit(self.part.rows.native).feature_importances_
        return np.argsort(-importances, kind="stable").tolist()

    @cached_property
    def top(self):
        """The most important columns, at most `max_features`."""
        return self.order[: self.max_features]

    @property
    def groups(self):
        """All columns but `top` as one group, where there are several."""
        others = self.order[self.max_features :]
        return {"other features": others} if len(others) > 1 else None

    @cached_property
    def important(self):
        """The columns of `top` with 5 % of the largest importance, if it is known."""
        if not self.has_targets:
            return self.top
        least = max(0.05 * self.mean_importances.max(), 0.0)
        chosen = [j for j in self.top if self.mean_importances[j] > least]
        return chosen or self.top[:1]

    @cached_property
    def regions(self):
        """Fitted `RegionalEffects` of the most important features."""
        part = self.part
        return RegionalEffects(
            self.frozen,
            features=self.top[:_REGION_FEATURES],
            subsample=min(_REGION_ROWS, part.rows.n_rows),
            **self.targeted,
        ).fit(part.rows.native, sample_weight=part.weights)

    @cached_property
    def critic(self):
        """Fitted `MMDCritic`: typical rows, and rows unlike them."""
        n_rows = min(4, self.part.rows.n_rows // 2)
        critic = MMDCritic(
            n_prototypes=max(n_rows, 1), n_criticisms=n_rows, random_state=self.seed
        )
        return critic.fit(self.encoder().fit_transform(self.part.rows.native))

    @cached_property
    def has_few_leaves(self):
        """Whether what follows all leaves takes seconds: few of them, or no trees."""
        try:
            ensemble = read_trees(self.model).ensemble
        except UnreadableModelError:
            return True
        return ensemble.n_nodes <= 2 * _MOST_LEAVES

    @cached_property
    def linear_surrogate(self):
        """An unfitted linear model of the response."""
        return make_pipeline(self.encoder(), RidgeCV(_PENALTIES))

    # The columns of a part of the rows, and rows with one of them permuted.

    @cached_property
    def table(self):
        """Columns of `part` as numbers, missing ones as medians; levels as codes."""
        rows = self.part.rows
        columns = [
            rows.numbers(j) if is_number else rows.encode_column(j)[0]
            for j, is_number in enumerate(rows.are_numbers)
        ]
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        return imputer.fit_transform(np.stack(columns, axis=1).astype(np.float64))

    @cached_property
    def ranks(self):
        """Columns of `table` as ranks, with the mean 0 and at most 1 apart."""
        return rankdata(self.table, axis=0) / len(self.table) - 0.5

    @cached_property
    def from_others(self):
        """The most important columns, and predictions of them from the others.

        A dict with two arrays for each column: its ranks, or indicators of its levels,
        and cross-validated predictions by a forest or a linear model, whichever is
        better.
        """
        if len(self.ranks) < 6:
            raise NotApplicable("There are fewer than six rows.")
        found = {}
        varying = [j for j in self.important if np.ptp(self.ranks[:, j]) > 0]
        if not varying:
            raise NotApplicable("All important columns are constant.")
        for j in varying[:_MOST_PREDICTED]:
            column, others = self.ranks[:, [j]], np.delete(self.ranks, j, axis=1)
            if not self.part.rows.are_numbers[j]:
                column = (column == np.unique(column)).astype(np.float64)
            folds = KFold(3, shuffle=True, random_state=self.seed)
            most = min(30, others.shape[1])
            forest = ExtraTreesRegressor(
                20, min_samples_leaf=3, max_features=most, random_state=self.seed
            )
            predictions = np.stack(
                [
                    cross_val_predict(model, others, column.squeeze(), cv=folds)
                    for model in (forest, Ridge(1e-3))
                ]
            ).reshape(2, *column.shape)
            errors = [((column - one) ** 2).sum() for one in predictions]
            found[j] = column, predictions[np.argmin(errors)]
        return found

    def permuted(self, rows, columns):
        """Rows in the user's container with columns permuted, each by itself."""
        rng, n_rows = np.random.default_rng(self.seed), rows.n_rows
        donors = {j: rng.permutation(n_rows) for j in columns}
        return rows.mixed(np.arange(n_rows), donors)

    def responses_to_permuted(self, model, rows, columns):
        """Responses to rows with each of some columns permuted."""
        return [self.responses(model, self.permuted(rows, [j])) for j in columns]

    def reliances(self, model, rows, columns):
        """Root mean square change of a model's responses if a column is permuted."""
        plain = self.responses(model, rows.native)
        changed = self.responses_to_permuted(model, rows, columns)
        squares = [((one - plain) ** 2).sum(axis=1) for one in changed]
        return np.sqrt(np.average(squares, axis=1, weights=self.part.weights))
