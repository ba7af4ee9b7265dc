"""Results that sections and checks of a report share, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.responses.predictors import (
    final_step,
    is_classifier,
    weight_parameter,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.responses.scoring import class_indicators
from sklearn_interpret._model.rows.arrays import as_days
from sklearn_interpret._model.rows.features import untreatable_columns, warn_of_left_out
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.texts import TextRows
from sklearn_interpret.diagnosis import ErrorSlices
from sklearn_interpret.effects import AccumulatedLocalEffects, RegionalEffects
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.prototypes import MMDCritic
from sklearn_interpret.report._results import NotApplicable

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows

# Rows that methods are computed on: errors of means over 1000 rows are smaller than
# effects that a figure can show.
MOST_ROWS = 1000
# Of each fold's permutation importance. Chosen by hand: more would narrow its interval,
# which also covers the differences between folds, only a little.
_IMPORTANCE_ROWS = 400
_N_REPEATS = 3
# Parts of the rows that a frozen model is tested on: their differences say how exact
# means are. There are fewer parts where these would have too few rows.
_MOST_PARTS = 5
_FEWEST_PART_ROWS = 10
# Leaves of all trees, above which exact searches and decompositions take minutes.
_MOST_LEAVES = 5000
# Columns that are predicted from all others: each takes the fits of three forests.
_MOST_PREDICTED = 5
# Of regional effects. Chosen by hand: more rows or features take longer.
_REGION_ROWS = 400
_REGION_FEATURES = 4

# Most columns of slices: with more, only the most important ones. The time grows with
# the square of their number.
_MOST_SLICED = 30

_NO_FOLDS = (
    "The model was given fitted, and this takes models fitted on parts of the rows."
)
# Largest product of the number of fits, their rows, columns and trees of drop-column
# importance. Chosen by hand: forests then take two seconds.
_MOST_CELLS = 10**7
# Penalties that linear models choose from.
_PENALTIES = np.logspace(-3, 3, 13)


class Fold(NamedTuple):
    """A fitted model, and positions of its training and test rows.

    All rows stand for the unknown training rows of a frozen model.
    """

    model: Any
    train: NDArray[np.intp]  # all rows, for a frozen model
    test: NDArray[np.intp]


class PredictedColumn(NamedTuple):
    """A column, and cross-validated predictions of it from the other columns.

    Predictions are those of a forest or of a linear model, whichever is better.
    """

    values: NDArray[np.float64]  # ranks, or indicators of levels; (n_rows, n_values)
    predictions: NDArray[np.float64]  # of the same shape


@dataclass
class Inspection:
    """A fitted model, the rows to inspect it on, and results computed so far.

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
        Seed of all random draws.
    chosen_rows : list of int or None
        Rows to explain, if the user chose them.
    fit_parameters : callable
        Takes positions of rows in the user's table, and returns parameters of the
        model's `fit`, such as weights.
    n_jobs : int or None
        Number of workers.
    constraints : dict
        Parameters of counterfactuals that limit what may change.
    """

    model: Any
    sample: Sample
    folds: list[Fold]
    max_features: int
    seed: int
    chosen_rows: list[int] | None
    fit_parameters: Callable[[np.ndarray], dict[str, Any]]
    n_jobs: int | None
    constraints: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def classifies(self) -> bool:
        """Whether the model is a classifier."""
        return is_classifier(self.model)

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.sample.rows.names

    @cached_property
    def is_table(self) -> bool:
        """Whether the rows are rows of a table, not texts."""
        return not isinstance(self.sample.rows, TextRows)

    @cached_property
    def object_columns(self) -> set[int]:
        """Columns of objects, which are no numbers, dates or levels."""
        rows = self.sample.rows
        return untreatable_columns(rows, rows.detected_categorical)

    def without_objects(self, columns: Iterable[int]) -> list[int]:
        """Columns but those of objects, which a warning names: a note of sections."""
        if self.object_columns:
            warn_of_left_out(self.sample.rows, self.object_columns)
        return [j for j in columns if j not in self.object_columns]

    @property
    def has_targets(self) -> bool:
        """Whether each row has one target: that of survival has two fields."""
        y = self.sample.y
        return y is not None and y.ndim == 1 and y.dtype.names is None

    @property
    def has_scores(self) -> bool:
        """Whether the model scores itself on the targets, as survival models do."""
        is_scored = self.sample.y is not None and not self.classifies
        return self.has_targets or (is_scored and hasattr(self.model, "score"))

    def require(self, *names: str) -> None:
        """Raise `NotApplicable` unless all of the named conditions hold.

        "table": rows have columns, and are no texts. "columns": they have several.
        "folds": the model was refitted in folds. "targets": each row has one target.
        "scores": it has one, or the model scores itself.
        "classes": the model is a classifier. "numbers": it is a regressor.
        """
        of_several = self.is_table and len(self.names) > 1
        n_targets = (
            "no targets" if self.sample.y is None else "targets of several values"
        )
        no_targets = f"The rows have {n_targets}, and this takes one for each row."
        conditions = {
            "table": (self.is_table, "The rows are texts, and this is for tables."),
            "columns": (of_several, "There is one feature only."),
            "folds": (self.folds, _NO_FOLDS),
            "targets": (self.has_targets, no_targets),
            "scores": (self.has_scores, no_targets),
            "classes": (self.classifies, "The model is no classifier."),
            "numbers": (not self.classifies, "Classes have no range."),
        }
        for name in names:
            holds, reason = conditions[name]
            if not holds:
                raise NotApplicable(reason)

    @cached_property
    def frozen(self) -> FrozenEstimator:
        """The model, as inspectors take it."""
        return FrozenEstimator(self.model)

    @cached_property
    def row_subsample(self) -> Sample:
        """At most 1000 of the rows."""
        return self.sample.draw(MOST_ROWS, self.seed, stratified=self.classifies)

    @cached_property
    def small_row_subsample(self) -> Sample:
        """At most 200 of the rows, for methods that take longer; 60 for many leaves."""
        n_rows = 200 if self.has_few_leaves else 60
        return self.row_subsample.draw(n_rows, self.seed, stratified=self.classifies)

    @property
    def random_parameters(self) -> dict[str, Any]:
        """Parameters of inspectors that draw at random."""
        return {"random_state": self.seed, "n_jobs": self.n_jobs}

    @property
    def target_parameters(self) -> dict[str, Any]:
        """Parameters of random inspectors that explain one output."""
        return {"target": self.target, **self.random_parameters}

    @property
    def n_background(self) -> int:
        """Number of background rows that methods average over."""
        return 100 if self.has_few_leaves else 40

    @cached_property
    def target(self) -> Any:
        """The output that is explained, where the model has several, else None.

        The class predicted most often, or the first of several predictions.
        """
        if self.has_several_outputs:
            return 0
        if not self.classifies or len(self.model.classes_) < 3:
            return None
        predictions = np.ravel(self.model.predict(self.row_subsample.rows.native))
        indicators = class_indicators(predictions, self.model.classes_)
        return self.model.classes_[(self.row_subsample.weights @ indicators).argmax()]

    @cached_property
    def has_several_outputs(self) -> bool:
        """Whether the model predicts several numbers, or labels, for each row."""
        one_row = self.row_subsample.rows.take(np.array([0])).native
        respond = self.model.predict if self.classifies else make_response(self.model)
        return np.size(respond(one_row)) > 1

    def response_text(self, response_name: str | None) -> str:
        """The name of a response, with the output that is explained."""
        if self.target is None and not self.classifies:
            return str(response_name)
        (output,) = make_response(self.model, "auto", self.target).output_names(1)
        kind = "class " if self.classifies else "output "
        return f"{response_name} of {'' if isinstance(output, str) else kind}{output}"

    def predictions(self, X: Any) -> np.ndarray:
        """Predicted numbers of the output that is explained."""
        values = np.asarray(self.model.predict(X), dtype=np.float64)
        return values.reshape(len(values), -1)[:, self.target or 0]

    # Predictions and losses of rows that a model has not seen.

    @cached_property
    def test_folds(self) -> list[Fold]:
        """The folds. A frozen model is tested on each of a few parts of the rows.

        Differences between these parts say how exact means over rows are.
        """
        if self.folds:
            return self.folds
        everything = np.arange(self.sample.rows.n_rows)
        n_parts = max(1, min(_MOST_PARTS, len(everything) // _FEWEST_PART_ROWS))
        order = np.random.default_rng(self.seed).permutation(everything)
        tests = np.array_split(order, n_parts)
        return [Fold(self.model, everything, np.sort(test)) for test in tests]

    @cached_property
    def held_out_positions(self) -> NDArray[np.intp]:
        """Positions of the rows that a fold's or the frozen model did not see."""
        return np.unique(np.concatenate([fold.test for fold in self.test_folds]))

    def mean_over_folds(
        self, by_fold: list[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Mean over folds of arrays for their test rows; (n_held_out, ...)."""
        values = np.concatenate(by_fold)
        rows = np.concatenate([fold.test for fold in self.test_folds])
        _, positions, n_tests = np.unique(rows, return_inverse=True, return_counts=True)
        total = np.zeros((len(n_tests), *values.shape[1:]))
        np.add.at(total, positions, values)
        return (total.T / n_tests).T

    def mean_loss(self, losses_by_fold: list[NDArray[np.float64]]) -> float:
        """Mean over held-out rows of the losses of each fold's test rows."""
        weights = self.sample.weights[self.held_out_positions]
        return np.average(self.mean_over_folds(losses_by_fold), weights=weights)

    @property
    def scorable_folds(self) -> list[Fold]:
        """Folds of `test_folds` whose model was fitted to more than one class."""
        if not self.classifies:
            return self.test_folds
        return [fold for fold in self.test_folds if len(fold.model.classes_) > 1]

    def test_positions(self, fold: Fold) -> np.ndarray:
        """Test rows of a fold, of the classes that its model was fitted to."""
        if not self.classifies:
            return fold.test
        is_class = self.sample.y[fold.test][:, None] == fold.model.classes_
        return fold.test[is_class.any(axis=1)]

    def test_sample(self, fold: Fold) -> Sample:
        """The rows at the `test_positions` of a fold."""
        test = self.test_positions(fold)
        y, weights = self.sample.y[test], self.sample.weights[test]
        return Sample(self.sample.rows.take(test), y, weights)

    def responses(self, model: BaseEstimator, X: Any) -> NDArray[np.float64]:
        """Predicted numbers, or probabilities of all classes, of rows.

        Classifiers without probabilities give indicators of the predicted class.
        """
        if not self.classifies:
            predictions = np.asarray(model.predict(X), dtype=np.float64)
            return predictions.reshape(len(predictions), -1)
        classes = self.model.classes_
        if isinstance(classes, list):
            return make_response(model)(X)
        if not hasattr(model, "predict_proba"):
            return class_indicators(model.predict(X), classes)
        known_probabilities = model.predict_proba(X)
        probabilities = np.zeros((len(known_probabilities), len(classes)))
        # A fold may lack a class.
        probabilities[:, np.searchsorted(classes, model.classes_)] = known_probabilities
        return probabilities

    @cached_property
    def responses_by_fold(self) -> list[np.ndarray]:
        """Responses of each fold's model to its test rows."""
        rows = self.sample.rows
        return [
            self.responses(fold.model, rows.take(fold.test).native)
            for fold in self.test_folds
        ]

    @cached_property
    def held_out_responses(self) -> NDArray[np.float64]:
        """Responses for rows that the model has not seen: (n_held_out, n_outputs)."""
        return self.mean_over_folds(self.responses_by_fold)

    def target_columns(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Targets as a column, or as indicators of the classes."""
        if self.classifies:
            return class_indicators(y, self.model.classes_)
        return np.asarray(y, dtype=np.float64)[:, None]

    def losses_of(
        self, model: BaseEstimator, positions: NDArray[np.intp], X: Any = None
    ) -> NDArray[np.float64]:
        """Loss of each row: squared error, or minus the log of its class's probability.

        Probabilities are at least 1e-3, so that no row decides alone. `X` has the rows
        as the model takes them, if it takes others.
        """
        X = self.sample.rows.take(positions).native if X is None else X
        responses = self.responses(model, X)
        targets = self.target_columns(self.sample.y[positions])
        if not self.classifies:
            return (responses - targets)[:, 0] ** 2
        return losses.log_loss(targets, np.clip(responses, 1e-3, None))

    @cached_property
    def losses_by_fold(self) -> list[np.ndarray]:
        """Losses of each fold's model on its test rows."""
        return [self.losses_of(fold.model, fold.test) for fold in self.test_folds]

    @cached_property
    def held_out_losses(self) -> NDArray[np.float64]:
        """Loss of each held-out row."""
        return self.mean_over_folds(self.losses_by_fold)

    @cached_property
    def error_slices(self) -> ErrorSlices:
        """Slices of the held-out losses."""
        rows = self.sample.rows.take(self.held_out_positions)
        if rows.n_columns > _MOST_SLICED:
            rows = rows.keep_columns(np.array(self.top_columns))
        # The losses are known: the predictions are not used.
        model = DummyRegressor().fit(rows.native, self.held_out_losses)
        inspector = ErrorSlices(
            FrozenEstimator(model), loss=_targets, random_state=self.seed
        )
        weights = self.sample.weights[self.held_out_positions]
        inspector.fit(rows.native, self.held_out_losses, sample_weight=weights)
        # The name for figures.
        inspector.loss_ = "log_loss" if self.classifies else "squared_error"
        if not inspector.slices_:
            raise NotApplicable("The rows are too few, or all losses are equal.")
        return inspector

    def refit_losses(
        self, *estimators: BaseEstimator, encoder: BaseEstimator | None = None
    ) -> list[list[NDArray[np.float64]]]:
        """Losses by fold of other estimators, fitted on the same training rows.

        They share an `encoder`, which is fitted on these rows, too.
        """
        losses_by_fold, weights = [], self.sample.weights / self.sample.weights.mean()
        for fold in self.test_folds:
            take, y = self.sample.rows.take, self.sample.y[fold.train]
            X, X_test = take(fold.train).native, take(fold.test).native
            if encoder is not None:
                X, X_test = encoder.fit_transform(X), encoder.transform(X_test)
            losses_of_fold = []
            for reference in estimators:
                if self.classifies and (y == y[0]).all():
                    reference = DummyClassifier()  # most take several classes
                params = {str(weight_parameter(reference)): weights[fold.train]}
                # With routing, each step would have to request the weights.
                with config_context(enable_metadata_routing=False):
                    fitted = clone(reference).fit(X, y, **params)
                losses_of_fold.append(self.losses_of(fitted, fold.test, X_test))
            losses_by_fold.append(losses_of_fold)
        return list(map(list, zip(*losses_by_fold, strict=True)))

    @cached_property
    def dummy_losses(self) -> list[NDArray[np.float64]]:
        """Losses by fold of the mean target, or of the shares of the classes."""
        dummy = DummyClassifier() if self.classifies else DummyRegressor()
        return self.refit_losses(dummy)[0]

    @cached_property
    def linear_model(self) -> BaseEstimator:
        """An unfitted linear model that takes the same rows."""
        if not self.classifies:
            return self.linear_surrogate
        return make_pipeline(self.encoder(), LogisticRegression(max_iter=1000))

    def encoder(self, selected: Any = None) -> BaseEstimator:
        """An unfitted transformer that scales numbers, and makes indicators of levels.

        Missing numbers become means. `selected` are the columns that it takes; None
        means all of them.
        """
        rows, names = self.sample.rows, np.array(self.names, dtype=object)
        selected = range(len(names)) if selected is None else selected
        selected = np.array(self.without_objects(selected), dtype=np.intp)
        is_categorical = rows.detected_categorical[selected]
        columns = names[selected] if rows.named else selected
        indicators = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=20, sparse_output=False
        )
        numbers = make_pipeline(
            SimpleImputer(keep_empty_features=True), StandardScaler()
        )
        if any(rows.dates(j) is not None for j in selected):
            numbers = make_pipeline(FunctionTransformer(as_days), numbers)
        return make_column_transformer(
            (numbers, columns[~is_categorical].tolist()),
            (indicators, columns[is_categorical].tolist()),
        )

    def skill(self, losses_by_fold: list[NDArray[np.float64]]) -> float:
        """Share of the dummy's held-out loss that is removed; at most 1."""
        reference = self.mean_loss(self.dummy_losses)
        if reference == 0:
            raise NotApplicable("All targets are equal.")
        return 1 - self.mean_loss(losses_by_fold) / reference

    # Results of inspectors that several sections and checks read.

    @cached_property
    def importances(self) -> list[PermutationImportance]:
        """Fitted `PermutationImportance` of each fold, on its test rows."""
        return [self._importance_of(fold) for fold in self.scorable_folds]

    @property
    def scoring(self) -> str | None:
        """The score of importances: log loss, or the default without probabilities."""
        has_probabilities = self.classifies and hasattr(self.model, "predict_proba")
        return "neg_log_loss" if has_probabilities else None

    def _importance_of(self, fold: Fold) -> PermutationImportance:
        """Fitted `PermutationImportance` of a fold, on its test rows."""
        test = self.test_sample(fold)
        inspector = PermutationImportance(
            FrozenEstimator(fold.model),
            scoring=self.scoring,
            n_repeats=_N_REPEATS,
            subsample=min(_IMPORTANCE_ROWS, test.rows.n_rows),
            **self.random_parameters,
        )
        return inspector.fit(test.rows.native, test.y, sample_weight=test.weights)

    def half_width(
        self, by_fold: ArrayLike, level: float = 0.95
    ) -> NDArray[np.float64]:
        """Half-widths of intervals of the mean of results on folds' test rows."""
        # Results of one frozen model differ by their test rows only.
        ratios = [len(fold.test) / len(fold.train) for fold in self.folds]
        splits = Splits(float(np.mean(ratios)) if ratios else 0.0)
        values = np.asarray(by_fold)
        return learner_half_width(values, splits, on_test_rows=True, level=level)

    @cached_property
    def fold_importances(self) -> NDArray[np.float64]:
        """Permutation importance of each column in each fold, (n_folds, n_columns)."""
        return np.array([fold.importances_mean_ for fold in self.importances])

    @property
    def mean_importances(self) -> NDArray[np.float64]:
        """Mean permutation importance of each column over folds."""
        return self.fold_importances.mean(axis=0)

    @cached_property
    def columns_by_importance(self) -> list[int]:
        """Columns by importance; without targets by the size of their effects."""
        columns = np.arange(len(self.names))
        if self.has_targets:
            importances = self.mean_importances
        else:
            columns = np.array(self.without_objects(columns))
            effects = AccumulatedLocalEffects(
                self.frozen, features=columns.tolist(), target=self.target
            )
            sample = self.row_subsample
            effects.fit(sample.rows.native, sample_weight=sample.weights)
            importances = effects.feature_importances_
        return columns[np.argsort(-importances, kind="stable")].tolist()

    @property
    def top_columns(self) -> list[int]:
        """The most important columns, at most `max_features`."""
        return self.without_objects(self.columns_by_importance)[: self.max_features]

    @property
    def grouped_others(self) -> dict[str, Any] | None:
        """The less important columns as one group, if there are several."""
        left_over = self.columns_by_importance[self.max_features :]
        return {"other features": left_over} if len(left_over) > 1 else None

    @cached_property
    def important_columns(self) -> list[int]:
        """The `top_columns` with over 5 % of the largest importance, if known."""
        if not self.has_targets:
            return self.top_columns
        threshold = max(0.05 * self.mean_importances.max(), 0.0)
        importances = self.mean_importances
        important = [j for j in self.top_columns if importances[j] > threshold]
        return important or self.top_columns[:1]

    @cached_property
    def regional_effects(self) -> RegionalEffects:
        """Fitted `RegionalEffects` of the most important features."""
        sample = self.row_subsample
        return RegionalEffects(
            self.frozen,
            features=self.top_columns[:_REGION_FEATURES],
            subsample=min(_REGION_ROWS, sample.rows.n_rows),
            **self.target_parameters,
        ).fit(sample.rows.native, sample_weight=sample.weights)

    @cached_property
    def critic(self) -> MMDCritic:
        """Fitted `MMDCritic`: prototypes are typical, criticisms unusual rows."""
        n_rows = min(4, self.row_subsample.rows.n_rows // 2)
        critic = MMDCritic(
            n_prototypes=max(n_rows, 1), n_criticisms=n_rows, random_state=self.seed
        )
        numbers = self.encoder().fit_transform(self.row_subsample.rows.native)
        return critic.fit(numbers, sample_weight=self.row_subsample.weights)

    @cached_property
    def has_few_leaves(self) -> bool:
        """Whether methods that visit all leaves are quick; True without trees."""
        trees = read_formula([read_trees], self.model)
        return trees is None or trees.ensemble.n_nodes <= 2 * _MOST_LEAVES

    @property
    def refits_quickly(self) -> bool:
        """Whether drop-column importance takes seconds, by the number of cells read.

        A fit reads the table once, and one of trees once for each tree; other models
        are not judged. A clock would make pages of the same seed differ.
        """
        if not self.folds:
            return False
        model, n_passes = final_step(self.model), 1
        # A search fits many models, and kernels take the square of the rows.
        if hasattr(model, "kernel") or "cv" in model.get_params(deep=False):
            return False
        if not hasattr(model, "coef_"):
            trees = read_formula([read_trees], self.model)
            if trees is None:
                return False
            n_passes = trees.ensemble.n_trees
        rows = self.sample.rows
        n_players = min(rows.n_columns, self.max_features + 1)
        n_fits = len(self.folds) * (1 + n_players)
        return n_fits * rows.n_rows * rows.n_columns * n_passes <= _MOST_CELLS

    @cached_property
    def linear_surrogate(self) -> BaseEstimator:
        """An unfitted linear model of the response."""
        return make_pipeline(self.encoder(), RidgeCV(_PENALTIES))

    # The columns of the row subsample, and rows with permuted columns.

    @cached_property
    def subsample_codes(self) -> NDArray[np.float64]:
        """Columns of `row_subsample`: numbers (medians if missing), codes of levels."""
        rows = self.row_subsample.rows
        columns = [np.zeros(rows.n_rows)] * rows.n_columns
        for j in self.without_objects(range(rows.n_columns)):
            is_number = rows.are_numbers[j]
            columns[j] = rows.numbers(j) if is_number else rows.encode_column(j)[0]
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        return imputer.fit_transform(np.stack(columns, axis=1).astype(np.float64))

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """The `subsample_codes` as ranks between -0.5 and 0.5, with the mean 0."""
        return rankdata(self.subsample_codes, axis=0) / len(self.subsample_codes) - 0.5

    @cached_property
    def predicted_columns(self) -> dict[int, PredictedColumn]:
        """The most important columns, and predictions of them from the others."""
        if len(self.ranks) < 6:
            raise NotApplicable("There are fewer than six rows.")
        columns = {}
        varying = [j for j in self.important_columns if np.ptp(self.ranks[:, j]) > 0]
        if not varying:
            raise NotApplicable("All important columns are constant.")
        for j in varying[:_MOST_PREDICTED]:
            values, predictors = self.ranks[:, [j]], np.delete(self.ranks, j, axis=1)
            if not self.row_subsample.rows.are_numbers[j]:
                values = (values == np.unique(values)).astype(np.float64)
            folds = KFold(3, shuffle=True, random_state=self.seed)
            n_split_columns = min(30, predictors.shape[1])
            forest = ExtraTreesRegressor(
                20,
                min_samples_leaf=3,
                max_features=n_split_columns,
                random_state=self.seed,
            )
            by_model = [
                cross_val_predict(model, predictors, values.squeeze(), cv=folds)
                for model in (forest, Ridge(1e-3))
            ]
            predictions = np.reshape(by_model, (2, *values.shape))
            errors = [((values - predicted) ** 2).sum() for predicted in predictions]
            columns[j] = PredictedColumn(values, predictions[np.argmin(errors)])
        return columns

    def permute_columns(self, rows: Rows, columns: list[int]) -> Any:
        """Rows in the user's container with columns permuted, each by itself."""
        rng, n_rows = np.random.default_rng(self.seed), rows.n_rows
        donors = {j: rng.permutation(n_rows) for j in columns}
        return rows.mix(np.arange(n_rows), donors)

    def responses_to_permuted(
        self, model: BaseEstimator, rows: Rows, columns: list[int]
    ) -> list[NDArray[np.float64]]:
        """Responses to rows with each of some columns permuted."""
        return [self.responses(model, self.permute_columns(rows, [j])) for j in columns]

    def column_reliances(
        self, model: BaseEstimator, rows: Rows, columns: list[int]
    ) -> NDArray[np.float64]:
        """Root mean square change of responses as each column is permuted, (n,)."""
        original = self.responses(model, rows.native)
        squares = [
            ((permuted - original) ** 2).sum(axis=1)
            for permuted in self.responses_to_permuted(model, rows, columns)
        ]
        return np.sqrt(np.average(squares, axis=1, weights=self.row_subsample.weights))


def _targets(
    targets: NDArray[np.float64], predictions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A loss that ignores the predictions: known losses are passed as targets."""
    return targets
