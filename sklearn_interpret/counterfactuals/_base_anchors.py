"""Base of the anchors: rules under which a model keeps its answer (Ribeiro et al.)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.anchors import AnchorSearch
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.parallel import run, worker_slices
from sklearn_interpret._model.progress import shows_progress, with_progress
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.response import make_response, plain_responses
from sklearn_interpret._model.rows.number_format import rounded_text
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import NoAnchorWarning
from sklearn_interpret.explanations import RuleExplanation

if TYPE_CHECKING:
    from sklearn_interpret._core.local.anchors import Anchor, Neighbours
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret._model.rows.texts import TextRows
    from sklearn_interpret.explanations import Condition, WordCondition

# `RandomState.randint` draws below this on all platforms.
_LARGEST_SEED = np.iinfo(np.int32).max


class AnchorProblem(NamedTuple):
    """A search for the rule of a sample, and the conditions that rules consist of."""

    neighbours: Neighbours
    # From the position of a condition in `neighbours`.
    condition: Callable[[int], Condition | WordCondition]


@dataclass(eq=False, repr=False)
class BaseAnchors(BaseInspector):
    """Base of the anchors.

    A subclass gets ready in `fit` (`_fit_perturbations`), and says how samples are
    perturbed (`_problems`).
    """

    estimator: Any
    _: KW_ONLY
    precision: float = 0.95
    delta: float = 0.1
    tau: float = 0.15
    beam_size: int = 4
    max_anchor_size: int | None = None
    n_samples: int = 2000
    n_coverage_samples: int = 10000
    max_rows: int | None = None

    if TYPE_CHECKING:  # the subclasses' last parameters: fields here would come first
        tolerance: float | None
        random_state: int | np.random.RandomState | None
        n_jobs: int | None

    # Rules that cover less than this share of the rows are not extended.
    _least_coverage: ClassVar[float] = 0.0
    # Advice in the warning that no rule was found.
    _advice: ClassVar[str] = "a lower precision"

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "precision": [Interval(Real, 0, 1, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, 1, closed="neither")],
        "beam_size": [Interval(Integral, 1, None, closed="left")],
        "max_anchor_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_samples": [Interval(Integral, 1, 2**24, closed="both")],
        "n_coverage_samples": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left"), None],
    }

    def _make_response(self) -> Any:
        return make_response(self.estimator_, "predict")

    def _choose_sample(
        self, rows: Any, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Any:
        sample = super()._choose_sample(rows, y, weights)
        rng = check_random_state(self.random_state)
        self._seed = rng.randint(_LARGEST_SEED)
        return sample.draw(self.n_coverage_samples, rng, stratified=False)

    def _inspect(self, sample: Sample, response: Response) -> None:
        self._response = response
        self._responses = plain_responses(response, sample.rows)
        self._shares = sample.weights / sample.weights.sum()
        self._tolerances = self._make_tolerances()
        self._fit_perturbations(sample)

    def _make_tolerances(self) -> float | NDArray[np.float64]:
        """Largest distance of an equal answer from a row's own response, by output."""
        if is_classifier(self.estimator_):
            return 0.5
        if self.tolerance is not None:
            return float(self.tolerance)
        moments = Moments.of_rows(self._responses, self._shares)
        return np.sqrt(moments.variance) / 2

    @abstractmethod
    def _fit_perturbations(self, sample: Sample) -> None:
        """Draw all randomness, and read the rows of `fit`."""

    @abstractmethod
    def _problems(self, rows: Any) -> Iterator[AnchorProblem]:
        """Yield the `AnchorProblem` of each of the `Rows` or `TextRows`."""

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any) -> RuleExplanation:
        """Find a rule for each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples, as `fit` takes them: rows of a table, or texts.

        Returns
        -------
        RuleExplanation
            Rules in the order of the samples, their precision and coverage.

        Warns
        -----
        NoAnchorWarning
            No rule of the required precision was found for some sample.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        anchors, rules = self._anchors_and_rules(rows)
        is_precise = np.array([anchor.is_precise for anchor in anchors])
        reasons = [self._why_no_rule(anchor) for anchor in anchors]
        if not is_precise.all():
            first_failed = np.argmin(is_precise)
            n_failed = np.count_nonzero(~is_precise)
            warn(
                f"Try {self._advice}: no rule was found for "
                f"{n_failed} of {len(is_precise)} rows; row {first_failed}: "
                f"{reasons[first_failed]}.",
                NoAnchorWarning,
            )
        return self._explanation(rows, anchors, rules, is_precise, reasons)

    def _anchors_and_rules(
        self, rows: Rows | TextRows
    ) -> tuple[list[Anchor], list[tuple[Condition | WordCondition, ...]]]:
        """The anchor of each row, and the conditions of its rule."""
        blocks = worker_slices(rows.n_rows, self.n_jobs)
        tasks = [(rows.sliced(block),) for block in blocks]
        pairs = list(chain.from_iterable(run(self._search, tasks, n_jobs=self.n_jobs)))
        return [anchor for anchor, _ in pairs], [rule for _, rule in pairs]

    def _explanation(
        self,
        rows: Rows | TextRows,
        anchors: list[Anchor],
        rules: list[tuple[Condition | WordCondition, ...]],
        is_precise: NDArray[np.bool_],
        reasons: list[str],
    ) -> RuleExplanation:
        """The explanation of some rows."""
        names: Any = getattr(rows, "names", None)  # texts have none
        return RuleExplanation(
            as_objects(rules),
            np.array([anchor.precision for anchor in anchors]),
            np.array([anchor.low for anchor in anchors]),
            np.array([anchor.high for anchor in anchors]),
            np.array([anchor.coverage for anchor in anchors]),
            answers=np.asarray(self._response.raw(rows.native)).tolist(),
            status=np.where(is_precise, "found", "failed"),
            reasons=as_objects(reasons),
            data=rows.native,
            feature_names=names,
            response_name=self._response_name,
            target_name=self._target_name,
        )

    def _why_no_rule(self, anchor: Anchor) -> str:
        if anchor.is_precise:
            return ""
        low = rounded_text(anchor.low, down=True)
        return (
            f"the precision of the best rule is proved to be at least {low} only, not "
            f"{self.precision:g}"
        )

    def _keeps_answer(
        self, answer: NDArray[np.float64], responses: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether responses (m, n_outputs) equal the answer to a row: (m,)."""
        return np.all(np.abs(responses - answer) <= self._tolerances, axis=1)

    def _search(
        self, rows: Rows | TextRows
    ) -> list[tuple[Anchor, tuple[Condition | WordCondition, ...]]]:
        """The anchor of each row, and the conditions of its rule."""
        search = AnchorSearch(
            self.precision,
            self.delta,
            self.tau,
            self.beam_size,
            self.max_anchor_size,
            self._least_coverage,
        )
        pairs = []
        for problem in with_progress(self._problems(rows), rows.n_rows):
            anchor = search(problem.neighbours)
            pairs.append((anchor, tuple(map(problem.condition, anchor.rule))))
        return pairs
