"""The smallest perturbation that makes a model answer otherwise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret.adversarial._base import BaseAttack
from sklearn_interpret.adversarial._perturbations import (
    LinearPerturbation,
    SmoothPerturbation,
    TreePerturbation,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.adversarial._base import AttackResult


@dataclass(eq=False, repr=False)
class MinimalPerturbation(BaseAttack):
    r"""The smallest perturbation that makes a model answer otherwise.

    It is exact for linear models, and for ensembles of trees as far as the time allows;
    for other models with slopes it is near the smallest.

    Parameters
    ----------
    estimator : estimator
        A linear model, a model of trees, or one with slopes; a clone of it is fitted.
        Pass a fitted one as ``FrozenEstimator(model)``.
    target : class label or int, default=None
        The class to be reached; None means any other than the row's own. Of a regressor
        with several outputs, the output.
    desired : (low, high), default=None
        Of a regressor: the interval to be reached, with None for an open end.
    norm : {"inf", "2", "1"}, default="2"
        Norm of the perturbation; of trees "inf" or "1".
    units : {"std", "raw"}, default="std"
        Unit of the numbers: the standard deviation of their feature in `fit`, or the
        number itself.
    bounds : (low, high) or dict, default=None
        Limits of the numbers: a pair of numbers, or of arrays of one for each feature,
        or pairs by feature. None, or a feature left out, means the lowest and
        highest in `fit`. A number that lies outside may enter, or stays as it is.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all numbers. Categories stay.
    time_limit : float, default=10.0
        Seconds for each row, of models of trees.
    n_jobs : int or None, default=None
        Workers, which share the rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    method_ : {"linear", "trees", "gradient"}
        How rows are found.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: a model whose responses change in steps, and that is made of no trees
        that can be read.
    ValueError
        In `fit`: a class, an interval or bounds that do not fit the model or the
        table.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    ProjectedGradient : Success within a given size.
    HopSkipJump : Asks any model for its labels alone.
    sklearn_interpret.counterfactuals.ExactCounterfactual : Changes categories too.

    Notes
    -----
    The row :math:`x'` solves

    .. math:: \min_{x'} \|x' - x\| \quad \text{such that} \quad
        f_k(x') \ge f_j(x') \text{ for some } k \ne j = y

    within the bounds, y being the row's own class; for a `target` k it is all
    :math:`j \ne k`.

    - Linear models: one of these inequalities has a solution in closed form, in every
      norm; several are a linear program, or a least-distance problem (Lawson & Hanson
      1974, chapter 23) in the norm "2". `lower_bounds` of the explanation are the
      distances of these solutions; rows are by rounding farther, and more where whole
      numbers are rounded, or numbers enter their bounds, which is done greedily.
    - Models of trees: an exact program, in the norms "inf" and "1", which stops after
      `time_limit` with the best row and the bound that it has proved.
    - Other models: each step goes towards the nearest point where the model's linear
      approximation at the current point satisfies the target, seen from the row itself
      (as DeepFool, Moosavi-Dezfooli et al. 2016, but for the origin and the line
      search). Each row has several starts, some of them known rows of `fit` that
      satisfy the target, and the nearest of the results is returned. That is a local
      optimum.

    References
    ----------
    Lawson, C. L. & Hanson, R. J. (1974). Solving least squares problems. Prentice-Hall.

    Moosavi-Dezfooli, S.-M., Fawzi, A. & Frossard, P. (2016). DeepFool: a simple and
    accurate method to fool deep neural networks. CVPR.
    https://doi.org/10.1109/CVPR.2016.282

    Szegedy, C., Zaremba, W., Sutskever, I., Bruna, J., Erhan, D., Goodfellow, I. J. &
    Fergus, R. (2014). Intriguing properties of neural networks. ICLR.
    https://doi.org/10.48550/arXiv.1312.6199

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.adversarial import MinimalPerturbation
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> attack = MinimalPerturbation(LogisticRegression(max_iter=1000)).fit(X, y)
    >>> attack.method_
    'linear'
    >>> explanation = attack.explain(X[70:73], y[70:73])
    >>> explanation.distances.round(2)
    array([0.  , 0.64, 0.07])
    >>> explanation.predictions.argmax(axis=1)
    array([2, 2, 2])
    """

    estimator: Any
    _: KW_ONLY
    target: Any = None
    desired: tuple[float | None, float | None] | None = None
    norm: str = "2"
    units: str = "std"
    bounds: Any = None
    features_to_vary: Any = None
    time_limit: float = 10.0
    n_jobs: int | None = None
    verbose: int | None = None

    method_: Literal["linear", "trees", "gradient"] = field(init=False)

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "time_limit": [Interval(Real, 0, None, closed="left")],
    }

    _budget = None

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        problem = SearchProblem(outcome, actionability, sample.rows)
        trees = partial(TreePerturbation, time_limit=self.time_limit)
        exact = read_formula([LinearPerturbation, trees], problem)
        self._searcher = SmoothPerturbation(problem) if exact is None else exact
        self.method_ = self._searcher.method

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        return self._searcher.search(problem, index)

    def _n_asked_per_row(self) -> int:
        return 1 if self.method_ == "trees" else self._searcher.n_asked_per_row
