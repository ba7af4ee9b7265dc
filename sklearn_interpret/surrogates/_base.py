"""What the local surrogates share: samples around a row, and small models of them."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.linear_surrogates import Moments
from sklearn_interpret._model._sklearn_compat import HasMethods, Interval, StrOptions
from sklearn_interpret._model.parallel import limit_threads, run, slices
from sklearn_interpret._model.perturbation.perturbed import plain_responses
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import LowFidelityWarning
from sklearn_interpret.surrogates._base_explanation import LocalExplanation
from sklearn_interpret.surrogates._base_fitting import (
    SELECTIONS,
    SurrogateFitter,
    by_output,
)

_LARGEST_SEED = np.iinfo(np.int32).max
# Pieces of work for each worker.
_TASKS_PER_WORKER = 4
# `stability_` looks at no more rows than these, spread over those of `fit`, and draws
# so often.
_ROWS_REDRAWN, _REDRAWS = 10, 5


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Samples around a row, as a surrogate sees them.

    Parameters
    ----------
    design : ndarray of shape (n, p), float
        Samples.
    answers : ndarray of shape (n, k)
        The model's responses to them.
    weights : ndarray of shape (n,)
        How near they are to the row.
    own : ndarray of shape (p,)
        The row itself, as the design has it.
    complete : bool, default=False
        Whether these are all samples that there are: then nothing is left to chance.
    moments : Moments, default=None
        Those of all samples that might be drawn, where they are known: then the
        surrogate is fitted to these, and the samples measure its fidelity alone.
    """

    design: np.ndarray
    answers: np.ndarray
    weights: np.ndarray
    own: np.ndarray
    complete: bool = False
    moments: Moments | None = None


class Surroundings(ABC):
    """Makes the neighbourhoods of rows.

    Everything random is drawn when it is made; it travels to workers. What it gives a
    row does not depend on the rows beside it.
    """

    # Whether another draw would give the same surrogates.
    exact = False

    @abstractmethod
    def around(self, rows):
        """Neighbourhoods of rows, one after the other.

        Parameters
        ----------
        rows : Rows or SampleRows
            The rows.

        Yields
        ------
        Neighbourhood
        """


class BaseLocalSurrogate(BaseInspector):
    """Base of the local surrogates.

    A subclass makes ready in `fit` (`_prepare`), draws surroundings (`_surroundings`)
    and describes what was found (`_describe`).
    """

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
        "n_samples": [Interval(Integral, 2, None, closed="left")],
        "kernel_width": [Interval(Real, 0, None, closed="neither"), None],
        "feature_selection": [StrOptions(set(SELECTIONS))],
        "surrogate": [HasMethods(["fit", "predict"]), None],
        "min_fidelity": [Interval(Real, None, 1, closed="right"), None],
        "target": "no_validation",
    }

    _caches: ClassVar[tuple] = ("_stability",)
    # What may follow the model more closely.
    _better: ClassVar[str] = "a smaller kernel_width, or more features"

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | None = 10,
        n_samples: int = 1000,
        kernel_width: float | None = None,
        feature_selection: str = "lars",
        surrogate: Any = None,
        min_fidelity: float | None = 0.2,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.n_samples = n_samples
        self.kernel_width = kernel_width
        self.feature_selection = feature_selection
        self.surrogate = surrogate
        self.min_fidelity = min_fidelity
        self.response_method = response_method
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _inspect(self, sample, response, on_block):
        self._response, self._inspected = response, sample.rows
        self._stability = None
        self.response_method_ = response.method
        n_outputs = plain_responses(response, sample.rows.take([0])).shape[1]
        self.output_names_ = response.output_names(n_outputs)
        seed = check_random_state(self.random_state).randint(_LARGEST_SEED)
        self._prepare(sample)
        self._seed, self._drawn = seed, self._surroundings([seed])
        on_block()

    @abstractmethod
    def _prepare(self, sample):
        """Set what all surroundings share."""

    @abstractmethod
    def _surroundings(self, seed):
        """Surroundings, drawn with a seed: a list of int."""

    @abstractmethod
    def _describe(self, rows, fits, **fields):
        """An explanation of rows.

        Parameters
        ----------
        rows : Rows or SampleRows
            The rows.
        fits : list of LocalFit
            A surrogate for each.
        **fields : dict
            Fields of :class:`LocalExplanation` that hold for all kinds of data.
        """

    def explain(self, X: Any) -> LocalExplanation:
        """Fit a surrogate around each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples, as `fit` takes them: rows of a table, texts or images.

        Returns
        -------
        LocalExplanation
            Weights of the surrogates, their intercepts, fidelity and predictions.

        Warns
        -----
        LowFidelityWarning
            A surrogate follows the model less well than `min_fidelity`.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        fits = self._fits(rows, self._drawn)
        self._check_fidelity(fits)
        predictions = plain_responses(self._response, rows)
        fields = {
            "predictions": predictions,
            "fidelity": np.stack([fit.fidelity for fit in fits]),
            "local_predictions": np.stack([fit.prediction for fit in fits]),
        }
        fields = {**by_output(fields), "output_names": self.output_names_}
        return self._describe(rows, fits, **fields)

    def _fits(self, rows, surroundings):
        """The surrogates of rows, in these surroundings."""
        fitter = SurrogateFitter(
            self.n_features_to_select, self.feature_selection, self.surrogate
        )
        step = rows.n_rows
        n_workers = effective_n_jobs(self.n_jobs)
        if n_workers > 1:
            step = -(-rows.n_rows // (_TASKS_PER_WORKER * n_workers))
        tasks = [
            (fitter, surroundings, rows.part(part))
            for part in slices(rows.n_rows, step)
        ]
        parts = run(_fitted, tasks, n_jobs=self.n_jobs, verbose=self.verbose)
        return [fit for part in parts for fit in part]

    def _check_fidelity(self, fits):
        if self.min_fidelity is None:
            return
        worst = np.array([fit.fidelity.min() for fit in fits])
        low = np.flatnonzero(worst < self.min_fidelity)
        if len(low):
            warnings.warn(
                f"The surrogates of {len(low)} of {len(fits)} rows explain less of the "
                f"model around them than min_fidelity={self.min_fidelity:g} asks; the "
                f"lowest R^2 is {worst.min():.3g}, that of row {worst.argmin()}. Read "
                f"them with care, or try {self._better}.",
                LowFidelityWarning,
                stacklevel=3,
            )

    def stability_score(
        self, X: Any, *, n_redraws: int = 10, n_features: int = 5
    ) -> NDArray[np.float64]:
        """How much of an explanation stays when its samples are drawn again.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples, as `fit` takes them: rows of a table, texts or images.
        n_redraws : int, default=10
            How often samples are drawn.
        n_features : int, default=5
            How many features, those of the largest effects, are compared.

        Returns
        -------
        ndarray of shape (n_samples,)
            Mean Jaccard similarity of the sets of features of each two draws, from 0
            to 1 (always the same); mean over outputs.

        Raises
        ------
        ValueError
            Fewer than two draws, or no features.
        """
        check_is_fitted(self)
        for name, value, least in (
            ("n_redraws", n_redraws, 2),
            ("n_features", n_features, 1),
        ):
            if not isinstance(value, Integral) or value < least:
                raise ValueError(
                    f"{name}={value!r} must be an int of at least {least}."
                )
        rows = self._check_rows(X, reset=False)
        if self._drawn.exact:
            return np.ones(rows.n_rows)
        draws = [
            self._fits(rows, self._surroundings([self._seed, draw]))
            for draw in range(n_redraws)
        ]
        return np.array(
            [_similarity(fits, n_features) for fits in zip(*draws, strict=True)]
        )

    @property
    def stability_(self) -> float:
        """Mean similarity of the explanations of samples of `fit` over redraws.

        That of :meth:`stability_score`, over five draws and at most 10 samples, spread
        evenly over those of `fit`. Computed when first asked for.
        """
        check_is_fitted(self)
        if self._stability is None:
            n_rows = self._inspected.n_rows
            size = min(n_rows, _ROWS_REDRAWN)
            places = np.linspace(0, n_rows - 1, size).astype(np.intp)
            rows = self._inspected.take(places)
            scores = self.stability_score(rows.native, n_redraws=_REDRAWS)
            self._stability = float(scores.mean())
        return self._stability


def _fitted(fitter, surroundings, rows):
    # Threads would change the last bits.
    with limit_threads(1):
        return [fitter.fit(around) for around in surroundings.around(rows)]


def _similarity(fits, n_features):
    """Mean Jaccard similarity of a row's strongest features between its fits."""
    found = []
    for output in range(fits[0].coefficients.shape[1]):
        tops = [frozenset(fit.strongest(output)[:n_features].tolist()) for fit in fits]
        found += [len(a & b) / len(a | b) for a, b in combinations(tops, 2) if a | b]
    return float(np.mean(found)) if found else 1.0
