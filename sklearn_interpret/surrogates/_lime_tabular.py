"""LIME for tables (Ribeiro, Singh & Guestrin 2016)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.linear_surrogates import LocalMoments
from sklearn_interpret._core.local.masks import gaussian_kernel, quasi_random_points
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.trees.independent_columns import (
    IndependentColumns,
)
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.progress import progress_of
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import resolve_categorical
from sklearn_interpret._model.rows.marginals import Marginals
from sklearn_interpret._model.surrogates.local_samples import LocalDraws
from sklearn_interpret.explanations import AttributionTransformerMixin
from sklearn_interpret.surrogates._base import BaseLocalSurrogate, Sampler
from sklearn_interpret.surrogates._local_explanation import LocalExplanation
from sklearn_interpret.surrogates._local_fits import (
    Neighbourhood,
    drop_output_axis,
    fields_of,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.marginals import Location
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.surrogates._local_fits import LocalFit

# Default number of bins of equal weight: quartiles, as in lime.
_QUARTILES = 4
# Default kernel widths in units of the root of the number of features. For numbers it
# is the default of lime. Two samples differ by two squared standard deviations in a
# number, but by at most one in a bin, and bins approximate the model less closely: a
# narrower kernel, chosen by hand, compensates both.
_WIDTH_OF_NUMBERS = 0.75
_WIDTH_OF_BINS = 0.3


@estimator_dataclass
class LimeTabular(AttributionTransformerMixin, BaseLocalSurrogate[LocalExplanation]):
    r"""Linear surrogates around single rows of a table (LIME).

    The model predicts rows that are drawn around the explained one; a small linear
    model is fitted to the responses, with larger weights for near rows. Its
    coefficients are the explanation, its R² on the samples shows how far to trust it.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    n_features_to_select : int or None, default=10
        Number of features that a surrogate uses, or all if there are fewer. None takes
        all.
    n_samples : int, default=5000
        Number of rows that are drawn.
    kernel_width : float or None, default=None
        Width of the kernel of samples, in the unit of distances: standard deviations,
        or roots of the number of bins and categories that differ. None takes 0.75 times
        the root of the number of features, or 0.3 times it if numbers are binned.
    discretize : bool or int, default=True
        Whether numbers are binned into quartiles, or the number of bins of about equal
        weight. A weight is then the effect of being in the row's own bin. Without bins
        it is the effect of one unit of the feature.
    feature_selection : {"lars", "forward", "highest_weights", "none"}, default="lars"
        Selection of features: by least angle regression, by forward selection, by their
        weights in a regression on all features, or none.
    surrogate : estimator or None, default=None
        Estimator that is fitted to the selected features, such as a ridge regression or
        a short tree; it needs `coef_` or `feature_importances_`, and `sample_weight` in
        its
        `fit`. None takes least squares.
    sample_around : {"training", "instance"}, default="training"
        Distribution of samples: each feature from its values in `fit`, the same for all
        rows, or around the explained row, with the standard deviations of `fit`.
    correlated : bool, default=False
        Whether features are drawn jointly, from rows of `fit` with a little noise that
        keeps means and covariances, or independently.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Categorical features, or a boolean mask of them; None means none. "auto" takes
        categories, strings and booleans by dtype.
    method : {"auto", "tree", "sampling"}, default="auto"
        "tree" computes the surrogates of a sum of trees exactly, as with infinitely
        many samples; samples are only used for the fidelity. It needs features that are
        drawn independently from `fit`, and a least-squares surrogate. "sampling" fits
        to the samples. "auto" takes "tree" if possible.
    min_fidelity : float or None, default=0.2
        R² below which :class:`~sklearn_interpret.exceptions.LowFidelityWarning` is
        raised; None never warns.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    random_state : int, RandomState or None, default=None
        Seed of the samples, which are drawn once in `fit`.
    n_jobs : int or None, default=None
        Number of workers, among which the rows to explain are split.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute effect, the weight times the feature's scale, over the rows of
        `fit`; mean over outputs. Computed on first access.
    stability_ : float
        Mean Jaccard similarity of the five strongest features between draws of the
        samples, from 0 to 1. Computed on first access.
    kernel_width_ : float
        The kernel's width.
    method_ : {"tree", "sampling"}
        Method that is used.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: if no feature varies, or other parameters exclude ``method="tree"``.
    UnreadableModelError
        In `fit`, with ``method="tree"``: if the response is not a sum of trees.

    See Also
    --------
    LimeText : For texts.
    LimeImage : For images.
    GlobalSurrogate : One surrogate for all rows.

    Notes
    -----
    For samples z around the row x, with responses f(z), the surrogate

    .. math:: \min_{g} \sum_z \pi_x(z) \left(f(z) - g(z)\right)^2, \qquad
        \pi_x(z) = \exp\left(-\frac{d(x, z)^2}{2 \sigma^2}\right)

    is linear in the features, or in whether they are in the row's own bins. The squared
    distance d is the sum of squared standardised differences, and of ones for bins and
    categories that differ.

    Samples are scrambled Sobol points, mapped to the quantiles of `fit`: 1000 of them
    give about the same stability as 5000 independent draws. All random draws are made
    in `fit`: the same row always gets the same explanation.

    Independent features remain independent under the kernel's weights. The weight of a
    feature is then the covariance of its bin, or value, with the response, divided by
    its variance. For a sum of trees these follow from the probabilities of the leaves.

    ``explain(X).standard_errors`` are sampling errors of the weights. They are rather
    too large, because Sobol points are more even than random ones.

    References
    ----------
    Ribeiro, M. T., Singh, S. & Guestrin, C. (2016). "Why should I trust you?":
    explaining the predictions of any classifier. Proceedings of KDD 2016.
    https://doi.org/10.1145/2939672.2939778

    Garreau, D. & von Luxburg, U. (2020). Explaining the explainer: a first theoretical
    analysis of LIME. Proceedings of AISTATS 108.
    https://doi.org/10.48550/arXiv.2001.03447

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.surrogates import LimeTabular
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(n_estimators=20, random_state=0)
    >>> inspector = LimeTabular(model, n_features_to_select=3, random_state=0)
    >>> explanation = inspector.fit(X, y).explain(X[:1])
    >>> explanation.selected.sum()
    np.int64(3)
    >>> bool(explanation.fidelity[0] > 0.2)
    True
    >>> explanation.texts(0)[2]
    'bmi > 0.0316'
    """

    n_features_to_select: int | None = 10
    n_samples: int = 5000
    kernel_width: float | None = None
    discretize: bool | int = True
    feature_selection: str = "lars"
    surrogate: Any = None
    sample_around: str = "training"
    correlated: bool = False
    categorical_features: Any = "auto"
    method: str = "auto"

    kernel_width_: float = field(init=False)
    method_: Literal["tree", "sampling"] = field(init=False)

    _for_any_model = 'method="auto" takes any model.'

    _parameter_constraints = {
        **BaseLocalSurrogate._parameter_constraints,
        "discretize": ["boolean", Interval(Integral, 2, None, closed="left")],
        "sample_around": [StrOptions({"training", "instance"})],
        "correlated": ["boolean"],
        "categorical_features": [StrOptions({"auto"}), "array-like", None],
        "method": [StrOptions({"auto", "tree", "sampling"})],
    }

    _caches: ClassVar[tuple[str, ...]] = ("_importances", "_stability")
    _advice: ClassVar[str] = (
        "discretize=False, a smaller kernel_width, or more features"
    )

    def _fit_samplers(self, sample: Sample) -> None:
        rows = sample.rows
        self._importances: NDArray[np.float64] | None = None
        self._weights = sample.weights
        categorical = resolve_categorical(self.categorical_features, rows)
        n_bins = _QUARTILES if self.discretize is True else self.discretize or None
        self._marginals = Marginals(rows, sample.weights, categorical, n_bins)
        if all(len(column.labels) < 2 for column in self._marginals.columns):
            raise ValueError(
                "LimeTabular draws samples from the values of X, and no feature varies "
                f"over its {rows.n_rows} sample(s) of positive weight: at least two "
                "different rows are needed."
            )
        width = self.kernel_width
        if width is None:
            unit = _WIDTH_OF_BINS if n_bins else _WIDTH_OF_NUMBERS
            width = unit * np.sqrt(rows.n_columns)
        self.kernel_width_ = float(width)
        self._exact_trees = self._read_trees()
        self.method_ = "sampling" if self._exact_trees is None else "tree"

    def _read_trees(self) -> IndependentColumns | None:
        """The model's trees over independent columns, or None if they can't be used."""
        if self.method == "sampling":
            return None
        needs_samples = {
            "correlated": self.correlated,
            "sample_around": self.sample_around != "training",
            "surrogate": self.surrogate is not None,
        }
        for name, needs_them in needs_samples.items():
            if needs_them and self.method == "tree":
                raise ValueError(
                    f'method="tree" uses no samples; {name}={getattr(self, name)!r} '
                    "needs them."
                )
            if needs_them:
                return None
        n_values = [len(column.labels) for column in self._marginals.columns]
        arguments = self._response, self._marginals.levels(), n_values
        return read_formula(
            [IndependentColumns], *arguments, required=self.method == "tree"
        )

    def _make_sampler(self, seed: list[int]) -> Sampler:
        rng = np.random.default_rng(seed)
        marginals, width = self._marginals, self.kernel_width_
        if self.sample_around == "training" and not self.correlated:
            points = quasi_random_points(self.n_samples, len(marginals.columns), rng)
            samples, locations = marginals.draw(points)
            responses = plain_responses(self._response, as_rows(samples))
            return _SharedSamples(
                marginals, width, locations, responses, self._exact_trees
            )
        draws = LocalDraws(
            marginals,
            self._weights,
            self.n_samples,
            correlated=self.correlated,
            rng=rng,
        )
        if self.sample_around == "instance":
            return _SamplesAroundRows(marginals, width, draws, self._response)
        samples = as_rows(draws.draws_around_mean())
        responses = plain_responses(self._response, samples)
        return _SharedSamples(marginals, width, marginals.locate(samples), responses)

    def _attributed(self) -> Any:
        names = self._marginals.rows.names
        return [((j,), name) for j, name in enumerate(names)]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean absolute effect of each feature over the rows of `fit`.

        The weighted mean over rows, and the mean over outputs. Computed on first
        access.
        """
        check_is_fitted(self)
        if self._importances is None:
            with progress_of(self, "feature_importances_"):
                fits = self._fit_rows(self._marginals.rows, self._sampler)
            strengths = [np.abs(fit.coefficients).mean(axis=1) for fit in fits]
            self._importances = np.average(strengths, axis=0, weights=self._weights)
        return self._importances

    def _explanation(
        self, rows: Rows, fits: list[LocalFit], **fields: Any
    ) -> LocalExplanation:
        marginals = self._marginals
        scales, centers = marginals.scales[:, None], marginals.centers[:, None]
        arrays = fields_of(fits)
        for name in arrays.keys() & {"values", "standard_errors"}:
            arrays[name] /= scales
        if fits[0].linear:
            arrays["base_values"] -= (arrays["values"] * centers).sum(axis=1)
        conditions = None
        if marginals.discrete.any():
            conditions = marginals.conditions(marginals.locate(rows))
        return LocalExplanation(
            **drop_output_axis(arrays),
            **fields,
            feature_names=rows.names,
            scales=marginals.scales,
            conditions=conditions,
        )


class _TableSampler(Sampler):
    """Weights samples by their distance from a row."""

    def __init__(self, marginals: Marginals, width: float) -> None:
        self._marginals, self._width = marginals, width

    def _make_neighbourhood(
        self,
        samples: Location,
        responses: NDArray[np.float64],
        origin: Location,
        moments: LocalMoments | None = None,
    ) -> Neighbourhood:
        """The `Neighbourhood` of a row from the locations of samples and row."""
        discrete = self._marginals.discrete
        squares = np.einsum("ij->i", samples.squared_distances(origin))
        return Neighbourhood(
            design=np.where(discrete, samples.codes == origin.codes, samples.scores),
            responses=responses,
            # Relative to the nearest: otherwise all weights may underflow.
            weights=gaussian_kernel(squares - squares.min(), self._width),
            origin=np.where(discrete, 1.0, origin.scores[0]),
            moments=moments,
        )


class _SharedSamples(_TableSampler):
    """The same samples and responses for all rows.

    With `exact_trees`, surrogates are fitted to exact moments of the distribution.
    """

    def __init__(
        self,
        marginals: Marginals,
        width: float,
        samples: Location,
        responses: NDArray[np.float64],
        exact_trees: IndependentColumns | None = None,
    ) -> None:
        super().__init__(marginals, width)
        self._samples, self._responses = samples, responses
        self._exact_trees, self.exact = exact_trees, exact_trees is not None

    def neighbourhoods(self, rows: Rows) -> Iterator[Neighbourhood]:
        """Yield the samples with the weights for each row."""
        trees = self._exact_trees
        block_rows = rows.n_rows if trees is None else trees.block_rows
        for block in slices(rows.n_rows, block_rows):
            origins = self._marginals.locate(rows.sliced(block))
            moments: Sequence[LocalMoments | None] = [None] * len(origins.codes)
            if trees is not None:
                moments = self._exact_moments(trees, origins)
            for row, exact_moments in enumerate(moments):
                yield self._make_neighbourhood(
                    self._samples, self._responses, origins.take([row]), exact_moments
                )

    def _exact_moments(
        self, trees: IndependentColumns, origins: Location
    ) -> list[LocalMoments]:
        """Exact moments of the weighted distribution, for each row."""
        moments = trees.moments(
            *self._marginals.local_probabilities(origins, self._width)
        )
        return [
            LocalMoments(mean, response, np.diag(variance), cross)
            for mean, response, variance, cross in zip(
                moments.statistic,
                moments.mean,
                moments.variance,
                moments.covariance,
                strict=True,
            )
        ]


class _SamplesAroundRows(_TableSampler):
    """Samples around each row, from the same draws."""

    def __init__(
        self, marginals: Marginals, width: float, draws: LocalDraws, response: Response
    ) -> None:
        super().__init__(marginals, width)
        self._draws, self._response = draws, response
        self.n_asked = draws.n_samples

    def neighbourhoods(self, rows: Rows) -> Iterator[Neighbourhood]:
        """Yield the samples around each row."""
        n_samples = self._draws.n_samples
        block_rows = max(1, batch_rows(rows.row_bytes) // n_samples)
        for block in slices(rows.n_rows, block_rows):
            explained = rows.sliced(block)
            draws = as_rows(self._draws.draws_around(explained))
            samples = self._marginals.locate(draws)
            origins = self._marginals.locate(explained)
            responses = plain_responses(self._response, draws)
            for row, index in enumerate(slices(draws.n_rows, n_samples)):
                yield self._make_neighbourhood(
                    samples.take(index), responses[index], origins.take([row])
                )
