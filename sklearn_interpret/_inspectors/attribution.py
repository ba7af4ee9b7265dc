"""Base of the inspectors that attribute each response to the features."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.attribution_columns import (
    attribution_names,
    attributions_as_columns,
)
from sklearn_interpret._inspectors.players import Nesting, nesting_of, players_of
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    TransformerMixin,
    feature_names_out,
)
from sklearn_interpret._model._sklearn_compat import warn
from sklearn_interpret._model.parallel import batch_rows, rows_in_memory, slices
from sklearn_interpret._model.progress import progress_of, shows_progress, with_progress
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import AdditivityWarning, CostlyInspectionWarning
from sklearn_interpret.explanations import Explanation

# Relative rounding errors of sums of attributions, by the dtype of the predictions: far
# above its precision, since a model adds many numbers.
_ROUNDING = {np.float16: 1e-2, np.float32: 1e-5}
_ROUNDING_OF_DOUBLES = 1e-9


class Attributions(NamedTuple):
    """Attributions of the responses to m rows."""

    values: NDArray[np.float64]  # (m, n_features, k)
    predictions: NDArray[np.float64]  # (m, k), in the precision of the model
    fields: dict[str, Any]  # further fields of the explanation


@lazy_transformer
class BaseAttribution(ResultsMixin, TransformerMixin, BaseInspector):
    """Base of the inspectors whose explanations add up to the responses.

    A subclass prepares itself in `fit` (`_fit_base_values`) and explains rows
    (`_attribute`). If it has the parameters `background` and `feature_groups`, features
    and groups of them are players of a game, against the background.
    """

    base_values_: float | NDArray[np.float64]
    output_names_: list[Any]
    response_method_: str | Callable[..., Any]
    # Where features are players.
    background_: Any
    features_: list[tuple[int, ...]]
    player_names_: list[str]

    _nesting: Nesting = Nesting(None, None)

    # Mean absolute attributions, computed on first access.
    _importances: NDArray[np.float64] | None

    _caches: ClassVar[tuple[str, ...]] = ("_sample",)
    _explanation_class: ClassVar[type[Explanation]] = Explanation

    transform = attributions_as_columns
    get_feature_names_out = feature_names_out
    _column_names = attribution_names

    def _inspect(self, sample: Sample, response: Any) -> None:
        self._names, background = sample.rows.names, sample
        has_players = hasattr(self, "feature_groups")
        if has_players:
            self.features_, self.player_names_ = players_of(self, sample.rows)
            self._nesting = nesting_of(self, sample)
            background = self._choose_background(sample)
            self.background_ = background.rows.native
        base_values = self._fit_base_values(background, response)
        if has_players:
            self.response_method_ = response.method
        self.output_names_ = response.output_names(len(base_values))
        self.base_values_ = base_values if len(base_values) > 1 else base_values[0]
        self._sample, self._importances = sample, None

    def _choose_background(self: Any, sample: Sample) -> Sample:
        """A sample of the rows that replace absent players."""
        if self.background is None:
            return sample
        try:
            rows = as_rows(self.background)
        except (TypeError, ValueError) as error:
            raise type(error)(f"background can't be taken as rows: {error}") from error
        rows = self._check_rows(rows.native, reset=False)
        return Sample(rows, None, np.broadcast_to(1.0, rows.n_rows))

    @abstractmethod
    def _fit_base_values(
        self, background: Sample, response: Any
    ) -> NDArray[np.float64]:
        """Set fitted attributes; return the base values, (k,)."""

    @abstractmethod
    def _attribute(self, rows: Rows) -> Attributions:
        """The attributions of rows.

        Fields are ``standard_errors`` if values are sampled, ``approximation`` if they
        deviate from the definition, ``value_name`` if they are not Shapley values.
        """

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean absolute attribution of each feature over the rows of `fit`.

        The weighted mean over rows and the mean over outputs; each member of a group
        has the importance of the group. Computed on first access; the rows are not
        pickled, so read it before pickling.
        """
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        mean_sizes = self._mean_sizes().mean(axis=1)
        for (columns, _), size in zip(self._attributed(), mean_sizes, strict=True):
            importances[list(columns)] = size
        return importances

    def _mean_sizes(self) -> NDArray[np.float64]:
        """Mean absolute attributions over the rows of `fit`: (n_players, k)."""
        if self._importances is None:
            sample = self._sample_for("feature_importances_")
            with progress_of(self, "feature_importances_"):
                total = sample.map_reduce(partial(_sum_sizes, self), np.add)
            self._importances = total[:-1] / total[-1]
        return self._importances

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each feature or group and output, the most important feature
        first: columns "feature", "output" where there are several, and "importance",
        the mean absolute attribution over the rows of `fit`. Computed from these, like
        `feature_importances_`. Those of single rows are in the table of the
        explanation.
        """
        mean_sizes, labels = self._mean_sizes(), as_objects(self.output_names_)
        order = np.argsort(-mean_sizes.sum(axis=1), kind="stable")
        names = as_objects([name for _, name in self._attributed()])[order]
        columns = {"feature": names.repeat(len(labels))}
        if len(labels) > 1:
            columns["output"] = np.tile(labels, len(names))
        return [columns | {"importance": mean_sizes[order].ravel()}]

    def _result_units(self) -> dict[str, str]:
        return {"importance": self._response_name}

    def _sample_for(self, name: str) -> Sample:
        """The rows of `fit`, from which an attribute is computed on first access."""
        if self._sample is None:
            raise AttributeError(
                f"Read {name} before pickling: {type(self).__name__} computes it on "
                "first access, from the rows of fit, which are not pickled."
            )
        return self._sample

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any) -> Explanation:
        """Attribute the response to each row to the features.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Explanation
            Values of shape (n_samples, n_features[, n_outputs]), of features or of
            groups; base values plus values sum to the predictions.

        Raises
        ------
        ValueError
            If values or predictions overflow.

        Warns
        -----
        AdditivityWarning
            If they do not sum to the predictions, beyond rounding: the model's
            responses are not those that were explained.
        CostlyInspectionWarning
            If sampling is about to send more than 1e8 rows to the model, or to take
            more than a minute by the time of its calls so far. If the call was
            interrupted (KeyboardInterrupt): the explanation is that of the finished
            rows, and `partial`.
        """
        rows = self._check_rows(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            values, predictions, fields = self._attribute(rows)
        if len(values) < rows.n_rows:
            warn(
                f"Pass the rows from {len(values)} on for the others: the call was "
                f"interrupted, and the explanation has {len(values)} of {rows.n_rows} "
                "rows.",
                CostlyInspectionWarning,
            )
            rows, fields["partial"] = rows.sliced(slice(len(values))), True
        check_no_overflow(predictions, "predictions")
        check_no_overflow(values, "values")
        base_values = np.broadcast_to(self.base_values_, predictions.shape)
        with np.errstate(over="ignore"):
            self._check_additivity(values, base_values, predictions)
        if predictions.shape[1] == 1:
            values, base_values = values[:, :, 0], base_values[:, 0]
            predictions = predictions[:, 0]
            if "standard_errors" in fields:
                fields["standard_errors"] = fields["standard_errors"][:, :, 0]
        if self._nesting.groups is not None:
            fields["groups"] = self._nesting.groups
        columns, names = zip(*self._attributed(), strict=True)
        grouped = len(columns) < self.n_features_in_
        return self._explanation_class(
            values,
            base_values,
            predictions=predictions,
            data=rows.native,
            feature_names=names,
            output_names=self.output_names_,
            response_name=self._response_name,
            target_name=self._target_name,
            columns=columns if grouped else None,
            **fields,
        )

    def _check_additivity(
        self,
        values: NDArray[np.float64],
        base_values: NDArray[np.float64],
        predictions: NDArray[np.float64],
    ) -> None:
        """Warn where base values and attributions miss the predictions."""
        rounding = _ROUNDING.get(predictions.dtype.type, _ROUNDING_OF_DOUBLES)
        rows_missed, largest_error = [], 0.0
        # The values of a row, and their absolute values.
        for block in slices(len(values), batch_rows(2 * values[:1].nbytes)):
            base, expected = base_values[block], predictions[block]
            attributions = values[block]
            error = np.abs(base + attributions.sum(axis=1) - expected)
            size = np.abs(base) + np.abs(expected)
            # Cheap test first: few rows need the sizes of all attributions.
            missed = np.flatnonzero((error > rounding * size).any(axis=1))
            size = size[missed] + np.abs(attributions[missed]).sum(axis=1)
            missed = missed[(error[missed] > rounding * size).any(axis=1)]
            rows_missed += (block.start + missed).tolist()
            largest_error = max(largest_error, error.max())
        if rows_missed:
            warn(
                "Fit again, to a model whose predictions stay the same: base value "
                f"and attributions miss the prediction of {len(rows_missed)} of "
                f"{len(values)} rows, by up to {largest_error:.3g}; the first is row "
                f"{rows_missed[0]}.",
                AdditivityWarning,
            )

    def _attributed(self) -> Sequence[tuple[Sequence[int], str]]:
        """Columns and name of each feature, or player, with an attribution."""
        if hasattr(self, "feature_groups"):
            return list(zip(self.features_, self.player_names_, strict=True))
        return [((j,), name) for j, name in enumerate(self._names)]


def _sum_sizes(inspector: BaseAttribution, sample: Sample) -> NDArray[np.float64]:
    """Weighted sums of absolute values, (n_features + 1, k); the last is of weights."""
    rows, weights = sample.rows, sample.weights
    n_features, n_outputs = len(inspector._attributed()), len(inspector.output_names_)
    total = np.zeros((n_features + 1, n_outputs))
    # The values of a row, their absolute values, and what computes them.
    blocks = slices(rows.n_rows, rows_in_memory(3 * total.nbytes))
    for block in with_progress(list(blocks)):
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            values = inspector._attribute(rows.sliced(block)).values
        if len(values) < block.stop - block.start:
            raise KeyboardInterrupt
        check_no_overflow(values, "values", block.start)
        total[:-1] += np.tensordot(weights[block], np.abs(values), axes=1)
    total[-1] = weights.sum()
    return total


def check_no_overflow(values: NDArray[np.float64], name: str, start: int = 0) -> None:
    """Refuse values (n_rows, ...) that are not finite; the first row is `start`."""
    # A sum is finite unless some entry is not (or the sum itself overflows).
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.ravel(order="K").sum()):
            return
    finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"The {name} of row {start + np.argmin(finite)} are not finite: they, "
            "or numbers on the way to them, are beyond the largest float. Explain the "
            "response, or the features, in a larger unit."
        )
