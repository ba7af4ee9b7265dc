"""Anchors of the rows of a table (Ribeiro et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.local.anchors import Neighbours
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.replacement.anchored import AnchoredRows
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.rows.features import resolve_categorical
from sklearn_interpret._model.rows.marginals import Marginals
from sklearn_interpret.counterfactuals._base_anchors import AnchorProblem, BaseAnchors
from sklearn_interpret.explanations import Condition

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Bins of equal weight where no number is given: quartiles, as in the authors' package.
_QUARTILES = 4


@dataclass(eq=False, repr=False)
class Anchors(BaseAnchors):
    r"""Rules that are enough for a prediction (anchors).

    The rule of a row is a set of conditions such as ``30 < age <= 37``, all of which
    hold for the row. Where they hold, the model nearly always gives the answer that it
    gives to the row, whatever the other features are. Of the rules of such precision,
    one that holds for many rows is wanted.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    precision : float, default=0.95
        How often the model has to keep its answer under a rule.
    delta : float, default=0.1
        Probability that the precision is below its lower bound, and as much for the
        upper one.
    tau : float, default=0.15
        By how much rules may be less precise than the best of their size, and still be
        extended in place of them.
    beam_size : int, default=4
        How many rules of each size are extended.
    max_anchor_size : int or None, default=None
        How many conditions a rule has at most; None means any number.
    n_samples : int, default=2000
        By how many perturbed rows a rule is compared with others, and by how many new
        ones it is judged, at most.
    n_coverage_samples : int, default=10000
        How many rows of `fit` are kept, to be perturbed and to count coverage on.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    discretize : bool or int, default=True
        Whether numbers are cut into bins of about equal weight: quartiles, or a number
        of bins. With False, a condition asks for the row's very value.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features without order, or a boolean mask of them; None means none. "auto" takes
        categories, strings and booleans by dtype.
    tolerance : float or None, default=None
        How far a regressor's prediction may be from the row's and still be the same
        answer; None takes half of the standard deviation of its predictions in `fit`.
        Classifiers have to predict the row's class.
    random_state : int, RandomState or None, default=None
        Draws the rows that are perturbed, once in `fit`.
    n_jobs : int or None, default=None
        Workers, which share the rows to explain.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    See Also
    --------
    AnchorsText : For texts.

    Notes
    -----
    To perturb a row under a rule, a row of `fit` is drawn, and each feature of
    the rule whose value in it is not in the explained row's bin, or level, gets a value
    of `fit` that is. The precision of a rule is the probability that the model then
    gives the explained row's answer. Features outside of the rule keep their
    dependence.

    Rules grow by one condition at a time, from the `beam_size` most precise ones, which
    KL-LUCB tells from the others by few perturbed rows, by the answers that one of two
    rules keeps and the other does not. All rules have the same draws, made in `fit`,
    and a perturbed row that two rules share is predicted once. A rule that seems
    precise enough is judged by draws that had no part in the search. Its bounds are
    Chernoff's, and each look at the draws, of any rule of the row, has its share of
    `delta`. The widest rule whose lower bound reaches `precision` is returned.

    Where no rule is found, the explanation has the most precise one, with "failed" as
    its status. Rules that hold for less than 0.5 % of the rows of `fit` are not
    extended: they would say little more than the row itself. A level or a missing value
    that `fit` did not see is in no rule.

    References
    ----------
    Ribeiro, M. T., Singh, S. & Guestrin, C. (2018). Anchors: high-precision
    model-agnostic explanations. Proceedings of the AAAI Conference on Artificial
    Intelligence 32. https://doi.org/10.1609/aaai.v32i1.11491

    Kaufmann, E. & Kalyanakrishnan, S. (2013). Information complexity in bandit subset
    selection. Proceedings of COLT 2013.
    https://proceedings.mlr.press/v30/Kaufmann13.html

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn_interpret.counterfactuals import Anchors
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> explanation = Anchors(model, random_state=0).fit(X, y).explain(X[:1])
    >>> explanation.text(0)
    'petal width (cm) <= 0.3'
    >>> bool(explanation.precision_low[0] >= 0.95)
    True
    """

    _: KW_ONLY
    discretize: bool | int = True
    categorical_features: Any = "auto"
    tolerance: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _least_coverage: ClassVar[float] = 0.005
    _advice: ClassVar[str] = "more bins (discretize), or a lower precision"

    _parameter_constraints = {
        **BaseAnchors._parameter_constraints,
        "discretize": ["boolean", Interval(Integral, 2, None, closed="left")],
        "categorical_features": [StrOptions({"auto"}), "array-like", None],
    }

    def _fit_perturbations(self, sample: Sample) -> None:
        rows = sample.rows
        categorical = resolve_categorical(self.categorical_features, rows)
        n_bins = _QUARTILES if self.discretize is True else self.discretize or None
        if n_bins is None:  # each value is a level
            categorical = np.ones_like(categorical)
        self._marginals = Marginals(rows, sample.weights, categorical, n_bins)
        self._codes = self._marginals.locate(rows).codes
        self._anchored_rows = AnchoredRows(
            rows, sample.weights, 2 * self.n_samples, self._seed
        )

    def _problems(self, rows: Rows) -> Iterator[AnchorProblem]:
        responses = plain_responses(self._response, rows)
        codes = self._marginals.locate(rows).codes
        for answer, row_codes in zip(responses, codes, strict=True):
            has_value = self._codes == row_codes
            # Other features have no second value, or conditions that always hold.
            varies = has_value.any(axis=0) & ~has_value.all(axis=0)
            columns = np.flatnonzero(varies).tolist()
            covered = has_value[:, columns]
            met = covered[self._anchored_rows.drawn_rows]
            donors = [(j, np.flatnonzero(has_value[:, j])) for j in columns]
            ask = partial(self._ask, answer, donors)
            neighbours = Neighbours(met, ask, covered, self._shares)
            condition = partial(self._make_condition, columns, row_codes)
            yield AnchorProblem(neighbours, condition)

    def _ask(
        self,
        answer: NDArray[np.float64],
        donors: list[tuple[int, NDArray[np.intp]]],
        draws: NDArray[np.intp],
        changed: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Whether the model keeps its answer on draws, perturbed rows: (m,).

        `changed` (m, n_conditions) marks the conditions that each draw is made to meet.
        `donors` are, for each column of a condition, the known rows that meet it.
        """
        responses = self._responses[self._anchored_rows.drawn_rows[draws]]
        changed_draws = np.flatnonzero(changed.any(axis=1))
        if len(changed_draws):
            blocks = self._anchored_rows.blocks(
                draws[changed_draws], changed[changed_draws], donors
            )
            responses[changed_draws] = np.concatenate(
                [self._response(block) for block in blocks]
            )
        return self._keeps_answer(answer, responses)

    def _make_condition(
        self, columns: list[int], codes: NDArray[np.intp], position: int
    ) -> Condition:
        """The condition at a position, as a `Condition`."""
        j = columns[position]
        name, column = str(self._marginals.rows.names[j]), self._marginals.columns[j]
        return Condition(j, name, **column.condition(codes[j]))
