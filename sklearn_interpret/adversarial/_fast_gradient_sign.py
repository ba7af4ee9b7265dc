"""Attack by one step along the slopes (Goodfellow et al. 2015)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret.adversarial._base import AttackResult, BaseGradientAttack, Budget

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.problem import SearchProblem


@dataclass(eq=False, repr=False)
class FastGradientSign(BaseGradientAttack):
    r"""One step of a given size along the slopes of the model (Goodfellow et al.).

    The step is the one that gains most, were the model linear: in the norm "inf" each
    number goes by its sign. It is taken towards each other class, and the best is kept.

    Parameters
    ----------
    estimator : estimator
        A model with slopes; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    epsilon : float, default=0.3
        Size of the step, in `norm` and `units`.
    target : class label or int, default=None
        The class to be reached; None means any other than the row's own. Of a regressor
        with several outputs, the output.
    desired : (low, high), default=None
        Of a regressor: the interval to be reached, with None for an open end.
    norm : {"inf", "2", "1"}, default="inf"
        Norm of the perturbation.
    units : {"std", "raw"}, default="std"
        Unit of the numbers: the standard deviation of their feature in `fit`, or the
        number itself.
    bounds : (low, high) or dict, default=None
        Limits of the numbers: a pair of numbers, or of arrays of one for each feature,
        or pairs by feature. None, or a feature left out, means the lowest and
        highest in `fit`. A number that lies outside may enter, or stays as it is.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all numbers. Categories stay.
    n_jobs : int or None, default=None
        Workers, which share the rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    by_formula_ : bool
        Whether slopes follow from the model's formula, rather than from differences of
        its responses.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: a model whose responses change in steps, such as trees.
    ValueError
        In `fit`: a class, an interval or bounds that do not fit the model or the
        table.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    ProjectedGradient : Many small steps.
    MinimalPerturbation : The smallest step that is enough.

    Notes
    -----
    Let :math:`f_k - f_y` be by how much the score of class k exceeds that of the row's
    own class y. The row :math:`x'` is

    .. math:: x' = x + \arg\max_{\|\delta\| \le \epsilon} \delta^\top \nabla (f_k - f_y)

    within the bounds, for each k; the best is the one that the model answers otherwise,
    and of several the one with the largest margin. Whole numbers go as far towards it
    as they can.

    References
    ----------
    Goodfellow, I. J., Shlens, J. & Szegedy, C. (2015). Explaining and harnessing
    adversarial examples. ICLR. https://doi.org/10.48550/arXiv.1412.6572

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.adversarial import FastGradientSign
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> attack = FastGradientSign(LogisticRegression(max_iter=1000), epsilon=0.3)
    >>> explanation = attack.fit(X, y).explain(X[70:73], y[70:73])
    >>> explanation.valid
    array([ True, False,  True])
    >>> explanation.predictions.argmax(axis=1)
    array([2, 1, 2])
    >>> attack.score(X, y) > attack.robust_score(X, y)
    True
    """

    estimator: Any
    _: KW_ONLY
    epsilon: float = 0.3
    target: Any = None
    desired: tuple[float | None, float | None] | None = None
    norm: str = "inf"
    units: str = "std"
    bounds: Any = None
    features_to_vary: Any = None
    n_jobs: int | None = None
    verbose: int | None = None

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        return AttackResult(self._one_step(Budget(problem, index, self.epsilon))[0])
