"""Base of searches that return rows: actionability, targets, the model's answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from sklearn_interpret._inspectors.sklearn_bases import (
    TransformerMixin,
    feature_names_out,
)
from sklearn_interpret._model._sklearn_compat import check_feature_names_in, warn
from sklearn_interpret._model.parallel import run, slices
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_features
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.validation import FitArguments, empty_for_no_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import NoCounterfactualWarning
from sklearn_interpret.explanations import RowExplanation

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.problem import SearchProblem
    from sklearn_interpret._model.actions.target import AskedRows, TargetOutcome
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@lazy_transformer
class BaseRowSearch(TransformerMixin, BaseInspector):
    """Base of searches that return rows which satisfy a target.

    A subclass makes the target (`_make_response`) and the constraints on changes
    (`_make_actionability`), gets ready in `fit` (`_fit_search`) and returns rows
    (`explain`).
    """

    features_to_vary: Any
    n_jobs: int | None

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "features_to_vary": "no_validation",
    }

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        if sparse.issparse(X):
            raise TypeError(
                f"{type(self).__name__} takes no sparse X: a row near another has "
                "entries anywhere. Pass X.toarray()."
            )
        return super()._check_rows(X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        if getattr(self, "target", None) is None:  # a search is for one output
            tags.target_tags = replace(tags.target_tags, multi_output=False)
        return tags

    def _fit_estimator(self, arguments: FitArguments, context: Any) -> None:
        """Fit a clone; a column of targets becomes a vector, as the tags promise."""
        y = arguments.y
        if y is not None and np.asarray(y).shape[1:] == (1,):
            arguments = arguments._replace(y=column_or_1d(y, warn=True))
        super()._fit_estimator(arguments, context)

    def _inspect(self, sample: Sample, response: TargetOutcome) -> None:
        self._outcome = response
        self._response_name = response.response.name
        self._actionability = self._make_actionability(sample.rows, sample.weights)
        # The model is asked once, so that its errors are raised in `fit`.
        _ = response.asked(sample.rows.take([0]).native).scores
        self._fit_search(sample, response, self._actionability)

    @abstractmethod
    def _make_actionability(
        self, rows: Rows, weights: NDArray[np.float64]
    ) -> Actionability:
        """The constraints on changes, from the parameters."""

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        """Get ready to search; all randomness is drawn here."""

    def _columns_to_vary(self, rows: Rows) -> NDArray[np.bool_]:
        """Mask of the columns that may change, from `features_to_vary`."""
        vary = np.zeros(rows.n_columns, dtype=bool)
        for (column,) in resolve_features(
            self.features_to_vary,
            rows.names,
            named=rows.named,
            max_order=1,
            parameter="features_to_vary",
        ):
            vary[column] = True
        return vary

    def _in_blocks(
        self,
        search: Callable[..., Any],
        problem: SearchProblem,
        index: NDArray[np.intp],
        most_rows: int,
    ) -> Iterator[tuple[NDArray[np.intp], Any]]:
        """Blocks of up to `most_rows` rows at `index`, and the results of `search`.

        Workers share the blocks.
        """
        rows_of_worker = -(-len(index) // effective_n_jobs(self.n_jobs))
        size = max(1, min(most_rows, rows_of_worker))
        blocks = [index[block] for block in slices(len(index), size)]
        tasks = [(problem, block) for block in blocks]
        results = run(search, tasks, n_jobs=self.n_jobs)
        return zip(blocks, results, strict=True)

    def _explanation(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        origin: NDArray[np.intp],
        asked: AskedRows,
        **fields: Any,
    ) -> RowExplanation:
        """A RowExplanation of encoded rows for the rows of a problem.

        `asked` are the encoded rows as the model sees them, and its answers.
        """
        response, originals = problem.outcome.response, problem.originals
        original = originals.scores
        has_one_output = original.shape[1] == 1
        predictions, answers = asked.scores, {}
        if problem.outcome.interval is None:
            answers = {
                "answers": response.classes[asked.answers],
                "original_answers": response.classes[originals.answers],
            }
        return RowExplanation(
            asked.native,
            origin,
            distances=problem.distances(values, origin),
            distance_name=problem.actionability.distance_name,
            beyond_data=problem.actionability.is_beyond_data(
                values, problem.values[origin]
            ),
            predictions=predictions[:, 0] if has_one_output else predictions,
            original_predictions=original[:, 0] if has_one_output else original,
            data=originals.native,
            feature_names=problem.rows.names,
            output_names=response.output_names(original.shape[1]),
            response_name=self._response_name,
            target_name=self._target_name,
            **answers,
            **fields,
        )

    @abstractmethod
    def explain(self, X: Any) -> RowExplanation:
        """The rows found for some rows."""

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[Any]:
        """The nearest row found, for each of some rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Floats; objects where the table has categories. NaN where nothing was found.
        """
        explanation = self.explain(X)
        rows_found = as_rows(explanation.rows)
        rows, first_found = np.unique(explanation.origin, return_index=True)
        mixed = self._actionability.categorical.any()
        nearest = np.full(
            (len(explanation), rows_found.n_columns), np.nan, object if mixed else float
        )
        for j in range(rows_found.n_columns):
            nearest[rows, j] = rows_found.column_array(j)[first_found]
        return nearest

    get_feature_names_out = feature_names_out

    def _column_names(self, input_features: ArrayLike | None) -> list[str]:
        """Names of the features."""
        return check_feature_names_in(self, input_features)


def checked_limits(
    limits: Any, rows: Rows, j: int, parameter: str
) -> tuple[float, float]:
    """A valid pair (low, high) of the numbers, or dates, of a feature: as numbers."""
    kind = "numbers" if rows.dates(j) is None else "dates"
    ends: tuple[float, ...] = ()
    if isinstance(limits, tuple | list) and len(limits) == 2:
        if kind == "dates":
            with suppress(TypeError, ValueError):
                ends = tuple(rows.as_numbers(j, limits))
        elif all(isinstance(limit, Real) for limit in limits):
            ends = tuple(limits)
    if not (ends and ends[0] <= ends[1]):
        raise ValueError(
            f"{parameter} has {limits!r} for {rows.names[j]!r}; a pair (low, high) of "
            f"{kind}, low <= high, is accepted."
        )
    return ends[0], ends[1]


def warn_of_failures(
    status: NDArray[Any], reasons: Sequence[str], kind: str = "rows"
) -> None:
    """Say for how many rows nothing was found, and why for the first."""
    failed = np.flatnonzero((status == "failed") | (status == "impossible"))
    if len(failed):
        first_failed = failed[0]
        warn(
            "Allow more changes, or another target: nothing was found for "
            f"{len(failed)} of {len(status)} {kind}; {kind[:-1]} {first_failed}: "
            f"{reasons[first_failed]}.",
            NoCounterfactualWarning,
        )
