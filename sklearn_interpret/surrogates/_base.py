"""Base of the local surrogates: samples around a row, and models fitted to them.

A `Sampler` draws the samples (Ribeiro, Singh & Guestrin 2016, LIME); `fit_locally`
fits a surrogate to the samples of each row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import lru_cache, partial
from itertools import chain, combinations
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.masks import (
    MOST_POINTS,
    cosine_distances,
    gaussian_kernel,
)
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import (
    HasMethods,
    Interval,
    StrOptions,
    warn,
)
from sklearn_interpret._model.parallel import limit_threads, run, slices, worker_slices
from sklearn_interpret._model.progress import shows_progress, with_progress
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.row_limit import announce_rows
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import LowFidelityWarning, UndefinedFidelityWarning
from sklearn_interpret.surrogates._local_explanation import LocalExplanation
from sklearn_interpret.surrogates._local_fits import (
    SELECTIONS,
    Neighbourhood,
    check_local_surrogate,
    drop_output_axis,
    fit_locally,
)

if TYPE_CHECKING:
    from sklearn_interpret._core.local.masks import Masks
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.surrogates._local_fits import LocalFit

# `RandomState.randint` draws below this on all platforms.
_LARGEST_SEED = np.iinfo(np.int32).max
# Largest number of rows, evenly spaced in the rows of `fit`, and number of draws for
# `stability_`: together the documented cost of 50 explanations.
_N_REDRAWN_ROWS = 10
_N_REDRAWS = 5
# Default kernel width of texts and images, in cosine distance: the default of lime.
_WIDTH_OF_MASKS = 0.25

AnyLocalExplanation = TypeVar("AnyLocalExplanation", bound=LocalExplanation)


class Sampler(ABC):
    """Draws the neighbourhoods of rows; holds all random draws."""

    # Whether surrogates do not depend on the draws.
    exact = False
    # Rows that are sent to the model for each row.
    n_asked = 0

    @abstractmethod
    def neighbourhoods(self, rows: Any) -> Iterator[Neighbourhood]:
        """Yield the `Neighbourhood` of each row."""


class MaskedSample(NamedTuple):
    """A text or image in segments (or words), some of which can be left out."""

    n_segments: int
    # From masks (n_copies, n_segments) of the segments that are present.
    make_copies: Callable[[NDArray[np.bool_]], Any]
    batch_size: int  # copies in one call of the model


class MaskSampler(Sampler):
    r"""Copies of texts or images without some of their words or segments.

    A copy that keeps the share s of the segments has the weight

    .. math:: \pi = \exp\left(-\frac{(1 - \sqrt{s})^2}{2 \sigma^2}\right).

    Parameters
    ----------
    response : Response
        The model.
    split : callable
        ``split(sample)``: the `MaskedSample`.
    draw : callable
        ``draw(n_segments, n_masks, rng)``: the `Masks`.
    n_samples : int
        Number of copies.
    kernel_width : float or None
        The kernel's width sigma; None means 0.25.
    seed : list of int
        Seed of the draws. Samples of as many segments get the same masks.
    """

    def __init__(
        self,
        response: Response,
        split: Callable[[Any], MaskedSample],
        draw: Callable[[int, int, np.random.Generator], Masks],
        n_samples: int,
        kernel_width: float | None,
        seed: list[int],
    ) -> None:
        self.response, self.split, self.draw = response, split, draw
        self.n_samples, self.n_asked, self.seed = n_samples, n_samples, seed
        self.kernel_width = _WIDTH_OF_MASKS if kernel_width is None else kernel_width

    def neighbourhoods(self, rows: Any) -> Iterator[Neighbourhood]:
        """Yield the neighbourhood of each sample that `rows` iterates over."""
        draw_masks = lru_cache(maxsize=8)(self._draw_masks)
        for sample in rows:
            masked = self.split(sample)
            masks = draw_masks(masked.n_segments)
            responses = [
                self.response(masked.make_copies(masks.present[batch]))
                for batch in slices(len(masks.present), masked.batch_size)
            ]
            squared_distances = cosine_distances(masks.present) ** 2
            yield Neighbourhood(
                design=masks.present.astype(np.float64),
                responses=np.concatenate(responses),
                weights=masks.probabilities
                * gaussian_kernel(squared_distances, self.kernel_width),
                origin=np.ones(masked.n_segments),
                complete=masks.complete,
            )

    def _draw_masks(self, n_segments: int) -> Masks:
        rng = np.random.default_rng([*self.seed, n_segments])
        return self.draw(n_segments, self.n_samples, rng)


@estimator_dataclass
class BaseLocalSurrogate(BaseInspector, Generic[AnyLocalExplanation]):
    """Base of the local surrogates.

    A subclass reads the rows of `fit` (`_fit_samplers`), draws samples
    (`_make_sampler`) and builds explanations from the surrogates (`_explanation`).
    """

    # Parameters whose defaults the subclasses set.
    n_features_to_select: int | None
    feature_selection: str
    surrogate: Any

    min_fidelity: float | None = 0.2
    max_rows: int | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    response_method_: str | Callable[..., Any] = field(init=False)
    output_names_: list[Any] = field(init=False)

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
        "n_samples": [Interval(Integral, 2, MOST_POINTS, closed="both")],
        "kernel_width": [Interval(Real, 0, None, closed="neither"), None],
        "feature_selection": [StrOptions(set(SELECTIONS))],
        "surrogate": [HasMethods(["fit", "predict"]), None],
        "min_fidelity": [Interval(Real, None, 1, closed="right"), None],
    }

    _caches: ClassVar[tuple[str, ...]] = ("_stability",)
    # Advice for a better fidelity.
    _advice: ClassVar[str] = "a smaller kernel_width, or more features"

    def _inspect(self, sample: Sample, response: Response) -> None:
        if self.surrogate is not None:
            check_local_surrogate(self.surrogate)
        self._response = response
        self._stability: float | None = None
        n_rows = sample.rows.n_rows
        evenly = np.linspace(0, n_rows - 1, min(n_rows, _N_REDRAWN_ROWS))
        self._redrawn_rows = sample.rows.take(evenly.astype(np.intp))
        self.response_method_ = response.method
        n_outputs = plain_responses(response, sample.rows.take([0])).shape[1]
        self.output_names_ = response.output_names(n_outputs)
        self._seed = check_random_state(self.random_state).randint(_LARGEST_SEED)
        self._fit_samplers(sample)
        self._sampler = self._make_sampler([self._seed])

    @abstractmethod
    def _fit_samplers(self, sample: Sample) -> None:
        """Set the attributes that all samplers use."""

    @abstractmethod
    def _make_sampler(self, seed: list[int]) -> Sampler:
        """A sampler with draws from a seed, a list of int."""

    @abstractmethod
    def _explanation(
        self, rows: Any, fits: list[LocalFit], **fields: Any
    ) -> AnyLocalExplanation:
        """A `LocalExplanation` of rows from their `LocalFit`, with further fields."""

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any) -> AnyLocalExplanation:
        """Fit a surrogate around each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples like those of `fit`: rows of a table, texts or images.

        Returns
        -------
        LocalExplanation
            Weights of the surrogates, their intercepts, fidelity and predictions.

        Warns
        -----
        LowFidelityWarning
            If the fidelity of a surrogate is below `min_fidelity`.
        UndefinedFidelityWarning
            If the model's response is constant over the samples around a row, so that
            R² is undefined.
        """
        rows = self._check_rows(X, reset=False)
        predictions = plain_responses(self._response, rows)
        fits = self._fit_rows(rows, self._sampler)
        self._check_fidelity(fits)
        return self._explanation(
            rows,
            fits,
            **drop_output_axis({"predictions": predictions}),
            data=rows.native,
            output_names=self.output_names_,
            response_name=self._response_name,
            target_name=self._target_name,
        )

    def _fit_rows(self, rows: Any, sampler: Sampler) -> list[LocalFit]:
        """A `LocalFit` for each row."""
        announce_rows(
            rows.n_rows * sampler.n_asked,
            {"rows": rows.n_rows, "samples of each": sampler.n_asked},
            "Pass fewer rows, or use fewer n_samples",
        )
        fit = partial(
            fit_locally,
            n_features=self.n_features_to_select,
            selection=self.feature_selection,
            surrogate=self.surrogate,
        )
        blocks = worker_slices(rows.n_rows, self.n_jobs)
        tasks = [(fit, sampler, rows.sliced(block)) for block in blocks]
        fits_by_block = run(_fit_block, tasks, n_jobs=self.n_jobs)
        return list(chain.from_iterable(fits_by_block))

    def _check_fidelity(self, fits: list[LocalFit]) -> None:
        if self.min_fidelity is None:
            return
        # fmin: NaN only if no output has an R².
        worst = np.array([np.fmin.reduce(fit.fidelity) for fit in fits])
        undefined = np.flatnonzero(np.isnan(worst))
        if len(undefined):
            warn(
                f"Ignore the weights of {len(undefined)} of {len(fits)} rows, the "
                f"first of them row {undefined[0]}: the model responds alike to all "
                "samples around them, and R² is undefined there.",
                UndefinedFidelityWarning,
            )
        n_low = np.count_nonzero(worst < self.min_fidelity)
        if n_low:
            warn(
                f"Try {self._advice}, or read the weights with care: the surrogates "
                f"of {n_low} of {len(fits)} rows explain less of the model around "
                f"them than min_fidelity={self.min_fidelity:g} asks; the lowest R² is "
                f"{np.nanmin(worst):.3g}, that of row {np.nanargmin(worst)}.",
                LowFidelityWarning,
            )

    @shows_progress
    def stability_score(
        self, X: Any, *, n_redraws: int = 10, n_features: int = 5
    ) -> NDArray[np.float64]:
        """Similarity of explanations between draws of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, ...)
            Samples like those of `fit`: rows of a table, texts or images.
        n_redraws : int, default=10
            Number of draws of the samples.
        n_features : int, default=5
            Number of features of the largest effects that are compared.

        Returns
        -------
        ndarray of shape (n_samples,)
            Mean Jaccard similarity of the sets of features over pairs of draws, from 0
            to 1 (always the same); mean over outputs.

        Raises
        ------
        ValueError
            If there are fewer than two draws, or no features.
        """
        check_is_fitted(self)
        for name, value, minimum in (
            ("n_redraws", n_redraws, 2),
            ("n_features", n_features, 1),
        ):
            if not isinstance(value, Integral) or value < minimum:
                raise ValueError(
                    f"{name}={value!r} must be an int of at least {minimum}."
                )
        rows = self._check_rows(X, reset=False)
        if self._sampler.exact:
            return np.ones(rows.n_rows)
        draws = [
            self._fit_rows(rows, self._make_sampler([self._seed, draw]))
            for draw in with_progress(range(n_redraws))
        ]
        return np.array(
            [_mean_similarity(fits, n_features) for fits in zip(*draws, strict=True)]
        )

    @property
    def stability_(self) -> float:
        """Mean similarity of the explanations of rows of `fit` between draws.

        The mean of :meth:`stability_score` for five draws and at most 10 evenly spaced
        rows of `fit`. Computed on first access.
        """
        check_is_fitted(self)
        if self._stability is None:
            rows = self._redrawn_rows.native
            scores = self.stability_score(rows, n_redraws=_N_REDRAWS)
            self._stability = float(scores.mean())
        return self._stability


def _fit_block(fit: Callable[..., Any], sampler: Sampler, rows: Any) -> list[LocalFit]:
    """The `LocalFit` of each row of a block."""
    # The fits are too small for threads.
    with limit_threads(1):
        samples = with_progress(sampler.neighbourhoods(rows), rows.n_rows)
        return [fit(neighbourhood) for neighbourhood in samples]


def _mean_similarity(fits: tuple[LocalFit, ...], n_features: int) -> float:
    """Mean Jaccard similarity of a row's strongest features between its fits."""
    similarities = []
    for output in range(fits[0].coefficients.shape[1]):
        strongest = [set(fit.strongest(output)[:n_features].tolist()) for fit in fits]
        similarities += [
            len(first & second) / len(first | second)
            for first, second in combinations(strongest, 2)
            if first | second
        ]
    return float(np.mean(similarities)) if similarities else 1.0
