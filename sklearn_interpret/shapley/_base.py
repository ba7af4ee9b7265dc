"""What the Shapley estimators share: players, background, explanations."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._attributing import AttributionTransformerMixin
from sklearn_interpret._core.statistics.weighted import running_sum
from sklearn_interpret._explanation import Explanation
from sklearn_interpret._model.parallel import batch_rows, held_rows, slices
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.rows.features import resolve_groups, resolve_players
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import AdditivityWarning

# How far models' answers are from exact, relative to the numbers added up.
_DOUBLE, _SINGLE = 1e-9, 1e-5


class BaseShapley(AttributionTransformerMixin, BaseInspector):
    """Base of the Shapley estimators.

    A subclass prepares itself (`_prepare`) and values rows (`_values`).
    """

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "background": "no_validation",
        "feature_groups": [dict, None],
        "target": "no_validation",
    }

    def _inspect(self, sample, response, on_block):
        rows = sample.rows
        groups = resolve_groups(self.feature_groups, rows.names, named=rows.named)
        self.features_, self.player_names_ = resolve_players(rows.names, groups)
        background, weights = self._choose_background(sample)
        self.background_ = background.native
        base_values = self._prepare(background, weights, response)
        self.response_method_ = response.method
        self.output_names_ = response.output_names(len(base_values))
        self.base_values_ = base_values if len(base_values) > 1 else base_values[0]
        self._inspected = rows.native
        self._weights = sample.weights
        self._importances = None
        on_block()

    def _choose_background(self, sample):
        """Rows that stand in for absent players, and their weights."""
        if self.background is None:
            return sample.rows, sample.weights
        try:
            rows = as_rows(self.background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background can't be taken as rows: {error}") from error
        rows = self._check_rows(rows.native, reset=False)
        return rows, np.broadcast_to(1.0, rows.n_rows)

    _caches: ClassVar[tuple] = ("_importances",)

    @abstractmethod
    def _prepare(self, background, weights, response):
        """Get ready to value rows; return the base values, (k,)."""

    @abstractmethod
    def _values(self, rows):
        """Attributions of rows, their predictions, standard errors or None.

        Attributions and errors are (m, n_players, k), predictions (m, k), in the
        precision in which the model answers.
        """

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean absolute attribution of each feature over the rows of `fit`.

        The weighted mean over rows, and the mean over outputs; members of a group all
        have the group's. Computed when first asked for.
        """
        check_is_fitted(self)
        if self._importances is None:
            sizes = self._mean_sizes(as_rows(self._inspected))
            importances = np.zeros(self.n_features_in_)
            for columns, size in zip(self.features_, sizes.mean(axis=1), strict=True):
                importances[list(columns)] = size
            self._importances = importances
        return self._importances

    def _mean_sizes(self, rows):
        """Mean absolute values over rows: (n_players, k)."""
        total = np.zeros((len(self.features_), len(self.output_names_)))
        for part in slices(rows.n_rows, held_rows(3 * total.nbytes)):
            values, *_ = self._values(rows.part(part))
            np.abs(values, out=values)
            values *= self._weights[part, None, None]
            total = running_sum(total, values)
        return total / self._weights.sum()

    def explain(self, X: Any) -> Explanation:
        """Share out the response to each row over the features.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Explanation
            Values of shape (n_samples, n_players[, n_outputs]), which together with the
            base values sum to the predictions.

        Warns
        -----
        AdditivityWarning
            They do not, beyond rounding: the model answers otherwise than the
            inspector understands it.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        values, predictions, errors = self._values(rows)
        return self._explanation(rows, values, predictions, standard_errors=errors)

    def _explanation(
        self,
        rows,
        values,
        predictions,
        *,
        standard_errors=None,
        kind=Explanation,
        **fields,
    ):
        """Make an explanation, and warn where its sums miss the predictions."""
        base_values = np.broadcast_to(self.base_values_, predictions.shape)
        self._check_additivity(values, base_values, predictions)
        if predictions.shape[1] == 1:
            values, base_values = values[:, :, 0], base_values[:, 0]
            predictions = predictions[:, 0]
            if standard_errors is not None:
                standard_errors = standard_errors[:, :, 0]
        grouped = len(self.features_) < self.n_features_in_
        return kind(
            values,
            base_values,
            predictions=predictions,
            data=rows.native,
            feature_names=self.player_names_,
            output_names=self.output_names_,
            standard_errors=standard_errors,
            columns=self.features_ if grouped else None,
            **fields,
        )

    def _check_additivity(self, values, base_values, predictions):
        rounding = _SINGLE if predictions.dtype == np.float32 else _DOUBLE
        n_missed, first, largest = 0, None, 0.0
        for part in slices(len(values), batch_rows(2 * values[:1].nbytes)):
            given, answer = values[part], predictions[part]
            error = np.abs(base_values[part] + given.sum(axis=1) - answer)
            size = np.abs(base_values[part]) + np.abs(answer)
            missed = np.flatnonzero((error > rounding * size).any(axis=1))
            # Few rows need a look at the sizes of all attributions.
            size = size[missed] + np.abs(given[missed]).sum(axis=1)
            missed = missed[(error[missed] > rounding * size).any(axis=1)]
            if len(missed) and first is None:
                first = part.start + missed[0]
            n_missed += len(missed)
            largest = max(largest, error.max())
        if n_missed:
            warnings.warn(
                f"Base value and attributions miss the prediction of {n_missed} "
                f"of {len(values)} rows, by up to {largest:.3g}; the first is row "
                f"{first}.",
                AdditivityWarning,
                stacklevel=4,
            )

    def _attributed(self):
        return zip(self.features_, self.player_names_, strict=True)


class InteractionValuesMixin:
    """Adds interaction values to a Shapley estimator.

    A subclass shares out responses among pairs (`_pairs`).
    """

    @abstractmethod
    def _pairs(self, rows):
        """Interaction values of rows: (m, n_players, n_players, k)."""

    def interaction_values(self, X: Any) -> NDArray[np.float64]:
        """Shapley interaction values: shares of pairs of features.

        Off the diagonal is half of what two features do together beyond what each does
        alone, on the diagonal what is left to the feature; each row of the matrix sums
        to the feature's Shapley value.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_players, n_players[, n_outputs])
            Symmetric in the players.
        """
        check_is_fitted(self)
        pairs = self._pairs(self._check_rows(X, reset=False))
        return pairs[..., 0] if pairs.shape[-1] == 1 else pairs
