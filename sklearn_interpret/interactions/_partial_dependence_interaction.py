"""Interactions measured on partial dependence surfaces (Greenwell et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from operator import length_hint
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._core.effects.h_statistics import as_matrices, greenwell_strength
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.replacement.replaced import (
    ReplacedResponses,
    choose_evaluator,
)
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    plain_responses,
)
from sklearn_interpret._model.row_limit import announce_rows
from sklearn_interpret._model.rows.features import resolve_categorical
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.interactions._base import BaseInteraction, SetNumbers

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

_ADVICE = (
    "Use fewer features or pairs (features=, pairs=), fewer rows (subsample=), or a "
    "smaller grid_resolution, with whose square the number grows"
)

# Estimated memory of a surface: bytes of a point and output, and the fixed memory of
# its arrays, in points.
_BYTES_PER_POINT = 48
_FIXED_POINTS = 64

# Largest number of pairs in a block.
_PAIRS_PER_BLOCK = 2**12


@estimator_dataclass
class PartialDependenceInteraction(BaseInteraction):
    """Variation of one feature's partial dependence along another.

    On the surface of two features, the curve along one of them has a standard deviation
    at each point of the other. Without an interaction these are all equal. The standard
    deviation of these deviations, averaged over both directions, is the strength.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints and strs, default=None
        Features and groups to inspect, by position or name; None takes all.
    pairs : None or list of pairs of ints and strs, default=None
        Pairs of them; None takes all pairs.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    feature_groups : dict of str to list, default=None
        Features that count as one, with their observed joint values.
    grid_resolution : int, default=20
        Largest number of points along a numeric feature; a pair has the product.
    percentiles : tuple of two floats, default=(0.05, 0.95)
        Quantiles between which the equally spaced points lie.
    custom_values : dict of feature to array-like, default=None
        Points to use instead, in the feature's units.
    method : {"auto", "tree", "brute"}, default="auto"
        As in :class:`~sklearn_interpret.effects.PartialDependence`.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" is `predict` of regressors, and `predict_proba`, else
        `decision_function`, of classifiers. Also a method's name, a list of names of
        which the first found is used, "centered_log_proba", or ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows to average over; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    pairwise_ : ndarray of shape (p, p) or (k, p, p)
        Strength of each pair of the p features and groups, in the units of the
        response; symmetric, zero on the diagonal, NaN for pairs not in `pairs_`.
        With several outputs their axis comes first.
    features_ : list of tuple of int
        Columns of each feature or group.
    player_names_ : list of str
        Their names.
    pairs_ : list of tuple of two ints
        Positions of the pairs in `player_names_`.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: unknown or repeated features or pairs, a grid that cannot be built, a
        response that is not finite or whose squares are not, a fitted model not frozen
        without `y`.
    UnreadableModelError
        In `fit` with "tree": the trees can't be read, or the response is neither their
        sum nor a link function of it.

    Notes
    -----
    The model gets n rows, and with "brute" n G^2 more for a pair of G points each; with
    "tree" a few more, to check the trees. Unlike in :class:`HStatistic`, the points of
    the grid are not weighted by the distribution of the rows. An interaction with equal
    deviations at all points is not found, such as f = x0 x1 over a grid of -1 and 1.

    References
    ----------
    Greenwell, B. M., Boehmke, B. C. and McCarthy, A. J. (2018). A simple and effective
    model-based variable importance measure. https://doi.org/10.48550/arXiv.1805.04755

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from sklearn_interpret.interactions import PartialDependenceInteraction
    >>> X = np.random.default_rng(0).uniform(0, 1, size=(50, 3))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> model = make_pipeline(PolynomialFeatures(2), LinearRegression())
    >>> PartialDependenceInteraction(model).fit(X, y).pairwise_.round(2)
    array([[0.  , 0.07, 0.  ],
           [0.07, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    features: Any = None
    pairs: Any = None
    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    grid_resolution: int = 20
    percentiles: tuple[float, float] = (0.05, 0.95)
    custom_values: dict[Any, Any] | None = None
    method: str = "auto"

    pairwise_: NDArray[np.float64] = field(init=False)

    _parameter_constraints = {
        **PartialDependence._parameter_constraints,
        **BaseInteraction._parameter_constraints,
    }

    def _inspect(self, sample: Sample, response: Response) -> None:
        self._resolve_pairs(sample.rows)
        predictions = plain_responses(response, sample.rows)
        n_outputs = predictions.shape[1]
        strengths = np.empty((len(self._pairs), n_outputs))
        blocks = list(self._blocks_of_pairs(sample.rows, response, n_outputs))
        for pairs in with_progress(blocks):
            surfaces = self._surfaces(sample, self._pairs[pairs].tolist(), n_outputs)
            strengths[pairs] = list(map(greenwell_strength, surfaces))
        pairwise = as_matrices(strengths, self._pairs, len(self.features_))
        self.pairwise_ = drop_single_output(pairwise)
        self.output_names_ = response.output_names(len(pairwise))

    def _numbers_of_sets(self) -> Iterator[SetNumbers]:
        if len(self._pairs):
            names = np.array(self.player_names_, dtype=object)
            matrices = self.pairwise_.reshape(-1, len(names), len(names))
            first, second = self._pairs.T
            strengths = matrices[:, first, second].T
            yield SetNumbers(names[self._pairs], {"strength": strengths})

    def _result_units(self) -> dict[str, str]:
        return {"strength": self._response_name}

    def _blocks_of_pairs(
        self, rows: Rows, response: Response, n_outputs: int
    ) -> Iterator[slice]:
        """Slices of the pairs whose surfaces fit into memory together."""
        n_pairs = len(self._pairs)
        if not n_pairs:
            return
        player_points = self._most_points_by_player(rows)
        blocks = slices(n_pairs, _PAIRS_PER_BLOCK)
        n_points = sum(
            _points_of_pairs(player_points, self._pairs[block]).sum()
            for block in blocks
        )
        replaced_responses = choose_evaluator(
            self.method, response, rows, [], n_variants=n_points
        )
        if isinstance(replaced_responses, ReplacedResponses):
            parts = {"rows": rows.n_rows, "points of all pairs": n_points}
            announce_rows(rows.n_rows * n_points, parts, _ADVICE)
        else:
            n_sums = replaced_responses.most_sums_of_pairs(n_pairs, n_points)
            self._warn_of_sums(n_sums)
        max_points = rows_in_memory(_BYTES_PER_POINT * (1 + n_outputs))
        start = 0
        while start < n_pairs:
            points = _points_of_pairs(
                player_points, self._pairs[start : start + _PAIRS_PER_BLOCK]
            )
            ends = np.cumsum(points + _FIXED_POINTS)
            n_fitting = max(1, int(np.searchsorted(ends, max_points, side="right")))
            yield slice(start, start + n_fitting)
            start += n_fitting

    def _most_points_by_player(self, rows: Rows) -> NDArray[np.float64]:
        """Largest number of points along each player, as floats."""
        categorical = resolve_categorical(self.categorical_features, rows)
        custom = (self.custom_values or {}).values()
        most_custom = max((length_hint(values, 1) for values in custom), default=0)
        player_points = []
        for columns in self.features_:
            n_points = len(rows.encode(columns)[1])
            if len(columns) == 1 and not categorical[columns[0]]:
                n_points = min(n_points, self.grid_resolution)
            player_points.append(max(n_points, most_custom))
        return np.array(player_points, dtype=np.float64)

    def _surfaces(
        self, sample: Sample, pairs: list[list[int]], n_outputs: int
    ) -> Iterator[NDArray[np.float64]]:
        """Partial dependence on pairs over a grid: (k, n_points, n_points_2)."""
        players = [
            columns[0] if len(columns) == 1 else name
            for columns, name in zip(self.features_, self.player_names_, strict=True)
        ]
        settings = self.get_params(deep=False)
        for name in ("estimator", "pairs", "subsample", "random_state", "verbose"):
            del settings[name]
        settings["features"] = [
            (players[first], players[second]) for first, second in pairs
        ]
        effect = PartialDependence(FrozenEstimator(self.estimator_), **settings)
        # Averages do not depend on the scale of the weights, which avoids a warning.
        weights = sample.weights * (sample.rows.n_rows / sample.weights.sum())
        effect.fit(sample.rows.native, sample_weight=weights)
        for (first, second), average in zip(
            effect.grid_values_, effect.average_, strict=True
        ):
            yield np.reshape(average, (n_outputs, len(first), len(second)))


def _points_of_pairs(
    player_points: NDArray[np.float64], pairs: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Most points of the surfaces of pairs, from the most points along each player."""
    return player_points[pairs].prod(axis=1)
