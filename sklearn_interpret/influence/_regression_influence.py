"""Regression diagnostics: leverages, and changes without single rows.

The formulas are those of Belsley, Kuh & Welsch (1980), and of Williams (1987) for GLMs.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.influence.diagnostics import RegressionDiagnostics
from sklearn_interpret._core.statistics.score_losses import HalfSquared
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.regression import (
    BaseRegressionInspector,
    column_names,
    has_known_dispersion,
    score_model_of,
)
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.gradients.objectives import (
    check_converged,
    has_balanced_classes,
    warn_of_balanced_classes,
)
from sklearn_interpret._model.parallel import limit_blas, run_in_threads, slices
from sklearn_interpret._model.rows.tables import as_objects

if TYPE_CHECKING:
    from sklearn_interpret._core.influence.score_models import ScoreModel
    from sklearn_interpret._model.rows.sample import Sample

__all__ = ["RegressionInfluence"]

# Rows that a worker leaves out, one by one, in one block.
_BLOCK_ROWS = 512
# Attributes of `RegressionDiagnostics` that become fitted attributes.
_MEASURES = (
    "leverages",
    "cooks_distances",
    "dfbeta",
    "dfbetas",
    "dffits",
    "covratio",
    "residuals_standardized",
    "residuals_studentized",
    "sigma",
    "influential",
    "dispersion",
    "effective_dof",
    "residual_dof",
)
# Columns of the table that have one number for each row, and their attributes.
_COLUMNS = {
    "leverage": "leverages_",
    "residual_standardized": "residuals_standardized_",
    "residual_studentized": "residuals_studentized_",
    "sigma": "sigma_",
    "dffits": "dffits_",
    "covratio": "covratio_",
    "cooks_distance": "cooks_distances_",
    "influential": "influential_",
}


@estimator_dataclass
class RegressionInfluence(ResultsMixin, BaseRegressionInspector):
    """Regression diagnostics: what each row does to a linear model or a GLM.

    Leverages say which rows could pull at the fit, studentized residuals which rows it
    misses, and the other measures what changes when a row is left out. They are those
    of R's ``influence.measures``, where rows have no weights. No model is fitted again,
    but for ``approximation="refit"``.

    Parameters
    ----------
    estimator : estimator
        :class:`~sklearn.linear_model.LinearRegression`,
        :class:`~sklearn.linear_model.Ridge`, a
        :class:`~sklearn.linear_model.LogisticRegression` of two classes,
        :class:`~sklearn.linear_model.PoissonRegressor`,
        :class:`~sklearn.linear_model.GammaRegressor` or
        :class:`~sklearn.linear_model.TweedieRegressor`, of one output, or a pipeline
        that ends in one, whose other steps stay as they are when a row is left out; a
        clone of it is fitted. A fitted one is passed as ``FrozenEstimator(model)``,
        with the rows and weights that it was fitted on.
    approximation : {"one_step", "refit"}, default="one_step"
        "one_step" takes one step from the parameters of all rows to those without a
        row. For least squares and ridge regression that is exact; for other models it
        is R's. "refit" finds the parameters without each row to rounding; it takes no
        balanced weights of classes, which change with each row.
    n_jobs : int or None, default=None
        Workers that find parameters without rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    leverages_ : ndarray of shape (n,)
        Diagonal of the hat matrix (``hatvalues``).
    cooks_distances_ : ndarray of shape (n,)
        Cook's distances: squared lengths of the parameters' changes.
    dfbeta_ : ndarray of shape (n, p)
        The parameters less those without the row.
    dfbetas_ : ndarray of shape (n, p)
        The same in standard errors of the parameters.
    dffits_ : ndarray of shape (n,)
        Change of the row's own linear predictor, in standard errors.
    covratio_ : ndarray of shape (n,)
        Determinant of the parameters' covariance without the row, by that with it.
    residuals_standardized_ : ndarray of shape (n,)
        Residuals in units of their standard deviation, which all rows give
        (``rstandard``; internally studentized).
    residuals_studentized_ : ndarray of shape (n,)
        The same with the standard deviation that the other rows give (``rstudent``;
        externally studentized).
    sigma_ : ndarray of shape (n,)
        Residual standard deviation without the row.
    influential_ : ndarray of shape (n,), bool
        Rows that R marks: a size of ``dfbetas_`` above 1, of ``dffits_`` above
        :math:`3 \\sqrt{k / (N - k)}`, of ``covratio_`` - 1 above
        :math:`3 k / (N - k)`, a Cook's distance beyond the median of the
        F distribution of k and N - k degrees of freedom, or a leverage above
        :math:`3 k / N`, with k and N as below.
    dispersion_ : float
        The residual variance, or the dispersion: 1 for classes and counts, else
        Pearson's estimate.
    effective_dof_ : float
        k, the sum of the leverages; without a penalty the number of parameters.
    residual_dof_ : float
        N - k, where N is the sum of the weights.
    parameter_names_ : list of str
        Names of the parameters: the columns that the model gets, and "intercept" behind
        them if it has one.
    row_indices_ : ndarray of shape (n,), int
        Positions of the rows in the `X` of `fit`: all those of positive weight.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: the model is none of those above.
    ValueError
        In `fit`: `y` is missing, or has several columns or more than two classes; or
        there are no more rows than parameters; or balanced weights of classes with
        "refit".

    Warns
    -----
    BalancedClassesWarning
        In `fit`: the model has ``class_weight="balanced"``; one step keeps the weights
        of all rows.
    UnconvergedDeletionWarning
        In `fit`: with "refit", no optimum was found without some row.

    See Also
    --------
    RegressionInfluenceDisplay : Leverages and residuals of all rows.

    Notes
    -----
    With :math:`w_i` the weight of a row, :math:`v_i` the expected second derivative of
    half its unit deviance along the linear predictor (1 for least squares,
    :math:`\\mu (1 - \\mu)` for classes, :math:`\\mu^{2 - \\mathrm{power}}` with a link
    "log"), V the diagonal matrix of :math:`w_i v_i`, and L that of the penalties,

    .. math::

        h_i &= w_i v_i\\, x_i^\\top (X^\\top V X + L)^{-1} x_i, \\qquad
        k = \\sum_i h_i, \\qquad N = \\sum_i w_i \\\\
        \\mathrm{dfbeta}_i &= (X^\\top V X + L)^{-1} x_i
        \\sqrt{w_i v_i}\\, d_i / (1 - h_i) \\\\
        \\sigma_{(i)}^2 &= D_{(i)} / (N - w_i - k_{(i)}) \\\\
        \\mathrm{dfbetas}_{ij} &= \\mathrm{dfbeta}_{ij} \\Big/ \\left(\\sigma_{(i)}
        \\sqrt{[(X^\\top V X + L)^{-1}]_{jj}}\\right) \\\\
        \\mathrm{dffits}_i &= d_i \\sqrt{h_i} / (\\sigma_{(i)} (1 - h_i)) \\\\
        \\mathrm{covratio}_i &= (\\sigma_{(i)} / s)^{2p} / (1 - h_i), \\qquad
        s^2 = \\textstyle\\sum_i d_i^2 / (N - k) \\\\
        \\mathrm{cook}_i &= r_i^2\\, h_i / (k\\, \\phi\\, (1 - h_i)^2) \\\\
        \\mathrm{rstandard}_i &= d_i / \\sqrt{\\phi\\, (1 - h_i)} \\\\
        \\mathrm{rstudent}_i &= \\pm \\sqrt{d_i^2 + h_i r_i^2 / (1 - h_i)}
        \\Big/ \\sigma_{(i)}

    where :math:`d_i` is the deviance residual and :math:`r_i` Pearson's, both the
    weighted residual for least squares. Of classes and counts the dispersion
    :math:`\\phi` is 1, and rstudent is not divided by :math:`\\sigma_{(i)}`; of others
    :math:`\\phi = \\sum_i r_i^2 / (N - k)`. The deviance without the row,
    :math:`D_{(i)}`, is that of the other rows at their own parameters: without a
    penalty :math:`\\sum_j d_j^2 - d_i^2 / (1 - h_i)`, and :math:`k_{(i)} = k`. The
    p parameters count those that the rows determine.

    In dfbeta R takes the deviance residual, where the step of Newton's method takes
    Pearson's (Pregibon, 1981), and is nearer to the true change; "refit" gives that.
    With "refit", dfbeta is the true change :math:`\\delta_i`,
    :math:`D_{(i)}` is evaluated at the parameters found, cook is
    :math:`\\delta_i^\\top (X^\\top V X + L)\\, \\delta_i / (k \\phi)`, dffits is
    :math:`x_i^\\top \\delta_i` in its standard errors, and rstudent the signed root of
    the change of the penalised deviance. Leverages, and the determinants in covratio,
    stay those of one step.

    A penalty is taken for a normal prior: all formulas are those of the model with it,
    and `effective_dof_` takes the place of the number of parameters. It is held fixed
    in one step; "refit" gives each row of a GLM its share of the penalty, as those
    models do.

    Weights say how often a row stands there, and leaving it out takes away all of its
    weight, so that a weight of two gives what leaving out both copies gives: the
    leverage is the sum of those of the copies, and :math:`d_i` is
    :math:`\\sqrt{w_i}` times theirs. All other rows have the measures that they have
    among copies. R's weights are precisions instead, by which rows are not counted:
    `leverages_` and `dfbeta_` are the same, and for weights that sum to n also
    `cooks_distances_` and `residuals_standardized_`; but in :math:`\\sigma_{(i)}` R has
    n - p - 1 for :math:`N - w_i - k`, and so in what is divided by it. Where R leaves
    out a group of a binomial model, the row of its successes and that of its failures
    are left out one by one here.

    A row of leverage one determines a parameter alone: nothing is defined without it,
    and all measures but the leverage are NaN (R gives a dfbeta of zero, and a sigma, of
    it). Of parameters that the rows do not
    determine (constant columns, columns that repeat others), `LinearRegression`
    chooses the smallest, which `dfbeta_` follows; `dfbetas_` are NaN for those that
    are zero throughout. Directions that it leaves out because of its `tol`, as of
    columns of very different units, are left out here.

    References
    ----------
    Belsley, D. A., Kuh, E. & Welsch, R. E. (1980). Regression Diagnostics. Wiley.

    Williams, D. A. (1987). Generalized linear model diagnostics using the deviance and
    single case deletions. Applied Statistics 36(2). https://doi.org/10.2307/2347550

    Pregibon, D. (1981). Logistic regression diagnostics. The Annals of Statistics 9(4).
    https://doi.org/10.1214/aos/1176345513

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.influence import RegressionInfluence
    >>> X, y = [[1], [2], [3], [4], [10]], [1.1, 1.9, 3.2, 3.9, 3.0]
    >>> inspector = RegressionInfluence(LinearRegression()).fit(X, y)
    >>> inspector.leverages_.round(2)
    array([0.38, 0.28, 0.22, 0.2 , 0.92])
    >>> inspector.cooks_distances_.argmax()
    np.int64(4)
    """

    approximation: str = "one_step"
    n_jobs: int | None = None
    verbose: int | None = None

    leverages_: NDArray[np.float64] = field(init=False)
    cooks_distances_: NDArray[np.float64] = field(init=False)
    dfbeta_: NDArray[np.float64] = field(init=False)
    dfbetas_: NDArray[np.float64] = field(init=False)
    dffits_: NDArray[np.float64] = field(init=False)
    covratio_: NDArray[np.float64] = field(init=False)
    residuals_standardized_: NDArray[np.float64] = field(init=False)
    residuals_studentized_: NDArray[np.float64] = field(init=False)
    sigma_: NDArray[np.float64] = field(init=False)
    influential_: NDArray[np.bool_] = field(init=False)
    dispersion_: float = field(init=False)
    effective_dof_: float = field(init=False)
    residual_dof_: float = field(init=False)
    parameter_names_: list[str] = field(init=False)
    row_indices_: NDArray[np.intp] = field(init=False)

    _for_any_model = "DeletionDiagnostics takes any model."

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRegressionInspector._parameter_constraints,
        "approximation": [StrOptions({"one_step", "refit"})],
    }
    # A row of weight two is left out as a whole, unlike each of two copies.
    _refits = True

    def _make_response(self) -> Any:
        objective = super()._make_response()
        estimator = objective.model
        if self.approximation == "one_step":
            warn_of_balanced_classes(estimator)
        elif has_balanced_classes(estimator):
            name = type(estimator).__name__
            raise ValueError(
                f'approximation="refit" takes weights of classes that stay: '
                f"class_weight={estimator.class_weight!r} of the {name} "
                "weighs all rows anew when one is left out. A dict of weights is "
                'accepted, and so is "one_step", which keeps those of all rows; '
                "DeletionDiagnostics fits again."
            )
        return objective

    @limit_blas(1)
    def _inspect(self, sample: Sample, response: Any) -> None:
        name = type(self).__name__
        score_model = score_model_of(name, self.estimator_, sample).at_optimum()
        is_known = has_known_dispersion(response.loss)
        parameters_without = None
        # One step is exact for sums of squares, unless the penalty grows with the rows.
        is_quadratic = isinstance(response.loss, HalfSquared)
        is_exact = is_quadratic and not score_model.row_penalty.any()
        if self.approximation == "refit" and not is_exact:
            parameters_without = self._parameters_without(score_model)
        rank = getattr(response.model, "rank_", None)
        diagnostics = RegressionDiagnostics(
            score_model, is_known, rank, parameters_without=parameters_without
        )
        self._check_residuals(diagnostics)
        for measure in _MEASURES:
            setattr(self, f"{measure}_", getattr(diagnostics, measure))
        names = column_names(response, sample.rows.names)
        n_intercepts = score_model.design.shape[1] - len(names)  # 0 or 1
        self.parameter_names_ = names + n_intercepts * ["intercept"]
        self.row_indices_ = sample.index
        self._dispersion_is_known = is_known
        self._row_names: Any = getattr(sample.rows.native, "index", sample.index)

    def _parameters_without(self, score_model: ScoreModel) -> NDArray[np.float64]:
        """Parameters without each row, (n, d), fitted in blocks of rows."""
        positions = np.arange(len(score_model.design))[:, None]
        tasks = [(positions[batch],) for batch in slices(len(positions), _BLOCK_ROWS)]
        fits = run_in_threads(score_model.without, tasks, n_jobs=self.n_jobs)
        parameters, converged = map(np.concatenate, zip(*fits, strict=True))
        check_converged(steps_and_model(self.estimator_)[1], converged)
        return parameters[..., 0]

    def to_frame(self) -> DataFrame:
        """All measures as a table.

        Returns
        -------
        pandas.DataFrame
            A line for each row, under the index of the frame given to `fit`, or else
            under the rows' positions. Columns "leverage", "residual_standardized",
            "residual_studentized", "sigma", "dffits", "covratio", "cooks_distance",
            "influential", and for each parameter "dfbeta_<name>" and "dfbetas_<name>".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        table = super().to_frame()
        table.index = self._row_names
        return table.drop(columns="row")

    def _result_blocks(self) -> list[dict[str, Any]]:
        columns = {"row": as_objects(self._row_names)}
        columns |= {name: getattr(self, measure) for name, measure in _COLUMNS.items()}
        for kind in ("dfbeta", "dfbetas"):
            changes = getattr(self, f"{kind}_").T
            pairs = zip(self.parameter_names_, changes, strict=True)
            columns |= {f"{kind}_{name}": column for name, column in pairs}
        return [columns]
